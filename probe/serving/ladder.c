#include "probe/serving/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct serving_rung *closed_rung(const struct serving_rung *rungs, size_t count,
                                              double concurrency) {
  for (size_t i = 0; i < count; i++)
    if (rungs[i].load == LOAD_CLOSED && rungs[i].concurrency == concurrency)
      return &rungs[i];
  return NULL;
}

static bool has_rate(const struct serving_rung *rungs, size_t count, double rate_per_s) {
  for (size_t i = 0; i < count; i++)
    if (rungs[i].load == LOAD_POISSON && fabs(rungs[i].request_rate / rate_per_s - 1) < 1e-9)
      return true;
  return false;
}

double ladder_best_rate(const struct serving_rung *rungs, size_t count) {
  double best = NAN;
  for (size_t i = 0; i < count; i++)
    if (rungs[i].load == LOAD_CLOSED && !*rungs[i].refused)
      best = fmax(best, rungs[i].output_tokens_per_s / rungs[i].output_tokens);
  return best;
}

// ---- concurrencies

static int next_doubling(const struct ladder *ladder, const struct serving_rung *rungs,
                         size_t count) {
  double before = NAN;
  for (int concurrency = 1; concurrency <= ladder->most; concurrency *= 2) {
    const struct serving_rung *rung = closed_rung(rungs, count, concurrency);
    if (!rung)
      return concurrency;
    if (*rung->refused || rung->output_tokens_per_s < (1 + LADDER_GROWTH) * before)
      return 0;
    before = rung->output_tokens_per_s;
  }
  return 0;
}

static int next_listed(const struct ladder *ladder, const struct serving_rung *rungs,
                       size_t count) {
  for (size_t i = 0; i < ladder->count; i++)
    if (!closed_rung(rungs, count, ladder->concurrencies[i]))
      return ladder->concurrencies[i];
  return 0;
}

// ---- rates

// A rate with three digits, for people to read and to type.
static double rounded(double rate_per_s) {
  char text[32];
  snprintf(text, sizeof text, "%.3g", rate_per_s);
  return strtod(text, NULL);
}

// NAN: none.
static double next_rate(const struct ladder *ladder, const struct serving_rung *rungs,
                        size_t count) {
  const double best = ladder->rates_are_shares ? ladder_best_rate(rungs, count) : 1;
  for (size_t i = 0; i < ladder->rate_count && best > 0; i++) {
    const double rate =
        ladder->rates_are_shares ? rounded(ladder->rates[i] * best) : ladder->rates[i];
    if (!has_rate(rungs, count, rate))
      return rate;
  }
  return NAN;
}

bool ladder_next(const struct ladder *ladder, const struct serving_rung *rungs, size_t count,
                 struct ladder_step *step) {
  const int concurrency =
      ladder->count ? next_listed(ladder, rungs, count) : next_doubling(ladder, rungs, count);
  const double rate = concurrency ? NAN : next_rate(ladder, rungs, count);
  *step = (struct ladder_step){concurrency ? LOAD_CLOSED : LOAD_POISSON, (size_t)concurrency, rate};
  return concurrency || !isnan(rate);
}

size_t ladder_most_steps(const struct ladder *ladder) {
  size_t doublings = 0;
  for (int concurrency = 1; concurrency <= ladder->most; concurrency *= 2)
    doublings++;
  return (ladder->count ? ladder->count : doublings) + ladder->rate_count;
}

// ---- what they show

double ladder_goodput(const struct serving_rung *rungs, size_t count) {
  double best = NAN;
  for (size_t i = 0; i < count; i++) {
    const struct serving_rung *rung = &rungs[i];
    const bool holds = rung->goodput_per_s * rung->window_s >= LADDER_ATTAINMENT * rung->completed;
    if (rung->load == LOAD_POISSON && !*rung->refused && holds)
      best = fmax(best, rung->request_rate);
  }
  return best;
}
