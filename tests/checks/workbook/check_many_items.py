#!/usr/bin/python3
"""Are the sums of many own items right, with formulas that stay short?

No example has sums so long that they are added up in groups. Here 130 items share one: Gnumeric
recalculates the workbook, with wrong cached values, to pertoken's values. An item affects a few of
the steps, not every one after it.
Seconds: 6
"""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compare  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
from layout import KEY  # noqa: E402
import xlsx  # noqa: E402
from support import scenarios  # noqa: E402
from support.program import Count, expect, skip_all  # noqa: E402

ITEMS, LONGEST = 130, 120
MAX_STEPS = 3  # its group, and the sums of the groups
SCENARIO = """\
[scenario]
title = Many costs of one's own
date = 2026-11-20
horizon = 3 yr

""" + scenarios.COMMON + """
[option the_accelerators_of_one]
accelerator = h200-sxm-141
list_price = 20000 USD
throughput = 2000 token/s

[option the_accelerators_of_two]
accelerator = mi325x-256
list_price = 20007 USD
throughput = 2001 token/s
""" + ''.join(f'\n[item thing{i}]\nlabel = Thing {i}\nunit = USD/yr\ngroup = opex\n'
              f'formula = 0.{i % 9 + 1} %/yr * hardware_cost\n' for i in range(ITEMS))


def test_recalculated(base, folder):
    wrong = folder / 'wrong.xlsx'
    xlsx.patch(base, wrong, lambda part, xml: xlsx.spoil(xml))
    book = xlsx.read(base)
    result = compare.compare(book, book, gnumeric.recalculate(wrong))
    expect(not result.mismatches, '; '.join(result.mismatches[:3]))
    expect(result.cells > 30 * ITEMS, f'only {result.cells} cells')


def test_short(base):
    long = [f'{sheet.name}!{xlsx.address(row, column)}' for sheet in xlsx.read(base).sheets.values()
            for (row, column), cell in sheet.formulas()
            if len(cell.formula) >= LONGEST and '_step_' in sheet.text(row, KEY)]
    expect(not long, f'{len(long)} formulas of {LONGEST} characters and more: {long[:3]}')


def steps_behind(sheet, row):
    """The rows of the steps that use a row of the first period, one after the other."""
    column = next(c for (r, c), cell in sheet.formulas() if r == row)
    name = re.compile(rf'\b{xlsx.address(row, column)}\b')
    rows = {r for (r, c), cell in sheet.formulas() if c == column and '_step_' in sheet.text(r, KEY)
            and name.search(cell.formula)}
    return rows | {further for r in rows for further in steps_behind(sheet, r)}


def test_few_steps(base):
    sheet = xlsx.read(base).sheets['the_accelerators_of_one']
    for item in (0, ITEMS // 2, ITEMS - 1):
        row = next(r for r in range(sheet.last_row() + 1) if sheet.text(r, KEY) == f'thing{item}_cost')
        steps = steps_behind(sheet, row)
        expect(0 < len(steps) <= MAX_STEPS, f'thing{item} goes into {len(steps)} steps')


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = folder / 'many.ini'
        scenario.write_text(SCENARIO)
        base = harness.report(scenario, folder / 'base.xlsx')
        count.test('recalculated', test_recalculated, base, folder)
        count.test('short', test_short, base)
        count.test('few steps', test_few_steps, base)
    count.finish()


if __name__ == '__main__':
    main()
