#!/usr/bin/python3
"""The what-if page in headless Chromium: its numbers compared with the engine's, and how it behaves.

Every example gets seeded random changes of its inputs (3, or 1 if other examples cover all that it has), applied to
the page through its address and to the engine through --set; every line item must agree to 1e-9, the costs not
included must be the same, also those of random zeros with and without a source, and so must the percentiles of
`simulate` if inputs have ranges. The page's export, read back by pertoken, must give the same results again. The
browser's part is tests/checks/page/check.mjs.
Deep: 10 changes, or 3; --seed draws others.
Seconds: 90, deep 250
Usage: check_page.py [--seed N] [--count N]
Last line: N passed, N failed, N skipped; exit 77 if node, npm or Chromium is missing.
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
from support import estimated, random_zeros  # noqa: E402
from support.program import Count, DEEP, ROOT, Skip, run, skip_all  # noqa: E402
from support.records import save  # noqa: E402
from workbook.harness import EXAMPLES, MEASURED  # noqa: E402
from workbook.perturb import FROM_ZERO, TRIES  # noqa: E402

CHANGES = 6
ZEROS = 8 if DEEP else 2  # scenarios
MANY, FEW = (10, 3) if DEEP else (3, 1)  # states of an example; THOROUGH cover everything in the others
THOROUGH = ('mi325x-vs-h200', 'uncertainty', 'finance-views', 'operations', 'everything')
WORKBOOK = ROOT / 'tests' / 'checks' / 'workbook'
TESTS_OWN = ('staged.ini', 'vintages.ini', 'by_year.ini', 'steps.ini', 'everything.ini', 'late.ini', 'late_stages.ini', 'horizons.ini')
TOLERANCE = 1e-9
PATIENCE = 8  # multiple of the time that a quiet machine may take

TITLES = {
    'script': '</script><script>globalThis.hostile = 1; alert(1)</script><img src=x onerror=alert(2)>',
    'comment': '<!--<script> " onload=alert(3) \' `${alert(4)}` &lt;b&gt; \\u003cb\\u003e {{charts}}',
    'formula': '=HYPERLINK("https://example.com","x") +1 -1 @SUM(A1)',
    'right_to_left': 'مقارنة التكلفة لكل رمز \u202eabc\u202c עברית',
    'emoji': 'Which GPU? \U0001f680\U0001f469\u200d\U0001f52c \U0001f1e9\U0001f1ea e\u0301',
    'long': 'W' * 150,
}

OWN_NUMBERS = ['insurance_1', 'retrofit_1', 'audit_1', 'audit_escalation', 'training_1', 'training_2']  # own-items.ini

# The inputs of 2 x 33 ranges: more than the 64 that Sobol's sequence supports; the others are drawn at random.
MANY_RANGED = {
    'list_price': (30000, 'USD'), 'discount': (12, '%'), 'residual_value': (8, '%'), 'load_power': (800, 'W'),
    'idle_power': (150, 'W'), 'throughput': (4000, 'token/s'), 'engineers': (2, 'FTE'), 'migration_cost': (90000, 'USD'),
    'pue': (1.3, ''), 'cooling_share': (70, '%'), 'electricity_price': (0.09, 'USD/kWh'),
    'electricity_escalation': (3, '%/yr'), 'water_use': (1.8, 'L/kWh'), 'water_price': (2, 'USD/m3'), 'support': (4, '%/yr'),
    'software_licence': (900, 'USD/gpu/yr'), 'engineer_cost': (280000, 'USD/FTE/yr'), 'wage_growth': (3, '%/yr'),
    'failure_rate': (6, '%/yr'), 'repair_cost': (80, '%'), 'utilization': (65, '%'), 'availability': (94, '%'),
    'scaling_efficiency': (93, '%'), 'delivered': (92, '%'), 'spares': (3, '%'), 'node_price': (60000, 'USD'),
    'network_price': (4200, 'USD/gpu'), 'installation': (4, '%'), 'purchase_tax': (5, '%'),
    'demand_charge': (12, 'USD/kW/month'), 'host_power': (300, 'W'), 'network_power': (40, 'W'),
    'build_price': (900, 'USD/kW')}


def many_ranges():
    """For each option separately; the first and the last of all are correlated, one drawn by Sobol and one at
    random."""
    lines = {f'{option}.{name}': f'{name} = {value} {unit}' for option in ('h200', 'mi325x')
             for name, (value, unit) in MANY_RANGED.items()}
    ranges = [f'{key} = uniform({0.93 * value:g}, {1.05 * value:g}) {unit}' for key in lines
              for value, unit in [MANY_RANGED[key.split('.')[1]]]]
    options = ''.join(f'[option {option}]\naccelerator = {accelerator}\naccelerators = 64\n' + '\n'.join(
        line for key, line in lines.items() if key.startswith(option)) + '\n'
        for option, accelerator in (('h200', 'h200-sxm-141'), ('mi325x', 'mi325x-256')))
    first, *_, last = lines
    return ('[scenario]\ntitle = Many ranges\ndate = 2026-11-20\n' + options + '[range]\n' + '\n'.join(ranges)
            + f'\n[correlate]\n{first}, {last} = 0.6\n')


# Ranges of every kind, in addition to those in the examples.
RANGES = {
    'chances.ini': '[scenario]\ninherits = uncertainty.ini\n[range]\nhorizon = triangular(3, 4, 6) yr\n'
                   'wacc = normal(9, 1) %/yr\nnetwork_price = lognormal(4000, 1.2) USD\n'
                   'accelerators = uniform(720, 880) gpu\n[correlate]\nwacc, electricity_price = -0.3\n',
    'acceptance/owed.ini': '[scenario]\ninherits = quoted.ini\n[range]\n'
                           'h200.throughput = triangular(3200, 3900, 4100) token/s\n',
    'acceptance/late-drawn.ini': '[scenario]\ninherits = quoted.ini\n[option h200]\ndelivery_delay = 2 month\n'
                                 'delay_grace = 3 week\n[range]\nh200.delivery_delay = triangular(0, 1, 6) month\n'
                                 'h200.throughput = normal(4202, 300, 2000, 6000) token/s\n',
    'acceptance/replaced.ini': '[scenario]\ninherits = owed.ini\n[option h200]\nquote = replaced-offer.ini\n',
    'many-ranges.ini': many_ranges(),
    'nearly-free.ini': '[scenario]\ninherits = uncertainty.ini\n[option h200]\nlist_price = 200000000 USD\n',
    # In some draws only one option stays within the site's power, so none is the cheapest.
    'site.ini': '[scenario]\ninherits = mi325x-vs-h200.ini\n[common]\nsite_power = 1.3 MW\n[range]\n'
                'mi325x.load_power = uniform(900, 1100) W\nh200.load_power = uniform(650, 750) W\n'
                'mi325x.discount = uniform(0, 20) %\n',
    # Two options draw from the same rows, which is one bar of the tornado against a third.
    'same-rows.ini': '[scenario]\ntitle = Same rows\ndate = 2026-11-30\nbaseline = c\n[workload]\nmodel = llama-2-70b\n'
                     'precision = fp8\nscenario = offline\nutilization = 70 %\n[common]\naccelerators = 80\n'
                     'accelerators_per_node = 8\nlist_price = 30000 USD\npue = 1.25\nelectricity_price = 0.08 USD/kWh\n'
                     '[option a]\naccelerator = h200-sxm-141\nevidence_spread = yes\n'
                     '[option b]\naccelerator = h200-sxm-141\nevidence_spread = yes\ndiscount = 5 %\n'
                     '[option c]\naccelerator = h200-sxm-141\nthroughput = 4000 token/s\n',
    'measured/samples.ini': '[scenario]\ninherits = this-machine.ini\n'
                            '[range]\nthis_machine.decode_throughput = from measurement\n',
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
    if scenario.stem.startswith('estimated'):
        return ['--data', str(scenario.parent / 'data'), '--measurements', str(scenario.parent / 'records')]
    if scenario.parent.name != MEASURED.name:
        return []
    return ['--measurements', str(ROOT / 'data' / 'measured'), '--mixed']


def write_page(scenario, target, settings=()):
    try:
        done = run('page', scenario, '-q', '-o', target, *arguments_for(scenario), *settings)
    except Skip as reason:
        skip_all(reason)
    if done.returncode:
        raise RuntimeError(f'pertoken page {scenario}: exit {done.returncode}: {done.stderr}')
    text = target.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start:text.index('</script>', start)])


def compare(scenario, *arguments):
    """The engine's result for a scenario, or None if it refuses."""
    done = run('compare', scenario, '-q', '--format', 'json', *arguments_for(scenario),
                    *arguments)
    if done.returncode == 2:
        return None
    if done.returncode:
        raise RuntimeError(f'pertoken compare {scenario} {arguments}: {done.stderr}')
    return json.loads(done.stdout)


