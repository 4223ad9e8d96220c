#!/usr/bin/python3
"""Offers next to bought accelerators: mixes of rents, token APIs, cache hits, and tokens that are sold.

Every figure here is computed from the description alone, in the comments beside it.
Seconds: 6
"""
import re
import tempfile
import zipfile
from pathlib import Path

from support.program import BAD_INPUT, Count, ROOT, expect, expect_exit, near, run, run_csv, run_json

HEAD = """\
[scenario]
title = Offers
date = 2026-11-01
horizon = 2 yr
"""
# Eight at 1,000 token/s and half of the time: 126,144 Mtok a year.
FLEET = """\
[option fleet]
accelerator = h200-sxm-141
accelerators = 8
throughput = 1000 token/s
utilization = 50 %
"""
GPU_H = 8 * 2 * 8760
API = """\
[workload]
model = deepseek-v3
input_tokens = 3000 token
output_tokens = 1000 token
demand = 1000 Mtok/yr
[option api]
"""


def written(folder, text):
    path = Path(folder, 'offers.ini')
    path.write_text(HEAD + text, encoding='utf-8')
    return path


def items_of(folder, text, *arguments):
    options = run_json('compare', written(folder, text), *arguments)['options']
    return {one['id']: one['items'] for one in options}


def same(found, wanted, what):
    expect(found is not None and near(found, wanted), f'{what}: {found}, not {wanted}')


# ---- rent

# What is rented, and the cost of an accelerator-hour: reserved ones are paid around the clock, others for the
# half of the time in which they work.
RENTS = [
    ('rental_rate = 2 USD/h\n', 2),
    ('on_demand_rate = 4 USD/h\n', 4 / 2),
    ('rental_rate = 2 USD/h\nreserved_share = 100 %\n', 2),
    ('rental_rate = 2 USD/h\nreserved_share = 50 %\non_demand_rate = 4 USD/h\n', 0.5 * 2 + 0.5 * 4 / 2),
    ('spot_rate = 1 USD/h\nspot_share = 100 %\ninterruption = 20 %\n', 1.2 / 2),
    ('spot_rate = 1 USD/h\nspot_share = 25 %\non_demand_rate = 4 USD/h\n', (0.25 + 0.75 * 4) / 2),
    ('rental_rate = 2 USD/h\nreserved_share = 50 %\nspot_rate = 1 USD/h\nspot_share = 30 %\n'
     'interruption = 10 %\non_demand_rate = 4 USD/h\n', 0.5 * 2 + (0.3 * 1.1 + 0.2 * 4) / 2),
]
BAD_RENTS = [
    ('rental_rate = 2 USD/h\nreserved_share = 80 %\nspot_share = 30 %\nspot_rate = 1 USD/h\n',
     'total 110 %; the maximum is 100 %'),
    ('rental_rate = 2 USD/h\nreserved_share = 80 %\n', "leave 20 % of option 'fleet' to rent on demand"),
    ('on_demand_rate = 4 USD/h\nspot_share = 50 %\n', "needs 'spot_rate'"),
    ('spot_share = 50 %\n', "applies to a rent, and option 'fleet' has none"),
    ('on_demand_rate = 4 USD/h\nreserved_share = 50 %\n', "so needs 'rental_rate'"),
    ('rental_rate = 2 USD/h\nspot_share = 50 %\nspot_rate = 1 USD/h\non_demand_rate = 4 USD/h\n', "both 'rental_rate' and"),
    ('list_price = 30000 USD\nreserved_share = 50 %\n', 'applies to a rent'),
    ('on_demand_rate = 4 USD/h\nspot_rate = 1 USD/h\n', "has no effect on option 'fleet' without 'spot_share'"),
    ('on_demand_rate = 4 USD/h\nspot_share = 120 %\nspot_rate = 1 USD/h\n', 'must be at most 100 %'),
    ('rental_rate = 2 USD/h\non_demand_rate = 4 USD/h\n', "both 'rental_rate' and 'on_demand_rate'"),
]


def check_rent(folder, keys, per_hour):
    same(items_of(folder, FLEET + keys)['fleet']['tco'], per_hour * GPU_H, keys)


# ---- a token API

