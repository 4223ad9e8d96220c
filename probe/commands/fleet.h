// fleet: this node's part in the measurement of many: pertoken probe fleet.
//
// In the folder DIR that all nodes share, DIR/NODE/ has a node's records, and DIR/nodes/ the lists
// done, failed and missing, one name per line. A node measures what `run` does and skips what its
// records already hold. With --send each node has its own DIR, and process 0's gets the records of
// all nodes and the lists.
#ifndef PERTOKEN_PROBE_COMMANDS_FLEET_H
#define PERTOKEN_PROBE_COMMANDS_FLEET_H

#include "base/csv.h"
#include "probe/commands/collector.h"
#include "probe/commands/courier.h"
#include "probe/commands/folder.h"
#include "probe/commands/launch.h"
#include "probe/commands/offered.h"
#include "probe/commands/options.h"
#include "probe/commands/rendezvous.h"
#include "probe/commands/roll.h"
#include "probe/commands/session.h"
#include "probe/measure/protocol.h"

#include <stdbool.h>
#include <stddef.h>

struct fleet_member {
  struct launch launch;
  struct roll roll;
  struct folder folder; // for this node's records, locked
  const char *lists;    // the folder of the lists; NULL: process 0 has it
  // With --send: process 0 collects, the others send.
  struct rendezvous rendezvous;
  struct collector collector;
  struct courier courier;
  struct roll_board board;
  const struct table *expected; // nodes; NULL: unknown
  struct session_gate gate;     // for the sessions
  size_t workload;              // which of the offered workloads is being measured
};

// Of the fleet's nodes, as far as they are known.
struct fleet_tally {
  size_t done, failed, missing;
  size_t unseen; // processes of this launch that never reported and whose node is unknown
};

// Takes this node's folder, waits until it may begin, and sets the options' node and output
// directory. `workloads`: what is to be measured there, whose options are set too. Of the protocol,
// clock, stop, progress, arena and diagnostics are used; the member must not move. Errors: those of
// launch_read, rendezvous_read, courier_open and roll_wait; a name that no folder can have; a node
// that another run is measuring; wall power of no node or of a different one. Returns 0, also when
// stopped, or -1.
int fleet_join(struct fleet_member *member, struct probe_options *options,
               struct offered *workloads, size_t count, const struct protocol *protocol);

// Reports how it ended and writes the lists; the first process then waits for the others and writes
// them again. Releases the folder. Returns 0 or -1: a list could not be written, or process 0 did
// not keep a record.
int fleet_leave(struct fleet_member *member, bool has_failed, struct fleet_tally *tally);

#endif
