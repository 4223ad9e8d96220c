// workload: the form in which a model's throughput is published for as many of some accelerators as
// possible, and stand-ins for those without a published one.
//
// A form is a precision, a scenario, the lengths of requests and, if rows differ in it, the batch.
// The catalogue's form that counts is the one in which the rule of model/evidence/evidence.h finds
// a row for the most accelerators; of several, one whose rows may be compared, then the one in
// whose precision all of them compute, then the better grade, then the more common scenario
// (server, offline, ...), then the newest. Of forms that differ in batch alone, or also in lengths
// that count as equal, it is the one with the highest rates.
//
// The rule wants a form's exact lengths. At a batch that the form names, a row whose lengths count
// as equal has to be named in the scenario.
//
// A stand-in is not evidence: it is the rate of another row, scaled in proportion to memory
// bandwidth and inversely to the parameters that the model multiplies per token, and limited to
// what the datasheet's peak allows (model/evidence/roofline.h). The row is of the same model on one
// of the accelerators, else on any, else of the model nearest in these parameters.
#ifndef PERTOKEN_MODEL_DRAFT_WORKLOAD_H
#define PERTOKEN_MODEL_DRAFT_WORKLOAD_H

#include "base/arena.h"
#include "base/csv.h"
#include "model/evidence/evidence.h"

#include <stdbool.h>
#include <stddef.h>

// The limits of the true rate, as factors of the stand-in: of the catalogue's pairs of accelerators
// in the same form, 5 % have a ratio of rates below LOW times the ratio of their bandwidths, and 5
// % one above HIGH times it. tests/checks/check_new.py counts them again.
#define STAND_IN_LOW  0.53
#define STAND_IN_HIGH 1.89

// The tables of the catalogue from which a draft is made.
struct draft_tables {
  const struct table *accelerators, *models, *throughputs, *prices, *api_prices;
};

struct draft_workload {
  const char *model, *precision, *scenario; // ids and words of the catalogue
  const char *activations;                  // "": not stated in the form
  const char *batch;                        // "": whichever the rule finds
  double input_tokens, output_tokens;       // of a request; 0: not stated in the form
};

struct draft_throughput {
  bool is_published, is_named;
  struct evidence evidence; // the row that is named, else the rule's choice; for a stand-in, what
                            // it is scaled from
  double stand_in;          // token/s per accelerator, if nothing is published
  double low, high;         // the range in which it may lie, within what the peak allows
  const char *how;          // a phrase: how the stand-in was obtained
};

// Finds the workload of a draft and each accelerator's throughput. model and accelerators [count]
// are rows; out: [count]. Returns 0, or -1 if the catalogue has no throughput of any model.
int draft_workload_find(const struct draft_tables *tables, size_t model, const size_t *accelerators,
                        size_t count, struct draft_workload *workload, struct draft_throughput *out,
                        struct arena *arena);

#endif
