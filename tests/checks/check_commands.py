#!/usr/bin/python3
"""Runs every command the way its users do: help, names that are wrong, where the results go, and their forms.

PERTOKEN names the program. Tables are checked by their display width. What compare, diff and explain show of the golden
example is in check_compare, check_diff_faces and check_explain.
Seconds: 3
"""
import csv
import io
import json
import os
import re
import stat
import subprocess

from support.golden import EXAMPLES, equal, narrow, run_golden_tests
from support.program import (BAD_INPUT, DONE, MACHINE_FAILED, NO, PERTOKEN, PROBE, ROOT, expect, expect_exit, on_terminal,
                             run, run_csv, run_json)

COMMANDS = ('report', 'compare', 'diff', 'explain', 'catalog')
WITH_SCENARIO = ('report', 'compare', 'diff', 'explain')


def test_overview(folder):
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


def test_help(folder):
    for command in COMMANDS:
        done = run(command, '--help')
        equal((done.returncode, done.stderr), (0, ''), f'{command} --help')
        example = re.search(rf'Example:\n  (pertoken {command} .+)\n', done.stdout)
        expect(example, f'{command} --help has no example')
        narrow(done.stdout)
        for option in ('--set', '--case', '--mixed', '--model') if command in WITH_SCENARIO else ('--where',):
            expect(option in done.stdout, f'{command} --help lacks {option}')


def test_help_examples(folder):
    """The examples in the help work when typed in the folder with the example files."""
    for command in COMMANDS:
        line = re.search(r'Example:\n  pertoken (.+)\n', run(command, '--help').stdout).group(1)
        line = line.replace('-o tco.xlsx', f'-o {folder.path}/tco.xlsx')
        done = subprocess.run(f'{PERTOKEN} {line}', shell=True, cwd=ROOT, capture_output=True, text=True)
        equal(done.returncode, 0, line + done.stderr)


def test_help_of_a_command(folder):
    """`help compare` is `compare --help`, in both programs."""
    for name, command in ((PERTOKEN, ('compare',)), (PERTOKEN, ('probe', 'run')), (PROBE, ('run',))):
        asked, said = run('help', *command, program=name), run(*command, '--help', program=name)
        equal((asked.returncode, asked.stdout), (DONE, said.stdout), f'{name} help {command}')
        expect(' '.join(command) in said.stdout.partition('\n')[0], said.stdout)
    expect_exit(run('help', 'compar'), BAD_INPUT, "unknown command 'compar'", "did you mean 'compare'")


def test_number_of_an_option(folder):
    expect_exit(run('plan', ROOT / 'examples/plan/twelve-quarters.ini', '--time', '0'), BAD_INPUT,
                "--time:1:1: error: expected a positive whole number, not '0'")


def test_standard_input(folder):
    expect_exit(run('compare', '-'), BAD_INPUT, 'standard input is not read: name a file')


def test_unknown_names(folder):
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
            (('compare', golden, '--nonsense'), '--nonsense'),
            (('report', golden, '-o'), "'o'")):
        done = run(*arguments)
        equal(done.returncode, BAD_INPUT, f'{arguments}: exit status')
        equal(done.stdout, '', f'{arguments}: standard output')
        expect(hint in done.stderr, f'{arguments}: {hint} is not in {done.stderr}')


def test_broken_pipe(folder):
    for command in (f"compare {folder.golden} --format csv", f"explain {folder.golden} h200.tco",
                    "catalog throughput --format csv", "--help"):
        line = f'set -o pipefail; {PERTOKEN} {command} -q | head -n 1' if command != '--help' else \
            f'{PERTOKEN} --help | head -n 1'
        done = subprocess.run(['bash', '-c', line], capture_output=True, text=True)
        equal(done.stderr, '', f'{command} | head -n 1')
        equal(len(done.stdout.splitlines()), 1, f'{command} | head -n 1')


def test_full_disk(folder):
    for arguments in (('--help',), ('--version',), ('compare', '--help'), ('compare', folder.golden),
                      ('compare', folder.golden, '--format', 'json'), ('compare', folder.golden, '--format', 'csv'),
                      ('explain', folder.golden, 'h200.tco'), ('diff', folder.golden, folder.golden),
                      ('catalog', 'models'), ('catalog', 'throughput', '--format', 'json')):
        with open('/dev/full', 'w') as full:
            done = run(*arguments, stdout=full, stderr=subprocess.PIPE)
        equal(done.returncode, MACHINE_FAILED, f'{arguments} to a full disk')
        expect('standard output' in done.stderr, f'{arguments} to a full disk: {done.stderr}')
        equal(done.stderr.count('standard output'), 1, f'{arguments} to a full disk: times said')


