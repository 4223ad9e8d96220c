#include "kernels/gpu/host/vendor_products.h"

#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/gpu/vendor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;

enum {
  SUCCESS = 0, // cublasStatus_t, hipblasStatus_t
  TYPE_F32 = 0,
  TYPE_BF16 = 14, // cudaDataType_t, hipDataType
  TYPE_E4M3 = 28,
  TYPE_E4M3_FNUZ = 1000, // HIP's alone
  WORKSPACE_BYTES = 1,   // of a preference, uint64_t
  MAX_WORDS = 12         // of 8 bytes, of what a heuristic returns
};

// Where the two libraries' numbers or layouts differ.
static const struct dialect {
  const char *prefix;
  int compute_f32;        // cublasComputeType_t, hipblasComputeType_t
  int transposed;         // cublasOperation_t, hipblasOperation_t
  int transpose_first;    // an attribute of a product, int32_t
  size_t algorithm_words; // of 8 bytes; behind them the workspace in bytes, and a status
  int oldest, newest;     // versions: the first supported, and the first one not supported
  int major_digits;       // what is left of a version number after dividing by these
  const char *versions;
} dialects[] = {
    [VENDOR_CUBLASLT] = {"cublasLt", 68, 1, 3, 8, 120000, 140000, 10000, "12 and 13"},
    [VENDOR_HIPBLASLT] = {"hipblasLt", 2, 112, 0, 3, 600, 200000, 100000, "0.6 to 1"},
};

struct functions {
  int (*create)(handle *library);
  int (*destroy)(handle library);
  void *version; // size_t (void), or int (handle, int *)
  int (*product_create)(handle *product, int compute_type, int scale_type);
  int (*product_destroy)(handle product);
  int (*product_set)(handle product, int attribute, const void *value, size_t bytes);
  int (*layout_create)(handle *layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*layout_destroy)(handle layout);
  int (*preference_create)(handle *preference);
  int (*preference_destroy)(handle preference);
  int (*preference_set)(handle preference, int attribute, const void *value, size_t bytes);
  int (*heuristic)(handle library, handle product, handle a, handle b, handle c, handle d,
                   handle preference, int asked, void *results, int *count);
  int (*multiply)(handle library, handle product, const void *alpha, const void *a, handle a_layout,
                  const void *b, handle b_layout, const void *beta, const void *c, handle c_layout,
                  void *d, handle d_layout, const void *algorithm, void *workspace,
                  size_t workspace_bytes, void *stream);
};

static const struct library_symbol symbols[] = {
    {offsetof(struct functions, create), "Create"},
    {offsetof(struct functions, destroy), "Destroy"},
    {offsetof(struct functions, version), "GetVersion"},
    {offsetof(struct functions, product_create), "MatmulDescCreate"},
    {offsetof(struct functions, product_destroy), "MatmulDescDestroy"},
    {offsetof(struct functions, product_set), "MatmulDescSetAttribute"},
    {offsetof(struct functions, layout_create), "MatrixLayoutCreate"},
    {offsetof(struct functions, layout_destroy), "MatrixLayoutDestroy"},
    {offsetof(struct functions, preference_create), "MatmulPreferenceCreate"},
    {offsetof(struct functions, preference_destroy), "MatmulPreferenceDestroy"},
    {offsetof(struct functions, preference_set), "MatmulPreferenceSetAttribute"},
    {offsetof(struct functions, heuristic), "MatmulAlgoGetHeuristic"},
    {offsetof(struct functions, multiply), "Matmul"},
};

// How the library multiplies a size.
struct way {
  struct way *next;
  struct vendor_size size;
  handle product, weights, activations, out;
  uint64_t algorithm[MAX_WORDS];
};

struct vendor_library {
  struct functions call;
  const struct dialect *dialect;
  bool fnuz;
  char name[48];
  handle library, preference;
  struct way *ways;
};

const char *vendor_library_name(const struct vendor_library *library) {
  return library->name;
}

// ---- ways to multiply

static void free_way(const struct functions *call, struct way *way) {
  handle const layouts[] = {way->weights, way->activations, way->out};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
    if (layouts[i])
      call->layout_destroy(layouts[i]);
  if (way->product)
    call->product_destroy(way->product);
  free(way);
}

// The library's columns are our rows.
static int describe(const struct vendor_library *library, struct way *way) {
  const struct functions *call = &library->call;
  const struct vendor_size *size = &way->size;
  const uint64_t inner = (uint64_t)size->stride, rows = (uint64_t)size->rows;
  const uint64_t vectors = (uint64_t)size->vectors;
  const int32_t transposed = library->dialect->transposed;
  const int type = size->element == ELEMENT_BF16 ? TYPE_BF16
                   : library->fnuz               ? TYPE_E4M3_FNUZ
                                                 : TYPE_E4M3;
  int status = call->product_create(&way->product, library->dialect->compute_f32, TYPE_F32);
  if (!status)
    status = call->product_set(way->product, library->dialect->transpose_first, &transposed,
                               sizeof transposed);
  if (!status)
    status = call->layout_create(&way->weights, type, inner, rows, (int64_t)inner);
  if (!status)
    status = call->layout_create(&way->activations, type, inner, vectors, (int64_t)inner);
  return status ? status : call->layout_create(&way->out, TYPE_F32, rows, vectors, (int64_t)rows);
}

