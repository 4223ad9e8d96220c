// wait_terms: a [wait OPTION] section as read (wait.h explains its keys).
#ifndef PERTOKEN_MODEL_QUESTIONS_WAIT_TERMS_H
#define PERTOKEN_MODEL_QUESTIONS_WAIT_TERMS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/chance/distribution.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The keys that a section may give as a quantity or a range.
enum wait_key {
  WAIT_THROUGHPUT,
  WAIT_POWER,
  WAIT_PRICE,
  WAIT_DECLINE,
  WAIT_SLIP,
  WAIT_AVAILABLE,
  WAIT_RENT,
  WAIT_KEYS
};

// A quantity that is certain, or has a distribution.
struct wait_belief {
  bool certain;
  double value;
  struct distribution distribution;
};

struct wait_terms {
  size_t option, successor; // equal without a successor
  bool has_successor;
  long meanwhile; // an option, or -1: the belief about the rent
  double months;
  const char *slip_words; // the source of the slip
  unsigned long draws, seed;
  struct wait_belief beliefs[WAIT_KEYS]; // in base units
};

// "throughput"
const char *wait_key_name(enum wait_key key);

// Returns 0, or -1 after errors: those of the section that wait_ask names.
int wait_terms_read(const struct scenario *scenario, const struct ini_section *section,
                    struct wait_terms *terms, struct arena *arena, struct diagnostics *diagnostics);

#endif
