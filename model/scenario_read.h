// scenario_read: the steps of scenario_read that scenario.c, selection.c and assessment.c share.
#ifndef PERTOKEN_SCENARIO_READ_H
#define PERTOKEN_SCENARIO_READ_H

#include "model/inputs.h"
#include "model/scenario.h"
#include "model/scenario_text.h"

// What an option says beside its inputs: which accelerator, which row of which table.
enum selection_key {
  SELECT_ACCELERATOR,
  SELECT_PRICE,
  SELECT_EVIDENCE,
  SELECT_RECORD,   // a file of --measurements
  SELECT_WORKLOAD, // the first of WORKLOAD_KEYS keys
  SELECTION_KEYS = SELECT_WORKLOAD + WORKLOAD_KEYS
};

const char *selection_key_name(int key);

// key: -1 if `name` is none.
int selection_key_find(const char *name);

struct reading {
  const struct scenario_request *request;
  const struct scenario_text *text;
  struct scenario *scenario;
  struct catalog *catalog;
  struct records *records;
  struct inputs *inputs;
  size_t errors_before;                     // what diagnostics held at the start
  struct ini_key common[SELECTION_KEYS];    // [workload]; name NULL: unset
  struct ini_key (*chosen)[SELECTION_KEYS]; // [option]
  bool *companions;   // [model->count] inputs with only_with that some option has
  struct place *idle; // [model->count] where one is given at the common level for an option without
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// Takes NAME = VALUE as a selection, for an option or (-1) the workload. False when `name` is none.
// An empty price, evidence or record is none, so that a file can take back what it inherits.
bool selection_assign(struct reading *reading, int option, const char *name,
                      const struct ini_key *key);

// Fills what the option's accelerator, price and evidence give, where its own layers are silent:
// figures, accelerator, workload. figures: [case_count][model->count] as resolved from the layers.
void selection_apply(struct reading *reading, size_t option);

// Reads [range] and [correlate] before, and checks them after, the options are resolved: which
// options have the inputs, what a record gives, whether the correlations go together.
void ranges_read(struct reading *reading);
void ranges_check(struct reading *reading);

// Reads [free], and puts the middle of a range where an option was given no value for the input.
void frees_read(struct reading *reading);
void frees_fill(struct reading *reading, size_t option, struct figure *figures);

// The number of an option, or -1; an error for a prefix that is no option; an error for a name that
// is no input, `where` it stands.
int reading_option(const struct reading *reading, const char *id);
void reading_unknown_option(struct reading *reading, const char *id, struct place place);
void reading_unknown_key(struct reading *reading, const char *name, const struct ini_key *key,
                         const char *where, bool selections);

// Grades, warnings, unlike throughputs: everything said about a scenario after its evaluation.
void assess(struct reading *reading);

#endif
