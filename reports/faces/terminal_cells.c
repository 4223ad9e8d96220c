#include "reports/faces/terminal_cells.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"

#include <math.h>

enum { WIDE_BAR = 24, NARROW_BAR = 10 };

static bool takes_unit_of_row(const struct answer_table *table, size_t row, size_t column) {
  return !cell_at(table, row, column)->unit && !table->columns[column].unit && table->rows &&
         table->rows[row].unit;
}

bool view_has_room(const struct view *view, const struct answer_table *table, size_t column) {
  const enum column_room room = table->columns[column].room;
  return room == ROOM_ANY || (room == ROOM_NARROW) == view->narrow;
}

struct scale view_row_scale(const struct view *view, const struct answer_table *table, size_t row) {
  size_t count = 0;
  if (!table->rows || !table->rows[row].unit)
    return (struct scale){0};
  double *values = arena_array(view->arena, table->column_count, sizeof *values);
  for (size_t c = 0; c < table->column_count; c++) {
    const struct answer_cell *cell = cell_at(table, row, c);
    if (cell_has_number(cell) && isfinite(cell->value) && takes_unit_of_row(table, row, c) &&
        view_has_room(view, table, c))
      values[count++] = cell->value;
  }
  return number_scale(table->rows[row].unit, values, count, view->arena);
}

struct scale view_column_scale(const struct view *view, const struct answer_table *table,
                               size_t column) {
  double *values = arena_array(view->arena, table->row_count + 1, sizeof *values);
  size_t count = 0;
  if (!table->columns[column].unit)
    return (struct scale){0};
  for (size_t r = 0; r < table->row_count; r++) {
    const struct answer_cell *cell = cell_at(table, r, column);
    if (cell_has_number(cell) && !cell->unit && isfinite(cell->value))
      values[count++] = cell->value;
  }
  return number_scale(table->columns[column].unit, values, count, view->arena);
}

static const char *own_number(const struct view *view, double value, const struct unit *unit) {
  return number_significant(machine_number(value, unit), view->digits, view->arena);
}

static const char *with_unit(const struct view *view, const char *number, const struct unit *unit) {
  const char *name = unit_name(unit);
  return *name ? arena_printf(view->arena, "%s %s", number, name) : number;
}

const char *cell_shown_text(const struct answer_cell *cell) {
  return cell->brief ? cell->brief : cell->shown ? cell->shown : cell->text;
}

// "[0] 0, [1-3] 2,039,904 USD": equal neighbors share an entry.
static const char *series_text(const struct view *view, const struct answer_cell *cell,
                               const struct unit *unit) {
  const char *text = "";
  for (size_t from = 0, to; from < cell->value_count; from = to + 1) {
    for (to = from; to + 1 < cell->value_count && cell->values[to + 1] == cell->values[from];)
      to++;
    const char *range = to > from ? arena_printf(view->arena, "[%zu-%zu]", from, to)
                                  : arena_printf(view->arena, "[%zu]", from);
    text = arena_printf(view->arena, "%s%s%s %s", text, *text ? ", " : "", range,
                        own_number(view, cell->values[from], unit));
  }
  return with_unit(view, text, unit);
}

// A bar from one end to the other, with its mark.
static const char *bar_text(const struct view *view, const struct answer_cell *cell) {
  const int width = view->narrow ? NARROW_BAR : WIDE_BAR;
  const char *block = view->style->utf8 ? "█" : "#", *mark = view->style->utf8 ? "│" : "|";
  const char *text = "";
  if (!cell->value_count)
    return text;
  const long from = lround(cell->values[0] * (width - 1)),
             to = lround(cell->values[1] * (width - 1));
  for (int i = 0; i < width; i++)
    text = arena_printf(view->arena, "%s%s", text,
                        i == lround(cell->values[2] * (width - 1)) ? mark
                        : i >= from && i <= to                     ? block
                                                                   : " ");
  return text;
}

// "▁▂▅█▆▃▁": heights in eighths, pairs merged where room is short; nothing without UTF-8.
static const char *histogram_text(const struct view *view, const struct answer_cell *cell) {
  static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t step = view->narrow ? 2 : 1;
  const char *text = "";
  for (size_t i = 0; i + step <= cell->value_count && view->style->utf8; i += step) {
    const double height = fmax(cell->values[i], cell->values[i + step - 1]);
    text = arena_printf(view->arena, "%s%s", text, eighths[(int)ceil(8 * height)]);
  }
  return text;
}

static const char *number_text(const struct view *view, const struct answer_table *table,
                               size_t row, size_t column, const struct scale *of_column,
                               const struct scale *of_row) {
  const struct answer_cell *cell = cell_at(table, row, column);
  const struct unit *unit = unit_at(table, row, column);
  if (!isfinite(cell->value))
    return cell_placeholder(cell);
  if (cell->digits && !view->exact)
    return number_significant(machine_number(cell->value, unit), cell->digits, view->arena);
  if (cell->unit || !unit || view->exact)
    return with_unit(view, own_number(view, cell->value, unit), unit);
  return number_scaled(cell->value, takes_unit_of_row(table, row, column) ? *of_row : *of_column,
                       view->arena);
}

const char *view_cell_text(const struct view *view, const struct answer_table *table, size_t row,
                           size_t column, const struct scale *of_column,
                           const struct scale *of_row) {
  const struct answer_cell *cell = cell_at(table, row, column);
  switch (cell->kind) {
  case CELL_ABSENT:
  case CELL_EMPTY: return cell_placeholder(cell);
  case CELL_COUNTS: return "";
  case CELL_FLAG: return cell->value != 0 ? "yes" : "no";
  case CELL_COUNT: return number_fixed((double)cell->counts[0], 0, view->arena);
  case CELL_LIST: return texts_joined(&cell->list, view->arena);
  case CELL_SERIES: return series_text(view, cell, unit_at(table, row, column));
  case CELL_CHANGE:
    return isnan(cell->value) ? "-" : number_change(1, 1 + cell->value, view->arena);
  case CELL_BAR: return bar_text(view, cell);
  case CELL_HISTOGRAM: return histogram_text(view, cell);
  case CELL_PUBLISHED:
  case CELL_PLAIN: break;
  }
  if (cell->text)
    return cell_shown_text(cell);
  const char *text = number_text(view, table, row, column, of_column, of_row);
  return cell->starred ? arena_printf(view->arena, "* %s", text) : text;
}
