// node_wall: how the wall power of one node of a fleet is known: from its row of a table, or from
// its own management controller.
#ifndef PERTOKEN_PROBE_OPTIONS_NODE_WALL_H
#define PERTOKEN_PROBE_OPTIONS_NODE_WALL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/options/options.h"

// Sets options->wall to that node's own, of `size` that were started: its watts from the table
// options->fleet.wall_table, and its name for every "{node}" in the controller's address. Errors: a
// table without the node or without its watts; watts above 1 MW; those of --wall-power for several
// nodes. Returns 0 or -1.
int node_wall_find(struct probe_options *options, const char *node, int size, struct arena *arena,
                   struct diagnostics *diagnostics);

#endif
