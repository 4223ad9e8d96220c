#include "probe/sessions/result_table.h"

#include "base/arena.h"
#include "model/evidence/grade.h"
#include "probe/sessions/print.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *result_remarks(const struct measurement *result, struct arena *arena) {
  const struct measurement_flags *flags = &result->flags;
  const struct {
    bool set;
    const char *text;
  } remarks[] = {
      {result->shard.of > 1,
       arena_printf(arena, "a share of 1/%d%s", result->shard.of,
                    isnan(result->shard.all_reduce_s) ? " without its exchanges" : "")},
      {result->tensor_parallel.devices > 1,
       arena_printf(arena, "%d devices", result->tensor_parallel.devices)},
      {!result->whole_model && result->shard.of < 2, "not the whole model"},
      {result->slice_count > 0, "extrapolated"},
      {*result->step_form.fallback != 0, result->step_form.form},
      {*result->step_form.variant != 0, result->step_form.variant},
      {result->model.layer.window >= result->context, "all in the window"},
      {flags->cache_resident, "cache-resident"},
      {measurement_is_unsteady(flags), "unsteady"},
      {flags->bandwidth_void, "no valid % read"},
      {flags->sampling_inconsistent, "sampling: inconsistent"},
      {flags->thermal_unsettled, "thermal: unsettled"},
      {flags->window_differs,
       arena_printf(arena, "%.5g token/s under the meter", result->window_tokens_per_s)},
  };
  const char *all = "";
  for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++)
    if (remarks[i].set)
      all = arena_printf(arena, "%s%s%s", all, *all ? ", " : "", remarks[i].text);
  return all;
}

// The beginning of every line about a result below the table.
static void print_workload(const struct measurement *result, FILE *out) {
  fprintf(out, "%-9s %5d %8d  ", result->precision, result->batch, result->context);
}

static void print_result(const struct measurement *result, bool metered, struct arena *arena,
                         FILE *out) {
  const double half = (result->ci95_high - result->ci95_low) / 2 / result->tokens_per_s;
  const double share_half = (result->share_ci95_high - result->share_ci95_low) / 2;
  fprintf(out, "%-9s %5d %7d", result->precision, result->batch, result->context);
  const bool share = result->shard.of > 1 && isnan(result->shard.all_reduce_s);
  print_digits(share ? NAN : result->tokens_per_s, 5, 9, arena, out);
  print_number(100 * half, half < 0.995 ? "%.2g" : "%.0f", 5, arena, out);
  print_number(100 * measurement_read_share(result), "%.1f", 7, arena, out);
  print_number(100 * share_half, "%.1f", 5, arena, out);
  print_digits(1e6 * result->layer_seconds, 4, 9, arena, out);
  if (metered) {
    print_digits(result->load_power_w, 4, 7, arena, out);
    print_digits(share ? NAN : result->joules_per_token, 3, 8, arena, out);
  }
  const char *remarks = result_remarks(result, arena);
  fprintf(out, "  %s%s%s\n", grade_name(result->grade), *remarks ? ": " : "", remarks);
}

// How long the all-reduces of a step take by themselves.
static void print_exchanges(const struct measurement *result, struct arena *arena, FILE *out) {
  const struct measurement_tensor_parallel *ranks = &result->tensor_parallel;
  const int layers = result->slice_count ? result->model.layers : result->layers_measured;
  const int count = 2 * layers + 1;
  if (ranks->devices < 2)
    return;
  const char *size =
      ranks->all_reduce_bytes < 10240
          ? arena_printf(arena, "%llu bytes", (unsigned long long)ranks->all_reduce_bytes)
          : arena_printf(arena, "%.4g KiB", (double)ranks->all_reduce_bytes / 1024);
  print_workload(result, out);
  fprintf(out, "all-reduces: %d a step of %s, %.4g us each alone, %.2g %% of it (", count, size,
          1e6 * ranks->all_reduce_s, 100 * count * ranks->all_reduce_s / result->step_seconds);
  print_safely(ranks->library, out);
  fputs(")\n", out);
}

// One line for adjacent results that share it.
static void print_arithmetic(const struct measurement_record *record, FILE *out) {
  for (size_t i = 0; i < record->count; i++) {
    const struct measurement *result = &record->results[i], *before = i ? result - 1 : NULL;
    const char *arithmetic = result->step_form.arithmetic;
    if (!*arithmetic || (before && !strcmp(before->precision, result->precision) &&
                         !strcmp(before->step_form.arithmetic, arithmetic)))
      continue;
    fprintf(out, "products, %s: ", result->precision);
    print_safely(arithmetic, out);
    putc('\n', out);
  }
}

