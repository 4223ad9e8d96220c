#!/usr/bin/python3
"""Which published row counts for an option, and whose watts: chosen here independently from data/
alone.

    check_evidence_choice.py

The rule is in docs/evidence.md. Every accelerator, model, precision and scenario for which MLPerf has
rows is requested, and some of other sources; the program must choose the row that this script chooses,
report of how many, and use the watts of its own run, of a similar one, or the TDP. PERTOKEN names the
program.

Deep: all combinations rather than every seventh.
"""
import csv
import datetime
import json
import math
import re
import tempfile
import zipfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DEEP, ROOT, expect, near, run, run_json, table

HEAD = '''[scenario]
title = T
date = 2026-11-22
[common]
accelerators = 72
accelerators_per_node = 8
electricity_price = 0.08 USD/kWh
pue = 1.25
utilization = 70 %
list_price = 30000 USD
[workload]
'''


THROUGHPUT, MODELS, ACCELERATORS = (table(name).values() for name in ('throughput', 'models', 'accelerators'))
ACTIVE_B = {model['id']: float(model['active_params_b']) for model in MODELS}
TDP_W = {part['id']: part['tdp_w'] for part in ACCELERATORS}


def rate(row):
    return float(row['tokens_per_s_per_gpu'])


def grade(row):
    if row['kind'] == 'seed_claim':
        return 2
    return 0 if row['source_title'].startswith('MLPerf') else 1


