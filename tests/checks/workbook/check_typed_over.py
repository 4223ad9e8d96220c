#!/usr/bin/python3
"""Does an overwritten figure in the workbook lose its citation, everywhere and at once?

Gnumeric and LibreOffice recalculate the workbook of a scenario, with wrong cached values, unchanged, in each case,
and with an input overwritten. Inputs, Evidence, Cover and the Change log must say what the figure was and its source,
the grade must be `assumed`, and so must be the weakest that matters; a figure that hardly affects the cost must not
change that; after restoring it, everything is as before. The costs that are not included follow the sources as well,
in random scenarios too. The page has the same words.
Deep: more random scenarios of zeros.
Seconds: 15
"""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support import random_zeros  # noqa: E402
from support.program import BAD_INPUT, Count, DEEP, ROOT, expect, expect_exit, run, run_json, skip_all  # noqa: E402

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
# What is typed into which case, the case shown; then the provenance of b's price, the weakest grades of a and b
# that matter, and how many inputs are overwritten.
ORIGIN = ('another price list', '2026-04', 'claim')
STATES = [
    ({}, 'base', ORIGIN, ('claim', 'claim'), 0),
    ({}, 'dearer', ('own assumption', '-', 'assumed'), ('claim', 'assumed'), 0),
    ({('b.list_price', 'base'): 30000}, 'base', ('overwritten (was 22000 USD/gpu, claim, 2026-04, {place})', '-',
                                                 'assumed'), ('claim', 'assumed'), 1),
    ({('b.list_price', 'base'): 30000}, 'dearer', ('own assumption', '-', 'assumed'), ('claim', 'assumed'), 1),
    ({('b.list_price', 'dearer'): 30000}, 'base', ORIGIN, ('claim', 'claim'), 1),
    ({('b.list_price', 'dearer'): 30000}, 'dearer', ('overwritten (was 28000 USD/gpu, assumed, {place})', '-',
                                                     'assumed'), ('claim', 'assumed'), 1),
    ({('b.list_price', 'base'): 22000}, 'base', ORIGIN, ('claim', 'claim'), 0),
    ({('b.list_price', 'base'): 0}, 'base', ('overwritten (was 22000 USD/gpu, claim, 2026-04, {place})', '-',
                                             'assumed'), ('claim', 'assumed'), 1),
    ({('load_power', 'base'): 41}, 'base', ORIGIN, ('claim', 'claim'), 1),  # does not matter
    ({('load_power', 'base'): 4000}, 'base', ORIGIN, ('assumed', 'assumed'), 1),
    ({('throughput', 'base'): 3000, ('a.list_price', 'base'): 1}, 'base', ORIGIN, ('assumed', 'assumed'), 2),
]


ZEROS, TYPED = (6, 4) if DEEP else (2, 3)  # scenarios of zeros; states of each case


class Shown:
    """What a spreadsheet program shows of a workbook."""

    def __init__(self, book, actual):
        self.book, self.actual = book, actual

    def row(self, sheet, *texts):
        """The row of a sheet whose first cells contain these texts, from its last occurrence up."""
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
    case = shown.at('Cover', shown.row('Cover', 'Case (select)'), 2)
    column = place.columns[f'As written, from: {case}']
    origin = tuple(text.format(place=place.sheet.text(entry.row, column)) for text in origin)
    for where, said in (('Inputs', origins(shown, 'b.list_price')), ('Evidence', on_evidence(shown, 'b', 'list_price'))):
        expect(said == origin, f'{where}: {said} instead of {origin}')
    for where, columns in (('Cover', (3, 4)), ('Outputs', (4, 5))):
        said = weakest(shown, where, columns)
        expect(said == grades, f'{where}: the weakest grades are {said} instead of {grades}')
    typed = shown.at('Cover', shown.row('Cover', 'Overwritten inputs: see Change log'), 2)
    expect(typed == count, f'Cover: {typed} inputs typed over instead of {count}')
    log = shown.row('Change log', 'Total')
    lines = [shown.at('Change log', log + 1 + k, 2) for k in range(3)]
    expect([bool(text) for text in lines] == [k < count for k in range(3)], f'Change log: {lines}')
    if origin[0].startswith('overwritten'):
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
    return gnumeric.recalculate(folder / 'typed.xlsx')


