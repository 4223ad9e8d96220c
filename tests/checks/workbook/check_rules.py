#!/usr/bin/python3
"""Do the examples' workbooks follow the rules? And does every rule detect its violations?

Deep: every example, and each of its cases. Else those that have among them every kind of sheet.
Seconds: 20, deep 60
"""
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import broken  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import rules  # noqa: E402
import rules_of_formulas  # noqa: E402
import simulated  # noqa: E402
import xlsx  # noqa: E402
from subject import Subject  # noqa: E402
from support.program import Count, DEEP, run  # noqa: E402

SHOWN = 3
TELLING = ('finance-views', 'portfolio', 'rent-or-own', 'uncertainty', 'this-machine')
EPOCH = {'SOURCE_DATE_EPOCH': '1735689600'}


def runs(scenario, folder, name):
    """An example's workbook as bytes, made with a fixed date and, of one example or in the deep run, without."""
    target = folder / f'{scenario.stem}-{name}.xlsx'
    environments = (EPOCH, dict.fromkeys(EPOCH)) if DEEP or scenario.stem == TELLING[0] else (EPOCH,)
    return [harness.report(scenario, target, environment=environment).read_bytes() for environment in environments]


def subject(scenario, folder, first):
    """Everything about an example that is judged. The second runs come seconds after the first, so that time stamps
    would differ."""
    again = runs(scenario, folder, 'again')
    book = xlsx.read(folder / f'{scenario.stem}-again.xlsx')
    others = [xlsx.read(harness.report(scenario, folder / 'case.xlsx', [f'--case={case}']))
              for case in list(layout.Inputs(book).cases)[:None if DEEP else 2]]
    labels = ('SOURCE_DATE_EPOCH set', 'SOURCE_DATE_EPOCH unset')
    return Subject(book, others, list(zip(labels, first, again)), version(), simulation(scenario, book))


def simulation(scenario, book):
    """The output of pertoken simulate for the run that a workbook shows, or None."""
    sheet = book.sheets.get(simulated.NAME)
    return harness.simulate(scenario, *simulated.request(sheet)) if sheet else None


def version():
    found = re.search(r'\d+(\.\d+)+', run('--version').stdout)
    return found.group(0) if found else 'a version from pertoken --version'


def check_example(scenario, judged):
    failed = 0
    for number, rule in rules.RULES:
        found = list(rule(judged))
        if found:
            failed += 1
            print(f'FAILED {scenario.name} rule {number}, {rule.__doc__}: {len(found)} violations')
            for line in found[:SHOWN]:
                print(f'  {line}')
    print(f'{scenario.name}: {len(rules.RULES) - failed} of {len(rules.RULES)} rules kept')
    return len(rules.RULES) - failed, failed


def notices(rule, book, break_it, common, before):
    """Whether a rule finds more in a book once it is broken. A child breaks it, so that the book stays good here."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 2
    try:
        broken_one = Subject(book, **common)
        break_it(broken_one)
        broken_one = Subject(broken_one.book, runs=broken_one.runs, **common)
        status = 0 if len(list(rule(broken_one))) > before else 1
    except Exception:  # a child must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def check_rules(path, judged):
    """Breaks a good workbook in every way of broken.BREAKS: its rule must find more than before."""
    passed = failed = 0
    common = {'version': judged.version, 'simulation': judged.simulation}
    alone = Subject(judged.book, **common)
    before = {number: len(list(rule(alone))) for number, rule in rules.RULES}
    functions, book = dict(rules.RULES), xlsx.read(path)
    sys.stdout.flush()
    for number, name, break_it in broken.BREAKS:
        if notices(functions[number], book, break_it, common, before[number]):
            passed += 1
        else:
            failed += 1
            print(f'FAILED rule {number} does not notice {name}')
    print(f'{passed} of {passed + failed} broken workbooks noticed')
    return passed, failed


def check_a_path_in_a_label(path, judged):
    """A record is named by its path, and a folder may be called as a key is."""
    book = xlsx.read(path)
    entry = next(iter(judged.inputs.rows))
    book.sheets['Inputs'].cells[entry.row, layout.LABEL] = xlsx.Cell('Batch: /tmp/a_clone/data/record.json')
    found = list(dict(rules.RULES)[31](Subject(book)))
    print('\n'.join(['a path in a label', *(f'FAILED {line}' for line in found)]))
    return (0, 1) if found else (1, 0)


def check_listed():
    """docs/workbook.md has the rules verbatim."""
    rows = re.findall(r'(?m)^\| (\d+) \| (.*) \|$', (harness.ROOT / 'docs/workbook.md').read_text())
    wanted = [(str(number), rule.__doc__) for number, rule in rules.RULES]
    if rows == wanted:
        return 1, 0
    print(f'FAILED docs/workbook.md lists {len(rows)} rules, and there are {len(wanted)}: {set(rows) ^ set(wanted)}')
    return 0, 1


def check_long_ids(folder):
    """Ids may have 24 letters, and are part of the names of cells: no formula of the tornado may get too long."""
    text = next(scenario for scenario in harness.EXAMPLES if scenario.stem == 'mi325x-vs-h200').read_text()
    for name in ('mi325x', 'h200'):
        text = re.sub(rf'^({name}\.|\[option {name}\]|baseline = {name}$)',
                      lambda found, name=name: found[0].replace(name, name.ljust(24, 'x')), text, flags=re.MULTILINE)
    scenario = folder / 'long-ids.ini'
    scenario.write_text(text)
    sheet = xlsx.read(harness.report(scenario, folder / 'long-ids.xlsx')).sheets['Sensitivity']
    longest = max((len(cell.formula) + 1 for cell in sheet.cells.values() if cell.formula), default=0)
    print(f'ids of 24 letters: the longest formula of the tornado has {longest} characters')
    return (1, 0) if 0 < longest <= rules_of_formulas.MAX_FORMULA_LENGTH else (0, 1)


def check(folder):
    """(passed, failed) of every example, and of the rules themselves on one with every sheet."""
    examples = [*harness.FOR_READING, *harness.EXAMPLES] if DEEP else \
        [scenario for scenario in harness.EXAMPLES if scenario.stem in TELLING]
    own = [Path(__file__).resolve().parent / name for name in ('steps.ini', 'by_year.ini', 'late.ini', 'late_stages.ini')]
    examples = [own[0], *examples, *own[1:]]  # the last one with a simulation is broken below
    first = {scenario: runs(scenario, folder, 'first') for scenario in examples}
    totals, richest, subjects = [], None, {}
    for scenario in examples:
        subjects[scenario] = judged = subject(scenario, folder, first[scenario])
        totals.append(check_example(scenario, judged))
        if not richest or simulated.NAME in judged.book.sheets:
            richest = scenario
    if not totals:
        return [(0, 1)]
    totals += [check_long_ids(folder), check_listed()]
    path = folder / f'{richest.stem}-again.xlsx'
    return [*totals, check_a_path_in_a_label(path, subjects[richest]), check_rules(path, subjects[richest])]


def main():
    print(f'{len(rules.RULES)} rules on {len(harness.FOR_READING + harness.EXAMPLES) if DEEP else len(TELLING)} examples, '
          f'and {len(broken.BREAKS)} broken workbooks')
    with tempfile.TemporaryDirectory() as folder:
        try:
            totals = check(Path(folder))
        except (harness.Refused, OSError, RuntimeError, LookupError) as error:
            print(f'FAILED: {error}')
            totals = [(0, 1)]
    Count(*(sum(counts) for counts in zip(*totals))).finish()


if __name__ == '__main__':
    main()
