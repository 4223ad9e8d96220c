#!/usr/bin/python3
"""Questions to the engine (sensitivity, solve) compared with the engine's plain answers.

    check_questions.py

What a tornado, a grid or a root finder reports must be what `compare --set` reports if the input is typed in.
PERTOKEN names the program.
Deep: every swing of every example rather than eight of one.
Seconds: 2, deep 35
"""
import csv
import io
import json
import pathlib
import re
import tempfile
import unicodedata

from support import program
from support.program import Count, DEEP, DONE, NO, ROOT, near, run_json

MAIN = 'examples/mi325x-vs-h200.ini'
SCENARIOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / 'examples').glob('*.ini'))
count = Count()
check = count.check


def run(*arguments, columns='80'):
    return program.run(*arguments, environment={'COLUMNS': columns})


def answer(*arguments):
    """The JSON of a command that must succeed (or say no)."""
    return run_json(*arguments, '--mixed', statuses=(DONE, NO))


def costs_with(scenario, **inputs):
    settings = [part for name, value in inputs.items() for part in ('--set', f'{name}={value}')]
    result = answer('compare', scenario, *settings)
    return {option['id']: option['items']['cost_per_mtok'] for option in result['options']}


def typed(name, value, unit):
    plain = unit in ('-', '')
    return {name: f'{value!r}' if plain else f'{value!r} {unit}'}


# What must be stated beside an input that has an effect only with it.
COMPANIONS = {'repair_cost': {'failure_rate': '0 %/yr'}}


def check_tornado(scenario):
    """Every end of every swing, typed in by hand; all in the full run, else the first eight."""
    tornado = answer('sensitivity', scenario)
    effects = [swing['effect'] for swing in tornado['swings']]
    check(f'{scenario}: sorted', effects == sorted(effects, reverse=True), effects)
    for swing in tornado['swings'][:None if DEEP else 8]:
        for end in ('low', 'high'):
            value = swing[end]['value']
            beside = {} if swing['effect'] else COMPANIONS.get(swing['input'], {})
            costs = costs_with(scenario, **typed(swing['input'], value, swing['unit']), **beside)
            same = all(near(cost, swing[end]['costs'][option]) for option, cost in costs.items())
            check(f'{scenario}: {swing["input"]} = {value}', same, (costs, swing[end]['costs']))


def check_properties(folder):
    """How many a server holds is a property of it, and no estimate: it is swung only over a range of its own."""
    ranged = pathlib.Path(folder, 'servers.ini')
    ranged.write_text(f'[scenario]\ninherits = {ROOT / MAIN}\n[range]\nh200.accelerators_per_node = uniform(4, 8)\n')
    for scenario, wanted, note in ((MAIN, [], True), (ranged, ['h200.accelerators_per_node'], False)):
        said = run('sensitivity', scenario, '-q').stdout
        named = [swing['input'] for swing in answer('sensitivity', scenario)['swings'] if 'per_node' in swing['input']]
        check(f'{scenario}: servers', named == wanted, named)
        check(f'{scenario}: a note', ('Not swung: accelerators_per_node, a property' in said) == note, said)


def check_grid():
    grid = answer('sensitivity', MAIN, '--grid',
                  'mi325x.discount=0:30:15%,electricity_price=0.04:0.20:0.08 USD/kWh')
    check('grid shape', [len(axis['values']) for axis in grid['axes']] == [3, 3], grid['axes'])
    for i, discount in enumerate(grid['axes'][0]['values']):
        for k, price in enumerate(grid['axes'][1]['values']):
            costs = costs_with(MAIN, **{'mi325x.discount': f'{discount!r} %',
                                        'electricity_price': f'{price!r} USD/kWh'})
            same = all(near(costs[option], grid['costs'][option][i][k]) for option in costs)
            saving = 1 - costs['mi325x'] / costs['h200']
            check(f'grid cell {discount}, {price}', same and near(saving, grid['saving'][i][k]),
                  (costs, saving))
    grid = answer('sensitivity', MAIN, '--grid', 'horizon=3:12:9 yr')
    later = costs_with(MAIN, horizon='12 yr')['mi325x']
    check('grid beyond the scenario', near(grid['costs']['mi325x'][1][0], later), grid['costs'])
    for steps, said in (('0:30:7%', True), ('0:28:7%', False), ('0:30:10%', False), ('5:5:1%', False)):
        warned = 'the steps miss the upper end' in run('sensitivity', MAIN, '--grid', f'mi325x.discount={steps}').stderr
        check(f'grid {steps}', warned == said, warned)


