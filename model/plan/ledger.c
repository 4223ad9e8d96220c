#include "model/plan/ledger.h"

#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/terms.h"

#include <stddef.h>

static int entry_of(const struct plan_answer *answer, size_t o) {
  int entry = 0;
  while (entry < answer->problem->periods &&
         !fleet_has(answer->problem, &answer->result.fleet, o, entry))
    entry++;
  return entry;
}

// Converts the program's figures, which are discounted.
static double undiscounted(const struct plan_answer *answer, double cost, int period) {
  return cost / plan_discount(answer->terms, plan_elapsed(answer->terms, period));
}

double ledger_rest_at(const struct plan_answer *answer, size_t o, enum ledger_rest rest,
                      int period) {
  const struct fleet_problem *problem = answer->problem;
  const struct planned_fleet *fleet = &answer->result.fleet;
  const int before = period - 1;
  double cost = 0;
  if (rest == REST_ENTRY)
    cost = period < problem->periods && period == entry_of(answer, o)
               ? problem->options[o].entry[period]
               : 0;
  else if (before >= 0 && rest == REST_STANDING)
    cost = fleet_has(problem, fleet, o, before) ? problem->options[o].standing[before] : 0;
  for (size_t w = 0; before >= 0 && rest == REST_EXTRA && w < problem->workload_count; w++)
    cost += fleet_pair_of(problem, w, o)->extra[before] * fleet_busy(problem, fleet, w, o, before);
  return undiscounted(answer, cost, period);
}

double ledger_outlay_of(const struct plan_answer *answer, size_t o, int period) {
  const struct fleet_problem *problem = answer->problem;
  double outlay = entry_of(answer, o) == period ? problem->options[o].entry_outlay : 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first == period)
      outlay += fleet_outlay(problem, &answer->result.fleet, a);
  return outlay;
}

static void add_option(const struct plan_answer *answer, size_t o, int period,
                       struct ledger_entry *entry) {
  const double rate = answer->problem->options[o].tax_rate;
  const double running = ledger_rest_at(answer, o, REST_STANDING, period) +
                         ledger_rest_at(answer, o, REST_EXTRA, period);
  const double migration = ledger_rest_at(answer, o, REST_ENTRY, period);
  const double before = period ? ledger_rest_at(answer, o, REST_ENTRY, period - 1) : 0;
  entry->cash += running + migration;
  entry->after_tax += running * (1 - rate) + migration - rate * before;
}

// Adds so many of what an action is for: lots, or spares.
static void add_action(const struct plan_answer *answer, const struct fleet_action *action,
                       double number, int period, struct ledger_entry *entry) {
  const bool goes = period == action->last + 1 && period < answer->problem->periods;
  const int t = period - action->first;
  entry->cash += number * action->cash[t];
  entry->after_tax += number * action->after_tax[t];
  entry->depreciation += number * action->depreciation[t];
  *(goes ? &entry->written_off : &entry->book_value) += number * action->book_value[t];
}

void ledger_add_action(const struct plan_answer *answer, size_t a, int period,
                       struct ledger_entry *entry) {
  const struct fleet_action *action = &answer->problem->actions[a];
  if (period < action->first || period > action->last + 1)
    return;
  add_action(answer, action, answer->result.fleet.lots[a], period, entry);
  if (action->spare)
    add_action(answer, action->spare, answer->result.fleet.spares[a], period, entry);
}

struct ledger_entry ledger_entry_at(const struct plan_answer *answer, int period) {
  struct ledger_entry entry = {0};
  for (size_t a = 0; a < answer->problem->action_count; a++)
    ledger_add_action(answer, a, period, &entry);
  for (size_t o = 0; o < answer->problem->option_count; o++)
    add_option(answer, o, period, &entry);
  return entry;
}

bool ledger_is_taxed(const struct plan_answer *answer) {
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (answer->problem->options[o].tax_rate > 0)
      return true;
  return false;
}
