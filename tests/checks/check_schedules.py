#!/usr/bin/python3
"""Inputs by year: lists wherever a number is allowed, the last value continuing, and what is refused.

Seconds: 5
"""
import sys
import tempfile
from pathlib import Path

from support.golden import GOLDEN
from support.program import BAD_INPUT, DONE, NO, ROOT, Count, expect, expect_exit, near, run, run_json

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import layout  # noqa: E402
import xlsx  # noqa: E402

FTE_YEAR = 280000.0
UTILIZED = 'utilization = 70 %'
KWH = 800 * 8760 * 1.25  # for h200 in a year


def told(folder, changes=(), *arguments):
    """The golden example with some lines replaced, compared."""
    text = GOLDEN
    for old, new in changes:
        expect(old in text, old)
        text = text.replace(old, new, 1)
    path = Path(folder, 'lists.ini')
    path.write_text(text, encoding='utf-8')
    return path


def options_of(answer):
    return {one['id']: one for one in answer['options']}


def item(path, name, option, *arguments):
    return options_of(run_json('compare', path, *arguments))[option]['items'][name]


ENGINEERS, TARIFF = 'engineers = 2 FTE', 'electricity_price = 0.08 USD/kWh'
LISTED = ((ENGINEERS, 'engineers = 2, 1, 1 FTE'),)
# Two years, in a scenario with a case that states four.
BESIDE = ((ENGINEERS, 'engineers = 2, 1 FTE'),
          ('[option h200]', '[case lean]\nmi325x.engineers = 1, 2, 3, 4 FTE\n[option h200]'))

# What is replaced by what, further arguments, and a series of mi325x from period 1 on.
SERIES = {
    'a list': (LISTED, (), 'engineering_cost', (2, 1, 1)),
    'the last value holds on': (((ENGINEERS, 'engineers = 2, 1 FTE'),), (), 'engineering_cost', (2, 1, 1)),
    'each with a unit': (((ENGINEERS, 'engineers = 2 FTE, 1 FTE'),), (), 'engineering_cost', (2, 1, 1)),
    'longer than the horizon': (((ENGINEERS, 'engineers = 2, 1, 1, 9, 9 FTE'),), (), 'engineering_cost', (2, 1, 1)),
    'by --set': ((), ('--set', 'mi325x.engineers=3, 2.5 FTE'), 'engineering_cost', (3, 2.5, 2.5)),
    'a number by --set': (LISTED, ('--set', 'mi325x.engineers=4 FTE'), 'engineering_cost', (4, 4, 4)),
    'one year by --set': (LISTED, ('--set', 'mi325x.engineers_year_2=5 FTE'), 'engineering_cost', (2, 5, 1)),
    'all years by their scale': (LISTED, ('--set', 'mi325x.engineers_scale=150 %'), 'engineering_cost',
                                  (3, 1.5, 1.5)),
    'common, all years by their scale': (LISTED, ('--set', 'engineers_scale=150 %'), 'engineering_cost',
                                          (3, 1.5, 1.5)),
    'a list in a case': ((('[option h200]', '[case lean]\nmi325x.engineers = 1, 0 FTE\n[option h200]'),),
                         ('--case', 'lean'), 'engineering_cost', (1, 0, 0)),
    'a number in a case': ((*LISTED, ('[option h200]', '[case lean]\nmi325x.engineers = 1 FTE\n[option h200]')),
                           ('--case', 'lean'), 'engineering_cost', (1, 1, 1)),
    'a longer list in a case': ((*LISTED, ('[option h200]', '[case lean]\nmi325x.engineers = 1, 2, 3, 4 FTE\n'
                                           '[option h200]')), ('--case', 'lean'), 'engineering_cost', (1, 2, 3)),
    'beside that case': ((*LISTED, ('[option h200]', '[case lean]\nmi325x.engineers = 1, 2, 3, 4 FTE\n'
                                    '[option h200]')), (), 'engineering_cost', (2, 1, 1)),
    'one year by --set, beside that case': (
        BESIDE, ('--set', 'mi325x.engineers_year_2=5 FTE'), 'engineering_cost', (2, 5, 5)),
    'two years by --set, beside that case': (
        BESIDE, ('--set', 'mi325x.engineers_year_3=4 FTE', '--set', 'mi325x.engineers_year_2=5 FTE'),
        'engineering_cost', (2, 5, 4)),
    'common, beside an own number': (((f'{TARIFF}\n', f'{TARIFF}\nengineers = 7, 8 FTE\n'),), (),
                                     'engineering_cost', (2, 2, 2)),
    'growing as well': (LISTED, ('--set', 'wage_growth=10 %/yr'), 'engineering_cost', (2, 1.1, 1.21)),
    'colo_rate': ((), ('--set', 'colo_rate=100, 120 USD/kW/month'), 'colo_cost',
                  (1040 * 1200 / FTE_YEAR, 1040 * 1440 / FTE_YEAR, 1040 * 1440 / FTE_YEAR)),
}


