// order: by what each stage of a step in one launch knows that it can begin: by the marks of the
// floats that it is passed (device/machine/passed.h), or because all blocks have arrived.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_ORDER_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_ORDER_H

#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/launches/list.h"

#include <stdbool.h>

// A place where vectors are passed on: the last one, its length, and the mark that it has.
struct marked {
  const char *from, *end;
  const void *written;
  int count;
  enum streaming_mark mark;
};

enum { OF_X, OF_QKV, OF_ATTENDED, OF_FFN, MARKED };
struct order {
  struct marked marked[MARKED];
  int arrivals;    // of each block so far
  bool in_mixture; // the layer's experts have been chosen
};

// The order after the first stage, which clears all places, and in which each block arrives once.
struct order order_of(const struct launch_list *list);

// The next stage: sets its marks and what it awaits, and that of the stage before it, in whose
// array it is, at which blocks arrive.
void order_put(struct order *order, struct streaming_stage *stage);

#endif
