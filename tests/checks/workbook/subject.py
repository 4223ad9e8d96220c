"""A workbook as the rules judge it, and where in it a violation is."""
import functools
import re

import fit
import formulas
import layout
import xlsx
from layout import FIRST_PERIOD


class Subject:
    """A scenario's workbook, those of its cases, and pairs of runs that must give the same bytes.

    simulation: the output of pertoken simulate for the run that the workbook shows, if it shows one;
    measured: for each option whose record has a meter's readings, that result of the record.
    """

    def __init__(self, book, others=(), runs=(), version='', simulation=None, measured=()):
        self.book, self.others, self.runs, self.version = book, others, runs, version
        self.simulation, self.measured = simulation, dict(measured)
        self.inputs = layout.Inputs(book)
        self.calculations = layout.calculations(book)

    @functools.cached_property
    def spots(self):
        return [Spot(self.book, sheet, row, column, cell)
                for sheet in self.book.sheets.values() for (row, column), cell in sheet.formulas()]

    def formulas(self, sheets=None):
        return [spot for spot in self.spots if sheets is None or spot.sheet in sheets]


class Spot:
    """A cell in its place."""

    def __init__(self, book, sheet, row, column, cell):
        self.book, self.sheet, self.row, self.column, self.cell = book, sheet, row, column, cell
        self.formula = cell.formula if cell else None

    def tokens(self):
        return formulas.tokens(self.formula)

    @functools.cached_property
    def reads(self):
        """(sheet, top, left, bottom, right) of what the formula reads."""
        return list(formulas.precedents(self.book, self.sheet.name, self.formula))

    def says(self, reason):
        text = '' if self.formula is None else f': ={self.formula}'
        return at(self.sheet, self.row, self.column, reason + text)


def at(sheet, row, column, reason):
    return f'{sheet.name}!{xlsx.address(row, column)}: {reason}'


def cells_of(read):
    sheet, top, left, bottom, right = read
    return ((sheet, row, column) for row in range(top, bottom + 1)
            for column in range(left, right + 1))


def periods(subject):
    """For each row of periods: its cells as spots."""
    for sheet in subject.calculations:
        last = layout.timeline(sheet)[1]
        for row in layout.items(sheet):
            spots = [Spot(subject.book, sheet, row, column, sheet.cell(row, column))
                     for column in range(FIRST_PERIOD, last + 1)]
            if any(spot.formula for spot in spots):
                yield spots


def reader_sheets(subject):
    """Sheets for readers rather than line-by-line computation: all except Inputs and the calculations."""
    return [sheet for sheet in subject.book.sheets.values()
            if sheet is not subject.inputs.sheet and sheet not in subject.calculations]


def printed_rows(subject, sheet):
    """The rows of its print area; all of them if it has none."""
    top, _, bottom, _ = fit.printed_area(subject.book, sheet)
    return range(top, bottom + 1)


def unquoted(code):
    return re.sub(r'"[^"]*"', '', code)
