"""The figures of the sheet Simulation, which are numbers because no spreadsheet can reproduce the
draws.

They are an exception from the rule that numbers are on Inputs, so every one of them is compared with
the output of `pertoken simulate --format json` for the same run.
"""
import re

from layout import KEY, SCALAR

NAME = 'Simulation'
BARS, END, DRAWS, BELOW = 4, 0, 1, 2  # columns of an outcome's bars; above them low, high and below
TOLERANCE = 1e-12


def row_of(sheet, key, column=KEY):
    return next((row for row in range(1, sheet.last_row() + 1) if sheet.text(row, column) == key), 0)


def request(sheet):
    """(draws, method, seed) of the run that the sheet shows."""
    method, seed = re.fullmatch(r'(\w+), seed (\d+)', sheet.text(row_of(sheet, 'method'), SCALAR)).groups()
    return int(sheet.value(row_of(sheet, 'done'), SCALAR)), method, seed


def figures(sheet, result):
    """For each place, what must be there."""
    found = {(row_of(sheet, 'done'), SCALAR): result['done'],
             (row_of(sheet, 'rank_error'), SCALAR): max(o['rank_error'] for o in result['outcomes'])}
    ids = [o['option'] for o in result['outcomes'] if o['kind'] == 'cost']
    labels = dict(zip(ids, (label for _, label in headings(sheet, row_of(sheet, 'cost')))))
    outcomes = {(o['kind'], labels.get(o['option'], o['option'])): o for o in result['outcomes']}
    cheapest_of = {labels.get(option, option): share for option, share in result['cheapest'].items()}
    for kind in ('cost', 'saving'):
        found.update(percentiles(sheet, kind, outcomes))
    cheapest = row_of(sheet, 'cheapest')
    if cheapest:
        found.update({(cheapest, column): cheapest_of[option]
                      for column, option in headings(sheet, row_of(sheet, 'cost'))})
    for which in ('first', 'total'):
        found.update(influences(sheet, which, outcomes))
    found.update(bars(sheet, outcomes))
    return {place: value for place, value in found.items() if value is not None}


def headings(sheet, row):
    column = SCALAR
    while sheet.text(row, column):
        yield column, sheet.text(row, column)
        column += 1


def percentiles(sheet, kind, outcomes):
    head = row_of(sheet, kind)
    for column, option in headings(sheet, head) if head else ():
        if (kind, option) not in outcomes or sheet.value(head + 1, column) is None:
            continue  # of the baseline itself, and of an option whose throughput is not comparable
        outcome = outcomes[kind, option]
        values = {**outcome['percentiles'], 'mean': outcome['mean'],
                  'standard_error': outcome['standard_error']}
        rows = {sheet.text(row, KEY): row for row in range(head + 1, head + 2 + len(values))}
        for key, value in values.items():
            yield (rows[key], column), value


def influences(sheet, which, outcomes):
    head = row_of(sheet, which)
    for column, name in headings(sheet, head) if head else ():
        option, kind = name.rsplit(' ', 1)
        for row in range(head + 1, head + 1 + len(outcomes[kind, option]['influences'])):
            share = outcomes[kind, option]['influences'][sheet.text(row, KEY)][which]
            yield (row, column), None if share is None else max(share, 0.0)


def bars(sheet, outcomes):
    head, ends = row_of(sheet, 'histogram'), row_of(sheet, 'ends')
    for number in range(len(outcomes)):
        column = SCALAR + BARS * number
        option, kind = sheet.text(head, column).rsplit(' ', 1)
        histogram = outcomes[kind, option]['histogram']
        yield (ends, column + END), histogram['low']
        yield (ends, column + DRAWS), histogram['high']
        yield (ends, column + BELOW), histogram['below']
        for k, draws in enumerate(histogram['counts']):
            yield (ends + 2 + k, column + DRAWS), draws


def problems(sheet, result):
    """(row, column, reason) of every number that is not the run's, or that is missing."""
    expected = figures(sheet, result)
    for place, cell in sheet.cells.items():
        if cell.formula is None and cell.is_number() and place not in expected:
            yield *place, f'the number {cell.value:g}, which is no figure of the simulation'
    for place, value in expected.items():
        shown = sheet.value(*place)
        if not isinstance(shown, float) or abs(shown - value) > TOLERANCE * abs(value):
            yield *place, f'{shown!r} where pertoken simulate says {value!r}'
