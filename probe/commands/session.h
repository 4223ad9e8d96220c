// session: a run over precisions, batches and contexts, and the record that it fills.
#ifndef PERTOKEN_PROBE_COMMANDS_SESSION_H
#define PERTOKEN_PROBE_COMMANDS_SESSION_H

#include "model/evidence/measurement.h"
#include "probe/commands/options.h"
#include "probe/measure/protocol.h"

struct session {
  const struct probe_options *options;
  struct protocol protocol; // its device, stop and arena set by the caller; meters, or roots
  struct measurement_record *record;
  // That hold each model together, protocol.device the first of them; 0: it alone.
  const struct device *ranks;
  size_t rank_count;
  const char *path;  // of the record: MODEL-DEVICE-HASH.json, the hash over what a run is
  bool is_unwritten; // the record's last result could not be written
};

// What is asked for, in the order in which it is measured.
struct plan {
  struct workload *workloads;
  size_t count;
};

// Every precision, batch and context of the options, with the types that the device runs it in; a
// workload that it cannot run is an error. Returns 0 or -1.
int session_plan(const struct session *session, const struct measurement_shape *model,
                 struct plan *plan);

// Measures what the record does not hold yet, writing it anew after each result. A workload that
// cannot run is an error, found before the first is measured. Returns 0, also when stopped, or -1.
int session_run(struct session *session, const struct measurement_shape *model);

// Measures on all sessions' devices at once what each of their records holds, and adds that to the
// records. Workloads of which that is there already, and those measured as slices, are left out.
// The first session's protocol is used; its meters are opened anew, for all devices. Returns 0,
// also when stopped, or -1.
int session_run_together(struct session *sessions, size_t count,
                         const struct measurement_shape *model);

#endif
