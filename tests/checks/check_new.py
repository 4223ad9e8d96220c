#!/usr/bin/python3
"""`pertoken new` as its users start it: from names to a workbook, on a command line and on a terminal.

    check_new.py [WORD...]

The facts in the draft's template are compared with the catalogue rows that it names.
Deep: every template for every accelerator that is sold, and every model; and the tutorial's four commands in a
clone, which they build.
Seconds: 6, deep 120
"""
import functools
import itertools
import os
import pathlib
import re
import shlex
import statistics
import tempfile

from support.program import (BAD_INPUT, DEEP, DONE, MACHINE_FAILED, NO, ROOT, Skip, asked, expect, expect_exit, near,
                             run, run_json, run_tests, table)

# They include every accelerator and model of the documents that the project began with.
PAIRS = [('mi300x', 'h100', 'llama-2-70b'), ('mi325x', 'h200', 'llama-2-70b'), ('mi355x', 'b200', 'llama-3.1-405b'),
         ('mi400', 'b300', 'llama-3-70b'), ('mi300x', 'h100', 'mixtral-8x22b'), ('mi325x', 'h200', 'mistral-7b'),
         ('mi300x', 'h100', 'falcon-180b'), ('mi300x', 'b200', 'falcon-40b'), ('mi355x', 'b200', 'gpt-oss-120b'),
         ('mi455x', 'gb300', 'gpt-oss-120b'), ('mi350x', 'gb200', 'llama-3.1-70b')]
DAY = 1795392000  # 2026-11-23, shown in the tutorial
UNLIKE = ('h100-sxm5-80', 'l40s-48', '--model', 'llama-2-7b', '--count', 8)
EXAMPLE = ('mi355x', 'b200', '--model', 'llama-3.1-405b', '--count', 640)


def new(folder, *arguments, **options):
    return run('new', *arguments, '--data', ROOT / 'data', cwd=folder, **options)


@functools.cache
def run_of(folder, *arguments):
    """The file of a draft that succeeds, and its run."""
    path = folder / f'draft-{len(list(folder.iterdir()))}.ini'
    done = new(folder, *arguments, '-o', path)
    expect_exit(done, DONE, f'wrote {path}')
    return path, done


def drafted(folder, *arguments):
    return run_of(folder, *arguments)[0]


def words_of(path):
    """The comments, without the ends of their lines."""
    return ' '.join(line[2:] for line in path.read_text().splitlines() if line.startswith('; '))


def sections(path):
    """{'option mi355x': {key: value}}, without comments."""
    found, at = {}, None
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith('['):
            at = found.setdefault(line.strip('[]'), {})
        elif line and not line.startswith(';'):
            key, _, value = line.partition(' = ')
            at[key] = value
    return found


def number(keys, key):
    return float(keys[key].split()[0])


# ---- drafts

def test_pairs(folder):
    """Without an error; what is unpublished is reported, with what would supply it. test_pairs_asked makes the
    workbooks."""
    for one, other, model in PAIRS:
        path, done = run_of(folder, one, other, '--model', model, '--count', 64)
        text = path.read_text()
        missing = re.findall(r'^pertoken: missing: (.*)', done.stderr, re.M)
        expect(len(missing) == text.count('; MISSING: '), f'{path}: {missing}')
        expect(words_of(path).count('To replace it: ') >= len(missing), f'{path}: nothing would supply it')
        expect(('stand-ins' in done.stdout) == bool(missing), f'{path}: the title')
        expect('error' not in done.stderr, done.stderr)
        expect(max(map(len, text.splitlines())) <= 120, f'{path}: a line is too long to read')


def test_labels(folder):
    """For every option and case, so that no face shows a key."""
    for name, volume, _ in TEMPLATES:
        path = drafted(folder, 'h200', '--model', 'llama-3.1-70b', '--template', name, *volume)
        for section, keys in sections(path).items():
            if section.split()[0] in ('option', 'case'):
                expect(re.match('[A-Z]', keys.get('label', '')), f'{name}: [{section}] has no label')
    said = run('compare', drafted(folder, *EXAMPLE), '--all-cases', '-q').stdout
    expect(not re.search(r'\b(mi355x|b200|half_used|planning_power)\b(?!-)', said), said)


