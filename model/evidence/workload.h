// workload: what a throughput was measured on, and the choice of evidence for one.
//
// Two throughputs are comparable when everything here is equal; "" means unknown or unset.
#ifndef PERTOKEN_MODEL_EVIDENCE_WORKLOAD_H
#define PERTOKEN_MODEL_EVIDENCE_WORKLOAD_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"

#include <stddef.h>

enum workload_key {
  WORKLOAD_MODEL,
  WORKLOAD_PRECISION,     // of the weights
  WORKLOAD_ACTIVATIONS,   // their precision; of a record, or stated
  WORKLOAD_KV,            // precision of the KV cache; of a record, or stated
  WORKLOAD_SPARSITY,      // dense or sparse (2:4) weights; stated
  WORKLOAD_BASIS,         // serving (prefill included) or decode
  WORKLOAD_SCENARIO,      // offline, server, interactive, ...
  WORKLOAD_TOKENS,        // output or total
  WORKLOAD_INTERACTIVITY, // token/s that every user is to get; it chooses the batch
  WORKLOAD_BATCH,         // concurrent requests
  WORKLOAD_CONTEXT,       // tokens of input
  WORKLOAD_KEYS
};

extern const char *const workload_key_names[WORKLOAD_KEYS];

struct workload {
  const char *values[WORKLOAD_KEYS]; // "" if unset; never NULL
  struct place places[WORKLOAD_KEYS];
};

struct evidence {
  const struct table *table;
  size_t row;
  const char *id, *source, *date;
  const char *doubt; // why the row may be wrong, or ""
  double throughput; // base units: token/h per accelerator
  enum grade grade;
  struct place place;
  struct workload workload; // what the row says of itself
};

// Chooses the row of data/throughput.csv for an accelerator and a workload: all set keys equal, a
// blank in the table matching only an unset key; best grade, then newest. `wanted_id` ("" if none)
// names a row outright. Returns NULL, or why there is none, in the words of a message: nothing fits,
// a tie (the candidates listed), an unknown id, another accelerator's row. Words lie in the arena.
const char *evidence_choose(const struct table *throughputs, const char *accelerator,
                            const struct workload *workload, const char *wanted_id,
                            struct evidence *evidence, struct arena *arena);

// The published throughputs of an accelerator over the batch, for a workload whose batch is open:
// of one source, one test set-up and one number of accelerators. Of several such curves `wanted_id`
// names a row of one. *evidence is of the row with the largest batch. Returns NULL, or why there is
// none: no rows of several batches, several curves (one row of each listed), an unknown id.
const char *evidence_curve(const struct table *throughputs, const char *accelerator,
                           const struct workload *workload, const char *wanted_id,
                           struct curve *curve, struct evidence *evidence, struct arena *arena);

// The first difference between two workloads that makes their throughputs incomparable, as
// "precision: fp8 and bf16", or NULL. Where both give every user the same rate, their batches
// follow from that and may differ.
const char *workload_difference(const struct workload *a, const struct workload *b,
                                struct arena *arena);

#endif
