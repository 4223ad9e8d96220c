#include "model/questions/route.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/model.h"
#include "model/optimise/allocation.h"
#include "model/optimise/allocation_problem.h"
#include "model/optimise/allocation_programme.h"
#include "model/questions/question.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <math.h>

enum { LIMIT_S = 60, PRICE_LIMIT_S = 20 };

struct routing {
  struct pairing pairing;
  struct route_answer *answer;
};

static double horizon_of(const struct routing *routing) {
  const struct scenario *scenario = routing->pairing.scenario;
  const struct option *first = scenario->options;
  for (const struct option *other = first + 1; other < first + scenario->option_count; other++)
    if (question_refuse_different(scenario, first, other, "horizon", other->place,
                                  routing->pairing.diagnostics))
      return NAN;
  return option_value(scenario, first, model_find(scenario->model, "horizon"), 0);
}

// The constraints that are left out of a program.
struct leave {
  unsigned barriers; // of route_barrier
  bool readiness;    // partial readiness counts as whole
  bool latency, whole_units, unsplit, budget, capex_budget;
  int stock, share; // an option, a vendor; -1: none. ALL: every vendor's share
  int only;         // the only vendor, or -1
};

enum { NONE = -1, ALL = -2 };

static const struct leave leave_nothing = {.stock = NONE, .share = NONE, .only = NONE};

static double base_slope(const struct routing *routing, size_t o, bool capex) {
  const struct route_pair *pairs = routing->pairing.pairs;
  double least = INFINITY;
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++) {
    const struct route_pair *pair = &pairs[w * routing->pairing.scenario->option_count + o];
    if (pair->option)
      least = fmin(least, capex ? pair->node_capex : pair->node_cost);
  }
  return isfinite(least) ? least : 0;
}

static double largest_fixed(const struct routing *routing, size_t o, bool capex) {
  double largest = 0;
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++) {
    const struct route_pair *pair =
        &routing->pairing.pairs[w * routing->pairing.scenario->option_count + o];
    if (pair->option)
      largest = fmax(largest, capex ? pair->fixed_capex : pair->fixed_cost);
  }
  return largest;
}

// Spares are the same whatever a node serves.
static struct route_pair spares_of(const struct routing *routing, size_t o) {
  const struct route_pair *pairs = routing->pairing.pairs;
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++)
    if (pairs[w * routing->pairing.scenario->option_count + o].option)
      return pairs[w * routing->pairing.scenario->option_count + o];
  return (struct route_pair){0};
}

static struct allocation_option option_of(const struct routing *routing, size_t o,
                                          const struct leave *leave) {
  const struct portfolio *portfolio = routing->pairing.portfolio;
  const struct scenario *scenario = routing->pairing.scenario;
  const double per_node = option_value(scenario, &scenario->options[o],
                                       model_find(scenario->model, "accelerators_per_node"), 0);
  const bool barred = leave->only >= 0 && portfolio->vendor[o] != leave->only;
  const struct route_pair spares = spares_of(routing, o);
  return (struct allocation_option){.fixed_cost = largest_fixed(routing, o, false),
                                    .fixed_capex = largest_fixed(routing, o, true),
                                    .node_cost = base_slope(routing, o, false),
                                    .node_capex = base_slope(routing, o, true),
                                    .spares = spares.spares,
                                    .spare_cost = spares.spare_cost,
                                    .spare_capex = spares.spare_capex,
                                    .accelerators = per_node,
                                    .lot = route_lot(&routing->pairing, o),
                                    .stock = barred ? 0
                                             : leave->stock == (int)o
                                                 ? INFINITY
                                                 : portfolio->stock[o] / per_node,
                                    .vendor = portfolio->vendor[o]};
}

static struct allocation_pair pair_of(const struct routing *routing, size_t w, size_t o,
                                      const struct allocation_option *option,
                                      const struct leave *leave) {
  const struct demand *demand = &routing->pairing.portfolio->demands[w];
  const struct route_pair *pairs = leave->latency ? routing->pairing.loose : routing->pairing.pairs;
  const struct route_pair *pair = &pairs[w * routing->pairing.scenario->option_count + o];
  const double ready = leave->readiness || demand->ready[o] <= 0 ? 1 : demand->ready[o];
  const bool barred = (pair->barriers & ~leave->barriers) != 0 || option->stock <= 0;
  return (struct allocation_pair){.capacity = barred ? 0 : pair->capacity * ready,
                                  .extra_cost = fmax(0, pair->node_cost - option->node_cost),
                                  .extra_capex = fmax(0, pair->node_capex - option->node_capex),
                                  .span = pair->span};
}

