#include "reports/records/evidence.h"

#include "base/texts.h"
#include "model/delivery/cited.h"
#include "model/delivery/row_digests.h"
#include "reports/faces/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *const states[PACK_STATES] = {[PACK_SAME] = "as packed",
                                                [PACK_CHANGED] = "changed",
                                                [PACK_MISSING] = "missing",
                                                [PACK_ADDED] = "added"};

static const char *sentence_of(const struct pack *pack, bool was_made, const char *signature,
                               struct arena *arena) {
  struct texts wrong = {NULL, 0};
  for (int state = PACK_CHANGED; state < PACK_STATES; state++)
    if (pack->states[state])
      texts_add(&wrong, arena, "%zu %s", pack->states[state], states[state]);
  const char *found = was_made      ? "packed"
                      : wrong.count ? texts_joined(&wrong, arena)
                                    : "all as packed";
  return arena_printf(arena, "%s, %s; %s.", text_counted(pack->count, "file", arena), found,
                      signature);
}

static void add_facts(struct answer *answer, const struct pack *pack,
                      const struct evidence_signature *signature) {
  struct answer_table facts = answer_table_of_facts(answer->arena);
  answer_fact(&facts, "manifest", cell_words(pack->digest));
  answer_fact(&facts, "version", cell_words(pack->about.version));
  answer_fact(&facts, "program_sha256", cell_words(pack->about.program));
  answer_fact(&facts, "kernels", cell_list(pack->about.kernels));
  answer_fact(&facts, "signature", cell_words(signature->words));
  answer_push(answer, facts);
}

static void add_table(struct answer *answer, const struct pack *pack, const char *key,
                      const char *title, unsigned faces, bool only_wrong) {
  struct answer_table *table = ANSWER_TABLE(answer, key, title, {"file", "File", NULL},
                                            {"state", "State", NULL}, {"sha256", "SHA-256", NULL});
  table->faces = faces;
  table->columns[2].faces = FACE_CSV | FACE_JSON;
  for (size_t i = 0; i < pack->count; i++) {
    const struct pack_file *file = &pack->files[i];
    if (!only_wrong || file->state != PACK_SAME)
      ANSWER_ROW(table, cell_words(file->member.name), cell_words(states[file->state]),
                 cell_words(file->digest));
  }
}

// People see the files with problems; programs get all.
static void add_files(struct answer *answer, const struct pack *pack, bool was_made) {
  add_table(answer, pack, "files", "Files", was_made ? 0 : FACE_CSV | FACE_JSON, false);
  if (pack->states[PACK_SAME] != pack->count)
    add_table(answer, pack, "wrong", "Not as packed", FACE_TERMINAL, true);
}

enum { MAX_ROWS = 40, MAX_USES = 12 }; // shown to people; programs get all

// Which files the records are made from, and whether these can be checked here. That one is not
// there is no change: a pack need not have it.
static void add_cited(struct answer *answer, const struct pack *pack) {
  const struct cited_files *cited = &pack->cited;
  struct texts missing = {NULL, 0};
  if (!cited->count)
    return;
  struct answer_table *table = ANSWER_TABLE(
      answer, "cited", "Files that the records are made from", {"file", "File", NULL},
      {"record", "Record", NULL}, {"sha256", "SHA-256", NULL}, {"member", "In the archive", NULL});
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t i = 0; i < cited->count; i++) {
    const struct cited_file *file = &cited->list[i];
    struct answer_cell *cells = answer_table_row_of(
        table,
        (struct answer_row){.key = arena_printf(answer->arena, "%s, %s", file->record, file->name),
                            .label = file->name});
    cells[1] = cell_words(file->record);
    cells[2] = cell_words(file->sha256);
    cells[3] = file->member ? cell_words(file->member) : cell_absent(NULL);
    if (!file->member && missing.count < MAX_USES)
      texts_add(&missing, answer->arena, "%s", file->name);
  }
  if (!cited->missing)
    answer_note(answer, "", "Files that the records are made from: %zu, all in the archive.",
                cited->count);
  else
    answer_note(answer, "",
                "Files that the records are made from: %zu, of which %zu %s not in the archive: "
                "%s%s.",
                cited->count, cited->missing, cited->missing == 1 ? "is" : "are",
                texts_joined(&missing, answer->arena),
                cited->missing > MAX_USES
                    ? arena_printf(answer->arena, " and %zu more", cited->missing - MAX_USES)
                    : "");
}

