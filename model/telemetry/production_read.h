// production_read: what servers' own counters report about production, from range queries of
// Prometheus.
//
// Counters of vLLM (current and earlier names), SGLang and llama-server, of one model. Series of
// several servers are added up, those of one server in several files joined. A counter that falls
// was reset: what it has counted since then is added; what it counted between the last scrape and
// the reset is lost.
#ifndef PERTOKEN_MODEL_TELEMETRY_PRODUCTION_READ_H
#define PERTOKEN_MODEL_TELEMETRY_PRODUCTION_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/production.h"

#include <stdbool.h>
#include <stddef.h>

// Scrapes further apart leave a gap, about which nothing is known.
#define PRODUCTION_GAP_S 900.0

// Whether it is the answer of a range query with one of these counters.
bool production_read_knows(const struct source *source);

// Fills in what the files [count] contain, with the model as the servers call it, or ""; the caller
// states who served. Errors: what metrics.h and metrics_join.h refuse; no counter of output tokens;
// counters of two engines or models; no two scrapes without a gap.
// Returns 0 or -1.
int production_read(const struct source *const *files, size_t count, int utc_offset_min,
                    struct production *production, struct arena *arena,
                    struct diagnostics *diagnostics);

#endif
