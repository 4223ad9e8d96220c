// page: connects state, controls and charts.
'use strict';

const at = (id) => document.getElementById(id);

let state = state_of(location.hash);
let controls = new Map();
let default_axis = '';
let waiting = false; // for the next frame
let asked_at = 0;    // when the oldest change not yet drawn was made

// ---- words

function horizon_text({ horizon }) {
  const item = items.get('horizon'), days = horizon / 24;
  if (horizon < item.factor && Number.isInteger(days))
    return days === 1 ? '1 day' : `${days} days`;
  return with_unit(shown(horizon, item), item);
}

// Which values the verdict is for, if there are also ranges: those are in `over-ranges`.
function at_which_values() {
  if (!uncertain)
    return '';
  return is_as_stated(state) ? ', at the base values' : ', at the values chosen here';
}

const LONG_ANSWER = 120; // characters: a longer one would cover much of a narrow screen if it stayed there

// The verdict in one sentence with the costs, and what it rests on.
function answer_texts(values, ranking, grades) {
  const item = per_mtok(), { cheapest, against } = ranking, { grades: order } = data.grading;
  const number = (o) => shown(values[o].cost_per_mtok, item);
  const rests_on = (...options) => `over ${horizon_text(values[options[0]])}${at_which_values()}; weakest evidence: ${
    order[Math.max(...options.map((o) => order.indexOf(grades[o])))]}`;
  if (data.options.length === 1)
    return [`A million output tokens cost ${with_unit(number(0), item)} with ${data.options[0].label}`,
      rests_on(0)];
  const verdict = verdict_text(ranking);
  if (!cheapest.length)
    return [capital(verdict), rests_on(...data.options.keys())];
  const other = against < 0 ? '' : ` against ${number(against)}`;
  return [`${verdict}: ${with_unit(number(cheapest[0]) + other, item)}`,
    turn_text(ranking) + rests_on(...cheapest, ...(against < 0 ? [] : [against]))];
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// ---- tables

function failed_checks(values) {
  return data.items.filter((item) => item.role === 'check').flatMap((item) =>
    values.flatMap((v, o) => (Math.abs(v[item.name] ?? 0) > 1e-9
      ? [`${data.options[o].label}: check failed: ${item.label}`] : [])));
}

function cell(value, item, tag = 'td') {
  const made = element(tag, { textContent: value === undefined ? '\u2013' : shown(value, item) });
  if (value !== undefined)
    made.dataset.value = String(value / item.factor);
  return made;
}

function head_row(...texts) {
  return element('tr', {}, ...texts.map((text) =>
    element('th', { scope: 'col', textContent: text })));
}

const name_cell = (item) => element('th', { scope: 'row', textContent: item.label });
const unit_cell = (item) => element('td', { className: 'unit', textContent: plain_unit(item) });

// If an item's formula differs between options, the first one is shown.
const formula_of = (item) =>
  data.graphs.map((graph) => graph.formulas[item.name]).find(Boolean) ?? '';

// An input may be one number in one option and a list in another.
const one_number = (v, item) => (Array.isArray(v[item.name]) ? undefined : v[item.name]);

// A number in a table, or words if there is none.
const scalar_cell = (v, item) => (v[item.none_below] < 0 || v[item.none_without] <= 0
  ? element('td', { textContent: item.none }) : cell(one_number(v, item), item));

// Inputs that are zero everywhere are left out.
const has_row = (values, item) => item.role !== 'check' && values.some((v) =>
  one_number(v, item) !== undefined && (item.kind !== 'input' || v[item.name] !== 0));

function fill_scalars(values) {
  const rows = data.items.filter((item) => has_row(values, item));
  at('scalars').replaceChildren(
    element('thead', {}, head_row('Line item', 'Unit', ...data.options.map((one) => one.label),
      'Formula')),
    element('tbody', {}, ...rows.map((item) => {
      const row = element('tr', {}, name_cell(item), unit_cell(item),
        ...values.map((v) => scalar_cell(v, item)),
        element('td', { className: 'formula' },
          element('code', { textContent: formula_of(item) })));
      row.dataset.item = item.name;
      return row;
    })));
}

// The number of periods with content: the purchase and those in operation.
const periods_of = (v) => 1 + v.operating.slice(1).filter((flag) => flag > 0).length;

const YEAR = items.get('horizon').factor;

// The periods' names in a table's header: years if all are years, and the days they begin.
function period_names(values) {
  const count = Math.max(...values.map(periods_of));
  const word = values.every((v) => v.period_length === YEAR) ? 'Year' : 'Period';
  return Array.from({ length: count }, (_, t) =>
    (t ? `${word} ${t}, from ${data.scenario.begins[t - 1]}` : 'Purchase'));
}

function series_row(item, o, v) {
  const row = element('tr', {}, name_cell(item),
    element('td', { textContent: data.options[o].label }), unit_cell(item),
    ...v[item.name].slice(0, periods_of(v)).map((value) => cell(value, item)));
  row.dataset.item = item.name;
  row.dataset.option = data.options[o].id;
  return row;
}

function fill_series(values) {
  const rows = data.items.flatMap((item) =>
    values.flatMap((v, o) => (Array.isArray(v[item.name]) ? [series_row(item, o, v)] : [])));
  at('series').replaceChildren(
    element('thead', {}, head_row('Line item', 'Option', 'Unit', ...period_names(values))),
    element('tbody', {}, ...rows));
}

function fill_changes() {
  const rows = [...state.changes].map(([name, number]) => {
    const target = data.cases[state.which].by_name.get(name), item = items.get(target.input);
    const said = in_unit(stated(state.which, target), item);
    return element('tr', {}, element('th', { scope: 'row', textContent: target_label(target) }),
      element('td', { textContent: quantity(said, item) }),
      element('td', { textContent: quantity(number, item) }));
  });
  at('changes').hidden = !rows.length;
  at('changed').replaceChildren(
    element('thead', {}, head_row('Changed here', 'Scenario', 'What if')), element('tbody', {}, ...rows));
}

// What the scenario states, with the changes, for paper: nothing of it can be read off the sliders there.
function fill_given() {
  const rows = [...controls.values()].filter(({ name, target }) => state.changes.has(name) ||
    case_figures[state.which][target.moves[0]][target.input].origin !== 'default');
  at('given-inputs').replaceChildren(
    element('thead', {}, head_row('Input', 'Value', 'Grade', 'Source')),
    element('tbody', {}, ...rows.map(({ name, target, item, grade, source }) => element('tr', {},
      element('th', { scope: 'row', textContent: target_label(target) }),
      element('td', { textContent: quantity(number_of(state.which, target, state.changes), item) }),
      element('td', {}, grade.cloneNode(true)), element('td', {}, source.cloneNode(true))))));
}

function list(id, texts) {
  at(id).replaceChildren(...texts.map((text) =>
    element('li', { dir: 'auto', textContent: text })));
  at(id).hidden = !texts.length;
}

// One line per warning, for all options that it concerns.
function warnings_of(one) {
  const about = new Map();
  one.options.forEach((option, o) => option.warnings.forEach((text) =>
    about.set(text, [...(about.get(text) ?? []), data.options[o].label])));
  const { between } = data.scenario;
  return [...one.warnings, ...[...about].map(([text, ids]) => `${ids.join(between)}: ${text}`)];
}

// ---- drawing

const inner_width = (node) => Math.max(280, Math.floor(node.clientWidth));

function put_chart(id, ...nodes) {
  at(id).replaceChildren(...nodes);
}

const axis_targets = () => data.cases[state.which].targets.filter((target) =>
  !items.get(target.input).choices.length &&
  slider_range(0, target_in_first_case(target)) &&
  (target.moves.includes(state.from) || target.moves.includes(state.to)));

// The input for the break-even line until the user chooses one: of those that matter most, the first
// at which the options meet.
function choose_axis(swings, inputs, costs) {
  const targets = axis_targets();
  const likely = swings.map((swing) => swing.target).filter((target) => targets.includes(target));
  const meets = (target) => {
    const [low, high] = axis_range(target).map((x) => [state.from, state.to]
      .map((o) => cost_with(inputs, target, x, o, costs)))
      .map(([a, b]) => a - b);
    return low * high < 0;
  };
  const found = likely.find(meets) ?? likely[0] ?? targets[0];
  return found ? target_name(found) : '';
}

function fill_axis_choices() {
  const names = axis_targets().map((target) =>
    element('option', { value: target_name(target), textContent: target_label(target) }));
  at('axis').replaceChildren(...names);
}

// Whether the drivers can be of a saving: over an option that costs nothing, or of less than that, there
// is none, so that they are of the cost alone.
const saves = ({ from, to }, costs) => from !== to && compares(from, to) && costs[from] > 0 && costs[to] >= 0;

const swings_of = (now) =>
  (now.swings ??= tornado(state, now.inputs, now.costs, state.to,
    saves(state, now.costs) ? state.from : state.to));

function draw_stacked({ values, ranking }) {
  put_chart('stacked', category_legend(values), stacked_chart(values, ranking, inner_width(at('stacked'))));
}

function draw_waterfall({ values, ranking }) {
  const { from, to } = state, pair = from !== to;
  const reasons = [from, to].filter((o) => pair && !ranking.options[o].ranked)
    .map((o) => `${data.options[o].label} is ${not_ranked_text(ranking, o)}`);
  at('unlike').hidden = !reasons.length;
  at('unlike').textContent = reasons.join('; ');
  at('waterfall-figure').hidden = !pair;
  if (pair)
    put_chart('waterfall',
      waterfall_chart(values, ranking, from, to, inner_width(at('waterfall'))));
}

function draw_tornado(now) {
  const { from, to } = state, pair = saves(state, now.costs);
  const result = pair ? saving_of(now.costs[to], now.costs[from]) : now.costs[to];
  const swings = swings_of(now);
  put_chart('tornado', tornado_chart(swings, result, pair, inner_width(at('tornado'))));
  const unsaved = swings.filter(({ results }) => !results.every(Number.isFinite));
  at('tornado-of').textContent = pair
    ? `saving of ${data.options[to].label} over ${data.options[from].label}${unsaved.length
      ? `; not shown, as a cost would be less than nothing at one end: ${unsaved.map(({ target }) =>
        target_label(target)).join(', ')}` : ''}`
    : `cost of ${data.options[to].label}`;
}

function chosen_axis(now) {
  if (axis_targets().some((target) => target_name(target) === state.axis))
    return state.axis;
  default_axis ||= choose_axis(swings_of(now), now.inputs, now.costs);
  return default_axis;
}

function draw_break_even(now) {
  const { inputs, costs } = now, name = chosen_axis(now);
  const target = data.cases[state.which].by_name.get(name);
  at('break-even-figure').hidden = !target;
  if (!target)
    return;
  at('axis').value = name;
  at('break-even-title').textContent =
    state.from === state.to ? 'Cost per token against one input' : 'Break-even';
  put_chart('break-even', pair_legend(state), break_even_chart(state,
    break_even(state, inputs, costs, target), target, inputs[target.moves[0]][target.input],
    inner_width(at('break-even'))));
}

const pictures = {
  stacked: draw_stacked, waterfall: draw_waterfall, tornado: draw_tornado,
  'break-even': draw_break_even,
};
const in_view = new Set(Object.keys(pictures)); // all, until the browser says which
let later = 0;

// Draws those in view at once, and the others after a moment without changes.
function draw_pictures(now) {
  const rest = Object.keys(pictures).filter((id) => !in_view.has(id));
  clearTimeout(later);
  for (const id of in_view)
    pictures[id](now);
  if (rest.length)
    later = setTimeout(() => rest.forEach((id) => pictures[id](now)), 120);
}

function watch_view() {
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries)
      in_view[isIntersecting ? 'add' : 'delete'](target.querySelector('div').id);
  });
  for (const id in pictures)
    observer.observe(at(id).closest('figure'));
}

