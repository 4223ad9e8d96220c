// grade: how far a figure can be trusted.
#ifndef PERTOKEN_MODEL_EVIDENCE_GRADE_H
#define PERTOKEN_MODEL_EVIDENCE_GRADE_H

// Strongest first, so the larger of two grades is the weaker one.
enum grade {
  GRADE_MEASURED,  // a complete record of one's own run: by this tool's probe, or imported
  GRADE_QUOTED,    // a price from a written quote
  GRADE_BENCHMARK, // an audited public benchmark (MLPerf)
  GRADE_PUBLISHED, // a dated publication that states its method
  GRADE_PROJECTED, // computed by a stated rule from another device's figure
  GRADE_CLAIM,     // a statement that does not state its method
  GRADE_ASSUMED    // the user's own assumption
};
enum { GRADES = GRADE_ASSUMED + 1 };

// "measured", "quoted", ...: as every face shows it.
const char *grade_name(enum grade grade);

// "an audited public benchmark": what a figure of that grade is.
const char *grade_meaning(enum grade grade);

enum grade grade_weaker(enum grade a, enum grade b);

#endif
