#include "model/evidence/grade.h"

#include <assert.h>

static const char *const grade_names[GRADES] = {
    [GRADE_MEASURED] = "measured",   [GRADE_QUOTED] = "quoted",
    [GRADE_BENCHMARK] = "benchmark", [GRADE_PUBLISHED] = "published",
    [GRADE_PROJECTED] = "projected", [GRADE_CLAIM] = "claim",
    [GRADE_ASSUMED] = "assumed",
};

static const char *const grade_meanings[GRADES] = {
    [GRADE_MEASURED] = "your own run, measured or imported",
    [GRADE_QUOTED] = "a written quote",
    [GRADE_BENCHMARK] = "an audited public benchmark",
    [GRADE_PUBLISHED] = "a dated publication with method",
    [GRADE_PROJECTED] = "computed from another figure by a stated rule",
    [GRADE_CLAIM] = "a statement without method",
    [GRADE_ASSUMED] = "the user's own",
};

const char *grade_name(enum grade grade) {
  assert((unsigned)grade < GRADES);
  return grade_names[grade];
}

const char *grade_meaning(enum grade grade) {
  assert((unsigned)grade < GRADES);
  return grade_meanings[grade];
}

enum grade grade_weaker(enum grade a, enum grade b) {
  return a > b ? a : b;
}
