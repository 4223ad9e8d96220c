#include "model/scenario/sources/load_power.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/evidence.h"
#include "model/evidence/grade.h"
#include "model/evidence/like_run.h"
#include "model/evidence/workload.h"
#include "model/records/served.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/sources.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static struct figure watts_figure(const struct evidence *from, double value, const char *column,
                                  const char *source) {
  return figure_found(value, table_place(from->table, from->row, column), from->grade, source,
                      from->date);
}

bool load_power_is_tdp(const struct scenario *scenario, const struct figure *load) {
  const struct table *accelerators = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS);
  return accelerators && load->origin == ORIGIN_CATALOGUE &&
         load->place.source == accelerators->source;
}

// Whether the watts are open: neither stated, nor from a record or an offer.
static bool are_open(const struct resolving *resolving, const struct figure *load) {
  return load->origin == ORIGIN_NONE || load_power_is_tdp(resolving->scenario, load);
}

// Fills in the watts in every case in which they are open.
static void fill_watts(struct resolving *resolving, struct figure figure) {
  const int load_power = model_find(resolving->scenario->model, "load_power");
  const struct figure *kept = resolving_keep(resolving, figure);
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **load = &resolving_figures(resolving, c)[load_power];
    if (are_open(resolving, *load))
      *load = kept;
  }
}

static void take_watts(struct resolving *resolving, const struct evidence *from, enum grade grade) {
  const char *source = arena_printf(resolving->arena, "%s: mean power of its accelerators, %s",
                                    from->id, from->power_source);
  struct figure figure = watts_figure(from, from->load_power_w, "avg_gpu_power_w_total", source);
  figure.grade = grade;
  fill_watts(resolving, figure);
}

static double host_watts(const struct resolving *resolving, size_t which_case) {
  const struct figure *figure = resolving_figure(resolving, which_case, "host_power");
  return figure->origin == ORIGIN_NONE ? 0 : figure->value;
}

static void refuse_host(const struct resolving *resolving, size_t which_case, double node_power_w) {
  const struct model *model = resolving->scenario->model;
  const int host = model_find(model, "host_power");
  const struct unit *unit = &model->declarations[host].unit;
  diagnostics_error(resolving->diagnostics, resolving_figures(resolving, which_case)[host]->place,
                    "case '%s' gives option '%s' a 'host_power' of %s, but its whole node drew %s",
                    resolving->scenario->cases[which_case], resolving->option->id,
                    quantity_text(host_watts(resolving, which_case), unit, resolving->arena),
                    quantity_text(node_power_w, unit, resolving->arena));
}

static void take_node_in(const struct resolving *resolving, size_t which_case, double node_power_w,
                         struct figure node) {
  const struct model *model = resolving->scenario->model;
  const int load_power = model_find(model, "load_power"), host = model_find(model, "host_power");
  const struct figure **figures = resolving_figures(resolving, which_case);
  const double stated = host_watts(resolving, which_case);
  struct figure load = node, within = node;
  load.value = node_power_w - stated;
  if (stated > 0)
    load.source = arena_printf(resolving->arena, "%s, less host_power", node.source);
  figures[load_power] = resolving_keep(resolving, load);
  if (host < 0)
    return;
  within.value = 0;
  within.source = arena_printf(resolving->arena, "included in the node's power: %s", node.source);
  within.part_of = "load_power";
  if (figures[host]->origin != ORIGIN_NONE)
    within = *figures[host];
  if (!*within.source) {
    within.source = "deducted from the node's power";
    within.part_of = "load_power";
  }
  within.contained = true;
  figures[host] = resolving_keep(resolving, within);
}

// A whole node's watts include the host's: those stated in a case are subtracted, otherwise the
// host's are not paid again. False if the node draws no more than that; an error if only in a case.
static bool take_node(struct resolving *resolving, double node_power_w, struct figure node) {
  const int load_power = model_find(resolving->scenario->model, "load_power");
  if (!(node_power_w > host_watts(resolving, 0)))
    return false;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (!are_open(resolving, resolving_figures(resolving, c)[load_power]))
      continue;
    else if (node_power_w > host_watts(resolving, c))
      take_node_in(resolving, c, node_power_w, node);
    else
      refuse_host(resolving, c, node_power_w);
  return true;
}

