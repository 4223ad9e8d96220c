#include "tests/support/kernels/integer_product.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/integers.h"

#include <math.h>
#include <string.h>

const char *const end_names[] = {"store", "add", "swiglu"};

enum passed passed_of(enum end end, size_t number) {
  return end == SWIGLU ? (enum passed)(number % 3) : PASSED_FLOAT;
}

float weight_at(int matrix, int row, int column) {
  return (float)((row * 7 + column * 5 + row * column + matrix * 3) % 7 - 3);
}
float input_at(int vector, int column) {
  return (float)(column == vector % 2 ? 7 : (vector * 11 + column * 3 + vector * column) % 15 - 7);
}
float norm_at(int column) {
  return (float)(column == 0 ? 7 : column * 5 % 7 + 1);
}
float sign_at(int vector, int column) {
  return (vector * 5 + column * 3 + vector * column / 2) % 2 ? -1.0f : 1.0f;
}
float row_scale(int matrix, int row) {
  return ldexpf(1, (row + matrix) % 4 - 6);
}
static float residual_at(int vector, int row) {
  return (float)(vector * 3 - row);
}

// The value of activation vector `vector`.
static float activation_at(const struct product *p, int vector, int column) {
  return p->end == ADD ? input_at(vector, column) : sign_at(vector, column) * norm_at(column);
}

double expected_sum(const struct product *p, int matrix, int vector, int row) {
  double sum = 0;
  for (int c = 0; c < p->columns; c++) {
    sum += (double)weight_at(matrix, row, c) * (double)activation_at(p, vector, c);
  }
  return p->weights == ELEMENT_E4M3 ? sum * (double)row_scale(matrix, row) : sum;
}

// An element of a vector of the output.
static double output_at(const struct product *p, const float *output, int vector, int element) {
  if (p->passed == PASSED_FLOAT) {
    return (double)output[vector + element];
  }
  const int at =
      p->passed == PASSED_PAIRED ? 2 * wgmma_paired_word(element / 2) + element % 2 : element;
  uint16_t code;
  memcpy(&code, (const char *)output + size(vector + at) * sizeof code, sizeof code);
  const uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// Half of the last place of a BF16 near `value`.
static double half_place(double value) {
  int exponent;
  frexp(value, &exponent);
  return ldexp(1, exponent - 9);
}

void check_output(const struct product *p, const char *kernel, const float *output, int stride) {
  for (int b = 0; b < p->batch; b++) {
    for (int row = 0; row < p->rows; row++) {
      const double sum = expected_sum(p, 0, b, row);
      const double got = output_at(p, output, b * stride, row);
      double expected = sum, slack = 0;
      if (p->end == ADD) {
        expected += (double)residual_at(b, row);
      } else if (p->end == SWIGLU) {
        expected = sum / (1 + exp(-sum)) * expected_sum(p, 1, b, row);
        slack = 1e-5 * fabs(expected) + 1e-20;
        slack += p->passed == PASSED_FLOAT ? 0 : half_place(expected);
      }
      if (!(fabs(got - expected) <= slack)) {
        fail_msg("%s, %s, %d x %d, batch %d: vector %d, row %d: %g, not %g", p->plugin->name,
                 kernel, p->rows, p->columns, p->batch, b, row, got, expected);
      }
    }
    for (int row = p->rows; b + 1 < p->batch && row < stride; row++) {
      assert_true(isnan(output_at(p, output, b * stride, row)));
    }
  }
}

const void *make_weights(const struct product *p, int matrix, int stride) {
  void *weights = emulated_take((size_t)p->rows * (size_t)stride * element_bytes(p->weights));
  for (int row = 0; row < p->rows; row++) {
    for (int c = 0; c < stride; c++) {
      element_put(p->plugin, p->weights, weights, (size_t)row * (size_t)stride + (size_t)c,
                  c < p->columns ? weight_at(matrix, row, c) : 0);
    }
  }
  return weights;
}

const float *make_scales(const struct product *p, int matrix) {
  if (p->weights != ELEMENT_E4M3) {
    return NULL;
  }
  float *scales = emulated_take((size_t)p->rows * sizeof *scales);
  for (int row = 0; row < p->rows; row++) {
    scales[row] = row_scale(matrix, row);
  }
  return scales;
}

static int output_stride(const struct product *p) {
  return p->passed == PASSED_PAIRED ? (int)round_up((size_t)p->rows, WGMMA_STEP_BYTES)
                                    : p->rows + 3;
}

static float *make_output(const struct product *p, int stride) {
  const int last = p->passed == PASSED_PAIRED ? stride : p->rows;
  float *output = emulated_take(size((p->batch - 1) * stride + last) *
                                (p->passed == PASSED_FLOAT ? sizeof *output : sizeof(uint16_t)));
  for (int b = 0; b < p->batch && p->end == ADD; b++) {
    for (int row = 0; row < p->rows; row++) {
      output[b * stride + row] = residual_at(b, row);
    }
  }
  return output;
}

struct product_arguments make_arguments(const struct product *p) {
  const int stride = (int)round_up((size_t)p->columns, ROW_ALIGNMENT);
  const bool gated = p->end == SWIGLU;
  return (struct product_arguments){.weights = make_weights(p, 0, stride),
                                    .second = gated ? make_weights(p, 1, stride) : NULL,
                                    .scales = make_scales(p, 0),
                                    .second_scales = gated ? make_scales(p, 1) : NULL,
                                    .rows = p->rows,
                                    .columns = p->columns,
                                    .stride = stride,
                                    .batch = p->batch,
                                    .batch_padded = p->batch_padded,
                                    .splits = 1,
                                    .output_stride = output_stride(p),
                                    .output = make_output(p, output_stride(p)),
                                    .passed = p->passed};
}

bool is_paired(const struct product *p) {
  return p->stages > 0 && p->weights != p->activations;
}

void set_activations(const struct product *p, int stride, struct product_arguments *a) {
  const size_t element = element_bytes(p->activations), padded = (size_t)p->batch_padded;
  void *activations = emulated_take(padded * (size_t)stride * element);
  float *scales = emulated_take(padded * sizeof *scales);
  memset(activations, 0, padded * (size_t)stride * element);
  for (int b = 0; b < p->batch_padded; b++) {
    scales[b] = b < p->batch ? ldexpf(1, b % 3 - 2) : 1;
    const float scale = p->activations == ELEMENT_E4M3 ? scales[b] : 1;
    for (int c = 0; c < p->columns && b < p->batch; c++) {
      const int at = is_paired(p) ? 2 * wgmma_paired_word(c / 2) + c % 2 : c;
      element_put(p->plugin, p->activations, activations, size(b * stride + at),
                  activation_at(p, b, c) / scale);
    }
  }
  a->activations = activations;
  a->activation_scales = p->activations == ELEMENT_E4M3 ? scales : NULL;
}

void set_splits(const struct product *p, int splits, size_t blocks, struct product_arguments *a) {
  const int gates = p->end == SWIGLU ? 2 : 1;
  a->splits = splits;
  a->partials = emulated_take(size(splits * gates * p->batch_padded * p->rows) * sizeof(float));
  a->counters = emulated_take(blocks * sizeof *a->counters);
  memset(a->counters, 0, blocks * sizeof *a->counters);
}

void check_product(const struct product *p, const char *kernel, size_t blocks,
                   const struct product_arguments *a) {
  check_output(p, kernel, a->output, a->output_stride);
  for (size_t i = 0; i < blocks; i++) {
    assert_int_equal(a->counters[i], 0);
  }
  emulated_give_back();
}
