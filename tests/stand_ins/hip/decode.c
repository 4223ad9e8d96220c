// hip_decode: decode steps by a plugin, compared with the oracle: by the one named by
// DECODE_PLUGIN_FILE, else by the HIP plugin (of PERTOKEN_PLUGINS, where the probe finds it), on
// the HIP library in PERTOKEN_HIP_LIBRARY. Standard input has a line for each case:
//   [DEVICESx] WEIGHTS KV BATCH CONTEXT HEADS KV_HEADS HEAD_DIM HIDDEN FFN VOCAB [TUNING]
// two steps of one layer, on one device or, "2x", on several together; WEIGHTS is bf16, e4m3
// (also for activations), e4m3-bf16 or e4m3-head (also for the head), TUNING as in
// PERTOKEN_GPU_TUNING.
//   WEIGHTS[/EXPERTS] KV BATCH CONTEXT [HEAD_DIM] "PIECE" [TUNING]
// one step of a row of tests/support/kernels/pieces.h, by name; EXPERTS is the type of a mixture's
// experts.
// "POSITIONSinCHUNK" before either: the last row takes a prompt of that many positions in such
// chunks, followed by a step of all rows; "POSITIONSbyCHUNK": the same with products by the library
// in the file named by DECODE_PRODUCTS, which the report then names. Or "calibrate": memory is read
// and the matrix unit timed. Prints for each case a line with "ok" or "FAIL", the case, and "error
// 2.1e-3 of 1e-2, shortfall 0" for each step; before each case, a line "case NUMBER", from 0, goes
// to the file named by KERNELS_LOG. Exit status 1 after a failure.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "kernels/reference/reference.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/tolerance.h"

enum { MAX_CHOSEN = 4096, MAX_POSITIONS = 256, READ_BYTES = 3 * 64 * 1024 };

static const struct decode_backend *load(void) {
  const char *folder = getenv("PERTOKEN_PLUGINS"), *file = getenv("DECODE_PLUGIN_FILE");
  char path[4096];
  snprintf(path, sizeof path, "%s/hip.so", folder ? folder : "build/lib/pertoken");
  if (file)
    snprintf(path, sizeof path, "%s", file);
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  decode_plugin *backend = NULL;
  if (plugin)
    *(void **)&backend = dlsym(plugin, DECODE_PLUGIN);
  if (!backend)
    fprintf(stderr, "%s\n", dlerror());
  return backend ? backend() : NULL;
}

// The longest element name that the text begins with, with underscores for dashes.
static enum element element_of(const char *name) {
  enum element found = ELEMENT_BF16;
  size_t longest = 0;
  for (int e = 0; e < ELEMENTS; e++) {
    const char *own = element_format((enum element)e)->name;
    size_t same = 0;
    while (own[same] && (own[same] == '-' ? '_' : own[same]) == name[same])
      same++;
    if (own[same] || same <= longest)
      continue;
    found = (enum element)e;
    longest = same;
  }
  return found;
}

// The narrowest activations that go with the weights.
static enum element activations_of(enum element weights) {
  switch (weights) {
  case ELEMENT_BF16: return ELEMENT_BF16;
  case ELEMENT_INT8:
  case ELEMENT_INT8_GROUP:
  case ELEMENT_INT4_GROUP: return ELEMENT_INT8;
  default: return ELEMENT_E4M3;
  }
}

// The oracle continues with the device's experts.
static bool step_oracle(const struct decode_backend *hip, struct decode_state *state,
                        struct reference *oracle, const struct decode_request *request) {
  static int chosen[MAX_CHOSEN];
  const struct decode_shape *shape = &request->shape;
  const int count =
      shape->experts.count ? shape->layers * request->batch * shape->experts.chosen : 0;
  if (count > MAX_CHOSEN || (count && hip->chosen(state, chosen)))
    return false;
  if (count)
    reference_set_chosen(oracle, chosen);
  reference_step(oracle);
  return true;
}

// One step of both from the same tokens; the result is appended to `words`.
static bool step(const struct decode_backend *hip, struct decode_state *state,
                 struct reference *oracle, const struct decode_request *request, int *tokens,
                 float *logits, char *words, size_t size) {
  const size_t used = strlen(words);
  if (hip->tokens(state, tokens) || reference_set_tokens(oracle, tokens) || hip->run(state, 1) ||
      hip->logits(state, logits) || hip->tokens(state, tokens) ||
      !step_oracle(hip, state, oracle, request))
    return false;
  const double tolerance = tolerance_of_rows(request);
  const struct reference_verdict verdict = reference_check(oracle, logits, tokens, tolerance);
  snprintf(words + used, size - used, "; error %.2g of %.2g, shortfall %.2g", verdict.error,
           tolerance, verdict.shortfall);
  return verdict.pass;
}

// A prompt into the last row of both, whose logits are then compared; steps follow it.
static bool take_prompt(const struct decode_backend *hip, struct decode_state *state,
                        struct reference *oracle, const struct decode_request *request, int count,
                        float *logits, char *words, size_t size) {
  static int tokens[MAX_POSITIONS];
  const int vocab = request->shape.vocab, row = request->batch - 1;
  for (int i = 0; i < count; i++)
    tokens[i] = (i * 37 + 5) % vocab;
  struct decode_prompt prompt = {.row = row, .count = count, .tokens = tokens};
  if (reference_prefill(oracle, &prompt))
    return false;
  for (int first = 0; first < count; first += request->chunk) {
    const int left = count - first;
    prompt = (struct decode_prompt){.row = row,
                                    .first = first,
                                    .count = left < request->chunk ? left : request->chunk,
                                    .tokens = tokens + first};
    if (hip->prefill(state, &prompt))
      return false;
  }
  double off = 0, norm = 0;
  if (hip->logits(state, logits))
    return false;
  for (int i = row * vocab; i < (row + 1) * vocab; i++) {
    const double expected = reference_logits(oracle)[i];
    off += ((double)logits[i] - expected) * ((double)logits[i] - expected);
    norm += expected * expected;
  }
  const double tolerance = tolerance_of_rows(request), error = sqrt(off / norm);
  snprintf(words, size, "; prompt: error %.2g of %.2g, %s", error, tolerance,
           hip->prefill_library(state));
  return error <= tolerance && !hip->set_position(state, count) &&
         !reference_set_position(oracle, count);
}

