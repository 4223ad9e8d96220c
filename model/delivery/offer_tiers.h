// offer_tiers: an offer's discount that depends on the number ordered, written as an option writes
// it: "4 % from 256 gpu, 9 % from 1024 gpu".
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_TIERS_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_TIERS_H

#include "base/ini.h"
#include "model/delivery/offer_reader.h"

// Takes `tier_discount`: whether the discount is for each accelerator above its tier's number
// (beyond), or for the whole order (all).
void offer_tiers_read_kind(struct offer_reader *reader, const struct ini_key *key);

// Sets the discount of an offer in volume tiers to the average of the accelerators offered. Refuses
// tiers that do not rise, or more than an option may have. Call once the whole offer is read.
void offer_tiers_settle(const struct offer_reader *reader);

#endif
