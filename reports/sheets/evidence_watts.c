#include "reports/sheets/evidence_watts.h"
#include "base/arena.h"
#include "base/csv.h"
#include "model/catalog/columns.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/records/measurement.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/charts.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Columns of the lines and of the readings. The last marks gaps in the readings.
enum { COLUMN_WINDOW, COLUMN_SECONDS, COLUMN_WATTS, COLUMN_TDP, COLUMN_GAP = COLUMN_TDP };
enum { LAST_COLUMN = 7 };
enum { CHART_PIXELS = 960, CHART_HIGH = 400, WATTS_ROWS = 22 }; // rows: including an empty one

static const struct unit watts = {.text = "W", .dimension = {{[BASE_W] = 1}}};
static const struct unit seconds = {.text = "s", .dimension = {{[BASE_H] = 1}}};

static bool has_readings(const struct option *option) {
  return option->record && option->record->readings.load.count > 0 &&
         measurement_metered_devices(option->record) == 1;
}

bool watts_shown(const struct book *book) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (has_readings(&book->scenario->options[o]))
      return true;
  return false;
}

const char *watts_words(const struct option *option, struct arena *arena) {
  const struct measurement *record = option->record;
  if (!record)
    return "not measured";
  if (has_readings(option))
    return "measured: the chart above, the readings below";
  if (isnan(record->load_power_w))
    return arena_printf(arena, "not measured (%s)", record->energy_meter);
  if (measurement_metered_devices(record) > 1)
    return arena_printf(arena, "not shown: they cover %d devices together",
                        measurement_metered_devices(record));
  return "not in the record: it was written before records had readings";
}

// A header above columns of numbers, except the first.
static void put_numbers_header(struct book *book, const char *const *texts, int count) {
  put_header(book, book->row, texts, 1);
  put_headings(book, book->row, 1, texts + 1, count - 1);
  book->row++;
}

// ---- how it was measured

static const char *scope_text(const struct measurement *record, struct arena *arena) {
  if (!strcmp(record->record->device.backend, "cpu"))
    return "the host's processor packages only";
  if (isnan(record->beside.module_power_w))
    return "the device only";
  return arena_printf(arena, "the device without the rest of its module, which drew %.4g W in all",
                      record->beside.module_power_w);
}

static const char *work_text(const struct measurement *record, struct arena *arena) {
  const double soak_s = record->beside.soak_s;
  const char *soak =
      soak_s > 0 ? arena_printf(arena, ", after %.3g s of the same load", soak_s) : "";
  return arena_printf(arena, "%s %s, batch %d, context %d: %.3g s under the meter%s",
                      record->model.id, record->precision, record->batch, record->context,
                      record->energy_window_s, soak);
}

static int gaps_of(const struct measurement_window *window) {
  int gaps = 0;
  for (size_t i = 0; i < window->count; i++)
    gaps += isnan(window->power_w[i]);
  return gaps;
}

static const char *kind_text(const struct measurement_readings *readings, struct arena *arena) {
  const int gaps = gaps_of(&readings->idle) + gaps_of(&readings->load);
  const char *kind = readings->load.sensed ? "the sensors' own watts" : "the energy counter";
  const char *text = arena_printf(
      arena, "%s; each is the mean since the previous one; merged readings preserve energy", kind);
  return gaps ? arena_printf(arena, "%s; %d gap%s, where the meter was not read", text, gaps,
                             gaps == 1 ? "" : "s")
              : text;
}

static void write_words(struct book *book, const struct option *option) {
  struct arena *arena = book->arena;
  const struct measurement *record = option->record;
  put_heading(book, book->row++, LAST_COLUMN,
              arena_printf(arena, "%s: measured watts over time", option->label));
  put_line(book, "Meter", record->energy_meter);
  put_line(book, "Scope", scope_text(record, arena));
  put_line(book, "Device", record->record->device.name);
  put_line(book, "Measured on",
           arena_copy_n(arena, record->finished, strcspn(record->finished, "T")));
  put_line(book, "Load", work_text(record, arena));
  put_line(book, "Readings", kind_text(&record->readings, arena));
}

