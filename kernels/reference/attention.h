// attention: the first half of a layer, for all items of a pass.
#ifndef PERTOKEN_KERNELS_REFERENCE_ATTENTION_H
#define PERTOKEN_KERNELS_REFERENCE_ATTENTION_H

#include "kernels/reference/state.h"

// attention_output = wo * attention(...) of x. Every item's entry is written to the cache before
// any item reads it, so that positions of one prompt see each other.
void reference_attend(struct reference *reference, int layer);

#endif
