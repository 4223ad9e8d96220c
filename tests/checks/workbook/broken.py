"""Ways to break a good workbook in memory, each with the rule that must detect it."""
import copy
import re

import layout
import simulated
import xlsx
from layout import FIRST_PERIOD, KEY, LABEL, SCALAR, UNIT
from rules_of_inputs import checks_table
from subject import printed_rows

# Formulas that a scalar must not have.
FORMULAS = {
    'external reference': (6, '[1]Prices!A1'),
    'hours in a formula': (9, 'pt_case*8760'),
    'long formula': (10, '+'.join(['pt_a_rather_long_name'] * 6)),
    'nested IF': (10, 'IF(1>0,IF(1>0,1,0),0)'),
    'volatile function': (11, 'OFFSET(A1,1,1)'),
    'INDEX of one index': (14, 'INDEX(A1:A9,1)'),
    'signed power': (14, '-(1+1)^1'),
    'tower of powers': (14, '(1+1)^(1+1)^(1+1)'),
    'unknown name': (15, 'pt_nothing'),
}
BREAKS = [(number, name, lambda subject, formula=formula: set_formula(subject, formula))
          for name, (number, formula) in FORMULAS.items()]


def breaks(number):
    def register(function):
        BREAKS.append((number, function.__name__.replace('_', ' '), function))
        return function
    return register


def sheet_of(subject):
    return subject.calculations[0]


def scalar_row(sheet, skip=0):
    return [row for row in layout.items(sheet) if sheet.cell(row, SCALAR)
            and sheet.cell(row, SCALAR).formula and not sheet.cell(row, FIRST_PERIOD)][skip]


def series_row(sheet, skip=0):
    return [row for row in layout.items(sheet) if sheet.cell(row, FIRST_PERIOD)][skip]


def scalar(subject, skip=0):
    sheet = sheet_of(subject)
    return sheet.cell(scalar_row(sheet, skip), SCALAR)


def set_formula(subject, formula):
    scalar(subject).formula = formula


def an_input(subject):
    return next(subject.inputs.literals())


def restyle(cell, **changes):
    cell.style = copy.copy(cell.style)
    for key, value in changes.items():
        setattr(cell.style, key, value)


@breaks(1)
def sheets_out_of_order(subject):
    sheets = subject.book.sheets
    sheets['Cover'] = sheets.pop('Cover')


@breaks(1)
def title_missing(subject):
    del subject.book.sheets['Checks'].cells[1, 1]


@breaks(2)
def number_outside_inputs(subject):
    scalar(subject).formula = None


@breaks(2)
def another_median(subject):
    figure_of_simulation(subject).value *= 1 + 1e-9


@breaks(2)
def median_missing(subject):
    figure_of_simulation(subject).value = None


@breaks(2)
def number_beside_the_simulation(subject):
    subject.book.sheets['Simulation'].cells[1, 9] = xlsx.Cell(0.5)


def figure_of_simulation(subject):
    sheet = subject.book.sheets['Simulation']
    return sheet.cell(simulated.row_of(sheet, 'P50'), SCALAR)


@breaks(3)
def periods_shifted(subject):
    sheet = sheet_of(subject)
    row, last = layout.timeline(sheet)
    sheet.cells[row, last + 1] = xlsx.Cell(float(last + 1 - FIRST_PERIOD))


@breaks(3)
def another_line(subject):
    sheet = subject.calculations[-1]
    sheet.cell(scalar_row(sheet), KEY).value = 'another'


@breaks(3)
def heading_twice(subject):
    sheet = sheet_of(subject)
    headings = [cell for (row, column), cell in sorted(sheet.cells.items())
                if column == LABEL and row > layout.timeline(sheet)[0] and not sheet.text(row, KEY)]
    headings[1].value = headings[0].value


@breaks(4)
def precedent_below(subject):
    sheet = sheet_of(subject)
    scalar(subject).formula = f'SUM(D{sheet.last_row()}:D{sheet.last_row() + 1})'


