#include "reports/answers/catalog.h"

#include "base/source.h"
#include "base/statistics.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "reports/faces/parts.h"
#include "reports/print/where.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_COLUMNS = 11 };

// Columns after a table's last that are derived from the others.
static const char GRADE[] = "grade";
static const char ROUND[] = "round"; // of throughput only: a benchmark's round, if it has rounds

// Columns that are useless if truncated.
static const char *const uncut[] = {"id",    "accelerator", "model", "field",
                                    "round", "grade",       "as_of"};

// The columns that a terminal shows; csv and json have all.
static const char *const shown[CATALOG_TABLES][MAX_COLUMNS] = {
    [CATALOG_ACCELERATORS] = {"id", "memory_gb", "memory_bw_tbs", "tdp_w", "dense_fp8_tflops",
                              "status", GRADE, "as_of", "source_title"},
    [CATALOG_ALTERNATES] = {"id", "accelerator", "field", "value", GRADE, "as_of", "source_title"},
    [CATALOG_MODELS] = {"id", "layers", "hidden", "kv_heads", "experts", "params_b", GRADE, "as_of",
                        "source_title"},
    [CATALOG_THROUGHPUT] = {"id", "accelerator", "model", "precision", "scenario",
                            "tokens_per_s_per_gpu", "submitter", ROUND, GRADE, "as_of",
                            "source_title"},
    [CATALOG_PRICES] = {"id", "accelerator", "provider", "price_basis", "usd_per_gpu_equivalent",
                        "unit", GRADE, "as_of", "source_title"},
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

// What a row of each table is, in the words of data/README.md.
static const char *const about[CATALOG_TABLES] = {
    [CATALOG_ACCELERATORS] = "an accelerator with its datasheet figures",
    [CATALOG_ALTERNATES] = "another source's figure for one of those",
    [CATALOG_MODELS] = "a language model's dimensions",
    [CATALOG_THROUGHPUT] = "a published serving speed",
    [CATALOG_PRICES] = "a purchase, rental or token price",
    [CATALOG_POWER] = "power draw, electricity, colocation, PUE, carbon",
    [CATALOG_OVERHEADS] = "engineers, failures, licenses, discounts, utilization",
    [CATALOG_BANDWIDTH] = "a measured memory or matrix rate",
    [CATALOG_CLAIMS] = "a statement to audit",
    [CATALOG_TYPICAL_VALUES] = "a typical value with its range",
    [CATALOG_API_PRICES] = "a provider's price for a model's tokens",
    [CATALOG_CARBON] = "carbon intensity of a grid, or from manufacturing a device",
    [CATALOG_DAY_PROFILES] = "how requests are distributed over the hours of a day",
    [CATALOG_ALIASES] = "another name for an entry",
};

static const struct catalog_figure *figure_of(const struct table *table) {
  return catalog_figure((enum catalog_table)table->kind);
}

struct listing {
  const struct table *table;
  const struct catalog_request *request;
  struct date day;
  struct where *conditions;
  size_t condition_count;
  struct arena *arena;
};

// The round of "MLPerf Inference v5.1 summary_results.json" is v5.1.
static const char *round_of(const struct table *table, size_t row, struct arena *arena) {
  static const char series[] = "MLPerf Inference ";
  const char *title = table_cell(table, row, "source_title");
  const size_t length = sizeof series - 1;
  if (strncmp(title, series, length) != 0)
    return "";
  return arena_copy_n(arena, title + length, strcspn(title + length, " "));
}

static size_t column_count(const struct table *table) {
  return table->columns + (table->kind == CATALOG_THROUGHPUT ? 2 : 1);
}

static const char *column_name(const struct table *table, size_t column) {
  return column < table->columns    ? table->column_names[column]
         : column == table->columns ? GRADE
                                    : ROUND;
}

static const char *cell_text(const struct listing *listing, size_t row, size_t column) {
  const struct table *table = listing->table;
  return column < table->columns    ? table->cells[row * table->columns + column]
         : column == table->columns ? grade_name(catalog_grade(table, row))
                                    : round_of(table, row, listing->arena);
}

static bool is_uncut(const char *name) {
  for (size_t i = 0; i < sizeof uncut / sizeof uncut[0]; i++)
    if (!strcmp(uncut[i], name))
      return true;
  return false;
}

static bool is_stale(const struct table *table, size_t row, struct date day) {
  struct date date;
  return catalog_date(table, row, &date) && date_is_stale(date, day);
}

static bool all_hold(const struct listing *listing, size_t row) {
  for (size_t i = 0; i < listing->condition_count; i++) {
    const struct where *condition = &listing->conditions[i];
    if (!where_holds(condition, cell_text(listing, row, condition->column)))
      return false;
  }
  return true;
}

static bool is_alike(const struct table *table, const char *column, size_t a, size_t b) {
  return table_column(table, column) < 0 ||
         !strcmp(table_cell(table, a, column), table_cell(table, b, column));
}

// Whether a newer selected row of the same accelerator and model, and kind of price, exists. A year
// is not newer than a day within it.
static bool is_superseded(const struct listing *listing, size_t row) {
  const struct table *table = listing->table;
  struct date own, first;
  if (!catalog_date(table, row, &own))
    return false;
  for (size_t r = 0; r < table->rows; r++)
    if (is_alike(table, "accelerator", r, row) && is_alike(table, "model", r, row) &&
        is_alike(table, "price_basis", r, row) &&
        date_parse_first(table_cell(table, r, "as_of"), &first) && date_compare(first, own) > 0 &&
        all_hold(listing, r))
      return true;
  return false;
}

static bool holds(const struct listing *listing, size_t row) {
  const struct catalog_request *request = listing->request;
  return all_hold(listing, row) &&
         (!request->stale || is_stale(listing->table, row, listing->day)) &&
         (!request->latest || !is_superseded(listing, row));
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
      size_t column = 0;
      while (strcmp(column_name(table, column), names[c]) != 0)
        column++;
      const char *text = cell_text(listing, r, column);
      cells[c] = cell_of(table, names[c], text);
    }
  }
  return rows;
}

