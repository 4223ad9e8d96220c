// charts: drawn by Observable Plot. Colors come from the style sheet, so that switching
// between light and dark needs no redrawing.
'use strict';

const categories = data.items.filter((item) => item.role === 'category');
const category_colour = (item) => `var(--category-${categories.indexOf(item) % 14})`;

const OPTION_COLOURS = 6;

// No color stands for two options: all have the same if there are not enough.
const are_coloured = data.options.length <= OPTION_COLOURS;
const option_colour = (o) => `var(--option-${are_coloured ? o : 0})`;
const pair_colours = ({ from, to }) => [option_colour(from),
  are_coloured || from === to ? option_colour(to) : 'var(--option-1)'];

// "Power, total" needs its suffix only in lists of totals.
const category_label = (item) => item.label.replace(/, total$/, '');

const MAX_SWINGS = 12;
const MIN_EFFECT = 1e-9; // smaller changes of the result are rounding errors
const LABEL_SHARE = 0.34; // of a chart's width, for the names on its left
const LABEL_MOST = 190;
const NARROW = 480; // a chart with less room than this, in pixels, breaks its longest texts
const EM = 11; // of the charts' text, in pixels

const per_mtok = () => items.get('cost_per_mtok');
const cost_text = (value) => shown(value, per_mtok());
const in_mtok = (value) => value / per_mtok().factor;

function left_margin(width, labels) {
  const longest = Math.max(...labels.map((label) => label.length)) * EM * 0.58 + 14;
  return Math.round(Math.min(longest, width * LABEL_SHARE, LABEL_MOST));
}

// Room at the right for the labels at the ends of bars.
const right_margin = (texts) =>
  Math.min(Math.max(44, ...texts.map((text) => Math.ceil(text.length * EM * 0.62) + 10)), 120);

// The height of a row whose name takes several lines in that margin.
function row_height(labels, margin, least) {
  const letters = (margin - 12) / (EM * 0.58);
  const lines = labels.map((label) => label.split(' ').reduce(({ count, used }, word) =>
    (used && used + 1 + word.length > letters ? { count: count + 1, used: word.length }
      : { count, used: used + (used ? 1 : 0) + word.length }), { count: 1, used: 0 }).count);
  return Math.max(least, EM * 1.15 * Math.max(...lines) + 6);
}

const BAND = 0.9; // of a row, the rest being space between rows

// The insets of a bar whose row has a name of several lines, which does not make it thicker.
const insets = (height, least, inset) => {
  const all = inset + (BAND * (height - least)) / 2;
  return { insetTop: all, insetBottom: all };
};

// The axis of names on the left, wrapped where they are long.
const names_axis = (margin, tickFormat) => Plot.axisY({ label: null, tickSize: 0, tickPadding: 6,
  lineWidth: (margin - 12) / EM, ...(tickFormat && { tickFormat }) });

function draw(options) {
  const svg = Plot.plot({
    marginRight: 24, marginTop: 8, marginBottom: 34, className: 'chart',
    style: { fontSize: `${EM}px` }, ...options,
  });
  svg.querySelector('style').remove(); // page.css has its rules, and the policy allows no other
  svg.setAttribute('role', 'img');
  return svg;
}

// Each category's part of an option's cost per token, in base units.
const cost_parts = (v) =>
  categories.map((item) => ({ item, value: (v[item.name] ?? 0) / v.tokens_total }));

const used_categories = (values) =>
  categories.filter((item) => values.some((v) => Math.abs(v[item.name] ?? 0) > 0));

function stacked_chart(values, ranking, width) {
  const used = used_categories(values);
  const names = data.options.map((_, o) => option_label(ranking, o)), name = (o) => names[o];
  const rows = values.flatMap((v, option) => cost_parts(v)
    .filter(({ item }) => used.includes(item))
    .map(({ item, value }) => ({ option, category: category_label(item), cost: in_mtok(value) })));
  // Credits lie left of zero: the total is shown at the right end of the costs.
  const totals = values.map((v, option) => ({ option, v,
    cost: in_mtok(d3.sum(cost_parts(v), ({ value }) => Math.max(value, 0))) }));
  const margin = left_margin(width, names);
  return draw({
    width, height: 46 + row_height(names, margin, 44) * names.length, marginLeft: margin,
    marginRight: right_margin(totals.map(({ v }) => cost_text(v.cost_per_mtok))),
    ariaLabel: `Cost per million output tokens: ${totals
      .map(({ option, v }) => `${names[option]} ${cost_text(v.cost_per_mtok)} ${currency}`).join(', ')}`,
    x: { label: `${currency} per million output tokens`, grid: true, tickFormat: short_number,
      ticks: width / 90 },
    y: { domain: [...names.keys()] },
    color: { domain: used.map(category_label), range: used.map(category_colour) },
    marks: [
      names_axis(margin, name),
      Plot.barX(rows, {
        x: 'cost', y: 'option', fill: 'category', stroke: 'var(--surface)', insetTop: 4, insetBottom: 4,
        order: null, tip: { stroke: 'var(--line)', format: { x: (d) => significant(d, 4), y: name } },
      }),
      Plot.ruleX([0]),
      Plot.text(totals, { x: 'cost', y: 'option', text: ({ v }) => cost_text(v.cost_per_mtok),
        textAnchor: 'start', dx: 6, fontWeight: 600 }),
    ],
  });
}

