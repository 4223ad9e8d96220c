#include "reports/answers/fit.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/memory.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"
#include "model/questions/fitting.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/where.h"

#include <math.h>

// ---- the catalogue

enum {
  CONDITION_MODEL,
  CONDITION_ACCELERATOR,
  CONDITION_PRECISION,
  CONDITION_FITS = 4,
  CONDITION_COLUMNS
};

static const char *const condition_columns[CONDITION_COLUMNS] = {"model", "accelerator",
                                                                 "precision", "vendor", "fits"};

static const char *const usual_precisions[] = {"bf16", "fp8", "fp4"};

enum { USUAL = sizeof usual_precisions / sizeof usual_precisions[0] };

struct listing {
  const struct fit_question *question;
  const struct table *models, *accelerators;
  struct where *conditions;
  struct texts readings; // how names in conditions were interpreted
  struct answer_table *fits;
  struct texts lower_bounds; // accelerators listed whose usable memory is unknown
  size_t fitting;
  struct arena *arena;
};

static const struct where *condition_on(const struct listing *listing, size_t column) {
  for (size_t i = 0; i < listing->question->where_count; i++)
    if (listing->conditions[i].column == column && !listing->conditions[i].contains)
      return &listing->conditions[i];
  return NULL;
}

static struct answer_cell count_or_nothing(double value) {
  return value > 0 || isnan(value) ? cell_value(value) : cell_nothing();
}

static void note_memory(struct listing *listing, const struct fit_device *device) {
  if (device->memory_is_lower_bound && !texts_have(&listing->lower_bounds, device->id))
    texts_add(&listing->lower_bounds, listing->arena, "%s", device->id);
}

// A number of parameters alone says nothing of layers and KV heads, so nothing of requests.
static bool weights_only(const struct fit_question *question) {
  return question->parameters > 0;
}

static void list_fit(struct listing *listing, const struct memory_model *model,
                     const char *precision, const struct fit_device *device) {
  const struct fit fit = fit_find(model, precision, device, &listing->question->terms);
  const char *fits = fit.accelerators ? "yes" : "no";
  const char *const texts[CONDITION_COLUMNS] = {model->id, device->id, precision, device->vendor,
                                                fits};
  for (size_t i = 0; i < listing->question->where_count; i++)
    if (!where_holds(&listing->conditions[i], texts[listing->conditions[i].column]))
      return;
  note_memory(listing, device);
  listing->fitting += fit.accelerators > 0;
  if (weights_only(listing->question)) {
    ANSWER_ROW(listing->fits, cell_words(model->id), cell_words(device->id), cell_words(precision),
               count_or_nothing(fit.accelerators), cell_value(fit.weights), cell_value(fit.left));
    return;
  }
  ANSWER_ROW(listing->fits, cell_words(model->id), cell_words(device->id), cell_words(precision),
             count_or_nothing(fit.accelerators), cell_value(fit.weights), cell_value(fit.left),
             count_or_nothing(fit.concurrency), count_or_nothing(fit.most),
             count_or_nothing(fit.concurrency_most), count_or_nothing(fit.replica_most));
}

static void list_model(struct listing *listing, const struct memory_model *model) {
  const struct where *wanted = condition_on(listing, CONDITION_PRECISION);
  const char *const *precisions = wanted ? naming_precisions : usual_precisions;
  for (size_t row = 0; row < listing->accelerators->rows; row++) {
    struct fit_device device;
    if (!fit_device_of(listing->accelerators, row, &device))
      continue;
    for (size_t p = 0; p < (wanted ? NAMING_PRECISIONS : USUAL); p++)
      list_fit(listing, model, precisions[p], &device);
  }
}

// Replaces a condition's value by the name that is meant. A name that does not exist is a mistake,
// not a condition that nothing meets.
static int settle_name(struct listing *listing, struct where *condition, struct naming naming,
                       struct diagnostics *diagnostics) {
  if (!naming.word) {
    diagnostics_error(diagnostics, nowhere, "%s", naming.why);
    return -1;
  }
  condition->value = naming.word;
  if (naming.note)
    texts_add(&listing->readings, listing->arena, "%s", naming.note);
  return 0;
}