def simulate(scenario, uncertainty, *arguments):
    """The engine's result from as many draws as the page's; None if it draws nothing."""
    done = run('simulate', scenario, '-q', '--format', 'json', '--draws', uncertainty['draws'], '--seed', uncertainty['seed'],
               *arguments_for(scenario), *arguments)
    if done.returncode == 2 and 'nothing to draw' in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(f'pertoken simulate {scenario} {arguments}: {done.stderr}')
    told = json.loads(done.stdout)
    found = {kind: {one['option']: list(one['percentiles'].values()) for one in told['outcomes'] if one['kind'] == kind}
             for kind in ('cost', 'saving')}
    return {**found, 'cheapest': told['cheapest'], 'ranked': told['ranked'], 'no_saving': told.get('no_saving', {}),
            'damages': told.get('damages', {})}


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


FREE = 0.1  # of the prices drawn, and of the costs that may be left out


def may_be_free(data, item):
    return any(one['input'] == item['name'] and one.get('shown') == 'price' for one in data['grading']['inputs']) or \
        any(item['name'] in cost['inputs'] for option in data['options'] for cost in option['omissible'])


def draw_number(draw, data, which, target, item):
    """A number in the input's unit, near its value and within its limits, or None."""
    if item['choices']:
        return draw.choice(item['choices'])['value']
    old = figure_value(data, which, target) / item['factor']
    for _ in range(TRIES):
        if item['name'] == 'horizon':
            number = float(draw.randint(1, 7))
        elif may_be_free(data, item) and draw.random() < FREE:
            number = 0.0
        else:
            percent = 100 if item['unit'].startswith('%') else 1
            start = old or FROM_ZERO.get(item['unit'], 1) * percent
            number = start * draw.uniform(0.6, 1.6)
            number = float(round(number)) if item['integer'] else float(f'{number:.6g}')
        value = number * item['factor']
        if number == old:  # no change, to the page
            continue
        if (target['low'] is None or value >= target['low']) and \
           (target['high'] is None or value <= target['high']):
            return number
    return None


