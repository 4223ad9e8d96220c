#!/usr/bin/python3
"""The simulate and merge commands as their users run them.

    check_simulation.py [full]

The numbers are compared with a plain simulation in Python of the same ranges, on a scenario whose cost
has a closed form. PERTOKEN names the program.
Seconds: 18
"""
import csv
import io
import json
import math
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'workbook'))
import xlsx  # noqa: E402
import zipfile
from support import program  # noqa: E402
from support.program import Count, DONE, PERTOKEN, ROOT, expect  # noqa: E402

EXAMPLE = 'examples/uncertainty.ini'
RANKS = PERTOKEN.parent / 'lib/pertoken/mpi/ranks.so'
count = Count()
check = count.check

# Rent only: the cost per Mtok is rental_rate / throughput / utilization, in USD per Mtok.
RENTED = """\
[scenario]
title = Rented
date = 2026-11-01
horizon = 1 yr
baseline = a

[common]
accelerators = 8
accelerators_per_node = 8
utilization = 50 %

[option a]
accelerator = h100-sxm5-80
rental_rate = 2 USD/gpu/h
throughput = 1000 token/s

[option b]
accelerator = h100-sxm5-80
rental_rate = 2 USD/gpu/h
throughput = 1000 token/s
"""
SECONDS = 3600


def run(*arguments, threads=None):
    return program.run(*arguments, environment={'OMP_NUM_THREADS': threads})


def simulated(*arguments, threads=None):
    done = run('simulate', *arguments, '-q', '--format', 'json', threads=threads)
    expect(done.returncode == DONE, done.stderr)
    return json.loads(done.stdout)


def outcome(result, kind, option):
    return next(o for o in result['outcomes'] if (o['kind'], o['option']) == (kind, option))


def scenario(folder, ranges):
    path = pathlib.Path(folder) / 'rented.ini'
    path.write_text(RENTED + ranges, encoding='utf-8')
    return path


def cost(rate, throughput, utilization=0.5):
    return rate / (throughput * SECONDS * utilization / 1e6)


def check_numbers(folder):
    """Compared with as many random draws in Python, within five of its standard errors."""
    path = scenario(folder, '[range]\na.rental_rate = uniform(1.5, 2.5) USD/gpu/h\n'
                            'a.throughput = triangular(700, 1000, 1100) token/s\n'
                            'utilization = uniform(40, 60) %\n')
    seed = simulated(path, '--draws', 64, '--seed', 2**60 + 1)['seed']
    check('a seed keeps all its digits', seed == 2**60 + 1, seed)
    result = simulated(path, '--draws', 65536)
    draws = random.Random(20261121)
    costs, savings = [], []
    for _ in range(200000):
        utilization = draws.uniform(0.4, 0.6)
        mine = cost(draws.uniform(1.5, 2.5), draws.triangular(700, 1100, 1000), utilization)
        costs.append(mine)
        savings.append(1 - cost(2, 1000, utilization) / mine)
    for kind, option, values in (('cost', 'a', costs), ('saving', 'b', savings)):
        found = outcome(result, kind, option)
        error = statistics.stdev(values) / math.sqrt(len(values))
        check(f'mean {kind}', abs(found['mean'] - statistics.fmean(values)) < 5 * error,
              (found['mean'], statistics.fmean(values), error))
        values.sort()
        for level in (5, 25, 50, 75, 95):
            rank = sum(v < found['percentiles'][f'P{level}'] for v in values) / len(values)
            deviation = math.sqrt(level / 100 * (1 - level / 100) / len(values))
            check(f'P{level} {kind}', abs(rank - level / 100) < 5 * deviation, (level, rank))
    wins = sum(s > 0 for s in savings) / len(savings)
    check('cheapest', abs(result['cheapest']['b'] - wins) < 0.006, (result['cheapest'], wins))
    influences = outcome(result, 'saving', 'b')['influences']
    check('what both share has no influence on the saving',
          abs(influences['utilization']['total']) < 1e-6, influences)


