#include "reports/spreadsheet/charts.h"

#include "base/arena.h"
#include "base/short_text.h"
#include "model/cost/units.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GREY = 0x595959, PALE = 0xD9D9D9, TITLE_SIZE = 12, TEXT_SIZE = 9, LEFT_MARGIN = 6 };

static const lxw_color_t options[] = {0x0072B2, 0xE69F00, 0x332288, 0x009E73,
                                      0xF0C75E, 0x882255, 0xCC79A7, 0xD55E00};

// Solid colors are at least 10 apart in lightness (CIE L*), for gray print, and neighbors in a
// stack usually 20. More would be too close: what few options have is hatched.
static const struct {
  lxw_color_t colour;
  uint8_t pattern;
} categories[] = {
    {0x6296CB, LXW_CHART_PATTERN_NONE},                   // capital expenditure
    {0x2C2671, LXW_CHART_PATTERN_NONE},                   // power
    {0xEAE6B7, LXW_CHART_PATTERN_NONE},                   // cooling
    {0x98491B, LXW_CHART_PATTERN_LARGE_GRID},             // colocation
    {0xBB4DA9, LXW_CHART_PATTERN_NONE},                   // support
    {0xE8BBD2, LXW_CHART_PATTERN_NONE},                   // licenses
    {0x6B2B81, LXW_CHART_PATTERN_NONE},                   // engineering
    {0x0B2116, LXW_CHART_PATTERN_NONE},                   // repair
    {0x225522, LXW_CHART_PATTERN_WIDE_UPWARD_DIAGONAL},   // rent
    {0x882255, LXW_CHART_PATTERN_SMALL_GRID},             // demand beyond capacity
    {0x661100, LXW_CHART_PATTERN_WIDE_DOWNWARD_DIAGONAL}, // tokens bought
    {0x117799, LXW_CHART_PATTERN_LARGE_CHECK},            // own items
    {0xE89890, LXW_CHART_PATTERN_NONE},                   // residual value
    {0x777777, LXW_CHART_PATTERN_DARK_HORIZONTAL},        // remedy
    {0x777777, LXW_CHART_PATTERN_DARK_VERTICAL},          // damages
    {0x333333, LXW_CHART_PATTERN_SOLID_DIAMOND},
};

enum {
  OPTIONS = sizeof options / sizeof options[0],
  CATEGORIES = sizeof categories / sizeof categories[0]
};

lxw_color_t option_colour(size_t option) {
  return options[option % OPTIONS];
}

lxw_color_t demand_colour(void) {
  return 0xC9C9C9;
}

lxw_color_t low_colour(void) {
  return 0x8FB4D9;
}

lxw_color_t high_colour(void) {
  return 0x1F4E79;
}

const char *cost_axis(const struct unit *unit, struct arena *arena) {
  const size_t money = strcspn(unit->text, "/");
  if (strcmp(unit->text + money, "/Mtok") != 0)
    return unit->text;
  return arena_printf(arena, "%.*s per million output tokens", (int)money, unit->text);
}

lxw_chart *chart_begin(struct book *book, uint8_t type, const char *title) {
  lxw_chart *chart = workbook_add_chart(book->workbook, type);
  lxw_chart_font heading = {.size = TITLE_SIZE, .bold = LXW_TRUE};
  lxw_chart_font text = {.size = TEXT_SIZE};
  lxw_chart_line frame = {.color = PALE};
  if (*title)
    chart_title_set_name(chart, title);
  chart_title_set_name_font(chart, &heading);
  chart_legend_set_position(chart, LXW_CHART_LEGEND_BOTTOM);
  chart_legend_set_font(chart, &text);
  chart_chartarea_set_line(chart, &frame);
  return chart;
}

static void set_axis(lxw_chart_axis *axis, const char *name, const char *format) {
  lxw_chart_font title = {.size = TEXT_SIZE, .bold = LXW_FALSE, .color = GREY};
  lxw_chart_font numbers = {.size = TEXT_SIZE};
  if (name)
    chart_axis_set_name(axis, name);
  chart_axis_set_name_font(axis, &title);
  chart_axis_set_num_font(axis, &numbers);
  if (format)
    chart_axis_set_num_format(axis, format);
}

void chart_set_grid(lxw_chart_axis *axis) {
  lxw_chart_line grid = {.color = PALE, .width = 0.5F};
  chart_axis_major_gridlines_set_line(axis, &grid);
}

void chart_set_axes(lxw_chart *chart, const struct chart_axes *axes) {
  set_axis(chart->x_axis, axes->x, axes->x_format);
  set_axis(chart->y_axis, axes->y, axes->y_format);
  chart_set_grid(chart->y_axis);
}

void chart_label_every(lxw_chart_axis *axis, int n) {
  lxw_chart_font tilted = {.size = TEXT_SIZE, .rotation = -1};
  chart_axis_set_num_font(axis, &tilted);
  chart_axis_set_interval_unit(axis, (uint16_t)n);
  chart_axis_set_interval_tick(axis, (uint16_t)n);
}

// libxlsxwriter takes a name that begins with = for a reference to a cell.
static void set_name(lxw_chart_series *series, const char *name) {
  char text[4 * MAX_SHORT_TEXT + 64];
  snprintf(text, sizeof text, "%s%s", *name == '=' ? " " : "", name);
  chart_series_set_name(series, text);
}

