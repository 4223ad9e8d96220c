// Draws: known answers of both generators, and the properties of a Sobol sequence.
#include "tests/support/fixture.h"

#include "model/chance/draw.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Random123's own test vectors (tests/kat_vectors of release 1.14.0, "philox4x32 10").
static void test_philox(void **state) {
  (void)state;
  static const uint32_t vectors[][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
       0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
       0x94fdcceb, 0x5001e420, 0x24126ea1},
  };
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    const uint32_t *v = vectors[i];
    philox4x32_ctr_t counter = {{v[0], v[1], v[2], v[3]}};
    philox4x32_key_t key = {{v[4], v[5]}};
    philox4x32_ctr_t out = philox4x32(counter, key);
    assert_memory_equal(out.v, v + 6, sizeof out.v);
  }
}

// A name whose hash (FNV-1a, 64 bits) is known: "a" has af63dc4c8601ec8c.
static void test_random_stream(void **state) {
  (void)state;
  struct draw_stream stream;
  double u[VECTOR_BLOCK];
  uint64_t seed = 0x123456789abcdef0, first = 512;
  draw_stream_start(&stream, DRAW_RANDOM, seed, "a", 0, 0);
  draw_uniforms(&stream, first, u);
  for (uint32_t k = 0; k < VECTOR_BLOCK; k++) {
    philox4x32_ctr_t counter = {{(uint32_t)(first + k) / 2, 0, 0x8601ec8c, 0xaf63dc4c}};
    philox4x32_key_t key = {{0x9abcdef0, 0x12345678}};
    philox4x32_ctr_t out = philox4x32(counter, key);
    uint64_t bits = (uint64_t)out.v[k % 2 * 2] << 32 | out.v[k % 2 * 2 + 1];
    assert_true(u[k] == ((double)(bits >> 12) + 0.5) * 0x1p-52);
  }
}

static uint32_t point(const uint32_t *directions, uint32_t n) {
  uint32_t reversed = 0, x = 0;
  for (int k = 0; k < SOBOL_BITS; k++)
    reversed ^= n >> k & 1 ? directions[k] : 0;
  for (int k = 0; k < SOBOL_BITS; k++)
    x |= (reversed >> k & 1) << (SOBOL_BITS - 1 - k);
  return x;
}

// The first points of dimensions 0 to 2, in eighths and in Gray code order, computed by hand from
// the direction numbers 4, 2, 1; 4, 6, 5 and 4, 6, 3.
static void test_sobol_points(void **state) {
  (void)state;
  static const uint32_t expected[8][3] = {{0, 0, 0}, {4, 4, 4}, {6, 2, 2}, {2, 6, 6},
                                          {3, 3, 5}, {7, 7, 1}, {5, 1, 7}, {1, 5, 3}};
  for (int dimension = 0; dimension < 3; dimension++) {
    uint32_t directions[SOBOL_BITS];
    sobol_directions(dimension, directions);
    for (uint32_t n = 0; n < 8; n++)
      assert_int_equal(point(directions, n ^ n >> 1), expected[n][dimension] << 29);
  }
}

// x times a polynomial over GF(2), modulo another one of that degree.
static uint32_t times_x(uint32_t value, uint32_t modulus, int degree) {
  value <<= 1;
  return value >> degree & 1 ? value ^ modulus : value;
}

// Every polynomial is primitive and occurs only once; initial numbers are odd and small enough.
static void test_sobol_table(void **state) {
  (void)state;
  for (int i = 0; i < SOBOL_DIMENSIONS - 1; i++) {
    const struct sobol_polynomial *p = &sobol_polynomials[i];
    int degree = p->degree;
    uint32_t modulus = 1u << degree | (uint32_t)p->coefficients << 1 | 1, value = 1, order = 0;
    do {
      value = times_x(value, modulus, degree);
      order++;
    } while (value != 1 && order < 1u << degree);
    if (order != (1u << degree) - 1 && degree > 1)
      fail_msg("dimension %d: order %u", i + 1, order);
    for (int k = 0; k < degree; k++)
      assert_true(p->initial[k] % 2 == 1 && p->initial[k] < 2u << k);
    for (int j = 0; j < i; j++)
      assert_true(sobol_polynomials[j].degree != p->degree ||
                  sobol_polynomials[j].coefficients != p->coefficients);
  }
}

static void fill(const struct draw_stream *stream, size_t count, double *u) {
  for (size_t n = 0; n < count; n += VECTOR_BLOCK)
    draw_uniforms(stream, n, u + n);
}

// One point in each of 2^k equal parts, in every dimension and after scrambling, from any starting
// point.
static void test_sobol_is_stratified(void **state) {
  (void)state;
  enum { POINTS = 1024 };
  static double u[POINTS];
  for (int dimension = 0; dimension < SOBOL_DIMENSIONS; dimension++)
    for (uint32_t replicate = 0; replicate < 2; replicate++) {
      struct draw_stream stream;
      bool seen[POINTS] = {false};
      draw_stream_start(&stream, DRAW_SOBOL, 3, "x", dimension, replicate);
      for (size_t n = 0; n < POINTS; n += VECTOR_BLOCK)
        draw_uniforms(&stream, 0x7000000 + n, u + n);
      for (int k = 0; k < POINTS; k++) {
        assert_true(u[k] > 0 && u[k] < 1);
        seen[(int)(u[k] * POINTS)] = true;
      }
      for (int k = 0; k < POINTS; k++)
        assert_true(seen[k]);
    }
}

