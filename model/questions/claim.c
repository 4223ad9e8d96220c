#include "model/questions/claim.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/questions/claim_concurrency.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/scenario.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct claim_reader {
  const struct scenario *scenario;
  struct claim *claim;
  const struct ini_key *key; // being read
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static const char with[] = "with.";

// The place of `at`, which points into the key's value.
static struct place place_of(const struct claim_reader *reader, const char *at) {
  struct place place = reader->key->value_place;
  place.column += (int)(at - reader->key->value);
  return place;
}

// The first `word` between `start` and `end`, or NULL.
static const char *find_word(const char *start, const char *end, const char *word) {
  const char *found = strstr(start, word);
  return found && found < end ? found : NULL;
}

// The words from `start` to `end` without surrounding blanks, and where they begin.
static const char *trimmed(const struct claim_reader *reader, const char *start, const char *end,
                           const char **begin) {
  while (start < end && *start == ' ')
    start++;
  while (end > start && end[-1] == ' ')
    end--;
  if (begin)
    *begin = start;
  return arena_copy_n(reader->arena, start, (size_t)(end - start));
}

// ---- quantities

static int find_item(const struct claim_reader *reader, const char *name, const char *at) {
  const struct model *model = reader->scenario->model;
  const int d = model_find(model, name);
  if (d < 0) {
    const char *nearest = model_nearest(model, name, false, reader->arena);
    diagnostics_error(reader->diagnostics, place_of(reader, at), "unknown line item '%s'%s", name,
                      did_you_mean(nearest, reader->arena));
    return -1;
  }
  if (!declaration_is_series(&model->declarations[d]))
    return d;
  diagnostics_error(reader->diagnostics, place_of(reader, at),
                    "'%s' is an amount per period: state the claim for a total", name);
  return -1;
}

static int find_option(const struct claim_reader *reader, const char *id, const char *at,
                       size_t *option) {
  return option_named(reader->scenario, id, place_of(reader, at), option, reader->diagnostics);
}

static bool add_term(const struct claim_reader *reader, size_t option, int declaration, bool below,
                     const char *at) {
  struct claim_quantity *quantity = &reader->claim->quantity;
  const struct option *of = &reader->scenario->options[option];
  if (quantity->term_count == MAX_CLAIM_TERMS) {
    diagnostics_error(reader->diagnostics, place_of(reader, at), "more than %d factors",
                      MAX_CLAIM_TERMS);
    return false;
  }
  if (!option_has(of, declaration)) {
    diagnostics_error(reader->diagnostics, place_of(reader, at), "option '%s' has no '%s'", of->id,
                      reader->scenario->model->declarations[declaration].name);
    return false;
  }
  quantity->terms[quantity->term_count++] =
      (struct claim_term){.option = option, .declaration = declaration, .below = below};
  return true;
}

// Adds OPTION.concurrency and the like. Returns false if `name` is something else.
static bool add_concurrency(const struct claim_reader *reader, size_t option, const char *name,
                            bool below, const char *at, bool *added) {
  struct claim_quantity *quantity = &reader->claim->quantity;
  int room = 0;
  while (room < ROOM_KINDS && strcmp(name, claim_room_names[room]) != 0)
    room++;
  if (room == ROOM_KINDS || quantity->term_count == MAX_CLAIM_TERMS)
    return false;
  struct claim_term *term = &quantity->terms[quantity->term_count];
  *term = (struct claim_term){.option = option, .declaration = -1, .below = below};
  *added = !claim_concurrency(reader->scenario, option, (enum claim_room)room, place_of(reader, at),
                              &term->constant, reader->diagnostics);
  quantity->term_count += *added;
  return true;
}

static const char *after(const char *text, const char *word) {
  const size_t length = strlen(word);
  return strncmp(text, word, length) == 0 ? text + length : NULL;
}