def run_ranks(ranks, *arguments, **environment):
    as_root = {'OMPI_ALLOW_RUN_AS_ROOT': 1, 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1}
    return program.run('-n', ranks, '--oversubscribe', '-x', 'OMP_NUM_THREADS', PERTOKEN, *arguments,
                       program='mpirun', environment={**as_root, 'OMP_NUM_THREADS': 2, **environment})


def check_ranks(folder, one):
    """The same as processes of an mpirun, with errors reported once."""
    if not shutil.which('mpirun') or not RANKS.exists():
        count.skip('ranks', f'no {"mpirun" if RANKS.exists() else "plugin for MPI"} here')
        return
    for ranks, extra in ((4, ()), (2, ('--method', 'random')), (3, ('--draws', 300))):
        arguments = ('simulate', EXAMPLE, '-q', '--draws', 20000, *extra, '--format', 'json')
        done = run_ranks(ranks, *arguments)
        check(f'{ranks} ranks', done.returncode == 0 and done.stderr == '', done.stderr)
        alone = one if not extra else simulated(*arguments[1:-2])
        check(f'{ranks} ranks as one', json.loads(done.stdout or '{}') == alone, done.stdout[:200])
    done = run_ranks(4, 'simulate', 'examples/uncertainty.ini', '--set', 'pue=0.5')
    check('an error once', done.returncode == 2 and done.stderr.count("'pue' must be") == 1,
          (done.returncode, done.stderr))
    path = scenario(folder, '[item odd]\nlabel = Odd\nunit = USD/yr\ngroup = opex\n'
                            'formula = 1 USD/yr / max(0, 1.4998 - pue)\n'
                            '[range]\npue = uniform(1.2, 1.5)\n')
    path.write_text(path.read_text().replace('[common]', '[common]\npue = 1.2'), encoding='utf-8')
    arguments = ('simulate', path, '--draws', 20000, '--method', 'random')
    alone, together = run(*arguments), run_ranks(3, *arguments)
    check('the first bad draw', alone.returncode == together.returncode == 2
          and 'no finite value in draw' in alone.stderr and alone.stderr.strip() in together.stderr,
          (alone.stderr, together.stderr))
    part = pathlib.Path(folder) / 'ranked.json'
    done = run_ranks(2, 'simulate', EXAMPLE, '-q', '--shard', '1/2', '-o', part)
    check('a shard is no matter of ranks', done.returncode == 0 and part.exists(), done.stderr)
    path = scenario(folder, '[range]\na.throughput = uniform(900, 1100) token/s\n')
    for other in ((EXAMPLE, '--seed', 2), (path,)):
        done = run_ranks(1, 'simulate', EXAMPLE, ':', '-n', 1, PERTOKEN, 'simulate', *other)
        check('processes that do not agree', done.returncode == 2 and not done.stdout
              and done.stderr.count('do not simulate the same') == 1, (done.returncode, done.stderr))
    done = run_ranks(2, 'simulate', EXAMPLE, PERTOKEN_PLUGINS=folder)
    check('without the plugin', done.returncode == 2 and 'built without MPI' in done.stderr,
          done.stderr)


def check_measured(folder):
    """The probe's own samples as a range, and the message about a comparison of different workloads."""
    path = pathlib.Path(folder) / 'measured.ini'
    path.write_text(f'[scenario]\ninherits = {ROOT}/examples/measured/this-machine.ini\n'
                    '[range]\nthis_machine.decode_throughput = from measurement\n', encoding='utf-8')
    where = ('--measurements', 'data/measured', '--mixed')
    result = simulated(path, *where)
    found = outcome(result, 'cost', 'this_machine')
    inputs = json.loads(run('compare', path, *where, '-q', '--format', 'json').stdout)
    usual = next(o for o in inputs['options'] if o['id'] == 'this_machine')['items']['cost_per_mtok']
    check('around the record', 0.9 < found['percentiles']['P50'] / usual < 1.1, (found, usual))
    # Devices differ by 2 % either way, on top of the uncertainty of the samples.
    width = found['percentiles']['P95'] / found['percentiles']['P5'] - 1
    check('at least as wide as devices differ', 0.035 < width < 0.2, width)
    check('nothing else is drawn', outcome(result, 'cost', 'h200')['deviation'] == 0)
    check('the stamp', 'MIXED' in result['stamp'] and 'decode only' in result['stamp'], result)
    text = run('simulate', path, *where, '-q').stdout
    check('the stamp on the table', 'MIXED' in text, text[:400])
    done = run('simulate', path, '--mixed')
    check('without records', done.returncode == 2 and "unknown accelerator 'cpu'" in done.stderr, done.stderr)


