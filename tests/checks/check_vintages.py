#!/usr/bin/python3
"""Vintages: hardware that is renewed after its life, its resale value by age, its book value, volume tiers.

check_oracle checks the golden table of docs/vintages.md; here are the rules that a random scenario rarely exercises,
each worked out beside the test, and what is refused.
Seconds: 8
"""
from pathlib import Path

from support.items import expect_items, told as compared
from support.program import BAD_INPUT, DONE, expect, expect_model_checks, run, run_json, run_tests

HEAD = """\
[scenario]
title = Vintages
date = 2026-11-01
horizon = 5 yr
[common]
utilization = 70 %
pue = 1.3
electricity_price = 0.09 USD/kWh
wacc = 8 %/yr
"""
OPTION = """\
[option a]
accelerator = h100-sxm
throughput = 2500 token/s
list_price = 30000 USD
node_price = 40000 USD
network_price = 1000 USD
load_power = 700 W
"""
FLEET = 'accelerators = 80\n'
ACCELERATORS, SERVERS, NETWORK = 80 * 30000, 10 * 40000, 80 * 1000
HARDWARE = ACCELERATORS + SERVERS + NETWORK
LIFE, RESALE = 'life = 2 yr\n', 'resale = 60, 40, 25 %\n'


def told(folder, text, *arguments):
    return compared(Path(folder, 'vintages.ini'), text, *arguments)


CHECKS = ('stock', 'resale', 'book', 'tax')


def expect_checks(folder, *names):
    """For the latest result."""
    found = expect_model_checks(Path(folder, 'vintages.ini'), 'a', names or CHECKS)
    expect(found == list(names) or not names and 'book' in found, found)


def test_renewed(folder):
    """A fleet that stays unchanged, bought three times in five years; the last is a year old at the horizon."""
    items = told(folder, HEAD + OPTION + FLEET + LIFE + RESALE)['a']
    expect_items(items, {
        'bought': [0, 80, 0, 80, 0, 80], 'stock': [0, 80, 80, 80, 80, 80], 'in_service': [0, 80, 80, 80, 80, 80],
        'purchases': [HARDWARE, 0, HARDWARE, 0, HARDWARE, 0], 'capex': 3 * HARDWARE, 'accelerators_bought': 240,
        'residual': [0, 0, -0.4 * HARDWARE, 0, -0.4 * HARDWARE, -0.6 * HARDWARE]})
    expect_checks(folder)
    declining = told(folder, HEAD + OPTION + FLEET + LIFE + 'price_decline = 10 %/yr\n')['a']
    expect_items(declining, {'purchases': [HARDWARE, 0, SERVERS + NETWORK + 0.81 * ACCELERATORS, 0,
                                           SERVERS + NETWORK + 0.6561 * ACCELERATORS, 0]})


def test_long_life(folder):
    """A life up to the horizon changes nothing, and neither does a resale value that equals the residual value at that
    age."""
    growing = 'demand = 2500000 Mtok/yr\ndemand_growth = 40 %/yr\nspares = 5 %\nfailure_rate = 5 %/yr\nsupport = 4 %/yr\n'
    plain = told(folder, HEAD + growing + OPTION + 'residual_value = 20 %\n')['a']
    for life in ('life = 5 yr\n', 'life = 9 yr\n'):
        items = told(folder, HEAD + growing + life + OPTION + 'residual_value = 20 %\n')['a']
        expect_items(items, {name: plain[name] for name in ('tco', 'levelised_cost_per_mtok', 'book_value', 'book_cost',
                                                           'purchases', 'support_cost', 'repair', 'residual', 'stock')})
        expect_checks(folder)
    one = told(folder, HEAD + OPTION + FLEET + 'residual_value = 20 %\n')['a']
    aged = told(folder, HEAD + OPTION + FLEET + 'resale = 90, 70, 50, 30, 20, 10 %\n')['a']
    expect_items(aged, {name: one[name] for name in ('tco', 'levelised_cost_per_mtok', 'residual', 'book_value')})
    expect_checks(folder)