def check_series(folder, changes, arguments, name, wanted):
    path = told(folder, changes)
    found = item(path, name, 'mi325x', *arguments)[1:]
    expect(len(found) == 3 and all(near(f, w * FTE_YEAR) for f, w in zip(found, wanted)), f'{name}: {found}')


RENTED = (('list_price = 22000 USD\ndiscount = 14 %\n', 'rental_rate = 2 USD/gpu/h\n'),)
RENT = 800 * 8760 * 2.0  # per year
MTOK_H = 3951 * .7 * 3600 / 1e6         # of an accelerator
UNMET = 1e8 - 800 * MTOK_H * 8760        # Mtok in a year, of 1e8
BURST_H = UNMET / MTOK_H
FEE = '\n[item fee]\nlabel = Fee\nunit = USD/yr\ngroup = opex\nformula = '

# Changes, arguments, a series of mi325x, and its values from period 1 on.
FIGURES = {
    'a rent by year': (RENTED, ('--set', 'mi325x.rental_rate=2, 1.5, 1 USD/gpu/h'), 'rental_cost', (RENT, RENT * .75, RENT / 2)),
    'a rent on demand by year': ((('list_price = 22000 USD\ndiscount = 14 %\n', 'on_demand_rate = 2, 1 USD/gpu/h\n'),), (),
                                 'rental_cost', (RENT * .7, RENT * .35, RENT * .35)),
    'a rent that declines': (RENTED, ('--set', 'rent_decline=20 %/yr'), 'rental_cost', (RENT, RENT * .8, RENT * .64)),
    'the reserved share of it does not': (
        (('list_price = 22000 USD\ndiscount = 14 %\n', 'rental_rate = 2 USD/gpu/h\nreserved_share = 60 %\n'
          'on_demand_rate = 3 USD/gpu/h\nspot_share = 30 %\nspot_rate = 1 USD/gpu/h\n'),), ('--set', 'rent_decline=20 %/yr'),
        'rental_cost', tuple(RENT * .6 + RENT * .7 * (.1 * 1.5 + .3 * .5) * level for level in (1, .8, .64))),
    'a burst by the hour declines, and does not inflate': (
        ((UTILIZED, f'{UTILIZED}\ndemand = 1e8 Mtok/yr\nburst_rate = 2 USD/gpu/h'),),
        ('--set', 'rent_decline=20 %/yr', '--set', 'inflation=5 %/yr'), 'burst_cost',
        (BURST_H * 2, BURST_H * 1.6, BURST_H * 1.28)),
    'a burst by the token inflates': (
        ((UTILIZED, f'{UTILIZED}\ndemand = 1e8 Mtok/yr\nburst_price = 1 USD/Mtok'),),
        ('--set', 'inflation=5 %/yr'), 'burst_cost', (UNMET, UNMET * 1.05, UNMET * 1.1025)),
    'support, inflated': ((), ('--set', 'inflation=5 %/yr'), 'support_cost', (981344, 981344 * 1.05, 981344 * 1.1025)),
    'repair, inflated': ((), ('--set', 'inflation=5 %/yr', '--set', 'failure_rate=1 %/yr'), 'repair',
                         (151360, 151360 * 1.05, 151360 * 1.1025)),
    'licences, inflated': ((), ('--set', 'inflation=5 %/yr', '--set', 'software_licence=100 USD/yr'), 'licence_cost',
                           (8e4, 8.4e4, 8.82e4)),
    'a demand charge, inflated': ((), ('--set', 'inflation=5 %/yr', '--set', 'demand_charge=10 USD/kW/month'), 'demand_cost',
                                  (156000, 163800, 171990)),
    'water, inflated': ((), ('--set', 'inflation=5 %/yr', '--set', 'water_use=1 L/kWh', '--set', 'water_price=1 USD/m3'),
                        'water_cost', (9110.4, 9565.92, 10044.216)),
    'electricity has a rate of its own': ((), ('--set', 'inflation=5 %/yr'), 'tariff', (.08, .08, .08)),
    'engineers too': ((), ('--set', 'inflation=5 %/yr'), 'engineering_cost', (560000,) * 3),
    'an item of the user, inflated': ((('[option h200]', f'{FEE[1:]}1000 USD/yr\n[option h200]'),),
                                      ('--set', 'inflation=5 %/yr'), 'other_cost', (1000, 1050, 1102.5)),
    'one with an escalation': ((('[option h200]', f'{FEE[1:]}1000 USD/yr\nescalation = 1 %/yr\n[option h200]'),),
                               ('--set', 'inflation=5 %/yr'), 'other_cost', (1000, 1010, 1020.1)),
    'an item by year': ((('[option h200]', f'{FEE[1:]}900, 2 * 200 USD/yr, 100 USD/yr\n[option h200]'),),
                        ('--set', 'fee_3=250 USD/yr'), 'other_cost', (900, 500, 100)),
    'an item that asks for the year': ((('[option h200]', f'{FEE[1:]}if(year > 1, 7 USD/yr, 9 USD/yr)\n[option h200]'),), (),
                                       'other_cost', (9, 9, 7)),
}


