#include "probe/devices/model_shape.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/family.h"
#include "kernels/share.h"
#include "model/catalog/columns.h"
#include "model/evidence/naming.h"
#include "probe/devices/precision.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The words of columns, in the order of the enums of measurement.h; a blank means the first.
static const char *const attentions[] = {"gqa", "mha", "mqa", "mla", NULL};
static const char *const norms[] = {"rms", "layer", NULL};
static const char *const mlps[] = {"swiglu", "clamped_swiglu", "gelu", NULL};
static const char *const scalings[] = {"plain", "llama3", "yarn", NULL};
static const char *const routers[] = {"softmax_chosen", "softmax_all", "sigmoid", NULL};
static const char *const biases[] = {"none", "qkv", "output", "mlp", "router", NULL};

_Static_assert((int)MEASUREMENT_NORM_LAYER == (int)NORM_LAYER, "norms in decode.h's order");
_Static_assert((int)MEASUREMENT_MLP_CLAMPED == (int)MLP_CLAMPED_SWIGLU, "MLPs in its order");
_Static_assert((int)MEASUREMENT_MLP_GELU == (int)MLP_GELU, "MLPs in its order");
_Static_assert((int)MEASUREMENT_ROPE_LLAMA3 == (int)ROPE_LLAMA3, "scalings in its order");
_Static_assert((int)MEASUREMENT_ROPE_YARN == (int)ROPE_YARN, "scalings in its order");
_Static_assert((int)MEASUREMENT_ROUTER_ALL == (int)ROUTER_SOFTMAX_ALL, "routers in its order");
_Static_assert((int)MEASUREMENT_ROUTER_SIGMOID == (int)ROUTER_SIGMOID, "routers in its order");

struct row {
  const struct catalog *catalog;
  const struct table *table;
  size_t number;
  size_t errors; // so far
};

static void refuse(struct row *row, const char *column, const char *message) {
  diagnostics_error(row->catalog->diagnostics, table_place(row->table, row->number, column), "%s",
                    message);
  row->errors++;
}

// The index of the cell's word among the known ones; 0 for a blank.
static int read_word(struct row *row, const char *column, const char *const *words) {
  const char *cell = table_cell(row->table, row->number, column);
  const char *known = "";
  for (int i = 0; words[i]; i++) {
    if (!*cell || !strcmp(words[i], cell))
      return i;
    known = arena_printf(row->catalog->arena, "%s%s%s", known, *known ? ", " : "", words[i]);
  }
  refuse(
      row, column,
      arena_printf(row->catalog->arena, "the probe knows %s in %s, not '%s'", known, column, cell));
  return 0;
}

// A blank is 0 if `least` is.
static int read_whole(struct row *row, const char *column, int least) {
  double number = 0;
  const bool found = table_number(row->table, row->number, column, &number);
  if ((found || least == 0) && number >= least && number <= 1e7 && number == (int)number)
    return (int)number;
  refuse(row, column,
         arena_printf(row->catalog->arena, "the probe needs a whole number of %s here", column));
  return 0;
}

static double read_number(const struct row *row, const char *column, double blank) {
  return table_number_or(row->table, row->number, column, blank);
}

static bool read_flag(const struct row *row, const char *column) {
  return read_number(row, column, 0) == 1;
}

// Reports what replaces a blank.
static double read_or_stand_in(const struct row *row, const char *column, double usual,
                               struct model_notes *notes) {
  const double number = read_number(row, column, -1);
  if (number >= 0)
    return number;
  notes->stand_ins =
      arena_printf(row->catalog->arena, "%s%s%s %g", notes->stand_ins,
                   *notes->stand_ins ? ", " : "used in place of the model's own: ", column, usual);
  return usual;
}

