#include "kernels/gpu/device/machine/platform.h"

namespace {

void check_words(const void *p, const char *what) {
  if ((uintptr_t)p % 16) {
    emulator_fail("%s of 16 bytes at an address that is no multiple of 16", what);
  }
}

template <class T> T load(const void *p) {
  emulator_access(p, sizeof(T), false);
  return *static_cast<const T *>(p);
}

// What other kernels or blocks have published; this block's caches may hold it.
template <class T> T load_plain(const void *p, const char *what) {
  emulator_touch(what);
  emulator_plain(p, sizeof(T));
  return load<T>(p);
}

template <class T> void store(void *p, T v, const char *what) {
  emulator_touch(what);
  emulator_access(p, sizeof(T), true);
  *static_cast<T *>(p) = v;
}

uint32_t exact_pair(float low, float high) {
  const uint32_t pair = bf16_pair(low, high);
  if (bf16_low(pair) != low || bf16_high(pair) != high) {
    emulator_fail("%a and %a in BF16", (double)low, (double)high);
  }
  return pair;
}

} // namespace

void wait_for_previous(void) {
  emulator_self->waited = true;
}

void emulator_touch(const char *what) {
  if (!emulator_self->waited) {
    emulator_fail("%s before wait_for_previous", what);
  }
}

void emulator_check_shared(const void *p, const char *what) {
  const struct emulator_block *block = emulator_self->block;
  const uintptr_t offset = (uintptr_t)p - (uintptr_t)block->shared;
  check_words(p, what);
  if (offset > block->shared_bytes || block->shared_bytes - offset < 16) {
    emulator_fail("%s of 16 bytes at byte %td of %zu of shared memory", what, (ptrdiff_t)offset,
                  block->shared_bytes);
  }
}

struct words4 load_weights(const void *p) {
  check_words(p, "load_weights");
  return load<struct words4>(p);
}

uint32_t load_weights_word(const void *p) {
  if ((uintptr_t)p % 4) {
    emulator_fail("load_weights_word at an address that is no multiple of 4");
  }
  return load<uint32_t>(p);
}

// Of memory that is there, although the instruction would not say.
void load_ahead(const void *p) {
  load_weights(p);
}

struct words4 load_published(const void *p) {
  check_words(p, "load_published");
  return load_plain<struct words4>(p, "load_published");
}
float load_published_float(const float *p) {
  return load_plain<float>(p, "load_published_float");
}
int load_published_int(const int *p) {
  return load_plain<int>(p, "load_published_int");
}

struct words4 load_latest(const void *p) {
  emulator_touch("load_latest");
  check_words(p, "load_latest");
  return load<struct words4>(p);
}
float load_latest_float(const float *p) {
  emulator_touch("load_latest_float");
  return load<float>(p);
}

void publish(float *p, float v) {
  store(p, v, "publish");
}
void publish_at_once(float *p, float v) {
  store(p, v, "publish_at_once");
  emulator_published(p);
}
void publish_int(int *p, int v) {
  store(p, v, "publish_int");
}
void publish_words(void *p, struct words4 v) {
  check_words(p, "publish_words");
  store(p, v, "publish_words");
}
void publish_bits16(uint16_t *p, uint16_t v) {
  store(p, v, "publish_bits16");
}
void publish_bits8(uint8_t *p, uint8_t v) {
  store(p, v, "publish_bits8");
}

struct words4 load_shared(const void *p) {
  emulator_check_shared(p, "load_shared");
  return load<struct words4>(p);
}
void store_shared(void *p, struct words4 v) {
  emulator_check_shared(p, "store_shared");
  emulator_access(p, sizeof v, true);
  *static_cast<struct words4 *>(p) = v;
}

uint32_t bf16_pair_times(uint32_t a, uint32_t b) {
  return exact_pair(bf16_low(a) * bf16_low(b), bf16_high(a) * bf16_high(b));
}
uint32_t bf16_pair_plus(uint32_t a, uint32_t b) {
  return exact_pair(bf16_low(a) + bf16_low(b), bf16_high(a) + bf16_high(b));
}

// The magnitude is a multiple of the last place in its binade: 2^(exponent - 3), at least 2^-9.
uint8_t e4m3_from(float value) {
  const uint8_t sign = bits_of(value) >> 31 ? 0x80 : 0;
  const float magnitude = fabsf(value);
  if (value != value) {
    return e4m3_held((uint8_t)(sign | 0x7F));
  }
  if (magnitude >= 448) {
    return e4m3_held((uint8_t)(sign | 0x7E));
  }
  const int binade = magnitude < 0x1p-6f ? -6 : ilogbf(magnitude);
  const int count = (int)nearbyintf(ldexpf(magnitude, 3 - binade));
  return e4m3_held((uint8_t)(sign | (count + 8 * (binade + 6))));
}
