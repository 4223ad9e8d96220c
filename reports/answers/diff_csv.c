// The CSV face of a difference.
#include "reports/answers/diff.h"
#include "reports/print/csv_out.h"
#include "reports/print/number.h"

#include <math.h>

static void begin_row(struct csv_out *out, const char *kind, const char *option, const char *name,
                      const char *label, const char *unit) {
  csv_out_text(out, kind);
  csv_out_text(out, option);
  csv_out_text(out, name);
  csv_out_text(out, label);
  csv_out_text(out, unit);
}

// A number that is not there is NAN.
static void put_number(struct csv_out *out, double value) {
  if (isfinite(value))
    csv_out_number(out, value);
  else
    csv_out_blank(out);
}

static void end_row(struct csv_out *out, double a, double b) {
  put_number(out, a);
  put_number(out, b);
  put_number(out, a == b ? 0 : b / a - 1);
  csv_out_end_row(out);
}

static void put_names(struct csv_out *out, const char *kind, const char *const *names, size_t count,
                      bool options) {
  for (size_t i = 0; i < count; i++) {
    begin_row(out, kind, options ? names[i] : "", options ? "" : names[i], "", "");
    end_row(out, NAN, NAN);
  }
}

static double shown_or_nan(const struct scenario *scenario, const struct option *option,
                           int declaration) {
  return option_has(option, declaration) ? diff_shown(scenario, option, declaration) : NAN;
}

static void put_inputs(struct csv_out *out, const struct difference *difference,
                       const struct change *change, size_t pair) {
  const struct pair *both = &difference->pairs[pair];
  for (size_t i = 0; i < change->input_count; i++) {
    const int d = change->inputs[i];
    const struct declaration *input = &difference->a->model->declarations[d];
    begin_row(out, "input", both->a->id, input->name, input->label, input->unit.text);
    end_row(out, shown_or_nan(difference->a, both->a, d), shown_or_nan(difference->b, both->b, d));
  }
}

static void put_results(struct csv_out *out, const struct difference *difference, size_t pair) {
  const struct pair *both = &difference->pairs[pair];
  for (int d = 0; d < difference->a->model->count; d++) {
    if (!diff_is_result(difference, pair, d))
      continue;
    const struct declaration *item = &difference->a->model->declarations[d];
    begin_row(out, "result", both->a->id, item->name, item->label, item->unit.text);
    end_row(out, diff_shown(difference->a, both->a, d), diff_shown(difference->b, both->b, d));
  }
}

static void put_effect(struct csv_out *out, const struct difference *difference, size_t pair,
                       const struct change *changes, size_t count, struct arena *arena) {
  const struct option *option = difference->pairs[pair].a;
  const int d = model_find(difference->a->model, "cost_per_mtok");
  const struct unit *unit = &difference->a->model->declarations[d].unit;
  double cost;
  if (!difference_cost(difference, pair, changes, count, arena, &cost))
    cost = NAN;
  end_row(out, diff_shown(difference->a, option, d), number_in_unit(cost, unit));
}

static void put_effects(struct csv_out *out, const struct difference *difference, size_t pair,
                        struct arena *arena) {
  const char *id = difference->pairs[pair].a->id;
  const int cost = model_find(difference->a->model, "cost_per_mtok");
  const char *unit = difference->a->model->declarations[cost].unit.text;
  for (size_t c = 0; c < difference->change_count; c++) {
    const struct change *change = &difference->changes[c];
    if (!change->matters[pair])
      continue;
    begin_row(out, "alone", id, diff_change_name(difference, change),
              diff_change_label(difference, change), unit);
    put_effect(out, difference, pair, change, 1, arena);
  }
  begin_row(out, "together", id, "", "All inputs of B together", unit);
  put_effect(out, difference, pair, difference->changes, difference->change_count, arena);
}

void diff_csv(const struct difference *difference, FILE *file, struct arena *arena) {
  static const char *const header[] = {"kind", "option", "name", "label",
                                       "unit", "a",      "b",    "change"};
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, sizeof header / sizeof header[0]);
  put_names(&out, "only_a", difference->only_a, difference->only_a_count, true);
  put_names(&out, "only_b", difference->only_b, difference->only_b_count, true);
  put_names(&out, "item", difference->items, difference->item_count, false);
  for (size_t c = 0; c < difference->change_count; c++)
    for (size_t p = 0; p < difference->pair_count; p++)
      if (difference->changes[c].differs[p])
        put_inputs(&out, difference, &difference->changes[c], p);
  for (size_t p = 0; p < difference->pair_count; p++) {
    if (!difference_in_pair(difference, p))
      continue;
    put_results(&out, difference, p);
    put_effects(&out, difference, p, arena);
  }
}
