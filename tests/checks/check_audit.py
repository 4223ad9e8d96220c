#!/usr/bin/python3
"""Audits of claims: the shipped examples, the table of claims, exit statuses and bad input.

    check_audit.py [full]

What is expected of the examples was worked out by hand, as the comments say. PERTOKEN names the
program.
"""
import csv
import io
import json
import pathlib
import resource
import shutil
import tempfile

import openpyxl

from support.processor import is_quick
from support.program import Count, ROOT, run

CLAIMS = ROOT / 'examples/claims'
count = Count()
check = count.check


def audit(path, *more):
    done = run('audit', path, '-q', '--mixed', '--format', 'json', *more)
    answers = json.loads(done.stdout)['answers'] if done.returncode in (0, 1) else []
    return done, {answer['name']: answer for answer in answers}


def row(answers, table, **where):
    for candidate in answers['together']['tables'][table]['rows']:
        if all(candidate[key] == value for key, value in where.items()):
            return candidate
    raise AssertionError(f'no row {where} in {table}')


# Readings of "opex weighted 60/40". C and D: three-year costs of MI325X and H200 in USD, r: ratio of
# their throughputs, F: cost of an engineer over three years. Saving: 1 - C / (r D); r for 31 %:
# C / (0.69 D); after n engineers at that r: 1 - 0.69 (1 + n F / C); engineers for 19 %:
# (0.81 / 0.69 - 1) C / F.
C_HARDWARE, D_HARDWARE, F = 800 * 22000 * 0.86, 800 * 35000 * 0.86, 3 * 280000
READINGS = [  # file, C, D, and the same as a person would read it
    ('scorecard-31-19', C_HARDWARE, D_HARDWARE, ('.629', '37.1', '.911', '23.3', '3.1')),
    ('scorecard-own-opex', C_HARDWARE / 0.6, D_HARDWARE / 0.6,
     ('.629', '37.1', '.911', '26.4', '5.2')),
    ('scorecard-h200-opex', C_HARDWARE + D_HARDWARE * 0.4 / 0.6 * 750 / 700, D_HARDWARE / 0.6,
     ('.806', '19.4', '1.168', '27.4', '6.7')),
    ('scorecard-true-power', C_HARDWARE + D_HARDWARE * 0.4 / 0.6 * 1000 / 700, D_HARDWARE / 0.6,
     ('.949', '5.1', '1.375', '28.0', '7.9')),
]


def check_reading(name, c, d, as_read):
    done, answers = audit(CLAIMS / f'{name}.ini')
    alone = row(answers, 'alone', claim='saving', follows='throughput_ratio')
    got = (row(answers, 'alone', claim='saving', follows='cost_ratio')['low'],
           row(answers, 'claims', claim='saving')['stands'], alone['low'],
           row(answers, 'claims', claim='after_engineers')['nearest_said'],
           row(answers, 'needs', claim='after_engineers')['exact_low'])
    expected = (c / d, 100 * (1 - c / d), c / d / 0.69, 100 * (1 - 0.69 * (1 + 2 * F / c)),
                (0.81 / 0.69 - 1) * c / F)
    digits = (3, 1, 3, 1, 1)
    check(f'{name}: exit', done.returncode == 1, done.returncode)
    check(f'{name}: no', answers['together']['no'] and answers['after_engineers']['no'])
    for value, truth, places, text in zip(got, expected, digits, as_read):
        check(f'{name}: {text}', abs(value - truth) <= 1e-5 * abs(truth), (value, truth))
        check(f'{name}: {text} to its last digit',
              f'{value:.{places}f}' == f'{float(text):.{places}f}', value)


