// meter_wall: what the whole machine draws from the wall, beside what its devices say.
//
// Asked of the board's management controller by `ipmitool dcmi power reading` where that program is
// on the PATH (DCMI 1.5, 6.6.1 Get Power Reading), or typed from a PDU by whoever measures.
#ifndef PERTOKEN_METER_WALL_H
#define PERTOKEN_METER_WALL_H

#include "model/arena.h"
#include "probe/clock.h"

#include <stdbool.h>

struct wall_options {
  double typed_w;   // NAN: ask
  const char *note; // where typed watts were read, or ""
};

struct wall_reading {
  const char *meter; // "ipmitool dcmi", "typed: NOTE", "none: WHY"
  double watts;      // NAN without
};

// What was typed.
struct wall_reading wall_typed(const struct wall_options *options, struct arena *arena);

// A question under way. It takes a second or so and disturbs nothing meanwhile.
struct wall {
  int pid, output; // of ipmitool; pid 0: none runs
  int failure;     // errno of starting it
};

// Whether there is an ipmitool on the PATH.
bool wall_can_be_asked(void);

void wall_ask(struct wall *wall);

// Waits for the answer, at most limit_s.
struct wall_reading wall_answer(struct wall *wall, double limit_s, struct arena *arena);

// The momentary watts in what ipmitool printed; NAN when there are none.
double wall_parse(const char *text);

#endif