def check_figures(folder, changes, arguments, name, wanted):
    found = item(told(folder, changes), name, 'mi325x', *arguments)[1:]
    expect(len(found) == 3 and all(near(f, w) for f, w in zip(found, wanted)), f'{name}: {found}')


# The staged example of the second edition with lists instead of its rates; the figures that it must give.
STAGED = """\
[scenario]
title = By year
date = 2026-11-01
horizon = 3 yr
[common]
{demand}
accelerators_per_node = 8
utilization = 70 %
pue = 1.3
electricity_price = 0.09 USD/kWh
load_power = 700 W
host_power = 300 W
node_price = 50000 USD
support = 4 %/yr
wacc = 8 %/yr
engineers = 2, 1, 1 FTE
engineer_cost = 250000 USD/yr
[option a]
accelerator = h200-sxm-141
discount = 10 %
{throughput}
{price}
{more}
"""
RATES = {'demand': 'demand = 2500000 Mtok/yr\ndemand_growth = 40 %/yr',
         'throughput': 'throughput = 2500 token/s\nthroughput_gain = 10 %/yr',
         'price': 'list_price = 32000 USD\nprice_decline = 15 %/yr', 'more': ''}
LISTS = {'demand': 'demand = 2500000, 3500000, 4900000 Mtok/yr', 'throughput': 'throughput = 2500, 2750, 3025 token/s',
         'price': 'list_price = 32000, 27200, 23120 USD', 'more': ''}
GOLDEN_STAGED = {'tco': 4062332.16, 'cost_per_mtok': 0.3726910239, 'levelised_cost_per_mtok': 0.4096680202,
                 'energy_per_token': 0.7221454679}


def staged(folder, **changes):
    path = Path(folder, 'staged.ini')
    path.write_text(STAGED.format(**changes), encoding='utf-8')
    return options_of(run_json('compare', path))['a']['items']


def check_staged(folder):
    """A rate and the equivalent list give the same, each alone and all together."""
    for name in ('demand', 'throughput', 'price', None):
        items = staged(folder, **(LISTS if name is None else {**RATES, name: LISTS[name]}))
        for item_name, wanted in GOLDEN_STAGED.items():
            expect(near(items[item_name], wanted, 2e-10), f'{name}, {item_name}: {items[item_name]}, not {wanted}')
        expect(items['needed'][1:] == [48, 64, 80] and items['bought'][1:] == [48, 16, 16], items['bought'])


def check_accelerators(folder):
    """A list of accelerators is bought as if the demand required it, and in service as listed."""
    items = staged(folder, **{**RATES, 'demand': '', 'more': 'accelerators = 48, 64, 80'})
    expect(near(items['capex'], 1682400 + 491680 + 432928) and items['in_service'][1:] == [48, 64, 80], items['capex'])
    items = staged(folder, **{**RATES, 'demand': '', 'more': 'accelerators = 48, 64, 80\naccelerators_scale = 99 %'})
    expect(items['in_service'][1:] == [48, 64, 80], items['in_service'])
    items = staged(folder, **{**RATES, 'demand': '', 'more': 'accelerators = 48, 64, 40\npurchase = upfront'})
    expect(items['in_service'][1:] == [48, 64, 40] and items['bought'][1:] == [64, 0, 0], items['bought'])


