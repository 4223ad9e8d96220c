#include "tests/support/kernels/families.h"

#include "kernels/reference/reference.h"
#include "kernels/routing.h"

#include <stdio.h>
#include <stdlib.h>

#define SIZES(depth)                                                                               \
  .layers = (depth), .hidden = 20, .heads = 4, .kv_heads = 2, .head_dim = 8, .ffn_hidden = 24,     \
  .vocab = 40, .norm_epsilon = 1e-5f, .rope_theta = 10000
#define YARN                                                                                       \
  .scaling = ROPE_YARN, .factor = 32, .low = 1, .high = 32, .original_context = 4096,              \
  .magnitude = 1.3465736f

const struct family families[] = {
    {"llama", {SIZES(2)}},
    {"mistral", {SIZES(2), .window = 4}},
    {"qwen2", {SIZES(2), .biases = BIAS_QKV}},
    {"qwen3", {SIZES(2), .qk_norm = true}},
    {"llama-3.1",
     {SIZES(2),
      .rope = {.scaling = ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 64}}},
    {"gpt-j", {SIZES(2), .rope = {.interleaved = true}}},
    {"falcon", {SIZES(2), .norm = NORM_LAYER, .mlp = MLP_GELU, .parallel = true}},
    {"starcoder2",
     {SIZES(2), .norm = NORM_LAYER, .mlp = MLP_GELU, .biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP,
      .window = 3}},
    {"granite", {SIZES(2), .score_scale = 0.25f}},
    {"mixtral", {SIZES(2), .experts = {.count = 6, .chosen = 2, .hidden = 12}}},
    {"olmoe",
     {SIZES(2), .qk_norm = true,
      .experts = {.count = 7, .chosen = 3, .hidden = 12, .router = ROUTER_SOFTMAX_ALL}}},
    {"gpt-oss",
     {SIZES(2), .mlp = MLP_CLAMPED_SWIGLU,
      .biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER, .sinks = true, .window = 3,
      .full_every = 2, .rope = {YARN}, .experts = {.count = 5, .chosen = 2, .hidden = 12}}},
    {"deepseek-v2-lite",
     {SIZES(2), .latent = {.rank = 14, .rope_dim = 4, .value_dim = 6},
      .rope = {.interleaved = true},
      .experts = {.count = 6,
                  .chosen = 2,
                  .hidden = 10,
                  .shared_hidden = 18,
                  .dense_layers = 1,
                  .router = ROUTER_SOFTMAX_ALL}}},
    {"deepseek-v3",
     {SIZES(4), .latent = {.rank = 14, .query_rank = 16, .rope_dim = 4, .value_dim = 6},
      .biases = BIAS_ROUTER, .score_scale = 1.8738f,
      .rope = {YARN, .whole = true, .interleaved = true},
      .experts = {.count = 12,
                  .chosen = 3,
                  .hidden = 10,
                  .shared_hidden = 18,
                  .dense_layers = 1,
                  .router = ROUTER_SIGMOID,
                  .groups = 4,
                  .kept_groups = 2,
                  .scale = 2.5f}}},
};
const size_t family_count = sizeof families / sizeof families[0];

static const char *const elements[] = {"f32",        "bf16",      "e4m3",       "int8",
                                       "mxfp4",      "nvfp4",     "mxfp6_e2m3", "mxfp6_e3m2",
                                       "int8_group", "int4_group"};