static struct allocation_problem problem_of(const struct routing *routing,
                                            const struct leave *leave) {
  const struct portfolio *portfolio = routing->pairing.portfolio;
  const size_t workloads = portfolio->demand_count,
               options = routing->pairing.scenario->option_count;
  struct arena *arena = routing->pairing.arena;
  struct allocation_workload *demands = arena_array(arena, workloads, sizeof *demands);
  struct allocation_option *supplies = arena_array(arena, options, sizeof *supplies);
  struct allocation_pair *pairs = arena_array(arena, workloads * options, sizeof *pairs);
  double *shares = arena_array(arena, (size_t)portfolio->vendor_count, sizeof *shares);
  for (size_t o = 0; o < options; o++)
    supplies[o] = option_of(routing, o, leave);
  for (size_t w = 0; w < workloads; w++) {
    demands[w] = (struct allocation_workload){portfolio->demands[w].tokens,
                                              portfolio->demands[w].whole && !leave->unsplit};
    for (size_t o = 0; o < options; o++)
      pairs[w * options + o] = pair_of(routing, w, o, &supplies[o], leave);
  }
  for (int v = 0; v < portfolio->vendor_count; v++)
    shares[v] = leave->share == v || leave->share == ALL ? 0 : portfolio->minimum_shares[v];
  return (struct allocation_problem){.workloads = demands,
                                     .workload_count = workloads,
                                     .options = supplies,
                                     .option_count = options,
                                     .pairs = pairs,
                                     .minimum_shares = shares,
                                     .vendor_count = portfolio->vendor_count,
                                     .share_of = portfolio->share_of,
                                     .budget = leave->budget ? INFINITY : portfolio->budget,
                                     .capex_budget =
                                         leave->capex_budget ? INFINITY : portfolio->capex_budget,
                                     .divisible = leave->whole_units};
}

static struct allocation solve_without(const struct routing *routing, const struct leave *leave) {
  const struct allocation_problem problem = problem_of(routing, leave);
  return allocation_solve(&problem, PRICE_LIMIT_S, routing->pairing.arena);
}

// ---- the price of each constraint

static void add_price(struct routing *routing, struct route_price *prices, const char *constraint,
                      struct leave leave) {
  const struct allocation split = solve_without(routing, &leave);
  prices[routing->answer->price_count++] =
      (struct route_price){constraint, split.status, split.cost};
}

static unsigned barriers_there(const struct routing *routing) {
  unsigned all = 0;
  for (size_t i = 0;
       i < routing->pairing.portfolio->demand_count * routing->pairing.scenario->option_count; i++)
    all |= routing->pairing.pairs[i].barriers;
  return all;
}

static bool any_partly_ready(const struct routing *routing) {
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++)
    for (size_t o = 0; o < routing->pairing.scenario->option_count; o++)
      if (routing->pairing.portfolio->demands[w].ready[o] < 1)
        return true;
  return false;
}

static bool any_demand(const struct routing *routing, bool latency) {
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++) {
    const struct demand *demand = &routing->pairing.portfolio->demands[w];
    if (latency ? demand->keys[DEMAND_INTERACTIVITY] != NULL : demand->whole)
      return true;
  }
  return false;
}

static void price_limits(struct routing *routing, struct route_price *prices) {
  const struct portfolio *portfolio = routing->pairing.portfolio;
  for (size_t o = 0; o < routing->pairing.scenario->option_count; o++) {
    struct leave leave = leave_nothing;
    leave.stock = (int)o;
    if (isfinite(portfolio->stock[o]))
      add_price(routing, prices,
                arena_printf(routing->pairing.arena, "stock of %s",
                             routing->pairing.scenario->options[o].label),
                leave);
  }
  for (int v = 0; v < portfolio->vendor_count; v++) {
    struct leave leave = leave_nothing;
    leave.share = v;
    if (portfolio->minimum_shares[v] > 0)
      add_price(routing, prices,
                arena_printf(routing->pairing.arena, "minimum share of %s", portfolio->vendors[v]),
                leave);
  }
}

static void price_constraints(struct routing *routing) {
  const struct portfolio *portfolio = routing->pairing.portfolio;
  const unsigned barriers = barriers_there(routing);
  const size_t room = routing->pairing.scenario->option_count + (size_t)portfolio->vendor_count + 8;
  struct route_price *prices = arena_array(routing->pairing.arena, room, sizeof *prices);
  struct leave leave[7];
  for (size_t i = 0; i < sizeof leave / sizeof leave[0]; i++)
    leave[i] = leave_nothing;
  leave[0].budget = leave[1].capex_budget = leave[3].latency = leave[5].unsplit =
      leave[6].whole_units = true;
  leave[2].readiness = true, leave[2].barriers = ROUTE_NOT_READY;
  leave[4].barriers = ROUTE_TOO_LARGE;
  const struct {
    const char *constraint;
    bool there;
  } others[] = {{"budget", isfinite(portfolio->budget)},
                {"capex budget", isfinite(portfolio->capex_budget)},
                {"software readiness", any_partly_ready(routing)},
                {"interactivity", any_demand(routing, true)},
                {"memory", (barriers & ROUTE_TOO_LARGE) != 0},
                {"workloads on one option", any_demand(routing, false)},
                {"whole purchase units", true}};
  price_limits(routing, prices);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (others[i].there)
      add_price(routing, prices, others[i].constraint, leave[i]);
  routing->answer->prices = prices;
}

