#include "reports/workbook/curves.h"
#include "model/questions/batch_curve.h"
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/cost_columns.h"

#include <string.h>

enum { UTILIZATIONS = 7, REPLICA_COLUMN = 4 };

// 10 %, 25 %, ... 100 %
#define FIRST_UTILIZATION 0.10
#define UTILIZATION_STEP  0.15

static const struct unit percent = {.text = "%", .percents = 1};
static const struct unit requests = {.text = "requests", .counts = true};

static const struct declaration *declaration_of(const struct book *book, int declaration) {
  return &book->scenario->model->declarations[declaration];
}

static bool is_input_of(const struct option *option, int declaration) {
  return declaration >= 0 && option->graph->state[declaration] == GRAPH_INPUT;
}

static void plan_utilizations(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const int utilization = model_find(scenario->model, "utilization");
  for (size_t o = 0; o < scenario->option_count; o++)
    if (is_input_of(&scenario->options[o], utilization) &&
        ranking_is_eligible(&book->ranking->options[o]))
      book->curves->list[book->curves->count++] =
          (struct cost_curve){.option = o, .input = utilization, .count = UTILIZATIONS};
  book->curves->utilizations = book->curves->count;
}

static void plan_batches(struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct batch_curve *batches = arena_alloc(book->arena, sizeof *batches);
    if (batch_curve_of(scenario, &scenario->options[o], batches, book->arena))
      book->curves->list[book->curves->count++] = (struct cost_curve){
          .option = o, .input = batches->declaration, .count = batches->count, .batches = batches};
  }
}

void curves_plan(struct book *book) {
  const size_t options = book->scenario->option_count;
  book->curves = arena_alloc(book->arena, sizeof *book->curves);
  *book->curves = (struct cost_curves){0};
  book->curves->list = arena_array(book->arena, 2 * options, sizeof *book->curves->list);
  if (model_find(book->scenario->model, "cost_per_mtok") < 0)
    return;
  plan_utilizations(book);
  plan_batches(book);
}

int curves_rows(const struct book *book) {
  const size_t utilizations = book->curves->utilizations;
  const size_t batches = book->curves->count - utilizations;
  return (utilizations ? (int)utilizations + 3 : 0) + (batches ? 3 * (int)batches + 2 : 0);
}

// ---- the points

struct writer {
  struct book *book;
  lxw_worksheet *sheet;
  int row; // the next
};

static void put_labels(struct writer *writer, const char *label, const char *key,
                       const struct unit *unit) {
  put_text(writer->book, writer->sheet, writer->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_KEY, key, TEXT_NOTE);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_UNIT, unit->text, TEXT_PLAIN);
}

static void write_head(struct writer *writer, const char *heading, int columns) {
  const char *const texts[] = {heading, "Key", "Unit"};
  put_header(writer->book, writer->sheet, writer->row, texts, 3);
  for (int i = 0; i < columns; i++)
    put_text(writer->book, writer->sheet, writer->row, COLUMN_VALUE + i, "", TEXT_HEADER_RIGHT);
  writer->row++;
}

static double utilization_at(size_t point) {
  return FIRST_UTILIZATION + (double)point * UTILIZATION_STEP;
}

static const char *above(const struct writer *writer, int row, size_t point) {
  return cell_address(row, COLUMN_VALUE + (int)point, ADDRESS_RELATIVE, writer->book->arena);
}

// A constant of Inputs, then one step more from cell to cell.
static void write_utilizations(struct writer *writer) {
  struct book *book = writer->book;
  struct name *first =
      constants_literal(&book->constants, "curve", "Lowest utilization of the curve", "first",
                        FIRST_UTILIZATION, &percent);
  struct name *step =
      constants_literal(&book->constants, "curve", "Step of the curve's utilization", "step",
                        UTILIZATION_STEP, &percent);
  step->used = true;
  put_labels(writer, "Utilization", "utilization", &percent);
  put_link(book, writer->sheet, writer->row, COLUMN_VALUE, first, FIRST_UTILIZATION, &percent);
  for (size_t i = 1; i < UTILIZATIONS; i++)
    put_formula(book, writer->sheet, writer->row, COLUMN_VALUE + (int)i,
                arena_printf(book->arena, "=%s+%s", above(writer, writer->row, i - 1), step->text),
                utilization_at(i), formats_cell(&book->formats, CELL_FORMULA, &percent));
  writer->row++;
}

static void put_constant(struct writer *writer, size_t point, const char *item, const char *label,
                         const char *source, double value, const struct unit *unit) {
  struct book *book = writer->book;
  struct name *name = constants_literal(&book->constants, item, label, source, value, unit);
  put_link(book, writer->sheet, writer->row, COLUMN_VALUE + (int)point, name,
           value / unit_cell_factor(unit), unit);
}

