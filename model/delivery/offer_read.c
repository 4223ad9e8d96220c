#include "model/delivery/offer.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/short_text.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/catalog/columns.h"
#include "model/cost/list_text.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/cost/words.h"
#include "model/delivery/offer_guarantee.h"
#include "model/delivery/offer_reader.h"
#include "model/delivery/offer_tiers.h"
#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/naming.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- values

typedef void take_function(struct offer_reader *reader, const struct ini_key *key, void *out);

static void take_text(struct offer_reader *reader, const struct ini_key *key, void *out) {
  if (!*key->value)
    offer_refuse(reader, key->value_place, "a text that is not empty", key->value);
  short_text_check(key->name, key->value, key->value_place, reader->diagnostics);
  *(const char **)out = key->value;
}

static void take_day(struct offer_reader *reader, const struct ini_key *key, void *out) {
  struct date date;
  if (strlen(key->value) != strlen("2026-10-01") || !date_parse(key->value, &date))
    offer_refuse(reader, key->value_place, "a day such as 2026-10-01", key->value);
  else
    *(const char **)out = key->value;
}

static void take_currency(struct offer_reader *reader, const struct ini_key *key, void *out) {
  const int found = currency_find(key->value);
  if (found < 0)
    offer_refuse(reader, key->value_place, "a currency code such as USD", key->value);
  else
    *(const char **)out = currency_codes[found];
}

static void take_count(struct offer_reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("gpu", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (offer_is_whole(value, 1))
    *(int *)out = (int)value;
  else
    offer_refuse(reader, key->value_place, "a whole number above 0", key->value);
}

static void take_nodes(struct offer_reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("node", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (offer_is_whole(value, strcmp(key->name, "may_fail") ? 1 : 0))
    *(int *)out = (int)value;
  else
    offer_refuse(reader, key->value_place, "a whole number of nodes", key->value);
}

// Takes a time above zero, as hours.
static void take_time(struct offer_reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("yr", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (value > 0)
    *(double *)out = value;
  else
    offer_refuse(reader, key->value_place, "a time above 0", key->value);
}

// A share from zero to less than all: at 100 % nothing would be left of a promise, and no finite
// sample gives 100 % certainty.
static void take_share(struct offer_reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, &unit_percent, &value, reader->diagnostics))
    return;
  if (value >= 0 && value < 1)
    *(double *)out = value;
  else
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'%s' must be at least 0 %% and below 100 %%, not %s", key->name, key->value);
}

static void take_confidence(struct offer_reader *reader, const struct ini_key *key, void *out) {
  take_share(reader, key, out);
  if (*(double *)out < 0.5)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'confidence' below 50 %% is no better than chance, not %s", key->value);
}

static void take_limit(struct offer_reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, &unit_percent, &value, reader->diagnostics))
    return;
  if (value > 0 && value <= 1)
    *(double *)out = value;
  else
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'%s' must be above 0 %% and at most 100 %%, not %s", key->name, key->value);
}

static void take_remedy(struct offer_reader *reader, const struct ini_key *key, void *out) {
  if (strcmp(key->value, "replacement") != 0)
    take_limit(reader, key, out);
  else
    reader->offer->acceptance.replacement = true;
}

static void take_accelerator(struct offer_reader *reader, const struct ini_key *key, void *out) {
  long row;
  const struct naming naming =
      naming_find_row(reader->catalog, CATALOG_ACCELERATORS, key->value, &row, reader->arena);
  if (naming.why)
    diagnostics_error(reader->diagnostics, key->value_place, "%s", naming.why);
  if (naming.word)
    *(const char **)out = naming.word;
}

// ---- sections with a fixed set of keys

// `place`: where its place is stored, or 0.
struct term {
  const char *section, *name;
  take_function *take;
  size_t offset, place;
  bool is_needed;
};

#define TERM(section, name, take, member) section, name, take, offsetof(struct offer, member)

