#include "tests/support/kernels/pieces.h"

#include <string.h>

#define WIDTHS                                                                                     \
  .layers = PIECE_LAYERS, .hidden = 72, .vocab = PIECE_VOCAB, .norm_epsilon = 1e-5f,               \
  .rope_theta = 1e4f
#define SIZES WIDTHS, .heads = 6, .kv_heads = 2, .head_dim = 40, .ffn_hidden = 101
#define FALCON                                                                                     \
  .layers = PIECE_LAYERS, .hidden = 104, .heads = 13, .kv_heads = 1, .head_dim = 24,               \
  .ffn_hidden = 416, .vocab = PIECE_VOCAB, .norm_epsilon = 1e-5f, .rope_theta = 1e4f,              \
  .norm = NORM_LAYER, .mlp = MLP_GELU
#define YARN(magnified)                                                                            \
  .rope = {ROPE_YARN,                                                                              \
           .factor = 32,                                                                           \
           .low = 1,                                                                               \
           .high = 8,                                                                              \
           .magnitude = (magnified),                                                               \
           .original_context = 128,                                                                \
           .whole = true}

// Mixtures have less attention, since they are about their experts.
#define NO_DENSE WIDTHS, .heads = 2, .kv_heads = 1, .head_dim = 24
#define MIXTURE  NO_DENSE, .ffn_hidden = 56
#define GPT_OSS                                                                                    \
  MIXTURE, .sinks = true, .window = 3, .full_every = 2,                                            \
           .experts = {.count = 9, .chosen = 4, .hidden = 133}, YARN(1.35f)
#define EVERY_BIAS (BIAS_QKV | BIAS_OUTPUT | BIAS_MLP | BIAS_ROUTER)
#define GROUPS(hidden_, factor_)                                                                   \
  .experts = {.count = 24,                                                                         \
              .chosen = 4,                                                                         \
              .hidden = (hidden_),                                                                 \
              .shared_hidden = 88,                                                                 \
              .dense_layers = 1,                                                                   \
              .router = ROUTER_SIGMOID,                                                            \
              .groups = 4,                                                                         \
              .kept_groups = 2,                                                                    \
              .scale = (factor_)}

#define LATENT(heads_, head_dim_)                                                                  \
  WIDTHS, .ffn_hidden = 101, .heads = (heads_), .head_dim = (head_dim_)
#define DEEPSEEK                                                                                   \
  LATENT(6, 56),                                                                                   \
      .biases = BIAS_ROUTER, .score_scale = 1.6f, GROUPS(56, 2.5f),                                \
      .rope = {ROPE_YARN,     .factor = 40,       .low = 1, .high = 32, .original_context = 4096,  \
               .whole = true, .interleaved = true}

const struct decode_shape piece_plain = {SIZES};

static const struct piece dense[] = {
    {"layer norm", 90, {SIZES, .norm = NORM_LAYER}, {SIZES}},
    {"GELU", 90, {SIZES, .mlp = MLP_GELU}, {SIZES}},
    {"clamped SwiGLU", 90, {SIZES, .mlp = MLP_CLAMPED_SWIGLU}, {SIZES}},
    {"parallel", 90, {SIZES, .parallel = true}, {SIZES}},
    {"biases of q, k and v", 9, {SIZES, .biases = BIAS_QKV}, {SIZES}},
    {"bias of wo", 90, {SIZES, .biases = BIAS_OUTPUT}, {SIZES}},
    {"biases of the MLP", 90, {SIZES, .biases = BIAS_MLP}, {SIZES}},
    {"norms of heads", 90, {SIZES, .qk_norm = true}, {SIZES}},
    {"sinks", 9, {SIZES, .sinks = true}, {SIZES}},
    {"window", 90, {SIZES, .window = 21}, {SIZES}},
    {"window in one of two layers",
     90,
     {SIZES, .window = 70, .full_every = 2},
     {SIZES, .window = 70}},
    {"score scale", 90, {SIZES, .score_scale = 3}, {SIZES}},
    {"interleaved pairs", 90, {SIZES, .rope = {.interleaved = true}}, {SIZES}},
    {"Falcon: one kv head, parallel, layer norm, GELU", 90, {FALCON, .parallel = true}, {FALCON}},
    {"all biases, layer norm, clamped SwiGLU, parallel",
     90,
     {SIZES, .norm = NORM_LAYER, .mlp = MLP_CLAMPED_SWIGLU, .parallel = true,
      .biases = EVERY_BIAS & ~BIAS_ROUTER},
     {SIZES, .norm = NORM_LAYER, .mlp = MLP_CLAMPED_SWIGLU, .parallel = true,
      .biases = BIAS_QKV | BIAS_OUTPUT}},
    {"sinks, windows, YaRN",
     90,
     {SIZES, .sinks = true, .window = 19, .full_every = 2, YARN(1.35f)},
     {SIZES, .window = 19, .full_every = 2, YARN(1.35f)}},
    {"Llama 3's angles",
     90,
     {SIZES, .rope = {ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 64}},
     {SIZES}},
    {"YaRN", 90, {SIZES, YARN(1.35f)}, {SIZES, YARN(1.2f)}},
};

