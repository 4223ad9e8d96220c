#include "model/scenario/selection.h"
#include "model/evidence/projection.h"
#include "model/scenario/reading.h"

#include <math.h>
#include <string.h>

static const char *const selection_names[] = {"accelerator", "price", "evidence", "record",
                                              "projection"};

const char *selection_key_name(int key) {
  return key < SELECT_WORKLOAD ? selection_names[key] : workload_key_names[key - SELECT_WORKLOAD];
}

int selection_key_find(const char *name) {
  for (int key = 0; key < SELECTION_KEYS; key++)
    if (!strcmp(selection_key_name(key), name))
      return key;
  return -1;
}

static const char *const precisions[] = {"bf16",  "fp16",  "fp8",  "fp4",  "mxfp8",
                                         "mxfp6", "mxfp4", "int8", "int4", "fp32"};
static const char *const bases[] = {"serving", "decode"};
static const char *const token_kinds[] = {"output", "total"};

static const char *const sparsities[] = {"dense", "sparse"};

static const struct vocabulary {
  enum workload_key key;
  const char *const *words;
  size_t count;
} vocabularies[] = {
    {WORKLOAD_PRECISION, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_ACTIVATIONS, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_KV, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_SPARSITY, sparsities, sizeof sparsities / sizeof sparsities[0]},
    {WORKLOAD_BASIS, bases, sizeof bases / sizeof bases[0]},
    {WORKLOAD_TOKENS, token_kinds, sizeof token_kinds / sizeof token_kinds[0]},
};

static const char *join(const char *const *words, size_t count, struct arena *arena) {
  const char *list = "";
  for (size_t i = 0; i < count; i++)
    list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", words[i]);
  return list;
}

static void check_word(struct reading *reading, enum workload_key which,
                       const struct ini_key *key) {
  for (size_t v = 0; v < sizeof vocabularies / sizeof vocabularies[0]; v++) {
    const struct vocabulary *vocabulary = &vocabularies[v];
    if (vocabulary->key != which)
      continue;
    for (size_t i = 0; i < vocabulary->count; i++)
      if (!strcmp(vocabulary->words[i], key->value))
        return;
    diagnostics_error(reading->diagnostics, key->value_place, "unknown %s '%s': expected %s",
                      workload_key_names[which], key->value,
                      join(vocabulary->words, vocabulary->count, reading->arena));
  }
}

// The row of an id in a table, or -1 with an error that names the nearest id.
static long find_row(struct reading *reading, enum catalog_table which, const char *what,
                     const struct ini_key *key) {
  const struct table *table = catalog_table(reading->catalog, which);
  if (!table)
    return -1;
  long row = catalog_find(table, key->value);
  if (row >= 0)
    return row;
  const char **ids = arena_array(reading->arena, table->rows + 1, sizeof *ids);
  for (size_t i = 0; i < table->rows; i++)
    ids[i] = table_cell(table, i, "id");
  const char *nearest = nearest_name(key->value, ids, table->rows);
  if (nearest)
    diagnostics_error(reading->diagnostics, key->value_place, "unknown %s '%s'; did you mean '%s'?",
                      what, key->value, nearest);
  else
    diagnostics_error(reading->diagnostics, key->value_place,
                      "unknown %s '%s'; see 'pertoken catalog %s'", what, key->value,
                      catalog_table_names[which]);
  return -1;
}

// Written alike whatever its unit was, so that equal rates are equal texts.
static void read_interactivity(struct reading *reading, struct ini_key *key) {
  struct unit unit;
  double rate;
  if (unit_parse("token/s", key->value_place, &unit, reading->arena, reading->diagnostics) ||
      quantity_parse(key->value, key->value_place, &unit, &rate, reading->diagnostics))
    return;
  if (rate <= 0)
    diagnostics_error(reading->diagnostics, key->value_place,
                      "interactivity must be above 0 token/s, not %s", key->value);
  key->value = quantity_text(rate, &unit, reading->arena);
}

static void check_workload_value(struct reading *reading, enum workload_key which,
                                 struct ini_key *key) {
  size_t digits = strspn(key->value, "0123456789");
  if (which == WORKLOAD_INTERACTIVITY)
    read_interactivity(reading, key);
  else if (which == WORKLOAD_MODEL)
    find_row(reading, CATALOG_MODELS, "model", key);
  else if (which == WORKLOAD_BATCH || which == WORKLOAD_CONTEXT) {
    if (!digits || key->value[digits] || digits > 9 || !strspn(key->value, "123456789"))
      diagnostics_error(reading->diagnostics, key->value_place,
                        "expected a positive whole number, not '%s'", key->value);
  } else
    check_word(reading, which, key);
}

