#include "reports/print/grid.h"

#include "base/arena.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { GAP = 2, INDENT = 4, MAX_PARTS = 32 };

struct grid *grid_new(int columns, struct arena *arena) {
  struct grid *grid = arena_alloc(arena, sizeof *grid);
  *grid = (struct grid){.arena = arena, .columns = columns};
  grid->left = arena_array(arena, (size_t)columns, sizeof *grid->left);
  grid->left[0] = true;
  return grid;
}

static struct grid_row *add_row(struct grid *grid) {
  if (grid->count == grid->capacity) {
    const size_t capacity = grid->capacity ? 2 * grid->capacity : 32;
    grid->rows = arena_grow(grid->arena, grid->rows, grid->count, capacity, sizeof *grid->rows);
    grid->capacity = capacity;
  }
  return &grid->rows[grid->count++];
}

struct cell *grid_row(struct grid *grid) {
  struct grid_row *row = add_row(grid);
  row->cells = arena_array(grid->arena, (size_t)grid->columns, sizeof *row->cells);
  return row->cells;
}

void grid_rule(struct grid *grid) {
  add_row(grid)->cells = NULL;
}

static const char *text_of(const struct cell *cell) {
  return cell->text ? cell->text : "";
}

static int column_width(const struct grid *grid, int column) {
  int width = 0;
  for (size_t r = 0; r < grid->count; r++) {
    if (!grid->rows[r].cells)
      continue;
    const int own = style_width(text_of(&grid->rows[r].cells[column]));
    width = own > width ? own : width;
  }
  return width;
}

int grid_width(const struct grid *grid, int label) {
  int width = label;
  for (int c = 1; c < grid->columns; c++)
    width += GAP + column_width(grid, c);
  return width;
}

static void cut_column(struct grid *grid, int column, int width) {
  for (size_t r = 0; r < grid->count; r++)
    if (grid->rows[r].cells)
      grid->rows[r].cells[column].text =
          style_cut(text_of(&grid->rows[r].cells[column]), width, grid->arena);
}

void grid_squeeze(struct grid *grid, const bool *may_cut, int width) {
  enum { NARROWEST = 12 };
  int *widths = arena_array(grid->arena, (size_t)grid->columns, sizeof *widths);
  int all = -GAP;
  for (int c = 0; c < grid->columns; c++)
    all += GAP + (widths[c] = column_width(grid, c));
  for (; all > width; all--) {
    int widest = -1;
    for (int c = 0; c < grid->columns; c++)
      if (may_cut[c] && (widest < 0 || widths[c] > widths[widest]))
        widest = c;
    if (widest < 0 || widths[widest] <= NARROWEST)
      break;
    widths[widest]--;
  }
  for (int c = 0; c < grid->columns; c++)
    if (may_cut[c])
      cut_column(grid, c, widths[c]);
}

// The widest word of the first column: it is never broken.
static int widest_word(const struct grid *grid) {
  int widest = 0;
  for (size_t r = 0; r < grid->count; r++) {
    if (!grid->rows[r].cells)
      continue;
    const char **words;
    const size_t count = style_wrap(text_of(&grid->rows[r].cells[0]), 1, grid->arena, &words);
    for (size_t i = 0; i < count; i++) {
      const int width = style_width(words[i]);
      widest = width > widest ? width : widest;
    }
  }
  return widest;
}

static void print_cell(const struct style *style, const struct cell *cell, int width, bool left) {
  const char *text = style_text(style, text_of(cell));
  const int blanks = width - style_width(text);
  fprintf(style->out, "%*s%*s%s", GAP, "", left ? 0 : blanks, "",
          style_mark(style, cell->emphasis, text));
  if (left && blanks > 0)
    fprintf(style->out, "%*s", blanks, "");
}

// The columns printed after the label: all, or as many as fit.
struct part {
  int first, end;
};

// The end of a row's last cell that is not empty, so that no line ends in spaces.
static int used_columns(struct part part, const struct cell *cells) {
  while (part.end > part.first && !*text_of(&cells[part.end - 1]))
    part.end--;
  return part.end;
}