# At 3 input tokens per output token: the cost of a million output tokens.
PRICES = 'input_price = 0.5 USD/Mtok\noutput_price = 2 USD/Mtok\n'
APIS = [
    (PRICES, 2 + 3 * 0.5),
    (PRICES + 'cache_hit = 40 %\n', 2 + 3 * 0.5),  # hits are no cheaper by default
    (PRICES + 'cache_hit = 40 %\ncached_input_price = 0.1 USD/Mtok\n', 2 + 3 * (0.6 * 0.5 + 0.4 * 0.1)),
    ('api = ap003\n', 0.95 + 3 * 0.27),
    ('api = ap003\ninflation = -40 %/yr\n', (0.95 + 3 * 0.27) * (1 + 0.6) / 2),  # it falls from year to year
    ('api = ap003\ncache_hit = 50 %\n', 0.95 + 3 * (0.27 + 0.13) / 2),
    ('api = ap004\ncache_hit = 50 %\n', 8 + 3 * 3),  # the row has no price for hits
]
BAD_APIS = [
    ('api = ap999\n', "unknown API price 'ap999'"),
    ('api = ap027\n', "is for 'gpt-oss-120b', not for 'deepseek-v3'"),
    ('api = ap003\noutput_price = 2 USD/Mtok\n', "both 'api' and 'output_price'"),
    ('output_price = 2 USD/Mtok\n', "needs 'input_price'"),
    ('input_price = 2 USD/Mtok\n', "without 'output_price'"),
    ('api = ap003\ndiscount = 5 %\n', "'discount' has no effect there: state 'api_discount'"),
    ('api = ap003\nload_power = 700 W\n', "'load_power' has no effect there"),
    ('api = ap003\naccelerators = 8\n', "'accelerators' has no effect there"),
    ('api = ap003\nthroughput = 1000 token/s\n', "'throughput' has no effect there"),
    ('api = ap003\naccelerator = h200-sxm-141\n', "'accelerator' has no effect there"),
    ('api = ap003\npower_limit = 500 W\n', "'power_limit' has no effect there"),
    ('api = ap003\nsite_power = 1 MW\n', "'site_power' has no effect there"),
    ('api = ap003\nrental_rate = 2 USD/h\n', "'rental_rate' has no effect there"),
]


def check_api(folder, keys, per_mtok):
    items = items_of(folder, API + keys)['api']
    same(items['cost_per_mtok'], per_mtok, keys)
    same(items['tco'], 2000 * per_mtok, f'TCO of {keys}')


# Keys of [option api] in a file and in one that inherits it, --set; the cost, and the grades of the input's and output's price.
LATER = [
    ('api = ap003\n', 'output_price = 2 USD/Mtok\n', (), 2 + 3 * 0.27, ('published', 'assumed')),
    ('api = ap003\n', 'output_price = 2 USD/Mtok\noutput_price.source = a letter\n', (), 2 + 3 * 0.27, ('published', 'claim')),
    ('api = ap003\n', 'input_price = 1 USD/Mtok\n', (), 0.95 + 3, ('assumed', 'published')),
    ('api = ap003\n', '', ('api.output_price=2 USD/Mtok',), 2 + 3 * 0.27, ('published', 'assumed')),
    (PRICES + 'output_price.source = a letter\n', 'api = ap003\n', (), 0.95 + 3 * 0.27, ('published', 'published')),
    (PRICES + 'output_price.source = a letter\n', '', ('api.api=ap003',), 0.95 + 3 * 0.27, ('published', 'published')),
    ('api = ap003\n', 'api =\n' + PRICES, (), 2 + 3 * 0.5, ('assumed', 'assumed')),
    ('api = ap003\ninput_price = 1 USD/Mtok\n', 'api = ap004\n', (), 8 + 3 * 3, ('published', 'published')),
    ('api = ap003\n', 'output_price = 2 USD/Mtok\n', ('api.api=ap004',), 8 + 3 * 3, ('published', 'published')),
]


