#include "model/draft/workload.h"

#include "base/csv.h"
#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "model/evidence/roofline.h"
#include "model/evidence/workload.h"

#include <math.h>
#include <string.h>

struct search {
  const struct draft_tables *tables;
  const size_t *accelerators; // rows for which evidence is sought
  size_t count;
  const size_t *computing; // rows that should compute in the precision
  size_t computing_count;
  struct arena *arena;
};

// The merit of a form; earlier members have priority.
struct merit {
  struct draft_workload form;
  size_t published; // accelerators with evidence
  bool is_comparable;
  bool is_native;
  enum grade grade; // the weakest of the evidence
  size_t rank;      // of the scenario: 0 is the most common
  struct date date; // the oldest of the evidence
  double log_rate;  // the sum over the evidence
};

// ---- forms

static const char *cell(const struct search *search, size_t row, const char *column) {
  return table_cell(search->tables->throughputs, row, column);
}

static bool is_usable(const struct search *search, size_t row, const char *model) {
  return !strcmp(cell(search, row, "model"), model) && *cell(search, row, "precision") &&
         *cell(search, row, "scenario") && !strcmp(cell(search, row, "token_basis"), "output") &&
         !*cell(search, row, "speculation") &&
         strcmp(cell(search, row, "scenario"), "agentic") != 0;
}

// The rule of evidence.h accepts MLPerf's requests with MLPerf's lengths.
static struct draft_workload form_of(const struct search *search, size_t row) {
  const struct table *table = search->tables->throughputs;
  struct draft_workload form = {.model = cell(search, row, "model"),
                                .precision = cell(search, row, "precision"),
                                .scenario = cell(search, row, "scenario"),
                                .activations = cell(search, row, "activations"),
                                .batch = ""};
  if (catalog_grade(table, row) != GRADE_BENCHMARK) {
    table_number(table, row, "isl", &form.input_tokens);
    table_number(table, row, "osl", &form.output_tokens);
  }
  return form;
}

// The same form with the row's batch, "" if that is not a number.
static struct draft_workload form_at_batch(const struct search *search, size_t row) {
  struct draft_workload form = form_of(search, row);
  const char *batch = cell(search, row, "batch_or_concurrency");
  form.batch = batch[strspn(batch, "0123456789")] ? "" : batch;
  return form;
}

static bool is_like_length(double a, double b) {
  return (a > 0) == (b > 0) && !workload_lengths_differ(a, b);
}

// Whether two forms are the same except for the batch, with lengths that count as equal.
static bool is_near_form(const struct draft_workload *a, const struct draft_workload *b) {
  return !strcmp(a->precision, b->precision) && !strcmp(a->scenario, b->scenario) &&
         !strcmp(a->activations, b->activations) &&
         is_like_length(a->input_tokens, b->input_tokens) &&
         is_like_length(a->output_tokens, b->output_tokens);
}

static bool is_same_form(const struct draft_workload *a, const struct draft_workload *b) {
  return is_near_form(a, b) && !strcmp(a->batch, b->batch) && a->input_tokens == b->input_tokens &&
         a->output_tokens == b->output_tokens;
}

// The row at the form's batch whose output is nearest in length; -1: none.
static long row_at_batch(const struct search *search, const struct draft_workload *form,
                         const char *accelerator) {
  long nearest = -1;
  double best = INFINITY;
  for (size_t row = 0; row < search->tables->throughputs->rows; row++) {
    if (!is_usable(search, row, form->model) || *cell(search, row, "power_limit_w") ||
        strcmp(cell(search, row, "accelerator"), accelerator) != 0)
      continue;
    const struct draft_workload its = form_at_batch(search, row);
    const double distance = fabs(its.output_tokens - form->output_tokens);
    if (!is_near_form(&its, form) || strcmp(its.batch, form->batch) != 0 || !(distance < best))
      continue;
    nearest = (long)row;
    best = distance;
  }
  return nearest;
}

static const char *choose(const struct search *search, const struct draft_workload *form,
                          size_t accelerator, struct evidence *evidence, bool *is_named) {
  const struct draft_tables *tables = search->tables;
  const long model = catalog_find(tables->models, form->model);
  struct workload workload = {
      .shipped_precision =
          model < 0 ? "" : table_cell(tables->models, (size_t)model, "shipped_precision")};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    workload.values[key] = "";
  workload.values[WORKLOAD_MODEL] = form->model;
  workload.values[WORKLOAD_PRECISION] = form->precision;
  workload.values[WORKLOAD_ACTIVATIONS] = form->activations;
  workload.values[WORKLOAD_SCENARIO] = form->scenario;
  workload.values[WORKLOAD_TOKENS] = "output";
  workload.values[WORKLOAD_BATCH] = form->batch;
  struct evidence_request request = {.throughputs = tables->throughputs,
                                     .accelerator =
                                         table_cell(tables->accelerators, accelerator, "id"),
                                     .vendor = "",
                                     .workload = &workload,
                                     .input_tokens = form->input_tokens,
                                     .output_tokens = form->output_tokens,
                                     .wanted = ""};
  const char *why = evidence_choose(&request, evidence, search->arena);
  const long row = why && *form->batch ? row_at_batch(search, form, request.accelerator) : -1;
  *is_named = row >= 0;
  if (*is_named)
    request.wanted = cell(search, (size_t)row, "id");
  return *is_named ? evidence_choose(&request, evidence, search->arena) : why;
}

