#include "reports/spreadsheet/autofit.h"

#include "base/arena.h"
#include "reports/spreadsheet/font.h"
#include "reports/spreadsheet/formats.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

// A column's width is counted in digits of Calibri 11, which are 7 pixels wide, plus 5 of padding.
enum { DIGIT = 7, PADDING = 5, MARGIN = 5, INDENT = 9, MAX_CHARACTERS = 62, MAX_NUMBER = 64 };

#define USUAL_WIDTH  8.43
#define LINE_SHARE   (15.0 / 11) // the ratio of a line's height to its font size, both in points
#define USUAL_HEIGHT 15.0
#define STAND_IN     1.12 // how much wider sentences may be in the font that replaces Calibri
#define MIN_UPRIGHT  0.5  // for a sheet on several pages: letters of 5.5 points

struct sheet {
  struct book *book;
  lxw_worksheet *at;
  double *widths; // [columns], in pixels
  int columns;
  int last, last_row; // those printed
};

static lxw_cell *cell_of(const struct sheet *sheet, lxw_row *row, int column) {
  return column < 0 || column >= sheet->columns
             ? NULL
             : lxw_worksheet_find_cell_in_row(row, (lxw_col_t)column);
}

static bool is_filled(const lxw_cell *cell) {
  return cell && cell->type != BLANK_CELL;
}

// The text that a cell shows, or NULL for a number.
static const char *text_of(const lxw_cell *cell) {
  if (cell->type == STRING_CELL)
    return cell->sst_string;
  return cell->type == FORMULA_CELL ? cell->user_data2 : NULL;
}

static struct font font_of(const lxw_cell *cell) {
  const lxw_format *format = cell->format;
  if (!format)
    return (struct font){FONT_REGULAR, 11};
  return (struct font){format->bold ? FONT_BOLD : (format->italic ? FONT_ITALIC : FONT_REGULAR),
                       format->font_size};
}

static bool is_wrapped(const lxw_cell *cell) {
  return cell->format && cell->format->text_wrap;
}

static double indent_of(const lxw_cell *cell) {
  return cell->format ? INDENT * cell->format->indent : 0;
}

// ---- numbers

// The section of a format that applies to a number: "[>=1000]...;[<0]...;..." or by sign.
static const char *section_of(const char *code, double value) {
  const char *section = code;
  for (const char *next; *section == '[' && (next = strchr(section, ';')); section = next + 1) {
    const char *number = section + 1 + strspn(section + 1, "<>=");
    const double limit = strtod(number, NULL);
    const bool equal = number[-1] == '=' && value == limit;
    if (equal || (section[1] == '>' && value > limit) || (section[1] == '<' && value < limit))
      return section;
  }
  return section;
}

// A text as wide as the number's own, give or take a point; everything around it counts as
// brackets.
static void write_number(const lxw_cell *cell, char text[MAX_NUMBER]) {
  const double value = cell->type == FORMULA_CELL ? cell->formula_result : cell->u.number;
  const char *code = section_of(cell->format ? cell->format->num_format : "", value);
  const size_t length = strcspn(code, ";");
  const char *point = memchr(code, '.', length);
  const char *percent = memchr(code, '%', length), *letter = memchr(code, '"', length);
  const size_t decimals = point ? strspn(point + 1, "0") : 0;
  const size_t thousands = point ? strspn(point + 1 + decimals, ",") : 0;
  const double amount = fabs(value) * (percent ? 100 : 1) / pow(1000, (double)thousands);
  if (!strcspn(code, ";@") || strstr(code, "E+"))
    snprintf(text, MAX_NUMBER, "(%.*g)", 10, value);
  else
    snprintf(text, MAX_NUMBER, "(%.*f%s%s)", (int)decimals, amount, percent ? " %" : "",
             letter ? " T" : "");
  const size_t digits = strspn(text + 1, "0123456789");
  size_t end = strlen(text);
  if (memchr(code, ',', length))
    for (size_t group = 3; group < digits && end + 2 < MAX_NUMBER; group += 3)
      text[end++] = ',';
  text[end] = '\0';
}

// ---- columns

