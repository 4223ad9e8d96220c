#include "reports/faces/terminal_tables.h"

#include "base/arena.h"
#include "base/texts.h"
#include "reports/faces/parts.h"
#include "reports/print/grid.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { TREE_DIGITS = 10, NARROWEST_LABEL = 20 };

static bool is_text_column(const struct answer_table *table, size_t column) {
  for (size_t r = 0; r < table->row_count; r++)
    if (cell_has_number(cell_at(table, r, column)))
      return false;
  return true;
}

static bool is_left(const struct answer_table *table, size_t column) {
  if (table->columns[column].align != ALIGN_USUAL)
    return table->columns[column].align == ALIGN_LEFT;
  return !table->unit_column && is_text_column(table, column);
}

// The columns of a table that a grid shows besides the first, from `first` on; there may be fewer
// than `count`.
struct part {
  size_t first, count;
};

static bool is_shown(const struct view *view, const struct answer_table *table, size_t column) {
  return column_shown(table, column, FACE_TERMINAL) && view_has_room(view, table, column);
}

static size_t after(struct part part, size_t column) {
  return column ? column + 1 : part.first;
}

static size_t end_of(const struct answer_table *table, struct part part) {
  const size_t end = part.first + part.count;
  return end < table->column_count ? end : table->column_count;
}

// The number of columns of a grid before a column of the table, not counting that of units.
static int count_before(const struct view *view, const struct answer_table *table, struct part part,
                        size_t column) {
  int count = 0;
  for (size_t c = 0; c < column && c < end_of(table, part); c = after(part, c))
    count += is_shown(view, table, c);
  return count;
}

// A line of a table; the header has two.
struct table_line {
  struct cell *cells;
  struct scale scale; // of the numbers of a row
};

static void fill_column(const struct view *view, const struct answer_table *table, size_t column,
                        struct table_line *rows, int place, int unit_place) {
  const struct answer_column *head = &table->columns[column];
  const struct scale scale = view_column_scale(view, table, column);
  const bool units =
      head->unit && !head->unit_said && !view->exact && !is_text_column(table, column);
  rows[0].cells[place] = (struct cell){head->title, EMPHASIS_STRONG};
  rows[1].cells[place] = (struct cell){units ? scale.unit : "", EMPHASIS_FAINT};
  for (size_t r = 0; r < table->row_count; r++) {
    const struct answer_cell *cell = cell_at(table, r, column);
    const struct scale of_row = rows[2 + r].scale;
    const enum emphasis of_all = table->rows ? table->rows[r].emphasis : EMPHASIS_NONE;
    const char *text =
        style_text(view->style, view_cell_text(view, table, r, column, &scale, &of_row));
    rows[2 + r].cells[place] = (struct cell){text, cell->emphasis ? cell->emphasis : of_all};
    if (unit_place && of_row.unit && !view->exact)
      rows[2 + r].cells[unit_place] = (struct cell){of_row.unit, EMPHASIS_FAINT};
  }
}

static bool any_text(const struct table_line *row, int columns) {
  for (int c = 0; c < columns; c++)
    if (row->cells[c].text && *row->cells[c].text)
      return true;
  return false;
}

// The rows that are shown, with the header's rule and their own.
static void add_rows(struct grid *grid, const struct answer_table *table, struct table_line *rows) {
  bool begun = false;
  for (size_t r = 0; r < table->row_count + 2; r++) {
    if (r < 2 ? r && !any_text(&rows[r], grid->columns) : !row_shown(table, r - 2, FACE_TERMINAL))
      continue;
    if (r >= 2 && (!begun || (table->rows && table->rows[r - 2].ruled)))
      grid_rule(grid);
    begun = r >= 2;
    memcpy(grid_row(grid), rows[r].cells, (size_t)grid->columns * sizeof *rows[r].cells);
  }
}

// The units of rows are those of all columns, whatever their part.
static const struct scale *row_scales(const struct view *view, const struct answer_table *table) {
  struct scale *scales = arena_array(view->arena, table->row_count, sizeof *scales);
  for (size_t r = 0; r < table->row_count; r++)
    scales[r] = view_row_scale(view, table, r);
  return scales;
}

static struct grid *grid_of_part(const struct view *view, const struct answer_table *table,
                                 const struct scale *scales, struct part part) {
  const int unit_place =
      table->unit_column ? count_before(view, table, part, table->unit_column) : 0;
  const int columns =
      count_before(view, table, part, table->column_count) + (table->unit_column > 0);
  struct grid *grid = grid_new(columns, view->arena);
  struct table_line *rows = arena_array(view->arena, table->row_count + 2, sizeof *rows);
  for (size_t r = 0; r < table->row_count + 2; r++)
    rows[r].cells = arena_array(view->arena, (size_t)columns, sizeof *rows[r].cells);
  for (size_t r = 0; r < table->row_count; r++)
    rows[2 + r].scale = scales[r];
  int shown = 0;
  for (size_t c = 0; c < end_of(table, part); c = after(part, c)) {
    const int place = shown + (table->unit_column && c >= table->unit_column);
    if (!is_shown(view, table, c))
      continue;
    fill_column(view, table, c, rows, place, unit_place);
    grid->left[place] = !c || is_left(table, c);
    shown++;
  }
  if (unit_place)
    grid->left[unit_place] = true;
  add_rows(grid, table, rows);
  return grid;
}

