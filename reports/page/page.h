// page: a scenario as a what-if page for the browser.
//
// One HTML file that fetches nothing: the cost model's formulas as script (script_formula.h), the
// scenario's figures as JSON, and the shell of reports/page/, under a content security policy that
// blocks any other script and any fetch. Users' text in it is data, or escaped (markup.h). Where no
// script runs, it says what plain.h has.
#ifndef PERTOKEN_REPORTS_PAGE_PAGE_H
#define PERTOKEN_REPORTS_PAGE_PAGE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "reports/page/data.h"

#include <stdbool.h>
#include <stdio.h>

// The charts are Observable Plot's, on d3 (both ISC): SVG that prints sharply, takes the style
// sheet's colors and can be labeled for a screen reader, and code that needs no eval, so that the
// policy can be strict. The library is fetched when the program is built, if that is possible.
bool page_has_charts(void);

// Prints the page. Returns 0, or -1 after an error.
int page_print(const struct page *page, FILE *out, struct arena *arena,
               struct diagnostics *diagnostics);

#endif