def check_later(folder, older, later, settings, per_mtok, grades):
    """The later of a row and a price counts, in files that inherit and with --set."""
    written(folder, API + older)
    path = Path(folder) / 'later.ini'
    grandchild = Path(folder) / 'latest.ini'
    path.write_text(f'[scenario]\ninherits = offers.ini\n[option api]\nlabel = Later\n{later}', encoding='utf-8')
    grandchild.write_text('[scenario]\ninherits = later.ini\n', encoding='utf-8')
    for one in (path, grandchild):
        option = run_json('compare', one, *(word for setting in settings for word in ('--set', setting)))['options'][0]
        same(option['items']['cost_per_mtok'], per_mtok, one.name)
        said = tuple(option['inputs'][name]['grade'] for name in ('input_price', 'output_price'))
        expect(said == grades, f'{one.name}: {said}')
    refused = run('compare', written(folder, API + 'api = ap003\noutput_price = 2 USD/Mtok\n'))
    expect(refused.stderr.count('error') == 1, refused.stderr)


def check_inflation(folder):
    """Where inflation raises an API's price and no rent beside it, the API's warnings say so, until it states its own."""
    rented = FLEET + 'rental_rate = 2 USD/gpu/h\n'
    owned = FLEET + 'list_price = 30000 USD\npue = 1.2\nelectricity_price = 0.1 USD/kWh\n'
    for keys, common, beside, warned in (('', '3 %/yr', rented, True), ('', '3 %/yr', owned, False), ('', '-3 %/yr', rented, False),
                                         ('inflation = 0 %/yr\n', '3 %/yr', rented, False)):
        path = written(folder, f'{API}api = ap003\n{keys}{beside}[common]\ninflation = {common}\n')
        for option in run_json('compare', path, '--mixed')['options']:
            said = any('inflation raises its prices, but no rent' in warning for warning in option['warnings'])
            expect(said == (warned and option['id'] == 'api'), option['warnings'])


def check_absent(folder):
    """An API's hardware is absent on every face, and zero on none; its precision is the provider's."""
    path = written(folder, API + 'api = ap003\n' + FLEET + 'list_price = 30000 USD\npue = 1.2\n'
                   'electricity_price = 0.1 USD/kWh\nprecision = fp8\n')
    answer = run_json('compare', path)
    api, fleet = answer['options']
    expect(api['accelerator'] is None and api['grades']['power'] is None, 'the accelerator of an API')
    expect(api['workload']['precision'] == "provider's precision", 'its precision')
    expect("Provider's precision (unknown, not compared): api" in answer['stamp'], 'the stamp')
    for name in ('it_power', 'accelerators', 'hardware_cost', 'energy_per_token', 'cost_per_gpu_hour', 'power_cost'):
        expect(fleet['items'][name] is not None, f'{name} of the fleet')
        expect(name in api['items'] and api['items'][name] is None, f'{name} of the API')
    rows = [row for row in run_csv('compare', path) if row['option'] == 'api']
    expect(all(row['value'] == '' for row in rows if row['item'] == 'it_power'), 'CSV')
    expect(sum(row['item'] == 'it_power' for row in rows) == 1, 'one empty row of CSV')
    lines = run('compare', path).stdout.splitlines()
    power = next(line for line in lines if line.startswith('Power under load'))
    expect(power.split()[-2] == '-' or power.split()[-1] == '-', power)
    expect_exit(run('explain', path, 'api.it_power'), BAD_INPUT, "does not use 'it_power'")
    expect_exit(run('explain', path, 'api.tco'), 0, "provider's precision")


def check_growth(folder):
    """A growing demand is bought by the token, at prices that inflate; next to a fleet bought in stages."""
    common = API.replace('demand = 1000 Mtok/yr\n', 'demand = 100000 Mtok/yr\ndemand_growth = 40 %/yr\n')
    items = items_of(folder, common + 'api = ap003\n' + FLEET.replace('accelerators = 8\n', '') + 'list_price = 30000 USD\n'
                     'pue = 1\nelectricity_price = 0 USD/kWh\n[common]\ninflation = 10 %/yr\n')
    wanted = 100000 * (0.95 + 3 * 0.27) * (1 + 1.4 * 1.1)
    same(items['api']['tco'], wanted, 'an API whose demand grows')
    expect(items['api']['in_service'] is None and items['api']['bought'] is None, 'a purchase of an API')
    expect(len(items['fleet']['bought']) == 3, 'what is bought in stages')


