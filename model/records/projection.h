// projection: what a record of one accelerator implies for another that has not been measured here:
// a decode throughput by a stated rule, with its error, graded projected.
//
// Decoding is reading. For the workload as it was measured, with
//   f   the share of its own read bandwidth that the measured device reached
//   B   bytes of a step, counted from the shapes: the same on every device
//   c   the share of its datasheet's bandwidth that the other accelerator can read at all
//   W   that datasheet's bandwidth
// a step takes B / (f c W). For the other accelerator, neither f nor c is known. c lies between two
// values: the best published in the catalogue for it, or if there is none, for its architecture;
// and the share of its own datasheet's bandwidth that the measured device reads. The midpoint is
// taken. f is the measured device's, plus or minus PROJECTION_TUNING: if records of two unlike
// devices are further apart than that, the difference is due to this tool's tuning for them, not to
// their memory. low and high combine the worst of both errors. They do not include the part of a
// step that is not reading, the gaps of some microseconds each between some hundred kernels: f
// treats it as if it shrank with the bandwidth. If a step is short (batch 1 of a small model), the
// other accelerator can fall below `low` for this reason.
//
// Refused is anything that the rule does not cover: a record that is not itself a measurement of
// the whole model (slices, a rank's share, a cache that held it, an interpolation, a void read
// bandwidth); a device that is not in the catalogue; a step that would take the other accelerator
// longer to compute than to read, at PROJECTION_MATRIX_RATE of its datasheet's dense rate; a model
// that does not fit its memory, or of which its largest cache would hold a substantial part.
#ifndef PERTOKEN_MODEL_RECORDS_PROJECTION_H
#define PERTOKEN_MODEL_RECORDS_PROJECTION_H

#include "base/arena.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/records.h"

// Ten points of the read bandwidth: beyond this, comparisons across devices state that the
// difference includes the tool's own tuning (model/scenario/read_shares.h).
#define PROJECTION_TUNING 0.10
// Matrix products reach 51 % of the datasheet's dense rate on MI300X and 60 % on MI325X
// (data/bandwidth.csv, mamf-finder).
#define PROJECTION_MATRIX_RATE 0.5
// Eight times the Infinity Cache of MI300X, MI325X, MI350X and MI355X (AMD, CDNA 3 and CDNA 4 white
// papers), the largest last-level cache of an accelerator in the catalogue.
#define PROJECTION_LEAST_BYTES (8 * 256.0 * 1024 * 1024)

struct projection {
  const struct measurement *from;
  double share;                                             // f
  double ceiling, ceiling_low, ceiling_high;                // c
  double bandwidth;                                         // W, B/s
  double tokens_per_s, tokens_per_s_low, tokens_per_s_high; // of the batch
  const char *ceiling_id;                                   // row of data/bandwidth.csv
  const char *source;                                       // everything, in words
  const char *date;                                         // of the record
};

// Projects from the record file named `file` to `accelerator`, an id of the catalogue. Returns
// NULL, or why there is no projection, as message text in the arena.
const char *projection_make(const struct records *records, const char *file,
                            struct catalog *catalog, const char *accelerator,
                            const struct workload *workload, struct projection *out,
                            struct arena *arena);

#endif
