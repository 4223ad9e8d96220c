// trials: every precision, batch and context that a command line asks for, as trials in the types
// that the device runs them in.
#ifndef PERTOKEN_PROBE_SESSIONS_TRIALS_H
#define PERTOKEN_PROBE_SESSIONS_TRIALS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"
#include "probe/measure/trial.h"
#include "probe/options/options.h"

#include <stddef.h>

// The trials to be measured, in this order.
struct trial_list {
  struct trial *list;
  size_t count;
};

struct trials_scope {
  const struct probe_options *options;
  const struct model_notes *notes; // of the model
  const struct device *device;
  const struct device *ranks; // [rank_count], those that hold the model together; none: it alone
  size_t rank_count;
  struct arena *arena; // the trials', which point into the scope as well
  struct diagnostics *diagnostics;
};

// Errors: a trial that the device or the devices cannot run, or that the model's row excludes.
// Returns 0 or -1.
int trials_find(const struct trials_scope *scope, const struct measurement_shape *model,
                struct trial_list *trials);

#endif
