#include "reports/answers/audit.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/evidence/catalog.h"
#include "model/evidence/recompute.h"
#include "reports/answers/claims.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"

#include <stddef.h>

static int audit_table(struct run *run) {
  const struct stray strays[] = {{"--for", run->options.input}};
  if (run_refuse_without_scenario(run) || run_refuse_strays(run, strays, 1, "a CLAIM.ini"))
    return -1;
  const struct source *source = source_read(run->options.table, run->arena, run->diagnostics);
  const struct table *claims =
      source ? csv_read(source, run->options.table, run->arena, run->diagnostics) : NULL;
  struct catalog catalog;
  if (!claims || run_open_catalog(run, &catalog))
    return -1;
  const struct recomputed *rows = recompute_claims(claims, &catalog, run->arena, run->diagnostics);
  if (!rows)
    return -1;
  return run_print_answer(run, NULL, claims_answer(rows, claims->rows, run->arena));
}

int command_audit(struct run *run) {
  if (run->options.table && run->options.argument_count)
    diagnostics_error(run->diagnostics, nowhere, "either CLAIM.ini or --table, not both");
  else if (run->options.table)
    return audit_table(run);
  else if (run->options.argument_count != 1)
    diagnostics_error(run->diagnostics, nowhere, "expected one CLAIM.ini, or --table CLAIMS.csv");
  else
    return command_question(run);
  return -1;
}
