"""The rules that a generated workbook follows. Each rule yields its violations: 'Sheet!A1: reason'.

A rule's docstring is its name in the check's report.
"""
import math
import re

import fit
import formulas
import layout
import metered
import simulated
import xlsx
from layout import FIRST_PERIOD, KEY, LABEL, SCALAR, UNIT

CONSTANTS = {0.0, 1.0, 100.0}
FUNCTIONS = set('ABS AND COUNT COUNTIF EXP FIND FIXED HYPERLINK IF INDEX IRR ISNUMBER LN MATCH MAX MIN NOT OR ROUND '
                'ROUNDDOWN ROUNDUP SUM SUMPRODUCT'.split())
GRADES = set('measured quoted benchmark published projected claim assumed default'.split())
UNDATED = {'assumed', 'default', 'claim'}
MAX_FORMULA_LENGTH = 120
DATE = re.compile(r'\d{4}(-\d\d){0,2}')
ERROR = re.compile(r'#(REF!|NAME\?|DIV/0!|VALUE!|N/A|NUM!|NULL!)')
BLUE, BLACK, WHITE, GREY = '0000FF', '000000', 'FFFFFF', '595959'
EVERYWHERE = ('Cover', 'Scope and assumptions', 'Inputs', 'Outputs', 'Checks', 'Change log')


class Subject:
    """A scenario's workbook, those of its cases, and pairs of runs that must give the same bytes.

    simulation: the output of pertoken simulate for the run that the workbook shows, if it shows one;
    measured: for each option whose record has a meter's readings, that result of the record.
    """

    def __init__(self, book, others=(), runs=(), version='', simulation=None, measured=()):
        self.book, self.others, self.runs, self.version = book, others, runs, version
        self.simulation, self.measured = simulation, dict(measured)
        self.inputs = layout.Inputs(book)
        self.calculations = layout.calculations(book)

    def formulas(self, sheets=None):
        for sheet in self.book.sheets.values() if sheets is None else sheets:
            for (row, column), cell in sheet.formulas():
                yield Spot(self.book, sheet, row, column, cell)


class Spot:
    """A cell in its place."""

    def __init__(self, book, sheet, row, column, cell):
        self.book, self.sheet, self.row, self.column, self.cell = book, sheet, row, column, cell
        self.formula = cell.formula if cell else None

    def tokens(self):
        return formulas.tokens(self.formula)

    def reads(self):
        """(sheet, top, left, bottom, right) of what the formula reads."""
        return formulas.precedents(self.book, self.sheet.name, self.formula)

    def says(self, reason):
        text = '' if self.formula is None else f': ={self.formula}'
        return at(self.sheet, self.row, self.column, reason + text)


def at(sheet, row, column, reason):
    return f'{sheet.name}!{xlsx.address(row, column)}: {reason}'


def rule_01(subject):
    """sheets in order, each with its title in A1"""
    order = [*layout.BEFORE, None, *layout.AFTER]
    places = [order.index(name if name in order else None) for name in subject.book.sheets]
    if places != sorted(places):
        yield f'the sheets are {", ".join(subject.book.sheets)}'
    yield from (f'no sheet {name}' for name in EVERYWHERE if name not in subject.book.sheets)
    for sheet in subject.book.sheets.values():
        if not sheet.text(1, 1):
            yield at(sheet, 1, 1, 'no title')


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
        for source, top, left, bottom, right in spot.reads():
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
        for source, _, _, bottom, right in spot.reads():
            later = bottom > spot.row or (bottom == spot.row and right >= spot.column)
            if source == spot.sheet.name and later:
                yield spot.says('reads below or right of itself')


def rule_05(subject):
    """nothing hidden, no merged cells in calculations"""
    for sheet in subject.book.sheets.values():
        if sheet.state != 'visible':
            yield f'{sheet.name}: a hidden sheet'
        for number, row in sheet.rows.items():
            if row.get('hidden') == '1' or row.get('ht') == '0':
                yield f'{sheet.name}: row {number} is hidden'
        for node in sheet.root.iterfind('cols/col'):
            if node.get('hidden') == '1' or float(node.get('width', 9)) == 0:
                yield f'{sheet.name}: column {node.get("min")} is hidden'
        if sheet in subject.calculations:
            for node in sheet.root.iterfind('mergeCells/*'):
                yield f'{sheet.name}!{node.get("ref")}: merged'


