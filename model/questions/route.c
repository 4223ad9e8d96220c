#include "model/questions/route.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"
#include "model/evidence/workload.h"
#include "model/optimise/allocation.h"
#include "model/optimise/solver.h"
#include "model/questions/fitting.h"
#include "model/questions/question.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/grading.h"
#include "model/scenario/reading/resolution.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
  FEW_NODES = 10000,
  MANY_NODES = 20000,
  MOST_LOTS = 10000000,
  LIMIT_S = 60,
  PRICE_LIMIT_S = 20
};

struct routing {
  const struct portfolio *portfolio;
  const struct scenario *scenario;
  struct route_answer *answer;
  struct route_pair *pairs, *loose; // loose: with no interactivity asked for
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// ---- the options, for a workload

static const struct amendment *amendment_of(const struct routing *routing, size_t w, size_t o,
                                            bool loose) {
  const struct demand *demand = &routing->portfolio->demands[w];
  struct amendment *amendment = amendment_new(routing->scenario, routing->arena);
  for (int k = 0; k < DEMAND_KEYS; k++)
    if (demand->keys[k] && !(loose && k == DEMAND_INTERACTIVITY))
      amendment_take_workload(amendment, demand_key_names[k], demand->keys[k],
                              routing->diagnostics);
  for (int k = 0; k < DEMAND_OPTION_KEYS; k++)
    if (demand->option_keys[o][k])
      amendment_take_option(amendment, demand_option_key_names[k], demand->option_keys[o][k],
                            routing->diagnostics);
  return amendment;
}

// The options of a demand as far as they have a throughput for it, and why others have none.
static int resolve_pairs(const struct routing *routing, size_t w, bool loose,
                         struct route_pair *pairs) {
  struct diagnostics *diagnostics = routing->diagnostics;
  for (size_t o = 0; o < routing->scenario->option_count; o++) {
    const size_t errors = diagnostics->errors;
    const struct amendment *amendment = amendment_of(routing, w, o, loose);
    struct lack lack;
    if (diagnostics->errors != errors)
      return -1;
    pairs[o].option =
        option_resolve(routing->scenario, o, amendment, &lack, routing->arena, diagnostics);
    if (lack.kind == LACK_NAMED && !loose)
      diagnostics_error(diagnostics, lack.place, "%s", lack.why);
    if (diagnostics->errors != errors)
      return -1;
    if (!lack.kind)
      continue;
    pairs[o].barriers |= lack.kind == LACK_RATE ? ROUTE_TOO_SLOW : ROUTE_NO_THROUGHPUT;
    pairs[o].why = lack.why;
  }
  return 0;
}

static const struct option *first_there(const struct scenario *scenario,
                                        const struct route_pair *pairs) {
  if (pairs[scenario->baseline].option)
    return pairs[scenario->baseline].option;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (pairs[o].option)
      return pairs[o].option;
  return NULL;
}

// A workload's nodes are counted in one kind of token: its throughputs must be alike. The first
// option that is not like `first`, with the difference; or -1.
static int find_unlike(const struct routing *routing, const struct route_pair *pairs,
                       const struct option *first, const char **difference) {
  const struct scenario *scenario = routing->scenario;
  for (size_t o = 0; o < scenario->option_count && !scenario->may_mix; o++) {
    const struct option *option = pairs[o].option;
    *difference =
        option ? workload_difference(&first->workload, &option->workload, routing->arena) : NULL;
    if (*difference)
      return (int)o;
  }
  return -1;
}

static int refuse_unlike(const struct routing *routing, const struct route_pair *pairs) {
  const struct option *first = first_there(routing->scenario, pairs);
  const char *difference;
  const int unlike = find_unlike(routing, pairs, first, &difference);
  if (unlike >= 0)
    option_refuse_unlike(first, pairs[unlike].option, difference, routing->diagnostics);
  return unlike < 0 ? 0 : -1;
}

// ---- what an option costs and serves

struct cost_line {
  double fixed, slope;
};

static struct cost_line line_through(const struct evaluation *evaluation, int item) {
  const double *values = evaluation_at(evaluation, item, 0);
  const double slope = (values[1] - values[0]) / (MANY_NODES - FEW_NODES);
  const double fixed = values[0] - slope * FEW_NODES;
  // What is left of the subtraction of large numbers is nothing.
  return (struct cost_line){fabs(fixed) < 1e-9 * fabs(values[0]) ? 0 : fixed, slope};
}

// An option evaluated at so many nodes, a column each.
static struct evaluation *evaluate_nodes(const struct scenario *scenario,
                                         const struct option *option, const double *nodes,
                                         size_t count, struct arena *arena) {
  const struct model *model = scenario->model;
  const int accelerators = model_find(model, "accelerators");
  const double per_node =
      option_value(scenario, option, model_find(model, "accelerators_per_node"), 0);
  struct evaluation *evaluation = evaluation_like(option->evaluation, count, arena);
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; i < count && option->graph->state[d] == GRAPH_INPUT; i++)
      evaluation_at(evaluation, d, 0)[i] =
          d == accelerators ? round(nodes[i] * per_node) : option_value(scenario, option, d, 0);
  evaluate(evaluation);
  return evaluation;
}

