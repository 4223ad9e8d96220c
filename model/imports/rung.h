// rung: one load of a file, as its reader fills it in, and what is checked before it counts.
#ifndef PERTOKEN_MODEL_IMPORTS_RUNG_H
#define PERTOKEN_MODEL_IMPORTS_RUNG_H

#include "model/imports/imported.h"
#include "model/records/serving.h"

#include <jansson.h>

// The load as stated by vLLM's client and its derivatives: max_concurrency, request_rate ("inf": as
// fast as the concurrency allows), burstiness (1: Poisson arrivals; other values have no named
// load).
void rung_set_load(struct import_reading *reading, struct serving_rung *rung, const json_t *value);

// The failed requests as stated by vLLM's client and its derivatives, once `completed` is set:
// their number, the requests with an error, or those without an answer, whichever are most. Some
// clients state none of them, or only with details. Fewer requests than prompts that were asked for
// are then those of a short data set, which a remark says; if it is not known which of them failed,
// the rung is refused.
void rung_set_failed(const struct import_reading *reading, struct serving_rung *rung,
                     const json_t *value);

// The watts from the energy that TensorRT-LLM's tools write: the difference, over `seconds`, of the
// counters of the GPUs of a host, times the number of such hosts. Without energy there are none;
// nor are there if `seconds` are not those of the rates.
void rung_set_energy(const struct import_reading *reading, struct serving_rung *rung,
                     double seconds);

// Totals of a file in addition to its rates; NAN if missing.
struct rung_totals {
  double input_tokens, output_tokens; // of all answered requests
  double total_tokens_per_s;          // input and output
};

// Adds a rung, after checks for consistency: what follows from the totals is filled in, percentiles
// of too few requests are left out, and failed or cached requests lead to its refusal. A number of
// failures that is not stated is listed as such.
//
// A client that limits the requests in flight holds others back once the limit is reached: the
// rate that was set is then not the load, and the time for which they were held back is in no
// latency. The limit has no effect if it is well above the requests that would be in flight at that
// rate, by Little's law: twice their mean, for phases in which the server is slower, and ten more,
// which Poisson arrivals of any rate stay within. Otherwise the load becomes unknown, with a
// remark; so it does if the file does not state how long a request takes, and if fewer requests
// were answered than should have been in flight.
//
// A goodput whose limits are not stated is left out, as nobody could use it.
//
// Errors: no rate; a rate that contradicts the totals, or one that includes input; latencies that
// contradict each other, the rates or the load (latencies.h); anything else that a record cannot
// have, such as a negative latency. Returns 0 or -1.
int rung_add(struct import_reading *reading, struct serving_rung *rung,
             const struct rung_totals *totals);

#endif
