// A cuBLASLt (with CUDA) or a hipBLASLt for tests, which multiplies in host memory, immediately:
// matrices are stored by columns, `leading` elements apart, and D = alpha op(A) op(B) + beta C. It
// refuses what the real ones refuse: matrices whose sizes do not match, a leading dimension below
// the number of rows, attributes that are unknown or of another size, an algorithm that no
// heuristic returned for this product, a workspace that is too small, and E4M3 in forms other than
// cuBLASLt's: A transposed, B not, both multiples of 16 elements.
//
// Environment, read when needed:
//   FAKE_BLASLT_VERSION    the version number of the library: by default 13.1.0's or 1.0.0's
//   FAKE_BLASLT_FAIL       "create", "describe", "prefer", "choose", "multiply": that call fails
//   FAKE_BLASLT_FAIL_AT    n: the n-th requested product fails, from 1
//   FAKE_BLASLT_NO_WAY     1: the heuristic finds nothing; 2: something that cannot be used
//   FAKE_BLASLT_WORKSPACE  bytes that an algorithm needs
//   FAKE_BLASLT_ALTER      an argument that is misread: "transposed", "leading", "operands",
//                         "rows", "inner", "type", "beta"
// MISSING leaves out a function.
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUDA
#define API(name) cublasLt##name
enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { COMPUTE_32F = 68, OP_N = 0, OP_T = 1, TRANSPOSE_A = 3, TRANSPOSE_B = 4, VERSION = 130100 };
#define ALGORITHM_BYTES 64
#else
#define API(name)       hipblasLt##name
enum { NOT_INITIALIZED = 1, INVALID_VALUE = 3, EXECUTION_FAILED = 5, NOT_SUPPORTED = 7 };
enum {
  COMPUTE_32F = 2,
  OP_N = 111,
  OP_T = 112,
  TRANSPOSE_A = 0,
  TRANSPOSE_B = 1,
  VERSION = 100000
};
#define ALGORITHM_BYTES 24
#endif

enum { SUCCESS = 0, R_32F = 0, R_16BF = 14, R_8F_E4M3 = 28, R_8F_E4M3_FNUZ = 1000 };
enum { MAX_WORKSPACE_BYTES = 1, LIBRARY = 0x5A17 };

struct product {
  int compute_type, scale_type;
  int32_t operation[2]; // on A, on B
};

struct layout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
};

struct preference {
  uint64_t workspace;
};

struct algorithm {
  uint64_t m, n, k;
};

struct result {
  _Alignas(8) unsigned char algorithm[ALGORITHM_BYTES];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

static atomic_int alive, heuristics, type; // of what was multiplied last
static atomic_long products, attempts;

int fake_blaslt_alive(void) {
  return alive;
}

int fake_blaslt_type(void) {
  return type;
}

long fake_blaslt_products(void) {
  return products;
}

long fake_blaslt_attempts(void) {
  return attempts;
}

int fake_blaslt_heuristics(void) {
  return heuristics;
}

static bool told(const char *name, const char *what) {
  const char *text = getenv(name);
  return text && !strcmp(text, what);
}

static bool fails(const char *call) {
  return told("FAKE_BLASLT_FAIL", call);
}

static bool altered(const char *what) {
  return told("FAKE_BLASLT_ALTER", what);
}

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : otherwise;
}

static void *create(size_t bytes) {
  alive++;
  return calloc(1, bytes);
}

static int destroy(void *object) {
  alive--;
  free(object);
  return SUCCESS;
}

// ---- handles

int API(Create)(void **library) {
  if (fails("create"))
    return NOT_INITIALIZED;
  *library = create(sizeof(int));
  *(int *)*library = LIBRARY;
  return SUCCESS;
}

int API(Destroy)(void *library) {
  return destroy(library);
}

#ifdef CUDA
size_t cublasLtGetVersion(void) {
  return (size_t)setting("FAKE_BLASLT_VERSION", VERSION);
}
#else
int hipblasLtGetVersion(void *library, int *version) {
  *version = (int)setting("FAKE_BLASLT_VERSION", VERSION);
  return *(int *)library == LIBRARY ? SUCCESS : NOT_INITIALIZED;
}
#endif

