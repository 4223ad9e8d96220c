// selection: what an option and the workload select besides their inputs: which accelerator, which
// row of which table, which workload.
#ifndef PERTOKEN_MODEL_SCENARIO_SELECTION_H
#define PERTOKEN_MODEL_SCENARIO_SELECTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"

#include <stdbool.h>

enum selection_key {
  SELECT_ACCELERATOR,
  SELECT_PRICE,
  SELECT_EVIDENCE,    // a row, or how to choose one: evidence.h
  SELECT_SPREAD,      // whether the rows that it was chosen from are a range
  SELECT_RECORD,      // a file of --measurements
  SELECT_PROJECTION,  // the same, for another accelerator: projection.h
  SELECT_PRODUCTION,  // a file of --measurements: production served, which gives utilization
  SELECT_API,         // a row of a provider's prices: the option is a token API
  SELECT_POWER_LIMIT, // W/gpu at which the record or row must have been measured
  SELECT_TOKENS_OF,   // another option, whose tokens the token API serves: sources/lending.h
  SELECT_WORKLOAD,    // the first of WORKLOAD_KEYS keys
  SELECTION_KEYS = SELECT_WORKLOAD + WORKLOAD_KEYS
};

// The selections of one section; name NULL: not stated. Empty ones that are optional count as none.
struct selections {
  struct ini_key keys[SELECTION_KEYS]; // names as in the catalogue, however typed
  const char *notes[SELECTION_KEYS];   // how a name was read, or NULL
  enum origin origins[SELECTION_KEYS]; // the layer that states it
};

const char *selection_key_name(int key);

// The selection of that name, or -1.
int selection_key_find(const char *name);

// Whether an option may do without the key, and --set take it back: all but the accelerator and the
// workload's keys.
bool selection_is_optional(int key);

// Takes NAME = VALUE of an option or, at a layer of all options, of the workload. False if `name`
// is not a selection there. Errors are at the value: an unknown word, or a bad model or number of
// the workload.
bool selection_take(struct selections *selections, enum origin origin, const char *name,
                    const struct ini_key *key, struct catalog *catalog, struct arena *arena,
                    struct diagnostics *diagnostics);

// The power limit in W, 0 where none is selected or it was refused.
double selection_power_limit(const struct selections *selections, struct arena *arena);

// The selection, or NULL if there is none.
const struct ini_key *selection_of(const struct selections *selections, int key);

// The inputs that a row of a provider's prices gives.
enum { SELECTION_API_PRICES = 3 };
extern const char *const selection_api_prices[SELECTION_API_PRICES];

// Whether a row or record selected with that key can give the input.
bool selection_may_give(int key, const char *input);

// The key of the selection that gives an option the input, as if the option stated it itself: a row
// of prices, evidence of a throughput. -1 if there is none. What weaker layers than that of the
// selection state of the input then does not apply.
int selection_giving(const struct selections *selections, const char *input);

#endif
