#!/usr/bin/python3
"""Impossible figures: throughputs above the roofline or far below what is published, prices far from the catalogue's.

    check_plausibility.py

Rooflines are computed here from data/ alone. Slightly below one there is no message; slightly above, a
typed figure is refused at its place, and one with a source gets a warning. PERTOKEN names the program.
"""
import re
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DONE, NO, expect, run, run_json, table

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


PARTS, MODELS, PRICES, API_PRICES = (table(name) for name in ('accelerators', 'models', 'prices', 'api_prices'))
BITS = {'bf16': 16, 'fp8': 8, 'fp4': 4 + 8 / 16, 'mxfp4': 4 + 8 / 32}


def computing(part, model, peak, computed=1.0):
    """token/s: dense peak over two operations per parameter that a token is multiplied with."""
    return float(PARTS[part][peak]) * 1e12 / (2 * 1e9 * float(MODELS[model]['matmul_active_params_b']) * computed)


def reading(part, model, precision, batch, context):
    """token/s: a step reads the weights of a token, and keys and values in 8 bits, at most those in the window."""
    context = min(context, float(MODELS[model]['sliding_window'] or context))
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
    ('int8 without fp8', 'a100-sxm4-80', {'model': LLAMA, 'precision': 'int8'}, 'throughput',
     computing('a100-sxm4-80', LLAMA, 'dense_int8_tops')),
    ('int8 widened', 'b300-sxm-288', {'model': LLAMA, 'precision': 'int8'}, 'throughput',
     computing('b300-sxm-288', LLAMA, 'dense_bf16_tflops')),
    ('int4 as int8', 'a100-sxm4-80', {'model': LLAMA, 'precision': 'int4'}, 'throughput',
     computing('a100-sxm4-80', LLAMA, 'dense_int8_tops')),
    ('experts of one token', MI355X, {'model': MIXTRAL, 'precision': 'bf16'}, 'throughput',
     computing(MI355X, MIXTRAL, 'dense_bf16_tflops')),
    ('no precision: the fastest', B200, {'model': LLAMA}, 'throughput', computing(B200, LLAMA, 'dense_fp4_tflops')),
    ('sparse weights', B200, {'model': LLAMA, 'precision': 'fp4', 'sparsity': 'sparse'}, 'throughput',
     2 * computing(B200, LLAMA, 'dense_fp4_tflops')),
    ('decoding is reading', B200, {'model': LLAMA, 'precision': 'fp8', 'batch': 4, 'context': 4096},
     'decode_throughput', reading(B200, LLAMA, 'fp8', 4, 4096)),
    ('decoding within a window', H100, {'model': 'mistral-7b', 'precision': 'fp8', 'batch': 64, 'context': 32768},
     'decode_throughput', reading(H100, 'mistral-7b', 'fp8', 64, 4096)),
    ('decoding at a large batch', B200, {'model': LLAMA, 'precision': 'fp8', 'batch': 4000},
     'decode_throughput', computing(B200, LLAMA, 'dense_fp8_tflops')),
]

LONG = {'model': LLAMA, 'precision': 'fp8', 'input_tokens': '8192 token', 'output_tokens': '1024 token'}
TOTAL = {**LONG, 'tokens': 'total'}
ALL_FP8 = computing(B200, LLAMA, 'dense_fp8_tflops')


def cached(plain, highest):
    """A rate of `share` times the limit without a cache: the share of the input that is not computed."""
    return lambda share: f'unless {100 * (plain - plain / share) / (plain - highest):.3g} % of the input comes from a cache'


