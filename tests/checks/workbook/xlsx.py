"""Reads and patches xlsx workbooks: just what the checks need, and fast.

A book is read straight from its XML: nothing is between the checks and what was written. Cells are
keyed by (row, column), both counted from 1.
"""
import functools
import gc
import re
import xml.etree.ElementTree as ET
import zipfile
from xml.sax.saxutils import escape

BUILTIN_FORMATS = {0: 'General', 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%',
                   11: '0.00E+00', 14: 'yyyy-mm-dd', 22: 'yyyy-mm-dd hh:mm', 49: '@'}
GARBAGE = {'n': '-987654.25', 'str': 'wrong', 'b': '1', 'e': '#N/A'}
CELL = re.compile(r'<c r="([A-Z]+\d+)"([^>]*?)(?:/>|>(.*?)</c>)', re.S)

gc.disable()  # a book is a million objects without a cycle: looking for cycles takes longer than reading


@functools.lru_cache(maxsize=None)
def column_name(column):
    name = ''
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def address(row, column):
    return f'{column_name(column)}{row}'


@functools.lru_cache(maxsize=None)  # all books that are read have the same places
def position(ref):
    """'B12' -> (12, 2); dollars are ignored."""
    letters, digits = re.fullmatch(r'\$?([A-Z]+)\$?(\d+)', ref).groups()
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return int(digits), column


def area(ref):
    """'B2:D9' or 'B2' -> (top, left, bottom, right)."""
    first, _, last = ref.partition(':')
    return position(first) + position(last or first)


def inside(ref, row, column):
    top, left, bottom, right = area(ref)
    return top <= row <= bottom and left <= column <= right


class Cell:
    __slots__ = ('value', 'formula', 'style', 'error')

    def __init__(self, value, formula=None, style=None, error=False):
        self.value, self.formula, self.style, self.error = value, formula, style, error

    def is_number(self):
        return isinstance(self.value, float)


class Style:
    """The look of a cell: number format, font color (RRGGBB), fill color, lock; its font's size in
    points and face (regular, bold or italic); its alignment, indentation and wrapping."""
    __slots__ = ('format', 'color', 'fill', 'locked', 'size', 'face', 'align', 'indent', 'wrap')

    def __init__(self, format='General', color='000000', fill=None, locked=True, size=11.0, face='regular',
                 align=None, indent=0, wrap=False):
        self.format, self.color, self.fill, self.locked = format, color, fill, locked
        self.size, self.face, self.align, self.indent, self.wrap = size, face, align, indent, wrap


class Sheet:
    def __init__(self, name, part, state):
        self.name, self.part, self.state = name, part, state
        self.cells = {}
        self.root = None  # the XML without its cells
        self.rows = {}    # row -> the XML attributes of the row

    def cell(self, row, column):
        return self.cells.get((row, column))

    def value(self, row, column):
        cell = self.cells.get((row, column))
        return None if cell is None else cell.value

    def text(self, row, column):
        value = self.value(row, column)
        return value.strip() if isinstance(value, str) else ''

    def formulas(self):
        return (item for item in self.cells.items() if item[1].formula is not None)

    def last_row(self):
        return max((row for row, _ in self.cells), default=0)


class Name:
    def __init__(self, name, refers_to, local):
        self.name, self.refers_to, self.local = name, refers_to, local
        sheet, _, self.ref = refers_to.rpartition('!')
        self.sheet = sheet.strip("'").replace("''", "'")
        self.ref = self.ref.replace('$', '')


class Book:
    def __init__(self):
        self.sheets, self.names, self.parts = {}, [], {}

    def name(self, wanted):
        return next((name for name in self.names if name.name == wanted), None)


def parse(data):
    """XML without its default namespace, so that tags read as they are written."""
    return ET.fromstring(re.sub(rb'\sxmlns="[^"]*"', b'', data, count=1))


def read(path):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    book = Book()
    book.parts = parts
    strings = read_strings(parts)
    styles = read_styles(parts)
    targets = sheet_parts(parts['xl/_rels/workbook.xml.rels'])
    root = parse(parts['xl/workbook.xml'])
    for node in root.find('sheets'):
        part = targets[relation_of(node)]
        sheet = Sheet(node.get('name'), part, node.get('state', 'visible'))
        read_cells(sheet, parse(parts[part]), strings, styles)
        book.sheets[sheet.name] = sheet
    for node in root.iterfind('definedNames/definedName'):
        book.names.append(Name(node.get('name'), node.text or '', node.get('localSheetId')))
    return book


def relation_of(sheet):
    return next(value for key, value in sheet.attrib.items() if key.endswith('}id'))


def sheet_parts(relations):
    """{relation: part} of a workbook's relations."""
    targets = {rel.get('Id'): rel.get('Target').lstrip('/') for rel in parse(relations)}
    return {key: part if part.startswith('xl/') else 'xl/' + part for key, part in targets.items()}


def read_strings(parts):
    if 'xl/sharedStrings.xml' not in parts:
        return []
    return [''.join(text.text or '' for text in item.iter('t'))
            for item in parse(parts['xl/sharedStrings.xml']).iterfind('si')]


