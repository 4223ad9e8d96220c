#include "model/cost/own_item.h"

#include "base/arena.h"
#include "base/short_text.h"
#include "base/source.h"
#include "model/cost/formula.h"
#include "model/cost/list_text.h"
#include "model/cost/model_currency.h"
#include "model/cost/model_read.h"
#include "model/cost/step.h"
#include "model/cost/units.h"

#include <stdbool.h>
#include <string.h>

struct adding {
  struct model *model;
  const struct ini_section *section;
  enum own_kind own;
  int numbers; // inputs made of the formula's numbers
  struct diagnostics *diagnostics;
};

// ---- its keys

static int check_keys(const struct ini_section *section, struct diagnostics *diagnostics) {
  static const char *const names[] = {"label",   "unit",       "group",  "formula", // needed
                                      "options", "escalation", "source", "date",    "quote"};
  enum { NEEDED = 4, KNOWN = sizeof names / sizeof names[0] };
  const size_t errors = diagnostics->errors;
  for (size_t k = 0; k < section->key_count; k++) {
    bool known = false;
    for (size_t i = 0; i < KNOWN; i++)
      known |= !strcmp(section->keys[k].name, names[i]);
    if (!known)
      diagnostics_error(diagnostics, section->keys[k].place, "unknown key '%s' in [item]%s",
                        section->keys[k].name,
                        name_hint(section->keys[k].name, names, KNOWN, diagnostics->arena));
  }
  for (size_t i = 0; i < NEEDED; i++)
    if (!ini_find(section, names[i]))
      diagnostics_error(diagnostics, section->place, "[item %s] needs '%s'", section->argument,
                        names[i]);
  return diagnostics->errors == errors ? 0 : -1;
}

static enum own_kind own_group(const struct ini_key *group, struct diagnostics *diagnostics) {
  if (!strcmp(group->value, "capex"))
    return OWN_CAPEX;
  if (!strcmp(group->value, "opex"))
    return OWN_OPEX;
  diagnostics_error(diagnostics, group->value_place, "expected group = capex or opex, not '%s'",
                    group->value);
  return OWN_NONE;
}

static int check_unit(const struct adding *adding, const struct unit *written) {
  const struct dimension dimension = written->dimension;
  const char *currency = adding->model->currency;
  const struct place place = ini_find(adding->section, "unit")->value_place;
  const bool right_currency = dimension_currency(dimension) == currency_find(currency);
  if (right_currency && dimension_is_money(dimension))
    return 0;
  if (right_currency && adding->own == OWN_OPEX && dimension_is_money_per(dimension, BASE_H))
    return 0;
  const bool is_in_usd = model_is_foreign(adding->model) && text_has_currency(written->text, "USD");
  const char *divide = is_in_usd ? ": divide amounts in USD by exchange_rate" : "";
  if (adding->own == OWN_OPEX)
    diagnostics_error(adding->diagnostics, place, "an opex item is in %s or %s/yr, not %s%s",
                      currency, currency, written->text, divide);
  else
    diagnostics_error(adding->diagnostics, place, "a capex item is in %s, not %s%s", currency,
                      written->text, divide);
  return -1;
}

// ---- its inputs

// NAME_`ending`, with label and unit as the file states them.
static struct declaration *declare_input(const struct adding *adding, const char *ending,
                                         const char *what, const char *literal,
                                         struct place place) {
  struct model *model = adding->model;
  const char *item = adding->section->argument;
  struct declaration *input = model_declare(
      model, arena_printf(model->arena, "%s_%s", item, ending), place, adding->diagnostics);
  if (!input)
    return NULL;
  const int group = model_group(model, adding->own == OWN_CAPEX ? "price" : "operation");
  input->kind = DECLARATION_INPUT;
  input->label =
      arena_printf(model->arena, "%s: %s", ini_find(adding->section, "label")->value, what);
  input->group = group < 0 ? 0 : group;
  input->item = item;
  input->literal = literal;
  return input;
}

static bool is_structural(const struct node *number) {
  return number->value == 0 || (number->value == 1 && !*number->unit.text);
}

// Replaces every number with an input.
static void lift_numbers(struct adding *adding, struct node *node) {
  if (node->kind == NODE_NUMBER && !is_structural(node)) {
    struct arena *arena = adding->model->arena;
    const char *ordinal = arena_printf(arena, "%d", ++adding->numbers);
    struct declaration *input =
        declare_input(adding, ordinal, arena_printf(arena, "number %s of its formula", ordinal),
                      node->name, node->place);
    if (!input)
      return;
    input->unit = node->unit;
    input->unit.text = *node->unit.text ? node->unit.text : "-";
    *node = (struct node){
        .kind = NODE_NAME, .place = node->place, .name = input->name, .declaration = UNRESOLVED};
    return;
  }
  const bool keeps_second =
      node->kind == NODE_POWER || (node->kind == NODE_CALL && node->function == FUNCTION_ROUND);
  for (int i = 0; i < node->argument_count; i++)
    if (!keeps_second || i == 0)
      lift_numbers(adding, node->arguments[i]);
}

