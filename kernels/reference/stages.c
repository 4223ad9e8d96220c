#include "kernels/reference/stages.h"

#include "kernels/rope.h"
#include "kernels/weights.h"

#include <math.h>
#include <string.h>

// Four sums, so that an addition need not wait for the one before it.
double reference_dot(const double *a, const double *b, size_t count) {
  double sums[4] = {0};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t j = 0; j < 4; j++)
      sums[j] += a[i + j] * b[i + j];
  for (; i < count; i++)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void reference_rmsnorm(const double *x, const double *weight, size_t count, double epsilon,
                       double *out) {
  const double root = sqrt(reference_dot(x, x, count) / (double)count + epsilon);
  for (size_t i = 0; i < count; i++)
    out[i] = x[i] / root * weight[i];
}

void reference_layernorm(const double *x, const double *weight, const double *bias, size_t count,
                         double epsilon, double *out) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    mean += x[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  const double root = sqrt(squares / (double)count + epsilon);
  for (size_t i = 0; i < count; i++)
    out[i] = (x[i] - mean) / root * weight[i] + bias[i];
}

void reference_rope(const struct decode_shape *shape, int position, double *values) {
  const int width = rope_width(shape);
  const double magnitude = rope_magnitude(&shape->rope);
  for (int i = 0; i < width / 2; i++) {
    const struct rope_pair pair = rope_pair(&shape->rope, width, i);
    const double angle = position * rope_frequency(shape, i);
    const double a = magnitude * values[pair.a], b = magnitude * values[pair.b];
    values[pair.a] = a * cos(angle) - b * sin(angle);
    values[pair.b] = a * sin(angle) + b * cos(angle);
  }
}

// The largest is subtracted first so that no exponential overflows.
void reference_softmax_beside(double *scores, size_t count, double sink) {
  double most = sink;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, scores[i]);
  double sum = exp(sink - most);
  for (size_t i = 0; i < count; i++)
    sum += scores[i] = exp(scores[i] - most);
  for (size_t i = 0; i < count; i++)
    scores[i] /= sum;
}

void reference_softmax(double *scores, size_t count) {
  reference_softmax_beside(scores, count, -INFINITY);
}

double reference_score_factor(const struct decode_shape *shape) {
  const double scale = shape->score_scale > 0 ? (double)shape->score_scale : 1;
  return scale / sqrt((double)shape->head_dim);
}

// One head; keys and values point at its kv head in the first position, positions `stride` apart.
struct head {
  const double *query;
  const float *keys, *values;
  size_t width, stride, count;
  double factor, sink;
};

static void attend_head(const struct head *head, double *scores, double *out) {
  for (size_t t = 0; t < head->count; t++) {
    double sum = 0;
    for (size_t i = 0; i < head->width; i++)
      sum += head->query[i] * (double)head->keys[t * head->stride + i];
    scores[t] = sum * head->factor;
  }
  reference_softmax_beside(scores, head->count, head->sink);
  memset(out, 0, head->width * sizeof *out);
  for (size_t t = 0; t < head->count; t++)
    for (size_t i = 0; i < head->width; i++)
      out[i] += scores[t] * (double)head->values[t * head->stride + i];
}

void reference_attention(const struct decode_shape *shape, int count, const double *query,
                         const float *keys, const float *values, const double *sinks,
                         double *scores, double *out) {
  const size_t width = (size_t)shape->head_dim;
  const int group = shape->heads / shape->kv_heads;
  for (int h = 0; h < shape->heads; h++) {
    const size_t at = (size_t)h * width, kv_at = (size_t)(h / group) * width;
    const struct head head = {.query = query + at,
                              .keys = keys + kv_at,
                              .values = values + kv_at,
                              .width = width,
                              .stride = (size_t)shape->kv_heads * width,
                              .count = (size_t)count,
                              .factor = reference_score_factor(shape),
                              .sink = sinks ? sinks[h] : -INFINITY};
    attend_head(&head, scores, out + at);
  }
}

double reference_sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static double clamped(double gate, double up) {
  const double limit = 7, steepness = 1.702;
  const double g = fmin(gate, limit), u = fmax(-limit, fmin(up, limit));
  return g * reference_sigmoid(steepness * g) * (u + 1);
}

void reference_activation(enum decode_mlp kind, double *gate, const double *up, size_t count) {
  for (size_t i = 0; i < count; i++)
    switch (kind) {
    case MLP_SWIGLU: gate[i] = gate[i] * reference_sigmoid(gate[i]) * up[i]; break;
    case MLP_CLAMPED_SWIGLU: gate[i] = clamped(gate[i], up[i]); break;
    case MLP_GELU: gate[i] = up[i] * (1 + erf(up[i] / sqrt(2))) / 2; break;
    }
}

float reference_magnitude(const double *values, size_t count) {
  float most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmaxf(most, fabsf((float)values[i]));
  return most;
}

static double round_scaled(enum element type, float x, float scale) {
  if (type == ELEMENT_E4M3)
    return (double)float_from_e4m3(e4m3_from_float(x / scale)) * (double)scale;
  const float nearest = nearbyintf(x / scale);
  return (double)fmaxf(-127, fminf(nearest, 127)) * (double)scale;
}

void reference_round(enum element type, double *x, size_t count) {
  if (type == ELEMENT_F32)
    return;
  if (type == ELEMENT_BF16) {
    for (size_t i = 0; i < count; i++)
      x[i] = (double)float_from_bf16(bf16_from_float((float)x[i]));
    return;
  }
  const float scale = reference_magnitude(x, count) / (type == ELEMENT_INT8 ? 127.0f : 448.0f);
  for (size_t i = 0; i < count; i++)
    x[i] = scale > 0 ? round_scaled(type, (float)x[i], scale) : 0;
}

float reference_kv_round(enum element type, double value) {
  if (type == ELEMENT_E4M3)
    return float_from_e4m3(e4m3_from_float((float)value));
  return float_from_bf16(bf16_from_float((float)value));
}

size_t reference_largest(const double *values, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (values[i] > values[best])
      best = i;
  return best;
}
