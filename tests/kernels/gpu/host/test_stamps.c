// The host side of a build with time stamps, on host memory instead of a device's.
#define GPU_STAMPS
#include "kernels/gpu/host/stamps.c" // NOLINT(bugprone-suspicious-include): with stamps only here

#include "tests/support/fixture.h"

#include <unistd.h>

static struct {
  int allocated;
  int fails; // the status that allocate returns
} device;

static int allocate(void **out, size_t bytes) {
  *out = device.fails ? NULL : malloc(bytes);
  device.allocated += *out != NULL;
  return device.fails;
}
static int release(void *memory) {
  device.allocated--;
  free(memory);
  return 0;
}
static int set(void *memory, int byte, size_t bytes, void *stream) {
  assert_null(stream);
  memset(memory, byte, bytes);
  return 0;
}
static int copy(void *to, const void *from, size_t bytes, int kind, void *stream) {
  assert_int_equal(kind, RUNTIME_FROM_DEVICE);
  assert_null(stream);
  memcpy(to, from, bytes);
  return 0;
}
static int stream_wait(void *stream) {
  assert_null(stream);
  return 0;
}

const struct gpu_runtime *gpu_runtime(const char **why) {
  static const struct gpu_runtime table = {.allocate = allocate,
                                           .release = release,
                                           .set = set,
                                           .copy = copy,
                                           .stream_wait = stream_wait};
  *why = "";
  return &table;
}

// A launch of that many blocks that runs and writes stamps as the kernels do; block 1 of each never
// begins.
static struct gpu_stamp *launched(const char *kernel, unsigned blocks, uint64_t at_ns) {
  struct gpu_launch launch = {.grid = {blocks, 1, 1}};
  snprintf(launch.kernel, sizeof launch.kernel, "%s", kernel);
  struct gpu_stamp *room = gpu_stamps_of(&launch);
  for (unsigned block = 0; room && block < blocks; block++)
    if (block != 1)
      room[block] = (struct gpu_stamp){at_ns, at_ns + 1, 0, at_ns + 9 + block, 3};
  return room;
}

static const char *written(const char *path) {
  static char text[1024];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

#define HEAD "launch,kernel,block,multiprocessor,entry_ns,released_ns,multiplied_ns,exit_ns\n"

// Among the contexts of a process, the one with the most blocks gets the file; another context open
// at the same time does not take its room.
static void test_writes_the_most(void **state) {
  (void)state;
  char path[] = "/tmp/pertoken-stamps-XXXXXX";
  close(mkstemp(path));
  setenv("PERTOKEN_GPU_STAMPS", path, 1);
  assert_int_equal(gpu_stamps_open(), 0);
  assert_null(launched("fill_bf16", 4, 50));
  struct gpu_stamp *first = launched("vector_x", 3, 100);
  assert_int_equal(gpu_stamps_open(), 0);
  assert_null(launched("read_0", 4, 60));
  assert_int_equal(gpu_stamps_close(), 0);
  assert_int_equal(device.allocated, 1);
  assert_ptr_equal(launched("sample", 1, 200), first + 3);
  assert_int_equal(gpu_stamps_close(), 0);
  assert_int_equal(device.allocated, 0);
  static const char all[] = HEAD "0,vector_x,0,3,100,101,0,109\n"
                                 "0,vector_x,2,3,100,101,0,111\n"
                                 "1,sample,0,3,200,201,0,209\n";
  assert_string_equal(written(path), all);
  assert_int_equal(gpu_stamps_open(), 0);
  launched("sample", 1, 300);
  assert_int_equal(gpu_stamps_close(), 0);
  assert_string_equal(written(path), all);
  unlink(path);
}

// No variable, no memory, no room: the kernels get no buffer.
static void test_stamps_nothing(void **state) {
  (void)state;
  unsetenv("PERTOKEN_GPU_STAMPS");
  assert_int_equal(gpu_stamps_open(), 0);
  assert_null(launched("sample", 1, 1));
  assert_int_equal(gpu_stamps_close(), 0);
  setenv("PERTOKEN_GPU_STAMPS", "/nonexistent/stamps", 1);
  device.fails = RUNTIME_OUT_OF_MEMORY;
  assert_int_equal(gpu_stamps_open(), RUNTIME_OUT_OF_MEMORY);
  assert_null(launched("sample", 1, 1));
  device.fails = 0;
  assert_int_equal(gpu_stamps_open(), 0);
  const struct gpu_launch large = {.kernel = "sample", .grid = {1 << 21, 2, 1}};
  assert_null(gpu_stamps_of(&large));
  assert_non_null(launched("sample", 1, 1));
  assert_int_equal(gpu_stamps_close(), 0);
  assert_int_equal(device.allocated, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_writes_the_most),
      cmocka_unit_test(test_stamps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