// A group of comparable rows.
struct comparable {
  size_t first; // row
  double *figures;
  size_t count;
  const char *oldest, *newest;
};

static bool is_comparable(const struct table *table, size_t a, size_t b) {
  const char *const *alike = figure_of(table)->alike;
  for (size_t i = 0; i < MAX_CATALOG_ALIKE && alike[i]; i++)
    if (!is_alike(table, alike[i], a, b))
      return false;
  return true;
}

// Updates the group's first and last day with the row's.
static void keep_day(struct comparable *group, const struct table *table, size_t row) {
  struct date date, other;
  const char *text = table_cell(table, row, "as_of");
  if (!catalog_date(table, row, &date))
    return;
  if (!date_parse(group->oldest, &other) || date_compare(date, other) < 0)
    group->oldest = text;
  if (!date_parse(group->newest, &other) || date_compare(date, other) > 0)
    group->newest = text;
}

// The groups of the selected rows that have the figure, in the order of their first rows.
static struct comparable *groups_of(const struct listing *listing, size_t *count) {
  const struct table *table = listing->table;
  struct comparable *groups = arena_array(listing->arena, table->rows + 1, sizeof *groups);
  *count = 0;
  for (size_t row = 0; row < table->rows; row++) {
    double figure;
    if (!holds(listing, row) || !table_number(table, row, figure_of(table)->name, &figure))
      continue;
    size_t g = 0;
    while (g < *count && !is_comparable(table, groups[g].first, row))
      g++;
    if (g == *count)
      groups[(*count)++] = (struct comparable){.first = row, .oldest = "", .newest = ""};
    struct comparable *group = &groups[g];
    group->figures =
        arena_room(listing->arena, group->figures, group->count, sizeof *group->figures);
    group->figures[group->count++] = figure;
    keep_day(group, table, row);
  }
  return groups;
}

static struct answer_table spread_of(const struct listing *listing) {
  static const char *const measures[] = {"rows", "low", "median", "high", "oldest", "newest"};
  const struct table *table = listing->table;
  const char *const *alike = figure_of(table)->alike;
  struct answer_table spread = answer_table_new("spread", NULL, listing->arena);
  size_t columns = 0, count;
  for (; columns < MAX_CATALOG_ALIKE && alike[columns]; columns++)
    ANSWER_COLUMN(&spread, .key = alike[columns], .title = alike[columns],
                  .may_cut = !is_uncut(alike[columns]));
  for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++)
    ANSWER_COLUMN(&spread, .key = measures[i], .title = measures[i]);
  struct comparable *groups = groups_of(listing, &count);
  for (size_t g = 0; g < count; g++) {
    const struct comparable *group = &groups[g];
    struct answer_cell *cells = answer_table_row(&spread);
    for (size_t c = 0; c < columns; c++)
      cells[c] = cell_of(table, alike[c], table_cell(table, group->first, alike[c]));
    double *sorted = arena_array(listing->arena, group->count, sizeof *sorted);
    const struct summary summary = summarise(group->figures, group->count, sorted);
    const struct answer_cell measured[] = {
        cell_value((double)group->count),     cell_value(sorted[0]),     cell_value(summary.median),
        cell_value(sorted[group->count - 1]), cell_words(group->oldest), cell_words(group->newest)};
    memcpy(cells + columns, measured, sizeof measured);
  }
  spread.is_wide = true;
  spread.json = "spread[#].%c";
  return spread;
}

// A summary of the rows instead of the rows. Returns 0, or -1 if the table has no such figure.
static int answer_spread(const struct listing *listing, struct answer *answer,
                         struct diagnostics *diagnostics) {
  const struct table *table = listing->table;
  const char *figure = figure_of(table)->name;
  if (!figure) {
    diagnostics_error(diagnostics, nowhere,
                      "--spread works for throughput, prices, power, bandwidth, api_prices and "
                      "carbon: rows of %s have no figure to compare",
                      table->name);
    return -1;
  }
  const struct answer_table *spread = answer_push(answer, spread_of(listing));
  answer->sentence =
      arena_printf(listing->arena, "%s of %zu kinds of rows", figure, spread->row_count);
  return 0;
}

