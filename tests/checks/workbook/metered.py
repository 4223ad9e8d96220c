"""The readings of a meter on the sheet Evidence: numbers from a record, not from a formula.

They are an exception from the rule that numbers are on Inputs, so every one of them is compared with
the record itself, and must be gray.
"""
NAME = 'Evidence'
GREY = '595959'
WINDOW, SECONDS, WATTS, TDP = 1, 2, 3, 4  # columns; TDP also where a gap is marked
WINDOWS = (('idle', 'idle'), ('load', 'under load'))


def row_of(sheet, text, first=1):
    return next((row for row in range(first, sheet.last_row() + 1) if sheet.text(row, WINDOW) == text), 0)


def lines_row(sheet, option):
    """The first of the two rows of the chart's flat lines."""
    return 1 + row_of(sheet, 'Flat lines', row_of(sheet, f'{option}: measured watts over time') or 1)


def readings(sheet, option, result):
    """(row, the window's name, end, watts or None) of every reading, at its expected place."""
    row = 2 + row_of(sheet, f'{option}: readings of the meter')
    for window, name in WINDOWS:
        of = result['readings'][window]
        for end_s, power_w in zip(of['end_s'], of['power_w']):
            yield row, name, end_s, power_w
            row += 1


def figures(sheet, measured):
    """For each place, the number that must be there."""
    found = {}
    for option, result in measured.items():
        for row, _, end_s, power_w in readings(sheet, option, result):
            found[row, SECONDS] = end_s
            if power_w is not None:
                found[row, WATTS] = power_w
        ends = [of['end_s'][-1] for of in result['readings'].values() if of['end_s']]
        for row, end_s in zip(range(lines_row(sheet, option), 1 << 20), (0, max(ends))):
            found[row, SECONDS], found[row, WATTS] = end_s, result['load_power_w']
    return found


def problems(sheet, measured):
    """(row, column, reason) of every number that is not the record's, or that is missing."""
    expected = figures(sheet, measured)
    for place, cell in sheet.cells.items():
        if cell.formula is not None or not cell.is_number():
            continue
        if place not in expected:
            yield *place, f'the number {cell.value:g}, which is no reading of a meter'
        elif not cell.style or cell.style.color != GREY:
            yield *place, 'a reading that is not grey'
    for place, value in expected.items():
        shown = sheet.value(*place)
        if not isinstance(shown, float) or abs(shown - value) > 1e-12 * abs(value):
            yield *place, f'{shown!r} where the record has {value!r}'
