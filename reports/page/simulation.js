// simulation: what `pertoken simulate` would say about the page's current inputs: percentiles of the
// cost per token and the saving, and how often each option is the cheapest.
//
// The line items are computed for blocks of draws by the same steps as in the engine
// (model/cost/calculation.h); what no draw changes is computed once.
'use strict';

const kernels = {
  add: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = a[i] + b[i]; },
  subtract: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = a[i] - b[i]; },
  multiply: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = a[i] * b[i]; },
  divide: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = divide(a[i], b[i]); },
  choose: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = choose(a[i], b[i], c[i]); },
  power: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = power(a[i], b[i]); },
  smaller: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = smaller(a[i], b[i]); },
  larger: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = larger(a[i], b[i]); },
  round: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = round(a[i], b[i]); },
  round_scaled: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = round_scaled(a[i], b[i]); },
  ceil: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = ceil(a[i]); },
  floor: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = floor(a[i]); },
  equal: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = equal(a[i], b[i]); },
  unequal: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = unequal(a[i], b[i]); },
  less: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = less(a[i], b[i]); },
  less_equal: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = less_equal(a[i], b[i]); },
  greater: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = greater(a[i], b[i]); },
  greater_equal: (out, a, b, c, n) => { for (let i = 0; i < n; i++) out[i] = greater_equal(a[i], b[i]); },
};

const OPERANDS = { choose: 3, ceil: 1, floor: 1 }; // others take two

// The steps of a graph as objects, once: run, operands.
function steps_of({ steps }, operations) {
  const list = [];
  for (let at = 0; at < steps.length;) {
    const name = operations[steps[at]], count = OPERANDS[name] ?? 2;
    list.push({ name, operands: steps.slice(at + 1, at + 1 + count) });
    at += 1 + count;
  }
  return list;
}

// The operand that a step's result equals when some operands, but not all, are known, or -1.
function same_as({ name }, [a, b, c], decides, equals) {
  if (name === 'choose' && decides(a))
    return equals(a, 0) ? c : b;
  if (name === 'multiply')
    return equals(a, 0) || equals(b, 1) ? a : equals(b, 0) || equals(a, 1) ? b : -1;
  if (name === 'add')
    return equals(a, 0) ? b : equals(b, 0) ? a : -1;
  return (name === 'divide' && equals(b, 1)) || (name === 'subtract' && equals(b, 0)) ? a : -1;
}

// What is left to compute of a graph's items if inputs (by name) are numbers or arrays of draws.
// fixed: by operand, NaN where draws change it; same: by operand, the one that it equals.
function plan_of(graph, steps, inputs) {
  const start = graph.inputs.length + graph.constants.length, count = start + steps.length;
  const fixed = new Float64Array(count), known = new Uint8Array(count), same = new Int32Array(count);
  const one = [0, 1, 2, 3].map(() => new Float64Array(1));
  graph.inputs.forEach((name, i) => {
    known[i] = typeof inputs[name] === 'number' ? 1 : 0;
    fixed[i] = known[i] ? inputs[name] : NaN;
  });
  graph.constants.forEach((value, i) => {
    known[graph.inputs.length + i] = 1;
    fixed[graph.inputs.length + i] = value ?? NaN;
  });
  for (let v = 0; v < count; v++)
    same[v] = v;
  const is = (v) => known[v] === 1, equals = (v, value) => known[v] === 1 && fixed[v] === value;
  const decides = (v) => is(v) && !Number.isNaN(fixed[v]);
  const live = [];
  steps.forEach((step, i) => {
    const operands = step.operands.map((v) => same[v]), v = start + i;
    const all = operands.every(is), found = all ? -1 : same_as(step, operands, decides, equals);
    if (found >= 0) {
      same[v] = found;
    } else if (all) {
      operands.forEach((operand, k) => { one[k + 1][0] = fixed[operand]; });
      kernels[step.name](...one, 1);
      known[v] = 1;
      [fixed[v]] = one[0];
    } else {
      live.push({ run: kernels[step.name], out: v, operands });
    }
  });
  const items = Object.fromEntries(Object.entries(graph.items).map(([name, v]) => [name, same[v]]));
  return { fixed, known, items, live: needed(live, Object.values(items), count) };
}

