// Any text as an INI file.
#include "fuzz.h"

#include "base/ini.h"

#include <assert.h>
#include <string.h>

static void check_key(const struct ini *ini, const struct ini_key *key) {
  const char *start;
  size_t length;
  assert(*key->name);
  assert(source_line(ini->source, key->place.line, &start, &length));
  assert(key->place.column == 1 && key->value_place.line == key->place.line);
  assert(strncmp(start, key->name, strlen(key->name)) == 0);
  assert((size_t)key->value_place.column <= length + 1);
  assert(strncmp(start + key->value_place.column - 1, key->value, strlen(key->value)) == 0);
}

// Sections and keys are the first of their name, can be found by it, and are in file order.
static void check_ini(const struct ini *ini) {
  int line = 0;
  for (size_t i = 0; i < ini->section_count; i++) {
    const struct ini_section *section = &ini->sections[i];
    assert(*section->kind && section->place.line > line);
    assert(ini_section(ini, section->kind, section->argument) == section);
    line = section->place.line;
    for (size_t k = 0; k < section->key_count; k++) {
      assert(ini_find(section, section->keys[k].name) == &section->keys[k]);
      check_key(ini, &section->keys[k]);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  const struct ini *ini = ini_read(fuzz.source, &fuzz.arena, &fuzz.diagnostics);
  assert(ini ? ini->section_count > 0 : fuzz.diagnostics.errors > 0);
  if (ini)
    check_ini(ini);
  fuzz_end(&fuzz);
  return 0;
}
