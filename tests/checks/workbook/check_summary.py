#!/usr/bin/python3
"""Do Summary and Scope and assumptions agree with the other faces?

Summary: every case with the cheapest, its cost, the saving, what it is compared with and the weakest evidence,
and each option's cost and saving, as `compare` reports for each case. Scope: each cost of each option is
included, zero or not applicable, according to its amount; every input without a source has a sentence under its
kind, once for options that share it, with its value in every case; inputs with a source have none.
Deep: every example.
Seconds: 1, deep 8
"""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import layout  # noqa: E402
import xlsx  # noqa: E402
from support.program import DEEP, Count, expect, near, run_json  # noqa: E402

TELLING = ('mi325x-vs-h200', 'own-rent-api', 'site', 'rent-or-own', 'growing-demand')
CATEGORIES = dict(re.findall(r'(?ms)^\[item (\w+)\]\n(?:(?!^\[).)*?^label *= *([^\n]+)\n(?:(?!^\[).)*?^role *= *category',
                             (harness.ROOT / 'model/cost/tco.ini').read_text()))


def tables_of(sheet):
    """{title: rows of values} of a sheet of tables, each below its title and a row of headings."""
    found, title = {}, None
    for row in range(1, sheet.last_row() + 1):
        cells = [sheet.value(row, column) for column in range(1, 1 + max(column for _, column in sheet.cells))]
        if cells[0] in (None, ''):
            title = None
        elif title is None and all(cell is None for cell in cells[1:]):
            title = cells[0]
        else:
            title = title or cells[0]
            found.setdefault(title, []).append(cells)
    return found


def column_of(sheet):
    return [sheet.text(row, 1) for row in range(1, sheet.last_row() + 1)]


# ---- Summary

def cases_of(scenario):
    """The cases of a file, the inherited ones first."""
    text = scenario.read_text()
    inherited = re.search(r'(?m)^inherits *= *(\S+)', text)
    cases = cases_of(scenario.parent / inherited[1]) if inherited else []
    return cases + [case for case in re.findall(r'(?m)^\[case (\w+)\]', text) if case not in cases]


def in_cases(scenario):
    """[(label, compare's result)] of each case."""
    first = run_json('compare', scenario, *harness.places(scenario))
    labels = {first['scenario']['case']: first['scenario']['case'], **first['scenario'].get('case_labels', {})}
    cases = [first['scenario']['case'], *cases_of(scenario)]
    return [(labels.get(case, case), run_json('compare', scenario, '--case', case, *harness.places(scenario))) for case in cases]


def check_summary(scenario, book):
    told = in_cases(scenario)
    if len(told) < 2:
        expect('Summary' not in book.sheets, 'a Summary of one case')
        return
    tables = tables_of(book.sheets['Summary'])
    expect(all([row[0] for row in rows[1:]] == [label for label, _ in told] for rows in tables.values() if len(rows) > 1),
           f'the cases are {told}')
    verdicts = next((rows[1:] for rows in tables.values() if rows[0][1:2] == ['Cheapest']), [])
    costs = next(rows[1:] for title, rows in tables.items() if title.startswith('Cost per million'))
    expect(bool(verdicts) == (len(told[0][1]['options']) > 1), 'a verdict')
    if not verdicts:
        amounts = sorted(row[1] for row in costs)
        sentence = next(text for text in column_of(book.sheets['Summary']) if ' cases.' in text)
        expect(f'{amounts[0]:.4f} to {amounts[-1]:.4f} ' in sentence, sentence)
    for number, (label, result) in enumerate(told):
        options = {option['id']: option for option in result['options']}
        for option, shown in zip(options.values(), costs[number][1:]):
            expect(near(shown, option['items']['cost_per_mtok']), f'{label}: {option["id"]} costs {shown}')
        cheapest = result['cheapest']
        if not verdicts or not cheapest:
            continue
        _, who, cost, saving, against, evidence = verdicts[number][:6]
        expect(who.split(' (')[0] == ', '.join(options[one]['label'] for one in cheapest), f'{label}: {who}')
        expect(near(cost, options[cheapest[0]]['items']['cost_per_mtok']), f'{label}: {cost}')
        other = next((option for option in options.values() if option['label'] == against), None)
        if other:
            wanted = 1 - cost / other['items']['cost_per_mtok']
            expect(near(saving, wanted, 1e-6), f'{label}: a saving of {saving}, not {wanted}')
        expect(evidence in [option['grade'] for option in options.values()], f'{label}: {evidence}')


# ---- Scope

def check_costs(scenario, book):
    result = run_json('compare', scenario, *harness.places(scenario))
    head, *rows = tables_of(book.sheets['Scope and assumptions'])['Costs in the result'][-len(CATEGORIES) - 1:]
    expect(len(rows) == len(CATEGORIES) and set(CATEGORIES.values()) == {row[0] for row in rows}, f'{rows}')
    names = {label: name for name, label in CATEGORIES.items()}
    for label, *covered in rows:
        for option, how in zip(result['options'], covered):
            amount = option['items'].get(names[label])
            wanted = 'does not apply' if amount is None else 'in' if amount else 'zero'
            expect(how == wanted, f'{label} of {option["label"]}: {how}, but it is {amount}')