int API(MatmulDescCreate)(void **out, int compute_type, int scale_type) {
  if (fails("describe"))
    return NOT_SUPPORTED;
  struct product *product = create(sizeof *product);
  *product = (struct product){compute_type, scale_type, {OP_N, OP_N}};
  *out = product;
  return SUCCESS;
}

int API(MatmulDescDestroy)(void *product) {
  return destroy(product);
}

int API(MatmulDescSetAttribute)(void *product, int attribute, const void *value, size_t bytes) {
  int32_t operation;
  if ((attribute != TRANSPOSE_A && attribute != TRANSPOSE_B) || bytes != sizeof operation)
    return INVALID_VALUE;
  memcpy(&operation, value, sizeof operation);
  if (operation != OP_N && operation != OP_T)
    return INVALID_VALUE;
  ((struct product *)product)->operation[attribute == TRANSPOSE_B] = operation;
  return SUCCESS;
}

int API(MatrixLayoutCreate)(void **out, int type, uint64_t rows, uint64_t columns,
                            int64_t leading) {
  struct layout *layout = create(sizeof *layout);
  *layout = (struct layout){type, rows, columns, leading};
  *out = layout;
  return SUCCESS;
}

int API(MatrixLayoutDestroy)(void *layout) {
  return destroy(layout);
}

int API(MatmulPreferenceCreate)(void **out) {
  *out = create(sizeof(struct preference));
  return SUCCESS;
}

#ifndef MISSING
int API(MatmulPreferenceDestroy)(void *preference) {
  return destroy(preference);
}
#endif

int API(MatmulPreferenceSetAttribute)(void *preference, int attribute, const void *value,
                                      size_t bytes) {
  if (fails("prefer") || attribute != MAX_WORKSPACE_BYTES || bytes != sizeof(uint64_t))
    return INVALID_VALUE;
  memcpy(&((struct preference *)preference)->workspace, value, bytes);
  return SUCCESS;
}

// ---- products

// As the library takes them: what it was told, or altered.
struct problem {
  struct layout a, b, c, d;
  bool transposed[2];
  struct algorithm size;
};

static void alter(struct problem *problem) {
  if (altered("transposed"))
    problem->transposed[0] = !problem->transposed[0];
  if (altered("leading"))
    problem->a.leading++;
  if (altered("rows"))
    problem->d.leading++;
  if (altered("inner"))
    problem->a.rows = problem->b.rows -= 1;
  if (altered("operands")) {
    const struct layout a = problem->a;
    problem->a = problem->b;
    problem->b = a;
  }
  if (altered("type") && problem->a.type != R_16BF)
    problem->a.type = problem->a.type == R_8F_E4M3 ? R_8F_E4M3_FNUZ : R_8F_E4M3;
}

static bool is_known(const struct layout *layout) {
  const bool fnuz = layout->type == R_8F_E4M3_FNUZ;
#ifdef CUDA
  if (fnuz)
    return false;
#endif
  return layout->rows > 0 && layout->columns > 0 && layout->leading >= (int64_t)layout->rows &&
         (layout->type == R_32F || layout->type == R_16BF || layout->type == R_8F_E4M3 || fnuz);
}

static int take(const struct product *product, const struct layout *a, const struct layout *b,
                const struct layout *c, const struct layout *d, struct problem *out) {
  *out = (struct problem){
      .a = *a,
      .b = *b,
      .c = *c,
      .d = *d,
      .transposed = {product->operation[0] == OP_T, product->operation[1] == OP_T}};
  alter(out);
  const bool *t = out->transposed;
  const uint64_t inner = t[1] ? out->b.columns : out->b.rows;
  out->size = (struct algorithm){.m = t[0] ? out->a.columns : out->a.rows,
                                 .n = t[1] ? out->b.rows : out->b.columns,
                                 .k = t[0] ? out->a.rows : out->a.columns};
  const struct algorithm *size = &out->size;
  if (!is_known(&out->a) || !is_known(&out->b) || !is_known(&out->c) || !is_known(&out->d) ||
      inner != size->k || d->rows != size->m || d->columns != size->n || c->rows != size->m ||
      c->columns != size->n || out->a.type != out->b.type || c->type != R_32F || d->type != R_32F)
    return INVALID_VALUE;
  if (product->compute_type != COMPUTE_32F || product->scale_type != R_32F || a->type == R_32F)
    return NOT_SUPPORTED;
  const bool small = out->a.type != R_16BF;
  return small && (!t[0] || t[1] || size->m % 16 || size->k % 16) ? NOT_SUPPORTED : SUCCESS;
}

