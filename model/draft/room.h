// room: how many accelerators a draft's model needs for its weights and one request.
#ifndef PERTOKEN_MODEL_DRAFT_ROOM_H
#define PERTOKEN_MODEL_DRAFT_ROOM_H

#include "model/draft/drafting.h"
#include "model/draft/lines.h"

#include <stddef.h>

// Finds what each accelerator needs, after the workload. Returns 0, or -1 if one cannot hold the
// model however many there are.
int draft_room_find(struct drafting *drafting);

// The i-th option's own number, if the draft's holds no request: the fewest that do. A demand
// chooses its number by itself.
void draft_room_add(struct drafting *drafting, struct draft_section *section, size_t i);

// Adds [fit], unless the workload's requests already have a length, or it is unknown what holds
// them.
void draft_room_terms(struct drafting *drafting);

#endif
