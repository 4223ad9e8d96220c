// matrix: the matrix instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"
// and "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"). Products are summed
// in double and rounded once.
#include "tests/stand_ins/ptx/machine.h"

#include <string.h>

namespace {

enum { MAX_K = 32, MAX_N = 128, ROWS = 16 };

struct elements {
  int bytes;
  float (*value)(uint32_t bits);
};

float bf16_value(uint32_t bits) {
  return bits_float(bits << 16);
}

const struct elements bf16 = {2, bf16_value}, f16 = {2, half_value}, e4m3 = {1, e4m3_value};

// One warp's part: 16 rows.
struct product {
  int k, n;
  float a[ROWS][MAX_K], b[MAX_K][MAX_N];
  double sum[ROWS][MAX_N];
};

void multiply(struct product *p) {
  for (int row = 0; row < ROWS; row++) {
    for (int k = 0; k < p->k; k++) {
      const double a = p->a[row][k];
      for (int n = 0; n < p->n; n++) {
        p->sum[row][n] += a * p->b[k][n];
      }
    }
  }
}

// A register holds 4 / bytes neighbors in k. Register `i` of A has rows g (even i) and g + 8, and
// the first (0, 1) or second half of k; of B, column g and the i-th half of k. Within a half, a
// lane has the neighbors from t times their number on. g = lane / 4, t = lane % 4 ("Matrix
// Fragments for mma.m16n8k16 with floating point type", "... for mma.m16n8k32").
void take_a(const struct warp *w, const struct instruction *in, int first, struct elements e,
            struct product *p) {
  const int many = 4 / e.bytes;
  for (int lane = 0; lane < LANES; lane++) {
    for (int i = 0; i < 4; i++) {
      const uint32_t bits = words(w, in, first + i)->u[lane];
      for (int j = 0; j < many; j++) {
        p->a[lane / 4 + i % 2 * 8][i / 2 * p->k / 2 + lane % 4 * many + j] =
            e.value(bits >> 8 * e.bytes * j & (e.bytes == 2 ? 0xFFFF : 0xFF));
      }
    }
  }
}

void take_b(const struct warp *w, const struct instruction *in, int first, struct elements e,
            struct product *p) {
  const int many = 4 / e.bytes;
  for (int lane = 0; lane < LANES; lane++) {
    for (int i = 0; i < 2; i++) {
      const uint32_t bits = words(w, in, first + i)->u[lane];
      for (int j = 0; j < many; j++) {
        p->b[i * p->k / 2 + lane % 4 * many + j][lane / 4] =
            e.value(bits >> 8 * e.bytes * j & (e.bytes == 2 ? 0xFFFF : 0xFF));
      }
    }
  }
}

// Sums i of four in 8 columns: rows g (0, 1) and g + 8, columns 2 t and 2 t + 1.
double *sum_of(struct product *p, int lane, int i) {
  return &p->sum[lane / 4 + i % 4 / 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2];
}

void take_sums(const struct warp *w, const struct instruction *in, int first, struct product *p) {
  for (int i = 0; i < p->n / 2; i++) {
    for (int lane = 0; lane < LANES; lane++) {
      *sum_of(p, lane, i) = words(w, in, first + i)->f[lane];
    }
  }
}

void give_sums(const struct warp *w, const struct instruction *in, struct product *p) {
  for (int i = 0; i < p->n / 2; i++) {
    for (int lane = 0; lane < LANES; lane++) {
      words(w, in, i)->f[lane] = (float)*sum_of(p, lane, i);
    }
  }
}

// d, a, b, c
void mma(struct warp *w, const struct instruction *in, struct elements e) {
  struct product p;
  p.k = 32 / e.bytes;
  p.n = 8;
  take_a(w, in, 4, e, &p);
  take_b(w, in, 8, e, &p);
  take_sums(w, in, 10, &p);
  multiply(&p);
  give_sums(w, in, &p);
}
void mma_bf16(struct warp *w, const struct instruction *in, uint32_t) {
  mma(w, in, bf16);
}
void mma_f16(struct warp *w, const struct instruction *in, uint32_t) {
  mma(w, in, f16);
}
void mma_e4m3(struct warp *w, const struct instruction *in, uint32_t) {
  mma(w, in, e4m3);
}

// ---- wgmma

enum { SLICE_BYTES = 32 }; // of a row, which one instruction multiplies

// A matrix in shared memory by its descriptor ("Matrix Descriptor Format"): bits 0-13 its
// beginning, 32-45 the distance of 8 rows from the next 8, both / 16; 49-51 the base offset; 62-63
// the swizzle, 1 for 128 bytes: rows of 128 bytes, and bits 4 to 6 of an address exchanged by its
// bits 7 to 9 ("Strides", "Canonical Layouts"). Fills `out`, [rows][SLICE_BYTES].
bool read_matrix(struct warp *w, const struct instruction *in, uint64_t descriptor, int first_row,
                 int rows, unsigned char (*out)[SLICE_BYTES]) {
  const uint32_t begin = (uint32_t)(descriptor & 0x3FFF) << 4;
  const uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3FFF) << 4;
  const uint64_t unused = descriptor & ~(UINT64_C(0x3FFF) | UINT64_C(0x3FFF) << 16 |
                                         UINT64_C(0x3FFF) << 32 | UINT64_C(3) << 62);
  if (descriptor >> 62 != 1 || unused || begin >> 7 & 7) {
    fail(w, in, -1, "descriptor 0x%llx is not of an aligned matrix with the 128-byte swizzle",
         (unsigned long long)descriptor);
    return false;
  }
  for (int row = first_row; row < first_row + rows; row++) {
    for (uint32_t byte = 0; byte < SLICE_BYTES; byte += GRANULE) {
      uint32_t address = begin + (uint32_t)row / 8 * stride + (uint32_t)row % 8 * 128 + byte;
      address ^= (address >> 7 & 7) << 4;
      const unsigned char *from = shared_bytes_at(w, in, -1, address, GRANULE);
      if (!from) {
        return false;
      }
      memcpy(out[row - first_row] + byte, from, GRANULE);
    }
  }
  return true;
}

