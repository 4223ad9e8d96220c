#include "reports/sheets/equal_shares.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/read_shares.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/cost_columns.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <stddef.h>

// The table has a heading, a share, two rates and a cost.
enum { REPLICA_COLUMN = 4, TABLE_ROWS = 5 };

// The options whose records have a usable share, one in each column from COLUMN_VALUE on.
struct equal_shares {
  struct read_shares read;
  size_t *options, count;
};

struct equal_shares *equal_shares_plan(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct equal_shares *shares = arena_alloc(book->arena, sizeof *shares);
  *shares = (struct equal_shares){.read = read_shares_of(scenario, book->arena)};
  if (!shares->read.apart || model_cost_item(scenario->model) < 0)
    return NULL;
  shares->options = arena_array(book->arena, scenario->option_count, sizeof *shares->options);
  for (size_t o = 0; o < scenario->option_count; o++)
    if (!isnan(shares->read.share[o]))
      shares->options[shares->count++] = o;
  return shares;
}

int equal_shares_rows(const struct book *book) {
  return book->sheets->equal_shares ? TABLE_ROWS + 1 : 0;
}

int equal_shares_last_column(const struct book *book) {
  const struct equal_shares *shares = book->sheets->equal_shares;
  return COLUMN_VALUE + (shares ? (int)shares->count : 1) - 1;
}

static void write_head(struct book *book, const struct equal_shares *shares, int row) {
  static const char *const texts[] = {"If all reached the highest share of read bandwidth", "Key",
                                      "Unit"};
  put_header(book, row, texts, 3);
  for (size_t i = 0; i < shares->count; i++)
    put_text(book, row, COLUMN_VALUE + (int)i, book->scenario->options[shares->options[i]].label,
             TEXT_HEADER_RIGHT);
}

// A constant of Inputs, labeled with its source.
static void put_recorded(struct book *book, int row, int column, const char *item,
                         const char *label, const char *source, double value,
                         const struct unit *unit) {
  struct name *name = constants_literal(&book->constants, item, label, source, value, unit);
  put_link(book, row, column, name, value / unit_cell_factor(unit), unit);
}

static const struct figure *recorded(const struct book *book, size_t option, int rate) {
  return option_figure(book->scenario, &book->scenario->options[option], book->scenario->selected,
                       rate);
}

// The rows of the share, of the rate with it, and of the rate with the highest share.
static void write_rates(struct book *book, const struct equal_shares *shares, int row, int rate) {
  const struct unit *unit = &book->scenario->model->declarations[rate].unit;
  const char *name = book->scenario->model->declarations[rate].name;
  const int last = COLUMN_VALUE + (int)shares->count - 1;
  const char *highest = arena_printf(book->arena, "MAX(%s:%s)", cell_fixed(book, row, COLUMN_VALUE),
                                     cell_fixed(book, row, last));
  put_labels(book, row, "Share of read bandwidth", "read_bandwidth_share", unit_percent.text);
  put_labels(book, row + 1, "Decode throughput, as recorded", name, unit->text);
  put_labels(book, row + 2, "Decode throughput at the highest share", name, unit->text);
  for (size_t i = 0; i < shares->count; i++) {
    const size_t o = shares->options[i];
    const struct figure *figure = recorded(book, o, rate);
    const double share = shares->read.share[o];
    const int column = COLUMN_VALUE + (int)i;
    put_recorded(book, row, column, "read_share", "Share of read bandwidth", figure->source, share,
                 &unit_percent);
    put_recorded(book, row + 1, column, "recorded_rate", "Decode throughput", figure->source,
                 figure->value, unit);
    put_formula(book, row + 2, column,
                figure->value * shares->read.equal / share / unit_cell_factor(unit), CELL_FORMULA,
                unit, "=%s*%s/%s", cell_here(book, row + 1, column), highest,
                cell_here(book, row, column));
  }
}

int equal_shares_write(struct book *book, int row, int calculations) {
  const struct equal_shares *shares = book->sheets->equal_shares;
  const struct model *model = book->scenario->model;
  const int rate = model_find(model, "decode_throughput"), item = model_cost_item(model);
  if (!shares)
    return calculations;
  write_head(book, shares, row);
  write_rates(book, shares, row + 1, rate);
  const int at_highest = row + 3, costs = row + 4;
  const struct declaration *cost = &model->declarations[item];
  put_labels(book, costs, cost->label, cost->name, cost->unit.text);
  for (size_t i = 0; i < shares->count; i++) {
    const size_t o = shares->options[i];
    const int column = COLUMN_VALUE + (int)i;
    struct replica_column *point = arena_alloc(book->arena, sizeof *point);
    *point = (struct replica_column){rate, cell_fixed(book, at_highest, column),
                                     recorded(book, o, rate)->value * shares->read.equal /
                                         shares->read.share[o],
                                     "highest share"};
    const struct replica *replica =
        replica_new(book, &book->sheets->options[o], item, calculations, REPLICA_COLUMN, point, 1);
    replica_put(replica, 0, costs, column);
    replica_write(replica);
    calculations = replica_end(replica) + 1;
  }
  return calculations;
}
