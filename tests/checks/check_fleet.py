#!/usr/bin/python3
"""What pertoken reports about a fleet: its spread, outliers, what is missing or set up differently.

The statistics are computed here independently from the fleets that the test makes up. Nothing was measured.

Seconds: 3, deep 65
Deep: many more fleets, 10,000 records within 2 s and 500 MB, 2,000 long ones, and the workbook and the acceptance of
8,000.
"""
import csv
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import time
import zipfile
from pathlib import Path

from support.fleet_records import record, result, with_links, with_variant, write
from support.program import (BAD_INPUT, Count, DEEP, DONE, NO, PERTOKEN, PROBE, Skip, expect, expect_exit, near, run, run_csv,
                             run_json)
from support.processor import is_quick
from support.records import RUNG, digest_of, rung, save, serving

FLEETS = 40 if DEEP else 4
UNDECIDED = 4


def make(folder, rates, powers=None, runs=None, **changes):
    """One record for each node, device and run: rates[node][device] or, with runs, [node][device][run]."""
    for n, node in enumerate(rates):
        for d, rate in enumerate(node):
            for r, one in enumerate(rate if runs else [rate]):
                power = powers[n][d] if powers else 550.0
                when = f'2026-11-21T09:3{r}:00Z'
                write(folder, record(f'node-{n:04d}', d, [result(one, power, when=when)], **changes),
                      f'node-{n:04d}-{d}-{r}')


def fleet(folder, *more, statuses=(DONE, NO, UNDECIDED)):
    return run_json('fleet', folder, *more, statuses=statuses)


def close(found, wanted, tolerance, what):
    expect(abs(found - wanted) <= tolerance * abs(wanted), f'{what}: {found}, not {wanted}')


def rows(answer, table, measure='decoding'):
    return [row for row in answer['tables'][table]['rows'] if row['measure'] == measure]


def robust(values):
    middle = statistics.median(values)
    return middle, 1.4826 * statistics.median([abs(value - middle) for value in values])


def test_distribution(folder):
    """Tokens/s and watts, over devices and over nodes, each compared with its own mean."""
    draw = random.Random(1)
    rates = [[draw.gauss(1000, 10) for _ in range(4)] for _ in range(25)]
    powers = [[draw.gauss(550, 8) for _ in range(4)] for _ in range(25)]
    make(folder, rates, powers)
    answer = fleet(folder)
    for measure, made in (('decoding', rates), ('power', powers)):
        values = sorted(value for node in made for value in node)
        nodes = sorted(statistics.fmean(node) for node in made)
        found, = rows(answer, 'measured', measure)
        cuts, node_cuts = (statistics.quantiles(list_, n=20, method='inclusive') for list_ in (values, nodes))
        for key, wanted in (('mean', statistics.fmean(values)), ('median', statistics.median(values)),
                            ('low', values[0]), ('high', values[-1]), ('p5', cuts[0]), ('p95', cuts[-1]),
                            ('node_median', statistics.median(nodes)), ('node_p5', node_cuts[0]),
                            ('node_p95', node_cuts[-1])):
            close(found[key], wanted, 1e-9, f'{measure}: {key}')
        close(found['devices'], 100, 0, 'devices')
        shown = {row['node']: row['value'] for row in rows(answer, 'node_values', measure)}
        expect(all(near(shown[f'node-{n:04d}'], statistics.fmean(node), 1e-9) for n, node in enumerate(made)), measure)
    expect_exit(run('fleet', folder), DONE, 'Median of nodes', 'P5 of nodes', 'P95 of nodes')
    alone = Path(folder) / 'alone'
    alone.mkdir()
    make(alone, [[1000.0], [1001.0], [1002.0]])
    expect('of nodes' not in run('fleet', alone).stdout, 'nodes of one device each are what their devices are')


def test_margin(folder):
    """A node 4 % off is an outlier beyond 3 %, the default margin, and none beyond 5 %."""
    make(folder, [[1000.0 + n] for n in range(8)] + [[963.0]])
    for more, out in (((), ['node-0008']), (('--margin', '5 %'), []), (('--margin', '2 %'), ['node-0008'])):
        answer = fleet(folder, *more, statuses=(NO if out else DONE,))
        expect([row['node'] for row in answer['tables'].get('outliers', {'rows': []})['rows']] == out, f'{more}: {answer}')
    expect_exit(run('fleet', folder, '--margin', '5 %'), DONE, 'no outliers', 'and than 5 %')