def test_ages(folder):
    """An age between two birthdays counts as the next one; hardware older than the list is worth nothing."""
    for horizon, share in (('6 month', 0.6), ('1 yr', 0.6), ('18 month', 0.4), ('3 yr', 0.25), ('37 month', 0), ('5 yr', 0)):
        items = told(folder, HEAD.replace('5 yr', horizon) + OPTION + FLEET + RESALE)['a']
        expect_items(items, {'residual_total': -share * HARDWARE})
    single = told(folder, HEAD.replace('5 yr', '1 yr') + OPTION + FLEET + 'resale = 35 %\n')['a']
    expect_items(single, {'residual_total': -0.35 * HARDWARE})
    scaled = told(folder, HEAD.replace('5 yr', '2 yr') + OPTION + FLEET + RESALE + 'resale_scale = 50 %\nresale_year_2 = 30 %\n')['a']
    expect_items(scaled, {'residual_total': -0.15 * HARDWARE})


def test_no_whole_life(folder):
    """A life of 2.5 years is two periods of a year, five of half a year."""
    for period, years in (('1 yr', 2), ('6 month', 2.5)):
        items = told(folder, HEAD.replace('horizon', f'period = {period}\nhorizon') + OPTION + FLEET + 'life = 2.5 yr\n')['a']
        dates = [place for place, paid in enumerate(items['purchases']) if paid]
        per_year = 1 if period == '1 yr' else 2
        expect(dates[1] == years * per_year, f'period {period}: paid in {dates}')
        expect_checks(folder)


def test_retired_without_resale(folder):
    """A residual value is one at the horizon: hardware retired before brings nothing, and the remaining book value is a
    loss."""
    items = told(folder, HEAD + OPTION + FLEET + LIFE + 'residual_value = 30 %\ninstallation = 10 %\nbook_life = 4 yr\n')['a']
    half = HARDWARE * 1.1 / 2
    expect_items(items, {'residual': [0, 0, 0, 0, 0, -0.3 * HARDWARE], 'written_off': [0, 0, half, 0, half, 0],
                         'book_depreciation': [0, *[HARDWARE * 1.1 / 4] * 5], 'book_value_left': HARDWARE * 1.1 * 3 / 4})
    expect_checks(folder)


def test_tax(folder):
    """Each vintage is deducted from its own date, and fully when it is retired; its proceeds are then taxed."""
    straight = 'tax_rate = 25 %\ntax_schedule = straight\ntax_life = 4 yr\ninstallation = 10 %\n'
    items = told(folder, HEAD + OPTION + FLEET + LIFE + RESALE + straight)['a']
    basis = HARDWARE * 1.1
    expect_items(items, {'tax_depreciation': [0, *[basis / 4] * 5], 'tax_written_off': [0, 0, basis / 2, 0, basis / 2, 0],
                         'tax_value': [basis, basis * 3 / 4, basis * 3 / 2, basis * 3 / 4, basis * 3 / 2, basis * 3 / 4][:2] +
                                      [basis * 1.5 - basis / 2, basis * 3 / 4, basis, basis * 3 / 4]})
    paid = items['cash'][2] - 0.25 * (items['opex'][2] + basis * 3 / 4 - 0.4 * HARDWARE)
    expect_items({'after': items['after_tax_cash'][2]}, {'after': paid})
    expect_checks(folder)


