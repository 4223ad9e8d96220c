#include "model/delivery/fleet.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/delivery/fleet_spread.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/print/output_name.h"
#include "reports/records/fleet.h"
#include "reports/results/fleet_book.h"

#include <stdbool.h>
#include <stddef.h>

int refuse_explained_workbook(struct run *run) {
  if (!run->options.explain || !output_name_is_workbook(run->options.output_path))
    return 0;
  diagnostics_error(
      run->diagnostics, nowhere,
      "a workbook has no explanations: omit --explain, or write a file other than '%s'",
      run->options.output_path);
  return -1;
}

int fleet_print(struct run *run, const struct answer *answer, const char *title,
                const char *sheet) {
  const bool is_workbook = output_name_is_workbook(run->options.output_path);
  if (refuse_explained_workbook(run))
    return -1;
  if (!is_workbook && !run->options.explain)
    return run_print_answer(run, NULL, *answer);
  if (!is_workbook && run_explain_answer(run, NULL, answer))
    return -1;
  if (is_workbook && fleet_book_write(answer, title, sheet, run->options.output_path, run->arena,
                                      run->diagnostics))
    return -1;
  run->no = answer->no;
  run->undecided = answer->undecided;
  if (is_workbook && !run->options.quiet)
    run_print_note(run, "wrote ", run->options.output_path);
  return 0;
}

int command_fleet(struct run *run) {
  const struct options *options = &run->options;
  double margin = FLEET_MARGIN;
  if (options->margin && run_read_share(run, "--margin", options->margin, &margin))
    return -1;
  if (!(margin > 0)) {
    diagnostics_error(run->diagnostics, nowhere, "--margin must be above 0 %%, not %s",
                      options->margin);
    return -1;
  }
  const struct fleet *fleet = fleet_read(options->arguments, (size_t)options->argument_count,
                                         options->expect, run->arena, run->diagnostics);
  if (!fleet)
    return -1;
  const struct answer answer = fleet_answer(fleet, margin, run->arena);
  return fleet_print(run, &answer, "A fleet of nodes", "Fleet");
}
