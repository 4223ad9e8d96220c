// timing: what follows from the samples of a measured result: steps, tokens per second and their
// intervals. The probe tells its results by these functions, and the reader restates by them what
// earlier versions wrote.
#ifndef PERTOKEN_MODEL_RECORDS_TIMING_H
#define PERTOKEN_MODEL_RECORDS_TIMING_H

#include "base/arena.h"
#include "model/records/measurement.h"

#include <stdbool.h>

// The steps have settled when the interval of their mean has this half-width, as a share of it.
#define TIMING_SETTLED 0.005

// Whether a result has the samples that timing_tell needs: MIN_INTERVAL_SAMPLES, of each slice if
// it has slices.
bool timing_is_told(const struct measurement *result);

// Fills in a result from the samples of its steps, or of slices of the model: step_seconds, p5_s,
// p95_s, layer_seconds, tokens_per_s with its interval (NAN if the samples are too few or too few
// of them independent, or if it would reach a time of 0), flags.unconverged; of slices also their
// own times and slice_error_s, of a rank's share its own step. The slices are copied to the arena.
//
// Tokens per second are those over time, of the mean step: a step that takes three times as long as
// the others costs its seconds. step_seconds is the median, what a step takes when nothing
// interferes; of slices, which are added up, the extrapolated mean.
void timing_tell(struct measurement *result, struct arena *arena);

// The same of a prompt: `seconds` is the median, tokens_per_s are of the mean, as is the interval.
// It needs at least one sample.
void timing_tell_prompt(struct measurement_prefill *prompt, struct arena *arena);

// The mean seconds of a result's step, exchanges included, and of a prompt, by their samples; NAN
// without samples, and for slices.
double timing_step_mean(const struct measurement *result);
double timing_prompt_mean(const struct measurement_prefill *prompt);

#endif