def check_discrete(folder):
    """Percentiles of a variable with few values are those values, in shards as well."""
    path = scenario(folder, '[range]\na.rental_rate = discrete(1: 1, 2: 1, 3: 2) USD/gpu/h\n')
    result = outcome(simulated(path), 'cost', 'a')
    wanted = [cost(rate, 1000) for rate in (1, 1, 1, 2, 3, 3, 3)]
    found = list(result['percentiles'].values())
    check('atoms', all(abs(x / y - 1) < 1e-14 for x, y in zip(found, wanted)), (found, wanted))
    check('no error of rank', result['rank_error'] == 0, result['rank_error'])
    parts = [pathlib.Path(folder) / f'atoms{i}.json' for i in (1, 2)]
    for i, part in enumerate(parts):
        run('simulate', path, '-q', '--shard', f'{i + 1}/2', '-o', part)
    merged = json.loads(run('merge', *parts, '--format', 'json').stdout)
    check('atoms of shards', outcome(merged, 'cost', 'a') == result, merged)


def check_certain(folder):
    """A case without uncertainty keeps the sheet, which says so; there is nothing to draw."""
    path = scenario(folder, '[range]\na.rental_rate = uniform(1, 3) USD/gpu/h\n'
                            '[case fixed]\na.rental_rate = 2.5 USD/gpu/h\n')
    target = path.with_suffix('.xlsx')
    for arguments in (['--case', 'fixed'], ['--case', 'fixed', '--draws', '100'],
                      ['--set', 'a.rental_rate=2.5 USD/gpu/h']):
        done = run('report', path, '-q', '-o', target, *arguments)
        expect(done.returncode == DONE, done.stderr)
        sheet = xlsx.read(target).sheets['Simulation']
        rows = {sheet.text(row, 2): row for row in range(1, 25)}
        ends = [sheet.value(rows[key], 4) for key in ('P5', 'P95')]
        check('nothing drawn', sheet.value(rows['done'], 4) == 0, arguments)
        check('ends', all(abs(end / cost(2.5, 1000) - 1) < 1e-14 for end in ends), ends)
        check('words', sheet.text(2, 1).startswith('Nothing is uncertain here'), sheet.text(2, 1))
    done = run('simulate', path, '--case', 'fixed')
    check('nothing to draw', done.returncode == 2 and 'nothing to draw' in done.stderr, done.stderr)


def check_sameness(folder):
    """To the last bit: threads, and shards in any order."""
    one = simulated(EXAMPLE, '--draws', 20000, threads=1)
    for threads in (2, 5, 16):
        check(f'{threads} threads', simulated(EXAMPLE, '--draws', 20000, threads=threads) == one)
    parts = []
    for i in (3, 1, 2, 8, 7, 4, 6, 5):
        part = pathlib.Path(folder) / f'part{i}.json'
        done = run('simulate', EXAMPLE, '-q', '--draws', 20000, '--shard', f'{i}/8', '-o', part)
        check(f'shard {i}', done.returncode == 0, done.stderr)
        parts.append(part)
    done = run('merge', *parts, '--format', 'json')
    merged = json.loads(done.stdout)
    check('merged shards', merged == one, [k for k in one if merged[k] != one[k]])
    check_ranks(folder, one)
    two = json.loads(run('merge', *parts[:2], '--format', 'json').stdout)
    check('a missing shard is said', two['partial'] and two['done'] < two['draws'], two['done'])
    twice = run('merge', parts[0], parts[0])
    check('a shard twice', twice.returncode == 2 and twice.stderr, twice.stderr)
    other = pathlib.Path(folder) / 'other.json'
    run('simulate', EXAMPLE, '-q', '--draws', 20000, '--seed', 2, '--shard', '2/8', '-o', other)
    check('another run', run('merge', parts[0], other).returncode == 2)
    check('another seed', simulated(EXAMPLE, '--draws', 20000, '--seed', 2) != one)


