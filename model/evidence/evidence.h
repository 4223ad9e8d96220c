// evidence: which row of data/throughput.csv to use for an accelerator and a workload.
//
// Candidates are the rows that match what the workload states, and among these
//   request lengths   as the workload states them, or MLPerf's
//   power limit       the requested one, else none
//   no speculation    and no agentic traces, unless the workload asks for them
//   grade, date       the best grade, and within 12 months of the newest such row
// They must agree in scenario, precision and lengths; otherwise the workload must state which. The
// best row of every submitter counts, and of these the lower median by throughput, ties by id: a
// single row, which is cited and comes with its own watts. data/README.md explains the columns.
#ifndef PERTOKEN_MODEL_EVIDENCE_EVIDENCE_H
#define PERTOKEN_MODEL_EVIDENCE_EVIDENCE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"

#include <stdbool.h>
#include <stddef.h>

// With fewer submitters than this, a choice says that they are few.
#define EVIDENCE_ENOUGH 3

struct evidence_request {
  const struct table *throughputs;
  const char *accelerator, *vendor; // an id; a name, or ""
  const struct workload *workload;
  double input_tokens, output_tokens; // of a request; 0: not stated
  double power_limit_w;               // to which each accelerator is limited; 0: no limit
  const char *wanted;                 // "", "best", "median", "lowest" or a row's id
};

// The rows to choose from.
struct candidates {
  size_t rows, submitters;
  const size_t *best; // [submitters] rows: each one's best, by throughput, then id
};

struct evidence {
  const struct table *table;
  size_t row;
  const char *id, *source, *power_source, *date;
  const char *doubt;             // why the row may be wrong, or ""
  double tokens_per_s;           // per accelerator
  double load_power_w;           // per accelerator, in the same run; NAN if not measured
  double power_limit_w;          // per accelerator, in that run; NAN: none
  double node_power_w;           // the same with the host, at the node's plug; NAN if not measured
  enum grade grade, power_grade; // of the throughput, and of the watts
  struct place place;
  struct workload workload; // as stated in the row
  struct candidates candidates;
  const char *note; // how it was chosen, for every face: a sentence without a full stop
};

// Returns NULL, or why there is none, as message text in the arena: nothing fits, the candidates
// differ in something that the workload leaves open, an unknown id, another accelerator's row, a
// row that contradicts the workload.
const char *evidence_choose(const struct evidence_request *request, struct evidence *evidence,
                            struct arena *arena);

// The row that is named, if it is the accelerator's and does not contradict the workload. Returns
// as above.
const char *evidence_named(const struct evidence_request *request, size_t *row,
                           struct arena *arena);

// The contents of a row; without candidates and note.
void evidence_of_row(const struct table *throughputs, size_t row, struct evidence *evidence);

// The token/s per accelerator of a row.
double evidence_rate(const struct table *throughputs, size_t row);

// Whether a row is the accelerator's at the requested power limit and matches what the workload
// states.
bool evidence_matches(const struct evidence_request *request, size_t row);

#endif