static void price_pair(const struct scenario *scenario, struct route_pair *pair) {
  const struct model *model = scenario->model;
  const struct option *option = pair->option;
  const double per_node =
      option_value(scenario, option, model_find(model, "accelerators_per_node"), 0);
  const double nodes[] = {FEW_NODES, MANY_NODES, FEW_NODES + 1 / per_node};
  struct arena scratch = {NULL};
  const struct evaluation *evaluation = evaluate_nodes(scenario, option, nodes, 3, &scratch);
  const struct cost_line tco = line_through(evaluation, model_find(model, "tco"));
  const struct cost_line capex = line_through(evaluation, model_find(model, "capex"));
  pair->throughput = option_value(scenario, option, model_find(model, "throughput"), 0);
  pair->capacity =
      option_value(scenario, option, model_find(model, "tokens_per_gpu"), 0) * per_node;
  const double one_more =
      evaluation_at(evaluation, model_find(model, "tco"), 0)[2] - tco.fixed - tco.slope * FEW_NODES;
  pair->costs_by_node = fabs(one_more - tco.slope / per_node) > 1e-6 * fabs(tco.slope);
  pair->node_cost = tco.slope;
  pair->fixed_cost = tco.fixed;
  pair->node_capex = capex.slope;
  pair->fixed_capex = capex.fixed;
  arena_free(&scratch);
}

// Nodes of a replica that does not stand in one.
static int span_of(const struct scenario *scenario, const struct option *option, double replica) {
  const int per_node = model_find(scenario->model, "accelerators_per_node");
  return (int)ceil(replica / option_value(scenario, option, per_node, 0));
}

// Weights and one request, or the batch of the throughput, in the memory of a node or domain.
static void check_memory(const struct routing *routing, const struct demand *demand,
                         struct route_pair *pair) {
  const struct option *option = pair->option;
  const char *const *values = option->workload.values;
  const char *precision = values[WORKLOAD_PRECISION];
  const struct table *models = catalog_table(routing->scenario->catalog, CATALOG_MODELS);
  const struct table *parts = catalog_table(routing->scenario->catalog, CATALOG_ACCELERATORS);
  const long row = models ? catalog_find(models, values[WORKLOAD_MODEL]) : -1;
  const long part = parts ? catalog_find(parts, option->accelerator) : -1;
  struct fit_device device;
  pair->span = (int)demand->nodes;
  if (row < 0 || part < 0 || memory_bits(precision) == 0 ||
      !fit_device_of(parts, (size_t)part, &device))
    return;
  const char *kv = *demand->kv ? demand->kv : *values[WORKLOAD_KV] ? values[WORKLOAD_KV] : "bf16";
  const struct fit_terms terms = {.context = fmax(demand->context, 1),
                                  .kv = kv,
                                  .memory_share = MEMORY_SHARE,
                                  .chunk = MEMORY_CHUNK,
                                  .nodes = demand->nodes > 0 ? (int)demand->nodes : SPAN_ANY};
  const struct memory_model model = memory_model_of(models, (size_t)row);
  const struct fit fit = fit_find(&model, precision, &device, &terms);
  const double batch = strtod(values[WORKLOAD_BATCH], NULL);
  pair->nodes = fit.nodes;
  pair->span = span_of(routing->scenario, option, fit.accelerators);
  pair->doubt = fitting_rate_doubt(routing->scenario, option, &fit, routing->arena);
  if (!fit.accelerators)
    pair->why = arena_printf(
        routing->arena, "%s in %s with a request of %g tokens does not fit into %d of %.4g GB",
        model.id, precision, terms.context, fit.nodes * device.most, device.memory / 1e9);
  else if (demand->context > 0 && batch > fit.concurrency_most)
    pair->why = arena_printf(routing->arena,
                             "memory holds %.0f requests of %g tokens, the throughput is of %g",
                             fit.concurrency_most, terms.context, batch);
  else
    return;
  pair->barriers |= ROUTE_TOO_LARGE;
}

