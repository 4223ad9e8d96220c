#!/usr/bin/python3
"""plan as a command: one period gives what route finds, one choice what wait computes; its constraints, what each
costs, and what follows the years are checked with this script's own sums; exit codes, bad input.

    check_plan.py

PERTOKEN names the program.
Seconds: 3, deep 9
Deep: a plan that is too large for its time
"""
import json
import math

from support import scenarios
from support.plans import RENT, SHARES, ask, check, check_all, cost_of, head, workloads, written
from support.program import BAD_INPUT, DEEP, DONE, NO, near, run


def check_route(folder):
    """One period: without discount the same cost, with it what route reports for the same purchases, discounted."""
    for portfolio, spares in ((SHARES, 0), ('', 0), ('', 5), (SHARES + 'share_of = accelerators\n', 7),
                              ('[supply y]\nstock = 24 gpu\n', 0), ('[supply y]\nstock = 25 gpu\n', 5)):
        for wacc in ('0 %/yr', '9 %/yr'):
            text = head('1 yr', '1 yr', wacc).replace('[common]', f'[common]\nspares = {spares} %') + workloads('', '') + portfolio
            routed, planned = ask('route', folder, text), ask('plan', folder, text + '[plan]\n')
            total = routed['tables']['split']['rows'][-1]['cost']
            check('discounted where there is a rate', ('discounted' in routed['tables']) == (wacc[0] != '0'), routed['tables'].keys())
            if 'discounted' in routed['tables']:
                *rows, all_of_it = routed['tables']['discounted']['rows']
                check('undiscounted, too', near(all_of_it['cost'], total, 1e-12), all_of_it)
                total = all_of_it['discounted']
                check('they add up', near(sum(row['discounted'] for row in rows), total, 1e-12), rows)
                # Last, as what precedes it compares what is paid.
                check('said', routed['answer'].endswith(f' Discounted, it costs {total:,.0f} USD.'), routed['answer'])
            check(f'as route, {portfolio!r}, {wacc}', near(cost_of(planned), total, 1e-9), (cost_of(planned), total))
            nodes = {row['option']: row['accelerators'] for row in routed['tables']['split']['rows'][:-1]}
            bought = {row['option']: row['accelerators'] for row in planned['tables']['calendar']['rows']}
            check('the same purchases', nodes == bought, (nodes, bought))


def check_wait(folder):
    """x is delivered after a year, and cloud is rented until then."""
    text = head(y='', start='2026-11-20').replace('accelerators = 8\n', 'accelerators = 64\n', 1) + RENT
    waited = ask('wait', folder, text + '[wait x]\nmonths = 12\nmeanwhile = cloud\n')
    later = next(row for row in waited['tables']['choices']['rows'] if row['choice'].startswith('order'))
    rate = 64 * 1000 * 0.6 * 3600 * 730  # tokens of 64 accelerators in a month
    planned = ask('plan', folder, text + f'[demand a]\ntokens = {rate!r} token/month\nready.y = no\n'
                  + '[supply x]\navailable = 12 month\n[plan]\n')
    check('as wait', near(cost_of(planned), later['expected_cost'], 1e-9), (cost_of(planned), later))
    bought = [(row['serves_from'], row['option'], row['accelerators'])
              for row in planned['tables']['calendar']['rows']]
    check('the same two', bought == [('2026-11-20', 'cloud', 64), ('2027-05-20', 'cloud', 64), ('2027-11-20', 'x', 64)], bought)


def check_residual_of_parts(folder):
    """Servers and network age as all hardware does, and sell for nothing if they are retired before the horizon."""
    text = (head('3 yr', '1 yr', y='').replace('[common]', '[common]\nnode_price = 200000 USD\nnetwork_price = 4000 USD/gpu')
            + '[demand a]\ntokens = 0.1e12 token/month\ngrowth = {growth} %/yr\nready.y = no\n[plan]\n')
    parts = '\nserver_residual = 30 %\nnetwork_residual = 30 %\n'
    for growth in (60, -60):
        one = text.format(growth=growth)
        common, stated = (cost_of(ask('plan', folder, words)) for words in (one, one.replace('\nresidual_value = 30 %\n', '\nresidual_value = 30 %' + parts)))
        check(f'stated for each part, growth {growth}', near(common, stated, 1e-12), (common, stated))
    for value in ('residual_value = 0 %', 'resale = 0, 0, 0 %'):
        shrinks = text.format(growth=-60).replace('\nresidual_value = 30 %\n', f'\n{value}{parts}').replace('0.1e12', '0.4e12')
        done = run('plan', written(folder, shrinks), '-q', '--explain=calendar', '--format', 'json')
        rows = json.loads(done.stdout)['answers'][0]['tables']['purchase_parts']['rows']
        credited = {row['until']: row['paid'] for row in rows if row['part'].startswith('Residual value')}
        check(f'retired parts are worth nothing, {value}', 'the end' in credited and all((paid < 0) == (until == 'the end') for until, paid in credited.items()), credited)


