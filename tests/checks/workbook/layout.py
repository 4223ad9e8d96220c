"""The layout of a generated workbook: inputs, calculation sheets, validations."""
import xlsx

BEFORE = ('Cover', 'Summary', 'Scope and assumptions', 'Inputs')
AFTER = ('Finance', 'Outputs', 'Sensitivity', 'Simulation', 'Negotiation', 'Decisions', 'Evidence',
         'Checks', 'Change log')
CASES = ('Sensitivity', 'Simulation')  # repeat the calculation per case, down the rows
TORNADO = ('Sensitivity',)
MOVING = CASES + ('Negotiation',)  # their formulas depend on which swings are the widest
SWING_COLUMNS = range(4, 10)  # current value, both ends, the result at both, the width
RESULTS = ('Decisions', 'Negotiation', 'Summary')  # hold results of a run that are not live, in gray
LABEL, KEY, UNIT, SCALAR, FIRST_PERIOD = 1, 2, 3, 4, 5  # columns of a calculation sheet


def calculations(book):
    """The calculation sheets: one for each option, with its name."""
    return [sheet for name, sheet in book.sheets.items() if name not in BEFORE + AFTER]


def timeline(sheet):
    """(row, last column) of a calculation sheet's periods 0, 1, 2...; (0, 0) without."""
    for row in range(1, sheet.last_row() + 1):
        last = FIRST_PERIOD
        while (cell := sheet.cell(row, last)) and (cell.value, cell.formula) == (last - FIRST_PERIOD, None):
            last += 1
        if last > FIRST_PERIOD:
            return row, last - 1
    return 0, 0


def items(sheet):
    """The rows of line items of a calculation sheet: those with a formula in D or right of it."""
    return sorted({row for (row, column), _ in sheet.formulas() if column >= SCALAR})


def swings(sheet):
    """The tornado's inputs by key, with their rows: Key is in the header next to Low end."""
    head = next((row for row in range(1, sheet.last_row() + 1)
                 if sheet.text(row, KEY) == 'Key' and sheet.text(row, SWING_COLUMNS[1]) == 'Low end'),
                None)
    if head is None:  # there are only curves
        return {}
    found, row = {}, head + 1
    while sheet.text(row, KEY):
        found[sheet.text(row, KEY)] = row
        row += 1
    return found


class Validation:
    """A data validation: kind is whole, decimal, list...; low and high are numbers, or None."""

    def __init__(self, node):
        self.areas = node.get('sqref', '').split()
        self.kind, self.style = node.get('type', 'none'), node.get('errorStyle', 'stop')
        self.error = node.get('error', '') if node.get('showErrorMessage') == '1' else ''
        self.formulas = [node.findtext('formula1') or '', node.findtext('formula2') or '']
        operator = node.get('operator', 'between')
        first, second = (number(text) for text in self.formulas)
        self.low = first if operator in ('between', 'greaterThan', 'greaterThanOrEqual') else None
        self.high = second if operator == 'between' else None
        if operator in ('lessThan', 'lessThanOrEqual'):
            self.high = first
        self.strict = operator in ('greaterThan', 'lessThan')

    def covers(self, row, column):
        return any(xlsx.inside(ref, row, column) for ref in self.areas)

    def allows(self, value):
        if self.kind == 'whole' and value != round(value):
            return False
        if self.strict and value in (self.low, self.high):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def choices(self, book, sheet):
        """The texts of a list."""
        text = self.formulas[0]
        if text.startswith('"'):
            return [item.strip() for item in text.strip('"').split(',')]
        name = book.name(text)
        source, _, ref = text.rpartition('!')
        source = name.sheet if name else source.strip("'") or sheet.name
        if source not in book.sheets:
            return []
        top, left, bottom, right = xlsx.area(name.ref if name else ref.replace('$', ''))
        return [book.sheets[source].text(row, column)
                for row in range(top, bottom + 1) for column in range(left, right + 1)]


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def validations(sheet):
    return [Validation(node) for node in sheet.root.iterfind('dataValidations/dataValidation')]


class Input:
    """An input that may be overwritten: its live cell, and that of each case by the case's name."""

    def __init__(self, row, key, unit, texts, live, cells):
        self.row, self.key, self.unit = row, key, unit
        self.texts = texts  # the other columns by their headings: Input, Source, Date, Grade, From
        self.live, self.cells = live, cells


