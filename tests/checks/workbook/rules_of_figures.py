"""The rules of numbers and dates: where they may stand, and their colors, formats and digits."""
import re

import layout
import metered
import simulated
import xlsx
from layout import FIRST_PERIOD, SCALAR, UNIT
from subject import Spot, at, printed_rows, reader_sheets, unquoted

DATE = re.compile(r'\d{4}(-\d\d){0,2}')
BLUE, BLACK, WHITE, GREY = '0000FF', '000000', 'FFFFFF', '595959'


def rule_02(subject):
    """numeric literals only on Inputs and the timeline, but for results of a run and readings"""
    for sheet in subject.book.sheets.values():
        if sheet.name == simulated.NAME:
            for row, column, reason in simulated.problems(sheet, subject.simulation):
                yield at(sheet, row, column, reason)
            continue
        if sheet.name == metered.NAME:
            for row, column, reason in metered.problems(sheet, subject.measured):
                yield at(sheet, row, column, reason)
            continue
        time = layout.timeline(sheet)[0] if sheet in subject.calculations else 0
        for (row, column), cell in sheet.cells.items():
            allowed = sheet.name == 'Inputs' or (row == time and column >= FIRST_PERIOD)
            allowed |= sheet.name in layout.RESULTS and cell.style and cell.style.color == GREY
            if cell.formula is None and cell.is_number() and not allowed:
                yield at(sheet, row, column, f'the number {cell.value:g}')


def rule_17(subject):
    """inputs blue on a fill and unlocked; formulas black, links green, locked; a legend on Cover"""
    open_cells = {('Inputs', *place) for entry in subject.inputs.all for place in entry.cells.values()}
    chosen = subject.book.name('pt_case')
    open_cells |= {(chosen.sheet, *xlsx.position(chosen.ref))} if chosen else set()
    for sheet in subject.book.sheets.values():
        for (row, column), cell in sheet.cells.items():
            problem = colour_problem(Spot(subject.book, sheet, row, column, cell),
                                     (sheet.name, row, column) in open_cells)
            if problem:
                yield at(sheet, row, column, problem)
        for node in sheet.root.iterfind('sheetProtection'):
            if {'password', 'hashValue'} & set(node.attrib):
                yield f'{sheet.name}: protected with a password'
    legend = {cell.style.color for cell in subject.book.sheets['Cover'].cells.values()
              if cell.style and isinstance(cell.value, str)}
    if BLUE not in legend or not any(map(green, legend)):
        yield 'Cover: no legend of the colours'


def colour_problem(spot, is_open):
    """An input's cells are unlocked in every case, including those that follow base by a formula."""
    style = spot.cell.style or xlsx.Style()
    if is_open and spot.formula is None:
        right = style.color == BLUE and style.fill and not style.locked
        return None if right else 'an input that is not blue on a fill and unlocked'
    if style.locked == is_open:
        return 'locked, but an input' if is_open else 'unlocked, but not an input'
    if spot.formula is None:
        return 'blue, but not an input' if spot.cell.is_number() and style.color == BLUE else None
    heading = style.color == WHITE and style.fill
    sources = [source for source, *_ in spot.reads]
    link = len(spot.tokens()) == 1 and sources and sources[0] != spot.sheet.name
    right = heading or (green(style.color) if link else style.color == BLACK)
    return None if right else f'a formula in the colour {style.color}: ={spot.formula}'


def green(color):
    red, level, blue = (int(color[start:start + 2], 16) for start in (0, 2, 4))
    return level > red + 32 and level > blue + 32


def with_unit(subject):
    """(sheet, row, column, number format, unit, value) of the numbers of Inputs and the calculations."""
    inputs = subject.inputs
    places = [(inputs.sheet, *place, entry.unit)
              for entry in inputs.all for place in (entry.live, *entry.cells.values())]
    for sheet in subject.calculations:
        columns = range(SCALAR, layout.timeline(sheet)[1] + 1)
        places += [(sheet, row, column, sheet.text(row, UNIT)) for row in layout.items(sheet) for column in columns]
    for sheet, row, column, unit in places:
        cell = sheet.cell(row, column)
        if cell and cell.is_number():
            yield sheet, row, column, cell.style.format if cell.style else 'General', unit, \
                sheet.value(row, column)


def rule_18(subject):
    """the number format follows the unit, plain numbers without decimals are whole; on Inputs see rule 28"""
    first = {}
    for sheet, row, column, code, unit, value in with_unit(subject):
        if sheet.name == 'Inputs':
            code = without_decimals(code)
        elif unit == '-' and code == without_decimals(code):
            if value != round(value):
                yield at(sheet, row, column, f'{value} in the format {code}')
            continue
        usual = first.setdefault((sheet.name == 'Inputs', unit), code)
        if ('%' in unquoted(code)) != unit.startswith('%') or code == 'General':
            yield at(sheet, row, column, f'{unit} in the format {code}')
        elif code != usual:
            yield at(sheet, row, column, f'{unit} in the format {code}, elsewhere {usual}')


