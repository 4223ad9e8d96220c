#!/usr/bin/python3
"""The sheet Negotiation: what each side would have to concede, or may ask.

Every price there is put into the scenario and the option's cost checked with `pertoken compare`: the same as the other
side's, or 5 and 10 % less. Net price, discount, concession and room must be that price's; a price that would have to be
below zero is not shown. If inputs have ranges, the interval is that of `solve`, from the same draws.
"""
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, expect, near, run_json  # noqa: E402

COLUMNS = ('saving', 'cost', 'price', 'concede', 'room', 'net', 'discount', 'P5', 'P50', 'P95')
CHEAPEST = 'the cheapest alternative'  # what an option is compared with if there are several
DEAR = ('--set', 'mi325x.engineers=40 FTE')
SHEETS = {  # name: (scenario, settings, whose vendors negotiate, and with whom)
    'two to buy': ('mi355x-vs-b200', (), {'b200': 'mi355x', 'mi355x': 'b200'}),
    'ranges': ('uncertainty', (), {'h200': 'mi325x', 'mi325x': 'h200'}),
    'no such price': ('mi325x-vs-h200', DEAR, {'h200': 'mi325x', 'mi325x': 'h200'}),
    'a rent that serves too little': ('cloud', ('--set', 'demand=2000000 Mtok/yr', '--set', 'mi355x.accelerators=2'),
                                      dict.fromkeys(('h100', 'h200', 'mi300x', 'mi325x', 'mi355x'), CHEAPEST)),
    'prices by year': ('mi325x-vs-h200', ('--set', 'mi325x.list_price=22000, 19000 USD', '--set', 'h200.discount=14, 16 %'),
                       {'h200': 'mi325x', 'mi325x': 'h200'}),
    'a rent by year': ('cloud', ('--set', 'h200.rental_rate=2.5, 2 USD/gpu/h'),
                       dict.fromkeys(('h100', 'h200', 'mi300x', 'mi325x', 'mi355x'), CHEAPEST)),
    'rents': ('cloud', (), dict.fromkeys(('h100', 'h200', 'mi300x', 'mi325x', 'mi355x'), CHEAPEST)),
}


def sides(sheet):
    """{option by its id, whose label is in capitals: [today's row, its targets' rows]} by COLUMNS, a target with the
    one it is compared with."""
    found, option = {}, None
    for row in range(1, sheet.last_row() + 1):
        label, values = str(sheet.text(row, 1)), dict(zip(COLUMNS, (sheet.value(row, c) for c in range(4, 14))))
        heading = re.fullmatch(r"Price position of (.+)'s (?:vendor|provider)", label)
        option = heading[1].lower() if heading else option
        target = re.fullmatch(r'(?:Same cost per token as|\d+ % below) (.+)', label)
        if label == 'Today':
            found[option] = [values | {'input': sheet.text(row, 2), 'unit': sheet.text(row, 3)}]
        elif target:
            found[option].append(values | {'against': target[1].lower()})
    return found


def costs(scenario, *settings):
    return {each['id']: each['items']['cost_per_mtok'] for each in run_json('compare', scenario, *settings)['options']}


def rival(scenario, settings, option, against):
    """Of those that are ranked: no vendor has to match one that does not serve the demand."""
    if against != CHEAPEST:
        return against
    unranked, now = run_json('compare', scenario, *settings)['not_ranked'], costs(scenario, *settings)
    return min((other for other in now if other != option and other not in unranked), key=now.get)


def check_target(scenario, settings, option, today, target):
    now = costs(scenario, *settings)
    wanted = now[rival(scenario, settings, option, target['against'])] * (1 - target['saving'])
    expect(near(target['cost'], wanted), f'{option}: cost {target}')
    name = f'{option}.{today["input"]}'
    if isinstance(target['price'], str):
        free = costs(scenario, *settings, '--set', f'{name}=0.000001 {today["unit"]}')[option]
        expect(target['price'] == 'no such price' and free > wanted, f'{option}: {target}, {free} for nothing')
        expect({target['concede'], target['room'], target['net']} == {'-'} and target['discount'] == 'none', f'{option}: {target}')
        return
    factor = 100 if today['unit'] == '%' else 1  # of all values of a list
    price = costs(scenario, *settings, '--set', f'{name}={target["price"] * factor!r} {today["unit"]}')
    expect(near(price[option], wanted), f'{option}: costs {price[option]} at {target["price"]}, not {wanted}')
    change = target['price'] / today['price'] - 1
    expect(near(target['concede'] + 1, max(0, -change) + 1) and near(target['room'] + 1, max(0, change) + 1),
           f'{option}: {target}')
    if today['net'] is not None:
        net = target['price'] * (1 - today['discount'])
        discount = 1 - net / today['price'] if net <= today['price'] else 'none'
        expect(near(target['net'], net) and (target['discount'] == discount or near(target['discount'], discount)),
               f'{option}: {target}')


