// shapes: real models, for tests and benchmarks that need their proportions. A slice is a copy with
// fewer layers. The figures are those of data/models.csv, which has the sources.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_SHAPES_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_SHAPES_H

#include "kernels/decode.h"

static const struct decode_shape tinyllama = {.layers = 22,
                                              .hidden = 2048,
                                              .heads = 32,
                                              .kv_heads = 4,
                                              .head_dim = 64,
                                              .ffn_hidden = 5632,
                                              .vocab = 32000,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};
static const struct decode_shape llama_8b = {.layers = 32, // Llama 3.1
                                             .hidden = 4096,
                                             .heads = 32,
                                             .kv_heads = 8,
                                             .head_dim = 128,
                                             .ffn_hidden = 14336,
                                             .vocab = 128256,
                                             .norm_epsilon = 1e-5f,
                                             .rope_theta = 5e5f};
static const struct decode_shape llama_70b = {.layers = 80, // Llama 2
                                              .hidden = 8192,
                                              .heads = 64,
                                              .kv_heads = 8,
                                              .head_dim = 128,
                                              .ffn_hidden = 28672,
                                              .vocab = 32000,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};

#endif
