#!/usr/bin/python3
"""Do the tables fit the terminal, and avoid what it cannot show?

Every command that prints a table, on scenarios of two and of five options with long ids, at 60, 80
and 120 columns, with and without UTF-8: no line may be wider, only ASCII is allowed without UTF-8,
no color in a pipe. No column is left out without a word. On a terminal there is color, unless
NO_COLOR is set or TERM is dumb.
"""
import re
import tempfile
import unicodedata
from pathlib import Path

from support import program
from support.program import Count, expect, on_terminal

WIDTHS = (60, 80, 120)
EXAMPLES = Path('examples')  # from the root: a path is a word that cannot be broken
MANY = """\
[scenario]
title = Five options, two of them with the longest id there is, and a title of over eighty letters
date = 2026-11-20

[common]
accelerators = 800
accelerators_per_node = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh

[option h200_of_the_first_vendor]
accelerator = h200-sxm-141
list_price = 35000 USD
load_power = 700 W
throughput = 4202 token/s

[option mi325x_from_another_vend]
accelerator = mi325x-256
list_price = 22000 USD
load_power = 1000 W
throughput = 3951 token/s

[option b200]
accelerator = b200-sxm-180
list_price = 45000 USD
load_power = 1000 W
throughput = 9951 token/s

[option mi300x]
accelerator = mi300x-192
list_price = 15000 USD
load_power = 750 W
throughput = 3051 token/s

[option mi355x]
accelerator = mi355x-288
list_price = 30000 USD
load_power = 1400 W
throughput = 8951 token/s

[range]
electricity_price = triangular(0.06, 0.08, 0.14) USD/kWh
mi355x.throughput = uniform(7000, 9000) token/s
"""


def commands(scenario, id):
    base = EXAMPLES / 'mi325x-vs-h200.ini'
    return [
        ['compare', scenario],
        ['diff', base, EXAMPLES / 'finance-what-if.ini'],
        ['explain', scenario, f'{id}.cost_per_mtok'],
        ['sensitivity', scenario],
        ['solve', scenario, '--option', id, '--for', 'list_price', '--target', '0.12 USD/Mtok'],
        ['simulate', scenario, '--draws', '2000'],
        ['fit', '--where', 'model=deepseek-v3', '--where', 'precision=fp8'],
    ]


def run(arguments, **environment):
    done = program.run(*arguments, '-q', environment=environment)
    expect(done.returncode in (0, 1), f'{arguments[0]}: {done.stderr[-500:]}')
    return done.stdout


def columns(line):
    """The way a terminal counts: combining characters take no room, wide ones take two."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in line)


def shown(arguments, width, locale):
    """In a pipe; a derivation, whose lines stay whole there, on a terminal."""
    environment = {'COLUMNS': str(width), 'LC_ALL': locale}
    if arguments[0] != 'explain':
        return run(arguments, **environment)
    return on_terminal(*arguments, '-q', environment={**environment, 'NO_COLOR': '1'})


def check_width(arguments, width):
    for locale in ('C.UTF-8', 'C'):
        text = shown(arguments, width, locale)
        for line in text.split('\n'):
            word = ' ' not in line.strip('│├└─|`- ')  # a path, which cannot be broken
            expect(columns(line) <= width or word, f'{columns(line)} columns of {width}: {line!r}')
        expect('\033' not in text, 'colour in a pipe')
        expect(locale != 'C' or text.isascii(), 'more than ASCII without UTF-8')
        expect(len(text) > 100, f'hardly anything is printed: {text!r}')
        parts = re.search(r'(?m)^\S.*\n\n(─|-)+$', text)
        expect(not parts, f'a blank line between a heading and its rule: {parts and parts[0]!r}')


def check_left_out(scenario):
    """Where options are rows, every column has a heading, or is named below as left out."""
    seen = set()
    for width in (60, 80, 100, 115):
        text = run(['compare', scenario], COLUMNS=str(width))
        heading = re.search('(?m)^option .*', text)[0]
        left_out = re.search(r'(?m)^Left out at this width: (.*)|\Z', re.sub('\n {24}', ' ', text))[1] or ''
        for name in ('gpus', 'output', 'power', 'net price', 'TCO', 'cost', 'levelized', 'saving', 'evidence'):
            wanted = [name in re.split(' {2,}', heading.strip()), name in left_out.split(', ')]
            expect(sum(wanted) == 1, f'{name} at {width}: {heading!r}, left out: {left_out!r}')
            seen |= {(name, wanted[0])}
    expect({('power', True), ('power', False), ('output', False)} <= seen, f'too few widths: {seen}')


def check_colour(scenario):
    plain = re.compile(r'\033\[[0-9;]*m')
    text = on_terminal('compare', scenario, '-q')
    marked = [line for line in text.split('\n') if re.search(r'\033\[1;32m\* ', line)]
    expect(len(marked) == 1, f'the cheapest is marked in {len(marked)} lines')
    for more in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
        bare = on_terminal('compare', scenario, '-q', environment=more)
        expect('\033' not in bare, f'colour with {more}')
        expect(bare == plain.sub('', text), f'another text with {more}')


def check_interval(scenario, options):
    """P5 and P95 of compare are those of simulate."""
    simulated = run(['simulate', scenario])
    for level in ('P5', 'P95'):
        lines = [line.split()[-options:] for line in run(['compare', scenario]).split('\n')
                 if re.match(rf' +{level} ', line)]
        wanted = [line.split()[-options:] for line in simulated.split('\n')
                  if line.startswith(f'{level}: below')]
        expect(lines and lines[0] == wanted[0], f'{level} is {lines}, simulate says {wanted}')
        expect(lines[1][-1] == wanted[1][-1], f'{level} of the saving: {lines}, {wanted}')
    certain = run(['compare', EXAMPLES / 'mi325x-vs-h200.ini'])
    expect('P95' not in certain, 'an interval without ranges')


def check_help():
    """Of every command, and of the probe's: no line is wider than 80 columns."""
    named = [re.findall(r'(?m)^  ([a-z]+)  ', run([*words, '--help'])) for words in ([], ['probe'])]
    expect(len(named[0]) > 20 and len(named[1]) > 4, f'{named}')
    for words in ([], ['probe'], *([name] for name in named[0]), *(['probe', name] for name in named[1])):
        wide = [line for line in run([*words, '--help']).split('\n') if columns(line) > 80]
        expect(not wide, f'{words}: {wide}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder, 'many.ini')
        many.write_text(MANY)
        ranged = EXAMPLES / 'uncertainty.ini'
        for scenario, id in ((ranged, 'mi325x'), (many, 'mi325x_from_another_vend')):
            for arguments in commands(scenario, id):
                for width in WIDTHS:
                    count.test(f'{arguments[0]} {scenario.name} at {width}', check_width, arguments, width)
        count.test('help', check_help)
        count.test('colour', check_colour, many)
        certain = Path(folder, 'certain.ini')
        certain.write_text(MANY.partition('[range]')[0])
        count.test('left out', check_left_out, certain)
        count.test('interval', check_interval, ranged, 2)
    count.finish()


if __name__ == '__main__':
    main()