def solved(*arguments, threads=None):
    done = run('solve', *arguments, '-q', '--format', 'json', threads=threads)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def check_solve(folder):
    """a costs the same as b at a rent of 2 throughput / 1000: known for every draw."""
    path = scenario(folder, '[range]\na.throughput = uniform(700, 1100) token/s\n'
                            'utilization = uniform(40, 60) %\n')
    rent = (path, '--option', 'a', '--match', 'b', '--for', 'rental_rate')
    result = solved(*rent)
    ranges = result['ranges']
    check('rent without ranges', abs(result['values'][0] - 2) < 1e-9, result['values'])
    for level in (5, 10, 25, 50, 75, 90, 95):
        wanted = 2 * (700 + 400 * level / 100) / 1000
        check(f'P{level} of the rent', abs(ranges['percentiles'][f'P{level}'] - wanted) < 2e-4,
              (ranges['percentiles'], wanted))
    check('every draw has one', ranges['found'] == 1 and ranges['several'] == 0, ranges)
    check('the present rent is enough', abs(ranges['enough'] - 0.25) < 1e-3, ranges['enough'])
    check('the same on any number of threads',
          all(solved(*rent, threads=threads) == result for threads in (1, 3)))
    check('another seed', solved(*rent, '--seed', 2)['ranges'] != ranges)
    narrow = solved(*rent, '--between', '1.6:2 USD/gpu/h')['ranges']
    check('draws without a value', all(abs(narrow[key] - share) < 1e-3 for key, share in (
        ('found', 0.5), ('above', 0.25), ('below', 0.25))), narrow)
    check('of those with one', abs(narrow['percentiles']['P50'] - 1.8) < 1e-3, narrow)
    itself = solved(path, '--option', 'a', '--match', 'b', '--for', 'throughput')
    check('nothing else matters', abs(itself['ranges']['percentiles']['P5'] - 1000) < 1e-6
          and 'a.throughput' in itself['ranges']['notes'][0], itself['ranges'])
    text = run('solve', *rent, '-q').stdout
    check('the interval in words', 'median 1.8' in text and '90 % between 1.44 and 2.16' in text, text)
    row = next(csv.DictReader(io.StringIO(run('solve', *rent, '-q', '--format', 'csv').stdout)))
    check('csv', float(row['P50']) == ranges['percentiles']['P50'], row)
    far = solved(*rent, '--draws', 1000, '--set', 'a.rental_rate=0.01 USD/gpu/h')
    check('beyond the first interval', far['ranges']['found'] == 1, far['ranges'])
    for draws in ('0', '100000000'):
        done = run('solve', *rent, '--draws', draws)
        check(f'{draws} draws', done.returncode == 2 and 'draws' in done.stderr, done.stderr)
    done = run('solve', 'examples/mi325x-vs-h200.ini', '--option', 'mi325x', '--for', 'list_price',
               '--draws', '10')
    check('draws of nothing', done.returncode == 2 and '[range]' in done.stderr, done.stderr)
    check_solve_whole(path)


