#!/usr/bin/python3
"""Do spreadsheet programs calculate what pertoken calculates?

Every example's workbook is given wrong cached values and recalculated: unchanged, and after each of
one or two random changes of its inputs, for which pertoken computes the same state on its own. Every
formula cell of every sheet must agree to 1e-9. Gnumeric and LibreOffice share the states. Arguments
name the examples to use, such as uncertainty, with as many changes as the thorough ones.
Deep: 8 changes (4 for examples that add little to the thorough ones: each case once, and the first
in both programs), and pertoken's verdict on each input that the workbook offers to overwrite.
PERTOKEN_SEED in the environment draws other changes, which no run has seen.
Seconds: 92, deep 500
"""
import os
import random
import sys
import tempfile
import time
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compare  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import perturb  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, DEEP, skip_all  # noqa: E402

MANY, FEW = (8, 4) if DEEP else (2, 1)
MAX_REDRAWS = 50
MIN_TELLING = 8  # refusals: of two changes, one or two bad draws say nothing
THOROUGH = ('mi325x-vs-h200', 'uncertainty', 'everything')
SEED = int(os.environ.get('PERTOKEN_SEED', 20250101))
AS_IT_IS = -1  # the number of an example's own state
WORKERS = 2
SHOWN = 5


TAKEN, REFUSED, RESHAPED = 'taken', 'refused', 'reshaped'


def shape(path):
    """A workbook's formulas and names, except Inputs: the same in all states of a scenario."""
    sheets, names = xlsx.formulas(path, ('Inputs', *layout.MOVING))
    return sheets, [(name, refers_to) for name, refers_to in names if name.startswith('pt_')]


class State:
    """One state of an example, as written by pertoken: the case, the changes, the file."""

    def __init__(self, path, case='base', changes=(), redraws=0, reshaped=False):
        self.path, self.case, self.changes, self.redraws = path, case, changes, redraws
        self.reshaped = reshaped  # pertoken leaves out other rows than in the example as it is

    def describe(self):
        sets = [f"--set {change.key}='{change.text}'" for change in self.changes]
        return ' '.join([f'--case {self.case}', *sets])