def check_free_baseline():
    """A saving against a cost of zero is not a number, in the sentence either; if it is one, it counts."""
    free = [part for price in ('list_price=0 USD/gpu', 'node_price=0 USD/node', 'network_price=0 USD/gpu',
                               'electricity_price=0 USD/kWh') for part in ('--set', f'h200.{price}')]
    result = answer('sensitivity', MAIN, *free)
    check('free baseline', 'not defined at present' in result['answer'], result['answer'])
    for axis, said in (('h200.electricity_price=0:0.2:0.1 USD/kWh', r': -[\d,.]+ % to -[\d,.]+ %\.'),
                       ('h200.pue=1.1:1.3:0.1', ': not defined\\.')):
        grid = answer('sensitivity', MAIN, *free, '--grid', axis)
        check(f'free baseline, {axis}', re.search(said, grid['answer']), grid['answer'])
    done = run('simulate', 'examples/uncertainty.ini', '--draws', '100', *free)
    check('free baseline, drawn', done.returncode == DONE and 'No saving: MI325X' in done.stdout, done.stdout + done.stderr)


ROOTS = [  # option, input, further arguments, how many values
    ('mi325x', 'list_price', (), 1),
    ('mi325x', 'list_price', ('--saving', '5 %'), 1),
    ('mi325x', 'horizon', (), 1),  # beyond the years that the scenario itself needs
    ('mi325x', 'horizon', ('--between', '1:20 yr'), 1),
    ('mi325x', 'list_price', ('--target', '0.2 USD/Mtok'), 1),
    ('mi325x', 'throughput', (), 1),
    ('mi325x', 'engineers', (), 1),
    ('mi325x', 'load_power', (), 1),
    ('mi325x', 'h200.discount', (), 1),
    ('h200', 'discount', ('--match', 'mi325x'), 1),
    ('mi325x', 'discount', (), 0),  # cheaper even without a discount
    ('mi325x', 'utilization', (), 0),  # affects both alike
]


def check_root(option, name, further, count):
    done = run('solve', MAIN, '--option', option, '--for', name, *further, '-q', '--format', 'json')
    found = json.loads(done.stdout)
    label = f'solve {option} {name} {" ".join(further)}'
    check(label, len(found['values']) == count and done.returncode == (0 if count else 1), found)
    for value in found['values']:
        costs = costs_with(MAIN, **typed(found['input'], value, found['unit']))
        wanted = found['target'] if 'target' in found else costs[found['match']]
        check(f'{label} = {value}', near(costs[option], wanted * (1 - found['saving'])), costs)


def check_whole_numbers():
    """An integer: the smallest number of accelerators for the tokens, not a fraction of one."""
    found = answer('solve', MAIN, '--option', 'mi325x', '--for', 'mi325x.accelerators_per_node')
    for value in found['values']:
        check('whole number', value == int(value), value)
        costs = costs_with(MAIN, **typed(found['input'], value, found['unit']))
        check('cheap enough', costs['mi325x'] <= costs['h200'], costs)
    check('a whole number is found', found['values'] != [], found)


def check_interval():
    found = answer('solve', MAIN, '--option', 'mi325x', '--for', 'list_price', '--between',
                   '1000:2000 USD')
    check('nothing there', found['values'] == [] and found['gaps']['low'] < 0, found)
    text = run('solve', MAIN, '--option', 'mi325x', '--for', 'list_price', '--between',
               '1000:2000 USD', '-q').stdout
    check('says where it looked', '[1,000 USD/gpu, 2,000 USD/gpu]' in text, text)
    text = run('solve', MAIN, '--option', 'mi325x', '--for', 'horizon', '--saving', '90 %', '-q').stdout
    check('of what may not be 0', 'in [just above 0 yr, 30 yr]' in text and 'e-06' not in text, text)


NEVER_OF_A_SHARE = [  # option, input, more arguments, which one the text compares it with
    ('mi325x', 'list_price', ('--saving', '20 %'), 'h200'),
    ('mi325x', 'list_price', ('--saving', '20 %', '--between', '1000:2000 USD'), 'h200'),
    ('mi325x', 'list_price', ('--target', '0.12 USD/Mtok'), 'h200'),
    ('mi325x', 'discount', ('--saving', '-5 %'), 'h200'),
    ('h200', 'list_price', ('--match', 'mi325x', '--saving', '5 %'), 'mi325x'),
]


