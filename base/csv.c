#include "base/csv.h"

#include <assert.h>
#include <csv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

struct table_key {
  const char *text;
  size_t row;
  UT_hash_handle hh;
};

// The text goes to libcsv line by line, so that a row's line is known and reading can go on after
// an error. Cells and their texts are written to arrays as large as the text can need.
struct csv_reader {
  struct csv_parser parser;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct table *table;
  const char **names; // room for names_room; table->columns of them once the header is read
  size_t names_room;
  const char **cells;
  struct table_row *places;
  char *texts;           // where the next cell's text goes
  char *row_texts;       // where the row's texts began
  struct table_row row;  // the row being read
  struct table_row next; // the next line to read
  size_t filled;         // cells of the row so far
};

static struct place place_in(const struct source *source, struct table_row line, size_t column) {
  return (struct place){source, line.line, (int)column + 1};
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static size_t skip_cell(const struct source *source, size_t offset) {
  bool quoted = false;
  for (; offset < source->size; offset++) {
    const char c = source->text[offset];
    if (c == '"')
      quoted = !quoted;
    if (!quoted && (c == ',' || c == '\r' || c == '\n'))
      break;
  }
  return offset;
}

// The place where a row's cell begins, or where the row ends if it has fewer cells.
static struct place cell_place(const struct source *source, struct table_row row, size_t cell) {
  size_t offset = row.offset;
  for (size_t i = 0; i < cell; i++) {
    offset = skip_cell(source, offset);
    if (source->text[offset] != ',')
      break;
    offset++;
  }
  while (is_blank(source->text[offset]))
    offset++;
  for (size_t i = row.offset; i < offset; i++) {
    if (source->text[i] != '\n')
      continue;
    row = (struct table_row){.offset = i + 1, .line = row.line + 1};
  }
  return place_in(source, row, offset - row.offset);
}

static const char *keep_text(struct csv_reader *reader, const char *text, size_t length) {
  if (length == 0)
    return "";
  char *kept = reader->texts;
  memcpy(kept, text, length + 1);
  reader->texts += length + 1;
  return kept;
}

static void keep_name(struct csv_reader *reader, const char *text) {
  if (reader->filled == reader->names_room) {
    const size_t room = reader->names_room ? 2 * reader->names_room : 32;
    reader->names =
        arena_grow(reader->arena, reader->names, reader->names_room, room, sizeof *reader->names);
    reader->names_room = room;
  }
  reader->names[reader->filled] = text;
}

// libcsv calls this when a cell has ended.
static void on_cell(void *text, size_t length, void *data) {
  struct csv_reader *reader = data;
  const struct table *table = reader->table;
  if (!reader->places) {
    keep_name(reader, keep_text(reader, text, length));
  } else if (reader->filled < table->columns) {
    reader->cells[table->rows * table->columns + reader->filled] = keep_text(reader, text, length);
  }
  reader->filled++;
}

static bool is_repeated(const char *const *names, size_t number) {
  for (size_t i = 0; i < number; i++) {
    if (strcmp(names[i], names[number]) == 0)
      return true;
  }
  return false;
}

static void check_header(const struct csv_reader *reader) {
  const struct table *table = reader->table;
  const char *const *names = table->column_names;
  if (table->columns > MAX_CSV_COLUMNS) {
    diagnostics_error(reader->diagnostics,
                      cell_place(table->source, table->header, MAX_CSV_COLUMNS),
                      "expected at most %d columns, found %zu", MAX_CSV_COLUMNS, table->columns);
    return;
  }
  for (size_t i = 0; i < table->columns; i++) {
    if (*names[i] && !is_repeated(names, i))
      continue;
    diagnostics_error(reader->diagnostics, cell_place(table->source, table->header, i),
                      *names[i] ? "expected each column once: '%s' is repeated"
                                : "expected the name of a column%s",
                      names[i]);
  }
}

static size_t count_lines(const struct source *source) {
  size_t lines = 1;
  const char *end = source->text + source->size;
  for (const char *p = source->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
    lines++;
  return lines;
}

// Every kept row takes at least one line, every kept cell at least one byte.
static void finish_header(struct csv_reader *reader) {
  struct table *table = reader->table;
  const size_t lines = count_lines(table->source), bytes = table->source->size + 1;
  table->header = reader->row;
  table->columns = reader->filled;
  table->column_names = reader->names;
  check_header(reader);
  const size_t cells = lines > bytes / table->columns ? bytes : lines * table->columns;
  reader->places = arena_array(reader->arena, lines, sizeof *reader->places);
  reader->cells = arena_array(reader->arena, cells + table->columns, sizeof *reader->cells);
}

static void finish_row(struct csv_reader *reader) {
  struct table *table = reader->table;
  if (reader->filled == table->columns) {
    reader->places[table->rows++] = reader->row;
    return;
  }
  diagnostics_error(reader->diagnostics,
                    cell_place(table->source, reader->row,
                               reader->filled < table->columns ? reader->filled : table->columns),
                    "expected %zu cells as in the header, found %zu", table->columns,
                    reader->filled);
}

// libcsv calls this when a row has ended.
static void on_row(int end, void *data) {
  (void)end;
  struct csv_reader *reader = data;
  if (reader->places)
    finish_row(reader);
  else
    finish_header(reader);
  reader->filled = 0;
  reader->row_texts = reader->texts;
}

static void start_parser(struct csv_reader *reader) {
  csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL);
  csv_set_blk_size(&reader->parser, 4096);
}

static struct table_row line_after(const struct source *source, struct table_row line) {
  const char *start = source->text + line.offset;
  const char *newline = memchr(start, '\n', source->size - line.offset);
  const size_t offset = newline ? (size_t)(newline + 1 - source->text) : source->size;
  return (struct table_row){.offset = offset, .line = line.line + 1};
}

// Drops the row being read and continues after `line`.
static void resume_after(struct csv_reader *reader, struct table_row line) {
  reader->next = line_after(reader->table->source, line);
  reader->filled = 0;
  reader->texts = reader->row_texts;
  csv_free(&reader->parser);
  start_parser(reader);
}

// A quote that is open at the end of a line may be closed on a later one. If it is not, the fault
// most likely lies in the line that opens it, and the lines after that are worth reading.
static void report_open_quote(struct csv_reader *reader) {
  const struct source *source = reader->table->source;
  const struct place place = cell_place(source, reader->row, reader->filled);
  diagnostics_error(reader->diagnostics, place,
                    "expected this quoted cell to be closed by a quote, then a comma or line end");
  struct table_row line = reader->row;
  while (line.line < place.line)
    line = line_after(source, line);
  resume_after(reader, line);
}

static void report_quote(struct csv_reader *reader, struct table_row line, size_t column) {
  const struct source *source = reader->table->source;
  const bool stray = source->text[line.offset + column] == '"';
  diagnostics_error(
      reader->diagnostics, place_in(source, line, column),
      stray ? "expected no quote within an unquoted cell: quote the cell and double its quotes"
            : "expected a comma or the line end after the closing quote");
  resume_after(reader, line);
}

// Returns false after an error that makes the line unfit for libcsv. `length` does not count the
// line end.
static bool check_line(struct csv_reader *reader, struct table_row line, size_t length) {
  const struct source *source = reader->table->source;
  const char *text = source->text + line.offset;
  const char *carriage_return = memchr(text, '\r', length);
  if (length > MAX_CSV_LINE) {
    diagnostics_error(reader->diagnostics, place_in(source, line, 0),
                      "expected a line of at most %d bytes, found %zu", MAX_CSV_LINE, length);
  } else if (carriage_return) {
    diagnostics_error(reader->diagnostics, place_in(source, line, (size_t)(carriage_return - text)),
                      "expected no carriage return within a line");
  } else {
    return true;
  }
  resume_after(reader, line);
  return false;
}

static void read_line(struct csv_reader *reader) {
  const struct source *source = reader->table->source;
  const struct table_row line = reader->next;
  const char *text = source->text + line.offset;
  reader->next = line_after(source, line);
  const size_t size = reader->next.offset - line.offset;
  size_t length = size;
  if (length > 0 && text[length - 1] == '\n')
    length--;
  if (length > 0 && text[length - 1] == '\r')
    length--;

  if (!reader->parser.quoted)
    reader->row = line;
  if (!check_line(reader, line, length))
    return;
  const size_t parsed = csv_parse(&reader->parser, text, size, on_cell, on_row, reader);
  if (parsed == size)
    return;
  if (reader->row.line < line.line)
    report_open_quote(reader);
  else
    report_quote(reader, line, parsed);
}

// Refuses semicolons and tabs, with which a spreadsheet that writes decimal commas separates
// columns. Returns false after an error.
static bool check_separator(struct csv_reader *reader) {
  static const struct {
    char sign;
    const char *name;
  } others[] = {{';', "semicolons"}, {'\t', "tabs"}};
  const struct source *source = reader->table->source;
  const size_t length = strcspn(source->text, "\n");
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const char *found = memchr(source->text, others[i].sign, length);
    if (!found || memchr(source->text, ',', length))
      continue;
    diagnostics_error(
        reader->diagnostics, place_in(source, reader->next, (size_t)(found - source->text)),
        "expected columns separated by commas, not %s: save the file with commas, and "
        "with points for decimals",
        others[i].name);
    return false;
  }
  return true;
}

