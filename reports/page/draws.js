// draws: the ranged inputs' values, the same for (seed, name of the range, number of the draw) as in
// model/chance/draw.h, model/chance/distribution.h and model/simulate/sampler.h. Also runs in a worker,
// which has no document, together with the scripts up to simulation.js.
'use strict';

const BLOCK = 256;    // draws computed together, as in the engine
const REPLICATES = 8; // independent scramblings, one after another

// ---- uniform numbers

const words = new Uint32Array(2), number = new Float64Array(words.buffer);
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0]; // which of the words has the exponent

// FNV-1a, 64 bits: its lower half, its upper half.
function hash_of(name) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(name))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return [Number(hash & 0xffffffffn), Number(hash >> 32n)];
}

// The upper 32 bits of a product.
function high_product(a, b) {
  const low = a & 0xffff, high = a >>> 16, right = b & 0xffff, left = b >>> 16;
  const middle = high * right + Math.floor((low * right) / 65536);
  const other = low * left + (middle % 65536);
  return high * left + Math.floor(middle / 65536) + Math.floor(other / 65536);
}

// Philox 4x32-10 of Random123.
function philox(counter, seed) {
  let [a, b, c, d] = counter, [left, right] = seed;
  for (let round = 0; round < 10; round++) {
    const high = high_product(0xd2511f53, a), other = high_product(0xcd9e8d57, c);
    [a, b, c, d] = [(other ^ b ^ left) >>> 0, Math.imul(0xcd9e8d57, c) >>> 0,
      (high ^ d ^ right) >>> 0, Math.imul(0xd2511f53, a) >>> 0];
    left = (left + 0x9e3779b9) >>> 0;
    right = (right + 0xbb67ae85) >>> 0;
  }
  return [a, b, c, d];
}

const seed_words = (seed) => [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0];

// 52 bits of two words, strictly between 0 and 1.
const to_unit = (high, low) => (high * 2 ** 20 + (low >>> 12)) * 2 ** -52 + 2 ** -53;

function random_uniforms(name, seed, first, u, at) {
  for (let i = 0; i < BLOCK; i += 2) {
    const draw = (first + i) / 2;
    const [a, b, c, d] = philox([draw >>> 0, Math.floor(draw / 2 ** 32), ...name], seed);
    u[at + i] = to_unit(a, b);
    u[at + i + 1] = to_unit(c, d);
  }
}

function reversed(x) {
  x = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  x = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8);
  return (x >>> 16) | (x << 16);
}

function scrambled(x, seed) {
  x = (x + seed) | 0;
  for (const factor of [0x6c50b47c, 0xb82f1e52, 0xc7afe638, 0x8d22f6e6])
    x ^= Math.imul(x, factor);
  return x;
}

function sobol_uniforms(directions, scramble, first, u, at) {
  for (let i = 0; i < BLOCK; i++) {
    let point = 0;
    for (let rest = first + i, k = 0; rest; rest >>>= 1, k++)
      point ^= rest & 1 ? directions[k] : 0;
    u[at + i] = ((reversed(scrambled(point, scramble)) >>> 0) + 0.5) * 2 ** -32;
  }
}

// The blocks of a run: each replicate restarts the sequence with its own scrambling.
function blocks_of(draws) {
  const count = Math.ceil(draws / BLOCK), replicates = Math.min(count, REPLICATES);
  return Array.from({ length: count }, (_, block) => {
    const replicate = Math.floor(((block + 1) * replicates - 1) / count);
    return { replicate, first: (block - Math.floor((count * replicate) / replicates)) * BLOCK };
  });
}

function uniforms_of(range, draws, seed) {
  const u = new Float64Array(Math.ceil(draws / BLOCK) * BLOCK);
  const name = hash_of(range.key), key = seed_words(seed), last = 0xffffffff;
  blocks_of(draws).forEach(({ replicate, first }, block) => {
    if (range.directions)
      sobol_uniforms(range.directions, philox([last - replicate, last, ...name], key)[0], first, u,
        block * BLOCK);
    else
      random_uniforms(name, key, first, u, block * BLOCK);
  });
  return u;
}

// ---- the standard normal: its inverse, AS 241, and itself, Hart's no. 5666

const polynomial = (coefficients, x) => {
  let sum = coefficients[0];
  for (let i = 1; i < coefficients.length; i++)
    sum = sum * x + coefficients[i];
  return sum;
};

const CENTRAL = [[2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
  4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
  1.3314166789178437745e+2, 3.3871328727963666080e+0],
[5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
  2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
  4.2313330701600911252e+1, 1]];
const TAIL = [[7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
  1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
  4.63033784615654529590e+0, 1.42343711074968357734e+0],
[1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
  1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
  2.05319162663775882187e+0, 1]];
const FAR = [[2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
  2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
  5.46378491116411436990e+0, 6.65790464350110377720e+0],
[2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
  7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
  5.99832206555887937690e-1, 1]];

const ratio = ([over, under], x) => polynomial(over, x) / polynomial(under, x);