uint64_t hash_of(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t value;
    memcpy(&value, static_cast<const unsigned char *>(bytes) + i, 8);
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return hash;
}

// The operands of one instruction that are in shared memory; their hash.
struct matrices {
  unsigned char a[ROWS][SLICE_BYTES], b[MAX_N][SLICE_BYTES];
};

bool read_matrices(struct warp *w, const struct pending_wgmma *p, bool a_in_registers, int n,
                   struct matrices *out, uint64_t *hash) {
  *hash = 0;
  if (!a_in_registers) {
    if (!read_matrix(w, p->in, p->a, w->number % GROUP_WARPS * ROWS, ROWS, out->a)) {
      return false;
    }
    *hash = hash_of(*hash, out->a, sizeof out->a);
  }
  if (!read_matrix(w, p->in, p->b, 0, n, out->b)) {
    return false;
  }
  *hash = hash_of(*hash, out->b, (size_t)n * SLICE_BYTES);
  return true;
}

float element(struct elements e, const unsigned char *row, int k) {
  return e.value(e.bytes == 2 ? (uint32_t)(row[2 * k] | row[2 * k + 1] << 8) : row[k]);
}

void take_matrices(const struct matrices *m, struct elements e, bool a_in_registers,
                   struct product *p) {
  for (int k = 0; k < p->k; k++) {
    for (int row = 0; row < ROWS && !a_in_registers; row++) {
      p->a[row][k] = element(e, m->a[row], k);
    }
    for (int n = 0; n < p->n; n++) {
      p->b[k][n] = element(e, m->b[n], k);
    }
  }
}

// All lanes and warps of the group supply the same descriptors to the same instruction.
bool check_group(struct warp *w, const struct pending_wgmma *p) {
  struct block *block = w->block;
  const int group = w->number / GROUP_WARPS;
  const uint64_t brought[] = {(uint64_t)(uintptr_t)p->in, p->a, p->b};
  const uint64_t hash = hash_of(1, brought, sizeof brought), at = w->wgmma_issued++;
  uint64_t *history = &block->group_history[group][at % WGMMA_HISTORY];
  if (at == block->group_issued[group]) {
    block->group_issued[group]++;
    *history = hash;
  }
  if (block->group_issued[group] - at <= WGMMA_HISTORY && *history != hash) {
    fail(w, p->in, -1, "the warps of a group bring different instructions or matrices");
    return false;
  }
  return true;
}

