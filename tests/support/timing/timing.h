// timing: how long a step of a plan would take on an H200, by a model: a prediction, never a
// measurement. It goes through the launches of a layer as the plan divides them
// (kernels/gpu/plan and launches) and adds up, in microseconds, the time that the memory takes for
// their bytes and the additional time, by reason.
//
// A launch is a stage. Its bytes flow at the lowest of four rates: the memory's; what L2 delivers
// to the multiprocessors, including activations; what conversions, matrix instructions, shared
// memory or issue slots allow; and what its bytes in flight allow (Little's law, by mean value
// analysis: each of a scheduler's warps waits for the memory's latency with a window of loads in
// flight, then queues to use it). Blocks are assigned to multiprocessors in waves, each as long as
// its fullest multiprocessor, with an equal share of the bandwidth; those of wgmma's even division
// also have the share of multiprocessors without a block, as far as their ports allow. Between two
// stages, only what the second has requested beforehand flows. The gap consists of the end of the
// first (the last bytes' way, the last window's use, the publication of results), the release of
// the second's wait, and what the second does before its flow begins: norm, rounding, queries,
// windows that come from L2 while the memory is idle. What it has requested beforehand is
// subtracted, at the speed at which it would flow.
//
// All workloads share all constants, of which there are two sets. Those chosen before any
// measurement have their sources beside them. If the source gives a range, the value was chosen
// within it; those values, and the two without a source, were chosen so that the figures of an
// independent reading of the kernels' machine code are reproduced within 0.02
// (tests/kernels/gpu/plan/test_gpu_timing.c). They were far too favorable. The others follow what
// has been measured on one H200 since (docs/gpu-model.md), and the five last exist for that.
//
// It covers dense models with weights in BF16 or E4M3 on one NVIDIA GPU with sm_90's matrix unit.
#ifndef PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_H
#define PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/tuning.h"

#include <stdbool.h>

// "The reading" is the reading of sm_90a's machine code that the first kernels were assessed by.
struct timing_machine {
  double read;       // bytes/us of memory: 4.5 TB/s (4.48 to 4.57 in BabelStream Dot on an H200:
                     // Azure AI-benchmarking-guide, ND_H200_v5)
  double l2;         // bytes/us from L2 to all multiprocessors: 5.5 to 6 TB/s (the reading)
  double port;       // bytes a cycle from L2 to one: 64 (NVIDIA A100 whitepaper: 5120 of all)
  double network;    // bytes/us between the shared memories of clusters, all together: 3.28 TB/s in
                     // clusters of 2 blocks, 2.78 of 4 (an H800: arXiv 2501.12084, 7.2); for 8, of
                     // which there is none, less in the same proportion
  double network_us; // a read of another multiprocessor's shared memory: 184 to 213 cycles in
                     // clusters of 4 to 16 (the same, 7.1)
  double clock;      // cycles/us: 1980 (the H200's highest)
  double latency_us; // of memory under load: 34 to 40 KB wanted under way in each of 132
                     // multiprocessors (the reading), which at `read` is 1.0 to 1.17
  double trip_us;    // a read of L2 that something waits for: about 300 cycles for a hit, plus what
                     // the stream of weights adds
  double release_us; // from the last block of a launch to the end of the next one's wait: 1 to 1.5
                     // (the reading)
  double arrive_us;  // a fence and an atomic counter: no source
  double start_us;   // of a block in place of one that has ended: no source
  double cached;     // share of `read` at which a cache of many rows is read: the best
                     // published, FlashMLA's 3000 GB/s, of BabelStream Dot's 3180 (ND_H100_v5)
  double matrix;     // multiply-adds per us and multiprocessor by mma.sync in BF16: 620 TFLOP/s
  double wgmma;      // by wgmma: 989 TFLOP/s; of E4M3 by E4M3 twice as many (NVIDIA H200
                     // datasheet, dense)
  double conversions; // lanes per cycle and multiprocessor of F2FP: 16 (the reading)

  double overlap;        // of what is requested before a launch waits, how much helps: 1
  double residual_us;    // a lane's residuals that it asks for together: 0, no time of their own
  double cached_whole;   // as `cached`, where all of a multiprocessor's memory is shared memory
  double cached_copied;  // as `cached`, by copies into shared memory: FlashMLA's
  double copied_trip_us; // as trip_us, behind copies of 192 KB for a multiprocessor: the same
  double handover_us;    // of a streaming step, until a stage's results can be seen by the next
};

extern const struct timing_machine timing_h200;          // before any measurement
extern const struct timing_machine timing_h200_measured; // as measured
extern const struct gpu_device timing_device;            // H200

