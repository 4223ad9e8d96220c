#include "reports/spreadsheet/formula.h"

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/names.h"

#include <string.h>

enum precedence { COMPARISON = 1, SUM, PRODUCT, ATOM };

// A part of a formula; its value times `conversion` is in base units. Zero is zero in any unit.
struct expression {
  const char *text;
  enum precedence precedence;
  struct conversion conversion;
  bool zero;
};

struct rendering {
  const struct formula_references *references;
  const struct declaration *item;
  int column;
  struct arena *arena;
};

static const struct conversion one;
static const struct conversion per_year = {{[CONVERT_HOURS_PER_YEAR] = -1}};
static const struct conversion year = {{[CONVERT_HOURS_PER_YEAR] = 1}};

const char *cell_address(int row, int column, enum address fixed, struct arena *arena) {
  char text[24];
  size_t at = sizeof text;
  for (int rest = row + 1; rest > 0; rest /= 10)
    text[--at] = (char)('0' + rest % 10);
  if (fixed & ADDRESS_ROW)
    text[--at] = '$';
  for (int rest = column + 1; rest > 0; rest = (rest - 1) / 26)
    text[--at] = (char)('A' + (rest - 1) % 26);
  if (fixed & ADDRESS_COLUMN)
    text[--at] = '$';
  return arena_copy_n(arena, text + at, sizeof text - at);
}

const char *sheet_address(const char *sheet, int row, int column, enum address fixed,
                          struct arena *arena) {
  return arena_printf(arena, "'%s'!%s", sheet, cell_address(row, column, fixed, arena));
}

static const char *name_text(const struct rendering *r, struct name *name) {
  return r->references->final ? name_use(name) : name->text;
}

static const char *wrapped(const struct rendering *r, struct expression e, enum precedence least) {
  return e.precedence >= least ? e.text : arena_printf(r->arena, "(%s)", e.text);
}

static struct expression converted(const struct rendering *r, struct expression e,
                                   struct conversion target) {
  struct conversion excess = conversion_multiply(e.conversion, target, -1);
  e.conversion = target;
  if (e.zero || conversion_is_one(excess))
    return e;
  const struct constants *constants = r->references->constants;
  if (r->references->final)
    conversion_use(excess, constants);
  const char *text = arena_printf(r->arena, "%s%s", wrapped(r, e, PRODUCT),
                                  conversion_factors(excess, constants, r->arena));
  return (struct expression){.text = text, .precedence = PRODUCT, .conversion = target};
}

static struct expression render(const struct rendering *r, const struct node *node);

static struct expression atom(const char *text, struct conversion conversion) {
  return (struct expression){.text = text, .precedence = ATOM, .conversion = conversion};
}

static struct name *literal_name(const struct rendering *r, const struct node *node) {
  return constants_literal(r->references->constants, r->item->name, r->item->label,
                           formula_text(node, r->arena), node->value, &node->unit);
}

// A named cell would add nothing to 0, 1 and 100.
static struct expression render_number(const struct rendering *r, const struct node *node) {
  if (node->value == 0)
    return (struct expression){.text = "0", .precedence = ATOM, .zero = true};
  double number = cell_number(node->value, &node->unit);
  const char *text = number == 1     ? "1"
                     : number == 100 ? "100"
                                     : name_text(r, literal_name(r, node));
  return atom(text, node->unit.conversion);
}

static const char *series_address(const struct rendering *r, int declaration, int column,
                                  enum address fixed) {
  if (r->references->series)
    return r->references->series(r->references, declaration, column);
  return cell_address(r->references->rows[declaration], column, fixed, r->arena);
}

static const char *time_address(const struct rendering *r, int series, int column,
                                enum address fixed) {
  const struct formula_references *references = r->references;
  return references->time ? references->time(references, series, column)
                          : cell_address(references->time_row, column, fixed, r->arena);
}

static const char *time_here(const struct rendering *r) {
  return time_address(r, -1, r->column, ADDRESS_ROW);
}

static const char *scalar_text(const struct rendering *r, int declaration) {
  const struct formula_references *references = r->references;
  const char *there = references->scalar ? references->scalar(references, declaration) : NULL;
  return there ? there : name_text(r, references->names[declaration]);
}

static struct expression render_name(const struct rendering *r, const struct node *node) {
  if (node->declaration == T_NAME)
    return atom(time_here(r), one);
  const struct declaration *target = &r->references->model->declarations[node->declaration];
  const char *text = target->kind == DECLARATION_SERIES
                         ? series_address(r, node->declaration, r->column, ADDRESS_RELATIVE)
                         : scalar_text(r, node->declaration);
  return atom(text, target->unit.conversion);
}

// The common unit of the operands of a sum or comparison: plain numbers stay as they are,
// quantities are converted to the unit of the first one that is not zero.
static struct conversion shared_conversion(const struct node *operand, const struct expression *e,
                                           int count) {
  if (dimension_is_one(operand->dimension))
    return one;
  for (int i = 0; i < count; i++)
    if (!e[i].zero)
      return e[i].conversion;
  return one;
}

