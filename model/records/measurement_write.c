#include "model/records/measurement_write.h"

#include "base/record.h"
#include "model/records/measurement_fields.h"

int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics) {
  if (record_write(&measurement_form, record, &record->digest, path, arena, diagnostics))
    return -1;
  record->path = arena_copy(arena, path);
  return 0;
}
