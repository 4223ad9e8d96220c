#include "model/records/record_device.h"

#include "base/csv.h"
#include "base/source.h"
#include "model/evidence/catalog.h"
#include "model/evidence/device_memory.h"

#include <string.h>

// The minimum share of a part's memory that a whole device has: a runtime keeps a few per cent for
// itself and ECC.
#define WHOLE_DEVICE 0.85

static bool is_of_backend(const struct measurement_record *record, const char *backend) {
  return !strcmp(record->device.backend, backend);
}

// A partition of an AMD device has the name of the whole device but only part of its memory.
const char *records_accelerator(const struct records *records,
                                const struct measurement_record *record) {
  const struct table *table = records->accelerators;
  if (record->accelerator && !is_of_backend(record, "cpu"))
    return record->accelerator;
  const long row = table ? catalog_device(table, record->device.name) : -1;
  struct device_memory memory;
  if (row < 0 || !device_memory_find(table, (size_t)row, &memory) ||
      (double)record->device.memory_bytes < WHOLE_DEVICE * memory.bytes)
    return NULL;
  return table_cell(table, (size_t)row, "id");
}

const struct measurement_record *records_named(const struct records *records, const char *file) {
  for (size_t i = 0; i < records->count; i++)
    if (!strcmp(source_file_name(records->list[i]->path), file))
      return records->list[i];
  return NULL;
}

bool records_is_of_accelerator(const struct records *records,
                               const struct measurement_record *record, const char *accelerator) {
  const char *known = records_accelerator(records, record);
  return is_of_backend(record, accelerator) || (known && !strcmp(known, accelerator));
}

static const struct measurement_record *newer(const struct measurement_record *record,
                                              const struct measurement_record *newest) {
  return newest && strcmp(record->finished, newest->finished) <= 0 ? newest : record;
}

const struct measurement_record *records_of_backend(const struct records *records,
                                                    const char *backend) {
  const struct measurement_record *newest = NULL;
  for (size_t i = 0; i < records->count; i++)
    if (is_of_backend(records->list[i], backend))
      newest = newer(records->list[i], newest);
  return newest;
}

const struct measurement_record *records_of_accelerator(const struct records *records,
                                                        const char *accelerator) {
  const struct measurement_record *newest = NULL;
  for (size_t i = 0; i < records->count; i++)
    if (records_is_of_accelerator(records, records->list[i], accelerator))
      newest = newer(records->list[i], newest);
  return newest;
}

// A processor is identified by its backend.
const char *records_unknown_device(const struct records *records) {
  for (size_t i = 0; i < records->count; i++) {
    const struct measurement_record *record = records->list[i];
    if (!records_accelerator(records, record) && !is_of_backend(record, "cpu"))
      return record->device.name;
  }
  return NULL;
}
