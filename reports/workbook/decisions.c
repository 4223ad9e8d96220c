// Decisions: the answers to the scenario's questions.
#include "base/arena.h"
#include "reports/faces/answer.h"
#include "reports/sheets/answer_sheet.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/writers.h"

#include <stddef.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };

static size_t widest(const struct answers *answers) {
  size_t columns = 0;
  for (size_t i = 0; i < answers->count; i++)
    if (answer_columns(&answers->list[i]) > columns)
      columns = answer_columns(&answers->list[i]);
  return columns;
}

// Whether the inputs are those of the run: none is overwritten, and the case is the same.
static void write_state(struct book *book, int row, int case_row) {
  put_text(book, row, 0, "Do these answers still hold?", TEXT_PLAIN);
  put_state(book, row, 1,
            arena_printf(book->arena,
                         "=IF(AND(%s=0,%s&\"\"=%s),\"" STATE_CURRENT "\",\"" STATE_STALE "\")",
                         written_live_count(book), name_use(book->sheets->case_name),
                         cell_fixed(book, case_row, 1)),
            STATE_CURRENT, STATE_STALE, true);
}

// The case and the sentences of the run, for the formulas above.
static void write_workings(struct book *book, int row) {
  const struct answers *answers = &book->sheets->answers;
  put_text(book, row, 0, "Case of the run", TEXT_PLAIN);
  put_text(book, row, 1, book->scenario->case_labels[book->scenario->selected], TEXT_PLAIN);
  for (size_t i = 0; i < answers->count; i++)
    put_text(book, row + 1 + (int)i, 0, answers->list[i].sentence, TEXT_PLAIN);
}

void write_decisions(struct book *book) {
  enum { HEADING_ROWS = 2 };
  const struct answers *answers = &book->sheets->answers;
  struct decision_rows *rows = &book->sheets->decision_rows;
  const int workings = rows->workings;
  struct live_answer live = {.columns = widest(answers)};
  begin_sheet(book, SHEET_DECISIONS, FIRST_STAMP_ROW, 0);
  put_text(book, NOTE_ROW, 0,
           "Black and green figures are live. Gray ones and all other words, headings included, "
           "are of the run that wrote the workbook: run pertoken again after changing an input.",
           TEXT_NOTE);
  rows->state = put_stamps(book, FIRST_STAMP_ROW);
  rows->sentences = arena_array(book->arena, answers->count, sizeof *rows->sentences);
  write_state(book, rows->state, workings);
  live.state = cell_fixed(book, rows->state, 1);
  int row = rows->state + 2;
  for (size_t i = 0; i < answers->count; i++) {
    rows->sentences[i] = row + 1;
    live.sentence = workings + 1 + (int)i;
    row = write_live_answer(book, &answers->list[i], &live, row);
  }
  put_workings(book, row);
  rows->workings = row + HEADING_ROWS;
  write_workings(book, rows->workings);
  set_answer_widths(book, live.columns);
  end_sheet(book, row - 2, (int)live.columns - 1);
}
