// The answer of model/questions/route.h. All of it comes from a search, so no cell is live on the
// sheet Decisions: other inputs would give another split.
#include "reports/answers/route.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/optimise/allocation.h"
#include "model/optimise/allocation_problem.h"
#include "model/questions/question.h"
#include "model/questions/route.h"
#include "model/questions/route_pairs.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 4 };

// A constraint that costs less than this share of the total is shown as costing nothing.
#define NO_PRICE 1e-9

struct writing {
  const struct route_answer *answer;
  const struct scenario *scenario;
  struct answer *written;
  const struct unit *money, *unit_cost;
  struct arena *arena;
};

static const char *const barrier_names[] = {"software readiness", "no throughput", "interactivity",
                                            "memory"};

static const char *barrier_name(unsigned barriers) {
  for (size_t i = 0; i < sizeof barrier_names / sizeof barrier_names[0]; i++)
    if (barriers & 1u << i)
      return barrier_names[i];
  return "";
}

static const char *name_of(const struct writing *writing, size_t o) {
  return writing->scenario->options[o].label;
}

static const char *money(const struct writing *writing, double value) {
  return money_text(value, writing->money, writing->arena);
}

static const char *per_token(const struct writing *writing, double value) {
  return quantity_words(value, writing->unit_cost, SHOWN_DIGITS, writing->arena);
}

// The first line of a message, without a colon at its end.
static const char *first_line(const char *text, struct arena *arena) {
  size_t length = strcspn(text, "\n");
  if (length && text[length] == '\n' && text[length - 1] == ':')
    length--;
  return arena_copy_n(arena, text, length);
}

// ---- the split

static double share_of(const struct route_answer *answer, size_t w, size_t o) {
  return answer->split.shares[w * answer->problem.option_count + o];
}

static double busy_nodes(const struct route_answer *answer, size_t o) {
  double busy = 0;
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    busy += allocation_busy(&answer->problem, &answer->split, w, o);
  return busy;
}

static double accelerators_of(const struct route_answer *answer, size_t o) {
  return round(answer->split.nodes[o] * answer->problem.options[o].accelerators);
}

static double spares_of(const struct route_answer *answer, size_t o) {
  return allocation_spares(&answer->problem, &answer->split, o);
}

static bool any_spares(const struct route_answer *answer) {
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (spares_of(answer, o) > 0)
      return true;
  return false;
}

static double option_cost(const struct route_answer *answer, size_t o) {
  return allocation_cost(&answer->problem, &answer->split, o);
}

static double discounted_cost(const struct route_answer *answer) {
  double cost = 0;
  for (size_t o = 0; o < answer->problem.option_count; o++)
    cost += answer->discounted[o];
  return cost;
}

static void write_discounted(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  if (!answer->discounted)
    return;
  struct answer_table *table = ANSWER_TABLE(
      writing->written, "discounted", "Cost as paid, and discounted", {"option", "Option", NULL},
      {"cost", "Cost", "USD"}, {"discounted", "Discounted", "USD"});
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (answer->split.nodes[o] > 0)
      ANSWER_ROW(table, cell_option(&writing->scenario->options[o]),
                 cell_value(option_cost(answer, o)), cell_value(answer->discounted[o]));
  ANSWER_ROW(table, cell_words("all"), cell_value(answer->split.cost),
             cell_value(discounted_cost(answer)));
  table->note = "The split minimizes cost as paid; 'pertoken plan' minimizes discounted cost.";
}

static void write_split(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct answer_table *table =
      ANSWER_TABLE(writing->written, "split", "Purchases", {"option", "Option", NULL},
                   {"vendor", "Vendor", NULL}, {"accelerators", "Accelerators", "gpu"},
                   {"nodes", "Nodes", "-"}, {"busy", "Busy", "%"}, {"node_cost", "A node", "USD"},
                   {"fixed_cost", "Fixed", "USD"}, {"cost", "Cost", "USD"});
  if (any_spares(answer))
    ANSWER_COLUMN(table, .key = "with_spares", .title = "With spares",
                  .unit = table->columns[2].unit);
  for (size_t o = 0; o < answer->problem.option_count; o++) {
    const double nodes = answer->split.nodes[o], fixed = answer->problem.options[o].fixed_cost;
    const double cost = option_cost(answer, o);
    if (nodes > 0)
      ANSWER_ROW(table, cell_option(&writing->scenario->options[o]),
                 cell_words(answer->portfolio->vendors[answer->portfolio->vendor[o]]),
                 cell_value(accelerators_of(answer, o)), cell_value(nodes),
                 cell_value(busy_nodes(answer, o) / nodes), cell_value((cost - fixed) / nodes),
                 cell_value(fixed), cell_value(cost),
                 cell_value(accelerators_of(answer, o) + spares_of(answer, o)));
  }
  ANSWER_ROW(table, cell_words("all"), cell_words(""), cell_nothing(), cell_nothing(),
             cell_nothing(), cell_nothing(), cell_nothing(), cell_value(answer->split.cost),
             cell_nothing());
}

