#include "tests/support/kernels/hip_plugin.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/support/library.h"

#define PLUGIN "build/lib/pertoken/hip.so"

static const struct decode_shape shape = {.layers = 2,
                                          .hidden = 72,
                                          .heads = 6,
                                          .kv_heads = 2,
                                          .head_dim = 40,
                                          .ffn_hidden = 101,
                                          .vocab = HIP_VOCAB,
                                          .norm_epsilon = 1e-5f,
                                          .rope_theta = 1e4f};
const struct decode_types hip_bf16 = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16,
                                      ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};
const struct decode_types hip_e4m3 = {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3,
                                      ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};

static const char *const variables[] = {
    "FAKE_HIP_DEVICES",     "FAKE_HIP_PARTITIONS",  "FAKE_HIP_ARCHITECTURE", "FAKE_HIP_MACHINE",
    "FAKE_HIP_MEMORY",      "FAKE_HIP_NO_CAPTURE",  "FAKE_HIP_FAIL_LAUNCH",  "FAKE_HIP_FAIL_DEVICE",
    "FAKE_RCCL_FAIL_INIT",  "FAKE_RCCL_RANK",       "FAKE_RCCL_FAIL_REDUCE", "FAKE_RCCL_HANG",
    "FAKE_RCCL_NO_CAPTURE", "FAKE_HIP_COOPERATIVE", "FAKE_HIP_RESIDENT",     "PERTOKEN_GPU_TUNING",
    "FAKE_BLASLT_FAIL",     "FAKE_BLASLT_NO_WAY",   "FAKE_BLASLT_WORKSPACE", "FAKE_BLASLT_VERSION",
    "FAKE_HIP_FAIL_RECORD", "FAKE_HIP_AT_ONCE"};

struct hip_plugin hip;

// Whether the plugin is of the sources as they are now: `make GPU=no` does not build it again.
static bool is_current(void) {
  char hash[64] = "";
  FILE *make = popen("MAKEFLAGS= make -s GPU=no gpu-hash", "r");
  const bool is_read = make && fgets(hash, sizeof hash, make);
  hash[strcspn(hash, "\n")] = 0;
  if (make)
    pclose(make);
  if (is_read && !strcmp(hip.backend->build, hash))
    return true;
  print_error(PLUGIN " was built from other sources (%s) than those here (%s): run `make`\n",
              hip.backend->build, *hash ? hash : "unknown");
  return false;
}

int hip_load(void **unused) {
  (void)unused;
  decode_plugin *plugin;
  Dl_info where;
  if (access(PLUGIN, R_OK) != 0)
    return 0; // built without clang: every test is skipped
  hip.runtime = library_open("fake_hip");
  *(void **)&hip.alive = library_symbol(hip.runtime, "fake_hip_alive");
  *(void **)&hip.communicators = library_symbol(hip.runtime, "fake_rccl_alive");
  *(void **)&hip.reset = library_symbol(hip.runtime, "fake_hip_reset");
  if (!hip.reset || !dladdr(library_symbol(hip.runtime, "hipMalloc"), &where))
    return -1;
  setenv("PERTOKEN_HIP_LIBRARY", where.dli_fname, 1);
  setenv("PERTOKEN_RCCL_LIBRARY", where.dli_fname, 1);
  void *blaslt = library_open("fake_hipblaslt");
  *(void **)&hip.products = library_symbol(blaslt, "fake_blaslt_alive");
  *(void **)&hip.multiplied_type = library_symbol(blaslt, "fake_blaslt_type");
  *(void **)&hip.multiplied = library_symbol(blaslt, "fake_blaslt_products");
  if (!hip.multiplied || !dladdr(library_symbol(blaslt, "fake_blaslt_alive"), &where))
    return -1;
  snprintf(hip.blaslt, sizeof hip.blaslt, "%s", where.dli_fname);
  hip.plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  *(void **)&plugin = library_symbol(hip.plugin, DECODE_PLUGIN);
  hip.backend = plugin();
  return hip.backend->abi == DECODE_ABI && is_current() ? 0 : -1;
}

int hip_begin(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  setenv("PERTOKEN_HIPBLASLT_LIBRARY", hip.blaslt, 1);
  if (hip.reset)
    hip.reset();
  return 0;
}

void hip_needed(void) {
  if (!hip.backend) {
    print_message("no " PLUGIN ": built without clang 19\n");
    skip();
  }
}

void hip_set(const char *name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  setenv(name, text, 1);
}

struct decode_request hip_request(const struct decode_types *types, int batch) {
  return (struct decode_request){
      .shape = shape, .types = *types, .batch = batch, .context = 70, .seed = 20};
}

void hip_expect_words(const char *fragment) {
  if (!strstr(hip.backend->error(), fragment))
    fail_msg("expected '%s' in '%s'", fragment, hip.backend->error());
}

struct decode_state *hip_make(const struct decode_request *request) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = hip.backend->create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, hip.backend->error());
  return state;
}

void hip_check_steps(const struct decode_request *request, float *logits) {
  enum decode_status status;
  int tokens[HIP_BATCH];
  struct reference *reference = reference_create(request, &status);
  struct decode_state *state = hip_make(request);
  for (int step = 0; step < 2; step++) {
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_OK);
    assert_int_equal(reference_set_tokens(reference, tokens), 0);
    reference_step(reference);
    memset(logits, 0xFF, (size_t)request->batch * (size_t)request->shape.vocab * sizeof *logits);
    assert_int_equal(hip.backend->run(state, 1), DECODE_OK);
    assert_int_equal(hip.backend->logits(state, logits), DECODE_OK);
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_OK);
    const struct reference_verdict verdict =
        reference_check(reference, logits, tokens, reference_tolerance(&request->types));
    if (!verdict.pass)
      fail_msg("batch %d: error %g, shortfall %g", request->batch, verdict.error,
               verdict.shortfall);
  }
  hip.backend->destroy(state);
  reference_destroy(reference);
}

void hip_expect_form(const struct decode_request *request, const char *form, const char *fallback) {
  struct decode_step_form found;
  struct decode_state *state = hip_make(request);
  hip.backend->step_form(state, &found);
  hip.backend->destroy(state);
  assert_string_equal(found.form, form);
  if (strncmp(found.fallback, fallback, strlen(fallback)) != 0 || !*found.fallback != !*fallback)
    fail_msg("expected '%s' in '%s'", fallback, found.fallback);
}

enum decode_status hip_use(const struct decode_request *request) {
  enum decode_status status;
  int tokens[HIP_BATCH];
  float logits[HIP_BATCH * HIP_VOCAB];
  struct decode_state *state = hip.backend->create(0, request, &status);
  if (!state)
    return status;
  status = hip.backend->run(state, 2);
  if (status != DECODE_OK) {
    hip_expect_words("hipErrorLaunchFailure");
    assert_int_equal(hip.backend->tokens(state, tokens), DECODE_FAILED);
    assert_int_equal(hip.backend->logits(state, logits), DECODE_FAILED);
    assert_int_equal(hip.backend->run(state, 1), DECODE_FAILED);
    hip_expect_words("hipErrorLaunchFailure");
  }
  hip.backend->destroy(state);
  return status;
}
