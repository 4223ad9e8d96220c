#include "reports/outputs/charts.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/rows.h"
#include "reports/sheets/cost_curves.h"
#include "reports/sheets/evidence_watts.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/charts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LEGEND_END = -1 }; // ends a list of series, as the library requires

static struct chart_range across(int row, int first, int last) {
  return (struct chart_range){SHEET_OUTPUTS, row, first, row, last};
}

static const struct unit *cost_unit(struct book *book) {
  return &book->scenario->model->declarations[model_cost_item(book->scenario->model)].unit;
}

static const char *currency(struct book *book) {
  return arena_copy_n(book->arena, cost_unit(book)->text, strcspn(cost_unit(book)->text, "/"));
}

// ---- cost per token by category

static bool has_categories(const struct book *book) {
  const struct model *model = book->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CATEGORY)
      return true;
  return false;
}

static const char about_categories[] =
    "Stacked columns: each option's cost per million output tokens, by category";

// The named categories, or the others. Returns how many.
static int stack_categories(struct book *book, lxw_chart *chart, bool named) {
  const int first = outputs_option_column(0);
  const int last = outputs_option_column(book->scenario->option_count - 1);
  const struct chart_range ids = across(book->sheets->outputs->share_ids, first, last);
  int count = 0;
  for (int i = 0; i < book->sheets->outputs->share_count; i++) {
    const struct share *share = &book->sheets->outputs->shares[i];
    const struct chart_range values = across(share->row, first, last);
    if (share->named != named)
      continue;
    chart_add_category(chart, &ids, &values, share->label, share->category);
    count++;
  }
  return count;
}

// What is nothing comes first: a stack that begins with 0 keeps 0 on the axis, which would else
// begin just below the first category where that is most of the cost.
static lxw_chart *categories_chart(struct book *book) {
  lxw_chart *chart = chart_begin(book, LXW_CHART_COLUMN_STACKED, "Cost per token, by category");
  int16_t *unnamed =
      arena_array(book->arena, (size_t)book->sheets->outputs->share_count + 1, sizeof *unnamed);
  const int count = stack_categories(book, chart, false);
  stack_categories(book, chart, true);
  for (int i = 0; i < count; i++)
    unnamed[i] = (int16_t)i;
  unnamed[count] = LEGEND_END;
  if (count)
    chart_legend_delete_series(chart, unnamed);
  const struct chart_axes axes = {NULL, NULL, cost_axis(cost_unit(book), book->arena), "General"};
  chart_set_axes(chart, &axes);
  chart_set_series_gap(chart, 60);
  // Credits extend below the axis: keep the names below them.
  chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  chart_legend_set_position(chart, LXW_CHART_LEGEND_RIGHT);
  return chart;
}

static void insert_categories(struct book *book, int row, int slot) {
  chart_place(book, categories_chart(book), row, slot, about_categories);
}

int insert_cover_chart(struct book *book, int row, int width) {
  enum { HEIGHT = 260, ROWS = 14 };
  if (!has_categories(book))
    return row;
  if (book->writing)
    chart_place_sized(book, categories_chart(book), row, width, HEIGHT, about_categories);
  return row + ROWS;
}

// ---- cumulative cost, and where it crosses

static bool has_cash(const struct book *book) {
  const struct model *model = book->scenario->model;
  return model_find(model, "cumulative_cash") >= 0 && model_find(model, "end") >= 0 &&
         model_find(model, "horizon") >= 0;
}

// The largest amount of a series in any period of any option and case, as cells show it.
static double most_of(const struct book *book, const char *item) {
  const struct scenario *scenario = book->scenario;
  const int d = model_find(scenario->model, item);
  double most = 0;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (d < 0 || !option_has(sheet->option, d))
      continue;
    for (int t = 0; t < scenario->periods; t++)
      for (size_t c = 0; c < scenario->case_count; c++)
        most = fmax(most, fabs(amount_in(sheet, d, t, c)));
  }
  return most / unit_cell_factor(&scenario->model->declarations[d].unit);
}

// A word for a unit of amounts from some size on, and the format that shows them in it.
struct axis_scale {
  double from;
  const char *word, *format;
};

// The title of a y axis, "million USD", and the format of its numbers.
static struct chart_axes axes_scaled(struct book *book, const struct axis_scale *scales,
                                     double most, const char *unit) {
  while (most < scales->from)
    scales++;
  return (struct chart_axes){.y = arena_printf(book->arena, "%s%s", scales->word, unit),
                             .y_format = scales->format};
}