// ---- the guide

static bool price_of(const struct writing *writing, const char *constraint) {
  const struct route_answer *answer = writing->answer;
  for (size_t i = 0; i < answer->price_count; i++)
    if (!strcmp(answer->prices[i].constraint, constraint))
      return answer->prices[i].status == ALLOCATION_OPTIMAL &&
             answer->split.cost - answer->prices[i].cost > NO_PRICE * answer->split.cost;
  return false;
}

// Whether the minimum share of the vendor of o costs anything.
static bool share_asks_for(const struct writing *writing, size_t o) {
  const struct portfolio *portfolio = writing->answer->portfolio;
  return price_of(writing, arena_printf(writing->arena, "minimum share of %s",
                                        portfolio->vendors[portfolio->vendor[o]]));
}

// Whether the stock of c is too small for more of w: for all of it if it runs on one option.
static bool is_short(const struct route_answer *answer, size_t w, size_t c) {
  const struct allocation_problem *problem = &answer->problem;
  const double lot = problem->options[c].lot;
  double busy =
      problem->workloads[w].demand / problem->pairs[w * problem->option_count + c].capacity;
  for (size_t other = 0; other < problem->workload_count; other++)
    busy += other == w ? 0 : allocation_busy(problem, &answer->split, other, c);
  const double nodes =
      problem->workloads[w].whole ? ceil(busy / lot - 1e-9) * lot : answer->split.nodes[c] + lot;
  return !allocation_in_stock(problem, c, nodes);
}

// Why the cheaper option c does not take all of w that o serves.
static const char *why_not(const struct writing *writing, size_t w, size_t o, size_t c) {
  const struct route_answer *answer = writing->answer;
  const struct portfolio *portfolio = answer->portfolio;
  const struct route_pair *pair = route_pair_of(answer, w, c);
  if (pair->barriers)
    return barrier_name(pair->barriers);
  if (is_short(answer, w, c))
    return "stock";
  if (portfolio->vendor[o] != portfolio->vendor[c] && share_asks_for(writing, o))
    return arena_printf(writing->arena, "share of %s", portfolio->vendors[portfolio->vendor[o]]);
  if (answer->split.nodes[c] <= 0 && answer->problem.options[c].fixed_cost > 0)
    return "its fixed cost";
  return portfolio->demands[w].whole ? "one option only" : "others need it more";
}

// The workload's cheapest option by node cost, excluding `except`; -1 for none.
static long cheapest(const struct route_answer *answer, size_t w, size_t except) {
  long best = -1;
  for (size_t o = 0; o < answer->problem.option_count; o++) {
    const double cost = route_unit_cost(answer, w, o);
    if (o != except && isfinite(cost) &&
        (best < 0 || cost < route_unit_cost(answer, w, (size_t)best)))
      best = (long)o;
  }
  return best;
}

static const char *why(const struct writing *writing, size_t w, size_t o) {
  const struct route_answer *answer = writing->answer;
  const long other = cheapest(answer, w, o);
  if (other < 0)
    return "the only option that can";
  const double cost = route_unit_cost(answer, w, (size_t)other);
  if (cost >= route_unit_cost(answer, w, o))
    return "cheapest";
  return arena_printf(writing->arena, "%s: %s", name_of(writing, (size_t)other),
                      why_not(writing, w, o, (size_t)other));
}

