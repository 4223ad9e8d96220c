#!/usr/bin/python3
"""Every face of an answer says what must not be missed: the warnings, the stamp of what is compared, the draws' seed.

PERTOKEN names the program.
Seconds: 12
"""
import csv
import io
import json

from support.plans import head
from support.program import DONE, NO, ROOT, expect, run, run_csv, run_json, run_tests

EXAMPLES = ROOT / 'examples'

# Two that may only be compared with --mixed, with a range and a case.
MIXED = """\
[scenario]
title = Mixed
horizon = 3 yr
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp8
utilization = 70 %
[common]
accelerators = 8
pue = 1.25
electricity_price = 0.08 USD/kWh
[option h200]
accelerator = h200-sxm-141
list_price = 35000 USD
throughput = 4000 token/s
[option mi325x]
label = MI325X, decoding
accelerator = mi325x-256
list_price = 22000 USD
decode_throughput = 4200 token/s
[range]
electricity_price = triangular(0.05, 0.08, 0.14) USD/kWh
[case dear]
electricity_price = 0.2 USD/kWh
"""
STAMPS = ('MIXED: h200 and MI325X, decoding differ in basis', 'Upper bound, decode only (prefill time ignored): MI325X')

# An order that depends on what is drawn.
PLANNED = head('1 yr', '6 month', y='') + """\
[demand a]
tokens = 6e10 token/month
growth = 130 %/yr
ready.y = no
[range]
x.throughput = discrete(1000: 1, 1400: 1) token/s/gpu
[plan]
draws = 16
seed = 7
"""


def forms(*arguments):
    """What a command prints as a table, on one line, as CSV and as JSON; and its warnings on standard error."""
    printed, said = {}, ''
    for form in ('table', 'csv', 'json'):
        done = run(*arguments, '--format', form)
        expect(done.returncode in (DONE, NO), f'{arguments}: {done.stderr}')
        printed[form], said = done.stdout, done.stderr
    start = 'pertoken: warning: '
    warnings = [line.removeprefix(start) for line in said.splitlines() if line.startswith(start)]
    return ' '.join(printed['table'].split()), printed['csv'], json.loads(printed['json']), warnings


def mixed(folder):
    path = folder / 'mixed.ini'
    path.write_text(MIXED)
    return path


# ---- warnings: those of the scenario and its options

def own_warnings(document):
    return [text for answer in document.get('answers', [document]) for text in answer['warnings']]


def of_csv(text):
    """The texts of the lines with a warning, whichever field says that they are one."""
    return [field for line in csv.reader(io.StringIO(text)) if 'warning' in line for field in line]


def check_warnings(folder, name):
    arguments = WARNING[name]
    _, table, document, warnings = forms(*(word(folder) if callable(word) else word for word in arguments))
    said = document['warnings'] + (own_warnings(document) if 'answers' in document else [])
    expect(warnings, 'the example has no warning')
    expect(not set(warnings) - set(said), f'not in JSON: {set(warnings) - set(said)}')
    expect(len(said) == len(set(said)), f'twice in JSON: {said}')
    if table.splitlines()[0].startswith(('"input",', '"depth",', '"cost_per_mtok"')):
        return  # a row for each line of a table has no room for them
    fields = of_csv(table)
    lacking = [text for text in warnings if text not in fields and text.split(': ', 1)[1] not in fields]
    expect(not lacking, f'not in CSV: {lacking}')


def parts(folder):
    """One of two shards: what it says of the scenario comes from the file."""
    path = folder / 'part.json'
    run('simulate', mixed(folder), '--mixed', '--draws', '20000', '--shard', '1/2', '-q', '-o', path)
    return path


WARNING = {
    'finance': ('finance', mixed, '--mixed'),
    'compare': ('compare', mixed, '--mixed'),
    'all cases': ('compare', mixed, '--mixed', '--all-cases'),
    'sensitivity': ('sensitivity', mixed, '--mixed'),
    'solve': ('solve', mixed, '--mixed', '--option', 'mi325x', '--for', 'list_price', '--draws', '256'),
    'simulate': ('simulate', mixed, '--mixed', '--draws', '256'),
    'explain': ('explain', mixed, 'mi325x.net_price', '--mixed'),
    'audit': ('audit', EXAMPLES / 'claims' / 'mi350x-2.4.ini'),
    'route': ('route', EXAMPLES / 'portfolio.ini'),
    'wait': ('wait', EXAMPLES / 'wait.ini'),
    'rent': ('rent', EXAMPLES / 'rent-or-own.ini'),
}


