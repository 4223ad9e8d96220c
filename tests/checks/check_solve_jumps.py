#!/usr/bin/python3
"""solve where the cost jumps across the target: the threshold, and the cost on both sides; and where it crosses the
target several times, or equals it over a stretch of values.

    check_solve_jumps.py

In the first part costs jump because of a scenario's own item, a rebate or a fee added to one option's migration. What
solve reports for both sides is typed in with --set and checked with `compare`; the same with ranges
must find the same threshold in every draw. In the second they rise and fall like a saw's teeth, as a demand needs whole
nodes. PERTOKEN names the program.
"""
import re
import tempfile
from pathlib import Path

from support.program import Count, NO, DONE, expect, near, run, run_csv, run_json

SCENARIO = '''[scenario]
title = Jumps
date = 2026-11-01
horizon = 3 yr
baseline = a
[common]
accelerators = 8
accelerators_per_node = 8
electricity_price = 0.1 USD/kWh
pue = 1.2
utilization = 60 %
load_power = 700 W
throughput = 2000 token/s
[option a]
accelerator = h200-sxm-141
list_price = 20000 USD
[option b]
accelerator = h200-sxm-141
list_price = 20000 USD
migration_cost = 100000 USD
[item fee]
label = Fee
unit = USD
group = capex
'''
# The fee's formula; the input; the threshold and its unit; the side on which it costs less; whether
# integers.
JUMPS = [
    ('migration_cost * (if(electricity_price > 0.0943 USD/kWh, -0.1, 0.2) - 1)', 'electricity_price',
     0.0943, 'USD/kWh', 'above'),
    ('migration_cost * (if(delivered > 94.33 %, -0.3, 0.1) - 1)', 'b.delivered', 94.33, '%', 'above'),
    ('migration_cost * (if(accelerators_per_node > 8, -0.2, 0.2) - 1)', 'b.accelerators_per_node', 9, 'gpu/node',
     'above'),
    ('migration_cost * (if(accelerators_per_node > 8, 0.2, -0.2) - 1)', 'b.accelerators_per_node', 8, 'gpu/node',
     'below'),
]
count = Count()


def scenario(folder, formula, more=''):
    path = Path(folder) / 'jumps.ini'
    path.write_text(f'{SCENARIO}formula = {formula}\n{more}', encoding='utf-8')
    return path


def gap_with(path, name, value, unit):
    """The cost of b over that of a, less 1, with a value typed in."""
    answer = run_json('compare', path, '--set', f'{name}={value!r} {unit}')
    costs = {option['id']: option['items']['cost_per_mtok'] for option in answer['options']}
    return costs['b'] / costs['a'] - 1


def check_jump(folder, formula, name, threshold, unit, cheap):
    path = scenario(folder, formula)
    found = run_json('solve', path, '--option', 'b', '--for', name)
    sides = found['sides']
    expect(len(found['values']) == 1 and near(found['values'][0], threshold, 1e-12), found['values'])
    expect(near(found['values'][0], sides[cheap][0], 1e-15), sides)
    for side in ('below', 'above'):
        away = sides[side][0] * (1 if unit == 'gpu/node' else 1 + 1e-9 * (1 if side == 'above' else -1))
        gap = gap_with(path, name, away, unit)
        expect(near(sides[f'gap_{side}'][0], gap, 1e-6), (side, gap, sides))
        expect((gap <= 0) == (side == cheap), (side, gap))
    row = run_csv('solve', path, '--option', 'b', '--for', name)[0]
    expect(near(float(row['gap_below']), sides['gap_below'][0]), row)
    words = run('solve', path, '--option', 'b', '--for', name, '-q')
    text = ' '.join(words.stdout.split())
    expect(words.returncode == DONE and f'no more than a {"from" if cheap == "above" else "up to"} '
           in text, text)
    expect('more than a' in text and 'less than a' in text, text)


