// platform_emulator: the names of kernels/gpu/device/machine/platform.h on the host, on fibers
// (emulator.h). Compile with EMULATOR_WARP as 32 or 64, and with EMULATOR_FNUZ for E4M3 in gfx942's
// form.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_PLATFORM_EMULATOR_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_PLATFORM_EMULATOR_H

#include <math.h>
#include <string.h>

#include "tests/stand_ins/emulator/copies.h"
#include "tests/stand_ins/emulator/emulator.h"

#if EMULATOR_WARP != 32 && EMULATOR_WARP != 64
#error "EMULATOR_WARP is 32 or 64"
#endif

// As in the platforms of that width.
#if EMULATOR_WARP == 32
#define STREAMING_WEIGHTS "kernels/gpu/device/products/product_stream.h"
#else
#define STREAMING_WEIGHTS "kernels/gpu/device/products/streaming_registers.h"
#endif
enum {
  WARP = EMULATOR_WARP,
  LOADS_IN_FLIGHT = 8,
  COUNTED_LOADS = WARP == 64,
  SCALAR_LOADS = WARP == 64,
  STREAMING_TILES = WARP == 64 ? 8 : 2
};

#define IF_LARGE_SHARED(declaration) declaration

// If a call was not inlined, registers would be in memory and be checked one by one (races.h). The
// address sanitizer's checks make the code too large for inlining everything.
#if defined(__SANITIZE_THREAD__)
#define DEVICE static inline __attribute__((always_inline))
#else
#define DEVICE static inline
#endif

#define EMULATOR_DEFINE_KERNEL(name, T, threads)                                                   \
  static void name(const struct T &a);                                                             \
  static void name##_entry(const void *arguments) {                                                \
    struct T copy;                                                                                 \
    memcpy(&copy, arguments, sizeof copy);                                                         \
    name(copy);                                                                                    \
  }                                                                                                \
  static struct emulator_kernel name##_kernel(#name, name##_entry, sizeof(struct T), threads);     \
  static void name([[maybe_unused]] const struct T &a)

#define KERNEL(name, T)                         EMULATOR_DEFINE_KERNEL(name, T, 0)
#define KERNEL_BOUNDS(name, T, threads, blocks) EMULATOR_DEFINE_KERNEL(name, T, threads)

#define SHARED(type, name) type *name = reinterpret_cast<type *>(emulator_shared())

// The place in the source from which a wait was called.
#define EMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

DEVICE void settle(float &) {}
DEVICE int thread_index(void) {
  return emulator_thread_index();
}
DEVICE int thread_index_anew(void) {
  return thread_index();
}
DEVICE int block_threads(void) {
  return emulator_block_threads();
}
DEVICE int block_index(int axis) {
  return emulator_block_index(axis);
}
DEVICE int grid_blocks(int axis) {
  return emulator_grid_blocks(axis);
}
DEVICE int lane_index(void) {
  return (int)((unsigned)emulator_thread_index() % WARP);
}
DEVICE int warp_index(void) {
  return (int)((unsigned)emulator_thread_index() / WARP);
}

DEVICE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
DEVICE float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

DEVICE uint32_t shuffle_xor_bits(uint32_t v, int mask, EMULATOR_HERE) {
  return emulator_exchange(v, lane_index() ^ mask, {"shuffle_xor", file, line});
}
DEVICE float shuffle_xor(float v, int mask, EMULATOR_HERE) {
  return float_of(shuffle_xor_bits(bits_of(v), mask, file, line));
}
DEVICE float shuffle(float v, int lane, EMULATOR_HERE) {
  return float_of(emulator_exchange(bits_of(v), lane, {"shuffle", file, line}));
}
DEVICE void warp_wait(EMULATOR_HERE) {
  emulator_warp_wait({"warp_wait", file, line});
}
DEVICE void block_wait(EMULATOR_HERE) {
  emulator_block_wait({"block_wait", file, line});
}
DEVICE bool arrive_last(unsigned *counter, unsigned blocks, EMULATOR_HERE) {
  return emulator_arrive_last(counter, blocks, {"arrive_last", file, line});
}

#define APART static
DEVICE int warp_alike(int v) {
  return v;
}
DEVICE int warp_alike_anew(int v) {
  return v;
}
template <class T> DEVICE const T *constant_of_launch(const T *p) {
  return p;
}
#define SHARED_STATIC(type, name)                                                                  \
  static_assert(sizeof(type) <= sizeof emulator_self->block->fixed, "too large");                  \
  type *const name = reinterpret_cast<type *>(emulator_fixed())

DEVICE void grid_arrive(unsigned *arrived, EMULATOR_HERE) {
  emulator_grid_arrive(arrived, {"grid_arrive", file, line});
}
DEVICE void grid_wait(const unsigned *arrived, unsigned wanted, EMULATOR_HERE) {
  emulator_grid_wait(arrived, wanted, {"grid_wait", file, line});
}

DEVICE void stamp_product(float) {}
DEVICE void let_next_start(void) {}
void wait_for_previous(void);

// What a kernel may not do before wait_for_previous.
void emulator_touch(const char *what);
void emulator_check_shared(const void *p, const char *what);

