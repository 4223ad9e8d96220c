#include "probe/sessions/trials.h"

#include "base/source.h"
#include "kernels/decode.h"
#include "kernels/share.h"
#include "model/evidence/catalog.h"
#include "probe/devices/precision.h"
#include "probe/measure/prefill.h"
#include "probe/options/values.h"

#include <stdbool.h>
#include <string.h>

// A slice of half a period would be extrapolated to a model with different layers.
static int check_depth(const struct trials_scope *scope, const struct measurement_shape *model,
                       int layers) {
  const int whole = model_shape_depth(model, layers);
  if (layers == model->layers || layers == whole)
    return 0;
  const char *why = layers <= model->experts.dense_layers
                        ? arena_printf(scope->arena, "its first %d layers have no experts",
                                       model->experts.dense_layers)
                        : arena_printf(scope->arena, "its layers repeat in groups of %d",
                                       model->layer.full_every);
  diagnostics_error(scope->diagnostics, nowhere,
                    "--layers %d cuts the pattern of %s: %s; the next depth that does not is %d",
                    layers, model->id, why, whole < model->layers ? whole : model->layers);
  return -1;
}

static int choose_layers(const struct trials_scope *scope, const struct measurement_shape *model,
                         struct trial *trial) {
  const struct number_list *layers = &scope->options->layers;
  trial->layer_count = layers->count ? layers->count : 1;
  trial->layers[0] = model->layers;
  for (size_t i = 0; i < layers->count; i++)
    trial->layers[i] = layers->values[i];
  const int deepest = trial_deepest(trial);
  if (deepest > model->layers) {
    diagnostics_error(scope->diagnostics, nowhere, "%s has %d layers, but --layers asks for %d",
                      model->id, model->layers, deepest);
    return -1;
  }
  for (size_t i = 0; i < trial->layer_count; i++)
    if (check_depth(scope, model, trial->layers[i]))
      return -1;
  return 0;
}

static int check_shard(const struct trials_scope *scope, const struct measurement_shape *model) {
  const int ranks = scope->rank_count ? (int)scope->rank_count : scope->options->shard.of;
  const char *what;
  if (ranks < 2 || model_shape_divides(model, ranks, &what, scope->arena))
    return 0;
  diagnostics_error(scope->diagnostics, nowhere,
                    "%s has %s, which cannot be divided among %d devices", model->id, what, ranks);
  return -1;
}

static int check_variant(const struct trials_scope *scope) {
  const struct decode_backend *backend = scope->device->backend;
  if (!scope->options->variant || backend->variant)
    return 0;
  diagnostics_error(scope->diagnostics, nowhere,
                    "%s has no variants of its kernels: leave --variant out", backend->name);
  return -1;
}

// Refuses a precision that the model's row excludes.
static int check_precision(const struct trials_scope *scope, const struct trial *trial) {
  const char *excluded = scope->notes->excluded;
  if (!excluded || !catalog_lists(excluded, trial->precision))
    return 0;
  diagnostics_error(scope->diagnostics, nowhere,
                    "%s cannot be run in %s: its row in models.csv excludes that precision; choose "
                    "one of %s",
                    trial->model.id, trial->precision, precision_names(excluded, scope->arena));
  return -1;
}

static int check_prefills(const struct trials_scope *scope, const struct trial *trial) {
  const struct decode_backend *backend = scope->device->backend;
  if (trial->prefill_count && (!backend->prefill || !backend->set_position)) {
    diagnostics_error(scope->diagnostics, nowhere,
                      "%s has no prefill, so --prefill cannot be measured there", backend->name);
    return -1;
  }
  for (size_t i = 0; i < trial->prefill_count; i++)
    if (trial->prefills[i] > trial->context) {
      diagnostics_error(scope->diagnostics, nowhere,
                        "a prompt of %d tokens is longer than the cache of %d: choose a longer "
                        "--context",
                        trial->prefills[i], trial->context);
      return -1;
    }
  return 0;
}

// Refuses a share that no device could hold of a model together with others.
static int check_blocks(const struct trials_scope *scope, const struct trial *trial) {
  const struct decode_shape whole = model_shape_of(&trial->model, trial_deepest(trial));
  char words[SHARE_WORDS];
  if (trial->shard.of < 2 || !share_cut(&whole, &trial->types, trial->shard.of, words))
    return 0;
  diagnostics_error(scope->diagnostics, nowhere, "%s in %s cannot be divided among %d devices: %s",
                    trial->model.id, trial->precision, trial->shard.of, words);
  return -1;
}

// Refuses activations that no kernel multiplies weights of that precision by.
static int check_activations(const struct trials_scope *scope, const struct trial *trial,
                             const struct precision_request *wanted) {
  const char *others = precision_other_activations(wanted, scope->arena);
  if (!others)
    return 0;
  const char *parts =
      wanted->of_experts_alone
          ? arena_printf(scope->arena,
                         " in %s, which holds only its experts in it and the rest in bf16",
                         trial->model.id)
          : "";
  diagnostics_error(scope->diagnostics, nowhere,
                    "--activations %s does not go with %s%s: choose %s, or leave it out",
                    wanted->activations, trial->precision, parts, others);
  return -1;
}

