// production: what a server's production counters say, as an answer.
#ifndef PERTOKEN_REPORTS_RECORDS_PRODUCTION_H
#define PERTOKEN_REPORTS_RECORDS_PRODUCTION_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/records/production.h"
#include "reports/faces/answer.h"

// The answer about a record that was written; `notes` say how names were interpreted.
struct answer production_answer(const struct production *production, const struct texts *notes,
                                struct arena *arena);

#endif
