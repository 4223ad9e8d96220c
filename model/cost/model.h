// model: the declarations of a cost model: its inputs, its line items and their formulas.
//
// It is read from model/cost/tco.ini, or from the user's own text, and holds for every option; the
// graph of an option says which formulas that option uses.
#ifndef PERTOKEN_MODEL_COST_MODEL_H
#define PERTOKEN_MODEL_COST_MODEL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/formula.h"
#include "model/cost/units.h"

#include <stdbool.h>

enum declaration_kind { DECLARATION_INPUT, DECLARATION_SCALAR, DECLARATION_SERIES };
enum role { ROLE_NONE, ROLE_HEADLINE, ROLE_CATEGORY, ROLE_CHECK };

// No farther from zero, a check passes.
#define CHECK_TOLERANCE 1e-9

enum own_kind { OWN_NONE, OWN_CAPEX, OWN_OPEX };

enum {
  MAX_NEEDS = 6,
  MAX_ALTERNATIVES = 10, // some of them added by the program itself
  MAX_CHOICES = 4,
  MAX_RATED = 4,
  MAX_INSTEAD = 3,
  MAX_NAME_LENGTH = 40
};

// One formula of a declaration, which holds if an option gives everything that it needs.
struct alternative {
  const char *text; // as written
  struct place place;
  struct node *formula;
  int need_count;
  int needs[MAX_NEEDS]; // declarations
  bool left_out;        // of this scenario's model: it needs what no option has
};

// One of the named values of an input: "metered".
struct choice {
  const char *name;
  double value;
};

// An input or a line item.
struct declaration {
  enum declaration_kind kind;
  const char *name, *label;
  struct place place; // of its section
  struct unit unit;
  int group; // of model->groups
  enum role role;
  enum own_kind own; // a line item of the user's
  bool varies;       // is a series if a usable formula depends on the period, else one number
  int alternative_count;
  struct alternative alternatives[MAX_ALTERNATIVES]; // the first that an option can use counts

  // Rules of inputs, a few of which items have too, as described in model_read.h; values in base
  // units.
  bool required, integer, property, per_option, in_rent;
  bool of_those_present; // terms of its sum that an option lacks are left out
  bool typed, mentioned; // only the scenario's text can give it; whether it does
  bool has_default, has_rent_default, has_min, has_max, min_exclusive;
  double default_value, rent_default, min, max;
  int conflicts, needed_with, only_with, idle_without; // a declaration each, or -1
  int when_varies, or_with, absent_with;               // the same
  int rated_count, rated[MAX_RATED]; // of a rate: the inputs that it changes from year to year
  int instead_count, instead_of[MAX_INSTEAD], unless; // a declaration each, or -1
  int in_usd, usd_of;                                 // NAME_usd of NAME and the reverse; or -1
  const char *schedule;         // may be a list by year, from which this is computed; NULL: may not
  const char *ages;             // for a list by age instead: pairs of series and age; or NULL
  const char *tiers;            // the stems of the inputs that hold its volume tiers; or NULL
  int *years, year_count;       // NAME_year_1, ... if it is a list in some option: schedule.h
  int scale, year_of, scale_of; // NAME_scale; NAME of NAME_year_1, of NAME_scale; or -1
  double step_h; // of a list that does not go by year, and of the series that counts such steps
  const char *given_as; // the scenario key for it, and for the next with the same key; or NULL
  const char *family;   // of inputs that an option has once it is given one of them; or NULL
  const char *notice;   // NULL for none
  int none_below;       // this item is absent where that item is below zero, or -1
  int none_without;     // or where that item is not above zero, or -1
  const char *none;     // what faces show in its place then
  const char *item;     // of a number in the user's line item: that item; else NULL
  const char *literal;  // how it is written there: "0.4 %/yr"; else NULL
  int choice_count;
  struct choice choices[MAX_CHOICES];
};

struct group {
  const char *name, *label;
  bool view; // of finance, which faces show separately
};

struct model {
  const struct source *source;
  struct arena *arena;              // holds everything in it
  struct declaration *declarations; // in reading order
  int count, capacity;
  struct model_name *names; // of the first `entered` of them, for lookup
  int entered;
  struct group *groups;
  int group_count;
  const char *currency; // of the report: "USD"
};

// NAME_usd for an input NAME whose amount is written in USD; else the declaration itself.
int model_stated(const struct model *model, int declaration, const char *amount);

// NAME of NAME_usd; else the declaration itself, -1 too.
int model_named(const struct model *model, int declaration);

// A unit of money in the report's currency: "EUR/Mtok" for "USD/Mtok". In the model's arena.
const char *model_unit_text(const struct model *model, const char *usd_text);

// Declares a name, at the end. NULL after an error: it is not a valid name, or it is taken.
struct declaration *model_declare(struct model *model, const char *name, struct place place,
                                  struct diagnostics *diagnostics);

// The number of a group, or -1.
int model_group(const struct model *model, const char *name);

// Index of the declaration, or -1; declarations not yet entered are searched one by one.
int model_find(const struct model *model, const char *name);

// The item by which options are ranked, cost_per_mtok, or -1.
int model_cost_item(const struct model *model);

// model_find for a declaration that the program itself relies on: a missing one is an error.
int model_require(const struct model *model, const char *name, struct diagnostics *diagnostics);

// The nearest declared name, of inputs alone if `inputs_only`; NULL if none is near.
const char *model_nearest(const struct model *model, const char *name, bool inputs_only,
                          struct arena *arena);

// Whether one of the two inputs takes the place of the other.
bool model_excludes(const struct model *model, int a, int b);

// Whether the declaration has a value per period. An input does in the options that give it by
// year.
bool declaration_is_series(const struct declaration *declaration);

// Whether it counts time from the start of operation, for lists: `year`, or the steps of step.h.
bool declaration_is_clock(const struct declaration *declaration);

// A scenario's key for an input: its name or, if one key stands for several inputs, that key for
// the first of them and "" for the others.
const char *declaration_key(const struct model *model, int declaration);

// The name of the choice with this value, or NULL.
const char *declaration_choice(const struct declaration *declaration, double value);

#endif