// The batches and what was measured at each: constants of Inputs, labelled with their source.
static void write_batches(struct writer *writer, struct cost_curve *curve) {
  struct book *book = writer->book;
  const struct option *option = &book->scenario->options[curve->option];
  const struct declaration *input = declaration_of(book, curve->input);
  const char *id = option->id;
  curve->x_row = writer->row;
  put_labels(writer, arena_printf(book->arena, "Batch, %s", id),
             arena_printf(book->arena, "%s.batch", id), &requests);
  for (size_t i = 0; i < curve->count; i++) {
    const struct batch_point *point = &curve->batches->points[i];
    put_constant(writer, i, "batch", "Batch", point->source, point->batch, &requests);
  }
  curve->input_row = ++writer->row;
  put_labels(writer, arena_printf(book->arena, "%s at that batch, %s", input->label, id),
             arena_printf(book->arena, "%s.%s", id, input->name), &input->unit);
  for (size_t i = 0; i < curve->count; i++) {
    const struct batch_point *point = &curve->batches->points[i];
    put_constant(writer, i, "batch_throughput",
                 arena_printf(book->arena, "%s at batch %g", input->label, point->batch),
                 point->source, point->throughput, &input->unit);
  }
  writer->row++;
}

// ---- what they cost

static double input_at(const struct cost_curve *curve, size_t point) {
  return curve->batches ? curve->batches->points[point].throughput : utilization_at(point);
}

static const char *title_at(const struct book *book, const struct cost_curve *curve, size_t point) {
  if (curve->batches)
    return arena_printf(book->arena, "batch %g", curve->batches->points[point].batch);
  return arena_printf(book->arena, "%g %%", 100 * utilization_at(point));
}

static void write_costs(struct writer *writer, struct cost_curve *curve, int *calculations) {
  struct book *book = writer->book;
  const int item = model_find(book->scenario->model, "cost_per_mtok");
  const struct declaration *cost = declaration_of(book, item);
  struct replica_column *columns = arena_array(book->arena, curve->count, sizeof *columns);
  for (size_t i = 0; i < curve->count; i++)
    columns[i] = (struct replica_column){
        curve->input,
        cell_address(curve->input_row, COLUMN_VALUE + (int)i, ADDRESS_ABSOLUTE, book->arena),
        input_at(curve, i), title_at(book, curve, i)};
  const struct replica *replica =
      replica_new(book, &book->options[curve->option], writer->sheet, item, *calculations,
                  REPLICA_COLUMN, columns, curve->count);
  const char *id = book->scenario->options[curve->option].id;
  put_labels(writer, arena_printf(book->arena, "%s, %s", cost->label, id),
             arena_printf(book->arena, "%s.%s", id, cost->name), &cost->unit);
  for (size_t i = 0; i < curve->count; i++)
    put_formula(book, writer->sheet, writer->row, COLUMN_VALUE + (int)i,
                arena_printf(book->arena, "=%s", replica_cell(replica, i)),
                replica_value(replica, i), formats_cell(&book->formats, CELL_FORMULA, &cost->unit));
  replica_write(replica);
  *calculations = replica_end(replica) + 1;
  curve->y_row = writer->row++;
}

int curves_last_column(const struct book *book) {
  size_t most = 0;
  for (size_t i = 0; i < book->curves->count; i++)
    most = book->curves->list[i].count > most ? book->curves->list[i].count : most;
  return COLUMN_VALUE + (int)most - 1;
}

int curves_write(struct book *book, int row, int calculations) {
  struct cost_curves *curves = book->curves;
  struct writer writer = {book, book->sensitivity, row};
  const int utilizations = row + 1;
  if (curves->utilizations) {
    write_head(&writer, "Cost per token against utilization", UTILIZATIONS);
    write_utilizations(&writer);
  }
  for (size_t i = 0; i < curves->utilizations; i++) {
    curves->list[i].x_row = curves->list[i].input_row = utilizations;
    write_costs(&writer, &curves->list[i], &calculations);
  }
  writer.row += curves->utilizations ? 1 : 0;
  if (curves->count > curves->utilizations)
    write_head(&writer, "Cost per token against batch (watts as they are)",
               curves_last_column(book) - COLUMN_VALUE + 1);
  for (size_t i = curves->utilizations; i < curves->count; i++) {
    write_batches(&writer, &curves->list[i]);
    write_costs(&writer, &curves->list[i], &calculations);
  }
  return calculations;
}
