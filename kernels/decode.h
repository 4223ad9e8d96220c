// decode: what a backend offers to the probe: devices, calibration, and one decode step of a model.
//
// A backend is one plain C table of functions, so that it can be linked in (cpu) or loaded as a
// plugin (cuda, hip). It computes; it neither times nor prints nor chooses what to run: the probe
// does.
//
// The model is a decoder-only transformer; a shape of zeros but for its sizes is a Llama. Shapes,
// row-major, the last index fastest; H = hidden, Q = heads * head_dim, K = kv_heads * head_dim,
// F = ffn_hidden, V = vocab:
//   embedding[V][H]
//   per layer: attention_norm[H]  wq[Q][H]  wk[K][H]  wv[K][H]  wo[H][Q]
//              ffn_norm[H]        gate[F][H] up[F][H] down[H][F]
//   final_norm[H]  head[V][H]
//   cache, per layer: keys[batch][context][K]  values[batch][context][K]
// One step, for every row of the batch: x = embedding[token]; in each layer
//   x += wo * attention(rope(wq * n), keys, values) with n = rmsnorm(x) * attention_norm
//   x += down * (silu(gate * m) * (up * m))         with m = rmsnorm(x) * ffn_norm
// then logits = head * (rmsnorm(x) * final_norm), token = the index of the largest logit (the
// lowest of equals). The step writes its own key and value at position context - 1 and attends to
// all `context` positions, itself included: the position is held, the slot rewritten, so that every
// step costs the same. The token is fed back to the next step inside the backend.
//   rmsnorm(x) = x / sqrt(mean(x^2) + norm_epsilon)
//   rope: (a, b) at (i, i + head_dim/2) turns to (a cos - b sin, a sin + b cos) by the angle
//     position / rope_theta^(2i/head_dim), position = context - 1 (Su et al. 2021; the pairs as in
//     GPT-NeoX and the checkpoints on Hugging Face). The angles of a held position are constants: a
//     backend takes them from double precision. Keys in the cache are stored after rope.
//   attention: softmax(q.k / sqrt(head_dim)) v, head h reading kv head h / (heads / kv_heads)
//
// What other families do otherwise, each as a field of the shape:
//   norm      NORM_LAYER: (x - mean(x)) / sqrt(variance(x) + norm_epsilon) * weight + bias[H], the
//             variance without Bessel's correction
//   mlp       MLP_GELU: down * gelu(up * m), gelu(x) = x * (1 + erf(x / sqrt(2))) / 2, no gate.
//             MLP_CLAMPED_SWIGLU: g = min(gate * m, 7), u = max(-7, min(up * m, 7)),
//             down * (g * sigmoid(1.702 g) * (u + 1)) (gpt-oss)
//   parallel  both read the x that the layer began with: x += attention + MLP (Falcon)
//   biases    added to the products named, in float, before anything else is done with them
//   qk_norm   every head of q and of k is its rmsnorm times q_norm[head_dim], k_norm[head_dim],
//             before rope (Qwen3)
//   sinks     one logit per head, sinks[heads], joins the softmax and takes its part of it, with no
//             value (Xiao et al. 2023; gpt-oss)
//   window    a layer attends to the last `window` positions only, its own included; of every
//             `full_every` layers the last attends to all of them (0: none does). A window longer
//             than the context is all of it. The whole cache is held; family.h says which layer is
//             what
//   rope      the angle's frequency f = rope_theta^(-2i/head_dim) becomes, L = original_context,
//             w = 2 pi / f:
//             ROPE_LLAMA3: f / factor where w > L / low, f where w < L / high, between them
//               (1 - s) f / factor + s f with s = (L / w - low) / (high - low) (Llama 3.1's code)
//             ROPE_YARN: r f / factor + (1 - r) f with r = clamp((i - a) / (b - a), 0, 1), a and b
//               the pairs that turn `high` and `low` times over L: head_dim/2 * log(L / (2 pi t)) /
//               log(rope_theta), a rounded down and b up where rope.whole, a from 0 on, b at most
//               head_dim - 1 and above a; cosine and sine are both multiplied by rope.magnitude
//               (Peng et al. 2023, arXiv 2309.00071; 0: 1)
//             interleaved: the pairs are (2i, 2i + 1)
//   score_scale  multiplies q.k / sqrt(head_dim); 0 is 1
//   experts   an MLP of `count` experts, each with gate, up and down of its own and a width of
//             experts.hidden, in all layers after the first experts.dense_layers, which have the
//             dense MLP (ffn_hidden may be 0 where there is none). r = router[count][H] * m, plus a
//             bias; the `chosen` largest (the lowest index of equals) are taken:
//             ROUTER_SOFTMAX_CHOSEN: their weights are the softmax over the chosen
//             ROUTER_SOFTMAX_ALL: the softmax over all, of the chosen not made to sum to 1 again
//             ROUTER_SIGMOID: p = sigmoid(r), r without the bias; chosen by p + bias, from the
//               experts.kept_groups of `groups` equal groups of neighbours whose two largest
//               p + bias sum to most; weights p / sum of the chosen p, times experts.scale
//               (DeepSeek-V3, arXiv 2412.19437)
//             x += the sum of weight * expert(m), and of a shared expert of width shared_hidden,
//             which has no biases
//   latent    (DeepSeek-V2, arXiv 2405.04434) N = head_dim - rope_dim, R = rank, P = rope_dim,
//             D = value_dim:
//             q_a[query_rank][H]  q_a_norm[query_rank]  q_b[heads * head_dim][query_rank]
//             kv_a[R + P][H]  kv_a_norm[R]  k_b[heads][N][R]  v_b[heads][D][R]  wo[H][heads * D]
//             cache, per layer: latents[batch][context][R + P], the keys; there are no values
//             A position's entry is rmsnorm of the first R of kv_a * n, times kv_a_norm, then
//             rope of the last P. Of a head's q = q_b * (rmsnorm(q_a * n) * q_a_norm) the first N
//             become k_b^T q[0..N), the last P turn by rope; both against an entry are the score;
//             o = the softmax's sum of the entries' first R, and the head's output v_b o.
//             query_rank 0: q comes from n by wq[heads * head_dim][H]. rope's formulas hold with P
//             for head_dim; kv_heads is not read
//
// What is rounded, alike in every backend:
//   - What enters a product with weights, to types.activations: n once for wq, wk and wv, the
//     attention of all heads before wo, m once for gate, up and all experts, what is between up and
//     down before down (of an expert: before its weight), the last norm before head; of latent
//     attention also the normalised q_a * n. With INT8 and E4M3 the vector of one batch row has one
//     scale, max|x| / 127 or max|x| / 448, and x / scale goes to the nearest even (a vector of
//     zeros stays one, and so does one whose scale underflows); both quotients are float's, so that
//     ties fall alike everywhere. INT8 goes with weights INT8, INT8_GROUP and INT4_GROUP; E4M3 with
//     E4M3, MXFP4, NVFP4, MXFP6_E2M3 and MXFP6_E3M2. A BF16 head beside them takes BF16.
//   - router, k_b and v_b are BF16 always; m, each head's q and each o enter them in BF16 (in F32
//     where activations are F32).
//   - Keys and values, to types.kv, before this step reads them.
//   - Nothing else: x, queries, scores and sums are float. Matrix units may need queries and
//     softmax weights in bf16; the tolerance for BF16 activations leaves room for that.
//
// Several devices, the ranks, may hold one model together (tensor parallel), each a share of every
// matrix, bit for bit that part of the whole one (share.h). Every rank has all of x. What a rank's
// heads attended to, times its columns of wo, is its part of a sum over all ranks, and so is its
// part of the MLP times its columns of down: x grows by these sums, made in float by an all-reduce
// each. Logits are made where their rows of head lie; a third kind of all-reduce, of 8 bytes a row
// of the batch, finds the token. All is rounded as above but for one thing: with INT8 and E4M3
// activations, the vector before wo and the one before down are as many vectors as there are ranks,
// each rank's part with a scale of its own; a scale over all of it would take a further exchange.
#ifndef PERTOKEN_KERNELS_DECODE_H
#define PERTOKEN_KERNELS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_ABI 5

