#include "reports/spreadsheet/font.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistr.h>
#include <unitypes.h>

enum { EM = 2048, FIRST = ' ', LAST = '~', CHARACTERS = LAST - FIRST + 1 };
enum { ACCENTED = 0x24F, ACCENTED_WIDTH = 1152 }; // letters up to this code are hardly wider

#define PIXELS_PER_POINT (96.0 / 72)

// The width of each character from the space on, in 2048ths of the font size.
static const uint16_t widths[FONT_FACES][CHARACTERS] = {
    [FONT_REGULAR] = {463,  667,  821,  1020, 1038, 1464, 1397, 452,  621,  621,  1020, 1020,
                      511,  627,  517,  791,  1038, 1038, 1038, 1038, 1038, 1038, 1038, 1038,
                      1038, 1038, 548,  548,  1020, 1020, 1020, 949,  1831, 1185, 1114, 1092,
                      1260, 1000, 941,  1292, 1276, 516,  653,  1064, 861,  1751, 1322, 1356,
                      1058, 1378, 1112, 941,  998,  1314, 1162, 1822, 1063, 998,  959,  628,
                      791,  628,  1020, 1020, 596,  981,  1076, 866,  1076, 1019, 625,  964,
                      1076, 470,  490,  931,  470,  1636, 1076, 1080, 1076, 1076, 714,  801,
                      686,  1076, 925,  1464, 887,  927,  809,  644,  943,  644,  1020},
    [FONT_BOLD] = {463,  667,  898,  1020, 1038, 1493, 1443, 478,  638,  638,  1020, 1020,
                   528,  627,  547,  880,  1038, 1038, 1038, 1038, 1038, 1038, 1038, 1038,
                   1038, 1038, 565,  565,  1020, 1020, 1020, 949,  1840, 1241, 1148, 1084,
                   1291, 999,  940,  1305, 1292, 546,  678,  1120, 866,  1790, 1349, 1385,
                   1090, 1405, 1153, 968,  1014, 1337, 1211, 1856, 1128, 1064, 979,  665,
                   880,  665,  1020, 1020, 615,  1011, 1099, 857,  1099, 1031, 648,  971,
                   1099, 503,  523,  983,  503,  1666, 1099, 1101, 1099, 1099, 728,  817,
                   710,  1099, 969,  1526, 941,  970,  814,  704,  973,  704,  1020},
    [FONT_ITALIC] = {463,  667,  821,  1020, 1038, 1464, 1397, 452,  621,  621,  1020, 1020,
                     511,  627,  517,  794,  1038, 1038, 1038, 1038, 1038, 1038, 1038, 1038,
                     1038, 1038, 548,  548,  1020, 1020, 1020, 949,  1831, 1185, 1114, 1070,
                     1260, 1000, 941,  1292, 1276, 516,  653,  1064, 861,  1751, 1320, 1340,
                     1058, 1360, 1112, 926,  998,  1314, 1162, 1823, 1063, 998,  959,  628,
                     787,  628,  1020, 1020, 596,  1053, 1053, 852,  1053, 978,  625,  1053,
                     1053, 470,  490,  931,  470,  1620, 1053, 1051, 1053, 1053, 702,  797,
                     686,  1053, 913,  1464, 887,  916,  809,  644,  943,  644,  1020},
};

static double scale_of(const struct font *font) {
  return font->size * PIXELS_PER_POINT / EM;
}

// The width of the first `length` bytes, in 2048ths of the font size.
static double width_of(enum font_face face, const char *text, size_t length) {
  double width = 0;
  for (size_t at = 0; at < length;) {
    ucs4_t code;
    const int bytes = u8_mbtoucr(&code, (const uint8_t *)text + at, length - at);
    if (bytes < 1)
      code = LAST;
    at += bytes < 1 ? 1 : (size_t)bytes;
    if (code >= FIRST && code <= LAST)
      width += widths[face][code - FIRST];
    else
      width += code <= ACCENTED ? ACCENTED_WIDTH : EM;
  }
  return width;
}

double font_width(const struct font *font, const char *text) {
  return width_of(font->face, text, strlen(text)) * scale_of(font);
}

double font_word_width(const struct font *font, const char *text) {
  double longest = 0;
  for (const char *at = text; *at;) {
    const size_t length = strcspn(at, " ");
    const double width = width_of(font->face, at, length);
    longest = width > longest ? width : longest;
    at += length + strspn(at + length, " ");
  }
  return longest * scale_of(font);
}

// A word that is too long is broken anywhere.
size_t font_lines(const struct font *font, const char *text, double width) {
  const double blank = width_of(font->face, " ", 1) * scale_of(font);
  double used = 0;
  size_t lines = 1;
  for (const char *at = text; *at;) {
    const size_t length = strcspn(at, " ");
    const double word = width_of(font->face, at, length) * scale_of(font);
    if (used > 0 && used + blank + word > width) {
      lines++;
      used = 0;
    }
    if (word > width)
      lines += (size_t)(word / width);
    used += word + (used > 0 ? blank : 0);
    at += length + (at[length] == ' ');
  }
  return lines;
}
