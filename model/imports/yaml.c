#include "model/imports/yaml.h"

#include "base/csv.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <yaml.h>

struct yaml_reading {
  const struct source *source;
  struct arena *arena;
  struct diagnostics *diagnostics;
  yaml_parser_t parser;
  bool failed;
};

// Lines end with LF or CRLF here; a lone CR and others end them only in YAML. A mark counts
// characters.
static struct place place_of(const struct source *source, yaml_mark_t mark) {
  size_t offset = 0;
  for (size_t i = 0; i < mark.index && offset < source->size; i++)
    do
      offset++;
    while (((unsigned char)source->text[offset] & 0xc0) == 0x80);
  return source_place(source, offset);
}

static json_t *refuse(struct yaml_reading *reading, yaml_mark_t mark, const char *why) {
  if (!reading->failed)
    diagnostics_error(reading->diagnostics, place_of(reading->source, mark), "%s", why);
  reading->failed = true;
  return NULL;
}

static bool next_event(struct yaml_reading *reading, yaml_event_t *event) {
  if (yaml_parser_parse(&reading->parser, event))
    return true;
  const char *problem = reading->parser.problem ? reading->parser.problem : "cannot be read";
  *event = (yaml_event_t){0};
  refuse(reading, reading->parser.problem_mark,
         arena_printf(reading->arena, "not complete YAML: %s", problem));
  return false;
}

static json_t *scalar_value(const yaml_event_t *event) {
  static const struct {
    const char *text;
    json_t *(*value)(void);
  } words[] = {{"", json_null},
               {"~", json_null},
               {"null", json_null},
               {"true", json_true},
               {"false", json_false}};
  const char *text = (const char *)event->data.scalar.value;
  double number;
  if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
      if (!strcmp(text, words[i].text))
        return words[i].value();
    if (csv_number(text, &number))
      return json_real(number);
  }
  return json_string(text);
}

static json_t *value_of(struct yaml_reading *reading, const yaml_event_t *event, int depth);

static json_t *list_value(struct yaml_reading *reading, int depth) {
  json_t *list = json_array();
  for (yaml_event_t event; next_event(reading, &event); yaml_event_delete(&event)) {
    if (event.type == YAML_SEQUENCE_END_EVENT) {
      yaml_event_delete(&event);
      return list;
    }
    json_t *value = value_of(reading, &event, depth);
    if (!value || json_array_append_new(list, value)) {
      yaml_event_delete(&event);
      break;
    }
  }
  json_decref(list);
  return NULL;
}

// Reads the value after a key into the object.
static bool set_value(struct yaml_reading *reading, json_t *object, const yaml_event_t *key,
                      int depth) {
  yaml_event_t event;
  if (key->type != YAML_SCALAR_EVENT)
    return refuse(reading, key->start_mark, "expected a text as key");
  const char *name = (const char *)key->data.scalar.value;
  if (json_object_get(object, name))
    return refuse(reading, key->start_mark,
                  arena_printf(reading->arena, "key '%s' is repeated here", name));
  if (!next_event(reading, &event))
    return false;
  json_t *value = value_of(reading, &event, depth);
  yaml_event_delete(&event);
  return value && json_object_set_new(object, name, value) == 0;
}

static json_t *mapping_value(struct yaml_reading *reading, int depth) {
  json_t *object = json_object();
  for (yaml_event_t event; next_event(reading, &event); yaml_event_delete(&event)) {
    if (event.type == YAML_MAPPING_END_EVENT) {
      yaml_event_delete(&event);
      return object;
    }
    if (!set_value(reading, object, &event, depth)) {
      yaml_event_delete(&event);
      break;
    }
  }
  json_decref(object);
  return NULL;
}

static json_t *value_of(struct yaml_reading *reading, const yaml_event_t *event, int depth) {
  if (depth > MAX_YAML_DEPTH)
    return refuse(reading, event->start_mark, "nested too deep");
  switch (event->type) {
  case YAML_SCALAR_EVENT: return scalar_value(event);
  case YAML_SEQUENCE_START_EVENT: return list_value(reading, depth + 1);
  case YAML_MAPPING_START_EVENT: return mapping_value(reading, depth + 1);
  case YAML_ALIAS_EVENT: return refuse(reading, event->start_mark, "aliases are not supported");
  default: return refuse(reading, event->start_mark, "expected a value");
  }
}

// Skips the starts of stream and document.
static json_t *first_document(struct yaml_reading *reading) {
  json_t *value = NULL;
  for (yaml_event_t event; !value && next_event(reading, &event); yaml_event_delete(&event)) {
    if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT)
      continue;
    value = value_of(reading, &event, 0);
    if (!value) {
      yaml_event_delete(&event);
      return NULL;
    }
  }
  return value;
}

json_t *yaml_read(const struct source *source, struct arena *arena,
                  struct diagnostics *diagnostics) {
  struct yaml_reading reading = {.source = source, .arena = arena, .diagnostics = diagnostics};
  if (!yaml_parser_initialize(&reading.parser))
    return refuse(&reading, (yaml_mark_t){0}, "out of memory while reading YAML");
  yaml_parser_set_input_string(&reading.parser, (const unsigned char *)source->text, source->size);
  json_t *value = first_document(&reading);
  yaml_parser_delete(&reading.parser);
  return value;
}