def check_words():
    """A cost is compared with an option's cost, never with a share of it; the current value comes last."""
    costs = costs_with(MAIN)
    for option, name, further, against in NEVER_OF_A_SHARE:
        arguments = ('solve', MAIN, '--option', option, '--for', name, *further)
        text = ' '.join(run(*arguments, '-q').stdout.split())
        sentence = json.loads(run(*arguments, '-q', '--format', 'json').stdout)['answer']
        more = costs[option] / costs[against] - 1
        amount = r'([\d.]+) USD/Mtok, ' if '--target' in further else ''
        ending = re.search(f'; now, at [^;]*, it costs {amount}{100 * abs(more):.3g} % '
                           f'{"more" if more > 0 else "less"} than {against.upper()}\\.$', sentence)
        check(f'{option} {name} {further}: the end', ending, sentence)
        check(f'{option} {name} {further}: the cost', not amount or
              abs(float(ending[1]) / costs[option] - 1) < 1e-4, (sentence, costs[option]))
        check(f'{option} {name} {further}: that', 'than that' not in text and sentence in text, text)
        for value, share, word in re.findall(r' at ([\d,]+) USD/gpu it costs ([\d.]+) % (less|more) than H200', text):
            there = costs_with(MAIN, **typed(f'{option}.{name}', float(value.replace(',', '')), 'USD/gpu'))
            check(f'{option} {name} {further}: at {value}',
                  f'{100 * abs(there[option] / there["h200"] - 1):.3g}' == share, (value, share, there))


def check_third_option():
    """The current cost is compared with the option to match; a third one that costs less still is named."""
    costs = costs_with('examples/cloud.ini')
    for match, cheaper in (('h200', 'MI355X'), ('mi355x', None)):
        done = run('solve', 'examples/cloud.ini', '--option', 'mi325x', '--for', 'rental_rate', '--match', match, '-q')
        text = ' '.join(done.stdout.split())
        more = 100 * (costs['mi325x'] / costs[match] - 1)
        check(f'against {match}', f'it costs {abs(more):.3g} % {"more" if more > 0 else "less"} than {match.upper()}.' in text, text)
        check(f'{match}: the cheapest', ('then still costs less' in text) == bool(cheaper), text)
        check(f'{match}: its name', not cheaper or f'Note: {cheaper} then still costs less, {costs["mi355x"]:.5g} USD/Mtok: '
              f'--match {cheaper.lower()} finds' in text, text)


WRONG = [  # arguments after the scenario, what the message must contain
    (('solve',), 'expected --option ID and --for INPUT'),
    (('solve', '--option', 'mi300', '--for', 'discount'), "no option 'mi300'"),
    (('solve', '--option', 'mi325', '--for', 'discount'), "did you mean 'mi325x'"),
    (('solve', '--option', 'mi325x', '--for', 'discuont'), "did you mean 'discount'"),
    (('solve', '--option', 'mi325x', '--for', 'capex'), "'capex' is computed"),
    (('solve', '--option', 'mi325x', '--for', 'colo_power'), 'is a choice'),
    (('solve', '--option', 'h200', '--for', 'discount'), 'cannot be matched with itself'),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--target', '0.3'), 'has no unit'),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--target', '-1 USD/Mtok'), 'above zero'),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--target', '1 USD/Mtok', '--match',
      'h200'), 'exclude each other'),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--between', '5:2%'), 'LOW:HIGH'),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--between', '5:200%'), "outside the allowed range of 'discount'"),
    (('solve', '--option', 'mi325x', '--for', 'horizon', '--between', '1:40 yr'), "allowed range of 'horizon'"),
    (('solve', '--option', 'mi325x', '--for', 'discount', '--saving', '200 %'), 'within 100 %'),
    (('sensitivity', '--swing', '0 %'), 'above 0'),
    (('sensitivity', '--swing', '20'), 'has no unit'),
    (('sensitivity', '--option', 'x'), "no option 'x'"),
    (('sensitivity', '--grid', 'discount'), "no '='"),
    (('sensitivity', '--grid', 'discount=0:1:2%'), 'h200.discount, mi325x.discount'),
    (('sensitivity', '--grid', 'pue=1:2'), 'three numbers'),
    (('sensitivity', '--grid', 'pue=2:1:0.1'), 'must rise'),
    (('sensitivity', '--grid', 'pue=1:2:0'), 'must rise'),
    (('sensitivity', '--grid', 'pue=0:2:1'), "exceeds the input's allowed range"),
    (('sensitivity', '--set', 'mi325x.delivery_delay=1 month', '--grid', 'mi325x.delivery_delay=0:36:12 month'),
     "exceeds the input's allowed range"),
    (('sensitivity', '--set', 'mi325x.delivery_delay=7 month', '--grid', 'horizon=0.5:3:0.5 yr'), "exceeds the input's"),
    (('sensitivity', '--set', 'mi325x.delivery_delay=7 month', '--set', 'mi325x.life=5 yr', '--grid',
      'mi325x.life=0.5:3:0.5 yr'), "exceeds the input's allowed range"),
    (('sensitivity', '--grid', 'pue=1:2:1e-9'), 'too many'),
    (('sensitivity', '--grid', 'pue=1:2:0.1USD'), "wrong unit 'USD': expected a plain number"),
    (('sensitivity', '--grid', 'accelerators=790:800:2.5'), 'every value must be a whole number'),
    (('sensitivity', '--grid', 'accelerators=790.5:800:1'), 'every value must be a whole number'),
    (('sensitivity', '--grid', 'mi325x.rental_rate=0:2:1'), "option 'mi325x' has 'list_price', which excludes"),
    (('sensitivity', '--grid', 'rental_rate=0:2:1'), "no option has the input 'rental_rate'"),
    (('solve', '--option', 'mi325x', '--for', 'rental_rate'), "option 'mi325x' has 'list_price', which excludes 'rental_rate'"),
    (('solve', '--option', 'mi325x', '--for', 'on_demand_rate'), "'list_price', which excludes 'on_demand_rate'"),
    (('sensitivity', '--grid', 'pue=1:2:1,pue=1:2:1'), 'on both axes of the grid'),
    (('sensitivity', '--grid', 'pue=1:2:1,horizon=1:2:1yr,wacc=1:2:1%/yr'), 'at most 2'),
]


