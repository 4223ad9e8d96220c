// library: shared objects that were built for tests, beside the test program in lib/.
#ifndef PERTOKEN_TESTS_SUPPORT_LIBRARY_H
#define PERTOKEN_TESTS_SUPPORT_LIBRARY_H

#include "kernels/decode.h"

// dlopen of lib/NAME.so; NULL, with the reason printed, if that fails. Close with dlclose.
void *library_open(const char *name);

// A symbol as a function: *(void **)&function = library_symbol(...). NULL, and printed, if missing.
void *library_symbol(void *library, const char *symbol);

// The table of a backend's plugin; NULL, and printed, if it has none, or one of another ABI.
const struct decode_backend *library_backend(void *library);

#endif
