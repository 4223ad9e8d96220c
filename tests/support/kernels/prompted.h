// prompted: prompts on an emulator's backend, in chunks, compared with the oracle's and with the
// same prompt decoded token by token.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_PROMPTED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_PROMPTED_H

#include "kernels/decode.h"
#include "kernels/reference/reference.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"

#include <stdbool.h>
#include <stddef.h>

// For every request here; prompts go to the last row, PROMPTED_ROW.
enum { PROMPTED_BATCH = 2, PROMPTED_ROW = 1, PROMPTED_CONTEXT = 131, PROMPTED_MIXES = 3 };

extern const struct prompted_mix {
  const char *name;
  struct decode_types types;
} prompted_mixes[PROMPTED_MIXES];

struct decode_request prompted_request(const struct decode_shape *shape,
                                       const struct decode_types *types, int chunk);
// At most 300.
const int *prompted_tokens(int vocab);

// The next family that takes prompts on a GPU, from the *f-th on; NULL after the last.
const struct piece *prompted_piece(size_t *f);
// A router's outputs nearly tie, and no backend reports its choices for a prompt: in E4M3, where
// rounding changes them most, the oracle may choose another expert.
bool prompted_is_comparable(const struct piece *piece, size_t mix);

// Fails the test with the backend's message.
void prompted_ok(const struct emulated *plugin, enum decode_status status);

void prompted_take(const struct emulated *plugin, struct decode_state *state, int count, int chunk,
                   const int *tokens);
// To be freed with reference_destroy.
struct reference *prompted_oracle(const struct decode_request *request, int count);

// norm(device - oracle) / norm(oracle) of the row's logits; infinite if its token does not have the
// largest, or if another row's has changed.
double prompted_error(const struct emulated *plugin, struct decode_state *state,
                      const struct reference *oracle);

// The prompt, and a step of all rows after it; returns the text about what multiplied, valid until
// the next call.
const char *prompted_check(const struct emulated *plugin, const struct decode_request *request,
                           int count, const char *name);

// For any batch: a step of all rows at `position`; a prompt for `row`, beside each of whose chunks
// the others make a step there; and a step of all rows after the prompt. Every row is compared.
struct prompted_beside {
  int row, position, count;
};
void prompted_check_beside(const struct emulated *plugin, const struct decode_request *request,
                           const struct prompted_beside *beside, const char *name);

// The prompt on one state, decoded and then processed in chunks: the distance between the row's
// logits, as in prompted_error.
double prompted_decoded(const struct emulated *plugin, const struct decode_request *request,
                        int count, int chunk);

#endif
