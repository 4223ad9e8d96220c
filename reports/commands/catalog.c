#include "model/evidence/catalog.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/process.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/evidence/naming.h"
#include "reports/answers/catalog.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"

#include <stddef.h>
#include <string.h>

int catalog_refuse_table(struct run *run, const char *name) {
  diagnostics_error(run->diagnostics, nowhere, "unknown table '%s'%s", name,
                    name_hint(name, catalog_table_names, CATALOG_TABLES, run->arena));
  return -1;
}

// "accelerator=H100" with the id that is meant; any other condition unchanged.
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

// Every table, one line each.
static int print_tables(struct run *run, struct catalog *catalog) {
  struct answer answer;
  if (run->options.where_count || run->options.latest || run->options.stale ||
      run->options.spread) {
    diagnostics_error(
        run->diagnostics, nowhere,
        "--where, --latest, --stale and --spread need a table: 'pertoken catalog' lists "
        "them");
    return -1;
  }
  if (catalog_tables_answer(catalog, process_today(run->arena), &answer, run->arena))
    return -1;
  return run_print_answer(run, NULL, answer);
}

int command_catalog(struct run *run) {
  const char *name = run->options.argument_count ? run->options.arguments[0] : NULL;
  if (name && !strcmp(name, "add"))
    return command_catalog_add(run);
  const enum catalog_table which = name ? catalog_table_named(name) : CATALOG_TABLES;
  if (run->options.argument_count > 1) {
    diagnostics_error(run->diagnostics, nowhere, "one argument too many: '%s'",
                      run->options.arguments[1]);
    return -1;
  }
  if (name && which == CATALOG_TABLES)
    return catalog_refuse_table(run, name);
  struct catalog catalog;
  struct answer answer;
  if (run_open_catalog(run, &catalog))
    return -1;
  if (!name)
    return print_tables(run, &catalog);
  const struct table *table = catalog_table(&catalog, which);
  const size_t count = run->options.where_count;
  const char **wheres = arena_array(run->arena, count + 1, sizeof *wheres);
  const char **notes = arena_array(run->arena, count + 1, sizeof *notes);
  for (size_t i = 0; i < count; i++)
    wheres[i] = as_id(run, &catalog, run->options.wheres[i], &notes[i]);
  const struct catalog_request request = {.wheres = wheres,
                                          .where_count = count,
                                          .latest = run->options.latest,
                                          .stale = run->options.stale,
                                          .spread = run->options.spread,
                                          .day = process_today(run->arena)};
  if (!table || catalog_answer(table, &request, &answer, run->arena, run->diagnostics))
    return -1;
  for (size_t i = 0; i < count; i++)
    if (notes[i])
      answer_note(&answer, "", "%s", notes[i]);
  return run_print_answer(run, NULL, answer);
}