static int declare_escalation(const struct adding *adding) {
  const struct ini_key *key = ini_find(adding->section, "escalation");
  if (!key || !*key->value)
    return 0;
  if (adding->own == OWN_CAPEX) {
    diagnostics_error(adding->diagnostics, key->place,
                      "a capex item is paid once: it does not escalate");
    return -1;
  }
  struct declaration *input =
      declare_input(adding, "escalation", "escalation", key->value, key->value_place);
  if (!input)
    return -1;
  input->unit = *unit_constant("%/yr", adding->model->arena);
  input->has_min = input->min_exclusive = true;
  input->min = -100 * unit_factor(&input->unit);
  return 0;
}

static int declare_applies(const struct adding *adding) {
  const struct ini_key *key = ini_find(adding->section, "options");
  if (!key || !*key->value)
    return 0;
  struct declaration *input =
      declare_input(adding, "applies", "whether the option has it, 1 or 0", NULL, key->place);
  if (!input)
    return -1;
  input->unit = *unit_constant("-", adding->model->arena);
  input->integer = input->has_min = input->has_max = input->per_option = true;
  input->max = 1;
  input->choice_count = 2;
  input->choices[0] = (struct choice){"yes", 1};
  input->choices[1] = (struct choice){"no", 0};
  return 0;
}

// ---- the item

static void set_formula(const struct model *model, struct declaration *item, struct node *formula,
                        struct place place) {
  item->alternative_count = 1;
  item->alternatives[0].formula = formula;
  item->alternatives[0].place = place;
  item->alternatives[0].text = formula_text(formula, model->arena);
}

// The series NAME_cost: the amount of an opex item in each operating period.
static int declare_period_amount(const struct adding *adding, const struct declaration *item) {
  struct model *model = adding->model;
  const struct declaration base = *item;
  const struct place place = base.alternatives[0].place;
  const char *name = base.name;
  struct declaration *amount = model_declare(model, arena_printf(model->arena, "%s_cost", name),
                                             base.place, adding->diagnostics);
  if (!amount)
    return -1;
  const bool per_time = !dimension_is_money(base.unit.dimension);
  const bool grows = model_find(model, arena_printf(model->arena, "%s_escalation", name)) >= 0;
  const char *text = arena_printf(
      model->arena, "operating * %s%s%s", name, per_time ? " * period" : "",
      grows ? arena_printf(model->arena, " * growth(%s_escalation, elapsed)", name) : "");
  amount->kind = DECLARATION_SERIES;
  amount->label = arena_printf(model->arena, "%s, amount per period", base.label);
  amount->group = base.group;
  amount->own = OWN_OPEX;
  set_formula(model, amount, formula_parse(text, place, model->arena, adding->diagnostics), place);
  const int price_level = model_find(model, "price_level");
  if (!grows && price_level >= 0)
    model_multiply(model, amount, price_level);
  return unit_parse(model->currency, base.place, &amount->unit, model->arena, adding->diagnostics);
}

static struct node *binary(enum node_kind kind, struct node *left, struct node *right,
                           struct arena *arena) {
  struct node *node = arena_alloc(arena, sizeof *node);
  *node = (struct node){
      .kind = kind, .place = left->place, .argument_count = 2, .arguments = {left, right}};
  return node;
}

// A list's value in its year or step, and zero in others; the last value holds from then on.
static struct node *in_step(const struct adding *adding, struct node *formula, const char *clock,
                            size_t number, bool last) {
  struct arena *arena = adding->model->arena;
  const char *text = arena_printf(arena, "%s %s %zu", clock, last ? ">=" : "=", number);
  struct node *flag = formula_parse(text, formula->place, arena, adding->diagnostics);
  return binary(NODE_MULTIPLY, formula, flag, arena);
}

// The series that says which formula of a list holds; NULL after an error.
static const char *clock_of(const struct adding *adding, const struct list_value *step) {
  if (!step->text)
    return "year";
  const double step_h = step_time(step, adding->diagnostics);
  const int series =
      step_h > 0 ? step_declare(adding->model, step_h, step->place, adding->diagnostics) : -1;
  return series < 0 ? NULL : adding->model->declarations[series].name;
}

// A formula, or a list of formulas by year or by another step, with inputs in place of its numbers.
static struct node *parse_formula(struct adding *adding, const struct ini_key *key) {
  struct arena *arena = adding->model->arena;
  size_t count;
  const char *text;
  const struct list_value step = step_split(key->value, key->value_place, &text, arena);
  const struct list_value *list = list_split(text, key->value_place, &count, arena);
  const char *clock = clock_of(adding, &step);
  if (!clock || step_refuse_lone(key->value, key->value_place, adding->diagnostics))
    return NULL;
  struct node *sum = NULL;
  for (size_t i = 0; i < count; i++) {
    struct node *formula = formula_parse(list[i].text, list[i].place, arena, adding->diagnostics);
    if (!formula)
      return NULL;
    lift_numbers(adding, formula);
    if (count > 1)
      formula = in_step(adding, formula, clock, i, i + 1 == count);
    sum = sum ? binary(NODE_ADD, sum, formula, arena) : formula;
  }
  return sum;
}