enum element { // kernels/element.h: sizes and values
  ELEMENT_F32,
  ELEMENT_BF16,
  ELEMENT_E4M3,       // OCP fp8: bias 7, no infinity, largest 448 (OCP 8-bit floating point
                      // specification, 2023)
  ELEMENT_INT8,       // symmetric, -127..127, one float scale per row
  ELEMENT_MXFP4,      // e2m1 in blocks of 32, an e8m0 scale each (OCP Microscaling Formats, 2023)
  ELEMENT_NVFP4,      // e2m1 in blocks of 16, an e4m3 scale each, a float for the whole tensor
  ELEMENT_MXFP6_E2M3, // blocks of 32, an e8m0 scale each
  ELEMENT_MXFP6_E3M2,
  ELEMENT_INT8_GROUP, // -127..127 in groups of 128 of a row, a BF16 scale each
  ELEMENT_INT4_GROUP, // -7..7, the same
  ELEMENTS
};

#define MAX_DECODE_RANKS   64
#define MAX_DECODE_EXPERTS 1024 // of a layer

// What is held and computed in what. "fp8" alone says too little: two runs are alike when all of
// this is.
struct decode_types {
  enum element weights;      // any but F32
  enum element activations;  // what enters a product with weights: F32, BF16; INT8 or E4M3 with one
                             // scale per vector
  enum element kv;           // BF16 or E4M3, no scale
  enum element head;         // of embedding and head: BF16, or as the weights
  enum element accumulation; // F32
  enum element experts;      // of the routed experts; F32: as the weights
};

