// own_item: a line item of the user's, [item NAME] of a scenario.
//
//   label, unit, formula    as in the model's own text; the formula may be a list by year: schedule.h
//   group                   capex, or opex: an amount in money, or in money per time
//   escalation              of an opex item: what it grows by every year
//   options                 the options that have it; else all
//   source, date, quote     of the numbers in the formula and the escalation
//
// Every number in the formula is an input, NAME_1, NAME_2 ..., the escalation NAME_escalation, and
// whether an option has it NAME_applies (of an item with `options`). Zero, a bare 1, exponents and the
// digits of round() stay what they are. An opex item also declares NAME_cost, its amount per period.
// What follows from watts is paid by who owns the site: where nothing says otherwise, a rented option
// does not have it.
#ifndef PERTOKEN_MODEL_COST_OWN_ITEM_H
#define PERTOKEN_MODEL_COST_OWN_ITEM_H

#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/model.h"

// Adds the item to the model. Returns 0 or -1.
int own_item_add(struct model *model, const struct ini_section *section,
                 struct diagnostics *diagnostics);

// After the last of them, before model_check.
void own_items_finish(struct model *model);

#endif
