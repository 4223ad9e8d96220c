// The shipped tables: sound in themselves, and refused when they are not.
#include "model/catalog.h"
#include "reports/catalog_view.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
  struct arena arena;
  struct diagnostics diagnostics;
  struct catalog catalog;
};

static struct fixture *open_catalog(struct fixture *fixture, const char *directory) {
  *fixture = (struct fixture){0};
  fixture->diagnostics.arena = &fixture->arena;
  assert_int_equal(
      catalog_open(&fixture->catalog, directory, &fixture->arena, &fixture->diagnostics), 0);
  return fixture;
}

static const struct table *load(struct fixture *f, enum catalog_table which) {
  const struct table *table = catalog_table(&f->catalog, which);
  if (!table) {
    diagnostics_print(&f->diagnostics, stdout, false);
    fail_msg("%s has errors", catalog_table_names[which]);
  }
  return table;
}

static const char *cell(const struct table *table, size_t row, const char *column) {
  return table_cell(table, row, column);
}

// 0 for a blank cell.
static double number(const struct table *table, size_t row, const char *column) {
  double value = 0;
  table_number(table, row, column, &value);
  return value;
}

static const struct {
  const char *text;
  struct date date;
} dates[] = {
    {"2026", {2026, 12, 31}},
    {"2026-04", {2026, 4, 30}},
    {"2024-02", {2024, 2, 29}},
    {"2100-02", {2100, 2, 28}},
    {"2026-04-03", {2026, 4, 3}},
    {"2025-2026", {2026, 12, 31}},
    {"mid-2026", {2026, 9, 30}},
    {"2024-12..2025-12", {2025, 12, 31}},
    {"2025-06-30..2026-03", {2026, 3, 31}},
    {"2025-09 / 2026-04", {2026, 4, 30}},
    {"2026-04 / 2025", {2026, 4, 30}},
};

static const char *const no_dates[] = {
    "",        " ",          "26",          "2026-",          "2026-4",       "2026-13",
    "2026-00", "2026-02-29", "2026-02-30",  "2026-04-31",     "2026-04-00",   "1899",
    "2200",    "2026/04",    "20260403",    "not re-fetched", "2026-2025",    "mid-26",
    "2026 / ", "2026..",     "2026-04-03x", "+2026",          "2026-2027-01",
};

static void test_dates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    struct date date = {0};
    if (!date_parse(dates[i].text, &date))
      fail_msg("refused: %s", dates[i].text);
    if (date_compare(date, dates[i].date) != 0)
      fail_msg("misread: %s", dates[i].text);
  }
  for (size_t i = 0; i < sizeof no_dates / sizeof *no_dates; i++) {
    struct date date = {1, 2, 3};
    if (date_parse(no_dates[i], &date))
      fail_msg("taken for a date: '%s'", no_dates[i]);
    assert_int_equal(date.year, 1);
  }
}

