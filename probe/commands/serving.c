#include "model/records/serving.h"
#include "base/clock.h"
#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/commands/progress.h"
#include "probe/meters/meter.h"
#include "probe/options/serving_options.h"
#include "probe/serving/rung.h"
#include "probe/sessions/serving_session.h"
#include "probe/sessions/serving_table.h"
#include "probe/sessions/serving_watts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Adds power that another host's meter recorded to the loads that have none.
static int join_watts(struct serving_session *session) {
  const struct serving_options *options = session->options;
  if (!options->power || !session->record || !session->record->count)
    return 0;
  const int joined =
      serving_watts_join(session->record, options->power, options->devices, options->clock_offset_s,
                         session->arena, session->diagnostics);
  if (joined < 0 ||
      serving_write(session->record, session->path, session->arena, session->diagnostics))
    return -1;
  session->is_written = true;
  return 0;
}

static int measure(struct serving_session *session) {
  const struct serving_options *options = session->options;
  struct serving_watts watts = {.url = options->url,
                                .devices = options->power ? NULL : options->devices,
                                .accelerator = options->accelerator,
                                .accelerators = options->accelerators,
                                .roots = &machine_meters,
                                .clock = &machine_clock,
                                .arena = session->arena};
  const struct rung_meter meter = serving_watts_meter(&watts);
  session->meter = &meter;
  const int result = serving_session_run(session);
  session->meter = NULL; // it ends here
  serving_watts_stop(&watts);
  return result ? result : join_watts(session);
}

static void tell(struct invocation *invocation, const struct serving_session *session) {
  if (session->is_written) {
    serving_table_print(session->record, session->arena, stdout);
    invocation_note(invocation,
                    *invocation->stop ? "stopped; the finished loads are in "
                    : session->known == session->record->count ? invocation_all_known
                                                               : "record: ",
                    session->path);
    invocation->differs = !serving_record_has_rungs(session->record);
  } else if (*invocation->stop) {
    invocation_note(invocation, "stopped; ", "no load was finished");
  }
}

int probe_serving(struct invocation *invocation, int argc, char **argv) {
  const struct serving_options options = serving_options_parse(argc, argv, invocation->arena);
  invocation_begin(invocation, options.quiet);
  struct serving_session session = invocation_serving(invocation, &options);
  const int result = measure(&session);
  progress_clear();
  tell(invocation, &session);
  return result;
}
