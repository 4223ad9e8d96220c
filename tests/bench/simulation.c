// How fast draws are turned into costs: the response compared with the same formulas written by
// hand as one loop, and a whole simulation on one thread and on two.
//
//   simulation SCENARIO FOLDER     three options, h200, mi325x and b200, ranges as in
//                                  uncertainty.ini
//
// Writes FOLDER/inputs.f64, the draws of the ranged inputs [variable][DRAWS] in base units, and
// FOLDER/results.f64, the costs [option][DRAWS], for comparison with numpy. Prints lines: names and
// seconds per draw or per run; "variable NAME" in order; "input OPTION NAME VALUE" in base units.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/vector.h"
#include "model/chance/draw.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/resolution/read.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"
#include "model/whatif/response.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERIODS = 3, OPTIONS = 3, CHUNK = 8192, ROUNDS = 40, DRAWS = 1 << 20 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// The inputs that are not drawn, with the names of model/cost/tco.ini.
struct fixed {
  double accelerators, bought, nodes, list_price, node_price, network_price, installation,
      purchase_tax, colo_rate, build_price, facility_residual, migration_cost, load_power,
      idle_power, network_power, cooling_share, demand_charge, water_use, water_price, colo_power,
      software_licence, failure_rate, repair_cost, rental_rate, availability, scaling_efficiency,
      delivered, engineers, discount;
  double period[PERIODS], tariff_growth[PERIODS], wage_growth[PERIODS], colo_growth[PERIODS];
};

struct drawn {
  const double *electricity_price, *pue, *utilization, *engineer_cost, *host_power, *support,
      *residual_value, *throughput[OPTIONS], *discount[OPTIONS], *engineers[OPTIONS];
};

static inline __attribute__((always_inline)) double
cost_per_token(const struct fixed *x, double electricity_price, double pue, double utilization,
               double engineer_cost, double host_power, double support, double residual_value,
               double throughput, double discount, double engineers) {
  double tokens_per_gpu =
      throughput * utilization * x->availability * x->scaling_efficiency * x->delivered;
  double net_price = x->list_price * (1 - discount);
  double hardware =
      x->bought * net_price + x->nodes * x->node_price + x->accelerators * x->network_price;
  double average_power = x->idle_power + (x->load_power - x->idle_power) * utilization;
  double beside = host_power + x->network_power;
  double it_power = x->accelerators * (average_power + beside);
  double peak_it_power = x->accelerators * (x->load_power + beside);
  double cooling_power = it_power * (pue - 1) * x->cooling_share;
  double overhead_power = it_power * (pue - 1) * (1 - x->cooling_share);
  double facility = peak_it_power * x->build_price;
  double tco = hardware + hardware * x->installation + hardware * x->purchase_tax + facility +
               x->migration_cost;
  double tokens = 0;
  for (int t = 0; t < PERIODS; t++) {
    double period = x->period[t], tariff = electricity_price * x->tariff_growth[t];
    double it_energy = it_power * period, cooling_energy = cooling_power * period;
    double overhead_energy = overhead_power * period;
    double demand = peak_it_power * pue * x->demand_charge * period;
    double power = x->colo_power * ((it_energy + overhead_energy) * tariff + demand);
    double water = it_energy * x->water_use * x->water_price;
    double cooling = x->colo_power * (cooling_energy * tariff + water);
    double colo = peak_it_power * x->colo_rate * period * x->colo_growth[t];
    double licence = x->accelerators * x->software_licence * period;
    double engineering = engineers * engineer_cost * period * x->wage_growth[t];
    double repair = x->accelerators * x->failure_rate * period * net_price * x->repair_cost;
    double rental = x->accelerators * x->rental_rate * period;
    tco += power + cooling + colo + hardware * support * period + licence + engineering + repair +
           rental;
    tokens += x->accelerators * tokens_per_gpu * period;
  }
  tco -= hardware * residual_value + facility * x->facility_residual;
  return tco / tokens;
}

// The hand-written loop.
static __attribute__((noinline)) void by_hand(const struct fixed *h200, const struct fixed *mi325x,
                                              const struct fixed *b200, const struct drawn *d,
                                              size_t count, double *restrict a, double *restrict b,
                                              double *restrict c) {
  struct fixed x = *h200, y = *mi325x, z = *b200;
  for (size_t i = 0; i < count; i++) {
    double electricity = d->electricity_price[i], pue = d->pue[i], use = d->utilization[i];
    double engineer = d->engineer_cost[i], host = d->host_power[i], support = d->support[i];
    double residual = d->residual_value[i];
    a[i] = cost_per_token(&x, electricity, pue, use, engineer, host, support, residual,
                          d->throughput[0][i], d->discount[0][i], x.engineers);
    b[i] = cost_per_token(&y, electricity, pue, use, engineer, host, support, residual,
                          d->throughput[1][i], d->discount[1][i], d->engineers[1][i]);
    c[i] = cost_per_token(&z, electricity, pue, use, engineer, host, support, residual,
                          d->throughput[2][i], z.discount, z.engineers);
  }
}

