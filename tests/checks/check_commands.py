#!/usr/bin/python3
"""Runs every command the way its users do and checks the results.

    check_commands.py [full]

PERTOKEN names the program. Tables are checked by their display width, JSON and CSV are parsed, and the golden example's
numbers are compared with those of the cost model's description.
Seconds: 11
"""
import csv
import io
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unicodedata

from support.golden import GOLDEN as GOLDEN_EXAMPLE
from support.program import (BAD_INPUT, Count, DONE, MACHINE_FAILED, NO, PERTOKEN, ROOT, Skip, expect, on_terminal, run,
                             run_csv, run_json)

EXAMPLES = sorted((ROOT / 'examples').glob('*.ini'))
COMMANDS = ('report', 'compare', 'diff', 'explain', 'catalog')
WITH_SCENARIO = ('report', 'compare', 'diff', 'explain')
TABLE_WIDTH = 80
GRADES = ('measured', 'quoted', 'benchmark', 'published', 'projected', 'claim', 'assumed')

GOLDEN = GOLDEN_EXAMPLE.replace(
    'title = Golden example', 'title = Golden example, M\u00fcnchen').replace(
    'throughput = 4202 token/s', 'throughput = 4202 token/s\nthroughput.source = =HYPERLINK("x"), a claim') + """
[case dear]
electricity_price = 0.14 USD/kWh
mi325x.discount = 22 %
"""

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


def equal(found, wanted, what):
    expect(found == wanted, f'{what}: {found!r}, not {wanted!r}')


def close(found, wanted, what, tolerance=1e-9):
    expect(abs(found - wanted) <= tolerance * max(1, abs(wanted)), f'{what}: {found!r}, not {wanted!r}')


def width(line):
    wide = sum(unicodedata.east_asian_width(c) in 'WF' for c in line)
    return sum(not unicodedata.combining(c) for c in line) + wide


def narrow(text, limit=TABLE_WIDTH):
    for line in text.splitlines():
        expect(width(line) <= limit, f'{width(line)} columns: {line}')
        equal(line, line.rstrip(), 'blanks at the end of a line')


