#!/usr/bin/python3
"""Whose extra outlay finance examines, and whether it pays: on the terminal, in CSV and JSON and in the
workbook's live formulas.

The expected results are computed here from both options' cash, the baseline's discount factors and the lengths of the
periods in compare's JSON. In some rows the cheaper option costs less to buy, in others more. PERTOKEN names the program.
"""
import sys
import tempfile
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import xlsx  # noqa: E402
from support.golden import Folder, equal, narrow  # noqa: E402
from support.program import Count, ROOT, expect, near, run, run_csv, run_json  # noqa: E402

VIEWS = ROOT / 'examples' / 'finance-views.ini'
CLOUD = ROOT / 'examples' / 'cloud.ini'
# Name: (scenario, settings, option, whose extra outlay is examined, whether it pays, the sentence's end)
OUTLAYS = {
    'cheaper to buy and in all': (VIEWS, (), 'mi325x', 'H200 over MI325X', 'no',
                                  'saves 4,561,690 USD in all: the extra outlay for H200 does not pay.'),
    'cheaper to buy, dearer in all': (VIEWS, ('--case', 'software_lags'), 'mi325x', 'H200 over MI325X', 'yes',
                                      'earns back in 2.49 yr: the extra outlay for H200 pays.'),
    'dearer to buy, cheaper in all': (VIEWS, ('--case', 'software_lags', '--set', 'mi325x.list_price=36000 USD',
                                              '--set', 'h200.engineers=40 FTE'), 'mi325x', 'MI325X over H200', 'yes',
                                      'the extra outlay for MI325X pays.'),
    'not at the discount rate': (VIEWS, ('--case', 'software_lags', '--set', 'wacc=12.5 %/yr'), 'mi325x',
                                 'H200 over MI325X', 'only undiscounted', 'but not once it is discounted.'),
    'in a last period cut short': (VIEWS, ('--case', 'software_lags', '--set', 'horizon=2.75 yr'), 'mi325x',
                                   'H200 over MI325X', 'yes', 'the extra outlay for H200 pays.'),
    'in one period, cut short': (VIEWS, ('--case', 'software_lags', '--set', 'horizon=8 month', '--set',
                                         'mi325x.engineers=40 FTE'), 'mi325x', 'H200 over MI325X', 'yes',
                                 'the extra outlay for H200 pays.'),
    'with a lower rate of the other option': (VIEWS, ('--case', 'software_lags', '--set', 'wacc=14 %/yr', '--set',
                                                      'mi325x.wacc=1 %/yr'), 'mi325x', 'H200 over MI325X',
                                              'only undiscounted', 'but not once it is discounted.'),
    'of a thousandth of the purchase': (VIEWS, ('--case', 'software_lags', '--set', 'mi325x.list_price=25180 USD'), 'mi325x',
                                        'H200 over MI325X', 'yes',
                                        'the extra outlay for H200 pays (0.0929 % of the purchase: too little for a payback '
                                        'time or a rate of return to mean anything).'),
    'just large enough': (VIEWS, ('--case', 'software_lags', '--set', 'mi325x.list_price=24800 USD'), 'mi325x',
                          'H200 over MI325X', 'yes', 'yr: the extra outlay for H200 pays.'),
    'both rented': (CLOUD, (), 'mi325x', 'none', 'no extra outlay', None),
}


# Options that the judge ranks or not: big serves the demand, half of it does not, other is of another workload.
RANKED = '''\
[scenario]
title = Three
horizon = 3 yr
date = 2026-11-20
baseline = {baseline}
[workload]
model = llama-2-70b
{demand}
[common]
utilization = 70 %
electricity_price = 0.08 USD/kWh
pue = 1.25
throughput = 4000 token/s
accelerators = 8
[option big]
accelerator = h200-sxm-141
list_price = 35000 USD
{big}
[option half]
accelerator = h200-sxm-141
accelerators = 4
list_price = 12000 USD
{half}
[option cheap]
accelerator = h200-sxm-141
list_price = 20000 USD
{big}
'''
DEMAND = {'demand': 'demand = 600000 Mtok/yr', 'big': '', 'half': ''}
UNMET = 'half: at worst it serves 58.9 % of the demand'
UNLIKE = 'half: its workload differs from that of the baseline: precision: fp8 and bf16'
# Name: (the scenario's rest, options with a reason, the sentence's end, how many verdicts it gives)
BARS = {
    'a demand that is not met': (DEMAND | {'baseline': 'big'}, {'half': UNMET}, f'No verdict: {UNMET}.', 1),
    'a baseline that does not meet it': (DEMAND | {'baseline': 'half'}, {'big': UNMET, 'cheap': UNMET}, f'No verdict: {UNMET}.', 0),
    'another workload': ({'demand': '', 'big': 'precision = fp8', 'half': 'precision = bf16', 'baseline': 'big'},
                         {'half': UNLIKE}, f'No verdict: {UNLIKE}.', 1),
}