bool selection_assign(struct reading *reading, int option, const char *name,
                      const struct ini_key *key) {
  int which = selection_key_find(name);
  if (which < 0 || (option < 0 && which < SELECT_WORKLOAD))
    return false;
  struct ini_key selection = *key;
  const bool optional = which >= SELECT_PRICE && which < SELECT_WORKLOAD;
  if (optional && !*key->value) {
    reading->chosen[option][which] = (struct ini_key){.name = NULL};
    return true;
  }
  if (which >= SELECT_WORKLOAD)
    check_workload_value(reading, (enum workload_key)(which - SELECT_WORKLOAD), &selection);
  if (option < 0)
    reading->common[which] = selection;
  else
    reading->chosen[option][which] = selection;
  return true;
}

static const struct ini_key *selected(const struct reading *reading, size_t option, int which) {
  const struct ini_key *own = &reading->chosen[option][which];
  if (own->name)
    return own;
  return reading->common[which].name ? &reading->common[which] : NULL;
}

// Gives an input a value in every case that has none, or one of the origin `over`.
static void fill_over(struct reading *reading, size_t option, int declaration, enum origin over,
                      struct figure figure) {
  const struct scenario *scenario = reading->scenario;
  size_t count = (size_t)scenario->model->count;
  if (declaration < 0)
    return;
  for (size_t c = 0; c < scenario->case_count; c++) {
    struct figure *at = &scenario->options[option].figures[c * count + (size_t)declaration];
    if (at->origin == ORIGIN_NONE || at->origin == over)
      *at = figure;
  }
}

// Gives an input a value in every case that has none.
static void fill(struct reading *reading, size_t option, int declaration, struct figure figure) {
  fill_over(reading, option, declaration, ORIGIN_NONE, figure);
}

// After an error: one mistake, one message, and not also that the input is missing.
static void pretend_given(struct reading *reading, size_t option, const char *name) {
  fill(reading, option, model_find(reading->scenario->model, name),
       (struct figure){.origin = ORIGIN_CATALOGUE, .value = 1, .source = "", .date = ""});
}

static bool is_given(const struct reading *reading, size_t option, int declaration) {
  return declaration >= 0 &&
         reading->scenario->options[option].figures[declaration].origin != ORIGIN_NONE;
}

static bool is_set(const struct reading *reading, size_t option, int declaration) {
  if (declaration < 0)
    return false;
  const enum origin origin = reading->scenario->options[option].figures[declaration].origin;
  return origin == ORIGIN_SET || origin == ORIGIN_SET_OPTION;
}

// A catalogue cell as a figure; false when it is blank.
static bool cell_figure(const struct table *table, size_t row, const char *column, double scale,
                        struct figure *figure) {
  double value;
  if (!table_number(table, row, column, &value))
    return false;
  *figure = (struct figure){
      .origin = ORIGIN_CATALOGUE,
      .value = value * scale,
      .place = table_place(table, row, column),
      .grade = catalog_grade(table, row),
      .source = table_cell(table, row, "source_title"),
      .date = table_cell(table, row, "as_of"),
  };
  return true;
}

static void apply_accelerator(struct reading *reading, size_t o) {
  struct option *option = &reading->scenario->options[o];
  const struct model *model = reading->scenario->model;
  const struct ini_key *key = selected(reading, o, SELECT_ACCELERATOR);
  if (!key) {
    diagnostics_error(reading->diagnostics, option->place,
                      "option '%s' needs 'accelerator' (an id of 'pertoken catalog accelerators')",
                      option->id);
    return;
  }
  option->accelerator = option->accelerator_name = key->value;
  const struct measurement_record *record = records_of_backend(reading->records, key->value);
  if (record) {
    option->accelerator_name = record->device.name;
    return;
  }
  long row = find_row(reading, CATALOG_ACCELERATORS, "accelerator", key);
  if (row < 0)
    return;
  const struct table *table = catalog_table(reading->catalog, CATALOG_ACCELERATORS);
  option->accelerator_name = table_cell(table, (size_t)row, "name");
  struct figure figure;
  if (cell_figure(table, (size_t)row, "gpus_per_node", 1, &figure))
    fill(reading, o, model_find(model, "accelerators_per_node"), figure);
  if (cell_figure(table, (size_t)row, "tdp_w", 1, &figure)) {
    figure.grade = GRADE_PROJECTED; // TDP stands in for measured watts
    fill(reading, o, model_find(model, "load_power"), figure);
  }
}

