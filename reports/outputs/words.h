// words: the answer of Outputs in words, live.
#ifndef PERTOKEN_REPORTS_OUTPUTS_WORDS_H
#define PERTOKEN_REPORTS_OUTPUTS_WORDS_H

#include "reports/spreadsheet/book.h"

// The answer's sentence, in parts that the Cover joins; after the results.
void words_write(struct book *book);

#endif
