#include "model/cost/typed_unit.h"

#include "model/cost/units.h"

#include <ctype.h>
#include <string.h>

#define SPACES " \t"
#define JOINTS SPACES "/*^-"

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && !strncmp(text, word, length);
}

// ---- multiples

static const struct multiple {
  const char *word;
  double value;
  char letter; // before `tok`
} multiples[] = {
    {"k", 1e3, 'k'},       {"K", 1e3, 'k'},         {"thousand", 1e3, 'k'}, {"M", 1e6, 'M'},
    {"million", 1e6, 'M'}, {"mio", 1e6, 'M'},       {"mio.", 1e6, 'M'},     {"Mio", 1e6, 'M'},
    {"Mio.", 1e6, 'M'},    {"mn", 1e6, 'M'},        {"B", 1e9, 'G'},        {"bn", 1e9, 'G'},
    {"billion", 1e9, 'G'}, {"trillion", 1e12, 'T'}, {"tn", 1e12, 'T'},      {"T", 1e12, 'T'},
};

static const struct multiple *find_multiple(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; i++)
    if (is_word(word, length, multiples[i].word))
      return &multiples[i];
  return NULL;
}

static size_t letters(const char *text) {
  size_t length = 0;
  while (isalpha((unsigned char)text[length]) || (length && text[length] == '.'))
    length++;
  return length;
}

// "kEUR", "MUSD"; but "TEUR" is a thousand to some and a trillion to others.
static bool is_before_code(const char *word, size_t length) {
  enum { CODE = 3 };
  char code[CODE + 1] = "";
  if (length != 1 + CODE || !strchr("kKM", *word))
    return false;
  memcpy(code, word + 1, CODE);
  return currency_find(code) >= 0;
}

