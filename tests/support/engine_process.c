#include "tests/support/engine_process.h"

#include "tests/support/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct engine_process engine_process_start(void) {
  struct engine_process started = {0};
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - sizeof "engine");
  assert_true(size > 0);
  path[size] = '\0';
  strcpy(strrchr(path, '/') + 1, "engine");
  int out[2];
  assert_int_equal(pipe(out), 0);
  started.id = fork();
  if (started.id == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // so that it does not outlive a failing test
    dup2(out[1], STDOUT_FILENO);
    execl(path, path, (char *)NULL);
    _exit(127);
  }
  close(out[1]);
  FILE *told = fdopen(out[0], "r");
  assert_int_equal(fscanf(told, "%d", &started.port), 1);
  fclose(told);
  return started;
}

void engine_process_end(const struct engine_process *engine) {
  kill(engine->id, SIGTERM);
  waitpid(engine->id, NULL, 0);
}
