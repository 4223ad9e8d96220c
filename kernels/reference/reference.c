#include "kernels/reference/reference.h"

#include "kernels/family.h"
#include "kernels/integers.h"
#include "kernels/quantised.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/cache.h"
#include "kernels/reference/mlp.h"
#include "kernels/reference/rounding.h"
#include "kernels/reference/stages.h"
#include "kernels/reference/state.h"
#include "kernels/reference/tensors.h"
#include "kernels/routing.h"
#include "kernels/share.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Memory of one reference, freed as a whole.
struct reference_block {
  struct reference_block *next;
  double data[];
};

static size_t times(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static void *take(struct reference *r, size_t count, size_t size) {
  const size_t bytes = times(count, size);
  struct reference_block *block = NULL;
  if (bytes <= SIZE_MAX / 2)
    block = calloc(1, sizeof *block + bytes);
  if (!block) {
    r->out_of_memory = true;
    return NULL;
  }
  block->next = r->blocks;
  r->blocks = block;
  return block->data;
}

static double *take_vectors(struct reference *r, size_t width) {
  return take(r, times(r->capacity, width), sizeof(double));
}

// A row of any tensor, the biases of any product's rows, or a norm's weight and bias.
static size_t row_room(const struct reference *r) {
  size_t most = 2 * r->hidden;
  for (int tensor = 0; tensor < TENSORS; tensor++) {
    const struct tensor_size size = reference_tensor_size(&r->request.shape, (enum tensor)tensor);
    most = larger(most, size.rows > 1 ? size.columns : 0);
  }
  return larger(larger(most, larger(r->query_width, r->kv_width)),
                larger(r->mlp_width, (size_t)r->request.shape.experts.count));
}

static void take_experts(struct reference *r) {
  const struct decode_experts *experts = &r->request.shape.experts;
  const size_t count = (size_t)experts->count;
  const size_t choices = r->layers * r->batch * (size_t)experts->chosen;
  r->chosen = take(r, choices, sizeof *r->chosen);
  r->given = take(r, choices, sizeof *r->given);
  r->router = take_vectors(r, count);
  r->weights = take_vectors(r, count);
  r->fine = take_vectors(r, r->hidden);
  r->expert_input = take_vectors(r, r->hidden);
  r->expert_output = take_vectors(r, r->hidden);
  if (routing_entries(&r->request) > 0)
    r->table = take(r, routing_entries(&r->request), sizeof *r->table);
}

static void quantise_all(struct reference *r) {
  for (int i = 0; i < TENSORS && !r->out_of_memory; i++) {
    const enum tensor tensor = (enum tensor)i;
    const enum element element = weights_element(&r->request.types, tensor);
    const struct tensor_size size = reference_tensor_size(&r->request.shape, tensor);
    if (element == ELEMENT_F32 || size.rows * size.columns == 0)
      continue;
    r->quantised[i] = take(r, 1, sizeof *r->quantised[i]);
    if (r->quantised[i])
      quantise(element, weights_scale(&r->request.shape, tensor), r->quantised[i]);
  }
}

// The largest tensors of doubles and the cache first: what does not fit fails before much is taken.
static void take_all(struct reference *r) {
  const struct decode_latent *latent = &r->request.shape.latent;
  const size_t positions = times(r->batch, r->context);
  r->cache = take(r, times(times(positions, r->cache_width), r->layers), sizeof *r->cache);
  if (r->out_of_memory)
    return;
  r->logits = take(r, times(r->batch, r->vocab), sizeof *r->logits);
  r->tokens = take(r, r->batch, sizeof *r->tokens);
  r->held = take(r, r->layers * TENSORS, sizeof *r->held);
  r->items = take(r, r->capacity, sizeof *r->items);
  r->x = take_vectors(r, r->hidden);
  r->input = take_vectors(r, r->hidden);
  r->attention_output = take_vectors(r, r->hidden);
  r->mlp_output = take_vectors(r, r->hidden);
  r->query = take_vectors(r, r->query_width);
  r->key = take_vectors(r, larger(r->kv_width, r->cache_width));
  r->value = take_vectors(r, r->kv_width);
  r->attended = take_vectors(r, r->attended_width);
  r->gate = take_vectors(r, r->mlp_width);
  r->up = take_vectors(r, r->mlp_width);
  if (latent->rank > 0) {
    r->query_low = take_vectors(r, (size_t)latent->query_rank);
    r->absorbed = take_vectors(r, times((size_t)r->request.shape.heads, r->cache_width));
  }
  if (r->request.shape.experts.count > 0)
    take_experts(r);
  r->row = take(r, row_room(r), sizeof(double));
  r->scores = take(r, r->context, sizeof(double));
  quantise_all(r);
}

// Each item starts as its token's row of the embedding.
static void embed(struct reference *r) {
  const struct tensor_source embedding = reference_source(r, TENSOR_EMBEDDING, 0);
  for (size_t i = 0; i < r->count; i++)
    reference_source_row(&embedding, (size_t)r->items[i].token, r->x + i * r->hidden);
}

static void grow(struct reference *r, const double *output) {
  for (size_t i = 0; i < r->count * r->hidden; i++)
    r->x[i] += output[i];
}

static void run_layer(struct reference *r, int layer) {
  const bool parallel = r->request.shape.parallel;
  reference_attend(r, layer);
  if (!parallel)
    grow(r, r->attention_output);
  reference_mlp(r, layer);
  if (parallel)
    grow(r, r->attention_output);
  grow(r, r->mlp_output);
}

// Only the items whose logits are wanted continue, one for each row from the first item's on.
static void keep_last(struct reference *r) {
  size_t kept = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (!r->items[i].last)
      continue;
    memmove(r->x + kept * r->hidden, r->x + i * r->hidden, r->hidden * sizeof *r->x);
    r->items[kept++] = r->items[i];
  }
  r->count = kept;
}

