// draw_options: what --draws, --seed, --method and --shard request of a simulation, and how it is
// stopped.
#ifndef PERTOKEN_REPORTS_COMMANDS_DRAW_OPTIONS_H
#define PERTOKEN_REPORTS_COMMANDS_DRAW_OPTIONS_H

#include "model/simulate/simulate.h"
#include "reports/commands/run.h"

#include <stdint.h>

// Fills in all but the scenario, with defaults for what is not given. Also sets up Ctrl-C and, on a
// terminal, a progress line: an interrupted simulation ends early. `draws`: the default. Returns 0,
// or -1 after errors.
int draw_options_read(const struct run *run, uint64_t draws, struct simulate_request *request);

// Was any of --draws, --seed and --method given?
bool draw_options_given(const struct run *run);

// The default of simulate and report; a workbook's simulation takes less than a quarter of a
// second.
enum { USUAL_DRAWS = 65536 };

#endif
