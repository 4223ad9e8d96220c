#include "model/questions/wait.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/statistics.h"
#include "base/vector.h"
#include "model/chance/distribution.h"
#include "model/chance/draw.h"
#include "model/cost/arithmetic.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/wait_terms.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/simulate/sampler.h"

#include <math.h>
#include <stdint.h>

enum { MIN_MONTHS = 12 };

struct waiting {
  const struct scenario *scenario;
  struct wait_answer *answer;
  struct wait_terms terms;
  struct draw_stream streams[WAIT_KEYS];
  const struct sampler *sampler; // of the scenario's ranges, or NULL
  struct evaluation *now, *own, *own_base, *rent;
  double drawn[WAIT_KEYS][VECTOR_BLOCK];
  double rate[VECTOR_BLOCK], unmet[VECTOR_BLOCK]; // token/h
  double fleet[VECTOR_BLOCK];       // token/h of the rate that the accelerators themselves serve
  double bought_cost[VECTOR_BLOCK]; // USD/h of the rest, which the option buys elsewhere
  double own_per_gpu[VECTOR_BLOCK], rent_per_gpu[VECTOR_BLOCK]; // token/h per accelerator
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// ---- drawing

static int prepare_draws(struct waiting *waiting) {
  const struct scenario *scenario = waiting->scenario;
  struct wait_answer *answer = waiting->answer;
  const int item = model_find(scenario->model, "tco");
  for (int key = 0; key < WAIT_KEYS; key++) {
    struct wait_belief *belief = &waiting->terms.beliefs[key];
    if (belief->certain)
      continue;
    belief->value = distribution_mean(&belief->distribution);
    answer->uncertain = true;
    draw_stream_start(&waiting->streams[key], DRAW_SOBOL, answer->seed,
                      arena_printf(waiting->arena, "wait.%s", wait_key_name((enum wait_key)key)),
                      (int)scenario->range_count + key, 0);
  }
  if (sampler_draws_any(scenario, NULL)) {
    const struct sampler_request request = {.scenario = scenario,
                                            .method = DRAW_SOBOL,
                                            .seed = answer->seed,
                                            .replicates = 1,
                                            .items = &item,
                                            .item_count = 1};
    answer->uncertain = true;
    waiting->sampler = sampler_new(&request, waiting->arena, waiting->diagnostics);
    if (!waiting->sampler)
      return -1;
  }
  if (!answer->uncertain)
    answer->draws = 1;
  answer->slip = waiting->terms.beliefs[WAIT_SLIP].value;
  answer->available = waiting->terms.beliefs[WAIT_AVAILABLE].value;
  answer->meanwhile_price = waiting->terms.beliefs[WAIT_RENT].value;
  return 0;
}

static const struct option *option_of(const struct waiting *waiting, size_t o) {
  return &waiting->scenario->options[o];
}

static struct evaluation *new_block(const struct waiting *waiting, size_t o) {
  return evaluation_like(option_of(waiting, o)->evaluation, VECTOR_BLOCK, waiting->arena);
}

// Every input of an option in its block: the selected case or, if it has a range, the draws, unless
// they are NAN.
static void fill_block(const struct waiting *waiting, struct evaluation *block, size_t o,
                       const double *ranges) {
  const struct scenario *scenario = waiting->scenario;
  const struct option *option = option_of(waiting, o);
  for (int d = 0; d < scenario->model->count; d++) {
    if (option->graph->state[d] != GRAPH_INPUT)
      continue;
    double *values = evaluation_at(block, d, 0);
    const double *drawn = NULL;
    const int range = option_range(scenario, option, d);
    for (int v = 0; ranges && range >= 0 && v < waiting->sampler->variable_count; v++)
      if ((int)waiting->sampler->ranges[v] == range)
        drawn = ranges + (size_t)v * VECTOR_BLOCK;
    const double certain = option_figure(scenario, option, scenario->selected, d)->value;
    for (size_t i = 0; i < VECTOR_BLOCK; i++)
      values[i] = drawn && !isnan(drawn[i]) ? drawn[i] : certain;
  }
}

static const double *item_of(const struct waiting *waiting, const struct evaluation *block,
                             const char *name, int period) {
  return evaluation_at(block, model_find(waiting->scenario->model, name), period);
}

static void scale(struct evaluation *block, const struct evaluation *base, const char *name,
                  const double *factors) {
  double *values = evaluation_input(block, name);
  const double *from = evaluation_input(base, name);
  for (size_t i = 0; values && i < VECTOR_BLOCK; i++)
    values[i] = from[i] * factors[i];
}

static void scale_performance(const struct waiting *waiting) {
  static const struct {
    const char *input;
    enum wait_key factor;
  } scaled[] = {{"throughput", WAIT_THROUGHPUT},
                {"decode_throughput", WAIT_THROUGHPUT},
                {"prefill_throughput", WAIT_THROUGHPUT},
                {"load_power", WAIT_POWER},
                {"prefill_power", WAIT_POWER},
                {"idle_power", WAIT_POWER},
                {"peak_power", WAIT_POWER}};
  for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++)
    scale(waiting->own, waiting->own_base, scaled[i].input, waiting->drawn[scaled[i].factor]);
}

