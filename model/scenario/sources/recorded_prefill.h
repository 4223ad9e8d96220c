// recorded_prefill: how fast the device in a probe's record reads prompts, and its power meanwhile.
//
// A prompt of a measured length has the measured rate, with the record's grade. Between two
// measured lengths the time to the first token is interpolated (curve_interpolate), and the rate is
// graded projected. Outside them there is no rate: a shorter prompt is read at a lower rate, as the
// weights are read for fewer tokens, and so is a longer one, as more tokens are attended to.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_PREFILL_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_PREFILL_H

#include "base/arena.h"
#include "model/evidence/grade.h"
#include "model/records/measurement.h"
#include "model/records/recorded.h"
#include "model/scenario/sources/sources.h"

struct prompt_rate {
  double tokens_per_s; // of input, per device
  double load_power_w; // per device; NAN: no meter
  enum grade grade;
  const char *source; // record, device, length, library, in words
};

// The rate at which prompts of that many tokens are read, from the prompts of one result. Returns
// NULL, or why there is none, in words that follow "the record": "has no prompts", "measured
// prompts of 512 to 2048 tokens, not of 8192". Texts are in the arena.
const char *recorded_prefill_at(const struct measurement *result, double input_tokens,
                                struct prompt_rate *out, struct arena *arena);

// A caveat about what adding up prefill and decoding leaves out, with the error of adding that the
// record measured: a sentence without a full stop, in the arena.
const char *recorded_prefill_caveat(const struct measurement *result, struct arena *arena);

// Gives the option the record's prefill_throughput in every case, after its decode_throughput, of
// which `recorded` has what was chosen in each case, and, unless its file states a load_power, its
// prefill_power: also beside a prefill_throughput that is stated. Does nothing if the workload is
// decode only; what the record lacks goes to option->prefill_lack, and the option remains an upper
// bound.
void recorded_prefill_take(const struct sources *sources, const struct recorded *recorded);

#endif
