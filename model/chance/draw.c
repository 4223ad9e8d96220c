#include "model/chance/draw.h"

#include <Random123/philox.h>
#include <stdint.h>

const char *const draw_method_names[DRAW_METHODS] = {"sobol", "random"};

// FNV-1a, 64 bits.
static uint64_t hash_of(const char *name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *name; name++)
    hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
  return hash;
}

static philox4x32_ctr_t philox(const struct draw_stream *stream, uint64_t counter) {
  philox4x32_ctr_t words = {
      {(uint32_t)counter, (uint32_t)(counter >> 32), stream->name[0], stream->name[1]}};
  philox4x32_key_t key = {{stream->seed[0], stream->seed[1]}};
  return philox4x32(words, key);
}

void draw_stream_start(struct draw_stream *stream, enum draw_method method, uint64_t seed,
                       const char *name, int dimension, uint32_t replicate) {
  uint64_t hash = hash_of(name);
  *stream = (struct draw_stream){.sobol = method == DRAW_SOBOL && dimension < SOBOL_DIMENSIONS,
                                 .seed = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                                 .name = {(uint32_t)hash, (uint32_t)(hash >> 32)}};
  if (!stream->sobol)
    return;
  // A counter that no draw uses.
  stream->scramble = philox(stream, UINT64_MAX - replicate).v[0];
  sobol_directions(dimension, stream->directions);
  for (uint32_t n = 1; n < VECTOR_BLOCK; n++)
    stream->low[n] = stream->low[n & (n - 1)] ^ stream->directions[__builtin_ctz(n)];
}

static inline double to_unit(uint64_t bits) {
  return vector_from_bits(0x3ff0000000000000 | bits >> 12) - (1 - 0x1p-53);
}

static void random_uniforms(const struct draw_stream *stream, uint64_t first, double *u) {
  for (uint64_t i = 0; i < VECTOR_BLOCK; i += 2) {
    philox4x32_ctr_t words = philox(stream, (first + i) / 2);
    u[i] = to_unit((uint64_t)words.v[0] << 32 | words.v[1]);
    u[i + 1] = to_unit((uint64_t)words.v[2] << 32 | words.v[3]);
  }
}

static inline uint32_t scrambled(uint32_t x, uint32_t seed) {
  x += seed;
  x ^= x * 0x6c50b47c;
  x ^= x * 0xb82f1e52;
  x ^= x * 0xc7afe638;
  x ^= x * 0x8d22f6e6;
  return x;
}

static inline uint32_t reversed(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
  return x >> 16 | x << 16;
}

VECTOR_CLONES static void sobol_uniforms(const struct draw_stream *stream, uint32_t high,
                                         double *u) {
  uint32_t seed = stream->scramble;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    uint32_t x = reversed(scrambled(stream->low[i] ^ high, seed));
    // The whole number in the last bits of 2^52 + x, and half a step so that 0 is never drawn.
    u[i] = (vector_from_bits(0x4330000000000000 | (uint64_t)x) - (0x1p52 - 0.5)) * 0x1p-32;
  }
}

void draw_uniforms(const struct draw_stream *stream, uint64_t first, double *u) {
  if (!stream->sobol) {
    random_uniforms(stream, first, u);
    return;
  }
  uint32_t high = 0;
  for (uint64_t rest = first; rest; rest &= rest - 1)
    high ^= stream->directions[__builtin_ctzll(rest)];
  sobol_uniforms(stream, high, u);
}
