// attention: the attention of one decode step, in pieces that threads share.
#ifndef PERTOKEN_KERNELS_CPU_ATTENTION_H
#define PERTOKEN_KERNELS_CPU_ATTENTION_H

#include "kernels/cpu/state.h"

#include <stddef.h>

// The thread's pieces of a layer: turns queries and keys, stores key and value, attends. `room`
// [plan->room_stride] is scratch space.
void cpu_attend(const struct decode_state *state, size_t layer, int thread, float *room);

// Joins the parts of one row's items in BLOCK_ATTENDED; does nothing if there is only one part.
void cpu_attend_join(const struct decode_state *state, size_t row);

#endif
