#!/usr/bin/python3
"""What is said of the evidence: the grades of figures in either currency, and where a throughput comes from.
"""
import sys
from pathlib import Path

from support.program import expect, run_csv, run_json, run_tests

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import harness  # noqa: E402
import xlsx  # noqa: E402

EURO = """\
[scenario]
title = In EUR
date = 2026-11-20
currency = EUR
exchange_rate = 1.08 USD/EUR
exchange_rate.source = a bank
exchange_rate.date = 2026-11
[workload]
input_tokens = 1000 token
output_tokens = 1000 token
[common]
accelerators = 64
utilization = 60 %
throughput = 1500 token/s
{common}
[option a]
{option}
"""
BOUGHT, RENTED = 'accelerator = h100-sxm\nlist_price = 25000 USD', 'accelerator = h100-sxm\nrental_rate = 2 USD/h'
SHARED = f'{RENTED}\nreserved_share = 50 %\nspot_share = 50 %\n'
API = 'demand = 2000000 Mtok/yr'
# The common inputs, those of an option, and the grades of some inputs.
IN_USD = {
    'prices of an API': (API, 'output_price = 0.95 USD/Mtok\ninput_price = 0.2 USD/Mtok',
                         {'output_price': 'assumed', 'input_price': 'assumed', 'cached_input_price': ''}),
    'prices of the catalogue': (API, 'api = ap003', {'output_price': 'published', 'cached_input_price': 'published'}),
    'a price in EUR': (API, 'output_price = 0.95 EUR/Mtok\ninput_price = 0.2 EUR/Mtok', {'output_price': 'assumed'}),
    'a rent of spot capacity': ('', f'{SHARED}spot_rate = 1.2 USD/h\nspot_rate.source = a page',
                                {'spot_rate': 'claim', 'rental_rate': 'assumed'}),
    'prices of hardware and power': ('pue = 1.3\nnode_price = 60000 USD\nnetwork_price = 4000 USD\n'
                                     'network_price.source = a page\nelectricity_price = 0.1 USD/kWh\n'
                                     'engineers = 1 FTE\nengineer_cost = 200000 USD/yr',
                                     BOUGHT, {'node_price': 'assumed', 'network_price': 'claim', 'electricity_price':
                                              'assumed', 'engineer_cost': 'assumed', 'list_price': 'assumed'}),
}


def test_in_usd(folder):
    """A figure in USD is evidence for what it is in the report's currency."""
    for name, (common, option, wanted) in IN_USD.items():
        path = Path(folder, 'euro.ini')
        path.write_text(EURO.format(common=common, option=option), encoding='utf-8')
        grades = {row['item']: row['grade'] for row in run_csv('compare', path)}
        expect({item: grades[item] for item in wanted} == wanted, f'{name}: {grades}')


FOUND = """\
[scenario]
title = Two rounds of a benchmark
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp8
scenario = server
[common]
accelerators = 64
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
[option a]
accelerator = h200-sxm-141
list_price = 30000 USD
evidence = tp0605
[option b]
accelerator = mi325x-256
list_price = 22000 USD
[case one_typed]
a.throughput = 4000 token/s
[case both_typed]
a.throughput = 4000 token/s
b.throughput = 4000 token/s
"""
# By case: whether it is said which row the throughput of each option is, and that they are of different rounds.
SAID = {'base': (True, True, True), 'one_typed': (False, True, False), 'both_typed': (False, False, False)}


def test_of_the_case(folder):
    """A case with a throughput of its own uses no row."""
    path = Path(folder, 'found.ini')
    path.write_text(FOUND, encoding='utf-8')
    for name, wanted in SAID.items():
        told = run_json('compare', path, '--case', name)
        rows = [any('the throughput is tp' in text for text in option['warnings']) for option in told['options']]
        said = (*rows, any('of different rounds' in text for text in told['warnings']))
        expect(said == wanted, f'{name}: {said}: {told["warnings"]}')


ROWS = """\
[scenario]
title = Rows of the catalogue
date = 2026-11-20
baseline = a
[workload]
model = deepseek-v3
precision = fp8
input_tokens = 1000 token
output_tokens = 1000 token
demand = 2000000 Mtok/yr
[common]
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
electricity_price.source = a tariff
throughput = 1500 token/s
[option a]
accelerator = h200-sxm-141
price = pr017
burst_rate = 3 USD/h
burst_rate.source = a cloud
[option b]
accelerator = h200-sxm-141
rental_rate = 2 USD/h
reserved_share = 50 %
spot_share = 50 %
spot_rate = 1 USD/h
spot_rate.source = a page
[option c]
api = ap003
[case dear]
a.list_price = 40000 USD
c.input_price = 1 USD/Mtok
"""
# What an inheriting file states, further arguments, and the grade and source of inputs then.
CATALOGUE, API_PRICES = 'Hugging Face hardware directory', 'pydantic genai-prices'
LATER = ('[common]\nelectricity_price = 0.09 USD/kWh\n[option b]\nspot_rate = 1.1 USD/h\n[option c]\noutput_price = 2 USD/Mtok\n'
         '[option a]\nprice =\nlist_price = 30000 USD\nlist_price.source = a letter\n')
