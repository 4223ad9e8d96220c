// token: the arguments of what begins and ends a step: a token's embedding, and the choice of the
// next one. And of reductions between ranks.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_TOKEN_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_TOKEN_H

#include <stdint.h>

enum {
  SAMPLE_BLOCKS = 64 // per row of the batch
};

// embed_HEAD: x[batch][hidden] = embedding[token] (times its scale, if any). Grid (batch), block
// SMALL_THREADS.
struct embed_arguments {
  const void *embedding; // [vocab][stride]
  const float *scales;   // [vocab] for E4M3, INT8 and NVFP4
  const int *tokens;     // [batch]
  int hidden, stride;
  float *x;
};

// sample: tokens[row] = index of the largest logit, the lowest of equals. Grid (SAMPLE_BLOCKS,
// batch), block SMALL_THREADS; the last block to arrive at counters[row] decides and resets it.
// With `keys`, on a rank whose logits begin at index `first`, it writes a 64-bit key instead of the
// token; the better the candidate, the larger the key. Its high half is the logit's bits, mapped so
// that they order as unsigned numbers, its low half ~index; 0 if no logit is a number. The largest
// key of all ranks determines the token. With `step`, adds one to it.
struct sample_arguments {
  const float *logits; // [batch][vocab]
  int vocab;
  float *best;        // [batch][SAMPLE_BLOCKS]
  int *best_index;    // [batch][SAMPLE_BLOCKS]
  unsigned *counters; // [batch]
  int *tokens;
  int first;
  uint64_t *keys; // [batch], or NULL
  int *step;      // [1], or NULL
};

// sample_key: tokens[row] = the index in keys[row], or 0 for none. Grid (1), block SMALL_THREADS.
struct sample_key_arguments {
  const uint64_t *keys; // [batch]
  int batch;
  int *tokens;
};

// all_reduce_sum (floats) and all_reduce_max (unsigned 64-bit numbers): not kernels of ours, but
// launches that a driver passes to the collective library: `memory` of each rank becomes, element
// by element, the sum or the maximum over all ranks. Grid and block are not used.
#define ALL_REDUCE_SUM "all_reduce_sum"
#define ALL_REDUCE_MAX "all_reduce_max"
struct all_reduce_arguments {
  void *memory; // [count]
  uint64_t count;
};

#endif