static bool take_like(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  const int throughput = model_find(scenario->model, "throughput");
  struct like_run run = {.throughputs = catalog_glance(scenario->catalog, CATALOG_THROUGHPUT),
                         .models = catalog_glance(scenario->catalog, CATALOG_MODELS),
                         .accelerator = option->accelerator,
                         .precision = option->workload.values[WORKLOAD_PRECISION]};
  struct evidence like;
  if (!run.throughputs || !run.models || !*run.precision || !resolving_has(resolving, throughput))
    return false;
  const struct evidence *row = option->watts_of; // a throughput typed over it leaves its watts
  run.tokens_per_s = row ? row->tokens_per_s : rate_per_second(option->figures[throughput]->value);
  run.active_b = row ? like_run_active_of_row(&run, row->row)
                     : like_run_active(run.models, option->workload.values[WORKLOAD_MODEL]);
  if (!like_run_find(&run, &like))
    return false;
  take_watts(resolving, &like, GRADE_PROJECTED);
  option->power_doubt = arena_printf(resolving->arena,
                                     "power under load, %.4g W/gpu, is from a similar run, %s (%s, "
                                     "%s, %.6g token/s), as none was measured with the throughput",
                                     like.load_power_w, like.id,
                                     table_cell(like.table, like.row, "model_as_published"),
                                     run.precision, evidence_rate(like.table, like.row));
  return true;
}

// Takes the watts of the server's record: its node's if measured, else its accelerators'.
static bool take_served(struct resolving *resolving, const struct served *served) {
  const struct model *model = resolving->scenario->model;
  struct figure figure =
      figure_found(0, served->place, served->power_grade, served->power_source, served->date);
  if (isfinite(served->node_power_w))
    return take_node(resolving, served->node_power_w, figure);
  if (!isfinite(served->load_power_w))
    return false;
  figure.value = served->load_power_w;
  fill_watts(resolving, figure);
  figure.value = served->idle_power_w;
  if (isfinite(figure.value))
    resolving_fill(resolving, model_find(model, "idle_power"), figure);
  return true;
}

// Takes the power limit of a row that has no measured watts: it drew no more than that.
static bool take_limit(struct resolving *resolving, const struct evidence *own) {
  struct option *option = resolving->option;
  if (!selection_of(&resolving->selections, SELECT_POWER_LIMIT) || !isfinite(own->power_limit_w))
    return false;
  struct figure figure =
      watts_figure(own, own->power_limit_w, "power_limit_w",
                   arena_printf(resolving->arena, "%s: its power limit, %s", own->id, own->source));
  figure.grade = GRADE_PROJECTED;
  fill_watts(resolving, figure);
  option->power_doubt =
      arena_printf(resolving->arena,
                   "power under load is the limit at which %s ran, %g W/gpu, as none was measured",
                   own->id, own->power_limit_w);
  return true;
}

// Takes the watts of the throughput's own row: its accelerators', else its node's, else its limit.
static bool take_own(struct resolving *resolving) {
  const struct evidence *own = resolving->option->watts_of;
  if (resolving->option->served_watts)
    return take_served(resolving, resolving->option->served_watts);
  if (!own)
    return false;
  if (!isfinite(own->load_power_w) && !isfinite(own->node_power_w))
    return take_limit(resolving, own);
  if (!isfinite(own->load_power_w))
    return take_node(resolving, own->node_power_w,
                     watts_figure(own, 0, "system_power_w",
                                  arena_printf(resolving->arena, "%s: power of the whole node, %s",
                                               own->id, own->source)));
  take_watts(resolving, own, own->power_grade);
  return true;
}

static void note_found(const struct resolving *resolving) {
  const struct option *option = resolving->option;
  sources_found_for_lengths(resolving,
                            option->served_watts ? option->served_watts->rungs->record->grade
                                                 : option->watts_of->grade,
                            "power");
}

// The load power in the first case that leaves it open, or NULL: one offer may guarantee watts,
// another none.
static const struct figure **open_load(const struct resolving *resolving, int load_power) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **load = &resolving_figures(resolving, c)[load_power];
    if (are_open(resolving, *load))
      return load;
  }
  return NULL;
}

void load_power_find(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  struct option *option = resolving->option;
  const int load_power = model_find(scenario->model, "load_power");
  option->power_limit_w = selection_power_limit(&resolving->selections, resolving->arena);
  if (!catalog_glance(scenario->catalog, CATALOG_ACCELERATORS) || load_power < 0)
    return;
  const struct figure **load = open_load(resolving, load_power);
  if (!load)
    return;
  if (take_own(resolving))
    note_found(resolving);
  else if (!take_like(resolving) && load_power_is_tdp(scenario, *load))
    option->power_doubt = arena_printf(
        resolving->arena,
        "power under load is the TDP, %s: no measurement available; actual draw is likely lower",
        quantity_text((*load)->value, &scenario->model->declarations[load_power].unit,
                      resolving->arena));
  option->doubted_power = *option->power_doubt ? *load : NULL;
}
