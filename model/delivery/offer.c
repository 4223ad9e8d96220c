#include "model/delivery/offer.h"

#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct offer_line_info offer_lines[OFFER_LINES] = {
    [OFFER_ACCELERATORS] = {"accelerators", "list_price", NULL, "USD/gpu", NULL, "USD/node"},
    [OFFER_DISCOUNT] = {"discount", "discount", NULL, "%", NULL, NULL},
    [OFFER_SERVERS] = {"servers", "node_price", NULL, "USD/node", NULL, NULL},
    [OFFER_NETWORK] = {"network", "network_price", NULL, "USD/gpu", NULL, NULL},
    [OFFER_INSTALLATION] = {"installation", "installation", "installation_sum", "%", "USD", NULL},
    [OFFER_DELIVERY] = {"delivery", "purchase_tax", "purchase_tax_sum", "%", "USD", NULL},
    [OFFER_SUPPORT] = {"support", "support", "support_sum", "%/yr", "USD/yr", NULL},
    [OFFER_WARRANTY] = {"warranty", "support", "support_sum", "%/yr", "USD/yr", NULL},
    [OFFER_LICENCE] = {"licence", "software_licence", NULL, "USD/gpu/yr", NULL, NULL},
};

const struct offer_damages_info offer_damages_terms[OFFER_DAMAGES_TERMS] = {
    [OFFER_DAMAGES] = {"delay_damages", "%"},
    [OFFER_DAMAGES_PER] = {"delay_damages_per", "week"},
    [OFFER_DAMAGES_LIMIT] = {"delay_damages_limit", "%"},
    [OFFER_GRACE] = {"delay_grace", "week"},
};

const char *offer_reference(const struct offer *offer, struct arena *arena) {
  return arena_printf(arena, "%s %s", offer->vendor, offer->reference);
}

int offer_accelerators_per_node(const struct offer *offer) {
  return offer->nodes ? offer->accelerators / offer->nodes : 0;
}

bool offer_has_expired(const struct offer *offer, const char *day) {
  struct date end, today;
  return date_parse(offer->valid_until, &end) && date_parse(day, &today) &&
         date_compare(today, end) > 0;
}

static bool is_offered(const struct offer *offer, enum offer_line line) {
  return offer->prices[line].text != NULL;
}

static bool is_offered_as(const struct offer *offer, enum offer_line line, bool as_sum) {
  return is_offered(offer, line) && offer->prices[line].is_amount == as_sum;
}

struct offer_input offer_line_input(const struct offer *offer, enum offer_line line, bool as_sum,
                                    struct arena *arena) {
  const struct offer_line_info *info = &offer_lines[line];
  const struct offer_price *price = &offer->prices[line];
  const bool has_support = is_offered_as(offer, OFFER_SUPPORT, as_sum);
  const bool both =
      line == OFFER_SUPPORT && has_support && is_offered_as(offer, OFFER_WARRANTY, as_sum);
  struct offer_input input = {as_sum ? info->sum : info->input, NULL, price->place,
                              both ? "support and warranty" : NULL};
  if (!is_offered_as(offer, line, as_sum) || (line == OFFER_WARRANTY && has_support))
    return input;
  input.text = price->text;
  if (!price->is_whole && !both)
    return input;
  const struct offer_price *warranty = &offer->prices[OFFER_WARRANTY];
  const double more = !both ? 0 : as_sum ? warranty->amount : warranty->value;
  const char *unit =
      text_in_currency(as_sum ? info->amount : info->unit, "USD", offer->currency, arena);
  input.text = quantity_text((as_sum ? price->amount : price->value) + more,
                             unit_constant(unit, arena), arena);
  return input;
}

// Whether the price of the offer's accelerators includes their servers.
static bool includes_servers(const struct offer *offer) {
  return offer->prices[OFFER_ACCELERATORS].is_whole && !is_offered(offer, OFFER_SERVERS);
}