def check_kept(folder):
    """What a fleet of four periods must satisfy, from the answer's own tables."""
    text = (head() + workloads() + SHARES + '[supply x]\nlead_time = 1 month\n[supply y]\navailable = 6 month\n'
            + RENT + '[plan]\nsite_power = 0.09 MW\nyearly_budget = 1.5e6, 1e6 USD\n')
    text = text.replace('minimum_share.amd = 20 %\n', '')
    planned = ask('plan', folder, text)
    tables = planned['tables']
    fleet = {row['period']: row for row in tables['fleet']['rows']}
    shares = tables['shares']['rows']
    for period, row in fleet.items():
        check('site', row['power'] <= 0.09 * (1 + 1e-9), row)
        for workload in 'ab':
            served = sum(cell['share'] for cell in shares if (cell['period'], cell['workload']) == (period, workload))
            check('served', near(served, 100, 1e-7), (period, workload, served))
        for option in ('x', 'y', 'cloud'):
            busy = sum(cell['busy_nodes'] for cell in shares if (cell['period'], cell['option']) == (period, option))
            check('held', busy * 8 <= row[option] * (1 + 1e-6), (period, option, busy, row))
    for row in tables['tokens']['rows']:
        check('the share of a vendor', row['nvidia'] >= 0.2 * row['demand'] * (1 - 1e-6), row)
    check('y comes later', fleet['2027-01']['y'] == 0, fleet['2027-01'])
    for row in tables['years']['rows']:
        check('budget', row['outlay'] <= row['budget'] * (1 + 1e-9), row)
    for row in tables['calendar']['rows']:
        check('whole units', row['how'] == 'rent' or row['accelerators'] % 8 == 0, row)
    for row in tables['prices']['rows']:
        check('without a constraint nothing is dearer', row['price'] >= 0, row)
    check('lead time', any(row['order_by'] == '2026-12-01' for row in tables['calendar']['rows']), tables['calendar'])


PRICED = (head() + workloads('growth = 60 %/yr\nsplit = no\nready_from.y = 12 month', 'growth = 20 %/yr\nready.y = 80 %') + RENT
          + '[supply x]\nstock = 48 gpu\nlead_time = 1 month\n[supply y]\navailable = 6 month\n[portfolio]\n'
          'minimum_share.nvidia = 60 %\ncapex_budget = 2e6 USD\n[plan]\nsite_power = 0.09 MW\nyearly_budget = 1.4e6, 0.7e6 USD\n')
LINES = {'stock of x': ('stock = 48 gpu\n',), 'lead time of x': ('lead_time = 1 month\n',), 'first delivery of y': ('available = 6 month\n',),
         'minimum share of nvidia': ('minimum_share.nvidia = 60 %\n',), 'site power': ('site_power = 0.09 MW\n',),
         'yearly budget': ('yearly_budget = 1.4e6, 0.7e6 USD\n',), 'capex budget': ('capex_budget = 2e6 USD\n',),
         'no split of a': ('split = no\n',), 'software readiness': ('ready.y = 80 %\n', 'ready_from.y = 12 month\n')}
RATES = ('[scenario]\ntitle = T\ndate = 2026-11-20\nhorizon = 2 yr\n' + scenarios.CURVE_AND_TYPED + scenarios.RAPID_AND_ANY
         + '[plan]\ntime = 60\n')


