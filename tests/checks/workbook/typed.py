"""What a workbook must say about the sources of its inputs once some of them have been overwritten.

It is derived from the original contents that Inputs keeps, and from the values that the spreadsheet
program shows: independently of the formulas that say so.
"""
import layout
import xlsx

FIELDS = {'Source': 'source', 'Date': 'date', 'Grade': 'grade', 'From': 'from'}
INSTEAD = {'Date': '-', 'Grade': 'assumed', 'From': 'this workbook'}
CHANGED, ANYWHERE, NUMBER, SAID, RUN = 'Overwritten', 'In some case', 'So far', 'In the Change log', 'Simulated'
ELSEWHERE = 'in a case that is not shown'
LISTED = 20  # in the Change log


def same_as_written(one, sheet, actual):
    """Whether a list's live years are the original ones."""
    return all(actual('Inputs', one.row, column) == sheet.value(one.row, column) for column in one.columns)


class Typed:
    """base: the workbook as pertoken wrote it; actual(sheet, row, column): the value shown now."""

    def __init__(self, base, actual):
        self.inputs = layout.Inputs(base)
        self.columns, self.actual = self.inputs.columns, actual
        chosen = base.name('pt_case')
        self.case = actual(chosen.sheet, *xlsx.position(chosen.ref))
        sheet = self.inputs.sheet
        self.rows = [entry.row for entry in self.inputs.rows
                     if actual('Inputs', *entry.live) != self.written(entry.row, 'value')]
        self.rows += [one.row for one in self.inputs.lists
                      if [actual('Inputs', one.row, column) for column in one.columns]
                      != [sheet.value(*place) for place in one.kept[self.case]]]
        self.anywhere = [one.row for one in (*self.inputs.rows, *self.inputs.lists)
                         if any(actual('Inputs', *place) != sheet.value(*place)
                                for year in getattr(one, 'years', [one]) for place in year.cells.values())]
        self.of_the_run = {one.row: self.inputs.step_of[one.row] if same_as_written(one, sheet, actual) else 'overwritten'
                           for one in self.inputs.lists}

    def written(self, row, field):
        """The original in the selected case; a value common to all cases is stored for the first
        only."""
        sheet = self.inputs.sheet
        first = self.columns[f'As written, {field}: {next(iter(self.inputs.cases))}']
        own = self.columns[f'As written, {field}: {self.case}']
        return sheet.value(row, own) if sheet.cell(row, own) else sheet.value(row, first)

    def wanted(self, row, column):
        """The expected provenance in a cell of Inputs; None for another cell."""
        heading = next((text for text, at in self.columns.items() if at == column), None)
        if heading == RUN:
            return self.of_the_run.get(row)
        for one in self.inputs.lists:
            if (row, column) in ((one.row, kept) for _, kept in one.kept[self.case]):
                return self.inputs.sheet.value(one.kept[self.case][0][0], column)
        if heading == CHANGED:
            return float(row in self.rows)
        if heading == ANYWHERE:
            return float(row in self.anywhere)
        if heading == NUMBER:
            return float(sum(typed <= row for typed in self.anywhere))
        if heading == SAID:
            return self.wanted(row, self.columns['Source']) if row in self.rows else ELSEWHERE
        if heading not in FIELDS:
            return None
        if row not in self.rows:
            return self.written(row, FIELDS[heading])
        return INSTEAD.get(heading) or f'overwritten (was {self.written(row, "in words")})'

    def in_log(self, number):
        """The label and the source of the overwritten input with that number, from 1."""
        if number > len(self.anywhere):
            return '', ''
        row = self.anywhere[int(number) - 1]
        return self.inputs.sheet.text(row, 1), self.wanted(row, self.columns[SAID])

    def not_listed(self):
        """What it says below those that it has room for."""
        more = len(self.anywhere) - LISTED
        return f'and {more} more: see Inputs, column In some case' if more > 0 else ''
