// plain: what the what-if page says where its scripts do not run: the verdict, the options' costs,
// and what is missing, in the case that the page opens with.
#ifndef PERTOKEN_REPORTS_PAGE_PLAIN_H
#define PERTOKEN_REPORTS_PAGE_PLAIN_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

// Markup, in the arena.
const char *page_plain(const struct scenario *scenario, struct arena *arena);

#endif
