#!/usr/bin/python3
"""What compare shows, in JSON, as CSV and as a table, of the golden example and of every example.

PERTOKEN names the program. The golden example's numbers are those of the cost model's description.
Seconds: 3
"""
import csv
import functools
import io
import re

from support.golden import EXAMPLES, ODD, close, equal, narrow, run_golden_tests
from support.program import BAD_INPUT, ROOT, expect, run, run_csv, run_json

GRADES = ('measured', 'quoted', 'benchmark', 'published', 'projected', 'claim', 'assumed')
GOLDEN_VALUES = {
    'accelerators_bought': (800, 800), 'nodes': (100, 100), 'net_price': (30100, 18920),
    'hardware_cost': (33477600, 24533600), 'it_power': (800, 1040), 'capex': (33477600, 24533600),
    'power_total': (1787040, 2323152), 'cooling_total': (315360, 409968),
    'support_total': (4017312, 2944032), 'engineering_total': (0, 1680000),
    'opex_total': (6119712, 7357152), 'tco': (39597312, 31890752),
    'tokens_total': (2.22623977e14, 2.093258765e14), 'cost_per_mtok': (0.1778663401, 0.1523497837),
    'levelised_cost_per_mtok': (0.202543342, 0.1715828433),
    'cost_per_gpu_hour': (1.88343379, 1.516873668), 'energy_per_token': (0.4249677025, 0.5875546878),
}
GOLDEN_SAVING = 0.143459163807372


def test_golden_json(folder):
    result = run_json('compare', folder.golden)
    equal(result['schema'], 1, 'schema')
    scenario = result['scenario']
    equal((scenario['title'], scenario['horizon'], scenario['case'], scenario['date']),
          ('Golden example, M\u00fcnchen', 3, 'base', '2026-11-01'), 'scenario')
    expect(re.fullmatch('[0-9a-f]{64}', scenario['sha256']), 'sha256')
    options = result['options']
    equal([o['id'] for o in options], ['h200', 'mi325x'], 'ids')
    equal([o['accelerator'] for o in options], ['h200-sxm-141', 'mi325x-256'], 'accelerators')
    for name, values in GOLDEN_VALUES.items():
        for option, wanted in zip(options, values):
            close(option['items'][name], wanted, f"{option['id']}.{name}")
    equal((result['baseline'], list(result['saving'])), ('h200', ['mi325x']), 'saving')
    close(result['saving']['mi325x'], GOLDEN_SAVING, 'saving', 1e-12)
    h200, mi325x = (o['items']['levelised_cost_per_mtok'] for o in options)
    close(result['saving_levelised']['mi325x'], 1 - mi325x / h200, 'saving_levelised', 1e-12)
    equal((result['mixed'], 'mixed_reason' in result), (False, False), 'mixed')


# What a program that reads compare's JSON may rely on: schema 1.
PUBLISHED = {
    (): {'schema', 'scenario', 'units', 'options', 'baseline', 'saving', 'saving_levelised', 'difference', 'mixed',
         'warnings'},
    ('scenario',): {'title', 'horizon', 'sha256', 'case', 'date', 'currency'},
    ('options', 0): {'id', 'accelerator', 'grade', 'grades', 'workload', 'items', 'inputs', 'decode_only',
                     'not_included', 'warnings'},
    ('options', 0, 'grades'): {'throughput', 'power', 'price'},
    ('options', 0, 'inputs', 'wacc'): {'value', 'unit', 'source', 'date', 'grade'},
    ('difference',): {'units', 'options'},
    ('difference', 'options', 'mi325x'): {'dearer_purchase', 'extra_outlay', 'saved', 'npv_saved', 'payback',
                                          'discounted_payback', 'irr'},
}


def test_published_keys(folder):
    for path in (folder.golden, ROOT / 'examples' / 'mi325x-vs-h200.ini'):
        result = run_json('compare', path)
        equal(result['schema'], 1, 'schema')
        for way, keys in PUBLISHED.items():
            there = result
            for key in way:
                there = there[key]
            equal(keys - set(there), set(), f'{path.name}: keys gone from {way}')


@functools.lru_cache
def compared(path):
    return run_json('compare', path)


