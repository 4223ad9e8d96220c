// formula: parses the formula of one line item into a tree, and writes a tree as text.
//
//   formula = sum [ ("=" | "<>" | "<" | "<=" | ">" | ">=") sum ]
//   sum     = product { ("+" | "-") product }
//   product = power { ("*" | "/") power }
//   power   = operand [ "^" operand ]            a second ^ needs parentheses
//   operand = "-" operand | number [unit] | name | "[" text "]" | "(" formula ")"
//           | function "(" formula { "," formula } ")"
//
// A comparison evaluates to 1 or 0. Where spreadsheets disagree with each other (-2^2, 2^3^2), the
// grammar requires parentheses, so every reading is the same. A text in brackets is a name,
// brackets included, that no cost model declares: the evaluator of the formula looks it up.
//
//   if(condition, then, else)   min(a, ...)   max(a, ...)   round(x, digits)
//   ceil(x)           ROUNDUP(ROUND(x, 9), 0): 880.0000000000001 counts as 880
//   floor(x)          ROUNDDOWN(ROUND(x, 9), 0): 2.9999999999999 counts as 3
//   growth(g, years)  (1 + g * 1 yr) ^ (years / 1 yr)
//   sum(series)       over all periods
//   highest(series)   of all periods
//   first(series)     in period 0
//   prev(series)      one period earlier, 0 in period 0
//   next(series)      one period later, 0 in the last
//   recent(series, n) the sum over the n periods before this one; n is a name or a number
//   own(group)        the user's own line items of a group
//   t                 the number of the period, 0 for the purchase
//   year              a name, not a unit, unless a number stands right before it
#ifndef PERTOKEN_MODEL_COST_FORMULA_H
#define PERTOKEN_MODEL_COST_FORMULA_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/units.h"

#include <stdbool.h>

enum node_kind {
  NODE_NUMBER,
  NODE_NAME,
  NODE_NEGATE,
  NODE_ADD,
  NODE_SUBTRACT,
  NODE_MULTIPLY,
  NODE_DIVIDE,
  NODE_POWER,
  NODE_EQUAL,
  NODE_UNEQUAL,
  NODE_LESS,
  NODE_LESS_EQUAL,
  NODE_GREATER,
  NODE_GREATER_EQUAL,
  NODE_CALL,
  NODE_KINDS
};

enum function {
  FUNCTION_IF,
  FUNCTION_MIN,
  FUNCTION_MAX,
  FUNCTION_ROUND,
  FUNCTION_CEIL,
  FUNCTION_FLOOR,
  FUNCTION_GROWTH,
  FUNCTION_SUM,
  FUNCTION_HIGHEST,
  FUNCTION_FIRST,
  FUNCTION_PREV,
  FUNCTION_NEXT,
  FUNCTION_RECENT,
  FUNCTION_OWN,
  FUNCTIONS
};

struct function_info {
  const char *name;
  int min_arguments, max_arguments;
  bool takes_series; // takes a series by name as its first argument, to read it in other periods
  bool per_period;   // varies by period, whatever its arguments
};

extern const struct function_info function_table[FUNCTIONS];

struct operator_info {
  const char *text; // "+"; NULL if not a binary operator
  int precedence;   // higher binds tighter
};

extern const struct operator_info operator_table[NODE_KINDS];

// The number of decimals that ceil() and floor() round to first.
#define CEIL_DECIMALS 9

enum { MAX_ARGUMENTS = 16 };

struct node {
  enum node_kind kind;
  enum function function; // of a NODE_CALL
  struct place place;
  double value;     // NODE_NUMBER, in base units
  struct unit unit; // NODE_NUMBER, as written
  const char *name; // NODE_NAME; the group of own(); a NODE_NUMBER as written, with its unit
  int argument_count;
  struct node *arguments[MAX_ARGUMENTS];
  // Set by model_check:
  int declaration; // NODE_NAME: index into the model's declarations, or T_NAME for t
  struct dimension dimension;
};

enum { UNRESOLVED = -1, T_NAME = -2 };

// Whether the node is a call that takes a series by name.
bool node_takes_series(const struct node *node);

// Whether the node is a call that takes a series and reads only earlier periods of it, so that a
// series may use it to read itself.
bool node_reads_past(const struct node *node);

// Whether the node is a call of this function.
bool node_calls(const struct node *node, enum function function);

// Whether it compares two values: "=" to ">=".
bool node_is_comparison(const struct node *node);

// A tree in the arena; `place` is where the text starts. NULL after an error, which points at its
// own column.
struct node *formula_parse(const char *text, struct place place, struct arena *arena,
                           struct diagnostics *diagnostics);

// The tree multiplied by the declaration called NAME.
struct node *formula_times(struct node *formula, const char *name, struct arena *arena);

// The tree where the declaration called NAME is not 0, else 0, whatever the tree then gives.
struct node *formula_if(const char *name, struct node *formula, struct arena *arena);

// The tree as formula text, in the arena; parses back to the same tree.
const char *formula_text(const struct node *node, struct arena *arena);

#endif
