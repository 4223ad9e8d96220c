// charts: what the charts of a workbook share: sizes, fonts, axes, and colors that an option, or a
// category of cost, keeps on every sheet.
//
// The colors are from Okabe and Ito, Color Universal Design (2008), and from the schemes "muted"
// and "light" of Paul Tol, Colour Schemes (SRON technical note 09-002, 2021), which can be
// distinguished with any kind of color vision. They are ordered by lightness, for printing in gray:
// the first six options' differ by 10 of 100, those of stacked categories by 25. Lines also have a
// dash pattern of their own.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_CHARTS_H
#define PERTOKEN_REPORTS_SPREADSHEET_CHARTS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>
#include <stdint.h>

enum { CHART_WIDTH = 740, CHART_HEIGHT = 310, CHART_ROWS = 16 }; // pixels, and rows with a margin

lxw_color_t option_colour(size_t option);

lxw_color_t demand_colour(void);

// The ends of a swing.
lxw_color_t low_colour(void);
lxw_color_t high_colour(void);

// "USD per million output tokens" for "USD/Mtok"; other units unchanged.
const char *cost_axis(const struct unit *unit, struct arena *arena);

// An empty title means none: the caller sets one from a cell.
lxw_chart *chart_begin(struct book *book, uint8_t type, const char *title);

struct chart_axes {
  const char *x, *x_format; // format: NULL for the library's
  const char *y, *y_format;
};

void chart_set_axes(lxw_chart *chart, const struct chart_axes *axes);

// Labels every n-th category, in one line, on an axis with more of them than labels have room for.
// LibreOffice breaks horizontal labels into letters rather than leave any out, so they are tilted
// by a degree.
void chart_label_every(lxw_chart_axis *axis, int n);

void chart_set_grid(lxw_chart_axis *axis);

// Cells of a sheet, rows and columns from 0.
struct chart_range {
  const char *sheet;
  int first_row, first_column, last_row, last_column;
};

// The bars of a category of cost, by its place in the cost model.
void chart_add_category(lxw_chart *chart, const struct chart_range *bars,
                        const struct chart_range *values, const char *name, size_t category);

// A series with that name (a text, or NULL) and color, as an area or a bar.
lxw_chart_series *chart_add_bars(lxw_chart *chart, const struct chart_range *categories,
                                 const struct chart_range *values, const char *name,
                                 lxw_color_t colour);

// An option's line, with markers, in a scatter chart.
lxw_chart_series *chart_add_line(lxw_chart *chart, const struct chart_range *x,
                                 const struct chart_range *y, const char *name, size_t option);

// Such a line in another color.
lxw_chart_series *chart_add_coloured_line(lxw_chart *chart, const struct chart_range *x,
                                          const struct chart_range *y, const char *name,
                                          size_t option, lxw_color_t colour);

// Places a chart on the left half of a sheet (slot 0) or to its right; `about` is alternative text
// for screen readers.
void chart_place(struct book *book, lxw_chart *chart, int row, int slot, const char *about);

void chart_place_sized(struct book *book, lxw_chart *chart, int row, int width, int height,
                       const char *about);

#endif
