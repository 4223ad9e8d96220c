#define ELEMENTWISE_TARGET
#define ELEMENTWISE_TABLE elementwise_portable
#include "kernels/cpu/isa/elementwise_body.h"
