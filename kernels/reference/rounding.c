#include "kernels/reference/rounding.h"

#include "kernels/reference/stages.h"
#include "kernels/share.h"

#include <stdbool.h>

void reference_round_all(const struct reference *r, double *vectors, size_t width) {
  for (size_t i = 0; i < r->count; i++)
    reference_round(r->request.types.activations, vectors + i * width, width);
}

// Heads are divided equally, whatever blocks wo has.
static struct share_range part_of(const struct reference *r, enum tensor tensor, size_t width,
                                  int rank, int ranks) {
  const int equal = (int)width / ranks;
  return tensor == TENSOR_WO ? (struct share_range){rank * equal, equal}
                             : share_columns(&r->request.types, tensor, (int)width, rank, ranks);
}

void reference_round_parts(const struct reference *r, enum tensor tensor, double *vectors,
                           size_t count, size_t width) {
  const int ranks = r->request.ranks > 1 ? r->request.ranks : 1;
  for (size_t i = 0; i < count; i++)
    for (int rank = 0; rank < ranks; rank++) {
      const struct share_range part = part_of(r, tensor, width, rank, ranks);
      reference_round(r->request.types.activations, vectors + i * width + part.first,
                      (size_t)part.count);
    }
}

enum element reference_fine(const struct reference *r) {
  return r->request.types.activations == ELEMENT_F32 ? ELEMENT_F32 : ELEMENT_BF16;
}

enum element reference_head_activations(const struct decode_types *types) {
  const bool narrow = types->activations == ELEMENT_INT8 || types->activations == ELEMENT_E4M3;
  return narrow && types->head == ELEMENT_BF16 ? ELEMENT_BF16 : types->activations;
}
