// scenario: a what-if as an INI file -> options with every input resolved, in every case. read.h
// creates one.
//
// A scenario holds options to be compared, inputs common to them, and named cases (what-ifs). Case
// 0 is "base", the scenario as written; cases 1.. are its [case NAME] sections. An option has the
// same inputs given in every case, so one graph per option serves all cases, and all cases are
// evaluated as one block.
//
// Precedence of an input, lowest first: default; catalogue and evidence; the common level
// ([scenario], [workload], [common], then an unprefixed key of the case, then --set KEY); the
// option level ([option ID], then ID.KEY of the case, then --set ID.KEY).
#ifndef PERTOKEN_MODEL_SCENARIO_SCENARIO_H
#define PERTOKEN_MODEL_SCENARIO_SCENARIO_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/records/records.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"

#include <stdbool.h>
#include <stddef.h>

// Everything a scenario is read with. Whatever it points to must outlive the scenario.
struct scenario_request {
  const char *path;
  const char *text;       // of a file that is yet to be written to `path`; NULL: it exists
  const char *beside;     // a scenario to compare with: both have what either mentions; or NULL
  const char *model_path; // NULL: the built-in model
  const char *data_directory;
  const char *const *data_extras; // [data_extra_count] files of the user's own rows beside it
  size_t data_extra_count;
  const char *measurements_directory; // NULL: no records
  const char *case_name;              // NULL: base
  const char *const *settings;        // "KEY=VALUE", "SECTION.KEY=VALUE" or "OPTION.KEY=VALUE"
  size_t setting_count;
  bool mixed;
  bool varies_horizon; // a question will try any that the model allows
};

struct offer;

// A vendor's offer, and the layer whose inputs it gives.
struct scenario_offer {
  enum origin origin;
  int option;
  size_t which_case;
  const struct offer *offer;
  struct place place; // of the key that names the file
};

struct scenario {
  const struct source *source;
  const char *path, *title;
  const char *date;  // the day as of which staleness is judged, YYYY-MM-DD
  const char *start; // the day on which the first period begins, YYYY-MM-DD
  // SHA-256 of the scenario, what it inherits, its offers, the user's own rows, the model and
  // --set.
  const char *digest;
  struct model *model;
  struct option *options;
  size_t option_count, baseline;
  const char *const *cases; // [case_count]; cases[0] is "base"
  const char *const
      *case_labels; // [case_count]: what people read in its place: the file's, else it
  size_t case_count, selected;
  double period_h;          // by [scenario] period; a year has a whole number of periods
  int periods;              // columns of a series, enough for the longest horizon, at least 7 years
  bool mixed;               // unlike throughputs were allowed with --mixed; they are:
  const char *mixed_reason; // "precision: fp8 and bf16", or ""
  const char *const *settings; // the --set arguments
  size_t setting_count;
  struct place currency_place; // of [scenario] currency; source NULL: not stated, so USD
  struct texts warnings;       // of the scenario as a whole; those of its text and --set first:
  size_t text_warnings;        // the same in every case
  struct texts meant;          // names that refused keys probably meant: scenario_meant
  struct range *ranges;        // range.h; in the order of the file, an ancestor's first
  size_t range_count;
  bool *is_ranged;                  // [model->count]; NULL before ranges are read
  struct correlation *correlations; // range.h; in the order of the file
  size_t correlation_count;
  // [model->count] For an input whose value chose evidence, what was found for that value, in
  // words; NULL for other inputs. Such an input is not varied alone, as another value may find
  // something else: sources.h.
  const char **finds;
  struct free_quantity *frees; // free.h; in the order of the file
  size_t free_count;
  struct scenario_offer *offers; // in the order of the files' keys
  size_t offer_count;
  const struct ini_section *questions; // [claim NAME], [free], [demand NAME], ...: as written
  size_t question_count;
  struct catalog *catalog;       // the data used to resolve it; tables are loaded on demand
  const struct records *records; // of --measurements
  int percentile; // at which ttft and tpot are judged in every option's record; 0: its own
  const char *measurements_directory; // NULL: not requested
  // The statements about the options, so that one can be resolved again in another case or with an
  // amendment: resolution.h.
  bool may_mix;                        // --mixed
  bool varies_horizon;                 // there is room for the longest that the model allows
  const struct inputs *inputs;         // layer by layer
  const struct selections *selections; // [1 + option_count]: the workload's, then each option's
};

// The number of the option with this id, or -1.
int scenario_option(const struct scenario *scenario, const char *id);

// The error "there is no option 'ID'", with the nearest existing id.
void scenario_unknown_option(const struct scenario *scenario, const char *id, struct place place,
                             struct diagnostics *diagnostics);

// The end of a message about an unknown id: the options that could be meant, as name_hint says.
const char *scenario_option_hint(const struct scenario *scenario, const char *id,
                                 struct arena *arena);

// Whether a refused key probably meant this input or selection, which is then not also reported as
// missing.
bool scenario_meant(const struct scenario *scenario, const char *name);

