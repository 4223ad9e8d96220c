#include "reports/plans/calendar.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/date.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *calendar_begins(const struct plan_answer *answer, int period, struct arena *arena) {
  if (period >= answer->problem->periods)
    return "the end";
  return scenario_period_begins(answer->scenario, period + 1, arena);
}

const char *calendar_order_by(const struct plan_answer *answer, size_t o, int period,
                              struct arena *arena) {
  enum { MONTHS = 12, HOURS_A_DAY = 24 };
  const double months = answer->portfolio->lead_time[o] / HOURS_PER_MONTH;
  const char *text = calendar_begins(answer, period, arena);
  struct date day = {0};
  date_parse(strlen(text) == strlen("2027-01") ? arena_printf(arena, "%s-01", text) : text, &day);
  const double whole = ceil(months - 1e-9);
  const int years = (int)ceil(whole / MONTHS);
  day.year -= years;
  day = date_later(day, years * MONTHS - (int)whole,
                   (int)floor((whole - months) * HOURS_PER_MONTH / HOURS_A_DAY + 1e-9));
  return arena_printf(arena, "%04d-%02d-%02d", day.year, day.month, day.day);
}

double calendar_accelerators(const struct plan_answer *answer, size_t a) {
  const struct fleet_problem *problem = answer->problem;
  const struct fleet_option *option = &problem->options[problem->actions[a].option];
  return fleet_lots_of_tiers(problem, &answer->result.fleet, a) * option->lot *
         option->accelerators;
}

// An action's share of its order's outlay; every accelerator of an order costs the same.
static double outlay_of_action(const struct plan_answer *answer, size_t a) {
  const struct fleet_problem *problem = answer->problem;
  const struct fleet_action *of = &problem->actions[a];
  double outlay = 0;
  for (size_t b = 0; b < problem->action_count; b++)
    if (problem->actions[b].option == of->option && problem->actions[b].first == of->first)
      outlay += fleet_outlay(problem, &answer->result.fleet, b);
  return outlay * fleet_lots_of_tiers(problem, &answer->result.fleet, a) /
         fleet_ordered(problem, &answer->result.fleet, of->option, of->first);
}

static bool is_rent(const struct plan_answer *answer, size_t a) {
  return answer->problem->options[answer->problem->actions[a].option].rented;
}

static bool have_rents(const struct plan_answer *answer) {
  for (size_t a = 0; a < answer->problem->action_count; a++)
    if (is_rent(answer, a) && answer->result.fleet.lots[a] > 0)
      return true;
  return false;
}

// What a rent costs until it ends, undiscounted.
static double rent_in_all(const struct plan_answer *answer, size_t a) {
  const struct fleet_action *action = &answer->problem->actions[a];
  double rent = 0;
  for (int t = 0; t < action->last + 2 - action->first; t++)
    rent += action->cash[t];
  return rent * answer->result.fleet.lots[a];
}

static bool have_spares(const struct plan_answer *answer) {
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (answer->problem->options[o].spares > 0)
      return true;
  return false;
}

// What stays of an order, with its whole spares, as long as a period or longer.
static double ordered_for(const struct plan_answer *answer, size_t o, int first, int last) {
  const struct fleet_problem *problem = answer->problem;
  const struct planned_fleet *fleet = &answer->result.fleet;
  double lots = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first == first &&
        problem->actions[a].last >= last)
      lots += fleet->lots[a];
  return arithmetic_ceil(fleet_ordered_with_spares(problem, fleet, o, first) * lots /
                         fleet_ordered(problem, fleet, o, first));
}

// An action's share of its order: whole, and enough for what stays longest.
static double with_spares(const struct plan_answer *answer, size_t a) {
  const struct fleet_action *action = &answer->problem->actions[a];
  return ordered_for(answer, action->option, action->first, action->last) -
         ordered_for(answer, action->option, action->first, action->last + 1);
}