static void print_shape(const struct decode_shape *s) {
  printf("\"layers\": %d, \"hidden\": %d, \"heads\": %d, \"kv_heads\": %d, \"head_dim\": %d, "
         "\"ffn_hidden\": %d, \"vocab\": %d, \"norm_epsilon\": %.17g, \"rope_theta\": %.17g, ",
         s->layers, s->hidden, s->heads, s->kv_heads, s->head_dim, s->ffn_hidden, s->vocab,
         (double)s->norm_epsilon, (double)s->rope_theta);
  printf("\"norm\": %d, \"mlp\": %d, \"parallel\": %d, \"qk_norm\": %d, \"sinks\": %d, "
         "\"biases\": %u, \"window\": %d, \"full_every\": %d, \"score_scale\": %.17g, ",
         s->norm, s->mlp, s->parallel, s->qk_norm, s->sinks, s->biases, s->window, s->full_every,
         (double)s->score_scale);
  const struct decode_rope *rope = &s->rope;
  printf("\"rope\": {\"scaling\": %d, \"factor\": %.17g, \"low\": %.17g, \"high\": %.17g, "
         "\"magnitude\": %.17g, \"original_context\": %d, \"whole\": %d, \"interleaved\": %d}, ",
         rope->scaling, (double)rope->factor, (double)rope->low, (double)rope->high,
         (double)rope->magnitude, rope->original_context, rope->whole, rope->interleaved);
  const struct decode_latent *latent = &s->latent;
  printf("\"latent\": {\"rank\": %d, \"query_rank\": %d, \"rope_dim\": %d, \"value_dim\": %d}, ",
         latent->rank, latent->query_rank, latent->rope_dim, latent->value_dim);
  const struct decode_experts *e = &s->experts;
  printf("\"experts\": {\"count\": %d, \"chosen\": %d, \"hidden\": %d, \"shared_hidden\": %d, "
         "\"dense_layers\": %d, \"router\": %d, \"groups\": %d, \"kept_groups\": %d, "
         "\"scale\": %.17g}, ",
         e->count, e->chosen, e->hidden, e->shared_hidden, e->dense_layers, e->router, e->groups,
         e->kept_groups, (double)e->scale);
}

static void print_ints(const char *name, const int *values, size_t count) {
  printf(", \"%s\": [", name);
  for (size_t i = 0; i < count; i++)
    printf("%s%d", i ? ", " : "", values[i]);
  printf("]");
}

static void print_doubles(const char *name, const double *values, size_t count) {
  printf(", \"%s\": [", name);
  for (size_t i = 0; i < count; i++)
    printf("%s%.17g", i ? ", " : "", values[i]);
  printf("]");
}

// The experts of the first two steps, and of a prompt's positions.
static void print_table(const struct decode_request *request) {
  const size_t entries = routing_entries(request);
  uint16_t *table = entries ? malloc(entries * sizeof *table) : NULL;
  if (!table)
    return;
  routing_fill(request, table);
  printf(", \"table\": [");
  for (size_t i = 0; i < entries; i++)
    printf("%s%d", i ? ", " : "", table[i]);
  printf("]");
  free(table);
}

static void print_prompt(const struct decode_request *request) {
  enum decode_status status;
  enum { MOST = 64 };
  int tokens[MOST];
  struct reference *r = reference_create(request, &status);
  const struct decode_prompt prompt = {
      .row = request->batch - 1, .count = request->chunk, .tokens = tokens};
  for (int i = 0; i < request->chunk && i < MOST; i++)
    tokens[i] = 7 * (i + 1) % request->shape.vocab;
  const int zeros[MOST] = {0};
  if (!r || request->chunk > MOST || request->batch > MOST || reference_prefill(r, &prompt) ||
      reference_set_position(r, request->chunk) || reference_set_tokens(r, zeros))
    abort();
  reference_step(r);
  const size_t vocab = (size_t)request->shape.vocab;
  print_ints("prompt", tokens, (size_t)request->chunk);
  print_doubles("prompt_logits", reference_logits(r) + vocab * (size_t)prompt.row, vocab);
  reference_destroy(r);
}

void family_print(const char *name, const struct decode_request *request) {
  const struct decode_types *t = &request->types;
  enum decode_status status;
  struct reference *r = reference_create(request, &status);
  if (!r)
    abort();
  reference_step(r);
  reference_step(r);
  printf("{\"name\": \"%s\", ", name);
  print_shape(&request->shape);
  printf("\"weights\": \"%s\", \"routed\": \"%s\", \"activations\": \"%s\", \"kv\": \"%s\", "
         "\"head\": \"%s\", "
         "\"batch\": %d, \"context\": %d, \"seed\": %d, \"chunk\": %d",
         elements[t->weights], elements[t->experts ? t->experts : t->weights],
         elements[t->activations], elements[t->kv], elements[t->head], request->batch,
         request->context, (int)request->seed, request->chunk);
  const size_t batch = (size_t)request->batch;
  print_doubles("logits", reference_logits(r), batch * (size_t)request->shape.vocab);
  if (reference_chosen(r))
    print_ints("chosen", reference_chosen(r),
               (size_t)request->shape.layers * batch * (size_t)request->shape.experts.chosen);
  print_table(request);
  if (request->chunk > 0)
    print_prompt(request);
  printf("}\n");
  reference_destroy(r);
}