// Both operands of a sum or comparison, in one unit.
static struct conversion render_both(const struct rendering *r, const struct node *node,
                                     struct expression e[2]) {
  for (int i = 0; i < 2; i++)
    e[i] = render(r, node->arguments[i]);
  struct conversion conversion = shared_conversion(node->arguments[0], e, 2);
  for (int i = 0; i < 2; i++)
    e[i] = converted(r, e[i], conversion);
  return conversion;
}

static struct expression render_sum(const struct rendering *r, const struct node *node) {
  struct expression e[2] = {{0}};
  struct conversion conversion = render_both(r, node, e);
  const char *text = arena_printf(r->arena, "%s%s%s", wrapped(r, e[0], SUM),
                                  operator_table[node->kind].text, wrapped(r, e[1], PRODUCT));
  return (struct expression){.text = text, .precedence = SUM, .conversion = conversion};
}

static struct expression render_product(const struct rendering *r, const struct node *node) {
  struct expression left = render(r, node->arguments[0]);
  struct expression right = render(r, node->arguments[1]);
  int sign = node->kind == NODE_MULTIPLY ? 1 : -1;
  struct conversion conversion = conversion_multiply(left.conversion, right.conversion, sign);
  if (right.precedence == ATOM && !strcmp(right.text, "1")) { // "/ 1 yr" leaves only a conversion
    left.conversion = conversion;
    return left;
  }
  const char *text = arena_printf(r->arena, "%s%s%s", wrapped(r, left, PRODUCT),
                                  operator_table[node->kind].text, wrapped(r, right, ATOM));
  return (struct expression){.text = text, .precedence = PRODUCT, .conversion = conversion};
}

static const char *power_text(const struct rendering *r, struct expression base,
                              struct expression exponent) {
  return arena_printf(r->arena, "(%s^%s)", wrapped(r, base, ATOM), wrapped(r, exponent, ATOM));
}

// A quantity with a unit is only squared or cubed.
static struct expression render_power(const struct rendering *r, const struct node *node) {
  struct expression base = render(r, node->arguments[0]);
  struct expression exponent = converted(r, render(r, node->arguments[1]), one);
  struct conversion conversion = one;
  if (dimension_is_one(node->arguments[0]->dimension))
    base = converted(r, base, one);
  else
    for (int k = 0; k < (int)node->arguments[1]->value; k++)
      conversion = conversion_multiply(conversion, base.conversion, 1);
  return atom(power_text(r, base, exponent), conversion);
}

static const char *comparison_text(const struct rendering *r, const struct node *node) {
  struct expression e[2] = {{0}};
  render_both(r, node, e);
  return arena_printf(r->arena, "%s%s%s", wrapped(r, e[0], SUM), operator_table[node->kind].text,
                      wrapped(r, e[1], SUM));
}

static const char *condition_text(const struct rendering *r, const struct node *node) {
  if (node_is_comparison(node))
    return comparison_text(r, node);
  struct expression e = converted(r, render(r, node), one);
  return arena_printf(r->arena, "%s<>0", wrapped(r, e, SUM));
}

// FUNCTION(lead,argument,...) with the arguments from `first` on in one unit.
static struct expression render_alike(const struct rendering *r, const struct node *node,
                                      const char *function, const char *lead, int first) {
  struct expression e[MAX_ARGUMENTS] = {{0}};
  for (int i = first; i < node->argument_count; i++)
    e[i] = render(r, node->arguments[i]);
  struct conversion conversion =
      shared_conversion(node->arguments[first], e + first, node->argument_count - first);
  const char *text = arena_printf(r->arena, "%s(%s", function, lead);
  for (int i = first; i < node->argument_count; i++)
    text = arena_printf(r->arena, "%s%s%s", text, i > first || *lead ? "," : "",
                        converted(r, e[i], conversion).text);
  return atom(arena_printf(r->arena, "%s)", text), conversion);
}

static struct expression render_growth(const struct rendering *r, const struct node *node) {
  struct expression rate = converted(r, render(r, node->arguments[0]), per_year);
  struct expression years = converted(r, render(r, node->arguments[1]), year);
  return atom(
      arena_printf(r->arena, "((1+%s)^%s)", wrapped(r, rate, PRODUCT), wrapped(r, years, ATOM)),
      one);
}

static struct expression render_round(const struct rendering *r, const struct node *node) {
  const struct node *digits = node->arguments[1];
  bool usual = digits->kind == NODE_NUMBER && digits->value == CEIL_DECIMALS;
  const char *digits_text = usual ? name_text(r, constants_rounding(r->references->constants))
                                  : converted(r, render(r, digits), one).text;
  return atom(arena_printf(r->arena, "ROUND(%s,%s)",
                           converted(r, render(r, node->arguments[0]), one).text, digits_text),
              one);
}

static struct expression render_whole(const struct rendering *r, const struct node *node,
                                      const char *function) {
  return atom(arena_printf(r->arena, "%s(ROUND(%s,%s),0)", function,
                           converted(r, render(r, node->arguments[0]), one).text,
                           name_text(r, constants_rounding(r->references->constants))),
              one);
}

