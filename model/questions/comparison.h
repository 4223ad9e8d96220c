// comparison: what one option costs compared with the baseline, period by period, and whether the
// more expensive purchase of the two earns back its extra outlay.
//
// Both are compared at the baseline's output: the option's amounts are multiplied by the baseline's
// tokens over its own, so that the total saving is the saving per token, a fraction, times the
// baseline's TCO. All in the selected case, in base units (USD, h).
#ifndef PERTOKEN_MODEL_QUESTIONS_COMPARISON_H
#define PERTOKEN_MODEL_QUESTIONS_COMPARISON_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// Whether the extra outlay of the more expensive purchase pays.
enum outlay {
  OUTLAY_NONE,         // both cost the same to buy
  OUTLAY_LOST,         // the sum of its flow is not above zero
  OUTLAY_UNDISCOUNTED, // it is, but its net present value is not above zero
  OUTLAY_PAYS,         // its net present value is above zero
  OUTLAYS
};

#define COMPARISON_LEAST_SHARE 0.01

struct comparison {
  const struct scenario *scenario;
  const struct option *option;
  double scale;        // the baseline's tokens over the option's
  const double *times; // [scenario->periods] h from the purchase to the period's end
  const double *saved; // [scenario->periods] the baseline's cash cost less the option's
  // +1: the option is the more expensive purchase; -1: the baseline is. `flow` is that of the more
  // expensive one: the extra outlay, below zero, then what it saves.
  int direction;
  const double *flow, *cumulative;                       // [scenario->periods]
  const double *discounted_flow, *discounted_cumulative; // at the baseline's discount rate
  double extra_outlay;                                   // -flow[0]
  double outlay_share; // of what the more expensive purchase costs at the outset; 0 without any
  // A share above 0 and below COMPARISON_LEAST_SHARE: a slight change of either price multiplies
  // the rate of return, or turns it, so there is none, and no payback.
  bool is_minor;
  enum outlay outlay;
  double saved_total, npv_saved; // what the option saves against the baseline, sum and NPV
  // NAN if the extra outlay is not earned back within the horizon, or minor.
  double irr;                         // per year
  double payback, discounted_payback; // h after the purchase
};

// The option must not be the baseline. NULL if the model lacks cash or tokens.
const struct comparison *comparison_ask(const struct scenario *scenario,
                                        const struct option *option, struct arena *arena);

// The rate per year at which flows[0] < 0, flows[1], ... at times[0], times[1], ... (h, ascending)
// have a net present value of zero; NAN unless the first is below zero and the sum above it, so
// that the rate is positive. With one or two changes of sign there is exactly one such rate
// (Descartes); with more, this is one of them.
double internal_rate(const double *flows, const double *times, int count);

// The time from which the sum of the flows is not below zero, by linear interpolation between the
// times of two flows; flows[0] is below zero. NAN if the sum stays below zero.
double payback_time(const double *flows, const double *times, int count);

#endif
