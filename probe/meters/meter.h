// meter: how much energy the machine or one of its devices has used, according to its own counters.
//
// A meter that is absent, forbidden or lost is reported as such, and nothing replaces it: no TDP,
// no estimate. A device is matched to its meter by its PCI address, never by an index.
#ifndef PERTOKEN_PROBE_METERS_METER_H
#define PERTOKEN_PROBE_METERS_METER_H

#include "base/arena.h"

#include <stddef.h>
#include <time.h>

enum meter_status {
  METER_OK,
  METER_ABSENT,    // this machine has no such meter
  METER_FORBIDDEN, // it has one that this user may not read
  METER_LOST       // it disappeared, or a reading cannot be trusted
};

// Where the kernel and the vendors' libraries keep their meters. Tests substitute their own trees
// and libraries.
struct meter_roots {
  const char *powercap; // "/sys/class/powercap"
  const char *events;   // "/sys/bus/event_source/devices"
  const char *pci;      // "/sys/bus/pci/devices"
  const char *cpu;      // "/sys/devices/system/cpu"
  const char *hwmon;    // "/sys/class/hwmon"
  const char *thermal;  // "/sys/class/thermal"
  const char *module;   // "/sys/module"
  // Libraries to load; NULL: the one that the system finds.
  const char *nvml, *amdsmi, *rocmsmi;
};
extern const struct meter_roots machine_meters;

struct meter_reading {
  double time_s;       // of the clock
  double joules;       // since the meter was opened, all its domains together
  double watts;        // the sensors' own momentary power; NAN: none
  double module_watts; // of the whole modules that the devices are on; NAN: none
};

struct meter;

// One kind of meter. On failure meter->why has a sentence.
struct meter_kind {
  const char *name;   // "rapl-powercap"
  const char *covers; // "CPU packages"
  unsigned vendor;    // PCI vendor of the devices that it supports; 0: the machine itself
  const void *own;    // what its functions need to know
  enum meter_status (*open)(struct meter *meter, const struct meter_roots *roots);
  // Sets joules, watts and module_watts if it has them; they come as NAN. A kind that never sets
  // joules has no counter: its watts are then integrated.
  enum meter_status (*read)(struct meter *meter, struct meter_reading *reading);
  // For a counter that wraps: takes its value as it is, however long it was not read. NULL: none.
  enum meter_status (*restart)(struct meter *meter);
  void (*close)(struct meter *meter);
};

struct meter {
  const struct meter_kind *kind; // NULL: none
  const char *name;              // "rapl-powercap, 2 CPU packages"; "none: WHY" without one
  const char *why;               // the last failure in words, "" before one
  struct arena *arena;
  const struct clock *clock;
  void *state; // of the kind

  const char *const *devices; // PCI addresses "0000:17:00.0", of device meters
  size_t device_count;
  const char *covered_by; // the PCI address of the first die, whose watts are those of a second one
                          // that is metered here; NULL: there is none
  // For a kind without a counter: the integral of its watts so far.
  struct {
    double time_s, watts, joules; // watts are NAN before the first
  } integral;
};

// The kinds of meter of the machine itself, best first; the list ends with NULL.
extern const struct meter_kind *const meter_kinds[];

// Opens one of the machine's kinds of meter. On failure meter->kind is NULL, meter->why says why,
// and there is nothing to close. `clock` and `arena` must outlive the meter.
enum meter_status meter_open_kind(struct meter *meter, const struct meter_kind *kind,
                                  const struct meter_roots *roots, const struct clock *clock,
                                  struct arena *arena);

// Opens the first of the machine's kinds that can be read. If there is none, the meter's name is
// "none: WHY", and the status is METER_FORBIDDEN if any was forbidden, otherwise METER_ABSENT.
enum meter_status meter_open(struct meter *meter, const struct meter_roots *roots,
                             const struct clock *clock, struct arena *arena);

// Opens a meter of `count` devices together, by their PCI addresses, which must outlive the meter;
// what several of them share is counted once. Only kinds for the first device's vendor are tried,
// if the kernel knows it.
enum meter_status meter_open_devices(struct meter *meter, const char *const *devices, size_t count,
                                     const struct meter_roots *roots, const struct clock *clock,
                                     struct arena *arena);

// Opens such a meter by one kind alone, whatever the vendor; a failure is that of meter_open_kind.
enum meter_status meter_open_device_kind(struct meter *meter, const struct meter_kind *kind,
                                         const char *const *devices, size_t count,
                                         const struct meter_roots *roots, const struct clock *clock,
                                         struct arena *arena);

// Any failure is METER_LOST, and so is every later reading: a meter that failed midway gives no
// figure.
enum meter_status meter_read(struct meter *meter, struct meter_reading *out);

// Prepares for a window: what the counter did since it was last read is not part of any window, so
// wraps in that time do not matter. Joules go on from the last reading.
enum meter_status meter_restart(struct meter *meter);

// Reads until the counter moves, so that the reading is taken at an edge and is not up to a period
// old. METER_LOST if the counter does not move for `limit_s`.
enum meter_status meter_read_edge(struct meter *meter, double limit_s, struct meter_reading *out);

// Closes a meter; allowed for one without a kind, too.
void meter_close(struct meter *meter);

#endif
