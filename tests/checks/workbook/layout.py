"""Where things stand in a generated workbook: inputs, calculation sheets, validations."""
import xlsx

BEFORE = ('Cover', 'Inputs')
AFTER = ('Finance', 'Outputs', 'Sensitivity', 'Simulation', 'Negotiation', 'Decisions', 'Evidence',
         'Checks', 'Change log')
CASES = ('Sensitivity', 'Simulation')  # repeat the calculation per case, down the rows
TORNADO = ('Sensitivity',)
MOVING = CASES + ('Negotiation',)  # their formulas depend on which swings are the widest
SWING_COLUMNS = range(4, 10)  # at present, both ends, the result at both, the width
RESULTS = ('Decisions',)  # hold results of a run that are not live, in grey
LABEL, KEY, UNIT, SCALAR, FIRST_PERIOD = 1, 2, 3, 4, 5  # columns of a calculation sheet


def calculations(book):
    """The calculation sheets: one per option, named by it."""
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
    """The tornado's inputs by key, with their rows: Key stands in the header beside Low end."""
    head = next((row for row in range(1, sheet.last_row() + 1)
                 if sheet.text(row, KEY) == 'Key' and sheet.text(row, SWING_COLUMNS[1]) == 'Low end'),
                None)
    if head is None:  # there are curves alone
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
    """A row of the table of inputs."""

    def __init__(self, row, key, unit, texts):
        self.row, self.key, self.unit = row, key, unit
        self.texts = texts  # the other columns by their headings: Input, Source, Date, Grade, From


class Inputs:
    """The table of inputs: columns by heading, the cases' columns by name, rows."""

    def __init__(self, book):
        self.sheet = sheet = book.sheets['Inputs']
        self.header, self.columns = self.find_header()
        if not self.header:
            raise LookupError('Inputs has no header row with Key and Live')
        by_column = {column: text for text, column in self.columns.items()}
        first, end = self.columns['Live'] + 1, self.columns['Source']
        self.cases = {by_column[column]: column for column in range(first, end)
                      if by_column.get(column)}
        self.rows = [self.read_row(row) for row in range(self.header + 1, sheet.last_row() + 1)
                     if sheet.text(row, self.columns['Key']) and sheet.value(row, first) is not None]
        self.validations = validations(sheet)

    def read_row(self, row):
        texts = {heading: self.sheet.text(row, self.columns[heading])
                 for heading in ('Key', 'Unit', 'Input', 'Source', 'Date', 'Grade', 'From')}
        return Input(row, texts['Key'], texts['Unit'], texts)

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
        """(row, column, cell) of every input that a user may type over."""
        for entry in self.rows:
            for column in self.cases.values():
                cell = self.sheet.cell(entry.row, column)
                if cell is not None and cell.formula is None and cell.value is not None:
                    yield entry, column, cell
