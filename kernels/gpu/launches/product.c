#include "kernels/gpu/launches/product.h"

#include "kernels/gpu/launches/library.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/matrix.h"
#include "kernels/gpu/launches/vector.h"
#include "kernels/gpu/plan/plan.h"

void launch_product(struct launch_list *list, enum product_name name) {
  if (list->plan->product[name].library)
    launch_by_library(list, name);
  else if (list->plan->product[name].vector)
    launch_vector(list, name);
  else
    launch_matrix(list, name);
}