@breaks(5)
def row_hidden(subject):
    sheet = sheet_of(subject)
    sheet.rows[scalar_row(sheet)]['hidden'] = '1'


@breaks(5)
def sheet_hidden(subject):
    subject.book.sheets['Evidence'].state = 'veryHidden'


@breaks(6)
def macros(subject):
    subject.book.parts['xl/vbaProject.bin'] = b''


@breaks(7)
def label_twice(subject):
    sheet = sheet_of(subject)
    sheet.cell(scalar_row(sheet, 1), LABEL).value = sheet.text(scalar_row(sheet), LABEL)


@breaks(7)
def unit_missing(subject):
    sheet = sheet_of(subject)
    sheet.cell(scalar_row(sheet), UNIT).value = ''


@breaks(8)
def period_with_its_own_formula(subject):
    sheet = sheet_of(subject)
    sheet.cell(series_row(sheet, 1), FIRST_PERIOD + 2).formula += '*1'


@breaks(8)
def period_without_formula(subject):
    sheet = sheet_of(subject)
    sheet.cell(series_row(sheet, 1), FIRST_PERIOD + 2).formula = None


@breaks(10)
def if_on_time(subject):
    sheet = sheet_of(subject)
    time, last = layout.timeline(sheet)
    for column in range(FIRST_PERIOD, last + 1):
        cell = sheet.cell(series_row(sheet, 1), column)
        cell.formula, cell.value = f'IF({xlsx.column_name(column)}${time}>1,100,0)', 100.0


@breaks(12)
def circle(subject):
    sheet = sheet_of(subject)
    one, two = scalar_row(sheet), scalar_row(sheet, 1)
    sheet.cell(one, SCALAR).formula, sheet.cell(two, SCALAR).formula = f'D{two}', f'D{one}'


@breaks(13)
def computed_twice(subject):
    scalar(subject, 1).formula = scalar(subject).formula


@breaks(15)
def unused_name(subject):
    subject.book.names.append(xlsx.Name('pt_nobody', 'Inputs!$A$1', None))


@breaks(15)
def name_like_a_cell(subject):
    subject.book.names.append(xlsx.Name('H200', 'Inputs!$A$1', None))
    scalar(subject).formula += '+H200'


@breaks(16)
def name_for_a_series(subject):
    name = next(name for name in subject.book.names
                if name.sheet == sheet_of(subject).name and name.name.startswith('pt_'))
    name.ref = 'E9:L9'


@breaks(16)
def scalar_by_address(subject):
    scalar(subject, 1).formula = f'D{scalar_row(sheet_of(subject))}'


@breaks(17)
def black_input(subject):
    restyle(an_input(subject)[-1], color='000000')


@breaks(17)
def unlocked_formula(subject):
    restyle(scalar(subject), locked=False)


@breaks(17)
def blue_formula(subject):
    restyle(scalar(subject), color='0000FF')


@breaks(18)
def percent_as_a_number(subject):
    inputs = subject.inputs
    row = next(entry.row for entry in inputs.rows if entry.unit == '%')
    restyle(inputs.sheet.cell(row, inputs.columns['Live']), format='0.00')


@breaks(18)
def no_format(subject):
    restyle(scalar(subject), format='General')


@breaks(19)
def no_negative_format(subject):
    sheet = sheet_of(subject)
    row = next(row for row in layout.items(sheet)
               if sheet.text(row, UNIT) == 'USD' and sheet.cell(row, SCALAR))
    restyle(sheet.cell(row, SCALAR), format='#,##0')


@breaks(19)
def no_sign_convention(subject):
    for name in set(layout.BEFORE) & set(subject.book.sheets):
        for cell in subject.book.sheets[name].cells.values():
            if isinstance(cell.value, str) and 'sign' in cell.value.lower():
                cell.value = ''


@breaks(20)
def no_validation(subject):
    root = subject.inputs.sheet.root
    root.remove(root.find('dataValidations'))


