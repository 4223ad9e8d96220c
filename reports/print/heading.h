// heading: the lines above every answer about a scenario on a terminal.
#ifndef PERTOKEN_REPORTS_PRINT_HEADING_H
#define PERTOKEN_REPORTS_PRINT_HEADING_H

#include "model/scenario/scenario.h"
#include "reports/print/style.h"

// The title; horizon, baseline, case and date; the stamp, unless it is ""; a blank line.
void heading_print(const struct scenario *scenario, const char *stamp, const struct style *style);

#endif
