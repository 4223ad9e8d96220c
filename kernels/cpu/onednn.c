#include "kernels/cpu/onednn.h"

#include "kernels/weights.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

// The part of oneDNN's C interface used here, as dnnl.h and dnnl_types.h of 2.6.3 and 3.7 declare
// it. Handles are pointers to the library's own structures. In version 2, descriptors are
// structures of 696 and 2800 bytes that callers allocate; in version 3 they are handles too.
typedef void *handle;
typedef int64_t dimensions[12];

enum { STATUS_SUCCESS, ENGINE_CPU = 1, TYPE_BF16 = 2, TYPE_F32 = 3, SCRATCHPAD_USER = 1 };
enum {
  QUERY_WORDS = 8,
  QUERY_SCRATCHPAD = 136,
  STREAM_DEFAULT = 1,
  RUNTIME_NONE_OF_ITS_OWN = 1 | 2
};
enum { ARG_IN = 1, ARG_OUT = 17, ARG_WEIGHTS = 33, ARG_SCRATCHPAD = 80 };
enum { TAG_ROWS = 3, TAG_BLOCKS_OF_2 = 380, TAG_BLOCKS_OF_3 = 384 }; // ab; BA16a64b2a in either
enum { DESCRIPTOR_ROOM = 1024, MATMUL_ROOM = 4096 };

struct library_version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct argument {
  int name;
  handle memory;
};

struct functions {
  const struct library_version *(*version)(void);
  int (*engine_create)(handle *engine, int kind, size_t index);
  int (*engine_destroy)(handle engine);
  int (*stream_create)(handle *stream, handle engine, unsigned flags);
  int (*stream_wait)(handle stream);
  int (*stream_destroy)(handle stream);
  int (*memory_create)(handle *memory, const void *descriptor, handle engine, void *data);
  int (*memory_destroy)(handle memory);
  size_t (*descriptor_size)(const void *descriptor);
  int (*attributes_create)(handle *attributes);
  int (*attributes_scratchpad)(handle attributes, int mode);
  int (*attributes_destroy)(handle attributes);
  const void *(*plan_query)(handle plan, int what, int index);
  int (*plan_tell)(handle plan, int what, int index, void *out);
  int (*plan_destroy)(handle plan);
  int (*primitive_create)(handle *primitive, handle plan);
  int (*primitive_destroy)(handle primitive);
  int (*primitive_execute)(handle primitive, handle stream, int count, const struct argument *);
  // Version 2
  int (*descriptor_tag_2)(void *, int count, const int64_t *, int type, int tag);
  int (*matmul_2)(void *, const void *in, const void *weights, const void *bias, const void *out);
  int (*plan_create_2)(handle *plan, const void *, handle attributes, handle engine, handle);
  // Version 3
  int (*descriptor_tag_3)(handle *, int count, const int64_t *, int type, int tag);
  int (*descriptor_destroy_3)(handle);
  int (*plan_create_3)(handle *plan, handle engine, const void *in, const void *weights,
                       const void *bias, const void *out, handle attributes);
};

