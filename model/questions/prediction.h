// prediction: the serving throughput predicted from decode and prefill, next to what the server
// delivered.
//
// The formula is that of tco.ini for a throughput that was not measured: output_tokens /
// (input_tokens / prefill_throughput + output_tokens / decode_throughput), per accelerator.
// Decoding comes from records of the same accelerator, model and precision: at the number of
// requests that the server had in flight if they have that or lie around it, else at their nearest
// batch. The prefill rate is the option's own if it is typed, else that of an engine run that only
// read prompts, else that of the probe's prompts, if they have the served length or lie around it.
#ifndef PERTOKEN_MODEL_QUESTIONS_PREDICTION_H
#define PERTOKEN_MODEL_QUESTIONS_PREDICTION_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

struct prediction {
  double input_tokens, output_tokens; // of a request, as served
  double decode, prefill;             // token/s per accelerator; NAN: unknown
  const char *decode_source, *prefill_source;
  double served, predicted; // output token/s per accelerator
  const char *why;          // NULL, or what is missing, in words
};

// The prediction for an option whose throughput is from a serving record.
struct prediction prediction_of(const struct scenario *scenario, const struct option *option,
                                struct arena *arena);

#endif
