#include "reports/answers/rent.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "model/questions/rent.h"
#include "model/questions/rent_offers.h"
#include "model/scenario/option.h"
#include "model/scenario/resolution/warnings.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <math.h>
#include <string.h>

// Columns that formulas refer to.
enum { COST_RATE = 1, COST_HOURS, COST_BESIDE, COST_TOTAL };
enum { EVEN_RATE = 1, EVEN_BESIDE };

struct writing {
  const struct scenario *scenario;
  const struct rent_answer *answer;
  const char *own;       // its id
  const char *own_label; // its label, for people
  bool is_beside_live, is_use_zero;
  struct arena *arena;
};

static double own_value(const struct writing *writing, const char *item) {
  const struct option *option = &writing->scenario->options[writing->answer->own];
  const int d = model_find(writing->scenario->model, item);
  return d >= 0 && option_has(option, d) ? option_value(writing->scenario, option, d, 0) : NAN;
}

static bool are_near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

// Costs other than the rent of the same accelerators are the owned option's staff, licenses,
// migration and what it buys elsewhere, unless the scenario adds items of its own.
static bool is_beside_known(const struct writing *writing) {
  const struct model *model = writing->scenario->model;
  const double bought = own_value(writing, "burst_total");
  const double known = own_value(writing, "engineering_total") +
                       own_value(writing, "licence_total") + own_value(writing, "migration_cost") +
                       (isnan(bought) ? 0 : bought);
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].own != OWN_NONE)
      return false;
  for (size_t i = 0; i < writing->answer->count; i++)
    if (writing->answer->costs[i].offer.option < 0 &&
        !are_near(writing->answer->costs[i].beside, known))
      return false;
  return isfinite(known);
}

// The load does not change the power if idle power is computed from the power under load.
static bool is_use_always_zero(const struct writing *writing) {
  const struct option *option = &writing->scenario->options[writing->answer->own];
  const int idle = model_find(writing->scenario->model, "idle_power");
  return writing->answer->use == 0 && idle >= 0 && option->graph->state[idle] >= 0;
}

// "three years", or of an option "Cloud, always".
static const char *offer_named(const struct writing *writing, const struct rent_offer *offer,
                               const char *option) {
  return offer->option < 0 ? offer->title
                           : arena_printf(writing->arena, "%s, %s", option, offer->title);
}

static const char *offer_words(const struct writing *writing, const struct rent_offer *offer) {
  return offer_named(writing, offer,
                     offer->option < 0 ? "" : writing->scenario->options[offer->option].label);
}

static struct answer_cell offer_cell(const struct writing *writing,
                                     const struct rent_offer *offer) {
  const struct option *options = writing->scenario->options;
  const struct option *option = offer->option < 0 ? NULL : &options[offer->option];
  return (struct answer_cell){.text = offer_named(writing, offer, option ? option->id : ""),
                              .shown =
                                  offer_named(writing, offer, option ? option_brief(option) : "")};
}

static struct answer_cell rate_cell(const struct writing *writing, const struct rent_cost *cost) {
  const struct rent_offer *offer = &cost->offer;
  const struct scenario *scenario = writing->scenario;
  if (offer->option >= 0) {
    const struct option *cloud = &scenario->options[offer->option];
    const char *rate = scenario->model->declarations[option_price(scenario, cloud)].name;
    return cell_live(offer->rate, arena_printf(writing->arena, "[%s.%s]", cloud->id, rate));
  }
  if (offer->in_usd)
    return cell_live(offer->rate, arena_printf(writing->arena, "[=%s]/[%s.exchange_rate]",
                                               offer->typed, writing->own));
  return cell_live(offer->rate, arena_printf(writing->arena, "[=%s]", offer->typed));
}

static struct answer_cell beside_cell(const struct writing *writing, const struct rent_cost *cost) {
  if (cost->offer.option >= 0 || !writing->is_beside_live)
    return cell_value(cost->beside);
  const char *formula =
      arena_printf(writing->arena, "[%s.engineering_total]+[%s.licence_total]+[%s.migration_cost]",
                   writing->own, writing->own, writing->own);
  if (!isnan(own_value(writing, "burst_total")))
    formula = arena_printf(writing->arena, "%s+[%s.burst_total]", formula, writing->own);
  return cell_live(cost->beside, formula);
}

