// controls: a field and a slider for every input, in the groups of the cost model.
'use strict';

const SLIDER_STEPS = 200;
const SHORT_NAME = 22; // characters beside a slider, in two lines; a longer name is above it

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// 1, 2 or 5 times a power of ten, at least x.
function nice(x) {
  const ten = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= x * (1 - 1e-9));
}

// An upper limit farther off than this many times the value says what is possible, not what is
// likely: a delay of 1,200 months. A share may be any.
const FAR_LIMIT = 5;

const is_far = (limit, value, item) =>
  value !== 0 && limit > FAR_LIMIT * Math.abs(value) && !item.unit.startsWith('%');

// The range of a target's slider, in the unit of its input: from its lower limit or zero to its
// upper limit, or twice the scenario's value if there is none, or a far one. Null if that range is
// empty.
function slider_range(which, target) {
  const item = items.get(target.input), value = in_unit(stated(which, target), item);
  const limit = target.high === null ? Infinity : in_unit(target.high, item);
  const upper = limit === Infinity || is_far(limit, value, item) ? 2 * Math.abs(value) : limit;
  if (!(upper > 0))
    return null;
  const step = Math.max(nice(upper / SLIDER_STEPS), item.integer ? 1 : 0);
  const low = value < 0 ? -upper : 0;
  return { low, high: Math.ceil(upper / step - 1e-9) * step, step };
}

const in_limits = (number, target, item) =>
  in_unit(within(from_unit(number, item), target), item);

// The same for a line over all values, in base units. If zero is out of bounds, a quarter of the high
// end is near enough to it.
function axis_range(target) {
  const item = items.get(target.input), range = slider_range(0, target_in_first_case(target));
  const low = target.low > 0 ? Math.max(range.high / 4, in_unit(target.low, item)) : range.low;
  return [low, range.high].map((number) => within(from_unit(number, item), target));
}

// Sliders keep their length from case to case where they can.
const target_in_first_case = (target) => data.cases[0].by_name.get(target_name(target)) ?? target;

const target_titled = (target) => {
  const item = items.get(target.input), unit = plain_unit(item);
  return `${target_label(target)}${unit ? `, ${unit}` : ''}`;
};

// A figure's origin, and its date, which must not be broken across lines.
function origin_nodes(figure) {
  if (figure.origin === 'default')
    return ['default'];
  const date = figure.date ? [element('span', { className: 'date', textContent: figure.date })] : [];
  const source = figure.source ? [figure.source] : [];
  if (source.length && date.length)
    source.push(', ');
  return source.length + date.length ? [...source, ...date] : ['own assumption'];
}

// The same for an overwritten figure, in the workbook's words.
const was_from = (figure) => figure.origin === 'default' ? 'default'
  : [figure.grade, ...(figure.date ? [figure.date] : [])].join(', ');

class Control {
  constructor(state, target, on_change) {
    this.target = target;
    this.name = target_name(target);
    this.item = items.get(target.input);
    this.range = slider_range(0, target_in_first_case(target));
    this.on_change = on_change;
    this.row = element('div', { className: 'row' });
    this.row.dataset.target = this.name;
    this.add_field();
    this.add_slider();
    this.add_rest();
    this.show(state);
  }

  add_field() {
    const label = target_titled(this.target);
    if (this.item.choices.length) {
      this.field = element('select', {}, ...this.item.choices.map((choice) =>
        element('option', { value: String(choice.value), textContent: choice.name })));
    } else {
      this.field = element('input', { type: 'number', step: 'any', inputMode: 'decimal' });
    }
    this.field.id = `field-${this.name}`;
    this.field.setAttribute('aria-label', label);
    this.field.setAttribute('aria-describedby', `origin-${this.name}`);
    this.field.addEventListener('input', () => this.take(this.field.value));
    this.field.addEventListener('change', () => this.settle());
  }

  add_slider() {
    if (!this.range || this.item.choices.length)
      return;
    const { low, high, step } = this.range;
    this.slider = element('input', { type: 'range', min: low, max: high, step });
    this.slider.setAttribute('aria-label', `${target_titled(this.target)}, slider`);
    this.slider.addEventListener('input', () => {
      const number = in_limits(Number(this.slider.value), this.target, this.item);
      this.field.value = number;
      this.take(String(number));
    });
  }

  add_rest() {
    const who = this.target.option < 0 ? '' : data.options[this.target.option].label;
    this.who = element('span', { className: 'who', textContent: who });
    this.back = element('button', { type: 'button', className: 'back', textContent: '\u21ba' });
    this.back.addEventListener('click', () => {
      this.field.focus();
      this.on_change(this.name, unchanged(this.state, this.name), true);
    });
    this.grade = element('span', { className: 'grade' });
    this.source = element('span', { className: 'source', dir: 'auto' });
    this.origin = element('div', { className: 'origin', id: `origin-${this.name}` }, this.grade,
      ' ', this.source);
    this.problem = element('div', { className: 'problem', role: 'alert' });
    this.row.append(this.who, ...(this.slider ? [this.slider] : []), this.field, this.back,
      this.origin, this.problem);
    this.row.classList.toggle('no-slider', !this.slider);
  }

