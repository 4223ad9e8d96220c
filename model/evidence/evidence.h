// evidence: which row of data/throughput.csv speaks for an accelerator and a workload.
//
// Candidates are the rows that have what the workload says, and among these
//   request lengths   as the workload states them, or as MLPerf gives them
//   power limit       the one that is asked for, else none
//   no speculation    nor agentic traces, unless the workload asks for them
//   grade, date       the best grade, and within 12 months of the newest such row
// They must agree in scenario, precision and lengths, or the workload is to say which. Of every
// submitter the best row counts, and of these the lower median by throughput, ties by id: one row,
// which is cited and comes with its own watts. data/README.md says what the columns mean.
#ifndef PERTOKEN_MODEL_EVIDENCE_EVIDENCE_H
#define PERTOKEN_MODEL_EVIDENCE_EVIDENCE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"

#include <stdbool.h>
#include <stddef.h>

// Fewer submitters than this are said to be few.
#define EVIDENCE_ENOUGH 3

struct evidence_request {
  const struct table *throughputs;
  const char *accelerator, *vendor; // an id; a name, or ""
  const struct workload *workload;
  double input_tokens, output_tokens; // of a request; 0: not stated
  double power_limit_w;               // that each accelerator is held at; 0: at none
  const char *wanted;                 // "", "best", "median", "lowest" or a row's id
};

// What a row is chosen from.
struct candidates {
  size_t rows, submitters;
  const size_t *best; // [submitters] rows: each one's best, by throughput, then id
};

struct evidence {
  const struct table *table;
  size_t row;
  const char *id, *source, *date;
  const char *doubt;    // why the row may be wrong, or ""
  double tokens_per_s;  // per accelerator
  double load_power_w;  // per accelerator, of the same run; NAN when not measured
  double power_limit_w; // of an accelerator, in that run; NAN: none
  double node_power_w;  // the same with the host, at the node's plug; NAN when not measured
  enum grade grade;
  struct place place;
  struct workload workload; // what the row says of itself
  struct candidates candidates;
  const char *note; // how it was chosen, for every face: a sentence without full stop
};

// Returns NULL, or why there is none, in the words of a message: nothing fits, the candidates differ
// in what the workload leaves open, an unknown id, another accelerator's row, a row that
// contradicts the workload. Words lie in the arena.
const char *evidence_choose(const struct evidence_request *request, struct evidence *evidence,
                            struct arena *arena);

// The row named outright, of the accelerator and not contradicting the workload. As above.
const char *evidence_named(const struct evidence_request *request, size_t *row,
                           struct arena *arena);

// What a row says; without candidates and note.
void evidence_of_row(const struct table *throughputs, size_t row, struct evidence *evidence);

// token/s per accelerator of a row.
double evidence_rate(const struct table *throughputs, size_t row);

// Of all rows of an accelerator: has it one that has what the workload says?
bool evidence_matches(const struct evidence_request *request, size_t row);

#endif
