#!/usr/bin/python3
"""[item NAME]: its numbers are inputs, with a grade; which options have it; what it grows by; what a
renter pays.

Seconds: 5
"""
import re
import sys
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DONE, ROOT, Skip, expect, expect_exit, run, run_csv, run_json

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import xlsx  # noqa: E402

# Ten accelerators that cost nothing: only the items remain.
HEAD = """\
[scenario]
title = Items
date = 2026-11-01
horizon = 2 yr
[common]
accelerators = 8
accelerators_per_node = 8
utilization = 50 %
pue = 1
electricity_price = 0 USD/kWh
load_power = 500 W
throughput = 1000 token/s
throughput.quote = T-1 2026-10-01
[option a]
accelerator = h200-sxm-141
list_price = 1000 USD
list_price.quote = P-1 2026-10-01
[option b]
accelerator = h200-sxm-141
list_price = 2000 USD
list_price.quote = P-2 2026-10-01
[option cloud]
accelerator = h200-sxm-141
rental_rate = 1 USD/h
rental_rate.quote = R-1 2026-10-01
"""


def item(name, formula, *more, unit='USD/yr', group='opex'):
    return '\n'.join([f'[item {name}]', f'label = {name}', f'unit = {unit}', f'group = {group}',
                      f'formula = {formula}', *more, ''])


def told(folder, text, *arguments):
    path = Path(folder, 'items.ini')
    path.write_text(HEAD + text, encoding='utf-8')
    return run_json('compare', path, *arguments)


def options_of(answer):
    return {one['id']: one for one in answer['options']}


def near(found, wanted, what):
    expect(abs(found - wanted) <= 1e-9 * max(abs(wanted), 1e-9), f'{what}: {found}, not {wanted}')


# What is written, further arguments, and other_total (or own_capex) of a, b and cloud.
FEE = item('fee', '100 USD/yr')
AMOUNTS = {
    'for every option': (FEE, (), 'other_total', (200, 200, 200)),
    'for one option': (item('fee', '100 USD/yr', 'options = b'), (), 'other_total', (0, 200, 0)),
    'for two options': (item('fee', '100 USD/yr', 'options = a, cloud'), (), 'other_total', (200, 0, 200)),
    'growing': (item('fee', '100 USD/yr', 'escalation = 10 %/yr'), (), 'other_total', (210, 210, 210)),
    'growing, per period': (item('fee', '100 USD', 'escalation = 10 %/yr', unit='USD'), (),
                            'other_total', (210, 210, 210)),
    'a number by --set': (FEE, ('--set', 'fee_1=150 USD/yr'), 'other_total', (300, 300, 300)),
    'a number of one option': (FEE, ('--set', 'b.fee_1=150 USD/yr'), 'other_total', (200, 300, 200)),
    'a number in a case': (FEE + '[case dear]\nfee_1 = 1000 USD/yr\n', ('--case', 'dear'), 'other_total',
                           (2000, 2000, 2000)),
    'the second number': (item('fee', '100 USD/yr + 3 * 10 USD/yr'), ('--set', 'fee_2=5'), 'other_total',
                          (300, 300, 300)),
    'an escalation by --set': (item('fee', '100 USD/yr', 'escalation = 10 %/yr'),
                               ('--set', 'fee_escalation=20 %/yr'), 'other_total', (220, 220, 220)),
    'taken from an option by --set': (item('fee', '100 USD/yr', 'options = a b'), ('--set', 'a.fee_applies=no'),
                                      'other_total', (0, 200, 0)),
    # 4 kW around the clock; a renter's watts are the provider's, though the provider knows them.
    'from watts': (item('levy', '0.1 USD/kWh * it_energy', unit='USD'), (), 'other_total',
                   (2 * 4 * 8760 * 0.1, 2 * 4 * 8760 * 0.1, 0)),
    'from watts, by another item': (item('tons', '10 USD/kW * peak_it_power', unit='USD', group='capex')
                                    + item('watch', '1 %/yr * tons'), (), 'own_capex', (40, 40, 0)),
    # What the formula gives elsewhere has no effect: in b, or for the renter, it divides by zero.
    'for one option, with no value in others': (
        item('fee', '100 USD/yr * list_price / (2000 USD - list_price)', 'options = a'), (), 'other_total', (200, 0, 0)),
    'from watts, with no value for the renter': (item('levy', '1 USD/kWh * it_energy / (list_price / 1000 USD)', unit='USD'),
                                                 (), 'other_total', (2 * 4 * 8760, 4 * 8760, 0)),
    'from watts, for a renter by name': (item('levy', '0.1 USD/kWh * it_energy', 'options = cloud', unit='USD'), (),
                                         'other_total', (0, 0, 2 * 4 * 8760 * 0.1)),
}


