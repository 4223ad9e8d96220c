#include "model/questions/route_pairs.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/catalog/columns.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"
#include "model/evidence/workload.h"
#include "model/optimise/solver.h"
#include "model/questions/fitting.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/likeness.h"
#include "model/scenario/resolution/resolution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_NODES = 10000, MANY_NODES = 20000, MAX_LOTS = 10000000 };

// ---- the options, for a workload

static const struct amendment *amendment_of(const struct pairing *pairing, size_t w, size_t o,
                                            bool loose) {
  const struct demand *demand = &pairing->portfolio->demands[w];
  struct amendment *amendment = amendment_new(pairing->scenario, pairing->arena);
  for (int k = 0; k < DEMAND_KEYS; k++)
    if (demand->keys[k] && !(loose && k == DEMAND_INTERACTIVITY))
      amendment_take_workload(amendment, demand_key_names[k], demand->keys[k],
                              pairing->diagnostics);
  for (int k = 0; k < DEMAND_INPUTS; k++)
    if (demand->inputs[k])
      amendment_take_option(amendment, demand_input_names[k], demand->inputs[k],
                            pairing->diagnostics);
  for (int k = 0; k < DEMAND_OPTION_KEYS; k++)
    if (demand->option_keys[o][k])
      amendment_take_option(amendment, demand_option_key_names[k], demand->option_keys[o][k],
                            pairing->diagnostics);
  return amendment;
}

