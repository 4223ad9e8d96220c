#include "model/evidence/memory.h"

#include "base/arena.h"
#include "base/csv.h"
#include "model/evidence/catalog.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static double number(const struct table *models, size_t row, const char *column) {
  return table_number_or(models, row, column, 0);
}

// The weights of multi-head latent attention: queries and keys through low-rank projections, each
// with a norm.
static double latent_attention(const struct memory_model *m) {
  const double query =
      m->hidden * m->q_lora + m->q_lora + m->q_lora * m->heads * (m->nope + m->rope);
  const double key = m->hidden * (m->kv_lora + m->rope) + m->kv_lora +
                     m->kv_lora * m->heads * (m->nope + m->v_dim);
  return query + key + m->heads * m->v_dim * m->hidden;
}

// The weights of multi-head and grouped-query attention; `sinks` are one learned logit per head.
static double attention(const struct memory_model *m) {
  if (m->is_mla)
    return latent_attention(m);
  const double outputs = (m->heads + 2 * m->kv_heads) * m->head_dim;
  const double biases = (m->has_qkv_bias ? outputs : 0) + (m->has_output_bias ? m->hidden : 0);
  return m->hidden * outputs + biases + m->heads * m->head_dim * m->hidden +
         (m->has_sinks ? m->heads : 0) + (m->has_qk_norm ? 2 * m->head_dim : 0);
}

static double mlp(const struct memory_model *m, double ffn) {
  const double inner = (m->is_gated ? 2 : 1) * ffn;
  return m->hidden * (inner + ffn) + (m->has_mlp_bias ? inner + m->hidden : 0);
}

// A layer's MLP with `experts` of its experts, the router and the shared experts.
static double expert_mlp(const struct memory_model *m, double experts) {
  if (m->experts == 0)
    return mlp(m, m->ffn);
  const double router = m->hidden * m->experts + (m->has_router_bias ? m->experts : 0);
  return (experts + m->shared_experts) * mlp(m, m->ffn) + router;
}

static double embeddings(const struct memory_model *m) {
  return (m->is_tied ? 1 : 2) * m->vocab * m->hidden;
}

static double expert_matrices(const struct memory_model *m) {
  return (m->layers - m->dense_layers) * m->experts * (m->is_gated ? 3 : 2) * m->hidden * m->ffn;
}

static double parameters(const struct memory_model *m, double experts) {
  const double norm = (m->has_norm_bias ? 2 : 1) * m->hidden;
  return embeddings(m) + norm + m->layers * (attention(m) + 2 * norm) +
         m->dense_layers * mlp(m, m->dense_ffn) +
         (m->layers - m->dense_layers) * expert_mlp(m, experts);
}

struct memory_model memory_model_of(const struct table *models, size_t row) {
  const char *biases = table_cell(models, row, "biases");
  struct memory_model model = {
      .id = table_cell(models, row, "id"),
      .name = table_cell(models, row, "name"),
      .layers = number(models, row, "layers"),
      .hidden = number(models, row, "hidden"),
      .heads = number(models, row, "heads"),
      .kv_heads = number(models, row, "kv_heads"),
      .head_dim = number(models, row, "head_dim"),
      .ffn = number(models, row, "ffn_hidden"),
      .vocab = number(models, row, "vocab"),
      .experts = number(models, row, "experts"),
      .experts_per_token = number(models, row, "experts_per_token"),
      .shared_experts = number(models, row, "shared_experts"),
      .dense_layers = number(models, row, "first_dense_layers"),
      .dense_ffn = number(models, row, "dense_ffn_hidden"),
      .q_lora = number(models, row, "q_lora_rank"),
      .kv_lora = number(models, row, "kv_lora_rank"),
      .nope = number(models, row, "qk_nope_dim"),
      .rope = number(models, row, "qk_rope_dim"),
      .v_dim = number(models, row, "v_head_dim"),
      .window = number(models, row, "sliding_window"),
      .full_every = number(models, row, "full_attention_every"),
      .is_mla = !strcmp(table_cell(models, row, "attention_kind"), "mla"),
      .is_gated = strcmp(table_cell(models, row, "mlp_kind"), "gelu") != 0,
      .has_norm_bias = !strcmp(table_cell(models, row, "norm_kind"), "layer"),
      .has_qk_norm = number(models, row, "qk_norm") == 1,
      .has_sinks = number(models, row, "attention_sinks") == 1,
      .has_qkv_bias = catalog_lists(biases, "qkv"),
      .has_output_bias = catalog_lists(biases, "output"),
      .has_mlp_bias = catalog_lists(biases, "mlp"),
      .has_router_bias = catalog_lists(biases, "router"),
      .is_tied = number(models, row, "tied_embeddings") == 1,
      .shipped_experts = catalog_lists(table_cell(models, row, "shipped_parts"), "experts")
                             ? table_cell(models, row, "shipped_precision")
                             : NULL,
      .has_shape = true,
  };
  model.parameters = parameters(&model, model.experts);
  model.active_parameters = parameters(&model, model.experts_per_token);
  return model;
}

