#include "kernels/cpu/multiply.h"

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/prompt_product.h"
#include "kernels/cpu/state.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct library_use {
  const struct worker *worker;
  const struct run *run;
};

struct operand cpu_operand(const struct worker *worker, enum input_name name, size_t first,
                           size_t count) {
  const struct plan *plan = worker->plan;
  const struct input *input = &plan->input[name];
  const float *scales = block_floats(worker->state, BLOCK_INPUT_NOTES);
  const int32_t *sums = (const int32_t *)(const void *)(scales + plan->notes);
  return (struct operand){
      .vectors =
          (const uint8_t *)worker->state->block[BLOCK_INPUT] + input->at + first * input->stride,
      .stride = input->stride,
      .count = count,
      .scales = scales + input->first + first,
      .sums = sums + input->first + first,
  };
}

// E4M3 codes as their values: in bf16, or in float, where the later half holds the bf16 first.
static float store_e4m3(const struct elementwise *elementwise, const struct matrix *matrix,
                        const float *vector, void *out) {
  const size_t count = matrix->columns;
  float *wide = out;
  if (matrix->input == ELEMENT_BF16)
    return elementwise->to_e4m3(vector, count, out);
  const uint16_t *narrow = (uint16_t *)out + count;
  const float scale = elementwise->to_e4m3(vector, count, (uint16_t *)out + count);
  for (size_t i = 0; i < count; i++) // its bits are read before they are overwritten
    wide[i] = float_from_bf16(narrow[i]);
  return scale;
}

void cpu_store_input(const struct worker *worker, enum matrix_name name, size_t index,
                     const float *vector) {
  const struct plan *plan = worker->plan;
  const struct matrix *matrix = &plan->matrix[name];
  const struct input *input = &plan->input[matrix->source];
  const struct elementwise *elementwise = worker->elementwise;
  const bool by_library =
      !matrix_is_routed(name) && cpu_prompt_product_takes(worker->state, name, worker->vectors);
  const size_t stride = by_library ? matrix->padded * sizeof(uint16_t) : input->stride;
  uint8_t *at = (uint8_t *)worker->state->block[BLOCK_INPUT] + input->at + index * stride;
  float *scales = block_floats(worker->state, BLOCK_INPUT_NOTES);
  int32_t *sums = (int32_t *)(void *)(scales + plan->notes);
  size_t size = element_bytes(matrix->input), note = input->first + index;
  void *out = at;
  scales[note] = 1;
  if (by_library) {
    scales[note] = cpu_prompt_product_store(worker->state, name, vector, out);
    return;
  }
  switch (matrix->rounded) {
  case ELEMENT_INT8:
    scales[note] = elementwise->to_int8(vector, matrix->columns, out, &sums[note]);
    break;
  case ELEMENT_E4M3: scales[note] = store_e4m3(elementwise, matrix, vector, out); break;
  case ELEMENT_BF16:
    if (matrix->input == ELEMENT_BF16)
      elementwise->to_bf16(vector, matrix->columns, out);
    else
      elementwise->round_bf16(vector, matrix->columns, out);
    break;
  default: memcpy(out, vector, matrix->columns * size); break;
  }
  memset(at + matrix->columns * size, 0, (matrix->padded - matrix->columns) * size);
  if (blocks_sum_bytes(matrix->element, matrix->input, matrix->padded) > 0)
    blocks_finish_int8(matrix->element, out, matrix->padded);
}

static const uint8_t *share_at(const struct worker *worker, enum matrix_name name, size_t layer,
                               size_t copy) {
  const size_t count = worker->state->streams[worker->thread].share[name].count;
  return stream_at(worker->state, worker->thread, name, layer) +
         copy * count * worker->plan->matrix[name].panel_bytes;
}

void cpu_prefetch_start(const struct worker *worker, enum matrix_name name, size_t layer,
                        size_t copy) {
  const uint8_t *at = share_at(worker, name, layer, copy);
  size_t next = worker->plan->one_stream ? AHEAD_BYTES : worker->plan->matrix[name].panel_bytes;
  for (size_t line = 0; line < AHEAD_LINES; line++)
    for (size_t p = 0; p < BLOCK_PANELS; p++)
      __builtin_prefetch(at + p * next + line * LINE_BYTES, 0, 2);
  __asm__ volatile(""); // keeps the compiler from taking this for a function without effect
}

// out *= scale of the panel's row, and of the vector.
static void apply_scales(const struct worker *worker, const struct matrix *matrix,
                         const struct operand *in, const uint8_t *headers, size_t panels) {
  const float *scales = (const float *)(const void *)headers;
  for (size_t b = 0; b < in->count; b++)
    worker->elementwise->scale_rows(worker->room + b * BLOCK_FLOATS, panels, scales,
                                    matrix->panel_bytes / sizeof(float), in->scales[b]);
}

static void add_bias(const struct worker *worker, size_t vectors, const float *bias,
                     size_t panels) {
  for (size_t b = 0; b < vectors; b++)
    worker->elementwise->add(worker->room + b * BLOCK_FLOATS, bias, panels * PANEL_ROWS);
}

