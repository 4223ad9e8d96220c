#!/usr/bin/python3
"""Purchases in stages: what a demand that changes from year to year makes an option buy, and when.

The figures of the first test are the cost model's golden ones; the rest is computed beside the tests.
Seconds: 6
"""
import functools
from pathlib import Path

from support import items as items_of
from support.program import BAD_INPUT, expect, expect_model_checks, run, run_json, run_tests

HEAD = """\
[scenario]
title = Stages
date = 2026-11-01
horizon = 3 yr
[common]
demand = 2500000 Mtok/yr
utilization = 70 %
node_price = 50000 USD
pue = 1.3
electricity_price = 0.09 USD/kWh
support = 4 %/yr
host_power = 300 W
wacc = 8 %/yr
"""
GROWTH = 'demand_growth = 40 %/yr\n'
OPTION = """\
[option a]
accelerator = h100-sxm
throughput = 2500 token/s
list_price = 32000 USD
discount = 10 %
load_power = 700 W
idle_power = 700 W
"""
GAIN, DECLINE = 'throughput_gain = 10 %/yr\n', 'price_decline = 15 %/yr\n'
ENGINEERS = 'engineers = 2, 1, 1 FTE\nengineer_cost = 250000 USD/yr\n'
GOLDEN = {
    'needed': [0, 48, 64, 80], 'bought': [0, 48, 16, 16], 'accelerators': 80,
    'purchases': [1682400, 491680, 432928, 0],
    'power_cost': [0, 40681.44, 54241.92, 67802.4], 'cooling_cost': [0, 8514.72, 11352.96, 14191.2],
    'support_cost': [0, 67296, 86963.2, 104280.32], 'engineering_cost': [0, 500000, 250000, 250000],
    'load': [0, 66.06206663, 63.05924542, 64.20577716], 'tokens': [0, 2.5e12, 3.5e12, 4.9e12],
    'tco': 4062332.16, 'cost_per_mtok': 0.3726910239, 'levelised_cost_per_mtok': 0.4096680202,
    'energy_per_token': 0.7221454679}


def told(folder, text, *arguments):
    return items_of.told(Path(folder, 'stages.ini'), text, *arguments)


near, expect_items = (functools.partial(test, least=1e-9) for test in (items_of.near, items_of.expect_items))


CHECKS = ('categories', 'purchases', 'stock', 'demand', 'book', 'tax')


def expect_checks(folder):
    """The checks of the latest result are zero."""
    expect('book' in expect_model_checks(Path(folder, 'stages.ini'), 'a', CHECKS), 'what was told has no checks')


def test_golden(folder):
    items = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + ENGINEERS)['a']
    expect_items(items, GOLDEN)
    expect_checks(folder)
    # the mean load by accelerator-hours, and the hours themselves
    near(items['cost_per_gpu_hour'], 4062332.16 / (192 * 8760), 'per accelerator-hour')
    near(items['it_power'], 64, 'mean IT power')
    loads = GOLDEN['load'][1:]
    near(items['average_load'], sum(fleet * load for fleet, load in zip((48, 64, 80), loads)) / 192, 'mean load')


def test_books(folder):
    """Each purchase is depreciated from its own date."""
    items = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + 'book_life = 4 yr\n')['a']
    first, second, third = 1682400, 491680, 432928
    written = [first / 4, (first + second) / 4, (first + second + third) / 4]
    expect_items(items, {
        'book_depreciation': [0, *written],
        'book_value': [first, first + second - written[0], first + second + third - sum(written[:2]),
                       first + second + third - sum(written)],
        'book_value_left': first * 1 / 4 + second * 2 / 4 + third * 3 / 4})
    expect_checks(folder)


def test_short_books(folder):
    """A life that ends within the horizon, and within a year: a purchase is depreciated to zero, from its own date."""
    items = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + 'book_life = 18 month\n')['a']
    first, second, third = 1682400, 491680, 432928
    written = [first / 1.5, first / 3 + second / 1.5, second / 3 + third / 1.5]
    expect_items(items, {'book_depreciation': [0, *written], 'book_value_left': third / 3,
                         'book_value': [first, first / 3 + second, second / 3 + third, third / 3]})
    expect_checks(folder)
    months = told(folder, (HEAD + GROWTH + OPTION + GAIN + DECLINE + 'book_life = 8 month\n').replace(
        'horizon', 'period = 3 month\nhorizon'))['a']
    quarter = first * 3 / 8
    expect_items(months, {'book_depreciation': [0, quarter, quarter, first / 4, 0, *[second * 3 / 8] * 2, second / 4, 0,
                                                *[third * 3 / 8] * 2, third / 4, 0], 'book_value_left': 0})
    expect_checks(folder)


