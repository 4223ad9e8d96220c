#!/usr/bin/python3
"""solve where the cost jumps across the target: the threshold, and the cost on both sides.

    check_solve_jumps.py

Costs jump because of a scenario's own item, a rebate or a fee added to one option's migration. What
solve reports for both sides is typed in with --set and checked with `compare`; the same with ranges
must find the same threshold in every draw. PERTOKEN names the program.
"""
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


with tempfile.TemporaryDirectory() as scratch:
    for jump in JUMPS:
        count.test(f'{jump[1]} at {jump[2]} {jump[3]}', check_jump, scratch, *jump)
    count.test('with ranges', check_ranges, scratch)
    count.test('a pole', check_pole, scratch)
count.finish()
