#!/usr/bin/python3
"""Does a figure that is typed over in the workbook lose its citation, everywhere and at once?

Gnumeric and LibreOffice recalculate the workbook of a scenario, with wrong cached values, as it is, in
each case, and with an input typed over. Inputs, Evidence, Cover and the Change log must say what the
figure was and where from, the grade must be `assumed`, and so the weakest that matters; a figure that
hardly moves the cost must not change that; typed back, all is as it was. The same words are the page's.
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, expect, skip_all  # noqa: E402

SCENARIO = """\
[scenario]
title = What is typed over
date = 2026-11-20
baseline = a

[workload]
model = llama-2-70b
precision = fp8

[common]
accelerators = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
electricity_price.source = a tariff
throughput = 4000 token/s
throughput.source = a paper
load_power = 40 W
load_power.source = a leaflet

[option a]
accelerator = h200-sxm-141
list_price = 35000 USD
list_price.source = a price list
list_price.date = 2026-03

[option b]
accelerator = mi325x-256
list_price = 22000 USD
list_price.source = another price list
list_price.date = 2026-04

[case dearer]
b.list_price = 28000 USD
"""
# What is typed into which case, the case shown; what b's price then says of itself, the weakest grades
# of a and b that matter, and how many inputs are typed over.
ORIGIN = ('another price list', '2026-04', 'claim')
STATES = [
    ({}, 'base', ORIGIN, ('claim', 'claim'), 0),
    ({}, 'dearer', ('own assumption', '-', 'assumed'), ('claim', 'assumed'), 0),
    ({('b.list_price', 'base'): 30000}, 'base', ('typed over (was 22000 USD/gpu, claim, 2026-04, {place})', '-',
                                                 'assumed'), ('claim', 'assumed'), 1),
    ({('b.list_price', 'base'): 30000}, 'dearer', ('own assumption', '-', 'assumed'), ('claim', 'assumed'), 0),
    ({('b.list_price', 'dearer'): 30000}, 'base', ORIGIN, ('claim', 'claim'), 0),
    ({('b.list_price', 'dearer'): 30000}, 'dearer', ('typed over (was 28000 USD/gpu, assumed, {place})', '-',
                                                     'assumed'), ('claim', 'assumed'), 1),
    ({('b.list_price', 'base'): 22000}, 'base', ORIGIN, ('claim', 'claim'), 0),
    ({('load_power', 'base'): 41}, 'base', ORIGIN, ('claim', 'claim'), 1),  # of no matter
    ({('load_power', 'base'): 4000}, 'base', ORIGIN, ('assumed', 'assumed'), 1),
    ({('throughput', 'base'): 3000, ('a.list_price', 'base'): 1}, 'base', ORIGIN, ('assumed', 'assumed'), 2),
]


class Shown:
    """What a spreadsheet program shows of a workbook."""

    def __init__(self, book, actual):
        self.book, self.actual = book, actual

    def row(self, sheet, *texts):
        """The row of a sheet whose first cells hold these texts, from its last occurrence up."""
        there = self.book.sheets[sheet]
        return next(row for row in range(there.last_row(), 0, -1)
                    if all(text in (there.text(row, 1), there.text(row, 2)) for text in texts))

    def at(self, sheet, row, column):
        return self.actual(sheet, row, column)


def origins(shown, key):
    """Source, date and grade of an input on Inputs."""
    inputs = layout.Inputs(shown.book)
    row = next(entry.row for entry in inputs.rows if entry.key == key)
    return tuple(shown.at('Inputs', row, inputs.columns[field]) for field in ('Source', 'Date', 'Grade'))


def on_evidence(shown, option, key):
    sheet = shown.book.sheets['Evidence']
    start = next(row for row in range(1, sheet.last_row()) if sheet.text(row, 1).startswith(f'{option}:'))
    row = next(row for row in range(start, sheet.last_row()) if sheet.text(row, 2) == key)
    return tuple(shown.at('Evidence', row, column) for column in (6, 7, 5))


def weakest(shown, sheet, columns):
    row = shown.row(sheet, 'Weakest grade that matters')
    return tuple(shown.at(sheet, row, column) for column in columns)


def judge(shown, origin, grades, count):
    place = layout.Inputs(shown.book)
    entry = next(entry for entry in place.rows if entry.key == 'b.list_price')
    case = shown.at('Cover', shown.row('Cover', 'Case: choose it here'), 2)
    column = place.columns[f'As written, from: {case}']
    origin = tuple(text.format(place=place.sheet.text(entry.row, column)) for text in origin)
    for where, said in (('Inputs', origins(shown, 'b.list_price')), ('Evidence', on_evidence(shown, 'b', 'list_price'))):
        expect(said == origin, f'{where}: {said} instead of {origin}')
    for where, columns in (('Cover', (3, 4)), ('Outputs', (4, 5))):
        said = weakest(shown, where, columns)
        expect(said == grades, f'{where}: the weakest grades are {said} instead of {grades}')
    typed = shown.at('Cover', shown.row('Cover', 'Inputs typed over: see Change log'), 2)
    expect(typed == count, f'Cover: {typed} inputs typed over instead of {count}')
    log = shown.row('Change log', 'In all')
    lines = [shown.at('Change log', log + 1 + k, 2) for k in range(3)]
    expect([text != '-' for text in lines] == [k < count for k in range(3)], f'Change log: {lines}')
    if origin[0].startswith('typed over'):
        expect(lines[0] == origin[0], f'Change log: {lines[0]} instead of {origin[0]}')


def edits_of(book, typed, case):
    inputs = layout.Inputs(book)
    rows = {entry.key: entry.row for entry in inputs.rows}
    edits = {('Inputs', rows[key], inputs.cases[where]): float(value) for (key, where), value in typed.items()}
    name = book.name('pt_case')
    return {**edits, (name.sheet, *xlsx.position(name.ref)): case}


def in_gnumeric(wrong, book, edits, folder):
    cells = {}
    for (sheet, row, column), value in edits.items():
        cells.setdefault(book.sheets[sheet].part, {})[xlsx.address(row, column)] = value
    xlsx.patch(wrong, folder / 'typed.xlsx', lambda part, xml: xlsx.set_cells(xml, cells.get(part, {})))
    return gnumeric.recalculate(folder / 'typed.xlsx', folder / 'out.xlsx')


def test_state(made, typed, case, *wanted):
    folder, book, wrong, document = made
    edits = edits_of(book, typed, case)
    judge(Shown(book, in_gnumeric(wrong, book, edits, folder)), *wanted)
    if document:
        before = document.set(edits)
        judge(Shown(book, document.read()), *wanted)
        document.set(before)


def made_in(folder, scenario):
    path, wrong = folder / f'{scenario.stem}.xlsx', folder / f'{scenario.stem}-wrong.xlsx'
    book = xlsx.read(harness.report(scenario, path))
    xlsx.patch(path, wrong, lambda part, xml: xlsx.spoil(xml))
    return book, wrong


def test_published_price(folder):
    """The price of a catalogue, on a sheet that knows its row there."""
    book, wrong = made_in(folder, ROOT / 'examples' / 'h200-vs-b200.ini')
    inputs = layout.Inputs(book)
    entry = next(entry for entry in inputs.rows if entry.key == 'b200.list_price')
    price = inputs.sheet.value(entry.row, inputs.columns['Live'])
    was = ', '.join([f'{price:g} USD/gpu', *(entry.texts[name] for name in ('Grade', 'Date', 'From'))])
    actual = in_gnumeric(wrong, book, edits_of(book, {('b200.list_price', 'base'): price - 1}, 'base'), folder)
    said = actual('Inputs', entry.row, inputs.columns['Source'])
    expect('data/prices.csv:' in was and said == f'typed over (was {was})', said)


def test_stages(folder):
    """What pertoken refuses beside purchases in stages fails a check where it is typed."""
    scenario = folder / 'stages.ini'
    scenario.write_text(SCENARIO.replace('accelerators = 8', 'demand = 500000 Mtok/yr\ndemand_growth = 50 %/yr')
                        .replace('[option a]', 'tax_rate = 25 %\npurchase = upfront\n[option a]'))
    book, wrong = made_in(folder, scenario)
    inputs = layout.Inputs(book)
    row = next(entry.row for entry in inputs.rows if entry.key == 'purchase')
    actual = in_gnumeric(wrong, book, {('Inputs', row, inputs.cases['base']): 1.0}, folder)
    for option in ('a', 'b'):
        name = book.name(f'pt_{option}_check_one_purchase')
        said = actual(name.sheet, *xlsx.position(name.ref))
        expect(said == 1, f'{option} bought in stages beside a tax rate: {said}')


def check_all(count, folder, office):
    scenario = folder / 'typed.ini'
    scenario.write_text(SCENARIO)
    book, wrong = made_in(folder, scenario)
    document = office and office.open(wrong)
    for number, state in enumerate(STATES):
        count.test(f'state {number}: {state[0]}, case {state[1]}', test_state, (folder, book, wrong, document), *state)
    if document:
        document.close()
    count.test('published price', test_published_price, folder)
    count.test('stages', test_stages, folder)


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-typed-') as name:
        folder = Path(name)
        if libreoffice.missing():
            count.skip('LibreOffice', libreoffice.missing())
            check_all(count, folder, None)
        else:
            with libreoffice.Office(folder) as office:
                check_all(count, folder, office)
    count.finish()


if __name__ == '__main__':
    main()
