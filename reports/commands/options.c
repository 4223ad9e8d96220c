#include "reports/commands/options.h"

#include "base/diagnostics.h"
#include "base/text_option.h"

#include <argp.h>
#include <string.h>

enum key {
  KEY_SET = 256,
  KEY_CASE,
  KEY_MIXED,
  KEY_MODEL,
  KEY_DATA,
  KEY_MEASUREMENTS,
  KEY_FORMAT,
  KEY_WHERE,
  KEY_OPTION,
  KEY_SWING,
  KEY_GRID,
  KEY_FOR,
  KEY_MATCH,
  KEY_TARGET,
  KEY_SAVING,
  KEY_BETWEEN,
  KEY_DRAWS,
  KEY_SEED,
  KEY_METHOD,
  KEY_SHARD,
  KEY_CONTEXT,
  KEY_KV,
  KEY_ACCELERATORS,
  KEY_PARAMETERS,
  KEY_TABLE,
  KEY_EXPECT,
  KEY_MARGIN,
  KEY_ACCELERATOR,
  KEY_PRECISION,
  KEY_MODEL_ID,
  KEY_DATE,
  KEY_PUBLISHED,
  KEY_POWER,
  KEY_DEVICES,
  KEY_UTC_OFFSET,
  KEY_CLOCK_OFFSET,
};

static const struct known_option {
  struct argp_option option;
  unsigned groups; // 0: every command
} known_options[] = {
    {{"set", KEY_SET, "KEY=VALUE", 0,
      "Change an input for all options, or with OPTION.KEY=VALUE for one; may be repeated", 0},
     OPTIONS_SCENARIO},
    {{"case", KEY_CASE, "NAME", 0, "Take the scenario's [case NAME]", 0}, OPTIONS_SCENARIO},
    {{"mixed", KEY_MIXED, NULL, 0, "Compare throughputs of unlike workloads; the result says so",
      0},
     OPTIONS_SCENARIO},
    {{"model", KEY_MODEL, "FILE", 0, "Use another cost model than the built-in one", 0},
     OPTIONS_SCENARIO},
    {{"data", KEY_DATA, "DIR", 0, "Use the catalogue in another directory", 0}, OPTIONS_DATA},
    {{"measurements", KEY_MEASUREMENTS, "DIR", 0, "Use the records that pertoken-probe left there",
      0},
     OPTIONS_SCENARIO},
    {{"where", KEY_WHERE, "CONDITION", 0,
      "Only rows with COLUMN=VALUE, or COLUMN~TEXT (contains); may be repeated, all must hold", 0},
     OPTIONS_WHERE},
    {{"option", KEY_OPTION, "ID", 0, "The option that is asked about", 0}, OPTIONS_OPTION},
    {{"swing", KEY_SWING, "SHARE", 0, "How far an input without a range moves either way (20 %)",
      0},
     OPTIONS_SWING},
    {{"grid", KEY_GRID, "AXES", 0,
      "One or two inputs as INPUT=LOW:HIGH:STEP, with a comma in between", 0},
     OPTIONS_SWING},
    {{"for", KEY_FOR, "INPUT", 0, "The input whose value is wanted", 0}, OPTIONS_SOLVE},
    {{"for", KEY_FOR, "NAME", 0, "Only the question of this name", 0}, OPTIONS_FOR},
    {{"match", KEY_MATCH, "ID", 0, "Cost as much as this option (the baseline)", 0}, OPTIONS_SOLVE},
    {{"target", KEY_TARGET, "COST", 0, "Cost this much instead, as '0.30 USD/Mtok'", 0},
     OPTIONS_SOLVE},
    {{"saving", KEY_SAVING, "SHARE", 0, "Cost that much less, as '5 %'", 0}, OPTIONS_SOLVE},
    {{"between", KEY_BETWEEN, "LOW:HIGH", 0, "Look in this interval only", 0}, OPTIONS_SOLVE},
    {{"draws", KEY_DRAWS, "N", 0, "How often to draw all ranged inputs (65536; solve: 16384)", 0},
     OPTIONS_DRAWS},
    {{"seed", KEY_SEED, "N", 0, "Another seed gives other draws (1)", 0}, OPTIONS_DRAWS},
    {{"method", KEY_METHOD, "METHOD", 0, "sobol (the default) or random", 0}, OPTIONS_DRAWS},
    {{"shard", KEY_SHARD, "I/N", 0,
      "Make the I-th of N parts, from 1, and print it for 'pertoken merge'", 0},
     OPTIONS_SHARD},
    {{"context", KEY_CONTEXT, "TOKENS", 0, "That a request holds, in and out (4096)", 0},
     OPTIONS_FIT},
    {{"kv", KEY_KV, "PRECISION", 0, "Of the KV cache (bf16)", 0}, OPTIONS_FIT},
    {{"accelerators", KEY_ACCELERATORS, "N", 0, "On exactly so many, not the fewest that do", 0},
     OPTIONS_FIT},
    {{"parameters", KEY_PARAMETERS, "N", 0, "A model of that many parameters, as 70e9", 0},
     OPTIONS_FIT},
    {{"table", KEY_TABLE, "CLAIMS.csv", 0,
      "Recompute every claim of a table from the catalogues instead", 0},
     OPTIONS_TABLE},
    {{"expect", KEY_EXPECT, "NODES", 0,
      "The nodes that there should be: a list of names, or a CSV table with a column 'node'", 0},
     OPTIONS_FLEET},
    {{"margin", KEY_MARGIN, "'3 %'", 0,
      "How far off the median a node or device must be, at least, to stand out", 0},
     OPTIONS_FLEET},
    {{"accelerator", KEY_ACCELERATOR, "ID", 0, "What the files were measured on", 0},
     OPTIONS_IMPORT},
    {{"accelerators", KEY_ACCELERATORS, "N", 0, "On how many", 0}, OPTIONS_IMPORT},
    {{"precision", KEY_PRECISION, "PRECISION", 0, "Of the weights", 0}, OPTIONS_IMPORT},
    {{"model", KEY_MODEL_ID, "ID", 0, "The catalogue's name of the model", 0}, OPTIONS_IMPORT},
    {{"date", KEY_DATE, "YYYY-MM-DD", 0, "The day of the run", 0}, OPTIONS_IMPORT},
    {{"published", KEY_PUBLISHED, "'TITLE, URL'", 0,
      "Where somebody published the files; without it they are of your own run", 0},
     OPTIONS_IMPORT},
    {{"power", KEY_POWER, "FILE", 0, "Watts over the same time, as a meter wrote them", 0},
     OPTIONS_IMPORT},
    {{"devices", KEY_DEVICES, "0,1,...", 0, "Which of that file's devices served (all)", 0},
     OPTIONS_IMPORT},
    {{"utc-offset", KEY_UTC_OFFSET, "+HH:MM", 0,
      "The zone of its times, where they have none; of the day's profile of counters (UTC)", 0},
     OPTIONS_IMPORT},
    {{"clock-offset", KEY_CLOCK_OFFSET, "SECONDS", 0,
      "By how much the clocks of both files may differ, at most", 0},
     OPTIONS_IMPORT},
    {{"format", KEY_FORMAT, "FORMAT", 0, NULL, 0}, OPTIONS_FORMAT},
    {{"output", 'o', "FILE", 0, "Write there instead", 0}, OPTIONS_OUTPUT},
    {{"output", 'o', "DIR", 0, "Write the record there", 0}, OPTIONS_IMPORT},
    {{"quiet", 'q', NULL, 0, "No warnings on standard error", 1}, 0},
    {{"verbose", 'v', NULL, 0, "Say where data was found, on standard error", 1}, 0},
};

