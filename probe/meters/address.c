#include "probe/meters/address.h"

#include "probe/meters/small_file.h"

#include <stdio.h>
#include <stdlib.h>

bool meter_address_parse(const char *text, struct meter_address *out) {
  int end = 0;
  *out = (struct meter_address){0};
  if (sscanf(text, "%8x:%2x:%2x.%1x%n", &out->domain, &out->bus, &out->device, &out->function,
             &end) == 4 &&
      !text[end])
    return true;
  *out = (struct meter_address){0};
  end = 0;
  return sscanf(text, "%2x:%2x.%1x%n", &out->bus, &out->device, &out->function, &end) == 3 &&
         !text[end];
}

const char *meter_address_text(const struct meter_address *address, struct arena *arena) {
  return arena_printf(arena, "%04x:%02x:%02x.%x", address->domain, address->bus, address->device,
                      address->function);
}

bool meter_address_shares_socket(const struct meter_address *a, const struct meter_address *b) {
  return a->domain == b->domain && a->bus == b->bus && a->device == b->device;
}

int meter_address_compare(const struct meter_address *a, const struct meter_address *b) {
  const unsigned left[] = {a->domain, a->bus, a->device, a->function};
  const unsigned right[] = {b->domain, b->bus, b->device, b->function};
  for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
    if (left[i] != right[i])
      return left[i] < right[i] ? -1 : 1;
  return 0;
}

unsigned meter_address_vendor(const char *root, const char *text, struct arena *arena) {
  struct meter_address address;
  if (!root || !meter_address_parse(text, &address))
    return 0;
  const char *vendor = small_file_text(
      arena_printf(arena, "%s/%s", root, meter_address_text(&address, arena)), "vendor", arena);
  return vendor ? (unsigned)strtoul(vendor, NULL, 16) : 0;
}