static lxw_chart_series *add_series(lxw_chart *chart, const struct chart_range *x,
                                    const struct chart_range *y, const char *name) {
  lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
  chart_series_set_categories(series, x->sheet, (lxw_row_t)x->first_row, (lxw_col_t)x->first_column,
                              (lxw_row_t)x->last_row, (lxw_col_t)x->last_column);
  chart_series_set_values(series, y->sheet, (lxw_row_t)y->first_row, (lxw_col_t)y->first_column,
                          (lxw_row_t)y->last_row, (lxw_col_t)y->last_column);
  if (name)
    set_name(series, name);
  return series;
}

lxw_chart_series *chart_add_bars(lxw_chart *chart, const struct chart_range *bars,
                                 const struct chart_range *values, const char *name,
                                 lxw_color_t colour) {
  lxw_chart_series *series = add_series(chart, bars, values, name);
  lxw_chart_fill fill = {.color = colour};
  lxw_chart_line edge = {.none = LXW_TRUE}; // an edge would hide areas thinner than itself
  chart_series_set_fill(series, &fill);
  chart_series_set_line(series, &edge);
  return series;
}

void chart_add_category(lxw_chart *chart, const struct chart_range *bars,
                        const struct chart_range *values, const char *name, size_t category) {
  const size_t look = category % CATEGORIES;
  lxw_chart_pattern pattern = {.fg_color = categories[look].colour,
                               .bg_color = LXW_COLOR_WHITE,
                               .type = categories[look].pattern};
  lxw_chart_series *series = chart_add_bars(chart, bars, values, name, categories[look].colour);
  if (pattern.type != LXW_CHART_PATTERN_NONE)
    chart_series_set_pattern(series, &pattern);
}

lxw_chart_series *chart_add_line(lxw_chart *chart, const struct chart_range *x,
                                 const struct chart_range *y, const char *name, size_t option) {
  return chart_add_coloured_line(chart, x, y, name, option, option_colour(option));
}

lxw_chart_series *chart_add_coloured_line(lxw_chart *chart, const struct chart_range *x,
                                          const struct chart_range *y, const char *name,
                                          size_t option, lxw_color_t colour) {
  static const uint8_t dashes[] = {LXW_CHART_LINE_DASH_SOLID, LXW_CHART_LINE_DASH_DASH,
                                   LXW_CHART_LINE_DASH_SQUARE_DOT, LXW_CHART_LINE_DASH_DASH_DOT};
  static const uint8_t marks[] = {LXW_CHART_MARKER_CIRCLE, LXW_CHART_MARKER_SQUARE,
                                  LXW_CHART_MARKER_TRIANGLE, LXW_CHART_MARKER_DIAMOND};
  lxw_chart_series *series = add_series(chart, x, y, name);
  lxw_chart_line line = {.color = colour, .width = 2.25F, .dash_type = dashes[option % 4]};
  lxw_chart_line edge = {.color = colour};
  lxw_chart_fill fill = {.color = colour};
  chart_series_set_line(series, &line);
  chart_series_set_marker_type(series, marks[option % 4]);
  chart_series_set_marker_size(series, 6);
  chart_series_set_marker_line(series, &edge);
  chart_series_set_marker_fill(series, &fill);
  return series;
}

// The size of the library's charts before scaling.
enum { USUAL_WIDTH = 480, USUAL_HEIGHT = 288 };

// A chart is anchored to the rows below it: they get the height that its own height was computed
// with.
static void place(struct book *book, lxw_chart *chart, int row, const lxw_chart_options *options) {
  enum { ROW_POINTS = 15, ROW_PIXELS = 20 };
  const int height = options->y_offset + (int)(options->y_scale * USUAL_HEIGHT);
  for (int i = 0; i <= height / ROW_PIXELS; i++)
    worksheet_set_row(book->sheet, (lxw_row_t)(row + i), ROW_POINTS + 0.05, NULL);
  if (worksheet_insert_chart_opt(book->sheet, (lxw_row_t)row, 0, chart,
                                 (lxw_chart_options *)options) != LXW_NO_ERROR)
    book->failed = true;
}

void chart_place(struct book *book, lxw_chart *chart, int row, int slot, const char *about) {
  const lxw_chart_options options = {.x_offset =
                                         LEFT_MARGIN + slot * (CHART_WIDTH + 2 * LEFT_MARGIN),
                                     .y_offset = LEFT_MARGIN,
                                     .x_scale = (double)CHART_WIDTH / USUAL_WIDTH,
                                     .y_scale = (double)CHART_HEIGHT / USUAL_HEIGHT,
                                     .description = (char *)about};
  place(book, chart, row, &options);
}

void chart_place_sized(struct book *book, lxw_chart *chart, int row, int width, int height,
                       const char *about) {
  const lxw_chart_options options = {.x_offset = LEFT_MARGIN,
                                     .x_scale = (double)width / USUAL_WIDTH,
                                     .y_scale = (double)height / USUAL_HEIGHT,
                                     .description = (char *)about};
  place(book, chart, row, &options);
}
