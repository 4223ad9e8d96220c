#include "model/evidence/catalog.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/source.h"
#include "reports/answers/answer.h"
#include "reports/answers/catalog.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"

#include <stddef.h>

static int unknown_table(struct run *run, const char *name) {
  const char *nearest = nearest_name(name, catalog_table_names, CATALOG_TABLES), *all = "";
  for (int i = 0; i < CATALOG_TABLES; i++)
    all = arena_printf(run->arena, "%s%s%s", all, i ? ", " : "", catalog_table_names[i]);
  if (nearest)
    diagnostics_error(run->diagnostics, (struct place){0}, "unknown table '%s'; did you mean '%s'?",
                      name, nearest);
  else
    diagnostics_error(run->diagnostics, (struct place){0}, "unknown table '%s', expected one of %s",
                      name, all);
  return -1;
}

int command_catalog(struct run *run) {
  const char *name = run->options.arguments[0],
             *directory =
                 installation_data(run->options.data_directory, run->arena, run->diagnostics);
  const enum catalog_table which = catalog_table_named(name);
  if (which == CATALOG_TABLES)
    return unknown_table(run, name);
  struct catalog catalog;
  struct answer answer;
  if (!directory || catalog_open(&catalog, directory, run->arena, run->diagnostics))
    return -1;
  const struct table *table = catalog_table(&catalog, which);
  if (!table || catalog_answer(table, run->options.wheres, run->options.where_count, &answer,
                               run->arena, run->diagnostics))
    return -1;
  return run_print_answer(run, NULL, answer);
}
