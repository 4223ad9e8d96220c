#include "reports/commands/asking.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/draft/draft.h"
#include "model/draft/price.h"
#include "model/draft/request.h"
#include "model/draft/template.h"
#include "model/evidence/naming.h"
#include "reports/commands/prompt.h"
#include "reports/commands/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct asking {
  struct run *run;
  struct catalog *catalog;
  struct draft_request *request;
};

// ---- names

static void list_names(const struct asking *asking, enum catalog_table which) {
  const struct table *table = catalog_table(asking->catalog, which);
  for (size_t row = 0; table && row < table->rows; row++)
    prompt_say(asking->run,
               arena_printf(asking->run->arena, "  %-20s %s", table_cell(table, row, "id"),
                            table_cell(table, row, "name")));
}

static struct texts ids_of(const struct asking *asking, enum catalog_table which) {
  const struct table *table = catalog_table(asking->catalog, which);
  struct texts ids = {0};
  for (size_t row = 0; table && row < table->rows; row++)
    texts_add(&ids, asking->run->arena, "%s", table_cell(table, row, "id"));
  return ids;
}

// The only id that begins so, or NULL.
static const char *completed(const struct asking *asking, enum catalog_table which,
                             const char *typed) {
  const struct table *table = catalog_table(asking->catalog, which);
  const char *found = NULL;
  for (size_t row = 0; table && row < table->rows; row++) {
    const char *id = table_cell(table, row, "id");
    if (strncasecmp(id, typed, strlen(typed)) != 0)
      continue;
    if (found)
      return NULL;
    found = id;
  }
  return found;
}

// The id that is meant; NULL after reporting that there is none.
static const char *named(const struct asking *asking, enum catalog_table which, const char *typed) {
  long row;
  const struct naming naming =
      naming_find_row(asking->catalog, which, typed, &row, asking->run->arena);
  const char *id = naming.word ? naming.word : completed(asking, which, typed);
  if (id && strcmp(id, typed) != 0)
    prompt_say(asking->run, arena_printf(asking->run->arena, "  %s", id));
  if (!id)
    prompt_say(asking->run, naming.why ? naming.why : "the catalogue cannot be read");
  return id;
}

// The ids in a line of names separated by spaces or commas; 0 after reporting what is wrong.
static size_t read_names(const struct asking *asking, const char *line, const char **ids) {
  char *rest = arena_copy(asking->run->arena, line), *word;
  size_t count = 0;
  while ((word = strsep(&rest, " ,"))) {
    if (!*word)
      continue;
    ids[count] = named(asking, CATALOG_ACCELERATORS, word);
    for (size_t k = 0; ids[count] && k < count; k++)
      if (!strcmp(ids[k], ids[count])) {
        prompt_say(asking->run, "the same accelerator twice");
        return 0;
      }
    if (!ids[count++])
      return 0;
  }
  return count;
}

// Accelerators of both vendors that have published figures for the default of the next question,
// the model.
static const char usual_accelerators[] = "mi355x-288 b200-sxm-180", usual_model[] = "llama-2-70b";

static int ask_accelerators(const struct asking *asking) {
  const struct texts ids = ids_of(asking, CATALOG_ACCELERATORS);
  for (;;) {
    const char *line = prompt_ask_among(
        asking->run, "Accelerators, separated by spaces (? lists them, Tab completes)",
        usual_accelerators, &ids);
    if (!line)
      return -1;
    if (!strcmp(line, "?")) {
      list_names(asking, CATALOG_ACCELERATORS);
      continue;
    }
    const char **chosen = arena_array(asking->run->arena, strlen(line) + 1, sizeof *chosen);
    asking->request->accelerators = chosen;
    if ((asking->request->accelerator_count = read_names(asking, line, chosen)))
      return 0;
  }
}

static int ask_model(const struct asking *asking) {
  const struct texts ids = ids_of(asking, CATALOG_MODELS);
  asking->request->model = asking->run->options.model;
  while (!asking->request->model) {
    const char *line = prompt_ask_among(asking->run, "Model (? lists them)", usual_model, &ids);
    if (!line)
      return -1;
    if (!strcmp(line, "?"))
      list_names(asking, CATALOG_MODELS);
    else
      asking->request->model = named(asking, CATALOG_MODELS, line);
  }
  return 0;
}

// ---- quantities