def test_too_few(folder):
    """No outliers are told of one node or of two, and of one there are no percentiles."""
    make(folder, [[1000.0]])
    alone = run('fleet', folder)
    expect_exit(alone, UNDECIDED, '1 node, 1 device: too few to tell outliers', 'the last row is a standard deviation')
    expect('P95' not in alone.stdout and 'Between' not in alone.stdout, alone.stdout)
    book = Path(folder) / 'x.xlsx'
    expect_exit(run('fleet', folder, '-o', book), UNDECIDED, 'wrote')
    with zipfile.ZipFile(book) as archive:
        expect(not any('chart' in name for name in archive.namelist()), 'a chart of one node')
        text = archive.read('xl/sharedStrings.xml').decode()
    expect('Standard deviation' in text and text.count('one device') == 1, 'decoding has one within a run')
    make(folder, [[1000.0], [500.0]])
    two = run('fleet', folder)
    expect_exit(two, UNDECIDED, '2 nodes, 2 devices: too few to tell outliers', 'at least 3 devices', 'P95')
    expect_exit(run('fleet', folder, '--expect', 'node-[0000-0002]'), NO, '2 of the 3 nodes', 'too few')
    make(folder, [[1000.0], [500.0], [1001.0]])
    write(folder, record('node-0009', 0, [result(1000.0, 500.0, batch=16)]))
    expect_exit(run('fleet', folder), NO, 'one outlier', '1 of 2 workloads ran on fewer than 3 devices')


def test_components(folder):
    """By analysis of variance, written out: different numbers of runs, and errors of 0.1 % within runs."""
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
    """For 300 devices with a spread of 2 % and runs of 0.5 %, the estimates are close to those."""
    draw = random.Random(3)
    make(folder, [[[device * (1 + draw.gauss(0, 0.005)) for _ in range(2)]]
                  for device in (draw.gauss(1000, 20) for _ in range(300))], runs=True)
    found, = rows(fleet(folder), 'spread')
    close(found['between_devices'], 2, 0.12, 'between devices')
    close(found['between_runs'], 0.5, 0.12, 'between runs')


def test_outliers(folder):
    """Correlated devices, nodes that are 15 % bad: 95 % of them are found, and at most 1 % of good ones are named."""
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
    lines = [line for line in run_csv('fleet', folder, '--expect', plain, statuses=(NO,)) if line['measure'] == 'missing']
    expect([(line['node'], line['device'], line['value']) for line in lines] == [('node-0007', '', '')], str(lines))
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


# For a record: which setting it is reported as, where it is stored, another value, and how both are shown.
SETTINGS = (("operating system's kernel", ('environment', 'kernel'), 'Linux 6.6', 'Linux 6.1', 'Linux 6.6'),
            ('driver', ('environment', 'device_state', 'driver'), '570.1', '580.95.05', '570.1'),
            ('runtime', ('device', 'runtime'), 'CUDA 12.8', 'CUDA 13.0', 'CUDA 12.8'),
            ('VBIOS', ('environment', 'device_state', 'vbios'), '96.00.01', '96.00.A5.00.01', '96.00.01'),
            ('VBIOS', ('environment', 'device_state', 'vbios'), '', '96.00.A5.00.01', 'not stated'),
            ('ECC', ('environment', 'device_state', 'ecc'), 'disabled', 'enabled', 'disabled'),
            ('partition', ('environment', 'device_state', 'partition'), '1g.18gb', 'whole', '1g.18gb'),
            ('power limit', ('environment', 'device_state', 'power_limit_w'), 600.0, '700 W', '600 W'),
            ('memory', ('device', 'memory_bytes'), 103079215104, '140 GiB', '96 GiB'),
            ('frequency governor', ('environment', 'governor'), 'powersave', 'performance', 'powersave'),
            ("probe's kernels", ('environment', 'kernels_build'), 'beef', '00ff', 'beef'),
            ("probe's version", ('environment', 'tool_version'), '0.0.9', '0.1.0', '0.0.9'))


