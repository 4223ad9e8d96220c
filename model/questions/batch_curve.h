// batch_curve: the throughputs of an option at other batches than its own, as its evidence has
// them.
//
// A record: its other results of the same model, types, context and number of devices, whole models
// alone. A serving record: the rungs of the closed loop that the throughput is from. A row of data/throughput.csv: the rows of the same source that differ from it in nothing but
// batch: not in accelerators used, parallelism, software, scenario, precision or lengths.
#ifndef PERTOKEN_MODEL_QUESTIONS_BATCH_CURVE_H
#define PERTOKEN_MODEL_QUESTIONS_BATCH_CURVE_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

struct batch_point {
  double batch;
  double throughput;  // token/h per accelerator, of the input that `declaration` names
  const char *source; // "tp0669", or the record's file
};

struct batch_curve {
  int declaration;            // throughput or decode_throughput
  struct batch_point *points; // by rising batch, the option's own among them
  size_t count;
};

// False where there are fewer than two points, or the option states a throughput of its own.
bool batch_curve_of(const struct scenario *scenario, const struct option *option,
                    struct batch_curve *batches, struct arena *arena);

#endif