def rule_06(subject):
    """no macros, no external links"""
    for part, data in subject.book.parts.items():
        if re.search(r'vba|macro|activeX|externalLink|connections|embeddings', part, re.I):
            yield f'the file contains {part}'
        for node in xlsx.parse(data) if part.endswith('.rels') else ():
            outside = node.get('TargetMode') == 'External'
            if outside and not node.get('Type').endswith('/hyperlink'):
                yield f'{part} points to {node.get("Target")}'
    for spot in subject.formulas():
        if '[' in re.sub(r'"[^"]*"', '', spot.formula):
            yield spot.says('an external reference')


def rule_07(subject):
    """a unique label and key, and a unit, on every row"""
    for sheet in subject.calculations:
        seen = set()
        for row in layout.items(sheet):
            for column, heading in ((LABEL, 'label'), (KEY, 'key'), (UNIT, 'unit')):
                text = sheet.text(row, column)
                if not text:
                    yield at(sheet, row, column, f'no {heading}')
                elif column != UNIT and (column, text) in seen:
                    yield at(sheet, row, column, f'{heading} "{text}" appears twice')
                seen.add((column, text))
    seen = set()
    for entry in (*subject.inputs.rows, *subject.inputs.lists):
        if not entry.unit or not entry.texts['Input']:
            yield at(subject.inputs.sheet, entry.row, 1, f'{entry.key} has no unit or no label')
        if entry.key in seen:
            yield at(subject.inputs.sheet, entry.row, 1, f'key {entry.key} appears twice')
        seen.add(entry.key)


def periods(subject):
    """For each row of periods: its cells as spots."""
    for sheet in subject.calculations:
        last = layout.timeline(sheet)[1]
        for row in layout.items(sheet):
            spots = [Spot(subject.book, sheet, row, column, sheet.cell(row, column))
                     for column in range(FIRST_PERIOD, last + 1)]
            if any(spot.formula for spot in spots):
                yield spots


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
            on_time = any(read[:2] == (sheet.name, time) for read in first.reads())
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
        return (place for read in spots[node].reads() for place in cells_of(read) if place in spots)

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


def cells_of(read):
    sheet, top, left, bottom, right = read
    return ((sheet, row, column) for row in range(top, bottom + 1)
            for column in range(left, right + 1))


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
    sources = [source for source, *_ in spot.reads()]
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
        places += [(sheet, row, column, sheet.text(row, UNIT)) for row in layout.items(sheet)
                   for column in range(SCALAR, layout.timeline(sheet)[1] + 1)]
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


def unquoted(code):
    return re.sub(r'"[^"]*"', '', code)


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


def rule_20(subject):
    """validation, error text, source, date and grade for each input"""
    sheet = subject.inputs.sheet
    for entry, row, column, _ in subject.inputs.literals():
        rule = subject.inputs.validation(row, column)
        if rule is None or rule.kind == 'none' or rule.style != 'stop' or not rule.error:
            yield at(sheet, row, column, f'{entry.key}: no validation with an error text')
    for entry in (*subject.inputs.rows, *subject.inputs.lists):
        grade, date = entry.texts['Grade'], entry.texts['Date']
        if grade not in GRADES:
            yield at(sheet, entry.row, 1, f'{entry.key} has the grade "{grade}"')
        if not entry.texts['Source'] or not entry.texts['From']:
            yield at(sheet, entry.row, 1, f'{entry.key} has no source')
        if not DATE.fullmatch(date) and not (date == '-' and grade in UNDATED):
            yield at(sheet, entry.row, 1, f'{entry.key} ({grade}) has the date "{date}"')


