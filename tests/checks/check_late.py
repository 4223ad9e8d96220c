#!/usr/bin/python3
"""What is delivered late: the tokens, power, support, repairs and rent that it takes away until it arrives, what stays
to be paid, what that costs a token, the damages that would offset it, those that a contract pays, and what is refused.

check_oracle draws delays for random scenarios; here is each amount worked out beside its test.
Seconds: 4
"""
import zipfile
from pathlib import Path

from support.items import expect_items, near, told as compared
from support.program import BAD_INPUT, expect, expect_exit, expect_model_checks, run, run_json, run_tests

HEAD = """\
[scenario]
title = Late
date = 2026-11-01
horizon = 2 yr
[common]
accelerators = 80
utilization = 50 %
pue = 1.2
electricity_price = 0.1 USD/kWh
engineers = 1 FTE
engineer_cost = 200000 USD/yr
"""
PRICE = 'list_price = 30000 USD\n'
OPTION = '[option a]\naccelerator = h100-sxm\nthroughput = 2000 token/s\nload_power = 700 W\nidle_power = 100 W\n'
BOUGHT = OPTION + PRICE
RENTED = OPTION + 'rental_rate = 2 USD/gpu/h\n'
HALF = 'delivery_delay = 3 month\nlate_share = 50 %\n'  # an eighth of the first year's accelerator-time
WEEKLY = 'delay_damages = 0.5 %\ndelay_damages_limit = 5 %\n'
RUNNING = """\
support = 4 %/yr
failure_rate = 5 %/yr
software_licence = 1000 USD/gpu/yr
demand_charge = 10 USD/kW/month
colo_rate = 100 USD/kW/month
"""
TOKENS = 80 * 2000 * 3600 * 8760 * 0.5  # of a year, in all
HARDWARE = 80 * 30000


def told(folder, text, *arguments):
    return compared(Path(folder, 'late.ini'), text, *arguments)


def write(folder, text):
    path = Path(folder, 'late.ini')
    path.write_text(text, encoding='utf-8')
    return path


def test_half(folder):
    """Half of the accelerators, three months late."""
    peak_kw = 80 * 0.7
    items = told(folder, HEAD + BOUGHT + RUNNING + HALF)['a']
    expect_items(items, {
        'in_service': [0, 70, 80], 'tokens': [0, TOKENS * 7 / 8, TOKENS], 'capex': HARDWARE,
        'it_energy': [0, 70 * 0.4 * 8760, 80 * 0.4 * 8760], 'peak_it_power': peak_kw,
        'support_cost': [0, 0.04 * HARDWARE * 7 / 8, 0.04 * HARDWARE], 'repair': [0, 70 * 1500, 80 * 1500],
        'licence_cost': [0, 70000, 80000], 'demand_cost': [0, peak_kw * 7 / 8 * 1.2 * 120, peak_kw * 1.2 * 120],
        'colo_cost': [0, peak_kw * 1200, peak_kw * 1200], 'engineering_cost': [0, 200000, 200000],
        'average_load': 50, 'cost_per_gpu_hour': items['tco'] / (150 * 8760)})
    expect_model_checks(Path(folder, 'late.ini'), 'a', ('late', 'energy', 'tokens'))


def test_all(folder):
    """All of them, for more than a year, in which there is nothing to serve with, and nothing to run."""
    items = told(folder, HEAD + BOUGHT + RUNNING + 'delivery_delay = 15 month\n')['a']
    expect_items(items, {
        'in_service': [0, 0, 60], 'tokens': [0, 0, 0.75 * TOKENS], 'it_energy': [0, 0, 60 * 0.4 * 8760],
        'support_cost': [0, 0, 0.03 * HARDWARE], 'repair': [0, 0, 60 * 1500], 'load': [0, 0, 50],
        'engineering_cost': [0, 200000, 200000]})


def test_rent(folder):
    """What is rented late is not charged until then; engineers are."""
    for share, late in (('50 %', 0.5), ('100 %', 1)):
        items = told(folder, HEAD + RENTED + f'delivery_delay = 3 month\nlate_share = {share}\n')['a']
        expect_items(items, {'rental_cost': [0, 80 * (1 - late / 4) * 2 * 8760, 80 * 2 * 8760],
                             'tokens': [0, TOKENS * (1 - late / 4), TOKENS], 'engineering_total': 400000})


DEMAND = 'demand = {:.10g} Mtok/yr\n'.format(0.8 * TOKENS / 1e6)