def without_decimals(code):
    return re.sub(r'\.0+', '', code)


def rule_19(subject):
    """formats for zero, negative numbers and dates; the sign convention stated"""
    for sheet, row, column, code, unit, _ in with_unit(subject):
        money = sheet.name != 'Inputs' and unit.startswith('USD')
        if money and len(unquoted(code).split(';')) < 3:
            yield at(sheet, row, column, f'no format for negative and zero: {code}')
    for sheet in subject.book.sheets.values():
        heads = [place for place, cell in sheet.cells.items() if cell.value == 'Date']
        for (row, column), cell in sheet.cells.items():
            below = any(column == c and row > r for r, c in heads) and (row, column) not in heads
            if below and not is_date(cell):
                yield at(sheet, row, column, f'not a date: {cell.value!r}')
    texts = [cell.value for name in layout.BEFORE if name in subject.book.sheets
             for cell in subject.book.sheets[name].cells.values() if isinstance(cell.value, str)]
    if not any(re.search(r'\bsign\b|\bpositive\b|\bnegative\b', text, re.I) for text in texts):
        yield 'the sign convention is not stated on Cover or Inputs'


def is_date(cell):
    if isinstance(cell.value, str):
        return cell.value.strip() in ('', '-') or bool(DATE.fullmatch(cell.value.strip()))
    return cell.value is None or 'yyyy' in cell.style.format


def rule_28(subject):
    """a figure shows the digits that it has, and no others"""
    widest = {}
    for entry, row, column, cell in subject.inputs.literals():
        code = unquoted(cell.style.format).split(';')[0]
        if '[' in code:
            continue
        scale = 100 if '%' in code else 1
        decimals = len(code.partition('.')[2]) - len(code.partition('.')[2].lstrip('0'))
        shown = round(cell.value * scale, decimals)
        if abs(shown - round(cell.value * scale, 6)) > 1e-9 * max(1, abs(shown)):
            yield at(subject.inputs.sheet, row, column, f'{cell.value * scale:g} in the format {code}')
        fewer = decimals and abs(round(shown, decimals - 1) - shown) <= 1e-9 * max(1, abs(shown))
        line = widest.setdefault(entry.row, [at(subject.inputs.sheet, row, column, ''), True])
        line[1] = line[1] and bool(fewer)
    for place, empty in widest.values():
        if empty:
            yield f'{place}every number of {place[:-2]} ends in a zero behind the point'
    for sheet in reader_sheets(subject):
        printed = printed_rows(subject, sheet)
        for (row, column), cell in sheet.cells.items():
            if not cell.is_number() or not cell.style or '%' not in unquoted(cell.style.format) or row not in printed:
                continue
            value, decimals = sheet.value(row, column), len(re.search(r'0(?:\.(0+))? ?%', cell.style.format)[1] or '')
            if abs(value) > 1e-6 and round(100 * value, decimals) == 0:
                yield at(sheet, row, column, f'{value:g} is shown as nothing by {cell.style.format}')
            if sheet.name in ('Summary', 'Outputs', 'Cover') and decimals != 1 and not 0 < abs(value) < 5e-4:
                yield at(sheet, row, column, f'a share in the format {cell.style.format}')
        for places in columns_of_numbers(subject, sheet):
            numbers, decimals = [sheet.value(*place) for place in places], decimals_of(sheet.cell(*places[0]))
            whole = all(abs(number - round(number)) < 1e-9 for number in numbers)
            if decimals and (whole or max(map(abs, numbers)) >= 1e5):
                yield at(sheet, *places[0], f'{numbers[0]:g} with {decimals} decimals')


def decimals_of(cell):
    """Of what has as many as its size wants; 0 for money, shares and tiny differences."""
    code = unquoted(cell.style.format)
    if '%' in code or 'E' in code or '"-"' in cell.style.format or code.startswith('['):
        return 0
    behind = code.split(';')[0].partition('.')[2]
    return len(behind) - len(behind.lstrip('0'))


def columns_of_numbers(subject, sheet):
    """Places of numbers that stand below each other in a table of answers, in one format."""
    block = []
    for column in sorted({column for _, column in sheet.cells}) if sheet.name in ('Decisions', 'Summary') else ():
        for row in [*printed_rows(subject, sheet), None]:
            cell = sheet.cell(row, column) if row else None
            same = block and cell and cell.is_number() and cell.style.format == sheet.cell(*block[-1]).style.format
            if block and not same:
                yield block
                block = []
            if cell and cell.is_number():
                block.append((row, column))
