#!/usr/bin/python3
"""A site's power and carbon, and a day's hours: figures computed here hour by hour, and what is refused.

PERTOKEN names the program.
"""
import csv
import math
import tempfile
from pathlib import Path

from check_production import Counters, read_in
from support.program import BAD_INPUT, Count, ROOT, expect, expect_exit, near, run, run_json
from support.records import NO_POWER, rung, save, serving

YEAR_H = 8760
HEAD = """\
[scenario]
title = A site
date = 2026-11-20
horizon = 2 yr
[common]
demand = 1000000 Mtok/yr
utilization = 70 %
pue = 1.25
electricity_price = 0.1 USD/kWh
host_power = 300 W/gpu
{common}
[option a]
accelerator = h100-sxm5-80
list_price = 30000 USD
load_power = 700 W
idle_power = 100 W
throughput = 1000 token/s
{option}
"""
TYPED = [1] * 8 + [4, 6, 8, 10, 12, 12, 10, 8, 6, 4, 4, 2, 2, 2, 1, 1]
LIST = ', '.join(map(str, TYPED)) + ' %'
PER_GPU = 1000 * 3600 * 0.7  # tokens per accelerator-hour


def items_of(folder, common='', option='', *arguments):
    path = Path(folder) / 's.ini'
    path.write_text(HEAD.format(common=common, option=option))
    return run_json('compare', path, *arguments)['options'][0]['items']


def shape(name):
    if name == 'flat':
        return [1 / 24] * 24
    with open(ROOT / 'data' / 'day_profiles.csv', encoding='utf-8') as file:
        row = next(row for row in csv.DictReader(file) if row['id'] == name)
    shares = [float(row[f'share_{hour}']) for hour in range(1, 25)]
    return [share / sum(shares) for share in shares]


def day_of(shares, accelerators, demand=1e12):
    """Tokens served in a year, and the kWh that the accelerators draw with their hosts."""
    tokens = sum(365 * min(accelerators * PER_GPU, demand / 365 * share) for share in shares)
    busy_h = tokens / (1000 * 3600)
    return tokens, (accelerators * 0.4 * YEAR_H + 0.6 * busy_h) * 2


def check_day(folder, said, shares):
    items = items_of(folder, f'day_profile = {said}')
    needed = math.ceil(1e12 / 365 * max(shares) / PER_GPU / 8) * 8
    tokens, kwh = day_of(shares, needed)
    expect(items['accelerators'] == needed, f"{said}: {items['accelerators']} accelerators, not {needed}")
    expect(near(items['peak_over_mean'], 24 * max(shares)), f"{said}: {items['peak_over_mean']}")
    expect(near(items['tokens_total'], 2 * tokens) and near(tokens, 1e12), f"{said}: {items['tokens_total']}")
    expect(near(items['energy_total'], kwh * 1.25), f"{said}: {items['energy_total']} kWh")
    return items


def test_a_day_sizes_by_its_peak_hour(folder):
    plain = items_of(folder)
    flat = check_day(folder, 'flat', shape('flat'))
    expect(all(near(flat[item], plain[item]) for item in ('tco', 'tokens_total', 'accelerators')), 'flat is no profile')
    for name in ('office', 'consumer'):
        check_day(folder, name, shape(name))
    check_day(folder, LIST, [share / 100 for share in TYPED])


def test_the_peak_sizes_the_site(folder):
    """A cage, a building and a site are sized by the peak; what is metered follows the power under load."""
    sized = 'site_power = 1 MW\ncolo_rate = 200 USD/kW/month\ndemand_charge = 10 USD/kW/month'
    mean = items_of(folder, sized)
    peak = items_of(folder, sized, 'peak_power = 1000 W')
    more = (1000 + 300) / (700 + 300)
    expect(near(mean['peak_it_power'], mean['accelerators'] * 1.0), mean['peak_it_power'])
    for item in ('peak_it_power', 'site_peak_power', 'colo_total'):
        expect(near(peak[item], mean[item] * more), f'{item}: {peak[item]}, not {mean[item]} * {more}')
    for item in ('energy_total', 'power_total', 'cooling_total'):
        expect(near(peak[item], mean[item]), f'{item}: {peak[item]}, not {mean[item]}')
    built = 'site_power = 1 MW\nbuild_price = 10000 USD/kW'
    expect(near(items_of(folder, built, 'peak_power = 1000 W')['facility_cost'],
                items_of(folder, built)['facility_cost'] * more), 'an own building')