function normal_quantile(u) {
  const q = u - 0.5;
  if (Math.abs(q) <= 0.425)
    return q * ratio(CENTRAL, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? u : 1 - u));
  const z = r <= 5 ? ratio(TAIL, r - 1.6) : ratio(FAR, r - 5);
  return q < 0 ? -z : z;
}

const OVER = [0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383,
  112.079291497871, 221.213596169931, 220.206867912376];
const UNDER = [0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461,
  296.564248779674, 637.333633378831, 793.826512519948, 440.413735824752];

function normal_share(z) {
  const x = Math.abs(z);
  const tail = x < 38 ? (Math.exp(-0.5 * x * x) * polynomial(OVER, x)) / polynomial(UNDER, x) : 0;
  return z < 0 ? tail : 1 - tail;
}

// ---- PERT: beta distributions with alpha + beta = 6, by a table of cubics

const OCTAVES = 40, PARTS = 16;

// ln of the gamma function from 1 to 6: Lanczos's series, g = 7.
function ln_gamma(x) {
  const series = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const t = x + 6.5, sum = series.reduce((all, c, i) => all + c / (x + i), 0.99999999999980993);
  return Math.log(Math.sqrt(2 * Math.PI) * sum) + (x - 0.5) * Math.log(t) - t;
}

const beta_scale = (a, b) => Math.exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b));
const beta_density = (x, a, b, scale) => scale * x ** (a - 1) * (1 - x) ** (b - 1);

// The share below x: a continued fraction by Lentz's method, from the side that converges.
function beta_share(x, a, b, scale) {
  if (x > (a + 1) / (a + b + 2))
    return 1 - beta_share(1 - x, b, a, scale);
  let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), fraction = d;
  for (let m = 1; m < 200; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= c * d;
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16)
      break;
  }
  return (scale * x ** a * (1 - x) ** b * fraction) / a;
}

// Newton's method within an interval known to contain the quantile.
function beta_quantile(p, a, b, guess, scale) {
  let low = 0, high = 1, x = guess;
  for (let i = 0; i < 200; i++) {
    const excess = beta_share(x, a, b, scale) - p;
    if (excess > 0)
      high = x;
    else
      low = x;
    const step = excess / beta_density(x, a, b, scale);
    if (Math.abs(step) <= 1e-14 * x)
      break;
    x = x - step > low && x - step < high ? x - step : (low + high) / 2;
  }
  return x;
}

// Half of the shares, from 1/2 down: for each cell the cubic with the right values and slopes.
function beta_cells(a, b) {
  const cells = new Float64Array(4 * OCTAVES * PARTS), scale = beta_scale(a, b);
  let right = beta_quantile(0.5, a, b, a / (a + b), scale);
  for (let octave = 0; octave < OCTAVES; octave++)
    for (let part = PARTS - 1; part >= 0; part--) {
      const start = 0.25 / 2 ** octave, width = start / PARTS;
      const rises = width / beta_density(right, a, b, scale);
      const left = beta_quantile(start + part * width, a, b, Math.max(right - rises, right / 2), scale);
      const slope = width / beta_density(left, a, b, scale);
      cells.set([left, slope, 3 * (right - left) - 2 * slope - rises,
        slope + rises - 2 * (right - left)], 4 * (octave * PARTS + part));
      right = left;
    }
  return cells;
}

function cell_value(cells, share) {
  number[0] = Math.min(Math.max(share, 0.25 / 2 ** (OCTAVES - 1)), 0.5 - 2 ** -54);
  const octave = 1021 - (words[HIGH] >>> 20), at = 4 * (octave * PARTS + ((words[HIGH] >>> 16) & 15));
  const start = 0.25 / 2 ** octave, part = (words[HIGH] >>> 16) & 15;
  const t = (number[0] / start - 1 - part / PARTS) * PARTS;
  return cells[at] + t * (cells[at + 1] + t * (cells[at + 2] + t * cells[at + 3]));
}

// ---- each kind's quantiles: a function of the share below

const quantiles = {
  uniform: ({ low, high }) => (u) => low + (high - low) * u,
  triangular({ low, high, mode }) {
    const width = high - low, left = width * (mode - low), right = width * (high - mode);
    const turn = (mode - low) / width;
    return (u) => (u < turn ? low + Math.sqrt(u * left) : high - Math.sqrt((1 - u) * right));
  },
  pert({ low, high, mode }) {
    const width = high - low;
    const a = 1 + (4 * (mode - low)) / width, b = 1 + (4 * (high - mode)) / width;
    const lower = beta_cells(a, b), upper = beta_cells(b, a);
    return (u) => (u < 0.5 ? low + width * cell_value(lower, u)
      : high - width * cell_value(upper, 1 - u));
  },
  normal: (range) => bell(range, (x) => x, (x) => x),
  lognormal: (range) => bell(range, (x) => (x > 0 ? Math.log(x) : -Infinity), Math.exp),
  discrete({ atoms }) {
    return (u) => (atoms.find(([, upto]) => u < upto) ?? atoms.at(-1))[0];
  },
  measured(range) {
    const { atoms, mean, spread } = range;
    return atoms.length ? (u) => mean * mixture_quantile(atoms, spread, u) : quantiles.normal(range);
  },
};