class Inputs:
    """The table of inputs: columns by heading, the cases' columns by name, rows; below it the timeline,
    a list of inputs in each row, with its cases below if there are several, in a block for each step.

    rows: of the table; lists: of the timeline, as (row, key, unit, texts, its values' inputs); all: what
    may be overwritten, of both.
    """

    def __init__(self, book):
        self.sheet = sheet = book.sheets['Inputs']
        self.step_of = {}  # of a list's row: "by year", "every 6 month"
        self.header, self.columns = self.find_header()
        if not self.header:
            raise LookupError('Inputs has no header row with Key and Live')
        by_column = {column: text for text, column in self.columns.items()}
        first, end = self.columns['Live'] + 1, self.columns['Source']
        self.cases = {by_column[column]: column for column in range(first, end)
                      if by_column.get(column)}
        rows = [row for row in range(self.header + 1, sheet.last_row() + 1)
                if sheet.text(row, self.columns['Key']) and sheet.value(row, first) is not None]
        timeline = next((row for row in rows if sheet.text(row, self.columns['Key']) == 'Key'), None)
        self.rows = [self.read_row(row) for row in rows if timeline is None or row < timeline]
        self.lists = [self.read_list(row) for row in rows if timeline is not None and row > timeline
                      and sheet.text(row, self.columns['Key']) != 'Key']
        self.all = self.rows + [year for one in self.lists for year in one.years]
        self.validations = validations(sheet)

    def texts(self, row):
        return {heading: self.sheet.text(row, self.columns[heading])
                for heading in ('Key', 'Unit', 'Input', 'Source', 'Date', 'Grade', 'From')}

    def read_row(self, row):
        texts = self.texts(row)
        return Input(row, texts['Key'], texts['Unit'], texts, (row, self.columns['Live']),
                     {case: (row, column) for case, column in self.cases.items()})

    def read_list(self, row):
        """Years beyond the list's end are computed, and not inputs."""
        texts, first = self.texts(row), self.columns['Live'] + 1
        self.step_of[row] = self.sheet.text(row, self.columns['Live'])
        one = Input(row, texts['Key'], texts['Unit'], texts, None, {})
        rows = {case: row + 1 + i if len(self.cases) > 1 else row for i, case in enumerate(self.cases)}
        one.columns = [column for column in range(first, self.columns['Source'])
                       if self.sheet.value(row, column) is not None]
        stem = 'step' if self.step_of[row].startswith('every ') else 'year'
        one.years = [Input(row, value_key(one.key, stem, column - first + 1), one.unit, texts, (row, column),
                           {case: (at, column) for case, at in rows.items()})
                     for column in one.columns
                     if self.sheet.value(rows[next(iter(rows))], column) is not None
                     and self.sheet.cell(rows[next(iter(rows))], column).style.locked is False]
        kept = [next(self.columns[text] for text in (f'As written, year {number}', f'As written, year or step {number}')
                     if text in self.columns) for number in (column - first + 1 for column in one.columns)]
        one.kept = {case: [(at, column) for column in kept] for case, at in rows.items()}
        return one

    def find_header(self):
        for row in range(1, self.sheet.last_row() + 1):
            texts = {cell.value: column for (r, column), cell in self.sheet.cells.items()
                     if r == row and isinstance(cell.value, str)}
            if 'Key' in texts and 'Live' in texts:
                return row, texts
        return 0, {}

    def validation(self, row, column):
        return next((rule for rule in self.validations if rule.covers(row, column)), None)

    def literals(self):
        """(input, row, column, cell) of every value that a user may overwrite."""
        for entry in self.all:
            for row, column in entry.cells.values():
                cell = self.sheet.cell(row, column)
                if cell is not None and cell.formula is None and cell.value is not None:
                    yield entry, row, column, cell


    def follows(self, row, column):
        """Whether a cell holds on to the value before it in its list, which has ended."""
        cell = self.sheet.cell(row, column)
        return cell is not None and cell.formula == xlsx.address(row, column - 1) and row > self.header

    def own(self):
        """(input, row, column) of every value of a case's own: the literals, and those that follow one."""
        for entry in self.all:
            for row, column in entry.cells.values():
                cell = self.sheet.cell(row, column)
                if self.follows(row, column) or (cell is not None and cell.formula is None and cell.value is not None):
                    yield entry, row, column


def value_key(key, stem, number):
    """The name of a list's value for --set: engineers_year_1, engineers_step_1, h200.list_price_year_2_usd."""
    name = key.removesuffix('_usd')
    return f'{name}_{stem}_{number}{key[len(name):]}'
