// limits: power limits that the fake libraries keep in a file, as a driver keeps them after the
// process that set them has ended: a line for each setting, the last of which is in force.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_LIMITS_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_LIMITS_H

#include <stdio.h>
#include <stdlib.h>

// 0: none was set, or no file is named.
static inline unsigned fake_limit_kept(const char *variable) {
  const char *path = getenv(variable);
  FILE *file = path ? fopen(path, "r") : NULL;
  unsigned kept = 0, next;
  while (file && fscanf(file, "%u", &next) == 1)
    kept = next;
  if (file)
    fclose(file);
  return kept;
}

static inline void fake_limit_keep(const char *variable, unsigned limit) {
  const char *path = getenv(variable);
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file)
    return;
  fprintf(file, "%u\n", limit);
  fclose(file);
}

#endif