static void write_assignment(const struct writing *writing, struct answer_table *table, size_t w,
                             size_t o) {
  const struct route_answer *answer = writing->answer;
  const struct route_pair *pair = route_pair_of(answer, w, o);
  const char *workload = answer->portfolio->demands[w].name, *reason = why(writing, w, o);
  const double share = share_of(answer, w, o), cost = route_unit_cost(answer, w, o);
  const long other = cheapest(answer, w, o);
  const char *otherwise =
      other < 0
          ? "no other option has a throughput"
          : arena_printf(writing->arena, "otherwise %s at %s", name_of(writing, (size_t)other),
                         per_token(writing, route_unit_cost(answer, w, (size_t)other)));
  ANSWER_ROW(table, cell_words(workload), cell_option(&writing->scenario->options[o]),
             cell_value(share), cell_value(allocation_busy(&answer->problem, &answer->split, w, o)),
             cell_value(cost), cell_words(grade_name(pair->option->throughput_grade)),
             cell_words(reason));
  answer_reason(writing->written, "%s: %.4g %% goes to %s at %s, excluding fixed cost (%s); %s",
                workload, 100 * share, name_of(writing, o), per_token(writing, cost), reason,
                otherwise);
  if (pair->doubt)
    answer_warn(writing->written, "%s on %s: %s", workload, name_of(writing, o), pair->doubt);
  if (pair->excess)
    answer_warn(writing->written, "%s on %s: %s", workload, name_of(writing, o), pair->excess);
  const char *doubt = option_doubt(writing->scenario, pair->option);
  if (*doubt)
    answer_warn(writing->written, "%s on %s relies on a doubtful throughput: %s", workload,
                name_of(writing, o), doubt);
}

// The table of replicas over nodes, for faces without warnings.
static void write_spans(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct answer_table *table =
      ANSWER_TABLE(writing->written, "spans", "Replicas over nodes", {"workload", "Workload", NULL},
                   {"option", "On", NULL}, {"nodes", "Nodes", "-"}, {"rate", "Its rate", NULL});
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    for (size_t o = 0; o < answer->problem.option_count; o++) {
      const struct route_pair *pair = route_pair_of(answer, w, o);
      if (pair->nodes > 1 && share_of(answer, w, o) > 0)
        ANSWER_ROW(table, cell_words(answer->portfolio->demands[w].name),
                   cell_option(&writing->scenario->options[o]), cell_value(pair->nodes),
                   cell_words(pair->doubt ? pair->doubt : "at that span"));
    }
  if (!table->row_count)
    writing->written->table_count--;
}

static void write_guide(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct answer_table *table =
      ANSWER_TABLE(writing->written, "guide", "Workload allocation", {"workload", "Workload", NULL},
                   {"option", "On", NULL}, {"share", "Share", "%"}, {"busy_nodes", "Nodes", "-"},
                   {"unit_cost", "Cost", "USD/Mtok"}, {"throughput_grade", "Evidence", NULL},
                   {"why", "Why", NULL});
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    for (size_t o = 0; o < answer->problem.option_count; o++)
      if (share_of(answer, w, o) > 0)
        write_assignment(writing, table, w, o);
  table->note = "Cost: of the nodes that the tokens keep busy, without an option's fixed cost. "
                "Why: it is the cheapest, or the reason the workload is not on the cheapest one.";
}

// ---- sourcing and prices

static struct answer_cell status_cell(enum allocation_status status, double value) {
  if (status == ALLOCATION_OPTIMAL)
    return cell_value(value);
  return cell_words(status == ALLOCATION_INFEASIBLE ? "cannot be served" : "not proven in time");
}

static void write_source(const struct writing *writing, struct answer_table *table,
                         const char *name, enum allocation_status status, double cost) {
  const struct allocation *split = &writing->answer->split;
  const bool known = status == ALLOCATION_OPTIMAL && split->status == ALLOCATION_OPTIMAL;
  ANSWER_ROW(table, cell_words(name), status_cell(status, cost),
             known ? cell_value(cost - split->cost) : cell_nothing());
}

static void write_sources(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const struct portfolio *portfolio = answer->portfolio;
  struct answer_table *table = ANSWER_TABLE(writing->written, "sourcing", "Cost of a second source",
                                            {"sourcing", "Sourcing", NULL}, {"cost", "Cost", "USD"},
                                            {"difference", "Compared with the request", "USD"});
  write_source(writing, table, "as asked", answer->split.status, answer->split.cost);
  write_source(writing, table, "without minimum shares",
               isnan(answer->free_cost) ? ALLOCATION_INFEASIBLE : ALLOCATION_OPTIMAL,
               answer->free_cost);
  for (int v = 0; v < portfolio->vendor_count; v++)
    write_source(writing, table, arena_printf(writing->arena, "all from %s", portfolio->vendors[v]),
                 answer->sources[v].status, answer->sources[v].cost);
}