// ---- the programme

// Whether a throughput that is typed for an option itself is of another workload than the demand's,
// for which the option has been resolved.
static bool is_of_other_workload(const struct routing *routing, const struct demand *demand,
                                 size_t o, const struct option *resolved) {
  const struct scenario *scenario = routing->scenario;
  const struct option *option = &scenario->options[o];
  static const enum workload_key keys[DEMAND_KEYS] = {
      [DEMAND_MODEL] = WORKLOAD_MODEL,
      [DEMAND_PRECISION] = WORKLOAD_PRECISION,
      [DEMAND_SCENARIO] = WORKLOAD_SCENARIO,
      [DEMAND_BATCH] = WORKLOAD_BATCH,
      [DEMAND_INTERACTIVITY] = WORKLOAD_INTERACTIVITY,
  };
  const int inputs[] = {model_find(scenario->model, "throughput"),
                        model_find(scenario->model, "decode_throughput")};
  bool typed = false;
  for (size_t i = 0; i < 2; i++)
    typed |=
        inputs[i] >= 0 &&
        option_figure(scenario, option, scenario->selected, inputs[i])->origin > ORIGIN_CATALOGUE;
  if (!typed || demand->option_keys[o][DEMAND_THROUGHPUT])
    return false;
  for (int k = 0; k < DEMAND_KEYS; k++)
    if (demand->keys[k] &&
        strcmp(resolved->workload.values[keys[k]], option->workload.values[keys[k]]) != 0)
      return true;
  return false;
}

static void add_pair(const struct routing *routing, size_t w, size_t o, struct route_pair *pair) {
  const struct demand *demand = &routing->portfolio->demands[w];
  if (!pair->barriers && pair->option && is_of_other_workload(routing, demand, o, pair->option)) {
    pair->barriers |= ROUTE_NO_THROUGHPUT;
    pair->option = NULL;
    pair->why =
        arena_printf(routing->arena,
                     "its throughput is typed for the scenario's own workload: give throughput.%s",
                     routing->scenario->options[o].id);
  }
  if (pair->option && !(pair->barriers & (ROUTE_NO_THROUGHPUT | ROUTE_TOO_SLOW))) {
    price_pair(routing->scenario, pair);
    check_memory(routing, demand, pair);
  }
  if (demand->ready[o] > 0)
    return;
  pair->barriers |= ROUTE_NOT_READY;
  pair->why = "the software is not ready";
}

// Of a demand with an interactivity a second time without it. Where even that leaves the throughput
// open (which batch?), it stays what it is with it.
static int find_loose_pairs(const struct routing *routing, size_t w) {
  const size_t options = routing->scenario->option_count;
  struct route_pair *pairs = &routing->pairs[w * options], *loose = &routing->loose[w * options];
  const bool limited = routing->portfolio->demands[w].keys[DEMAND_INTERACTIVITY] != NULL;
  const char *difference;
  if (limited && resolve_pairs(routing, w, true, loose))
    return -1;
  const bool unlike =
      find_unlike(routing, loose, first_there(routing->scenario, loose), &difference) >= 0;
  for (size_t o = 0; o < options; o++) {
    if (loose[o].option)
      add_pair(routing, w, o, &loose[o]);
    if (!loose[o].option || unlike)
      loose[o] = pairs[o];
  }
  return 0;
}

static double greatest_divisor(double a, double b) {
  while (b > 0) {
    const double rest = fmod(a, b);
    a = b;
    b = rest;
  }
  return a;
}

// Nodes that are bought together: a purchase unit. Where a node costs something whatever stands in it
// and a unit is no whole number of nodes, the fewest units that are.
static double lot_of(const struct routing *routing, size_t o) {
  const struct scenario *scenario = routing->scenario;
  const struct option *option = &scenario->options[o];
  const double unit =
      option_value(scenario, option, model_find(scenario->model, "purchase_unit"), 0);
  const double node =
      option_value(scenario, option, model_find(scenario->model, "accelerators_per_node"), 0);
  bool by_node = false;
  for (size_t w = 0; w < routing->portfolio->demand_count; w++)
    by_node |= routing->pairs[w * scenario->option_count + o].costs_by_node;
  return (by_node ? unit / greatest_divisor(unit, node) * node : unit) / node;
}