def test_json_shape(folder):
    for path in (folder.golden, *EXAMPLES):
        result = compared(path)
        for option in result['options']:
            items = option['items']
            equal(set(items) - set(result['units']), set(), f'{path.name}: items without a unit')
            expect({'accelerators', 'throughput', 'tco'} <= set(items), f'{path.name}: items')
            expect(not any(name.startswith('check_') for name in items), f'{path.name}: checks among items')
            periods = len(items['cash'])
            for name, value in items.items():
                if isinstance(value, list):
                    equal(len(value), periods, f'{path.name}: periods of {name}')
            equal(items['operating'], [0] + [1] * (periods - 1), f'{path.name}: operating')
            close(sum(items['cash']), items['tco'], f'{path.name}: sum(cash)')
            equal(set(option['grades']), {'throughput', 'power', 'price'}, 'grades')
            grades = set(option['grades'].values()) | {option['grade']}
            absent = {None} if option['accelerator'] is None else set()  # a token API has no throughput or power
            expect(grades <= set(GRADES) | absent, 'unknown grade')
            for name, figure in option['inputs'].items():
                equal(set(figure), {'value', 'unit', 'source', 'date', 'grade'}, f'input {name}')
                expect(figure['grade'] in GRADES, f'grade of {name}')
        equal(len(result['saving']), len(result['options']) - 1, f'{path.name}: savings')


def shortest(value):
    """As few digits as it takes to read back the same number, from 15 to 17."""
    return next(text for text in (f'{value:.{digits}g}' for digits in (15, 16, 17)) if float(text) == value)


def test_digits(folder):
    """Every number is exactly the double, with no more digits than necessary, on every face for programs."""
    faces = {'json': r'(?<=[ \[])-?\d+\.\d+(?:e[-+]?\d+)?(?=[,\n])', 'csv': r'(?<=,)-?\d+\.\d+(?:e[-+]?\d+)?(?=[,\n])'}
    for face, pattern in faces.items():
        text = ''.join(run(command, folder.golden, '--format', face, '-q').stdout for command in ('compare', 'sensitivity'))
        numbers = re.findall(pattern, text)
        expect(len(numbers) > 100, f'{face}: too few numbers')
        for number in numbers:
            value = float(number)
            equal(number if number != f'{value:.1f}' else shortest(value), shortest(value), f'{face}: digits')
            expect(not number.startswith('-0.0') or value, 'minus zero')
        expect(any(len(re.sub(r'^-?0*\.?0*|\.|e.*', '', n)) == 17 for n in numbers), f'{face}: no number has 17 digits')


# What is typed, and how a face for programs shows it: the value, its unit, and the text.
TYPED = [('availability', '98 %', 98, '%'), ('pue', '1.3', 1.3, '-'), ('wacc', '7.5 %/yr', 7.5, '%/yr'),
         ('electricity_price', '0.07 USD/kWh', 0.07, 'USD/kWh'), ('horizon', '3 yr', 3, 'yr')]


def test_inputs_as_typed(folder):
    """An input is shown in the unit that its column names, as typed: 98 % is 98 and %, and a day is a day."""
    settings = [word for name, text, _, _ in TYPED for word in ('--set', f'{name}={text}')]
    rows = run_csv('compare', folder.golden, *settings)
    for name, text, value, unit in TYPED:
        row = next(r for r in rows if r['item'] == name)
        equal((row['value'], row['unit']), (str(value), unit), name)
        explained = run_csv('explain', folder.golden, f'mi325x.{name}', *settings)[0]
        equal((explained['value'], explained['unit'], explained['text']), (str(value), unit, text), name)
    day = ('--set', 'horizon=1 day')
    expect('horizon 1 day,' in run('compare', folder.golden, '-q', *day).stdout, 'heading of a day')
    expect('horizon = 1 day ' in run('explain', folder.golden, 'mi325x.horizon', '-q', *day).stdout, 'explained day')


def test_units(folder):
    result = run_json('compare', folder.golden)
    for name, unit in (('tco', 'USD'), ('cost_per_mtok', 'USD/Mtok'), ('it_power', 'kW'), ('cash', 'USD'),
                       ('energy_per_token', 'J/token'), ('cost_per_gpu_hour', 'USD/h')):
        equal(result['units'][name], unit, f'unit of {name}')
    inputs = result['options'][0]['inputs']
    equal((inputs['discount']['value'], inputs['discount']['unit']), (14, '%'), 'discount')
    equal((inputs['electricity_price']['value'], inputs['electricity_price']['unit']), (0.08, 'USD/kWh'), 'price')
    equal(inputs['throughput']['grade'], 'claim', 'a throughput with a source')
    equal(inputs['throughput']['source'], '=HYPERLINK("x"), a claim', 'its source')