// Accelerator-hours over the horizon, as far as they are used or committed to.
static const char *hours_formula(const struct writing *writing, const struct rent_cost *cost) {
  const char *own = writing->own;
  const bool whole_terms = cost->offer.term > 0 && !are_near(cost->paid, writing->answer->hours);
  if (cost->offer.option >= 0 || whole_terms || cost->offer.interruption > 0 ||
      !(writing->answer->tco > 0))
    return NULL;
  const char *hours = arena_printf(writing->arena, "[%s.tco]/[%s.cost_per_gpu_hour]", own, own);
  if (cost->offer.hours != RENT_HOURS_USED)
    return hours;
  return isnan(own_value(writing, "average_load"))
             ? NULL
             : arena_printf(writing->arena, "%s*[%s.average_load]", hours, own);
}

// The two prices that add up to the total: for the same accelerators, in proportion to the owned
// option's.
static struct answer_cell split_cell(const struct writing *writing, const struct rent_cost *cost,
                                     double price, const char *item, int r) {
  const bool twin = cost->offer.option < 0 && writing->answer->tco > 0;
  const char *own = writing->own;
  return cell_live(price, twin ? arena_printf(writing->arena, "[%s.%s]*[@%d,%d]/[%s.tco]", own,
                                              item, r, COST_TOTAL, own)
                               : NULL);
}

static void add_cost(const struct writing *writing, struct answer_table *table, size_t i) {
  const struct rent_cost *cost = &writing->answer->costs[i];
  struct arena *arena = writing->arena;
  const char *own = writing->own;
  const int r = 1 + (int)i;
  const char *per_mtok =
      arena_printf(arena, "[%s.cost_per_mtok]*[@%d,%d]/[%s.tco]", own, r, COST_TOTAL, own);
  ANSWER_ROW(
      table, offer_cell(writing, &cost->offer), rate_cell(writing, cost),
      cell_live(cost->paid, hours_formula(writing, cost)), beside_cell(writing, cost),
      cell_live(cost->cost, arena_printf(arena, "[@%d,%d]*[@%d,%d]+[@%d,%d]", r, COST_RATE, r,
                                         COST_HOURS, r, COST_BESIDE)),
      cell_live(cost->cost_per_mtok, writing->answer->tco > 0 ? per_mtok : NULL),
      cell_live(cost->saving, isnan(cost->saving)
                                  ? NULL
                                  : arena_printf(arena, "1-[%s.tco]/[@%d,%d]", own, r, COST_TOTAL)),
      split_cell(writing, cost, cost->per_input, "cost_per_mtok_input", r),
      split_cell(writing, cost, cost->per_output, "cost_per_mtok_output", r));
}

static struct answer_cell own_cell(const struct writing *writing, const char *item) {
  return cell_live(own_value(writing, item),
                   arena_printf(writing->arena, "[%s.%s]", writing->own, item));
}

static void add_own(const struct writing *writing, struct answer_table *table) {
  const struct rent_answer *answer = writing->answer;
  const char *own = writing->own;
  const char *hours = arena_printf(writing->arena, "[%s.tco]/[%s.cost_per_gpu_hour]", own, own);
  const char *label = label_brief(own, writing->own_label);
  const struct answer_cell owning = {.text = arena_printf(writing->arena, "owning %s", own),
                                     .shown = arena_printf(writing->arena, "owning %s", label)};
  ANSWER_ROW(table, owning,
             cell_live(answer->tco / answer->hours,
                       arena_printf(writing->arena, "[%s.cost_per_gpu_hour]", own)),
             cell_live(answer->hours, answer->tco > 0 ? hours : NULL), cell_nothing(),
             own_cell(writing, "tco"), own_cell(writing, "cost_per_mtok"), cell_nothing(),
             own_cell(writing, "cost_per_mtok_input"), own_cell(writing, "cost_per_mtok_output"));
}