# What the engine refuses to take without the other, unlike the page.
COMPANIONS = {'water_price': 'water_use', 'repair_cost': 'failure_rate',
              'facility_residual': 'build_price', 'colo_escalation': 'colo_rate', 'colo_power': 'colo_rate'}


def with_companions(chosen, targets):
    wanted = [(COMPANIONS.get(one['input']), one['option']) for one in chosen]
    return chosen + [one for one in targets if (one['input'], one['option']) in wanted and one not in chosen]


def draw_changes(draw, data, which):
    items = {item['name']: item for item in data['items']}
    targets = data['cases'][which]['targets']
    changes = {}
    for target in with_companions(draw.sample(targets, min(CHANGES, len(targets))), targets):
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
    """The source stated for a value is replaced with the value."""
    return [word for pair in zip(settings[::2], settings[1::2])
            if not any(pair[1].startswith(f'{name}.') for name in changes) for word in pair]


def state_of(scenario, data, which, changes, export, settings):
    """A state of the page with the engine's result; None if the engine refuses."""
    case = data['cases'][which]['name']
    changed = [word for name, (number, item) in changes.items()
               for word in ('--set', f'{name}={typed(number, item)}')]
    said = [*kept_settings(settings, changes), '--case', case, *changed]
    engine = compare(scenario, *said)
    if engine is None:
        return None
    pairs = [f'case={case}'] + [f'{name}={number!r}' for name, (number, _) in changes.items()]
    return {'fragment': '&'.join(pairs), 'export': str(export), 'engine': engine, **(
        {'drawn': simulate(scenario, data['uncertainty'], *said)} if data['uncertainty'] else {})}