static size_t count_rows(const struct listing *listing, const struct where *condition) {
  size_t count = 0;
  for (size_t row = 0; row < listing->table->rows; row++)
    count += where_holds(condition, cell_text(listing, row, condition->column));
  return count;
}

// If no row is left: the condition that no row meets, and rows that meet it in part.
static void explain_none(const struct listing *listing, const char *const *names,
                         struct answer *answer) {
  for (size_t i = 0; i < listing->condition_count; i++) {
    const struct where *condition = &listing->conditions[i];
    const char *name = names[condition->column];
    struct where part = *condition;
    part.contains = true;
    if (count_rows(listing, condition))
      continue;
    const size_t count = condition->contains ? 0 : count_rows(listing, &part);
    const char *found = count ? arena_printf(listing->arena, "; --where '%s~%s' finds it in %zu",
                                             name, condition->value, count)
                              : "";
    answer_note(answer, "", "No row has '%s' %s %s%s", condition->value,
                condition->contains ? "in" : "as", name, found);
  }
}

int catalog_answer(const struct table *table, const struct catalog_request *request,
                   struct answer *answer, struct arena *arena, struct diagnostics *diagnostics) {
  assert(table->kind >= 0);
  const size_t count = column_count(table);
  const char **names = arena_array(arena, count, sizeof *names);
  for (size_t c = 0; c < count; c++)
    names[c] = column_name(table, c);
  struct listing listing = {
      .table = table,
      .request = request,
      .conditions = arena_array(arena, request->where_count + 1, sizeof *listing.conditions),
      .condition_count = request->where_count,
      .arena = arena};
  date_parse(request->day, &listing.day);
  if (where_parse(request->wheres, request->where_count, names, count, table->name,
                  listing.conditions, diagnostics))
    return -1;
  const char *const *telling = shown[table->kind];
  size_t telling_count = 0;
  while (telling_count < MAX_COLUMNS && telling[telling_count])
    telling_count++;
  *answer = answer_new("catalog", table->name, NULL, NULL, arena);
  answer->schema = 2;
  if (request->spread) {
    if (answer_spread(&listing, answer, diagnostics))
      return -1;
    if (!answer->tables[0].row_count)
      explain_none(&listing, names, answer);
    return 0;
  }
  answer_push(answer, rows_of(&listing, telling, telling_count))->faces = FACE_TERMINAL;
  struct answer_table *rows = answer_push(answer, rows_of(&listing, names, count));
  rows->faces = FACE_CSV | FACE_JSON;
  rows->is_wide = true;
  rows->json = "rows[#].%c";
  const size_t own = catalog_own_count(table);
  answer->sentence = arena_printf(
      arena, "%zu of %zu rows%s; all columns with --format csv", rows->row_count, table->rows,
      own ? arena_printf(arena, ", %zu of all from your own files", own) : "");
  if (!rows->row_count)
    explain_none(&listing, names, answer);
  return 0;
}

// The first and last day of a table's rows, compared as text; "" if none has a day.
static void find_days(const struct table *table, const char **oldest, const char **newest) {
  struct date first = {0}, last = {0}, date;
  *oldest = *newest = "";
  for (size_t row = 0; row < table->rows; row++) {
    if (!catalog_date(table, row, &date))
      continue;
    if (!**oldest || date_compare(date, first) < 0) {
      first = date;
      *oldest = table_cell(table, row, "as_of");
    }
    if (!**newest || date_compare(date, last) > 0) {
      last = date;
      *newest = table_cell(table, row, "as_of");
    }
  }
}

int catalog_tables_answer(struct catalog *catalog, const char *day, struct answer *answer,
                          struct arena *arena) {
  struct date today = {0};
  date_parse(day, &today);
  *answer = answer_new("catalog", "tables", NULL, NULL, arena);
  answer->schema = 2;
  struct answer_table *tables =
      ANSWER_TABLE(answer, "tables", NULL, {"name", "Table", NULL}, {"about", "A row is", NULL},
                   {"rows", "Rows", "-"}, {"oldest", "Oldest", NULL}, {"newest", "Newest", NULL},
                   {"stale", "Stale", "-"});
  tables->is_wide = tables->columns[1].may_cut = true;
  tables->json = "tables[#].%c";
  for (int t = 0; t < CATALOG_TABLES; t++) {
    const struct table *table = catalog_table(catalog, (enum catalog_table)t);
    const char *oldest, *newest;
    size_t stale = 0;
    if (!table)
      return -1;
    for (size_t row = 0; row < table->rows; row++)
      stale += is_stale(table, row, today);
    find_days(table, &oldest, &newest);
    ANSWER_ROW(tables, cell_words(catalog_table_names[t]), cell_words(about[t]),
               cell_value((double)table->rows), cell_words(oldest), cell_words(newest),
               cell_value((double)stale));
  }
  answer->sentence =
      arena_printf(arena, "%d tables; stale: older than 12 months on %s", CATALOG_TABLES, day);
  answer_note(
      answer, "",
      "'pertoken catalog TABLE' shows one table; add '--stale' or '--latest' to select rows.");
  return 0;
}
