// odd_request: whole steps of the emulators of the kernels' source (emulated_load_sources), at
// shapes that are not multiples of a tile and in every mix of types, compared with the oracle's.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_ODD_REQUEST_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_ODD_REQUEST_H

#include "kernels/decode.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"

// Weights, activations, KV, head, accumulation: all combinations that the GPU kernels support, by
// elements that need no units (units.h).
enum { ODD_MIXES = 10 };
extern const struct decode_types odd_mixes[ODD_MIXES];

// Nothing is a multiple of a tile; three query heads read one KV head. Sampling uses 64 blocks for
// each row of the batch, which is most of the time of a small step here.
extern const struct decode_shape odd_shape, tiny_shape;

enum { ODD_LOGITS = 17 * 203 }; // the most that odd_step and odd_schedules_agree take

struct decode_request odd_request(const struct decode_shape *shape,
                                  const struct decode_types *types, int batch, int context);

// A state of it; and a check of a call on that: both fail the test in words that name the request.
struct decode_state *odd_state(const struct emulated *plugin, const struct decode_request *request);
void odd_ok(const struct emulated *plugin, const struct decode_request *request,
            enum decode_status status);

// Runs one step from these tokens, or from the state's for NULL.
void odd_step(const struct emulated *plugin, const struct decode_request *request,
              struct decode_state *state, const int *tokens, float *logits);

// ---- turns: a set of emulators is a bit for each

// With sanitizers, and in a run that is not deep, every second of the slow requests is enough.
static inline bool odd_few(void) {
  return SANITIZED || !depth_is_full();
}

// Those for the `turn`-th of many requests: one, or one of each width; and those with wgmma.
unsigned odd_one(size_t turn);
unsigned odd_widths(size_t turn);
unsigned odd_wgmma(void);

// Tunings for wgmma: clusters of two blocks, and of eight that add up the parts of their tiles; two
// strips of rows for the same activations.
#define CLUSTERS_OF_TWO "matrix=wgmma wgmma_beside=2 wgmma_parts=1"
#define PARTS_OF_TILES  "matrix=wgmma wgmma_beside=2 wgmma_parts=4"
#define STRIPS          "matrix=wgmma wgmma_strips=2 wgmma_beside=1 wgmma_parts=1"

// Runs a request on each of these emulators: the first tokens must be those of decode.h, and each
// step the oracle's.
void odd_check(const struct decode_request *request, unsigned which, int steps);

// The same on another schedule for every request, by two steps for some.
void odd_check_next(const struct decode_shape *shape, const struct decode_types *types, int batch,
                    int context, unsigned which);

// One step must give the same bits on every schedule: no sum depends on which block or warp came
// first.
void odd_schedules_agree(const struct emulated *plugin, const struct decode_request *request);

#endif
