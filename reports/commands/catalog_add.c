#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/output.h"
#include "base/process.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/catalog/columns.h"
#include "model/catalog/own_rows.h"
#include "model/catalog/row_rules.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/naming.h"
#include "reports/answers/catalog.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/prompt.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_LISTED = 60,      // words of a column that a question lists
  LISTED_FROM_ROWS = 8, // a column counts as a list of words if it has this many rows per word
};

// A row being put together.
struct addition {
  struct run *run;
  struct catalog *catalog; // before the addition
  enum catalog_table which;
  const struct table *table;
  const char **cells; // [table->columns]
  const char *path;   // of the file to add to
};

static int refuse(const struct addition *addition, const char *why) {
  diagnostics_error(addition->run->diagnostics, nowhere, "%s", why);
  return -1;
}

static const struct catalog_column *rule_of(enum catalog_table which, const char *name) {
  const struct catalog_column *lists[] = {catalog_common_columns(which),
                                          catalog_own_columns(which)};
  for (size_t l = 0; l < 2; l++)
    for (const struct catalog_column *rule = lists[l]; rule->name; rule++)
      if (!strcmp(rule->name, name))
        return rule;
  return NULL;
}

static unsigned demands_of(const struct addition *addition, const char *name) {
  const struct catalog_column *rule = rule_of(addition->which, name);
  return (rule ? rule->demands : 0) | (!strcmp(name, "id") ? CELL_IS_FILLED : 0);
}

// Stores the cell; an accelerator or model may be given by any of its names. Returns what is wrong
// with it; NULL: nothing.
static const char *take(struct addition *addition, int column, const char *text) {
  struct arena *arena = addition->run->arena;
  const char *name = addition->table->column_names[column];
  const unsigned demands = demands_of(addition, name);
  if (demands & (CELL_IS_ACCELERATOR | CELL_IS_MODEL) && *text) {
    long row;
    const struct naming naming = naming_find_row(
        addition->catalog, demands & CELL_IS_MODEL ? CATALOG_MODELS : CATALOG_ACCELERATORS, text,
        &row, arena);
    if (!naming.word)
      return naming.why;
    text = naming.word;
  }
  const char *fault = catalog_fault(addition->catalog, addition->which, name, text);
  if (!fault && !strcmp(name, "id") && catalog_find(addition->table, text) >= 0)
    fault = arena_printf(arena, "row '%s' already exists", text);
  if (!fault)
    addition->cells[column] = text;
  return fault;
}

// ---- from the command line

static int take_argument(struct addition *addition, const char *argument) {
  struct arena *arena = addition->run->arena;
  const struct table *table = addition->table;
  const char *equals = strchr(argument, '=');
  if (!equals)
    return refuse(addition, arena_printf(arena, "expected COLUMN=VALUE, not '%s'", argument));
  const char *name = arena_copy_n(arena, argument, (size_t)(equals - argument));
  const int column = table_column(table, name);
  if (column < 0)
    return refuse(addition,
                  arena_printf(arena, "'%s' is not a column of the table %s%s", name, table->name,
                               name_hint(name, table->column_names, table->columns, arena)));
  if (addition->cells[column])
    return refuse(addition, arena_printf(arena, "'%s' is given twice", name));
  const char *fault = take(addition, column, equals + 1);
  return fault ? refuse(addition, fault) : 0;
}

static bool is_missing(const struct addition *addition, size_t column) {
  const char *cell = addition->cells[column];
  return !(cell && *cell) &&
         demands_of(addition, addition->table->column_names[column]) & CELL_IS_FILLED;
}

static int refuse_missing(const struct addition *addition) {
  const struct table *table = addition->table;
  const char *missing = "";
  for (size_t c = 0; c < table->columns; c++)
    if (is_missing(addition, c))
      missing = arena_printf(addition->run->arena, "%s%s%s", missing, *missing ? ", " : "",
                             table->column_names[c]);
  return !*missing ? 0
                   : refuse(addition, arena_printf(addition->run->arena,
                                                   "a row of %s also needs, as COLUMN=VALUE: %s",
                                                   table->name, missing));
}

// ---- asking

static const char *question_of(const struct addition *addition, const char *name) {
  struct arena *arena = addition->run->arena;
  const unsigned demands = demands_of(addition, name);
  size_t count;
  const char *const *words = catalog_words(demands, &count);
  const char *list = "";
  for (size_t i = 0; i < count; i++)
    list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", words[i]);
  return words                      ? arena_printf(arena, "%s (%s)", name, list)
         : demands & CELL_IS_DATE   ? arena_printf(arena, "%s (as 2026-04-30)", name)
         : demands & CELL_IS_NUMBER ? arena_printf(arena, "%s (a number)", name)
         : !strcmp(name, "id")      ? "id (a name for the row)"
                               : arena_printf(arena, "%s (? lists the values in other rows)", name);
}