def check_amounts(folder, text, arguments, name, wanted):
    options = options_of(told(folder, text, *arguments))
    for option, amount in zip(('a', 'b', 'cloud'), wanted):
        near(options[option]['items'][name], amount, f'{name} of {option}')


GRADES = {
    'assumed': (item('fee', '100000 USD/yr'), 'assumed'),
    'sourced': (item('fee', '100000 USD/yr', 'source = a letter', 'date = 2026-09'), 'claim'),
    'quoted': (item('fee', '100000 USD/yr', 'quote = Q-7 2026-09-14'), 'quoted'),
    'too small to matter': (item('fee', '1 USD/yr'), 'quoted'),
    'by --set': (item('fee', '100000 USD/yr', 'quote = Q-7 2026-09-14'), 'assumed', '--set', 'fee_1=90000 USD/yr'),
}


def check_grade(folder, text, wanted, *arguments):
    option = options_of(told(folder, text, *arguments))['a']
    expect(option['grade'] == wanted, f'{option["grade"]}, not {wanted}')


def check_input(folder):
    """Like any input: in JSON with its source, in explain as a leaf, with a range in simulate."""
    text = item('fee', '2 %/yr * hardware_cost', 'source = a letter', 'date = 2026-09')
    figure = options_of(told(folder, text))['a']['inputs']['fee_1']
    expect((figure['source'], figure['date'], figure['grade']) == ('a letter', '2026-09', 'claim'), figure)
    path = Path(folder, 'items.ini')
    tree = run('explain', path, 'a.fee', '-q').stdout
    expect('fee_1 * hardware_cost' in tree and re.search(r'fee_1 = 2 %/yr +\[claim\] +a letter', tree), tree)
    path.write_text(HEAD + text + '[range]\nfee_1 = uniform(1, 3) %/yr\n', encoding='utf-8')
    costs = [o for o in run_json('simulate', path, '--draws', 1024)['outcomes'] if o['kind'] == 'cost'
             and o['option'] == 'a'][0]['percentiles']
    expect(costs['P5'] < costs['P50'] < costs['P95'], costs)


def check_word_in_common(folder):
    """It replaces the item's number, and none of its sources."""
    path = Path(folder, 'items.ini')
    path.write_text(HEAD.replace('[common]\n', '[common]\nfee_1 = 50 USD/yr\n')
                    + item('fee', '100 USD/yr', 'source = a letter'), encoding='utf-8')
    option = run_json('compare', path)['options'][0]
    near(option['items']['other_total'], 100, 'the number in [common]')
    expect(option['inputs']['fee_1']['grade'] == 'assumed', option['inputs']['fee_1'])


def check_in_workbook(folder):
    path = Path(folder, 'items.ini')
    path.write_text(HEAD + item('fee', '100 USD/yr', 'source = a letter'), encoding='utf-8')
    book = xlsx.read(harness.report(path, Path(folder, 'items.xlsx')))
    sheet = book.sheets['Inputs']
    row = next(row for row in range(1, sheet.last_row() + 1)
               if 'fee_1' in [sheet.text(row, column) for column in range(1, 8)])
    near(next(v for v in (sheet.value(row, column) for column in range(3, 12)) if isinstance(v, float)), 100,
         'the number on Inputs')


def check_weekly(folder):
    """An amount by the week, which the workbook converts too."""
    for name, text in (('unit', item('fee', '100 USD/week', unit='USD/week')), ('literal', item('fee', '100 USD/week'))):
        items = told(folder, text)['options'][0]['items']
        near(items['other_total'], 100 * 2 * 8760 / 168, name)
        path = Path(folder, 'items.ini')
        sheet = xlsx.read(harness.report(path, Path(folder, 'items.xlsx'))).sheets['Inputs']
        labels = [sheet.text(row, 1) for row in range(1, sheet.last_row() + 1)]
        expect('Days per week' in labels, f'{name}: {labels[-12:]}')


def check_without_effect_elsewhere(folder):
    """A formula that has no value in an option that does not have the item, on every other face."""
    path = Path(folder, 'items.ini')
    path.write_text(HEAD + item('fee', '100 USD/yr * list_price / (2000 USD - list_price)', 'options = a')
                    + '[range]\na.fee_1 = uniform(50, 150) USD/yr\n', encoding='utf-8')
    tree = run('explain', path, 'b.fee', '-q').stdout
    expect('fee = 0 USD/yr' in tree and 'if(fee_applies, fee_1 * list_price / (fee_2 - list_price), 0)' in tree, tree)
    drawn = {(o['option'], o['kind']): o for o in run_json('simulate', path, '--draws', 1024)['outcomes']}
    expect(drawn['b', 'cost']['percentiles']['P5'] == drawn['b', 'cost']['percentiles']['P95'], drawn['b', 'cost'])
    expect(drawn['a', 'cost']['percentiles']['P5'] < drawn['a', 'cost']['percentiles']['P95'], drawn['a', 'cost'])
    expect_exit(run('page', path, '-q', '-o', Path(folder, 'items.html')), DONE)


