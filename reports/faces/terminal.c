// Answers for people, on a terminal.
#include "base/arena.h"
#include "base/texts.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/faces.h"
#include "reports/faces/parts.h"
#include "reports/faces/terminal_cells.h"
#include "reports/faces/terminal_tables.h"
#include "reports/print/heading.h"
#include "reports/print/style.h"

#include <stdio.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

enum { SHOWN_DIGITS = 5, EXACT_DIGITS = 15 };

static void print_texts(const struct view *view, const struct texts *texts, const char *first) {
  for (size_t i = 0; i < texts->count; i++)
    style_paragraph(view->style, first, texts->list[i]);
}

// An option, and whether a table calls it by its id.
struct named {
  bool is_named;
  UT_hash_handle hh;
};

static void note_name(struct named *options, const char *shown) {
  struct named *found = NULL;
  if (shown)
    HASH_FIND_STR(options, shown, found);
  if (found)
    found->is_named = true;
}

static void note_names(struct named *options, const struct answer_table *table) {
  for (size_t c = 0; c < table->column_count; c++) {
    if (!column_shown(table, c, FACE_TERMINAL))
      continue;
    note_name(options, table->columns[c].title);
    for (size_t r = 0; r < table->row_count; r++)
      if (row_shown(table, r, FACE_TERMINAL))
        note_name(options, cell_at(table, r, c)->shown);
  }
}

// The labels of options that tables call by their ids for lack of room.
static void list_labels(const struct answer *answer, struct texts *labels) {
  const struct scenario *scenario = answer->scenario;
  const size_t count = scenario ? scenario->option_count : 0;
  struct arena *arena = answer->arena;
  struct named *options = NULL, *all = arena_array(arena, count, sizeof *all);
  for (size_t o = 0; o < count; o++)
    HASH_ADD_KEYPTR(hh, options, scenario->options[o].id, strlen(scenario->options[o].id), &all[o]);
  for (size_t t = 0; t < answer->table_count; t++)
    if (table_shown(&answer->tables[t], FACE_TERMINAL))
      note_names(options, &answer->tables[t]);
  for (size_t o = 0; o < count; o++) {
    const struct option *option = &scenario->options[o];
    if (all[o].is_named && strcmp(option_brief(option), option->label) != 0)
      texts_add(labels, arena, "%s is %s", option->id, option->label);
  }
}

// The same for cases, each once.
static void list_cases(const struct answer *answer, struct texts *labels) {
  const struct scenario *scenario = answer->scenario;
  for (size_t c = 0; scenario && c < scenario->case_count; c++) {
    const char *id = scenario->cases[c], *label = scenario->case_labels[c];
    bool named = false;
    for (size_t t = 0; t < answer->table_count && !named; t++)
      for (size_t r = 0; r < answer->tables[t].row_count && !named; r++) {
        const char *brief = cell_at(&answer->tables[t], r, 0)->brief;
        named = brief && !strcmp(brief, id);
      }
    if (named && strcmp(id, label) != 0)
      texts_add(labels, answer->arena, "%s is %s", id, label);
  }
}

// What stands above the sentence, unless a heading of the scenario does.
static void print_heads(const struct style *style, const struct answer *answer) {
  for (size_t i = 0; i < answer->head_count; i++)
    style_paragraph(style, answer->heads[i].label, answer->heads[i].text);
  if (answer->head_count && *answer->stamp)
    style_block(style, EMPHASIS_ALARM, answer->stamp);
  if (answer->head_count)
    putc('\n', style->out);
}

static void print_answer(const struct view *view, const struct answer *answer) {
  const struct style *style = view->style;
  if (answer->title)
    style_block(style, EMPHASIS_STRONG, answer->title);
  print_heads(style, answer);
  if (*answer->sentence)
    style_block(style, answer->no ? EMPHASIS_ALARM : EMPHASIS_GOOD, answer->sentence);
  if (view->exact && answer->reasons.count)
    putc('\n', style->out);
  if (view->exact)
    print_texts(view, &answer->reasons, "- ");
  bool begun = answer->title || *answer->sentence;
  for (size_t t = 0; t < answer->table_count; t++) {
    if (!table_shown(&answer->tables[t], FACE_TERMINAL) || !table_has_rows(&answer->tables[t]))
      continue;
    if (begun)
      putc('\n', style->out);
    begun = true;
    table_print(view, &answer->tables[t]);
  }
  struct texts labels = {0}, cases = {0};
  list_labels(answer, &labels);
  list_cases(answer, &cases);
  if (labels.count || cases.count || answer->note_count || answer->warnings.count)
    putc('\n', style->out);
  for (size_t i = 0; i < answer->note_count; i++)
    if (note_shown(&answer->notes[i], FACE_TERMINAL))
      style_paragraph(style, answer->notes[i].label, answer->notes[i].text);
  print_texts(view, &labels, "Option: ");
  print_texts(view, &cases, "Case: ");
  print_texts(view, &answer->warnings, "Warning: ");
}

void terminal_print(const struct scenario *scenario, const struct answers *answers, bool exact,
                    FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  const struct view view = {.style = &style,
                            .arena = arena,
                            .exact = exact,
                            .digits = exact ? EXACT_DIGITS : SHOWN_DIGITS};
  if (scenario)
    heading_print(scenario, answers->count ? answers->list[0].stamp : "", &style);
  for (size_t i = 0; i < answers->count; i++) {
    if (i)
      putc('\n', out);
    print_answer(&view, &answers->list[i]);
  }
}
