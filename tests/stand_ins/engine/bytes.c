#include "tests/stand_ins/engine/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bytes_add(struct bytes *bytes, const char *text, size_t size) {
  while (bytes->size + size + 1 > bytes->room)
    bytes->text = realloc(bytes->text, bytes->room = bytes->room ? 2 * bytes->room : 1024);
  memcpy(bytes->text + bytes->size, text, size);
  bytes->size += size;
  bytes->text[bytes->size] = '\0';
}

void bytes_print(struct bytes *bytes, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bytes_add(bytes, text, size < (int)sizeof text ? (size_t)size : sizeof text - 1);
}

void bytes_drop(struct bytes *bytes, size_t size) {
  bytes->size -= size;
  memmove(bytes->text, bytes->text + size, bytes->size + 1);
}