// Whether the text is a quantity of that unit; reports why not. A bare number gets the unit.
static bool is_quantity(const struct asking *asking, const char **text, const char *unit) {
  struct arena *arena = asking->run->arena;
  struct diagnostics said = {.arena = arena};
  struct unit parsed;
  double value;
  if (strspn(*text, "0123456789.") == strlen(*text) && **text)
    *text = arena_printf(arena, "%s %s", *text, unit);
  const struct place place = source_text_start("typed", *text, arena);
  if (!unit_parse(unit, place, &parsed, arena, &said) &&
      !quantity_parse(*text, place, &parsed, &value, &said))
    return true;
  for (size_t i = 0; i < said.count; i++)
    prompt_say(asking->run, said.list[i].message);
  return false;
}

static bool is_count(const char *text) {
  return *text && strspn(text, "0123456789") == strlen(text);
}

static int ask_volume(const struct asking *asking) {
  const struct options *options = &asking->run->options;
  struct draft_request *request = asking->request;
  const bool needs_demand = draft_needs_demand(request->question);
  request->count = needs_demand ? NULL : options->count;
  request->demand = request->count ? NULL : options->demand;
  while (!request->count && !request->demand) {
    const char *line =
        needs_demand
            ? prompt_ask(asking->run, "Demand for output tokens, for example 60000000 Mtok/yr", "")
            : prompt_ask(asking->run,
                         "How many accelerators of each, or a demand, for example 60000000 Mtok/yr",
                         "64");
    if (!line)
      return -1;
    if (!needs_demand && is_count(line) && strtod(line, NULL) >= 1)
      request->count = line;
    else if (is_count(line))
      prompt_say(asking->run, needs_demand ? "a demand, with its unit" : "at least 1");
    else if (is_quantity(asking, &line, "Mtok/yr"))
      request->demand = line;
  }
  return 0;
}

static void add_setting(const struct asking *asking, const char *setting) {
  struct draft_request *request = asking->request;
  request->settings = arena_grow(asking->run->arena, request->settings, request->setting_count,
                                 request->setting_count + 1, sizeof *request->settings);
  ((const char **)request->settings)[request->setting_count++] = setting;
}

// An entry becomes a setting; an empty line keeps the draft's value, `usual`.
static int ask_quantity(const struct asking *asking, const char *question, const char *usual,
                        const char *key, const char *unit) {
  for (;;) {
    const char *line = prompt_ask(asking->run, question, usual);
    if (!line)
      return -1;
    if (line == usual)
      return 0;
    if (!is_quantity(asking, &line, unit))
      continue;
    add_setting(asking, arena_printf(asking->run->arena, "%s=%s", key, line));
    return 0;
  }
}

static const char *price_words(const struct asking *asking, const char *accelerator) {
  struct arena *arena = asking->run->arena;
  const struct table *prices = catalog_table(asking->catalog, CATALOG_PRICES);
  const long row = prices ? draft_price_find(prices, accelerator, "purchase", arena) : -1;
  if (row < 0)
    return "not published: a stand-in";
  return arena_printf(
      arena, "%s USD, %s of %s", table_cell(prices, (size_t)row, "usd_per_gpu_equivalent"),
      table_cell(prices, (size_t)row, "id"), table_cell(prices, (size_t)row, "as_of"));
}

static int ask_prices(const struct asking *asking) {
  const struct draft_request *request = asking->request;
  struct run *run = asking->run;
  const char *const *options = draft_ids(request, asking->catalog, run->arena, run->diagnostics);
  if (!options)
    return -1;
  for (size_t i = 0; i < request->accelerator_count; i++)
    if (ask_quantity(asking, arena_printf(run->arena, "List price of one %s, in USD", options[i]),
                     price_words(asking, request->accelerators[i]),
                     arena_printf(run->arena, "%s.list_price", options[i]), "USD/gpu"))
      return -1;
  return 0;
}

static int ask_power(const struct asking *asking) {
  const char *usual = "";
  for (size_t i = 0; i < template_key_count && !*usual; i++)
    if (!strcmp(template_keys[i].key, "electricity_price"))
      usual = template_keys[i].value;
  return ask_quantity(asking, "Electricity price", usual, "electricity_price", "USD/kWh");
}

int ask_draft(struct run *run, struct catalog *catalog, struct draft_request *request,
              const char **path) {
  const struct asking asking = {.run = run, .catalog = catalog, .request = request};
  if (ask_accelerators(&asking) || ask_model(&asking) || ask_volume(&asking) ||
      ask_prices(&asking) || ask_power(&asking))
    return -1;
  if (*path)
    return 0;
  *path = prompt_ask(run, "File to write", "scenario.ini");
  return *path ? 0 : -1;
}
