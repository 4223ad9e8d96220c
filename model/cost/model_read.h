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
//     instead_of      NAME that is not given with it at the same level; else the option level wins
//     needed_with     NAME: must be given when that is above zero
//     only_with       NAME: there only where that is given; its default holds there, else it must be
//                     given too
//     notice          TEXT that is said when it stays at zero
//   [item NAME]     a scalar:   label, unit, group, formula; needs; role = headline | category
//   [series NAME]   per period: the same
//   [check NAME]    label, unit, formula; needs: a difference that must be zero
//
// `needs = A B` makes a formula hold only in options that give A and B; or_formula and or_needs are
// the second choice.
//
// USD in a model's text stands for the report's currency. Where that is another one, the model also
// has the input exchange_rate, for every input NAME of money the input NAME_usd (by which NAME is
// then computed: NAME_usd / exchange_rate), and the item cost_per_mtok_usd.
#ifndef PERTOKEN_MODEL_COST_MODEL_READ_H
#define PERTOKEN_MODEL_COST_MODEL_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/model.h"

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

// Adds the user's line item of a scenario's [item NAME]: label, unit, group = capex | opex,
// formula. An opex item also declares NAME_cost, its amount per period. Returns 0 or -1.
int model_add_own(struct model *model, const struct ini_section *section,
                  struct diagnostics *diagnostics);

#endif