static double present_value(const struct waiting *waiting, const struct evaluation *block,
                            size_t column) {
  double sum = 0;
  for (int t = 0; t < block->periods; t++)
    sum += item_of(waiting, block, "discounted_cash", t)[column];
  return sum;
}

// The scenario's ranges at their means: whole numbers are rounded, and a choice has no mean.
static void set_means(const struct waiting *waiting, double *ranges) {
  const struct scenario *scenario = waiting->scenario;
  for (int v = 0; v < waiting->sampler->variable_count; v++) {
    const struct range *range = &scenario->ranges[waiting->sampler->ranges[v]];
    const double exact = distribution_mean(&range->distribution);
    const double mean = range->distribution.integer ? round(exact) : exact;
    const bool is_choice = scenario->model->declarations[range->declaration].choice_count > 0;
    for (size_t i = 0; i < VECTOR_BLOCK; i++)
      ranges[(size_t)v * VECTOR_BLOCK + i] = is_choice ? NAN : mean;
  }
}

// Draws a block and everything that does not depend on the delay.
static void start_block(struct waiting *waiting, bool at_means, uint64_t first) {
  const struct wait_answer *answer = waiting->answer;
  double *ranges = NULL;
  struct arena scratch = {NULL};
  if (waiting->sampler) {
    ranges = arena_array(&scratch, (size_t)waiting->sampler->variable_count * VECTOR_BLOCK,
                         sizeof *ranges);
    if (at_means)
      set_means(waiting, ranges);
    else
      sampler_draw(waiting->sampler, SAMPLE_FIRST, 0, first, ranges);
  }
  for (int key = 0; key < WAIT_KEYS; key++) {
    const struct wait_belief *belief = &waiting->terms.beliefs[key];
    if (belief->certain || at_means) {
      for (size_t i = 0; i < VECTOR_BLOCK; i++)
        waiting->drawn[key][i] = belief->value;
      continue;
    }
    double shares[VECTOR_BLOCK];
    draw_uniforms(&waiting->streams[key], first, shares);
    distribution_quantiles(&belief->distribution, shares, waiting->drawn[key]);
  }
  fill_block(waiting, waiting->now, answer->option, ranges);
  fill_block(waiting, waiting->own, answer->successor, ranges);
  fill_block(waiting, waiting->own_base, answer->successor, ranges);
  if (waiting->rent)
    fill_block(waiting, waiting->rent, (size_t)answer->meanwhile, ranges);
  arena_free(&scratch);
}

static bool has_item(const struct waiting *waiting, const struct evaluation *block,
                     const char *name) {
  const int d = model_find(waiting->scenario->model, name);
  return d >= 0 && block->graph->state[d] != GRAPH_ABSENT;
}