// The item's formula, including the options to which it applies and its escalation; NULL after an
// error.
static struct node *read_formula(struct adding *adding) {
  struct model *model = adding->model;
  const size_t errors = adding->diagnostics->errors;
  if (declare_applies(adding))
    return NULL;
  struct node *formula = parse_formula(adding, ini_find(adding->section, "formula"));
  if (!formula)
    return NULL;
  const char *flag = arena_printf(model->arena, "%s_applies", adding->section->argument);
  if (model_find(model, flag) >= 0)
    formula = formula_if(flag, formula, model->arena);
  return declare_escalation(adding) || adding->diagnostics->errors != errors ? NULL : formula;
}

int own_item_add(struct model *model, const struct ini_section *section,
                 struct diagnostics *diagnostics) {
  struct adding adding = {.model = model, .section = section, .diagnostics = diagnostics};
  struct unit unit;
  if (check_keys(section, diagnostics))
    return -1;
  const struct ini_key *label = ini_find(section, "label"), *written = ini_find(section, "unit");
  const struct place place = ini_find(section, "formula")->value_place;
  adding.own = own_group(ini_find(section, "group"), diagnostics);
  short_text_check("a label", label->value, label->value_place, diagnostics);
  if (adding.own == OWN_NONE ||
      unit_parse(written->value, written->value_place, &unit, model->arena, diagnostics))
    return -1;
  struct node *formula = read_formula(&adding);
  if (!formula || check_unit(&adding, &unit))
    return -1;
  struct declaration *item = model_declare(model, section->argument, section->place, diagnostics);
  if (!item)
    return -1;
  item->kind = DECLARATION_SCALAR;
  item->varies = true;
  item->label = label->value;
  item->unit = unit;
  item->group = model_group(model, adding.own == OWN_CAPEX ? "capex" : "opex");
  item->item = section->argument;
  set_formula(model, item, formula, place);
  if (adding.own == OWN_OPEX)
    return declare_period_amount(&adding, item);
  item->own = OWN_CAPEX;
  return 0;
}

int own_item_of(const struct model *model, int declaration) {
  const struct declaration *amount = &model->declarations[declaration];
  if (amount->own != OWN_OPEX)
    return declaration;
  const size_t length = strlen(amount->name) - strlen("_cost");
  struct arena scratch = {NULL};
  const int item = model_find(model, arena_copy_n(&scratch, amount->name, length));
  arena_free(&scratch);
  return item;
}

// ---- what follows from watts

enum watts { WATTS_UNKNOWN, WATTS_NO, WATTS_YES };

static bool follows_from_watts(const struct model *model, const struct node *node, char *known);

// Whether the input is in watts, which a rented option need not know.
static bool is_watts(const struct declaration *input) {
  static const struct dimension watts = {{[BASE_W] = 1}};
  return input->has_rent_default && dimension_equal(input->unit.dimension, watts);
}

static bool is_from_watts(const struct model *model, int declaration, char *known) {
  if (known[declaration] != WATTS_UNKNOWN)
    return known[declaration] == WATTS_YES;
  const struct declaration *item = &model->declarations[declaration];
  known[declaration] = WATTS_NO; // also for a circular reference, until model_check reports it
  bool found = is_watts(item);
  for (int a = 0; a < item->alternative_count && !found; a++)
    found = follows_from_watts(model, item->alternatives[a].formula, known);
  known[declaration] = found ? WATTS_YES : WATTS_NO;
  return found;
}

static bool follows_from_watts(const struct model *model, const struct node *node, char *known) {
  const int found = node && node->kind == NODE_NAME ? model_find(model, node->name) : -1;
  if (found >= 0 && is_from_watts(model, found, known))
    return true;
  for (int i = 0; node && i < node->argument_count; i++)
    if (follows_from_watts(model, node->arguments[i], known))
      return true;
  return false;
}

void own_items_finish(struct model *model) {
  const int owned = model_find(model, "owned");
  struct arena scratch = {NULL};
  char *known = arena_alloc(&scratch, (size_t)model->count + 1);
  for (int d = 0; d < model->count && owned >= 0; d++) {
    struct declaration *item = &model->declarations[d];
    const bool is_item = item->item && item->kind != DECLARATION_INPUT;
    const bool is_limited =
        is_item && model_find(model, arena_printf(&scratch, "%s_applies", item->name)) >= 0;
    if (is_item && !is_limited && is_from_watts(model, d, known))
      set_formula(model, item, formula_if("owned", item->alternatives[0].formula, model->arena),
                  item->alternatives[0].place);
  }
  arena_free(&scratch);
}
