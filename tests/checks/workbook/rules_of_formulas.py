"""The rules of formulas, of the names and the lines that they read, and of their values."""
import math
import re

import formulas
import layout
import xlsx
from layout import FIRST_PERIOD, KEY, LABEL, SCALAR, UNIT
from subject import at, cells_of, periods

CONSTANTS = {0.0, 1.0, 100.0}
FUNCTIONS = set('ABS AND COUNT COUNTIF EXP FIND FIXED HYPERLINK IF INDEX IRR ISNUMBER LN MATCH MAX MIN NOT OR ROUND '
                'ROUNDDOWN ROUNDUP SUM SUMPRODUCT'.split())
MAX_FORMULA_LENGTH = 120
ERROR = re.compile(r'#(REF!|NAME\?|DIV/0!|VALUE!|N/A|NUM!|NULL!)')


def rule_03(subject):
    """the same column is the same period, and the same line the same item, on every time sheet"""
    yield from (at(sheet, row, LABEL, reason) for sheet, row, reason in lines(subject))
    timelines = {sheet.name: layout.timeline(sheet) for sheet in subject.calculations}
    for name, (row, last) in timelines.items():
        if not row:
            yield f'{name}: no timeline'
        elif last != max(end for _, end in timelines.values()):
            yield f'{name}: its last period is in column {xlsx.column_name(last)}'
    for spot in subject.formulas():
        if spot.sheet.name in layout.CASES:
            continue
        for source, top, left, bottom, right in spot.reads:
            time, last = timelines.get(source, (0, 0))
            period = top == bottom == time and FIRST_PERIOD <= left == right <= last
            if period and source != spot.sheet.name and left != spot.column:
                yield spot.says('shows a period of another column')


def lines(subject):
    """Where a calculation sheet's labels, keys and units differ from those of the first; duplicate
    headings."""
    first = subject.calculations[0]
    for sheet in subject.calculations:
        headings = set()
        for row in range(layout.timeline(sheet)[0] + 1, max(first.last_row(), sheet.last_row()) + 1):
            texts = [sheet.text(row, column) for column in (LABEL, KEY, UNIT)]
            if texts != [first.text(row, column) for column in (LABEL, KEY, UNIT)]:
                yield sheet, row, f'not {first.name}\'s {first.text(row, KEY)}'
            if texts[0] and not texts[1]:
                if texts[0] in headings:
                    yield sheet, row, f'a second heading {texts[0]}'
                headings.add(texts[0])


def rule_04(subject):
    """precedents above or left within a calculation sheet"""
    for spot in subject.formulas(subject.calculations):
        for source, _, _, bottom, right in spot.reads:
            later = bottom > spot.row or (bottom == spot.row and right >= spot.column)
            if source == spot.sheet.name and later:
                yield spot.says('reads below or right of itself')


def rule_08(subject):
    """one formula per row across the periods"""
    for spots in periods(subject):
        forms = [spot.formula and formulas.relative(spot.formula, spot.row, spot.column)
                 for spot in spots]
        for spot, form in zip(spots, forms):
            if form != forms[0]:
                yield spot.says('differs from the first period')


def rule_09(subject):
    """no constants but 0, 1 and 100 in formulas"""
    for spot in subject.formulas():
        for token in spot.tokens():
            if token.kind == 'number' and float(token.text) not in CONSTANTS:
                yield spot.says(f'the constant {token.text}')


def rule_10(subject):
    """formulas of at most 120 characters, no nested IF, flags instead of IF on time"""
    for spot in subject.formulas():
        if len(spot.formula) + 1 > MAX_FORMULA_LENGTH:
            yield spot.says(f'{len(spot.formula) + 1} characters')
        for call in formulas.arguments(spot.formula, 'IF'):
            if any(token.text.upper() == 'IF' for argument in call for token in argument):
                yield spot.says('nested IF')
    for spots in periods(subject):
        first, sheet = spots[0], spots[0].sheet
        time = layout.timeline(sheet)[0]
        if 'IF' in formulas.functions(first.formula or ''):
            on_time = any(read[:2] == (sheet.name, time) for read in first.reads)
            if on_time and any(spot.cell.value not in (0.0, 1.0) for spot in spots):
                yield first.says('an IF on time where a flag should be')


def rule_11(subject):
    """only functions of the allow-list"""
    for spot in subject.formulas():
        for function in set(formulas.functions(spot.formula)) - FUNCTIONS:
            yield spot.says(function)


