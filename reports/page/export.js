// export: the page's inputs as a scenario file that inherits the original.
//
// The file's base case must give what the page shows, whatever case that is: all inputs that
// differ from the original's base case are written, and so are those of --set. A value common to
// all options goes where the original states it; any other into its option's section, which takes
// precedence over everything else in a file. What a file may not state without another
// input has that one beside it.
'use strict';

const common_origins = new Set(['common', 'default']);

const quantity = (number, item) => {
  const choice = item.choices.find((one) => one.value === number);
  return choice ? choice.name : with_unit(String(number), item);
};

// Inputs of the case shown with the changes, as numbers in their units: by option, then by name; `which`:
// that case.
function wanted_numbers(state) {
  const wanted = case_figures[state.which].map((figures) =>
    Object.fromEntries(Object.entries(figures)
      .map(([name, figure]) => [name, in_unit(figure.value, items.get(name))])));
  wanted.which = state.which;
  for (const [{ inputs, moves }, number] of changes_of(state.which, state.changes))
    for (const o of moves)
      for (const name of inputs)
        wanted[o][name] = number;
  return wanted;
}

const is_set = (figure) => figure.origin === 'set' || figure.origin === 'set_option';

// The same number with another source, or without one, is another figure.
const is_other_origin = (one, two) => ['grade', 'source', 'date'].some((key) => one[key] !== two[key]);
const is_restated = ({ which }, o, name) =>
  is_other_origin(case_figures[which][o][name], case_figures[0][o][name]);

// What the file gives for an input if its line is not written: what it follows in a list, or its value.
function unwritten(wanted, o, name) {
  const before = data.cases[0].targets.find(({ inputs, moves }) => moves.includes(o) && inputs[1] === name);
  return before ? wanted[o][before.input] : in_unit(case_figures[0][o][name].value, items.get(name));
}

function differs(wanted, o, name) {
  const figure = case_figures[0][o][name];
  return figure.origin !== 'rent' && figure.origin !== 'lent' && (is_set(figure) ||
    is_restated(wanted, o, name) || wanted[o][name] !== unwritten(wanted, o, name));
}

// Where a common value can be changed in place: its section, and the options that take it; or null.
// A new common value would also replace what another option has from the catalogue, and some are given
// to options that have none.
function common_section(wanted, name) {
  if (items.get(name)?.spreads ||
    case_figures[0].some((figures) => figures[name] && figures[name].origin === 'catalogue'))
    return null;
  const takers = case_figures[0].flatMap((figures, o) =>
    figures[name] && common_origins.has(figures[name].origin) ? [o] : []);
  const is_alike = (o) => wanted[o][name] === wanted[takers[0]][name] &&
    !is_other_origin(case_figures[wanted.which][o][name], case_figures[wanted.which][takers[0]][name]);
  if (!takers.length || !takers.every(is_alike))
    return null;
  if (!differs(wanted, takers[0], name))
    return null;
  const section = case_figures[0][takers[0]][name].section || 'common';
  return { section, takers };
}

// A value's origin; one changed on the page has none.
function origin_lines(state, o, number, item) {
  const figure = case_figures[state.which][o][item.name];
  return number === in_unit(figure.value, item) ? stated_lines(figure, item) : [];
}

// A file's texts are short (base/short_text.h); what a record says of itself may not be.
function short_text(text) {
  const characters = [...text];
  return characters.length > 150 ? `${characters.slice(0, 149).join('')}\u2026` : text;
}

// A file states quotes and claims alone: a figure of a better grade keeps its source, as a claim.
function stated_lines({ grade, source, date }, { key }) {
  if (grade === 'quoted')
    return [`${key}.quote = ${source} ${date}`];
  if (grade === 'assumed' || source === '')
    return [];
  const weakened = grade === 'claim' ? []
    : [`; ${key} is ${grade} in the original; stated here with its source, it counts as a claim`];
  return [...weakened, `${key}.source = ${short_text(source)}`, ...(date ? [`${key}.date = ${date}`] : [])];
}

// A table row that the original names for an input gives way to a number.
const named_rows = {
  list_price: ['price ='], rental_rate: ['price ='], on_demand_rate: ['price ='],
  throughput: ['evidence =', 'record ='], decode_throughput: ['evidence =', 'record ='],
};