def check_prices(folder):
    """The cost of a constraint is the difference to the plan without its lines."""
    for text, lines in ((PRICED, LINES), (RATES, {'interactivity of rapid': ('interactivity = 500 token/s\n',)})):
        found = ask('plan', folder, text)
        prices = {row['constraint']: row for row in found['tables']['prices']['rows']}
        check('every constraint', set(prices) == {*lines, 'whole purchase units'}, prices.keys())
        for constraint, removed in lines.items():
            without = text
            for line in removed:
                check(constraint, line in without)
                without = without.replace(line, '')
            cost, row = cost_of(ask('plan', folder, without)), prices[constraint]
            check(f'the price: {constraint}', near(row['cost_without'], cost, 3e-6) and abs(row['price'] - (cost_of(found) - cost)) <= 3e-6 * cost, (row, cost))
            check('proven', row['price_least'] == row['price_most'] == row['price'], row)
        check('some bind', sum(row['price'] > 0 for row in prices.values()) > len(prices) / 2, prices)
    barred = [(row['workload'], row['option']) for row in found['tables']['barred']['rows']]
    check('too slow', barred == [('rapid', 'mi300x')], barred)
    large = head() + workloads('growth = 60 %/yr\ncontext = 60000000') + '[plan]\n'
    done = run('plan', written(folder, large), '-q', '--explain=barred', '--format', 'json')
    why = json.loads(done.stdout)['answers'][0]['tables']['barred_parts']['rows']
    check('too large', done.returncode == NO and {(row['workload'], row['barrier']) for row in why} == {('a', 'memory')}, why)
    spans = ask('plan', folder, head() + workloads('growth = 60 %/yr\nnodes_per_replica = 3') + '[plan]\n')
    for row in spans['tables']['fleet']['rows']:
        held = {option: sum(math.ceil(cell['busy_nodes'] / 3 - 1e-6) * 3 if cell['workload'] == 'a' else cell['busy_nodes']
                            for cell in spans['tables']['shares']['rows'] if (cell['period'], cell['option']) == (row['period'], option))
                for option in 'xy'}
        check('whole replicas', all(held[option] * 8 <= row[option] * (1 + 1e-6) for option in 'xy') and sum(held.values()) > 0, (row, held))


def check_capex(folder):
    """A budget for all purchases that binds, and a rent next to it."""
    text = head() + workloads() + RENT
    free = ask('plan', folder, text + '[plan]\n')
    spent = sum(row['outlay'] for row in free['tables']['years']['rows'])
    found = ask('plan', folder, text + f'[portfolio]\ncapex_budget = {0.7 * spent!r} USD\n[plan]\n')
    less = sum(row['outlay'] for row in found['tables']['years']['rows'])
    check('the budget of all purchases', 0.3 * spent < less <= 0.7 * spent * (1 + 1e-9), (spent, less))
    price = next(row for row in found['tables']['prices']['rows'] if row['constraint'] == 'capex budget')
    check('its price', near(price['price'], cost_of(found) - cost_of(free), 1e-4) and price['price'] > 0, (price, cost_of(free), cost_of(found)))


# Spares of two orders cost more than the search counts, so that no cost is proven.
UNPROVEN = """[scenario]
title = T
horizon = 2 yr
[workload]
model = llama-2-70b
precision = fp8
utilization = 100 %
[common]
accelerators = 8
pue = 1.2
electricity_price = 0.08 USD/kWh
load_power = 700 W/gpu
node_price = 50000 USD
spares = 3 %
support = 5 %/yr
wacc = 8 %/yr
[option x]
accelerator = h200-sxm-141
list_price = 20000 USD
throughput = 1000 token/s
discount = 5 % from 4 gpu, 10 % from 17 gpu
[option y]
accelerator = mi325x-256
list_price = 17000 USD
throughput = 900 token/s
[demand a]
tokens = 0.5e12 token/yr
growth = 50 %/yr
[plan]
"""


def check_single(folder):
    """A single vendor costs no less than a plan that is free to choose it; it may if the plan must have others."""
    for more, low, high in (('', 0, 0), ('[portfolio]\nminimum_share.amd = 20 %\n', -200000, -100000)):
        found = ask('plan', folder, UNPROVEN + more)
        rows = {row['vendor']: row for row in found['tables']['sourcing']['rows']}
        check('not proven', 'Spares cost more' in found['answer'] and rows['nvidia']['difference'] is None, found['answer'])
        check(f'nvidia alone {more!r}', low <= rows['nvidia']['difference_least'] <= high, rows)
        check('the others', all(row['difference_least'] < row['difference_most'] for row in rows.values()), rows)