static bool any_minimum_share(const struct routing *routing) {
  const struct portfolio *portfolio = routing->pairing.portfolio;
  for (int v = 0; v < portfolio->vendor_count; v++)
    if (portfolio->minimum_shares[v] > 0)
      return true;
  return false;
}

// Finds the cost of a free split, which is the split itself without minimum shares, and of each
// vendor alone.
static void find_sources(struct routing *routing) {
  const int vendors = routing->pairing.portfolio->vendor_count;
  struct route_source *sources =
      arena_array(routing->pairing.arena, (size_t)vendors + 1, sizeof *sources);
  struct leave leave = leave_nothing;
  leave.share = ALL;
  const struct allocation free_split =
      any_minimum_share(routing) ? solve_without(routing, &leave) : routing->answer->split;
  routing->answer->free_cost =
      free_split.status == ALLOCATION_OPTIMAL ? free_split.cost : (double)NAN;
  for (leave.only = 0; leave.only < vendors; leave.only++) {
    const struct allocation split = solve_without(routing, &leave);
    sources[leave.only] = (struct route_source){leave.only, split.status, split.cost};
  }
  routing->answer->sources = sources;
}

// ---- what the split costs by the cost model itself

static double exact_part(const struct routing *routing, size_t w, size_t o, double nodes,
                         bool capex) {
  const struct route_pair *pair =
      &routing->pairing.pairs[w * routing->pairing.scenario->option_count + o];
  struct arena scratch = {NULL};
  const struct evaluation *evaluation =
      route_evaluate_nodes(routing->pairing.scenario, pair->option, nodes, &scratch);
  const int item = model_find(routing->pairing.scenario->model, capex ? "capex" : "tco");
  const double value = evaluation_at(evaluation, item, 0)[0];
  arena_free(&scratch);
  return value;
}

// The workload that keeps most of an option's nodes busy represents them all; the differences of
// the others' power costs are the program's figures.
static double exact_option(const struct routing *routing, size_t o, bool capex) {
  const struct route_answer *answer = routing->answer;
  const struct allocation_option *option = &answer->problem.options[o];
  size_t main = 0;
  double extra = 0, most = -1;
  for (size_t w = 0; w < routing->pairing.portfolio->demand_count; w++) {
    const struct route_pair *pair = route_pair_of(answer, w, o);
    const struct allocation_pair *terms =
        &answer->problem.pairs[w * answer->problem.option_count + o];
    const double busy = allocation_busy(&answer->problem, &answer->split, w, o);
    extra += (capex ? terms->extra_capex : terms->extra_cost) * busy;
    if (pair->option && busy > most) {
      main = w;
      most = busy;
    }
  }
  const struct route_pair *pair = route_pair_of(answer, main, o);
  const double nodes = answer->split.nodes[o];
  const double own =
      capex ? pair->node_capex - option->node_capex : pair->node_cost - option->node_cost;
  return exact_part(routing, main, o, nodes, capex) - own * nodes + extra;
}

static void find_exact_cost(struct routing *routing) {
  struct route_answer *answer = routing->answer;
  for (size_t o = 0; o < routing->pairing.scenario->option_count; o++) {
    if (!answer->split.nodes || answer->split.nodes[o] <= 0)
      continue;
    answer->exact_cost += exact_option(routing, o, false);
    answer->exact_capex += exact_option(routing, o, true);
  }
}

// The cost that the program would count for an option if its figures were discounted.
static double discounted_option(const struct route_answer *answer, size_t o) {
  const size_t workloads = answer->problem.workload_count;
  const double added = allocation_spares_added(&answer->problem, &answer->split, o);
  double least = INFINITY, fixed = 0, extra = 0, spare = 0;
  for (size_t w = 0; w < workloads; w++) {
    const struct route_pair *pair = route_pair_of(answer, w, o);
    spare = pair->option ? pair->spare_npv : spare;
    least = pair->option ? fmin(least, pair->node_npv) : least;
    fixed = pair->option ? fmax(fixed, pair->fixed_npv) : fixed;
  }
  for (size_t w = 0; w < workloads; w++)
    if (route_pair_of(answer, w, o)->option)
      extra += (route_pair_of(answer, w, o)->node_npv - least) *
               allocation_busy(&answer->problem, &answer->split, w, o);
  return fixed + least * answer->split.nodes[o] + spare * added + extra;
}

