#include "model/scenario/inputs.h"

#include "base/short_text.h"
#include "base/source.h"
#include "model/cost/list_text.h"
#include "model/cost/model_currency.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"

#include <math.h>
#include <string.h>

// A layer's statement about an input.
struct said {
  struct figure figure;
  struct place key_place;
  const char *by;        // the key that set it in its place, with its grade; or NULL
  const char *attribute; // a source, date or quote was given, under this name
  struct place attribute_place;
};

struct inputs {
  const struct model *model;
  struct arena *arena;
  size_t option_count, case_count;
  struct said ***rows; // by row_of, then in blocks of declarations; NULL if nothing is said
  bool *in_cases;      // [model->count], of what a case states for all options
};

// Rows: common, --set common, then a common row per case; then the same for each option.
static size_t row_of(const struct inputs *inputs, struct layer layer) {
  const struct origin_layer *of = &origin_layers[layer.origin];
  const size_t block = inputs->case_count + 2;
  const size_t offset = of->is_set ? 1 : of->of_case ? 2 + layer.which_case : 0;
  return (size_t)(layer.option + 1) * block + offset;
}

enum { BLOCK = 8 };

// Options state few of all possible inputs, so rows and blocks are allocated when first used.
static struct said *said_at(const struct inputs *inputs, struct layer layer, int declaration) {
  struct said ***row = &inputs->rows[row_of(inputs, layer)];
  inputs->in_cases[declaration] |= layer.option < 0 && origin_layers[layer.origin].of_case;
  if (!*row)
    *row =
        arena_array(inputs->arena, (size_t)inputs->model->count / BLOCK + 1, sizeof(struct said *));
  struct said **block = &(*row)[declaration / BLOCK];
  if (!*block)
    *block = arena_array(inputs->arena, BLOCK, sizeof **block);
  return &(*block)[declaration % BLOCK];
}

// What a row says about an input; NULL for nothing.
static struct said *said_in(const struct inputs *inputs, size_t row, int declaration) {
  struct said **blocks = inputs->rows[row];
  struct said *block = blocks ? blocks[declaration / BLOCK] : NULL;
  return block ? &block[declaration % BLOCK] : NULL;
}

const struct figure *inputs_said(const struct inputs *inputs, struct layer layer, int declaration) {
  const struct said *said = said_in(inputs, row_of(inputs, layer), declaration);
  return said && said->figure.origin != ORIGIN_NONE ? &said->figure : NULL;
}

bool inputs_said_in_cases(const struct inputs *inputs, int declaration) {
  return inputs->in_cases[declaration];
}

static size_t row_count(const struct inputs *inputs) {
  return (inputs->option_count + 1) * (inputs->case_count + 2);
}

struct inputs *inputs_new(const struct model *model, size_t option_count, size_t case_count,
                          struct arena *arena) {
  struct inputs *inputs = arena_alloc(arena, sizeof *inputs);
  *inputs = (struct inputs){
      .model = model, .arena = arena, .option_count = option_count, .case_count = case_count};
  inputs->in_cases = arena_array(arena, (size_t)model->count, sizeof *inputs->in_cases);
  inputs->rows = arena_array(arena, row_count(inputs), sizeof *inputs->rows);
  return inputs;
}

static int parse_choice(const struct declaration *declaration, const struct ini_key *key,
                        double *value, struct arena *arena, struct diagnostics *diagnostics) {
  const char *names[MAX_CHOICES], *list = "";
  for (int i = 0; i < declaration->choice_count; i++) {
    names[i] = declaration->choices[i].name;
    list = arena_printf(arena, "%s%s%s", list, i ? " or " : "", names[i]);
    if (!strcmp(names[i], key->value)) {
      *value = declaration->choices[i].value;
      return 0;
    }
  }
  diagnostics_error(diagnostics, key->value_place, "expected %s, not '%s'", list, key->value);
  return -1;
}

