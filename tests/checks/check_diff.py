#!/usr/bin/python3
"""What `diff` finds between two scenarios: which inputs are one change, and what else differs.

check_diff_faces has its faces on the golden example.
Deep: 300 random pairs instead of 40.
Seconds: 15, deep 50
"""
import json
import random
import re

from support.program import BAD_INPUT, DEEP, DONE, ROOT, expect, expect_exit, run, run_csv, run_json, run_tests

HEAD = """[scenario]
title = Two scenarios
date = 2026-11-20
{head}
[workload]
model = {model}
precision = fp8
utilization = 70 %
{workload}
[common]
horizon = 3 yr
accelerators = 64
pue = 1.25
electricity_price = {electricity}
{common}
"""
EUR = 'currency = EUR\nexchange_rate = 1.25 USD/EUR\nexchange_rate.source = plan\nexchange_rate.date = 2026-11'
TYPED = 'throughput = 4000 token/s\n'


def scenario(*prices, head='', model='llama-2-70b', workload='scenario = server', electricity='0.08 USD/kWh', common='',
             throughput=TYPED):
    """Option a with the first of the prices ("list_price = 30000 USD"), b with the second."""
    text = HEAD.format(head=head, model=model, workload=workload, electricity=electricity, common=common)
    for name, accelerator, price in zip('ab', ('h200-sxm-141', 'mi325x-256'), prices):
        text += f'[option {name}]\naccelerator = {accelerator}\n{throughput}{price}\n'
    return text


def euros(price, **others):
    return scenario(price, head=EUR, **others)


OWNED, RENTED = 'list_price = 30000 USD', 'rental_rate = 2, 1.5 USD/gpu/h'
TIERS = 'discount = 5 % from 10 gpu, 10 % from 50 gpu\ntier_discount = all'
TWO_YEARS = '0.08, 0.10 USD/kWh'
RENT = {'bought_or_rented'}

# A, B, the changes of option a.
CHANGES = {
    'a year of a list in USD': (
        euros('rental_rate = 2, 1.5 USD/gpu/h'), euros('rental_rate = 2, 1.8 USD/gpu/h'), {'rental_rate_year_2_usd'}),
    'the years of a list in USD': (
        euros(OWNED, electricity=TWO_YEARS), euros(OWNED, electricity='0.09, 0.15 USD/kWh'), {'electricity_price'}),
    'a list in USD beside another input': (
        euros('list_price = 30000, 20000 USD'), euros('list_price = 31000, 20000 USD', common='wacc = 9 %/yr\nhost_power = 9 W'),
        {'list_price_year_1_usd', 'wacc', 'host_power'}),
    'a list in USD for one in EUR': (
        euros('list_price = 30000, 20000 USD'), euros('list_price = 24000, 16000 EUR'), {'list_price'}),
    'a list for an amount, both in USD': (euros(OWNED), euros('list_price = 30000, 20000 USD'), {'list_price'}),
    'years of a list': (scenario(RENTED), scenario('rental_rate = 2.2, 1.8 USD/gpu/h'), {'rental_rate'}),
    'rented by year, then bought': (scenario(RENTED), scenario(OWNED), RENT),
    'bought, then rented by year': (scenario(OWNED), scenario(RENTED), RENT),
    'bought by year, then rented': (
        scenario('list_price = 30000, 20000 USD', electricity=TWO_YEARS), scenario('rental_rate = 2 USD/gpu/h'), RENT),
    'rented by year in USD, then bought': (
        euros(RENTED, electricity=TWO_YEARS), euros('list_price = 20000 EUR', electricity=TWO_YEARS), RENT),
    'bought in EUR, then rented by year in USD': (
        euros('list_price = 20000 EUR', electricity=TWO_YEARS), euros(RENTED, electricity=TWO_YEARS), RENT),
    'bought in tiers, then rented': (scenario(OWNED, common=TIERS), scenario(RENTED), RENT),
    'tiers, then a discount': (scenario(OWNED, common=TIERS), scenario(OWNED, common='discount = 5 %'), {'discount'}),
    'a discount, then tiers': (scenario(OWNED, common='discount = 5 %'), scenario(OWNED, common=TIERS), {'discount'}),
    'the value of a tier': (
        scenario(OWNED, common=TIERS), scenario(OWNED, common=TIERS.replace('10 %', '12 %')), {'discount_tier_2'}),
}


