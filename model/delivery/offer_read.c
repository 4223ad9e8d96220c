#include "model/delivery/offer.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/short_text.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

struct reader {
  struct offer *offer;
  const struct ini *ini;
  struct catalog *catalog;
  const char *first_basis; // the unit of the first guaranteed rate: "/gpu" or "/node"; NULL: none
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static void refuse(const struct reader *reader, struct place place, const char *what,
                   const char *text) {
  diagnostics_error(reader->diagnostics, place, "expected %s, not '%s'", what, text);
}

// ---- values

typedef void take_function(struct reader *reader, const struct ini_key *key, void *out);

static void take_text(struct reader *reader, const struct ini_key *key, void *out) {
  if (!*key->value)
    refuse(reader, key->value_place, "some words", key->value);
  short_text_check(key->name, key->value, key->value_place, reader->diagnostics);
  *(const char **)out = key->value;
}

static void take_day(struct reader *reader, const struct ini_key *key, void *out) {
  struct date date;
  if (strlen(key->value) != strlen("2026-10-01") || !date_parse(key->value, &date))
    refuse(reader, key->value_place, "a day such as 2026-10-01", key->value);
  else
    *(const char **)out = key->value;
}

static void take_currency(struct reader *reader, const struct ini_key *key, void *out) {
  if (currency_find(key->value) < 0)
    refuse(reader, key->value_place, "the code of a currency, such as USD", key->value);
  else
    *(const char **)out = key->value;
}

static bool is_whole(double value, double least) {
  return value >= least && value <= INT_MAX && value == floor(value);
}

static void take_count(struct reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("gpu", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (is_whole(value, 1))
    *(int *)out = (int)value;
  else
    refuse(reader, key->value_place, "a whole number above 0", key->value);
}

static void take_nodes(struct reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("node", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (is_whole(value, strcmp(key->name, "may_fail") ? 1 : 0))
    *(int *)out = (int)value;
  else
    refuse(reader, key->value_place, "a whole number of nodes", key->value);
}

static void take_years(struct reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant("yr", reader->arena), &value,
                     reader->diagnostics))
    return;
  if (value > 0)
    *(double *)out = value;
  else
    refuse(reader, key->value_place, "a time above 0", key->value);
}

// A share of at least nothing and less than all: of no promise is anything left at 100 %, and no
// finite sample makes anyone 100 % sure.
static void take_share(struct reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, &unit_percent, &value, reader->diagnostics))
    return;
  if (value >= 0 && value < 1)
    *(double *)out = value;
  else
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'%s' must be at least 0 %% and below 100 %%, not %s", key->name, key->value);
}

static void take_confidence(struct reader *reader, const struct ini_key *key, void *out) {
  take_share(reader, key, out);
  if (*(double *)out < 0.5)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'confidence' below 50 %% decides less than a coin does, not %s", key->value);
}

static void take_limit(struct reader *reader, const struct ini_key *key, void *out) {
  double value;
  if (quantity_parse(key->value, key->value_place, &unit_percent, &value, reader->diagnostics))
    return;
  if (value > 0 && value <= 1)
    *(double *)out = value;
  else
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'%s' must be above 0 %% and at most 100 %%, not %s", key->name, key->value);
}

static void take_remedy(struct reader *reader, const struct ini_key *key, void *out) {
  if (strcmp(key->value, "replacement") != 0)
    take_limit(reader, key, out);
  else
    reader->offer->acceptance.replacement = true;
}

static void take_accelerator(struct reader *reader, const struct ini_key *key, void *out) {
  long row;
  const struct naming naming =
      naming_find_row(reader->catalog, CATALOG_ACCELERATORS, key->value, &row, reader->arena);
  if (naming.why)
    diagnostics_error(reader->diagnostics, key->value_place, "%s", naming.why);
  if (naming.word)
    *(const char **)out = naming.word;
}

// ---- sections whose keys are known beforehand

// `place`: where its place goes, or 0.
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
    {TERM("terms", "warranty", take_years, warranty_h), offsetof(struct offer, warranty_place),
     false},
    {TERM("terms", "delivery", take_day, delivery), 0, false},
    {TERM("acceptance", "confidence", take_confidence, acceptance.confidence), 0, false},
    {TERM("acceptance", "tolerance", take_share, acceptance.tolerance), 0, false},
    {TERM("acceptance", "node_tolerance", take_share, acceptance.node_tolerance), 0, false},
    {TERM("acceptance", "may_fail", take_nodes, acceptance.may_fail), 0, false},
    {TERM("acceptance", "remedy", take_remedy, acceptance.remedy), 0, false},
    {TERM("acceptance", "remedy_limit", take_limit, acceptance.remedy_limit), 0, false},
};

