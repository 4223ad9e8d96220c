// production_read: what servers' own counters say of production, from range queries of Prometheus.
//
// Counters of vLLM (names of today and before), SGLang and llama-server. Series of several servers are
// added up. A counter that falls was reset, and what it shows since is counted; what it counted last
// before that is lost.
#ifndef PERTOKEN_MODEL_TELEMETRY_PRODUCTION_READ_H
#define PERTOKEN_MODEL_TELEMETRY_PRODUCTION_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/production.h"

#include <stdbool.h>
#include <stddef.h>

// Scrapes further apart leave a gap, of which nothing is said.
#define PRODUCTION_GAP_S 900.0

// Whether it is the answer of a range query that has one of these counters.
bool production_read_knows(const struct source *source);

// Fills in what the files [count] say, and leaves who served to the caller. Errors: what metrics.h
// refuses; no counter of output tokens; counters of two engines; nothing between two scrapes. Returns
// 0 or -1.
int production_read(const struct source *const *files, size_t count, int utc_offset_min,
                    struct production *production, struct arena *arena,
                    struct diagnostics *diagnostics);

#endif
