#include "model/evidence/catalog.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/source.h"
#include "model/evidence/naming.h"
#include "reports/answers/answer.h"
#include "reports/answers/answer_parts.h"
#include "reports/answers/catalog.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"

#include <stddef.h>
#include <string.h>

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

// "accelerator=H100" as the id that is meant; any other condition as it is.
static const char *as_id(struct run *run, struct catalog *catalog, const char *where,
                         const char **note) {
  static const struct {
    const char *start;
    enum catalog_table table;
  } columns[] = {{"accelerator=", CATALOG_ACCELERATORS}, {"model=", CATALOG_MODELS}};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    const size_t length = strlen(columns[i].start);
    if (strncmp(where, columns[i].start, length) != 0)
      continue;
    long row;
    const struct naming naming =
        naming_find_row(catalog, columns[i].table, where + length, &row, run->arena);
    *note = naming.note;
    if (naming.word)
      return arena_printf(run->arena, "%s%s", columns[i].start, naming.word);
  }
  return where;
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
  const size_t count = run->options.where_count;
  const char **wheres = arena_array(run->arena, count + 1, sizeof *wheres);
  const char **notes = arena_array(run->arena, count + 1, sizeof *notes);
  for (size_t i = 0; i < count; i++)
    wheres[i] = as_id(run, &catalog, run->options.wheres[i], &notes[i]);
  if (!table || catalog_answer(table, wheres, count, &answer, run->arena, run->diagnostics))
    return -1;
  for (size_t i = 0; i < count; i++)
    if (notes[i])
      answer_note(&answer, "", "%s", notes[i]);
  return run_print_answer(run, NULL, answer);
}