def test_every_setting(folder):
    """If one node has another value, that setting is reported, and no other."""
    for number, (name, place, value, usual, other) in enumerate(SETTINGS):
        at = Path(folder) / str(number)
        at.mkdir()
        make(at, [[1000.0], [1001.0], [1002.0]])
        odd = record('node-0009', 0, [result(1000.5, 550.0)])
        part = odd
        for key in place[:-1]:
            part = part[key]
        expect(part[place[-1]] != value, name)
        part[place[-1]] = value
        odd['digest'] = digest_of(odd)
        write(at, odd)
        found = [(row['setting'], row['usual'], row['other'], row['nodes'], row['devices'])
                 for row in fleet(at, statuses=(DONE,))['tables']['settings']['rows']]
        expect(found == [(name, usual, other, 'node-0009', 1)], f'{name}: {found}')


def test_clocks(folder):
    """A device whose clock is held down stands out, however fast it decodes."""
    make(folder, [[1000.0 + n] for n in range(6)])
    slow = result(1000.5, 550.0)
    slow['telemetry'] = {**slow['telemetry'], 'core_clock_hz': dict.fromkeys(('min', 'median', 'max'), 1.41e9)}
    write(folder, record('node-0007', 0, [slow]))
    out, = fleet(folder, statuses=(NO,))['tables']['outliers']['rows']
    expect((out['node'], out['measure'], out['value']) == ('node-0007', 'core clock, MHz', 1410), str(out))


def test_clocks_apart(folder):
    """Nodes whose clocks are hours and years off: the report does not depend on the stated time of measurement."""
    draw = random.Random(4)
    rates = [[[draw.gauss(1000, 10) for _ in range(2)] for _ in range(2)] for _ in range(6)]
    answers = []
    for name, times in (('alike', ['2026-11-21T09:3{r}:00Z'] * 6),
                        ('apart', ['2026-11-21T09:3{r}:00Z', '2026-11-21T21:3{r}:00Z', '2026-11-20T23:5{r}:00Z',
                                   '1970-01-01T00:0{r}:00Z', '2038-01-19T03:1{r}:00Z', '2026-11-21T09:3{r}:00Z'])):
        at = Path(folder) / name
        at.mkdir()
        for n, node in enumerate(rates):
            for d, device in enumerate(node):
                write(at, record(f'node-{n:04d}', d, [result(rate, 550.0, when=times[n].format(r=r))
                                                      for r, rate in enumerate(device)]))
        answers.append(fleet(at)['tables'])
    expect(answers[0] == answers[1], 'clocks change the answer')


def test_unlike_kernels(folder):
    """A warning where the devices were measured with different variants of the probe's kernels, and only there."""
    variants = ['step=streaming', '', 'step=streaming']
    for n, variant in enumerate(variants):
        write(folder, with_variant(record(f'node-{n}', 0, [result(1000.0 + n, 550.0)]), variant))
    warnings = fleet(folder, statuses=(DONE,))['warnings']
    expect(len(warnings) == 1 and warnings[0].endswith(
        "measured with different kernels, 2 with step=streaming, 1 with the kernels' own choice: choose one with --variant"),
        warnings)
    write(folder, with_variant(record('node-1', 0, [result(1001.0, 550.0)]), 'step=streaming'))
    expect(fleet(folder, statuses=(DONE,))['warnings'] == [], 'the same kernels')


def test_unlike_kernels_of_outliers(folder):
    """An outlier is said to have other kernels than most, if it has; people see kernels only where they differ."""
    def odd(rate, variant, n):
        write(folder, with_variant(record(f'node-{n}', 0, [result(rate, 550.0)]), variant))
    for n in range(7):
        odd(1000.0 + n, '', n)
    odd(900.0, '', 7)
    done = run('fleet', folder)
    expect_exit(done, NO, 'one outlier.')
    expect('Kernels' not in done.stdout and 'own choice' not in done.stdout, done.stdout)
    expect([row['kernels'] for row in rows(fleet(folder), 'outliers')] == ['own choice'], 'in JSON')
    odd(950.0, 'step=streaming', 8)
    expect_exit(run('fleet', folder), NO, '2 outliers, one with other kernels than most.', 'with the same, by --variant')
    found = {row['node']: row['kernels'] for row in rows(fleet(folder), 'outliers')}
    expect(found == {'node-7': 'own choice', 'node-8': 'step=streaming'}, found)
    odd(1003.0, '', 7)
    expect_exit(run('fleet', folder), NO, 'one outlier, with other kernels than most.')