enum { TERMS = sizeof terms / sizeof terms[0] };

static void unknown_key(const struct reader *reader, const struct ini_section *section,
                        const struct ini_key *key, const char *const *names, size_t count) {
  diagnostics_error(reader->diagnostics, key->place, "unknown key '%s' in [%s]%s", key->name,
                    section->kind,
                    did_you_mean(nearest_name(key->name, names, count), reader->arena));
}

static void read_terms(struct reader *reader, const struct ini_section *section) {
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
      unknown_key(reader, section, key, names, count);
      continue;
    }
    if (found->place)
      *(struct place *)((char *)reader->offer + found->place) = key->value_place;
    found->take(reader, key, (char *)reader->offer + found->offset);
  }
}

static void check_terms(const struct reader *reader) {
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

// Per gpu, per node: a bare "27500 USD" could be of one, of a server or of all.
static const char *per_what(const char *unit) {
  return strstr(unit, "/gpu") ? "/gpu" : strstr(unit, "/node") ? "/node" : "";
}

static bool is_another_currency(const struct reader *reader, const struct ini_key *key) {
  for (int i = 0; i < CURRENCIES; i++)
    if (text_has_currency(key->value, currency_codes[i]) &&
        strcmp(currency_codes[i], reader->offer->currency) != 0) {
      diagnostics_error(reader->diagnostics, key->value_place,
                        "the offer is in %s, and this is in %s: give all of it in one currency",
                        reader->offer->currency, currency_codes[i]);
      return true;
    }
  return false;
}

static void take_price(struct reader *reader, enum offer_line line, const struct ini_key *key) {
  const struct offer_line_info *info = &offer_lines[line];
  struct offer_price *price = &reader->offer->prices[line];
  const char *unit = text_in_currency(info->unit, "USD", reader->offer->currency, reader->arena);
  *price = (struct offer_price){.text = key->value, .place = key->value_place};
  if (is_another_currency(reader, key))
    return;
  price->is_amount = info->amount && !strchr(key->value, '%') && !strstr(key->value, "percent");
  if (price->is_amount)
    unit = text_in_currency(info->amount, "USD", reader->offer->currency, reader->arena);
  if (quantity_parse(key->value, key->value_place, unit_constant(unit, reader->arena),
                     &price->value, reader->diagnostics))
    return;
  if (!strstr(key->value, per_what(unit)))
    diagnostics_error(reader->diagnostics, key->value_place,
                      "expected %s, which says per what, not '%s'", unit, key->value);
  else if (price->value < 0 || (line == OFFER_DISCOUNT && price->value >= 1))
    diagnostics_error(reader->diagnostics, key->value_place, "'%s' cannot be %s", key->name,
                      key->value);
}

static void read_prices(struct reader *reader, const struct ini_section *section) {
  const char *names[OFFER_LINES];
  for (int line = 0; line < OFFER_LINES; line++)
    names[line] = offer_lines[line].key;
  for (size_t k = 0; k < section->key_count; k++) {
    int line = 0;
    while (line < OFFER_LINES && strcmp(names[line], section->keys[k].name) != 0)
      line++;
    if (line < OFFER_LINES)
      take_price(reader, (enum offer_line)line, &section->keys[k]);
    else
      unknown_key(reader, section, &section->keys[k], names, OFFER_LINES);
  }
}

static double value_of(const struct offer *offer, enum offer_line line) {
  return offer->prices[line].text ? offer->prices[line].value : 0;
}

// What hardware_cost of the cost model is for what is offered, without spares.
static double hardware_of(const struct offer *offer) {
  return offer->accelerators * value_of(offer, OFFER_ACCELERATORS) *
             (1 - value_of(offer, OFFER_DISCOUNT)) +
         offer->nodes * value_of(offer, OFFER_SERVERS) +
         offer->accelerators * value_of(offer, OFFER_NETWORK);
}

static void settle_amounts(const struct reader *reader) {
  struct offer *offer = reader->offer;
  const double hardware = hardware_of(offer);
  if (offer->prices[OFFER_SERVERS].text && !offer->nodes)
    diagnostics_error(reader->diagnostics, offer->prices[OFFER_SERVERS].place,
                      "a price per node needs 'nodes' in [offer]");
  for (int line = 0; line < OFFER_LINES; line++) {
    struct offer_price *price = &offer->prices[line];
    if (!price->text || !price->is_amount)
      continue;
    if (hardware > 0)
      price->value /= hardware;
    else
      diagnostics_error(reader->diagnostics, price->place,
                        "a sum for '%s' becomes a share of the hardware, and the offer has no "
                        "price for any",
                        offer_lines[line].key);
  }
}

// ---- [guarantee NAME]

static const char *const rate_names[] = {"tokens_per_s", "power"};
static const char *const rate_units[] = {"token/s", "W"};

static void take_rate(struct reader *reader, int which, const struct ini_key *key, double *out) {
  const char *per = per_what(key->value);
  const char *unit = arena_printf(reader->arena, "%s%s", rate_units[which], *per ? per : "/gpu");
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant(unit, reader->arena), &value,
                     reader->diagnostics))
    return;
  *out = which ? value : rate_per_second(value);
  if (!(value > 0))
    diagnostics_error(reader->diagnostics, key->value_place, "'%s' must be above 0, not %s",
                      key->name, key->value);
  else if (!*per)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "say per what: %s/gpu or %s/node, not '%s'", rate_units[which],
                      rate_units[which], key->value);
  else if (reader->first_basis && strcmp(reader->first_basis, per) != 0)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "a rate per %s beside one per %s: guarantee all per gpu or all per node",
                      per + 1, reader->first_basis + 1);
  reader->first_basis = reader->first_basis ? reader->first_basis : *per ? per : NULL;
}