// The total width of the empty cells that a cell's text can run over, before the next filled cell.
// *end: the last of them, or the cell's own column; *blocked: whether there is a filled one.
static double run_over(const struct sheet *sheet, lxw_row *row, const lxw_cell *cell, double needed,
                       int *end, bool *blocked) {
  const bool right = cell->format && cell->format->text_h_align == LXW_ALIGN_RIGHT;
  const int step = right ? -1 : 1;
  double room = 0;
  *end = cell->col_num;
  *blocked = right;
  for (int at = cell->col_num + step; at >= 0 && room < needed; at += step) {
    if (is_filled(cell_of(sheet, row, at))) {
      *blocked = true;
      break;
    }
    room += at < sheet->columns ? sheet->widths[at] : USUAL_WIDTH * DIGIT + PADDING;
    *end = at > *end ? at : *end;
  }
  return room;
}

// The same look, but wrapped; NULL if a format has no such twin.
static lxw_format *wrapped_twin(struct formats *formats, const lxw_format *format) {
  static const enum text_format twins[][2] = {
      {TEXT_PLAIN, TEXT_WRAPPED},
      {TEXT_INDENTED, TEXT_INDENTED_WRAPPED},
      {TEXT_NOTE, TEXT_NOTE_WRAPPED},
      {TEXT_STRONG, TEXT_STRONG_WRAPPED},
      {TEXT_RIGHT, TEXT_RIGHT_WRAPPED},
      {TEXT_LINKED, TEXT_LINKED_WRAPPED},
      {TEXT_LINKED_RIGHT, TEXT_LINKED_RIGHT_WRAPPED},
  };
  for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
    if (formats->texts[twins[i][0]] == format)
      return formats_text(formats, twins[i][1]);
  return NULL;
}

// Widens a column as far as allowed; wraps a text that needs still more. One that needs little more
// gets it: in a narrower font than Calibri, its second line would be blank.
static void widen(struct sheet *sheet, lxw_cell *cell, double missing) {
  const double most = MAX_CHARACTERS * DIGIT + PADDING, little = most / 36;
  double *width = &sheet->widths[cell->col_num];
  lxw_format *wrapped = *width + missing > most + little && text_of(cell)
                            ? wrapped_twin(&sheet->book->formats, cell->format)
                            : NULL;
  if (!wrapped) {
    *width += missing;
    return;
  }
  *width = fmax(*width, most);
  cell->format = wrapped;
}

static void fit_width(struct sheet *sheet, lxw_row *row, lxw_cell *cell) {
  const struct font font = font_of(cell);
  const char *text = text_of(cell);
  const double own = sheet->widths[cell->col_num];
  char number[MAX_NUMBER];
  if (!text)
    write_number(cell, number);
  const bool wrapped = text && is_wrapped(cell);
  double needed = wrapped ? fmin(font_word_width(&font, text), MAX_CHARACTERS * DIGIT)
                          : font_width(&font, text ? text : number);
  needed += MARGIN + indent_of(cell);
  int end = cell->col_num;
  bool blocked = true;
  double room = own;
  if (text && !wrapped)
    room += run_over(sheet, row, cell, needed - own, &end, &blocked);
  if (needed > room && blocked)
    widen(sheet, cell, needed - room);
  else if ((int)cell->row_num <= sheet->last_row && cell->col_num <= sheet->last &&
           end > sheet->last)
    sheet->last = end;
}

// ---- rows

static double merged_width(const struct sheet *sheet, const lxw_cell *cell) {
  const lxw_merged_range *range;
  STAILQ_FOREACH(range, sheet->at->merged_ranges, list_pointers) {
    double width = 0;
    if (range->first_row != cell->row_num || range->first_col != cell->col_num)
      continue;
    for (int column = range->first_col; column <= range->last_col; column++)
      width += sheet->widths[column];
    return width;
  }
  return 0;
}

static double height_of(const struct sheet *sheet, const lxw_cell *cell) {
  const struct font font = font_of(cell);
  const double merged = merged_width(sheet, cell);
  const double width = merged > 0 ? merged / STAND_IN : sheet->widths[cell->col_num];
  const size_t lines = font_lines(&font, text_of(cell), width - MARGIN - indent_of(cell));
  return lines > 1 || merged > 0 ? (double)lines * font.size * LINE_SHARE : 0;
}

// ---- the whole sheet

typedef void visit(struct sheet *sheet, lxw_row *row, lxw_cell *cell);

