// meter: how much energy the machine or a device of it has used, as their own counters tell.
//
// A meter that is absent, forbidden or disappears is said to be so, and nothing takes its place: no
// TDP, no estimate. A device is matched to its meter by its PCI address, never by an index.
#ifndef PERTOKEN_PROBE_METERS_METER_H
#define PERTOKEN_PROBE_METERS_METER_H

#include "base/arena.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

enum meter_status {
  METER_OK,
  METER_ABSENT,    // this machine has no such meter
  METER_FORBIDDEN, // it has one that this user may not read
  METER_LOST       // it went away, or a reading cannot be trusted
};

// Where the kernel and the vendors' libraries show their meters. Tests point it at trees and
// libraries of their own.
struct meter_roots {
  const char *powercap; // "/sys/class/powercap"
  const char *events;   // "/sys/bus/event_source/devices"
  const char *pci;      // "/sys/bus/pci/devices"
  const char *cpu;      // "/sys/devices/system/cpu"
  const char *hwmon;    // "/sys/class/hwmon"
  const char *thermal;  // "/sys/class/thermal"
  const char *module;   // "/sys/module"
  // Libraries to load in place of the ones that the system finds; NULL: those.
  const char *nvml, *amdsmi, *rocmsmi;
};
extern const struct meter_roots machine_meters;

struct meter_reading {
  double time_s;       // of the clock
  double joules;       // since the meter was opened, all its domains together
  double watts;        // the sensors' own momentary power, NAN where there is none
  double module_watts; // of the whole modules that the devices sit on, NAN where there are none
};

struct meter;

// One kind of meter. A failure leaves a sentence in meter->why.
struct meter_kind {
  const char *name;   // "rapl-powercap"
  const char *covers; // "CPU packages"
  unsigned vendor;    // PCI vendor of the devices that it knows; 0: the machine itself
  enum meter_status (*open)(struct meter *meter, const struct meter_roots *roots);
  // Sets joules, watts and module_watts where it has them; they come as NAN. A kind that never sets
  // joules has no counter: its watts are integrated by the meter.
  enum meter_status (*read)(struct meter *meter, struct meter_reading *reading);
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
  // Of a kind without a counter: the watts integrated so far.
  struct {
    double time_s, watts, joules; // watts NAN before the first
  } integral;
};

// Of the machine's own, best first; the list ends with NULL.
extern const struct meter_kind *const meter_kinds[];
extern const struct meter_kind meter_powercap, meter_perf;
extern const struct meter_kind meter_nvml, meter_amdsmi, meter_rocmsmi, meter_hwmon;

// Opens one kind. On failure meter->kind is NULL.
enum meter_status meter_open_kind(struct meter *meter, const struct meter_kind *kind,
                                  const struct meter_roots *roots, const struct clock *clock,
                                  struct arena *arena);

// Opens the first of the machine's kinds that can be read. Without one, the meter's name is
// "none: " and why not.
enum meter_status meter_open(struct meter *meter, const struct meter_roots *roots,
                             const struct clock *clock, struct arena *arena);

// The same for devices together, by their PCI addresses; what several of them share is counted
// once. Only kinds for the vendor of the first device are tried, where the kernel tells it. The
// addresses must outlive the meter.
enum meter_status meter_open_devices(struct meter *meter, const char *const *devices, size_t count,
                                     const struct meter_roots *roots, const struct clock *clock,
                                     struct arena *arena);
enum meter_status meter_open_device_kind(struct meter *meter, const struct meter_kind *kind,
                                         const char *const *devices, size_t count,
                                         const struct meter_roots *roots, const struct clock *clock,
                                         struct arena *arena);

// Any failure is METER_LOST and stays: there is no figure from a meter that failed midway.
enum meter_status meter_read(struct meter *meter, struct meter_reading *out);

// Reads until the counter moves, so that the reading is of an edge and not up to a period old.
// METER_LOST when it stands still for `limit_s`.
enum meter_status meter_read_edge(struct meter *meter, double limit_s, struct meter_reading *out);

void meter_close(struct meter *meter);

// A small file's first line without its line end, or NULL and errno. For the kinds.
const char *meter_file(const char *path, struct arena *arena);

// The number in a small file, NAN when there is none.
double meter_number(const char *path);

#endif
