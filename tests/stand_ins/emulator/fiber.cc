#include "tests/stand_ins/emulator/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

enum : size_t { PAGE = 4096 };

// Stacks begin at different places within a page: otherwise those of all lanes would be in the same
// few sets of the processor's caches.
enum : size_t { COLORS = 31, LINES = 2 * 64 };

#if defined(__SANITIZE_ADDRESS__)
enum : size_t { STACK = 256 * 1024 }; // its frames are several times as large

void leave(struct fiber *from, struct fiber *to, bool over) {
  to->previous = from;
  __sanitizer_start_switch_fiber(over ? nullptr : &from->fake_stack, to->stack, to->stack_bytes);
}

void arrive(struct fiber *self) {
  __sanitizer_finish_switch_fiber(self->fake_stack, &self->previous->stack,
                                  &self->previous->stack_bytes);
}

// The lowest address in use of a suspended fiber's stack: functions below it have returned, and
// cleared their marks around their variables.
const void *lowest_in_use(const struct fiber *fiber) {
#if defined(__x86_64__)
  return fiber->stack_pointer ? fiber->stack_pointer : fiber->stack;
#else
  return fiber->stack;
#endif
}

void forget(const struct fiber *fiber) {
  const char *from = static_cast<const char *>(lowest_in_use(fiber));
  const char *end = static_cast<const char *>(fiber->stack) + fiber->stack_bytes;
  __asan_unpoison_memory_region(from, (size_t)(end - from));
}
#else
enum : size_t { STACK = 64 * 1024 };

void leave(struct fiber *, struct fiber *, bool) {}
void arrive(struct fiber *) {}
void forget(const struct fiber *) {}
#endif

} // namespace

bool fiber_make(struct fiber *fiber) {
  void *pages = mmap(nullptr, PAGE + STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    return false;
  }
  mprotect(pages, PAGE, PROT_NONE);
  static unsigned made;
  *fiber = {};
  fiber->stack = static_cast<char *>(pages) + PAGE;
  fiber->stack_bytes = STACK - made++ % COLORS * LINES;
  return true;
}

void fiber_free(struct fiber *fiber) {
  if (fiber->stack) {
    munmap(static_cast<char *>(const_cast<void *>(fiber->stack)) - PAGE, PAGE + STACK);
  }
  fiber->stack = nullptr;
}

void fiber_entered(struct fiber *self) {
  arrive(self);
}

#if defined(__x86_64__)

// Saves what a function must preserve (System V ABI, AMD64, table 3.4) on the stack it leaves, and
// restores it from the one it enters.
extern "C" void emulator_fiber_switch(void **save, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden emulator_fiber_switch\n"
        ".globl emulator_fiber_switch\n"
        ".type emulator_fiber_switch, @function\n"
        "emulator_fiber_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size emulator_fiber_switch, . - emulator_fiber_switch\n");

// Six saved registers, the return address, and an empty return address above it, so that the stack
// looks as after a call.
void fiber_begin(struct fiber *fiber, void (*entry)(void)) {
  forget(fiber);
  void **top =
      reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(fiber->stack) + fiber->stack_bytes);
  void **sp = top - 8;
  memset(sp, 0, 8 * sizeof *sp);
  sp[6] = reinterpret_cast<void *>(entry);
  fiber->stack_pointer = sp;
  fiber->fake_stack = nullptr;
}

void fiber_switch(struct fiber *from, struct fiber *to, bool over) {
  leave(from, to, over);
  emulator_fiber_switch(&from->stack_pointer, to->stack_pointer);
  arrive(from);
}

#else

void fiber_begin(struct fiber *fiber, void (*entry)(void)) {
  forget(fiber);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = const_cast<void *>(fiber->stack);
  fiber->context.uc_stack.ss_size = fiber->stack_bytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, entry, 0);
  fiber->fake_stack = nullptr;
}

void fiber_switch(struct fiber *from, struct fiber *to, bool over) {
  leave(from, to, over);
  swapcontext(&from->context, &to->context);
  arrive(from);
}

#endif