// The words that the rows of a table have in a column.
struct words {
  const char *list[MAX_LISTED]; // [count]
  size_t count, rows;           // rows that have one
};

static bool has_word(const struct words *words, const char *word) {
  for (size_t i = 0; i < words->count; i++)
    if (!strcmp(words->list[i], word))
      return true;
  return false;
}

static struct words words_of(const struct table *table, const char *column) {
  struct words words = {0};
  for (size_t row = 0; row < table->rows; row++) {
    const char *cell = table_cell(table, row, column);
    words.rows += *cell != 0;
    if (*cell && words.count < MAX_LISTED && !has_word(&words, cell))
      words.list[words.count++] = cell;
  }
  return words;
}

static void list_words(const struct addition *addition, int column) {
  const char *name = addition->table->column_names[column];
  const unsigned demands = demands_of(addition, name);
  const bool refers = demands & (CELL_IS_ACCELERATOR | CELL_IS_MODEL);
  const struct table *table =
      !refers ? addition->table
              : catalog_table(addition->catalog,
                              demands & CELL_IS_MODEL ? CATALOG_MODELS : CATALOG_ACCELERATORS);
  const struct words words = words_of(table, refers ? "id" : name);
  for (size_t i = 0; i < words.count; i++)
    prompt_say(addition->run, arena_printf(addition->run->arena, "  %s", words.list[i]));
}

// If rows share few words and the cell has a new one, a search for those words will not find the
// row.
static void warn_of_new_word(const struct addition *addition, size_t column) {
  const struct table *table = addition->table;
  const char *name = table->column_names[column], *cell = addition->cells[column];
  const struct words words = words_of(table, name);
  if (!cell || !*cell || catalog_is_number(table, name) || strncmp(name, "source_", 7) == 0 ||
      demands_of(addition, name) & (CELL_IS_DATE | CELL_IS_ACCELERATOR | CELL_IS_MODEL) ||
      words.count == MAX_LISTED || words.rows < LISTED_FROM_ROWS * words.count ||
      has_word(&words, cell))
    return;
  const char *list = "";
  for (size_t i = 0; i < words.count; i++)
    list = arena_printf(addition->run->arena, "%s%s%s", list, i ? ", " : "", words.list[i]);
  diagnostics_warning(addition->run->diagnostics, nowhere,
                      "no other row has '%s' as %s; they have: %s", cell, name, list);
}

// Asks until the cell is valid. Returns 0, or -1 if the input ended.
static int ask_cell(struct addition *addition, int column, const char *usual) {
  const char *name = addition->table->column_names[column];
  for (;;) {
    const char *typed = prompt_ask(addition->run, question_of(addition, name), usual);
    if (!typed)
      return -1;
    if (!strcmp(typed, "?")) {
      list_words(addition, column);
      continue;
    }
    const char *fault = !*typed && is_missing(addition, (size_t)column)
                            ? arena_printf(addition->run->arena, "%s must be given", name)
                            : take(addition, column, typed);
    if (!fault)
      return 0;
    prompt_say(addition->run, fault);
  }
}

// "own-1", or the next free number.
static const char *free_id(const struct addition *addition) {
  for (int number = 1;; number++) {
    const char *id = arena_printf(addition->run->arena, "own-%d", number);
    if (catalog_find(addition->table, id) < 0)
      return id;
  }
}

static int ask_others(struct addition *addition) {
  for (;;) {
    const char *typed = prompt_ask(
        addition->run, "Another column, as COLUMN=VALUE (? lists them; empty: done)", "");
    if (!typed || !*typed)
      return typed ? 0 : -1;
    const size_t errors = addition->run->diagnostics->errors;
    if (!strcmp(typed, "?")) {
      for (size_t c = 0; c < addition->table->columns; c++)
        if (!addition->cells[c])
          prompt_say(addition->run,
                     arena_printf(addition->run->arena, "  %s", addition->table->column_names[c]));
    } else if (take_argument(addition, typed)) {
      struct diagnostics *said = addition->run->diagnostics;
      prompt_say(addition->run, said->list[--said->count].message);
      said->errors = errors;
    }
  }
}

