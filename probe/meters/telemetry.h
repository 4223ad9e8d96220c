// telemetry: clocks, temperatures and throttling of a device, looked at while a load runs, and how
// the device is set up. What a device does not tell stays unknown.
#ifndef PERTOKEN_PROBE_METERS_TELEMETRY_H
#define PERTOKEN_PROBE_METERS_TELEMETRY_H

#include "model/evidence/measurement.h"
#include "probe/meters/meter.h"

enum { TELEMETRY_MOST_REASONS = 8 };

// NAN where it is not told.
struct telemetry_look {
  double time_s; // of the clock
  double core_clock_hz, memory_clock_hz, core_temperature_c, memory_temperature_c;
  double throttled_s[TELEMETRY_MOST_REASONS]; // by each reason, since the telemetry was opened
};

struct telemetry;

struct telemetry_kind {
  const char *name;           // "nvml"
  unsigned vendor;            // PCI vendor of the devices that it knows; 0: the machine's CPUs
  const char *const *reasons; // that throttle; ends with NULL
  // Fills telemetry->state. A failure leaves a sentence in telemetry->why.
  enum meter_status (*open)(struct telemetry *telemetry, const struct meter_roots *roots);
  enum meter_status (*look)(struct telemetry *telemetry, struct telemetry_look *look);
  void (*close)(struct telemetry *telemetry);
};

struct telemetry {
  const struct telemetry_kind *kind; // NULL: none
  const char *name;                  // "nvml"; "none: WHY" without one
  const char *why;                   // the last failure in words, "" before one
  const char *device;                // PCI address, "" of the machine's CPUs
  struct measurement_device_state state;
  struct arena *arena;
  const struct clock *clock;
  void *own; // of the kind
  struct telemetry_look *looks;
  size_t count, capacity;
};

extern const struct telemetry_kind telemetry_nvml, telemetry_amdsmi, telemetry_rocmsmi,
    telemetry_amdgpu, telemetry_cpu;

// Opens the first kind that knows the device at a PCI address; of "", the CPUs'. Never fails: what
// cannot be opened tells nothing, and its name says why.
void telemetry_open(struct telemetry *telemetry, const char *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena);

// Forgets the looks so far.
void telemetry_restart(struct telemetry *telemetry);

// Looks once more. After a failure there are no further looks.
void telemetry_look(struct telemetry *telemetry);

// Over the looks since the restart.
struct measurement_telemetry telemetry_sum(const struct telemetry *telemetry);

// The same of each of several; and of those that no one has looked at, who would tell.
struct measurement_telemetry *telemetry_sums(const struct telemetry *telemetry, size_t count,
                                             struct arena *arena);
struct measurement_telemetry *telemetry_unwatched(const struct telemetry *telemetry, size_t count,
                                                  struct arena *arena);

void telemetry_close(struct telemetry *telemetry);

#endif