// ---- the lines for the mean and the TDP

static void put_result(struct book *book, int row, int column, double value,
                       const struct unit *unit) {
  put_number(book, row, column, value, formats_result(&book->formats, value, unit));
}

struct tdp {
  double power_w;
  const char *source;
};

static bool find_tdp(const struct book *book, const struct option *option, struct tdp *tdp) {
  const struct table *table = catalog_table(book->scenario->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, option->accelerator) : -1;
  if (row < 0 || !table_number(table, (size_t)row, "tdp_w", &tdp->power_w) ||
      strcmp(table_cell(table, (size_t)row, "kind"), "datasheet") != 0)
    return false;
  tdp->source = arena_printf(book->arena, "%s, %s", table_cell(table, (size_t)row, "source_title"),
                             table_cell(table, (size_t)row, "as_of"));
  return true;
}

// One end of the lines.
static void write_end(struct book *book, const struct measurement *record, double at_s,
                      const struct tdp *tdp, struct name *name) {
  put_result(book, book->row, COLUMN_SECONDS, at_s, &seconds);
  put_result(book, book->row, COLUMN_WATTS, record->load_power_w, &watts);
  if (name)
    put_link(book, book->row, COLUMN_TDP, name, tdp->power_w, &watts);
  book->row++;
}

static double end_of(const struct measurement_window *window) {
  return window->count ? window->end_s[window->count - 1] : 0;
}

static void write_lines(struct book *book, struct watts_table *table) {
  static const char *const headings[] = {"Flat lines", "Seconds", "Mean, W", "TDP, W"};
  const struct option *option = table->option->option;
  const struct measurement *record = option->record;
  struct tdp tdp;
  struct name *name = NULL;
  table->has_tdp = find_tdp(book, option, &tdp);
  if (table->has_tdp)
    name =
        constants_literal(&book->constants, "tdp",
                          arena_printf(book->arena, "TDP (datasheet) of %s", option->accelerator),
                          tdp.source, tdp.power_w, &watts);
  put_numbers_header(book, headings, table->has_tdp ? 4 : 3);
  table->lines = book_place(book, book->row);
  table->end_s = fmax(end_of(&record->readings.idle), end_of(&record->readings.load));
  write_end(book, record, 0, &tdp, name);
  write_end(book, record, table->end_s, &tdp, name);
  if (!table->has_tdp)
    put_line(book, "TDP", "no datasheet for this device in the catalogue");
}

int watts_write(struct book *book, const struct option_sheet *sheet, int row,
                struct watts_table *table) {
  book->row = row;
  *table = (struct watts_table){.option = sheet};
  if (!has_readings(sheet->option))
    return row;
  write_words(book, sheet->option);
  write_lines(book, table);
  table->chart = book->row;
  return book->row + WATTS_ROWS;
}

// ---- the readings

// Returns the first row of them.
static int write_window(struct book *book, const char *name,
                        const struct measurement_window *window) {
  const int first = book->row;
  for (size_t i = 0; i < window->count; i++, book->row++) {
    put_text(book, book->row, COLUMN_WINDOW, name, TEXT_PLAIN);
    put_result(book, book->row, COLUMN_SECONDS, window->end_s[i], &seconds);
    if (isnan(window->power_w[i]))
      put_text(book, book->row, COLUMN_GAP, "a gap: the meter was not read", TEXT_NOTE);
    else
      put_result(book, book->row, COLUMN_WATTS, window->power_w[i], &watts);
  }
  return first;
}

struct look {
  const char *name;
  lxw_color_t colour;
  float width;
  uint8_t dash;
};

