#include "tests/stand_ins/emulator/wgmma_instruction.h"

#if EMULATOR_WARP == 32

namespace {

enum { WGMMA_QUEUE = 16 }; // maximum number of instructions issued and not waited for

struct wgmma_thread {
  struct wgmma_issued queue[WGMMA_QUEUE];
  int count;
  bool begun;
};

struct wgmma_thread threads[EMULATOR_MOST_TOGETHER][WGMMA_THREADS];

struct wgmma_thread *threads_of_block(void) {
  return threads[emulator_self->block->place];
}

// The 16 bytes of a row of a described matrix that contain `byte`.
struct words4 piece_of(uint64_t matrix, int row, int byte) {
  static const int widths[] = {16, 128, 64, 32}; // of the swizzle modes, in bytes
  const int mode = (int)(matrix >> 62), width = widths[mode];
  const uint32_t begin = (uint32_t)(matrix & 0x3FFF) << 4;
  const int stride = (int)(matrix >> 32 & 0x3FFF) << 4, leading = (int)(matrix >> 16 & 0x3FFF) << 4;
  uint32_t at = begin + (uint32_t)(row / 8 * stride + row % 8 * width);
  at += (uint32_t)(mode == 0 ? byte / 16 * leading : byte / 16 * 16);
  if (matrix >> 49 & 7) {
    emulator_fail("a matrix whose pattern is not aligned");
  }
  at ^= (at >> 7 & (uint32_t)(width / 16 - 1)) << 4;
  const unsigned char *p = reinterpret_cast<const unsigned char *>(wgmma_window()) + at;
  emulator_check_shared(p, "wgmma");
  emulator_access(p, 16, false);
  struct words4 words;
  memcpy(&words, p, sizeof words);
  return words;
}

// The first `count` elements of a row, as real values.
void row_values(enum instruction_element type, uint64_t matrix, int row, int count, float *out) {
  const int bytes = type == INSTRUCTION_E4M3 ? 1 : 2;
  for (int i = 0; i < count; i += 16 / bytes) {
    const struct words4 words = piece_of(matrix, row, i * bytes);
    instruction_values(type, words.word, 16 / bytes, out + i);
  }
}

// Row `row` of the warp's 16, from the registers of the four lanes that hold it.
void register_values(const struct wgmma_thread *warp, int issued, int row, float *out) {
  for (int k = 0; k < 16; k += 2) {
    const int t = k % 8 / 2, word = row / 8 + k / 8 * 2;
    instruction_values(INSTRUCTION_BF16, &warp[row % 8 * 4 + t].queue[issued].registers[word], 2,
                       out + k);
  }
}

// As trunc, for less than 2^51, which unlike it needs no instruction that not every processor has.
double whole_part(double v) {
  const double magnitude = fabs(v), nearest = magnitude + 0x1p52 - 0x1p52;
  return copysign(nearest > magnitude ? nearest - 1 : nearest, v);
}

float sum_bf16(const float *a, const float *b, float sum) {
  double total = (double)sum;
  for (int k = 0; k < 16; k++) {
    total += (double)a[k] * (double)b[k];
  }
  return (float)total;
}

float sum_e4m3(const float *a, const float *b, float sum) {
  double product[32], largest = fabs((double)sum);
  for (int k = 0; k < 32; k++) {
    product[k] = (double)a[k] * (double)b[k];
    largest = fabs(product[k]) > largest ? fabs(product[k]) : largest;
  }
  if (!(largest > 0)) {
    return largest == 0 ? 0 : NAN;
  }
  const int shift = 13 - ilogb(largest);
  const double unit = ldexp(1, -shift), units = ldexp(1, shift);
  double total = whole_part((double)sum * units);
  for (int k = 0; k < 32; k++) {
    total += whole_part(product[k] * units);
  }
  return (float)(total * unit);
}

void execute(const struct wgmma_thread *warp, int issued) {
  const struct wgmma_issued *it = &warp[lane_index()].queue[issued];
  const bool of_e4m3 = it->type == INSTRUCTION_E4M3;
  const int count = of_e4m3 ? 32 : 16, lane = lane_index();
  float a[2][32], b[32];
  for (int half = 0; half < 2; half++) {
    const int row = lane / 4 + half * 8;
    if (it->in_registers) {
      register_values(warp, issued, row, a[half]);
    } else {
      row_values(it->type, it->a, warp_index() % 4 * 16 + row, count, a[half]);
    }
  }
  for (int tile = 0; tile < it->column_tiles; tile++) {
    for (int odd = 0; odd < 2; odd++) {
      row_values(it->type, it->b, tile * 8 + lane % 4 * 2 + odd, count, b);
      for (int half = 0; half < 2; half++) {
        float *sum = it->sum + tile * it->next + half * 2 + odd;
        const float before = it->adds ? *sum : 0;
        *sum = of_e4m3 ? sum_e4m3(a[half], b, before) : sum_bf16(a[half], b, before);
      }
    }
  }
}

} // namespace

void barriers_made(void) {
  struct wgmma_thread *of_block = threads_of_block();
  for (int i = 0; i < WGMMA_THREADS && i < block_threads(); i++) {
    of_block[i].count = 0;
    of_block[i].begun = false;
  }
}

void wgmma_begin(void) {
  threads_of_block()[thread_index()].begun = true;
}

void wgmma_issue(const struct wgmma_issued &it) {
  struct wgmma_thread *mine = &threads_of_block()[thread_index()];
  if (!mine->begun || mine->count == WGMMA_QUEUE) {
    emulator_fail("wgmma without wgmma_begin, or more of them than the emulator keeps");
  }
  mine->queue[mine->count++] = it;
}

void wgmma_complete(const char *file, int line) {
  const struct wgmma_thread *warp = threads_of_block() + thread_index() - lane_index();
  struct wgmma_thread *mine = &threads_of_block()[thread_index()];
  warp_wait(file, line);
  for (int i = 0; i < mine->count; i++) {
    execute(warp, i);
  }
  warp_wait(file, line); // before a lane supplies the next registers
  mine->count = 0;
  mine->begun = false;
}

#endif
