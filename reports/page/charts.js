// charts: the pictures, drawn by Observable Plot. Colours are the style sheet's, so that a change
// between light and dark needs no drawing.
'use strict';

const categories = data.items.filter((item) => item.role === 'category');
const category_colour = (item) => `var(--category-${categories.indexOf(item) % 14})`;
const option_colour = (o) => `var(--option-${o % 6})`;

// "Power, total" is a heading of its own among totals only.
const category_label = (item) => item.label.replace(/, total$/, '');

const MOST_SWINGS = 12;
const LEAST_EFFECT = 1e-9; // below which a change of the result is the last bits of its arithmetic
const LABEL_SHARE = 0.34; // of a chart's width, for the names on its left
const LABEL_MOST = 190;
const EM = 11; // of the charts' text, in pixels

const per_mtok = () => items.get('cost_per_mtok');
const cost_text = (value) => shown(value, per_mtok());
const in_mtok = (value) => value / per_mtok().factor;

function left_margin(width, labels) {
  const longest = Math.max(...labels.map((label) => label.length)) * EM * 0.58 + 14;
  return Math.round(Math.min(longest, width * LABEL_SHARE, LABEL_MOST));
}

// The axis of names on the left, wrapped where they are long.
const names_axis = (margin, tickFormat) => Plot.axisY({ label: null, tickSize: 0, tickPadding: 6,
  lineWidth: (margin - 12) / EM, ...(tickFormat && { tickFormat }) });

function draw(options) {
  const svg = Plot.plot({
    marginRight: 24, marginTop: 8, marginBottom: 34, className: 'chart',
    style: { fontSize: `${EM}px` }, ...options,
  });
  svg.setAttribute('role', 'img');
  return svg;
}

// The part of each category in an option's cost per token, in base units.
const cost_parts = (v) =>
  categories.map((item) => ({ item, value: (v[item.name] ?? 0) / v.tokens_total }));

const used_categories = (values) =>
  categories.filter((item) => values.some((v) => Math.abs(v[item.name] ?? 0) > 0));

function stacked_chart(values, ranking, width) {
  const used = used_categories(values);
  const ids = data.options.map((_, o) => option_label(ranking, o));
  const rows = values.flatMap((v, o) => cost_parts(v)
    .filter(({ item }) => used.includes(item))
    .map(({ item, value }) =>
      ({ option: ids[o], category: category_label(item), cost: in_mtok(value) })));
  // Credits lie left of zero: the total stands at the right end of what is paid.
  const totals = values.map((v, o) => ({ option: ids[o], v,
    cost: in_mtok(d3.sum(cost_parts(v), ({ value }) => Math.max(value, 0))) }));
  const margin = left_margin(width, ids);
  return draw({
    width, height: 46 + 44 * ids.length, marginLeft: margin, marginRight: 62,
    ariaLabel: `Cost per million output tokens: ${totals
      .map(({ option, v }) => `${option} ${cost_text(v.cost_per_mtok)} ${currency}`).join(', ')}`,
    x: { label: `${currency} per million output tokens`, grid: true, tickFormat: short_number,
      ticks: width / 90 },
    y: { domain: ids },
    color: { domain: used.map(category_label), range: used.map(category_colour) },
    marks: [
      names_axis(margin),
      Plot.barX(rows, {
        x: 'cost', y: 'option', fill: 'category', insetTop: 4, insetBottom: 4, order: null,
        tip: { format: { x: (d) => significant(d, 4) } },
      }),
      Plot.ruleX([0]),
      Plot.text(totals, { x: 'cost', y: 'option', text: ({ v }) => cost_text(v.cost_per_mtok),
        textAnchor: 'start', dx: 6, fontWeight: 600 }),
    ],
  });
}

function legend(values) {
  const list = document.createElement('ul');
  list.className = 'legend';
  for (const item of used_categories(values)) {
    const entry = list.appendChild(document.createElement('li'));
    const swatch = entry.appendChild(document.createElement('span'));
    swatch.className = 'swatch';
    swatch.style.background = category_colour(item);
    entry.append(category_label(item));
  }
  return list;
}

