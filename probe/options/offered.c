#include "probe/options/offered.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/delivery/offer.h"
#include "model/evidence/workload.h"
#include "probe/devices/precision.h"
#include "probe/options/values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_decoding(const struct offer_guarantee *guarantee) {
  return !strcmp(guarantee->workload.values[WORKLOAD_BASIS], "decode");
}

static void take_number(const struct workload *workload, enum workload_key key,
                        struct number_list *out) {
  if (*workload->values[key])
    *out = (struct number_list){{atoi(workload->values[key])}, 1};
}

static void take_text(const struct workload *workload, enum workload_key key, const char **out) {
  if (*workload->values[key])
    *out = workload->values[key];
}

// The probe computes embedding and head in bf16 or as the weights.
static int take_head(const struct workload *workload, const char *precision, const char **out,
                     struct diagnostics *diagnostics) {
  const char *head = workload->values[WORKLOAD_HEAD];
  const bool is_bf16 = !strcmp(head, "bf16");
  if (!*head)
    return 0;
  *out = is_bf16 ? "bf16" : "weights";
  if (is_bf16 || !strcmp(head, precision))
    return 0;
  diagnostics_error(diagnostics, workload->places[WORKLOAD_HEAD],
                    "the probe cannot measure a head in %s with weights in %s: only one in bf16, "
                    "or as the weights",
                    head, precision);
  return -1;
}

static int take(const struct offer_guarantee *guarantee, struct probe_options *options,
                struct diagnostics *diagnostics) {
  const struct workload *workload = &guarantee->workload;
  const char *precision = precision_find(workload->values[WORKLOAD_PRECISION], diagnostics);
  if (!precision)
    return -1;
  options->model = workload->values[WORKLOAD_MODEL];
  options->precisions[0] = precision;
  options->precision_count = 1;
  take_number(workload, WORKLOAD_BATCH, &options->batches);
  take_number(workload, WORKLOAD_CONTEXT, &options->contexts);
  take_text(workload, WORKLOAD_KV, &options->kv);
  take_text(workload, WORKLOAD_ACTIVATIONS, &options->activations);
  return take_head(workload, precision, &options->head, diagnostics);
}

static int refuse_name(const struct offer *offer, const char *name,
                       struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  const char **names = arena_array(arena, offer->guarantee_count, sizeof *names);
  for (size_t g = 0; g < offer->guarantee_count; g++)
    names[g] = offer->guarantees[g].name;
  diagnostics_error(diagnostics, nowhere, "the offer has no guarantee '%s'%s", name,
                    name_hint(name, names, offer->guarantee_count, arena));
  return -1;
}

static void warn_of_serving(const struct texts *serving, struct diagnostics *diagnostics) {
  if (serving->count)
    diagnostics_warning(diagnostics, nowhere,
                        "not measured here: %s, of serving, for which 'pertoken probe serving' "
                        "loads each node's server",
                        texts_joined(serving, diagnostics->arena));
}

static int take_all(const struct offer *offer, const struct probe_options *options,
                    struct offered *list, size_t *count, struct diagnostics *diagnostics) {
  const char *wanted = options->fleet.guarantee;
  struct texts serving = {0};
  size_t named = 0;
  for (size_t g = 0; g < offer->guarantee_count; g++) {
    const struct offer_guarantee *guarantee = &offer->guarantees[g];
    if (wanted && strcmp(wanted, guarantee->name) != 0)
      continue;
    named++;
    if (!is_decoding(guarantee)) {
      texts_add(&serving, diagnostics->arena, "'%s'", guarantee->name);
      continue;
    }
    list[*count] = (struct offered){guarantee->name, *options};
    if (take(guarantee, &list[(*count)++].options, diagnostics))
      return -1;
  }
  if (wanted && !named)
    return refuse_name(offer, wanted, diagnostics);
  warn_of_serving(&serving, diagnostics);
  if (*count)
    return 0;
  diagnostics_error(diagnostics, nowhere, "the offer guarantees no decoding%s",
                    wanted ? " by that name" : "");
  return -1;
}

int offered_read(const struct probe_options *options, struct catalog *catalog,
                 struct offered **list, size_t *count, struct arena *arena,
                 struct diagnostics *diagnostics) {
  *count = 0;
  if (!options->fleet.offer) {
    *list = arena_alloc(arena, sizeof **list);
    (*list)[(*count)++] = (struct offered){"", *options};
    return 0;
  }
  const struct offer *offer = offer_read(options->fleet.offer, catalog, arena, diagnostics);
  if (!offer)
    return -1;
  *list = arena_array(arena, offer->guarantee_count + 1, sizeof **list);
  return take_all(offer, options, *list, count, diagnostics);
}

// ---- the plan

static const char *with_numbers(const char *text, const struct number_list *list,
                                struct arena *arena) {
  text = arena_printf(arena, "%s|", text);
  for (size_t i = 0; i < list->count; i++)
    text = arena_printf(arena, "%s %d", text, list->values[i]);
  return text;
}

static const char *variant_text(const struct probe_options *options) {
  return options->fastest ? "fastest" : options->variant ? options->variant : "own";
}

static const char *workload_text(const struct probe_options *options, struct arena *arena) {
  const char *text = arena_printf(
      arena, "%s|%s|%s|%s|%s|%.17g|%.17g|%.17g|%d|%.17g|%d|%d|%llu|%d|%.9g|%d|%s", options->device,
      options->model, options->kv, options->head ? options->head : "",
      options->activations ? options->activations : "", options->time_s, options->energy_s,
      options->soak_s, options->shard.of, options->shard.all_reduce_s, options->tensor_parallel,
      options->threads, (unsigned long long)options->seed, (int)options->routing,
      (double)options->skew, options->chunk, variant_text(options));
  for (size_t i = 0; i < options->precision_count; i++)
    text = arena_printf(arena, "%s|%s", text, options->precisions[i]);
  text = with_numbers(text, &options->batches, arena);
  text = with_numbers(text, &options->contexts, arena);
  text = with_numbers(text, &options->layers, arena);
  return with_numbers(text, &options->prefills, arena);
}

const char *offered_plan(const struct offered *list, size_t count, struct arena *arena) {
  const char *text = "";
  for (size_t i = 0; i < count; i++)
    text = arena_printf(arena, "%s%s\n", text, workload_text(&list[i].options, arena));
  return arena_copy_n(arena, source_sha256(source_from_text("plan", text, arena), arena), 16);
}