static void visit_all(struct sheet *sheet, visit *visit_cell) {
  for (lxw_row_t r = 0; r <= sheet->at->dim_rowmax; r++) {
    lxw_row *row = lxw_worksheet_find_row(sheet->at, r);
    for (int c = 0; row && c < sheet->columns; c++) {
      lxw_cell *cell = cell_of(sheet, row, c);
      if (is_filled(cell))
        visit_cell(sheet, row, cell);
    }
  }
}

// Texts that are not printed may be cut: a column need not be as wide as they are.
static void visit_width(struct sheet *sheet, lxw_row *row, lxw_cell *cell) {
  const bool kept = !text_of(cell) || (int)cell->row_num <= sheet->last_row;
  if (kept && merged_width(sheet, cell) == 0)
    fit_width(sheet, row, cell);
}

static void visit_height(struct sheet *sheet, lxw_row *row, lxw_cell *cell) {
  if (!text_of(cell) || !is_wrapped(cell))
    return;
  const double height = height_of(sheet, cell);
  if (height > row->height)
    worksheet_set_row(sheet->at, row->row_num, height, NULL);
}

static double width_of(const struct sheet *sheet, int column) {
  if (column < sheet->columns)
    return sheet->widths[column];
  return floor(USUAL_WIDTH * DIGIT) + PADDING;
}

#define LEGIBLE 0.64 // letters of 7 points

// Paper, by spreadsheet programs' numbers, and the printable area within the margins of
// begin_sheet, in points: the smallest first.
static const struct paper {
  int number;
  bool upright;
  double width, height, least; // least: at a smaller scale it would be hard to read
} papers[] = {
    {9, false, 770, 501, LEGIBLE},
    {9, true, 523, 748, LEGIBLE},
    {8, false, 1119, 748, 0.4},
    {8, true, 770, 1096, 0.4},
};

enum { PAPERS = sizeof papers / sizeof papers[0], WIDEST = 2 };

// The last column that a chart covers is printed as well.
static void fit_charts(struct sheet *sheet) {
  const lxw_object_properties *chart;
  STAILQ_FOREACH(chart, sheet->at->chart_data, list_pointers) {
    double left = chart->x_offset + chart->x_scale * chart->width;
    int column = chart->col;
    for (; left > width_of(sheet, column); column++)
      left -= width_of(sheet, column);
    sheet->last = column > sheet->last ? column : sheet->last;
  }
}

// The width of a sheet's columns first..last, in points.
static double points_wide(const struct sheet *sheet, int first, int last) {
  const double points_per_pixel = 0.75;
  double width = 0;
  for (int c = first; c <= last; c++)
    width += width_of(sheet, c) * points_per_pixel;
  return width;
}

// The height of a sheet's first rows, in points.
static double points_high(const struct sheet *sheet, int rows) {
  double height = 0;
  for (int r = 0; r < rows; r++) {
    const lxw_row *row = lxw_worksheet_find_row(sheet->at, (lxw_row_t)r);
    height += row ? row->height : USUAL_HEIGHT;
  }
  return height;
}

// Prints columns up to last_column, although the last of them are blank, unless the letters of so
// wide a sheet would be hard to read.
static void print_blanks(struct sheet *sheet, int last_column) {
  if (last_column > sheet->last &&
      points_wide(sheet, 0, last_column) * LEGIBLE <= papers[WIDEST].width)
    sheet->last = last_column;
}

// How many pages with that room a sheet needs side by side if all of them begin with its titles:
// the first `titles` columns.
static int pages_across(const struct sheet *sheet, int titles, double room) {
  double used = 0;
  int pages = 1;
  for (int c = 0; c <= sheet->last; c++) {
    const double width = points_wide(sheet, c, c);
    if (used + width > room) {
      pages++;
      used = points_wide(sheet, 0, titles - 1);
    }
    used += width;
  }
  return pages;
}

// The largest scale at which no more pages are side by side.
static double scale_across(const struct sheet *sheet, const struct paper *paper, int titles,
                           int pages) {
  enum { STEPS = 30 };
  double low = paper->least, high = 1;
  for (int i = 0; i < STEPS; i++) {
    const double middle = (low + high) / 2;
    *(pages_across(sheet, titles, paper->width / middle) <= pages ? &low : &high) = middle;
  }
  return low;
}

static double scale_on(const struct paper *paper, double width, double height) {
  return fmin(1, fmin(paper->width / width, paper->height / height));
}