def check_bought_once(folder):
    """A single purchase is paid at the initial price, and repaired at it, whatever follows."""
    more = 'accelerators = 80\nfailure_rate = 5 %/yr'
    one = staged(folder, **{**RATES, 'demand': '', 'price': 'list_price = 32000 USD', 'more': more})
    falling = staged(folder, **{**RATES, 'demand': '', 'price': 'list_price = 32000, 100 USD', 'more': more})
    for name in ('capex', 'repair_total', 'support_total', 'tco'):
        expect(near(one[name], falling[name]), f'{name}: {falling[name]}, not {one[name]}')


def check_shares(folder):
    """Utilization and the discount are limited to 100 %, whatever they are multiplied by."""
    more = 'accelerators = 80\nutilization = 60, 95 %\nutilization_scale = 110 %'
    items = staged(folder, **{**LISTS, 'demand': '', 'more': more})
    found = [tokens / (80 * rate * 8760 * 3600) for tokens, rate in zip(items['tokens'][1:], (2500, 2750, 3025))]
    expect(all(near(f, w) for f, w in zip(found, (.66, 1, 1))), found)


QUOTE = 'list_price.quote = Q-1 2026-10-01'
PRICE_GRADES = {
    'as stated': ((), 'quoted'),
    'a year of the user': (('list_price_year_2=27000 USD',), 'assumed'),
    'a factor of the user': (('list_price_scale=50 %',), 'assumed'),
    'a factor of the same quote': (('list_price_scale=90 %', 'list_price_scale.quote=Q-1 2026-10-01'), 'quoted'),
}


def graded(folder, price, throughput, settings):
    path = Path(folder, 'staged.ini')
    path.write_text(STAGED.format(**{**LISTS, 'price': price, 'throughput': throughput}), encoding='utf-8')
    return options_of(run_json('compare', path, *(word for said in settings for word in ('--set', f'a.{said}'))))['a']


def check_grade(folder):
    """A list is evidence like a number: the weakest of its years and their factor counts."""
    quoted, throughput = f"{LISTS['price']}\n{QUOTE}", f"{LISTS['throughput']}\nthroughput.quote = Q-1 2026-10-01"
    for name, (settings, wanted) in PRICE_GRADES.items():
        option = graded(folder, quoted, throughput, settings)
        expect(option['inputs']['list_price_scale']['grade'] == wanted, f"{name}: {option['inputs']}")
        expect((option['grades']['price'], option['grade']) == (wanted, wanted), f'{name}: {option["grades"]}')
    factor = PRICE_GRADES['a factor of the same quote'][0]
    option = graded(folder, LISTS['price'], throughput, factor)
    expect((option['grades']['price'], option['grade']) == ('assumed', 'assumed'), 'a quoted factor of no source')


def check_range_in_a_case(folder):
    """A range applies to the whole list also in a case with a number: a value of the case's own makes it
    certain."""
    path = told(folder, ((UTILIZED, 'utilization = 60, 70 %'), ('[option h200]', '[range]\nutilization = '
                         'triangular(80, 100, 120) %\n[case one]\nutilization = 50 %\n[option h200]')))
    found = costs(path, 'h200')
    expect(found['P5'] < item(path, 'cost_per_mtok', 'h200') < found['P95'], found)
    expect_exit(run('simulate', path, '--case', 'one'), BAD_INPUT, 'every ranged input has a fixed value here')


def check_periods(folder):
    """A year is a year of operation, whatever the length of a period."""
    path = told(folder, ((TARIFF, 'electricity_price = 0.08, 0.10 USD/kWh'), ('horizon = 3 yr', 'horizon = 18 month\n'
                                                                              'period = 6 month')))
    found = item(path, 'tariff', 'h200')
    expect(len(found) == 4 and all(near(f, w) for f, w in zip(found[1:], (0.08, 0.08, 0.10))), found)
    power = sum(item(path, name, 'h200') for name in ('power_total', 'cooling_total'))
    expect(near(power, KWH * (0.08 + 0.5 * 0.10)), power)