static int check_range(const struct declaration *declaration, const char *typed, struct place place,
                       double value, struct arena *arena, struct diagnostics *diagnostics) {
  // Limits may be typed in other units than values: allow for the last bits.
  double slack = 1e-12 * fmax(fabs(declaration->min), fabs(declaration->max));
  const char *wrong = NULL;
  if (declaration->has_min && declaration->min_exclusive && value <= declaration->min)
    wrong = arena_printf(arena, "must be above %s",
                         quantity_text(declaration->min, &declaration->unit, arena));
  else if (declaration->has_min && value < declaration->min - slack)
    wrong = arena_printf(arena, "must be at least %s",
                         quantity_text(declaration->min, &declaration->unit, arena));
  else if (declaration->has_max && value > declaration->max + slack)
    wrong = arena_printf(arena, "must be at most %s",
                         quantity_text(declaration->max, &declaration->unit, arena));
  else if (declaration->integer && value != round(value))
    wrong = "must be a whole number";
  if (!wrong)
    return 0;
  diagnostics_error(diagnostics, place, "'%s' %s, not %s", declaration->name, wrong, typed);
  return -1;
}

static double parse_value(const struct declaration *declaration, const char *typed,
                          struct place place, struct arena *arena,
                          struct diagnostics *diagnostics) {
  double value = 0;
  if (quantity_parse(typed, place, &declaration->unit, &value, diagnostics))
    return 0; // so that nothing more is said about it
  check_range(declaration, typed, place, value, arena, diagnostics);
  return value;
}

static void refuse_list(const struct inputs *inputs, const struct declaration *declaration,
                        struct place place, struct diagnostics *diagnostics) {
  static const char *const of_tokens[] = {"output_price", "input_price", "cached_input_price"};
  const char *list = "", *hint = "";
  for (size_t i = 0; i < sizeof of_tokens / sizeof of_tokens[0]; i++)
    if (!strcmp(declaration->name, of_tokens[i]))
      hint = "; API prices change with the option's 'inflation': use a negative rate if they fall";
  for (int d = 0; d < inputs->model->count; d++)
    if (inputs->model->declarations[d].schedule && !inputs->model->declarations[d].ages)
      list = arena_printf(inputs->arena, "%s%s%s", list, *list ? ", " : "",
                          inputs->model->declarations[d].name);
  diagnostics_error(diagnostics, place,
                    "'%s' is one value for all years; a list by year may be %s%s",
                    declaration->name, list, hint);
}

static int currency_of(const char *text) {
  for (int i = 0; i < CURRENCIES; i++)
    if (text_has_currency(text, currency_codes[i]))
      return i;
  return -1;
}

// Refuses amounts in different currencies, since one formula serves all years. Returns true after
// an error at the first amount in another currency than those before it.
static bool refuse_currencies(const struct inputs *inputs, const struct list_value *list,
                              size_t count, struct diagnostics *diagnostics) {
  const int first = currency_of(list[0].text);
  for (size_t i = 1; i < count && model_is_foreign(inputs->model); i++) {
    const int currency = currency_of(list[i].text);
    if (first < 0 || currency < 0 || currency == first)
      continue;
    diagnostics_error(diagnostics, list[i].place,
                      "a list is in one currency: give all of its amounts in %s, or all in USD",
                      inputs->model->currency);
    return true;
  }
  return false;
}

// Refuses what the model cannot have declared: a wrong step, or more values than allowed. Returns
// true after an error.
static bool refuse_step(const struct declaration *input, const struct list_value *step,
                        const struct list_value *list, size_t count,
                        struct diagnostics *diagnostics) {
  const size_t most = step->text ? MAX_STEPS : MAX_YEARS;
  if (step->text && input->ages) {
    diagnostics_error(diagnostics, step->place,
                      "'%s' is a list by age: 'every' is for lists by time", input->name);
    return true;
  }
  if (step->text && !(step_time(step, diagnostics) > 0))
    return true;
  if (count > most)
    diagnostics_error(diagnostics, list[most].place, "a list has at most %zu %s, not %zu", most,
                      step->text ? "values with a step" : "years", count);
  return count > most;
}