// The number of columns that a series needs for a horizon.
int scenario_columns(const struct scenario *scenario, double horizon_h);

// The start of an operating period: "2027-01", or "2027-01-15" if that is not the first day of a
// month.
const char *scenario_period_begins(const struct scenario *scenario, int period,
                                   struct arena *arena);

// The same for a year of operation, counted from 1.
const char *scenario_year_begins(const struct scenario *scenario, int year, struct arena *arena);

// The same for the time from which a value of an input's list holds, counted from 1.
const char *scenario_value_begins(const struct scenario *scenario, const struct declaration *input,
                                  int number, struct arena *arena);

// The statement about the comparison that every face of the scenario must make: upper bounds,
// unlike workloads; "" for none.
const char *scenario_stamp(const struct scenario *scenario, struct arena *arena);

// The same for a face in which another case can be selected: what is unlike in any of them.
const char *scenario_lasting_stamp(const struct scenario *scenario, struct arena *arena);

// The warnings of the scenario as a whole, then those of each option after its label.
struct texts scenario_all_warnings(const struct scenario *scenario, struct arena *arena);

// The option's figure of an input in a case; figure_none if the model lacks it, -1.
const struct figure *option_figure(const struct scenario *scenario, const struct option *option,
                                   size_t which_case, int declaration);

// The figure of an input as the option states it, in whatever currency, in the selected case.
const struct figure *option_figure_stated(const struct scenario *scenario,
                                          const struct option *option, const char *name);

// The input of a list by year or step that takes an input's value in the selected case, because the
// case's list ends there and another case's does not; or -1.
int option_follower(const struct scenario *scenario, const struct option *option, int declaration);

// The value of a line item or input in the selected case, in base units; period 0 for scalars.
double option_value(const struct scenario *scenario, const struct option *option, int declaration,
                    int period);

// The same by its name, of a scalar. 0: the option or the model has none.
double option_amount(const struct scenario *scenario, const struct option *option,
                     const char *name);

// The offer that gives the option's inputs in a case, or NULL.
const struct scenario_offer *option_offer(const struct scenario *scenario,
                                          const struct option *option, size_t which_case);

// The offer whose file states the figure, or NULL.
const struct scenario_offer *scenario_offer_of(const struct scenario *scenario,
                                               const struct figure *figure);

// The text that faces show instead of an item's value if it is absent in the selected case; else
// NULL.
const char *option_none(const struct scenario *scenario, const struct option *option,
                        int declaration);

// Why an input is not varied alone, in words: something was found for its value. NULL: it may be.
const char *scenario_why_fixed(const struct scenario *scenario, int declaration,
                               struct arena *arena);

// Whether the option has the declaration, as an input or computed, and as its own.
bool option_has(const struct option *option, int declaration);

// Whether any option has the declaration.
bool scenario_has(const struct scenario *scenario, int declaration);

// Whether the declaration belongs to another option whose tokens this one serves: an input, or an
// item that follows only from such inputs.
bool option_is_lent(const struct option *option, int declaration);

// The separator of the options in a list: ", ", or "; " if a label has a comma of its own.
const char *options_between(const struct scenario *scenario);

// A list of options, or of what is said of each, with one more: "a, b".
const char *options_joined(const struct scenario *scenario, const char *list, const char *more,
                           struct arena *arena);

// Whether the option's accelerators are bought, rather than rented or a token API's.
bool option_is_owned(const struct option *option);

// The option's hardware as faces show it: the accelerator's id in the catalogue, or "token API".
const char *option_runs_on(const struct option *option);

// A key of the option's workload as faces show it; "" for nothing. A token API's precision is its
// provider's choice.
const char *option_workload(const struct option *option, enum workload_key key);

// The option's operating periods in a case, the last of which may be cut short: only entries 0..n
// of a series are meaningful.
int option_periods(const struct scenario *scenario, const struct option *option, size_t which_case);

// The row of its published throughput, or the record of its served one, if the selected case uses
// it; else NULL.
const struct evidence *option_published(const struct scenario *scenario,
                                        const struct option *option);
const struct served *option_served(const struct scenario *scenario, const struct option *option);

// The reason why the option's published or served throughput may be wrong, or "".
const char *option_doubt(const struct scenario *scenario, const struct option *option);

// The input for the price of the option's accelerators: list_price or a rent, whatever the currency
// that it is stated in; -1 if the model has none.
int option_price(const struct scenario *scenario, const struct option *option);

// The saving 1 - cost / base; NAN if one of them is less than nothing, which is no share of a cost.
double cost_saving(double cost, double base);

// Whether neither the option nor the baseline costs less than nothing.
bool option_may_save(const struct scenario *scenario, const struct option *option, int item);

// The option's over the baseline for a USD/Mtok item, in the selected case: cost_saving.
double option_saving(const struct scenario *scenario, const struct option *option,
                     const char *item);

#endif
