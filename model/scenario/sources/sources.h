// sources: an option and what is said of where its throughput comes from, for the files of this room
// that each know one source.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCES_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCES_H

#include "base/arena.h"
#include "base/ini.h"
#include "model/evidence/evidence.h"
#include "model/evidence/measurement.h"
#include "model/evidence/served.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

struct sources {
  struct resolving *resolving;
  struct option *option;
  const struct scenario *scenario;
  struct arena *arena;
  const struct ini_key *evidence, *record, *projection; // NULL: not said
  struct evidence_request request;                      // of a published throughput
  struct served_request served;                         // of a server's
  int throughput, decode;                               // declarations
};

struct sources sources_of(struct resolving *resolving);

// Evidence that is not there (`why` NULL: it is), at the selection that named it or at the option.
struct lack sources_lack(const struct sources *sources, int selection, const char *why);

// A lack for whoever takes it, else an error.
void sources_report(const struct sources *sources, struct lack lack);

// Whether the option states a throughput itself, whatever that is of.
bool sources_stated(const struct sources *sources);

// Whether a declaration has its figure from there; never for -1.
bool sources_origin_is(const struct sources *sources, int declaration, enum origin origin);

// A lack where power_limit asks for another limit than a record was measured at, NAN where that does
// not tell.
struct lack sources_lack_limit(const struct sources *sources, double limit_w);

// Gives the option the workload that a record measured.
void sources_take_workload(struct option *option, const struct measurement *measured);

#endif