def test_a_mean_is_no_peak(folder):
    """Under what it may draw, the power under load is no peak to size a site by."""
    path = Path(folder) / 's.ini'
    less = HEAD.replace('load_power = 700 W', 'load_power = 500 W')
    said = 'sized by the power under load, 500 W/gpu, though each may draw 700 W/gpu: give peak_power'
    for text, common, option, words in (
            (less, 'site_power = 1 MW', '', f'site_power: {said}'),
            (less, 'site_power = 1 MW\ncolo_rate = 200 USD/kW/month', '', f'site_power and colo_rate: {said}'),
            (less, 'build_price = 10000 USD/kW', '', f'build_price: {said}'),
            (less, 'demand_charge = 10 USD/kW/month', '', None),
            (less, 'site_power = 1 MW', 'peak_power = 700 W', None),
            (less, 'site_power = 1 MW', 'peak_power = 400 W',
             'peak_power, 400 W/gpu, is below the power under load, 500 W/gpu'),
            (HEAD, 'site_power = 1 MW', '', None)):
        path.write_text(text.format(common=common, option=option))
        warnings = str(run_json('compare', path)['options'][0]['warnings'])
        expect(words in warnings if words else 'peak' not in warnings, f'{common} {option}: {warnings}')


def test_what_does_not_fit_an_hour_is_unmet(folder):
    shares = [share / 100 for share in TYPED]
    for count in (8, 48, 96, 200):
        items = items_of(folder, f'day_profile = {LIST}', f'accelerators = {count}')
        tokens, kwh = day_of(shares, count)
        expect(near(items['tokens_total'], 2 * tokens), f"{count}: {items['tokens_total']}, not {2 * tokens}")
        expect(near(items['unmet_total'] + 1, 2 * (1e12 - tokens) + 1, 1e-6), f"{count}: {items['unmet_total']} unmet")
        expect(near(items['energy_total'], kwh * 1.25), f"{count}: {items['energy_total']} kWh")
        least = count * PER_GPU / (1e12 / 365 * max(shares))
        expect(near(items['demand_met'], 100 * min(1, least)), f"{count}: {items['demand_met']} % in the peak hour")
    bought = items_of(folder, f'day_profile = {LIST}', 'accelerators = 48\nburst_price = 2 USD/Mtok')
    expect(near(bought['burst_total'], 2 * (1e12 - day_of(shares, 48)[0]) / 1e6 * 2), bought['burst_total'])


def test_on_demand_bills_the_hours(folder):
    path = Path(folder) / 's.ini'
    path.write_text(HEAD.format(common=f'day_profile = {LIST}', option='on_demand_rate = 2 USD/h')
                    .replace('list_price = 30000 USD\n', ''))
    items = run_json('compare', path)['options'][0]['items']
    expect(near(items['rental_total'], 2 * 1e12 / (1000 * 3600) * 2), items['rental_total'])
    expect(items['accelerators'] == math.ceil(1e12 / 365 * 0.12 / PER_GPU), items['accelerators'])


def test_a_day_in_stages(folder):
    items = items_of(folder, f'day_profile = {LIST}\ndemand_growth = 50 %/yr')
    needed = [math.ceil(demand / 365 * 0.12 / PER_GPU / 8) * 8 for demand in (1e12, 1.5e12)]
    expect(items['in_service'] == [0, *needed], items['in_service'])
    expect(near(items['tokens_total'], 2.5e12), items['tokens_total'])


def test_a_measured_day(folder):
    counters = Counters()
    read_in(counters)
    keys = f'production = {counters.record().name}\nday_profile = measured'
    text = HEAD.format(common='[workload]\nmodel = llama-2-70b\nprecision = fp8', option=keys)
    path = counters.write('s.ini', text.replace('utilization = 70 %\n', '').replace('h100-sxm5-80', 'h200-sxm-141')
                          .replace('throughput = 1000', 'throughput = 4202'))
    told = run_json('compare', path, '--measurements', counters.records)['options'][0]
    items, inputs = told['items'], told['inputs']
    expect(near(items['peak_over_mean'], 2) and inputs['day_share_10']['grade'] == 'measured', items['peak_over_mean'])
    expect(near(items['tokens_per_gpu'], 2 * 10000 / 8 * 3600), 'beside a day, utilization is that of its peak hour')
    expect_exit(run('compare', path, '--measurements', counters.records, '--set', 'a.production='), BAD_INPUT,
                "a measured day needs 'production'")