def rule_12(subject):
    """no circular reference"""
    spots = {(spot.sheet.name, spot.row, spot.column): spot for spot in subject.formulas()}
    done = set()

    def sources(node):
        return (place for read in spots[node].reads for place in cells_of(read) if place in spots)

    for start in spots:
        path, walks = ([], []) if start in done else ([start], [sources(start)])
        while walks:
            node = next(walks[-1], None)
            if node is None:
                done.add(path.pop())
                walks.pop()
            elif node in path:
                yield spots[node].says('reads itself')
                return
            elif node not in done:
                path.append(node)
                walks.append(sources(node))


def rule_13(subject):
    """everything computed once"""
    seen = {}
    for spot in subject.formulas(subject.calculations):
        if spot.column in (SCALAR, FIRST_PERIOD) and spot.formula != '0':  # what does not apply
            before = seen.setdefault((spot.sheet, spot.column, spot.formula), spot)
            if before is not spot:
                yield spot.says(f'the same as in row {before.row}')


def rule_14(subject):
    """INDEX with two indices, powers and signs in parentheses"""
    for spot in subject.formulas():
        if any(len(call) != 3 for call in formulas.arguments(spot.formula, 'INDEX')):
            yield spot.says('INDEX without a row and a column')
        if ambiguous_power(spot.tokens()):
            yield spot.says('a power without parentheses')


def ambiguous_power(tokens):
    """-a^b and a^b^c, which spreadsheets read differently."""
    latest, before = {}, None  # the latest operator at each depth, the token before
    for token in tokens:
        if token.text in ('(', ','):
            latest.pop(token.depth, None)
        elif token.kind == 'operator':
            if token.text == '^' and latest.get(token.depth) in ('^', 'sign'):
                return True
            sign = before is None or before.kind == 'operator' or before.text in ('(', ',')
            latest[token.depth] = 'sign' if sign else token.text
        before = token
    return False


def rule_15(subject):
    """names legal, prefixed pt_, not like a cell, unique, used"""
    own = [name for name in subject.book.names if not name.name.startswith('_xlnm.')]
    used, seen = names_used(subject), set()
    for name in own:
        if not re.fullmatch(r'pt_[A-Za-z0-9_.]{1,250}', name.name):
            yield f'{name.name}: not a legal name with the prefix pt_'
        if re.fullmatch(r'[A-Za-z]{1,3}\d+|[Rr]\d*([Cc]\d*)?|[Cc]\d*', name.name):
            yield f'{name.name}: looks like a cell'
        if name.name.lower() in seen:
            yield f'{name.name}: defined twice'
        if name.name.lower() not in used:
            yield f'{name.name}: not used'
        if name.sheet not in subject.book.sheets:
            yield f'{name.name}: refers to {name.refers_to}'
        seen.add(name.name.lower())
    for unknown in used - seen - {'true', 'false'}:
        yield f'{unknown}: used, but not defined'


def names_used(subject):
    """In formulas, validations and conditional formats; in lower case."""
    texts = [spot.formula for spot in subject.formulas()]
    for sheet in subject.book.sheets.values():
        texts += [text for rule in layout.validations(sheet) for text in rule.formulas]
        texts += [node.text or '' for node in sheet.root.iter('formula')]
    return {token.text.lower() for text in texts for token in formulas.tokens(text)
            if token.kind == 'name'}


def rule_16(subject):
    """names for scalars, cell references for series"""
    scalars = {(sheet.name, row, SCALAR) for sheet in subject.calculations
               for row in layout.items(sheet) if not sheet.cell(row, FIRST_PERIOD)}
    scalars |= {('Inputs', *entry.live) for entry in subject.inputs.rows}
    for name in subject.book.names:
        if not name.name.startswith('_xlnm.') and ':' in name.ref:
            yield f'{name.name}: a name for a series: {name.refers_to}'
    for spot in subject.formulas():
        for token in spot.tokens():
            single = token.kind == 'ref' and ':' not in token.area
            if single and (token.sheet or spot.sheet.name, *xlsx.position(token.area)) in scalars:
                yield spot.says('a scalar by its address')


def rule_23(subject):
    """no error value in any case"""
    for book in (subject.book, *subject.others):
        for sheet in book.sheets.values():
            for (row, column), cell in sheet.cells.items():
                if cell.error or (isinstance(cell.value, str) and ERROR.match(cell.value)):
                    yield at(sheet, row, column, f'{cell.value}: ={cell.formula}')


def rule_24(subject):
    """every formula has its value cached, and it is finite"""
    for spot in subject.formulas():
        value = spot.cell.value
        if value is None or (spot.cell.is_number() and not math.isfinite(value)):
            yield spot.says(f'the cached value is {value}')
