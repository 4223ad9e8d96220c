#include "reports/spreadsheet/formats.h"

#include <math.h>
#include <string.h>

enum {
  BLUE = 0x0000FF,
  GREEN = 0x00803C,
  INPUT_FILL = 0xFFF9E5,
  OVERRIDE_FILL = 0xFFD966,
  HEADER_FILL = 0x1F3864,
  HEADING_FILL = 0xE7ECF5,
  GOOD_FILL = 0xC6EFCE,
  BAD_FILL = 0xFFC7CE,
  GREY = 0x595959,
  RED = 0xC00000,
  WHITE = 0xFFFFFF,
};

#define MONEY   "#,##0~_);(#,##0~);\"-\"_)"
#define PERCENT "0~ %_);(0~ %);0 %_)"
#define COUNT   "#,##0~_);(#,##0~);0_)"
#define TOKENS  "[>=1000000000]#,##0.0000,,,,\" T\"_);[<0](#,##0~);#,##0~_)"

// Positive; negative; zero. ~ stands for the decimals: `decimals` of a computed number, and as many
// as it has of a figure, if it is `fitted`.
static const struct {
  const char *code;
  int decimals;
  const char *fitted;
} codes[NUMBER_FORMATS] = {
    [NUMBER_MONEY] = {MONEY, 0, MONEY},
    [NUMBER_MONEY_CENTS] = {MONEY, 2, MONEY},
    [NUMBER_COST] = {MONEY, MIN_COST_DECIMALS, MONEY},
    [NUMBER_MONEY_SMALL] = {MONEY, 4, MONEY},
    [NUMBER_PERCENT] = {PERCENT, 1, PERCENT},
    [NUMBER_SAVING] = {"0~ %_);(0~ %);\"-\"_)", 1, NULL},
    [NUMBER_PERCENT_SMALL] = {"0~ %_);(0~ %);0~ %_)", 4, NULL},
    [NUMBER_WHOLE] = {COUNT, 0, COUNT},
    [NUMBER_TENTHS] = {COUNT, 1, COUNT},
    [NUMBER_HUNDREDTHS] = {COUNT, 2, COUNT},
    [NUMBER_PLAIN] = {"[=0]0_);[=1]0_);#,##0~_)", 4, COUNT},
    [NUMBER_TOKENS] = {TOKENS, 0, TOKENS},
    [NUMBER_ANY] = {COUNT, 4, COUNT},
    [NUMBER_EXPONENT] = {"0.00E+00_)", 0, NULL},
    [NUMBER_TEXT] = {"@", 0, NULL},
};

// Substrings of unit texts; the first match applies, and the dimension if none matches.
static const struct {
  const char *part;
  enum number_format format;
} by_text[] = {
    {"USD/Mtok", NUMBER_COST},
    {"USD/kWh", NUMBER_MONEY_SMALL},
    {"USD/kW/month", NUMBER_MONEY_CENTS},
    {"USD/kW", NUMBER_MONEY},
    {"USD/gpu/h", NUMBER_MONEY_SMALL},
    {"USD/h", NUMBER_MONEY_SMALL},
    {"month", NUMBER_MONEY_CENTS},
    {"USD/week", NUMBER_MONEY_CENTS},
    {"USD/m3", NUMBER_MONEY_CENTS},
    {"J/token", NUMBER_PLAIN},
    {"token", NUMBER_TOKENS},
    {"Mtok", NUMBER_TOKENS},
    {"FTE", NUMBER_HUNDREDTHS},
    {"Wh", NUMBER_WHOLE},
    {"kW", NUMBER_TENTHS},
    {"MW", NUMBER_HUNDREDTHS},
};

enum { UNIT_LENGTH = 64, CODE_LENGTH = 3, CODE_SIZE = 96 };

// The unit's text as if its money were USD: every code has three letters.
static const char *in_usd(const struct unit *unit, char buffer[UNIT_LENGTH]) {
  const int currency = dimension_currency(unit->dimension);
  const size_t length = strlen(unit->text);
  if (currency < 0 || dimension_money(unit->dimension) != 1 || length >= UNIT_LENGTH)
    return unit->text;
  memcpy(buffer, unit->text, length + 1);
  char *at = strstr(buffer, currency_codes[currency]);
  for (int i = 0; at && i < CODE_LENGTH; i++)
    at[i] = currency_codes[BASE_USD][i];
  return buffer;
}

