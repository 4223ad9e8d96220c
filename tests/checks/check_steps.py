#!/usr/bin/python3
"""Lists with a step: two deliveries in a year, each paid when it arrives; which value holds in which period, where a
list may stand, and what is refused.

Seconds: 20
"""
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, DONE, ROOT, Count, expect, expect_exit, near, run, run_json

HEAD = """\
[scenario]
title = Steps
date = 2026-11-20
horizon = {horizon}
period = {period} month
[common]
accelerators_per_node = 8
utilization = 60 %
pue = 1.2
load_power = 700 W
wacc = 8 %/yr
support = 4 %/yr
engineer_cost = 120000 USD/FTE/yr
{common}
[option a]
accelerator = h200-sxm-141
{own}
{more}"""
PLAIN = {'list_price': 'list_price = 30000 USD', 'throughput': 'throughput = 2000 token/s',
         'accelerators': 'accelerators = 64', 'electricity_price': 'electricity_price = 0.1 USD/kWh'}


def told(folder, *lists, horizon='18 month', period=3, common='', more='', name='steps.ini'):
    """A scenario whose option has these lists; what they do not state is a single number."""
    said = {line.split(' = ')[0] for line in (*lists, *common.splitlines())}
    own = [*lists, *(line for key, line in PLAIN.items() if key not in said)]
    path = Path(folder, name)
    path.write_text(HEAD.format(horizon=horizon, period=period, common=common, own='\n'.join(own), more=more),
                    encoding='utf-8')
    return path


def items(path, *arguments):
    return run_json('compare', path, *arguments)['options'][0]['items']


STAFF = 120000 * 0.25  # USD of one for a quarter
STAFFED = 'engineers = 4, 3, 2 FTE every 6 month'
# Lists, further arguments and common lines, and the engineers of each of six quarters.
SERIES = {
    'a list': ((STAFFED,), (), '', (4, 4, 3, 3, 2, 2)),
    'the last value holds on': (('engineers = 4, 3 FTE every 3 month',), (), '', (4, 3, 3, 3, 3, 3)),
    'each with a unit': (('engineers = 4 FTE, 3 FTE every 3 month',), (), '', (4, 3, 3, 3, 3, 3)),
    'in years': (('engineers = 4, 3 FTE every 1 yr',), (), '', (4, 4, 4, 4, 3, 3)),
    'in days': (('engineers = 4, 3 FTE every 91.25 day',), (), '', (4, 3, 3, 3, 3, 3)),
    'over a year': (('engineers = 4, 3 FTE every 15 month',), (), '', (4, 4, 4, 4, 4, 3)),
    'by --set': ((), ('--set', 'a.engineers=5, 1 FTE every 3 month'), '', (5, 1, 1, 1, 1, 1)),
    'a number by --set': ((STAFFED,), ('--set', 'a.engineers=6 FTE'), '', (6,) * 6),
    'one value by --set': ((STAFFED,), ('--set', 'a.engineers_step_2=9 FTE'), '', (4, 4, 9, 9, 2, 2)),
    'all by their scale': ((STAFFED,), ('--set', 'a.engineers_scale=50 %'), '', (2, 2, 1.5, 1.5, 1, 1)),
    'for all options': ((), (), STAFFED, (4, 4, 3, 3, 2, 2)),
    'beside one by year': ((STAFFED, 'list_price = 30000, 20000 USD'), (), '', (4, 4, 3, 3, 2, 2)),
    'growing as well': ((STAFFED,), ('--set', 'wage_growth=10 %/yr'), '',
                        tuple(n * 1.1 ** (t / 4) for t, n in enumerate((4, 4, 3, 3, 2, 2)))),
}


def check_series(folder, lists, arguments, common, wanted):
    found = items(told(folder, *lists, common=common), *arguments)['engineering_cost']
    expect(found[0] == 0 and len(found) == 7 and all(near(f, w * STAFF) for f, w in zip(found[1:], wanted)), found)


CASES = '[case lean]\na.engineers = 2, 1 FTE every 6 month\n[case one]\na.engineers = 7 FTE\n'


def check_cases(folder):
    path = told(folder, STAFFED, more=CASES)
    for case, wanted in (('base', (4, 4, 3, 3, 2, 2)), ('lean', (2, 2, 1, 1, 1, 1)), ('one', (7,) * 6)):
        found = items(path, '--case', case)['engineering_cost'][1:]
        expect(all(near(f, w * STAFF) for f, w in zip(found, wanted)), f'{case}: {found}')


