#!/usr/bin/python3
"""Is docs/reference.md complete and up to date? It is what `make reference` writes from the cost model; a
scenario may state each of its inputs; every line has its formula; every name of formulas.md exists. A table names
every key of a question.

Seconds: 1
"""
import re
import subprocess

from support.program import BAD_INPUT, Count, ROOT, expect, run

MODEL = (ROOT / 'model' / 'cost' / 'tco.ini').read_text()
PAGE = (ROOT / 'docs' / 'reference.md').read_text()
FORMULAS = (ROOT / 'docs' / 'formulas.md').read_text()
SCENARIO = 'examples/mi325x-vs-h200.ini'


def names(kinds):
    """The model's names of some kinds of section, in the form of the page."""
    return [re.sub(r'\d+\.\.\d+$', '#', name) for name in re.findall(rf'^\[(?:{kinds}) (\S+)\]', MODEL, re.M)]


def rows():
    return {match[1]: match[0] for match in re.finditer(r'^\| `([\w#]+)` \|.*$', PAGE, re.M)}


def test_of_today():
    done = subprocess.run([ROOT / 'tests' / 'support' / 'reference.py', '--check'], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)


def test_whole():
    wanted = names('input|item|series|check')
    expect(len(wanted) > 300, f'the model has {len(wanted)} names')
    expect(sorted(rows()) == sorted(wanted), f'not on both sides: {set(rows()) ^ set(wanted)}')


def test_formulas():
    for name in names('item|series|check'):
        expect(re.search(r'`[^`]+` \|$', rows()[name]), f'{name} has no formula: {rows()[name]}')


def test_inputs_are_keys():
    """The program knows each as a key, and says so if it computes one. All are tried in one run."""
    keys = [name.replace('#', '1') for name in names('input')]
    wrong = [f'--set={key}=nonsense' for key in [*keys, 'no_such_input']]
    done = run('compare', SCENARIO, *wrong)
    expect(done.returncode == BAD_INPUT, done.stderr)
    unknown = re.findall(r"unknown key '(\w+)'", done.stderr)
    expect(unknown == ['no_such_input'], f'unknown: {unknown}')


def test_functions():
    """formulas.md has every function of the language, and every unit."""
    source = (ROOT / 'model' / 'cost' / 'formula.h').read_text()
    functions = re.findall(r'^//   .*?\b(\w+)\(', source, re.M)
    expect(len(functions) > 10, functions)
    units = re.findall(r'^    \{"(\S+)", \w+, ', (ROOT / 'model' / 'cost' / 'units.c').read_text(), re.M)
    expect(len(units) > 30, units)
    lacking = [name for name in functions if f'{name}(' not in FORMULAS]
    lacking += [unit for unit in units if f'`{unit}`' not in FORMULAS]
    expect(not lacking, f'formulas.md lacks {lacking}')


def test_question_keys():
    """A table of some page has each key that a section of a question may have."""
    source = (ROOT / 'model' / 'scenario' / 'reading' / 'sections.c').read_text()
    asked = re.findall(r'\{"(\w+)",\s+SECTION_QUESTION,\s+\w+,\s+\{([^{}]*)\}\}', source)
    keys = {(kind, key) for kind, listed in asked for key in re.findall(r'"([\w.]+)"', listed)}
    expect(len(keys) > 40, f'{len(keys)} keys')
    named = set()
    for page in (ROOT / 'docs').glob('*.md'):
        first_cells = re.findall(r'^\|((?:[^|\n]*\|){1,2})', page.read_text(), re.M)
        named |= {key for cells in first_cells for key in re.findall(r'`([\w.]+)(?: = [^`]*)?`', cells)}
    lacking = sorted(f'[{kind}] {key}' for kind, key in keys if key not in named)
    expect(not lacking, f'no table has {lacking}')


if __name__ == '__main__':
    counted = Count()
    counted.tests(globals())
    counted.finish()
