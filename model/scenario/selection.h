// selection: which accelerator, price and evidence an option stands on, and what they give it.
#ifndef PERTOKEN_MODEL_SCENARIO_SELECTION_H
#define PERTOKEN_MODEL_SCENARIO_SELECTION_H

#include "base/ini.h"
#include "model/evidence/workload.h"

// What an option says beside its inputs: which accelerator, which row of which table.
enum selection_key {
  SELECT_ACCELERATOR,
  SELECT_PRICE,
  SELECT_EVIDENCE,
  SELECT_RECORD,     // a file of --measurements
  SELECT_PROJECTION, // the same, of another accelerator: projection.h
  SELECT_WORKLOAD,   // the first of WORKLOAD_KEYS keys
  SELECTION_KEYS = SELECT_WORKLOAD + WORKLOAD_KEYS
};

const char *selection_key_name(int key);

// key: -1 if `name` is none.
int selection_key_find(const char *name);

struct reading;

// Takes NAME = VALUE as a selection, for an option or (-1) the workload. False when `name` is none.
// An empty price, evidence or record is none, so that a file can take back what it inherits.
bool selection_assign(struct reading *reading, int option, const char *name,
                      const struct ini_key *key);

// Fills what the option's accelerator, price and evidence give, where its own layers are silent:
// figures, accelerator, workload. figures: [case_count][model->count] as resolved from the layers.
void selection_apply(struct reading *reading, size_t option);

#endif
