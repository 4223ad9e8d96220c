#include "model/scenario/resolution/warnings.h"

#include "base/texts.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/evidence/date.h"
#include "model/evidence/evidence.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/records.h"
#include "model/records/served.h"
#include "model/scenario/figure.h"
#include "model/scenario/likeness.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/read_shares.h"
#include "model/scenario/reading/schedules.h"
#include "model/scenario/resolution/grading.h"
#include "model/scenario/resolution/left_out.h"
#include "model/scenario/resolution/offer_warnings.h"
#include "model/scenario/resolution/periods.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/scenario/sources/load_power.h"
#include "model/scenario/sources/quoted_sums.h"
#include "model/scenario/sources/recorded_prefill.h"
#include "model/scenario/unlike_service.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The object of a step that warns.
struct subject {
  struct scenario *scenario;
  struct option *option;
  struct arena *arena;
};

static void warn(const struct subject *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(const struct subject *subject, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  texts_add(&subject->option->warnings, subject->arena, "%s",
            arena_vprintf(subject->arena, format, arguments));
  va_end(arguments);
}

static void list_not_included(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  const struct model *model = scenario->model;
  option->not_included = "";
  for (int d = 0; d < model->count; d++)
    if (left_out(scenario, option, scenario->selected, d))
      option->not_included =
          arena_printf(subject->arena, "%s%s%s", option->not_included,
                       *option->not_included ? ", " : "", left_out_notice(scenario, d));
  if (*option->not_included)
    warn(subject, "not included (set to zero): %s", option->not_included);
}

// What the workbook and the page refuse an answer for.
static void warn_of_checks(const struct subject *subject) {
  const struct option *option = subject->option;
  const struct model *model = subject->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CHECK && option_has(option, d) &&
        fabs(option_value(subject->scenario, option, d, 0)) > CHECK_TOLERANCE)
      warn(subject, "check failed: %s", model->declarations[d].label);
}

// Whether any owned option draws power; *hosts: whether any of these counts its hosts' power.
static bool draw_power(const struct scenario *scenario, bool *hosts) {
  const int load = model_find(scenario->model, "load_power");
  const int host = model_find(scenario->model, "host_power");
  bool owned = *hosts = false;
  for (size_t o = 0; o < scenario->option_count && !(owned && *hosts); o++) {
    const struct option *option = &scenario->options[o];
    if (option->rented || load < 0 || !option_has(option, load))
      continue;
    owned = true;
    *hosts |= host >= 0 && option_has(option, host) && option_value(scenario, option, host, 0) > 0;
  }
  return owned;
}

// A rent includes cooling and hosts, and so does the energy of a machine of one's own.
static void warn_of_rented_energy(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  const struct option *option = subject->option;
  const struct figure *load = option_figure_stated(scenario, option, "load_power");
  const bool at_tdp = load_power_is_tdp(scenario, load);
  bool hosts;
  if (!option->rented || load->origin <= ORIGIN_RENT)
    return;
  const bool owned = draw_power(scenario, &hosts);
  const bool cooling = (owned || option_amount(scenario, option, "grid_intensity") > 0) &&
                       option_figure_stated(scenario, option, "pue")->origin == ORIGIN_RENT;
  hosts &= option_figure_stated(scenario, option, "host_power")->origin == ORIGIN_DEFAULT;
  if (cooling || hosts)
    warn(subject, "energy and carbon leave out %s%s%s%s: state %s%s%s%s", cooling ? "cooling" : "",
         cooling && hosts ? " and " : "", hosts ? "hosts" : "",
         at_tdp ? ", and assume the TDP" : "", cooling ? "'pue'" : "",
         cooling && hosts ? " and " : "", hosts ? "'host_power'" : "",
         owned ? " before comparing them with an owned option's" : "");
  // Nobody pays for a rented option's watts, but every output shows its energy beside an owned
  // option's.
  if (owned && load == option->doubted_power && !(at_tdp && (cooling || hosts)))
    warn(subject, "%s", option->power_doubt);
}

static void warn_of_power(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  const struct option *option = subject->option;
  const struct figure *load = option_figure_stated(scenario, option, "load_power");
  if (load == option->doubted_power && !option->rented)
    warn(subject, "%s", option->power_doubt);
  if (load->origin == ORIGIN_RENT)
    warn(subject, "its power is unknown, so its energy per token is too");
  if (option_amount(scenario, option, "idle_power") > option_amount(scenario, option, "load_power"))
    warn(subject, "idle power is above the power under load");
}