static const char *hypothetical_titles(const struct writing *writing) {
  const char *titles = "";
  for (size_t i = 0; i < writing->answer->count; i++) {
    const struct rent_offer *offer = &writing->answer->costs[i].offer;
    if (offer->hypothetical)
      titles = joined(titles, arena_printf(writing->arena, "'%s'", offer_words(writing, offer)),
                      writing->arena);
  }
  return titles;
}

static bool any_twin(const struct rent_answer *answer) {
  for (size_t i = 0; i < answer->count; i++)
    if (answer->costs[i].offer.option < 0)
      return true;
  return false;
}

static bool any_option(const struct rent_answer *answer) {
  for (size_t i = 0; i < answer->count; i++)
    if (answer->costs[i].offer.option >= 0)
      return true;
  return false;
}

static const char *costs_note(const struct writing *writing) {
  const struct rent_answer *answer = writing->answer;
  struct arena *arena = writing->arena;
  const char *titles = hypothetical_titles(writing);
  const char *text =
      "Paid: accelerator-hours; on demand and spot, only those in use. Other costs: engineers, "
      "licenses, migration and own items.";
  if (*answer->left_out && any_twin(answer))
    text = arena_printf(arena, "%s Own items limited to options are not paid by a renter: %s.",
                        text, answer->left_out);
  if (own_value(writing, "burst_total") > 0 && any_twin(answer))
    text = arena_printf(
        arena,
        "%s They also include the tokens beyond the capacity of the same accelerators: "
        "bought elsewhere, whether these are owned or rented.",
        text);
  if (own_value(writing, "burst_total") > 0 && any_option(answer))
    text = arena_printf(arena, "%s A rented option serves all tokens itself and buys none.", text);
  if (*titles)
    text = arena_printf(arena,
                        "%s For comparison only, as nobody offers it, and not counted in the "
                        "answer: %s.",
                        text, titles);
  return text;
}

static void add_costs(const struct writing *writing, struct answer *answer) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "cost", "The same tokens over the horizon", {"offer", "Offer", NULL},
      {"rate", "Rate", "USD/gpu/h"}, {"paid_hours", "Paid", "h"}, {"beside", "Other costs", "USD"},
      {"cost", "Cost", "USD"}, {"cost_per_mtok", "Per Mtok", "USD/Mtok"},
      {"saving", "Owning saves", "%"}, {"cost_per_mtok_input", "Input", "USD/Mtok"},
      {"cost_per_mtok_output", "Output", "USD/Mtok"});
  if (!writing->answer->has_split)
    table->column_count -= 2;
  add_own(writing, table);
  for (size_t i = 0; i < writing->answer->count; i++)
    add_cost(writing, table, i);
  table->note = costs_note(writing);
}

static struct answer_cell utilization_cell(const struct writing *writing,
                                           const struct rent_cost *cost, int r) {
  const char *own = writing->own;
  if (isnan(cost->break_even_utilization))
    return cell_words(cost->owning_always ? "always" : "never");
  // The break-even of a rent around the clock turns into "never" where owning costs more as
  // planned.
  if (cost->offer.hours != RENT_HOURS_USED || !cost->is_closed || !writing->is_use_zero ||
      !hours_formula(writing, cost) || isnan(own_value(writing, "served_horizon")) ||
      isnan(own_value(writing, "average_load")))
    return cell_value(cost->break_even_utilization);
  // The time at full utilization is the horizon's, less the ramp.
  const char *hours_used = arena_printf(
      writing->arena,
      "[%s.cost_per_gpu_hour]*(1-[@%d,%d]/[%s.tco])*[%s.horizon]/([@%d,%d]*[%s.served_horizon])",
      own, r, EVEN_BESIDE, own, own, r, EVEN_RATE, own);
  return cell_live(cost->break_even_utilization, hours_used);
}

static const char *below_formula(const struct writing *writing, const struct rent_cost *cost,
                                 int r) {
  const char *own = writing->own;
  if (!hours_formula(writing, cost))
    return NULL;
  const char *rate = arena_printf(writing->arena, "[%s.cost_per_gpu_hour]*(1-[@%d,%d]/[%s.tco])",
                                  own, r, EVEN_BESIDE, own);
  return cost->offer.hours == RENT_HOURS_USED
             ? arena_printf(writing->arena, "%s/[%s.average_load]", rate, own)
             : rate;
}

