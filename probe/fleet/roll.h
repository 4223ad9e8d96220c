// roll: what each node of a fleet is doing, as names of empty files in a folder that all nodes
// share, and waiting there for the others.
//
// If they share no folder, it is process 0's, and a board does there for the others what they would
// do themselves (courier.h, clerk.h).
//
// Each node has one entry, STATE=PHASE=BEAT=RANK=LAUNCH=NODE. It renames it at every step, and now
// and then while it waits, with BEAT one higher each time; an entry left by an earlier launch is
// replaced. A listing of the folder shows how far every node is. Clocks of different nodes are
// never compared: a node waits as long as any of those that hold it up gives such a sign, or others
// still arrive, and then wait_s more.
#ifndef PERTOKEN_PROBE_FLEET_ROLL_H
#define PERTOKEN_PROBE_FLEET_ROLL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/fleet/launch.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

// The states of a node, in the order in which it goes through them.
enum roll_state { ROLL_WAITING, ROLL_MEASURING, ROLL_STOPPED, ROLL_FAILED, ROLL_DONE, ROLL_STATES };

struct roll_entry {
  enum roll_state state;
  int phase, beat, rank;
  const char *key, *node;
};

enum { ROLL_END = INT_MAX }; // the phase of a process that has ended

// How far each process of a launch is: [size] each, 0 and NULL for those not seen yet.
struct roll_view {
  int *phases, *beats;
  const char **nodes;
  int seen; // of the others
};

// A roll that another process keeps.
struct roll_board {
  // Returns 0, -1 after an error, or 1 if the other process is lost, after warning of that.
  int (*tell)(void *context, const char *entry);
  // The entries, each with a line end; they belong to the arena. Returns the same.
  int (*list)(void *context, const char **entries, struct arena *arena);
  void *context;
};

struct roll {
  // Set by the caller.
  const char *folder;             // must exist; unused with a board
  const struct roll_board *board; // NULL: the folder is on this machine
  const struct launch *launch;
  const char *meeting; // where the others connect to, for messages; NULL: they share the folder
  const char *node;    // this node's; roll_is_node_name
  bool one_by_one;     // in order of rank; otherwise all at once
  double wait_s;
  const struct clock *clock;
  const volatile sig_atomic_t *stop;
  void (*progress)(const char *text); // NULL: nobody is told
  struct arena *arena;
  struct diagnostics *diagnostics;
  // The roll's own.
  const char *entry; // this node's, a path; NULL: none yet
  int phase, beat;   // of it
  int *left_out;     // [launch->size]: 1 + the beat at which a process was left out; 0: it was not
  bool has_seen;     // others
  bool has_left_out; // any, at any time
  bool is_alone;     // the roll's keeper is lost: nobody is waited for
};

// Whether a folder and an entry can have this name: 1 to 128 bytes, no slash or control character,
// no dot at the beginning.
bool roll_is_node_name(const char *name);

// Splits the name of an entry as described above. False if it is not one; node and key belong to
// the arena.
bool roll_parse(const char *name, struct roll_entry *entry, struct arena *arena);

// The name of an entry.
const char *roll_entry_text(const struct roll_entry *entry, struct arena *arena);

// The folder's entries, by node. Returns 0, -1, or 1 if the roll's keeper is lost.
int roll_list(const struct roll *roll, struct roll_entry **entries, size_t *count);

// Records where this node is. A folder that cannot be written to is an error with machine_failed
// set. Returns 0 or -1.
int roll_tell(struct roll *roll, enum roll_state state);

// Called before a phase, from 1: reports that this node has arrived, waits for every other node or,
// one by one, until those before it have ended, and reports that it measures. A node that gives no
// sign is left out with a warning until it does. If none of the others has ever been seen, that is
// an error: the folder is not shared, or none of them reached it. Returns 0, also when stopped, or
// -1.
int roll_wait(struct roll *roll, int phase);

// Waits until every other node has ended or is left out. Returns 0, also when stopped, or -1.
int roll_wait_for_end(struct roll *roll);

#endif