static double value(const struct scenario *scenario, size_t option, const char *name) {
  return option_value(scenario, &scenario->options[option], model_find(scenario->model, name), 0);
}

static struct fixed read_fixed(const struct scenario *s, size_t o) {
  struct fixed x = {.accelerators = value(s, o, "accelerators"),
                    .bought = value(s, o, "accelerators_bought"),
                    .nodes = value(s, o, "nodes"),
                    .list_price = value(s, o, "list_price"),
                    .node_price = value(s, o, "node_price"),
                    .network_price = value(s, o, "network_price"),
                    .installation = value(s, o, "installation"),
                    .purchase_tax = value(s, o, "purchase_tax"),
                    .colo_rate = value(s, o, "colo_rate"),
                    .build_price = value(s, o, "build_price"),
                    .facility_residual = value(s, o, "facility_residual"),
                    .migration_cost = value(s, o, "migration_cost"),
                    .load_power = value(s, o, "load_power"),
                    .idle_power = value(s, o, "idle_power"),
                    .network_power = value(s, o, "network_power"),
                    .cooling_share = value(s, o, "cooling_share"),
                    .demand_charge = value(s, o, "demand_charge"),
                    .water_use = value(s, o, "water_use"),
                    .water_price = value(s, o, "water_price"),
                    .colo_power = value(s, o, "colo_power"),
                    .software_licence = value(s, o, "software_licence"),
                    .failure_rate = value(s, o, "failure_rate"),
                    .repair_cost = value(s, o, "repair_cost"),
                    .rental_rate = value(s, o, "rental_rate"),
                    .availability = value(s, o, "availability"),
                    .scaling_efficiency = value(s, o, "scaling_efficiency"),
                    .delivered = value(s, o, "delivered"),
                    .engineers = value(s, o, "engineers"),
                    .discount = value(s, o, "discount")};
  for (int t = 0; t < PERIODS; t++) {
    double year_h = HOURS_PER_YEAR;
    x.period[t] = year_h;
    x.tariff_growth[t] = pow(1 + value(s, o, "electricity_escalation") * year_h, t);
    x.wage_growth[t] = pow(1 + value(s, o, "wage_growth") * year_h, t);
    x.colo_growth[t] = pow(1 + value(s, o, "colo_escalation") * year_h, t);
  }
  return x;
}

// All draws, [variable][DRAWS].
static double *draw_all(const struct sampler *sampler) {
  double *all = aligned_alloc(64, (size_t)sampler->variable_count * DRAWS * sizeof *all);
  double *block = aligned_alloc(64, (size_t)sampler->variable_count * VECTOR_BLOCK * sizeof *block);
  for (size_t n = 0; n < DRAWS; n += VECTOR_BLOCK) {
    sampler_draw(sampler, SAMPLE_FIRST, 0, n, block);
    for (int v = 0; v < sampler->variable_count; v++)
      memcpy(all + (size_t)v * DRAWS + n, block + (size_t)v * VECTOR_BLOCK,
             VECTOR_BLOCK * sizeof *block);
  }
  free(block);
  return all;
}

static const double *column(const struct sampler *sampler, const double *all, const char *key) {
  for (int v = 0; v < sampler->variable_count; v++)
    if (!strcmp(sampler->scenario->ranges[sampler->ranges[v]].key, key))
      return all + (size_t)v * DRAWS;
  fprintf(stderr, "simulation: no range of '%s'\n", key);
  exit(2);
}

static struct drawn find_columns(const struct sampler *s, const double *all) {
  return (struct drawn){
      .electricity_price = column(s, all, "electricity_price"),
      .pue = column(s, all, "pue"),
      .utilization = column(s, all, "utilization"),
      .engineer_cost = column(s, all, "engineer_cost"),
      .host_power = column(s, all, "host_power"),
      .support = column(s, all, "support"),
      .residual_value = column(s, all, "residual_value"),
      .throughput = {column(s, all, "h200.throughput"), column(s, all, "mi325x.throughput"),
                     column(s, all, "b200.throughput")},
      .discount = {column(s, all, "h200.discount"), column(s, all, "mi325x.discount"), NULL},
      .engineers = {NULL, column(s, all, "mi325x.engineers"), NULL}};
}

