// library: shared objects that were built for tests, beside the test program in lib/.
#ifndef PERTOKEN_LIBRARY_H
#define PERTOKEN_LIBRARY_H

// dlopen of lib/NAME.so; NULL, with the reason printed, if that fails. To be closed with dlclose.
void *library_open(const char *name);

// A symbol as a function: *(void **)&function = library_symbol(...). NULL, and printed, if missing.
void *library_symbol(void *library, const char *symbol);

#endif
