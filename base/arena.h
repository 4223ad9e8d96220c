// arena: memory that lives as long as one run of a command.
//
// Everything a run builds (texts, graphs, scenarios, values) comes from one arena and is freed at
// once by arena_free; nothing is freed on its own. Memory comes zeroed and aligned for any type.
// Running out of memory ends the program with a message: no caller could do better, and no other
// function has to deal with it.
#ifndef PERTOKEN_BASE_ARENA_H
#define PERTOKEN_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
  struct arena_block *blocks;
};

// Allocates `size` bytes.
void *arena_alloc(struct arena *arena, size_t size);

// Allocates `count` zeroed elements of `size` bytes.
void *arena_array(struct arena *arena, size_t count, size_t size);

// A larger copy of `old`: new_count elements of `size` bytes, of which old_count (at most
// new_count) are copied and the rest zeroed. The old memory stays until arena_free.
void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t new_count,
                 size_t size);

// `list` [count] with room for one more element of `size` bytes: the list itself, or a zeroed copy
// with twice the room whenever `count` is a power of two. For lists that start as NULL and only
// grow through this function.
void *arena_room(struct arena *arena, void *list, size_t count, size_t size);

// Texts, each with a final NUL: a copy, a copy of the first `length` bytes, and printf's.
char *arena_copy(struct arena *arena, const char *text);
char *arena_copy_n(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments);

// Frees all of it; the arena is then empty and can be used again.
void arena_free(struct arena *arena);

#endif