def check_child_file(folder):
    """A child's number replaces the inherited list, and vice versa."""
    told(folder, LISTED)
    child = Path(folder, 'child.ini')
    child.write_text('[scenario]\ninherits = lists.ini\n[option mi325x]\nengineers = 6 FTE\n', encoding='utf-8')
    expect(near(item(child, 'engineering_total', 'mi325x'), 18 * FTE_YEAR), 'a number over a list')
    told(folder)
    child.write_text('[scenario]\ninherits = lists.ini\n[option mi325x]\nengineers = 6, 5, 4 FTE\n', encoding='utf-8')
    expect(near(item(child, 'engineering_total', 'mi325x'), 15 * FTE_YEAR), 'a list over a number')


def check_provenance(folder):
    """The list's source is the source of each of its years."""
    path = told(folder, ((TARIFF, 'electricity_price = 0.08, 0.10 USD/kWh\nelectricity_price.quote = Q-1 2026-10-01'),))
    inputs = options_of(run_json('compare', path))['h200']['inputs']
    for name in ('electricity_price_year_1', 'electricity_price_year_2', 'electricity_price_scale'):
        found = inputs[name]
        expect((found['source'], found['date'], found['grade']) == ('Q-1', '2026-10-01', 'quoted'), f'{name}: {found}')


def check_explained(folder):
    path = told(folder, LISTED)
    tree = run('explain', path, 'mi325x.engineers@3', '-q').stdout
    for part in ('engineers[3] = 1 FTE', 'engineers_year_3', 'engineers_scale = 100 %'):
        expect(part in tree, f'{part!r} is not in\n{tree}')


def costs(path, option):
    """The percentiles of an option's cost per token."""
    outcomes = run_json('simulate', path, '--draws', 4096)['outcomes']
    return next(o['percentiles'] for o in outcomes if o['kind'] == 'cost' and o['option'] == option)


def check_range(folder):
    """A range on a list is a factor for all of it: its mean changes every year alike."""
    path = told(folder, (*LISTED, ('[option h200]', '[range]\nmi325x.engineers = uniform(50, 150) %\n[option h200]')))
    found = costs(path, 'mi325x')
    at = {share: run_json('compare', path, '--set', f'mi325x.engineers_scale={share} %')['options'][1]['items']
          ['cost_per_mtok'] for share in (55, 100, 145)}
    for percentile, share in (('P5', 55), ('P50', 100), ('P95', 145)):
        expect(near(found[percentile], at[share], 1e-3), f'{percentile}: {found[percentile]}, not {at[share]}')


def check_factor_of_a_number(folder):
    """In %, a range is a scale, also if there is a number."""
    path = told(folder, (('[option h200]', '[range]\nelectricity_price = triangular(80, 100, 120) %\n[option h200]'),))
    found = costs(path, 'h200')
    expect(near(found['P50'], 0.1778663401, 1e-3) and found['P5'] < 0.177 < 0.1785 < found['P95'], found)


def check_warned(folder):
    path = told(folder, ((ENGINEERS, 'engineers = 2, 1, 1, 9, 9 FTE'),))
    done = run('compare', path)
    beyond = "'engineers' has 5 years; those beyond the horizon of {} have no effect"
    expect(beyond.format('3 yr') in done.stderr, done.stderr)
    done = run('compare', path, '--set', 'horizon=7 month')
    expect(beyond.format('7 month') in done.stderr, done.stderr)
    expect('beyond' not in run('compare', path, '--set', 'horizon=5 yr').stderr, 'five years of five')


