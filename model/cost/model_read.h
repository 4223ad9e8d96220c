// model_read: the text of a cost model -> its declarations.
//
// Sections of the model's text, in reading order:
//
//   [group NAME]    label; view = yes (a view of finance, which faces show separately)
//   [input NAME]    label, unit, group (the one before's unless stated), and any of
//     default         a quantity, or a choice's name; else
//     required = yes  or
//     formula         with needs: how it is computed if it is not given
//     min, max, above limits, of which `above` is exclusive
//     integer = yes
//     property = yes  of the hardware, and no estimate: swings leave it out unless it has a range
//     choices         metered:1 included:0
//     scope = option  shown per option even if left at its default
//     in_rent = yes   does not apply to a rented option: counts as zero there
//     rent_default    its default in a rented option
//     conflicts       NAME that is never given together with it
//     instead_of      NAMES that are not given with it at one level; else the option level wins
//     unless          NAME: if that is given, it may be given beside those
//     needed_with     NAME: must be given if that is above zero
//     only_with       NAME: exists only if that is given; its default applies then, else it must be
//                     given too
//     idle_without    NAME: exists without it, but has no effect and may not be stated
//     when_varies     NAME: exists only if that follows the year in the formulas of an option; its
//                     default then counts as given
//     or_with         NAME: exists also if that is given
//     typed = yes     only the scenario's text gives it: usable.h
//     absent_with     NAME: if that is given, it is absent, and so is everything computed from it
//     given_as        NAME of a scenario key that stands for this input and for others with it
//     notice          TEXT that outputs list as not included if it is left out:
//                     model/scenario/resolution/left_out.h
//     family          WORD: exists if an input with the same word is given, and then counts as
//                     given too: each has a formula
//     rate_of         NAMES of the inputs that it changes from year to year; none is a list then
//     schedule        NAME: may be a list by year, from which NAME is then computed: the input
//                     itself, or a series in operating periods, whose highest value the input then
//                     is; a second NAME then equals that series, times a third in options that
//                     have it
//     ages            NAME AGE ...: may instead be a list by age, from 1; each NAME is its value at
//                     that AGE, 0 beyond the list
//                   [input NAME_1..N] is N inputs; # in their texts stands for the number
//     tiers           VALUE NUMBER HOW: may be "8 % from 100 gpu, 14 % from 500 gpu", which gives
//                     the inputs VALUE_1, NUMBER_1, VALUE_2, ... up to _4; HOW needs them
//   [item NAME]     a scalar:   label, unit, group, formula; needs, or_formula, or_needs,
//                   or_formula_2, or_needs_2, up to or_formula_7, or_needs_7;
//                     role = headline | category; varies = yes: per period if a formula is
//     absent_with     NAME: as for an input
//     times           NAME: in options that have it, each formula is multiplied by that item
//     of_those_present  yes: terms of its sum that an option lacks are left out
//     none_below      NAME: if that item is below zero, this one is absent, whatever its formula
//     none_without    NAME: the same where that item is not above zero
//     none            TEXT that faces show in its place
//   [series NAME]   per period: the same
//   [check NAME]    label, unit, formula; needs, or_formula, ...: a difference that must be zero
//
// `needs = A B | C` makes a formula apply only in options that give A and B, or C. Of formula,
// or_formula, and or_formula_2 to or_formula_7, the first that an option can use counts.
//
// USD in a model's text stands for the report's currency. If that is another one, the model also
// has the input exchange_rate, the item cost_per_mtok_usd and, for every input NAME of money, the
// input NAME_usd, from which NAME is then computed: NAME_usd / exchange_rate.
#ifndef PERTOKEN_MODEL_COST_MODEL_READ_H
#define PERTOKEN_MODEL_COST_MODEL_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"

#include <stdbool.h>
#include <stddef.h>

// The text of model/cost/tco.ini, embedded at build time.
extern const char model_default_text[];

// Reads a model's text, in the arena. NULL after errors. The model must then be passed to
// model_check.
struct model *model_read(const struct source *source, struct arena *arena,
                         struct diagnostics *diagnostics);

// The same for a report in a currency of currency_codes.
struct model *model_read_in(const struct source *source, const char *currency, struct arena *arena,
                            struct diagnostics *diagnostics);

// Has the formulas of an item multiplied by another item in the options that have the latter.
void model_multiply(const struct model *model, struct declaration *item, int factor);

#endif
