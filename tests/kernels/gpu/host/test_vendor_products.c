// Products by cuBLASLt and hipBLASLt, on stand-ins for both (tests/stand_ins/blaslt): the
// arguments, checked by sums that are exact; and every way in which the libraries are missing or
// fail, with the messages. If CUDA is installed, the real cuBLASLt is asked for its functions and
// version.
#include "tests/support/fixture.h"

#include "kernels/gpu/host/vendor_products.h"
#include "kernels/weights.h"
#include "tests/support/library.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK = 4096 }; // elements that an altered stride may reach

static struct stand_in {
  const char *name, *missing;
  struct library_file file;
  char path[2][512];
  int (*alive)(void), (*heuristics)(void);
} stand_ins[] = {
    [VENDOR_CUBLASLT] = {"fake_cublaslt",
                         "fake_cublaslt_missing",
                         {.kind = "cuBLASLt",
                          .names = {"libno-such-cublasLt.so.13"},
                          .variable = "PERTOKEN_CUBLASLT_LIBRARY",
                          .install = "install it"},
                         {{0}},
                         NULL,
                         NULL},
    [VENDOR_HIPBLASLT] = {"fake_hipblaslt",
                          "fake_hipblaslt_missing",
                          {.kind = "hipBLASLt",
                           .names = {"libno-such-hipblaslt.so.1"},
                           .variable = "PERTOKEN_HIPBLASLT_LIBRARY",
                           .install = "install it"},
                          {{0}},
                          NULL,
                          NULL},
};
enum { KINDS = sizeof stand_ins / sizeof stand_ins[0] };

static const char *const variables[] = {"FAKE_BLASLT_VERSION", "FAKE_BLASLT_FAIL",
                                        "FAKE_BLASLT_NO_WAY", "FAKE_BLASLT_WORKSPACE",
                                        "FAKE_BLASLT_ALTER"};

static int begin(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  for (int k = 0; k < KINDS; k++)
    setenv(stand_ins[k].file.variable, stand_ins[k].path[0], 1);
  return 0;
}

// Its path, for code that loads it by path.
static int find_path(const char *name, const char *symbol, char *out, size_t size) {
  Dl_info where;
  void *library = library_open(name), *address = library ? library_symbol(library, symbol) : NULL;
  if (!address || !dladdr(address, &where))
    return -1;
  snprintf(out, size, "%s", where.dli_fname);
  return 0;
}

static int load(void **unused) {
  (void)unused;
  for (int k = 0; k < KINDS; k++) {
    struct stand_in *one = &stand_ins[k];
    if (find_path(one->name, "fake_blaslt_alive", one->path[0], sizeof one->path[0]) ||
        find_path(one->missing, "fake_blaslt_alive", one->path[1], sizeof one->path[1]))
      return -1;
    void *library = library_open(one->name);
    *(void **)&one->alive = library_symbol(library, "fake_blaslt_alive");
    *(void **)&one->heuristics = library_symbol(library, "fake_blaslt_heuristics");
  }
  return 0;
}

// ---- products

struct work {
  struct vendor_size size;
  bool fnuz;
  void *weights, *activations;
  float *out;
  void *workspace;
};

// Integers from -3 to 3, whose sums are exact in any order.
static int whole(int row, int column, int seed) {
  return (row * 7 + column * 5 + row * column % 11 + seed) % 7 - 3;
}

static void put(const struct work *work, void *to, size_t i, int value) {
  if (work->size.element == ELEMENT_BF16)
    ((uint16_t *)to)[i] = bf16_from_float((float)value);
  else // without a negative zero, a code has half the value
    ((uint8_t *)to)[i] = e4m3_from_float((float)(work->fnuz ? 2 * value : value));
}

static void *filled(const struct work *work, int rows, int seed) {
  const size_t count = (size_t)rows * (size_t)work->size.stride;
  void *out = calloc(count + SLACK, 2);
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < work->size.stride; i++)
      put(work, out, (size_t)row * (size_t)work->size.stride + (size_t)i, whole(row, i, seed));
  return out;
}

