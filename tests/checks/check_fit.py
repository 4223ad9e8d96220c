#!/usr/bin/python3
"""What fits where, rent or own, and the refusal of comparisons of different workloads, as users run them.

    check_fit.py

Memory is recomputed from the catalogue's columns; a break-even that rent names must be one when it is
typed in; every key that makes throughputs incomparable is refused, or marked on every face. PERTOKEN
names the program.
"""
import csv
import io
import json
import math
import pathlib
import tempfile
import zipfile

from support.program import BAD_INPUT, Count, DONE, NO, ROOT, near, run, run_json, table

RENT, RATE, SPLIT = (f'examples/{name}.ini' for name in
                     ('rent-or-own', 'interactive', 'input-output'))
BITS = {'fp32': 32, 'bf16': 16, 'fp8': 8, 'mxfp4': 4.25, 'fp4': 4.5, 'int4': 4.125}
SHARE, CHUNK, CONTEXT = 0.9, 8192, 4096
PCIE = '''\
[scenario]
title = A card whose driver's memory is unknown
date = 2026-11-20
[workload]
model = llama-3.1-8b
precision = fp8
context = 4096
utilization = 70 %
[common]
accelerators = 8
accelerators_per_node = 8
pue = 1.25
electricity_price = 0.08 USD/kWh
list_price = 20000 USD
throughput = 1000 token/s
[option pcie]
accelerator = h100-pcie-80
'''
count = Count()
check = count.check


def answers(*arguments, status=DONE):
    return run_json(*arguments, statuses=(status,))['answers']


def rows(answer, table):
    return answer['tables'][table]['rows']


def number(row, column):
    return float(row[column] or 0)


# ---- memory, recomputed

def kv_bytes(model, context):
    """From the table's own bytes per token. A layer with a window keeps no more than that: all layers of Mistral and
    Phi-3, every other one of gpt-oss."""
    layers, window, every = (number(model, column) for column in ('layers', 'sliding_window', 'full_attention_every'))
    whole = layers if not window else math.floor(layers / every) if every else 0
    tokens = whole * context + (layers - whole) * min(context, window)
    return number(model, 'kv_bytes_per_token_16bit') / layers * tokens


def usable_bytes(accelerator):
    """What its driver reports, or else the datasheet's, a lower bound."""
    return number(accelerator, 'usable_bytes') or number(accelerator, 'memory_gb') * 1e9


def parts(model, precision):
    """Bytes of a copy: of the experts' matrices, and of the rest, with embeddings and head in 16 bits. gpt-oss is
    published with only its experts in MXFP4, which a benchmark calls FP4."""
    matrices = 2 if model['mlp_kind'] == 'gelu' else 3
    experts = (number(model, 'layers') - number(model, 'first_dense_layers')) * number(model, 'experts') * \
        matrices * number(model, 'hidden') * number(model, 'ffn_hidden')
    embeddings = (1 if model['tied_embeddings'] == '1' else 2) * number(model, 'vocab') * number(model, 'hidden')
    others = number(model, 'params_b') * 1e9 - experts - embeddings
    as_shipped = model['shipped_parts'] == 'experts' and precision in ('fp4', model['shipped_precision'])
    bits = BITS[model['shipped_precision']] if as_shipped else BITS[precision]
    return experts * bits / 8, (others * (16 if as_shipped else bits) + embeddings * 16) / 8


def row_bytes(model, n):
    """Activations of one token, on each of n accelerators that divide heads and MLP."""
    latent = model['attention_kind'] == 'mla'
    experts = number(model, 'experts_per_token') + number(model, 'shared_experts')
    ffn = max(number(model, 'ffn_hidden') * (experts or 1), number(model, 'dense_ffn_hidden'))
    heads = 2 * number(model, 'heads') + (0 if latent else 2 * number(model, 'kv_heads'))
    divided = heads * number(model, 'head_dim') + (1 if model['mlp_kind'] == 'gelu' else 2) * ffn
    return 2 * (3 * number(model, 'hidden') + divided / n)


def requests_in(room, row, each):
    requests = (room - CHUNK * row) / each
    return max(math.floor(requests if requests <= CHUNK else room / (each + row)), 0)


