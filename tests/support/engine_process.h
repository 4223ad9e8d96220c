// engine_process: the stand-in for an inference server (tests/stand_ins/engine), as a process that
// ends with the test, whatever happens to it.
#ifndef PERTOKEN_TESTS_SUPPORT_ENGINE_PROCESS_H
#define PERTOKEN_TESTS_SUPPORT_ENGINE_PROCESS_H

#include <sys/types.h>

struct engine_process {
  pid_t id;
  int port; // on 127.0.0.1
};

// The one that was built beside the test program. Fails the test if it does not start.
struct engine_process engine_process_start(void);
void engine_process_end(const struct engine_process *engine);

#endif