// "2, 1, 1 FTE" for the input `d`, in the unit of `declaration`: `d` itself, or its twin in USD.
static void parse_list(const struct inputs *inputs, struct figure *figure, int d,
                       const struct declaration *declaration, const struct ini_key *key,
                       struct diagnostics *diagnostics) {
  size_t count;
  const char *text;
  const struct list_value step = step_split(key->value, key->value_place, &text, inputs->arena);
  const struct list_value *list = list_split(text, key->value_place, &count, inputs->arena);
  if (!inputs->model->declarations[d].schedule) {
    refuse_list(inputs, declaration, list[1].place, diagnostics);
    return;
  }
  if (refuse_step(&inputs->model->declarations[d], &step, list, count, diagnostics) ||
      refuse_currencies(inputs, list, count, diagnostics))
    return;
  struct list_figure *years = arena_array(inputs->arena, count, sizeof *years);
  for (size_t i = 0; i < count; i++) {
    years[i] = (struct list_figure){0, list[i].text, list[i].place};
    if (*list[i].text)
      years[i].value =
          parse_value(declaration, list[i].text, list[i].place, inputs->arena, diagnostics);
    else
      diagnostics_error(diagnostics, list[i].place, "expected the value of %s %zu, not nothing",
                        step.text ? "step" : "year", i + 1);
  }
  figure->years = years;
  figure->year_count = count;
  figure->step_h = step.text ? step_time(&step, diagnostics) : 0;
  figure->value = years[0].value;
}

// "8 % from 100 gpu"
static void parse_tier(const struct inputs *inputs, struct list_figure tier[2],
                       const struct declaration *declaration, const struct list_value *text,
                       struct diagnostics *diagnostics) {
  static const char word[] = " from ";
  const char *stem = strchr(declaration->tiers, ' ') + 1;
  const int from = model_find(inputs->model,
                              arena_printf(inputs->arena, "%.*s_1", (int)strcspn(stem, " "), stem));
  const char *at = strstr(text->text, word);
  if (!at || from < 0) {
    diagnostics_error(diagnostics, text->place,
                      "expected a tier such as '8 %% from 100 gpu', not '%s'", text->text);
    return;
  }
  tier[0] = (struct list_figure){
      0, arena_copy_n(inputs->arena, text->text, (size_t)(at - text->text)), text->place};
  tier[1] = (struct list_figure){0, arena_copy(inputs->arena, at + strlen(word)), text->place};
  tier[1].place.column += (int)(at - text->text + (long)strlen(word));
  tier[0].value = parse_value(declaration, tier[0].text, tier[0].place, inputs->arena, diagnostics);
  tier[1].value = parse_value(&inputs->model->declarations[from], tier[1].text, tier[1].place,
                              inputs->arena, diagnostics);
}

static void parse_tiers(const struct inputs *inputs, struct figure *figure,
                        const struct declaration *declaration, const struct ini_key *key,
                        struct diagnostics *diagnostics) {
  size_t count;
  const struct list_value *list = list_split(key->value, key->value_place, &count, inputs->arena);
  struct list_figure *tiers = arena_array(inputs->arena, 2 * count, sizeof *tiers);
  if (!declaration->tiers || count > MAX_TIERS) {
    diagnostics_error(diagnostics, key->value_place,
                      declaration->tiers ? "'%s' has %zu volume tiers; at most 4 are allowed"
                                         : "'%s' has no volume tiers",
                      declaration->name, count);
    return;
  }
  for (size_t i = 0; i < count; i++)
    parse_tier(inputs, tiers + 2 * i, declaration, &list[i], diagnostics);
  figure->tiers = tiers;
  figure->tier_count = count;
}

