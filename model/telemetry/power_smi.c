// CSV of nvidia-smi --query-gpu=timestamp,index,power.draw and of amd-smi metric or monitor.
//
// nvidia-smi writes units into the cells ("187.80 W"), "[N/A]" for unknown values, local times
// without a zone, and its header again whenever it is restarted. amd-smi writes seconds since 1970.
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

// The columns in which a table has what is needed; -1: none.
struct columns {
  int time, device, index, partition, power, limit;
};

// The names of a column, best first; ended by NULL.
static const char *const nvidia_devices[] = {"uuid",       "gpu_uuid", "pci.bus_id",
                                             "gpu_bus_id", "index",    NULL};
static const char *const nvidia_indices[] = {"index", NULL};
// Means before momentary watts: NVML's power is the mean of a second (after GA100), so readings a
// second apart leave nothing out, where momentary ones are a few per cent of the time or less (Yang
// et al., arXiv 2312.02741). "power.draw" is either.
static const char *const nvidia_watts[] = {"power.draw.average [W]", "power.draw [W]",
                                           "power.draw.instant [W]", NULL};
static const char *const nvidia_limits[] = {"enforced.power.limit [W]", "power.limit [W]", NULL};
static const char *const times[] = {"timestamp", NULL};
static const char *const amd_devices[] = {"gpu", NULL};
// "power_usage" is monitor's, which has a row for each partition of a GPU ("xcp"), the first with
// the watts of all.
static const char *const amd_watts[] = {"socket_power", "current_socket_power", "power_usage",
                                        NULL};
static const char *const partitions[] = {"xcp", NULL};
static const char *const amd_limits[] = {"power_limit", NULL};

static int first_column(const struct table *table, const char *const *names) {
  for (; *names; names++)
    if (table_column(table, *names) >= 0)
      return table_column(table, *names);
  return -1;
}

static bool is_in_first_line(const struct source *source, const char *word) {
  const char *found = strstr(source->text, word);
  return found && found < source->text + strcspn(source->text, "\n");
}

static const char *cell_of(const struct table *table, size_t row, int column) {
  return table->cells[row * table->columns + (size_t)column];
}

static bool is_not_told(const char *cell) {
  return !*cell || *cell == '[' || !strcmp(cell, "N/A") || !strcmp(cell, "Not Supported");
}

// The first column that has a value in any row; else the first one.
static int first_told(const struct table *table, const char *const *names) {
  for (const char *const *name = names; *name; name++) {
    const int column = table_column(table, *name);
    for (size_t row = 0; column >= 0 && row < table->rows; row++)
      if (!is_not_told(cell_of(table, row, column)) &&
          strcmp(cell_of(table, row, column), *name) != 0)
        return column;
  }
  return first_column(table, names);
}

// A cell's watts, NAN if unknown. Returns false for another unit or if it is not a number.
static bool read_watts(const char *cell, double *out, struct arena *arena) {
  const size_t digits = strspn(cell, "0123456789.");
  const char *unit = cell + digits + strspn(cell + digits, " ");
  *out = NAN;
  if (is_not_told(cell))
    return true;
  return (!*unit || !strcmp(unit, "W")) && csv_number(arena_copy_n(arena, cell, digits), out);
}

// The differences between the two programs.
struct smi {
  const char *tool;
  bool is_local; // times without a zone
  const char *const *devices, *const *indices, *const *watts, *const *limits;
};

static bool read_time(const struct smi *smi, const struct power_input *input, const char *cell,
                      double *out) {
  if (!smi->is_local)
    return csv_number(cell, out) && *out > 0;
  if (!utc_parse_local(cell, out))
    return false;
  *out -= input->options->utc_offset_s;
  return true;
}

// A device whose index changes has none: nobody could say which of them is meant.
static void read_device(const struct columns *columns, const struct table *table, size_t row,
                        struct power_track *track, struct arena *arena) {
  double limit_w;
  const char *index = columns->index < 0 ? "" : cell_of(table, row, columns->index);
  if (track->count == 1)
    track->index = index;
  else if (strcmp(track->index, index) != 0)
    track->index = "";
  if (columns->limit >= 0 && read_watts(cell_of(table, row, columns->limit), &limit_w, arena))
    track->power_limit_w = limit_w;
}

