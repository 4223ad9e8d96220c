#include "model/evidence/catalog.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/short_text.h"
#include "base/source.h"
#include "base/source_file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *const catalog_table_names[CATALOG_TABLES] = {
    [CATALOG_ACCELERATORS] = "accelerators",
    [CATALOG_ALTERNATES] = "alternates",
    [CATALOG_MODELS] = "models",
    [CATALOG_THROUGHPUT] = "throughput",
    [CATALOG_PRICES] = "prices",
    [CATALOG_POWER] = "power",
    [CATALOG_OVERHEADS] = "overheads",
    [CATALOG_BANDWIDTH] = "bandwidth",
    [CATALOG_CLAIMS] = "claims",
    [CATALOG_TYPICAL_VALUES] = "typical",
    [CATALOG_API_PRICES] = "api_prices",
    [CATALOG_CARBON] = "carbon",
    [CATALOG_DAY_PROFILES] = "day_profiles",
    [CATALOG_ALIASES] = "aliases",
};

// What a column's cells must be.
enum {
  FILLED = 1,
  NUMBER = 2, // finite
  NOT_NEGATIVE = 4 | NUMBER,
  POSITIVE = 8 | NUMBER,
  DATE = 16,
  KIND = 32,
  CONFIDENCE = 64,
  TOKEN_BASIS = 128,
  ACCELERATOR = 256,    // an id of accelerators
  MODEL = 512,          // an id of models
  SPECIFICATION = 1024, // a column of accelerators
  SHORT_TEXT = 2048,    // as short_text.h says
};

struct rule {
  const char *column;
  unsigned demands;
};

enum { MAX_RULES = 64 };

