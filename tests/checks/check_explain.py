#!/usr/bin/python3
"""What explain shows of the golden example: a tree of formulas down to the inputs, all of which some result reaches.

PERTOKEN names the program.
Seconds: 4
"""
import re

from support.golden import EXAMPLES, close, equal, run_golden_tests
from support.program import expect, run, run_json


def inputs_below(step):
    if step['kind'] == 'input':
        return {step['name']}
    return set().union(*(inputs_below(s) for s in step.get('from', [])))


# The cost of a token first; then what follows from inputs that it does not: the finance views' own, sales, a site's.
LEADS = ('levelised_cost_per_mtok', 'cost_per_mtok', 'book_cost_per_mtok', 'after_tax_price_per_mtok',
         'loan_cost_per_mtok', 'lease_cost_per_mtok', 'npv', 'carbon_per_mtok', 'site_excess')


def test_explain_reaches_every_input(folder):
    for path in (folder.golden, *EXAMPLES):
        for option in run_json('compare', path)['options'][:2]:
            missing = set(option['inputs']) - {'demand', 'purchase_unit'}  # besides accelerators: for coverage, and a warning
            for item in LEADS:
                if missing and item in option['items']:
                    missing -= inputs_below(run_json('explain', path, f"{option['id']}.{item}")['derivation'])
            equal(missing, set(), f"{path.name}: inputs of {option['id']} that are not reached")


def test_explain_values(folder):
    items = run_json('compare', folder.golden)['options'][1]['items']

    def walk(step):
        if step['kind'] == 'item':
            value = step.get('values', step.get('value'))
            equal(value, items[step['name']], step['name'])
            for below in step.get('from', []):
                walk(below)

    walk(run_json('explain', folder.golden, 'mi325x.levelised_cost_per_mtok')['derivation'])


def test_explain_text(folder):
    done = run('explain', folder.golden, 'mi325x.cost_per_mtok', '-q')
    for pattern in (r'^cost_per_mtok = 0\.1523497837 USD/Mtok  \u2190  tco / tokens_total$',
                    r'discount = 14 %  \[assumed\]  \(.*golden\.ini:\d+\)$',
                    r'accelerators = 800 gpu  \(see above\)$', r'spares = 0 %  \[default\]$',
                    r'cash = \[0\] 24,533,600, \[1-3\] 2,452,384 USD  '):
        expect(re.search(pattern, done.stdout, re.M), f'{pattern} is not in\n{done.stdout}')
    lines = [line for line in done.stdout.splitlines() if '\u2190' in line]
    names = [re.search(r'(\w+) = ', line).group(1) for line in lines]
    equal(len(names), len(set(names)), 'formulas that stand twice')
    plain = run('explain', folder.golden, 'mi325x.cost_per_mtok', '-q', environment={'LC_ALL': 'C'})
    expect('|- tco = 31,890,752 USD  <-  sum(cash)' in plain.stdout, 'the tree in ASCII')
    source = run('explain', folder.golden, 'h200.throughput', '-q').stdout
    expect('[claim]  =HYPERLINK("x"), a claim' in source, source)


def test_explain_series(folder):
    text = run('explain', folder.golden, 'mi325x.cash', '-q').stdout
    expect('cash = [0] 24,533,600, [1-3] 2,452,384 USD' in text, 'periods')
    step = run_json('explain', folder.golden, 'mi325x.cumulative_cash@2')
    equal(step['period'], 2, 'period')
    close(step['derivation']['value'], 24533600 + 2 * 2452384, 'cumulative_cash@2')
    equal([(s['name'], s.get('period')) for s in step['derivation']['from']],
          [('cumulative_cash', 1), ('cash', 2)], 'what it follows from')
    case = run('explain', folder.golden, 'mi325x.tariff@1', '--case', 'dear', '-q').stdout
    expect('tariff[1] = 0.14 USD/kWh' in case and 'case dear' in case, case)


if __name__ == '__main__':
    run_golden_tests(globals())