// "saving of A over B [in ITEM]"
static bool read_saving(const struct claim_reader *reader, const char *rest, const char *end) {
  struct claim_quantity *quantity = &reader->claim->quantity;
  const char *over = find_word(rest, end, " over ");
  const char *in = over ? find_word(over + 6, end, " in ") : NULL;
  const char *at_a, *at_b, *at_item = rest;
  size_t a, b;
  quantity->saving = true;
  if (!over) {
    diagnostics_error(reader->diagnostics, place_of(reader, rest),
                      "expected 'saving of OPTION over OPTION', not '%s'", quantity->text);
    return false;
  }
  const char *first = trimmed(reader, rest, over, &at_a);
  const char *second = trimmed(reader, over + 6, in ? in : end, &at_b);
  const char *item = in ? trimmed(reader, in + 4, end, &at_item) : "cost_per_mtok";
  const int found = find_option(reader, first, at_a, &a) | find_option(reader, second, at_b, &b);
  const int declaration = find_item(reader, item, at_item);
  return !found && declaration >= 0 && add_term(reader, a, declaration, false, at_a) &&
         add_term(reader, b, declaration, true, at_b);
}

static bool read_term(const struct claim_reader *reader, const char *start, const char *end,
                      bool below) {
  const char *at;
  const char *term = trimmed(reader, start, end, &at), *dot = strchr(term, '.');
  size_t option;
  if (!dot) {
    diagnostics_error(reader->diagnostics, place_of(reader, at), "expected OPTION.ITEM, not '%s'",
                      term);
    return false;
  }
  if (find_option(reader, arena_copy_n(reader->arena, term, (size_t)(dot - term)), at, &option))
    return false;
  bool added;
  if (add_concurrency(reader, option, dot + 1, below, at, &added))
    return added;
  const int declaration = find_item(reader, dot + 1, at + (dot + 1 - term));
  return declaration >= 0 && add_term(reader, option, declaration, below, at);
}

static bool read_product(const struct claim_reader *reader, const char *start, const char *end) {
  bool below = false;
  for (;;) {
    const char *sign = start + strcspn(start, "*/");
    const bool last = sign >= end;
    if (!read_term(reader, start, last ? end : sign, below))
      return false;
    if (last)
      return true;
    below = *sign == '/';
    start = sign + 1;
  }
}

static const struct unit *unit_named(const struct claim_reader *reader, const char *text) {
  struct unit *unit = arena_alloc(reader->arena, sizeof *unit);
  return unit_parse(text, nowhere, unit, reader->arena, reader->diagnostics) ? NULL : unit;
}

static const struct unit *unit_of_terms(const struct claim_reader *reader) {
  const struct claim_quantity *quantity = &reader->claim->quantity;
  const struct declaration *declarations = reader->scenario->model->declarations;
  struct unit *unit = arena_alloc(reader->arena, sizeof *unit);
  if (quantity->saving)
    return unit_named(reader, "%");
  if (quantity->term_count == 1 && quantity->terms[0].declaration >= 0)
    return &declarations[quantity->terms[0].declaration].unit;
  for (int i = 0; i < quantity->term_count; i++) {
    const struct claim_term *term = &quantity->terms[i];
    if (term->declaration >= 0)
      unit->dimension = dimension_multiply(
          unit->dimension, declarations[term->declaration].unit.dimension, term->below ? -1 : 1);
  }
  if (dimension_is_one(unit->dimension))
    return unit_named(reader, "-");
  unit->text = dimension_text(unit->dimension, reader->arena);
  return unit;
}

static bool read_quantity(const struct claim_reader *reader, const char *start, const char *end) {
  struct claim_quantity *quantity = &reader->claim->quantity;
  const char *at;
  quantity->text = trimmed(reader, start, end, &at);
  const char *rest = after(at, "saving of ");
  if (rest ? !read_saving(reader, rest, end) : !read_product(reader, at, end))
    return false;
  quantity->unit = unit_of_terms(reader);
  return quantity->unit;
}

// ---- the claimed value

static bool is_percent(const char *value) {
  const size_t length = strlen(value);
  return length && value[length - 1] == '%';
}