def check_table(folder):
    """What is not bought has neither price, and a figure without a statement has no line of evidence."""
    path = written(folder, API + PRICES + FLEET.replace('fleet', 'rented') + 'rental_rate = 2 USD/gpu/h\n'
                   + FLEET + 'list_price = 30000 USD\npue = 1.2\nelectricity_price = 0.1 USD/kWh\n')
    lines = run('compare', path).stdout.splitlines()
    net = next(line for line in lines if line.startswith('Net price'))
    expect(net.split()[-3:] == ['-', '-', '30,000'], net)
    expect(not any(line.strip() == 'evidence' for line in lines), lines)


def check_plausible(folder):
    """The price of a thousand tokens instead of a million is detected; a row of the table never is."""
    path = written(folder, API + 'input_price = 500 USD/Mtok\noutput_price = 2000 USD/Mtok\n')
    expect_exit(run('compare', path), 0, 'output_price, 2000 USD/Mtok, is', 'input_price, 500 USD/Mtok, is', 'check its unit')
    fair = run('compare', written(folder, API + 'api = ap015\n'))
    expect('check its unit' not in fair.stderr + fair.stdout, fair.stdout)


def check_currency(folder):
    """In a report in euros, prices in either currency: 1.25 USD per euro."""
    head = """[common]
exchange_rate = 1.25 USD/EUR
exchange_rate.source = ECB
exchange_rate.date = 2026-11-01
""" + API
    path = written(folder, head + PRICES + '[option row]\napi = ap003\n[option mix]\naccelerator = h200-sxm-141\n'
                   'accelerators = 8\nthroughput = 1000 token/s\nutilization = 50 %\n' + RENTS[-1][0])
    path.write_text(path.read_text().replace('horizon', 'currency = EUR\nhorizon'))
    typed, row, mix = (one['items'] for one in run_json('compare', path)['options'])
    same(typed['cost_per_mtok'], (2 + 3 * 0.5) / 1.25, 'typed in USD')
    same(row['cost_per_mtok'], (0.95 + 3 * 0.27) / 1.25, 'a row')
    expect(mix['rental_total'] > 0 and typed['it_power'] is None, 'a mix of rents in USD')


def check_own_items(folder):
    """An own item that depends on hardware is absent with it; another one is paid."""
    items = items_of(folder, API + PRICES + """[option own]
accelerator = h200-sxm-141
accelerators = 8
throughput = 1000 token/s
utilization = 50 %
list_price = 30000 USD
pue = 1
electricity_price = 0 USD/kWh
[item racks]
label = Racks
unit = USD
group = capex
formula = nodes * 3000 USD
[item gateway]
label = Gateway
unit = USD/yr
group = opex
formula = 20000 USD/yr
""")
    expect(items['api']['racks'] is None and items['own']['racks'] == 3000, 'racks')
    same(items['api']['tco'], 2000 * 3.5 + 2 * 20000, 'TCO of the API')
    same(items['own']['tco'], 243000 + 2 * 20000, 'TCO of the owned')


def check_hits_said(folder):
    """Whether the prefill rate counts hits must be stated if it is not."""
    asked = 'set prefill_includes_hits = yes, otherwise no'
    for keys, told in (('cache_hit = 40 %\n', True), ('cache_hit = 40 %\nprefill_includes_hits = no\n', False),
                       ('cache_hit = 40 %\nprefill_includes_hits = yes\n', False), ('', False)):
        done = run('compare', written(folder, RATES + keys))
        expect((asked in done.stderr) == told, (keys, done.stderr))


def check_judge(folder):
    """An API is ranked with hardware in any precision, and options that are not comparable are still refused."""
    common = API + 'api = ap003\n' + FLEET + 'rental_rate = 2 USD/h\n'
    rows = run_csv('compare', written(folder, common + 'precision = fp8\n'))
    ranked = [row['value'] for row in rows if row['item'] == 'ranked']
    expect(ranked == ['1', '1'], f'ranked: {ranked}')


def check_missing(folder):
    for name, text in (('demand', 'demand = 1000 Mtok/yr\n'), ('input_tokens', 'input_tokens = 3000 token\n'),
                       ('output_tokens', 'output_tokens = 1000 token\n')):
        path = written(folder, API.replace(text, '') + PRICES)
        expect_exit(run('compare', path), BAD_INPUT, f"buys tokens from a provider and so needs '{name}'")


