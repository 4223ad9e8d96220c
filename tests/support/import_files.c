#include "tests/support/import_files.h"

#include "model/imports/format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void import_files_start(struct import_files *files) {
  fixture_start(&files->fixture);
  strcpy(files->folder, "/tmp/pertoken-imports-XXXXXX");
  assert_non_null(mkdtemp(files->folder));
}

void import_files_end(struct import_files *files) {
  const char *path = arena_printf(&files->fixture.arena, "%s/file", files->folder);
  unlink(path);
  rmdir(files->folder);
  fixture_end(&files->fixture);
}

int import_files_read_all(struct import_files *files, const char *text, struct imported_list *all) {
  struct arena *arena = &files->fixture.arena;
  fixture_write(&files->fixture, files->folder, "file", text);
  return format_read(arena_printf(arena, "%s/file", files->folder), all, arena,
                     &files->fixture.diagnostics);
}

int import_files_read(struct import_files *files, const char *text, struct imported *imported) {
  struct imported_list all = {0};
  const int result = import_files_read_all(files, text, &all);
  assert_true(result ? !all.count : all.count > 0);
  if (!result)
    *imported = all.list[0];
  return result;
}
