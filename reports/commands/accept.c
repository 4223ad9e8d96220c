#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/delivery/acceptance.h"
#include "model/delivery/acceptance_plan.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet.h"
#include "model/delivery/offer.h"
#include "model/delivery/settlement.h"
#include "model/evidence/catalog.h"
#include "model/questions/shortfall.h"
#include "model/scenario/scenario.h"
#include "reports/answers/acceptance.h"
#include "reports/answers/acceptance_plan.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/print/output_name.h"

#include <math.h>
#include <stddef.h>

static int read_share(const struct run *run, const char *name, const char *text, double *share) {
  if (!text)
    return 0;
  if (run_read_share(run, name, text, share))
    return -1;
  if (*share > 0 && *share < 1)
    return 0;
  diagnostics_error(run->diagnostics, nowhere, "%s must be above 0 %% and below 100 %%, not %s",
                    name, text);
  return -1;
}

static int read_request(struct run *run, struct catalog *catalog,
                        struct acceptance_request *request) {
  const struct options *options = &run->options;
  if (run_open_catalog(run, catalog))
    return -1;
  *request = (struct acceptance_request){
      .offer = offer_read(options->arguments[0], catalog, run->arena, run->diagnostics),
      .accelerators = catalog_table(catalog, CATALOG_ACCELERATORS),
      .guarantee = options->input,
  };
  return request->offer && request->accelerators ? 0 : -1;
}

static int read_fleet(struct run *run, const struct fleet **fleet) {
  const struct options *options = &run->options;
  *fleet = fleet_read(options->arguments + 1, (size_t)options->argument_count - 1, options->expect,
                      run->arena, run->diagnostics);
  return *fleet ? 0 : -1;
}

static int print_plan(struct run *run, struct acceptance_request request) {
  struct plan_request plan_request = {request, NAN, PLAN_POWER};
  if (read_share(run, "--shortfall", run->options.shortfall, &plan_request.shortfall) ||
      read_share(run, "--chance", run->options.chance, &plan_request.power) ||
      (run->options.argument_count > 1 && read_fleet(run, &plan_request.of.fleet)))
    return -1;
  if (output_name_is_workbook(run->options.output_path)) {
    diagnostics_error(run->diagnostics, nowhere,
                      "a plan has no workbook: print it, or write it with --format csv or json");
    return -1;
  }
  const struct acceptance_plan *plan =
      acceptance_plan_of(&plan_request, run->arena, run->diagnostics);
  if (!plan)
    return -1;
  const struct answer answer = acceptance_plan_answer(plan, run->arena);
  return fleet_print(run, &answer, "Acceptance", "Plan");
}

// The measured share of each guarantee of tokens/s, and of its watts. Watts quoted per node have no
// counterpart among an option's inputs.
static size_t find_delivered(const struct acceptance *acceptance,
                             struct delivered_rates *delivered) {
  size_t count = 0;
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (isnan(clause->found))
      continue;
    const double share = clause->found / clause->quoted;
    if (clause->kind != CLAUSE_MEAN)
      continue;
    if (clause->what == GUARANTEED_TOKENS)
      delivered[count++] = (struct delivered_rates){clause->guarantee, share, 1};
    else if (clause->what == GUARANTEED_WATTS && !acceptance->offer->per_node && count &&
             delivered[count - 1].guarantee == clause->guarantee)
      delivered[count - 1].watts = share;
  }
  return count;
}

static int find_worth(struct run *run, const struct acceptance *acceptance,
                      const struct shortfall **worth) {
  if (!run->options.scenario)
    return 0;
  struct delivered_rates *delivered =
      arena_array(run->arena, acceptance->clause_count, sizeof *delivered);
  const struct shortfall_question question = {.offer = acceptance->offer,
                                              .option = run->options.option,
                                              .delivered = delivered,
                                              .delivered_count =
                                                  find_delivered(acceptance, delivered)};
  const struct scenario *scenario = run_read_file(run, run->options.scenario, NULL);
  if (!scenario || !question.delivered_count)
    return scenario ? 0 : -1;
  *worth = shortfall_ask(scenario, &question, run->arena, run->diagnostics);
  return *worth ? 0 : -1;
}

static int print_verdict(struct run *run, struct acceptance_request *request) {
  const struct shortfall *worth = NULL;
  if (run->options.argument_count < 2) {
    diagnostics_error(run->diagnostics, nowhere,
                      "records are missing: name the files or folders, or use --plan");
    return -1;
  }
  if (read_fleet(run, &request->fleet))
    return -1;
  const struct acceptance *acceptance = acceptance_of(request, run->arena, run->diagnostics);
  if (!acceptance || find_worth(run, acceptance, &worth))
    return -1;
  const struct settlement settlement = settlement_of(acceptance, run->arena);
  const struct answer answer = acceptance_answer(&settlement, worth, run->arena);
  return fleet_print(run, &answer, "Does the delivery meet the quote?", "Acceptance");
}

static int refuse_strays(const struct run *run) {
  const struct options *options = &run->options;
  const struct stray of_plan[] = {{"--shortfall", options->shortfall},
                                  {"--chance", options->chance}};
  const struct stray of_verdict[] = {{"--scenario", options->scenario}};
  const struct stray of_scenario[] = {{"--option", options->option}};
  if (!options->plan && run_refuse_strays(run, of_plan, 2, "--plan"))
    return -1;
  if (options->plan && run_refuse_strays(run, of_verdict, 1, "a verdict: leave out --plan"))
    return -1;
  if (options->scenario)
    return 0;
  return run_refuse_strays(run, of_scenario, 1, "--scenario") ? -1
                                                              : run_refuse_without_scenario(run);
}

int command_accept(struct run *run) {
  struct catalog catalog;
  struct acceptance_request request;
  if (refuse_strays(run) || read_request(run, &catalog, &request))
    return -1;
  return run->options.plan ? print_plan(run, request) : print_verdict(run, &request);
}