// How numbers of a unit are shown; it depends on the unit only.
static enum number_format number_format_of(const struct unit *unit) {
  static const struct dimension power = {{[BASE_W] = 1}}, hours = {{[BASE_H] = 1}};
  char buffer[UNIT_LENGTH];
  if (unit->percents)
    return NUMBER_PERCENT;
  bool by_year = strstr(unit->text, "/yr") != NULL;
  if (dimension_is_money(unit->dimension))
    return NUMBER_MONEY;
  if (dimension_is_money_per(unit->dimension, BASE_H) && by_year)
    return NUMBER_MONEY;
  const char *text = in_usd(unit, buffer);
  for (size_t i = 0; i < sizeof by_text / sizeof by_text[0]; i++)
    if (strstr(text, by_text[i].part))
      return by_text[i].format;
  if (dimension_money(unit->dimension) > 0)
    return NUMBER_MONEY_SMALL;
  if (dimension_equal(unit->dimension, power))
    return NUMBER_WHOLE;
  if (!strcmp(unit->text, "t"))
    return NUMBER_TENTHS;
  if (dimension_equal(unit->dimension, hours))
    return NUMBER_HUNDREDTHS;
  if (!dimension_is_one(unit->dimension))
    return NUMBER_ANY;
  return strcmp(unit->text, "-") != 0 ? NUMBER_WHOLE : NUMBER_PLAIN;
}

static const struct {
  lxw_color_t colour, fill;
  bool unlocked, bold, italic;
} roles[CELL_ROLES] = {
    [CELL_INPUT] = {BLUE, INPUT_FILL, true, false, false},
    [CELL_OVERRIDE] = {BLUE, OVERRIDE_FILL, true, false, false},
    [CELL_INHERITED] = {LXW_COLOR_BLACK, 0, true, false, true},
    [CELL_FORMULA] = {LXW_COLOR_BLACK, 0, false, false, false},
    [CELL_LINK] = {GREEN, 0, false, false, false},
    [CELL_CONSTANT] = {LXW_COLOR_BLACK, 0, false, false, false},
    [CELL_TOTAL] = {LXW_COLOR_BLACK, 0, false, true, false},
    [CELL_TOTAL_LINK] = {GREEN, 0, false, true, false},
    [CELL_RESULT] = {GREY, 0, false, false, false},
};

static void apply_role(lxw_format *format, enum cell_role role) {
  format_set_font_color(format, roles[role].colour);
  format_set_align(format, LXW_ALIGN_RIGHT);
  if (roles[role].bold)
    format_set_bold(format);
  if (roles[role].italic)
    format_set_italic(format);
  if (!roles[role].fill)
    return;
  format_set_bg_color(format, roles[role].fill);
  format_set_border(format, LXW_BORDER_HAIR);
}

// The code with the given number of decimals.
static void write_code(const char *code, int decimals, char out[CODE_SIZE]) {
  size_t used = 0;
  for (; *code && used + (size_t)decimals + 2 < CODE_SIZE; code++) {
    if (*code != '~')
      out[used++] = *code;
    for (int i = 0; *code == '~' && decimals && i <= decimals; i++)
      out[used++] = i ? '0' : '.';
  }
  out[used] = 0;
}

static lxw_format *new_format(struct formats *formats, enum cell_role role, const char *code,
                              int decimals) {
  char text[CODE_SIZE];
  lxw_format *format = workbook_add_format(formats->workbook);
  write_code(code, decimals, text);
  format_set_num_format(format, text);
  apply_role(format, role);
  if (roles[role].unlocked)
    format_set_unlocked(format);
  return format;
}

static lxw_format *cell_format(struct formats *formats, enum cell_role role,
                               enum number_format number) {
  if (formats->cells[role][number])
    return formats->cells[role][number];
  const bool more = number == NUMBER_COST && formats->cost_decimals > MIN_COST_DECIMALS;
  lxw_format *format = formats->cells[role][number] = new_format(
      formats, role, codes[number].code, more ? formats->cost_decimals : codes[number].decimals);
  if (number == NUMBER_TEXT)
    format_set_text_wrap(format);
  return format;
}

lxw_format *formats_sample(struct formats *formats, enum cell_role role) {
  if (formats->samples[role])
    return formats->samples[role];
  lxw_format *format = formats->samples[role] = workbook_add_format(formats->workbook);
  apply_role(format, role);
  return format;
}

