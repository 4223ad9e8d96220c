// meter: how much energy the machine has used, as its own counters tell.
//
// A meter that is absent, forbidden or disappears is said to be so, and nothing takes its place: no
// TDP, no estimate.
#ifndef PERTOKEN_METER_H
#define PERTOKEN_METER_H

#include "model/arena.h"
#include "probe/clock.h"

#include <stddef.h>

enum meter_status {
  METER_OK,
  METER_ABSENT,    // this machine has no such meter
  METER_FORBIDDEN, // it has one that this user may not read
  METER_LOST       // it went away, or a reading cannot be trusted
};

// Where the kernel shows its meters. Tests point it at trees of their own.
struct meter_roots {
  const char *powercap; // "/sys/class/powercap"
  const char *events;   // "/sys/bus/event_source/devices"
};
extern const struct meter_roots machine_meters;

struct meter_reading {
  double time_s; // of the clock
  double joules; // since the meter was opened, all its domains together
};

struct meter;

// One kind of meter. A failure leaves a sentence in meter->why.
struct meter_kind {
  const char *name;   // "rapl-powercap"
  const char *covers; // "CPU packages"
  enum meter_status (*open)(struct meter *meter, const struct meter_roots *roots);
  enum meter_status (*read)(struct meter *meter, double now_s, double *joules);
  void (*close)(struct meter *meter);
};

struct meter {
  const struct meter_kind *kind; // NULL: none
  const char *name;              // "rapl-powercap, 2 CPU packages"; "none: WHY" without one
  const char *why;               // the last failure in words, "" before one
  struct arena *arena;
  const struct clock *clock;
  void *state; // of the kind
};

// Best first; the list ends with NULL.
extern const struct meter_kind *const meter_kinds[];
extern const struct meter_kind meter_powercap, meter_perf;

// Opens one kind. On failure meter->kind is NULL.
enum meter_status meter_open_kind(struct meter *meter, const struct meter_kind *kind,
                                  const struct meter_roots *roots, const struct clock *clock,
                                  struct arena *arena);

// Opens the first kind that can be read. Without one, the meter's name is "none: " and why not.
enum meter_status meter_open(struct meter *meter, const struct meter_roots *roots,
                             const struct clock *clock, struct arena *arena);

// Any failure is METER_LOST and stays: there is no figure from a meter that failed midway.
enum meter_status meter_read(struct meter *meter, struct meter_reading *out);

// Reads until the counter moves, so that the reading is of an edge and not up to a period old.
// METER_LOST when it stands still for `limit_s`.
enum meter_status meter_read_edge(struct meter *meter, double limit_s, struct meter_reading *out);

void meter_close(struct meter *meter);

// A small file's first line without its line end, or NULL and errno. For the kinds.
const char *meter_file(const char *path, struct arena *arena);

#endif
