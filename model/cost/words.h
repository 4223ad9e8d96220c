// words: what people call the inputs of the cost model, for suggestions: "discount_rate" for wacc.
// Such a word is never read as the input.
#ifndef PERTOKEN_MODEL_COST_WORDS_H
#define PERTOKEN_MODEL_COST_WORDS_H

#include <stddef.h>

enum { MODEL_WORDS = 70 };

// The name nearest to a mistyped one, as nearest_name: one of `names`, which has room for
// MODEL_WORDS more, or the input that the nearest word stands for.
const char *words_nearest(const char *name, const char **names, size_t count);

// The input that a word stands for; any other name, NULL too, is returned as it is.
const char *model_word_meaning(const char *name);

#endif
