// What is checked of a GPU's matrix unit before a model is put on it: each kernel that a plan
// multiplies by, with all its strips of rows and its merges. The device is a stand-in that
// multiplies in host memory; a kernel of it can be wrong.
// NOLINTBEGIN(bugprone-suspicious-include): with what the checks keep private
#include "kernels/gpu/host/failure.c"
#include "kernels/gpu/host/tile_check.c"
#include "kernels/gpu/host/wgmma_check.c"
// NOLINTEND(bugprone-suspicious-include)

#include "tests/support/kernels/planned.h"

#include "kernels/gpu/plan/tuning.h"

// ---- the device

enum { MOST_KERNELS = 16, NAME = 96 };

// A kernel, and how many blocks of it are in a cluster.
static void name_of(const struct gpu_launch *launch, char name[NAME]) {
  snprintf(name, NAME, "%s in clusters of %u", launch->kernel, launch->cluster);
}

static struct {
  char *memory;
  size_t bytes;
  const char *wrong; // the kernel that is; NULL: none
  int wrong_strip;   // -1: all of it
  bool wrong_merges; // it is wrong only where blocks share a tile
  char seen[MOST_KERNELS][NAME];
  size_t seen_count;
} device;

static enum decode_status take(struct gpu_context *context, size_t bytes, void **out) {
  (void)context;
  device.memory = *out = malloc(bytes);
  device.bytes = bytes;
  memset(*out, 0xFF, bytes);
  return DECODE_OK;
}

static void give_back(struct gpu_context *context, void *memory) {
  (void)context;
  assert_ptr_equal(memory, device.memory);
  free(memory);
}

static enum decode_status copy(struct gpu_context *context, void *to, const void *from,
                               size_t bytes) {
  (void)context;
  memcpy(to, from, bytes);
  return DECODE_OK;
}

static enum decode_status keep_matrix(struct gpu_context *context, struct tensor_map *map) {
  (void)context;
  const char *from = map->matrix.from;
  assert_true(from >= device.memory &&
              from + map->matrix.rows * map->matrix.row_bytes <= device.memory + device.bytes);
  return DECODE_OK;
}

static float element_at(const void *array, size_t bytes, size_t i) {
  return bytes == 2 ? float_from_bf16(((const uint16_t *)array)[i])
                    : float_from_e4m3(((const uint8_t *)array)[i]);
}

static void multiply_tile(const struct gpu_launch *launch) {
  const struct tile_check_arguments *a = launch->arguments;
  const size_t bytes = strstr(launch->kernel, "tile_check_bf16") ? 2 : 1;
  const size_t beside = strcmp(strrchr(launch->kernel, '_'), "_bf16") ? 1 : 2;
  const int count = bytes == 2 ? TILE_CHECK_ELEMENTS / 2 : TILE_CHECK_ELEMENTS;
  for (int row = 0; row < TILE_CHECK_ROWS; row++)
    for (int column = 0; column < TILE_CHECK_ROWS; column++) {
      float sum = 0;
      for (int i = 0; i < count && column < 8; i++)
        sum += element_at(a->a, bytes, (size_t)row * TILE_CHECK_ELEMENTS + (size_t)i) *
               element_at(a->b, beside, (size_t)column * TILE_CHECK_ELEMENTS + (size_t)i);
      a->c[row * TILE_CHECK_ROWS + column] = sum;
    }
}

// Rows of a tile, in its strips one after the other.
static int strip_of(const struct wgmma_arguments *a, int columns, int row) {
  return row / (wgmma_tiles(a->product.batch_padded, columns) * WGMMA_ROWS) % MAX_WGMMA_STRIPS;
}

static bool is_wrong(const struct gpu_launch *launch, const struct wgmma_arguments *a, int columns,
                     int row) {
  char name[NAME];
  name_of(launch, name);
  return device.wrong && !strcmp(device.wrong, name) &&
         (device.wrong_strip < 0 || strip_of(a, columns, row) == device.wrong_strip) &&
         (!device.wrong_merges || a->work.blocks > a->work.tiles);
}

