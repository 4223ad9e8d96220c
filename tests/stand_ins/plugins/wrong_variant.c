// A plugin for check_ladder and check_probe_variants: the backend of the plugin WRAPPED, which
// computes something else with the variant WRONG_TUNING: with WRONG=token, other tokens for models
// with more than WRONG_VOCAB words; with WRONG=logits, other logits; with WRONG=failed the device
// is lost; with WRONG=refused it does not support the tuning; with WRONG=endless its steps never
// end; with WRONG=crash they end the process; with WRONG=no nothing is wrong with it, and without
// it each step takes 2 ms more. The variant is the only one that it offers.
#include "kernels/decode.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct decode_backend *wrapped;
static struct decode_backend wrapper;
static struct decode_request request; // of the newest state

static bool is_wrong(const char *how) {
  const char *tuning = request.variant, *wrong = getenv("WRONG_TUNING");
  const char *vocab = getenv("WRONG_VOCAB");
  return tuning && wrong && strcmp(tuning, wrong) == 0 && strcmp(getenv("WRONG"), how) == 0 &&
         request.shape.vocab > (vocab ? atoi(vocab) : 0);
}

static struct decode_state *create(int device, const struct decode_request *r,
                                   enum decode_status *status) {
  request = *r;
  if (is_wrong("refused")) {
    *status = DECODE_UNSUPPORTED;
    return NULL;
  }
  return wrapped->create(device, r, status);
}

static enum decode_status run(struct decode_state *state, int steps) {
  while (is_wrong("endless"))
    pause();
  if (is_wrong("crash"))
    abort();
  const bool is_own = !request.variant || !*request.variant;
  if (is_own && strcmp(getenv("WRONG"), "no") == 0)
    usleep(2000 * (useconds_t)steps);
  return is_wrong("failed") ? DECODE_FAILED : wrapped->run(state, steps);
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  const enum decode_status status = wrapped->tokens(state, out);
  if (is_wrong("token"))
    out[0] = (out[0] + 1) % request.shape.vocab;
  return status;
}

static enum decode_status logits(struct decode_state *state, float *out) {
  const enum decode_status status = wrapped->logits(state, out);
  const int count = request.batch * request.shape.vocab;
  for (int i = 0; i < count && is_wrong("logits"); i++)
    out[i] *= 1.1F;
  return status;
}

static const char *variant(int device, const struct decode_request *r, int number) {
  (void)device, (void)r;
  return number == 0 ? getenv("WRONG_TUNING") : NULL;
}

decode_plugin pertoken_backend;

const struct decode_backend *pertoken_backend(void) {
  decode_plugin *plugin = NULL;
  void *library = dlopen(getenv("WRAPPED"), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, DECODE_PLUGIN) : NULL;
  memcpy(&plugin, &symbol, sizeof plugin);
  wrapped = plugin ? plugin() : NULL;
  if (!wrapped)
    return NULL;
  wrapper = *wrapped;
  wrapper.create = create;
  wrapper.run = run;
  wrapper.tokens = tokens;
  wrapper.variant = variant;
  wrapper.logits = logits;
  return &wrapper;
}
