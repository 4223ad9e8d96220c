#include "reports/page/page.h"

#include "model/scenario/scenario.h"
#include "reports/page/assets.h"
#include "reports/page/data.h"
#include "reports/page/graphs.h"
#include "reports/page/markup.h"
#include "reports/page/plain.h"
#include "reports/page/script_formula.h"
#include "reports/print/json_out.h"

#include <gcrypt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool page_has_charts(void) {
  return *page_charts != 0;
}

// A placeholder between {{ and }} in the shell, and the text that replaces it.
struct part {
  const char *name, *text;
};

// RFC 4648, section 4.
static char *base64(const unsigned char *bytes, size_t size, struct arena *arena) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = arena_alloc(arena, (size + 2) / 3 * 4 + 1), *at = text;
  for (size_t i = 0; i < size; i += 3) {
    const unsigned long group = (unsigned long)bytes[i] << 16 |
                                (i + 1 < size ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                (i + 2 < size ? bytes[i + 2] : 0);
    for (int k = 0; k < 4; k++)
      *at++ = i + (size_t)k <= size ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// "'sha256-...'": the hash that permits an inline script or style with this text.
static const char *source_hash(const char *text, struct arena *arena) {
  unsigned char digest[32];
  gcry_md_hash_buffer(GCRY_MD_SHA256, digest, text, strlen(text));
  return arena_printf(arena, "'sha256-%s'", base64(digest, sizeof digest, arena));
}

// Allows these scripts and a worker made of them; nothing is fetched, and there is one style sheet.
static const char *policy(const char *const *scripts, size_t count, struct arena *arena) {
  const char *hashes = "";
  for (size_t i = 0; i < count; i++)
    hashes = arena_printf(arena, "%s %s", hashes, source_hash(scripts[i], arena));
  return arena_printf(arena,
                      "default-src 'none'; script-src%s; worker-src blob:; style-src %s; "
                      "img-src data:; base-uri 'none'; form-action 'none'",
                      hashes, source_hash(page_style, arena));
}

// JSON without '<', which can only be inside a string there.
static const char *escape_json(const char *text, struct arena *arena) {
  char *escaped = arena_alloc(arena, 6 * strlen(text) + 1), *at = escaped;
  for (; *text; text++) {
    if (*text == '<')
      at = stpcpy(at, "\\u003c");
    else
      *at++ = *text;
  }
  return escaped;
}

static const char *graphs_script(const struct page_graphs *graphs, struct arena *arena) {
  const char *text = "'use strict';\nconst graphs = [\n";
  for (size_t g = 0; g < graphs->count; g++)
    text = arena_printf(arena, "%s%s,\n", text, script_graph(graphs->graphs[g], arena));
  return arena_printf(arena, "%s];\n", text);
}

static const char *data_text(const struct page *page, const struct page_graphs *graphs,
                             struct arena *arena, struct diagnostics *diagnostics) {
  json_t *data = page_data(page, graphs, arena, diagnostics);
  if (!data)
    return NULL;
  char *text = json_out_text_of(data, JSON_COMPACT);
  const char *escaped = escape_json(text ? text : "null", arena);
  free(text);
  json_decref(data);
  return escaped;
}

static const struct part *find_part(const struct part *parts, const char *name, size_t length) {
  for (; parts->name; parts++)
    if (strlen(parts->name) == length && !strncmp(parts->name, name, length))
      return parts;
  return NULL;
}

static void print_shell(const struct part *parts, FILE *out) {
  const char *at = page_shell, *open;
  while ((open = strstr(at, "{{"))) {
    const char *close = strstr(open, "}}");
    const struct part *part = close ? find_part(parts, open + 2, (size_t)(close - open - 2)) : NULL;
    if (!part)
      break;
    fwrite(at, 1, (size_t)(open - at), out);
    fputs(part->text, out);
    at = close + 2;
  }
  fputs(at, out);
}

int page_print(const struct page *page, FILE *out, struct arena *arena,
               struct diagnostics *diagnostics) {
  const struct scenario *scenario = page->cases[0];
  const struct page_graphs graphs = page_graphs_of(scenario, arena);
  const char *formulas = graphs_script(&graphs, arena);
  const char *data = data_text(page, &graphs, arena, diagnostics);
  if (!data)
    return -1;
  const char *const scripts[] = {page_charts, page_engine, formulas, page_script};
  const struct part parts[] = {
      {"policy", policy(scripts, sizeof scripts / sizeof scripts[0], arena)},
      {"title", markup_text(scenario->title, arena)},
      {"style", page_style},
      {"plain", page_plain(page->cases[page->start], arena)},
      {"data", data},
      {"charts", page_charts},
      {"engine", page_engine},
      {"formulas", formulas},
      {"script", page_script},
      {"licences", markup_text(page_licences, arena)},
      {NULL, NULL},
  };
  print_shell(parts, out);
  return 0;
}