def test_prices_listed(folder):
    """Above the price that is used: it and other purchases of that accelerator, each as in its row, and nothing else."""
    prices, listed = table('prices'), 0
    for one, other, model in PAIRS:
        path = drafted(folder, one, other, '--model', model, '--count', 64)
        taken = [keys['price'] for keys in sections(path).values() if 'price' in keys]
        lists = re.findall(r'Prices: (.*?)\. More: pertoken catalog prices --where accelerator=(\S+)', words_of(path))
        expect(len(lists) == len(taken), f'{path}: {len(lists)} lists of prices')
        for rows, accelerator in lists:
            found = re.findall(r'(pr\d+): ([\d.]+) USD, ([\d-]+), (\w+)', rows)
            expect(len(found) == rows.count(';') + 1, rows)
            for row, usd, date, grade in found:
                its = prices[row]
                expect((its['accelerator'], its['price_basis'], its['as_of']) == (accelerator, 'purchase', date) and
                       near(float(its['usd_per_gpu_equivalent']), float(usd), 1e-3), f'{row}: {rows}')
                listed += 1
            shown = {row for row, *_ in found}
            every = [row for row, its in prices.items() if its['accelerator'] == accelerator and
                     its['price_basis'] == 'purchase' and float(its['usd_per_gpu_equivalent'] or 0) > 0]
            expect(shown == set(every) or len(shown) == 8 < len(every), f'{accelerator}: {shown} of {every}')
            expect(shown & set(taken), f'{accelerator}: the price taken is not among them')
    expect(listed >= 10, f'{listed} prices')
    path = drafted(folder, 'h200', '--model', 'llama-3.1-70b', '--count', 8, '--template', 'rent-or-own')
    rents = re.search(r'Rents per accelerator-hour: (.*?)\. Of (\d+) rows\. More: ', words_of(path))
    expect(f'{sections(path)["rent h200"]["on_demand"]}: ' in rents[1], f'the rent taken is not among {rents[1]}')
    expect(rents[1].count(';') == 7 and int(rents[2]) == sum(
        (its['accelerator'], its['price_basis']) == ('h200-sxm-141', 'on_demand') and
        float(its['usd_per_gpu_equivalent'] or 0) > 0 for its in prices.values()), rents[0])


def test_known_and_missing(folder):
    """By the tables: MLPerf has both of the second pair; MI355X with Llama 3.1 405B is unpublished."""
    throughputs = table('throughput').values()
    expect(not any(row['accelerator'] == 'mi355x-288' and row['model'] == 'llama-3.1-405b' for row in throughputs),
           'MI355X is published: choose another example')
    known, missing = (drafted(folder, one, other, '--model', model, '--count', 64)
                      for one, other, model in (PAIRS[1], PAIRS[2]))
    expect('MISSING' not in known.read_text(), 'a stand-in for what is published')
    expect('throughput' in sections(missing)['option mi355x'], 'no stand-in')
    expect('throughput' not in sections(missing)['option b200'], 'a stand-in for what is published')


def test_baseline(folder):
    """A saving is over what is published, if any of the accelerators is; the last of several, or the first to own."""
    for accelerators, template, wanted in ((('h200', 'mi325x', 'b300'), 'two-vendors', 'mi325x'),
                                           (('h200', 'mi325x'), 'two-vendors', 'mi325x'),
                                           (('b300', 'h200', 'mi325x'), 'rent-or-own', 'h200')):
        path, done = run_of(folder, *accelerators, '--model', 'llama-2-70b', '--count', 8, '--template', template)
        expect(sections(path)['scenario']['baseline'] == wanted, f'{accelerators}: {sections(path)["scenario"]}')
        expect((f"next: 'pertoken rent {path}'" in done.stderr) == (template == 'rent-or-own'), done.stderr)


def test_one_accelerator(folder):
    title = drafted(folder, 'h200', 'mi355x', '--model', 'llama-2-70b', '--count', 1).read_text().partition('title = ')[2]
    expect(' on 1 accelerator,' in title or ' on 1 accelerator\n' in title, title[:200])


def test_one_batch(folder):
    """Of runs at many batches, those at one that both have, though their requests' lengths differ a little."""
    rows, pair = table('throughput'), ('h100-sxm5-80', 'b200-sxm-180')
    path = drafted(folder, *pair, '--model', 'llama-3.1-8b', '--count', 64)
    chosen = [rows[row] for row in re.findall(r'Throughput: \S+ from (tp\d+)', run('compare', path).stdout)]
    form, by_batch = ('model', 'precision', 'scenario', 'source_title'), {}
    for row in rows.values():
        if row['accelerator'] in pair and [row[key] for key in form] == [chosen[0][key] for key in form]:
            by_batch.setdefault(row['batch_or_concurrency'], {})[row['accelerator']] = row
    both = {batch: found for batch, found in by_batch.items() if len(found) == 2}
    best = max(both, key=lambda batch: sum(float(row['tokens_per_s_per_gpu']) for row in both[batch].values()))
    expect(len(both) >= 5 and [row['batch_or_concurrency'] for row in chosen] == [best, best], f'{best}: {chosen}')
    expect(sections(path)['workload']['batch'] == best, sections(path)['workload'])
    expect(0.95 < float(chosen[0]['osl']) / float(chosen[1]['osl']) < 1 / 0.95, chosen)


