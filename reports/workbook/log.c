// Change log: what this workbook was made of, so that it can be made again.
#include "base/arena.h"
#include "base/version.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/workbook/sheets.h"

#include <inttypes.h>
#include <stddef.h>

enum { HEADER_ROW = 2 };

static void put_entry(struct book *book, const char *label, const char *text) {
  put_text(book, book->row, 0, label, TEXT_PLAIN);
  put_text(book, book->row++, 1, text, TEXT_PLAIN);
}

// As they would be typed again.
static const char *settings_text(const struct scenario *scenario, struct arena *arena) {
  const char *text = scenario->mixed ? "--mixed" : "";
  for (size_t i = 0; i < scenario->setting_count; i++)
    text = arena_printf(arena, "%s%s--set '%s'", text, *text ? " " : "", scenario->settings[i]);
  return *text ? text : "none";
}

static void write_options(struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    put_entry(book, "Option",
              arena_printf(book->arena, "%s: %s%s", scenario->options[o].id,
                           scenario->options[o].accelerator_name,
                           o == scenario->baseline ? " (baseline)" : ""));
}

static const char *seed_text(const struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  if (!simulation)
    return "none: no simulation in this workbook";
  if (!simulation->done)
    return "none: nothing to draw in this case";
  return arena_printf(book->arena, "%" PRIu64 ", of %" PRIu64 " draws by method %s",
                      simulation->seed, simulation->draws, draw_method_names[simulation->method]);
}

void write_log(struct book *book) {
  const struct scenario *scenario = book->scenario;
  book->row = HEADER_ROW + 1;
  static const char *const headings[] = {"What", "Value"};
  begin_sheet(book, "Change log", HEADER_ROW + 1, 1);
  put_header(book, HEADER_ROW, headings, 2);
  put_entry(book, "Written by", "pertoken " PERTOKEN_VERSION);
  put_entry(book, "Scenario", scenario->path);
  put_entry(book, "Title", scenario->title);
  put_entry(book, "Digest (SHA-256) of scenario, cost model and settings", scenario->digest);
  put_entry(book, "Date that ages of figures are counted from", scenario->date);
  put_entry(book, "Cost model", scenario->model->source->name);
  put_entry(book, "Seed", seed_text(book));
  put_entry(book, "Case shown when written", scenario->cases[scenario->selected]);
  put_entry(book, "Settings", settings_text(scenario, book->arena));
  write_options(book);
  set_widths(book, (const int[]){54, 80}, 2, 1);
  end_sheet(book, book->row - 1, 1);
}
