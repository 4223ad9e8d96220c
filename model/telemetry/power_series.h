// power_series: watts over time, of accelerators or of a whole machine, as recorded by a meter here
// or by another program.
//
// Times are UTC, in seconds since 1970. A series gives no value between readings that are further
// apart than POWER_SERIES_GAP_S, before its first reading or after its last.
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_SERIES_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_SERIES_H

#include "base/arena.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"

#include <stddef.h>

#define POWER_SERIES_GAP_S 3.0

enum { MAX_POWER_TRACKS = 4096 };

// The readings of one device or one machine. The lists have the same length.
struct power_track {
  const char *name;  // UUID, PCI address or number of a device; "node"
  const char *index; // the device's number on its host: "0"; "" unknown
  double *time_s;    // ascending
  double *power_w;   // NAN: not reported at that time
  double *energy_j;  // of a counter with any start; NAN: no counter, or not reported then
  size_t count, power_count, energy_count;
  double power_limit_w; // NAN: not reported
};

struct power_series {
  const struct source *source;  // NULL: from this program
  const char *tool;             // "nvidia-smi CSV"
  enum serving_coverage covers; // each track: an accelerator, a module or a node
  const char *host;             // "" unknown
  struct power_track *tracks;
  size_t count;
  struct clock_state clock, clock_after; // of the host, before the first reading and after the last
};

// Adds a reading to the track with that name, which is created if there is none. Of two readings
// with the same time the first counts. Returns NULL, or why it was refused: a time before the
// previous one, or too many tracks.
const char *power_series_add(struct power_series *series, const char *track, double time_s,
                             double power_w, double energy_j, struct arena *arena);

// The track with that name, or NULL. Another reading may move it.
struct power_track *power_series_track(const struct power_series *series, const char *name);

// The energy of a window.
struct power_use {
  double seconds, energy_j, power_w; // of all tracks together
  const char *method; // "energy counters", "watts integrated", "energy counters and ..."
  // The standard error of the mean of integrated readings, as a share of it: of momentary ones. A
  // reading that is the mean of the time since the last leaves nothing out. 0 for counters.
  double scatter;
  double quietest_w;    // the mean of the track that drew least
  const char *quietest; // its name
};

// Integrates the power from start_s to end_s, interpolated at both ends. Counters have priority
// over integrated watts; if there are both, they must agree within 5 %. Returns NULL, or why the
// window has no energy: a track that does not bracket it, and by how much; a gap; a counter that
// went backwards; counters and watts that disagree. *out is then unset.
const char *power_series_use(const struct power_series *series, double start_s, double end_s,
                             struct power_use *out, struct arena *arena);

// The largest error, in joules, of that window's energy if the window is up to shift_s earlier or
// later: shift_s times the range of the watts near the two ends. Call it only after
// power_series_use has succeeded for the window widened by shift_s at both ends.
double power_series_shift_j(const struct power_series *series, double start_s, double end_s,
                            double shift_s);

// The tracks listed in "0,2,GPU-1a2b": by index, or else by name; never by their order, which says
// nothing about the devices. NULL, or why not: an unknown or repeated one, or an index that several
// tracks have, as those of two hosts do.
const char *power_series_select(const struct power_series *series, const char *names,
                                struct power_series *out, struct arena *arena);

// The power limit that all tracks have in common; else NAN.
double power_series_limit_w(const struct power_series *series);

#endif