  // Accepts what was typed, if it is valid.
  take(text) {
    const number = text.trim() === '' ? NaN : Number(text);
    const problem = refused(this.state, this.name, number);
    this.problem.textContent = problem;
    this.field.setAttribute('aria-invalid', problem ? 'true' : 'false');
    if (!problem)
      this.on_change(this.name, number, false);
  }

  // A field left with an invalid value returns to the current one.
  settle() {
    if (this.field.getAttribute('aria-invalid') === 'true')
      this.show(this.state);
  }

  show(state) {
    this.state = state;
    const said = in_unit(stated(state.which, this.target), this.item);
    const changed = state.changes.has(this.name);
    const number = number_of(state.which, this.target, state.changes);
    if (Number(this.field.value) !== number || this.field.value === '')
      this.field.value = String(number);
    if (this.slider)
      this.slider.value = String(number);
    this.field.setAttribute('aria-invalid', 'false');
    this.problem.textContent = '';
    this.show_origin(state, changed, said);
  }

  show_origin(state, changed, said) {
    const figure = case_figures[state.which][this.target.moves[0]][this.target.input];
    const grade = changed ? 'assumed' : figure.grade;
    this.row.classList.toggle('changed', changed);
    this.back.hidden = !changed;
    this.back.setAttribute('aria-label',
      `Put ${target_titled(this.target)} back to ${quantity(said, this.item)}`);
    this.back.title = `Back to ${quantity(said, this.item)}`;
    this.grade.textContent = grade;
    this.grade.className = `grade ${grade}`;
    this.source.replaceChildren(...(changed
      ? [`overwritten (was ${[quantity(said, this.item), was_from(figure)].join(', ')})`]
      : origin_nodes(figure)));
  }
}

// Fields of one input: the common one, then the options' own; for a list, value by value.
function input_block(item, controls) {
  const unit = plain_unit(item);
  const label = item.year_of ? `${items.get(item.year_of).label}, ${item.by}` : item.label;
  const block = element('div', { className: 'input' },
    element('div', { className: 'name' }, label,
      ...(unit ? [' ', element('span', { className: 'unit', textContent: unit })] : [])));
  block.setAttribute('role', 'group');
  block.setAttribute('aria-label', label);
  const is_shared = (control) => control.target.option < 0;
  const others = controls.every(is_shared) ? '' : 'others';
  for (const control of controls)
    control.who.replaceChildren(is_shared(control) ? others : control.who.textContent, ' ',
      element('span', { className: 'date', textContent: control.item.from ?? '' }));
  block.append(...controls.map((control) => control.row));
  block.classList.toggle('several', controls.length > 1 || !controls.some(is_shared));
  block.classList.toggle('long', controls.some(({ who }) => who.textContent.trim().length > SHORT_NAME));
  block.classList.toggle('years', Boolean(item.year_of));
  return block;
}

// The value of an input that is not varied alone, with the reason.
function fixed_block(which, item) {
  const values = [...new Set(case_figures[which].flatMap((figures) =>
    (item.name in figures ? [shown(figures[item.name].value, item)] : [])))];
  if (!item.fixed || !values.length)
    return null;
  const block = input_block(item, []);
  block.append(element('div', { className: 'row no-slider fixed' },
    element('output', { textContent: values.join(', ') }),
    element('div', { className: 'origin', textContent: `Fixed: ${item.fixed}` })));
  block.dataset.fixed = item.name;
  return block;
}

// All values of a list are in one block, that of the first, option by option.
const parts_of = (item) => (item.year_of
  ? data.items.filter((one) => one.year_of === item.year_of) : [item]);

const is_later_year = (item) => item.year_of && parts_of(item)[0] !== item;

const at_default = (which, controls) => controls.length > 0 && controls.every(({ target }) =>
  case_figures[which][target.moves[0]][target.input].origin === 'default');

function group_block(state, group, blocks, open) {
  const given = blocks.filter((one) => !at_default(state.which, one.controls));
  const rest = blocks.filter((one) => at_default(state.which, one.controls));
  const details = element('details', { className: 'group', open: open && given.length > 0 },
    element('summary', {}, element('h3', { textContent: group.label })),
    ...given.map((one) => one.block));
  if (rest.length)
    details.append(element('details', { className: 'rest', open: !given.length },
      element('summary', { textContent: `${rest.length} more, at their defaults` }),
      ...rest.map((one) => one.block)));
  return details;
}

// Builds the panel for a case; returns its controls by name.
function build_controls(state, panel, on_change) {
  const controls = new Map();
  const wide = matchMedia('(min-width: 900px)').matches;
  panel.replaceChildren();
  data.groups.forEach((group, g) => {
    const blocks = data.items
      .filter((item) => item.kind === 'input' && item.group === g && !is_later_year(item))
      .map((item) => {
        const names = parts_of(item).map((part) => part.name);
        const own = data.cases[state.which].targets
          .filter((target) => names.includes(target.input))
          .sort((a, b) => a.option - b.option)
          .map((target) => new Control(state, target, on_change));
        for (const control of own)
          controls.set(control.name, control);
        return { controls: own,
          block: own.length ? input_block(item, own) : fixed_block(state.which, item) };
      })
      .filter((one) => one.block);
    if (blocks.length)
      panel.append(group_block(state, group, blocks, wide || g < 2));
  });
  return controls;
}
