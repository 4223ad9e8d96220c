// fit: which model fits into which accelerator's memory, on how many of them, and with how many
// requests at once.
//
// Only memory is counted, as in model/evidence/memory.h: weights divided by tensor parallelism, the
// KV cache of every request at its full context, the activations of one step. Whether an
// accelerator computes in a precision is another question.
//
// A replica may span nodes, as with expert or pipeline parallelism: the weights are divided over
// the nodes (parts that each node keeps a copy of are not counted), and every node has its own
// requests.
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

// The fit of one model in one precision on one device. Bytes.
struct fit {
  int accelerators;   // that share the model; 0: it does not fit on `most` of them
  int nodes;          // that hold them: of one replica
  double weights;     // of the whole model
  double per_request; // KV cache at the full context, and logits, on all accelerators together
  double activations; // of a step's chunk, on all accelerators together
  double left;        // memory left beside the weights, in all; of one accelerator if nothing fits
  double concurrency; // requests at once; NAN for a model without a shape
  int most;           // accelerators per model at which requests at once peak; 0: none
  double concurrency_most; // the requests at once with these; NAN as above
};

// Accelerators that may share a model if the catalogue knows neither a scale-up domain nor a node.
enum { MAX_SHARING = 8 };

// The row of an accelerator. A model may be shared within a scale-up domain, or, if there is none,
// within a node. False without a memory size.
bool fit_device_of(const struct table *accelerators, size_t row, struct fit_device *out);

// Requests at once on that many accelerators; 0 if not even one fits, or the model cannot be
// divided.
double fit_concurrency(const struct memory_model *model, const char *precision,
                       const struct fit_device *device, int accelerators,
                       const struct fit_terms *terms);

// On terms->accelerators, or on the fewest that hold the weights and one request.
struct fit fit_find(const struct memory_model *model, const char *precision,
                    const struct fit_device *device, const struct fit_terms *terms);

#endif
