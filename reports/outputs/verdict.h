// verdict: which option is the cheapest: the rule of model/scenario/ranking.h in formulas, so that
// it follows the inputs. What no input changes, such as workloads that differ, is a fixed property
// of the option.
#ifndef PERTOKEN_REPORTS_OUTPUTS_VERDICT_H
#define PERTOKEN_REPORTS_OUTPUTS_VERDICT_H

#include "reports/spreadsheet/book.h"

#include <stdbool.h>

// The text for a ranked option in the row "Ranked?".
#define VERDICT_RANKED "yes"

// Whether anything can keep an option from being ranked.
bool verdict_has_bars(struct book *book);

// Which of several options are ranked and why the others are not: the row for it among the results
// and, in the workings, what it is derived from.
void verdict_place_ranked(struct book *book);
void verdict_write_ranked(struct book *book);

// Which option is the cheapest, live. Addresses are absolute.
struct verdict {
  int costs_row, flags_row; // with the ranked options' costs, with the cheapest's flags
  const char *costs;        // those costs, a range in which unranked options have texts
  const char *count;        // how many tie for the cheapest: 0 if fewer than two are ranked
  const char *first;        // which of the options is the first of them, from 1
  const char *names;        // the answer in the selected case
};

void verdict_write(struct book *book, struct verdict *verdict);

#endif