def states_of(draw, scenario, data, target, count, settings=(), cases=0):
    """Every case unchanged (or the first `cases`), then seeded changes of the cases in turn. Exports go beside
    `target`."""
    cases = cases or len(data['cases'])
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
    """Where the default pair of options breaks even, by input."""
    return {name: answer('solve', scenario, '--option', 'mi325x', '--for', name)['values']
            for name in SOLVED}


# ---- the export, read back

def apart(a, b):
    if isinstance(a, list):
        return len(a) != len(b) or any(apart(x, y) for x, y in zip(a, b))
    if a is None or b is None:
        return a is not b
    return not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12)


# From the strongest. A file states quotes and claims alone: a better grade becomes a claim, none becomes weaker.
GRADES = ('measured', 'quoted', 'benchmark', 'published', 'projected', 'claim', 'assumed')


def is_weaker(got, wanted):
    return GRADES.index(got) > max(GRADES.index(wanted), GRADES.index('claim'))


def export_problems(state, scenario):
    done = compare(scenario.with_name(Path(state['export']).name))
    if done is None:
        refused = run('compare', state['export'], *arguments_for(scenario)).stderr
        return [f'the export of #{state["fragment"]} is refused: {refused}']
    text = Path(state['export']).read_text(encoding='utf-8')
    problems = []
    for wanted, got in zip(state['engine']['options'], done['options']):
        names = [name for name, value in wanted['items'].items()
                 if name not in got['items'] or apart(value, got['items'][name])]
        grades = [f'{name} is {got["inputs"][name]["grade"]}, not {figure["grade"]}'
                  for name, figure in wanted['inputs'].items() if name in got['inputs']
                  and is_weaker(got['inputs'][name]['grade'], figure['grade'])]
        kept = wanted['grade'] == got['grade'] or (
            got['grade'] == 'claim' and wanted['grade'] != 'assumed' and 'it counts as a claim' in text)
        if names or grades or not kept:
            problems.append(f'the export of {scenario.name} #{state["fragment"]}: {wanted["id"]}: '
                            f'{", ".join(names + grades) or "grade"}')
    return problems


# ---- the scenarios for the page

def copy_examples(folder):
    """Exports may be written beside these copies; the examples' own folder is unchanged."""
    shutil.copytree(ROOT / 'examples', folder / 'examples',
                    ignore=shutil.ignore_patterns('pictures'))
    for name in TESTS_OWN:
        shutil.copy(WORKBOOK / name, folder / 'examples')
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


def write_offers(folder):
    """Another offer in a case; in one more, an offer without watts, which leaves the TDP."""
    acceptance = folder / 'examples' / 'acceptance'
    offer = Path(shutil.copy(WORKBOOK / 'offer_without_support.ini', acceptance))
    offer.with_name('offer-without-watts.ini').write_text(re.sub('power .*', '', offer.read_text()))
    text = (WORKBOOK / 'offers.ini').read_text()
    (acceptance / 'offers.ini').write_text(
        re.sub('inherits = .*/', 'inherits = ', text) + '[case tdp]\nh200.quote = offer-without-watts.ini\n')
    return acceptance / 'offers.ini'