def test_demand(folder):
    """What is late serves no demand: five eighths of it for three months. Later capacity does not make up for that."""
    plain = told(folder, HEAD + BOUGHT + DEMAND + HALF)['a']
    served = TOKENS * (0.5 / 4 + 0.8 * 3 / 4)
    expect_items(plain, {'fleet_tokens': [0, served, 0.8 * TOKENS], 'unmet': [0, 0.8 * TOKENS - served, 0],
                         'demand_met': 62.5, 'headroom': [0, -37.5, 25]})
    verdict = run_json('compare', Path(folder, 'late.ini'))['not_ranked']
    expect(verdict == {'a': 'at worst it serves 62.5 % of the demand'}, verdict)
    bought = told(folder, HEAD + BOUGHT + DEMAND + HALF + 'burst_price = 1 USD/Mtok\n')['a']
    expect_items(bought, {'tokens': [0, 0.8 * TOKENS, 0.8 * TOKENS], 'demand_met': 100,
                          'burst_total': (0.8 * TOKENS - served) / 1e6})
    spare = told(folder, HEAD + BOUGHT + DEMAND + 'delivery_delay = 3 month\nlate_share = 20 %\n')['a']
    expect_items(spare, {'unmet_total': 0, 'demand_met': 100, 'headroom': [0, 0, 25]})


LONG = {'a day': DEMAND + 'day_profile = office\nburst_price = 1 USD/Mtok\n', 'a demand': DEMAND, 'a ramp': 'ramp = 7 month\n',
        'more than a year': 'delivery_delay = 14 month\nlate_share = 30 %\nramp = 20 month\n'}


def check_periods(folder, name):
    """A year that something arrives in has the sum of its months."""
    years, months = (told(folder, head + BOUGHT + RUNNING + ('' if 'delay' in LONG[name] else HALF) + LONG[name])['a']
                     for head in (HEAD, HEAD.replace('horizon', 'period = 1 month\nhorizon')))
    for item in ('fleet_tokens' if 'demand' in LONG[name] else 'tokens', 'it_energy', 'support_cost', 'repair'):
        near(sum(months[item]), sum(years[item]), item)
    near(months['tco'], years['tco'], 'tco')


def test_stages(folder):
    """Only the first purchase is late: half of 80 for three months, though 160 are wanted in the second year."""
    listed = HEAD.replace('accelerators = 80', 'accelerators = 80, 160') + BOUGHT + RUNNING + WEEKLY
    second = {'in_service': [0, 70, 160], 'tokens': [0, TOKENS * 7 / 8, 2 * TOKENS], 'hardware_paid': [0, HARDWARE, HARDWARE],
              'support_cost': [0, 0.04 * HARDWARE * 7 / 8, 0.08 * HARDWARE], 'repair': [0, 70 * 1500, 160 * 1500],
              'late_price': HARDWARE / 2, 'damages_total': -0.05 * HARDWARE / 2, 'capex': 2 * HARDWARE}
    expect_items(told(folder, listed + HALF)['a'], second)
    later = told(folder, listed + 'delivery_delay = 15 month\nlate_share = 50 %\n')['a']
    expect_items(later, {'in_service': [0, 40, 150], 'tokens': [0, TOKENS / 2, TOKENS * (1.5 / 4 + 2 * 3 / 4)],
                         'support_cost': [0, 0.02 * HARDWARE, 0.08 * HARDWARE - 0.04 * HARDWARE / 2 / 4],
                         'damages_credit': [0, 0, -0.05 * HARDWARE / 2]})
    grown = HEAD.replace('accelerators = 80\n', '') + BOUGHT + DEMAND + 'demand_growth = 100 %/yr\nburst_price = 1 USD/Mtok\n'
    on_time, late = (told(folder, grown + more)['a'] for more in ('', 'delivery_delay = 3 month\nlate_share = 50 %\n'))
    expect_items(on_time, {'in_service': [0, 64, 128], 'burst_total': 0})
    expect_items(late, {'in_service': [0, 56, 128], 'burst_total': TOKENS * 0.8 / 2 / 4 / 1e6, 'bought': [0, 64, 64],
                        'capex': on_time['capex']})
    upfront = told(folder, grown + 'purchase = upfront\n' + HALF)['a']
    expect_items(upfront, {'in_service': [0, 112, 128], 'late_price': HARDWARE * 128 / 80 / 2, 'burst_total': 0})
    renewed = told(folder, HEAD + BOUGHT + RUNNING + HALF + 'life = 1 yr\n')['a']
    expect_items(renewed, {'in_service': [0, 70, 80], 'bought': [0, 80, 80], 'late_price': HARDWARE / 2,
                           'support_cost': [0, 0.04 * HARDWARE * 7 / 8, 0.04 * HARDWARE]})