// Both charts of cash have the same y axis.
static struct chart_axes cash_axes(struct book *book) {
  static const struct axis_scale scales[] = {{1e9, "billion ", "#,##0.0,,,"},
                                             {1e6, "million ", "#,##0.0,,"},
                                             {1e4, "thousand ", "#,##0,"},
                                             {0, "", "#,##0"}};
  return axes_scaled(book, scales, most_of(book, "cumulative_cash"), currency(book));
}

// A dotted line from the axis up to the crossing; without a crossing it has no length.
static void add_crossing(struct book *book, lxw_chart *chart, size_t option) {
  const int row = book->sheets->outputs->points[option];
  const struct chart_range x = {SHEET_OUTPUTS, row, COLUMN_VALUE, row + 1, COLUMN_VALUE};
  const struct chart_range y = {SHEET_OUTPUTS, row, COLUMN_PERIOD, row + 1, COLUMN_PERIOD};
  lxw_chart_series *series = chart_add_line(chart, &x, &y, "where they cross", option);
  lxw_chart_line line = {
      .color = option_colour(option), .width = 1.25F, .dash_type = LXW_CHART_LINE_DASH_ROUND_DOT};
  chart_series_set_line(series, &line);
  chart_series_set_marker_type(series, LXW_CHART_MARKER_NONE);
}

// The results give the times; the legend lists the options only.
static void add_crossings(struct book *book, lxw_chart *chart, int lines) {
  enum { MAX_OPTIONS = 255 };
  const size_t options = book->scenario->option_count;
  int16_t unnamed[MAX_OPTIONS + 1];
  int count = 0;
  for (size_t o = 0; o < options; o++) {
    if (book->sheets->outputs->crossing[o] < 0 || count == MAX_OPTIONS)
      continue;
    add_crossing(book, chart, o);
    unnamed[count] = (int16_t)(lines + count);
    count++;
  }
  unnamed[count] = LEGEND_END;
  if (count)
    chart_legend_delete_series(chart, unnamed);
}

static void insert_cumulative(struct book *book, int row, int slot) {
  const struct scenario *scenario = book->scenario;
  int lines = 0;
  const int last = COLUMN_PERIOD + longest_periods(scenario);
  lxw_chart *chart =
      chart_begin(book, LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS, "Cumulative cash cost");
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (book->sheets->outputs->cumulative[o] < 0 || book->sheets->outputs->years[o] < 0)
      continue;
    const struct chart_range x = across(book->sheets->outputs->years[o], COLUMN_PERIOD, last);
    const struct chart_range y = across(book->sheets->outputs->cumulative[o], COLUMN_PERIOD, last);
    chart_add_line(chart, &x, &y, chart_label(book, o), o);
    lines++;
  }
  add_crossings(book, chart, lines);
  struct chart_axes axes = cash_axes(book);
  axes.x = "years since the purchase";
  axes.x_format = "General";
  chart_set_axes(chart, &axes);
  chart_axis_set_min(chart->x_axis, 0);
  chart_place(book, chart, row, slot,
              "Lines: each option's cumulative cash cost since the purchase");
}

// ---- cash by period

static bool has_yearly_periods(struct book *book) {
  const int d = model_find(book->scenario->model, "period_length");
  return d < 0 || shown_value(book, &book->sheets->options[0], d, 0) == 1;
}

// "Cash cost by year": columns, or lines that end at the horizon if it differs between cases.
static lxw_chart *begin_yearly(struct book *book, const char *what) {
  return chart_begin(
      book,
      outputs_horizons_differ(book->scenario) ? LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS
                                              : LXW_CHART_COLUMN,
      arena_printf(book->arena, "%s by %s", what, has_yearly_periods(book) ? "year" : "period"));
}

// A series of an option from period `first` on: its row as columns, or its line.
struct yearly {
  const int *rows, *lines;
  int first;
};

static void add_yearly(struct book *book, lxw_chart *chart, const struct yearly *yearly,
                       size_t option, const char *name, lxw_color_t colour) {
  const int first = COLUMN_PERIOD + yearly->first;
  const int last = COLUMN_PERIOD + longest_periods(book->scenario);
  const bool as_line = outputs_horizons_differ(book->scenario);
  if (as_line && yearly->lines[option] < 0)
    return;
  const struct chart_range x = across(
      as_line ? book->sheets->outputs->years[option] : book->sheets->outputs->period, first, last);
  const struct chart_range y =
      across(as_line ? yearly->lines[option] : yearly->rows[option], first, last);
  if (as_line)
    chart_add_coloured_line(chart, &x, &y, name, option, colour);
  else
    chart_add_bars(chart, &x, &y, name, colour);
}

