// state: what the page shows: a case, the changes made to it, and which options are compared. All of
// it is in the address's fragment, so that a link carries it.
//
//   #case=dear_power&from=h200&to=mi325x&axis=utilization&theme=dark&mi325x.discount=22
'use strict';

const THEMES = ['auto', 'light', 'dark'];

function first_state() {
  return {
    which: data.start,
    changes: new Map(), // target name -> number in the unit of its input
    from: data.scenario.baseline,
    to: data.scenario.contender,
    axis: '', // the break-even line's target; '': the page's choice
    theme: 'auto',
    ignored: [], // the parts of a link that this page does not know
  };
}

// Is it the case that the page was made for, unchanged?
const is_as_stated = ({ which, changes }) => which === data.start && !changes.size;

// Why a target cannot take a number, or ''.
function refusal(target, number) {
  const item = items.get(target.input);
  if (!Number.isFinite(number))
    return 'enter a number';
  if (item.choices.length)
    return item.choices.some((choice) => choice.value === number) ? '' : 'not a choice';
  if (item.integer && !Number.isInteger(number))
    return 'enter a whole number';
  const value = from_unit(number, item);
  const slack = 1e-12 * Math.max(Math.abs(target.low ?? 0), Math.abs(target.high ?? 0));
  if (target.low !== null && value < target.low - slack)
    return `at least ${limit_text(target.low, item)}`;
  if (target.high !== null && value > target.high + slack)
    return `at most ${limit_text(target.high, item)}`;
  if (target.most !== null && value > target.most + slack)
    return `at most ${limit_text(target.most, item)} by the datasheet`;
  return '';
}

// Why a target cannot take a number together with the other changes, or ''.
function refused(state, name, number) {
  const problem = refusal(data.cases[state.which].by_name.get(name), number);
  const changes = new Map(state.changes).set(name, number);
  return problem || infinite(evaluate_all(inputs_of(state.which, changes)));
}

// What the engine refuses too: a result that is not finite.
function infinite(options) {
  for (const values of options) {
    const item = data.items.find(({ name }) => ![values[name] ?? 0].flat().every(Number.isFinite));
    if (item)
      return `'${item.name}' has no finite value`;
  }
  return '';
}

const limit_text = (value, item) => with_unit(significant(in_unit(value, item), 6), item);

// Makes a change, or removes it if the value is the same without one.
function change(state, name, number) {
  const target = data.cases[state.which].by_name.get(name);
  state.changes.delete(name);
  if (number_of(state.which, target, state.changes) !== number)
    state.changes.set(name, number);
}

// The number of a target's input without a change of its own.
const unchanged = (state, name) => number_of(state.which, data.cases[state.which].by_name.get(name),
  new Map([...state.changes].filter(([key]) => key !== name)));

// Drops changes that do not apply in the new case, such as to an input it gives to one option alone.
function choose_case(state, which) {
  state.which = which;
  for (const name of [...state.changes.keys()])
    if (!data.cases[which].by_name.has(name))
      state.changes.delete(name);
}

function fragment_of(state) {
  const start = first_state();
  const pairs = [];
  if (state.which !== start.which)
    pairs.push(['case', data.cases[state.which].name]);
  for (const end of ['from', 'to'])
    if (state[end] !== start[end])
      pairs.push([end, data.options[state[end]].id]);
  if (state.axis)
    pairs.push(['axis', state.axis]);
  if (state.theme !== 'auto')
    pairs.push(['theme', state.theme]);
  for (const [name, number] of state.changes)
    pairs.push([name, String(number)]);
  return pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
}

// Every key of the fragment that is not a target. What a reader rejects is listed as ignored.
const readers = {
  case: (state, text) => {
    const which = data.cases.findIndex((one) => one.name === text);
    if (which >= 0)
      state.which = which;
    return which >= 0;
  },
  from: (state, text) => read_option(state, 'from', text),
  to: (state, text) => read_option(state, 'to', text),
  axis: (state, text) => {
    state.axis = text;
    return data.cases.some((one) => one.by_name.has(text));
  },
  theme: (state, text) => {
    if (THEMES.includes(text))
      state.theme = text;
    return THEMES.includes(text);
  },
};

function read_option(state, end, id) {
  const option = data.options.findIndex((one) => one.id === id);
  if (option >= 0)
    state[end] = option;
  return option >= 0;
}

function read_change(state, name, text) {
  const target = data.cases[state.which].by_name.get(name);
  if (!target || text.trim() === '' || refused(state, name, Number(text)))
    return false;
  change(state, name, Number(text));
  return true;
}

function state_of(fragment) {
  const state = first_state();
  const pairs = [...new URLSearchParams(fragment.replace(/^#/, '').replaceAll('+', '%2B'))];
  const is_reader = ([name]) => Object.hasOwn(readers, name);
  for (const [name, text] of pairs.filter(is_reader))
    if (!readers[name](state, text))
      state.ignored.push(name);
  for (const [name, text] of pairs.filter((pair) => !is_reader(pair)))
    if (!read_change(state, name, text))
      state.ignored.push(name);
  return state;
}