def test_one_device_of_two_nodes(folder):
    """A warning: a name was given twice, or a device was moved. Numbers and addresses do not count as names."""
    make(folder, [[1000.0], [1001.0], [1002.0]])
    write(folder, record('node-0007', 0, [result(1000.5, 550.0)], uuid='GPU-node-0001-0'))
    answer = fleet(folder, statuses=(DONE,))
    expect(answer['warnings'] == ['device GPU-node-0001-0 appears on two nodes: node-0001 and node-0007'],
           str(answer['warnings']))
    bare = Path(folder) / 'bare'
    bare.mkdir()
    for n in range(3):
        made = record(f'node-{n}', 0, [result(1000.0 + n, 550.0)])
        made['device']['uuid'] = ''
        made['digest'] = digest_of(made)
        write(bare, made)
    expect(not fleet(bare, statuses=(DONE,)).get('warnings'), 'one PCI address of all nodes is no device')


def test_listed(folder):
    """Expected nodes, typed in Slurm's notation."""
    make(folder, [[1000.0], [1001.0], [1002.0]])
    expect(fleet(folder, '--expect', 'node-000[0-2]', statuses=(DONE,))['missing'] == [], 'none is missing')
    answer = fleet(folder, '--expect', 'node-000[0-1],login[08-09]', statuses=(NO,))
    expect((answer['missing'], answer['unexpected']) == (['login08', 'login09'], ['node-0002']), str(answer['missing']))
    expect_exit(run('fleet', folder, '--expect', 'node-[0-1'), BAD_INPUT, 'not a list of machines', 'a bracket has no counterpart')
    expect_exit(run('fleet', folder, '--expect', 'n[1-2],n1'), BAD_INPUT, 'n1')


def test_explained(folder):
    """The outlier limits are in the reasons, and not in other answers' paragraphs."""
    rates = [1000.0, 1004.0, 1009.0, 995.0, 900.0]
    make(folder, [[rate] for rate in rates])
    answer = fleet(folder, statuses=(NO,))
    middle = statistics.median(rates)
    robust = 1.4826 * statistics.median(abs(rate - middle) for rate in rates)
    reason = next(one for one in answer['reasons'] if 'decoding: the median' in one).replace(',', '')
    for value in (middle, robust, 3.5 * robust, 0.03 * middle):
        expect(f'{value:.7g} token/s/gpu' in reason, f'{value:.7g} is not in {reason}')
    expect(reason.endswith('1 device.') and not set(answer['reasons']) & set(answer['notes']), str(answer['notes']))
    expect_exit(run('fleet', folder, '--explain'), NO, 'the median of 5 devices is 1,000 token/s/gpu')
    expect_exit(run('fleet', folder, '--explain', '-o', folder / 'fleet.xlsx'), BAD_INPUT, 'a workbook has no explanations')


def test_links(folder):
    """One device has a narrower slot, one has lost a link to the others; older records do not say."""
    for number, links in enumerate(['PCIe 5 x16, 18 NVLinks'] * 3 + ['PCIe 5 x8, 18 NVLinks', 'PCIe 5 x16, 17 NVLinks']):
        write(folder, with_links(record(f'node-{number}', 0, [result(1000.0 + number, 550.0)]), links))
    write(folder, record('node-7', 0, [result(1000.0, 550.0)]))
    other = {(row['setting'], row['usual'], row['other'], row['nodes'])
             for row in fleet(folder)['tables']['settings']['rows']}
    expect(other == {('links', 'PCIe 5 x16, 18 NVLinks', 'PCIe 5 x8, 18 NVLinks', 'node-3'),
                     ('links', 'PCIe 5 x16, 18 NVLinks', 'PCIe 5 x16, 17 NVLinks', 'node-4'),
                     ('links', 'PCIe 5 x16, 18 NVLinks', 'not stated', 'node-7')}, str(other))


