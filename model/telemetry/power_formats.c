#include "model/telemetry/power_formats.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_series.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>

const struct power_read_options power_read_nothing_said = {NAN, NAN, NAN};

struct power_series *power_series_of(const struct power_input *input, const char *tool,
                                     enum serving_coverage covers) {
  struct power_series *series = arena_alloc(input->arena, sizeof *series);
  *series = (struct power_series){.source = input->source,
                                  .tool = tool,
                                  .covers = covers,
                                  .host = "",
                                  .clock = clock_state_unknown,
                                  .clock_after = clock_state_unknown};
  return series;
}

struct power_series *power_refuse(const struct power_input *input, int line, const char *format,
                                  ...) {
  va_list arguments;
  va_start(arguments, format);
  diagnostics_error(input->diagnostics, (struct place){input->source, line, line > 0}, "%s",
                    arena_vprintf(input->arena, format, arguments));
  va_end(arguments);
  return NULL;
}