// A plain number may be claimed in %.
static const struct unit *unit_for(const struct claim_reader *reader, const char *value) {
  const struct unit *unit = reader->claim->quantity.unit;
  return dimension_is_one(unit->dimension) && is_percent(value) ? unit_named(reader, "%") : unit;
}

// Claims are shown in the unit in which they were made.
static bool read_in_unit(const struct claim_reader *reader, const char *text, const char *value) {
  struct unit *typed = arena_alloc(reader->arena, sizeof *typed);
  if (quantity_parse_typed(value, place_of(reader, text), unit_for(reader, value),
                           &reader->claim->value, typed, reader->diagnostics))
    return false;
  reader->claim->quantity.unit = typed;
  return true;
}

static bool read_tolerance(const struct claim_reader *reader, const char *value,
                           const char *tolerance, double *width) {
  struct claim *claim = reader->claim;
  const bool relative = is_percent(tolerance) && !is_percent(value);
  const struct unit *unit = relative ? unit_named(reader, "%") : claim->quantity.unit;
  if (quantity_parse(tolerance, place_of(reader, tolerance), unit, width, reader->diagnostics))
    return false;
  if (*width < 0) {
    diagnostics_error(reader->diagnostics, reader->key->value_place,
                      "the tolerance '%s' is below zero", tolerance);
    return false;
  }
  *width *= relative ? fabs(claim->value) : 1;
  return true;
}

// Reads VALUE +- TOLERANCE.
static bool read_equal(const struct claim_reader *reader, const char *text, const char *sign,
                       size_t sign_length) {
  struct claim *claim = reader->claim;
  const char *value = trimmed(reader, text, sign, NULL);
  const char *tolerance = sign + sign_length;
  tolerance += strspn(tolerance, " ");
  double width;
  if (!read_in_unit(reader, text, value) || !read_tolerance(reader, value, tolerance, &width))
    return false;
  claim->low = claim->value - width;
  claim->high = claim->value + width;
  return true;
}

static bool read_value(const struct claim_reader *reader, const char *text) {
  struct claim *claim = reader->claim;
  const char *plus = strstr(text, "+-"), *sign = strstr(text, "\xc2\xb1");
  if (claim->relation == CLAIM_EQUALS && (plus || sign))
    return read_equal(reader, text, plus ? plus : sign, 2);
  if (claim->relation == CLAIM_EQUALS && strstr(text, "..")) {
    claim->relation = CLAIM_WITHIN;
    if (!bounds_parse(text, place_of(reader, text), unit_for(reader, text), &claim->low,
                      &claim->high, reader->diagnostics))
      return false;
    const char *high = strstr(text, "..") + 2 + strspn(strstr(text, "..") + 2, " ");
    if (!read_in_unit(reader, high, high))
      return false;
    claim->value = (claim->low + claim->high) / 2;
    return true;
  }
  if (claim->relation == CLAIM_EQUALS) {
    diagnostics_error(reader->diagnostics, place_of(reader, text),
                      "'%s' needs a tolerance, as in '31 %% +- 0.5 %%'", text);
    return false;
  }
  if (!read_in_unit(reader, text, text))
    return false;
  claim->low = claim->relation == CLAIM_AT_LEAST ? claim->value : -INFINITY;
  claim->high = claim->relation == CLAIM_AT_MOST ? claim->value : INFINITY;
  return true;
}

static const char *find_relation(const char *text, enum claim_relation *relation, size_t *length) {
  static const struct {
    const char *sign;
    enum claim_relation relation;
  } signs[] = {{">=", CLAIM_AT_LEAST}, {"<=", CLAIM_AT_MOST}, {"=", CLAIM_EQUALS}};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
    const char *found = strstr(text, signs[i].sign);
    if (!found)
      continue;
    *relation = signs[i].relation;
    *length = strlen(signs[i].sign);
    return found;
  }
  return NULL;
}