static struct work work_of(const struct vendor_size *size, bool fnuz) {
  struct work work = {.size = *size, .fnuz = fnuz};
  const size_t sums = (size_t)size->vectors * (size_t)size->rows + SLACK;
  work.weights = filled(&work, size->rows, 1);
  work.activations = filled(&work, size->vectors, 4);
  work.out = malloc(sums * sizeof *work.out);
  work.workspace = malloc(VENDOR_WORKSPACE);
  for (size_t i = 0; i < sums; i++)
    work.out[i] = 12345;
  return work;
}

static void end_work(struct work *work) {
  free(work->weights);
  free(work->activations);
  free(work->out);
  free(work->workspace);
}

static int multiply(struct vendor_library *library, const struct work *work, char *why,
                    size_t why_size) {
  const struct vendor_product product = {.size = work->size,
                                         .weights = work->weights,
                                         .activations = work->activations,
                                         .out = work->out,
                                         .workspace = work->workspace};
  if (vendor_prepare(library, &work->size, why, why_size))
    return -1;
  return vendor_multiply(library, &product, NULL, why, why_size);
}

// Sums are correct, and nothing is written after them.
static bool is_right(const struct work *work) {
  const struct vendor_size *size = &work->size;
  for (int v = 0; v < size->vectors; v++)
    for (int row = 0; row < size->rows; row++) {
      int sum = 0;
      for (int i = 0; i < size->stride; i++)
        sum += whole(row, i, 1) * whole(v, i, 4);
      if (work->out[v * size->rows + row] != (float)sum)
        return false;
    }
  return work->out[size->vectors * size->rows] == 12345;
}

static const struct vendor_size sizes[] = {
    {ELEMENT_BF16, 1, 1, 64},   {ELEMENT_BF16, 3, 80, 64}, {ELEMENT_BF16, 37, 5, 192},
    {ELEMENT_BF16, 64, 64, 64}, {ELEMENT_E4M3, 3, 80, 64}, {ELEMENT_E4M3, 37, 16, 192},
    {ELEMENT_E4M3, 64, 64, 64},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static struct vendor_library *open_one(int kind, bool fnuz) {
  char why[256] = "";
  struct vendor_library *library =
      vendor_library_open((enum vendor_kind)kind, &stand_ins[kind].file, fnuz, why, sizeof why);
  if (!library)
    fail_msg("%s: %s", stand_ins[kind].file.kind, why);
  return library;
}

static void test_products(void **unused) {
  (void)unused;
  for (int kind = 0; kind < KINDS; kind++)
    for (int fnuz = 0; fnuz < (kind == VENDOR_HIPBLASLT ? 2 : 1); fnuz++) {
      struct vendor_library *library = open_one(kind, fnuz);
      for (int s = 0; s < SIZES; s++) {
        char why[256] = "";
        struct work work = work_of(&sizes[s], fnuz);
        if (multiply(library, &work, why, sizeof why) || !is_right(&work))
          fail_msg("%s, size %d: %s", vendor_library_name(library), s, why);
        end_work(&work);
      }
      vendor_library_close(library);
      assert_int_equal(stand_ins[kind].alive(), 0);
    }
}

static void test_names(void **unused) {
  (void)unused;
  struct vendor_library *cuda = open_one(VENDOR_CUBLASLT, false);
  struct vendor_library *hip = open_one(VENDOR_HIPBLASLT, false);
  assert_string_equal(vendor_library_name(cuda), "cuBLASLt 13.1.0");
  assert_string_equal(vendor_library_name(hip), "hipBLASLt 1.0.0");
  vendor_library_close(cuda);
  vendor_library_close(hip);
  vendor_library_close(NULL);
}

// A size is planned once, however often it is multiplied; another size is planned anew.
static void test_ways_are_kept(void **unused) {
  (void)unused;
  for (int kind = 0; kind < KINDS; kind++) {
    struct vendor_library *library = open_one(kind, false);
    const int before = stand_ins[kind].heuristics();
    char why[256];
    for (int round = 0; round < 3; round++)
      for (int s = 0; s < SIZES; s++)
        assert_int_equal(vendor_prepare(library, &sizes[s], why, sizeof why), 0);
    assert_int_equal(stand_ins[kind].heuristics() - before, SIZES);
    vendor_library_close(library);
  }
}

// Wrong arguments to a library show in its sums or are refused.
static void test_alterations_are_noticed(void **unused) {
  (void)unused;
  static const char *const alterations[] = {"transposed", "leading", "operands", "rows",
                                            "inner",      "type",    "beta"};
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t a = 0; a < sizeof alterations / sizeof alterations[0]; a++) {
      struct vendor_library *library = open_one(kind, false);
      bool noticed = false;
      setenv("FAKE_BLASLT_ALTER", alterations[a], 1);
      for (int s = 0; s < SIZES; s++) {
        char why[256];
        struct work work = work_of(&sizes[s], false);
        noticed = multiply(library, &work, why, sizeof why) || !is_right(&work) || noticed;
        end_work(&work);
      }
      unsetenv("FAKE_BLASLT_ALTER");
      vendor_library_close(library);
      if (!noticed)
        fail_msg("%s: %s goes unnoticed", stand_ins[kind].file.kind, alterations[a]);
    }
}