// Arranges the vectors if the kernels take that many arranged; returns whether.
static bool arrange(const struct worker *worker, const struct matrix *matrix,
                    const struct operand *in, size_t words) {
  if (!worker->plan->kernels->takes_arranged || element_has_blocks(matrix->element) ||
      in->count < MIN_ARRANGED_BATCH || in->count > MAX_ARRANGED_BATCH)
    return false;
  cpu_arrange(in->vectors, in->stride, in->count, words, worker->arranged);
  return true;
}

// Handles the results of a library's product, which include the weights' scales.
static void use_library(const void *user, float *out, size_t stride, size_t panel, size_t count) {
  const struct library_use *use = user;
  const struct worker *worker = use->worker;
  struct run run = *use->run;
  const float *bias = matrix_bias(worker->state, run.name, run.layer, run.copy);
  for (size_t v = 0; bias && v < run.in.count; v++)
    worker->elementwise->add(out + v * stride, bias + panel * PANEL_ROWS, count * PANEL_ROWS);
  run.results = out;
  run.result_stride = stride;
  run.use(worker, &run, panel, count);
}

static void multiply_by_library(const struct worker *worker, const struct run *run,
                                const uint8_t *at, struct panel_share part) {
  const struct library_use use = {worker, run};
  const struct prompt_product product = {
      .state = worker->state,
      .thread = worker->thread,
      .name = run->name,
      .part = part,
      .panels = at,
      .vectors = matrix_is_routed(run->name)
                     ? cpu_prompt_product_padded(worker->state, run->in.count)
                     : run->in.count,
      .in = run->in.vectors,
      .scales = run->in.scales,
      .use = use_library,
      .user = &use,
  };
  if (cpu_prompt_product(&product))
    worker->state->library_failed = 1;
}

static void multiply_by_tiles(const struct worker *worker, const struct run *asked,
                              const uint8_t *at, struct panel_share part) {
  const struct plan *plan = worker->plan;
  struct run told = *asked;
  const struct run *run = &told;
  told.results = worker->room;
  told.result_stride = BLOCK_FLOATS;
  const struct matrix *matrix = &plan->matrix[run->name];
  const struct operand *in = &run->in;
  const float *bias = matrix_bias(worker->state, run->name, run->layer, run->copy);
  size_t words = matrix->padded * element_bytes(matrix->input) / sizeof(int32_t);
  const bool arranged = arrange(worker, matrix, in, words);
  for (size_t done = 0; done < part.count; done += BLOCK_PANELS) {
    size_t left = part.count - done, count = left < BLOCK_PANELS ? left : BLOCK_PANELS;
    struct product product = {
        .panels = at + matrix->header_bytes,
        .panel_stride = matrix->panel_bytes,
        .panel_count = count,
        .columns = matrix->padded,
        .in = in->vectors,
        .in_stride = in->stride,
        .in_sums = in->sums,
        .batch = in->count,
        .arranged = arranged ? worker->arranged : NULL,
        .in_words = words,
        .one_stream = plan->one_stream,
        .out = worker->room,
        .out_stride = BLOCK_FLOATS,
    };
    plan->kernels->product[matrix->kind](&product);
    if (matrix->header_bytes)
      apply_scales(worker, matrix, in, at, count);
    if (bias)
      add_bias(worker, in->count, bias + (part.first + done) * PANEL_ROWS, count);
    run->use(worker, run, part.first + done, count);
    at += count * matrix->panel_bytes;
  }
}

void cpu_multiply(const struct worker *worker, const struct run *run) {
  const bool by_library = cpu_prompt_product_takes(worker->state, run->name, run->in.count);
  (by_library ? multiply_by_library
              : multiply_by_tiles)(worker, run, share_at(worker, run->name, run->layer, run->copy),
                                   worker->state->streams[worker->thread].share[run->name]);
}

// The library takes a head's vectors contiguous, the tiles at the stride of all heads.
size_t cpu_head_input(const struct worker *worker, enum matrix_name name, size_t vector,
                      size_t head) {
  return cpu_prompt_product_takes(worker->state, name, worker->vectors)
             ? head * worker->vectors + vector
             : vector * worker->plan->heads + head;
}

static struct operand head_operand(const struct worker *worker, const struct matrix *matrix,
                                   size_t head, bool by_library) {
  struct operand in = cpu_operand(worker, matrix->source, by_library ? 0 : head, worker->vectors);
  in.stride *= worker->plan->heads; // which the library does not read
  if (!by_library)
    return in;
  const size_t first = head * worker->vectors;
  in.vectors += first * matrix->padded * sizeof(uint16_t);
  in.scales += first;
  return in;
}

void cpu_multiply_heads(const struct worker *worker, enum matrix_name name, size_t layer,
                        void (*use)(const struct worker *, const struct run *, size_t, size_t)) {
  const struct matrix *matrix = &worker->plan->matrix[name];
  const bool by_library = cpu_prompt_product_takes(worker->state, name, worker->vectors);
  struct panel_share rest = worker->state->streams[worker->thread].share[name];
  const uint8_t *at = share_at(worker, name, layer, 0);
  struct run run = {.name = name, .layer = layer, .use = use};
  while (rest.count > 0) {
    const struct panel_share part = plan_part(worker->plan, name, &rest);
    run.in = head_operand(worker, matrix, part.first / matrix->head_panels, by_library);
    (by_library ? multiply_by_library : multiply_by_tiles)(worker, &run, at, part);
    at += part.count * matrix->panel_bytes;
  }
}
