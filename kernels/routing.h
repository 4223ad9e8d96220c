// routing: forced choices of experts, made the same way for every backend from the seed, and how
// many distinct experts a batch touches. decode.h says what the policies mean.
#ifndef PERTOKEN_KERNELS_ROUTING_H
#define PERTOKEN_KERNELS_ROUTING_H

#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

#define ROUTING_STEPS 64 // after which the choices repeat

// NULL, or why the request's policy is impossible: "a skew below 0".
const char *routing_fault(const struct decode_request *request);

// Entries of a table [ROUTING_STEPS][layers][batch][chosen]; 0 if the model itself chooses.
size_t routing_entries(const struct decode_request *request);

// The table: the experts of each row of each step, all different, in no particular order; 0 in
// layers without experts. A row's experts are the same in a batch of any size. Step s since the
// state was made takes entry s % ROUTING_STEPS; a prefilled position p takes its row's entry of
// step p % ROUTING_STEPS.
void routing_fill(const struct decode_request *request, uint16_t *table);

// Distinct experts that a step touches with uniform routing, over all layers:
// (layers of experts) * count * (1 - (1 - chosen / count)^batch). A row misses an expert by
// 1 - chosen / count, and rows are independent.
double routing_expected(const struct decode_shape *shape, int batch);

#endif