// A row of a token API gives all of its prices, except those that an inheriting file states. A row
// named with --set is in the export itself: it gives way there, and the other prices are kept.
const api_prices = ['output_price', 'input_price', 'cached_input_price'];

const sets_api = (o) => data.settings.some(({ section, key }) =>
  section === `option ${data.options[o].id}` && key === 'api');

function keeps_price(wanted, o, item) {
  return sets_api(o) && api_prices.includes(item.key) &&
    case_figures[0][o][item.name].origin === 'catalogue' &&
    data.items.some((one) => api_prices.includes(one.key) && case_figures[0][o][one.name] &&
      differs(wanted, o, one.name));
}

const given_way = (o, item) =>
  (sets_api(o) && api_prices.includes(item.key) ? ['api ='] : named_rows[item.key] ?? []);

// The defaults that a file must state beside a changed input: the price of what is used, and what
// the input has an effect on.
function beside_lines(wanted, options, item) {
  const silent = (name) => options.filter((o) =>
    case_figures[0][o][name]?.origin === 'default' && !differs(wanted, o, name));
  const needed = ({ name, needed_with }) => (needed_with === item.name &&
    silent(name).some((o) => wanted[o][item.name] > 0)) ||
    (name === item.idle_without && silent(name).length === options.length);
  return data.items.filter(needed).map((one) =>
    `${one.key} = ${quantity(wanted[silent(one.name)[0]][one.name], one)}`);
}

const value_lines = (state, wanted, o, item) =>
  [`${item.key} = ${quantity(wanted[o][item.name], item)}`,
    ...origin_lines(state, o, wanted[o][item.name], item)];

// A list's values by their keys, in either currency: how they follow one another, and whose they are.
const in_lists = new Map(data.items.flatMap((one) => (one.year_of ? [[one.key, one]] : [])));

// The values of a list that only --set states, which the original need not have; null for any
// other input.
function set_list(o, item) {
  const list = in_lists.get(item.key)?.year_of;
  const values = data.items.filter((one) => list && in_lists.get(one.key)?.year_of === list &&
    case_figures[0][o][one.name]);
  return values.length > 1 && values.every((one) => is_set(case_figures[0][o][one.name])) ? values : null;
}

// "demand = 100, 150 Mtok/day every 3 month", as it is typed. If one source is that of all values, it
// is the list's; else each value that has one is repeated with it.
function list_lines(state, wanted, o, values) {
  const { year_of: key, by } = in_lists.get(values[0].key), last = values.length - 1;
  const text = (one, i) => (i < last ? String(wanted[o][one.name]) : quantity(wanted[o][one.name], one));
  const lines = values.map((one) => origin_lines(state, o, wanted[o][one.name], { ...one, key }));
  const same = lines.every((one) => one.join() === lines[0].join());
  return [`${key} = ${values.map(text).join(', ')}${by.startsWith('every ') ? ` ${by}` : ''}`,
    ...(same ? lines[0] : values.filter((_, i) => lines[i].length)
      .flatMap((one) => value_lines(state, wanted, o, one)))];
}

// The lines of a list are those of its first value, where that is written too.
function lines_of(state, wanted, o, item, with_first) {
  const values = with_first ? set_list(o, item) : null;
  if (!values)
    return value_lines(state, wanted, o, item);
  return values[0] === item ? list_lines(state, wanted, o, values) : [];
}

// What came with a throughput is kept when that is overwritten: a scenario that states its own
// throughput would otherwise get other watts. So is a prefill's power beside another load's.
const kept_beside = {
  throughput: ['load_power', 'idle_power', 'host_power'],
  decode_throughput: ['load_power', 'idle_power', 'host_power', 'prefill_power', 'prefill_throughput'],
  load_power: ['prefill_power'],
};

// A share of the hardware or a fixed sum: what an option states replaces both of its offer.
const other_of = Object.fromEntries(['support', 'installation', 'purchase_tax'].flatMap((share) =>
  [[share, `${share}_sum`], [`${share}_sum`, share]]));

const is_beside_change = (wanted, o, name) => Object.entries(kept_beside).some(([beside, kept]) =>
  kept.includes(name) && case_figures[0][o][beside] && differs(wanted, o, beside));

const is_other_of_change = (wanted, o, name) => other_of[name] &&
  case_figures[0][o][other_of[name]] && differs(wanted, o, other_of[name]);