static void write_prices(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const bool known = answer->split.status == ALLOCATION_OPTIMAL;
  struct answer_table *table = ANSWER_TABLE(
      writing->written, "prices", "What each constraint costs", {"constraint", "Constraint", NULL},
      {"cost_without", "Cost without it", "USD"}, {"price", "Its price", "USD"});
  for (size_t i = 0; i < answer->price_count; i++) {
    const struct route_price *price = &answer->prices[i];
    const double saved = answer->split.cost - price->cost;
    const bool free = fabs(saved) <= NO_PRICE * answer->split.cost;
    ANSWER_ROW(table, cell_words(price->constraint), status_cell(price->status, price->cost),
               !known || price->status != ALLOCATION_OPTIMAL ? cell_nothing()
                                                             : cell_value(free ? 0 : saved));
  }
  table->note = "Each found by solving again without that constraint; without whole purchase "
                "units, replicas over several nodes need not be whole either.";
}

static void write_barred(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct answer_table *table =
      ANSWER_TABLE(writing->written, "barred", "Options that cannot serve a workload",
                   {"why", "Cannot be served", NULL}, {"workload", "Workload", NULL},
                   {"option", "Option", NULL}, {"constraint", "By", NULL});
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    for (size_t o = 0; o < answer->problem.option_count; o++) {
      const struct route_pair *pair = route_pair_of(answer, w, o);
      if (pair->barriers)
        ANSWER_ROW(table, cell_words(first_line(pair->why, writing->arena)),
                   cell_words(answer->portfolio->demands[w].name),
                   cell_option(&writing->scenario->options[o]),
                   cell_words(barrier_name(pair->barriers)));
    }
  if (!table->row_count)
    writing->written->table_count--;
}

// ---- the answer in words

// "16 nodes of h100", "8 nodes and 4 spares of h200", or accelerators if they are not sold by the
// node.
static const char *purchase(const struct writing *writing, size_t o) {
  const struct route_answer *answer = writing->answer;
  const bool by_node = answer->problem.options[o].lot == 1;
  const double count = by_node ? answer->split.nodes[o] : accelerators_of(answer, o);
  const char *units = number_counted(count, by_node ? "node" : "accelerator", writing->arena);
  const double spares = spares_of(answer, o);
  return spares > 0
             ? arena_printf(writing->arena, "%s and %s of %s", units,
                            number_counted(spares, "spare", writing->arena), name_of(writing, o))
             : arena_printf(writing->arena, "%s of %s", units, name_of(writing, o));
}

static const char *purchases(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const char *text = "";
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (answer->split.nodes[o] > 0)
      text = options_joined(writing->scenario, text, purchase(writing, o), writing->arena);
  return text;
}

static const struct route_source *best_source(const struct route_answer *answer) {
  const struct route_source *best = NULL;
  for (int v = 0; v < answer->portfolio->vendor_count; v++) {
    const struct route_source *source = &answer->sources[v];
    if (source->status == ALLOCATION_OPTIMAL && (!best || source->cost < best->cost))
      best = source;
  }
  return best;
}

// " Two sources cost ... more than ..."; the cost of a single one is compared.
static const char *dual_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const struct route_source *best = best_source(answer);
  if (!best)
    return " No vendor alone can serve it.";
  const double more = answer->split.cost - best->cost;
  const char *vendor = answer->portfolio->vendors[best->vendor];
  if (fabs(more) <= NO_PRICE * best->cost)
    return arena_printf(writing->arena, " It costs the same as all from %s.", vendor);
  return arena_printf(writing->arena, " That is %s (%.3g %%) %s than all from %s.",
                      money(writing, fabs(more)), 100 * fabs(more) / best->cost,
                      more > 0 ? "more" : "less", vendor);
}

static const char *served_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const double years = answer->horizon / HOURS_PER_YEAR;
  const char *discounted = answer->discounted
                               ? arena_printf(writing->arena, " Discounted, it costs %s.",
                                              money(writing, discounted_cost(answer)))
                               : "";
  return arena_printf(writing->arena,
                      "%s for %zu workload%s over %.4g year%s, %s of it upfront: %s.%s%s",
                      money(writing, answer->split.cost), answer->problem.workload_count,
                      answer->problem.workload_count == 1 ? "" : "s", years, years == 1 ? "" : "s",
                      money(writing, answer->split.capex), purchases(writing), dual_words(writing),
                      discounted); // "That is" is what is paid
}

