#include "kernels/cpu/limits.h"

#include "kernels/element.h"
#include "kernels/family.h"
#include "kernels/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Sums of int8 products stay below 2^31, and sizes far below 2^63.
enum {
  MAX_COLUMNS = 65536,
  MAX_BATCH = 4096,
  MAX_CONTEXT = 1 << 24,
  MAX_VOCAB = 1 << 24,
  MAX_LAYERS = 4096,
  MAX_THREADS = 1024
};

// The pieces of family.h that the kernels have.
static const unsigned known_pieces = FAMILY_ALL;

static const char *family_unknown(const struct decode_request *request, char *words) {
  const char *fault = family_fault(&request->shape), *routing = routing_fault(request);
  char pieces[LIMITS_WORDS];
  if (fault || routing)
    snprintf(words, LIMITS_WORDS, "no such model is possible: %s", fault ? fault : routing);
  else if (*family_missing(&request->shape, known_pieces, pieces))
    snprintf(words, LIMITS_WORDS, "the CPU backend lacks %.200s", pieces);
  else
    return NULL;
  return words;
}

struct bound {
  const char *size;
  int64_t value;
  int least, most;
};

static const char *beyond(const struct bound *bounds, size_t count, char *words) {
  for (size_t i = 0; i < count; i++) {
    const struct bound *bound = &bounds[i];
    if (bound->value >= bound->least && bound->value <= bound->most)
      continue;
    snprintf(words, LIMITS_WORDS, "the CPU kernels need %s of %d to %d, not %lld", bound->size,
             bound->least, bound->most, (long long)bound->value);
    return words;
  }
  return NULL;
}

static const char *request_beyond(const struct decode_request *request, char *words) {
  const struct bound bounds[] = {
      {"a batch", request->batch, 1, MAX_BATCH},
      {"a context", request->context, 1, MAX_CONTEXT},
      {"a number of threads", request->threads, 0, MAX_THREADS},
      {"a chunk of a prompt", request->chunk, 0, request->context},
  };
  return beyond(bounds, sizeof bounds / sizeof bounds[0], words);
}

// Widths of experts and of latent attention's parts are 0 in models without them.
static const char *shape_beyond(const struct decode_shape *shape, char *words) {
  const struct decode_experts *experts = &shape->experts;
  const struct decode_latent *latent = &shape->latent;
  const bool dense = experts->count == 0 || experts->dense_layers > 0;
  const struct bound bounds[] = {
      {"a number of layers", shape->layers, 1, MAX_LAYERS},
      {"a hidden size", shape->hidden, 1, MAX_COLUMNS},
      {"a vocabulary", shape->vocab, 1, MAX_VOCAB},
      {"a width of a head", shape->head_dim, 2, MAX_HEAD_DIM},
      {"a number of heads", shape->heads, 1, MAX_COLUMNS},
      {"a width of all heads", (int64_t)shape->heads * shape->head_dim, 1, MAX_COLUMNS},
      {"a width of the MLP", shape->ffn_hidden, dense ? 1 : 0, MAX_COLUMNS},
      {"a width of an expert", experts->hidden, 0, MAX_COLUMNS},
      {"a width of the shared expert", experts->shared_hidden, 0, MAX_COLUMNS},
      {"a rank of latent attention", latent->rank, 0, MAX_COLUMNS / 2},
      {"a rank of latent attention's queries", latent->query_rank, 0, MAX_COLUMNS},
      {"a width of latent attention's values", (int64_t)shape->heads * latent->value_dim, 0,
       MAX_COLUMNS},
  };
  return beyond(bounds, sizeof bounds / sizeof bounds[0], words);
}

static const char *shape_unknown(const struct decode_shape *shape) {
  if (shape->latent.rank == 0 && (shape->kv_heads < 1 || shape->heads % shape->kv_heads != 0))
    return "the query heads are not a multiple of the KV heads";
  if (shape->head_dim % 2 != 0)
    return "the CPU kernels need heads of an even width";
  if (!(shape->norm_epsilon >= 0) || !(shape->rope_theta > 0))
    return "the norm's epsilon is negative, or rope's theta is not positive";
  return NULL;
}

static bool go_together(enum element weights, enum element activations) {
  const bool wide = activations == ELEMENT_F32 || activations == ELEMENT_BF16;
  switch (weights) {
  case ELEMENT_BF16: return wide;
  case ELEMENT_INT8: return activations == ELEMENT_INT8;
  case ELEMENT_INT8_GROUP:
  case ELEMENT_INT4_GROUP: return wide || activations == ELEMENT_INT8;
  default: return wide || activations == ELEMENT_E4M3;
  }
}

// The experts' type is that of the weights unless it is another.
static const char *types_unknown(const struct decode_types *types, char *words) {
  const enum element experts = types->experts == ELEMENT_F32 ? types->weights : types->experts;
  const enum element held[] = {types->weights, experts};
  for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
    if (held[i] == ELEMENT_F32 || held[i] >= ELEMENTS || types->activations >= ELEMENTS)
      return "the CPU kernels hold weights in 16 bits or fewer";
    if (go_together(held[i], types->activations))
      continue;
    snprintf(words, LIMITS_WORDS,
             "the CPU kernels do not multiply weights in %s by activations in %s",
             element_format(held[i])->name, element_format(types->activations)->name);
    return words;
  }
  if (types->kv != ELEMENT_BF16 && types->kv != ELEMENT_E4M3)
    return "the CPU kernels need a KV cache in bf16 or e4m3";
  if (types->head != ELEMENT_BF16 && types->head != types->weights)
    return "the CPU kernels need a head in bf16 or in the weights' type";
  return types->accumulation == ELEMENT_F32 ? NULL : "the CPU kernels accumulate in f32";
}

const char *limits_fault(const struct decode_request *request, char words[LIMITS_WORDS]) {
  const char *why = family_unknown(request, words);
  if (!why)
    why = request_beyond(request, words);
  if (!why)
    why = shape_beyond(&request->shape, words);
  if (!why)
    why = shape_unknown(&request->shape);
  return why ? why : types_unknown(&request->types, words);
}