def check_inherited(folder):
    """A child's number replaces the list with the values that are stated alone, and vice versa."""
    told(folder, STAFFED, 'engineers_step_3 = 9 FTE')
    child = Path(folder, 'child.ini')
    for said, wanted in (('', (4, 4, 3, 3, 9, 9)), ('engineers = 1 FTE', (1,) * 6),
                         ('engineers = 1, 2, 3 FTE every 6 month', (1, 1, 2, 2, 3, 3)),
                         ('engineers = 1, 2 FTE every 3 month', (1, 2, 2, 2, 2, 2))):
        child.write_text(f'[scenario]\ninherits = steps.ini\n[option a]\n{said}\n', encoding='utf-8')
        found = items(child)['engineering_cost'][1:]
        expect(all(near(f, w * STAFF) for f, w in zip(found, wanted)), f'{said}: {found}')


FEE = '[item fee]\nlabel = Fee\nunit = USD/yr\ngroup = opex\nformula = {}\n'


def check_items(folder):
    """An item's formula may be such a list; its numbers are inputs."""
    path = told(folder, more=FEE.format('800, 2 * 300 USD/yr, 400 USD/yr every 6 month').replace('800,', '800 USD/yr,'))
    for arguments, third in (((), 400), (('--set', 'fee_4=480 USD/yr'), 480)):
        found = items(path, *arguments)['other_cost'][1:]
        expect(all(near(f, w) for f, w in zip(found, (200, 200, 150, 150, third / 4, third / 4))), found)


def check_currency(folder):
    """Amounts of a list in the report's currency or all in USD, at its rate."""
    head = 'currency = EUR\nexchange_rate = 1.25 USD/EUR\nexchange_rate.source = x\nexchange_rate.date = 2026\n[common]'
    for amounts, rate in (('30000, 20000 EUR', 1), ('30000, 20000 USD', 1.25)):
        path = told(folder, f'list_price = {amounts} every 6 month', 'accelerators = 64, 128 gpu every 6 month',
                    'electricity_price = 0.1 EUR/kWh')
        text = path.read_text(encoding='utf-8').replace('[common]', head, 1).replace('120000 USD', '120000 EUR')
        path.write_text(text, encoding='utf-8')
        found = items(path)['accelerators_paid']
        wanted = [0, 64 * 30000 / rate, 0, 64 * 20000 / rate, 0, 0, 0]
        expect(all(near(f, w) if w else f == 0 for f, w in zip(found, wanted)), found)
    path.write_text(text.replace('30000, 20000 USD', '30000 EUR, 20000 USD'), encoding='utf-8')
    expect_exit(run('compare', path), BAD_INPUT, 'a list is in one currency')


# ---- two deliveries

def check_two_deliveries(folder):
    """Half is bought, paid, supported and depreciated from the second delivery on, against plain arithmetic."""
    path = told(folder, 'accelerators = 64, 128 gpu every 6 month', common='book_life = 5 yr\nnode_price = 40000 USD',
                horizon='2 yr')
    got, half = items(path), 64 * 30000 + 8 * 40000
    there = [0] + [64 if t < 3 else 128 for t in range(1, 9)]
    expect(got['in_service'] == there, got['in_service'])
    expect(got['purchases'] == [half, 0, half] + 6 * [0], got['purchases'])
    support = [n / 64 * half * 0.04 / 4 for n in there]
    power = [n * 700 * 1.2 / 1000 * 2190 * 0.1 for n in there]
    tokens = [n * 2000 * 3600 * 2190 * 0.6 for n in there]
    paid_for = sum((paid + s + p) / 1.08 ** (t / 4) for t, (paid, s, p) in enumerate(zip(got['purchases'], support, power)))
    made = sum(n / 1.08 ** (t / 4) for t, n in enumerate(tokens)) / 1e6
    expect(all(near(f, w) for f, w in zip(got['support_cost'][1:], support[1:])), got['support_cost'])
    expect(all(near(p + c, w) for p, c, w in zip(got['power_cost'][1:], got['cooling_cost'][1:], power[1:])), got['power_cost'])
    expect(near(sum(got['tokens']), sum(tokens)), got['tokens'])
    expect(near(got['levelised_cost_per_mtok'], paid_for / made), f"{got['levelised_cost_per_mtok']}, not {paid_for / made}")
    aged = [half * (1 - t / 20) + (half * (1 - (t - 2) / 20) if t >= 2 else 0) for t in range(9)]
    expect(all(near(f, w) for f, w in zip(got['book_value'][:8], aged)), (got['book_value'], aged))