static void classify(struct reference *r) {
  double *logits = r->logits + (size_t)r->items[0].row * r->vocab;
  reference_normalise(r, TENSOR_FINAL_NORM, 0, r->x, r->input);
  for (size_t i = 0; i < r->count; i++)
    reference_round(reference_head_activations(&r->request.types), r->input + i * r->hidden,
                    r->hidden);
  reference_multiply_all(r, TENSOR_HEAD, 0, r->input, logits);
  for (size_t i = 0; i < r->count; i++)
    r->tokens[r->items[i].row] = (int)reference_largest(logits + i * r->vocab, r->vocab);
}

static void pass(struct reference *r) {
  embed(r);
  for (int layer = 0; layer < r->request.shape.layers; layer++)
    run_layer(r, layer);
  keep_last(r);
  classify(r);
}

static void add_step_of(struct reference *r, int row) {
  r->items[r->count++] = (struct reference_item){
      .row = row, .position = r->position, .token = r->tokens[row], .last = true};
}

static void add_prompt(struct reference *r, const struct decode_prompt *prompt) {
  for (int i = 0; i < prompt->count; i++)
    r->items[r->count++] = (struct reference_item){.row = prompt->row,
                                                   .position = prompt->first + i,
                                                   .token = prompt->tokens[i],
                                                   .prompt = true,
                                                   .last = i == prompt->count - 1};
}

static void finish_step(struct reference *r) {
  r->steps++;
  r->is_given = false;
}

void reference_step(struct reference *r) {
  r->count = 0;
  r->routing_shortfall = 0;
  for (int row = 0; row < r->request.batch; row++)
    add_step_of(r, row);
  pass(r);
  finish_step(r);
}

static bool is_prompt(const struct reference *r, const struct decode_prompt *prompt) {
  const struct decode_request *request = &r->request;
  if (prompt->row < 0 || prompt->row >= request->batch || prompt->count < 1 ||
      prompt->count > request->chunk || prompt->first < 0 ||
      prompt->first > request->context - prompt->count)
    return false;
  for (int i = 0; i < prompt->count; i++)
    if (prompt->tokens[i] < 0 || prompt->tokens[i] >= request->shape.vocab)
      return false;
  return true;
}