static void find_bought(struct waiting *waiting) {
  const struct evaluation *now = waiting->now;
  const bool buys = has_item(waiting, now, "burst_tokens");
  for (size_t i = 0; i < VECTOR_BLOCK; i++) {
    const double hours = item_of(waiting, now, "horizon", 0)[i];
    double bought = 0;
    for (int t = 0; buys && t < now->periods; t++)
      bought += item_of(waiting, now, "burst_tokens", t)[i];
    waiting->fleet[i] = waiting->rate[i] - bought / hours;
    waiting->bought_cost[i] = buys ? item_of(waiting, now, "burst_total", 0)[i] / hours : 0;
  }
}

// The rate of the accelerators that could be bought now, and the rate per accelerator of each kind.
static void find_rates(struct waiting *waiting) {
  const double *demand = evaluation_input(waiting->now, "demand");
  scale_performance(waiting);
  evaluate(waiting->now);
  evaluate(waiting->own);
  if (waiting->rent)
    evaluate(waiting->rent);
  for (size_t i = 0; i < VECTOR_BLOCK; i++) {
    waiting->rate[i] = item_of(waiting, waiting->now, "tokens_total", 0)[i] /
                       item_of(waiting, waiting->now, "horizon", 0)[i];
    waiting->unmet[i] = demand ? fmax(0, demand[i] - waiting->rate[i]) : 0;
    waiting->own_per_gpu[i] = item_of(waiting, waiting->own, "tokens_per_gpu", 0)[i];
    if (waiting->rent)
      waiting->rent_per_gpu[i] = item_of(waiting, waiting->rent, "tokens_per_gpu", 0)[i];
  }
  find_bought(waiting);
}

// ---- the two choices

// Sizes a block in whole purchase units: for the rate or, if the block buys the rest elsewhere as
// the option does, for what the option's accelerators serve of it. A block without a count is sized
// by its demand, which is set to the rate.
static void size_block(const struct waiting *waiting, struct evaluation *block,
                       const double *per_gpu) {
  double *accelerators = evaluation_input(block, "accelerators");
  double *demand = evaluation_input(block, "demand");
  const double *unit = item_of(waiting, block, "purchase_unit", 0);
  for (size_t i = 0; demand && i < VECTOR_BLOCK; i++)
    demand[i] = waiting->rate[i];
  const double *buys =
      has_item(waiting, block, "burst") ? item_of(waiting, block, "burst", 0) : NULL;
  for (size_t i = 0; accelerators && i < VECTOR_BLOCK; i++) {
    const double own = buys && buys[i] > 0 ? waiting->fleet[i] : waiting->rate[i];
    accelerators[i] = arithmetic_ceil(own / per_gpu[i] / unit[i]) * unit[i];
  }
}

// Applies the growth of prices and wages until the delivery.
static void grow_prices(const struct waiting *waiting, const double *delay) {
  static const struct {
    const char *price, *growth;
  } growing[] = {{"electricity_price", "electricity_escalation"},
                 {"colo_rate", "colo_escalation"},
                 {"engineer_cost", "wage_growth"}};
  for (size_t g = 0; g < sizeof growing / sizeof growing[0]; g++) {
    const double *rate = evaluation_input(waiting->own, growing[g].growth);
    double factors[VECTOR_BLOCK];
    for (size_t i = 0; rate && i < VECTOR_BLOCK; i++)
      factors[i] = pow(1 + rate[i] * HOURS_PER_YEAR, delay[i] / HOURS_PER_YEAR);
    if (rate)
      scale(waiting->own, waiting->own_base, growing[g].price, factors);
  }
}

// Sets the residual values at the age that the ordered hardware reaches in the time left. `resale`
// ages by itself, and is then the accelerators' alone where servers have a residual value.
static void age_residuals(const struct waiting *waiting, const double *horizon,
                          const double *left) {
  static const char *const names[] = {"residual_value", "server_residual", "network_residual",
                                      "facility_residual"};
  const int resale = model_find(waiting->scenario->model, "resale");
  const bool ages =
      resale >= 0 && option_has(option_of(waiting, waiting->answer->successor), resale);
  for (size_t n = ages ? 1 : 0; n < sizeof names / sizeof names[0]; n++) {
    double *values = evaluation_input(waiting->own, names[n]);
    const double *at_end = evaluation_input(waiting->own_base, names[n]);
    for (size_t i = 0; values && i < VECTOR_BLOCK; i++)
      values[i] = 1 - (1 - at_end[i]) * left[i] / horizon[i];
  }
}