// The heuristic lists first what it expects to be fastest.
static int choose(const struct vendor_library *library, struct way *way, char *why,
                  size_t why_size) {
  const size_t words = library->dialect->algorithm_words;
  int count = 0, state = SUCCESS;
  const int status =
      library->call.heuristic(library->library, way->product, way->weights, way->activations,
                              way->out, way->out, library->preference, 1, way->algorithm, &count);
  memcpy(&state, &way->algorithm[words + 1], sizeof state);
  if (status || count < 1 || state) {
    snprintf(why, why_size, "%s has no way to multiply %d vectors by %d x %d in %s (status %d)",
             library->name, way->size.vectors, way->size.rows, way->size.stride,
             element_format(way->size.element)->name, status ? status : state);
    return -1;
  }
  if (way->algorithm[words] <= VENDOR_WORKSPACE)
    return 0;
  snprintf(why, why_size, "%s asks for %llu bytes of workspace, of which there are %zu",
           library->name, (unsigned long long)way->algorithm[words], VENDOR_WORKSPACE);
  return -1;
}

static const struct way *find_way(const struct vendor_library *library,
                                  const struct vendor_size *size) {
  const struct way *way = library->ways;
  while (way && (way->size.element != size->element || way->size.vectors != size->vectors ||
                 way->size.rows != size->rows || way->size.stride != size->stride))
    way = way->next;
  return way;
}

int vendor_prepare(struct vendor_library *library, const struct vendor_size *size, char *why,
                   size_t why_size) {
  if (find_way(library, size))
    return 0;
  struct way *way = calloc(1, sizeof *way);
  if (!way) {
    snprintf(why, why_size, "the host is out of memory");
    return -1;
  }
  way->size = *size;
  const int status = describe(library, way);
  if (status)
    snprintf(why, why_size, "%s does not take a product's description (status %d)", library->name,
             status);
  if (status || choose(library, way, why, why_size)) {
    free_way(&library->call, way);
    return -1;
  }
  way->next = library->ways;
  library->ways = way;
  return 0;
}

int vendor_multiply(const struct vendor_library *library, const struct vendor_product *product,
                    void *stream, char *why, size_t why_size) {
  static const float one = 1, zero = 0;
  const struct way *way = find_way(library, &product->size);
  if (!way) {
    snprintf(why, why_size, "a product of this size was not prepared");
    return -1;
  }
  const int status = library->call.multiply(
      library->library, way->product, &one, product->weights, way->weights, product->activations,
      way->activations, &zero, product->out, way->out, product->out, way->out, way->algorithm,
      product->workspace, VENDOR_WORKSPACE, stream);
  if (status)
    snprintf(why, why_size, "%s fails to multiply (status %d)", library->name, status);
  return status ? -1 : 0;
}

// ---- the library itself

static int version_of(const struct vendor_library *library) {
  int version = 0;
  if (library->dialect == &dialects[VENDOR_HIPBLASLT]) {
    int (*tell)(handle, int *);
    memcpy(&tell, &library->call.version, sizeof tell);
    return tell(library->library, &version) ? 0 : version;
  }
  size_t (*tell)(void);
  memcpy(&tell, &library->call.version, sizeof tell);
  return (int)tell();
}

static int check_version(struct vendor_library *library, const char *kind, char *why,
                         size_t why_size) {
  const struct dialect *dialect = library->dialect;
  const int version = version_of(library);
  snprintf(library->name, sizeof library->name, "%s %d.%d.%d", kind,
           version / dialect->major_digits, version % dialect->major_digits / 100, version % 100);
  if (version >= dialect->oldest && version < dialect->newest)
    return 0;
  snprintf(why, why_size, "%s is not a supported version, %s", library->name, dialect->versions);
  return -1;
}

static int prefer_workspace(struct vendor_library *library, char *why, size_t why_size) {
  const uint64_t bytes = VENDOR_WORKSPACE;
  int status = library->call.preference_create(&library->preference);
  if (!status)
    status =
        library->call.preference_set(library->preference, WORKSPACE_BYTES, &bytes, sizeof bytes);
  if (status)
    snprintf(why, why_size, "%s does not take the size of a workspace (status %d)", library->name,
             status);
  return status ? -1 : 0;
}

struct vendor_library *vendor_library_open(enum vendor_kind kind, const struct library_file *file,
                                           bool fnuz, char *why, size_t why_size) {
  void *loaded = library_file_open(file, why, why_size);
  if (!loaded)
    return NULL;
  struct vendor_library *library = calloc(1, sizeof *library);
  if (!library) {
    snprintf(why, why_size, "the host is out of memory");
    return NULL;
  }
  library->dialect = &dialects[kind];
  library->fnuz = fnuz;
  if (library_file_find(file, loaded, library->dialect->prefix, symbols,
                        sizeof symbols / sizeof symbols[0], &library->call, why, why_size))
    goto fail;
  const int status = library->call.create(&library->library);
  if (status) {
    library->library = NULL;
    snprintf(why, why_size, "%s gives no handle (status %d)", file->kind, status);
    goto fail;
  }
  if (check_version(library, file->kind, why, why_size) || prefer_workspace(library, why, why_size))
    goto fail;
  return library;

fail:
  vendor_library_close(library);
  return NULL;
}

void vendor_library_close(struct vendor_library *library) {
  if (!library)
    return;
  for (struct way *way = library->ways, *next; way; way = next) {
    next = way->next;
    free_way(&library->call, way);
  }
  if (library->preference)
    library->call.preference_destroy(library->preference);
  if (library->library)
    library->call.destroy(library->library);
  free(library);
}
