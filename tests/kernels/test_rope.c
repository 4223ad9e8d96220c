// The angles by which a position rotates the pairs of a head: scalings worked out by hand.
#include "tests/support/fixture.h"

#include "kernels/rope.h"

#include <math.h>

#define PI 3.14159265358979323846

// theta 2^16 over 32 values: pair i rotates by 2^-i; its wavelength is 2 pi 2^i positions.
static struct decode_shape shape_of(struct decode_rope rope) {
  return (struct decode_shape){.head_dim = 32, .rope_theta = 65536, .rope = rope};
}

static void expect_frequencies(const struct decode_shape *shape, const double *over) {
  for (int i = 0; i < rope_width(shape) / 2; i++)
    expect_near(rope_frequency(shape, i) * ldexp(1, i), over[i], 1e-12,
                "frequency over the plain one");
}

static void test_plain(void **state) {
  (void)state;
  const struct decode_shape shape = shape_of((struct decode_rope){.scaling = ROPE_PLAIN});
  expect_frequencies(&shape, (const double[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  double cosines[16], sines[16];
  rope_turns(&shape, 3, cosines, sines);
  expect_near(cosines[1], cos(1.5), 1e-15, "cosine");
  expect_near(sines[2], sin(0.75), 1e-15, "sine");
}

// 512 positions are 81.5 turns of pair 0, and half as many for each following pair: more than 4
// until pair 4 (5.1), fewer than 1 from pair 7 (0.64) on. Pair 5 makes 2.546 turns: (2.546 - 1) / 3
// of its angle is kept, the rest is divided by 8; likewise pair 6 with 1.273.
static void test_llama3(void **state) {
  (void)state;
  const struct decode_shape shape = shape_of((struct decode_rope){
      .scaling = ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 512});
  const double kept[2] = {(8 / PI - 1) / 3, (4 / PI - 1) / 3};
  const double five = kept[0] + (1 - kept[0]) / 8, six = kept[1] + (1 - kept[1]) / 8, e = 1.0 / 8;
  expect_frequencies(&shape, (const double[]){1, 1, 1, 1, 1, five, six, e, e, e, e, e, e, e, e, e});
}

// Pair i makes L / (2 pi 2^i) turns: with L = 512, pair log2(512 / (2 pi)) = 6.35 makes one, and
// pair 1.35 makes thirty-two. In whole numbers: from 1 to 7.
static void test_yarn(void **state) {
  (void)state;
  struct decode_shape shape = shape_of((struct decode_rope){.scaling = ROPE_YARN,
                                                            .factor = 4,
                                                            .low = 1,
                                                            .high = 32,
                                                            .magnitude = 1.5f,
                                                            .original_context = 512});
  double over[16];
  for (int whole = 0; whole < 2; whole++) {
    const double a = whole ? 1 : log2(512 / (2 * PI)) - 5, b = whole ? 7 : a + 5;
    shape.rope.whole = whole;
    for (int i = 0; i < 16; i++)
      over[i] = 1 - 0.75 * fmin(fmax((i - a) / (b - a), 0), 1);
    expect_frequencies(&shape, over);
  }
  double cosines[16], sines[16];
  rope_turns(&shape, 0, cosines, sines);
  assert_true(cosines[15] == 1.5 && sines[15] == 0);
}

// Limits beyond the ends, or on one pair, cause no division by 0 and no pair with another sign.
static void test_yarn_limits(void **state) {
  (void)state;
  struct decode_shape shape = shape_of(
      (struct decode_rope){.scaling = ROPE_YARN, .factor = 4, .low = 1, .high = 32, .whole = true});
  shape.rope.original_context = 4; // no pair makes even one turn: all are stretched from pair 1 on
  expect_frequencies(&shape, (const double[]){1, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25,
                                              0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25});
}

// With latent attention, the last rope_dim values rotate and take the place of the head's width.
static void test_latent(void **state) {
  (void)state;
  struct decode_shape shape = {.head_dim = 48, .rope_theta = 256};
  shape.latent.rank = 8;
  shape.latent.rope_dim = 16;
  assert_int_equal(rope_width(&shape), 16);
  expect_frequencies(&shape, (const double[]){1, 1, 1, 1, 1, 1, 1, 1});
}

static void test_pairs(void **state) {
  (void)state;
  struct decode_rope rope = {.interleaved = false};
  struct rope_pair pair = rope_pair(&rope, 16, 3);
  assert_true(pair.a == 3 && pair.b == 11);
  rope.interleaved = true;
  pair = rope_pair(&rope, 16, 3);
  assert_true(pair.a == 6 && pair.b == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain),  cmocka_unit_test(test_llama3),
      cmocka_unit_test(test_yarn),   cmocka_unit_test(test_yarn_limits),
      cmocka_unit_test(test_latent), cmocka_unit_test(test_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