// A column that is named here must exist; cells may be blank unless FILLED.
static const struct rule rules[CATALOG_TABLES][MAX_RULES] = {
    [CATALOG_ACCELERATORS] = {{"vendor", FILLED},
                              {"name", FILLED},
                              {"memory_gb", POSITIVE},
                              {"memory_bw_tbs", POSITIVE},
                              {"tdp_w", POSITIVE},
                              {"dense_bf16_tflops", POSITIVE},
                              {"dense_fp8_tflops", POSITIVE},
                              {"dense_fp4_tflops", POSITIVE},
                              {"interconnect_gbs", POSITIVE},
                              {"scale_up_domain", POSITIVE},
                              {"gpus_per_node", POSITIVE},
                              {"purchase_unit", POSITIVE},
                              {"device_names", 0},
                              {"device_names_source_url", 0},
                              {"device_names_as_of", DATE},
                              {"kind", FILLED | KIND}},
    [CATALOG_ALTERNATES] = {{"accelerator", FILLED | ACCELERATOR},
                            {"field", FILLED | SPECIFICATION},
                            {"value", FILLED},
                            {"qualifier", 0},
                            {"kind", FILLED | KIND}},
    [CATALOG_MODELS] = {{"name", FILLED},
                        {"layers", FILLED | POSITIVE},
                        {"hidden", FILLED | POSITIVE},
                        {"heads", FILLED | POSITIVE},
                        {"kv_heads", FILLED | POSITIVE},
                        {"head_dim", FILLED | POSITIVE},
                        {"ffn_hidden", FILLED | POSITIVE},
                        {"vocab", FILLED | POSITIVE},
                        {"experts", FILLED | NOT_NEGATIVE},
                        {"experts_per_token", FILLED | NOT_NEGATIVE},
                        {"shared_experts", FILLED | NOT_NEGATIVE},
                        {"first_dense_layers", FILLED | NOT_NEGATIVE},
                        {"dense_ffn_hidden", POSITIVE},
                        {"attention_kind", FILLED},
                        {"sliding_window", POSITIVE},
                        {"mlp_kind", FILLED},
                        {"q_lora_rank", POSITIVE},
                        {"kv_lora_rank", POSITIVE},
                        {"qk_nope_dim", POSITIVE},
                        {"qk_rope_dim", POSITIVE},
                        {"v_head_dim", POSITIVE},
                        {"biases", FILLED},
                        {"norm_kind", 0},
                        {"norm_epsilon", POSITIVE},
                        {"qk_norm", NOT_NEGATIVE},
                        {"attention_sinks", NOT_NEGATIVE},
                        {"full_attention_every", POSITIVE},
                        {"parallel_blocks", NOT_NEGATIVE},
                        {"score_scale", POSITIVE},
                        {"rope_theta", POSITIVE},
                        {"rope_scaling", 0},
                        {"rope_factor", POSITIVE},
                        {"rope_low", POSITIVE},
                        {"rope_high", POSITIVE},
                        {"rope_original_context", POSITIVE},
                        {"rope_whole", NOT_NEGATIVE},
                        {"rope_magnitude", POSITIVE},
                        {"rope_interleaved", NOT_NEGATIVE},
                        {"router_kind", 0},
                        {"expert_groups", POSITIVE},
                        {"kept_expert_groups", POSITIVE},
                        {"router_scale", POSITIVE},
                        {"tied_embeddings", FILLED | NOT_NEGATIVE},
                        {"params_b", FILLED | POSITIVE},
                        {"active_params_b", FILLED | POSITIVE},
                        {"matmul_active_params_b", FILLED | POSITIVE},
                        {"published_params_b", FILLED | POSITIVE},
                        {"published_active_params_b", POSITIVE},
                        {"shipped_precision", 0},
                        {"shipped_parts", 0},
                        {"excluded_precisions", 0},
                        {"layer_source_url", FILLED},
                        {"layer_as_of", FILLED | DATE},
                        {"kv_bytes_per_token_16bit", FILLED | POSITIVE},
                        {"kind", FILLED | KIND}},
    [CATALOG_THROUGHPUT] = {{"headline", NOT_NEGATIVE},
                            {"accelerator", FILLED | ACCELERATOR},
                            {"model", MODEL},
                            {"model_as_published", FILLED},
                            {"active_params_b", POSITIVE},
                            {"precision", 0},
                            {"activations", 0},
                            {"batch_or_concurrency", 0},
                            {"isl", POSITIVE},
                            {"osl", POSITIVE},
                            {"num_gpus", FILLED | POSITIVE},
                            {"tokens_per_s_total", FILLED | POSITIVE},
                            {"tokens_per_s_per_gpu", FILLED | POSITIVE},
                            {"token_basis", FILLED | TOKEN_BASIS},
                            {"scenario", FILLED},
                            {"speculation", 0},
                            {"software", 0},
                            {"submitter", 0},
                            {"median_itl_ms", POSITIVE},
                            {"avg_gpu_power_w_total", POSITIVE},
                            {"system_power_w", POSITIVE},
                            {"power_limit_w", POSITIVE},
                            {"doubt", 0},
                            {"confidence", FILLED | CONFIDENCE},
                            {"kind", FILLED | KIND}},
    [CATALOG_PRICES] = {{"category", FILLED},
                        {"accelerator", ACCELERATOR},
                        {"item", FILLED},
                        {"provider", FILLED},
                        {"price_basis", FILLED},
                        {"gpus_in_item", POSITIVE},
                        {"currency", FILLED},
                        {"price_low", NOT_NEGATIVE},
                        {"price_high", NOT_NEGATIVE},
                        {"price_point", NOT_NEGATIVE},
                        {"unit", FILLED},
                        {"usd_per_gpu_equivalent", NOT_NEGATIVE},
                        {"region", 0},
                        {"confidence", FILLED | CONFIDENCE},
                        {"kind", FILLED | KIND}},
    [CATALOG_POWER] = {{"category", FILLED},
                       {"accelerator", ACCELERATOR},
                       {"subject", FILLED},
                       {"metric", FILLED},
                       {"value", NOT_NEGATIVE},
                       {"low", NOT_NEGATIVE},
                       {"high", NOT_NEGATIVE},
                       {"unit", FILLED},
                       {"gpus", POSITIVE},
                       {"per_gpu_value", POSITIVE},
                       {"region", 0},
                       {"confidence", FILLED | CONFIDENCE},
                       {"kind", FILLED | KIND}},
    [CATALOG_OVERHEADS] = {{"category", FILLED},
                           {"vendor", 0},
                           {"item", FILLED},
                           {"value", NUMBER},
                           {"low", NUMBER},
                           {"high", NUMBER},
                           {"unit", FILLED},
                           {"confidence", FILLED | CONFIDENCE},
                           {"kind", FILLED | KIND}},
    [CATALOG_BANDWIDTH] = {{"accelerator", FILLED | ACCELERATOR},
                           {"measurement", FILLED},
                           {"benchmark", FILLED},
                           {"precision", 0},
                           {"gpus", FILLED | POSITIVE},
                           {"achieved", POSITIVE},
                           {"unit", FILLED},
                           {"peak", POSITIVE},
                           {"efficiency", POSITIVE},
                           {"confidence", FILLED | CONFIDENCE},
                           {"kind", FILLED | KIND}},
    [CATALOG_CLAIMS] = {{"claim", FILLED},
                        {"value", FILLED},
                        {"unit", FILLED},
                        {"topic", FILLED},
                        {"verdict", FILLED}},
    [CATALOG_TYPICAL_VALUES] = {{"low", NUMBER},
                                {"mid", NUMBER},
                                {"high", NUMBER},
                                {"unit", FILLED}},
    [CATALOG_API_PRICES] = {{"model", FILLED | MODEL},
                            {"provider", FILLED},
                            {"input_usd_per_mtok", FILLED | NOT_NEGATIVE},
                            {"cached_input_usd_per_mtok", NOT_NEGATIVE},
                            {"output_usd_per_mtok", FILLED | NOT_NEGATIVE},
                            {"kind", FILLED | KIND}},
    [CATALOG_CARBON] = {{"category", FILLED},
                        {"accelerator", ACCELERATOR},
                        {"subject", FILLED},
                        {"metric", FILLED},
                        {"value", FILLED | NOT_NEGATIVE},
                        {"unit", FILLED},
                        {"gpus", POSITIVE},
                        {"per_gpu_value", POSITIVE},
                        {"region", 0},
                        {"confidence", FILLED | CONFIDENCE},
                        {"kind", FILLED | KIND}},
    [CATALOG_DAY_PROFILES] = {{"subject", FILLED},
                              {"share_1", FILLED | NOT_NEGATIVE},
                              {"share_2", FILLED | NOT_NEGATIVE},
                              {"share_3", FILLED | NOT_NEGATIVE},
                              {"share_4", FILLED | NOT_NEGATIVE},
                              {"share_5", FILLED | NOT_NEGATIVE},
                              {"share_6", FILLED | NOT_NEGATIVE},
                              {"share_7", FILLED | NOT_NEGATIVE},
                              {"share_8", FILLED | NOT_NEGATIVE},
                              {"share_9", FILLED | NOT_NEGATIVE},
                              {"share_10", FILLED | NOT_NEGATIVE},
                              {"share_11", FILLED | NOT_NEGATIVE},
                              {"share_12", FILLED | NOT_NEGATIVE},
                              {"share_13", FILLED | NOT_NEGATIVE},
                              {"share_14", FILLED | NOT_NEGATIVE},
                              {"share_15", FILLED | NOT_NEGATIVE},
                              {"share_16", FILLED | NOT_NEGATIVE},
                              {"share_17", FILLED | NOT_NEGATIVE},
                              {"share_18", FILLED | NOT_NEGATIVE},
                              {"share_19", FILLED | NOT_NEGATIVE},
                              {"share_20", FILLED | NOT_NEGATIVE},
                              {"share_21", FILLED | NOT_NEGATIVE},
                              {"share_22", FILLED | NOT_NEGATIVE},
                              {"share_23", FILLED | NOT_NEGATIVE},
                              {"share_24", FILLED | NOT_NEGATIVE},
                              {"confidence", FILLED | CONFIDENCE},
                              {"notes", FILLED},
                              {"kind", FILLED | KIND}},
    [CATALOG_ALIASES] = {{"accelerator", ACCELERATOR},
                         {"model", MODEL},
                         {"precision", 0},
                         {"says", 0},
                         {"kind", FILLED | KIND}},
};

