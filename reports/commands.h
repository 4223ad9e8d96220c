// commands: what each of pertoken's commands does with its command line.
//
// All return 0, or -1 after errors, which are in the run's diagnostics; `run.no` is set where the
// answer is no. What their arguments and options are, stands in main.c's table.
#ifndef PERTOKEN_COMMANDS_H
#define PERTOKEN_COMMANDS_H

#include "reports/run.h"

// command_scenario.c
int command_report(struct run *run);
int command_compare(struct run *run);
int command_finance(struct run *run);
int command_diff(struct run *run);
int command_explain(struct run *run);

// command_questions.c
int command_sensitivity(struct run *run);
int command_solve(struct run *run);

// command_simulate.c
int command_simulate(struct run *run);
int command_merge(struct run *run);

// command_page.c
int command_page(struct run *run);

// command_catalog.c
int command_catalog(struct run *run);

// command_fit.c
int command_fit(struct run *run);

// command_decide.c: the questions of reports/decisions.h, of which the command's name is one.
int command_decide(struct run *run);

// command_audit.c
int command_audit(struct run *run);

#endif