def rule_21(subject):
    """a drop-down of the cases, live values by INDEX, overrides highlighted"""
    book, inputs, name = subject.book, subject.inputs, subject.book.name('pt_case')
    if name is None or name.sheet not in book.sheets:
        yield 'no cell is named pt_case'
        return
    sheet, place = book.sheets[name.sheet], xlsx.position(name.ref)
    lists = [rule.choices(book, sheet) for rule in layout.validations(sheet)
             if rule.covers(*place) and rule.kind == 'list' and rule.error]
    if lists != [list(inputs.cases)] or sheet.value(*place) not in inputs.cases:
        yield at(sheet, *place, f'no drop-down of the cases: {lists}, {sheet.value(*place)!r}')
    first, last = min(inputs.cases.values()), inputs.columns['Source'] - 1
    for entry in inputs.rows:
        live = inputs.sheet.cell(entry.row, inputs.columns['Live'])
        over = f'{xlsx.address(entry.row, first)}:{xlsx.address(entry.row, last)}'
        if not live or not (live.formula or '').replace('$', '').startswith(f'INDEX({over},'):
            yield at(inputs.sheet, entry.row, inputs.columns['Live'], f'not an INDEX over {over}')
    for entry in (year for one in inputs.lists for year in one.years if len(inputs.cases) > 1):
        live, places = inputs.sheet.cell(*entry.live), list(entry.cells.values())
        over = f'{xlsx.address(*places[0])}:{xlsx.address(*places[-1])}'
        if not (live.formula or '').startswith(f'INDEX({over},'):
            yield at(inputs.sheet, *entry.live, f'not an INDEX over {over}')
    yield from plain_overrides(inputs)


def plain_overrides(inputs):
    """A highlighted cell has another fill than the base value, or a conditional format."""
    areas = [ref for node in inputs.sheet.root.iterfind('conditionalFormatting')
             for ref in node.get('sqref').split()]
    for entry, row, column, literal in inputs.literals():
        base = inputs.sheet.cell(*entry.cells['base'])
        highlighted = base.style and base.style.fill != literal.style.fill
        if (row, column) != entry.cells['base'] and not highlighted \
                and not any(xlsx.inside(ref, row, column) for ref in areas):
            yield at(inputs.sheet, row, column, 'an override that is not highlighted')


def rule_22(subject):
    """checks with difference, tolerance and flag; a master check on Cover and Outputs"""
    checks = subject.book.sheets['Checks']
    header, columns = checks_table(checks)
    if len(columns) < 3:
        yield 'Checks: no table with a difference, a tolerance and a flag'
        return
    rows = [row for row in range(header + 1, checks.last_row() + 1)
            if checks.value(row, columns['difference']) is not None]
    if not rows:
        yield 'Checks: no check'
    for row in rows:
        cells = [checks.cell(row, column) for column in columns.values()]
        if not all(cell and cell.formula for cell in cells):
            yield at(checks, row, 1, 'difference, tolerance or flag is not a formula')
        elif cells[2].value not in (1.0, 'OK', 'ok', 'pass'):
            yield at(checks, row, columns['flag'], f'the check says {cells[2].value!r}')
    shown = reads_of(subject.book, 'Cover') & reads_of(subject.book, 'Outputs')
    flags = {('Checks', row, columns['flag']) for row in rows}
    masters = [place for place in shown if place[0] == 'Checks']
    if not any(flags <= reads_of(subject.book, 'Checks', place[1:]) for place in masters):
        yield 'no master check over all flags that Cover and Outputs both show'


def checks_table(sheet):
    """The header row of Checks, and the columns of difference, tolerance and flag in it."""
    words = {'difference': 'difference', 'tolerance': 'tolerance',
             'flag': r'ok\??|pass(ed)?|flag|result'}
    for header in range(1, sheet.last_row() + 1):
        texts = [(column, sheet.text(row, column)) for row, column in sheet.cells if row == header]
        columns = {word: column for word, pattern in words.items() for column, text in texts
                   if re.fullmatch(pattern, text, re.I)}
        if 'difference' in columns:
            return header, columns
    return 0, {}


def reads_of(book, name, place=None):
    """Every cell that the formulas of a sheet read, or the formula of one of its cells."""
    return {source for where, cell in book.sheets[name].formulas() if place in (None, where)
            for read in formulas.precedents(book, name, cell.formula) for source in cells_of(read)}


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


