#include "reports/faces/faces.h"

void answers_print(const struct scenario *scenario, const struct answers *answers,
                   enum output_format format, FILE *out, struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(scenario, answers, out, arena);
  else if (format == FORMAT_JSON)
    json_print(scenario, answers, out, arena);
  else
    terminal_print(scenario, answers, false, out, arena);
}

void answer_explain(const struct scenario *scenario, const struct answer *answer,
                    enum output_format format, FILE *out, struct arena *arena) {
  const struct answers alone = {answer, 1};
  if (format == FORMAT_TABLE)
    terminal_print(scenario, &alone, true, out, arena);
  else
    answers_print(scenario, &alone, format, out, arena);
}