lxw_format *formats_cell(struct formats *formats, enum cell_role role, const struct unit *unit) {
  return cell_format(formats, role, number_format_of(unit));
}

int formats_decimals(double value, const struct unit *unit) {
  const double most = pow(10, MAX_DECIMALS);
  const double shown = round(fabs(unit->percents ? 100 * value : value) * most) / most;
  int decimals = 0;
  for (double scale = 1; decimals < MAX_DECIMALS; decimals++, scale *= 10)
    if (fabs(shown * scale - round(shown * scale)) <= 1e-9 * fmax(1, shown * scale))
      break;
  return decimals;
}

lxw_format *formats_figure(struct formats *formats, enum cell_role role, int decimals,
                           const struct unit *unit) {
  const enum number_format number = number_format_of(unit);
  if (!codes[number].fitted)
    return cell_format(formats, role, number);
  lxw_format **format = &formats->figures[role][number][decimals];
  if (!*format)
    *format = new_format(formats, role, codes[number].fitted, decimals);
  return *format;
}

// A smaller share, or one that lacks less of all, is rounding in the last digits of a double.
static const double least_share = 1e-6, least_lack = 1e-8;

// The share of the last digit shown from which it is rounded up, the rounding of doubles included.
static const double half = 0.5 + 1e-9;

lxw_format *formats_share(struct formats *formats, enum cell_role role, double share) {
  int decimals = codes[NUMBER_PERCENT].decimals;
  if (fabs(share) >= least_share)
    while (decimals < MAX_DECIMALS && fabs(100 * share) * pow(10, decimals) < 0.5)
      decimals++;
  if (share < 1 - least_lack)
    while (decimals < MAX_DECIMALS && 100 * (1 - share) * pow(10, decimals) <= half)
      decimals++;
  return decimals == codes[NUMBER_PERCENT].decimals
             ? cell_format(formats, role, NUMBER_PERCENT)
             : formats_figure(formats, role, decimals, &unit_percent);
}

lxw_format *formats_saving(struct formats *formats, enum cell_role role, double saving) {
  return saving == 0 || !isfinite(saving) ? cell_format(formats, role, NUMBER_SAVING)
                                          : formats_share(formats, role, saving);
}

lxw_format *formats_constant(struct formats *formats, double value, const struct unit *unit) {
  if (value != 0 && fabs(value) < 1e-3 && !unit->percents)
    return cell_format(formats, CELL_CONSTANT, NUMBER_EXPONENT);
  return formats_figure(formats, CELL_CONSTANT, formats_decimals(value, unit), unit);
}

lxw_format *formats_result(struct formats *formats, double value, const struct unit *unit) {
  enum number_format format = number_format_of(unit);
  if (format == NUMBER_PLAIN && value == floor(value))
    format = NUMBER_WHOLE;
  return cell_format(formats, CELL_RESULT, format);
}

lxw_format *formats_column(struct formats *formats, enum cell_role role, int decimals,
                           const struct unit *unit) {
  const enum number_format number = number_format_of(unit);
  const bool counts = number == NUMBER_PLAIN || number == NUMBER_ANY || number == NUMBER_TOKENS;
  if (counts || (number == NUMBER_HUNDREDTHS && decimals < codes[number].decimals))
    return formats_figure(formats, role, decimals, unit);
  return cell_format(formats, role, number);
}

lxw_format *formats_difference(struct formats *formats, enum cell_role role) {
  return cell_format(formats, role, NUMBER_EXPONENT);
}

lxw_format *formats_small(struct formats *formats, enum cell_role role, const struct unit *unit) {
  return cell_format(formats, role, unit->percents ? NUMBER_PERCENT_SMALL : NUMBER_EXPONENT);
}

lxw_format *formats_cell_text(struct formats *formats, enum cell_role role) {
  return cell_format(formats, role, NUMBER_TEXT);
}

