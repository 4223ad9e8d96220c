#include "reports/print/grid.h"

#include "base/arena.h"

#include <stddef.h>
#include <stdio.h>

enum { GAP = 2 };

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

// The columns that are printed behind the label: all, or as many as fit.
struct part {
  int first, end;
};

// Up to the last that is not empty: no blanks at the end of a line.
static int used_columns(struct part part, const struct cell *cells) {
  while (part.end > part.first && !*text_of(&cells[part.end - 1]))
    part.end--;
  return part.end;
}

// The label's last line stands beside the figures, so that a unit or a number never seems to belong
// to half a label.
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

static void print_part(const struct grid *grid, const struct style *style, const int *widths,
                       struct part part) {
  for (size_t r = 0; r < grid->count; r++) {
    if (grid->rows[r].cells)
      print_row(grid, style, grid->rows[r].cells, widths, part);
    else
      style_rule(style, part_width(widths, part));
  }
}

void grid_print(const struct grid *grid, const struct style *style) {
  int *widths = arena_array(grid->arena, (size_t)grid->columns, sizeof *widths);
  for (int c = 0; c < grid->columns; c++)
    widths[c] = column_width(grid, c);
  const int room = style->width - grid_width(grid, 0), word = widest_word(grid);
  // In a grid that is cut in two anyway, the label is not squeezed.
  const int least = room < word && word < style->width / 2 ? style->width / 2 : word;
  if (widths[0] > room && widths[0] > least)
    widths[0] = room > least ? room : least;
  struct part part = {1, 1};
  do {
    part.first = part.end;
    do
      part.end++;
    while (part.end < grid->columns &&
           part_width(widths, part) + GAP + widths[part.end] <= style->width);
    print_part(grid, style, widths, part);
    if (part.end < grid->columns)
      putc('\n', style->out);
  } while (part.end < grid->columns);
}
