// bytes: a buffer that grows at its end.
#ifndef PERTOKEN_TESTS_STAND_INS_ENGINE_BYTES_H
#define PERTOKEN_TESTS_STAND_INS_ENGINE_BYTES_H

#include <stddef.h>

// Empty if zeroed. A NUL that is not counted follows the bytes.
struct bytes {
  char *text;
  size_t size, room;
};

void bytes_add(struct bytes *bytes, const char *text, size_t size);
void bytes_print(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Drops the first `size`.
void bytes_drop(struct bytes *bytes, size_t size);

#endif