class Example:
    """An example's workbook in a folder: as written by pertoken, and with wrong cached values."""

    def __init__(self, scenario, folder, thorough):
        self.scenario, self.folder = scenario, Path(folder, scenario.stem)
        self.changes = MANY if thorough else FEW
        self.folder.mkdir()
        self.path = harness.report(scenario, self.folder / 'base.xlsx')
        self.wrong = self.folder / 'wrong.xlsx'
        xlsx.patch(self.path, self.wrong, lambda part, xml: xlsx.spoil(xml))
        self.book = xlsx.read(self.path)
        self.inputs = layout.Inputs(self.book)
        self.shape = shape(self.path)
        self.shapes = {'base': self.shape}
        self.verdicts = {verdict: [] for verdict in (TAKEN, REFUSED, RESHAPED)}
        if DEEP:
            self.sort_out(perturb.candidates(self.inputs))
        else:
            self.verdicts[TAKEN] = perturb.candidates(self.inputs)

    def report(self, path, case, changes):
        sets = [f'--set={change.key}={change.text}' for change in changes]
        harness.report(self.scenario, path, [f'--case={case}', *sets])

    def sort_out(self, entries, suspected=False):
        """The verdict on each entry: on all at once if they are accepted, else on both halves, down
        to single ones. An entry that is accepted only together with others is detected in the states
        that draw it: they are drawn again if pertoken refuses them, and fail if they have another
        shape. Suspected are those whose other half was taken: they are not, and are not tried as a
        whole. Returns whether all are taken at once.
        """
        if len(entries) < 2:
            verdict = self.verdict(entries) if entries else TAKEN
            self.verdicts[verdict] += entries
            return verdict == TAKEN
        if not suspected and self.verdict(entries) == TAKEN:
            self.verdicts[TAKEN] += entries
            return True
        middle = len(entries) // 2
        self.sort_out(entries[middle:], suspected=self.sort_out(entries[:middle]))
        return False

    def verdict(self, entries):
        """pertoken's verdict on other values of inputs that the workbook offers to overwrite."""
        path = self.folder / f'{entries[0].key}.xlsx'
        try:
            self.report(path, 'base', [self.change_of_one(entry) for entry in entries])
        except harness.Refused:
            return REFUSED
        return TAKEN if shape(path) == self.shape else RESHAPED

    def change_of_one(self, entry):
        draws = random.Random(f'{SEED} {self.scenario.stem} {entry.key}')
        return perturb.change(draws, self.book, self.inputs, entry, 'base')

    def state_of_one(self, entry):
        """The state in which one reshaping input has another value: the last one of its verdicts wrote it."""
        return State(self.folder / f'{entry.key}.xlsx', 'base', [self.change_of_one(entry)], reshaped=True)

    def state(self, number):
        """A state by its number: the example unchanged, a random one, one of a reshaping input."""
        if number == AS_IT_IS:
            return State(self.path)
        if number >= self.changes:
            return self.state_of_one(self.verdicts[RESHAPED][number - self.changes])
        return self.draw(number)

    def draw(self, number):
        """Draws a state and has pertoken compute it; refused states are drawn again, and if no
        verdicts were requested, so are those that give the workbook another shape.
        """
        cases = list(self.inputs.cases)
        case = cases[number % len(cases)]
        path = self.folder / f'{number}.xlsx'
        for redraws in range(MAX_REDRAWS):
            draws = random.Random(f'{SEED} {self.scenario.stem} {number} {redraws}')
            changes = perturb.draw(draws, self.book, self.inputs, self.verdicts[TAKEN], case)
            if not DEEP:  # fewer at a time are more likely to be accepted together
                del changes[max(2, len(changes) - redraws):]
            try:
                self.report(path, case, changes)
            except harness.Refused:
                continue
            if DEEP or shape(path) == self.shape_in(case):
                return State(path, case, changes, redraws)
        raise RuntimeError(f'{self.scenario.stem}: {MAX_REDRAWS} changes in a row were refused')

    def shape_in(self, case):
        if case not in self.shapes:
            path = self.folder / f'{case}.xlsx'
            self.report(path, case, [])
            self.shapes[case] = shape(path)
        return self.shapes[case]

    def edits(self, state):
        """What to type into the workbook to reach a state: {(sheet, row, column): value}.

        --set applies to every case, so a row is overwritten wherever it has a value of its own.
        """
        changed = {change.key: change.value for change in state.changes}
        values = {('Inputs', row, column): changed[entry.key]
                  for entry, row, column in self.inputs.own() if entry.key in changed}
        name = self.book.name('pt_case')
        values[name.sheet, *xlsx.position(name.ref)] = state.case
        return values

    def compare(self, state, actual):
        if state.path == self.path:
            return compare.compare(self.book, self.book, actual)
        expected = xlsx.read(state.path)
        if state.reshaped:
            return compare.compare_by_key(expected, self.book, actual)
        result = compare.compare(expected, self.book, actual)
        result.mismatches[:0] = compare.same_formulas(self.book, expected)
        return result

    def in_gnumeric(self, state):
        source = self.folder / f'{state.path.stem}-in.xlsx'
        edits = {}
        for (sheet, row, column), value in self.edits(state).items():
            edits.setdefault(self.book.sheets[sheet].part, {})[xlsx.address(row, column)] = value
        xlsx.patch(self.wrong, source, lambda part, xml: xlsx.set_cells(xml, edits.get(part, {})))
        result = self.compare(state, gnumeric.recalculate(source))
        source.unlink()
        return result


def make_example(task):
    return Example(*task)


loaded = []  # the examples, in a worker process


def make_state(task):
    """One state of an example: (example's place, state, Gnumeric's comparison or None)."""
    place, number, wanted = task
    example = loaded[place]
    state = example.state(number)
    result = example.in_gnumeric(state) if wanted else None
    return place, state, result


def tasks(examples):
    """(place, number, whether for Gnumeric) of every state, in two lists: LibreOffice's, and others.

    Every second round through an example's cases is LibreOffice's; with few states, every second
    state.
    """
    first, rest = [], []
    for place, example in enumerate(examples):
        for number in range(AS_IT_IS, example.changes + len(example.verdicts[RESHAPED])):
            rounds = number // len(example.inputs.cases) if DEEP else number
            if rounds % 2 == 0 or number == AS_IT_IS:
                first.append((place, number, number == AS_IT_IS))
            else:
                rest.append((place, number, True))
    return first, rest