def test_tax_of_one(folder):
    """A single vintage that is never renewed gives the same as a single purchase, whose formulas are different."""
    same = ('tax_depreciation', 'tax_value', 'tax_shield', 'after_tax_cash', 'after_tax_npv', 'after_tax_total')
    for period, horizon in (('1 yr', '5 yr'), ('3 month', '30 month'), ('6 month', '7 yr'), ('1 month', '14 month')):
        for way in ('', 'bonus_depreciation = 40 %\n', 'tax_schedule = straight\ntax_life = 3.3 yr\nbonus_depreciation = 20 %\n',
                    'tax_schedule = straight\ntax_life = 0.4 yr\n'):
            text = HEAD.replace('horizon = 5 yr', f'period = {period}\nhorizon = {horizon}') + OPTION + FLEET + 'tax_rate = 30 %\n' + way
            one = told(folder, text + 'residual_value = 20 %\nmigration_cost = 90000 USD\n')['a']
            vintage = told(folder, text + 'residual_value = 20 %\nmigration_cost = 90000 USD\nlife = 8 yr\n')['a']
            scale = one['capex']
            for name in same:
                for a, b in zip(*([items[name]] if not isinstance(items[name], list) else items[name] for items in (one, vintage))):
                    expect(abs(a - b) <= 1e-9 * scale, f'{period} {way} {name}: {a}, {b}')
            expect_checks(folder, 'tax')


CREDIT_OF_ONE = ('loan_amount', 'loan_balance', 'loan_interest', 'loan_principal', 'loan_payment', 'loan_cash', 'loan_npv',
                 'right_of_use', 'lease_paid', 'lease_interest', 'lease_liability', 'right_of_use_depreciation',
                 'right_of_use_value', 'lease_expense', 'lease_cash', 'lease_npv')


def test_credit_of_one(folder):
    """A single vintage that is never renewed gives the same as a single purchase, whose formulas are different."""
    for period, horizon in (('1 yr', '5 yr'), ('6 month', '57 month'), ('1 month', '14 month')):
        for rate, term in (('7', '3 yr'), ('7', '10 month'), ('0', '31 month'), ('4', '8 yr')):
            credit = (f'loan_share = 60 %\nloan_rate = {rate} %/yr\nloan_term = {term}\n'
                      f'lease_rate = 6 %/yr\nlease_term = {term}\nresidual_value = 20 %\n')
            text = HEAD.replace('horizon = 5 yr', f'period = {period}\nhorizon = {horizon}') + OPTION + FLEET + credit
            one, vintage = told(folder, text)['a'], told(folder, text + 'life = 9 yr\n')['a']
            for name in CREDIT_OF_ONE:
                found, wanted = vintage[name], one[name]
                scale = max(map(abs, wanted)) if isinstance(wanted, list) else abs(wanted)
                pairs = zip(found, wanted) if isinstance(wanted, list) else [(found, wanted)]
                expect(all(abs(a - b) <= 1e-9 * max(scale, 1) for a, b in pairs), f'{period} {rate} {term} {name}: {found}, not {wanted}')
            expect_checks(folder, 'loans', 'lease')


def test_credit_runs_on(folder):
    """Bought in years 0, 2 and 4 and borrowed for three years at no interest: each third is due whatever has been
    retired."""
    loan = 'loan_share = 50 %\nloan_rate = 0 %/yr\nloan_term = 3 yr\n'
    items = told(folder, HEAD + OPTION + FLEET + LIFE + RESALE + loan)['a']
    part = HARDWARE / 6
    expect_items(items, {'loan_drawn': [3 * part, 0, 3 * part, 0, 3 * part, 0], 'loan_payment': [0, part, part, 2 * part, part, 2 * part],
                         'loan_balance': [3 * part, 2 * part, 4 * part, 2 * part, 4 * part, 2 * part], 'loan_interest_total': 0,
                         'loan_cash_total': items['tco'], 'loan_instalment': 2 * part})
    expect_checks(folder, 'loan', 'loans', 'drawn')
    paid = 'lease_rate = 5 %/yr\nlease_term = 30 month\nlease_payment = 300000 USD/yr\n'
    items = told(folder, HEAD + OPTION + FLEET + LIFE + RESALE + paid)['a']
    expect_items(items, {'lease_paid': [100000, 100000, 150000, 100000, 150000, 0],
                         'right_of_use': 300000 * (1 + 1 / 1.05 + 0.5 / 1.05 ** 2),
                         'lease_cash': [cost - price + due + sold + left for cost, price, due, sold, left in zip(
                             items['cash'], [HARDWARE, 0, HARDWARE, 0, HARDWARE, 0], items['lease_paid'],
                             [0, 0, 0.4 * HARDWARE, 0, 0.4 * HARDWARE, 0.6 * HARDWARE], [0] * 5 + [items['lease_liability'][5]])]})
    expect_checks(folder, 'lease', 'rights')