def irr(flows, times):
    """The rate at which the flows have no present value, by bisection; None unless it is above zero."""
    if not flows[0] < 0 < sum(flows):
        return None
    low, high = 0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        worth = sum(flow * (1 + middle) ** -time for flow, time in zip(flows, times))
        low, high = (middle, high) if worth > 0 else (low, middle)
    return low


def told(scenario, settings, option):
    """What is examined, whether it pays, what is saved and the IRR, from compare's cash."""
    there = run_json('compare', scenario, *settings)['options']
    options = {each['id']: each['items'] for each in there}
    label = {each['id']: each.get('label', each['id']) for each in there}
    base = next(iter(options))
    ours, theirs = options[option], options[base]
    scale = theirs['tokens_total'] / ours['tokens_total']
    saved = [b - scale * a for a, b in zip(ours['cash'], theirs['cash'])]
    value = sum(amount * factor for amount, factor in zip(saved, theirs['discount_factor']))
    if not saved[0]:
        return 'none', 'no extra outlay', sum(saved), None
    sign = -1 if saved[0] > 0 else 1
    over = (option, base) if sign > 0 else (base, option)
    examined = ' over '.join(label[each] for each in over)
    pays = 'yes' if sign * value > 0 else 'only undiscounted' if sign * sum(saved) > 0 else 'no'
    if abs(saved[0]) < 0.01 * max(theirs['cash'][0], scale * ours['cash'][0]):
        return examined, pays, sum(saved), None
    return examined, pays, sum(saved), irr([sign * amount for amount in saved], list(accumulate(ours['period'])))


def finance_rows(book, option, value):
    sheet = book.sheets['Finance']
    return {key: value('Finance', row, 4) for row in range(1, sheet.last_row() + 1)
            for key in [str(sheet.text(row, 2)).removeprefix(f'{option}.')] if key in ('examined', 'pays', 'saved', 'irr')}


def same_rate(want, got, percents=1):
    """A cell is a fraction or a word, JSON a percentage or null."""
    return not isinstance(got, float) if want is None else near(got / percents, want)


def check_outlay(scenario, settings, option, examined, pays, ending):
    own = told(scenario, settings, option)
    expect(own[:2] == (examined, pays), f'the table says {examined}, {pays}; the cash {own}')
    done = run('finance', scenario, *settings, '-q').stdout
    sentence = ' '.join(done.split('\n\n')[1].split())
    expect(not ending or sentence.endswith(ending), sentence)
    expect('never' not in done, 'never')
    lines = {row['item']: row['value'] for row in run_csv('finance', scenario, *settings)
             if (row['view'], row['option']) == ('difference', option)}
    there = run_json('finance', scenario, *settings)['difference']['options'][option]
    for face in (lines, there):
        expect((face['examined'], face['pays']) == (examined, pays), f'{face}')
        expect(near(float(face['saved']), own[2]), f'saved: {face["saved"]}')
    expect(same_rate(own[3], there['irr'], 100), f'IRR: {there["irr"]}, from the cash {own[3]}')


def check_sheet(scenario, settings, option, examined, pays, _):
    with tempfile.TemporaryDirectory() as folder:
        path = harness.report(scenario, Path(folder, 'book.xlsx'), settings)
        book = xlsx.read(path)
        written = finance_rows(book, option, lambda sheet, *place: book.sheets[sheet].value(*place))
        rate = told(scenario, settings, option)[3]
        expect((written['examined'], written['pays']) == (examined, pays) and same_rate(rate, written['irr']),
               f'written: {written}')
        if not gnumeric.missing():
            again = finance_rows(book, option, gnumeric.recalculate(path))
            expect((again['examined'], again['pays']) == (examined, pays) and same_rate(rate, again['irr']),
                   f'recalculated: {again}')