// Without a header the rows cannot be interpreted, so an error in it ends the reading.
static void read_lines(struct csv_reader *reader) {
  const size_t size = reader->table->source->size;
  const size_t errors = reader->diagnostics->errors;
  do {
    while (reader->next.offset < size) {
      read_line(reader);
      if (!reader->places && reader->diagnostics->errors > errors)
        return;
    }
    if (csv_fini(&reader->parser, on_cell, on_row, reader) == 0)
      return;
    report_open_quote(reader);
  } while (reader->places);
}

struct table *csv_read(const struct source *source, const char *name, struct arena *arena,
                       struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct table *table = arena_alloc(arena, sizeof *table);
  *table = (struct table){.name = name, .source = source, .kind = -1};
  char *texts = arena_alloc(arena, source->size + 2);
  struct csv_reader reader = {
      .arena = arena,
      .diagnostics = diagnostics,
      .table = table,
      .texts = texts,
      .row_texts = texts,
      .next = {.line = 1},
  };
  start_parser(&reader);
  if (check_separator(&reader))
    read_lines(&reader);
  csv_free(&reader.parser);

  if (diagnostics->errors == errors && table->columns == 0)
    diagnostics_error(diagnostics, (struct place){source, 0, 0},
                      "expected a line of column names, found an empty file");
  table->cells = reader.cells;
  table->places = reader.places;
  return diagnostics->errors == errors ? table : NULL;
}