// From one option's cost to another's, category by category: name, from, to, in base units.
function steps_between(a, b) {
  let at = a.cost_per_mtok;
  const parts = cost_parts(b);
  return cost_parts(a).flatMap(({ item, value }, i) => {
    const change = parts[i].value - value;
    if (change === 0)
      return [];
    at += change;
    return [{ name: category_label(item), from: at - change, to: at, change }];
  });
}

function waterfall_chart(values, ranking, from, to, width) {
  const ends = [from, to].map((o) => ({ name: option_label(ranking, o), from: 0,
    to: values[o].cost_per_mtok, total: true }));
  const rows = [ends[0], ...steps_between(values[from], values[to]), ends[1]].map((row, i) =>
    ({ ...row, key: `${i} ${row.name}`, x1: in_mtok(row.from), x2: in_mtok(row.to) }));
  const margin = left_margin(width, rows.map((row) => row.name));
  const colour = (row) =>
    (row.total ? 'var(--total)' : row.change > 0 ? 'var(--dearer)' : 'var(--cheaper)');
  const label = (row) => (row.total ? cost_text(row.to)
    : `${row.change > 0 ? '+' : '\u2212'}${cost_text(Math.abs(row.change))}`);
  return draw({
    width, height: 46 + 26 * rows.length, marginLeft: margin, marginRight: 62,
    ariaLabel: `From ${ends[0].name} to ${ends[1].name}: ${rows
      .map((row) => `${row.name} ${label(row)}`).join(', ')} ${currency} per million output tokens`,
    x: { label: `${currency} per million output tokens`, grid: true, tickFormat: short_number,
      ticks: width / 90 },
    y: { domain: rows.map((row) => row.key) },
    marks: [
      names_axis(margin, (key) => key.replace(/^\d+ /, '')),
      Plot.barX(rows, { x1: 'x1', x2: 'x2', y: 'key', fill: colour, insetTop: 3, insetBottom: 3 }),
      Plot.ruleX([0]),
      Plot.text(rows, { x: (row) => Math.max(row.x1, row.x2), y: 'key', text: label,
        textAnchor: 'start', dx: 6 }),
    ],
  });
}

const target_label = (target) => {
  const label = items.get(target.input).label;
  return target.option < 0 ? label : `${label}, ${data.options[target.option].id}`;
};

const end_text = (value, target) =>
  significant(in_unit(value, items.get(target.input)), 4);

// One row a swing; its two ends as bars from the result as it stands.
function tornado_rows(swings, scale) {
  const least = LEAST_EFFECT * (swings[0]?.effect ?? 0);
  return swings.slice(0, MOST_SWINGS).filter((swing) => swing.effect > least).map((swing) => ({
    key: target_label(swing.target), swing,
    ends: swing.results.map((result, i) => ({
      key: target_label(swing.target), end: i ? 'up' : 'down', result: scale(result),
      text: end_text(swing.ends[i], swing.target),
    })),
  }));
}

