// offer_reader: what the readers of an offer's sections share.
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_READER_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_READER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/delivery/offer.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>
#include <stddef.h>

struct offer_reader {
  struct offer *offer;
  const struct ini *ini;
  struct catalog *catalog;
  const char *first_basis;  // the unit of the first guaranteed rate: "/gpu" or "/node"; NULL: none
  bool is_unknown_currency; // an error that was reported
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// "expected WHAT, not 'TEXT'"
void offer_refuse(const struct offer_reader *reader, struct place place, const char *what,
                  const char *text);

// A whole number of at least `least` that fits an int.
bool offer_is_whole(double value, double least);

// Refuses the key, and names the nearest existing one.
void offer_unknown_key(const struct offer_reader *reader, const struct ini_section *section,
                       const struct ini_key *key, const char *const *names, size_t count);

// The part of a unit that says what an amount is for, "/gpu", "/node" or "": a bare "27500 USD"
// could be for one accelerator, for a server or for all.
const char *offer_per_what(const char *unit);

#endif
