#include "reports/answers/fit.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/memory.h"
#include "model/evidence/workload.h"
#include "model/questions/fitting.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"
#include "reports/print/where.h"

#include <math.h>
#include <string.h>

static const struct place nowhere = {0};

// ---- the catalogue

enum { CONDITION_MODEL, CONDITION_ACCELERATOR, CONDITION_PRECISION, CONDITION_COLUMNS = 5 };

static const char *const condition_columns[CONDITION_COLUMNS] = {"model", "accelerator",
                                                                 "precision", "vendor", "fits"};

static const char *const usual_precisions[] = {"bf16", "fp8", "fp4"};
static const char *const every_precision[] = {"fp32",  "bf16",  "fp16", "fp8",   "int8",
                                              "mxfp8", "mxfp6", "fp4",  "mxfp4", "int4"};

enum { USUAL = sizeof usual_precisions / sizeof usual_precisions[0] };
enum { EVERY = sizeof every_precision / sizeof every_precision[0] };

struct listing {
  const struct fit_question *question;
  const struct table *models, *accelerators;
  struct where *conditions;
  struct answer_table *fits;
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

static void list_fit(struct listing *listing, const struct memory_model *model,
                     const char *precision, const struct fit_device *device) {
  const struct fit fit = fit_find(model, precision, device, &listing->question->terms);
  const char *fits = fit.accelerators ? "yes" : "no";
  const char *const texts[CONDITION_COLUMNS] = {model->id, device->id, precision, device->vendor,
                                                fits};
  for (size_t i = 0; i < listing->question->where_count; i++)
    if (!where_holds(&listing->conditions[i], texts[listing->conditions[i].column]))
      return;
  listing->fitting += fit.accelerators > 0;
  ANSWER_ROW(listing->fits, cell_words(model->id), cell_words(device->id), cell_words(precision),
             count_or_nothing(fit.accelerators), cell_value(fit.weights), cell_value(fit.left),
             count_or_nothing(fit.concurrency), count_or_nothing(fit.most),
             count_or_nothing(fit.concurrency_most));
}

static void list_model(struct listing *listing, const struct memory_model *model) {
  const struct where *wanted = condition_on(listing, CONDITION_PRECISION);
  const char *const *precisions = wanted ? every_precision : usual_precisions;
  for (size_t row = 0; row < listing->accelerators->rows; row++) {
    struct fit_device device;
    if (!fit_device_of(listing->accelerators, row, &device))
      continue;
    for (size_t p = 0; p < (wanted ? EVERY : USUAL); p++)
      list_fit(listing, model, precisions[p], &device);
  }
}

static int unknown_value(const char *what, const char *value, const char *const *known,
                         size_t count, struct diagnostics *diagnostics) {
  const char *nearest = nearest_name(value, known, count);
  diagnostics_error(diagnostics, nowhere, "unknown %s '%s'%s", what, value,
                    did_you_mean(nearest, diagnostics->arena));
  return -1;
}

static int check_id(const struct listing *listing, size_t column, const struct table *table,
                    struct diagnostics *diagnostics) {
  const struct where *condition = condition_on(listing, column);
  if (!condition || catalog_find(table, condition->value) >= 0)
    return 0;
  const char **ids = arena_array(listing->arena, table->rows + 1, sizeof *ids);
  for (size_t row = 0; row < table->rows; row++)
    ids[row] = table_cell(table, row, "id");
  return unknown_value(condition_columns[column], condition->value, ids, table->rows, diagnostics);
}

// A condition that names what does not exist is a slip, not a narrow question.
static int check_conditions(const struct listing *listing, struct diagnostics *diagnostics) {
  const struct where *precision = condition_on(listing, CONDITION_PRECISION);
  int result = 0;
  if (listing->question->parameters == 0)
    result = check_id(listing, CONDITION_MODEL, listing->models, diagnostics);
  if (check_id(listing, CONDITION_ACCELERATOR, listing->accelerators, diagnostics))
    result = -1;
  if (precision && memory_bits(precision->value) == 0)
    result = unknown_value("precision", precision->value, every_precision, EVERY, diagnostics);
  return result;
}

static const char *assumptions(const struct fit_terms *terms, struct arena *arena) {
  return arena_printf(
      arena,
      "Counted in %.4g %% of the memory: weights, KV cache of whole requests, and the activations "
      "of a step of %s tokens. The model is shared by tensor parallelism, at most over the "
      "scale-up domain or node. Left: all memory of those accelerators beside the weights.",
      100 * terms->memory_share, number_fixed(terms->chunk, 0, arena));
}

static const char how_counted[] =
    "Weights are parameters times the bits of the precision, scales included; a token's keys and "
    "values are 2 x layers x KV heads x head dimension numbers, or one latent and one rotary key a "
    "layer with MLA.";

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
      check_conditions(&listing, diagnostics))
    return -1;
  struct answer answer =
      answer_new("fit", "catalogue",
                 arena_printf(arena, "What fits where: requests of %s tokens, KV cache in %s",
                              number_fixed(question->terms.context, 0, arena), question->terms.kv),
                 NULL, arena);
  listing.fits = ANSWER_TABLE(&answer, "fits", NULL, {"model", "Model", NULL},
                              {"accelerator", "Accelerator", NULL}, {"precision", "In", NULL},
                              {"accelerators", "On", "-"}, {"weights", "Weights", "GB"},
                              {"left", "Left", "GB"}, {"concurrency", "Users", "-"},
                              {"accelerators_most", "On", "-"}, {"concurrency_most", "Users", "-"});
  listing.fits->note = assumptions(&question->terms, arena);
  const size_t models = question->parameters > 0 ? 1 : listing.models->rows;
  for (size_t row = 0; row < models; row++) {
    const struct memory_model model = question->parameters > 0
                                          ? memory_model_of_size(question->parameters, arena)
                                          : memory_model_of(listing.models, row);
    list_model(&listing, &model);
  }
  answer.sentence = arena_printf(arena,
                                 "%zu of %zu combinations fit: first on as few accelerators as "
                                 "hold a request, then on as many as hold the most.",
                                 listing.fitting, listing.fits->row_count);
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
  AT_REQUEST,
  AT_SHARE,
  AT_CONCURRENCY,
};

