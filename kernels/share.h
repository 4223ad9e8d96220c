// share: one device's share of a model that several devices hold together (tensor parallel; Shoeybi
// et al., Megatron-LM, arXiv 1909.08053): decode.h says what each computes with it.
//
// Of N ranks, rank r has the r-th of N equal parts of
//   the query heads: rows of wq, columns of wo, sinks
//   the KV heads: rows of wk and wv, and their cache; with fewer KV heads than ranks,
//     N / kv_heads neighboring ranks hold the same one
//   the vocabulary: rows of head
// and parts as equal as possible of
//   the MLP, each expert and the shared one: rows of gate and up, columns of down. They are cut
//     between blocks of down's weights with one scale, or between any two without blocks, and the
//     first ranks have one more where N does not divide them: four ranks have 23, 23, 22 and 22 of
//     gpt-oss's 90 blocks. No rank's share is larger than the first's
// with the biases of the rows it has. Embedding, norms, routers and the biases of wo and down are
// whole on every rank; only the first rank adds the latter biases. With latent attention a rank has
// its heads' q_b (or wq), k_b, v_b and columns of wo; q_a, kv_a and the cache, which all heads
// read, are whole.
#ifndef PERTOKEN_KERNELS_SHARE_H
#define PERTOKEN_KERNELS_SHARE_H

#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stdint.h>

struct share {
  const struct decode_shape *whole;
  const struct decode_types *types;
  int rank, ranks; // 0 or 1 ranks: the whole
};

// The share as a shape of its own.
struct decode_shape share_shape(const struct share *share);

// Whether it can be divided among that many. Otherwise *size and *what say what cannot: 25,
// "heads".
bool share_divides(const struct decode_shape *shape, int ranks, int *size, const char **what);

// With weights that have a scale per block, each rank's columns of wo must be whole blocks, and
// each down must have at least one block per rank. NULL if so, otherwise `words`: "4 devices would
// each have 80 columns of the heads, ...".
enum { SHARE_WORDS = 160 };
const char *share_cut(const struct decode_shape *whole, const struct decode_types *types, int ranks,
                      char words[SHARE_WORDS]);

// A rank's part of `size` columns of a `down`, or of that many rows of its gate and up.
struct share_range {
  int first, count;
};
struct share_range share_columns(const struct decode_types *types, enum tensor down, int size,
                                 int rank, int ranks);

// Where a rank's part of a tensor is in the whole one: element (row, column) of the part has the
// index first + row * (columns of the part + beside) + column of weights.h. For the cache, rows are
// batch and position; for the biases of experts' gate and up, experts. For the part's expert e, e *
// expert is added if `expert` is not 0, and rows count from the expert's first.
struct share_part {
  uint64_t first, beside, expert;
};
struct share_part share_part_of(const struct share *share, enum tensor tensor);

#endif
