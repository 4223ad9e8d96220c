// arithmetic: which types a step's products multiply as stored, and which are converted first, in
// words: "native bf16; converted mxfp4 to bf16".
#ifndef PERTOKEN_KERNELS_ARITHMETIC_H
#define PERTOKEN_KERNELS_ARITHMETIC_H

#include "kernels/decode.h"

struct arithmetic {
  char native[64], converted[64]; // the two lists; each type and each pair appears once
};

// What is stored as `from` is multiplied as `as`: "f32", "bf16", "f16", "e4m3", "int8".
void arithmetic_add(struct arithmetic *arithmetic, enum element from, const char *as);

void arithmetic_tell(const struct arithmetic *arithmetic, struct decode_step_form *out);

#endif
