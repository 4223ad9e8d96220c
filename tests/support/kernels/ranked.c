#include "tests/support/kernels/ranked.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/kernels/compared.h"
#include "tests/support/library.h"

struct ranked ranked[RANKED] = {{.name = "emulatormma"}, {.name = "emulator64fnuz"}};

const int ranked_devices[4] = {3, 0, 2, 1};

const struct decode_types ranked_types[RANKED_TYPES] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};

int ranked_load(void **unused) {
  (void)unused;
  for (struct ranked *r = ranked; r < ranked + RANKED; r++) {
    r->library = library_open(r->name);
    r->backend = library_backend(r->library);
    if (!r->backend)
      return -1;
  }
  return 0;
}

int ranked_unload(void **unused) {
  (void)unused;
  for (struct ranked *r = ranked; r < ranked + RANKED; r++)
    dlclose(r->library);
  return 0;
}

int ranked_begin(void **unused) {
  static const char *const variables[] = {"EMULATOR_FAIL_LAUNCH", "EMULATOR_FAIL_DEVICE",
                                          "EMULATOR_FAIL_JOIN", "EMULATOR_MISS_REDUCE",
                                          "EMULATOR_SKIP_REDUCE"};
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  setenv("EMULATOR_DEVICES", "4", 1);
  alarm(RANKED_PATIENCE_S);
  return 0;
}

struct decode_shape ranked_shape(const struct decode_shape *shape, int ranks) {
  struct decode_shape divisible = *shape;
  divisible.vocab = RANKED_VOCAB;
  while (divisible.heads % ranks != 0)
    divisible.heads *= 2;
  return divisible;
}

struct decode_request ranked_request(const struct decode_shape *shape,
                                     const struct decode_types *types, int batch, int ranks) {
  return (struct decode_request){.shape = *shape,
                                 .types = *types,
                                 .batch = batch,
                                 .context = 67,
                                 .seed = 20,
                                 .ranks = ranks,
                                 .devices = ranked_devices};
}

void ranked_steps(size_t emulator, const struct decode_request *request, int steps) {
  ranked_steps_beside(emulator, request, request->ranks, steps);
}

void ranked_steps_beside(size_t emulator, const struct decode_request *request, int oracle_ranks,
                         int steps) {
  struct decode_request expected = *request;
  char what[160];
  snprintf(what, sizeof what, "%s, %d ranks, hidden %d, MLP %d, %d experts of %d in %d",
           ranked[emulator].name, request->ranks, request->shape.hidden, request->shape.ffn_hidden,
           request->shape.experts.count, request->shape.experts.hidden,
           (int)request->types.experts);
  expected.ranks = oracle_ranks;
  compared_steps(ranked[emulator].backend, request, &expected, what, steps);
}
