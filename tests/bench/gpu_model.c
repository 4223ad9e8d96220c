// The predicted duration of decode steps on an H200, by the model of tests/support/timing/timing.h,
// for use without a GPU or for comparison with records of one.
//
//   gpu_model [--before] [--with POINT,...] [RECORD.json]...
//   gpu_model [--before] --points
//
// Without records, a line for each workload that has a target: microseconds per layer for the
// memory alone, predicted microseconds, the share of the predicted time in which the bytes of the
// whole step (of attention alone: its own) would be read at full speed, and the largest term other
// than memory, all for the kernels as they are. --with changes them: P1m to P14, streaming, as
// described in timing.h. --points prints what the changes already made have brought, the effect
// of each of the others alone, and of all together. With records, a line for each of their results
// for an H100 or H200: the measured value, and the prediction for that workload at the record's
// bandwidth and clock. The model's constants are those measured; --before: those chosen before any
// measurement.
// Exit status 1: a record cannot be read, or the model covers none of them; 2: wrong usage.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/plan/tuning.h"
#include "model/records/measurement.h"
#include "model/records/measurement_file.h"
#include "probe/devices/model_shape.h"
#include "probe/devices/precision.h"
#include "tests/support/timing/timing.h"

#define MISTAKEN 2

#define ALL ((1U << TIMING_POINTS) - 1)

// ---- workloads

struct predicted {
  double bound_us, us, share;
  enum timing_term limit;
};

static struct predicted predicted_of(const struct timing_machine *machine,
                                     const struct timing_workload *workload, unsigned points) {
  struct timing_step step;
  if (timing_of_workload(workload, machine, points, &step))
    return (struct predicted){NAN, NAN, NAN, TIMING_MEMORY};
  const struct timing *of = workload->attention ? &step.attention : &step.layer;
  const double bound_us = of->term[TIMING_MEMORY];
  return (struct predicted){bound_us, of->us,
                            workload->attention ? bound_us / of->us : timing_share(&step),
                            timing_limit(of)};
}

static const char *origin_of(const struct timing_machine *machine) {
  return machine == &timing_h200 ? "of before any measurement" : "measured on one";
}

static void print_workloads(const struct timing_machine *machine, unsigned points) {
  printf("Predictions for an H200 at %.1f TB/s, not measurements, with constants %s:\n"
         "us per layer, share of the whole step\n\n"
         "   bound  predicted  share  largest cost after memory   workload\n",
         1e-6 * machine->read, origin_of(machine));
  for (int i = 0; i < TIMING_WORKLOADS; i++) {
    const struct predicted p = predicted_of(machine, &timing_workloads[i], points);
    printf("%8.1f %10.1f %6.3f  %-26s  %s\n", p.bound_us, p.us, p.share, timing_terms[p.limit],
           timing_workloads[i].name);
  }
}

static bool is_implemented(int point) {
  return (unsigned)TIMING_IMPLEMENTED >> point & 1;
}

// "P5, P7"
static void print_implemented(void) {
  const char *before = "";
  for (int p = 0; p < TIMING_POINTS; p++)
    if (is_implemented(p)) {
      printf("%s%s", before, timing_points[p]);
      before = ", ";
    }
}

static void print_workload_points(const struct timing_machine *machine,
                                  const struct timing_workload *workload) {
  const double now = predicted_of(machine, workload, TIMING_IMPLEMENTED).share;
  printf("%.3f %.3f ", predicted_of(machine, workload, TIMING_FIRST).share, now);
  for (int p = 0; p + 1 < TIMING_POINTS; p++)
    if (!is_implemented(p))
      printf(" %+.3f", predicted_of(machine, workload, TIMING_IMPLEMENTED | 1U << p).share - now);
  printf("   %.3f", predicted_of(machine, workload, ALL & ~(unsigned)TIMING_STREAMING).share);
  if (workload->batch <= VECTOR_BATCH)
    printf("      %.3f  %.3f",
           predicted_of(machine, workload, TIMING_IMPLEMENTED | TIMING_STREAMING).share,
           predicted_of(machine, workload, ALL).share);
  else
    printf("          -      -");
  printf("  %s\n", workload->name);
}

static void print_points(const struct timing_machine *machine) {
  printf("Predictions, not measurements, with constants %s: share of the whole step\n"
         "with the first kernels and with the kernels as they are (",
         origin_of(machine));
  print_implemented();
  printf(");\nwhat each of the other points would add to it; and the share with all of P1m to P14, "
         "with streaming,\nand with both\n\nfirst   now ");
  for (int p = 0; p + 1 < TIMING_POINTS; p++)
    if (!is_implemented(p))
      printf(" %6s", timing_points[p]);
  printf(" P1m-P14  streaming   both  workload\n");
  for (int i = 0; i < TIMING_WORKLOADS; i++)
    print_workload_points(machine, &timing_workloads[i]);
}

// ---- records

