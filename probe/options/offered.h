// offered: turns an offer's guarantees into what the probe measures: pertoken probe fleet --offer.
#ifndef PERTOKEN_PROBE_OPTIONS_OFFERED_H
#define PERTOKEN_PROBE_OPTIONS_OFFERED_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/catalog.h"
#include "probe/options/options.h"

#include <stddef.h>

// The options, with model, precision, batch and context from a guarantee, and activations and KV
// cache if it states them.
struct offered {
  const char *name; // of the guarantee
  struct probe_options options;
};

// The guarantees of decoding in options->fleet.offer, or the one called options->fleet.guarantee;
// without an offer the options unchanged, called "". Guarantees of serving only get a warning:
// 'pertoken probe serving' measures them. Errors: whatever offer_read refuses, no such guarantee,
// no guarantee of decoding, a precision that the probe does not know. Returns 0 or -1.
int offered_read(const struct probe_options *options, struct catalog *catalog,
                 struct offered **list, size_t *count, struct arena *arena,
                 struct diagnostics *diagnostics);

// 16 hex digits, the same on every node: of what is measured of these workloads [count], and how.
const char *offered_plan(const struct offered *list, size_t count, struct arena *arena);

#endif