// Dimensions 0 and 1 make a net: one point in each rectangle of 2^-i by 2^(i-10).
static void test_sobol_is_a_net(void **state) {
  (void)state;
  enum { POINTS = 1024 };
  static double x[POINTS], y[POINTS];
  struct draw_stream a, b;
  draw_stream_start(&a, DRAW_SOBOL, 9, "x", 0, 0);
  draw_stream_start(&b, DRAW_SOBOL, 9, "y", 1, 0);
  fill(&a, POINTS, x);
  fill(&b, POINTS, y);
  for (int i = 0; i <= 10; i++) {
    bool seen[POINTS] = {false};
    for (int k = 0; k < POINTS; k++)
      seen[(int)ldexp(x[k], i) * (1 << (10 - i)) + (int)ldexp(y[k], 10 - i)] = true;
    for (int k = 0; k < POINTS; k++)
      assert_true(seen[k]);
  }
}

static bool are_same(const double *a, const double *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

// A random input's draws follow from its seed and name: inputs before it, which change its number,
// do not affect them.
static void test_others_change_nothing(void **state) {
  (void)state;
  double alone[VECTOR_BLOCK], behind[VECTOR_BLOCK];
  struct draw_stream stream;
  draw_stream_start(&stream, DRAW_RANDOM, 7, "pue", 0, 0);
  draw_uniforms(&stream, VECTOR_BLOCK, alone);
  draw_stream_start(&stream, DRAW_RANDOM, 7, "pue", 5, 0);
  draw_uniforms(&stream, VECTOR_BLOCK, behind);
  assert_memory_equal(alone, behind, sizeof alone);
}

// Seeds, names and replicates give independent streams.
static void test_streams_differ(void **state) {
  (void)state;
  enum { POINTS = 4096, STREAMS = 6 };
  static double u[STREAMS][POINTS];
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++) {
    static const struct {
      uint64_t seed;
      const char *name;
      int dimension;
      uint32_t replicate;
    } cases[STREAMS] = {{1, "a", 0, 0}, {2, "a", 0, 0}, {1, "b", 0, 0},
                        {1, "a", 5, 0}, {1, "a", 0, 1}, {1ull << 40, "a", 0, 0}};
    for (int s = 0; s < STREAMS; s++) {
      struct draw_stream stream;
      draw_stream_start(&stream, (enum draw_method)method, cases[s].seed, cases[s].name,
                        cases[s].dimension, cases[s].replicate);
      fill(&stream, POINTS, u[s]);
      for (int t = 0; t < s; t++) {
        bool same_random = method == DRAW_RANDOM && !strcmp(cases[s].name, cases[t].name) &&
                           cases[s].seed == cases[t].seed;
        assert_true(same_random == are_same(u[s], u[t], POINTS));
      }
    }
  }
  // Beyond the last dimension, Sobol is random.
  struct draw_stream a, b;
  draw_stream_start(&a, DRAW_SOBOL, 1, "a", SOBOL_DIMENSIONS, 0);
  draw_stream_start(&b, DRAW_RANDOM, 1, "a", 0, 0);
  fill(&a, VECTOR_BLOCK, u[0]);
  fill(&b, VECTOR_BLOCK, u[1]);
  assert_memory_equal(u[0], u[1], VECTOR_BLOCK * sizeof(double));
}

// Over many seeds, the first point is equally likely to be anywhere.
static void test_scrambling_is_uniform(void **state) {
  (void)state;
  enum { SEEDS = 4000, PARTS = 20, EXPECTED = SEEDS / PARTS };
  int counts[PARTS] = {0};
  double chi = 0, u[VECTOR_BLOCK];
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct draw_stream stream;
    draw_stream_start(&stream, DRAW_SOBOL, seed, "pue", 3, 0);
    draw_uniforms(&stream, 0, u);
    counts[(int)(u[77] * PARTS)]++;
  }
  for (int p = 0; p < PARTS; p++)
    chi += pow(counts[p] - EXPECTED, 2) / EXPECTED;
  assert_true(chi < 43.8); // the 99.9 % quantile with 19 degrees of freedom
}

static double random_double(void) {
  double x = ((double)random() - RAND_MAX / 2.) / RAND_MAX;
  return ldexp(x, (int)(random() % 200) - 100);
}

