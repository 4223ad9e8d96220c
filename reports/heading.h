// heading: what stands above every answer about a scenario on a terminal.
#ifndef PERTOKEN_HEADING_H
#define PERTOKEN_HEADING_H

#include "model/scenario.h"
#include "reports/style.h"

// The title; horizon, baseline, case and date; whether unlike throughputs are compared; a blank
// line.
void heading_print(const struct scenario *scenario, const struct style *style);

#endif
