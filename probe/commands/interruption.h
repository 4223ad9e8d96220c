// interruption: the signal that asks this process to stop. Whatever takes long looks at the flag,
// and ends in order.
#ifndef PERTOKEN_PROBE_COMMANDS_INTERRUPTION_H
#define PERTOKEN_PROBE_COMMANDS_INTERRUPTION_H

#include <signal.h>
#include <stdbool.h>

// The signal's number; 0 until it came.
const volatile sig_atomic_t *interruption_flag(void);

// From now on the first Ctrl-C, SIGTERM or SIGHUP sets the flag, and says so unless `quiet`,
// instead of killing the process; the second kills it. A file that grows too large becomes an
// error, like a full disk.
void interruption_catch(bool quiet);

// Dies of the signal that was caught, if any, so that a calling script stops as well.
void interruption_pass_on(void);

#endif