bool check_registers(struct warp *w, const struct instruction *in, int a_first, int a_count) {
  for (int i = 0; i < in->outs + a_count; i++) {
    const bool is_sum = i < in->outs;
    const uint32_t at = in->at[is_sum ? i : a_first + i - in->outs];
    if (w->flying[at] == (is_sum ? 2 : 1)) {
      fail(w, in, -1, "operand %d is a register that another wgmma has", i);
      return false;
    }
    if (!w->flying[at] && w->touched[at] == w->fence) {
      fail(w, in, -1, "no wgmma.fence since operand %d was used", i);
      return false;
    }
  }
  for (int i = 0; i < in->outs + a_count; i++) {
    const bool is_sum = i < in->outs;
    w->flying[in->at[is_sum ? i : a_first + i - in->outs]] = is_sum ? 1 : 2;
  }
  return true;
}

// d, a, b, scale-d, then factors and transpositions, of which only 1 and 0 are supported.
template <int N, int A_REGISTERS>
void wgmma(struct warp *w, const struct instruction *in, struct elements e) {
  const int a = in->outs, b = a + (A_REGISTERS ? A_REGISTERS : 1), scale = b + 1;
  struct pending_wgmma p = {in, A_REGISTERS ? 0 : doubles(w, in, a)->u[0], doubles(w, in, b)->u[0],
                            0};
  for (int lane = 0; lane < LANES; lane++) {
    if (doubles(w, in, b)->u[lane] != p.b || (!A_REGISTERS && doubles(w, in, a)->u[lane] != p.a)) {
      fail(w, in, lane, "lanes bring different matrices");
      return;
    }
  }
  for (int i = scale + 1; i < in->count; i++) {
    if (words(w, in, i)->u[0] != (i < scale + 3 ? 1u : 0u)) {
      fail(w, in, -1, "a factor or a transposition");
      return;
    }
  }
  const uint32_t adds = words(w, in, scale)->u[0];
  struct product product;
  struct matrices matrices;
  product.k = SLICE_BYTES / e.bytes;
  product.n = N;
  if ((adds && adds != ALL_LANES) || w->wgmma_count == MAX_WGMMA) {
    fail(w, in, -1, "lanes bring different factors, or too many are under way");
    return;
  }
  if (!check_group(w, &p) || !check_registers(w, in, a, A_REGISTERS) ||
      !read_matrices(w, &p, A_REGISTERS, N, &matrices, &p.hash)) {
    return;
  }
  take_sums(w, in, 0, &product);
  if (!adds) {
    memset(product.sum, 0, sizeof product.sum);
  }
  take_matrices(&matrices, e, A_REGISTERS, &product);
  if (A_REGISTERS) {
    take_a(w, in, a, e, &product);
  }
  multiply(&product);
  give_sums(w, in, &product);
  w->wgmma[w->wgmma_count++] = p;
}

template <int N> void wgmma_bf16(struct warp *w, const struct instruction *in, uint32_t) {
  wgmma<N, 0>(w, in, bf16);
}
template <int N> void wgmma_bf16_registers(struct warp *w, const struct instruction *in, uint32_t) {
  wgmma<N, 4>(w, in, bf16);
}
template <int N> void wgmma_e4m3(struct warp *w, const struct instruction *in, uint32_t) {
  wgmma<N, 0>(w, in, e4m3);
}

void wgmma_fence(struct warp *w, const struct instruction *, uint32_t) {
  w->fence++;
}

// PTX ISA, setmaxnreg: 24 to 256, a multiple of 8, in a kernel whose launch gives each thread a
// known number. What warps leave is their block's; nothing else is, nor what ended warps had. Who
// takes more waits for it.
bool check_count(struct warp *w, const struct instruction *in, uint32_t count, bool takes) {
  if (!w->block->run->kernel->registers) {
    fail(w, in, -1, "nothing says how many registers a thread begins with");
  } else if (count < 24 || count > 256 || count % 8 != 0) {
    fail(w, in, -1, "%u is no number of registers", count);
  } else if (takes ? count < w->registers : count > w->registers) {
    fail(w, in, -1, "from %u registers to %u", w->registers, count);
  } else {
    return true;
  }
  return false;
}