// A server's price contains the server, a rack's also the network: they are not to be paid twice,
// and not to be missed.
static void settle_parts(struct reading *reading, size_t o, const struct ini_key *key,
                         const char *category, struct figure price) {
  static const char *const parts[] = {"node_price", "network_price"};
  size_t count = !strcmp(category, "rack") ? 2 : !strcmp(category, "server") ? 1 : 0;
  for (size_t i = 0; i < count; i++) {
    int d = model_find(reading->scenario->model, parts[i]);
    if (!is_given(reading, o, d)) {
      price.value = 0;
      price.in_usd = false;
      price.source = arena_printf(reading->arena, "contained in the price %s", key->value);
      fill(reading, o, d, price);
      continue;
    }
    diagnostics_error(reading->diagnostics, reading->scenario->options[o].figures[d].place,
                      "price '%s' of option '%s' is of a whole %s: it contains '%s'", key->value,
                      reading->scenario->options[o].id, category, parts[i]);
  }
}

static void apply_price(struct reading *reading, size_t o) {
  const struct ini_key *key = selected(reading, o, SELECT_PRICE);
  if (!key)
    return;
  struct option *option = &reading->scenario->options[o];
  int list_price = model_find(reading->scenario->model, "list_price");
  if (list_price < 0)
    return;
  if (option->figures[list_price].origin == ORIGIN_OPTION) {
    diagnostics_error(reading->diagnostics, key->place,
                      "option '%s' has both 'price' and 'list_price': give one", option->id);
    return;
  }
  size_t errors = reading->diagnostics->errors;
  long row = find_row(reading, CATALOG_PRICES, "price", key);
  if (row < 0)
    return;
  const struct table *table = catalog_table(reading->catalog, CATALOG_PRICES);
  const char *of = table_cell(table, (size_t)row, "accelerator");
  const char *basis = table_cell(table, (size_t)row, "price_basis");
  struct figure figure;
  if (strcmp(of, option->accelerator) != 0)
    diagnostics_error(reading->diagnostics, key->value_place, "price '%s' is of '%s', not of '%s'",
                      key->value, *of ? of : "no accelerator", option->accelerator);
  else if (strcmp(basis, "purchase") != 0 ||
           !cell_figure(table, (size_t)row, "usd_per_gpu_equivalent", 1, &figure))
    diagnostics_error(reading->diagnostics, key->value_place,
                      "price '%s' is no purchase price per accelerator (%s)", key->value, basis);
  else {
    figure.in_usd = reading->scenario->model->declarations[list_price].in_usd >= 0;
    fill(reading, o, list_price, figure);
    settle_parts(reading, o, key, table_cell(table, (size_t)row, "category"), figure);
  }
  if (reading->diagnostics->errors != errors)
    pretend_given(reading, o, "list_price");
}

static void fill_workload(struct reading *reading, size_t o) {
  struct workload *workload = &reading->scenario->options[o].workload;
  for (int k = 0; k < WORKLOAD_KEYS; k++) {
    const struct ini_key *key = selected(reading, o, SELECT_WORKLOAD + k);
    workload->values[k] = key ? key->value : "";
    workload->places[k] = key ? key->value_place : (struct place){0};
  }
}

// A case or --set may replace the evidence; the option itself is to say one or the other.
static bool stated_in_option(const struct reading *reading, size_t option, int a, int b) {
  const struct figure *figures = reading->scenario->options[option].figures;
  return (a >= 0 && figures[a].origin == ORIGIN_OPTION) ||
         (b >= 0 && figures[b].origin == ORIGIN_OPTION);
}

// Decoding alone is not serving; with a prefill rate it is.
static void settle_basis(struct reading *reading, size_t o) {
  struct option *option = &reading->scenario->options[o];
  const struct model *model = reading->scenario->model;
  option->decode_only = is_given(reading, o, model_find(model, "decode_throughput")) &&
                        !is_given(reading, o, model_find(model, "prefill_throughput"));
  const char **basis = &option->workload.values[WORKLOAD_BASIS];
  if (option->decode_only)
    *basis = "decode";
  else if (!**basis)
    *basis = "serving";
}

