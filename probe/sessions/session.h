// session: a run over precisions, batches and contexts, and the record that it writes.
#ifndef PERTOKEN_PROBE_SESSIONS_SESSION_H
#define PERTOKEN_PROBE_SESSIONS_SESSION_H

#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"
#include "probe/options/options.h"
#include "probe/sessions/trials.h"

#include <stdbool.h>
#include <stddef.h>

// Called before each result of a trial, for those who measure beside other machines. It may wait.
struct session_gate {
  // is_whole: all of the machine's devices are under load. Returns 0, also when stopped, or -1
  // after an error.
  int (*pass)(void *context, const struct trial *trial, bool is_whole);
  void *context;
};

struct session {
  const struct probe_options *options;
  struct protocol protocol; // set by the caller, with meters or with roots
  struct model_notes notes; // of the model that is measured
  struct measurement_record *record;
  // The devices that hold each model together, protocol.device first; none: that one alone.
  const struct device *ranks; // [rank_count]
  size_t rank_count;
  // The session of an equal device, or of this one at another power limit, already run: its fastest
  // variants are measured here, so that both compute alike. NULL: each trial's is found here.
  const struct session *equal;
  const struct session_gate *gate; // NULL: none
  int power_limit_w;               // that the device is held at for this; 0: its own limit
  bool is_whole;                   // it covers all devices that are measured
  bool holds_folder;               // the caller has locked the records' directory
  const char *path;  // of the record: MODEL-BACKEND-HASH.json, the hash over all that makes a run
  size_t known;      // results that an earlier run has measured
  bool is_known;     // so all of them were
  bool is_unwritten; // the record's last result could not be written
};

// The trials of its options on its devices. Returns 0 or -1.
int session_trials(const struct session *session, const struct measurement_shape *model,
                   struct trial_list *trials);

// Measures what the record does not hold yet, and rewrites the record after each result. A trial
// that cannot be run is an error, found before the first is measured. Returns 0, also when stopped,
// or -1.
int session_run(struct session *session, const struct measurement_shape *model);

// Measures on the devices of all sessions [count] at once what each of their records holds, and
// adds the results to the records; skips what was already measured that way, or as slices. Uses the
// first session's protocol, with meters opened for all devices. Returns 0, also when stopped, or
// -1.
int session_run_together(struct session *sessions, size_t count,
                         const struct measurement_shape *model);

#endif
