// Summary: all cases side by side.
#include "reports/faces/answer.h"
#include "reports/sheets/answer_sheet.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/workbook/writers.h"

#include <stddef.h>

enum { NOTE_ROW = 1, TABLES_ROW = 3 };

void write_summary(struct book *book) {
  const struct answer *answer = book->sheets->cases;
  int last =
      write_answer_sheet(book, answer, answer_columns(answer), TABLES_ROW, SHEET_SUMMARY, NULL) + 1;
  for (size_t i = 0; i < answer->note_count; i++)
    put_text(book, ++last, 0, answer_note_text(answer, i, book->arena), TEXT_NOTE);
  put_text(book, NOTE_ROW, 0,
           "Every case as it was when the workbook was written. Select a case on the Cover to "
           "apply it to all other sheets.",
           TEXT_NOTE);
  written_put_not_following(book, NOTE_ROW + 1);
  end_sheet(book, last, (int)answer_columns(answer) - 1);
}