size_t offer_inputs(const struct offer *offer, struct offer_input inputs[OFFER_INPUTS],
                    struct arena *arena) {
  size_t count = 0;
  bool has_sums = false;
  for (int line = 0; line < OFFER_LINES; line++)
    for (int as_sum = 0; as_sum <= 1; as_sum++) {
      inputs[count] = offer_line_input(offer, (enum offer_line)line, as_sum, arena);
      has_sums |= as_sum && inputs[count].text;
      count += inputs[count].text != NULL;
    }
  if (offer->tier_kind)
    inputs[count++] =
        (struct offer_input){"tier_discount", offer->tier_kind, offer->tier_kind_place, NULL};
  if (has_sums)
    inputs[count++] = (struct offer_input){
        "sums_cover", arena_printf(arena, "%d gpu", offer->accelerators), offer->count_place, NULL};
  if (!is_offered(offer, OFFER_DISCOUNT) && is_offered(offer, OFFER_ACCELERATORS))
    inputs[count++] = (struct offer_input){offer_lines[OFFER_DISCOUNT].input, "0 %",
                                           offer->prices[OFFER_ACCELERATORS].place, NULL};
  if (includes_servers(offer))
    inputs[count++] =
        (struct offer_input){offer_lines[OFFER_SERVERS].input,
                             text_in_currency("0 USD/node", "USD", offer->currency, arena),
                             offer->prices[OFFER_ACCELERATORS].place, NULL};
  if (!isnan(offer->warranty_h))
    inputs[count++] = (struct offer_input){
        "warranty", quantity_text(offer->warranty_h, unit_constant("yr", arena), arena),
        offer->warranty_place, NULL};
  for (int term = 0; term < OFFER_DAMAGES_TERMS; term++)
    if (!isnan(offer->damages[term]))
      inputs[count++] = (struct offer_input){
          offer_damages_terms[term].key,
          quantity_text(offer->damages[term], unit_constant(offer_damages_terms[term].unit, arena),
                        arena),
          offer->damages_places[term], NULL};
  if (offer->nodes)
    inputs[count++] =
        (struct offer_input){"accelerators_per_node",
                             arena_printf(arena, "%d gpu/node", offer_accelerators_per_node(offer)),
                             offer->nodes_place, NULL};
  return count;
}

struct texts offer_not_included(const struct offer *offer, struct arena *arena) {
  struct texts missing = {0};
  for (int line = 0; line < OFFER_LINES; line++)
    if (!is_offered(offer, (enum offer_line)line) && line != OFFER_DISCOUNT &&
        !(line == OFFER_SERVERS && includes_servers(offer)) &&
        !(line == OFFER_WARRANTY && !isnan(offer->warranty_h)))
      texts_add(&missing, arena, "%s", offer_lines[line].key);
  return missing;
}

static double value_of(const struct offer *offer, enum offer_line line) {
  return offer->prices[line].text ? offer->prices[line].value : 0;
}

double offer_hardware(const struct offer *offer) {
  return offer->accelerators * value_of(offer, OFFER_ACCELERATORS) *
             (1 - value_of(offer, OFFER_DISCOUNT)) +
         offer->nodes * value_of(offer, OFFER_SERVERS) +
         offer->accelerators * value_of(offer, OFFER_NETWORK);
}

double offer_purchase(const struct offer *offer) {
  return offer_hardware(offer) *
         (1 + value_of(offer, OFFER_INSTALLATION) + value_of(offer, OFFER_DELIVERY));
}

double offer_purchase_of_each(const struct offer *offer) {
  return offer_purchase(offer) / offer->accelerators;
}

double offer_yearly(const struct offer *offer) {
  const double rate = value_of(offer, OFFER_SUPPORT) + value_of(offer, OFFER_WARRANTY);
  return offer_hardware(offer) * rate + offer->accelerators * value_of(offer, OFFER_LICENCE);
}

const char *offer_guaranteed_input(const struct offer_guarantee *guarantee) {
  const bool decodes = !strcmp(guarantee->workload.values[WORKLOAD_BASIS], "decode");
  return decodes ? "decode_throughput" : "throughput";
}

bool offer_promises_remedy(const struct offer *offer) {
  return offer->acceptance.replacement || !isnan(offer->acceptance.remedy);
}

double offer_guaranteed_rate(const struct offer *offer, const struct offer_guarantee *guarantee) {
  const double share = offer->per_node ? offer_accelerators_per_node(offer) : 1;
  return rate_per_hour(guarantee->tokens_per_s) / share;
}