def test_unlike_batches(folder):
    """Where no batch is common, only with --mixed, and the file says so; REFUSED has the same without it."""
    path, done = run_of(folder, *UNLIKE, '--mixed')
    expect('MIXED: ' in done.stdout and 'Not ranked' in done.stdout, done.stdout)
    expect(re.search(r'Published runs differ in batch: \d+ and \d+: .* needs --mixed', words_of(path)), words_of(path))
    expect_exit(run('compare', path), BAD_INPUT, 'are not comparable, batch: ')
    expect_exit(run('compare', path, '--mixed', '-q'), DONE, 'MIXED: ')


def test_doubt(folder):
    """A published throughput that may be wrong is said to be so before the table, unless another replaces it."""
    pair = ('h200', 'mi355x', '--model', 'llama-2-70b', '--count', 8)
    for more, said in (((), True), (('--set', 'mi355x.throughput=6000 token/s'), False)):
        done = run_of(folder, *pair, *more)[1]
        expect(("doubtful: mi355x: its throughput: 2." in done.stderr) == said, done.stderr)


def test_memory(folder):
    """A model that does not fit into so many: their fewest are drafted, and it is said before the table."""
    path, done = run_of(folder, 'l40s', 'a100', '--model', 'deepseek-v3', '--count', 8)
    words = 'deepseek-v3 in fp4 does not fit into the memory of 8 l40s-48, it needs 16'
    expect(f'missing: l40s: {words}' in done.stderr, done.stderr)
    found = sections(path)
    expect(found['option l40s']['accelerators'] == '16' and 'accelerators' not in found['option a100'], found)
    held = run_json('fit', path, '-q')['answers'][0]['tables']['memory']['rows']
    expect([row['accelerators'] for row in held] == [16, 8], held)
    path.write_text(path.read_text().replace('accelerators = 16\n', ''))
    compared = ' '.join(run('compare', path).stderr.split())
    expect('the model does not fit: deepseek-v3 in fp4 has' in compared and 'a100: the model' not in compared, compared)
    done = run('fit', path, '-q')
    expect(done.returncode == NO and 'takes 16 accelerators, more than the option has, 8.' in ' '.join(done.stdout.split()), done)
    big = drafted(folder, 'l40s', 'a100', '--model', 'deepseek-v3', '--count', 64)
    expect('does not fit' not in big.read_text(), 'enough of them')


def test_fits_as_drafted(folder):
    """fit answers for each draft, at the length of its requests or a stated one."""
    for number, ((one, other), model) in enumerate(zip(itertools.permutations(('h200', 'mi300x', 'b200', 'mi355x'), 2),
                                                       itertools.cycle(('llama-2-70b', 'deepseek-v3', 'gpt-oss-120b')))):
        path = drafted(folder, one, other, '--model', model, '--count', 64)
        done = run('fit', path, '-q')
        expect(done.returncode == 0 and 'requests of' in ' '.join(done.stdout.split()), (number, path, done))


def test_stand_in(folder):
    """By its own text: a row's rate, times the ratio of bandwidths, times that of parameters in a token's products."""
    accelerators, models, rows = table('accelerators'), table('models'), table('throughput')
    checked = 0
    for one, other, model in PAIRS:
        path = drafted(folder, one, other, '--model', model, '--count', 64)
        text = words_of(path)
        of_model = sections(path)['workload']['model']
        for option, row in zip(re.findall(r'the throughput of (\S+) with', text), re.findall(r'Stand-in: (tp\d+)', text)):
            rate = float(rows[row]['tokens_per_s_per_gpu'])
            faster = (float(accelerators[option]['memory_bw_tbs']) /
                      float(accelerators[rows[row]['accelerator']]['memory_bw_tbs']))
            smaller = (float(models[rows[row]['model']]['matmul_active_params_b']) /
                       float(models[of_model]['matmul_active_params_b']))
            written = next(float(keys['throughput'].split()[0]) for name, keys in sections(path).items()
                           if keys.get('accelerator') == option)
            expect(0.989 < written / (rate * faster * smaller) <= 1.0000001, f'{option} {of_model}: {written}')
            checked += 1
    expect(checked >= 5, f'{checked} stand-ins')