// "0.0104 %"
static const char *use_text(double load, struct arena *arena) {
  const double least = 0.0001;
  return 100 * load < least ? arena_printf(arena, "less than %g %%", least)
                            : arena_printf(arena, "%.3g %%", 100 * load);
}

// Warns of accelerators that are hardly used: the cost of a token then says mostly how little they
// are used.
static void warn_of_idleness(const struct subject *subject) {
  static const double half = 0.5;
  const struct scenario *scenario = subject->scenario;
  const struct option *option = subject->option;
  const double load = option_amount(scenario, option, "average_load");
  const char *use = use_text(load, subject->arena);
  const bool hardly = load > 0 && load < HARDLY_USED;
  const bool by_use = option_amount(scenario, option, "on_demand_rate") > 0 &&
                      option_amount(scenario, option, "reserved_share") == 0;
  const bool draws = load > 0 && load < half && option_amount(scenario, option, "load_power") > 0 &&
                     !option->rented &&
                     !figure_exists(option_figure_stated(scenario, option, "idle_power"));
  if (hardly && by_use)
    warn(subject,
         "rented for %s of the hours: that takes accelerators which start and stop with every "
         "request",
         use);
  else if (hardly)
    warn(subject, "in use %s of the time: nearly all of its cost is for idle accelerators%s", use,
         draws ? ", whose power counts as that under load: no idle_power is given" : "");
  else if (draws)
    warn(subject,
         "no idle_power is given: it counts as drawing its power under load all the time, "
         "though it is in use %s of it",
         use);
}

// The accelerators in operation in a period, from 1 on.
static double count_in(const struct subject *subject, int period) {
  const int needed = model_find(subject->scenario->model, "needed");
  return needed >= 0 && option_has(subject->option, needed)
             ? option_value(subject->scenario, subject->option, needed, period)
             : option_amount(subject->scenario, subject->option, "accelerators");
}

// " in year 2", " after 6 month", of a count that is a list
static const char *in_year(const struct subject *subject, int period) {
  const struct model *model = subject->scenario->model;
  const int elapsed = model_find(model, "elapsed"), count = model_find(model, "accelerators");
  if (!option_figure_stated(subject->scenario, subject->option, "accelerators")->year_count ||
      elapsed < 0)
    return "";
  const double time = option_value(subject->scenario, subject->option, elapsed, period);
  const double step_h = model->declarations[count].step_h;
  if (step_h > 0 && time > 0)
    return arena_printf(subject->arena, " after %s", step_text(time, subject->arena));
  if (step_h > 0)
    return " at the outset";
  return arena_printf(subject->arena, " in year %g", 1 + arithmetic_floor(time / HOURS_PER_YEAR));
}

// A typed count is kept, whether or not it is a number of whole servers and racks: the first that
// is not.
static void warn_of_units(const struct subject *subject) {
  const double unit = option_amount(subject->scenario, subject->option, "purchase_unit");
  if (subject->option->rented || !(unit > 0))
    return;
  for (int t = 1; t < subject->scenario->periods; t++) {
    const double count = count_in(subject, t), whole = ceil(count / unit) * unit;
    if (whole == count)
      continue;
    warn(subject, "the costs are of %g accelerator%s%s, sold in units of %g: %g must be bought",
         count, count == 1 ? "" : "s", in_year(subject, t), unit, whole);
    return;
  }
}

// A server's rate and times are those of all its accelerators: the first count that is not a number
// of whole servers.
static void warn_of_servers(const struct subject *subject) {
  const struct served *served = option_served(subject->scenario, subject->option);
  const double server = served ? served->rungs->record->accelerators : 1;
  for (int t = 1; t < subject->scenario->periods; t++) {
    const double count = count_in(subject, t);
    if (count <= 0 || arithmetic_compare(fmod(count, server), 0) == 0)
      continue;
    const bool sized =
        figure_exists(option_figure_stated(subject->scenario, subject->option, "demand"));
    warn(subject,
         "the throughput is that of servers of %g accelerators; %g%s are %s, and may not serve in "
         "proportion%s",
         server, count, in_year(subject, t),
         count < server ? "a part of one" : "not a whole number of them",
         !sized                    ? ""
         : subject->option->rented ? ": state 'accelerators' in whole servers"
                                   : ": state such a 'purchase_unit'");
    return;
  }
}

