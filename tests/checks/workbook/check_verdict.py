#!/usr/bin/python3
"""Is the workbook's verdict that of `pertoken compare`, and is it live?

Made-up scenarios: different precisions with --mixed, exact ties, a demand. Each is checked unchanged
and with inputs overwritten, which makes another option the cheapest, undiscounted or levelized, makes or
breaks a tie, or leaves some of the demand unserved. In every state Gnumeric and LibreOffice must find, from wrong cached
values, every cell that pertoken computes for it, and the cheapest must be as in the table here and as
starred on the terminal.
Seconds: 25
"""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compare  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, expect, run, skip_all  # noqa: E402

HEAD = """\
[scenario]
title = {title}
date = 2026-11-20
horizon = 3 yr
baseline = a

[workload]
model = llama-2-70b
{workload}

[common]
accelerators = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
"""
OPTION = """
[option {id}]
accelerator = {accelerator}
{paid}
throughput = {speed} token/s
{more}
"""
H200, MI325X = 'h200-sxm-141', 'mi325x-256'
FP8, BF16 = 'precision = fp8', 'precision = bf16'
UNLIKE = 'not ranked: the throughputs are not comparable'
UNSERVED = 'not ranked: fewer than two options serve the demand'
A, B = ('a', H200, 'list_price = 35000 USD', 4000, ''), ('b', MI325X, 'list_price = 22000 USD', 3000, '')
TWIN = ('b', *A[1:])
LATER = 'wacc = 10 %/yr\nsoftware_licence = 5300 USD/gpu/yr'


def equal(found, wanted, what):
    expect(found == wanted, f'{what}: {found!r} instead of {wanted!r}')


def of(option, more):
    return (*option[:4], more)


CASES = {  # title: ([workload], options, {what is overwritten: which is the cheapest then})
    'two in fp8, one in bf16': (
        '', (of(A, FP8), of(B, FP8), ('c', MI325X, 'list_price = 12000 USD', 3000, BF16)),
        {(): 'b', ('a.list_price=30000 USD',): 'a', ('c.list_price=40000 USD',): 'b'}),
    'the baseline alone in fp8': (
        '', (of(A, FP8), of(B, BF16), ('c', MI325X, 'list_price = 12000 USD', 3000, BF16)),
        {(): UNLIKE, ('a.list_price=10000 USD',): UNLIKE}),
    'twins': (
        FP8, (A, TWIN),
        {(): 'a, b (equal)', ('a.list_price=35001 USD',): 'b', ('b.list_price=36000 USD',): 'a'}),
    'twins and a third': (
        FP8, (A, TWIN, ('c', H200, 'list_price = 38000 USD', 4000, '')),
        {(): 'a, b (equal)', ('c.list_price=35000 USD',): 'a, b, c (equal)',
         ('a.list_price=39000 USD', 'b.list_price=38000 USD'): 'b, c (equal)',
         ('c.list_price=30000 USD',): 'c'}),
    'a demand': (
        FP8 + '\ndemand = 200000 Mtok/yr', (A, B, ('c', MI325X, 'list_price = 2000 USD', 500, '')),
        {(): 'b', ('demand=80000 Mtok/yr',): 'c', ('demand=600000 Mtok/yr',): UNSERVED,
         ('demand=900000 Mtok/yr',): UNSERVED, ('demand=80000 Mtok/yr', 'c.list_price=30000 USD'): 'b'}),
    'a demand that one option serves': (
        FP8 + '\ndemand = 600000 Mtok/yr', (A, B),
        {(): UNSERVED, ('demand=500000 Mtok/yr',): 'b'}),
    'a demand that is bought, rented on demand or bought beyond capacity': (
        FP8 + '\ndemand = 200000 Mtok/yr',
        (A, ('b', H200, 'on_demand_rate = 1 USD/h', 4000, ''),
         ('c', MI325X, 'list_price = 2000 USD', 500, 'burst_price = 0.5 USD/Mtok')),
        {(): 'b', ('b.on_demand_rate=9 USD/gpu/h',): 'c', ('c.burst_price=0.001 USD/Mtok',): 'c',
         ('c.burst_price=0 USD/Mtok',): 'b', ('demand=900000 Mtok/yr',): UNSERVED}),
    'a licence, which is paid later': (
        FP8, (of(A, 'wacc = 10 %/yr'), ('b', H200, 'list_price = 20000 USD', 4000, LATER),
              ('c', MI325X, 'list_price = 90000 USD', 3000, 'wacc = 10 %/yr')),
        {(): 'a', ('a.wacc=0 %/yr', 'b.wacc=0 %/yr'): 'a', ('b.software_licence=4000 USD/gpu/yr',): 'b',
         ('b.software_licence=9000 USD/gpu/yr',): 'a', ('c.list_price=22000 USD',): 'c'}),
}


def scenario_of(title, folder):
    workload, options, _ = CASES[title]
    path = Path(folder, f'{title}.ini')
    keys = ('id', 'accelerator', 'paid', 'speed', 'more')
    path.write_text(HEAD.format(title=title, workload=workload)
                    + ''.join(OPTION.format(**dict(zip(keys, option))) for option in options))
    harness.PLACES[path] = ['--mixed']
    return path