def test_no_effect(folder):
    """A delay of nothing, or of none of the accelerators."""
    plain = told(folder, HEAD + BOUGHT + RUNNING + DEMAND)['a']
    for line in ('delivery_delay = 0 month\n', 'delivery_delay = 9 month\nlate_share = 0 %\n'):
        items = told(folder, HEAD + BOUGHT + RUNNING + DEMAND + line)['a']
        expect_items(items, {name: plain[name] for name in ('tco', 'fleet_tokens', 'headroom', 'it_power', 'repair')})
        expect_items(items, {'levelised_cost_per_gpu_hour': plain['levelised_cost_per_gpu_hour']})


def test_answer(folder):
    """The cost on time is that without the delay; with the damages, so is the cost with it."""
    text = HEAD + BOUGHT + RUNNING + HALF + RENTED.replace('option a', 'option b') + 'engineers = 0 FTE\n' + HALF
    answer = run_json('compare', write(folder, text + PRICE.replace('list_price', '[option c]\naccelerator = h100-sxm\n'
                                                                    'throughput = 2000 token/s\nlist_price')))
    late = {one['id']: one.get('late') for one in answer['options']}
    items = {one['id']: one['items'] for one in answer['options']}
    on_time = told(folder, text, '--set', 'a.delivery_delay=0 month')['a']
    a = late['a']
    near(a['on_time_cost_per_mtok'], on_time['cost_per_mtok'], 'cost on time')
    near(a['late_increase'], 100 * (items['a']['cost_per_mtok'] / on_time['cost_per_mtok'] - 1), 'increase')
    near((items['a']['tco'] - a['late_damages']) / items['a']['tokens_total'] * 1e6, on_time['cost_per_mtok'], 'offset')
    near(a['late_damages_per_week'], a['late_damages'] / (8760 / 4 / 168), 'per week')
    near(a['late_damages_share'], 100 * a['late_damages_per_week'] / (HARDWARE / 2), 'share')
    expect('late_damages_share' not in late['b'] and abs(late['b']['late_damages']) < 1e-6, f'a rent alone: {late["b"]}')
    expect(late['c'] is None, f'on time: {late["c"]}')
    shown = run('compare', Path(folder, 'late.ini'), environment={'COLUMNS': '120'}).stdout
    for words in ('Late delivery', 'Damages per week of delay', 'Delivery delay'):
        expect(words in shown, shown)
    expect('Late delivery' not in run('compare', Path(folder, 'late.ini'), '--set', 'a.delivery_delay=0 month', '--set',
                                      'b.delivery_delay=0 month').stdout, 'nothing is late')


# A clause, a delay: the shares of the late hardware's price that are due, and the week in which the cap is reached.
# A month has 730 h, so three of them 13 weeks and six hours: in the fourteenth week.
CLAUSES = {
    'by the week begun': (WEEKLY, '8 week', 4, 10), 'a day of the ninth week': (WEEKLY, '57 day', 4.5, 10),
    'up to its cap': (WEEKLY, '3 month', 5, 10), 'far beyond its cap': (WEEKLY, '16 month', 5, 10),
    'after a grace period': (WEEKLY + 'delay_grace = 3 week\n', '8 week', 2.5, 13),
    'within the grace period': (WEEKLY + 'delay_grace = 3 week\n', '21 day', 0, 13),
    'by the day begun': ('delay_damages = 0.1 %\ndelay_damages_per = 1 day\ndelay_damages_limit = 3 %\n', '12.5 day', 1.3, 30 / 7),
    'a cap within a week': ('delay_damages = 2 %\ndelay_damages_limit = 5 %\n', '3 week', 5, 3),
    'no cap': ('delay_damages = 2 %\n', '3 month', 28, 50),
    'no damages': ('delay_damages = 0 %\ndelay_grace = 2 week\n', '3 month', 0, 2)}


