// selection: what an option and the workload select beside their inputs: which accelerator, which
// row of which table, which workload.
#ifndef PERTOKEN_MODEL_SCENARIO_SELECTION_H
#define PERTOKEN_MODEL_SCENARIO_SELECTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"

#include <stdbool.h>

enum selection_key {
  SELECT_ACCELERATOR,
  SELECT_PRICE,
  SELECT_EVIDENCE,    // a row, or how to choose one: evidence.h
  SELECT_SPREAD,      // whether what it was chosen from is a range
  SELECT_RECORD,      // a file of --measurements
  SELECT_PROJECTION,  // the same, of another accelerator: projection.h
  SELECT_PRODUCTION,  // a file of --measurements: what served, of which utilization follows
  SELECT_API,         // a row of a provider's prices: the option is a token API
  SELECT_POWER_LIMIT, // W/gpu at which the record or row must have been measured
  SELECT_TOKENS_OF,   // another option, whose tokens the token API is to serve: reading/lending.h
  SELECT_WORKLOAD,    // the first of WORKLOAD_KEYS keys
  SELECTION_KEYS = SELECT_WORKLOAD + WORKLOAD_KEYS
};

// What one section says of them; name NULL: nothing. An empty price, evidence, spread, record or projection
// takes back what the file inherits.
struct selections {
  struct ini_key keys[SELECTION_KEYS]; // names as the catalogue has them, whatever was typed
  const char *notes[SELECTION_KEYS];   // how a name was read, or NULL
};

const char *selection_key_name(int key);

// key: -1 if `name` is none.
int selection_key_find(const char *name);

// Takes NAME = VALUE of an option or, where `of_option` is false, of the workload. False when `name`
// is no selection there. Errors at the value: an unknown word, model or number of the workload.
bool selection_take(struct selections *selections, bool of_option, const char *name,
                    const struct ini_key *key, struct catalog *catalog, struct arena *arena,
                    struct diagnostics *diagnostics);

// The power limit in W, 0 where none is selected or it was refused.
double selection_power_limit(const struct selections *selections, struct arena *arena);

// What is selected, or NULL.
const struct ini_key *selection_of(const struct selections *selections, int key);

#endif
