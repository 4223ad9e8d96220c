#!/usr/bin/python3
"""Impossible figures: throughputs above the roofline, prices far from the catalogue's.

    check_plausibility.py

Rooflines are computed here from data/ alone. Slightly below one there is no message; slightly above, a
typed figure is refused at its place, and one with a source gets a warning. PERTOKEN names the program.
"""
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DONE, NO, ROOT, expect, run, run_json, table

HEAD = '''[scenario]
title = T
date = 2026-11-22
[common]
accelerators = 72
electricity_price = 0.08 USD/kWh
pue = 1.25
utilization = 70 %
load_power = 500 W
[workload]
'''


PARTS, MODELS, PRICES = table('accelerators'), table('models'), table('prices')
BITS = {'bf16': 16, 'fp8': 8, 'fp4': 4 + 8 / 16, 'mxfp4': 4 + 8 / 32}


def computing(part, model, peak, computed=1.0):
    """token/s: dense peak over two operations per parameter that a token is multiplied with."""
    return float(PARTS[part][peak]) * 1e12 / (2 * 1e9 * float(MODELS[model]['matmul_active_params_b']) * computed)


def reading(part, model, precision, batch, context):
    """token/s: a step reads the weights of a token, and keys and values in 8 bits."""
    weights = 1e9 * float(MODELS[model]['matmul_active_params_b']) * BITS[precision] / 8
    cache = context * float(MODELS[model]['kv_bytes_per_token_16bit']) / 2
    return float(PARTS[part]['memory_bw_tbs']) * 1e12 / (weights + batch * cache) * batch


B200, H100, MI355X = 'b200-sxm-180', 'h100-sxm5-80', 'mi355x-288'
LLAMA, LLAMA405, MIXTRAL = 'llama-2-70b', 'llama-3.1-405b', 'mixtral-8x7b'
LIMITS = [  # name, accelerator, workload, input, its limit in token/s
    ('405B in fp4', B200, {'model': LLAMA405, 'precision': 'fp4'}, 'throughput',
     computing(B200, LLAMA405, 'dense_fp4_tflops')),
    ('fp8', H100, {'model': LLAMA, 'precision': 'fp8'}, 'throughput', computing(H100, LLAMA, 'dense_fp8_tflops')),
    ('no units for fp4: widened', H100, {'model': LLAMA, 'precision': 'mxfp4'}, 'throughput',
     computing(H100, LLAMA, 'dense_fp8_tflops')),
    ('experts of one token', MI355X, {'model': MIXTRAL, 'precision': 'bf16'}, 'throughput',
     computing(MI355X, MIXTRAL, 'dense_bf16_tflops')),
    ('no precision: the fastest', B200, {'model': LLAMA}, 'throughput', computing(B200, LLAMA, 'dense_fp4_tflops')),
    ('sparse weights', B200, {'model': LLAMA, 'precision': 'fp4', 'sparsity': 'sparse'}, 'throughput',
     2 * computing(B200, LLAMA, 'dense_fp4_tflops')),
    ('prefill counts', B200, {'model': LLAMA, 'precision': 'fp8', 'input_tokens': '8192 token',
                              'output_tokens': '1024 token'}, 'throughput',
     computing(B200, LLAMA, 'dense_fp8_tflops', 9)),
    ('all tokens count', B200, {'model': LLAMA, 'precision': 'fp8', 'tokens': 'total', 'input_tokens': '8192 token',
                                'output_tokens': '1024 token'}, 'throughput',
     computing(B200, LLAMA, 'dense_fp8_tflops')),
    ('decoding is reading', B200, {'model': LLAMA, 'precision': 'fp8', 'batch': 4, 'context': 4096},
     'decode_throughput', reading(B200, LLAMA, 'fp8', 4, 4096)),
    ('decoding at a large batch', B200, {'model': LLAMA, 'precision': 'fp8', 'batch': 4000},
     'decode_throughput', computing(B200, LLAMA, 'dense_fp8_tflops')),
]


def scenario(folder, part, workload, option):
    path = Path(folder) / 's.ini'
    said = ''.join(f'{key} = {value}\n' for key, value in workload.items())
    path.write_text(f'{HEAD}{said}[option o]\naccelerator = {part}\n{option}', encoding='utf-8')
    return path


def is_held(folder, part, workload, name, limit):
    def option(share, more=''):
        return f'list_price = 30000 USD\n{name} = {limit * share!r} token/s\n{more}'

    above = run('compare', scenario(folder, part, workload, option(1.0001)))
    expect(above.returncode == BAD_INPUT and f'{name} = ' in above.stderr and '^' in above.stderr and
           f'is more than {part} can' in above.stderr, above.stderr)
    below = run_json('compare', scenario(folder, part, workload, option(0.9999)))
    expect('is more than' not in str(below['options'][0]['warnings']), below['options'][0]['warnings'])
    sourced = run_json('compare', scenario(folder, part, workload, option(1.0001, f'{name}.source = a vendor\n')))
    expect('is more than' in str(sourced['options'][0]['warnings']), sourced['options'][0]['warnings'])


def in_every_case(folder):
    text = 'list_price = 30000 USD\nthroughput = 100 token/s\n[case fast]\no.throughput = 90000 token/s\n'
    done = run('compare', scenario(folder, B200, {'model': LLAMA405, 'precision': 'fp4'}, text))
    expect(done.returncode == BAD_INPUT and 'o.throughput = 90000' in done.stderr, done.stderr)


