"""Compare what a spreadsheet program calculated with what pertoken cached."""
import formulas
import xlsx

RELATIVE = 1e-9
ABSOLUTE = 1e-9


class Comparison:
    """Formula cells compared, the worst relative difference, and what disagreed."""

    def __init__(self):
        self.cells, self.worst, self.mismatches = 0, 0.0, []

    def add(self, other):
        self.cells += other.cells
        self.worst = max(self.worst, other.worst)
        self.mismatches += other.mismatches


def compare(expected, actual):
    """expected: a book with pertoken's values; actual(sheet name, row, column) -> value."""
    result, zeros = Comparison(), differences(expected)
    for sheet in expected.sheets.values():
        for (row, column), cell in sheet.formulas():
            result.cells += 1
            got = actual(sheet.name, row, column)
            absolute = ABSOLUTE if (sheet.name, row, column) in zeros else 0.0
            difference = relative_difference(cell.value, got, absolute)
            if difference is None or difference > RELATIVE:
                result.mismatches.append(
                    f'{sheet.name}!{xlsx.address(row, column)}: pertoken has {cell.value!r}, '
                    f'the spreadsheet {got!r}: ={cell.formula}')
            else:
                result.worst = max(result.worst, difference)
    return result


def differences(book):
    """The cells that only rounding keeps from zero: those of Checks, and what Checks links to."""
    checks = book.sheets['Checks']
    places = {(checks.name, *place) for place, _ in checks.formulas()}
    for _, cell in checks.formulas():
        if len(formulas.tokens(cell.formula)) == 1:
            places |= {read[:3] for read in formulas.precedents(book, checks.name, cell.formula)}
    return places


def relative_difference(expected, got, absolute):
    """None where the two cannot be compared, such as a text and a number."""
    if isinstance(expected, str) or isinstance(got, str):
        return 0.0 if expected == got else None
    if expected is None or got is None:
        return None
    difference = abs(expected - got)
    if difference <= absolute or (expected == 0 and difference <= ABSOLUTE):
        return 0.0
    if not difference < float('inf'):
        return None
    return difference / abs(expected) if expected else float('inf')


def same_formulas(base, other):
    """Two states of one scenario must have the same formulas in the same cells: what differs."""
    differing = []
    for sheet in base.sheets.values():
        cells = other.sheets[sheet.name].cells if sheet.name in other.sheets else {}
        for (row, column), cell in sheet.formulas():
            there = cells.get((row, column)) or xlsx.Cell(None)
            if there.formula != cell.formula:
                differing.append(f'{sheet.name}!{xlsx.address(row, column)}: ={cell.formula} became '
                                 f'{there.formula or there.value!r}')
    return differing