// NAME_usd sets the same figure as NAME, so that the stronger layer counts.
static void assign_value(struct inputs *inputs, struct layer layer, int d, int stated,
                         const struct ini_key *key, struct diagnostics *diagnostics) {
  const struct declaration *declaration = &inputs->model->declarations[stated];
  struct figure *figure = &said_at(inputs, layer, d)->figure;
  // A new statement discards the sources of the one that it replaces.
  if (figure->origin != ORIGIN_NONE)
    *figure = (struct figure){.origin = ORIGIN_NONE};
  // The figure counts as given even if it is wrong: one mistake, one message.
  figure->origin = layer.origin;
  figure->place = key->value_place;
  figure->text = key->value;
  figure->in_usd = declaration->usd_of >= 0;
  if (declaration->choice_count)
    parse_choice(declaration, key, &figure->value, inputs->arena, diagnostics);
  else if (text_is_tiers(key->value))
    parse_tiers(inputs, figure, declaration, key, diagnostics);
  else if (text_is_list(key->value))
    parse_list(inputs, figure, d, declaration, key, diagnostics);
  else if (!step_refuse_lone(key->value, key->value_place, diagnostics))
    figure->value =
        parse_value(declaration, key->value, key->value_place, inputs->arena, diagnostics);
}

static bool is_set(struct layer layer) {
  return origin_layers[layer.origin].is_set;
}

// The layer of an origin that applies to an option in a case.
static struct layer layer_of(enum origin origin, int option, size_t which_case) {
  const struct origin_layer *of = &origin_layers[origin];
  return (struct layer){origin, of->of_option ? option : -1, of->of_case ? which_case : 0};
}

bool inputs_states(const struct scenario *scenario, int option, int declaration) {
  for (enum origin origin = ORIGIN_COMMON; origin < ORIGINS; origin++) {
    const struct origin_layer *of = &origin_layers[origin];
    if (!of->of_case && !of->is_set &&
        inputs_said(scenario->inputs, layer_of(origin, option, 0), declaration))
      return true;
  }
  return false;
}

// Refuses an input and a key that stands for it in one file. Inherited files and --set may state
// both: the later one counts.
static bool refuse_twice(const struct said *said, struct layer layer, const char *by,
                         const char *name, const struct ini_key *key,
                         struct diagnostics *diagnostics) {
  const char *before = said->by ? said->by : name;
  if (said->figure.origin == ORIGIN_NONE || is_set(layer) ||
      said->key_place.source != key->place.source || !strcmp(before, by ? by : name))
    return false;
  diagnostics_error(diagnostics, key->place, "both '%s' and '%s' are given: give only one", before,
                    by ? by : name);
  return true;
}

// Refuses NAME_usd for an amount in another currency, or beside NAME.
static bool refuse_currency(struct inputs *inputs, struct layer layer, int d, int stated,
                            const struct ini_key *key, struct diagnostics *diagnostics) {
  const int in_usd = inputs->model->declarations[d].in_usd;
  if (in_usd < 0)
    return false;
  const char *name = inputs->model->declarations[d].name;
  const char *name_usd = inputs->model->declarations[in_usd].name;
  struct figure *figure = &said_at(inputs, layer, d)->figure;
  if (stated != d && !text_has_currency(key->value, "USD"))
    diagnostics_error(diagnostics, key->value_place, "'%s' is in USD: write '%s = %s', or USD",
                      name_usd, name, key->value);
  else if (figure->origin != ORIGIN_NONE && !is_set(layer))
    diagnostics_error(diagnostics, key->place, "both '%s' and '%s' are given: give only one", name,
                      name_usd);
  else
    return false;
  figure->origin = layer.origin;
  return true;
}

static void assign_quote(struct figure *figure, const struct ini_key *key, struct arena *arena,
                         struct diagnostics *diagnostics) {
  const char *space = strrchr(key->value, ' ');
  struct date date;
  if (!space || !date_parse(space + 1, &date)) {
    diagnostics_error(diagnostics, key->value_place,
                      "expected a quote's reference and its date, as in 'Q-118 2026-10-01'");
    return;
  }
  short_text_check("a quote's reference", key->value, key->value_place, diagnostics);
  figure->grade = GRADE_QUOTED;
  figure->source = arena_copy_n(arena, key->value, (size_t)(space - key->value));
  figure->date = space + 1;
}

// A quote has its own source and date.
static void refuse_two_sources(const struct said *said, const char *attribute,
                               const struct ini_key *key, struct diagnostics *diagnostics) {
  const bool has_one = said->figure.source || said->figure.date;
  if (said->attribute && has_one && said->attribute_place.source == key->place.source &&
      !strcmp(said->attribute, "quote") != !strcmp(attribute, "quote"))
    diagnostics_error(diagnostics, key->place,
                      "both '%s' and '%s' of one value are given: a quote has its own source and "
                      "date",
                      said->attribute, attribute);
}