// What the programme can count with: beyond, its tolerances are of the size of whole nodes.
static int check_size(const struct routing *routing, size_t w, size_t o) {
  const struct demand *demand = &routing->portfolio->demands[w];
  const char *option = routing->scenario->options[o].id;
  const struct route_pair *pair = &routing->pairs[w * routing->scenario->option_count + o];
  const double ready = demand->ready[o] > 0 ? demand->ready[o] : 1;
  const double nodes = pair->capacity > 0 ? demand->tokens / (pair->capacity * ready) : 0;
  const double lots = nodes / lot_of(routing, o);
  const double cost = fabs(pair->node_cost) + fabs(pair->fixed_cost);
  if (!(lots <= MOST_LOTS))
    diagnostics_error(routing->diagnostics, demand->place,
                      "would take %.3g purchase units of '%s'; at most %d can be counted", lots,
                      option, MOST_LOTS);
  else if (!(cost * fmax(nodes, 1) <= MAX_SOLVER_NUMBER))
    diagnostics_error(routing->diagnostics, routing->scenario->options[o].place,
                      "option '%s' costs %.3g a node; at most %.0e can be counted in all", option,
                      cost, MAX_SOLVER_NUMBER);
  else
    return 0;
  return -1;
}

static int find_pairs(const struct routing *routing) {
  const size_t options = routing->scenario->option_count;
  int result = 0;
  for (size_t w = 0; w < routing->portfolio->demand_count; w++) {
    struct route_pair *pairs = &routing->pairs[w * options];
    routing->diagnostics->about =
        arena_printf(routing->arena, "demand '%s'", routing->portfolio->demands[w].name);
    if (resolve_pairs(routing, w, false, pairs) || refuse_unlike(routing, pairs)) {
      result = -1;
      continue;
    }
    for (size_t o = 0; o < options; o++)
      add_pair(routing, w, o, &pairs[o]);
    for (size_t o = 0; o < options; o++)
      if (check_size(routing, w, o))
        result = -1;
    if (find_loose_pairs(routing, w))
      result = -1;
  }
  routing->diagnostics->about = NULL;
  return result;
}

static double horizon_of(const struct routing *routing) {
  const struct scenario *scenario = routing->scenario;
  const int d = model_find(scenario->model, "horizon");
  const double horizon = option_value(scenario, &scenario->options[0], d, 0);
  for (size_t o = 1; o < scenario->option_count; o++)
    if (option_value(scenario, &scenario->options[o], d, 0) != horizon) {
      diagnostics_error(
          routing->diagnostics, scenario->options[o].place,
          "options '%s' and '%s' have different horizons: their costs cannot be added",
          scenario->options[0].id, scenario->options[o].id);
      return NAN;
    }
  return horizon;
}

// What is left out of a programme.
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
  const struct route_pair *pairs = routing->pairs;
  double least = INFINITY;
  for (size_t w = 0; w < routing->portfolio->demand_count; w++) {
    const struct route_pair *pair = &pairs[w * routing->scenario->option_count + o];
    if (pair->option)
      least = fmin(least, capex ? pair->node_capex : pair->node_cost);
  }
  return isfinite(least) ? least : 0;
}

static double largest_fixed(const struct routing *routing, size_t o, bool capex) {
  double largest = 0;
  for (size_t w = 0; w < routing->portfolio->demand_count; w++) {
    const struct route_pair *pair = &routing->pairs[w * routing->scenario->option_count + o];
    if (pair->option)
      largest = fmax(largest, capex ? pair->fixed_capex : pair->fixed_cost);
  }
  return largest;
}