def test_warnings_of_two(folder):
    """diff says whose they are."""
    path = mixed(folder)
    _, table, document, warnings = forms('diff', path, path, '--mixed')
    for text in warnings:
        for side in 'AB':
            expect(f'{side}: {text}' in document['warnings'] and f'{side}: {text}' in of_csv(table), text)


# ---- the stamp

def check_stamp(folder, name):
    arguments = [word(folder) if callable(word) else word for word in STAMPED[name]]
    table, lines, document, _ = forms(*arguments)
    for words in STAMPS:
        expect(words in table, f'not shown: {words}')
        expect(words in lines, f'not in CSV: {words}')
        expect(words in document['stamp'], f'not in JSON: {document.get("stamp")}')
    rows = list(csv.DictReader(io.StringIO(lines)))
    if 'stamp' in rows[0]:
        expect(all(row['stamp'] == document['stamp'] for row in rows), 'a row without its stamp')


STAMPED = {name: arguments for name, arguments in WARNING.items() if '--mixed' in arguments} | {
    'diff': ('diff', mixed, mixed, '--mixed'),
    'grid': ('sensitivity', mixed, '--mixed', '--grid', 'wacc=6:10:2 %/yr,pue=1.1:1.3:0.1'),
    'merge': ('merge', parts),
}


def test_no_stamp(folder):
    path = EXAMPLES / 'mi325x-vs-h200.ini'
    expect('stamp' not in run_json('finance', path), 'JSON')
    expect('stamp' not in run_csv('sensitivity', path)[0], 'CSV')


# ---- draws

def test_seed_of_a_simulation(folder):
    rows = run_csv('simulate', mixed(folder), '--mixed', '--draws', '256', '--seed', '7')
    found = {row['statistic']: row['value'] for row in rows if row['kind'] == 'draws'}
    expect(found == {'draws': '256', 'done': '256', 'seed': '7', 'method': 'sobol', 'partial': '0'}, found)
    said = {row['kind']: row['value'] for row in rows if row['kind'] in ('stamp', 'warning')}
    expect(said['stamp'].startswith('MIXED: ') and said['warning'].startswith('MI325X, decoding: '), said)
    half = {row['statistic']: row['value'] for row in run_csv('merge', parts(folder)) if row['kind'] == 'draws'}
    expect(half['partial'] == '1' and half['draws'] == '20000' and 0 < int(half['done']) < 20000, half)


def test_seed_of_an_interval(folder):
    table, lines, document, _ = forms('compare', mixed(folder), '--mixed')
    rows = {row['item']: row['value'] or row['label'] for row in csv.DictReader(io.StringIO(lines))}
    expect((rows['draws'], rows['seed'], rows['method']) == ('65536', '1', 'sobol'), rows)
    expect(document['drawn'] == {'draws': 65536, 'seed': 1, 'method': 'sobol'}, document['drawn'])
    expect('65,536 draws (sobol, seed 1)' in table, 'not shown')


def test_seed_of_a_solution(folder):
    arguments = ('solve', mixed(folder), '--mixed', '--option', 'mi325x', '--for', 'list_price', '--draws', '256', '--seed', '7')
    [row] = run_csv(*arguments)
    expect((row['draws'], row['seed'], row['method'], row['partial']) == ('256', '7', 'sobol', '0'), row)
    expect(',256,7,"sobol",0,' in run(*arguments, '-q', '--format', 'csv').stdout, 'a number among texts')


def check_drawn(what, count, *arguments):
    table, lines, document, _ = forms(*arguments)
    drawn = {row['row']: row['value'] for row in csv.DictReader(io.StringIO(lines)) if row['table'] == 'drawn'}
    expect(drawn == {'draws': str(count), 'seed': '7', 'method': 'sobol'}, f'{what}: {drawn}')
    expect(document['answers'][0]['drawn'] == {'draws': count, 'seed': 7, 'method': 'sobol'}, what)
    expect(f'{count} draws (sobol, seed 7)' in table, f'{what}: {table}')


def test_seed_of_questions(folder):
    path = folder / 'wait.ini'
    path.write_text((EXAMPLES / 'wait.ini').read_text().replace('[wait b200]', '[wait b200]\ndraws = 512\nseed = 7'))
    check_drawn('wait', 512, 'wait', path)
    path = folder / 'plan.ini'
    path.write_text(PLANNED)
    check_drawn('plan', 16, 'plan', path)


if __name__ == '__main__':
    run_tests(globals(), warnings=(WARNING, check_warnings), stamp=(STAMPED, check_stamp))
