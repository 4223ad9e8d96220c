#include "model/delivery/node_sample.h"

#include "base/statistics.h"
#include "model/delivery/fleet_item.h"

#include <math.h>

struct sampling {
  const struct fleet *fleet;
  const struct fleet_run *runs; // of the workload
  size_t run_count;
  struct node_measure measure;
  size_t records;
  struct node_sample sample;
  double squares; // of runs about their node's mean
};

static double measured(const struct sampling *sampling, size_t run) {
  const struct fleet_run *at = &sampling->runs[run];
  const struct fleet_latencies *latencies = at->latencies;
  switch (sampling->measure.measure) {
  case FLEET_WATTS: return at->power_w;
  case FLEET_WALL: return at->wall_w;
  case FLEET_TTFT:
    return latencies ? serving_latency_at(&latencies->ttft, sampling->measure.statistic) : NAN;
  case FLEET_TPOT:
    return latencies ? serving_latency_at(&latencies->tpot, sampling->measure.statistic) : NAN;
  default: return at->tokens_per_s;
  }
}

static size_t node_of(const struct sampling *sampling, size_t run) {
  return sampling->fleet->devices[sampling->runs[run].device].node;
}

// The number of runs of the same device, from `first` on and before `end`.
static size_t runs_of_device(const struct sampling *sampling, size_t first, size_t end) {
  size_t count = 1;
  while (first + count < end &&
         sampling->runs[first + count].device == sampling->runs[first].device)
    count++;
  return count;
}

// The mean over a node's devices of their run with this number.
static double mean_of_run(const struct sampling *sampling, size_t first, size_t end,
                          size_t number) {
  double sum = 0;
  for (size_t r = first, count; r < end; r += count) {
    count = runs_of_device(sampling, r, end);
    sum += measured(sampling, r + number);
  }
  return sum / (double)sampling->records;
}

static void add_node(struct sampling *sampling, size_t first, size_t end) {
  struct node_sample *sample = &sampling->sample;
  size_t devices = 0, runs = end - first, told = 0;
  double sum = 0, squares = 0;
  for (size_t r = first, count; r < end; r += count, devices++) {
    count = runs_of_device(sampling, r, end);
    runs = count < runs ? count : runs;
  }
  for (size_t r = 0; devices == sampling->records && r < runs; r++) {
    const double value = mean_of_run(sampling, first, end, r);
    sum += isnan(value) ? 0 : value;
    told += isnan(value) ? 0 : 1;
  }
  if (!told) {
    sample->partial_count++;
    return;
  }
  const double mean = sum / (double)told;
  for (size_t r = 0; told > 1 && r < runs; r++) {
    const double off = mean_of_run(sampling, first, end, r) - mean;
    squares += isnan(off) ? 0 : off * off;
  }
  sampling->squares += squares;
  sample->nodes[sample->count++] = (struct node_value){node_of(sampling, first), mean, told};
  sample->run_count += told;
}

static double deviation_of(const struct node_sample *sample, struct arena *arena) {
  double *values = arena_array(arena, sample->count + 1, sizeof *values), median;
  for (size_t n = 0; n < sample->count; n++)
    values[n] = sample->nodes[n].value;
  return robust_deviation(values, sample->count, &median);
}

static void summarise_nodes(struct sampling *sampling, struct arena *arena) {
  struct node_sample *sample = &sampling->sample;
  const double count = (double)sample->count;
  double sum = 0, squares = 0, shares = 0;
  for (size_t n = 0; n < sample->count; n++) {
    sum += sample->nodes[n].value;
    shares += 1 / (double)sample->nodes[n].runs;
  }
  sample->mean = sum / count;
  for (size_t n = 0; n < sample->count; n++)
    squares += pow(sample->nodes[n].value - sample->mean, 2);
  sample->deviation = sample->count > 1 ? sqrt(squares / (count - 1)) : NAN;
  sample->robust = sample->count > 2 ? deviation_of(sample, arena) : NAN;
  sample->run_freedom = (double)(sample->run_count - sample->count);
  sample->run_deviation =
      sample->run_freedom > 0 ? sqrt(sampling->squares / sample->run_freedom) : NAN;
  sample->run_variance = pow(sample->run_deviation, 2) * shares / count;
}

struct node_sample node_sample_of(const struct fleet *fleet, size_t workload,
                                  struct node_measure measure, size_t records,
                                  struct arena *arena) {
  const struct fleet_workload *at = &fleet->workloads[workload];
  struct sampling sampling = {.fleet = fleet,
                              .runs = &fleet->runs[at->first_run],
                              .run_count = at->run_count,
                              .measure = measure,
                              .records = records};
  sampling.sample.nodes = arena_array(arena, fleet->node_count + 1, sizeof(struct node_value));
  for (size_t first = 0, end; first < sampling.run_count; first = end) {
    for (end = first + 1;
         end < sampling.run_count && node_of(&sampling, end) == node_of(&sampling, first); end++) {
    }
    add_node(&sampling, first, end);
  }
  if (sampling.sample.count)
    summarise_nodes(&sampling, arena);
  return sampling.sample;
}

// The error that combines two independent estimates of variance, with Satterthwaite's degrees of
// freedom.
static struct node_error combined(double a, double a_freedom, double b, double b_freedom) {
  const double variance = a + b;
  const double inverse = (a > 0 ? pow(a / variance, 2) / a_freedom : 0) +
                         (b > 0 ? pow(b / variance, 2) / b_freedom : 0);
  return (struct node_error){sqrt(variance), inverse > 0 ? 1 / inverse : a_freedom + b_freedom};
}

struct node_error node_sample_error(const struct node_sample *sample, size_t nodes) {
  const double count = (double)sample->count, share = fmin(1, count / (double)nodes);
  const double between = pow(sample->deviation, 2) / count;
  if (isnan(sample->run_deviation))
    return (struct node_error){sqrt(between), count - 1};
  return combined(share < 1 ? (1 - share) * between : 0, count - 1,
                  share * sample->run_variance / count, sample->run_freedom);
}

struct node_error node_sample_node_error(const struct node_sample *sample, size_t runs) {
  if (isnan(sample->run_deviation))
    return (struct node_error){sample->robust, (double)sample->count - 1};
  return (struct node_error){sample->run_deviation / sqrt((double)runs), sample->run_freedom};
}

struct node_error node_sample_foreseen(const struct node_sample *sample, size_t count, size_t nodes,
                                       size_t runs) {
  const double n = (double)count, share = fmin(1, n / (double)nodes);
  const double between = pow(sample->deviation, 2) / n;
  const double run = isnan(sample->run_deviation) ? sample->deviation : sample->run_deviation;
  if (runs < 2)
    return (struct node_error){sqrt(between), n - 1};
  return combined(share < 1 ? (1 - share) * between : 0, n - 1,
                  share * run * run / (n * (double)runs), n * (double)(runs - 1));
}
