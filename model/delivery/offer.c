#include "model/delivery/offer.h"

#include "model/cost/units.h"
#include "model/evidence/grade.h"

#include <math.h>
#include <string.h>

const struct offer_line_info offer_lines[OFFER_LINES] = {
    [OFFER_ACCELERATORS] = {"accelerators", "list_price", "USD/gpu", NULL},
    [OFFER_DISCOUNT] = {"discount", "discount", "%", NULL},
    [OFFER_SERVERS] = {"servers", "node_price", "USD/node", NULL},
    [OFFER_NETWORK] = {"network", "network_price", "USD/gpu", NULL},
    [OFFER_INSTALLATION] = {"installation", "installation", "%", "USD"},
    [OFFER_DELIVERY] = {"delivery", "purchase_tax", "%", "USD"},
    [OFFER_SUPPORT] = {"support", "support", "%/yr", "USD/yr"},
    [OFFER_WARRANTY] = {"warranty", "support", "%/yr", "USD/yr"},
    [OFFER_LICENCE] = {"licence", "software_licence", "USD/gpu/yr", NULL},
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

const char *offer_input_text(const struct offer *offer, enum offer_line line, struct arena *arena) {
  const struct offer_price *price = &offer->prices[line];
  const struct offer_price *warranty = &offer->prices[OFFER_WARRANTY];
  const bool both = line == OFFER_SUPPORT && is_offered(offer, OFFER_WARRANTY);
  if (line == OFFER_WARRANTY && !is_offered(offer, OFFER_SUPPORT) && price->text)
    return quantity_text(price->value, unit_constant(offer_lines[line].unit, arena), arena);
  if (line == OFFER_WARRANTY || !price->text)
    return NULL;
  if (!price->is_amount && !both)
    return price->text;
  return quantity_text(price->value + (both ? warranty->value : 0),
                       unit_constant(offer_lines[line].unit, arena), arena);
}

struct texts offer_not_included(const struct offer *offer, struct arena *arena) {
  struct texts missing = {0};
  for (int line = 0; line < OFFER_LINES; line++)
    if (!is_offered(offer, (enum offer_line)line) && line != OFFER_DISCOUNT &&
        !(line == OFFER_WARRANTY && !isnan(offer->warranty_h)))
      texts_add(&missing, arena, "%s", offer_lines[line].key);
  return missing;
}

static bool fits(const struct offer_guarantee *guarantee, const struct workload *workload) {
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (*workload->values[key] &&
        !workload_is_alike(workload, (enum workload_key)key, workload->values[key],
                           guarantee->workload.values[key]))
      return false;
  return true;
}

const struct offer_guarantee *offer_guarantee_for(const struct offer *offer,
                                                  const struct workload *workload, size_t *others) {
  const struct offer_guarantee *found = NULL;
  size_t count = 0;
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (fits(&offer->guarantees[g], workload)) {
      found = found ? found : &offer->guarantees[g];
      count++;
    }
  *others = count ? count - 1 : 0;
  return found;
}