int reference_prefill(struct reference *r, const struct decode_prompt *prompt) {
  if (!is_prompt(r, prompt))
    return -1;
  r->count = 0;
  r->routing_shortfall = 0;
  for (int row = 0; row < r->request.batch; row++)
    if (row == prompt->row)
      add_prompt(r, prompt);
    else if (prompt->beside)
      add_step_of(r, row);
  pass(r);
  if (prompt->beside && r->request.batch > 1)
    finish_step(r);
  return 0;
}

static bool shape_known(const struct decode_shape *shape) {
  const int kv_heads = shape->latent.rank > 0 ? 1 : shape->kv_heads;
  const int sizes[] = {shape->layers, shape->hidden,   shape->heads,
                       kv_heads,      shape->head_dim, shape->vocab};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (sizes[i] < 1)
      return false;
  const bool dense = shape->experts.count == 0 || shape->experts.dense_layers > 0;
  return shape->ffn_hidden >= (dense ? 1 : 0) && shape->heads % kv_heads == 0 &&
         shape->head_dim % 2 == 0 && shape->norm_epsilon >= 0 && shape->rope_theta > 0 &&
         !family_fault(shape);
}

// decode.h: which inputs products with such weights may have.
static bool activations_known(enum element weights, enum element activations) {
  switch (activations) {
  case ELEMENT_F32:
  case ELEMENT_BF16: return true;
  case ELEMENT_INT8:
    return weights == ELEMENT_INT8 || weights == ELEMENT_INT8_GROUP ||
           weights == ELEMENT_INT4_GROUP;
  case ELEMENT_E4M3:
    return weights == ELEMENT_E4M3 || weights == ELEMENT_MXFP4 || weights == ELEMENT_NVFP4 ||
           weights == ELEMENT_MXFP6_E2M3 || weights == ELEMENT_MXFP6_E3M2;
  default: return false;
  }
}

static bool types_known(const struct decode_types *types) {
  const enum element experts = types->experts == ELEMENT_F32 ? types->weights : types->experts;
  return types->weights > ELEMENT_F32 && types->weights < ELEMENTS && experts < ELEMENTS &&
         activations_known(types->weights, types->activations) &&
         activations_known(experts, types->activations) &&
         (types->kv == ELEMENT_BF16 || types->kv == ELEMENT_E4M3) &&
         (types->head == ELEMENT_BF16 || types->head == types->weights) &&
         types->accumulation == ELEMENT_F32;
}

static bool ranks_known(const struct decode_request *request) {
  int size;
  const char *what;
  char words[SHARE_WORDS];
  return request->ranks < 2 ||
         (share_divides(&request->shape, request->ranks, &size, &what) &&
          !share_cut(&request->shape, &request->types, request->ranks, words));
}

static void fill_cache(struct reference *r, enum tensor tensor, int layer, size_t width) {
  const uint64_t key = weights_key(r->request.seed, tensor, layer);
  const float scale = weights_scale(&r->request.shape, tensor);
  float *cache = reference_cache_of(r, tensor, layer);
  for (size_t i = 0; i < r->batch * r->context * width; i++)
    cache[i] = reference_kv_round(r->request.types.kv, (double)((float)weights_q(key, i) * scale));
}

static void fill(struct reference *r) {
  const struct decode_shape *shape = &r->request.shape;
  for (int layer = 0; layer < shape->layers; layer++) {
    if (shape->latent.rank > 0) {
      fill_cache(r, TENSOR_LATENTS, layer, r->cache_width);
    } else {
      fill_cache(r, TENSOR_KEYS, layer, r->kv_width);
      fill_cache(r, TENSOR_VALUES, layer, r->kv_width);
    }
  }
  for (size_t b = 0; b < r->batch; b++)
    r->tokens[b] = (int)((r->request.seed + b) % r->vocab);
  for (size_t i = 0; r->chosen && i < r->layers * r->batch * (size_t)shape->experts.chosen; i++)
    r->chosen[i] = -1;
  if (r->table)
    routing_fill(&r->request, r->table);
}

