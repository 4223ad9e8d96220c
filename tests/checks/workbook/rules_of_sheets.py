"""The rules of sheets: their order, what is in view and on paper, and the words on them."""
import re

import fit
import layout
import xlsx
from layout import KEY, LABEL, SCALAR, UNIT
from subject import at, printed_rows, reader_sheets

EVERYWHERE = ('Cover', 'Scope and assumptions', 'Inputs', 'Outputs', 'Checks', 'Change log')
WORKING = re.compile(r'Flag of the cheapest|How many are|First of the|Comma |The cheapest so far|The answer, |Where fewer than|'
                     r'Cost per token of (the ranked|what)|Ranked against|What it (serves|takes)|And beside|Crossing|'
                     r'Difference of cum|Cumulative cost at|Time since|A price of zero')
MIN_SCALE = 0.39  # 40 %, less the rounding of a page
MAX_PAGE_LENGTH = 120  # of rows; 182 of 15 points are 40 % on A3 in portrait, and some are higher


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


def rule_25(subject):
    """ready to print; a change log with version, digest and seed; two runs give the same bytes"""
    titled, with_area = ({name.local for name in subject.book.names if name.name == f'_xlnm.Print_{what}'}
                         for what in ('Titles', 'Area'))
    for number, sheet in enumerate(subject.book.sheets.values()):
        root, page = sheet.root, sheet.root.find('pageSetup')
        fitted = root.find('sheetPr/pageSetUpPr[@fitToPage="1"]') is not None
        if page is None or page.get('orientation') is None:
            yield f'{sheet.name}: no orientation'
        elif not fitted or page.get('fitToWidth', '1') == '0':
            yield f'{sheet.name}: not fitted to the width of pages'
        elif page.get('fitToWidth', '1') != '1' and not fit.repeated_columns(subject.book, sheet):
            yield f'{sheet.name}: no labels on the second page'
        if str(number) not in with_area:
            yield f'{sheet.name}: no print area'
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


def rule_26(subject):
    """workings below all that is printed, under a heading that says so; the parts of sentences appear only there"""
    for sheet in reader_sheets(subject):
        printed, last = printed_rows(subject, sheet), sheet.last_row()
        headings = [row for row in range(1, last + 1) if sheet.text(row, LABEL) == 'Workings']
        if len(headings) > 1 or (headings and headings[0] in printed):
            yield f'{sheet.name}: workings in rows {headings}, of which up to {printed[-1]} are printed'
        for (row, column), cell in sheet.cells.items():
            if row > printed[-1] and (not headings or row < headings[0]):
                yield at(sheet, row, column, 'neither printed nor among the workings')
        for row in printed:
            if row <= last and WORKING.match(sheet.text(row, LABEL) or ''):
                yield at(sheet, row, LABEL, f'a working in view: {sheet.text(row, LABEL)}')


def rule_27(subject):
    """no stray separators: no unit, heading or row of nothing but dashes, no placeholder words for empty cells"""
    for sheet in reader_sheets(subject):
        rows, printed = {}, printed_rows(subject, sheet)
        for (row, column), cell in sheet.cells.items():
            if row in printed:
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


def rule_31(subject):
    """labels where people read: no key in a label, no id of an option in a warning, no question that is not answered"""
    outputs = subject.book.sheets['Outputs']
    ids = {outputs.text(row, KEY)[:-len('.cash')]: outputs.text(row, LABEL) for row in range(1, outputs.last_row() + 1)
           if outputs.text(row, KEY).endswith('.cash')}
    ids = [id for id, label in ids.items() if not label.endswith(f', {id}')]
    for sheet in (subject.inputs.sheet, *subject.calculations, *reader_sheets(subject)):
        for row in range(1, sheet.last_row() + 1) if sheet.cell(1, 1) else ():
            label = sheet.text(row, LABEL)
            if sheet.text(row, KEY) and sheet.text(row, UNIT) and re.search(r'\b[a-z]+_[a-z_]+\b', re.sub(r'\S+/\S+', '', label)):
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