def rule_25(subject):
    """ready to print; a change log with version, digest and seed; two runs give the same bytes"""
    titled = {name.local for name in subject.book.names if name.name == '_xlnm.Print_Titles'}
    for number, sheet in enumerate(subject.book.sheets.values()):
        root, page = sheet.root, sheet.root.find('pageSetup')
        fitted = root.find('sheetPr/pageSetUpPr[@fitToPage="1"]') is not None
        if page is None or page.get('orientation') is None:
            yield f'{sheet.name}: no orientation'
        elif not fitted or page.get('fitToWidth', '1') == '0':
            yield f'{sheet.name}: not fitted to the width of pages'
        elif page.get('fitToWidth', '1') != '1' and not fit.repeated_columns(subject.book, sheet):
            yield f'{sheet.name}: no labels on the second page'
        if not root.findtext('headerFooter/oddFooter'):
            yield f'{sheet.name}: no footer'
        if sheet.name != 'Cover' and root.find('sheetViews//pane[@state="frozen"]') is None:
            yield f'{sheet.name}: no frozen panes'
        if sheet.name != 'Cover' and str(number) not in titled:
            yield f'{sheet.name}: no repeated titles'
    log = ' '.join(cell.value for _, cell in sorted(subject.book.sheets['Change log'].cells.items())
                   if isinstance(cell.value, str))
    for what, pattern in (('version', re.escape(subject.version)),
                          ('digest', r'\b[0-9a-f]{64}\b'), ('seed', r'(?i)\bseed\b')):
        if not re.search(pattern, log):
            yield f'Change log: no {what}'
    for label, one, two in subject.runs:
        if one != two:
            yield f'two runs differ ({label})'


def reader_sheets(subject):
    """Sheets for readers rather than line-by-line computation: all except Inputs and the calculations."""
    return [sheet for sheet in subject.book.sheets.values()
            if sheet is not subject.inputs.sheet and sheet not in subject.calculations]


def printed_rows(subject, sheet):
    """The rows of its print area; all of them if it has none."""
    top, _, bottom, _ = fit.printed_area(subject.book, sheet)
    return range(top, bottom + 1)


def rule_26(subject):
    """workings below all that is printed, under a heading that says so; only there what words are made of"""
    for sheet in reader_sheets(subject):
        printed = printed_rows(subject, sheet)
        headings = [row for row in range(1, sheet.last_row() + 1) if sheet.text(row, LABEL) == 'Workings']
        if len(headings) > 1 or (headings and headings[0] in printed):
            yield f'{sheet.name}: workings in rows {headings}, of which up to {printed[-1]} are printed'
        for (row, column), cell in sheet.cells.items():
            if row > printed[-1] and (not headings or row < headings[0]):
                yield at(sheet, row, column, 'neither printed nor among the workings')
        for row in printed:
            if row <= sheet.last_row() and WORKING.match(sheet.text(row, LABEL) or ''):
                yield at(sheet, row, LABEL, f'a working in view: {sheet.text(row, LABEL)}')


WORKING = re.compile(r'Flag of the cheapest|How many are|First of the|Comma |The cheapest so far|The answer, |Where fewer than|'
                     r'Cost per token of (the ranked|what)|Ranked against|What it (serves|takes)|And beside|Crossing|'
                     r'Difference of cum|Cumulative cost at|Time since|A price of zero')


def rule_27(subject):
    """no stray separators: no unit, heading or row of nothing but dashes, no words for nothing"""
    for sheet in reader_sheets(subject):
        rows = {}
        for (row, column), cell in sheet.cells.items():
            if row in printed_rows(subject, sheet):
                rows.setdefault(row, {})[column] = cell.value
        before = UNIT if any(cells.get(KEY) == 'Key' for cells in rows.values()) else LABEL
        for row, cells in rows.items():
            if cells.get(KEY) == '-' and len(cells) == 2:
                yield at(sheet, row, LABEL, f'nothing said: {cells[LABEL]}')
            words = [value for column, value in cells.items() if column > before and value not in ('', None)]
            if sheet.name in ('Outputs', 'Sensitivity', 'Negotiation', 'Finance', 'Simulation') and cells.get(UNIT) == '-':
                yield at(sheet, row, UNIT, 'a dash for a unit')
            if words and all(value == '-' for value in words):
                yield at(sheet, row, LABEL, f'a row of dashes: {cells.get(LABEL)}')
            if str(cells.get(LABEL)).startswith('Saving per token against') and words == [0.0]:
                yield at(sheet, row, LABEL, 'what a single option saves against itself')
        for (row, column), cell in sheet.cells.items():
            if cell.value == 'no crossing':
                yield at(sheet, row, column, 'words for nothing')


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
        for (row, column), cell in sheet.cells.items():
            if not cell.is_number() or not cell.style or '%' not in unquoted(cell.style.format) \
                    or row not in printed_rows(subject, sheet):
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


