// latencies: whether a rung's latencies agree with each other, and with its rates and its load.
//
// A latency in another unit is wrong by a factor of 1,000, and one of something else by less. Of
// every request, end to end = TTFT + TPOT * (output tokens - 1), and requests per second times
// their seconds are those in flight (Little's law). Means obey both only roughly: a request's TPOT
// depends on its length, and a run has a ramp and a drain.
#ifndef PERTOKEN_MODEL_IMPORTS_LATENCIES_H
#define PERTOKEN_MODEL_IMPORTS_LATENCIES_H

#include "model/imports/imported.h"
#include "model/records/serving.h"

// The factor by which end to end, or the requests in flight, may differ from what follows from
// means of TTFT and TPOT. In InferenceX's published runs of one length it is 1.001; in a vLLM run
// of ShareGPT's conversations, all at once, 2.0 (vllm-project/vllm, pull request 18566).
#define LATENCIES_DIFFER 4

// The share of the concurrency that was set by which the requests in flight may exceed it, if they
// follow from the mean time end to end.
#define LATENCIES_OVER 0.15

// The slowest request's time over the mean, at most: while it ends, a closed loop drains. Samples
// have 0.92 to 1.00 of the requests in flight that were set.
#define LATENCIES_SLOWEST 20

// A time per output token below this, 20,000 token/s for one request, is in another unit, or that
// of text that came all at once.
#define LATENCIES_LEAST_TPOT_S 5e-5

// No first token comes in less than this share of the time of each other: it needs a step, too.
#define LATENCIES_LEAST_TTFT 0.1

// Makes unknown, and lists as not stated, latencies of 0: clients write them if nothing was
// streamed. A request of one token takes no time from token to token.
void latencies_forget(const struct import_reading *reading, struct serving_rung *rung);

// The mean time from a request's being sent to its last token; NAN if unknown.
double latencies_in_flight_s(const struct serving_rung *rung);

// Fills in the mean number in flight. Makes unknown, with a remark, a TPOT or TTFT that no server
// has. Errors, each naming the two figures: a mean that its own median, percentiles and deviation
// exclude; one of the laws above; a request that takes longer than the run. Returns 0 or -1.
int latencies_settle(const struct import_reading *reading, struct serving_rung *rung);

#endif