static struct allocation_option option_of(const struct routing *routing, size_t o,
                                          const struct leave *leave) {
  const struct portfolio *portfolio = routing->portfolio;
  const struct scenario *scenario = routing->scenario;
  const double per_node = option_value(scenario, &scenario->options[o],
                                       model_find(scenario->model, "accelerators_per_node"), 0);
  const bool barred = leave->only >= 0 && portfolio->vendor[o] != leave->only;
  return (struct allocation_option){.fixed_cost = largest_fixed(routing, o, false),
                                    .fixed_capex = largest_fixed(routing, o, true),
                                    .node_cost = base_slope(routing, o, false),
                                    .node_capex = base_slope(routing, o, true),
                                    .accelerators = per_node,
                                    .lot = lot_of(routing, o),
                                    .stock = barred ? 0
                                             : leave->stock == (int)o
                                                 ? INFINITY
                                                 : portfolio->stock[o] / per_node,
                                    .vendor = portfolio->vendor[o]};
}

static struct allocation_pair pair_of(const struct routing *routing, size_t w, size_t o,
                                      const struct allocation_option *option,
                                      const struct leave *leave) {
  const struct demand *demand = &routing->portfolio->demands[w];
  const struct route_pair *pairs = leave->latency ? routing->loose : routing->pairs;
  const struct route_pair *pair = &pairs[w * routing->scenario->option_count + o];
  const double ready = leave->readiness || demand->ready[o] <= 0 ? 1 : demand->ready[o];
  const bool barred = (pair->barriers & ~leave->barriers) != 0 || option->stock <= 0;
  return (struct allocation_pair){.capacity = barred ? 0 : pair->capacity * ready,
                                  .extra_cost = fmax(0, pair->node_cost - option->node_cost),
                                  .extra_capex = fmax(0, pair->node_capex - option->node_capex),
                                  .span = pair->span};
}

static struct allocation_problem problem_of(const struct routing *routing,
                                            const struct leave *leave) {
  const struct portfolio *portfolio = routing->portfolio;
  const size_t workloads = portfolio->demand_count, options = routing->scenario->option_count;
  struct arena *arena = routing->arena;
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
  return allocation_solve(&problem, PRICE_LIMIT_S, routing->arena);
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
  for (size_t i = 0; i < routing->portfolio->demand_count * routing->scenario->option_count; i++)
    all |= routing->pairs[i].barriers;
  return all;
}

static bool any_partly_ready(const struct routing *routing) {
  for (size_t w = 0; w < routing->portfolio->demand_count; w++)
    for (size_t o = 0; o < routing->scenario->option_count; o++)
      if (routing->portfolio->demands[w].ready[o] < 1)
        return true;
  return false;
}

static bool any_demand(const struct routing *routing, bool latency) {
  for (size_t w = 0; w < routing->portfolio->demand_count; w++) {
    const struct demand *demand = &routing->portfolio->demands[w];
    if (latency ? demand->keys[DEMAND_INTERACTIVITY] != NULL : demand->whole)
      return true;
  }
  return false;
}

static void price_limits(struct routing *routing, struct route_price *prices) {
  const struct portfolio *portfolio = routing->portfolio;
  for (size_t o = 0; o < routing->scenario->option_count; o++) {
    struct leave leave = leave_nothing;
    leave.stock = (int)o;
    if (isfinite(portfolio->stock[o]))
      add_price(routing, prices,
                arena_printf(routing->arena, "stock of %s", routing->scenario->options[o].id),
                leave);
  }
  for (int v = 0; v < portfolio->vendor_count; v++) {
    struct leave leave = leave_nothing;
    leave.share = v;
    if (portfolio->minimum_shares[v] > 0)
      add_price(routing, prices,
                arena_printf(routing->arena, "minimum share of %s", portfolio->vendors[v]), leave);
  }
}