// The steps that the items need, in order.
function needed(live, items, count) {
  const used = new Uint8Array(count);
  for (const v of items)
    used[v] = 1;
  return [...live].reverse().filter(({ out, operands }) => {
    if (used[out])
      for (const v of operands)
        used[v] = 1;
    return used[out];
  }).reverse();
}

// Gives the plan's steps vectors for a block, reused once nothing needs them.
function place({ fixed, known, items, live }) {
  const vectors = new Map(), last = new Map(), free = [], kept = new Set(Object.values(items));
  const vector_of = (v) => {
    if (!vectors.has(v) && known[v])
      vectors.set(v, new Float64Array(BLOCK).fill(fixed[v]));
    return vectors.get(v);
  };
  live.forEach(({ operands }, i) => operands.forEach((v) => last.set(v, i)));
  const made = new Set(live.map(({ out }) => out));
  const steps = live.map(({ run, out, operands }, i) => {
    // An operand without a vector yet is an input: its draws are put there block by block.
    const taken = operands.map((v) => vector_of(v) ?? vectors.set(v, new Float64Array(BLOCK)).get(v));
    for (const v of new Set(operands))
      if (made.has(v) && last.get(v) === i && !kept.has(v))
        free.push(vectors.get(v));
    vectors.set(out, free.pop() ?? new Float64Array(BLOCK));
    return [run, vectors.get(out), ...taken, ...Array(3 - taken.length).fill(taken[0])];
  });
  return { steps, vectors, vector_of };
}

// The items of an option by name: each an array of all draws.
function items_of(graph, steps, inputs, length) {
  const plan = plan_of(graph, steps, inputs), placed = place(plan);
  const drawn = graph.inputs.flatMap((name, i) => (typeof inputs[name] === 'number' ? []
    : [[inputs[name], placed.vectors.get(i)]]));
  const results = Object.entries(plan.items).map(([name, v]) => ({ name,
    from: placed.vector_of(v) ?? null, input: graph.inputs[v], values: new Float64Array(length) }));
  for (let at = 0; at < length; at += BLOCK) {
    for (const [values, vector] of drawn)
      vector?.set(values.subarray(at, at + BLOCK));
    for (const [run, out, a, b, c] of placed.steps)
      run(out, a, b, c, BLOCK);
    for (const { from, input, values } of results)
      values.set(from ?? inputs[input].subarray(at, at + BLOCK), at);
  }
  return Object.fromEntries(results.map(({ name, values }) => [name, values]));
}

// Like simulation_is_constant in model/simulate/simulation.h; least: 1 for savings, which are relative
// already, 0 for costs.
function is_constant(values, least) {
  let lowest = Infinity, highest = -Infinity;
  for (const value of values) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  return highest - lowest <= 1e-12 * Math.max(Math.abs(lowest), Math.abs(highest), least);
}

// ---- one run

class Simulation {
  // setup: `uncertainty` of the page's data; options: graph, why, compared of each; amounts: the limits
  // that an option must keep to be ranked; baseline.
  constructor(setup) {
    this.setup = setup;
    this.steps = setup.graphs.map((graph) => steps_of(graph, setup.operations));
    this.draws = new Draws(setup);
  }

  items(option, inputs, length) {
    const graph = this.setup.options[option].graph;
    return items_of(this.setup.graphs[graph], this.steps[graph], inputs, length);
  }

  // inputs: by option, by name, in base units; ranges: by option, name -> range.
  // Returns null if nothing is drawn. finite: false if a draw has no result.
  run({ inputs, ranges }) {
    const { draws } = this.setup, length = Math.ceil(draws / BLOCK) * BLOCK;
    const used = [...new Set(ranges.flatMap((one) => Object.values(one)))].sort((a, b) => a - b);
    if (!used.length)
      return null;
    const values = this.draws.values(used);
    const mixed = inputs.map((one, o) => ({ ...one, ...Object.fromEntries(
      Object.entries(ranges[o]).map(([name, range]) => [name, values.get(range)])) }));
    const items = mixed.map((one, o) => this.items(o, one, length));
    const on_time = items.map((one, o) => one.damages_total
      && this.items(o, { ...mixed[o], delivery_delay: 0 }, length).cost_per_mtok);
    return this.results(items.map((one) => Object.fromEntries(Object.entries(one)
      .map(([name, all]) => [name, all.subarray(0, draws)]))), on_time);
  }

