// rehearsal: finds out which requests a server takes by sending it a few.
#ifndef PERTOKEN_PROBE_SERVING_REHEARSAL_H
#define PERTOKEN_PROBE_SERVING_REHEARSAL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/serving/prompt.h"
#include "probe/serving/server.h"

#include <signal.h>

struct rehearsal {
  double request_s;     // the shortest of those like the load's, each alone on the server
  const char *rejected; // fields that the server rejects: "min_tokens, ignore_eos"; "" if none
};

// Sends prompts of the lengths wanted in each form (PROMPT_IDS first, with all fields), one after
// another, until the server takes one, and sets form, fields and, if they matter, words of
// `prompt`. Each takes at most `limit_s`. It is an error if the server takes none, or if words
// cannot be counted because it reports no usage. Returns 0 or -1, the latter also when stopped.
int rehearse(const struct server *server, struct prompt *prompt, double limit_s,
             const volatile sig_atomic_t *stop, struct rehearsal *rehearsal, struct arena *arena,
             struct diagnostics *diagnostics);

#endif
