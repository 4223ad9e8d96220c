// The answer of model/plan/plan.h. All of it comes from a search, so no cell is live on the sheet
// Decisions: other inputs would give another plan.
#include "reports/plans/answer.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/plan.h"
#include "model/plan/programme.h"
#include "model/plan/terms.h"
#include "model/questions/portfolio.h"
#include "model/questions/question.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/option.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"
#include "reports/plans/chance.h"
#include "reports/plans/derivation.h"
#include "reports/plans/shortfall.h"
#include "reports/plans/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A constraint that costs less than this share of the total is shown as costing nothing.
#define NO_PRICE 1e-6

// A gap that is too small to show.
#define CLOSED_GAP 1e-6

struct writing {
  const struct plan_answer *answer;
  const struct scenario *scenario;
  const struct planned_fleet *fleet;
  struct answer *written;
  const struct unit *money;
  struct arena *arena;
};

static const struct option *option_of(const struct writing *writing, size_t o) {
  return &writing->scenario->options[o];
}

static const char *money(const struct writing *writing, double value) {
  return money_text(value, writing->money, writing->arena);
}

// A workload's share on an option in a period, without what the solver's tolerances leave of none.
static double share_in(const struct writing *writing, size_t w, size_t o, int period) {
  static const double none = 1e-7;
  const double share = *fleet_share(writing->answer->problem, writing->fleet, w, o, period);
  return share < none ? 0 : share;
}

static void write_guide_row(const struct writing *writing, struct answer_table *table, size_t w,
                            size_t o) {
  const struct fleet_problem *problem = writing->answer->problem;
  double served = 0, all = 0, most = 0;
  for (int t = 0; t < problem->periods; t++) {
    most = fmax(most, share_in(writing, w, o, t));
    served += *fleet_share(problem, writing->fleet, w, o, t) * problem->workloads[w].demand[t];
    all += problem->workloads[w].demand[t];
  }
  if (most <= 0)
    return;
  const struct route_pair *pair = &writing->answer->pairs[w * problem->option_count + o];
  ANSWER_ROW(table, cell_words(writing->answer->portfolio->demands[w].name),
             cell_option(option_of(writing, o)), cell_value(served / all),
             cell_value(share_in(writing, w, o, 0)), cell_value(most),
             cell_value(share_in(writing, w, o, problem->periods - 1)),
             pair->option->provider ? cell_words("")
                                    : cell_words(grade_name(pair->option->throughput_grade)));
  if (pair->doubt)
    answer_warn(writing->written, "%s on %s: %s", writing->answer->portfolio->demands[w].name,
                option_of(writing, o)->label, pair->doubt);
  if (pair->excess)
    answer_warn(writing->written, "%s on %s: %s", writing->answer->portfolio->demands[w].name,
                option_of(writing, o)->label, pair->excess);
}

static void write_guide(const struct writing *writing) {
  const struct fleet_problem *problem = writing->answer->problem;
  struct answer_table *table = ANSWER_TABLE(
      writing->written, "guide", "Where each workload runs", {"workload", "Workload", NULL},
      {"option", "On", NULL}, {"share", "Of all tokens", "%"}, {"first_share", "At first", "%"},
      {"most_share", "At most", "%"}, {"last_share", "At last", "%"},
      {"throughput_grade", "Evidence", NULL});
  for (size_t w = 0; w < problem->workload_count; w++)
    for (size_t o = 0; o < problem->option_count; o++)
      write_guide_row(writing, table, w, o);
}

// ---- prices

// If optimality is not proven, the best cost found.
static struct answer_cell cost_cell(const struct plan_price *price) {
  if (price->status == PROGRAMME_INFEASIBLE)
    return cell_words("cannot be served");
  return isfinite(price->cost) ? cell_value(price->cost) : cell_words("none found in time");
}

static struct answer_cell amount_cell(const struct writing *writing, double amount) {
  const double all = fabs(writing->answer->result.fleet.cost);
  return isfinite(amount) ? cell_value(fabs(amount) <= NO_PRICE * all ? 0 : amount)
                          : cell_nothing();
}

