#!/usr/bin/python3
"""Do large scenarios stay fast on every face? 1,000 cases, 1,000 items, 1,000 options, 10,000 errors.

Each takes less than 5 processor seconds, less than 10 if other suites share the processor (more on a slower
machine), and 500 MB of memory. A workbook with more series than its charts have room for is refused with
the number that they have room for.
A simulation of 200 options takes no more memory than those.
Deep: every face of each, 200 cases of ten options, 501 options simulated in 1 GB; a table, CSV and JSON of 10,000
options, each with a batch of its own, in 800 MB; 10,000 options read in less than 7 times the time of 2,000; 300
options with a range each.
Seconds: 13, deep 55
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import program, scenarios  # noqa: E402
from support.processor import is_quick  # noqa: E402
from support.program import BAD_INPUT, Count, DEEP, PERTOKEN, ROOT, expect, expect_exit  # noqa: E402

SECONDS, MEGABYTES = 5 if DEEP else 10, 500
HEAD = """\
[scenario]
title = A large one
date = 2026-11-20
horizon = 3 yr

""" + scenarios.COMMON
RANGE = '\n[range]\nelectricity_price = triangular(0.05, 0.08, 0.14) USD/kWh\n'
TERMINAL, CSV, JSON = ['compare'], ['compare', '--format', 'csv'], ['compare', '--format', 'json']
PAGE, REPORT, SIMULATE = ['page'], ['report'], ['simulate']
TORNADO, TORNADO_CSV = ['sensitivity'], ['sensitivity', '--format', 'csv']
EXPLAIN, FINANCE = ['explain', 'o1.tco'], ['finance']
FACES = [TERMINAL, CSV, JSON, PAGE, REPORT, SIMULATE, TORNADO, TORNADO_CSV, EXPLAIN, FINANCE]
MAX_CHARTED = 255
MORE_MEGABYTES, LARGEST_MEGABYTES = 1000, 800


def options(count):
    return ''.join(f'\n[option o{i}]\naccelerator = {("h200-sxm-141", "mi325x-256")[i % 2]}\n'
                   f'list_price = {20000 + 7 * i} USD\nthroughput = {2000 + i} token/s\n' for i in range(count))


def cases(count):
    return ''.join(f'\n[case c{i}]\nelectricity_price = {0.05 + i / 10000:.4f} USD/kWh\n'
                   f'o1.list_price = {20000 + i} USD\npue = {1.1 + i / 1000:.3f}\n' for i in range(count))


def unlike(count):
    """Options with a batch of their own."""
    return re.sub(r'option o(\d+)\]\n', r'option o\1]\nbatch = 1\1\n', options(count))


def ranges(count):
    """Of the price of each option."""
    return '\n[range]\n' + ''.join(f'o{i}.list_price = uniform({19000 + 7 * i}, {22000 + 7 * i}) USD\n'
                                   for i in range(count))


def items(count):
    return ''.join(f'\n[item thing{i}]\nlabel = Thing {i}\nunit = USD/yr\ngroup = opex\n'
                   f'formula = 0.{i % 9 + 1} %/yr * hardware_cost\n' for i in range(count))


def bad_options(count):
    return ''.join(f'\n[option o{i}]\naccelerator = h200-sxm-141\nlist_price = {i} EURO\n' for i in range(count))


def bad_keys(count):
    return options(2) + ''.join(f'nonesuch{i} = {i}\n' for i in range(count))


LARGE = [  # name, text, exit, faces of make test
    ('1,000 cases', HEAD + options(2) + cases(1000) + RANGE, 0, [TERMINAL, PAGE, REPORT]),
    ('1,000 items', HEAD + options(2) + items(1000), 0, [CSV, REPORT]),
    ('1,000 options', HEAD + options(1000), 0, [JSON, TORNADO, TORNADO_CSV]),
    ('10,000 bad options', HEAD + bad_options(10000), BAD_INPUT, [TERMINAL]),
    ('10,000 unknown keys', HEAD + bad_keys(10000), BAD_INPUT, [TERMINAL]),
    ('200 cases of ten options', HEAD + options(10) + cases(200), 0, []),
]


def measured(*arguments, threads=None):
    """The exit status, processor seconds, megabytes and output of a run."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([PERTOKEN, *map(str, arguments)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=said,
                                 env={**os.environ, **({'OMP_NUM_THREADS': str(threads)} if threads else {})})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, said.read().decode()


