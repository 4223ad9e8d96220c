#!/usr/bin/python3
"""What diff shows of the golden example and others like it, in JSON, as CSV and as a table.

PERTOKEN names the program. check_diff has what belongs together, at random too.
"""
import re

from support.golden import EXAMPLES, ODD, close, equal, narrow, run_golden_tests
from support.program import expect, run, run_csv, run_json


def test_diff_with_itself(folder):
    for path in (folder.golden, EXAMPLES[0]):
        result = run_json('diff', path, path)
        for key in ('only_a', 'only_b', 'items', 'inputs', 'options'):
            equal(result[key], [], f'{path.name} against itself: {key}')
        rows = [row for row in run_csv('diff', path, path) if row['table'] != 'warnings']
        equal(rows, [], f'{path.name} against itself: csv')
        expect('No difference' in run('diff', path, path, '-q').stdout, f'{path.name} against itself')


def test_diff(folder):
    other = folder.write('other.ini', ODD.replace('electricity_price = 0.08', 'electricity_price = 0.10')
                         .replace('discount = 14 %\nload_power = 1000', 'discount = 22 %\nload_power = 1000')
                         .replace('mi325x.discount = 22 %', 'mi325x.discount = 30 %'))
    result = run_json('diff', folder.golden, other)
    changed = [(i['option'], i['name'], i['a']['value'], i['b']['value']) for i in result['inputs']]
    equal(sorted(changed), [('h200', 'electricity_price', 0.08, 0.1), ('mi325x', 'discount', 14, 22),
                            ('mi325x', 'electricity_price', 0.08, 0.1)], 'inputs that differ')
    both = {o['id']: o for o in result['options']}
    equal({i: set(o['alone']) for i, o in both.items()},
          {'h200': {'electricity_price'}, 'mi325x': {'electricity_price', 'discount'}}, 'effects alone')
    for setting, name in (('electricity_price=0.10 USD/kWh', 'electricity_price'),
                          ('mi325x.discount=22 %', 'discount')):
        wanted = run_json('compare', folder.golden, '--set', setting)['options'][1]['items']['cost_per_mtok']
        equal(both['mi325x']['alone'][name]['cost_per_mtok'], wanted, f'{name} alone')
    mine, theirs = (run_json('compare', path)['options'][1]['items'] for path in (folder.golden, other))
    result = both['mi325x']['results']['cost_per_mtok']
    equal((result['a'], result['b']), (mine['cost_per_mtok'], theirs['cost_per_mtok']), 'both sides')
    equal(both['mi325x']['together']['cost_per_mtok'], theirs['cost_per_mtok'], 'together')
    close(result['change'], result['b'] / result['a'] - 1, 'change', 1e-12)
    text = run('diff', folder.golden, other, '-q').stdout
    for pattern in (r'^electricity_price +all options  0\.08 USD/kWh  +0\.1 USD/kWh$',
                    r'^discount +mi325x +14 % +22 %$', r'^all of them together +USD/Mtok +0\.\d{4} +-\d'):
        expect(re.search(pattern, text, re.M), f'{pattern} is not in\n{text}')
    narrow(text)
    dear = run_json('diff', folder.golden, other, '--case', 'dear')['inputs']
    equal([(i['option'], i['name'], i['b']['value']) for i in dear], [('mi325x', 'discount', 30)], '--case dear')


def test_diff_of_unlike(folder):
    """Options on one side only, an own line item, given compared with computed, bought compared with rented."""
    cut = ODD[:ODD.index('[option mi325x]')] + '[option b200]\naccelerator = b200-sxm-180\n' \
        'list_price = 41500 USD\nload_power = 1000 W\nthroughput = 9000 token/s\n'
    cut = cut.replace('throughput = 4202', 'idle_power = 90 W\nthroughput = 4202')
    cut += '[item insurance]\nlabel = Insurance\nunit = USD/yr\ngroup = opex\nformula = 0.4 %/yr * hardware_cost\n'
    result = run_json('diff', folder.golden, folder.write('cut.ini', cut))
    equal((result['only_a'], result['only_b']), (['mi325x'], ['b200']), 'options of one side')
    expect(any('insurance' in name for name in result['items']), 'own line items')
    reverse = run_json('diff', folder.write('cut.ini', cut), folder.golden)
    expect(any('insurance' in name for name in reverse['items']), 'own line items, of the first alone')
    (idle,) = result['inputs']
    equal((idle['name'], idle['a']['computed'], idle['a']['value'], idle['b']['value']),
          ('idle_power', True, 700, 90), 'computed against given')
    rented = ODD.replace('list_price = 35000 USD\ndiscount = 14 %', 'rental_rate = 3 USD/h')
    result = run_json('diff', folder.golden, folder.write('rented.ini', rented))
    (option,) = result['options']
    equal(set(option['alone']), {'bought_or_rented'}, 'renting is one change')
    equal(option['together']['cost_per_mtok'], option['results']['cost_per_mtok']['b'], 'rented')


def test_diff_csv(folder):
    rows = run_csv('diff', folder.golden, folder.with_options(2))
    equal({(r['table'], r['row'], r['value']) for r in rows if r['table'] == 'facts'},
          {('facts', 'only_a', 'h200, mi325x'), ('facts', 'only_b', 'candidate_0, candidate_1')}, 'options')
    other = folder.write('csv.ini', ODD.replace('wacc = 8', 'wacc = 9').replace('pue = 1.25', 'pue = 1.3'))
    rows = run_csv('diff', folder.golden, other)
    equal({r['table'] for r in rows}, {'inputs', 'h200', 'h200.alone', 'mi325x', 'mi325x.alone'}, 'tables')
    found = {(r['table'], r['row'], r['column']): r for r in rows}
    equal(found['inputs', 'h200.wacc', 'b.value']['value'], '9', 'an input')
    for table, row in {(r['table'], r['row']) for r in rows if '.alone' not in r['table'] and r['table'] != 'inputs'}:
        a, b, change = (float(found[table, row, column]['value']) for column in ('a', 'b', 'change'))
        close(change, b / a - 1 if a != b else 0, f'change of {row}')


if __name__ == '__main__':
    run_golden_tests(globals())
