#include "tests/stand_ins/engine/timers.h"

#include <stdlib.h>

static void put(struct timers *timers, size_t place, struct timed *timed) {
  timers->heap[place] = timed;
  timed->place = place;
}

static void rise(struct timers *timers, struct timed *timed) {
  size_t place = timed->place;
  for (; place > 1 && timers->heap[place / 2]->due_s > timed->due_s; place /= 2)
    put(timers, place, timers->heap[place / 2]);
  put(timers, place, timed);
}

static void sink(struct timers *timers, struct timed *timed) {
  size_t place = timed->place, child;
  for (; (child = 2 * place) <= timers->count; place = child) {
    if (child < timers->count && timers->heap[child + 1]->due_s < timers->heap[child]->due_s)
      child++;
    if (timers->heap[child]->due_s >= timed->due_s)
      break;
    put(timers, place, timers->heap[child]);
  }
  put(timers, place, timed);
}

void timers_set(struct timers *timers, struct timed *timed, double due_s) {
  timed->due_s = due_s;
  if (timed->place == 0) {
    if (timers->count + 2 > timers->room) {
      timers->room = timers->room ? 2 * timers->room : 1024;
      timers->heap = realloc(timers->heap, timers->room * sizeof(struct timed *));
    }
    put(timers, ++timers->count, timed);
  }
  rise(timers, timed);
  sink(timers, timed);
}

void timers_drop(struct timers *timers, struct timed *timed) {
  if (timed->place == 0)
    return;
  struct timed *last = timers->heap[timers->count--];
  if (last != timed) {
    put(timers, timed->place, last);
    rise(timers, last);
    sink(timers, last);
  }
  timed->place = 0;
}

struct timed *timers_first(const struct timers *timers) {
  return timers->count ? timers->heap[1] : NULL;
}
