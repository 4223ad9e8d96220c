#include "reports/answers/diff.h"

#include "reports/print/number.h"

void diff_print(const struct scenario *a, const struct scenario *b, enum output_format format,
                FILE *out, struct arena *arena) {
  const struct difference *difference = difference_of(a, b, arena);
  if (format == FORMAT_CSV)
    diff_csv(difference, out, arena);
  else if (format == FORMAT_JSON)
    diff_json(difference, out, arena);
  else
    diff_table(difference, out, arena);
}

const char *diff_change_name(const struct difference *difference, const struct change *change) {
  if (change->input < 0)
    return "bought_or_rented";
  return difference->a->model->declarations[change->input].name;
}

const char *diff_change_label(const struct difference *difference, const struct change *change) {
  if (change->input < 0)
    return "Bought or rented";
  return difference->a->model->declarations[change->input].label;
}

double diff_shown(const struct scenario *scenario, const struct option *option, int declaration) {
  return number_in_unit(option_value(scenario, option, declaration, 0),
                        &scenario->model->declarations[declaration].unit);
}

bool diff_is_result(const struct difference *difference, size_t pair, int declaration) {
  const struct pair *both = &difference->pairs[pair];
  return difference->a->model->declarations[declaration].role == ROLE_HEADLINE &&
         option_has(both->a, declaration) && option_has(both->b, declaration);
}
