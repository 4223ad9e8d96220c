#include "reports/answers/offers.h"

#include "base/texts.h"
#include "model/cost/units.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <string.h>

// ---- lines

static const char *text_of(const struct offer *offer, const char *name) {
  for (size_t i = 0; i < offer->text_count; i++)
    if (!strcmp(offer->texts[i].name, name))
      return offer->texts[i].text;
  return NULL;
}

static void add_line(struct answer_table *table, const struct option *option, const char *name,
                     const char *a, const char *b) {
  const struct answer_cell here = a ? cell_words(a) : cell_absent(NULL);
  const struct answer_cell there = b ? cell_words(b) : cell_absent(NULL);
  if (option)
    ANSWER_ROW(table, cell_words(name), cell_option(option), here, there);
  else
    ANSWER_ROW(table, cell_words(name), here, there);
}

void offers_add_lines(struct answer_table *table, const struct option *option,
                      const struct offer *a, const struct offer *b) {
  for (size_t i = 0; i < a->text_count; i++) {
    const char *there = text_of(b, a->texts[i].name);
    if (!there || strcmp(a->texts[i].text, there) != 0)
      add_line(table, option, a->texts[i].name, a->texts[i].text, there);
  }
  for (size_t i = 0; i < b->text_count; i++)
    if (!text_of(a, b->texts[i].name))
      add_line(table, option, b->texts[i].name, NULL, b->texts[i].text);
}

// ---- amounts

static const struct {
  const char *key, *label, *unit; // USD stands for the offers' currency
  double (*of)(const struct offer *);
} totals[] = {
    {"hardware", "Hardware", "USD", offer_hardware},
    {"purchase", "Hardware, installation and delivery", "USD", offer_purchase},
    {"per_accelerator", "The same, for each accelerator", "USD/gpu", offer_purchase_of_each},
    {"yearly", "Support, warranty and license a year", "USD/yr", offer_yearly},
};

static void add_totals(struct answer *answer, const struct offer *a, const struct offer *b) {
  struct arena *arena = answer->arena;
  struct answer_table *table =
      ANSWER_TABLE(answer, "totals", NULL, {"item", "What it comes to", NULL}, {"a", "A", NULL},
                   {"b", "B", NULL}, {"change", "change", NULL});
  table->unit_column = 1;
  table->json = "totals.%r.%c";
  for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
    const char *unit = text_in_currency(totals[i].unit, "USD", a->currency, arena);
    struct answer_cell *cells =
        answer_table_row_of(table, (struct answer_row){.key = totals[i].key,
                                                       .label = totals[i].label,
                                                       .unit = unit_known(unit, arena)});
    cells[1] = cell_value(totals[i].of(a));
    cells[2] = cell_value(totals[i].of(b));
    cells[3] = cell_change(cells[1].value, cells[2].value);
  }
}

// ---- words

// What one of the offers has a line for and the other has not.
static void warn_of_missing(struct answer *answer, const char *which, const struct offer *offer,
                            const struct offer *other) {
  const struct texts missing = offer_not_included(offer, answer->arena);
  const struct texts also = offer_not_included(other, answer->arena);
  struct texts only = {0};
  for (size_t i = 0; i < missing.count; i++)
    if (!texts_have(&also, missing.list[i]))
      texts_add(&only, answer->arena, "%s", missing.list[i]);
  if (only.count)
    answer_warn(answer, "%s alone has no line for: %s", which, texts_joined(&only, answer->arena));
}

static void warn_of_unlike(struct answer *answer, const struct offer *a, const struct offer *b) {
  if (strcmp(a->accelerator, b->accelerator) != 0)
    answer_warn(answer, "the offers are for different accelerators: %s and %s", a->accelerator,
                b->accelerator);
  if (strcmp(a->currency, b->currency) != 0)
    answer_warn(answer,
                "the offers are in different currencies, %s and %s: their amounts are not compared",
                a->currency, b->currency);
}

static const char *sentence_of(const struct offer *a, const struct offer *b, size_t lines,
                               struct arena *arena) {
  if (!lines)
    return "The offers do not differ.";
  const char *first =
      arena_printf(arena, "B differs from A in %s", text_counted(lines, "line", arena));
  if (strcmp(a->currency, b->currency) != 0)
    return arena_printf(arena, "%s.", first);
  const char *each = a->accelerators == b->accelerators
                         ? ""
                         : arena_printf(arena, ", for each accelerator %s",
                                        number_change(offer_purchase_of_each(a),
                                                      offer_purchase_of_each(b), arena));
  return arena_printf(arena, "%s; purchase %s%s.", first,
                      number_change(offer_purchase(a), offer_purchase(b), arena), each);
}

static void add_offer(struct answer *answer, struct answer_table *facts, const char *side,
                      const char *label, const struct offer *offer) {
  struct arena *arena = answer->arena;
  const struct {
    const char *key;
    struct answer_cell cell;
  } said[] = {
      {"path", cell_words(offer->source->name)},       {"vendor", cell_words(offer->vendor)},
      {"reference", cell_words(offer->reference)},     {"date", cell_words(offer->date)},
      {"accelerator", cell_words(offer->accelerator)}, {"currency", cell_words(offer->currency)}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
    answer_fact(facts, arena_printf(arena, "%s.%s", side, said[i].key), said[i].cell);
  answer_head(answer, label, "%s: %s of %s, %d %s", offer->source->name,
              offer_reference(offer, arena), offer->date, offer->accelerators, offer->accelerator);
}

struct answer offers_answer(const struct offer *a, const struct offer *b, struct arena *arena) {
  struct answer answer = answer_new("diff", "offers", NULL, NULL, arena);
  struct answer_table facts = answer_table_of_facts(arena);
  struct answer_table lines = answer_table_new("offer_lines", NULL, arena);
  answer.schema = 2;
  add_offer(&answer, &facts, "a", "A  ", a);
  add_offer(&answer, &facts, "b", "B  ", b);
  ANSWER_COLUMN(&lines, .key = "line", .title = "Lines that differ", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&lines, .key = "a", .title = "A", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&lines, .key = "b", .title = "B", .align = ALIGN_RIGHT);
  lines.json = "offer_lines[#].%c";
  offers_add_lines(&lines, NULL, a, b);
  answer.sentence = sentence_of(a, b, lines.row_count, arena);
  if (lines.row_count)
    answer_push(&answer, lines);
  if (!strcmp(a->currency, b->currency))
    add_totals(&answer, a, b);
  warn_of_unlike(&answer, a, b);
  warn_of_missing(&answer, "A", a, b);
  warn_of_missing(&answer, "B", b, a);
  answer_push(&answer, facts);
  return answer;
}