function show_words({ inputs, values, ranking }) {
  const grades = data.options.map((_, o) => headline_grade(state, inputs, o));
  const [answer, detail] = answer_texts(values, ranking, grades);
  for (const [id, text] of [['answer', answer], ['detail', `${capital(detail)}.`]])
    if (at(id).textContent !== text)
      at(id).textContent = text;
  at('answer').classList.toggle('long', answer.length > LONG_ANSWER);
  show_cards(values, ranking, inputs, grades);
  list('failed', failed_checks(values));
  fill_changes();
  const { size } = state.changes;
  at('reset').disabled = size === 0;
  at('reset').textContent = size ? `Undo all (${size})` : 'Undo all';
}

// All cases side by side, each with the changes that apply to it.
function fill_cases() {
  const found = data.cases.map((one, which) => {
    const values = evaluate_all(inputs_of(which, state.changes));
    return { one, which, values, ranking: ranking_of(values) };
  });
  const several = data.options.length > 1;
  const over = (against) => (against === data.scenario.baseline ? ''
    : ` over ${data.options[against].label}`);
  const verdict = ({ cheapest, against, saving }) => [
    cheapest.length ? list_text(cheapest.map((o) => data.options[o].label)) : 'not ranked',
    cheapest.length && against >= 0 && !Number.isNaN(saving) ? percent(saving) + over(against) : '\u2013'];
  at('cases').replaceChildren(
    element('thead', {}, head_row(`Case, ${per_mtok().unit}`, ...(several ? ['Cheapest', 'Saving'] : []),
      ...data.options.map((one) => one.label))),
    element('tbody', {}, ...found.map(({ one, which, values, ranking }) => {
      const row = element('tr', {}, element('th', { scope: 'row', dir: 'auto', textContent: one.label }),
        ...(several ? verdict(ranking) : []).map((textContent) => element('td', { dir: 'auto', textContent })),
        ...values.map((v, o) => {
          const made = cell(v.cost_per_mtok, per_mtok());
          made.classList.toggle('best', ranking.options[o].cheapest);
          return made;
        }));
      row.classList.toggle('chosen', which === state.which);
      row.dataset.case = one.name;
      return row;
    })));
  list('cases-bars', found.flatMap(({ one, ranking }) => (ranking.why_none ? [] : ranking.options.flatMap(({ why_not }, o) =>
    (why_not ? [`${one.label}: ${data.options[o].label} is not ranked: ${why_not}`] : [])))));
}