static void add_break_evens(const struct writing *writing, struct answer *answer) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "break_even", "When owning pays", {"offer", "Offer", NULL},
      {"rate", "Rate", "USD/gpu/h"}, {"beside", "Other costs", "USD"},
      {"break_even_utilization", "From load", "%"}, {"break_even_month", "After", "month"},
      {"break_even_rate", "Renting below", "USD/gpu/h"});
  for (size_t i = 0; i < writing->answer->count; i++) {
    const struct rent_cost *cost = &writing->answer->costs[i];
    const int r = (int)i;
    ANSWER_ROW(table, offer_cell(writing, &cost->offer), rate_cell(writing, cost),
               beside_cell(writing, cost), utilization_cell(writing, cost, r),
               isnan(cost->break_even_month) ? cell_words("never")
                                             : cell_value(cost->break_even_month),
               cell_live(cost->break_even_rate, below_formula(writing, cost, r)));
  }
  table->note =
      "From load: the mean utilization over the horizon above which the owned fleet costs less, if "
      "no more is rented than the tokens need at the planned utilization; above 100 % means never, "
      "0 or less always. Rent around the clock does not rise with the load: if it is cheaper than "
      "owning as planned, it is at every higher load. After: the month in which "
      "cash paid for owning falls below that for renting, without credits; a term that extends "
      "beyond the horizon is paid in full at the horizon. Renting below: the rate below which "
      "renting costs less.";
}

static double wacc_of(const struct writing *writing) {
  const double wacc = own_value(writing, "wacc");
  return isnan(wacc) ? 0 : wacc;
}

// What the time of the payments changes: owning is paid for first, a rent as it is used.
static void add_levelised(const struct writing *writing, struct answer *answer) {
  struct arena *arena = writing->arena;
  const struct rent_answer *rent = writing->answer;
  const char *own = writing->own, *label = label_brief(own, writing->own_label);
  if (!(wacc_of(writing) > 0))
    return;
  struct answer_table *table = ANSWER_TABLE(
      answer, "levelised",
      arena_printf(arena, "Discounted at %s",
                   quantity_words(wacc_of(writing), unit_known("%/yr", arena), 3, arena)),
      {"offer", "Offer", NULL}, {"levelised_cost_per_mtok", "Levelized", "USD/Mtok"},
      {"saving_levelised", "Owning saves", "%"}, {"break_even_rate", "Renting below", "USD/gpu/h"});
  ANSWER_ROW(table,
             ((struct answer_cell){.text = arena_printf(arena, "owning %s", own),
                                   .shown = arena_printf(arena, "owning %s", label)}),
             own_cell(writing, "levelised_cost_per_mtok"), cell_nothing(), cell_nothing());
  for (size_t i = 0; i < rent->count; i++)
    ANSWER_ROW(table, offer_cell(writing, &rent->costs[i].offer),
               cell_value(rent->costs[i].levelised), cell_value(rent->costs[i].saving_levelised),
               cell_value(rent->costs[i].break_even_levelised));
  table->note =
      "Levelized: the present value of the payments over that of the tokens, at the ends of "
      "the scenario's periods; the answer above discounts by the month.";
}

static void add_sources(const struct writing *writing, struct answer *answer) {
  struct answer_table *table = ANSWER_TABLE(answer, "offers", "Where the rates come from",
                                            {"offer", "Offer", NULL}, {"grade", "Evidence", NULL},
                                            {"date", "As of", NULL}, {"source", "Source", NULL});
  for (size_t i = 0; i < writing->answer->count; i++) {
    const struct rent_offer *offer = &writing->answer->costs[i].offer;
    ANSWER_ROW(table, offer_cell(writing, offer), cell_words(grade_name(offer->grade)),
               cell_words(*offer->date ? offer->date : "-"),
               cell_words(*offer->origin ? offer->origin : "own assumption"));
  }
}