// What else was tried before the result was measured.
static void print_variants(const struct measurement *result, struct arena *arena, FILE *out) {
  if (result->variant_count == 0)
    return;
  print_workload(result, out);
  fputs("variants, ms a step: ", out);
  for (size_t i = 0; i < result->variant_count; i++) {
    const struct measurement_variant *one = &result->variants[i];
    const bool is_used = !strcmp(one->variant, result->step_form.variant);
    fputs(i ? "; " : "", out);
    print_safely(*one->variant ? one->variant : "own choice", out);
    putc(' ', out);
    print_safely(*one->refused ? arena_printf(arena, "left out (%s)", one->refused)
                               : arena_printf(arena, "%.4g%s", 1e3 * one->step_seconds,
                                              is_used ? " (used)" : ""),
                 out);
  }
  putc('\n', out);
}

// How many experts the rows of a step went to, which determines the cost.
static void print_experts(const struct measurement *result, FILE *out) {
  const struct measurement_routing *routing = &result->routing;
  const struct measurement_experts *experts = &result->model.experts;
  if (experts->count == 0)
    return;
  const int layers = (result->slice_count ? result->model.layers : result->layers_measured) -
                     experts->dense_layers;
  print_workload(result, out);
  fprintf(out, "experts: %.4g of %d touched a layer and step, %.4g by uniform routing",
          routing->touched / layers, experts->count, routing->expected / layers);
  fprintf(out, "; %.4g MB each; routing: ", 1e-6 * (double)routing->expert_bytes);
  print_safely(routing->policy, out);
  if (!isnan(routing->skew))
    fprintf(out, ":%g", routing->skew);
  putc('\n', out);
}

static void print_prefill(const struct measurement *result,
                          const struct measurement_prefill *prefill, struct arena *arena,
                          FILE *out) {
  fprintf(out, "%-9s %5d %7d", result->precision, prefill->positions, prefill->chunk);
  print_digits(prefill->tokens_per_s, 5, 9, arena, out);
  print_digits(prefill->seconds, 4, 9, arena, out);
  print_number(100 * measurement_matrix_share(prefill), "%.1f", 9, arena, out);
  print_digits(prefill->load_power_w, 4, 7, arena, out);
  fputs("  ", out);
  print_safely(prefill->library, out);
  putc('\n', out);
}

// Prompts, and how they share the device with steps.
static void print_prompts(const struct measurement_record *record, struct arena *arena, FILE *out) {
  bool titled = false;
  for (size_t r = 0; r < record->count; r++)
    for (size_t i = 0; i < record->results[r].prefill_count; i++) {
      if (!titled)
        fprintf(out, "\nprefill\n%-9s %5s %7s %8s %8s %8s %6s  %s\n", "precision", "input", "chunk",
                "token/s", "TTFT s", "% matrix", "W", "products");
      titled = true;
      print_prefill(&record->results[r], &record->results[r].prefills[i], arena, out);
    }
  for (size_t r = 0; r < record->count; r++)
    for (size_t i = 0; i < record->results[r].mixed_count; i++) {
      const struct measurement_mixed *mixed = &record->results[r].mixed[i];
      fprintf(out,
              "%d of a prompt together with a step of %d row%s: %.4g s; one after the other %.4g s "
              "(%+.1f %%)\n",
              mixed->chunk, mixed->rows, mixed->rows == 1 ? "" : "s", mixed->mixed_s,
              mixed->steps_s + mixed->chunk_s, 100 * mixed->sum_error);
    }
}

static bool is_metered(const struct measurement_record *record) {
  for (size_t i = 0; i < record->count; i++)
    if (!isnan(record->results[i].load_power_w))
      return true;
  return false;
}

void result_table_print(const struct measurement_record *record, FILE *out) {
  struct arena arena = {0};
  if (record->count == 0) {
    fputs("nothing measured\n", out);
    return;
  }
  const struct measurement *first = &record->results[0];
  print_safely(first->model.id, out);
  fputs(" on ", out);
  print_safely(record->device.name, out);
  fputs(", decoding\n", out);
  const bool metered = is_metered(record);
  fprintf(out, "%-9s %5s %7s %8s %4s %6s %4s %8s%s  %s\n", "precision", "batch", "context",
          "token/s", "+-%", "% read", "+-", "us/layer", metered ? "      W J/token" : "", "grade");
  for (size_t i = 0; i < record->count; i++)
    print_result(&record->results[i], metered, &arena, out);
  for (size_t i = 0; i < record->count; i++)
    print_exchanges(&record->results[i], &arena, out);
  print_arithmetic(record, out);
  for (size_t i = 0; i < record->count; i++)
    print_experts(&record->results[i], out);
  for (size_t i = 0; i < record->count; i++)
    print_variants(&record->results[i], &arena, out);
  print_prompts(record, &arena, out);
  if (isnan(first->load_power_w)) {
    static const char none[] = "none: "; // a meter, and why
    const bool says_none = !strncmp(first->energy_meter, none, strlen(none));
    fputs("power not measured: ", out);
    print_safely(first->energy_meter + (says_none ? strlen(none) : 0), out);
    putc('\n', out);
  }
  arena_free(&arena);
}

