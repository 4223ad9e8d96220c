// workload: the conditions under which a throughput was measured.
//
// Two throughputs are comparable if everything here is equal; "" means unknown or unset. fp4 and
// mxfp4 count as equal for a model that is published in one of them: a benchmark's fp4 does not say
// which 4-bit form it is, but the published weights do. Methods of speculation are the engines' own
// words, in any case; NEXTN is mtp, and an unnamed one counts as any.
#ifndef PERTOKEN_MODEL_EVIDENCE_WORKLOAD_H
#define PERTOKEN_MODEL_EVIDENCE_WORKLOAD_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

// The share by which two lengths of requests may differ and still count as equal.
#define REQUEST_LENGTHS 0.05

enum workload_key {
  WORKLOAD_MODEL,
  WORKLOAD_PRECISION,     // of the weights
  WORKLOAD_ACTIVATIONS,   // their precision; from a record, or stated
  WORKLOAD_KV,            // precision of the KV cache; from a record, or stated
  WORKLOAD_HEAD,          // that of embedding and head; from a record of the probe, or stated
  WORKLOAD_SPARSITY,      // dense or sparse (2:4) weights; stated
  WORKLOAD_SPECULATION,   // such as mtp, EAGLE3, WORKLOAD_UNNAMED; "": none
  WORKLOAD_BASIS,         // serving (prefill included) or decode
  WORKLOAD_SCENARIO,      // offline, server, interactive, ...
  WORKLOAD_TOKENS,        // output or total
  WORKLOAD_INTERACTIVITY, // token/s that users must get on average; it chooses the batch
  WORKLOAD_TTFT,          // seconds to the first token that nearly every request meets
  WORKLOAD_TPOT,          // the same for the time per output token; either chooses the batch
  WORKLOAD_BATCH,         // concurrent requests
  WORKLOAD_CONTEXT,       // tokens of input
  WORKLOAD_KEYS
};

// The word for speculation by a method that its source does not name.
#define WORKLOAD_UNNAMED "unnamed"

extern const char *const workload_key_names[WORKLOAD_KEYS];

struct workload {
  const char *values[WORKLOAD_KEYS]; // "" if unset; never NULL
  struct place places[WORKLOAD_KEYS];
  const char *shipped_precision;      // of the model's published weights; NULL or "": unknown
  double input_tokens, output_tokens; // of a request; 0: unset, unknown or MLPerf's
  int percentiles[WORKLOAD_KEYS]; // of the requests that meet ttft or tpot; 0: unknown, or no limit
  bool promised; // the percentiles are what a guarantee says, not those that a record was judged at
};

// A row's value for a key in data/throughput.csv; "" for none.
const char *workload_row_value(const struct table *table, size_t row, enum workload_key key);

// Whether it is decoding alone, without prefill.
bool workload_is_decoding(const struct workload *workload);

// The rate and times per user that choose the batch.
enum { WORKLOAD_PER_USER = 3 };
extern const enum workload_key workload_per_user[WORKLOAD_PER_USER];

// Whether one of them does; and those that do, "ttft and tpot".
bool workload_chooses_batch(const struct workload *workload);
const char *workload_chosen_by(const struct workload *workload, struct arena *arena);

// Whether ttft or tpot is limited.
bool workload_limits_times(const struct workload *workload);

// Whether two values of a key are equal for a workload, or count as equal.
bool workload_is_alike(const struct workload *workload, enum workload_key key, const char *a,
                       const char *b);

// Takes lengths of requests where the workload leaves them open; NAN or 0: unknown.
void workload_take_lengths(struct workload *workload, double input_tokens, double output_tokens);

// Whether the lengths of requests are known; and the mean number of tokens that such a request
// holds while it decodes: all of its input and half of its output.
bool workload_has_lengths(const struct workload *workload);
double workload_decode_context(const struct workload *workload);

// Whether two lengths of requests differ by more than REQUEST_LENGTHS; one of 0 does not differ.
bool workload_lengths_differ(double a, double b);

// The note for two workloads whose precisions count as equal but are not the same: "fp4 and mxfp4,
// treated as one here: ..."; NULL otherwise.
const char *workload_family_note(const struct workload *a, const struct workload *b,
                                 struct arena *arena);

// Whether a row agrees with the workload in the first `keys` keys, except those that the workload
// leaves open; a blank in the table matches only an unset key. No row states an interactivity.
bool workload_row_matches(const struct workload *workload, const struct table *table, size_t row,
                          int keys);

// The first difference between two workloads that makes their throughputs incomparable, such as
// "precision: fp8 and bf16", or NULL. So is a time that different shares of the requests meet by
// records; a guarantee cannot be judged at another share. If both give every user the same rate and
// times, their batches follow from that and may differ; so may contexts that nobody stated if both
// know the lengths of their requests, which are compared instead.
const char *workload_difference(const struct workload *a, const struct workload *b,
                                struct arena *arena);

#endif
