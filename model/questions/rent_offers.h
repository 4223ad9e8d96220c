// rent_offers: what an owned option is compared with: the offers listed in a [rent NAME] or,
// without such a section, the scenario's options that rent accelerators for the same workload.
#ifndef PERTOKEN_MODEL_QUESTIONS_RENT_OFFERS_H
#define PERTOKEN_MODEL_QUESTIONS_RENT_OFFERS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/texts.h"
#include "model/evidence/grade.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

enum rent_hours { RENT_AROUND_THE_CLOCK, RENT_HOURS_USED };

struct rent_offer {
  const char *name;  // "on_demand", "three_years"; or for an option: "h100", "h100_used"
  const char *title; // "on demand"; of an option "always" or "hours used"
  enum rent_hours hours;
  double term; // h of commitment at a time; 0: none
  double rate; // USD/h per accelerator
  int option;  // the rented one of the scenario; -1: the owned one's accelerators
  enum grade grade;
  const char *source, *date;
  const char *origin;  // the source, abbreviated: a row's id and provider
  bool in_usd;         // stated in USD, in a report in another currency
  double interruption; // spot hours repeated after interruptions, share of the useful ones
  bool uninterrupted;  // a spot rent without a stated interruption
  bool hypothetical;   // for the hours used, where the rent is around the clock: nobody offers it
  const char *typed;   // the rate as a quantity, as stated
  double upfront;      // share of the rent that the row asks for at the outset, spread evenly here
};

struct rent_offers {
  int own; // the option
  struct rent_offer *list;
  size_t count;
};

// Whether the option is owned, and a rented one has its workload.
bool rent_offers_exist(const struct scenario *scenario, int own);

// Adds the options that are not compared, owned or rented, each with the reason: its fleet changes,
// it is rented at several rates, or its workload is not that of the option `own`, if that is not
// -1. Nothing without an owned and a rented option.
void rent_offers_aside(const struct scenario *scenario, int own, struct texts *aside,
                       struct arena *arena);

// Reads the offers of a [rent NAME]; without a `section` (NULL), the rented options for the option
// offers->own. Returns 0, or -1 after errors: what rent_ask refuses.
int rent_offers_read(const struct scenario *scenario, const struct ini_section *section,
                     struct rent_offers *offers, struct arena *arena,
                     struct diagnostics *diagnostics);

#endif
