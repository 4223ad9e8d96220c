// ladder: which loads are put on a server, one after the other, by what those before showed.
#ifndef PERTOKEN_PROBE_SERVING_LADDER_H
#define PERTOKEN_PROBE_SERVING_LADDER_H

#include "model/evidence/serving.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_LADDER = 32 };

// A doubled concurrency that gives less than so much more is the last.
#define LADDER_GROWTH 0.03

// A rate holds an SLO if so many of its window's requests kept it: the "SLO attainment" of DistServe
// (Zhong et al., OSDI 2024), for which a window of a minute has requests enough.
#define LADDER_ATTAINMENT 0.9

struct ladder {
  int concurrencies[MAX_LADDER];
  size_t count; // of these; 0: 1, 2, 4, ... until it is no use
  int most;     // then
  double rates[MAX_LADDER];
  size_t rate_count;
  bool rates_are_shares; // of the best rate that was found; else requests per second
};

struct ladder_step {
  enum serving_load load; // LOAD_CLOSED, LOAD_POISSON
  size_t concurrency;
  double rate_per_s;
};

// What is next after the rungs [count], refused ones among them: first concurrencies, then rates.
// False: nothing. A refused rung ends a climb by doubling, and shares of a rate that no rung shows are
// left out.
bool ladder_next(const struct ladder *ladder, const struct serving_rung *rungs, size_t count,
                 struct ladder_step *step);

// Steps that may come, all of them, from nothing.
size_t ladder_most_steps(const struct ladder *ladder);

// Requests per second that the best of the closed rungs answered; NAN: none stands.
double ladder_best_rate(const struct serving_rung *rungs, size_t count);

// Goodput: the highest rate of arrivals at which the SLO held; NAN where it held at none.
double ladder_goodput(const struct serving_rung *rungs, size_t count);

#endif
