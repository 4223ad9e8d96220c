#include "model/evidence/roofline.h"

#include "model/evidence/memory.h"

#include <math.h>
#include <string.h>

enum { MAX_PEAKS = 4 };

// The units that may compute the products of a precision: weights in one that an accelerator has no
// units for are widened, and narrower ones may be multiplied as integers.
static const struct {
  const char *precision, *own; // `own`: the units without which nothing is known; NULL: any
  const char *peaks[MAX_PEAKS];
} computes[] = {
    {"bf16", NULL, {"dense_bf16_tflops"}},
    {"fp16", NULL, {"dense_bf16_tflops"}},
    {"fp32", NULL, {"dense_bf16_tflops"}},
    {"fp8", NULL, {"dense_bf16_tflops", "dense_fp8_tflops"}},
    {"mxfp8", NULL, {"dense_bf16_tflops", "dense_fp8_tflops"}},
    {"int8", "dense_int8_tops", {"dense_bf16_tflops", "dense_int8_tops"}},
    {"int8-g128", "dense_int8_tops", {"dense_bf16_tflops", "dense_int8_tops"}},
    {NULL, NULL, {"dense_bf16_tflops", "dense_fp8_tflops", "dense_fp4_tflops", "dense_int8_tops"}},
};

static double active_parameters(const struct roofline *roofline) {
  return 1e9 * table_number_or(roofline->models, roofline->model, "matmul_active_params_b", NAN);
}

static double peak_of(const struct roofline *roofline) {
  size_t i = 0;
  while (computes[i].precision && strcmp(computes[i].precision, roofline->precision) != 0)
    i++;
  if (computes[i].own &&
      isnan(table_number_or(roofline->accelerators, roofline->accelerator, computes[i].own, NAN)))
    return NAN;
  double peak = NAN;
  for (size_t p = 0; p < MAX_PEAKS && computes[i].peaks[p]; p++)
    peak = fmax(peak, table_number_or(roofline->accelerators, roofline->accelerator,
                                      computes[i].peaks[p], NAN));
  return peak;
}

double roofline_computing(const struct roofline *roofline) {
  const double limit = 1e12 * peak_of(roofline) * (roofline->is_sparse ? 2 : 1) /
                       (2 * active_parameters(roofline) * roofline->computed);
  return isnan(limit) ? INFINITY : limit;
}

double roofline_reading(const struct roofline *roofline) {
  const struct memory_model model = memory_model_of(roofline->models, roofline->model);
  const double bits = memory_bits(roofline->precision), kv_bits = memory_bits(roofline->kv);
  const double bandwidth =
      1e12 * table_number_or(roofline->accelerators, roofline->accelerator, "memory_bw_tbs", NAN);
  const double weights = active_parameters(roofline) * (bits > 0 ? bits : 4) / 8;
  const double cache =
      roofline->batch * memory_kv(&model, roofline->context, kv_bits > 0 ? kv_bits : 8);
  const double limit = bandwidth / (weights + cache) * roofline->batch;
  return roofline->batch > 0 && !isnan(limit) ? limit : INFINITY;
}
