// depth: how many of its cases a suite runs (tests/README.md, Two runs).
#ifndef PERTOKEN_TESTS_SUPPORT_DEPTH_H
#define PERTOKEN_TESTS_SUPPORT_DEPTH_H

#include <stdbool.h>

// The address sanitizer makes everything four times as slow: half of the slow cases must then be
// enough.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

// All cases, for `make test-deep`: PERTOKEN_TESTS is "deep". Otherwise the most informative ones.
bool depth_is_full(void);

#endif
