// twins: what a fleet may count twice: one result file of another program that was imported as
// several runs or nodes, and one node under several names.
#ifndef PERTOKEN_MODEL_DELIVERY_TWINS_H
#define PERTOKEN_MODEL_DELIVERY_TWINS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/delivery/fleet_item.h"

#include <stddef.h>

// Reports, for each two records, loads that both have from one result file. Two records may have
// other files in common, such as a description of their system.
void twins_refuse(const struct fleet_item *items, size_t count, struct arena *arena,
                  struct diagnostics *diagnostics);

// Warns, once for each group of the names [count], that they may be one node's: they differ only in
// case, in leading zeros of their numbers, or in a domain that some of them have.
void twins_of_names(const char *const *names, size_t count, struct texts *warnings,
                    struct arena *arena);

#endif
