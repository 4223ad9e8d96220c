#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACHINE_FAILED = 3 };

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0)
    return; // the message cannot be shown
}

// Code that cleans up at exit may run out of memory, too.
_Noreturn void memory_exhausted(void) {
  static bool ending;
  if (__atomic_test_and_set(&ending, __ATOMIC_SEQ_CST))
    _exit(MACHINE_FAILED);
  say(program_invocation_short_name);
  say(": out of memory\n");
  exit(MACHINE_FAILED);
}

void memory_keep(void) {
#ifdef __GLIBC__
  // Setting one ends the automatic adjustment of both; the second is its own upper limit.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

// The sanitizers put their own functions in front of these, and report more.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_ALLOCATOR
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAS_OWN_ALLOCATOR
#endif

#ifndef HAS_OWN_ALLOCATOR

// The C library's function of that name, as its manual describes under "Replacing malloc". Memory
// is freed by the allocator that gave it: free is left alone.
static void *next_of(const char *name) {
  void *next = dlsym(RTLD_NEXT, name);
  if (!next)
    abort();
  return next;
}

static void *given(void *memory, size_t size) {
  if (!memory && size)
    memory_exhausted();
  return memory;
}

void *malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next)
    *(void **)&next = next_of("malloc");
  return given(next(size), size);
}

void *calloc(size_t count, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next)
    *(void **)&next = next_of("calloc");
  return given(next(count, size), count && size);
}

void *realloc(void *old, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next)
    *(void **)&next = next_of("realloc");
  return given(next(old, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next)
    *(void **)&next = next_of("aligned_alloc");
  return given(next(alignment, size), size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (!next)
    *(void **)&next = next_of("posix_memalign");
  const int reason = next(memory, alignment, size);
  if (reason == ENOMEM)
    memory_exhausted();
  return reason;
}

#endif
