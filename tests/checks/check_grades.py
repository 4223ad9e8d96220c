#!/usr/bin/python3
"""What is said of the evidence: the grades of figures in either currency, and where a throughput comes from.
"""
from pathlib import Path

from support.program import expect, run_csv, run_json, run_tests

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


if __name__ == '__main__':
    run_tests(globals())
