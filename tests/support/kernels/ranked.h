// ranked: models on several emulated devices (tensor parallel), for the suites of ranks.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_RANKED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_RANKED_H

#include "kernels/decode.h"

#include <stddef.h>

enum { RANKED = 2, RANKED_VOCAB = 84, RANKED_TYPES = 4, RANKED_PATIENCE_S = 120 };

// Both kinds of emulator.
extern struct ranked {
  const char *name;
  void *library;
  const struct decode_backend *backend;
} ranked[RANKED];

// The ranks' devices: in no particular order.
extern const int ranked_devices[4];

// BF16; E4M3 weights; E4M3 activations as well; everything in E4M3 except the head.
extern const struct decode_types ranked_types[RANKED_TYPES];

// cmocka's set-up and tear-down of a group; and the set-up of each test, with four devices, none of
// which fails, and a hang counts as a failure.
int ranked_load(void **unused);
int ranked_unload(void **unused);
int ranked_begin(void **unused);

// A piece's shape with heads and a vocabulary that can be divided among that many ranks; its MLPs
// are unchanged.
struct decode_shape ranked_shape(const struct decode_shape *shape, int ranks);

struct decode_request ranked_request(const struct decode_shape *shape,
                                     const struct decode_types *types, int batch, int ranks);

// That many steps, which must equal those of an oracle with as many ranks, or with `oracle_ranks`.
void ranked_steps(size_t emulator, const struct decode_request *request, int steps);
void ranked_steps_beside(size_t emulator, const struct decode_request *request, int oracle_ranks,
                         int steps);

#endif