// Not inline: their own checks include the race detector's.
struct words4 load_weights(const void *p);
uint32_t load_weights_word(const void *p);
void load_ahead(const void *p);
struct words4 load_published(const void *p);
float load_published_float(const float *p);
int load_published_int(const int *p);
struct words4 load_latest(const void *p);
float load_latest_float(const float *p);
void publish(float *p, float v);
void publish_at_once(float *p, float v);
void publish_int(int *p, int v);
void publish_words(void *p, struct words4 v);
void publish_bits16(uint16_t *p, uint16_t v);
void publish_bits8(uint8_t *p, uint8_t v);
struct words4 load_shared(const void *p);
void store_shared(void *p, struct words4 v);
DEVICE void stand_by(const void *word, EMULATOR_HERE) {
  emulator_stand_by(word, {"stand_by", file, line});
}

DEVICE float exponential(float v) {
  return expf(v);
}
DEVICE float square_root(float v) {
  return sqrtf(v);
}

DEVICE uint32_t emulator_bf16(float value) {
  const uint32_t bits = bits_of(value);
  if (value != value) {
    return (bits >> 16 | 0x40u) & 0xFFFFu;
  }
  return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}
DEVICE uint32_t bf16_pair(float low, float high) {
  return emulator_bf16(low) | emulator_bf16(high) << 16;
}
DEVICE float bf16_low(uint32_t pair) {
  return float_of(pair << 16);
}
DEVICE float bf16_high(uint32_t pair) {
  return float_of(pair & 0xFFFF0000u);
}
uint32_t bf16_pair_times(uint32_t a, uint32_t b);
uint32_t bf16_pair_plus(uint32_t a, uint32_t b);

// Kernels that omit one of these factors fail here, although no device has this one: OCP codes
// have a factor of 1, but a conversion to bf16 by shifting bits leaves a power of two.
#ifdef EMULATOR_FNUZ
#define E4M3_HELD_SCALE    2.0f
#define E4M3_BF16_SCALE    2.0f
#define E4M3_PRODUCT_SCALE 4.0f
#else
#define E4M3_HELD_SCALE    16.0f
#define E4M3_BF16_SCALE    256.0f
#define E4M3_PRODUCT_SCALE 1.0f
#endif

// FNUZ has no negative zero; its only NaN is in that place.
DEVICE uint8_t e4m3_held(uint8_t ocp) {
#ifdef EMULATOR_FNUZ
  if (ocp == 0x80) {
    return 0;
  }
  return (ocp & 0x7F) == 0x7F ? 0x80 : ocp;
#else
  return ocp;
#endif
}

uint8_t e4m3_from(float value);

// The real value of a stored code.
DEVICE float emulator_e4m3(uint32_t held) {
#ifdef EMULATOR_FNUZ
  const bool is_nan = held == 0x80;
#else
  const bool is_nan = (held & 0x7F) == 0x7F;
#endif
  if (is_nan) {
    return NAN;
  }
  const float magnitude = float_of((held & 0x7F) << 20) * 0x1p120f; // biases 7 and 127
  return held & 0x80 ? -magnitude : magnitude;
}
DEVICE void e4m3_pair(uint32_t w, float *low, float *high, int half = 0) {
  *low = emulator_e4m3(w >> 16 * half & 0xFF);
  *high = emulator_e4m3(w >> (16 * half + 8) & 0xFF);
}
DEVICE void e4m3_pair_held(uint32_t w, float *low, float *high, int half = 0) {
  e4m3_pair(w, low, high, half);
  *low /= E4M3_HELD_SCALE;
  *high /= E4M3_HELD_SCALE;
}
#ifdef EMULATOR_FNUZ
DEVICE uint32_t e4m3_pair_bf16(uint32_t w, int half = 0) {
  float low, high;
  e4m3_pair(w, &low, &high, half);
  return bf16_pair(low / E4M3_BF16_SCALE, high / E4M3_BF16_SCALE);
}
#else
#include "kernels/gpu/device/machine/e4m3_bits.h"

DEVICE uint32_t e4m3_pair_bf16(uint32_t w, int half = 0) {
  const int low = (int8_t)(w >> 16 * half), high = (int8_t)(w >> (16 * half + 8));
  return e4m3_bits_bf16(((uint32_t)low & 0xFFFF) | (uint32_t)high << 16);
}
#endif

// As cp.async beside mma.sync, otherwise through registers.
#if defined(TILE_MMA)
DEVICE void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride,
                           int count) {
  for (int i = 0; i < count; i++) {
    emulator_touch("copy_to_shared");
    copies_begin_lane(to + (long)i * to_stride, from + (size_t)i * from_stride);
  }
}
DEVICE void copies_wait(void) {
  copies_end_group();
  copies_wait_groups(0);
}
#else
DEVICE void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride,
                           int count) {
  for (int i = 0; i < count; i++) {
    store_shared(to + (long)i * to_stride, load_published(from + (size_t)i * from_stride));
  }
}
DEVICE void copies_wait(void) {}
#endif

#endif
