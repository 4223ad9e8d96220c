#!/usr/bin/python3
"""The what-if page in headless Chromium: its numbers against the engine's, and how it behaves.

Every example gets seeded random changes of its inputs (6, or 2 where others have all that it has),
put into the page by its address and into the engine by --set; every line item must agree to
1e-9. What the page then exports, read back by pertoken, must give the same again. The browser's
part is tests/checks/page/check.mjs.
Deep: 50 changes, or 12.
Seconds: 25
Usage: check_page.py [--seed N] [--count N]
Last line: N passed, N failed, N skipped; exit 77 where node, npm or Chromium is missing.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import Count, DEEP, ROOT, run, skip_all  # noqa: E402
from workbook.harness import EXAMPLES, MEASURED  # noqa: E402
from workbook.perturb import FROM_ZERO, TRIES  # noqa: E402

CHANGES = 6
MANY, FEW = (50, 12) if DEEP else (6, 2)  # states of an example; THOROUGH have all that the others have
THOROUGH = ('mi325x-vs-h200', 'uncertainty', 'finance-views', 'operations', 'everything')
TESTS_OWN = ('staged.ini', 'vintages.ini', 'by_year.ini', 'everything.ini')
TOLERANCE = 1e-9
PATIENCE = 8  # times the time that a quiet machine may take

TITLES = {
    'script': '</script><script>globalThis.hostile = 1; alert(1)</script><img src=x onerror=alert(2)>',
    'comment': '<!--<script> " onload=alert(3) \' `${alert(4)}` &lt;b&gt; \\u003cb\\u003e {{charts}}',
    'formula': '=HYPERLINK("https://example.com","x") +1 -1 @SUM(A1)',
    'right_to_left': 'مقارنة التكلفة لكل رمز \u202eabc\u202c עברית',
    'emoji': 'Which GPU? \U0001f680\U0001f469\u200d\U0001f52c \U0001f1e9\U0001f1ea e\u0301',
    'long': 'W' * 150,
}

# Every operation of the formula language, as costs of the user's own.
OPERATIONS = {
    'minmax': 'min(accelerators, 3, 700) * 1 USD + max(accelerators, 900) * 2 USD',
    'rounding': 'round(accelerators / 7, 2) * 1 USD + ceil(accelerators * 1.10) * 1 USD '
                '+ floor(accelerators / 7) * 1 USD',
    'powers': '(accelerators / 100)^2 * 1 USD + 2^(1 / (1 + spares)) * 1 USD',
    'negative': '-(-(1 USD) * accelerators) - (3 USD - (2 USD - 1 USD))',
    'compared': '((pue < 1.25) + 2 * (pue <= 1.25) + 4 * (pue > 1.25) + 8 * (pue >= 1.25) '
                '+ 16 * (pue = 1.25) + 32 * (pue <> 1.25)) * 1 USD',
    'quotient': '100 USD / (accelerators / 8 / 2)',
    'chosen': 'if(pue - 1.25, if(wacc > 8 %/yr, 7 USD, 8 USD), 9 USD)',
}
SERIES = {
    'grows': '5 USD * growth(3 %/yr, elapsed) * t',
    'follows': 'prev(it_energy) * 0.001 USD/kWh + first(outset) * 3 USD + sum(period) * 1 USD/yr',
    'foresees': 'next(it_energy) * 0.002 USD/kWh + highest(it_energy) * 0.003 USD/kWh + year * 4 USD',
}


def arguments_for(scenario):
    if scenario.parent.name != MEASURED.name:
        return []
    return ['--measurements', str(ROOT / 'data' / 'measured'), '--mixed']


def write_page(scenario, target, settings=()):
    done = run('page', scenario, '-q', '-o', target, *arguments_for(scenario), *settings)
    if done.returncode == 3 and 'without the charts' in done.stderr:
        skip_all("'pertoken page' was built without its charts")
    if done.returncode:
        raise RuntimeError(f'pertoken page {scenario}: exit {done.returncode}: {done.stderr}')
    text = target.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start:text.index('</script>', start)])


def compare(scenario, *arguments):
    """The engine's word on a scenario, or None where it refuses."""
    done = run('compare', scenario, '-q', '--format', 'json', *arguments_for(scenario),
                    *arguments)
    if done.returncode == 2:
        return None
    if done.returncode:
        raise RuntimeError(f'pertoken compare {scenario} {arguments}: {done.stderr}')
    return json.loads(done.stdout)


# ---- seeded changes

def target_name(data, target):
    prefix = '' if target['option'] < 0 else data['options'][target['option']]['id'] + '.'
    return prefix + target['input']


def figure_value(data, which, target):
    option = target['moves'][0]
    for case in (which, 0):
        figure = data['cases'][case]['options'][option]['figures'].get(target['input'])
        if figure:
            return figure['value']
    raise KeyError(target['input'])