// Warns of a site that is too small for even one purchase unit.
static void warn_of_site(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  const double site = option_amount(scenario, subject->option, "site_power");
  const double count = option_amount(scenario, subject->option, "accelerators");
  const double unit = option_amount(scenario, subject->option, "purchase_unit");
  const double peak = option_amount(scenario, subject->option, "site_peak_power");
  if (site > 0 && peak * unit > site * count)
    warn(subject,
         "the site power, %.4g kW, is less than the peak of one purchase unit, %g "
         "accelerators: %.4g kW",
         site / 1000, unit, peak * unit / count / 1000);
}

// Warns of a lease that ends before the hardware's life: nothing is due after its term, though the
// hardware serves on.
static void warn_of_lease(const struct subject *subject) {
  const double term = option_amount(subject->scenario, subject->option, "lease_term");
  const double life = option_amount(subject->scenario, subject->option, "life_time");
  const double horizon = option_amount(subject->scenario, subject->option, "horizon");
  const double needed = life > 0 ? fmin(life, horizon) : horizon;
  if (option_is_owned(subject->option) && term > 0 && !arithmetic_reaches(term, needed))
    warn(subject,
         "the lease ends after %g yr, but its hardware serves for %g yr: the lease view counts "
         "nothing for the rest",
         term / HOURS_PER_YEAR, needed / HOURS_PER_YEAR);
}

// Warns of a resale list that is too short: unlike that of other lists, its last value does not
// continue.
static void warn_of_resale(const struct subject *subject) {
  const struct figure *resale = option_figure_stated(subject->scenario, subject->option, "resale");
  const double life = option_amount(subject->scenario, subject->option, "life_time");
  const double horizon = option_amount(subject->scenario, subject->option, "horizon");
  const double age = (life > 0 ? fmin(life, horizon) : horizon) / HOURS_PER_YEAR;
  const size_t years = resale->year_count ? resale->year_count : 1;
  const double last = resale->year_count ? resale->years[years - 1].value : resale->value;
  if (option_is_owned(subject->option) && figure_exists(resale) && last > 0 &&
      arithmetic_ceil(age) > (double)years)
    warn(subject,
         "resale ends with an age of %zu yr, so hardware sold at %.3g yr is worth nothing: add "
         "values up to %g yr, 0 %% for none",
         years, age, arithmetic_ceil(age));
}

static bool any_rented(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].rented)
      return true;
  return false;
}

// Warns of inflation that is stated for all options rather than for this API: rents have no
// inflation, and the prices of APIs have been falling.
static void warn_of_inflation(const struct subject *subject) {
  const struct figure *inflation =
      option_figure_stated(subject->scenario, subject->option, "inflation");
  const bool of_all = figure_exists(inflation) && inflation->origin < ORIGIN_OPTION;
  if (subject->option->provider && of_all && inflation->value > 0 && any_rented(subject->scenario))
    warn(subject,
         "inflation raises its prices, but no rent: state an 'inflation' of its own, 0 %%/yr or "
         "below 0 where they fall");
}

// What a case or --set states as a share does not replace the offer's sum, nor the other way.
static void warn_of_added_sums(const struct subject *subject) {
  const char *share, *sum;
  int pair = -1;
  while ((pair = quoted_sums_added(subject->scenario, subject->option, pair + 1, &share, &sum)) >=
         0)
    warn(subject, "%s and %s are both paid; to replace one by the other, set it to 0", share, sum);
}

static void warn_of_overlaps(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  const struct option *option = subject->option;
  int covers =
      (option_amount(scenario, option, "spares") > 0) +
      (option_amount(scenario, option, "support") + option_amount(scenario, option, "support_sum") >
       0) +
      (option_amount(scenario, option, "repair_cost") > 0);
  if (option_amount(scenario, option, "failure_rate") > 0 && covers >= 2 && !option->rented)
    warn(subject,
         "failures may be paid for twice: at most one of spares, support and repair_cost should "
         "cover them");
  if (option_amount(scenario, option, "demand_charge") > 0)
    warn(
        subject,
        "average electricity prices often include the demand charge: check that this one does not");
  if (option_amount(scenario, option, "build_price") > 0)
    warn(subject,
         "a facility of your own outlives the horizon: facility_residual credits %.0f %% of it",
         100 * option_amount(scenario, option, "facility_residual"));
}