static void price_constraints(struct routing *routing) {
  const struct portfolio *portfolio = routing->portfolio;
  const unsigned barriers = barriers_there(routing);
  const size_t room = routing->scenario->option_count + (size_t)portfolio->vendor_count + 8;
  struct route_price *prices = arena_array(routing->arena, room, sizeof *prices);
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

static void find_sources(struct routing *routing) {
  const int vendors = routing->portfolio->vendor_count;
  struct route_source *sources = arena_array(routing->arena, (size_t)vendors + 1, sizeof *sources);
  struct leave leave = leave_nothing;
  leave.share = ALL;
  const struct allocation free_split = solve_without(routing, &leave);
  routing->answer->free_cost =
      free_split.status == ALLOCATION_OPTIMAL ? free_split.cost : (double)NAN;
  for (leave.only = 0; leave.only < vendors; leave.only++) {
    const struct allocation split = solve_without(routing, &leave);
    sources[leave.only] = (struct route_source){leave.only, split.status, split.cost};
  }
  routing->answer->sources = sources;
}

// ---- what the split costs by the model itself

static double exact_part(const struct routing *routing, size_t w, size_t o, double nodes,
                         bool capex) {
  const struct route_pair *pair = &routing->pairs[w * routing->scenario->option_count + o];
  struct arena scratch = {NULL};
  const struct evaluation *evaluation =
      evaluate_nodes(routing->scenario, pair->option, &nodes, 1, &scratch);
  const int item = model_find(routing->scenario->model, capex ? "capex" : "tco");
  const double value = evaluation_at(evaluation, item, 0)[0];
  arena_free(&scratch);
  return value;
}

// The workload that keeps most of an option's nodes busy stands for them; what the others draw
// beyond or below it is the programme's figure.
static double exact_option(const struct routing *routing, size_t o, bool capex) {
  const struct route_answer *answer = routing->answer;
  const struct allocation_option *option = &answer->problem.options[o];
  size_t main = 0;
  double extra = 0, most = -1;
  for (size_t w = 0; w < routing->portfolio->demand_count; w++) {
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
  for (size_t o = 0; o < routing->scenario->option_count; o++) {
    if (!answer->split.nodes || answer->split.nodes[o] <= 0)
      continue;
    answer->exact_cost += exact_option(routing, o, false);
    answer->exact_capex += exact_option(routing, o, true);
  }
}

double route_unit_cost(const struct route_answer *answer, size_t demand, size_t option) {
  const struct route_pair *pair = route_pair_of(answer, demand, option);
  const double ready = answer->portfolio->demands[demand].ready[option];
  if (!pair->option)
    return NAN;
  return pair->node_cost / (pair->capacity * (ready > 0 ? ready : 1) * answer->horizon);
}

static int requirements(const struct scenario *scenario, struct diagnostics *diagnostics) {
  static const char *const items[] = {
      "tco", "capex", "tokens_per_gpu", "accelerators", "accelerators_per_node", "purchase_unit"};
  int result = 0;
  if (!allocation_available()) {
    diagnostics_error(diagnostics, (struct place){0},
                      "this build is without GLPK, which finds the split: install libglpk-dev and "
                      "build again");
    return -1;
  }
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
    if (model_require(scenario->model, items[i], diagnostics) < 0)
      result = -1;
  return result;
}

// What is split are nodes, as many from the outset.
static int refuse_options(const struct routing *routing) {
  const struct scenario *scenario = routing->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (question_refuse_changing(scenario, option, option->place, routing->diagnostics))
      return -1;
    const int site = model_find(scenario->model, "site_excess");
    if (site >= 0 && option_has(option, site)) {
      diagnostics_error(routing->diagnostics, option->place,
                        "option '%s' has 'site_power', to which a portfolio is not held",
                        option->id);
      return -1;
    }
    if (scenario->options[o].provider) {
      diagnostics_error(
          routing->diagnostics, scenario->options[o].place,
          "option '%s' is a token API: workloads are split over nodes, and it has none",
          scenario->options[o].id);
      return -1;
    }
  }
  return 0;
}

const struct route_answer *route_ask(const struct scenario *scenario, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  struct routing routing = {.scenario = scenario,
                            .answer = arena_alloc(arena, sizeof *routing.answer),
                            .arena = arena,
                            .diagnostics = diagnostics};
  if (requirements(scenario, diagnostics) || refuse_options(&routing))
    return NULL;
  routing.portfolio = portfolio_read(scenario, arena, diagnostics);
  if (!routing.portfolio)
    return NULL;
  const double horizon = horizon_of(&routing);
  if (!isfinite(horizon))
    return NULL;
  const size_t pairs = routing.portfolio->demand_count * scenario->option_count;
  routing.pairs = arena_array(arena, pairs, sizeof *routing.pairs);
  routing.loose = arena_array(arena, pairs, sizeof *routing.loose);
  *routing.answer = (struct route_answer){
      .portfolio = routing.portfolio, .pairs = routing.pairs, .horizon = horizon};
  if (find_pairs(&routing))
    return NULL;
  routing.answer->problem = problem_of(&routing, &leave_nothing);
  routing.answer->split = allocation_prove(&routing.answer->problem, LIMIT_S, arena);
  if (routing.answer->split.status == ALLOCATION_OPTIMAL)
    find_exact_cost(&routing);
  price_constraints(&routing);
  find_sources(&routing);
  return routing.answer;
}