static void write_price_row(const struct writing *writing, struct answer_table *table,
                            const struct plan_price *price) {
  const bool proven =
      writing->answer->result.status == PROGRAMME_OPTIMAL && price->status == PROGRAMME_OPTIMAL;
  ANSWER_ROW(table, cell_words(price->constraint), cost_cell(price),
             proven ? amount_cell(writing, price->most) : cell_nothing(),
             amount_cell(writing, price->least), amount_cell(writing, price->most));
}

static void write_prices(const struct writing *writing) {
  const struct plan_answer *answer = writing->answer;
  struct answer_table *table = ANSWER_TABLE(
      writing->written, "prices", "What each constraint costs", {"constraint", "Constraint", NULL},
      {"cost_without", "Cost without it", "USD"}, {"price", "Its price", "USD"},
      {"price_least", "At least", "USD"}, {"price_most", "At most", "USD"});
  for (size_t i = 0; i < answer->price_count; i++)
    write_price_row(writing, table, &answer->prices[i]);
  table->note = "Each found by solving again without that one constraint; costs are discounted. "
                "Where it is not proven to be the lowest, the cost is that of the best plan found, "
                "and the price lies between the last two columns.";
  table = ANSWER_TABLE(
      writing->written, "sourcing", "Cost of a single vendor", {"vendor", "All from", NULL},
      {"cost", "Cost", "USD"}, {"difference", "Above the plan", "USD"},
      {"difference_least", "At least", "USD"}, {"difference_most", "At most", "USD"});
  for (int v = 0; v < answer->portfolio->vendor_count; v++)
    write_price_row(writing, table, &answer->vendors[v]);
}

// ---- the answer in words

static const char *proof_words(const struct writing *writing) {
  const struct programme_result *result = &writing->answer->result;
  const double gap = programme_gap(result);
  if (result->status == PROGRAMME_OPTIMAL)
    return "This is proven to be the lowest cost.";
  if (gap <= CLOSED_GAP)
    return "No cheaper plan was found.";
  return arena_printf(writing->arena,
                      "%s: no plan costs less than %s, so this one is within %.2g %% of the "
                      "lowest cost.",
                      result->rounded ? "Spares cost more than the search counts"
                                      : "The time limit was reached",
                      money(writing, result->bound), 100 * gap);
}

// What is said if no plan was found in time: it is also unknown whether there is one.
static const char *late_words(const struct writing *writing) {
  const struct plan_answer *answer = writing->answer;
  const char *bound = isfinite(answer->result.bound)
                          ? arena_printf(writing->arena, "only that none costs less than %s",
                                         money(writing, answer->result.bound))
                          : "nor a bound on its cost";
  return arena_printf(writing->arena,
                      "No plan was found within %.6g s, %s: the program is too large for the "
                      "'time' under [plan].",
                      answer->terms->time_s, bound);
}

static const char *found_words(const struct writing *writing) {
  const struct plan_answer *answer = writing->answer;
  const double years = answer->terms->periods * answer->terms->period_h / answer->terms->year_h;
  return arena_printf(
      writing->arena,
      "%s, discounted to %s, for %zu workload%s over %.4g year%s in %d periods. "
      "%s%s%s",
      money(writing, answer->result.fleet.cost), writing->scenario->start,
      answer->problem->workload_count, answer->problem->workload_count == 1 ? "" : "s", years,
      years == 1 ? "" : "s", answer->terms->periods, proof_words(writing),
      calendar_words(writing->answer, writing->arena), plan_chance_words(answer, writing->arena));
}

static void explain_how(const struct writing *writing) {
  answer_reason(writing->written,
                "The lowest discounted cost over all that can be bought, rented and sold in each "
                "period (model/plan/fleet.h has the program, docs/plan.md explains it).");
  answer_reason(writing->written,
                "Each purchase costs what the cost model gives from its period to its sale, at the "
                "prices of its time.");
  answer_reason(writing->written,
                "Compared with the best plans without each option and from each vendor alone, and "
                "with every purchase at another time.");
}

