// ladder: which loads are put on a server, one after another, depending on the previous results.
#ifndef PERTOKEN_PROBE_SERVING_LADDER_H
#define PERTOKEN_PROBE_SERVING_LADDER_H

#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_LADDER = 32 };

// The climb ends at a doubled concurrency that gains less than this.
#define LADDER_GROWTH 0.03

// A rate meets an SLO if at least this share of its window's requests met it: the "SLO attainment"
// of DistServe (Zhong et al., OSDI 2024). A window of a minute has enough requests for that.
#define LADDER_ATTAINMENT 0.9

struct ladder {
  int concurrencies[MAX_LADDER];
  size_t count; // of these; 0: 1, 2, 4, ... until it no longer helps
  int most;     // the highest of these, if count is 0
  double rates[MAX_LADDER];
  size_t rate_count;
  bool rates_are_shares; // of the best rate that was found; otherwise requests per second
};

struct ladder_step {
  enum serving_load load; // LOAD_CLOSED, LOAD_POISSON
  size_t concurrency;
  double rate_per_s;
};

// What comes next after the rungs [count], refused ones among them: first concurrencies, then
// rates. False: nothing. A refused rung ends a climb by doubling, and shares of a rate that no rung
// shows are left out.
bool ladder_next(const struct ladder *ladder, const struct serving_rung *rungs, size_t count,
                 struct ladder_step *step);

// The number of steps that may come, all together, from the start.
size_t ladder_most_steps(const struct ladder *ladder);

// Requests per second that the best of the closed rungs answered; NAN: none is valid.
double ladder_best_rate(const struct serving_rung *rungs, size_t count);

// Goodput: the highest rate of arrivals at which the SLO was met; NAN if it was met at none.
double ladder_goodput(const struct serving_rung *rungs, size_t count);

#endif
