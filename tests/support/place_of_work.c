#include "tests/support/place_of_work.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/record_digest.h"

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
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

// The object that holds the last part of a dotted name, which *name is left at.
static json_t *holder(json_t *object, const char **name) {
  for (const char *point; (point = strchr(*name, '.')); *name = point + 1)
    object = json_object_getn(object, *name, (size_t)(point - *name));
  assert_non_null(object);
  return object;
}

const char *place_of_work_edited(struct place_of_work *work, json_t *record, const char *list,
                                 size_t index, const char *name, const char *value) {
  const bool is_of_record = *name == '/';
  name += is_of_record;
  json_t *item = json_array_get(json_object_get(record, list), index);
  json_t *object = holder(is_of_record ? record : item, &name);
  if (value)
    json_object_set_new(object, name, json_loads(value, JSON_DECODE_ANY, NULL));
  else
    json_object_del(object, name);
  json_object_set_new(record, "digest", json_string(record_digest(record, &work->fixture.arena)));
  return place_of_work_text(work, record);
}