def check_levels(folder):
    """What changes by year follows the plan's years, whenever something is bought: rents, throughput, inflation;
    demands by time."""
    month = 1000 * 0.6 * 3600 * 730  # tokens of an accelerator
    grows = f'[demand a]\ntokens = {40 * month!r} token/month\ngrowth = 130 %/yr\nready.y = no\n'
    found = ask('plan', folder, head(y='') + RENT + 'rent_decline = 25 %/yr\n' + grows + 'ready.x = no\n[plan]\n')
    cost = sum(row['cloud'] * 9 * 0.75 ** (t // 2) * 4380 / 1.08 ** ((t + 1) / 2) for t, row in enumerate(found['tables']['fleet']['rows']))
    check('rents decline by the year', near(cost_of(found), cost, 1e-9), (cost_of(found), cost))
    wanted = [6 * 40 * month * 2.3 ** (t / 2) / 1e6 for t in range(4)]
    check('a demand that grows', all(near(row['demand'], value, 1e-9) for row, value in zip(found['tables']['tokens']['rows'], wanted)), found['tables']['tokens'])
    for keys, use in (('throughput_gain = 20 %/yr\n', [1, 1, 1.2, 1.2]), ('utilization = 60, 45 %\n', [1, 1, 0.75, 0.75]),
                      ('utilization = 60, 54, 45 % every 6 month\n', [1, 0.9, 0.75, 0.75])):
        found = ask('plan', folder, head(y='').replace('load_power = 700', keys + 'load_power = 700') + grows + '[plan]\n')
        busy = [row['busy_nodes'] for row in found['tables']['shares']['rows'] if row['share']]
        check(keys, len(busy) == 4 and all(near(nodes, 5 * 2.3 ** (t / 2) / use[t], 1e-9) for t, nodes in enumerate(busy)), busy)
    text = head(y='').replace('load_power = 700', 'inflation = 5 %/yr\nsoftware_licence = 1000 USD/gpu/yr\nload_power = 700')
    done = run('plan', written(folder, text + grows + '[plan]\n'), '-q', '--explain', '--format', 'json')
    tables = json.loads(done.stdout)['answers'][0]['tables']
    number = next(row['accelerators'] for row in tables['calendar']['rows'] if row['serves_from'] == '2027-07' and row['until'] == 'the end')
    paid = [row['paid'] for row in tables['purchase_parts']['rows'] if row['serves_from'] == '2027-07' and row['until'] == 'the end' and 'icense' in row['part']]
    check('inflation by the year of the plan', len(paid) == 1 and near(paid[0], number * 500 * (1 + 2 * 1.05), 1e-9), (number, paid))
    done = run('plan', written(folder, head(y='') + grows + 'ready_from.x = 12 month\n' + RENT + '[plan]\n'), '-q', '--format', 'json')
    shares = [(row['period'], row['option']) for row in json.loads(done.stdout)['answers'][0]['tables']['shares']['rows'] if row['share'] > 0]
    check('software from a day on', shares == [('2027-01', 'cloud'), ('2027-07', 'cloud'), ('2028-01', 'x'), ('2028-07', 'x')], shares)


def check_rent_terms(folder):
    """What a rent commits to is paid although the demand falls; without a term it may end any time, which is said."""
    month = 1000 * 0.6 * 3600 * 730  # tokens of an accelerator
    falls = f'[demand a]\ntokens = {40 * month!r} token/month\ngrowth = -60 %/yr\nready.y = no\nready.x = no\n'
    for term, periods in (('', 1), ('6 month', 1), ('7 month', 2), ('1 yr', 2), ('3 yr', 4)):
        supply = term and f'[supply cloud]\nterm = {term}\n'
        found = ask('plan', folder, head(y='') + RENT + falls + supply + '[plan]\n')
        needed = [40, 26, 16, 11]  # 40, 25.3, 16 and 10.1
        rented = [needed[t - t % periods] for t in range(4)]
        check(f'rented {term}', [row['cloud'] for row in found['tables']['fleet']['rows']] == rented, found['tables']['fleet'])
        cost = sum(number * 9 * 4380 / 1.08 ** ((t + 1) / 2) for t, number in enumerate(rented))
        check(f'cost {term}', near(cost_of(found), cost, 1e-9), (cost_of(found), cost))
        in_all = sum(row['rent'] for row in found['tables']['calendar']['rows'])
        check(f'in all {term}', near(in_all, sum(number * 9 * 4380 for number in rented), 1e-9), (in_all, rented))
        ends = [row['until'] for row in found['tables']['calendar']['rows']]
        check(f'until {term}', len(ends) == -(-4 // periods) and ends[-1] == 'the end', ends)
        warned = [text for text in found['warnings'] if "state the 'term' that its rate commits to" in text]
        check(f'warned {term}', len(warned) == (not term), found['warnings'])
    for option, words in (('x', "option 'x' is not rented, so it has no term"), ('cloud', 'term must be from 0 to')):
        done = run('plan', written(folder, head(y='') + RENT + falls + f'[supply {option}]\nterm = -1 month\n[plan]\n'))
        check(f'term of {option}', done.returncode == BAD_INPUT and words in done.stderr, done.stderr)


def check_tokens_bought(folder):
    """1000 input tokens at 0.2 USD/Mtok and 500 output tokens at 0.6: 1 USD for a million tokens, at each quarter's
    end."""
    text = (head('1 yr', '3 month', y='').replace('[common]', 'input_tokens = 1000 token\noutput_tokens = 500 token\n[common]')
            + '[option api]\ninput_price = 0.2 USD/Mtok\noutput_price = 0.6 USD/Mtok\ndemand = 100 Mtok/yr\n'
            + '[demand a]\ntokens = 0.1e12 token/month\n[supply x]\navailable = 6 month\n[supply y]\navailable = 6 month\n[plan]\n')
    planned = ask('plan', folder, text)
    check('tokens', near(cost_of(planned), sum(0.3e6 / 1.08 ** (0.25 * t) for t in range(1, 5)), 1e-9), cost_of(planned))
    check('nothing is bought', not planned['tables'].get('calendar', {}).get('rows'), planned['tables'])


def sized(options, workload_count, periods):
    """Two vendors in turn, a successor each quarter from the third option on, and workloads that run best on different
    ones."""
    ids = 'xyzuvw'[:options]
    text = head(f'{3 * periods} month', '3 month').split('[option x]')[0]
    for i, name in enumerate(ids):
        text += (f'[option {name}]\naccelerator = {("h200-sxm-141", "mi325x-256")[i % 2]}\nlist_price = {30000 - 2000 * i} USD\n'
                 f'price_decline = {5 + 3 * i} %/yr\nload_power = {700 + 60 * i} W/gpu\nthroughput = {1000 - 45 * i} token/s/gpu\n')
    for w in range(workload_count):
        text += f'[demand d{w}]\ntokens = {0.1 - 0.015 * w}e12 token/month\ngrowth = 10 %/yr\n'
        text += ''.join(f'throughput.{name} = {1000 - 45 * i + 35 * ((i + 2 * w) % 5)} token/s/gpu\n' for i, name in enumerate(ids) if (i + w) % 3)
    return text + ''.join(f'[supply {name}]\navailable = {3 * i} month\n' for i, name in enumerate(ids) if i > 1) + '[plan]\nsite_power = 0.9 MW\n'


def check_time(folder):
    path = written(folder, head() + workloads() + '[plan]\ntime = 1000\n')
    check('--time', run('plan', path, '-q', '--time', '5').returncode == DONE)
    for time, said in (('soon', 'positive whole number'), ('0', 'positive whole number'), ('100000', 'at most a day')):
        done = run('plan', path, '-q', '--time', time)
        check(f'--time {time}', done.returncode == BAD_INPUT and said in done.stderr, done.stderr)
    if not DEEP:
        return
    # Far from proven even with twenty times as long, so no machine is too fast for this; one that is too slow to find
    # any plan says so, and is given more time.
    path = written(folder, sized(6, 6, 28))
    for time in ('2', '8', '32', '128'):
        done = run('plan', path, '-q', '--time', time, '--format', 'json', timeout=1200)
        found = json.loads(done.stdout)['answers'][0]
        check('no plan in time, exit 0', done.returncode == DONE, done.stderr)
        if 'proof' in found['tables']:
            break
        check('said', f'No plan was found within {time} s' in found['answer'] and 'too large' in found['answer'], found['answer'])
    for row in found['tables']['prices']['rows']:
        check('an interval', (row['price_most'] is None or (row['price_least'] or 0) <= row['price_most']) and (isinstance(row['cost_without'], str) or row['cost_without'] <= cost_of(found) * (1 + 1e-9)), row)
    proof = found['tables']['proof']['rows']
    check('the time is up', done.returncode == DONE and 'The time limit was reached' in found['answer'], found['answer'])
    check('its gap', near(proof[0]['gap'], 100 * (1 - proof[1]['value'] / proof[0]['value']), 1e-6), proof)


# Volume tiers, stock, budgets by year and fixed costs at once: the search alone finds nothing in time.
HARD = """\
[scenario]
title = hard
date = 2026-12-01
start = 2027-07
horizon = 3 yr
period = 3 month
baseline = b300
[workload]
model = llama-2-70b
precision = fp8
utilization = 60 %
input_tokens = 1000 token
output_tokens = 500 token
[common]
accelerators = 8
node_price = 58000 USD
network_price = 4000 USD
pue = 1.22
support = 3.5 %/yr
host_power = 280 W/gpu
electricity_price = 0.16 USD/kWh
engineer_cost = 105000 USD/yr
wacc = 8.5 %/yr
price_decline = 14 %/yr
resale = 55, 38, 25 %
[option b300]
accelerator = b300-sxm-288
list_price = 41000 USD
throughput = 8000 token/s
load_power = 1200 W
[option mi355x]
accelerator = mi355x-288
list_price = 29500 USD
discount = 5 % from 64 gpu, 9 % from 256 gpu
throughput = 7000 token/s
load_power = 1350 W
engineers = 1 FTE
migration_cost = 350000 USD
[option h200]
accelerator = h200-sxm-141
rental_rate = 2.2 USD/gpu/h
throughput = 3600 token/s
[option api]
output_price = 0.7 USD/Mtok
input_price = 0.1 USD/Mtok
demand = 10000000 Mtok/yr
[demand chat]
tokens = 2.5e12 token/month
growth = 30 %/yr
[demand sold]
tokens = 1.5e12 token/month
growth = 20 %/yr
ready_from.mi355x = 6 month
[supply b300]
lead_time = 5 month
stock = 256 gpu
[supply mi355x]
lead_time = 9 month
[supply h200]
lead_time = 1 month
term = 6 month
[plan]
site_power = 1.2 MW
yearly_budget = 12e6, 8e6 USD
"""


def check_a_part_instead(folder):
    """What the search does not find as a whole is answered with a part of it: never 'no plan' beside a vendor's own."""
    if not DEEP:
        return
    done = run('plan', written(folder, HARD), '-q', '--time', '40', '--format', 'json', timeout=600)
    check('exit 0', done.returncode == DONE, done.stderr)
    found = json.loads(done.stdout)['answers'][0]
    check('a plan', 'No plan' not in found['answer'], found['answer'])
    singles = [row['cost'] for row in found['tables']['sourcing']['rows'] if not isinstance(row['cost'], str)]
    check('at most what a vendor alone costs', singles and cost_of(found) <= min(singles) * (1 + 1e-6), (found['answer'], singles))


def check_unserved(folder):
    found = ask('plan', folder, head() + workloads() + '[plan]\nsite_power = 0.02 MW\n', NO)
    check('what lacks where', "the demand 'b'" in found['answer'] or "the demand 'a'" in found['answer'], found['answer'])
    check('which constraint', 'without: site power' in found['answer'], found['answer'])
    lacks = found['tables']['lacks']['rows']
    check('by how much', all(0 < row['share'] <= 100 for row in lacks), lacks)
    done = run('plan', written(folder, head() + workloads() + '[plan]\nsite_power = 0.02 MW\n'), '-q', '--explain=lacks', '--format', 'json')
    tables = json.loads(done.stdout)['answers'][0]['tables']
    check('explained', list(tables) == ['lacks', 'lack_parts'], list(tables))
    for row in lacks:
        parts = [part for part in tables['lack_parts']['rows'] if (part['period'], part['workload']) == (row['period'], row['workload'])]
        check('what lacks is what is asked for less what is served', parts[0]['part'] == 'asked for' and near(
            sum(part['tokens'] for part in parts[:-1]), row['tokens'], 1e-9) and parts[-1]['tokens'] == row['tokens'], (row, parts))
    rate = 1000 * 0.6 * 3600 * 730
    whole = head('1 yr', '6 month', y='') + f'[demand a]\ntokens = {36 * rate!r} token/month\nready.y = no\n[plan]\nsite_power = 0.0406 MW\n'
    found = ask('plan', folder, whole, NO)
    check('whole units alone lack', "period from 2027-01: 11.1 % of the demand 'a'" in found['answer'] and 'fractional ones could serve all of it' in found['answer']
          and 'without: site power, or whole purchase units' in found['answer'], found['answer'])
    check('by how much', near(found['tables']['lacks']['rows'][0]['tokens'], 6 * 4 * rate / 1e6, 1e-6), found['tables']['lacks'])
    found = ask('plan', folder, head() + workloads() + '[supply x]\nlead_time = 12 month\n[supply y]\nlead_time = 12 month\n[plan]\n', NO)
    check('nothing in time', 'period from 2027-01: 100 %' in found['answer'] and 'No option can serve it before 2028-01, given ' in found['answer'], found['answer'])
    late = head() + '[demand a]\ntokens = 0.1e12 token/month\nready.x = no\nready.y = no\n[plan]\n'
    found = ask('plan', folder, late, NO)
    check('nothing ever', 'No option can serve it in that period or later.' in found['answer'], found['answer'])
    barred = [row for row in found['tables']['barred']['rows']]
    done = run('plan', written(folder, late), '-q', '--explain=barred', '--format', 'json')
    why = json.loads(done.stdout)['answers'][0]['tables']['barred_parts']['rows']
    check('why they are barred', [(row['option'], row['barrier'], row['ready']) for row in why] == [
        (row['option'], 'software readiness', 0) for row in barred] and len(why) == 2, why)


BAD = (
    ('[plan]\nbudgt = 1e6 USD\n', "unknown key 'budgt'"),
    ('[plan]\nyearly_budget = 100 USD\n', 'does not buy one purchase unit'),
    ('[plan]\nyearly_budget = 9e6, 1000 USD\n', '22: error: the budget of year 2, 1000 USD, does not buy one purchase unit'),
    ('[portfolio]\ncapex_budget = 1000 USD\n[plan]\n', '16: error: the budget of all purchases, 1000 USD, does not buy one'),
    ('[plan]\nyearly_budget = 0 USD\n', 'a budget must be above zero'),
    ('[plan]\nyearly_budget = 9e6, 0 USD\n', '22: error: a budget must be above zero'),
    ('[plan]\nyearly_budget =\n', 'expected a quantity'),
    ('[plan]\nyearly_budget = 9e6, 1e6 EUR\n', '26: error: amounts here are in USD, not EUR'),
    ('[plan]\nyearly_budget = 20,000,000 USD\n', 'comma'),
    ('[plan]\nsite_power = 0 MW\n', "a site's power must be above zero"),
    ('[plan]\nsite_power = 3 kg\n', 'MW'),
    ('[plan]\ntime = soon\n', 'positive whole number'),
    ('[plan]\ndraws = 5\n', 'draws are from 10'),
    ('[plan]\nseed = x\n', 'positive whole number'),
    ('[plan]\n[supply y]\ndelay = triangular(8, 2, 0) month\n', 'triangular'),
    ('[plan]\n[supply y]\ndelay = from measurement\n', 'measur'),
    ('[plan]\n[supply y]\ndelay = -1 month\n', 'delay must be from 0 to 100 yr'),
    ('[plan]\n[demand c]\ntokens = 1e9 token/month\ngrowth = uniform(-150, 20) %/yr\n', 'growth'),
    ('[plan]\n[supply x]\nlead_time = -1 month\n', 'lead_time must be from 0 to 100 yr'),
    ('[plan]\n[supply x]\nlead_tme = 1 month\n', "did you mean 'lead_time'"),
    ('[plan]\n[demand c]\ntokens = 1e9 token/month\ngrowth = -100 %/yr\n', 'growth must be between'),
    ('[plan]\n[supply y]\nlead_time = 30 month\n', '13: error: option \'y\' has a life shorter than its lead time'),
    ('[plan]\n[portfolio]\nbudget = 1e9 USD\n', "'budget' is for a single purchase"),
    ('[plan]\n[portfolio]\nshare_of = cost\n', "'share_of = cost' is for a single purchase"),
)


def check_bad_input(folder):
    for section, expected in BAD:
        done = run('plan', written(folder, head(y='life = 1 yr') + workloads() + section))
        check(expected, done.returncode == BAD_INPUT and expected in done.stderr, done.stderr)
    past = run('plan', written(folder, head(start='2020-01') + workloads() + '[plan]\n'))
    check('a start in the past', past.returncode == BAD_INPUT
          and "begins on 2020-01-01, before the scenario's date" in past.stderr, past.stderr)
    for y, expected in (('life = 3 month', 'shorter than a period'),
                        ('resale = 40, 60 %', 'rise'),
                        ('resale = 60, 40 %\nresidual_value = 10 %', "both 'resale' and 'residual_value'"),
                        ('build_price = 9000 USD/kW', 'its own facility'),
                        ('ramp = 6 month', "has a 'ramp'"),
                        ('discount = 5 % from 80 gpu, 9 % from 80 gpu', 'each must begin after the one before'),
                        ('discount = 9 % from 8 gpu, 5 % from 80 gpu', 'a larger order cannot have a smaller discount')):
        text = head(y=y) + workloads() + '[plan]\n'
        if 'resale' in y and 'residual' not in y:
            text = text.replace('residual_value = 30 %\n', '')
        done = run('plan', written(folder, text))
        check(expected, done.returncode == BAD_INPUT and expected in done.stderr, done.stderr)
    counted = head().replace('[common]', '[common]\ndemand = 1e6 Mtok/yr') + workloads() + '[plan]\n'
    for text in (counted, counted.replace('\naccelerators = 8\n', '\n')):
        done = run('plan', written(folder, text))
        check('a demand of its own', done.returncode == BAD_INPUT and "option 'x' has a 'demand': what a portfolio serves" in done.stderr, done.stderr)
    rented = head() + RENT + workloads('', '') + '[portfolio]\ncapex_budget = 1000 USD\n[plan]\n'
    done = run('plan', written(folder, rented))
    check('warned of', done.returncode == DONE and 'warning: the budget of all purchases, 1000 USD, does not buy one purchase unit' in done.stderr, done.stderr)
    check('what buys nothing may rent', ask('plan', folder, rented)['tables']['years']['rows'][0]['outlay'] == 0)
    longer = run('plan', written(folder, head() + workloads() + '[plan]\nyearly_budget = 9e6, 8e6, 7e6 USD\n'))
    check('budgets beyond the horizon', longer.returncode == DONE and 'later budgets have no effect' in longer.stderr, longer.stderr)
    successor = '[option next]\naccelerator = b200-sxm\nlist_price = 50000 USD\nload_power = 1000 W/gpu\n[supply next]\navailable = 6 month\n'
    done = run('plan', written(folder, head() + successor + workloads() + '[plan]\n'))
    check('a successor without throughput', done.returncode == BAD_INPUT and 'next' in done.stderr and 'throughput' in done.stderr, done.stderr)
    done = run('plan', written(folder, head() + RENT + 'discount = 5 % from 8 gpu\n' + workloads() + '[plan]\n'))
    check('tiers of rent', done.returncode == BAD_INPUT and 'a rented option does not pay for it' in done.stderr, done.stderr)
    tiers = head(y='discount = 5 % from 8 gpu').replace('start = 2027-01\n', '').replace('period = 6 month\n', '')
    done = run('route', written(folder, tiers + workloads('', '')))
    check('route of tiers', done.returncode == BAD_INPUT and "volume tiers, which only 'pertoken plan' supports" in done.stderr, done.stderr)
    done = run('route', written(folder, head() + workloads()))
    check('route of a plan', done.returncode == BAD_INPUT and "use 'pertoken plan'" in done.stderr, done.stderr)
    done = run('plan', written(folder, head() + workloads('', '')))
    check('plan of no plan', done.returncode == BAD_INPUT and 'nothing to answer: add a [plan]' in done.stderr, done.stderr)


if __name__ == '__main__':
    check_all((check_route, check_wait, check_residual_of_parts, check_kept, check_prices, check_capex, check_single, check_levels,
               check_rent_terms, check_tokens_bought, check_time, check_a_part_instead, check_unserved, check_bad_input))