// Left of period 0 is the column of scalars, which is blank in a series' row and so reads as zero,
// as do cells right of the last period.
static struct expression render_neighbour(const struct rendering *r, const struct node *node,
                                          int series, struct conversion conversion) {
  const struct formula_references *references = r->references;
  const int column = r->column + (node->function == FUNCTION_PREV ? -1 : 1);
  const bool outside =
      column < references->first_period || column >= references->first_period + references->periods;
  if (outside && references->series)
    return (struct expression){.text = "0", .precedence = ATOM, .zero = true};
  return atom(series_address(r, series, column, ADDRESS_RELATIVE), conversion);
}

// "A:B"; a range names its sheet once.
static const char *range_text(const struct rendering *r, const char *from, const char *to) {
  const char *sheet = strchr(to, '!');
  return arena_printf(r->arena, "%s:%s", from, sheet ? sheet + 1 : to);
}

// A sum from the column of scalars, which is blank in a series' row, up to the preceding period:
// never its own cell.
static struct expression render_recent(const struct rendering *r, const struct node *node,
                                       int series, struct conversion conversion) {
  const struct formula_references *references = r->references;
  const bool elsewhere = references->series != NULL;
  const int first = references->first_period - (elsewhere ? 0 : 1), last = r->column - 1;
  if (last < first)
    return (struct expression){.text = "0", .precedence = ATOM, .zero = true};
  const char *amounts = range_text(r, series_address(r, series, first, ADDRESS_COLUMN),
                                   series_address(r, series, last, ADDRESS_RELATIVE));
  const char *times = range_text(r, time_address(r, series, first, ADDRESS_ABSOLUTE),
                                 time_address(r, series, last, ADDRESS_ROW));
  const struct expression count = converted(r, render(r, node->arguments[1]), one);
  return atom(arena_printf(r->arena, "SUMPRODUCT((%s>=%s-%s)*%s)", times, time_here(r),
                           wrapped(r, count, PRODUCT), amounts),
              conversion);
}

static struct expression render_series_call(const struct rendering *r, const struct node *node) {
  const struct formula_references *references = r->references;
  int series = node->arguments[0]->declaration, first = references->first_period;
  struct conversion conversion = references->model->declarations[series].unit.conversion;
  if (node->function == FUNCTION_FIRST)
    return atom(series_address(r, series, first, ADDRESS_COLUMN), conversion);
  if (node->function == FUNCTION_RECENT)
    return render_recent(r, node, series, conversion);
  if (function_table[node->function].per_period)
    return render_neighbour(r, node, series, conversion);
  const char *from = series_address(r, series, first, ADDRESS_COLUMN);
  const char *to = series_address(r, series, first + references->periods - 1, ADDRESS_COLUMN);
  return atom(arena_printf(r->arena, "%s(%s)", node->function == FUNCTION_SUM ? "SUM" : "MAX",
                           range_text(r, from, to)),
              conversion);
}

static struct expression render_call(const struct rendering *r, const struct node *node) {
  switch (node->function) {
  case FUNCTION_IF: return render_alike(r, node, "IF", condition_text(r, node->arguments[0]), 1);
  case FUNCTION_MIN: return render_alike(r, node, "MIN", "", 0);
  case FUNCTION_MAX: return render_alike(r, node, "MAX", "", 0);
  case FUNCTION_ROUND: return render_round(r, node);
  case FUNCTION_CEIL: return render_whole(r, node, "ROUNDUP");
  case FUNCTION_FLOOR: return render_whole(r, node, "ROUNDDOWN");
  case FUNCTION_GROWTH: return render_growth(r, node);
  default: return render_series_call(r, node);
  }
}

static struct expression render(const struct rendering *r, const struct node *node) {
  switch (node->kind) {
  case NODE_NUMBER: return render_number(r, node);
  case NODE_NAME: return render_name(r, node);
  case NODE_CALL: return render_call(r, node);
  case NODE_ADD:
  case NODE_SUBTRACT: return render_sum(r, node);
  case NODE_MULTIPLY:
  case NODE_DIVIDE: return render_product(r, node);
  case NODE_POWER: return render_power(r, node);
  case NODE_NEGATE: {
    struct expression e = render(r, node->arguments[0]);
    return atom(arena_printf(r->arena, "(-%s)", wrapped(r, e, ATOM)), e.conversion);
  }
  default: return atom(arena_printf(r->arena, "IF(%s,1,0)", comparison_text(r, node)), one);
  }
}

const char *spreadsheet_formula(const struct declaration *item, const struct node *formula,
                                int column, const struct formula_references *references) {
  struct rendering r = {references, item, column, references->arena};
  bool bare = formula->kind == NODE_NUMBER && formula->value != 0;
  struct expression e =
      bare ? atom(name_text(&r, literal_name(&r, formula)), formula->unit.conversion)
           : render(&r, formula);
  return arena_printf(references->arena, "=%s", converted(&r, e, item->unit.conversion).text);
}
