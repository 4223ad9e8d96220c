// pieces: the differences between model families, piece by piece and combined as in the families,
// with sizes that are not multiples of a tile or vector. For every backend's tests and for decode.c
// of stand_ins/hip.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_PIECES_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_PIECES_H

#include "kernels/decode.h"

#include <stddef.h>

enum { PIECE_VOCAB = 83, PIECE_LAYERS = 2 };

// `without` is the same with the piece omitted, which a comparison must detect at this context.
struct piece {
  const char *name;
  int context;
  struct decode_shape shape, without;
};

// By what a backend must support for them.
enum piece_kind { PIECE_DENSE, PIECE_EXPERTS, PIECE_LATENT };

// The i-th of a kind, NULL after the last.
const struct piece *piece_of(enum piece_kind kind, size_t i);

// The i-th of all kinds, one kind after the other; NULL after the last.
const struct piece *piece_at(size_t i);

// By its name; NULL: there is none.
const struct piece *piece_named(const char *name);

// The defaults, for dense pieces: three query heads read one KV head.
extern const struct decode_shape piece_plain;

#endif