PARTS = ('network_price = 1000 USD\ninstallation = 5 %\nresidual_value = 20 %\nserver_residual = 5 %\n'
         'book_life = 4 yr\nserver_book_life = 2 yr\nnetwork_book_life = 6 yr\n')


def test_parts(folder):
    """Servers and network with lives and residual values of their own; what is not stated for them is the
    hardware's."""
    items = told(folder, HEAD + 'accelerators = 48\n' + OPTION + PARTS)['a']
    accelerators, servers, network = 48 * 28800, 6 * 50000, 48 * 1000
    expect_items(items, {
        'hardware_residual': 0.2 * accelerators + 0.05 * servers + 0.2 * network,
        'book_depreciation': [0, *[1.05 * (accelerators / 4 + servers / 2 + network / 6)] * 2,
                              1.05 * (accelerators / 4 + network / 6)],
        'book_value_left': 1.05 * (accelerators / 4 + network / 2)})
    expect_checks(folder)
    bought = [(48, 6), (16, 2), (16, 2)]
    paid = [(count * 28800 * 0.85**year, nodes * 50000, count * 1000) for year, (count, nodes) in enumerate(bought)]
    each = [sum(parts) for parts in zip(*paid)]
    items = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + PARTS)['a']

    def written(year):
        """The third year has the servers of two purchases, and the other parts of all three."""
        alive = paid[:year + 1]
        return 1.05 * (sum(one[0] for one in alive) / 4 + sum(one[1] for one in alive[-2:]) / 2
                       + sum(one[2] for one in alive) / 6)
    expect_items(items, {'hardware_residual': 0.2 * each[0] + 0.05 * each[1] + 0.2 * each[2],
                         'book_depreciation': [0, *map(written, range(3))]})
    expect_checks(folder)
    alike = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + 'residual_value = 20 %\nserver_residual = 20 %\n'
                 'server_book_life = 5 yr\n')['a']
    plain = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + 'residual_value = 20 %\n')['a']
    for name in ('tco', 'book_cost_total', 'book_value_left'):
        near(alike[name], plain[name], f'{name} of parts that are all alike')


def test_leased_parts(folder):
    """Leased hardware is returned: no part of it has a residual value."""
    lease = 'lease_rate = 6 %/yr\nlease_term = 3 yr\nresidual_value = 20 %\n'
    text = HEAD + 'accelerators = 48\n' + OPTION + lease
    one, other = told(folder, text)['a'], told(folder, text + 'server_residual = 5 %\n')['a']
    expect(one['tco'] < other['tco'], 'a lower residual value of servers costs')
    near(other['lease_cash_total'], one['lease_cash_total'], 'leased')
    expect_checks(folder)


def test_repair_and_residual(folder):
    """At the prices paid, not at today's."""
    items = told(folder, HEAD + GROWTH + OPTION + GAIN + DECLINE + 'failure_rate = 10 %/yr\nspares = 10 %\n'
                 'residual_value = 20 %\nnetwork_price = 1000 USD\ninstallation = 5 %\npurchase_tax = 3 %\n')['a']
    stock = [53, 71, 88]        # 48, 64 and 80 plus a tenth, rounded up
    prices = [28800 * 0.85**year for year in range(3)]
    bought = [53, 18, 17]
    paid = [count * price for count, price in zip(bought, prices)]
    hardware = [one + nodes * 50000 + new * 1000 for one, nodes, new in zip(paid, (6, 2, 2), (48, 16, 16))]
    mean = [sum(paid[:year + 1]) / stock[year] for year in range(3)]
    expect_items(items, {
        'stock': [0, *stock], 'bought': [0, *bought],
        'purchases': [*[one * 1.08 for one in hardware], 0],
        'support_cost': [0, *[0.04 * sum(hardware[:year + 1]) for year in range(3)]],
        'repair': [0, *[fleet * 0.1 * price for fleet, price in zip((48, 64, 80), mean)]],
        'residual': [0, 0, 0, -0.2 * sum(hardware)]})
    expect_checks(folder)


def test_upfront(folder):
    """The maximum ever needed is bought initially, at the initial prices; idle accelerators draw power too."""
    staged = told(folder, HEAD + GROWTH + OPTION + DECLINE)['a']
    items = told(folder, HEAD + GROWTH + OPTION + DECLINE + 'purchase = upfront\n')['a']
    expect_items(items, {'needed': [0, 48, 64, 96], 'in_service': [0, 96, 96, 96], 'bought': [0, 96, 0, 0],
                         'purchases': [96 * 28800 + 12 * 50000, 0, 0, 0]})
    expect(items['capex'] > staged['capex'] and items['power_total'] > staged['power_total'], 'upfront costs more')
    expect_checks(folder)
    # the same as the fleet given as a number, whose tokens are compared with the same demand
    given = told(folder, HEAD + GROWTH + OPTION + DECLINE + 'accelerators = 96\n')['a']
    for name in ('tco', 'capex', 'tokens_total', 'levelised_cost_per_mtok', 'cost_per_gpu_hour', 'average_load', 'it_power'):
        near(items[name], given[name], f'{name}, upfront and given')


