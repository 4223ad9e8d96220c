// serving_check: puts a serving record's best load on its server again.
#ifndef PERTOKEN_PROBE_SESSIONS_SERVING_CHECK_H
#define PERTOKEN_PROBE_SESSIONS_SERVING_CHECK_H

#include "model/records/serving.h"
#include "probe/sessions/recheck.h"
#include "probe/sessions/serving_session.h"

#include <stdio.h>

// Measures the rung with the highest output rate again, at the URL of the record, with other
// prompts, and prints both results. Output tokens per second must agree within `tolerance`, a
// share. Of the session, stop, progress, announce, arena and diagnostics are set. An imported
// record has no server, which is an error.
enum recheck_outcome serving_recheck(struct serving_session *session,
                                     const struct serving_record *record, double tolerance,
                                     FILE *out);

#endif
