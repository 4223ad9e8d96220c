// memory: the bytes that a language model holds while it serves: weights, KV cache, activations.
//
// Everything is counted from the dimensions in data/models.csv; the tests compare the counts with
// the parameters and KV bytes that the same table states.
#ifndef PERTOKEN_MODEL_EVIDENCE_MEMORY_H
#define PERTOKEN_MODEL_EVIDENCE_MEMORY_H

#include "base/arena.h"
#include "base/csv.h"

#include <stdbool.h>
#include <stddef.h>

// Numbers from a row of data/models.csv; 0 for those that it lacks.
struct memory_model {
  const char *id, *name;
  double layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
  double experts, experts_per_token, shared_experts, dense_layers, dense_ffn;
  double q_lora, kv_lora, nope, rope, v_dim; // multi-head latent attention (DeepSeek-V2, 2024)
  double window;                             // tokens that a layer attends to; 0: all
  double full_every; // with a window: the last of this many layers attends to all; 0: none does
  bool is_mla, is_gated, is_tied;
  bool has_norm_bias, has_qk_norm, has_sinks;
  bool has_qkv_bias, has_output_bias, has_mlp_bias, has_router_bias;
  const char *shipped_experts; // the precision in which only its experts are published, or NULL
  double parameters, active_parameters; // counted; active: with one token's experts
  bool has_shape;                       // false: only its number of parameters is known
};

// A row of data/models.csv, with its parameters counted. Texts belong to the table.
struct memory_model memory_model_of(const struct table *models, size_t row);

// A model of which only the number of parameters is known: no KV cache, no activations.
struct memory_model memory_model_of_size(double parameters, struct arena *arena);

// Bits per number, scales included, or 0 for an unknown precision. A scale per row or per tensor
// (fp8, int8) does not count. mxfp8, mxfp6 (e2m3), mxfp6-e3m2, mxfp4: an 8-bit scale per 32 numbers
// (OCP Microscaling Formats specification 1.0, 2023). fp4: NVFP4, an 8-bit scale per 16 (NVIDIA,
// 2025). int4, int8-g128: a 16-bit scale per 128 (the usual group of GPTQ and AWQ checkpoints).
double memory_bits(const char *precision);

// Bytes of one copy. Embeddings and the output head are in 16 bits, unless the precision is wider,
// as in published checkpoints and in the probe on GPUs. Where a model is published with only its
// experts in the precision (gpt-oss in mxfp4), all else is in 16 bits too. Otherwise all else is in
// that precision: a checkpoint that keeps more in 16 bits is correspondingly larger. A model
// without a shape has all its parameters in that precision.
#define MEMORY_WIDE_BITS 16
double memory_weights(const struct memory_model *model, const char *precision);

// The part of the weights in the matrices of the experts that a router chooses from; 0 for a dense
// model.
double memory_expert_weights(const struct memory_model *model, const char *precision);

// The keys and values of one token in all layers: 2 * kv_heads * head_dim numbers per layer; with
// MLA one latent and one rotary key.
double memory_kv_per_token(const struct memory_model *model, double bits);

// The KV cache of one request with `context` tokens, of which a layer with a window keeps only the
// window's.
double memory_kv(const struct memory_model *model, double context, double bits);

// Activations of one step, per accelerator of the `accelerators` that share it. Per token in the
// step, in 16 bits, the tensors of kernels/decode.h that are alive at the same time in one layer:
// the residual, its norm and what is added to it (3 hidden, on every accelerator), queries and
// attention (2 heads * head_dim), keys and values, gate and up of the MLP that a token uses
// (divided over accelerators). Also, per sequence: the logits in 32 bits (divided). Workspaces of
// libraries and graphs are not counted: they fit into what MEMORY_SHARE leaves free.
double memory_per_token(const struct memory_model *model, double accelerators);
double memory_per_sequence(const struct memory_model *model, double accelerators);

// The share of the KV heads on one of `accelerators` under tensor parallelism: heads are divided as
// far as possible and replicated beyond that; an MLA latent is held by every accelerator.
double memory_kv_share(const struct memory_model *model, double accelerators);

// Whether that many can share a model by tensor parallelism: heads and KV heads divide evenly, or
// the KV heads are replicated evenly (vLLM refuses other cases: issue 4232).
bool memory_divides(const struct memory_model *model, int accelerators);

// The share of an accelerator's memory that weights, cache and activations may fill: vLLM's default
// gpu_memory_utilization as long as that left out CUDA graphs, which are not counted here either
// (vLLM documentation, Optimization and Tuning; 0.92 with them, vllm.config.cache, 2026).
#define MEMORY_SHARE 0.9

// Tokens of one step while prompts are read in chunks: the value that vLLM's documentation
// (Optimization and Tuning, chunked prefill) recommends for throughput on large GPUs.
#define MEMORY_CHUNK 8192

// Tokens per request if nobody states them: 2,048 in and as many out, as in several published
// benchmarks.
#define MEMORY_CONTEXT 4096

// The default precision of a server's KV cache.
#define MEMORY_KV "bf16"

#endif