struct memory_model memory_model_of_size(double count, struct arena *arena) {
  const char *name = arena_printf(arena, "%.6gB", 1e-9 * count);
  return (struct memory_model){
      .id = name, .name = name, .parameters = count, .active_parameters = count};
}

double memory_bits(const char *precision) {
  static const struct {
    const char *name;
    double bits;
  } known[] = {
      {"fp32", 32},
      {"bf16", 16},
      {"fp16", 16},
      {"fp8", 8},
      {"int8", 8},
      {"int8-g128", 8 + 16. / 128},
      {"mxfp8", 8 + 8. / 32},
      {"mxfp6", 6 + 8. / 32},
      {"mxfp6-e3m2", 6 + 8. / 32},
      {"mxfp4", 4 + 8. / 32},
      {"fp4", 4 + 8. / 16},
      {"int4", 4 + 16. / 128},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strcasecmp(known[i].name, precision))
      return known[i].bits;
  return 0;
}

// Whether that is the precision of experts beside which the rest is in 16 bits. A benchmark's fp4
// does not say which 4-bit format it is, but the published weights do.
static bool is_of_experts(const struct memory_model *model, const char *precision) {
  const char *shipped = model->shipped_experts;
  return shipped && (!strcasecmp(precision, shipped) ||
                     (!strcasecmp(precision, "fp4") && !strcasecmp(shipped, "mxfp4")));
}

double memory_expert_weights(const struct memory_model *model, const char *precision) {
  const char *own = is_of_experts(model, precision) ? model->shipped_experts : precision;
  return model->has_shape ? expert_matrices(model) * memory_bits(own) / 8 : 0;
}

double memory_weights(const struct memory_model *model, const char *precision) {
  const double bits = memory_bits(precision);
  if (!model->has_shape)
    return model->parameters * bits / 8;
  const double wide = embeddings(model);
  const double rest = model->parameters - wide - expert_matrices(model);
  return (wide * fmax(bits, MEMORY_WIDE_BITS) +
          rest * (is_of_experts(model, precision) ? MEMORY_WIDE_BITS : bits)) /
             8 +
         memory_expert_weights(model, precision);
}

static double kv_per_layer(const struct memory_model *model) {
  return model->is_mla ? model->kv_lora + model->rope : 2 * model->kv_heads * model->head_dim;
}

double memory_kv_per_token(const struct memory_model *model, double bits) {
  return model->layers * kv_per_layer(model) * bits / 8;
}

double memory_kv(const struct memory_model *model, double context, double bits) {
  const double whole = model->window <= 0      ? model->layers
                       : model->full_every > 0 ? floor(model->layers / model->full_every)
                                               : 0;
  const double tokens = whole * context + (model->layers - whole) * fmin(context, model->window);
  return tokens * kv_per_layer(model) * bits / 8;
}

double memory_per_token(const struct memory_model *model, double accelerators) {
  const double experts = model->experts > 0 ? model->experts_per_token + model->shared_experts : 1;
  const double inner = (model->is_gated ? 2 : 1) * fmax(model->ffn * experts, model->dense_ffn);
  const double divided =
      2 * model->heads * model->head_dim + kv_per_layer(model) * (model->is_mla ? 0 : 1) + inner;
  return 2 * (3 * model->hidden + divided / accelerators);
}

double memory_per_sequence(const struct memory_model *model, double accelerators) {
  return 4 * model->vocab / accelerators;
}

double memory_kv_share(const struct memory_model *model, double accelerators) {
  return model->is_mla ? 1 : 1 / fmin(accelerators, model->kv_heads);
}

bool memory_divides(const struct memory_model *model, int accelerators) {
  if (!model->has_shape)
    return true;
  const int heads = (int)model->heads, kv_heads = (int)model->kv_heads;
  return heads % accelerators == 0 &&
         (model->is_mla || kv_heads % accelerators == 0 || accelerators % kv_heads == 0);
}
