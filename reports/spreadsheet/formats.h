// formats: the look of a workbook's cells, one format object for all that look alike. Inputs are
// blue on a fill and unlocked, formulas black, links to other sheets green, results that are not
// live gray.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_FORMATS_H
#define PERTOKEN_REPORTS_SPREADSHEET_FORMATS_H

#include "model/cost/units.h"

#include <xlsxwriter.h>

enum cell_role {
  CELL_INPUT,
  CELL_OVERRIDE,  // an input of a case that differs from the base
  CELL_INHERITED, // an input of a case that follows another cell until it is overwritten
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
  NUMBER_COST,        // per token: cost_decimals
  NUMBER_MONEY_SMALL, // USD/kWh, USD/Mtok
  NUMBER_PERCENT,
  NUMBER_SAVING, // the saving of a zero amount is "-"
  NUMBER_PERCENT_SMALL,
  NUMBER_WHOLE,
  NUMBER_TENTHS,
  NUMBER_HUNDREDTHS,
  NUMBER_PLAIN,
  NUMBER_TOKENS, // whole numbers up to a billion, then with an exponent
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
  TEXT_HEADER,       // for a table's column
  TEXT_HEADER_RIGHT, // above numbers
  TEXT_HEADER_INDENTED,
  TEXT_HEADING, // for a group of rows
  TEXT_STAMP,   // a warning that must not be missed
  TEXT_STAMP_WRAPPED,
  TEXT_STRONG_WRAPPED,
  TEXT_NOTE_WRAPPED,
  TEXT_STRONG,
  TEXT_ANSWER, // a live sentence
  TEXT_FIXED,  // as it was when the workbook was written
  TEXT_FIXED_WRAPPED,
  TEXT_FIXED_INDENTED_WRAPPED,
  TEXT_FIXED_RIGHT,
  TEXT_FIXED_STRONG_WRAPPED,
  TEXT_RIGHT,
  TEXT_RIGHT_WRAPPED,
  TEXT_LINKED, // a live text from another sheet
  TEXT_LINKED_RIGHT,
  TEXT_LINKED_INDENTED,
  TEXT_LINKED_WRAPPED,
  TEXT_LINKED_RIGHT_WRAPPED,
  TEXT_LINK, // a hyperlink within the workbook
  TEXT_GOOD,
  TEXT_BAD,
  TEXT_CHANGED, // the highlight of an override
  TEXT_PAST,    // looks like blank paper, for columns past the horizon
  TEXT_FORMATS
};

enum { MAX_DECIMALS = 6 };

// A cost per token is shown with at least so many decimals.
enum { MIN_COST_DECIMALS = 4 };

struct formats {
  lxw_workbook *workbook;
  int cost_decimals; // if more
  lxw_format *cells[CELL_ROLES][NUMBER_FORMATS];
  lxw_format *figures[CELL_ROLES][NUMBER_FORMATS][MAX_DECIMALS + 1];
  lxw_format *texts[TEXT_FORMATS];
  lxw_format *samples[CELL_ROLES];
};

lxw_format *formats_cell(struct formats *formats, enum cell_role role, const struct unit *unit);

// The decimals of a figure that somebody typed. Figures side by side all get the maximum of
// formats_decimals.
int formats_decimals(double value, const struct unit *unit);
lxw_format *formats_figure(struct formats *formats, enum cell_role role, int decimals,
                           const struct unit *unit);

// A share with one decimal, as on a terminal; one that this would show as 0.0 or 100.0 % has as
// many as it takes to tell it from that.
lxw_format *formats_share(struct formats *formats, enum cell_role role, double share);

// An option's saving: a share, or "-" for none.
lxw_format *formats_saving(struct formats *formats, enum cell_role role, double saving);

// A constant of formulas, with as many decimals as it has.
lxw_format *formats_constant(struct formats *formats, double value, const struct unit *unit);

// A number in a table's column, all with the given number of decimals, unless its unit sets them:
// money, shares, power.
lxw_format *formats_column(struct formats *formats, enum cell_role role, int decimals,
                           const struct unit *unit);

// A result of a run; a count has no decimals.
lxw_format *formats_result(struct formats *formats, double value, const struct unit *unit);

// A difference that should be zero, or its tolerance.
lxw_format *formats_difference(struct formats *formats, enum cell_role role);

// A small amount of a unit, such as an error, with decimals of its own.
lxw_format *formats_small(struct formats *formats, enum cell_role role, const struct unit *unit);

// A text in the format of a role, but locked.
lxw_format *formats_sample(struct formats *formats, enum cell_role role);

// A cell of that role that holds a text.
lxw_format *formats_cell_text(struct formats *formats, enum cell_role role);

lxw_format *formats_text(struct formats *formats, enum text_format which);

#endif
