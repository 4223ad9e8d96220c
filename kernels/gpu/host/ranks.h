// ranks: a model on several devices: a state and a thread for each rank, which meet in all-reduces.
// The functions are those of decode.h; if one rank fails or does not answer, all end with an error.
#ifndef PERTOKEN_KERNELS_GPU_HOST_RANKS_H
#define PERTOKEN_KERNELS_GPU_HOST_RANKS_H

#include "kernels/decode.h"

struct gpu_ranks;

// What decode.h says of these, on request->devices.
enum decode_status ranks_cost(const struct decode_request *request, struct decode_cost *out);

enum decode_status ranks_create(const struct decode_request *request, struct gpu_ranks **out);
void ranks_destroy(struct gpu_ranks *ranks); // NULL is allowed
enum decode_status ranks_run(struct gpu_ranks *ranks, int steps);
enum decode_status ranks_tokens(struct gpu_ranks *ranks, int *out);
enum decode_status ranks_logits(struct gpu_ranks *ranks, float *out);
enum decode_status ranks_set_tokens(struct gpu_ranks *ranks, const int *in);
enum decode_status ranks_set_position(struct gpu_ranks *ranks, int position);
enum decode_status ranks_prefill(struct gpu_ranks *ranks, const struct decode_prompt *prompt);
const char *ranks_prefill_library(const struct gpu_ranks *ranks);
// What all of them chose; the count is rank 0's.
enum decode_status ranks_chosen(struct gpu_ranks *ranks, int *out);
enum decode_status ranks_touched(struct gpu_ranks *ranks, struct decode_touched *out);
void ranks_step_form(const struct gpu_ranks *ranks, struct decode_step_form *out);
enum decode_status ranks_all_reduce(struct gpu_ranks *ranks, int repeats,
                                    struct decode_all_reduce *out);

#endif