static const struct term terms[] = {
    {TERM("offer", "vendor", take_text, vendor), 0, true},
    {TERM("offer", "reference", take_text, reference), 0, true},
    {TERM("offer", "date", take_day, date), 0, true},
    {TERM("offer", "valid_until", take_day, valid_until), offsetof(struct offer, validity_place),
     false},
    {TERM("offer", "currency", take_currency, currency), 0, true},
    {TERM("offer", "accelerator", take_accelerator, accelerator),
     offsetof(struct offer, accelerator_place), true},
    {TERM("offer", "accelerators", take_count, accelerators), offsetof(struct offer, count_place),
     true},
    {TERM("offer", "nodes", take_nodes, nodes), offsetof(struct offer, nodes_place), false},
    {TERM("terms", "warranty", take_time, warranty_h), offsetof(struct offer, warranty_place),
     false},
    {TERM("terms", "delivery", take_day, delivery), offsetof(struct offer, delivery_place), false},
    {TERM("terms", "delay_damages", take_limit, damages[OFFER_DAMAGES]),
     offsetof(struct offer, damages_places[OFFER_DAMAGES]), false},
    {TERM("terms", "delay_damages_per", take_time, damages[OFFER_DAMAGES_PER]),
     offsetof(struct offer, damages_places[OFFER_DAMAGES_PER]), false},
    {TERM("terms", "delay_damages_limit", take_limit, damages[OFFER_DAMAGES_LIMIT]),
     offsetof(struct offer, damages_places[OFFER_DAMAGES_LIMIT]), false},
    {TERM("terms", "delay_grace", take_time, damages[OFFER_GRACE]),
     offsetof(struct offer, damages_places[OFFER_GRACE]), false},
    {TERM("acceptance", "confidence", take_confidence, acceptance.confidence), 0, false},
    {TERM("acceptance", "tolerance", take_share, acceptance.tolerance),
     offsetof(struct offer, tolerance_place), false},
    {TERM("acceptance", "node_tolerance", take_share, acceptance.node_tolerance), 0, false},
    {TERM("acceptance", "may_fail", take_nodes, acceptance.may_fail),
     offsetof(struct offer, may_fail_place), false},
    {TERM("acceptance", "remedy", take_remedy, acceptance.remedy),
     offsetof(struct offer, remedy_place), false},
    {TERM("acceptance", "remedy_limit", take_limit, acceptance.remedy_limit),
     offsetof(struct offer, limit_place), false},
    {TERM("acceptance", "replacement_time", take_time, acceptance.replacement_h), 0, false},
};

enum { TERMS = sizeof terms / sizeof terms[0] };

static void read_terms(struct offer_reader *reader, const struct ini_section *section) {
  const char *names[TERMS];
  size_t count = 0;
  for (size_t t = 0; t < TERMS; t++)
    if (!strcmp(terms[t].section, section->kind))
      names[count++] = terms[t].name;
  for (size_t k = 0; k < section->key_count; k++) {
    const struct ini_key *key = &section->keys[k];
    const struct term *found = NULL;
    for (size_t t = 0; t < TERMS; t++)
      if (!strcmp(terms[t].section, section->kind) && !strcmp(terms[t].name, key->name))
        found = &terms[t];
    if (!found) {
      offer_unknown_key(reader, section, key, names, count);
      continue;
    }
    if (found->place)
      *(struct place *)((char *)reader->offer + found->place) = key->value_place;
    found->take(reader, key, (char *)reader->offer + found->offset);
  }
}

static void check_terms(const struct offer_reader *reader) {
  for (size_t t = 0; t < TERMS; t++) {
    const struct ini_section *section = ini_section(reader->ini, terms[t].section, "");
    if (!terms[t].is_needed || (section && ini_find(section, terms[t].name)))
      continue;
    diagnostics_error(reader->diagnostics,
                      section ? section->place : (struct place){.source = reader->ini->source},
                      "an offer needs '%s' in [%s]", terms[t].name, terms[t].section);
  }
}

// ---- [price]

static bool is_another_currency(const struct offer_reader *reader, const struct ini_key *key) {
  for (int i = 0; i < CURRENCIES; i++)
    if (text_has_currency(key->value, currency_codes[i]) &&
        strcmp(currency_codes[i], reader->offer->currency) != 0) {
      diagnostics_error(reader->diagnostics, key->value_place,
                        "the offer is in %s but this is in %s: use one currency throughout",
                        reader->offer->currency, currency_codes[i]);
      return true;
    }
  return false;
}