// What every table must have besides. Only claims may lack the date.
static const struct rule common_rules[] = {
    {"id", 0}, // checked by table_index
    {"source_title", FILLED | SHORT_TEXT},
    {"source_url", FILLED},
};
static const struct rule date_rule = {"as_of", FILLED | DATE};
static const struct rule claim_date_rule = {"as_of", DATE};

static const char *const kinds[] = {
    "published_benchmark", "published_study", "datasheet", "list_price",
    "street_price",        "seed_claim",      "estimate",
};
static const enum grade grade_of_kind[] = {
    GRADE_PUBLISHED, GRADE_PUBLISHED, GRADE_PUBLISHED, GRADE_PUBLISHED,
    GRADE_PUBLISHED, GRADE_CLAIM,     GRADE_ASSUMED,
};
static const char *const confidences[] = {"high", "medium", "low"};
static const char *const token_bases[] = {"output", "input", "input+output", "unstated"};

static const struct {
  unsigned demand;
  const char *const *allowed;
  size_t count;
} vocabularies[] = {
    {KIND, kinds, sizeof kinds / sizeof *kinds},
    {CONFIDENCE, confidences, sizeof confidences / sizeof *confidences},
    {TOKEN_BASIS, token_bases, sizeof token_bases / sizeof *token_bases},
};
enum { vocabulary_count = sizeof vocabularies / sizeof *vocabularies };