// Which versions have the symbol: both, or one.
static const struct symbol {
  const char *name;
  size_t offset;
  int major;
} symbols[] = {
    {"dnnl_version", offsetof(struct functions, version), 0},
    {"dnnl_engine_create", offsetof(struct functions, engine_create), 0},
    {"dnnl_engine_destroy", offsetof(struct functions, engine_destroy), 0},
    {"dnnl_stream_create", offsetof(struct functions, stream_create), 0},
    {"dnnl_stream_wait", offsetof(struct functions, stream_wait), 0},
    {"dnnl_stream_destroy", offsetof(struct functions, stream_destroy), 0},
    {"dnnl_memory_create", offsetof(struct functions, memory_create), 0},
    {"dnnl_memory_destroy", offsetof(struct functions, memory_destroy), 0},
    {"dnnl_memory_desc_get_size", offsetof(struct functions, descriptor_size), 0},
    {"dnnl_primitive_attr_create", offsetof(struct functions, attributes_create), 0},
    {"dnnl_primitive_attr_set_scratchpad_mode", offsetof(struct functions, attributes_scratchpad),
     0},
    {"dnnl_primitive_attr_destroy", offsetof(struct functions, attributes_destroy), 0},
    {"dnnl_primitive_desc_query_md", offsetof(struct functions, plan_query), 0},
    {"dnnl_primitive_desc_query", offsetof(struct functions, plan_tell), 0},
    {"dnnl_primitive_desc_destroy", offsetof(struct functions, plan_destroy), 0},
    {"dnnl_primitive_create", offsetof(struct functions, primitive_create), 0},
    {"dnnl_primitive_destroy", offsetof(struct functions, primitive_destroy), 0},
    {"dnnl_primitive_execute", offsetof(struct functions, primitive_execute), 0},
    {"dnnl_memory_desc_init_by_tag", offsetof(struct functions, descriptor_tag_2), 2},
    {"dnnl_matmul_desc_init", offsetof(struct functions, matmul_2), 2},
    {"dnnl_primitive_desc_create", offsetof(struct functions, plan_create_2), 2},
    {"dnnl_memory_desc_create_with_tag", offsetof(struct functions, descriptor_tag_3), 3},
    {"dnnl_memory_desc_destroy", offsetof(struct functions, descriptor_destroy_3), 3},
    {"dnnl_matmul_primitive_desc_create", offsetof(struct functions, plan_create_3), 3},
};

struct descriptor {
  handle made; // version 3
  _Alignas(16) unsigned char room[DESCRIPTOR_ROOM];
};

struct onednn_product {
  struct onednn_product *next;
  const struct onednn *library;
  struct onednn_size size;
  struct descriptor in, weights, out;
  handle plan, primitive;
  const void *scratchpad; // its descriptor
};

struct onednn {
  struct functions call;
  int major;
  char name[32];
  handle engine, attributes;
  struct onednn_product *products;
};

size_t onednn_weight_bytes(size_t inner, size_t outputs) {
  return (outputs + ONEDNN_ROWS - 1) / ONEDNN_ROWS * ONEDNN_ROWS * inner * 2;
}

const char *onednn_name(const struct onednn *library) {
  return library->name;
}

// ---- descriptors, in the terms of either version

static const void *descriptor(const struct onednn *library, const struct descriptor *described) {
  return library->major == 2 ? (const void *)described->room : described->made;
}

static int describe(const struct onednn *library, size_t rows, size_t columns, int type, int tag,
                    struct descriptor *out) {
  const dimensions sizes = {(int64_t)rows, (int64_t)columns};
  return library->major == 2 ? library->call.descriptor_tag_2(out->room, 2, sizes, type, tag)
                             : library->call.descriptor_tag_3(&out->made, 2, sizes, type, tag);
}

static int describe_all(struct onednn_product *product) {
  const struct onednn *library = product->library;
  const struct onednn_size *size = &product->size;
  const int blocks = library->major == 2 ? TAG_BLOCKS_OF_2 : TAG_BLOCKS_OF_3;
  int status = describe(library, size->vectors, size->inner, TYPE_BF16, TAG_ROWS, &product->in);
  if (!status)
    status = describe(library, size->inner, size->outputs, TYPE_BF16, blocks, &product->weights);
  if (!status)
    status = describe(library, size->vectors, size->outputs, TYPE_F32, TAG_ROWS, &product->out);
  return status;
}

static int plan_product(struct onednn_product *product) {
  const struct onednn *library = product->library;
  const void *in = descriptor(library, &product->in), *out = descriptor(library, &product->out);
  const void *weights = descriptor(library, &product->weights);
  if (library->major == 3)
    return library->call.plan_create_3(&product->plan, library->engine, in, weights, NULL, out,
                                       library->attributes);
  _Alignas(16) unsigned char matmul[MATMUL_ROOM] = {0};
  const int status = library->call.matmul_2(matmul, in, weights, NULL, out);
  return status ? status
                : library->call.plan_create_2(&product->plan, matmul, library->attributes,
                                              library->engine, NULL);
}

// ---- products

