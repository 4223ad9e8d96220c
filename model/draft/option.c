#include "model/draft/option.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/texts.h"
#include "model/draft/lines.h"
#include "model/draft/price.h"
#include "model/draft/proposals.h"
#include "model/draft/room.h"
#include "model/draft/template.h"
#include "model/draft/workload.h"
#include "model/evidence/evidence.h"
#include "model/evidence/grade.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_PRICES = 8 };

static const char *price_comment(const struct drafting *drafting, const char *accelerator,
                                 const char *basis, long taken) {
  size_t count;
  struct arena *arena = drafting->arena;
  const struct texts list = draft_price_list(drafting->tables.prices, accelerator, basis, taken,
                                             LISTED_PRICES, &count, arena);
  const char *of = list.count < count ? arena_printf(arena, ". Of %zu rows", count) : "";
  return arena_printf(arena, "%s%s. More: pertoken catalog prices --where accelerator=%s",
                      texts_joined_by(&list, "; ", arena), of, accelerator);
}

static const char *throughput_comment(const struct drafting *drafting, size_t i) {
  const struct draft_throughput *throughput = &drafting->throughputs[i];
  const struct evidence *evidence = &throughput->evidence;
  const size_t rows = evidence->candidates.rows;
  const char *chosen =
      throughput->is_named
          ? "at the workload's batch; it is named, as its requests' lengths are not exactly those "
            "of the workload"
          : arena_printf(drafting->arena,
                         "chosen by rule from %zu row%s that fit%s; evidence = %s pins it", rows,
                         rows == 1 ? "" : "s", rows == 1 ? "s" : "", evidence->id);
  return arena_printf(
      drafting->arena, "Throughput: %.6g token/s per accelerator, %s, %s, %s, %s.%s%s",
      evidence->tokens_per_s, evidence->id, evidence->date, grade_name(evidence->grade), chosen,
      *evidence->doubt ? " Doubtful: " : "", evidence->doubt);
}

static void add_throughput(struct drafting *drafting, struct draft_section *section, size_t i) {
  const struct draft_throughput *throughput = &drafting->throughputs[i];
  const struct draft_workload *workload = &drafting->workload;
  struct arena *arena = drafting->arena;
  if (throughput->is_published)
    return;
  draft_missing_add(
      &drafting->lines, section, "throughput",
      arena_printf(arena, "%.6g token/s", throughput->stand_in),
      arena_printf(arena, "the throughput of %s with %s in %s (%s) is not published",
                   drafting_cell(drafting, i, "id"), workload->model, workload->precision,
                   workload->scenario),
      arena_printf(arena,
                   "Stand-in: %s. To replace it: a measured record (pertoken probe serving, or "
                   "pertoken probe run --model %s), with --measurements; or a published figure, as "
                   "throughput with its .source and .date. Break-even value: pertoken solve FILE "
                   "--option %s --for throughput",
                   throughput->how, workload->model, drafting->ids[i]));
}

static bool has_power(const struct drafting *drafting, size_t row, size_t borrower) {
  (void)borrower;
  return *table_cell(drafting->tables.accelerators, row, "tdp_w");
}

static const char *price_id(const struct drafting *drafting, size_t i) {
  return table_cell(drafting->tables.prices, (size_t)drafting->prices[i], "id");
}