enum decode_norm { NORM_RMS, NORM_LAYER };
enum decode_mlp { MLP_SWIGLU, MLP_CLAMPED_SWIGLU, MLP_GELU };
enum decode_rope_scaling { ROPE_PLAIN, ROPE_LLAMA3, ROPE_YARN };
enum decode_router { ROUTER_SOFTMAX_CHOSEN, ROUTER_SOFTMAX_ALL, ROUTER_SIGMOID };

enum decode_bias { // bits
  BIAS_QKV = 1,
  BIAS_OUTPUT = 2, // of wo
  BIAS_MLP = 4,    // of gate, up and down, also of experts
  BIAS_ROUTER = 8,
};

struct decode_rope {
  enum decode_rope_scaling scaling;
  float factor, low, high, magnitude;
  int original_context;
  bool whole, interleaved;
};

struct decode_latent {
  int rank; // 0: no latent attention
  int query_rank, rope_dim, value_dim;
};

struct decode_experts {
  int count; // 0: a dense model
  int chosen, hidden, shared_hidden, dense_layers;
  enum decode_router router;
  int groups, kept_groups; // of ROUTER_SIGMOID; 0: all experts are one group
  float scale;             // 0 is 1
};

struct decode_shape {
  int layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab;
  float norm_epsilon, rope_theta;
  enum decode_norm norm;
  enum decode_mlp mlp;
  bool parallel, qk_norm, sinks;
  unsigned biases; // enum decode_bias
  int window, full_every;
  float score_scale;
  struct decode_rope rope;
  struct decode_latent latent;
  struct decode_experts experts;
};

// Which experts the rows of the batch go to.
enum decode_routing {
  ROUTING_MODEL,   // as the router of random weights chooses
  ROUTING_UNIFORM, // each row of each step: any set of `chosen`, all alike
  ROUTING_SKEWED,  // drawn one by one without replacement, expert e by 1 / (place of e + 1)^skew,
                   // in an order of places that each layer has for itself
};
// The last two are tables that kernels/routing.h makes alike for every backend, for
// ROUTING_STEPS steps that then come again; weights are those that the router's r gives to them.

struct decode_request {
  struct decode_shape shape;
  struct decode_types types;
  int batch, context;
  uint64_t seed;
  int threads;        // of a CPU; 0 chooses
  int ranks;          // devices that hold the model together, up to MAX_DECODE_RANKS; 0 and 1: one
  const int *devices; // [ranks], of two and more, all different; read by create
  enum decode_routing routing;
  float skew;
  int chunk; // most positions of a call of prefill; 0: it is not called
};

enum decode_status {
  DECODE_OK,
  DECODE_UNSUPPORTED, // this shape or these types are not for this backend
  DECODE_NO_MEMORY,
  DECODE_NO_DEVICE,
  DECODE_FAILED, // the device reported an error
};

struct decode_device {
  char name[128];    // "Intel(R) Xeon(R) Processor, 2 cores, AVX-512, AMX"
  char uuid[64];     // or "" where there is none
  char pci[32];      // "0000:17:00.0", or ""
  char runtime[128]; // driver, runtime and instruction set in use
  uint64_t memory_bytes, memory_free_bytes;
  uint64_t cache_bytes;          // last-level cache, of the cores in use
  uint64_t reported_cache_bytes; // what the system says of it, where that may be another; else 0
  int units;                     // cores or multiprocessors
};

// What one step moves and computes, counted from the shapes; of several ranks, each of them.
struct decode_cost {
  uint64_t weight_bytes;   // read once per step for the whole batch, scales included; embedding:
                           // batch rows; without routed experts
  uint64_t expert_bytes;   // of one routed expert of one layer
  double expected_experts; // distinct ones that a step touches, over all layers, with routing
                           // uniform: routing_expected
  uint64_t kv_bytes;       // cache read, and the slots written
  uint64_t operations;     // multiplications and additions
  uint64_t resident_bytes; // memory held while running
};