static bool is_attribute(const char *name) {
  for (size_t i = 0; i < FIGURE_ATTRIBUTES; i++)
    if (!strcmp(name, figure_attributes[i]))
      return true;
  return false;
}

static void assign_attribute(struct said *said, const char *attribute, const struct ini_key *key,
                             struct arena *arena, struct diagnostics *diagnostics) {
  struct figure *figure = &said->figure;
  struct date date;
  refuse_two_sources(said, attribute, key, diagnostics);
  if (!strcmp(attribute, "quote"))
    assign_quote(figure, key, arena, diagnostics);
  else if (!strcmp(attribute, "source")) {
    figure->source = key->value;
    short_text_check("a source", key->value, key->value_place, diagnostics);
  } else {
    figure->date = key->value;
    if (!date_parse(key->value, &date))
      diagnostics_error(diagnostics, key->value_place,
                        "expected a date (2026, 2026-10 or 2026-10-01), not '%s'", key->value);
  }
  said->attribute = attribute;
  said->attribute_place = key->place;
}

// The input of NAME or NAME.ATTRIBUTE, or -1.
static int input_of(const struct inputs *inputs, const char *name) {
  const char *point = strchr(name, '.');
  const char *input = point ? arena_copy_n(inputs->arena, name, (size_t)(point - name)) : name;
  const int d = model_find(inputs->model, input);
  return d >= 0 && inputs->model->declarations[d].kind == DECLARATION_INPUT ? d : -1;
}

bool inputs_is_provenance(const struct inputs *inputs, const char *name) {
  const char *point = strchr(name, '.');
  return point && is_attribute(point + 1) && input_of(inputs, name) >= 0;
}

bool inputs_assign(struct inputs *inputs, struct layer layer, const char *name,
                   const struct ini_key *key, struct diagnostics *diagnostics) {
  const char *point = strchr(name, '.');
  int d = input_of(inputs, name);
  if (d < 0)
    return false;
  const int stated = model_stated(inputs->model, d, key->value);
  d = model_named(inputs->model, d);
  if (!point && refuse_currency(inputs, layer, d, stated, key, diagnostics))
    return true;
  if (!point && refuse_twice(said_at(inputs, layer, d), layer, NULL,
                             inputs->model->declarations[d].name, key, diagnostics))
    return true;
  if (!point) {
    said_at(inputs, layer, d)->by = NULL;
    said_at(inputs, layer, d)->key_place = key->place;
    assign_value(inputs, layer, d, stated, key, diagnostics);
    return true;
  }
  if (!is_attribute(point + 1))
    return false;
  assign_attribute(said_at(inputs, layer, d), point + 1, key, inputs->arena, diagnostics);
  return true;
}

void inputs_take(struct inputs *inputs, struct layer layer, int declaration, struct figure figure,
                 const struct ini_key *key, struct diagnostics *diagnostics) {
  struct said *said = said_at(inputs, layer, declaration);
  const char *name = inputs->model->declarations[declaration].name;
  if (refuse_twice(said, layer, key->name, name, key, diagnostics))
    return;
  figure.origin = layer.origin;
  figure.text = key->value;
  *said = (struct said){.figure = figure, .key_place = key->place, .by = key->name};
}

static void complete(struct said *said) {
  struct figure *figure = &said->figure;
  if (figure->grade != GRADE_QUOTED && !said->by)
    figure->grade = figure->source ? GRADE_CLAIM : GRADE_ASSUMED;
  figure->source = figure->source ? figure->source : "";
  figure->date = figure->date ? figure->date : "";
}

static void report_lone(const struct inputs *inputs, const struct said *said, int declaration,
                        struct diagnostics *diagnostics) {
  const char *name = inputs->model->declarations[declaration].name;
  diagnostics_error(diagnostics, said->attribute_place,
                    "'%s.%s' needs a '%s', which is not given here", name, said->attribute, name);
}