int API(MatmulAlgoGetHeuristic)(void *library, void *product, void *a, void *b, void *c, void *d,
                                void *preference, int asked, void *results, int *count) {
  struct problem problem;
  *count = 0;
  heuristics++;
  if (*(int *)library != LIBRARY)
    return NOT_INITIALIZED;
  if (asked < 1 || fails("choose"))
    return INVALID_VALUE;
  const int status = take(product, a, b, c, d, &problem);
  const long none = setting("FAKE_BLASLT_NO_WAY", 0);
  if (status || none == 1)
    return status ? status : SUCCESS;
  struct result *result = results;
  *result = (struct result){.workspace = (size_t)setting("FAKE_BLASLT_WORKSPACE", 4096),
                            .state = none == 2 ? NOT_SUPPORTED : SUCCESS};
  (void)preference;
  memcpy(result->algorithm, &problem.size, sizeof problem.size);
  *count = 1;
  return SUCCESS;
}

static double small_float(unsigned code, bool fnuz) {
  const int exponent = code >> 3 & 15, fraction = code & 7, bias = fnuz ? 8 : 7;
  const double value =
      exponent ? ldexp(8 + fraction, exponent - bias - 3) : ldexp(fraction, 1 - bias - 3);
  if (fnuz ? code == 0x80 : (code & 0x7F) == 0x7F)
    return NAN;
  return code & 0x80 ? -value : value;
}

static double element(const void *data, int type, size_t i) {
  if (type == R_16BF) {
    const uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
  }
  return small_float(((const unsigned char *)data)[i], type == R_8F_E4M3_FNUZ);
}

static double at(const void *data, const struct layout *layout, bool transposed, uint64_t row,
                 uint64_t column) {
  const uint64_t leading = (uint64_t)layout->leading;
  return element(data, layout->type, transposed ? column + row * leading : row + column * leading);
}

static void multiply(const struct problem *problem, float alpha, const void *a, const void *b,
                     float beta, const float *c, float *d) {
  for (uint64_t n = 0; n < problem->size.n; n++)
    for (uint64_t m = 0; m < problem->size.m; m++) {
      double sum = 0;
      for (uint64_t k = 0; k < problem->size.k; k++)
        sum += at(a, &problem->a, problem->transposed[0], m, k) *
               at(b, &problem->b, problem->transposed[1], k, n);
      const float before = beta != 0 ? beta * c[m + n * (uint64_t)problem->c.leading] : 0;
      d[m + n * (uint64_t)problem->d.leading] = alpha * (float)sum + before;
    }
}

int API(Matmul)(void *library, void *product, const void *alpha, const void *a, void *a_layout,
                const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                void *d, void *d_layout, const void *algorithm, void *workspace,
                size_t workspace_bytes, void *stream) {
  struct problem problem;
  (void)stream;
  if (*(int *)library != LIBRARY)
    return NOT_INITIALIZED;
  if (++attempts == setting("FAKE_BLASLT_FAIL_AT", 0) || fails("multiply"))
    return EXECUTION_FAILED;
  const int status = take(product, a_layout, b_layout, c_layout, d_layout, &problem);
  if (status)
    return status;
  if (memcmp(algorithm, &problem.size, sizeof problem.size) != 0 || !a || !b || !d || !workspace ||
      workspace_bytes < (size_t)setting("FAKE_BLASLT_WORKSPACE", 4096))
    return INVALID_VALUE;
  products++;
  type = problem.a.type;
  multiply(&problem, *(const float *)alpha, a, b, altered("beta") ? 1 : *(const float *)beta, c, d);
  return SUCCESS;
}