// Adds the cost of what is ordered after `order` hours and delivered `delay` hours from now.
static void add_ordered(struct waiting *waiting, double order, const double *delay, double *costs) {
  const double *horizon = item_of(waiting, waiting->own_base, "horizon", 0);
  const double *wacc = item_of(waiting, waiting->own_base, "wacc", 0);
  double *own_horizon = evaluation_input(waiting->own, "horizon");
  double prices[VECTOR_BLOCK], left[VECTOR_BLOCK];
  for (size_t i = 0; i < VECTOR_BLOCK; i++) {
    const double decline = waiting->drawn[WAIT_DECLINE][i] * HOURS_PER_MONTH;
    prices[i] = waiting->drawn[WAIT_PRICE][i] * pow(1 - fmin(decline, 1), order / HOURS_PER_MONTH);
    left[i] = horizon[i] - delay[i];
    own_horizon[i] = left[i] > 1e-9 * horizon[i] ? left[i] : horizon[i];
  }
  scale(waiting->own, waiting->own_base, "list_price", prices);
  size_block(waiting, waiting->own, waiting->own_per_gpu);
  grow_prices(waiting, delay);
  age_residuals(waiting, horizon, own_horizon);
  evaluate(waiting->own);
  for (size_t i = 0; i < VECTOR_BLOCK; i++)
    if (left[i] > 1e-9 * horizon[i])
      costs[i] += present_value(waiting, waiting->own, i) /
                  pow(1 + wacc[i] * HOURS_PER_YEAR, delay[i] / HOURS_PER_YEAR);
}

// The discounted hours: whole periods and a shortened last one, each discounted at its end, as in
// the cost model.
static double discounted_hours(double hours, double period_h, double wacc) {
  double sum = 0;
  for (int t = 0; t * period_h < hours; t++) {
    const double end = fmin(hours, (t + 1) * period_h);
    sum += (end - t * period_h) / pow(1 + wacc * HOURS_PER_YEAR, end / HOURS_PER_YEAR);
  }
  return sum;
}

static void add_rent(struct waiting *waiting, const double *delay, double *costs) {
  const double *wacc = item_of(waiting, waiting->now, "wacc", 0);
  double *horizon = waiting->rent ? evaluation_input(waiting->rent, "horizon") : NULL;
  if (!horizon) {
    for (size_t i = 0; i < VECTOR_BLOCK; i++)
      costs[i] += (waiting->fleet[i] * waiting->drawn[WAIT_RENT][i] + waiting->bought_cost[i]) *
                  discounted_hours(delay[i], waiting->scenario->period_h, wacc[i]);
    return;
  }
  for (size_t i = 0; i < VECTOR_BLOCK; i++)
    horizon[i] = delay[i] > 0 ? delay[i] : HOURS_PER_YEAR;
  size_block(waiting, waiting->rent, waiting->rent_per_gpu);
  evaluate(waiting->rent);
  for (size_t i = 0; i < VECTOR_BLOCK; i++)
    if (delay[i] > 0)
      costs[i] += present_value(waiting, waiting->rent, i);
}

// Computes the costs of an order after `order` hours, delivered `delay` hours from now.
static void cost_of_waiting(struct waiting *waiting, double order, double *delay, double *costs) {
  const double *horizon = item_of(waiting, waiting->own_base, "horizon", 0);
  for (size_t i = 0; i < VECTOR_BLOCK; i++) {
    delay[i] = fmin(delay[i], horizon[i]);
    costs[i] = 0;
  }
  add_rent(waiting, delay, costs);
  add_ordered(waiting, order, delay, costs);
}

// ---- the answer

// Whether one cost is below another by more than rounding: everything else is a tie.
static bool is_cheaper(double cost, double than) {
  return than - cost > 1e-9 * fmax(fabs(cost), fabs(than));
}