struct writing {
  const struct scenario *scenario;
  const struct option_fit *fits;
  struct answer *answer;
  struct arena *arena;
};

// A figure that the answer rests on: a cell of Inputs that the formulas refer to.
static struct answer_cell given(const struct writing *writing, double value, const char *unit) {
  const char *text = quantity_text(value, unit_known(unit, writing->arena), writing->arena);
  return cell_live(value, arena_printf(writing->arena, "[=%s]", text));
}

static double accelerators_of(const struct writing *writing, const struct option *option) {
  const int accelerators = model_find(writing->scenario->model, "accelerators");
  return option_value(writing->scenario, option, accelerators, 0);
}

// Where the step is no longer than its chunk.
static const char *concurrency_formula(const struct writing *writing, const struct option_fit *of,
                                       int r) {
  if (!of->fit.accelerators || of->fit.concurrency > of->terms.chunk)
    return NULL;
  return arena_printf(
      writing->arena, "MAX(0,ROUNDDOWN(([@%d,%d]*[@%d,%d]*[@%d,%d]-[@%d,%d]-[@%d,%d])/[@%d,%d],0))",
      r, AT_ACCELERATORS, r, AT_MEMORY, r, AT_SHARE, r, AT_WEIGHTS, r, AT_STEP, r, AT_REQUEST);
}

static void add_memory_row(const struct writing *writing, struct answer_table *table, size_t o) {
  const struct option_fit *of = &writing->fits[o];
  const int shared = of->fit.accelerators ? of->fit.accelerators : 1, r = (int)o;
  ANSWER_ROW(
      table, cell_words(of->option->id), given(writing, shared, "-"),
      given(writing, of->device.memory, "GB"), given(writing, of->fit.weights, "GB"),
      cell_live(of->fit.left, arena_printf(writing->arena, "[@%d,%d]*[@%d,%d]-[@%d,%d]", r,
                                           AT_ACCELERATORS, r, AT_MEMORY, r, AT_WEIGHTS)),
      given(writing, of->fit.activations, "GB"), given(writing, of->fit.per_request, "GB"),
      given(writing, of->terms.memory_share, "%"),
      cell_live(of->fit.concurrency, concurrency_formula(writing, of, r)),
      cell_live(floor(accelerators_of(writing, of->option) / shared) * of->fit.concurrency,
                arena_printf(writing->arena, "ROUNDDOWN([%s.accelerators]/[@%d,%d],0)*[@%d,%d]",
                             of->option->id, r, AT_ACCELERATORS, r, AT_CONCURRENCY)));
}

static void add_memory(const struct writing *writing) {
  struct answer_table *table = ANSWER_TABLE(
      writing->answer, "memory", "Memory", {"option", "Option", NULL}, {"accelerators", "On", "-"},
      {"memory", "Memory", "GB"}, {"weights", "Weights", "GB"}, {"left", "Left", "GB"},
      {"activations", "Step", "GB"}, {"request", "Request", "GB"}, {"memory_share", "Used", "%"},
      {"concurrency", "Users", "-"}, {"fleet_concurrency", "Of all", "-"});
  for (size_t o = 0; o < writing->scenario->option_count; o++)
    add_memory_row(writing, table, o);
  table->note = "Memory is one accelerator's; weights, step and request are on all that share the "
                "model. Users = (accelerators x memory x used - weights - step) / request.";
}