static void take_naming(const struct reader *reader, const struct ini_key *key,
                        struct naming naming, const char **out) {
  if (naming.why)
    diagnostics_error(reader->diagnostics, key->value_place, "%s", naming.why);
  if (naming.word)
    *out = naming.word;
}

static void take_workload(struct reader *reader, enum workload_key which, const struct ini_key *key,
                          struct workload *workload) {
  const char **out = &workload->values[which];
  long row;
  workload->places[which] = key->value_place;
  if (which == WORKLOAD_MODEL)
    take_naming(reader, key,
                naming_find_row(reader->catalog, CATALOG_MODELS, key->value, &row, reader->arena),
                out);
  else if (which == WORKLOAD_PRECISION || which == WORKLOAD_ACTIVATIONS || which == WORKLOAD_KV)
    take_naming(reader, key, naming_find_precision(reader->catalog, key->value, reader->arena),
                out);
  else if (which == WORKLOAD_BASIS && strcmp(key->value, "decode") != 0 &&
           strcmp(key->value, "serving") != 0)
    refuse(reader, key->value_place, "decode or serving", key->value);
  else if ((which == WORKLOAD_BATCH || which == WORKLOAD_CONTEXT) &&
           (strspn(key->value, "0123456789") != strlen(key->value) || strlen(key->value) > 9 ||
            !strspn(key->value, "123456789")))
    refuse(reader, key->value_place, "a positive whole number", key->value);
  else
    *out = key->value;
}

// Of [workload] those that make a rate another one; rates and times per user are no part of a guarantee.
static const enum workload_key workload_keys[] = {
    WORKLOAD_MODEL,    WORKLOAD_PRECISION, WORKLOAD_ACTIVATIONS, WORKLOAD_KV,     WORKLOAD_BASIS,
    WORKLOAD_SCENARIO, WORKLOAD_TOKENS,    WORKLOAD_BATCH,       WORKLOAD_CONTEXT};

enum { WORKLOADS = sizeof workload_keys / sizeof workload_keys[0], RATES = 2 };