def starred(scenario, sets):
    """The options with a star in the terminal's table, those not ranked there, and the one that costs least levelized."""
    done = run('compare', scenario, '-q', '--mixed', *(f'--set={text}' for text in sets),
               environment={'COLUMNS': '200'})
    equal(done.returncode, 0, done.stderr)
    ids = next(line for line in done.stdout.splitlines() if re.search(r'\ba +b\b', line))
    costs = next(line for line in done.stdout.splitlines() if line.startswith('Cost per million'))
    ends = [found.end() for found in re.finditer(r'\b[abc]\b', ids)]
    names = [ids[end - 1] for end in ends]
    stars = [name for name, start, end in zip(names, [0, *ends], ends) if '*' in costs[start:end]]
    return (stars, re.findall(r'^Not ranked: ([abc]): (.*)', done.stdout, re.M),
            re.findall(r'undiscounted, but by levelized cost ([abc]) does', done.stdout))


def judge(scenario, expected, sets, wanted):
    """The workbook that pertoken writes for a state shows the expected verdict, and the terminal's."""
    outputs = expected.sheets['Outputs']
    rows = {outputs.text(row, 2): row for row in range(1, outputs.last_row() + 1)}
    cheapest = next(outputs.text(row, 4) for row in range(1, 9)
                    if outputs.text(row, 1) == 'Cheapest per output token')
    equal(cheapest, wanted, f'{sets}: the cheapest')
    stars, barred, turned = starred(scenario, sets)
    equal(stars, re.findall(r'\b[abc]\b', wanted) if 'not ranked' not in wanted else [], f'{sets}: stars')
    columns = {outputs.text(rows['accelerator'] - 1, column): column for column in range(4, 7)}
    for option, column in columns.items():
        if option:
            why = dict(barred).get(option)
            equal(outputs.value(rows['ranked'], column), 0.0 if why else 1.0, f'{sets}: {option} ranked')
            if 'why_not_ranked' in rows:
                expect(outputs.text(rows['why_not_ranked'], column)[:30] == (why or 'yes')[:30],
                       f'{sets}: why {option} is not ranked')
    start = f'The options are {wanted}' if 'not ranked' in wanted else f'{wanted} cost'
    cover = [expected.sheets['Cover'].text(row, 1) for row in range(3, 7)]
    sentence = next((text for text in cover if text.startswith(start)), None)
    expect(sentence, f'{sets}: the sentence: {cover}')
    levelized = [text[len('By levelized cost, ')] for text in cover if re.fullmatch('By levelized cost, [abc] costs least.', text)]
    equal(levelized, turned, f'{sets}: by levelized cost: {cover}')


def typed(book, sets):
    """{(sheet, row, column): value} of what is overwritten."""
    inputs = layout.Inputs(book)
    rows = {entry.key: entry.row for entry in inputs.rows}
    return {('Inputs', rows[key], inputs.cases['base']): float(value.split()[0])
            for key, value in (text.split('=') for text in sets)}


def in_gnumeric(wrong, book, edits, folder):
    cells = {xlsx.address(row, column): value for (_, row, column), value in edits.items()}
    part, changed = book.sheets['Inputs'].part, Path(folder, 'typed.xlsx')
    xlsx.patch(wrong, changed, lambda name, xml: xlsx.set_cells(xml, cells if name == part else {}))
    return gnumeric.recalculate(changed)


def same(result, what):
    expect(result.cells > 100 and not result.mismatches, f'{what}: {result.mismatches[:3]}')


def check_case(title, office, folder):
    scenario = scenario_of(title, folder)
    path, wrong = Path(folder, 'base.xlsx'), Path(folder, 'wrong.xlsx')
    book = xlsx.read(harness.report(scenario, path))
    xlsx.patch(path, wrong, lambda part, xml: xlsx.spoil(xml))
    document = office and office.open(wrong)
    for sets, wanted in CASES[title][2].items():
        state = harness.report(scenario, Path(folder, 'state.xlsx'), [f'--set={text}' for text in sets])
        expected, edits = xlsx.read(state), typed(book, sets)
        judge(scenario, expected, sets, wanted)
        same(compare.compare(expected, book, in_gnumeric(wrong, book, edits, folder)),
             f'{sets} in Gnumeric')
        if document:
            document.set(edits)
            same(compare.compare(expected, book, document.read()), f'{sets} in LibreOffice')
    if document:
        document.close()


def in_folder(test, *arguments):
    with tempfile.TemporaryDirectory(prefix='pertoken-verdict-') as folder:
        test(*arguments, folder)


def check_all(count, office):
    for title in CASES:
        count.test(title, in_folder, check_case, title, office)


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    if libreoffice.missing():
        count.skip('LibreOffice', libreoffice.missing())
        check_all(count, None)
    else:
        with tempfile.TemporaryDirectory() as folder, libreoffice.Office(folder) as office:
            check_all(count, office)
    count.finish()


if __name__ == '__main__':
    main()
