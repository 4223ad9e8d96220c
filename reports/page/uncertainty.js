// uncertainty: the cost and the saving over the ranges, simulated again after every change by a
// worker, so that sliders stay smooth.
'use strict';

const uncertain = data.uncertainty;

// What is drawn in a case with changes: by option, input -> range. A value that the user typed is
// certain; a common one leaves an option's own range as it is, as with --set.
function ranges_of(which, changes) {
  const ranges = data.cases[which].uncertainty.options.map((one) => ({ ...one }));
  for (const name of changes.keys()) {
    const target = data.cases[which].by_name.get(name);
    for (const o of target.moves) {
      const range = uncertain.ranges[ranges[o][target.input]];
      if (range && (target.option >= 0 || range.option < 0))
        delete ranges[o][target.input];
    }
  }
  return ranges;
}

const question_of = ({ which, changes }) => ({ inputs: inputs_of(which, changes),
  ranges: ranges_of(which, changes) });

const simulation_setup = () => ({ ...uncertain, baseline: data.scenario.baseline,
  amounts: data.ranking.amounts, options: data.options.map(({ graph, why, compared, lent }) =>
    ({ graph, why, compared, lent })) });

// Answers questions one at a time; of those that arrive meanwhile only the last counts.
class Drawer {
  constructor(take) {
    this.take = take; // receives what Simulation.run returns
    this.busy = false;
    this.next = null;
    try {
      const url = URL.createObjectURL(new Blob([at('engine').textContent, '\nserve();'],
        { type: 'text/javascript' }));
      this.worker = new Worker(url);
      this.worker.onmessage = ({ data: result }) => this.answered(result);
      this.worker.postMessage({ setup: simulation_setup() });
    } catch {
      this.simulation = new Simulation(simulation_setup()); // the browser allows no workers for files
    }
  }

  ask(question) {
    if (this.busy) {
      this.next = question;
      return;
    }
    this.busy = true;
    if (this.worker)
      this.worker.postMessage(question);
    else
      setTimeout(() => this.answered(this.simulation.run(question)));
  }

  answered(result) {
    const { next } = this;
    this.busy = false;
    this.next = null;
    this.take(result, !next);
    if (next)
      this.ask(next);
  }
}

// ---- words

const LOW = 0, MEDIAN = 3, HIGH_LEVEL = 6; // of the levels: P5, P50 and P95

// The interval of the cheapest's saving over the option it is compared with, or null: as in
// interval_of_verdict.
function saving_interval({ cheapest, against }, { savings }) {
  const { baseline } = data.scenario, [best] = cheapest;
  if (against === baseline)
    return savings[best];
  return best === baseline && savings[against]
    ? savings[against].map((saving) => 1 - 1 / (1 - saving)).reverse() : null;
}

const seldom_text = (share) => (share > 0
  ? `only in ${fixed(100 * Math.min(Math.max(share, 0.001), 0.999), 1)} % of the draws`
  : 'in none of the draws');

// Like limits_over_ranges in reports/print/verdict.c.
function limits_text(best, against, { ranked }) {
  return [best, against].filter((o) => o >= 0 && ranked[o] < 1).map((o, i) => {
    const { label } = data.options[o], seldom = seldom_text(ranked[o]);
    return i ? `, and ${label} ${seldom}` : `, but ${seldom} does ${label} ${data.ranking.asked}`;
  }).join('');
}

// Like other_over_ranges in reports/print/verdict.c.
function other_text(best, { cheapest }) {
  const most = cheapest.reduce((other, share, o) => (share > cheapest[other] ? o : other), best);
  return most === best ? '' : `, but ${data.options[most].label} is the cheapest in ${
    percent_number(cheapest[most])} % of the draws`;
}

// Like verdict_over_ranges in reports/print/verdict.h.
function over_ranges_text(ranking, result) {
  const best = data.options.length === 1 ? 0 : ranking.cheapest[0];
  if (best === undefined)
    return '';
  const cost = result.costs[best].map((value) => significant(in_mtok(value), 4));
  const saving = ranking.against < 0 ? null : saving_interval(ranking, result);
  const decimals = saving && percent_decimals(saving[HIGH_LEVEL]);
  const [low, median, high] = saving
    ? [LOW, MEDIAN, HIGH_LEVEL].map((level) => fixed(100 * saving[level], decimals)) : [];
  const over = ranking.against === data.scenario.baseline ? best : ranking.against;
  const saves = saving ? ` and saves ${median} % against ${data.options[ranking.against].label}${
    result.constant.savings[over] ? ', which no ranged input affects' : ` (${low} to ${high} %)`}` : '';
  return `Over the ranges ${data.options[best].label} costs ${cost[MEDIAN]} ${
    per_mtok().unit} in the median (P5 to P95: ${cost[LOW]} to ${cost[HIGH_LEVEL]})${saves}${
    limits_text(best, ranking.against, result) || other_text(best, result)}.`;
}

// Like simulation_damages_text in reports/answers/simulation.h.
function damages_text({ label }, { due, cost, uncovered }) {
  const money = items.get('tco');
  const covers = cost > 0 ? `on average the delay costs ${with_unit(shown(cost, money), money)}, of ${
    ''}which they cover ${percent(1 - uncovered / cost)}` : 'the delay costs nothing';
  return `${label}: damages are due in ${percent(due)} of the draws; ${covers}. `;
}