def draw_number(draw, data, which, target, item):
    """A number in the input's unit, near its value and within its limits, or None."""
    if item['choices']:
        return draw.choice(item['choices'])['value']
    old = figure_value(data, which, target) / item['factor']
    for _ in range(TRIES):
        if item['name'] == 'horizon':
            number = float(draw.randint(1, 7))
        else:
            percent = 100 if item['unit'].startswith('%') else 1
            start = old or FROM_ZERO.get(item['unit'], 1) * percent
            number = start * draw.uniform(0.6, 1.6)
            number = float(round(number)) if item['integer'] else float(f'{number:.6g}')
        value = number * item['factor']
        if (target['low'] is None or value >= target['low']) and \
           (target['high'] is None or value <= target['high']):
            return number
    return None


def draw_changes(draw, data, which):
    items = {item['name']: item for item in data['items']}
    targets = data['cases'][which]['targets']
    changes = {}
    for target in draw.sample(targets, min(CHANGES, len(targets))):
        item = items[target['input']]
        number = draw_number(draw, data, which, target, item)
        if number is not None:
            changes[target_name(data, target)] = (number, item)
    return changes


def typed(number, item):
    for choice in item['choices']:
        if choice['value'] == number:
            return choice['name']
    unit = '' if item['unit'] in ('', '-') else ' ' + item['unit']
    return f'{number!r}{unit}'


def kept_settings(settings, changes):
    """What was said of a value's source goes with the value."""
    return [word for pair in zip(settings[::2], settings[1::2])
            if not any(pair[1].startswith(f'{name}.') for name in changes) for word in pair]


def state_of(scenario, data, which, changes, export, settings):
    """A state of the page with what the engine says of it; None where the engine refuses."""
    case = data['cases'][which]['name']
    changed = [word for name, (number, item) in changes.items()
               for word in ('--set', f'{name}={typed(number, item)}')]
    engine = compare(scenario, *kept_settings(settings, changes), '--case', case, *changed)
    if engine is None:
        return None
    pairs = [f'case={case}'] + [f'{name}={number!r}' for name, (number, _) in changes.items()]
    return {'fragment': '&'.join(pairs), 'export': str(export), 'engine': engine}


def states_of(draw, scenario, data, target, count, settings=()):
    """Every case as it stands, then seeded changes of cases in turn. Exports go beside `target`."""
    cases = len(data['cases'])
    states, tries = [], 0
    while len(states) < cases + count:
        number, tries = len(states), tries + 1
        if tries > 4 * (cases + count):
            raise RuntimeError(f'{scenario}: the engine refuses too many changes')
        which = number % cases
        changes = draw_changes(draw, data, which) if number >= cases else {}
        state = state_of(scenario, data, which, changes,
                         target.with_name(f'{target.name}-{number}.ini'), settings)
        if state:
            states.append(state)
    return states


# ---- questions that the page answers too

SOLVED = ['mi325x.throughput', 'mi325x.list_price', 'mi325x.engineers']


def answer(command, scenario, *arguments):
    done = run(command, scenario, '-q', '--format', 'json', *arguments_for(scenario), *arguments)
    if done.returncode:
        raise RuntimeError(f'pertoken {command} {scenario}: {done.stderr}')
    return json.loads(done.stdout)


def break_evens(scenario):
    """Where the default pair of options meets, by input."""
    return {name: answer('solve', scenario, '--option', 'mi325x', '--for', name)['values']
            for name in SOLVED}


# ---- the export, read back

def apart(a, b):
    if isinstance(a, list):
        return len(a) != len(b) or any(apart(x, y) for x, y in zip(a, b))
    if a is None or b is None:
        return a is not b
    return not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12)


def export_problems(state, scenario):
    done = compare(scenario.with_name(Path(state['export']).name))
    if done is None:
        refused = run('compare', state['export'], *arguments_for(scenario)).stderr
        return [f'the export of #{state["fragment"]} is refused: {refused}']
    problems = []
    for wanted, got in zip(state['engine']['options'], done['options']):
        names = [name for name, value in wanted['items'].items()
                 if name not in got['items'] or apart(value, got['items'][name])]
        if names or wanted['grade'] != got['grade']:
            problems.append(f'the export of {scenario.name} #{state["fragment"]}: {wanted["id"]}: '
                            f'{", ".join(names) or "grade"}')
    return problems


# ---- what the page is tried on

def copy_examples(folder):
    """Beside their originals exports may lie; the examples' own folder stays as it is."""
    shutil.copytree(ROOT / 'examples', folder / 'examples',
                    ignore=shutil.ignore_patterns('pictures'))
    for name in TESTS_OWN:
        shutil.copy(ROOT / 'tests' / 'checks' / 'workbook' / name, folder / 'examples')
    return [folder / path.relative_to(ROOT) for path in EXAMPLES] + [folder / 'examples' / name for name in TESTS_OWN]