def test_output_file(folder):
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


def test_output_names(folder):
    """What a file's name chooses; another --format beside it is refused."""
    for name, asked, form in (('x.csv', None, 'csv'), ('x.JSON', None, 'json'), ('x.txt', None, 'table'),
                              ('x.v2', None, 'table'), ('x.csv', 'csv', 'csv'), ('x.v3', 'json', 'json')):
        target = folder.path / name
        options = ['--format', asked] if asked else []
        equal(run('compare', folder.golden, '-q', *options, '-o', target).returncode, 0, name)
        equal(target.read_text(), run('compare', folder.golden, '-q', '--format', form).stdout, f'{name}, {asked}')
    for name, asked in (('y.csv', 'json'), ('y.json', 'table'), ('y.JSON', 'csv')):
        done = run('compare', folder.golden, '-q', '--format', asked, '-o', folder.path / name)
        expect(done.returncode == 2 and 'another format than --format says' in done.stderr, done.stderr)
        expect(not (folder.path / name).exists(), name)


def test_warnings(folder):
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


def shards(folder):
    """The two halves of a simulation, as files."""
    parts = [folder.path / f'part-{i}.json' for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        run('simulate', ROOT / 'examples/uncertainty.ini', '--draws', '256', '--shard', f'{i}/2', '-q', '-o', part)
    return parts


def test_every_format(folder):
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


def test_formats_of_what_writes(folder):
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


def test_plain_terminals(folder):
    colour = on_terminal('compare', folder.golden)
    expect('\033[' in colour and '\u2500' in colour, 'no colour or lines on a terminal')
    narrow(re.sub(r'\033\[[0-9;]*m', '', colour))
    for environment in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
        expect('\033' not in on_terminal('compare', folder.golden, environment=environment), f'{environment}')
        for name, command in ((PERTOKEN, ('compare', 'none.ini')), (PROBE, ('run', '--model', 'none'))):
            for allowed, more in ((True, {}), (False, environment)):
                error = on_terminal(*command, program=name, environment=more, statuses=(BAD_INPUT,),
                                    stderr=subprocess.STDOUT)
                expect(('\033' in error) == allowed, f'{name} {more}: {error!r}')
    ascii_only = {'LC_ALL': 'C'}
    for arguments in (('compare', folder.golden), ('explain', folder.golden, 'h200.tco'),
                      ('diff', folder.golden, folder.with_options(2))):
        expect(run(*arguments, '-q', environment=ascii_only).stdout.isascii(), f'{arguments[0]} in a plain locale')
        expect(on_terminal(*arguments, environment=ascii_only).isascii(), f'{arguments[0]} on a plain terminal')


def test_report(folder):
    done = run('report', folder.golden, '-q', cwd=folder.path)
    equal((done.returncode, done.stdout, done.stderr), (0, '', ''), 'report')
    expect((folder.path / 'golden.xlsx').read_bytes()[:2] == b'PK', 'golden.xlsx in the current folder')
    done = run('report', folder.golden, '-q', cwd=folder.path)
    expect(done.returncode == BAD_INPUT and "'golden.xlsx' already exists" in done.stderr, done.stderr)
    target = folder.path / 'named.xlsx'
    equal(run('report', folder.golden, '-q', '-o', target).returncode, 0, 'report -o')
    expect(target.exists(), 'report -o FILE')
    equal(run('report', folder.golden, '-o', folder.path / 'none' / 'x.xlsx').returncode, MACHINE_FAILED, 'no folder')


def test_catalog(folder):
    rows = run_csv('catalog', 'accelerators', '--where', 'id=h200-sxm-141')
    equal([row['id'] for row in rows], ['h200-sxm-141'], 'a row by its id')
    found = run_json('catalog', 'accelerators', '--where', 'id=h200-sxm-141')
    equal([row['id'] for row in found['rows']], ['h200-sxm-141'], 'the same in JSON')
    done = run('catalog', 'accelerators', '--where', 'id=h200-sxm-141', '--data', ROOT / 'data')
    expect(done.returncode == 0 and 'h200-sxm-141' in done.stdout, 'the same as a table')


if __name__ == '__main__':
    run_golden_tests(globals())