def write(folder, *texts):
    paths = [folder / f'{name}.ini' for name in 'abc'[:len(texts)]]
    for path, text in zip(paths, texts):
        path.write_text(text, encoding='utf-8')
    return paths


def cost(path, option):
    return run_json('compare', path)['options'][option]['items']['cost_per_mtok']


def test_what_belongs_together_is_one_change(folder):
    for what, (first, second, wanted) in CHANGES.items():
        paths = write(folder, first, second)
        pair = run_json('diff', *paths)['options'][0]
        expect(set(pair['alone']) == wanted, f'{what}: {set(pair["alone"])}')
        costs = [cost(path, 0) for path in paths]
        results = pair['results']['cost_per_mtok']
        expect([results['a'], results['b']] == costs, f'{what}: {results}, not {costs}')
        expect(abs(pair['together']['cost_per_mtok'] / costs[1] - 1) < 1e-12, f'{what}: {pair["together"]}')


def test_each_input_is_listed_once(folder):
    """One option is now bought, so all its inputs change together; the other has one of them changed by itself."""
    paths = write(folder, scenario('rental_rate = 2 USD/gpu/h', 'list_price = 22000 USD'),
                  scenario(OWNED, 'list_price = 22000 USD', electricity='0.10 USD/kWh'))
    text = run('diff', *paths, '-q').stdout
    expect(len(re.findall(r'^electricity_price +[ab] .*kWh$', text, re.M)) == 2, text)
    listed = {line.split()[0] for line in re.findall(r'^\w+ +(?:[ab]|all options) +\S.*$', text, re.M)}
    expect(f'in {len(listed)} inputs' in text, f'{listed}: {text}')


def test_watts_of_a_node_join_only_its_own(folder):
    """A node's measured watts change along with its host's; an option that states its own has two changes."""
    def texts(host, row, watts):
        node = f'[option n]\naccelerator = h200-sxm-141\nevidence = {row}\n{OWNED}\n'
        own = f'{OWNED}\nload_power = {watts} W/gpu'
        return scenario(own, common=f'host_power = {host} W/gpu', workload='') + node
    paths = write(folder, texts(50, 'tp0608', 700), texts(80, 'tp0609', 650))
    own, node = run_json('diff', *paths)['options']
    expect(set(own['alone']) == {'host_power', 'load_power'}, own['alone'])
    expect('host_power' in node['alone'] and 'load_power' not in node['alone'], node['alone'])
    costs = [cost(write(folder, texts(*values), '')[0], 0) for values in ((80, 'tp0608', 700), (50, 'tp0608', 650))]
    expect([own['alone'][name]['cost_per_mtok'] for name in ('host_power', 'load_power')] == costs, own['alone'])


