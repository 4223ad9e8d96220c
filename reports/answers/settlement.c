#include "reports/answers/settlement.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/acceptance.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet.h"
#include "model/delivery/offer.h"
#include "model/scenario/scenario.h"
#include "reports/faces/parts.h"
#include "reports/records/fleet_settings.h"

#include <math.h>
#include <stddef.h>

struct telling {
  const struct settlement *settlement;
  const struct acceptance *acceptance;
  const struct shortfall *worth;
  struct answer *answer;
  struct arena *arena;
};

static const char *replaced_names(const struct telling *telling) {
  const struct settlement *settlement = telling->settlement;
  struct texts names = {0};
  for (size_t i = 0; i < settlement->replaced_count; i++)
    texts_add(&names, telling->arena, "%s",
              telling->acceptance->fleet->nodes[settlement->replaced[i].node].name);
  return fleet_few_names(&names, telling->arena);
}

// What the buyer's option costs while replaced nodes are out of use, in base units; NAN: unknown.
static double idle_cost(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  return !telling->worth
             ? (double)NAN
             : telling->worth->hour * telling->acceptance->offer->acceptance.replacement_h *
                   (double)(telling->settlement->replaced_count * acceptance->rule.per_node);
}

// Who bears what, for the meeting: amounts in the offer's currency, except in the last line.
static void add_table(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  const struct settlement *settlement = telling->settlement;
  const struct unit *currency = unit_known(telling->acceptance->offer->currency, telling->arena);
  const double idle = idle_cost(telling);
  const struct {
    const char *who, *what;
    double amount;
    const struct unit *unit;
  } lines[] = {
      {"the vendor", "remedy, in money", settlement->owed, currency},
      {"the vendor", "hardware of the nodes that are replaced", settlement->replaced_price,
       currency},
      {"not stated", "delivery and installation of these nodes", settlement->replaced_delivery,
       currency},
      {"the buyer", "downtime of these nodes, at most", idle,
       telling->worth ? unit_of_item(telling->worth->scenario, "tco") : currency},
  };
  struct answer_table *table = NULL;
  for (size_t i = 0; acceptance->verdict == VERDICT_FAIL && i < sizeof lines / sizeof lines[0];
       i++) {
    if (!(lines[i].amount > 0))
      continue;
    if (!table) {
      table = ANSWER_TABLE(telling->answer, "settlement", "Who bears what", {"who", "Who", NULL},
                           {"what", "What", NULL}, {"amount", "Amount", NULL});
      table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
    }
    ANSWER_ROW(table, cell_words(lines[i].who), cell_words(lines[i].what),
               cell_in(lines[i].amount, lines[i].unit));
  }
}

static void note_remedy(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  const struct settlement *settlement = telling->settlement;
  const struct offer_acceptance *said = &telling->acceptance->offer->acceptance;
  const struct unit *currency = unit_known(telling->acceptance->offer->currency, telling->arena);
  struct arena *arena = telling->arena;
  if (acceptance->verdict != VERDICT_FAIL)
    return;
  if (settlement->owed > 0)
    answer_note(telling->answer,
                "Owed: ", "%s of the %s hardware price, at %s for each percent %s%s.",
                money_text(settlement->owed, currency, arena),
                money_text(settlement->price, currency, arena), percent_words(said->remedy, arena),
                acceptance_judges_times(acceptance) ? "by which the guarantee is missed"
                                                    : "that is missing",
                settlement->limited ? ", up to the limit of the remedy" : "");
  if (settlement->replaced_count)
    answer_note(telling->answer,
                "Owed: ", "replacement of %s, priced at %s of %s for hardware: %s.",
                arena_printf(arena, "%zu node%s", settlement->replaced_count,
                             settlement->replaced_count == 1 ? "" : "s"),
                money_text(settlement->replaced_price, currency, arena),
                money_text(settlement->price, currency, arena), replaced_names(telling));
  if (!said->replacement && isnan(said->remedy))
    answer_note(telling->answer, "Owed: ", "the offer names no remedy.");
}

// Notes on a replacement: what the offer's remedy leaves to the buyer, or leaves open.
static void note_rest(const struct telling *telling) {
  const struct settlement *settlement = telling->settlement;
  const double time_h = telling->acceptance->offer->acceptance.replacement_h;
  struct arena *arena = telling->arena;
  if (!settlement->replaced_count)
    return;
  if (settlement->replaced_delivery > 0)
    answer_note(telling->answer, "",
                "Delivery and installation of these nodes were priced at %s; the offer does not "
                "state who pays for those of a replacement.",
                money_text(settlement->replaced_delivery,
                           unit_known(telling->acceptance->offer->currency, arena), arena));
  if (isnan(time_h)) {
    answer_note(telling->answer, "", "The offer does not state when the replacement is due.");
    return;
  }
  const double idle = idle_cost(telling);
  answer_note(
      telling->answer, "",
      "The replacement is due within %s: until then the buyer may have %zu accelerators out of "
      "use%s.",
      arena_printf(arena, "%g days", time_h / 24),
      settlement->replaced_count * telling->acceptance->rule.per_node,
      isnan(idle)
          ? ""
          : arena_printf(arena, ", which cost %s in that time",
                         money_text(idle, unit_of_item(telling->worth->scenario, "tco"), arena)));
}

// "as delivered", or, while nodes are missing, what the others are taken to be.
static const char *basis_words(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  const size_t nodes = acceptance->rule.nodes;
  size_t measured = 0;
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (clause->kind == CLAUSE_MEAN && clause->what == GUARANTEED_TOKENS &&
        clause->guarantee == telling->worth->guarantee)
      measured = clause->sample.count;
  }
  return measured >= nodes
             ? "as delivered"
             : arena_printf(telling->arena, "if all nodes are like the %zu of %zu measured",
                            measured, nodes);
}

static void note_worth(const struct telling *telling) {
  const struct shortfall *worth = telling->worth;
  const struct scenario *scenario = worth->scenario;
  const struct declaration *price = &scenario->model->declarations[worth->price];
  const struct unit *currency =
      price->usd_of < 0 ? unit_of_item(scenario, "tco") : unit_known("USD", telling->arena);
  const char *option = scenario->options[worth->option].label, *basis = basis_words(telling);
  if (isnan(worth->worth)) {
    answer_note(telling->answer,
                "Worth: ", "%s, no price makes %s cost as much per token as guaranteed.", basis,
                option);
    return;
  }
  answer_note(telling->answer, "Worth: ",
              "%s, %s costs as much per token at %s as guaranteed at %s: %s for all %.0f%s, before "
              "knock-on effects.",
              basis, option, quantity_words(worth->worth, &price->unit, 5, telling->arena),
              quantity_words(worth->quoted, &price->unit, 5, telling->arena),
              money_text((worth->quoted - worth->worth) * worth->count * worth->paid_share,
                         currency, telling->arena),
              worth->count, worth->paid_share < 1 ? " after the discount" : "");
}

static struct telling telling_of(struct answer *answer, const struct settlement *settlement,
                                 const struct shortfall *worth) {
  return (struct telling){settlement, settlement->acceptance, worth, answer, answer->arena};
}

void settlement_add_table(struct answer *answer, const struct settlement *settlement,
                          const struct shortfall *worth) {
  const struct telling telling = telling_of(answer, settlement, worth);
  add_table(&telling);
}

void settlement_add_notes(struct answer *answer, const struct settlement *settlement,
                          const struct shortfall *worth) {
  const struct telling telling = telling_of(answer, settlement, worth);
  note_remedy(&telling);
  note_rest(&telling);
  if (worth)
    note_worth(&telling);
}