// Sums and counters of blocks that share tiles lie within what was allocated for them.
static void expect_room(const struct wgmma_arguments *a, int columns, int strips) {
  const size_t blocks = (size_t)a->work.blocks * (size_t)a->beside;
  const struct product_arguments *p = &a->product;
  if (a->work.blocks == a->work.tiles)
    return;
  assert_true((char *)(p->counters + blocks * WGMMA_GROUPS * 4) <= (char *)p->partials);
  assert_true((char *)(p->partials + 2 * blocks * wgmma_partial_floats(columns, strips)) <=
              device.memory + device.bytes);
}

// A matrix as floats, in the usual order of its columns.
static const float *floats_of(const struct tensor_map *map, size_t bytes, int columns, bool paired,
                              float *out) {
  const size_t stride = map->matrix.row_bytes / bytes;
  for (size_t row = 0; row < map->matrix.rows; row++)
    for (int i = 0; i < columns; i++) {
      const int at = paired ? 2 * wgmma_paired_word(i / 2) + i % 2 : i;
      out[row * (size_t)columns + (size_t)i] =
          element_at(map->matrix.from, bytes, row * stride + (size_t)at);
    }
  return out;
}

static void multiply(const struct gpu_launch *launch) {
  static float room[ROWS * MAX_COLUMNS], other[LIMITS_BATCH * MAX_COLUMNS];
  const struct wgmma_arguments *a = launch->arguments;
  const struct product_arguments *p = &a->product;
  const int columns = atoi(strrchr(launch->kernel, '_') + 1);
  const size_t weight = a->weights.matrix.row_bytes / (size_t)p->columns;
  const size_t activation = strstr(launch->kernel, "_bf16_store") ? 2 : 1;
  const float *weights = floats_of(&a->weights, weight, p->columns, false, room);
  const float *activations =
      floats_of(&a->activations, activation, p->columns, activation > weight, other);
  expect_room(a, columns, strstr(launch->kernel, "strips") ? MAX_WGMMA_STRIPS : 1);
  for (int b = 0; b < p->batch; b++)
    for (int row = 0; row < p->rows; row++) {
      float sum = is_wrong(launch, a, columns, row) ? 1 : 0;
      for (int i = 0; i < p->columns; i++)
        sum += weights[row * p->columns + i] * activations[b * p->columns + i];
      sum *= p->scales ? p->scales[row] : 1;
      sum *= p->activation_scales ? p->activation_scales[b] : 1;
      p->output[b * p->output_stride + row] = sum;
    }
}

static bool is_seen(const char *kernel) {
  for (size_t i = 0; i < device.seen_count; i++)
    if (!strcmp(device.seen[i], kernel))
      return true;
  return false;
}

static enum decode_status launch(struct gpu_context *context, const struct gpu_launch *l) {
  (void)context;
  if (!strncmp(l->kernel, "tile_check_", strlen("tile_check_"))) {
    multiply_tile(l);
    return DECODE_OK;
  }
  char name[NAME];
  multiply(l);
  name_of(l, name);
  if (!is_seen(name)) {
    assert_true(device.seen_count < MOST_KERNELS);
    strcpy(device.seen[device.seen_count++], name);
  }
  return DECODE_OK;
}

static const char *no_error(void) {
  return "";
}

const struct gpu_driver gpu_driver = {.allocate = take,
                                      .release = give_back,
                                      .copy_in = copy,
                                      .copy_out = copy,
                                      .tensor_map = keep_matrix,
                                      .launch = launch,
                                      .error = no_error};

// ---- the check

// The kernels by which a plan's products are multiplied, but for what they do with their sums; and
// whether blocks that share a tile merge them in memory.
struct kernel {
  char name[NAME];
  bool merges, has_strips;
};

static size_t kernels_of(const struct plan *plan, struct kernel kernels[PRODUCTS]) {
  size_t count = 0;
  for (int p = 0; p < PRODUCTS; p++)
    if (plan->product[p].rows > 0 && plan->product[p].wgmma) {
      const struct plan_product *product = &plan->product[p];
      const struct gpu_launch one = launch_of(product, 1);
      name_of(&one, kernels[count].name);
      kernels[count].merges = product->parts == 1;
      kernels[count++].has_strips = product->strips > 1;
    }
  return count;
}

