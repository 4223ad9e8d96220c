// fit: which model fits into which accelerator's memory, on how many of them, and with how many
// requests at once.
//
// Only memory is counted, as in model/evidence/memory.h: weights, the KV cache of every request at
// its full context, the activations of one step. Whether an accelerator computes in a precision is
// another question.
//
// Accelerators share a model in one of two ways, of which the one that holds more requests counts:
//
//   tensor     tensor parallelism: weights, KV heads and activations are divided. An MLA latent has
//              no heads to divide, so that every accelerator holds that of every request
//   attention  attention data parallelism, of a model with experts: these are divided, and
//              everything else is on every accelerator, which has its own requests, with their
//              whole cache, and a step of its own (SGLang documentation, "DP, DPA and SGLang DP
//              Router"; vLLM documentation, "Data Parallel Deployment"). If the experts do not
//              divide evenly, some are held twice, on whole nodes or domains only
//
// A replica may span nodes: with tensor parallelism in each of them the weights are divided over
// the nodes (parts that each node keeps a copy of are not counted), and every node has its own
// requests; attention data parallelism goes over all of their accelerators.
#ifndef PERTOKEN_MODEL_EVIDENCE_FIT_H
#define PERTOKEN_MODEL_EVIDENCE_FIT_H

#include "base/csv.h"
#include "model/evidence/memory.h"

#include <stdbool.h>
#include <stddef.h>

enum { SPAN_ANY = -1, MAX_SPAN = 64 };

struct fit_terms {
  double context;      // tokens that each request holds: input and output
  const char *kv;      // precision of the KV cache
  double memory_share; // share of the memory that may be filled; MEMORY_SHARE
  double chunk;        // tokens of one step while prompts are read; MEMORY_CHUNK
  int accelerators;    // that share the model; 0: the fewest that can
  int nodes;           // that a replica spans; 0: one, SPAN_ANY: as many as needed
};

// A kind of accelerator, from a catalogue or a record. `most`: how many may share a model.
struct fit_device {
  const char *id, *name, *vendor;
  double memory; // B each, that software may use
  int most;
  bool memory_is_lower_bound; // as in device_memory.h
};

enum fit_split { SPLIT_TENSOR, SPLIT_ATTENTION };

// The fit of one model in one precision on one device. Bytes, on all its accelerators together.
struct fit {
  int accelerators; // that share the model; 0: it does not fit on `most` of them
  int nodes;        // that hold them: of one replica
  enum fit_split split;
  double ranks;            // data parallel ranks, which have requests of their own
  double weights;          // copies included
  double per_request;      // KV cache at the full context, and logits
  double activations;      // of a step's chunk on each rank
  double left;             // memory left beside the weights; of one accelerator if nothing fits
  double concurrency;      // requests at once; NAN for a model without a shape
  int most;                // accelerators, of all replicas, at which requests at once peak; 0: none
  int replica_most;        // of these, in each replica
  double concurrency_most; // the requests at once with these; NAN as above
};

// Accelerators that may share a model if the catalogue knows neither a scale-up domain nor a node.
enum { MAX_SHARING = 8 };

// The row of an accelerator. A model may be shared within a scale-up domain, or, if there is none,
// within a node. False without a memory size.
bool fit_device_of(const struct table *accelerators, size_t row, struct fit_device *out);

// Requests at once on that many accelerators, which share one model; 0 if not even one fits, or the
// model cannot be divided.
double fit_concurrency(const struct memory_model *model, const char *precision,
                       const struct fit_device *device, int accelerators,
                       const struct fit_terms *terms);

// Fits the model on terms->accelerators, or on the fewest that hold the weights and one request.
struct fit fit_find(const struct memory_model *model, const char *precision,
                    const struct fit_device *device, const struct fit_terms *terms);

#endif