struct table *table_with(const struct table *table, const struct table *more, const size_t *rows,
                         size_t count, struct arena *arena) {
  const size_t columns = table->columns, all = table->rows + count;
  struct table *joined = arena_alloc(arena, sizeof *joined);
  struct table_row *places = arena_array(arena, all, sizeof *places);
  const char **cells = arena_array(arena, all * columns, sizeof *cells);
  memcpy(places, table->places, table->rows * sizeof *places);
  memcpy(cells, table->cells, table->rows * columns * sizeof *cells);
  for (size_t i = 0; i < count; i++) {
    places[table->rows + i] = more->places[rows[i]];
    places[table->rows + i].of = more;
    for (size_t c = 0; c < columns; c++) {
      const int from = table_column(more, table->column_names[c]);
      cells[(table->rows + i) * columns + c] =
          from < 0 ? "" : more->cells[rows[i] * more->columns + (size_t)from];
    }
  }
  *joined = *table;
  joined->rows = all;
  joined->places = places;
  joined->cells = cells;
  joined->keys = NULL;
  return joined;
}

int table_column(const struct table *table, const char *name) {
  for (size_t i = 0; i < table->columns; i++) {
    if (*table->column_names[i] == *name && !strcmp(table->column_names[i], name))
      return (int)i;
  }
  return -1;
}

