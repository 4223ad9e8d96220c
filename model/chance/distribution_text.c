#include "model/chance/distribution_text.h"

#include "base/statistics.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// "pert", ...
static const char *const distribution_names[DISTRIBUTION_KINDS] = {
    "uniform", "triangular", "pert", "normal", "lognormal", "discrete", "from measurement"};

enum { MAX_ATOMS = 32 };

static const struct form {
  int min, max;
  const char *parameters;
} forms[DISTRIBUTION_KINDS] = {
    [DISTRIBUTION_UNIFORM] = {2, 2, "(LOW, HIGH)"},
    [DISTRIBUTION_TRIANGULAR] = {3, 3, "(LOW, MODE, HIGH)"},
    [DISTRIBUTION_PERT] = {3, 3, "(LOW, MODE, HIGH)"},
    [DISTRIBUTION_NORMAL] = {2, 4, "(MEAN, DEVIATION) or (MEAN, DEVIATION, LOW, HIGH)"},
    [DISTRIBUTION_LOGNORMAL] = {2, 2, "(MEDIAN, FACTOR)"},
    [DISTRIBUTION_DISCRETE] = {1, MAX_ATOMS, "(VALUE: WEIGHT, ...)"},
};

// A number or the name of a choice, and its weight.
struct parameter {
  double value, weight;
  const char *name; // NULL for a number
  struct place place, weight_place;
};

struct parser {
  const char *text, *next;
  struct place place;
  const struct declaration *input;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct parameter parameters[MAX_ATOMS];
  int count;
};

static struct place place_of(const struct parser *parser, const char *at) {
  struct place place = parser->place;
  place.column += (int)(at - parser->text);
  return place;
}

#define FAIL(parser, place, ...)                                                                   \
  return diagnostics_error((parser)->diagnostics, place, __VA_ARGS__), -1

static void skip_blanks(struct parser *parser) {
  parser->next += strspn(parser->next, " \t");
}

static bool take(struct parser *parser, char wanted) {
  skip_blanks(parser);
  bool there = *parser->next == wanted;
  parser->next += there;
  return there;
}

static int unknown_name(const struct parser *parser, const char *name) {
  const char *nearest = nearest_name(name, distribution_names, DISTRIBUTION_KINDS);
  if (nearest)
    FAIL(parser, parser->place, "unknown distribution '%s'; did you mean '%s'?", name, nearest);
  FAIL(parser, parser->place,
       "expected a distribution such as triangular(LOW, MODE, HIGH), uniform, pert, normal, "
       "lognormal, discrete or 'from measurement', not '%s'",
       name);
}

// The kind, up to the parenthesis, or -1.
static int take_kind(struct parser *parser) {
  size_t length = strcspn(parser->text, "(");
  while (length && parser->text[length - 1] == ' ')
    length--;
  const char *name = arena_copy_n(parser->arena, parser->text, length);
  parser->next = parser->text + length;
  for (int kind = 0; kind < DISTRIBUTION_KINDS; kind++)
    if (!strcmp(name, distribution_names[kind]))
      return kind;
  return unknown_name(parser, name);
}

static int take_number(struct parser *parser, double *value, struct place *place) {
  skip_blanks(parser);
  *place = place_of(parser, parser->next);
  bool negative = take(parser, '-');
  size_t length = number_prefix(parser->next, value);
  if (!length)
    FAIL(parser, *place, "expected a number");
  parser->next += length;
  *value = negative ? -*value : *value;
  return 0;
}

static int take_choice(struct parser *parser, struct parameter *parameter) {
  size_t length = 0;
  while (isalnum((unsigned char)parser->next[length]) || parser->next[length] == '_')
    length++;
  parameter->place = place_of(parser, parser->next);
  parameter->name = arena_copy_n(parser->arena, parser->next, length);
  parser->next += length;
  const char *names[MAX_CHOICES], *list = "";
  for (int i = 0; i < parser->input->choice_count; i++) {
    names[i] = parser->input->choices[i].name;
    list = arena_printf(parser->arena, "%s%s%s", list, i ? " or " : "", names[i]);
    if (strcmp(names[i], parameter->name) != 0)
      continue;
    parameter->value = parser->input->choices[i].value;
    return 0;
  }
  FAIL(parser, parameter->place, "expected %s, not '%s'", list, parameter->name);
}

static int take_parameter(struct parser *parser, enum distribution_kind kind) {
  struct parameter *parameter = &parser->parameters[parser->count];
  *parameter = (struct parameter){.weight = 1};
  skip_blanks(parser);
  bool choice = kind == DISTRIBUTION_DISCRETE && parser->input->choice_count;
  if (choice ? take_choice(parser, parameter)
             : take_number(parser, &parameter->value, &parameter->place))
    return -1;
  parser->count++;
  if (kind != DISTRIBUTION_DISCRETE)
    return 0;
  if (!take(parser, ':'))
    FAIL(parser, place_of(parser, parser->next), "expected ':' and the weight of the value");
  return take_number(parser, &parameter->weight, &parameter->weight_place);
}

