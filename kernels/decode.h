// decode: what a backend offers to the probe: devices, calibration, and one decode step of a model.
//
// A backend is one plain C table of functions, so that it can be linked in (cpu) or loaded as a
// plugin (cuda, hip). It computes; it neither times nor prints nor chooses what to run: the probe
// does.
//
// The model is a decoder-only transformer; a shape that is zero except for its sizes is a Llama.
// Shapes, row-major, the last index fastest; H = hidden, Q = heads * head_dim, K = kv_heads *
// head_dim, F = ffn_hidden, V = vocab:
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
// What other families do differently, each as a field of the shape:
//   norm      NORM_LAYER: (x - mean(x)) / sqrt(variance(x) + norm_epsilon) * weight + bias[H], the
//             variance without Bessel's correction
//   mlp       MLP_GELU: down * gelu(up * m), gelu(x) = x * (1 + erf(x / sqrt(2))) / 2, no gate.
//             MLP_CLAMPED_SWIGLU: g = min(gate * m, 7), u = max(-7, min(up * m, 7)),
//             down * (g * sigmoid(1.702 g) * (u + 1)) (gpt-oss)
//   parallel  both read the x that the layer began with: x += attention + MLP (Falcon)
//   biases    added to the products named, in float, before anything else happens to these
//   qk_norm   every head of q and of k becomes its rmsnorm times q_norm[head_dim] or
//             k_norm[head_dim], before rope (Qwen3)
//   sinks     one logit per head, sinks[heads], is part of the softmax, without a value
//             (Xiao et al. 2023; gpt-oss)
//   window    a layer attends only to the last `window` positions, its own included; the last of
//             every `full_every` layers attends to all of them (0: none does). A window longer than
//             the context is all of it. The whole cache is held; family.h says which layer is which
//   rope      with L = original_context and w = 2 pi / f, the angle's frequency
//             f = rope_theta^(-2i/head_dim) becomes:
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
//             ROUTER_SOFTMAX_ALL: the softmax over all experts; the chosen ones are not rescaled to
//               sum to 1
//             ROUTER_SIGMOID: p = sigmoid(r), r without the bias; chosen by p + bias, from the
//               experts.kept_groups of `groups` equal groups of neighbors whose two largest
//               p + bias have the largest sum; weights p / sum of the chosen p, times experts.scale
//               (DeepSeek-V3, arXiv 2412.19437)
//             x += the sum of weight * expert(m), and of a shared expert of width shared_hidden,
//             which has no biases
//   latent    (DeepSeek-V2, arXiv 2405.04434) N = head_dim - rope_dim, R = rank, P = rope_dim,
//             D = value_dim:
//             q_a[query_rank][H]  q_a_norm[query_rank]  q_b[heads * head_dim][query_rank]
//             kv_a[R + P][H]  kv_a_norm[R]  k_b[heads][N][R]  v_b[heads][D][R]  wo[H][heads * D]
//             cache, per layer: latents[batch][context][R + P], the keys; there are no values
//             A position's entry is rmsnorm of the first R of kv_a * n, times kv_a_norm, then
//             rope of the last P. In a head's q = q_b * (rmsnorm(q_a * n) * q_a_norm) the first N
//             become k_b^T q[0..N) and the last P are rotated by rope; their dot product with an
//             entry is the score;
//             o = the softmax's sum of the entries' first R, and the head's output v_b o.
//             query_rank 0: q comes from n by wq[heads * head_dim][H]. rope's formulas hold with P
//             in place of head_dim; kv_heads is not read
//
// What is rounded, the same in every backend:
//   - Inputs of products with weights, to types.activations: n once for wq, wk and wv, the
//     attention of all heads before wo, m once for gate, up and all experts, the activation between
//     up and down (with experts before the expert's weight is applied), the last norm before head;
//     with latent attention also the normalized q_a * n. With INT8 and E4M3 the vector of one batch
//     row has one scale, max|x| / 127 or max|x| / 448, and x / scale is rounded to nearest even (a
//     vector of zeros stays zero, and so does one whose scale underflows). Both quotients are
//     computed in float, so that ties round the same way everywhere. INT8 goes with the weights
//     INT8, INT8_GROUP and INT4_GROUP; E4M3 with E4M3, MXFP4, NVFP4, MXFP6_E2M3 and MXFP6_E3M2. A
//     BF16 head beside these takes BF16.
//   - router, k_b and v_b are always BF16; their inputs m, each head's q and each o are rounded to
//     BF16 (F32 where activations are F32).
//   - Keys and values, to types.kv, before this step reads them.
//   - Nothing else: x, queries, scores and sums are float. Matrix units may need queries and
//     softmax weights in bf16; the tolerance for BF16 activations leaves room for that.
//
// Several devices, the ranks, can hold one model together (tensor parallel). Each has a share of
// every matrix, bit for bit that part of the whole matrix (share.h), and all of x. What a rank's
// heads attended to, times its columns of wo, is its part of a sum over all ranks, and so is its
// part of the MLP times its columns of down (with experts, weighted and added up; every rank
// chooses the experts itself). These sums are added to x; each is computed in float by an
// all-reduce. Logits are computed where their rows of head are; a third kind of all-reduce, of 8
// bytes per batch row, finds the token. In a prompt, positions take the place of batch rows.
// Everything is rounded as above, with one exception: with INT8 and E4M3 activations, the vector
// before wo and the one before any down are split into one vector per rank, each with its own
// scale; a common scale would take another exchange.
#ifndef PERTOKEN_KERNELS_DECODE_H
#define PERTOKEN_KERNELS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_ABI 8

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