def check_solve_whole(path):
    """An integer is the first one beyond the crossing that is cheap enough."""
    bought = RENTED.replace('rental_rate = 2 USD/gpu/h', 'list_price = 2000 USD').replace(
        'utilization', 'pue = 1\nload_power = 1 W/gpu\nelectricity_price = 0 USD/kWh\nutilization')
    path.write_text(bought + '[item rack]\nlabel = Rack\nunit = USD\ngroup = capex\n'
                             'formula = 10000 USD\n'
                             '[range]\na.list_price = discrete(500: 1, 1000: 1) USD/gpu\n',
                    encoding='utf-8')
    # Per accelerator, 10000 / n in addition to the price: 251 and 751 require n = 40 and 14.
    result = solved(path, '--option', 'a', '--for', 'accelerators', '--between', '1:200',
                    '--target', f'{1251 / (1000 * SECONDS * 8760 * 0.5 / 1e6)} USD/Mtok')
    found = result['ranges']['percentiles']
    check('whole numbers', (found['P25'], found['P75']) == (14, 40), result)


def check_below_nothing(folder):
    """What costs less than nothing in some draws has no saving, nor has anything against it; the rest has."""
    owed = ('list_price = 22000 USD\nload_power = 1000 W\nelectricity_price = 0.01 USD/kWh\npue = 1\nremedy = 2 %\n'
            'guaranteed_throughput = 4000 token/s\nremedy_limit = 90 %\n')
    text = RENTED + '[option c]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n' + owed
    path = pathlib.Path(folder, 'owed.ini')
    for ranges, baseline, saved in (('[range]\nc.remedy_limit = uniform(50, 150) %\n', 'a', ['b']),
                                    ('[range]\nc.remedy_limit = uniform(50, 150) %\n', 'c', []),
                                    ('[range]\nc.remedy_limit = uniform(50, 90) %\n', 'a', ['b', 'c'])):
        path.write_text(text.replace('baseline = a', f'baseline = {baseline}') + ranges, encoding='utf-8')
        result = simulated(path, '--draws', 4096)
        savings = [one['option'] for one in result['outcomes'] if one['kind'] == 'saving']
        check(f'savings where {ranges.split()[1]} is {ranges[-15:-1]}, against {baseline}', savings == saved, str(savings))
        check('and why the others have none', set(result['no_saving']) == {'a', 'b', 'c'} - {baseline, *saved},
              str(result['no_saving']))
        check_share_below_nothing(path, result, baseline, ranges)


def check_against_nothing(folder):
    """Of a baseline that costs nothing in every draw there is no saving, which is no error, with ranges and without."""
    path = pathlib.Path(folder, 'nothing.ini')
    scenario = f'[scenario]\ninherits = {ROOT}/tests/checks/workbook/horizons.ini\nbaseline = free\n'
    for ranges in ('[range]\nlong.list_price = triangular(40000, 50000, 60000) USD\n', ''):
        path.write_text(scenario + ranges, encoding='utf-8')
        if ranges:
            result = simulated(path, '--draws', 512)
            check('no saving against nothing', {one['kind'] for one in result['outcomes']} == {'cost'}
                  and result['unsaved'] == {'long': 1, 'short': 1, 'free': 0}, str(result))
        book = run('report', path, '-q', '-o', path.with_suffix('.xlsx'))
        check('report writes the workbook', book.returncode == DONE, book.stderr)
        said = run('compare', path, '-q')
        check('compare answers', said.returncode == DONE and 'free costs least' in said.stdout, said.stdout + said.stderr)


def check_share_below_nothing(path, result, baseline, ranges):
    """The remedy is a share of the price, so the cost falls evenly with its limit, and is below zero from there on."""
    low, high = map(float, re.findall(r'\d+', ranges.split('uniform')[1]))
    at = {limit: json.loads(run('compare', path, '-q', '--format', 'json', '--set', f'c.remedy_limit={limit} %').stdout)
          for limit in (60, 80)}
    costs = {limit: next(o for o in one['options'] if o['id'] == 'c')['items']['cost_per_mtok'] for limit, one in at.items()}
    zero = 60 + 20 * costs[60] / (costs[60] - costs[80])
    wanted = max(high - zero, 0) / (high - low)
    for option in 'abc':
        share = result['unsaved'][option]
        affected = option != baseline and 'c' in (option, baseline)
        check(f'the share of the draws of {option} without a saving against {baseline}',
              abs(share - (wanted if affected else 0)) < 1e-3, f'{share}, not {wanted}')
        if share:
            words = f'in {100 * share:.3g} % of the draws, it costs less than nothing, or {baseline} costs nothing or less'
            check('in words', words in result['no_saving'][option], result['no_saving'][option])
            said = ' '.join(run('compare', path, '-q').stdout.split())
            check('compare says so', f': {option}: in ' in said and 'No saving over the ranges: ' in said, said)
            told = texts_on_sheet(path)
            check('the workbook says so', any(one.startswith(f'No saving of {option}: in ') for one in told), str(told))