// Whether every user is to get a rate, so that the batch follows from a curve.
static bool chooses_batch(const struct option *option) {
  return *option->workload.values[WORKLOAD_INTERACTIVITY] != 0;
}

// The place on an option's curve that its interactivity chooses, and the batch that follows.
static int choose_on_curve(struct reading *reading, size_t o, const struct curve *curve) {
  struct option *option = &reading->scenario->options[o];
  struct workload *workload = &option->workload;
  const struct place place = workload->places[WORKLOAD_INTERACTIVITY];
  struct unit unit;
  double target;
  if (unit_parse("token/s", place, &unit, reading->arena, reading->diagnostics) ||
      quantity_parse(workload->values[WORKLOAD_INTERACTIVITY], place, &unit, &target,
                     reading->diagnostics) ||
      curve_choose(curve, target, place, &option->choice, reading->diagnostics))
    return -1;
  option->curve = curve;
  workload->values[WORKLOAD_BATCH] = arena_printf(reading->arena, "%d", option->choice.batch);
  return 0;
}

static enum grade grade_on_curve(const struct option *option, enum grade grade) {
  const bool projected = !option->choice.is_measured && grade < GRADE_PROJECTED;
  return projected ? GRADE_PROJECTED : grade;
}

static const char *words_on_curve(const struct reading *reading, const struct option *option,
                                  const char *source) {
  const struct curve *curve = option->curve;
  return arena_printf(reading->arena, "%s; %s batch %d of %g to %g for %s per user", source,
                      option->choice.is_measured ? "at" : "interpolated to", option->choice.batch,
                      curve->batch[0], curve->batch[curve->count - 1],
                      option->workload.values[WORKLOAD_INTERACTIVITY]);
}

static int recorded_at_rate(struct reading *reading, size_t o, const char *file, struct place place,
                            struct recorded *recorded) {
  struct option *option = &reading->scenario->options[o];
  struct curve *curve = arena_alloc(reading->arena, sizeof *curve);
  if (recorded_curve(reading->records, file, option->accelerator, &option->workload, place, curve,
                     recorded, reading->arena, reading->diagnostics) ||
      choose_on_curve(reading, o, curve))
    return -1;
  recorded->throughput = option->choice.throughput;
  recorded->load_power_w = option->choice.load_power;
  recorded->grade = grade_on_curve(option, curve->grade);
  recorded->source = words_on_curve(reading, option,
                                    arena_printf(reading->arena, "records of %s, decode only",
                                                 recorded->nearest->record->device.name));
  recorded->load_source = words_on_curve(reading, option, recorded->load_source);
  return 0;
}

static int published_at_rate(struct reading *reading, size_t o, const char *wanted_id,
                             struct place place, struct evidence *evidence) {
  struct option *option = &reading->scenario->options[o];
  struct curve *curve = arena_alloc(reading->arena, sizeof *curve);
  if (evidence_curve(reading->catalog, option->accelerator, &option->workload, wanted_id, place,
                     curve, evidence, reading->diagnostics) ||
      choose_on_curve(reading, o, curve))
    return -1;
  evidence->throughput = option->choice.throughput;
  evidence->grade = grade_on_curve(option, evidence->grade);
  evidence->id =
      arena_printf(reading->arena, "%s..%s", curve->ids[0], curve->ids[curve->count - 1]);
  evidence->source = words_on_curve(reading, option, evidence->source);
  return 0;
}

static struct figure recorded_figure(const struct recorded *recorded, double value,
                                     const char *source) {
  return (struct figure){.origin = ORIGIN_CATALOGUE,
                         .value = value,
                         .place = recorded->nearest->place,
                         .grade = recorded->grade,
                         .source = source,
                         .date = recorded->date};
}

// The workload as a record measured it.
static void take_workload(struct option *option, const struct measurement *measured) {
  option->workload.values[WORKLOAD_MODEL] = measured->model.id;
  option->workload.values[WORKLOAD_PRECISION] = measured->precision;
  option->workload.values[WORKLOAD_ACTIVATIONS] = recorded_precision(measured->types.activations);
  option->workload.values[WORKLOAD_KV] = recorded_precision(measured->types.kv);
}

