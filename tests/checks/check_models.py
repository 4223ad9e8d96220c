#!/usr/bin/python3
"""Holds docs/models.md against data/models.csv, and every model's kernels on the CPU against the oracle.

    check_models.py [NAME...]

The page's table is what this file makes of the catalogue; `--table` prints it. PROBE names the program.
Deep: every row of the catalogue is verified at a layer or two in the precision that it ships in.
Seconds: 3
"""
import csv
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
    yield '| model | attention | MLP | else |'
    yield '|---|---|---|---|'
    for row in MODELS:
        cells = ('; '.join(part(row)) for part in (attention, mlp, rest))
        yield f'| `{row["id"]}` | ' + ' | '.join(cells) + ' |'


def test_page_has_the_catalogue():
    shown = [line for line in PAGE.read_text().split('\n') if line.startswith('|')]
    wanted = list(table())
    expect(shown[:len(wanted)] == wanted, 'the table is not the catalogue\'s; check_models.py --table prints it')


# ---- the kernels

def depth(row):
    """The fewest layers with one of each kind."""
    if int(row['first_dense_layers']):
        return int(row['first_dense_layers']) + 1
    return int(row['full_attention_every'] or 1)


def verify(row):
    precision = row['shipped_precision'] or 'bf16'
    context = int(row['sliding_window'] or 256) + 44  # beyond the window, where there is one
    done = run('run', '--model', row['id'], '--layers', depth(row), '--precision', precision,
               '--context', context, '--verify-only', '-q', program=PROBE, timeout=TIMEOUT_S)
    expect_exit(done, DONE, 'within tolerance')


def main():
    if '--table' in sys.argv:
        print('\n'.join(table()))
        return
    count = Count()
    names = sys.argv[1:]
    count.test('test_page_has_the_catalogue', test_page_has_the_catalogue)
    for row in MODELS:
        if not (DEEP and not names or row['id'] in names):
            continue
        count.test(f'verify {row["id"]}', verify, row)
    count.finish()


if __name__ == '__main__':
    main()
