// model: the scenario as data, and every line item computed from it.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
// The currency of all amounts: USD.
const currency = data.scenario.currency;
const items = new Map(data.items.map((item) => [item.name, item]));

// The figures of a case, by option: figures that it does not change are the first case's.
function figures_of(which) {
  return data.options.map((_, o) => ({
    ...data.cases[0].options[o].figures,
    ...data.cases[which].options[o].figures,
  }));
}

const case_figures = data.cases.map((_, which) => figures_of(which));

// "electricity_price", "mi325x.discount": a target's name, as for --set.
const target_name = (target) =>
  target.option < 0 ? target.input : `${data.options[target.option].id}.${target.input}`;

for (const one of data.cases)
  one.by_name = new Map(one.targets.map((target) => [target_name(target), target]));

// The number that a person would type: the shorter of two for the same value.
function in_unit(value, item) {
  const plain = value / item.factor;
  const short = Number(plain.toPrecision(15));
  return Math.abs(short * item.factor - value) <= 4e-16 * Math.abs(value) ? short : plain;
}

const from_unit = (number, item) => number * item.factor;

// The scenario's value of a target in a case, in base units.
const stated = (which, target) => case_figures[which][target.moves[0]][target.input].value;

// A case's changes as targets and their numbers, in the model's order: what follows a value in a list
// comes after it, and so may be changed itself.
const changes_of = (which, changes) =>
  data.cases[which].targets.flatMap((target) => {
    const number = changes.get(target_name(target));
    return number === undefined ? [] : [[target, number]];
  });

// The number of a target's input in a case with changes: its own, that of a change which it follows,
// or the scenario's.
const number_of = (which, target, changes) => changes_of(which, changes)
  .filter(([{ inputs, moves }]) => inputs.includes(target.input) && moves.includes(target.moves[0]))
  .reduce((_, [, number]) => number, in_unit(stated(which, target), items.get(target.input)));

// The inputs of every option, in base units, in a case with changes: a map from a target's name to
// a number in the unit of its input.
function inputs_of(which, changes) {
  const options = case_figures[which].map((figures) => {
    const inputs = {};
    for (const name in figures)
      inputs[name] = figures[name].value;
    return inputs;
  });
  for (const [{ input, inputs, moves }, number] of changes_of(which, changes))
    for (const o of moves)
      for (const name of inputs)
        options[o][name] = from_unit(number, items.get(input));
  return options;
}

// An option's inputs and the line items computed from them.
function evaluate(inputs, option) {
  const v = { ...inputs };
  graphs[data.options[option].graph](v, data.scenario.last);
  return v;
}

// What an option shows, without items of another option whose tokens it serves.
function evaluate_shown(inputs, option) {
  const v = evaluate(inputs, option);
  for (const name of data.options[option].lent)
    delete v[name];
  return v;
}

const evaluate_all = (options) => options.map(evaluate_shown);

// The cost per token of an option, in base units, when only one target takes another value; `costs`
// are all options' costs when nothing moves.
function cost_with(inputs, target, value, option, costs) {
  if (!target.moves.includes(option))
    return costs[option];
  const moved = { ...inputs[option] };
  for (const name of target.inputs) // separate from the copy, which is faster
    moved[name] = value;
  return evaluate(moved, option).cost_per_mtok;
}

// Has the user typed a value for an option's input?
function is_typed(state, o, name) {
  return [...state.changes.keys()].some((key) => {
    const target = data.cases[state.which].by_name.get(key);
    return target && target.input === name && target.moves.includes(o);
  });
}

// A typed value is the user's own, and so is what was part of the value before.
function graded_figure(state, o, name) {
  const figure = case_figures[state.which][o][name];
  return figure && (is_typed(state, o, name) || is_typed(state, o, figure.part_of))
    ? { ...figure, origin: 'set', grade: 'assumed', source: '', date: '' } : figure;
}

// The weakest among an option's figures for some inputs, as its number in the order of grades.
const weakest_grade = (state, o, names) => Math.max(...names.map((name) =>
  data.grading.grades.indexOf(graded_figure(state, o, name)?.grade)));

const ungraded = new Set(['none', 'default', 'rent']);

// Rates combined in a sum, and watts weighted by time, count as projected at best.
const summed = new Set(['decode_throughput', 'prefill_throughput']);
const weighted = new Set(['load_power', 'prefill_power']);

const is_combined = (inputs, o, name) => data.options[o].serving_estimate &&
  (summed.has(name) || ('prefill_power' in inputs[o] && weighted.has(name)));

