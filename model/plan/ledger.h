// ledger: the payments of a plan, and its books and taxes, at the start of each period and at the
// end of the last.
//
// Each vintage is depreciated from its own date, for tax too (docs/vintages.md). Hardware retired
// before the horizon is written off when it goes; what is left at the horizon is shown in the
// books, and disposed of for tax. Cost that nodes do not change is an expense: engineers, and
// migration, which is deducted at the end of the period that it is for.
#ifndef PERTOKEN_MODEL_PLAN_LEDGER_H
#define PERTOKEN_MODEL_PLAN_LEDGER_H

#include "model/plan/outcome.h"

#include <stdbool.h>
#include <stddef.h>

// Amounts at the start of period `period`, which is also the end of the one before; USD,
// undiscounted. `periods`: at the end.
struct ledger_entry {
  double cash;         // purchases, running cost and rent, less what is sold
  double depreciation; // in the preceding period
  double written_off;  // of what is retired then
  double book_value;   // of what is present from then on
  double after_tax;    // cash, less the tax that it saves
};

// A cost of an option that belongs to no lot: what does not change with the number of nodes
// (engineers), migration, and watts beyond those of the workload with the lowest draw, or the
// tokens of a provider.
enum ledger_rest { REST_STANDING, REST_ENTRY, REST_EXTRA, RESTS };

// Such a cost of an option at the start of a period; USD, undiscounted.
double ledger_rest_at(const struct plan_answer *answer, size_t option, enum ledger_rest rest,
                      int period);

// The payment for an option that serves from a period on, including migration if that is its first.
double ledger_outlay_of(const struct plan_answer *answer, size_t option, int period);

// Adds what an action contributes, with its whole spares.
void ledger_add_action(const struct plan_answer *answer, size_t action, int period,
                       struct ledger_entry *entry);

struct ledger_entry ledger_entry_at(const struct plan_answer *answer, int period);

// Whether any option has a tax rate.
bool ledger_is_taxed(const struct plan_answer *answer);

#endif