// ---- the words

static double cost_of(const struct rent_cost *cost, bool discounted) {
  return discounted ? cost->present : cost->cost;
}

// The cheapest rent that is offered; an option's rent around the clock comes before its
// hypothetical one.
static const struct rent_cost *cheapest(const struct rent_answer *answer, bool discounted) {
  const struct rent_cost *best = &answer->costs[0];
  for (size_t i = 1; i < answer->count; i++)
    if (!answer->costs[i].offer.hypothetical &&
        cost_of(&answer->costs[i], discounted) < cost_of(best, discounted))
      best = &answer->costs[i];
  return best;
}

static const char *pays_text(const struct writing *writing, const struct rent_cost *cost) {
  if (cost->owning_always)
    return "at every utilization";
  if (cost->owning_never)
    return "at no utilization";
  return arena_printf(writing->arena, "above %s utilization",
                      percent_words(cost->break_even_utilization, writing->arena));
}

static const char *cash_text(const struct writing *writing, const struct rent_cost *cost) {
  if (isnan(cost->break_even_month))
    return "its cash outlay is not recovered within the horizon";
  return arena_printf(writing->arena, "its cash outlay is recovered after %.3g months",
                      cost->break_even_month / HOURS_PER_MONTH);
}

static const char *verdict_words(const struct writing *writing, const struct rent_cost *best) {
  struct arena *arena = writing->arena;
  const char *own = writing->own_label;
  const char *offer = arena_printf(arena, "the cheapest rent (%s, %s)",
                                   offer_words(writing, &best->offer), best->offer.typed);
  if (are_near(best->cost, writing->answer->tco))
    return arena_printf(arena, "Own or rent: %s and %s cost the same.", own, offer);
  if (isnan(best->saving))
    return arena_printf(arena, "%s costs " VERDICT_NEGATIVE ".",
                        writing->answer->tco < best->cost ? arena_printf(arena, "Own: %s", own)
                                                          : arena_printf(arena, "Rent: %s", offer));
  return best->saving > 0 ? arena_printf(arena, "Own: %s costs %s less than %s.", own,
                                         percent_words(best->saving, arena), offer)
                          : arena_printf(arena, "Rent: %s costs %s less than owning %s.", offer,
                                         percent_words(1 - 1 / (1 - best->saving), arena), own);
}

// " Discounted at 12 %/yr by the month, the cheapest rent (on demand, 3 USD/gpu/h) costs 3.1 % less
// than owning.", where the discount rate turns the verdict.
static const char *turned_text(const struct writing *writing) {
  const struct rent_answer *answer = writing->answer;
  const struct rent_cost *best = cheapest(answer, true);
  struct arena *arena = writing->arena;
  const bool owns = answer->tco < cheapest(answer, false)->cost,
             then = answer->present < best->present;
  const double saving = then ? cost_saving(answer->present, best->present)
                             : cost_saving(best->present, answer->present);
  if (owns == then || isnan(saving) || are_near(answer->present, best->present))
    return "";
  return arena_printf(arena, " Discounted at %s by the month, %s costs %s less than %s.",
                      quantity_words(wacc_of(writing), unit_known("%/yr", arena), 3, arena),
                      then ? writing->own_label
                           : arena_printf(arena, "the cheapest rent (%s, %s)",
                                          offer_words(writing, &best->offer), best->offer.typed),
                      percent_words(saving, arena), then ? "that rent" : "owning");
}

// If renting costs less: the residual value above which owning would, as its cost is linear in it.
static const char *residual_text(const struct writing *writing, const struct rent_cost *best) {
  const struct rent_answer *answer = writing->answer;
  const double share = (answer->tco - best->cost) / answer->residual_base;
  if (!(answer->residual_base > 0) || are_near(best->cost, answer->tco) || share < 0)
    return "";
  return share < 1
             ? arena_printf(writing->arena,
                            " Owning is counted without a residual value; it costs less if the "
                            "hardware keeps more than %s of its price.",
                            percent_words(share, writing->arena))
             : " Owning is counted without a residual value, and would cost more even if the "
               "hardware kept its full price.";
}