static const char *read_row(const struct smi *smi, const struct power_input *input,
                            const struct columns *columns, const struct table *table, size_t row,
                            struct power_series *series) {
  struct arena *arena = input->arena;
  double time_s, power_w;
  const char *time = cell_of(table, row, columns->time);
  const char *power = cell_of(table, row, columns->power);
  const char *device = cell_of(table, row, columns->device);
  if (!read_time(smi, input, time, &time_s))
    return arena_printf(arena, "expected a time, found '%s'", time);
  if (!read_watts(power, &power_w, arena))
    return arena_printf(arena, "expected watts such as '187.80 W', found '%s'", power);
  const char *why = power_series_add(series, device, time_s, power_w, NAN, arena);
  if (!why)
    read_device(columns, table, row, power_series_track(series, device), arena);
  return why;
}

static bool is_later_partition(const struct columns *columns, const struct table *table,
                               size_t row) {
  double number;
  return columns->partition >= 0 && csv_number(cell_of(table, row, columns->partition), &number) &&
         number > 0;
}

static const char *check_columns(const struct smi *smi, const struct columns *columns,
                                 const struct power_read_options *options) {
  if (columns->time < 0)
    return "no column 'timestamp': the time of each reading is unknown";
  if (columns->power < 0)
    return "no column with watts";
  if (columns->device < 0)
    return "no column identifies the devices: query 'index' or 'uuid' as well";
  if (smi->is_local && isnan(options->utc_offset_s))
    return "the times have no time zone: state their offset from UTC with --utc-offset, such as "
           "'+02:00' or 'UTC'";
  return NULL;
}

static struct power_series *read_table(const struct smi *smi, const struct power_input *input) {
  const struct table *table =
      csv_read(input->source, input->source->name, input->arena, input->diagnostics);
  if (!table)
    return NULL;
  const struct columns columns = {.time = first_column(table, times),
                                  .device = first_column(table, smi->devices),
                                  .index = first_column(table, smi->indices),
                                  .partition = first_column(table, partitions),
                                  .power = first_told(table, smi->watts),
                                  .limit = first_column(table, smi->limits)};
  struct power_series *series = power_series_of(input, smi->tool, COVERS_ACCELERATORS);
  const char *why = check_columns(smi, &columns, input->options);
  if (why)
    return power_refuse(input, 1, "%s", why);
  for (size_t row = 0; row < table->rows; row++) {
    if (!strcmp(cell_of(table, row, columns.time), "timestamp") || // a repeated header
        is_later_partition(&columns, table, row))
      continue;
    why = read_row(smi, input, &columns, table, row, series);
    if (why)
      return power_refuse(input, table->places[row].line, "%s", why);
  }
  return series;
}

// ---- the two programs

static const struct smi nvidia = {"nvidia-smi CSV", true,         nvidia_devices,
                                  nvidia_indices,   nvidia_watts, nvidia_limits};
static const struct smi amd = {"amd-smi CSV", false,     amd_devices,
                               amd_devices,   amd_watts, amd_limits};

static bool knows_nvidia(const struct power_input *input) {
  return is_in_first_line(input->source, "power.draw");
}

static struct power_series *read_nvidia(const struct power_input *input) {
  return read_table(&nvidia, input);
}

static bool knows_amd(const struct power_input *input) {
  return !input->json && (is_in_first_line(input->source, "socket_power") ||
                          is_in_first_line(input->source, "power_usage")); // amd-smi monitor
}

static struct power_series *read_amd(const struct power_input *input) {
  return read_table(&amd, input);
}

const struct power_format power_nvidia_smi = {"nvidia-smi CSV", knows_nvidia, read_nvidia};
const struct power_format power_amd_smi = {"amd-smi CSV", knows_amd, read_amd};