# Lines of which a scenario has one of each kind: by year, as one value, or something else in their place.
KINDS = (
    ('accelerators = 64', 'accelerators = 32, 64', 'demand = 900e9 token/month', 'demand = 600e9, 900e9 token/month',
     'demand = 600e9, 700e9, 900e9 token/month', 'accelerators = 64\ndemand = 300e9, 400e9 token/month'),
    ('a.list_price = 30000 USD', 'a.list_price = 30000, 20000 USD', 'a.rental_rate = 2 USD/h', 'a.rental_rate = 2, 1.5 USD/h',
     f'a.list_price = 30000 USD\n{TIERS}'),
    ('electricity_price = 0.08 USD/kWh', 'electricity_price = 0.08, 0.10 USD/kWh', 'electricity_price = 0.07, 0.09, 0.12 USD/kWh'),
    ('throughput = 4000 token/s', 'throughput = 4000, 4500 token/s'),
    ('utilization = 70 %', 'utilization = 50, 70 %'),
    ('pue = 1.2', 'pue = 1.3'),
    ('', 'colo_power = included\ncolo_rate = 100 USD/kW/month', 'colo_power = included\ncolo_rate = 100, 110 USD/kW/month',
     'colo_rate = 80 USD/kW/month\ncolo_escalation = 3 %/yr'),
    ('', 'engineer_cost = 200000 USD/yr\nengineers = 2, 1 FTE', 'engineer_cost = 200000 USD/yr\nengineers = 1 FTE'),
    ('', 'spares = 3 %'), ('', 'support = 4 %/yr'), ('', 'life = 2 yr', 'life = 5 yr'), ('', 'purchase = upfront'),
    ('', 'failure_rate = 5 %/yr\nrepair_cost = 50 %', 'failure_rate = 5 %/yr\nrepair_cost = 50 %\nwarranty = 1 yr'),
)


def drawn(draw, head, like=None):
    """One line of every kind, most of them those of another draw; the lines and the scenario."""
    lines = [draw.choice(kind) if like is None or draw.random() < 0.25 else like[k] for k, kind in enumerate(KINDS)]
    common = [line for line in '\n'.join(lines).splitlines() if not line.startswith('a.')]
    own = [line.removeprefix('a.') for line in '\n'.join(lines).splitlines() if line.startswith('a.')]
    option = ['[option a]', 'accelerator = h200-sxm-141', *own, '']
    return lines, '\n'.join(['[scenario]', 'title = T', 'date = 2026-11-20', head, '[common]', *common, *option])


def test_power_in_a_rent_changes_with_it(folder):
    """Metered power has a price, and power in the rent has none: neither means anything without the other."""
    metered = scenario(OWNED, common='colo_rate = 150 USD/kW/month')
    included = scenario(OWNED, electricity='', common='colo_rate = 190 USD/kW/month\ncolo_power = included')
    included = included.replace('electricity_price = \n', '')
    found = run_json('diff', *write(folder, metered, included))['options'][0]
    expect(set(found['alone']) == {'colo_power'}, found['alone'])
    expect(found['alone']['colo_power'] == found['together'], found)


def test_all_inputs_together_are_b(folder):
    """Whatever the two scenarios are made of, the last line of the effects is what B costs."""
    count = 0
    for seed in range(300 if DEEP else 40):
        draw = random.Random(seed)
        head = draw.choice(('', EUR))
        like, first = drawn(draw, head)
        done = run('diff', *write(folder, first, drawn(draw, head, like)[1]), '--format', 'json')
        expect(done.returncode in (DONE, BAD_INPUT), f'{seed}: {done.stderr}')
        for pair in json.loads(done.stdout)['options'] if done.returncode == DONE else []:
            if 'together' not in pair:  # a single input differs, or none
                continue
            found, wanted = pair['together']['cost_per_mtok'], pair['results']['cost_per_mtok']['b']
            expect(found is not None and abs(found / wanted - 1) < 1e-12, f'{seed}: {found}, not {wanted}')
            count += 1
    expect(count >= 20, f'only {count} pairs')


PUBLISHED = {'throughput': ''}
TOTAL = {'workload': 'scenario = server\ntokens = total'}
MODELS = [('model', 'llama-2-70b', 'mixtral-8x7b')], 'model: llama-2-70b and mixtral-8x7b'

# A, B, the rows of the workload for each option, what makes it unlike.
WORKLOADS = {
    'another model': (PUBLISHED, {**PUBLISHED, 'model': 'mixtral-8x7b'}, *MODELS),
    'another model, same throughput': ({}, {'model': 'mixtral-8x7b'}, *MODELS),
    'other tokens': (PUBLISHED, TOTAL, [('tokens', 'output', 'total')], 'tokens: output and total'),
    'a batch that A does not state': ({}, {'workload': 'scenario = server\nbatch = 64'}, [('batch', None, '64')], None),
    'what only the published throughput states': (PUBLISHED, {}, [], None),
}


