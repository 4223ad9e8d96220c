#!/usr/bin/python3
"""route and wait as commands: faces that agree, exit codes, bad input; and a problem of 20 x 8.

    check_route.py

Costs are checked with `compare`: the cost of a node in the split must be its cost there. PERTOKEN
names the program.
"""
import csv
import io
import json
import pathlib
import random
import tempfile

from support import scenarios
from support.program import BAD_INPUT, Count, ROOT, near, run, skip_all

PORTFOLIO = 'examples/portfolio.ini'
WAIT = 'examples/wait.ini'
count = Count()
check = count.check


def answer(*arguments, status=0):
    done = run(*arguments, '-q', '--format', 'json')
    check(f'{arguments}: status {status}', done.returncode == status, done.stderr)
    return json.loads(done.stdout)['answers'][0] if done.returncode in (0, 1) else None


def edited(folder, source, name, *changes):
    """A copy of an example in a folder of its own, with replacements."""
    text = (ROOT / source).read_text(encoding='utf-8')
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = pathlib.Path(folder) / name
    path.write_text(text, encoding='utf-8')
    return str(path)


def check_portfolio():
    found = answer('route', PORTFOLIO)
    tables = found['tables']
    split = {row['option']: row for row in tables['split']['rows']}
    total = split.pop('all')['cost']
    check('costs add up', near(total, sum(row['cost'] for row in split.values())), split)
    for row in split.values():
        check('nodes are whole', row['nodes'] == round(row['nodes']), row)
        check('not overfull', row['busy'] <= 100 + 1e-6, row)
    guide = tables['guide']['rows']
    for workload in {row['workload'] for row in guide}:
        share = sum(row['share'] for row in guide if row['workload'] == workload)
        check(f'{workload} is served', near(share, 100, 1e-7), share)
    for option, row in split.items():
        busy = sum(place['busy_nodes'] for place in guide if place['option'] == option)
        check(f'{option}: nodes hold it', busy <= row['nodes'] * (1 + 1e-7), (busy, row))
    prices = {row['constraint']: row for row in tables['prices']['rows']}
    for row in prices.values():
        check('leaving a constraint out is not dearer', row['price'] >= 0, row)
        check('price', near(total - row['cost_without'], row['price'], 1e-6)
              or abs(row['price']) < 1, row)
    sourcing = {row['sourcing']: row for row in tables['sourcing']['rows']}
    check('as asked', near(sourcing['as asked']['cost'], total))
    check('free', sourcing['without minimum shares']['cost'] <= total)
    check('single source', near(sourcing['all from nvidia']['difference'],
                                sourcing['all from nvidia']['cost'] - total))
    return split


def check_nodes(split):
    """The cost of a node, and the fixed cost, from compare at two sizes.

    A node counts at the lowest watts of all workloads; these differ if they are not a run's own.
    """
    costs, projected = [], set()
    for accelerators in (80000, 160000):
        done = run('compare', PORTFOLIO, '-q', '--format', 'json', '--set',
                   f'accelerators={accelerators}')
        options = json.loads(done.stdout)['options']
        costs.append({option['id']: option['items']['tco'] for option in options})
        projected |= {option['id'] for option in options if option['grades']['power'] == 'projected'}
    for option, row in split.items():
        node = (costs[1][option] - costs[0][option]) / 10000
        check(f'{option}: a node', near(node, row['node_cost'], 1e-7) or
              option in projected and 0.95 * node < row['node_cost'] < node, (node, row))
        check(f'{option}: fixed', abs(costs[0][option] - 10000 * node - row['fixed_cost']) < 10,
              row)