function fill_open_tables(values) {
  if (data.cases.length > 1 && at('cases-details').open)
    fill_cases();
  if (at('items-details').open)
    fill_scalars(values);
  if (at('series-details').open)
    fill_series(values);
}

function render(start) {
  const inputs = inputs_of(state.which, state.changes), values = evaluate_all(inputs);
  const ranking = ranking_of(values), costs = values.map((v) => v.cost_per_mtok);
  const now = { inputs, values, ranking, costs, start };
  show_words(now);
  draw_pictures(now);
  fill_open_tables(values);
  ask_uncertainty(now);
}

function render_now() {
  waiting = false;
  const start = asked_at || performance.now();
  asked_at = 0;
  render(start);
  document.body.getBoundingClientRect(); // lays out what was drawn, so that it counts
  performance.measure('update', { start, end: performance.now() });
}

// Changes between two frames are drawn together.
function ask_render() {
  asked_at ||= performance.now();
  if (!waiting)
    requestAnimationFrame(render_now);
  waiting = true;
}

// ---- user actions

let address_timer = 0;

function write_address() {
  clearTimeout(address_timer);
  address_timer = setTimeout(write_address_now, 150);
}

function write_address_now() {
  clearTimeout(address_timer);
  const fragment = fragment_of(state);
  if (location.hash.replace(/^#/, '') !== fragment)
    history.replaceState(null, '', `#${fragment}`);
}

function on_change(name, number, everywhere) {
  change(state, name, number);
  const control = controls.get(name);
  for (const other of controls.values())
    if (other !== control && control.target.inputs.includes(other.target.input))
      other.show(state);
  if (everywhere)
    control.show(state);
  else
    control.show_origin(state, state.changes.has(name), in_unit(stated(state.which, control.target),
      control.item));
  if (control.slider && document.activeElement !== control.slider)
    control.slider.value = control.field.value;
  ask_render();
  write_address();
}

function show_theme() {
  at('theme').value = state.theme;
  if (state.theme === 'auto')
    delete document.documentElement.dataset.theme;
  else
    document.documentElement.dataset.theme = state.theme;
}

function show_case() {
  const one = data.cases[state.which];
  at('case').value = String(state.which);
  controls = build_controls(state, at('inputs'), on_change);
  list('warnings', warnings_of(one));
  at('warnings-details').hidden = at('warnings').hidden;
  list('ignored', state.ignored.length
    ? [`Ignored in the link, as it does not apply here: ${state.ignored.join(', ')}`] : []);
  at('from').value = String(state.from);
  at('to').value = String(state.to);
  forget_axis();
}

// A different case or pair has different inputs to choose from.
function forget_axis() {
  default_axis = '';
  fill_axis_choices();
}

// Redraws everything: for another case, or a link followed within the page.
function show_all() {
  show_theme();
  show_case();
  render_now();
}

function say(text) {
  at('said').textContent = text;
}

async function copy_link() {
  write_address_now();
  try {
    await navigator.clipboard.writeText(location.href);
    say('Link copied.');
  } catch {
    say('The address bar holds the link.');
  }
}

function show_export() {
  at('export-text').value = export_text(state);
  at('export-name').textContent = export_name();
  at('export').showModal();
}

function save_export() {
  const url = URL.createObjectURL(new Blob([at('export-text').value], { type: 'text/plain' }));
  element('a', { href: url, download: export_name() }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function fill_choices() {
  at('case').replaceChildren(...data.cases.map((one, i) =>
    element('option', { value: String(i), textContent: one.label })));
  at('case-label').hidden = at('cases-details').hidden = data.cases.length < 2;
  for (const id of ['from', 'to'])
    at(id).replaceChildren(...data.options.map((one, o) =>
      element('option', { value: String(o), textContent: one.label })));
  at('pair').hidden = data.options.length < 2;
}

function fill_head() {
  const { title, date, stamp, sha256, file } = data.scenario;
  at('title').textContent = title;
  at('about').textContent = `${file}, as of ${date}, baseline ${
    data.options[data.scenario.baseline].label}`;
  at('uncertainty-figure').hidden = !uncertain;
  at('stamp').hidden = !stamp;
  at('stamp').textContent = stamp;
  at('program').textContent = `${data.program}, scenario ${sha256.slice(0, 16)}`;
}

function listen() {
  const on = (id, type, listener) => at(id).addEventListener(type, listener);
  on('skip', 'click', (event) => {
    event.preventDefault(); // fragments hold what-ifs
    at('inputs-title').focus();
  });
  on('case', 'change', () => {
    choose_case(state, Number(at('case').value));
    show_case();
    ask_render();
    write_address();
  });
  for (const id of ['from', 'to'])
    on(id, 'change', () => {
      state[id] = Number(at(id).value);
      forget_axis();
      ask_render();
      write_address();
    });
  on('axis', 'change', () => {
    state.axis = at('axis').value;
    ask_render();
    write_address();
  });
  on('theme', 'change', () => {
    state.theme = at('theme').value;
    show_theme();
    write_address();
  });
  on('reset', 'click', () => {
    state.changes.clear();
    show_case();
    ask_render();
    write_address();
  });
  on('copy', 'click', copy_link);
  on('show-export', 'click', show_export);
  on('save-export', 'click', save_export);
  on('close-export', 'click', () => at('export').close());
  on('cases-details', 'toggle', ask_render);
  on('items-details', 'toggle', ask_render);
  on('series-details', 'toggle', ask_render);
  addEventListener('beforeprint', fill_given);
  addEventListener('hashchange', () => {
    state = state_of(location.hash);
    show_all();
  });
}

// Charts are as wide as their containers.
function follow_width() {
  let width = at('stacked').clientWidth;
  new ResizeObserver(() => {
    if (at('stacked').clientWidth !== width)
      ask_render();
    width = at('stacked').clientWidth;
  }).observe(at('stacked'));
}

fill_choices();
fill_head();
prepare_cards();
at('plain').remove();
document.documentElement.classList.add('ready');
show_all();
listen();
follow_width();
watch_view();
performance.measure('ready', { start: 0, end: performance.now() });
