// font: the space that a text takes in Calibri, the font of a workbook's cells, without having that
// font.
//
// The widths are those of Carlito 1.104 (Debian's fonts-crosextra-carlito 20220224, SIL Open Font
// License), a font designed with Calibri's metrics, read from its files on 2026-11-23. Lengths are
// in pixels at 96 per inch, which is 100 % zoom; sizes are in points.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_FONT_H
#define PERTOKEN_REPORTS_SPREADSHEET_FONT_H

#include <stddef.h>

enum font_face { FONT_REGULAR, FONT_BOLD, FONT_ITALIC, FONT_FACES };

struct font {
  enum font_face face;
  double size;
};

double font_width(const struct font *font, const char *text);

// The width of a text's longest word, the narrowest that a cell which wraps the text can be.
double font_word_width(const struct font *font, const char *text);

// The number of lines of a text that is wrapped between words at a width.
size_t font_lines(const struct font *font, const char *text, double width);

#endif
