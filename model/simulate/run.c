#include "model/simulate/run.h"

#include "base/vector.h"
#include "model/chance/draw.h"

#include <stdint.h>

bool run_is_stopped(const struct simulation_run *run) {
  return run->stop && *run->stop;
}

// The blocks of a replicate are consecutive; each replicate has a new scrambling.
unsigned run_replicate(const struct simulation_run *run, uint64_t block, uint64_t *first_draw) {
  unsigned replicates = run->frame.replicates;
  unsigned replicate = (unsigned)(((block + 1) * replicates - 1) / run->blocks);
  uint64_t start = run->blocks * replicate / replicates;
  *first_draw = (run->frame.method == DRAW_SOBOL ? block - start : block) * VECTOR_BLOCK;
  return replicate;
}

size_t run_draws_in(const struct simulation_run *run, uint64_t block) {
  uint64_t rest = run->frame.draws - block * VECTOR_BLOCK;
  return rest < VECTOR_BLOCK ? (size_t)rest : VECTOR_BLOCK;
}

uint64_t run_pilot_blocks(const struct simulation_run *run) {
  enum { PILOT_BLOCKS = 16 };
  return run->blocks < PILOT_BLOCKS ? run->blocks : PILOT_BLOCKS;
}

uint64_t run_pilot_draws(const struct simulation_run *run) {
  const uint64_t room = run_pilot_blocks(run) * VECTOR_BLOCK;
  return run->frame.draws < room ? run->frame.draws : room;
}

uint64_t run_bad_block(const struct simulation_run *run) {
  uint64_t block;
#pragma omp atomic read
  block = run->bad_block;
  return block;
}