static void test_stale(void **state) {
  (void)state;
  const struct {
    struct date of, today;
    bool stale;
  } cases[] = {
      {{2025, 4, 3}, {2026, 4, 3}, false},     {{2025, 4, 3}, {2026, 4, 4}, true},
      {{2025, 12, 31}, {2026, 12, 31}, false}, {{2025, 12, 31}, {2027, 1, 1}, true},
      {{2024, 2, 29}, {2025, 2, 28}, false},   {{2024, 2, 29}, {2025, 3, 1}, true},
      {{2027, 1, 1}, {2026, 1, 1}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(date_is_stale(cases[i].of, cases[i].today), cases[i].stale);
}

static void test_grades(void **state) {
  (void)state;
  const struct {
    enum catalog_table table;
    const char *id, *grade;
  } cases[] = {
      {CATALOG_THROUGHPUT, "tp0001", "benchmark"}, // MLPerf
      {CATALOG_THROUGHPUT, "tp0817", "published"}, // ML.ENERGY
      {CATALOG_PRICES, "pr001", "claim"},          // seed_claim
      {CATALOG_PRICES, "pr006", "published"},      // street_price
      {CATALOG_PRICES, "pr003", "assumed"},        // estimate
      {CATALOG_ACCELERATORS, "h200-sxm-141", "published"},
      {CATALOG_CLAIMS, "1", "claim"},
      {CATALOG_TYPICAL_VALUES, "pue", "assumed"},
      {CATALOG_TYPICAL_VALUES, "price_mi325x", "claim"},
      {CATALOG_TYPICAL_VALUES, "mlperf_llama2_70b_offline_per_gpu_h200", "benchmark"},
  };
  struct fixture f;
  open_catalog(&f, "data");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct table *table = load(&f, cases[i].table);
    const long row = catalog_find(table, cases[i].id);
    assert_true(row >= 0);
    assert_string_equal(grade_name(catalog_grade(table, (size_t)row)), cases[i].grade);
  }
  for (int grade = 0; grade < GRADES; grade++)
    assert_true(*grade_name((enum grade)grade));
  arena_free(&f.arena);
}

static void test_every_row_has_a_source_and_a_date(void **state) {
  (void)state;
  struct fixture f;
  open_catalog(&f, "data");
  for (int which = 0; which < CATALOG_TABLES; which++) {
    const struct table *table = load(&f, (enum catalog_table)which);
    assert_true(table->rows > 0);
    for (size_t row = 0; row < table->rows; row++) {
      struct date date;
      assert_true(*cell(table, row, "source_title") && *cell(table, row, "source_url"));
      if (!catalog_date(table, row, &date))
        assert_int_equal(which, CATALOG_CLAIMS);
    }
  }
  arena_free(&f.arena);
}

static void check_references(struct fixture *f, enum catalog_table which, const char *column,
                             enum catalog_table target) {
  const struct table *table = load(f, which), *ids = load(f, target);
  for (size_t row = 0; row < table->rows; row++) {
    const char *id = cell(table, row, column);
    if (*id && catalog_find(ids, id) < 0)
      fail_msg("%s line %d: no %s", table->name, table->places[row].line, id);
  }
}

static void test_references(void **state) {
  (void)state;
  struct fixture f;
  open_catalog(&f, "data");
  check_references(&f, CATALOG_ALTERNATES, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_THROUGHPUT, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_THROUGHPUT, "model", CATALOG_MODELS);
  check_references(&f, CATALOG_PRICES, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_POWER, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_BANDWIDTH, "accelerator", CATALOG_ACCELERATORS);
  arena_free(&f.arena);
}

static bool is_in_order(const struct table *table, size_t row, const char *const columns[3]) {
  double last = -INFINITY;
  for (int i = 0; i < 3; i++) {
    double value = last;
    table_number(table, row, columns[i], &value);
    if (value < last)
      return false;
    last = value;
  }
  return last > -INFINITY;
}

// Every row has a figure, and its low and high lie on either side.
static void test_figures_are_in_order(void **state) {
  (void)state;
  const struct {
    enum catalog_table table;
    const char *columns[3];
  } cases[] = {
      {CATALOG_PRICES, {"price_low", "price_point", "price_high"}},
      {CATALOG_POWER, {"low", "value", "high"}},
      {CATALOG_OVERHEADS, {"low", "value", "high"}},
      {CATALOG_TYPICAL_VALUES, {"low", "mid", "high"}},
  };
  struct fixture f;
  open_catalog(&f, "data");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct table *table = load(&f, cases[i].table);
    for (size_t row = 0; row < table->rows; row++) {
      if (!is_in_order(table, row, cases[i].columns))
        fail_msg("%s line %d", table->name, table->places[row].line);
    }
  }
  arena_free(&f.arena);
}

static bool is_near(double a, double b, double relative) {
  return fabs(a - b) <= relative * fabs(b);
}

// What a row states twice agrees: tokens per GPU, watts per GPU, share of the peak.
static void test_rows_agree_with_themselves(void **state) {
  (void)state;
  struct fixture f;
  open_catalog(&f, "data");
  const struct table *table = load(&f, CATALOG_THROUGHPUT);
  for (size_t row = 0; row < table->rows; row++)
    assert_true(is_near(number(table, row, "tokens_per_s_per_gpu") * number(table, row, "num_gpus"),
                        number(table, row, "tokens_per_s_total"), 5e-3));

  table = load(&f, CATALOG_POWER);
  for (size_t row = 0; row < table->rows; row++) {
    const double value = number(table, row, "value"), each = number(table, row, "per_gpu_value");
    const double kilo = strcmp(cell(table, row, "unit"), "kW") == 0 ? 1000 : 1;
    if (value > 0 && each > 0)
      assert_true(is_near(each * number(table, row, "gpus"), value * kilo, 5e-3));
  }

  table = load(&f, CATALOG_BANDWIDTH);
  for (size_t row = 0; row < table->rows; row++) {
    const double achieved = number(table, row, "achieved"), peak = number(table, row, "peak");
    const double efficiency = number(table, row, "efficiency");
    if (achieved > 0 && peak > 0 && efficiency > 0)
      assert_true(fabs(achieved / peak - efficiency) < 2e-3);
  }
  arena_free(&f.arena);
}

