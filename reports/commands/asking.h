// asking: asks on the terminal for what a draft needs: questions on standard error, each with what
// an empty line means; `?` lists the available names, and an unambiguous beginning of a name is
// enough.
#ifndef PERTOKEN_REPORTS_COMMANDS_ASKING_H
#define PERTOKEN_REPORTS_COMMANDS_ASKING_H

#include "model/draft/request.h"
#include "model/evidence/catalog.h"
#include "reports/commands/run.h"

// Fills in accelerators, model, count or demand, and settings for the prices that were typed;
// *path, if NULL, becomes the file's name. What --model, --count, --demand and -o give is not
// asked. Returns 0, or -1 after an error: the input ended.
int ask_draft(struct run *run, struct catalog *catalog, struct draft_request *request,
              const char **path);

#endif