def check_against_late(folder):
    """As a late half that is paid at the outset, except for the date and what follows from it."""
    stepped = items(told(folder, 'accelerators = 64, 128 gpu every 6 month', horizon='2 yr'))
    late = items(told(folder, 'accelerators = 128', 'delivery_delay = 6 month', 'late_share = 50 %', horizon='2 yr'))
    for name in ('capex', 'tokens', 'power_cost', 'support_cost', 'tco', 'cost_per_mtok'):
        a, b = stepped[name], late[name]
        expect(all(near(f, w) if w else f == w for f, w in zip(a, b)) if isinstance(a, list) else near(a, b), f'{name}: {a}, {b}')
    earlier = late['capex'] / 2 * (1 - 1 / 1.08 ** 0.5)
    expect(near(late['npv_cost'] - stepped['npv_cost'], earlier), (late['npv_cost'], stepped['npv_cost'], earlier))


# ---- which step it is

INPUTS = ('engineers = 2, 1 FTE', 'electricity_price = 0.1, 0.2 USD/kWh', 'utilization = 50, 60 %',
          'throughput = 2000, 2100 token/s', 'list_price = 30000, 29000 USD', 'discount = 5, 6 %',
          'colo_rate = 100, 110 USD/kW/month', 'accelerators = 8, 16 gpu')


def series_of(months):
    return f'step_{months // 12}_yr' if months % 12 == 0 else f'step_{months}_month'