// An input's label within a sentence: "list price per accelerator", "API price of output tokens".
static const char *named(const struct subject *subject, const char *input) {
  const struct model *model = subject->scenario->model;
  char *label = arena_copy(subject->arena, model->declarations[model_find(model, input)].label);
  if (*label && !isupper((unsigned char)label[1]))
    *label = (char)tolower((unsigned char)*label);
  return label;
}

// A figure from long before the scenario's day, or from after it. `what`: "the price"; `name`: what
// dates from then.
static void warn_of_date(const struct subject *subject, const char *what, const char *name,
                         const struct figure *figure) {
  const char *day = subject->scenario->date;
  struct texts *warnings = &subject->option->warnings;
  struct date today, first, last;
  if (!date_parse(day, &today) || !date_parse(figure->date, &last) ||
      !date_parse_first(figure->date, &first))
    return;
  if (date_is_stale(last, today))
    texts_add(warnings, subject->arena, "%s is stale: %s dates from %s, over 12 months before %s",
              what, name, figure->date, day);
  else if (date_is_ahead(first, today))
    texts_add(warnings, subject->arena, "%s is dated ahead: %s dates from %s, after %s", what, name,
              figure->date, day);
}

static void warn_of_age(const struct subject *subject) {
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const char *input = graded_inputs[g].input;
    const struct figure *figure = option_figure_stated(subject->scenario, subject->option, input);
    if (graded_inputs[g].shown == SHOWN_PRICE && figure_exists(figure))
      warn_of_date(subject, "the price", named(subject, input), figure);
  }
  const struct figure *rate =
      option_figure_stated(subject->scenario, subject->option, "exchange_rate");
  if (figure_exists(rate))
    warn_of_date(subject, "the exchange rate", "it", rate);
}

// Problems during the measurement are reported with the figure.
static void warn_of_record(const struct subject *subject) {
  const struct option *option = subject->option;
  if (!option->record)
    return;
  if (*option->record_remark)
    warn(subject, "%s", option->record_remark);
  const char *doubts = measurement_doubts(option->record, subject->arena);
  if (*doubts)
    warn(subject, "%s", doubts);
  const struct measurement_step_form *form = &option->record->step_form;
  if (*form->fallback)
    warn(subject, "the measured system was slower than it could be: %s, because %s", form->form,
         form->fallback);
}

static void warn_of_offer(const struct subject *subject) {
  offer_warn(subject->scenario, subject->option, subject->arena);
}

// The probe reads its prompts in full, without cache hits.
static bool is_recorded_prefill(const struct subject *subject) {
  const struct figure *prefill =
      option_figure_stated(subject->scenario, subject->option, "prefill_throughput");
  return subject->option->record && prefill->origin == ORIGIN_CATALOGUE;
}

// A rate that was measured with hits, and from which they are deducted again, is too high.
static void warn_of_hits(const struct subject *subject) {
  const struct figure *counted =
      option_figure_stated(subject->scenario, subject->option, "prefill_includes_hits");
  if (counted->origin == ORIGIN_DEFAULT && !is_recorded_prefill(subject) &&
      option_amount(subject->scenario, subject->option, "cache_hit") > 0 &&
      figure_exists(option_figure_stated(subject->scenario, subject->option, "prefill_throughput")))
    warn(subject,
         "cache_hit is deducted from the prefill work: if prefill_throughput already counts "
         "tokens from the cache, set prefill_includes_hits = yes, otherwise no");
}

// A rate measured or projected at a context that is stated, for requests that hold more or fewer
// tokens.
static void warn_of_other_context(const struct subject *subject) {
  const struct workload *workload = &subject->option->workload;
  const double context = strtod(workload->values[WORKLOAD_CONTEXT], NULL);
  const double mean = workload_decode_context(workload);
  if (workload_has_lengths(workload) &&
      option_figure_stated(subject->scenario, subject->option, "decode_throughput")->origin ==
          ORIGIN_CATALOGUE &&
      workload_lengths_differ(context, mean))
    warn(subject,
         "the decoding rate is that at context %.0f, as stated, but requests of these lengths "
         "hold %.0f tokens on average while they decode, at another rate",
         context, mean);
}

