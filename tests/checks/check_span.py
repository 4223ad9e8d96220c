#!/usr/bin/python3
"""Deployments that span nodes: what fits over several, and what is reported about their rate.

    check_span.py

DeepSeek-V3 in FP8 does not fit into one node of eight H100, and is served from 18 of them. Its memory is
recomputed here from the catalogue's columns: experts divided over all accelerators, requests on each. A rate
whose losses are not stated is reported on every face of fit and route. PERTOKEN names the program.
"""
import json
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DONE, NO, expect, near, run, run_json, table

PER_NODE, CONTEXT, SHARE = 8, 5000, 0.9
SCENARIO = f'''[scenario]
title = DeepSeek over nodes
date = 2026-11-01
[workload]
model = deepseek-v3
precision = fp8
utilization = 60 %
[common]
electricity_price = 0.1 USD/kWh
pue = 1.2
accelerators = 144
[option h100]
accelerator = h100-sxm5-80
list_price = 25000 USD
throughput = 1850 token/s
COMMON
[demand chat]
tokens = 1e12 token/month
context = {CONTEXT}
DEMAND
[fit]
context = {CONTEXT}
FIT
'''
SAID = 'give scaling_efficiency, or evidence at that span'
count = Count()


def scenario(folder, common='', demand='', fit=''):
    path = Path(folder) / 'span.ini'
    path.write_text(SCENARIO.replace('COMMON', common).replace('DEMAND', demand).replace('FIT', fit),
                    encoding='utf-8')
    return path


def fit_of(path):
    """The sentence, and the row of its memory."""
    answer = run_json('fit', path, statuses=(DONE, NO))['answers'][0]
    return answer, answer['tables']['memory']['rows'][0]


def check_found(folder):
    """The minimum number of nodes that hold the weights and a request: 671 GB over 16 times 85.5 GB."""
    answer, row = fit_of(scenario(folder))
    weights = float(table('models')['deepseek-v3']['params_b'])
    memory = float(table('accelerators')['h100-sxm5-80']['usable_bytes']) / 1e9
    fewest = next(n for n in range(1, 65) if n * PER_NODE * memory * SHARE > weights)
    expect(fewest == 2 and row['accelerators'] == 2 * PER_NODE, row)
    expect('fits on 16 accelerators in 2 nodes' in answer['answer'], answer['answer'])


def check_given(folder):
    """18 nodes, as DeepSeek serves its V3: each accelerator holds two of the 256 experts, all else, and requests of its
    own."""
    answer, row = fit_of(scenario(folder, fit='nodes_per_replica = 18'))
    model = table('models')['deepseek-v3']
    embeddings = 2 * float(model['vocab']) * float(model['hidden']) / 1e9
    expert = 58 * 3 * float(model['hidden']) * float(model['ffn_hidden']) / 1e9  # in all layers that have any
    own = float(model['params_b']) - 256 * expert + embeddings + 2 * expert
    expect(near(row['weights'], 144 * own, 1e-4), (row, own))
    room = row['memory'] * SHARE - own - row['activations'] / 144
    expect(row['accelerators'] == row['ranks'] == 144 and row['concurrency'] == 144 * (room // row['request']), row)
    expect('fits on 144 accelerators in 18 nodes by attention data parallelism' in answer['answer'], answer['answer'])


def check_dense(folder):
    """Without experts, the weights are divided over the nodes, each of which has its own requests."""
    path = scenario(folder, fit='nodes_per_replica = 2')
    path.write_text(path.read_text().replace('deepseek-v3', 'llama-3.1-405b'))
    _, row = fit_of(path)
    room = PER_NODE * row['memory'] * SHARE - row['weights'] / 2 - row['activations'] / 2
    expect(row['ranks'] == 2 and row['concurrency'] == 2 * (room // row['request']), row)


def check_routed(folder):
    """route serves it; in a single node it says that memory is insufficient."""
    for nodes, status in (('', DONE), ('nodes_per_replica = 18', DONE), ('nodes_per_replica = 1', NO)):
        done = run('route', scenario(folder, demand=nodes), '-q')
        if 'without GLPK' in done.stderr:
            return
        expect(done.returncode == status, (nodes, done.stdout, done.stderr))


def check_whole(folder):
    """Replicas of 18 nodes are bought whole: a demand that keeps 20 busy takes 36."""
    rate = 1850 * 0.6 * PER_NODE * 730 * 3600  # token/month of a node
    path = scenario(folder, demand='nodes_per_replica = 18')
    path.write_text(path.read_text().replace('1e12 token/month', f'{20 * rate:.6g} token/month'))
    done = run('route', path, '-q', '--format', 'json')
    if 'without GLPK' in done.stderr:
        return
    row = json.loads(done.stdout)['answers'][0]['tables']['split']['rows'][0]
    expect(row['nodes'] == 36 and row['accelerators'] == 288, row)
    expect(abs(row['busy'] - 100 * 20 / 36) < 0.01, row)


def check_said(folder):
    """Every face of both questions reports the rate, unless its losses are stated."""
    known = scenario(folder, common='scaling_efficiency = 95 %')
    for command in ('fit', 'route'):
        done = run(command, known, '-q')
        expect(SAID not in ' '.join(done.stdout.split()), done.stdout)
    typed = scenario(folder)
    for command in ('fit', 'route'):
        for face in ('table', 'json', 'csv'):
            done = run(command, typed, '-q', '--format', face)
            if 'without GLPK' not in done.stderr:
                expect(SAID in ' '.join(done.stdout.split()), (command, face, done.stdout))


def check_refused(folder):
    for places in ({'fit': 'nodes_per_replica = 0'}, {'demand': 'nodes_per_replica = 1.5'}):
        done = run('fit' if 'fit' in places else 'route', scenario(folder, **places))
        expect(done.returncode == BAD_INPUT and 'positive whole number' in done.stderr
               or 'without GLPK' in done.stderr, (places, done.stderr))


with tempfile.TemporaryDirectory() as scratch:
    for name, test in (('found', check_found), ('given', check_given), ('dense', check_dense), ('routed', check_routed), ('bought whole', check_whole),
                       ('said on every face', check_said), ('refused', check_refused)):
        count.test(name, test, scratch)
count.finish()
