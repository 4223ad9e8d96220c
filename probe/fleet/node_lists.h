// node_lists: which nodes of a fleet are done, failed and missing, by what the roll says: three
// files of these names in a folder, one node per line.
#ifndef PERTOKEN_PROBE_FLEET_NODE_LISTS_H
#define PERTOKEN_PROBE_FLEET_NODE_LISTS_H

#include "base/csv.h"
#include "base/texts.h"
#include "probe/fleet/roll.h"

#include <stddef.h>

enum node_list { NODES_DONE, NODES_FAILED, NODES_MISSING, NODE_LISTS };

struct node_lists {
  struct texts names[NODE_LISTS]; // in alphabetical order
  size_t unseen; // processes of this launch that never reported and whose node is unknown
};

// Writes the lists of every node that ever reported to this roll, and of those expected (NULL:
// unknown) that did not. Writes them again if another node ended meanwhile, whose lists these may
// have replaced. Returns 0, or -1: the roll cannot be read, or a list cannot be written.
int node_lists_write(const struct roll *roll, const struct table *expected, const char *folder,
                     struct node_lists *lists);

#endif
