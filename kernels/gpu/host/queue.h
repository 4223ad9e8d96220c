// queue: what goes into a context's queue under CUDA or HIP: launches, all-reduces among them, one
// at a time or repeated as a graph. The functions are those of driver.h.
#ifndef PERTOKEN_KERNELS_GPU_HOST_QUEUE_H
#define PERTOKEN_KERNELS_GPU_HOST_QUEUE_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/device.h"

#include <stdbool.h>
#include <stddef.h>

enum decode_status queue_launch(struct gpu_context *context, const struct gpu_launch *launch);
enum decode_status queue_clusters(struct gpu_context *context, const struct gpu_launch *launch,
                                  int *count);

enum decode_status graph_make(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count, bool recorded, struct gpu_graph **out);
enum decode_status graph_run(struct gpu_context *context, struct gpu_graph *graph, int times);
void graph_free(struct gpu_context *context, struct gpu_graph *graph);
void graph_form(const struct gpu_graph *graph, struct decode_step_form *out);

#endif
