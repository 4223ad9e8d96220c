// decode: what a backend offers to the probe: devices, calibration, and one decode step of a model.
//
// A backend is one plain C table of functions, so that it can be linked in (cpu) or loaded as a
// plugin (cuda, hip). It computes; it neither times nor prints nor chooses what to run: the probe
// does.
//
// The model is a Llama-family transformer. Shapes, row-major, the last index fastest; H = hidden,
// Q = heads * head_dim, K = kv_heads * head_dim, F = ffn_hidden, V = vocab:
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
// What is rounded, alike in every backend:
//   - What enters a product with weights, to types.activations: n once for wq, wk and wv, the
//     attention of all heads before wo, m once for gate and up, silu * up before down, the last
//     norm before head. With INT8 and E4M3 the vector of one batch row has one scale, max|x| / 127
//     or max|x| / 448, and x / scale goes to the nearest even (a vector of zeros stays one, and so
//     does one whose scale underflows); both quotients are float's, so that ties fall alike
//     everywhere. These two go with weights of the same type only; a BF16 head beside them takes
//     BF16 activations.
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

#define DECODE_ABI 4

enum element {
  ELEMENT_F32,
  ELEMENT_BF16,
  ELEMENT_E4M3, // OCP fp8: bias 7, no infinity, largest 448 (OCP 8-bit floating point
                // specification, 2023)
  ELEMENT_INT8, // symmetric, -127..127
};

#define MAX_DECODE_RANKS 64

// What is held and computed in what. "fp8" alone says too little: two runs are alike when all of
// this is.
struct decode_types {
  enum element weights;      // BF16; or E4M3, INT8 with one float scale per row
  enum element activations;  // what enters a product with weights: F32, BF16; INT8 or E4M3 with one
                             // scale per vector
  enum element kv;           // BF16 or E4M3, no scale
  enum element head;         // of embedding and head: BF16, or as the weights
  enum element accumulation; // F32
};

struct decode_shape {
  int layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab;
  float norm_epsilon, rope_theta;
  // Mixture of experts: 0 here means a dense model, the only kind that a backend must know.
  int experts, experts_per_token;
};

struct decode_request {
  struct decode_shape shape;
  struct decode_types types;
  int batch, context;
  uint64_t seed;
  int threads;        // of a CPU; 0 chooses
  int ranks;          // devices that hold the model together, up to MAX_DECODE_RANKS; 0 and 1: one
  const int *devices; // [ranks], of two and more, all different; read by create
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
                           // batch rows
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
