#include "model/evidence/roofline.h"

#include "model/evidence/memory.h"

#include <math.h>
#include <string.h>

// Columns of accelerators from wide to narrow numbers.
static const char *const peaks[] = {"dense_bf16_tflops", "dense_fp8_tflops", "dense_fp4_tflops"};
enum { PEAKS = sizeof peaks / sizeof peaks[0] };

// How far down the list the products of a precision may be computed; weights in a precision that
// the accelerator has no units for are widened.
static int narrowest(const char *precision) {
  static const struct {
    const char *precision;
    int peak;
  } known[] = {{"bf16", 0}, {"fp16", 0}, {"fp32", 0}, {"fp8", 1}, {"mxfp8", 1}, {"int8", 1}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strcmp(known[i].precision, precision))
      return known[i].peak;
  return PEAKS - 1;
}

static double number(const struct table *table, size_t row, const char *column) {
  double value = NAN;
  table_number(table, row, column, &value);
  return value;
}

static double active_parameters(const struct roofline *roofline) {
  return 1e9 * number(roofline->models, roofline->model, "matmul_active_params_b");
}

double roofline_computing(const struct roofline *roofline) {
  double peak = NAN;
  for (int p = 0; p < PEAKS && p <= narrowest(roofline->precision); p++)
    peak = fmax(peak, number(roofline->accelerators, roofline->accelerator, peaks[p]));
  const double limit = 1e12 * peak * (roofline->is_sparse ? 2 : 1) /
                       (2 * active_parameters(roofline) * roofline->computed);
  return isnan(limit) ? INFINITY : limit;
}

double roofline_reading(const struct roofline *roofline) {
  const struct memory_model model = memory_model_of(roofline->models, roofline->model);
  const double bits = memory_bits(roofline->precision), kv_bits = memory_bits(roofline->kv);
  const double bandwidth =
      1e12 * number(roofline->accelerators, roofline->accelerator, "memory_bw_tbs");
  const double weights = active_parameters(roofline) * (bits > 0 ? bits : 4) / 8;
  const double cache =
      roofline->batch * memory_kv(&model, roofline->context, kv_bits > 0 ? kv_bits : 8);
  const double limit = bandwidth / (weights + cache) * roofline->batch;
  return roofline->batch > 0 && !isnan(limit) ? limit : INFINITY;
}
