#include "model/evidence/measurement_write.h"

#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t file_flags = JSON_INDENT(1) | JSON_REAL_PRECISION(17);

static json_t *json_of(const struct field *fields, const char *base);

static json_t *real_or_null(const struct field *field, double value) {
  const bool may_lack = field->kind == FIELD_MAYBE || field->kind == FIELD_MAYBES;
  return may_lack && isnan(value) ? json_null() : json_real(value);
}

static json_t *list_of(const struct field *field, const char *base) {
  const void *const *at = (const void *)(base + field->offset);
  const char *list = *at;
  const size_t count = *(const size_t *)(base + field->count_offset);
  const double *reals = *at;
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *element = field->kind == FIELD_LIST ? json_of(field->fields, list + i * field->size)
                                                : real_or_null(field, reals[i]);
    if (json_array_append_new(array, element)) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

static json_t *value_of(const struct field *field, const char *base) {
  const void *at = base + field->offset;
  switch (field->kind) {
  case FIELD_TEXT: return json_string(*(const char *const *)at);
  case FIELD_REAL:
  case FIELD_MAYBE: return real_or_null(field, *(const double *)at);
  case FIELD_INT: return json_integer(*(const int *)at);
  case FIELD_COUNT: return json_integer((json_int_t) * (const uint64_t *)at);
  case FIELD_BOOL: return json_boolean(*(const bool *)at);
  case FIELD_GRADE: return json_string(grade_name(*(const enum grade *)at));
  case FIELD_OBJECT: return json_of(field->fields, at);
  case FIELD_REALS:
  case FIELD_MAYBES:
  case FIELD_LIST: return list_of(field, base);
  }
  return NULL;
}

// NULL when a text is not UTF-8, a number not finite, or memory short.
static json_t *json_of(const struct field *fields, const char *base) {
  json_t *object = json_object();
  for (const struct field *field = fields; field->name; field++) {
    if (json_object_set_new(object, field->name, value_of(field, base)) == 0)
      continue;
    json_decref(object);
    return NULL;
  }
  return object;
}

// The record's text as the file holds it, to be freed; NULL as json_of.
static char *text_of(struct measurement_record *record, struct arena *arena) {
  json_t *object =
      json_pack("{s:i, s:s}", "schema", MEASUREMENT_SCHEMA, "basis", MEASUREMENT_BASIS);
  json_t *fields = json_of(measurement_record_fields, (const char *)record);
  char *text = NULL;
  if (object && fields && json_object_update(object, fields) == 0)
    record->digest = measurement_digest(object, arena);
  if (record->digest && json_object_set_new(object, "digest", json_string(record->digest)) == 0)
    text = json_dumps(object, file_flags);
  json_decref(fields);
  json_decref(object);
  return text;
}

static int fail(const char *path, int reason, struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, (struct place){0}, "cannot write '%s': %s", path,
                    strerror(reason));
  return -1;
}

// Without it a crash of the machine could still undo the rename; not every file system can.
static void flush_directory(const char *path, struct arena *arena) {
  const int fd = open(dirname(arena_copy(arena, path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

// 0 or an errno.
static int write_all(int fd, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    const ssize_t written = write(fd, text, left);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    text += written;
    left -= (size_t)written;
  }
  return fsync(fd) && errno != EINVAL ? errno : 0;
}

// mkstemp makes files for their owner alone; a record gets the usual permissions.
static void widen_permissions(int fd) {
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
}

static int write_file(const char *path, const char *text, struct arena *arena,
                      struct diagnostics *diagnostics) {
  char *temporary = arena_printf(arena, "%s.XXXXXX", path);
  const int fd = mkstemp(temporary);
  if (fd < 0)
    return fail(path, errno, diagnostics);
  widen_permissions(fd);
  int reason = write_all(fd, text);
  if (close(fd) && !reason)
    reason = errno;
  if (!reason && rename(temporary, path))
    reason = errno;
  if (!reason) {
    flush_directory(path, arena);
    return 0;
  }
  unlink(temporary);
  return fail(path, reason, diagnostics);
}

int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics) {
  record->digest = NULL;
  char *text = text_of(record, arena);
  if (!text)
    return fail(path, EILSEQ, diagnostics);
  record->path = arena_copy(arena, path);
  const int result = write_file(path, text, arena, diagnostics);
  free(text);
  return result;
}
