#include "probe/commands/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80 };

bool progress_is_seen(void) {
  return isatty(STDERR_FILENO);
}

void progress_clear(void) {
  if (progress_is_seen())
    fputs("\r\033[K", stderr);
}

void progress_print(const char *text) {
  struct winsize size;
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  progress_clear();
  fprintf(stderr, "%.*s", (known ? size.ws_col : USUAL_WIDTH) - 1, text);
  fflush(stderr);
}