// Asks for what is required and missing and, if nothing was given, for everything else too.
static int ask_missing(struct addition *addition, bool anything_given) {
  const char *figure = catalog_figure(addition->which)->name;
  for (size_t c = 0; c < addition->table->columns; c++) {
    const char *name = addition->table->column_names[c];
    const bool tells = !anything_given && figure && !strcmp(figure, name);
    const bool refers =
        !anything_given && demands_of(addition, name) & (CELL_IS_ACCELERATOR | CELL_IS_MODEL);
    if (!is_missing(addition, c) && (addition->cells[c] || !(tells || refers)))
      continue;
    if (ask_cell(addition, (int)c, !strcmp(name, "id") ? free_id(addition) : ""))
      return -1;
  }
  return anything_given ? 0 : ask_others(addition);
}

// ---- the file

static void put_cell(FILE *out, const char *text, bool last) {
  double number;
  if (*text && !csv_number(text, &number)) {
    putc('"', out);
    for (; *text; text++) {
      if (*text == '"')
        putc('"', out);
      putc(*text, out);
    }
    putc('"', out);
  } else {
    fputs(text, out);
  }
  putc(last ? '\n' : ',', out);
}

static size_t column_of(const char *const *names, size_t count, const char *name) {
  size_t c = 0;
  while (c < count && strcmp(names[c], name) != 0)
    c++;
  return c;
}

// The file's current columns, then those that the row needs.
static size_t columns_of(const struct addition *addition, const struct table *old,
                         const char **names) {
  size_t count = 0;
  for (size_t c = 0; old && c < old->columns; c++)
    names[count++] = old->column_names[c];
  if (!old)
    names[count++] = own_rows_table_column;
  for (size_t c = 0; c < addition->table->columns; c++) {
    const char *name = addition->table->column_names[c], *cell = addition->cells[c];
    if (cell && *cell && column_of(names, count, name) == count)
      names[count++] = name;
  }
  return count;
}

static void put_file(const struct addition *addition, const struct table *old, FILE *out) {
  const struct table *table = addition->table;
  const char **names = arena_array(addition->run->arena,
                                   table->columns + (old ? old->columns : 0) + 1, sizeof *names);
  const size_t count = columns_of(addition, old, names);
  for (size_t c = 0; c < count; c++)
    put_cell(out, names[c], c + 1 == count);
  for (size_t row = 0; old && row < old->rows; row++)
    for (size_t c = 0; c < count; c++)
      put_cell(out, c < old->columns ? old->cells[row * old->columns + c] : "", c + 1 == count);
  for (size_t c = 0; c < count; c++) {
    const int column = table_column(table, names[c]);
    const char *cell = column < 0 ? "" : addition->cells[column];
    put_cell(out,
             !strcmp(names[c], own_rows_table_column) ? table->name
             : cell                                   ? cell
                                                      : "",
             c + 1 == count);
  }
}

// The file's text with the row. NULL after an error.
static const char *text_with_row(const struct addition *addition) {
  struct run *run = addition->run;
  const struct own_rows *old = NULL;
  if (access(addition->path, F_OK) == 0) {
    const struct source *source = source_read(addition->path, run->arena, run->diagnostics);
    old = source ? own_rows_read(source, run->arena, run->diagnostics) : NULL;
    if (!old)
      return NULL;
  }
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  put_file(addition, old ? old->table : NULL, out);
  fclose(out);
  const char *kept = arena_copy(run->arena, text);
  free(text);
  return kept;
}

static int write_file(const struct addition *addition, const char *text) {
  struct output output;
  if (output_open_again(&output, addition->path, addition->run->arena, addition->run->diagnostics))
    return -1;
  fputs(text, output.stream);
  return output_close(&output, addition->run->diagnostics);
}

// ---- the catalogue before and after

// The catalogue with the files of --data-extra, one of which may be the file being added to, and
// that file with the content `text`, or its current content if `text` is NULL.
static int open_with(const struct addition *addition, const char *text, struct catalog *catalog,
                     struct diagnostics *diagnostics) {
  struct run *run = addition->run;
  const struct options *options = &run->options;
  const char *directory = installation_data(options->data_directory, run->arena, diagnostics);
  const char **others = arena_array(run->arena, options->data_extra_count + 1, sizeof *others);
  size_t count = 0;
  for (size_t i = 0; i < options->data_extra_count; i++)
    if (strcmp(options->data_extras[i], addition->path) != 0)
      others[count++] = options->data_extras[i];
  if (!text && access(addition->path, F_OK) == 0)
    others[count++] = addition->path;
  if (!directory || catalog_open(catalog, directory, run->arena, diagnostics))
    return -1;
  if (text && catalog_add_text(catalog, source_from_text(addition->path, text, run->arena)))
    return -1;
  return catalog_add_files(catalog, others, count);
}

