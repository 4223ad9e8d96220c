#include "reports/answers/compare_notes.h"

#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/questions/power_limits.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/simulate/simulation.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <stdlib.h>
#include <string.h>

struct notes {
  struct answer *answer;
  const struct scenario *scenario;
  struct arena *arena;
};

// Beyond this many, options are counted instead of named.
enum { MAX_NAMES = 20 };

// A statement about an option, and its position among all statements.
struct said {
  const char *text;
  size_t option, order;
};

static int by_text(const void *a, const void *b) {
  const struct said *left = a, *right = b;
  const int order = strcmp(left->text, right->text);
  return order ? order : left->order < right->order ? -1 : left->order > right->order;
}

static int by_order(const void *a, const void *b) {
  const struct said *const *left = a, *const *right = b;
  return (*left)->order < (*right)->order ? -1 : (*left)->order > (*right)->order;
}

// "a, b: ": the options to which a text applies, or "" if it applies to all, unless `always`.
static const char *names_of(const struct notes *notes, const struct said *first,
                            const struct said *end, bool always) {
  const struct option *options = notes->scenario->options;
  struct texts names = {0};
  size_t count = 0;
  for (const struct said *said = first; said < end && !strcmp(said->text, first->text); said++) {
    if (said > first && said->option == said[-1].option)
      continue;
    if (count++ < MAX_NAMES)
      texts_add(&names, notes->arena, "%s", options[said->option].label);
  }
  if (!always && count == notes->scenario->option_count)
    return "";
  const char *list = texts_joined_by(&names, options_between(notes->scenario), notes->arena);
  return count <= MAX_NAMES
             ? arena_printf(notes->arena, "%s: ", list)
             : arena_printf(notes->arena, "%s and %zu more: ", list, count - MAX_NAMES);
}

// One note for each text, at the first option that has it: "a, b: text". If all have it, they are
// named only with `always`.
static void add_shared(const struct notes *notes, const char *label, const struct texts *of,
                       bool always) {
  size_t count = 0, firsts = 0, next = 0;
  for (size_t o = 0; o < notes->scenario->option_count; o++)
    count += of[o].count;
  struct said *all = arena_array(notes->arena, count + 1, sizeof *all);
  const struct said **first = arena_array(notes->arena, count + 1, sizeof(const struct said *));
  for (size_t o = 0; o < notes->scenario->option_count; o++)
    for (size_t k = 0; k < of[o].count; k++, next++)
      all[next] = (struct said){of[o].list[k], o, next};
  qsort(all, count, sizeof *all, by_text);
  for (size_t i = 0; i < count; i++)
    if (!i || strcmp(all[i - 1].text, all[i].text) != 0)
      first[firsts++] = &all[i];
  qsort(first, firsts, sizeof(struct said *), by_order);
  for (size_t i = 0; i < firsts; i++)
    answer_note(notes->answer, label, "%s%s", names_of(notes, first[i], all + count, always),
                first[i]->text);
}

// "350 W 0.1749, 450 W * 0.1702, 700 W 0.1733 USD/Mtok".
static const char *limits_text(const struct notes *notes, const struct power_limits *limits) {
  const struct unit *unit = unit_of_item(notes->scenario, "cost_per_mtok");
  struct texts points = {0};
  for (size_t i = 0; i < limits->count; i++)
    texts_add(&points, notes->arena, "%s W %s%s",
              number_fixed(limits->points[i].limit_w, 0, notes->arena),
              i == limits->least ? "* " : "",
              number_fixed(limits->points[i].cost_per_mtok / unit_factor(unit), 4, notes->arena));
  return arena_printf(notes->arena, "%s %s", texts_joined(&points, notes->arena), unit->text);
}

static void add_power_limits(const struct notes *notes) {
  for (size_t o = 0; o < notes->scenario->option_count; o++) {
    const struct power_limits limits = power_limits_of(notes->scenario, o, notes->arena);
    if (limits.count)
      answer_note(notes->answer,
                  "Power limit: ", "%s costs least per token at %s W, of the limits measured: %s",
                  notes->scenario->options[o].label,
                  number_fixed(limits.points[limits.least].limit_w, 0, notes->arena),
                  limits_text(notes, &limits));
  }
}

static void add_lent(const struct notes *notes) {
  for (size_t i = 0; i < notes->scenario->option_count; i++)
    if (notes->scenario->options[i].lent)
      answer_note(notes->answer, "Tokens: ", "%s serves as many tokens as %s",
                  notes->scenario->options[i].label,
                  notes->scenario->options[notes->scenario->options[i].lender].label);
}

// "llama-2-70b, fp8, bf16 activations, decode, batch 64": a value that several keys may have is
// named with its key.
static const char *workload_words(const struct workload *workload, struct arena *arena) {
  static const struct {
    const char *before, *after;
  } around[WORKLOAD_KEYS] = {
      [WORKLOAD_ACTIVATIONS] = {"", " activations"},
      [WORKLOAD_KV] = {"", " KV cache"},
      [WORKLOAD_HEAD] = {"", " head"},
      [WORKLOAD_INTERACTIVITY] = {"", " per user on average"},
      [WORKLOAD_TTFT] = {"TTFT ", ""},
      [WORKLOAD_TPOT] = {"TPOT ", ""},
      [WORKLOAD_BATCH] = {"batch ", ""},
      [WORKLOAD_CONTEXT] = {"context ", ""},
  };
  const char *const *values = workload->values;
  struct texts words = {0};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (*values[key] && !(key == WORKLOAD_SCENARIO && !strcmp(values[key], values[WORKLOAD_BASIS])))
      texts_add(&words, arena, "%s%s%s", around[key].before ? around[key].before : "", values[key],
                around[key].after ? around[key].after : "");
  return texts_joined(&words, arena);
}