def test_csv(folder):
    for path in (folder.golden, *EXAMPLES):
        rows, result = run_csv('compare', path), compared(path)
        header = ['option', 'accelerator', 'case', 'item', 'label', 'unit', 'period', 'value', 'grade']
        equal(list(rows[0]), header, 'header')
        warnings = [r for r in rows if r['item'] == 'warning']
        labels = {option['id']: f'{option["label"]}: ' for option in result['options']}
        equal([labels.get(r['option'], '') + r['label'] for r in warnings], result['warnings'], 'warnings')
        equal([r['label'] for r in warnings if r['option'] in labels],
              [text for option in result['options'] for text in option['warnings']], "the options' warnings")
        expect(not any(r['value'] for r in warnings), 'values of warnings')
        labels = {r['option']: r['value'] for r in rows if r['item'] == 'label'}
        equal({option['id']: labels.get(option['id'], option['id']) for option in result['options']},
              {option['id']: option['label'] for option in result['options']}, 'labels')
        rows = [r for r in rows if r['item'] not in ('warning', 'label')]
        found = {(r['option'], r['item'], r['period']): float(r['value']) if r['value'] else None for r in rows}
        equal(len(found), len(rows), f'{path.name}: rows that stand twice')
        for option in result['options']:
            for name, value in option['items'].items():
                values = enumerate(value) if isinstance(value, list) else [('', value)]
                for period, wanted in values:
                    equal(found[option['id'], name, str(period)], wanted, f"{option['id']}.{name}@{period}")
            for name, figure in option['inputs'].items():
                equal(found[option['id'], name, ''], figure['value'], f"{option['id']}.{name}")
        results = {row[:2]: value for row, value in found.items()
                   if row[1] in ('saving', 'saving_levelised', 'ranked', 'cheapest')}
        ids = [option['id'] for option in result['options']]
        equal(results, {**{(o, s): result[s][o] for s in ('saving', 'saving_levelised')
                           for o in result['saving']},
                        **{(o, 'ranked'): float(o not in result['not_ranked']) for o in ids},
                        **{(o, 'cheapest'): float(o in result['cheapest']) for o in ids}}, 'results')


def test_csv_guard(folder):
    for row in csv.reader(io.StringIO(run('compare', folder.golden, '--format', 'csv', '-q').stdout)):
        for cell in row:
            expect(not re.match(r'[=+@\t\r]|-[^0-9]', cell), f'a spreadsheet would calculate {cell!r}')
    evil = folder.write('evil.ini', ODD + '\n[item trap]\nlabel = =1+1\nunit = USD\ngroup = capex\nformula = 1 USD\n')
    labels = {r['item']: r['label'] for r in run_csv('compare', evil)}
    equal(labels['trap'], "'=1+1", 'a label that is a formula')


def test_table(folder):
    text = run('compare', folder.golden, '-q').stdout
    narrow(text)
    lines = text.splitlines()
    equal(lines[0], 'Golden example, M\u00fcnchen', 'title')
    expect(re.search(r'horizon 3 yr, baseline h200, case base', lines[1]), lines[1])
    for pattern in (r'^Total cost of ownership \(TCO\) +USD +39,597,312 +31,890,752$',
                    r'^Cost per million output tokens +USD/Mtok +0\.1779 +\* 0\.1523$',
                    r'^Saving against h200 +% +- +14\.3$', r'^Engineering, total +USD +0 +1,680,000$',
                    r'^Output tokens served +T tokens +222\.62 +209\.33$', r'^  evidence +claim +assumed$',
                    r'^Evidence: .*claim = '):
        expect(re.search(pattern, text, re.M), f'{pattern} is not in\n{text}')
    for absent in ('Colocation', 'Residual', 'Rent', '\033'):
        expect(absent not in text, f'{absent!r} is in the table')


def test_table_widths(folder):
    for count in (1, 2, 3, 6, 12):
        text = run('compare', folder.with_options(count), '-q').stdout
        narrow(text)
        as_columns = re.search(r'^ +candidate_0( +candidate_1|$)', text, re.M) is not None
        equal(as_columns, count <= 3, f'{count} options as columns')
        for i in range(count):
            expect(f'candidate_{i}' in text, f'candidate_{i} is missing')
        equal(text.count('* 0.'), count > 1, f'{count} options: cheapest marked')
    for path in EXAMPLES:
        narrow(run('compare', path, '-q').stdout)