enum timing_term {
  TIMING_MEMORY, // bytes at full speed: the bound
  TIMING_IN_FLIGHT,
  TIMING_ISSUE,
  TIMING_CONVERSION,
  TIMING_MATRIX,
  TIMING_SHARED, // shared memory
  TIMING_L2,
  TIMING_CACHE, // for a cache that is read slower than one long row
  TIMING_TILES,
  TIMING_DRAIN,
  TIMING_TAIL,
  TIMING_RELEASE,
  TIMING_ROUNDING, // norms, too
  TIMING_QUERIES,
  TIMING_MERGE,
  TIMING_RESIDUAL,
  TIMING_BARRIER, // of a streaming step: what its ring does not cover
  TIMING_TERMS
};
extern const char *const timing_terms[TIMING_TERMS];

// Changes to the first kernels, each of which removes a part: bits.
enum timing_point {
  TIMING_P1_MATRIX = 1 << 0, // mma.sync: weights by counted copies, four steps deep
  TIMING_P3 = 1 << 1, // a norm's input of up to 8192 elements read once, all at the same time
  TIMING_P4 = 1 << 2, // queries read at the same time, splits merged side by side
  TIMING_P5 = 1 << 3, // E4M3 to BF16 by shift, mask and multiply
  TIMING_P6 = 1 << 4, // wgmma: work divided evenly among multiprocessors, pieces merged in pairs
  TIMING_P6_CLUSTERS = 1 << 5, // clusters of two blocks share activations, so tiles may be smaller
  TIMING_P6_SUMS = 1 << 6,     // clusters of up to eight add up sums in shared memory
  TIMING_P7 = 1 << 7,          // shared memory divided to suit wgmma's blocks
  TIMING_P8 = 1 << 8,          // silu(gate) * up, and what was attended to, rounded by their makers
  TIMING_P9 = 1 << 9,          // no clamps in full windows
  TIMING_P10 = 1 << 10, // nothing is requested into L2; two blocks of one vector per multiprocessor
  TIMING_P11 = 1 << 11, // the matrix unit's residuals in groups, not one by one
  TIMING_P12 = 1 << 12, // norms between products by wgmma without a launch
  TIMING_P13 = 1 << 13, // attention: keys and values by counted copies into shared memory
  TIMING_P14 = 1 << 14, // wgmma: two strips of rows for the same activations
  TIMING_STREAMING = 1 << 15, // step=streaming, whose weights never wait (batch 1 to 4)
  TIMING_POINTS = 16,
  TIMING_FIRST = 0, // none: the kernels that the reading is of
  // The kernels as they are, on a device that holds fewer clusters of eight than P6s needs: of
  // H100s, some do. They have P6c only if tuning chooses it: on an H200 it was slower.
  TIMING_IMPLEMENTED = TIMING_P1_MATRIX | TIMING_P3 | TIMING_P4 | TIMING_P5 | TIMING_P6 |
                       TIMING_P7 | TIMING_P8 | TIMING_P9 | TIMING_P10 | TIMING_P11 | TIMING_P12 |
                       TIMING_P13 | TIMING_P14
};
extern const char *const timing_points[TIMING_POINTS]; // "P1m", "P3" ... "P6c", "P6s" ...

struct timing {
  double us;
  double term[TIMING_TERMS]; // add up to `us`
};

struct timing_step {
  struct timing layer, rest; // rest: embedding, head, token
  struct timing attention;   // of the layer, by itself
  int layers;
};

// A workload that has a target, named as there; the default context is 512.
struct timing_workload {
  const char *name;
  const struct decode_shape *shape;
  struct decode_types types;
  int batch, context;
  enum gpu_tuning_matrix matrix;
  bool attention; // only the layer's attention
};
enum { TIMING_WORKLOADS = 10 };
extern const struct timing_workload timing_workloads[TIMING_WORKLOADS];

struct decode_request timing_request(const struct timing_workload *workload);

// Of kernels with the changes `points`. NULL, or why there is no prediction: the planner's message,
// or what the model does not cover.
const char *timing_of(const struct decode_request *request, const struct gpu_device *device,
                      const struct timing_machine *machine, unsigned points,
                      struct timing_step *out);
// The same for a workload on timing_device.
const char *timing_of_workload(const struct timing_workload *workload,
                               const struct timing_machine *machine, unsigned points,
                               struct timing_step *out);

double timing_step_us(const struct timing_step *step);
// The share of it that the memory alone would take for the bytes.
double timing_share(const struct timing_step *step);
// The largest term other than TIMING_MEMORY; TIMING_MEMORY if the others are zero.
enum timing_term timing_limit(const struct timing *timing);

#endif
