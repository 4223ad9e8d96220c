#include "probe/meters/accelerators.h"

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/nvml.h"
#include "probe/meters/small_file.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Base classes of PCI: display controllers, processing accelerators (PCI Code and ID Assignment
// 1.11).
enum { CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 };

static int is_address(const struct dirent *entry) {
  struct meter_address address;
  return meter_address_parse(entry->d_name, &address);
}

static bool is_accelerator(const char *folder, unsigned vendor, struct arena *arena) {
  const char *text = small_file_text(folder, "class", arena);
  const unsigned long base = text ? strtoul(text, NULL, 16) >> 16 : 0;
  return (base == CLASS_DISPLAY || base == CLASS_ACCELERATOR) &&
         (vendor == VENDOR_NVIDIA || vendor == VENDOR_AMD);
}

static bool shares_socket(const struct accelerator_found *a, const char *pci) {
  struct meter_address left, right;
  return meter_address_parse(a->pci, &left) && meter_address_parse(pci, &right) &&
         meter_address_shares_socket(&left, &right);
}

static int by_address(const void *a, const void *b) {
  struct meter_address left, right;
  meter_address_parse(((const struct accelerator_found *)a)->pci, &left);
  meter_address_parse(((const struct accelerator_found *)b)->pci, &right);
  return meter_address_compare(&left, &right);
}

// AMD's driver has it in a file; NVIDIA's library reports it.
static const char *uuid_of(const struct nvml *nvml, const char *folder, const char *pci,
                           struct arena *arena) {
  const char *text = small_file_text(folder, "unique_id", arena), *why;
  char uuid[96] = "";
  nvml_device device;
  if (text || !nvml || !nvml->uuid)
    return text ? text : "";
  if (nvml_find(nvml, pci, &device, arena, &why) != METER_OK ||
      nvml->uuid(device, uuid, sizeof uuid) != NVML_DONE)
    return "";
  return arena_copy(arena, uuid);
}

struct accelerator_found *accelerators_find(const struct meter_roots *roots, size_t *count,
                                            struct arena *arena) {
  size_t folders, found = 0;
  const char *why;
  struct nvml nvml;
  const char **list = small_file_list(roots->pci, is_address, &folders, arena);
  struct accelerator_found *all = arena_array(arena, folders + 1, sizeof *all);
  const bool has_nvml = nvml_open(&nvml, roots, arena, &why) == METER_OK;
  for (size_t i = 0; i < folders; i++) {
    const char *pci = strrchr(list[i], '/') + 1;
    const unsigned vendor = meter_address_vendor(roots->pci, pci, arena);
    bool is_known = !is_accelerator(list[i], vendor, arena);
    for (size_t k = 0; k < found && !is_known; k++)
      is_known = shares_socket(&all[k], pci);
    if (!is_known)
      all[found++] = (struct accelerator_found){
          pci, uuid_of(has_nvml && vendor == VENDOR_NVIDIA ? &nvml : NULL, list[i], pci, arena)};
  }
  if (has_nvml)
    nvml.shutdown();
  if (found)
    qsort(all, found, sizeof *all, by_address);
  *count = found;
  return all;
}