static int settle_condition(struct listing *listing, struct where *condition,
                            struct diagnostics *diagnostics) {
  struct catalog *catalog = listing->question->catalog;
  const bool any_model = weights_only(listing->question);
  long row;
  if (condition->contains)
    return 0;
  if (condition->column == CONDITION_PRECISION)
    return settle_name(listing, condition,
                       naming_find_precision(catalog, condition->value, listing->arena),
                       diagnostics);
  if (condition->column == CONDITION_ACCELERATOR ||
      (condition->column == CONDITION_MODEL && !any_model)) {
    const enum catalog_table table =
        condition->column == CONDITION_MODEL ? CATALOG_MODELS : CATALOG_ACCELERATORS;
    return settle_name(listing, condition,
                       naming_find_row(catalog, table, condition->value, &row, listing->arena),
                       diagnostics);
  }
  return 0;
}

static int settle_conditions(struct listing *listing, struct diagnostics *diagnostics) {
  int result = 0;
  for (size_t i = 0; i < listing->question->where_count; i++)
    if (settle_condition(listing, &listing->conditions[i], diagnostics))
      result = -1;
  return result;
}

static const char *assumptions(const struct fit_terms *terms, struct arena *arena) {
  return arena_printf(arena,
                      "Counted within %.4g %% of the memory: weights, KV cache of whole requests, "
                      "and the activations of a step of %s tokens. The model is split by tensor "
                      "parallelism, or, with experts, by attention data parallelism if that holds "
                      "more, at most across the scale-up domain or node. Weights include copies. "
                      "Left: all memory of those accelerators except these. Each: accelerators of "
                      "a replica, if several hold the most.",
                      100 * terms->memory_share, number_fixed(terms->chunk, 0, arena));
}

static void warn_of_lower_bounds(const struct listing *listing, struct answer *answer) {
  if (listing->lower_bounds.count)
    answer_warn(answer,
                "the datasheet's memory counts, a lower bound, where what the driver reports is "
                "unknown: %s",
                texts_joined_by(&listing->lower_bounds, ", ", listing->arena));
}

static const char how_counted[] =
    "Weights are parameters times bits of the precision, scales included, with embeddings and the "
    "output head in 16 bits, and all but the experts where a model is published so; a token's keys "
    "and values take 2 x layers x KV heads x head dimension numbers, or with MLA one latent and "
    "one "
    "rotary key per layer.";

static struct answer_table *weights_table(struct answer *answer, const struct fit_terms *terms,
                                          struct arena *arena) {
  struct answer_table *table = ANSWER_TABLE(answer, "fits", NULL, {"model", "Model", NULL},
                                            {"accelerator", "Accelerator", NULL},
                                            {"precision", "In", NULL}, {"accelerators", "On", "-"},
                                            {"weights", "Weights", "GB"}, {"left", "Left", "GB"});
  table->note =
      arena_printf(arena,
                   "Counted within %.4g %% of the memory: weights alone. Left: all memory "
                   "of those accelerators except these.",
                   100 * terms->memory_share);
  return table;
}

static struct answer_table *requests_table(struct answer *answer, const struct fit_terms *terms,
                                           struct arena *arena) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "fits", NULL, {"model", "Model", NULL}, {"accelerator", "Accelerator", NULL},
      {"precision", "In", NULL}, {"accelerators", "On", "-"}, {"weights", "Weights", "GB"},
      {"left", "Left", "GB"}, {"concurrency", "Users", "-"}, {"accelerators_most", "On", "-"},
      {"concurrency_most", "Users", "-"}, {"replica_most", "Each", "-"});
  table->note = assumptions(terms, arena);
  return table;
}

static void list_models(struct listing *listing) {
  const double parameters = listing->question->parameters;
  const size_t models = weights_only(listing->question) ? 1 : listing->models->rows;
  for (size_t row = 0; row < models; row++) {
    const struct memory_model model = weights_only(listing->question)
                                          ? memory_model_of_size(parameters, listing->arena)
                                          : memory_model_of(listing->models, row);
    list_model(listing, &model);
  }
}

static const char *catalogue_title(const struct fit_question *question, struct arena *arena) {
  if (weights_only(question))
    return "What holds the weights: requests are not counted";
  return arena_printf(arena, "What fits where: requests of %s tokens, KV cache in %s",
                      number_fixed(question->terms.context, 0, arena), question->terms.kv);
}

static const char *catalogue_sentence(const struct listing *listing) {
  return arena_printf(listing->arena,
                      weights_only(listing->question)
                          ? "%zu of %zu combinations hold the weights, on the fewest accelerators "
                            "that do. The number of parameters says nothing of the KV cache, so "
                            "whether a request fits beside them is unknown."
                          : "%zu of %zu combinations fit: first on the fewest accelerators that "
                            "hold a request, then on the number that holds the most.",
                      listing->fitting, listing->fits->row_count);
}