def test_precedence(folder):
    def price(*arguments):
        inputs = [o['inputs'] for o in run_json('compare', folder.golden, *arguments)['options']]
        return ([i['electricity_price']['value'] for i in inputs], [i['discount']['value'] for i in inputs])

    base = ([0.08, 0.08], [14, 14])
    equal(price(), base, 'no case')
    equal(price('--case', 'base'), base, '--case base')
    equal(price('--case', 'dear'), ([0.14, 0.14], [14, 22]), '--case dear')
    equal(price('--case', 'dear', '--set', 'electricity_price=0.2 USD/kWh'), ([0.2, 0.2], [14, 22]), '--set KEY')
    equal(price('--set', 'common.electricity_price=0.2 USD/kWh'), ([0.2, 0.2], [14, 14]), '--set common.KEY')
    refused = run('compare', folder.golden, '--case', 'dear', '--set', 'discount=30 %')
    equal(refused.returncode, BAD_INPUT, 'a --set that every option overrides')
    expect('h200.discount, mi325x.discount' in refused.stderr, refused.stderr)
    expect('does not reach' not in run('compare', folder.golden, '--set', 'wacc=7 %/yr').stderr, '--set for all')
    partly = run('compare', folder.golden, '--set', 'engineers=0 FTE').stderr
    expect('--set engineers does not affect options that set their own: mi325x.engineers' in partly, partly)
    idle_case = folder.write('idle-case.ini', ODD + '\n[case vain]\ndiscount = 30 %\n')
    expect("'discount' in case vain has no effect" in run('compare', idle_case).stderr, 'a case without effect')
    equal(price('--case', 'dear', '--set', 'mi325x.discount=30 %'), ([0.14, 0.14], [14, 30]), '--set ID.KEY')
    equal(price('--set', 'h200.discount=1 %', '--set', 'h200.discount=2 %')[1], [2, 14], 'the last --set')
    twice = run('compare', folder.golden, '--set', 'h200.discount=1 %', '--set', 'h200.discount=2 %').stderr
    expect('--set h200.discount=1 % has no effect: --set h200.discount=2 % comes after it' in twice, twice)


def test_mixed(folder):
    path = folder.write('mixed.ini', ODD.replace('throughput = 3951 token/s', 'decode_throughput = 3951 token/s'))
    equal(run('compare', path).returncode, BAD_INPUT, 'unlike workloads')
    for arguments in (('compare', path), ('explain', path, 'mi325x.tco'), ('diff', path, path)):
        done = run(*arguments, '--mixed', '-q')
        equal(done.returncode, 0, f'{arguments[0]} --mixed')
        expect('MIXED: ' in done.stdout, f'{arguments[0]} has no stamp')
    result = run_json('compare', path, '--mixed')
    equal((result['mixed'], [o['decode_only'] for o in result['options']]), (True, [False, True]), 'mixed')
    expect(result['mixed_reason'], 'mixed_reason')
    equal(result['saving'], {}, 'decoding alone is ranked')
    shown = ' '.join(run('compare', path, '--mixed', '-q').stdout.split())
    expect('Upper bound, decode only (prefill time ignored): mi325x.' in shown, 'upper bound')


def test_periods(folder):
    """A scenario by month differs from the same one by year, and every face says so."""
    path = folder.write('monthly.ini', f'[scenario]\ninherits = {folder.golden}\nperiod = 1 month\n')
    expect('periods of 1 month' in run('compare', path, '-q').stdout, 'the heading')
    expect('period_length' in run('diff', folder.golden, path, '-q').stdout, 'diff')
    equal(run_json('diff', folder.golden, path)['items'], ['period_length'], 'diff in JSON')
    items = run_json('compare', path)['options'][0]['items']
    equal(len(items['cash']), 37, 'periods')
    close(items['tco'], GOLDEN_VALUES['tco'][0], 'tco by the month')


def test_inherited_elsewhere(folder):
    """A key may be in another common section than in the inherited file."""
    folder.write('parent.ini', f'[scenario]\ninherits = {folder.golden}\n[workload]\nutilization = 30 %\n'
                               '[common]\nhorizon = 2 yr\n')
    path = folder.write('child.ini', '[scenario]\ninherits = parent.ini\nhorizon = 4 yr\n[common]\nutilization = 45 %\n')
    inputs = run_json('compare', path)['options'][0]['inputs']
    close(inputs['utilization']['value'], 45, 'utilization')
    close(inputs['horizon']['value'], 4, 'horizon')


if __name__ == '__main__':
    run_golden_tests(globals())