// A model's dimensions, as the columns of models.csv name them.
struct dimensions {
  double layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
  double experts, experts_per_token, shared_experts, dense_layers, dense_ffn;
  double q_lora, kv_lora, nope, rope, v_dim;
  bool is_mla, is_gated, has_qkv_bias, has_all_biases, is_tied;
};

static struct dimensions dimensions_of(const struct table *models, size_t row) {
  const char *bias = cell(models, row, "attention_bias");
  return (struct dimensions){
      .layers = number(models, row, "layers"),
      .hidden = number(models, row, "hidden"),
      .heads = number(models, row, "heads"),
      .kv_heads = number(models, row, "kv_heads"),
      .head_dim = number(models, row, "head_dim"),
      .ffn = number(models, row, "ffn_hidden"),
      .vocab = number(models, row, "vocab"),
      .experts = number(models, row, "experts"),
      .experts_per_token = number(models, row, "experts_per_token"),
      .shared_experts = number(models, row, "shared_experts"),
      .dense_layers = number(models, row, "first_dense_layers"),
      .dense_ffn = number(models, row, "dense_ffn_hidden"),
      .q_lora = number(models, row, "q_lora_rank"),
      .kv_lora = number(models, row, "kv_lora_rank"),
      .nope = number(models, row, "qk_nope_dim"),
      .rope = number(models, row, "qk_rope_dim"),
      .v_dim = number(models, row, "v_head_dim"),
      .is_mla = strcmp(cell(models, row, "attention_kind"), "mla") == 0,
      .is_gated = strcmp(cell(models, row, "mlp_kind"), "swiglu") == 0,
      .has_qkv_bias = strcmp(bias, "none") != 0,
      .has_all_biases = strncmp(bias, "attn_all", 8) == 0,
      .is_tied = number(models, row, "tied_embeddings") == 1,
  };
}

// Multi-head latent attention: queries and keys through low ranks, each with a norm.
static double mla_attention(const struct dimensions *d) {
  const double query =
      d->hidden * d->q_lora + d->q_lora + d->q_lora * d->heads * (d->nope + d->rope);
  const double key = d->hidden * (d->kv_lora + d->rope) + d->kv_lora +
                     d->kv_lora * d->heads * (d->nope + d->v_dim);
  return query + key + d->heads * d->v_dim * d->hidden;
}

// Multi-head and grouped-query attention; `sinks` are one learned logit per head.
static double attention(const struct dimensions *d) {
  if (d->is_mla)
    return mla_attention(d);
  const double outputs = (d->heads + 2 * d->kv_heads) * d->head_dim;
  const double biases = d->has_qkv_bias ? outputs : 0;
  const double sinks = d->has_all_biases ? d->heads : 0;
  return d->hidden * outputs + biases + d->heads * d->head_dim * d->hidden +
         (d->has_all_biases ? d->hidden : 0) + sinks;
}

static double mlp(const struct dimensions *d, double ffn) {
  const double inner = (d->is_gated ? 2 : 1) * ffn;
  return d->hidden * (inner + ffn) + (d->has_all_biases ? inner + d->hidden : 0);
}

// A layer's MLP with `experts` of its experts, their router and the shared experts.
static double expert_mlp(const struct dimensions *d, double experts) {
  if (d->experts == 0)
    return mlp(d, d->ffn);
  const double router = d->hidden * d->experts + (d->has_all_biases ? d->experts : 0);
  return (experts + d->shared_experts) * mlp(d, d->ffn) + router;
}

static double parameters(const struct dimensions *d, double experts) {
  const double norms = (d->is_gated ? 1 : 2) * 2 * d->hidden; // a LayerNorm has a bias, an RMS none
  const double embeddings = (d->is_tied ? 1 : 2) * d->vocab * d->hidden;
  return embeddings + d->hidden + d->layers * (attention(d) + norms) +
         d->dense_layers * mlp(d, d->dense_ffn) +
         (d->layers - d->dense_layers) * expert_mlp(d, experts);
}

// Keys and values at 2 bytes each; MLA keeps one latent and one rotary key per layer.
static double kv_bytes(const struct dimensions *d) {
  const double values = d->is_mla ? d->kv_lora + d->rope : 2 * d->kv_heads * d->head_dim;
  return d->layers * values * 2;
}

