// fiber: a function that runs on a stack of its own, switched to and away from by hand: what a
// GPU's thread is in the emulator. Known to the address sanitizer where that is compiled in.
#ifndef PERTOKEN_FIBER_H
#define PERTOKEN_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fiber {
#if defined(__x86_64__)
  void *stack_pointer; // while suspended; its registers lie there
#else
  ucontext_t context;
#endif
  const void *stack; // the lowest address; NULL for what the host itself runs on
  size_t stack_bytes;
  void *fake_stack;       // the address sanitizer's
  struct fiber *previous; // for it, what was switched away from to this
};

// Gives a fiber its stack, with an unreadable page below. False without memory.
bool fiber_make(struct fiber *fiber);
void fiber_free(struct fiber *fiber);

// Makes the next switch to `fiber` begin `entry`, which may not return and calls fiber_entered
// first. Whatever the fiber was in the midst of is forgotten.
void fiber_begin(struct fiber *fiber, void (*entry)(void));
void fiber_entered(struct fiber *self);

// Suspends `from`, which is running, and goes on with `to`; `over`: `from` will not be resumed.
void fiber_switch(struct fiber *from, struct fiber *to, bool over);

#endif
