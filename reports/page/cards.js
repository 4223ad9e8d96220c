// cards: what each option costs, on a card of its own, or in a row where they are many.
'use strict';

const CARD_ITEMS = ['cost_per_mtok', 'levelised_cost_per_mtok', 'tco'];
const CARD_LABELS = ['per million output tokens', 'levelized', 'total cost'];

// What the contract pays of damages for a delay.
function paid_text({ damages_total: credit, delay_covered: most }, damages) {
  const money = items.get('tco');
  const words = (amount) => with_unit(shown(amount, money), money);
  if (credit === undefined)
    return '';
  const weeks = shown(most, items.get('delay_covered'));
  return `; the contract pays ${words(-credit)}, for at most ${weeks} week${
    weeks === '1' ? '' : 's'}, and leaves ${words(Math.max(0, damages + credit))} uncovered`;
}

// What the delay of a late part costs, what would make up for it, and what the contract pays, as in
// model/questions/lateness.h.
function late_text(values, inputs, o) {
  const { delivery_delay: delay, cost_per_mtok: cost, tco, damages_total: credit = 0 } = values[o];
  const on_time = delay > 0 && evaluate({ ...inputs[o], delivery_delay: 0 }, o).cost_per_mtok;
  if (!(on_time > 0 && cost > 0))
    return '';
  const money = items.get('tco'), damages = tco - credit - tco * (on_time / cost);
  const percents = round(100 * (cost * (1 - credit / tco) / on_time - 1), 1);
  const offset = percents > 0
    ? `, which damages of ${with_unit(shown(damages, money), money)} would offset` : '';
  return `late delivery: ${percents > 0 ? '+' : ''}${percents.toFixed(1)} % per token${offset}${
    paid_text(values[o], damages)}`;
}

const stamp = (textContent) => element('p', { className: 'stamp', textContent });

// What is to be said of an option's numbers.
function remarks(values, ranking, inputs, o) {
  const option = data.options[o], missing = not_included(state, inputs, o), late = late_text(values, inputs, o);
  return [
    ...(ranking.options[o].ranked ? [] : [stamp(not_ranked_text(ranking, o))]),
    ...(option.decode_only ? [stamp('upper bound, decode only')] : []),
    ...(option.serving_estimate ? [stamp('serving estimate: prefill and decoding added up')] : []),
    ...(late ? [element('p', { className: 'late', textContent: late })] : []),
    ...(missing.length ? [element('p', { className: 'missing',
      textContent: `Not included: ${missing.join(', ')}` })] : []),
  ];
}

const accelerator_of = (o) =>
  element('p', { className: 'accelerator', dir: 'auto', textContent: data.options[o].accelerator });

const grade_shown = (grade) => element('span', { className: `grade ${grade}`, textContent: grade });

function card(values, ranking, inputs, grades, o) {
  const numbers = CARD_ITEMS.map((name, i) => {
    const item = items.get(name);
    return element('div', {}, element('dt', { textContent: CARD_LABELS[i] }),
      element('dd', {}, shown(values[o][name], item), ' ',
        element('span', { className: 'unit', textContent: item.unit })));
  });
  const key = element('span', { className: 'key' });
  key.style.background = option_colour(o);
  return element('article', { className: 'card' },
    element('h2', { dir: 'auto' }, key, data.options[o].label), accelerator_of(o),
    element('dl', {}, ...numbers),
    element('p', { className: 'saving', textContent: saving_text(ranking, o) }),
    element('p', { className: 'evidence' }, 'weakest evidence ', grade_shown(grades[o])),
    ...remarks(values, ranking, inputs, o));
}

// What matters most first, as the rest may be out of sight on a narrow screen.
function option_heads() {
  const [cost, levelized, total] = CARD_ITEMS.map((name) => items.get(name).unit);
  return [`Cost, ${cost}`, 'Against the baseline', 'Weakest evidence', `Levelized, ${levelized}`, `Total cost, ${total}`];
}

function option_row(values, ranking, inputs, grades, o) {
  const [cost, ...others] = CARD_ITEMS.map((name) => cell(values[o][name], items.get(name)));
  return element('tr', { className: 'card' },
    element('th', { scope: 'row', dir: 'auto' }, element('div', { textContent: data.options[o].label }),
      accelerator_of(o), ...remarks(values, ranking, inputs, o)),
    cost, element('td', { className: 'saving', textContent: saving_words(ranking, o, '') }),
    element('td', { className: 'evidence' }, grade_shown(grades[o])), ...others);
}

// Cards for as many options as there are colors: more would fill screens before the inputs.
function show_cards(...now) {
  const [, ranking] = now, made = data.options.map((option, o) => {
    const one = (are_coloured ? card : option_row)(...now, o);
    one.dataset.option = option.id;
    one.classList.toggle('best', ranking.options[o].cheapest);
    return one;
  });
  if (are_coloured)
    at('cards').replaceChildren(...made);
  else
    at('cards').querySelector('tbody').replaceChildren(...made); // stays where it was scrolled to
}

function prepare_cards() {
  if (are_coloured)
    return;
  at('cards').className = 'table';
  at('cards').tabIndex = 0;
  at('cards').append(element('table', { className: 'options' },
    element('thead', {}, head_row('Option', ...option_heads())), element('tbody')));
}
