// tables: the tables of the catalogue from which a draft is made.
#ifndef PERTOKEN_MODEL_DRAFT_TABLES_H
#define PERTOKEN_MODEL_DRAFT_TABLES_H

#include "base/csv.h"

struct draft_tables {
  const struct table *accelerators, *models, *throughputs, *prices, *api_prices;
};

#endif
