"""The rules of inputs and of checks: what each row and each table of them must have."""
import re

import formulas
import layout
import xlsx
from layout import KEY, LABEL, UNIT
from rules_of_figures import DATE
from subject import at, cells_of

GRADES = set('measured quoted benchmark published projected claim assumed default'.split())
UNDATED = {'assumed', 'default', 'claim'}


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
    yield from repeated_keys(subject.book.sheets.get('Finance'))


def repeated_keys(sheet):
    """A view's items and a comparison's rows have keys of their own, as explain takes either for an item."""
    seen = set()
    for row in layout.items(sheet) if sheet else ():
        key = sheet.text(row, KEY)
        if key in ('', 'Key'):  # the heading of a view, or what stands above it
            continue
        if key in seen:
            yield at(sheet, row, KEY, f'key "{key}" appears twice')
        seen.add(key)


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