static void find_discounted(struct routing *routing) {
  const struct scenario *scenario = routing->pairing.scenario;
  const int wacc = model_find(scenario->model, "wacc");
  double *discounted =
      arena_array(routing->pairing.arena, scenario->option_count, sizeof *discounted);
  bool any = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const bool there = routing->answer->split.nodes[o] > 0;
    discounted[o] = there ? discounted_option(routing->answer, o) : 0;
    any |= there && option_value(scenario, &scenario->options[o], wacc, 0) != 0;
  }
  if (any)
    routing->answer->discounted = discounted;
}

double route_unit_cost(const struct route_answer *answer, size_t demand, size_t option) {
  const struct route_pair *pair = route_pair_of(answer, demand, option);
  const double ready = answer->portfolio->demands[demand].ready[option];
  if (!pair->option)
    return NAN;
  return pair->node_cost / (pair->capacity * (ready > 0 ? ready : 1) * answer->horizon);
}

static int requirements(const struct scenario *scenario, struct diagnostics *diagnostics) {
  static const char *const items[] = {"tco",
                                      "capex",
                                      "npv_cost",
                                      "wacc",
                                      "tokens_per_gpu",
                                      "accelerators",
                                      "accelerators_per_node",
                                      "purchase_unit"};
  int result = 0;
  if (!allocation_available()) {
    diagnostics_error(
        diagnostics, nowhere,
        "this build lacks GLPK, which finds the split: install libglpk-dev and rebuild");
    return -1;
  }
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
    if (model_require(scenario->model, items[i], diagnostics) < 0)
      result = -1;
  return result;
}

// A split is over nodes, whose number must not change over time.
static int refuse_options(const struct routing *routing) {
  const struct scenario *scenario = routing->pairing.scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *barrier = portfolio_barrier(scenario, option);
    if (question_refuse_changing(scenario, option, option->place, routing->pairing.diagnostics))
      return -1;
    if (option_has(option, model_find(scenario->model, "discount_tier_1"))) {
      diagnostics_error(routing->pairing.diagnostics, option->place,
                        "option '%s' has volume tiers, which only 'pertoken plan' supports: give a "
                        "[plan], with one period for a single purchase",
                        option->id);
      return -1;
    }
    const int site = model_find(scenario->model, "site_excess");
    if (site >= 0 && option_has(option, site)) {
      diagnostics_error(
          routing->pairing.diagnostics, option->place,
          "option '%s' has 'site_power', which a portfolio does not take into account", option->id);
      return -1;
    }
    if (barrier) {
      diagnostics_error(routing->pairing.diagnostics, option->place, "option '%s' %s", option->id,
                        barrier);
      return -1;
    }
    if (scenario->options[o].provider) {
      diagnostics_error(
          routing->pairing.diagnostics, scenario->options[o].place,
          "option '%s' is a token API: workloads are split over nodes, which it does not have",
          scenario->options[o].id);
      return -1;
    }
  }
  return 0;
}

// Keys that change over time do not apply to a single purchase.
static int refuse_plan(const struct routing *routing) {
  const struct ini_key *planned = routing->pairing.portfolio->planned;
  if (!planned)
    return 0;
  diagnostics_error(
      routing->pairing.diagnostics, planned->place,
      "'%s' applies to a plan over several periods: use 'pertoken plan' with a [plan]",
      planned->name);
  return -1;
}

const struct route_answer *route_ask(const struct scenario *scenario, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  struct routing routing = {
      .pairing = {.scenario = scenario, .arena = arena, .diagnostics = diagnostics},
      .answer = arena_alloc(arena, sizeof *routing.answer)};
  if (requirements(scenario, diagnostics) || refuse_options(&routing))
    return NULL;
  routing.pairing.portfolio = portfolio_read(scenario, arena, diagnostics);
  if (!routing.pairing.portfolio || refuse_plan(&routing))
    return NULL;
  const double horizon = horizon_of(&routing);
  if (!isfinite(horizon))
    return NULL;
  const size_t pairs = routing.pairing.portfolio->demand_count * scenario->option_count;
  routing.pairing.pairs = arena_array(arena, pairs, sizeof *routing.pairing.pairs);
  routing.pairing.loose = arena_array(arena, pairs, sizeof *routing.pairing.loose);
  *routing.answer = (struct route_answer){
      .portfolio = routing.pairing.portfolio, .pairs = routing.pairing.pairs, .horizon = horizon};
  if (route_pairs_find(&routing.pairing))
    return NULL;
  routing.answer->problem = problem_of(&routing, &leave_nothing);
  routing.answer->split = allocation_prove(&routing.answer->problem, LIMIT_S, arena);
  if (routing.answer->split.status == ALLOCATION_OPTIMAL) {
    find_exact_cost(&routing);
    find_discounted(&routing);
  }
  price_constraints(&routing);
  find_sources(&routing);
  return routing.answer;
}
