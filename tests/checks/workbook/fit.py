"""The texts and numbers of a sheet that do not fit at 100 % zoom, as a spreadsheet program shows it.

A text that is not wrapped runs over the empty cells beside it, on the side given by its alignment, up to
the next filled cell; and in print up to the edge of the print area. A wrapped text needs as many lines
as its row is high, unless the row has no height of its own: then programs give it one. A number that
does not fit is shown as ###. On paper, a sheet is scaled to the pages that it is fitted to.
"""
import bisect
import math
import re

import calibri
import xlsx

DIGIT, PADDING = 7, 5     # for Calibri 11, in pixels: a column's width in characters is counted in these
MARGIN, INDENT = 3, 9     # between a text and its cell's edge; per level of indentation
USUAL_WIDTH = 8.43
STAND_IN = 1.1            # by how much a sentence is wider where another font stands in for Calibri
PAPERS = {'8': (842, 1191), '9': (595, 842)}  # A3 and A4 upright, in points
MARGINS = (72, 94)
POINTS = 0.75             # of a pixel
CODE = re.compile(r'"([^"]*)"|_(.)|\\(.)|(E\+0+)|([#0,.]+)|(.)')


def column_pixels(sheet):
    """Column -> its width; the default for those that are not listed."""
    found = {}
    for node in sheet.root.iterfind('cols/col'):
        width = float(node.get('width'))  # with the padding, in 256ths
        for column in range(int(node.get('min')), int(node.get('max')) + 1):
            found[column] = int(width * DIGIT + 0.5)
    return found


def grouped(digits):
    return re.sub(r'(?<=\d)(?=(\d{3})+$)', ',', digits)


def section_of(code, value):
    """The section of a format that applies to a number, and whether it shows the number without its
    sign."""
    sections = code.split(';')
    for number, section in enumerate(sections):
        condition = re.match(r'\[(<|>|=|>=|<=)([\d.]+)\]', section)
        if not condition:
            continue
        holds = {'<': value < float(condition[2]), '>': value > float(condition[2]), '=': value == float(condition[2]),
                 '>=': value >= float(condition[2]), '<=': value <= float(condition[2])}[condition[1]]
        if holds:
            return section[condition.end():], True
        if number == len(sections) - 2:
            return sections[-1], False
    if len(sections) > 2 and value == 0:
        return sections[2], True
    if len(sections) > 1 and value < 0:
        return sections[1], True
    return sections[0], False


def digits_as(pattern, value):
    """A number in a pattern such as #,##0.0000,, without its sign."""
    whole, _, decimals = pattern.partition('.')
    scale = len(pattern) - len(pattern.rstrip(','))
    decimals = decimals.rstrip(',')
    text = f'{abs(value) / 1000 ** scale:.{len(decimals)}f}'
    head, point, tail = text.partition('.')
    return (grouped(head) if ',' in whole.rstrip(',') else head) + point + tail


def shown(value, code):
    """A number as a cell with that format shows it; _x takes the space of x."""
    if code in ('General', '@'):
        return f'{value:.10g}'
    section, unsigned = section_of(code, value)
    value = value * 100 if '%' in re.sub(r'"[^"]*"', '', section) else value
    text = '' if unsigned or value >= 0 else '-'
    if 'E+' in section:
        return text + f'{abs(value):.2E}' + ' '
    for quoted, blank, escaped, _, pattern, other in CODE.findall(section):
        text += quoted or blank or escaped or other or (digits_as(pattern, value) if pattern else '')
    return text


def is_filled(cell):
    return cell is not None and (cell.formula is not None or cell.value not in (None, ''))


def print_edges(book):
    """Sheet -> the last column of its print area."""
    return {name.sheet: xlsx.area(name.ref)[3] for name in book.names if name.name == '_xlnm.Print_Area'}


def printed_area(book, sheet):
    """Its print area; if it has none, all of its cells."""
    number = list(book.sheets).index(sheet.name)
    for name in book.names:
        if (name.name, name.local) == ('_xlnm.Print_Area', str(number)):
            return xlsx.area(name.ref)
    return 1, 1, sheet.last_row(), max(column for _, column in sheet.cells)


def print_titles(book, sheet):
    """What is printed on each page, as written."""
    number = list(book.sheets).index(sheet.name)
    return ' '.join(name.refers_to for name in book.names
                    if (name.name, name.local) == ('_xlnm.Print_Titles', str(number)))


def points_high(sheet, first, last):
    return sum(float(sheet.rows[row].get('ht', 15)) if row in sheet.rows else 15 for row in range(first, last + 1))


def repeated_columns(book, sheet):
    """How many of its first columns are printed on each page."""
    found = re.search(r'!\$A:\$([A-Z]+)', print_titles(book, sheet))
    return xlsx.position(f'{found[1]}1')[1] if found else 0


def repeated_rows(book, sheet):
    found = re.search(r'!\$1:\$(\d+)', print_titles(book, sheet))
    return int(found[1]) if found else 0


