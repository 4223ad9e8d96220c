// measuring: one model, measured on the devices that --device names: one by one and those of each
// kind at once, or all of them together, or one at several power limits; or only verified there.
#ifndef PERTOKEN_PROBE_COMMANDS_MEASURING_H
#define PERTOKEN_PROBE_COMMANDS_MEASURING_H

#include "probe/commands/invocation.h"
#include "probe/devices/model_shape.h"
#include "probe/options/options.h"
#include "probe/sessions/power_sweep.h"
#include "probe/sessions/session.h"

struct measuring {
  // Set by the caller.
  struct invocation *invocation; // with the users of devices, if they matter
  const struct probe_options *options;
  struct power_sweep *sweep;       // begun, to be ended by the caller; NULL: the device's own limit
  const struct session_gate *gate; // of a fleet, which has locked the records' directory and prints
                                   // no tables, as each of many nodes would; NULL: this node alone
  // Measuring's own.
  struct model_notes notes;
};

// Prints tables of results on standard output, and says on standard error where the records are. A
// verification sets the invocation's differs and is_partial. Errors: no such device or model, and
// those of session_run and power_sweep_open; what one kind of devices cannot run says nothing about
// the next, which is still measured. Returns 0, also when stopped, or -1.
int measuring_run(struct measuring *measuring);

#endif