static const struct piece experts[] = {
    {"Mixtral: softmax of the chosen",
     5,
     {MIXTURE, .experts = {.count = 5, .chosen = 2, .hidden = 100}},
     {MIXTURE, .experts = {.count = 5, .chosen = 2, .hidden = 100, .router = ROUTER_SOFTMAX_ALL}}},
    {"softmax of all, a bias",
     5,
     {MIXTURE, .biases = BIAS_ROUTER,
      .experts = {.count = 21, .chosen = 6, .hidden = 40, .router = ROUTER_SOFTMAX_ALL}},
     {MIXTURE, .experts = {.count = 21, .chosen = 6, .hidden = 40, .router = ROUTER_SOFTMAX_ALL}}},
    {"sigmoid router of groups, shared expert, dense layers first",
     5,
     {MIXTURE, .biases = BIAS_ROUTER, GROUPS(33, 2.5f)},
     {MIXTURE, .biases = BIAS_ROUTER, GROUPS(33, 1)}},
    {"one expert of one",
     5,
     {NO_DENSE, .experts = {.count = 1, .chosen = 1, .hidden = 40}},
     {MIXTURE, .experts = {.count = 1, .chosen = 1, .hidden = 40, .shared_hidden = 40}}},
    {"gpt-oss: biases of everything, clamped SwiGLU, windows, sinks, YaRN",
     5,
     {GPT_OSS, .mlp = MLP_CLAMPED_SWIGLU, .biases = EVERY_BIAS},
     {GPT_OSS, .mlp = MLP_CLAMPED_SWIGLU, .biases = EVERY_BIAS & ~BIAS_MLP}},
    {"gpt-oss without its clamp",
     5,
     {GPT_OSS, .biases = EVERY_BIAS},
     {GPT_OSS, .mlp = MLP_CLAMPED_SWIGLU, .biases = EVERY_BIAS}},
    {"clamped SwiGLU with a shared expert and a dense layer",
     5,
     {MIXTURE, .mlp = MLP_CLAMPED_SWIGLU, .biases = EVERY_BIAS,
      .experts = {.count = 6, .chosen = 2, .hidden = 40, .shared_hidden = 33, .dense_layers = 1}},
     {MIXTURE, .mlp = MLP_CLAMPED_SWIGLU, .biases = EVERY_BIAS & ~BIAS_ROUTER,
      .experts = {.count = 6, .chosen = 2, .hidden = 40, .shared_hidden = 33, .dense_layers = 1}}},
};

static const struct piece latent[] = {
    {"latent attention",
     64,
     {LATENT(6, 44), .latent = {.rank = 56, .rope_dim = 12, .value_dim = 28}},
     {LATENT(6, 44), .latent = {.rank = 56, .rope_dim = 14, .value_dim = 28}}},
    {"latent attention of one head, wider than a chunk's scores",
     64,
     {LATENT(1, 40), .latent = {.rank = 600, .rope_dim = 20, .value_dim = 72}},
     {LATENT(1, 40), .latent = {.rank = 600, .rope_dim = 18, .value_dim = 72}}},
    {"DeepSeek: latent attention with queries of low rank, groups of experts, YaRN",
     64,
     {DEEPSEEK, .latent = {.rank = 72, .query_rank = 88, .rope_dim = 24, .value_dim = 40}},
     {DEEPSEEK, .latent = {.rank = 72, .rope_dim = 24, .value_dim = 40}}},
};

#define ROWS(table)                                                                                \
  { table, sizeof(table) / sizeof(table)[0] }
static const struct rows {
  const struct piece *first;
  size_t count;
} kinds[] = {
    [PIECE_DENSE] = ROWS(dense), [PIECE_EXPERTS] = ROWS(experts), [PIECE_LATENT] = ROWS(latent)};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const struct piece *piece_of(enum piece_kind kind, size_t i) {
  return i < kinds[kind].count ? kinds[kind].first + i : NULL;
}

const struct piece *piece_at(size_t i) {
  const struct rows *rows = kinds;
  while (rows < kinds + KINDS && i >= rows->count)
    i -= rows++->count;
  return rows < kinds + KINDS ? rows->first + i : NULL;
}

const struct piece *piece_named(const char *name) {
  const struct piece *piece;
  for (size_t i = 0; (piece = piece_at(i)); i++)
    if (strcmp(piece->name, name) == 0)
      break;
  return piece;
}