# What replaces what, and the message with its place.
BAD = {
    'an empty list': ((ENGINEERS, 'engineers ='), "33:12: error: expected a count such as '8 FTE', not ''"),
    'an empty element': ((ENGINEERS, 'engineers = 2, , 1 FTE'), '33:16: error: expected the value of year 2'),
    'nothing at the end': ((ENGINEERS, 'engineers = 2, 1,'), '33:18: error: expected the value of year 3'),
    'a thousands separator': ((TARIFF, 'electricity_price = 30,000 USD/kWh'), "12:21: error: expected a quantity such as "
                              "'100 USD/kWh', not '30,000 USD/kWh' (no thousands separators"),
    'one within a list': ((ENGINEERS, 'engineers = 2, 1,5 FTE'), "33:16: error: expected a count such as '8 FTE', not '1,5 FTE'"),
    'no unit at all': ((TARIFF, 'electricity_price = 0.08, 0.10'), "12:27: error: '0.10' has no unit"),
    'a wrong unit': ((TARIFF, 'electricity_price = 0.08 USD, 0.10 USD/kWh'), "12:26: error: wrong unit 'USD'"),
    'beyond a limit': ((ENGINEERS, 'engineers = 2, -1 FTE'), "33:16: error: 'engineers' must be at least 0"),
    'an input without years': (('pue = 1.25', 'pue = 1.25, 1.2'), "11:13: error: 'pue' is one value for all years"),
    'the price of an API by year': ((ENGINEERS, f'{ENGINEERS}\n[option api]\noutput_price = 0.95, 0.6 USD/Mtok'),
                                    "API prices change with the option's 'inflation': use a negative rate if they fall"),
    'more than the longest horizon': ((ENGINEERS, f'engineers = {", ".join(["1"] * 31)}'),
                                      'a list has at most 30 years, not 31'),
    'a list and its rate': ((TARIFF, 'electricity_price = 0.08, 0.1 USD/kWh\nelectricity_escalation = 3 %/yr'),
                            "13:26: error: option 'h200' has both 'electricity_price' as a list by year and "
                            "'electricity_escalation': give only one"),
    'a demand and its growth': ((ENGINEERS, f'{ENGINEERS}\ndemand = 1, 2 Mtok/yr\ndemand_growth = 3 %/yr'),
                                "'demand' as a list by year and 'demand_growth': give only one"),
    'a throughput and its gain': (('throughput = 3951 token/s', 'throughput = 3951, 4000 token/s\nthroughput_gain = 3 %/yr'),
                                  "'throughput' as a list by year and 'throughput_gain': give only one"),
    'a price and its decline': (('list_price = 22000 USD', 'list_price = 22000, 20000 USD\nprice_decline = 3 %/yr'),
                                "'list_price' as a list by year and 'price_decline': give only one"),
    'a rate of rents without a rent': ((ENGINEERS, 'rent_decline = 5 %/yr'),
                                       "'rent_decline' has no effect on option 'mi325x' without 'rental_rate'"),
    'a year of no list': ((ENGINEERS, 'engineers = 2 FTE\nengineers_year_2 = 1 FTE'),
                          "unknown key 'engineers_year_2'"),
}


def check_refused(folder, change, message):
    expect_exit(run('compare', told(folder, (change,))), BAD_INPUT, message)


def check_of_another_option(folder):
    path = told(folder, (*LISTED, ('throughput = 4202', 'engineers_year_2 = 1 FTE\nthroughput = 4202')))
    expect_exit(run('compare', path), BAD_INPUT,
                "'engineers_year_2' has no effect on option 'h200', whose 'engineers' is not a list by year")


def check_solve(folder):
    path = told(folder, LISTED)
    asked = ('solve', path, '--option', 'mi325x', '--for')
    expect_exit(run(*asked, 'engineers'), BAD_INPUT, "'engineers' is a list by year: use engineers_scale")
    target = item(path, 'cost_per_mtok', 'mi325x', '--set', 'mi325x.engineers_scale=170 %')
    found = run_json(*asked, 'engineers_scale', '--target', f'{target!r} USD/Mtok')
    expect(near(found['values'][0], 170, 1e-6), found)


# The staff of one option, of both, of each; and the message about all of it together.
SWINGS = {
    'own': (LISTED, {'mi325x.engineers_scale'}),
    'common': (((f'{TARIFF}\n', f'{TARIFF}\nengineers = 7, 8 FTE\n'), (ENGINEERS, '')), {'engineers_scale'}),
    'one own, one common': (((f'{TARIFF}\n', f'{TARIFF}\nengineers = 7, 8 FTE\n'), *LISTED),
                            {'engineers_scale'}),
    'all own': ((*LISTED, ('throughput = 4202', 'engineers = 3, 2 FTE\nthroughput = 4202')),
                {'h200.engineers_scale', 'mi325x.engineers_scale'}),
    'all own, of one range': ((*LISTED, ('throughput = 4202', 'engineers = 3, 2 FTE\nthroughput = 4202'),
                               ('[option h200]', '[range]\nengineers = uniform(50, 150) %\n[option h200]')),
                              {'engineers_scale'}),
}


