#include "probe/measure/pace.h"

#include "base/arena.h"

#include <math.h>
#include <stddef.h>

void pace_keep(struct pace *pace, double start_s, double end_s) {
  pace->chunks = arena_room(pace->arena, pace->chunks, pace->count, sizeof *pace->chunks);
  pace->chunks[pace->count++] = (struct pace_chunk){start_s, end_s};
}

double pace_in(const struct pace *pace, double start_s, double end_s) {
  double units = 0;
  if (!(end_s > start_s))
    return NAN;
  for (size_t i = 0; i < pace->count; i++) {
    const struct pace_chunk *chunk = &pace->chunks[i];
    const double inside = fmin(chunk->end_s, end_s) - fmax(chunk->start_s, start_s);
    if (inside > 0)
      units += pace->units * inside / (chunk->end_s - chunk->start_s);
  }
  return units / (end_s - start_s);
}