@breaks(20)
def no_grade(subject):
    inputs = subject.inputs
    inputs.sheet.cells[inputs.rows[0].row, inputs.columns['Grade']] = xlsx.Cell('')


@breaks(21)
def live_without_index(subject):
    inputs = subject.inputs
    inputs.sheet.cell(inputs.rows[0].row, inputs.columns['Live']).formula = 'E5'


@breaks(21)
def unknown_case(subject):
    name = subject.book.name('pt_case')
    subject.book.sheets[name.sheet].cell(*xlsx.position(name.ref)).value = 'nobody'


@breaks(22)
def failed_check(subject):
    checks = subject.book.sheets['Checks']
    header, columns = checks_table(checks)
    checks.cell(header + 1, columns['flag']).value = 0.0


@breaks(22)
def no_master_on_the_cover(subject):
    cover = subject.book.sheets['Cover']
    for _, cell in list(cover.formulas()):
        cell.formula = '1'


@breaks(23)
def division_by_zero(subject):
    scalar(subject).value, scalar(subject).error = '#DIV/0!', True


@breaks(24)
def infinite_value(subject):
    scalar(subject).value = float('inf')


@breaks(24)
def no_cached_value(subject):
    scalar(subject).value = None


@breaks(25)
def no_footer(subject):
    root = subject.book.sheets['Outputs'].root
    root.remove(root.find('headerFooter'))


@breaks(25)
def no_print_area(subject):
    names = subject.book.names
    names.remove(next(name for name in names if name.name == '_xlnm.Print_Area' and name.sheet == 'Evidence'))


@breaks(25)
def no_digest(subject):
    for cell in subject.book.sheets['Change log'].cells.values():
        if isinstance(cell.value, str):
            cell.value = re.sub('[0-9a-f]{64}', 'nothing', cell.value)


@breaks(25)
def two_runs_that_differ(subject):
    subject.runs = [('any', b'one', b'two')]


def printed_cell(subject, name='Outputs'):
    """A free cell in the printed rows of a sheet."""
    sheet = subject.book.sheets[name]
    return sheet, next(row for row in printed_rows(subject, sheet) if row > 3 and not sheet.text(row, LABEL))


@breaks(26)
def working_in_view(subject):
    sheet, row = printed_cell(subject)
    sheet.cells[row, LABEL] = xlsx.Cell('Flag of the cheapest')


@breaks(26)
def workings_printed(subject):
    area = next(name for name in subject.book.names
                if name.name == '_xlnm.Print_Area' and name.sheet == 'Outputs')
    area.ref = area.ref.split(':')[0] + f':H{subject.book.sheets["Outputs"].last_row()}'


@breaks(26)
def no_heading_of_workings(subject):
    for cell in subject.book.sheets['Sensitivity'].cells.values():
        cell.value = '' if cell.value == 'Workings' else cell.value


@breaks(27)
def dash_for_a_unit(subject):
    sheet, row = printed_cell(subject)
    sheet.cells[row, LABEL], sheet.cells[row, UNIT] = xlsx.Cell('Weakest grade'), xlsx.Cell('-')


@breaks(27)
def row_of_dashes(subject):
    sheet, row = printed_cell(subject)
    sheet.cells[row, LABEL], sheet.cells[row, SCALAR] = xlsx.Cell('Why it is not ranked'), xlsx.Cell('-')


@breaks(27)
def words_for_nothing(subject):
    sheet, row = printed_cell(subject)
    sheet.cells[row, SCALAR] = xlsx.Cell('no crossing')


@breaks(27)
def nothing_said(subject):
    sheet = subject.book.sheets['Evidence']
    row = next(row for row in range(1, sheet.last_row()) if sheet.text(row, LABEL) == 'Precision')
    sheet.cells[row, KEY] = xlsx.Cell('-')


@breaks(27)
def a_saving_against_itself(subject):
    sheet, row = printed_cell(subject)
    sheet.cells[row, LABEL], sheet.cells[row, SCALAR] = xlsx.Cell('Saving per token against A'), xlsx.Cell(0.0)