def rule_29(subject):
    """charts without empty periods: columns over periods only where all cases have the same"""
    horizons = next((entry for entry in subject.inputs.rows if entry.key == 'horizon'), None)
    lengths = {subject.inputs.sheet.value(*place) for place in horizons.cells.values()} if horizons else set()
    if len(lengths) < 2:
        return
    dated = {row for row in range(1, subject.book.sheets['Outputs'].last_row() + 1)
             if subject.book.sheets['Outputs'].text(row, LABEL) == 'Period begins'}
    for number, part in enumerate(sorted(part for part in subject.book.parts if re.match('xl/charts/chart', part))):
        for series in re.findall(r'<c:cat>.*?<c:f>(.*?)</c:f>', subject.book.parts[part].decode(), re.S):
            sheet, _, ref = series.rpartition('!')
            if sheet.strip("'") == 'Outputs' and xlsx.area(ref.replace('$', ''))[0] in dated | {row + 1 for row in dated}:
                yield f'chart {number + 1}: columns over {series}, whose last periods are empty in some case'


def rule_30(subject):
    """each sheet on one page, where that leaves letters that can be read: not below 40 % on A3"""
    for sheet in subject.book.sheets.values():
        page = sheet.root.find('pageSetup')
        if page is None:
            continue
        scale, across = fit.printed_scale(subject.book, sheet), page.get('fitToWidth', '1')
        if scale < MIN_SCALE:
            yield f'{sheet.name}: printed at {100 * scale:.0f} %'
        area = printed_rows(subject, sheet)
        if page.get('fitToHeight', '1') != '1' and across == '1' and len(area) <= MAX_PAGE_LENGTH:
            yield f'{sheet.name}: {len(area)} rows on several pages'
        page.set('fitToWidth', '1')
        if across != '1' and fit.printed_scale(subject.book, sheet) >= MIN_SCALE:
            yield f'{sheet.name}: {across} pages side by side, and one is wide enough'
        page.set('fitToWidth', across)


MIN_SCALE = 0.39  # 40 %, less the rounding of a page
MAX_PAGE_LENGTH = 120  # of rows; 182 of 15 points are 40 % on A3 in portrait, and some are higher


def rule_31(subject):
    """labels where people read: no key in a label, no id of an option in a warning, no question that is not answered"""
    outputs = subject.book.sheets['Outputs']
    ids = {outputs.text(row, KEY)[:-len('.cash')]: outputs.text(row, LABEL) for row in range(1, outputs.last_row() + 1)
           if outputs.text(row, KEY).endswith('.cash')}
    ids = [id for id, label in ids.items() if not label.endswith(f', {id}')]
    for sheet in (subject.inputs.sheet, *subject.calculations, *reader_sheets(subject)):
        for row in range(1, sheet.last_row() + 1) if sheet.cell(1, 1) else ():
            label = sheet.text(row, LABEL)
            if sheet.text(row, KEY) and sheet.text(row, UNIT) and re.search(r'\b[a-z]+_[a-z_]+\b', label):
                yield at(sheet, row, LABEL, f'a key in "{label}"')
            if sheet.name == 'Finance' and label.endswith('?') and not sheet.text(row, KEY).endswith('.pays') and \
                    sheet.text(row, SCALAR):
                yield at(sheet, row, LABEL, f'"{label}" is answered by "{sheet.text(row, SCALAR)}"')
    for sheet in (subject.book.sheets['Scope and assumptions'], subject.book.sheets.get('Evidence')):
        for row, text in warnings_on(sheet) if sheet else ():
            said = [id for id in ids if not text.startswith('not included') and re.search(rf'(?<![\w.-]){re.escape(id)}(?![\w.-])', text)]
            if said:
                yield at(sheet, row, LABEL, f'{said[0]} in "{text}"')


def warnings_on(sheet):
    """(row, text) of the warnings on Scope, below that heading, or on Evidence, beside it."""
    below = False
    for row in range(1, sheet.last_row() + 1):
        label = sheet.text(row, LABEL)
        if label == 'Warning' and sheet.name == 'Evidence':
            yield row, sheet.text(row, KEY)
        elif below and label:
            yield row, label
        below = label == 'Warning' or (below and bool(label))


RULES = [(int(name[5:]), rule) for name, rule in sorted(globals().items())
         if name.startswith('rule_')]
