// currency: the report's currency by [scenario] currency, the exchange rate of amounts in USD, and
// where those amounts go. Prices of the catalogue are in USD; a scenario may state any amount in
// USD or in the report's currency.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_CURRENCY_H
#define PERTOKEN_MODEL_SCENARIO_READING_CURRENCY_H

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// A code of currency_codes; "USD" where nothing is said. After an error the nearest code, so that
// the rest of the file can be read, or NULL.
const char *currency_read(struct reading *reading);

// exchange_rate, or exchange_rate.source and the like: keys that may stand beside the currency.
bool currency_is_rate(const char *key);

// Takes the amounts in USD of an option to the inputs NAME_usd, once all are found. Error: an
// amount that is in USD in one case and in the report's currency in another.
void currency_settle(const struct resolving *resolving);

// After every option is settled. Errors: no exchange rate for a report that is not in USD, or one
// without source or date.
void currency_check(const struct scenario *scenario, struct diagnostics *diagnostics);

// What stands for an input where its amount is in USD and the report is not: NAME_usd for NAME. The
// declaration itself where it is no such input.
int option_stated(const struct option *option, int declaration);

// What moves an input as a whole: NAME_scale of a list by year, else what is stated.
int option_moved(const struct option *option, int declaration);

// USD for one of the report's currency, in the selected case; 1 in a report in USD.
double option_exchange_rate(const struct scenario *scenario, const struct option *option);

// A quantity of money in the report's currency or, at the option's exchange rate, in USD; usd_unit
// as "USD/Mtok". Returns 0 or -1.
int option_money_parse(const struct scenario *scenario, const struct option *option,
                       const char *text, struct place place, const char *usd_unit, double *value,
                       struct diagnostics *diagnostics);

#endif
