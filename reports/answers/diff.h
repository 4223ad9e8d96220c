// diff: two scenarios side by side: which inputs differ, and what that does.
#ifndef PERTOKEN_REPORTS_ANSWERS_DIFF_H
#define PERTOKEN_REPORTS_ANSWERS_DIFF_H

#include "reports/answers/difference.h"
#include "reports/print/format.h"

#include <stdio.h>

// Table: the inputs that differ; then, per option, the headline items of both, and the cost per
// token of A with each differing input of B alone, and with all of them together.
// Csv: kind,option,name,label,unit,a,b,change; kind is option (in one only), item (a line item of
// the user's own that differs), input, result, alone or together; change is b/a - 1.
// Json: { schema 1, a, b, units, only_a, only_b, items, inputs: [..], options: [ { id,
// accelerators, results, alone: {..}, together } ] }. Two scenarios that are alike give empty
// lists.
void diff_print(const struct scenario *a, const struct scenario *b, enum output_format format,
                FILE *out, struct arena *arena);

void diff_table(const struct difference *difference, FILE *out, struct arena *arena);
void diff_csv(const struct difference *difference, FILE *out, struct arena *arena);
void diff_json(const struct difference *difference, FILE *out, struct arena *arena);

// A change's name: that of its input, or "bought_or_rented".
const char *diff_change_name(const struct difference *difference, const struct change *change);
const char *diff_change_label(const struct difference *difference, const struct change *change);

// A line item's value in the unit it is declared in.
double diff_shown(const struct scenario *scenario, const struct option *option, int declaration);

// Is it a headline item that both options of the pair have?
bool diff_is_result(const struct difference *difference, size_t pair, int declaration);

#endif