def check_swings(folder, changes, wanted):
    """What the tornado moves separately has one cell on Inputs, and an input with a cell of its own moves
    separately."""
    path = told(folder, changes)
    named = {swing['input'] for swing in run_json('sensitivity', path)['swings']}
    expect({name for name in named if name.endswith('_scale')} == wanted, f'swings: {sorted(named)}')
    book = Path(folder, 'swings.xlsx')
    expect_exit(run('report', path, '-o', book, '-q'), DONE)
    cells = {entry.key for entry in layout.Inputs(xlsx.read(book)).rows}
    expect({key for key in cells if key.endswith('_scale')} == wanted, f'cells: {sorted(cells)}')


def check_ended(folder):
    """The last value of a list holds on, by whatever its value is changed, also where a case has a longer list."""
    name = 'mi325x.engineers_year_2'
    ranged = ('[case lean]', f'[range]\n{name} = uniform(0, 4) FTE\n[case lean]')
    ranges = Path(told(folder, (*BESIDE, ranged))).rename(Path(folder, 'ranged.ini'))
    path = told(folder, BESIDE)
    at = {fte: item(path, 'cost_per_mtok', 'mi325x', '--set', f'{name}={fte} FTE') for fte in (0.2, 2, 3.8)}
    for percentile, fte in (('P5', 0.2), ('P50', 2), ('P95', 3.8)):
        found = costs(ranges, 'mi325x')[percentile]
        expect(near(found, at[fte], 1e-3), f'{percentile}: {found}, not {at}')
    found = run_json('solve', path, '--option', 'mi325x', '--for', 'engineers_year_2', '--target', f'{at[3.8]!r} USD/Mtok')
    expect(near(found['values'][0], 3.8, 1e-6), found)
    book = Path(folder, 'ended.xlsx')
    expect_exit(run('report', path, '-o', book, '-q'), DONE)
    inputs = layout.Inputs(xlsx.read(book))
    for year in [year for row in inputs.lists for year in row.years if row.key == 'mi325x.engineers']:
        cells = [inputs.sheet.cell(*year.cells[name]).formula for name in ('base', 'lean')]
        expect([cell is not None for cell in cells] == [year.key[-1] in '34', False], f'{year.key}: {cells}')


def check_wait(folder):
    """A later buyer finds the costs of other years, which years counted from the purchase do not give."""
    path = Path(folder, 'wait.ini')
    text = (ROOT / 'examples' / 'wait.ini').read_text(encoding='utf-8')
    path.write_text(text.replace('[common]\n', '[common]\ninflation = 3 %/yr\n', 1), encoding='utf-8')
    expect_exit(run('wait', path), BAD_INPUT, "option 'b200' has costs by year")


def check_rent(folder):
    """Owning is not compared with a rent that changes; lists of other inputs are allowed."""
    rents = ((TARIFF, 'electricity_price = 0.08, 0.12 USD/kWh'), *RENTED)
    path = told(folder, rents)
    found = run_json('rent', path, statuses=(DONE, NO))
    changed = told(folder, (*rents, ('rental_rate = 2 USD', 'rent_decline = 10 %/yr\nrental_rate = 2 USD')))
    expect_exit(run('rent', changed), BAD_INPUT, 'constant fleets')
    owning = found['answers'][0]['tables']['cost']['rows'][0]['cost']
    expect(near(owning, item(path, 'tco', 'h200')), f'owning costs {owning}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for name, (changes, arguments, series, wanted) in SERIES.items():
            count.test(name, check_series, folder, changes, arguments, series, wanted)
        for name, case in FIGURES.items():
            count.test(name, check_figures, folder, *case)
        for name, case in SWINGS.items():
            count.test(f'tornado: {name}', check_swings, folder, *case)
        for name, (change, message) in BAD.items():
            count.test(name, check_refused, folder, change, message)
        for check in (check_periods, check_child_file, check_provenance, check_explained, check_range,
                      check_factor_of_a_number, check_warned, check_of_another_option, check_solve, check_staged,
                      check_accelerators, check_bought_once, check_shares, check_grade, check_range_in_a_case,
                      check_ended, check_wait, check_rent):
            count.test(check.__name__, check, folder)
    count.finish()


if __name__ == '__main__':
    main()
