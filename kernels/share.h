// share: what one of several devices holds of a model that they hold together (tensor parallel;
// Shoeybi et al., Megatron-LM, arXiv 1909.08053): decode.h says what each computes with it.
//
// Of N ranks, rank r has the r-th of N equal parts of
//   the query heads: rows of wq, columns of wo
//   the KV heads: rows of wk and wv, and their cache; of fewer KV heads than ranks, N / kv_heads
//     neighbouring ranks have one each alike
//   the MLP: rows of gate and up, columns of down
//   the vocabulary: rows of head
// and embedding and norms whole.
#ifndef PERTOKEN_KERNELS_SHARE_H
#define PERTOKEN_KERNELS_SHARE_H

#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stdint.h>

// A rank's share as a shape by itself; the whole for fewer than two ranks.
struct decode_shape share_of(struct decode_shape shape, int ranks);

// Can it be divided among so many? Otherwise *size and *what say what cannot: 25, "heads".
bool share_divides(const struct decode_shape *shape, int ranks, int *size, const char **what);

// Where a rank's part of a tensor lies in the whole one: element (row, column) of the part has the
// index first + row * (columns of the part + beside) + column of weights.h. Of the cache, rows are
// batch and position.
struct share_part {
  uint64_t first, beside;
};
struct share_part share_part_of(const struct decode_shape *whole, enum tensor tensor, int rank,
                                int ranks);

#endif