function tornado_chart(swings, now, saves, width) {
  const scale = saves ? (x) => 100 * x : in_mtok;
  const rows = tornado_rows(swings, scale), bars = rows.flatMap((row) => row.ends);
  const margin = left_margin(width, [...rows.map((row) => row.key), '']);
  const here = scale(now);
  // Of two ends on one side the nearer is named on the other, where no bar lies below it.
  const is_inner = (bar) => rows.some(({ ends }) => ends.includes(bar) && ends.some((other) =>
    (other.result - here) * (bar.result - here) > 0 &&
    Math.abs(other.result - here) > Math.abs(bar.result - here)));
  const on_right = (bar) => (bar.result > here) !== is_inner(bar);
  const named = bars.filter((bar) => bar.result !== here);
  const label = { x: (bar) => (is_inner(bar) ? here : bar.result), y: 'key', text: 'text', fontSize: EM - 1,
    fill: 'var(--quiet)' };
  return draw({
    width, height: 46 + 30 * rows.length, marginLeft: margin, marginRight: 44, insetLeft: 40,
    insetRight: 16,
    ariaLabel: `What each input alone does: ${rows.map((row) => `${row.key}, from ${row.ends
      .map((bar) => `${bar.text}: ${significant(bar.result, 3)}`).join(' to ')}`).join('; ')}`,
    x: { label: saves ? 'Saving, %' : `${currency} per million output tokens`, grid: true,
      tickFormat: short_number, ticks: width / 90 },
    y: { domain: rows.map((row) => row.key) },
    marks: [
      names_axis(margin),
      Plot.barX(bars, { x1: here, x2: 'result', y: 'key', insetTop: 5, insetBottom: 5,
        fill: (bar) => (bar.end === 'up' ? 'var(--up)' : 'var(--down)') }),
      Plot.ruleX([here]),
      Plot.text(named.filter(on_right), { ...label, textAnchor: 'start', dx: 4 }),
      Plot.text(named.filter((bar) => !on_right(bar)), { ...label, textAnchor: 'end', dx: -4 }),
    ],
  });
}

const LINE_POINTS = 48;

// Both options' cost as one input moves over its slider, with the places where they meet.
function break_even(state, inputs, costs, target) {
  const [low, high] = axis_range(target), pair = [state.from, state.to];
  const is_whole = items.get(target.input).integer;
  const costs_at = (x) => pair.map((o) => cost_with(inputs, target, x, o, costs));
  const gap_at = (x) => {
    const [a, b] = costs_at(x);
    return a - b;
  };
  const samples = d3.range(LINE_POINTS + 1).map((i) => {
    const even = low + ((high - low) * i) / LINE_POINTS, x = is_whole ? half_away(even) : even;
    const [a, b] = costs_at(x);
    return { x, gap: a - b, costs: [a, b] };
  });
  const points = samples.flatMap(({ x, costs: both }) =>
    both.map((cost, k) => ({ x, cost, option: pair[k] })));
  const meets = pair[0] === pair[1] ? [] : crossings(samples, gap_at);
  return { points, meets: meets.map((x) => ({ x, cost: costs_at(x)[0] })) };
}

function break_even_chart(state, found, target, now, width) {
  const item = items.get(target.input), unit = plain_unit(item);
  const x = (point) => point.x / item.factor, y = (point) => in_mtok(point.cost);
  const ends = d3.rollups(found.points, (all) => all.at(-1), (point) => point.option)
    .map(([, point]) => point);
  const meet_text = (point) => with_unit(significant(x(point), 4), item);
  return draw({
    width, height: 280, marginLeft: 52, marginRight: 72, marginTop: 22,
    ariaLabel: `Cost per million output tokens against ${target_label(target)}: ${
      found.meets.length ? `the options meet at ${found.meets.map(meet_text).join(' and ')}`
        : 'the options do not meet'}`,
    x: { label: `${target_label(target)}${unit ? `, ${unit}` : ''}`, tickFormat: short_number,
      ticks: width / 90 },
    y: { label: `${currency} per million output tokens`, grid: true, ticks: 6, nice: true },
    marks: [
      Plot.ruleX([now / item.factor], { stroke: 'var(--quiet)', strokeDasharray: '3 3' }),
      Plot.line(found.points, { x, y, z: 'option', stroke: (point) => option_colour(point.option),
        strokeWidth: 2.5 }),
      Plot.text(ends, { x, y, text: (point) => data.options[point.option].id,
        textAnchor: 'start',
        dx: 6, fill: (point) => option_colour(point.option), fontWeight: 600 }),
      Plot.dot(found.meets, { x, y, r: 5, fill: 'var(--surface)', stroke: 'var(--text)',
        strokeWidth: 2 }),
      Plot.text(found.meets, { x, y, text: meet_text, dy: -14, fontWeight: 600, stroke:
        'var(--surface)', strokeWidth: 4, fill: 'var(--text)' }),
    ],
  });
}