def test_state(made, typed, case, *wanted):
    folder, book, wrong, document = made
    edits = edits_of(book, typed, case)
    judge(Shown(book, in_gnumeric(wrong, book, edits, folder)), *wanted)
    if document:
        document.set(edits)
        judge(Shown(book, document.read()), *wanted)


def made_in(folder, scenario):
    path, wrong = folder / f'{scenario.stem}.xlsx', folder / f'{scenario.stem}-wrong.xlsx'
    book = xlsx.read(harness.report(scenario, path))
    xlsx.patch(path, wrong, lambda part, xml: xlsx.spoil(xml))
    return book, wrong


def test_published_price(folder):
    """The price of a catalogue, on a sheet that has a row for it."""
    book, wrong = made_in(folder, ROOT / 'examples' / 'h200-vs-b200.ini')
    inputs = layout.Inputs(book)
    entry = next(entry for entry in inputs.rows if entry.key == 'b200.list_price')
    price = inputs.sheet.value(entry.row, inputs.columns['Live'])
    was = ', '.join([f'{price:g} USD/gpu', *(entry.texts[name] for name in ('Grade', 'Date', 'From'))])
    actual = in_gnumeric(wrong, book, edits_of(book, {('b200.list_price', 'base'): price - 1}, 'base'), folder)
    said = actual('Inputs', entry.row, inputs.columns['Source'])
    expect('data/prices.csv:' in was and said == f'overwritten (was {was})', said)


def test_list(folder):
    """One year of a list by year, of which neither the other years nor their factor is overwritten."""
    scenario = folder / 'listed.ini'
    text = SCENARIO.replace('throughput = 4000 token/s\n', 'throughput = 4000, 4100 token/s\n')
    for price in ('35000', '22000'):
        text = text.replace(f'{price} USD', f'{price}, {price} USD')
    scenario.write_text(text)
    book, wrong = made_in(folder, scenario)
    years = {one.key: one.cells['base'] for entry in layout.Inputs(book).lists for one in entry.years}
    for key, wanted in ((None, ('claim', 'claim')), ('b.list_price_year_1', ('claim', 'assumed')),
                        ('throughput_year_2', ('assumed', 'assumed'))):
        edits = {('Inputs', *years[key]): 9000.0} if key else {}
        actual = in_gnumeric(wrong, book, {**edits_of(book, {}, 'base'), **edits}, folder)
        said = weakest(Shown(book, actual), 'Cover', (3, 4))
        expect(said == wanted, f'{key} typed over: the weakest grades are {said} instead of {wanted}')


def test_stages(folder):
    """Purchases that become staged by typing, with a loan: each has its own, as if pertoken had been told so."""
    scenario = folder / 'stages.ini'
    scenario.write_text(SCENARIO.replace('accelerators = 8', 'demand = 500000 Mtok/yr\ndemand_growth = 50 %/yr')
                        .replace('[option a]', 'loan_share = 50 %\nloan_rate = 5 %/yr\nloan_term = 3 yr\npurchase = upfront\n[option a]'))
    book, wrong = made_in(folder, scenario)
    inputs = layout.Inputs(book)
    row = next(entry.row for entry in inputs.rows if entry.key == 'purchase')
    actual = in_gnumeric(wrong, book, {('Inputs', row, inputs.cases['base']): 1.0}, folder)
    wanted = run_json('compare', scenario, '--set', 'purchase=staged')
    for option in wanted['options']:
        name = book.name(f"pt_{option['id']}_loan_npv")
        said, told = actual(name.sheet, *xlsx.position(name.ref)), option['items']['loan_npv']
        expect(abs(said - told) <= 1e-9 * told, f"{option['id']} bought in stages beside a loan: {said}, not {told}")