static void test_parameters_follow_from_dimensions(void **state) {
  (void)state;
  struct fixture f;
  open_catalog(&f, "data");
  const struct table *models = load(&f, CATALOG_MODELS);
  for (size_t row = 0; row < models->rows; row++) {
    const struct dimensions d = dimensions_of(models, row);
    const char *id = cell(models, row, "id");
    const double total = parameters(&d, d.experts) / 1e9;
    const double active = parameters(&d, d.experts_per_token) / 1e9;
    const double matmul = active - (d.is_tied ? 0 : d.vocab * d.hidden / 1e9);
    // Falcon 40B is called 40, and its dimensions make 41.3.
    const double published =
        strcmp(id, "falcon-40b") == 0 ? 41.3 : number(models, row, "published_params_b");
    if (!is_near(total, published, 0.01))
      fail_msg("%s: %.4f, published %g", id, total, published);
    if (!is_near(total, number(models, row, "params_b"), 1e-3))
      fail_msg("%s: %.4f", id, total);
    if (!is_near(active, number(models, row, "active_params_b"), 1e-3))
      fail_msg("%s: %.4f active", id, active);
    if (!is_near(matmul, number(models, row, "matmul_active_params_b"), 1e-3))
      fail_msg("%s: %.4f active in matrices", id, matmul);
    assert_true(kv_bytes(&d) == number(models, row, "kv_bytes_per_token_16bit"));
  }
  assert_true(number(models, (size_t)catalog_find(models, "falcon-40b"), "published_params_b") ==
              40);
  arena_free(&f.arena);
}

// A directory with the shipped tables, of which a test replaces some.
struct directory {
  char path[32];
};

static const char *file_in(const struct directory *directory, enum catalog_table which,
                           char path[96]) {
  snprintf(path, 96, "%s/%s.csv", directory->path, catalog_table_names[which]);
  return path;
}

static void make_directory(struct directory *directory) {
  strcpy(directory->path, "/tmp/pertoken-catalog-XXXXXX");
  assert_non_null(mkdtemp(directory->path));
  for (int which = 0; which < CATALOG_TABLES; which++) {
    char path[96], name[64];
    snprintf(name, sizeof name, "data/%s.csv", catalog_table_names[which]);
    char *shipped = realpath(name, NULL);
    assert_non_null(shipped);
    assert_int_equal(symlink(shipped, file_in(directory, (enum catalog_table)which, path)), 0);
    free(shipped);
  }
}

static void remove_directory(const struct directory *directory) {
  char path[96];
  for (int which = 0; which < CATALOG_TABLES; which++)
    remove(file_in(directory, (enum catalog_table)which, path));
  assert_int_equal(rmdir(directory->path), 0);
}

