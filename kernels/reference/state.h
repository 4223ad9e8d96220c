// state: what the oracle's parts work on. One pass computes `count` items at once, each a position
// of a row of the batch: of a step one for each row, of a prompt all of its positions.
#ifndef PERTOKEN_KERNELS_REFERENCE_STATE_H
#define PERTOKEN_KERNELS_REFERENCE_STATE_H

#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference_item {
  int row, position, token;
  bool prompt; // of a prompt, not of a step
  bool last;   // its logits are wanted
};

struct reference {
  struct decode_request request;
  size_t layers, hidden, query_width, kv_width, ffn, mlp_width, vocab, batch, context;
  size_t attended_width; // of what enters wo
  size_t cache_width;    // of a position in all caches of a layer together
  struct reference_block *blocks;
  bool out_of_memory;

  int *tokens;   // [batch]
  float *cache;  // [layers][a cache or two][batch][context][its width]
  double **held; // [layers][TENSORS], NULL where a tensor comes from the seed
  struct quantised *quantised[TENSORS]; // what weights are held as, alike in all layers; else NULL
  double *logits;                       // [batch][vocab]
  int position;                         // that steps write
  uint64_t steps;                       // since it was made
  uint16_t *table;                      // of forced routing, else NULL
  int *chosen; // [layers][batch][chosen], of the last step; NULL without experts
  int *given;  // the same, for the next step
  bool is_given;
  double routing_shortfall; // of what was given

  // A pass: vectors are [count][their width], with room for `capacity`.
  struct reference_item *items;
  size_t count, capacity;
  double *x, *input, *attention_output, *mlp_output;
  double *query, *key, *value, *attended; // of attention
  double *query_low, *absorbed;           // of latent attention
  double *gate, *up;                      // of an MLP
  double *fine;                           // what enters the router
  double *router, *weights;               // [count][experts]; weights are 0 of those not chosen
  double *expert_input, *expert_output;   // of those items that chose an expert
  double *row;                            // one row of weights
  double *scores;                         // [context]
};

#endif
