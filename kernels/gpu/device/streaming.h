// streaming: the kernels streaming_*: a whole decode step in one launch, in which weights never
// wait (product_stream.h), but for the choice of experts. The other stages are those of launches:
// their questions about position and waiting are answered here for a block that takes a share of a
// stage: block_index and grid_blocks are the stage's, what the stage before has passed on is known
// by its marks (passed.h), and wait_for_previous waits for all blocks only where the plan says so:
// in a mixture's layers and before the token is chosen.
//
// A mark is enough: a float is overwritten only after everyone who needs its present value has read
// it:
// - Who multiplies by a matrix first loads all of a vector. So whatever follows from the product
//   follows from all of its rows, and each block has some of them, and has loaded the vector.
// - All rows of qkv are needed by attention, and all its heads by the next product.
// - The plan has no place written twice between two products (launches/order.c).
// Nor can a float of the mark before last be taken for the next: its successor was there, where all
// multiprocessors look, before anything that follows from it was.
// In the beginning all of these floats are 0, whose lowest bit is the mark of none.
//
// It cannot block itself. All blocks are resident together (a cooperative launch). A block waits
// for others between stages; for what stages before pass on, none of which waits for this one; and
// in attention for shares of the stage that it or others take earlier. Otherwise it waits for its
// own copies only, which wait for nothing. A warp has room for every copy it requests, and uses
// them in the order in which it requested them. It does not request experts that are not chosen.
// But the choice is a stage, in which each block makes it and requests them; they are used only in
// later stages, and all that is used before it precedes them in the stream.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_STREAMING_H
#define PERTOKEN_KERNELS_GPU_DEVICE_STREAMING_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/device/machine/passed.h"
#include "kernels/gpu/device/machine/platform.h"

// A block's state. In shared memory, so that no registers hold it while a stage runs; aligned for
// the 16-byte pieces in which the stage is copied.
struct alignas(16) streaming_place {
  struct streaming_stage stage;       // a copy, unless it comes by scalar loads
  const struct streaming_stage *from; // of which
  struct streaming_arguments launch;
  int own, grid;           // this block of the launch, and how many there are
  int number, block;       // the stage; the block of it that is taken
  int index[3], blocks[3]; // which one that is, out of how many
  int first;               // thread of a block: 0, but no compiler knows that
};
static_assert(sizeof(struct streaming_place) + 16 <= STREAMING_SHARED, "and arrive_last's");

DEVICE struct streaming_place *streaming_place(void) {
  SHARED_STATIC(struct streaming_place, place);
  return place;
}

DEVICE const struct streaming_stage &streaming_held(void) {
  const struct streaming_place *place = streaming_place();
  return SCALAR_LOADS ? *constant_of_launch(place->from) : place->stage;
}

// The number of items in the layer of a mixture that the block is in, or was in last, and then the
// expert of each.
DEVICE int *streaming_experts(void) {
  SHARED(unsigned char, shared);
  return reinterpret_cast<int *>(shared + streaming_place()->launch.experts);
}

// Whether a stage is a product of experts.
DEVICE bool streaming_is_routed(const struct streaming_stage &stage) {
  return stage.kind >= STREAMING_STORE_BF16 && stage.kind < STREAMING_ATTENTION_BF16_64 &&
         stage.arguments.product.expert_row_bytes > 0;
}

// Blocks of the stage's grid, without the items that this step does not have.
DEVICE int streaming_stage_blocks(void) {
  const struct streaming_stage &stage = streaming_held();
  return streaming_is_routed(stage) ? warp_alike(streaming_experts()[0]) * stage.grid[0]
                                    : stage.blocks;
}

// Turns the arguments of an item's product into those of another's, `items` further on, whose
// expert has a number that is larger by `experts`.
DEVICE void streaming_to_item(struct product_arguments &a, int items, int experts) {
  const long long rows = (long long)experts * a.rows;
  const int slots = items * a.batch;
  a.weights = static_cast<const char *>(a.weights) + rows * a.expert_row_bytes;
  a.second = a.second ? static_cast<const char *>(a.second) + rows * a.expert_row_bytes : nullptr;
  a.scales = a.scales ? a.scales + rows : nullptr;
  a.second_scales = a.second_scales ? a.second_scales + rows : nullptr;
  a.input += a.norm ? 0 : slots * a.input_stride;
  a.output += slots * a.output_stride;
}

