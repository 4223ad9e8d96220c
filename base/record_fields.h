// record_fields: how a table for base/record.h declares its fields: of struct s, each named like
// its member.
//
// Only for files that define such a table: the names are short.
#ifndef PERTOKEN_BASE_RECORD_FIELDS_H
#define PERTOKEN_BASE_RECORD_FIELDS_H

#include <limits.h>
#include <stddef.h>

// The upper limit of a number that has none: far above any figure, and finite. A count's, 9.3e18,
// is above INT64_MAX, the largest whole number that a record holds.
#define ENDLESS 1e300

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names, texts and numbers
#define FIELD_OF(s, member, ...)                                                                   \
  { .name = #member, .offset = offsetof(struct s, member), __VA_ARGS__ }
#define TEXT(s, member)               FIELD_OF(s, member, .kind = FIELD_TEXT)
#define TEXT_SINCE(s, member, schema) FIELD_OF(s, member, .kind = FIELD_TEXT, .since = schema)
#define CONSTANT(key, texts)                                                                       \
  { .name = key, .kind = FIELD_CONSTANT, .names = texts }
#define REAL(s, member, least)                                                                     \
  FIELD_OF(s, member, .kind = FIELD_REAL, .low = least, .high = ENDLESS)
#define MAYBE(s, member, least)                                                                    \
  FIELD_OF(s, member, .kind = FIELD_MAYBE, .low = least, .high = ENDLESS)
#define MAYBE_SINCE(s, member, least, schema)                                                      \
  FIELD_OF(s, member, .kind = FIELD_MAYBE, .low = least, .high = ENDLESS, .since = schema)
#define INT(s, member, least) FIELD_OF(s, member, .kind = FIELD_INT, .low = least, .high = INT_MAX)
#define COUNT(s, member)      FIELD_OF(s, member, .kind = FIELD_COUNT, .high = 9.3e18)
#define COUNT_SINCE(s, member, schema)                                                             \
  FIELD_OF(s, member, .kind = FIELD_COUNT, .high = 9.3e18, .since = schema)
#define BOOL(s, member)               FIELD_OF(s, member, .kind = FIELD_BOOL)
#define BOOL_SINCE(s, member, schema) FIELD_OF(s, member, .kind = FIELD_BOOL, .since = schema)
#define NAME(s, member, texts)        FIELD_OF(s, member, .kind = FIELD_NAME, .names = texts)
#define REALS(s, member, count)                                                                    \
  FIELD_OF(s, member, .kind = FIELD_REALS, .high = ENDLESS,                                        \
           .count_offset = offsetof(struct s, count))
#define REALS_SINCE(s, member, count, schema)                                                      \
  FIELD_OF(s, member, .kind = FIELD_REALS, .high = ENDLESS, .since = schema,                       \
           .count_offset = offsetof(struct s, count))
#define MAYBES(s, member, count)                                                                   \
  FIELD_OF(s, member, .kind = FIELD_MAYBES, .high = ENDLESS,                                       \
           .count_offset = offsetof(struct s, count))
#define OBJECT(s, member, table) FIELD_OF(s, member, .kind = FIELD_OBJECT, .fields = table)
#define OBJECT_SINCE(s, member, table, schema)                                                     \
  FIELD_OF(s, member, .kind = FIELD_OBJECT, .fields = table, .since = schema)
#define LIST(s, member, count, type, table)                                                        \
  FIELD_OF(s, member, .kind = FIELD_LIST, .count_offset = offsetof(struct s, count),               \
           .size = sizeof(struct type), .fields = table)
#define LIST_SINCE(s, member, count, type, table, schema)                                          \
  FIELD_OF(s, member, .kind = FIELD_LIST, .count_offset = offsetof(struct s, count),               \
           .size = sizeof(struct type), .fields = table, .since = schema)
#define END                                                                                        \
  { .name = NULL }
// NOLINTEND(bugprone-macro-parentheses)

#endif