def test_parts(folder):
    """With a resale value by age, servers and network have theirs only at the horizon."""
    items = told(folder, HEAD + OPTION + FLEET + LIFE + RESALE + 'server_residual = 10 %\nserver_book_life = 4 yr\n'
                 'book_life = 2 yr\n')['a']
    expect_items(items, {
        'residual': [0, 0, -0.4 * ACCELERATORS, 0, -0.4 * ACCELERATORS, -0.6 * ACCELERATORS - 0.1 * SERVERS],
        'written_off': [0, 0, SERVERS / 2, 0, SERVERS / 2, 0]})
    expect_checks(folder)


def test_alone(folder):
    """What one option states about a part of its hardware changes nothing in another."""
    other = OPTION.replace('[option a]', '[option b]') + FLEET + 'server_residual = 10 %\nserver_book_life = 4 yr\nlife = 3 yr\n'
    alone = told(folder, HEAD + OPTION + FLEET + RESALE.replace('25 %', '25, 20, 15 %'))['a']
    beside = told(folder, HEAD + OPTION + FLEET + RESALE.replace('25 %', '25, 20, 15 %') + other)['a']
    expect('resale_share' in alone, 'by age')
    expect_items(beside, {name: value for name, value in alone.items() if name != 'in_service'})


def test_warranty(folder):
    """Nothing within the warranty of each vintage, by the price paid for it; a partial period does not count."""
    failing = 'failure_rate = 10 %/yr\n'
    items = told(folder, HEAD + OPTION + FLEET + failing + 'warranty = 2.5 yr\n')['a']
    expect_items(items, {'repair': [0, 0, 0, *[0.1 * ACCELERATORS] * 3]})
    renewed = told(folder, HEAD + OPTION + FLEET + failing + 'life = 3 yr\nwarranty = 1 yr\n')['a']
    expect_items(renewed, {'repair': [0, 0, *[0.1 * ACCELERATORS] * 2, 0, 0.1 * ACCELERATORS]})
    none = told(folder, HEAD + OPTION + FLEET + failing + 'warranty = 0 yr\n')['a']
    expect_items(none, {'repair': [0, *[0.1 * ACCELERATORS] * 5]})


