// model_read: the text of a cost model -> its declarations.
//
// Sections of the model's text, in reading order:
//
//   [group NAME]    label; view = yes (a view of finance, which faces show by itself)
//   [input NAME]    label, unit, group, and any of
//     default         a quantity, or a choice's name; else
//     required = yes  or
//     formula         with needs: computed where nobody gives it
//     min, max, above limits, of which `above` is exclusive
//     integer = yes
//     choices         metered:1 included:0
//     scope = option  shown per option even when left at its default
//     in_rent = yes   does not apply to a rented option: counts as zero there
//     rent_default    its default in a rented option
//     conflicts       NAME that is never given together with it
//     instead_of      NAMES that are not given with it at the same level; else the option level wins
//     unless          NAME: with that it may be given beside those
//     needed_with     NAME: must be given when that is above zero
//     only_with       NAME: there only where that is given; its default holds there, else it must be
//                     given too
//     when_varies     NAME: there only where that follows the year in the formulas of an option; its
//                     default then counts as given
//     or_with         NAME: there also where that is given
//     typed = yes     nothing gives it but the scenario's text: usable.h
//     absent_with     NAME: not there where that is given, nor is what is computed from it
//     given_as        NAME of a key of scenarios that stands for the input, and for others of the same
//     notice          TEXT that is said when it stays at zero
//     family          WORD: there where one of that word is given, and then counts as given, too: each
//                     has a formula
//     rate_of         NAMES of the inputs that it changes from year to year, of which none is a list then
//     schedule        NAME: may be a list by year, by which NAME is computed then: the input itself,
//                     or a series in operating periods, the highest of which the input is then; a
//                     second NAME is that series then
//     ages            NAME AGE ...: may be a list by age instead, from 1; each NAME is its value at that AGE,
//                     0 beyond the list
//                   [input NAME_1..N] is N inputs, with their numbers for # in what is said of them
//     tiers           VALUE NUMBER HOW: may be "8 % from 100 gpu, 14 % from 500 gpu", which gives the
//                     inputs VALUE_1, NUMBER_1, VALUE_2, ... up to _4; HOW means nothing without them
//   [item NAME]     a scalar:   label, unit, group, formula; needs, or_formula, or_needs,
//                   or_formula_2, or_needs_2, up to or_formula_4, or_needs_4;
//                     role = headline | category; varies = yes: per period, where a formula is
//     absent_with     NAME: as of an input
//     times           NAME: in options that have it, each formula is multiplied by that item
//     none_below      NAME: where that item is below zero there is none, whatever the formula gives
//     none            TEXT that faces say in its place
//   [series NAME]   per period: the same
//   [check NAME]    label, unit, formula; needs, or_formula, ...: a difference that must be zero
//
// `needs = A B` makes a formula hold only in options that give A and B; of a formula, or_formula,
// or_formula_2 to or_formula_4 the first that an option can use counts.
//
// USD in a model's text stands for the report's currency. Where that is another one, the model also
// has the input exchange_rate, for every input NAME of money the input NAME_usd (by which NAME is
// then computed: NAME_usd / exchange_rate), and the item cost_per_mtok_usd.
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
extern const size_t model_default_size;

// Reads a model's text, in the arena. NULL after errors. The model must then be given to
// model_check.
struct model *model_read(const struct source *source, struct arena *arena,
                         struct diagnostics *diagnostics);

// The same for a report in a currency of currency_codes.
struct model *model_read_in(const struct source *source, const char *currency, struct arena *arena,
                            struct diagnostics *diagnostics);

// Declares a name of the user's, at the end. NULL after an error: it is none, or it is taken.
struct declaration *model_declare(struct model *model, const char *name, struct place place,
                                  struct diagnostics *diagnostics);

// Lets the formulas of an item be multiplied by another one in the options that have that.
void model_multiply(const struct model *model, struct declaration *item, int factor);

// NAME_usd of an input of money in a report in another currency, which computes NAME; else nothing.
void model_declare_in_usd(struct model *model, int of, struct diagnostics *diagnostics);

// The number of a group, or -1.
int model_group(const struct model *model, const char *name);

// Is the report in another currency than USD?
bool model_is_foreign(const struct model *model);

#endif
