#include "model/evidence/catalog.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/process.h"
#include "base/short_text.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/catalog/columns.h"
#include "model/catalog/own_rows.h"
#include "model/catalog/row_rules.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// A rule for a column that the table has.
struct bound_rule {
  struct catalog_column rule;
  size_t column;
};

// One table while it is being checked, with the tables that it refers to.
struct check {
  const struct table *table; // NULL: the cell is not in a table yet
  const struct table *accelerators, *models;
  const char *today;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct bound_rule rules[MAX_CATALOG_COLUMNS];
  size_t rule_count;
};

static bool demands(const struct catalog_column *rule, unsigned demand) {
  return (rule->demands & demand) == demand;
}

static struct place place_of(const struct check *check, size_t row, const char *column) {
  return check->table ? table_place(check->table, row, column) : nowhere;
}

static void report_cell(const struct check *check, size_t row, const struct catalog_column *rule,
                        const char *expected, const char *found, const char *suggestion) {
  diagnostics_error(check->diagnostics, place_of(check, row, rule->name),
                    "expected %s in '%s', found '%s'%s", expected, rule->name, found, suggestion);
}

static void check_number(const struct check *check, size_t row, const struct catalog_column *rule,
                         const char *cell) {
  double number;
  if (!csv_number(cell, &number))
    report_cell(check, row, rule, "a finite number", cell, "");
  else if (demands(rule, CELL_IS_POSITIVE) && number <= 0)
    report_cell(check, row, rule, "a number above 0", cell, "");
  else if (demands(rule, CELL_IS_NOT_NEGATIVE) && number < 0)
    report_cell(check, row, rule, "a number of at least 0", cell, "");
}

static void check_vocabulary(const struct check *check, size_t row,
                             const struct catalog_column *rule, const char *cell) {
  size_t count;
  const char *const *words = catalog_words(rule->demands, &count);
  for (size_t i = 0; i < count; i++)
    if (!strcmp(cell, words[i]))
      return;
  if (!words)
    return;
  report_cell(check, row, rule, "a known word", cell, name_hint(cell, words, count, check->arena));
}

static void check_reference(const struct check *check, size_t row,
                            const struct catalog_column *rule, const char *cell,
                            const struct table *table) {
  if (!table || table_find(table, cell) >= 0)
    return;
  const char **ids = arena_array(check->arena, table->rows, sizeof *ids);
  for (size_t i = 0; i < table->rows; i++)
    ids[i] = table_cell(table, i, "id");
  report_cell(check, row, rule, arena_printf(check->arena, "an id of the table %s", table->name),
              cell, name_hint(cell, ids, table->rows, check->arena));
}

static void check_specification(const struct check *check, size_t row,
                                const struct catalog_column *rule, const char *cell) {
  const struct table *table = check->accelerators;
  if (!table || table_column(table, cell) >= 0)
    return;
  report_cell(check, row, rule, "a column of the table accelerators", cell,
              name_hint(cell, table->column_names, table->columns, check->arena));
}

// A figure cannot be of a day that is yet to come. The shipped rows are not checked: with them,
// a clock that is slow would leave nothing to work with.
static void check_date(const struct check *check, size_t row, const struct catalog_column *rule,
                       const char *cell) {
  const bool is_own = !check->table || check->table->places[row].of;
  struct date first, today;
  if (!date_parse_first(cell, &first))
    report_cell(check, row, rule, "a date such as 2026-04-30, 2026-04 or 2026", cell, "");
  else if (is_own && date_parse(check->today, &today) && date_compare(first, today) > 0)
    report_cell(check, row, rule, arena_printf(check->arena, "a date up to %s", check->today), cell,
                "");
}

static void check_cell(const struct check *check, size_t row, const struct catalog_column *rule,
                       const char *cell) {
  if (!*cell) {
    if (demands(rule, CELL_IS_FILLED))
      diagnostics_error(check->diagnostics, place_of(check, row, rule->name),
                        "expected a value for '%s', found a blank cell", rule->name);
    return;
  }
  if (demands(rule, CELL_IS_SHORT_TEXT) && !text_is_short(cell))
    short_text_check("a source", cell, place_of(check, row, rule->name), check->diagnostics);
  if (demands(rule, CELL_IS_NUMBER))
    check_number(check, row, rule, cell);
  if (demands(rule, CELL_IS_DATE))
    check_date(check, row, rule, cell);
  if (demands(rule, CELL_IS_ACCELERATOR))
    check_reference(check, row, rule, cell, check->accelerators);
  if (demands(rule, CELL_IS_MODEL))
    check_reference(check, row, rule, cell, check->models);
  if (demands(rule, CELL_IS_SPECIFICATION))
    check_specification(check, row, rule, cell);
  check_vocabulary(check, row, rule, cell);
}

