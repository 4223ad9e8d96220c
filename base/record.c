#include "base/record.h"

#include "base/digits.h"
#include "base/output.h"
#include "base/record_digest.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing

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
  case FIELD_CONSTANT: return json_string(field->names[0]);
  case FIELD_NAME: return json_string(field->names[*(const unsigned *)at]);
  case FIELD_OBJECT: return json_of(field->fields, at);
  case FIELD_REALS:
  case FIELD_MAYBES:
  case FIELD_LIST: return list_of(field, base);
  }
  return NULL;
}

// The fields as a JSON object; NULL if a text is not UTF-8, a number is not finite, or memory is
// short.
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

// The record as file text, to be freed; NULL for the same reasons as json_of.
static char *text_of(const struct record_form *form, const void *record, const char **digest,
                     struct arena *arena) {
  json_t *object = json_pack("{s:i}", "schema", form->newest);
  json_t *fields = json_of(form->fields, record);
  char *text = NULL;
  if (object && fields && json_object_update(object, fields) == 0)
    *digest = record_digest(object, arena);
  if (*digest && json_object_set_new(object, "digest", json_string(*digest)) == 0)
    text = json_dumps(object, file_flags);
  json_decref(fields);
  json_decref(object);
  return text;
}

// "expected a number of at least 1, found 0": most fields have no upper limit worth stating, so it
// is stated only beside a number above it.
static const char *out_of_range(double value, double low, double high, struct arena *arena) {
  char least[DIGITS_ROOM], most[DIGITS_ROOM], found[DIGITS_ROOM];
  digits_shortest(low, least);
  digits_shortest(value, found);
  if (value > high)
    return arena_printf(arena, "expected a number from %s to %s, found %s", least,
                        digits_shortest(high, most), found);
  return arena_printf(arena, "expected a number of at least %s, found %s", least, found);
}

static const char *wrong_number(const struct field *field, double value, struct arena *arena) {
  if ((field->kind == FIELD_MAYBE && isnan(value)) || (value >= field->low && value <= field->high))
    return NULL;
  return arena_printf(arena, "%s: %s", field->name,
                      out_of_range(value, field->low, field->high, arena));
}

const char *record_wrong_number(const struct field *fields, const void *base, struct arena *arena) {
  for (const struct field *field = fields; field->name; field++) {
    const void *at = (const char *)base + field->offset;
    const char *wrong = NULL;
    if (field->kind == FIELD_REAL || field->kind == FIELD_MAYBE)
      wrong = wrong_number(field, *(const double *)at, arena);
    else if (field->kind == FIELD_INT)
      wrong = wrong_number(field, *(const int *)at, arena);
    else if (field->kind == FIELD_OBJECT && (wrong = record_wrong_number(field->fields, at, arena)))
      wrong = arena_printf(arena, "%s.%s", field->name, wrong);
    if (wrong)
      return wrong;
  }
  return NULL;
}

static int fail(const char *path, int reason, struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot write '%s': %s", path, strerror(reason));
  return -1;
}

int record_write(const struct record_form *form, const void *record, const char **digest,
                 const char *path, struct arena *arena, struct diagnostics *diagnostics) {
  struct output output;
  *digest = NULL;
  char *text = text_of(form, record, digest, arena);
  if (!text)
    return fail(path, EILSEQ, diagnostics);
  int result = output_open_again(&output, path, arena, diagnostics);
  if (!result && fputs(text, output.stream) < 0) {
    result = fail(path, errno, diagnostics);
    output_discard(&output);
  } else if (!result)
    result = output_close(&output, diagnostics);
  free(text);
  return result;
}

// ---- reading

// The members of a record besides the fields of the table.
static const char *const outer_names[] = {"schema", "digest"};

struct reader {
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct place place;
  int schema; // of the record
};

// A value's path, kept as a chain on the stack; it becomes text only for an error, since thousands
// of records are read.
struct path {
  const struct path *outer; // NULL: of the record itself
  const char *name;         // NULL: an element of a list
  size_t index;
};

// "results[2].telemetry"
static const char *path_text(const struct reader *reader, const struct path *path) {
  const char *outer = path->outer ? path_text(reader, path->outer) : "";
  return path->name ? arena_printf(reader->arena, "%s%s%s", outer, *outer ? "." : "", path->name)
                    : arena_printf(reader->arena, "%s[%zu]", outer, path->index);
}

