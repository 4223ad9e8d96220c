#include "kernels/routing.h"

#include "kernels/family.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *routing_fault(const struct decode_request *request) {
  const struct decode_experts *experts = &request->shape.experts;
  if (request->routing < ROUTING_MODEL || request->routing > ROUTING_SKEWED)
    return "an unknown routing";
  if (request->routing != ROUTING_MODEL && experts->count == 0)
    return "routing of a model without experts";
  if (request->routing == ROUTING_SKEWED && !(request->skew >= 0 && isfinite(request->skew)))
    return "a skew that is not a number from 0 on";
  return NULL;
}

size_t routing_entries(const struct decode_request *request) {
  if (request->routing == ROUTING_MODEL)
    return 0;
  return (size_t)ROUTING_STEPS * (size_t)request->shape.layers * (size_t)request->batch *
         (size_t)request->shape.experts.chosen;
}

// How often each expert of a layer is drawn.
struct popularity {
  int count;
  uint16_t order[MAX_DECODE_EXPERTS]; // by place, the most popular first
  double weight[MAX_DECODE_EXPERTS];  // by place
  double sum;
};

// A number in [0, 1), of 32 bits.
static double draw(uint64_t key, uint64_t counter) {
  return weights_hash(key, counter) * 0x1p-32;
}

// A key that no tensor has: there are fewer tensors.
static uint64_t key_of(const struct decode_request *request, int layer, bool order) {
  return weights_key(request->seed, (enum tensor)(TENSORS + order), layer);
}

static void popularity_of(const struct decode_request *request, int layer, struct popularity *out) {
  const uint64_t key = key_of(request, layer, true);
  const double skew = request->routing == ROUTING_SKEWED ? (double)request->skew : 0;
  out->count = request->shape.experts.count;
  out->sum = 0;
  for (int i = 0; i < out->count; i++) { // Fisher and Yates's shuffle, from the front
    const int j = (int)(draw(key, (uint64_t)i) * (i + 1));
    out->order[i] = out->order[j];
    out->order[j] = (uint16_t)i;
    out->weight[i] = pow(i + 1, -skew);
    out->sum += out->weight[i];
  }
}

// The place, among those not taken, that `point` falls on when their weights are laid end to end.
static int place_at(const struct popularity *popularity, const bool *taken, double point) {
  int last = 0;
  for (int place = 0; place < popularity->count; place++) {
    if (taken[place])
      continue;
    last = place;
    point -= popularity->weight[place];
    if (point <= 0)
      break;
  }
  return last;
}

static void choose(const struct popularity *popularity, int chosen, uint64_t key, uint64_t counter,
                   uint16_t *out) {
  bool taken[MAX_DECODE_EXPERTS] = {false};
  double left = popularity->sum;
  for (int i = 0; i < chosen; i++) {
    const int place = place_at(popularity, taken, draw(key, counter + (uint64_t)i) * left);
    taken[place] = true;
    left -= popularity->weight[place];
    out[i] = popularity->order[place];
  }
}

static void fill_layer(const struct decode_request *request, int layer, uint16_t *table) {
  const size_t chosen = (size_t)request->shape.experts.chosen, batch = (size_t)request->batch;
  const size_t layers = (size_t)request->shape.layers;
  const uint64_t key = key_of(request, layer, false);
  struct popularity popularity = {0};
  popularity_of(request, layer, &popularity);
  for (size_t step = 0; step < ROUTING_STEPS; step++)
    for (size_t row = 0; row < batch; row++)
      choose(&popularity, (int)chosen, key, (row * ROUTING_STEPS + step) * chosen,
             table + ((step * layers + (size_t)layer) * batch + row) * chosen);
}

void routing_fill(const struct decode_request *request, uint16_t *table) {
  memset(table, 0, routing_entries(request) * sizeof *table);
  for (int layer = 0; layer < request->shape.layers; layer++)
    if (family_layer(&request->shape, layer).experts)
      fill_layer(request, layer, table);
}

double routing_expected(const struct decode_shape *shape, int batch) {
  const struct decode_experts *experts = &shape->experts;
  if (experts->count == 0 || shape->layers <= experts->dense_layers)
    return 0;
  const double missed = 1 - (double)experts->chosen / experts->count;
  return (shape->layers - experts->dense_layers) * (double)experts->count *
         (1 - pow(missed, batch));
}
