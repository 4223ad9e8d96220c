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
  int in_usd, usd_of;                                // NAME_usd of NAME and the reverse; or -1
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

// NAME_usd for an input NAME whose amount is written in USD; else the declaration itself.
int model_stated(const struct model *model, int declaration, const char *amount);

// The currency's unit ("EUR") and units made with it ("EUR/Mtok" of "USD/Mtok").
const char *model_unit_text(const struct model *model, const char *usd_text);

// Index of the declaration, or -1.
int model_find(const struct model *model, const char *name);

// Index of a declaration that the program itself relies on: reports its absence as an error.
int model_require(const struct model *model, const char *name, struct diagnostics *diagnostics);

// The nearest declared name of a kind, or NULL.
const char *model_nearest(const struct model *model, const char *name, bool inputs_only,
                          struct arena *arena);

// The name of the choice with this value, or NULL.
const char *declaration_choice(const struct declaration *declaration, double value);

#endif
