// limits: what the kernels do not support, in words that last until the thread's next call; NULL if
// they support it.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_LIMITS_H
#define PERTOKEN_KERNELS_GPU_PLAN_LIMITS_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"

enum {
  LIMITS_BATCH = 256, // batch rows, at most
  LIMITS_HEAD_DIM = 256,
  LIMITS_PASS = 2048 // positions of a prompt at a time: the more, the longer a matrix unit is busy
};

// What is not supported of the request alone; and of a plan on its device, once its padding is
// known.
const char *limits_of_request(const struct decode_request *request);
const char *limits_of_device(const struct plan *plan);

// Why a step cannot be one launch; NULL if it can, or need not be.
const char *limits_of_streaming(const struct plan *plan);
// Why a step that should be one launch is a graph of launches after all; NULL if it is not.
const char *limits_fallback(const struct plan *plan);

#endif