static int take_parameters(struct parser *parser, enum distribution_kind kind) {
  if (!take(parser, '('))
    FAIL(parser, place_of(parser, parser->next), "expected %s%s", distribution_names[kind],
         forms[kind].parameters);
  do {
    if (parser->count == forms[kind].max)
      FAIL(parser, place_of(parser, parser->next), "too many parameters: expected %s%s",
           distribution_names[kind], forms[kind].parameters);
    if (take_parameter(parser, kind))
      return -1;
  } while (take(parser, ','));
  if (!take(parser, ')'))
    FAIL(parser, place_of(parser, parser->next), "expected ',' or ')'");
  if (parser->count < forms[kind].min || (kind == DISTRIBUTION_NORMAL && parser->count == 3))
    FAIL(parser, parser->place, "too few parameters: expected %s%s", distribution_names[kind],
         forms[kind].parameters);
  return 0;
}

// Takes the unit after the parenthesis. *factor: base units in one of that unit.
static int take_unit(struct parser *parser, double *factor) {
  const struct unit *expected = &parser->input->unit;
  skip_blanks(parser);
  const char *text = parser->next;
  struct place place = place_of(parser, text);
  *factor = unit_factor(expected);
  if (!*text && expected->counts)
    return 0;
  if (!*text)
    FAIL(parser, place, "expected a unit after the bracket, such as %s", expected->text);
  place.column -= 2;
  return quantity_parse(arena_printf(parser->arena, "1 %s", text), place, expected, factor,
                        parser->diagnostics);
}

static const char *shown(const struct parser *parser, double value) {
  return quantity_text(value, &parser->input->unit, parser->arena);
}

static int check_limits(const struct parser *parser, double value, struct place place) {
  const struct declaration *input = parser->input;
  double slack = 1e-12 * fmax(fabs(input->min), fabs(input->max));
  if (input->has_min && input->min_exclusive && value <= input->min)
    FAIL(parser, place, "'%s' must be above %s, not %s", input->name, shown(parser, input->min),
         shown(parser, value));
  if (input->has_min && value < input->min - slack)
    FAIL(parser, place, "'%s' must be at least %s, not %s", input->name, shown(parser, input->min),
         shown(parser, value));
  if (input->has_max && value > input->max + slack)
    FAIL(parser, place, "'%s' must be at most %s, not %s", input->name, shown(parser, input->max),
         shown(parser, value));
  return 0;
}

// Beyond these, sums and squares of draws overflow, or all draws are the same number.
static const double largest = 1e30, smallest = 1e-30, least_width = 1e-9, largest_factor = 1e6,
                    largest_weight = 1e9, smallest_weight = 1e-9;

static int check_size(const struct parser *parser, double value, struct place place) {
  if (value == 0 || (fabs(value) <= largest && fabs(value) >= smallest))
    return 0;
  FAIL(parser, place, "a range's values must be zero or from 1e-30 to 1e30, not %g", fabs(value));
}

static int check_sizes(const struct parser *parser, enum distribution_kind kind, double factor) {
  for (int i = 0; i < parser->count; i++) {
    const struct parameter *p = &parser->parameters[i];
    const bool in_units = !p->name && !(kind == DISTRIBUTION_LOGNORMAL && i == 1);
    if (check_size(parser, p->value, p->place) ||
        (in_units && check_size(parser, p->value * factor, p->place)))
      return -1;
  }
  return 0;
}

// Refuses a range so narrow that nearly all draws would be the same number.
static int check_width(const struct parser *parser, double width, double value,
                       struct place place) {
  if (width >= least_width * fabs(value))
    return 0;
  FAIL(parser, place, "a range must be wider than a billionth of its values, not %g of %g", width,
       fabs(value));
}

static int check_order(const struct parser *parser, int low, int high) {
  const struct parameter *p = parser->parameters;
  if (p[low].value < p[high].value)
    return 0;
  FAIL(parser, p[high].place, "the highest value (%g) must be above the lowest (%g)", p[high].value,
       p[low].value);
}

static int read_bounded(struct parser *parser, double factor, struct distribution *out) {
  const struct parameter *p = parser->parameters;
  int last = parser->count - 1;
  if (check_order(parser, 0, last))
    return -1;
  if (last == 2 && (p[1].value < p[0].value || p[1].value > p[2].value))
    FAIL(parser, p[1].place, "the most likely value (%g) must lie within %g and %g", p[1].value,
         p[0].value, p[2].value);
  out->low = p[0].value * factor;
  out->mode = p[1].value * factor;
  out->high = p[last].value * factor;
  return check_width(parser, p[last].value - p[0].value,
                     fmax(fabs(p[0].value), fabs(p[last].value)), p[last].place) ||
                 check_limits(parser, out->low, p[0].place) ||
                 check_limits(parser, out->high, p[last].place)
             ? -1
             : 0;
}

