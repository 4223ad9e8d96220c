// library: the launches of a prompt's product by the vendor's library, between two kernels of ours:
// one rounds its vectors, and one finishes its sums.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_LIBRARY_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_LIBRARY_H

#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/vendor.h"

void launch_by_library(struct launch_list *list, enum product_name name);

// A product of a layer's experts as the list's runs divide it between our own tiles and the
// library. What the library multiplies is put where the slots are, so our own tiles come first.
void launch_expert_runs(struct launch_list *list, enum product_name name);

// The library's task for `batch` rows of a pass: a product that fits the library (plan.h).
struct vendor_size library_size(const struct plan *plan, enum product_name name, int batch);

#endif