enum { KNOWN_OPTIONS = sizeof known_options / sizeof known_options[0] };

static const char *const format_names[] = {
    [FORMAT_TABLE] = "table", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json"};

enum { FORMATS = sizeof format_names / sizeof format_names[0] };

struct parsing {
  const struct syntax *syntax;
  struct arena *arena;
  struct options *options;
};

static void append(const char ***list, size_t *count, const char *text, struct arena *arena) {
  *list = arena_grow(arena, *list, *count, *count + 1, sizeof **list);
  (*list)[(*count)++] = text;
}

// "table, csv or json"
static const char *formats_text(const struct syntax *syntax, struct arena *arena) {
  const char *text = "";
  for (unsigned f = 0; f < FORMATS; f++) {
    if (!(syntax->formats & (1u << f)))
      continue;
    const char *before = !*text ? "" : syntax->formats >> (f + 1) ? ", " : " or ";
    text = arena_printf(arena, "%s%s%s", text, before, format_names[f]);
  }
  return text;
}

static void set_format(const struct parsing *parsing, const char *name, struct argp_state *state) {
  const char *allowed[FORMATS];
  size_t count = 0;
  for (unsigned f = 0; f < FORMATS; f++) {
    if (!(parsing->syntax->formats & (1u << f)))
      continue;
    allowed[count++] = format_names[f];
    if (strcmp(format_names[f], name) != 0)
      continue;
    parsing->options->format = (enum output_format)f;
    return;
  }
  const char *nearest = nearest_name(name, allowed, count);
  argp_error(state, "expected --format %s, not '%s'%s",
             formats_text(parsing->syntax, parsing->arena), name,
             did_you_mean(nearest, parsing->arena));
}

static void add_argument(const struct parsing *parsing, const char *text,
                         struct argp_state *state) {
  struct options *options = parsing->options;
  if (options->argument_count >= parsing->syntax->argument_count && !parsing->syntax->more)
    argp_error(state, "one argument too many: '%s'", text);
  options->arguments[options->argument_count++] = text;
}

// Options whose text is kept as it is, each with its member.
static const struct text_option text_options[] = {
    {KEY_CASE, offsetof(struct options, case_name)},
    {KEY_MODEL, offsetof(struct options, model_path)},
    {KEY_DATA, offsetof(struct options, data_directory)},
    {KEY_MEASUREMENTS, offsetof(struct options, measurements_directory)},
    {KEY_OPTION, offsetof(struct options, option)},
    {KEY_SWING, offsetof(struct options, swing)},
    {KEY_GRID, offsetof(struct options, grid)},
    {KEY_FOR, offsetof(struct options, input)},
    {KEY_MATCH, offsetof(struct options, match)},
    {KEY_TARGET, offsetof(struct options, target)},
    {KEY_SAVING, offsetof(struct options, saving)},
    {KEY_BETWEEN, offsetof(struct options, between)},
    {KEY_DRAWS, offsetof(struct options, draws)},
    {KEY_SEED, offsetof(struct options, seed)},
    {KEY_METHOD, offsetof(struct options, method)},
    {KEY_SHARD, offsetof(struct options, shard)},
    {KEY_CONTEXT, offsetof(struct options, context)},
    {KEY_KV, offsetof(struct options, kv)},
    {KEY_ACCELERATORS, offsetof(struct options, accelerators)},
    {KEY_PARAMETERS, offsetof(struct options, parameters)},
    {KEY_TABLE, offsetof(struct options, table)},
    {KEY_ACCELERATOR, offsetof(struct options, accelerator)},
    {KEY_PRECISION, offsetof(struct options, precision)},
    {KEY_MODEL_ID, offsetof(struct options, model)},
    {KEY_DATE, offsetof(struct options, date)},
    {KEY_PUBLISHED, offsetof(struct options, published)},
    {KEY_EXPECT, offsetof(struct options, expect)},
    {KEY_MARGIN, offsetof(struct options, margin)},
    {KEY_POWER, offsetof(struct options, power)},
    {KEY_DEVICES, offsetof(struct options, devices)},
    {KEY_UTC_OFFSET, offsetof(struct options, utc_offset)},
    {KEY_CLOCK_OFFSET, offsetof(struct options, clock_offset)},
    {'o', offsetof(struct options, output_path)},
};

enum { TEXT_OPTIONS = sizeof text_options / sizeof text_options[0] };

static error_t parse_one(int key, char *text, struct argp_state *state) {
  const struct parsing *parsing = state->input;
  struct options *options = parsing->options;
  if (text_option_keep(text_options, TEXT_OPTIONS, key, text, options))
    return 0;
  switch (key) {
  case KEY_SET: append(&options->settings, &options->setting_count, text, parsing->arena); break;
  case KEY_WHERE: append(&options->wheres, &options->where_count, text, parsing->arena); break;
  case KEY_MIXED: options->mixed = true; break;
  case KEY_FORMAT: set_format(parsing, text, state); break;
  case 'q': options->quiet = true; break;
  case 'v': options->verbose = true; break;
  case ARGP_KEY_ARG: add_argument(parsing, text, state); break;
  case ARGP_KEY_END:
    if (options->argument_count < parsing->syntax->argument_count)
      argp_error(state, "expected %s", parsing->syntax->arguments);
    break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static struct argp_option *options_of(const struct syntax *syntax, struct arena *arena) {
  struct argp_option *list = arena_array(arena, KNOWN_OPTIONS + 1, sizeof *list);
  size_t count = 0;
  for (size_t i = 0; i < KNOWN_OPTIONS; i++) {
    const struct known_option *known = &known_options[i];
    if (known->groups && !(known->groups & syntax->groups))
      continue;
    list[count] = known->option;
    if (known->option.key == KEY_FORMAT)
      list[count].doc = arena_printf(arena, "Print as %s", formats_text(syntax, arena));
    count++;
  }
  return list;
}

struct options options_parse(const struct syntax *syntax, int argc, char **argv,
                             struct arena *arena) {
  struct options options = {.command = syntax->name};
  struct parsing parsing = {.syntax = syntax, .arena = arena, .options = &options};
  options.arguments = arena_array(arena, (size_t)argc + 1, sizeof *options.arguments);
  const struct argp argp = {
      .options = options_of(syntax, arena),
      .parser = parse_one,
      .args_doc = syntax->arguments,
      .doc = arena_printf(arena, "%s%s\vExample:\n  %s", syntax->summary,
                          syntax->summary[strlen(syntax->summary) - 1] == '?' ? "" : ".",
                          syntax->example),
  };
  argv[0] = arena_printf(arena, "pertoken %s", syntax->name);
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, &parsing);
  return options;
}