LIMITED = """
[item fee]
label = Fee
unit = USD/yr
group = opex
formula = if(pue > 2, 7 USD/yr, 1000 USD/yr * list_price / (35000 USD - list_price))
options = b
"""


def test_limited_item(folder):
    """Its formula has no value in a, which does not have it, not even in a step of its own."""
    scenario = folder / 'limited.ini'
    scenario.write_text(SCENARIO + LIMITED)
    book, wrong = made_in(folder, scenario)
    for typed, wanted in (({}, {'a': 0, 'b': 1000 * 22000 / 13000}),
                          ({('b.fee_applies', 'base'): 0, ('b.list_price', 'base'): 35000}, {'a': 0, 'b': 0})):
        actual = in_gnumeric(wrong, book, edits_of(book, typed, 'base'), folder)
        for option, fee in wanted.items():
            sheet = book.sheets[book.name(f'pt_{option}_fee').sheet]
            rows = [row for row in range(1, sheet.last_row() + 1) if sheet.text(row, 2).startswith('fee')]
            values = {sheet.text(row, 2): actual(sheet.name, row, 4) for row in rows if sheet.text(row, 2) != 'fee_cost'}
            expect(len(values) > 1 and all(isinstance(one, float) for one in values.values()), f'{option}: {values}')
            expect(abs(values['fee'] - fee) <= 1e-9 * fee, f'{option}, {typed}: {values}, not {fee}')


NODE = """\
[scenario]
title = Watts of a node
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp4
scenario = server
[common]
accelerators = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
host_power = 300 W
list_price = 35000 USD
[option node]
accelerator = b200-sxm-180
evidence = tp0138
[option typed]
accelerator = b200-sxm-180
throughput = 12000 token/s
load_power = 1000 W
"""


def test_host_in_a_node(folder):
    """The common host power typed over has no effect where it is part of what was measured of the node; the node's own
    cannot be typed over."""
    scenario = folder / 'node.ini'
    scenario.write_text(NODE)
    book, wrong = made_in(folder, scenario)
    rows = {entry.key: entry for entry in layout.Inputs(book).rows}
    locked = {key: book.sheets['Inputs'].cell(*rows[key].cells['base']).style.locked
              for key in ('host_power', 'node.host_power', 'node.load_power')}
    expect(locked == {'host_power': False, 'node.host_power': True, 'node.load_power': False}, f'locked: {locked}')
    actual = in_gnumeric(wrong, book, edits_of(book, {('host_power', 'base'): 400}, 'base'), folder)
    for option in run_json('compare', scenario, '--set', 'host_power=400 W')['options']:
        name = book.name(f"pt_{option['id']}_cost_per_mtok")
        said, told = actual(name.sheet, *xlsx.position(name.ref)), option['items']['cost_per_mtok']
        expect(abs(said - told) <= 1e-9 * told, f"{option['id']}: {said}, not {told}")


def test_no_host_in_a_node(folder):
    """A host power of zero is included in what was measured of the node, but no longer in other watts typed over it."""
    scenario = folder / 'no-host.ini'
    scenario.write_text(NODE.replace('host_power = 300 W', 'host_power = 0 W'))
    book, wrong = made_in(folder, scenario)
    for typed in ({}, {('node.load_power', 'base'): 900}):
        settings = [f'--set={key}={value} W' for (key, _), value in typed.items()]
        told = run_json('compare', scenario, *settings)['options'][0]['not_included']
        expect(('host power' in told) == bool(typed), f'compare {settings}: {told}')
        shown = Shown(book, in_gnumeric(wrong, book, edits_of(book, typed, 'base'), folder))
        said = shown.at('Cover', shown.row('Cover', 'Not included'), 3)
        expect(said == ', '.join(told), f'{settings}: {said}, not {told}')