static void warn_of_throughput(const struct subject *subject) {
  const struct option *option = subject->option;
  const struct evidence *published = option_published(subject->scenario, option);
  const struct served *served = option_served(subject->scenario, option);
  if (published && *published->note)
    warn(subject, "%s", published->note);
  if (served && *served->note)
    warn(subject, "%s", served->note);
  if (option->served && *option->served->rungs->remark)
    warn(subject, "%s", option->served->rungs->remark);
  const char *doubt = option_doubt(subject->scenario, option);
  if (*doubt)
    warn(subject, "the %s throughput is doubtful: %s", published ? "published" : "served", doubt);
  if (option->decode_only)
    warn(subject,
         "upper bound, decode only: the throughput leaves out prefill, so serving costs "
         "more%s%s",
         *option->prefill_lack ? "; " : "", option->prefill_lack);
  if (option->serving_estimate && option->record)
    warn(subject,
         "the throughput is a serving estimate, with prefill and decoding one after the other: it "
         "ignores savings from batching both, cache memory limits and scheduling; %s",
         recorded_prefill_caveat(option->record, subject->arena));
  warn_of_other_context(subject);
  if (!strcmp(option->workload.values[WORKLOAD_TOKENS], "total"))
    warn(subject,
         "the throughput counts input and output tokens together, and so does the cost per token");
}

// Warns if idle power is measured in one option but taken as the load power in another, which
// biases the comparison.
static void warn_of_idle_power(struct scenario *scenario, struct arena *arena) {
  bool given = false, missing = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    bool has = figure_exists(option_figure_stated(scenario, &scenario->options[o], "idle_power"));
    given |= has;
    missing |= !has;
  }
  if (given && missing)
    texts_add(
        &scenario->warnings, arena,
        "idle power is given for only some options; for the others, power under load is used");
}

// A TDP beside watts that were measured or guaranteed is a comparison of unlike figures.
static void warn_of_uneven_power(struct scenario *scenario, struct arena *arena) {
  struct texts at_tdp = {0}, others = {0};
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const struct figure *load = option_figure_stated(scenario, option, "load_power");
    if (!option->rented && figure_exists(load))
      texts_add(load_power_is_tdp(scenario, load) ? &at_tdp : &others, arena, "%s", option->label);
  }
  if (at_tdp.count && others.count)
    texts_add(&scenario->warnings, arena,
              "power under load is the TDP for %s but not for %s: compare their power with care",
              texts_joined_by(&at_tdp, options_between(scenario), arena),
              texts_joined_by(&others, options_between(scenario), arena));
}

static void warn_of_no_records(struct scenario *scenario, struct arena *arena) {
  const char *directory = scenario->measurements_directory;
  if (directory && !scenario->records->count && !scenario->records->serving_count &&
      !scenario->records->production_count)
    texts_add(&scenario->warnings, arena, "there are no records in '%s'", directory);
}

// Rounds of a benchmark are months of software development apart.
static void warn_of_rounds(struct scenario *scenario, struct arena *arena) {
  const struct evidence *first = NULL;
  struct texts rounds = {0};
  bool differ = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct evidence *evidence = option_published(scenario, &scenario->options[o]);
    if (!evidence)
      continue;
    first = first ? first : evidence;
    differ |= strcmp(first->date, evidence->date) != 0;
    texts_add(&rounds, arena, "%s of %s", scenario->options[o].label, evidence->date);
  }
  if (differ)
    texts_add(&scenario->warnings, arena, "the published throughputs are of different rounds: %s",
              texts_joined_by(&rounds, options_between(scenario), arena));
}

static void warn_of_differences(struct scenario *scenario, struct arena *arena) {
  static const struct {
    const char *item, *warning;
  } alike[] = {{"horizon", "the options have different horizons"},
               {"wacc", "the options have different discount rates; finance discounts their "
                        "difference at the baseline's"}};
  for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
    for (size_t o = 1; o < scenario->option_count; o++)
      if (option_amount(scenario, &scenario->options[o], alike[i].item) !=
          option_amount(scenario, &scenario->options[0], alike[i].item)) {
        texts_add(&scenario->warnings, arena, "%s", alike[i].warning);
        break;
      }
}

// The same requests sold bring more where none of their input is taken from a cache, as one does
// not say of a serving throughput.
static void warn_of_unlike_sales(struct scenario *scenario, struct arena *arena) {
  struct texts cached = {0}, whole = {0};
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const double full = option_amount(scenario, option, "token_price_input");
    if (option_amount(scenario, option, "revenue_total") <= 0 || full <= 0 ||
        option_amount(scenario, option, "input_tokens") <= 0 ||
        option_amount(scenario, option, "token_price_cached") >= full)
      continue;
    texts_add(option_amount(scenario, option, "cache_hit") > 0 ? &cached : &whole, arena, "%s",
              option->label);
  }
  if (cached.count && whole.count)
    texts_add(&scenario->warnings, arena,
              "the same requests bring unlike revenues: cached input is sold at token_price_cached "
              "by %s; without a cache_hit, all input is at token_price_input: %s",
              texts_joined_by(&cached, options_between(scenario), arena),
              texts_joined_by(&whole, options_between(scenario), arena));
}