static void bind_rule(struct check *check, const struct catalog_column *rule) {
  const struct table *table = check->table;
  const int column = table_column(table, rule->name);
  if (column >= 0) {
    assert(check->rule_count < MAX_CATALOG_COLUMNS);
    check->rules[check->rule_count++] = (struct bound_rule){*rule, (size_t)column};
    return;
  }
  diagnostics_error(check->diagnostics, table_header_place(table), "expected a column '%s'%s",
                    rule->name,
                    name_hint(rule->name, table->column_names, table->columns, check->arena));
}

static void bind_rules(struct check *check, enum catalog_table which) {
  for (const struct catalog_column *rule = catalog_common_columns(which); rule->name; rule++)
    bind_rule(check, rule);
  for (const struct catalog_column *rule = catalog_own_columns(which); rule->name; rule++)
    bind_rule(check, rule);
}

static bool refers_to(enum catalog_table which, unsigned demand) {
  for (const struct catalog_column *rule = catalog_own_columns(which); rule->name; rule++) {
    if (rule->demands & demand)
      return true;
  }
  return false;
}

// Loads the tables that the table refers to. False if these have errors, so that references into
// them cannot be checked; the table's other cells are checked all the same.
static bool load_references(struct check *check, struct catalog *catalog,
                            enum catalog_table which) {
  const bool to_accelerators = refers_to(which, CELL_IS_ACCELERATOR | CELL_IS_SPECIFICATION);
  const bool to_models = refers_to(which, CELL_IS_MODEL);
  if (to_accelerators)
    check->accelerators = catalog_glance(catalog, CATALOG_ACCELERATORS);
  if (to_models)
    check->models = catalog_glance(catalog, CATALOG_MODELS);
  return (check->accelerators || !to_accelerators) && (check->models || !to_models);
}

static void check_rows(const struct check *check) {
  const struct table *table = check->table;
  for (size_t row = 0; row < table->rows; row++) {
    for (size_t i = 0; i < check->rule_count; i++) {
      const struct bound_rule *bound = &check->rules[i];
      check_cell(check, row, &bound->rule, table->cells[row * table->columns + bound->column]);
    }
  }
}

static struct table *read_table(struct catalog *catalog, enum catalog_table which) {
  const char *name = catalog_table_names[which];
  const char *path = arena_printf(catalog->arena, "%s/%s.csv", catalog->directory, name);
  const struct source *source = source_read(path, catalog->arena, &catalog->findings[which]);
  if (!source)
    return NULL;
  struct table *table = csv_read(source, name, catalog->arena, &catalog->findings[which]);
  if (table)
    table->kind = (int)which;
  return table;
}

static const struct table *load_table(struct catalog *catalog, enum catalog_table which) {
  struct diagnostics *findings = &catalog->findings[which];
  *findings = (struct diagnostics){.arena = catalog->arena, .held_for = catalog->diagnostics};
  struct check check = {
      .today = process_today(catalog->arena), .arena = catalog->arena, .diagnostics = findings};
  const bool complete = load_references(&check, catalog, which);
  struct table *table = read_table(catalog, which);
  if (!table)
    return NULL;
  check.table = table;
  bind_rules(&check, which);
  if (catalog->own_count && !findings->errors)
    check.table = table =
        own_rows_join(table, catalog->own, catalog->own_count, catalog->arena, findings);
  if (table_column(table, "id") >= 0)
    table_index(table, "id", catalog->arena, findings);
  check_rows(&check);
  row_rules_check(table, findings);
  if (!findings->errors)
    own_rows_compare(table, catalog->arena, findings);
  return complete && !findings->errors ? table : NULL;
}

int catalog_open(struct catalog *catalog, const char *directory, struct arena *arena,
                 struct diagnostics *diagnostics) {
  *catalog = (struct catalog){.directory = directory, .arena = arena, .diagnostics = diagnostics};
  struct stat status;
  int trouble = stat(directory, &status) < 0 ? errno : 0;
  if (!trouble && !S_ISDIR(status.st_mode))
    trouble = ENOTDIR;
  if (!trouble)
    return 0;
  diagnostics_error(diagnostics, nowhere, "expected a directory of catalogues at '%s': %s",
                    directory, strerror(trouble));
  return -1;
}

int catalog_add_text(struct catalog *catalog, const struct source *source) {
  const struct own_rows *own = own_rows_read(source, catalog->arena, catalog->diagnostics);
  for (int which = 0; which < CATALOG_TABLES; which++)
    assert(!catalog->tried[which]);
  catalog->own =
      arena_room(catalog->arena, catalog->own, catalog->own_count, sizeof(const struct own_rows *));
  if (own)
    catalog->own[catalog->own_count++] = own;
  return own ? 0 : -1;
}

int catalog_add_files(struct catalog *catalog, const char *const *paths, size_t count) {
  int result = 0;
  for (size_t i = 0; i < count; i++) {
    const struct source *source = source_read(paths[i], catalog->arena, catalog->diagnostics);
    if (!source || catalog_add_text(catalog, source))
      result = -1;
  }
  for (int which = 0; which < CATALOG_TABLES; which++)
    for (size_t i = 0; i < catalog->own_count; i++)
      if (own_rows_count(catalog->own[i], (enum catalog_table)which) &&
          !catalog_table(catalog, (enum catalog_table)which))
        result = -1;
  return result;
}

