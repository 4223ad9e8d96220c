// Any text as another program's results, and the results written as a record: the readers of
// records check that it is consistent.
#include "fuzz.h"

#include "model/evidence/catalog.h"
#include "model/imports/format.h"
#include "model/imports/import.h"
#include "model/imports/imported.h"
#include "model/records/serving.h"

#include <assert.h>

static void check_record(struct fuzz *fuzz, const struct serving_record *record) {
  struct diagnostics told = {.arena = &fuzz->arena};
  assert(record->count > 0 && record->accelerators > 0);
  assert(serving_check(record, &told) == 0 && !told.errors);
}

static void join(struct fuzz *fuzz, const struct imported_list *all) {
  const struct import_statement statement = {.facts = {"h200", NULL, "fp8", "llama-3.1-8b", NULL},
                                             .published = "A title, https://example.org/"};
  struct catalog catalog;
  struct import import;
  assert(catalog_open(&catalog, "build/fuzz/data", &fuzz->arena, &fuzz->diagnostics) == 0);
  if (import_join(all->list, all->count, &statement, &catalog, &import, &fuzz->arena,
                  &fuzz->diagnostics))
    return;
  for (size_t i = 0; i < import.count; i++)
    check_record(fuzz, &import.records[i].record);
}

static void read_results(struct fuzz *fuzz, const char *path) {
  struct imported_list all = {0};
  const int result = format_read(path, &all, &fuzz->arena, &fuzz->diagnostics);
  assert((result == 0) == (fuzz->diagnostics.errors == 0));
  if (!result)
    join(fuzz, &all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, read_results);
}
