#include "model/delivery/offer_tiers.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/list_text.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/delivery/offer_reader.h"

#include <math.h>
#include <string.h>

struct tier {
  double share, from;
};

void offer_tiers_read_kind(struct offer_reader *reader, const struct ini_key *key) {
  struct offer *offer = reader->offer;
  offer->tier_kind = key->value;
  offer->tier_kind_place = key->value_place;
  if (strcmp(key->value, "all") != 0 && strcmp(key->value, "beyond") != 0)
    offer_refuse(reader, key->value_place, "beyond or all", key->value);
}

static int read_tier(const struct offer_reader *reader, const struct list_value *text,
                     struct tier *tier) {
  static const char word[] = " from ";
  const char *at = strstr(text->text, word);
  if (!at) {
    offer_refuse(reader, text->place, "a tier such as '8 % from 100 gpu'", text->text);
    return -1;
  }
  struct place place = text->place;
  const char *share = arena_copy_n(reader->arena, text->text, (size_t)(at - text->text));
  if (quantity_parse(share, place, &unit_percent, &tier->share, reader->diagnostics))
    return -1;
  place.column += (int)(at - text->text) + (int)strlen(word);
  if (quantity_parse(at + strlen(word), place, unit_constant("gpu", reader->arena), &tier->from,
                     reader->diagnostics))
    return -1;
  if (tier->share < 0 || tier->share >= 1 || !offer_is_whole(tier->from, 1)) {
    offer_refuse(reader, text->place, "a share below 100 % from a whole number", text->text);
    return -1;
  }
  return 0;
}

// The discount on an order, average of its accelerators.
static double discount_on(const struct tier *tiers, size_t count, double ordered, bool on_all) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double here = fmax(ordered - tiers[i].from + 1, 0);
    const double above = i + 1 < count ? fmax(ordered - tiers[i + 1].from + 1, 0) : 0;
    if (on_all && here > 0)
      sum = tiers[i].share * ordered;
    else if (!on_all)
      sum += tiers[i].share * (here - above);
  }
  return sum / fmax(ordered, 1);
}

void offer_tiers_settle(const struct offer_reader *reader) {
  struct offer *offer = reader->offer;
  struct offer_price *discount = &offer->prices[OFFER_DISCOUNT];
  if (!discount->text || !text_is_tiers(discount->text)) {
    if (offer->tier_kind)
      diagnostics_error(reader->diagnostics, offer->tier_kind_place,
                        "'tier_discount' has no effect without volume tiers in 'discount'");
    return;
  }
  size_t count;
  const struct list_value *list =
      list_split(discount->text, discount->place, &count, reader->arena);
  struct tier tiers[MAX_TIERS];
  if (count > MAX_TIERS) {
    diagnostics_error(reader->diagnostics, discount->place,
                      "'discount' has %zu volume tiers; at most %d are allowed", count, MAX_TIERS);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (read_tier(reader, &list[i], &tiers[i]))
      return;
    if (i && (tiers[i].share < tiers[i - 1].share || tiers[i].from <= tiers[i - 1].from)) {
      diagnostics_error(reader->diagnostics, list[i].place,
                        "volume tiers rise: a larger order begins later, and has no smaller "
                        "discount");
      return;
    }
  }
  discount->value = discount_on(tiers, count, offer->accelerators,
                                offer->tier_kind && !strcmp(offer->tier_kind, "all"));
}