// A legend of names and their colors.
function legend(entries) {
  const list = document.createElement('ul');
  list.className = 'legend';
  for (const { name, colour } of entries) {
    const entry = list.appendChild(document.createElement('li'));
    const swatch = entry.appendChild(document.createElement('span'));
    swatch.className = 'swatch';
    swatch.style.background = colour;
    entry.append(name);
  }
  return list;
}

const category_legend = (values) => legend(used_categories(values)
  .map((item) => ({ name: category_label(item), colour: category_colour(item) })));

function pair_legend(state) {
  const colours = pair_colours(state), { from, to } = state;
  return legend([...new Set([from, to])].map((o, k) => ({ name: data.options[o].label, colour: colours[k] })));
}

// The steps from one option's cost to another's, category by category: name, from, to, in base units.
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
  const rows = [ends[0], ...steps_between(values[from], values[to]), ends[1]].map((row, key) =>
    ({ ...row, key, x1: in_mtok(row.from), x2: in_mtok(row.to) }));
  const names = rows.map((row) => row.name), margin = left_margin(width, names);
  const height = row_height(names, margin, 26);
  const colour = (row) =>
    (row.total ? 'var(--total)' : row.change > 0 ? 'var(--dearer)' : 'var(--cheaper)');
  const label = (row) => (row.total ? cost_text(row.to)
    : `${row.change > 0 ? '+' : '\u2212'}${cost_text(Math.abs(row.change))}`);
  return draw({
    width, height: 46 + height * rows.length,
    marginLeft: margin, marginRight: right_margin(rows.map(label)),
    ariaLabel: `From ${ends[0].name} to ${ends[1].name}: ${rows
      .map((row) => `${row.name} ${label(row)}`).join(', ')} ${currency} per million output tokens`,
    x: { label: `${currency} per million output tokens`, grid: true, tickFormat: short_number,
      ticks: width / 90 },
    y: { domain: rows.map((row) => row.key) },
    marks: [
      names_axis(margin, (key) => names[key]),
      Plot.barX(rows, { x1: 'x1', x2: 'x2', y: 'key', fill: colour, ...insets(height, 26, 3) }),
      Plot.ruleX([0]),
      Plot.text(rows, { x: (row) => Math.max(row.x1, row.x2), y: 'key', text: label,
        textAnchor: 'start', dx: 6 }),
    ],
  });
}

const target_label = (target) => {
  const label = items.get(target.input).label;
  return target.option < 0 ? label : `${label}, ${data.options[target.option].label}`;
};

// The same in a chart.
const short_target_label = (target) => {
  const label = items.get(target.input).label;
  return target.option < 0 ? label : `${label}, ${short_label(target.option)}`;
};

// The label of targets that move together: "Throughput, Acme = Beta".
const swing_label = ({ targets: [first, ...others] }) =>
  [short_target_label(first), ...others.map(({ option }) => short_label(option))].join(' = ');

// The title of an axis from which a target is read, with its option if there is room: the choice above
// has it anyway.
function axis_title(target, width) {
  const item = items.get(target.input), unit = plain_unit(item), rest = unit ? `, ${unit}` : '';
  return [short_target_label(target), item.label].map((label) => label + rest)
    .find((title, i) => i || title.length < width / (EM * 0.58));
}

const end_text = (value, target) =>
  significant(in_unit(value, items.get(target.input)), 4);

// One row per swing; its two ends are bars from the current result.
function tornado_rows(swings, scale) {
  const least = MIN_EFFECT * (swings[0]?.effect ?? 0);
  return swings.slice(0, MAX_SWINGS).filter((swing) => swing.effect > least).map((swing, key) => ({
    key, name: swing_label(swing),
    ends: swing.results.map((result, i) => ({
      key, end: i ? 'up' : 'down', result: scale(result), text: end_text(swing.ends[i], swing.target),
    })),
  }));
}

// The texts at the ends of a row's bars: if both lie on one side, both at the farther end, where neither
// seems to have the opposite effect.
function tornado_texts({ ends }, here, width) {
  const [far, near] = d3.sort(ends, ({ result }) => -Math.abs(result - here));
  if (!((far.result - here) * (near.result - here) > 0))
    return ends.filter(({ result }) => result !== here);
  const texts = (far.result > here ? [near, far] : [far, near]).map(({ text }) => text);
  return [{ ...far, text: texts.join(width < NARROW ? ' \u2026\n' : ' \u2026 ') }];
}

