#!/usr/bin/python3
"""Do the ready results in examples/output show what the program reports today? Every figure of `compare` that a
workbook or page written now contains is also in the ready one; `make outputs` rewrites them.
"""
import re
import zipfile

from support.program import DONE, ROOT, expect, expect_exit, run, run_json, run_tests

READY = ROOT / 'examples/output'
SAME = 9  # significant digits
NUMBER = re.compile(r'-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')
MOST = {'.xlsx': 400_000, '.html': 1_500_000}  # bytes


def rounded(number):
    return f'{float(number):.{SAME}g}'


def figures_in_workbook(path):
    """Of cells with a number in any sheet."""
    with zipfile.ZipFile(path) as book:
        sheets = [book.read(name).decode() for name in book.namelist() if name.startswith('xl/worksheets/sheet')]
    return {rounded(value) for sheet in sheets for value in re.findall(r'<v>([^<]*)</v>', sheet) if NUMBER.fullmatch(value)}


def figures_in_page(path):
    return {rounded(value) for value in NUMBER.findall(path.read_text())}


def figures_of(scenario):
    """What compare reports for every option."""
    items = [option['items'] for option in run_json('compare', scenario)['options']]
    return {rounded(value) for of in items for value in of.values() if isinstance(value, (int, float))}


def check(folder, path, command, figures_in):
    scenario, now = ROOT / 'examples' / f'{path.stem}.ini', folder / path.name
    done = run(command, scenario, '-q', '-o', now)
    expect_exit(done, DONE)
    wanted = figures_of(scenario) & figures_in(now)
    expect(len(wanted) > 10, f'{path.name}: {len(wanted)} figures')
    missing = wanted - figures_in(path)
    expect(not missing, f"{path.name} lacks {sorted(missing)[:5]}: write it anew with 'make outputs'")
    expect(path.stat().st_size < MOST[path.suffix], f'{path.name}: {path.stat().st_size} bytes')


def test_workbooks(folder):
    for path in READY.glob('*.xlsx'):
        check(folder, path, 'report', figures_in_workbook)


def test_pages(folder):
    for path in READY.glob('*.html'):
        check(folder, path, 'page', figures_in_page)


def test_it_notices(folder):
    """With another price, a figure is missing."""
    [path] = READY.glob('mi325x*.xlsx')
    now = folder / 'other.xlsx'
    expect_exit(run('report', ROOT / 'examples/mi325x-vs-h200.ini', '-q', '-o', now, '--set', 'mi325x.list_price=22001 USD'), DONE)
    wanted = figures_of(ROOT / 'examples/mi325x-vs-h200.ini') & figures_in_workbook(path)
    expect(wanted - figures_in_workbook(now), 'another price goes unnoticed')


def test_all_there(_):
    """Those that the documents link, and no others."""
    linked = {name for page in ('README.md', 'docs/tutorial.md')
              for name in re.findall(r'examples/output/([\w.-]+)', (ROOT / page).read_text())}
    expect(linked == {path.name for path in READY.iterdir()}, linked)


if __name__ == '__main__':
    run_tests(globals())
