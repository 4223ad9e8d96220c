"""Compares what a spreadsheet program calculated with what pertoken cached."""
import re

import layout
import simulated
import typed
import xlsx

GRADES = ('measured', 'quoted', 'benchmark', 'published', 'projected', 'claim', 'assumed')
FOLLOWS_NOT = '. This sheet does not follow them.'
LOG_NUMBER = 3  # the column of the Change log that numbers overwritten inputs
ENDS = 3  # of a swing's columns: the current value and both ends, before the results
RELATIVE = 1e-9
ABSOLUTE = 1e-9
ERROR = '#DIV/0!'  # in a line that the workbook's own "-" or a condition leaves out
OF_AMOUNTS = 1e-6  # for a difference between amounts of 1e8 USD; a double's last bit is 1.5e-8


class Comparison:
    """Formula cells compared, the worst relative difference, and what disagreed."""

    def __init__(self, typed_over=False):
        self.cells, self.worst, self.mismatches = 0, 0.0, []
        self.typed_over = typed_over  # an input of the run: a drawn one may be overwritten, and its range is void

    def add(self, other):
        self.cells += other.cells
        self.worst = max(self.worst, other.worst)
        self.mismatches += other.mismatches

    def judge(self, sheet, row, column, cell, got):
        """Counts a cell: pertoken's value, and the spreadsheet program's."""
        self.cells += 1
        absolute = slack_of(sheet, row)
        if self.typed_over and isinstance(got, str):
            cell = xlsx.Cell(without_draws(cell.value), cell.formula)
            got = without_draws(got)
        difference = relative_difference(cell.value, got, absolute)
        if difference is None or difference > RELATIVE:
            self.mismatches.append(f'{sheet.name}!{xlsx.address(row, column)}: pertoken has '
                                   f'{cell.value!r}, the spreadsheet {got!r}: ={cell.formula}')
        else:
            self.worst = max(self.worst, difference)


def compare(expected, base, actual):
    """expected: a book with pertoken's values; actual(sheet name, row, column) -> value in base."""
    typed_over = simulated.NAME in base.sheets and differing_inputs(base, actual) > 0
    result, origins = Comparison(typed_over), typed.Typed(base, actual)
    for sheet in expected.sheets.values():
        if sheet.name in layout.TORNADO and moved(sheet, base.sheets[sheet.name]):
            compare_swings(result, sheet, base.sheets[sheet.name], actual)
            continue
        if sheet.name == simulated.NAME:
            compare_simulation(result, sheet, base, actual)
            continue
        rows = moved_rows(sheet, base.sheets[sheet.name])
        for (row, column), cell in sheet.formulas():
            said = origin_said(sheet, row, column, cell, origins)
            if said is None:
                said = decision_said(base, base.sheets[sheet.name].cell(rows.get(row, row), column), origins)
            if said is not None:
                cell = xlsx.Cell(said, cell.formula)
            elif simulated.NAME in cell.formula:
                cell = as_simulated(base.sheets[sheet.name].cell(row, column), sheet, base, actual)
            result.judge(sheet, row, column, cell, actual(sheet.name, rows.get(row, row), column))
    return result


def steady_rows(sheet):
    """The rows between which as many warnings stand as there are: of Evidence those that follow the inputs, one for each
    option, of Decisions all others."""
    if sheet.name == 'Evidence':
        return [row for row in sheet.rows if sheet.text(row, layout.LABEL) == 'Not included']
    return [row for row in sheet.rows if not sheet.text(row, 1).startswith('Warning:')] if sheet.name == 'Decisions' else []


def moved_rows(sheet, other):
    """{row of a sheet: where it is in another state of it}, of those that may be elsewhere. Where Decisions has other
    answers in that state, all are expected where they were."""
    rows, others = steady_rows(sheet), steady_rows(other)
    return dict(zip(rows, others)) if len(rows) == len(others) else {}


def origin_said(sheet, row, column, cell, origins):
    """The expected provenance text of a cell; None for other cells."""
    if sheet.name == 'Inputs':
        return origins.wanted(row, column)
    if sheet.name == 'Change log':
        number = sheet.value(row, LOG_NUMBER)
        if number is None:
            return origins.not_listed()
        texts = origins.in_log(number) if column < LOG_NUMBER else ()
        return texts[column - 1] if texts else len(origins.anywhere) if 'Inputs' in cell.formula else None
    if FOLLOWS_NOT in cell.formula:
        count = len(origins.anywhere)
        return f'Inputs overwritten since: {count}{FOLLOWS_NOT}' if count else ''
    link = re.fullmatch(r"'?Inputs'?!(\$[A-Z]+\$\d+)", cell.formula)
    return origins.wanted(*xlsx.position(link[1].replace('$', ''))) if link else None