static void replace_file(const struct directory *directory, enum catalog_table which,
                         const char *bytes, size_t size) {
  char path[96];
  file_in(directory, which, path);
  assert_int_equal(unlink(path), 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

// The shipped table with the first `old` replaced by `new`.
static void edit_file(const struct directory *directory, enum catalog_table which, const char *old,
                      const char *new) {
  struct fixture f = {0};
  f.diagnostics.arena = &f.arena;
  char path[96];
  const struct source *source =
      source_read(file_in(directory, which, path), &f.arena, &f.diagnostics);
  assert_non_null(source);
  const char *found = strstr(source->text, old);
  if (!found)
    fail_msg("%s has no '%s'", path, old);
  const char *text = arena_printf(&f.arena, "%.*s%s%s", (int)(found - source->text), source->text,
                                  new, found + strlen(old));
  replace_file(directory, which, text, strlen(text));
  arena_free(&f.arena);
}

static void check_error(const char *what, const struct diagnostic *error, int line, int column,
                        const char *message) {
  if (error->place.line != line || error->place.column != column ||
      !strstr(error->message, message))
    fail_msg("%s\nexpected %d:%d %s\nfound %d:%d %s", what, line, column, message,
             error->place.line, error->place.column, error->message);
}

static const struct {
  enum catalog_table table;
  const char *old, *new;
  int line, column; // a column of 0 is not looked at
  const char *message;
} edits[] = {
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,nan,", 2, 20,
     "expected a finite number in 'low', found 'nan'"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,-inf,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1.3 USD,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1e999,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "allin_utility_kw_h100", "gpu_hour_cost_h100", 3, 1,
     "expected each id once, 'gpu_hour_cost_h100' stands in line 2 already"},
    {CATALOG_TYPICAL_VALUES, "allin_utility_kw_h100", "", 3, 1, "expected a value for 'id'"},
    {CATALOG_TYPICAL_VALUES, ",as_of\n", ",asof\n", 1, 1,
     "expected a column 'as_of'; did you mean 'asof'?"},
    {CATALOG_TYPICAL_VALUES, "id,", "key,", 1, 1, "expected a column 'id'"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1.3,,", 2, 285, "expected 9 cells"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1\"3,", 2, 21, "no quote within"},
    {CATALOG_TYPICAL_VALUES, "2026-04-03\n", "\n", 2, 284, "expected a value for 'as_of'"},
    {CATALOG_TYPICAL_VALUES, "2026-04-03\n", "2026-04-31\n", 2, 284,
     "expected a date such as 2026-04-30, 2026-04 or 2026 in 'as_of', found '2026-04-31'"},
    {CATALOG_CLAIMS, "Seed 000: vuild node on MI350 vs Blackwell", "", 2, 0,
     "expected a value for 'source_title'"},
    {CATALOG_CLAIMS, "2026-05-10\n", "soon\n", 2, 0, "expected a date"},
    {CATALOG_ACCELERATORS, ",700,maximum", ",-700,maximum", 2, 61,
     "expected a number above 0 in 'tdp_w', found '-700'"},
    {CATALOG_ACCELERATORS, ",700,maximum", ",0,maximum", 2, 61, "a number above 0"},
    {CATALOG_MODELS, "32000,0,0,", "32000,-1,0,", 2, 0,
     "expected a number of at least 0 in 'experts', found '-1'"},
    {CATALOG_MODELS, ",datasheet\n", ",datashet\n", 2, 0,
     "expected a known word in 'kind', found 'datashet'; did you mean 'datasheet'?"},
    {CATALOG_THROUGHPUT, ",mi300x-192,", ",mi300x-193,", 2, 10,
     "expected an id of the table accelerators in 'accelerator', found 'mi300x-193'; did you mean "
     "'mi300x-192'?"},
    {CATALOG_THROUGHPUT, ",llama-2-70b,", ",llama-2-80b,", 2, 21,
     "expected an id of the table models in 'model', found 'llama-2-80b'; did you mean"},
    {CATALOG_THROUGHPUT, ",output,", ",outputs,", 2, 0, "'outputs'; did you mean 'output'?"},
    {CATALOG_THROUGHPUT, ",high,", ",certain,", 2, 0, "in 'confidence', found 'certain'"},
    {CATALOG_PRICES, ",mi325x-256,", ",H100,", 2, 11, "found 'H100'"},
    {CATALOG_ALTERNATES, ",dense_fp4_tflops,", ",dense_fp3_tflops,", 2, 20,
     "expected a column of the table accelerators in 'field', found 'dense_fp3_tflops'; did you"},
};

static void test_edits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    struct directory directory;
    struct fixture f;
    make_directory(&directory);
    edit_file(&directory, edits[i].table, edits[i].old, edits[i].new);
    open_catalog(&f, directory.path);
    const struct table *table = catalog_table(&f.catalog, edits[i].table);
    assert_null(table);
    assert_int_equal(f.diagnostics.errors, 1);
    const struct diagnostic *error = &f.diagnostics.list[0];
    check_error(edits[i].new, error, edits[i].line,
                edits[i].column ? edits[i].column : error->place.column, edits[i].message);
    arena_free(&f.arena);
    remove_directory(&directory);
  }
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  static const char text[] = "id,low,mid,high,unit,source_title,source_url,as_of\n"
                             "a,x,1,inf,W,t,u,2026\n"
                             "b,1,1,1,,t,u,2026\n"
                             "a,1,1,1,W,,u,yesterday\n";
  static const struct {
    int line, column;
    const char *message;
  } expected[] = {
      {4, 1, "'a' stands in line 2"},      {2, 3, "in 'low', found 'x'"},
      {2, 7, "in 'high', found 'inf'"},    {3, 9, "value for 'unit'"},
      {4, 11, "value for 'source_title'"}, {4, 14, "found 'yesterday'"},
  };
  struct directory directory;
  struct fixture f;
  make_directory(&directory);
  replace_file(&directory, CATALOG_TYPICAL_VALUES, text, strlen(text));
  open_catalog(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES));
  assert_null(catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES)); // not reported again
  assert_int_equal(f.diagnostics.errors, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < f.diagnostics.errors; i++)
    check_error(text, &f.diagnostics.list[i], expected[i].line, expected[i].column,
                expected[i].message);
  arena_free(&f.arena);
  remove_directory(&directory);
}

