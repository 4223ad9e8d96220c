#include "reports/answers/compare_notes.h"

#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"
#include "model/simulate/simulation.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <inttypes.h>
#include <string.h>

struct notes {
  struct answer *answer;
  const struct scenario *scenario;
  struct arena *arena;
};

static bool says(const struct texts *texts, const char *text) {
  for (size_t k = 0; k < texts->count; k++)
    if (!strcmp(texts->list[k], text))
      return true;
  return false;
}

// A note for each text, at the first option that has it: "a, b: text". Where all have it they are
// named only with `always`.
static void add_shared(const struct notes *notes, const char *label, const struct texts *of,
                       bool always) {
  const size_t options = notes->scenario->option_count;
  for (size_t i = 0; i < options; i++)
    for (size_t k = 0; k < of[i].count; k++) {
      const char *text = of[i].list[k], *ids = "";
      size_t count = 0, first = options;
      for (size_t o = options; o-- > 0;)
        first = says(&of[o], text) ? o : first;
      for (size_t o = first; o < options; o++)
        if (says(&of[o], text)) {
          ids = joined(ids, notes->scenario->options[o].id, notes->arena);
          count++;
        }
      if (first == i)
        answer_note(notes->answer, notes->arena, label, "%s%s%s",
                    always || count < options ? ids : "", always || count < options ? ": " : "",
                    text);
    }
}

static void add_decode_only(const struct notes *notes) {
  const char *ids = "";
  for (size_t i = 0; i < notes->scenario->option_count; i++)
    if (notes->scenario->options[i].decode_only)
      ids = joined(ids, notes->scenario->options[i].id, notes->arena);
  if (*ids)
    answer_note(notes->answer, notes->arena, "Upper bound, decode only: ",
                "%s (prefill takes no time; not ranked against serving)", ids);
}

// Which published figure or record a throughput is, and what it was measured on. A record says its
// 95 % interval itself.
static void add_evidence(const struct notes *notes) {
  static const char *const inputs[] = {"throughput", "decode_throughput"};
  const struct scenario *scenario = notes->scenario;
  for (size_t i = 0; i < 2 * scenario->option_count; i++) {
    const struct option *option = &scenario->options[i / 2];
    const int input = model_find(scenario->model, inputs[i % 2]);
    if (input < 0 || option->graph->state[input] != GRAPH_INPUT)
      continue;
    const struct figure *figure = option_figure(scenario, option, scenario->selected, input);
    if (figure->origin != ORIGIN_CATALOGUE)
      continue;
    const char *on = "";
    for (int key = 0; key < WORKLOAD_KEYS; key++)
      if (*option->workload.values[key])
        on = joined(on, option->workload.values[key], notes->arena);
    answer_note(notes->answer, notes->arena, "Throughput: ", "%s from %s, %s (%s)", option->id,
                figure->source, figure->date, on);
  }
}

static const char *rate_text(const struct scenario *scenario, const struct option *option, int rate,
                             struct arena *arena) {
  const struct figure *figure = option_figure(scenario, option, scenario->selected, rate);
  return arena_printf(
      arena, "%s%s%s%s%s",
      quantity_text(figure->value, &scenario->model->declarations[rate].unit, arena),
      *figure->source ? ", " : "", figure->source, *figure->date ? ", " : "", figure->date);
}

// What is said of each option, and once of all who share it.
static void add_of_options(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  const int rate = model_find(scenario->model, "exchange_rate");
  struct texts *missing = arena_array(notes->arena, scenario->option_count, sizeof *missing);
  struct texts *rates = arena_array(notes->arena, scenario->option_count, sizeof *rates);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (*option->not_included)
      texts_add(&missing[o], notes->arena, "%s", option->not_included);
    if (rate >= 0 && option_has(option, rate))
      texts_add(&rates[o], notes->arena, "%s", rate_text(scenario, option, rate, notes->arena));
  }
  add_shared(notes, "Not included: ", missing, false);
  add_shared(notes, "Exchange rate: ", rates, false);
}

static const char *const grade_meanings[GRADES] = {
    [GRADE_MEASURED] = "this tool's own measurement",
    [GRADE_QUOTED] = "a written quote",
    [GRADE_BENCHMARK] = "an audited public benchmark",
    [GRADE_PUBLISHED] = "a dated publication with method",
    [GRADE_PROJECTED] = "computed from another figure by a stated rule",
    [GRADE_CLAIM] = "a statement without method",
    [GRADE_ASSUMED] = "the user's own",
};

static void add_legend(const struct notes *notes) {
  bool used[GRADES] = {false};
  for (size_t i = 0; i < notes->scenario->option_count; i++) {
    const struct option *option = &notes->scenario->options[i];
    used[option->throughput_grade] = used[option->power_grade] = used[option->price_grade] =
        used[option->headline_grade] = true;
  }
  const char *text = "";
  for (int grade = 0; grade < GRADES; grade++)
    if (used[grade])
      text = arena_printf(notes->arena, "%s%s%s = %s", text, *text ? "; " : "",
                          grade_name((enum grade)grade), grade_meanings[grade]);
  answer_note(notes->answer, notes->arena, "Evidence: ", "%s", text);
}

// The scenario's own are the answer's.
static void add_warnings(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  struct texts *warnings = arena_array(notes->arena, scenario->option_count, sizeof *warnings);
  for (size_t o = 0; o < scenario->option_count; o++)
    warnings[o] = scenario->options[o].warnings;
  add_shared(notes, "Warning: ", warnings, true);
}

static void add_interval(const struct notes *notes, const struct simulation *simulation) {
  if (simulation)
    answer_note(notes->answer, notes->arena, "P5, P95: ",
                "5 %% and 95 %% of %s draws of the ranged inputs are below (%s, "
                "seed %" PRIu64 "; see 'pertoken simulate')",
                number_fixed((double)simulation->done, 0, notes->arena),
                draw_method_names[simulation->method], simulation->seed);
}

static bool all_ranked(const struct ranking *ranking) {
  for (size_t i = 0; i < ranking->option_count; i++)
    if (!ranking->options[i].ranked)
      return false;
  return true;
}

// What the star means, and who is left out.
static void add_verdict(const struct notes *notes, const struct ranking *ranking) {
  if (ranking->cheapest >= 0)
    answer_note(notes->answer, notes->arena, "* ", "lowest cost per million output tokens%s%s",
                all_ranked(ranking) ? "" : " of the options that are ranked",
                ranking->cheapest_count > 1 ? ": a tie" : "");
  for (size_t i = 0; i < ranking->option_count; i++)
    if (!ranking->options[i].ranked)
      answer_note(notes->answer, notes->arena, "Not ranked: ", "%s",
                  verdict_not_ranked(notes->scenario, ranking, i, notes->arena));
}

void compare_notes(struct answer *answer, const struct scenario *scenario,
                   const struct ranking *ranking, const struct simulation *simulation,
                   struct arena *arena) {
  const struct notes notes = {answer, scenario, arena};
  add_verdict(&notes, ranking);
  add_interval(&notes, simulation);
  add_decode_only(&notes);
  add_of_options(&notes);
  add_evidence(&notes);
  add_legend(&notes);
  add_warnings(&notes);
}