void leave_registers(struct warp *w, const struct instruction *in, uint32_t) {
  const uint32_t count = words(w, in, 0)->u[0];
  if (check_count(w, in, count, false)) {
    w->block->spare_registers += w->registers - count;
    w->block->run->idle = 0;
    w->registers = count;
  }
}

void take_registers(struct warp *w, const struct instruction *in, uint32_t) {
  const uint32_t count = words(w, in, 0)->u[0], more = count - w->registers;
  if (!check_count(w, in, count, true)) {
    return;
  }
  if (more > w->block->spare_registers) {
    w->again = w->yields = true;
    w->block->run->idle++;
    return;
  }
  w->block->spare_registers -= more;
  w->registers = count;
}

void wgmma_commit(struct warp *w, const struct instruction *, uint32_t) {
  w->wgmma_committed = w->wgmma_count;
}

void wgmma_wait(struct warp *w, const struct instruction *in, uint32_t) {
  struct matrices matrices;
  if (words(w, in, 0)->u[0] != 0 || w->wgmma_committed != w->wgmma_count) {
    fail(w, in, -1, "a wait for other than all, or before all are committed");
    return;
  }
  for (int i = 0; i < w->wgmma_count; i++) {
    const struct pending_wgmma *p = &w->wgmma[i];
    const bool a_in_registers = !strstr(p->in->what->operands, "=dd");
    uint64_t hash;
    if (!read_matrices(w, p, a_in_registers, 2 * p->in->outs, &matrices, &hash)) {
      return;
    }
    if (hash != p->hash) {
      fail(w, p->in, -1, "its matrices were changed before it was waited for");
      return;
    }
  }
  w->wgmma_count = w->wgmma_committed = 0;
  memset(w->flying, 0, w->block->run->kernel->file_size);
}

} // namespace

void wgmma_watch(struct warp *w, const struct instruction *in) {
  for (int i = 0; i < in->count; i++) {
    const uint32_t at = in->at[i];
    if (w->flying[at] && (i < in->outs || w->flying[at] == 1)) {
      fail(w, in, -1, "operand %d is a register that wgmma has, which was not waited for", i);
    }
    w->touched[at] = w->fence;
  }
}

#define MMA(shape, run)                                                                            \
  { "mma.sync.aligned." shape, "{r4}={r4}{r2}{r4}", run, WARP_TOGETHER }
#define WGMMA(n, sums)                                                                             \
  {"wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16", "{r" #sums "}=ddpiiii",             \
   wgmma_bf16<n>, WGMMA_TOGETHER},                                                                 \
      {"wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16", "{r" #sums "}={r4}dpiii",       \
       wgmma_bf16_registers<n>, WGMMA_TOGETHER},                                                   \
  {                                                                                                \
    "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3", "{r" #sums "}=ddpii",              \
        wgmma_e4m3<n>, WGMMA_TOGETHER                                                              \
  }

const struct operation_entry matrix_operations[] = {
    MMA("m16n8k16.row.col.f32.bf16.bf16.f32", mma_bf16),
    MMA("m16n8k16.row.col.f32.f16.f16.f32", mma_f16),
    MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", mma_e4m3),
    WGMMA(16, 8),
    WGMMA(32, 16),
    WGMMA(64, 32),
    WGMMA(128, 64),
    {"wgmma.fence.sync.aligned", "=", wgmma_fence, WGMMA_TOGETHER},
    {"wgmma.commit_group.sync.aligned", "=", wgmma_commit, WGMMA_TOGETHER},
    {"wgmma.wait_group.sync.aligned", "=i", wgmma_wait, WGMMA_TOGETHER},
    {"setmaxnreg.inc.sync.aligned.u32", "=i", take_registers, WARP_TOGETHER},
    {"setmaxnreg.dec.sync.aligned.u32", "=i", leave_registers, WARP_TOGETHER},
    {}};
