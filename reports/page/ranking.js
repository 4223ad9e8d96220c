// ranking: who is ranked, who is the cheapest and what is saved, as model/scenario/ranking.h judges,
// of values that change. The fixed part of the verdict, and the limits of amounts, are in `data`.
'use strict';

// What an amount beyond its limit is called; '' of one within, or that the option does not have.
function amount_text(values, { item, at_most, limit, shown, before, after, beside, beside_words }) {
  const value = values[item];
  if (value === undefined || (at_most ? value <= limit : value >= limit))
    return '';
  const percents = round(100 * (at_most ? Math.max : Math.min)(value, shown), 1);
  return `${before}${percents.toFixed(1)}${after}${values[beside] > 0 ? beside_words : ''}`;
}

function why_not_ranked(o, values) {
  const reasons = data.ranking.amounts.map((amount) => amount_text(values, amount));
  return data.options[o].why || reasons.find(Boolean)
    || (Number.isFinite(values.cost_per_mtok) ? '' : 'its cost is not a number');
}

const lower = (costs) => (a, b) => (costs[b] < costs[a] ? b : a);

function why_nobody() {
  const { one, unlike, unmet } = data.ranking;
  if (data.options.length === 1)
    return one;
  return data.options.some((option) => option.why) ? unlike : unmet;
}

// options: why_not (''), ranked, compared, cheapest, saving (NaN of the baseline and of one that is
// not compared); cheapest: indexes, none where fewer than two are ranked; against: whom the sentence
// sets them against, or -1; saving over that one; why_none.
function ranking_of(values) {
  const base = data.scenario.baseline, costs = values.map((v) => v.cost_per_mtok);
  const reasons = values.map((v, o) => why_not_ranked(o, v));
  const ranked = reasons.flatMap((why, o) => (why ? [] : [o]));
  const lowest = Math.min(...ranked.map((o) => costs[o]));
  const cheapest = ranked.length < 2 ? [] : ranked.filter((o) => compare(costs[o], lowest) <= 0);
  const others = cheapest.length ? ranked.filter((o) => !cheapest.includes(o)) : [];
  const against = others.includes(base) ? base : others.length ? others.reduce(lower(costs)) : -1;
  const options = data.options.map(({ compared }, o) => ({
    why_not: reasons[o], ranked: !reasons[o], compared, cheapest: cheapest.includes(o),
    saving: compared && o !== base ? 1 - costs[o] / costs[base] : NaN,
  }));
  return { options, cheapest, against, why_none: cheapest.length ? '' : why_nobody(),
    saving: against < 0 ? 0 : 1 - costs[cheapest[0]] / costs[against] };
}

// Whether a saving of one option over the other means anything.
const compares = (a, b) => data.options[a].compared === data.options[b].compared;

// ---- words

const list_text = (ids) => (ids.length > 1
  ? `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}` : ids[0]);

// As verdict_text of reports/print/verdict.h.
function verdict_text({ cheapest, against, saving, why_none }) {
  if (!cheapest.length)
    return `not ranked: ${why_none}`;
  const ids = list_text(cheapest.map((o) => data.options[o].id));
  if (against < 0)
    return `${ids} cost the same per output token`;
  const less = saving < 0.0005 ? 'less than 0.1 %' : percent(saving);
  return `${ids} ${cheapest.length > 1 ? 'cost' : 'costs'} least per output token, ${less} less than ${
    data.options[against].id}`;
}

const not_ranked_text = (ranking, o) =>
  (ranking.options[o].ranked ? '' : `not ranked: ${ranking.options[o].why_not}`);

function saving_text(ranking, o) {
  const { saving } = ranking.options[o], base = data.options[data.scenario.baseline].id;
  if (o === data.scenario.baseline)
    return data.options.length > 1 ? 'baseline' : '';
  if (Number.isNaN(saving))
    return '';
  return saving === 0 ? `as much as ${base}`
    : `${percent(saving)} ${saving < 0 ? 'more' : 'less'} than ${base}`;
}

// Decoding alone is an upper bound on every face.
function option_label(ranking, o) {
  const { id, decode_only } = data.options[o];
  if (decode_only)
    return `${id} (upper bound, decode only)`;
  return ranking.options[o].ranked ? id : `${id} (not ranked)`;
}