// A rule whose column the table has.
struct bound_rule {
  struct rule rule;
  size_t column;
};

// One table while it is checked, with the tables that it refers to.
struct check {
  const struct table *table;
  const struct table *accelerators, *models;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct bound_rule rules[MAX_RULES];
  size_t rule_count;
};

static bool demands(const struct rule *rule, unsigned demand) {
  return (rule->demands & demand) == demand;
}

// "; did you mean 'NEAREST'?" or nothing.
static const char *suggest(const struct check *check, const char *name,
                           const char *const *candidates, size_t count) {
  return did_you_mean(nearest_name(name, candidates, count), check->arena);
}

static void report_cell(const struct check *check, size_t row, const struct rule *rule,
                        const char *expected, const char *found, const char *suggestion) {
  diagnostics_error(check->diagnostics, table_place(check->table, row, rule->column),
                    "expected %s in '%s', found '%s'%s", expected, rule->column, found, suggestion);
}

static void check_number(const struct check *check, size_t row, const struct rule *rule,
                         const char *cell) {
  double number;
  if (!csv_number(cell, &number))
    report_cell(check, row, rule, "a finite number", cell, "");
  else if (demands(rule, POSITIVE) && number <= 0)
    report_cell(check, row, rule, "a number above 0", cell, "");
  else if (demands(rule, NOT_NEGATIVE) && number < 0)
    report_cell(check, row, rule, "a number of at least 0", cell, "");
}

static void check_vocabulary(const struct check *check, size_t row, const struct rule *rule,
                             const char *cell, const char *const *allowed, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(cell, allowed[i]) == 0)
      return;
  }
  report_cell(check, row, rule, "a known word", cell, suggest(check, cell, allowed, count));
}

static void check_reference(const struct check *check, size_t row, const struct rule *rule,
                            const char *cell, const struct table *table) {
  if (!table || table_find(table, cell) >= 0)
    return;
  const char **ids = arena_array(check->arena, table->rows, sizeof *ids);
  for (size_t i = 0; i < table->rows; i++)
    ids[i] = table_cell(table, i, "id");
  report_cell(check, row, rule, arena_printf(check->arena, "an id of the table %s", table->name),
              cell, suggest(check, cell, ids, table->rows));
}

static void check_specification(const struct check *check, size_t row, const struct rule *rule,
                                const char *cell) {
  const struct table *table = check->accelerators;
  if (!table || table_column(table, cell) >= 0)
    return;
  report_cell(check, row, rule, "a column of the table accelerators", cell,
              suggest(check, cell, table->column_names, table->columns));
}

