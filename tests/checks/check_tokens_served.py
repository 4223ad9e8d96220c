#!/usr/bin/python3
"""A token without demand is not a product: what `demand` does to cost, power, rent and verdict.

Every figure here is computed from the description alone, in the comments beside it.
Seconds: 4
"""
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, expect, run, run_csv, run_json

# Eight accelerators at 1,000 token/s and 50 % serve 8 * 1000 * 0.5 * 31.536 = 126,144 Mtok a year.
HEAD = """\
[scenario]
title = Served
date = 2026-11-01
horizon = 2 yr
[common]
utilization = 50 %
pue = 1
electricity_price = 0.1 USD/kWh
idle_power = 100 W
load_power = 500 W
throughput = 1000 token/s
"""
H200, RACK, CARD = 'h200-sxm-141', 'gb200-nvl72', 'l40s-48'
YEAR_H = 8760
EIGHT = 126_144  # Mtok a year
DEMAND = 'demand = 100000 Mtok/yr\n'
BOUGHT = 'list_price = 10000 USD\n'


def option(name, keys, accelerator=H200):
    return f'[option {name}]\naccelerator = {accelerator}\n{keys}'


def told(folder, text, *arguments):
    path = Path(folder, 'served.ini')
    path.write_text(HEAD + text, encoding='utf-8')
    return run_json('compare', path, *arguments)


def items_of(folder, text, *arguments):
    return {one['id']: one['items'] for one in told(folder, text, *arguments)['options']}


def near(found, wanted, what):
    expect(found is not None and abs(found - wanted) <= 1e-9 * max(abs(wanted), 1e-9), f'{what}: {found}, not {wanted}')


def check_dearer_option_does_not_win(folder):
    """Both meet 700,000 Mtok a year; the more expensive one could serve 16.8 % more, for which there
    is no demand."""
    common = 'demand = 700000 Mtok/yr\n'
    cheap = option('cheap', 'throughput = 1000 token/s\nlist_price = 14000 USD\n')    # 48 of them
    dear = option('dear', 'throughput = 1750 token/s\nlist_price = 24600 USD\n')      # 32, 16.8 % over
    answer = told(folder, common + cheap + dear)
    items = {one['id']: one['items'] for one in answer['options']}
    near(items['cheap']['accelerators'], 48, 'accelerators of the cheap one')
    near(items['dear']['accelerators'], 32, 'accelerators of the dear one')
    expect(items['dear']['tco'] > items['cheap']['tco'], 'the dear one is dearer')
    capacity = {name: one['accelerators'] * one['tokens_per_gpu'] for name, one in items.items()}
    expect(items['dear']['tco'] / capacity['dear'] < items['cheap']['tco'] / capacity['cheap'],
           'by capacity, the dear one would win')
    near(items['dear']['tokens_total'], 1.4e12, 'tokens served')
    near(items['dear']['headroom_least'], 100 * (32 / 8 * 1.75 * EIGHT / 700000 - 1), 'headroom')
    expect(answer['cheapest'] == ['cheap'], f'the cheapest: {answer["cheapest"]}')


