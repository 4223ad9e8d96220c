#if defined(__x86_64__)
#define ELEMENTWISE_TARGET __attribute__((target("avx2,fma")))
#define ELEMENTWISE_TABLE  elementwise_avx2
#include "kernels/cpu/isa/elementwise_body.h"
#else
extern int elementwise_avx2_is_for_x86;
#endif