// A normal distribution of `from(value)`, truncated at both ends.
function bell({ low, high, mean, deviation }, from, back) {
  const below = low === null ? 0 : normal_share((from(low) - mean) / deviation);
  const width = (high === null ? 1 : normal_share((from(high) - mean) / deviation)) - below;
  return (u) => {
    const share = Math.min(Math.max(below + width * u, 2 ** -1022), 1 - 2 ** -53);
    const x = back(mean + deviation * normal_quantile(share));
    return Math.min(Math.max(x, low ?? -Infinity), high ?? Infinity);
  };
}

// A mixture of uniform distributions: the share is linear between neighboring ends.
function mixture_quantile(atoms, spread, u) {
  let low = atoms[0][0] * (1 - spread), high = atoms.at(-1)[0] * (1 + spread), x = (low + high) / 2;
  for (let i = 0; i < 100 && high - low > 1e-15 * high; i++) {
    let share = 0, before = 0, density = 0;
    for (const [value, upto] of atoms) {
      const weight = upto - before, width = 2 * spread * value;
      const inside = (x - value * (1 - spread)) / width;
      share += weight * Math.min(Math.max(inside, 0), 1);
      density += inside > 0 && inside < 1 ? weight / width : 0;
      before = upto;
    }
    if (share > u)
      high = x;
    else
      low = x;
    const next = x - (share - u) / density;
    if (Math.abs(next - x) <= 1e-15 * x)
      break;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}

// Like C's round(): half away from zero, without a spreadsheet's nudge.
function whole_within({ low, high }, x) {
  const near = Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
  return Math.min(Math.max(near, Math.ceil(low - 1e-9)), Math.floor(high + 1e-9));
}

// ---- correlated inputs

// The used ranges in groups connected by correlations, each ascending; a range may form its own.
function groups_of(used, correlations) {
  const root = new Map(used.map((range) => [range, range]));
  for (const [a, b] of correlations) {
    if (!root.has(a) || !root.has(b))
      continue;
    const keep = Math.min(root.get(a), root.get(b)), drop = Math.max(root.get(a), root.get(b));
    for (const range of used)
      root.set(range, root.get(range) === drop ? keep : root.get(range));
  }
  return used.filter((range) => root.get(range) === range)
    .map((first) => used.filter((range) => root.get(range) === first));
}

// The Cholesky factor of a group's correlations, row by row.
function factor_of(group, correlations) {
  const between = (a, b) => (a === b ? 1
    : correlations.find(([x, y]) => x === Math.min(a, b) && y === Math.max(a, b))?.[2] ?? 0);
  const rows = [];
  group.forEach((a, i) => {
    const row = [];
    for (let j = 0; j <= i; j++) {
      const done = row.reduce((sum, x, k) => sum + x * (rows[j]?.[k] ?? x), 0);
      const rest = between(a, group[j]) - done;
      row.push(j === i ? Math.sqrt(rest) : rest / rows[j][j]);
    }
    rows.push(row);
  });
  return rows;
}

// Correlates the shares of a group's draws, in place.
function correlate(shares, rows) {
  const normals = new Float64Array(rows.length);
  for (let k = 0; k < shares[0].length; k++) {
    shares.forEach((u, i) => { normals[i] = normal_quantile(u[k]); });
    rows.forEach((row, i) => {
      let z = row[i] * normals[i];
      for (let j = 0; j < i; j++)
        z += row[j] * normals[j];
      shares[i][k] = Math.min(Math.max(normal_share(z), 2 ** -53), 1 - 2 ** -53);
    });
  }
}

// The values of ranges in all draws. Each group is drawn once and kept until other ranges are in use.
class Draws {
  constructor({ ranges, correlations, draws, seed }) {
    Object.assign(this, { ranges, correlations, draws, seed });
    this.quantile = new Map(); // range -> function
    this.groups = new Map();   // ranges -> values of each
  }

  // The values drawn, in base units: range -> values.
  values(used) {
    return new Map(groups_of(used, this.correlations).flatMap((group) => {
      const key = group.join();
      if (!this.groups.has(key))
        this.groups.set(key, this.draw(group));
      return this.groups.get(key).map((values, i) => [group[i], values]);
    }));
  }

  draw(group) {
    const shares = group.map((range) => uniforms_of(this.ranges[range], this.draws, this.seed));
    if (group.length > 1)
      correlate(shares, factor_of(group, this.correlations));
    return group.map((index, i) => {
      const range = this.ranges[index];
      if (!this.quantile.has(index))
        this.quantile.set(index, quantiles[range.kind](range));
      const drawn = shares[i].map(this.quantile.get(index));
      return range.integer ? drawn.map((x) => whole_within(range, x)) : drawn;
    });
  }
}
