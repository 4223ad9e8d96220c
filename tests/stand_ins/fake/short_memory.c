// Makes one allocation of a program fail, for LD_PRELOAD: the one with the number
// FAILING_ALLOCATION, from 1, or with a sign, that one and all later ones. FAILING_ALLOCATION=0
// makes none fail, and prints at the end how many there were.
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long count;

static long wanted(void) {
  const char *text = getenv("FAILING_ALLOCATION");
  return text ? strtol(text, NULL, 10) : 0;
}

static bool fails(void) {
  const long number = atomic_fetch_add(&count, 1) + 1, which = wanted();
  const bool now = which > 0 ? number == which : which < 0 && number >= -which;
  if (now)
    errno = ENOMEM;
  return now;
}

static void *next_of(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

void *malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next)
    *(void **)&next = next_of("malloc");
  return fails() ? NULL : next(size);
}

void *calloc(size_t number, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next)
    *(void **)&next = next_of("calloc");
  return fails() ? NULL : next(number, size);
}

void *realloc(void *old, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next)
    *(void **)&next = next_of("realloc");
  return fails() ? NULL : next(old, size);
}

__attribute__((destructor)) static void tell(void) {
  if (!wanted())
    fprintf(stderr, "allocations: %ld\n", (long)count);
}
