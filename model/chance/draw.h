// draw: uniform random numbers for (seed, name of the input, number of the draw), each computed
// directly, so that threads, processes and shards agree without communication.
//
// Random: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011) from Random123: the seed is the key, the counter is half the draw's number and a
// hash of the name, and each counter gives two draws of 52 bits. Another input changes nothing.
//
// Sobol: point n of Joe and Kuo's sequence, scrambled by a hash that flips each bit by the seed,
// the name and the bits before it (Laine and Karras, Computer Graphics Forum 30, 2011, as completed
// by Burley, Journal of Computer Graphics Techniques 9(4), 2020), so that every point is uniform
// and each replicate is an independent scrambling. An input's dimension is its number: an input
// added after the others changes nothing for them, and one inserted between them moves those after
// it to other dimensions. Inputs without a dimension are random.
#ifndef PERTOKEN_MODEL_CHANCE_DRAW_H
#define PERTOKEN_MODEL_CHANCE_DRAW_H

#include "base/vector.h"
#include "model/chance/sobol.h"

#include <stdbool.h>
#include <stdint.h>

// The number of inputs that can have a dimension. The other half of Sobol's dimensions is for a
// second, independent sample of the same inputs.
enum { DRAW_DIMENSIONS = SOBOL_DIMENSIONS / 2 };

enum draw_method { DRAW_SOBOL, DRAW_RANDOM, DRAW_METHODS };

// "sobol", "random"
extern const char *const draw_method_names[DRAW_METHODS];

struct draw_stream {
  bool sobol;
  uint32_t seed[2], name[2]; // of Philox
  uint32_t scramble;         // of Sobol
  uint32_t directions[SOBOL_BITS];
  uint32_t low[VECTOR_BLOCK]; // point 0 to VECTOR_BLOCK - 1, before scrambling
};

// Starts a stream. dimension: Sobol's; beyond SOBOL_DIMENSIONS the stream is random.
void draw_stream_start(struct draw_stream *stream, enum draw_method method, uint64_t seed,
                       const char *name, int dimension, uint32_t replicate);

// Draws first to first + VECTOR_BLOCK - 1, all strictly between 0 and 1. `first` is a multiple of
// VECTOR_BLOCK; for Sobol it is below 2^32.
void draw_uniforms(const struct draw_stream *stream, uint64_t first, double *u);

#endif
