#!/usr/bin/python3
"""Is a user's text shown as text, whatever it looks like, and refused if it is too long?

Titles, sources, labels and the id of an option: formulas, markup, scripts, quotes, right-to-left
letters, emoji, 150 characters. Each is in a scenario whose workbook LibreOffice and Gnumeric open
and recalculate: the text must be in a cell as it was typed, no cell may hold a formula or an error
that it does not hold with a plain text, and nothing may be written beside the workbook. On the
terminal, no control character and nothing that changes the direction of writing may appear.
Deep: the spreadsheet programs open all of them, rather than those that such programs read
differently.
Seconds: 12, deep 30
"""
import csv
import io
import json
import re
import sys
import tempfile
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gnumeric  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support import program  # noqa: E402
from support.program import Count, DEEP, ROOT, expect, skip_all  # noqa: E402

MOST = 150
LINE_BYTES = 199
PLAIN = 'a plain text'
OPENED = ('=1+41', '=HYPERLINK("http://example.org";"click")', '</t></si><si><t>', "'leading quote",
          '_x000D_ &#10; %n &P &D', '\u202eevil txt.exe')
TEXTS = [
    PLAIN,
    '=1+41',
    '+41+1',
    '-41-1',
    '@SUM(41)',
    '=HYPERLINK("http://example.org";"click")',
    '=cmd|\'/c echo hacked\'!A1',
    'a title with\ta tab',
    '"quoted" and \'quoted\'',
    '<b>bold</b> & "more"',
    '<script>alert(1)</script>',
    '</t></si><si><t>',
    ']]>',
    '{=1+41}',
    "'leading quote",
    '_x000D_ &#10; %n &P &D',
    'שלום עולם: عنوان من اليمين',
    '\u202eevil txt.exe',
    'emoji 😀👩‍👩‍👧🇩🇪',
    'x' * MOST,
    '金' * 50,
]
SCENARIO = """\
[scenario]
title = {text}
date = 2026-11-01
horizon = 3 yr

[common]
accelerators = 800
accelerators_per_node = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
node_price = 60000 USD
host_power = 300 W

[option script]
accelerator = h200-sxm-141
list_price = 35000 USD
load_power = 700 W
throughput = 4202 token/s
throughput.source = {text}

[option SUM]
accelerator = mi325x-256
list_price = 22000 USD
load_power = 1000 W
throughput = 3951 token/s

[item extra]
label = {text}
unit = USD
group = capex
formula = 1 USD
"""
TURNS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def run(folder, *arguments, **environment):
    return program.run(*arguments, '--data', ROOT / 'data', cwd=folder, environment=environment,
                       encoding=None)


def write(folder, text):
    Path(folder, 'scenario.ini').write_bytes(SCENARIO.format(text=text).encode())


def shown(text):
    """As shown in a cell: control characters are blanks."""
    return re.sub(r'[\x00-\x1f\x7f]', ' ', text)


def written(text):
    """As in the file: sequences that look like a character's code are escaped."""
    return re.sub(r'_(?=x[0-9A-Fa-f]{4}_)', '_x005F_', shown(text))


def workbook(folder, text):
    write(folder, text)
    done = run(folder, 'report', 'scenario.ini', '-q', '-o', 'book.xlsx')
    expect(done.returncode == 0, f'report: exit {done.returncode}: {done.stderr.decode()[-500:]}')
    files = sorted(path.name for path in Path(folder).iterdir())
    expect(files == ['book.xlsx', 'scenario.ini'], f'files were left: {files}')
    return Path(folder, 'book.xlsx')


def places(book, text):
    return [(sheet.name, row, column) for sheet in book.sheets.values()
            for (row, column), cell in sheet.cells.items()
            if cell.formula is None and isinstance(cell.value, str) and written(text) in cell.value]


def formulas(book):
    """The places of formulas, and their texts."""
    return {(sheet.name, place): cell.formula for sheet in book.sheets.values()
            for place, cell in sheet.formulas()}


def check_engine(name, book, actual, text, plain):
    """The texts are there, and every formula has a value that is not an error."""
    for sheet, row, column in places(book, text):
        expect(shown(text) in str(actual(sheet, row, column)),
               f'{name} shows {actual(sheet, row, column)!r} in {sheet}!{xlsx.address(row, column)}')
    for (sheet, (row, column)) in plain:
        value = actual(sheet, row, column)
        expect(value is not None and not str(value).startswith('#'),
               f'{name}: {sheet}!{xlsx.address(row, column)} is {value!r}')


def check_workbook(folder, text, plain, office):
    path = workbook(folder, text)
    book = xlsx.read(path)
    found = {sheet for sheet, _, _ in places(book, text)}
    missing = {'Cover', 'Inputs', 'script', 'Change log'} - found
    expect(not missing, f'the text is not on {sorted(missing)}')
    expect(book.sheets['Cover'].value(1, 1) == written(text), 'the title is not in A1 of Cover')
    expect(formulas(book) == plain, 'other formulas than with a plain text')
    if DEEP or text in OPENED:
        open_workbook(path, book, text, plain, office)


def open_workbook(path, book, text, plain, office):
    document = office.open(path)
    check_engine('LibreOffice', book, document.read(), text, plain)
    document.close()
    check_engine('Gnumeric', book, gnumeric.recalculate(path), text, plain)