static void expect_found(const struct plan *plan, const char *kernel, int strip, bool merges) {
  device.wrong = kernel;
  device.wrong_strip = strip;
  device.wrong_merges = merges;
  if (tile_check(NULL, plan) != DECODE_FAILED)
    fail_msg("%s is wrong%s%s, and nobody notices", kernel, merges ? " in its merges" : "",
             strip == 1 ? " in its second strip" : "");
  expect_fragment(failure_words(), "wgmma's layout is not the one that the kernels assume");
  device.wrong = NULL;
}

// Each of these plans: an 8B model's, by itself and as tuned.
static const struct {
  enum element weights, activations;
  int batch;
  const char *tuning;
} plans[] = {
    {ELEMENT_E4M3, ELEMENT_BF16, 64, ""},
    {ELEMENT_BF16, ELEMENT_BF16, 64, ""},
    {ELEMENT_E4M3, ELEMENT_E4M3, 33, ""},
    {ELEMENT_E4M3, ELEMENT_BF16, 64, "wgmma_strips=2"},
    {ELEMENT_BF16, ELEMENT_BF16, 16, "wgmma_beside=2"},
    {ELEMENT_E4M3, ELEMENT_E4M3, 64, "wgmma_beside=2 wgmma_parts=4"},
    {ELEMENT_E4M3, ELEMENT_BF16, 128, "wgmma_parts=1"}, // the most blocks that share tiles
};

static struct plan plan_of(size_t i) {
  static const struct decode_shape llama_8b = {.layers = 2,
                                               .hidden = 4096,
                                               .heads = 32,
                                               .kv_heads = 8,
                                               .head_dim = 128,
                                               .ffn_hidden = 14336,
                                               .vocab = 128256,
                                               .norm_epsilon = 1e-5f,
                                               .rope_theta = 5e5f};
  const struct decode_types types = {plans[i].weights, plans[i].activations, ELEMENT_BF16,
                                     ELEMENT_BF16,     ELEMENT_F32,          ELEMENT_F32};
  const struct decode_request request = planned_request(&llama_8b, &types, plans[i].batch, 512);
  struct gpu_device h200 = planned_h200_wgmma;
  char why[256];
  assert_true(gpu_tuning_read(plans[i].tuning, &h200.tuning, why, sizeof why));
  return planned(&request, &h200);
}

// Nothing is wrong with the device, and every kernel is run.
static void test_every_kernel_is_checked(void **unused) {
  size_t strips = 0;
  (void)unused;
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
    const struct plan plan = plan_of(i);
    struct kernel kernels[PRODUCTS];
    device.seen_count = 0;
    if (tile_check(NULL, &plan) != DECODE_OK)
      fail_msg("plan %zu: %s", i, failure_words());
    const size_t count = kernels_of(&plan, kernels);
    assert_true(count > 0);
    for (size_t k = 0; k < count; k++) {
      strips += kernels[k].has_strips;
      if (!is_seen(kernels[k].name))
        fail_msg("plan %zu: %s is not checked", i, kernels[k].name);
    }
  }
  assert_true(strips > 3);
}

// Wrong everywhere, in each strip, or where blocks' sums meet.
static void test_wrong_kernels_are_found(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
    const struct plan plan = plan_of(i);
    struct kernel kernels[PRODUCTS];
    const size_t count = kernels_of(&plan, kernels);
    for (size_t k = 0; k < count; k++) {
      if (!kernels[k].has_strips)
        expect_found(&plan, kernels[k].name, -1, false);
      for (int strip = 0; strip < 2 && kernels[k].has_strips; strip++)
        expect_found(&plan, kernels[k].name, strip, false);
      if (kernels[k].merges)
        expect_found(&plan, kernels[k].name, -1, true);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kernel_is_checked),
      cmocka_unit_test(test_wrong_kernels_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