int answer_fit_catalogue(const struct fit_question *question, struct answers *answers,
                         struct arena *arena, struct diagnostics *diagnostics) {
  struct listing listing = {
      .question = question,
      .models = catalog_table(question->catalog, CATALOG_MODELS),
      .accelerators = catalog_table(question->catalog, CATALOG_ACCELERATORS),
      .conditions = arena_array(arena, question->where_count + 1, sizeof *listing.conditions),
      .arena = arena};
  if (!listing.models || !listing.accelerators ||
      where_parse(question->wheres, question->where_count, condition_columns, CONDITION_COLUMNS,
                  "fit", listing.conditions, diagnostics) ||
      settle_conditions(&listing, diagnostics))
    return -1;
  struct answer answer =
      answer_new("fit", "catalogue", catalogue_title(question, arena), NULL, arena);
  answer.warnings = listing.readings;
  listing.fits =
      (weights_only(question) ? weights_table : requests_table)(&answer, &question->terms, arena);
  list_models(&listing);
  if (!listing.fits->row_count && !condition_on(&listing, CONDITION_FITS)) {
    diagnostics_error(diagnostics, nowhere, "no combination matches all of --where");
    return -1;
  }
  warn_of_lower_bounds(&listing, &answer);
  answer.sentence = catalogue_sentence(&listing);
  answer.no = !listing.fitting;
  answer_reason(&answer, "%s", how_counted);
  answers_add(answers, answer);
  return 0;
}

// ---- a scenario's options

// Columns that formulas refer to.
enum {
  AT_ACCELERATORS = 1,
  AT_MEMORY,
  AT_WEIGHTS,
  AT_STEP = 5,
  AT_RANKS,
  AT_REQUEST,
  AT_SHARE,
  AT_CONCURRENCY,
};

struct writing {
  const struct scenario *scenario;
  const struct option_fit *fits;
  size_t fit_count;
  struct answer *answer;
  struct arena *arena;
};

// A figure that the answer depends on: a cell of Inputs that formulas refer to.
static struct answer_cell given(const struct writing *writing, double value, const char *unit) {
  const char *text = quantity_text(value, unit_known(unit, writing->arena), writing->arena);
  return cell_live(value, arena_printf(writing->arena, "[=%s]", text));
}

static double accelerators_of(const struct writing *writing, const struct option *option) {
  const int accelerators = model_find(writing->scenario->model, "accelerators");
  return option_value(writing->scenario, option, accelerators, 0);
}

// The concurrency as a formula, if the step is no longer than its chunk; else NULL.
static const char *concurrency_formula(const struct writing *writing, const struct option_fit *of,
                                       int r) {
  if (!of->fit.accelerators || of->fit.concurrency > of->fit.ranks * of->terms.chunk)
    return NULL;
  return arena_printf(
      writing->arena,
      "[@%d,%d]*MAX(0,ROUNDDOWN(([@%d,%d]*[@%d,%d]*[@%d,%d]-[@%d,%d]-[@%d,%d])/[@%d,%d]/"
      "[@%d,%d],0))",
      r, AT_RANKS, r, AT_ACCELERATORS, r, AT_MEMORY, r, AT_SHARE, r, AT_WEIGHTS, r, AT_STEP, r,
      AT_RANKS, r, AT_REQUEST);
}

static void add_memory_row(const struct writing *writing, struct answer_table *table, size_t o) {
  const struct option_fit *of = &writing->fits[o];
  const int shared = of->fit.accelerators ? of->fit.accelerators : 1, r = (int)o;
  ANSWER_ROW(
      table, cell_option(of->option), given(writing, shared, "-"),
      given(writing, of->device.memory, "GB"), given(writing, of->fit.weights, "GB"),
      cell_live(of->fit.left, arena_printf(writing->arena, "[@%d,%d]*[@%d,%d]-[@%d,%d]", r,
                                           AT_ACCELERATORS, r, AT_MEMORY, r, AT_WEIGHTS)),
      given(writing, of->fit.activations, "GB"), given(writing, of->fit.ranks, "-"),
      given(writing, of->fit.per_request, "GB"), given(writing, of->terms.memory_share, "%"),
      cell_live(of->fit.concurrency, concurrency_formula(writing, of, r)),
      cell_live(floor(accelerators_of(writing, of->option) / shared) * of->fit.concurrency,
                arena_printf(writing->arena, "ROUNDDOWN([%s.accelerators]/[@%d,%d],0)*[@%d,%d]",
                             of->option->id, r, AT_ACCELERATORS, r, AT_CONCURRENCY)));
}

