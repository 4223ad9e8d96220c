#!/usr/bin/python3
"""What else a program is started with: bytes that are not text, a locale, a day from the environment.

    check_surroundings.py [NAME...]

PERTOKEN and PROBE name the programs.
"""
import datetime
import resource
import subprocess
import zipfile

from support.program import BAD_INPUT, DONE, MACHINE_FAILED, PERTOKEN, PROBE, ROOT, Skip, expect, expect_exit, run, run_tests

BASE = 'examples/mi325x-vs-h200.ini'
NO_TEXT = b'a\xff'
LIMIT = 253402300799  # the last second of the year 9999

# Command lines with an argument that is not text somewhere.
NO_TEXTS = [
    (PERTOKEN, (NO_TEXT,)),
    (PERTOKEN, (b'--' + NO_TEXT,)),
    (PERTOKEN, ('compare', NO_TEXT)),
    (PERTOKEN, ('compare', BASE, '--case', NO_TEXT)),
    (PERTOKEN, ('compare', BASE, '--set', b'mi325x.discount=\xc3')),
    (PERTOKEN, ('compare', BASE, '--data', NO_TEXT)),
    (PERTOKEN, ('compare', BASE, b'--\xed\xa0\x80')),
    (PERTOKEN, ('report', BASE, '-o', NO_TEXT + b'.xlsx')),
    (PERTOKEN, ('catalog', 'prices', '--where', b'item~\x80')),
    (PERTOKEN, ('probe', 'run', '--model', NO_TEXT)),
    (PROBE, ('run', '--model', 'smollm-135m', '-o', NO_TEXT)),
    (PROBE, ('run', '--model', 'smollm-135m', '--wall-power', '9 W', '--wall-note', NO_TEXT)),
]

# SOURCE_DATE_EPOCH, and the day that it represents; None: an error.
EPOCHS = [('0', '1970-01-01'), ('1790000000', '2026-09-21'), (str(LIMIT), '9999-12-31'), ('', str(datetime.datetime.now(datetime.timezone.utc).date())),
          (str(LIMIT + 1), None), ('9' * 30, None), ('-1', None), ('abc', None), ('12 ', None), ('1.5', None), ('0x10', None)]

SCENARIO = """[scenario]
title = Letters
[common]
accelerators = 8
accelerators_per_node = 8
load_power = 700 W
pue = 1.3
utilization = 50 %
electricity_price = 0.1 USD/kWh
list_price = 20000 USD
throughput = 1000 token/s
[option {}]
accelerator = h200-sxm-141
[option {}]
accelerator = h200-sxm-141
[item Ispan]
label = Ispan
unit = USD/yr
group = opex
formula = 1 USD/yr
[item ilk]
label = ilk
unit = USD/yr
group = opex
formula = 2 USD/yr
"""


def test_no_text(_):
    for program, arguments in NO_TEXTS:
        done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, check=False)
        words = done.stderr.decode('utf-8')  # what is shown of them is text
        expect(done.returncode == BAD_INPUT and 'expected UTF-8 text, found the byte 0x' in words,
               f'{arguments}: exit {done.returncode}: {words}')


def test_epoch(folder):
    """The day of a scenario that does not state its own."""
    path = folder / 'undated.ini'
    path.write_text(SCENARIO.format('a', 'b'), encoding='utf-8')
    for text, day in EPOCHS:
        done = run('compare', path, '-q', environment={'SOURCE_DATE_EPOCH': text})
        if day is None:
            expect_exit(done, BAD_INPUT, f"expected seconds since 1970, before the year 10000, not '{text}'")
        else:
            expect_exit(done, DONE, f'as of {day}\n')


