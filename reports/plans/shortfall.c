#include "reports/plans/shortfall.h"

#include "base/arena.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/programme.h"
#include "model/questions/portfolio.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"
#include "reports/print/number.h"

#include <stddef.h>
#include <string.h>

enum { DERIVES = FACE_TERMINAL | FACE_CSV | FACE_JSON };

static void drop_empty(struct answer *written, const struct answer_table *table) {
  if (!table->row_count)
    written->table_count--;
}

// ---- in words

// The largest share of all; the first if several are equal.
static const struct plan_lack *worst_of(const struct plan_answer *answer) {
  const struct plan_lack *worst = NULL;
  for (size_t i = 0; i < answer->lack_count; i++)
    if (!worst || answer->lacks[i].share > worst->share * (1 + 1e-6))
      worst = &answer->lacks[i];
  return worst;
}

// Whether an option can serve a workload in a period, regardless of how much of it there is.
static bool can_serve(const struct fleet_problem *problem, size_t w, size_t o, int t) {
  const double capacity = fleet_pair_of(problem, w, o)->capacity[t];
  if (capacity <= 0 || problem->options[o].by_token)
    return capacity > 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first <= t &&
        t <= problem->actions[a].last)
      return true;
  return false;
}

static bool is_servable(const struct fleet_problem *problem, size_t w, int t) {
  for (size_t o = 0; o < problem->option_count; o++)
    if (can_serve(problem, w, o, t))
      return true;
  return false;
}

// What is said if no option is available in time; no other constraint can change that.
static const char *too_late_words(const struct plan_answer *answer, const struct plan_lack *worst,
                                  struct arena *arena) {
  int first = worst->period;
  while (first < answer->problem->periods && !is_servable(answer->problem, worst->workload, first))
    first++;
  if (first == worst->period)
    return "";
  if (first == answer->problem->periods)
    return " No option can serve it in that period or later.";
  return arena_printf(
      arena,
      " No option can serve it before %s, given the day on which it can be ordered, "
      "'lead_time', 'available' and 'ready_from'.",
      calendar_begins(answer, first, arena));
}

static const char *lack_words(const struct plan_answer *answer, struct arena *arena) {
  const double tokens_per_mtok = 1e6;
  const struct plan_lack *worst = worst_of(answer);
  if (!worst)
    return answer->divisible_serves ? "Fractional purchase units could serve all of it; the "
                                      "shortfall of whole ones was not found in time."
                                    : "The demand that is not served was not found.";
  return arena_printf(
      arena,
      "The largest shortfall is in the period from %s: %s of the demand '%s', %s Mtok, %s.%s",
      calendar_begins(answer, worst->period, arena), percent_words(worst->share, arena),
      answer->portfolio->demands[worst->workload].name,
      number_fixed(worst->tokens / tokens_per_mtok, 0, arena),
      !answer->divisible_serves ? "even with fractional purchase units"
      : answer->lacks_status == PROGRAMME_OPTIMAL
          ? "in whole purchase units; fractional ones could serve all of it"
          : "in the best fleet of whole purchase units found in time; fractional ones could serve "
            "all of it",
      too_late_words(answer, worst, arena));
}

static const char *helpful_words(const struct plan_answer *answer, struct arena *arena) {
  const char *text = "";
  for (size_t i = 0; i < answer->price_count; i++)
    if (answer->prices[i].status == PROGRAMME_OPTIMAL ||
        answer->prices[i].status == PROGRAMME_UNPROVEN)
      text =
          arena_printf(arena, "%s%s%s", text, *text ? ", or " : "", answer->prices[i].constraint);
  if (!*text)
    return " Dropping any single constraint does not help.";
  return arena_printf(arena, " It becomes possible without: %s.", text);
}

const char *shortfall_words(const struct plan_answer *answer, struct arena *arena) {
  return arena_printf(arena, "No fleet meets every constraint. %s%s", lack_words(answer, arena),
                      helpful_words(answer, arena));
}

// ---- what is lacking