size_t *calendar_actions(const struct plan_answer *answer, size_t *count, struct arena *arena) {
  const struct fleet_problem *problem = answer->problem;
  size_t *list = arena_array(arena, problem->action_count + 1, sizeof *list);
  *count = 0;
  for (int t = 0; t < problem->periods; t++)
    for (size_t a = 0; a < problem->action_count; a++)
      if (problem->actions[a].first == t && !problem->actions[a].tier &&
          fleet_lots_of_tiers(problem, &answer->result.fleet, a) > 0)
        list[(*count)++] = a;
  return list;
}

const char *calendar_until(const struct plan_answer *answer, size_t a, struct arena *arena) {
  const struct fleet_action *action = &answer->problem->actions[a];
  return calendar_begins(answer, action->last + 1, arena);
}

static const char *note(const struct plan_answer *answer, struct arena *arena) {
  return arena_printf(
      arena,
      "Each: all that is due at the purchase, per accelerator%s, with its share of servers, "
      "network, installation and tax; for an order in volume tiers, the mean. Until: "
      "when it is sold or retired, or the rent ends.%s%s",
      have_spares(answer) ? " in operation" : "",
      have_rents(answer) ? " Rent in all: what is paid until then, undiscounted." : "",
      have_spares(answer) ? " With spares: what has to be ordered, whole spares included." : "");
}

static struct answer_table *calendar_table(struct answer *written,
                                           const struct plan_answer *answer) {
  const struct model *model = answer->scenario->model;
  const struct unit *gpu = unit_known("gpu", written->arena);
  const struct unit *each = unit_known(model_unit_text(model, "USD/gpu"), written->arena);
  const struct unit *usd = unit_known(model_unit_text(model, "USD"), written->arena);
  struct answer_table *table = ANSWER_TABLE(
      written, "calendar", "Orders and their deadlines", {"order_by", "Order by", NULL},
      {"serves_from", "From", NULL}, {"until", "Until", NULL}, {"option", "Option", NULL},
      {"vendor", "Vendor", NULL}, {"how", "How", NULL}, {"accelerators", "Number", "gpu"});
  if (have_spares(answer))
    ANSWER_COLUMN(table, .key = "with_spares", .title = "With spares", .unit = gpu);
  ANSWER_COLUMN(table, .key = "price", .title = "Each", .unit = each);
  ANSWER_COLUMN(table, .key = "outlay", .title = "To pay", .unit = usd);
  if (have_rents(answer))
    ANSWER_COLUMN(table, .key = "rent", .title = "Rent in all", .unit = usd);
  table->note = note(answer, written->arena);
  return table;
}

static void write_order(const struct plan_answer *answer, struct answer_table *table, size_t a,
                        struct arena *arena) {
  const struct portfolio *portfolio = answer->portfolio;
  const struct fleet_action *action = &answer->problem->actions[a];
  const double accelerators = calendar_accelerators(answer, a);
  const double outlay = outlay_of_action(answer, a);
  const bool rented = is_rent(answer, a);
  struct answer_cell *cell = answer_table_row(table);
  *cell++ = cell_words(calendar_order_by(answer, action->option, action->first, arena));
  *cell++ = cell_words(calendar_begins(answer, action->first, arena));
  *cell++ = cell_words(calendar_until(answer, a, arena));
  *cell++ = cell_option(&answer->scenario->options[action->option]);
  *cell++ = cell_words(portfolio->vendors[portfolio->vendor[action->option]]);
  *cell++ = cell_words(rented ? "rent" : "buy");
  *cell++ = cell_value(accelerators);
  if (have_spares(answer))
    *cell++ = cell_value(with_spares(answer, a));
  *cell++ = rented ? cell_nothing() : cell_value(outlay / accelerators);
  *cell++ = rented ? cell_nothing() : cell_value(outlay);
  if (have_rents(answer))
    *cell = rented ? cell_value(rent_in_all(answer, a)) : cell_nothing();
}

