// commands: what each of pertoken's commands does with its command line.
//
// All return 0, or -1 after errors, which are in the run's diagnostics; `run.no` is set if the
// answer is no. Their arguments and options are in main.c's table.
#ifndef PERTOKEN_REPORTS_COMMANDS_COMMANDS_H
#define PERTOKEN_REPORTS_COMMANDS_COMMANDS_H

#include "reports/commands/run.h"
#include "reports/faces/answer.h"

// new.c: a new scenario
int command_new(struct run *run);

// scenario.c: a scenario, or two, unchanged
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
int catalog_refuse_table(struct run *run, const char *name); // reports the unknown table; -1

// catalog_add.c: a row of the user's own
int command_catalog_add(struct run *run);

// fit.c
int command_fit(struct run *run);

// questions.c: the questions of reports/answers/questions.h; the command's name is one of them.
int command_question(struct run *run);
int command_plan(struct run *run);
int command_served(struct run *run);

// audit.c
int command_audit(struct run *run);

// fleet.c
int command_fleet(struct run *run);

// Writes an answer about a fleet's nodes to -o: if that is an xlsx file, as a workbook whose first
// sheet is `sheet`. Returns 0 or -1.
int refuse_explained_workbook(struct run *run); // -1 after the error, else 0
int fleet_print(struct run *run, const struct answer *answer, const char *title, const char *sheet);

// accept.c
int command_accept(struct run *run);

// evidence.c
int command_evidence(struct run *run);

// import.c
int command_import(struct run *run);

// import_production.c: whether the first file holds a server's production counters; and the record
// of all such files in that folder. Returns 0 or -1.
bool import_is_production(const struct run *run);
int import_production(struct run *run, const char *folder);

#endif