def check_ranges(folder):
    """The threshold does not depend on what is drawn."""
    formula, name, threshold = JUMPS[1][:3]
    path = scenario(folder, formula, '[range]\nelectricity_price = uniform(0.05, 0.2) USD/kWh\n')
    ranges = run_json('solve', path, '--option', 'b', '--for', name, '--draws', '200')['ranges']
    expect(ranges['found'] == 1, ranges)
    expect(near(ranges['percentiles']['P5'], threshold, 1e-9), ranges)


def check_pole(folder):
    """Where the cost has a pole, nothing is reported as found."""
    path = scenario(folder, 'migration_cost * 0.1 / (delivered - 50 %)')
    found = run_json('solve', path, '--option', 'b', '--for', 'b.delivered', '--between', '40:60 %',
                     statuses=(DONE, NO))
    expect(found['values'] == [] or not near(found['values'][0], 50, 1e-6), found)


TEETH = '''[scenario]
title = Teeth
date = 2026-11-20
horizon = 3 yr
baseline = a
[workload]
utilization = 70 %
[common]
demand = 1000000 Mtok/yr
node_price = 60000 USD
host_power = 300 W/gpu
load_power = 700 W/gpu
pue = 1.25
electricity_price = 0.08 USD/kWh
network_price = 4247 USD/gpu
support = 4 %/yr
engineer_cost = 280000 USD/yr
[option a]
label = A
accelerator = h200-sxm-141
list_price = 30000 USD
throughput = 2000 token/s
[option b]
label = B
accelerator = h200-sxm-141
'''
SAME = 'list_price = 30000 USD\nthroughput = 2000 token/s\n'
FIXED = 'list_price = 20000 USD\nthroughput = 2000 token/s\naccelerators = 16\n'
NARROW = 'list_price = 20800 USD\nthroughput = 2000 token/s\nengineers = 10 FTE\naccelerators = 792\n'
SINGLE = 'list_price = 28450 USD\nthroughput = 2000 token/s\nengineers = 2 FTE\naccelerators = 800\n'
SLOW = 'list_price = 20000 USD\nthroughput = 1500 token/s\n'
# What b states; the demand; the input that is solved for; what the answer begins with.
SENTENCES = [
    (FIXED, 1e6, 'accelerators', 'B costs no more than A from b.accelerators = 3 gpu up to 30 gpu; '),
    (NARROW, 35e6, 'accelerators',
     'B costs no more than A from b.accelerators = 783 gpu up to 784 gpu and from 786 gpu up to 794 gpu; '),
    (SLOW, 1e6, 'demand', 'B costs no more than A from b.demand = 773,210 Mtok/yr up to 794,700 Mtok/yr, from '),
    (SLOW, 1000020, 'throughput', 'B costs no more than A from b.throughput = 1,887.6 token/s/gpu; '),
    (SAME, 1e6, 'electricity_price', 'B costs as much as A at every value of electricity_price; '),
    (SAME, 1e6, 'wacc', 'B costs as much as A at every value of wacc; '),
    (SAME, 1e6, 'list_price', 'B costs as much as A at b.list_price = 30,000 USD/gpu; '),
    (SAME, 1e6, 'software_licence', 'B costs as much as A at b.software_licence = 0 USD/gpu/yr; '),
    (SAME, 1e6, 'throughput', 'B costs no more than A from b.throughput = 1,887.5 token/s/gpu; '),
]


def teeth(folder, stated, demand):
    path = Path(folder) / 'teeth.ini'
    path.write_text(TEETH.replace('demand = 1000000', f'demand = {demand:.0f}') + stated, encoding='utf-8')
    return path


def check_sentence(folder, stated, demand, name, begins):
    path = teeth(folder, stated, demand)
    found = run_json('solve', path, '--option', 'b', '--for', name)
    expect(found['answer'].startswith(begins) and not found['no'], found['answer'])
    for end, value in re.findall(r'(from|up to) (?:b\.\w+ = )?([\d,.e+]+) ', found['answer']):
        gap = gap_with(path, f'b.{name}', float(value.replace(',', '')), found['unit'])
        expect(gap < 1e-9, f'{end} {value}: {gap}')
    expect(run('solve', path, '--option', 'b', '--for', name, '-q').returncode == DONE, 'exit status')