// An amount claimed in USD, in a report in another currency, is converted at the exchange rate of
// the quantity's first option.
static bool bring_to_usd(const struct claim_reader *reader, const char *text) {
  struct claim_quantity *quantity = &reader->claim->quantity;
  const struct model *model = reader->scenario->model;
  const int rate = model_find(model, "exchange_rate");
  const bool foreign = strcmp(model->currency, "USD") != 0;
  const int currency = currency_find(model->currency);
  const int power = foreign ? quantity->unit->dimension.power[currency] : 0;
  if (abs(power) != 1 || dimension_money(quantity->unit->dimension) != power ||
      !text_has_currency(text, "USD"))
    return true;
  if (rate < 0 || !add_term(reader, quantity->terms[0].option, rate, power < 0, text))
    return false;
  struct unit *unit = arena_alloc(reader->arena, sizeof *unit);
  *unit = *quantity->unit;
  unit->text = text_in_currency(unit->text, model->currency, "USD", reader->arena);
  unit->dimension.power[currency] = 0;
  unit->dimension.power[BASE_USD] = (signed char)power;
  quantity->unit = unit;
  return true;
}

bool claim_can_count(double value) {
  return value == 0 || (fabs(value) <= MAX_CLAIM && fabs(value) >= 1 / MAX_CLAIM);
}

static bool check_numbers(const struct claim_reader *reader, const char *text) {
  const struct claim *claim = reader->claim;
  if (claim_can_count(claim->value) && (isinf(claim->low) || claim_can_count(claim->low)) &&
      (isinf(claim->high) || claim_can_count(claim->high)))
    return true;
  diagnostics_error(reader->diagnostics, place_of(reader, text),
                    "'%s' cannot be searched for: the search covers %.0e to %.0e", text,
                    1 / MAX_CLAIM, MAX_CLAIM);
  return false;
}

static bool read_says(const struct claim_reader *reader) {
  struct claim *claim = reader->claim;
  size_t length = 0;
  const char *text = reader->key->value, *sign = find_relation(text, &claim->relation, &length);
  claim->text = text;
  if (!sign) {
    diagnostics_error(reader->diagnostics, reader->key->value_place,
                      "expected QUANTITY = VALUE +- TOLERANCE, = LOW .. HIGH, >= VALUE or <= "
                      "VALUE, not '%s'",
                      text);
    return false;
  }
  const char *value = sign + length;
  if (!read_quantity(reader, text, sign) || !bring_to_usd(reader, value) ||
      !read_value(reader, value + strspn(value, " ")) ||
      !check_numbers(reader, value + strspn(value, " ")))
    return false;
  claim->scale = claim->quantity.saving || claim->value == 0 ? 1 : fabs(claim->value);
  return true;
}

static bool read_shows(const struct claim_reader *reader) {
  struct claim *claim = reader->claim;
  const char *text = reader->key->value;
  claim->text = text;
  claim->relation = CLAIM_SHOWS;
  claim->low = -INFINITY;
  claim->high = INFINITY;
  claim->scale = 1;
  return read_quantity(reader, text, text + strlen(text));
}

// ---- conditions

int claim_free(const struct scenario *scenario, size_t option, int declaration) {
  int found = -1;
  for (size_t i = 0; i < scenario->free_count; i++) {
    const struct free_quantity *quantity = &scenario->frees[i];
    const struct target target = {quantity->declaration, quantity->option};
    if (quantity->declaration != declaration || !target_moves(scenario, target, option))
      continue;
    const struct figure *figure =
        option_figure(scenario, &scenario->options[option], scenario->selected, declaration);
    if (!figure_is_what_if(figure) && (found < 0 || quantity->option >= 0))
      found = (int)i;
  }
  return found;
}

