// member: this node's part in the measurement of many: its folder, its turn, and how it ends.
//
// In the folder DIR that all nodes share, DIR/NODE/ has a node's records, and DIR/nodes/ the roll
// and the lists of nodes (node_lists.h). If they share none, each has a DIR of its own, and process
// 0's gets the records of all nodes, the roll and the lists.
#ifndef PERTOKEN_PROBE_FLEET_MEMBER_H
#define PERTOKEN_PROBE_FLEET_MEMBER_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "probe/fleet/collector.h"
#include "probe/fleet/courier.h"
#include "probe/fleet/launch.h"
#include "probe/fleet/node_lists.h"
#include "probe/fleet/rendezvous.h"
#include "probe/fleet/roll.h"
#include "probe/measure/folder.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

// Must not move after member_name.
struct member {
  // Set by the caller.
  const char *shared; // DIR
  const char *expect; // the list of expected nodes, for fleet_list_read; NULL: none
  const char *first;  // where process 0 is, if it sends; NULL: as the launcher says
  bool sends;         // its records to process 0, as no folder is shared
  bool one_by_one;    // as in roll.h, like wait_s
  double wait_s;
  const struct clock *clock;
  const volatile sig_atomic_t *stop;
  void (*progress)(const char *text); // NULL: nobody is told
  struct arena *arena;
  struct diagnostics *diagnostics;
  // Set by member_name.
  struct launch launch;
  const char *node;
  const struct table *expected; // nodes; NULL: unknown
  // Set by member_join.
  const char *records; // this node's folder, locked
  const char *lists;   // the folder of the lists; NULL: process 0 has it
  // The member's own.
  struct roll roll;
  struct folder folder;
  struct rendezvous rendezvous;
  struct collector collector; // process 0's
  struct courier courier;     // anybody else's
  struct roll_board board;
};

// Finds out which node of the launch this is; `node`: its name, "" for the launcher's. If there are
// others, diagnostics are about this one from then on. Errors: those of launch_read and
// fleet_list_read; a name that no folder can have. Returns 0 or -1.
int member_name(struct member *member, const char *node);

// Takes this node's folder, and waits until it may begin. `plan`: 16 hex digits of what is to be
// measured; having measured one plan does not count for another. Errors: those of rendezvous_read,
// courier_open and roll_wait; a folder that cannot be made; a node that another run is measuring.
// Returns 0, also when stopped, or -1, with everything released.
int member_join(struct member *member, const char *plan);

// Called before each result: sends the records that process 0 does not have yet, and waits for the
// other nodes if all of the machine's devices are about to be under load. Which trial of which
// workload it is, from 0, in the same order on every node. Returns 0, also when stopped, or -1.
int member_pass(struct member *member, size_t workload, size_t trial, bool is_whole);

// Reports how it ended and writes the lists; the first process then waits for the others and writes
// them again. Releases the folder. Without lists here, *lists is empty. Returns 0 or -1: a list
// could not be written, or process 0 did not keep a record.
int member_leave(struct member *member, bool has_failed, struct node_lists *lists);

#endif
