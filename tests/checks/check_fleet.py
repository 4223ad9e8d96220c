#!/usr/bin/python3
"""What pertoken says of a fleet: its spread, who stands out, what is missing or set up otherwise.

The statistics are computed here a second time from the fleets that the test makes up. Nothing was measured.

Seconds: 9
Deep: many more fleets, 10,000 records within 2 s of processor time and 500 MB, and a workbook of 8,000.
"""
import csv
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import zipfile
from pathlib import Path

from support.fleet_records import record, result, write
from support.program import BAD_INPUT, Count, DEEP, DONE, NO, PERTOKEN, PROBE, Skip, expect, run, run_csv, run_json
from support.records import digest_of

FLEETS = 40 if DEEP else 4


def make(folder, rates, powers=None, runs=None, **changes):
    """One record for each node, device and run: rates[node][device] or, with runs, [node][device][run]."""
    for n, node in enumerate(rates):
        for d, rate in enumerate(node):
            for r, one in enumerate(rate if runs else [rate]):
                power = powers[n][d] if powers else 550.0
                when = f'2026-11-21T09:3{r}:00Z'
                write(folder, record(f'node-{n:04d}', d, [result(one, power, when=when)], **changes),
                      f'node-{n:04d}-{d}-{r}')


def fleet(folder, *more, statuses=(DONE, NO)):
    return run_json('fleet', folder, *more, statuses=statuses)


def close(found, wanted, tolerance, what):
    expect(abs(found - wanted) <= tolerance * abs(wanted), f'{what}: {found}, not {wanted}')


def rows(answer, table, measure='decoding'):
    return [row for row in answer['tables'][table]['rows'] if row['measure'] == measure]


def robust(values):
    middle = statistics.median(values)
    return middle, 1.4826 * statistics.median([abs(value - middle) for value in values])


def test_distribution(folder):
    draw = random.Random(1)
    rates = [[draw.gauss(1000, 10) for _ in range(4)] for _ in range(25)]
    make(folder, rates)
    values = sorted(value for node in rates for value in node)
    found, = rows(fleet(folder), 'measured')
    cuts = statistics.quantiles(values, n=20, method='inclusive')
    for key, wanted in (('mean', statistics.fmean(values)), ('median', statistics.median(values)),
                        ('low', values[0]), ('high', values[-1]), ('p5', cuts[0]), ('p95', cuts[-1])):
        close(found[key], wanted, 1e-9, key)
    close(found['devices'], 100, 0, 'devices')


def test_components(folder):
    """By analysis of variance, written out: unlike numbers of runs, and runs' own errors of 0.1 %."""
    draw = random.Random(2)
    rates = [[[device + draw.gauss(0, 8) for _ in range(draw.choice((1, 2, 3)))]]
             for device in (draw.gauss(1000, 20) for _ in range(30))]
    make(folder, rates, runs=True)
    groups = [node[0] for node in rates]
    runs = [value for group in groups for value in group]
    n, k, mean = len(runs), len(groups), statistics.fmean(runs)
    own = statistics.fmean([(0.001 * value) ** 2 for value in runs])
    within = sum((v - statistics.fmean(g)) ** 2 for g in groups for v in g) / (n - k)
    between = sum(len(g) * (statistics.fmean(g) - mean) ** 2 for g in groups) / (k - 1)
    each = (n - sum(len(g) ** 2 for g in groups) / n) / (k - 1)
    found, = rows(fleet(folder), 'spread')
    close(found['within_run'], 100 * own ** 0.5 / mean, 1e-9, 'within a run')
    close(found['between_runs'], 100 * (within - own) ** 0.5 / mean, 1e-9, 'between runs')
    close(found['between_devices'], 100 * ((between - within) / each) ** 0.5 / mean, 1e-9, 'between devices')


def test_components_of_the_truth(folder):
    """Of 300 devices of 2 % and runs of 0.5 % the estimates are near those."""
    draw = random.Random(3)
    make(folder, [[[device * (1 + draw.gauss(0, 0.005)) for _ in range(2)]]
                  for device in (draw.gauss(1000, 20) for _ in range(300))], runs=True)
    found, = rows(fleet(folder), 'spread')
    close(found['between_devices'], 2, 0.12, 'between devices')
    close(found['between_runs'], 0.5, 0.12, 'between runs')


