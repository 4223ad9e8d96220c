#include "model/cost/words.h"

#include "base/diagnostics.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *word, *input;
} model_words[] = {
    {"discount_rate", "wacc"},
    {"cost_of_capital", "wacc"},
    {"hurdle_rate", "wacc"},
    {"interest_rate", "loan_rate"},
    {"gpus", "accelerators"},
    {"gpu_count", "accelerators"},
    {"quantity", "accelerators"},
    {"number", "accelerators"},
    {"count", "accelerators"},
    {"price", "list_price"},
    {"gpu_price", "list_price"},
    {"unit_price", "list_price"},
    {"purchase_price", "list_price"},
    {"rebate", "discount"},
    {"server_price", "node_price"},
    {"electricity", "electricity_price"},
    {"electricity_cost", "electricity_price"},
    {"electricity_rate", "electricity_price"},
    {"energy_price", "electricity_price"},
    {"power_price", "electricity_price"},
    {"gpu_power", "load_power"},
    {"power_draw", "load_power"},
    {"power", "load_power"},
    {"tdp", "load_power"},
    {"watts", "load_power"},
    {"years", "horizon"},
    {"lifetime", "life"},
    {"depreciation", "book_life"},
    {"depreciation_period", "book_life"},
    {"useful_life", "book_life"},
    {"resale_value", "residual_value"},
    {"salvage_value", "residual_value"},
    {"duty", "purchase_tax"},
    {"import_duty", "purchase_tax"},
    {"customs", "purchase_tax"},
    {"vat", "purchase_tax"},
    {"sales_tax", "purchase_tax"},
    {"shipping", "purchase_tax"},
    {"freight", "purchase_tax"},
    {"income_tax", "tax_rate"},
    {"rent", "rental_rate"},
    {"rental_price", "rental_rate"},
    {"hourly_rate", "rental_rate"},
    {"on_demand_price", "on_demand_rate"},
    {"spot_price", "spot_rate"},
    {"maintenance", "support"},
    {"license", "software_licence"},
    {"licence", "software_licence"},
    {"software", "software_licence"},
    {"staff", "engineers"},
    {"salary", "engineer_cost"},
    {"growth", "demand_growth"},
    {"colocation", "colo_rate"},
    {"colo_price", "colo_rate"},
    {"uptime", "availability"},
    {"tokens_per_s", "throughput"},
    {"tokens_per_second", "throughput"},
    {"networking", "network_price"},
    {"delivery_time", "lead_time"},
    {"delay", "delivery_delay"},
    {"liquidated_damages", "delay_damages"},
    {"annual_failures", "failure_rate"},
    {"annual_failure_rate", "failure_rate"},
    {"afr", "failure_rate"},
    {"gpus_per_node", "accelerators_per_node"},
    {"fte", "engineers"},
    {"carbon_intensity", "grid_intensity"},
    {"power_usage_effectiveness", "pue"},
    {"cache_hit_rate", "cache_hit"},
    {"tokens_per_day", "demand"},
};

_Static_assert(sizeof model_words / sizeof model_words[0] == MODEL_WORDS,
               "callers make room for MODEL_WORDS names");

const char *model_word_meaning(const char *name) {
  for (size_t i = 0; i < MODEL_WORDS && name; i++)
    if (!strcmp(model_words[i].word, name))
      return model_words[i].input;
  return name;
}

const char *words_nearest(const char *name, const char **names, size_t count) {
  for (size_t i = 0; i < MODEL_WORDS; i++)
    names[count + i] = model_words[i].word;
  const char *nearest = nearest_name(name, names, count + MODEL_WORDS);
  for (size_t i = 0; i < count && nearest; i++)
    if (!strcmp(names[i], nearest))
      return nearest;
  return model_word_meaning(nearest);
}
