#include "kernels/gpu/plan/tuning.h"

#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A choice is a number up to `most` or, if `words` are given, the place of one of them, from 1.
static const struct tuning_choice {
  const char *name;
  size_t offset; // of an int in struct gpu_tuning
  int most;
  const char *words[4];
} choices[] = {
    {"matrix_splits", offsetof(struct gpu_tuning, matrix_splits), 8, {NULL}},
    {"attention_splits", offsetof(struct gpu_tuning, attention_splits), 128, {NULL}},
    {"library_count", offsetof(struct gpu_tuning, library_count), 2048, {NULL}},
    {"matrix", offsetof(struct gpu_tuning, matrix), 0, {"registers", "wgmma"}},
    {"wgmma_strips", offsetof(struct gpu_tuning, wgmma_strips), MAX_WGMMA_STRIPS, {NULL}},
    {"wgmma_beside", offsetof(struct gpu_tuning, wgmma_beside), MAX_WGMMA_BESIDE, {NULL}},
    {"wgmma_parts", offsetof(struct gpu_tuning, wgmma_parts), MAX_CLUSTER, {NULL}},
    {"stream_flying", offsetof(struct gpu_tuning, stream_flying), STREAM_MOST, {NULL}},
    {"step", offsetof(struct gpu_tuning, step), 0, {"graph", "launches", "streaming"}},
};
#define CHOICES (sizeof choices / sizeof choices[0])
#define WORDS   (sizeof choices[0].words / sizeof choices[0].words[0])

static bool is(const char *text, size_t length, const char *word) {
  return strlen(word) == length && strncmp(text, word, length) == 0;
}

// 0 if it is not one of them.
static int value_of(const struct tuning_choice *choice, const char *text, size_t length) {
  for (size_t i = 0; i < WORDS && choice->words[i]; i++)
    if (is(text, length, choice->words[i]))
      return (int)i + 1;
  char *end;
  const long value = strtol(text, &end, 10);
  return end == text + length && value >= 1 && value <= choice->most ? (int)value : 0;
}

// False, with *why; `choice` is NULL if the name is unknown.
static bool refuse(const struct tuning_choice *choice, const char *text, size_t length, char *why,
                   size_t why_size) {
  char known[160];
  size_t used = 0;
  const char *const *words = choice && choice->words[0] ? choice->words : NULL;
  for (size_t i = 0; i < (words ? WORDS : CHOICES) && used < sizeof known; i++) {
    const char *name = words ? words[i] : choices[i].name;
    if (name)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", name);
  }
  if (choice && !words)
    snprintf(known, sizeof known, "1 to %d", choice->most);
  snprintf(why, why_size, "unknown %s '%.*s'; known: %s", choice ? choice->name : "choice",
           (int)length, text, known);
  return false;
}

static bool read_one(const char *text, size_t length, struct gpu_tuning *out, char *why,
                     size_t why_size) {
  const char *equals = memchr(text, '=', length);
  const size_t name_length = equals ? (size_t)(equals - text) : length;
  const struct tuning_choice *choice = NULL;
  for (size_t i = 0; i < CHOICES && equals; i++)
    if (is(text, name_length, choices[i].name))
      choice = &choices[i];
  if (!choice)
    return refuse(NULL, text, length, why, why_size);
  const char *value = equals + 1;
  const size_t value_length = length - name_length - 1;
  const int number = value_of(choice, value, value_length);
  if (number == 0)
    return refuse(choice, value, value_length, why, why_size);
  *(int *)(void *)((char *)out + choice->offset) = number;
  return true;
}

bool gpu_tuning_read(const char *text, struct gpu_tuning *out, char *why, size_t why_size) {
  *out = (struct gpu_tuning){0};
  while (text && *(text += strspn(text, " \t\n")) != '\0') {
    const size_t length = strcspn(text, " \t\n");
    if (!read_one(text, length, out, why, why_size))
      return false;
    text += length;
  }
  return true;
}

void gpu_tuning_write(const struct gpu_tuning *tuning, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < CHOICES; i++) {
    const struct tuning_choice *choice = &choices[i];
    const int value = *(const int *)(const void *)((const char *)tuning + choice->offset);
    if (value == 0 || used >= size)
      continue;
    const char *space = used > 0 ? " " : "";
    const int more = choice->words[0]
                         ? snprintf(out + used, size - used, "%s%s=%s", space, choice->name,
                                    choice->words[value - 1])
                         : snprintf(out + used, size - used, "%s%s=%d", space, choice->name, value);
    used += more > 0 ? (size_t)more : 0;
  }
}
