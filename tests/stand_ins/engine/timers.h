// timers: what is due next, as a binary heap.
#ifndef PERTOKEN_TESTS_STAND_INS_ENGINE_TIMERS_H
#define PERTOKEN_TESTS_STAND_INS_ENGINE_TIMERS_H

#include <stddef.h>

// Member of things that are due. `place` is the heap's; 0: not in it.
struct timed {
  double due_s;
  size_t place;
};

struct timers {
  struct timed **heap; // [count + 1], from 1
  size_t count, room;
};

void timers_set(struct timers *timers, struct timed *timed, double due_s);
void timers_drop(struct timers *timers, struct timed *timed);

// The next thing that is due; NULL: none.
struct timed *timers_first(const struct timers *timers);

#endif