static struct part all_of(const struct answer_table *table) {
  return (struct part){1, table->column_count - 1};
}

static struct grid *grid_of(const struct view *view, const struct answer_table *table) {
  return grid_of_part(view, table, row_scales(view, table), all_of(table));
}

static int longest_label(const struct answer_table *table) {
  int longest = style_width(table->columns[0].title);
  for (size_t r = 0; r < table->row_count; r++) {
    const char *label = cell_shown_text(cell_at(table, r, 0));
    const int width = label ? style_width(label) : 1;
    longest = width > longest ? width : longest;
  }
  return longest;
}

// ---- tables turned, their columns as rows

// Whether a row becomes a column in the upper table (its weight is at least `least`) or in the
// table below (`least` is 0).
static bool turns_into(const struct answer_table *table, size_t row, int least) {
  const struct answer_row *about = &table->rows[row];
  if (!about->brief || !row_shown(table, row, FACE_TERMINAL | FACE_TURNED))
    return false;
  return least ? about->weight >= least : !about->weight;
}

static struct answer_table turned(const struct view *view, const struct answer_table *table,
                                  int least) {
  struct answer_column *columns = arena_array(view->arena, table->row_count + 1, sizeof *columns);
  struct answer_table turned = {.columns = columns, .column_count = 1, .arena = view->arena};
  columns[0] = (struct answer_column){.title = table->columns[0].key};
  for (size_t r = 0; r < table->row_count; r++)
    if (turns_into(table, r, least))
      columns[turned.column_count++] =
          (struct answer_column){.title = table->rows[r].brief, .unit = table->rows[r].unit};
  for (size_t c = 1; c < table->column_count; c++) {
    struct answer_cell *cell = answer_table_row(&turned);
    *cell++ = (struct answer_cell){.text = table->columns[c].title};
    for (size_t r = 0; r < table->row_count; r++)
      if (turns_into(table, r, least))
        *cell++ = *cell_at(table, r, c);
  }
  return turned;
}

static int greatest_weight(const struct answer_table *table) {
  int greatest = 1;
  for (size_t r = 0; r < table->row_count; r++)
    greatest = table->rows[r].weight > greatest ? table->rows[r].weight : greatest;
  return greatest;
}

// Names the columns that are too much for the width.
static void print_left_out(const struct view *view, const struct answer_table *table, int least) {
  struct texts names = {0};
  for (size_t r = 0; r < table->row_count; r++)
    if (turns_into(table, r, 1) && !turns_into(table, r, least))
      texts_add(&names, view->arena, "%s", table->rows[r].brief);
  if (names.count)
    style_paragraph(view->style, "Left out at this width: ", texts_joined(&names, view->arena));
}

// Leaves out columns of the lowest weight until the rest fits.
static void print_turned(const struct view *view, const struct answer_table *table) {
  const int most = greatest_weight(table);
  const struct answer_table below = turned(view, table, 0);
  struct answer_table upper = turned(view, table, 1);
  const int label = longest_label(&upper);
  struct grid *grid = grid_of(view, &upper);
  int least = 1;
  while (least < most && grid_width(grid, label) > view->style->width) {
    upper = turned(view, table, ++least);
    grid = grid_of(view, &upper);
  }
  grid_print(grid, view->style);
  print_left_out(view, table, least);
  if (below.column_count < 2)
    return;
  putc('\n', view->style->out);
  grid_print(grid_of(view, &below), view->style);
}

// ---- trees

struct branches {
  const char *fork, *last, *line, *blank, *arrow;
};

static const struct branches drawn = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   ",
                                      "\u2190"};
static const struct branches plain = {"|- ", "`- ", "|  ", "   ", "<-"};

// Breaks a line at the terminal's width; elsewhere it stays whole, for grep.
static void print_line(const struct style *style, const char *head, const char *rest,
                       const char *text) {
  enum { NARROWEST_TEXT = 20 };
  const char **lines;
  const int first = style_width(head), others = style_width(rest);
  const int room = style->terminal ? style->width - (first > others ? first : others) : INT_MAX;
  const size_t count = style_wrap(
      style_text(style, text), room > NARROWEST_TEXT ? room : NARROWEST_TEXT, style->arena, &lines);
  for (size_t i = 0; i < count; i++)
    fprintf(style->out, "%s%s\n", style_mark(style, EMPHASIS_FAINT, i ? rest : head), lines[i]);
}