static void add_price(struct drafting *drafting, struct draft_section *section, size_t i) {
  struct draft_lines *lines = &drafting->lines;
  struct arena *arena = drafting->arena;
  const char *id = drafting_cell(drafting, i, "id");
  const long row = drafting->prices[i], from = drafting->price_lenders[i];
  if (row >= 0 && from < 0) {
    draft_line_add(lines, section, "price", price_id(drafting, i),
                   arena_printf(arena, "Prices: %s", price_comment(drafting, id, "purchase", row)));
    return;
  }
  const double usd = row < 0 ? 0
                             : table_number_or(drafting->tables.prices, (size_t)row,
                                               "usd_per_gpu_equivalent", NAN);
  const double scale = drafting_price_scale(drafting, i);
  const char *scaled =
      scale == 1 ? "" : arena_printf(arena, ", times %.3g by memory bandwidth", scale);
  draft_missing_add(
      lines, section, "list_price", arena_printf(arena, "%.6g USD/gpu", usd * scale),
      arena_printf(arena, "no price is published for %s", id),
      arena_printf(arena,
                   "Stand-in: %s, of %s%s. To replace it: the vendor's offer (quote = FILE), or "
                   "list_price with its .quote or .source and .date",
                   row < 0 ? "nothing" : price_id(drafting, i),
                   from < 0 ? "nobody"
                            : table_cell(drafting->tables.accelerators, (size_t)from, "id"),
                   scaled));
}

static void add_power(struct drafting *drafting, struct draft_section *section, size_t i) {
  const struct table *table = drafting->tables.accelerators;
  const size_t own = drafting->accelerators[i];
  if (has_power(drafting, own, own))
    return;
  const long from = drafting_lender(drafting, i, has_power);
  if (from < 0)
    return;
  draft_missing_add(
      &drafting->lines, section, "load_power",
      arena_printf(drafting->arena, "%s W/gpu", table_cell(table, (size_t)from, "tdp_w")),
      arena_printf(drafting->arena, "no power figure is published for %s",
                   drafting_cell(drafting, i, "id")),
      arena_printf(drafting->arena,
                   "Stand-in: the TDP of %s. To replace it: a measured record or a datasheet, as "
                   "load_power with its .source and .date",
                   table_cell(table, (size_t)from, "id")));
}

static void add_node(struct drafting *drafting, struct draft_section *section, size_t i) {
  if (!*drafting_cell(drafting, i, "gpus_per_node"))
    draft_missing_add(&drafting->lines, section, "accelerators_per_node", "8",
                      arena_printf(drafting->arena, "the number of %s per server is unknown",
                                   drafting_cell(drafting, i, "id")),
                      "Stand-in: the most common number. To replace it: the server's datasheet");
}

// ---- servers and network

static double accelerators_per_node(const struct drafting *drafting, size_t i) {
  return table_number_or(drafting->tables.accelerators, drafting->accelerators[i], "gpus_per_node",
                         TEMPLATE_PER_NODE);
}

// A stand-in is a list price, which says nothing about what it includes, unlike a row of prices.
static void add_included(struct drafting *drafting, struct draft_section *section, size_t i,
                         const struct template_key *key) {
  if (drafting->price_lenders[i] < 0)
    return;
  draft_figure_add(
      &drafting->lines, section, key->key, "0 USD",
      arena_printf(drafting->arena, "included in the stand-in %s, the price of a whole %s",
                   price_id(drafting, i),
                   table_cell(drafting->tables.prices, (size_t)drafting->prices[i], "category")),
      NULL, "Replace the price and this together.");
}

static void add_scaled(struct drafting *drafting, struct draft_section *section,
                       const struct template_key *key, double each) {
  struct arena *arena = drafting->arena;
  draft_figure_add(
      &drafting->lines, section, key->key,
      arena_printf(arena, "%.6g USD", strtod(key->value, NULL) * each / TEMPLATE_PER_NODE),
      arena_printf(arena, "%s, times %g/%d", key->source, each, TEMPLATE_PER_NODE), key->date,
      arena_printf(arena, "%s Scaled from %d accelerators to %g.", key->comment, TEMPLATE_PER_NODE,
                   each));
}

// Adds the hardware that the price does not include, unless [common] gives it to all alike.
static void add_hardware(struct drafting *drafting, struct draft_section *section, size_t i) {
  const double each = accelerators_per_node(drafting, i);
  for (size_t k = 0; k < template_key_count; k++) {
    const struct template_key *key = &template_keys[k];
    if (strcmp(key->section, "hardware") != 0 || !drafting_counts(drafting, key))
      continue;
    if (drafting_price_includes(drafting, i, key->key))
      add_included(drafting, section, i, key);
    else if (!strcmp(key->key, "node_price") && each != TEMPLATE_PER_NODE)
      add_scaled(drafting, section, key, each);
    else if (drafting_some_include_parts(drafting))
      draft_figure_add(&drafting->lines, section, key->key, key->value, key->source, key->date,
                       key->comment);
  }
}

