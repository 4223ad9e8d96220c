#!/usr/bin/python3
"""Are the periods headed by their beginnings, and is nothing shown past the horizon?

Scenarios of this script's own, with starts, dates and periods of several kinds: every time sheet
shows the same days. Then the horizon is overwritten: the sheets that looked like blank paper past
the old one show the new one's periods, as recalculated by Gnumeric, and a horizon that they have no
columns for cannot be typed. On paper, as printed by LibreOffice, no year is past the horizon.
Seconds: 6
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support.program import Skip, expect, run_tests  # noqa: E402

SCENARIO = """\
[scenario]
title = A fleet that serves a demand
date = 2026-11-20
{head}

[common]
demand = 2500000 Mtok/yr
utilization = 70 %
pue = 1.3
electricity_price = 0.09 USD/kWh
accelerators_per_node = 8

[option one]
accelerator = h200-sxm-141
list_price = 32000 USD
throughput = 2500 token/s
load_power = 700 W

[option two]
accelerator = mi325x-256
list_price = 25000 USD
throughput = 2300 token/s
load_power = 1000 W
"""
# The scenario's statements about time, and the beginnings of its periods.
BEGINS = (
    ('start = 2027-01', ['2027-01', '2028-01', '2029-01']),
    ('start = 2027-01-01', ['2027-01', '2028-01', '2029-01']),
    ('start = 2028-02-29', ['2028-02-29', '2029-02-28', '2030-02-28']),
    ('', ['2026-11-20', '2027-11-20', '2028-11-20']),
    ('start = 2027-10\nperiod = 3 month\nhorizon = 1 yr', ['2027-10', '2028-01', '2028-04', '2028-07']),
    ('start = 2027-01-31\nperiod = 1 month\nhorizon = 3 month',
     ['2027-01-31', '2027-02-28', '2027-03-31']),
    ('start = 2027-01\nperiod = 0.2 yr\nhorizon = 1 yr',
     ['2027-01-01', '2027-03-15', '2027-05-27', '2027-08-08', '2027-10-20']),
)
HEAD = 'Period begins'


def workbook(folder, name, head):
    scenario = Path(folder, f'{name}.ini')
    scenario.write_text(SCENARIO.format(head=head), encoding='utf-8')
    return harness.report(scenario, scenario.with_suffix('.xlsx'))


def heads(sheet, value=None):
    """The headings of a sheet, each as the texts over its periods, up to the last one."""
    value = value or (lambda _, row, column: sheet.value(row, column))
    found = []
    for row in range(1, sheet.last_row() + 1):
        if sheet.text(row, layout.LABEL) == HEAD:
            columns = range(layout.FIRST_PERIOD, max(column for _, column in sheet.cells) + 1)
            texts = [value(sheet.name, row, column) or '' for column in columns]
            while texts and not texts[-1]:
                texts.pop()
            found.append(texts)
    return found


def test_when_periods_begin(folder):
    for number, (head, begins) in enumerate(BEGINS):
        book = xlsx.read(workbook(folder, f'begins-{number}', head))
        for sheet in layout.calculations(book):
            said, = heads(sheet)
            expect(said[:1 + len(begins)] == ['purchase', *begins], f'{head}: {sheet.name} says {said}')
        for name in ('Outputs', 'Finance'):
            for said in heads(book.sheets[name]):
                expect(said == ['purchase', *begins], f'{head}: {name} says {said}')


def test_a_longer_horizon(folder):
    path = workbook(folder, 'longer', 'start = 2027-01')
    book, longer = xlsx.read(path), Path(folder, 'typed.xlsx')
    inputs = layout.Inputs(book)
    row = next(entry.row for entry in inputs.rows if entry.key == 'horizon')
    column = inputs.cases['base']
    limits = inputs.validation(row, column)
    expect(limits.allows(7) and not limits.allows(7.5), 'a horizon without columns can be typed')
    part = inputs.sheet.part
    xlsx.patch(path, longer, lambda name, xml:
               xlsx.set_cells(xml, {xlsx.address(row, column): 5} if name == part else {}))
    actual = gnumeric.recalculate(longer)
    wanted = ['purchase', *(f'{year}-01' for year in range(2027, 2032))]
    for name in ('Outputs', 'Finance'):
        for said in heads(book.sheets[name], actual):
            expect(said == wanted, f'{name} says {said}')
    state = book.name('pt_checks_ok')
    expect(actual(state.sheet, *xlsx.position(state.ref)) == 1, 'a check fails at 5 years')


def test_lists(folder):
    """Each list is a row over the years, headed by their beginnings, and its cells are inputs."""
    path = harness.report(Path(__file__).resolve().parent / 'by_year.ini', Path(folder, 'lists.xlsx'))
    inputs = layout.Inputs(xlsx.read(path))
    shown = {one.key: [(year.key, inputs.sheet.value(*year.cells['base'])) for year in one.years]
             for one in inputs.lists}
    wanted = {'electricity_price': (0.09, 0.10, 0.11), 'shorter.electricity_price': (0.08, 0.09),
              'listed.engineers': (3, 2, 1, 1), 'shorter.engineers': (2, 1)}
    for key, values in wanted.items():
        expect(shown.pop(key) == [(f'{key}_year_{i}', value) for i, value in enumerate(values, 1)], key)
    expect(not shown, f'more lists: {list(shown)}')
    expect('plain.engineers' in [entry.key for entry in inputs.rows], 'a number is no list')
    head = [inputs.sheet.text(inputs.lists[0].row - 1, column) for column in inputs.lists[0].columns]
    expect(head == ['from 2027-01', 'from 2028-01', 'from 2029-01', 'from 2030-01 on'][:len(head)],
           f'the years are headed {head}')


# Of steps.ini: the heading of each step's block, and what its first list has.
STEPS = {'by year': (['from 2027-03', 'from 2028-03 on'], 'utilization_year_1'),
         'every 3 month': (['from 2027-03', 'from 2027-06', 'from 2027-09', 'from 2027-12 on'], 'grown.demand_step_1'),
         'every 6 month': (['from 2027-03', 'from 2027-09', 'from 2028-03 on'], 'delivered.accelerators_step_1'),
         'every 9 month': (['from 2027-03', 'from 2027-12', 'from 2028-09 on'], 'electricity_price_step_1')}


def test_steps(folder):
    """The lists of each step have a block of their own, headed by when their values begin to hold."""
    path = harness.report(Path(__file__).resolve().parent / 'steps.ini', Path(folder, 'steps.xlsx'))
    inputs = layout.Inputs(xlsx.read(path))
    heads = {}
    for row in range(inputs.lists[0].row - 1, inputs.lists[-1].row):
        said = inputs.sheet.text(row, inputs.columns['Input'])
        if said.startswith('Timeline: '):
            step = said.removeprefix('Timeline: ').removesuffix('; the last value continues')
            texts = [inputs.sheet.text(row, column) for column in range(inputs.columns['Live'] + 1,
                                                                        inputs.columns['Source'])]
            heads[step] = [text for text in texts if text]
    expect(heads == {step: head for step, (head, _) in STEPS.items()}, f'the blocks are {heads}')
    firsts = {}
    for one in inputs.lists:
        if inputs.step_of[one.row] != 'by age, from 1 yr':
            firsts.setdefault(inputs.step_of[one.row], one.years[0].key)
    expect(firsts == {step: first for step, (_, first) in STEPS.items()}, f'the first lists are {firsts}')


def test_whole_numbers(folder):
    """Of no unit, such as an age in years started, they have no decimals on any sheet of a calculation."""
    book = xlsx.read(harness.report(Path(__file__).with_name('vintages.ini'), Path(folder, 'vintages.xlsx')))
    seen = 0
    for sheet in book.sheets.values():
        for row in range(1, sheet.last_row() + 1):
            cells = [sheet.cell(row, column) for column in range(4, 20)]
            numbers = [cell for cell in cells if cell and cell.formula and cell.is_number()]
            if sheet.text(row, 2).rpartition('.')[2] in ('resale_age', 'retired_age', 'tax_year_periods') and numbers:
                seen += sheet.name == 'Finance'
                decimals = [cell.style.format for cell in numbers if '.0' in cell.style.format]
                expect(not decimals, f'{sheet.name}, {sheet.text(row, 2)}: {decimals}')
    expect(seen > 2, f'{seen} rows of ages on Finance')


def test_on_paper(folder):
    if reason := libreoffice.missing():
        raise Skip(reason)
    path = workbook(folder, 'paper', 'start = 2077-01')
    subprocess.run(['soffice', f'-env:UserInstallation={Path(folder, "profile").as_uri()}', '--headless',
                    '--convert-to', 'pdf', '--outdir', folder, path], capture_output=True, check=True)
    try:
        text = subprocess.run(['pdftotext', path.with_suffix('.pdf'), '-'], capture_output=True,
                              encoding='utf-8', check=True).stdout
    except FileNotFoundError as missing:
        raise Skip('pdftotext is not installed') from missing
    expect('2079-01' in text, 'the last period is not printed')
    expect('2080-01' not in text, 'a period past the horizon is printed')


if __name__ == '__main__':
    run_tests(globals())