const char *table_cell(const struct table *table, size_t row, const char *column) {
  const int number = table_column(table, column);
  assert(number >= 0 && row < table->rows);
  return table->cells[row * table->columns + (size_t)number];
}

bool table_number(const struct table *table, size_t row, const char *column, double *out) {
  return csv_number(table_cell(table, row, column), out);
}

double table_number_or(const struct table *table, size_t row, const char *column, double none) {
  double number;
  return table_number(table, row, column, &number) ? number : none;
}

struct place table_place(const struct table *table, size_t row, const char *column) {
  assert(row < table->rows);
  const struct table_row place = table->places[row];
  const struct table *of = place.of ? place.of : table;
  const int number = table_column(of, column);
  return cell_place(of->source, place, number < 0 ? 0 : (size_t)number);
}

struct place table_header_place(const struct table *table) {
  return place_in(table->source, table->header, 0);
}

int table_index(struct table *table, const char *column, struct arena *arena,
                struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct table_key *keys = arena_array(arena, table->rows, sizeof *keys), *index = NULL, *same;
  for (size_t row = 0; row < table->rows; row++) {
    struct table_key *key = &keys[row];
    *key = (struct table_key){.text = table_cell(table, row, column), .row = row};
    const size_t length = strlen(key->text);
    unsigned hash;
    HASH_VALUE(key->text, length, hash);
    HASH_FIND_BYHASHVALUE(hh, index, key->text, length, hash, same);
    if (!*key->text) {
      diagnostics_error(diagnostics, table_place(table, row, column), "expected a value for '%s'",
                        column);
    } else if (same) {
      const struct place there = table_place(table, same->row, column);
      const struct place here = table_place(table, row, column);
      diagnostics_error(
          diagnostics, here, "expected each %s once, '%s' is already in %s%d", column, key->text,
          there.source == here.source ? "line " : arena_printf(arena, "%s:", there.source->name),
          there.line);
    } else {
      HASH_ADD_KEYPTR_BYHASHVALUE(hh, index, key->text, length, hash, key);
    }
  }
  table->keys = index;
  return diagnostics->errors == errors ? 0 : -1;
}

long table_find(const struct table *table, const char *key) {
  const struct table_key *found = NULL;
  HASH_FIND_STR(table->keys, key, found);
  return found ? (long)found->row : -1;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Skips the exponent that begins here, if one does.
static const char *skip_exponent(const char *text) {
  if (*text != 'e' && *text != 'E')
    return text;
  const char *p = text + 1 + (text[1] == '-' || text[1] == '+');
  if (!is_digit(*p))
    return text;
  while (is_digit(*p))
    p++;
  return p;
}

// A whole number below 2^53 divided by a power of ten up to 10^22 gives the nearest double: the
// same as strtod, only faster.
bool csv_number(const char *text, double *out) {
  static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool signed_text = *text == '-' || *text == '+';
  const char *p = text + signed_text, *point = NULL;
  size_t digits = 0;
  unsigned long long number = 0;
  for (; is_digit(*p) || (*p == '.' && !point); p++) {
    if (*p == '.') {
      point = p;
      continue;
    }
    digits++;
    number = 10 * number + (unsigned)(*p - '0');
  }
  if (digits == 0)
    return false;
  if (!*p && digits <= 15) {
    const double magnitude = (double)number / powers[point ? p - point - 1 : 0];
    *out = *text == '-' ? -magnitude : magnitude;
    return true;
  }
  const double value = *skip_exponent(p) ? NAN : strtod(text, NULL);
  if (!isfinite(value))
    return false;
  *out = value;
  return true;
}
