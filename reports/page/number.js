// number: figures as people read them.
'use strict';

// Creating a format is slow, so each is created once.
const formats = new Map();

function format(value, options) {
  const key = JSON.stringify(options);
  if (!formats.has(key))
    formats.set(key, new Intl.NumberFormat('en-US', options));
  return formats.get(key).format(value === 0 ? 0 : value);
}

const fixed = (value, decimals) =>
  format(value, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

const significant = (value, digits) =>
  (value !== 0 && (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-6)
    ? value.toExponential(digits - 1) : format(value, { maximumSignificantDigits: digits }));

// A value, given in base units, as a number in its item's unit, without the unit.
function shown(value, item) {
  if (!Number.isFinite(value))
    return 'not a number';
  const number = in_unit(value, item);
  if (item.unit === currency)
    return fixed(number, Math.abs(number) < 1000 && number !== Math.trunc(number) ? 2 : 0);
  if (/^[A-Z]{3}\/Mtok$/.test(item.unit))
    return Math.abs(number) < 0.01 && number !== 0 ? significant(number, 3) : fixed(number, 4);
  if (item.unit.startsWith('%'))
    return fixed(number, Number.isInteger(number) ? 0 : 1);
  if (item.unit === 'token')
    return fixed(number, 0);
  return significant(number, 5);
}

const plain_unit = (item) => (item.unit === '-' || item.unit === '' ? '' : item.unit);

// "0.08 USD/kWh"
function with_unit(text, item) {
  const unit = plain_unit(item);
  return unit ? `${text} ${unit}` : text;
}

// "14.3", "99.97": with one decimal, or as many more as tell it from 100: as number_percent in
// reports/print/number.h.
function percent_decimals(share) {
  let decimals = 1;
  while (100 * share < 100 - 1e-6 && fixed(100 * share, decimals) === fixed(100, decimals))
    decimals += 1;
  return decimals;
}

const percent_number = (share) => fixed(100 * share, percent_decimals(share));

const percent = (share) => `${percent_number(Math.abs(share))} %`;

// Amounts in the narrow space of an axis or a label: 12.3k, 39.6M.
const short_number = (value) => format(value, { notation: 'compact', maximumSignificantDigits: 3 });
