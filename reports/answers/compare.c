#include "reports/answers/compare.h"

#include <stddef.h>
#include <string.h>

void compare_print(const struct scenario *scenario, enum output_format format, FILE *out,
                   struct arena *arena) {
  if (format == FORMAT_CSV)
    compare_csv(scenario, out, arena);
  else if (format == FORMAT_JSON)
    compare_json(scenario, out, arena);
  else
    compare_table(scenario, out, arena);
}

bool compare_has_item(const struct scenario *scenario, const struct option *option,
                      int declaration) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  if (!option_has(option, declaration) || item->role == ROLE_CHECK)
    return false;
  return option->graph->state[declaration] != GRAPH_INPUT || !strcmp(item->name, "accelerators") ||
         !strcmp(item->name, "throughput");
}

// Figures whose grade the option knows better than the figure itself: a TDP that stands in for
// measured watts, a throughput projected from others.
static const struct {
  const char *item;
  size_t grade; // its place in struct option
} option_grades[] = {
    {"throughput", offsetof(struct option, throughput_grade)},
    {"load_power", offsetof(struct option, power_grade)},
    {"list_price", offsetof(struct option, price_grade)},
    {"net_price", offsetof(struct option, price_grade)},
    {"rental_rate", offsetof(struct option, price_grade)},
};

enum { OPTION_GRADES = sizeof option_grades / sizeof option_grades[0] };

static enum grade grade_at(const struct option *option, size_t offset) {
  enum grade grade;
  memcpy(&grade, (const char *)option + offset, sizeof grade);
  return grade;
}

const char *compare_grade(const struct scenario *scenario, const struct option *option,
                          int declaration) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  for (size_t i = 0; i < OPTION_GRADES; i++)
    if (!strcmp(option_grades[i].item, item->name))
      return grade_name(grade_at(option, option_grades[i].grade));
  if (item->role == ROLE_HEADLINE)
    return grade_name(option->headline_grade);
  if (option->graph->state[declaration] != GRAPH_INPUT)
    return NULL;
  return grade_name(option_figure(scenario, option, scenario->selected, declaration)->grade);
}
