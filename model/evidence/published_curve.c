#include "model/evidence/published_curve.h"

#include "base/csv.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { MAX_LISTED = 12 }; // curves in a message

// The points of one curve agree in these columns: all but the batch and what follows from it.
static const char *const curve_columns[] = {"model",
                                            "precision",
                                            "isl",
                                            "osl",
                                            "num_gpus",
                                            "parallelism",
                                            "token_basis",
                                            "scenario",
                                            "software",
                                            "submitter",
                                            "source_title",
                                            "as_of",
                                            "model_as_published",
                                            "speculation",
                                            "activations"};

static bool is_same_curve(const struct table *table, size_t a, size_t b) {
  for (size_t i = 0; i < sizeof curve_columns / sizeof curve_columns[0]; i++)
    if (strcmp(table_cell(table, a, curve_columns[i]), table_cell(table, b, curve_columns[i])) != 0)
      return false;
  return true;
}

static double batch_of(const struct table *table, size_t row) {
  return table_number_or(table, row, "batch_or_concurrency", 0);
}

static bool has_batch(const struct table *table, size_t row) {
  return batch_of(table, row) >= 1;
}

static bool is_point(const struct evidence_request *request, size_t row) {
  return evidence_matches(request, row) && has_batch(request->throughputs, row) &&
         workload_is_alike(request->workload, WORKLOAD_SPECULATION,
                           request->workload->values[WORKLOAD_SPECULATION],
                           workload_row_value(request->throughputs, row, WORKLOAD_SPECULATION));
}

// Whether a row starts a curve: a later row has a second batch.
static bool starts_curve(const struct evidence_request *request, size_t row) {
  const struct table *table = request->throughputs;
  bool more = false;
  if (!is_point(request, row))
    return false;
  for (size_t other = 0; other < table->rows; other++) {
    if (!is_point(request, other) || !is_same_curve(table, row, other))
      continue;
    if (other < row)
      return false;
    more |= batch_of(table, other) != batch_of(table, row);
  }
  return more;
}

static const char *why_no_curve(const struct evidence_request *request, size_t count,
                                struct arena *arena) {
  const struct table *table = request->throughputs;
  const char *list = "";
  size_t listed = 0;
  if (!count)
    return arena_printf(arena,
                        "no source has throughputs of '%s' at several batches for this workload, "
                        "to choose one by %s",
                        request->accelerator, workload_chosen_by(request->workload, arena));
  for (size_t row = 0; row < table->rows && listed < MAX_LISTED; row++)
    if (starts_curve(request, row) && ++listed)
      list = arena_printf(
          arena, "%s\n    evidence = %-8s context %s, output %s, %s accelerators, %s, %s, %s", list,
          table_cell(table, row, "id"), table_cell(table, row, "isl"),
          table_cell(table, row, "osl"), table_cell(table, row, "num_gpus"),
          table_cell(table, row, "model_as_published"), table_cell(table, row, "source_title"),
          table_cell(table, row, "as_of"));
  return arena_printf(arena,
                      "%zu published curves of '%s' match; choose one with evidence = ID:%s%s",
                      count, request->accelerator, list, count > MAX_LISTED ? ", ..." : "");
}

static const char *choose_curve(const struct evidence_request *request, size_t *chosen,
                                struct arena *arena) {
  size_t count = 0;
  for (size_t row = 0; row < request->throughputs->rows; row++)
    if (starts_curve(request, row) && !count++)
      *chosen = row;
  return count == 1 ? NULL : why_no_curve(request, count, arena);
}

static const char *read_curve(const struct evidence_request *request, size_t of,
                              struct curve *curve, struct arena *arena) {
  const struct table *table = request->throughputs;
  struct evidence point;
  *curve = (struct curve){.accelerators = table_number_or(table, of, "num_gpus", 1),
                          .grade = catalog_grade(table, of)};
  for (size_t row = 0; row < table->rows; row++) {
    if (strcmp(table_cell(table, row, "accelerator"), request->accelerator) != 0 ||
        !is_same_curve(table, of, row) || !has_batch(table, row))
      continue;
    evidence_of_row(table, row, &point);
    if (curve_add(curve, batch_of(table, row), point.tokens_per_s, point.load_power_w, point.id,
                  arena))
      continue;
    return arena_printf(
        arena,
        "'%s' is a second throughput at batch %g on the same curve, and nothing distinguishes them",
        point.id, batch_of(table, row));
  }
  if (curve->count >= 2)
    return NULL;
  return arena_printf(arena, "evidence '%s' covers one batch alone: there is none to choose by %s",
                      table_cell(table, of, "id"), workload_chosen_by(request->workload, arena));
}

const char *published_curve(const struct evidence_request *request, struct curve *curve,
                            struct evidence *evidence, struct arena *arena) {
  size_t row = 0;
  const char *why =
      *request->wanted ? evidence_named(request, &row, arena) : choose_curve(request, &row, arena);
  if (!why)
    why = read_curve(request, row, curve, arena);
  if (!why)
    evidence_of_row(request->throughputs,
                    (size_t)catalog_find(request->throughputs, curve->ids[curve->count - 1]),
                    evidence);
  return why;
}
