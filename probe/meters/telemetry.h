// telemetry: a device's clocks, temperatures and throttling, read while a load runs, and how the
// device is set up. What a device does not report stays unknown.
#ifndef PERTOKEN_PROBE_METERS_TELEMETRY_H
#define PERTOKEN_PROBE_METERS_TELEMETRY_H

#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/meters/meter.h"

#include <stddef.h>
#include <time.h>

enum { MAX_TELEMETRY_REASONS = 8 };

// The links of a device at one reading: to its host, and to its peers. NAN: not reported.
struct telemetry_links {
  double pcie_generation, pcie_width; // lanes
  double nvlinks;                     // that are up
  double xgmi_width;                  // lanes
};

// One reading. NAN: not reported.
struct telemetry_look {
  double time_s; // of the clock
  double core_clock_hz, memory_clock_hz, core_temperature_c, memory_temperature_c;
  double throttled_s[MAX_TELEMETRY_REASONS]; // by each reason, since the telemetry was opened
  struct telemetry_links links;
};

struct telemetry;

struct telemetry_kind {
  const char *name;           // "nvml"
  unsigned vendor;            // PCI vendor of the devices that it supports; 0: the machine's CPUs
  const char *const *reasons; // of throttling; ends with NULL
  const void *own;            // what its functions need to know
  // Fills telemetry->state. On failure telemetry->why has a sentence.
  enum meter_status (*open)(struct telemetry *telemetry, const struct meter_roots *roots);
  enum meter_status (*look)(struct telemetry *telemetry, struct telemetry_look *look);
  void (*close)(struct telemetry *telemetry);
};

struct telemetry {
  const struct telemetry_kind *kind; // NULL: none
  const char *name;                  // "nvml"; "none: WHY" without one
  const char *why;                   // the last failure in words, "" before one
  const char *device;                // PCI address; "": the machine's CPUs
  struct measurement_device_state state;
  struct arena *arena;
  const struct clock *clock;
  void *own;                    // of the kind
  struct telemetry_look *looks; // [count]
  size_t count;
};

// Opens the first kind that supports the device at a PCI address; "" is the machine's CPUs. Never
// fails: without any, the telemetry reports nothing, and its name says why. `device`, `clock` and
// `arena` must outlive it.
void telemetry_open(struct telemetry *telemetry, const char *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena);

// Forgets the readings so far.
void telemetry_restart(struct telemetry *telemetry);

// Takes another reading. Does nothing after a failure.
void telemetry_look(struct telemetry *telemetry);

// A summary of the readings since the restart.
struct measurement_telemetry telemetry_sum(const struct telemetry *telemetry);

// The summaries of several telemetries [count]; and what is known about each without any reading:
// its source.
struct measurement_telemetry *telemetry_sums(const struct telemetry *telemetry, size_t count,
                                             struct arena *arena);
struct measurement_telemetry *telemetry_unwatched(const struct telemetry *telemetry, size_t count,
                                                  struct arena *arena);

void telemetry_close(struct telemetry *telemetry);

#endif
