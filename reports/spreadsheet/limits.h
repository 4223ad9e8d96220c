// limits: what may be typed into the cells of an input, from the cost model's text.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H
#define PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H

#include "reports/spreadsheet/book.h"

#include <stdbool.h>
#include <xlsxwriter.h>

// The least and the greatest value in the cells' unit; infinite for none.
struct input_limits {
  double least, most;
  bool above; // the least itself is not allowed
};

struct input_limits limits_range(const struct book *book, int declaration);

// What a spreadsheet program lets nobody type, although it may be pasted: everything else, with the
// message about it.
lxw_data_validation *limits_of(const struct book *book, int declaration);

#endif