def test_water(folder):
    """Litres per kWh of IT energy, whether or not they are paid for."""
    tokens = 40 * PER_GPU * YEAR_H
    kwh = (40 * 0.4 * YEAR_H + 0.6 * tokens / (1000 * 3600)) * 2
    items = items_of(folder, 'water_use = 1.8 L/kWh', 'accelerators = 40')
    expect(near(items['water_total'], kwh * 1.8 / 1000), items['water_total'])
    expect(near(items['water_per_mtok'], kwh * 1.8 / (2 * tokens / 1e6)), items['water_per_mtok'])
    expect(not any(items['water_cost']), items['water_cost'])
    paid = items_of(folder, 'water_use = 1.8 L/kWh\nwater_price = 4 USD/m3', 'accelerators = 40')
    expect(near(sum(paid['water_cost']), 4 * paid['water_total']), paid['water_cost'])
    expect(items_of(folder, '', 'accelerators = 40')['water_total'] == 0, 'water that nobody stated')


def test_site_and_carbon(folder):
    items = items_of(folder, 'site_power = 1 MW\ngrid = de', 'accelerators = 40\nspares = 10 %')
    tokens = 40 * PER_GPU * YEAR_H
    busy_h = tokens / (1000 * 3600)
    kwh = (40 * 0.4 * YEAR_H + 0.6 * busy_h) * 1.25 * 2
    expect(near(items['tokens_total'], 2 * tokens) and tokens < 1e12, items['tokens_total'])
    expect(near(items['operational_carbon'], kwh * 342 / 1e6), items['operational_carbon'])
    expect(near(items['embodied_total'], 44 * 164 / 1e3), 'spares are made too')
    expect(near(items['carbon_per_mtok'], items['carbon_total'] * 1e6 / (2 * tokens / 1e6)), items['carbon_per_mtok'])
    expect(near(items['tokens_per_mw'], tokens / (YEAR_H * 3600) / (40 * 1000 * 1.25 / 1e6)), items['tokens_per_mw'])
    expect(items['site_excess'] == 0, items['site_excess'])
    less = items_of(folder, 'site_power = 40 kW', 'accelerators = 40')
    expect(near(less['site_excess'], 25) and 'carbon_total' not in less, less['site_excess'])


def test_grades_and_warnings(folder):
    path = Path(folder) / 's.ini'
    path.write_text(HEAD.format(common='site_power = 9 kW\ngrid = DE\nday_profile = office', option=''))
    done = run_json('compare', path)
    inputs = done['options'][0]['inputs']
    expect(inputs['grid_intensity']['source'].startswith('Germany (DE): Electricity Maps'), inputs['grid_intensity'])
    expect(inputs['grid_intensity']['grade'] == inputs['embodied_carbon']['grade'] == 'published', inputs)
    expect('Azure' in inputs['day_share_7']['source'] and inputs['day_share_7']['grade'] == 'published', inputs)
    expect_exit(run('compare', path), 0, 'less than the peak of one purchase unit')


LIMITED = """\
[scenario]
title = Limited
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp8
scenario = server
utilization = 65 %
[common]
accelerators = 8
pue = 1.25
electricity_price = 0.1 USD/kWh
list_price = 23000 USD
[option a]
accelerator = {}
{}
"""


def limited(folder, keys, accelerator='mi355x-288', *arguments):
    path = Path(folder) / 'limited.ini'
    path.write_text(LIMITED.format(accelerator, keys))
    return path, *arguments


def test_a_power_limit_takes_a_row(folder):
    inputs = run_json('compare', *limited(folder, ''))['options'][0]['inputs']
    expect((inputs['throughput']['value'], inputs['load_power']['value']) == (11659.05, 1400), inputs['throughput'])
    inputs = run_json('compare', *limited(folder, 'power_limit = 1 kW'))['options'][0]['inputs']
    expect((inputs['throughput']['value'], inputs['load_power']['value']) == (9544.94, 1000), inputs['throughput'])
    expect(inputs['load_power']['grade'] == 'projected' and 'tp0347' in inputs['load_power']['source'], inputs)
    for keys, message in (('power_limit = 900 W', 'are at a power limit other than power_limit'),
                          ('power_limit = 0 W', 'power_limit must be above 0 W'),
                          ('power_limit = 1 kW\nevidence = tp0345', 'was not measured at a power limit of 1000 W/gpu'),
                          ('power_limit = 1 kW\nload_power = 900 W', 'takes watts and throughput from one record or row'),
                          ('power_limit = 1 kW\nthroughput = 900 token/s', 'takes watts and throughput from one'),
                          ('power_limit = 1 kW\nprojection = x.json', 'has no power limit')):
        expect_exit(run('compare', *limited(folder, keys)), BAD_INPUT, message)