def check_clause(folder, name):
    """The share of the late half's price is a credit of the period in which it arrives; it offsets so much of the cost."""
    clause, delay, percents, weeks = CLAUSES[name]
    text = HEAD + BOUGHT + RUNNING + f'delivery_delay = {delay}\nlate_share = 50 %\n'
    paid = percents / 100 * HARDWARE / 2
    one = run_json('compare', write(folder, text + clause))['options'][0]
    credit = [0, -paid, 0] if not delay.startswith('16') else [0, 0, -paid]
    expect_items(one['items'], {'damages_credit': credit, 'damages_total': -paid, 'delay_covered': weeks,
                                'vendor_credit': credit})
    plain = run_json('compare', write(folder, text))['options'][0]
    near(one['items']['tco'], plain['items']['tco'] - paid, 'tco')
    for key in ('late_increase', 'late_damages', 'late_damages_per_week', 'late_damages_share', 'on_time_cost_per_mtok'):
        near(one['late'][key], plain['late'][key], key)
    near(one['late']['late_damages_paid'], paid, 'paid')
    near(one['late']['late_damages_uncovered'], max(0, plain['late']['late_damages'] - paid), 'uncovered')
    expect('late_damages_paid' not in plain['late'], plain['late'])


def test_remedies(folder):
    """Beside a remedy for slow accelerators both are credited; without damages another option may cost least."""
    short = 'remedy = 1 %\nguaranteed_throughput = 2500 token/s\n'
    text = HEAD + BOUGHT + HALF + WEEKLY + short
    items = told(folder, text)['a']
    expect_items(items, {'remedy_total': -0.2 * HARDWARE, 'damages_total': -0.05 * HARDWARE / 2,
                         'vendor_credit': [0, -0.225 * HARDWARE, 0]})
    rival = BOUGHT.replace('option a', 'option b') + 'list_price = 32000 USD\n'
    rival = rival.replace(PRICE, '')
    answer = run_json('compare', write(folder, HEAD + BOUGHT + HALF + WEEKLY + rival))
    expect(answer['cheapest'] == ['a'], answer['cheapest'])
    expect(any(said.startswith('a costs least only with what its vendor owes for a delay; without any damages, b does, ')
               for said in answer['warnings']), answer['warnings'])
    expect("the vendor's damages for the delay, 5 % of the price of what is late, are counted as received"
           in answer['options'][0]['warnings'], answer['options'][0]['warnings'])
    shown = run('compare', Path(folder, 'late.ini'), environment={'COLUMNS': '120'}).stdout
    for words in ("Contract's damages for this delay", 'Left uncovered', 'Delay beyond which the damages are capped'):
        expect(words in shown, shown)


def mean_damages(price_usd, late_share):
    """How often they are due, what the delay costs, what is paid and what is left of it, means over delays of up to six
    months, by numpy: half of the horizon's accelerator-time is in a year, and weeks begin after a grace of two."""
    import numpy
    delay_h = (numpy.arange(600000) + 0.5) / 600000 * 4380
    weeks = numpy.maximum(0, numpy.ceil((delay_h - 336) / 168))
    bought = 80 * price_usd * late_share
    lost, paid = bought * delay_h / (2 * 8760), bought * numpy.minimum(0.005 * weeks, 0.05)
    return [(weeks > 0).mean(), lost.mean(), paid.mean(), numpy.maximum(0, lost - paid).mean()]


def test_draws(folder):
    """Over the draws, damages are due, and cover what the delays cost, as often and as much as numpy finds."""
    free = HEAD.replace('0.1 USD/kWh', '0 USD/kWh').replace('engineers = 1 FTE\nengineer_cost = 200000 USD/yr\n', '')
    ranges = '[range]\na.delivery_delay = uniform(0, 6) month\na.list_price = uniform(20000, 40000) USD\n'
    path = write(folder, free + BOUGHT + HALF + WEEKLY + 'delay_grace = 2 week\n'
                 + BOUGHT.replace('option a', 'option b') + ranges)
    answer = run_json('simulate', path, '--draws', '8192')
    wanted = mean_damages(30000, 0.5)
    expect(list(answer['damages']) == ['a'], answer['damages'])
    for name, value in zip(('due', 'delay_cost', 'paid', 'uncovered'), wanted):
        found = answer['damages']['a'][name]
        expect(abs(found / value - 1) < 2e-3, f'{name}: {found}, not {value}')
    of = answer['damages']['a']
    words = (f'Late delivery: a: damages are due in {100 * of["due"]:.3g} % of the first 4,096 draws; on average the delay costs '
             f'{of["delay_cost"]:,.0f} USD, of which they cover {100 * (1 - of["uncovered"] / of["delay_cost"]):.3g} %')
    expect(words in ' '.join(run('simulate', path, '--draws', '8192').stdout.split()), words)
    book = Path(folder, 'late.xlsx')
    expect_exit(run('report', path, '-o', book, '--draws', '8192'), 0)
    expect(words in zipfile.ZipFile(book).read('xl/sharedStrings.xml').decode(), 'on the sheet Simulation')
    lines = run('simulate', path, '--draws', '8192', '--format', 'csv').stdout
    expect(f'"uncovered","a","USD","mean",{of["uncovered"]!r}' in lines, lines)
    parts = [Path(folder, f'{shard}.json') for shard in (1, 2)]
    for shard, part in enumerate(parts, 1):
        expect_exit(run('simulate', path, '--draws', '8192', '--shard', f'{shard}/2', '-o', part), 0)
    expect(run_json('merge', *parts)['damages'] == answer['damages'], 'merged')