// ---- failures

static const struct opening {
  int kind;
  const char *variable, *value, *words;
} openings[] = {
    {VENDOR_CUBLASLT, "FAKE_BLASLT_VERSION", "110900",
     "cuBLASLt 11.9.0 is not a supported version, 12 and 13"},
    {VENDOR_CUBLASLT, "FAKE_BLASLT_VERSION", "140000",
     "cuBLASLt 14.0.0 is not a supported version"},
    {VENDOR_HIPBLASLT, "FAKE_BLASLT_VERSION", "500", "hipBLASLt 0.5.0 is not a supported version"},
    {VENDOR_HIPBLASLT, "FAKE_BLASLT_VERSION", "200000",
     "hipBLASLt 2.0.0 is not a supported version, 0.6 to 1"},
    {VENDOR_CUBLASLT, "FAKE_BLASLT_FAIL", "create", "cuBLASLt gives no handle (status 1)"},
    {VENDOR_HIPBLASLT, "FAKE_BLASLT_FAIL", "create", "hipBLASLt gives no handle (status 1)"},
    {VENDOR_CUBLASLT, "FAKE_BLASLT_FAIL", "prefer",
     "does not take the size of a workspace (status 7)"},
    {VENDOR_HIPBLASLT, "PERTOKEN_HIPBLASLT_LIBRARY", "/no/such", "PERTOKEN_HIPBLASLT_LIBRARY: "},
    {VENDOR_CUBLASLT, "PERTOKEN_CUBLASLT_LIBRARY", "",
     "libno-such-cublasLt.so.13 was not found; install it, or set PERTOKEN_CUBLASLT_LIBRARY to its "
     "path"},
};

static void test_not_opened(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
    const struct opening *opening = &openings[i];
    char why[256] = "";
    begin(NULL);
    setenv(opening->variable, opening->value, 1);
    assert_null(vendor_library_open((enum vendor_kind)opening->kind, &stand_ins[opening->kind].file,
                                    false, why, sizeof why));
    expect_fragment(why, opening->words);
    assert_int_equal(stand_ins[opening->kind].alive(), 0);
  }
}

static void test_function_missing(void **unused) {
  (void)unused;
  static const char *const words[] = {
      "this cuBLASLt lacks cublasLtMatmulPreferenceDestroy; install it",
      "this hipBLASLt lacks hipblasLtMatmulPreferenceDestroy; install it"};
  for (int kind = 0; kind < KINDS; kind++) {
    char why[256] = "";
    setenv(stand_ins[kind].file.variable, stand_ins[kind].path[1], 1);
    assert_null(
        vendor_library_open((enum vendor_kind)kind, &stand_ins[kind].file, false, why, sizeof why));
    assert_string_equal(why, words[kind]);
  }
}

