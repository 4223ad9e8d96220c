// figure: the value of one input, with its provenance.
#ifndef PERTOKEN_MODEL_SCENARIO_FIGURE_H
#define PERTOKEN_MODEL_SCENARIO_FIGURE_H

#include "base/source.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>

// The origin of a figure, weakest first: of several statements that apply to an option in a case,
// that of the last origin holds. origin_layers shows how each is written.
enum origin {
  ORIGIN_NONE,      // not given: absent, or computed
  ORIGIN_DEFAULT,   // the model's default
  ORIGIN_RENT,      // does not apply to a rented option
  ORIGIN_CATALOGUE, // found in data/, the records or an offer's guarantees
  ORIGIN_COMMON,    // the first of those that are layers of statements
  ORIGIN_CASE,      // an unprefixed key of a case
  ORIGIN_SET,       // --set KEY
  ORIGIN_OPTION,    // option level, from here on
  ORIGIN_CASE_OPTION,
  ORIGIN_SET_OPTION, // --set OPTION.KEY, or an amendment
  ORIGINS
};

struct origin_layer {
  const char *name;    // for programs
  const char *written; // how the layer is written in a file or a command; NULL: it is none
  bool of_option;      // for one option instead of all
  bool of_case;        // in one case instead of all
  bool is_set;         // on the command line
};

extern const struct origin_layer origin_layers[ORIGINS];

// A value of a list by year.
struct list_figure {
  double value;       // base units
  const char *text;   // as typed, complete with its unit
  struct place place; // where it was typed
};

struct figure {
  enum origin origin;
  double value;       // base units
  const char *text;   // as typed: "0.08 USD/kWh"; NULL for defaults
  struct place place; // where it was typed or is in data/; line 0 for defaults
  enum grade grade;
  const char *source;              // a title or reference; "" if none
  const char *date;                // as written; "" if none
  const char *part_of;             // the input whose figure includes it, "list_price"; or NULL
  bool in_usd;                     // an amount in USD, in a report in another currency
  bool contained;                  // in what was measured of the whole node: nothing moves it alone
  bool follows;                    // in a list that has ended: the value before, whatever that is
  const struct list_figure *years; // [year_count] of a list by year, whose first value is `value`
  size_t year_count;               // 0: a single value
  double step_h;                   // of the list as typed; 0: by year
  const struct list_figure *tiers; // [2 * tier_count] of volume tiers: value, number, value, ...
  size_t tier_count;
};

// The suffixes of an input's name that state its provenance: NAME.source, NAME.date, NAME.quote.
enum { FIGURE_ATTRIBUTES = 3 };
extern const char *const figure_attributes[FIGURE_ATTRIBUTES];

// Whether the figure is stated in the scenario or found in data/, rather than a default or unused.
bool figure_is_stated(const struct figure *figure);

// Whether there is a figure, of whatever origin.
bool figure_exists(const struct figure *figure);

// Whether there is a figure, which may be a default, but not the zero of what a rent includes.
bool figure_is_given(const struct figure *figure);

// Whether the figure is stated for this option rather than for all.
bool figure_is_of_option(const struct figure *figure);

// Whether the figure is stated or found for this option alone. Statements for all options,
// including ranges, are then not about it.
bool figure_is_own(const struct figure *figure);

// Whether the figure is given by the selected case or --set. Nothing else then moves it.
bool figure_is_what_if(const struct figure *figure);

// Whether the figure comes from a source: the user's, an offer or the catalogue.
bool figure_has_source(const struct figure *figure);

// The highest of all years.
double figure_highest(const struct figure *figure);

// A figure of ORIGIN_CATALOGUE.
struct figure figure_found(double value, struct place place, enum grade grade, const char *source,
                           const char *date);

// The figure of an input that was given no value.
extern const struct figure figure_none;

#endif
