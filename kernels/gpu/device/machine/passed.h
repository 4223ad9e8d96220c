// passed: the floats that one stage of a step passes on to the next.
//
// In launches they are published like anything else, and are there once the launch has waited for
// the previous one. In a step in one launch (streaming.h) most stages do not wait for the one
// before as a whole. There each float says by itself whether it has been passed on: its lowest bit
// is the mark of the stage that did, 0 and 1 in turn for each place in memory. So who needs a float
// loads it until it has the mark, and neither side orders memory: on an H200 a fence takes 0.14 us
// with nothing on its way to the multiprocessor, but 8.7 us with 192 KB of weights, and a barrier
// of all blocks takes 0.85 or 18 us; a load that finds its line in L2 takes 0.14 or 1.6 us
// (docs/gpu-model.md). The mark changes a float by at most its last place.
//
// What is passed is loaded only as here, as many floats at a time as before; streaming.h replaces
// the functions:
//   struct passing passing;
//   do {
//     passing = passing_begins();
//     x = load_passed(from, 4, &passing);
//     ...
//   } while (passed_again(passing));
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PASSED_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PASSED_H

#include "kernels/gpu/device/machine/platform.h"

#include <stddef.h>

// What has been found in some loads.
struct passing {
  uint32_t mark;  // that is awaited
  uint32_t other; // its lowest bit: whether some float has another
  const void *at; // such a float, or its neighbor
};

DEVICE struct passing passing_begins(void) {
  return {};
}
// Four floats, of which only the first `count` are passed; or one.
DEVICE struct words4 load_passed(const float *from, int, struct passing *) {
  return load_published(from);
}
DEVICE float load_passed_float(const float *from, struct passing *) {
  return load_published_float(from);
}
// One that this block has found passed before, or has passed on itself.
DEVICE float load_passed_known(const float *from) {
  return load_published_float(from);
}
DEVICE void pass(float *to, float v) {
  publish(to, v);
}
// Whether something had not been passed on.
DEVICE bool passed_again(const struct passing &) {
  return false;
}
// A courtesy: waits for one of `count` floats, so that those who wait load little meanwhile.
DEVICE void await_passed(const float *, int) {}

#endif