# Name, workload, input, the limit without a cache or speculation, the one with it, and what makes a rate possible.
POSSIBLE = [
    ('prompts from a cache', LONG, 'throughput', ALL_FP8 / 9, ALL_FP8, cached(9, 1)),
    ('all tokens, prompts from a cache', TOTAL, 'throughput', ALL_FP8, ALL_FP8 * 9, cached(1, 1 / 9)),
    ('all tokens of unknown lengths', {'model': LLAMA, 'precision': 'fp8', 'tokens': 'total'}, 'throughput', ALL_FP8,
     None, cached(1, 0)),
    ('several tokens a step', {'model': LLAMA, 'precision': 'fp8', 'batch': 4, 'context': 4096, 'speculation': 'mtp'},
     'decode_throughput', reading(B200, LLAMA, 'fp8', 4, 4096), ALL_FP8,
     lambda share: f'unless a step yields {share:.3g} tokens'),
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


def is_possible(folder, workload, name, plain, highest, reason):
    """Between the two limits a typed rate gets a warning that says what it takes; above the higher one it is refused."""
    def option(rate):
        return f'list_price = 30000 USD\n{name} = {rate!r} token/s\n'

    for share in (0.9999, 1.0001, 1.5, 2.64, 0.9999 * (highest or 50 * plain) / plain):
        said = str(run_json('compare', scenario(folder, B200, workload, option(plain * share)))['options'][0]['warnings'])
        expect('is more than' not in said if share < 1 else f'{plain:.6g} token/s by its datasheet, {reason(share)}' in said,
               (share, said))
    if highest:
        done = run('compare', scenario(folder, B200, workload, option(1.0001 * highest)))
        expect(done.returncode == BAD_INPUT and f'{highest:.6g} token/s by its datasheet; check' in done.stderr, done.stderr)


def counting_hits(folder):
    """A prefill rate that counts tokens from the cache is that many times what is computed."""
    for includes, times in (('no', 1), ('yes', 10)):
        for share, refused in ((0.9999, False), (1.0001, True)):
            option = (f'list_price = 30000 USD\ndecode_throughput = 1500 token/s\ncache_hit = 90 %\n'
                      f'prefill_throughput = {ALL_FP8 * times * share!r} token/s\nprefill_includes_hits = {includes}\n')
            done = run('compare', scenario(folder, B200, LONG, option), '-q')
            expect((done.returncode == BAD_INPUT) == refused == ('can compute' in done.stderr), (includes, share, done.stderr))
            expect('can compute' not in done.stdout, done.stdout)


def is_unknown(folder):
    """Where the peak in int8 is unknown, no rate in it is refused."""
    part, = (id for id, row in PARTS.items() if id == 'gaudi3-128')
    expect(not PARTS[part]['dense_int8_tops'] and PARTS[part]['dense_bf16_tflops'], PARTS[part])
    option = 'list_price = 30000 USD\nthroughput = 90000 token/s\n'
    done = run('compare', scenario(folder, part, {'model': LLAMA, 'precision': 'int8'}, option))
    expect('can compute' not in done.stderr, done.stderr)
    done = run('compare', scenario(folder, part, {'model': LLAMA, 'precision': 'bf16'}, option))
    expect('can compute' in done.stderr, done.stderr)


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


RENTED = 'throughput = 3000 token/s\n{} = {} USD/gpu/h\n'
SHARED = 'reserved_share = 50 %\nspot_share = 50 %\nrental_rate = 2 USD/gpu/h\n' + RENTED
BOUGHT = 'list_price = 30000 USD\ndemand = 100000 Mtok/yr\n' + RENTED
API = '{} = {} USD/Mtok\ndemand = 100000 Mtok/yr\n'
# What else an option says, the input, and the columns of the catalogue for it; whether a low price and one of 0 get
# a warning.
OTHER_PRICES = (
    (RENTED, 'on_demand_rate', (), True, True),
    (SHARED, 'spot_rate', (), True, True),
    (BOUGHT, 'burst_rate', (), True, False),
    (API + 'output_price = 0.9 USD/Mtok\n', 'input_price', ('input',), True, True),
    (API + 'output_price = 0.9 USD/Mtok\ninput_price = 0.7 USD/Mtok\n', 'cached_input_price',
     ('input', 'cached_input'), False, True),
    (BOUGHT.replace('USD/gpu/h', 'USD/Mtok'), 'burst_price', ('output',), True, False),
)


def warnings_of(folder, workload, option):
    path = scenario(folder, H100, workload, option)
    if 'output_price' in option:
        path.write_text(path.read_text().replace(f'accelerator = {H100}\n', ''), encoding='utf-8')
    return str(run_json('compare', path)['options'][0]['warnings'])


def other_prices(folder):
    """The other rents, and prices of tokens: far from the catalogue's, or 0."""
    model = 'deepseek-v3'
    for option, key, columns, low_as_well, nothing_as_well in OTHER_PRICES:
        known = [float(row['usd_per_gpu_equivalent']) for row in PRICES.values()
                 if row['accelerator'] == H100 and row['category'] == 'cloud'] if not columns else [
                     float(row[f'{column}_usd_per_mtok']) for row in API_PRICES.values() for column in columns
                     if row['model'] == model and row[f'{column}_usd_per_mtok']]
        workload = {'model': model, 'input_tokens': '1000 token', 'output_tokens': '1000 token'}
        for price, words in ((min(known) / 4.1, low_as_well and f'of the lowest in the catalogue, {min(known):g} '),
                             (min(known) / 3.9, None), (max(known) * 3.9, None),
                             (max(known) * 4.1, f'times the highest in the catalogue, {max(known):g} '),
                             (0, nothing_as_well and f'the lowest in the catalogue is {min(known):g} ')):
            said = warnings_of(folder, workload, option.format(key, repr(price)))
            expect(words in said if words else f"'{key}" not in said, f'{key} = {price}: {said}')


def said_of_nothing(folder):
    """A price of 0 decides everything, and no grade tells."""
    free = warnings_of(folder, {'model': LLAMA}, 'throughput = 3000 token/s\nlist_price = 0 USD\n')
    lowest = min(float(row['usd_per_gpu_equivalent']) for row in PRICES.values()
                 if row['accelerator'] == H100 and row['price_basis'] == 'purchase')
    expect('list_price is stated as 0, as if it cost nothing' in free, free)
    expect(f'the lowest in the catalogue is {lowest:g} USD/gpu' in free, (free, lowest))
    for scaled, words in (('list_price = 30000, 30000 USD\nlist_price_scale = 0 %\n', 'list_price_scale is stated as 0'),
                          ('list_price = 30000 USD\ndiscount = 100 %\n', 'discount is stated as 100 %')):
        free = warnings_of(folder, {'model': LLAMA}, f'throughput = 3000 token/s\n{scaled}')
        expect(f'{words}, as if it cost nothing' in free, free)
    at_lowest = f'throughput = 3000 token/s\nlist_price = {lowest} USD\n'
    expect('stated as 0' not in warnings_of(folder, {'model': LLAMA}, at_lowest), 'a price')


# A report's currency, a list by year, and the warning about it.
LISTS = {
    'in USD': ('JPY', 0.0067, 'list_price = 35000, 33000 USD', None),
    'in USD and too high': ('KWD', 3.25, 'list_price = 35000, 500000 USD', 'list_price, 500000 USD/gpu, is'),
    'in JPY and too low': ('JPY', 0.0067, 'list_price = 35000, 4000000 JPY', 'list_price, 35000 JPY/gpu, is 1/'),
    'one year too low': ('USD', 1, 'list_price = 30000, 300 USD', 'list_price, 300 USD/gpu, is 1/'),
    'one year too high': ('USD', 1, 'list_price = 30000, 3000000 USD', 'list_price, 3000000 USD/gpu, is'),
    'a year for nothing': ('USD', 1, 'list_price = 30000, 0 USD', 'list_price is stated as 0'),
    'a year of its own': ('USD', 1, 'list_price = 30000, 29000 USD\nlist_price_year_2 = 290 USD',
                          'list_price, 290 USD/gpu, is 1/'),
    'power': ('JPY', 0.0067, 'list_price = 35000 USD\nelectricity_price = 0.08, 0.10 USD/kWh', None),
    'power too cheap': ('USD', 1, 'list_price = 35000 USD\nelectricity_price = 0.08, 0.0008 USD/kWh',
                        'electricity_price, 0.0008 USD/kWh, is 1/'),
}


def lists_by_year(folder):
    """The lowest and the highest of all years, in the currency that they are stated in."""
    for name, (currency, rate, text, words) in LISTS.items():
        path = scenario(folder, H100, {}, f'throughput = 100 token/s\n{text}\n')
        head = '' if currency == 'USD' else (f'currency = {currency}\nexchange_rate = {rate} USD/{currency}\n'
                                             'exchange_rate.source = a plan\nexchange_rate.date = 2026-11\n')
        path.write_text(path.read_text().replace('[common]', f'{head}[common]', 1), encoding='utf-8')
        said = str(run_json('compare', path)['options'][0]['warnings'])
        expect(words in said if words else 'in the catalogue' not in said and 'published' not in said, f'{name}: {said}')
        expect(not re.search(r'[1-9][\d.]{6,}[1-9] \w+/', said), f'{name}: more digits than a price has: {said}')


def watts(folder):
    """Those of prefill and of decoding, each beside the TDP."""
    rates = ('list_price = 30000 USD\ndecode_throughput = 1000 token/s\nprefill_throughput = 9000 token/s\n'
             'input_tokens = 100 token\noutput_tokens = 100 token\n')
    for key in ('load_power', 'prefill_power'):
        for power, words in (('70 kW', f'{key}, 70000 W/gpu, is 100 times the TDP, 700 W/gpu ({H100})'),
                             ('7 W', f'{key}, 7 W/gpu, is 1/100 of the TDP'), ('1000 W', None), ('80 W', None)):
            said = warnings_of(folder, {'model': LLAMA}, f'{rates}{key} = {power}\n')
            expect(words in said if words else 'TDP' not in said, f'{key} = {power}: {said}')


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


def said_of_results_with_a_cache(folder):
    """A required throughput that takes cached prompts is possible, and says so."""
    path = scenario(folder, H100, LONG, 'list_price = 30000 USD\nthroughput = 1000 token/s\n[option dear]\n'
                    f'accelerator = {H100}\nthroughput = 1000 token/s\nlist_price = 90000 USD\n')
    done = run('solve', path, '--option', 'dear', '--for', 'throughput', '-q')
    said, limit = ' '.join(done.stdout.split()), computing(H100, LLAMA, 'dense_fp8_tflops', 9)
    expect(done.returncode == DONE and 'impossible' not in said and
           f'; that is more than {H100} can compute of {LLAMA} in fp8: {limit:.6g} token/s by its datasheet, unless ' in said,
           said)


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


THROUGHPUTS = table('throughput')
OURS, THEIRS = 'mi325x-256', 'h200-sxm-141'


def published(part, scenario):
    return [float(row['tokens_per_s_per_gpu']) for row in THROUGHPUTS.values()
            if (row['accelerator'], row['model'], row['precision'], row['scenario'], row['token_basis'], row['doubt']) ==
            (part, LLAMA, 'fp8', scenario, 'output', '')]


SERVER = {'scenario': 'server'}
# What the workload says, the shares of the lowest and the highest published figure that are typed for the two options,
# and which of them gets a warning. OURS is the baseline.
LOW = [
    ('a digit is missing', {}, 0.1, 0.9, 'ours', ''),
    ('a digit of the other is missing', {}, 1, 0.1, 'theirs', ''),
    ('within the factor', {}, 0.25, 0.9, None, ''),
    ('both at a small batch', {'batch': 1}, 0.03, 0.025, None, ''),
    ('both at a long context', {'context': 128000}, 0.04, 0.12, None, ''),
    ('a small batch of one only', {}, 0.1, 0.9, None, 'batch = 4\n'),
    ('a benchmark by its name', SERVER, 0.24, 0.05, 'both', ''),
    ('a benchmark, within the factor', SERVER, 0.26, 0.26, None, ''),
    ('a benchmark at another pace', {**SERVER, 'interactivity': '50 token/s'}, 0.24, 0.2, None, ''),
    ('a benchmark at a small batch', {**SERVER, 'batch': 4}, 0.1, 0.1, None, ''),
    ('a benchmark with long requests', {**SERVER, 'input_tokens': '4000 token', 'output_tokens': '300 token'}, 0.1, 0.1, None, ''),
]


def low_throughput(folder, workload, ours, theirs, warned, more):
    of = workload.get('scenario', 'offline')
    text = (f'throughput = {ours * min(published(OURS, of))!r} token/s\nlist_price = 20000 USD\n{more}[option theirs]\n'
            f'accelerator = {THEIRS}\nthroughput = {theirs * max(published(THEIRS, of))!r} token/s\nlist_price = 30000 USD\n')
    path = scenario(folder, OURS, {'model': LLAMA, 'precision': 'fp8', **workload}, text)
    path.write_text(path.read_text().replace('[option o]', '[option ours]').replace('load_power = 500 W', 'load_power = 700 W'))
    said = {option['id']: [one for one in option['warnings'] if 'of the lowest published' in one]
            for option in run_json('compare', path, '--mixed')['options']}
    wanted = {'both': {'ours', 'theirs'}, None: set()}.get(warned, {warned})
    expect({option for option, lines in said.items() if lines} == wanted, said)
    for option in wanted:
        part = OURS if option == 'ours' else THEIRS
        expect(f'{min(published(part, of)):.5g} token/s/gpu' in said[option][0], said)


def low_for_all(folder):
    """A throughput that is stated for all options is a placeholder, or an assumption about all of them."""
    text = 'list_price = 20000 USD\n[option theirs]\naccelerator = l40s-48\nlist_price = 9000 USD\n'
    path = scenario(folder, OURS, {'model': LLAMA, 'precision': 'fp8'}, text)
    path.write_text(path.read_text().replace('[workload]', 'throughput = 400 token/s\n[workload]'))
    said = str(run_json('compare', path)['options'][0]['warnings'])
    expect('lowest published' not in said, said)


# [range], further arguments, and what is said of it; the price is 30,000 USD, electricity 0.08 USD/kWh.
OUTSIDE = [
    ('electricity_price = uniform(0.09, 0.14) USD/kWh', (),
     'electricity_price, 0.08 USD/kWh, is outside its range from 0.09 USD/kWh to 0.14 USD/kWh ({}:{}:1)'),
    ('electricity_price = uniform(0.08, 0.14) USD/kWh', (), ''),
    ('electricity_price = uniform(0.09, 0.14) USD/kWh', ('--set', 'electricity_price=0.08 USD/kWh'), ''),
    ('electricity_price = uniform(0.09, 0.14) USD/kWh', ('--case', 'dear'), ''),
    ('o.list_price = discrete(20000: 1, 29999: 1) USD', (),
     'list_price, 30000 USD/gpu, is outside its range from 20000 USD/gpu to 29999 USD/gpu ({}:{}:1)'),
    ('o.list_price = uniform(80, 95) %', (), 'list_price, 100 %, is outside its range from 80 % to 95 % ({}:{}:1)'),
    ('o.list_price = uniform(80, 100) %', (), ''),
    ('pue = normal(1.4, 0.1, 1.3, 1.5)', (), 'pue, 1.25, is outside its range from 1.3 to 1.5 ({}:{}:1)'),
    ('pue = normal(1.9, 0.1)', (), ''),
]


def outside_its_range(folder, ranged, arguments, wanted):
    path = scenario(folder, B200, {'model': LLAMA}, 'list_price = 30000 USD\nthroughput = 100 token/s\n'
                    f'[case dear]\nelectricity_price = 0.2 USD/kWh\n[range]\n{ranged}\n')
    line = path.read_text(encoding='utf-8').splitlines().index(ranged) + 1
    said = [one for one in run_json('compare', path, *arguments)['options'][0]['warnings'] if 'outside' in one]
    expect(said == ([wanted.format(path, line)] if wanted else []), said)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for name, part, workload, what, limit in LIMITS:
            count.test(name, is_held, folder, part, workload, what, limit)
        for name, *case in POSSIBLE:
            count.test(name, is_possible, folder, *case)
        for test in (counting_hits, is_unknown, in_every_case, said_of_ranges, said_of_nothing, said_of_results,
                     said_of_results_with_a_cache, prices, other_prices, lists_by_year, watts, the_slips):
            count.test(test.__name__.replace('_', ' '), test, folder)
        for name, *case in LOW:
            count.test(name, low_throughput, folder, *case)
        count.test('low for all', low_for_all, folder)
        for ranged, *more in OUTSIDE:
            count.test(' '.join([ranged, *more[0]]), outside_its_range, folder, ranged, *more)
    count.finish()


if __name__ == '__main__':
    main()