static void test_a_broken_table_breaks_what_refers_to_it(void **state) {
  (void)state;
  struct directory directory;
  struct fixture f;
  make_directory(&directory);
  edit_file(&directory, CATALOG_ACCELERATORS, ",700,maximum", ",watts,maximum");
  open_catalog(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_PRICES));
  assert_null(catalog_table(&f.catalog, CATALOG_POWER));
  assert_non_null(catalog_table(&f.catalog, CATALOG_MODELS));
  assert_int_equal(f.diagnostics.errors, 1);
  arena_free(&f.arena);
  remove_directory(&directory);
}

#define HEADER "id,low,mid,high,unit,source_title,source_url,as_of"

// A whole file in place of typical.csv. No message: it is fine and has one row.
static const struct {
  const char *bytes;
  size_t size; // 0: to the NUL
  int line, column;
  const char *message;
} files[] = {
    {HEADER "\na,,1,,W,t,u,2026\n", 0, 0, 0, NULL},
    {HEADER "\r\na,,1,,W,t,u,2026\r\n", 0, 0, 0, NULL},
    {"\xef\xbb\xbf" HEADER "\na,,1,,W,t,u,2026\n", 0, 0, 0, NULL},
    {"", 0, 0, 0, "found an empty file"},
    {"\xef\xbb\xbf", 0, 0, 0, "found an empty file"},
    {HEADER "\na,,1,,\xff,t,u,2026\n", 0, 2, 7, "expected UTF-8"},
    {HEADER "\na,,1,,W\0,t,u,2026\n", sizeof HEADER + 18, 2, 8, "NUL"},
    {"\x7f"
     "ELF\x02\x01\x01\x00\x00\x00",
     10, 1, 8, "expected UTF-8 text"},
    {"PK\x03\x04\xfe\xed", 0, 1, 5, "expected UTF-8 text"},
};

static void test_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    struct directory directory;
    struct fixture f;
    make_directory(&directory);
    replace_file(&directory, CATALOG_TYPICAL_VALUES, files[i].bytes,
                 files[i].size ? files[i].size : strlen(files[i].bytes));
    open_catalog(&f, directory.path);
    const struct table *table = catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES);
    assert_int_equal(f.diagnostics.errors, files[i].message != NULL);
    if (files[i].message)
      check_error(files[i].bytes, &f.diagnostics.list[0], files[i].line, files[i].column,
                  files[i].message);
    else
      assert_true(table && table->rows == 1 && *cell(table, 0, "as_of"));
    arena_free(&f.arena);
    remove_directory(&directory);
  }
}

static void test_no_file(void **state) {
  (void)state;
  struct directory directory;
  struct fixture f;
  char path[96];
  make_directory(&directory);
  assert_int_equal(remove(file_in(&directory, CATALOG_MODELS, path)), 0);
  assert_int_equal(remove(file_in(&directory, CATALOG_CLAIMS, path)), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  open_catalog(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_MODELS));
  assert_null(catalog_table(&f.catalog, CATALOG_CLAIMS));
  assert_int_equal(f.diagnostics.errors, 2);
  check_error("no file", &f.diagnostics.list[0], 0, 0, "No such file");
  check_error("a directory", &f.diagnostics.list[1], 0, 0, "directory");

  struct catalog catalog;
  assert_int_equal(catalog_open(&catalog, path, &f.arena, &f.diagnostics), 0);
  file_in(&directory, CATALOG_MODELS, path);
  assert_int_equal(catalog_open(&catalog, path, &f.arena, &f.diagnostics), -1);
  assert_int_equal(catalog_open(&catalog, "data/README.md", &f.arena, &f.diagnostics), -1);
  assert_int_equal(f.diagnostics.errors, 4);
  arena_free(&f.arena);
  remove_directory(&directory);
}

static void test_names(void **state) {
  (void)state;
  for (int which = 0; which < CATALOG_TABLES; which++)
    assert_int_equal(catalog_table_named(catalog_table_names[which]), which);
  assert_int_equal(catalog_table_named("nothing"), CATALOG_TABLES);
}