# file, exit status, values that the JSON must contain: (table, where, key, value, within)
OTHERS = [
    # 1 - 0.69 (1 + 2 F / C) = 26.4 % with C of the second reading.
    ('scorecard-31-26', 0, [('claims', {'claim': 'throughput_ratio'}, 'best', 0.911, 0.0005)]),
    # C = 15.136 + 17.2 k, D = 24.08 + 16.053 k (million USD), r = 1.1677, k = 0.8 and 1.2.
    ('robust-h200-opex', 1, [('claims', {'claim': 'cheaper'}, 'nearest_said', 32.979, 0.001),
                             ('claims', {'claim': 'dearer'}, 'nearest_said', 29.314, 0.001)]),
    # Opex in proportion to hardware cancels.
    ('robust-own-opex', 0, [('claims', {'claim': 'cheaper'}, 'low', 30.5, 1e-4),
                            ('claims', {'claim': 'dearer'}, 'high', 31.5, 1e-4),
                            ('claims', {'claim': 'throughput_ratio'}, 'best', 0.911, 0.0005)]),
    # 30,100 USD x w / (1 - w) / (0.7 kW x 1.25 x 26,280 h), w = 39 % and 41 %.
    ('weighting-priced', 0,
     [('free', {'quantity': 'electricity_price'}, 'low', 0.836887, 1e-5),
      ('free', {'quantity': 'electricity_price'}, 'high', 0.909631, 1e-5)]),
    # Cost per token is the inverse of tokens per dollar: 1 - 1.3.
    ('tokens-per-dollar', 1,
     [('claims', {'claim': 'wins_per_token'}, 'nearest_said', -30, 1e-4),
      ('needs', {'claim': 'wins_per_token'}, 'exact_low', 130, 1e-3)]),
    # 0.9 x 206.1 and 150.8 GB, less 69 GB of weights and some activations, over 4096 x 327,680 B.
    ('concurrency', 1, [('claims', {'claim': 'on_one'}, 'stands', 85 / 48, 1e-9),
                        ('claims', {'claim': 'requests_on_one'}, 'stands', 85, 0)]),
    # 79 % x 1.6 for what the price per node and watts allow.
    ('concurrency-cost', 0, [('claims', {'claim': 'gap'}, 'high', 79, 1e-4)]),
    # tp0137 / tp0048
    ('b200-4.5', 1, [('claims', {'claim': 'uplift'}, 'stands', 12863.62 / 3902.47, 1e-9),
                     ('needs', {'claim': 'uplift'}, 'exact_low', 4.5 * 3902.47, 0.01)]),
    # tp0346 / tp0450
    ('mi350x-2.4', 0, [('claims', {'claim': 'uplift'}, 'stands', 10233.81 / 4235.05, 1e-9)]),
    # tp0407 / tp0265
    ('partners-4', 1, [('claims', {'claim': 'hpe_within_4_percent'}, 'stands',
                        100 * 9419.36 / 10267.01, 1e-9)]),
]


def check_other(name, status, values):
    done, answers = audit(CLAIMS / f'{name}.ini')
    check(f'{name}: exit', done.returncode == status, (done.returncode, done.stderr))
    for table, where, key, value, within in values:
        got = row(answers, table, **where)[key]
        check(f'{name}: {where} {key}', got is not None and abs(got - value) <= within, got)


def check_examples():
    for reading in READINGS:
        check_reading(*reading)
    for other in OTHERS:
        check_other(*other)
    known = {name for name, *_ in READINGS + OTHERS} | {'scorecard-options'}
    there = {path.stem for path in CLAIMS.glob('*.ini')}
    check('every example is checked', known == there, known ^ there)
    done = run('audit', CLAIMS / 'scorecard-options.ini', '-q')
    check('no claim', done.returncode == 2 and '[claim NAME]' in done.stderr, done.stderr)


def check_plausibility():
    _, answers = audit(CLAIMS / 'weighting-priced.ini')
    price = row(answers, 'catalogue', quantity='electricity_price')
    check('electricity above the highest', 'times the highest published (pw170)' in price['verdict'],
          price)
    _, answers = audit(CLAIMS / 'scorecard-31-26.ini')
    ratio = row(answers, 'catalogue', quantity='throughput_ratio')
    check('ratio below what is published of the same scenario',
          ratio['verdict'] == '0.937 times the lowest published (tp0011/tp0068)', ratio)


def check_scenarios_apart():
    """Offline rows are compared only with offline figures; if there are none, that is reported."""
    for name, words in (('offline', ', offline ('), ('single stream', 'none of output tokens of')):
        done = run('audit', CLAIMS / 'scorecard-31-26.ini', '-q', '--mixed', '--set',
                   f'workload.scenario={name}')
        shown = ' '.join(done.stdout.split())
        check(f'plausible by {name}', words in shown, shown or done.stderr)