static void add_memory(const struct writing *writing) {
  struct answer_table *table = ANSWER_TABLE(
      writing->answer, "memory", "Memory", {"option", "Option", NULL}, {"accelerators", "On", "-"},
      {"memory", "Memory", "GB"}, {"weights", "Weights", "GB"}, {"left", "Left", "GB"},
      {"activations", "Step", "GB"}, {"ranks", "Ranks", "-"}, {"request", "Request", "GB"},
      {"memory_share", "Used", "%"}, {"concurrency", "Users", "-"},
      {"fleet_concurrency", "Of all", "-"});
  for (size_t o = 0; o < writing->fit_count; o++)
    add_memory_row(writing, table, o);
  table->note =
      "Memory is per accelerator; weights and step are totals over the accelerators that share the "
      "model, copies included; a request is what its rank holds of it. Ranks have requests of "
      "their "
      "own: one with tensor parallelism on a node, every accelerator with attention data "
      "parallelism. Users = ranks x whole requests in ((accelerators x memory x used - weights - "
      "step) / ranks).";
}

// "10 token/s, TTFT 2 s"
static const char *limits_text(const struct option *option, struct arena *arena) {
  static const struct {
    enum workload_key key;
    const char *name;
  } limits[] = {{WORKLOAD_INTERACTIVITY, ""}, {WORKLOAD_TTFT, "TTFT "}, {WORKLOAD_TPOT, "TPOT "}};
  const char *text = "";
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (*option->workload.values[limits[i].key])
      text = joined(
          text, arena_printf(arena, "%s%s", limits[i].name, option->workload.values[limits[i].key]),
          arena);
  return text;
}

static void add_rate_row(const struct writing *writing, struct answer_table *table,
                         const struct option_fit *of) {
  const struct option *option = of->option;
  const double room = fit_concurrency(&of->model, of->precision, &of->device,
                                      (int)option->curve->accelerators, &of->terms);
  ANSWER_ROW(table, cell_option(option), cell_words(limits_text(option, writing->arena)),
             cell_value(option->choice.batch),
             cell_value(rate_per_hour(option->choice.interactivity)),
             cell_value(rate_per_hour(option->choice.tokens_per_s)), cell_value(room));
  if (room < option->choice.batch) // where latency leaves more room than memory does
    answer_warn(writing->answer,
                "%s: the rate allows batch %d, but memory holds %.0f requests of %.0f tokens on "
                "%g: the cost assumes a batch that does not fit",
                option->label, option->choice.batch, room, of->terms.context,
                option->curve->accelerators);
}

static void add_rates(const struct writing *writing) {
  struct answer_table *table = ANSWER_TABLE(
      writing->answer, "latency", "Batch for the target rate per user", {"option", "Option", NULL},
      {"interactivity_wanted", "Target per user", NULL}, {"batch", "Batch", "-"},
      {"interactivity", "Per user", "token/s"}, {"throughput", "Per accelerator", "token/s"},
      {"memory_concurrency", "Memory holds", "-"});
  for (size_t o = 0; o < writing->fit_count; o++)
    if (writing->fits[o].option->curve)
      add_rate_row(writing, table, &writing->fits[o]);
  table->note =
      "The largest batch in the measured range that meets the target, interpolated between "
      "measured batches. Per user is throughput divided by batch, an average; for serving it "
      "includes "
      "prefill.";
  if (!table->row_count)
    writing->answer->table_count--;
}

// The table of replicas over nodes, for faces without warnings.
static void add_spans(const struct writing *writing) {
  struct answer_table *table =
      ANSWER_TABLE(writing->answer, "spans", "Replicas over nodes", {"option", "Option", NULL},
                   {"nodes", "Nodes", "-"}, {"rate", "Its rate", NULL});
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t o = 0; o < writing->fit_count; o++) {
    const struct option_fit *of = &writing->fits[o];
    const char *doubt = fitting_rate_doubt(writing->scenario, of->option, &of->fit, writing->arena);
    if (of->fit.nodes > 1)
      ANSWER_ROW(table, cell_option(of->option), cell_value(of->fit.nodes),
                 cell_words(doubt ? doubt : "at that span"));
  }
  if (!table->row_count)
    writing->answer->table_count--;
}

