// currency: the report's currency by [scenario] currency, the exchange rate of amounts in USD, and
// where those amounts go. Prices of the catalogue are in USD; a scenario may state any amount in
// USD or in the report's currency.
#ifndef PERTOKEN_MODEL_SCENARIO_CURRENCY_H
#define PERTOKEN_MODEL_SCENARIO_CURRENCY_H

#include "model/scenario/reading.h"

// A code of currency_codes; "USD" where nothing is said. After an error the nearest code, so that
// the rest of the file can be read, or NULL.
const char *currency_read(struct reading *reading);

// exchange_rate, or exchange_rate.source and the like: keys that may stand beside the currency.
bool currency_is_rate(const char *key);

// Takes the amounts in USD of an option to the inputs NAME_usd, once all are found. Error: an
// amount that is in USD in one case and in the report's currency in another.
void currency_settle(struct reading *reading, size_t option);

// After every option is settled. Errors: no exchange rate for a report that is not in USD, or one
// without source or date.
void currency_check(struct reading *reading);

#endif