// Says whether it is the model or the chosen variant that the device cannot run.
static void refuse_types(const struct trials_scope *scope, const struct trial *trial,
                         const struct precision_request *wanted, enum decode_status status) {
  const struct decode_backend *backend = scope->device->backend;
  const char *why = device_failure(backend, status, scope->arena);
  const char *words =
      arena_copy(scope->arena, backend->error && backend->error() ? backend->error() : "");
  struct decode_request own = trial_request(trial, trial_deepest(trial));
  own.variant = NULL;
  if (trial->variant && precision_choose(scope->device, wanted, &own) == DECODE_OK)
    diagnostics_error(scope->diagnostics, nowhere, "--variant %s: %s", trial->variant,
                      *words ? words : why);
  else
    diagnostics_error(scope->diagnostics, nowhere, "%s cannot run %s with kv %s and head %s: %s",
                      backend->name, trial_text(trial, scope->arena), wanted->kv, wanted->head,
                      why);
}

static int choose_types(const struct trials_scope *scope, struct trial *trial) {
  const struct probe_options *options = scope->options;
  const char *usual_head = strcmp(trial->precision, "int8") ? "bf16" : "weights";
  const char *experts = scope->notes->expert_precision;
  const struct precision_request wanted = {
      .weights = trial->precision,
      .of_experts_alone = experts && !strcmp(experts, trial->precision),
      .kv = options->kv,
      .activations = options->activations,
      .head = options->head ? options->head : usual_head,
  };
  if (check_activations(scope, trial, &wanted))
    return -1;
  struct decode_request request = trial_request(trial, trial_deepest(trial));
  const enum decode_status status = precision_choose(scope->device, &wanted, &request);
  trial->types = request.types;
  if (status == DECODE_OK)
    return check_blocks(scope, trial);
  refuse_types(scope, trial, &wanted, status);
  return -1;
}

static int add_trial(const struct trials_scope *scope, struct trial_list *trials,
                     const struct trial *trial) {
  struct trial *added = &trials->list[trials->count];
  *added = *trial;
  added->number = trials->count;
  if (check_precision(scope, added) || check_prefills(scope, added) || choose_types(scope, added))
    return -1;
  if (model_shape_window_is_idle(&added->model, added->context))
    diagnostics_warning(scope->diagnostics, nowhere,
                        "%s attends to the last %d positions, which is all of a context of %d: "
                        "full attention is measured",
                        added->model.id, added->model.layer.window, added->context);
  trials->count++;
  return 0;
}

static const int *indices_of(const struct trials_scope *scope) {
  int *indices = arena_array(scope->arena, scope->rank_count, sizeof *indices);
  for (size_t i = 0; i < scope->rank_count; i++)
    indices[i] = scope->ranks[i].index;
  return indices;
}

// What all of them have in common.
static struct trial common_trial(const struct trials_scope *scope,
                                 const struct measurement_shape *model) {
  const struct probe_options *options = scope->options;
  return (struct trial){.model = *model,
                        .threads = options->threads,
                        .seed = options->seed,
                        .routing = options->routing,
                        .skew = options->skew,
                        .prefills = options->prefills.values,
                        .prefill_count = options->prefills.count,
                        .chunk = options->chunk ? options->chunk : PREFILL_CHUNK,
                        .shard = options->shard,
                        .ranks = scope->ranks,
                        .rank_indices = indices_of(scope),
                        .rank_count = (int)scope->rank_count,
                        .variant = options->variant,
                        .fastest = options->fastest};
}

static int check_routing(const struct trials_scope *scope, const struct measurement_shape *model) {
  if (scope->options->routing == ROUTING_MODEL || model->experts.count)
    return 0;
  diagnostics_error(scope->diagnostics, nowhere, "--routing selects experts, but %s has none",
                    model->id);
  return -1;
}

int trials_find(const struct trials_scope *scope, const struct measurement_shape *model,
                struct trial_list *trials) {
  const struct probe_options *options = scope->options;
  struct trial trial = common_trial(scope, model);
  const size_t max_count =
      options->precision_count * options->batches.count * options->contexts.count;
  *trials = (struct trial_list){arena_array(scope->arena, max_count, sizeof *trials->list), 0};
  if (check_routing(scope, model) || choose_layers(scope, model, &trial) ||
      check_shard(scope, model) || check_variant(scope))
    return -1;
  for (size_t p = 0; p < options->precision_count; p++)
    for (size_t b = 0; b < options->batches.count; b++)
      for (size_t c = 0; c < options->contexts.count; c++) {
        trial.precision = options->precisions[p];
        trial.batch = options->batches.values[b];
        trial.context = options->contexts.values[c];
        if (add_trial(scope, trials, &trial))
          return -1;
      }
  return 0;
}
