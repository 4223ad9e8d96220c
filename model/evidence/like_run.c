#include "model/evidence/like_run.h"

#include "model/evidence/catalog.h"

#include <math.h>
#include <string.h>

double like_run_active(const struct table *models, const char *model) {
  const long row = *model ? catalog_find(models, model) : -1;
  return row < 0 ? (double)NAN : table_number_or(models, (size_t)row, "active_params_b", NAN);
}

double like_run_active_of_row(const struct like_run *run, size_t row) {
  return table_number_or(run->throughputs, row, "active_params_b",
                         like_run_active(run->models, table_cell(run->throughputs, row, "model")));
}

// The distance of two amounts, the logarithm of their ratio: 0 if equal; NAN if one is unknown.
static double distance(double a, double b) {
  return fabs(log(a / b));
}

static bool is_alike(const struct like_run *run, size_t row) {
  const struct table *table = run->throughputs;
  return !strcmp(table_cell(table, row, "accelerator"), run->accelerator) &&
         !strcmp(table_cell(table, row, "precision"), run->precision) &&
         !strcmp(table_cell(table, row, "token_basis"), "output") &&
         *table_cell(table, row, "avg_gpu_power_w_total");
}

bool like_run_find(const struct like_run *run, struct evidence *nearest) {
  const double limit = log(LIKE_RUN);
  double least = INFINITY;
  for (size_t row = 0; row < run->throughputs->rows; row++) {
    struct evidence other;
    if (!is_alike(run, row))
      continue;
    evidence_of_row(run->throughputs, row, &other);
    const double size = distance(like_run_active_of_row(run, row), run->active_b);
    const double rate = distance(other.tokens_per_s, run->tokens_per_s);
    if (!(size <= limit && rate <= limit && size + rate < least) || !isfinite(other.load_power_w))
      continue;
    least = size + rate;
    *nearest = other;
  }
  return isfinite(least);
}
