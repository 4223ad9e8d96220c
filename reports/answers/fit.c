#include "reports/answers/fit.h"

#include "model/questions/question.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"
#include "reports/print/where.h"

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

enum {
  LIST_MODEL,
  LIST_ACCELERATOR,
  LIST_PRECISION,
  LIST_ACCELERATORS,
  LIST_WEIGHTS,
  LIST_LEFT,
  LIST_CONCURRENCY,
  LIST_MOST,
  LIST_CONCURRENCY_MOST,
  LIST_COLUMNS
};

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
  struct answer_cell *row = answer_table_row(listing->fits);
  listing->fitting += fit.accelerators > 0;
  row[LIST_MODEL] = cell_words(model->id);
  row[LIST_ACCELERATOR] = cell_words(device->id);
  row[LIST_PRECISION] = cell_words(precision);
  row[LIST_ACCELERATORS] = count_or_nothing(fit.accelerators);
  row[LIST_WEIGHTS] = cell_value(fit.weights);
  row[LIST_LEFT] = cell_value(fit.left);
  row[LIST_CONCURRENCY] = count_or_nothing(fit.concurrency);
  row[LIST_MOST] = count_or_nothing(fit.most);
  row[LIST_CONCURRENCY_MOST] = count_or_nothing(fit.concurrency_most);
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

static const char *terms_text(const struct fit_terms *terms, struct arena *arena) {
  return arena_printf(arena, "requests of %s tokens, KV cache in %s",
                      number_fixed(terms->context, 0, arena), terms->kv);
}

static const char *assumptions(const struct fit_terms *terms, struct arena *arena) {
  return arena_printf(
      arena,
      "Counted in %.4g %% of the memory: weights, KV cache of whole requests, and the activations "
      "of a step of %s tokens. The model is shared by tensor parallelism, at most over the "
      "scale-up domain or node. Left: all memory of those accelerators beside the weights.",
      100 * terms->memory_share, number_fixed(terms->chunk, 0, arena));
}

static struct answer_table *listing_table(const struct listing *listing, size_t models) {
  struct arena *arena = listing->arena;
  const struct unit *bytes = unit_known("GB", arena), *plain = unit_known("-", arena);
  const struct answer_column columns[LIST_COLUMNS] = {
      [LIST_MODEL] = {"model", "Model", NULL},
      [LIST_ACCELERATOR] = {"accelerator", "Accelerator", NULL},
      [LIST_PRECISION] = {"precision", "In", NULL},
      [LIST_ACCELERATORS] = {"accelerators", "On", plain},
      [LIST_WEIGHTS] = {"weights", "Weights", bytes},
      [LIST_LEFT] = {"left", "Left", bytes},
      [LIST_CONCURRENCY] = {"concurrency", "Users", plain},
      [LIST_MOST] = {"accelerators_most", "On", plain},
      [LIST_CONCURRENCY_MOST] = {"concurrency_most", "Users", plain},
  };
  struct answer_table *table = arena_alloc(arena, sizeof *table);
  *table = answer_table_new("fits", NULL, columns, LIST_COLUMNS,
                            models * listing->accelerators->rows * EVERY, arena);
  table->note = assumptions(&listing->question->terms, arena);
  return table;
}

static const char how_counted[] =
    "Weights are parameters times the bits of the precision, scales included; a token's keys and "
    "values are 2 x layers x KV heads x head dimension numbers, or one latent and one rotary key a "
    "layer with MLA.";

static void add_listing(const struct listing *listing, struct answers *decisions) {
  struct arena *arena = listing->arena;
  struct answer *decision = arena_alloc(arena, sizeof *decision);
  *decision = (struct answer){
      .kind = "fit",
      .name = "catalogue",
      .title =
          arena_printf(arena, "What fits where: %s", terms_text(&listing->question->terms, arena)),
      .sentence = arena_printf(arena,
                               "%zu of %zu combinations fit: first on as few accelerators as "
                               "hold a request, then on as many as hold the most.",
                               listing->fitting, listing->fits->row_count),
      .no = !listing->fitting,
      .tables = listing->fits,
      .table_count = 1};
  texts_add(&decision->reasons, arena, "%s", how_counted);
  *decisions = (struct answers){decision, 1};
}