static const struct {
  lxw_color_t colour, fill;
  int size;                                                         // 0: the workbook's
  bool bold, italic, right, wrapped, underlined, indented, centred; // centred: between its edges
} texts[TEXT_FORMATS] = {
    [TEXT_TITLE] = {.colour = HEADER_FILL, .size = 16, .bold = true},
    [TEXT_TITLE_WRAPPED] =
        {.colour = HEADER_FILL, .size = 16, .bold = true, .wrapped = true, .centred = true},
    [TEXT_SUBTITLE] = {.colour = GREY, .size = 12},
    [TEXT_NOTE] = {.colour = GREY, .italic = true},
    [TEXT_HEADER] = {.colour = WHITE, .fill = HEADER_FILL, .bold = true},
    [TEXT_HEADER_RIGHT] =
        {.colour = WHITE, .fill = HEADER_FILL, .bold = true, .wrapped = true, .right = true},
    [TEXT_HEADER_INDENTED] = {.colour = WHITE, .fill = HEADER_FILL, .bold = true, .indented = true},
    [TEXT_INDENTED] = {.indented = true},
    [TEXT_WRAPPED] = {.wrapped = true},
    [TEXT_INDENTED_WRAPPED] = {.indented = true, .wrapped = true},
    [TEXT_HEADING] = {.colour = HEADER_FILL, .fill = HEADING_FILL, .bold = true},
    [TEXT_STAMP] = {.colour = RED, .size = 12, .bold = true},
    [TEXT_STRONG_WRAPPED] = {.size = 12, .bold = true, .wrapped = true},
    [TEXT_NOTE_WRAPPED] = {.colour = GREY, .italic = true, .wrapped = true},
    [TEXT_STAMP_WRAPPED] = {.colour = RED, .size = 12, .bold = true, .wrapped = true},
    [TEXT_STRONG] = {.size = 12, .bold = true},
    [TEXT_ANSWER] = {.colour = LXW_COLOR_BLACK,
                     .fill = HEADING_FILL,
                     .size = 14,
                     .bold = true,
                     .wrapped = true,
                     .centred = true},
    [TEXT_FIXED] = {.colour = GREY},
    [TEXT_FIXED_WRAPPED] = {.colour = GREY, .wrapped = true},
    [TEXT_FIXED_INDENTED_WRAPPED] = {.colour = GREY, .indented = true, .wrapped = true},
    [TEXT_FIXED_RIGHT] = {.colour = GREY, .right = true},
    [TEXT_FIXED_STRONG_WRAPPED] = {.colour = GREY, .size = 12, .bold = true, .wrapped = true},
    [TEXT_RIGHT] = {.right = true},
    [TEXT_RIGHT_WRAPPED] = {.right = true, .wrapped = true},
    [TEXT_LINKED] = {.colour = GREEN},
    [TEXT_LINKED_RIGHT] = {.colour = GREEN, .right = true},
    [TEXT_LINKED_INDENTED] = {.colour = GREEN, .indented = true},
    [TEXT_LINKED_WRAPPED] = {.colour = GREEN, .wrapped = true},
    [TEXT_LINKED_RIGHT_WRAPPED] = {.colour = GREEN, .right = true, .wrapped = true},
    [TEXT_LINK] = {.colour = HEADER_FILL, .underlined = true},
    [TEXT_GOOD] = {.fill = GOOD_FILL, .bold = true, .right = true},
    [TEXT_BAD] = {.fill = BAD_FILL, .bold = true, .right = true},
    [TEXT_CHANGED] = {.fill = OVERRIDE_FILL},
    [TEXT_PAST] = {.colour = WHITE, .fill = WHITE},
};

lxw_format *formats_text(struct formats *formats, enum text_format which) {
  if (formats->texts[which])
    return formats->texts[which];
  lxw_format *format = formats->texts[which] = workbook_add_format(formats->workbook);
  if (texts[which].colour)
    format_set_font_color(format, texts[which].colour);
  if (texts[which].fill)
    format_set_bg_color(format, texts[which].fill);
  if (texts[which].size)
    format_set_font_size(format, texts[which].size);
  if (texts[which].bold)
    format_set_bold(format);
  if (texts[which].italic)
    format_set_italic(format);
  if (texts[which].right)
    format_set_align(format, LXW_ALIGN_RIGHT);
  if (texts[which].underlined)
    format_set_underline(format, LXW_UNDERLINE_SINGLE);
  if (texts[which].indented)
    format_set_indent(format, 1);
  if (texts[which].wrapped)
    format_set_text_wrap(format);
  if (which == TEXT_PAST)
    format_set_num_format(format, ";;;");
  if (texts[which].centred)
    format_set_align(format, LXW_ALIGN_VERTICAL_CENTER);
  return format;
}