# ---- the cache

RATES = """\
[option fleet]
accelerator = h200-sxm-141
accelerators = 8
rental_rate = 2 USD/h
utilization = 50 %
input_tokens = 4000 token
output_tokens = 1000 token
prefill_throughput = 8000 token/s
decode_throughput = 2000 token/s
"""
# A request's second half decodes 1,000 tokens; prefilling 4,000 takes another half without hits.
CACHES = [
    ('', 0.5, 0.5),
    ('cache_hit = 40 %\n', 0.6 * 0.5, 0.6 * 0.5),
    ('cache_hit = 40 %\ncached_work = 25 %\n', 0.7 * 0.5, 0.6 * 0.5),
    ('cache_hit = 40 %\nprefill_includes_hits = yes\n', 0.5, 0.5),
    ('cache_hit = 40 %\ncached_work = 25 %\nprefill_includes_hits = yes\n', 0.5, 0.5 * 0.6 / 0.7),
]
BAD_CACHES = [
    (FLEET + 'rental_rate = 2 USD/h\ncache_hit = 40 %\n', 'already reflects cache hits'),
    ('[workload]\ncache_hit = 40 %\n' + FLEET + 'rental_rate = 2 USD/h\n', 'already reflects cache hits'),
    (RATES + 'cached_work = 25 %\n', "without 'cache_hit'"),
    (RATES + 'cache_hit = 100 %\n', 'must be at most 99.9 %'),
]


def check_cache(folder, keys, prefill_s, fresh_s):
    """Throughput from a request's time; costs of input, cached input and output add up, also levelized."""
    items = items_of(folder, '[common]\nwacc = 8 %/yr\n' + RATES + keys)['fleet']
    same(items['throughput'], 1000 / (prefill_s + 0.5), f'throughput with {keys}')
    hits = 0.4 if keys else 0
    tokens = items['tokens_total'] / 1e6
    for kind, whole in (('', items['tco'] / tokens), ('levelised_', items['levelised_cost_per_mtok'])):
        fresh = items[f'{kind}cost_per_mtok_input'] * 4 * (1 - hits)
        cached = items.get(f'{kind}cost_per_mtok_cached', 0) * 4 * hits
        decoded = items[f'{kind}cost_per_mtok_output']
        same(fresh + cached + decoded, whole, f'{kind}sum with {keys}')
        same(fresh, whole * fresh_s / (prefill_s + 0.5), f'{kind}input with {keys}')


# ---- the tokens of another option

OWN = FLEET.replace('[option fleet]', '[option own]') + 'list_price = 30000 USD\npue = 1\nelectricity_price = 0 USD/kWh\n'
TAKEN = API.replace('demand = 1000 Mtok/yr\n', '') + 'tokens_of = own\noutput_price = 2 USD/Mtok\ninput_price = 0.5 USD/Mtok\n'
EACH = 2 + 3 * 0.5  # three input tokens for each output token
# What is replaced by what, further sections and arguments, and the tokens of the two years over those of one.
SERVED = [
    ('', '', '', (), 2),
    ('', '', '', ('--set', 'own.throughput=1500 token/s'), 3),
    ('', '', '', ('--set', 'own.utilization=25 %'), 1),
    ('', '', '[case late]\nown.ramp = 12 month\n', ('--case', 'late'), 1.5),
    ('', '', '[case early]\nown.accelerators = 16\n', ('--case', 'early'), 4),
    ('accelerators = 8', 'throughput_gain = 10 %/yr\naccelerators = 8', '', (), 2.1),
    ('throughput = 1000', 'throughput = 1000, 2000', '', (), 3),
    ('throughput = 1000 token/s', 'decode_throughput = 2000 token/s\nprefill_throughput = 6000 token/s', '', (), 2),
    ('accelerators = 8', 'demand = 100000 Mtok/yr\ndemand_growth = 10 %/yr\naccelerators_per_node = 8', '', (), 210 / 126.144),
]
HITS = ('throughput = 1000 token/s', 'decode_throughput = 2000 token/s\nprefill_throughput = 6000 token/s\ncache_hit = 40 %')
BAD_TAKERS = [
    (OWN, TAKEN.replace('= own', '= owm'), "did you mean 'own'?"),
    (OWN, TAKEN.replace('= own', '= api'), "'api' uses the tokens of 'api': that is also a token API"),
    (OWN, TAKEN + 'demand = 5 Mtok/yr\n', "it also has a 'demand'; give only one"),
    (OWN + 'tokens_of = api\n', API + 'output_price = 2 USD/Mtok\ninput_price = 0.5 USD/Mtok\n',
     'only a token API can, as it has no accelerators of its own'),
    (OWN.replace('= 8', '= 8, 16'), TAKEN, 'its accelerators change from year to year'),
    (OWN + 'life = 1 yr\n', TAKEN, 'or are renewed; give both'),
    (OWN + 'horizon = 1 yr\n', TAKEN, "its 'horizon' must be the same in both"),
    (OWN.replace(*HITS), TAKEN, "its 'cache_hit' must be the same in both"),
]