# What is given for option a in addition to a throughput, and the results: item -> value.
LOAD = 100_000 / EIGHT * 0.5        # the share of the time in use, at 50 % when all is sold
CASES = {
    'load drives power': (DEMAND + BOUGHT, H200, {
        'accelerators': 8, 'load': [0, 100 * LOAD, 100 * LOAD], 'average_power': 100 + 400 * LOAD,
        'power_total': 8 * (0.1 + 0.4 * LOAD) * YEAR_H * 2 * 0.1, 'tokens_total': 2e11,
        'headroom_least': 100 * (EIGHT / 100_000 - 1), 'unmet_total': 0, 'coverage': 100}),
    'without a demand, utilization does': (BOUGHT + 'accelerators = 8\n', H200, {
        'load': [0, 50, 50], 'average_power': 300, 'tokens_total': 2 * EIGHT * 1e6}),
    'rent around the clock bills every hour': (DEMAND + 'rental_rate = 2 USD/h\n', H200, {
        'accelerators': 7, 'rental_total': 7 * 2 * YEAR_H * 2}),
    'rent on demand bills the hours in use': (DEMAND + 'on_demand_rate = 2 USD/h\n', H200, {
        'accelerators': 7, 'rental_total': 2 * 100_000e6 * 2 / (1000 * 3600)}),
    'on demand without a demand': ('on_demand_rate = 2 USD/h\naccelerators = 8\n', H200, {
        'rental_total': 8 * 2 * YEAR_H * 2 * 0.5}),
    'a rack is sold whole': (DEMAND + BOUGHT, RACK, {'accelerators': 72, 'nodes': 18}),
    'cards are sold singly': (DEMAND + BOUGHT, CARD, {'accelerators': 7, 'nodes': 1}),
    'servers of one\'s own': (DEMAND + BOUGHT + 'accelerators_per_node = 3\n', H200, {
        'accelerators': 9, 'nodes': 3}),
    'a unit of one\'s own': (DEMAND + BOUGHT + 'purchase_unit = 5\n', H200, {'accelerators': 10, 'nodes': 2}),
    'units do not bind rent': (DEMAND + 'rental_rate = 2 USD/h\n', RACK, {'accelerators': 7}),
    'a count beside a demand': (DEMAND + BOUGHT + 'accelerators = 4\n', H200, {
        'accelerators': 4, 'coverage': EIGHT / 2 / 1000, 'demand_met': EIGHT / 2 / 1000,
        'unmet_total': 2 * (100_000 - EIGHT / 2) * 1e6, 'tokens_total': EIGHT * 1e6,
        'headroom_least': EIGHT / 2 / 1000 - 100}),
    'the rest bought by the token': (DEMAND + BOUGHT + 'accelerators = 4\nburst_price = 0.5 USD/Mtok\n', H200, {
        'tokens_total': 2e11, 'unmet_total': 0, 'demand_met': 100, 'coverage': 100,
        'burst_total': 2 * (100_000 - EIGHT / 2) * 0.5, 'load': [0, 50, 50]}),
    'the rest bought by the hour': (DEMAND + BOUGHT + 'accelerators = 4\nburst_rate = 3 USD/h\n', H200, {
        'tokens_total': 2e11, 'unmet_total': 0,
        'burst_total': 2 * (100_000 - EIGHT / 2) * 1e6 / (1000 * 3600 * 0.5) * 3}),
    # Half a year of ramp serves a quarter less in the first year.
    'unmet in one year': (DEMAND + BOUGHT + 'ramp = 6 month\n', H200, {
        'demand_met': 0.75 * EIGHT / 1000, 'headroom_least': 0.75 * EIGHT / 1000 - 100,
        'unmet_total': (100_000 - 0.75 * EIGHT) * 1e6}),
}


def check_items(folder, keys, accelerator, wanted):
    items = items_of(folder, option('a', keys, accelerator))['a']
    for item, value in wanted.items():
        if isinstance(value, list):
            for t, one in enumerate(value):
                near(items[item][t], one, f'{item}[{t}]')
        else:
            near(items[item], value, item)


def check_adds_up(folder):
    """Input and output, undiscounted and levelized; and the levelized hour."""
    items = items_of(folder, option('a', BOUGHT + 'accelerators = 8\nwacc = 9 %/yr\ndecode_throughput = 1500 token/s\n'
                                    'prefill_throughput = 9000 token/s\ninput_tokens = 2000 token\n'
                                    'output_tokens = 500 token\n'))['a']
    for measure in ('', 'levelised_'):
        parts = (4 * items[measure + 'cost_per_mtok_input'] + items[measure + 'cost_per_mtok_output'])
        near(parts, items[measure + 'cost_per_mtok'], f'{measure}input and output')
    hours = 8 * YEAR_H * (1 / 1.09 + 1 / 1.09 ** 2)
    near(items['levelised_cost_per_gpu_hour'], items['npv_cost'] / hours, 'a levelised hour')


FACES = DEMAND + option('a', BOUGHT) + option('b', BOUGHT + 'accelerators = 4\n') + option('c', 'on_demand_rate = 1 USD/h\n')