// What is stored and computed in which type. "fp8" alone says too little: two runs are comparable
// only if all of this is equal.
struct decode_types {
  enum element weights;      // any but F32
  enum element activations;  // inputs of products with weights: F32, BF16; INT8 or E4M3 with one
                             // scale per vector
  enum element kv;           // BF16 or E4M3, no scale
  enum element head;         // of embedding and head: BF16, or the type of the weights
  enum element accumulation; // F32
  enum element experts;      // of the routed experts; F32: the type of the weights
};

enum decode_norm { NORM_RMS, NORM_LAYER };
enum decode_mlp { MLP_SWIGLU, MLP_CLAMPED_SWIGLU, MLP_GELU };
enum decode_rope_scaling { ROPE_PLAIN, ROPE_LLAMA3, ROPE_YARN };
enum decode_router { ROUTER_SOFTMAX_CHOSEN, ROUTER_SOFTMAX_ALL, ROUTER_SIGMOID };

enum decode_bias { // bits
  BIAS_QKV = 1,
  BIAS_OUTPUT = 2, // of wo
  BIAS_MLP = 4,    // of gate, up and down, also those of experts
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
  int groups, kept_groups; // with ROUTER_SIGMOID; 0: all experts are one group
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

// Which experts the batch rows are routed to.
enum decode_routing {
  ROUTING_MODEL,   // the choice of a router with random weights
  ROUTING_UNIFORM, // for each row of each step, any set of `chosen` experts, all equally likely
  ROUTING_SKEWED,  // drawn one by one without replacement, expert e with weight
                   // 1 / (place of e + 1)^skew; each layer has its own order of places
};
// The last two are tables that kernels/routing.h makes, the same for every backend, for
// ROUTING_STEPS steps, after which they repeat; the weights are those that the router's r gives to
// the experts.

struct decode_request {
  struct decode_shape shape;
  struct decode_types types;
  int batch, context;
  uint64_t seed;
  int threads;        // of a CPU; 0: the backend chooses
  int ranks;          // devices that hold the model together, up to MAX_DECODE_RANKS; 0 and 1: one
  const int *devices; // [ranks], for two or more, all different; read by cost and create
  enum decode_routing routing;
  float skew;
  int chunk;           // the most positions in a call of prefill; 0: prefill is not called
  const char *variant; // in place of the backend's own choice: see there; NULL and "": its own
};

enum decode_status {
  DECODE_OK,
  DECODE_UNSUPPORTED, // this backend does not support this shape or these types
  DECODE_NO_MEMORY,
  DECODE_NO_DEVICE,
  DECODE_FAILED, // the device reported an error
};

struct decode_device {
  char name[128];    // "Intel(R) Xeon(R) Processor, 2 cores, AVX-512, AMX"
  char uuid[64];     // or "" if there is none
  char pci[32];      // "0000:17:00.0", or ""
  char runtime[128]; // driver, runtime and instruction set in use
  uint64_t memory_bytes, memory_free_bytes;
  uint64_t cache_bytes;          // last-level cache, of the cores in use
  uint64_t reported_cache_bytes; // what the system reports, if that may differ; otherwise 0
  int units;                     // cores or multiprocessors
};

// What one step moves and computes, counted from the shapes. With several ranks, of the first one;
// no rank's share is larger. Memory is that of the rank that holds the most.
struct decode_cost {
  uint64_t weight_bytes;   // read once per step for the whole batch, scales included; of the
                           // embedding, batch rows; without routed experts
  uint64_t expert_bytes;   // of one routed expert of one layer
  double expected_experts; // distinct experts that a step touches, over all layers, with uniform
                           // routing: routing_expected
  uint64_t kv_bytes;       // cache read, and the slots written
  uint64_t operations;     // multiplications and additions
  uint64_t resident_bytes; // memory held while running
};

// An all-reduce within a layer: batch * hidden floats. A step has two per layer, and at its end one
// of 8 bytes per batch row.
struct decode_all_reduce {
  uint64_t bytes;
  double seconds;
  char library[64]; // "NCCL 2.28.9"
};

// How a state's steps are launched on the device, and in what types they multiply.
struct decode_step_form {
  char form[32];        // "recorded graph", "one launch", "single launches"; "" if there is one way
  char fallback[256];   // why it is not the form asked for, which is faster; "" if it is
  char arithmetic[160]; // kernels/arithmetic.h
};

// Routed experts that steps have touched since the state was made: the distinct experts of each
// step's whole batch, added up over layers and steps. Prefill does not count.
struct decode_touched {
  uint64_t experts, steps;
};

// Consecutive positions of one row's prompt. A backend may not support `beside`:
// DECODE_UNSUPPORTED.
struct decode_prompt {
  int row, first, count;
  const int *tokens; // [count]
  bool beside;       // in the same pass every other row makes a step, as in `run`
};

struct decode_state; // owned by the backend

struct decode_backend {
  int abi;           // DECODE_ABI
  const char *name;  // "cpu"
  const char *build; // a hash over the kernels' sources, or a version