OFFER = """[offer]
vendor = Example Compute
reference = Q-1
date = 2026-10-01
currency = USD
accelerator = h100-sxm
accelerators = 80
[price]
accelerators = 30000 USD/gpu
"""


def test_offer(folder):
    """The terms of an offer apply where something is late, and cost nothing where it is not; another offer has its own."""
    quoted = HEAD.replace('accelerators = 80\n', '') + OPTION + 'quote = offer.ini\n'
    other = '[case other]\na.quote = other.ini\n'
    Path(folder, 'offer.ini').write_text(OFFER + '[terms]\n' + WEEKLY + 'delay_grace = 3 week\n', encoding='utf-8')
    Path(folder, 'other.ini').write_text(OFFER.replace('Q-1', 'Q-2'), encoding='utf-8')
    on_time = told(folder, quoted + other)['a']
    expect('damages_total' not in on_time, on_time)
    late = 'delivery_delay = 8 week\nlate_share = 50 %\n'
    near(told(folder, quoted + late)['a']['damages_total'], -0.025 * HARDWARE / 2, 'by the offer')
    for case, share in (('base', 0.025), ('other', 0)):
        near(told(folder, quoted + late + other, '--case', case)['a']['damages_total'], -share * HARDWARE / 2, case)
    swapped = quoted.replace('offer.ini', 'other.ini') + late + other.replace('other.ini', 'offer.ini')
    for case, share in (('base', 0), ('other', 0.025)):
        near(told(folder, swapped, '--case', case)['a']['damages_total'], -share * HARDWARE / 2, case)
    near(told(folder, quoted + late, '--set', 'a.delay_grace=0 week')['a']['damages_total'], -0.04 * HARDWARE / 2, 'set')
    tree = run('explain', Path(folder, 'late.ini'), 'a.damages_share').stdout
    expect('delay_damages = 0.5 %' in tree and 'offer.ini:11)' in tree, tree)


def test_varied(folder):
    """In a case, over a range, solved for, in the tornado, against a scenario that has none."""
    text = HEAD + BOUGHT + HALF + BOUGHT.replace('option a', 'option b') + 'list_price = 32000 USD\n'
    text = text.replace(PRICE + 'list_price = 32000 USD\n', 'list_price = 32000 USD\n')
    path = write(folder, text + '[case later]\na.delivery_delay = 6 month\n[range]\na.delivery_delay = triangular(0, 3, 9) month\n')
    expect_items(run_json('compare', path, '--case', 'later')['options'][0]['items'], {'in_service': [0, 60, 80]})
    drawn = next(one for one in run_json('simulate', path, '--draws', '4096')['outcomes']
                 if (one['option'], one['kind']) == ('a', 'cost'))['percentiles']
    expect(drawn['P5'] < drawn['P50'] < drawn['P95'], drawn)
    expect('a.delivery_delay' in {one['input'] for one in run_json('sensitivity', path)['swings']}, 'no swing')
    delay = run_json('solve', path, '--option', 'a', '--match', 'b', '--for', 'delivery_delay')['values'][0]
    items = told(folder, text, '--set', f'a.delivery_delay={delay:.15g} month')
    near(items['a']['cost_per_mtok'], items['b']['cost_per_mtok'], 'cost at the solved delay')
    write(folder, text.replace(HALF, HALF + WEEKLY))
    other = Path(folder, 'other.ini')
    other.write_text(HEAD + BOUGHT, encoding='utf-8')
    for one, two in ((other, Path(folder, 'late.ini')), (Path(folder, 'late.ini'), other)):
        pair = run_json('diff', one, two)['options'][0]
        near(pair['together']['cost_per_mtok'], pair['results']['cost_per_mtok']['b'], 'all inputs of the other')


