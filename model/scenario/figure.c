#include "model/scenario/figure.h"

const struct figure figure_none = {.origin = ORIGIN_NONE, .source = "", .date = ""};