def test_lead_time(folder):
    """Each order at the price of the day of the order, the first at the initial price; the dates of payment stay."""
    growing = 'demand = 4000000 Mtok/yr\ndemand_growth = 60 %/yr\nprice_decline = 20 %/yr\n'
    for month, period in ((0, ''), (5, ''), (15, ''), (5, 'period = 6 month\n')):
        head = HEAD.replace('[common]', f'{period}[common]', 1)
        items = told(folder, head + growing + OPTION + f'lead_time = {month} month\n')['a']
        years = [max(t - 1, 0) // (2 if period else 1) for t in range(len(items['bought']))]
        prices = [30000 * 0.8 ** max(year - month / 12, 0) for year in years]
        expect_items(items, {'net_price': prices, 'accelerators_paid': [
            count * price for count, price in zip(items['bought'], prices)]})
        expect_checks(folder)
    without = told(folder, HEAD + growing + OPTION)['a']
    expect_items(told(folder, HEAD + growing + OPTION + 'lead_time = 0 month\n')['a'], {'tco': without['tco']})
    tiers = growing + OPTION + 'discount = 10 % from 50 gpu\ntier_discount = all\nlead_time = 9 month\n'
    items = told(folder, HEAD + tiers)['a']
    expect_items(items, {'accelerators_paid': [count * 30000 * 0.8 ** max(max(year - 1, 0) - 0.75, 0) * (0.9 if count >= 50 else 1)
                                               for year, count in enumerate(items['bought'])]})
    one = told(folder, HEAD + OPTION + FLEET)['a']['tco']
    expect_items(told(folder, HEAD + OPTION + FLEET + 'lead_time = 9 month\n')['a'], {'tco': one})
    expect_items(told(folder, HEAD + OPTION + FLEET + 'price_decline = 9 %/yr\nlead_time = 9 month\n')['a'], {'tco': one})


def test_falling(folder):
    """Hardware that is no longer needed is not renewed."""
    items = told(folder, HEAD + 'demand = 4000000 Mtok/yr\ndemand_growth = -30 %/yr\n' + LIFE + OPTION)['a']
    needed = items['needed']
    expect_items(items, {'in_service': [0, needed[1], needed[1], needed[3], needed[3], needed[5]],
                         'bought': [0, needed[1], 0, needed[3], 0, needed[5]]})
    upfront = told(folder, HEAD + 'demand = 4000000 Mtok/yr\ndemand_growth = -30 %/yr\n' + LIFE + OPTION + 'purchase = upfront\n')['a']
    expect_items(upfront, {'bought': [0, needed[1], 0, needed[1], 0, needed[1]]})


def test_moved(folder):
    """A life, a warranty and a resale value are inputs like others."""
    path = Path(folder, 'vintages.ini')
    dear = OPTION.replace('[option a]', '[option b]').replace('30000', '33000')
    path.write_text(HEAD + FLEET + OPTION + LIFE + RESALE + dear + 'life = 4 yr\nwarranty = 1 yr\nfailure_rate = 5 %/yr\n'
                    'resale = 50, 40, 30, 20 %\n[range]\na.resale = triangular(70, 100, 110) %\na.life = uniform(2, 5) yr\n',
                    encoding='utf-8')
    moved = {one['input'] for one in run_json('sensitivity', path)['swings']}
    expect({'a.life', 'b.life', 'b.warranty'} <= moved and any('resale_scale' in one for one in moved), f'moved: {moved}')
    expect(run_json('simulate', path, '--draws', '1024')['case'] == 'base', 'simulated')
    solved = run_json('solve', path, '--option', 'a', '--for', 'resale_scale', '--match', 'b')['values']
    if solved:
        items = {one['id']: one['items'] for one in run_json(
            'compare', path, '--set', f'a.resale_scale={solved[0]:.15g} %')['options']}
        expect_items(items['a'], {'cost_per_mtok': items['b']['cost_per_mtok']})


TIERS = 'discount = 8 % from 100 gpu, 14 % from 500 gpu\n'


def test_tiers(folder):
    """Each accelerator has the discount of its own number, spares included; or all of an order have that of the last
    one."""
    for count, beyond, whole in ((99, 0, 0), (100, 0.08, 8), (499, 400 * 0.08, 499 * 0.08), (500, 400 * 0.08 + 0.14, 500 * 0.14),
                                 (600, 400 * 0.08 + 101 * 0.14, 600 * 0.14)):
        fleet = f'accelerators = {count}\n' + OPTION.replace('node_price = 40000 USD\n', '')
        for word, off in (('', beyond), ('tier_discount = beyond\n', beyond), ('tier_discount = all\n', whole)):
            items = told(folder, HEAD + fleet + TIERS + word)['a']
            expect_items(items, {'accelerator_cost': (count - off) * 30000, 'discount': 100 * off / count,
                                 'net_price': 30000 * (1 - off / count)})
            expect_checks(folder, 'tier_numbers', 'tier_discounts')
    spares = told(folder, HEAD + OPTION + 'accelerators = 480\nspares = 5 %\n' + TIERS)['a']
    expect_items(spares, {'accelerators_bought': 504, 'accelerator_cost': (504 - 400 * 0.08 - 5 * 0.14) * 30000})


def test_orders(folder):
    """Every purchase is an order of its own: earlier purchases do not count."""
    growing = 'demand = 4000000 Mtok/yr\ndemand_growth = 60 %/yr\nprice_decline = 10 %/yr\n'
    items = told(folder, HEAD + growing + OPTION + 'discount = 10 % from 50 gpu\ntier_discount = all\n')['a']
    prices = [30000 * 0.9 ** max(year - 1, 0) * (0.9 if count >= 50 else 1) for year, count in enumerate(items['bought'])]
    expect(min(items['bought'][1:]) < 50 <= max(items['bought']), f'orders of both kinds: {items["bought"]}')
    expect_items(items, {'accelerators_paid': [count * price for count, price in zip(items['bought'], prices)]})
    expect_checks(folder)


def test_tiers_in_cases(folder):
    """A case may have other tiers, or one discount for all; --set sets a single tier."""
    path = Path(folder, 'vintages.ini')
    path.write_text(HEAD + OPTION + 'accelerators = 600\n' + TIERS + '[case plain]\na.discount = 10 %\n'
                    '[case three]\na.discount = 5 % from 1 gpu, 9 % from 200 gpu, 20 % from 551 gpu\n', encoding='utf-8')

    def off(*arguments):
        return 600 * (1 - run_json('compare', path, *arguments)['options'][0]['items']['net_price'] / 30000)

    for arguments, wanted in (((), 400 * 0.08 + 101 * 0.14), (('--case', 'plain'), 60),
                              (('--case', 'three'), 199 * 0.05 + 351 * 0.09 + 50 * 0.2),
                              (('--set', 'a.discount_tier_2=20 %'), 400 * 0.08 + 101 * 0.2),
                              (('--set', 'a.discount=12 %'), 72)):
        expect(abs(off(*arguments) - wanted) < 1e-8, f'{arguments}: {off(*arguments)}, not {wanted}')


def test_one_with_tiers(folder):
    """Tiers of one option leave another unchanged, in stages and not."""
    other = OPTION.replace('[option a]', '[option b]') + 'discount = 10 %\naccelerators = 96\n'
    tiers = OPTION + TIERS + 'demand = 4000000 Mtok/yr\ndemand_growth = 30 %/yr\n'
    alone, both = told(folder, HEAD + other)['b'], told(folder, HEAD + tiers + other)['b']
    for name in ('tco', 'capex', 'accelerator_cost', 'cost_per_mtok', 'levelised_cost_per_mtok', 'repair_total'):
        expect_items(both, {name: alone[name]})


REFUSED = {
    'tiers that overlap': (OPTION + FLEET + 'discount = 8 % from 100 gpu, 14 % from 100 gpu\n',
                           "'discount' of option 'a' has a volume tier from 100 gpu and another from 100 gpu as tier 2"),
    'tiers in disorder': (OPTION + FLEET + 'discount = 8 % from 500 gpu, 14 % from 100 gpu\n', 'each must begin after the one before'),
    'tiers that fall': (OPTION + FLEET + 'discount = 14 % from 100 gpu, 8 % from 500 gpu\n',
                        "falls from 14 % to 8 % in volume tier 2: a larger order cannot have a smaller discount"),
    'too many tiers': (OPTION + FLEET + 'discount = ' + ', '.join(f'{n} % from {n}0 gpu' for n in range(1, 6)) + '\n',
                       "'discount' has 5 volume tiers; at most 4 are allowed"),
    'a tier without a number': (OPTION + FLEET + 'discount = 8 %, 14 % from 500 gpu\n', "expected a tier such as '8 % from 100 gpu', not '8 %'"),
    'a tier from nothing on': (OPTION + FLEET + 'discount = 8 % from 0 gpu\n', "'discount_from_1' must be at least 1"),
    'half an accelerator': (OPTION + FLEET + 'discount = 8 % from 10.5 gpu\n', "'discount_from_1' must be a whole number"),
    'a discount of more than all': (OPTION + FLEET + 'discount = 108 % from 10 gpu\n', "'discount' must be at most 100 %"),
    'tiers of something else': (OPTION + FLEET + 'spares = 8 % from 10 gpu\n', "'spares' has no volume tiers"),
    'a kind of tiers without any': (OPTION + FLEET + 'tier_discount = all\n', "'tier_discount' has no effect on option 'a', whose "
                                    "'discount' has no volume tiers"),
    'a tier without any': (OPTION + FLEET + 'discount_tier_2 = 8 %\n', "'discount_tier_2' has no effect on option 'a'"),
    'a resale value that rises': (OPTION + FLEET + 'resale = 60, 40, 45 %\n',
                                  "'resale' of option 'a' rises from 40 % to 45 % at age 3: older hardware cannot be worth more"),
    'one that rises where it is typed over': (OPTION + FLEET + RESALE + 'resale_year_2 = 70 %\n', 'rises from 60 % to 70 % at age 2'),
    'both ways of a residual value': (OPTION + FLEET + RESALE + 'residual_value = 10 %\n',
                                      "option 'a' has both 'resale' and 'residual_value': give only one"),
    'more than all of it': (OPTION + FLEET + 'resale = 120, 40 %\n', "'resale' must be at most 100 %"),
    'a life shorter than a period': (OPTION + FLEET + 'life = 8 month\n', 'shorter than a period of 1 yr'),
    'a life shorter than the lead time': (OPTION + FLEET + LIFE + 'lead_time = 30 month\n',
                                          "has a life shorter than its lead time: it would be retired before it arrives"),
    'less than no lead time': (OPTION + FLEET + 'lead_time = -1 month\n', "'lead_time' must be at least 0 month"),
    'no life': (OPTION + FLEET + 'life = 0 yr\n', "'life' must be above 0 yr"),
    'the life of what is rented': (OPTION.replace('list_price = 30000 USD', 'rental_rate = 2 USD/h').replace(
        'node_price = 40000 USD\nnetwork_price = 1000 USD\n', '') + FLEET + LIFE, "'life' is part of the rent of option 'a'"),
    'a list by age of something else': (OPTION + FLEET + 'life = 2, 3 yr\n', "'life' is one value for all years"),
}


def check_refused(folder, name):
    option, message = REFUSED[name]
    path = Path(folder, 'vintages.ini')
    path.write_text(HEAD + option, encoding='utf-8')
    done = run('compare', path)
    expect(done.returncode == BAD_INPUT and message in ' '.join(done.stderr.split()), f'{done.returncode}: {done.stderr}')
    expect(done.stderr.count('error: ') == 1, f'more than one error: {done.stderr}')


ASKED = {
    'rent': '[rent q]\non_demand = 2 USD/gpu/h\n',
    'wait': '[wait a]\nmonths = 6\nmeanwhile = 0.5 USD/Mtok\n',
    'route': '[demand one]\ntokens = 1000 Mtok/yr\n',
}


def check_asked(folder, command):
    """Questions about fleets that do not change are refused for one that is replaced, not for one that lasts."""
    path = Path(folder, 'vintages.ini')
    for life, replaced in (('2 yr', True), ('4.9 yr', True), ('5 yr', False)):
        path.write_text(f'{HEAD}{OPTION}{FLEET}life = {life}\n{ASKED[command]}', encoding='utf-8')
        done = run(command, path)
        message = "option 'a' changes when its hardware is renewed (see its 'life'), and this question covers only constant"
        refused = done.returncode == BAD_INPUT and message in done.stderr
        expect(refused if replaced else done.returncode == DONE, f'life {life}: {done.returncode}: {done.stderr}')


if __name__ == '__main__':
    run_tests(globals(), asked=(ASKED, check_asked), refused=(REFUSED, check_refused))