def write_ranges(folder):
    examples = folder / 'examples'
    offer = (examples / 'acceptance' / 'offer.ini').read_text()
    (examples / 'acceptance' / 'replaced-offer.ini').write_text(
        offer[:offer.index('remedy  ')] + 'remedy = replacement\n')
    for name, text in RANGES.items():
        (examples / name).write_text(text)
    return [examples / name for name in RANGES]


def write_estimate(folder):
    """Rates and watts from a record, of which a length chose some, also in a case, and a range on another length."""
    place = folder / 'estimate'
    (place / 'records').mkdir(parents=True)
    save(place / 'records' / 'record.json', estimated.rounded(estimated.measure(place)))
    scenario = place / 'estimated.ini'
    scenario.write_text(f'{estimated.SCENARIO}cache_hit = 20 %\ncached_work = 10 %\n[case short]\ninput_tokens = 16 token\n'
                        '[range]\noutput_tokens = uniform(4, 16) token\nmine.prefill_power = uniform(120, 140) W\n')
    return scenario


def without_scripts(page, scenario):
    """What a page says without JavaScript: the sentence of `compare`, and each option's cost."""
    told = compare(scenario)
    sentence = run('compare', scenario, '-q').stdout.partition('\n\n')[2].partition('\n\n')[0]
    return {'file': str(page), 'sentence': ' '.join(sentence.split()),
            'options': [[one['label'], f'{one["items"]["cost_per_mtok"]:.4f}'] for one in told['options']]}


def of_tests(scenario):
    return any(scenario.match(name) for name in RANGES)


def write_hostile(folder, name, text):
    path = folder / 'examples' / f'hostile-{name}.ini'
    path.write_text(f'[scenario]\ninherits = mi325x-vs-h200.ini\ntitle = {text}\n'
                    f'[common]\nwacc = 9 %/yr\nwacc.source = {text}\n'
                    f'[item own]\nlabel = {text}\nunit = USD\ngroup = capex\nformula = 1 USD\n')
    return path


# A page made with --set: its export must be independent of it.
SETTINGS = ['--set', 'wacc=7 %/yr', '--set', 'mi325x.list_price=21000 USD',
            '--set', 'mi325x.list_price.quote=Q-7 2026-10-01', '--set', 'h200.evidence=tp0041',
            '--set', 'scenario.horizon=4 yr']
# Lists and tiers, which the export must state whole, and shorthands of figures.
LIST_SETTINGS = ['--set', 'electricity_price=0.08, 0.09 USD/kWh', '--set', 'workload.utilization=70, 75 %',
                 '--set', 'h200.engineers=1, 2 FTE', '--set', 'h200.engineer_cost=250000 USD/FTE/yr',
                 '--set', 'mi325x.discount=8 % from 100 gpu, 14 % from 500 gpu', '--set', 'mi325x.resale=50, 40, 20 %',
                 '--set', 'common.grid=DE', '--set', 'h200.grid=FR', '--set', 'demand=60000000 Mtok/yr',
                 '--set', 'common.day_profile=office']


def page_with_settings(folder, name, settings, seed, count):
    scenario = folder / 'examples' / 'mi325x-vs-h200.ini'
    page = folder / f'{name}.html'
    data = write_page(scenario, page, [*settings, '--case', 'dear_power'])
    return {'file': str(page), 'scenario': scenario, 'tornado': {'swings': []},
            'states': states_of(random.Random(seed), scenario, data, scenario.with_name(name), count, settings)}