static const char *answer_text(const struct writing *writing) {
  const struct rent_cost *best = cheapest(writing->answer, false);
  return arena_printf(writing->arena, "%s Against this offer, owning pays %s, and %s.%s%s",
                      verdict_words(writing, best), pays_text(writing, best),
                      cash_text(writing, best), residual_text(writing, best), turned_text(writing));
}

// A commitment pays above the utilization at which paying for the hours used would cost the same.
static const char *commitment_text(const struct writing *writing, const struct rent_cost *fixed) {
  const struct rent_answer *answer = writing->answer;
  for (size_t i = 0; i < answer->count; i++) {
    const struct rent_cost *used = &answer->costs[i];
    if (used->offer.hours != RENT_HOURS_USED || used->offer.option != fixed->offer.option)
      continue;
    const double share = fixed->rental / used->rental * answer->load;
    return share > 1 ? arena_printf(writing->arena, "%s never costs less than %s.",
                                    offer_words(writing, &fixed->offer),
                                    offer_words(writing, &used->offer))
                     : arena_printf(writing->arena, "%s costs less than %s above %s utilization.",
                                    offer_words(writing, &fixed->offer),
                                    offer_words(writing, &used->offer),
                                    percent_words(share, writing->arena));
  }
  return NULL;
}

static const char *six_digits(const struct writing *writing, double value) {
  return number_significant(value, 6, writing->arena);
}

static const char *offer_text(const struct writing *writing, const struct rent_cost *cost) {
  return arena_printf(writing->arena, "%s: %s accelerator%s, %s accelerator-hours at %s (%s)%s.",
                      offer_words(writing, &cost->offer), six_digits(writing, cost->accelerators),
                      cost->accelerators == 1 ? "" : "s", six_digits(writing, cost->paid),
                      cost->offer.typed,
                      *cost->offer.source ? cost->offer.source : "own assumption",
                      cost->offer.hypothetical ? ", if it were billed by the hours used" : "");
}

static void add_reasons(const struct writing *writing, struct answer *answer) {
  const struct rent_answer *rent = writing->answer;
  const char *currency = writing->scenario->model->currency;
  answer_reason(answer, "Owning %s costs %s %s for %s Mtok: %s %s per accelerator-hour.",
                writing->own_label, six_digits(writing, rent->tco), currency,
                six_digits(writing, 1e-6 * rent->tokens),
                six_digits(writing, rent->tco / rent->hours), currency);
  if (isnan(rent->use))
    answer_reason(answer, "Its cost or its tokens are not linear in utilization, so the break-even "
                          "was found by search.");
  else
    answer_reason(
        answer,
        "Of this, %s %s grows with utilization; the break-even is %s utilization x (fixed "
        "- other costs) / (rent - growing).",
        six_digits(writing, rent->use), currency, percent_words(rent->load, writing->arena));
  if (!isnan(rent->use) && rent->buys_elsewhere && any_option(rent))
    answer_reason(answer, "Against a rented option it was found by search, as what owning buys "
                          "elsewhere falls when utilization rises.");
  for (size_t i = 0; i < rent->count; i++) {
    const struct rent_cost *cost = &rent->costs[i];
    const bool is_commitment = cost->offer.hours == RENT_AROUND_THE_CLOCK && cost->offer.option < 0;
    const char *commitment = is_commitment ? commitment_text(writing, cost) : NULL;
    answer_reason(answer, "%s", offer_text(writing, cost));
    if (commitment)
      answer_reason(answer, "%s", commitment);
    if (cost->following != 0)
      answer_reason(
          answer, "%s: of the other costs, %s %s follow the rent and count as rent there.",
          offer_words(writing, &cost->offer), six_digits(writing, cost->following), currency);
  }
}

static void add_aside(const struct writing *writing, struct answer *answer) {
  for (size_t i = 0; i < writing->answer->aside.count; i++)
    answer_note(answer, "Not compared: ", "%s", writing->answer->aside.list[i]);
}