size_t catalog_own_count(const struct table *table) {
  size_t count = 0;
  while (count < table->rows && table->places[table->rows - 1 - count].of)
    count++;
  return count;
}

const struct table *catalog_glance(struct catalog *catalog, enum catalog_table which) {
  assert((unsigned)which < CATALOG_TABLES);
  if (!catalog->tried[which]) {
    catalog->tried[which] = true;
    catalog->tables[which] = load_table(catalog, which);
  }
  return catalog->tables[which];
}

static void report(struct catalog *catalog, enum catalog_table which) {
  if (!catalog->reported[which])
    diagnostics_forward(catalog->diagnostics, &catalog->findings[which]);
  catalog->reported[which] = true;
}

const struct table *catalog_table(struct catalog *catalog, enum catalog_table which) {
  const struct table *table = catalog_glance(catalog, which);
  if (refers_to(which, CELL_IS_ACCELERATOR | CELL_IS_SPECIFICATION))
    report(catalog, CATALOG_ACCELERATORS);
  if (refers_to(which, CELL_IS_MODEL))
    report(catalog, CATALOG_MODELS);
  report(catalog, which);
  return table;
}

static const struct catalog_column *column_named(const struct catalog_column *columns,
                                                 const char *name) {
  while (columns->name && strcmp(columns->name, name) != 0)
    columns++;
  return columns->name ? columns : NULL;
}

const char *catalog_fault(struct catalog *catalog, enum catalog_table which, const char *column,
                          const char *cell) {
  const struct catalog_column *rule = column_named(catalog_own_columns(which), column);
  struct diagnostics findings = {.arena = catalog->arena, .held_for = catalog->diagnostics};
  struct check check = {
      .today = process_today(catalog->arena), .arena = catalog->arena, .diagnostics = &findings};
  rule = rule ? rule : column_named(catalog_common_columns(which), column);
  load_references(&check, catalog, which);
  if (rule)
    check_cell(&check, 0, rule, cell);
  return findings.count ? findings.list[0].message : NULL;
}

long catalog_find(const struct table *table, const char *id) {
  return table_find(table, id);
}

bool catalog_lists(const char *list, const char *name) {
  const size_t length = strlen(name);
  while (*list) {
    list += strspn(list, " ;");
    size_t item = strcspn(list, ";");
    const char *rest = list + item;
    while (item && list[item - 1] == ' ')
      item--;
    if (item == length && item && !strncmp(list, name, item))
      return true;
    list = rest;
  }
  return false;
}

long catalog_device(const struct table *accelerators, const char *name) {
  for (size_t row = 0; row < accelerators->rows; row++)
    if (catalog_lists(table_cell(accelerators, row, "device_names"), name))
      return (long)row;
  return -1;
}

// The grade of each kind of source, in the order of the kinds' names.
static const enum grade grade_of_kind[] = {
    GRADE_PUBLISHED, GRADE_PUBLISHED, GRADE_PUBLISHED, GRADE_PUBLISHED,
    GRADE_PUBLISHED, GRADE_CLAIM,     GRADE_ASSUMED,
};

static bool begins_with(const char *text, const char *start) {
  return strncasecmp(text, start, strlen(start)) == 0;
}

// Typical values have no kind: each is somebody's choice from several sources, and only as good as
// an assumption unless it comes from a single benchmark or seed document.
enum grade catalog_grade(const struct table *table, size_t row) {
  const char *title = table_cell(table, row, "source_title");
  const bool is_mlperf = begins_with(title, "MLPerf");
  if (table->kind == CATALOG_CLAIMS)
    return GRADE_CLAIM;
  if (table->kind == CATALOG_TYPICAL_VALUES)
    return is_mlperf ? GRADE_BENCHMARK : begins_with(title, "seed ") ? GRADE_CLAIM : GRADE_ASSUMED;

  const char *kind = table_cell(table, row, "kind");
  if (is_mlperf && strcmp(kind, "published_benchmark") == 0)
    return GRADE_BENCHMARK;
  size_t count;
  const char *const *kinds = catalog_words(CELL_IS_KIND, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(kind, kinds[i]) == 0)
      return grade_of_kind[i];
  return GRADE_ASSUMED;
}

bool catalog_date(const struct table *table, size_t row, struct date *out) {
  return date_parse(table_cell(table, row, "as_of"), out);
}

bool catalog_is_number(const struct table *table, const char *column) {
  if (table->kind < 0)
    return false;
  const struct catalog_column *rule =
      column_named(catalog_own_columns((enum catalog_table)table->kind), column);
  return rule && demands(rule, CELL_IS_NUMBER);
}
