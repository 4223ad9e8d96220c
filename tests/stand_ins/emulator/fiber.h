// fiber: a function with a stack of its own, switched to and from explicitly: a GPU thread in the
// emulator. Known to the address sanitizer if that is compiled in.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_FIBER_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fiber {
#if defined(__x86_64__)
  void *stack_pointer; // while suspended; its registers are stored there
#else
  ucontext_t context;
#endif
  const void *stack; // the lowest address; NULL for the host's own stack
  size_t stack_bytes;
  void *fake_stack;       // the address sanitizer's
  struct fiber *previous; // for the sanitizer: what was switched away from
};

// Gives a fiber its stack, with an unreadable page below. False if memory runs out.
bool fiber_make(struct fiber *fiber);
void fiber_free(struct fiber *fiber);

// Makes the next switch to `fiber` start `entry`, which may not return and calls fiber_entered
// first. Whatever the fiber was doing is abandoned.
void fiber_begin(struct fiber *fiber, void (*entry)(void));
void fiber_entered(struct fiber *self);

// Suspends `from`, which is running, and continues `to`; `over`: `from` will not be resumed.
void fiber_switch(struct fiber *from, struct fiber *to, bool over);

#endif