def test_tokens_counted(folder):
    """Tokens served in production stay as they were counted: a throughput typed over changes only their share of it, as
    if pertoken had been told so; more of them than can be served fail a check."""
    scenario = folder / 'counted.ini'
    scenario.write_text(SCENARIO.replace('utilization = 70 %\n', '').replace(
        '[option a]', '[option a]\nproduction_throughput = 1250 token/s/gpu\nidle_power = 20 W').replace(
            '[option b]', '[option b]\nutilization = 70 %'))
    book, wrong = made_in(folder, scenario)
    for throughput in (None, 6000, 1300, 1000):
        typed = {('throughput', 'base'): throughput} if throughput else {}
        actual = in_gnumeric(wrong, book, edits_of(book, typed, 'base'), folder)

        def live(item):
            name = book.name(f'pt_a_{item}')
            return actual(name.sheet, *xlsx.position(name.ref))

        settings = [f'--set=throughput={throughput} token/s'] if throughput else []
        holds = throughput != 1000
        expect((abs(live('check_production')) < 1e-9) == holds, f'{throughput}: the check {live("check_production")}')
        if not holds:
            expect_exit(run('compare', scenario, *settings), BAD_INPUT, "125 % of what its accelerators can serve")
            continue
        items = run_json('compare', scenario, *settings)['options'][0]['items']
        for item in ('utilization', 'tokens_per_gpu', 'average_power', 'cost_per_mtok'):
            factor = 100 if item == 'utilization' else 1
            expect(abs(factor * live(item) - items[item]) <= 1e-9 * items[item],
                   f'{throughput}: {item} is {factor * live(item)}, not {items[item]}')


OWED = """\
[scenario]
title = Owed nearly all
date = 2026-11-20
baseline = a
[common]
accelerators = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.01 USD/kWh
[option a]
accelerator = h200-sxm-141
list_price = 35000 USD
throughput = 4000 token/s
load_power = 700 W
[option b]
accelerator = mi325x-256
list_price = 22000 USD
throughput = 1000 token/s
load_power = 1000 W
remedy = 2 %
guaranteed_throughput = 4000 token/s
remedy_limit = 90 %
"""


def test_tornado_below_nothing(folder):
    """Where an end of a swing makes an option cost less than nothing, there is no saving: in the engine, in the
    workbook, and with a value typed that makes all of them so, without an error value."""
    scenario = folder / 'owed.ini'
    scenario.write_text(OWED)
    swings = {one['input']: one for one in run_json('sensitivity', scenario)['swings']}
    expect(swings['b.remedy_limit']['high']['saving'] is None, swings['b.remedy_limit'])
    expect(swings['b.remedy_limit']['low']['saving'] > 0 and swings['b.throughput']['high']['saving'] > 0, swings)
    book, wrong = made_in(folder, scenario)
    sheet = book.sheets['Sensitivity']
    for typed in ({}, {('b.remedy_limit', 'base'): 2}):
        actual = in_gnumeric(wrong, book, edits_of(book, typed, 'base'), folder)
        row = next(row for row in range(1, sheet.last_row()) if sheet.text(row, 2) == 'b.remedy_limit')
        shown = [actual('Sensitivity', row, column) for column in (7, 8, 9)]
        expect(shown[1] == '-' and shown[2] == 0 and (shown[0] == '-') == bool(typed), f'{typed}: {shown}')
        errors = [place for place in sheet.cells if str(actual('Sensitivity', *place)).startswith('#')]
        expect(not errors, f'{typed}: error values in {errors}')


COLOCATION = """\
colo_rate = 150 USD/kW/month
colo_power = included
"""


