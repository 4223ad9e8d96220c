// reference: the decode step of decode.h in double precision, the oracle that every backend is
// checked against. Written to be read, not to be fast.
//
// Weights have exactly the values that weights.h says a backend holds; activations and cache
// entries are rounded where decode.h says so; all sums, norms, exponentials and angles are double.
// Weights are computed from the seed as they are read, so a large model needs little memory: the
// cache (4 bytes per element), logits, and the few tensors that a test has asked for.
#ifndef PERTOKEN_KERNELS_REFERENCE_REFERENCE_H
#define PERTOKEN_KERNELS_REFERENCE_REFERENCE_H

#include "kernels/decode.h"
#include "kernels/weights.h"

struct reference;

// Fills the cache from the seed; the first tokens are (seed + row) mod vocab. With several ranks it
// is the whole model, rounded as they round it. NULL and *status DECODE_UNSUPPORTED (a shape, a mix
// of types or a routing that decode.h does not have, or ranks that share.h does not allow) or
// DECODE_NO_MEMORY.
struct reference *reference_create(const struct decode_request *request,
                                   enum decode_status *status);
void reference_destroy(struct reference *reference); // NULL is allowed

// The tokens [batch] that the next step starts from. -1, with nothing set, if one is not a token.
int reference_set_tokens(struct reference *reference, const int *tokens);

// The experts that the next step must take, as reported by a backend's `chosen`:
// [layers][batch][chosen], in any order; layers without experts are not read. With random weights,
// experts nearly tie, as tokens do. The step takes a choice that it would not have made, and
// check.h's verdict says by how much the router's outputs miss it. An invalid choice, or one other
// than the forced choice, is not taken, and counts as missed by infinity.
void reference_set_chosen(struct reference *reference, const int *chosen);

// The position that steps write from now on; context - 1 at first. -1, with nothing set, if outside
// the context.
int reference_set_position(struct reference *reference, int position);

// One step for all batch rows.
void reference_step(struct reference *reference);

// Does what decode.h's prefill does: all positions of the prompt in one pass, layer by layer. -1,
// with nothing done, if it is not a valid prompt for this request.
int reference_prefill(struct reference *reference, const struct decode_prompt *prompt);

// After a step: logits [batch][vocab] and the tokens chosen from them [batch], valid until the next
// step.
const double *reference_logits(const struct reference *reference);
const int *reference_tokens(const struct reference *reference);

// The experts chosen, as decode.h's chosen gives them; NULL without experts.
const int *reference_chosen(const struct reference *reference);
// By how much the routers' outputs in the last step miss the choice given by reference_set_chosen.
double reference_routing_shortfall(const struct reference *reference);

const struct decode_request *reference_request(const struct reference *reference);

// For tests. A tensor of weights, norms, biases or sinks in the shape of decode.h, to be read or
// overwritten: from now on the step reads this copy, unrounded. NULL without memory. Layer 0 for
// tensors outside the layers.
double *reference_tensor(struct reference *reference, enum tensor tensor, int layer);
// The cache itself: TENSOR_KEYS or TENSOR_VALUES, [batch][context][kv_heads * head_dim], or
// TENSOR_LATENTS, [batch][context][rank + rope_dim].
float *reference_cache(struct reference *reference, enum tensor tensor, int layer);

#endif
