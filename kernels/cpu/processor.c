#include "kernels/cpu/processor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct core {
  unsigned long implementer, part;
  const char *name;
} cores[] = {
    {0x41, 0xd0c, "Arm Neoverse N1"},   {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd49, "Arm Neoverse N2"},   {0x41, 0xd4f, "Arm Neoverse V2"},
    {0x41, 0xd83, "Arm Neoverse V3AE"}, {0x41, 0xd84, "Arm Neoverse V3"},
    {0x41, 0xd8e, "Arm Neoverse N3"},   {0x4e, 0x010, "NVIDIA Olympus"},
    {0xc0, 0xac3, "Ampere AmpereOne"},  {0xc0, 0xac4, "Ampere AmpereOne A"},
};

// The value of a line "KEY \t: VALUE"; NULL if the line is another one.
static const char *value_of(const char *line, const char *key) {
  const size_t length = strlen(key);
  if (strncmp(line, key, length) != 0)
    return NULL;
  line += length + strspn(line + length, " \t");
  return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static void name_core(unsigned long implementer, unsigned long part, char *out, size_t size) {
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
    if (cores[i].implementer == implementer && cores[i].part == part) {
      snprintf(out, size, "%s", cores[i].name);
      return;
    }
  snprintf(out, size, "CPU (implementer 0x%lx, part 0x%03lx)", implementer, part);
}

void processor_name(FILE *cpuinfo, char *out, size_t size) {
  char line[256];
  unsigned long implementer = 0;
  bool is_named = false;
  snprintf(out, size, "CPU");
  while (cpuinfo && !is_named && fgets(line, sizeof line, cpuinfo)) {
    line[strcspn(line, "\n")] = 0;
    const char *model = value_of(line, "model name"), *part = value_of(line, "CPU part"),
               *maker = value_of(line, "CPU implementer");
    if (maker)
      implementer = strtoul(maker, NULL, 16);
    if (model && *model)
      snprintf(out, size, "%s", model);
    else if (part && implementer)
      name_core(implementer, strtoul(part, NULL, 16), out, size);
    is_named = (model && *model) || (part && implementer);
  }
}