// "4.2 % less than b", of what costs least.
static const char *less_than(double cost, const struct option *other, double of_other,
                             struct arena *arena) {
  const double saving = cost_saving(cost, of_other);
  return isnan(saving) ? "less than nothing"
                       : arena_printf(arena, "%.3g %% less than %s", 100 * saving, other->label);
}

// The verdict is by the undiscounted cost; whoever has a discount rate may decide by the other.
static void warn_of_turn(struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  const int item = model_find(scenario->model, "levelised_cost_per_mtok");
  if (ranking->turned_to < 0)
    return;
  const struct option *first = &scenario->options[ranking->cheapest];
  const struct option *other = &scenario->options[ranking->turned_to];
  texts_add(&scenario->warnings, arena,
            "%s costs least undiscounted, but by levelized cost %s does, %s", first->label,
            other->label,
            less_than(option_value(scenario, other, item, 0), first,
                      option_value(scenario, first, item, 0), arena));
}

// The vendor's debts, and what they are for.
static const struct debt {
  const char *item, *what, *for_what;
} debts[] = {{"remedy_total", "remedy", "slow accelerators"},
             {"damages_total", "damages", "a delay"}};

static void warn_of_credits(struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  if (ranking->without_credit < 0)
    return;
  const struct option *first = &scenario->options[ranking->cheapest];
  const struct option *other = &scenario->options[ranking->without_credit];
  const char *what = "", *for_what = "";
  for (size_t i = 0; i < sizeof debts / sizeof debts[0]; i++)
    if (option_amount(scenario, first, debts[i].item) < 0) {
      what = arena_printf(arena, "%s%s%s", what, *what ? " or " : "", debts[i].what);
      for_what =
          arena_printf(arena, "%s%s%s", for_what, *for_what ? " and " : "", debts[i].for_what);
    }
  texts_add(&scenario->warnings, arena,
            "%s costs least only with what its vendor owes for %s; without any %s, %s does, %s",
            first->label, for_what, what, other->label,
            less_than(ranking_cost_without_credit(scenario, other), first,
                      ranking_cost_without_credit(scenario, first), arena));
}

// Adds how the name of an accelerator or model was read, the first thing to know about an option.
static void say_readings(const struct subject *subject) {
  const struct texts *readings = &subject->option->readings;
  for (size_t i = 0; i < readings->count; i++)
    warn(subject, "%s", readings->list[i]);
}

void option_assess(struct scenario *scenario, size_t number, struct arena *arena) {
  static void (*const steps[])(const struct subject *) = {
      say_readings,          list_not_included, warn_of_checks,     warn_of_power,
      warn_of_rented_energy, warn_of_idleness,  warn_of_units,      warn_of_servers,
      warn_of_site,          warn_of_overlaps,  warn_of_added_sums, warn_of_age,
      warn_of_throughput,    warn_of_hits,      warn_of_record,     warn_of_offer,
      warn_of_lease,         warn_of_resale,    warn_of_inflation,
  };
  const struct subject subject = {scenario, &scenario->options[number], arena};
  subject.option->warnings = (struct texts){0};
  option_grade(scenario, subject.option, arena);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    steps[i](&subject);
  plausibility_warn(scenario, number, arena);
}

void scenario_assess(struct scenario *scenario, struct arena *arena) {
  scenario_say_mixed(scenario, arena);
  for (size_t o = 0; o < scenario->option_count; o++)
    option_assess(scenario, o, arena);
  warn_of_credits(scenario, arena);
  warn_of_turn(scenario, arena);
  warn_of_idle_power(scenario, arena);
  warn_of_uneven_power(scenario, arena);
  warn_of_differences(scenario, arena);
  warn_of_unlike_sales(scenario, arena);
  unlike_service_warn(scenario, arena);
  periods_warn(scenario, arena);
  schedules_warn(scenario, arena);
  warn_of_rounds(scenario, arena);
  read_shares_warn(scenario, arena);
  warn_of_no_records(scenario, arena);
}