def test_start_of_both_programs(folder):
    """Both refuse a day that is none, and tell of output that could not be written."""
    catalog = ('catalog', 'throughput', '--format', 'json')
    for program, arguments in ((PERTOKEN, catalog), (PROBE, ('list', '--format', 'json'))):
        expect_exit(run(*arguments, program=program, environment={'SOURCE_DATE_EPOCH': 'abc'}), BAD_INPUT, 'seconds since 1970')
        with open(folder / 'full.json', 'w', encoding='utf-8') as full:
            done = run(*arguments, program=program, stdout=full,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
        expect_exit(done, MACHINE_FAILED, "cannot write 'standard output': File too large")


def test_epoch_in_workbook(folder):
    path = folder / 'epoch.xlsx'
    done = run('report', BASE, '-q', '-o', path, environment={'SOURCE_DATE_EPOCH': LIMIT})
    expect_exit(done, DONE)
    with zipfile.ZipFile(path) as workbook:
        expect('9999-12-31T23:59:59Z' in workbook.read('docProps/core.xml').decode(), 'another day')


def turkish(folder):
    """Where the capital of i is not I: a locale made for this test."""
    where = folder / 'locales'
    where.mkdir(exist_ok=True)
    try:
        subprocess.run(['localedef', '-i', 'tr_TR', '-f', 'UTF-8', where / 'tr_TR.UTF-8'], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise Skip(str(error)) from error
    if not (where / 'tr_TR.UTF-8').exists():
        raise Skip('no description of the Turkish locale here')
    return {'LOCPATH': where, 'LC_ALL': 'tr_TR.UTF-8'}


def test_letters_of_a_locale(folder):
    """I1 and i1 are the same name, and the order of the output does not change."""
    locale = turkish(folder)
    path, reports = folder / 'letters.ini', []
    path.write_text(SCENARIO.format('I1', 'i1'), encoding='utf-8')
    for environment in ({}, locale):
        expect_exit(run('compare', path, environment=environment), BAD_INPUT, "'i1'")
    path.write_text(SCENARIO.format('I1', 'i2'), encoding='utf-8')
    for name, environment in (('c', {}), ('tr', locale)):
        report = folder / f'{name}.xlsx'
        expect_exit(run('report', path, '-q', '-o', report, environment={'SOURCE_DATE_EPOCH': 1790000000, **environment}),
                    DONE)
        with zipfile.ZipFile(report) as workbook:
            reports.append({part: workbook.read(part) for part in workbook.namelist()})
    expect(reports[0].keys() == reports[1].keys(), 'other parts')
    for part, text in reports[0].items():
        expect(text == reports[1][part], f'{part} differs between the locales')


def test_terminal_of_a_locale(folder):
    """A UTF-8 locale gets its characters, any other does not."""
    path = folder / 'dash.ini'
    path.write_text(SCENARIO.format('a', 'b').replace('Letters', 'Größe'), encoding='utf-8')
    for locale, title in (('C.UTF-8', 'Größe'), ('C', 'Gr??e'), ('no_WHERE.UTF-8', 'Gr??e')):
        done = run('compare', path, '-q', environment={'LC_ALL': locale})
        expect(done.stdout.startswith(title + '\n'), f'{locale}: {done.stdout[:40]}')


def test_small_stack(folder):
    """128 KiB are enough to write a workbook and check it."""
    limit = 128 << 10
    done = subprocess.run([PERTOKEN, 'report', BASE, '-q', '-o', folder / 'small.xlsx'], cwd=ROOT, capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)), check=False)
    expect(done.returncode == DONE, f'exit {done.returncode}: {done.stderr}')


def test_full_disk(_):
    """The reason of a write that failed, at the end or before: /dev/full has no room."""
    for program, arguments in ((PERTOKEN, ('--help',)), (PERTOKEN, ('--version',)), (PROBE, ('--version',)),
                               (PERTOKEN, ('compare', BASE, '-q')),
                               (PERTOKEN, ('simulate', 'examples/uncertainty.ini', '-q', '--draws', '2000', '--shard', '1/2'))):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = subprocess.run([program, *arguments], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == MACHINE_FAILED and 'No space left on device' in done.stderr, f'{arguments}: {done.stderr}')


if __name__ == '__main__':
    run_tests(globals())
