// provenance: where a figure comes from, as all sheets show it; none of the texts is blank.
#ifndef PERTOKEN_REPORTS_WORKBOOK_PROVENANCE_H
#define PERTOKEN_REPORTS_WORKBOOK_PROVENANCE_H

#include "base/arena.h"
#include "model/scenario/figure.h"
#include "model/scenario/scenario.h"

const char *figure_source(const struct figure *figure);

// YYYY, YYYY-MM or YYYY-MM-DD; a date in another form becomes the last day that it can mean.
const char *figure_date(const struct figure *figure, struct arena *arena);
const char *figure_grade(const struct figure *figure);

// "scenario.ini:12", "data/prices.csv:40", a record's file.
const char *figure_place(const struct scenario *scenario, const struct figure *figure,
                         int declaration, struct arena *arena);

#endif
