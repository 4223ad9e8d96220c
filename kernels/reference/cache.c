#include "kernels/reference/cache.h"

#include "kernels/family.h"

float *reference_cache_of(const struct reference *r, enum tensor tensor, int layer) {
  const size_t positions = r->batch * r->context;
  float *cache = r->cache + (size_t)layer * positions * r->cache_width;
  return tensor == TENSOR_VALUES ? cache + positions * r->kv_width : cache;
}

struct reference_span reference_span_of(const struct reference *r, int layer,
                                        const struct reference_item *item) {
  const size_t window = (size_t)family_layer(&r->request.shape, layer).window;
  const size_t seen = (size_t)item->position + 1;
  const size_t first = window > 0 && window < seen ? seen - window : 0;
  return (struct reference_span){first, seen - first};
}