def check_served(folder, old, new, sections, arguments, years):
    """A token API serves what the other option's accelerators produce, whatever changes that."""
    items = items_of(folder, OWN.replace(old, new) + TAKEN + sections, *arguments)
    same(items['api']['tokens_total'], years * 126144e6, 'tokens')
    same(items['api']['tokens_total'], items['own']['tokens_total'], "the other's tokens")
    same(items['api']['tco'], years * 126144 * EACH, 'cost')
    for name in ('accelerators', 'capacity', 'cost_per_gpu_hour', 'throughput', 'load', 'in_service', 'prefill_share'):
        expect(items['api'].get(name) is None, f'{name} of an option without hardware: {items["api"].get(name)}')


def check_live(folder):
    """What changes the fleet changes both, in a range, a tornado and a target."""
    path = written(folder, OWN + TAKEN + 'engineers = 1 FTE\nengineer_cost = 100000 USD/yr\n'
                   '[range]\nown.throughput = uniform(500, 1500) token/s\n')
    outcomes = {(one['kind'], one.get('option')): one['percentiles'] for one in run_json('simulate', path, '--draws', 4096)['outcomes']}
    for percentile, rate in (('P5', 1450), ('P95', 550)):
        found = outcomes['cost', 'api'][percentile]
        expect(near(found, EACH + 100000 / (126144 * rate / 1000), 1e-3), f'{percentile}: {found}')
    swings = {one['input']: one for one in run_json('sensitivity', path)['swings']}
    expect('own.throughput' in swings and not any(name.startswith('api.throughput') for name in swings), f'{sorted(swings)}')
    solved = run_json('solve', path, '--option', 'api', '--for', 'own.throughput', '--target', f'{EACH + 1!r} USD/Mtok')
    expect(near(solved['values'][0], 100000 / 126144 * 1000, 1e-6), f'{solved["values"]}')
    expect_exit(run('solve', path, '--option', 'api', '--for', 'throughput'), BAD_INPUT, 'use own.throughput')
    tree = run('explain', path, 'api.tokens', '-q').stdout
    expect('throughput = 1000 token/s' in tree and 'serves as many tokens as own' in run('compare', path).stdout, tree)


# ---- tokens that are sold

SALES = 'token_price_input = 0.1 USD/Mtok\ntoken_price_output = 1 USD/Mtok\n'


