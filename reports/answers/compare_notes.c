#include "reports/answers/compare_notes.h"

#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
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

// Options that lack the same costs share a line.
static void add_not_included(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  for (size_t i = 0; i < scenario->option_count; i++) {
    const char *missing = scenario->options[i].not_included, *ids = "";
    bool first = true;
    size_t count = 0;
    for (size_t k = 0; k < scenario->option_count; k++) {
      if (strcmp(scenario->options[k].not_included, missing) != 0)
        continue;
      if (k < i)
        first = false;
      ids = joined(ids, scenario->options[k].id, notes->arena);
      count++;
    }
    if (!*missing || !first)
      continue;
    const char *whose =
        count < scenario->option_count ? arena_printf(notes->arena, " (%s)", ids) : "";
    answer_note(notes->answer, notes->arena, "Not included: ", "%s%s", missing, whose);
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

// The same rate for all options is said once.
static void add_exchange_rate(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  struct arena *arena = notes->arena;
  const int rate = model_find(scenario->model, "exchange_rate");
  const char *all = "", *first = NULL;
  bool same = true;
  for (size_t i = 0; i < scenario->option_count && rate >= 0; i++) {
    const struct option *option = &scenario->options[i];
    if (!option_has(option, rate))
      return;
    const struct figure *figure = option_figure(scenario, option, scenario->selected, rate);
    const char *text = arena_printf(
        arena, "%s%s%s%s%s",
        quantity_text(figure->value, &scenario->model->declarations[rate].unit, arena),
        *figure->source ? ", " : "", figure->source, *figure->date ? ", " : "", figure->date);
    first = first ? first : text;
    same &= !strcmp(text, first);
    all = arena_printf(arena, "%s%s%s %s", all, i ? "; " : "", option->id, text);
  }
  if (first)
    answer_note(notes->answer, notes->arena, "Exchange rate: ", "%s", same ? first : all);
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

static bool has_warning(const struct option *option, const char *text) {
  for (size_t k = 0; k < option->warnings.count; k++)
    if (!strcmp(option->warnings.list[k], text))
      return true;
  return false;
}

// One paragraph for all options that a warning is about, at the first of them.
static void add_warning(const struct notes *notes, size_t first, const char *text) {
  const struct scenario *scenario = notes->scenario;
  const char *ids = "";
  for (size_t i = 0; i < scenario->option_count; i++) {
    if (!has_warning(&scenario->options[i], text))
      continue;
    if (i < first)
      return;
    ids = joined(ids, scenario->options[i].id, notes->arena);
  }
  answer_note(notes->answer, notes->arena, "Warning: ", "%s: %s", ids, text);
}

// The scenario's own are the answer's.
static void add_warnings(const struct notes *notes) {
  for (size_t i = 0; i < notes->scenario->option_count; i++)
    for (size_t k = 0; k < notes->scenario->options[i].warnings.count; k++)
      add_warning(notes, i, notes->scenario->options[i].warnings.list[k]);
}

static void add_interval(const struct notes *notes, const struct simulation *simulation) {
  if (simulation)
    answer_note(notes->answer, notes->arena, "P5, P95: ",
                "5 %% and 95 %% of %s draws of the ranged inputs are below (%s, "
                "seed %" PRIu64 "; see 'pertoken simulate')",
                number_fixed((double)simulation->done, 0, notes->arena),
                draw_method_names[simulation->method], simulation->seed);
}

// What the star means, and who is left out.
static void add_verdict(const struct notes *notes, const struct ranking *ranking) {
  if (ranking->cheapest >= 0)
    answer_note(notes->answer, notes->arena, "* ", "lowest cost per million output tokens%s",
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
  add_not_included(&notes);
  add_evidence(&notes);
  add_exchange_rate(&notes);
  add_legend(&notes);
  add_warnings(&notes);
}