# Figures by year as evidence, of which one year or all of them are changed; without a source in a case.
LISTED = """\
[scenario]
title = Quoted by year
date = 2026-11-20
[common]
accelerators = 64
utilization = 60 %
pue = 1.3
electricity_price = 0.05 USD/kWh
[option a]
accelerator = h100-sxm
list_price = 25000, 24000 USD
list_price.quote = Q-1 2026-09-09
throughput = 1500, 1600 token/s
throughput.quote = Q-1 2026-09-09
[option b]
accelerator = mi300x
list_price = 20000, 18000 USD
list_price.quote = Q-2 2026-09-09
throughput = 1500, 1600 token/s
throughput.quote = Q-2 2026-09-09
[case faster]
b.throughput = 1500, 1900 token/s
"""
LISTED_STATES = [(0, {}), (1, {}), (0, {'b.throughput_year_2': 9000}), (0, {'a.list_price_scale': 90}),
                 (1, {'a.list_price_year_1': 20000})]


# Lists that --set alone states: one with a step, for all options, and one by year.
STEPPED = LISTED.replace('date = ', 'period = 6 month\ndate = ')
STEPPED_SETTINGS = ['--set', 'utilization=50, 60, 65 % every 6 month', '--set', 'utilization.quote=Q-3 2026-09-09',
                    '--set', 'a.list_price=24000, 23000, 22000 USD']
STEPPED_STATES = [(0, {}), (1, {}), (0, {'utilization_step_2': 80}), (0, {'utilization_scale': 90}),
                  (1, {'a.list_price_year_3': 20000})]


# One price of a row: the others remain the row's.
# By a row with a price for cached input.
API = '[option api]\napi = ap003\n[scenario]\ninherits = own-rent-api.ini\n'
EURO = 'currency = EUR\nexchange_rate = 1.1 USD/EUR\nexchange_rate.source = a plan\nexchange_rate.date = 2026-11\n'
API_STATES = [(0, {'api.output_price': 2}), (0, {'api.input_price': 1}), (0, {'api.cached_input_price': 0})]
# Nothing is missing, so there is nothing to warn of.
WHOLE = LISTED.replace('[option a]', 'load_power = 700 W\nnode_price = 60000 USD\nnetwork_price = 4000 USD\nhost_power = 300 W\n[option a]')
# The baseline costs nothing, so that there is no saving to state, and no share of its cost; or the other does, which
# saves all.
GRATIS = (LISTED.replace('electricity_price = 0.05', 'electricity_price = 0')
          .replace('25000, 24000 USD\nlist_price.quote = Q-1 2026-09-09', '0 USD')
          .replace('[option a]', 'token_price_output = 0.5 USD/Mtok\n[option a]'))
GRATIS_STATES = [(0, {}), (0, {'a.list_price': 100}), (1, {'b.list_price_scale': 0}),
               (0, {'a.list_price': 100, 'b.list_price_scale': 0}), (0, {'sold_share': 0})]
# A remedy without a limit may exceed all that is paid.
CREDITED = LISTED.replace('[option b]', '[option b]\nremedy = 40 %\nguaranteed_throughput = 3000 token/s\nremedy_limit = 2000 %')
CREDITED_STATES = [(0, {}), (1, {}), (0, {'b.remedy_limit': 10})]
# Drawn, it costs less than nothing in some draws; typed, in none.
SOMETIMES = CREDITED.replace('remedy = 40 %', 'remedy = 3 %') + '[range]\nb.remedy_limit = uniform(0, 2000) %\n'
SOMETIMES_STATES = [(0, {}), (0, {'b.remedy': 0.1})]
# A rent that includes power includes none once it is zero.
HALL = LISTED.replace('electricity_price = 0.05 USD/kWh', 'colo_rate = 150 USD/kW/month\ncolo_power = included')
HALL_STATES = [(0, {}), (0, {'colo_rate': 0}, 'electricity_price=0 USD/kWh'), (0, {'colo_rate': 100}),
               (0, {'colo_power': 1}, 'electricity_price=0 USD/kWh')]
# Numbers at the ends of the tornado's bars that leave the numbers below it little room on a narrow screen.
CROWDED = """\
[scenario]
title = Crowded
date = 2026-11-20
[common]
pue = 1.25
electricity_price = 0.08 USD/kWh
utilization = 70 %
demand = 8000000 Mtok/yr
demand_growth = 20 %/yr
burst_price = 0.5 USD/Mtok
[option a]
accelerator = mi325x-256
list_price = 22000 USD
throughput = 3955.78 token/s
"""