int answer_fit_catalogue(const struct fit_question *question, struct answers *decisions,
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
  const size_t models = question->parameters > 0 ? 1 : listing.models->rows;
  listing.fits = listing_table(&listing, models);
  for (size_t row = 0; row < models; row++) {
    const struct memory_model model = question->parameters > 0
                                          ? memory_model_of_size(question->parameters, arena)
                                          : memory_model_of(listing.models, row);
    list_model(&listing, &model);
  }
  add_listing(&listing, decisions);
  return 0;
}

// ---- a scenario's options

enum {
  OPTION_NAME,
  OPTION_ACCELERATORS,
  OPTION_MEMORY,
  OPTION_WEIGHTS,
  OPTION_LEFT,
  OPTION_STEP,
  OPTION_REQUEST,
  OPTION_SHARE,
  OPTION_CONCURRENCY,
  OPTION_FLEET,
  OPTION_COLUMNS
};

enum {
  RATE_NAME,
  RATE_TARGET,
  RATE_BATCH,
  RATE_INTERACTIVITY,
  RATE_THROUGHPUT,
  RATE_ROOM,
  RATE_COLUMNS
};

struct fitting {
  const struct scenario *scenario;
  const struct ini_section *section; // [fit], or NULL
  struct fit_terms *terms;           // [option_count]
  struct fit_device *devices;
  struct memory_model *models;
  struct fit *fits;
  struct texts warnings;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static const char *value_of(const struct option *option, enum workload_key key) {
  return option->workload.values[key];
}

static int find_device(struct fitting *fitting, size_t o) {
  const struct option *option = &fitting->scenario->options[o];
  const struct table *table = catalog_table(fitting->scenario->catalog, CATALOG_ACCELERATORS);
  const struct measurement_record *record =
      records_of_backend(fitting->scenario->records, option->accelerator);
  const long row = table ? catalog_find(table, option->accelerator) : -1;
  if (record) {
    fitting->devices[o] = (struct fit_device){option->accelerator, option->accelerator_name, "",
                                              (double)record->device.memory_bytes, 1};
    return 0;
  }
  if (row >= 0 && fit_device_of(table, (size_t)row, &fitting->devices[o]))
    return 0;
  diagnostics_error(fitting->diagnostics, option->place, "the memory of '%s' is not known",
                    option->accelerator);
  return -1;
}

static int find_model(struct fitting *fitting, size_t o) {
  const struct option *option = &fitting->scenario->options[o];
  const struct table *table = catalog_table(fitting->scenario->catalog, CATALOG_MODELS);
  const char *model = value_of(option, WORKLOAD_MODEL);
  const char *precision = value_of(option, WORKLOAD_PRECISION);
  const long row = table && *model ? catalog_find(table, model) : -1;
  if (row >= 0 && memory_bits(precision) > 0) {
    fitting->models[o] = memory_model_of(table, (size_t)row);
    return 0;
  }
  if (row < 0)
    diagnostics_error(fitting->diagnostics, option->place,
                      "option '%s' does not say which model it runs: state [workload] model",
                      option->id);
  else
    diagnostics_error(fitting->diagnostics, option->place,
                      "option '%s' runs in the precision '%s', whose bytes are not known: state "
                      "[workload] precision",
                      option->id, precision);
  return -1;
}

// The tokens that a request holds: as [fit] says; its input and output; the workload's context.
static int find_context(struct fitting *fitting, size_t o) {
  const struct scenario *scenario = fitting->scenario;
  const struct option *option = &scenario->options[o];
  const int input = model_find(scenario->model, "input_tokens"),
            output = model_find(scenario->model, "output_tokens");
  double *context = &fitting->terms[o].context;
  if (*context > 0)
    return 0;
  if (input >= 0 && output >= 0 && option_has(option, input) && option_has(option, output))
    *context = option_value(scenario, option, input, 0) + option_value(scenario, option, output, 0);
  else if (*value_of(option, WORKLOAD_CONTEXT))
    csv_number(value_of(option, WORKLOAD_CONTEXT), context);
  if (*context > 0)
    return 0;
  diagnostics_error(fitting->diagnostics, option->place,
                    "how many tokens a request of option '%s' holds is not said: state [fit] "
                    "context, or [workload] context",
                    option->id);
  return -1;
}

static int read_kv(struct fitting *fitting, struct fit_terms *terms) {
  const struct ini_key *key = fitting->section ? ini_find(fitting->section, "kv") : NULL;
  if (!key)
    return 0;
  terms->kv = key->value;
  if (memory_bits(key->value) > 0)
    return 0;
  diagnostics_error(fitting->diagnostics, key->value_place, "unknown precision '%s'", key->value);
  return -1;
}

static int read_terms(struct fitting *fitting, struct fit_terms *terms) {
  static const char *const keys[] = {"context", "kv", "accelerators", "memory_share",
                                     "prefill_chunk"};
  struct diagnostics *diagnostics = fitting->diagnostics;
  const size_t errors = diagnostics->errors;
  double accelerators = 0;
  *terms = (struct fit_terms){.kv = "", .memory_share = MEMORY_SHARE, .chunk = MEMORY_CHUNK};
  if (fitting->section)
    question_check_keys(fitting->section, keys, sizeof keys / sizeof keys[0], diagnostics);
  question_count(fitting->section, "context", &terms->context, diagnostics);
  question_count(fitting->section, "accelerators", &accelerators, diagnostics);
  question_count(fitting->section, "prefill_chunk", &terms->chunk, diagnostics);
  question_quantity(fitting->section, "memory_share", "%", &terms->memory_share, diagnostics);
  read_kv(fitting, terms);
  terms->accelerators = (int)fmin(accelerators, 1e6);
  if (terms->memory_share > 1)
    diagnostics_error(diagnostics, ini_find(fitting->section, "memory_share")->value_place,
                      "memory_share is at most 100 %%");
  return diagnostics->errors == errors ? 0 : -1;
}

static int find_fits(struct fitting *fitting) {
  const struct scenario *scenario = fitting->scenario;
  struct fit_terms common;
  int result = read_terms(fitting, &common);
  for (size_t o = 0; o < scenario->option_count && !result; o++) {
    const struct option *option = &scenario->options[o];
    fitting->terms[o] = common;
    if (!*common.kv)
      fitting->terms[o].kv =
          *value_of(option, WORKLOAD_KV) ? value_of(option, WORKLOAD_KV) : "bf16";
  }
  for (size_t o = 0; o < scenario->option_count && !result; o++) {
    if (find_device(fitting, o) | find_model(fitting, o) | find_context(fitting, o))
      return -1;
    fitting->fits[o] =
        fit_find(&fitting->models[o], value_of(&scenario->options[o], WORKLOAD_PRECISION),
                 &fitting->devices[o], &fitting->terms[o]);
  }
  return result;
}

// A figure that the answer rests on: a cell of Inputs that the formulas refer to.
static struct answer_cell given(double value, const struct unit *unit, struct arena *arena) {
  return cell_live(value, arena_printf(arena, "[=%s]", quantity_text(value, unit, arena)));
}

static void fill_option(const struct fitting *fitting, size_t o, const struct unit *bytes,
                        const struct unit *plain, const struct unit *percent,
                        struct answer_cell *row) {
  struct arena *arena = fitting->arena;
  const struct option *option = &fitting->scenario->options[o];
  const struct fit *fit = &fitting->fits[o];
  const struct fit_terms *terms = &fitting->terms[o];
  const int shared = fit->accelerators ? fit->accelerators : 1;
  const int r = (int)o;
  const bool is_closed = fit->accelerators && fit->concurrency <= terms->chunk;
  row[OPTION_NAME] = cell_words(option->id);
  row[OPTION_ACCELERATORS] = given(shared, plain, arena);
  row[OPTION_MEMORY] = given(fitting->devices[o].memory, bytes, arena);
  row[OPTION_WEIGHTS] = given(fit->weights, bytes, arena);
  row[OPTION_LEFT] =
      cell_live(fit->left, arena_printf(arena, "[@%d,%d]*[@%d,%d]-[@%d,%d]", r, OPTION_ACCELERATORS,
                                        r, OPTION_MEMORY, r, OPTION_WEIGHTS));
  row[OPTION_STEP] = given(fit->activations, bytes, arena);
  row[OPTION_REQUEST] = given(fit->per_request, bytes, arena);
  row[OPTION_SHARE] = given(terms->memory_share, percent, arena);
  row[OPTION_CONCURRENCY] = cell_value(fit->concurrency);
  if (is_closed)
    row[OPTION_CONCURRENCY].formula = arena_printf(
        arena, "MAX(0,ROUNDDOWN(([@%d,%d]*[@%d,%d]*[@%d,%d]-[@%d,%d]-[@%d,%d])/[@%d,%d],0))", r,
        OPTION_ACCELERATORS, r, OPTION_MEMORY, r, OPTION_SHARE, r, OPTION_WEIGHTS, r, OPTION_STEP,
        r, OPTION_REQUEST);
  const int accelerators = model_find(fitting->scenario->model, "accelerators");
  const double all = option_value(fitting->scenario, option, accelerators, 0);
  row[OPTION_FLEET] =
      cell_live(floor(all / shared) * fit->concurrency,
                arena_printf(arena, "ROUNDDOWN([%s.accelerators]/[@%d,%d],0)*[@%d,%d]", option->id,
                             r, OPTION_ACCELERATORS, r, OPTION_CONCURRENCY));
}

static struct answer_table memory_table(const struct fitting *fitting) {
  struct arena *arena = fitting->arena;
  const size_t count = fitting->scenario->option_count;
  const struct unit *bytes = unit_known("GB", arena), *plain = unit_known("-", arena),
                    *percent = unit_known("%", arena);
  const struct answer_column columns[OPTION_COLUMNS] = {
      [OPTION_NAME] = {"option", "Option", NULL},
      [OPTION_ACCELERATORS] = {"accelerators", "On", plain},
      [OPTION_MEMORY] = {"memory", "Memory", bytes},
      [OPTION_WEIGHTS] = {"weights", "Weights", bytes},
      [OPTION_LEFT] = {"left", "Left", bytes},
      [OPTION_STEP] = {"activations", "Step", bytes},
      [OPTION_REQUEST] = {"request", "Request", bytes},
      [OPTION_SHARE] = {"memory_share", "Used", percent},
      [OPTION_CONCURRENCY] = {"concurrency", "Users", plain},
      [OPTION_FLEET] = {"fleet_concurrency", "Of all", plain},
  };
  struct answer_table table =
      answer_table_new("memory", "Memory", columns, OPTION_COLUMNS, count, arena);
  for (size_t o = 0; o < count; o++)
    fill_option(fitting, o, bytes, plain, percent, answer_table_row(&table));
  table.note = "Memory is one accelerator's; weights, step and request are on all that share the "
               "model. Users = (accelerators x memory x used - weights - step) / request.";
  return table;
}

// Where latency leaves more room than memory does, memory decides.
static void check_room(struct fitting *fitting, size_t o, double room) {
  const struct option *option = &fitting->scenario->options[o];
  if (room < option->choice.batch)
    texts_add(
        &fitting->warnings, fitting->arena,
        "%s: the rate allows batch %d, but memory holds %.0f requests of %.0f tokens on %g: the "
        "cost counts on a batch that does not fit",
        option->id, option->choice.batch, room, fitting->terms[o].context,
        option->curve->accelerators);
}

static struct answer_table rate_table(struct fitting *fitting) {
  struct arena *arena = fitting->arena;
  const struct scenario *scenario = fitting->scenario;
  const struct unit *rate = unit_known("token/s", arena), *plain = unit_known("-", arena);
  const struct answer_column columns[RATE_COLUMNS] = {
      [RATE_NAME] = {"option", "Option", NULL},
      [RATE_TARGET] = {"interactivity_wanted", "Wanted per user", NULL},
      [RATE_BATCH] = {"batch", "Batch", plain},
      [RATE_INTERACTIVITY] = {"interactivity", "Per user", rate},
      [RATE_THROUGHPUT] = {"throughput", "Per accelerator", rate},
      [RATE_ROOM] = {"memory_concurrency", "Memory holds", plain},
  };
  struct answer_table table = answer_table_new("latency", "At the rate per user", columns,
                                               RATE_COLUMNS, scenario->option_count, arena);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (!option->curve)
      continue;
    const double room =
        fit_concurrency(&fitting->models[o], value_of(option, WORKLOAD_PRECISION),
                        &fitting->devices[o], (int)option->curve->accelerators, &fitting->terms[o]);
    struct answer_cell *row = answer_table_row(&table);
    row[RATE_NAME] = cell_words(option->id);
    row[RATE_TARGET] = cell_words(value_of(option, WORKLOAD_INTERACTIVITY));
    row[RATE_BATCH] = cell_value(option->choice.batch);
    row[RATE_INTERACTIVITY] = cell_value(option->choice.interactivity);
    row[RATE_THROUGHPUT] = cell_value(option->choice.throughput);
    row[RATE_ROOM] = cell_value(room);
    check_room(fitting, o, room);
  }
  table.note =
      "The largest batch of the measured range at which throughput over batch reaches the rate, "
      "interpolated where it was not measured. While serving, prefill is in it.";
  return table;
}