def test_falling(folder):
    """Nothing is bought, nothing is negative: what is no longer needed stays, with power and support."""
    items = told(folder, HEAD + 'demand_growth = -30 %/yr\n' + OPTION)['a']
    expect_items(items, {'needed': [0, 48, 32, 24], 'in_service': [0, 48, 48, 48], 'bought': [0, 48, 0, 0],
                         'purchases': [48 * 28800 + 6 * 50000, 0, 0, 0], 'tokens': [0, 2.5e12, 1.75e12, 1.225e12]})
    near(items['support_cost'][3], items['support_cost'][1], 'support of what is idle')
    expect_checks(folder)


def test_beside_static(folder):
    """An option next to one in stages, whose own fleet does not change, has the same result as alone."""
    static = OPTION.replace('[option a]', '[option b]')
    alone = told(folder, HEAD + static)['b']
    beside = told(folder, HEAD + OPTION + GAIN + GROWTH + static)['b']
    for name in ('tco', 'cost_per_mtok', 'levelised_cost_per_mtok', 'capex', 'accelerators', 'energy_per_token',
                 'average_load', 'cost_per_gpu_hour', 'levelised_cost_per_gpu_hour', 'book_value_left'):
        near(beside[name], alone[name], f'{name}, beside one in stages')
    expect('purchases' not in beside and 'purchases' not in alone, 'one purchase has no dates')


def test_months(folder):
    """With shorter periods, purchases are still yearly, at the end of each year."""
    text = (HEAD + GROWTH + OPTION + GAIN + DECLINE).replace('horizon', 'period = 3 month\nhorizon')
    items = told(folder, text)['a']
    purchases = [0] * 13
    purchases[0], purchases[4], purchases[8] = GOLDEN['purchases'][:3]
    expect_items(items, {'purchases': purchases, 'tco': GOLDEN['tco'] - 1e6})
    expect_checks(folder)


def test_rent(folder):
    """Rented accelerators grow with the demand, and nothing is bought."""
    items = told(folder, HEAD + GROWTH + OPTION.replace(
        'list_price = 32000 USD\ndiscount = 10 %', 'rental_rate = 2 USD/h'))['a']
    expect_items(items, {'in_service': items['needed'], 'capex': 0,
                         'rental_cost': [2 * 8760 * fleet for fleet in items['needed']]})
    expect(items['needed'][1] < items['needed'][3], 'the rented fleet grows')
    expect_checks(folder)


REFUSED = {
    'growth without a demand': (HEAD.replace('demand = 2500000 Mtok/yr\n', 'accelerators = 8\n'), OPTION + GROWTH,
                                "'demand_growth' has no effect on option 'a' without 'demand'"),
    'stages of what does not change': (HEAD, OPTION + 'purchase = staged\n',
                                       "'purchase' has no effect on option 'a': its 'accelerators' is the same in all years"),
    'stages of a count': (HEAD + GROWTH, OPTION + 'accelerators = 48\npurchase = upfront\n',
                          "'purchase' has no effect on option 'a'"),
    'stages that no option has': (HEAD + 'purchase = upfront\n', OPTION,
                                  "'purchase' has no effect: 'accelerators' is the same in all years, in every option"),
    'a third kind of purchase': (HEAD + GROWTH, OPTION + 'purchase = monthly\n', 'staged'),
    'a decline of what is rented': (HEAD, OPTION.replace('list_price = 32000 USD\ndiscount = 10 %',
                                                         'rental_rate = 2 USD/h') + DECLINE,
                                    "'price_decline' is part of the rent"),
}
ALLOWED = {
    'tax of stages': (HEAD + GROWTH, OPTION + 'tax_rate = 25 %\n'),
    'tax of all at the outset': (HEAD + GROWTH, OPTION + 'purchase = upfront\ntax_rate = 25 %\n'),
    'books of all at the outset': (HEAD + GROWTH, OPTION + 'purchase = upfront\nbook_life = 2 yr\n'),
}


def check_refused(folder, name):
    head, option, message = REFUSED[name]
    path = Path(folder, 'stages.ini')
    path.write_text(head + option, encoding='utf-8')
    done = run('compare', path)
    expect(done.returncode == BAD_INPUT and message in done.stderr, f'{done.returncode}: {done.stderr}')


RENTED = OPTION.replace('[option a]', '[option cloud]').replace(
    'list_price = 32000 USD\ndiscount = 10 %', 'rental_rate = 2 USD/h')