// `positions` of a prompt come first; 0: none.
static bool steps(const struct decode_backend *hip, const struct decode_request *request, int count,
                  int positions, char *words, size_t size) {
  const size_t rows = (size_t)request->batch;
  enum decode_status status;
  struct decode_request whole = *request;
  whole.chunk = positions;
  struct reference *oracle = reference_create(&whole, &status);
  struct decode_state *state = hip->create(0, request, &status);
  int *tokens = calloc(rows, sizeof *tokens);
  float *logits = calloc(rows * (size_t)request->shape.vocab, sizeof *logits);
  bool good = oracle && state && tokens && logits;
  if (good && positions > 0)
    good = take_prompt(hip, state, oracle, request, positions, logits, words, size);
  for (int i = 0; i < count && good; i++)
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

// Reads "WEIGHTS[/EXPERTS]", KV, batch and context into the request; returns the number of
// characters, or 0.
static int read_types(const char *line, struct decode_request *request) {
  char weights[48], kv[16];
  int read = 0;
  if (sscanf(line, "%47s %15s %d %d %n", weights, kv, &request->batch, &request->context, &read) !=
      4)
    return 0;
  char *experts = strchr(weights, '/');
  if (experts)
    *experts++ = '\0';
  const enum element element = element_of(weights);
  request->types = (struct decode_types){
      .weights = element,
      .activations = strstr(weights, "-bf16") ? ELEMENT_BF16 : activations_of(element),
      .kv = element_of(kv),
      .head = strstr(weights, "-head") ? element : ELEMENT_BF16,
      .accumulation = ELEMENT_F32,
      .experts = experts ? element_of(experts) : ELEMENT_F32};
  return read;
}

static bool read_shape(const char *line, struct decode_shape *shape, int *read) {
  shape->layers = 1;
  shape->norm_epsilon = 1e-5f;
  shape->rope_theta = 1e4f;
  return sscanf(line, "%d %d %d %d %d %d %n", &shape->heads, &shape->kv_heads, &shape->head_dim,
                &shape->hidden, &shape->ffn_hidden, &shape->vocab, read) == 6;
}

// Reads [HEAD_DIM] "PIECE", whose quotes begin at `quote`; returns the number of characters, or 0.
static int read_piece(const char *line, const char *quote, struct decode_shape *shape) {
  char name[128];
  int read = 0;
  if (sscanf(quote, "\"%127[^\"]\" %n", name, &read) != 1 || read == 0)
    return 0;
  const struct piece *piece = piece_named(name);
  if (!piece)
    return 0;
  *shape = piece->shape;
  if (line < quote)
    shape->head_dim = atoi(line);
  return (int)(quote - line) + read;
}

// The vendor's library for the next state; NULL: none, whatever is installed here.
static void use_products(const char *file) {
  setenv("EMULATOR_PRODUCTS", file ? file : "/none", 1);
  setenv("PERTOKEN_HIPBLASLT_LIBRARY", file ? file : "/none", 1);
}

// "POSITIONSinCHUNK" or "POSITIONSbyCHUNK"; returns the number of characters, or 0.
static int read_prompt(const char *line, int *positions, int *chunk) {
  char by[3];
  int read = 0;
  if (sscanf(line, "%d%2[inby]%d %n", positions, by, chunk, &read) != 3) {
    *positions = *chunk = 0;
    return 0;
  }
  if (!strcmp(by, "by"))
    use_products(getenv("DECODE_PRODUCTS"));
  return read;
}

static bool decode(const struct decode_backend *hip, const char *line, char *words, size_t size) {
  static const int devices[] = {0, 1, 2, 3};
  struct decode_request request = {.seed = 20, .devices = devices};
  int skipped = 0, tuning = 0, positions = 0;
  if (sscanf(line, "%dx %n", &request.ranks, &skipped) != 1 || skipped == 0)
    request.ranks = 0;
  line += skipped;
  line += read_prompt(line, &positions, &request.chunk);
  if (positions > MAX_POSITIONS)
    return false;
  line += skipped = read_types(line, &request);
  const char *quote = strchr(line, '"');
  if (quote && skipped)
    tuning = read_piece(line, quote, &request.shape);
  else if (!skipped || !read_shape(line, &request.shape, &tuning))
    return false;
  setenv("PERTOKEN_GPU_TUNING", line + tuning, 1);
  return tuning > 0 && steps(hip, &request, quote || positions ? 1 : 2, positions, words, size);
}

static void log_case(int number) {
  const char *path = getenv("KERNELS_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "case %d\n", number);
    fclose(file);
  }
}

int hip_decode(void);
int hip_decode(void) {
  const struct decode_backend *hip = load();
  char line[256];
  int failed = 0, number = 0;
  while (hip && fgets(line, sizeof line, stdin)) {
    char words[512] = "";
    line[strcspn(line, "\n")] = 0;
    log_case(number++);
    use_products(NULL);
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