static void check_cell(const struct check *check, size_t row, const struct rule *rule,
                       const char *cell) {
  struct date date;
  if (!*cell) {
    if (demands(rule, FILLED))
      diagnostics_error(check->diagnostics, table_place(check->table, row, rule->column),
                        "expected a value for '%s', found a blank cell", rule->column);
    return;
  }
  if (demands(rule, SHORT_TEXT) && !text_is_short(cell))
    short_text_check("a source", cell, table_place(check->table, row, rule->column),
                     check->diagnostics);
  if (demands(rule, NUMBER))
    check_number(check, row, rule, cell);
  if (demands(rule, DATE) && !date_parse(cell, &date))
    report_cell(check, row, rule, "a date such as 2026-04-30, 2026-04 or 2026", cell, "");
  if (demands(rule, ACCELERATOR))
    check_reference(check, row, rule, cell, check->accelerators);
  if (demands(rule, MODEL))
    check_reference(check, row, rule, cell, check->models);
  if (demands(rule, SPECIFICATION))
    check_specification(check, row, rule, cell);
  for (size_t i = 0; i < vocabulary_count; i++) {
    if (demands(rule, vocabularies[i].demand))
      check_vocabulary(check, row, rule, cell, vocabularies[i].allowed, vocabularies[i].count);
  }
}

static void bind_rule(struct check *check, const struct rule *rule) {
  const struct table *table = check->table;
  const int column = table_column(table, rule->column);
  if (column >= 0) {
    assert(check->rule_count < MAX_RULES);
    check->rules[check->rule_count++] = (struct bound_rule){*rule, (size_t)column};
    return;
  }
  diagnostics_error(check->diagnostics, table_header_place(table), "expected a column '%s'%s",
                    rule->column,
                    suggest(check, rule->column, table->column_names, table->columns));
}

static void bind_rules(struct check *check, enum catalog_table which) {
  for (size_t i = 0; i < sizeof common_rules / sizeof *common_rules; i++)
    bind_rule(check, &common_rules[i]);
  for (const struct rule *rule = rules[which]; rule->column; rule++)
    bind_rule(check, rule);
  bind_rule(check, which == CATALOG_CLAIMS ? &claim_date_rule : &date_rule);
}

static bool refers_to(enum catalog_table which, unsigned demand) {
  for (const struct rule *rule = rules[which]; rule->column; rule++) {
    if (rule->demands & demand)
      return true;
  }
  return false;
}

// Loads what the table refers to. False when that has errors, so that nothing can be said about the
// references; the table's other cells are checked all the same.
static bool load_references(struct check *check, struct catalog *catalog,
                            enum catalog_table which) {
  const bool to_accelerators = refers_to(which, ACCELERATOR | SPECIFICATION);
  const bool to_models = refers_to(which, MODEL);
  if (to_accelerators)
    check->accelerators = catalog_glance(catalog, CATALOG_ACCELERATORS);
  if (to_models)
    check->models = catalog_glance(catalog, CATALOG_MODELS);
  return (check->accelerators || !to_accelerators) && (check->models || !to_models);
}

static void check_rows(const struct check *check) {
  const struct table *table = check->table;
  for (size_t row = 0; row < table->rows; row++) {
    for (size_t i = 0; i < check->rule_count; i++) {
      const struct bound_rule *bound = &check->rules[i];
      check_cell(check, row, &bound->rule, table->cells[row * table->columns + bound->column]);
    }
  }
}

static struct table *read_table(struct catalog *catalog, enum catalog_table which) {
  const char *name = catalog_table_names[which];
  const char *path = arena_printf(catalog->arena, "%s/%s.csv", catalog->directory, name);
  const struct source *source = source_read(path, catalog->arena, &catalog->findings[which]);
  if (!source)
    return NULL;
  struct table *table = csv_read(source, name, catalog->arena, &catalog->findings[which]);
  if (table)
    table->catalog = (int)which;
  return table;
}

static const struct table *load_table(struct catalog *catalog, enum catalog_table which) {
  struct diagnostics *findings = &catalog->findings[which];
  *findings = (struct diagnostics){.arena = catalog->arena, .held_for = catalog->diagnostics};
  struct check check = {.arena = catalog->arena, .diagnostics = findings};
  const bool complete = load_references(&check, catalog, which);
  struct table *table = read_table(catalog, which);
  if (!table)
    return NULL;
  check.table = table;
  bind_rules(&check, which);
  if (table_column(table, "id") >= 0)
    table_index(table, "id", catalog->arena, findings);
  check_rows(&check);
  return complete && !findings->errors ? table : NULL;
}