static void take_price(struct offer_reader *reader, enum offer_line line,
                       const struct ini_key *key) {
  const struct offer_line_info *info = &offer_lines[line];
  struct offer_price *price = &reader->offer->prices[line];
  const char *said = quantity_spelled_out(key->value, reader->arena);
  const char *unit = text_in_currency(info->unit, "USD", reader->offer->currency, reader->arena);
  *price = (struct offer_price){.text = key->value, .place = key->value_place};
  if (line == OFFER_DISCOUNT && text_is_tiers(key->value))
    return; // offer_tiers_settle
  // If the offer's currency is unknown, no amount can be read, nor reported as being in another
  // currency.
  if (reader->is_unknown_currency ? line != OFFER_DISCOUNT && !strchr(key->value, '%')
                                  : is_another_currency(reader, key))
    return;
  price->is_amount = info->amount && !strchr(said, '%');
  price->is_whole = info->whole && strstr(said, offer_per_what(info->whole));
  if (price->is_amount || price->is_whole)
    unit = text_in_currency(price->is_whole ? info->whole : info->amount, "USD",
                            reader->offer->currency, reader->arena);
  if (quantity_parse(key->value, key->value_place, unit_constant(unit, reader->arena),
                     &price->value, reader->diagnostics))
    return;
  if (!strstr(said, offer_per_what(unit)))
    diagnostics_error(
        reader->diagnostics, key->value_place,
        "expected an amount with its basis (%s%s%s), not '%s'", unit, info->whole ? " or " : "",
        info->whole ? text_in_currency(info->whole, "USD", reader->offer->currency, reader->arena)
                    : "",
        key->value);
  else if (price->value < 0 || (line == OFFER_DISCOUNT && price->value >= 1))
    diagnostics_error(reader->diagnostics, key->value_place, "'%s' cannot be %s", key->name,
                      key->value);
}

// "did you mean 'delivery'?" for a duty: the line of the input that the word stands for.
static void unknown_line(const struct offer_reader *reader, const struct ini_section *section,
                         const struct ini_key *key) {
  const char *names[OFFER_LINES + MODEL_WORDS];
  for (int line = 0; line < OFFER_LINES; line++)
    names[line] = offer_lines[line].key;
  const char *nearest = words_nearest(key->name, names, OFFER_LINES), *meant = NULL;
  for (int line = 0; line < OFFER_LINES && nearest && !meant; line++)
    if (!strcmp(offer_lines[line].key, nearest) || !strcmp(offer_lines[line].input, nearest))
      meant = offer_lines[line].key;
  diagnostics_error(reader->diagnostics, key->place, "unknown key '%s' in [%s]%s", key->name,
                    section->kind, did_you_mean(meant, reader->arena));
}

static void read_prices(struct offer_reader *reader, const struct ini_section *section) {
  for (size_t k = 0; k < section->key_count; k++) {
    int line = 0;
    while (line < OFFER_LINES && strcmp(offer_lines[line].key, section->keys[k].name) != 0)
      line++;
    if (line < OFFER_LINES)
      take_price(reader, (enum offer_line)line, &section->keys[k]);
    else if (!strcmp(section->keys[k].name, "tier_discount"))
      offer_tiers_read_kind(reader, &section->keys[k]);
    else
      unknown_line(reader, section, &section->keys[k]);
  }
}

// A number of nodes that could not be read is an error by itself.
static bool lacks_nodes(const struct offer *offer) {
  return !offer->nodes && !offer->nodes_place.source;
}

static void settle_nodes(const struct offer_reader *reader) {
  struct offer *offer = reader->offer;
  const int per_node = offer_accelerators_per_node(offer);
  for (int line = 0; line < OFFER_LINES; line++) {
    struct offer_price *price = &offer->prices[line];
    if (price->text && (price->is_whole || line == OFFER_SERVERS) && lacks_nodes(offer))
      diagnostics_error(reader->diagnostics, price->place,
                        "a price per node needs 'nodes' in [offer]");
    if (price->is_whole && per_node)
      price->value /= per_node;
  }
}

