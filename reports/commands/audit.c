#include "base/installation.h"
#include "base/source_file.h"
#include "model/evidence/recompute.h"
#include "reports/answers/answer.h"
#include "reports/commands/commands.h"

#include <math.h>

static struct decision_cell text_cell(const char *text) {
  return (struct decision_cell){.text = text};
}

static const char *verdict_text(const struct recomputed *row) {
  static const char *const texts[] = {[RECOMPUTE_HOLDS] = "holds",
                                      [RECOMPUTE_FAILS] = "does not hold",
                                      [RECOMPUTE_CANNOT] = "cannot be recomputed"};
  return texts[row->verdict];
}

static const char *agreement_text(const struct recomputed *row, struct arena *arena) {
  if (row->disagrees)
    return arena_printf(arena, "NO: %s", row->table_verdict);
  return row->verdict == RECOMPUTE_CANNOT ? "-" : "yes";
}

static struct decision_table table_of(const struct recomputed *rows, size_t count,
                                      struct arena *arena) {
  static const struct decision_column columns[] = {
      {"id", "", NULL},           {"claim", "Claim", NULL},        {"claimed", "Claimed", NULL},
      {"recomputed", "Is", NULL}, {"verdict", "Verdict", NULL},    {"how", "How, or why not", NULL},
      {"source", "Source", NULL}, {"agrees", "Table agrees", NULL}};
  enum { COLUMNS = sizeof columns / sizeof columns[0] };
  struct decision_cell *cells = arena_array(arena, count * COLUMNS + 1, sizeof *cells);
  for (size_t r = 0; r < count; r++) {
    struct decision_cell *row = cells + r * COLUMNS;
    row[0] = text_cell(rows[r].id);
    row[1] = text_cell(rows[r].claim);
    row[2] = text_cell(arena_printf(arena, "%s %s", rows[r].claimed, rows[r].unit));
    row[3] = (struct decision_cell){.text = rows[r].text, .value = rows[r].value};
    row[4] = text_cell(verdict_text(&rows[r]));
    row[5] = text_cell(rows[r].why);
    row[6] = text_cell(rows[r].source);
    row[7] = text_cell(agreement_text(&rows[r], arena));
  }
  return (struct decision_table){.key = "claims",
                                 .columns = columns,
                                 .column_count = COLUMNS,
                                 .cells = cells,
                                 .row_count = count};
}

static struct decision decision_of(const struct recomputed *rows, size_t count,
                                   struct decision_table *table, struct arena *arena) {
  size_t verdicts[3] = {0}, disagreements = 0;
  for (size_t r = 0; r < count; r++) {
    verdicts[rows[r].verdict]++;
    disagreements += rows[r].disagrees;
  }
  *table = table_of(rows, count, arena);
  return (struct decision){
      .kind = "audit",
      .name = "table",
      .title = "Claims recomputed from the catalogues",
      .answer = arena_printf(arena,
                             "Of %zu claims %zu hold, %zu do not, %zu cannot be recomputed; %zu "
                             "disagree with the table's own verdict.",
                             count, verdicts[RECOMPUTE_HOLDS], verdicts[RECOMPUTE_FAILS],
                             verdicts[RECOMPUTE_CANNOT], disagreements),
      .no = disagreements > 0,
      .tables = table,
      .table_count = 1};
}

static int audit_table(struct run *run) {
  const struct source *source = source_read(run->options.table, run->arena, run->diagnostics);
  const struct table *claims =
      source ? csv_read(source, run->options.table, run->arena, run->diagnostics) : NULL;
  const char *directory =
      installation_data(run->options.data_directory, run->arena, run->diagnostics);
  struct catalog catalog;
  struct output output;
  if (!claims || !directory || catalog_open(&catalog, directory, run->arena, run->diagnostics))
    return -1;
  const struct recomputed *rows = recompute_claims(claims, &catalog, run->arena, run->diagnostics);
  if (!rows || run_open_output(run, &output))
    return -1;
  struct decision_table table;
  const struct decision decision = decision_of(rows, claims->rows, &table, run->arena);
  const struct decisions decisions = {&decision, 1};
  decisions_print(NULL, &decisions, run->options.format, output.stream, run->arena);
  run->no = decision.no;
  return output_close(&output, run->diagnostics);
}

int command_audit(struct run *run) {
  const struct place nowhere = {0};
  if (run->options.table && run->options.argument_count)
    diagnostics_error(run->diagnostics, nowhere, "either CLAIM.ini or --table, not both");
  else if (run->options.table)
    return audit_table(run);
  else if (run->options.argument_count != 1)
    diagnostics_error(run->diagnostics, nowhere, "expected one CLAIM.ini, or --table CLAIMS.csv");
  else
    return command_decide(run);
  return -1;
}