def pages_across(widths, titles, room):
    """How many pages columns need side by side if the first ones are on all of them."""
    pages, used = 1, 0
    for width in widths:
        if used + width > room:
            pages, used = pages + 1, sum(widths[:titles])
        used += width
    return pages


def printed_scale(book, sheet):
    """The largest at which its print area is on the pages that it is fitted to."""
    setup = sheet.root.find('pageSetup')
    across, down = PAPERS[setup.get('paperSize')][::1 if setup.get('orientation') == 'portrait' else -1]
    top, left, bottom, right = printed_area(book, sheet)
    pixels = column_pixels(sheet)
    widths = [pixels.get(column, int(USUAL_WIDTH * DIGIT + PADDING)) * POINTS for column in range(left, right + 1)]
    height = points_high(sheet, top, bottom)
    titles, pages = repeated_columns(book, sheet), int(setup.get('fitToWidth', '1'))
    room = across - MARGINS[0]
    scale = 1 - bisect.bisect_left(range(999), True, key=lambda step: pages_across(
        widths, titles, room / (1 - step / 1000)) <= pages) / 1000
    pages = int(setup.get('fitToHeight', '1'))
    height += (pages - 1) * points_high(sheet, 1, repeated_rows(book, sheet))
    return min(scale, pages * (down - MARGINS[1]) / height) if pages else scale


def pages_down(book, sheet):
    """(how many pages its rows fill below one another, under those that are on each page; the scale at which they would
    need one page less)."""
    setup = sheet.root.find('pageSetup')
    down = PAPERS[setup.get('paperSize')][1 if setup.get('orientation') == 'portrait' else 0] - MARGINS[1]
    top, _, bottom, _ = printed_area(book, sheet)
    titles = points_high(sheet, 1, repeated_rows(book, sheet))
    rows = points_high(sheet, top, bottom) - titles
    filled = rows / (down / printed_scale(book, sheet) - titles)
    return filled, down / (rows / max(1, math.ceil(filled - 1e-6) - 1) + titles)


class Places:
    """A sheet's cells as places with a width."""

    def __init__(self, sheet, edge):
        self.sheet, self.edge = sheet, edge  # of the print area, or None
        self.pixels = column_pixels(sheet)
        self.merged = {}
        for node in sheet.root.iterfind('mergeCells/mergeCell'):
            top, left, _, right = xlsx.area(node.get('ref'))
            self.merged[top, left] = right

    def width(self, column):
        return self.pixels.get(column, int(USUAL_WIDTH * DIGIT + PADDING))

    def own_width(self, row, column):
        return sum(self.width(one) for one in range(column, self.merged.get((row, column), column) + 1))

    def run_over(self, row, column, step):
        """How far a text extends over the empty cells beside its own."""
        reach, at = 0, column + step
        last = self.edge if self.edge and column <= self.edge else max(place[1] for place in self.sheet.cells) + 20
        while 1 <= at <= last and not is_filled(self.sheet.cell(row, at)):
            reach += self.width(at)
            at += step
        return reach

    def room(self, row, column, align):
        own = self.own_width(row, column) - MARGIN
        if (row, column) in self.merged:
            return own
        return own + self.run_over(row, column, -1 if align == 'right' else 1)


def wrapped_problem(places, row, column, text, style):
    width = places.own_width(row, column) - MARGIN - INDENT * style.indent
    if (row, column) in places.merged:
        width /= STAND_IN
    needed = calibri.lines_of(text, width, style.size, style.face)
    height = places.sheet.rows[row].get('ht')
    has_own = places.sheet.rows[row].get('customHeight') == '1' or (row, column) in places.merged
    if not has_own:
        return None
    fits = float(height or 15) / (style.size * calibri.LINE)
    return f'{needed} lines, with room for {fits:.1f}' if needed > fits + 0.1 else None


def problem_of(places, row, column, cell):
    style = cell.style or xlsx.Style()
    if cell.is_number():
        text = shown(cell.value, style.format)
        needed, room = calibri.text_width(text, style.size, style.face), places.own_width(row, column) - MARGIN
        return f'{needed:.0f} pixels in {room}: {text}' if needed > room else None
    if not isinstance(cell.value, str) or not cell.value or style.format == ';;;':
        return None
    if style.wrap:
        problem = wrapped_problem(places, row, column, cell.value, style)
        return f'{problem}: {cell.value}' if problem else None
    needed = calibri.text_width(cell.value, style.size, style.face) + INDENT * style.indent
    room = places.room(row, column, style.align)
    return f'{needed:.0f} pixels in {room}: {cell.value}' if needed > room else None


def problems(book):
    """'Sheet!A1: reason' of each text or number that is cut off; texts among workings, which nobody prints, may be."""
    edges = print_edges(book)
    for sheet in book.sheets.values():
        places = Places(sheet, edges.get(sheet.name))
        printed = printed_area(book, sheet)[2]
        for (row, column), cell in sorted(sheet.cells.items()):
            if row > printed and isinstance(cell.value, str):
                continue
            problem = problem_of(places, row, column, cell)
            if problem:
                yield f'{sheet.name}!{xlsx.address(row, column)}: {problem}'
