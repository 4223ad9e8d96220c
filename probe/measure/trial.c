#include "probe/measure/trial.h"

#include "kernels/share.h"
#include "probe/devices/model_shape.h"

const char *trial_text(const struct trial *trial, struct arena *arena) {
  const char *where = "";
  if (trial->shard.of > 1)
    where = arena_printf(arena, ", a share of 1/%d", trial->shard.of);
  else if (trial->rank_count > 1)
    where = arena_printf(arena, ", on %d devices", trial->rank_count);
  return arena_printf(arena, "%s %s, batch %d, context %d%s", trial->model.id, trial->precision,
                      trial->batch, trial->context, where);
}

int trial_deepest(const struct trial *trial) {
  return trial->layers[trial->layer_count - 1];
}

struct decode_request trial_request(const struct trial *trial, int layers) {
  return (struct decode_request){
      .shape = share_of(model_shape_of(&trial->model, layers), trial->shard.of),
      .types = trial->types,
      .batch = trial->batch,
      .context = trial->context,
      .seed = trial->seed,
      .threads = trial->threads,
      .ranks = trial->rank_count,
      .devices = trial->rank_indices,
  };
}