// ---- which is best

static bool computes_in(const struct search *search, size_t accelerator, const char *precision) {
  const char *column = strstr(precision, "fp4")   ? "dense_fp4_tflops"
                       : strstr(precision, "fp8") ? "dense_fp8_tflops"
                                                  : NULL;
  return !column || *table_cell(search->tables->accelerators, accelerator, column);
}

static size_t rank_of(const char *scenario) {
  static const char *const usual[] = {"server", "offline", "offline max throughput",
                                      "steady-state serving", "interactive"};
  enum { USUAL = sizeof usual / sizeof usual[0] };
  size_t rank = 0;
  while (rank < USUAL && strcmp(usual[rank], scenario) != 0)
    rank++;
  return rank;
}

static struct merit merit_of(const struct search *search, const struct draft_workload *form) {
  struct evidence first;
  struct merit merit = {
      .form = *form, .is_comparable = true, .is_native = true, .rank = rank_of(form->scenario)};
  for (size_t i = 0; i < search->computing_count; i++)
    merit.is_native &= computes_in(search, search->computing[i], form->precision);
  for (size_t i = 0; i < search->count; i++) {
    struct evidence evidence;
    struct date date = {0};
    bool is_named;
    if (choose(search, form, search->accelerators[i], &evidence, &is_named))
      continue;
    catalog_date(evidence.table, evidence.row, &date);
    if (!merit.published)
      first = evidence;
    if (!merit.published || date_compare(date, merit.date) < 0)
      merit.date = date;
    merit.is_comparable &= !workload_difference(&first.workload, &evidence.workload, search->arena);
    merit.grade = grade_weaker(merit.grade, evidence.grade);
    merit.log_rate += log(evidence.tokens_per_s);
    merit.published++;
  }
  return merit;
}

static bool is_better(const struct merit *a, const struct merit *b) {
  if (a->published != b->published)
    return a->published > b->published;
  if (a->is_comparable != b->is_comparable)
    return a->is_comparable;
  if (a->is_native != b->is_native)
    return a->is_native;
  if (a->grade != b->grade)
    return a->grade < b->grade;
  if (a->rank != b->rank)
    return a->rank < b->rank;
  const int later = date_compare(a->date, b->date);
  return later ? later > 0 : is_near_form(&a->form, &b->form) && a->log_rate > b->log_rate;
}

static bool is_known(const struct draft_workload *forms, size_t count,
                     const struct draft_workload *form) {
  for (size_t i = 0; i < count; i++)
    if (is_same_form(&forms[i], form))
      return true;
  return false;
}

static void add_form(struct draft_workload **forms, size_t *count,
                     const struct draft_workload *form, struct arena *arena) {
  if (is_known(*forms, *count, form))
    return;
  *forms = arena_room(arena, *forms, *count, sizeof **forms);
  (*forms)[(*count)++] = *form;
}

// Finds the best form. Returns false if no form of the model has evidence for any of the
// accelerators.
static bool find_form(const struct search *search, const char *model, struct draft_workload *best) {
  struct draft_workload *forms = NULL;
  struct merit most = {0};
  size_t count = 0;
  for (size_t row = 0; row < search->tables->throughputs->rows; row++) {
    if (!is_usable(search, row, model))
      continue;
    const struct draft_workload open = form_of(search, row), at_batch = form_at_batch(search, row);
    add_form(&forms, &count, &open, search->arena);
    add_form(&forms, &count, &at_batch, search->arena);
  }
  for (size_t i = 0; i < count; i++) {
    const struct merit merit = merit_of(search, &forms[i]);
    if (merit.published && (!most.published || is_better(&merit, &most)))
      most = merit;
  }
  *best = most.form;
  return most.published > 0;
}

// ---- what a stand-in is scaled from

// Finds the accelerator nearest to `beside` in memory bandwidth, among those with evidence in that
// form.
static void find_nearest(const struct search *search, const struct draft_workload *form,
                         size_t beside, struct evidence *nearest) {
  const struct table *accelerators = search->tables->accelerators;
  const double bandwidth = table_number_or(accelerators, beside, "memory_bw_tbs", NAN);
  double best = INFINITY;
  bool found = false;
  for (size_t i = 0; i < search->count; i++) {
    struct evidence evidence;
    bool is_named;
    const double its = table_number_or(accelerators, search->accelerators[i], "memory_bw_tbs", NAN);
    const double distance = fabs(log(its / bandwidth));
    if (choose(search, form, search->accelerators[i], &evidence, &is_named) ||
        (found && !(distance < best)))
      continue;
    *nearest = evidence;
    best = isnan(distance) ? INFINITY : distance;
    found = true;
  }
}