// The variant, or the tuning in the runtime's text, which comes last.
static bool read_tuning(const struct measurement *result, struct gpu_tuning *out) {
  char why[128];
  const char *last = strrchr(result->record->device.runtime, ',');
  const char *own = last && strchr(last, '=') ? last + 1 : "";
  const char *variant = result->step_form.variant;
  return gpu_tuning_read(*variant ? variant : own, out, why, sizeof why);
}

static const char *predict_result(const struct measurement *result, const struct timing_machine *as,
                                  unsigned points, struct timing_step *out) {
  const struct measurement_device *of = &result->record->device;
  struct decode_request request = {.shape = model_shape_of(&result->model, result->model.layers),
                                   .batch = result->batch,
                                   .context = result->context,
                                   .ranks = result->tensor_parallel.devices};
  struct gpu_device device = timing_device;
  struct timing_machine machine = *as;
  if (strcmp(of->backend, "cuda") != 0 || (!strstr(of->name, "H200") && !strstr(of->name, "H100")))
    return "nothing but H100 and H200 is modelled";
  if (request.ranks > 1 || result->shard.of > 0)
    return "no exchange between GPUs is modelled";
  if (!precision_types(&result->types, &request.types) || !read_tuning(result, &device.tuning))
    return "its types or its tuning are not known";
  device.described.units = of->units;
  device.described.cache_bytes = of->cache_bytes;
  if (result->read_bandwidth > 0)
    machine.read = 1e-6 * result->read_bandwidth;
  if (result->telemetry.core_clock_hz.median > 0)
    machine.clock = 1e-6 * result->telemetry.core_clock_hz.median;
  return timing_of(&request, &device, &machine, points, out);
}

// Returns whether a prediction is possible.
static bool print_result(const struct measurement *result, const struct timing_machine *machine,
                         unsigned points) {
  struct timing_step step;
  const char *why = predict_result(result, machine, points, &step);
  char name[128];
  snprintf(name, sizeof name, "%s %s, batch %d, context %d, %s KV", result->model.id,
           result->precision, result->batch, result->context, result->types.kv);
  if (why) {
    printf("%8.1f %10s %9s %6s  %s: %s\n", 1e6 * result->layer_seconds, "-", "-", "-", name, why);
    return false;
  }
  const double predicted = timing_step_us(&step) / step.layers;
  printf("%8.1f %10.1f %9.2f %6.3f  %s\n", 1e6 * result->layer_seconds, predicted,
         1e6 * result->layer_seconds / predicted, timing_share(&step), name);
  return true;
}

static bool print_records(const char *const *paths, size_t count,
                          const struct timing_machine *machine, unsigned points,
                          struct diagnostics *diagnostics) {
  bool any = false;
  printf("us per layer, all of a step over its layers, measured and predicted; the share is "
         "predicted\n\n"
         "measured  predicted  measured/  share  workload\n");
  for (size_t i = 0; i < count; i++) {
    const struct measurement_record *record =
        measurement_read(paths[i], diagnostics->arena, diagnostics);
    if (!record)
      return false;
    for (size_t r = 0; r < record->count; r++)
      any |= print_result(&record->results[r], machine, points);
  }
  return any;
}

// ---- the command line

// False for a name that is not one of timing_points.
static bool read_points(const char *text, unsigned *points) {
  while (*text) {
    const size_t length = strcspn(text, ",");
    int p = 0;
    while (p < TIMING_POINTS &&
           (strlen(timing_points[p]) != length || strncmp(timing_points[p], text, length) != 0))
      p++;
    if (p == TIMING_POINTS)
      return false;
    *points |= 1U << p;
    text += length + (text[length] == ',');
  }
  return true;
}

static int usage(void) {
  fprintf(stderr, "gpu_model [--before] [--with POINT,...] [RECORD.json]...\n"
                  "gpu_model [--before] --points\n"
                  "POINT: P1m to P14, P6c, P6s, streaming (tests/support/timing/timing.h)\n");
  return MISTAKEN;
}

int main(int argc, char **argv) {
  const bool before = argc > 1 && strcmp(argv[1], "--before") == 0;
  const struct timing_machine *machine = before ? &timing_h200 : &timing_h200_measured;
  unsigned points = TIMING_IMPLEMENTED;
  int first = before ? 2 : 1;
  if (argc == first + 1 && strcmp(argv[first], "--points") == 0) {
    print_points(machine);
    return 0;
  }
  if (argc > first + 1 && strcmp(argv[first], "--with") == 0) {
    if (!read_points(argv[first + 1], &points))
      return usage();
    first += 2;
  }
  for (int i = first; i < argc; i++)
    if (argv[i][0] == '-')
      return usage();
  if (first == argc) {
    print_workloads(machine, points);
    return 0;
  }
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  const bool any = print_records((const char *const *)argv + first, (size_t)(argc - first), machine,
                                 points, &diagnostics);
  diagnostics_print(&diagnostics, stderr, false);
  arena_free(&arena);
  return any ? 0 : 1;
}