def test_power_in_the_rent(folder):
    """A rent that includes power needs no price of electricity. Typed over as metered, or without the rent, power is
    not free: it is left out, until a price is typed too. So says the command."""
    scenario = folder / 'colocation.ini'
    price = 'electricity_price = 0.08 USD/kWh\n'
    included = SCENARIO.replace('electricity_price.source = a tariff\n', '').replace(price, COLOCATION)
    stated = SCENARIO.replace(price, price + COLOCATION)
    scenario.write_text(stated)
    same = run_json('compare', scenario)['options']
    scenario.write_text(included)
    options = run_json('compare', scenario)['options']
    expect([option['items']['tco'] for option in options] == [option['items']['tco'] for option in same], 'a price matters')
    expect('electricity' not in options[0]['not_included'], options[0]['not_included'])
    book, wrong = made_in(folder, scenario)
    for typed, left_out in (({}, False), ({('colo_power', 'base'): 1}, True), ({('colo_rate', 'base'): 0}, True),
                            ({('colo_rate', 'base'): 100}, False),
                            ({('colo_power', 'base'): 1, ('a.electricity_price', 'base'): 0.08}, False),
                            ({('colo_rate', 'base'): 0, ('a.electricity_price', 'base'): 0.08}, False)):
        shown = Shown(book, in_gnumeric(wrong, book, edits_of(book, typed, 'base'), folder))
        said = shown.at('Cover', shown.row('Cover', 'Not included'), 3)
        expect(('electricity' in said) == left_out, f'{typed}: not included: {said}')
    for addition, words in (('[case metered]\ncolo_power = metered\n',
                             "option 'a' pays for its power in case 'metered' and so needs 'electricity_price'"),
                            ('[range]\ncolo_power = discrete(metered: 1, included: 1)\n',
                             "option 'a' needs 'electricity_price'"),
                            ('[case hall]\na.colo_rate = 0 USD/kW/month\n',
                             "option 'a' pays for its power in case 'hall' and so needs 'electricity_price'")):
        scenario.write_text(included + addition)
        expect_exit(run('compare', scenario), BAD_INPUT, words)
    scenario.write_text(included)
    for setting in ('colo_power=metered', 'colo_rate=0 USD/kW/month'):
        expect_exit(run('compare', scenario, '--set', setting), BAD_INPUT, "needs 'electricity_price' (USD/kWh")
    scenario.write_text(included + '[case metered]\ncolo_power = metered\nelectricity_price = 0.08 USD/kWh\n')
    metered = run_json('compare', scenario, '--case', 'metered')['options']
    scenario.write_text(stated.replace('= included', '= metered'))
    expect([option['items']['tco'] for option in metered]
           == [option['items']['tco'] for option in run_json('compare', scenario)['options']], 'metered')


LEFT_OUT = """
[case bare]
network_price = 0 USD
node_price = 60000 USD
host_power = 300 W
[case whole]
network_price = 4000 USD
node_price = 60000 USD
host_power = 300 W
"""


def test_not_included(folder):
    """As compare says it of the same values, in a case and as typed."""
    scenario = folder / 'left-out.ini'
    scenario.write_text(SCENARIO + LEFT_OUT)
    book, wrong = made_in(folder, scenario)
    units = {entry.key: entry.unit for entry in layout.Inputs(book).rows}
    for keys, value, case, wanted in ((), 0, 'base', 'server, network, host power'), ((), 0, 'bare', 'network'), \
            ((), 0, 'whole', 'nothing'), (('network_price',), 4000, 'base', 'server, host power'), \
            (('node_price', 'electricity_price'), 0, 'whole', 'server, electricity'):
        typed = {(key, case): value for key in keys}
        settings = [f'--set={key}={value} {units[key]}' for key in keys]
        told = run_json('compare', scenario, '--case', case, *settings)['options'][0]['not_included']
        expect((', '.join(told) or 'nothing') == wanted, f'compare, case {case}, {typed}: {told}')
        shown = Shown(book, in_gnumeric(wrong, book, edits_of(book, typed, case), folder))
        said = [shown.at('Cover', shown.row('Cover', 'Not included'), column) for column in (3, 4)]
        said.append(shown.at('Evidence', shown.row('Evidence', 'Not included'), 2))
        expect(said == [wanted] * 3, f'case {case}, {typed}: {said} instead of {wanted}')