def test_workloads_stay_apart(folder):
    """Batches are not compared with each other, nor heads of two types, nor what ran alone with what ran together."""
    made = [result(1000.0, 500.0), result(900.0, 480.0, batch=32)]
    made += [result(800.0, 450.0, batch=16) for _ in range(2)]
    made[3]['types'] = {**made[3]['types'], 'head': 'e4m3'}
    write(folder, record('a', 0, made))
    beside = result(1000.0, 500.0)
    beside['together'] = {**beside['together'], 'devices': 2, 'tokens_per_s': 950.0, 'slowest': 950.0,
                          'fastest': 950.0, 'total_tokens_per_s': 1900.0, 'load_power_w': 990.0, 'window_s': 9.0}
    write(folder, record('b', 0, [beside]))
    found = {row['workload'].rpartition('context 4096')[2] + row['workload'].partition('batch ')[2][:2]:
             row['median'] for row in rows(fleet(folder), 'measured')}
    expect(set(found) == {'64', '32', '16', ', 2 devices at once64'}, str(found))
    heads = [row['workload'] for row in rows(fleet(folder), 'measured') if 'batch 16' in row['workload']]
    expect(len(heads) == 2 and 'head fp8' in heads[0] + heads[1], str(heads))
    close(found[', 2 devices at once64'], 950, 1e-9, 'tokens/s of a device while all ran')


def test_a_node_without_a_name(folder):
    """Such a record is a node of its own, named after its file; older records have no names."""
    unnamed = record('', 0, [result(1000.0, 500.0)])
    write(folder, unnamed, 'left')
    old = record('', 1, [result(1001.0, 500.0)])
    old['schema'] = 8
    del old['environment']['node']
    old['digest'] = digest_of(old)
    write(folder, old, 'right')
    names = {row['node'] for row in run_csv('fleet', folder, statuses=(UNDECIDED,))}
    expect(names == {'left', 'right'}, str(names))


def test_bad_input(folder):
    good = record('node-1', 0, [result(1000.0, 500.0)])
    edited = json.loads(json.dumps(good))
    edited['results'][0]['load_power_w'] = 400.0
    cases = [(lambda at: write(at, edited), 'digest'),
             (lambda at: (write(at, good, 'a'), write(at, good, 'b')), 'are the same record'),
             (lambda at: (at / 'x.json').write_text('{'), 'expected a complete record in JSON'),
             (lambda at: (at / 'x.json').write_text('{"schema_version": "1.3"}'), "'pertoken import' makes a record"),
             (lambda at: (at / 'x.json').write_text('{"record": "engine run"}'), 'expected a serving record'),
             (lambda at: (at / 'x.json').write_text('{"record": "production"}'), 'another kind of record'),
             (lambda at: save(at / 'x.json', serving({**RUNG, 'load': 'static batch'}, basis='decode')),
              "an engine's static batch"),
             (lambda at: save(at / 'x.json', serving(rung(1, 100), grade='published', published_title='A study',
                                                     published_url='https://example.org')), 'does not belong to a node of this fleet'),
             (lambda at: None, 'no whole-model result and no server load in 0 records')]
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


def test_servers(folder):
    """Loads on servers are listed next to the devices' results, and are not devices; a refused one is reported."""
    for n in range(5):
        write(folder, record(f'node-{n}', 0, [result(1000.0, 550.0)]))
        save(Path(folder) / f'served-{n}.json', serving(
            rung(4, 800 * (0.8 if n == 3 else 1)), rung(8, 1200, refused='overloaded'), node=f'node-{n}',
            tool_version='0.1.0', engine_version='0.10.2' if n == 4 else '0.10.1'))
    done = run('fleet', folder)
    expect_exit(done, NO, '5 nodes, 5 devices and 5 servers: one outlier; 1 setting differs', 'inference engine',
                'vLLM 0.10.2', 'Of servers', 'overloaded')
    answer = fleet(folder, statuses=(NO,))
    served, = rows(answer, 'measured', 'serving')
    expect(near(served['median'], 100) and served['nodes'] == 5, str(served))
    out, = rows(answer, 'outliers', 'serving')
    expect(out['node'] == 'node-3' and '4 in flight' in out['workload'], str(out))