static const char *const changes[ROW_CHANGES] = {
    [ROW_CHANGED] = "changed",
    [ROW_MISSING] = "missing",
    [ROW_ADDED] = "added",
    [ROW_REWRITTEN] = "the same cells, ordered or written differently",
    [ROW_UNREADABLE] = "no longer a table"};

static struct answer_cell words_or_none(const char *text) {
  return *text ? cell_words(text) : cell_nothing();
}

static void add_rows_to(struct answer *answer, const struct pack *pack, size_t count,
                        unsigned faces) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "rows", "In tables", {"file", "File", NULL}, {"row", "Row", NULL},
                   {"column", "Column", NULL}, {"state", "State", NULL}, {"found", "Now", NULL},
                   {"used", "Used as", NULL});
  table->faces = faces;
  table->columns[5].faces = FACE_CSV | FACE_JSON; // a terminal is too narrow: see note_uses
  for (size_t i = 0; i < count; i++) {
    const struct row_difference *row = &pack->rows.list[i];
    ANSWER_ROW(table, cell_words(row->file), words_or_none(row->row), words_or_none(row->column),
               cell_words(changes[row->change]), words_or_none(row->found),
               words_or_none(row->used));
  }
}

// A row may differ in several cells.
static void note_uses(struct answer *answer, const struct pack *pack) {
  struct texts uses = {NULL, 0};
  const char *before = "";
  for (size_t i = 0; i < pack->rows.count && uses.count < MAX_USES; i++) {
    const struct row_difference *row = &pack->rows.list[i];
    if (*row->used && strcmp(row->row, before) != 0)
      texts_add(&uses, answer->arena, "%s (%s)", row->used, row->row);
    before = row->row;
  }
  if (uses.count)
    answer_note(answer, "Inputs from rows that differ: ", "%s", texts_joined(&uses, answer->arena));
}

static void add_rows(struct answer *answer, const struct pack *pack) {
  const size_t count = pack->rows.count, shown = count < MAX_ROWS ? count : MAX_ROWS;
  if (!count)
    return;
  add_rows_to(answer, pack, count, FACE_CSV | FACE_JSON);
  add_rows_to(answer, pack, shown, FACE_TERMINAL);
  if (shown < count)
    answer_note(answer, "", "--format csv and json show %zu more differences in tables.",
                count - shown);
  note_uses(answer, pack);
}

static void add_notes(struct answer *answer, const struct pack *pack) {
  answer_note(answer, "Manifest: ", "%s", pack->digest);
  if (*pack->about.version)
    answer_note(answer, "Packed by: ", "pertoken %s (%.16s...)", pack->about.version,
                pack->about.program);
  if (pack->about.kernels.count)
    answer_note(answer, "Measured with the probe's kernels: ", "%s",
                texts_joined(&pack->about.kernels, answer->arena));
}

struct answer evidence_answer(const struct pack *pack, bool was_made,
                              const struct evidence_signature *signature, struct arena *arena) {
  struct answer answer = answer_new("evidence", "evidence", NULL, NULL, arena);
  answer.schema = 1;
  answer.sentence = sentence_of(pack, was_made, signature->words, arena);
  answer.no = signature->is_bad || pack->states[PACK_SAME] != pack->count;
  add_facts(&answer, pack, signature);
  add_files(&answer, pack, was_made);
  add_rows(&answer, pack);
  add_cited(&answer, pack);
  add_notes(&answer, pack);
  answer_reason(&answer, "Digests are SHA-256; the manifest has them as sha256sum writes them, and "
                         "its own digest covers them all.");
  return answer;
}