static const char *fit_text(const struct fitting *fitting, size_t o) {
  const struct option *option = &fitting->scenario->options[o];
  const struct fit *fit = &fitting->fits[o];
  const struct fit_terms *terms = &fitting->terms[o];
  struct arena *arena = fitting->arena;
  const char *what = arena_printf(arena, "%s: %s in %s", option->id, fitting->models[o].id,
                                  value_of(option, WORKLOAD_PRECISION));
  if (!fit->accelerators && terms->accelerators)
    return arena_printf(arena, "%s does not fit on %d.", what, terms->accelerators);
  if (!fit->accelerators)
    return arena_printf(arena, "%s does not fit on up to %d.", what, fitting->devices[o].most);
  return arena_printf(arena, "%s fits on %d, with %s requests of %s tokens at once.", what,
                      fit->accelerators, number_fixed(fit->concurrency, 0, arena),
                      number_fixed(terms->context, 0, arena));
}

static void check_option(struct fitting *fitting, size_t o) {
  const struct scenario *scenario = fitting->scenario;
  const struct option *option = &scenario->options[o];
  const struct fit *fit = &fitting->fits[o];
  const int accelerators = model_find(scenario->model, "accelerators");
  double batch = 0;
  csv_number(value_of(option, WORKLOAD_BATCH), &batch);
  if (fit->accelerators > option_value(scenario, option, accelerators, 0))
    texts_add(&fitting->warnings, fitting->arena,
              "%s: the model takes %d accelerators, and there are %g", option->id,
              fit->accelerators, option_value(scenario, option, accelerators, 0));
  if (fit->accelerators && !option->curve && batch > fit->concurrency)
    texts_add(&fitting->warnings, fitting->arena,
              "%s: batch %.0f takes more memory than %d accelerators have: they hold %.0f",
              option->id, batch, fit->accelerators, fit->concurrency);
}

