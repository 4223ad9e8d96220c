// roofline: what an accelerator cannot exceed, whatever software runs on it (Williams, Waterman,
// Patterson, Communications of the ACM 52, 2009).
//
//   computing  dense peak of the precision, or of a wider one, / (2 operations per active parameter
//              and token), without the embedding; twice that if weights are 2:4 sparse; the tokens
//              of a request's input are computed too
//   reading    memory bandwidth / (bytes of a step) * batch; a step reads at least the weights of
//              one token, and every request's keys and values, and yields one token of each
//
// Both leave out whatever takes additional time, so that only impossible values lie above.
#ifndef PERTOKEN_MODEL_EVIDENCE_ROOFLINE_H
#define PERTOKEN_MODEL_EVIDENCE_ROOFLINE_H

#include "base/csv.h"

#include <stdbool.h>
#include <stddef.h>

struct roofline {
  const struct table *accelerators, *models;
  size_t accelerator, model; // rows
  const char *precision;     // of the weights; "": the fastest
  const char *kv;            // of keys and values; "": 8 bits
  bool is_sparse;
  double computed;       // tokens computed per token counted
  double batch, context; // 0: unknown
};

// The rooflines of computing and of reading, token/s per accelerator; INFINITY if the catalogue
// lacks what it takes to compute them.
double roofline_computing(const struct roofline *roofline);
double roofline_reading(const struct roofline *roofline);

#endif
