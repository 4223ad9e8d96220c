#if defined(__x86_64__)
#define ELEMENTWISE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define ELEMENTWISE_TABLE  elementwise_avx512
#include "kernels/cpu/isa/elementwise_body.h"
#else
extern int elementwise_avx512_is_for_x86;
#endif
