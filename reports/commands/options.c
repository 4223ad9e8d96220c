#include "reports/commands/options.h"

#include "base/diagnostics.h"
#include "base/text_option.h"

#include <argp.h>
#include <string.h>

enum key {
  KEY_SET = 256,
  KEY_CASE,
  KEY_ALL_CASES,
  KEY_MIXED,
  KEY_MODEL,
  KEY_DATA,
  KEY_DATA_EXTRA,
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
  KEY_PLAN,
  KEY_EXPLAIN,
  KEY_SHORTFALL,
  KEY_CHANCE,
  KEY_SCENARIO,
  KEY_SIGN,
  KEY_SIGNERS,
  KEY_ACCELERATOR,
  KEY_PRECISION,
  KEY_MODEL_ID,
  KEY_DATE,
  KEY_PUBLISHED,
  KEY_POWER,
  KEY_DEVICES,
  KEY_UTC_OFFSET,
  KEY_NODE,
  KEY_CLOCK_OFFSET,
  KEY_COUNT,
  KEY_DEMAND,
  KEY_TEMPLATE,
  KEY_LATEST,
  KEY_STALE,
  KEY_TIME,
  KEY_SPREAD,
};

static const struct known_option {
  struct argp_option option;
  unsigned groups; // 0: every command
} known_options[] = {
    {{"set", KEY_SET, "KEY=VALUE", 0,
      "Change an input for all options, or with OPTION.KEY=VALUE for one; may be repeated", 0},
     OPTIONS_SCENARIO},
    {{"case", KEY_CASE, "NAME", 0, "Use the scenario's [case NAME]", 0}, OPTIONS_SCENARIO},
    {{"all-cases", KEY_ALL_CASES, NULL, 0, "All cases side by side, with the cheapest of each", 0},
     OPTIONS_CASES},
    {{"mixed", KEY_MIXED, NULL, 0,
      "Compare throughputs of different workloads; the result is marked as mixed", 0},
     OPTIONS_SCENARIO | OPTIONS_NEW},
    {{"model", KEY_MODEL, "FILE", 0, "Use this cost model instead of the built-in one", 0},
     OPTIONS_SCENARIO},
    {{"data", KEY_DATA, "DIR", 0, "Use the catalogue in another directory", 0}, OPTIONS_DATA},
    {{"data-extra", KEY_DATA_EXTRA, "FILE", 0,
      "Also load rows from this file, as 'pertoken catalog add' writes it; may be repeated", 0},
     OPTIONS_DATA},
    {{"measurements", KEY_MEASUREMENTS, "DIR", 0, "Use the records that pertoken-probe wrote there",
      0},
     OPTIONS_SCENARIO | OPTIONS_EVIDENCE},
    {{"where", KEY_WHERE, "CONDITION", 0,
      "Only rows with COLUMN=VALUE, or COLUMN~TEXT (contains); may be repeated, all must match", 0},
     OPTIONS_WHERE},
    {{"latest", KEY_LATEST, NULL, 0, "Only each accelerator's and model's latest rows", 0},
     OPTIONS_ROWS},
    {{"stale", KEY_STALE, NULL, 0, "Only rows older than 12 months", 0}, OPTIONS_ROWS},
    {{"time", KEY_TIME, "SECONDS", 0,
      "Time limit of the search in seconds, overriding the file (30)", 0},
     OPTIONS_PLAN},
    {{"explain", KEY_EXPLAIN, "TABLE", OPTION_ARG_OPTIONAL,
      "Show how every figure is derived, with all digits, or those of one table, such as calendar",
      0},
     OPTIONS_PLAN},
    {{"spread", KEY_SPREAD, NULL, 0, "Count and range for each accelerator and model", 0},
     OPTIONS_ROWS},
    {{"option", KEY_OPTION, "ID", 0, "The option in question", 0}, OPTIONS_OPTION},
    {{"swing", KEY_SWING, "SHARE", 0, "How far an input without a range moves either way (20 %)",
      0},
     OPTIONS_SWING},
    {{"grid", KEY_GRID, "AXES", 0, "One or two inputs as INPUT=LOW:HIGH:STEP, separated by a comma",
      0},
     OPTIONS_SWING},
    {{"for", KEY_FOR, "INPUT", 0, "The input to solve for", 0}, OPTIONS_SOLVE},
    {{"for", KEY_FOR, "NAME", 0, "Only the question with this name", 0}, OPTIONS_FOR},
    {{"for", KEY_FOR, "NAME", 0, "Only this guarantee", 0}, OPTIONS_ACCEPT},
    {{"match", KEY_MATCH, "ID", 0, "Cost as much as this option (the baseline)", 0}, OPTIONS_SOLVE},
    {{"target", KEY_TARGET, "COST", 0, "Cost this much instead, such as '0.30 USD/Mtok'", 0},
     OPTIONS_SOLVE},
    {{"saving", KEY_SAVING, "SHARE", 0, "Cost this much less, such as '5 %'", 0}, OPTIONS_SOLVE},
    {{"between", KEY_BETWEEN, "LOW:HIGH", 0, "Search only this interval", 0}, OPTIONS_SOLVE},
    {{"draws", KEY_DRAWS, "N", 0, "Number of draws of all ranged inputs (65536; solve: 16384)", 0},
     OPTIONS_DRAWS},
    {{"seed", KEY_SEED, "N", 0, "Seed of the draws (1)", 0}, OPTIONS_DRAWS},
    {{"method", KEY_METHOD, "METHOD", 0, "sobol (the default) or random", 0}, OPTIONS_DRAWS},
    {{"shard", KEY_SHARD, "I/N", 0,
      "Compute part I of N, from 1, and print it for 'pertoken merge'", 0},
     OPTIONS_SHARD},
    {{"context", KEY_CONTEXT, "TOKENS", 0, "Tokens per request, input and output (4096)", 0},
     OPTIONS_FIT},
    {{"kv", KEY_KV, "PRECISION", 0, "Precision of the KV cache (bf16)", 0}, OPTIONS_FIT},
    {{"accelerators", KEY_ACCELERATORS, "N", 0,
      "On exactly this many accelerators, not the fewest possible", 0},
     OPTIONS_FIT},
    {{"parameters", KEY_PARAMETERS, "N", 0, "A model of this many parameters, such as 70e9", 0},
     OPTIONS_FIT},
    {{"table", KEY_TABLE, "CLAIMS.csv", 0,
      "Recompute every claim in a table from the catalogues instead", 0},
     OPTIONS_TABLE},
    {{"expect", KEY_EXPECT, "NODES", 0,
      "The expected nodes: a list of names, or a CSV table with a column 'node'", 0},
     OPTIONS_FLEET | OPTIONS_ACCEPT},
    {{"margin", KEY_MARGIN, "'3 %'", 0,
      "Minimum distance from the median for a node or device to count as an outlier", 0},
     OPTIONS_FLEET},
    {{"explain", KEY_EXPLAIN, NULL, 0, "Explain with all digits how each figure was obtained", 0},
     OPTIONS_FLEET | OPTIONS_ACCEPT},
    {{"plan", KEY_PLAN, NULL, 0,
      "Before measuring: how many nodes and runs are needed for a verdict; RECORDS are then "
      "earlier ones",
      0},
     OPTIONS_ACCEPT},
    {{"shortfall", KEY_SHORTFALL, "'4 %'", 0,
      "With --plan: shortfall to detect (default: twice the tolerance)", 0},
     OPTIONS_ACCEPT},
    {{"chance", KEY_CHANCE, "'90 %'", 0, "With --plan: minimum probability of a correct verdict",
      0},
     OPTIONS_ACCEPT},
    {{"scenario", KEY_SCENARIO, "FILE", 0,
      "Find the price at which the option with this offer costs as much per token as guaranteed",
      0},
     OPTIONS_ACCEPT},
    {{"accelerator", KEY_ACCELERATOR, "ID", 0, "Accelerator on which the files were measured", 0},
     OPTIONS_IMPORT},
    {{"accelerators", KEY_ACCELERATORS, "N", 0, "Number of accelerators", 0}, OPTIONS_IMPORT},
    {{"precision", KEY_PRECISION, "PRECISION", 0, "Precision of the weights", 0}, OPTIONS_IMPORT},
    {{"model", KEY_MODEL_ID, "ID", 0, "The model's id in the catalogue", 0},
     OPTIONS_IMPORT | OPTIONS_NEW},
    {{"count", KEY_COUNT, "N", 0, "Number of accelerators in each option", 0}, OPTIONS_NEW},
    {{"demand", KEY_DEMAND, "TOKENS", 0,
      "Instead, the output tokens to serve, such as '60000000 Mtok/yr'; this sizes every option",
      0},
     OPTIONS_NEW},
    {{"template", KEY_TEMPLATE, "NAME", 0,
      "The question: two-vendors (the default), rent-or-own, own-or-api, stages or rfp", 0},
     OPTIONS_NEW},
    {{"set", KEY_SET, "KEY=VALUE", 0,
      "Replace a value of the draft, or with OPTION.KEY=VALUE for one option; may be repeated", 0},
     OPTIONS_NEW},
    {{"date", KEY_DATE, "YYYY-MM-DD", 0, "Date of the run", 0}, OPTIONS_IMPORT},
    {{"node", KEY_NODE, "NAME", 0,
      "Name of the serving machine in a fleet, for 'pertoken accept' (the record's file)", 0},
     OPTIONS_IMPORT},
    {{"published", KEY_PUBLISHED, "'TITLE, URL'", 0,
      "Where the files were published; without it they count as your own run", 0},
     OPTIONS_IMPORT},
    {{"power", KEY_POWER, "FILE", 0, "Power readings over the same time, as written by a meter", 0},
     OPTIONS_IMPORT},
    {{"devices", KEY_DEVICES, "0,1,...", 0,
      "Which of that file's devices served, by index or name (all)", 0},
     OPTIONS_IMPORT},
    {{"utc-offset", KEY_UTC_OFFSET, "+HH:MM", 0,
      "Time zone of timestamps without one; for counters, of the daily profile (UTC)", 0},
     OPTIONS_IMPORT},
    {{"clock-offset", KEY_CLOCK_OFFSET, "SECONDS", 0,
      "Maximum difference between the clocks of the two files", 0},
     OPTIONS_IMPORT},
    {{"sign", KEY_SIGN, "KEY", 0,
      "Sign the pack with your key: ssh-keygen writes FILE.sig, or gpg FILE.asc for gpg:USER", 0},
     OPTIONS_EVIDENCE},
    {{"signers", KEY_SIGNERS, "FILE", 0,
      "Accepted signers: an allowed_signers file for ssh-keygen, or a keyring from gpg --export",
      0},
     OPTIONS_EVIDENCE},
    {{"format", KEY_FORMAT, "FORMAT", 0, NULL, 0}, OPTIONS_FORMAT},
    {{"output", 'o', "FILE", 0, "Write to this file instead", 0}, OPTIONS_OUTPUT},
    {{"output", 'o', "DIR", 0, "Write the record to this directory", 0}, OPTIONS_IMPORT},
    {{"output", 'o', "FILE", 0, "The scenario to write; an existing file is never overwritten", 0},
     OPTIONS_NEW},
    {{"quiet", 'q', NULL, 0, "No warnings on standard error", 1}, 0},
    {{"verbose", 'v', NULL, 0, "Report where data was found, on standard error", 1}, 0},
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
    parsing->options->format_given = true;
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

// Options whose text is stored unchanged, each with its member.
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
    {KEY_SHORTFALL, offsetof(struct options, shortfall)},
    {KEY_CHANCE, offsetof(struct options, chance)},
    {KEY_SCENARIO, offsetof(struct options, scenario)},
    {KEY_SIGN, offsetof(struct options, sign)},
    {KEY_SIGNERS, offsetof(struct options, signers)},
    {KEY_POWER, offsetof(struct options, power)},
    {KEY_DEVICES, offsetof(struct options, devices)},
    {KEY_UTC_OFFSET, offsetof(struct options, utc_offset)},
    {KEY_NODE, offsetof(struct options, node)},
    {KEY_CLOCK_OFFSET, offsetof(struct options, clock_offset)},
    {KEY_COUNT, offsetof(struct options, count)},
    {KEY_DEMAND, offsetof(struct options, demand)},
    {KEY_TIME, offsetof(struct options, time)},
    {KEY_TEMPLATE, offsetof(struct options, template)},
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
  case KEY_DATA_EXTRA:
    append(&options->data_extras, &options->data_extra_count, text, parsing->arena);
    break;
  case KEY_MIXED: options->mixed = true; break;
  case KEY_ALL_CASES: options->all_cases = true; break;
  case KEY_PLAN: options->plan = true; break;
  case KEY_EXPLAIN:
    options->explain = true;
    options->explained = text;
    break;
  case KEY_LATEST: options->latest = true; break;
  case KEY_STALE: options->stale = true; break;
  case KEY_SPREAD: options->spread = true; break;
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
