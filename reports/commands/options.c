#include "reports/commands/options.h"

#include "base/diagnostics.h"
#include "base/option_row.h"

#include <argp.h>
#include <string.h>

enum key {
  KEY_SET = OPTION_ACTS,
  KEY_DATA_EXTRA,
  KEY_WHERE,
  KEY_EXPLAIN,
  KEY_GRID,
  KEY_FORMAT,
};

#define TEXT(member) OPTION_TEXT(0, struct options, member)
#define FLAG(member) OPTION_FLAG(0, struct options, member)

static const struct option_row known_options[] = {
    {"set", "KEY=VALUE",
     "Change an input for all options, or with OPTION.KEY=VALUE for one; may be repeated",
     OPTIONS_SCENARIO, OPTION_READ(KEY_SET)},
    {"case", "NAME", "Use the scenario's [case NAME]", OPTIONS_SCENARIO, TEXT(case_name)},
    {"all-cases", NULL, "All cases side by side, with the cheapest of each", OPTIONS_CASES,
     FLAG(all_cases)},
    {"mixed", NULL, "Compare throughputs of different workloads; the result is marked as mixed",
     OPTIONS_SCENARIO | OPTIONS_NEW, FLAG(mixed)},
    {"model", "FILE", "Use this cost model instead of the built-in one", OPTIONS_SCENARIO,
     TEXT(model_path)},
    {"data", "DIR", "Use the catalogue in another directory", OPTIONS_DATA, TEXT(data_directory)},
    {"data-extra", "FILE",
     "Also load rows from this file, as 'pertoken catalog add' writes it; may be repeated",
     OPTIONS_DATA, OPTION_READ(KEY_DATA_EXTRA)},
    {"measurements", "DIR", "Use the records that pertoken-probe wrote there",
     OPTIONS_SCENARIO | OPTIONS_EVIDENCE, TEXT(measurements_directory)},
    {"where", "CONDITION",
     "Only rows with COLUMN=VALUE, or COLUMN~TEXT (contains); may be repeated, all must match",
     OPTIONS_WHERE, OPTION_READ(KEY_WHERE)},
    {"latest", NULL, "Only each accelerator's and model's latest rows", OPTIONS_ROWS, FLAG(latest)},
    {"stale", NULL, "Only rows older than 12 months", OPTIONS_ROWS, FLAG(stale)},
    {"time", "SECONDS", "Time limit of the search in seconds, overriding the file (default: 30)",
     OPTIONS_PLAN, TEXT(time)},
    {"explain", "[TABLE]",
     "Show how every figure is derived, with all digits, or those of one table, such as calendar",
     OPTIONS_PLAN, OPTION_READ(KEY_EXPLAIN)},
    {"spread", NULL, "Count and range for each accelerator and model", OPTIONS_ROWS, FLAG(spread)},
    {"option", "ID", "The option in question", OPTIONS_OPTION, TEXT(option)},
    {"swing", "SHARE", "How far an input without a range moves either way (default: 20 %)",
     OPTIONS_SWING, TEXT(swing)},
    {"grid", "AXES", "One or two inputs as INPUT=LOW:HIGH:STEP with a unit, separated by a comma",
     OPTIONS_SWING, OPTION_READ(KEY_GRID)},
    {"for", "INPUT", "The input to solve for", OPTIONS_SOLVE, TEXT(input)},
    {"for", "NAME", "Only the question with this name", OPTIONS_FOR, TEXT(input)},
    {"for", "NAME", "Only this guarantee", OPTIONS_ACCEPT, TEXT(input)},
    {"match", "ID", "Cost as much as this option (default: the baseline)", OPTIONS_SOLVE,
     TEXT(match)},
    {"target", "COST", "Cost this much instead, such as '0.30 USD/Mtok'", OPTIONS_SOLVE,
     TEXT(target)},
    {"saving", "SHARE", "Cost this much less, such as '5 %'", OPTIONS_SOLVE, TEXT(saving)},
    {"between", "LOW:HIGH", "Search only this interval, such as '15000:25000 USD'", OPTIONS_SOLVE,
     TEXT(between)},
    {"draws", "N", "Number of draws of all ranged inputs (default: 65536; solve: 16384)",
     OPTIONS_DRAWS, TEXT(draws)},
    {"seed", "N", "Seed of the draws (default: 1)", OPTIONS_DRAWS, TEXT(seed)},
    {"method", "METHOD", "sobol or random (default: sobol)", OPTIONS_DRAWS, TEXT(method)},
    {"shard", "I/N", "Compute part I of N, from 1, and print it for 'pertoken merge'",
     OPTIONS_SHARD, TEXT(shard)},
    {"context", "TOKENS", "Tokens per request, input and output (default: 4096)", OPTIONS_FIT,
     TEXT(context)},
    {"kv", "PRECISION", "Precision of the KV cache (default: bf16)", OPTIONS_FIT, TEXT(kv)},
    {"accelerators", "N", "On exactly this many accelerators, not the fewest possible", OPTIONS_FIT,
     TEXT(accelerators)},
    {"parameters", "N", "A model of this many parameters, such as 70e9", OPTIONS_FIT,
     TEXT(parameters)},
    {"table", "CLAIMS.csv", "Recompute every claim in a table from the catalogues instead",
     OPTIONS_TABLE, TEXT(table)},
    {"expect", "NODES", "The expected nodes: a list of names, or a CSV table with a column 'node'",
     OPTIONS_FLEET | OPTIONS_ACCEPT, TEXT(expect)},
    {"margin", "'3 %'",
     "Minimum distance from the median for a node or device to count as an outlier", OPTIONS_FLEET,
     TEXT(margin)},
    {"explain", NULL, "Explain with all digits how each figure was obtained",
     OPTIONS_FLEET | OPTIONS_ACCEPT, OPTION_READ(KEY_EXPLAIN)},
    {"plan", NULL,
     "Before measuring: how many nodes and runs are needed for a verdict; RECORDS are then earlier "
     "ones",
     OPTIONS_ACCEPT, FLAG(plan)},
    {"shortfall", "'4 %'", "With --plan: shortfall to detect (default: twice the tolerance)",
     OPTIONS_ACCEPT, TEXT(shortfall)},
    {"chance", "'90 %'", "With --plan: minimum probability of a correct verdict", OPTIONS_ACCEPT,
     TEXT(chance)},
    {"scenario", "FILE",
     "Find the price at which the option with this offer costs as much per token as guaranteed",
     OPTIONS_ACCEPT, TEXT(scenario)},
    {"accelerator", "ID", "Accelerator on which the files were measured", OPTIONS_IMPORT,
     TEXT(accelerator)},
    {"accelerators", "N", "Number of accelerators", OPTIONS_IMPORT, TEXT(accelerators)},
    {"precision", "PRECISION", "Precision of the weights", OPTIONS_IMPORT, TEXT(precision)},
    {"model", "ID", "The model's id in the catalogue", OPTIONS_IMPORT | OPTIONS_NEW, TEXT(model)},
    {"count", "N", "Number of accelerators in each option", OPTIONS_NEW, TEXT(count)},
    {"demand", "TOKENS",
     "Instead, the output tokens to serve, such as '60000000 Mtok/yr'; this sizes every option",
     OPTIONS_NEW, TEXT(demand)},
    {"template", "NAME",
     "The question: two-vendors, rent-or-own, own-or-api, stages or rfp (default: two-vendors)",
     OPTIONS_NEW, TEXT(template)},
    {"set", "KEY=VALUE",
     "Replace a value of the draft, or with OPTION.KEY=VALUE for one option; may be repeated",
     OPTIONS_NEW, OPTION_READ(KEY_SET)},
    {"date", "YYYY-MM-DD", "Date of the run", OPTIONS_IMPORT, TEXT(date)},
    {"node", "NAME",
     "Name of the serving machine in a fleet, for 'pertoken accept' (default: the record's file)",
     OPTIONS_IMPORT, TEXT(node)},
    {"published", "'TITLE, URL'",
     "Where the files were published; without it they count as your own run", OPTIONS_IMPORT,
     TEXT(published)},
    {"power", "FILE", "Power readings over the same time, as written by a meter", OPTIONS_IMPORT,
     TEXT(power)},
    {"devices", "0,1,...", "Which of that file's devices served, by index or name (default: all)",
     OPTIONS_IMPORT, TEXT(devices)},
    {"utc-offset", "+HH:MM",
     "Time zone of timestamps without one; for counters, of the daily profile (default: UTC)",
     OPTIONS_IMPORT, TEXT(utc_offset)},
    {"clock-offset", "SECONDS", "Maximum difference between the clocks of the two files",
     OPTIONS_IMPORT, TEXT(clock_offset)},
    {"files", "DIR",
     "Pack the files from this directory that the records are made from, found by their SHA-256",
     OPTIONS_EVIDENCE, TEXT(files)},
    {"sign", "KEY",
     "Sign the pack with your key: ssh-keygen writes FILE.sig, or gpg FILE.asc for gpg:USER",
     OPTIONS_EVIDENCE, TEXT(sign)},
    {"signers", "FILE",
     "Accepted signers: an allowed_signers file for ssh-keygen, or a keyring from gpg --export",
     OPTIONS_EVIDENCE, TEXT(signers)},
    {"format", "FORMAT", NULL, OPTIONS_FORMAT, OPTION_READ(KEY_FORMAT)},
    {"output", "FILE", "Write to this file instead", OPTIONS_OUTPUT,
     OPTION_TEXT('o', struct options, output_path)},
    {"output", "DIR", "Write the record to this directory", OPTIONS_IMPORT,
     OPTION_TEXT('o', struct options, output_path)},
    {"output", "FILE", "The scenario to write; an existing file is never overwritten", OPTIONS_NEW,
     OPTION_TEXT('o', struct options, output_path)},
    {"quiet", NULL, "No warnings on standard error", 0, OPTION_FLAG('q', struct options, quiet)},
    {"verbose", NULL, "Report where data was found, on standard error", 0,
     OPTION_FLAG('v', struct options, verbose)},
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
  *list = arena_room(arena, *list, *count, sizeof **list);
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

static error_t parse_one(int key, char *text, struct argp_state *state) {
  const struct parsing *parsing = state->input;
  struct options *options = parsing->options;
  if (option_row_keep(known_options, KNOWN_OPTIONS, key, text, options))
    return 0;
  switch (key) {
  case KEY_SET: append(&options->settings, &options->setting_count, text, parsing->arena); break;
  case KEY_WHERE: append(&options->wheres, &options->where_count, text, parsing->arena); break;
  case KEY_DATA_EXTRA:
    append(&options->data_extras, &options->data_extra_count, text, parsing->arena);
    break;
  case KEY_EXPLAIN:
    options->explain = true;
    options->explained = text;
    break;
  case KEY_GRID:
    if (options->grid)
      argp_error(state, "a second --grid: name both inputs in one, --grid '%s,%s'", options->grid,
                 text);
    options->grid = text;
    break;
  case KEY_FORMAT: set_format(parsing, text, state); break;
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
  struct argp_option *list = option_rows_of(known_options, KNOWN_OPTIONS, syntax->groups, arena);
  for (struct argp_option *option = list; option->name; option++)
    if (option->key == KEY_FORMAT)
      option->doc = arena_printf(arena, "Print as %s", formats_text(syntax, arena));
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
