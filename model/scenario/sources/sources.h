// sources: an option and what is stated about the source of its throughput, shared by the files of
// this room, each of which handles one source.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCES_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCES_H

#include "base/arena.h"
#include "base/ini.h"
#include "model/evidence/evidence.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/recorded.h"
#include "model/records/served_choice.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct sources {
  struct resolving *resolving;
  struct option *option;
  const struct scenario *scenario;
  struct arena *arena;
  const struct ini_key *evidence, *record, *projection; // NULL: not stated
  struct evidence_request request;                      // for a published throughput
  struct served_request served;                         // for a server's
  int throughput, decode;                               // declarations
};

struct sources sources_of(struct resolving *resolving);

// Missing evidence (`why` NULL: not missing), at the selection that named it or at the option.
struct lack sources_lack(const struct sources *sources, int selection, const char *why);

// Passes a lack to resolving->lack, or else reports it as an error.
void sources_report(const struct sources *sources, struct lack lack);

// The workload on which the option's throughput is measured in a case, whose requests may be of
// other lengths than those of the base case.
struct workload sources_workload_in(const struct sources *sources, size_t which_case);

// The option as it would be if a case were the base. The copy must outlive the result.
struct sources sources_in_case(const struct sources *sources, size_t which_case,
                               struct option *copy);

// The statement by which a case's requests are of another length than those of the base case, or
// NULL.
const struct figure *sources_other_length(const struct sources *sources, size_t which_case);

// Refuses cases whose requests are of other lengths than the base case's, and for which the source
// that was chosen does not count: why_not says why, or NULL. Before the throughput is filled in.
void sources_check_cases(const struct sources *sources,
                         const char *(*why_not)(const struct sources *its, const void *chosen),
                         const void *chosen);

// Whether the option states a throughput itself, of whatever kind.
bool sources_stated(const struct sources *sources);

// Whether a declaration has its figure from that origin; never for -1.
bool sources_origin_is(const struct sources *sources, int declaration, enum origin origin);

// Whether --set states a rate that the scenario does not: a what-if, which leaves all else as it is
// without it. Never for -1.
bool sources_typed_over(const struct sources *sources, int declaration);

// A figure of the probe's record that was chosen.
struct figure sources_recorded(const struct recorded *recorded, double value, enum grade grade,
                               const char *source);

// Notes that the option's `what` was found for the value of its input_tokens or output_tokens, in
// scenario->finds. Does nothing for one that it does not have.
void sources_found_for(const struct resolving *resolving, const char *input, const char *what);

// The same for both, of evidence that counts for requests of its own lengths: not MLPerf's, which
// counts for any.
void sources_found_for_lengths(const struct resolving *resolving, enum grade grade,
                               const char *what);

// Whether the lengths of its requests choose the context at which the option decodes: they are
// known, and no context is stated.
bool sources_follow_lengths(const struct sources *sources);

// A lack if power_limit asks for another limit than that of a record, which is NAN if unknown.
struct lack sources_lack_limit(const struct sources *sources, double limit_w);

// Gives the option the workload that a record measured. Where it leaves the batch open, all results
// that count agree on it; so they do on the context, unless it follows from the requests' lengths.
void sources_take_workload(const struct sources *sources, const struct measurement *measured);

#endif
