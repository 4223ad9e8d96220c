// hip_decode: decode steps by the HIP plugin (of PERTOKEN_PLUGINS, as the probe finds it) on the
// HIP library in PERTOKEN_HIP_LIBRARY, held against the oracle. A line of the standard input for
// each case:
//   [DEVICESx] WEIGHTS KV BATCH CONTEXT HEADS KV_HEADS HEAD_DIM HIDDEN FFN VOCAB [TUNING]
// two steps of one layer, on one device or, "2x", on several together; WEIGHTS is bf16, e4m3
// (activations too), e4m3-bf16 or e4m3-head (the head, too), TUNING as in PERTOKEN_GPU_TUNING. Or
// "calibrate": memory is read and the matrix unit timed. For each a line with "ok" or "FAIL", the
// case, and "error 2.1e-3 of 1e-2, shortfall 0" of each step. Exit status 1 after a failure.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"

enum { STEPS = 2, READ_BYTES = 3 * 64 * 1024 };

static const struct decode_backend *load(void) {
  const char *folder = getenv("PERTOKEN_PLUGINS");
  char path[4096];
  snprintf(path, sizeof path, "%s/hip.so", folder ? folder : "build/lib/pertoken");
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  decode_plugin *backend = NULL;
  if (plugin)
    *(void **)&backend = dlsym(plugin, DECODE_PLUGIN);
  if (!backend)
    fprintf(stderr, "%s\n", dlerror());
  return backend ? backend() : NULL;
}

static enum element element_of(const char *name) {
  return !strncmp(name, "e4m3", 4) ? ELEMENT_E4M3 : ELEMENT_BF16;
}

// One step of both from the same tokens; what came of it is written behind `words`.
static bool step(const struct decode_backend *hip, struct decode_state *state,
                 struct reference *oracle, const struct decode_request *request, int *tokens,
                 float *logits, char *words, size_t size) {
  const size_t used = strlen(words);
  if (hip->tokens(state, tokens) || reference_set_tokens(oracle, tokens))
    return false;
  reference_step(oracle);
  if (hip->run(state, 1) || hip->logits(state, logits) || hip->tokens(state, tokens))
    return false;
  const double tolerance = reference_tolerance(&request->types);
  const struct reference_verdict verdict = reference_check(oracle, logits, tokens, tolerance);
  snprintf(words + used, size - used, "; error %.2g of %.2g, shortfall %.2g", verdict.error,
           tolerance, verdict.shortfall);
  return verdict.pass;
}

static bool steps(const struct decode_backend *hip, const struct decode_request *request,
                  char *words, size_t size) {
  const size_t rows = (size_t)request->batch;
  enum decode_status status;
  struct reference *oracle = reference_create(request, &status);
  struct decode_state *state = hip->create(0, request, &status);
  int *tokens = calloc(rows, sizeof *tokens);
  float *logits = calloc(rows * (size_t)request->shape.vocab, sizeof *logits);
  bool good = oracle && state && tokens && logits;
  for (int i = 0; i < STEPS && good; i++)
    good = step(hip, state, oracle, request, tokens, logits, words, size);
  hip->destroy(state);
  reference_destroy(oracle);
  free(tokens);
  free(logits);
  return good;
}

static bool calibrate(const struct decode_backend *hip) {
  static const struct decode_types types[] = {
      {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}};
  bool good = !unsetenv("PERTOKEN_GPU_TUNING");
  double value = 0;
  for (int variant = 0; variant < 3; variant++)
    good = good && hip->read_memory(0, READ_BYTES, 0, variant, &value) == DECODE_OK;
  for (int i = 0; i < 3; i++)
    good = good && hip->matrix_rate(0, &types[i], 0, &value) == DECODE_OK;
  hip->calibration_end();
  return good;
}

static bool decode(const struct decode_backend *hip, const char *line, char *words, size_t size) {
  static const int devices[] = {0, 1, 2, 3};
  struct decode_request request = {.seed = 20, .devices = devices};
  struct decode_shape *shape = &request.shape;
  char weights[16], kv[16];
  int tuning = 0, skipped = 0;
  if (sscanf(line, "%dx %n", &request.ranks, &skipped) == 1)
    line += skipped;
  if (sscanf(line, "%15s %15s %d %d %d %d %d %d %d %d %n", weights, kv, &request.batch,
             &request.context, &shape->heads, &shape->kv_heads, &shape->head_dim, &shape->hidden,
             &shape->ffn_hidden, &shape->vocab, &tuning) != 10)
    return false;
  setenv("PERTOKEN_GPU_TUNING", line + tuning, 1);
  shape->layers = 1;
  shape->norm_epsilon = 1e-5f;
  shape->rope_theta = 1e4f;
  const enum element element = element_of(weights);
  const enum element activations = strstr(weights, "-bf16") ? ELEMENT_BF16 : element;
  const enum element head = strstr(weights, "-head") ? element : ELEMENT_BF16;
  request.types =
      (struct decode_types){element, activations, element_of(kv), head, ELEMENT_F32, ELEMENT_F32};
  return steps(hip, &request, words, size);
}

int hip_decode(void);
int hip_decode(void) {
  const struct decode_backend *hip = load();
  char line[256];
  int failed = 0;
  while (hip && fgets(line, sizeof line, stdin)) {
    char words[512] = "";
    line[strcspn(line, "\n")] = 0;
    const bool good =
        !strcmp(line, "calibrate") ? calibrate(hip) : decode(hip, line, words, sizeof words);
    if (!good && !*words)
      snprintf(words, sizeof words, "; %s", hip->error());
    printf("%s %s%s\n", good ? "ok" : "FAIL", line, words);
    fflush(stdout);
    failed += !good;
  }
  return !hip || failed > 0;
}