def test_a_power_limit_takes_a_record(folder):
    records = Path(folder) / 'records'
    records.mkdir()
    power = {**NO_POWER, 'source': 'nvml, 8 devices', 'devices': 8, 'covers': 'accelerators', 'load_power_w': 3600.0}
    save(records / 'held.json', serving(rung(64, 24000, power={**power, 'power_limit_w': 500.0})))
    save(records / 'open.json', serving(rung(64, 32000, power=power)))
    ask = lambda keys: limited(folder, keys, 'h200-sxm-141', '--measurements', records)  # noqa: E731
    inputs = run_json('compare', *ask('record = held.json\npower_limit = 500 W'))['options'][0]['inputs']
    expect((inputs['throughput']['value'], inputs['load_power']['value']) == (3000, 450), inputs)
    expect_exit(run('compare', *ask('record = held.json\npower_limit = 600 W')), BAD_INPUT,
                'was measured at a power limit of 500 W, not 600 W')
    expect_exit(run('compare', *ask('record = open.json\npower_limit = 600 W')), BAD_INPUT,
                'does not state its power limit')


def test_questions_of_fleets_that_stay(folder):
    """A question refuses what it does not take into account."""
    day = ('--set', 'common.day_profile=office', '--set', 'common.demand=1000000 Mtok/yr')
    for command, example in (('route', 'portfolio.ini'), ('wait', 'wait.ini')):
        expect_exit(run(command, ROOT / 'examples' / example, *day), BAD_INPUT, 'changes with the hour of the day')
    expect_exit(run('route', ROOT / 'examples' / 'portfolio.ini', '--set', 'common.site_power=1 MW'), BAD_INPUT,
                "has 'site_power', which a portfolio does not take into account")


def test_draws_beyond_the_site(folder):
    path = Path(folder) / 'draws.ini'
    path.write_text(HEAD.format(common='site_power = 60 kW\naccelerators = 40', option='') +
                    '[option b]\naccelerator = mi325x-256\nlist_price = 9000 USD\nload_power = 900 W\n'
                    'throughput = 1000 token/s\n[range]\nsite_power = uniform(40, 80) kW\n')
    small = ('--draws', '1024', '--set', 'demand=10 Mtok/yr')
    words = ' '.join(run('simulate', path, *small).stdout.split())
    expect("Draws that serve the demand within the site power" in words, words)
    ranked = run_json('simulate', path, *small)['ranked']
    expect(abs(ranked['a'] - 0.75) < 0.01 and abs(ranked['b'] - 0.5) < 0.01, ranked)
    told = run_json('simulate', path, '--draws', '1024')
    expect("it does not serve the demand within the site power in any draw" in told['not_ranked']['b'], told['not_ranked'])


BAD = {
    'day_profile = 4, 5, 6 %': 'expected 24 shares of a day, one for each hour, not 3',
    'day_profile = ' + ', '.join(['4'] * 23) + ' %': 'expected 24 shares of a day, one for each hour, not 23',
    'day_profile = ' + ', '.join(['4'] * 24) + ' %': 'the shares of a day sum to 96 %, not to 100 %',
    'day_profile = ' + ', '.join(['-4', '8'] + ['4'] * 22) + ' %': 'must be at least 0 %',
    'day_profile = ' + ', '.join(['4'] * 24): "'4' has no unit",
    'day_profile = offices': "did you mean 'office'?",
    'day_profile = measured': "a measured day needs 'production'",
    'site_power = 0 MW': "'site_power' must be above 0 MW",
    'site_power = 2': "has no unit: expected a quantity such as '100 MW'",
    'grid = XX': "unknown grid 'XX'",
    'grid = DE\ngrid_intensity = 3 g/kWh': "both 'grid' and 'grid_intensity' are given",
    'grid_intensity = 3 kg': "wrong unit 'kg'",
    'embodied_carbon = 3 kg': "'embodied_carbon' has no effect without 'grid_intensity'",
}


def check_refused(folder, keys, message):
    path = Path(folder) / 's.ini'
    path.write_text(HEAD.format(common=keys, option=''))
    expect_exit(run('compare', path), BAD_INPUT, message)


def test_a_profile_needs_a_demand(folder):
    path = Path(folder) / 's.ini'
    for text, message in ((HEAD.format(common='day_profile = office', option='accelerators = 8'),
                           "'day_profile' has no effect without 'demand', which no option has"),
                          (HEAD.format(common='', option='accelerators = 8\nday_profile = office'),
                           "'day_profile' has no effect on option 'a' without 'demand'")):
        path.write_text(text.replace('demand = 1000000 Mtok/yr\n', ''))
        done = run('compare', path)
        expect_exit(done, BAD_INPUT, message)
        expect(done.stderr.count('error:') == 1, 'one mistake, one message')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        count.tests(globals(), folder)
        for keys, message in BAD.items():
            count.test(keys, check_refused, folder, keys, message)
    count.finish()


if __name__ == '__main__':
    main()
