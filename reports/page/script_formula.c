#include "reports/page/script_formula.h"

#include "base/arena.h"
#include "base/digits.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"

#include <stdbool.h>

// How tightly a piece of script binds.
enum precedence { SUM = 1, PRODUCT, ATOM };

struct piece {
  const char *text;
  enum precedence precedence;
};

struct rendering {
  const struct graph *graph;
  struct arena *arena;
};

// Operators of the script have a precedence; the rest are functions.
static const struct {
  const char *text;
  enum precedence precedence; // 0: a function
} operators[NODE_KINDS] = {
    [NODE_ADD] = {" + ", SUM},
    [NODE_SUBTRACT] = {" - ", SUM},
    [NODE_MULTIPLY] = {" * ", PRODUCT},
    [NODE_DIVIDE] = {" / ", PRODUCT},
    [NODE_POWER] = {"power", 0},
    [NODE_EQUAL] = {"equal", 0},
    [NODE_UNEQUAL] = {"unequal", 0},
    [NODE_LESS] = {"less", 0},
    [NODE_LESS_EQUAL] = {"less_equal", 0},
    [NODE_GREATER] = {"greater", 0},
    [NODE_GREATER_EQUAL] = {"greater_equal", 0},
};

static struct piece render(const struct rendering *r, const struct node *node);

static struct piece atom(const char *text) {
  return (struct piece){text, ATOM};
}

static const char *wrapped(const struct rendering *r, struct piece piece, enum precedence least) {
  return piece.precedence >= least ? piece.text : arena_printf(r->arena, "(%s)", piece.text);
}

static bool is_series(const struct rendering *r, const struct node *node) {
  return node->declaration >= 0 && graph_is_series(r->graph, node->declaration);
}

static struct piece render_name(const struct rendering *r, const struct node *node) {
  if (node->declaration == T_NAME)
    return atom("t");
  return atom(arena_printf(r->arena, is_series(r, node) ? "v.%s[t]" : "v.%s", node->name));
}

static const char *joined(const struct rendering *r, const struct node *node) {
  const char *text = "";
  for (int i = 0; i < node->argument_count; i++)
    text =
        arena_printf(r->arena, "%s%s%s", text, i ? ", " : "", render(r, node->arguments[i]).text);
  return text;
}

static struct piece render_call(const struct rendering *r, const struct node *node) {
  if (graph_single(r->graph, node))
    return render(r, node->arguments[0]);
  const char *function = function_table[node->function].name;
  switch (node->function) {
  case FUNCTION_IF: return atom(arena_printf(r->arena, "choose(%s)", joined(r, node)));
  case FUNCTION_SUM:
  case FUNCTION_HIGHEST:
  case FUNCTION_FIRST:
    return atom(arena_printf(r->arena, "%s(v.%s)", function, node->arguments[0]->name));
  case FUNCTION_PREV:
  case FUNCTION_NEXT:
    return atom(arena_printf(r->arena, "%s(v.%s, t)", function, node->arguments[0]->name));
  case FUNCTION_RECENT:
    return atom(arena_printf(r->arena, "%s(v.%s, t, %s)", function, node->arguments[0]->name,
                             render(r, node->arguments[1]).text));
  default: return atom(arena_printf(r->arena, "%s(%s)", function, joined(r, node)));
  }
}

static bool divides_by_number(const struct node *node) {
  return node->arguments[1]->kind == NODE_NUMBER && node->arguments[1]->value != 0;
}

// Sums and products associate to the left: the right operand needs parentheses unless it binds more
// tightly than the operator.
static struct piece render_binary(const struct rendering *r, const struct node *node) {
  const enum precedence precedence = operators[node->kind].precedence;
  if (node->kind == NODE_DIVIDE && !divides_by_number(node))
    return atom(arena_printf(r->arena, "divide(%s)", joined(r, node)));
  if (!precedence)
    return atom(arena_printf(r->arena, "%s(%s)", operators[node->kind].text, joined(r, node)));
  const char *text = arena_printf(
      r->arena, "%s%s%s", wrapped(r, render(r, node->arguments[0]), precedence),
      operators[node->kind].text, wrapped(r, render(r, node->arguments[1]), precedence + 1));
  return (struct piece){text, precedence};
}

static struct piece render(const struct rendering *r, const struct node *node) {
  char digits[DIGITS_ROOM];
  switch (node->kind) {
  case NODE_NUMBER: return atom(arena_copy(r->arena, digits_shortest(node->value, digits)));
  case NODE_NAME: return render_name(r, node);
  case NODE_CALL: return render_call(r, node);
  case NODE_NEGATE:
    return atom(arena_printf(r->arena, "(-%s)", wrapped(r, render(r, node->arguments[0]), ATOM)));
  default: return render_binary(r, node);
  }
}

// "v.list_price * (1 - v.discount)"; in a series, `t` is the period.
static const char *script_text(const struct graph *graph, const struct node *formula,
                               struct arena *arena) {
  const struct rendering r = {graph, arena};
  return render(&r, formula).text;
}

const char *script_item(const struct graph *graph, int declaration, struct arena *arena) {
  const struct declaration *item = &graph->model->declarations[declaration];
  const char *formula = script_text(graph, graph_formula(graph, declaration), arena);
  if (graph_is_series(graph, declaration))
    return arena_printf(arena, "v.%s = [];\n  fill(v.%s, last, (t) => %s);", item->name, item->name,
                        formula);
  return arena_printf(arena, "v.%s = %s;", item->name, formula);
}

const char *script_graph(const struct graph *graph, struct arena *arena) {
  const char *text = "(v, last) => {\n";
  for (int i = 0; i < graph->order_count; i++)
    text = arena_printf(arena, "%s  %s\n", text, script_item(graph, graph->order[i], arena));
  return arena_printf(arena, "%s}", text);
}