static void write_figures(const struct writing *writing) {
  const struct programme_result *result = &writing->answer->result;
  struct answer_table *table =
      ANSWER_TABLE(writing->written, "proof", "Optimality gap", {"figure", "Figure", NULL},
                   {"value", "Value", "USD"}, {"gap", "Gap", "%"});
  ANSWER_ROW(table, cell_words("cost of the plan, discounted"), cell_value(result->fleet.cost),
             cell_value(programme_gap(result)));
  ANSWER_ROW(table, cell_words("no plan costs less than"), cell_value(result->bound),
             cell_nothing());
}

static bool is_rented(const struct writing *writing, size_t o) {
  const struct fleet_problem *problem = writing->answer->problem;
  for (int t = 0; t < problem->periods; t++)
    if (problem->options[o].rented && fleet_nodes(problem, writing->fleet, o, t) > 0)
      return true;
  return false;
}

static void warn_of_terms(const struct writing *writing) {
  const struct plan_answer *answer = writing->answer;
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (is_rented(writing, o) && answer->portfolio->term[o] == 0)
      answer_warn(writing->written,
                  "%s: its rent is taken to be free to end after every period of %s: state the "
                  "'term' that its rate commits to under [supply %s]",
                  option_of(writing, o)->label,
                  quantity_words(answer->terms->period_h, unit_known("month", writing->arena), 3,
                                 writing->arena),
                  option_of(writing, o)->id);
}

static void write_found(const struct writing *writing) {
  writing->written->sentence = found_words(writing);
  calendar_write(writing->written, writing->answer);
  plan_chance_write(writing->written, writing->answer);
  timeline_write(writing->written, writing->answer);
  write_guide(writing);
  timeline_write_shares(writing->written, writing->answer);
  write_figures(writing);
  write_prices(writing);
  warn_of_terms(writing);
}

static void write_answer(const struct writing *writing, bool explained) {
  const struct programme_result *result = &writing->answer->result;
  explain_how(writing);
  if (programme_has_fleet(result)) {
    write_found(writing);
    if (explained)
      derivation_write(writing->written, writing->answer);
  } else {
    writing->written->no = result->status == PROGRAMME_INFEASIBLE;
    writing->written->sentence = result->status == PROGRAMME_INFEASIBLE
                                     ? shortfall_words(writing->answer, writing->arena)
                                     : late_words(writing);
    shortfall_write_lacks(writing->written, writing->answer, explained);
    write_prices(writing);
  }
  shortfall_write_barred(writing->written, writing->answer, explained);
}

bool plan_asked(const struct scenario *scenario) {
  return question_section(scenario, "plan", NULL) != NULL;
}

static int answer_as(const struct scenario *scenario, bool explained, struct answers *answers,
                     struct arena *arena, struct diagnostics *diagnostics) {
  const struct plan_answer *answer = plan_ask(scenario, arena, diagnostics);
  if (!answer)
    return -1;
  struct answer written =
      answer_new("plan", "portfolio", "What to buy, rent and retire, and when", scenario, arena);
  const struct writing writing = {.answer = answer,
                                  .scenario = scenario,
                                  .fleet = &answer->result.fleet,
                                  .written = &written,
                                  .money = unit_known(scenario->model->currency, arena),
                                  .arena = arena};
  write_answer(&writing, explained);
  answers_add(answers, written);
  return 0;
}

int answer_plan(const struct scenario *scenario, const char *only, struct answers *answers,
                struct arena *arena, struct diagnostics *diagnostics) {
  if (!only || !strcmp(only, "portfolio"))
    return answer_as(scenario, false, answers, arena, diagnostics);
  diagnostics_error(diagnostics, nowhere, "a scenario has one portfolio, so there is no '%s'",
                    only);
  return -1;
}

struct answer *plan_explained(const struct scenario *scenario, const char *table,
                              struct arena *arena, struct diagnostics *diagnostics) {
  struct answers answers = {0};
  if (answer_as(scenario, true, &answers, arena, diagnostics))
    return NULL;
  struct answer *written = arena_alloc(arena, sizeof *written);
  *written = answers.list[0];
  return derivation_select(written, table, diagnostics) ? NULL : written;
}