static void add_upfront(const struct writing *writing, struct answer *answer) {
  for (size_t i = 0; i < writing->answer->count; i++) {
    const struct rent_offer *offer = &writing->answer->costs[i].offer;
    if (offer->upfront > 0)
      answer_note(answer,
                  "Not counted: ", "the %s that '%s' asks upfront: its rent counts as paid evenly",
                  percent_words(offer->upfront, writing->arena), offer_words(writing, offer));
  }
}

static void add_warnings(const struct writing *writing, struct answer *answer) {
  const struct rent_answer *rent = writing->answer;
  const double unmet = own_value(writing, "unmet_total");
  struct date today, of;
  answer_warn_undrawn(answer);
  if (unmet > 1e-9 * rent->tokens)
    answer_warn(answer, "%s serves only %s of the demand, and every rent is for the same tokens",
                writing->own_label,
                percent_words(rent->tokens / (rent->tokens + unmet), writing->arena));
  date_parse(writing->scenario->date, &today);
  for (size_t i = 0; i < rent->count; i++) {
    const struct rent_offer *offer = &rent->costs[i].offer;
    const double used =
        rent->costs[i].paid / (rent->costs[i].accelerators * own_value(writing, "horizon"));
    if (date_parse(offer->date, &of) && date_is_stale(of, today))
      answer_warn(answer, "the rate of '%s' is stale: it dates from %s, over 12 months before %s",
                  offer_words(writing, offer), offer->date, writing->scenario->date);
    if (date_parse_first(offer->date, &of) && date_is_ahead(of, today))
      answer_warn(answer, "the rate of '%s' is dated ahead: it dates from %s, after %s",
                  offer_words(writing, offer), offer->date, writing->scenario->date);
    if (offer->hours == RENT_HOURS_USED && !offer->hypothetical && used < HARDLY_USED)
      answer_warn(answer,
                  "'%s' is paid for %s of the hours: that takes accelerators which start and stop "
                  "with every request",
                  offer_words(writing, offer), percent_words(used, writing->arena));
    if (offer->uninterrupted)
      answer_warn(answer,
                  "'%s' is counted as if it were never interrupted: state the hours repeated after "
                  "interruptions, 'interruption', a share of the useful ones",
                  offer_words(writing, offer));
    if (offer->term > 0 && !are_near(rent->costs[i].paid, rent->hours) && offer->option < 0)
      answer_warn(answer, "'%s' is paid for whole terms, which extend beyond the horizon",
                  offer_words(writing, offer));
  }
}

static struct answer answer_one(const struct scenario *scenario, const struct rent_answer *rent,
                                struct arena *arena) {
  struct writing writing = {.scenario = scenario,
                            .answer = rent,
                            .own = scenario->options[rent->own].id,
                            .own_label = scenario->options[rent->own].label,
                            .arena = arena};
  writing.is_beside_live = is_beside_known(&writing);
  writing.is_use_zero = is_use_always_zero(&writing);
  struct answer answer =
      answer_new("rent", rent->name, arena_printf(arena, "Rent or own: %s", writing.own_label),
                 scenario, arena);
  answer.sentence = answer_text(&writing);
  add_costs(&writing, &answer);
  add_break_evens(&writing, &answer);
  add_levelised(&writing, &answer);
  add_sources(&writing, &answer);
  add_reasons(&writing, &answer);
  add_aside(&writing, &answer);
  add_upfront(&writing, &answer);
  add_warnings(&writing, &answer);
  return answer;
}

bool rent_asked(const struct scenario *scenario) {
  return rent_is_asked(scenario);
}

const char *rent_why_not(const struct scenario *scenario, struct arena *arena) {
  struct texts aside = {0};
  rent_offers_aside(scenario, -1, &aside, arena);
  return texts_joined(&aside, arena);
}

int answer_rent(const struct scenario *scenario, const char *only, struct answers *answers,
                struct arena *arena, struct diagnostics *diagnostics) {
  const struct rent_answers *found = rent_ask(scenario, only, arena, diagnostics);
  if (!found)
    return -1;
  for (size_t i = 0; i < found->count; i++)
    answers_add(answers, answer_one(scenario, &found->list[i], arena));
  return 0;
}
