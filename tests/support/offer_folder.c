#include "tests/support/offer_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char offer_head[] = "[offer]\n"
                          "vendor = Example Compute\n"
                          "reference = Q-1\n"
                          "date = 2026-11-02\n"
                          "currency = USD\n"
                          "accelerator = h200-sxm-141\n"
                          "accelerators = 64 gpu\n";

void offer_folder_start(struct offer_folder *folder) {
  fixture_start(&folder->fixture);
  snprintf(folder->path, sizeof folder->path, "/tmp/pertoken-XXXXXX");
  assert_non_null(mkdtemp(folder->path));
  assert_int_equal(
      catalog_open(&folder->catalog, "data", &folder->fixture.arena, &folder->fixture.diagnostics),
      0);
}

const char *offer_folder_path(struct offer_folder *folder, const char *file) {
  return arena_printf(&folder->fixture.arena, "%s/%s", folder->path, file);
}

void offer_folder_write(struct offer_folder *folder, const char *file, const char *text) {
  const char *head = strstr(text, "[offer]") ? "" : offer_head;
  fixture_write(&folder->fixture, folder->path, file,
                arena_printf(&folder->fixture.arena, "%s%s", head, text));
}

void offer_folder_end(struct offer_folder *folder) {
  static const char *const files[] = {"offer.ini", "other.ini", "scenario.ini"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    unlink(offer_folder_path(folder, files[i]));
  rmdir(folder->path);
  fixture_end(&folder->fixture);
}