def check_interval(scenario, option, today, same):
    draws = () if same['P50'] is None else ('--draws', 4096)
    match = rival(scenario, (), option, same['against'])
    found = run_json('solve', scenario, '--option', option, '--for', today['input'], '--match', match, *draws)
    for level, value in found['ranges']['percentiles'].items() if 'ranges' in found else ():
        expect(level not in same or near(same[level], value), f'{option}: {level} {same}, not {value}')
    expect(('ranges' in found) == (same['P50'] is not None), f'{option}: {same}')


def check_sheet(name, settings, wanted):
    scenario = ROOT / 'examples' / f'{name}.ini'
    with tempfile.TemporaryDirectory() as folder:
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), settings)).sheets['Negotiation']
    found = sides(sheet)
    expect({option: rows[1]['against'] for option, rows in found.items()} == wanted, f'{list(found)}')
    for option, (today, *targets) in found.items():
        expect([target['saving'] for target in targets] == [0, 0.05, 0.1], f'{option}: {targets}')
        for target in targets:
            check_target(scenario, settings, option, today, target)
        if not settings:
            check_interval(scenario, option, today, targets[0])


OWN_OPEX = '[item care]\nlabel = Care\nunit = USD/yr\ngroup = opex\nformula = 9 USD/gpu/yr * accelerators\n'  # the API has none


def check_token_prices():
    """A provider's prices all move alike, as a discount on them does."""
    example = (ROOT / 'examples' / 'own-rent-api.ini').read_text()
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, 'tokens.ini')
        scenario.write_text(example + 'api_discount = 10 %\n' + OWN_OPEX)
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), ())).sheets['Negotiation']
        today, *targets = sides(sheet)['token api']
        prices = {key: value['value'] for option in run_json('compare', scenario)['options'] if option['id'] == 'api'
                  for key, value in option['inputs'].items() if key in ('output_price', 'input_price')}
        expect(today['input'] == 'output_price' and near(today['discount'], 0.1) and len(prices) == 2, f'{today}, {prices}')
        for target in targets:
            wanted = min(costs(scenario)[other] for other in ('own', 'cloud')) * (1 - target['saving'])
            share = target['price'] / today['price']
            alike = [f'--set=api.{key}={value * share!r} USD/Mtok' for key, value in prices.items()]
            expect(near(costs(scenario, *alike)['api'], wanted), f'{target}: all prices times {share}, not {wanted}')
            off = f'--set=api.api_discount={100 * target["discount"]!r} %'
            expect(near(costs(scenario, off)['api'], wanted), f'{target}: {off}, not {wanted}')
            expect(near(target['net'], 0.9 * target['price']), f'{target}')


def check_tokens_of_late():
    """An API that serves the tokens of a late option has none of its delivery, only a price."""
    example = (ROOT / 'examples' / 'own-rent-api.ini').read_text()
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, 'tokens.ini')
        text = example.replace('[option own]', '[option own]\ndelivery_delay = 2 month').replace('demand = 2000000 Mtok/yr', '')
        text = text.replace('[common]', '[common]\naccelerators = 512')
        scenario.write_text(text.replace('[option api]', '[option api]\ntokens_of = own'))
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), ())).sheets['Negotiation']
    labels = [str(sheet.text(row, 1)) for row in range(1, sheet.last_row() + 1)]
    expect([label for label in labels if label.startswith('Late delivery of')] == ['Late delivery of Owned H200'], f'{labels}')
    expect("Price position of Token API's provider" in labels, f'{labels}')