static void add_options_yearly(struct book *book, lxw_chart *chart, const struct yearly *yearly) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (yearly->rows[o] >= 0)
      add_yearly(book, chart, yearly, o, chart_label(book, o), option_colour(o));
}

static void end_yearly(struct book *book, lxw_chart *chart, const char *y, const char *format) {
  const bool as_line = outputs_horizons_differ(book->scenario);
  const struct chart_axes axes = {as_line ? "years since the purchase, at the end of a period"
                                          : "period, by the day on which it begins",
                                  as_line ? "General" : NULL, y, format};
  chart_set_axes(chart, &axes);
  if (as_line)
    chart_axis_set_min(chart->x_axis, 0);
  else
    chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
}

static void insert_cash(struct book *book, int row, int slot) {
  const struct outputs *outputs = book->sheets->outputs;
  lxw_chart *chart = begin_yearly(book, "Cash cost");
  add_options_yearly(book, chart, &(const struct yearly){outputs->cash, outputs->cash_line, 0});
  const struct chart_axes axes = cash_axes(book);
  end_yearly(book, chart, axes.y, axes.y_format);
  chart_place(book, chart, row, slot, "Each option's cash cost in each period");
}

// ---- accelerators by period, where they vary

static bool has_fleet(const struct book *book) {
  return outputs_any_series(book, "in_service");
}

static void insert_fleet(struct book *book, int row, int slot) {
  const struct outputs *outputs = book->sheets->outputs;
  lxw_chart *chart = begin_yearly(book, "Accelerators in service");
  add_options_yearly(book, chart, &(const struct yearly){outputs->fleet, outputs->fleet_line, 1});
  end_yearly(book, chart, "accelerators", "#,##0");
  chart_place(book, chart, row, slot, "Each option's accelerators in service in each period");
}

// ---- tokens against demand by period

static bool has_demand(const struct book *book) {
  return outputs_any_series(book, "demanded");
}

static bool is_same_demand(const struct book *book, size_t a, size_t b) {
  const struct scenario *scenario = book->scenario;
  const int demanded = model_find(scenario->model, "demanded");
  for (int t = 1; t < scenario->periods; t++)
    for (size_t c = 0; c < scenario->case_count; c++)
      if (amount_in(&book->sheets->options[a], demanded, t, c) !=
          amount_in(&book->sheets->options[b], demanded, t, c))
        return false;
  return true;
}

// Demand that all options share is drawn once.
static void add_demand(struct book *book, lxw_chart *chart) {
  const struct scenario *scenario = book->scenario;
  const struct outputs *outputs = book->sheets->outputs;
  const int *rows = outputs->demanded;
  const struct yearly demanded = {rows, outputs->demanded_line, 1};
  size_t first = 0;
  while (rows[first] < 0)
    first++;
  bool same = true;
  for (size_t o = first + 1; o < scenario->option_count; o++)
    same &= rows[o] >= 0 && is_same_demand(book, first, o);
  for (size_t o = first; o < (same ? first + 1 : scenario->option_count); o++)
    if (rows[o] >= 0)
      add_yearly(book, chart, &demanded, o,
                 same ? "demand" : arena_printf(book->arena, "demand, %s", chart_label(book, o)),
                 demand_colour());
}

static void insert_tokens(struct book *book, int row, int slot) {
  const struct outputs *outputs = book->sheets->outputs;
  lxw_chart *chart = begin_yearly(book, "Output tokens against demand");
  add_demand(book, chart);
  add_options_yearly(book, chart,
                     &(const struct yearly){outputs->tokens_served, outputs->served_line, 1});
  static const struct axis_scale scales[] = {{1e13, "trillion ", "#,##0,,,,"},
                                             {1e10, "billion ", "#,##0,,,"},
                                             {1e7, "million ", "#,##0,,"},
                                             {1e4, "thousand ", "#,##0,"},
                                             {0, "", "#,##0"}};
  const double most = fmax(most_of(book, "demanded"), most_of(book, "tokens"));
  const struct chart_axes axes = axes_scaled(book, scales, most, "output tokens");
  end_yearly(book, chart, axes.y, axes.y_format);
  chart_place(book, chart, row, slot,
              "The demand in each period, and the output tokens that each option serves");
}

