#include "kernels/family.h"

#include <stdio.h>
#include <string.h>

unsigned family_pieces(const struct decode_shape *shape) {
  const struct decode_experts *experts = &shape->experts;
  const bool mixture = experts->count > 0;
  const struct {
    bool needed;
    unsigned piece;
  } pieces[] = {
      {shape->norm == NORM_LAYER, FAMILY_LAYER_NORM},
      {shape->mlp == MLP_GELU, FAMILY_GELU},
      {shape->mlp == MLP_CLAMPED_SWIGLU, FAMILY_CLAMPED_SWIGLU},
      {shape->parallel, FAMILY_PARALLEL},
      {shape->biases != 0, FAMILY_BIASES},
      {shape->qk_norm, FAMILY_QK_NORM},
      {shape->sinks, FAMILY_SINKS},
      {shape->window > 0, FAMILY_WINDOW},
      {shape->rope.scaling != ROPE_PLAIN || shape->rope.interleaved, FAMILY_ROPE},
      {mixture, FAMILY_EXPERTS},
      {mixture && experts->router == ROUTER_SIGMOID, FAMILY_SIGMOID_ROUTER},
      {mixture && experts->shared_hidden > 0, FAMILY_SHARED_EXPERT},
      {mixture && experts->dense_layers > 0, FAMILY_DENSE_LAYERS},
      {shape->latent.rank > 0, FAMILY_LATENT},
      {shape->score_scale != 0 && shape->score_scale != 1, FAMILY_SCORE_SCALE},
  };
  unsigned found = 0;
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
    found |= pieces[i].needed ? pieces[i].piece : 0;
  return found;
}

static const struct {
  unsigned piece;
  const char *name;
} names[] = {
    {FAMILY_LAYER_NORM, "layer norms with a mean"},
    {FAMILY_GELU, "an MLP without a gate"},
    {FAMILY_CLAMPED_SWIGLU, "clamped SwiGLU"},
    {FAMILY_PARALLEL, "attention parallel to the MLP"},
    {FAMILY_BIASES, "biases"},
    {FAMILY_QK_NORM, "norms of queries and keys"},
    {FAMILY_SINKS, "attention sinks"},
    {FAMILY_WINDOW, "sliding windows"},
    {FAMILY_ROPE, "scaled rotary angles"},
    {FAMILY_EXPERTS, "mixtures of experts"},
    {FAMILY_SIGMOID_ROUTER, "a sigmoid router"},
    {FAMILY_SHARED_EXPERT, "a shared expert"},
    {FAMILY_DENSE_LAYERS, "dense layers before those of experts"},
    {FAMILY_LATENT, "latent attention"},
    {FAMILY_SCORE_SCALE, "a separate scale for the scores"},
};

const char *family_missing(const struct decode_shape *shape, unsigned known, char text[256]) {
  const unsigned missing = family_pieces(shape) & ~known;
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (missing & names[i].piece && length < 255)
      length +=
          (size_t)snprintf(text + length, 256 - length, "%s%s", length ? ", " : "", names[i].name);
  return text;
}

const char *family_fault(const struct decode_shape *shape) {
  const struct decode_experts *experts = &shape->experts;
  const struct decode_latent *latent = &shape->latent;
  const bool mixture = experts->count > 0, grouped = mixture && experts->groups > 0;
  const struct {
    bool is_so;
    const char *fault;
  } faults[] = {
      {experts->count < 0 || (!mixture && experts->chosen != 0), "experts chosen from none"},
      {mixture && experts->chosen < 1, "no expert per token"},
      {mixture && experts->chosen > experts->count, "more experts per token than experts"},
      {experts->count > MAX_DECODE_EXPERTS, "more experts than a layer can have"},
      {mixture && experts->hidden < 1, "experts without a width"},
      {experts->shared_hidden < 0 || experts->dense_layers < 0, "a negative size of experts"},
      {grouped && (experts->groups > experts->count || experts->count % experts->groups != 0),
       "groups that do not divide the experts"},
      {grouped && (experts->kept_groups < 1 || experts->kept_groups > experts->groups),
       "more groups of experts kept than exist"},
      {grouped && experts->kept_groups * (experts->count / experts->groups) < experts->chosen,
       "fewer experts in the groups kept than are chosen"},
      {shape->window < 0 || shape->full_every < 0, "a negative window"},
      {shape->full_every > 0 && shape->window == 0, "layers without a window but none with one"},
      {latent->rank < 0, "a negative rank"},
      {latent->rank > 0 &&
           (latent->rope_dim < 2 || latent->rope_dim % 2 != 0 ||
            latent->rope_dim >= shape->head_dim || latent->value_dim < 1 || latent->query_rank < 0),
       "latent attention whose parts do not fit its heads"},
      {latent->rank > 0 &&
           (shape->qk_norm || shape->sinks || shape->window > 0 || shape->biases & BIAS_QKV),
       "latent attention with norms of heads, sinks, windows or biases"},
      {shape->rope.scaling != ROPE_PLAIN &&
           (!(shape->rope.factor >= 1) || shape->rope.original_context < 1 ||
            !(shape->rope.high > shape->rope.low)),
       "scaled rotary angles without a factor, a context or an order of their limits"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    if (faults[i].is_so)
      return faults[i].fault;
  return NULL;
}

struct family_layer family_layer(const struct decode_shape *shape, int layer) {
  const bool full = shape->full_every > 0 && (layer + 1) % shape->full_every == 0;
  return (struct family_layer){
      .window = full ? 0 : shape->window,
      .experts = shape->experts.count > 0 && layer >= shape->experts.dense_layers,
  };
}