FORMS = {'PCIe': 'card', 'SXM': 'module', 'OAM': 'module', 'rack': 'rack', 'superchip': 'superchip'}


def form_of(part):
    return next((form for word, form in FORMS.items() if word in part['form_factor']), part['form_factor'])


def test_stand_in_for_a_price(folder):
    """Of a part of the same form if one has a price, whatever is compared; else, and between cards, by bandwidth."""
    accelerators, prices = table('accelerators'), table('prices')
    for option, other, wanted in (('l40s', 'h100', 'card'), ('rtx-pro-6000', 'l40s', 'card'), ('l4', 'mi300x', 'card'),
                                  ('h20', 'h100', 'module'), ('mi400', 'b200', 'rack'), ('gh200-144', 'h200', 'module')):
        path = drafted(folder, option, other, '--model', 'llama-3.1-8b', '--count', 72)
        for part, row, lender in re.findall(r'no price is published for (\S+)\. Stand-in: (pr\d+), of ([\w.-]+\w)',
                                            words_of(path)):
            borrower, lent = accelerators[part], accelerators[lender]
            expect(form_of(lent) == wanted and prices[row]['accelerator'] == lender, (part, row, lender))
            same = form_of(borrower) == wanted != 'card'
            scale = 1 if same else float(borrower['memory_bw_tbs']) / float(lent['memory_bw_tbs'])
            usd = next(number(keys, 'list_price') for keys in sections(path).values() if keys.get('accelerator') == part)
            expect(abs(usd - scale * float(prices[row]['usd_per_gpu_equivalent'])) <= 0.5, (part, usd, scale))
            break
        else:
            raise AssertionError(f'{option}: no stand-in')


def test_host_power(folder):
    """At least what one server needs beside its GPUs, at most what NVIDIA plans for a node of GB300."""
    path = drafted(folder, 'mi355x', 'b200', '--model', 'llama-2-70b', '--count', 8)
    planned = table('power')['pw017']
    tdp_w, gpus = float(table('accelerators')[planned['accelerator']]['tdp_w']), float(planned['gpus'])
    highest = (1000 * float(planned['value']) - gpus * tdp_w) / gpus
    found = sections(path)
    expect(found['common']['host_power'] == '309 W/gpu', found['common'])
    expect(found['range']['host_power'] == f'uniform(309, {highest:.0f}) W/gpu', found['range'])
    expect('losses of power supplies' in words_of(path) and 'At least' in words_of(path), words_of(path))


def test_parts_of_a_stand_in(folder):
    """A rack's price that another accelerator borrows already includes its servers and network."""
    path = drafted(folder, 'mi455x', 'gb300', '--model', 'gpt-oss-120b', '--count', 72)
    borrows = sections(path)['option mi455x']
    expect((borrows['node_price'], borrows['network_price']) == ('0 USD', '0 USD'), borrows)
    for part in ('node_price', 'network_price'):
        expect(borrows[f'{part}.source'] == 'included in the stand-in pr012, the price of a whole rack', borrows)
    options = {one['id']: one for one in run_json('compare', path)['options']}
    found = {name: one['items']['capex'] for name, one in options.items()}
    expect(near(found['mi455x'], found['gb300'], 1e-6), f'{found}')
    expect(not options['mi455x']['not_included'], options['mi455x']['not_included'])


def test_server_of_another_size(folder):
    """A server of one accelerator costs an eighth of the template's, which has eight."""
    path = drafted(folder, 'gh200-144', 'h200', '--model', 'llama-3.1-70b', '--count', 72)
    found = sections(path)
    expect(near(8 * number(found['option gh200'], 'node_price'), number(found['common'], 'node_price')), found)
    expect('node_price' not in found['option h200'] and 'network_price' not in found['option gh200'], found)
    expect('Scaled from 8 accelerators to 1.' in words_of(path), path.read_text())


def test_how_far_off(_):
    """The bounds of a stand-in, computed over the catalogue from the text of model/draft/workload.h."""
    accelerators, forms = table('accelerators'), {}
    for row in table('throughput').values():
        if row['model'] and row['token_basis'] == 'output' and row['scenario'] != 'agentic' and not (
                row['speculation'] or row['doubt'] or row['power_limit_w']):
            lengths = '' if 'MLPerf' in row['source_title'] else (row['isl'], row['osl'], row['source_title'])
            form = forms.setdefault((row['model'], row['precision'], row['activations'], row['scenario'], lengths), {})
            form.setdefault(row['accelerator'], []).append(float(row['tokens_per_s_per_gpu']))
    ratios = sorted(statistics.median(form[one]) / statistics.median(form[other]) /
                    (float(accelerators[one]['memory_bw_tbs']) / float(accelerators[other]['memory_bw_tbs']))
                    for form in forms.values() for one, other in itertools.permutations(form, 2)
                    if accelerators[one]['memory_bw_tbs'] and accelerators[other]['memory_bw_tbs'])
    header = (ROOT / 'model/draft/workload.h').read_text()
    for name, share in (('LOW', 0.05), ('HIGH', 0.95)):
        bound = float(re.search(rf'STAND_IN_{name} +(\S+)', header)[1])
        found = ratios[int(share * len(ratios))]
        expect(abs(found / bound - 1) < 0.03, f'{name} is {found:.3f} over {len(ratios)} ratios')