static int read_normal(struct parser *parser, double factor, struct distribution *out) {
  const struct parameter *p = parser->parameters;
  const struct declaration *input = parser->input;
  if (p[1].value <= 0)
    FAIL(parser, p[1].place, "a standard deviation must be above zero, not %g", p[1].value);
  if (check_width(parser, p[1].value, p[0].value, p[1].place))
    return -1;
  out->mean = p[0].value * factor;
  out->deviation = p[1].value * factor;
  out->low = input->has_min ? input->min : -INFINITY;
  out->high = input->has_max ? input->max : INFINITY;
  if (check_limits(parser, out->mean, p[0].place))
    return -1;
  if (parser->count < 4)
    return 0;
  out->low = p[2].value * factor;
  out->high = p[3].value * factor;
  if (check_order(parser, 2, 3) || check_limits(parser, out->low, p[2].place) ||
      check_limits(parser, out->high, p[3].place))
    return -1;
  if (out->mean < out->low || out->mean > out->high)
    FAIL(parser, p[0].place, "the mean (%g) must lie within %g and %g", p[0].value, p[2].value,
         p[3].value);
  return 0;
}

static int read_lognormal(struct parser *parser, double factor, struct distribution *out) {
  const struct parameter *p = parser->parameters;
  const struct declaration *input = parser->input;
  if (p[0].value <= 0)
    FAIL(parser, p[0].place, "a lognormal's median must be above zero, not %g", p[0].value);
  if (p[1].value <= 1)
    FAIL(parser, p[1].place,
         "a lognormal's factor must be above 1 (1.2: two thirds lie within median / 1.2 and "
         "median * 1.2), not %g",
         p[1].value);
  if (p[1].value > largest_factor)
    FAIL(parser, p[1].place, "a lognormal's factor must be at most %g, not %g", largest_factor,
         p[1].value);
  if (check_width(parser, p[1].value - 1, 1, p[1].place))
    return -1;
  out->mean = log(p[0].value * factor);
  out->deviation = log(p[1].value);
  out->low = input->has_min ? fmax(input->min, 0) : 0;
  out->high = input->has_max ? input->max : INFINITY;
  return check_limits(parser, p[0].value * factor, p[0].place);
}

static int by_value(const void *a, const void *b) {
  return number_order(((const struct atom *)a)->value, ((const struct atom *)b)->value);
}

static int read_discrete(struct parser *parser, double factor, struct distribution *out) {
  size_t count = (size_t)parser->count;
  out->atoms = arena_array(parser->arena, count, sizeof *out->atoms);
  out->atom_count = count;
  double all = 0, upto = 0;
  for (size_t i = 0; i < count; i++) {
    const struct parameter *p = &parser->parameters[i];
    if (p->weight <= 0)
      FAIL(parser, p->weight_place, "a weight must be above zero, not %g", p->weight);
    if (p->weight < smallest_weight || p->weight > largest_weight)
      FAIL(parser, p->weight_place, "a weight must be from 1e-9 to 1e9, not %g", p->weight);
    double value = p->name ? p->value : p->value * factor;
    if (check_limits(parser, value, p->place))
      return -1;
    if (parser->input->integer && value != round(value))
      FAIL(parser, p->place, "'%s' must be a whole number, not %g", parser->input->name, p->value);
    out->atoms[i] = (struct atom){value, p->weight};
    all += p->weight;
  }
  qsort(out->atoms, count, sizeof *out->atoms, by_value);
  for (size_t i = 0; i < count; i++) {
    upto += out->atoms[i].upto;
    out->atoms[i].upto = upto / all;
  }
  out->low = out->atoms[0].value;
  out->high = out->atoms[count - 1].value;
  return 0;
}

int distribution_parse(const char *text, struct place place, const struct declaration *input,
                       struct distribution *out, struct arena *arena,
                       struct diagnostics *diagnostics) {
  static int (*const readers[DISTRIBUTION_KINDS])(struct parser *, double,
                                                  struct distribution *) = {
      read_bounded, read_bounded, read_bounded, read_normal, read_lognormal, read_discrete, NULL};
  struct parser parser = {
      .text = text, .place = place, .input = input, .arena = arena, .diagnostics = diagnostics};
  int kind = take_kind(&parser);
  double factor = 1;
  if (kind < 0)
    return -1;
  *out = (struct distribution){.kind = (enum distribution_kind)kind, .integer = input->integer};
  if (kind == DISTRIBUTION_MEASURED && *parser.next)
    FAIL(&parser, place_of(&parser, parser.next), "expected nothing after 'from measurement'");
  if (kind == DISTRIBUTION_MEASURED)
    return 0;
  if (input->choice_count && kind != DISTRIBUTION_DISCRETE)
    FAIL(&parser, place, "'%s' is a choice: expected discrete(%s: 1, ...)", input->name,
         input->choices[0].name);
  if (take_parameters(&parser, out->kind) || (!input->choice_count && take_unit(&parser, &factor)))
    return -1;
  skip_blanks(&parser);
  if (input->choice_count && *parser.next)
    FAIL(&parser, place_of(&parser, parser.next), "expected nothing after the bracket");
  return check_sizes(&parser, out->kind, factor) ? -1 : readers[kind](&parser, factor, out);
}