const text_width = (texts) => Math.ceil(Math.max(0, ...texts.flatMap(({ text }) => text.split('\n'))
  .map((line) => line.length)) * (EM - 1) * 0.6) + 4;

function tornado_chart(swings, now, saves, width) {
  const scale = saves ? (x) => 100 * x : in_mtok;
  const rows = tornado_rows(swings, scale), names = rows.map((row) => row.name);
  const here = scale(now), texts = rows.flatMap((row) => tornado_texts(row, here, width));
  const margin = left_margin(width, [...names, '']), marginRight = 44;
  const height = row_height(names, margin, 30);
  const [right, left] = [true, false].map((side) => texts.filter(({ result }) => result > here === side));
  const insetLeft = Math.max(40, text_width(left)), insetRight = Math.max(16, text_width(right) - marginRight);
  const room = width - margin - insetLeft - marginRight - insetRight; // for numbers below
  // A farther end first, which would hide a nearer one on its side.
  const bars = d3.sort(rows.flatMap((row) => row.ends), ({ result }) => -Math.abs(result - here));
  const label = { x: 'result', y: 'key', text: 'text', fontSize: EM - 1, fill: 'var(--quiet)' };
  return draw({
    width, height: 46 + height * rows.length, marginLeft: margin, marginRight, insetLeft, insetRight,
    ariaLabel: `Effect of each input by itself: ${rows.map((row) => `${row.name}, from ${row.ends
      .map((bar) => `${bar.text}: ${significant(bar.result, 3)}`).join(' to ')}`).join('; ')}`,
    x: { label: saves ? 'Saving, %' : `${currency} per million output tokens`, grid: true,
      tickFormat: short_number, ticks: Math.min(width / 90, room / 45) },
    y: { domain: rows.map((row) => row.key) },
    marks: [
      names_axis(margin, (key) => names[key]),
      Plot.barX(bars, { x1: here, x2: 'result', y: 'key', ...insets(height, 30, 5),
        fill: (bar) => (bar.end === 'up' ? 'var(--up)' : 'var(--down)') }),
      Plot.ruleX([here]),
      Plot.text(right, { ...label, textAnchor: 'start', dx: 4 }),
      Plot.text(left, { ...label, textAnchor: 'end', dx: -4 }),
    ],
  });
}

const LINE_POINTS = 48;

// Both options' costs as one input moves over its slider, with the points where they meet.
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
  const points = samples.flatMap(({ x, costs: both }) => both.map((cost, k) => ({ x, cost, k })));
  const meets = pair[0] === pair[1] ? [] : crossings(samples, gap_at);
  return { points, meets: meets.map((x) => ({ x, cost: costs_at(x)[0] })) };
}

function break_even_chart(state, found, target, now, width) {
  const item = items.get(target.input);
  const x = (point) => point.x / item.factor, y = (point) => in_mtok(point.cost);
  const meet_text = (point) => with_unit(significant(x(point), 4), item);
  const [low, high] = d3.extent(found.points, x);
  const colours = pair_colours(state);
  // Labels near an end extend inwards, so that none leaves the chart.
  const anchor_of = (point) => (x(point) < low + 0.3 * (high - low) ? 'start'
    : x(point) > high - 0.3 * (high - low) ? 'end' : 'middle');
  return draw({
    width, height: 280, marginLeft: 52, marginTop: 22,
    ariaLabel: `Cost per million output tokens against ${target_label(target)}: ${
      found.meets.length ? `the options meet at ${found.meets.map(meet_text).join(' and ')}`
        : 'no crossing'}`,
    x: { label: axis_title(target, width), tickFormat: short_number, ticks: width / 90 },
    y: { label: `${currency} per million output tokens`, grid: true, ticks: 6, nice: true },
    marks: [
      Plot.ruleX([now / item.factor], { stroke: 'var(--quiet)', strokeDasharray: '3 3' }),
      Plot.line(found.points, { x, y, z: 'k', stroke: ({ k }) => colours[k], strokeWidth: 2.5 }),
      Plot.dot(found.meets, { x, y, r: 5, fill: 'var(--surface)', stroke: 'var(--text)',
        strokeWidth: 2 }),
      ...['start', 'middle', 'end'].map((textAnchor) => Plot.text(
        found.meets.filter((point) => anchor_of(point) === textAnchor), { x, y, text: meet_text, dy: -14,
          textAnchor, fontWeight: 600, stroke: 'var(--surface)', strokeWidth: 4, fill: 'var(--text)' })),
    ],
  });
}