static char *view(struct fixture *f, enum catalog_table which, enum output_format format,
                  const char *const *wheres) {
  char *text = NULL;
  size_t size = 0, count = 0;
  while (wheres[count])
    count++;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  catalog_view_print(load(f, which), wheres, count, format, out, &f->diagnostics);
  fclose(out);
  char *kept = arena_copy_n(&f->arena, text, size);
  free(text);
  return kept;
}

static const struct {
  enum catalog_table table;
  const char *wheres[3];
  const char *last_line;
} selections[] = {
    {CATALOG_MODELS, {NULL}, "\n21 of 21 rows; all columns with --format csv\n"},
    {CATALOG_MODELS, {"attention_kind=mla"}, "\n1 of 21 rows; "},
    {CATALOG_MODELS, {"Attention_Kind=MLA"}, "\n1 of 21 rows; "},
    {CATALOG_MODELS, {"id~QWEN3"}, "\n3 of 21 rows; "},
    {CATALOG_MODELS, {"id~qwen3", "experts=0"}, "\n2 of 21 rows; "},
    {CATALOG_MODELS, {"published_params_b=671.0"}, "\n1 of 21 rows; "},
    {CATALOG_MODELS, {"id=none"}, "\n0 of 21 rows; "},
    {CATALOG_MODELS, {"dense_ffn_hidden="}, "\n20 of 21 rows; "},
    {CATALOG_MODELS, {"source_url~/blob/"}, "\n9 of 21 rows; "},
    {CATALOG_THROUGHPUT,
     {"grade=benchmark", "accelerator=h200-nvl-141", "scenario=offline"},
     " of 1264 rows; "},
};

static void test_selections(void **state) {
  (void)state;
  struct fixture f;
  open_catalog(&f, "data");
  for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
    const char *const wheres[4] = {selections[i].wheres[0], selections[i].wheres[1],
                                   selections[i].wheres[2], NULL};
    const char *text = view(&f, selections[i].table, FORMAT_TABLE, wheres);
    assert_int_equal(f.diagnostics.errors, 0);
    if (!strstr(text, selections[i].last_line))
      fail_msg("no '%s' in\n%s", selections[i].last_line, text);
  }
  arena_free(&f.arena);
}

