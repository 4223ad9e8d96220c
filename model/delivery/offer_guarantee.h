// offer_guarantee: reads [guarantee NAME] of an offer: a workload, and the performance guaranteed
// for it.
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_GUARANTEE_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_GUARANTEE_H

#include "base/ini.h"
#include "model/delivery/offer_reader.h"

// Appends to the offer's guarantees, which must have room. Errors: those of offer.h that concern a
// guarantee.
void offer_guarantee_read(struct offer_reader *reader, const struct ini_section *section);

// Refuses a rate above what its requests ask for: request_rate times their tokens. After all
// sections are read.
void offer_guarantee_check_rates(const struct offer_reader *reader);

#endif