// The paper size and orientation with the largest scale on which the sheet is one legible page, or
// NULL.
static const struct paper *best_paper(double width, double height) {
  const struct paper *best = NULL;
  for (size_t i = 0; i < PAPERS; i++) {
    const double scale = scale_on(&papers[i], width, height);
    const bool larger = best && papers[i].number != best->number;
    if (scale >= papers[i].least && !larger && (!best || scale > scale_on(best, width, height)))
      best = &papers[i];
  }
  return best;
}

// How many pages a sheet is put on below one another if each begins with its titles. 0: as many as
// it needs at that scale, unless less than half of the last one would be filled: then one less, at
// a smaller scale, if that is legible.
static int pages_down(const struct sheet *sheet, const struct paper *paper, double scale) {
  const double titles = points_high(sheet, (int)sheet->at->panes.first_row);
  const double rows = points_high(sheet, sheet->last_row + 1) - titles;
  const double filled = rows / (paper->height / scale - titles), fewer = floor(filled);
  const bool ends_pages = sheet->at->hbreaks_count > 0; // itself
  if (ends_pages || fewer < 1 || filled - fewer >= 0.5)
    return 0;
  return paper->height / (rows / fewer + titles) >= paper->least ? (int)fewer : 0;
}

// Columns that every page begins with show what lies over them on every page: charts make way.
static void clear_titles(const struct sheet *sheet, int titles) {
  lxw_object_properties *chart;
  STAILQ_FOREACH(chart, sheet->at->chart_data, list_pointers) {
    if (chart->col < titles)
      chart->col = (lxw_col_t)titles;
  }
}

// Puts the whole sheet on one page; if it is too long for any, it is as wide as a page, in portrait
// if its letters are then legible, and if it is too wide as well, as wide as several.
static void fit_page(const struct sheet *sheet) {
  const double width = points_wide(sheet, 0, sheet->last);
  const struct paper *best = best_paper(width, points_high(sheet, sheet->last_row + 1));
  const struct paper *tall = &papers[PAPERS - 1], *wide = &papers[WIDEST];
  const struct paper *paper = best ? best : tall->width / width >= MIN_UPRIGHT ? tall : wide;
  const int titles = sheet->at->panes.first_col; // those that are frozen
  const int across = pages_across(sheet, titles, wide->width / wide->least);
  const int down = best ? 1 : pages_down(sheet, paper, scale_across(sheet, paper, titles, across));
  worksheet_fit_to_pages(sheet->at, (uint16_t)across, (uint16_t)down);
  worksheet_set_paper(sheet->at, (uint8_t)paper->number);
  if (paper->upright)
    worksheet_set_portrait(sheet->at);
  if (across > 1 && titles > 0) {
    worksheet_repeat_columns(sheet->at, 0, (lxw_col_t)(titles - 1));
    clear_titles(sheet, titles);
  }
}

int autofit(struct book *book, int last_row, int last_column) {
  struct sheet sheet = {.book = book,
                        .at = book->sheet,
                        .columns = book->sheet->dim_colmax + 1,
                        .last = last_column,
                        .last_row = last_row};
  if (!book->writing)
    return last_column;
  if (book->blank_column && book->blank_column <= last_column)
    sheet.last = book->blank_column - 1;
  sheet.widths = arena_array(book->arena, (size_t)sheet.columns, sizeof *sheet.widths);
  for (int c = 0; c < sheet.columns; c++) {
    const lxw_col_options *options =
        c < sheet.at->col_options_max ? sheet.at->col_options[c] : NULL;
    sheet.widths[c] = floor((options ? options->width : USUAL_WIDTH) * DIGIT) + PADDING;
  }
  double *before = arena_array(book->arena, (size_t)sheet.columns, sizeof *before);
  memcpy(before, sheet.widths, (size_t)sheet.columns * sizeof *before);
  visit_all(&sheet, visit_width);
  for (int c = 0; c < sheet.columns; c++)
    if (sheet.widths[c] > before[c])
      worksheet_set_column(sheet.at, (lxw_col_t)c, (lxw_col_t)c,
                           ceil((sheet.widths[c] - PADDING) / DIGIT * 4) / 4, NULL);
  visit_all(&sheet, visit_height);
  fit_charts(&sheet);
  print_blanks(&sheet, last_column);
  fit_page(&sheet);
  return sheet.last;
}