def test_outliers(folder):
    """Correlated devices, bad nodes of 15 %: 95 % of them are found, and 1 % of good ones at most are named."""
    for bad_share in (0.01, 0.3):
        found = false = bad_count = good_count = 0
        for seed in range(FLEETS):
            draw = random.Random(seed)
            bad = {node for node in range(100) if draw.random() < bad_share}
            rates = []
            for node in range(100):
                level = 1000 * (0.85 if node in bad else 1) * (1 + draw.gauss(0, 0.005))
                rates.append([level * (1 + draw.gauss(0, 0.01)) for _ in range(2)])
            at = Path(folder) / f'{bad_share}-{seed}'
            at.mkdir()
            make(at, rates)
            named = {int(row['node'][5:]) for row in fleet(at)['tables'].get('outliers', {'rows': []})['rows']}
            found += len(named & bad)
            false += len(named - bad)
            bad_count += len(bad)
            good_count += 100 - len(bad)
        expect(found >= 0.95 * bad_count, f'{found} of {bad_count} bad nodes at {bad_share}')
        expect(false <= 0.01 * good_count, f'{false} of {good_count} good nodes at {bad_share}')


def test_positions_and_racks(folder):
    """A slot that is 2 % slower in every node, and a rack with 2 % more watts."""
    draw = random.Random(5)
    make(folder, [[draw.gauss(1000, 5) * (0.98 if d == 3 else 1) for d in range(4)] for _ in range(20)],
         [[draw.gauss(500, 3) * (1.02 if n < 5 else 1) for _ in range(4)] for n in range(20)])
    listed = Path(folder) / 'nodes.csv'
    listed.write_text('node,rack\n' + ''.join(f'node-{n:04d},{"ABCD"[n // 5]}\n' for n in range(20)))
    answer = fleet(folder, '--expect', listed)
    out = {(row['measure'], row['column'], row['name']) for row in answer['tables']['places']['rows']
           if row['stands_out']}
    expect(out == {('decoding', 'slot', '0000:4a:00.0'), ('power', 'rack', 'A')}, str(out))


def test_missing(folder):
    make(folder, [[1000.0], [1001.0], [1002.0]])
    plain = Path(folder) / 'list'
    plain.write_text('node-0000\nnode-0001\nnode-0007\n')
    answer = fleet(folder, '--expect', plain, statuses=(NO,))
    expect(answer['missing'] == ['node-0007'] and answer['unexpected'] == ['node-0002'], str(answer['missing']))
    plain.write_text('node-0000\nnode-0001\nnode-0002\n')
    expect(fleet(folder, '--expect', plain, statuses=(DONE,))['missing'] == [], 'none is missing')


def test_settings(folder):
    make(folder, [[1000.0, 1000.5]] * 3)
    write(folder, record('node-0009', 0, [result(1000.2, 550.0, throttles=('power cap',))],
                         {'driver': '570.1', 'power_limit_w': 600.0, 'ecc': 'disabled'}, kernels='beef'))
    other = {row['setting']: (row['usual'], row['other'], row['nodes'])
             for row in fleet(folder)['tables']['settings']['rows']}
    expect(other == {'driver': ('580.95.05', '570.1', 'node-0009'),
                     'power limit': ('700 W', '600 W', 'node-0009'),
                     'ECC': ('enabled', 'disabled', 'node-0009'),
                     'throttled': ('no', 'power cap', 'node-0009'),
                     "probe's kernels": ('00ff', 'beef', 'node-0009')}, str(other))


def test_workloads_stay_apart(folder):
    """Batches are not set against each other, nor what ran alone against what ran beside others."""
    made = [result(1000.0, 500.0), result(900.0, 480.0, batch=32)]
    write(folder, record('a', 0, made))
    beside = result(1000.0, 500.0)
    beside['together'] = {**beside['together'], 'devices': 2, 'tokens_per_s': 950.0, 'slowest': 950.0,
                          'fastest': 950.0, 'total_tokens_per_s': 1900.0, 'load_power_w': 990.0, 'window_s': 9.0}
    write(folder, record('b', 0, [beside]))
    found = {row['workload'].rpartition('context 4096')[2] + row['workload'].partition('batch ')[2][:2]:
             row['median'] for row in rows(fleet(folder), 'measured')}
    expect(set(found) == {'64', '32', ', 2 devices at once64'}, str(found))
    close(found[', 2 devices at once64'], 950, 1e-9, 'tokens/s of a device while all ran')


def test_a_node_without_a_name(folder):
    """Such a record is a node of its own, called as its file; older records know no names."""
    unnamed = record('', 0, [result(1000.0, 500.0)])
    write(folder, unnamed, 'left')
    old = record('', 1, [result(1001.0, 500.0)])
    old['schema'] = 8
    del old['environment']['node']
    old['digest'] = digest_of(old)
    write(folder, old, 'right')
    names = {row['node'] for row in run_csv('fleet', folder)}
    expect(names == {'left', 'right'}, str(names))