static bool can_serve(const struct route_answer *answer, size_t w) {
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (!route_pair_of(answer, w, o)->barriers)
      return true;
  return false;
}

static const char *unserved_words(const struct writing *writing, size_t w) {
  const struct route_answer *answer = writing->answer;
  const char *text =
      arena_printf(writing->arena, "No option can serve '%s'", answer->portfolio->demands[w].name);
  for (size_t o = 0; o < answer->problem.option_count; o++)
    text = arena_printf(writing->arena, "%s%s%s: %s", text,
                        o ? options_between(writing->scenario) : " (", name_of(writing, o),
                        barrier_name(route_pair_of(answer, w, o)->barriers));
  return arena_printf(writing->arena, "%s).", text);
}

static const char *refused_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const char *text = "", *helpful = "";
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    if (!can_serve(answer, w))
      text = arena_printf(writing->arena, "%s%s%s", text, *text ? " " : "",
                          unserved_words(writing, w));
  for (size_t i = 0; i < answer->price_count; i++)
    if (answer->prices[i].status == ALLOCATION_OPTIMAL)
      helpful = arena_printf(writing->arena, "%s%s%s (%s)", helpful, *helpful ? ", or " : "",
                             answer->prices[i].constraint, money(writing, answer->prices[i].cost));
  if (*helpful)
    return arena_printf(
        writing->arena,
        "%s%sNo allocation meets every constraint. It becomes possible without: %s.", text,
        *text ? " " : "", helpful);
  return arena_printf(
      writing->arena,
      "%s%sNo allocation meets every constraint, and dropping any single one does not help.", text,
      *text ? " " : "");
}

static void explain_how(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  answer_reason(
      writing->written,
      "Minimizes the sum of nodes times cost per node, plus whole spares and a fixed cost "
      "for every option used, over whole purchase units whose nodes an option's workloads share "
      "(model/optimise/allocation.h states the program)%s.",
      answer->split.status == ALLOCATION_OPTIMAL ? "; GLPK proved it optimal" : "");
  answer_reason(writing->written, "A node's cost and the fixed cost are the slope and intercept of "
                                  "tco over nodes; every option was resolved for each workload.");
  if (answer->split.status == ALLOCATION_OPTIMAL)
    answer_reason(writing->written, "The full cost model at these node counts: %s, capex %s.",
                  money(writing, answer->exact_cost), money(writing, answer->exact_capex));
}

static void check_line(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const double gap = answer->exact_cost / answer->split.cost - 1;
  if (fabs(gap) > 1e-3)
    answer_warn(writing->written,
                "the cost model is not linear in nodes: at these counts it gives %s, %.2g %% %s",
                money(writing, answer->exact_cost), 100 * fabs(gap), gap > 0 ? "more" : "less");
}

static void write_answer(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct answer *written = writing->written;
  explain_how(writing);
  answer_warn_undrawn(written);
  if (answer->split.status == ALLOCATION_OPTIMAL) {
    written->sentence = served_words(writing);
    write_split(writing);
    write_discounted(writing);
    write_guide(writing);
    write_spans(writing);
    write_sources(writing);
    check_line(writing);
  } else {
    written->no = true;
    written->sentence = answer->split.status == ALLOCATION_INFEASIBLE
                            ? refused_words(writing)
                            : "No split was proven the cheapest within a minute.";
  }
  write_prices(writing);
  write_barred(writing);
}

bool route_asked(const struct scenario *scenario) {
  return question_section(scenario, "demand", NULL) && !question_section(scenario, "plan", NULL);
}

int answer_route(const struct scenario *scenario, const char *only, struct answers *answers,
                 struct arena *arena, struct diagnostics *diagnostics) {
  if (only && strcmp(only, "portfolio") != 0) {
    diagnostics_error(diagnostics, nowhere, "a scenario has only one portfolio: there is no '%s'",
                      only);
    return -1;
  }
  const struct route_answer *answer = route_ask(scenario, arena, diagnostics);
  if (!answer)
    return -1;
  struct answer written =
      answer_new("route", "portfolio", "Which workload on which option", scenario, arena);
  const struct writing writing = {
      .answer = answer,
      .scenario = scenario,
      .written = &written,
      .money = unit_known(scenario->model->currency, arena),
      .unit_cost = unit_known(model_unit_text(scenario->model, "USD/Mtok"), arena),
      .arena = arena};
  write_answer(&writing);
  answers_add(answers, written);
  return 0;
}