def check_terminal(folder, text):
    write(folder, text)
    for locale in ('C', 'C.UTF-8'):
        for command in (['compare'], ['explain', 'script.cost_per_mtok'], ['sensitivity']):
            done = run(folder, command[0], 'scenario.ini', *command[1:], '-q', LC_ALL=locale)
            expect(done.returncode == 0, f'{command[0]}: {done.stderr.decode()[-500:]}')
            for character in done.stdout.decode():
                odd = unicodedata.category(character) == 'Cc' and character != '\n'
                expect(not odd and ord(character) not in TURNS,
                       f'{command[0]} prints U+{ord(character):04X}')
                expect(locale != 'C' or ord(character) < 128,
                       f'{command[0]} prints U+{ord(character):04X} without UTF-8')
    cells = [cell for row in csv.reader(io.StringIO(
        run(folder, 'compare', 'scenario.ini', '-q', '--format', 'csv').stdout.decode()))
        for cell in row]
    risky = [cell for cell in cells if re.match(r'[=+@\t\r]|-[^\d.]', cell)]
    expect(not risky, f'a spreadsheet would run {risky} of the CSV')


def check_one(text, plain, office):
    with tempfile.TemporaryDirectory(prefix='pertoken-titles-') as folder:
        if len(text.encode()) + len('throughput.source = ') <= LINE_BYTES:
            check_workbook(folder, text, plain, office)
            check_terminal(folder, text)


def refused(name, scenario, line, column, arguments=()):
    with tempfile.TemporaryDirectory(prefix='pertoken-titles-') as folder:
        Path(folder, 'scenario.ini').write_text(scenario)
        done = run(folder, 'report', 'scenario.ini', '-o', 'book.xlsx', *arguments)
        errors = [text for text in done.stderr.decode().split('\n') if 'error: ' in text]
        expect(done.returncode == 2, f'{name}: exit {done.returncode}')
        expect(len(errors) == 1, f'{name}: {errors}')
        expect(re.match(rf'(scenario\.ini|--set):{line}:{column}: ', errors[0]),
               f'{name}: {errors[0]}')
        expect(str(MOST) in errors[0] and str(MOST + 1) in errors[0], f'{name}: {errors[0]}')
        expect(not Path(folder, 'book.xlsx').exists(), f'{name}: a workbook was written')


def check_refusals():
    scenario, long = SCENARIO.format(text=PLAIN), 'x' * (MOST + 1)
    lines = scenario.split('\n')
    for key in ('title', 'throughput.source', 'label'):
        line = next(number for number, text in enumerate(lines, 1) if text.startswith(f'{key} ='))
        refused(key, scenario.replace(lines[line - 1], f'{key} = {long}'), line, len(key) + 4)
    refused('a source of --set', scenario, 1, r'\d+', ['--set', 'pue=1.3', '--set', f'pue.source={long}'])
    too_long = scenario.replace(f'title = {PLAIN}', 'title = ' + '金' * 64)
    with tempfile.TemporaryDirectory(prefix='pertoken-titles-') as folder:
        Path(folder, 'scenario.ini').write_text(too_long)
        errors = run(folder, 'compare', 'scenario.ini').stderr.decode()
        expect(re.search(r'^scenario.ini:2:\d+: error: .*199', errors, re.M), f'line limit: {errors}')


def check_file_name():
    """A scenario without a title is named after its file, whatever the file's name."""
    scenario = re.sub('title = .*\n', '', SCENARIO.format(text=PLAIN), count=1)
    name, odd = 'a\x1b]0;b\x07\ufffec.ini', re.compile('[\x00-\x09\x0b-\x1f\x7f\ufffe\uffff]')
    with tempfile.TemporaryDirectory(prefix='pertoken-titles-') as folder:
        Path(folder, name).write_text(scenario)
        expect(run(folder, 'report', name, '-q', '-o', 'book.xlsx').returncode == 0, 'report')
        title = xlsx.read(Path(folder, 'book.xlsx')).sheets['Cover'].value(1, 1)
        expect(title == odd.sub('\ufffd', name), repr(title))
        for face in (['compare'], ['compare', '--format', 'csv'], ['page']):
            done = run(folder, *face, name, '-q')
            said = done.stdout.decode()
            found = odd.search(re.search('<title>(.*)</title>', said)[1] if face == ['page'] else said)
            expect(done.returncode == 0 and not found, f'{face}: exit {done.returncode}, {found}')
        told = json.loads(run(folder, 'compare', name, '-q', '--format', 'json').stdout)
        expect(told['scenario']['title'] == title, repr(told['scenario']['title']))


def main():
    reason = libreoffice.missing() or gnumeric.missing()
    if reason:
        skip_all(reason)
    count = Count()
    with tempfile.TemporaryDirectory() as folder, libreoffice.Office(folder) as office:
        with tempfile.TemporaryDirectory() as apart:
            plain = formulas(xlsx.read(workbook(apart, PLAIN)))
        for text in TEXTS:
            count.test(repr(text), check_one, text, plain, office)
    count.test('refusals', check_refusals)
    count.test('file name', check_file_name)
    count.finish()


if __name__ == '__main__':
    main()
