// attention: the attention of one pass, in pieces shared among the threads.
#ifndef PERTOKEN_KERNELS_CPU_ATTENTION_H
#define PERTOKEN_KERNELS_CPU_ATTENTION_H

#include "kernels/cpu/state.h"

#include <stddef.h>

// Writes the thread's part of a prompt's keys and values to the cache, where all threads find them
// after a barrier; does nothing without a prompt. `room` [plan->room_stride] is scratch space.
void cpu_store_prompt(const struct decode_state *state, size_t layer, int thread, float *room);

// The thread's pieces of a layer: applies rope to queries (in steps also to keys), stores key and
// value, attends.
void cpu_attend(const struct decode_state *state, size_t layer, int thread, float *room);

// Merges the parts of one head of a vector that makes a step, at the place where attention leaves
// its sum of values: BLOCK_ATTENDED, or BLOCK_SUMS with latent attention. Does nothing if there is
// only one part.
void cpu_attend_join(const struct decode_state *state, size_t vector, size_t head);

#endif
