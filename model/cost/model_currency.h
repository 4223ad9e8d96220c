// model_currency: what a model has more if the report is in another currency than USD, as
// model_read.h says.
#ifndef PERTOKEN_MODEL_COST_MODEL_CURRENCY_H
#define PERTOKEN_MODEL_COST_MODEL_CURRENCY_H

#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/model.h"

#include <stdbool.h>

// Whether the model is in another currency.
bool model_is_foreign(const struct model *model);

// A section of the model's text with the report's currency instead of USD, in the model's arena.
const struct ini_section *model_in_currency(const struct model *model,
                                            const struct ini_section *section);

// Declares exchange_rate, unless it has been: before the first amount of money, at its place.
void model_declare_exchange_rate(struct model *model, struct place place,
                                 struct diagnostics *diagnostics);

// Declares NAME_usd, from which NAME is computed, for an input of money if the report is in another
// currency; else nothing.
void model_declare_in_usd(struct model *model, int of, struct diagnostics *diagnostics);

// Declares the result in USD, so that it can be compared with prices in USD, once all else is.
void model_declare_result_in_usd(struct model *model, struct diagnostics *diagnostics);

#endif
