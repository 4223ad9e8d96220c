#include "kernels/cpu/prompt_product.h"

#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/onednn.h"
#include "kernels/decode.h"
#include "kernels/integers.h"
#include "kernels/weights.h"

#include <string.h>

enum { ONEDNN_PANELS = ONEDNN_ROWS / PANEL_ROWS }; // of a block of weights

bool cpu_prompt_product_fits(const struct decode_state *state, enum matrix_name name) {
  const struct plan *plan = &state->plan;
  const struct matrix *matrix = &plan->matrix[name];
  return state->library && (!matrix_is_routed(name) || matrix->input == ELEMENT_BF16) &&
         plan->request.types.activations != ELEMENT_F32 &&
         plan->kernels->elementwise->unpack[matrix->element];
}

static size_t fewest(enum matrix_name name) {
  return matrix_is_routed(name) ? cpu_expert_positions() : MIN_PROMPT_VECTORS;
}

bool cpu_prompt_product_takes(const struct decode_state *state, enum matrix_name name,
                              size_t vectors) {
  return state->pass.prompt_count > 0 && vectors >= fewest(name) &&
         cpu_prompt_product_fits(state, name);
}

// Rounds up in steps of 16 vectors, from 256 on of a sixteenth to an eighth of them.
size_t cpu_prompt_product_padded(const struct decode_state *state, size_t count) {
  size_t step = MIN_PROMPT_VECTORS;
  while (count > 16 * step)
    step *= 2;
  const size_t padded = round_up(count, step), most = state->pass.vectors;
  return padded < most ? padded : most;
}

float cpu_prompt_product_store(const struct decode_state *state, enum matrix_name name,
                               const float *vector, uint16_t *out) {
  const struct matrix *matrix = &state->plan.matrix[name];
  const struct elementwise *elementwise = state->plan.kernels->elementwise;
  const size_t count = matrix->columns;
  memset(out + count, 0, (matrix->padded - count) * sizeof *out);
  if (matrix->rounded == ELEMENT_E4M3)
    return elementwise->to_e4m3(vector, count, out);
  if (matrix->rounded != ELEMENT_INT8) {
    elementwise->to_bf16(vector, count, out);
    return 1;
  }
  int8_t *numbers = (int8_t *)out + count; // the later half, which is read before it is overwritten
  int32_t sum;
  const float scale = elementwise->to_int8(vector, count, numbers, &sum);
  for (size_t i = 0; i < count; i++)
    out[i] = bf16_from_float((float)numbers[i]);
  return scale;
}

static struct onednn_size size_of(const struct plan *plan, enum matrix_name name, size_t vectors,
                                  size_t panels) {
  return (struct onednn_size){
      .vectors = vectors,
      .inner = plan->matrix[name].padded,
      .outputs = panels * PANEL_ROWS,
  };
}

// The panels multiplied together: as many as are left and fit in the room.
static size_t panels_at(const struct plan *plan, const struct panel_share *part, size_t done) {
  const size_t left = part->count - done;
  return left < plan->result_panels ? left : plan->result_panels;
}

static int prepare_part(struct decode_state *state, enum matrix_name name, size_t vectors,
                        const struct panel_share *part) {
  const struct plan *plan = &state->plan;
  for (size_t done = 0; done < part->count; done += plan->result_panels) {
    const struct onednn_size size = size_of(plan, name, vectors, panels_at(plan, part, done));
    if (!onednn_product(state->library, &size))
      return -1;
  }
  return 0;
}

// Makes the products of a matrix with this many vectors, for every thread.
static int prepare(struct decode_state *state, enum matrix_name name, size_t vectors) {
  for (int t = 0; t < state->plan.threads; t++) {
    struct panel_share rest = state->streams[t].share[name];
    while (rest.count > 0) {
      const struct panel_share part = plan_part(&state->plan, name, &rest);
      if (prepare_part(state, name, vectors, &part))
        return -1;
    }
  }
  return 0;
}

// An expert may have any number of the pass's vectors.
int cpu_prompt_product_prepare(struct decode_state *state) {
  const size_t all = state->pass.vectors;
  for (int m = 0; m < MATRICES; m++) {
    const enum matrix_name name = (enum matrix_name)m;
    if (!cpu_prompt_product_takes(state, name, all))
      continue;
    for (size_t count = matrix_is_routed(name) ? fewest(name) : all, padded; count <= all;
         count = padded + 1) {
      padded = cpu_prompt_product_padded(state, count);
      if (prepare(state, name, padded))
        return -1;
    }
  }
  return 0;
}

// Converts panels to the library's blocks, line by line; what the last block lacks is never read.
static void unpack(const struct plan *plan, const struct matrix *matrix, const uint8_t *panels,
                   size_t count, uint8_t *out) {
  const size_t lines = matrix->padded / 2, block_bytes = lines * ONEDNN_PANELS * LINE_BYTES;
  for (size_t p = 0; p < count; p++)
    plan->kernels->elementwise->unpack[matrix->element](
        panels + p * matrix->panel_bytes + matrix->header_bytes, lines,
        out + p / ONEDNN_PANELS * block_bytes + p % ONEDNN_PANELS * LINE_BYTES,
        ONEDNN_PANELS * LINE_BYTES);
}

static void scale(const struct prompt_product *product, const struct matrix *matrix,
                  const uint8_t *panels, size_t count, float *out) {
  const struct plan *plan = &product->state->plan;
  const float *scales = (const float *)(const void *)panels;
  for (size_t v = 0; v < product->vectors; v++)
    plan->kernels->elementwise->scale_rows(out + v * count * PANEL_ROWS, count, scales,
                                           matrix->panel_bytes / sizeof(float), product->scales[v]);
}

int cpu_prompt_product(const struct prompt_product *product) {
  const struct decode_state *state = product->state;
  const struct plan *plan = &state->plan;
  const struct matrix *matrix = &plan->matrix[product->name];
  const size_t thread = (size_t)product->thread;
  const uint8_t *at = product->panels;
  uint8_t *weights = (uint8_t *)state->block[BLOCK_UNPACKED] + thread * plan->unpacked_bytes;
  float *out = block_floats(state, BLOCK_RESULTS) + thread * plan->result_floats;
  for (size_t done = 0, count; done < product->part.count; done += count) {
    count = panels_at(plan, &product->part, done);
    const struct onednn_size size = size_of(plan, product->name, product->vectors, count);
    const struct onednn_product *made = onednn_product(state->library, &size);
    unpack(plan, matrix, at, count, weights);
    if (!made || onednn_multiply(made, product->in, weights, out))
      return -1;
    if (matrix->header_bytes)
      scale(product, matrix, at, count, out);
    product->use(product->user, out, count * PANEL_ROWS, product->part.first + done, count);
    at += count * matrix->panel_bytes;
  }
  return 0;
}