def check_said_on_faces(folder):
    """Headroom, and which option falls short by how much, on the terminal, in CSV and in JSON."""
    answer = told(folder, FACES)
    expect(answer['not_ranked'] == {'b': 'at worst it serves 63.1 % of the demand'}, answer['not_ranked'])
    path = Path(folder, 'served.ini')
    rows = {(row['option'], row['item']): row['value'] for row in run_csv('compare', path) if not row['period']}
    near(float(rows['b', 'unmet_total']), 2 * (100_000 - EIGHT / 2) * 1e6, 'unmet in CSV')
    near(float(rows['a', 'headroom_least']), 26.144, 'headroom in CSV')
    shown = run('compare', path, '-q', environment={'COLUMNS': '200'}).stdout
    for text in ('Minimum headroom', '26.1', 'Demand not served', 'Not ranked: b: at worst it serves 63.1 %'):
        expect(text in shown, f'{text!r} is not in:\n{shown}')


def check_whole_units(folder):
    for keys, accelerator, wanted in ((BOUGHT + 'accelerators = 80\n', RACK, 'sold in units of 72: 144 must be bought'),
                                      (BOUGHT + 'accelerators = 12\n', H200, 'sold in units of 8: 16 must be bought'),
                                      (BOUGHT + 'accelerators = 144\n', RACK, None),
                                      (BOUGHT + 'accelerators = 5\n', CARD, None),
                                      ('rental_rate = 2 USD/h\naccelerators = 12\n', H200, None)):
        warnings = ' '.join(told(folder, option('a', keys, accelerator))['options'][0]['warnings'])
        expect(wanted in warnings if wanted else 'sold in' not in warnings, f'{keys}: {warnings}')


BAD = {
    'a burst without a demand': ('accelerators = 8\n' + BOUGHT + 'burst_price = 1 USD/Mtok\n',
                                 "'burst_price' has no effect on option 'a' without 'demand'"),
    'two bursts': (DEMAND + BOUGHT + 'burst_price = 1 USD/Mtok\nburst_rate = 1 USD/h\n',
                   "has both 'burst_rate' and 'burst_price'"),
    'two rents': (DEMAND + 'rental_rate = 1 USD/h\non_demand_rate = 1 USD/h\n',
                  "has both 'rental_rate' and 'on_demand_rate'"),
    'bought and rented on demand': (DEMAND + BOUGHT + 'on_demand_rate = 1 USD/h\n',
                                    "has both 'list_price' and 'on_demand_rate'"),
    'half a rack': (DEMAND + BOUGHT + 'purchase_unit = 0.5\n', "'purchase_unit' must be at least 1 gpu"),
}


def check_rents_told(folder):
    """A rent that an option does not pay is not one of 0 USD."""
    told(folder, option('always', 'accelerators = 8\nrental_rate = 2 USD/gpu/h\n') +
         option('used', 'accelerators = 8\non_demand_rate = 5 USD/gpu/h\n'))
    lines = run('compare', Path(folder, 'served.ini'), '-q', environment={'COLUMNS': '200'}).stdout.splitlines()
    rents = {line.split('  ')[0]: line.split()[-2:] for line in lines if line.startswith('Rent ')}
    expect(rents['Rent per accelerator-hour, around the clock'] == ['2', '-'], rents)
    expect(rents['Rent on demand per accelerator-hour in use'] == ['-', '5'], rents)


def check_refused(folder, keys, message):
    path = Path(folder, 'bad.ini')
    path.write_text(HEAD + option('a', keys), encoding='utf-8')
    done = run('compare', path)
    expect(done.returncode == BAD_INPUT and message in done.stderr, f'exit {done.returncode}: {done.stderr}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-served-') as folder:
        count.test('the dearer option does not win', check_dearer_option_does_not_win, folder)
        for name, case in CASES.items():
            count.test(name, check_items, folder, *case)
        count.test('input and output add up', check_adds_up, folder)
        count.test('said on every face', check_said_on_faces, folder)
        count.test('a count that is not whole units', check_whole_units, folder)
        count.test('the rents that are paid', check_rents_told, folder)
        for name, case in BAD.items():
            count.test(name, check_refused, folder, *case)
    count.finish()


if __name__ == '__main__':
    main()