// Which published figure or record a throughput comes from, and what it was measured on, and the
// record of the tokens that were served. A record states its 95 % interval itself.
static void add_evidence(const struct notes *notes) {
  static const struct {
    const char *input, *label;
  } rates[] = {{"throughput", "Throughput: "},
               {"decode_throughput", "Throughput: "},
               {"prefill_throughput", "Prefill: "},
               {"production_throughput", "Tokens served: "}};
  enum { RATES = sizeof rates / sizeof rates[0] };
  const struct scenario *scenario = notes->scenario;
  for (size_t i = 0; i < RATES * scenario->option_count; i++) {
    const struct option *option = &scenario->options[i / RATES];
    const int input = model_find(scenario->model, rates[i % RATES].input);
    if (input < 0 || option->graph->state[input] != GRAPH_INPUT || option_is_lent(option, input))
      continue;
    const struct figure *figure = option_figure(scenario, option, scenario->selected, input);
    if (figure->origin != ORIGIN_CATALOGUE)
      continue;
    answer_note(notes->answer, rates[i % RATES].label, "%s from %s, %s (%s)", option->label,
                figure->source, figure->date, workload_words(&option->workload, notes->arena));
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

// Notes on each option, merged where options share one.
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
                          grade_name((enum grade)grade), grade_meaning((enum grade)grade));
  answer_note(notes->answer, "Evidence: ", "%s", text);
}

// Warnings as notes for people: programs find them among the answer's warnings.
static void add_warnings(const struct notes *notes) {
  const struct scenario *scenario = notes->scenario;
  const size_t before = notes->answer->note_count;
  struct texts *warnings = arena_array(notes->arena, scenario->option_count, sizeof *warnings);
  for (size_t o = 0; o < scenario->option_count; o++)
    warnings[o] = scenario->options[o].warnings;
  add_shared(notes, "Warning: ", warnings, true);
  for (size_t i = 0; i < scenario->warnings.count; i++)
    answer_note(notes->answer, "Warning: ", "%s", scenario->warnings.list[i]);
  for (size_t i = before; i < notes->answer->note_count; i++)
    notes->answer->notes[i].faces = FACE_TERMINAL;
}

static void add_interval(const struct notes *notes, const struct simulation *simulation) {
  if (!simulation)
    return;
  const struct draws_made draws = {simulation->done, simulation->seed, simulation->method};
  answer_note(notes->answer, "P5, median, P95: ",
              "of %s of the ranged inputs (see 'pertoken simulate'); everything else is at its "
              "base value",
              draws_words(&draws, notes->arena));
  notes->answer->drawn = draws;
  for (size_t o = 0; o < simulation->option_count; o++)
    if (*simulation->no_saving[o])
      answer_note(notes->answer, "No saving over the ranges: ", "%s: %s", simulation->labels[o],
                  simulation->no_saving[o]);
  for (size_t i = 0; i < simulation->note_count; i++)
    answer_note(notes->answer, "Over the ranges: ", "%s", simulation->notes[i]);
}

static bool all_ranked(const struct ranking *ranking) {
  for (size_t i = 0; i < ranking->option_count; i++)
    if (!ranking->options[i].ranked)
      return false;
  return true;
}

static void add_standing(struct answer *answer, const struct scenario *scenario,
                         const struct ranking *ranking, size_t option, struct arena *arena) {
  if (!ranking->options[option].ranked)
    answer_note(answer, "Not ranked: ", "%s", verdict_not_ranked(scenario, ranking, option, arena));
}

// What the star means, and which options are not ranked.
static void add_verdict(const struct notes *notes, const struct ranking *ranking) {
  if (ranking->cheapest >= 0)
    answer_note(notes->answer, "* ", "lowest cost per million output tokens%s%s",
                all_ranked(ranking) ? "" : " of the options that are ranked",
                ranking->cheapest_count > 1 ? ": a tie" : "");
  for (size_t i = 0; i < ranking->option_count; i++)
    add_standing(notes->answer, notes->scenario, ranking, i, notes->arena);
}

void compare_notes(struct answer *answer, const struct scenario *scenario,
                   const struct ranking *ranking, const struct simulation *simulation,
                   struct arena *arena) {
  const struct notes notes = {answer, scenario, arena};
  add_verdict(&notes, ranking);
  add_interval(&notes, simulation);
  add_power_limits(&notes);
  add_lent(&notes);
  add_of_options(&notes);
  add_evidence(&notes);
  add_legend(&notes);
  add_warnings(&notes);
}

void standing_notes(struct answer *answer, const struct scenario *scenario, size_t option,
                    size_t against, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  for (size_t o = 0; o < ranking->option_count; o++)
    if (o == option || o == against || o == scenario->baseline)
      add_standing(answer, scenario, ranking, o, arena);
}