def test_beside_an_offer(folder):
    """What an offer can have a line for is missed in every option, until it is typed."""
    scenario = ROOT / 'examples' / 'acceptance' / 'quoted.ini'
    book, wrong = made_in(folder, scenario)
    for typed, wanted in ({}, ['installation, licence', 'installation, delivery, licence']), \
            ({'installation=2 %': 0.02}, ['licence', 'delivery, licence']), \
            ({'h200.installation_sum=9000 USD': 9000}, ['licence', 'installation, delivery, licence']), \
            ({'purchase_tax=1 %': 0.01, 'h200.software_licence=9 USD/gpu/yr': 9},
             ['installation', 'installation, licence']):
        settings = [f'--set={setting}' for setting in typed]
        told = [option['not_included'] for option in run_json('compare', scenario, *settings)['options']]
        expect([', '.join(costs) for costs in told] == wanted, f'compare {settings}: {told}')
        values = {(setting.split('=')[0], 'base'): value for setting, value in typed.items()}
        shown = Shown(book, in_gnumeric(wrong, book, edits_of(book, values, 'base'), folder))
        said = [shown.at('Cover', shown.row('Cover', 'Not included'), column) for column in (3, 4)]
        expect(said == wanted, f'{settings}: {said} instead of {wanted}')


def draw_typed(draw, book, case):
    """Up to two inputs that the costs not included depend on, with other values than those written."""
    found = [entry for entry in layout.Inputs(book).all if random_zeros.matters(entry.key) and entry.cells.get(case)]
    drawn = {entry: draw.choice([0.0, 9.0]) for entry in draw.sample(found, draw.randint(0, 2))}
    sheet = book.sheets['Inputs']
    return {entry: value for entry, value in drawn.items() if sheet.value(*entry.cells[case]) != value}


def test_zeros(folder):
    """Zeros with and without a source, in cases, by year or part of a price, also typed: as compare says it."""
    draw = random.Random(1)
    for number in range(ZEROS):
        scenario = folder / f'zeros-{number}.ini'
        scenario.write_text(random_zeros.random_scenario(draw))
        book, wrong = made_in(folder, scenario)
        name = book.name('pt_case')
        for case in ('base', 'changed') * TYPED:
            typed = draw_typed(draw, book, case)
            edits = {('Inputs', *entry.cells[case]): value for entry, value in typed.items()}
            settings = [f'--set={entry.key}={value} {entry.unit}' for entry, value in typed.items()]
            done = run('compare', scenario, '--case', case, *settings, '-q', '--format', 'json')
            if done.returncode == 2:
                continue  # a server's price beside one that includes it
            edits[(name.sheet, *xlsx.position(name.ref))] = case
            shown = Shown(book, in_gnumeric(wrong, book, edits, folder))
            row = shown.row('Cover', 'Not included')
            for column, option in enumerate(json.loads(done.stdout)['options'], 3):
                said, wanted = shown.at('Cover', row, column), ', '.join(option['not_included']) or 'nothing'
                expect(said == wanted, f'{scenario.name}, {case}, {settings}: {option["id"]}: {said}, not {wanted}')


# The first option lacks what the common rates need, here or in a case.
SHARED = """\
repair_cost = 30 %
facility_residual = 40 %
water_price = 3 USD/m3
"""
NEEDED = """\
failure_rate = 8 %/yr
build_price = 5 USD/W
water_use = 1.8 L/kWh
[case hall]
b.build_price = 0 USD/W
b.colo_rate = 100 USD/kW/month
colo_escalation = 5 %/yr
"""