def test_cited(folder):
    """A price is a purchase of that accelerator; a figure of the template is from its row."""
    prices = table('prices')
    for one, other, model in PAIRS[:3]:
        for keys in sections(drafted(folder, one, other, '--model', model, '--count', 64)).values():
            if 'price' in keys:
                row = prices[keys['price']]
                expect(row['accelerator'] == keys['accelerator'] and row['price_basis'] == 'purchase', row)
    power, overheads, typical = table('power'), table('overheads'), table('typical')

    said = sections(drafted(folder, *EXAMPLE))
    for found, value in ((number(said['common'], 'electricity_price') * 100, power['pw162']['value']),
                         (number(said['common'], 'pue'), power['pw086']['value']),
                         (number(said['case planning_power'], 'electricity_price') * 100, power['pw191']['value']),
                         (number(said['case planning_power'], 'pue'), power['pw095']['value']),
                         (number(said['common'], 'node_price'), typical['dgx_h100_non_gpu_bom']['mid']),
                         (number(said['common'], 'network_price'), typical['network_cost_per_gpu']['mid']),
                         (number(said['common'], 'support'), typical['support_contract']['mid']),
                         (number(said['common'], 'engineer_cost'), overheads['oh001']['value']),
                         (number(said['workload'], 'utilization'), overheads['oh080']['value'])):
        expect(near(found, float(value)), f'{found} and {value}')
    wall = float(typical['measured_wall_power_8xb200_llama2_70b_offline']['mid'])
    expect(abs(number(said['common'], 'host_power') - (wall - 8000) / 8) < 0.5, said['common']['host_power'])
    for key, low, most, high in (('utilization', typical['utilisation']['low'], typical['utilisation']['mid'],
                                  typical['utilisation']['high']),
                                 ('electricity_price', *(float(power[row]['value']) / 100 for row in ('pw171', 'pw162', 'pw172')))):
        ends = [float(part) for part in re.findall(r'[\d.]+', said['range'][key])]
        expect(all(map(near, ends, map(float, (low, most, high)))), said['range'][key])


TEMPLATES = [('two-vendors', ('--count', 64), 'compare'), ('rent-or-own', ('--count', 64), 'rent'),
             ('own-or-api', ('--demand', '2000000 Mtok/yr'), 'compare'),
             ('stages', ('--demand', '20000000 Mtok/yr'), 'compare'),
             ('rfp', ('--demand', '20000000 Mtok/yr'), 'compare')]


def test_templates(folder):
    for name, volume, command in TEMPLATES:
        path = drafted(folder, 'h200', '--model', 'llama-3.1-70b', '--template', name, *volume)
        for arguments in ((command, path), ('simulate', path, '--draws', 1000), ('explain', path, 'h200.tco'),
                          ('report', path, '-o', folder / 'out.xlsx', '--draws', 1000)):
            expect_exit(run(*arguments, '-q'), DONE)


def test_proposals(folder):
    """Vendors' shares, dates and offers; the file answers what to order from whom, and by when."""
    path = drafted(folder, 'mi355x', 'b200', '--model', 'llama-2-70b', '--template', 'rfp', '--demand', '20000000 Mtok/yr')
    found = sections(path)
    expect(found['portfolio'] == {'minimum_share.amd': '20 %', 'minimum_share.nvidia': '20 %'}, found['portfolio'])
    expect(found['demand all']['tokens'] == '20000000 Mtok/yr' and {'supply mi355x', 'supply b200', 'plan'} <= set(found),
           found)
    year, month = map(int, found['scenario']['date'].split('-')[:2])
    expect(found['scenario']['start'] == f'{year + month // 7:04}-{(month + 5) % 12 + 1:02}', found['scenario'])
    done = run('plan', path, '-q', '--time', 5)
    if 'GLPK' in done.stderr:
        raise Skip('built without GLPK')
    expect_exit(done, DONE, 'Orders and their deadlines', 'MI355X', 'B200')
    offer = (ROOT / 'examples/acceptance/offer.ini').read_text().replace('h200-sxm-141', 'b200-sxm-180')
    (path.parent / 'b200-offer.ini').write_text(offer)
    text = path.read_text()
    expect('; Once the vendor has answered, in place of the price: quote = b200-offer.ini' in text, text)
    path.write_text(re.sub(r'(\[option b200\][^\[]*?)price = \w+', r'\1quote = b200-offer.ini', text))
    expect_exit(run('compare', path, '-q'), DONE, 'B200', 'quoted')