def said_of_ranges(folder):
    """A range above the roofline is refused, one that extends above it gets a warning; so does what is
    free."""
    workload, limit = {'model': LLAMA, 'precision': 'fp8'}, computing(B200, LLAMA, 'dense_fp8_tflops')
    price = 'list_price = 30000 USD\n'
    for section, line in (('[range]', 'o.throughput = uniform({}, {}) token/s'), ('[free]', 'o.throughput = {} .. {} token/s')):
        typed = f'throughput = {0.5 * limit} token/s\n' if section == '[range]' else ''
        for low, high, status in ((0.2, 0.9, ''), (0.2, 1.1, 'warned'), (1.1, 1.2, 'refused')):
            text = price + typed + section + '\n' + line.format(low * limit, high * limit) + '\n'
            done = run('compare', scenario(folder, B200, workload, text), '-q', '--format', 'json')
            refused = 'the whole range of throughput, from' in done.stderr and f'more than {B200} can compute' in done.stderr
            expect((done.returncode == BAD_INPUT) == (status == 'refused') == refused, (text, done.stderr))
            expect(('throughput may be up to' in done.stdout) == (status == 'warned'), (text, done.stdout[:400]))


def said_of_nothing(folder):
    """A price of 0 decides everything, and no grade tells."""
    def warnings(option):
        text = f'throughput = 3000 token/s\n{option}\n'
        return str(run_json('compare', scenario(folder, H100, {'model': LLAMA}, text))['options'][0]['warnings'])

    free = warnings('list_price = 0 USD')
    lowest = min(float(row['usd_per_gpu_equivalent']) for row in PRICES.values()
                 if row['accelerator'] == H100 and row['price_basis'] == 'purchase')
    expect('list_price is stated as 0, as if it cost nothing' in free, free)
    expect(f'the lowest in the catalogue is {lowest:g} USD/gpu' in free, (free, lowest))
    expect('stated as 0' not in warnings(f'list_price = {lowest} USD'), 'a price')


def said_of_results(folder):
    """A required throughput that cannot be reached is reported as impossible."""
    limit = computing(H100, LLAMA, 'dense_fp8_tflops')
    text = ('list_price = 30000 USD\nthroughput = 1000 token/s\n[option dear]\n'
            f'accelerator = {H100}\nthroughput = 1000 token/s\nlist_price = ')
    for price, status in ((40000, DONE), (30000 * 100, NO)):
        path = scenario(folder, H100, {'model': LLAMA, 'precision': 'fp8'}, f'{text}{price} USD\n')
        done = run('solve', path, '--option', 'dear', '--for', 'throughput', '-q')
        said = ' '.join(done.stdout.split())
        expect(done.returncode == status, (done.returncode, said))
        expect((f'; that is impossible, more than {H100} can compute of {LLAMA} in fp8: {limit:.6g} token/s by its datasheet;'
                in said) == (status == NO), said)


def prices(folder):
    """A quarter of the lowest and four times the highest price of that part in the catalogue."""
    for part in (B200, 'mi325x-256', 'h200-sxm-141', 'mi355x-288'):
        for key, wanted in (('list_price', {'price_basis': 'purchase'}), ('rental_rate', {'category': 'cloud'})):
            known = [float(row['usd_per_gpu_equivalent']) for row in PRICES.values()
                     if row['accelerator'] == part and row['usd_per_gpu_equivalent'] and row['currency'] == 'USD'
                     and all(row[column] == value for column, value in wanted.items())]
            for price, odd in ((min(known) / 4.1, True), (min(known) / 3.9, False), (max(known) * 3.9, False),
                               (max(known) * 4.1, True)):
                unit = 'USD' if key == 'list_price' else 'USD/gpu/h'
                path = scenario(folder, part, {}, f'throughput = 100 token/s\n{key} = {price!r} {unit}\n')
                if key == 'rental_rate':
                    path.write_text(path.read_text().replace('load_power = 500 W\n', ''))
                said = str(run_json('compare', path)['options'][0]['warnings'])
                expect((f'{key}, ' in said and 'in the catalogue' in said) == odd, f'{part} {key} {price}: {said}')


def the_slips(folder):
    """405B at 16,000 token/s on one GPU, and a list price of 2,300 USD."""
    path = scenario(folder, B200, {'model': LLAMA405, 'precision': 'fp4'},
                    'list_price = 2300 USD\nthroughput = 16000 token/s\n')
    done = run('compare', path)
    expect(done.returncode == BAD_INPUT and 'throughput = 16000 token/s' in done.stderr, done.stderr)
    path.write_text(path.read_text().replace('16000', '160'), encoding='utf-8')
    done = run('compare', path)
    expect(done.returncode == DONE and 'list_price, 2300 USD/gpu, is 1/16 of' in ' '.join(done.stdout.split()),
           done.stdout)
    path.write_text(path.read_text().replace('160 token', '9000 token'), encoding='utf-8')
    done = run('compare', path)
    expect(done.returncode == DONE and 'times the highest published' in ' '.join(done.stdout.split()), done.stdout)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for name, part, workload, what, limit in LIMITS:
            count.test(name, is_held, folder, part, workload, what, limit)
        for test in (in_every_case, said_of_ranges, said_of_nothing, said_of_results, prices, the_slips):
            count.test(test.__name__.replace('_', ' '), test, folder)
    count.finish()


if __name__ == '__main__':
    main()
