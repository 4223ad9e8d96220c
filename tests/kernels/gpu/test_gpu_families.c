// The differences between model families, as the GPU kernels compute them on the host emulator:
// each piece of family.h that they support, alone and combined as in the families, at shapes that
// are not multiples of a tile, compared with the oracle; and that the comparison detects an omitted
// piece.
// Deep: every family with every mix of types and batch on two judges, rather than some of each: all
// emulators and nvcc's PTX, in turn.
// Seconds: 8, deep 55
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/odd_request.h"
#include "tests/support/kernels/pieces.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/arguments/latent.h"

enum { MAX_BATCH = 5 };

// Weights, activations, KV, head, accumulation, experts.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};
enum { MIXES = sizeof mixes / sizeof mixes[0] };

// Weights stored in units, for which there are only matrix kernels.
static const struct decode_types unit_mixes[] = {
    {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8_GROUP, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};
enum { UNIT_MIXES = sizeof unit_mixes / sizeof unit_mixes[0] };

// Mixtures have a suite of their own (test_gpu_experts), except those with latent attention.
static bool is_taken(const struct piece *piece) {
  const struct decode_shape *shape = &piece->shape;
  return shape->latent.rank <= LATENT_RANK && (!shape->experts.count || shape->latent.rank);
}

// The next one from *f on, which is then advanced past it; NULL: there is none.
static const struct piece *next(size_t *f) {
  const struct piece *piece;
  while ((piece = piece_at((*f)++)) && !is_taken(piece))
    ;
  return piece;
}

static void check_request(const struct emulated *plugin, const struct decode_request *request,
                          const char *name) {
  static int seed;
  char number[16], what[160];
  snprintf(number, sizeof number, "%d", ++seed);
  setenv("EMULATOR_SEED", number, 1);
  snprintf(what, sizeof what, "%s, EMULATOR_SEED=%s, %s", plugin->name, number, name);
  compared_steps(plugin->backend, request, request, what, 1);
}

// By vectors and by matrix tiles; contexts whose windows begin within a block, at the beginning of
// one, and before all of them.
static void test_every_family(void **unused) {
  static const int batches[] = {1, 3, MAX_BATCH}, contexts[] = {200, 85, 1, 130};
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = next(&f));)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t b = 0; b < 3; b++)
        for (size_t judge = 0; judge < 2; judge++) {
          const bool is_turn = (f + m + b) % 3 == 0 && (f + b) % 2 == judge && (f + b) % 3 > 0;
          const bool is_half = (f + m + b) % 2 == judge;
          if (depth_is_full() ? SANITIZED && !is_half : !is_turn)
            continue;
          const struct decode_request request =
              odd_request(&piece->shape, &mixes[m], batches[b], contexts[(f + m + judge) % 4]);
          check_request(&emulated[(f + m + b + judge * (EMULATED / 2)) % EMULATED], &request,
                        piece->name);
        }
}

// Do the pieces of a family change what comes after a product's sums, or before them?
static bool is_of_products(const struct decode_shape *shape) {
  return shape->biases || shape->parallel || shape->norm != NORM_RMS || shape->mlp != MLP_SWIGLU;
}

// Each family's products with weights of 4, 6 and 8 bits: one mix in turn, or all of them in the
// deep run.
static void test_every_family_in_few_bits(void **unused) {
  static const int batches[] = {1, 2, MAX_BATCH};
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = next(&f));)
    for (size_t m = 0; m < UNIT_MIXES; m++) {
      const bool is_turn = depth_is_full() ? !SANITIZED || (f + m) % 2 == 0 : m == f % UNIT_MIXES;
      if (!is_turn || !is_of_products(&piece->shape))
        continue;
      const struct decode_request request =
          odd_request(&piece->shape, &unit_mixes[m], batches[(f + m) % 3], 21);
      check_request(&emulated[(f + m) % EMULATED], &request, piece->name);
    }
}

// Windows of several blocks and splits that begin anywhere in them or are longer than the context,
// with heads of every padded size.
static void test_every_window(void **unused) {
  static const int windows[] = {1, 63, 64, 65, 128, 300, 511, 600}, head_dims[] = {12, 80, 256};
  (void)unused;
  for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
    struct decode_shape shape = piece_plain;
    shape.window = windows[w];
    shape.full_every = 2;
    shape.sinks = true;
    shape.layers = 3;
    shape.head_dim = head_dims[w % 3];
    shape.kv_heads = w % 2 ? 1 : 3;
    const struct decode_request request = odd_request(&shape, &mixes[w % 2], 1, 510);
    for (size_t judge = 0; judge < 2; judge++)
      if (depth_is_full() || w % 4 == judge || w % 4 == 3 - judge)
        check_request(&emulated[(w + judge * (EMULATED / 2)) % EMULATED], &request, "window");
  }
}

// An oracle of the same model without the piece must not agree; with weights in bf16 or, if the
// piece belongs to products, in 4 bits.
static void test_pieces_left_out_are_noticed(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = next(&f));) {
    const struct emulated *plugin = &emulated[f % EMULATED];
    const struct decode_types *types =
        is_of_products(&piece->shape) && f % 2 ? &unit_mixes[0] : &mixes[0];
    const struct decode_request request = odd_request(&piece->shape, types, 1, piece->context);
    if (!compared_apart(plugin->backend, &request, &piece->without, piece->name))
      fail_msg("%s: %s: unnoticed", plugin->name, piece->name);
  }
}

// Bytes and operations equal the CPU's; for windows, only the positions in them count.
static void test_costs_are_the_cpus(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = next(&f));) {
    const struct decode_request request = odd_request(&piece->shape, &mixes[0], 3, 90);
    struct decode_cost gpu, cpu;
    assert_int_equal(emulated[0].backend->cost(0, &request, &gpu), DECODE_OK);
    assert_int_equal(cpu_backend.cost(0, &request, &cpu), DECODE_OK);
    if (gpu.weight_bytes != cpu.weight_bytes || gpu.kv_bytes != cpu.kv_bytes ||
        gpu.operations != cpu.operations)
      fail_msg("%s: costs differ", piece->name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_family),       cmocka_unit_test(test_every_family_in_few_bits),
      cmocka_unit_test(test_every_window),       cmocka_unit_test(test_pieces_left_out_are_noticed),
      cmocka_unit_test(test_costs_are_the_cpus),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