class Tally:
    """The findings, by example and engine."""

    def __init__(self, examples):
        self.examples, self.results = examples, {}
        self.states, self.failed, self.refused, self.redraws = Counter(), 0, 0, {}

    def add(self, place, engine, state, result):
        self.states[place, engine] += 1
        self.redraws[place, state.path] = state.redraws
        self.results.setdefault((place, engine), compare.Comparison()).add(result)
        if result.mismatches:
            self.failed += 1
            print(f'FAILED {self.examples[place].scenario.name} {state.describe()} in {engine}: '
                  f'{len(result.mismatches)} of {result.cells} cells')
            for line in result.mismatches[:SHOWN]:
                print(f'  {line}')

    def print(self):
        for (place, engine), result in sorted(self.results.items()):
            print(f'{self.examples[place].scenario.name}: {engine} agrees in '
                  f'{result.cells - len(result.mismatches)} of {result.cells} cells of '
                  f'{self.states[place, engine]} states, worst {result.worst:.1e}')
        for place, example in enumerate(self.examples):
            redraws = sum(count for (where, _), count in self.redraws.items() if where == place)
            if redraws > max(example.changes, MIN_TELLING) and DEEP:
                self.refused += 1
                print(f'FAILED {example.scenario.name}: more than half of the changes were refused')
            self.judge_inputs(example)
        print(f'seed {SEED}; changes that pertoken refused and that were drawn again: '
              f'{sum(self.redraws.values())}')

    def judge_inputs(self, example):
        """Most inputs that the workbook offers to overwrite must be accessible to --set."""
        for verdict, entries in example.verdicts.items():
            if verdict != TAKEN and entries:
                print(f'{example.scenario.name}: inputs {verdict} by pertoken: {len(entries)}: '
                      + ', '.join(entry.key for entry in entries[:SHOWN]))
        if len(example.verdicts[REFUSED]) > len(example.verdicts[TAKEN]):
            self.refused += 1
            print(f'FAILED {example.scenario.name}: that is more than half of them')


def in_libreoffice(office, examples, made, tally):
    for place, example in enumerate(examples):
        document = office.open(example.wrong)
        for state in made[place]:
            document.set(example.edits(state))
            tally.add(place, 'LibreOffice', state, example.compare(state, document.read()))
        document.close()


def check(named, folder):
    with Pool(WORKERS) as pool:
        examples = pool.map(make_example, [(scenario, folder, named or scenario.stem in THOROUGH)
                                           for scenario in harness.EXAMPLES], 1)
    tally = Tally(examples)
    first, rest = tasks(examples)
    made = [[] for _ in examples]
    with Pool(WORKERS, loaded.extend, (examples,)) as pool:
        for place, state, result in pool.imap(make_state, first):
            made[place].append(state)
            if result:
                tally.add(place, 'Gnumeric', state, result)
        others = pool.imap_unordered(make_state, rest)
        with libreoffice.Office(folder) as office:
            in_libreoffice(office, examples, made, tally)
        for place, state, result in others:
            tally.add(place, 'Gnumeric', state, result)
    tally.print()
    return tally


def main():
    reason = libreoffice.missing() or gnumeric.missing()
    if reason:
        skip_all(reason)
    start = time.monotonic()
    own = ('rented.ini', 'bought.ini', 'open_limits.ini', 'staged.ini', 'vintages.ini', 'by_year.ini', 'steps.ini',
           'everything.ini', 'offers.ini', 'late.ini', 'late_stages.ini', 'endless.ini', 'horizons.ini')
    harness.EXAMPLES += [Path(__file__).resolve().parent / name for name in own]
    if wanted := set(sys.argv[1:]):
        harness.EXAMPLES[:] = [path for path in harness.EXAMPLES if path.stem in wanted]
    print(f'{len(harness.EXAMPLES)} examples x {MANY} or {FEW} random changes, recalculated '
          f'by Gnumeric and LibreOffice')
    with tempfile.TemporaryDirectory() as folder:
        try:
            tally = check(bool(wanted), folder)
        except (harness.Refused, OSError, RuntimeError, LookupError) as error:
            print(f'FAILED: {error}')
            Count(failed=1).finish()
    print(f'{time.monotonic() - start:.0f} s')
    passed = sum(tally.states.values()) - tally.failed
    Count(passed, tally.failed + tally.refused + (not passed)).finish()


if __name__ == '__main__':
    main()
