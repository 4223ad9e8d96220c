// attention: the attention of one pass, in pieces that threads share.
#ifndef PERTOKEN_KERNELS_CPU_ATTENTION_H
#define PERTOKEN_KERNELS_CPU_ATTENTION_H

#include "kernels/cpu/state.h"

#include <stddef.h>

// Puts the thread's part of a prompt's keys and values into the cache, where all threads find them
// after a barrier; does nothing without a prompt. `room` [plan->room_stride] is scratch space.
void cpu_store_prompt(const struct decode_state *state, size_t layer, int thread, float *room);

// The thread's pieces of a layer: turns queries and, of steps, keys, stores key and value, attends.
void cpu_attend(const struct decode_state *state, size_t layer, int thread, float *room);

// Joins the parts of a head of a vector that makes a step, where attention leaves its sum of values:
// in BLOCK_ATTENDED, of latent attention in BLOCK_SUMS. Does nothing if there is only one part.
void cpu_attend_join(const struct decode_state *state, size_t vector, size_t head);

#endif