ASKED = {
    'rent': ('[rent one]\nown = a\ncloud = cloud\n', "option 'a' changes from year to year (see its 'in_service')"),
    'wait': ('[wait a]\nmonths = 6\nmeanwhile = cloud\n', "option 'a' changes from year to year (see its 'in_service')"),
    'route': ('[demand one]\ntokens = 1000 Mtok/yr\n', "option 'a' changes from year to year (see its 'in_service')"),
}


def check_asked(folder, command):
    """Questions about fleets that stay unchanged are refused for others."""
    section, message = ASKED[command]
    path = Path(folder, 'stages.ini')
    path.write_text(HEAD + GROWTH + OPTION + RENTED + section, encoding='utf-8')
    done = run(command, path)
    expect(done.returncode == BAD_INPUT and message in done.stderr, f'{done.returncode}: {done.stderr}')


def test_pairs(folder):
    """An owned and a rented option are compared by default, but not in stages."""
    path = Path(folder, 'stages.ini')
    path.write_text(HEAD + OPTION + RENTED, encoding='utf-8')
    expect(run('rent', path).returncode == 0, 'a pair that stays what it is')
    path.write_text(HEAD + GROWTH + OPTION + RENTED, encoding='utf-8')
    done = run('rent', path)
    expect(done.returncode == BAD_INPUT and 'constant fleets' in done.stderr, done.stderr)


def test_outlay(folder):
    """Finance covers the initial outlay, and what is earned back permanently."""
    path = Path(folder, 'stages.ini')
    path.write_text(HEAD + GROWTH + OPTION + RENTED, encoding='utf-8')
    done = run('finance', path, environment={'COLUMNS': '300'})
    outlay = 48 * 28800 + 6 * 50000
    expect(f'cloud costs {outlay:,} USD less to buy at the outset than a' in done.stdout, done.stdout[:600])


def test_moved(folder):
    """What may be varied: the growth over a range, a solved price, an input of the tornado, a case."""
    path = Path(folder, 'stages.ini')
    path.write_text(HEAD + GROWTH + OPTION + GAIN + OPTION.replace('[option a]', '[option b]') + DECLINE
                    + '[range]\ndemand_growth = triangular(10, 40, 70) %/yr\n'
                    '[case slow]\ndemand_growth = 0 %/yr\nb.purchase = upfront\n', encoding='utf-8')
    items = {one['id']: one['items'] for one in run_json('compare', path, '--case', 'slow')['options']}
    expect(items['b']['in_service'] == [0, 48, 48, 48] and items['b']['bought'] == [0, 48, 0, 0],
           f'in the slow case: {items["b"]["bought"]}')
    base = {one['id']: one['items'] for one in run_json('compare', path)['options']}
    expect(items['a']['tco'] < base['a']['tco'], 'less growth costs less')
    moved = run_json('sensitivity', path)['swings']
    expect({'demand_growth', 'b.price_decline'} <= {one['input'] for one in moved}, f'moved: {moved}')
    draws = run_json('simulate', path, '--draws', '4096')
    expect(draws['case'] == 'base', f'{draws.keys()}')
    solved = run_json('solve', path, '--option', 'b', '--for', 'list_price')
    price = solved['values'][0]
    items = {one['id']: one['items'] for one in run_json(
        'compare', path, '--set', f'b.list_price={price:.15g} USD')['options']}
    near(items['b']['cost_per_mtok'], items['a']['cost_per_mtok'], 'cost at the solved price')


def test_difference(folder):
    """What only one of two scenarios uses is in both models: a what-if of the other accepts it."""
    static, staged = Path(folder, 'static.ini'), Path(folder, 'staged.ini')
    static.write_text(HEAD + OPTION + 'engineers = 2 FTE\nengineer_cost = 250000 USD/yr\n', encoding='utf-8')
    staged.write_text(HEAD + GROWTH + OPTION + GAIN + DECLINE + ENGINEERS, encoding='utf-8')
    for one, other in ((static, staged), (staged, static)):
        pair = run_json('diff', one, other)['options'][0]
        near(pair['together']['cost_per_mtok'], pair['results']['cost_per_mtok']['b'], 'all inputs of the other')
        alone = pair['alone']
        expect({'demand_growth', 'throughput_gain', 'price_decline', 'engineers'} <= set(alone)
               and not any(name.startswith('engineers_') for name in alone), f'one by one: {sorted(alone)}')
        expect(abs(alone['demand_growth']['change']) > 0.01, f'the growth alone: {alone["demand_growth"]}')


def check_allowed(folder, name):
    told(folder, ''.join(ALLOWED[name]))
    expect_checks(folder)


if __name__ == '__main__':
    run_tests(globals(), refused=(REFUSED, check_refused), asked=(ASKED, check_asked), allowed=(ALLOWED, check_allowed))
