#!/usr/bin/python3
"""Compares docs/models.md with data/models.csv and the records of data/measured, and every model's kernels on the
CPU with the oracle.

    check_models.py [NAME...]

The page's tables are made by this file from the catalogue and the records; `--table` prints them. PROBE names the
program.
Deep: every row of the catalogue is verified at a layer or two in the precision that it ships in.
Seconds: 1, deep 300
"""
import csv
import json
import sys

from support.program import Count, DEEP, DONE, PROBE, ROOT, expect, expect_exit, run

PAGE = ROOT / 'docs' / 'models.md'
MODELS = list(csv.DictReader((ROOT / 'data' / 'models.csv').open(newline='')))
TIMEOUT_S = 900


# ---- the table

def attention(row):
    yield {'mha': 'multi-head', 'gqa': f'grouped, {row["kv_heads"]} KV heads', 'mqa': 'one KV head',
           'mla': 'latent'}[row['attention_kind']]
    if row['sliding_window']:
        turn = row['full_attention_every']
        yield f'window {row["sliding_window"]}' + (f', in {turn} layers one is full' if turn else '')
    if row['attention_sinks'] == '1':
        yield 'sinks'
    if row['qk_norm'] == '1':
        yield 'norms of queries and keys'


def mlp(row):
    names = {'swiglu': 'SwiGLU', 'clamped_swiglu': 'clamped SwiGLU', 'gelu': 'GELU without a gate'}
    yield names[row['mlp_kind']]
    if row['experts'] != '0':
        shared = f', {row["shared_experts"]} shared' if row['shared_experts'] != '0' else ''
        yield f'{row["experts_per_token"]} of {row["experts"]} experts{shared}'
    if row['parallel_blocks'] == '1':
        yield 'parallel to attention'


def rest(row):
    if row['norm_kind'] == 'layer':
        yield 'LayerNorm'
    if row['biases'] != 'none':
        yield 'biases: ' + row['biases'].replace(';', ', ')
    if row['rope_scaling'] != 'plain':
        yield {'llama3': 'Llama 3.1 angles', 'yarn': 'YaRN'}[row['rope_scaling']]
    if row['shipped_precision']:
        parts = f' ({row["shipped_parts"]})' if row['shipped_parts'] else ''
        yield f'ships in {row["shipped_precision"]}{parts}'
    if row['excluded_precisions']:
        yield 'not in ' + row['excluded_precisions'].replace(';', ', ')


def table():
    yield '| model | attention | MLP | other |'
    yield '|---|---|---|---|'
    for row in MODELS:
        cells = ('; '.join(part(row)) for part in (attention, mlp, rest))
        yield f'| `{row["id"]}` | ' + ' | '.join(cells) + ' |'


def percent(part):
    return f'{100 * part:.2g} %' if part < 0.1 else f'{100 * part:.0f} %'


def is_part(row, result):
    """Are these layers alone, from which no whole model was extrapolated?"""
    return not result.get('slices') and result['layers_measured'] < int(row['layers'])


def depth_measured(row, result):
    slices = [str(one['layers']) for one in result.get('slices') or []]
    if slices:
        return f'{", ".join(slices[:-1])} and {slices[-1]} of {row["layers"]} layers'
    return f'{result["layers_measured"]} of {row["layers"]} layers' if is_part(row, result) else 'whole'


def recorded():
    """Decode records of AMD processors, which the page is about, at batch 1. A part's rate is not the model's."""
    yield '| model | precision | context | token/s | share of the read bandwidth |'
    yield '|---|---|---|---|---|'
    models = {row['id']: row for row in MODELS}
    for path in sorted((ROOT / 'data' / 'measured').glob('*-cpu-*.json')):
        record = json.loads(path.read_text())
        singles = [one for one in record['results'] if one['batch'] == 1]
        for i, one in enumerate(singles if record['device']['name'].startswith('AMD') else []):
            row = models[one['model']['id']]
            name = f'`{row["id"]}`, {depth_measured(row, one)}' if i == 0 else ''
            half = (one['ci95_high'] - one['ci95_low']) / 2 / one['tokens_per_s']
            rate = '-' if is_part(row, one) else f'{one["tokens_per_s"]:.2f} +-{percent(half)}'
            sure = one.get('share_ci95_high')
            share = f'{100 * one["read_bandwidth_share"]:.1f}' + (
                f' +-{50 * (sure - one["share_ci95_low"]):.1f}' if sure else '')
            yield (f'| {name} | {one["precision"]} | {one["context"]} | {rate} | {share} % |').replace('|  |', '| |')


def test_page_has_the_catalogue_and_the_records():
    shown = [line for line in PAGE.read_text().split('\n') if line.startswith('|')]
    wanted, records = list(table()), list(recorded())
    expect(shown[:len(wanted)] == wanted, 'the table is not the catalogue\'s; check_models.py --table prints it')
    expect(shown[len(wanted):len(wanted) + len(records)] == records,
           'the table is not what the records say; check_models.py --table prints it')


# ---- the kernels

def depth(row):
    """The fewest layers with one of each kind."""
    if int(row['first_dense_layers']):
        return int(row['first_dense_layers']) + 1
    return int(row['full_attention_every'] or 1)


def verify(row):
    precision = row['shipped_precision'] or 'bf16'
    context = int(row['sliding_window'] or 256) + 44  # beyond the window, if there is one
    done = run('run', '--model', row['id'], '--layers', depth(row), '--precision', precision,
               '--context', context, '--verify-only', '-q', program=PROBE, timeout=TIMEOUT_S)
    expect_exit(done, DONE, 'within tolerance')


def main():
    if '--table' in sys.argv:
        print('\n'.join([*table(), '', *recorded()]))
        return
    count = Count()
    names = sys.argv[1:]
    count.test('test_page_has_the_catalogue_and_the_records', test_page_has_the_catalogue_and_the_records)
    for row in MODELS:
        if not (DEEP and not names or row['id'] in names):
            continue
        count.test(f'verify {row["id"]}', verify, row)
    count.finish()


if __name__ == '__main__':
    main()