def test_bad_input(folder):
    good = record('node-1', 0, [result(1000.0, 500.0)])
    edited = json.loads(json.dumps(good))
    edited['results'][0]['load_power_w'] = 400.0
    cases = [(lambda at: write(at, edited), 'digest'),
             (lambda at: (write(at, good, 'a'), write(at, good, 'b')), 'are one record'),
             (lambda at: (at / 'x.json').write_text('{'), 'expected a whole record in JSON'),
             (lambda at: (at / 'x.json').write_text('{"record": "engine run"}'), 'another kind of record'),
             (lambda at: None, 'no result of a whole model in 0 records')]
    for number, (spoil, message) in enumerate(cases):
        at = Path(folder) / str(number)
        at.mkdir()
        spoil(at)
        done = run('fleet', at)
        expect(done.returncode == BAD_INPUT and message in done.stderr, f'{message}: {done.stderr}')
    at = Path(folder) / 'good'
    at.mkdir()
    write(at, good)
    lists = {'node,rack\nnode-1,A\nnode-1,B\n': 'node-1', 'name,rack\nnode-1,A\n': "needs a column 'node'",
             'node-1\nnode-1\n': 'node-1'}
    for text, message in lists.items():
        listed = Path(folder) / 'nodes.csv'
        listed.write_text(text)
        done = run('fleet', at, '--expect', listed)
        expect(done.returncode == BAD_INPUT and message in done.stderr, f'{message}: {done.stderr}')
    for more, message in ((('--margin', '3'), "'3' has no unit"), (('--margin', '0 %'), 'above 0 %'),
                          (('--expect', 'nowhere'), 'cannot be opened')):
        done = run('fleet', at, *more)
        expect(done.returncode == BAD_INPUT and message in done.stderr, f'{message}: {done.stderr}')


def test_the_probe_says_its_node(folder):
    if not PROBE.exists():
        raise Skip('there is no prober here')
    done = run('run', '--model', 'tinyllama-1.1b', '--layers', '1', '--verify-only', '--node', 'n1', program=PROBE)
    expect(done.returncode in (DONE, BAD_INPUT) and 'unrecognized' not in done.stderr, done.stderr)


def test_workbook(folder):
    """All nodes, ascending, on a sheet of their own, and a chart of each measure; equal bytes each time."""
    draw = random.Random(9)
    rates = [[draw.gauss(1000, 10) for _ in range(2)] for _ in range(12)]
    make(folder, rates)
    books = [Path(folder) / name for name in ('one.xlsx', 'two.xlsx')]
    for book in books:
        done = run('fleet', folder, '-o', book)
        expect(done.returncode in (DONE, NO) and 'wrote' in done.stderr, done.stderr)
    expect(books[0].read_bytes() == books[1].read_bytes(), 'two runs differ')
    with zipfile.ZipFile(books[0]) as archive:
        charts = [name for name in archive.namelist() if name.startswith('xl/charts/chart')]
    expect(len(charts) == 3, f'charts: {charts}')
    if not shutil.which('ssconvert'):
        raise Skip('Gnumeric (ssconvert) is not installed')
    subprocess.run(['ssconvert', '-S', books[0], Path(folder) / 'sheet.csv'], check=True, capture_output=True)
    with (Path(folder) / 'sheet.csv.1').open(newline='') as sheet:
        values = [float(row[3]) for row in csv.reader(sheet) if len(row) > 3 and row[2] == 'decoding, token/s/gpu']
    wanted = sorted(statistics.fmean(node) for node in rates)
    expect(len(values) == 12 and all(abs(a / b - 1) < 1e-9 for a, b in zip(values, wanted)), str(values))
    done = run('fleet', folder, '-o', Path(folder) / 'nowhere' / 'x.xlsx')
    expect(done.returncode not in (DONE, NO), 'a workbook in a folder that is not there')


def test_large_workbook(folder):
    if not DEEP:
        raise Skip('in the deep run')
    draw = random.Random(8)
    make(folder, [[draw.gauss(1000, 10) for _ in range(8)] for _ in range(1000)])
    process = subprocess.Popen([PERTOKEN, 'fleet', folder, '-q', '-o', Path(folder) / 'x.xlsx'])
    _, status, used = os.wait4(process.pid, 0)
    expect(os.waitstatus_to_exitcode(status) in (DONE, NO), 'it ends')
    expect(used.ru_utime + used.ru_stime < 5, f'{used.ru_utime + used.ru_stime:.2f} s')


def test_ten_thousand(folder):
    if not DEEP:
        raise Skip('in the deep run')
    draw = random.Random(7)
    make(folder, [[draw.gauss(1000, 10)] for _ in range(10000)])
    process = subprocess.Popen([PERTOKEN, 'fleet', folder, '-q'], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    expect(os.waitstatus_to_exitcode(status) in (DONE, NO), 'it ends')
    expect(used.ru_utime + used.ru_stime < 2, f'{used.ru_utime + used.ru_stime:.2f} s')
    expect(used.ru_maxrss < 500e3, f'{used.ru_maxrss / 1e3:.0f} MB')


def main():
    count = Count()
    for name, test in sorted(globals().items()):
        if name.startswith('test_'):
            with tempfile.TemporaryDirectory() as folder:
                count.test(name, test, Path(folder))
    count.finish()


if __name__ == '__main__':
    main()
