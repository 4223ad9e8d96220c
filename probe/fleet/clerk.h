// clerk: what process 0 does with the others' frames when they share no folder: it puts their
// entries into its own roll, as roll.h says, and their records into its own folder, DIR/NODE/, as
// if they had written them.
#ifndef PERTOKEN_PROBE_FLEET_CLERK_H
#define PERTOKEN_PROBE_FLEET_CLERK_H

#include "base/arena.h"
#include "probe/fleet/launch.h"
#include "probe/fleet/roll.h"
#include "probe/fleet/wire.h"

#include <stddef.h>
#include <time.h>

struct clerk {
  // Set by the caller.
  const char *folder, *roll_folder; // must exist
  const struct launch *launch;      // process 0's
  const char *node;                 // its own
  const struct clock *clock;
  // The clerk's own; clerk_end frees it.
  struct arena arena;
  const char **nodes; // [launch->size], of the others as they sent them; NULL: not yet
  struct arena list_arena;
  const char *list; // the entries of this launch, each with a line end
  unsigned long number;
  double listed_s;
};

// Another process. Zeroed, it is one that has sent nothing yet; the caller frees its arena.
struct clerk_peer {
  struct arena arena;
  struct launch launch;
  struct roll roll; // no node: it has sent nothing yet
};

struct clerk_reply {
  enum wire_kind kind;
  const char *body;
  size_t size;
};

// A refusal is answered with its reason: an invalid entry, or one of another launch, of this
// process or of another's node; a record sent before its node is known, with an invalid name, of
// another node, or one that measurement_of_json refuses; a disk that does not take it. The body
// belongs to the arena.
struct clerk_reply clerk_reply_to(struct clerk *clerk, struct clerk_peer *peer,
                                  const struct frame *frame, struct arena *arena);

void clerk_end(struct clerk *clerk);

#endif
