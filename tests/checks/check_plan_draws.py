#!/usr/bin/python3
"""A plan whose throughput, growth or deliveries are uncertain: what is best in each draw, what the first order should
have been, and which part of it to commit to.

    check_plan_draws.py

PERTOKEN names the program.
Seconds: 2
"""
import json
import math

from support.plans import RENT, ask, check, check_all, cost_of, discrete, head, workloads, written
from support.program import near, run


def check_uncertainty(folder):
    """200 draws of two rates: what the first order should have been, and the cost of the difference."""
    for second in (1250, 800):
        text, units = discrete(1000, second)
        found = ask('plan', folder, text)
        tables, planned = found['tables'], math.ceil(units[1000])
        each = cost_of(found) / planned
        rows = {row['choice']: row for row in tables['uncertainty']['rows']}
        best, first, regret = (rows[name] for name in ('the best, knowing each draw', 'first order as planned', 'its regret: more than the best'))
        commitment = tables['commitments']['rows'][0]
        rare = 1 - (first['serves'] / 100 if second < 1000 else commitment['enough'] / 100)
        check('as often as said', abs(rare - 0.3) < 0.02, rare)
        check('the best of each draw', near(best['mean'], each * ((1 - rare) * units[1000] + rare * units[second]), 1e-7), (best, each))
        kept = [(1 - rare, units[1000])] + ([(rare, units[second])] if second > 1000 else [])
        wanted = each * sum(share * (planned - needed) for share, needed in kept) / sum(share for share, _ in kept)
        check('its regret', near(regret['mean'], wanted, 1e-6), (regret, wanted))
        check('what is sure', commitment['sure'] == 8 * min(planned, math.ceil(units[second])), (commitment, units))
        check('said', ': they are needed' in found['answer'] if second > 1000 else 'all of it is needed' in found['answer'], found['answer'])
        last = tables['calendar']['rows'][0]['order_by']
        check('until when the rest can wait', commitment['decide_by'] == last and
              (second < 1000 or f'x by {last}: they depend' in found['answer']), (commitment, found['answer']))
    rounding = next(row for row in tables['uncertainty']['rows'] if 'rounding' in row['choice'])
    check('rounding', near(rounding['mean'], each * (planned - units[1000]), 1e-6), (rounding, each, planned, units))
    check_orders(folder, '')
    check_orders(folder, 'spares = 4.2 %\n')
    check('nothing uncertain', 'uncertainty' not in ask('plan', folder, head() + workloads() + '[plan]\n')['tables'])


def check_orders(folder, spares):
    """Two orders, each with whole spares: what they cost does not depend on how fast the accelerators turn out to be."""
    rate = 1000 * 0.6 * 3600 * 730
    text = (head('1 yr', '6 month', y='').replace('[common]', f'[common]\n{spares}') +
            f'[demand a]\ntokens = {38 * rate!r} token/month\ngrowth = 130 %/yr\nready.y = no\n'
            '[supply x]\nlead_time = 1 month\n[range]\nx.throughput = discrete(1000: 1, 1400: 1) token/s/gpu\n[plan]\ndraws = 64\n')
    found = ask('plan', folder, text)
    rows = {row['choice']: row for row in found['tables']['uncertainty']['rows']}
    whole, first, best = (rows[name] for name in ('every order as planned', 'first order as planned', 'the best, knowing each draw'))
    orders = found['tables']['calendar']['rows']
    check('two orders', len(orders) == 2 and (not spares or all(row['with_spares'] > row['accelerators'] * 1.042 + 0.1 for row in orders)), orders)
    check('every order as planned', near(whole['mean'], cost_of(found), 1e-7) and whole['serves'] == 100, (whole, cost_of(found)))
    check('which is more than the first order', whole['mean'] > first['mean'] > best['mean'] and near(
        rows['more than the best']['mean'], whole['mean'] - best['mean'], 1e-6), rows)


def check_rented_first(folder):
    """Rents that serve before the first purchase: what is said to be needed in the draws is the purchase, which is due as early."""
    text = (head('1 yr', '6 month', y='') + RENT + '[demand a]\ntokens = 0.1e12 token/month\nready.y = no\n'
            '[supply x]\nlead_time = 6 month\n[range]\nx.throughput = discrete(1000: 7, 800: 3) token/s/gpu\n[plan]\ndraws = 40\n')
    found = ask('plan', folder, text.replace('date = 2026-11-20', 'date = 2027-01-01'))
    first, second = found['tables']['calendar']['rows'][:2]
    check('rented, then bought', (first['how'], second['how']) == ('rent', 'buy'), found['tables']['calendar']['rows'])
    number = f'{second["accelerators"]:.0f} x'
    check('all that is due first', f'cloud by 2027-01-01; to serve from 2027-07, order {number} by 2027-01-01. Commit to what is bought '
          f'for 2027-07, {number}: all of it is needed in at least 90 % of the draws. Rents follow each draw, and are not judged.'
          in found['answer'], found['answer'])
    for row in found['tables']['guide']['rows']:
        check('the peak of each share', row['most_share'] >= max(row['first_share'], row['last_share']) and row['most_share'] > 0, row)
    check('of which period', found['tables']['commitments']['rows'][0]['decide_by'] == '2027-01-01', found['tables']['commitments'])


def check_beliefs(folder):
    """Growth and delay: the base case has their means, and the draws have the drawn values."""
    certain, uncertain = (ask('plan', folder, head() + workloads(f'growth = {growth} %/yr')
                              + '[supply y]\navailable = 6 month\n[plan]\ndraws = 16\n')
                          for growth in ('60', 'triangular(30, 60, 90)'))
    check('the mean', near(cost_of(uncertain), cost_of(certain), 1e-9), (cost_of(uncertain), cost_of(certain)))
    check('what is certain is not drawn', 'uncertainty' not in certain['tables'], certain['tables'].keys())
    spread = uncertain['tables']['uncertainty']['rows'][0]
    check('draws differ', spread['p10'] < spread['mean'] < spread['p90'], spread)
    text = head() + workloads() + '[supply y]\navailable = 4 month\ndelay = discrete(2: 1, 9: 1) month\n[plan]\n'
    check('a successor late by the mean', ask('plan', folder, text)['tables']['fleet']['rows'][1]['y'] == 0)
    text = text.replace('discrete(2: 1, 9: 1)', '2')
    delayed = head() + workloads() + '[supply y]\navailable = 1 month\ndelay = {} month\n[plan]\ndraws = 16\n'
    parts = []
    for months in (4, 10):
        prices = ask('plan', folder, delayed.format(months))['tables']['prices']['rows']
        parts.append(next(row['cost_without'] for row in prices if row['constraint'] == 'whole purchase units'))
    done = run('plan', written(folder, delayed.format('discrete(4: 1, 10: 1)')), '-q', '--explain', '--format', 'json')
    draws = [row['best'] for row in json.loads(done.stdout)['answers'][0]['tables']['draws']['rows']]
    check('delays are drawn', parts[0] < parts[1] * (1 - 1e-5) and all(any(near(cost, part, 1e-5) for part in parts) for cost in draws) and
          5 <= sum(near(cost, parts[0], 1e-5) for cost in draws) <= 11, (draws, parts))
    check('a successor in time', ask('plan', folder, text)['tables']['fleet']['rows'][1]['y'] > 0)


if __name__ == '__main__':
    check_all((check_uncertainty, check_rented_first, check_beliefs))
