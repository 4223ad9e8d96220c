#include "reports/sheets/cost_curves.h"
#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/batch_curve.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/cost_columns.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <string.h>

enum { UTILIZATIONS = 7, REPLICA_COLUMN = 4 };

// 10 %, 25 %, ... 100 %
#define FIRST_UTILIZATION 0.10
#define UTILIZATION_STEP  0.15

static const struct unit requests = {.text = "requests", .counts = true};

static const struct declaration *declaration_of(const struct book *book, int declaration) {
  return &book->scenario->model->declarations[declaration];
}

// Whether it is a single number in the option, given or computed.
static bool is_single_in(const struct option *option, int declaration) {
  return declaration >= 0 && option_has(option, declaration) &&
         !graph_is_series(option->graph, declaration);
}

static void plan_utilizations(const struct book *book, struct cost_curves *curves) {
  const struct scenario *scenario = book->scenario;
  const int utilization = model_find(scenario->model, "utilization");
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_single_in(&scenario->options[o], utilization) &&
        ranking_is_eligible(&book->sheets->ranking->options[o]))
      curves->list[curves->count++] =
          (struct cost_curve){.option = o, .input = utilization, .count = UTILIZATIONS};
  curves->utilizations = curves->count;
}

static void plan_batches(const struct book *book, struct cost_curves *curves) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct batch_curve *batches = arena_alloc(book->arena, sizeof *batches);
    if (batch_curve_of(scenario, &scenario->options[o], batches, book->arena))
      curves->list[curves->count++] = (struct cost_curve){
          .option = o, .input = batches->declaration, .count = batches->count, .batches = batches};
  }
}

struct cost_curves *curves_plan(const struct book *book) {
  const size_t options = book->scenario->option_count;
  struct cost_curves *curves = arena_alloc(book->arena, sizeof *curves);
  *curves = (struct cost_curves){0};
  curves->list = arena_array(book->arena, 2 * options, sizeof *curves->list);
  if (model_cost_item(book->scenario->model) < 0)
    return curves;
  plan_utilizations(book, curves);
  plan_batches(book, curves);
  return curves;
}

int curves_rows(const struct book *book) {
  const size_t utilizations = book->sheets->curves->utilizations;
  const size_t batches = book->sheets->curves->count - utilizations;
  return (utilizations ? (int)utilizations + 3 : 0) + (batches ? 3 * (int)batches + 2 : 0);
}

// ---- the points

static void put_row(struct book *book, const char *label, const char *key,
                    const struct unit *unit) {
  put_labels(book, book->row, label, key, unit->text);
}

static void write_head(struct book *book, const char *heading, int columns) {
  const char *const texts[] = {heading, "Key", "Unit"};
  put_header(book, book->row, texts, 3);
  for (int i = 0; i < columns; i++)
    put_text(book, book->row, COLUMN_VALUE + i, "", TEXT_HEADER_RIGHT);
  book->row++;
}

static double utilization_at(size_t point) {
  return FIRST_UTILIZATION + (double)point * UTILIZATION_STEP;
}

static const char *above(struct book *book, int row, size_t point) {
  return cell_here(book, row, COLUMN_VALUE + (int)point);
}

// A constant of Inputs in the first cell, one step more in each following cell.
static void write_utilizations(struct book *book) {
  struct name *first =
      constants_literal(&book->constants, "curve", "Lowest utilization of the curve", "first",
                        FIRST_UTILIZATION, &unit_percent);
  struct name *step =
      constants_literal(&book->constants, "curve", "Step of the curve's utilization", "step",
                        UTILIZATION_STEP, &unit_percent);
  put_row(book, "Utilization", "utilization", &unit_percent);
  put_link(book, book->row, COLUMN_VALUE, first, FIRST_UTILIZATION, &unit_percent);
  for (size_t i = 1; i < UTILIZATIONS; i++)
    put_formula(book, book->row, COLUMN_VALUE + (int)i, utilization_at(i), CELL_FORMULA,
                &unit_percent, "=%s+%s", above(book, book->row, i - 1), name_use(step));
  book->row++;
}

static void put_constant(struct book *book, size_t point, const char *item, const char *label,
                         const char *source, double value, const struct unit *unit) {
  struct name *name = constants_literal(&book->constants, item, label, source, value, unit);
  put_link(book, book->row, COLUMN_VALUE + (int)point, name, value / unit_cell_factor(unit), unit);
}