static void settle_amounts(const struct offer_reader *reader) {
  struct offer *offer = reader->offer;
  const double hardware = offer_hardware(offer);
  for (int line = 0; line < OFFER_LINES; line++) {
    struct offer_price *price = &offer->prices[line];
    if (!price->text || !price->is_amount)
      continue;
    price->amount = price->value;
    if (hardware > 0)
      price->value /= hardware;
    else if (!reader->diagnostics->errors || !offer->prices[OFFER_ACCELERATORS].text)
      diagnostics_error(reader->diagnostics, price->place,
                        "an amount for '%s' is converted to a share of the hardware price, and the "
                        "offer has none",
                        offer_lines[line].key);
  }
}

// ---- the whole

static const struct {
  const char *kind;
  bool is_named;
  void (*read)(struct offer_reader *reader, const struct ini_section *section);
} sections[] = {{"offer", false, read_terms},
                {"price", false, read_prices},
                {"terms", false, read_terms},
                {"guarantee", true, offer_guarantee_read},
                {"acceptance", false, read_terms}};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

static void read_section(struct offer_reader *reader, const struct ini_section *section) {
  const char *kinds[SECTIONS];
  for (size_t s = 0; s < SECTIONS; s++) {
    kinds[s] = sections[s].kind;
    if (strcmp(kinds[s], section->kind) != 0)
      continue;
    if (sections[s].is_named != (*section->argument != 0))
      diagnostics_error(reader->diagnostics, section->place,
                        sections[s].is_named ? "[%s] needs a name: [%s NAME]"
                                             : "[%s] takes no name: write [%s]",
                        section->kind, section->kind);
    else
      sections[s].read(reader, section);
    return;
  }
  diagnostics_error(reader->diagnostics, section->place, "an offer has no section [%s]%s",
                    section->kind, name_hint(section->kind, kinds, SECTIONS, reader->arena));
}

static void note_texts(const struct offer_reader *reader) {
  struct offer *offer = reader->offer;
  size_t count = 0;
  for (size_t s = 0; s < reader->ini->section_count; s++)
    count += reader->ini->sections[s].key_count;
  offer->texts = arena_array(reader->arena, count, sizeof *offer->texts);
  for (size_t s = 0; s < reader->ini->section_count; s++) {
    const struct ini_section *section = &reader->ini->sections[s];
    for (size_t k = 0; k < section->key_count; k++)
      offer->texts[offer->text_count++] = (struct offer_text){
          arena_printf(reader->arena, "%s%s%s.%s", section->kind, *section->argument ? " " : "",
                       section->argument, section->keys[k].name),
          section->keys[k].value};
  }
}

// A limit belongs to a remedy in money, a time to a replacement.
static void check_remedy(const struct offer_reader *reader) {
  const struct offer_acceptance *said = &reader->offer->acceptance;
  const struct ini_section *section = ini_section(reader->ini, "acceptance", "");
  const struct ini_key *limit = section ? ini_find(section, "remedy_limit") : NULL;
  const struct ini_key *time = section ? ini_find(section, "replacement_time") : NULL;
  if (limit && !ini_find(section, "remedy"))
    diagnostics_error(reader->diagnostics, limit->place,
                      "'remedy_limit' limits nothing without 'remedy'");
  if (limit && said->replacement)
    diagnostics_error(reader->diagnostics, limit->place,
                      "'remedy_limit' applies to a remedy in money, and this one is a replacement");
  if (time && !said->replacement)
    diagnostics_error(reader->diagnostics, time->place,
                      "'replacement_time' needs 'remedy = replacement'");
}

// Reports limits and times of damages in an offer that has no damages.
static void check_damages(const struct offer_reader *reader) {
  const struct offer *offer = reader->offer;
  for (int term = 0; term < OFFER_DAMAGES_TERMS; term++)
    if (offer->damages_places[term].source && !offer->damages_places[OFFER_DAMAGES].source)
      diagnostics_error(reader->diagnostics, offer->damages_places[term],
                        "'%s' has no effect without '%s'", offer_damages_terms[term].key,
                        offer_damages_terms[OFFER_DAMAGES].key);
}

