#include "reports/plans/load.h"

#include "model/plan/fleet.h"
#include "model/plan/ledger.h"
#include "model/plan/outcome.h"
#include "model/questions/portfolio.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"

#include <stddef.h>

enum { DERIVES = FACE_TERMINAL | FACE_CSV | FACE_JSON };

static struct answer_cell name_of(const struct plan_answer *answer, size_t o) {
  return cell_option(&answer->scenario->options[o]);
}

static void write_fleet(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  const struct planned_fleet *fleet = &answer->result.fleet;
  struct answer_table *table =
      ANSWER_TABLE(written, "fleet_parts", "What comes and goes", {"period", "Period", NULL},
                   {"option", "Option", NULL}, {"before", "Before", "gpu"}, {"gone", "Gone", "gpu"},
                   {"bought", "New", "gpu"}, {"there", "There", "gpu"},
                   {"outlay", "Paid for it", "USD"}, {"power", "Site power", "MW"});
  for (int t = 0; t < problem->periods; t++)
    for (size_t o = 0; o < problem->option_count; o++) {
      const struct fleet_option *option = &problem->options[o];
      const double each = option->accelerators;
      const double before = t ? fleet_nodes(problem, fleet, o, t - 1) * each : 0;
      const double there = fleet_nodes(problem, fleet, o, t) * each;
      const double bought = fleet_ordered(problem, fleet, o, t) * option->lot * each;
      const double outlay = ledger_outlay_of(answer, o, t);
      if (option->by_token ? outlay != 0 : before > 0 || there > 0)
        ANSWER_ROW(table, cell_words(calendar_begins(answer, t, written->arena)),
                   name_of(answer, o), cell_value(before), cell_value(before + bought - there),
                   cell_value(bought), cell_value(there), cell_value(outlay),
                   cell_value(option->power * fleet_nodes(problem, fleet, o, t)));
    }
  table->faces = DERIVES;
  table->note = "There: before, less gone, plus new. Paid for it: the orders of the "
                "period, and migration before the first.";
}

static void write_load(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  struct answer_table *table = ANSWER_TABLE(
      written, "load", "What each workload keeps busy", {"period", "Period", NULL},
      {"workload", "Workload", NULL}, {"option", "On", NULL}, {"demand", "Demand", "Mtok"},
      {"share", "Share", "%"}, {"tokens", "Tokens", "Mtok"}, {"capacity", "Of a node", "Mtok"},
      {"busy_nodes", "Nodes", "-"});
  for (int t = 0; t < problem->periods; t++)
    for (size_t w = 0; w < problem->workload_count; w++)
      for (size_t o = 0; o < problem->option_count; o++) {
        const double demand = problem->workloads[w].demand[t];
        const double share = *fleet_share(problem, &answer->result.fleet, w, o, t);
        const bool by_token = problem->options[o].by_token;
        if (share > 0)
          ANSWER_ROW(table, cell_words(calendar_begins(answer, t, written->arena)),
                     cell_words(answer->portfolio->demands[w].name), name_of(answer, o),
                     cell_value(demand), cell_value(share), cell_value(share * demand),
                     by_token ? cell_nothing()
                              : cell_value(fleet_pair_of(problem, w, o)->capacity[t]),
                     by_token ? cell_nothing()
                              : cell_value(fleet_busy(problem, &answer->result.fleet, w, o, t)));
      }
  table->faces = DERIVES;
  table->note =
      "Nodes: the tokens over what a node serves of them in the period at its throughput, "
      "utilization and readiness.";
}

static void write_spare(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  const struct planned_fleet *fleet = &answer->result.fleet;
  struct answer_table *table = ANSWER_TABLE(
      written, "spare_parts", "What each option serves, and could serve",
      {"period", "Period", NULL}, {"vendor", "Vendor", NULL}, {"option", "Option", NULL},
      {"served", "Serves", "Mtok"}, {"held", "Nodes held", "-"}, {"there", "Nodes there", "-"},
      {"spare", "Spare", "Mtok"});
  for (int t = 0; t < problem->periods; t++)
    for (size_t o = 0; o < problem->option_count; o++) {
      const double served = fleet_served(problem, fleet, o, t);
      const double held = fleet_held(problem, fleet, o, t);
      const double there = fleet_nodes(problem, fleet, o, t);
      const bool by_token = problem->options[o].by_token;
      if (served > 0)
        ANSWER_ROW(table, cell_words(calendar_begins(answer, t, written->arena)),
                   cell_words(answer->portfolio->vendors[answer->portfolio->vendor[o]]),
                   name_of(answer, o), cell_value(served),
                   by_token ? cell_nothing() : cell_value(held),
                   by_token ? cell_nothing() : cell_value(there),
                   cell_value(fleet_spare(problem, fleet, o, t)));
    }
  table->faces = DERIVES;
  table->note = "Held: by what is served; replicas over several nodes are whole. Spare: what the "
                "other nodes could serve of the same workloads.";
}

// An action with all of its tiers at a date, as in the books.
static struct ledger_entry vintage_at(const struct plan_answer *answer, size_t a, int date) {
  struct ledger_entry vintage = {0};
  for (int k = 0; k <= fleet_tiers(answer->problem, a); k++)
    ledger_add_action(answer, a + (size_t)k, date, &vintage);
  return vintage;
}

static void write_vintages(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  struct answer_table *table =
      ANSWER_TABLE(written, "vintages", "Each purchase in the books", {"when", "When", NULL},
                   {"serves_from", "From", NULL}, {"option", "Option", NULL},
                   {"accelerators", "Number", "gpu"}, {"depreciation", "Depreciation", "USD"},
                   {"written_off", "Written off", "USD"}, {"book_value", "Book value", "USD"});
  size_t count;
  const size_t *taken = calendar_actions(answer, &count, written->arena);
  for (int date = 0; date <= problem->periods; date++)
    for (size_t i = 0; i < count; i++) {
      const struct fleet_action *action = &problem->actions[taken[i]];
      if (date < action->first || date > action->last + 1 ||
          problem->options[action->option].rented)
        continue;
      const struct ledger_entry vintage = vintage_at(answer, taken[i], date);
      ANSWER_ROW(table, cell_words(calendar_begins(answer, date, written->arena)),
                 cell_words(calendar_begins(answer, action->first, written->arena)),
                 name_of(answer, action->option),
                 cell_value(calendar_accelerators(answer, taken[i])),
                 cell_value(vintage.depreciation), cell_value(vintage.written_off),
                 cell_value(vintage.book_value));
    }
  table->faces = DERIVES;
  table->note =
      "Depreciation: of the period before. What leaves before the horizon is written off.";
}

void load_write(struct answer *written, const struct plan_answer *answer) {
  write_fleet(written, answer);
  write_load(written, answer);
  write_spare(written, answer);
  write_vintages(written, answer);
}