struct sums {
  double *now, *later;    // [draws]
  double *months, *right; // [count]: sums over draws
  double rate, bought, unmet;
};

static void add_block(struct waiting *waiting, struct sums *sums, size_t first) {
  struct wait_answer *answer = waiting->answer;
  const size_t width = answer->draws - first < VECTOR_BLOCK ? answer->draws - first : VECTOR_BLOCK;
  double delay[VECTOR_BLOCK], costs[VECTOR_BLOCK];
  start_block(waiting, false, first);
  find_rates(waiting);
  for (size_t i = 0; i < width; i++) {
    sums->now[first + i] = present_value(waiting, waiting->now, i);
    sums->rate += waiting->rate[i];
    sums->bought += waiting->rate[i] - waiting->fleet[i];
    sums->unmet += waiting->unmet[i];
  }
  for (size_t m = 0; m < answer->count; m++) {
    const double order = answer->list[m].months * HOURS_PER_MONTH;
    for (size_t i = 0; i < VECTOR_BLOCK; i++)
      delay[i] = fmax(order, waiting->drawn[WAIT_AVAILABLE][i]) + waiting->drawn[WAIT_SLIP][i];
    cost_of_waiting(waiting, order, delay, costs);
    for (size_t i = 0; i < width; i++) {
      sums->months[m] += costs[i];
      sums->right[m] += !is_cheaper(sums->now[first + i], costs[i]);
      if (answer->list[m].months == answer->months)
        sums->later[first + i] = costs[i];
    }
  }
}

static struct wait_choice choice_of(const double *own, const double *other, size_t draws,
                                    struct arena *arena) {
  struct wait_choice choice = {0};
  double *sorted = arena_array(arena, draws, sizeof *sorted);
  for (size_t i = 0; i < draws; i++) {
    choice.mean += own[i] / (double)draws;
    choice.regret += fmax(0, own[i] - other[i]) / (double)draws;
    choice.right += !is_cheaper(other[i], own[i]) / (double)draws;
    sorted[i] = own[i];
  }
  sort_ascending(sorted, draws);
  choice.low = sorted[(size_t)(0.05 * (double)(draws - 1) + 0.5)];
  choice.high = sorted[(size_t)(0.95 * (double)(draws - 1) + 0.5)];
  return choice;
}

static void finish(struct waiting *waiting, const struct sums *sums) {
  struct wait_answer *answer = waiting->answer;
  const double draws = (double)answer->draws;
  answer->now = choice_of(sums->now, sums->later, answer->draws, waiting->arena);
  answer->later = choice_of(sums->later, sums->now, answer->draws, waiting->arena);
  answer->verdict = is_cheaper(answer->later.mean, answer->now.mean)   ? WAIT_LATER
                    : is_cheaper(answer->now.mean, answer->later.mean) ? WAIT_NOW
                                                                       : WAIT_TIE;
  answer->rate = sums->rate / draws;
  answer->bought = sums->bought / draws;
  answer->unmet = sums->unmet / draws;
  answer->pays_from = answer->pays_until = answer->best = -1;
  for (size_t m = 0; m < answer->count; m++) {
    struct wait_month *month = &answer->list[m];
    month->cost = sums->months[m] / draws;
    month->right = sums->right[m] / draws;
    if (!is_cheaper(month->cost, answer->now.mean))
      continue;
    if (answer->pays_from < 0)
      answer->pays_from = (long)m;
    answer->pays_until = (long)m;
    if (answer->best < 0 || month->cost < answer->list[answer->best].cost)
      answer->best = (long)m;
  }
}

