#include "tests/support/place_of_work.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void place_of_work_start(struct place_of_work *work) {
  fixture_start(&work->fixture);
  strcpy(work->folder, "/tmp/pertoken-record-XXXXXX");
  assert_non_null(mkdtemp(work->folder));
  work->path = arena_printf(&work->fixture.arena, "%s/a.json", work->folder);
}

void place_of_work_end(struct place_of_work *work) {
  const char *command = arena_printf(&work->fixture.arena, "rm -rf '%s'", work->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&work->fixture);
}

void place_of_work_write(struct place_of_work *work, const char *text) {
  fixture_write(&work->fixture, work->folder, "a.json", text);
  work->fixture.diagnostics = (struct diagnostics){.arena = &work->fixture.arena};
}

const char *place_of_work_text(struct place_of_work *work, json_t *object) {
  char *text = json_dumps(object, JSON_REAL_PRECISION(17));
  const char *copy = arena_copy(&work->fixture.arena, text);
  free(text);
  json_decref(object);
  return copy;
}