def of_both(warnings):
    """Without those of A or B alone."""
    return [text for text in warnings if not text.startswith(('A: ', 'B: '))]


def test_workloads_that_differ_are_listed(folder):
    for what, (one, other, rows, unlike) in WORKLOADS.items():
        paths = write(folder, *(scenario(OWNED, 'list_price = 22000 USD', **side) for side in (one, other)))
        result = run_json('diff', *paths)
        for option in 'ab':
            found = [(row['name'], row.get('a'), row.get('b')) for row in result.get('workload', [])
                     if row['option'] == option]
            expect(found == rows, f'{what}: {found}')
        wanted = [f'a, b: the costs of A and B are of unlike workloads, {unlike}'] if unlike else []
        expect(of_both(result['warnings']) == wanted, f'{what}: {result["warnings"]}')
        expect((', of unlike workloads: a ' in result['answer']) == bool(unlike), f'{what}: {result["answer"]}')
        expect(('in the workload' in result['answer']) == bool(rows), f'{what}: {result["answer"]}')
        lines = run_csv('diff', *paths)
        expect(of_both(line['label'] for line in lines if line['table'] == 'warnings') == wanted, f'{what}: CSV')
        names = {line['row'] for line in lines if line['table'] == 'workload'}
        expect(names == {f'{option}.{row[0]}' for row in rows for option in 'ab'}, f'{what}: CSV {names}')
        done = run('diff', *paths, '-q')
        expect(done.returncode == DONE and ('Warning: a, b: the costs of A' in done.stdout) == bool(unlike),
               done.stdout + done.stderr)


def test_some_workloads_are_unlike(folder):
    own = 'list_price = 22000 USD\nbatch = '
    paths = write(folder, scenario(OWNED, own + '64'), scenario(OWNED, own + '32'))
    result = run_json('diff', *paths)
    expect(', some of unlike workloads: a 0.0 %' in result['answer'], result['answer'])
    expect(of_both(result['warnings']) == ['b: the costs of A and B are of unlike workloads, batch: 64 and 32'],
           result['warnings'])


OFFERS = ROOT / 'examples' / 'acceptance'


def test_two_offers(folder):
    """The lines that differ, and what each comes to: the prices as the file has them, multiplied here."""
    first, second = OFFERS / 'offer.ini', OFFERS / 'offer-revised.ini'
    found = run_json('diff', first, second)
    lines = {line['line']: (line['a'], line['b']) for line in found['offer_lines']}
    expect(lines['price.accelerators'] == ('27500 USD/gpu', '26200 USD/gpu') and len(lines) == 6, lines)
    for side, accelerator, network in (('a', 27500, 3900), ('b', 26200, 4300)):
        hardware = 64 * (accelerator + network) + 8 * 58000
        wanted = {'hardware': hardware, 'purchase': hardware + 24000, 'per_accelerator': (hardware + 24000) / 64,
                  'yearly': 0.035 * hardware}
        for name, value in wanted.items():
            said = found['totals'][name][side]
            expect(abs(said - value) <= 1e-9 * value, f'{side}: {name} is {said}, not {value}')
    expect_exit(run('diff', first, second), DONE, 'B differs from A in 6 lines; purchase -2.3 %.',
                'Support, warranty and license a year  USD/yr')
    expect(run_json('diff', first, first)['answer'] == 'The offers do not differ.', 'the same offer')
    changed = folder / 'changed.ini'
    changed.write_text(first.read_text().replace('= 64 gpu', '= 128 gpu').replace('= 8 node', '= 16 node'))
    expect_exit(run('diff', first, changed), DONE, 'B differs from A in 2 lines; purchase +99.0 %, for each accelerator -0.5 %.')
    changed.write_text(first.read_text().replace('USD', 'EUR').replace('h200-sxm-141', 'h200-nvl-141')
                       .replace('network      = 3900 EUR/gpu\n', ''))
    found = run_json('diff', first, changed)
    for words in ('different accelerators: h200-sxm-141 and h200-nvl-141', 'different currencies, USD and EUR',
                  'B alone has no line for: network'):
        expect(any(words in warning for warning in found['warnings']), found['warnings'])
    expect('totals' not in found, 'amounts in two currencies')
    expect_exit(run('diff', first, OFFERS / 'quoted.ini'), BAD_INPUT, "this is a vendor's offer: name it as 'quote = FILE'")