// An all-reduce of a layer: batch * hidden floats. A step has two of them a layer, and at its end
// one of 8 bytes a row of the batch.
struct decode_all_reduce {
  uint64_t bytes;
  double seconds;
  char library[64]; // "NCCL 2.28.9"
};

// How the steps of a state are put on the device.
struct decode_step_form {
  char form[32];      // "recorded graph", "one launch", "single launches"
  char fallback[256]; // why it is not what it was to be, and takes longer than need be; "" if it is
};

// Routed experts that steps have touched since the state was made: the distinct ones of a step's
// whole batch, added up over layers and steps. Prefill does not count.
struct decode_touched {
  uint64_t experts, steps;
};

// A run of positions of one row's prompt.
struct decode_prompt {
  int row, first, count;
  const int *tokens; // [count]
  bool beside;       // in the same pass every other row makes a step, as run would
};

struct decode_state; // owned by the backend

struct decode_backend {
  int abi;           // DECODE_ABI
  const char *name;  // "cpu"
  const char *build; // a hash over the kernels' sources, or a version

  // Number of devices, 0 without any. describe: DECODE_NO_DEVICE out of range.
  int (*device_count)(void);
  enum decode_status (*describe)(int device, struct decode_device *out);

  // Can it run this at all, and what does a step cost? Needs no memory.
  enum decode_status (*cost)(const struct decode_request *, struct decode_cost *out);

  // Takes memory and fills weights and cache from the seed as weights.h says, bit for bit alike on
  // every backend. The first tokens of the batch are (seed + row) mod vocab. NULL and *status on
  // failure. Of several ranks the state is that of all of them together, on request->devices, and
  // `device` is the first of these. When one fails or does not answer, all end with an error.
  struct decode_state *(*create)(int device, const struct decode_request *,
                                 enum decode_status *status);
  void (*destroy)(struct decode_state *);

  // `steps` decode steps for the whole batch, finished when the call returns.
  enum decode_status (*run)(struct decode_state *, int steps);

  // After run: the batch's newest tokens [batch], and the logits they were chosen from
  // [batch][vocab].
  enum decode_status (*tokens)(struct decode_state *, int *out);
  enum decode_status (*logits)(struct decode_state *, float *out);
  // The tokens that the next step starts from.
  enum decode_status (*set_tokens)(struct decode_state *, const int *in);

  // Times the ranks' all-reduce alone, `repeats` of them in turn. DECODE_UNSUPPORTED for a state of
  // one device. NULL: the backend knows no ranks.
  enum decode_status (*all_reduce)(struct decode_state *, int repeats, struct decode_all_reduce *);

  // Calibration. Reads `bytes` of memory once, on the threads that `run` uses, through the
  // `variant`-th read kernel (from 0; DECODE_UNSUPPORTED past the last); *seconds is the time of
  // the reading alone. The buffer is kept between calls of one size and given back by
  // calibration_end.
  enum decode_status (*read_memory)(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds);
  // Multiply-add rate of the matrix units in the request's types, operations per second.
  enum decode_status (*matrix_rate)(int device, const struct decode_types *, int threads,
                                    double *operations_per_s);
  void (*calibration_end)(void);

  // Computes the prompt's positions first .. first + count - 1 (count <= chunk, the end <= context)
  // of a row, causally: each attends to the positions up to itself that its layer's window lets it
  // see. Keys and values enter the row's cache; its token and logits are afterwards those of the
  // last of the positions. What is in the cache before `first` is taken as it is. All is rounded as
  // in a step. NULL: the backend has no prefill.
  enum decode_status (*prefill)(struct decode_state *, const struct decode_prompt *);
  // The position that steps write from here on, attending to position + 1; context - 1 at first.
  // NULL: it is held there.
  enum decode_status (*set_position)(struct decode_state *, int position);

  // After run: the experts that the last step chose, [layers][batch][chosen], the largest weight
  // first; of layers without experts -1. NULL: the backend knows no experts.
  enum decode_status (*chosen)(struct decode_state *, int *out);
  enum decode_status (*touched)(struct decode_state *, struct decode_touched *out);
  // What products of prefill are computed with: "oneDNN 3.6", "own tiles". NULL without prefill.
  const char *(*prefill_library)(const struct decode_state *);

  // The last failure in words; "" if none.
  const char *(*error)(void);

  // Of several ranks that of one that fell back, if any. NULL: the backend has but one way.
  void (*step_form)(const struct decode_state *, struct decode_step_form *out);
};

// What a plugin exports: a function of this type and name. Its table is valid for as long as the
// plugin is loaded; one of another ABI is refused by whoever loads it.
typedef const struct decode_backend *decode_plugin(void);
#define DECODE_PLUGIN "pertoken_backend"

#endif
