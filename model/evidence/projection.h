// projection: what a record of one accelerator tells of another that nobody here has measured: a
// decode throughput by a stated rule, with its error, graded projected.
//
// Decoding is reading. With, of the workload as it was measured,
//   f   the share of its own read bandwidth that the measured device reached
//   B   bytes of a step, counted from the shapes: the same on every device
//   c   the share of its datasheet's bandwidth that the other accelerator can read at all
//   W   that datasheet's bandwidth
// a step takes B / (f c W). Neither f nor c is known of the other accelerator. c lies between the
// best that the catalogue has published of it, or where there is nothing, of its architecture, and
// what the measured device reads of its own datasheet's; the middle is taken. f is the measured
// device's, give or take PROJECTION_TUNING: records of two vendors' devices that are further apart
// than that differ by this tool's tuning for them, not by their memory. low and high put the two
// errors together at their worst. Not in them: what of a step is no reading, the gaps between some
// hundred kernels of some microseconds each, is in f as if it shrank with the bandwidth. Where a
// step is short, batch 1 of a small model, the other accelerator can fall below `low` by that.
//
// Refused is what the rule does not cover: a record that is itself no measurement of the whole
// model (slices, a rank's share, a cache that held it, an interpolation, a void read bandwidth); a
// device that the catalogue does not know; a step that the other accelerator would compute longer
// than read, at PROJECTION_MATRIX_RATE of its datasheet's dense rate; a model that does not fit its
// memory, or that its largest cache would hold a good part of.
#ifndef PERTOKEN_MODEL_EVIDENCE_PROJECTION_H
#define PERTOKEN_MODEL_EVIDENCE_PROJECTION_H

#include "base/arena.h"
#include "model/evidence/catalog.h"
#include "model/evidence/measurement.h"
#include "model/evidence/recorded.h"
#include "model/evidence/workload.h"

// 10 points of the read bandwidth: from where on comparisons across vendors say that the difference
// includes the tool's own tuning.
#define PROJECTION_TUNING 0.10
// Matrix products on MI300X and MI325X reach 51 and 60 % of the datasheet's dense rate
// (data/bandwidth.csv, mamf-finder).
#define PROJECTION_MATRIX_RATE 0.5
// Infinity Cache of MI300X, MI325X, MI350X and MI355X (AMD, CDNA 3 and CDNA 4 white papers), eight
// times: the largest last-level cache of an accelerator in the catalogue.
#define PROJECTION_LEAST_BYTES (8 * 256.0 * 1024 * 1024)

struct projection {
  const struct measurement *from;
  double share;                                             // f
  double ceiling, ceiling_low, ceiling_high;                // c
  double bandwidth;                                         // W, B/s
  double tokens_per_s, tokens_per_s_low, tokens_per_s_high; // of the batch
  const char *ceiling_id;                                   // row of data/bandwidth.csv
  const char *source;                                       // all of it in words
  const char *date;                                         // of the record
};

// From the record file named `file` to `accelerator`, an id of the catalogue. Returns NULL, or why
// there is no projection, in the words of a message. Words lie in the arena.
const char *projection_make(const struct records *records, const char *file,
                            struct catalog *catalog, const char *accelerator,
                            const struct workload *workload, struct projection *out,
                            struct arena *arena);

#endif