static void wanted(const struct reader *reader, const struct path *path, const char *what,
                   const json_t *found) {
  static const char *const kinds[] = {
      [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a text",
      [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
      [JSON_FALSE] = "false",      [JSON_NULL] = "null"};
  diagnostics_error(reader->diagnostics, reader->place, "%s: expected %s, found %s",
                    path_text(reader, path), what, found ? kinds[json_typeof(found)] : "nothing");
}

// A number from low to high, inclusive.
static bool read_number(const struct reader *reader, const struct path *path, const json_t *value,
                        double low, double high, double *out) {
  if (!json_is_number(value)) {
    wanted(reader, path, "a number", value);
    return false;
  }
  *out = json_number_value(value);
  if (*out >= low && *out <= high)
    return true;
  diagnostics_error(reader->diagnostics, reader->place, "%s: %s", path_text(reader, path),
                    out_of_range(*out, low, high, reader->arena));
  return false;
}

static bool read_whole(const struct reader *reader, const struct path *path, const json_t *value,
                       const struct field *field, double *out) {
  if (json_is_integer(value))
    return read_number(reader, path, value, field->low, field->high, out);
  wanted(reader, path, "a whole number", value);
  return false;
}

static void read_reals(const struct reader *reader, const struct path *path, const json_t *value,
                       const struct field *field, char *base) {
  if (!json_is_array(value)) {
    wanted(reader, path, "a list", value);
    return;
  }
  const size_t count = json_array_size(value);
  double *list = arena_array(reader->arena, count, sizeof *list);
  for (size_t i = 0; i < count; i++) {
    const struct path at = {path, NULL, i};
    const json_t *element = json_array_get(value, i);
    list[i] = NAN;
    if (field->kind == FIELD_MAYBES && json_is_null(element))
      continue;
    if (!read_number(reader, &at, element, field->low, field->high, &list[i]))
      return;
  }
  *(const double **)(base + field->offset) = list;
  *(size_t *)(base + field->count_offset) = count;
}

static void read_object(const struct reader *reader, const struct path *path, const json_t *object,
                        const struct field *fields, char *base);

static void read_list(const struct reader *reader, const struct path *path, const json_t *value,
                      const struct field *field, char *base) {
  if (!json_is_array(value)) {
    wanted(reader, path, "a list", value);
    return;
  }
  const size_t count = json_array_size(value);
  char *list = arena_array(reader->arena, count, field->size);
  for (size_t i = 0; i < count; i++)
    read_object(reader, &(struct path){path, NULL, i}, json_array_get(value, i), field->fields,
                list + i * field->size);
  *(char **)(base + field->offset) = list;
  *(size_t *)(base + field->count_offset) = count;
}

static void read_text(const struct reader *reader, const struct path *path, const json_t *value,
                      const char **out) {
  *out = "";
  if (json_is_string(value))
    *out = arena_copy(reader->arena, json_string_value(value));
  else
    wanted(reader, path, "a text", value);
}

static const char *all_names(const char *const *names, struct arena *arena) {
  const char *list = "";
  for (const char *const *name = names; *name; name++)
    if (**name)
      list = arena_printf(arena, "%s%s\"%s\"", list, *list ? " or " : "", *name);
  return list;
}

static void read_name(const struct reader *reader, const struct path *path, const json_t *value,
                      const char *const *names, unsigned *out) {
  const char *text = json_string_value(value);
  for (unsigned i = 0; text && *text && names[i]; i++)
    if (!strcmp(text, names[i])) {
      *out = i;
      return;
    }
  wanted(reader, path, all_names(names, reader->arena), value);
}

static void read_field(const struct reader *reader, const struct path *path, const json_t *value,
                       const struct field *field, char *base) {
  void *at = base + field->offset;
  double number = 0;
  switch (field->kind) {
  case FIELD_TEXT: read_text(reader, path, value, at); break;
  case FIELD_MAYBE:
    *(double *)at = NAN;
    if (json_is_null(value))
      break;
    read_number(reader, path, value, field->low, field->high, at);
    break;
  case FIELD_REAL: read_number(reader, path, value, field->low, field->high, at); break;
  case FIELD_INT:
    if (read_whole(reader, path, value, field, &number))
      *(int *)at = (int)number;
    break;
  case FIELD_COUNT:
    if (read_whole(reader, path, value, field, &number))
      *(uint64_t *)at = (uint64_t)json_integer_value(value);
    break;
  case FIELD_BOOL:
    *(bool *)at = json_is_true(value);
    if (!json_is_boolean(value))
      wanted(reader, path, "true or false", value);
    break;
  case FIELD_CONSTANT: break; // checked in check_outer
  case FIELD_NAME: read_name(reader, path, value, field->names, at); break;
  case FIELD_REALS:
  case FIELD_MAYBES: read_reals(reader, path, value, field, base); break;
  case FIELD_OBJECT: read_object(reader, path, value, field->fields, at); break;
  case FIELD_LIST: read_list(reader, path, value, field, base); break;
  }
}

static void leave_unknown(const struct field *field, char *base) {
  void *at = base + field->offset;
  switch (field->kind) {
  case FIELD_TEXT: *(const char **)at = ""; break;
  case FIELD_REAL:
  case FIELD_MAYBE: *(double *)at = NAN; break;
  case FIELD_OBJECT: record_leave_unknown(field->fields, at); break;
  default: break; // zero, as every record starts
  }
}

void record_leave_unknown(const struct field *fields, void *base) {
  for (const struct field *field = fields; field->name; field++)
    leave_unknown(field, base);
}

static bool is_outer(const struct path *path, const char *name) {
  for (size_t i = 0; !path && i < sizeof outer_names / sizeof outer_names[0]; i++)
    if (!strcmp(outer_names[i], name))
      return true;
  return false;
}

static void refuse_unknown(const struct reader *reader, const struct path *path,
                           const json_t *object, const struct field *fields) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    const struct field *field = fields;
    while (field->name && strcmp(field->name, name) != 0)
      field++;
    const bool known = field->name && field->since <= reader->schema;
    if (!known && !is_outer(path, name))
      diagnostics_error(reader->diagnostics, reader->place, "%s: records have no such field",
                        path_text(reader, &(struct path){path, name, 0}));
  }
}