// "first = second  <-  third  fourth", with the columns that a terminal shows.
static const char *step_text(const struct view *view, const struct answer_table *table, size_t row,
                             const char *arrow) {
  const char *text = "";
  size_t shown = 0;
  for (size_t c = 0; c < table->column_count; c++) {
    if (!column_shown(table, c, FACE_TERMINAL))
      continue;
    const char *before = shown == 1   ? " = "
                         : shown == 2 ? arena_printf(view->arena, "  %s  ", arrow)
                         : shown      ? "  "
                                      : "";
    const char *cell = view_cell_text(view, table, row, c, NULL, NULL);
    text = *cell ? arena_printf(view->arena, "%s%s%s", text, before, cell) : text;
    shown++;
  }
  return text;
}

// Whether another row of the same depth follows below the same step.
static bool has_next(const struct answer_table *table, size_t row, int depth) {
  for (size_t r = row + 1; r < table->row_count && table->rows[r].depth >= depth; r++)
    if (table->rows[r].depth == depth)
      return true;
  return false;
}

static void print_tree(const struct view *view, const struct answer_table *table) {
  const struct branches *branches = view->style->utf8 ? &drawn : &plain;
  const char **below = arena_array(view->arena, table->row_count + 1, sizeof(const char *));
  struct view exact = *view;
  exact.exact = true;
  exact.digits = TREE_DIGITS;
  below[0] = "";
  for (size_t r = 0; r < table->row_count; r++) {
    const int depth = table->rows[r].depth;
    const bool next = depth && has_next(table, r, depth);
    const char *above = depth ? below[depth - 1] : "";
    const char *head =
        depth ? arena_printf(view->arena, "%s%s", above, next ? branches->fork : branches->last)
              : "";
    below[depth] =
        depth ? arena_printf(view->arena, "%s%s", above, next ? branches->line : branches->blank)
              : "";
    const bool leaf = r + 1 == table->row_count || table->rows[r + 1].depth <= depth;
    print_line(
        view->style, head,
        arena_printf(view->arena, "%s%s  ", below[depth], leaf ? branches->blank : branches->line),
        step_text(&exact, table, r, branches->arrow));
  }
}

// ---- tables in the width that there is

static bool fits(const struct view *view, const struct grid *grid, int label) {
  return grid_width(grid, label) <= view->style->width;
}

// Prints as many columns side by side as fit, the others below.
static void print_parts(const struct view *view, const struct answer_table *table) {
  const struct scale *scales = row_scales(view, table);
  struct part part = all_of(table);
  for (; part.first < table->column_count; part.first += part.count) {
    part.count = 1;
    struct grid *grid = grid_of_part(view, table, scales, part);
    while (part.first + part.count < table->column_count) {
      part.count++;
      struct grid *wider = grid_of_part(view, table, scales, part);
      if (!fits(view, wider, NARROWEST_LABEL)) {
        part.count--;
        break;
      }
      grid = wider;
    }
    if (part.first > 1)
      putc('\n', view->style->out);
    grid_print(grid, view->style);
  }
}

// Truncates texts that allow it, as no catalogue table fits a usual terminal. If that is not
// enough, rows are folded; in other output a line stays whole.
static bool print_cut(const struct view *view, const struct answer_table *table) {
  enum { WIDTH = 100, ANY_WIDTH = 1 << 20, LINES = 2 };
  bool *may_cut = arena_array(view->arena, table->column_count, sizeof *may_cut), any = false;
  for (size_t c = 0; c < table->column_count; c++)
    any |= may_cut[c] = table->columns[c].may_cut;
  if (!any)
    return false;
  struct style wide = *view->style;
  const int room = wide.terminal ? wide.screen : wide.width < WIDTH ? WIDTH : wide.width;
  struct grid *grid = grid_of(view, table);
  wide.width = wide.terminal ? room : ANY_WIDTH;
  grid_squeeze(grid, may_cut, room);
  if (grid_width(grid, longest_label(table)) <= wide.width) {
    grid_print(grid, &wide);
    return true;
  }
  grid = grid_of(view, table);
  grid_squeeze(grid, may_cut, LINES * room - 2 * room / 5);
  grid_print_folded(grid, &wide);
  return true;
}

static void print_grid(const struct view *view, const struct answer_table *table) {
  struct grid *grid = grid_of(view, table);
  struct view narrow = *view;
  narrow.narrow = true;
  if (print_cut(view, table))
    return;
  if (table->turns && !fits(view, grid, NARROWEST_LABEL))
    print_turned(view, table);
  else if (table->unit_column == 1)
    print_parts(view, table);
  else if (fits(view, grid, longest_label(table)))
    grid_print(grid, view->style);
  else
    grid_print(grid_of(&narrow, table), view->style);
}

bool table_has_rows(const struct answer_table *table) {
  for (size_t r = 0; r < table->row_count; r++)
    if (row_shown(table, r, FACE_TERMINAL))
      return true;
  return false;
}

void table_print(const struct view *view, const struct answer_table *table) {
  if (table->title)
    style_block(view->style, EMPHASIS_STRONG, table->title);
  if (table->branches)
    print_tree(view, table);
  else
    print_grid(view, table);
  if (table->note)
    style_block(view->style, EMPHASIS_FAINT, table->note);
}
