// currency: the report's currency from [scenario] currency, the exchange rate for amounts in USD,
// and which inputs receive those amounts. Prices of the catalogue are in USD; a scenario may state
// any amount in USD or in the report's currency.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_CURRENCY_H
#define PERTOKEN_MODEL_SCENARIO_READING_CURRENCY_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// The report's currency, one of currency_codes; "USD" by default. After an error the nearest code,
// so that the rest of the file can be read, or NULL.
const char *currency_read(struct reading *reading);

// Whether the key is exchange_rate, exchange_rate.source or the like, which may be given with the
// currency.
bool currency_is_rate(const char *key);

// Moves an option's amounts in USD to the inputs NAME_usd, once all have been found. Error: an
// amount that is in USD in one case and in the report's currency in another.
void currency_settle(const struct resolving *resolving);

// Checks the exchange rates after every option is settled. Errors: none for a report that is not in
// USD, or one without source or date.
void currency_check(const struct scenario *scenario, struct diagnostics *diagnostics);

// The input that holds an amount: NAME_usd for NAME if the amount is in USD and the report is not;
// otherwise the declaration itself.
int option_stated(const struct option *option, int declaration);

// The input that moves another one as a whole: NAME_scale of a list by year, else option_stated.
int option_moved(const struct option *option, int declaration);

// The USD per unit of the report's currency, in the selected case; 1 for a report in USD.
double option_exchange_rate(const struct scenario *scenario, const struct option *option);

// Parses an amount of money in the report's currency or, at the option's exchange rate, in USD;
// usd_unit is, for example, "USD/Mtok". Returns 0 or -1.
int option_money_parse(const struct scenario *scenario, const struct option *option,
                       const char *text, struct place place, const char *usd_unit, double *value,
                       struct diagnostics *diagnostics);

#endif