bool fit_asked(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].curve)
      return true;
  return question_section(scenario, "fit", NULL) != NULL;
}

static struct texts reasons_of(const struct fitting *fitting) {
  const struct scenario *scenario = fitting->scenario;
  struct texts reasons = {0};
  texts_add(&reasons, fitting->arena, "%s", how_counted);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct memory_model *model = &fitting->models[o];
    const struct fit_terms *terms = &fitting->terms[o];
    texts_add(
        &reasons, fitting->arena,
        "%s: %.4g billion parameters of %.4g bits are %.4g GB; a token's keys and values in %s are "
        "%.0f bytes; a step of %.0f tokens holds %.3g GB of activations.",
        scenario->options[o].id, 1e-9 * model->parameters,
        memory_bits(value_of(&scenario->options[o], WORKLOAD_PRECISION)),
        1e-9 * fitting->fits[o].weights, terms->kv,
        memory_kv_per_token(model, memory_bits(terms->kv)), terms->chunk,
        1e-9 * fitting->fits[o].activations);
  }
  return reasons;
}

int answer_fit(const struct scenario *scenario, const char *only, struct answers *decisions,
               struct arena *arena, struct diagnostics *diagnostics) {
  const size_t count = scenario->option_count;
  struct fitting fitting = {.scenario = scenario,
                            .section = question_section(scenario, "fit", NULL),
                            .terms = arena_array(arena, count, sizeof *fitting.terms),
                            .devices = arena_array(arena, count, sizeof *fitting.devices),
                            .models = arena_array(arena, count, sizeof *fitting.models),
                            .fits = arena_array(arena, count, sizeof *fitting.fits),
                            .arena = arena,
                            .diagnostics = diagnostics};
  (void)only;
  if (find_fits(&fitting))
    return -1;
  struct answer_table *tables = arena_array(arena, 2, sizeof *tables);
  struct answer *decision = arena_alloc(arena, sizeof *decision);
  *decision = (struct answer){.kind = "fit", .name = "options", .sentence = "", .tables = tables};
  tables[0] = memory_table(&fitting);
  tables[1] = rate_table(&fitting);
  decision->table_count = 1 + (tables[1].row_count > 0);
  for (size_t o = 0; o < count; o++) {
    check_option(&fitting, o);
    decision->no |= !fitting.fits[o].accelerators;
    decision->sentence =
        arena_printf(arena, "%s%s%s", decision->sentence, o ? " " : "", fit_text(&fitting, o));
  }
  decision->title = "What fits where";
  decision->reasons = reasons_of(&fitting);
  decision->warnings = fitting.warnings;
  *decisions = (struct answers){decision, 1};
  return 0;
}