def test_lent(folder):
    """A token API that serves as many tokens as an option of which a part is late."""
    api = ('[option c]\ninput_price = 1 USD/Mtok\noutput_price = 2 USD/Mtok\ninput_tokens = 100 token\n'
           'output_tokens = 100 token\ntokens_of = a\n')
    expect_items(told(folder, HEAD + BOUGHT + HALF + api)['c'], {'tokens': [0, TOKENS * 7 / 8, TOKENS]})


API = '[option a]\noutput_price = 2 USD/Mtok\ndemand = 1000 Mtok/yr\n'
REFUSED = {
    'a negative delay': (BOUGHT + 'delivery_delay = -1 month\n', "'delivery_delay' must be at least 0 month, not -1 month"),
    'a delay without its unit': (BOUGHT + 'delivery_delay = 3\n', "'3' has no unit"),
    'a share without a delay': (BOUGHT + 'late_share = 50 %\n',
                                "'late_share' has no effect on option 'a' without 'delivery_delay'"),
    'more than all': (BOUGHT + 'delivery_delay = 3 month\nlate_share = 101 %\n', "'late_share' must be at most 100 %"),
    'past the horizon': (BOUGHT + 'delivery_delay = 24 month\n',
                         "option 'a' has a 'delivery_delay' of 24 month: what is late never arrives within 2 yr"),
    'past the horizon of a case': (BOUGHT + HALF + '[case short]\nhorizon = 3 month\n', 'never arrives within 0.25 yr'),
    'of a rent': (RENTED + 'delivery_delay = 25 month\n', 'never arrives within 2 yr'),
    'retired before it arrives': (BOUGHT + 'life = 1 yr\ndelivery_delay = 12 month\n',
                                  "a 'delivery_delay' of 12 month: what is late would be retired before it arrives"),
    'damages without a delay': (BOUGHT + WEEKLY, "'delay_damages' has no effect on option 'a' without 'delivery_delay'"),
    'a cap of nothing': (BOUGHT + HALF + 'delay_damages_limit = 5 %\n',
                         "'delay_damages_limit' has no effect on option 'a' without 'delay_damages'"),
    'no time that counts': (BOUGHT + HALF + WEEKLY + 'delay_damages_per = 0 week\n', "'delay_damages_per' must be above 0 week"),
    'more than the price': (BOUGHT + HALF + 'delay_damages = 1 %\ndelay_damages_limit = 101 %\n',
                            "'delay_damages_limit' must be at most 100 %"),
    'damages of a rent': (RENTED + HALF + WEEKLY, "'delay_damages' is part of the rent of option 'a'"),
    'a delay of tokens': (API + 'delivery_delay = 3 month\n', "'delivery_delay'"),
}


def check_refused(folder, name):
    text, message = REFUSED[name]
    expect_exit(run('compare', write(folder, HEAD + text)), BAD_INPUT, message)


CLOUD = RENTED.replace('[option a]', '[option cloud]')
ASKED = {
    'rent': '[rent one]\nown = a\ncloud = cloud\n',
    'wait': '[wait a]\nmonths = 6\nmeanwhile = cloud\n',
    'route': '[demand one]\ntokens = 1000 Mtok/yr\n',
}


def check_asked(folder, command):
    """Questions about fleets that stay unchanged are refused for others; a plan has delays of its own."""
    done = run(command, write(folder, HEAD + BOUGHT + HALF + CLOUD + ASKED[command]))
    expect_exit(done, BAD_INPUT, "option 'a' changes when what is late arrives (see its 'delivery_delay')")
    expect("this question covers only constant fleets: use 'pertoken compare' for others" in done.stderr, done.stderr)


def test_plan(folder):
    done = run('plan', write(folder, HEAD + BOUGHT + HALF + '[plan]\ntime = 1\n[demand one]\ntokens = 1000 Mtok/yr\n'))
    expect_exit(done, BAD_INPUT, "has a 'delivery_delay': for a plan, give the 'delay' of its [supply OPTION]")


if __name__ == '__main__':
    run_tests(globals(), periods=(LONG, check_periods), contract=(CLAUSES, check_clause),
              asked=(ASKED, check_asked), refused=(REFUSED, check_refused))