DEVICE int streaming_block_index(void) {
  return warp_alike(streaming_place()->own);
}
DEVICE int streaming_blocks(void) {
  return warp_alike(streaming_place()->grid);
}

// Which thread is the first is found anew where it is asked again, or ptxas would keep it all
// along.
DEVICE void streaming_begin(const struct streaming_arguments &a) {
  struct streaming_place *place = streaming_place();
  if (thread_index_anew() == 0) {
    place->launch = a;
    place->own = block_index(0);
    place->grid = grid_blocks(0);
    place->first = thread_index_anew();
  }
  block_wait();
}

// Read again in each stage, so that nothing derived from them is kept in registers through all of
// them.
DEVICE int stage_thread(void) {
  return thread_index() + streaming_place()->first;
}
DEVICE int stage_threads(void) {
  return VECTOR_THREADS;
}
DEVICE int stage_lane(void) {
  return (int)((unsigned)stage_thread() % WARP);
}
DEVICE int stage_warp(void) {
  return warp_alike((int)((unsigned)stage_thread() / WARP));
}
DEVICE int stage_index(int axis) {
  return warp_alike(streaming_place()->index[axis]);
}
DEVICE int stage_blocks(int axis) {
  return warp_alike(streaming_place()->blocks[axis]);
}
DEVICE void stage_wait(void) {
  const int barriers = streaming_held().barriers;
  if (barriers > 0) {
    grid_wait(streaming_place()->launch.arrived, (unsigned)barriers * (unsigned)streaming_blocks());
  }
}
DEVICE void stage_begins(void) {}

DEVICE struct passing stage_passing(void) {
  return {(uint32_t)streaming_held().awaits, 0, NULL};
}
DEVICE void stage_look(uint32_t word, const float *at, struct passing *passing) {
  passing->other |= word ^ passing->mark;
  passing->at = (word ^ passing->mark) & 1 ? at : passing->at;
}
DEVICE struct words4 stage_load_passed(const float *from, int count, struct passing *passing) {
  const struct words4 words = load_latest(from);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (i < count) {
      stage_look(words.word[i], from + i, passing);
    }
  }
  return words;
}
DEVICE float stage_load_passed_float(const float *from, struct passing *passing) {
  const float v = load_latest_float(from);
  stage_look(bits_of(v), from, passing);
  return v;
}
DEVICE float stage_load_passed_known(const float *from) {
  return load_latest_float(from);
}
DEVICE void stage_pass(float *to, float v) {
  const int marks = streaming_held().marks;
  publish_at_once(to, marks == MARK_NONE ? v : float_of((bits_of(v) & ~1u) | (unsigned)marks));
}
DEVICE bool stage_passed_again(const struct passing &passing) {
  const bool again = passing.mark != MARK_NONE && (passing.other & 1);
  if (again) {
    stand_by(passing.at);
  }
  return again;
}
// Whether to look again at floats of different blocks in different warps; called by one lane.
DEVICE bool stage_looks_again(const float *from, int count) {
  const float *one = from + (size_t)count * (size_t)stage_warp() / (VECTOR_THREADS / WARP);
  struct passing passing = stage_passing();
  stage_load_passed_float(one, &passing);
  return stage_passed_again(passing);
}
DEVICE void stage_await_passed(const float *from, int count) {
  while (stage_lane() == 0 && stage_looks_again(from, count)) {
  }
  warp_wait();
}

#define thread_index      stage_thread
#define block_threads     stage_threads
#define lane_index        stage_lane
#define warp_index        stage_warp
#define block_index       stage_index
#define grid_blocks       stage_blocks
#define wait_for_previous stage_wait
#define let_next_start    stage_begins
#define load_passed       stage_load_passed
#define load_passed_float stage_load_passed_float
#define load_passed_known stage_load_passed_known
#define pass              stage_pass
#define passed_again      stage_passed_again
#define passing_begins    stage_passing
#define await_passed      stage_await_passed