def test_changes_agree_with_the_sentence(folder):
    """There is no change from zero, and what costs less than nothing rises when its credit shrinks."""
    grant = '[item grant]\nlabel = Grant\nunit = USD\ngroup = capex\nformula = {} USD * accelerators\n'
    nothing = scenario('list_price = 0 USD', electricity='0 USD/kWh')
    credits = [scenario(OWNED) + grant.format(credit) for credit in (-50000, -45000)]
    for what, texts, begins, is_none in (('from zero', (nothing, scenario(OWNED)), '-', True),
                                         ('below zero', credits, '+', False)):
        paths = write(folder, *texts)
        text = run('diff', *paths, '-q').stdout
        said = re.search(r'tokens: a (\S+)', text).group(1).removesuffix('.')
        shown = re.search(r'^Cost per million output tokens +USD/Mtok +\S+ +\S+ +(\S+)', text, re.M).group(1)
        expect(said.startswith(begins) and shown == said, f'{what}: {said}, {shown}')
        found = run_json('diff', *paths)['options'][0]['results']['cost_per_mtok']['change']
        expect(found is None if is_none else found > 0, f'{what}: {found}')


def test_what_taxes_change(folder):
    """A tax rate moves no cost before tax: the net present value after it is shown where both have one."""
    texts = [scenario(OWNED, common=f'wacc = 8 %/yr\n{tax}') for tax in ('', 'tax_rate = 30 %', 'tax_rate = 25 %')]
    untaxed, more, less = write(folder, *texts)
    found = run_json('diff', more, less)['options'][0]['results']
    items = [run_json('compare', path)['options'][0]['items']['after_tax_npv'] for path in (more, less)]
    expect([found['after_tax_npv'][side] for side in 'ab'] == items and found['tco']['change'] == 0, f'{found}, not {items}')
    expect(items[0] < items[1] and found['after_tax_npv']['change'] > 0, f'{items}')
    expect('after_tax_npv' not in run_json('diff', untaxed, less)['options'][0]['results'], 'where A has no taxes')


def test_digits(folder):
    """Of a catalogue's figure five, as elsewhere; of a typed one all; and as many as it takes to see a difference."""
    found = scenario(OWNED, 'list_price = 30000.125 USD', throughput='')
    typed = scenario('list_price = 31000.0625 USD', 'list_price = 30000.125 USD', throughput='')
    other = found.replace('scenario = server', 'scenario = offline')
    close = found.replace('[option a]', '[option a]\nthroughput = {} token/s')
    (folder / 'a.ini').write_text(found)
    for name, text, words in (('catalogue', other, ('4155.5 token/s/gpu  4380.5 token/s/gpu',)),
                              ('typed', typed, ('30000 USD/gpu', '31000.0625 USD/gpu')),
                              ('close', close.format(4155.5), ('4155.5', '4155.54'))):
        (folder / 'b.ini').write_text(text)
        said = run('diff', folder / 'a.ini', folder / 'b.ini', '-q').stdout
        row = next(line for line in said.splitlines() if re.match('(throughput|list_price) ', line))
        expect(all(word in row for word in words), f'{name}: {row}')


if __name__ == '__main__':
    run_tests(globals())
