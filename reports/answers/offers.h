// offers: two offers side by side: the lines that differ, and what each of them comes to.
#ifndef PERTOKEN_REPORTS_ANSWERS_OFFERS_H
#define PERTOKEN_REPORTS_ANSWERS_OFFERS_H

#include "base/arena.h"
#include "model/delivery/offer.h"
#include "model/scenario/option.h"
#include "reports/faces/answer.h"

// A row for each line that differs, as written: its name, the option unless that is NULL, the text
// in a and in b.
void offers_add_lines(struct answer_table *table, const struct option *option,
                      const struct offer *a, const struct offer *b);

// The difference of two offers, in the arena. Amounts are compared if both are in one currency.
// Warnings: two accelerators, and what only one of the offers has a line for.
// Json: { schema 2, a, b, offer_lines: [..], totals: { hardware, purchase, per_accelerator, yearly:
// { a, b, change } } }, offer_lines left out if empty.
struct answer offers_answer(const struct offer *a, const struct offer *b, struct arena *arena);

#endif