function uncertainty_words(result) {
  if (!result)
    return 'Nothing is uncertain here: every input with a range has a single value.';
  if (!result.finite)
    return 'No answer: in some draws a cost has no finite value.';
  const base = data.options[data.scenario.baseline].label;
  // The reasons are those of model/simulate/part.c.
  const why = data.options.map(({ label }, o) => (result.unsaved[o] ? `No saving of ${label}: in ${
    Number((100 * result.unsaved[o]).toPrecision(3))} % of the draws, it costs less than nothing, or ${base} costs nothing or less; no share of ${
    ''}that can be saved, and percentiles of the other draws alone would mislead. ` : ''));
  const damages = data.options.map((option, o) =>
    (result.damages[o] ? damages_text(option, result.damages[o]) : ''));
  const constant = ['costs', 'savings'].flatMap((kind) => data.options.map(({ label }, o) =>
    (result.constant[kind][o] ? `The ${kind.slice(0, -1)} of ${label} does not vary: ${
      ''}no ranged input affects it. ` : '')));
  return `${why.join('')}${constant.join('')}${damages.join('')}${fixed(uncertain.draws, 0)} draws, seed ${uncertain.seed}.`;
}

// ---- picture and table

function uncertainty_chart(values, ranking, { costs }, width) {
  const rows = costs.map((levels, o) => ({ o, at: levels.map(in_mtok),
    now: in_mtok(values[o].cost_per_mtok) }));
  const names = data.options.map((_, o) => option_label(ranking, o)), margin = left_margin(width, names);
  const x = (level) => (row) => row.at[level];
  const colour = (row) => option_colour(row.o);
  return draw({
    width, height: 46 + row_height(names, margin, 40) * rows.length, marginLeft: margin, insetLeft: 8,
    ariaLabel: `Cost per million output tokens over the ranges: ${rows.map((row) => `${names[row.o]} ${
      [LOW, MEDIAN, HIGH_LEVEL].map((level) => significant(row.at[level], 4)).join(', ')}`).join('; ')}`,
    x: { label: `${currency} per million output tokens`, grid: true, tickFormat: short_number,
      ticks: width / 90 },
    y: { domain: rows.map((row) => row.o) },
    marks: [
      names_axis(margin, (o) => names[o]),
      Plot.barX(rows, { x1: x(LOW), x2: x(HIGH_LEVEL), y: 'o', fill: colour, fillOpacity: 0.25,
        insetTop: 14, insetBottom: 14 }),
      Plot.barX(rows, { x1: x(2), x2: x(4), y: 'o', fill: colour, fillOpacity: 0.6, insetTop: 9,
        insetBottom: 9 }),
      Plot.tickX(rows, { x: x(MEDIAN), y: 'o', stroke: 'var(--text)', strokeWidth: 2, insetTop: 6,
        insetBottom: 6 }),
      Plot.dot(rows, { x: 'now', y: 'o', r: 3.5, fill: 'var(--surface)', stroke: 'var(--text)' }),
    ],
  });
}

// Rows of a label, percentiles and other texts, below a header row.
function levels_body(heads, rows) {
  return element('tbody', {}, head_row(...heads), ...rows.map(({ label, texts }) => element('tr', {},
    element('th', { scope: 'row', textContent: label }),
    ...texts.map((textContent) => element('td', { textContent })))));
}

const percentile_texts = (levels, text) => [LOW, MEDIAN, HIGH_LEVEL].map((level) => text(levels[level]));

function uncertainty_table({ costs, savings, cheapest }) {
  const base = data.options[data.scenario.baseline].label, several = data.options.length > 1;
  const often = (share) => (Number.isNaN(share) ? '\u2013' : `${percent_number(share)} %`);
  const of_costs = costs.map((levels, o) => ({ label: data.options[o].label,
    texts: [...percentile_texts(levels, (value) => significant(in_mtok(value), 4)),
      ...(several ? [often(cheapest[o])] : [])] }));
  const of_savings = savings.flatMap((levels, o) => (levels
    ? [{ label: data.options[o].label, texts: percentile_texts(levels, percent_number) }] : []));
  const heads = ['P5', 'Median', 'P95'];
  return element('table', { className: 'levels' },
    levels_body([per_mtok().unit, ...heads, ...(several ? ['Cheapest'] : [])], of_costs),
    ...(of_savings.length ? [levels_body([`Saving over ${base}, %`, ...heads], of_savings)] : []));
}

// ---- on the page

let drawer = null, question = null; // the last one asked

function show_uncertainty(result, is_last) {
  const { values, ranking, start } = question;
  at('uncertainty-words').textContent = uncertainty_words(result);
  at('over-ranges').textContent = result?.finite ? over_ranges_text(ranking, result) : '';
  at('over-ranges').hidden = !at('over-ranges').textContent;
  put_chart('uncertainty', ...(result?.finite
    ? [uncertainty_chart(values, ranking, result, inner_width(at('uncertainty'))),
      uncertainty_table(result)] : []));
  if (!is_last)
    return;
  question.result = result;
  document.body.getBoundingClientRect();
  performance.measure('draws', { start, end: performance.now() });
}

function ask_uncertainty({ values, ranking, start }) {
  if (!uncertain)
    return;
  if (!drawer) {
    at('uncertainty-words').textContent = 'Drawing for the first time \u2026';
    drawer = new Drawer(show_uncertainty);
  }
  question = { values, ranking, start };
  drawer.ask(question_of(state));
}