static void check_days(const struct offer_reader *reader) {
  const struct offer *offer = reader->offer;
  struct date first, last;
  if (!date_parse(offer->date, &first))
    return;
  if (date_parse(offer->valid_until, &last) && date_compare(last, first) < 0)
    diagnostics_error(reader->diagnostics, offer->validity_place,
                      "valid until %s, before its own date %s", offer->valid_until, offer->date);
  if (date_parse(offer->delivery, &last) && date_compare(last, first) < 0)
    diagnostics_error(reader->diagnostics, offer->delivery_place,
                      "delivery by %s, before the offer's own date %s", offer->delivery,
                      offer->date);
}

static void check_whole(const struct offer_reader *reader) {
  const struct offer *offer = reader->offer;
  if (offer->nodes && offer->accelerators % offer->nodes)
    diagnostics_error(reader->diagnostics, offer->nodes_place,
                      "%d accelerators cannot be divided equally among %d nodes",
                      offer->accelerators, offer->nodes);
  if (offer->per_node && lacks_nodes(offer))
    diagnostics_error(reader->diagnostics, offer->guarantees[0].tokens_place,
                      "a rate per node needs 'nodes' in [offer]");
  if (offer->nodes && offer->acceptance.may_fail >= offer->nodes)
    diagnostics_error(reader->diagnostics, offer->may_fail_place,
                      "'may_fail' must be fewer than the %d nodes", offer->nodes);
}

bool offer_is_one(const char *path, struct arena *arena) {
  struct diagnostics quiet = {.arena = arena};
  const struct source *source = source_read(path, arena, &quiet);
  const struct ini *ini = source ? ini_read(source, arena, &quiet) : NULL;
  bool has_option = false;
  for (size_t s = 0; ini && s < ini->section_count; s++)
    has_option |= !strcmp(ini->sections[s].kind, "option");
  return ini && !has_option && ini_section(ini, "offer", "");
}

const struct offer *offer_read(const char *path, struct catalog *catalog, struct arena *arena,
                               struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct source *source = source_read(path, arena, diagnostics);
  const struct ini *ini = source ? ini_read(source, arena, diagnostics) : NULL;
  struct offer *offer = arena_alloc(arena, sizeof *offer);
  struct offer_reader reader = {offer, ini, catalog, NULL, false, arena, diagnostics};
  if (!ini)
    return NULL;
  *offer = (struct offer){.source = source,
                          .vendor = "",
                          .reference = "",
                          .currency = "USD",
                          .date = "",
                          .valid_until = "",
                          .accelerator = "",
                          .delivery = "",
                          .warranty_h = NAN,
                          .damages = {NAN, NAN, NAN, NAN},
                          .acceptance = {NAN, NAN, NAN, -1, NAN, NAN, false, NAN}};
  offer->guarantees = arena_array(arena, ini->section_count, sizeof *offer->guarantees);
  const struct ini_section *head = ini_section(ini, "offer", "");
  const struct ini_key *currency = head ? ini_find(head, "currency") : NULL;
  const int known = currency ? currency_find(currency->value) : -1;
  reader.is_unknown_currency = currency && known < 0;
  if (known >= 0)
    offer->currency = currency_codes[known];
  const struct ini_section *option = NULL;
  for (size_t s = 0; s < ini->section_count && !option; s++)
    option = strcmp(ini->sections[s].kind, "option") ? NULL : &ini->sections[s];
  if (option && !head) {
    diagnostics_error(diagnostics, option->place,
                      "this is a scenario: give the offer that its option quotes");
    return NULL;
  }
  for (size_t s = 0; s < ini->section_count; s++)
    read_section(&reader, &ini->sections[s]);
  offer->per_node = reader.first_basis && !strcmp(reader.first_basis, "/node");
  check_terms(&reader);
  settle_nodes(&reader);
  offer_tiers_settle(&reader);
  settle_amounts(&reader);
  check_whole(&reader);
  offer_guarantee_check_rates(&reader);
  check_days(&reader);
  check_remedy(&reader);
  check_damages(&reader);
  note_texts(&reader);
  return diagnostics->errors == errors ? offer : NULL;
}
