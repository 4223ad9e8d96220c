// commands: what each of pertoken's commands does with its command line.
//
// All return 0, or -1 after errors, which are in the run's diagnostics; `run.no` is set where the
// answer is no. What their arguments and options are, stands in main.c's table.
#ifndef PERTOKEN_REPORTS_COMMANDS_COMMANDS_H
#define PERTOKEN_REPORTS_COMMANDS_COMMANDS_H

#include "reports/commands/run.h"

// scenario.c: a scenario, or two, as they stand
int command_report(struct run *run);
int command_compare(struct run *run);
int command_finance(struct run *run);
int command_diff(struct run *run);
int command_explain(struct run *run);

// what_if.c: other values of inputs
int command_sensitivity(struct run *run);
int command_solve(struct run *run);

// simulate.c
int command_simulate(struct run *run);
int command_merge(struct run *run);

// page.c
int command_page(struct run *run);

// catalog.c
int command_catalog(struct run *run);

// fit.c
int command_fit(struct run *run);

// questions.c: the questions of reports/answers/questions.h, of which the command's name is one.
int command_question(struct run *run);
int command_served(struct run *run);

// audit.c
int command_audit(struct run *run);

// fleet.c
int command_fleet(struct run *run);

// import.c
int command_import(struct run *run);

// import_production.c: whether the first file is of a server's counters in use; and the record of all
// of them in that folder. Returns 0 or -1.
bool import_is_production(const struct run *run);
int import_production(struct run *run, const char *folder);

#endif
