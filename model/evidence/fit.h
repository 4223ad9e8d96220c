// fit: which model fits into which accelerator's memory, on how many of them, and with how many
// requests at once.
//
// Memory alone is counted, as model/evidence/memory.h says: weights shared by tensor parallelism,
// the KV cache of every request at its full context, the activations of one step. Whether an
// accelerator computes in a precision is another question.
//
// A replica may span nodes, as expert or pipeline parallelism do: the weights divide over the nodes
// (what each keeps a copy of is not counted), and every node has requests of its own.
#ifndef PERTOKEN_MODEL_EVIDENCE_FIT_H
#define PERTOKEN_MODEL_EVIDENCE_FIT_H

#include "base/csv.h"
#include "model/evidence/memory.h"

#include <stdbool.h>
#include <stddef.h>

enum { SPAN_ANY = -1, MAX_SPAN = 64 };

struct fit_terms {
  double context;      // tokens that each request holds: its input and its output
  const char *kv;      // precision of the KV cache
  double memory_share; // of the memory that may be filled; MEMORY_SHARE
  double chunk;        // tokens of one step while prompts are read; MEMORY_CHUNK
  int accelerators;    // that share the model; 0: the fewest that do
  int nodes;           // that a replica spans; 0: one, SPAN_ANY: as many as it takes
};

// Some accelerators of a catalogue or a record. `most`: how many may share a model.
struct fit_device {
  const char *id, *name, *vendor;
  double memory; // B each
  int most;
};

// The fit of one model in one precision on one device. Bytes.
struct fit {
  int accelerators;   // that share the model; 0: it does not fit on as many as may
  int nodes;          // that they stand in: of one replica
  double weights;     // of the whole model
  double per_request; // KV cache at the context and logits, on all the accelerators together
  double activations; // of a step's chunk, on all together
  double left;        // memory of all beside the weights; of one accelerator where nothing fits
  double concurrency; // requests at once; NAN for a model without a shape
  int most;           // accelerators that share it with the most requests at once; 0: none
  double concurrency_most; // there; NAN as above
};

// Accelerators that may share a model where the catalogue knows neither scale-up domain nor node.
enum { MAX_SHARING = 8 };

// The row of an accelerator. As many may share a model as stand in its scale-up domain, or else its
// node. False without a memory size.
bool fit_device_of(const struct table *accelerators, size_t row, struct fit_device *out);

// Requests at once on that many accelerators; 0 when not one fits, or the model does not divide.
double fit_concurrency(const struct memory_model *model, const char *precision,
                       const struct fit_device *device, int accelerators,
                       const struct fit_terms *terms);

// On terms->accelerators, or the fewest that hold the weights and one request.
struct fit fit_find(const struct memory_model *model, const char *precision,
                    const struct fit_device *device, const struct fit_terms *terms);

#endif