static void read_object(const struct reader *reader, const struct path *path, const json_t *object,
                        const struct field *fields, char *base) {
  if (!json_is_object(object)) {
    wanted(reader, path, "an object", object);
    return;
  }
  size_t found = path ? 0 : sizeof outer_names / sizeof outer_names[0];
  for (const struct field *field = fields; field->name; field++) {
    if (field->since > reader->schema) {
      leave_unknown(field, base);
      continue;
    }
    const struct path at = {path, field->name, 0};
    const json_t *value = json_object_get(object, field->name);
    found += value != NULL;
    if (value)
      read_field(reader, &at, value, field, base);
    else
      diagnostics_error(reader->diagnostics, reader->place, "%s: this field is missing",
                        path_text(reader, &at));
  }
  if (json_object_size(object) != found)
    refuse_unknown(reader, path, object, fields);
}

// The field that distinguishes the object from one of this form; NULL: none.
static const struct field *wrong_constant(const struct field *fields, const json_t *object) {
  for (const struct field *field = fields; field->name; field++) {
    const char *text = json_string_value(json_object_get(object, field->name));
    if (field->kind == FIELD_CONSTANT && !(text && !strcmp(text, field->names[0])))
      return field;
  }
  return NULL;
}

bool record_is(const struct record_form *form, const json_t *object) {
  return !wrong_constant(form->fields, object);
}

static int check_constants(const struct reader *reader, const struct field *fields,
                           const json_t *object) {
  const struct field *wrong = wrong_constant(fields, object);
  if (!wrong)
    return 0;
  diagnostics_error(reader->diagnostics, reader->place, "%s: expected \"%s\"", wrong->name,
                    wrong->names[0]);
  return -1;
}

static int check_schema(struct reader *reader, const struct record_form *form,
                        const json_t *object) {
  const json_t *schema = json_object_get(object, "schema");
  if (!json_is_object(object) || !json_is_integer(schema)) {
    diagnostics_error(reader->diagnostics, reader->place,
                      "expected a %s, found no \"schema\" number: 'pertoken import' makes a "
                      "record of another program's result",
                      form->noun);
    return -1;
  }
  const json_int_t found = json_integer_value(schema);
  if (found < form->oldest || found > form->newest) {
    const char *range = form->oldest == form->newest
                            ? arena_printf(reader->arena, "%d", form->newest)
                            : arena_printf(reader->arena, "%d to %d", form->oldest, form->newest);
    diagnostics_error(reader->diagnostics, reader->place,
                      "a record of schema %" JSON_INTEGER_FORMAT
                      ", this version reads %s: use the version that wrote it, or a newer one",
                      found, range);
    return -1;
  }
  reader->schema = (int)found;
  return 0;
}

static bool is_digest_of(const struct reader *reader, const json_t *object, const char *digest) {
  if (!strcmp(digest, record_digest_of_text(reader->place.source, reader->arena)))
    return true;
  const char *expected = record_digest(object, reader->arena);
  return expected && !strcmp(digest, expected);
}

// Schema, digest and constants, in this order: each is meaningless if the one before it has failed.
static int check_outer(struct reader *reader, const struct record_form *form,
                       const json_t *object) {
  if (check_schema(reader, form, object))
    return -1;
  const char *digest = json_string_value(json_object_get(object, "digest"));
  if (digest && is_digest_of(reader, object, digest))
    return check_constants(reader, form->fields, object);
  diagnostics_error(reader->diagnostics, reader->place,
                    digest ? "the record was changed after it was written: its digest does not "
                             "match its content"
                           : "the record has no digest, so it was not written by pertoken");
  return -1;
}

int record_of_json(const struct record_form *form, const json_t *object,
                   const struct source *source, void *record, const char **digest,
                   struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct reader reader = {arena, diagnostics, {source, 0, 0}, 0};
  if (check_outer(&reader, form, object))
    return -1;
  read_object(&reader, NULL, object, form->fields, record);
  *digest = arena_copy(arena, json_string_value(json_object_get(object, "digest")));
  return diagnostics->errors > errors ? -1 : 0;
}
