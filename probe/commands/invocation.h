// invocation: one run of one command, and what the commands share.
#ifndef PERTOKEN_PROBE_COMMANDS_INVOCATION_H
#define PERTOKEN_PROBE_COMMANDS_INVOCATION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/evidence/catalog.h"
#include "probe/measure/protocol.h"
#include "probe/meters/users.h"
#include "probe/options/options.h"
#include "probe/options/serving_options.h"
#include "probe/sessions/serving_session.h"

#include <signal.h>
#include <stdbool.h>

struct invocation {
  struct arena *arena;
  struct diagnostics *diagnostics;
  const volatile sig_atomic_t *stop; // not 0: the signal that asked to stop
  bool quiet;                        // no warnings, notes and progress
  struct device_users users;         // before a backend was loaded; empty: not asked for
  bool differs;                      // a check or a verification found something out of tolerance
  bool is_partial;                   // a verification left something out
};

// "measured before, and not again unless you move this record away: ", before a record's path.
extern const char invocation_all_known[];

// Called once the command line has been read, by commands that have something to lose: from then on
// a signal asks to stop (interruption.h).
void invocation_begin(struct invocation *invocation, bool quiet);

// Whom to tell of progress; NULL: nobody sees it, or wants to.
void (*invocation_progress(const struct invocation *invocation))(const char *text);

// "pertoken-probe: KINDTEXT" on stderr, unless quiet; kind is "" or ends in a space.
void invocation_note(const struct invocation *invocation, const char *kind, const char *text);

// The installation's backends; loads their plugins.
const struct decode_backend *const *invocation_backends(const struct invocation *invocation);

// The catalogue of --data and --data-extra. Returns 0, or -1 after errors.
int invocation_open_catalog(const struct invocation *invocation,
                            const struct probe_options *options, struct catalog *catalog);

// How everything is measured here. The caller sets its device; the invocation must not move.
struct protocol invocation_protocol(const struct invocation *invocation,
                                    const struct probe_options *options);

// A session with a server, without a meter. The invocation must not move.
struct serving_session invocation_serving(struct invocation *invocation,
                                          const struct serving_options *options);

#endif