// Reports errors in the file's current content; its warnings come with the catalogue that includes
// the row.
static int open_before(struct addition *addition, struct catalog *catalog) {
  struct run *run = addition->run;
  struct diagnostics *findings = arena_alloc(run->arena, sizeof *findings);
  *findings = (struct diagnostics){.arena = run->arena};
  addition->catalog = catalog;
  const bool failed = open_with(addition, NULL, catalog, findings);
  addition->table = failed ? NULL : catalog_table(catalog, addition->which);
  if (!addition->table)
    diagnostics_forward(run->diagnostics, findings);
  return addition->table ? 0 : -1;
}

static int check_and_write(const struct addition *addition, const struct table **table) {
  struct run *run = addition->run;
  struct catalog *after = arena_alloc(run->arena, sizeof *after);
  const char *text = text_with_row(addition);
  if (!text || open_with(addition, text, after, run->diagnostics))
    return -1;
  *table = catalog_table(after, addition->which);
  return *table ? write_file(addition, text) : -1;
}

// No rates of exchange are known: the user can tell whether the row's own is right.
static void say_exchange(const struct run *run, const struct table *prices, size_t row) {
  const double rate = row_rules_exchange(prices, row);
  if (isfinite(rate))
    run_print_note(
        run, "",
        arena_printf(run->arena,
                     "its usd_per_gpu_equivalent counts 1 %s as %.4g USD: check the rate",
                     table_cell(prices, row, "currency"), rate));
}

static int print_row(const struct addition *addition, const struct table *table) {
  struct run *run = addition->run;
  struct answer answer;
  const char *id = addition->cells[table_column(addition->table, "id")],
             *where = arena_printf(run->arena, "id=%s", id);
  const struct catalog_request request = {
      .wheres = &where, .where_count = 1, .day = process_today(run->arena)};
  if (catalog_answer(table, &request, &answer, run->arena, run->diagnostics))
    return -1;
  const size_t row = (size_t)catalog_find(table, id);
  if (!run->options.quiet)
    run_print_note(run, "",
                   arena_printf(run->arena, "added %s to %s, graded %s; '--data-extra %s' loads it",
                                id, addition->path, grade_name(catalog_grade(table, row)),
                                addition->path));
  if (!run->options.quiet && addition->which == CATALOG_PRICES)
    say_exchange(run, table, row);
  run->options.output_path = NULL; // the file of the row, not of the answer
  return run_print_answer(run, NULL, answer);
}

// Finds the table and the file, from the command line or by asking.
static int find_place(struct addition *addition) {
  struct run *run = addition->run;
  const bool may_ask = prompt_is_possible();
  const char *name = run->options.argument_count > 1 ? run->options.arguments[1] : NULL;
  while (!name && may_ask) {
    if (!(name = prompt_ask(run, "Table ('pertoken catalog' lists them)", "prices")))
      return -1;
    if (catalog_table_named(name) == CATALOG_TABLES) {
      prompt_say(run, arena_printf(run->arena, "unknown table '%s'", name));
      name = NULL;
    }
  }
  if (!name)
    return refuse(addition, "name the table: pertoken catalog add TABLE COLUMN=VALUE... -o FILE");
  addition->which = catalog_table_named(name);
  if (addition->which == CATALOG_TABLES) {
    catalog_refuse_table(run, name);
    return -1;
  }
  addition->path = run->options.output_path;
  if (!addition->path && may_ask)
    addition->path = prompt_ask(run, "Your file to add it to", "own-data.csv");
  else if (!addition->path)
    refuse(addition, "name your own file for the row with -o FILE");
  if (addition->path && !strcmp(addition->path, "-"))
    return refuse(addition,
                  "expected -o FILE, your own file: the parsed row goes to standard output");
  return addition->path ? 0 : -1;
}

int command_catalog_add(struct run *run) {
  struct addition addition = {.run = run};
  struct catalog catalog;
  const struct table *table;
  const bool anything_given = run->options.argument_count > 2;
  int result = 0;
  if (find_place(&addition) || open_before(&addition, &catalog))
    return -1;
  addition.cells = arena_array(run->arena, addition.table->columns, sizeof *addition.cells);
  for (int i = 2; i < run->options.argument_count; i++)
    result |= take_argument(&addition, run->options.arguments[i]);
  if (result)
    return -1;
  if (prompt_is_possible() ? ask_missing(&addition, anything_given) : refuse_missing(&addition))
    return -1;
  if (check_and_write(&addition, &table))
    return -1;
  for (size_t c = 0; c < addition.table->columns; c++)
    warn_of_new_word(&addition, c);
  return print_row(&addition, table);
}