  // Number of devices, 0 if there are none. describe: DECODE_NO_DEVICE if out of range.
  int (*device_count)(void);
  enum decode_status (*describe)(int device, struct decode_device *out);

  // Can the device run this at all, and what does a step cost? Needs no memory. With several ranks:
  // can request->devices, each its share; if none are named, all are like `device`.
  enum decode_status (*cost)(int device, const struct decode_request *, struct decode_cost *out);

  // Allocates memory and fills weights and cache from the seed as weights.h says, bit for bit the
  // same on every backend. The first tokens of the batch are (seed + row) mod vocab. NULL and
  // *status on failure. With several ranks the state is that of all of them together, on
  // request->devices, and `device` is the first of these. If one fails or does not answer, all end
  // with an error.
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

  // Times the ranks' all-reduce alone, `repeats` of them in a row. DECODE_UNSUPPORTED for a state
  // on one device. NULL: the backend does not support ranks.
  enum decode_status (*all_reduce)(struct decode_state *, int repeats, struct decode_all_reduce *);

  // Calibration. Reads `bytes` of memory once, on the threads that `run` uses, with the
  // `variant`-th read kernel (from 0; DECODE_UNSUPPORTED past the last); *seconds is the time of
  // the reads alone. The buffer is kept between calls with the same size and freed by
  // calibration_end.
  enum decode_status (*read_memory)(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds);
  // Multiply-add rate of the matrix units in the request's types, in operations per second: the
  // best of the kernels that steps use and, through a library, that prompts can use.
  enum decode_status (*matrix_rate)(int device, const struct decode_types *, int threads,
                                    double *operations_per_s);
  void (*calibration_end)(void);

  // Computes positions first .. first + count - 1 of a row's prompt (count <= chunk, the end <=
  // context), causally: each attends to the positions up to itself that its layer's window shows.
  // Keys and values are written to the row's cache; afterwards the row's token and logits are those
  // of the last of the positions. The cache's content before `first` is used unchanged. Everything
  // is rounded as in a step. NULL: the backend has no prefill.
  enum decode_status (*prefill)(struct decode_state *, const struct decode_prompt *);
  // Sets the position that steps write from now on; they attend to position + 1 positions. At first
  // it is context - 1. NULL: the position cannot be changed.
  enum decode_status (*set_position)(struct decode_state *, int position);

  // After run: the experts that the last step chose, [layers][batch][chosen], largest weight first;
  // -1 in layers without experts. NULL: the backend does not support experts.
  enum decode_status (*chosen)(struct decode_state *, int *out);
  enum decode_status (*touched)(struct decode_state *, struct decode_touched *out);
  // What computes prefill's products, naming each kind that is done differently: "oneDNN 3.6; own
  // tiles: experts", "own tiles: WHY". With several ranks, that of the one whose library does the
  // fewest. NULL without prefill.
  const char *(*prefill_library)(const struct decode_state *);

  // The last failure in words; "" if none.
  const char *(*error)(void);

  // How steps are computed; with several ranks, on one that fell back, if any did. NULL: the
  // backend does not say.
  void (*step_form)(const struct decode_state *, struct decode_step_form *out);

  // The number-th, from 0, of the ways to compute the request that may be faster than the backend's
  // own choice, as only measurement tells; NULL past the last. A request for any other variant is
  // DECODE_UNSUPPORTED unless the backend knows it. NULL: the backend has one way only.
  const char *(*variant)(int device, const struct decode_request *, int number);
};

// What a plugin exports: a function of this type and name. Its table is valid as long as the plugin
// is loaded; whoever loads it refuses one with another ABI.
typedef const struct decode_backend *decode_plugin(void);
#define DECODE_PLUGIN "pertoken_backend"

#endif