static void test_exact_sum(void **state) {
  (void)state;
  enum { NUMBERS = 1000 };
  static double numbers[NUMBERS];
  srandom(5);
  struct exact_sum forward = {{0}}, backward = {{0}}, parts[3] = {{{0}}};
  for (int i = 0; i < NUMBERS; i++) {
    numbers[i] = random_double();
    exact_sum_add(&forward, numbers[i]);
    exact_sum_add(&parts[i % 3], numbers[i]);
  }
  for (int i = NUMBERS; i-- > 0;)
    exact_sum_add(&backward, numbers[i]);
  exact_sum_merge(&parts[0], &parts[2]);
  exact_sum_merge(&parts[0], &parts[1]);
  exact_sum_normalise(&forward);
  exact_sum_normalise(&backward);
  exact_sum_normalise(&parts[0]);
  assert_memory_equal(&forward, &backward, sizeof forward);
  assert_memory_equal(&forward, &parts[0], sizeof forward);
  for (int i = 0; i < NUMBERS; i++)
    exact_sum_add(&forward, -numbers[i]);
  assert_true(exact_sum_value(&forward) == 0);
  static const double few[] = {1e300, 1, -1e300, 0x1p-1074, -0x1p-1074, 1e-20};
  struct exact_sum sum = {{0}};
  for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
    exact_sum_add(&sum, few[i]);
  assert_true(exact_sum_value(&sum) == 1 + 1e-20);
  exact_sum_add(&sum, -3);
  assert_true(exact_sum_value(&sum) == -2);
}

// Whatever the pilot, a quantile's rank error is at most the contents of its bin.
static void test_sketch(void **state) {
  (void)state;
  enum { VALUES = 65536 };
  static double values[VALUES], pilot[1000];
  static const double scales[] = {1, 1e-6, 1e6, 1e30};
  struct arena arena = {0};
  srandom(6);
  for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
    for (int i = 0; i < VALUES; i++)
      values[i] = 5 + pow((double)(random() % 1000003) / 1000003 - 0.4, 3);
    for (int i = 0; i < 1000; i++)
      pilot[i] = 5 + (values[i] - 5) * scales[s];
    struct sketch_shape shape = sketch_shape(pilot, 1000, VALUES, &arena);
    size_t bins = sketch_bins(&shape);
    uint32_t *counts = calloc(bins, sizeof *counts);
    for (size_t i = 0; i < VALUES; i += VECTOR_BLOCK)
      sketch_add(&shape, values + i, VECTOR_BLOCK, counts);
    for (double level = 0.001; level < 1; level += 0.0173) {
      double in_bin, x;
      sketch_quantiles(&shape, counts, VALUES, &level, 1, &x, &in_bin);
      int below = 0;
      for (int i = 0; i < VALUES; i++)
        below += values[i] < x;
      if (!(fabs((double)below / VALUES - level) <= in_bin + 2. / VALUES))
        fail_msg("scale %g, level %g: rank %g, bin %g", scales[s], level, (double)below / VALUES,
                 in_bin);
    }
    free(counts);
  }
  arena_free(&arena);
}

// A value that occurs twice in the pilot is counted exactly, among spread-out values and with
// values next to it.
static void test_sketch_atoms(void **state) {
  (void)state;
  enum { VALUES = 4096 };
  static double values[VALUES], pilot[VALUES];
  struct arena arena = {0};
  const double atoms[] = {1. / 3, 1. / 3 + 1e-12, 0.7};
  // 1024 of each atom, and as many spread between 1 and 2, one of them twice.
  for (int i = 0; i < VALUES; i++)
    values[i] = pilot[i] = i % 4 < 3 ? atoms[i % 4] : 1 + (i < 8 ? 0 : (double)i / VALUES);
  struct sketch_shape shape = sketch_shape(pilot, VALUES, VALUES, &arena);
  assert_int_equal(shape.atom_count, 4);
  uint32_t *counts = arena_array(&arena, sketch_bins(&shape), sizeof *counts);
  for (size_t i = 0; i < VALUES; i += VECTOR_BLOCK)
    sketch_add(&shape, values + i, VECTOR_BLOCK, counts);
  const double levels[] = {0.01, 0.25, 0.26, 0.5, 0.51, 0.75, 0.7501, 0.9};
  const double wanted[] = {atoms[0], atoms[0], atoms[1], atoms[1], atoms[2], atoms[2], 1, 1.6};
  double found[8], in_bins[8];
  sketch_quantiles(&shape, counts, VALUES, levels, 8, found, in_bins);
  for (int i = 0; i < 7; i++) {
    assert_true(found[i] == wanted[i]);
    assert_true(in_bins[i] == 0);
  }
  assert_true(fabs(found[7] - wanted[7]) < 1e-3 && in_bins[7] > 0);
  uint64_t bars[4];
  assert_int_equal(sketch_histogram(&shape, counts, 0.5, 2.5, 4, bars), 2048);
  assert_int_equal(bars[0], 1024);
  assert_int_equal(bars[0] + bars[1] + bars[2] + bars[3], 2048);
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_philox),
      cmocka_unit_test(test_random_stream),
      cmocka_unit_test(test_sobol_points),
      cmocka_unit_test(test_sobol_table),
      cmocka_unit_test(test_sobol_is_stratified),
      cmocka_unit_test(test_sobol_is_a_net),
      cmocka_unit_test(test_streams_differ),
      cmocka_unit_test(test_others_change_nothing),
      cmocka_unit_test(test_scrambling_is_uniform),
      cmocka_unit_test(test_exact_sum),
      cmocka_unit_test(test_sketch),
      cmocka_unit_test(test_sketch_atoms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