# Labels without a blank to break at.
WORDY = CROWDED.replace('[option a]', f'[option a]\nlabel = {"Ä" * 70}').replace('demand_growth = 20 %/yr\n', '') + """\
[option b]
label = {}
accelerator = h200-sxm-141
list_price = 35000 USD
throughput = 4000 token/s
""".format('中' * 48)

# Labels that begin alike, and two that end alike, too.
TWINS = WORDY.replace('Ä' * 70, 'Dell PowerEdge quote of November 2026, three-year support').replace(
    '中' * 48, 'Dell PowerEdge quote of November 2026, five-year support') + """\
[option c]
label = {0} A {0}
accelerator = h200-sxm-141
list_price = 35500 USD
throughput = 4000 token/s
[option d]
label = {0} B {0}
accelerator = h200-sxm-141
list_price = 36000 USD
throughput = 4000 token/s
""".format('Supermicro quote of November 2026, four-year support')

# More options than colors, and numbers of many digits.
MANY_OPTIONS = CROWDED.replace('0.08 USD/kWh', '0.0000123 USD/kWh').replace('3955.78', '3955.781234') + ''.join(
    f"""\
[option b{number}]
label = Vendor {number} of nine, quote of November 2026 for five years
accelerator = h200-sxm-141
list_price = {30000 + 111 * number} USD
throughput = 4000 token/s
""" for number in range(1, 9))

CHOSEN = [('many', MANY_OPTIONS, [(0, {})], []), ('twins', TWINS, [(0, {})], []), ('crowded', CROWDED, [(0, {})], []), ('free', GRATIS, GRATIS_STATES, []),
          ('credited', CREDITED, CREDITED_STATES, []), ('sometimes', SOMETIMES, SOMETIMES_STATES, []),
          ('hall', HALL, HALL_STATES, []), ('listed', LISTED, LISTED_STATES, []),
          ('stepped', STEPPED, STEPPED_STATES, STEPPED_SETTINGS),
          ('whole', WHOLE, [(0, {})], []), ('api', API, API_STATES, []),
          ('api-set', API, API_STATES, ['--set', 'api.api=ap002']),
          ('api-euro', API + EURO, [(0, {'api.output_price_usd': 2})], []),
          ('api-euro-set', API + EURO, [(0, {'api.output_price_usd': 2})], ['--set', 'api.api=ap002'])]


def page_of(folder, name, text, chosen, settings):
    scenario, page = folder / 'examples' / f'{name}.ini', folder / f'{name}.html'
    scenario.write_text(text)
    data = write_page(scenario, page, settings)
    items = {item['name']: item for item in data['items']}
    states = [state_of(scenario, data, which, {name: (number, items[name.rpartition('.')[2]])
                                               for name, number in changes.items()},
                       scenario.with_name(f'{name}-{number}.ini'),
                       settings + [word for setting in beside for word in ('--set', setting)])
              for number, (which, changes, *beside) in enumerate(chosen)]
    return {'file': str(page), 'scenario': scenario, 'tornado': {'swings': []}, 'states': states}


def pages_of_zeros(folder, seed, count):
    """Scenarios whose costs are not included, of which changes affect only those."""
    draw, pages = random.Random(f'{seed} zeros'), []
    while len(pages) < ZEROS:
        scenario = folder / 'examples' / f'zeros-{len(pages)}.ini'
        scenario.write_text(random_zeros.random_scenario(draw))
        page = scenario.with_suffix('.html')
        data = write_page(scenario, page)
        for case in data['cases']:
            case['targets'] = [one for one in case['targets'] if random_zeros.matters(one['input'])]
        pages.append({'file': str(page), 'scenario': scenario, 'tornado': {'swings': []},
                      'states': states_of(draw, scenario, data, scenario, count)})
    return pages


