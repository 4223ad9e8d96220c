// model: the declarations of a cost model: its inputs, its line items and their formulas.
//
// It is read from model/cost/tco.ini, or a text of the user's, and holds for every option; which of
// its formulas an option uses is its graph's to say.
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
enum own_kind { OWN_NONE, OWN_CAPEX, OWN_OPEX };

enum { MAX_NEEDS = 4, MAX_ALTERNATIVES = 2, MAX_CHOICES = 4, MAX_NAME_LENGTH = 40 };

// One formula of a declaration, which holds where an option gives everything that it needs.
struct alternative {
  const char *text; // as written
  struct place place;
  struct node *formula;
  int need_count;
  int needs[MAX_NEEDS]; // declarations
};

// One of the values that an input may have by name: "metered".
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
  int alternative_count;
  struct alternative alternatives[MAX_ALTERNATIVES]; // the first that an option can use counts

  // Of inputs alone, as model_read.h says them; values in base units.
  bool required, integer, per_option, in_rent;
  bool has_default, has_rent_default, has_min, has_max, min_exclusive;
  double default_value, rent_default, min, max;
  int conflicts, instead_of, needed_with, only_with; // a declaration, or -1
  int in_usd, usd_of;                                // NAME_usd of NAME and the reverse; or -1
  const char *notice;                                // NULL for none
  int choice_count;
  struct choice choices[MAX_CHOICES];
};

struct group {
  const char *name, *label;
  bool view; // of finance, which faces show by itself
};

struct model {
  const struct source *source;
  struct arena *arena;              // that everything in it lies in
  struct declaration *declarations; // in reading order
  int count, capacity;
  struct group *groups;
  int group_count;
  const char *currency; // of the report: "USD"
};

// NAME_usd for an input NAME whose amount is written in USD; else the declaration itself.
int model_stated(const struct model *model, int declaration, const char *amount);

// A unit of money in the report's currency: "EUR/Mtok" of "USD/Mtok". In the model's arena.
const char *model_unit_text(const struct model *model, const char *usd_text);

// Index of the declaration, or -1.
int model_find(const struct model *model, const char *name);

// The same for a declaration that the program itself relies on: its absence is an error.
int model_require(const struct model *model, const char *name, struct diagnostics *diagnostics);

// The nearest declared name, or of `inputs_only` the nearest input's; NULL where none is near.
const char *model_nearest(const struct model *model, const char *name, bool inputs_only,
                          struct arena *arena);

// The name of the choice with this value, or NULL.
const char *declaration_choice(const struct declaration *declaration, double value);

#endif