# Added to the main scenario's options; what solve is asked for, and what it answers.
BESIDE = [
    ('', 'electricity_price=0.08, 0.09 USD/kWh', 'electricity_escalation',
     "'electricity_price' as a list by year, which excludes 'electricity_escalation'"),
    ('', 'mi325x.electricity_price=0.08, 0.09 USD/kWh', 'h200.electricity_escalation', '; now, at 0 %/yr'),
    ('', 'mi325x.electricity_price=0.08, 0.09 USD/kWh', 'electricity_escalation',
     "option 'mi325x' has 'electricity_price' as a list by year"),
    ('', 'mi325x.colo_rate=100 USD/kW/month', 'build_price', "option 'mi325x' has 'colo_rate', which excludes"),
    ('', 'h200.discount=8 % from 16 gpu, 14 % from 60 gpu', 'h200.discount_tier_1', 'in [0 %, 14 %]'),
    ('', 'h200.discount=8 % from 16 gpu, 14 % from 60 gpu', 'h200.discount_from_1', 'in [1 gpu, 59 gpu]'),
    ('', 'mi325x.resale=50, 40, 20 %', 'mi325x.resale_year_2', 'in [20 %, 50 %]'),
    ('[range]\nmi325x.list_price = uniform(90, 110) %\n', 'pue=1.2', 'list_price',
     "'list_price' has a range in %: use list_price_year_1 for its value, or list_price_scale"),
]


def check_beside(folder, more, setting, name, words):
    """An input is moved only as far as the reader takes it beside what the options state."""
    path = pathlib.Path(folder, 'beside.ini')
    path.write_text((ROOT / MAIN).read_text(encoding='utf-8') + more, encoding='utf-8')
    done = run('solve', path, '--option', 'mi325x', '--for', name, '--set', setting, '-q', '--data', ROOT / 'data',
               '--set', 'h200.list_price=60000 USD', '--set', 'horizon=2 yr')
    said = ' '.join((done.stdout + done.stderr).split())
    check(f'{name} beside {setting}', words in said and (done.returncode == 2) == ('error' in said), said)
    still = run('sensitivity', path, '--set', setting, '-q', '--data', ROOT / 'data').stdout
    left_out = done.returncode == 2 and name in re.split(r'[\s,]+', still)
    check(f'{name} beside {setting}: not a target', not left_out, still)


# Settings of the main scenario; the options that keep the verdict from naming a cheapest, and why.
NOT_RANKED = [
    (('h200.accelerators=300', 'demand=60000000 Mtok/yr'), 'H200: at worst it serves '),
    (('site_power=1.1 MW',), 'MI325X: its peak exceeds the site power by '),
]


def check_standing(settings, words):
    """Who is not ranked is said wherever its cost is compared, in the words of `compare`."""
    changes = [part for setting in settings for part in ('--set', setting)]
    told = answer('compare', MAIN, *changes)
    said = next(reason for reason in told['notes'] if words in reason)
    for question in (('solve', '--option', 'mi325x', '--for', 'list_price'),
                     ('solve', '--option', 'mi325x', '--for', 'list_price', '--target', '0.2 USD/Mtok'),
                     ('sensitivity',), ('sensitivity', '--grid', 'pue=1.1:1.3:0.1')):
        notes = answer(question[0], MAIN, *question[1:], *changes)['notes']
        check(f'{question} {settings}', said in notes, (said, notes))
    check(f'{settings}: ranked otherwise', not any('Not ranked' in note for note in answer(*question[:1], MAIN)['notes']), '')


