// What stands below a comparison for people: what its figures are worth, and what they leave out.
#include "reports/answers/compare.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <inttypes.h>
#include <string.h>

struct notes {
  const struct scenario *scenario;
  const struct style *style;
};

static const char *joined(const struct notes *notes, const char *list, const char *word) {
  return *list ? arena_printf(notes->style->arena, "%s, %s", list, word) : word;
}

// Options that lack the same costs share a line.
static void print_not_included(const struct notes *notes) {
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
      ids = joined(notes, ids, scenario->options[k].id);
      count++;
    }
    if (!*missing || !first)
      continue;
    const char *whose =
        count < scenario->option_count ? arena_printf(notes->style->arena, " (%s)", ids) : "";
    style_paragraph(notes->style,
                    "Not included: ", arena_printf(notes->style->arena, "%s%s", missing, whose));
  }
}

static void print_decode_only(const struct notes *notes) {
  const char *ids = "";
  for (size_t i = 0; i < notes->scenario->option_count; i++)
    if (notes->scenario->options[i].decode_only)
      ids = joined(notes, ids, notes->scenario->options[i].id);
  if (*ids)
    style_paragraph(notes->style, "Upper bound, decode only: ",
                    arena_printf(notes->style->arena,
                                 "%s (prefill takes no time; not ranked against serving)", ids));
}

// Which published figure or record a throughput is, and what it was measured on. A record says its
// 95 % interval itself.
static void print_evidence(const struct notes *notes) {
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
        on = joined(notes, on, option->workload.values[key]);
    style_paragraph(notes->style, "Throughput: ",
                    arena_printf(notes->style->arena, "%s from %s, %s (%s)", option->id,
                                 figure->source, figure->date, on));
  }
}

// The same rate for all options is said once.
static void print_exchange_rate(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  struct arena *arena = notes->style->arena;
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
    style_paragraph(notes->style, "Exchange rate: ", same ? first : all);
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

static void print_legend(const struct notes *notes) {
  bool used[GRADES] = {false};
  for (size_t i = 0; i < notes->scenario->option_count; i++) {
    const struct option *option = &notes->scenario->options[i];
    used[option->throughput_grade] = used[option->power_grade] = used[option->price_grade] =
        used[option->headline_grade] = true;
  }
  const char *text = "";
  for (int grade = 0; grade < GRADES; grade++)
    if (used[grade])
      text = arena_printf(notes->style->arena, "%s%s%s = %s", text, *text ? "; " : "",
                          grade_name((enum grade)grade), grade_meanings[grade]);
  style_paragraph(notes->style, "Evidence: ", text);
}

static bool has_warning(const struct option *option, const char *text) {
  for (size_t k = 0; k < option->warnings.count; k++)
    if (!strcmp(option->warnings.list[k], text))
      return true;
  return false;
}

// One paragraph for all options that a warning is about, at the first of them.
static void print_warning(const struct notes *notes, size_t first, const char *text) {
  const struct scenario *scenario = notes->scenario;
  const char *ids = "";
  for (size_t i = 0; i < scenario->option_count; i++) {
    if (!has_warning(&scenario->options[i], text))
      continue;
    if (i < first)
      return;
    ids = joined(notes, ids, scenario->options[i].id);
  }
  style_paragraph(notes->style,
                  "Warning: ", arena_printf(notes->style->arena, "%s: %s", ids, text));
}

static void print_warnings(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  for (size_t i = 0; i < scenario->warnings.count; i++)
    style_paragraph(notes->style, "Warning: ", scenario->warnings.list[i]);
  for (size_t i = 0; i < scenario->option_count; i++)
    for (size_t k = 0; k < scenario->options[i].warnings.count; k++)
      print_warning(notes, i, scenario->options[i].warnings.list[k]);
}

static void print_interval(const struct notes *notes, const struct simulation *simulation) {
  static const char *const methods[] = {[DRAW_SOBOL] = "sobol", [DRAW_RANDOM] = "random"};
  if (simulation)
    style_paragraph(notes->style, "P5, P95: ",
                    arena_printf(notes->style->arena,
                                 "5 %% and 95 %% of %s draws of the ranged inputs are below (%s, "
                                 "seed %" PRIu64 "; see 'pertoken simulate')",
                                 number_fixed((double)simulation->done, 0, notes->style->arena),
                                 methods[simulation->method], simulation->seed));
}

// Who is the cheapest, or why nobody is; and who is left out.
static void print_verdict(const struct notes *notes, const struct ranking *ranking) {
  const struct scenario *scenario = notes->scenario;
  struct arena *arena = notes->style->arena;
  if (ranking->cheapest >= 0)
    style_paragraph(notes->style, "* ", verdict_text(scenario, ranking, arena));
  else if (ranking->option_count > 1)
    style_paragraph(notes->style, "Not ranked: ", ranking->why_none);
  for (size_t i = 0; i < ranking->option_count; i++)
    if (!ranking->options[i].ranked)
      style_paragraph(notes->style,
                      "Not ranked: ", verdict_not_ranked(scenario, ranking, i, arena));
}

void compare_notes(const struct scenario *scenario, const struct ranking *ranking,
                   const struct simulation *simulation, const struct style *style) {
  const struct notes notes = {scenario, style};
  putc('\n', style->out);
  print_verdict(&notes, ranking);
  print_interval(&notes, simulation);
  print_decode_only(&notes);
  print_not_included(&notes);
  print_evidence(&notes);
  print_exchange_rate(&notes);
  print_legend(&notes);
  print_warnings(&notes);
}