# Inputs of which the engine takes one only with another, which the page leaves at zero.
ALONE = """\
[scenario]
title = Each by itself
date = 2026-11-20
[common]
accelerators = 8
utilization = 60 %
pue = 1.3
electricity_price = 0.05 USD/kWh
throughput = 1500 token/s
[option a]
accelerator = h100-sxm
list_price = 25000 USD
build_price = 3 USD/W
[option b]
accelerator = mi300x
list_price = 20000 USD
engineers = 1 FTE
engineer_cost = 90000 USD/FTE/yr
[case repaired]
b.failure_rate = 5 %/yr
repair_cost = 30 %
"""
ALONE_STATES = [(0, {}), (1, {}), (0, {'water_use': 1.8}),
                (0, {'water_price': 3}, 'water_use=0 L/kWh'), (0, {'water_price': 3, 'water_use': 2}),
                (0, {'repair_cost': 50}, 'failure_rate=0 %/yr'), (1, {'repair_cost': 50}),
                (0, {'facility_residual': 20}), (0, {'engineers': 2}, 'a.engineer_cost=0 USD/FTE/yr')]


def make_plan(folder, seed, count):
    pages, scenarios = [], copy_examples(folder)
    scenarios += [write_operations(folder), write_offers(folder), write_estimate(folder), *write_ranges(folder)]
    for scenario in scenarios:
        draw = random.Random(f'{seed} {scenario.name}')
        page = folder / f'{scenario.stem}.html'
        data = write_page(scenario, page)
        pages.append({'file': str(page), 'scenario': scenario,
                      'states': states_of(draw, scenario, data, scenario,
                                          count or (MANY if scenario.stem in THOROUGH else FEW),
                                          cases=1 if of_tests(scenario) and not DEEP else 0),
                      'tornado': answer('sensitivity', scenario)})
    pages += [page_with_settings(folder, 'with-settings', SETTINGS, seed, count or FEW),
              page_with_settings(folder, 'with-lists', LIST_SETTINGS, seed, count or FEW), *(page_of(folder, *one) for one in CHOSEN),
              page_of(folder, 'alone', ALONE, ALONE_STATES, []), *pages_of_zeros(folder, seed, count or MANY)]
    hostile = []
    for name, text in TITLES.items():
        page = folder / f'hostile-{name}.html'
        write_page(write_hostile(folder, name, text), page)
        hostile.append({'file': str(page), 'title': text, 'texts': [text]})
    wordy = folder / 'examples' / 'wordy.ini'
    wordy.write_text(WORDY)
    write_page(wordy, folder / 'wordy.html')
    return {'pages': pages, 'hostile': hostile, 'patience': PATIENCE, 'wordy': str(folder / 'wordy.html'),
            'many': str(folder / 'many.html'), 'listed': str(folder / 'listed.html'), 'plain': [
                without_scripts(folder / f'{name}.html', folder / 'examples' / f'{name}.ini')
                for name in ('mi325x-vs-h200', 'many')],
            'twins': str(folder / 'twins.html'), 'one_sided': str(folder / 'own-rent-api.html'),
            'speed': {'file': str(folder / 'mi325x-vs-h200.html'), 'target': 'mi325x.discount'},
            'widths': [400, 1280] if DEEP else [400],
            'own': {'file': str(folder / 'own-items.html'), 'inputs': OWN_NUMBERS},
            'redraws': str(folder / 'uncertainty.html'), 'redraws_target': 'mi325x.list_price',
            'mutants': [str(folder / f'{name}.html') for name in
                        ('chances', 'site', 'samples', 'everything', 'many-ranges')],
            'mutant_draws': 2048,
            'absurd': {'file': str(folder / 'mi325x-vs-h200.html'), 'option': 'h200', 'input': 'throughput'},
            'mixed': str(folder / 'this-machine.html'), 'no_warnings': str(folder / 'whole.html'),
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
    """Runs the browser's part and prints its output; (passed, failed)."""
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
