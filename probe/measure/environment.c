#include "probe/measure/environment.h"

#include "base/arena.h"
#include "base/version.h"
#include "model/records/measurement_fields.h"
#include "probe/meters/small_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

// The instruction sets of the first CPU, limited to those that decode kernels may use.
static const char *const telling_flags[] = {
    "avx",         "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw", "avx512vnni",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8",
    "hypervisor",  "asimd",       "sve",         "i8mm",     "bf16",
};

static bool holds_word(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
    if ((at == words || strchr(" :\t", at[-1])) && strchr(" \n", at[length]))
      return true;
  return false;
}

static const char *flags_in(const char *line, struct arena *arena) {
  const char *found = "";
  for (size_t i = 0; i < sizeof telling_flags / sizeof telling_flags[0]; i++)
    if (holds_word(line, telling_flags[i]))
      found = arena_printf(arena, "%s%s%s", found, *found ? " " : "", telling_flags[i]);
  return found;
}

static const char *read_flags(struct arena *arena) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  char *line = NULL;
  size_t size = 0;
  const char *flags = "";
  while (file && !*flags && getline(&line, &size, file) > 0)
    if (!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8))
      flags = flags_in(line, arena);
  free(line);
  if (file)
    fclose(file);
  return flags;
}

struct measurement_environment environment_read(int threads, const char *kernels_build,
                                                struct arena *arena) {
  struct utsname system;
  const char *governor =
      small_file_text("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_governor", arena);
  double load = NAN;
  if (getloadavg(&load, 1) != 1)
    load = NAN;
  const bool known = uname(&system) == 0;
  return (struct measurement_environment){
      .node = "",
      .kernel = known ? arena_printf(arena, "%s %s", system.sysname, system.release) : "",
      .cpu_flags = read_flags(arena),
      .governor = governor ? governor : "",
      .load_average = load,
      .threads = threads,
      .tool_version = PERTOKEN_VERSION,
      .kernels_build = kernels_build,
      .remarks = "",
      .device_state = measurement_device_state_unknown(),
  };
}