#include "kernels/gpu/device/attention.h"
#include "kernels/gpu/device/embedding.h"
#include "kernels/gpu/device/route.h"
#include "kernels/gpu/device/sample.h"
#include STREAMING_WEIGHTS

// Only attention is a function where calls are cheap: it takes the most registers. Where it is
// none, all tiles of a head of 64 together leave too few (clang 19, gfx942).
template <class ELEMENTS, int HEADDIM> APART void streaming_attention(void) {
  attention<attention_narrow<ELEMENTS, HEADDIM, HEADDIM == 64 ? 2 : STREAMING_TILES>>(
      streaming_held().arguments.attention);
}
DEVICE void streaming_embed(void) {
  embed_row<ELEMENT_BF16>(streaming_held().arguments.embed);
}
DEVICE void streaming_combine(void) {
  combine_row(streaming_held().arguments.combine);
}
DEVICE void streaming_sample(void) {
  sample_row(streaming_held().arguments.sample);
}

// Every block chooses the experts itself.
APART void streaming_route(void) {
  const struct streaming_route &a = streaming_held().arguments.route;
  int *experts = streaming_experts();
  route_alone(a.route);
  const int items = load_published_int(a.route.item_count);
  for (int i = thread_index(); i < items; i += block_threads()) {
    experts[1 + i] = load_published_int(&a.route.items[i].expert);
  }
  if (thread_index() == 0) {
    experts[0] = items;
  }
  streaming_chosen(a.products);
}

// All blocks, before any of them begins another stage; only then are weights under way, for which
// they would wait.
DEVICE void streaming_clear(void) {
  const struct streaming_clear a = streaming_held().arguments.clear;
  struct words4 *const all = static_cast<struct words4 *>(a.passed);
  const int threads = grid_blocks(0) * block_threads();
  for (int at = block_index(0) * block_threads() + thread_index(); at < a.pieces; at += threads) {
    publish_words(all + at, {{0, 0, 0, 0}});
  }
  grid_arrive(streaming_place()->launch.arrived);
  grid_wait(streaming_place()->launch.arrived, (unsigned)grid_blocks(0));
  streaming_start();
}

template <int BATCH> DEVICE void streaming_body(void) {
  switch (streaming_held().kind) {
  case STREAMING_CLEAR: return streaming_clear();
  case STREAMING_EMBED: return streaming_embed();
  case STREAMING_STORE_BF16:
    return streaming_product<ELEMENT_BF16, ROUND_NORM, VECTOR_STORE, BATCH>();
  case STREAMING_STORE_E4M3:
    return streaming_product<ELEMENT_E4M3, ROUND_NORM, VECTOR_STORE, BATCH>();
  case STREAMING_ADD_BF16: return streaming_product<ELEMENT_BF16, ROUND_ALONE, VECTOR_ADD, BATCH>();
  case STREAMING_ADD_E4M3: return streaming_product<ELEMENT_E4M3, ROUND_ALONE, VECTOR_ADD, BATCH>();
  case STREAMING_SWIGLU_BF16:
    return streaming_product<ELEMENT_BF16, ROUND_NORM, VECTOR_SWIGLU, BATCH>();
  case STREAMING_SWIGLU_E4M3:
    return streaming_product<ELEMENT_E4M3, ROUND_NORM, VECTOR_SWIGLU, BATCH>();
  case STREAMING_ATTENTION_BF16_64: return streaming_attention<bf16_bf16, 64>();
  case STREAMING_ATTENTION_E4M3_64: return streaming_attention<e4m3_bf16, 64>();
  case STREAMING_ATTENTION_BF16_128: return streaming_attention<bf16_bf16, 128>();
  case STREAMING_ATTENTION_E4M3_128: return streaming_attention<e4m3_bf16, 128>();
#define STREAMING_UNITS(name, ELEMENT, code_bytes, beside_bytes) case STREAMING_##ELEMENT:
    GPU_UNIT_ELEMENTS(STREAMING_UNITS)
#undef STREAMING_UNITS
    return streaming_units<BATCH>();
  case STREAMING_ROUTE: return streaming_route();
  case STREAMING_COMBINE: return streaming_combine();
  default: return streaming_sample();
  }
}