@breaks(28)
def things_counted_with_decimals(subject):
    sheet = subject.book.sheets['Summary']
    cell = next(cell for cell in sheet.cells.values() if cell.is_number())
    cell.value = 8.0
    restyle(cell, format='#,##0.0000_);(#,##0.0000);0_)')


@breaks(28)
def more_digits_than_the_figure_has(subject):
    for _, _, _, cell in subject.inputs.literals():
        if cell.style.format.startswith('#,##0.00_)'):
            restyle(cell, format='#,##0.0000_);(#,##0.0000);0_)')


@breaks(28)
def fewer_digits_than_the_figure_has(subject):
    cell = next(cell for _, _, _, cell in subject.inputs.literals() if cell.style.format.startswith('#,##0.00_)'))
    restyle(cell, format='#,##0_);(#,##0);0_)')


@breaks(28)
def a_share_shown_otherwise(subject):
    sheet = subject.book.sheets['Outputs']
    cell = next(cell for cell in sheet.cells.values() if cell.is_number() and cell.style and '0.0 %' in cell.style.format)
    restyle(cell, format='0.00%_);(0.00%);0.00%_)')


@breaks(28)
def a_share_shown_as_nothing(subject):
    sheet = subject.book.sheets['Outputs']
    next(cell for cell in sheet.cells.values() if cell.is_number() and cell.style and '0.0 %' in cell.style.format).value = 3e-4


@breaks(29)
def columns_over_periods_that_a_case_lacks(subject):
    sheet = subject.book.sheets['Outputs']
    row = next(row for row in range(1, sheet.last_row() + 1) if sheet.text(row, LABEL) == 'Period begins')
    horizon = next(entry for entry in subject.inputs.rows if entry.key == 'horizon')
    subject.inputs.sheet.cell(*list(horizon.cells.values())[-1]).value = 99.0
    subject.book.parts['xl/charts/chart99.xml'] = f'<c:cat><c:f>Outputs!$E${row}:$J${row}</c:f></c:cat>'.encode()


@breaks(30)
def a_short_sheet_on_several_pages(subject):
    subject.book.sheets['Checks'].root.find('pageSetup').set('fitToHeight', '0')


@breaks(30)
def a_sheet_too_wide_for_its_pages(subject):
    node = subject.book.sheets['Outputs'].root.find('cols/col')
    node.set('width', '900')


@breaks(30)
def a_narrow_sheet_on_pages_side_by_side(subject):
    subject.book.sheets['Outputs'].root.find('pageSetup').set('fitToWidth', '2')


@breaks(25)
def pages_side_by_side_without_labels(subject):
    subject.book.sheets['Outputs'].root.find('pageSetup').set('fitToWidth', '2')


@breaks(31)
def a_key_in_a_label(subject):
    entry = next(iter(subject.inputs.rows))
    subject.inputs.sheet.cells[entry.row, LABEL] = xlsx.Cell('Tokens (decode_throughput)')


@breaks(31)
def a_step_that_asks(subject):
    finance = subject.book.sheets['Finance']
    row = next(row for row in range(1, finance.last_row()) if finance.text(row, KEY).endswith('.pays_undiscounted'))
    finance.cells[row, LABEL] = xlsx.Cell('Does it pay, undiscounted?')


@breaks(31)
def an_id_in_a_warning(subject):
    outputs, evidence = subject.book.sheets['Outputs'], subject.book.sheets['Evidence']
    row = next(row for row in range(1, outputs.last_row()) if outputs.text(row, KEY).endswith('.cash'))
    outputs.cells[row, LABEL] = xlsx.Cell('Cash cost, by its label')
    below = evidence.last_row() + 1
    evidence.cells[below, LABEL] = xlsx.Cell('Warning')
    evidence.cells[below, KEY] = xlsx.Cell(outputs.text(row, KEY)[:-len('.cash')] + ' is unlike the others')