def last_day(row):
    year, month, day = (row['as_of'].split('-') + ['', ''])[:3]
    if day:
        return datetime.date(int(year), int(month), int(day))
    month = int(month or 12)
    return datetime.date(int(year) + month // 12, month % 12 + 1, 1) - datetime.timedelta(1)


def first_day(row):
    year, month, day = (row['as_of'].split('-') + ['1', '1'])[:3]
    return datetime.date(int(year), int(month), int(day))


def year_before(day):
    return day.replace(year=day.year - 1, day=28 if (day.month, day.day) == (2, 29) else day.day)


def candidates(asked, lengths=(None, None)):
    """Rows of the requested columns; the best of each submitter, by throughput; and of how many."""
    rows = [row for row in THROUGHPUT if all(row[column] == value for column, value in asked.items())
            and row['token_basis'] == 'output' and not row['speculation']]
    rows = [row for row in rows if not grade(row) or all(
        length is None or row[column] and float(row[column]) == length
        for column, length in zip(('isl', 'osl'), lengths))]
    rows = [row for row in rows if grade(row) == min(map(grade, rows))]
    newest = max(map(first_day, rows), default=None)
    rows = [row for row in rows if last_day(row) >= year_before(newest)]
    ordered = sorted(rows, key=lambda row: (-rate(row), row['id']))
    best = {}
    for row in ordered:
        best.setdefault(row['submitter'] or row['source_title'], row)
    return sorted(best.values(), key=lambda row: (rate(row), row['id'])), len(rows)


def factor(a, b):
    return abs(math.log(a / b)) if a and b else math.inf


def active_b(row):
    return ACTIVE_B.get(row['model']) or float(row['active_params_b'] or 0)


def watts(chosen):
    """The row's own, else the nearest similar run's, else the TDP; and which row's they are."""
    if chosen['avg_gpu_power_w_total']:
        return float(chosen['avg_gpu_power_w_total']) / float(chosen['num_gpus']), chosen['id']
    if chosen['system_power_w']:
        return float(chosen['system_power_w']) / float(chosen['num_gpus']), chosen['id']
    near_by = []
    for row in THROUGHPUT:
        if (row['avg_gpu_power_w_total'] and row['token_basis'] == 'output' and
                all(row[column] == chosen[column] for column in ('accelerator', 'precision'))):
            size, speed = factor(active_b(row), active_b(chosen)), factor(rate(row), rate(chosen))
            if size <= math.log(2) and speed <= math.log(2):
                near_by.append((size + speed, row))
    if not near_by:
        return float(TDP_W[chosen['accelerator']] or 'nan'), ''
    row = min(near_by, key=lambda one: one[0])[1]
    return float(row['avg_gpu_power_w_total']) / float(row['num_gpus']), row['id']


class Asked:
    """A scenario with one option, and its results."""

    def __init__(self, folder, workload, option, power=''):
        said = ''.join(f'{key} = {value}\n' for key, value in workload.items())
        text = HEAD + said + '[option o]\n' + option + power
        self.path = Path(folder) / 'asked.ini'
        self.path.write_text(text, encoding='utf-8')

    def answer(self, *arguments):
        answer = run_json('compare', self.path, *arguments)
        self.option = answer['options'][0]
        self.warnings = ' | '.join(self.option['warnings'])
        return self

    def input(self, name):
        return self.option['inputs'][name]

    def chosen(self):
        return self.input('throughput')['source'].split(':')[0]


count = Count()


def ask(folder, row, option='', **workload):
    asked = {'model': row['model'], 'precision': row['precision'], 'scenario': row['scenario'], **workload}
    power = '' if TDP_W[row['accelerator']] else 'load_power = 1 W\n'
    return Asked(folder, asked, f'accelerator = {row["accelerator"]}\n{option}', power)


def is_chosen(folder, row):
    asked = {column: row[column] for column in ('accelerator', 'model', 'precision', 'scenario')}
    best, fit = candidates(asked)
    middle = best[(len(best) - 1) // 2]
    one = ask(folder, row).answer()
    expect(one.chosen() == middle['id'], f'{one.chosen()} instead of {middle["id"]}')
    expect(near(one.input('throughput')['value'], rate(middle)), one.warnings)
    if len(best) > 1:
        expect(f"{len(best)} submitters' best" in one.warnings and f'({fit} rows fit)' in one.warnings,
               one.warnings)
    expect(('fewer than three submitters' in one.warnings) == (len(best) < 3), one.warnings)
    watts_w, of = watts(middle)
    if TDP_W[row['accelerator']]:
        expect(near(one.input('load_power')['value'], watts_w), f'{watts_w} W of {of or "the TDP"}: {one.warnings}')
        own = of == middle['id']
        expect(one.input('load_power')['grade'] == (one.input('throughput')['grade'] if own else 'projected'),
               f'watts of {of or "the TDP"} are {one.input("load_power")["grade"]}')
        expect(('power under load' in one.warnings) != own, one.warnings)
        expect(of in one.input('load_power')['source'], one.input('load_power')['source'])


def every_combination(folder):
    seen = {}
    for row in THROUGHPUT:
        if not grade(row) and row['model'] and row['token_basis'] == 'output':
            seen.setdefault((row['accelerator'], row['model'], row['precision'], row['scenario']), row)
    expect(len(seen) > 80, f'only {len(seen)} combinations')
    for number, (name, row) in enumerate(seen.items()):
        if DEEP or number % 7 == 0:
            count.test(' '.join(name), is_chosen, folder, row)


def the_thirteen(folder):
    """Of 14 audited rows of B200 with Llama 3.1 405B, one of the 13 between 155 and 160 token/s."""
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0370')
    one = ask(folder, row).answer()
    expect(155 <= one.input('throughput')['value'] <= 160, one.warnings)
    best = ask(folder, row, 'evidence = best\n').answer().input('throughput')['value']
    lowest = ask(folder, row, 'evidence = lowest\n').answer().input('throughput')['value']
    median = ask(folder, row, 'evidence = Median\n').answer().input('throughput')['value']
    expect(lowest < median < best and median == one.input('throughput')['value'], f'{lowest} {median} {best}')
    named = ask(folder, row, 'evidence = tp0370\n').answer()
    expect(near(named.input('throughput')['value'], rate(row)) and f'by the rule it is {one.chosen()}'
           in named.warnings, named.warnings)


def every_face(folder):
    """What the row was chosen from, on the terminal, in CSV and JSON, in the workbook and the page."""
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0370')
    one = ask(folder, row).answer()
    words = r"the\s+lower\s+median\s+of\s+10\s+submitters'\s+best"
    for face in ('table', 'csv'):
        shown = run('compare', one.path, '--format', face)
        expect(re.search(words, shown.stdout + shown.stderr), face)
    for command, suffix in (('report', 'xlsx'), ('page', 'html')):
        file = Path(folder) / f'face.{suffix}'
        done = run(command, one.path, '-o', file)
        expect(done.returncode == 0, done.stderr)
        text = file.read_bytes()
        if suffix == 'xlsx':
            with zipfile.ZipFile(file) as archive:
                text = b''.join(map(archive.read, archive.namelist()))
        expect(re.search(words.replace("'", "(?:'|&apos;|&#39;)").encode(), text), suffix)


def of_one_row(folder):
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0520')
    one = ask(folder, row, 'evidence = median\n').answer()
    expect('evidence = median has one to choose from' in one.warnings, one.warnings)


def what_is_open(folder):
    """Rows that differ in what the workload leaves open are not mixed: it must specify which."""
    part = 'accelerator = h200-sxm-141\n'
    for workload, words in (
            ({'model': 'llama-2-70b', 'precision': 'fp8'}, 'with several scenarios.*offline.*server'),
            ({'model': 'llama-2-70b', 'scenario': 'server', 'precision': 'int8'},
             'has precision = int8; available: fp8'),
            ({'model': 'llama-3.1-70b', 'precision': 'fp8', 'scenario': 'offline max throughput'},
             'with several request lengths.*1000 in, 1000 out')):
        done = run('compare', Asked(folder, workload, part).path)
        expect(done.returncode == BAD_INPUT and re.search(words, done.stderr, re.S), done.stderr)


def values_within_others(folder):
    """A value that is part of another is listed beside it."""
    folder = Path(folder)
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0370')
    rows = [{**row, 'table': 'throughput', 'id': f'own{number}', 'precision': 'int4', 'scenario': scenario}
            for number, scenario in enumerate(('peak concurrency', 'concurrency'))]
    extra = folder / 'extra.csv'
    with extra.open('w', encoding='utf-8', newline='') as file:
        writer = csv.DictWriter(file, ['table', *row])
        writer.writeheader()
        writer.writerows(rows)
    for scenario, words in (('', 'choose with scenario.*: peak concurrency; concurrency\n'),
                            ('scenario = server\n', 'available: peak concurrency; concurrency ')):
        path = folder / 'within.ini'
        path.write_text(HEAD + f'model = {row["model"]}\nprecision = int4\n{scenario}'
                        f'[option o]\naccelerator = {row["accelerator"]}\n', encoding='utf-8')
        done = run('compare', path, '--data-extra', extra)
        expect(done.returncode == BAD_INPUT and re.search(words, done.stderr), done.stderr)


def stated_lengths(folder):
    asked = {'accelerator': 'h200-sxm-141', 'model': 'llama-3.1-70b', 'precision': 'fp8',
             'scenario': 'offline max throughput'}
    best, _ = candidates(asked, (2048, 128))
    one = Asked(folder, {'model': asked['model'], 'precision': 'fp8', 'scenario': asked['scenario'],
                         'input_tokens': '2048 token', 'output_tokens': '128 token'},
                f'accelerator = {asked["accelerator"]}\n').answer()
    expect(one.chosen() == best[(len(best) - 1) // 2]['id'], one.chosen())
    for lengths, words in (((128, 128), 'have another published throughput'),
                           ((7, 7), 'have request lengths other than')):
        changed = one.path.with_name('case.ini')
        case = '[case c]\ninput_tokens = %d token\noutput_tokens = %d token\n' % lengths
        changed.write_text(one.path.read_text() + case)
        refused = run('compare', changed)
        expect(refused.returncode == BAD_INPUT and "option 'o' in case 'c'" in refused.stderr and
               words in refused.stderr, refused.stderr)
        changed.write_text(one.path.read_text() + case + 'o.throughput = 9 token/s\n')
        expect(run_json('compare', changed, '--case', 'c')['options'][0]['inputs']['throughput']['value'] == 9, 'typed')
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0370')
    benchmark = ask(folder, row, input_tokens='8192 token', output_tokens='1024 token').answer()
    expect("its requests have MLPerf's lengths" in benchmark.warnings, benchmark.warnings)


def lengths_of_a_named_row(folder):
    """A row that is named must have the lengths asked for; rows of other lengths than another option's are refused."""
    rows = {name: next(row for row in THROUGHPUT if row['id'] == name) for name in ('tp1092', 'tp1093', 'tp1096')}
    expect([row['osl'] for row in rows.values()] == ['1024', '1024', '8192'], str(rows))
    lengths = {'input_tokens': '1024 token', 'output_tokens': '1024 token'}
    expect(ask(folder, rows['tp1093'], 'evidence = tp1093\n', **lengths).answer().chosen() == 'tp1093', 'tp1093')
    refused = run('compare', ask(folder, rows['tp1096'], 'evidence = tp1096\n', **lengths).path)
    expect(refused.returncode == BAD_INPUT and
           "'tp1096' has output_tokens = 8192, but the workload asks for 1024" in refused.stderr, refused.stderr)
    path = Path(folder) / 'lengths.ini'
    path.write_text(HEAD + 'model = deepseek-v3\nprecision = fp4\nscenario = offline max throughput\n'
                    '[option a]\naccelerator = b200-sxm-180\nevidence = tp1092\n'
                    '[option b]\naccelerator = gb200-nvl72\nevidence = tp1093\n', encoding='utf-8')
    expect(run('compare', path).returncode == 0, 'the same lengths')
    refused = run('compare', path, '--set', 'b.evidence=tp1096')
    expect(refused.returncode == BAD_INPUT and 'output_tokens: 1024 and 8192' in refused.stderr, refused.stderr)
    mixed = run_json('compare', path, '--set', 'b.evidence=tp1096', '--mixed')
    expect(mixed['options'][1]['items'] and not mixed.get('cheapest'), str(mixed.get('cheapest')))


def loads_that_differ(folder):
    """Records of decoding at other contexts are not compared, though the workload leaves the context open."""
    path = Path(folder) / 'contexts.ini'
    text = '[scenario]\n[workload]\nmodel = mistral-7b\nbasis = decode\nutilization = 60 %\n[common]\n' \
           'rental_rate = 0.1 USD/gpu/h\naccelerators = 1\naccelerators_per_node = 1\n'
    for name, record in (('a', '1542b2dc'), ('b', 'ad9afe94')):
        text += f'[option {name}]\naccelerator = cpu\nrecord = mistral-7b-cpu-{record}.json\n'
    path.write_text(text, encoding='utf-8')
    refused = run('compare', path, '--measurements', ROOT / 'data/measured')
    expect(refused.returncode == BAD_INPUT and 'not comparable, context: 512 and 1024' in refused.stderr, refused.stderr)


def spread_as_a_range(folder):
    """Each submitter's best is equally likely."""
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0370')
    best, _ = candidates({column: row[column] for column in ('accelerator', 'model', 'precision', 'scenario')})
    one = ask(folder, row, 'evidence_spread = yes\n').answer()
    cost = one.option['items']['cost_per_mtok'] * rate(best[(len(best) - 1) // 2])
    drawn = run_json('simulate', one.path, '--draws', '20000')
    mean = sum(cost / rate(each) for each in best) / len(best)
    found = float(re.search(r'"mean": ?([0-9.eE+-]+)', json.dumps(drawn)).group(1))
    expect(near(found, mean, 1e-4), f'{found} instead of {mean}')
    typed = Asked(folder, {'model': row['model']}, f'accelerator = {row["accelerator"]}\n'
                  'throughput = 100 token/s\nevidence_spread = yes\n')
    refused = run('compare', typed.path)
    expect(refused.returncode == BAD_INPUT and 'no published throughputs' in refused.stderr, refused.stderr)


def four_bits(folder):
    """fp4 and mxfp4 are one family for a model that is published in mxfp4, and for no other."""
    def of(model, said, options):
        path = Path(folder) / 'four.ini'
        path.write_text(f'{HEAD}model = {model}\n{said}{options}', encoding='utf-8')
        return path

    looked_up = '[option a]\naccelerator = h200-sxm-141\n[option b]\naccelerator = b300-sxm-288\n'
    typed = ('[option a]\naccelerator = h100-sxm5-80\nprecision = mxfp4\nthroughput = 2000 token/s\n'
             '[option b]\naccelerator = mi355x-288\nprecision = fp4\nthroughput = 9000 token/s\n')
    note = 'a and b are compared in mxfp4 and fp4, treated as one here'
    path = of('gpt-oss-120b', 'precision = mxfp4\nscenario = server\n', looked_up)
    for shown in (run('compare', path).stdout, run('compare', path, '--format', 'json').stdout,
                  run('compare', path, '--format', 'csv').stderr):
        expect(note in ' '.join(shown.split()), shown)
    answer = run_json('compare', path)
    expect([one['workload']['precision'] for one in answer['options']] == ['mxfp4', 'fp4'], answer['options'])
    shown = run('compare', of('gpt-oss-120b', '', typed)).stdout
    expect(note in ' '.join(shown.split()) and 'costs least' in shown, shown)
    refused = run('compare', of('llama-2-70b', '', typed))
    expect(refused.returncode == BAD_INPUT and 'precision: mxfp4 and fp4' in refused.stderr, refused.stderr)


def power_of_a_node(folder):
    """MLPerf's watts of a whole node include the host's, which are not paid twice."""
    row = next(row for row in THROUGHPUT if row['id'] == 'tp0138')
    node_w = float(row['system_power_w']) / float(row['num_gpus'])
    one = ask(folder, row, 'evidence = tp0138\n').answer()
    expect(near(one.input('load_power')['value'], node_w) and one.input('load_power')['grade'] == 'benchmark',
           one.input('load_power'))
    expect('host power' not in one.warnings and 'power under load' not in one.warnings, one.warnings)
    stated = ask(folder, row, 'evidence = tp0138\nhost_power = 305 W/gpu\n').answer()
    expect(near(stated.input('load_power')['value'], node_w - 305), stated.input('load_power'))
    expect(near(stated.option['items']['it_power'], one.option['items']['it_power']), stated.option['items'])
    for base in ('', 'host_power = 100 W/gpu\n'):
        cases = ask(folder, row, f'evidence = tp0138\n{base}[case host]\no.host_power = 305 W/gpu\n'
                    '[case typed]\no.load_power = 500 W/gpu\n')
        inputs = cases.answer('--case', 'host').option['inputs']
        expect(near(inputs['load_power']['value'], node_w - 305) and inputs['host_power']['value'] == 305, inputs)
        expect('less host_power' in inputs['load_power']['source'], inputs['load_power'])
        cases.answer('--case', 'typed')
        expect(('host power' in cases.warnings) == (not base), cases.warnings)
    refused = run('compare', ask(folder, row, 'evidence = tp0138\n[case host]\no.host_power = 9000 W/gpu\n').path)
    expect(refused.returncode == BAD_INPUT and "'host_power' of 9000 W/gpu, but its whole node drew" in refused.stderr,
           refused.stderr)


NODE = HEAD.replace('[common]\n', '[common]\nhost_power = 300 W/gpu\n') + """\
model = llama-2-70b
precision = fp4
scenario = server
[option node]
accelerator = b200-sxm-180
evidence = tp0138
"""
TYPED = """\
[option typed]
accelerator = b200-sxm-180
throughput = 12000 token/s
load_power = 1000 W
"""


def host_in_a_node(folder):
    """The host's watts are part of those measured of the node: a change of them alone has no effect."""
    both, only, other = (Path(folder) / name for name in ('both.ini', 'only.ini', 'other.ini'))
    both.write_text(NODE + TYPED, encoding='utf-8')
    only.write_text(NODE, encoding='utf-8')
    costs = [[run_json('compare', both, '--set', f'host_power={watts} W')['options'][o]['items']['cost_per_mtok']
              for watts in (200, 300, 400)] for o in (0, 1)]
    expect(near(costs[0][0], costs[0][2]) and costs[1][0] < costs[1][1] < costs[1][2], costs)
    swing = next(one for one in run_json('sensitivity', both)['swings'] if one['input'] == 'host_power')
    low, high = swing['low']['costs'], swing['high']['costs']
    expect(low['node'] == high['node'] and low['typed'] < high['typed'], swing)
    names = [one['input'] for one in run_json('sensitivity', only)['swings']]
    expect('load_power' in ' '.join(names) and 'host_power' not in ' '.join(names), names)

    alone = 'part of the power of the whole node'
    for asked in (('solve', '--option', 'node', '--for'), ('sensitivity', '--grid')):
        name = 'host_power=200:400:50' if '--grid' in asked else 'host_power'
        refused = run(asked[0], only, *asked[1:], name)
        expect(refused.returncode == BAD_INPUT and alone in refused.stderr, refused.stderr)
    ranged = '[scenario]\ninherits = {}\n[range]\n{} = uniform(200, 400) W/gpu\n'
    for name, key in (('only.ini', 'host_power'), ('both.ini', 'node.host_power')):
        other.write_text(ranged.format(name, key), encoding='utf-8')
        refused = run('compare', other)
        expect(refused.returncode == BAD_INPUT and f"4:1: error: a range on 'host_power' has no effect: it is {alone}"
               in refused.stderr, refused.stderr)
    other.write_text(ranged.format('both.ini', 'host_power'), encoding='utf-8')
    drawn = {one['option']: one['percentiles'] for one in run_json('simulate', other, '--draws', 1024)['outcomes']
             if one['kind'] == 'cost'}
    expect(drawn['node']['P5'] == drawn['node']['P95'] and drawn['typed']['P5'] < drawn['typed']['P95'], drawn)

    other.write_text('[scenario]\ninherits = both.ini\n[common]\nhost_power = 400 W\n', encoding='utf-8')
    parts = {one['id']: one['alone'] for one in run_json('diff', both, other)['options']}
    expect('load_power' not in parts['node'] and all(near(one['cost_per_mtok'], costs[0][1])
                                                     for one in parts['node'].values()), parts)


def rounds_that_differ(folder):
    text = HEAD + 'model = llama-2-70b\nprecision = fp8\nscenario = server\n'
    text += '[option a]\naccelerator = h200-sxm-141\n[option b]\naccelerator = mi300x-192\n'
    path = Path(folder) / 'two.ini'
    path.write_text(text, encoding='utf-8')
    answer = run('compare', path)
    ours = {name: candidates({'accelerator': part, 'model': 'llama-2-70b', 'precision': 'fp8',
                              'scenario': 'server'})[0] for name, part in
            (('a', 'h200-sxm-141'), ('b', 'mi300x-192'))}
    days = [rows[(len(rows) - 1) // 2]['as_of'] for rows in ours.values()]
    said = 'of different rounds' in ' '.join(answer.stdout.split())
    expect(said == (days[0] != days[1]), f'{days}: {answer.stdout}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (the_thirteen, every_face, of_one_row, what_is_open, values_within_others, stated_lengths, lengths_of_a_named_row,
                     loads_that_differ, spread_as_a_range, rounds_that_differ, four_bits, power_of_a_node, host_in_a_node):
            count.test(test.__name__.replace('_', ' '), test, folder)
        every_combination(folder)
    count.finish()


if __name__ == '__main__':
    main()