def check_guarantees():
    """The offer's guarantees are in its own words, each with a label, once for the option that they belong to."""
    scenario = ROOT / 'examples' / 'acceptance' / 'quoted.ini'
    with tempfile.TemporaryDirectory() as folder:
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), ())).sheets['Negotiation']
    rows = [(str(sheet.text(row, 1)), sheet.text(row, 2)) for row in range(1, sheet.last_row() + 1)]
    told = {sheet.text(row, 2): sheet.text(row, 3) for row in range(1, sheet.last_row() + 1)}
    labels = {sheet.text(row, 2): sheet.text(row, 1) for row in range(1, sheet.last_row() + 1)}
    expect(labels.get('guarantee chat.tokens_per_s') == 'Guarantee chat: output tokens per second', f'{labels}')
    expect(not any('_' in label for label in labels.values()), f'a key among {labels}')
    for name, words in (('guarantee chat.tokens_per_s', '3900 token/s/gpu'), ('guarantee decoding.power', '560 W/gpu'),
                        ('acceptance.tolerance', '2 %'), ('acceptance.remedy', '1 %')):
        expect(told.get(name) == words, f'{name}: {told.get(name)}, not {words}')
    expect([label for label, _ in rows].count('Guaranteed for H200 by Example Compute Q-2026-118, 2026-11-02') == 1
           and sum(label.startswith('Guaranteed for') for label, _ in rows) == 1, f'{rows}')


def check_guarantees_of_cases():
    """Each offer's clauses, under the cases in which it holds, whichever case is shown."""
    scenario = ROOT / 'tests' / 'checks' / 'workbook' / 'offers.ini'
    for settings in ((), ('--case', 'revised')):
        with tempfile.TemporaryDirectory() as folder:
            sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), settings)).sheets['Negotiation']
        rows = [(str(sheet.text(row, 1)), sheet.text(row, 2), sheet.text(row, 3)) for row in range(1, sheet.last_row() + 1)]
        headings = [label for label, *_ in rows if label.startswith('Guaranteed for')]
        rates = [words for _, key, words in rows if key == 'guarantee chat.tokens_per_s']
        expect([heading.partition(', case ')[2] for heading in headings] == ['base', 'revised'], f'{headings}')
        expect('Q-2026-118-B' in headings[1] and rates == ['3900 token/s/gpu', '3950 token/s/gpu'], f'{rows}')


def check_offer_without_guarantees():
    """An offer of prices alone is said to guarantee nothing, without an empty table."""
    example = ROOT / 'examples' / 'acceptance'
    with tempfile.TemporaryDirectory() as folder:
        prices, _, rest = (example / 'offer.ini').read_text().partition('[terms]')
        assert rest
        Path(folder, 'offer.ini').write_text(prices)
        scenario = Path(folder, 'quoted.ini')
        scenario.write_text((example / 'quoted.ini').read_text().replace('quote = offer.ini', 'quote = offer.ini\n'
                                                                         'throughput = 3900 token/s'))
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), ())).sheets['Negotiation']
    labels = [str(sheet.text(row, 1)) for row in range(1, sheet.last_row() + 1)]
    expect('Nothing is guaranteed for H200 by Example Compute Q-2026-118, 2026-11-02' in labels, f'{labels}')
    expect('Clause' not in labels, f'{labels}')


def check_price_terms():
    """What moves with a price, of any case; nothing else: no sum, no repair without failures."""
    example = ROOT / 'examples' / 'acceptance'
    wanted = {'': 'support', 'h200.failure_rate = 5 %/yr\nh200.warranty = 1 yr': 'support, repair',
              'h200.residual_value = 10 %': 'support, residual value', 'h200.throughput = 3500 token/s': 'support, remedy',
              'h200.support_sum = 9000 USD/yr': None, 'h200.installation = 2 %': 'installation, support',
              'mi325x.purchase_tax = 2 %': 'support'}
    for case, words in wanted.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(example / 'offer.ini', folder)
            scenario = Path(folder, 'quoted.ini')
            text = (example / 'quoted.ini').read_text()
            if words is None:
                text = text.replace('quote = offer.ini', f'quote = offer.ini\n{case.replace("h200.", "")}')
            scenario.write_text(text + (f'[case other]\n{case}\n' if words else ''))
            sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), ())).sheets['Negotiation']
            solved = run_json('solve', scenario, '--option', 'h200', '--for', 'list_price',
                              *(('--case', 'other') if words and case else ()))
        labels = [str(sheet.text(row, 1)) for row in range(1, sheet.last_row() + 1)]
        told, said = ([sorted(line.partition('H200: ')[2].split(', ')) for line in lines
                       if line.startswith('Moves with the price of H200')] for lines in (labels, solved.get('notes', [])))
        expect(told == [sorted((words or 'nothing else').split(', '))], f'{case}: {told}')
        expect(said == (told if words else []), f'{case}: solve says {said}')


LATE = ('on_time_cost_per_mtok', 'late_increase', 'late_damages', 'late_damages_per_week', 'late_damages_share')


