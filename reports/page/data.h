// data: what the script of a what-if page knows about its scenario, as JSON.
//
// page: program, scenario, settings, groups, items (in reading order), graphs, options, cases,
//   start (the case to open with, an index), grading, ranking, uncertainty (what is drawn after
//   every change, and computed from the draws: uncertainty.h)
// scenario: title, file (the path without folders), date, currency, sha256, baseline (an option's
//   index), contender (another's: ranking_contender in the case to open with), last (the last
//   period), begins (of each operating period, in words), between (of options_between), stamp (of
//   scenario_lasting_stamp), arguments
// settings[]: section, key, value (what of --set an export must repeat: choices, and whole lists)
// groups[]: name, label
// items[]: name, label, unit, factor (base units in one unit), kind (input, scalar or series),
//   group (an index), role (headline, category, check or blank), none_below (the item below zero
//   where this one is absent), none_without (the one not above zero where it is), none (what is
//   shown in its place), integer (this and the following for inputs only), property, choices, key
//   (its name in a scenario file), fixed (why no target sets it, if so: scenario_why_fixed),
//   spreads (if a common value would give it to options that lack it: target_would_spread),
//   needed_with, idle_without (as in model/cost/model.h), year_of (the input in whose list it is a
//   value), by (how its values follow one another: "by year", "every 6 month" or "by age"), from
//   (when it holds)
// items[].choices[]: name, value
// graphs[]: formulas (the text of every computed item, by name)
// options[]: id, label, accelerator, graph (an index), lent (inputs borrowed from another option),
//   decode_only, serving_estimate, omissible (costs that it may leave out), why (this and the
//   following as no input changes them, model/scenario/ranking.h), compared
// options[].omissible[]: notice, inputs (that state the cost), priced (that state what it is the
//   price of), sum (the input of a sum paid instead, or blank), scale (the input that is their
//   factor, or blank; model/scenario/resolution/left_out.h)
// cases[]: name, label, warnings, options, targets, uncertainty (uncertainty.h)
// cases[].options[]: warnings, figures (by input; cases other than the first have only those that
//   differ from it)
// cases[].options[].figures{}: value, origin, section (if the file gives it), source, date, grade,
//   part_of (the input whose figure includes it, if one does), rent (the inputs of the rent that it
//   is part of, if it is)
// cases[].targets[]: input (something to set), option (an index, -1 for the common value), moves
//   (indexes of options), inputs (its input and what follows it in a list that has ended), low,
//   high (limits, null: none), most (by the datasheet, null: any), swing (the ends of its range, if
//   it has one), together (the options whose own input is the same quantity)
// grading: grades (strongest first), inputs, swing, matters (model/scenario/resolution/grading.h)
// grading.inputs[]: input, shown (as throughput, power or price, if it is), years (the inputs of
//   the list that it scales)
// ranking: amounts, asked (of ranking_asked), one (a reason why none is the cheapest, as are the
//   following: the only option), unlike, unmet
// ranking.amounts[]: item, at_most, limit, shown, before, after, beside, beside_words (of struct
//   ranking_amount)
//
// Values are in base units; texts are the scenario's own. check_page_data compares these keys with
// those that are written.
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
