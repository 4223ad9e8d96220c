#include "reports/answers/compare.h"

#include <stddef.h>
#include <string.h>

void compare_print(const struct scenario *scenario, enum output_format format, FILE *out,
                   struct arena *arena) {
  if (format == FORMAT_CSV)
    compare_csv(scenario, out);
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

bool compare_rankable(const struct option *option, const struct option *baseline) {
  return option->decode_only == baseline->decode_only;
}

const struct option *compare_cheapest(const struct scenario *scenario) {
  const int cost = model_find(scenario->model, "cost_per_mtok");
  const struct option *baseline = &scenario->options[scenario->baseline], *cheapest = baseline;
  for (size_t i = 0; i < scenario->option_count; i++) {
    const struct option *option = &scenario->options[i];
    if (!compare_rankable(option, baseline))
      continue;
    if (option_value(scenario, option, cost, 0) < option_value(scenario, cheapest, cost, 0))
      cheapest = option;
  }
  return cheapest;
}