// What the plan takes of an option with an offer: more or less than that covers, or after it ends.
static void note_offer(struct answer *written, const struct plan_answer *answer, size_t o,
                       const struct offer *offer) {
  struct arena *arena = written->arena;
  const struct option *option = &answer->scenario->options[o];
  const char *name = offer_reference(offer, arena);
  double all = 0, late = 0;
  size_t count;
  const size_t *taken = calendar_actions(answer, &count, arena);
  for (size_t i = 0; i < count; i++) {
    const struct fleet_action *action = &answer->problem->actions[taken[i]];
    if (action->option != o)
      continue;
    const double accelerators = calendar_accelerators(answer, taken[i]);
    all += accelerators;
    if (offer_has_expired(offer, calendar_order_by(answer, o, action->first, arena)))
      late += accelerators;
  }
  if (late > 0)
    answer_note(written, "Offer: ",
                "%s: %s holds until %s; at its prices, the plan orders %s of %s accelerators later",
                option->label, name, offer->valid_until, number_fixed(late, 0, arena),
                number_fixed(all, 0, arena));
  if (all > 0 && fabs(all - offer->accelerators) > 0.5)
    answer_note(written,
                "Offer: ", "%s: %s covers %s accelerators; the plan orders %s at its prices",
                option->label, name, number_fixed(offer->accelerators, 0, arena),
                number_fixed(all, 0, arena));
}

void calendar_write(struct answer *written, const struct plan_answer *answer) {
  size_t count;
  const size_t *taken = calendar_actions(answer, &count, written->arena);
  struct answer_table *table = calendar_table(written, answer);
  for (size_t i = 0; i < count; i++)
    write_order(answer, table, taken[i], written->arena);
  for (size_t o = 0; o < answer->problem->option_count; o++) {
    const struct scenario_offer *quoted =
        option_offer(answer->scenario, &answer->scenario->options[o], answer->scenario->selected);
    if (quoted)
      note_offer(written, answer, o, quoted->offer);
  }
}

// "buy 64 mi325x by 2026-12-01": all of an option for a period, regardless of what happens to it
// later.
static const char *order_words(const struct plan_answer *answer, size_t o, int period,
                               struct arena *arena) {
  const struct fleet_problem *problem = answer->problem;
  const double accelerators = fleet_ordered(problem, &answer->result.fleet, o, period) *
                              problem->options[o].lot * problem->options[o].accelerators;
  const double spares =
      round(fleet_ordered_with_spares(problem, &answer->result.fleet, o, period) - accelerators);
  if (accelerators <= 0)
    return NULL;
  return arena_printf(arena, "%s %s %s%s%s by %s", problem->options[o].rented ? "rent" : "order",
                      number_fixed(accelerators, 0, arena), answer->scenario->options[o].label,
                      spares > 0 ? " and " : "",
                      spares > 0 ? number_counted(spares, "spare", arena) : "",
                      calendar_order_by(answer, o, period, arena));
}

// The orders for a period that are due by a day, all if it is NULL; "" for none. `latest` becomes
// the last day on which one of them is due.
static const char *orders_words(const struct plan_answer *answer, int period, const char *due,
                                const char **latest, struct arena *arena) {
  const char *text = "";
  for (size_t o = 0; o < answer->problem->option_count; o++) {
    const char *order = order_words(answer, o, period, arena);
    const char *by = calendar_order_by(answer, o, period, arena);
    if (!order || (due && strcmp(by, due) > 0))
      continue;
    text = options_joined(answer->scenario, text, order, arena);
    *latest = *latest && strcmp(*latest, by) >= 0 ? *latest : by;
  }
  return text;
}

const char *calendar_words(const struct plan_answer *answer, struct arena *arena) {
  const struct fleet_problem *problem = answer->problem;
  const char *text = "", *due = NULL, *unused = NULL;
  size_t count;
  const size_t *taken = calendar_actions(answer, &count, arena);
  if (!count)
    return "";
  for (int t = problem->actions[taken[0]].first; t < problem->periods; t++) {
    const char *orders = orders_words(answer, t, due, due ? &unused : &due, arena);
    if (*orders)
      text = arena_printf(arena, "%s%s from %s, %s", text, *text ? "; to serve" : " To serve",
                          calendar_begins(answer, t, arena), orders);
  }
  return arena_printf(arena, "%s.", text);
}