def check_sales(folder):
    """Revenue is compared with the cost and never part of it: the TCO is the same without it."""
    bought = RATES.replace('rental_rate = 2 USD/h\n', 'list_price = 30000 USD\npue = 1\nelectricity_price = 0 USD/kWh\n')
    silent = items_of(folder, bought)['fleet']
    items = items_of(folder, f'[common]\n{SALES}' + bought)['fleet']
    expect('revenue_total' not in silent, 'revenue where nothing is sold')
    for name in ('tco', 'cost_per_mtok', 'opex_total'):
        same(items[name], silent[name], name)
    revenue = items['tokens_total'] / 1e6 * (1 + 4 * 0.1)
    same(items['revenue_total'], revenue, 'revenue')
    same(items['margin_total'], revenue - 240000, 'margin')
    same(items['margin_of_cost'], 100 * (revenue / 240000 - 1), 'margin of the cost')
    same(items['margin_of_revenue'], 100 * (1 - 240000 / revenue), 'margin of the revenue')
    same(items['payback'], 2 * 240000 / revenue, 'payback')
    part = items_of(folder, f'[common]\n{SALES}sold_share = 80 %\n{bought}')['fleet']
    same(part['revenue_total'], 0.8 * revenue, 'revenue if a part is for own use')
    same(part['margin_total'], 0.8 * revenue - 240000, 'margin if a part is for own use')
    same(part['payback'], 2 * 240000 / (0.8 * revenue), 'payback if a part is for own use')
    poor = items_of(folder, f'[common]\ntoken_price_output = 0.001 USD/Mtok\n{bought}')['fleet']
    expect(poor['margin_total'] < 0 and poor['payback'] is None, 'what never pays back')
    expect(not any(poor['paid_at']), f'the times at which it does: {poor["paid_at"]}')
    same(sum(items['paid_at']), items['payback'], 'the one time at which it does')
    cached = items_of(folder, f'[common]\n{SALES}token_price_cached = 0 USD/Mtok\ncache_hit = 40 %\n{bought}')['fleet']
    same(cached['revenue_total'], cached['tokens_total'] / 1e6 * (1 + 4 * 0.6 * 0.1), 'revenue with hits')


def check_unlike_sales(folder):
    """The same requests bring more where an option states no hits: told, if cached input is sold for less."""
    other = (f'{RATES}[option other]\nlabel = Other\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\n'
             'accelerators = 8\nutilization = 50 %\ninput_tokens = 4000 token\noutput_tokens = 1000 token\nthroughput = 1000 token/s\n')
    said = 'the same requests bring unlike revenues: cached input is sold at token_price_cached by fleet; without a cache_hit,'
    for price, hits, told in (('0 USD', 'cache_hit = 40 %\n', True), ('0.1 USD', 'cache_hit = 40 %\n', False), ('0 USD', '', False)):
        text = other.replace('[option other]', f'{hits}[option other]')
        path = written(folder, f'[common]\n{SALES}token_price_cached = {price}/Mtok\n{text}')
        warnings = run_json('compare', path)['warnings']
        expect(any(one.startswith(said) for one in warnings) == told, f'{price} {hits}: {warnings}')


def check_finance(folder):
    done = run('finance', written(folder, f'[common]\n{SALES}' + RATES))
    expect_exit(done, 0, 'Tokens sold', 'Margin, share of the cost')
    never, said = written(folder, f'[common]\ntoken_price_output = 0.001 USD/Mtok\n{RATES}'), 'not within the horizon'
    for command, *asked in (('finance',), ('explain', 'fleet.payback')):
        expect_exit(run(command, never, *asked), 0, said)
    book = Path(folder) / 'never.xlsx'
    expect_exit(run('report', never, '-o', book), 0)
    with zipfile.ZipFile(book) as parts:
        cells = [cell for name in parts.namelist() for cell in re.findall(r'<f>([^<]*)</f><v>([^<]*)</v>', str(parts.read(name)))]
    told = [formula for formula, value in cells if value == said]
    expect(len(told) == 2 and any('pt_fleet_margin_total' in formula for formula in told), f'the workbook says so: {told}')


def check_nothing_to_share(folder):
    """Cloud credits cost nothing, and what is all for one's own use brings nothing: no share of either, all else as ever."""
    sold = f'[common]\n{SALES}{RATES}'
    credits = ('[case credits]\nfleet.rental_rate = 0 USD/h\n', 'margin_of_cost', 'no cost', 'margin_of_revenue', 100)
    own_use = ('[case credits]\nsold_share = 0 %\n', 'margin_of_revenue', 'no revenue', 'margin_of_cost', -100)
    for case, without, said, beside, share in (credits, own_use):
        items = items_of(folder, sold + case, '--case', 'credits')['fleet']
        expect(items[without] is None, f'{without}: {items[without]}')
        same(items[beside], share, beside)
        path = written(folder, sold + case)
        for command, *asked in (('finance',), ('explain', f'fleet.{without}')):
            expect_exit(run(command, path, *asked, '--case', 'credits'), 0, said)
        expect(items_of(folder, sold + case)['fleet'][without] is not None, 'the base case')
    free = items_of(folder, RATES.replace('rental_rate = 2', 'rental_rate = 0'))['fleet']
    expect(free['cost_per_mtok_output'] == free['tco'] == 0, 'the cost of a request in parts')


