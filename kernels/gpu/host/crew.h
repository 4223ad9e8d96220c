// crew: one thread for each of several devices, all doing the same job at the same time.
#ifndef PERTOKEN_KERNELS_GPU_HOST_CREW_H
#define PERTOKEN_KERNELS_GPU_HOST_CREW_H

#include "kernels/decode.h"

#include <stdbool.h>

struct crew;

// Done once by every member, on its own thread, with the member's number.
typedef enum decode_status crew_job(void *argument, int member);

enum crew_state {
  CREW_BUSY,  // none has failed, some are not done
  CREW_WORSE, // one has failed, some are not done
  CREW_DONE   // all are done, some may have failed
};

// `words` is called on a member's thread to describe its failure. NULL without memory or threads.
struct crew *crew_make(int count, const char *(*words)(void));

// Ends the threads and frees the crew; NULL is allowed. While a member is still at its job, returns
// false and frees nothing: a thread cannot be interrupted while it waits.
bool crew_free(struct crew *crew);

// All members must have finished the previous job.
void crew_start(struct crew *crew, crew_job *job, void *argument);

// Waits until something changes, at most `seconds`. *done: how many members are done.
enum crew_state crew_wait(struct crew *crew, double seconds, int *done);

// Which member failed first in a job that has ended, or -1; and a member's status and words.
int crew_first_failed(const struct crew *crew);
enum decode_status crew_status(const struct crew *crew, int member);
const char *crew_words(const struct crew *crew, int member);

// The first member that is still at its job, or -1.
int crew_first_busy(struct crew *crew);

#endif
