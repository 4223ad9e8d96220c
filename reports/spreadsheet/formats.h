// formats: what the cells of a workbook look like, one format object for all that look
// alike. Inputs are blue on a fill and unlocked, formulas black, links to other sheets green,
// results that are not live grey.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_FORMATS_H
#define PERTOKEN_REPORTS_SPREADSHEET_FORMATS_H

#include "model/cost/units.h"

#include <xlsxwriter.h>

enum cell_role {
  CELL_INPUT,
  CELL_OVERRIDE,  // an input of a case that differs from the base
  CELL_INHERITED, // an input of a case that follows another cell until it is typed over
  CELL_FORMULA,
  CELL_LINK,
  CELL_CONSTANT,
  CELL_TOTAL, // a formula that matters: bold
  CELL_TOTAL_LINK,
  CELL_RESULT, // of a search or a simulation: not live
  CELL_ROLES
};

enum number_format {
  NUMBER_MONEY,
  NUMBER_MONEY_CENTS,
  NUMBER_MONEY_SMALL, // USD/kWh, USD/Mtok
  NUMBER_PERCENT,
  NUMBER_PERCENT_SMALL,
  NUMBER_WHOLE,
  NUMBER_TENTHS,
  NUMBER_HUNDREDTHS,
  NUMBER_PLAIN,
  NUMBER_TOKENS, // whole up to a billion, then with an exponent
  NUMBER_ANY,
  NUMBER_EXPONENT,
  NUMBER_TEXT,
  NUMBER_FORMATS
};

enum text_format {
  TEXT_PLAIN,
  TEXT_INDENTED, // right of a number
  TEXT_INDENTED_WRAPPED,
  TEXT_WRAPPED,
  TEXT_TITLE,
  TEXT_TITLE_WRAPPED,
  TEXT_SUBTITLE,
  TEXT_NOTE,
  TEXT_HEADER,       // of a table's column
  TEXT_HEADER_RIGHT, // above numbers
  TEXT_HEADER_INDENTED,
  TEXT_HEADING, // of a group of rows
  TEXT_STAMP,   // a warning nobody may miss
  TEXT_STAMP_WRAPPED,
  TEXT_STRONG_WRAPPED,
  TEXT_NOTE_WRAPPED,
  TEXT_STRONG,
  TEXT_ANSWER, // a live sentence
  TEXT_RIGHT,
  TEXT_RIGHT_WRAPPED,
  TEXT_LINKED, // a live text of another sheet
  TEXT_LINKED_RIGHT,
  TEXT_LINKED_INDENTED,
  TEXT_LINKED_WRAPPED,
  TEXT_LINKED_RIGHT_WRAPPED,
  TEXT_LINK, // a hyperlink within the workbook
  TEXT_GOOD,
  TEXT_BAD,
  TEXT_CHANGED, // the highlight of an override
  TEXT_PAST,    // blank paper over what is past the horizon
  TEXT_FORMATS
};

struct formats {
  lxw_workbook *workbook;
  lxw_format *cells[CELL_ROLES][NUMBER_FORMATS];
  lxw_format *texts[TEXT_FORMATS];
  lxw_format *samples[CELL_ROLES];
};

lxw_format *formats_cell(struct formats *formats, enum cell_role role, const struct unit *unit);

// A constant of formulas, with as many decimals as it has.
lxw_format *formats_constant(struct formats *formats, double value, const struct unit *unit);

// A result of a run; one that counts things, without decimals.
lxw_format *formats_result(struct formats *formats, double value, const struct unit *unit);

// A difference that ought to be zero, or what it may be.
lxw_format *formats_difference(struct formats *formats, enum cell_role role);

// A small amount of a unit, such as an error, with digits of its own.
lxw_format *formats_small(struct formats *formats, enum cell_role role, const struct unit *unit);

// A text in the looks of a role, but locked.
lxw_format *formats_sample(struct formats *formats, enum cell_role role);

// A cell of that role that holds a text.
lxw_format *formats_cell_text(struct formats *formats, enum cell_role role);

lxw_format *formats_text(struct formats *formats, enum text_format which);

#endif
