// price: which row of the catalogue's prices a draft refers to.
//
// Single accelerators have priority over servers and racks, then comes the best grade, then prices
// no more than twelve months older than the newest, and of these the median: for an even number the
// higher one, so that a cost is not understated.
#ifndef PERTOKEN_MODEL_DRAFT_PRICE_H
#define PERTOKEN_MODEL_DRAFT_PRICE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/texts.h"

#include <stddef.h>

// The row of `prices` for an accelerator with the price_basis `basis` ("purchase", "on_demand",
// ...), or -1. USD per accelerator, or per accelerator-hour.
long draft_price_find(const struct table *prices, const char *accelerator, const char *basis,
                      struct arena *arena);

// The same for a provider's token API, by the price of output tokens, in `api_prices`.
long draft_price_api(const struct table *api_prices, const char *model, struct arena *arena);

// "pr008: 41500 USD, 2026-03, published" for each candidate row by its price, or for `most` around
// the one taken; *count: of all.
struct texts draft_price_list(const struct table *prices, const char *accelerator,
                              const char *basis, long taken, size_t most, size_t *count,
                              struct arena *arena);

#endif
