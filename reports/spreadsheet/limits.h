// limits: what may be typed into the cells of an input, from the cost model's text.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H
#define PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H

#include "reports/spreadsheet/book.h"

#include <stdbool.h>
#include <xlsxwriter.h>

// The least and the greatest value in the cells' unit; infinite for none.
struct input_limits {
  double least, most;
  bool above;  // the least itself is not allowed
  bool whole;  // nothing between two whole numbers is
  bool either; // nothing but 0 and 1 is
};

struct input_limits limits_range(const struct book *book, int declaration);

// The same for a spreadsheet program, which applies it to what is typed, not to what is
// pasted, with the message for anything else.
lxw_data_validation *limits_of(const struct book *book, int declaration);

#endif