const is_kept = (wanted, o, name) => is_other_of_change(wanted, o, name) ||
  (case_figures[0][o][name].origin === 'catalogue' && is_beside_change(wanted, o, name));

// Power that a rent no longer includes is free, as nobody stated its price.
function is_unpaid(wanted, o, { name }) {
  const { rent, part_of } = case_figures[0][o][name];
  return rent !== undefined &&
    (rent.every((one) => wanted[o][one] === 0) || differs(wanted, o, part_of));
}

// What a record gives for a case's lengths, it gives again where these are written.
const found_for_lengths = new Set(['prefill_throughput', 'prefill_power']);

const is_found_again = (state, wanted, o, name) => found_for_lengths.has(name) &&
  case_figures[state.which][o][name].origin === 'catalogue' && !is_typed(state, o, name) &&
  !is_beside_change(wanted, o, name);

// Whether a list's first value, and so the list, is written for all options.
const begins_common = (wanted, o, item) =>
  common_section(wanted, set_list(o, item)?.[0].name ?? '')?.takers.includes(o) ?? false;

// Section -> its lines, by key: each key appears once, with its last line.
function changed_sections(state) {
  const sections = new Map();
  const put = (section, ...lines) => {
    if (!sections.has(section))
      sections.set(section, new Map());
    for (const line of lines)
      sections.get(section).set(line.split(' =')[0], line);
  };
  for (const setting of data.settings)
    put(setting.section, `${setting.key} = ${setting.value}`);
  const wanted = wanted_numbers(state);
  for (const item of data.items.filter((one) => one.kind === 'input')) {
    const common = common_section(wanted, item.name);
    if (common)
      put(common.section, ...lines_of(state, wanted, common.takers[0], item, true),
        ...beside_lines(wanted, common.takers, item));
    data.options.forEach((option, o) => {
      const own = case_figures[0][o][item.name] && !common?.takers.includes(o) &&
        !is_found_again(state, wanted, o, item.name);
      if (own && differs(wanted, o, item.name))
        put(`option ${option.id}`, ...given_way(o, item),
          ...lines_of(state, wanted, o, item, !begins_common(wanted, o, item)),
          ...beside_lines(wanted, [o], item));
      else if (own && (is_kept(wanted, o, item.name) || keeps_price(wanted, o, item)))
        put(`option ${option.id}`, ...value_lines(state, wanted, o, item));
      else if (own && is_unpaid(wanted, o, item))
        put(`option ${option.id}`, `${item.key} = ${quantity(wanted[o][item.name], item)}`);
    });
  }
  return sections;
}

// base/ini.h accepts no longer line, unless it is a comment.
const LINE_BYTES = 199;
const encoder = new TextEncoder();
const fits = (line) => encoder.encode(line).length <= LINE_BYTES;
const kept_line = (line) => (line.startsWith(';') || fits(line) ? line
  : `; left out, as its line would be over ${LINE_BYTES} bytes: ${line.split(' =')[0]}`);

// Why a file cannot be inherited by its name; or null.
function why_not_inherited(file) {
  if (/(^|[ \t]);/.test(file))
    return 'has a semicolon behind a blank, which begins a comment';
  if (file.trim() !== file)
    return 'begins or ends with a blank';
  return fits(`inherits = ${file}`) ? null : 'is too long for a line';
}

function export_text(state) {
  const { file, arguments: spoken, sha256 } = data.scenario;
  const why_not = why_not_inherited(file);
  if (why_not)
    return '; A scenario cannot inherit the original, whose name ' +
      `${why_not}: rename it, and make its page again.\n; ${file}\n`;
  const sections = changed_sections(state);
  const scenario = sections.get('scenario') ?? new Map();
  sections.delete('scenario');
  const lines = [
    `; A what-if made on the page of ${file}. Keep it beside that file, and read it with:`,
    `;   pertoken compare THIS_FILE${spoken}`,
    `; The original's digest: ${sha256}`,
    '',
    '[scenario]',
    `inherits = ${file}`,
    ...scenario.values(),
  ];
  for (const [section, keys] of sections)
    lines.push('', `[${section}]`, ...keys.values());
  return `${lines.map(kept_line).join('\n')}\n`;
}

const export_name = () => data.scenario.file.replace(/(\.ini)?$/, '-what-if.ini');
