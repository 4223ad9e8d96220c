// scenario: a what-if as an INI file -> options with every input resolved, in every case.
//
// A scenario holds options to be compared, inputs common to them, and named cases (what-ifs). Case
// 0 is "base", the scenario as it stands; cases 1.. are its [case NAME] sections. Every option has
// the same inputs given in every case, so one graph per option serves all cases, and all cases are
// evaluated as one block.
//
// Precedence of an input, lowest first: default; catalogue and evidence; the common level
// ([scenario], [workload], [common], then an unprefixed key of the case, then --set KEY); the
// option level ([option ID], then ID.KEY of the case, then --set ID.KEY).
#ifndef PERTOKEN_MODEL_SCENARIO_SCENARIO_H
#define PERTOKEN_MODEL_SCENARIO_SCENARIO_H

#include "base/ini.h"
#include "base/texts.h"
#include "model/chance/distribution.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/evidence/catalog.h"
#include "model/evidence/recorded.h"
#include "model/evidence/workload.h"

enum origin {
  ORIGIN_NONE,      // not given: absent, or computed
  ORIGIN_DEFAULT,   // the model's default
  ORIGIN_RENT,      // does not apply to a rented option
  ORIGIN_CATALOGUE, // found in data/
  ORIGIN_COMMON,
  ORIGIN_CASE,   // an unprefixed key of a case
  ORIGIN_SET,    // --set KEY
  ORIGIN_OPTION, // option level, from here on
  ORIGIN_CASE_OPTION,
  ORIGIN_SET_OPTION
};

// The value of one input of one option in one case, with its provenance.
struct figure {
  enum origin origin;
  double value;       // base units
  const char *text;   // as typed: "0.08 USD/kWh"; NULL for defaults
  struct place place; // where it was typed or stands in data/; line 0 for defaults
  enum grade grade;
  const char *source; // a title or reference; "" if none
  const char *date;   // as written; "" if none
  bool in_usd;        // of an amount in USD where the report is in another currency
};

struct option {
  const char *id;
  struct place place;
  const char *accelerator;          // id in the catalogue
  const char *accelerator_name;     // of the catalogue, or of the device in a record
  const struct measurement *record; // whose decode throughput it has, or NULL
  const struct graph *graph;
  struct evaluation *evaluation; // width: scenario.case_count
  struct figure *figures;        // [case_count][model->count]; see option_figure
  struct workload workload;      // what its throughput was measured on
  const struct curve *curve;     // over the batch, where an interactivity chose one, else NULL
  struct curve_choice choice;    // on the curve
  bool rented, decode_only;
  enum grade throughput_grade, power_grade, price_grade, headline_grade; // in the selected case
  const char *throughput_doubt; // why the published throughput may be wrong; NULL or "" for none
  struct texts warnings;        // of this option, as sentences without full stop
  const char *not_included;     // "server, network", or ""
};

// What is believed of an input beside its value, by a key of [range]. Without an option it is of
// the common value, and holds for every option that takes that: none of its own, no rent. An
// option's own range goes before the common one. In the selected case, and after --set, a value
// given there for the same input and level is certain: the range does not apply.
struct range {
  const char *key; // "electricity_price", "mi325x.discount"
  struct place place;
  int declaration, option; // option: -1 for the common value
  struct distribution distribution;
};

// A rank correlation (Spearman's) by a key of [correlate].
struct correlation {
  size_t a, b; // ranges; a < b
  double rank; // within [-1, 1]
  struct place place;
};

// An input whose value nobody stated, by a key of [free], with the range in which it may lie: what
// an audit searches. Where nothing else gives the input a value, the middle of the range stands in.
struct free_quantity {
  const char *key; // "mi325x.throughput", "electricity_price"
  struct place place;
  int declaration, option; // option: -1 for the common value
  double low, high;        // base units; low < high
};

struct scenario_request;