static void add_line(lxw_chart *chart, int first, int last, int column, const struct look *look) {
  const char *sheet = SHEET_EVIDENCE;
  const struct chart_range x = {sheet, first, COLUMN_SECONDS, last, COLUMN_SECONDS};
  const struct chart_range y = {sheet, first, column, last, column};
  lxw_chart_series *series = chart_add_line(chart, &x, &y, look->name, 0);
  lxw_chart_line line = {.color = look->colour, .width = look->width, .dash_type = look->dash};
  chart_series_set_line(series, &line);
  chart_series_set_marker_type(series, LXW_CHART_MARKER_NONE);
}

static void set_axes(lxw_chart *chart) {
  const struct chart_axes axes = {"seconds since the window began", "General", "W", "#,##0"};
  chart_set_axes(chart, &axes);
  chart_axis_set_min(chart->x_axis, 0);
  chart_axis_set_min(chart->y_axis, 0);
  chart_show_blanks_as(chart, LXW_CHART_BLANKS_AS_GAP);
}

static void insert_chart(struct book *book, const struct watts_table *table, int idle) {
  const struct measurement_readings *readings = &table->option->option->record->readings;
  const struct look idle_look = {"idle", low_colour(), 2, LXW_CHART_LINE_DASH_SOLID};
  const struct look load_look = {"under load", high_colour(), 2, LXW_CHART_LINE_DASH_SOLID};
  const struct look mean_look = {"mean under load", LXW_COLOR_BLACK, 1.25F,
                                 LXW_CHART_LINE_DASH_ROUND_DOT};
  const struct look tdp_look = {"TDP (datasheet)", option_colour(1), 2, LXW_CHART_LINE_DASH_DASH};
  lxw_chart *chart = chart_begin(
      book, LXW_CHART_SCATTER_STRAIGHT,
      arena_printf(book->arena, "Measured watts over time, %s", table->option->option->label));
  if (readings->idle.count)
    add_line(chart, idle, idle + (int)readings->idle.count - 1, COLUMN_WATTS, &idle_look);
  add_line(chart, table->load, table->load + (int)readings->load.count - 1, COLUMN_WATTS,
           &load_look);
  add_line(chart, table->lines, table->lines + 1, COLUMN_WATTS, &mean_look);
  if (table->has_tdp)
    add_line(chart, table->lines, table->lines + 1, COLUMN_TDP, &tdp_look);
  set_axes(chart);
  chart_place_sized(book, chart, table->chart, CHART_PIXELS, CHART_HIGH,
                    "Lines: the meter's readings while idle and under load, their mean under load "
                    "and the datasheet's TDP");
}

int watts_write_readings(struct book *book, struct watts_table *table, int row) {
  static const char *const headings[] = {"Window", "Seconds", "W", ""};
  book->row = row;
  const struct option *option = table->option->option;
  if (!has_readings(option))
    return row;
  put_heading(book, book->row++, LAST_COLUMN,
              arena_printf(book->arena, "%s: readings of the meter", option->label));
  put_numbers_header(book, headings, 4);
  const int idle = write_window(book, "idle", &option->record->readings.idle);
  table->load = write_window(book, "under load", &option->record->readings.load);
  if (book->writing)
    insert_chart(book, table, idle);
  return book->row + 1;
}

lxw_chart *watts_overview(struct book *book) {
  lxw_chart *chart = chart_begin(book, LXW_CHART_SCATTER_STRAIGHT,
                                 "Measured watts over time, compared with the TDP");
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct watts_table *table = &book->sheets->watts[o];
    if (!has_readings(table->option->option))
      continue;
    const struct option *option = table->option->option;
    const char *label = chart_label(book, o);
    const struct look load = {label, option_colour(o), 2, LXW_CHART_LINE_DASH_SOLID};
    const struct look tdp = {arena_printf(book->arena, "%s: TDP (datasheet)", label),
                             option_colour(o), 2, LXW_CHART_LINE_DASH_DASH};
    add_line(chart, table->load, table->load + (int)option->record->readings.load.count - 1,
             COLUMN_WATTS, &load);
    if (table->has_tdp)
      add_line(chart, table->lines, table->lines + 1, COLUMN_TDP, &tdp);
  }
  set_axes(chart);
  return chart;
}
