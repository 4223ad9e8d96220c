// words: what people call the inputs of the cost model, for suggestions: "discount_rate" for wacc.
// Such a word is never read as the input.
#ifndef PERTOKEN_MODEL_COST_WORDS_H
#define PERTOKEN_MODEL_COST_WORDS_H

#include <stddef.h>

enum { MODEL_WORDS = 53 };

// Appends all words to `names`; returns how many.
size_t model_words_add(const char **names);

// The input that a word stands for; any other name, NULL too, is returned as it is.
const char *model_word_meaning(const char *name);

#endif