INHERITED = [
    ('', (), {'a.list_price': ('assumed', CATALOGUE), 'a.electricity_price': ('claim', 'a tariff'),
              'a.burst_rate': ('claim', 'a cloud'), 'b.electricity_price': (None, ''), 'b.spot_rate': ('claim', 'a page'),
              'c.output_price': ('published', API_PRICES)}),
    ('', ('--set', 'a.list_price=30000 USD', '--set', 'electricity_price=0.09 USD/kWh', '--set', 'c.output_price=2 USD/Mtok'),
     {'a.list_price': ('assumed', ''), 'a.electricity_price': ('assumed', ''), 'c.output_price': ('assumed', ''),
      'c.input_price': ('published', API_PRICES), 'c.cached_input_price': ('published', API_PRICES)}),
    ('', ('--case', 'dear', '--set', 'c.output_price=2 USD/Mtok', '--set', 'c.output_price.source=a page'),
     {'a.list_price': ('assumed', ''), 'c.input_price': ('assumed', ''), 'c.output_price': ('claim', 'a page'),
      'c.cached_input_price': ('published', API_PRICES)}),
    (LATER, (), {'a.list_price': ('claim', 'a letter'), 'a.electricity_price': ('assumed', ''), 'b.spot_rate': ('assumed', ''),
                 'c.output_price': ('assumed', ''), 'c.input_price': ('published', API_PRICES)}),
    (LATER, ('--set', 'a.list_price=29000 USD', '--set', 'a.list_price.quote=Q-1 2026-10-01', '--set', 'c.api=ap002'),
     {'a.list_price': ('quoted', 'Q-1'), 'c.output_price': ('published', API_PRICES)}),
]


def on_evidence(sheet, option, item):
    """Grade and source of a figure; without a row None."""
    start = next(row for row in range(1, sheet.last_row()) if sheet.text(row, 1).startswith(f'{option}:'))
    for row in range(start + 1, sheet.last_row()):
        if sheet.text(row, 2) == item or not sheet.text(row, 1):
            return sheet.text(row, 5) or None, sheet.text(row, 6)
    return None, ''


def test_on_every_face(folder):
    """The grade of a row's figure, inherited or overwritten, in JSON, in explain and in the workbook."""
    Path(folder, 'rows.ini').write_text(ROWS, encoding='utf-8')
    path = Path(folder, 'later.ini')
    for later, arguments, wanted in INHERITED:
        path.write_text(f'[scenario]\ninherits = rows.ini\n{later}', encoding='utf-8')
        options = {one['id']: one['inputs'] for one in run_json('compare', path, *arguments)['options']}
        sheet = xlsx.read(harness.report(path, Path(folder, 'later.xlsx'), arguments)).sheets['Evidence']
        for name, (grade, source) in wanted.items():
            option, _, item = name.partition('.')
            said_grade, said = on_evidence(sheet, option, item)
            shown = said.startswith('own assumption') if grade == 'assumed' and not source else said == source
            expect(said_grade == grade and shown, f'{name}, {later!r} {arguments} on Evidence: {said_grade} {said}')
            derivation = run_json('explain', path, name, *arguments)['derivation'] if grade else None
            for one in (options[option][item], derivation) if grade else ():
                expect((one['grade'], one['source']) == (grade, source), f'{name}, {later!r} {arguments}: {one}')


def test_of_nothing(folder):
    """No figure of an option that costs nothing matters: the weakest of all is its grade, in the workbook, too."""
    path = Path(harness.__file__).with_name('horizons.ini')
    free = next(option for option in run_json('compare', path)['options'] if option['id'] == 'free')
    expect(free['items']['tco'] == 0 and free['grade'] == 'assumed', (free['items']['tco'], free['grade']))
    sheet = xlsx.read(harness.report(path, Path(folder, 'free.xlsx'))).sheets['Sensitivity']
    row = next(row for row in range(sheet.last_row()) if sheet.text(row, 2) == 'free.grade')
    expect(sheet.text(row, 4) == 'assumed', sheet.text(row, 4))


if __name__ == '__main__':
    run_tests(globals())