def check_moves_with_price(folder):
    """What follows an option's price in a negotiation includes the buyer's items, by their labels."""
    path = Path(folder, 'items.ini')
    items = [item('fee', '5 % * hardware_cost', unit='USD', group='capex'), item('cover', '2 %/yr * hardware_cost'),
             item('growing', '0 %/yr * hardware_cost, 3 %/yr * hardware_cost'), item('desk', '5 USD/yr')]
    path.write_text(HEAD + ''.join(items), encoding='utf-8')
    notes = run_json('solve', path, '--option', 'b', '--for', 'list_price')['notes']
    expect('Moves with the price of b: fee, cover, growing' in notes, notes)


def failing(folder, text, *arguments):
    """What compare warns of b, and whether the workbook's checks pass once recalculated."""
    path, book = Path(folder, 'checked.ini'), Path(folder, 'checked.xlsx')
    path.write_text(text, encoding='utf-8')
    told = run_json('compare', path, *arguments)
    harness.report(path, book, arguments)
    shown = gnumeric.recalculate(book)
    sheet = xlsx.read(book).sheets['Checks']
    flags = [shown('Checks', row, 5) for row in sheet.rows if sheet.text(row, 4) or sheet.value(row, 5) is not None]
    return options_of(told)['b'], 0 not in flags


def check_unpaid_engineers(folder):
    """A stated zero is a cost left out, unless it has a source; the same on the workbook's Checks."""
    reason = gnumeric.missing()
    if reason:
        raise Skip(reason)
    paid = HEAD.replace('[option b]\n', '[option b]\nengineers = 2 FTE\nengineer_cost = {}\n')
    for cost, left_out in (('0 USD/FTE/yr', True), ('1 USD/FTE/yr', False),
                           ('0 USD/FTE/yr\nengineer_cost.source = staff of another budget', False)):
        option, passes = failing(folder, paid.format(cost))
        expect(('engineers' in option['not_included']) == left_out, (cost, option['not_included']))
        expect(passes, f'{cost}: a check fails')


def check_failed_check(folder):
    """A check that fails is a warning in the page's words."""
    model = Path(folder, 'model.ini')
    check = '[check check_made_up]\nlabel = Made up\nunit = -\nformula = if(list_price > 1500 USD, 1, 0)\n'
    model.write_text((ROOT / 'model' / 'cost' / 'tco.ini').read_text(encoding='utf-8') + '\n' + check, encoding='utf-8')
    told(folder, '')
    options = options_of(run_json('compare', Path(folder, 'items.ini'), '--model', model))
    failed = [name for name, one in options.items() if 'check failed: Made up' in one['warnings']]
    expect(failed == ['b'], failed)


def check_default_has_no_grade(folder):
    told(folder, '')
    rows = {(row['option'], row['item']): row['grade']
            for row in run_csv('compare', Path(folder, 'items.ini'))}
    expect(rows['a', 'rental_rate'] == '', f'a rent of nothing is {rows["a", "rental_rate"]!r}')
    expect(rows['cloud', 'rental_rate'] == 'quoted', rows['cloud', 'rental_rate'])


def check_explained_saving(folder):
    saving = told(folder, '')['saving']['b']
    path = Path(folder, 'items.ini')
    derivation = run_json('explain', path, 'b.saving')['derivation']
    near(derivation['value'] / 100, saving, 'the saving explained')
    names = [step['name'] for step in derivation['from']]
    expect(names == ['b.cost_per_mtok', 'a.cost_per_mtok'], names)
    text = run('explain', path, 'b.saving_levelised', '-q').stdout
    expect('1 - b.levelised_cost_per_mtok / a.levelised_cost_per_mtok' in text, text)
    done = run('explain', path, 'a.saving', '-q')
    expect(done.returncode == BAD_INPUT and "'a' is the baseline that savings are measured against" in done.stderr, done.stderr)