def tensor(model, precision, memory, n):
    """Tensor parallelism: heads are divided, and the latent of MLA is on every accelerator."""
    heads, kv_heads = number(model, 'heads'), number(model, 'kv_heads')
    latent = model['attention_kind'] == 'mla'
    if heads % n or not latent and kv_heads % n and n % kv_heads:
        return 0
    room = n * memory * SHARE - sum(parts(model, precision))
    share = 1 if latent else 1 / min(n, kv_heads)
    return requests_in(room, n * row_bytes(model, n), n * kv_bytes(model, CONTEXT) * share + 4 * number(model, 'vocab'))


def attention(model, precision, memory, n, domain):
    """Attention data parallelism: experts are divided, all else is on every accelerator, as are its own requests."""
    count = number(model, 'experts')
    if not 1 < n <= count or count % n and n % domain:
        return 0
    experts, rest = parts(model, precision)
    room = memory * SHARE - rest - experts * math.ceil(count / n) / count
    return n * requests_in(room, row_bytes(model, 1), kv_bytes(model, CONTEXT) + 4 * number(model, 'vocab'))


def concurrency(model, precision, memory, n, domain):
    return max(tensor(model, precision, memory, n), attention(model, precision, memory, n, domain))


def check_memory():
    """The whole catalogue: the parameter counts, which the table rounds, leave one request open."""
    models, accelerators = table('models'), table('accelerators')
    listed = rows(answers('fit')[0], 'fits')
    sized = [a for a in accelerators.values() if a['memory_gb']]
    check('every model on every accelerator', len(listed) == 3 * len(models) * len(sized), len(listed))
    for row in listed:
        model, accelerator = models[row['model']], accelerators[row['accelerator']]
        memory, name = usable_bytes(accelerator), (row['model'], row['accelerator'], row['precision'])
        most = int(number(accelerator, 'scale_up_domain') or number(accelerator, 'gpus_per_node') or 8)
        counts = {n: concurrency(model, row['precision'], memory, n, most) for n in range(1, most + 1)}
        holding = [n for n, count in counts.items() if count >= 1]
        check(f'fewest {name}', row['accelerators'] == (holding[0] if holding else None), (row, holding[:1]))
        if not holding:
            continue
        n, (experts, rest) = holding[0], parts(model, row['precision'])
        copies = n if attention(model, row['precision'], memory, n, most) > tensor(model, row['precision'], memory, n) else 1
        weights = (experts + copies * rest) / 1e9
        best = max(most // n * count for n, count in counts.items())
        check(f'weights {name}', near(row['weights'], weights, 1e-3), (row, weights))
        check(f'left {name}', near(row['left'], n * memory / 1e9 - weights, 1e-2), row)
        for column, wanted in (('concurrency', counts[n]), ('concurrency_most', best)):
            check(f'{column} {name}', near(row[column], wanted, 2e-3) or abs(row[column] - wanted) <= max(1, copies),
                  (row, wanted))
        each = row['replica_most']
        check(f'replicas {name}', row['accelerators_most'] == most // each * each, row)


def fit_of(model, accelerator, precision, *more):
    answer, = run_json('fit', '--where', f'model={model}', '--where', f'accelerator={accelerator}', '--where',
                       f'precision={precision}', *more, statuses=(DONE, NO))['answers']
    row, = rows(answer, 'fits')
    return row


def check_records():
    """The probe's own count of what it held, less the cache: also OpenAI's 12.8 and 60.8 GiB."""
    for name in ('gpt-oss-20b-cpu-42ff36e7', 'gpt-oss-120b-cpu-848678dc', 'llama-3.1-8b-cuda-c11128fa',
                 'mistral-7b-cpu-1542b2dc'):
        result = json.loads((ROOT / f'data/measured/{name}.json').read_text())['results'][0]
        held = result['resident_bytes'] - result['batch'] * kv_bytes(table('models')[result['model']['id']], result['context'])
        found = fit_of(result['model']['id'], 'mi355x-288', result['precision'])['weights']
        check(f'as in {name}', near(found, held / 1e9, 0.02), (found, held))
    for model, gib in (('gpt-oss-20b', 12.8), ('gpt-oss-120b', 60.8)):
        found = fit_of(model, 'mi355x-288', 'mxfp4')['weights']
        check(f'as in the card of {model}', near(found, gib * 2 ** 30 / 1e9, 0.01), found)


def check_as_served():
    """What was run fits: as many requests as were in flight with experts divided, with their mean number of tokens (of
    some, only the output is known). The cache is in 8 bits, the fewest that servers have; a latent one in 16, the default."""
    seen, models = 0, table('models')
    for identity, row in table('throughput').items():
        mean = number(row, 'isl') + number(row, 'osl') / 2
        divided = 'expert_parallel' in row['parallelism'] or 'dep=' in row['parallelism']
        if row['model'] not in models or not mean or row['precision'] not in BITS or not divided or \
                not row['batch_or_concurrency'].isdigit():
            continue
        seen += 1
        kv = 'bf16' if models[row['model']]['attention_kind'] == 'mla' else 'fp8'
        held = fit_of(row['model'], row['accelerator'], row['precision'], '--accelerators', row['num_gpus'], '--context',
                      f'{mean:.0f}', '--kv', kv)['concurrency']
        check(f'as served in {identity}', (held or 0) >= number(row, 'batch_or_concurrency'), (row, held))
    check('rows with expert parallelism', seen > 50, seen)


def check_replicas():
    """A domain of 64 or more holds at least what 8 nodes of 8 do, and single accelerators are replicas too."""
    for model, precision in (('llama-3.1-70b', 'bf16'), ('deepseek-v3', 'fp8'), ('qwen3-235b-a22b', 'fp8')):
        all_of_it = fit_of(model, 'mi455x-432', precision)['concurrency_most']
        for n in (1, 2, 4, 8):
            held = fit_of(model, 'mi455x-432', precision, '--accelerators', str(n))['concurrency'] or 0
            check(f'{model} on replicas of {n}', all_of_it >= 64 // n * held, (n, held, all_of_it))
    for accelerator, least in (('h200-sxm-141', 650), ('gb200-nvl72', 30000)):
        row = fit_of('deepseek-v3', accelerator, 'fp8')
        check(f'DeepSeek on {accelerator}', row['concurrency_most'] >= least, row)


def check_published():
    """70B in BF16 needs 140 GB. Of 288 GB that is said to leave 148, but the driver of an MI355X reports 309 GB."""
    found = rows(answers('fit', '--parameters', '70e9', '--where', 'precision=bf16', '--where',
                         'accelerator=mi355x-288')[0], 'fits')
    check('published headroom', [(r['weights'], round(r['left'], 3), r['accelerators']) for r in found] ==
          [(140, 169.221, 1)], found)
    shown = run('fit', '--parameters', '70e9', '--where', 'accelerator=mi355x-288')
    check('on the terminal', '140' in shown.stdout and '169.22' in shown.stdout, shown.stdout)
    check('weights alone hold no request', 'hold the weights' in shown.stdout and 'Users' not in shown.stdout, shown.stdout)


def check_of_a_size(folder):
    """288 of an MI355X are GiB, 288 of a B300 are GB; a part whose driver's figure is unknown is said to have at least
    its datasheet's."""
    where = ('--where', 'model=llama-3.1-405b', '--where', 'precision=fp8')
    users = {}
    for part in ('mi355x-288', 'b300-sxm-288'):
        answer = answers('fit', *where, '--where', f'accelerator={part}')[0]
        users[part] = rows(answer, 'fits')[0]['concurrency']
        check(f'{part}: known', not answer['warnings'], answer)
    check('288 GiB and 288 GB', users['mi355x-288'] > users['b300-sxm-288'], users)
    said = answers('fit', *where, '--where', 'accelerator~h200')[0]['warnings']
    check('unknown', len(said) == 1 and 'a lower bound, where what the driver reports is unknown' in said[0] and
          'h200-nvl-141' in said[0] and 'h200-sxm-141' not in said[0], said)
    path = pathlib.Path(folder, 'pcie.ini')
    path.write_text(PCIE, encoding='utf-8')
    said = answers('fit', path)[0]['warnings']
    check('an option', any(text.startswith("pcie: the memory of h100-pcie-80 is its datasheet's, a lower bound")
                           for text in said), said)


def check_choices():
    narrow = rows(answers('fit', '--where', 'model=llama-3.1-8b', '--where', 'vendor=AMD', '--where',
                          'precision~fp')[0], 'fits')
    check('where', {r['precision'] for r in narrow} == {'fp8', 'fp4'} and
          all(r['accelerator'].startswith('mi') for r in narrow), narrow)
    int4 = rows(answers('fit', '--where', 'precision=int4', '--where', 'model=qwen3-32b')[0], 'fits')
    check('another precision', int4 and {r['precision'] for r in int4} == {'int4'}, int4[:1])
    where = ('--where', 'model=llama-3.1-70b', '--where', 'accelerator=mi300x-192', '--where', 'precision=fp8')
    base, eight, long, thin = (rows(answers('fit', *where, *more)[0], 'fits')[0]['concurrency']
                               for more in ((), ('--accelerators', '8'), ('--context', '8192'), ('--kv', 'fp8')))
    check('more accelerators, longer requests, a smaller cache', eight > 8 * base and
          near(base, 2 * long, 0.03) and near(thin, 2 * base, 0.03), (base, eight, long, thin))
    no = run('fit', '--where', 'model=llama-3.1-405b', '--where', 'accelerator=l40s-48', '--where', 'precision=bf16')
    check('fits nowhere', no.returncode == NO and '0 of 1' in no.stdout, no)
    text = run('fit', *where, '--format', 'csv').stdout
    values = {row['column']: row['value'] for row in csv.DictReader(io.StringIO(text))}
    check('csv', float(values['concurrency']) == base, text)


# ---- the rate per user

def check_rate(folder):
    throughput = table('throughput')
    points = {float(r['batch_or_concurrency']): 8 * number(r, 'tokens_per_s_per_gpu')
              for i, r in throughput.items() if 'tp0928' <= i <= 'tp0934'}
    for batch, total in list(points.items())[1:-1]:
        target = f'{total / batch!r} token/s'
        settings = ('--set', f'h100.interactivity={target}', '--mixed')
        found = rows(answers('fit', RATE, *settings)[0], 'latency')[0]
        if batch == 8:  # the curve between 8 and 16 is above the rate at 8
            check('the largest batch', 8 < found['batch'] < 16 and found['interactivity'] >= total / 8, found)
        else:
            check(f'measured batch {batch}', found['batch'] == batch and near(found['throughput'], total / 8),
                  (found, total))
    between = rows(answers('fit', RATE)[0], 'latency')
    check('between', all(32 < r['batch'] < 256 and 10 <= r['interactivity'] < 10.2 for r in between), between)
    costs = json.loads(run('compare', RATE, '-q', '--format', 'json').stdout)['options']
    for row, option in zip(between, costs):
        check('costed there', near(option['items']['throughput'], row['throughput']) and
              option['workload']['batch'] == f"{row['batch']:.0f}" and
              option['grades']['throughput'] == 'projected', (row, option['workload'], option['grades']))
    small = folder / 'small.ini'
    small.write_text(f'[scenario]\ninherits = {ROOT / RATE}\n[fit]\ncontext = 40960\nkv = bf16\n')
    done = run('fit', small)
    check('memory and rate', 'the rate allows batch 48, but memory holds' in done.stdout, done.stdout)
    for setting, error in (('30 token/s', 'is above the measured range: 28.04 at batch 4'),
                           ('2 token/s', 'is below the measured range'), ('0 token/s', 'must be above 0'),
                           ('10', 'has no unit'), ('10 W', 'wrong unit')):
        refuse(error, 'fit', RATE, '--set', f'workload.interactivity={setting}')
    refuse('batch along with interactivity', 'fit', RATE, '--set', 'workload.batch=8')
    check_recorded_rate(folder)


MACHINE = """[scenario]
title = This machine
date = 2026-11-22
[workload]
model = tinyllama-1.1b
precision = bf16
scenario = decode
context = 512
interactivity = {} token/s
utilization = 50 %
[option machine]
accelerator = cpu
accelerators = 1
accelerators_per_node = 1
rental_rate = 0.1 USD/gpu/h
"""


def check_recorded_rate(folder):
    """The shipped record's own results: each batch at the rate that it gave a user, over the time of its samples."""
    record = json.loads(next((ROOT / 'data' / 'measured').glob('tinyllama-1.1b-cpu-*.json')).read_text())
    results = {r['batch']: r['batch'] * len(r['samples']) / sum(r['samples']) for r in record['results']
               if r['context'] == 512 and r['precision'] == 'bf16'}
    check('several batches', len(results) > 1, results)
    path = folder / 'machine.ini'
    for batch, rate in results.items():
        path.write_text(MACHINE.format(repr(rate / batch)))
        found = rows(answers('fit', path, '--measurements', 'data/measured')[0], 'latency')[0]
        check(f'recorded batch {batch}', found['batch'] == batch and near(found['throughput'], rate), found)


# ---- throughputs that are not comparable

PAIR = """[scenario]
title = Two of a kind
date = 2026-11-01
[workload]
utilization = 50 %
[common]
accelerators = 8
rental_rate = 1 USD/gpu/h
[option a]
accelerator = h200-sxm-141
throughput = 1000 token/s
{0}
[option b]
accelerator = h100-sxm5-80
throughput = 900 token/s
{1}
[fit]
context = 4096
[rent q]
own = a
on_demand = 2 USD/gpu/h
"""

UNLIKE = [  # key, for a, for b
    ('model', 'llama-3.1-70b', 'llama-3.1-8b'), ('precision', 'fp8', 'bf16'),
    ('activations', 'fp8', 'bf16'), ('kv', 'fp8', 'bf16'), ('sparsity', 'dense', 'sparse'),
    ('scenario', 'offline', 'server'), ('tokens', 'output', 'total'),
    ('interactivity', '40 token/s', '50 token/s'), ('batch', '64', '32'), ('context', '4096', '2048'),
]


def pair(folder, key, left, right):
    path = folder / 'pair.ini'
    own = 'list_price = 30000 USD\nelectricity_price = 0.1 USD/kWh\npue = 1.2\n'
    text = PAIR.format(own + f'{key} = {left}', f'{key} = {right}')
    if key not in ('model', 'precision'):
        text = text.replace('[workload]', '[workload]\nmodel = llama-3.1-70b\nprecision = fp8')
    elif key == 'model':
        text = text.replace('[workload]', '[workload]\nprecision = fp8')
    else:
        text = text.replace('[workload]', '[workload]\nmodel = llama-3.1-70b')
    path.write_text(text)
    return path


def check_guard(folder):
    for key, left, right in UNLIKE:
        path = pair(folder, key, left, right)
        words = f'{key}: {left} and {right}'
        book = folder / 'book.xlsx'
        for command in (['compare'], ['fit'], ['rent'], ['report', '-o', book]):
            refuse(words, command[0], path, *command[1:])
        refuse(words, 'explain', path, 'a.tco')
        for command in (['compare'], ['fit'], ['rent']):
            shown = run(command[0], path, '--mixed', '-q')
            check(f'{command[0]} stamps {key}', f'MIXED: a and b differ in {words}' in ' '.join(shown.stdout.split()),
                  shown.stdout + shown.stderr)
        for what in ('a.tco', 'rent.q'):
            shown = run('explain', path, what, '--mixed', '-q')
            check(f'explain stamps {key}', 'MIXED' in shown.stdout, shown.stdout + shown.stderr)
        result = json.loads(run('compare', path, '--mixed', '-q', '--format', 'json').stdout)
        check(f'json {key}', result['mixed'] and words in result['mixed_reason'], result.get('mixed_reason'))
        run('report', path, '--mixed', '-q', '-o', book)
        with zipfile.ZipFile(book) as parts:
            check(f'workbook {key}', f'MIXED: a and b differ in {words}' in parts.read('xl/sharedStrings.xml').decode(), key)
        alike = pair(folder, key, left, left)
        check(f'alike {key}', run('compare', alike, '-q').returncode == DONE, run('compare', alike).stderr)
    path = pair(folder, 'batch', '64', '64')
    path.write_text(path.read_text().replace('throughput = 900 token/s', 'decode_throughput = 900 token/s'))
    refuse('basis: serving and decode', 'compare', path)
    path.write_text(path.read_text().replace('decode_throughput = 900 token/s', 'throughput = 7200 token/s/node'))
    refuse("wrong unit 'token/s/node'", 'compare', path)
    path.write_text(path.read_text().replace('sparsity', '').replace('7200 token/s/node', '900 token/s') .replace('batch = 64', 'sparsity = thin'))
    refuse("unknown sparsity 'thin': expected dense, sparse", 'compare', path)


# ---- rent or own

def offers(scenario, *settings):
    answer = answers('rent', scenario, *settings)[0]
    return {r['offer']: (r, e) for r, e in zip(rows(answer, 'cost')[1:], rows(answer, 'break_even'))}


def check_rent(folder):
    base = offers(RENT)
    used = 'on demand, hours used'
    check('three offers', list(base) == [used, 'one year', 'three years'], list(base))
    share = base[used][1]['break_even_utilization']
    at = offers(RENT, '--set', f'utilization={share!r} %')[used][0]
    check('on demand at its break-even', abs(at['saving']) < 1e-9, at)
    for offer, key in ((used, 'on_demand'), ('one year', 'one_year'), ('three years', 'three_years')):
        path = folder / 'even.ini'
        text = (ROOT / RENT).read_text().partition('[rent h100]')[0]
        rate = base[offer][1]['break_even_rate']
        path.write_text(f'{text}[rent h100]\n{key} = {rate!r} USD/gpu/h\n')
        even = offers(path)[offer][0]
        check(f'{key} at its break-even rate', abs(even['saving']) < 1e-9 and
              near(even['cost'], base[offer][1]['rate'] * 0 + even['cost']), even)
    option = json.loads(run('compare', RENT, '-q', '--format', 'json').stdout)['options'][0]['items']
    for offer, (cost, even) in base.items():
        check(f'cost of {offer}', near(cost['cost'], cost['rate'] * cost['paid_hours'] + cost['beside']) and
              near(cost['saving'], 100 * (1 - option['tco'] / cost['cost'])) and
              near(cost['cost_per_mtok'], cost['cost'] / option['tokens_total'] * 1e6), cost)
        check(f'month of {offer}', same_month(even['break_even_month'], month_of(option, cost)), (even, month_of(option, cost)))
    check('besides', near(base[used][0]['beside'], option['engineering_total']), base[used][0])


def same_month(shown, counted):
    return shown == 'never' if counted is None else near(shown, counted)


def month_of(option, cost):
    """Month by month until renting has cost the same; then back within the month."""
    gap = option['capex']
    for month in range(36):
        step = option['opex'][1 + month // 12] / 12 - cost['cost'] / 36
        if gap + step <= 0:
            return month + gap / -step
        gap += step
    return None


def check_split():
    option = json.loads(run('compare', SPLIT, '-q', '--format', 'json').stdout)['options'][0]['items']
    for cost in rows(answers('rent', SPLIT)[0], 'cost'):
        tokens = option['tokens_total'] / 1e6
        total = tokens * (cost['cost_per_mtok_input'] + cost['cost_per_mtok_output'])  # as many in as out
        check(f'{cost["offer"]}: the prices add up', near(total, cost['cost']), (total, cost))
    share = 1 / 26200 / (1 / 26200 + 1 / 10100)
    check('by their times', near(option['prefill_share'], 100 * share), option['prefill_share'])


def check_faces(folder):
    answer = answers('rent', RENT)[0]
    text = list(csv.DictReader(io.StringIO(run('rent', RENT, '-q', '--format', 'csv').stdout)))
    flat = {(r['table'], r['row'], r['column']): r['value'] for r in text}
    for row in rows(answer, 'cost'):
        check('csv is json', float(flat['cost', row['offer'], 'cost']) == row['cost'], row)
    shown = run('explain', RENT, 'rent.h100', '-q')
    check('explain', 'pr138: Hyperstack' in ' '.join(shown.stdout.split()) and 'Evidence' in shown.stdout, shown.stdout)
    for command in (('rent', RENT), ('fit', RATE), ('explain', RATE, 'fit.options'), ('rent', RENT, '--for', 'h100')):
        done = run(*command, '-q')
        check(' '.join(command), done.returncode == DONE and done.stdout and not done.stderr, done)
    cloud = folder / 'cloud.ini'
    cloud.write_text(f'[scenario]\ninherits = {ROOT}/examples/cloud.ini\n[option own]\naccelerator = h200-sxm-141\n'
                     'evidence = tp0068\nlist_price = 35000 USD\nelectricity_price = 0.08 USD/kWh\npue = 1.25\n')
    found = rows(answers('rent', cloud)[0], 'cost')
    per_mtok = {o['id']: o['items']['cost_per_mtok']
                for o in json.loads(run('compare', cloud, '-q', '--format', 'json').stdout)['options']}
    alike = next(r for r in found if r['offer'] == 'h200, always')
    check('a rented option of the same accelerator', near(alike['cost_per_mtok'], per_mtok['h200']), alike)


# ---- bad input

def refuse(error, *arguments):
    done = run(*arguments)
    check(f'refused: {" ".join(map(str, arguments))}',
          done.returncode == BAD_INPUT and error in done.stderr and not done.stdout,
          f'exit {done.returncode}, expected "{error}": {done.stderr.strip()}')


def check_bad_input(folder):
    refuse("unknown model 'lama-3.1-8b'; did you mean", 'fit', '--where', 'model=lama-3.1-8b')
    refuse("unknown precision 'fp9'; did you mean", 'fit', '--where', 'precision=fp9')
    refuse("found 'modell'; did you mean 'model'?", 'fit', '--where', 'modell=x')
    refuse('expected --where COLUMN=VALUE', 'fit', '--where', 'model')
    refuse('a whole number', 'fit', '--context', 'many')
    refuse('--context must be within', 'fit', '--context', '0')
    refuse('--parameters takes a number', 'fit', '--parameters', '-1')
    refuse('--kv has no effect with --parameters', 'fit', '--parameters', '70e9', '--kv', 'fp8')
    refuse('no combination matches all of --where', 'fit', '--parameters', '70e9', '--where', 'model=llama-2-70b')
    refuse('after --kv', 'fit', '--kv', 'fp9')
    refuse('needs a scenario', 'fit', '--set', 'a=1')
    refuse('a scenario states them in [fit]', 'fit', RATE, '--context', '100')
    refuse('at most one scenario', 'fit', RATE, RENT)
    refuse('state [fit] context', 'fit', RENT)
    for line, error in (('context = -1', 'positive whole number'), ('kv = fp9', "unknown precision 'fp9'"),
                        ('contxt = 1', "unknown key 'contxt' in [fit]; did you mean 'context'?"),
                        ('memory_share = 120 %', 'at most 100 %'), ('memory_share = 0 %', 'must be above 0')):
        path = folder / 'bad.ini'
        path.write_text(f'[scenario]\ninherits = {ROOT / RENT}\n[fit]\n{line}\n')
        refuse(error, 'fit', path)
    path.write_text(f'[scenario]\ninherits = {ROOT / RENT}\n[fit]\ncontext = 4096\naccelerators = 3\n')
    done = run('fit', path)
    check('does not divide', done.returncode == NO and 'does not fit on 3' in done.stdout, done.stdout)
    refuse('nothing to answer: add', 'rent', 'examples/mi325x-vs-h200.ini')
    refuse("no question 'h1000' for rent; available: h100", 'rent', RENT, '--for', 'h1000')
    refuse("no answer 'h1000' for rent; available: h100", 'explain', RENT, 'rent.h1000')
    for line, error in (('on_demand = 0 USD/gpu/h', 'must be above 0'), ('on_demand = pr136', "not for 'h100-sxm5-80'"),
                        ('one_year = pr138', 'not an hourly rent for one_year'), ('cloud = nobody', "no option 'nobody'"),
                        ('on_demand = pr999', 'expected'), ('', 'has nothing to compare owning with')):
        path.write_text((ROOT / RENT).read_text().partition('[rent h100]')[0] + f'[rent x]\n{line}\n')
        refuse(error, 'rent', path)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_memory()
        check_records()
        check_as_served()
        check_replicas()
        check_published()
        check_of_a_size(folder)
        check_choices()
        check_rate(folder)
        check_guard(folder)
        check_rent(folder)
        check_split()
        check_faces(folder)
        check_bad_input(folder)
    count.finish()


if __name__ == '__main__':
    main()