static int choose_record(struct reading *reading, size_t o, const struct ini_key *key,
                         struct recorded *recorded) {
  struct option *option = &reading->scenario->options[o];
  const struct place place = key ? key->value_place : option->place;
  const char *file = key ? key->value : "";
  if (chooses_batch(option))
    return recorded_at_rate(reading, o, file, place, recorded);
  return recorded_choose(reading->records, file, option->accelerator, &option->workload, place,
                         recorded, reading->arena, reading->diagnostics);
}

static void take_record(struct reading *reading, size_t o, const struct recorded *recorded) {
  struct option *option = &reading->scenario->options[o];
  const struct model *model = reading->scenario->model;
  const struct measurement *nearest = recorded->nearest;
  option->record = nearest;
  take_workload(option, nearest);
  fill(reading, o, model_find(model, "decode_throughput"),
       recorded_figure(recorded, recorded->throughput, recorded->source));
  if (isfinite(recorded->load_power_w)) // in place of the TDP
    fill_over(reading, o, model_find(model, "load_power"), ORIGIN_CATALOGUE,
              recorded_figure(recorded, recorded->load_power_w, recorded->load_source));
  if (isfinite(recorded->idle_power_w))
    fill(reading, o, model_find(model, "idle_power"),
         recorded_figure(recorded, recorded->idle_power_w, recorded->idle_source));
}

static void apply_record(struct reading *reading, size_t o, const struct ini_key *key) {
  struct recorded recorded;
  if (choose_record(reading, o, key, &recorded) == 0) {
    take_record(reading, o, &recorded);
    return;
  }
  pretend_given(reading, o, "decode_throughput");
  pretend_given(reading, o, "load_power");
}

// A record's throughput typed over with --set, as one does in a cell of the workbook: its watts
// stay. Where no record fits there are none to keep.
static void keep_watts(struct reading *reading, size_t o, const struct ini_key *key) {
  struct diagnostics unheard = {.arena = reading->arena};
  struct reading quiet = *reading;
  struct recorded recorded;
  quiet.diagnostics = &unheard;
  if (choose_record(&quiet, o, key, &recorded) == 0)
    take_record(reading, o, &recorded);
}

static void apply_published(struct reading *reading, size_t o, const struct ini_key *key) {
  struct option *option = &reading->scenario->options[o];
  struct workload *workload = &option->workload;
  // A throughput is of output tokens while serving, unless the workload says otherwise.
  if (!*workload->values[WORKLOAD_TOKENS])
    workload->values[WORKLOAD_TOKENS] = "output";
  if (!*workload->values[WORKLOAD_BASIS])
    workload->values[WORKLOAD_BASIS] = "serving";
  struct evidence evidence;
  const struct place place = key ? key->value_place : option->place;
  if (chooses_batch(option)
          ? published_at_rate(reading, o, key ? key->value : "", place, &evidence)
          : evidence_choose(reading->catalog, option->accelerator, workload, key ? key->value : "",
                            place, &evidence, reading->diagnostics)) {
    pretend_given(reading, o, "throughput");
    return;
  }
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    if (*evidence.workload.values[k] && (k != WORKLOAD_BATCH || !option->curve))
      workload->values[k] = evidence.workload.values[k];
  option->throughput_doubt = evidence.doubt;
  fill(reading, o, model_find(reading->scenario->model, "throughput"),
       (struct figure){.origin = ORIGIN_CATALOGUE,
                       .value = evidence.throughput,
                       .place = evidence.place,
                       .grade = evidence.grade,
                       .source =
                           arena_printf(reading->arena, "%s: %s", evidence.id, evidence.source),
                       .date = evidence.date});
}

static void apply_projection(struct reading *reading, size_t o, const struct ini_key *key) {
  struct option *option = &reading->scenario->options[o];
  struct projection projection;
  if (projection_make(reading->records, key->value, reading->catalog, option->accelerator,
                      &option->workload, key->value_place, &projection, reading->arena,
                      reading->diagnostics)) {
    pretend_given(reading, o, "decode_throughput");
    return;
  }
  take_workload(option, projection.from);
  fill(reading, o, model_find(reading->scenario->model, "decode_throughput"),
       (struct figure){.origin = ORIGIN_CATALOGUE,
                       .value = projection.tokens_per_s *
                                conversion_table[CONVERT_SECONDS_PER_HOUR].value,
                       .place = projection.from->place,
                       .grade = GRADE_PROJECTED,
                       .source = projection.source,
                       .date = projection.date});
}

