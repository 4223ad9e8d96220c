"""Recalculates a workbook with Gnumeric's ssconvert.

It writes texts, in which a number has all its digits: writing a workbook again takes longer than recalculating it.
Whether a cell has a number or a text that reads like one is then left to LibreOffice.
"""
import csv
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import xlsx

NUMBER = re.compile(r'-?\d+(\.\d+)?(E[+-]\d+)?', re.I)


def missing():
    """Why Gnumeric cannot be used, or None."""
    return None if shutil.which('ssconvert') else 'ssconvert (Gnumeric) is not installed'


class Read(float):
    """A number, or the text that reads like it: equal to both."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __eq__(self, other):
        return other == self.text if isinstance(other, str) else super().__eq__(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = float.__hash__


def value_of(text):
    return Read(text) if NUMBER.fullmatch(text) else text


def recalculate(source):
    """actual(sheet, row, column) for compare(): the values after recalculation, '' for an empty cell."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, 'sheet')
        done = subprocess.run(['ssconvert', '--recalc', '--export-file-per-sheet', '--export-options=format=raw',
                               '--export-type=Gnumeric_stf:stf_assistant', source, target],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f'ssconvert failed on {source}: {done.stderr.strip()}')
        sheets = {}
        for number, name in enumerate(xlsx.sheet_names(source)):
            with open(f'{target}.{number}', encoding='utf-8', newline='') as file:
                sheets[name] = list(csv.reader(file))

    def actual(name, row, column):
        rows = sheets[name]
        used = row <= len(rows) and column <= len(rows[row - 1])
        return value_of(rows[row - 1][column - 1]) if used else ''
    return actual