def check_met():
    """A draw in which an option does not serve the demand does not meet the target: simulate counts the same ones."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'short.ini')
        path.write_text((ROOT / MAIN).read_text(encoding='utf-8') + '[range]\nmi325x.throughput = uniform(3500, 5000) token/s\n',
                        encoding='utf-8')
        changes = ('--set', 'demand=70000000 Mtok/yr', '--data', ROOT / 'data', '--set', 'mi325x.accelerators=800',
                   '--set', 'h200.accelerators=2000')
        ranked = answer('simulate', path, *changes, '--draws', '16384')
        met = answer('solve', path, '--option', 'mi325x', '--for', 'list_price', *changes)['ranges']['enough']
    share = ranked['cheapest']['mi325x']
    check('met only where ranked', 0.01 < share < 0.99 and abs(met - share) < 1e-3, (met, share))


def check_usd_list():
    """A list in USD in a report in another currency moves as a whole, too."""
    names = {swing['input'] for swing in answer('sensitivity', 'examples/euro.ini', '--set',
                                                'mi325x.list_price=22000, 20000 USD')['swings']}
    check('a list in USD', {name for name in names if name.startswith('mi325x.list_price')} == {'mi325x.list_price_scale'},
          names)


def check_wrong():
    for arguments, words in WRONG:
        done = run(arguments[0], MAIN, *arguments[1:])
        check(' '.join(arguments), done.returncode == 2 and words in done.stderr and not done.stdout,
              (done.returncode, done.stderr))


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


def check_faces():
    for columns in ('80', '120'):
        for extra in ((), ('--grid', 'mi325x.discount=0:30:1%,electricity_price=0.04:0.20:0.01 USD/kWh')):
            text = run('sensitivity', MAIN, '-q', *extra, columns=columns).stdout
            widest = max(width(line.rstrip()) for line in text.splitlines())
            check(f'fits {columns} {extra}', widest <= int(columns), f'{widest} columns:\n{text}')
    for extra in ((), ('--grid', 'mi325x.discount=0:30:10%')):
        rows = list(csv.reader(io.StringIO(
            run('sensitivity', MAIN, '-q', '--format', 'csv', *extra).stdout)))
        check(f'csv {extra}', len(rows) > 2 and len({len(row) for row in rows}) == 1, rows[:2])


def check_single_option():
    """With one option there is no saving: its cost is the result."""
    text = (ROOT / MAIN).read_text(encoding='utf-8')
    start = text.index('[option mi325x]')
    following = text.find('\n[', start + 1)
    alone = text[:start] + (text[following + 1:] if following >= 0 else '')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'alone.ini'
        path.write_text('\n'.join(line for line in alone.splitlines()
                                  if not line.startswith(('mi325x.', 'baseline'))), encoding='utf-8')
        done = run('sensitivity', str(path), '-q')
        check('one option', done.returncode == 0 and 'Cost of H200' in done.stdout,
              done.stderr + done.stdout[:200])


# A list by year for all options, beside one of an option's own: the scale for all moves both.
LISTS = """\
[scenario]
date = 2026-11-20
[common]
accelerators = 64
utilization = 60 %
pue = 1.3
throughput = 1500 token/s
electricity_price = 0.05, 0.07 USD/kWh
[option a]
accelerator = h100-sxm
list_price = 25000 USD
[option b]
accelerator = mi300x
list_price = 20000 USD
electricity_price = 0.06, 0.09 USD/kWh
"""


def check_lists():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'lists.ini'
        path.write_text(LISTS, encoding='utf-8')
        names = [swing['input'] for swing in answer('sensitivity', path)['swings'] if 'scale' in swing['input']]
        check('the scale of two lists', names == ['electricity_price_scale'], names)
        check_tornado(path)


def main():
    for scenario in SCENARIOS if DEEP else [MAIN]:
        check_tornado(scenario)
    check_grid()
    check_free_baseline()
    for row in ROOTS:
        check_root(*row)
    check_whole_numbers()
    check_interval()
    check_words()
    check_third_option()
    check_wrong()
    with tempfile.TemporaryDirectory() as folder:
        for row in BESIDE:
            check_beside(folder, *row)
        check_properties(folder)
    check_usd_list()
    check_lists()
    for row in NOT_RANKED:
        check_standing(*row)
    check_met()
    check_faces()
    check_single_option()
    count.finish()


if __name__ == '__main__':
    main()
