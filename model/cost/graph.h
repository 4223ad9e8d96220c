// graph: the line items of a cost model, checked, and put in the order of their computation.
//
// A model is the list of declarations read from model/cost/tco.ini, plus the user's own line items.
// A graph is that model as one option uses it: which declarations are inputs there, which are
// computed and by which formula, in an order in which everything stands after what it needs.
//
// Sections of the model's text, in reading order:
//   [group NAME]   label; view = yes (a view of finance, which faces show by itself)
//   [input NAME]   label unit group; default (a quantity, or a choice's name), or required = yes,
//                  or formula with needs; min max above (limits, of which `above` is exclusive),
//                  integer = yes, choices = metered:1 included:0, scope = option (shown per option
//                  even when left at its default), in_rent = yes (does not apply to a rented
//                  option: counts as zero), rent_default (its default in a rented option),
//                  conflicts = NAME (never given together), instead_of = NAME (not given together
//                  at the same level; else the option level wins), needed_with = NAME (must be
//                  given when that is above zero), only_with = NAME (there only where that is
//                  given: its default holds there, else it must be given too), notice = TEXT (said
//                  when it stays at zero)
//   [item NAME]    a scalar:    label unit group formula; needs; role = headline | category
//   [series NAME]  per period:  the same
//   [check NAME]   label unit formula; needs: a difference that must be zero
// `needs = A B` makes a formula hold only in options that give A and B; or_formula and or_needs are
// the second choice.
//
// USD in a model's text stands for the report's currency. Where that is another one, the model also
// has the input exchange_rate, for every input NAME of money the input NAME_usd (by which NAME is
// then computed: NAME_usd / exchange_rate), and the item cost_per_mtok_usd.
#ifndef PERTOKEN_MODEL_COST_GRAPH_H
#define PERTOKEN_MODEL_COST_GRAPH_H

#include "base/ini.h"
#include "model/cost/formula.h"

// The text of model/cost/tco.ini, embedded at build time.
extern const char model_default_text[];
extern const size_t model_default_size;

enum declaration_kind { DECLARATION_INPUT, DECLARATION_SCALAR, DECLARATION_SERIES };
enum role { ROLE_NONE, ROLE_HEADLINE, ROLE_CATEGORY, ROLE_CHECK };
enum own_kind { OWN_NONE, OWN_CAPEX, OWN_OPEX };

enum { MAX_NEEDS = 4, MAX_ALTERNATIVES = 2, MAX_CHOICES = 4, NAME_MAX_LENGTH = 40 };

struct alternative {
  const char *text; // the formula as written
  struct place place;
  struct node *formula;
  int need_count;
  int needs[MAX_NEEDS]; // declarations
};

struct choice {
  const char *name;
  double value;
};

struct declaration {
  enum declaration_kind kind;
  const char *name, *label;
  struct place place;
  struct unit unit;
  int group;
  enum role role;
  enum own_kind own; // a line item of the user's
  int alternative_count;
  struct alternative alternatives[MAX_ALTERNATIVES];

  // inputs only; values in base units
  bool required, integer, per_option, in_rent;
  bool has_default, has_rent_default, has_min, has_max, min_exclusive;
  double default_value, rent_default, min, max;
  int conflicts, instead_of, needed_with, only_with; // a declaration, or -1
  int in_usd, usd_of; // NAME_usd of NAME and the reverse: a declaration, or -1
  const char *notice;
  int choice_count;
  struct choice choices[MAX_CHOICES];
};

struct group {
  const char *name, *label;
  bool view;
};

struct model {
  const struct source *source;
  struct arena *arena;
  struct declaration *declarations; // in reading order
  int count, capacity;
  struct group *groups;
  int group_count;
  const char *currency; // of the report: "USD"
};

// Reads a model's text. NULL after errors. The model must then be given to model_check.
struct model *model_read(const struct source *source, struct arena *arena,
                         struct diagnostics *diagnostics);

// The same for a report in a currency of currency_codes.
struct model *model_read_in(const struct source *source, const char *currency, struct arena *arena,
                            struct diagnostics *diagnostics);

// NAME_usd for an input NAME whose amount is written in USD; else the declaration itself.
int model_stated(const struct model *model, int declaration, const char *amount);

// The currency's unit ("EUR") and units made with it ("EUR/Mtok" of "USD/Mtok").
const char *model_unit_text(const struct model *model, const char *usd_text);

// Adds the user's line item of a scenario's [item NAME]: label, unit, group = capex | opex,
// formula. An opex item also declares NAME_cost, its amount per period. Returns 0 or -1.
int model_add_own(struct model *model, const struct ini_section *section,
                  struct diagnostics *diagnostics);

// Resolves every name and checks every formula: unknown names, dimensions, series where a scalar is
// wanted, cycles. Returns 0 or -1. Call once, after the last model_add_own.
int model_check(struct model *model, struct diagnostics *diagnostics);

// Index of the declaration, or -1.
int model_find(const struct model *model, const char *name);

// Index of a declaration that the program itself relies on: reports its absence as an error.
int model_require(const struct model *model, const char *name, struct diagnostics *diagnostics);

// The nearest declared name of a kind, or NULL.
const char *model_nearest(const struct model *model, const char *name, bool inputs_only,
                          struct arena *arena);

// The name of the choice with this value, or NULL.
const char *declaration_choice(const struct declaration *declaration, double value);

enum { GRAPH_ABSENT = -2, GRAPH_INPUT = -1 };

struct graph {
  const struct model *model;
  const char *option; // for messages
  int *state;         // [model->count] GRAPH_ABSENT, GRAPH_INPUT, or the alternative in use: 0, 1
  int *order;         // [order_count] the computed declarations, each after what it needs
  int order_count;
};

// NEUTRAL: a value that stands in where none applies; no formula that needs the input counts on it.
enum given { GIVEN_NOT, GIVEN_NEUTRAL, GIVEN_VALUE };

// The graph of an option. given[declaration] says which inputs the option has a value for
// (defaults not counted). Missing required inputs are errors at `place`. NULL after errors.
struct graph *graph_build(const struct model *model, const char *option, struct place place,
                          const enum given *given, struct arena *arena,
                          struct diagnostics *diagnostics);

// The formula of a computed declaration.
const struct node *graph_formula(const struct graph *graph, int declaration);

#endif
