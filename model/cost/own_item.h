// own_item: a user's own line item, [item NAME] of a scenario.
//
//   label, unit, formula    as in the model's text; the formula may be a list: schedule.h
//   group                   capex, or opex: an amount in money, or in money per time
//   escalation              of an opex item: its growth per year
//   options                 the options that have it; else all
//   source, date, quote     of the numbers in the formula and of the escalation
//
// Every number in the formula is an input, NAME_1, NAME_2, ...; the escalation is NAME_escalation,
// and NAME_applies is whether an option has the item (if it has `options`). Zero, a bare 1,
// exponents and the digits of round() stay as they are. An opex item also declares NAME_cost, its
// amount per period. Whatever depends on watts is paid by the owner of the site: by default, a
// rented option does not have it. In an option without the item it is 0, whatever its formula
// gives.
#ifndef PERTOKEN_MODEL_COST_OWN_ITEM_H
#define PERTOKEN_MODEL_COST_OWN_ITEM_H

#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/model.h"

// Adds the item to the model. Returns 0 or -1.
int own_item_add(struct model *model, const struct ini_section *section,
                 struct diagnostics *diagnostics);

// Finishes the user's items. Call after the last item and before model_check.
void own_items_finish(struct model *model);

// The user's item of which a declaration, with `own` set, holds the amount: itself, or that of its
// amount per period.
int own_item_of(const struct model *model, int declaration);

#endif