def kind_of(inputs, entry):
    """The title under which its sentence is; None: it has a source, or is the factor of a list, which nobody touched."""
    if entry.key.endswith('_scale') and {inputs.sheet.value(*place) for place in entry.cells.values()} == {1}:
        return None
    if entry.texts['Grade'] == 'assumed':
        return 'Assumptions of the scenario'
    if entry.texts['Grade'] != 'default':
        return None
    if entry.texts['Source'] != 'default of the cost model':  # the meaning of renting
        return 'Defaults of the cost model'
    values = [inputs.sheet.value(*place) for place in entry.cells.values()]
    return 'Defaults of the cost model' if any(values) else 'Not in the result'


def check_sentences(book):
    inputs, tables = layout.Inputs(book), tables_of(book.sheets['Scope and assumptions'])
    said = [(title, row[0], row[1]) for title, rows in tables.items() for row in rows[1:] if title in KINDS]
    used = set()
    labels = [sheet.name for sheet in book.sheets.values()]
    for entry in inputs.rows:
        label = re.sub(rf', ({"|".join(map(re.escape, labels))})$', '', entry.texts['Input'])
        option = entry.texts['Input'][len(label) + 2:]
        kind = kind_of(inputs, entry)
        mine = [one for one in said if one[0] == kind and one[1].startswith(f'{label}: ')
                and (one[2] == 'all options' or option in one[2].split(', ') or not option)]
        expect(bool(mine) == (kind is not None), f'{entry.key} ({kind}): {mine}')
        used |= set(mine)
        for _, sentence, _ in mine:
            if kind == KINDS[0] and entry.texts['Source'] != 'own assumption':
                source = f" ({entry.texts['Source']}, {entry.texts['Date']})".replace(', -)', ')')
                expect(source in sentence, f'{source} is not in {sentence}')
                sentence = sentence.replace(source, '')
            expect(sentence.endswith('.') and sentence.count('"') == 0, sentence)
            expect(not re.search(r'\d{4,}', sentence[len(label):]) and ', the default of the cost model' not in
                   sentence.partition(' in case ')[2], sentence)
    used |= {one for one in said for years in inputs.lists
             if one[1].startswith(re.sub(rf', ({"|".join(map(re.escape, labels))})$', '', years.texts['Input'])
                                                   + (', year ' if inputs.step_of[years.row] == 'by year' else ', '))}
    expect(used == set(said), f'of no input: {set(said) - used}')


def check_page(book):
    """What is printed ends with the widest table, and its sentences end there, too."""
    sheet = book.sheets['Scope and assumptions']
    printed = next(name.ref for name in book.names if name.name == '_xlnm.Print_Area' and name.sheet == sheet.name)
    last = xlsx.area(printed)[3]
    expect(last == max(column for (_, column), cell in sheet.cells.items() if cell.value is not None), f'{printed} is printed')
    for node in sheet.root.iterfind('mergeCells/*'):
        expect(xlsx.area(node.get('ref'))[3] <= last, f'{node.get("ref")} is not within {printed}')


KINDS = ('Assumptions of the scenario', 'Defaults of the cost model', 'Not in the result')


def check_example(scenario):
    with tempfile.TemporaryDirectory() as folder:
        book = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx')))
    check_summary(scenario, book)
    check_costs(scenario, book)
    check_sentences(book)
    check_page(book)


def check_many():
    """Of more options than there is room for, each kind of cost names those that have it."""
    option = '[option {0}]\nlabel = Offer {0}\naccelerator = h100-sxm5-80\n'
    owned = ''.join(option.format(f'o{number}') + 'list_price = 20000 USD\n' for number in range(7))
    rented = ''.join(option.format(f'r{number}') + 'rental_rate = 2 USD/gpu/h\n' for number in range(2))
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, 'many.ini')
        scenario.write_text('[scenario]\ntitle = Many\ndate = 2026-11-01\n[common]\naccelerators = 8\nutilization = 50 %\n'
                            f'throughput = 1000 token/s\npue = 1.3\nelectricity_price = 0.1 USD/kWh\n{owned}{rented}')
        book = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx')))
    head, *rows = tables_of(book.sheets['Scope and assumptions'])['Costs in the result']
    said = {row[0]: row[1:] for row in rows}
    offers = ', '.join(f'Offer o{number}' for number in range(7))
    expect(head == ['Cost', 'In', 'Zero', 'Does not apply'], f'{head}')
    expect(said['Capital expenditure'] == [offers, 'Offer r0, Offer r1', 'none'], f"{said['Capital expenditure']}")
    expect(said['Support, total'] == ['none', 'all options', 'none'], f"{said['Support, total']}")


def main():
    count = Count()
    count.test('many options', check_many)
    for scenario in harness.EXAMPLES:
        if DEEP or scenario.stem in TELLING:
            count.test(scenario.name, check_example, scenario)
    count.finish()


if __name__ == '__main__':
    main()
