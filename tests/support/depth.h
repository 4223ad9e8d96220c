// depth: how much of its cases a suite takes (tests/README.md, Two runs).
#ifndef PERTOKEN_TESTS_DEPTH_H
#define PERTOKEN_TESTS_DEPTH_H

#include <stdbool.h>

// The address sanitizer makes everything four times as slow: then half of what is slow has to do.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

// All of them, as `make test-deep` wants it: PERTOKEN_TESTS is "deep". Else those that show most.
bool depth_is_full(void);

#endif
