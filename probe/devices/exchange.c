#include "probe/devices/exchange.h"

#include "kernels/decode.h"

#include <stddef.h>

enum { ALL_REDUCES = 200, WIDTH = 8192 };

static const int batches[EXCHANGE_SIZES] = {1, 64};

static const int *indices_of(const struct device *devices, size_t count, struct arena *arena) {
  int *indices = arena_array(arena, count, sizeof *indices);
  for (size_t i = 0; i < count; i++)
    indices[i] = devices[i].index;
  return indices;
}

static enum decode_status measure(const struct device *devices, size_t count, int batch,
                                  struct arena *arena, struct decode_all_reduce *out) {
  const struct decode_backend *backend = devices[0].backend;
  const int ranks = (int)count;
  const struct decode_request request = {
      .shape = {.layers = 1,
                .hidden = WIDTH,
                .heads = ranks,
                .kv_heads = ranks,
                .head_dim = 2,
                .ffn_hidden = ranks,
                .vocab = ranks,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f},
      .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = batch,
      .context = 1,
      .ranks = ranks,
      .devices = indices_of(devices, count, arena),
  };
  enum decode_status status = DECODE_OK;
  struct decode_state *state = backend->create(devices[0].index, &request, &status);
  if (!state)
    return status;
  status = backend->all_reduce(state, ALL_REDUCES, out);
  backend->destroy(state);
  return status;
}

struct exchange exchange_measure(const struct device *devices, size_t count, struct arena *arena) {
  struct exchange exchange = {.why = ""};
  const struct decode_backend *backend = devices[0].backend;
  if (!backend->all_reduce) {
    exchange.why = "these devices cannot hold a model together";
    return exchange;
  }
  for (size_t i = 0; i < EXCHANGE_SIZES && !*exchange.why; i++) {
    const enum decode_status status =
        measure(devices, count, batches[i], arena, &exchange.sizes[i]);
    if (status != DECODE_OK)
      exchange.why = device_failure(backend, status, arena);
  }
  return exchange;
}