static bool check_limits(const struct claim_reader *reader,
                         const struct claim_condition *condition) {
  const struct scenario *scenario = reader->scenario;
  const struct limits limits = target_limits(scenario, condition->target);
  if (!condition->times && (condition->value < limits.low || condition->value > limits.high)) {
    diagnostics_error(reader->diagnostics, reader->key->value_place,
                      "'%s' is outside the allowed range of '%s'", condition->text,
                      condition->name);
    return false;
  }
  for (size_t o = 0; o < scenario->option_count; o++) {
    const int number = target_moves(scenario, condition->target, o)
                           ? claim_free(scenario, o, condition->target.declaration)
                           : -1;
    if (number < 0 || condition->times)
      continue;
    const struct free_quantity *quantity = &scenario->frees[number];
    if (condition->value >= quantity->low && condition->value <= quantity->high)
      continue;
    diagnostics_error(reader->diagnostics, reader->key->value_place,
                      "the condition '%s = %s' contradicts the free range in line %d",
                      condition->name, condition->text, quantity->place.line);
    return false;
  }
  return true;
}

static bool check_others(const struct claim_reader *reader,
                         const struct claim_condition *condition) {
  const struct scenario *scenario = reader->scenario;
  for (int i = 0; i < reader->claim->condition_count; i++) {
    const struct claim_condition *other = &reader->claim->conditions[i];
    if (other->target.declaration != condition->target.declaration)
      continue;
    for (size_t o = 0; o < scenario->option_count; o++) {
      if (!target_moves(scenario, other->target, o) ||
          !target_moves(scenario, condition->target, o) ||
          (other->value == condition->value && other->times == condition->times))
        continue;
      diagnostics_error(reader->diagnostics, reader->key->place,
                        "this condition contradicts 'with.%s = %s' in line %d: both apply to '%s'",
                        other->name, other->text, other->place.line, scenario->options[o].id);
      return false;
    }
  }
  return true;
}

// An input that has no effect without another one: engineers must cost something.
static bool check_companion(const struct claim_reader *reader,
                            const struct claim_condition *condition) {
  const struct scenario *scenario = reader->scenario;
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++) {
    if (model->declarations[d].kind != DECLARATION_INPUT ||
        model->declarations[d].needed_with != condition->target.declaration ||
        condition->value <= 0)
      continue;
    for (size_t o = 0; o < scenario->option_count; o++) {
      if (!target_moves(scenario, condition->target, o) ||
          option_figure(scenario, &scenario->options[o], scenario->selected, d)->origin !=
              ORIGIN_DEFAULT)
        continue;
      diagnostics_error(reader->diagnostics, reader->key->place,
                        "'%s' has no meaning without '%s' (%s): give it in [common]",
                        condition->name, model->declarations[d].name,
                        model->declarations[d].unit.text);
      return false;
    }
  }
  return true;
}

static bool read_times(const struct claim_reader *reader, const char *text, double *factor) {
  const struct unit *plain = unit_named(reader, "-");
  if (!plain || quantity_parse(text, place_of(reader, text), plain, factor, reader->diagnostics))
    return false;
  if (*factor >= 0)
    return true;
  diagnostics_error(reader->diagnostics, place_of(reader, text), "a factor must not be below zero");
  return false;
}

static bool read_condition(const struct claim_reader *reader) {
  struct claim *claim = reader->claim;
  const struct ini_key *key = reader->key;
  struct claim_condition condition = {
      .name = key->name + sizeof with - 1, .text = key->value, .place = key->place};
  if (claim->condition_count == MAX_CLAIM_CONDITIONS) {
    diagnostics_error(reader->diagnostics, key->place, "more than %d conditions",
                      MAX_CLAIM_CONDITIONS);
    return false;
  }
  if (target_find(reader->scenario, condition.name, key->place, &condition.target,
                  reader->diagnostics))
    return false;
  const char *times = after(key->value, "times ");
  condition.times = times;
  const struct unit *unit = &target_input(reader->scenario, condition.target)->unit;
  const bool read = times ? read_times(reader, times + strspn(times, " "), &condition.value)
                          : !quantity_parse(key->value, key->value_place, unit, &condition.value,
                                            reader->diagnostics);
  if (!read || !check_limits(reader, &condition) || !check_others(reader, &condition) ||
      !check_companion(reader, &condition))
    return false;
  claim->conditions[claim->condition_count++] = condition;
  return true;
}

