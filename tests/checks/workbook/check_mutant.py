#!/usr/bin/python3
"""Does the recalculation detect a wrong formula?

Builds pertoken with one operator of the spreadsheet formulas changed, and expects Gnumeric to disagree
with pertoken's values. A recalculation check that this mutant passes proves nothing.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compare  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, expect, skip_all  # noqa: E402

RENDERER = 'reports/spreadsheet/formula.c'
OPERATOR, MUTATED = '((1+%s)^%s)', '((1-%s)^%s)'  # growth at a rate
EXAMPLE = 'examples/mi325x-vs-h200.ini'
FOLDER = ROOT / 'build' / 'mutant'
SOURCES = ('Makefile', 'base', 'model', 'kernels', 'reports', 'data', 'examples')


def copy_sources():
    """Build outputs are copied along, with their times: make then compiles only the file that
    changes."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name in (*SOURCES, 'build/obj'):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, FOLDER / name)
        elif source.exists():
            shutil.copy2(source, FOLDER / name)


def mutate(path):
    """Changes the operator, which must occur in exactly one line."""
    lines = path.read_text().splitlines(keepends=True)
    changed = [line.replace(OPERATOR, MUTATED) for line in lines]
    places = [number for number, (old, new) in enumerate(zip(lines, changed), 1) if old != new]
    if len(places) != 1:
        raise RuntimeError(f'{RENDERER}: {OPERATOR} stands in the lines {places}, not in one')
    path.write_text(''.join(changed))
    print(f'{RENDERER}:{places[0]}: {OPERATOR} became {MUTATED}')


def build():
    done = subprocess.run(['make', '-j2', '-C', FOLDER, 'build/pertoken'],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'the mutant does not build: {done.stderr.strip()}')
    return FOLDER / 'build' / 'pertoken'


def recalculated(command, folder):
    base = harness.report(FOLDER / EXAMPLE, folder / 'base.xlsx', command=command)
    wrong = folder / 'wrong.xlsx'
    xlsx.patch(base, wrong, lambda part, xml: xlsx.spoil(xml))
    book = xlsx.read(base)
    return compare.compare(book, book, gnumeric.recalculate(wrong))


def check_mutant():
    copy_sources()
    mutate(FOLDER / RENDERER)
    command = build()
    with tempfile.TemporaryDirectory() as folder:
        result = recalculated(command, Path(folder))
    noticed = len(result.mismatches)
    print(f'Gnumeric disagrees with the mutant in {noticed} of {result.cells} cells')
    expect(noticed, 'no cell differs')


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    count.test('the mutant is noticed', check_mutant)
    count.finish()


if __name__ == '__main__':
    main()
