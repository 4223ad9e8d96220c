// prediction: what decode and prefill predict of a server, beside what it did.
//
// The formula is tco.ini's of a throughput that nobody measured: output_tokens / (input_tokens /
// prefill_throughput + output_tokens / decode_throughput), per accelerator. Decoding is of the
// records of the same accelerator, model and precision: at as many requests as the server had in
// flight where they have that or lie around it, else at their nearest batch. The prefill rate is the
// option's own where it is typed, else that of an engine run that only read prompts.
#ifndef PERTOKEN_MODEL_QUESTIONS_PREDICTION_H
#define PERTOKEN_MODEL_QUESTIONS_PREDICTION_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

struct prediction {
  double input_tokens, output_tokens; // of a request, as served
  double decode, prefill;             // token/s per accelerator; NAN: not known
  const char *decode_source, *prefill_source;
  double served, predicted; // token/s of output per accelerator
  const char *why;          // NULL, or what is missing, in words
};

// Of an option whose throughput is from a serving record.
struct prediction prediction_of(const struct scenario *scenario, const struct option *option,
                                struct arena *arena);

#endif