  results(items, on_time) {
    const { baseline, levels } = this.setup, costs = items.map((one) => one.cost_per_mtok);
    if (!costs.every((one) => one.every(Number.isFinite)))
      return { finite: false };
    const savings = costs.map((cost, o) => (o === baseline || !this.setup.options[o].compared ? null
      : cost.map((x, k) => saving_of(x, costs[baseline][k]))));
    const unsaved = savings.map((one) => (one ? one.filter((x) => !Number.isFinite(x)).length / one.length : 0));
    return { finite: true, levels, unsaved, costs: costs.map((cost) => percentiles_of(cost, levels)),
      savings: savings.map((saving, o) => (saving && !unsaved[o] ? percentiles_of(saving, levels) : null)),
      constant: { costs: costs.map((cost) => is_constant(cost, 0)),
        savings: savings.map((saving, o) => Boolean(saving) && !unsaved[o] && is_constant(saving, 1)) },
      damages: items.map((one, o) => (on_time[o] ? this.damages(one, on_time[o]) : null)),
      ...this.verdicts(items, costs) };
  }

  // The damages of an option whose contract pays for a delay, as in model/simulate/delay_damages.h: how
  // often it does, and the means of what the delay costs and of what is left of that.
  damages({ cost_per_mtok: costs, tokens_total: tokens, damages_total: credits }, on_time) {
    const { draws } = this.setup;
    let due = 0, cost = 0, uncovered = 0;
    for (let k = 0; k < draws; k++) {
      const paid = -credits[k], lost = Math.max(0, (costs[k] - on_time[k]) * tokens[k] + paid);
      due += paid > 0 ? 1 / draws : 0;
      cost += lost / draws;
      uncovered += Math.max(0, lost - paid) / draws;
    }
    return { due, cost, uncovered };
  }

  // The rule of model/scenario/ranking.h applied to each draw, as shares of the draws: how often each
  // option is the cheapest (NaN if it is never ranked, or no draw has a cheapest one), and is ranked.
  verdicts(items, costs) {
    const { options, draws } = this.setup, ranked = items.map((one, o) =>
      this.ranked(one, options[o]));
    const often = costs.map(() => 0), ever = ranked.map((one) => one.includes(1));
    let decided = 0;
    for (let k = 0; k < draws; k++) {
      let least = Infinity, count = 0;
      for (let o = 0; o < costs.length; o++)
        if (ranked[o][k]) {
          least = Math.min(least, costs[o][k]);
          count++;
        }
      if (count < 2)
        continue;
      decided++;
      for (let o = 0; o < costs.length; o++)
        often[o] += ranked[o][k] && compare(costs[o][k], least) <= 0 ? 1 : 0;
    }
    return { cheapest: often.map((times, o) => (ever[o] && decided ? times / draws : NaN)),
      ranked: ranked.map((one) => one.reduce((sum, is) => sum + is, 0) / draws) };
  }

  // In which draws an option is ranked: 1 or 0.
  ranked(items, { why, lent }) {
    const { amounts, draws } = this.setup, ranked = new Uint8Array(draws).fill(why ? 0 : 1);
    for (const { item, at_most, limit } of amounts)
      if (items[item] && !lent.includes(item))
        items[item].forEach((value, k) => { ranked[k] &= at_most ? value <= limit : value >= limit; });
    return ranked;
  }
}

// Answers as a worker: the first message sets up, the others ask questions.
function serve() {
  let simulation = null;
  onmessage = ({ data: message }) => {
    if (message.setup)
      simulation = new Simulation(message.setup);
    else
      postMessage(simulation.run(message));
  };
}