static void take_guaranteed(struct reader *reader, const struct ini_section *section,
                            const struct ini_key *key, struct offer_guarantee *guarantee) {
  const char *names[WORKLOADS + RATES];
  double *const rates[RATES] = {&guarantee->tokens_per_s, &guarantee->power_w};
  for (int r = 0; r < RATES; r++) {
    names[WORKLOADS + r] = rate_names[r];
    if (!strcmp(key->name, rate_names[r])) {
      *(r ? &guarantee->power_place : &guarantee->tokens_place) = key->value_place;
      take_rate(reader, r, key, rates[r]);
      return;
    }
  }
  for (int k = 0; k < WORKLOADS; k++) {
    names[k] = workload_key_names[workload_keys[k]];
    if (!strcmp(key->name, names[k])) {
      take_workload(reader, workload_keys[k], key, &guarantee->workload);
      return;
    }
  }
  unknown_key(reader, section, key, names, WORKLOADS + RATES);
}

static void read_guarantee(struct reader *reader, const struct ini_section *section) {
  static const char *const needed[] = {"model", "precision", "basis", "tokens_per_s"};
  struct offer_guarantee *guarantee = &reader->offer->guarantees[reader->offer->guarantee_count++];
  *guarantee = (struct offer_guarantee){
      .name = section->argument, .place = section->place, .tokens_per_s = NAN, .power_w = NAN};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    guarantee->workload.values[key] = "";
  for (size_t k = 0; k < section->key_count; k++)
    take_guaranteed(reader, section, &section->keys[k], guarantee);
  if (!*guarantee->workload.values[WORKLOAD_TOKENS])
    guarantee->workload.values[WORKLOAD_TOKENS] = "output";
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (!ini_find(section, needed[i]))
      diagnostics_error(reader->diagnostics, section->place, "a guarantee needs '%s'", needed[i]);
}

// ---- the whole

static const struct {
  const char *kind;
  bool is_named;
  void (*read)(struct reader *reader, const struct ini_section *section);
} sections[] = {{"offer", false, read_terms},
                {"price", false, read_prices},
                {"terms", false, read_terms},
                {"guarantee", true, read_guarantee},
                {"acceptance", false, read_terms}};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

static void read_section(struct reader *reader, const struct ini_section *section) {
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
                    section->kind,
                    did_you_mean(nearest_name(section->kind, kinds, SECTIONS), reader->arena));
}

static void note_texts(const struct reader *reader) {
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

static void check_whole(const struct reader *reader) {
  const struct offer *offer = reader->offer;
  struct date first, last;
  if (offer->nodes && offer->accelerators % offer->nodes)
    diagnostics_error(reader->diagnostics, offer->nodes_place,
                      "%d accelerators are no whole number for each of %d nodes",
                      offer->accelerators, offer->nodes);
  if (offer->per_node && !offer->nodes)
    diagnostics_error(reader->diagnostics, offer->guarantees[0].tokens_place,
                      "a rate per node needs 'nodes' in [offer]");
  if (date_parse(offer->date, &first) && date_parse(offer->valid_until, &last) &&
      date_compare(last, first) < 0)
    diagnostics_error(reader->diagnostics, offer->validity_place,
                      "valid until %s, before its own date %s", offer->valid_until, offer->date);
  if (offer->nodes && offer->acceptance.may_fail >= offer->nodes)
    diagnostics_error(reader->diagnostics, (struct place){.source = offer->source},
                      "'may_fail' must be fewer than the %d nodes", offer->nodes);
}

const struct offer *offer_read(const char *path, struct catalog *catalog, struct arena *arena,
                               struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct source *source = source_read(path, arena, diagnostics);
  const struct ini *ini = source ? ini_read(source, arena, diagnostics) : NULL;
  struct offer *offer = arena_alloc(arena, sizeof *offer);
  struct reader reader = {offer, ini, catalog, NULL, arena, diagnostics};
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
                          .acceptance = {NAN, NAN, NAN, -1, NAN, NAN, false}};
  offer->guarantees = arena_array(arena, ini->section_count, sizeof *offer->guarantees);
  const struct ini_section *head = ini_section(ini, "offer", "");
  const struct ini_key *currency = head ? ini_find(head, "currency") : NULL;
  if (currency && currency_find(currency->value) >= 0)
    offer->currency = currency->value;
  for (size_t s = 0; s < ini->section_count; s++)
    read_section(&reader, &ini->sections[s]);
  offer->per_node = reader.first_basis && !strcmp(reader.first_basis, "/node");
  check_terms(&reader);
  settle_amounts(&reader);
  check_whole(&reader);
  note_texts(&reader);
  return diagnostics->errors == errors ? offer : NULL;
}
