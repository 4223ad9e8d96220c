// batch_curve: an option's throughputs at batches other than its own, from its evidence.
//
// From a record: its other results for the same model, types, context and number of devices, whole
// models only. From a serving record: the rungs of the closed loop that the throughput is from.
// From a row of data/throughput.csv: the rows of the same source that differ from it only in batch:
// not in accelerators used, parallelism, software, scenario, precision or lengths.
#ifndef PERTOKEN_MODEL_QUESTIONS_BATCH_CURVE_H
#define PERTOKEN_MODEL_QUESTIONS_BATCH_CURVE_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

struct batch_point {
  double batch;
  double throughput;  // token/h per accelerator, for the input `declaration`
  const char *source; // "tp0669", or the record's file
};

struct batch_curve {
  int declaration;            // throughput or decode_throughput
  struct batch_point *points; // by increasing batch, including the option's own
  size_t count;
};

// Finds the option's throughput by batch. Returns false if there are fewer than two points, or the
// option states its own throughput.
bool batch_curve_of(const struct scenario *scenario, const struct option *option,
                    struct batch_curve *batches, struct arena *arena);

#endif