// Finds the delivery at which waiting stops paying, on a grid from the order to the horizon,
// refined once by a grid between two points of the first one.
static void find_latest_delivery(struct waiting *waiting) {
  struct wait_answer *answer = waiting->answer;
  const double order = answer->months * HOURS_PER_MONTH;
  double delay[VECTOR_BLOCK], costs[VECTOR_BLOCK];
  start_block(waiting, true, 0);
  find_rates(waiting);
  const double now = present_value(waiting, waiting->now, 0);
  double low = fmax(order, answer->available),
         high = item_of(waiting, waiting->own_base, "horizon", 0)[0];
  answer->latest_delivery = NAN;
  for (int pass = 0; pass < 2; pass++) {
    const double step = (high - low) / (VECTOR_BLOCK - 1);
    size_t last = VECTOR_BLOCK;
    for (size_t i = 0; i < VECTOR_BLOCK; i++)
      delay[i] = low + step * (double)i;
    cost_of_waiting(waiting, order, delay, costs);
    for (size_t i = 0; i < VECTOR_BLOCK && is_cheaper(costs[i], now); i++)
      last = i;
    if (last == VECTOR_BLOCK)
      return;
    if (last == VECTOR_BLOCK - 1) {
      answer->latest_delivery = pass ? high : INFINITY;
      return;
    }
    const double share = (now - costs[last]) / (costs[last + 1] - costs[last]);
    answer->latest_delivery = low + step * ((double)last + share);
    high = low + step * (double)(last + 1);
    low += step * (double)last;
  }
}

static void list_months(struct waiting *waiting) {
  struct wait_answer *answer = waiting->answer;
  const struct scenario *scenario = waiting->scenario;
  const double horizon = option_value(scenario, option_of(waiting, answer->option),
                                      model_find(scenario->model, "horizon"), 0) /
                         HOURS_PER_MONTH;
  const double last = fmin(fmax(2 * answer->months, MIN_MONTHS), ceil(horizon) - 1);
  answer->count = (size_t)last + 1;
  answer->list = arena_array(waiting->arena, answer->count, sizeof *answer->list);
  for (size_t m = 0; m < answer->count; m++)
    answer->list[m].months = (double)m;
}

static int requirements(const struct waiting *waiting) {
  static const char *const names[] = {
      "tco",           "discounted_cash", "tokens_total", "accelerators", "tokens_per_gpu",
      "purchase_unit", "horizon",         "wacc"};
  int result = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (model_require(waiting->scenario->model, names[i], waiting->diagnostics) < 0)
      result = -1;
  return result;
}

static void take_terms(const struct waiting *waiting) {
  const struct wait_terms *terms = &waiting->terms;
  struct wait_answer *answer = waiting->answer;
  answer->option = terms->option;
  answer->successor = terms->successor;
  answer->has_successor = terms->has_successor;
  answer->meanwhile = terms->meanwhile;
  answer->months = terms->months;
  answer->slip_words = terms->slip_words;
  answer->draws = terms->draws;
  answer->seed = terms->seed;
}

const struct wait_answer *wait_ask(const struct scenario *scenario,
                                   const struct ini_section *section, struct arena *arena,
                                   struct diagnostics *diagnostics) {
  struct waiting *waiting = arena_alloc(arena, sizeof *waiting);
  struct wait_answer *answer = arena_alloc(arena, sizeof *answer);
  *waiting = (struct waiting){
      .scenario = scenario, .answer = answer, .arena = arena, .diagnostics = diagnostics};
  *answer = (struct wait_answer){
      .scenario = scenario, .name = section->argument, .place = section->place};
  if (requirements(waiting) ||
      wait_terms_read(scenario, section, &waiting->terms, arena, diagnostics))
    return NULL;
  take_terms(waiting);
  if (prepare_draws(waiting))
    return NULL;
  list_months(waiting);
  waiting->now = new_block(waiting, answer->option);
  waiting->own = new_block(waiting, answer->successor);
  waiting->own_base = new_block(waiting, answer->successor);
  if (answer->meanwhile >= 0)
    waiting->rent = new_block(waiting, (size_t)answer->meanwhile);
  struct sums sums = {.now = arena_array(arena, answer->draws, sizeof(double)),
                      .later = arena_array(arena, answer->draws, sizeof(double)),
                      .months = arena_array(arena, answer->count, sizeof(double)),
                      .right = arena_array(arena, answer->count, sizeof(double))};
  for (size_t first = 0; first < answer->draws; first += VECTOR_BLOCK)
    add_block(waiting, &sums, first);
  finish(waiting, &sums);
  find_latest_delivery(waiting);
  return answer;
}