def texts_on_sheet(path):
    book = path.with_suffix('.xlsx')
    done = run('report', path, '-q', '-o', book)
    expect(done.returncode == DONE, done.stderr)
    return [cell.value for cell in xlsx.read(book).sheets['Simulation'].cells.values() if isinstance(cell.value, str)]


def check_faces():
    text = run('simulate', EXAMPLE, '-q').stdout
    check('fits 80 columns', max(map(len, text.splitlines())) <= 80, text)
    check('says seed and method', 'sobol, seed 1' in text, text[:200])
    rows = list(csv.DictReader(io.StringIO(run('simulate', EXAMPLE, '-q', '--format',
                                               'csv').stdout)))
    result = simulated(EXAMPLE)
    median = next(float(r['value']) for r in rows
                  if (r['kind'], r['option'], r['statistic']) == ('saving', 'mi325x', 'P50'))
    check('csv and json agree', median == outcome(result, 'saving', 'mi325x')['percentiles']['P50'])
    check_few()


def check_few():
    """Below 1,024 draws the drivers are of the ranks' variance, and below four replicates there is no standard error."""
    few = simulated(EXAMPLE, '--draws', 256, '--method', 'random')
    check('few draws: ranks', few['by_ranks'] and few['method'] == 'random', few['method'])
    for draws, by_ranks, known in ((300, True, False), (500, True, False), (1000, True, True), (1024, False, True)):
        text = run('simulate', EXAMPLE, '-q', '--draws', draws).stdout
        heading = ' '.join(text[text.index('Drivers'):].split())
        check(f'{draws} draws: of ranks', ('% of rank variance' in heading) == by_ranks, heading[:80])
        errors = re.findall(r'its standard error +\S+ +(.*)', text)
        check(f'{draws} draws: standard errors', len(errors) == 2 and all(
            ('-' in line.split()) != known for line in errors), errors)


def check_documented():
    """docs/uncertainty.md states the error that the histogram adds for its example."""
    text = (ROOT / 'docs/uncertainty.md').read_text(encoding='utf-8')
    stated = re.search(r'at most `rank_error`\s\((\S+) of the draws here\)', text)[1]
    found = max(one['rank_error'] for one in simulated(EXAMPLE)['outcomes'])
    check('the documented error', stated == f'{found:.1e}'.replace('e-0', 'e-'), (stated, found))
    low, high = map(float, re.search(r'standard deviations of (\S+) to (\S+) of the draws', ' '.join(text.split())).groups())
    seeds = [outcome(simulated(EXAMPLE, '--seed', seed), 'saving', 'mi325x') for seed in range(1, 9)]
    for level in ('P5', 'P50', 'P95'):
        values = [one['percentiles'][level] for one in seeds]
        bars = seeds[0]['histogram']
        bar = (bars['high'] - bars['low']) / len(bars['counts'])
        density = bars['counts'][int((statistics.fmean(values) - bars['low']) / bar)] / sum(bars['counts']) / bar
        scatter = statistics.stdev(values) * density
        check(f'the documented scatter of {level}', low / 2 < scatter < 2 * high, scatter)