def decision_said(base, cell, origins):
    """The expected text of a cell about the answers on Decisions: of the run, as long as no live input differs from it;
    None for other cells."""
    sheet = base.sheets.get('Decisions')
    if not sheet or not cell or not cell.formula:
        return None
    case = next(sheet.text(row, 2) for row in sheet.rows if sheet.text(row, 1) == 'Case of the run')
    state = 'current' if origins.case == case and not origins.rows else 'stale'
    if cell.formula.endswith('"current","stale")') and "SUM('Inputs'" in cell.formula:
        return state
    sentence = re.fullmatch(r'IF\(\$B\$\d+="current",(\$A\$\d+),"(.*)"\)', cell.formula)
    if sentence:
        return sheet.value(*xlsx.position(sentence[1].replace('$', ''))) if state == 'current' else sentence[2]
    both = re.fullmatch(r"'Decisions'!(\S+)&\"\. \"&'Decisions'!(\S+)", cell.formula)
    if not both:
        return None
    title, sentence = (sheet.cell(*xlsx.position(ref.replace('$', ''))) for ref in both.groups())
    return f'{title.value}. {decision_said(base, sentence, origins)}'


def compare_simulation(result, sheet, base, actual):
    """The current results follow the inputs; the run's figures stay, and are then outdated."""
    there = base.sheets[sheet.name]
    rows = {key: simulated.row_of(there, key) for key in ('state', 'differing')}
    for (row, column), cell in there.formulas():
        if row == rows['differing']:
            cell = xlsx.Cell(float(differing_inputs(base, actual)), cell.formula)
        elif row == rows['state']:
            cell = xlsx.Cell(state_of_simulation(base, actual), cell.formula)
        elif there.text(row, layout.KEY) == 'live':
            cell = sheet.cell(row, column)
        result.judge(there, row, column, cell, actual(sheet.name, row, column))


def differing_inputs(base, actual):
    inputs = layout.Inputs(base)
    live, run = inputs.columns['Live'], inputs.columns['Simulated']
    return sum(actual('Inputs', entry.row, live) != inputs.sheet.value(entry.row, run)
               for entry in inputs.rows) + sum(not typed.same_as_written(one, inputs.sheet, actual)
                                               for one in inputs.lists)


def state_of_simulation(base, actual):
    sheet, chosen = base.sheets[simulated.NAME], base.name('pt_case')
    case = sheet.text(simulated.row_of(sheet, 'case'), layout.SCALAR)
    same_case = actual(chosen.sheet, *xlsx.position(chosen.ref)) == case
    return 'current' if same_case and not differing_inputs(base, actual) else 'stale'


def as_simulated(cell, sheet, base, actual):
    """The expected text of a cell elsewhere about the simulation: its figures are unchanged. A text that
    applies to a current run only names the cell with the text for the other case."""
    if not isinstance(cell.value, str):
        return cell
    state = state_of_simulation(base, actual)
    without = re.fullmatch(r'IF\(.*="current",.*,\$([A-Z]+)\$(\d+)\)', cell.formula)
    if without and state != 'current':
        return xlsx.Cell(sheet.value(*xlsx.position(without[1] + without[2])), cell.formula)
    return xlsx.Cell(cell.value.replace('current', state), cell.formula)


def moved(sheet, there):
    """In another state, other swings may be the widest, and so the rows may differ."""
    def content(book_sheet):
        formulas = {place: cell.formula for place, cell in book_sheet.formulas()}
        return formulas, layout.swings(book_sheet)
    return content(sheet) != content(there)


def compare_swings(result, sheet, there, actual):
    """The swings of a tornado that both books show: both ends, and their effect."""
    rows, swings = layout.swings(there), layout.swings(sheet)
    # The option is the contender of the state that the workbook was written in.
    columns = layout.SWING_COLUMNS if examined(sheet) == examined(there) else layout.SWING_COLUMNS[:ENDS]
    alone = {key.split('.')[1] for key in swings.keys() - rows.keys() if '.' in key}
    for key, row in swings.items():
        if key not in rows or is_ranged(sheet, row) != is_ranged(there, rows[key]):
            continue  # --set makes an input certain: its range is removed
        if key in alone:
            continue  # an input common to the options there moves all but one here
        for column in columns:
            result.judge(sheet, row, column, sheet.cell(row, column),
                         actual(sheet.name, rows[key], column))