def test_the_probe_says_its_node(folder):
    if not PROBE.exists():
        raise Skip('there is no prober here')
    done = run('run', '--model', 'tinyllama-1.1b', '--layers', '1', '--verify-only', '--node', 'n1', program=PROBE)
    expect(done.returncode in (DONE, BAD_INPUT) and 'unrecognized' not in done.stderr, done.stderr)


DRAWN = """\
[scenario]
title = T
date = 2026-11-25
[workload]
model = llama-2-70b
precision = fp8
batch = 64
context = 4096
basis = decode
[common]
utilization = 50 %
accelerators = 8
accelerators_per_node = 8
[option here]
accelerator = h200-sxm-141
rental_rate = 2 USD/gpu/h
[range]
here.decode_throughput = from measurement
"""


def test_spread_drawn(folder):
    """A simulation draws one device: if too few ran the workload, with the differences between those of the workload of
    that device that differs most; +-2 % if neither is known. check_source_spread draws the mean of several. A rented
    accelerator's cost per token is inversely proportional to its speed."""
    draw, error = random.Random(12), 0.001
    def rates(spread, count):
        return [draw.gauss(1000, 1000 * spread) for _ in range(count)]
    cases = {'of another': (rates(0.03, 2), rates(0.05, 12), rates(0.01, 9)),
             'assumed': (rates(0.03, 2), rates(0.05, 2), ())}
    scenario = Path(folder) / 'scenario.ini'
    scenario.write_text(DRAWN)
    for name, (own, other, third) in cases.items():
        at = Path(folder) / name.replace(' ', '-')
        at.mkdir()
        for batch, values in ((64, own), (32, other), (16, third)):
            for n, rate in enumerate(values):
                write(at, record(f'n{n}', 0, [result(rate, 550.0, batch=batch)]), f'{batch}-{n}')
        counted = {'of another': other}.get(name)
        width = 0.02
        if counted:
            within = statistics.fmean([(error * value) ** 2 for value in counted])
            width = 3 ** 0.5 * math.sqrt(statistics.variance(counted) - within) / statistics.fmean(counted)
        answer = run_json('simulate', scenario, '--measurements', at, '--draws', 8192)
        found = answer['outcomes'][0]['percentiles']
        middle = found['P50']
        # The slowest draws cost most: P95 is at the uniform distribution's 5 %.
        for percentile, place in (('P5', 0.9), ('P25', 0.5), ('P75', -0.5), ('P95', -0.9)):
            wanted = 1 / (1 + place * width)
            expect(abs(found[percentile] / middle - wanted) < 0.0015, f'{name}, {percentile}: {found[percentile] / middle}, not {wanted}')


def test_workbook(folder):
    """All nodes, ascending, on a sheet of their own, and a chart of each measure; identical bytes each time."""
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
    names = ('--expect', 'node-[0000-0029],x')
    expect_exit(run('fleet', folder, *names, '-o', books[1]), NO, 'wrote')
    with zipfile.ZipFile(books[1]) as archive:
        text = archive.read('xl/sharedStrings.xml').decode()
    for wanted in (*(f'<t>node-{n:04d}</t>' for n in range(12, 30)), '<t>x</t>', *fleet(folder, *names)['notes']):
        expect(wanted in text, f'not in the workbook: {wanted}')
    if not shutil.which('ssconvert'):
        raise Skip('Gnumeric (ssconvert) is not installed')
    subprocess.run(['ssconvert', '-S', books[0], Path(folder) / 'sheet.csv'], check=True, capture_output=True)
    with (Path(folder) / 'sheet.csv.1').open(newline='') as sheet:
        values = [float(row[3]) for row in csv.reader(sheet) if len(row) > 3 and row[2] == 'decoding, token/s/gpu']
    wanted = sorted(statistics.fmean(node) for node in rates)
    expect(len(values) == 12 and all(abs(a / b - 1) < 1e-9 for a, b in zip(values, wanted)), str(values))
    done = run('fleet', folder, '-o', Path(folder) / 'nowhere' / 'x.xlsx')
    expect(done.returncode not in (DONE, NO), 'a workbook in a folder that is not there')


OFFER = """\
[offer]
vendor = Example Compute
reference = Q-1
date = 2026-11-02
currency = USD
accelerator = h200-sxm-141
accelerators = 8000 gpu
nodes = 1000 node
[guarantee decoding]
model = llama-2-70b
precision = fp8
basis = decode
tokens_per_s = 1000 token/s/gpu
[acceptance]
tolerance = 2 %
node_tolerance = 8 %
may_fail = 9 node
"""