def check_bar(changes, reasons, ending, verdicts):
    """Amounts, but no verdict on an option that the judge does not rank, and its reason: on every face."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'ranked.ini')
        path.write_text(RANKED.format(**changes))
        document = run_json('finance', path, '--mixed')
        sentence = document['answer']
        expect(sentence.endswith(ending) and sentence.count('extra outlay') == verdicts, sentence)
        lines = {(row['option'], row['item']): row['value'] for row in run_csv('finance', path, '--mixed')}
        there = document['difference']['options']
        written = xlsx.read(harness.report(path, Path(folder, 'book.xlsx'), ('--mixed',)))
        for option, face in there.items():
            reason, pays = reasons.get(option), 'not ranked' if option in reasons else 'no'
            equal((face['pays'], face.get('not_ranked')), (pays, reason), f'{option} in JSON')
            equal((lines[option, 'pays'], lines.get((option, 'not_ranked'))), (pays, reason), f'{option} in CSV')
            expect(face['saved'] and face['extra_outlay'], f'amounts of {option}: {face}')
            rows = finance_rows(written, option, lambda sheet, *place: written.sheets[sheet].value(*place))
            equal(rows['pays'], pays, f'{option} in the workbook')


def check_views(folder):
    """Each view by itself, with the same items as in compare; the table fits however many options there are."""
    items = {option['id']: option['items'] for option in run_json('compare', VIEWS)['options']}
    result = run_json('finance', VIEWS)
    equal([view['name'] for view in result['views']], ['cash', 'book', 'tax', 'loan', 'lease', 'sales'], 'views')
    for view in result['views']:
        equal(set(view), {'name', 'label', 'units', 'options'}, f"keys of {view['name']}")
        for option, there in view['options'].items():
            equal(there, {name: items[option][name] for name in there}, f"{view['name']} of {option}")
            equal(set(there), set(view['units']), f"units of {view['name']}")
    equal(result['difference'], run_json('compare', VIEWS)['difference'], 'difference')
    lines = {}
    for row in run_csv('finance', VIEWS):
        lines.setdefault((row['view'], row['option'], row['item']), []).append(row['value'])
    for view in result['views']:
        for option, there in view['options'].items():
            for name, value in there.items():
                values = value if isinstance(value, list) else [value]
                equal([float(text) for text in lines.pop((view['name'], option, name))], values, f'CSV: {name}')
    equal({view for view, _, _ in lines}, {'difference', 'warnings', 'options'}, 'CSV beyond the views')
    names = [name for view in result['views'] for name in view['units']]
    equal(len(names), len(set(names)), 'a line item in two views')
    narrow(run('finance', VIEWS, '-q').stdout)
    narrow(run('finance', CLOUD, '-q').stdout)
    plain = run_json('finance', folder.golden)
    equal([view['name'] for view in plain['views'] if view['options']], ['cash', 'book'], 'views of golden')


def check_periods(folder):
    """What docs/finance.md says of a finer timeline: which sums over the horizon it changes, and in which direction."""
    settings = ('--set', 'inflation=3 %/yr', '--set', 'electricity_escalation=4 %/yr', '--set', 'engineers=1 FTE',
                '--set', 'wage_growth=4 %/yr', '--set', 'failure_rate=5 %/yr')
    monthly = folder.write('monthly.ini', f'[scenario]\ninherits = {VIEWS}\nperiod = 1 month\n')
    years, months = (run_json('compare', path, *settings)['options'][0]['items'] for path in (VIEWS, monthly))
    for item, change in {'support_cost': 0, 'repair': 0, 'book_depreciation': 0, 'tokens': 0, 'power_cost': 1,
                         'engineering_cost': 1, 'loan_interest': -1, 'lease_interest': 1}.items():
        before, after = sum(years[item]), sum(months[item])
        expect(near(before, after) if not change else (after - before) * change > 1e-3 * before,
               f'{item}: {before} by year, {after} by month')


SOLD = ('--set', 'token_price_output=1 USD/Mtok')
OWN_OUTPUT = ('Note: MI325X serves 6.01 % fewer tokens than H200: tokens sold are at each option\'s own output, the comparison '
              'with H200 at that of H200, so the two may favor different options')


def check_sold(folder):
    """Sales count each option's own output, the comparison the baseline's: said where the two differ."""
    alike = folder.write('alike.ini', f'[scenario]\ninherits = {VIEWS}\n[workload]\ndemand = 1000 Mtok/yr\n')
    for scenario, settings, wanted in ((VIEWS, SOLD, [OWN_OUTPUT]), (VIEWS, (), []), (alike, SOLD, [])):
        notes = run_json('finance', scenario, *settings).get('notes', [])
        expect([note for note in notes if 'serves' in note] == wanted, f'{notes}')


def check_titles(folder):
    """Beside a view after tax, the others say that they are before tax; without one, there is nothing to tell apart."""
    text = VIEWS.read_text(encoding='utf-8').partition('[case')[0].replace('inherits = ', f'inherits = {VIEWS.parent}/')
    for key in ('tax_rate = 25 %', 'bonus_depreciation = 40 %'):
        text = text.replace(key, '')
    untaxed = folder.write('untaxed.ini', text)
    for scenario, word in ((VIEWS, ', before tax'), (untaxed, '')):
        said = run('finance', scenario, *SOLD, '-q').stdout
        for title in ('Loan view', 'Lease view', 'Tokens sold', 'Against H200, at its output'):
            expect(f'\n{title}{word}  ' in said, f'{title}: {said}')
        expect(('Tax view  ' in said) == bool(word), said)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        count.test('views', check_views, Folder(folder))
        count.test('periods', check_periods, Folder(folder))
        count.test('sold', check_sold, Folder(folder))
        count.test('titles', check_titles, Folder(folder))
    for name, bar in BARS.items():
        count.test(name, check_bar, *bar)
    for name, outlay in OUTLAYS.items():
        count.test(name, check_outlay, *outlay)
        count.test(f'{name}, workbook', check_sheet, *outlay)
    count.finish()


if __name__ == '__main__':
    main()
