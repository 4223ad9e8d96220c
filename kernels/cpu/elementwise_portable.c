#define ELEMENTWISE_TARGET
#define ELEMENTWISE_TABLE elementwise_portable
#include "kernels/cpu/elementwise_body.h"