def test_without_effect(folder):
    """A value for all options that has no effect on the first: as stated, in a case, and as typed."""
    scenario = folder / 'without-effect.ini'
    text = SCENARIO.replace('[option a]', SHARED + '[option a]').replace('[case dearer]', NEEDED + '[case dearer]')
    scenario.write_text(text)
    book, wrong = made_in(folder, scenario)
    for case, typed, settings in (
            ('base', {}, []), ('hall', {}, []),
            ('base', {'repair_cost': 0.5, 'facility_residual': 0.1}, ['repair_cost=50 %', 'facility_residual=10 %']),
            ('hall', {'colo_escalation': 0.07, 'water_price': 9}, ['colo_escalation=7 %/yr', 'water_price=9 USD/m3'])):
        edits = edits_of(book, {(key, case): value for key, value in typed.items()}, case)
        actual = in_gnumeric(wrong, book, edits, folder)
        told_to = [f'--set={setting}' for setting in settings]
        for option in run_json('compare', scenario, '--case', case, *told_to)['options']:
            name = book.name(f"pt_{option['id']}_tco")
            said, told = actual(name.sheet, *xlsx.position(name.ref)), option['items']['tco']
            expect(abs(said - told) <= 1e-9 * told, f"case {case}, {typed}: {option['id']} costs {said}, not {told}")


# What validation would refuse, but pasting does not, and what it allows: whether it fails the checks, and what the Cover
# then says instead of the answer, or below it.
NOT_VALIDATED = [
    ({}, 'base', True, ''),
    ({'b.list_price': None}, 'base', False, 'b has a price of zero'),
    ({'load_power': None}, 'base', False, ''),
    ({'utilization': None}, 'base', False, ''),
    ({'utilization': 0.0}, 'base', False, ''),
    ({'utilization': 1.7}, 'base', False, ''),
    ({'pue': 0.8}, 'base', False, ''),
    ({'horizon': None}, 'base', False, ''),
    ({'horizon': 99.0}, 'base', False, ''),
    ({'electricity_price': '0,09'}, 'base', False, ''),
    ({'accelerators': 7.5}, 'base', False, ''),
    ({'accelerators': 'eight'}, 'base', False, ''),
    ({'accelerators': 16.0}, 'base', True, ''),
    ({'colo_power': 0.5}, 'base', False, ''),
    ({'colo_power': 2.0}, 'base', False, ''),
    ({'colo_power': 'no'}, 'base', False, ''),
    ({'colo_power': 0.0}, 'base', True, ''),
    ({'b.list_price': None}, 'dearer', False, ''),  # of a case that is not shown
    ({'b.list_price': 0.0}, 'base', True, 'b has a price of zero'),
    ({'a.discount': 1.0}, 'base', True, 'a has a price of zero'),
    ({'utilization': 1.0, 'pue': 1.0}, 'base', True, ''),
]


def judge_allowed(shown, rows, typed, passes, notice):
    """The answer and the notice below it on the Cover, and the rows of Inputs that are marked."""
    case_row = shown.row('Cover', 'Case (select)')
    state = shown.at('Cover', case_row + 1, 2)
    said = next(shown.at('Cover', row, 1) for row in range(1, case_row) if shown.book.sheets['Cover'].cell(row, 1)
                and shown.book.sheets['Cover'].cell(row, 1).formula)
    below = shown.at('Cover', shown.row('Cover', 'Overwritten inputs: see Change log') + 1, 1) or ''
    expect(state == ('all pass' if passes else 'a check FAILS'), f'{typed}: {state}')
    expect(('costs least' in said) == passes and (passes or said == 'No answer: see Checks.'), f'{typed}: {said}')
    expect(below == notice, f'{typed}: below the answer is {below!r}')
    marks = next(column for row in range(1, 20) for column in range(1, 60)
                 if shown.book.sheets['Inputs'].text(row, column) == 'Not allowed')
    marked = {key for key, row in rows.items() if shown.at('Inputs', row, marks)}
    expect(marked == (set() if passes else set(typed)), f'{typed}: marked are {sorted(marked)}')