def check_every_number(folder, stated, demand):
    """The stretches of whole numbers against a grid of all of them; one of them may be a single number."""
    path = teeth(folder, stated, demand)
    grid = run_json('sensitivity', path, '--option', 'b', '--grid', 'b.accelerators=700:900:1')
    cheap = {value for value, (saving,) in zip(grid['axes'][0]['values'], grid['saving']) if saving >= 0}
    said = run_json('solve', path, '--option', 'b', '--for', 'accelerators')['answer'].partition(';')[0]
    found = set()
    for low, high in re.findall(r'(?:from|at) (?:b\.accelerators = )?(\d+) gpu(?: up to (\d+) gpu)?', said):
        found |= set(range(int(low), int(high or low) + 1))
    expect(found and found == cheap, f'{said}: {sorted(cheap)}')


def check_ties(folder):
    """Both ends of the stretch over which the costs are the same, and their costs."""
    found = run_json('solve', teeth(folder, SAME, 1e6), '--option', 'b', '--for', 'throughput')
    low, high = found['values']
    expect(near(low, 1887.48761808, 1e-9) and near(high, 2831.23142641, 1e-9), found['values'])
    sides = found['sides']
    expect(near(sides['gap_below'][0], 1 / 3, 1e-6) and near(sides['gap_above'][1], -1 / 3, 1e-6), sides)
    expect(sides['gap_above'][0] == 0 and sides['gap_below'][1] == 0, sides)


def check_beyond(folder):
    """The value at which it ceases to hold is found far above the one from which it holds."""
    formula = ('migration_cost * (if(electricity_price > 3 USD/kWh, 0.2, '
               'if(electricity_price > 0.15 USD/kWh, -0.1, 0.2)) - 1)')
    found = run_json('solve', scenario(folder, formula), '--option', 'b', '--for', 'electricity_price')
    expect('no more than a from electricity_price = 0.15 USD/kWh up to 3 USD/kWh; ' in found['answer'], found['answer'])


def check_capped(folder):
    """Damages above their cap change nothing: the search ends there."""
    path = Path(folder, 'capped.ini')
    late = 'delivery_delay = 3 month\ndelay_damages = 0.5 %\ndelay_damages_limit = 6 %\n'
    path.write_text(SCENARIO.split('[option')[0] + f'[option a]\naccelerator = h100-sxm5-80\nlist_price = 30000 USD\n{late}'
                    '[option b]\naccelerator = h100-sxm5-80\nlist_price = 10000 USD\n', encoding='utf-8')
    for more, end in (('', '6 %'), ('[range]\na.delay_damages_limit = uniform(5, 7) %\n', '100 %')):
        path.write_text(path.read_text(encoding='utf-8') + more, encoding='utf-8')
        done = run('solve', path, '-q', '--option', 'a', '--match', 'b', '--for', 'delay_damages')
        expect(f'No value of a.delay_damages in [0 %, {end}] makes' in ' '.join(done.stdout.split()), done.stdout + done.stderr)


def check_alike(folder):
    """What moves both costs alike has no effect on which is less, though it has one on each."""
    path = scenario(folder, '0 * migration_cost')
    for item, target, effect in (('utilization', (), 'how the two compare'), ('repair_cost', (), 'how the two compare'),
                                 ('repair_cost', ('--target', '9 USD/Mtok'), 'that cost')):
        done = run('solve', path, '--option', 'b', '--for', item, *target, '-q')
        said = ' '.join(done.stdout.split())
        expect(done.returncode == NO and f': it has no effect on {effect}; now, at ' in said, said)


# What an input moves instead of the cost, and the command that shows it.
ELSEWHERE = {
    'wacc': 'the undiscounted cost, only on the levelized one, which compare shows',
    'tax_rate': 'the cost before tax, only on that after tax, which finance shows',
    'bonus_depreciation': 'the cost before tax, only on that after tax, which finance shows',
    'loan_rate': 'the cost without the loan, only on that with it, which finance shows',
    'lease_rate': 'the cost without the lease, only on that with it, which finance shows',
    'sold_share': 'the cost, only on the margin, which finance shows',
}
FINANCED = ('wacc = 8 %/yr\ntax_rate = 30 %\nloan_share = 50 %\nloan_rate = 6 %/yr\nloan_term = 3 yr\nlease_rate = 7 %/yr\n'
            'lease_term = 3 yr\ntoken_price_output = 1 USD/Mtok\n')