def read_styles(parts):
    if 'xl/styles.xml' not in parts:
        return []
    root = parse(parts['xl/styles.xml'])
    formats = dict(BUILTIN_FORMATS)
    for node in root.iterfind('numFmts/numFmt'):
        formats[int(node.get('numFmtId'))] = node.get('formatCode')
    fonts = [(color_of(font.find('color')) or '000000', float(font.find('sz').get('val')), face_of(font))
             for font in root.find('fonts')]
    fills = [color_of(fill.find('patternFill/fgColor')) for fill in root.find('fills')]
    styles = []
    for node in root.find('cellXfs'):
        protection = node.find('protection')
        locked = protection is None or protection.get('locked', '1') != '0'
        number = int(node.get('numFmtId', 0))
        alignment = {} if node.find('alignment') is None else node.find('alignment').attrib
        color, size, face = fonts[int(node.get('fontId', 0))]
        styles.append(Style(formats.get(number, f'builtin {number}'), color,
                            fills[int(node.get('fillId', 0))], locked, size, face, alignment.get('horizontal'),
                            int(alignment.get('indent', 0)), alignment.get('wrapText') == '1'))
    return styles


def face_of(font):
    return 'bold' if font.find('b') is not None else 'italic' if font.find('i') is not None else 'regular'


def color_of(node):
    """RRGGBB, or None; the default text color (theme 1) is black."""
    if node is None:
        return None
    if node.get('rgb'):
        return node.get('rgb')[-6:].upper()
    return {'1': '000000', '0': 'FFFFFF'}.get(node.get('theme'))


def read_cells(sheet, root, strings, styles):
    data = root.find('sheetData')
    for row in data:
        sheet.rows[int(row.get('r'))] = dict(row.attrib)
        for node in row:
            formula = node.find('f')
            value, error = read_value(node, strings)
            if value is None and formula is None and node.get('s') is None:
                continue
            style = styles[int(node.get('s', 0))] if styles else None
            sheet.cells[position(node.get('r'))] = Cell(
                value, None if formula is None else formula.text or '', style, error)
    data.clear()
    sheet.root = root


def read_value(node, strings):
    """The cell's value (float, str or None), and whether it is an error."""
    kind = node.get('t', 'n')
    if kind == 'inlineStr':
        return ''.join(text.text or '' for text in node.iter('t')), False
    text = node.findtext('v')
    if kind == 's':
        return strings[int(text)], False
    if kind == 'str':
        return text or '', False
    if text is None or text == '':
        return None, False
    if kind == 'e':
        return text, True
    return float(text), False


FORMULA = re.compile(r'<c r="([A-Z]+\d+)"[^>]*><f[^>]*>(.*?)</f>')


def formulas(path, aside=()):
    """A book's formulas and names as in its XML, without reading more: (sheets, names).

    sheets: {name: [(place, formula), ...]} of those not named in `aside`.
    """
    with zipfile.ZipFile(path) as archive:
        root = parse(archive.read('xl/workbook.xml'))
        targets = sheet_parts(archive.read('xl/_rels/workbook.xml.rels'))
        sheets = {node.get('name'): FORMULA.findall(archive.read(targets[relation_of(node)]).decode())
                  for node in root.find('sheets') if node.get('name') not in aside}
    names = [(node.get('name'), node.text) for node in root.iterfind('definedNames/definedName')]
    return sheets, names


def sheet_names(path):
    with zipfile.ZipFile(path) as archive:
        return [node.get('name') for node in parse(archive.read('xl/workbook.xml')).find('sheets')]


def patch(source, target, change):
    """Copies a book; change(part name, XML text) returns a sheet's new XML."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, 'w') as new:
        for part in old.namelist():
            data = old.read(part)
            if part.startswith('xl/worksheets/sheet'):
                data = change(part, data.decode()).encode()
            new.writestr(part, data)


def spoil(xml):
    """Replaces every formula's cached value with garbage of the same type."""
    def spoiled(match):
        ref, attributes, body = match.groups()
        if body is None or '<f' not in body:
            return match.group(0)
        kind = re.search(r' t="(\w+)"', attributes)
        garbage = GARBAGE[kind.group(1) if kind else 'n']
        body = re.sub(r'<v>.*?</v>|<v/>', '', body, flags=re.S) + f'<v>{garbage}</v>'
        return f'<c r="{ref}"{attributes}>{body}</c>'
    return CELL.sub(spoiled, xml)


def set_cells(xml, values):
    """Puts numbers and texts into cells ({'B12': 0.08}), overwriting formulas; None clears one. Styles stay."""
    if not values:
        return xml
    left = dict(values)

    def replaced(match):
        ref, attributes, _ = match.groups()
        if ref not in left:
            return match.group(0)
        value = left.pop(ref)
        attributes = re.sub(r' t="\w+"', '', attributes)
        if value is None:
            return f'<c r="{ref}"{attributes}/>'
        if isinstance(value, str):
            return f'<c r="{ref}"{attributes} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f'<c r="{ref}"{attributes}><v>{value!r}</v></c>'
    xml = CELL.sub(replaced, xml)
    if left:
        raise KeyError(f'no such cells: {sorted(left)}')
    return xml