// ---- several records

const struct measurement *result_like(const struct measurement_record *record,
                                      const struct measurement *like) {
  for (size_t i = 0; i < record->count; i++) {
    const struct measurement *result = &record->results[i];
    if (!strcmp(result->precision, like->precision) && result->batch == like->batch &&
        result->context == like->context &&
        !strcmp(result->types.activations, like->types.activations) &&
        !strcmp(result->types.kv, like->types.kv) && !strcmp(result->types.head, like->types.head))
      return result;
  }
  return NULL;
}

// ---- several devices

struct spread {
  double total, slowest, fastest, power_w;
};

static void add(struct spread *spread, double rate, double power_w) {
  spread->slowest = spread->total > 0 ? fmin(spread->slowest, rate) : rate;
  spread->fastest = fmax(spread->fastest, rate);
  spread->total += rate;
  spread->power_w += power_w;
}

static void print_spread(const struct measurement *result, const char *how,
                         const struct spread *spread, struct arena *arena, FILE *out) {
  print_workload(result, out);
  fprintf(out, "%-10s", how);
  print_digits(spread->total, 5, 11, arena, out);
  print_digits(spread->slowest, 5, 10, arena, out);
  print_digits(spread->fastest, 5, 10, arena, out);
  print_digits(spread->power_w, 4, 8, arena, out);
  print_digits(spread->power_w / spread->total, 3, 9, arena, out);
  putc('\n', out);
}

static const char *variant_words(const struct measurement *result) {
  return *result->step_form.variant ? result->step_form.variant : "own choice";
}

// Devices that were measured at other times may have other variants.
static void print_unlike(const struct measurement *const *results, size_t count, FILE *out) {
  bool unlike = false;
  for (size_t i = 1; i < count; i++)
    unlike |= strcmp(results[i]->step_form.variant, results[0]->step_form.variant) != 0;
  if (!unlike)
    return;
  fprintf(out, "%-24s  not with the same kernels: ", "");
  for (size_t i = 0; i < count; i++) {
    fprintf(out, "%s%s:%d ", i ? "; " : "", results[i]->record->device.backend,
            results[i]->record->device.index);
    print_safely(variant_words(results[i]), out);
  }
  putc('\n', out);
}

static void print_together(const struct measurement *const *results, size_t count,
                           struct arena *arena, FILE *out) {
  const struct measurement *first = results[0];
  const struct measurement_together *together = &first->together;
  struct spread alone = {0};
  for (size_t i = 0; i < count; i++)
    add(&alone, measurement_rate(results[i]), results[i]->load_power_w);
  const struct spread all = {together->total_tokens_per_s, together->slowest, together->fastest,
                             together->load_power_w};
  print_spread(first, "one by one", &alone, arena, out);
  print_spread(first, "together", &all, arena, out);
  fprintf(out,
          "%-24s  together they decode %.1f %% of the sum, the slowest %.1f %% below the "
          "fastest\n",
          "", 100 * all.total / alone.total, 100 * (1 - all.slowest / all.fastest));
  print_unlike(results, count, out);
}

// Finds in each record the result like the first one's, since a record may have them in another
// order. Whether all of them are of all devices at once.
static bool find_together(const struct measurement_record *const *records, size_t count,
                          const struct measurement *first, const struct measurement **results) {
  bool whole = true;
  for (size_t i = 0; i < count; i++) {
    results[i] = result_like(records[i], first);
    whole &= results[i] && results[i]->together.devices == (int)count;
  }
  return whole;
}

// Why a workload has no row of all devices.
static void print_apart(const struct measurement *first, FILE *out) {
  print_workload(first, out);
  fprintf(out, "not at once: %s\n",
          first->slice_count ? "slices of a model are measured one by one"
                             : "it is not measured yet");
}

void together_table_print(const struct measurement_record *const *records, size_t count,
                          FILE *out) {
  struct arena arena = {0};
  const struct measurement **results = arena_array(&arena, count, sizeof(struct measurement *));
  fprintf(out, "\n%zu devices: ", count);
  print_safely(records[0]->device.name, out);
  fprintf(out, "\n%-9s %5s %8s  %-10s%11s%10s%10s%8s%9s\n", "precision", "batch", "context", "",
          "token/s", "slowest", "fastest", "W", "J/token");
  for (size_t r = 0; r < records[0]->count; r++)
    if (find_together(records, count, &records[0]->results[r], results))
      print_together(results, count, &arena, out);
    else
      print_apart(results[0], out);
  arena_free(&arena);
}