def test_every_name(folder):
    """Deep: everything in the catalogue is drafted, or refused with a message."""
    accelerators = [row for row in table('accelerators').values() if row['status'] != 'cloud only']
    models = list(table('models')) if DEEP else ['qwen3-8b']
    for model in models:
        names = [row['id'] for row in accelerators]
        # Of some models only runs of unlike batches are published.
        expect_exit(new(folder, *names, '--model', model, '--count', 72, '--mixed', '-q',
                        '-o', folder / f'every-{model}.ini'), DONE)
    for row in accelerators if DEEP else accelerators[:1]:
        for name, volume, _ in TEMPLATES:
            done = new(folder, row['id'], '--model', 'mistral-7b', '--template', name, *volume, '-q',
                       '-o', folder / f"{row['id']}-{name}.ini")
            expect(done.returncode == DONE or 'is published for' in done.stderr, done.stderr)


def test_currency(folder):
    """What concerns the report as a whole is of [scenario]: a draft in another currency, by quarters."""
    path = drafted(folder, *EXAMPLE, '--set', 'currency=EUR', '--set', 'exchange_rate=1.1 USD/EUR', '--set',
                   'exchange_rate.source=our plan', '--set', 'exchange_rate.date=2026-11', '--set', 'period=3 month')
    found = sections(path)
    expect({'currency', 'exchange_rate.source', 'period'} <= set(found['scenario']) and 'currency' not in found['common'], found)
    expect_exit(run('compare', path, '-q'), DONE, 'EUR/Mtok', 'periods of 3 month')


def test_settings(folder):
    """What --set gives replaces the draft's value, source and stand-in."""
    path = drafted(folder, *EXAMPLE, '--set', 'mi355x.list_price=20000 USD', '--set', 'electricity_price=0.05 USD/kWh',
                   '--set', 'mi355x.throughput=200 token/s', '--set', 'b200.discount=14 %')
    found = sections(path)
    expect('MISSING' not in path.read_text(), 'a stand-in is left')
    expect(found['option mi355x'] == {'label': 'MI355X', 'accelerator': 'mi355x-288', 'throughput': '200 token/s',
                                      'list_price': '20000 USD'}, found['option mi355x'])
    expect(found['option b200']['discount'] == '14 %', found['option b200'])
    expect(found['common']['electricity_price'] == '0.05 USD/kWh' and
           'electricity_price.source' not in found['common'], found['common'])
    expect(list(found['range']) == ['utilization', 'host_power'], found['range'])


# ---- the tutorial

def blocks(language):
    text = (ROOT / 'docs/tutorial.md').read_text()
    return re.findall(rf'^```{language}\n(.*?)^```', text, re.S | re.M)


def test_tutorial(folder):
    """At most four commands from a clone to a workbook, all of them as shown, with their output."""
    first, *others = blocks('sh')
    commands = first.splitlines()
    expect(len(commands) <= 4 and commands[:2] == ['make setup', 'make'], commands)
    for line in commands[:2]:
        expect_exit(run('-n', *line.split()[1:], program='make'), DONE)
    at = folder / 'tutorial'
    at.mkdir()
    printed = ''
    for line in commands[2:] + [line for block in others for line in block.splitlines()]:
        words = shlex.split(line)
        expect(words[0] == 'build/pertoken', line)
        done = run(*words[1:], cwd=at, environment={'SOURCE_DATE_EPOCH': DAY})
        expect_exit(done, DONE)
        printed = printed or done.stdout + done.stderr
    expect((at / 'board.xlsx').stat().st_size > 10000, 'no workbook')
    [shown], [lines] = blocks('text'), blocks('ini')
    pattern = ''.join(r'(?:.*\n)*?' if line == '...' else re.escape(line) + '\n' for line in shown.splitlines())
    expect(re.fullmatch(pattern, printed), f'the tutorial shows something else than\n{printed}')
    expect(lines in (at / 'board.ini').read_text(), (at / 'board.ini').read_text())


