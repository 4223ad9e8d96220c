// rows_used: which rows of tables the inputs of scenarios come from, and the rents that they ask
// about, as a table for an evidence archive.
#ifndef PERTOKEN_REPORTS_COMMANDS_ROWS_USED_H
#define PERTOKEN_REPORTS_COMMANDS_ROWS_USED_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// The name in the archive of a file that was read.
typedef const char *rows_used_name(const void *context, const char *path);

// CSV in the format of PACK_USED, by scenario, option, input and row: in any case of the scenarios
// [count]. A question's section stands for an option: "rent h100", "on_demand". NULL if no row is
// used.
const char *rows_used_text(const struct scenario *const *scenarios, size_t count,
                           rows_used_name *name, const void *context, struct arena *arena);

#endif
