#include "probe/measure/trial.h"

#include "kernels/share.h"
#include "probe/devices/model_shape.h"

const char *const trial_routings[] = {
    [ROUTING_MODEL] = "model", [ROUTING_UNIFORM] = "uniform", [ROUTING_SKEWED] = "skewed", NULL};

const char *trial_text(const struct trial *trial, struct arena *arena) {
  const char *where = "";
  if (trial->shard.of > 1)
    where = arena_printf(arena, ", a share of 1/%d", trial->shard.of);
  else if (trial->rank_count > 1)
    where = arena_printf(arena, ", on %d devices", trial->rank_count);
  const char *routing = "";
  if (trial->model.experts.count > 0 && trial->routing != ROUTING_MODEL)
    routing = trial->routing == ROUTING_SKEWED
                  ? arena_printf(arena, ", routing skewed:%g", (double)trial->skew)
                  : arena_printf(arena, ", routing %s", trial_routings[trial->routing]);
  return arena_printf(arena, "%s %s, batch %d, context %d%s%s", trial->model.id, trial->precision,
                      trial->batch, trial->context, routing, where);
}

int trial_deepest(const struct trial *trial) {
  return trial->layers[trial->layer_count - 1];
}

// For a shard, the first rank's share, which is the largest. A window that no layer of this context
// reaches is left out: that is full attention, for which a backend needs no window kernel.
static struct decode_shape shape_of(const struct trial *trial, int layers) {
  struct decode_shape shape = model_shape_of(&trial->model, layers);
  if (model_shape_window_is_idle(&trial->model, trial->context))
    shape.window = shape.full_every = 0;
  const struct share share = {&shape, &trial->types, 0, trial->shard.of};
  return share_shape(&share);
}

// No longer than the longest prompt.
static int chunk_of(const struct trial *trial) {
  int longest = 0;
  for (size_t i = 0; i < trial->prefill_count; i++)
    longest = trial->prefills[i] > longest ? trial->prefills[i] : longest;
  return trial->chunk < longest ? trial->chunk : longest;
}

struct decode_request trial_request(const struct trial *trial, int layers) {
  return (struct decode_request){
      .shape = shape_of(trial, layers),
      .types = trial->types,
      .batch = trial->batch,
      .context = trial->context,
      .seed = trial->seed,
      .threads = trial->threads,
      .ranks = trial->rank_count,
      .devices = trial->rank_indices,
      .routing = trial->model.experts.count > 0 ? trial->routing : ROUTING_MODEL,
      .skew = trial->skew,
      .chunk = chunk_of(trial),
      .variant = trial->variant,
  };
}