// The batches and the measured figure of each: constants of Inputs, labeled with their source.
static void write_batches(struct book *book, struct cost_curve *curve) {
  const struct option *option = &book->scenario->options[curve->option];
  const struct declaration *input = declaration_of(book, curve->input);
  const char *id = option->id;
  curve->x_row = book_place(book, book->row);
  put_row(book, arena_printf(book->arena, "Batch, %s", option->label),
          arena_printf(book->arena, "%s.batch", id), &requests);
  for (size_t i = 0; i < curve->count; i++) {
    const struct batch_point *point = &curve->batches->points[i];
    put_constant(book, i, "batch", "Batch", point->source, point->batch, &requests);
  }
  curve->input_row = ++book->row;
  put_row(book, arena_printf(book->arena, "%s at that batch, %s", input->label, option->label),
          arena_printf(book->arena, "%s.%s", id, input->name), &input->unit);
  for (size_t i = 0; i < curve->count; i++) {
    const struct batch_point *point = &curve->batches->points[i];
    put_constant(book, i, "batch_throughput",
                 arena_printf(book->arena, "%s at batch %g", input->label, point->batch),
                 point->source, point->throughput, &input->unit);
  }
  book->row++;
}

// ---- their costs

static double input_at(const struct cost_curve *curve, size_t point) {
  return curve->batches ? curve->batches->points[point].throughput : utilization_at(point);
}

static const char *title_at(const struct book *book, const struct cost_curve *curve, size_t point) {
  if (curve->batches)
    return arena_printf(book->arena, "batch %g", curve->batches->points[point].batch);
  return arena_printf(book->arena, "%g %%", 100 * utilization_at(point));
}

static void write_costs(struct book *book, struct cost_curve *curve, int *calculations) {
  const int item = model_cost_item(book->scenario->model);
  const struct declaration *cost = declaration_of(book, item);
  struct replica_column *columns = arena_array(book->arena, curve->count, sizeof *columns);
  for (size_t i = 0; i < curve->count; i++)
    columns[i] = (struct replica_column){curve->input,
                                         cell_fixed(book, curve->input_row, COLUMN_VALUE + (int)i),
                                         input_at(curve, i), title_at(book, curve, i)};
  const struct replica *replica = replica_new(book, &book->sheets->options[curve->option], item,
                                              *calculations, REPLICA_COLUMN, columns, curve->count);
  const struct option *option = &book->scenario->options[curve->option];
  put_row(book, arena_printf(book->arena, "%s, %s", cost->label, option->label),
          arena_printf(book->arena, "%s.%s", option->id, cost->name), &cost->unit);
  for (size_t i = 0; i < curve->count; i++)
    replica_put(replica, i, book->row, COLUMN_VALUE + (int)i);
  replica_write(replica);
  *calculations = replica_end(replica) + 1;
  curve->y_row = book_place(book, book->row++);
}

int curves_last_column(const struct book *book) {
  size_t most = 0;
  for (size_t i = 0; i < book->sheets->curves->count; i++)
    most = book->sheets->curves->list[i].count > most ? book->sheets->curves->list[i].count : most;
  return COLUMN_VALUE + (int)most - 1;
}

int curves_write(struct book *book, int row, int calculations) {
  struct cost_curves *curves = book->sheets->curves;
  book->row = row;
  const int utilizations = row + 1;
  if (curves->utilizations) {
    write_head(book, "Cost per token against utilization", UTILIZATIONS);
    write_utilizations(book);
  }
  for (size_t i = 0; i < curves->utilizations; i++) {
    curves->list[i].x_row = curves->list[i].input_row = book_place(book, utilizations);
    write_costs(book, &curves->list[i], &calculations);
  }
  book->row += curves->utilizations ? 1 : 0;
  if (curves->count > curves->utilizations)
    write_head(book, "Cost per token against batch (power unchanged)",
               curves_last_column(book) - COLUMN_VALUE + 1);
  for (size_t i = curves->utilizations; i < curves->count; i++) {
    write_batches(book, &curves->list[i]);
    write_costs(book, &curves->list[i], &calculations);
  }
  return calculations;
}