def check_set_over_another_section(folder):
    """A key is in [workload]; --set may name any common section."""
    text = HEAD + '[workload]\nprecision = fp8\n'
    path = Path(folder, 'sections.ini')
    path.write_text(text.replace('utilization = 50 %\n', '') + 'utilization = 60 %\n', encoding='utf-8')
    for setting, wanted in (('common.utilization=40 %', 40), ('workload.utilization=40 %', 40),
                            ('workload.pue=1.5', 60), ('common.precision=fp4', 60)):
        option = run_json('compare', path, '--set', setting)['options'][0]
        near(option['items']['average_load'], wanted, setting)


BAD = {
    'an unknown option': (item('fee', '1 USD/yr', 'options = a clud'),
                          ["31:13: error: there is no option 'clud'; did you mean 'cloud'?", '            ^']),
    'a capex item that escalates': (item('fee', '1 USD', 'escalation = 1 %/yr', unit='USD', group='capex'),
                                    ['a capex item is paid once: it does not escalate']),
    'a capex item by period': (item('fee', '1 USD * bought', unit='USD', group='capex'),
                               [':30:11: error: a capex item is paid once: it cannot depend on a period']),
    'an escalation without unit': (item('fee', '1 USD/yr', 'escalation = 3'), ["'3' has no unit"]),
    'a source of no number': (item('fee', 'support_cost', 'source = a letter', unit='USD'),
                              ["'source' applies to numbers in the formula; it has none"]),
    'a bad quote': (item('fee', '1 USD/yr', 'quote = Q-1'), ["expected a quote's reference and its date"]),
    'an unknown key': (item('fee', '1 USD/yr', 'option = a'), ["unknown key 'option' in [item]; did you mean 'options'?"]),
    'a name that is taken': (item('fee', '1 USD/yr') + item('fee_1', '1 USD/yr'), ["'fee_1' is already a name"]),
}


def check_diff(folder):
    """What changed in items that both scenarios have, wherever they stand next to others; not in two
    different items of the same name."""
    def written(name, text):
        path = Path(folder, name)
        path.write_text(HEAD + text, encoding='utf-8')
        return path
    rack = item('rack', '100 USD/yr + 20 USD/yr * nodes')
    before = written('before.ini', item('crane', '7 USD/yr') + rack + item('desk', '5 USD/yr'))
    after = written('after.ini', rack.replace('20', '30') + item('desk', '2 * 5 USD/yr'))
    for one, two, wanted in ((before, after, (20, 30)), (after, before, (30, 20))):
        told = run_json('diff', one, two)
        expect(' in 1 input and in 2 line items;' in told['answer'], told['answer'])
        amounts = {(x['item'], x['option']): (x.get('a'), x.get('b')) for x in told['own_items']}
        crane = amounts['crane', 'a'] if one is before else amounts['crane', 'a'][::-1]
        near(crane[0], 14, 'the amount over the horizon')
        expect(crane[1] is None, f'amounts: {amounts}')
        numbers = {(x['name'], x['option']): (x['a']['value'], x['b']['value']) for x in told['inputs']}
        expect(numbers == {('rack_2', name): wanted for name in ('a', 'b', 'cloud')}, f'numbers that differ: {numbers}')
        expect(set(told['items']) == {'crane', 'desk'}, f'items that differ: {told["items"]}')
        grown = run_json('diff', one, written('grown.ini', one.read_text().replace(HEAD, '').replace(
            'nodes\n', 'nodes\nescalation = 3 %/yr\n')))
        expect(grown['items'] == ['rack'], f'an escalation in one alone: {grown["items"]}')
        alone = {one['id']: one['alone'] for one in told['options']}
        expect(alone['a']['rack_2']['cost_per_mtok'] > 0, f'what it does alone: {alone}')


def check_refused(folder, text, messages):
    path = Path(folder, 'bad.ini')
    path.write_text(HEAD + text, encoding='utf-8')
    done = run('compare', path)
    for message in messages:
        expect(done.returncode == BAD_INPUT and message in done.stderr, f'exit {done.returncode}: {done.stderr}')
    expect('built-in model' not in done.stderr, f'what nobody can edit: {done.stderr}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-items-') as folder:
        for name, case in AMOUNTS.items():
            count.test(name, check_amounts, folder, *case)
        for name, case in GRADES.items():
            count.test(f'graded: {name}', check_grade, folder, *case)
        for test in (check_input, check_word_in_common, check_in_workbook, check_weekly, check_without_effect_elsewhere,
                     check_moves_with_price, check_unpaid_engineers, check_failed_check,
                     check_default_has_no_grade, check_explained_saving, check_set_over_another_section, check_diff):
            count.test(test.__name__[6:], test, folder)
        for name, case in BAD.items():
            count.test(name, check_refused, folder, *case)
    count.finish()


if __name__ == '__main__':
    main()