// The response to draws first to first + count - 1, which are copied into its workspace.
static void by_response(const struct sampler *sampler, double *workspace, const double *all,
                        size_t first, size_t count, double *const *out) {
  for (size_t n = 0; n < count; n += VECTOR_BLOCK) {
    for (int v = 0; v < sampler->variable_count; v++)
      memcpy(response_variable(workspace, v), all + (size_t)v * DRAWS + first + n,
             VECTOR_BLOCK * sizeof(double));
    response_run(sampler->response, workspace);
    for (size_t o = 0; o < OPTIONS; o++)
      memcpy(out[o] + n, response_item(sampler->response, workspace, o, 0),
             VECTOR_BLOCK * sizeof(double));
  }
}

static void write_all(const char *folder, const char *name, const double *values, size_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(values, sizeof *values, count, file) != count || fclose(file)) {
    fprintf(stderr, "simulation: cannot write %s\n", path);
    exit(3);
  }
}

static double least(double a, double b) {
  return a < b ? a : b;
}

static void compare_with_hand(const struct sampler *sampler, const double *all, double *results) {
  static double hand[OPTIONS][CHUNK];
  double *const out[OPTIONS] = {results, results + DRAWS, results + 2 * (size_t)DRAWS};
  struct fixed x = read_fixed(sampler->scenario, 0), y = read_fixed(sampler->scenario, 1);
  struct fixed z = read_fixed(sampler->scenario, 2);
  struct drawn drawn = find_columns(sampler, all);
  double *workspace = response_workspace_new(sampler->response);
  double response_s = 1e9, hand_s = 1e9, worst = 0;
  // Alternating, over draws that stay in the second-level cache.
  for (int round = 0; round < ROUNDS; round++) {
    double start = now();
    by_response(sampler, workspace, all, 0, CHUNK, out);
    double middle = now();
    by_hand(&x, &y, &z, &drawn, CHUNK, hand[0], hand[1], hand[2]);
    hand_s = least(hand_s, now() - middle);
    response_s = least(response_s, middle - start);
  }
  for (size_t o = 0; o < OPTIONS; o++)
    for (size_t i = 0; i < CHUNK; i++)
      worst = fmax(worst, fabs(hand[o][i] / out[o][i] - 1));
  by_response(sampler, workspace, all, 0, DRAWS, out);
  response_workspace_free(workspace);
  printf("response_s_per_draw %.4g\nhand_s_per_draw %.4g\nworst_difference %.3g\nsteps %zu\n",
         response_s / CHUNK, hand_s / CHUNK, worst, response_steps(sampler->response));
}

// Every scalar of every option, for the same formulas in another language.
static void print_inputs(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    for (int d = 0; d < scenario->model->count; d++)
      if (option_has(&scenario->options[o], d) &&
          scenario->model->declarations[d].kind != DECLARATION_SERIES)
        printf("input %s %s %.17g\n", scenario->options[o].id,
               scenario->model->declarations[d].name,
               option_value(scenario, &scenario->options[o], d, 0));
}

static void time_simulation(const struct scenario *scenario, int threads, const char *name) {
  double best = 1e9;
  for (int round = 0; round < 3; round++) {
    struct arena arena = {NULL};
    struct diagnostics diagnostics = {.arena = &arena};
    struct simulate_request request = {
        .scenario = scenario, .draws = 1000000, .seed = 1, .threads = threads};
    double start = now();
    struct simulation_part *part = simulate(&request, &arena, &diagnostics);
    if (!part || !simulation_result(part, &arena, &diagnostics))
      exit(2);
    best = least(best, now() - start);
    arena_free(&arena);
  }
  printf("%s %.4g\n", name, best);
}

int main(int argc, char **argv) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  if (argc != 3)
    return 2;
  struct scenario_request request = {.path = argv[1], .data_directory = "data"};
  struct scenario *scenario = scenario_read(&request, &arena, &diagnostics);
  int item = scenario ? model_cost_item(scenario->model) : -1;
  const struct sampler *sampler = scenario
                                      ? sampler_new(&(struct sampler_request){.scenario = scenario,
                                                                              .method = DRAW_SOBOL,
                                                                              .seed = 1,
                                                                              .replicates = 1,
                                                                              .items = &item,
                                                                              .item_count = 1},
                                                    &arena, &diagnostics)
                                      : NULL;
  if (!sampler) {
    diagnostics_print(&diagnostics, stderr, false);
    return 2;
  }
  double *all = draw_all(sampler), *results = malloc(OPTIONS * DRAWS * sizeof *results);
  compare_with_hand(sampler, all, results);
  write_all(argv[2], "inputs.f64", all, (size_t)sampler->variable_count * DRAWS);
  write_all(argv[2], "results.f64", results, OPTIONS * DRAWS);
  for (int v = 0; v < sampler->variable_count; v++)
    printf("variable %s\n", scenario->ranges[sampler->ranges[v]].key);
  print_inputs(scenario);
  free(all);
  free(results);
  time_simulation(scenario, 1, "simulate_1_thread_s");
  time_simulation(scenario, 2, "simulate_2_threads_s");
  arena_free(&arena);
  return 0;
}
