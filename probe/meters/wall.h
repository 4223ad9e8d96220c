// wall: the power that the whole machine draws from the wall.
//
// Read from the board's management controller by `ipmitool dcmi power reading` if that program is
// on the PATH (DCMI 1.5, 6.6.1 Get Power Reading) or, if its address is given, over Redfish by
// `curl`: a chassis's Power (PowerControl[0].PowerConsumedWatts) or EnvironmentMetrics
// (PowerWatts.Reading; DMTF DSP0266, DSP0268). User names and passwords are left to curl: ~/.netrc.
// Or read off a PDU and typed in by the user.
#ifndef PERTOKEN_PROBE_METERS_WALL_H
#define PERTOKEN_PROBE_METERS_WALL_H

#include "base/arena.h"

#include <stdbool.h>

struct wall_options {
  double typed_w;      // NAN: ask
  const char *note;    // where typed watts were read, or ""
  const char *redfish; // "https://bmc/redfish/v1/Chassis/1/Power", or NULL: ipmitool is asked
};

#define WALL_LIMIT_S 10 // allowed for an answer

struct wall_reading {
  const char *meter; // "ipmitool dcmi", "redfish", "typed: NOTE", "none: WHY"
  double watts;      // NAN: none
};

// Whether to ask: the user typed nothing. False for NULL.
bool wall_is_to_be_asked(const struct wall_options *options);

// What the user typed.
struct wall_reading wall_typed(const struct wall_options *options, struct arena *arena);

// A request in progress. It takes a second or so and disturbs nothing.
struct wall {
  const struct wall_program *program; // that is asked
  int pid, output;                    // of the program; pid 0: it is not running
  int failure;                        // errno of starting it
  double asked_s;                     // of machine_clock
};

// Whether there is a program to ask: ipmitool is on the PATH, or a Redfish address was given.
bool wall_can_be_asked(const struct wall_options *options);

// Starts the program; a failure shows in the answer. `options` must outlive `wall`.
void wall_ask(struct wall *wall, const struct wall_options *options);

// Whether wall_answer would not wait.
bool wall_has_answered(const struct wall *wall);

// Waits for the answer, at most until limit_s after it was asked for. To be called once after
// wall_ask.
struct wall_reading wall_answer(struct wall *wall, double limit_s, struct arena *arena);

// The momentary watts in the output of ipmitool, and in a Redfish response; NAN: none.
double wall_parse(const char *text);
double wall_parse_redfish(const char *text);

#endif
