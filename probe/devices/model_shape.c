#include "probe/devices/model_shape.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "kernels/share.h"
#include "model/evidence/naming.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// What the columns must hold for a model of decode.h's family; "" is a blank.
static const struct {
  const char *column, *allowed[3], *what;
} family[] = {
    {"experts", {"0", "", NULL}, "a mixture of experts"},
    {"attention_kind", {"gqa", "mha", NULL}, "its attention"},
    {"sliding_window", {"", "0", NULL}, "a sliding window"},
    {"mlp_kind", {"swiglu", NULL, NULL}, "its MLP"},
    {"attention_bias", {"none", "", NULL}, "biases"},
};

static bool is_allowed(const char *const *allowed, const char *cell) {
  for (size_t i = 0; i < 3 && allowed[i]; i++)
    if (!strcmp(allowed[i], cell))
      return true;
  return false;
}

static int check_family(const struct catalog *catalog, const struct table *table, size_t row) {
  const char *why = "";
  for (size_t i = 0; i < sizeof family / sizeof family[0]; i++) {
    const char *cell = table_cell(table, row, family[i].column);
    if (!is_allowed(family[i].allowed, cell))
      why = arena_printf(catalog->arena, "%s%s%s (%s %s)", why, *why ? ", " : "", family[i].what,
                         family[i].column, cell);
  }
  if (!*why)
    return 0;
  diagnostics_error(catalog->diagnostics, table_place(table, row, "id"),
                    "the probe has kernels for dense SwiGLU models with grouped-query or "
                    "multi-head attention, not for %s",
                    why);
  return -1;
}

static int read_size(const struct catalog *catalog, const struct table *table, size_t row,
                     const char *column, int *out) {
  double number;
  if (table_number(table, row, column, &number) && number >= 1 && number <= 1e7 &&
      number == (int)number) {
    *out = (int)number;
    return 0;
  }
  diagnostics_error(catalog->diagnostics, table_place(table, row, column),
                    "the probe needs a whole number of %s here", column);
  return -1;
}

int model_shape_find(struct catalog *catalog, const char *id, struct measurement_shape *out) {
  const struct table *table = catalog_table(catalog, CATALOG_MODELS);
  long found;
  if (!table)
    return -1;
  const struct naming naming = naming_find_row(catalog, CATALOG_MODELS, id, &found, catalog->arena);
  if (found < 0) {
    diagnostics_error(catalog->diagnostics, (struct place){0}, "%s", naming.why);
    return -1;
  }
  if (naming.note)
    diagnostics_warning(catalog->diagnostics, (struct place){0}, "%s", naming.note);
  const size_t row = (size_t)found;
  if (check_family(catalog, table, row))
    return -1;
  *out = (struct measurement_shape){.id = table_cell(table, row, "id")};
  const struct {
    const char *column;
    int *size;
  } sizes[] = {{"layers", &out->layers},     {"hidden", &out->hidden},
               {"heads", &out->heads},       {"kv_heads", &out->kv_heads},
               {"head_dim", &out->head_dim}, {"ffn_hidden", &out->ffn_hidden},
               {"vocab", &out->vocab}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (read_size(catalog, table, row, sizes[i].column, sizes[i].size))
      return -1;
  out->norm_epsilon = 1e-5;
  out->rope_theta = 10000;
  return 0;
}

struct decode_shape model_shape_of(const struct measurement_shape *shape, int layers) {
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
  };
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
