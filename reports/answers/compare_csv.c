// The CSV face of a comparison.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/print/csv_out.h"
#include "reports/print/number.h"

static void begin_row(struct csv_out *out, const struct scenario *scenario,
                      const struct option *option, const char *item, const char *label,
                      const char *unit) {
  csv_out_text(out, option->id);
  csv_out_text(out, option->accelerator);
  csv_out_text(out, scenario->cases[scenario->selected]);
  csv_out_text(out, item);
  csv_out_text(out, label);
  csv_out_text(out, unit);
}

static void put_value(struct csv_out *out, const struct scenario *scenario,
                      const struct option *option, int declaration, int period) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  const char *grade = compare_grade(scenario, option, declaration);
  begin_row(out, scenario, option, item->name, item->label, item->unit.text);
  if (item->kind == DECLARATION_SERIES)
    csv_out_number(out, period);
  else
    csv_out_blank(out);
  csv_out_number(out,
                 number_in_unit(option_value(scenario, option, declaration, period), &item->unit));
  if (grade)
    csv_out_text(out, grade);
  else
    csv_out_blank(out);
  csv_out_end_row(out);
}

static void put_option(struct csv_out *out, const struct scenario *scenario,
                       const struct option *option) {
  const int last = option_periods(scenario, option, scenario->selected);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *item = &scenario->model->declarations[d];
    if (!option_has(option, d) || item->role == ROLE_CHECK)
      continue;
    const int periods = item->kind == DECLARATION_SERIES ? last : 0;
    for (int t = 0; t <= periods; t++)
      put_value(out, scenario, option, d, t);
  }
}

static void put_result(struct csv_out *out, const struct scenario *scenario,
                       const struct option *option, const char *name, const char *label,
                       double value) {
  begin_row(out, scenario, option, name, label, "-");
  csv_out_blank(out);
  csv_out_number(out, value);
  csv_out_text(out, grade_name(option->headline_grade));
  csv_out_end_row(out);
}

static void put_standing(struct csv_out *out, const struct scenario *scenario, size_t which,
                         const struct standing *standing) {
  const struct option *option = &scenario->options[which];
  if (standing->compared && which != scenario->baseline) {
    put_result(out, scenario, option, "saving", "Saving against the baseline", standing->saving);
    put_result(out, scenario, option, "saving_levelised", "Saving against the baseline, levelised",
               standing->saving_levelised);
  }
  put_result(out, scenario, option, "ranked", "Ranked: 1, or not: 0", standing->ranked);
  put_result(out, scenario, option, "cheapest", "Cheapest, ties included: 1, or not: 0",
             standing->cheapest);
}

void compare_csv(const struct scenario *scenario, FILE *file, struct arena *arena) {
  static const char *const header[] = {"option", "accelerator", "case",  "item", "label",
                                       "unit",   "period",      "value", "grade"};
  const struct ranking *ranking = ranking_of(scenario, arena);
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, sizeof header / sizeof header[0]);
  for (size_t i = 0; i < scenario->option_count; i++)
    put_option(&out, scenario, &scenario->options[i]);
  for (size_t i = 0; i < scenario->option_count; i++)
    put_standing(&out, scenario, i, &ranking->options[i]);
}