static void write_lack_parts(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  struct answer_table *table = ANSWER_TABLE(
      written, "lack_parts", "What the fleet with the smallest shortfall serves of it",
      {"period", "Period", NULL}, {"workload", "Workload", NULL}, {"part", "Part", NULL},
      {"option", "Option", NULL}, {"capacity", "Of a node", "Mtok"}, {"busy_nodes", "Nodes", "-"},
      {"tokens", "Tokens", "Mtok"});
  for (size_t i = 0; i < answer->lack_count; i++) {
    const struct plan_lack *lack = &answer->lacks[i];
    const struct answer_cell when =
        cell_words(calendar_begins(answer, lack->period, written->arena));
    const struct answer_cell workload = cell_words(answer->portfolio->demands[lack->workload].name);
    const double demand = problem->workloads[lack->workload].demand[lack->period];
    ANSWER_ROW(table, when, workload, cell_words("asked for"), cell_words(""), cell_nothing(),
               cell_nothing(), cell_value(demand));
    for (size_t o = 0; o < problem->option_count; o++) {
      const double capacity = fleet_pair_of(problem, lack->workload, o)->capacity[lack->period];
      const double tokens = lack->served[o];
      const bool by_token = problem->options[o].by_token;
      if (can_serve(problem, lack->workload, o, lack->period))
        ANSWER_ROW(table, when, workload, cell_words("less what is served"),
                   cell_option(&answer->scenario->options[o]),
                   by_token ? cell_nothing() : cell_value(capacity),
                   by_token ? cell_nothing() : cell_value(tokens / capacity),
                   cell_value(tokens > 0 ? -tokens : 0));
    }
    ANSWER_ROW(table, when, workload, cell_words("lacks"), cell_words(""), cell_nothing(),
               cell_nothing(), cell_value(lack->tokens));
  }
  table->faces = DERIVES;
  table->columns[4].faces = FACE_CSV | FACE_JSON;
  table->note = answer->divisible_serves
                    ? "Options that can serve the workload in the period, in whole purchase units, "
                      "within all other constraints."
                    : "Options that can serve the workload in the period, in fractional purchase "
                      "units, within all other constraints.";
}

void shortfall_write_lacks(struct answer *written, const struct plan_answer *answer,
                           bool explained) {
  struct answer_table *table = ANSWER_TABLE(
      written, "lacks", "Demand that is not served", {"period", "Period", NULL},
      {"workload", "Workload", NULL}, {"tokens", "Tokens", "Mtok"}, {"share", "Share", "%"});
  for (size_t i = 0; i < answer->lack_count; i++)
    ANSWER_ROW(table, cell_words(calendar_begins(answer, answer->lacks[i].period, written->arena)),
               cell_words(answer->portfolio->demands[answer->lacks[i].workload].name),
               cell_value(answer->lacks[i].tokens), cell_value(answer->lacks[i].share));
  drop_empty(written, table);
  if (explained && answer->lack_count)
    write_lack_parts(written, answer);
}

// ---- what cannot serve

static void write_barriers(const struct plan_answer *answer, struct answer_table *table, size_t w,
                           size_t o) {
  static const struct {
    enum route_barrier barrier;
    const char *name;
  } barriers[] = {{ROUTE_NOT_READY, "software readiness"},
                  {ROUTE_NO_THROUGHPUT, "throughput"},
                  {ROUTE_TOO_SLOW, "interactivity"},
                  {ROUTE_TOO_LARGE, "memory"}};
  const struct route_pair *pair = &answer->pairs[w * answer->problem->option_count + o];
  const struct demand *demand = &answer->portfolio->demands[w];
  for (size_t i = 0; i < sizeof barriers / sizeof barriers[0]; i++)
    if (pair->barriers & barriers[i].barrier)
      ANSWER_ROW(table, cell_words(demand->name), cell_option(&answer->scenario->options[o]),
                 cell_words(barriers[i].name), cell_value(demand->ready[o]),
                 pair->throughput > 0 ? cell_value(pair->throughput) : cell_nothing(),
                 pair->nodes > 0 ? cell_value(pair->nodes) : cell_nothing(),
                 cell_words(pair->why ? pair->why : ""));
}

static void write_barred_parts(struct answer *written, const struct plan_answer *answer) {
  struct answer_table *table = ANSWER_TABLE(
      written, "barred_parts", "What keeps them from it", {"workload", "Workload", NULL},
      {"option", "Option", NULL}, {"barrier", "By", NULL}, {"ready", "Ready", "%"},
      {"throughput", "An accelerator", "token/s"}, {"nodes", "Nodes", "-"},
      {"why", "In full", NULL});
  for (size_t w = 0; w < answer->problem->workload_count; w++)
    for (size_t o = 0; o < answer->problem->option_count; o++)
      write_barriers(answer, table, w, o);
  table->faces = DERIVES;
  table->note =
      "Ready: the share of the throughput that its software attains. Nodes: of one replica, by "
      "memory.";
}

void shortfall_write_barred(struct answer *written, const struct plan_answer *answer,
                            bool explained) {
  struct answer_table *table = ANSWER_TABLE(
      written, "barred", "Options that cannot serve a workload", {"why", "Cannot be served", NULL},
      {"workload", "Workload", NULL}, {"option", "Option", NULL});
  for (size_t w = 0; w < answer->problem->workload_count; w++)
    for (size_t o = 0; o < answer->problem->option_count; o++) {
      const struct route_pair *pair = &answer->pairs[w * answer->problem->option_count + o];
      if (pair->barriers && pair->why)
        ANSWER_ROW(table,
                   cell_words(arena_copy_n(written->arena, pair->why, strcspn(pair->why, "\n"))),
                   cell_words(answer->portfolio->demands[w].name),
                   cell_option(&answer->scenario->options[o]));
    }
  const bool any = table->row_count > 0;
  drop_empty(written, table);
  if (explained && any)
    write_barred_parts(written, answer);
}