PAID = ("Contract's damages for this delay", 'Left uncovered', 'Delay beyond which the damages are capped')
# Weeks: 6 % at 0.05 % a day after 20 days, 10 % at 1.2 % a fortnight, 100 % at 4 %, 12 % at 1 % after one week.
COVERED = {'part': (20 + 120) / 7, 'whole': 18, 'steady': 25, 'grown': 13}


def check_paid(sheet, row, option, settings):
    """What the contract pays of it, what it leaves, and how far its cap reaches, below; nothing without such a clause."""
    if option['id'] not in COVERED:
        expect(sheet.text(row, 1) not in PAID, f'{option["id"]}: {sheet.text(row, 1)}')
        return
    late = option.get('late', {'late_damages_paid': 0, 'late_damages_uncovered': 0})
    wanted = [late['late_damages_paid'], late['late_damages_uncovered'], COVERED[option['id']]]
    for place, (label, value) in enumerate(zip(PAID, wanted)):
        got = sheet.value(row + place, 4)
        expect(sheet.text(row + place, 1) == label, f'{option["id"]}: {sheet.text(row + place, 1)}, not {label}')
        expect(abs(got - value) <= 1e-9 * max(abs(value), 1), f'{option["id"]} {settings} {label}: {got}, not {value}')


def check_late_sheet(scenario, case, *settings):
    settings = ('--case', case, *settings)
    with tempfile.TemporaryDirectory() as folder:
        sheet = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), settings)).sheets['Negotiation']
    options = run_json('compare', scenario, *settings)['options']
    heads = {str(sheet.text(row, 1)): row for row in range(1, sheet.last_row() + 1)}
    for option in options:
        head = heads[f'Late delivery of {option["label"]}']
        cost, *said = (sheet.value(head + 1 + i, 4) for i in range(2 + len(LATE)))
        weeks = said.pop(LATE.index('late_damages_per_week'))
        months = option['inputs']['delivery_delay']['value']
        now = option['items']['cost_per_mtok']
        on_time = {'on_time_cost_per_mtok': now, 'late_increase': 0, 'late_damages': 0, 'late_damages_per_week': 0,
                   'late_damages_share': 0}
        wanted = option.get('late', on_time)
        unpaid = 1 - option['items'].get('damages_total', 0) / option['items']['tco']
        expect(near(cost, now * unpaid), f'{option["id"]}: {cost}, not {now} times {unpaid}')
        expect(abs(weeks - months * 730 / 168) <= 1e-9 * weeks, f'{option["id"]}: {weeks} weeks, not {months} months')
        expect(('late' in option) == (case != 'on_time'), f'{option["id"]} {settings}: {option.get("late")}')
        formats = [sheet.cell(head + 6 + i, 4).style.format for i in range(2)] if option['id'] != 'cloud' else []
        expect(not formats or formats[0].startswith('#,##0.00_') and formats[1].startswith('0.0000 %'), f'shown as {formats}')
        check_paid(sheet, head + 2 + len(LATE) + (option['id'] != 'cloud'), option, settings)
        for name, value in zip(LATE, said):
            if name == 'late_damages_share' and option['id'] == 'cloud':
                expect(value is None, f'{option["id"]}: {value} of no price')
                continue
            value *= 100 if name in ('late_increase', 'late_damages_share') else 1
            expect(abs(value - wanted[name]) <= 1e-9 * max(abs(wanted[name]), 1), f'{option["id"]} {settings} {name}: '
                   f'{value}, not {wanted[name]}')


def check_late():
    """What a delay costs, and what would offset it, as compare has it; no share of a price for what is rented."""
    for name in ('late.ini', 'late_stages.ini'):
        for case in ('base', 'later', 'on_time'):
            check_late_sheet(ROOT / 'tests' / 'checks' / 'workbook' / name, case)
    check_late_sheet(ROOT / 'tests' / 'checks' / 'workbook' / 'late.ini', 'base', '--set', 'part.list_price=30000, 28000 USD')


def main():
    count = Count()
    count.test('offer without guarantees', check_offer_without_guarantees)
    count.test('late', check_late)
    count.test('price terms', check_price_terms)
    count.test('token prices', check_token_prices)
    count.test('tokens of a late option', check_tokens_of_late)
    count.test('guarantees', check_guarantees)
    count.test('guarantees of cases', check_guarantees_of_cases)
    for name, sheet in SHEETS.items():
        count.test(name, check_sheet, *sheet)
    count.finish()


if __name__ == '__main__':
    main()