def check_faces():
    for source, kind, name in ((PORTFOLIO, 'route', 'portfolio'), (WAIT, 'wait', 'b200')):
        found = answer(kind, source)
        done = run(kind, source, '-q', '--format', 'csv')
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        warned = {row['value'] for row in rows if row['table'] == 'warnings'}
        check(f'{kind}: csv', {row['table'] for row in rows} == {*found['tables'], 'warnings', 'options', *({'drawn'} & set(found))}, rows[:1])
        check(f'{kind}: warnings in csv', warned >= set(found['warnings']) and len(warned) > 1, warned)
        done = run('explain', source, f'{kind}.{name}', '-q')
        check(f'{kind}: explain', done.returncode == 0 and
              ' '.join(found['reasons'][0].split())[:40] in ' '.join(done.stdout.split()),
              done.stdout + done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = run('report', source, '-q', '-o', folder + '/x.xlsx')
            check(f'{kind}: report', done.returncode == 0, done.stderr)


def check_constraints(folder):
    total = answer('route', PORTFOLIO)['tables']['split']['rows'][-1]['cost']
    tight = edited(folder, PORTFOLIO, 'tight.ini',
                   ('minimum_share.amd', f'budget = {total - 9e5:.0f} USD\nminimum_share.amd'))
    found = answer('route', tight, status=1)
    check('no: says which', found['no'] and 'stock of MI325X' in found['answer']
          and 'budget' in found['answer'], found['answer'])
    unready = edited(folder, PORTFOLIO, 'unready.ini',
                     ('[demand chat]', '[demand chat]\nready.h100 = no\nready.h200 = no\n'
                      'ready.mi300x = no\nready.mi325x = no'))
    found = answer('route', unready, status=1)
    check('no: not ready', "No option can serve 'chat' (H100: software readiness" in
          found['answer'] and 'without: software readiness' in found['answer'], found['answer'])
    huge = edited(folder, PORTFOLIO, 'huge.ini',
                  ('[demand chat]\ntokens = 4e12 token/month\ncontext = 4096',
                   '[demand chat]\ntokens = 4e12 token/month\ncontext = 90000000'))
    found = answer('route', huge, status=1)
    check('no: memory', 'H200: memory' in found['answer'], found['answer'])
    barred = [row for row in found['tables']['barred']['rows'] if row['workload'] == 'chat']
    check('no: memory of each', [row['constraint'] for row in barred] == ['memory'] * 4, barred)


FAST = """\
[demand fast]
tokens = 5e11 token/month
interactivity = 50 token/s
throughput.h200 = 200 token/s
"""
RATES = ('[scenario]\ntitle = T\ndate = 2026-11-20\n' + scenarios.CURVE_AND_TYPED + FAST
         + scenarios.RAPID_AND_ANY)


def check_interactivity(folder):
    """A rate per user chooses the batch on a published curve, and excludes what does not reach
    it."""
    path = pathlib.Path(folder) / 'rate.ini'
    path.write_text(RATES, encoding='utf-8')
    tables = answer('route', str(path))['tables']
    guide = {row['workload']: row for row in tables['guide']['rows'] if row['share'] > 50}
    options = {workload: row['option'] for workload, row in guide.items()}
    check('rate: who serves what', options == {'fast': 'mi300x', 'rapid': 'h200', 'any': 'mi300x'},
          options)
    done = run('compare', str(path), '-q', '--format', 'json', '--set',
               'workload.interactivity=50 token/s')
    cost = json.loads(done.stdout)['options'][0]['items']['cost_per_mtok']
    check('rate: its cost at that batch', near(cost, guide['fast']['unit_cost']), (cost, guide))
    barred = [(row['workload'], row['option'], row['constraint'])
              for row in tables['barred']['rows']]
    check('rate: out of reach', barred == [('rapid', 'mi300x', 'interactivity')], barred)
    prices = {row['constraint']: row['price'] for row in tables['prices']['rows']}
    check('rate: what it costs', prices['interactivity'] > 0, prices)


UNITS = """[scenario]
title = Units
date = 2026-11-20
[workload]
model = llama-3.1-70b
precision = fp8
utilization = 60 %
[common]
accelerators = 72
pue = 1.2
electricity_price = 0.08 USD/kWh
[option it]
accelerator = ACCELERATOR
throughput = 1000 token/s
PRICE
[demand chat]
tokens = 9.8e10 token/month
"""
HOLDS = 9.8e10 / (1000 * 0.6 * 730 * 3600)  # accelerators: 62.1


def check_units(folder):
    """What is bought is what is sold: a rack, a server, a card; rented units are single ones."""
    owned = 'list_price = 30000 USD'
    cases = [('gb200-nvl72', owned, 72), ('gb200-nvl72', owned + '\npurchase_unit = 4', 64), ('h200-sxm-141', owned, 64),
             ('h100-pcie-80', owned, 63), ('h100-pcie-80', owned + '\nnode_price = 9000 USD/node', 64),
             ('h100-pcie-80', owned + '\npurchase_unit = 5', 65),
             ('h100-pcie-80', owned + '\npurchase_unit = 5\nnode_price = 9000 USD/node', 80),
             ('h200-sxm-141', 'rental_rate = 2 USD/gpu/h', 63), ('h100-pcie-80', owned + '\npurchase_unit = 3', 63)]
    for part, price, wanted in cases:
        path = pathlib.Path(folder) / 'units.ini'
        path.write_text(UNITS.replace('ACCELERATOR', part).replace('PRICE', price), encoding='utf-8')
        found = answer('route', str(path))
        row = found['tables']['split']['rows'][0]
        check(f'{part}, {price}: accelerators', row['accelerators'] == wanted, row)
        check(f'{part}, {price}: busy', near(row['busy'], 100 * HOLDS / wanted), row)
        done = run('compare', str(path), '-q', '--format', 'json', '--set', f'accelerators={wanted}')
        exact = json.loads(done.stdout)['options'][0]['items']['tco']
        check(f'{part}, {price}: cost', near(row['cost'], exact), (row, exact))
        said = '8 nodes of it' if wanted == 64 and part == 'h200-sxm-141' else f'{wanted} accelerators of it'
        check(f'{part}, {price}: said', said in found['answer'] or wanted == 64, found['answer'])


SPARES = UNITS.replace('[common]', '[common]\nspares = 5 %').replace('ACCELERATOR', 'h200-sxm-141').replace('PRICE', 'list_price = 30000 USD')
OTHER = '[option other]\naccelerator = h200-sxm-141\nthroughput = 1000 token/s\nlist_price = 29800 USD\nspares = 6.25 %\n[demand'


def check_spares(folder):
    """64 accelerators need 3.2 spares, so 68 are bought: what `compare` says, within the budgets."""
    path = pathlib.Path(folder) / 'spares.ini'
    path.write_text(SPARES, encoding='utf-8')
    found = answer('route', str(path))
    row, exact = found['tables']['split']['rows'][0], json.loads(
        run('compare', str(path), '-q', '--format', 'json', '--set', 'accelerators=64').stdout)['options'][0]['items']
    check('spares: as compare', near(row['cost'], exact['tco'], 1e-12) and row['with_spares'] == exact['accelerators_bought'] == 68, (row, exact['tco']))
    check('spares: said', f"{exact['tco']:,.0f} USD for 1 workload" in found['answer'] and f"{exact['capex']:,.0f} USD of it upfront: 8 nodes and 4 spares of it" in found['answer'], found['answer'])
    year = answer('route', str(path), '--set', 'horizon=1 yr')['answer']
    check('spares: one year', ' for 1 workload over 1 year, ' in year, year)
    check('spares: no warning', not any('linear' in warning for warning in found['warnings']), found['warnings'])
    for budget, amount in (('capex_budget', exact['capex']), ('budget', exact['tco'])):
        path.write_text(SPARES + f'[portfolio]\n{budget} = {amount + 1:.0f} USD\n', encoding='utf-8')
        check(f'{budget}: kept', near(answer('route', str(path))['tables']['split']['rows'][0]['cost'], exact['tco'], 1e-12))
        path.write_text(SPARES + f'[portfolio]\n{budget} = {amount - 1000:.0f} USD\n', encoding='utf-8')
        found = answer('route', str(path), status=1)
        how = found['reasons'][0]
        check(f'{budget}: nothing is proved', how.endswith('states the program).') and 'optimal' not in how, how)
        check(f'{budget}: broken', f"without: {budget.replace('_', ' ')} ({exact['tco']:,.0f} USD)" in found['answer'], found['answer'])
    for stock, status in ((68, 0), (67, 1)):
        path.write_text(SPARES + f'[supply it]\nstock = {stock} gpu\n', encoding='utf-8')
        found = answer('route', str(path), status=status)
        check(f'a stock of {stock}', (f"without: stock of it ({exact['tco']:,.0f} USD)" in found['answer']) == bool(status), found['answer'])
    path.write_text(SPARES.replace('h200-sxm-141', 'h100-pcie-80'), encoding='utf-8')
    row = answer('route', str(path))['tables']['split']['rows'][0]
    check('single cards with spares', (row['accelerators'], row['with_spares']) == (63, 67), row)
    path.write_text(SPARES.replace('[demand', OTHER), encoding='utf-8')
    found = answer('route', str(path))  # 68 for less than 68 of the first, though 67.2 of that would cost less
    check('the cheapest with whole spares', 'upfront: 8 nodes and 4 spares of other' in found['answer'], found['answer'])


WHOLE = """[scenario]
title = Whole
date = 2026-11-20
[workload]
utilization = 70 %
[common]
accelerators = 8
pue = 1.2
electricity_price = 0.08 USD/kWh
engineer_cost = 280000 USD/yr
[option a]
accelerator = h200-sxm-141
throughput = 1000 token/s
list_price = 30000 USD
[option b]
accelerator = mi325x-256
throughput = 1000 token/s
list_price = 15000 USD
engineers = 0.1 FTE
[demand w]
tokens = 9e10 token/month
split = no
[supply b]
stock = STOCK gpu
"""


def check_whole(folder):
    """A workload on one option needs 48.9 accelerators: a smaller stock is the reason why it is not on the cheaper one."""
    path = pathlib.Path(folder) / 'whole.ini'
    for stock, option, why in ((40, 'a', 'b: stock'), (48, 'a', 'b: stock'), (56, 'b', 'cheapest')):
        path.write_text(WHOLE.replace('STOCK', str(stock)), encoding='utf-8')
        row = answer('route', str(path))['tables']['guide']['rows'][0]
        check(f'a stock of {stock}', (row['option'], row['why']) == (option, why), row)


BAD_PORTFOLIOS = [
    ('tokens = 4e12 token/month', 'tokens = -4e12 token/month', 'tokens cannot be negative'),
    ('tokens = 4e12 token/month', 'tokens = 0 token/month', 'must be above zero tokens'),
    ('tokens = 4e12 token/month', 'tokens = 4e12', "expected"),
    ('tokens = 4e12 token/month', 'tokens = 4e25 token/month', "demand 'chat': would take 7.66e+14"),
    ('tokens = 4e12 token/month', 'tokens = 4e300 token/month', "demand 'chat': would take"),
    ('stock = 128 gpu', 'stock = 0 gpu', 'a stock of zero serves nothing'),
    ('stock = 128 gpu', 'stock = -1 gpu', 'stock cannot be negative'),
    ('[supply h100]', '[supply h101]', "did you mean 'h100'?"),
    ('evidence.h100 = tp0544', 'evidence.h100 = tp9999', "demand 'nightly': no row 'tp9999'"),
    ('evidence.h100 = tp0544', 'evidence.h100 = tp0123', "demand 'nightly': evidence 'tp0123' is"),
    ('model = mixtral-8x7b', 'model = mixtral-8x8b', "did you mean 'mixtral-8x7b'?"),
    ('minimum_share.amd = 30 %', 'minimum_share.amd = 80 %', 'add up to 110 %'),
    ('minimum_share.amd = 30 %', 'minimum_share.amf = 30 %', "did you mean 'amd'?"),
]

BAD_WAITS = [
    ('months = 3', 'months = -3', 'an order cannot be in the past'),
    ('months = 3', 'months = 99', 'the horizon ends'),
    ('months = 3', '', "needs 'months'"),
    ('successor = b300', 'successor = r200', "there are no data for the successor 'r200'"),
    ('meanwhile = 0.147 USD/Mtok', 'meanwhile = b300', 'is bought, not rented'),
    ('meanwhile = 0.147 USD/Mtok', '', "needs 'meanwhile'"),
    ('meanwhile = 0.147 USD/Mtok', 'meanwhile = 1e308 USD/Mtok', 'too large to add up'),
    ('[wait b200]', '[wait b201]', "did you mean 'b200'?"),
    ('slip = from data', 'slip = triangular(0, 2) month', 'triangular'),
    ('slip = from data', 'slip = 2', 'expected'),
    ('price = pr010\n', '', 'list_price'),
]


def check_bad_input(folder):
    for kind, source, cases in (('route', PORTFOLIO, BAD_PORTFOLIOS), ('wait', WAIT, BAD_WAITS)):
        for number, (old, new, message) in enumerate(cases):
            path = edited(folder, source, f'{kind}{number}.ini', (old, new))
            done = run(kind, path)
            check(f'{kind} with "{new or "no " + old}"', done.returncode == 2
                  and message in done.stderr, (done.returncode, done.stderr))
    done = run('route', WAIT)
    check('route of no portfolio', done.returncode == 2 and '[demand NAME]' in done.stderr,
          done.stderr)
    done = run('wait', WAIT, '--for', 'b300')
    check('wait for another', done.returncode == 2 and "did you mean 'b200'" in done.stderr, done.stderr)


def check_refused_options(folder):
    """An option with a demand of its own would cost that, not what its nodes do, whether it sizes them or not; one with
    a ramp does not serve from the first day."""
    sized = edited(folder, PORTFOLIO, 'sized.ini', ('\naccelerators = 8\n', '\n'))
    for path in (PORTFOLIO, sized):
        done = run('route', path, '--set', 'demand=1e6 Mtok/yr')
        check(f'route of {path} with a demand', done.returncode == BAD_INPUT and "has a 'demand': what a portfolio serves" in done.stderr, done.stderr)
    for kind, source in (('route', PORTFOLIO), ('wait', WAIT)):
        done = run(kind, source, '--set', 'ramp=6 month')
        check(f'{kind} with a ramp', done.returncode == BAD_INPUT and "has a 'ramp': what " in done.stderr, done.stderr)


BY_USE = """[scenario]
title = By use
horizon = 1 yr
date = 2026-11-20
[workload]
utilization = 60 %
[common]
accelerators = 16
[option r]
accelerator = h100-sxm5-80
throughput = 4000 token/s
on_demand_rate = 3 USD/gpu/h
[demand w]
tokens = 1e9 token/month
nodes_per_replica = 2
"""


def check_rent_by_use(folder):
    """Two nodes of a replica that are hardly used count as in use, and a warning says so."""
    path = pathlib.Path(folder) / 'use.ini'
    for command, plan in (('route', ''), ('plan', '[plan]\n')):
        for old, new, warned in (('', '', True), ('nodes_per_replica = 2\n', '', False),
                                 ('on_demand_rate', 'rental_rate', False)):
            path.write_text((BY_USE.replace(old, new) if old else BY_USE) + plan, encoding='utf-8')
            warnings = answer(command, str(path))['warnings']
            check(f'{command} of hours in use, {old!r}', sum('as if all 2 nodes of a replica were always in use' in one for one in warnings) == warned, warnings)


def check_demands_of_wait(folder):
    """Both alternatives serve what the option does if it is bought now: a larger demand is warned of, and the
    successor's own, which sizes it, does not count."""
    short = answer('wait', WAIT, '--set', 'b200.demand=1e9 Mtok/yr')
    check('a demand that is not met', short['answer'] == answer('wait', WAIT)['answer']
          and any('serve only' in warning for warning in short['warnings']), short)
    costs = [answer('wait', edited(folder, WAIT, 'sized.ini', ('pr010\naccelerators = 256', f'pr010\ndemand = {demand} Mtok/yr')))
             ['tables']['choices']['rows'][1]['expected_cost'] for demand in ('1e6', '9e6')]
    counted = answer('wait', WAIT)['tables']['choices']['rows'][1]['expected_cost']
    check('a successor with a demand', near(*costs, 1e-12) and near(costs[0], counted, 1e-2), (costs, counted))


def check_seeds(folder):
    again = edited(folder, WAIT, 'seed.ini', ('months = 3', 'months = 3\nseed = 2'))
    first, second, other = answer('wait', WAIT), answer('wait', WAIT), answer('wait', again)
    check('the same again', first == second)
    rows = [found['tables']['choices']['rows'][1]['expected_cost'] for found in (first, other)]
    check('another seed, nearly the same', rows[0] != rows[1] and near(*rows, 2e-3), rows)


def write_large(folder, seed, whole=0):
    """20 workloads, the first ones unsplit, 8 options of two vendors, stock, shares, fixed
    costs."""
    rng = random.Random(seed)
    lines = ['[scenario]', 'title = Large', 'date = 2026-11-20', '[workload]', 'model = llama-2-70b',
             'precision = fp8', 'utilization = 60 %', '[common]', 'accelerators = 8', 'pue = 1.25',
             'electricity_price = 0.08 USD/kWh', 'engineer_cost = 280000 USD/FTE/yr']
    speeds = []
    for o in range(8):
        price = rng.uniform(15000, 50000)
        speeds.append(price / 10)
        part = 'h200-sxm-141' if o % 2 else 'mi325x-256'
        lines += [f'[option o{o}]', f'accelerator = {part}', f'list_price = {price:.0f} USD',
                  f'throughput = {speeds[o]:.0f} token/s', f'engineers = {rng.choice((0, 1, 2))} FTE',
                  f'[supply o{o}]', f'stock = {8 * rng.randint(40, 120)} gpu']
    for w in range(20):
        lines += [f'[demand w{w}]', f'tokens = {rng.uniform(0.1, 1.2) * 1e12:.0f} token/month']
        lines += ['split = no'] * (w < whole)
        for o in range(8):
            lines.append(f'throughput.o{o} = {speeds[o] * rng.uniform(0.6, 1.4):.0f} token/s')
            if rng.random() < 0.15:
                lines.append(f'ready.o{o} = no')
    lines += ['[portfolio]', 'minimum_share.amd = 30 %', 'minimum_share.nvidia = 30 %']
    path = pathlib.Path(folder) / 'large.ini'
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return str(path)


def check_ranges(folder):
    for more, count_of in (('', 0), ('[range]\nh200.engineers = uniform(1, 2) FTE\n', 1)):
        path = edited(folder, PORTFOLIO, 'ranges.ini', ('[option h200]', f'{more}[option h200]'))
        warnings = answer('route', path)['warnings']
        check('ranges are not drawn', sum('ranges are not drawn' in one for one in warnings) == count_of, warnings)


def check_large(folder):
    found = answer('route', write_large(folder, 7))
    check('large: served', len({row['workload'] for row in found['tables']['guide']['rows']}) == 20)


def main():
    probe = run('route', PORTFOLIO, '-q')
    if 'without GLPK' in probe.stderr:
        skip_all('this build is without GLPK')
    check_nodes(check_portfolio())
    check_faces()
    with tempfile.TemporaryDirectory() as folder:
        check_constraints(folder)
        check_interactivity(folder)
        check_units(folder)
        check_spares(folder)
        check_whole(folder)
        check_bad_input(folder)
        check_refused_options(folder)
        check_demands_of_wait(folder)
        check_rent_by_use(folder)
        check_seeds(folder)
        check_ranges(folder)
        check_large(folder)
    count.finish()


if __name__ == '__main__':
    main()
