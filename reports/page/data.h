// data: what the script of a what-if page knows about its scenario, as JSON.
//
//   schema       1
//   program      "pertoken 0.1.0"
//   scenario     title, file (the path without folders), date, sha256, baseline (an option's
//                index), contender (another's: ranking_contender in the case to open with), last
//                (the last period), between (of options_between), stamp (of
//                scenario_lasting_stamp), arguments, ranges (the verdict over them in the case to
//                open with; "" for none)
//   settings     of --set, which an export must repeat: section, key, value
//   groups       name, label
//   items        in reading order: name, label, unit, factor (base units in one unit), kind
//                ("input", "scalar" or "series"), group (an index), role ("", "headline",
//                "category" or "check"); for inputs also integer, choices (name, value),
//                and fixed, why no target sets it (scenario_why_fixed), if so
//   graphs       formulas: the text of every computed item, by name
//   options      id, accelerator, graph (an index), rented, decode_only, serving_estimate,
//                workload; omissible: costs that it may leave out, each a notice and the inputs
//                that state it (model/scenario/reading/left_out.h); as in
//                model/scenario/ranking.h, what no input changes: bar ("", "upper bound" or
//                "unlike"), why (""), compared
//   cases        name, warnings, options, targets. An option: warnings; figures by input: value,
//                origin, section (if the file gives it), source, date, grade, part_of (the input
//                whose figure includes it, if one does), rent (the inputs of the rent that it is
//                part of, if it is). Cases other than the first have only the figures that differ
//                from it. A target, something to set: input, option (an index,
//                -1 for the common value), moves (indexes of options), low and high (limits, null:
//                none), swing (the ends of its range, if it has one) and together (the options
//                whose own input is the same quantity); uncertainty (uncertainty.h)
//   start        the case to open with, an index
//   grading      grades (strongest first), inputs (input, shown), swing, matters
//   ranking      met (the coverage from which the demand is served), nearly_met (the most that is
//                shown if it is not), and reasons why none is the cheapest: one (option only),
//                unlike, unmet
//   uncertainty  what is drawn after every change, and computed from the draws: uncertainty.h
//
// Values are in base units; texts are the scenario's own.
#ifndef PERTOKEN_REPORTS_PAGE_DATA_H
#define PERTOKEN_REPORTS_PAGE_DATA_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "reports/page/graphs.h"

#include <jansson.h>
#include <stddef.h>

// A scenario as the page shows it: `cases` are readings of the same file, each with the case of its
// index selected; the page opens with `start`.
struct page {
  const struct scenario *const *cases; // [cases[0]->case_count]
  size_t start;
  const char *arguments; // other command-line arguments, for readers of the export: "--mixed"
};

// NULL after an error.
json_t *page_data(const struct page *page, const struct page_graphs *graphs, struct arena *arena,
                  struct diagnostics *diagnostics);

#endif