static void add_rate_row(const struct writing *writing, struct answer_table *table,
                         const struct option_fit *of) {
  const struct option *option = of->option;
  const double room = fit_concurrency(&of->model, of->precision, &of->device,
                                      (int)option->curve->accelerators, &of->terms);
  ANSWER_ROW(table, cell_words(option->id),
             cell_words(option->workload.values[WORKLOAD_INTERACTIVITY]),
             cell_value(option->choice.batch), cell_value(option->choice.interactivity),
             cell_value(option->choice.throughput), cell_value(room));
  if (room < option->choice.batch) // where latency leaves more room than memory does
    answer_warn(writing->answer,
                "%s: the rate allows batch %d, but memory holds %.0f requests of %.0f tokens on "
                "%g: the cost counts on a batch that does not fit",
                option->id, option->choice.batch, room, of->terms.context,
                option->curve->accelerators);
}

static void add_rates(const struct writing *writing) {
  struct answer_table *table = ANSWER_TABLE(
      writing->answer, "latency", "At the rate per user", {"option", "Option", NULL},
      {"interactivity_wanted", "Wanted per user", NULL}, {"batch", "Batch", "-"},
      {"interactivity", "Per user", "token/s"}, {"throughput", "Per accelerator", "token/s"},
      {"memory_concurrency", "Memory holds", "-"});
  for (size_t o = 0; o < writing->scenario->option_count; o++)
    if (writing->fits[o].option->curve)
      add_rate_row(writing, table, &writing->fits[o]);
  table->note =
      "The largest batch of the measured range at which throughput over batch reaches the rate, "
      "interpolated where it was not measured. While serving, prefill is in it.";
  if (!table->row_count)
    writing->answer->table_count--;
}

static const char *fit_text(const struct option_fit *of, struct arena *arena) {
  const char *what =
      arena_printf(arena, "%s: %s in %s", of->option->id, of->model.id, of->precision);
  if (!of->fit.accelerators && of->terms.accelerators)
    return arena_printf(arena, "%s does not fit on %d.", what, of->terms.accelerators);
  if (!of->fit.accelerators)
    return arena_printf(arena, "%s does not fit on up to %d.", what, of->device.most);
  return arena_printf(arena, "%s fits on %d, with %s requests of %s tokens at once.", what,
                      of->fit.accelerators, number_fixed(of->fit.concurrency, 0, arena),
                      number_fixed(of->terms.context, 0, arena));
}

static void check_option(const struct writing *writing, const struct option_fit *of) {
  const struct option *option = of->option;
  const double there = accelerators_of(writing, option);
  double batch = 0;
  csv_number(option->workload.values[WORKLOAD_BATCH], &batch);
  if (of->fit.accelerators > there)
    answer_warn(writing->answer, "%s: the model takes %d accelerators, and there are %g",
                option->id, of->fit.accelerators, there);
  if (of->fit.accelerators && !option->curve && batch > of->fit.concurrency)
    answer_warn(writing->answer,
                "%s: batch %.0f takes more memory than %d accelerators have: they hold %.0f",
                option->id, batch, of->fit.accelerators, of->fit.concurrency);
}

static void add_reason(const struct writing *writing, const struct option_fit *of) {
  answer_reason(
      writing->answer,
      "%s: %.4g billion parameters of %.4g bits are %.4g GB; a token's keys and values in %s are "
      "%.0f bytes; a step of %.0f tokens holds %.3g GB of activations.",
      of->option->id, 1e-9 * of->model.parameters, memory_bits(of->precision),
      1e-9 * of->fit.weights, of->terms.kv,
      memory_kv_per_token(&of->model, memory_bits(of->terms.kv)), of->terms.chunk,
      1e-9 * of->fit.activations);
}

bool fit_asked(const struct scenario *scenario) {
  return fitting_is_asked(scenario);
}

int answer_fit(const struct scenario *scenario, const char *only, struct answers *answers,
               struct arena *arena, struct diagnostics *diagnostics) {
  struct answer answer = answer_new("fit", "options", "What fits where", scenario, arena);
  const struct writing writing = {scenario, fitting_of(scenario, arena, diagnostics), &answer,
                                  arena};
  (void)only;
  if (!writing.fits)
    return -1;
  add_memory(&writing);
  add_rates(&writing);
  answer_reason(&answer, "%s", how_counted);
  answer.sentence = "";
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_fit *of = &writing.fits[o];
    check_option(&writing, of);
    add_reason(&writing, of);
    answer.no |= !of->fit.accelerators;
    answer.sentence =
        arena_printf(arena, "%s%s%s", answer.sentence, o ? " " : "", fit_text(of, arena));
  }
  answers_add(answers, answer);
  return 0;
}