def check_exact(folder, period):
    """The number of the step is exact in every period of thirty years, whatever the period and the step."""
    steps = list(range(period, 61, period))
    while steps:
        some, steps = steps[:len(INPUTS)], steps[len(INPUTS):]
        lists = [f'{line} every {months} month' for line, months in zip(INPUTS, some)]
        path = told(folder, *lists, *INPUTS[len(some):], horizon='30 yr', period=period)
        path.write_text(path.read_text(encoding='utf-8').replace('utilization = 60 %\n', '', 1), encoding='utf-8')
        found = items(path)
        for months in some:
            wanted = [0] + [t * period // months for t in range(360 // period)]
            expect(found[series_of(months)] == wanted, f'{months} month by {period}: {found[series_of(months)]}')


# ---- refused, and warned of

MANY = ', '.join(['1'] * 61)
# Lists, further arguments, and the message with its place.
BAD = {
    'no whole number of periods': (('engineers = 2, 1 FTE every 4 month',), (), "{line}:28: error: a step of 4 month is not a whole number of "
                                   "periods of 3 month; [scenario] period = 4 month would do"),
    'a part of a period': (('engineers = 2, 1 FTE every 1 month',), (), 'a step of 1 month is not a whole number of periods of 3 month'),
    'no period would do': (('engineers = 2, 1 FTE every 26 week',), (), 'a step of 182 day is not a whole number of periods of 3 month; '
                           'no [scenario] period would do: give steps in whole months'),
    'two steps': (('engineers = 2, 1 FTE every 6 month',), ('--set', 'a.engineers=2, 1 FTE every 3 month'),
                  "--set:1:28: error: 'engineers' goes every 3 month here, and every 6 month at {path}:{line}: all lists of an input have "
                  "one step"),
    'a step and years': (('engineers = 2, 1 FTE every 6 month',), ('--set', 'a.engineers=2, 1 FTE'),
                         "--set:1:13: error: 'engineers' goes by year here, and every 6 month at {path}:{line}"),
    'of a single value': (('engineers = 2 FTE every 6 month',), (), "{line}:25: error: 'every' is for a list, such as"),
    'of an item with one formula': ((), (), "'every' is for a list, such as", FEE.format('800 USD/yr every 6 month')),
    'a list by age': (('resale = 50, 40 % every 6 month',), (), "{line}:25: error: 'resale' is a list by age: 'every' is for lists by time"),
    'no number': (('engineers = 2, 1 FTE every month',), (), "{line}:28: error: expected a quantity such as '100 month', not 'month'"),
    'no time': (('engineers = 2, 1 FTE every 6 kg',), (), "wrong unit 'kg': expected a quantity such as '100 month'"),
    'nothing': (('engineers = 2, 1 FTE every 0 month',), (), '{line}:28: error: the step of a list must be above 0 month and at most 30 yr, not 0 month'),
    'too long': (('engineers = 2, 1 FTE every 31 yr',), (), 'must be above 0 month and at most 30 yr, not 31 yr'),
    'too many values': ((), ('--set', f'a.engineers={MANY} FTE every 3 month'), 'a list has at most 60 values with a step, not 61'),
    'an empty value': (('engineers = 2, , 1 FTE every 3 month',), (), '{line}:16: error: expected the value of step 2, not nothing'),
    'beside its rate': (('electricity_price = 0.1, 0.2 USD/kWh every 3 month', 'electricity_escalation = 1 %/yr'), (),
                        "has both 'electricity_price' as a list every 3 month and 'electricity_escalation': give only one"),
    'an input without lists': (('pue = 1.2, 1.3 every 6 month',), (), "'pue' is one value for all years"),
    'tiers': (('discount = 8 % from 100 gpu, 9 % from 200 gpu every 6 month',), (), "unknown unit 'every'"),
    'a year of a list with a step': (('engineers = 2, 1 FTE every 6 month', 'engineers_year_2 = 1 FTE'), (), "unknown key 'engineers_year_2'"),
    'a value by itself': (('engineers = 2 FTE',), ('--set', 'a.engineers_step_2=1 FTE'), "unknown key 'engineers_step_2'"),
}


def check_refused(folder, lists, arguments, message, more=''):
    common = '' if lists or more else 'engineers = 1 FTE'
    path = told(folder, *lists, common=common, more=more)
    if lists and lists[0].startswith('pue'):
        path.write_text(path.read_text(encoding='utf-8').replace('pue = 1.2\n', '', 1), encoding='utf-8')
    line = len(path.read_text(encoding='utf-8').partition(lists[0] if lists else '[option a]')[0].splitlines()) + 1
    expect_exit(run('compare', path, *arguments), BAD_INPUT, message.format(path=path, line=line))


def check_one_step(folder):
    """For all options and cases; the same step may be written in two ways."""
    path = told(folder, STAFFED, more='[case b]\na.engineers = 1, 2 FTE every 3 month\n')
    expect_exit(run('compare', path), BAD_INPUT, "'engineers' goes every 3 month here, and every 6 month at")
    path = told(folder, 'engineers = 1, 2 FTE every 12 month', more='[case b]\na.engineers = 1, 2 FTE every 1 yr\n')
    expect_exit(run('compare', path), DONE)


def check_warned(folder):
    path = told(folder, 'engineers = 1, 2, 3, 4 FTE every 6 month')
    warned = run('compare', path).stderr
    expect("'engineers' has 4 values, every 6 month; those beyond the horizon of 18 month have no effect" in warned, warned)
    expect('beyond' not in run('compare', path, '--set', 'horizon=19 month').stderr, 'the fourth holds')
    path = told(folder, 'accelerators = 64, 68 gpu every 6 month')
    warned = run('compare', path).stderr
    expect('of 68 accelerators after 6 month, sold in units of 8' in warned, warned)


# ---- questions

def check_questions(folder):
    path = told(folder, 'accelerators = 64, 128 gpu every 6 month')
    asked = ('solve', path, '--option', 'a', '--target', '0.5 USD/Mtok', '--for')
    expect_exit(run(*asked, 'accelerators'), BAD_INPUT,
                "'accelerators' is a list every 6 month: use accelerators_scale for the whole list, or accelerators_step_1")
    path = told(folder, STAFFED)
    for name, at in (('engineers_scale', '170 %'), ('engineers_step_2', '5 FTE')):
        target = items(path, '--set', f'a.{name}={at}')['cost_per_mtok']
        found = run_json('solve', path, '--option', 'a', '--for', name, '--target', f'{target!r} USD/Mtok')
        expect(near(found['values'][0], float(at.split()[0]), 1e-6), f'{name}: {found["values"]}')
    named = [swing['input'] for swing in run_json('sensitivity', told(folder, STAFFED, more=SECOND))['swings']]
    expect('a.engineers_scale' in named, named)
    tree = run('explain', path, 'a.engineers@3', '-q').stdout
    for part in ('engineers[3] = 3 FTE', 'engineers_step_2 = 3 FTE', 'step_6_month[3] = 1', 'floor(elapsed / 6 month)'):
        expect(part in tree, f'{part!r} is not in\n{tree}')


SECOND = '[option b]\naccelerator = mi325x-256\nlist_price = 20000 USD\nthroughput = 1900 token/s\naccelerators = 64\n' \
    'electricity_price = 0.1 USD/kWh\n'
RENTED = '[option b]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/gpu/h\nthroughput = 2000 token/s\naccelerators = 64\n'


def check_constant(folder):
    """Questions for constant fleets and steady costs refuse what changes with a step, and say how it changes."""
    path = told(folder, 'accelerators = 64, 128 gpu every 6 month', more=RENTED)
    expect_exit(run('rent', path), BAD_INPUT, "as a changes every 6 month (see its 'in_service')")
    path = Path(folder, 'wait.ini')
    text = (ROOT / 'examples' / 'wait.ini').read_text(encoding='utf-8')
    text = text.replace('[scenario]\n', '[scenario]\nperiod = 6 month\n', 1)
    path.write_text(text.replace('[common]\n', '[common]\nengineers = 2, 1 FTE every 6 month\nengineer_cost = 1 USD/FTE/yr\n', 1),
                    encoding='utf-8')
    expect_exit(run('wait', path), BAD_INPUT, "option 'b200' has costs every 6 month, from 'engineers', which are not defined")


def check_left_out(folder):
    """A cost whose values are all zero is not included; one value is enough."""
    for values, missing in (('0, 0', True), ('0, 1', False)):
        done = run('compare', told(folder, f'electricity_price = {values} USD/kWh every 6 month'))
        expect(('electricity' in done.stderr.partition('not included')[2].partition('\n')[0]) == missing, done.stderr)


def check_range(folder):
    """A range in % is a factor on the whole list."""
    path = told(folder, STAFFED, more='[range]\na.engineers = uniform(50, 150) %\n')
    outcomes = run_json('simulate', path, '--draws', 4096)['outcomes']
    found = next(o['percentiles'] for o in outcomes if o['kind'] == 'cost')
    for percentile, share in (('P5', 55), ('P50', 100), ('P95', 145)):
        wanted = items(path, '--set', f'a.engineers_scale={share} %')['cost_per_mtok']
        expect(near(found[percentile], wanted, 1e-3), f'{percentile}: {found[percentile]}, not {wanted}')


def check_compared(folder):
    """Two scenarios whose lists have different steps, or none, differ in what they cost."""
    texts = ('accelerators = 64, 128 gpu every 6 month', 'accelerators = 64, 96, 128 gpu every 9 month',
             'accelerators = 64, 128 gpu', 'accelerators = 100')
    paths = [told(folder, text, name=f'compared-{number}.ini') for number, text in enumerate(texts)]
    for a in paths:
        for b in (one for one in paths if one != a):
            done = run('diff', a, b, '--format', 'json', '-q')
            expect(done.returncode in (DONE, 1), done.stderr)
            for path in (a, b):
                expect(f"{items(path)['tco']:.9g}"[:8] in done.stdout, f'{path.name} of {a.name}, {b.name}')
    unlike = run('diff', *paths[:2], '-q').stdout
    expect('accelerators, after 6 month' in unlike and '_step_' not in unlike, unlike)  # neither file's step is the common one
    alike = run('diff', paths[0], told(folder, 'accelerators = 64, 160 gpu every 6 month', name='alike.ini'), '-q').stdout
    expect('accelerators_step_2' in alike and 'after' not in alike, alike)
    year = told(folder, 'accelerators = 64, 128 gpu', period=12, horizon='3 yr', name='year.ini')
    month = told(folder, f"engineers = {', '.join(['1'] * 50)} FTE every 1 month", period=1, horizon='3 yr', name='month.ini')
    expect_exit(run('diff', year, paths[0], '-q'), DONE)
    long = told(folder, f"engineers = {', '.join(['1'] * 30)} FTE", period=1, horizon='3 yr', name='long.ini')
    expect_exit(run('diff', long, month), BAD_INPUT, "comparing the lists of 'engineers' takes a value every 1 month, 349 in all")


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for name, case in SERIES.items():
            count.test(name, check_series, folder, *case)
        for period in (1, 2, 3, 4, 6, 12):
            count.test(f'thirty years by {period} month', check_exact, folder, period)
        for name, case in BAD.items():
            count.test(name, check_refused, folder, *case)
        for check in (check_cases, check_inherited, check_items, check_currency, check_two_deliveries, check_against_late,
                      check_one_step, check_warned, check_questions, check_constant, check_left_out, check_range,
                      check_compared):
            count.test(check.__name__, check, folder)
    count.finish()


if __name__ == '__main__':
    main()