def test_tutorial_in_a_clone(folder):
    """The four commands to the letter, but without the GPUs' kernels and the optimizer, which take minutes."""
    if not DEEP:
        raise Skip('in the deep run')
    clone = folder / 'clone'
    cloned = run('clone', '-q', ROOT, clone, program='git', cwd=folder)
    if cloned.returncode:
        raise Skip(f'no clone of this tree: {cloned.stderr.strip()}')
    changes = {'GPU': 'no', 'CFLAGS': '-O0', 'MAKEFLAGS': None, 'PERTOKEN_TESTS': None}
    for line in blocks('sh')[0].splitlines():
        expect_exit(run('-c', line, program='sh', cwd=clone, environment=changes, timeout=900), DONE)
    expect((clone / 'board.xlsx').stat().st_size > 10000, 'no workbook')


# ---- what is refused

REFUSED = [
    (('mi355x-289', 'b200', '--model', 'llama-2-70b', '--count', 8), "did you mean 'mi355x-288'?"),
    (('b200', '--model', 'llama-2-71b', '--count', 8), "unknown model 'llama-2-71b'; did you mean 'llama-2-7"),
    (('b200', 'B200-SXM', '--model', 'llama-2-70b', '--count', 8), 'are the same accelerator, b200-sxm-180'),
    (('tpu-v6e', '--model', 'llama-2-70b', '--count', 8), 'is not sold, only rented'),
    (('b200', '--model', 'llama-2-70b', '--count', 0), "a whole number from 1, not '0'"),
    (('b200', '--model', 'llama-2-70b', '--count', '8.5'), "a whole number from 1, not '8.5'"),
    (('b200', '--model', 'llama-2-70b', '--count', '-8'), "a whole number from 1, not '-8'"),
    (('b200', '--model', 'llama-2-70b'), 'give the number of accelerators with --count N'),
    (('b200', '--count', 8), 'name a model with --model ID'),
    (('b200', '--model', 'llama-2-70b', '--count', 8, '--demand', '1000 Mtok/yr'), 'give only one'),
    (('b200', '--model', 'llama-2-70b', '--demand', '1000'), 'has no unit'),
    (('b200', '--model', 'llama-2-70b', '--count', 8, '--template', 'stage'), "did you mean 'stages'?"),
    (('b200', '--model', 'llama-2-70b', '--count', 8, '--template', 'stages'), 'needs a demand'),
    (('mi455x', '--model', 'llama-2-70b', '--count', 72, '--template', 'rent-or-own'), 'no rent is published'),
    (('b200', '--model', 'llama-2-70b', '--demand', '9000 Mtok/yr', '--template', 'own-or-api'), 'no token price is published'),
    (('b200', '--model', 'llama-2-70b', '--count', 8, '--set', 'b200.discuont=3 %'), "did you mean 'discount'?"),
    (('b200', '--model', 'llama-2-70b', '--count', 8, '--set', 'nonsense'), 'nonsense'),
    ((), 'no accelerator is named, and there is no terminal to prompt on'),
    (UNLIKE, '(--mixed compares them anyway'),
    ((*EXAMPLE, '-o', '-'), 'expected -o FILE, the scenario to write'),
]


def test_refused(folder):
    """With status 2, a message, and without a file."""
    for arguments, words in REFUSED:
        empty = pathlib.Path(tempfile.mkdtemp(dir=folder))
        expect_exit(new(empty, *arguments), BAD_INPUT, words)
        expect(not list(empty.iterdir()), f'{arguments}: a file is left')
    done = new(folder, 'b200', '--model', 'llama-2-70b', '--count', 8, '--set', 'b200.discount=3', '-q', '-o', 'mine.ini')
    expect_exit(done, BAD_INPUT, 'mine.ini is not written; these lines are of its draft:\nmine.ini:')


def test_never_overwrites(folder):
    there = folder / 'there.ini'
    there.write_text('mine\n')
    for name, make in (('there.ini', None), ('link.ini', lambda path: path.symlink_to('there.ini')),
                       ('nowhere.ini', lambda path: path.symlink_to('nothing')), ('folder.ini', pathlib.Path.mkdir)):
        if make:
            make(folder / name)
        expect_exit(new(folder, *EXAMPLE, '-o', name), BAD_INPUT,
                    'is a directory' if name == 'folder.ini' else 'already exists and is not overwritten')
    expect(there.read_text() == 'mine\n' and not (folder / 'nothing').exists(), 'written over')