static bool read_needs(const struct claim_reader *reader) {
  struct claim *claim = reader->claim;
  const char *start = reader->key->value;
  for (;;) {
    const char *end = start + strcspn(start, ","), *at;
    const char *name = trimmed(reader, start, end, &at);
    if (claim->need_count == MAX_CLAIM_NEEDS) {
      diagnostics_error(reader->diagnostics, place_of(reader, at), "more than %d quantities",
                        MAX_CLAIM_NEEDS);
      return false;
    }
    struct target *target = &claim->needs[claim->need_count++];
    if (target_find(reader->scenario, name, place_of(reader, at), target, reader->diagnostics))
      return false;
    if (!*end)
      return true;
    start = end + 1;
  }
}

// ---- sections

static bool legal_name(const char *name) {
  bool legal = isalpha((unsigned char)*name);
  for (size_t i = 0; name[i]; i++)
    legal &= isalnum((unsigned char)name[i]) || name[i] == '_';
  return legal && strcmp(name, "together") != 0;
}

static void read_key(struct claim_reader *reader) {
  static const char *const names[] = {"says", "shows", "needs", "source", "with.INPUT"};
  const char *name = reader->key->name;
  if (!strcmp(name, "says"))
    read_says(reader);
  else if (!strcmp(name, "shows"))
    read_shows(reader);
  else if (!strcmp(name, "needs"))
    read_needs(reader);
  else if (!strcmp(name, "source"))
    reader->claim->source = reader->key->value;
  else if (after(name, with))
    read_condition(reader);
  else
    diagnostics_error(reader->diagnostics, reader->key->place, "unknown key '%s' in a claim%s",
                      name, name_hint(name, names, sizeof names / sizeof names[0], reader->arena));
}

static void read_claim(const struct claims *claims, struct claim *claim,
                       const struct ini_section *section, struct arena *arena,
                       struct diagnostics *diagnostics) {
  struct claim_reader reader = {claims->scenario, claim, NULL, arena, diagnostics};
  *claim = (struct claim){.name = section->argument, .source = "", .place = section->place};
  if (!legal_name(claim->name))
    diagnostics_error(
        diagnostics, section->place,
        "'%s' cannot be a claim's name: a letter, then letters, digits and _, and not 'together'",
        claim->name);
  if (!ini_find(section, "says") == !ini_find(section, "shows"))
    diagnostics_error(diagnostics, section->place, "claim '%s' needs either says or shows",
                      claim->name);
  for (size_t k = 0; k < section->key_count; k++) {
    reader.key = &section->keys[k];
    read_key(&reader);
  }
}

bool claims_there(const struct scenario *scenario) {
  for (size_t i = 0; i < scenario->question_count; i++)
    if (!strcmp(scenario->questions[i].kind, "claim"))
      return true;
  return false;
}

const struct claims *claims_read(const struct scenario *scenario, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  struct claims *claims = arena_alloc(arena, sizeof *claims);
  const size_t errors = diagnostics->errors;
  bool anything = false;
  claims->scenario = scenario;
  for (size_t i = 0; i < scenario->question_count; i++) {
    const struct ini_section *section = &scenario->questions[i];
    if (strcmp(section->kind, "claim") != 0)
      continue;
    if (claims->count == MAX_CLAIMS) {
      diagnostics_error(diagnostics, section->place, "more than %d claims", MAX_CLAIMS);
      break;
    }
    read_claim(claims, &claims->list[claims->count++], section, arena, diagnostics);
    anything |= claims->list[claims->count - 1].relation != CLAIM_SHOWS;
  }
  if (diagnostics->errors == errors && !anything)
    diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                      "there is no claim with 'says': nothing to audit");
  return diagnostics->errors == errors ? claims : NULL;
}
