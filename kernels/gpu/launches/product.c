#include "kernels/gpu/launches/product.h"

#include "kernels/gpu/launches/library.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/matrix.h"
#include "kernels/gpu/launches/vector.h"
#include "kernels/gpu/plan/plan.h"

void launch_product(struct launch_list *list, enum product_name name) {
  const struct plan_product *product = &list->plan->product[name];
  if (product->library && (!product->routed || gpu_plan_reaches_library(list->plan)))
    launch_by_library(list, name);
  else if (product->vector)
    launch_vector(list, name);
  else
    launch_matrix(list, name);
}