int catalog_open(struct catalog *catalog, const char *directory, struct arena *arena,
                 struct diagnostics *diagnostics) {
  *catalog = (struct catalog){.directory = directory, .arena = arena, .diagnostics = diagnostics};
  struct stat status;
  int trouble = stat(directory, &status) < 0 ? errno : 0;
  if (!trouble && !S_ISDIR(status.st_mode))
    trouble = ENOTDIR;
  if (!trouble)
    return 0;
  diagnostics_error(diagnostics, (struct place){0},
                    "expected a directory of catalogues at '%s': %s", directory, strerror(trouble));
  return -1;
}

const struct table *catalog_glance(struct catalog *catalog, enum catalog_table which) {
  assert((unsigned)which < CATALOG_TABLES);
  if (!catalog->tried[which]) {
    catalog->tried[which] = true;
    catalog->tables[which] = load_table(catalog, which);
  }
  return catalog->tables[which];
}

static void report(struct catalog *catalog, enum catalog_table which) {
  if (!catalog->reported[which])
    diagnostics_forward(catalog->diagnostics, &catalog->findings[which]);
  catalog->reported[which] = true;
}

const struct table *catalog_table(struct catalog *catalog, enum catalog_table which) {
  const struct table *table = catalog_glance(catalog, which);
  if (refers_to(which, ACCELERATOR | SPECIFICATION))
    report(catalog, CATALOG_ACCELERATORS);
  if (refers_to(which, MODEL))
    report(catalog, CATALOG_MODELS);
  report(catalog, which);
  return table;
}

enum catalog_table catalog_table_named(const char *name) {
  int which = 0;
  while (which < CATALOG_TABLES && strcmp(name, catalog_table_names[which]) != 0)
    which++;
  return (enum catalog_table)which;
}

long catalog_find(const struct table *table, const char *id) {
  return table_find(table, id);
}

bool catalog_lists(const char *list, const char *name) {
  const size_t length = strlen(name);
  while (*list) {
    list += strspn(list, " ;");
    size_t item = strcspn(list, ";");
    const char *rest = list + item;
    while (item && list[item - 1] == ' ')
      item--;
    if (item == length && item && !strncmp(list, name, item))
      return true;
    list = rest;
  }
  return false;
}

long catalog_device(const struct table *accelerators, const char *name) {
  for (size_t row = 0; row < accelerators->rows; row++)
    if (catalog_lists(table_cell(accelerators, row, "device_names"), name))
      return (long)row;
  return -1;
}

static bool begins_with(const char *text, const char *start) {
  return strncasecmp(text, start, strlen(start)) == 0;
}

// Typical values have no kind: each is somebody's pick from what several sources say, and only as
// good as an assumption unless it is one benchmark's or one seed document's.
enum grade catalog_grade(const struct table *table, size_t row) {
  const char *title = table_cell(table, row, "source_title");
  const bool is_mlperf = begins_with(title, "MLPerf");
  if (table->catalog == CATALOG_CLAIMS)
    return GRADE_CLAIM;
  if (table->catalog == CATALOG_TYPICAL_VALUES)
    return is_mlperf ? GRADE_BENCHMARK : begins_with(title, "seed ") ? GRADE_CLAIM : GRADE_ASSUMED;

  const char *kind = table_cell(table, row, "kind");
  if (is_mlperf && strcmp(kind, "published_benchmark") == 0)
    return GRADE_BENCHMARK;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(kind, kinds[i]) == 0)
      return grade_of_kind[i];
  }
  return GRADE_ASSUMED;
}

bool catalog_date(const struct table *table, size_t row, struct date *out) {
  return date_parse(table_cell(table, row, "as_of"), out);
}

bool catalog_is_number(const struct table *table, const char *column) {
  if (table->catalog < 0)
    return false;
  for (const struct rule *rule = rules[table->catalog]; rule->column; rule++) {
    if (strcmp(rule->column, column) == 0)
      return demands(rule, NUMBER);
  }
  return false;
}
