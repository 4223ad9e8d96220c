// ranking: which options are ranked, which is the cheapest and what it saves, by the rules of
// model/scenario/ranking.h, for values that change. The fixed part of the verdict, and the limits of
// amounts, are in `data`.
'use strict';

// How an amount is beyond its limit; '' if it is within, or the option has no such amount.
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

function cheapest_of(ranked, costs) {
  const lowest = Math.min(...ranked.map((o) => costs[o]));
  return ranked.length < 2 ? [] : ranked.filter((o) => compare(costs[o], lowest) <= 0);
}

// The first of the cheapest by levelized cost if that turns the verdict, or -1.
function turned_to(ranked, cheapest, values) {
  const levelised = cheapest_of(ranked, values.map((v) => v.levelised_cost_per_mtok));
  return levelised.some((o) => cheapest.includes(o)) ? -1 : levelised[0] ?? -1;
}

function why_nobody() {
  const { one, unlike, unmet } = data.ranking;
  if (data.options.length === 1)
    return one;
  return data.options.some((option) => option.why) ? unlike : unmet;
}

// options: why_not (''), ranked, compared, cheapest, saving (NaN for the baseline and for one that is
// not compared, infinite where the baseline costs nothing); cheapest: indexes, none if fewer than two
// are ranked; against: the option that the sentence compares them with, or -1; saving over that one,
// NaN if the cheapest costs less than nothing; turned_to: the cheapest by the levelized cost, if none
// of `cheapest` is, or -1; why_none.
function ranking_of(values) {
  const base = data.scenario.baseline, costs = values.map((v) => v.cost_per_mtok);
  const reasons = values.map((v, o) => why_not_ranked(o, v));
  const ranked = reasons.flatMap((why, o) => (why ? [] : [o]));
  const cheapest = cheapest_of(ranked, costs), [first] = cheapest;
  const others = cheapest.length ? ranked.filter((o) => !cheapest.includes(o)) : [];
  const against = others.includes(base) ? base : others.length ? others.reduce(lower(costs)) : -1;
  const options = data.options.map(({ compared }, o) => ({
    why_not: reasons[o], ranked: !reasons[o], compared, cheapest: cheapest.includes(o),
    saving: compared && o !== base ? saving_of(costs[o], costs[base]) : NaN,
  }));
  return { options, cheapest, against, why_none: cheapest.length ? '' : why_nobody(),
    turned_to: turned_to(ranked, cheapest, values),
    saving: against < 0 ? 0 : saving_of(costs[first], costs[against]) };
}

// Whether a saving of one option over the other is meaningful.
const compares = (a, b) => data.options[a].compared === data.options[b].compared;

// ---- words

const list_text = (ids) => (ids.length > 1
  ? `${ids.slice(0, -1).join(data.scenario.between)} and ${ids.at(-1)}` : ids[0]);

// Like verdict_text in reports/print/verdict.h.
function verdict_text({ cheapest, against, saving, why_none }) {
  if (!cheapest.length)
    return `not ranked: ${why_none}`;
  const ids = list_text(cheapest.map((o) => data.options[o].label));
  if (against < 0)
    return `${ids} cost the same per output token`;
  const least = `${ids} ${cheapest.length > 1 ? 'cost' : 'costs'} least per output token`;
  if (Number.isNaN(saving))
    return `${least}, less than nothing`;
  const less = saving < 0.0005 ? 'less than 0.1 %'
    : saving >= 0.9995 && saving < 1 ? 'over 99.9 %' : percent(saving);
  return `${least}, ${less} less than ${data.options[against].label}`;
}

// What is said if the discount rate decides which option is the cheapest.
const turn_text = ({ turned_to }) => (turned_to < 0 ? ''
  : `by levelized cost ${data.options[turned_to].label} costs least; `);

const not_ranked_text = (ranking, o) =>
  (ranking.options[o].ranked ? '' : `not ranked: ${ranking.options[o].why_not}`);

// base: 'H200', or '' where a heading says with what the option is compared.
function saving_words(ranking, o, base) {
  const { saving } = ranking.options[o];
  if (o === data.scenario.baseline)
    return data.options.length > 1 ? 'baseline' : '';
  if (Number.isNaN(saving))
    return '';
  if (!Number.isFinite(saving))
    return `no saving: ${base || 'the baseline'} costs nothing`;
  return saving === 0 ? `as much${base && ` as ${base}`}`
    : `${percent(saving)} ${saving < 0 ? 'more' : 'less'}${base && ` than ${base}`}`;
}

const saving_text = (ranking, o) => saving_words(ranking, o, data.options[data.scenario.baseline].label);

const MAX_LABEL = 40; // characters of an option's label in a chart; the cards have it in full

const cut_end = (letters, most) => `${letters.slice(0, most - 1).join('').trimEnd()}\u2026`;

// Between words where these are not long: "Dell PowerEdge \u2026 five-year support".
function cut_middle(letters, most) {
  const head = (most - 3) >> 1, begin = letters.slice(0, head).join(''), end = letters.slice(head + 3 - most).join('');
  return `${begin.replace(/[\s,;:]+\S{0,9}$/, '')} \u2026 ${end.replace(/^\S{0,9}[\s,;:]+/, '')}`;
}

// All options' labels with at most that many characters: their beginnings, or beginnings and ends where
// those are the same for several, or with their ids where these are the same, too.
function short_labels(most) {
  const labels = data.options.map(({ label }) => [...label]);
  const ways = [cut_end, cut_middle].map((cut) => labels.map((letters) =>
    (letters.length > most ? cut(letters, most) : letters.join(''))));
  return data.options.map(({ id }, o) => {
    const found = ways.find((texts) => texts.every((text, other) => other === o || text !== texts[o]));
    return found ? found[o] : `${ways[0][o]} (${id})`;
  });
}

const labels_in_charts = short_labels(MAX_LABEL);

const short_label = (o) => labels_in_charts[o];

// Decode only is marked as an upper bound in all output.
function option_label(ranking, o) {
  const { decode_only } = data.options[o], label = short_label(o);
  if (decode_only)
    return `${label} (upper bound, decode only)`;
  return ranking.options[o].ranked ? label : `${label} (not ranked)`;
}
