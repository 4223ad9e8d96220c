// spl.txt, the log of SPEC's PTDaemon that is submitted with MLPerf Power: "Time,12-23-2020
// 10:21:51.496, Watts,23.430000,Volts,...", UTC, for the node at the plug. Some files put the day
// before the month: if the dates themselves do not tell, the window that the file should cover
// decides.
#include "model/telemetry/power_formats.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct line {
  const char *time;
  double power_w; // NAN: not reported
};

static bool knows(const struct power_input *input) {
  const char *at = input->source->text + strspn(input->source->text, " \r\n");
  const char *watts = strstr(at, ",Watts,");
  return !strncmp(at, "Time,", 5) && watts && watts < at + strcspn(at, "\n");
}

// Keys and values alternate. A failed reading is not above 0.
static bool read_line(char *text, struct line *out) {
  bool has_watts = false;
  double power_w;
  *out = (struct line){.power_w = NAN};
  for (char *key = strsep(&text, ","); key; key = strsep(&text, ",")) {
    const char *value = strsep(&text, ",");
    if (!value)
      break;
    if (!strcmp(key, "Time"))
      out->time = value;
    if (strcmp(key, "Watts") != 0)
      continue;
    has_watts = true;
    if (csv_number(value, &power_w) && power_w > 0)
      out->power_w = power_w;
  }
  return out->time && has_watts;
}

// The file's lines, one after the other.
struct lines {
  const char *at;
  int number;
  struct arena *arena;
};

static char *next_line(struct lines *lines) {
  while (*lines->at) {
    const size_t length = strcspn(lines->at, "\r\n");
    char *text = arena_copy_n(lines->arena, lines->at, length);
    lines->at += length + (lines->at[length] == '\r');
    lines->at += *lines->at == '\n';
    lines->number++;
    if (*text)
      return text;
  }
  return NULL;
}

struct order {
  bool fits;
  double start_s, end_s;
};

static struct order try_order(const struct power_input *input, bool day_first) {
  struct lines lines = {.at = input->source->text, .arena = input->arena};
  struct order order = {false, NAN, NAN};
  struct line line;
  for (char *text = next_line(&lines); text; text = next_line(&lines)) {
    double time_s;
    if (!read_line(text, &line) || !utc_parse_american(line.time, day_first, &time_s))
      return order;
    if (isnan(order.start_s))
      order.start_s = time_s;
    if (!isnan(order.end_s) && time_s < order.end_s)
      return order;
    order.end_s = time_s;
  }
  order.fits = true;
  return order;
}

static bool meets_window(const struct order *order, const struct power_read_options *options) {
  return order->start_s <= options->window_end_s && order->end_s >= options->window_start_s;
}

// Whether the day comes first: 1 or 0; -1 if unknown.
static int order_of(const struct power_input *input) {
  const struct order month = try_order(input, false), day = try_order(input, true);
  if (!month.fits || !day.fits || month.start_s == day.start_s)
    return !month.fits && day.fits;
  const bool month_meets = meets_window(&month, input->options);
  const bool day_meets = meets_window(&day, input->options);
  return month_meets == day_meets ? -1 : day_meets;
}

static struct power_series *read_lines(const struct power_input *input, bool day_first) {
  struct power_series *series = power_series_of(input, "MLPerf spl.txt", COVERS_NODE);
  struct lines lines = {.at = input->source->text, .arena = input->arena};
  for (char *text = next_line(&lines); text; text = next_line(&lines)) {
    struct line line;
    double time_s;
    if (!read_line(text, &line) || !utc_parse_american(line.time, day_first, &time_s))
      return power_refuse(input, lines.number,
                          "expected 'Time,MM-DD-YYYY HH:MM:SS.mmm,Watts,...' as in other lines");
    const char *why = power_series_add(series, "node", time_s, line.power_w, NAN, input->arena);
    if (why)
      return power_refuse(input, lines.number, "%s", why);
  }
  return series;
}

static struct power_series *read(const struct power_input *input) {
  const int day_first = order_of(input);
  if (day_first < 0)
    return power_refuse(input, 1,
                        "the dates can be read as month-day or day-month, and the measurement "
                        "window does not settle which");
  return read_lines(input, day_first);
}

const struct power_format power_spl = {"MLPerf spl.txt", knows, read};