def test_not_validated(folder, office):
    """A value that is missing, no number, not whole or outside its limits fails the master check, and there is no
    answer. Its row alone is marked."""
    scenario = folder / 'not-validated.ini'
    scenario.write_text(SCENARIO.replace('[option a]', 'colo_rate = 100 USD/kW/month\n[option a]'))
    book, wrong = made_in(folder, scenario)
    inputs, name = layout.Inputs(book), book.name('pt_case')
    rows = {entry.key: entry.row for entry in inputs.rows}
    document = office and office.open(wrong)
    for typed, case, *wanted in NOT_VALIDATED:
        edits = {('Inputs', rows[key], inputs.cases['base']): value for key, value in typed.items()}
        edits[(name.sheet, *xlsx.position(name.ref))] = case
        judge_allowed(Shown(book, in_gnumeric(wrong, book, edits, folder)), rows, typed, *wanted)
        if document and None not in edits.values():
            document.set(edits)
            judge_allowed(Shown(book, document.read()), rows, typed, *wanted)
    if document:
        document.close()


def test_not_following(folder):
    """Sheets of what does not follow say so once an input is overwritten: Summary, Scope, Decisions and its answer on
    the Cover. The Change log says how many it does not list."""
    scenario = ROOT / 'examples' / 'rent-or-own.ini'
    book, wrong = made_in(folder, scenario)
    inputs, name = layout.Inputs(book), book.name('pt_case')
    own = [entry for entry in inputs.rows if not inputs.sheet.cell(*entry.cells['base']).formula
           and not inputs.sheet.cell(*entry.cells['base']).style.locked]
    many = {('Inputs', *entry.cells['base']): inputs.sheet.value(*entry.cells['base']) + 1e-9 for entry in own[:23]}
    price = next(('Inputs', *entry.cells['base']) for entry in own if entry.key == 'h100.list_price')
    other = next(case for case in inputs.cases if case != 'base')
    case = (name.sheet, *xlsx.position(name.ref))
    cases = list(inputs.cases)
    written = book.sheets[case[0]].text(*case[1:])
    expect(written == cases[0], f'{written} of {cases}')
    for edits, count, holds in (({}, 0, True), ({price: 45000.0}, 1, False), ({case: other}, 0, False), (many, 23, False)):
        shown = Shown(book, in_gnumeric(wrong, book, edits, folder))
        for sheet in ('Summary', 'Scope and assumptions'):
            said = shown.at(sheet, 3, 1) or ''
            expect(said == (f'Inputs overwritten since: {count}. This sheet does not follow them.' if count else ''),
                   f'{sheet}, {count} overwritten: {said}')
        state = shown.at('Decisions', shown.row('Decisions', 'Do these answers still hold?'), 2)
        row = shown.row('Decisions', 'Rent or own: H100')
        said = shown.at('Decisions', row + 1, 1)
        expect(state == ('current' if holds else 'stale') and said.startswith('Own: H100' if holds else 'Inputs have changed'),
               f'{count} overwritten: {state}, {said}')
        cover = [shown.at('Cover', row, 1) for row in range(1, 10)]
        expect(f'Rent or own: H100. {said}' in cover, f'Cover: {cover}')
        log = shown.row('Change log', 'Total')
        more = shown.at('Change log', log + 21, 1) or ''
        expect(more == ('and 3 more: see Inputs, column In some case' if count == 23 else ''), f'Change log: {more}')


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
    count.test('list by year', test_list, folder)
    count.test('stages', test_stages, folder)
    count.test('limited item', test_limited_item, folder)
    count.test('host in a node', test_host_in_a_node, folder)
    count.test('no host in a node', test_no_host_in_a_node, folder)
    count.test('tokens counted', test_tokens_counted, folder)
    count.test('tornado below nothing', test_tornado_below_nothing, folder)
    count.test('power in the rent', test_power_in_the_rent, folder)
    count.test('not included', test_not_included, folder)
    count.test('beside an offer', test_beside_an_offer, folder)
    count.test('zeros with and without a source', test_zeros, folder)
    count.test('without effect', test_without_effect, folder)
    count.test('not validated', test_not_validated, folder, office)
    count.test('not following', test_not_following, folder)


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