void draft_option_add(struct drafting *drafting, size_t i) {
  struct draft_lines *lines = &drafting->lines;
  struct draft_section *section = draft_section_add(lines, "option", drafting->ids[i]);
  const char *name = arena_printf(drafting->arena, "%s %s.", drafting_cell(drafting, i, "vendor"),
                                  drafting_cell(drafting, i, "name"));
  draft_line_add(lines, section, "label", drafting_label(drafting, i), NULL);
  draft_line_add(
      lines, section, "accelerator", drafting_cell(drafting, i, "id"),
      drafting->throughputs[i].is_published
          ? arena_printf(drafting->arena, "%s\n%s", name, throughput_comment(drafting, i))
          : name);
  if (drafting->throughputs[i].is_named)
    draft_line_add(lines, section, "evidence", drafting->throughputs[i].evidence.id, NULL);
  draft_room_add(drafting, section, i);
  add_throughput(drafting, section, i);
  add_price(drafting, section, i);
  if (drafting->request->question == DRAFT_PROPOSALS)
    draft_line_add(lines, section, NULL, NULL, draft_proposals_offer(drafting, i));
  add_power(drafting, section, i);
  add_node(drafting, section, i);
  add_hardware(drafting, section, i);
}

int draft_rent_add(struct drafting *drafting, size_t i) {
  static const char *const terms[][2] = {
      {"on_demand", "on_demand"}, {"one_year", "reserved_1y"}, {"three_years", "reserved_3y"}};
  struct draft_lines *lines = &drafting->lines;
  struct draft_section *section = draft_section_add(lines, "rent", drafting->ids[i]);
  const char *id = drafting_cell(drafting, i, "id");
  size_t found = 0;
  draft_line_add(lines, section, "own", drafting->ids[i], NULL);
  for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++) {
    const long row = draft_price_find(drafting->tables.prices, id, terms[t][1], drafting->arena);
    if (row < 0)
      continue;
    found++;
    draft_line_add(lines, section, terms[t][0],
                   table_cell(drafting->tables.prices, (size_t)row, "id"),
                   arena_printf(drafting->arena, "Rents per accelerator-hour: %s",
                                price_comment(drafting, id, terms[t][1], row)));
  }
  if (found)
    return 0;
  return drafting_refuse(drafting, arena_printf(drafting->arena,
                                                "no rent is published for '%s', which the template "
                                                "rent-or-own needs; see 'pertoken catalog prices'",
                                                id));
}

int draft_api_add(struct drafting *drafting) {
  const struct table *table = drafting->tables.api_prices;
  const char *model = drafting->workload.model;
  const long row = draft_price_api(table, model, drafting->arena);
  if (row < 0)
    return drafting_refuse(drafting,
                           arena_printf(drafting->arena,
                                        "no token price is published for '%s', which the template "
                                        "own-or-api needs; see 'pertoken catalog api_prices'",
                                        model));
  struct draft_section *section = draft_section_add(&drafting->lines, "option", "api");
  draft_line_add(&drafting->lines, section, "label", "Token API", NULL);
  draft_line_add(
      &drafting->lines, section, "api", table_cell(table, (size_t)row, "id"),
      arena_printf(drafting->arena,
                   "%s, %s: %s USD/Mtok in, %s out; the median of what output costs. More: "
                   "pertoken catalog api_prices --where model=%s",
                   table_cell(table, (size_t)row, "provider"),
                   table_cell(table, (size_t)row, "as_of"),
                   table_cell(table, (size_t)row, "input_usd_per_mtok"),
                   table_cell(table, (size_t)row, "output_usd_per_mtok"), model));
  return 0;
}
