#include "kernels/cpu/memory.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

// Small blocks would each waste a huge page. Other processors' pages may be larger than x86-64's
// 4 KiB: many aarch64 kernels have 64 KiB, and unmap nothing that begins within one.
static size_t alignment_of(size_t bytes) {
  return bytes < HUGE_PAGE ? (size_t)sysconf(_SC_PAGESIZE) : HUGE_PAGE;
}

void *memory_take(size_t bytes) {
  size_t align = alignment_of(bytes), size = (bytes + align - 1) / align * align;
  if (bytes == 0 || size < bytes || size > SIZE_MAX - align)
    return NULL;
  char *from = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (from == MAP_FAILED)
    return NULL;
  size_t before = (align - (uintptr_t)from % align) % align;
  if (before)
    munmap(from, before);
  if (align > before)
    munmap(from + before + size, align - before);
  if (align == HUGE_PAGE)
    madvise(from + before, size, MADV_HUGEPAGE);
  return from + before;
}

void memory_give(void *block, size_t bytes) {
  size_t align = alignment_of(bytes);
  if (block)
    munmap(block, (bytes + align - 1) / align * align);
}

struct memory_state memory_now(void) {
  struct memory_state state = {0};
  FILE *file = fopen("/proc/meminfo", "re");
  if (!file)
    return state;
  char line[128];
  unsigned long long kilobytes;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "MemTotal: %llu kB", &kilobytes) == 1)
      state.total = (uint64_t)kilobytes * 1024;
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
      state.available = (uint64_t)kilobytes * 1024;
  }
  fclose(file);
  return state;
}