// A stage's arguments are loaded once a step, and from one step to the next weights take their
// place in L2. So they are asked for in time: whoever loaded them first would wait for memory
// behind the copies under way, with all its threads. Each thread asks for what it will copy.
DEVICE void streaming_ahead(int number) {
  const struct streaming_arguments &launch = streaming_place()->launch;
  const bool is_piece = thread_index() < (int)(sizeof(struct streaming_stage) / 16);
  if (!SCALAR_LOADS && number < launch.count && is_piece) {
    load_ahead(reinterpret_cast<const struct words4 *>(launch.stages + number) + thread_index());
  }
}

// Copies a stage's arguments to where they are kept.
DEVICE void streaming_enter(int number) {
  struct streaming_place *place = streaming_place();
  const struct streaming_stage *from = place->launch.stages + number;
  struct words4 *to = reinterpret_cast<struct words4 *>(&place->stage);
  const int count = SCALAR_LOADS ? 0 : (int)(sizeof place->stage / 16);
  block_wait(); // all threads have left the stage before
  streaming_ahead(number + 2);
  for (int i = thread_index(); i < count; i += block_threads()) {
    to[i] = load_weights(reinterpret_cast<const struct words4 *>(from) + i);
  }
  if (thread_index() == 0) {
    place->from = from;
    place->number = number;
  }
  block_wait();
}

// The next block of the stage that this one takes.
DEVICE void streaming_move(int block) {
  struct streaming_place *place = streaming_place();
  const struct streaming_stage &stage = streaming_held();
  block_wait(); // the one before, and its shared memory, may still be in use
  if (thread_index() == 0) {
    const int plane = stage.grid[0] * stage.grid[1];
    place->block = block;
    place->index[0] = block % stage.grid[0];
    place->index[1] = block / stage.grid[0] % stage.grid[1];
    place->index[2] = block / plane;
    place->blocks[0] = stage.grid[0];
    place->blocks[1] = stage.grid[1];
    place->blocks[2] = stage.blocks / plane;
    if (streaming_is_routed(stage)) {
      streaming_take(place);
    }
  }
  block_wait();
}

// Attention itself would wait with what it has read of the cache in registers, and request nothing.
DEVICE void streaming_await_queries(void) {
  const struct attention_arguments &a = streaming_held().arguments.attention;
  const int kind = streaming_held().kind;
  if (kind >= STREAMING_ATTENTION_BF16_64 && kind <= STREAMING_ATTENTION_E4M3_128) {
    streaming_await(a.qkv, (a.heads + 2 * a.kv_heads) * a.head_dim);
  }
}

// The block's share of a stage that has been entered.
template <int BATCH> DEVICE void streaming_share(void) {
  streaming_await_queries();
  int block = streaming_block_index();
  if (block >= streaming_stage_blocks()) {
    stage_wait(); // or it would arrive for later stages before others have for this one
    return;
  }
#pragma unroll 1
  do {
    streaming_move(block);
    streaming_body<BATCH>();
    block = warp_alike(streaming_place()->block) + streaming_blocks();
  } while (block < streaming_stage_blocks());
}

template <int BATCH> DEVICE void streaming(const struct streaming_arguments &a) {
  struct streaming_place *place = streaming_place();
  int number = 0, arrivals;
  streaming_begin(a);
  streaming_ahead(1);
#pragma unroll 1
  do {
    streaming_enter(number);
    streaming_share<BATCH>();
    number = warp_alike(place->number) + 1; // before any thread enters the next
    arrivals = streaming_held().arrivals;
    if (arrivals > 0) {
      grid_arrive(place->launch.arrived);
    }
  } while (number < warp_alike(place->launch.count));
  if (streaming_block_index() == 0) { // all the others have passed their last wait
    grid_wait(place->launch.arrived, (unsigned)arrivals * (unsigned)streaming_blocks());
    if (thread_index() == 0) {
      publish_int(reinterpret_cast<int *>(place->launch.arrived), 0);
    }
  }
}

#endif
