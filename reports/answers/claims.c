#include "reports/answers/claims.h"

#include "reports/faces/parts.h"

static const char *agreement_text(const struct recomputed *row, struct arena *arena) {
  if (row->disagrees)
    return arena_printf(arena, "NO: %s", row->table_verdict);
  return row->verdict == RECOMPUTE_CANNOT ? "-" : "yes";
}

struct answer claims_answer(const struct recomputed *rows, size_t count, struct arena *arena) {
  static const char *const verdicts[] = {[RECOMPUTE_HOLDS] = "holds",
                                         [RECOMPUTE_FAILS] = "does not hold",
                                         [RECOMPUTE_DEPENDS] = "depends on the reading",
                                         [RECOMPUTE_CANNOT] = "cannot be recomputed"};
  size_t counts[sizeof verdicts / sizeof verdicts[0]] = {0}, disagreements = 0;
  struct answer answer =
      answer_new("audit", "table", "Claims recomputed from the catalogues", NULL, arena);
  struct answer_table *table =
      ANSWER_TABLE(&answer, "claims", NULL, {"id", "", NULL}, {"claim", "Claim", NULL},
                   {"claimed", "Claimed", NULL}, {"recomputed", "Is", NULL},
                   {"verdict", "Verdict", NULL}, {"how", "How, or why not", NULL},
                   {"source", "Source", NULL}, {"agrees", "Table agrees", NULL});
  for (const struct recomputed *row = rows; row < rows + count; row++) {
    counts[row->verdict]++;
    disagreements += row->disagrees;
    ANSWER_ROW(table, cell_words(row->id), cell_words(row->claim),
               cell_words(arena_printf(arena, "%s %s", row->claimed, row->unit)),
               (struct answer_cell){.text = row->text, .value = row->value},
               cell_words(verdicts[row->verdict]), cell_words(row->why), cell_words(row->source),
               cell_words(agreement_text(row, arena)));
  }
  answer.sentence =
      arena_printf(arena,
                   "Of %zu claims, %zu hold, %zu do not, %zu depend%s on the reading and %zu "
                   "cannot be recomputed; %zu disagree%s with the table's own verdict.",
                   count, counts[RECOMPUTE_HOLDS], counts[RECOMPUTE_FAILS],
                   counts[RECOMPUTE_DEPENDS], counts[RECOMPUTE_DEPENDS] == 1 ? "s" : "",
                   counts[RECOMPUTE_CANNOT], disagreements, disagreements == 1 ? "s" : "");
  answer.no = disagreements > 0;
  return answer;
}
