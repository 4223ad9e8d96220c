// The page's draws with one error at a time. Its engine is a separate text, which runs here as in a
// worker; an error that shows in no page's percentiles would not be detected by the checks.

// In the engine's text: what occurs there once, and what an error would make of it.
export const mutants = [
  // uniform numbers
  ['const REPLICATES = 8;', 'const REPLICATES = 4;'],
  ['0x100000001b3n', '0x100000001b1n'],
  ['(middle % 65536)', '(middle % 65535)'],
  ['round < 10', 'round < 9'],
  ['left + 0x9e3779b9', 'left + 0x9e3779b8'],
  ['u[at + i + 1] = to_unit(c, d)', 'u[at + i + 1] = to_unit(d, c)'],
  ['(first + i) / 2', '(first + i + 2) / 2'],
  ['x = (x + seed) | 0', 'x = x | 0'],
  ['0x8d22f6e6', '0x8d22f6e4'],
  ['>>> 0) + 0.5)', '>>> 0) + 0.4)'],
  ['last - replicate', 'last - 2 * replicate'],
  ['if (range.directions)', 'if (!range.directions)'],
  // distributions
  ['low + (high - low) * u', 'low + (high - low) * (1 - u)'],
  ['u < turn', 'u <= 0.5'],
  ['1 + (4 * (mode - low)) / width', '1 + (3 * (mode - low)) / width'],
  ['3 * (right - left) - 2 * slope - rises', '3 * (right - left) - 2 * slope + rises'],
  ['below + width * u', 'width * u'],
  ['Math.abs(x) + 0.5', 'Math.abs(x)'],
  // groups
  ['let z = row[i] * normals[i]', 'let z = normals[i]'],
  ['z += row[j] * normals[j]', 'z -= row[j] * normals[j]'],
  // items
  ['out[i] = a[i] - b[i]', 'out[i] = b[i] - a[i]'],
  ['or_nan(condition !== 0 ? then : otherwise, condition)', 'or_nan(condition !== 0 ? otherwise : then, condition)'],
  ['equals(a, 0) ? c : b', 'equals(a, 0) ? b : c'],
  // results
  ['saving_of(x, costs[baseline][k])', 'saving_of(costs[baseline][k], x)'],
  ['compare(costs[o][k], least) <= 0', 'compare(costs[o][k], least) < 0'],
  ['if (count < 2)', 'if (count < 1)'],
];

// The engine's answer to a page's question; the error text if it fails.
export function answer_of(engine, { setup, question }) {
  try {
    const simulation = new Function(`${engine}\nreturn Simulation;`)();
    return new simulation(structuredClone(setup)).run(structuredClone(question));
  } catch (error) {
    return String(error);
  }
}

const flat = (one) => (one && typeof one === 'object' ? Object.values(one).flatMap(flat) : [one]);

export function same_answer(one, other, tolerance) {
  const a = flat(one), b = flat(other);
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]) ||
    Math.abs(x - b[i]) <= tolerance * Math.max(Math.abs(b[i]), 1e-3));
}