static void set_sizes(struct reference *r) {
  const struct decode_shape *shape = &r->request.shape;
  const struct decode_latent *latent = &shape->latent;
  const size_t heads = (size_t)shape->heads;
  r->layers = (size_t)shape->layers;
  r->hidden = (size_t)shape->hidden;
  r->query_width = heads * (size_t)shape->head_dim;
  r->kv_width = (size_t)shape->kv_heads * (size_t)shape->head_dim;
  r->ffn = (size_t)shape->ffn_hidden;
  r->mlp_width =
      larger(r->ffn, larger((size_t)shape->experts.hidden, (size_t)shape->experts.shared_hidden));
  r->vocab = (size_t)shape->vocab;
  r->batch = (size_t)r->request.batch;
  r->context = (size_t)r->request.context;
  r->attended_width = latent->rank > 0 ? heads * (size_t)latent->value_dim : r->query_width;
  r->cache_width =
      latent->rank > 0 ? (size_t)latent->rank + (size_t)latent->rope_dim : 2 * r->kv_width;
  r->capacity = r->batch + (size_t)r->request.chunk;
  r->position = r->request.context - 1;
}

struct reference *reference_create(const struct decode_request *request,
                                   enum decode_status *status) {
  *status = DECODE_UNSUPPORTED;
  if (!shape_known(&request->shape) || !types_known(&request->types) || request->batch < 1 ||
      request->context < 1 || request->chunk < 0 || routing_fault(request) || !ranks_known(request))
    return NULL;

  *status = DECODE_NO_MEMORY;
  struct reference *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->request = *request;
  set_sizes(r);
  take_all(r);
  if (r->out_of_memory)
    goto fail;
  fill(r);
  *status = DECODE_OK;
  return r;

fail:
  reference_destroy(r);
  return NULL;
}

void reference_destroy(struct reference *r) {
  if (!r)
    return;
  for (struct reference_block *block = r->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  free(r);
}

int reference_set_tokens(struct reference *r, const int *tokens) {
  for (size_t b = 0; b < r->batch; b++)
    if (tokens[b] < 0 || tokens[b] >= r->request.shape.vocab)
      return -1;
  memcpy(r->tokens, tokens, r->batch * sizeof *tokens);
  return 0;
}

void reference_set_chosen(struct reference *r, const int *chosen) {
  const size_t per_row = (size_t)r->request.shape.experts.chosen;
  if (!r->given)
    return;
  memcpy(r->given, chosen, r->layers * r->batch * per_row * sizeof *chosen);
  r->is_given = true;
}

int reference_set_position(struct reference *r, int position) {
  if (position < 0 || position >= r->request.context)
    return -1;
  r->position = position;
  return 0;
}

const double *reference_logits(const struct reference *r) {
  return r->logits;
}

const int *reference_tokens(const struct reference *r) {
  return r->tokens;
}

const int *reference_chosen(const struct reference *r) {
  return r->chosen;
}

double reference_routing_shortfall(const struct reference *r) {
  return r->routing_shortfall;
}

const struct decode_request *reference_request(const struct reference *r) {
  return &r->request;
}

static double *copy_of(struct reference *r, enum tensor tensor, int layer) {
  const struct tensor_source source = reference_source(r, tensor, layer);
  const struct tensor_size size = reference_tensor_size(&r->request.shape, tensor);
  double *copy = take(r, times(size.rows, size.columns), sizeof *copy);
  for (size_t row = 0; copy && row < size.rows; row++)
    reference_source_row(&source, row, copy + row * size.columns);
  return copy;
}

double *reference_tensor(struct reference *r, enum tensor tensor, int layer) {
  double **held = &r->held[(size_t)layer * TENSORS + tensor];
  if (!*held)
    *held = copy_of(r, tensor, layer);
  return *held;
}

float *reference_cache(struct reference *r, enum tensor tensor, int layer) {
  return reference_cache_of(r, tensor, layer);
}
