// charts: what the charts of a workbook have in common: sizes, fonts, axes, and colours
// that an option, or a category of cost, keeps on every sheet.
//
// Options: Okabe and Ito, Color Universal Design (2008), told apart with any kind of colour vision;
// on lines a dash of their own too, for print in grey. Categories: the scheme "muted" of Paul Tol,
// Colour Schemes (SRON technical note 09-002, 2021).
#ifndef PERTOKEN_REPORTS_SPREADSHEET_CHARTS_H
#define PERTOKEN_REPORTS_SPREADSHEET_CHARTS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>
#include <stdint.h>

enum { CHART_WIDTH = 740, CHART_HEIGHT = 310, CHART_ROWS = 16 }; // pixels, and rows with a margin

lxw_color_t option_colour(size_t option);
lxw_color_t category_colour(size_t category); // by its place in the cost model

lxw_color_t demand_colour(void);

// The ends of a swing.
lxw_color_t low_colour(void);
lxw_color_t high_colour(void);

// "USD per million output tokens" of "USD/Mtok"; other units as they are.
const char *cost_axis(const struct unit *unit, struct arena *arena);

// A title of "" is none: the caller sets one from a cell.
lxw_chart *chart_begin(struct book *book, uint8_t type, const char *title);

struct chart_axes {
  const char *x, *x_format; // format: NULL for the library's
  const char *y, *y_format;
};

void chart_set_axes(lxw_chart *chart, const struct chart_axes *axes);

void chart_set_grid(lxw_chart_axis *axis);

// Cells of a sheet, rows and columns from 0.
struct chart_range {
  const char *sheet;
  int first_row, first_column, last_row, last_column;
};

// A series of that name (a text, or NULL) and colour, as an area or a bar.
lxw_chart_series *chart_add_bars(lxw_chart *chart, const struct chart_range *categories,
                                 const struct chart_range *values, const char *name,
                                 lxw_color_t colour);

// An option's line, with marks, in a chart of type scatter.
lxw_chart_series *chart_add_line(lxw_chart *chart, const struct chart_range *x,
                                 const struct chart_range *y, const char *name, size_t option);

// On the left half of a sheet (slot 0) or beside that; `about` is read to who cannot see it.
void chart_place(struct book *book, lxw_chart *chart, int row, int slot, const char *about);

void chart_place_sized(struct book *book, lxw_chart *chart, int row, int width, int height,
                       const char *about);

#endif
