// hip_plugin: the HIP plugin as built, on the tests' own HIP runtime (tests/stand_ins/hip): its
// host side runs completely, its code objects are loaded and searched, and the host emulator
// computes its launches, whose results are compared with the oracle's. For suites that are deep
// only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_HIP_PLUGIN_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_HIP_PLUGIN_H

#include "tests/support/fixture.h"

#include <limits.h>

#include "kernels/decode.h"

enum { HIP_VOCAB = 203, HIP_BATCH = 5 }; // the most of a request here

// Weights, activations, KV, head, accumulation.
extern const struct decode_types hip_bf16, hip_e4m3;

// The plugin's backend, NULL if it was not built, and what the runtime and the libraries beside it
// count: allocations, communicators, and products that are alive or were multiplied.
struct hip_plugin {
  void *runtime, *plugin;
  const struct decode_backend *backend;
  int (*alive)(void), (*communicators)(void), (*products)(void), (*multiplied_type)(void);
  long (*multiplied)(void);
  char blaslt[PATH_MAX];
  void (*reset)(void);
};
extern struct hip_plugin hip;

// cmocka's set-up of a group, which refuses a plugin that was built from other sources than those
// here; and of each test: the runtime as new, without any variable.
int hip_load(void **unused);
int hip_begin(void **unused);
// Skips the test if the plugin was not built.
void hip_needed(void);

void hip_set(const char *variable, long value);
struct decode_request hip_request(const struct decode_types *types, int batch);

// Fails the test, with the backend's message, if there is none.
struct decode_state *hip_make(const struct decode_request *request);
// Two steps, the second one's logits into `logits`; both are compared with the oracle.
void hip_check_steps(const struct decode_request *request, float *logits);
// The first calls of everything that a state does, until one fails; then all others must.
enum decode_status hip_use(const struct decode_request *request);

// The backend's last message contains this; a request's step has this form, and its reason for
// falling back begins so.
void hip_expect_words(const char *fragment);
void hip_expect_form(const struct decode_request *request, const char *form, const char *fallback);

#endif
