// draw_options: what --draws, --seed, --method and --shard ask of a simulation, and how it stops.
#ifndef PERTOKEN_REPORTS_COMMANDS_DRAW_OPTIONS_H
#define PERTOKEN_REPORTS_COMMANDS_DRAW_OPTIONS_H

#include "model/simulate/simulate.h"
#include "reports/commands/run.h"

#include <stdint.h>

// Fills in all but the scenario; what is not given has its default. Ctrl-C, and a progress line on
// a terminal, are set up too: a simulation that is interrupted ends early. `draws`: the default.
// Returns 0, or -1 after errors.
int draw_options_read(const struct run *run, uint64_t draws, struct simulate_request *request);

// Was any of --draws, --seed and --method given?
bool draw_options_given(const struct run *run);

// Of simulate and report; a workbook with a simulation takes less than a quarter of a second.
enum { USUAL_DRAWS = 65536 };

#endif