def write_operations(folder):
    lines = ['[scenario]', 'inherits = mi325x-vs-h200.ini', 'title = Every operation']
    for name, formula in OPERATIONS.items():
        lines += [f'[item {name}]', f'label = {name}', 'unit = USD', 'group = capex',
                  f'formula = {formula}']
    for name, formula in SERIES.items():
        lines += [f'[item {name}]', f'label = {name}', 'unit = USD', 'group = opex',
                  f'formula = {formula}']
    path = folder / 'examples' / 'operations.ini'
    path.write_text('\n'.join(lines) + '\n')
    return path


def write_hostile(folder, name, text):
    path = folder / 'examples' / f'hostile-{name}.ini'
    path.write_text(f'[scenario]\ninherits = mi325x-vs-h200.ini\ntitle = {text}\n'
                    f'[common]\nwacc = 9 %/yr\nwacc.source = {text}\n'
                    f'[item own]\nlabel = {text}\nunit = USD\ngroup = capex\nformula = 1 USD\n')
    return path


# A page made with --set: its export must stand without.
SETTINGS = ['--set', 'wacc=7 %/yr', '--set', 'mi325x.list_price=21000 USD',
            '--set', 'mi325x.list_price.quote=Q-7 2026-10-01', '--set', 'h200.evidence=tp0041',
            '--set', 'scenario.horizon=4 yr']


def page_with_settings(folder, seed, count):
    scenario = folder / 'examples' / 'mi325x-vs-h200.ini'
    page = folder / 'with-settings.html'
    data = write_page(scenario, page, [*SETTINGS, '--case', 'dear_power'])
    return {'file': str(page), 'scenario': scenario, 'tornado': {'swings': []},
            'states': states_of(random.Random(seed), scenario, data,
                                scenario.with_name('with-settings'), count, SETTINGS)}


def make_plan(folder, seed, count):
    pages, scenarios = [], copy_examples(folder)
    scenarios.append(write_operations(folder))
    for scenario in scenarios:
        draw = random.Random(f'{seed} {scenario.name}')
        page = folder / f'{scenario.stem}.html'
        data = write_page(scenario, page)
        pages.append({'file': str(page), 'scenario': scenario,
                      'states': states_of(draw, scenario, data, scenario,
                                          count or (MANY if scenario.stem in THOROUGH else FEW)),
                      'tornado': answer('sensitivity', scenario)})
    pages.append(page_with_settings(folder, seed, count or FEW))
    hostile = []
    for name, text in TITLES.items():
        page = folder / f'hostile-{name}.html'
        write_page(write_hostile(folder, name, text), page)
        hostile.append({'file': str(page), 'title': text, 'texts': [text]})
    return {'pages': pages, 'hostile': hostile, 'patience': PATIENCE,
            'speed': {'file': str(folder / 'mi325x-vs-h200.html'), 'target': 'mi325x.discount'},
            'absurd': {'file': str(folder / 'mi325x-vs-h200.html'), 'option': 'h200', 'input': 'throughput'},
            'mixed': str(folder / 'this-machine.html'),
            'break_even': break_evens(folder / 'examples' / 'mi325x-vs-h200.ini')}


# ---- what is needed

def need_browser():
    driver = run(program=ROOT / 'tests' / 'checks' / 'page' / 'driver', timeout=None)
    if driver.returncode:
        skip_all(driver.stdout.strip())
    chromium = os.environ.get('CHROMIUM', '/usr/bin/chromium')
    if not os.access(chromium, os.X_OK):
        skip_all(f'no Chromium here: {chromium}')


def in_browser(plan, folder):
    """Runs the browser's part and prints what it says; (passed, failed)."""
    path = folder / 'plan.json'
    path.write_text(json.dumps(plan, default=str))
    done = run(ROOT / 'tests' / 'checks' / 'page' / 'check.mjs', path, program='node', timeout=None,
               stderr=subprocess.STDOUT)
    print(done.stdout.rstrip())
    counts = re.search(r'^(\d+) passed, (\d+) failed$', done.stdout, re.M)
    return tuple(map(int, counts.groups())) if counts else (0, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=0)
    options = parser.parse_args()
    need_browser()
    count = options.count
    print(f'seed {options.seed}, {count or f"{MANY} or {FEW}"} changes of every example')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = make_plan(folder, options.seed, count)
        passed, failed = in_browser(plan, folder)
        for page in plan['pages']:
            for state in page['states'] if passed else []:
                problems = export_problems(state, page['scenario'])
                failed, passed = failed + len(problems), passed + (not problems)
                for problem in problems:
                    print(f'FAIL {problem}')
    Count(passed, failed).finish()


if __name__ == '__main__':
    main()