// The weakest grade among the inputs that matter, or among all if none does: grading.h in
// model/scenario/reading/ has the rule.
function headline_grade(state, inputs, o) {
  const { grades, swing, matters } = data.grading;
  const cost = evaluate(inputs[o], o).cost_per_mtok;
  let weakest = -1, of_all = -1;
  for (const { input, shown, years } of data.grading.inputs) {
    const figure = graded_figure(state, o, input);
    if (!figure || ungraded.has(figure.origin))
      continue;
    const target = { inputs: [input], moves: [o] }, value = inputs[o][input];
    const free = shown === 'price' && value === 0;
    const moves = (free ? [1] : [value * (1 - swing), value * (1 + swing)]).some((end) => {
      const moved = cost_with(inputs, target, end, o, [cost]);
      return Math.abs((Number.isFinite(moved) ? moved : 0) / cost - 1) > (free ? 0 : matters);
    });
    const grade = Math.max(weakest_grade(state, o, [input, ...years]),
      is_combined(inputs, o, input) ? grades.indexOf('projected') : 0);
    of_all = Math.max(of_all, grade);
    if (moves)
      weakest = Math.max(weakest, grade);
  }
  return grades[weakest] ?? grades[of_all] ?? 'assumed';
}

function has_source(state, o, name) {
  const { origin, source } = graded_figure(state, o, name);
  return !ungraded.has(origin) && source !== '';
}

// Is the rent that an option's figure is part of zero, so that it includes nothing?
const is_unrented = (state, inputs, o, name) =>
  Boolean(case_figures[state.which][o][name]?.rent?.every((rent) => inputs[o][rent] === 0));

// The costs that an option leaves out: model/scenario/resolution/left_out.h has the rule.
function not_included(state, inputs, o) {
  return data.options[o].omissible
    .filter(({ priced, sum }) => !inputs[o][sum]
      && (!priced.length || priced.some((name) => inputs[o][name] !== 0)))
    .filter(({ inputs: names, scale }) => scale && inputs[o][scale] === 0
      ? !has_source(state, o, scale)
      : names.every((name) => inputs[o][name] === 0)
        && !names.every((name) => has_source(state, o, name) && !is_unrented(state, inputs, o, name)))
    .map((cost) => cost.notice);
}

// ---- questions

const SHARE = 0.2; // the swing of inputs without a range

// The ends of a target's swing in base units, or null for a share of zero. A value that the user
// typed has no range.
function swing_of(state, inputs, target) {
  if (target.swing && !state.changes.has(target_name(target)))
    return target.swing;
  const value = inputs[target.moves[0]][target.input];
  const item = items.get(target.input);
  if (value === 0 || item.choices.length || item.property)
    return null;
  const reach = SHARE * Math.abs(value);
  const ends = [-1, 1].map((sign) => {
    const end = value + sign * reach;
    return item.integer ? whole(end, value, sign) : end;
  });
  return ends.map((end) => within(end, target));
}

// The targets that move together in a swing: of one quantity all those that the user has not typed,
// for the first of them, and none for the others.
function swung_with(state, target) {
  if (!(target.together?.length > 1) || is_typed(state, target.option, target.input))
    return [target];
  const drawn = target.together.filter((o) => !is_typed(state, o, target.input));
  return drawn[0] === target.option ? drawn.map((option) =>
    data.cases[state.which].by_name.get(target_name({ ...target, option }))) : [];
}

// A whole number moves by at least one.
function whole(end, value, sign) {
  const near = half_away(end);
  return near === value ? value + sign : near;
}

const within = (value, target) =>
  Math.min(Math.max(value, target.low ?? -Infinity), target.high ?? Infinity);

// The effect of each input alone on the saving of `option` over `base` (on its cost, if they are the
// same): target, targets (of one quantity, which move together), ends, results, effect; the largest
// effect first. An end at which there is no saving has no
// result, and the input no effect.
function tornado(state, inputs, costs, option, base) {
  const result = (target, value) => {
    const cost = cost_with(inputs, target, value, option, costs);
    return option === base ? cost : saving_of(cost, cost_with(inputs, target, value, base, costs));
  };
  const swings = [];
  data.cases[state.which].targets.forEach((target, order) => {
    const targets = swung_with(state, target), moves = targets.flatMap((one) => one.moves);
    const matters = moves.includes(option) || moves.includes(base);
    const ends = matters ? swing_of(state, inputs, target) : null;
    if (!ends)
      return;
    const results = ends.map((end) => result({ ...target, moves }, end));
    const effect = results.every(Number.isFinite) ? Math.abs(results[1] - results[0]) : 0;
    swings.push({ target, targets, order, ends, results, effect });
  });
  return swings.sort((a, b) => b.effect - a.effect || a.order - b.order);
}

// Where a function's sign changes between samples, found by bisection: samples are { x, gap },
// ascending.
function crossings(samples, gap) {
  return samples.slice(1).flatMap((right, i) => {
    const left = samples[i];
    if (left.gap * right.gap < 0)
      return [bisect(gap, left.x, right.x)];
    return left.gap === 0 && right.gap !== 0 ? [left.x] : [];
  });
}

function bisect(gap, low, high) {
  const rises = gap(low) < 0;
  for (let i = 0; i < 60 && high - low > 1e-9 * Math.abs(high); i++) {
    const middle = (low + high) / 2;
    if (gap(middle) < 0 === rises)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}
