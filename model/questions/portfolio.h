// portfolio: the demands and the available supply, as a scenario file states them in addition to
// its options. See model/questions/route.h for the question.
//
//   [demand NAME]          a workload
//     tokens               output tokens to be served: "2e12 token/month"; required
//     model, precision, scenario, batch, interactivity
//                          as in [workload], and instead of it; interactivity is the latency limit
//     input_tokens, output_tokens
//                          of a request, instead of those of all options
//     context              tokens that a request holds, for the memory; by default those that it
//                          states; kv: precision of its cache
//     nodes_per_replica    nodes that one replica spans; by default the fewest that hold a request
//     split = no           it may not be split between options
//     throughput.OPTION, evidence.OPTION, record.OPTION, load_power.OPTION
//                          as in [option OPTION], and instead of it
//     ready.OPTION         whether the software runs it: yes, no, or the share of the throughput
//                          that it reaches
//     growth               of a plan: of the tokens, per year; may be a distribution, as in [range]
//     ready_from.OPTION    of a plan: how long after the start its software runs it
//   [supply OPTION]
//     stock                accelerators available, spares included; by default unlimited
//     vendor               by default the catalogue's
//     lead_time            of a plan: from the order to the first day of service; by default the
//                          option's
//     available            of a plan: how long after the start it is first delivered
//     delay                of a plan: by how much later; may be a distribution
//     term                 of a plan: what a rent commits to at a time; by default a period
//   [portfolio]
//     minimum_share.VENDOR of the total, for supply from two sources
//     share_of             tokens (the default), accelerators or cost
//     budget               for all cost over the horizon; capex_budget: for the purchase
//
// model/plan/plan.h answers it over several periods, with the keys of a plan and those of [plan].
#ifndef PERTOKEN_MODEL_QUESTIONS_PORTFOLIO_H
#define PERTOKEN_MODEL_QUESTIONS_PORTFOLIO_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/optimise/allocation_problem.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// Keys of a demand that replace those of [workload].
enum demand_key {
  DEMAND_MODEL,
  DEMAND_PRECISION,
  DEMAND_SCENARIO,
  DEMAND_BATCH,
  DEMAND_INTERACTIVITY,
  DEMAND_KEYS
};

// Inputs of a demand, which replace those of every option.
enum demand_input { DEMAND_INPUT_TOKENS, DEMAND_OUTPUT_TOKENS, DEMAND_INPUTS };

// Keys of a demand for one option, which replace the option's.
enum demand_option_key {
  DEMAND_THROUGHPUT,
  DEMAND_EVIDENCE,
  DEMAND_RECORD,
  DEMAND_LOAD_POWER,
  DEMAND_OPTION_KEYS
};

extern const char *const demand_key_names[DEMAND_KEYS];
extern const char *const demand_input_names[DEMAND_INPUTS];
extern const char *const demand_option_key_names[DEMAND_OPTION_KEYS];

struct demand {
  const char *name;
  struct place place;
  double tokens;                                            // token/h
  const struct ini_key *keys[DEMAND_KEYS];                  // NULL: as in [workload]
  const struct ini_key *inputs[DEMAND_INPUTS];              // NULL: as the options have them
  const struct ini_key *(*option_keys)[DEMAND_OPTION_KEYS]; // [option_count]; NULL: not stated
  double *ready;                                            // [option_count]; 0: not ready
  double *ready_from;                                       // [option_count], h after the start
  double growth;                                            // 1/h; the mean if uncertain
  const struct distribution *growths;                       // NULL: certain
  double context;                                           // 0: not stated
  double nodes;                                             // of a replica; 0: not stated
  const char *kv;                                           // "": not stated
  bool whole;
};

struct portfolio {
  const struct scenario *scenario;
  struct demand *demands;
  size_t demand_count;
  double *stock;                      // [option_count], in accelerators; INFINITY: no limit
  double *lead_time;                  // [option_count], h
  struct place *lead_time_places;     // [option_count], of those given
  double *available;                  // [option_count], h after the start, with the delay's mean
  const struct distribution **delays; // [option_count]; NULL: certain
  double *term;                       // [option_count], h of a rent's commitment; 0: not stated
  int *vendor;                        // [option_count]
  const char *const *vendors;         // in lower case
  int vendor_count;
  double *minimum_shares; // [vendor_count]
  enum allocation_share share_of;
  double budget, capex_budget;   // INFINITY: none
  struct place capex_place;      // where it is given
  const struct ini_key *planned; // the first key of a plan, or NULL
};

// Reads the portfolio. NULL after errors: no demand; unknown keys, options and vendors; a demand
// that is missing, negative or zero; no stock; shares of more than the total.
const struct portfolio *portfolio_read(const struct scenario *scenario, struct arena *arena,
                                       struct diagnostics *diagnostics);

// Why an option cannot serve the demands of a portfolio, to be read after "option 'x'"; NULL if it
// can. Refused are one with a demand of its own, as its cost follows that and not the nodes taken,
// and one with a ramp.
const char *portfolio_barrier(const struct scenario *scenario, const struct option *option);

#endif
