#include "model/simulate/remedy.h"

#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"

#include <string.h>

static const char *words_of(const char *option, const char *source, double limit, const char *what,
                            struct arena *arena) {
  const struct unit *rate = unit_constant("token/s/gpu", arena);
  return arena_printf(arena, "%s%s%s%s: below %.5g token/s/gpu %s", option, *source ? " (" : "",
                      source, *source ? ")" : "", limit / unit_factor(rate), what);
}

static const struct figure *figure_of(const struct scenario *scenario, const struct option *option,
                                      const char *input) {
  return option_figure(scenario, option, scenario->selected, model_find(scenario->model, input));
}

static const char *words_of_money(const struct scenario *scenario, const struct option *option,
                                  struct arena *arena) {
  const struct figure *most = figure_of(scenario, option, "remedy_limit");
  const char *up_to = most->origin == ORIGIN_NONE
                          ? ""
                          : arena_printf(arena, ", at most %.4g %%", 100 * most->value);
  return arena_printf(arena, "the vendor owes %.4g %% of the hardware price per percent missing%s",
                      100 * figure_of(scenario, option, "remedy")->value, up_to);
}

static const char *words_of_replacement(double share, struct arena *arena) {
  return share < 1
             ? arena_printf(
                   arena, "%.4g %% of the accelerators are replaced to reach the guaranteed speed",
                   100 * share)
             : "accelerators are replaced to reach the guaranteed speed";
}

// Finds the remedy in the inputs of the cost model. Returns false for none: a remedy of zero owes
// nothing.
static bool find_remedy(const struct scenario *scenario, size_t o, struct remedy *remedy,
                        struct arena *arena) {
  const struct option *option = &scenario->options[o];
  const int credit = model_find(scenario->model, "remedy_total");
  if (credit < 0 || option->graph->state[credit] == GRAPH_ABSENT)
    return false;
  const struct figure *guaranteed = figure_of(scenario, option, "guaranteed_throughput");
  const double replaced = figure_of(scenario, option, "replacement")->value;
  if (!(replaced > 0) && !(figure_of(scenario, option, "remedy")->value > 0))
    return false;
  const double limit =
      guaranteed->value * (1 - figure_of(scenario, option, "guarantee_tolerance")->value);
  const char *what = replaced > 0 ? words_of_replacement(replaced, arena)
                                  : words_of_money(scenario, option, arena);
  *remedy =
      (struct remedy){.option = o,
                      .words = words_of(option->label, guaranteed->source ? guaranteed->source : "",
                                        limit, what, arena),
                      .replacement = replaced > 0};
  return true;
}

struct remedies remedies_of(const struct scenario *scenario, struct arena *arena) {
  struct remedies remedies = {
      .list = arena_array(arena, scenario->option_count, sizeof *remedies.list)};
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct remedy *next = &remedies.list[remedies.count];
    remedies.count += find_remedy(scenario, o, next, arena);
  }
  return remedies;
}
