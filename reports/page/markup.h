// markup: a scenario's texts as parts of HTML.
#ifndef PERTOKEN_REPORTS_PAGE_MARKUP_H
#define PERTOKEN_REPORTS_PAGE_MARKUP_H

#include "base/arena.h"

// The text in an element, where nothing of it is markup. In the arena.
const char *markup_text(const char *text, struct arena *arena);

#endif
