#include "model/delivery/fleet.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/delivery/fleet_spread.h"
#include "reports/answers/answer.h"
#include "reports/answers/fleet.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/workbook/fleet_book.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_workbook(const char *path) {
  const size_t length = path ? strlen(path) : 0, ending = strlen(".xlsx");
  return length > ending && !strcmp(path + length - ending, ".xlsx");
}

static int write_workbook(struct run *run, const struct answer *answer) {
  if (fleet_book_write(answer, run->options.output_path, run->arena, run->diagnostics))
    return -1;
  run->no = answer->no;
  if (!run->options.quiet)
    run_print_note(run, "wrote ", run->options.output_path);
  return 0;
}

int command_fleet(struct run *run) {
  const struct options *options = &run->options;
  double margin = FLEET_MARGIN;
  if (options->margin && run_read_share(run, "--margin", options->margin, &margin))
    return -1;
  if (!(margin > 0)) {
    diagnostics_error(run->diagnostics, (struct place){0}, "--margin must be above 0 %%, not %s",
                      options->margin);
    return -1;
  }
  const struct fleet *fleet = fleet_read(options->arguments, (size_t)options->argument_count,
                                         options->expect, run->arena, run->diagnostics);
  if (!fleet)
    return -1;
  const struct answer answer = fleet_answer(fleet, margin, run->arena);
  return is_workbook(options->output_path) ? write_workbook(run, &answer)
                                           : run_print_answer(run, NULL, answer);
}
