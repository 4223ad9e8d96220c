// sketch: percentiles of many values from a fine histogram, as in model/chance/quantile_sketch.h.
'use strict';

const PILOT = 4096; // the number of first values that determine the bins
const SKETCH_OCTAVES = 64, OCTAVE_BINS = 256, TAIL_BINS = SKETCH_OCTAVES * OCTAVE_BINS;
const MIN_EQUAL_BINS = 2 ** 12, MAX_EQUAL_BINS = 2 ** 18, BINS_PER_DRAW = 16, REACH = 8;

function shape_of(values) {
  const pilot = values.slice(0, PILOT).sort(), count = pilot.length;
  const centre = pilot[count >> 1];
  let spread = pilot[Math.floor((count * 3) / 4)] - pilot[count >> 2];
  if (!(spread > 0))
    spread = pilot[count - 1] - pilot[0];
  const least = Math.abs(centre) * 1e-9;
  if (!(spread > least))
    spread = least > 0 ? least : 1e-9;
  let bins = MIN_EQUAL_BINS;
  while (bins < MAX_EQUAL_BINS && bins < BINS_PER_DRAW * values.length)
    bins *= 2;
  const atoms = [];
  for (let i = 1; i < count; i++)
    if (pilot[i] === pilot[i - 1] && atoms.at(-1) !== pilot[i])
      atoms.push(pilot[i]);
  return { centre, half_width: REACH * spread, bins, atoms };
}

// The index of a value among the atoms, or -1.
function atom_of(atoms, value) {
  let low = 0, high = atoms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (atoms[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low < atoms.length && atoms[low] === value ? low : -1;
}

// The tail bin of a value. Bins are in order: the lower tail, the equal ones, the upper tail.
function tail_bin({ centre, half_width, bins }, value) {
  number[0] = Math.max(Math.abs(value - centre) / half_width, 1);
  const octave = (words[HIGH] >>> 20) - 1023;
  const part = octave < SKETCH_OCTAVES ? octave * OCTAVE_BINS + ((words[HIGH] >>> 12) & (OCTAVE_BINS - 1))
    : TAIL_BINS - 1;
  return value < centre ? TAIL_BINS - 1 - part : TAIL_BINS + bins + part;
}

function counts_of(shape, values) {
  const { centre, half_width, bins, atoms } = shape, half = bins / 2, scale = half / half_width;
  const counts = new Uint32Array(bins + 2 * TAIL_BINS), of_atoms = new Uint32Array(atoms.length);
  for (const value of values) {
    const atom = atoms.length ? atom_of(atoms, value) : -1;
    const position = (value - centre) * scale + half;
    if (atom >= 0)
      of_atoms[atom]++;
    else
      counts[position >= 0 && position < bins ? TAIL_BINS + Math.trunc(position)
        : tail_bin(shape, value)]++;
  }
  return { counts, of_atoms };
}

const tail_distance = (part) =>
  2 ** Math.floor(part / OCTAVE_BINS) * (1 + (part % OCTAVE_BINS) / OCTAVE_BINS);

function ends_of({ centre, half_width, bins }, bin) {
  const place = bin - TAIL_BINS;
  if (place >= 0 && place < bins) {
    const width = (2 * half_width) / bins, middle = bins / 2;
    return [centre + (place - middle) * width, centre + (place + 1 - middle) * width];
  }
  const part = place < 0 ? -1 - place : place - bins, side = place < 0 ? -1 : 1;
  const ends = [part, part + 1].map((one) => centre + side * half_width * tail_distance(one));
  return side < 0 ? ends.reverse() : ends;
}

// All counts in ascending order of their values: low, high, count. An atom comes before a bin if it is
// below the bin's middle.
function* counted(shape, { counts, of_atoms }) {
  let atom = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    if (!counts[bin])
      continue;
    const [low, high] = ends_of(shape, bin);
    for (; atom < of_atoms.length && shape.atoms[atom] < (low + high) / 2; atom++)
      if (of_atoms[atom])
        yield [shape.atoms[atom], shape.atoms[atom], of_atoms[atom]];
    yield [low, high, counts[bin]];
  }
  for (; atom < of_atoms.length; atom++)
    if (of_atoms[atom])
      yield [shape.atoms[atom], shape.atoms[atom], of_atoms[atom]];
}

// levels: ascending shares.
function percentiles_of(values, levels) {
  const shape = shape_of(values), total = values.length, found = [];
  let before = 0;
  for (const [low, high, here] of counted(shape, counts_of(shape, values))) {
    for (; found.length < levels.length && levels[found.length] * total <= before + here;)
      found.push(low + ((high - low) * (levels[found.length] * total - before)) / here);
    if (found.length === levels.length)
      break;
    before += here;
  }
  let lowest = Infinity, highest = -Infinity;
  for (const value of values) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  return found.map((value) => Math.min(Math.max(value, lowest), highest));
}