def test_cannot_write(folder):
    if os.geteuid() == 0 and not pathlib.Path('/proc/self').is_dir():
        raise Skip('no folder that root cannot write to')
    where = folder / 'read-only'
    where.mkdir(mode=0o555)
    place = pathlib.Path('/proc/self/new.ini') if os.geteuid() == 0 else where / 'new.ini'
    expect_exit(new(folder, *EXAMPLE, '-o', place), MACHINE_FAILED, f"cannot write '{place}'")


# ---- on a terminal

def talk(folder, *answers, arguments=(), by_key=False):
    return asked('new', *arguments, '--data', ROOT / 'data', answers=answers, cwd=folder, by_key=by_key)


def test_asks(folder):
    """Defaults, completion, a list, prices with and without a unit; then the same as with arguments."""
    status, said = talk(folder, '?', 'mi355x-2 nonsense', 'mi355x-2, b200', 'llama-3.1-4', '0', '640', '', '42000',
                        '0.1 EUR', '0.1', 'asked.ini')
    expect(status == DONE, said)
    for words in ('gb300-nvl72', "unknown accelerator 'nonsense'", 'Model (? lists them)', 'at least 1', 'pr031',
                  'Electricity price [0.1437 USD/kWh]', 'costs least per output token', 'wrote asked.ini'):
        expect(words in said, f'{words!r} is not in\n{said}')
    by_arguments = drafted(folder, *EXAMPLE, '--set', 'b200.list_price=42000 USD/gpu', '--set',
                           'electricity_price=0.1 USD/kWh')
    expect((folder / 'asked.ini').read_text() == by_arguments.read_text(), 'asked, it is another file')
    expect_exit(run('report', folder / 'asked.ini', '-q', '-o', folder / 'asked.xlsx'), DONE)


def test_pairs_asked(folder):
    """Each pair through the questions, like through arguments, to a workbook."""
    for number, (one, other, model) in enumerate(PAIRS):
        name = f'pair-{number}.ini'
        status, said = talk(folder, f'{one} {other}', model, '64', '', '', '', name)
        expect(status == DONE and 'error' not in said, said)
        by_arguments = drafted(folder, one, other, '--model', model, '--count', 64)
        expect((folder / name).read_text() == by_arguments.read_text(), f'{one}, {other}: asked, it is another file')
        expect_exit(run('report', folder / name, '-o', folder / f'{name}.xlsx', '-q', '--draws', 1000), DONE)


TAB, BACK, LINE, WORD, LEFT = '\t', '\x7f', '\x15', '\x17', '\x1b[D'
KEYS = [  # typed for the accelerators, what the terminal shows, what is drafted
    (f'mi35{TAB}5{TAB}b20{TAB}', ('mi355x-288 b200-sxm-180',), 'mi355x-288 b200-sxm-180'),
    (f'h200{TAB}', ('h200-sxm-141', 'h200-nvl-141', 'h200-'), None),
    (f'nothing{LINE}MI300{TAB}', ('mi300x-192',), 'mi300x-192'),
    (f'mi300x h200x{BACK}{WORD}{LEFT}h10{BACK}00-p{TAB}', ('h100-pcie-80',), 'mi300x-192 h100-pcie-80'),
    (f'zz{TAB}{BACK}{BACK}é{BACK}b300', (), 'b300-sxm-288'),
    ('', (), 'mi355x-288 b200-sxm-180'),
]


def test_keys(folder):
    """Tab completes a name, lists several, and the line can be deleted; an empty one is the default."""
    for number, (typed, shown, drafted_names) in enumerate(KEYS):
        name = f'keys-{number}.ini'
        rest = ('llama-2-70b', '64', *[''] * (len(drafted_names.split()) if drafted_names else 0), '', name)
        status, said = talk(folder, typed, *rest, by_key=True)
        for words in shown:
            expect(words in said, f'{typed!r}: no {words!r} in\n{said}')
        if drafted_names:
            expect(status == DONE, said)
            found = [keys['accelerator'] for section, keys in sections(folder / name).items() if 'accelerator' in keys]
            expect(found == drafted_names.split(), f'{typed!r}: {found}')


def test_ends_early(folder):
    """Input that ends, or is not text, leaves nothing behind."""
    for answers, words in (((), 'the input ended'), (('b200',), 'the input ended'),
                           (('b200', 'llama-2-70b', '8'), 'the input ended'),
                           (('b200', 'llama\udcff'), 'the input is not UTF-8')):
        empty = pathlib.Path(tempfile.mkdtemp(dir=folder))
        status, said = talk(empty, *answers)
        expect(status == BAD_INPUT and f'{words}' in said and 'nothing is written' in said, said)
        expect(not list(empty.iterdir()), 'a file is left')


if __name__ == '__main__':
    run_tests(globals())