def check_readings():
    """One claim, three readings: the same numbers and verdicts in the table and in the scenario."""
    _, rows = table_rows('data/claims.csv')
    _, answers = audit('examples/claims/concurrency.ini')
    stands = [row(answers, 'claims', claim=name)
              for name in ('memory_left', 'on_one', 'on_a_node')]
    # The table counts all parameters at one byte, the scenario embeddings and head at two.
    for reading, shown, within in zip(rows['118']['how'].split('; '), stands, (0.01, 1e-3, 1e-3)):
        number, holds = reading.split(' ', 1)[0], reading.endswith('holds')
        check(f'reading {number}', abs(float(number) - shown['stands']) < within
              and holds == (shown['holds'] == 'yes'), (reading, shown))
    check('depends', rows['118']['verdict'] == 'depends on the reading', rows['118'])


def check_intervals():
    """A claimed interval is shown with both its ends."""
    _, answers = audit('examples/claims/tokens-per-dollar.ini')
    price = row(answers, 'claims', claim='price')
    check('both ends', price['claimed'] == '78 % to 82 %', price)


EXACT = """\
[scenario]
inherits = {options}
[claim saving]
says = saving of mi325x over h200 = 31 % +- 0 %
[claim absolute]
says = h200.throughput = 1000 .. 9000 token/s
"""