class Folder:
    """A folder with the golden scenario and what is derived from it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.golden = self.write('golden.ini', GOLDEN)

    def write(self, name, text):
        path = self.path / name
        path.write_text(text, encoding='utf-8')
        return path

    def with_options(self, count):
        options = ''.join(f'[option candidate_{i}]\naccelerator = {("h200-sxm-141", "mi325x-256")[i % 2]}\n'
                          f'list_price = {35000 - 1000 * i} USD\nload_power = {700 + 50 * i} W\n'
                          f'throughput = {4202 + 13 * i} token/s\n' for i in range(count))
        common = GOLDEN[:GOLDEN.index('[option h200]')].replace('baseline = h200\n', '')
        return self.write(f'options-{count}.ini', common + options)


def check_overview(folder):
    done = run('--help')
    equal((done.returncode, done.stderr), (0, ''), 'pertoken --help')
    for command in COMMANDS:
        expect(re.search(rf'^  {command} +\w', done.stdout, re.M), f'{command} is not listed')
    narrow(done.stdout)
    done = run('--version')
    expect(re.fullmatch(r'pertoken \d+\.\d+\.\d+\n', done.stdout), done.stdout)
    done = run()
    equal((done.returncode, done.stdout), (BAD_INPUT, ''), 'no command')
    expect('compare' in done.stderr, 'no command: the commands are not listed')


def check_help(folder):
    for command in COMMANDS:
        done = run(command, '--help')
        equal((done.returncode, done.stderr), (0, ''), f'{command} --help')
        example = re.search(rf'Example:\n  (pertoken {command} .+)\n', done.stdout)
        expect(example, f'{command} --help has no example')
        narrow(done.stdout)
        for option in ('--set', '--case', '--mixed', '--model') if command in WITH_SCENARIO else ('--where',):
            expect(option in done.stdout, f'{command} --help lacks {option}')


def check_help_examples(folder):
    """The examples in the help work when typed in the folder with the example files."""
    for command in COMMANDS:
        line = re.search(r'Example:\n  pertoken (.+)\n', run(command, '--help').stdout).group(1)
        line = line.replace('-o tco.xlsx', f'-o {folder.path}/tco.xlsx')
        if command != 'report' or WORKBOOKS:
            done = subprocess.run(f'{PERTOKEN} {line}', shell=True, cwd=ROOT, capture_output=True, text=True)
            equal(done.returncode, 0, line + done.stderr)


def check_unknown_names(folder):
    golden = folder.golden
    for arguments, hint in (
            (('compre', golden), "'compare'"),
            (('xyzzy', golden), '--help'),
            (('compare', golden, '--format', 'jsn'), "'json'"),
            (('compare', golden, '--case', 'daer'), "'dear'"),
            (('compare', golden, '--set', 'electricity_prise=1 USD/kWh'), "'electricity_price'"),
            (('compare', golden, '--set', 'h20.discount=1 %'), "'h200'"),
            (('compare', golden, '--set', 'discount=1 %'), 'h200.discount, mi325x.discount'),
            (('compare', golden, '--set', 'baseline=h200'), "the file's [scenario]"),
            (('compare', golden, '--set', 'precision=fp8'), 'OPTION.precision or workload.precision'),
            (('compare', golden, '--set', 'evidence=tp0022'), 'set OPTION.evidence'),
            (('explain', golden, 'h20.tco'), "'h200'"),
            (('explain', golden, 'h200.cost_per_mtk'), "'cost_per_mtok'"),
            (('explain', golden, 'tco'), 'OPTION.ITEM'),
            (('explain', golden, 'h200.cash@4'), '0 to 3'),
            (('explain', golden, 'h200.cash@x'), '0 to 3'),
            (('explain', golden, 'h200.tco@1'), 'no periods'),
            (('catalog', 'price'), "'prices'"),
            (('catalog', 'prices', '--where', 'acelerator=x'), "'accelerator'"),
            (('catalog', 'prices', '--where', 'x'), 'COLUMN=VALUE'),
            (('compare',), 'SCENARIO.ini'),
            (('compare', golden, golden), 'too many'),
            (('diff', golden), 'B.ini'),
            (('compare', folder.path / 'none.ini'), 'none.ini'),
            (('compare', golden, '--data', folder.path / 'none'), 'none'),
            (('compare', golden, '--nonsense'), '--nonsense')):
        done = run(*arguments)
        equal(done.returncode, BAD_INPUT, f'{arguments}: exit status')
        equal(done.stdout, '', f'{arguments}: standard output')
        expect(hint in done.stderr, f'{arguments}: {hint} is not in {done.stderr}')


def check_broken_pipe(folder):
    for command in (f"compare {folder.golden} --format csv", f"explain {folder.golden} h200.tco",
                    "catalog throughput --format csv", "--help"):
        line = f'set -o pipefail; {PERTOKEN} {command} -q | head -n 1' if command != '--help' else \
            f'{PERTOKEN} --help | head -n 1'
        done = subprocess.run(['bash', '-c', line], capture_output=True, text=True)
        equal(done.stderr, '', f'{command} | head -n 1')
        equal(len(done.stdout.splitlines()), 1, f'{command} | head -n 1')


def check_full_disk(folder):
    for arguments in (('--help',), ('--version',), ('compare', '--help'), ('compare', folder.golden),
                      ('compare', folder.golden, '--format', 'json'), ('compare', folder.golden, '--format', 'csv'),
                      ('explain', folder.golden, 'h200.tco'), ('diff', folder.golden, folder.golden),
                      ('catalog', 'models'), ('catalog', 'throughput', '--format', 'json')):
        with open('/dev/full', 'w') as full:
            done = run(*arguments, stdout=full, stderr=subprocess.PIPE)
        equal(done.returncode, MACHINE_FAILED, f'{arguments} to a full disk')
        expect('standard output' in done.stderr, f'{arguments} to a full disk: {done.stderr}')
        equal(done.stderr.count('standard output'), 1, f'{arguments} to a full disk: times said')


def check_output_file(folder):
    target = folder.path / 'out.json'
    wanted = run('compare', folder.golden, '--format', 'json', '-q').stdout
    done = run('compare', folder.golden, '--format', 'json', '-q', '-o', target)
    equal((done.returncode, done.stdout), (0, ''), '-o')
    equal(target.read_text(encoding='utf-8'), wanted, '-o')
    before = set(folder.path.iterdir())
    equal(run('explain', folder.golden, 'h200.nothing', '-o', target).returncode, BAD_INPUT, '-o after an error')
    equal(target.read_text(encoding='utf-8'), wanted, 'the file after an error')
    equal(set(folder.path.iterdir()), before, 'files left by an error')
    done = run('compare', folder.golden, '-o', folder.path / 'none' / 'out.json')
    equal(done.returncode, MACHINE_FAILED, '-o into no folder')
    equal(run('compare', folder.golden, '-q', '-o', '/dev/full').returncode, MACHINE_FAILED, '-o /dev/full')
    equal(run('compare', folder.golden, '-q', '-o', '/dev/null').returncode, 0, '-o /dev/null')
    expect(stat.S_ISCHR(os.stat('/dev/null').st_mode), '/dev/null was replaced')


def check_warnings(folder):
    loud, quiet = run('compare', folder.golden), run('compare', folder.golden, '-q')
    lines = run('compare', folder.golden, '--set', 'host_power=0 W').stderr.splitlines()
    expect(any(re.match(r'pertoken: warning: h200: .*host power', line) for line in lines), lines)
    equal((loud.stdout, quiet.stderr), (quiet.stdout, ''), '-q')
    found = run_json('compare', folder.golden, '--set', 'host_power=0 W')['options'][0]
    expect('host power' in found['not_included'], 'not_included in JSON')
    expect(any('host power' in text for text in found['warnings']), 'warnings in JSON')
    table = run('compare', folder.golden, '--set', 'host_power=0 W', '-q').stdout
    expect('Not included: host power' in table, 'not included in the table')
    verbose = run('compare', folder.golden, '-v').stderr
    expect('pertoken: data: ' in verbose and 'digest' in verbose, '-v')


def check_golden_json(folder):
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


def check_published_keys(folder):
    for path in (folder.golden, ROOT / 'examples' / 'mi325x-vs-h200.ini'):
        result = run_json('compare', path)
        equal(result['schema'], 1, 'schema')
        for way, keys in PUBLISHED.items():
            there = result
            for key in way:
                there = there[key]
            equal(keys - set(there), set(), f'{path.name}: keys gone from {way}')


def shards(folder):
    """The two halves of a simulation, as files."""
    parts = [folder.path / f'part-{i}.json' for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        run('simulate', ROOT / 'examples/uncertainty.ini', '--draws', '256', '--shard', f'{i}/2', '-q', '-o', part)
    return parts


def check_every_format(folder):
    """Every command that answers has three faces, and each of them has content."""
    examples = ROOT / 'examples'
    for arguments in (('compare', folder.golden), ('finance', folder.golden), ('diff', folder.golden, EXAMPLES[0]),
                      ('explain', folder.golden, 'h200.tco'), ('sensitivity', folder.golden),
                      ('sensitivity', folder.golden, '--grid', 'wacc=6:10:2 %/yr,pue=1.1:1.3:0.1'),
                      ('simulate', examples / 'uncertainty.ini', '--draws', '256'), ('merge', *shards(folder)),
                      ('solve', examples / 'mi325x-vs-h200.ini', '--option', 'mi325x', '--for', 'discount', '--saving', '20 %'),
                      ('fit', examples / 'interactive.ini'), ('rent', examples / 'rent-or-own.ini'),
                      ('audit', examples / 'claims' / 'mi350x-2.4.ini'),
                      ('served', ROOT / 'data/measured/tinyllama-1.1b-serving-8184255c.json'),
                      ('fleet', examples / 'fleet' / 'records'),
                      ('accept', examples / 'acceptance' / 'offer.ini', examples / 'acceptance' / 'records'),
                      ('route', examples / 'portfolio.ini'), ('wait', examples / 'wait.ini'), ('catalog', 'prices')):
        table = run(*arguments, '-q').stdout
        rows, document = (show(*arguments, statuses=(DONE, NO)) for show in (run_csv, run_json))
        sentence = document['answer'] if 'answer' in document else document['answers'][0]['answer']
        expect(rows and len(rows[0]) > 2, f'{arguments[0]}: no CSV')
        expect(sentence and ' '.join(sentence.split()) in ' '.join(table.split()), f'{arguments[0]}: {sentence!r} is not shown')


def check_formats_of_what_writes(folder):
    """`new` and `import` write a file and report its contents, on each face."""
    files = [ROOT / f'examples/imports/made-up-{load}.json' for load in (16, 64)]
    told = {}
    for form in ('table', 'csv', 'json'):
        told['new', form] = run('new', 'h200', 'mi325x', '--model', 'llama-2-70b', '--count', '8',
                                '-o', folder.path / f'drafted-{form}.ini', '-q', '--format', form).stdout
        told['import', form] = run('import', *files, '--accelerator', 'h200', '--accelerators', '1', '--precision', 'bf16',
                                   '--model', 'llama-3.1-8b', '-o', folder.path / f'imported-{form}', '-q', '--format', form).stdout
    for command in ('new', 'import'):
        sentence = json.loads(told[command, 'json'])['answer']
        expect(sentence and ' '.join(sentence.split()) in ' '.join(told[command, 'table'].split()), f'{command}: {sentence!r}')
        expect(len(list(csv.reader(io.StringIO(told[command, 'csv'])))) > 1, f'{command}: no CSV')


def check_json_shape(folder):
    for path in (folder.golden, *EXAMPLES):
        result = run_json('compare', path)
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


def check_digits(folder):
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


def check_inputs_as_typed(folder):
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


def check_units(folder):
    result = run_json('compare', folder.golden)
    for name, unit in (('tco', 'USD'), ('cost_per_mtok', 'USD/Mtok'), ('it_power', 'kW'), ('cash', 'USD'),
                       ('energy_per_token', 'J/token'), ('cost_per_gpu_hour', 'USD/h')):
        equal(result['units'][name], unit, f'unit of {name}')
    inputs = result['options'][0]['inputs']
    equal((inputs['discount']['value'], inputs['discount']['unit']), (14, '%'), 'discount')
    equal((inputs['electricity_price']['value'], inputs['electricity_price']['unit']), (0.08, 'USD/kWh'), 'price')
    equal(inputs['throughput']['grade'], 'claim', 'a throughput with a source')
    equal(inputs['throughput']['source'], '=HYPERLINK("x"), a claim', 'its source')


def check_csv(folder):
    for path in (folder.golden, *EXAMPLES):
        rows, result = run_csv('compare', path), run_json('compare', path)
        header = ['option', 'accelerator', 'case', 'item', 'label', 'unit', 'period', 'value', 'grade']
        equal(list(rows[0]), header, 'header')
        warnings = [r for r in rows if r['item'] == 'warning']
        equal([r['label'] for r in warnings], result['warnings'] + [text for option in result['options']
                                                                    for text in option['warnings']], 'warnings')
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


def check_csv_guard(folder):
    for row in csv.reader(io.StringIO(run('compare', folder.golden, '--format', 'csv', '-q').stdout)):
        for cell in row:
            expect(not re.match(r'[=+@\t\r]|-[^0-9]', cell), f'a spreadsheet would calculate {cell!r}')
    evil = folder.write('evil.ini', GOLDEN + '\n[item trap]\nlabel = =1+1\nunit = USD\ngroup = capex\nformula = 1 USD\n')
    labels = {r['item']: r['label'] for r in run_csv('compare', evil)}
    equal(labels['trap'], "'=1+1", 'a label that is a formula')


def check_table(folder):
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


def check_table_widths(folder):
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


def check_plain_terminals(folder):
    colour = on_terminal('compare', folder.golden)
    expect('\033[' in colour and '\u2500' in colour, 'no colour or lines on a terminal')
    narrow(re.sub(r'\033\[[0-9;]*m', '', colour))
    for environment in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
        expect('\033' not in on_terminal('compare', folder.golden, environment=environment), f'{environment}')
    ascii_only = {'LC_ALL': 'C'}
    for arguments in (('compare', folder.golden), ('explain', folder.golden, 'h200.tco'),
                      ('diff', folder.golden, folder.with_options(2))):
        expect(run(*arguments, '-q', environment=ascii_only).stdout.isascii(), f'{arguments[0]} in a plain locale')
        expect(on_terminal(*arguments, environment=ascii_only).isascii(), f'{arguments[0]} on a plain terminal')


def check_precedence(folder):
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
    idle_case = folder.write('idle-case.ini', GOLDEN + '\n[case vain]\ndiscount = 30 %\n')
    expect("'discount' in case vain has no effect" in run('compare', idle_case).stderr, 'a case without effect')
    equal(price('--case', 'dear', '--set', 'mi325x.discount=30 %'), ([0.14, 0.14], [14, 30]), '--set ID.KEY')
    equal(price('--set', 'h200.discount=1 %', '--set', 'h200.discount=2 %')[1], [2, 14], 'the last --set')
    twice = run('compare', folder.golden, '--set', 'h200.discount=1 %', '--set', 'h200.discount=2 %').stderr
    expect('--set h200.discount=1 % has no effect: --set h200.discount=2 % comes after it' in twice, twice)


def check_mixed(folder):
    path = folder.write('mixed.ini', GOLDEN.replace('throughput = 3951 token/s', 'decode_throughput = 3951 token/s'))
    equal(run('compare', path).returncode, BAD_INPUT, 'unlike workloads')
    for arguments in (('compare', path), ('explain', path, 'mi325x.tco'), ('diff', path, path)):
        done = run(*arguments, '--mixed', '-q')
        equal(done.returncode, 0, f'{arguments[0]} --mixed')
        expect('MIXED: ' in done.stdout, f'{arguments[0]} has no stamp')
    result = run_json('compare', path, '--mixed')
    equal((result['mixed'], [o['decode_only'] for o in result['options']]), (True, [False, True]), 'mixed')
    expect(result['mixed_reason'], 'mixed_reason')
    equal(result['saving'], {}, 'decoding alone is ranked')
    expect(re.search('Upper bound, decode only: mi325x', run('compare', path, '--mixed', '-q').stdout), 'upper bound')


def inputs_below(step):
    if step['kind'] == 'input':
        return {step['name']}
    return set().union(*(inputs_below(s) for s in step.get('from', [])))


# Results of inputs other than the cost of a token: the finance views' own, sales, and a site's.
LEADS = {'book_cost_per_mtok', 'after_tax_price_per_mtok', 'loan_cost_per_mtok', 'lease_cost_per_mtok',
         'npv', 'carbon_per_mtok', 'site_excess'}


def check_explain_reaches_every_input(folder):
    for path in (folder.golden, *EXAMPLES):
        for option in run_json('compare', path)['options'][:2]:
            reached = set()
            for item in {'cost_per_mtok', 'levelised_cost_per_mtok', *LEADS} & set(option['items']):
                reached |= inputs_below(run_json('explain', path, f"{option['id']}.{item}")['derivation'])
            missing = set(option['inputs']) - reached - {'demand', 'purchase_unit'}  # besides accelerators: for coverage, and a warning
            equal(missing, set(), f"{path.name}: inputs of {option['id']} that are not reached")


def check_explain_values(folder):
    items = run_json('compare', folder.golden)['options'][1]['items']

    def walk(step):
        if step['kind'] == 'item':
            value = step.get('values', step.get('value'))
            equal(value, items[step['name']], step['name'])
            for below in step.get('from', []):
                walk(below)

    walk(run_json('explain', folder.golden, 'mi325x.levelised_cost_per_mtok')['derivation'])


def check_explain_text(folder):
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


def check_explain_series(folder):
    text = run('explain', folder.golden, 'mi325x.cash', '-q').stdout
    expect('cash = [0] 24,533,600, [1-3] 2,452,384 USD' in text, 'periods')
    step = run_json('explain', folder.golden, 'mi325x.cumulative_cash@2')
    equal(step['period'], 2, 'period')
    close(step['derivation']['value'], 24533600 + 2 * 2452384, 'cumulative_cash@2')
    equal([(s['name'], s.get('period')) for s in step['derivation']['from']],
          [('cumulative_cash', 1), ('cash', 2)], 'what it follows from')
    case = run('explain', folder.golden, 'mi325x.tariff@1', '--case', 'dear', '-q').stdout
    expect('tariff[1] = 0.14 USD/kWh' in case and 'case dear' in case, case)


def check_diff_with_itself(folder):
    for path in (folder.golden, EXAMPLES[0]):
        result = run_json('diff', path, path)
        for key in ('only_a', 'only_b', 'items', 'inputs', 'options'):
            equal(result[key], [], f'{path.name} against itself: {key}')
        equal(run_csv('diff', path, path), [], f'{path.name} against itself: csv')
        expect('No difference' in run('diff', path, path, '-q').stdout, f'{path.name} against itself')


def check_diff(folder):
    other = folder.write('other.ini', GOLDEN.replace('electricity_price = 0.08', 'electricity_price = 0.10')
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


def check_diff_of_unlike(folder):
    """Options on one side only, an own line item, given compared with computed, bought compared with rented."""
    cut = GOLDEN[:GOLDEN.index('[option mi325x]')] + '[option b200]\naccelerator = b200-sxm-180\n' \
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
    rented = GOLDEN.replace('list_price = 35000 USD\ndiscount = 14 %', 'rental_rate = 3 USD/h')
    result = run_json('diff', folder.golden, folder.write('rented.ini', rented))
    (option,) = result['options']
    equal(set(option['alone']), {'bought_or_rented'}, 'renting is one change')
    equal(option['together']['cost_per_mtok'], option['results']['cost_per_mtok']['b'], 'rented')


def check_diff_csv(folder):
    rows = run_csv('diff', folder.golden, folder.with_options(2))
    equal({(r['table'], r['row'], r['value']) for r in rows if r['table'] == 'facts'},
          {('facts', 'only_a', 'h200, mi325x'), ('facts', 'only_b', 'candidate_0, candidate_1')}, 'options')
    other = folder.write('csv.ini', GOLDEN.replace('wacc = 8', 'wacc = 9').replace('pue = 1.25', 'pue = 1.3'))
    rows = run_csv('diff', folder.golden, other)
    equal({r['table'] for r in rows}, {'inputs', 'h200', 'h200.alone', 'mi325x', 'mi325x.alone'}, 'tables')
    found = {(r['table'], r['row'], r['column']): r for r in rows}
    equal(found['inputs', 'h200.wacc', 'b.value']['value'], '9', 'an input')
    for table, row in {(r['table'], r['row']) for r in rows if '.alone' not in r['table'] and r['table'] != 'inputs'}:
        a, b, change = (float(found[table, row, column]['value']) for column in ('a', 'b', 'change'))
        close(change, b / a - 1 if a != b else 0, f'change of {row}')


def check_finance_views(folder):
    """Each view by itself, with the same items as in compare; the table fits however many options there are."""
    path = ROOT / 'examples' / 'finance-views.ini'
    items = {option['id']: option['items'] for option in run_json('compare', path)['options']}
    result = run_json('finance', path)
    equal([view['name'] for view in result['views']], ['cash', 'book', 'tax', 'loan', 'lease', 'sales'], 'views')
    for view in result['views']:
        equal(set(view), {'name', 'label', 'units', 'options'}, f"keys of {view['name']}")
        for option, there in view['options'].items():
            equal(there, {name: items[option][name] for name in there}, f"{view['name']} of {option}")
            equal(set(there), set(view['units']), f"units of {view['name']}")
    equal(result['difference'], run_json('compare', path)['difference'], 'difference')
    lines = {}
    for row in run_csv('finance', path):
        lines.setdefault((row['view'], row['option'], row['item']), []).append(row['value'])
    for view in result['views']:
        for option, there in view['options'].items():
            for name, value in there.items():
                values = value if isinstance(value, list) else [value]
                equal([float(text) for text in lines.pop((view['name'], option, name))], values, f'CSV: {name}')
    equal({view for view, _, _ in lines}, {'difference', 'warnings', 'options'}, 'CSV beyond the views')
    names = [name for view in result['views'] for name in view['units']]
    equal(len(names), len(set(names)), 'a line item in two views')
    narrow(run('finance', path, '-q').stdout)
    narrow(run('finance', ROOT / 'examples' / 'cloud.ini', '-q').stdout)
    plain = run_json('finance', folder.golden)
    equal([view['name'] for view in plain['views'] if view['options']], ['cash', 'book'], 'views of golden')


def check_periods(folder):
    """A scenario by month differs from the same one by year, and every face says so."""
    path = folder.write('monthly.ini', f'[scenario]\ninherits = {folder.golden}\nperiod = 1 month\n')
    expect('periods of 1 month' in run('compare', path, '-q').stdout, 'the heading')
    expect('period_length' in run('diff', folder.golden, path, '-q').stdout, 'diff')
    equal(run_json('diff', folder.golden, path)['items'], ['period_length'], 'diff in JSON')
    items = run_json('compare', path)['options'][0]['items']
    equal(len(items['cash']), 37, 'periods')
    close(items['tco'], GOLDEN_VALUES['tco'][0], 'tco by the month')


def check_inherited_elsewhere(folder):
    """A key may be in another common section than in the inherited file."""
    folder.write('parent.ini', f'[scenario]\ninherits = {folder.golden}\n[workload]\nutilization = 30 %\n'
                               '[common]\nhorizon = 2 yr\n')
    path = folder.write('child.ini', '[scenario]\ninherits = parent.ini\nhorizon = 4 yr\n[common]\nutilization = 45 %\n')
    inputs = run_json('compare', path)['options'][0]['inputs']
    close(inputs['utilization']['value'], 45, 'utilization')
    close(inputs['horizon']['value'], 4, 'horizon')


def check_report(folder):
    if not WORKBOOKS:
        raise Skip('the program writes no workbooks')
    done = run('report', folder.golden, '-q', cwd=folder.path)
    equal((done.returncode, done.stdout, done.stderr), (0, '', ''), 'report')
    expect((folder.path / 'golden.xlsx').read_bytes()[:2] == b'PK', 'golden.xlsx in the current folder')
    done = run('report', folder.golden, '-q', cwd=folder.path)
    expect(done.returncode == BAD_INPUT and "'golden.xlsx' already exists" in done.stderr, done.stderr)
    target = folder.path / 'named.xlsx'
    equal(run('report', folder.golden, '-q', '-o', target).returncode, 0, 'report -o')
    expect(target.exists(), 'report -o FILE')
    equal(run('report', folder.golden, '-o', folder.path / 'none' / 'x.xlsx').returncode, MACHINE_FAILED, 'no folder')


def check_output_names(folder):
    """What a file's name chooses, unless --format does."""
    for name, asked, form in (('x.csv', None, 'csv'), ('x.JSON', None, 'json'), ('x.txt', None, 'table'),
                              ('x.v2', None, 'table'), ('x.csv', 'json', 'json'), ('x.json', 'table', 'table')):
        target = folder.path / name
        options = ['--format', asked] if asked else []
        equal(run('compare', folder.golden, '-q', *options, '-o', target).returncode, 0, name)
        equal(target.read_text(), run('compare', folder.golden, '-q', '--format', form).stdout, f'{name}, {asked}')


def check_catalog(folder):
    rows = run_csv('catalog', 'accelerators', '--where', 'id=h200-sxm-141')
    equal([row['id'] for row in rows], ['h200-sxm-141'], 'a row by its id')
    found = run_json('catalog', 'accelerators', '--where', 'id=h200-sxm-141')
    equal([row['id'] for row in found['rows']], ['h200-sxm-141'], 'the same in JSON')
    done = run('catalog', 'accelerators', '--where', 'id=h200-sxm-141', '--data', ROOT / 'data')
    expect(done.returncode == 0 and 'h200-sxm-141' in done.stdout, 'the same as a table')


CHECKS = [value for name, value in sorted(globals().items(), key=lambda pair: str(pair[0]))
          if name.startswith('check_')]


def writes_workbooks(folder):
    run('report', folder.golden, '-q', '-o', folder.path / 'probe.xlsx')
    return (folder.path / 'probe.xlsx').exists()


def main():
    global WORKBOOKS
    count = Count()
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        WORKBOOKS = writes_workbooks(folder)
        for check in CHECKS:
            count.test(check.__name__.removeprefix('check_').replace('_', ' '), check, folder)
    count.finish()


if __name__ == '__main__':
    main()