def test_face(scenario, face, exit_status):
    ending = {PAGE[0]: '.html', REPORT[0]: '.xlsx'}.get(face[0], '')
    with tempfile.TemporaryDirectory(prefix='pertoken-scale-') as folder:
        out = Path(folder, f'out{ending}')
        status, seconds, megabytes, said = measured(face[0], scenario, *face[1:], '-q', '-o', out)
    program.skip_without_charts(status, said)
    expect(status == exit_status, f'exit {status}: {said[-300:]}')
    expect(is_quick(seconds, SECONDS) and megabytes < MEGABYTES, f'{seconds:.1f} s, {megabytes:.0f} MB')
    if exit_status:
        expect(said.count('error: ') == 50 and re.search(r'\d+ more', said), said[-300:])


def test_series_of_charts(folder):
    path = folder / 'many.ini'
    path.write_text(HEAD + options(256))
    done = program.run('report', path, '-q', '-o', folder / 'many.xlsx')
    expect_exit(done, BAD_INPUT, "a workbook's charts have room for 255 options, but there are 256")


def test_table(folder):
    """Names are looked up for each option: that must not take longer than everything else."""
    path = folder / 'unlike.ini'
    path.write_text(HEAD + unlike(10000))
    (_, table_s, table_mb, _), (_, csv_s, csv_mb, _), (_, json_s, json_mb, _) = (
        measured(*face, path, '--mixed', '-q') for face in (TERMINAL, CSV, JSON))
    expect(max(table_s, json_s) < 1.4 * csv_s,
           f'the table takes {table_s:.1f} s, JSON {json_s:.1f} s, CSV {csv_s:.1f} s')
    expect(max(table_mb, csv_mb, json_mb) < LARGEST_MEGABYTES,
           f'the table takes {table_mb:.0f} MB, CSV {csv_mb:.0f} MB, JSON {json_mb:.0f} MB')


def test_reading(folder):
    """Options are not compared pair by pair: not their labels, nor their workloads."""
    seconds = {}
    for count in (2000, 10000):
        path = folder / f'read-{count}.ini'
        path.write_text(HEAD + options(count))
        seconds[count] = min(measured(*EXPLAIN[:1], path, EXPLAIN[1], '-q')[1] for _ in range(3))
    expect(seconds[10000] < 7 * seconds[2000], f'{seconds[10000]:.2f} s, 2,000 options {seconds[2000]:.2f} s')


def test_simulation(folder, count, most_mb):
    """Each outcome has some 300,000 bins in each thread, few of which are ever counted in."""
    path = folder / f'simulated-{count}.ini'
    path.write_text(HEAD + options(count) + RANGE)
    status, seconds, megabytes, said = measured(*SIMULATE, path, '-q', threads=2)
    expect(not status, f'exit {status}: {said[-300:]}')
    expect(is_quick(seconds, SECONDS) and megabytes < most_mb, f'{seconds:.1f} s, {megabytes:.0f} MB')


def test_lines(folder):
    """Of a file in no known format each line is read once."""
    path = folder / 'lines.txt'
    for text in ('\n' * 300000 + '{}', '=====\n' + 'line\n' * 200000):
        path.write_text(text)
        status, seconds, _, said = measured('import', path, '-o', folder)
        expect(status == BAD_INPUT and is_quick(seconds, SECONDS), f'{seconds:.1f} s, exit {status}: {said[-300:]}')


def test_ranges(folder):
    """Of each option one: compare shows what is drawn, not which input causes how much of it."""
    path = folder / 'ranges.ini'
    path.write_text(HEAD + options(300) + ranges(300))
    _, seconds, _, said = measured(*TERMINAL, path, '-q', threads=1)
    expect(is_quick(seconds, SECONDS), f'{seconds:.1f} s {said}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-scale-') as name:
        folder = Path(name)
        for title, text, exit_status, faces in LARGE:
            path = folder / f'{title.replace(" ", "-")}.ini'
            path.write_text(text)
            every = [face for face in FACES if (face != SIMULATE or RANGE in text) and
                     (face != REPORT or text.count('[option') <= MAX_CHARTED or exit_status)]
            for face in every if DEEP else faces:
                count.test(f'{title}: {" ".join(face)}', test_face, path, face, exit_status)
        if DEEP:
            count.test('a table of 10,000 options', test_table, folder)
            count.test('10,000 options read', test_reading, folder)
            count.test('300 ranges', test_ranges, folder)
            count.test('501 options simulated', test_simulation, folder, 501, MORE_MEGABYTES)
        count.test('200 options simulated', test_simulation, folder, 200, MEGABYTES)
        count.test('lines of no known format', test_lines, folder)
        count.test('series of charts', test_series_of_charts, folder)
    count.finish()


if __name__ == '__main__':
    main()
