#include "model/records/projection.h"

#include "base/arena.h"
#include "base/csv.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"
#include "model/evidence/device_memory.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/recorded.h"
#include "model/records/records.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct destination {
  const struct table *accelerators;
  size_t row;
  double bandwidth, memory, matrix_rate; // B/s, B, operations per second; 0 if unknown
};

static const char *refusal(const char *why, const char *subject, struct arena *arena) {
  return arena_printf(arena, "no projection: %s '%s'", why, subject);
}

// Why a record is not the measurement of this workload that the rule requires, or NULL.
static const char *not_measured(const struct recorded *recorded) {
  const struct measurement *from = recorded->nearest;
  if (recorded->grade != GRADE_MEASURED || !from->whole_model || from->slice_count)
    return "this workload was not measured, only part of it or similar ones, in";
  if (from->shard.of > 1)
    return "only one rank's share was measured in";
  if (from->tensor_parallel.devices > 1) // exchanged data is not read from memory
    return "several devices together were measured in";
  if (from->flags.cache_resident)
    return "a cache held the model in";
  if (!(from->read_bandwidth > 0) || !(measurement_read_share(from) > 0))
    return "there is no valid read bandwidth in";
  return NULL;
}

static struct destination target_of(const struct table *accelerators, size_t row,
                                    const struct measurement *from) {
  const bool fp8 = !strcmp(from->types.activations, "e4m3");
  struct device_memory memory;
  device_memory_find(accelerators, row, &memory);
  return (struct destination){
      .accelerators = accelerators,
      .row = row,
      .bandwidth = 1e12 * table_number_or(accelerators, row, "memory_bw_tbs", 0),
      .memory = memory.bytes,
      .matrix_rate = 1e12 * table_number_or(accelerators, row,
                                            fp8 ? "dense_fp8_tflops" : "dense_bf16_tflops", 0)};
}

static const char *not_covered(const struct destination *destination, const struct projection *p) {
  const struct measurement *from = p->from;
  if ((double)from->resident_bytes > destination->memory)
    return "the model does not fit";
  if ((double)from->bytes_per_step < PROJECTION_LEAST_BYTES)
    return "a cache could hold much of the model on";
  if (!(destination->matrix_rate > 0))
    return "no matrix rate is known for";
  const double reading_s = (double)from->bytes_per_step / (p->ceiling_high * p->bandwidth);
  if ((double)from->operations_per_step / (PROJECTION_MATRIX_RATE * destination->matrix_rate) >
      reading_s)
    return "the step is compute-bound on";
  return NULL;
}

// The highest published share of its peak bandwidth that an accelerator, or its architecture, can
// move.
static bool best_published(struct catalog *catalog, const struct destination *destination,
                           const char *accelerator, struct projection *out) {
  const struct table *table = catalog_table(catalog, CATALOG_BANDWIDTH);
  const char *architecture =
      table_cell(destination->accelerators, destination->row, "architecture");
  for (int own = 1; table && own >= 0 && !out->ceiling_id; own--)
    for (size_t i = 0; i < table->rows; i++) {
      const char *of = table_cell(table, i, "accelerator");
      const long row = catalog_find(destination->accelerators, of);
      const bool counts = own ? !strcmp(of, accelerator)
                              : row >= 0 && !strcmp(table_cell(destination->accelerators,
                                                               (size_t)row, "architecture"),
                                                    architecture);
      const double share = table_number_or(table, i, "efficiency", 0);
      if (!counts || strcmp(table_cell(table, i, "measurement"), "memory_bandwidth") != 0 ||
          catalog_grade(table, i) > GRADE_PUBLISHED || share <= out->ceiling_low)
        continue;
      out->ceiling_low = share;
      out->ceiling_id = table_cell(table, i, "id");
    }
  return out->ceiling_id != NULL;
}

static void compute(struct projection *p) {
  const double batch = p->from->batch, step = (double)p->from->bytes_per_step / p->bandwidth;
  const double high = fmin(1, p->share + PROJECTION_TUNING), low = p->share - PROJECTION_TUNING;
  p->ceiling = (p->ceiling_low + p->ceiling_high) / 2;
  p->tokens_per_s = batch * p->share * p->ceiling / step;
  p->tokens_per_s_low = batch * fmax(0, low) * p->ceiling_low / step;
  p->tokens_per_s_high = batch * high * p->ceiling_high / step;
}

static void say(struct projection *p, const char *file, struct arena *arena) {
  p->source = arena_printf(
      arena,
      "projected from record %s, never measured: %s decoded at %.3g of its read bandwidth "
      "(here +-%.2g); times %.3g of %.4g TB/s (between %s's %.3g and that device's %.3g), over "
      "%.4g GB a step; decode only, between %.4g and %.4g token/s",
      file, p->from->record->device.name, p->share, PROJECTION_TUNING, p->ceiling,
      p->bandwidth / 1e12, p->ceiling_id, fmin(p->ceiling_low, p->ceiling_high),
      fmax(p->ceiling_low, p->ceiling_high), (double)p->from->bytes_per_step / 1e9,
      p->tokens_per_s_low, p->tokens_per_s_high);
  p->date = arena_copy_n(arena, p->from->finished, strlen("2026-11-21"));
}

const char *projection_make(const struct records *records, const char *file,
                            struct catalog *catalog, const char *accelerator,
                            const struct workload *workload, struct projection *out,
                            struct arena *arena) {
  const struct table *accelerators = catalog_table(catalog, CATALOG_ACCELERATORS);
  const struct measurement_record *record = records_named(records, file);
  const char *measured = record ? records_accelerator(records, record) : NULL;
  const long row = accelerators ? catalog_find(accelerators, accelerator) : -1;
  if (!record)
    return refusal("there is no record named", file, arena);
  if (!measured)
    return refusal("the catalogue lacks the device of record", file, arena);
  if (!strcmp(measured, accelerator))
    return refusal("the accelerator is measured itself: use record =", file, arena);
  if (row < 0)
    return refusal("the catalogue does not have", accelerator, arena);
  struct recorded recorded;
  const char *why = recorded_choose(records, file, measured, workload, &recorded, arena);
  if (why)
    return why;
  why = not_measured(&recorded);
  if (why)
    return refusal(why, file, arena);
  const struct destination destination = target_of(accelerators, (size_t)row, recorded.nearest);
  const double own =
      1e12 * table_number_or(accelerators, (size_t)catalog_find(accelerators, measured),
                             "memory_bw_tbs", 0);
  *out = (struct projection){.from = recorded.nearest,
                             .share = recorded.nearest->read_bandwidth_share,
                             .bandwidth = destination.bandwidth};
  if (!(own > 0) || !(out->bandwidth > 0) ||
      !best_published(catalog, &destination, accelerator, out))
    return refusal("no bandwidth is published for", accelerator, arena);
  const double reached = recorded.nearest->read_bandwidth / own, published = out->ceiling_low;
  out->ceiling_low = fmin(reached, published);
  out->ceiling_high = fmax(reached, published);
  why = not_covered(&destination, out);
  if (why)
    return refusal(why, accelerator, arena);
  compute(out);
  say(out, file, arena);
  return NULL;
}
