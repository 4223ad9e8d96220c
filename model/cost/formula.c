#include "model/cost/formula.h"

#include "base/digits.h"
#include "base/short_text.h"
#include "base/source.h"
#include "model/cost/quantity.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct function_info function_table[FUNCTIONS] = {
    [FUNCTION_IF] = {"if", 3, 3, .takes_series = false},
    [FUNCTION_MIN] = {"min", 1, MAX_ARGUMENTS, .takes_series = false},
    [FUNCTION_MAX] = {"max", 1, MAX_ARGUMENTS, .takes_series = false},
    [FUNCTION_ROUND] = {"round", 2, 2, .takes_series = false},
    [FUNCTION_CEIL] = {"ceil", 1, 1, .takes_series = false},
    [FUNCTION_FLOOR] = {"floor", 1, 1, .takes_series = false},
    [FUNCTION_GROWTH] = {"growth", 2, 2, .takes_series = false},
    [FUNCTION_SUM] = {"sum", 1, 1, .takes_series = true},
    [FUNCTION_HIGHEST] = {"highest", 1, 1, .takes_series = true},
    [FUNCTION_FIRST] = {"first", 1, 1, .takes_series = true},
    [FUNCTION_PREV] = {"prev", 1, 1, .takes_series = true, .per_period = true},
    [FUNCTION_NEXT] = {"next", 1, 1, .takes_series = true, .per_period = true},
    [FUNCTION_RECENT] = {"recent", 2, 2, .takes_series = true, .per_period = true},
    [FUNCTION_OWN] = {"own", 1, 1, .takes_series = false},
};

const struct operator_info operator_table[NODE_KINDS] = {
    [NODE_EQUAL] = {"=", 1},       [NODE_UNEQUAL] = {"<>", 1}, [NODE_LESS] = {"<", 1},
    [NODE_LESS_EQUAL] = {"<=", 1}, [NODE_GREATER] = {">", 1},  [NODE_GREATER_EQUAL] = {">=", 1},
    [NODE_ADD] = {"+", 2},         [NODE_SUBTRACT] = {"-", 2}, [NODE_MULTIPLY] = {"*", 3},
    [NODE_DIVIDE] = {"/", 3},      [NODE_POWER] = {"^", 4},
};

enum { PRECEDENCE_COMPARISON = 1, PRECEDENCE_POWER = 4, MAX_DEPTH = 200 };

enum { MAX_QUOTED = 20 }; // bytes of the faulty text

