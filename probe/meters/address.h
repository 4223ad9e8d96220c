// address: PCI addresses, by which a device and its meter are matched.
#ifndef PERTOKEN_PROBE_METERS_ADDRESS_H
#define PERTOKEN_PROBE_METERS_ADDRESS_H

#include "base/arena.h"

#include <stdbool.h>

enum { VENDOR_NVIDIA = 0x10de, VENDOR_AMD = 0x1002 }; // from the PCI ID repository, pci-ids.ucw.cz

struct meter_address {
  unsigned domain, bus, device, function;
};

// Reads "0000:17:00.0", with a domain of eight digits as NVML writes it, or with none ("17:00.0").
// False, and *out zero or partly set, for anything else.
bool meter_address_parse(const char *text, struct meter_address *out);

// "0000:17:00.0", as sysfs names it.
const char *meter_address_text(const struct meter_address *address, struct arena *arena);

// Whether both are on one physical device: partitions of an AMD accelerator differ only in the
// function.
bool meter_address_shares_socket(const struct meter_address *a, const struct meter_address *b);

// Negative, 0 or positive, as with strcmp.
int meter_address_compare(const struct meter_address *a, const struct meter_address *b);

// The PCI vendor according to the kernel, under `root` ("/sys/bus/pci/devices"); 0: unknown.
unsigned meter_address_vendor(const char *root, const char *text, struct arena *arena);

#endif