# Ranges of an option, as in an offer; what compare refuses in a part of each, and how large that part is.
REFUSED = {
    'b.delivery_delay = uniform(0, 16) month': "25 % of the range of 'b.delivery_delay' is above 12 month",
    'b.delivery_delay = uniform(0, 11) month': None,
    'horizon = uniform(0.25, 2.25) yr': "4.2 % of the range of 'horizon' is below 0.3333 yr",
    'horizon = uniform(0.5, 2) yr': None,
    'b.discount_tier_1 = uniform(0, 25) %': "20 % of the range of 'b.discount_tier_1' is above 20 %",
    'b.discount_tier_2 = triangular(5, 15, 25) %': "12 % of the range of 'b.discount_tier_2' is below 10 %",
    'b.discount_tier_2 = normal(20, 2) %': None,
}


def check_refused_part(folder):
    """What compare refuses is not silently drawn: which part of a range it is, is told."""
    bought = RENTED.partition('[option b]')
    own = bought[2].replace('rental_rate = 2 USD/gpu/h', 'list_price = 30000 USD\npue = 1.2\n'
                            'electricity_price = 0.1 USD/kWh\ndelivery_delay = 4 month\nlate_share = 50 %\n'
                            'discount = 10 % from 1 gpu, 20 % from 64 gpu')
    for ranges, told in REFUSED.items():
        path = pathlib.Path(folder) / 'refused.ini'
        path.write_text(f'{bought[0]}{bought[1]}{own}[range]\n{ranges}\n', encoding='utf-8')
        notes = [note for note in simulated(path)['notes'] if 'compare' in note]
        check(ranges, len(notes) == bool(told) and all(note == f'{told}, where compare gives no answer' for note in notes), notes)
        compared = [note for note in json.loads(run('compare', path, '-q', '--format', 'json').stdout)['notes'] if 'gives no' in note]
        check(f'compare, {ranges}', compared == [f'Over the ranges: {note}' for note in notes], compared)
        sheet = ' '.join(texts_on_sheet(path))
        check(f'the sheet, {ranges}', not told or told in sheet, sheet)


def check_constant(folder):
    """A range that all options share leaves the saving as it is: every face says so, and none draws its rounding."""
    said = 'the saving of b does not vary: no ranged input affects it'
    for ranges, varies in (('utilization = triangular(31, 52, 77) %', False), ('b.throughput = uniform(900, 1100) token/s', True)):
        path = scenario(folder, f'[range]\n{ranges}\n')
        path.write_text(path.read_text().replace('throughput = 1000', 'throughput = 737', 1), encoding='utf-8')
        done = run('simulate', path, '-q')
        check('the terminal says so', (said in ' '.join(done.stdout.split())) != varies, done.stdout)
        check('without a picture', ('P99.9' in done.stdout) == varies, done.stdout)
        result = outcome(simulated(path), 'saving', 'b')
        check('its error is nil', (result['standard_error'] == 0) != varies, result)
        sheet = ' '.join(texts_on_sheet(path))
        check('the sheet says so', (said in sheet) != varies, sheet)
        check('and the verdict', ('% against a, which no ranged input affects' in sheet) != varies, sheet)
        with zipfile.ZipFile(path.with_suffix('.xlsx')) as parts:
            charts = ''.join(parts.read(name).decode() for name in parts.namelist() if '/charts/' in name)
        check('the sheet has no chart of it', ('Saving of b: how often' in charts) == varies, len(charts))


def check_stop():
    """Ctrl-C: the draws so far, marked as such; then, before anything was drawn."""
    for seconds in (1.5, 6, 24):
        process = subprocess.Popen([PERTOKEN, 'simulate', EXAMPLE, '-q', '--draws', '3000000000',
                                    '--format', 'json'], cwd=ROOT, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=300)
        result = json.loads(out or '{}')
        if result.get('done'):
            break
    check('stopped', process.returncode == 0, (process.returncode, errors))
    check('partial', result.get('partial') and 0 < result['done'] < result['draws'], out[:300])