def check_deepseek():
    """DeepSeek's published day: 562,027 USD of revenue, 545 % above its cost, without a negative item."""
    items = run_json('compare', ROOT / 'examples' / 'studies' / 'deepseek-day.ini')['options'][0]['items']
    expect(abs(items['revenue_total'] / 562027 - 1) < 0.005, f'revenue {items["revenue_total"]}')
    expect(abs(items['margin_of_cost'] / 545 - 1) < 0.005, f'margin {items["margin_of_cost"]}')
    values = [value for item in items.values() for value in (item if isinstance(item, list) else [item])]
    expect(all(value >= 0 for value in values), 'a negative item')


# ---- other questions

def check_questions(folder):
    """Commands about a purchase, about nodes or about one rate refuse an API and a mix, or leave them out."""
    mix = FLEET.replace('[option fleet]', '[option mix]') + RENTS[-1][0]
    own = FLEET.replace('[option fleet]', '[option own]') + 'list_price = 30000 USD\npue = 1\nelectricity_price = 0 USD/kWh\n'
    both = API + 'api = ap003\n' + own + mix
    for command, section, told in (
            ('rent', '[rent x]\nown = own\ncloud = mix\n', "option 'mix' is rented at several rates"),
            ('rent', '[rent x]\nown = own\ncloud = api\n', "option 'api' is a token API: 'cloud' must name"),
            ('rent', '[rent x]\nown = api\non_demand = 2 USD/h\n', "option 'api' is a token API: 'own' must name"),
            ('wait', '[wait api]\nmonths = 6\nmeanwhile = mix\n', "option 'api' is a token API: there is no purchase"),
            ('wait', '[wait own]\nmeanwhile = api\n', "'api' is a token API: give its price"),
            ('audit', '[claim x]\nsays = api.it_power = 5 kW\n', 'it_power'),
            ('route', '[demand x]\nmodel = deepseek-v3\ntokens = 1e9 token/month\n', "'api' is a token API")):
        done = run(command, written(folder, both + section))
        expect_exit(done, BAD_INPUT, told)
    rows = run_json('fit', written(folder, both.replace('[option api]', 'precision = fp8\n[option api]') + '[fit]\n'))
    fits = rows['answers'][0]['tables']['memory']['rows']
    expect([row['option'] for row in fits] == ['own', 'mix'], fits)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for keys, per_hour in RENTS:
            count.test(keys.replace("\n", "; "), check_rent, folder, keys, per_hour)
        for keys, per_mtok in APIS:
            count.test(keys.replace("\n", "; "), check_api, folder, keys, per_mtok)
        for older, later, settings, *wanted in LATER:
            name = f"{older}| {later}| {' '.join(settings)}".replace("\n", "; ")
            count.test(name, check_later, folder, older, later, settings, *wanted)
        for case in CACHES:
            count.test(case[0].replace("\n", "; "), check_cache, folder, *case)
        for text, told in ([(FLEET + keys, told) for keys, told in BAD_RENTS]
                           + [(API + keys, told) for keys, told in BAD_APIS] + BAD_CACHES):
            count.test(told, lambda text=text, told=told:
                       expect_exit(run('compare', written(folder, text)), BAD_INPUT, told))
        for case in SERVED:
            count.test(f'tokens of another: {case}', check_served, folder, *case)
        for own, api, told in BAD_TAKERS:
            count.test(told, lambda own=own, api=api, told=told:
                       expect_exit(run('compare', written(folder, own + api)), BAD_INPUT, told))
        for check in (check_live, check_inflation, check_absent, check_growth, check_table, check_plausible, check_currency, check_own_items, check_hits_said, check_judge, check_missing, check_sales, check_unlike_sales, check_finance, check_nothing_to_share, check_questions):
            count.test(check.__name__, check, folder)
        count.test('deepseek', check_deepseek)
    count.finish()


if __name__ == '__main__':
    main()