struct parser {
  const char *text;
  size_t at;
  struct place place;
  int depth;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static struct place here(const struct parser *parser) {
  struct place place = parser->place;
  place.column += (int)parser->at;
  return place;
}

static void skip_spaces(struct parser *parser) {
  parser->at += strspn(parser->text + parser->at, " \t");
}

static struct node *fail(struct parser *parser, const char *expected) {
  const char *rest = parser->text + parser->at;
  if (*rest)
    diagnostics_error(parser->diagnostics, here(parser), "expected %s before '%.*s'", expected,
                      (int)text_within(rest, MAX_QUOTED), rest);
  else
    diagnostics_error(parser->diagnostics, here(parser), "expected %s at the end of the formula",
                      expected);
  return NULL;
}

static struct node *new_node(struct parser *parser, enum node_kind kind) {
  struct node *node = arena_alloc(parser->arena, sizeof *node);
  node->kind = kind;
  node->place = here(parser);
  node->declaration = UNRESOLVED;
  return node;
}

static bool accept(struct parser *parser, char c) {
  skip_spaces(parser);
  if (parser->text[parser->at] != c)
    return false;
  parser->at++;
  return true;
}

static struct node *parse_level(struct parser *parser, int precedence);

static struct node *parse_number(struct parser *parser) {
  struct node *node = new_node(parser, NODE_NUMBER);
  const char *start = parser->text + parser->at;
  parser->at += number_prefix(start, &node->value);
  size_t before = parser->at;
  skip_spaces(parser);
  size_t length = unit_prefix(parser->text + parser->at, &node->unit, parser->arena);
  if (length && node->unit.text[0] != '1') {
    node->value *= unit_factor(&node->unit);
    parser->at += length;
    node->name = arena_copy_n(parser->arena, start, (size_t)(parser->text + parser->at - start));
    return node;
  }
  node->name = arena_copy_n(parser->arena, start, (size_t)(parser->text + before - start));
  node->unit = (struct unit){.text = "", .counts = true};
  parser->at = before;
  return node;
}

static const char *parse_word(struct parser *parser) {
  const char *start = parser->text + parser->at;
  size_t length = 0;
  while (isalnum((unsigned char)start[length]) || start[length] == '_')
    length++;
  parser->at += length;
  return arena_copy_n(parser->arena, start, length);
}

static int find_function(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (!strcmp(function_table[i].name, name))
      return i;
  return -1;
}

static struct node *unknown_function(struct parser *parser, const struct node *call) {
  const char *names[FUNCTIONS];
  for (int i = 0; i < FUNCTIONS; i++)
    names[i] = function_table[i].name;
  const char *nearest = nearest_name(call->name, names, FUNCTIONS);
  if (nearest)
    diagnostics_error(parser->diagnostics, call->place, "unknown function '%s'; did you mean '%s'?",
                      call->name, nearest);
  else
    diagnostics_error(parser->diagnostics, call->place, "unknown function '%s'", call->name);
  return NULL;
}

static struct node *parse_arguments(struct parser *parser, struct node *call) {
  do {
    if (call->argument_count == MAX_ARGUMENTS)
      return fail(parser, "fewer arguments");
    struct node *argument = parse_level(parser, PRECEDENCE_COMPARISON);
    if (!argument)
      return NULL;
    call->arguments[call->argument_count++] = argument;
  } while (accept(parser, ','));
  return accept(parser, ')') ? call : fail(parser, "',' or ')'");
}

static struct node *parse_call(struct parser *parser, struct node *call) {
  int function = find_function(call->name);
  if (function < 0)
    return unknown_function(parser, call);
  call->kind = NODE_CALL;
  call->function = (enum function)function;
  if (!parse_arguments(parser, call))
    return NULL;
  const struct function_info *info = &function_table[function];
  if (call->argument_count < info->min_arguments || call->argument_count > info->max_arguments) {
    diagnostics_error(parser->diagnostics, call->place, "%s() takes %d argument%s, not %d",
                      info->name, info->min_arguments, info->min_arguments == 1 ? "" : "s",
                      call->argument_count);
    return NULL;
  }
  bool wants_name = info->takes_series || function == FUNCTION_OWN;
  if (wants_name && call->arguments[0]->kind != NODE_NAME) {
    diagnostics_error(parser->diagnostics, call->arguments[0]->place, "%s() takes a name",
                      info->name);
    return NULL;
  }
  if (function == FUNCTION_RECENT && call->arguments[1]->kind != NODE_NAME &&
      call->arguments[1]->kind != NODE_NUMBER) {
    diagnostics_error(parser->diagnostics, call->arguments[1]->place,
                      "the number of periods of recent() is a name or a number");
    return NULL;
  }
  return call;
}

static struct node *parse_name(struct parser *parser) {
  struct node *node = new_node(parser, NODE_NAME);
  node->name = parse_word(parser);
  return accept(parser, '(') ? parse_call(parser, node) : node;
}

static struct node *parse_reference(struct parser *parser) {
  const char *start = parser->text + parser->at, *end = start + strcspn(start, "]\n");
  if (*end != ']')
    return fail(parser, "'[' with a ']' in its line");
  struct node *node = new_node(parser, NODE_NAME);
  node->name = arena_copy_n(parser->arena, start, (size_t)(end + 1 - start));
  parser->at += (size_t)(end + 1 - start);
  return node;
}

static struct node *parse_operand(struct parser *parser);

static struct node *parse_negation(struct parser *parser) {
  struct node *node = new_node(parser, NODE_NEGATE);
  parser->at++;
  skip_spaces(parser);
  if (parser->text[parser->at] == '-')
    return fail(parser, "one minus sign, or parentheses,");
  node->arguments[0] = parse_operand(parser);
  node->argument_count = 1;
  if (!node->arguments[0])
    return NULL;
  skip_spaces(parser);
  if (parser->text[parser->at] == '^')
    return fail(parser, "parentheses in -a^b: (-a)^b or -(a^b)");
  return node;
}

static struct node *parse_primary(struct parser *parser) {
  skip_spaces(parser);
  char c = parser->text[parser->at];
  if (c == '-')
    return parse_negation(parser);
  if (isdigit((unsigned char)c) || c == '.') {
    double ignored;
    return number_prefix(parser->text + parser->at, &ignored) ? parse_number(parser)
                                                              : fail(parser, "a number");
  }
  if (isalpha((unsigned char)c))
    return parse_name(parser);
  if (c == '[')
    return parse_reference(parser);
  if (!accept(parser, '('))
    return fail(parser, "a number, a name or '('");
  struct node *inner = parse_level(parser, PRECEDENCE_COMPARISON);
  if (inner && !accept(parser, ')'))
    return fail(parser, "')'");
  return inner;
}

static struct node *parse_operand(struct parser *parser) {
  if (++parser->depth > MAX_DEPTH)
    return fail(parser, "fewer nested parentheses");
  struct node *node = parse_primary(parser);
  parser->depth--;
  return node;
}

static enum node_kind peek_operator(struct parser *parser, int precedence, size_t *length) {
  skip_spaces(parser);
  enum node_kind found = NODE_KINDS;
  *length = 0;
  for (int kind = 0; kind < NODE_KINDS; kind++) {
    const char *text = operator_table[kind].text;
    if (!text || operator_table[kind].precedence != precedence || strlen(text) <= *length)
      continue;
    if (strncmp(parser->text + parser->at, text, strlen(text)) != 0)
      continue;
    found = (enum node_kind)kind;
    *length = strlen(text);
  }
  return found;
}

// Comparisons and powers do not chain; sums and products associate to the left.
static struct node *parse_chain(struct parser *parser, int precedence) {
  struct node *left =
      precedence == PRECEDENCE_POWER ? parse_operand(parser) : parse_level(parser, precedence + 1);
  bool chains = precedence != PRECEDENCE_POWER && precedence != PRECEDENCE_COMPARISON;
  for (int count = 0; left; count++) {
    size_t length;
    enum node_kind kind = peek_operator(parser, precedence, &length);
    if (kind == NODE_KINDS)
      return left;
    if (count && !chains)
      return fail(parser, "parentheses: this operator does not chain");
    struct node *node = new_node(parser, kind);
    parser->at += length;
    node->arguments[0] = left;
    node->arguments[1] = precedence == PRECEDENCE_POWER ? parse_operand(parser)
                                                        : parse_level(parser, precedence + 1);
    node->argument_count = 2;
    if (!node->arguments[1])
      return NULL;
    left = node;
  }
  return left;
}

static struct node *parse_level(struct parser *parser, int precedence) {
  if (++parser->depth > MAX_DEPTH)
    return fail(parser, "fewer nested parentheses");
  struct node *node = parse_chain(parser, precedence);
  parser->depth--;
  return node;
}

struct node *formula_parse(const char *text, struct place place, struct arena *arena,
                           struct diagnostics *diagnostics) {
  struct parser parser = {.text = text, .place = place, .arena = arena, .diagnostics = diagnostics};
  struct node *node = parse_level(&parser, PRECEDENCE_COMPARISON);
  skip_spaces(&parser);
  if (node && text[parser.at])
    return fail(&parser, "an operator");
  return node;
}

bool node_takes_series(const struct node *node) {
  return node->kind == NODE_CALL && function_table[node->function].takes_series;
}

bool node_reads_past(const struct node *node) {
  return node_calls(node, FUNCTION_PREV) || node_calls(node, FUNCTION_RECENT);
}

bool node_calls(const struct node *node, enum function function) {
  return node->kind == NODE_CALL && node->function == function;
}

bool node_is_comparison(const struct node *node) {
  return node->kind >= NODE_EQUAL && node->kind <= NODE_GREATER_EQUAL;
}

static struct node *name_node(const char *name, struct place place, struct arena *arena) {
  struct node *node = arena_alloc(arena, sizeof *node);
  *node = (struct node){.kind = NODE_NAME, .place = place, .name = name, .declaration = UNRESOLVED};
  return node;
}

struct node *formula_times(struct node *formula, const char *name, struct arena *arena) {
  struct node *product = arena_alloc(arena, sizeof *product);
  *product = (struct node){.kind = NODE_MULTIPLY,
                           .place = formula->place,
                           .argument_count = 2,
                           .arguments = {formula, name_node(name, formula->place, arena)}};
  return product;
}

struct node *formula_if(const char *name, struct node *formula, struct arena *arena) {
  struct node *zero = arena_alloc(arena, sizeof *zero),
              *choice = arena_alloc(arena, sizeof *choice);
  *zero = (struct node){
      .kind = NODE_NUMBER, .place = formula->place, .unit = {.text = "", .counts = true}};
  *choice = (struct node){.kind = NODE_CALL,
                          .function = FUNCTION_IF,
                          .place = formula->place,
                          .argument_count = 3,
                          .arguments = {name_node(name, formula->place, arena), formula, zero}};
  return choice;
}

static const char *number_text(const struct node *node, struct arena *arena) {
  double typed = node->value / (node->unit.text[0] ? unit_factor(&node->unit) : 1);
  char digits[DIGITS_ROOM];
  return arena_printf(arena, "%s%s%s", digits_shortest(typed, digits),
                      node->unit.text[0] ? " " : "", node->unit.text);
}

static const char *call_text(const struct node *node, struct arena *arena) {
  const char *text = arena_printf(arena, "%s(", function_table[node->function].name);
  for (int i = 0; i < node->argument_count; i++)
    text =
        arena_printf(arena, "%s%s%s", text, i ? ", " : "", formula_text(node->arguments[i], arena));
  return arena_printf(arena, "%s)", text);
}

// The right operand of - and / needs parentheses at equal precedence, and so does any operand of an
// operator that does not chain.
static const char *operand_text(const struct node *node, int precedence, bool right,
                                struct arena *arena) {
  int own = operator_table[node->kind].precedence;
  if (node->kind == NODE_NEGATE)
    own = right || precedence == PRECEDENCE_POWER ? 1 : PRECEDENCE_POWER;
  bool chains = precedence == 2 || precedence == 3;
  bool closed = !own || own > precedence || (own == precedence && chains && !right);
  const char *text = formula_text(node, arena);
  return closed ? text : arena_printf(arena, "(%s)", text);
}

const char *formula_text(const struct node *node, struct arena *arena) {
  if (node->kind == NODE_NUMBER)
    return number_text(node, arena);
  if (node->kind == NODE_NAME)
    return node->name;
  if (node->kind == NODE_CALL)
    return call_text(node, arena);
  if (node->kind == NODE_NEGATE)
    return arena_printf(arena, "-%s", operand_text(node->arguments[0], 4, false, arena));
  int precedence = operator_table[node->kind].precedence;
  const char *space = node->kind == NODE_POWER ? "" : " ";
  return arena_printf(arena, "%s%s%s%s%s",
                      operand_text(node->arguments[0], precedence, false, arena), space,
                      operator_table[node->kind].text, space,
                      operand_text(node->arguments[1], precedence, true, arena));
}