def examined(sheet):
    """What the tornado is of: "Saving per token of b against a, at present"."""
    return next((sheet.text(row, layout.LABEL) for row in sheet.rows if sheet.text(row, layout.LABEL).endswith(', at present')), '')


def is_ranged(sheet, row):
    """The low end of a range is a constant of Inputs; a share of the value is computed."""
    return re.fullmatch(r'pt_\w+', sheet.cell(row, layout.SWING_COLUMNS[1]).formula) is not None


def compare_by_key(expected, base, actual):
    """The line items of the calculation sheets, whose rows in base and in expected differ."""
    result = Comparison()
    for sheet in layout.calculations(expected):
        there = base.sheets[sheet.name]
        rows = {there.text(row, layout.KEY): row for row in layout.items(there)}
        for (row, column), cell in sheet.formulas():
            if sheet.text(row, layout.KEY) in rows:
                got = actual(sheet.name, rows[sheet.text(row, layout.KEY)], column)
                result.judge(sheet, row, column, cell, got)
    return result


def slack_of(sheet, row):
    """The rounding error of a row with differences that nothing else keeps away from zero."""
    if sheet.name == 'Checks':
        return ABSOLUTE
    return OF_AMOUNTS if sheet.text(row, layout.KEY).startswith('check_') else 0.0


def relative_difference(expected, got, absolute):
    """None if the two cannot be compared, such as a text and a number."""
    if expected == ERROR and got is None:  # LibreOffice's arrays of values have nothing for an error
        return 0.0
    if isinstance(expected, str) or isinstance(got, str):
        return 0.0 if of_the_run(expected) == of_the_run(got) else None
    if expected is None or got is None:
        return None
    difference = abs(expected - got)
    if difference <= absolute or (expected == 0 and difference <= ABSOLUTE):
        return 0.0
    if not difference < float('inf'):
        return None
    return difference / abs(expected) if expected else float('inf')


def without_draws(text):
    """After the only drawn input is overwritten, the sheet says to simulate again; then nothing is
    drawn."""
    return text.replace('; nothing is uncertain in this case', ' (over the ranges: run simulate again)') \
        if isinstance(text, str) else text


def of_the_run(text):
    """The part of the answer that typing changes: without the result over the run's ranges."""
    if not isinstance(text, str):
        return text
    return re.sub(r'; over the ranges [^;]*(?=;|$)| \(over the ranges: [^)]*\)', '(ranges)', text)


OWN_ROWS = re.compile(r"(?:'[^']+'|\w+)!\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?|\$([A-Z]+)\$(\d+)")


def workings_row(sheet):
    return next((row for row in sheet.rows if sheet.text(row, 1) == 'Workings'), None)


def moved_formula(formula, sheet, other):
    """A formula in another state of its sheet: its references to the workings follow them, below answers of other
    lengths."""
    begin, there = workings_row(sheet), workings_row(other)
    if begin is None or there is None:
        return formula

    def moved(match):
        row = int(match[2] or 0)
        return f'${match[1]}${row + there - begin}' if row > begin else match[0]
    return OWN_ROWS.sub(moved, formula)


def same_formulas(base, other):
    """Two states of one scenario must have the same formulas in the same cells: the differences."""
    differing, inputs = [], layout.Inputs(base)
    origins = inputs.columns['Source']
    for sheet in base.sheets.values():
        if sheet.name in layout.MOVING:
            continue
        there = other.sheets.get(sheet.name)
        cells, rows = (there.cells, moved_rows(sheet, there)) if there else ({}, {})
        for (row, column), cell in sheet.formulas():
            if sheet.name == 'Inputs' and column >= origins:
                continue  # whether a source is the same in all cases depends on what is set
            if sheet.name == 'Inputs' and inputs.follows(row, column):
                continue  # what is set no longer follows
            found = cells.get((rows.get(row, row), column)) or xlsx.Cell(None)
            if there is None or found.formula != moved_formula(cell.formula, sheet, there):
                differing.append(f'{sheet.name}!{xlsx.address(row, column)}: ={cell.formula} became '
                                 f'{found.formula or found.value!r}')
    return differing
