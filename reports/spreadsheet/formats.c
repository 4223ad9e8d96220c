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

// Positive; negative; zero.
static const char *const codes[NUMBER_FORMATS] = {
    [NUMBER_MONEY] = "#,##0_);(#,##0);\"-\"_)",
    [NUMBER_MONEY_CENTS] = "#,##0.00_);(#,##0.00);\"-\"_)",
    [NUMBER_MONEY_SMALL] = "#,##0.0000_);(#,##0.0000);\"-\"_)",
    [NUMBER_PERCENT] = "0.00%_);(0.00%);0.00%_)",
    [NUMBER_PERCENT_SMALL] = "0.0000%_);(0.0000%);0.0000%_)",
    [NUMBER_WHOLE] = "#,##0_);(#,##0);0_)",
    [NUMBER_TENTHS] = "#,##0.0_);(#,##0.0);0_)",
    [NUMBER_HUNDREDTHS] = "#,##0.00_);(#,##0.00);0_)",
    [NUMBER_PLAIN] = "[=0]0_);[=1]0_);#,##0.0000_)",
    [NUMBER_TOKENS] = "[>=1000000000]#,##0.0000,,,,\" T\"_);[<0](#,##0);#,##0_)",
    [NUMBER_ANY] = "#,##0.0000_);(#,##0.0000);0_)",
    [NUMBER_EXPONENT] = "0.00E+00_)",
    [NUMBER_TEXT] = "@",
};

// What unit texts contain, the first that fits; the dimension decides where none does.
static const struct {
  const char *part;
  enum number_format format;
} by_text[] = {
    {"USD/Mtok", NUMBER_MONEY_SMALL},
    {"USD/kWh", NUMBER_MONEY_SMALL},
    {"USD/kW/month", NUMBER_MONEY_CENTS},
    {"USD/kW", NUMBER_MONEY},
    {"USD/gpu/h", NUMBER_MONEY_SMALL},
    {"USD/h", NUMBER_MONEY_SMALL},
    {"month", NUMBER_MONEY_CENTS},
    {"USD/m3", NUMBER_MONEY_CENTS},
    {"J/token", NUMBER_PLAIN},
    {"token", NUMBER_TOKENS},
    {"Mtok", NUMBER_TOKENS},
    {"FTE", NUMBER_HUNDREDTHS},
    {"Wh", NUMBER_WHOLE},
    {"kW", NUMBER_TENTHS},
    {"MW", NUMBER_HUNDREDTHS},
};

enum { UNIT_LENGTH = 64, CODE_LENGTH = 3 };

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

// How numbers of a unit are shown: depends on the unit alone.
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

static lxw_format *cell_format(struct formats *formats, enum cell_role role,
                               enum number_format number) {
  if (formats->cells[role][number])
    return formats->cells[role][number];
  lxw_format *format = formats->cells[role][number] = workbook_add_format(formats->workbook);
  format_set_num_format(format, codes[number]);
  apply_role(format, role);
  if (roles[role].unlocked)
    format_set_unlocked(format);
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

lxw_format *formats_constant(struct formats *formats, double value, const struct unit *unit) {
  enum number_format format = number_format_of(unit);
  if (format == NUMBER_PLAIN)
    format = value == floor(value) ? NUMBER_WHOLE : NUMBER_ANY;
  if (value != 0 && fabs(value) < 1e-3 && !unit->percents)
    format = NUMBER_EXPONENT;
  return cell_format(formats, CELL_CONSTANT, format);
}

lxw_format *formats_result(struct formats *formats, double value, const struct unit *unit) {
  enum number_format format = number_format_of(unit);
  if (format == NUMBER_PLAIN && value == floor(value))
    format = NUMBER_WHOLE;
  return cell_format(formats, CELL_RESULT, format);
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
  int size;                                                         // 0: as the workbook's
  bool bold, italic, right, wrapped, underlined, indented, centred; // centred: between its edges
} texts[TEXT_FORMATS] = {
    [TEXT_TITLE] = {.colour = HEADER_FILL, .size = 16, .bold = true},
    [TEXT_TITLE_WRAPPED] =
        {.colour = HEADER_FILL, .size = 16, .bold = true, .wrapped = true, .centred = true},
    [TEXT_SUBTITLE] = {.colour = GREY, .size = 12},
    [TEXT_NOTE] = {.colour = GREY, .italic = true},
    [TEXT_HEADER] = {.colour = WHITE, .fill = HEADER_FILL, .bold = true},
    [TEXT_HEADER_RIGHT] = {.colour = WHITE, .fill = HEADER_FILL, .bold = true, .right = true},
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