void inputs_refuse_provenance(const struct inputs *inputs, struct layer layer, int declaration,
                              struct diagnostics *diagnostics) {
  const struct said *said = said_in(inputs, row_of(inputs, layer), declaration);
  if (said && said->figure.origin == ORIGIN_NONE && (said->figure.source || said->figure.date))
    report_lone(inputs, said, declaration, diagnostics);
}

void inputs_finish(const struct inputs *inputs, struct diagnostics *diagnostics) {
  for (size_t row = 0; row < row_count(inputs); row++)
    for (int d = 0; d < inputs->model->count && inputs->rows[row]; d++) {
      struct said *said = said_in(inputs, row, d);
      if (!said)
        continue;
      if (said->figure.origin != ORIGIN_NONE)
        complete(said);
      else if (said->attribute)
        report_lone(inputs, said, d, diagnostics);
    }
}

// The offers, and the one whose inputs an option has in a case; offers NULL: there are none.
struct quoting {
  const struct scenario *offers;
  const struct scenario_offer *holding;
};

static struct quoting quoting_of(const struct scenario *scenario, int option, size_t which_case) {
  if (option < 0 || !scenario->offer_count)
    return (struct quoting){NULL, NULL};
  return (struct quoting){scenario, option_offer(scenario, &scenario->options[option], which_case)};
}

// An offer replaces another one as a whole, including lines that only the other one has.
static bool holds(const struct quoting *quoting, const struct figure *figure) {
  const struct scenario_offer *from =
      quoting->offers ? scenario_offer_of(quoting->offers, figure) : NULL;
  return !from || from == quoting->holding;
}

bool inputs_of_option(const struct scenario *scenario, size_t option, size_t which_case,
                      int declaration) {
  const struct quoting quoting = quoting_of(scenario, (int)option, which_case);
  for (enum origin origin = ORIGIN_COMMON; origin < ORIGINS; origin++) {
    const struct figure *figure =
        inputs_said(scenario->inputs, layer_of(origin, (int)option, which_case), declaration);
    if (figure && figure_is_of_option(figure) && holds(&quoting, figure))
      return true;
  }
  return false;
}

bool inputs_is_change(const struct scenario *scenario, const struct figure *figure) {
  return figure->origin > ORIGIN_OPTION && !scenario_offer_of(scenario, figure);
}

const struct figure *inputs_unchanged(const struct scenario *scenario, size_t option,
                                      size_t which_case, int declaration) {
  const struct quoting quoting = quoting_of(scenario, (int)option, which_case);
  const struct figure *found = &figure_none;
  for (enum origin origin = ORIGIN_COMMON; origin < ORIGINS; origin++) {
    const struct figure *figure =
        inputs_said(scenario->inputs, layer_of(origin, (int)option, which_case), declaration);
    if (figure && holds(&quoting, figure) && !inputs_is_change(scenario, figure))
      found = figure;
  }
  return found;
}

static void apply(const struct inputs *inputs, struct layer layer, const struct quoting *quoting,
                  const struct figure **figures) {
  const size_t row = row_of(inputs, layer);
  for (int d = 0; d < inputs->model->count && inputs->rows[row]; d++) {
    const struct said *said = said_in(inputs, row, d);
    if (said && said->figure.origin != ORIGIN_NONE && holds(quoting, &said->figure))
      figures[d] = &said->figure;
  }
}

void inputs_apply(const struct inputs *inputs, struct layer layer, const struct figure **figures) {
  apply(inputs, layer, &(struct quoting){NULL, NULL}, figures);
}

void inputs_resolve(const struct scenario *scenario, int option, size_t which_case,
                    const struct figure **figures) {
  const struct quoting quoting = quoting_of(scenario, option, which_case);
  for (int d = 0; d < scenario->model->count; d++)
    figures[d] = &figure_none;
  for (enum origin origin = ORIGIN_COMMON; origin < ORIGINS; origin++)
    apply(scenario->inputs, layer_of(origin, option, which_case), &quoting, figures);
}