static const char *counted(int accelerators, struct arena *arena) {
  return text_counted((size_t)accelerators, "accelerator", arena);
}

static const char *fit_text(const struct writing *writing, const struct option_fit *of) {
  struct arena *arena = writing->arena;
  const double there = accelerators_of(writing, of->option);
  const char *what =
      arena_printf(arena, "%s: %s in %s", of->option->label, of->model.id, of->precision);
  if (!of->fit.accelerators && of->terms.accelerators)
    return arena_printf(arena, "%s does not fit on %s.", what,
                        counted(of->terms.accelerators, arena));
  if (!of->fit.accelerators)
    return arena_printf(
        arena, "%s does not fit on up to %s.", what,
        counted(of->device.most * (of->terms.nodes > 0 ? of->terms.nodes : MAX_SPAN), arena));
  if (of->fit.accelerators > there)
    return arena_printf(arena, "%s takes %s, more than the option has, %g.", what,
                        counted(of->fit.accelerators, arena), there);
  const char *span = of->fit.nodes > 1 ? arena_printf(arena, " in %d nodes", of->fit.nodes) : "";
  const char *split = of->fit.split == SPLIT_ATTENTION ? " by attention data parallelism" : "";
  return arena_printf(arena, "%s fits on %s%s%s, with %s requests of %s tokens at once.", what,
                      counted(of->fit.accelerators, arena), span, split,
                      number_fixed(of->fit.concurrency, 0, arena),
                      number_fixed(of->terms.context, 0, arena));
}

static void check_option(const struct writing *writing, const struct option_fit *of) {
  const struct option *option = of->option;
  double batch = 0;
  csv_number(option->workload.values[WORKLOAD_BATCH], &batch);
  const char *doubt = fitting_rate_doubt(writing->scenario, option, &of->fit, writing->arena);
  if (doubt)
    answer_warn(writing->answer, "%s: %s", option->label, doubt);
  if (of->device.memory_is_lower_bound)
    answer_warn(writing->answer,
                "%s: the memory of %s is its datasheet's, a lower bound: what its driver reports "
                "is unknown",
                option->label, of->device.id);
  if (of->fit.accelerators && !option->curve && batch > of->fit.concurrency)
    answer_warn(writing->answer,
                "%s: batch %.0f needs more memory than %d accelerators have: they hold %.0f",
                option->label, batch, of->fit.accelerators, of->fit.concurrency);
}

static void add_reason(const struct writing *writing, const struct option_fit *of) {
  const double copy = memory_weights(&of->model, of->precision);
  const char *copies =
      of->fit.weights > copy
          ? arena_printf(writing->arena, ", with copies %.4g GB", 1e-9 * of->fit.weights)
          : "";
  answer_reason(writing->answer,
                "%s: %.4g billion parameters in %s are %.4g GB%s; a token's keys and values in %s "
                "are %.0f bytes; a step of %.0f tokens holds %.3g GB of activations.",
                of->option->label, 1e-9 * of->model.parameters, of->precision, 1e-9 * copy, copies,
                of->terms.kv, memory_kv_per_token(&of->model, memory_bits(of->terms.kv)),
                of->terms.chunk, 1e-9 * of->fit.activations);
}

bool fit_asked(const struct scenario *scenario) {
  return fitting_is_asked(scenario);
}

int answer_fit(const struct scenario *scenario, const char *only, struct answers *answers,
               struct arena *arena, struct diagnostics *diagnostics) {
  struct answer answer = answer_new("fit", "options", "What fits where", scenario, arena);
  struct writing writing = {.scenario = scenario, .answer = &answer, .arena = arena};
  writing.fits = fitting_of(scenario, &writing.fit_count, arena, diagnostics);
  (void)only;
  if (!writing.fits)
    return -1;
  add_memory(&writing);
  add_rates(&writing);
  add_spans(&writing);
  answer_reason(&answer, "%s", how_counted);
  answer.sentence = "";
  for (size_t o = 0; o < writing.fit_count; o++) {
    const struct option_fit *of = &writing.fits[o];
    check_option(&writing, of);
    add_reason(&writing, of);
    answer.no |=
        !of->fit.accelerators || of->fit.accelerators > accelerators_of(&writing, of->option);
    answer.sentence =
        arena_printf(arena, "%s%s%s", answer.sentence, o ? " " : "", fit_text(&writing, of));
  }
  answers_add(answers, answer);
  return 0;
}