// The options of a demand that have a throughput for it, and why the others have none.
static int resolve_pairs(const struct pairing *pairing, size_t w, bool loose,
                         struct route_pair *pairs) {
  struct diagnostics *diagnostics = pairing->diagnostics;
  for (size_t o = 0; o < pairing->scenario->option_count; o++) {
    const size_t errors = diagnostics->errors;
    const struct amendment *amendment = amendment_of(pairing, w, o, loose);
    struct lack lack;
    if (diagnostics->errors != errors)
      return -1;
    pairs[o].option =
        option_resolve(pairing->scenario, o, amendment, &lack, pairing->arena, diagnostics);
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

// A token API has no nodes: it is only resolved.
static bool has_nodes(const struct route_pair *pair) {
  return pair->option && !pair->option->provider;
}

static const struct option *first_there(const struct scenario *scenario,
                                        const struct route_pair *pairs) {
  if (has_nodes(&pairs[scenario->baseline]))
    return pairs[scenario->baseline].option;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (has_nodes(&pairs[o]))
      return pairs[o].option;
  return NULL;
}

// A workload's nodes are counted in one kind of token: its throughputs must be alike. Returns the
// first option that is not like `first`, with the difference; or -1.
static int find_unlike(const struct pairing *pairing, const struct route_pair *pairs,
                       const struct option *first, const char **difference) {
  const struct scenario *scenario = pairing->scenario;
  for (size_t o = 0; o < scenario->option_count && !scenario->may_mix; o++) {
    const struct option *option = pairs[o].option;
    *difference = has_nodes(&pairs[o])
                      ? workload_difference(&first->workload, &option->workload, pairing->arena)
                      : NULL;
    if (*difference)
      return (int)o;
  }
  return -1;
}

static int refuse_unlike(const struct pairing *pairing, const struct route_pair *pairs) {
  const struct option *first = first_there(pairing->scenario, pairs);
  const char *difference;
  const int unlike = find_unlike(pairing, pairs, first, &difference);
  if (unlike >= 0)
    option_refuse_unlike(first, pairs[unlike].option, difference, pairing->diagnostics);
  return unlike < 0 ? 0 : -1;
}

// ---- what an option costs and serves

// The cost of an option's nodes without spares, as a line over the nodes, and the cost of one
// spare.
struct cost_line {
  double fixed, slope, spare;
};

// The columns in which an option is evaluated.
enum { FEW, MANY, ONE_SPARE_EACH, ONE_MORE, COLUMNS };

static struct cost_line line_through(const struct evaluation *evaluation, const char *item,
                                     const struct model *model, double per_node) {
  const double *values = evaluation_at(evaluation, model_find(model, item), 0);
  const double slope = (values[MANY] - values[FEW]) / (MANY_NODES - FEW_NODES);
  const double fixed = values[FEW] - slope * FEW_NODES;
  const double spare = (values[ONE_SPARE_EACH] - values[FEW]) / (FEW_NODES * per_node);
  // A remainder of the subtraction of large numbers counts as zero.
  return (struct cost_line){fabs(fixed) < 1e-9 * fabs(values[FEW]) ? 0 : fixed, slope, spare};
}

// An option evaluated at these numbers of nodes, one column each, with its own share of spares, or
// those given.
static struct evaluation *evaluate_nodes(const struct scenario *scenario,
                                         const struct option *option, const double *nodes,
                                         const double *spares, size_t count, struct arena *arena) {
  const struct model *model = scenario->model;
  const int accelerators = model_find(model, "accelerators");
  const int spared = spares ? model_find(model, "spares") : -1;
  const double per_node =
      option_value(scenario, option, model_find(model, "accelerators_per_node"), 0);
  struct evaluation *evaluation = evaluation_like(option->evaluation, count, arena);
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; i < count && option->graph->state[d] == GRAPH_INPUT; i++)
      evaluation_at(evaluation, d, 0)[i] = d == accelerators ? round(nodes[i] * per_node)
                                           : spares && d == spared
                                               ? spares[i]
                                               : option_value(scenario, option, d, 0);
  evaluate(evaluation);
  return evaluation;
}

struct evaluation *route_evaluate_nodes(const struct scenario *scenario,
                                        const struct option *option, double nodes,
                                        struct arena *arena) {
  return evaluate_nodes(scenario, option, &nodes, NULL, 1, arena);
}

static double spares_of(const struct scenario *scenario, const struct option *option) {
  const int spares = model_find(scenario->model, "spares");
  return option->rented || spares < 0 || !option_has(option, spares)
             ? 0
             : option_value(scenario, option, spares, 0);
}

static void price_pair(const struct scenario *scenario, struct route_pair *pair) {
  const struct model *model = scenario->model;
  const struct option *option = pair->option;
  const double per_node =
      option_value(scenario, option, model_find(model, "accelerators_per_node"), 0);
  const double nodes[COLUMNS] = {FEW_NODES, MANY_NODES, FEW_NODES, FEW_NODES + 1 / per_node};
  const double spares[COLUMNS] = {[ONE_SPARE_EACH] = 1};
  struct arena scratch = {NULL};
  const struct evaluation *evaluation =
      evaluate_nodes(scenario, option, nodes, spares, COLUMNS, &scratch);
  const struct cost_line tco = line_through(evaluation, "tco", model, per_node);
  const struct cost_line capex = line_through(evaluation, "capex", model, per_node);
  const struct cost_line npv = line_through(evaluation, "npv_cost", model, per_node);
  const double *costs = evaluation_at(evaluation, model_find(model, "tco"), 0);
  pair->throughput = option_value(scenario, option, model_find(model, "throughput"), 0);
  pair->capacity =
      option_value(scenario, option, model_find(model, "tokens_per_gpu"), 0) * per_node;
  pair->costs_by_node =
      fabs(costs[ONE_MORE] - costs[FEW] - tco.slope / per_node) > 1e-6 * fabs(tco.slope);
  pair->spares = spares_of(scenario, option) * per_node;
  pair->spare_cost = tco.spare;
  pair->spare_capex = capex.spare;
  pair->spare_npv = npv.spare;
  pair->node_cost = tco.slope + pair->spares * tco.spare;
  pair->fixed_cost = tco.fixed;
  pair->node_capex = capex.slope + pair->spares * capex.spare;
  pair->fixed_capex = capex.fixed;
  pair->node_npv = npv.slope + pair->spares * npv.spare;
  pair->fixed_npv = npv.fixed;
  arena_free(&scratch);
}

// The nodes of a replica that does not fit into one.
static int span_of(const struct scenario *scenario, const struct option *option, double replica) {
  const int per_node = model_find(scenario->model, "accelerators_per_node");
  return (int)ceil(replica / option_value(scenario, option, per_node, 0));
}

// The input or output tokens of a request, as the option has them; 0: none.
static double tokens_of(const struct scenario *scenario, const struct option *option,
                        enum demand_input input) {
  return option_amount(scenario, option, demand_input_names[input]);
}

// The context that a request reaches: as the demand states it, else the sum of the tokens that it
// states.
static double context_of(const struct scenario *scenario, const struct demand *demand,
                         const struct option *option) {
  const bool has_lengths =
      demand->inputs[DEMAND_INPUT_TOKENS] && demand->inputs[DEMAND_OUTPUT_TOKENS];
  return demand->context > 0 || !has_lengths
             ? demand->context
             : tokens_of(scenario, option, DEMAND_INPUT_TOKENS) +
                   tokens_of(scenario, option, DEMAND_OUTPUT_TOKENS);
}

// Checks weights and one request, or the batch of the throughput, against the memory of a node or
// domain.
static void check_memory(const struct pairing *pairing, const struct demand *demand,
                         struct route_pair *pair) {
  const struct option *option = pair->option;
  const char *const *values = option->workload.values;
  const char *precision = values[WORKLOAD_PRECISION];
  const struct table *models = catalog_table(pairing->scenario->catalog, CATALOG_MODELS);
  const struct table *parts = catalog_table(pairing->scenario->catalog, CATALOG_ACCELERATORS);
  const long row = models ? catalog_find(models, values[WORKLOAD_MODEL]) : -1;
  const long part = parts ? catalog_find(parts, option->accelerator) : -1;
  struct fit_device device;
  pair->span = (int)demand->nodes;
  if (row < 0 || part < 0 || memory_bits(precision) == 0 ||
      !fit_device_of(parts, (size_t)part, &device))
    return;
  const char *kv = *demand->kv ? demand->kv : *values[WORKLOAD_KV] ? values[WORKLOAD_KV] : "bf16";
  const double context = context_of(pairing->scenario, demand, option);
  const struct fit_terms terms = {.context = fmax(context, 1),
                                  .kv = kv,
                                  .memory_share = MEMORY_SHARE,
                                  .chunk = MEMORY_CHUNK,
                                  .nodes = demand->nodes > 0 ? (int)demand->nodes : SPAN_ANY};
  const struct memory_model model = memory_model_of(models, (size_t)row);
  const struct fit fit = fit_find(&model, precision, &device, &terms);
  const double batch = strtod(values[WORKLOAD_BATCH], NULL);
  pair->nodes = fit.nodes;
  pair->span = span_of(pairing->scenario, option, fit.accelerators);
  pair->doubt = fitting_rate_doubt(pairing->scenario, option, &fit, pairing->arena);
  if (!fit.accelerators)
    pair->why = arena_printf(
        pairing->arena, "%s in %s with a request of %g tokens does not fit in %d with %.4g GB",
        model.id, precision, terms.context, fit.nodes * device.most, device.memory / 1e9);
  else if (context > 0 && batch > fit.concurrency_most)
    pair->why = arena_printf(
        pairing->arena, "memory holds %.0f requests of %g tokens, but the throughput assumes %g",
        fit.concurrency_most, terms.context, batch);
  else
    return;
  pair->barriers |= ROUTE_TOO_LARGE;
}

// A node costs what it does in use. A replica over several of them may leave most of that unused.
static const char *excess_of(const struct pairing *pairing, const struct route_pair *pair) {
  static const char *const rents[] = {"on_demand_rate", "spot_rate"};
  bool by_use = false;
  for (size_t i = 0; i < sizeof rents / sizeof rents[0]; i++) {
    const int d = model_find(pairing->scenario->model, rents[i]);
    by_use |= d >= 0 && option_has(pair->option, d) &&
              option_value(pairing->scenario, pair->option, d, 0) > 0;
  }
  return by_use && pair->span > 1
             ? arena_printf(pairing->arena,
                            "the rent for hours in use is counted as if all %d nodes of a replica "
                            "were always in use; 'compare' pays only for what a demand uses",
                            pair->span)
             : NULL;
}

// ---- the program

static bool states(const struct scenario *scenario, const struct option *option,
                   const char *input) {
  const int d = model_find(scenario->model, input);
  return d >= 0 &&
         option_figure(scenario, option, scenario->selected, d)->origin > ORIGIN_CATALOGUE;
}

// Whether a throughput typed for the option itself is for another workload than the demand's, for
// which the option has been resolved.
static bool is_of_other_workload(const struct pairing *pairing, const struct demand *demand,
                                 size_t o, const struct option *resolved) {
  const struct scenario *scenario = pairing->scenario;
  const struct option *option = &scenario->options[o];
  static const enum workload_key keys[DEMAND_KEYS] = {
      [DEMAND_MODEL] = WORKLOAD_MODEL,
      [DEMAND_PRECISION] = WORKLOAD_PRECISION,
      [DEMAND_SCENARIO] = WORKLOAD_SCENARIO,
      [DEMAND_BATCH] = WORKLOAD_BATCH,
      [DEMAND_INTERACTIVITY] = WORKLOAD_INTERACTIVITY,
  };
  const bool serves = states(scenario, option, "throughput");
  if (!(serves || states(scenario, option, "decode_throughput")) ||
      demand->option_keys[o][DEMAND_THROUGHPUT])
    return false;
  for (int k = 0; k < DEMAND_KEYS; k++)
    if (demand->keys[k] &&
        strcmp(resolved->workload.values[keys[k]], option->workload.values[keys[k]]) != 0)
      return true;
  for (enum demand_input k = 0; k < DEMAND_INPUTS; k++) // a rate of decoding is for any
    if (serves && demand->inputs[k] &&
        workload_lengths_differ(tokens_of(scenario, resolved, k), tokens_of(scenario, option, k)))
      return true;
  return false;
}

static void add_pair(const struct pairing *pairing, size_t w, size_t o, struct route_pair *pair) {
  const struct demand *demand = &pairing->portfolio->demands[w];
  if (!pair->barriers && pair->option && is_of_other_workload(pairing, demand, o, pair->option)) {
    pair->barriers |= ROUTE_NO_THROUGHPUT;
    pair->option = NULL;
    pair->why =
        arena_printf(pairing->arena,
                     "its throughput is stated for the scenario's own workload: give throughput.%s",
                     pairing->scenario->options[o].id);
  }
  if (has_nodes(pair) && !(pair->barriers & (ROUTE_NO_THROUGHPUT | ROUTE_TOO_SLOW))) {
    price_pair(pairing->scenario, pair);
    check_memory(pairing, demand, pair);
    pair->excess = excess_of(pairing, pair);
  }
  if (demand->ready[o] > 0)
    return;
  pair->barriers |= ROUTE_NOT_READY;
  pair->why = "the software is not ready";
}

// Resolves a demand with an interactivity again without it. If that leaves the throughput ambiguous
// (which batch?), the pair stays as it is with it.
static int find_loose_pairs(const struct pairing *pairing, size_t w) {
  const size_t options = pairing->scenario->option_count;
  struct route_pair *pairs = &pairing->pairs[w * options], *loose = &pairing->loose[w * options];
  const bool limited = pairing->portfolio->demands[w].keys[DEMAND_INTERACTIVITY] != NULL;
  const char *difference;
  if (limited && resolve_pairs(pairing, w, true, loose))
    return -1;
  const bool unlike =
      find_unlike(pairing, loose, first_there(pairing->scenario, loose), &difference) >= 0;
  for (size_t o = 0; o < options; o++) {
    if (loose[o].option)
      add_pair(pairing, w, o, &loose[o]);
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

// Nodes that are bought together: a purchase unit. If a node has its own cost and a unit is not a
// whole number of nodes, the fewest units that are.
double route_lot(const struct pairing *pairing, size_t o) {
  const struct scenario *scenario = pairing->scenario;
  const struct option *option = &scenario->options[o];
  const double unit =
      option_value(scenario, option, model_find(scenario->model, "purchase_unit"), 0);
  const double node =
      option_value(scenario, option, model_find(scenario->model, "accelerators_per_node"), 0);
  bool by_node = false;
  for (size_t w = 0; w < pairing->portfolio->demand_count; w++)
    by_node |= pairing->pairs[w * scenario->option_count + o].costs_by_node;
  return (by_node ? unit / greatest_divisor(unit, node) * node : unit) / node;
}

// Refuses numbers that are too large for the program, whose tolerances would be as large as whole
// nodes.
static int check_size(const struct pairing *pairing, size_t w, size_t o) {
  const struct demand *demand = &pairing->portfolio->demands[w];
  const char *option = pairing->scenario->options[o].id;
  const struct route_pair *pair = &pairing->pairs[w * pairing->scenario->option_count + o];
  if (!has_nodes(pair))
    return 0;
  const double ready = demand->ready[o] > 0 ? demand->ready[o] : 1;
  const double nodes = pair->capacity > 0 ? demand->tokens / (pair->capacity * ready) : 0;
  const double lots = nodes / route_lot(pairing, o);
  const double cost = fabs(pair->node_cost) + fabs(pair->fixed_cost);
  if (!(lots <= MAX_LOTS))
    diagnostics_error(pairing->diagnostics, demand->place,
                      "would take %.3g purchase units of '%s'; at most %d can be counted", lots,
                      option, MAX_LOTS);
  else if (!(cost * fmax(nodes, 1) <= MAX_SOLVER_NUMBER))
    diagnostics_error(pairing->diagnostics, pairing->scenario->options[o].place,
                      "option '%s' costs %.3g a node; at most %.0e can be counted in all", option,
                      cost, MAX_SOLVER_NUMBER);
  else
    return 0;
  return -1;
}

int route_pairs_find(const struct pairing *pairing) {
  const size_t options = pairing->scenario->option_count;
  int result = 0;
  for (size_t w = 0; w < pairing->portfolio->demand_count; w++) {
    struct route_pair *pairs = &pairing->pairs[w * options];
    pairing->diagnostics->about =
        arena_printf(pairing->arena, "demand '%s'", pairing->portfolio->demands[w].name);
    if (resolve_pairs(pairing, w, false, pairs) || refuse_unlike(pairing, pairs)) {
      result = -1;
      continue;
    }
    for (size_t o = 0; o < options; o++)
      add_pair(pairing, w, o, &pairs[o]);
    for (size_t o = 0; o < options; o++)
      if (check_size(pairing, w, o))
        result = -1;
    if (find_loose_pairs(pairing, w))
      result = -1;
  }
  pairing->diagnostics->about = NULL;
  return result;
}
