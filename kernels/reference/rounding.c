#include "kernels/reference/rounding.h"

#include "kernels/reference/stages.h"

#include <stdbool.h>

void reference_round_all(const struct reference *r, double *vectors, size_t width) {
  for (size_t i = 0; i < r->count; i++)
    reference_round(r->request.types.activations, vectors + i * width, width);
}

void reference_round_parts(const struct reference *r, double *vectors, size_t count, size_t width) {
  const size_t ranks = r->request.ranks > 1 ? (size_t)r->request.ranks : 1;
  for (size_t part = 0; part < count * ranks; part++)
    reference_round(r->request.types.activations, vectors + part * (width / ranks), width / ranks);
}

enum element reference_fine(const struct reference *r) {
  return r->request.types.activations == ELEMENT_F32 ? ELEMENT_F32 : ELEMENT_BF16;
}

enum element reference_head_activations(const struct decode_types *types) {
  const bool narrow = types->activations == ELEMENT_INT8 || types->activations == ELEMENT_E4M3;
  return narrow && types->head == ELEMENT_BF16 ? ELEMENT_BF16 : types->activations;
}