static void test_refused_selections(void **state) {
  (void)state;
  const struct {
    const char *where, *message;
  } cases[] = {
      {"modle=x", "expected a column of throughput, found 'modle'; did you mean 'model'?"},
      {"nothing at all=x", "expected a column of throughput, found 'nothing at all'"},
      {"model", "expected --where COLUMN=VALUE or COLUMN~TEXT, found 'model'"},
      {"=x", "expected --where COLUMN=VALUE"},
      {"", "expected --where COLUMN=VALUE"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    open_catalog(&f, "data");
    const char *const wheres[] = {cases[i].where, NULL};
    assert_string_equal(view(&f, CATALOG_THROUGHPUT, FORMAT_TABLE, wheres), "");
    assert_int_equal(f.diagnostics.errors, 1);
    check_error(cases[i].where, &f.diagnostics.list[0], 0, 0, cases[i].message);
    arena_free(&f.arena);
  }
}

// Every table as CSV reads back as it was, with the grade behind it.
static void test_csv_reads_back(void **state) {
  (void)state;
  const char *const all[] = {NULL};
  struct fixture f;
  open_catalog(&f, "data");
  for (int which = 0; which < CATALOG_TABLES; which++) {
    const struct table *table = load(&f, (enum catalog_table)which);
    const char *text = view(&f, (enum catalog_table)which, FORMAT_CSV, all);
    const struct table *again =
        csv_read(source_from_text("view", text, &f.arena), "view", &f.arena, &f.diagnostics);
    assert_true(again && again->rows == table->rows && again->columns == table->columns + 1);
    for (size_t row = 0; row < table->rows; row++) {
      for (size_t column = 0; column < table->columns; column++) {
        const char *old = table->cells[row * table->columns + column];
        const char *new = again->cells[row * again->columns + column];
        assert_string_equal(new + (*new == '\'' && *old != '\''), old);
      }
      assert_string_equal(cell(again, row, "grade"), grade_name(catalog_grade(table, row)));
    }
  }
  arena_free(&f.arena);
}

static const char typical[] = HEADER "\n"
                                     "=1+1,-18,1.5,,+-%,@t,-u,2026\n"
                                     "\xe6\x9d\xb1\xe4\xba\xac,,2,3,W,\"a \"\"b\"\"\",u,2026\n"
                                     "x\x1b[31m,,2,,M\xc3\xbc,t,u,2026\n";

static char *view_typical(struct fixture *f, enum output_format format) {
  const char *const all[] = {NULL};
  struct directory directory;
  make_directory(&directory);
  replace_file(&directory, CATALOG_TYPICAL_VALUES, typical, strlen(typical));
  open_catalog(f, directory.path);
  char *text = view(f, CATALOG_TYPICAL_VALUES, format, all);
  remove_directory(&directory);
  return text;
}

static void test_formats(void **state) {
  (void)state;
  struct fixture f;
  assert_string_equal(view_typical(&f, FORMAT_TABLE),
                      "id      low  mid  high  unit  grade    as_of\n"
                      "=1+1    -18  1.5        +-%   assumed  2026\n"
                      "\xe6\x9d\xb1\xe4\xba\xac           2     3  W     assumed  2026\n"
                      "x [31m         2        M\xc3\xbc    assumed  2026\n"
                      "3 of 3 rows; all columns with --format csv\n");
  arena_free(&f.arena);
  assert_non_null(strstr(view_typical(&f, FORMAT_CSV),
                         "\n\"'=1+1\",\"-18\",\"1.5\",\"\",\"'+-%\",\"'@t\",\"'-u\",\"2026\","
                         "\"assumed\"\n"));
  arena_free(&f.arena);
}

static void test_json(void **state) {
  (void)state;
  struct fixture f;
  json_t *rows = json_loads(view_typical(&f, FORMAT_JSON), 0, NULL);
  assert_int_equal(json_array_size(rows), 3);
  const json_t *row = json_array_get(rows, 0);
  assert_string_equal(json_string_value(json_object_get(row, "id")), "=1+1");
  assert_int_equal(json_integer_value(json_object_get(row, "low")), -18);
  assert_true(json_real_value(json_object_get(row, "mid")) == 1.5);
  assert_true(json_is_null(json_object_get(row, "high")));
  assert_string_equal(json_string_value(json_object_get(row, "as_of")), "2026");
  assert_string_equal(json_string_value(json_object_get(row, "grade")), "assumed");
  json_decref(rows);
  arena_free(&f.arena);
}

enum { many_rows = 100000 };

// The shipped throughput rows over and over, under new ids.
static void write_many_rows(const struct directory *directory, const struct source *shipped) {
  char path[96];
  file_in(directory, CATALOG_THROUGHPUT, path);
  assert_int_equal(unlink(path), 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  const char *start;
  size_t length;
  for (int i = 0, line = 2; i < many_rows; i++, line++) {
    if (i == 0 && source_line(shipped, 1, &start, &length))
      fprintf(file, "%.*s\n", (int)length, start);
    if (!source_line(shipped, line, &start, &length))
      line = 1;
    else
      fprintf(file, "x%d%.*s\n", i, (int)length - 2, start + 2);
  }
  assert_int_equal(fclose(file), 0);
}

static void test_many_rows_are_quick(void **state) {
  (void)state;
  struct directory directory;
  struct fixture f;
  open_catalog(&f, "data");
  make_directory(&directory);
  write_many_rows(&directory, load(&f, CATALOG_THROUGHPUT)->source);
  arena_free(&f.arena);

  open_catalog(&f, directory.path);
  const clock_t begin = clock();
  const struct table *table = load(&f, CATALOG_THROUGHPUT);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  print_message("%zu rows in %.3f s\n", table->rows, seconds);
  assert_true(table->rows > many_rows * 0.99);
  assert_true(seconds < 5); // under 0.3 s alone; a busy machine under a sanitizer takes longer
  assert_int_equal(catalog_find(table, "x991234"), -1);
  assert_true(catalog_find(table, cell(table, table->rows - 1, "id")) == (long)table->rows - 1);
  arena_free(&f.arena);
  remove_directory(&directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_stale),
      cmocka_unit_test(test_grades),
      cmocka_unit_test(test_every_row_has_a_source_and_a_date),
      cmocka_unit_test(test_references),
      cmocka_unit_test(test_figures_are_in_order),
      cmocka_unit_test(test_rows_agree_with_themselves),
      cmocka_unit_test(test_parameters_follow_from_dimensions),
      cmocka_unit_test(test_edits),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_a_broken_table_breaks_what_refers_to_it),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_no_file),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_selections),
      cmocka_unit_test(test_refused_selections),
      cmocka_unit_test(test_csv_reads_back),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_many_rows_are_quick),
  };
  return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
