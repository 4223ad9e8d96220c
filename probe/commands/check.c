#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/json_in.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/commands/progress.h"
#include "probe/measure/protocol.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"
#include "probe/options/options.h"
#include "probe/sessions/recheck.h"
#include "probe/sessions/serving_check.h"
#include "probe/sessions/serving_session.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Reports nothing: whoever reads the file for its contents does.
static bool is_serving_record(const char *path, struct arena *arena) {
  struct diagnostics unread = {.arena = arena};
  const struct source *source;
  json_t *object = json_in_read(path, "", &source, arena, &unread);
  const bool is_one = object && serving_is_one(object);
  json_decref(object);
  return is_one;
}

static enum recheck_outcome check_serving(struct invocation *invocation,
                                          const struct probe_options *options) {
  struct serving_session session = invocation_serving(invocation, NULL); // the record has them
  const struct serving_record *record =
      serving_read(options->record, invocation->arena, invocation->diagnostics);
  return record ? serving_recheck(&session, record, options->tolerance, stdout) : RECHECK_FAILED;
}

static enum recheck_outcome check_decoding(struct invocation *invocation,
                                           const struct probe_options *options) {
  invocation->users = device_users_find(&machine_meters, invocation->arena);
  const struct protocol protocol = invocation_protocol(invocation, options);
  return recheck(&protocol, options, invocation_backends(invocation), stdout);
}

int probe_check(struct invocation *invocation, int argc, char **argv) {
  const struct probe_options options =
      probe_options_parse(COMMAND_CHECK, argc, argv, invocation->arena);
  invocation_begin(invocation, options.quiet);
  const enum recheck_outcome outcome = is_serving_record(options.record, invocation->arena)
                                           ? check_serving(invocation, &options)
                                           : check_decoding(invocation, &options);
  progress_clear();
  invocation->differs = outcome == RECHECK_DIFFERS;
  return outcome == RECHECK_FAILED ? -1 : 0;
}