static void free_product(struct onednn_product *product) {
  const struct functions *call = &product->library->call;
  const handle made[] = {product->in.made, product->weights.made, product->out.made};
  if (product->primitive)
    call->primitive_destroy(product->primitive);
  if (product->plan)
    call->plan_destroy(product->plan);
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
    if (made[i])
      call->descriptor_destroy_3(made[i]);
  free(product);
}

// "brg:avx512_core_bf16", "jit:...", "gemm:..."; "ref:any" is the fallback for everything else.
static bool is_slow(const struct onednn_product *product) {
  const char *words = NULL;
  return product->library->call.plan_tell(product->plan, QUERY_WORDS, 0, &words) || !words ||
         strncmp(words, "ref", 3) == 0;
}

static struct onednn_product *make_product(const struct onednn *library,
                                           const struct onednn_size *size) {
  struct onednn_product *product = calloc(1, sizeof *product);
  if (!product)
    return NULL;
  product->library = library;
  product->size = *size;
  if (describe_all(product) || plan_product(product) || is_slow(product) ||
      library->call.primitive_create(&product->primitive, product->plan))
    goto fail;
  product->scratchpad = library->call.plan_query(product->plan, QUERY_SCRATCHPAD, 0);
  return product;

fail:
  free_product(product);
  return NULL;
}

static bool is_same(const struct onednn_size *a, const struct onednn_size *b) {
  return a->vectors == b->vectors && a->inner == b->inner && a->outputs == b->outputs;
}

// The library plans for the number of threads that OpenMP would start now.
const struct onednn_product *onednn_product(struct onednn *library,
                                            const struct onednn_size *size) {
  for (struct onednn_product *product = library->products; product; product = product->next)
    if (is_same(&product->size, size))
      return product;
#ifdef _OPENMP
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
#endif
  struct onednn_product *product = make_product(library, size);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  if (product) {
    product->next = library->products;
    library->products = product;
  }
  return product;
}

int onednn_multiply(const struct onednn_product *product, const void *in, const void *weights,
                    float *out) {
  const struct onednn *library = product->library;
  const struct functions *call = &library->call;
  const size_t room = product->scratchpad ? call->descriptor_size(product->scratchpad) : 0;
  void *scratch = aligned_alloc(64, (room + 127) / 64 * 64);
  handle stream = NULL;
  struct argument arguments[] = {{ARG_IN, 0}, {ARG_WEIGHTS, 0}, {ARG_OUT, 0}, {ARG_SCRATCHPAD, 0}};
  const void *descriptors[] = {descriptor(library, &product->in),
                               descriptor(library, &product->weights),
                               descriptor(library, &product->out), product->scratchpad};
  void *data[] = {(void *)(uintptr_t)in, (void *)(uintptr_t)weights, out, scratch};
  const int count = room ? 4 : 3;
  int status = scratch ? call->stream_create(&stream, library->engine, STREAM_DEFAULT) : -1;
  for (int i = 0; i < count && !status; i++)
    status = call->memory_create(&arguments[i].memory, descriptors[i], library->engine, data[i]);
  if (!status)
    status = call->primitive_execute(product->primitive, stream, count, arguments);
  if (!status)
    status = call->stream_wait(stream);
  for (int i = 0; i < count; i++)
    if (arguments[i].memory)
      call->memory_destroy(arguments[i].memory);
  if (stream)
    call->stream_destroy(stream);
  free(scratch);
  return status ? -1 : 0;
}

// ---- the library itself

