#include "base/arena.h"

#include "base/memory.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
  struct arena_block *next;
  size_t size, used;
  alignas(max_align_t) unsigned char bytes[];
};

// The address sanitizer sees only whole blocks, so with it every piece is a block of its own.
#ifdef __SANITIZE_ADDRESS__
static const size_t block_size = 0;
#else
static const size_t block_size = 64 * 1024;
#endif

static struct arena_block *new_block(size_t size) {
  if (size > SIZE_MAX - sizeof(struct arena_block))
    memory_exhausted();
  struct arena_block *block = calloc(1, sizeof *block + size);
  if (block)
    block->size = size;
  else
    memory_exhausted();
  return block;
}

// A large piece goes behind the block in use, so that the room left in that block is not lost.
static struct arena_block *add_block(struct arena *arena, size_t size) {
  struct arena_block *block = new_block(size > block_size ? size : block_size);
  struct arena_block **link = &arena->blocks;
  if (size > block_size && *link)
    link = &(*link)->next;
  block->next = *link;
  *link = block;
  return block;
}

static size_t aligned(size_t offset) {
  const size_t alignment = alignof(max_align_t);
  return (offset + alignment - 1) / alignment * alignment;
}

void *arena_alloc(struct arena *arena, size_t size) {
  struct arena_block *block = arena->blocks;
  size_t offset = block ? aligned(block->used) : 0;
  if (!block || offset > block->size || size > block->size - offset) {
    block = add_block(arena, size);
    offset = 0;
  }
  block->used = offset + size;
  return block->bytes + offset;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size)
    memory_exhausted();
  return arena_alloc(arena, count * size);
}

void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t new_count,
                 size_t size) {
  assert(new_count >= old_count);
  void *grown = arena_array(arena, new_count, size);
  if (old_count)
    memcpy(grown, old, old_count * size);
  return grown;
}

void *arena_room(struct arena *arena, void *list, size_t count, size_t size) {
  if (count & (count - 1))
    return list;
  return arena_grow(arena, list, count, count ? 2 * count : 1, size);
}

char *arena_copy(struct arena *arena, const char *text) {
  return arena_copy_n(arena, text, strlen(text));
}

char *arena_copy_n(struct arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX)
    memory_exhausted();
  char *copy = arena_alloc(arena, length + 1);
  if (length)
    memcpy(copy, text, length);
  return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = arena_vprintf(arena, format, arguments);
  va_end(arguments);
  return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments) {
  char first[256]; // most texts fit, and are then formatted only once
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(first, sizeof first, format, arguments);
  if (length < 0)
    memory_exhausted();
  char *text = arena_alloc(arena, (size_t)length + 1);
  if ((size_t)length < sizeof first)
    memcpy(text, first, (size_t)length);
  else
    vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

void arena_free(struct arena *arena) {
  for (struct arena_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  arena->blocks = NULL;
}
