#include "kernels/cpu/cache.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INDEX = 8 };

// Reads one line of a file about a CPU's cache; false if there is no such file.
static bool read_line(int cpu, int index, const char *name, char *line, int size) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name);
  FILE *file = fopen(path, "re");
  const bool found = file && fgets(line, size, file);
  if (file)
    fclose(file);
  return found;
}

// The index of the CPU's last-level cache that holds data, or -1.
static int last_level(int cpu) {
  char line[32];
  int last = -1, level, highest = 0;
  for (int index = 0; index < MAX_INDEX && read_line(cpu, index, "type", line, sizeof line);
       index++) {
    const bool holds_data = strncmp(line, "Instruction", strlen("Instruction")) != 0;
    if (!holds_data || !read_line(cpu, index, "level", line, sizeof line) ||
        sscanf(line, "%d", &level) != 1 || level <= highest)
      continue;
    highest = level;
    last = index;
  }
  return last;
}

// "32768K", "32M"
static uint64_t size_of(int cpu, int index) {
  char line[32], unit = ' ';
  unsigned long long number;
  if (!read_line(cpu, index, "size", line, sizeof line) ||
      sscanf(line, "%llu%c", &number, &unit) < 1)
    return 0;
  return (uint64_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

// Removes the CPUs of a list such as "0-3,64-67" from the set.
static void strike(const char *list, cpu_set_t *set) {
  int first, length;
  while (sscanf(list, "%d%n", &first, &length) == 1) {
    int last = first;
    list += length;
    if (sscanf(list, "-%d%n", &last, &length) == 1)
      list += length;
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
      CPU_CLR((size_t)cpu, set);
    list += *list == ',';
  }
}

uint64_t cache_in_use(void) {
  cpu_set_t left;
  uint64_t bytes = 0;
  if (sched_getaffinity(0, sizeof left, &left) != 0)
    return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    char sharers[4096];
    const int index = CPU_ISSET((size_t)cpu, &left) ? last_level(cpu) : -1;
    if (index < 0)
      continue;
    bytes += size_of(cpu, index);
    if (read_line(cpu, index, "shared_cpu_list", sharers, sizeof sharers))
      strike(sharers, &left);
  }
  return bytes;
}

uint64_t cache_reported(void) {
  long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes <= 0)
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (uint64_t)bytes : 0;
}