// A small product whose sums are exact: 3 vectors, 64 columns, 80 rows.
static bool multiplies_as_told(struct onednn *library) {
  enum { VECTORS = 3, INNER = 64, OUTPUTS = 80, BLOCKS = 2 };
  static const struct onednn_size size = {VECTORS, INNER, OUTPUTS};
  _Alignas(64) uint16_t in[VECTORS * INNER], weights[BLOCKS * ONEDNN_ROWS * INNER] = {0};
  _Alignas(64) float out[VECTORS * OUTPUTS];
  float wanted[VECTORS * OUTPUTS] = {0};
  for (size_t v = 0; v < VECTORS; v++)
    for (size_t c = 0; c < INNER; c++)
      in[v * INNER + c] = bf16_from_float((float)((v * 3 + c) % 7) - 3);
  for (size_t row = 0; row < OUTPUTS; row++)
    for (size_t c = 0; c < INNER; c++) {
      const float weight = (float)((row * 7 + c * 5 + row * c) % 5) - 2;
      weights[row / ONEDNN_ROWS * ONEDNN_ROWS * INNER + c / 2 * 2 * ONEDNN_ROWS +
              row % ONEDNN_ROWS * 2 + c % 2] = bf16_from_float(weight);
      for (size_t v = 0; v < VECTORS; v++)
        wanted[v * OUTPUTS + row] += weight * float_from_bf16(in[v * INNER + c]);
    }
  const struct onednn_product *product = onednn_product(library, &size);
  bool same = product && !onednn_multiply(product, in, weights, out);
  for (size_t i = 0; i < sizeof out / sizeof out[0]; i++)
    same = same && out[i] == wanted[i];
  return same;
}

// The version must be known before its functions are.
static int take_functions(void *loaded, struct onednn *library, char *why, size_t why_size) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *address = dlsym(loaded, symbols[i].name);
    memcpy((char *)&library->call + symbols[i].offset, &address, sizeof address);
    if (i == 0 && address) {
      const struct library_version *version = library->call.version();
      library->major = version->major;
      snprintf(library->name, sizeof library->name, "oneDNN %d.%d.%d", version->major,
               version->minor, version->patch);
      if (version->major != 3 && (version->major != 2 || version->minor < 6)) {
        snprintf(why, why_size, "%s is not a supported version, 2.6 to 3", library->name);
        return -1;
      }
      if (version->cpu_runtime & ~(unsigned)RUNTIME_NONE_OF_ITS_OWN) {
        snprintf(why, why_size, "%s was built with threads other than OpenMP's", library->name);
        return -1;
      }
    }
    if (!address && (symbols[i].major == 0 || symbols[i].major == library->major)) {
      snprintf(why, why_size, "%s has no %s", i ? library->name : "the library", symbols[i].name);
      return -1;
    }
  }
  return 0;
}

// A library is never unloaded: OpenMP's threads may still be in it.
static struct onednn *open_loaded(void *loaded, char *why, size_t why_size) {
  struct onednn *library = calloc(1, sizeof *library);
  if (!library) {
    snprintf(why, why_size, "out of memory");
    return NULL;
  }
  if (take_functions(loaded, library, why, why_size))
    goto fail;
  snprintf(why, why_size, "%s does not multiply bf16 as requested", library->name);
  if (library->call.engine_create(&library->engine, ENGINE_CPU, 0) ||
      library->call.attributes_create(&library->attributes) ||
      library->call.attributes_scratchpad(library->attributes, SCRATCHPAD_USER) ||
      !multiplies_as_told(library))
    goto fail;
  *why = 0;
  return library;

fail:
  onednn_close(library);
  return NULL;
}

static struct onednn *open_file(const char *file, char *why, size_t why_size) {
  void *loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (loaded)
    return open_loaded(loaded, why, why_size);
  snprintf(why, why_size, "%s", dlerror());
  return NULL;
}

// The reason is that of the first one that was found.
struct onednn *onednn_open(const char *file, char *why, size_t why_size) {
  static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"};
  char words[128];
  bool found = false;
  if (file)
    return open_file(file, why, why_size);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *loaded = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
      continue;
    struct onednn *library = open_loaded(loaded, words, sizeof words);
    if (!library && !found)
      snprintf(why, why_size, "%s", words);
    found = true;
    if (!library)
      continue;
    *why = 0;
    return library;
  }
  if (!found)
    snprintf(why, why_size, "no oneDNN (libdnnl.so.2 or .3) was found");
  return NULL;
}

void onednn_close(struct onednn *library) {
  if (!library)
    return;
  for (struct onednn_product *product = library->products, *next; product; product = next) {
    next = product->next;
    free_product(product);
  }
  if (library->attributes)
    library->call.attributes_destroy(library->attributes);
  if (library->engine)
    library->call.engine_destroy(library->engine);
  free(library);
}