// Whether the accelerator's own decoding of the workload is measured, or published: either outranks
// what is projected from another's.
static bool has_record(const struct reading *reading, const struct option *option) {
  struct diagnostics unheard = {.arena = reading->arena};
  struct recorded recorded;
  return !recorded_choose(reading->records, "", option->accelerator, &option->workload,
                          option->place, &recorded, reading->arena, &unheard);
}

static bool is_published(const struct reading *reading, const struct option *option) {
  struct diagnostics unheard = {.arena = reading->arena};
  struct evidence evidence;
  return !strcmp(option->workload.values[WORKLOAD_BASIS], "decode") &&
         !evidence_choose(reading->catalog, option->accelerator, &option->workload, "",
                          option->place, &evidence, &unheard);
}

// The projection, unless something outranks it, which is said.
static const struct ini_key *still_projected(struct reading *reading, const struct option *option,
                                             const struct ini_key *projection) {
  const char *better = !projection                     ? NULL
                       : has_record(reading, option)   ? "measured"
                       : is_published(reading, option) ? "published"
                                                       : NULL;
  if (!better)
    return projection;
  diagnostics_warning(reading->diagnostics, projection->place,
                      "the projection of option '%s' is not used: its accelerator's own figure is "
                      "%s",
                      option->id, better);
  return NULL;
}

// Whether a record speaks for the option though none is named: its device is known from records
// alone, or the workload is decoding, of which nothing is published, and its accelerator was
// measured.
static bool is_measured(const struct reading *reading, const struct option *option) {
  const struct workload *workload = &option->workload;
  const bool decoding = !strcmp(workload->values[WORKLOAD_BASIS], "decode") ||
                        !strcmp(workload->values[WORKLOAD_SCENARIO], "decode");
  return records_of_backend(reading->records, option->accelerator) ||
         (decoding && records_of_accelerator(reading->records, option->accelerator));
}

// Its own word, else a record where one is asked for or speaks for it, else what is published.
static void apply_evidence(struct reading *reading, size_t o) {
  struct option *option = &reading->scenario->options[o];
  const struct model *model = reading->scenario->model;
  int throughput = model_find(model, "throughput"), decode = model_find(model, "decode_throughput");
  const struct ini_key *evidence = selected(reading, o, SELECT_EVIDENCE);
  const struct ini_key *record = selected(reading, o, SELECT_RECORD);
  const struct ini_key *projection = selected(reading, o, SELECT_PROJECTION);
  const struct ini_key *named = evidence ? evidence : record ? record : projection;
  fill_workload(reading, o);
  if (chooses_batch(option) && *option->workload.values[WORKLOAD_BATCH]) {
    diagnostics_error(reading->diagnostics, option->workload.places[WORKLOAD_BATCH],
                      "option '%s' has both batch and interactivity: the rate chooses the batch",
                      option->id);
    pretend_given(reading, o, "throughput");
  } else if (evidence && record)
    diagnostics_error(reading->diagnostics, record->place,
                      "option '%s' names both evidence and a record: give one", option->id);
  else if (projection && named != projection)
    diagnostics_error(reading->diagnostics, projection->place,
                      "option '%s' names both a projection and what outranks it: give one",
                      option->id);
  else if (is_given(reading, o, decode) || is_given(reading, o, throughput)) {
    if (named && stated_in_option(reading, o, throughput, decode))
      diagnostics_error(reading->diagnostics, named->place,
                        "option '%s' states a throughput and names evidence for one: give one",
                        option->id);
    if (is_set(reading, o, decode) && !is_given(reading, o, throughput) &&
        (record || is_measured(reading, option)))
      keep_watts(reading, o, record);
  } else if (still_projected(reading, option, projection))
    apply_projection(reading, o, projection);
  else if (record || (projection && has_record(reading, option)) || is_measured(reading, option))
    apply_record(reading, o, record);
  else
    apply_published(reading, o, evidence);
  settle_basis(reading, o);
}

void selection_apply(struct reading *reading, size_t option) {
  size_t errors = reading->diagnostics->errors;
  apply_accelerator(reading, option);
  if (reading->diagnostics->errors != errors)
    return;
  apply_price(reading, option);
  apply_evidence(reading, option);
}