WRONG = [  # arguments, message
    (('--draws', '0'), 'draws'),
    (('--draws', '1000000000000'), 'draws'),
    (('--draws', 'many'), "not 'many'"),
    (('--draws', '-5'), "not '-5'"),
    (('--seed', '1.5'), "not '1.5'"),
    (('--seed', '9223372036854775808'), 'at most 9223372036854775807'),
    (('--method', 'halton'), 'sobol or random'),
    (('--shard', '4/3'), 'I/N'),
    (('--shard', '0/3'), 'I/N'),
    (('--shard', '3'), 'I/N'),
]


def check_wrong(folder):
    for arguments, words in WRONG:
        done = run('simulate', EXAMPLE, *arguments)
        check(' '.join(arguments), done.returncode == 2 and words in done.stderr and not done.stdout,
              (done.returncode, done.stderr))
    done = run('simulate', 'examples/mi325x-vs-h200.ini')
    check('no ranges', done.returncode == 2 and 'range' in done.stderr, done.stderr)
    path = scenario(folder, '[item odd]\nlabel = Odd\nunit = USD/yr\ngroup = opex\n'
                            'formula = 1 USD/yr / (pue - 1.25)\n'
                            '[range]\npue = discrete(1.2: 1, 1.25: 1)\n')
    done = run('simulate', path, '--set', 'pue=1.2')
    check('a set value is certain', done.returncode == 2 and 'range' in done.stderr, done.stderr)
    path.write_text(path.read_text().replace('[common]', '[common]\npue = 1.2'), encoding='utf-8')
    done = run('simulate', path)
    check('a division by zero in some draws',
          done.returncode == 2 and 'pue = 1.25' in done.stderr and 'draw' in done.stderr,
          (done.returncode, done.stderr))
    broken = pathlib.Path(folder) / 'broken.json'
    for text in ('', '{', '{"schema": 1}', '[]'):
        broken.write_text(text, encoding='utf-8')
        done = run('merge', broken)
        check(f'merge {text!r}', done.returncode == 2 and done.stderr, done.stderr)
    check('merge of nothing', run('merge', broken.with_name('missing.json')).returncode in (2, 3))


def check_handful(folder):
    """A handful of draws has a warning, and neither decimals in a share nor percentiles beyond its draws."""
    for draws, words, levels in ((1, '1 draw is too few', []), (3, '3 draws are too few', ['P50']),
                                 (7, '7 draws are too few', ['P25', 'P50', 'P75']),
                                 (100, None, ['P5', 'P10', 'P25', 'P50', 'P75', 'P90', 'P95'])):
        result = simulated(EXAMPLE, '--draws', draws)
        check(f'percentiles of {draws}', list(outcome(result, 'cost', 'h200').get('percentiles', {})) == levels, result)
        warnings = ' '.join(result.get('warnings', []))
        check(f'the warning of {draws}', words in warnings if words else 'too few' not in warnings, warnings)
        decimals = re.search(r'[.]\d+ %', result['answer'])
        check(f'the share of {draws}', not words or not decimals, result['answer'])
    text = run('simulate', EXAMPLE, '-q', '--draws', 1).stdout
    check('1 draw', ', 1 draw (' in text and 'below in' not in text and 'P99.9' not in text, text)
    workbook = pathlib.Path(folder) / 'few.xlsx'
    done = run('report', EXAMPLE, '--draws', 3, '-o', workbook)
    check('the warning of report', '3 draws are too few for percentiles or a share' in done.stderr, done.stderr)
    texts = zipfile.ZipFile(workbook).read('xl/sharedStrings.xml').decode()
    check('the workbook says so', 'over the ranges: 3 draws are too few' in texts and 'below in 5 %' not in texts, texts)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_handful(folder)
        check_numbers(folder)
        check_measured(folder)
        check_documented()
        check_discrete(folder)
        check_certain(folder)
        check_constant(folder)
        check_refused_part(folder)
        check_sameness(folder)
        check_wrong(folder)
        check_solve(folder)
        check_below_nothing(folder)
        check_against_nothing(folder)
    check_faces()
    check_stop()
    count.finish()


if __name__ == '__main__':
    main()
