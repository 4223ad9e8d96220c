// portfolio: what is to be served, and what can be had, as a scenario file says it beside its
// options. See model/questions/route.h for what is asked of it.
//
//   [demand NAME]          a workload
//     tokens               output tokens to be served: "2e12 token/month"; required
//     model, precision, scenario, batch, interactivity
//                          as in [workload], and instead of it; interactivity is the latency limit
//     context              tokens that a request holds, for the memory; kv: precision of its cache
//     nodes_per_replica    nodes that one replica spans; without it the fewest that hold a request
//     split = no           it may not be shared out over options
//     throughput.OPTION, evidence.OPTION, record.OPTION, load_power.OPTION
//                          as in [option OPTION], and instead of it
//     ready.OPTION         does the software run it: yes, no, or the share of the throughput that
//                          it reaches
//   [supply OPTION]
//     stock                accelerators that can be had; without one, any number
//     vendor               the catalogue's, unless given
//   [portfolio]
//     minimum_share.VENDOR of the whole, for supply from two sources
//     share_of             tokens (unless given), accelerators or cost
//     budget               for all cost over the horizon; capex_budget: for the purchase
#ifndef PERTOKEN_MODEL_QUESTIONS_PORTFOLIO_H
#define PERTOKEN_MODEL_QUESTIONS_PORTFOLIO_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/optimise/allocation.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// Keys of a demand that stand in place of [workload]'s.
enum demand_key {
  DEMAND_MODEL,
  DEMAND_PRECISION,
  DEMAND_SCENARIO,
  DEMAND_BATCH,
  DEMAND_INTERACTIVITY,
  DEMAND_KEYS
};

// Keys of a demand for one option, in place of the option's.
enum demand_option_key {
  DEMAND_THROUGHPUT,
  DEMAND_EVIDENCE,
  DEMAND_RECORD,
  DEMAND_LOAD_POWER,
  DEMAND_OPTION_KEYS
};

extern const char *const demand_key_names[DEMAND_KEYS];
extern const char *const demand_option_key_names[DEMAND_OPTION_KEYS];

struct demand {
  const char *name;
  struct place place;
  double tokens;                                            // token/h
  const struct ini_key *keys[DEMAND_KEYS];                  // NULL: as in [workload]
  const struct ini_key *(*option_keys)[DEMAND_OPTION_KEYS]; // [option_count]; NULL: not said
  double *ready;                                            // [option_count]; 0: not
  double context;                                           // 0: not said
  double nodes;                                             // of a replica; 0: not said
  const char *kv;                                           // "" : not said
  bool whole;
};

struct portfolio {
  const struct scenario *scenario;
  struct demand *demands;
  size_t demand_count;
  double *stock;              // [option_count], in accelerators; INFINITY: no limit
  int *vendor;                // [option_count]
  const char *const *vendors; // in lower case
  int vendor_count;
  double *minimum_shares; // [vendor_count]
  enum allocation_share share_of;
  double budget, capex_budget; // INFINITY: none
};

// NULL after errors: no demand; unknown keys, options and vendors; a demand that is missing,
// negative or zero; no stock; shares of more than the whole.
const struct portfolio *portfolio_read(const struct scenario *scenario, struct arena *arena,
                                       struct diagnostics *diagnostics);

#endif