def check_no_room():
    """A claim without a tolerance leaves no room to prefer one point to another: none is called the middle."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'exact.ini'
        path.write_text(EXACT.format(options=CLAIMS / 'scorecard-options.ini'))
        _, answers = audit(path)
        shown = ' '.join(run('audit', path, '-q').stdout.split())
        explained = ' '.join(run('explain', path, 'audit.together', '-q').stdout.split())
    found = {name: row(answers, 'free', quantity=f'{name}.throughput') for name in ('h200', 'mi325x')}
    check('an example, not a middle', 'For example: at one point' in shown and 'Midpoint' not in shown, shown)
    check('the example lies where all hold', all(one['low'] <= one['best'] <= one['high'] for one in found.values())
          and abs(1 - (C_HARDWARE / D_HARDWARE) * found['h200']['best'] / found['mi325x']['best'] - 0.31) < 1e-6, found)
    check('no room', 'The best point found leaves no room to the tightest of them' in explained, explained)


def check_faces():
    path = CLAIMS / 'scorecard-31-19.ini'
    table = run('audit', path, '-q')
    check('table', 'cannot be true together' in table.stdout and '23.34 %' in table.stdout,
          table.stdout)
    rows = list(csv.DictReader(io.StringIO(run('audit', path, '-q', '--format', 'csv').stdout)))
    nearest = [line['value'] for line in rows
               if line['row'] == 'after_engineers' and line['column'] == 'nearest_said']
    check('csv', len(nearest) == 1 and nearest[0].startswith('23.34'), nearest)
    for name, words in (('together', 'Sobol points'), ('after_engineers', 'claims.csv 96 and 97')):
        explained = run('explain', path, f'audit.{name}', '-q')
        check(f'explain {name}', explained.returncode == 0 and words in explained.stdout,
              explained.stdout + explained.stderr)
    explained = run('explain', path, 'audit.nothing', '-q')
    check('explain nothing', explained.returncode == 2 and 'after_engineers' in explained.stderr,
          explained.stderr)
    one = run('audit', path, '-q', '--for', 'after_engineers', '--format', 'json')
    check('--for', [answer['name'] for answer in json.loads(one.stdout)['answers']]
          == ['after_engineers'], one.stdout)
    with tempfile.TemporaryDirectory() as folder:
        book = pathlib.Path(folder) / 'claims.xlsx'
        done = run('report', path, '-q', '-o', book)
        cells = [cell.value for line in openpyxl.load_workbook(book)['Decisions'].iter_rows()
                 for cell in line] if done.returncode == 0 else []
        check('sheet Decisions', any(isinstance(value, float) and abs(value - 0.2334144) < 1e-5
                                     for value in cells), done.stderr)


def check_settings():
    """--set fixes what was free; so does a case."""
    path = CLAIMS / 'scorecard-31-26.ini'
    settings = ['--set', 'h200.throughput=4000 token/s', '--set']
    done, answers = audit(path, *settings, 'mi325x.throughput=3644 token/s')
    check('fixed, holds', done.returncode == 0 and 'free' not in answers['together']['tables'],
          done.stdout)
    done, answers = audit(path, *settings, 'mi325x.throughput=4000 token/s')
    check('fixed, does not hold', done.returncode == 1, done.stdout)


# ---- the table of claims

def table_rows(*arguments):
    done = run('audit', '--table', *arguments, '--format', 'csv')
    rows = {}
    for line in csv.DictReader(io.StringIO(done.stdout)):
        rows.setdefault(line['row'], {})[line['column']] = line['value']
    return done, rows


# id, recomputed (by hand from the catalogue), verdict
TABLE = [
    ('2', 288, 'holds'), ('4', 2 * 68.98, 'holds'), ('5', 148, 'holds'),
    ('6', 64, 'does not hold'), ('7', 4613.8 / 2614.9, 'does not hold'),
    ('21', 12535.25 / 4017.43, 'holds'), ('24', 100 * (1 - 9419.36 / 10267.01), 'does not hold'),
    ('25', 9, 'holds'), ('52', 89.79, 'does not hold'), ('54', 2.4, 'does not hold'),
    ('66', 12863.62 / 3902.47, 'does not hold'), ('70', 10233.81 / 4235.05, 'holds'),
    ('82', 100 * (1 - 22 / 35), 'holds'), ('83', 1000, 'does not hold'),
    ('96', 3.1337, 'does not hold'), ('97', 23.3414, 'does not hold'),
    ('119', 8 * 2614.9, 'does not hold'), ('macrs_5yr_y5', 11.52, 'holds'),
]


VERDICTS = ('holds', 'does not hold', 'depends on the reading', 'cannot be recomputed')


def check_table():
    done, rows = table_rows('data/claims.csv')
    with open(ROOT / 'data/claims.csv', encoding='utf-8') as file:
        ids = [line['id'] for line in csv.DictReader(file)]
    check('table: exit', done.returncode == 0, done.stderr)
    check('table: every row', list(rows) == ids, len(rows))
    check('table: a verdict or a reason each',
          all(line['verdict'] in VERDICTS and line['how']
              for line in rows.values()))
    check('table: half of it recomputed',
          sum(line['verdict'] != 'cannot be recomputed' for line in rows.values()) >= 60)
    for claim, value, verdict in TABLE:
        got = rows[claim]
        check(f'table: claim {claim}', got['verdict'] == verdict and
              abs(float(got['recomputed']) - value) <= 1e-4 * value, got)


RULES_HEAD = 'id,claim,value,unit,verdict,source_title,as_of,relation,formula,tolerance,how\n'
BAD_RULES = [  # relation, formula and tolerance; the column of the error, its message
    ('eqaul,1,', 14, "unknown relation 'eqaul'; did you mean 'equal'?"),
    (',1,', 15, 'expected a relation with this formula'),
    ('equal,,', 20, "expected a formula with 'equal'"),
    ('equal,1,much', 22, "expected a number as tolerance, found 'much'"),
    ('equal,2 *,', 23, 'expected a number'),
    ('equal,"min(1, 2",', 29, "expected ',' or ')' at the end"),
    ('equal,"round(1, 0) + [h200-sxm-141.memory]",', 35, "accelerators has no column 'memory'"),
    ('equal,[h200-sxm-141.memory_gb,', 20, "expected '[' with a ']'"),
    ('equal,1 + [mostly h200-sxm-141],', 24, 'is not a reference'),
    ('equal,1 + [claim 9],', 24, "there is no claim '9'"),
    ('equal,2 * memory,', 24, "expected a [reference], found 'memory'"),
    ('equal,sum(a),', 24, "expected a [reference]"),
    ('equal,1 < 2,', 22, 'a rule cannot use comparisons'),
    ('same_text,memory_type,', 24, 'expected one [ACCELERATOR.COLUMN]'),
]


ABSURD = [
    ('mi300x.list_price = 5000 .. 60000 USD', 'mi300x.list_price = 1 .. 1e150 USD', 'cannot be searched'),
    ('78 .. 82 %', '1e-308 .. 1e-307 %', 'cannot be searched for'),
    ('78 .. 82 %', '-1e308 .. 1e308 %', 'cannot be searched for'),
    ('1.3 +- 0.05', '1.3 +- 1e308', 'cannot be searched for'),
    ('1.3 +- 0.05', '1e308 +- 1', 'cannot be searched for'),
]


def check_absurd_numbers(folder):
    """Numbers that a search cannot distinguish from zero or infinity are refused with a message."""
    text = (ROOT / 'examples/claims/tokens-per-dollar.ini').read_text(encoding='utf-8')
    for old, new, words in ABSURD:
        assert old in text, old
        path = pathlib.Path(folder) / 'absurd.ini'
        path.write_text(text.replace(old, new), encoding='utf-8')
        done = run('audit', path)
        check(f'absurd: {new}', done.returncode == 2 and words in done.stderr
              and 'inf' not in done.stdout, (done.returncode, done.stderr))


def check_bad_rules(path):
    for rule, column, words in BAD_RULES:
        path.write_text(f'{RULES_HEAD}1,x,2,GB,,p,,{rule},\n', encoding='utf-8')
        done, _ = table_rows(path)
        check(f'bad rule: {rule}', done.returncode == 2 and words in done.stderr
              and f'{path}:2:{column}: ' in done.stderr, done.stderr)


def check_table_follows_the_catalogue():
    """Other figures give other verdicts: the rule has none of its own."""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / 'data'
        shutil.copytree(ROOT / 'data', data)
        text = (data / 'accelerators.csv').read_text(encoding='utf-8')
        text = text.replace('H200 SXM 141GB,Hopper,SXM5,141,', 'H200 SXM 141GB,Hopper,SXM5,160,')
        (data / 'accelerators.csv').write_text(text, encoding='utf-8')
        done, rows = table_rows('data/claims.csv', '--data', data)
        check('another memory', rows['55']['verdict'] == 'does not hold' and
              float(rows['55']['recomputed']) == 160, rows['55'])
        check('disagrees', done.returncode == 1 and rows['55']['agrees'].startswith('NO'),
              rows['55'])
        short = pathlib.Path(folder) / 'short.csv'
        short.write_text('id,claim,value\n1,x,2\n', encoding='utf-8')
        done, _ = table_rows(short)
        check('missing columns', done.returncode == 2 and "a column 'verdict'" in done.stderr,
              done.stderr)
        other = pathlib.Path(folder) / 'other.csv'
        other.write_text(RULES_HEAD + 'mine,memory,2,x,,a page,,,,,\n'
                         'own,memory,141,GB,,a page,,equal,[h200-sxm-141.memory_gb],,datasheet\n'
                         'new,memory,1,GB,,a page,,equal,[h900.memory_gb],,datasheet\n',
                         encoding='utf-8')
        done, rows = table_rows(other)
        check('a claim without a rule', done.returncode == 0 and
              rows['mine']['verdict'] == 'cannot be recomputed', rows)
        check('a rule of one\'s own', rows['own']['verdict'] == 'holds', rows)
        check('not in the catalogue', rows['new']['how'] == 'not in the catalogue: datasheet', rows)
        check_bad_rules(other)
    for arguments in (['audit'], ['audit', 'a.ini', 'b.ini'],
                      ['audit', 'a.ini', '--table', 'data/claims.csv'],
                      ['audit', '--table', 'nothing.csv']):
        check(' '.join(arguments), run(*arguments).returncode == 2)


# ---- bad input

HEAD = '''[scenario]
title = T
date = 2026-11-01
[common]
accelerators = 8
pue = 1
electricity_price = 0.1 USD/kWh
utilization = 70 %
[option a]
accelerator = h200-sxm-141
list_price = 30000 USD
[option b]
accelerator = mi325x-256
list_price = 20000 USD
throughput = 4000 token/s
'''
CLAIM = '[claim c]\nsays = saving of b over a = 30 % +- 1 %\n'
A_FREE = '[free]\na.throughput = 1000 .. 9000 token/s\n'
BAD = [  # what is added, and the message, at line:column of the text
    (CLAIM, 'throughput', ''),  # for option a: neither stated nor free
    (CLAIM + '[free]\na.throughput = 1000 .. token/s\n', "expected a quantity such as '100 token/s/gpu', not 'token/s'", '19:24'),
    (CLAIM + '[free]\na.throughput = 9000 .. 1000 token/s\n', 'not below its high end', '19:16'),
    (CLAIM + '[free]\nc.throughput = 1 .. 9 token/s\n', "there is no option 'c'", '19:1'),
    (CLAIM + A_FREE + '[claim d]\nsays = a.tco / c.tco = 3 +- 1\n', "no option 'c'", '21:16'),
    (CLAIM + A_FREE + '[claim d]\nsays = a.tko = 3 USD +- 1 USD\n', "unknown line item 'tko'",
     '21:10'),
    (CLAIM + 'with.a.throughput = 9500 token/s\n' + A_FREE, 'contradicts the free range', '18:21'),
    (CLAIM + 'with.b.discount = 5 %\nwith.b.discount = 6 %\n' + A_FREE, 'discount', '19:1'),
    (CLAIM + 'with.pue = 1.1\nwith.a.pue = 1.2\n' + A_FREE, "contradicts 'with.pue = 1.1'", '19:1'),
]


MANY = ('installation', 'purchase_tax', 'residual_value', 'cooling_share', 'repair_cost', 'utilization',
        'availability', 'scaling_efficiency', 'delivered', 'discount', 'spares')


def too_many():
    """36 free quantities."""
    rates = ('support', 'failure_rate', 'electricity_escalation', 'wage_growth', 'price_decline',
             'wacc', 'software_licence')
    return ''.join(f'{option}.{name} = 1 % .. 2 %\n' for option in 'ab' for name in MANY) + ''.join(
        f'{option}.{name} = 1 %/yr .. 2 %/yr\n' for option in 'ab' for name in rates[:-1]) + ''.join(
        f'{option}.{rates[-1]} = 1 USD/yr .. 2 USD/yr\n' for option in 'ab')


def check_bad_input():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'claim.ini'
        for text, message, place in BAD:
            path.write_text(HEAD + text, encoding='utf-8')
            done = run('audit', path)
            check(f'bad: {text!r}', done.returncode == 2 and message in done.stderr
                  and f':{place}' in done.stderr, (done.returncode, done.stderr))
            check(f'silent: {text!r}', done.stdout == '', done.stdout)
        path.write_text(HEAD + CLAIM + A_FREE + too_many(), encoding='utf-8')
        done = run('audit', path)
        check('bad: too many free', done.returncode == 2
              and '37 quantities are free: a search takes at most 31' in done.stderr,
              (done.returncode, done.stderr))
        path.write_text(HEAD + CLAIM + A_FREE, encoding='utf-8')
        check('the rest of it is good', run('audit', path, '-q').returncode == 0)
        path.write_text(HEAD.replace('30000 USD\n', '30000 USD\nthroughput = 4000 token/s\n')
                        + CLAIM, encoding='utf-8')
        done, answers = audit(path)
        check('nothing free: a plain check', done.returncode == 0 or answers['c']['no'],
              done.stdout)


def check_lacking():
    """A claim about an item that another option lacks: here what is paid after tax, which only b
    has."""
    claim = '[claim after]\nsays = b.after_tax_total = 150000 USD .. 250000 USD\n'
    free = '[free]\nb.discount = 0 .. 50 %\n'
    head = HEAD.replace('30000 USD\n', '30000 USD\nthroughput = 4000 token/s\n')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'claim.ini'
        for extra in ('', free):
            path.write_text(head + 'tax_rate = 25 %\n' + claim + CLAIM + extra, encoding='utf-8')
            done = run('audit', path, '-q')
            check(f'an item that a lacks {extra!r}', done.returncode in (0, 1) and 'after' in done.stdout,
                  (done.returncode, done.stderr))
        path.write_text(head + 'tax_rate = 25 %\n' + claim.replace('b.after', 'a.after'), encoding='utf-8')
        done = run('audit', path)
        check('of a itself', done.returncode == 2 and "option 'a' has no 'after_tax_total'" in done.stderr
              and ':19:8' in done.stderr, done.stderr)


def check_remedies():
    """What a vendor owes for missing its guarantee is named where an answer counts it: at an example or at the nearest
    value, in money or as a replacement."""
    head = HEAD.replace('throughput = 4000', 'guaranteed_throughput = 4500')
    free = '[free]\nb.throughput = 1000 .. 9000 token/s\na.throughput = 4000 .. 4001 token/s\n'
    slow, fast = (f'b.tco >= 1 USD\n[claim d]\nsays = b.throughput = {speeds} token/s/gpu'
                  for speeds in ('3000 .. 3100', '5000 .. 5100'))
    cases = [  # the terms, the claim, and what would leave the remedy out; '': nothing is owed
        ('remedy = 1 %', slow, 'b.remedy=0 %'),
        ('remedy = 0 %\nreplacement = 100 %', slow.replace('b.tco >= 1 USD', 'b.tokens_total >= 1 token'), 'b.replacement=0 %'),
        ('remedy = 1 %', fast, ''),
        ('remedy = 0 %', slow, ''),
        ('remedy = 1 %', 'b.tco <= 90000 USD\n[claim d]\nsays = b.throughput = 3000 token/s/gpu +- 1 %', 'b.remedy=0 %'),
        ('remedy = 1 %', 'a.capex = 1 USD +- 1 %\n[claim d]\nsays = b.throughput <= 2000 token/s/gpu', '')]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'claim.ini'
        for terms, says, key in cases:
            text = head.replace('guaranteed', f'{terms}\nguaranteed') + f'[claim c]\nsays = {says}\n{free}'
            path.write_text(text, encoding='utf-8')
            _, answers = audit(path)
            found = [one for one in answers['together']['warnings'] if 'what its vendor owes' in one]
            check(f'remedies: {terms}, {says}', len(found) == bool(key) and all(key in one for one in found), found)


def check_barred():
    """Claims that fail whatever the others do: each is named, and the miss is that claim's own. A's ratio reaches 9/4,
    and its 8 accelerators cost 240,000 USD; what is claimed may be written in millions."""
    fast, dear = '[claim fast]\nsays = a.throughput / b.throughput >= 3\n', '[claim dear]\nsays = a.capex <= 0.2 M USD\n'
    stated = HEAD.replace('30000 USD\n', '30000 USD\nthroughput = 4800 token/s\n')
    cases = [
        (HEAD + fast + dear + A_FREE, 'No: fast and dear cannot be true for any value of the free quantities; fast is '
                                      'furthest off, by 25 % of what is claimed.'),
        (HEAD + dear + A_FREE, 'No: dear cannot be true for any value of the free quantities; it misses by 20 % of what is '
                               'claimed.'),
        (stated + fast + dear, "No: fast and dear do not hold with the scenario's values; fast is furthest off, by 60 % of "
                               'what is claimed.'),
        (stated + fast, "No: fast does not hold with the scenario's values; it misses by 60 % of what is claimed.")]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'claim.ini'
        for text, sentence in cases:
            path.write_text(text, encoding='utf-8')
            done = run('audit', path, '-q')
            check(sentence, done.returncode == 1 and sentence in ' '.join(done.stdout.split()), (done.stdout, done.stderr))
        path.write_text(HEAD + dear + A_FREE, encoding='utf-8')
        shown = run('audit', path, '-q').stdout
        check('in dollars, without exponents', '200,000 USD' in shown and 'e+' not in shown, shown)


def check_time():
    """Three claims on four free quantities; processor time, which does not depend on other load."""
    text = (HEAD + CLAIM +
            '[claim share]\nsays = b.opex_total / b.tco = 20 % +- 1 %\n'
            '[claim dear]\nsays = saving of b over a = 10 % +- 1 %\nwith.b.discount = 0 %\n'
            '[free]\na.throughput = 1000 .. 9000 token/s\nb.throughput = 1000 .. 9000 token/s\n'
            'electricity_price = 0.01 .. 2 USD/kWh\nb.discount = 0 .. 60 %\n')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'claim.ini'
        path.write_text(text, encoding='utf-8')
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done, _ = audit(path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        check('under 2 s', done.returncode in (0, 1) and is_quick(spent, 2), spent)
        print(f'three claims, four free quantities: {spent:.2f} s')


def main():
    check_examples()
    check_plausibility()
    check_scenarios_apart()
    check_readings()
    check_intervals()
    check_no_room()
    check_faces()
    check_settings()
    check_table()
    check_table_follows_the_catalogue()
    check_bad_input()
    with tempfile.TemporaryDirectory() as folder:
        check_absurd_numbers(folder)
    check_lacking()
    check_remedies()
    check_barred()
    check_time()
    count.finish()


if __name__ == '__main__':
    main()
