#include "kernels/gpu/host/identity.h"

#include <stdio.h>
#include <string.h>

void identity_module_version(const char *module, char *out, size_t size) {
  char path[96];
  *out = 0;
  snprintf(path, sizeof path, "/sys/module/%s/version", module);
  FILE *file = fopen(path, "re");
  if (!file)
    return;
  if (fgets(out, (int)size, file))
    out[strcspn(out, "\n")] = 0;
  fclose(file);
}

void identity_uuid(const char *prefix, const unsigned char *bytes, char *out, size_t size) {
  static const char hex[] = "0123456789abcdef";
  char text[37], *end = text;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *end++ = '-';
    *end++ = hex[bytes[i] >> 4];
    *end++ = hex[bytes[i] & 15];
  }
  *end = 0;
  snprintf(out, size, "%s-%s", prefix, text);
}