static bool is_tokens(const char *word, size_t length) {
  static const char *const names[] = {"tok", "toks", "token", "tokens", "Tok", "Toks", "Tokens"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (is_word(word, length, names[i]))
      return true;
  return false;
}

// A T may be a thousand, but not of tokens; a B is a byte in "141 B" and "2 B per token".
static bool may_be_else(const char *word, size_t length, bool after_currency) {
  const char *next = word + length + strspn(word + length, SPACES);
  const size_t next_length = letters(next);
  if (is_word(word, length, "T"))
    return !is_tokens(next, next_length);
  return is_word(word, length, "B") && !after_currency &&
         (!next_length || is_word(next, next_length, "per"));
}

size_t typed_unit_multiple(const char *text, bool after_currency, double *value) {
  const char *word = text + strspn(text, SPACES);
  size_t length = letters(word);
  if (is_before_code(word, length))
    length = 1;
  else if (isdigit((unsigned char)word[length]) || word[length] == '_')
    return 0;
  const struct multiple *multiple = find_multiple(word, length);
  if (!multiple || may_be_else(word, length, after_currency))
    return 0;
  *value *= multiple->value;
  return (size_t)(word - text) + length;
}

// ---- currencies

const char *typed_unit_currency(const char *text, size_t *length) {
  for (size_t i = 0; i < CURRENCY_SIGNS; i++)
    if (!strncmp(text, currency_signs[i].sign, *length = strlen(currency_signs[i].sign)))
      return currency_signs[i].code;
  *length = 3;
  for (size_t i = 0; i < CURRENCIES; i++)
    if (!strncmp(text, currency_codes[i], *length))
      return currency_codes[i];
  return NULL;
}

// ---- units

static const struct {
  const char *typed, *name;
} words[] = {
    {"dollar", "USD"},
    {"dollars", "USD"},
    {"euro", "EUR"},
    {"euros", "EUR"},
    {"percent", "%"},
    {"pct", "%"},
    {"per", "/"},
    {"p.a.", "/yr"},
    {"pa", "/yr"},
    {"annually", "/yr"},
    {"yearly", "/yr"},
    {"monthly", "/month"},
    {"y", "yr"},
    {"yrs", "yr"},
    {"annum", "yr"},
    {"mo", "month"},
    {"mos", "month"},
    {"wk", "week"},
    {"wks", "week"},
    {"d", "day"},
    {"hr", "h"},
    {"hrs", "h"},
    {"minute", "min"},
    {"minutes", "min"},
    {"mins", "min"},
    {"sec", "s"},
    {"secs", "s"},
    {"second", "s"},
    {"seconds", "s"},
    {"GPU", "gpu"},
    {"GPUs", "gpu"},
    {"gpus", "gpu"},
    {"accelerator", "gpu"},
    {"accelerators", "gpu"},
    {"nodes", "node"},
    {"server", "node"},
    {"servers", "node"},
    {"tokens", "token"},
    {"Tokens", "token"},
    {"tps", "token/s"},
    {"requests", "request"},
    {"req", "request"},
    {"FTEs", "FTE"},
    {"person", "FTE"},
    {"persons", "FTE"},
    {"people", "FTE"},
    {"engineer", "FTE"},
    {"engineers", "FTE"},
    {"watt", "W"},
    {"Watt", "W"},
    {"watts", "W"},
    {"Watts", "W"},
    {"kilowatt", "kW"},
    {"kilowatts", "kW"},
    {"liter", "L"},
    {"liters", "L"},
    {"litre", "L"},
    {"litres", "L"},
    {"m\xC2\xB3", "m3"},
    {"tonne", "t"},
    {"tonnes", "t"},
    {"gCO2", "g"},
    {"gCO2e", "g"},
    {"gCO2eq", "g"},
    {"kgCO2", "kg"},
    {"kgCO2e", "kg"},
    {"kgCO2eq", "kg"},
};

static const char *name_of(const char *word, size_t length) {
  for (size_t i = 0; i < CURRENCY_SIGNS; i++)
    if (is_word(word, length, currency_signs[i].sign))
      return currency_signs[i].code;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (is_word(word, length, words[i].typed))
      return words[i].name;
  return NULL;
}

// A unit's text, word by word.
struct reading {
  const char *at, *written;
  bool below, changed; // after a '/'; some word has another name
  struct arena *arena;
};

// The word after the one that begins at `at`, behind spaces alone, and its length.
static const char *next_word(const char *at, size_t length, size_t *next_length) {
  const char *next = at + length + strspn(at + length, SPACES);
  *next_length = next > at + length ? strcspn(next, JOINTS) : 0;
  return next;
}

static void name_as(struct reading *reading, const char *name, size_t length) {
  reading->written = arena_printf(reading->arena, "%s%s", reading->written, name);
  reading->below |= *name == '/';
  reading->changed = true;
  reading->at += length;
}

static void copy(struct reading *reading, size_t length) {
  reading->written =
      arena_printf(reading->arena, "%s%.*s", reading->written, (int)length, reading->at);
  reading->at += length;
}

// Reads what joins two words of a unit. A hyphen below a '/' counts as another '/': "USD/GPU-hour".
static void read_joint(struct reading *reading) {
  const size_t before = strlen(reading->written);
  const bool joins = before && isalnum((unsigned char)reading->written[before - 1]) &&
                     isalpha((unsigned char)reading->at[1]);
  reading->below |= *reading->at == '/';
  if (*reading->at == '-' && reading->below && joins)
    name_as(reading, "/", 1);
  else
    copy(reading, 1);
}

// "1M tokens", "million tokens" and "MTok", as a price is per.
static bool read_many_tokens(struct reading *reading, size_t length) {
  const char *at = reading->at;
  size_t after;
  const size_t one = *at == '1' && length > 1;
  const char *next = next_word(at, length, &after);
  const bool apart = reading->below && is_tokens(next, after);
  const struct multiple *many = apart ? find_multiple(at + one, length - one)
                                : strchr("kMGT", *at) && is_tokens(at + 1, length - 1)
                                    ? find_multiple(at, 1)
                                    : NULL;
  if (!many)
    return false;
  name_as(reading, arena_printf(reading->arena, "%ctok", many->letter),
          apart ? (size_t)(next - at) + after : length);
  return true;
}

static bool follows_mass(const struct reading *reading) {
  const size_t length = strlen(reading->written);
  return length > 1 && reading->written[length - 1] == ' ' &&
         strchr("gt", reading->written[length - 2]);
}

// "% a year", "per cent", "kg CO2e": a word whose meaning is in the words around it.
static bool read_among_others(struct reading *reading, size_t length) {
  size_t after;
  const char *at = reading->at, *next = next_word(at, length, &after);
  if (is_word(at, length, "per") && is_word(next, after, "cent"))
    name_as(reading, "%", (size_t)(next - at) + after);
  else if (is_word(at, length, "a"))
    name_as(reading, after && *reading->written ? "/" : "yr", length);
  else if (follows_mass(reading) && !strncmp(at, "CO2", strlen("CO2")))
    name_as(reading, "", length);
  else
    return false;
  return true;
}

static void read_word(struct reading *reading, size_t length) {
  if (read_many_tokens(reading, length) || read_among_others(reading, length))
    return;
  const char *name = name_of(reading->at, length);
  if (name)
    name_as(reading, name, length);
  else
    copy(reading, length);
}

const char *unit_as_typed(const char *text, struct arena *arena) {
  struct reading reading = {.at = text, .written = "", .arena = arena};
  while (*reading.at) {
    const size_t length = strcspn(reading.at, JOINTS);
    if (length)
      read_word(&reading, length);
    else
      read_joint(&reading);
  }
  return reading.changed ? reading.written : text;
}