struct scenario {
  const struct source *source;
  const char *path, *title;
  const char *date;   // the day that staleness is counted from, YYYY-MM-DD
  const char *digest; // SHA-256 over the scenario, what it inherits, the model and --set
  struct model *model;
  struct option *options;
  size_t option_count, baseline;
  const char *const *cases; // [case_count]; cases[0] is "base"
  size_t case_count, selected;
  double period_h; // a period's length by [scenario] period; a year has a whole number of them
  int periods; // columns of a series, enough for the longest horizon of any case, at least 7 years
  bool mixed;  // unlike throughputs were allowed with --mixed; they are:
  const char *mixed_reason;    // "precision: fp8 and bf16", or ""
  const char *const *settings; // the --set arguments
  size_t setting_count;
  struct texts warnings; // of the scenario as a whole
  struct range *ranges;  // in the order of the file, an ancestor's first; of no effect on the cases
  size_t range_count;
  struct correlation *correlations; // in the order of the file
  size_t correlation_count;
  struct free_quantity *frees; // in the order of the file
  size_t free_count;
  const struct ini_section *questions; // [claim NAME], [free], [demand NAME], ...: as they stand
  size_t question_count;
  const struct scenario_request *request; // what it was read with, to read it again with more
  struct catalog *catalog;       // the data it was resolved with; tables load when asked for
  const struct records *records; // of --measurements
};

struct scenario_request {
  const char *path;
  const char *model_path; // NULL: the built-in model
  const char *data_directory;
  const char *measurements_directory; // NULL: no records
  const char *case_name;              // NULL: base
  const char *const *settings;        // "KEY=VALUE", "SECTION.KEY=VALUE" or "OPTION.KEY=VALUE"
  size_t setting_count;
  bool mixed;
};

// Reads, resolves and evaluates a scenario. NULL after errors (all of the file's in one run).
// Warnings are in the scenario and its options, and not in diagnostics.
struct scenario *scenario_read(const struct scenario_request *request, struct arena *arena,
                               struct diagnostics *diagnostics);

// The number of the option with this id, or -1.
int scenario_option(const struct scenario *scenario, const char *id);

// The id nearest to one that no option has, or NULL.
const char *scenario_nearest_option(const struct scenario *scenario, const char *id,
                                    struct arena *arena);

// "there is no option 'ID'", with the nearest that there is.
void scenario_unknown_option(const struct scenario *scenario, const char *id, struct place place,
                             struct diagnostics *diagnostics);

const struct figure *option_figure(const struct scenario *scenario, const struct option *option,
                                   size_t which_case, int declaration);

// What stands for an input where its amount is in USD and the report is not: NAME_usd for NAME. The
// declaration itself where it is no such input.
int option_stated(const struct option *option, int declaration);

// USD for one of the report's currency, in the selected case; 1 in a report in USD.
double option_exchange_rate(const struct scenario *scenario, const struct option *option);

// A quantity of money in the report's currency or, at the option's exchange rate, in USD; usd_unit
// as "USD/Mtok". Returns 0 or -1.
int option_money_parse(const struct scenario *scenario, const struct option *option,
                       const char *text, struct place place, const char *usd_unit, double *value,
                       struct diagnostics *diagnostics);

// The value of a line item or input in the selected case, in base units; period 0 for scalars.
double option_value(const struct scenario *scenario, const struct option *option, int declaration,
                    int period);

// The range that an option's input has in the selected case, or -1.
int option_range(const struct scenario *scenario, const struct option *option, int declaration);

// The Gaussian copula's correlation that gives a rank correlation (Pearson, Drapers' Company
// Research Memoirs, Biometric Series IV, 1907; Kruskal, JASA 53, 1958).
double correlation_of_normals(double rank);

// Correlations of normals are taken this much smaller, so that exact ones (1 and -1) leave their
// matrix positive definite.
#define CORRELATION_SHRINK (1 - 1e-9)

// What every face of the scenario must say about the comparison: upper bounds, unlike workloads; ""
// for nothing.
const char *scenario_stamp(const struct scenario *scenario, struct arena *arena);

// Is the declaration there for this option, as an input or computed?
bool option_has(const struct option *option, int declaration);

// Operating periods of the option in a case, the last perhaps cut short: entries 0..n of a series
// mean something.
int option_periods(const struct scenario *scenario, const struct option *option, size_t which_case);

// Columns that a series needs for a horizon.
int scenario_columns(const struct scenario *scenario, double horizon_h);

// 1 - cost(option) / cost(baseline) of a USD/Mtok item, in the selected case.
double option_saving(const struct scenario *scenario, const struct option *option,
                     const char *item);

// "2000 .. 8000 token/s": two quantities like `unit`, of which the low one may leave its unit to
// the other. False after an error: an end missing, another dimension, low not below high.
bool bounds_parse(const char *text, struct place place, const struct unit *unit, double *low,
                  double *high, struct diagnostics *diagnostics);

// "0.08 USD/kWh": a base-unit value in a declaration's unit, with the shortest digits that read
// back to the same double.
const char *quantity_text(double value, const struct unit *unit, struct arena *arena);

#endif
