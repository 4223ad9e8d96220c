#include "kernels/gpu/host/crew.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct member {
  struct crew *crew;
  int number;
  pthread_t thread;
  bool busy;
  enum decode_status status;
  char words[512];
};

struct crew {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const char *(*words)(void);
  crew_job *job;
  void *argument;
  unsigned round; // of jobs
  bool over;
  int count, busy, first_failed;
  struct member members[];
};

static void finish(struct member *member, enum decode_status status) {
  struct crew *crew = member->crew;
  member->status = status;
  if (status != DECODE_OK)
    snprintf(member->words, sizeof member->words, "%s", crew->words());
  pthread_mutex_lock(&crew->mutex);
  member->busy = false;
  crew->busy--;
  if (status != DECODE_OK && crew->first_failed < 0)
    crew->first_failed = member->number;
  pthread_cond_broadcast(&crew->changed);
  pthread_mutex_unlock(&crew->mutex);
}

static void *work(void *argument) {
  struct member *member = argument;
  struct crew *crew = member->crew;
  for (unsigned round = 1;; round++) {
    pthread_mutex_lock(&crew->mutex);
    while (crew->round < round && !crew->over)
      pthread_cond_wait(&crew->changed, &crew->mutex);
    const bool over = crew->round < round;
    pthread_mutex_unlock(&crew->mutex);
    if (over)
      return NULL;
    finish(member, crew->job(crew->argument, member->number));
  }
}

static void dismiss(struct crew *crew) {
  pthread_mutex_lock(&crew->mutex);
  crew->over = true;
  pthread_cond_broadcast(&crew->changed);
  pthread_mutex_unlock(&crew->mutex);
  for (int i = 0; i < crew->count; i++)
    pthread_join(crew->members[i].thread, NULL);
  pthread_cond_destroy(&crew->changed);
  pthread_mutex_destroy(&crew->mutex);
  free(crew);
}

struct crew *crew_make(int count, const char *(*words)(void)) {
  struct crew *crew = calloc(1, sizeof *crew + (size_t)count * sizeof *crew->members);
  if (!crew)
    return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&crew->mutex, NULL);
  pthread_cond_init(&crew->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  crew->words = words;
  crew->first_failed = -1;
  for (; crew->count < count; crew->count++) {
    struct member *member = &crew->members[crew->count];
    member->crew = crew;
    member->number = crew->count;
    if (pthread_create(&member->thread, NULL, work, member)) {
      dismiss(crew);
      return NULL;
    }
  }
  return crew;
}

bool crew_free(struct crew *crew) {
  if (!crew)
    return true;
  if (crew_first_busy(crew) >= 0)
    return false;
  dismiss(crew);
  return true;
}

void crew_start(struct crew *crew, crew_job *job, void *argument) {
  pthread_mutex_lock(&crew->mutex);
  crew->job = job;
  crew->argument = argument;
  crew->busy = crew->count;
  crew->first_failed = -1;
  for (int i = 0; i < crew->count; i++) {
    crew->members[i].busy = true;
    crew->members[i].status = DECODE_OK;
  }
  crew->round++;
  pthread_cond_broadcast(&crew->changed);
  pthread_mutex_unlock(&crew->mutex);
}

static struct timespec later(double seconds) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const double whole = floor(seconds);
  time.tv_sec += (time_t)whole;
  time.tv_nsec += (long)(1e9 * (seconds - whole));
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

static enum crew_state state_of(const struct crew *crew) {
  if (crew->busy == 0)
    return CREW_DONE;
  return crew->first_failed >= 0 ? CREW_WORSE : CREW_BUSY;
}

enum crew_state crew_wait(struct crew *crew, double seconds, int *done) {
  const struct timespec end = later(seconds);
  pthread_mutex_lock(&crew->mutex);
  const enum crew_state before = state_of(crew);
  enum crew_state now = before;
  while (now != CREW_DONE && now == before &&
         pthread_cond_timedwait(&crew->changed, &crew->mutex, &end) != ETIMEDOUT)
    now = state_of(crew);
  *done = crew->count - crew->busy;
  pthread_mutex_unlock(&crew->mutex);
  return now;
}

int crew_first_failed(const struct crew *crew) {
  return crew->first_failed;
}

enum decode_status crew_status(const struct crew *crew, int member) {
  return crew->members[member].status;
}

const char *crew_words(const struct crew *crew, int member) {
  return crew->members[member].words;
}

int crew_first_busy(struct crew *crew) {
  int busy = -1;
  pthread_mutex_lock(&crew->mutex);
  for (int i = crew->count - 1; i >= 0; i--)
    if (crew->members[i].busy)
      busy = i;
  pthread_mutex_unlock(&crew->mutex);
  return busy;
}