static const struct failure {
  const char *variable, *value;
  struct vendor_size size;
  const char *words;
} failures[] = {
    {"FAKE_BLASLT_FAIL",
     "describe",
     {ELEMENT_BF16, 3, 80, 64},
     "does not take a product's description (status "},
    {"FAKE_BLASLT_FAIL",
     "choose",
     {ELEMENT_BF16, 3, 80, 64},
     "has no way to multiply 3 vectors by 80 x 64 in bf16"},
    {"FAKE_BLASLT_NO_WAY",
     "1",
     {ELEMENT_BF16, 3, 80, 64},
     "has no way to multiply 3 vectors by 80 x 64 in bf16 (status 0)"},
    {"FAKE_BLASLT_NO_WAY",
     "2",
     {ELEMENT_E4M3, 3, 80, 64},
     "has no way to multiply 3 vectors by 80 x 64 in e4m3"},
    {"FAKE_BLASLT_ALTER",
     "",
     {ELEMENT_E4M3, 3, 81, 64},
     "has no way to multiply 3 vectors by 81 x 64 in e4m3"},
    {"FAKE_BLASLT_WORKSPACE",
     "33554433",
     {ELEMENT_BF16, 3, 80, 64},
     "asks for 33554433 bytes of workspace, of which there are 33554432"},
    {"FAKE_BLASLT_FAIL", "multiply", {ELEMENT_BF16, 3, 80, 64}, "fails to multiply (status "},
};

static void test_failures(void **unused) {
  (void)unused;
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
      const struct failure *failure = &failures[i];
      char why[256] = "";
      begin(NULL);
      struct vendor_library *library = open_one(kind, false);
      struct work work = work_of(&failure->size, false);
      setenv(failure->variable, failure->value, 1);
      assert_int_equal(multiply(library, &work, why, sizeof why), -1);
      expect_fragment(why, failure->words);
      expect_fragment(why, vendor_library_name(library));
      begin(NULL);
      work.size = sizes[1]; // and the library can still be used
      end_work(&work);
      work = work_of(&sizes[1], false);
      assert_int_equal(multiply(library, &work, why, sizeof why), 0);
      assert_true(is_right(&work));
      end_work(&work);
      vendor_library_close(library);
      assert_int_equal(stand_ins[kind].alive(), 0);
    }
}

static void test_not_prepared(void **unused) {
  (void)unused;
  char why[256] = "";
  struct vendor_library *library = open_one(VENDOR_CUBLASLT, false);
  assert_int_equal(vendor_prepare(library, &sizes[1], why, sizeof why), 0);
  const struct vendor_product product = {.size = sizes[2]};
  assert_int_equal(vendor_multiply(library, &product, NULL, why, sizeof why), -1);
  assert_string_equal(why, "a product of this size was not prepared");
  vendor_library_close(library);
}

// Without a GPU it gives no handle, but all functions have been found by then; what it allocated is
// leaked.
static void test_real_cublaslt(void **unused) {
  (void)unused;
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  const struct library_file file = {
      .kind = "cuBLASLt",
      .names = {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
      .variable = "PERTOKEN_REAL_CUBLASLT",
      .install = "install it"};
  char why[512] = "";
  struct vendor_library *library =
      vendor_library_open(VENDOR_CUBLASLT, &file, false, why, sizeof why);
  if (!library && strstr(why, "was not found")) {
    print_message("%s\n", why);
    skip();
  }
  if (!library && !strstr(why, "cuBLASLt gives no handle"))
    fail_msg("%s", why);
  vendor_library_close(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_products, begin),
      cmocka_unit_test_setup(test_names, begin),
      cmocka_unit_test_setup(test_ways_are_kept, begin),
      cmocka_unit_test_setup(test_alterations_are_noticed, begin),
      cmocka_unit_test_setup(test_not_opened, begin),
      cmocka_unit_test_setup(test_function_missing, begin),
      cmocka_unit_test_setup(test_failures, begin),
      cmocka_unit_test_setup(test_not_prepared, begin),
      cmocka_unit_test_setup(test_real_cublaslt, begin),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