static void read_sizes(struct row *row, struct measurement_shape *out) {
  const struct {
    const char *column;
    int *size;
  } sizes[] = {{"layers", &out->layers},     {"hidden", &out->hidden},
               {"heads", &out->heads},       {"kv_heads", &out->kv_heads},
               {"head_dim", &out->head_dim}, {"ffn_hidden", &out->ffn_hidden},
               {"vocab", &out->vocab}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    *sizes[i].size = read_whole(row, sizes[i].column, 1);
}

static void check_biases(struct row *row, const char *cell) {
  for (const char *rest = cell + strspn(cell, " ;"); *rest; rest += strspn(rest, " ;")) {
    const size_t length = strcspn(rest, ";");
    size_t i = 0;
    while (biases[i] && (strlen(biases[i]) != length || strncmp(biases[i], rest, length) != 0))
      i++;
    if (!biases[i])
      refuse(row, "biases",
             arena_printf(row->catalog->arena, "the probe does not know the biases of '%.*s'",
                          (int)length, rest));
    rest += length;
  }
}

static void read_layer(struct row *row, struct measurement_layer *out) {
  const char *cell = table_cell(row->table, row->number, "biases");
  read_word(row, "attention_kind", attentions);
  check_biases(row, cell);
  *out = (struct measurement_layer){
      .norm = (enum measurement_norm)read_word(row, "norm_kind", norms),
      .mlp = (enum measurement_mlp)read_word(row, "mlp_kind", mlps),
      .parallel = read_flag(row, "parallel_blocks"),
      .qk_norm = read_flag(row, "qk_norm"),
      .sinks = read_flag(row, "attention_sinks"),
      .bias_qkv = catalog_lists(cell, "qkv"),
      .bias_output = catalog_lists(cell, "output"),
      .bias_mlp = catalog_lists(cell, "mlp"),
      .bias_router = catalog_lists(cell, "router"),
      .window = read_whole(row, "sliding_window", 0),
      .full_every = read_whole(row, "full_attention_every", 0),
      .score_scale = read_number(row, "score_scale", 0),
  };
}

static void read_rope(struct row *row, struct measurement_rope *out) {
  *out = (struct measurement_rope){
      .scaling = (enum measurement_scaling)read_word(row, "rope_scaling", scalings),
      .factor = read_number(row, "rope_factor", 0),
      .low = read_number(row, "rope_low", 0),
      .high = read_number(row, "rope_high", 0),
      .magnitude = read_number(row, "rope_magnitude", 0),
      .original_context = read_whole(row, "rope_original_context", 0),
      .whole = read_flag(row, "rope_whole"),
      .interleaved = read_flag(row, "rope_interleaved"),
  };
}

static void read_latent(struct row *row, struct measurement_latent *out) {
  *out = (struct measurement_latent){
      .rank = read_whole(row, "kv_lora_rank", 0),
      .query_rank = read_whole(row, "q_lora_rank", 0),
      .rope_dim = read_whole(row, "qk_rope_dim", 0),
      .value_dim = read_whole(row, "v_head_dim", 0),
  };
}

// In the row, ffn_hidden is the width of an expert if there are experts, and dense_ffn_hidden the
// width of the first layers' MLP.
static void read_experts(struct row *row, struct measurement_shape *out) {
  const int count = read_whole(row, "experts", 0), width = out->ffn_hidden;
  const int chosen = read_whole(row, "experts_per_token", 0);
  const int dense = read_whole(row, "dense_ffn_hidden", 0);
  if (count == 0 && chosen == 0)
    return;
  out->ffn_hidden = dense > 0 ? dense : width;
  out->experts = (struct measurement_experts){
      .count = count,
      .chosen = chosen,
      .hidden = width,
      .shared_hidden = read_whole(row, "shared_experts", 0) * width,
      .dense_layers = read_whole(row, "first_dense_layers", 0),
      .router = (enum measurement_router)read_word(row, "router_kind", routers),
      .groups = read_whole(row, "expert_groups", 0),
      .kept_groups = read_whole(row, "kept_expert_groups", 0),
      .scale = read_number(row, "router_scale", 0),
  };
}

// The precisions that a cell lists, by the names of records.
static const char *read_precisions(struct row *row, const char *column) {
  struct arena *arena = row->catalog->arena;
  struct diagnostics diagnostics = {.arena = arena};
  const char *list = "";
  char *rest = arena_copy(arena, table_cell(row->table, row->number, column));
  for (char *name = strsep(&rest, ";"); name; name = strsep(&rest, ";")) {
    name += strspn(name, " ");
    name[strcspn(name, " ")] = '\0';
    const char *known = *name ? precision_find(name, &diagnostics) : NULL;
    if (known)
      list = arena_printf(arena, "%s%s%s", list, *list ? ";" : "", known);
    else if (*name)
      refuse(row, column, diagnostics.list[diagnostics.count - 1].message);
  }
  return list;
}

static int read_row(struct row *row, struct measurement_shape *out, struct model_notes *notes) {
  const char *parts = table_cell(row->table, row->number, "shipped_parts");
  *notes = (struct model_notes){
      .stand_ins = "",
      .excluded = read_precisions(row, "excluded_precisions"),
      .expert_precision = catalog_lists(parts, "experts")
                              ? table_cell(row->table, row->number, "shipped_precision")
                              : "",
  };
  *out = (struct measurement_shape){.id = table_cell(row->table, row->number, "id")};
  read_sizes(row, out);
  out->norm_epsilon = read_or_stand_in(row, "norm_epsilon", 1e-5, notes);
  out->rope_theta = read_or_stand_in(row, "rope_theta", 10000, notes);
  read_layer(row, &out->layer);
  read_rope(row, &out->rope);
  read_latent(row, &out->latent);
  read_experts(row, out);
  if (row->errors)
    return -1;
  const struct decode_shape shape = model_shape_of(out, out->layers);
  const char *fault = family_fault(&shape);
  if (fault)
    refuse(row, "id", arena_printf(row->catalog->arena, "a model cannot have %s", fault));
  return fault ? -1 : 0;
}

int model_shape_find(struct catalog *catalog, const char *id, struct measurement_shape *out,
                     struct model_notes *notes) {
  const struct table *table = catalog_table(catalog, CATALOG_MODELS);
  long found;
  if (!table)
    return -1;
  const struct naming naming = naming_find_row(catalog, CATALOG_MODELS, id, &found, catalog->arena);
  if (found < 0) {
    diagnostics_error(catalog->diagnostics, nowhere, "%s", naming.why);
    return -1;
  }
  if (naming.note)
    diagnostics_warning(catalog->diagnostics, nowhere, "%s", naming.note);
  struct row row = {.catalog = catalog, .table = table, .number = (size_t)found};
  return read_row(&row, out, notes);
}

// A record with an older schema does not have it.
static float known(double value) {
  return isnan(value) ? 0 : (float)value;
}

static unsigned biases_of(const struct measurement_layer *layer) {
  return (layer->bias_qkv ? BIAS_QKV : 0U) | (layer->bias_output ? BIAS_OUTPUT : 0U) |
         (layer->bias_mlp ? BIAS_MLP : 0U) | (layer->bias_router ? BIAS_ROUTER : 0U);
}

static struct decode_rope rope_of(const struct measurement_rope *rope) {
  return (struct decode_rope){
      .scaling = (enum decode_rope_scaling)rope->scaling,
      .factor = known(rope->factor),
      .low = known(rope->low),
      .high = known(rope->high),
      .magnitude = known(rope->magnitude),
      .original_context = rope->original_context,
      .whole = rope->whole,
      .interleaved = rope->interleaved,
  };
}

static struct decode_experts experts_of(const struct measurement_experts *experts) {
  return (struct decode_experts){
      .count = experts->count,
      .chosen = experts->chosen,
      .hidden = experts->hidden,
      .shared_hidden = experts->shared_hidden,
      .dense_layers = experts->dense_layers,
      .router = (enum decode_router)experts->router,
      .groups = experts->groups,
      .kept_groups = experts->kept_groups,
      .scale = known(experts->scale),
  };
}

struct decode_shape model_shape_of(const struct measurement_shape *shape, int layers) {
  const struct measurement_layer *layer = &shape->layer;
  const struct measurement_latent *latent = &shape->latent;
  return (struct decode_shape){
      .layers = layers,
      .hidden = shape->hidden,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_dim = shape->head_dim,
      .ffn_hidden = shape->ffn_hidden,
      .vocab = shape->vocab,
      .norm_epsilon = (float)shape->norm_epsilon,
      .rope_theta = (float)shape->rope_theta,
      .norm = (enum decode_norm)layer->norm,
      .mlp = (enum decode_mlp)layer->mlp,
      .parallel = layer->parallel,
      .qk_norm = layer->qk_norm,
      .sinks = layer->sinks,
      .biases = biases_of(layer),
      .window = layer->window,
      .full_every = layer->full_every,
      .score_scale = known(layer->score_scale),
      .rope = rope_of(&shape->rope),
      .latent = {latent->rank, latent->query_rank, latent->rope_dim, latent->value_dim},
      .experts = experts_of(&shape->experts),
  };
}

int model_shape_depth(const struct measurement_shape *shape, int layers) {
  const int period = shape->layer.full_every > 0 ? shape->layer.full_every : 1;
  const int dense = shape->experts.count > 0 ? shape->experts.dense_layers : 0;
  const int least = layers > dense ? layers : dense + 1;
  return (least + period - 1) / period * period;
}

bool model_shape_window_is_idle(const struct measurement_shape *shape, int context) {
  return shape->layer.window >= context;
}

bool model_shape_divides(const struct measurement_shape *shape, int ranks, const char **what,
                         struct arena *arena) {
  const struct decode_shape whole = model_shape_of(shape, shape->layers);
  const char *name;
  int size;
  if (share_divides(&whole, ranks, &size, &name))
    return true;
  *what = arena_printf(arena, "%d %s", size, name);
  return false;
}