# Two seconds of waiting: records are read by as many threads as there are cores, at least two.
PROCESSOR_S = 4


def used(*arguments):
    """Processor seconds, megabytes and elapsed seconds of a command that ends with an answer."""
    began = time.monotonic()
    process = subprocess.Popen([PERTOKEN, *map(str, arguments), '-q'], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    expect(os.waitstatus_to_exitcode(status) in (DONE, NO, UNDECIDED), 'it ends')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, time.monotonic() - began


def full(made, draw):
    """A record as long as the longest in data/measured, 21 KB: with a meter's readings and the samples of each step."""
    def readings(count, watts):
        off = [draw.gauss(0, 2) for _ in range(count // 2)]
        return {'sensed': True, 'end_s': [0.1 * (i + 1) for i in range(count)],
                'power_w': [watts + off[i // 2] * (-1) ** i for i in range(count)]}
    for one in made['results']:
        one['readings'] = {'idle': readings(50, 75), 'load': readings(200, one['load_power_w'])}
        one['samples'] = [one['step_seconds'] * (1 + draw.gauss(0, 0.001)) for _ in range(200)]
    return with_links(made, 'PCIe 5 x16, 18 NVLinks')


def test_large_workbook(folder):
    if not DEEP:
        raise Skip('in the deep run')
    draw = random.Random(8)
    records = Path(folder) / 'records'
    records.mkdir()
    make(records, [[draw.gauss(1000, 10) for _ in range(8)] for _ in range(1000)])
    offer = Path(folder) / 'offer.ini'
    offer.write_text(OFFER)
    for command in (('fleet', records), ('accept', offer, records)):
        seconds, *_ = used(*command, '-o', Path(folder) / 'x.xlsx')
        expect(is_quick(seconds, 5), f'{command[0]}: {seconds:.2f} s with a workbook')
        seconds, megabytes, _ = used(*command)
        expect(is_quick(seconds, PROCESSOR_S) and megabytes < 500, f'{command[0]}: {seconds:.2f} s, {megabytes:.0f} MB')
        print(f'{command[0]}: {seconds:.2f} s, {megabytes:.0f} MB')


def python_reads(folder):
    """Processor seconds for every fifth record in Python, its digest too, five times: this machine's measure."""
    began = time.process_time()
    for path in sorted(Path(folder).iterdir())[::5]:
        made = json.loads(path.read_bytes())
        expect(made['digest'] == digest_of(made), path.name)
    return 5 * (time.process_time() - began)


def read_all(folder, share=1):
    """Two seconds of two processors, if nothing else runs, and 500 MB; or not longer than Python takes.

    share: that part of ten thousand records.
    """
    is_quiet = os.getloadavg()[0] < 1.5
    tries = [used('fleet', folder) for _ in range(3)]
    seconds, megabytes, passed = (min(one[i] for one in tries) for i in range(3))
    python_s = python_reads(folder)
    said = f'{seconds:.2f} s of the processor, {passed:.2f} s passed, {megabytes:.0f} MB; Python: {python_s:.2f} s'
    print(said if is_quiet else f'{said}; this machine is busy, so what passed is not judged')
    expect(megabytes < 500, said)
    expect(seconds < max(share * PROCESSOR_S, python_s), said)
    expect(not is_quiet or passed < max(share * PROCESSOR_S / 2, python_s), said)


def test_ten_thousand(folder):
    if not DEEP:
        raise Skip('in the deep run')
    draw = random.Random(7)
    make(folder, [[draw.gauss(1000, 10)] for _ in range(10000)])
    read_all(folder)


def test_two_thousand_long_ones(folder):
    """As long as the longest of data/measured: most of that time goes into a thousand numbers of 17 digits each."""
    if not DEEP:
        raise Skip('in the deep run')
    draw = random.Random(7)
    for n in range(2000):
        write(folder, full(record(f'node-{n:04d}', 0, [result(draw.gauss(1000, 10), 550.0)]), draw))
    read_all(folder, share=0.2)


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests_in_folders(globals())
    COUNT.finish()