// ---- cost per token against utilization and batch

static void add_curves(struct book *book, lxw_chart *chart, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    const struct cost_curve *curve = &book->sheets->curves->list[i];
    const int last = COLUMN_VALUE + (int)curve->count - 1;
    const char *sheet = SHEET_SENSITIVITY;
    const struct chart_range x = {sheet, curve->x_row, COLUMN_VALUE, curve->x_row, last};
    const struct chart_range y = {sheet, curve->y_row, COLUMN_VALUE, curve->y_row, last};
    chart_add_line(chart, &x, &y, chart_label(book, curve->option), curve->option);
  }
}

// Whether no option's cost is below nothing, so that an axis may begin there.
static bool costs_something(const struct book *book) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (!(outputs_value(book, o, "cost_per_mtok", 0) >= 0))
      return false;
  return true;
}

static bool has_utilizations(const struct book *book) {
  return book->sheets->curves->utilizations > 0;
}

static void insert_utilizations(struct book *book, int row, int slot) {
  lxw_chart *chart = chart_begin(book, LXW_CHART_SCATTER_SMOOTH_WITH_MARKERS,
                                 "Cost per token against utilization");
  add_curves(book, chart, 0, book->sheets->curves->utilizations);
  const struct chart_axes axes = {"utilization", "0 %", cost_axis(cost_unit(book), book->arena),
                                  "General"};
  chart_set_axes(chart, &axes);
  chart_axis_set_min(chart->x_axis, 0);
  chart_axis_set_max(chart->x_axis, 1);
  if (costs_something(book))
    chart_axis_set_min(chart->y_axis, 0);
  chart_place(book, chart, row, slot,
              "Lines: each option's cost per million output tokens at other levels of utilization");
}

static bool has_batches(const struct book *book) {
  return book->sheets->curves->count > book->sheets->curves->utilizations;
}

static void insert_batches(struct book *book, int row, int slot) {
  lxw_chart *chart =
      chart_begin(book, LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS, "Cost per token against batch");
  add_curves(book, chart, book->sheets->curves->utilizations, book->sheets->curves->count);
  const struct chart_axes axes = {"requests in a batch", "General",
                                  cost_axis(cost_unit(book), book->arena), "General"};
  chart_set_axes(chart, &axes);
  chart_axis_set_min(chart->x_axis, 0);
  chart_place(book, chart, row, slot,
              "Lines: cost per million output tokens at the batches in the evidence");
}

// ---- watts, where there are records with readings

static void insert_watts(struct book *book, int row, int slot) {
  chart_place(book, watts_overview(book), row, slot,
              "Lines: each meter's readings under load, and the datasheet's TDP; see Evidence");
}

// ---- all of them

// A chart, and whether there is something to show; the charts fill the places in this order.
static const struct panel {
  bool (*is_there)(const struct book *);
  void (*insert)(struct book *, int row, int slot);
} panels[] = {
    {has_categories, insert_categories},
    {has_cash, insert_cumulative},
    {has_cash, insert_cash},
    {has_fleet, insert_fleet},
    {has_demand, insert_tokens},
    {has_utilizations, insert_utilizations},
    {has_batches, insert_batches},
    {watts_shown, insert_watts},
};

int outputs_chart_rows(const struct book *book) {
  int count = 0;
  for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++)
    count += panels[i].is_there(book);
  return (count + 1) / 2 * CHART_ROWS;
}

// A page holds a limited number of rows. Pages begin at the second row of charts (if the first rows
// leave no room for it), at the tables, and at the periods (if they do not fit below the other
// tables).
void break_pages(struct book *book, int tables, int years) {
  enum { PAGE_ROWS = 120 }; // a sheet of several pages is printed at 40 % or less, on A3
  lxw_row_t rows[4] = {0};
  size_t count = 0;
  if (book->row <= PAGE_ROWS)
    return;
  if (tables > PAGE_ROWS)
    rows[count++] = (lxw_row_t)(book->sheets->outputs->charts + CHART_ROWS);
  rows[count++] = (lxw_row_t)tables;
  if (book->row - tables > PAGE_ROWS)
    rows[count] = (lxw_row_t)years;
  worksheet_set_h_pagebreaks(book->sheet, rows);
}

void insert_charts(struct book *book) {
  int count = 0;
  for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++) {
    if (!panels[i].is_there(book))
      continue;
    panels[i].insert(book, book->sheets->outputs->charts + count / 2 * CHART_ROWS, count % 2);
    count++;
  }
}