def check_elsewhere(folder):
    """An input without effect on the cost that is compared may move another, which is named."""
    path = scenario(folder, '0 * migration_cost')
    path.write_text(path.read_text(encoding='utf-8').replace('[option a]', f'{FINANCED}[option a]'), encoding='utf-8')
    for item, effect in ELSEWHERE.items():
        for target in ((), ('--target', '9 USD/Mtok')):
            done = run('solve', path, '--option', 'b', '--for', item, *target, '-q')
            said = ' '.join(done.stdout.split())
            expect(done.returncode == NO and f': it has no effect on {effect}; now, at ' in said, said)


def check_price_terms(folder):
    """What moves with a price is told where a price is solved for, not a size that happens to change the purchases."""
    path = Path(folder, 'terms.ini')
    grows = 'demand = 1000000 Mtok/yr\ndemand_growth = 20 %/yr\nprice_decline = 10 %/yr\nsupport = 4 %/yr\n'
    text = SCENARIO.split('[item')[0].replace('accelerators = 8\n', grows)
    path.write_text(f'{text}throughput = 2200 token/s\n', encoding='utf-8')
    for item, told in (('demand', []), ('utilization', []), ('list_price', ['b']), ('price_decline', ['b'])):
        found = run_json('solve', path, '--option', 'b', '--for', item)
        terms = [f'Moves with the price of {option}: support' for option in told]
        expect(found['values'] and [note for note in found['notes'] if note.startswith('Moves')] == terms, f'{item}: {found}')


def check_nothing(folder):
    """Beside an option that costs nothing there is no ratio: the costs themselves meet, at 8 x 10000 USD."""
    free = ['--set=a.discount=100 %', '--set=electricity_price=0 USD/kWh']
    path = scenario(folder, 'if(migration_cost > 0 USD, -180000 USD, 0 USD)')
    found = run_json('solve', path, '--option', 'b', '--for', 'list_price', *free)
    expect(near(found['values'][0], 10000) and found['gaps']['base'] is None, found)
    expect(re.search(r'; now, at 20,000 USD/gpu, it costs [\d.]+ USD/Mtok\.$', found['answer']), found['answer'])
    found = run_json('solve', path, '--option', 'b', '--for', 'list_price', '--target', '1 USD/Mtok', *free)
    expect(re.search(r'it costs [\d.]+ USD/Mtok\.$', found['answer']), found['answer'])
    dear = run('solve', path, '--option', 'b', '--for', 'list_price', *free, '--between', '15000:20000 USD/gpu', '-q')
    expect(dear.returncode == NO and re.search(r'at 15,000 USD/gpu it costs [\d.]+ USD/Mtok', dear.stdout), dear.stdout)


with tempfile.TemporaryDirectory() as scratch:
    for jump in JUMPS:
        count.test(f'{jump[1]} at {jump[2]} {jump[3]}', check_jump, scratch, *jump)
    count.test('with ranges', check_ranges, scratch)
    count.test('a pole', check_pole, scratch)
    for sentence in SENTENCES:
        count.test(f'{sentence[2]}: {sentence[3]}', check_sentence, scratch, *sentence)
    count.test('every number', check_every_number, scratch, NARROW, 35e6)
    count.test('a single number', check_every_number, scratch, SINGLE, 35e6)
    count.test('ties', check_ties, scratch)
    count.test('beyond', check_beyond, scratch)
    count.test('capped', check_capped, scratch)
    count.test('alike', check_alike, scratch)
    count.test('elsewhere', check_elsewhere, scratch)
    count.test('price terms', check_price_terms, scratch)
    count.test('beside nothing', check_nothing, scratch)
count.finish()
