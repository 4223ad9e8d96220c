#include "reports/answers/catalog.h"

#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/where.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_COLUMNS = 10 };

static const char GRADE[] = "grade"; // the column behind a table's last

// Cut short they would be of no use.
static const char *const uncut[] = {"id", "accelerator", "model", "field", "as_of"};

// What a terminal shows; the rest is for csv and json.
static const char *const shown[CATALOG_TABLES][MAX_COLUMNS] = {
    [CATALOG_ACCELERATORS] = {"id", "memory_gb", "memory_bw_tbs", "tdp_w", "dense_fp8_tflops",
                              "status", GRADE, "as_of", "source_title"},
    [CATALOG_ALTERNATES] = {"id", "accelerator", "field", "value", GRADE, "as_of", "source_title"},
    [CATALOG_MODELS] = {"id", "layers", "hidden", "kv_heads", "experts", "params_b", GRADE, "as_of",
                        "source_title"},
    [CATALOG_THROUGHPUT] = {"id", "accelerator", "model", "precision", "scenario",
                            "tokens_per_s_per_gpu", GRADE, "as_of"},
    [CATALOG_PRICES] = {"id", "accelerator", "price_basis", "usd_per_gpu_equivalent", "unit", GRADE,
                        "as_of", "source_title"},
    [CATALOG_POWER] = {"id", "subject", "metric", "value", "unit", GRADE, "as_of", "source_title"},
    [CATALOG_OVERHEADS] = {"id", "item", "value", "low", "high", "unit", GRADE, "as_of"},
    [CATALOG_BANDWIDTH] = {"id", "accelerator", "benchmark", "achieved", "unit", "efficiency",
                           GRADE, "as_of"},
    [CATALOG_CLAIMS] = {"id", "claim", "value", "unit", "verdict", "as_of"},
    [CATALOG_TYPICAL_VALUES] = {"id", "low", "mid", "high", "unit", GRADE, "as_of"},
    [CATALOG_API_PRICES] = {"id", "model", "provider", "input_usd_per_mtok", "output_usd_per_mtok",
                            GRADE, "as_of"},
    [CATALOG_CARBON] = {"id", "subject", "region", "value", "unit", "period", GRADE, "as_of"},
    [CATALOG_DAY_PROFILES] = {"id", "subject", GRADE, "as_of", "source_title"},
    [CATALOG_ALIASES] = {"id", "accelerator", "model", "precision", "says", "as_of"},
};

struct listing {
  const struct table *table;
  struct where *conditions;
  size_t condition_count;
  struct arena *arena;
};

static const char *cell_text(const struct table *table, size_t row, size_t column) {
  if (column == table->columns)
    return grade_name(catalog_grade(table, row));
  return table->cells[row * table->columns + column];
}

static bool is_uncut(const char *name) {
  for (size_t i = 0; i < sizeof uncut / sizeof uncut[0]; i++)
    if (!strcmp(uncut[i], name))
      return true;
  return false;
}

static bool holds(const struct listing *listing, size_t row) {
  for (size_t i = 0; i < listing->condition_count; i++) {
    const struct where *condition = &listing->conditions[i];
    if (!where_holds(condition, cell_text(listing->table, row, condition->column)))
      return false;
  }
  return true;
}

static struct answer_cell cell_of(const struct table *table, const char *column, const char *text) {
  struct answer_cell cell = {.text = text, .otherwise = ""};
  double number;
  if (!*text)
    return (struct answer_cell){.value = NAN, .otherwise = ""};
  if (catalog_is_number(table, column) && csv_number(text, &number)) {
    cell.kind = CELL_PUBLISHED;
    cell.value = number;
  }
  return cell;
}

// The rows with some of the columns.
static struct answer_table rows_of(const struct listing *listing, const char *const *names,
                                   size_t count) {
  const struct table *table = listing->table;
  struct answer_table rows = answer_table_new("rows", NULL, listing->arena);
  for (size_t c = 0; c < count; c++)
    ANSWER_COLUMN(&rows, .key = names[c], .title = names[c],
                  .may_cut = !is_uncut(names[c]) && !catalog_is_number(table, names[c]));
  for (size_t r = 0; r < table->rows; r++) {
    if (!holds(listing, r))
      continue;
    struct answer_cell *cells = answer_table_row(&rows);
    for (size_t c = 0; c < count; c++) {
      const int column = table_column(table, names[c]);
      const char *text = cell_text(table, r, column < 0 ? table->columns : (size_t)column);
      cells[c] = cell_of(table, names[c], text);
    }
  }
  return rows;
}

static size_t count_rows(const struct table *table, const struct where *condition) {
  size_t count = 0;
  for (size_t row = 0; row < table->rows; row++)
    count += where_holds(condition, cell_text(table, row, condition->column));
  return count;
}

// Where no row is left: a value that no row has, and what rows there are that have it in part.
static void explain_none(const struct listing *listing, const char *const *names,
                         struct answer *answer) {
  for (size_t i = 0; i < listing->condition_count; i++) {
    const struct where *condition = &listing->conditions[i];
    const char *name = names[condition->column];
    struct where part = *condition;
    part.contains = true;
    if (count_rows(listing->table, condition))
      continue;
    const size_t count = condition->contains ? 0 : count_rows(listing->table, &part);
    const char *found = count ? arena_printf(listing->arena, "; --where '%s~%s' finds it in %zu",
                                             name, condition->value, count)
                              : "";
    answer_note(answer, "", "No row has '%s' %s %s%s", condition->value,
                condition->contains ? "in" : "as", name, found);
  }
}

int catalog_answer(const struct table *table, const char *const *wheres, size_t where_count,
                   struct answer *answer, struct arena *arena, struct diagnostics *diagnostics) {
  assert(table->catalog >= 0);
  const size_t count = table->columns + 1;
  const char **names = arena_array(arena, count, sizeof *names);
  for (size_t c = 0; c < count; c++)
    names[c] = c < table->columns ? table->column_names[c] : GRADE;
  const struct listing listing = {
      table, arena_array(arena, where_count + 1, sizeof *listing.conditions), where_count, arena};
  if (where_parse(wheres, where_count, names, count, table->name, listing.conditions, diagnostics))
    return -1;
  const char *const *telling = shown[table->catalog];
  size_t telling_count = 0;
  while (telling_count < MAX_COLUMNS && telling[telling_count])
    telling_count++;
  *answer = answer_new("catalog", table->name, NULL, NULL, arena);
  answer->schema = 2;
  answer_push(answer, rows_of(&listing, telling, telling_count))->faces = FACE_TERMINAL;
  struct answer_table *rows = answer_push(answer, rows_of(&listing, names, count));
  rows->faces = FACE_CSV | FACE_JSON;
  rows->is_wide = true;
  rows->json = "rows[#].%c";
  answer->sentence = arena_printf(arena, "%zu of %zu rows; all columns with --format csv",
                                  rows->row_count, table->rows);
  if (!rows->row_count)
    explain_none(&listing, names, answer);
  return 0;
}