// The figures are beside the label's last line, so that a unit or a number never seems to belong to
// half a label.
static void print_row(const struct grid *grid, const struct style *style, const struct cell *cells,
                      const int *widths, struct part part) {
  const char **lines;
  const char *label = style_text(style, text_of(&cells[0]));
  const size_t indent = label[0] == ' ' ? 2 : 0;
  const size_t count = style_wrap(label + indent, widths[0] - (int)indent, grid->arena, &lines);
  for (size_t i = 0; i + 1 < count; i++)
    fprintf(style->out, "%*s%s\n", (int)indent, "", style_mark(style, cells[0].emphasis, lines[i]));
  const char *last = lines[count - 1];
  const int used = used_columns(part, cells);
  fprintf(style->out, "%*s%s", (int)indent, "", style_mark(style, cells[0].emphasis, last));
  if (used > part.first)
    fprintf(style->out, "%*s", widths[0] - (int)indent - style_width(last), "");
  for (int c = part.first; c < used; c++)
    print_cell(style, &cells[c], c + 1 < used || !grid->left[c] ? widths[c] : 0, grid->left[c]);
  putc('\n', style->out);
}

static int part_width(const int *widths, struct part part) {
  int width = widths[0];
  for (int c = part.first; c < part.end; c++)
    width += GAP + widths[c];
  return width;
}

// Whether a part of a row is empty: a row of units may have none there.
static bool is_blank(const struct cell *cells, struct part part) {
  return !*text_of(&cells[0]) && used_columns(part, cells) == part.first;
}

static void print_part(const struct grid *grid, const struct style *style, const int *widths,
                       struct part part) {
  for (size_t r = 0; r < grid->count; r++) {
    if (!grid->rows[r].cells)
      style_rule(style, part_width(widths, part));
    else if (!is_blank(grid->rows[r].cells, part))
      print_row(grid, style, grid->rows[r].cells, widths, part);
  }
}

// The next part that fits.
static struct part part_after(const struct grid *grid, const struct style *style, const int *widths,
                              struct part part) {
  part.first = part.end;
  do
    part.end++;
  while (part.end < grid->columns &&
         part_width(widths, part) + GAP + widths[part.end] <= style->width);
  return part;
}

// The parts that a row is folded into. Parts below the first are indented instead of labeled, with
// an indentation of another width.
struct fold {
  struct part parts[MAX_PARTS];
  int count, widest;
  int *widths, *below;
};

static struct fold fold_of(const struct grid *grid, const struct style *style) {
  const size_t size = (size_t)grid->columns * sizeof(int);
  struct fold fold = {.widths = arena_alloc(grid->arena, size),
                      .below = arena_alloc(grid->arena, size)};
  for (int c = 0; c < grid->columns; c++)
    fold.widths[c] = column_width(grid, c);
  memcpy(fold.below, fold.widths, size);
  fold.below[0] = INDENT;
  for (struct part part = {1, 1}; part.end < grid->columns && fold.count < MAX_PARTS;) {
    const int *widths = fold.count ? fold.below : fold.widths;
    fold.parts[fold.count++] = part = part_after(grid, style, widths, part);
    const int width = part_width(widths, part);
    fold.widest = width > fold.widest ? width : fold.widest;
  }
  return fold;
}

static void print_folded_row(const struct grid *grid, const struct style *style,
                             const struct cell *cells, const struct fold *fold) {
  struct cell *below = arena_array(grid->arena, (size_t)grid->columns, sizeof *below);
  memcpy(below, cells, (size_t)grid->columns * sizeof *below);
  below[0] = (struct cell){0};
  for (int p = 0; p < fold->count; p++)
    if (p == 0)
      print_row(grid, style, cells, fold->widths, fold->parts[p]);
    else if (used_columns(fold->parts[p], cells) > fold->parts[p].first)
      print_row(grid, style, below, fold->below, fold->parts[p]);
}

void grid_print_folded(const struct grid *grid, const struct style *style) {
  const struct fold fold = fold_of(grid, style);
  for (size_t r = 0; r < grid->count; r++)
    if (grid->rows[r].cells)
      print_folded_row(grid, style, grid->rows[r].cells, &fold);
    else
      style_rule(style, fold.widest);
}

void grid_print(const struct grid *grid, const struct style *style) {
  int *widths = arena_array(grid->arena, (size_t)grid->columns, sizeof *widths);
  for (int c = 0; c < grid->columns; c++)
    widths[c] = column_width(grid, c);
  const int room = style->width - grid_width(grid, 0), word = widest_word(grid);
  // If the grid is split anyway, the label is not squeezed.
  const int least = room < word && word < style->width / 2 ? style->width / 2 : word;
  if (widths[0] > room && widths[0] > least)
    widths[0] = room > least ? room : least;
  struct part part = {1, 1};
  do {
    part = part_after(grid, style, widths, part);
    print_part(grid, style, widths, part);
    if (part.end < grid->columns)
      putc('\n', style->out);
  } while (part.end < grid->columns);
}
