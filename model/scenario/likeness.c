#include "model/scenario/likeness.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"

#include <stdbool.h>
#include <string.h>

void scenario_say_mixed(struct scenario *scenario, struct arena *arena) {
  const struct option *baseline = &scenario->options[scenario->baseline];
  struct texts reasons = {0};
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *family = workload_family_note(&baseline->workload, &option->workload, arena);
    const char *difference = workload_difference(&baseline->workload, &option->workload, arena);
    if (family)
      texts_add(&scenario->warnings, arena, "%s and %s are compared in %s", baseline->label,
                option->label, family);
    if (difference)
      texts_add(&reasons, arena, "%s and %s differ in %s", baseline->label, option->label,
                difference);
  }
  scenario->mixed = reasons.count > 0;
  scenario->mixed_reason = texts_joined_by(&reasons, "; ", arena);
}

static void report_unlike(const struct option *baseline, const struct option *option,
                          const char *in_case, const char *difference, struct place place,
                          struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, place,
                    "the throughputs of '%s' and '%s' are not comparable%s, %s (--mixed compares "
                    "them anyway, stamped as mixed)",
                    baseline->label, option->label, in_case, difference);
}

void option_refuse_unlike(const struct option *baseline, const struct option *option,
                          const char *difference, struct diagnostics *diagnostics) {
  report_unlike(baseline, option, "", difference, option->place, diagnostics);
}

// The place where a case makes the option's or the baseline's requests longer or shorter, else the
// option's own place.
static struct place place_of_case(const struct scenario *scenario, const struct option *option,
                                  size_t which_case) {
  static const char *const lengths[] = {"input_tokens", "output_tokens"};
  const struct option *both[] = {option, &scenario->options[scenario->baseline]};
  for (size_t i = 0; i < 4; i++) {
    const struct figure *figure = option_figure(scenario, both[i / 2], which_case,
                                                model_find(scenario->model, lengths[i % 2]));
    if (origin_layers[figure->origin].of_case)
      return figure->place;
  }
  return option->place;
}

// The base case first; what differs there differs in the others too.
static void refuse_unlike(const struct scenario *scenario, const struct option *option,
                          struct arena *arena, struct diagnostics *diagnostics) {
  const struct option *baseline = &scenario->options[scenario->baseline];
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *difference =
        workload_difference(&baseline->workloads[c], &option->workloads[c], arena);
    if (!difference)
      continue;
    const char *in_case = c ? arena_printf(arena, " in case '%s'", scenario->cases[c]) : "";
    report_unlike(baseline, option, in_case, difference,
                  c ? place_of_case(scenario, option, c) : option->place, diagnostics);
    return;
  }
}

void scenario_refuse_unlike(const struct scenario *scenario, struct arena *arena,
                            struct diagnostics *diagnostics) {
  for (size_t o = 0; o < scenario->option_count && !scenario->may_mix; o++)
    refuse_unlike(scenario, &scenario->options[o], arena, diagnostics);
}
