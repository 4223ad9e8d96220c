#include "model/catalog/columns.h"

#include <stddef.h>
#include <string.h>

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

#define SHARE(hour)                                                                                \
  { "share_" #hour, CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE }
#define SHARES(a, b, c, d) SHARE(a), SHARE(b), SHARE(c), SHARE(d)

static const struct catalog_column own_columns[CATALOG_TABLES][MAX_CATALOG_COLUMNS] = {
    [CATALOG_ACCELERATORS] = {{"vendor", CELL_IS_FILLED},
                              {"name", CELL_IS_FILLED},
                              {"memory_gb", CELL_IS_POSITIVE},
                              {"usable_bytes", CELL_IS_POSITIVE},
                              {"usable_bytes_source_url", 0},
                              {"usable_bytes_as_of", CELL_IS_DATE},
                              {"memory_bw_tbs", CELL_IS_POSITIVE},
                              {"tdp_w", CELL_IS_POSITIVE},
                              {"dense_bf16_tflops", CELL_IS_POSITIVE},
                              {"dense_fp8_tflops", CELL_IS_POSITIVE},
                              {"dense_fp4_tflops", CELL_IS_POSITIVE},
                              {"dense_int8_tops", CELL_IS_POSITIVE},
                              {"dense_int8_tops_source_url", 0},
                              {"dense_int8_tops_as_of", CELL_IS_DATE},
                              {"interconnect_gbs", CELL_IS_POSITIVE},
                              {"scale_up_domain", CELL_IS_POSITIVE},
                              {"gpus_per_node", CELL_IS_POSITIVE},
                              {"purchase_unit", CELL_IS_POSITIVE},
                              {"device_names", 0},
                              {"device_names_source_url", 0},
                              {"device_names_as_of", CELL_IS_DATE},
                              {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_ALTERNATES] = {{"accelerator", CELL_IS_FILLED | CELL_IS_ACCELERATOR},
                            {"field", CELL_IS_FILLED | CELL_IS_SPECIFICATION},
                            {"value", CELL_IS_FILLED},
                            {"qualifier", 0},
                            {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_MODELS] = {{"name", CELL_IS_FILLED},
                        {"layers", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"hidden", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"heads", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"kv_heads", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"head_dim", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"ffn_hidden", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"vocab", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"experts", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"experts_per_token", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"shared_experts", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"first_dense_layers", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"dense_ffn_hidden", CELL_IS_POSITIVE},
                        {"attention_kind", CELL_IS_FILLED},
                        {"sliding_window", CELL_IS_POSITIVE},
                        {"mlp_kind", CELL_IS_FILLED},
                        {"q_lora_rank", CELL_IS_POSITIVE},
                        {"kv_lora_rank", CELL_IS_POSITIVE},
                        {"qk_nope_dim", CELL_IS_POSITIVE},
                        {"qk_rope_dim", CELL_IS_POSITIVE},
                        {"v_head_dim", CELL_IS_POSITIVE},
                        {"biases", CELL_IS_FILLED},
                        {"norm_kind", 0},
                        {"norm_epsilon", CELL_IS_POSITIVE},
                        {"qk_norm", CELL_IS_NOT_NEGATIVE},
                        {"attention_sinks", CELL_IS_NOT_NEGATIVE},
                        {"full_attention_every", CELL_IS_POSITIVE},
                        {"parallel_blocks", CELL_IS_NOT_NEGATIVE},
                        {"score_scale", CELL_IS_POSITIVE},
                        {"rope_theta", CELL_IS_POSITIVE},
                        {"rope_scaling", 0},
                        {"rope_factor", CELL_IS_POSITIVE},
                        {"rope_low", CELL_IS_POSITIVE},
                        {"rope_high", CELL_IS_POSITIVE},
                        {"rope_original_context", CELL_IS_POSITIVE},
                        {"rope_whole", CELL_IS_NOT_NEGATIVE},
                        {"rope_magnitude", CELL_IS_POSITIVE},
                        {"rope_interleaved", CELL_IS_NOT_NEGATIVE},
                        {"router_kind", 0},
                        {"expert_groups", CELL_IS_POSITIVE},
                        {"kept_expert_groups", CELL_IS_POSITIVE},
                        {"router_scale", CELL_IS_POSITIVE},
                        {"tied_embeddings", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"params_b", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"active_params_b", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"matmul_active_params_b", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"published_params_b", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"published_active_params_b", CELL_IS_POSITIVE},
                        {"shipped_precision", 0},
                        {"shipped_parts", 0},
                        {"excluded_precisions", 0},
                        {"layer_source_url", CELL_IS_FILLED},
                        {"layer_as_of", CELL_IS_FILLED | CELL_IS_DATE},
                        {"kv_bytes_per_token_16bit", CELL_IS_FILLED | CELL_IS_POSITIVE},
                        {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_THROUGHPUT] = {{"headline", CELL_IS_NOT_NEGATIVE},
                            {"accelerator", CELL_IS_FILLED | CELL_IS_ACCELERATOR},
                            {"model", CELL_IS_MODEL},
                            {"model_as_published", CELL_IS_FILLED},
                            {"active_params_b", CELL_IS_POSITIVE},
                            {"precision", 0},
                            {"activations", 0},
                            {"batch_or_concurrency", 0},
                            {"isl", CELL_IS_POSITIVE},
                            {"osl", CELL_IS_POSITIVE},
                            {"num_gpus", CELL_IS_FILLED | CELL_IS_POSITIVE},
                            {"tokens_per_s_total", CELL_IS_FILLED | CELL_IS_POSITIVE},
                            {"tokens_per_s_per_gpu", CELL_IS_FILLED | CELL_IS_POSITIVE},
                            {"token_basis", CELL_IS_FILLED | CELL_IS_TOKEN_BASIS},
                            {"scenario", CELL_IS_FILLED},
                            {"speculation", 0},
                            {"software", 0},
                            {"submitter", 0},
                            {"median_itl_ms", CELL_IS_POSITIVE},
                            {"avg_gpu_power_w_total", CELL_IS_POSITIVE},
                            {"system_power_w", CELL_IS_POSITIVE},
                            {"power_limit_w", CELL_IS_POSITIVE},
                            {"doubt", 0},
                            {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                            {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_PRICES] = {{"category", CELL_IS_FILLED},
                        {"accelerator", CELL_IS_ACCELERATOR},
                        {"item", CELL_IS_FILLED},
                        {"provider", CELL_IS_FILLED},
                        {"price_basis", CELL_IS_FILLED},
                        {"gpus_in_item", CELL_IS_POSITIVE},
                        {"currency", CELL_IS_FILLED},
                        {"price_low", CELL_IS_NOT_NEGATIVE},
                        {"price_high", CELL_IS_NOT_NEGATIVE},
                        {"price_point", CELL_IS_NOT_NEGATIVE},
                        {"unit", CELL_IS_FILLED},
                        {"usd_per_gpu_equivalent", CELL_IS_NOT_NEGATIVE},
                        {"region", 0},
                        {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                        {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_POWER] = {{"category", CELL_IS_FILLED},
                       {"accelerator", CELL_IS_ACCELERATOR},
                       {"subject", CELL_IS_FILLED},
                       {"metric", CELL_IS_FILLED},
                       {"value", CELL_IS_NOT_NEGATIVE},
                       {"low", CELL_IS_NOT_NEGATIVE},
                       {"high", CELL_IS_NOT_NEGATIVE},
                       {"unit", CELL_IS_FILLED},
                       {"gpus", CELL_IS_POSITIVE},
                       {"per_gpu_value", CELL_IS_POSITIVE},
                       {"region", 0},
                       {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                       {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_OVERHEADS] = {{"category", CELL_IS_FILLED},
                           {"vendor", 0},
                           {"item", CELL_IS_FILLED},
                           {"value", CELL_IS_NUMBER},
                           {"low", CELL_IS_NUMBER},
                           {"high", CELL_IS_NUMBER},
                           {"unit", CELL_IS_FILLED},
                           {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                           {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_BANDWIDTH] = {{"accelerator", CELL_IS_FILLED | CELL_IS_ACCELERATOR},
                           {"measurement", CELL_IS_FILLED},
                           {"benchmark", CELL_IS_FILLED},
                           {"precision", 0},
                           {"gpus", CELL_IS_FILLED | CELL_IS_POSITIVE},
                           {"achieved", CELL_IS_POSITIVE},
                           {"unit", CELL_IS_FILLED},
                           {"peak", CELL_IS_POSITIVE},
                           {"efficiency", CELL_IS_POSITIVE},
                           {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                           {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_CLAIMS] = {{"claim", CELL_IS_FILLED},
                        {"value", CELL_IS_FILLED},
                        {"unit", CELL_IS_FILLED},
                        {"topic", CELL_IS_FILLED},
                        {"verdict", CELL_IS_FILLED}},
    [CATALOG_TYPICAL_VALUES] = {{"low", CELL_IS_NUMBER},
                                {"mid", CELL_IS_NUMBER},
                                {"high", CELL_IS_NUMBER},
                                {"unit", CELL_IS_FILLED}},
    [CATALOG_API_PRICES] = {{"model", CELL_IS_FILLED | CELL_IS_MODEL},
                            {"provider", CELL_IS_FILLED},
                            {"input_usd_per_mtok", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                            {"cached_input_usd_per_mtok", CELL_IS_NOT_NEGATIVE},
                            {"output_usd_per_mtok", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                            {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_CARBON] = {{"category", CELL_IS_FILLED},
                        {"accelerator", CELL_IS_ACCELERATOR},
                        {"subject", CELL_IS_FILLED},
                        {"metric", CELL_IS_FILLED},
                        {"value", CELL_IS_FILLED | CELL_IS_NOT_NEGATIVE},
                        {"unit", CELL_IS_FILLED},
                        {"gpus", CELL_IS_POSITIVE},
                        {"per_gpu_value", CELL_IS_POSITIVE},
                        {"region", 0},
                        {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                        {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_DAY_PROFILES] = {{"subject", CELL_IS_FILLED},
                              SHARES(1, 2, 3, 4),
                              SHARES(5, 6, 7, 8),
                              SHARES(9, 10, 11, 12),
                              SHARES(13, 14, 15, 16),
                              SHARES(17, 18, 19, 20),
                              SHARES(21, 22, 23, 24),
                              {"confidence", CELL_IS_FILLED | CELL_IS_CONFIDENCE},
                              {"notes", CELL_IS_FILLED},
                              {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
    [CATALOG_ALIASES] = {{"accelerator", CELL_IS_ACCELERATOR},
                         {"model", CELL_IS_MODEL},
                         {"precision", 0},
                         {"says", 0},
                         {"kind", CELL_IS_FILLED | CELL_IS_KIND}},
};

static const struct catalog_column common_columns[] = {
    {"id", 0},
    {"source_title", CELL_IS_FILLED | CELL_IS_SHORT_TEXT},
    {"source_url", CELL_IS_FILLED},
    {"as_of", CELL_IS_FILLED | CELL_IS_DATE},
    {NULL, 0},
};
static const struct catalog_column claim_columns[] = {
    {"id", 0},
    {"source_title", CELL_IS_FILLED | CELL_IS_SHORT_TEXT},
    {"source_url", CELL_IS_FILLED},
    {"as_of", CELL_IS_DATE},
    {NULL, 0},
};

static const char *const kinds[] = {
    "published_benchmark", "published_study", "datasheet", "list_price",
    "street_price",        "seed_claim",      "estimate",
};
static const char *const confidences[] = {"high", "medium", "low"};
static const char *const token_bases[] = {"output", "input", "input+output", "unstated"};

static const struct {
  unsigned demand;
  const char *const *words;
  size_t count;
} vocabularies[] = {
    {CELL_IS_KIND, kinds, sizeof kinds / sizeof *kinds},
    {CELL_IS_CONFIDENCE, confidences, sizeof confidences / sizeof *confidences},
    {CELL_IS_TOKEN_BASIS, token_bases, sizeof token_bases / sizeof *token_bases},
};

static const struct catalog_figure figures[CATALOG_TABLES] = {
    [CATALOG_ACCELERATORS] = {NULL, {NULL}, {"name"}},
    [CATALOG_MODELS] = {NULL, {NULL}, {"name"}},
    [CATALOG_THROUGHPUT] = {"tokens_per_s_per_gpu",
                            {"accelerator", "model", "precision", "scenario", "token_basis"},
                            {"isl", "osl", "batch_or_concurrency", "num_gpus", "submitter",
                             "software", "as_of"}},
    [CATALOG_PRICES] = {"usd_per_gpu_equivalent",
                        {"accelerator", "price_basis", "unit"},
                        {"provider", "region", "gpus_in_item", "as_of"}},
    [CATALOG_POWER] = {"value", {"accelerator", "metric", "region", "unit"}, {"subject", "as_of"}},
    [CATALOG_BANDWIDTH] = {"achieved",
                           {"accelerator", "benchmark", "precision", "unit"},
                           {"measurement", "gpus", "as_of"}},
    [CATALOG_API_PRICES] = {"output_usd_per_mtok", {"model"}, {"provider", "as_of"}},
    [CATALOG_CARBON] = {"value", {"accelerator", "metric", "region", "unit"}, {"subject", "as_of"}},
};

enum catalog_table catalog_table_named(const char *name) {
  int which = 0;
  while (which < CATALOG_TABLES && strcmp(name, catalog_table_names[which]) != 0)
    which++;
  return (enum catalog_table)which;
}

const struct catalog_column *catalog_own_columns(enum catalog_table which) {
  return own_columns[which];
}

const struct catalog_column *catalog_common_columns(enum catalog_table which) {
  return which == CATALOG_CLAIMS ? claim_columns : common_columns;
}

const char *const *catalog_words(unsigned demands, size_t *count) {
  for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
    if (demands & vocabularies[i].demand) {
      *count = vocabularies[i].count;
      return vocabularies[i].words;
    }
  *count = 0;
  return NULL;
}

const struct catalog_figure *catalog_figure(enum catalog_table which) {
  return &figures[which];
}
