// arithmetic: the operations of the formula language that JavaScript does not have as such, with the
// results of model/cost/arithmetic.h and model/cost/evaluate.c. The formulas, `graphs`, call these. And
// the saving, as cost_saving of model/scenario/scenario.h.
'use strict';

const YEAR_H = 8760;
const CEIL_SCALE = 1e9; // ceil() and floor() round to nine decimals first

// As in model/cost/operation.c, nothing divided by zero is a number, and neither is what is computed from
// NaN or infinity.
const divide = (a, b) => (b === 0 ? NaN : a / b);
const or_nan = (result, from) => result + (from - from);

function power(a, b) {
  const result = Math.pow(a, b);
  return or_nan(or_nan(or_nan(result, result), a), b);
}

const growth = (g, years) => power(1 + g * YEAR_H, years / YEAR_H);
const choose = (condition, then, otherwise) => or_nan(condition !== 0 ? then : otherwise, condition);

const smaller = (a, b) => or_nan(or_nan(b < a ? b : a, a), b);
const larger = (a, b) => or_nan(or_nan(b > a ? b : a, a), b);
const min = (...values) => values.reduce(smaller);
const max = (...values) => values.reduce(larger);

// Numbers that differ only in their last bits are equal.
const compare = (a, b) => (Math.abs(a - b) <= Math.abs(a) * 2 ** -48 ? 0 : a - b);
const truth = (holds, a, b) => or_nan(holds ? 1 : 0, a - b);
const equal = (a, b) => truth(compare(a, b) === 0, a, b);
const unequal = (a, b) => truth(compare(a, b) !== 0, a, b);
const less = (a, b) => truth(compare(a, b) < 0, a, b);
const less_equal = (a, b) => truth(compare(a, b) <= 0, a, b);
const greater = (a, b) => truth(compare(a, b) > 0, a, b);
const greater_equal = (a, b) => truth(compare(a, b) >= 0, a, b);

// The saving of a cost over a base. Over a base that costs nothing there is none to state, not even to
// an option that costs nothing too; and what costs less than nothing is no share of a cost.
const saving_of = (cost, base) => (cost < 0 || base < 0 ? NaN : base === 0 ? -Infinity : 1 - cost / base);

// Rounds half away from zero, as spreadsheets do; round_scaled first nudges the last bits.
function half_away(x) {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
}

function round_scaled(x, scale) {
  const scaled = x * scale * (scale === 1 ? 1 : 1 + Number.EPSILON);
  return Math.abs(scaled) < 9e15 ? half_away(scaled) / scale : x;
}

const round = (x, digits) => or_nan(round_scaled(x, Math.pow(10, Math.trunc(digits))), digits);

// Away from zero: 880.0000000000001 counts as 880.
function ceil(x) {
  const near = round_scaled(x, CEIL_SCALE);
  return near < 0 ? Math.floor(near) : Math.ceil(near);
}

// Towards zero: 2.9999999999999 counts as 3.
const floor = (x) => Math.trunc(round_scaled(x, CEIL_SCALE));

const first = (series) => series[0];
const prev = (series, t) => (t > 0 ? series[t - 1] : 0);
const next = (series, t) => (t + 1 < series.length ? series[t + 1] : 0);

// The sum over the n periods before t, which itself need not be computed yet.
function recent(series, t, n) {
  let total = 0;
  for (let earlier = 0; earlier < t; earlier++)
    if (t - earlier <= n)
      total += series[earlier];
  return or_nan(total, n);
}

const highest = (series) => max(...series);

function sum(series) {
  let total = 0;
  for (const value of series)
    total += value;
  return total;
}

// The values of a series, period by period: a later one may read the earlier ones.
function fill(series, last, value_at) {
  for (let t = 0; t <= last; t++)
    series.push(value_at(t));
}
