// pace: when a load's chunks of work ran, and so how fast it went within a window.
#ifndef PERTOKEN_PROBE_MEASURE_PACE_H
#define PERTOKEN_PROBE_MEASURE_PACE_H

#include "base/arena.h"

#include <stddef.h>

struct pace_chunk {
  double start_s, end_s; // of one clock
};

struct pace {
  double units;        // of work in a chunk: steps, prompts
  struct arena *arena; // of the chunks
  struct pace_chunk *chunks;
  size_t count;
};

// Adds a chunk; they come in order.
void pace_keep(struct pace *pace, double start_s, double end_s);

// Units per second from start_s to end_s: chunks that are partly within count in part. NAN if the
// window is empty or unknown (NAN).
double pace_in(const struct pace *pace, double start_s, double end_s);

#endif