// The parameters that a token is multiplied with: an embedding is looked up, and neither read whole
// nor multiplied.
static double multiplied_of(const struct search *search, size_t model) {
  return table_number_or(search->tables->models, model, "matmul_active_params_b", NAN);
}

// The model with evidence that multiplies nearly as many: the model itself, if it has any.
static bool find_like_model(const struct search *search, size_t model,
                            struct draft_workload *form) {
  const struct table *models = search->tables->models;
  double best = INFINITY;
  for (size_t other = 0; other < models->rows; other++) {
    struct draft_workload its;
    const double distance =
        other == model ? -1
                       : fabs(log(multiplied_of(search, other) / multiplied_of(search, model)));
    if (distance < best && find_form(search, table_cell(models, other, "id"), &its)) {
      best = distance;
      *form = its;
    }
  }
  return best < INFINITY;
}

static double rounded_down(double value) {
  const double unit = pow(10, floor(log10(value)) - 2);
  return floor(value / unit) * unit;
}

static double peak_of(const struct search *search, const struct draft_workload *workload,
                      size_t model, size_t accelerator) {
  const double output = workload->output_tokens;
  const struct roofline roofline = {.accelerators = search->tables->accelerators,
                                    .models = search->tables->models,
                                    .accelerator = accelerator,
                                    .model = model,
                                    .precision = workload->precision,
                                    .kv = "",
                                    .computed =
                                        output > 0 ? 1 + workload->input_tokens / output : 1};
  return roofline_computing(&roofline);
}

// A ratio of figures of which the catalogue lacks one is taken as 1.
static double ratio(double a, double b) {
  return isfinite(a / b) ? a / b : 1;
}

static void scale(const struct search *search, size_t model, size_t accelerator,
                  const struct draft_workload *workload, struct draft_throughput *out) {
  const struct draft_tables *tables = search->tables;
  const struct evidence *from = &out->evidence;
  const char *of = table_cell(from->table, from->row, "accelerator");
  const char *other = table_cell(from->table, from->row, "model");
  const double faster =
      ratio(table_number_or(tables->accelerators, accelerator, "memory_bw_tbs", NAN),
            table_number_or(tables->accelerators, (size_t)catalog_find(tables->accelerators, of),
                            "memory_bw_tbs", NAN));
  const double smaller = ratio(multiplied_of(search, (size_t)catalog_find(tables->models, other)),
                               multiplied_of(search, model));
  const double peak = peak_of(search, workload, model, accelerator);
  const double scaled = from->tokens_per_s * faster * smaller;
  out->stand_in = rounded_down(fmin(scaled, peak));
  out->low = rounded_down(STAND_IN_LOW * out->stand_in);
  out->high = rounded_down(fmin(STAND_IN_HIGH * out->stand_in, peak));
  out->how =
      arena_printf(search->arena, "%s (%s on %s, %.6g token/s), times %.3g by memory bandwidth",
                   from->id, other, of, from->tokens_per_s, faster);
  if (smaller != 1)
    out->how =
        arena_printf(search->arena, "%s, times %.3g by parameters per token", out->how, smaller);
  if (scaled > peak)
    out->how =
        arena_printf(search->arena, "%s, at most what the datasheet's peak allows", out->how);
}

static const size_t *every_row(const struct table *table, struct arena *arena) {
  size_t *rows = arena_array(arena, table->rows + 1, sizeof *rows);
  for (size_t i = 0; i < table->rows; i++)
    rows[i] = i;
  return rows;
}

int draft_workload_find(const struct draft_tables *tables, size_t model, const size_t *accelerators,
                        size_t count, struct draft_workload *workload, struct draft_throughput *out,
                        struct arena *arena) {
  const char *id = table_cell(tables->models, model, "id");
  const struct search among = {tables, accelerators, count, accelerators, count, arena};
  struct search search = among;
  if (!find_form(&among, id, workload)) {
    search.accelerators = every_row(tables->accelerators, arena);
    search.count = tables->accelerators->rows;
    if (!find_like_model(&search, model, workload))
      return -1;
  }
  const struct draft_workload form = *workload;
  workload->model = id;
  for (size_t i = 0; i < count; i++) {
    out[i] = (struct draft_throughput){0};
    out[i].is_published = !strcmp(form.model, id) && !choose(&among, &form, accelerators[i],
                                                             &out[i].evidence, &out[i].is_named);
    if (out[i].is_published)
      continue;
    find_nearest(&search, &form, accelerators[i], &out[i].evidence);
    scale(&search, model, accelerators[i], workload, &out[i]);
  }
  return 0;
}
