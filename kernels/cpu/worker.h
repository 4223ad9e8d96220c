// worker: what one thread works with during a step.
#ifndef PERTOKEN_KERNELS_CPU_WORKER_H
#define PERTOKEN_KERNELS_CPU_WORKER_H

#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/threads.h"

#include <stddef.h>
#include <stdint.h>

struct worker {
  struct decode_state *state;
  const struct plan *plan;
  const struct elementwise *elementwise;
  int thread;
  size_t first, vectors; // in the pass: those that enter the next product
  float *row;            // [row_floats], one vector
  int32_t *arranged;     // [arranged_words], the input of a product
  uint8_t *gathered;     // [gathered_bytes], the vectors of rows that chose one expert
  float *room; // results of up to four panels, [vectors][BLOCK_FLOATS], or what attention needs
};

static inline struct worker worker_of(struct decode_state *state, int thread) {
  const struct plan *plan = &state->plan;
  float *row = block_floats(state, BLOCK_ROOM) + (size_t)thread * plan->room_stride;
  float *arranged = row + plan->row_floats, *gathered = arranged + plan->arranged_words;
  return (struct worker){
      .state = state,
      .plan = plan,
      .elementwise = plan->kernels->elementwise,
      .thread = thread,
      .vectors = state->pass.vectors,
      .row = row,
      .arranged = (int32_t *)(void *)arranged,
      .gathered = (uint8_t *)gathered,
      .room = gathered + plan->gathered_bytes / sizeof(float),
  };
}

static inline void worker_wait(const struct worker *worker) {
  barrier_wait(&worker->state->barrier, worker->plan->threads);
}

#endif
