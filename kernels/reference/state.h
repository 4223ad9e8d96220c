// state: what the oracle's parts work on. One pass computes `count` items at once, each a position
// of a batch row: in a step one per row, in a prompt all of its positions.
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
  size_t attended_width; // of the input of wo
  size_t cache_width;    // of a position, in all caches of a layer together
  struct reference_block *blocks;
  bool out_of_memory;

  int *tokens;                          // [batch]
  float *cache;                         // [layers][a cache or two][batch][context][its width]
  double **held;                        // [layers][TENSORS], NULL if a tensor comes from the seed
  struct quantised *quantised[TENSORS]; // the element of weights, the same in all layers; else NULL
  double *logits;                       // [batch][vocab]
  int position;                         // that steps write
  uint64_t steps;                       // since it was made
  uint16_t *table;                      // of forced routing, otherwise NULL
  int *chosen; // [layers][batch][chosen], of the last step; NULL without experts
  int *given;  // the same, for the next step
  bool is_given;
  double routing_shortfall; // misses of the choice that was given

  // A pass: vectors are [count][their width], with room for `capacity`.
  struct reference_item *items;
  size_t count, capacity;
  double *x, *input, *attention_output, *mlp_output;
  double *query, *key, *value, *attended; // for attention
  double *query_low, *absorbed;           // for latent attention
  double *gate, *up;                      // for an MLP
  double *fine;                           // the router's input
  double *router, *weights;               // [count][experts]; weights are 0 for those not chosen
  double *expert_input, *expert_output;   // for the items that chose an expert
  double *row;                            // one row of weights
  double *scores;                         // [context]
};

#endif
