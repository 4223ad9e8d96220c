#!/usr/bin/python3
"""Serving guarantees in acceptance: percentiles of TTFT and TPOT at a load, on every node, as in docs/acceptance.md.

The page's formulas are those of check_accept, here with upper limits. Offers and records are made up, except in the
last tests: there `pertoken probe serving` measures the scripted server on nodes with made-up names. The server waits
at least as long as it is told, so only limits far from that are judged.

Seconds: 16, deep 25
Deep: more random fleets, and thousands of ladders.
"""
import math
import random
import re
import resource
import shutil
import statistics
from decimal import Decimal
from pathlib import Path

from check_serving import engine, serving as probe_serving
from support.delivery import (ANY, EXAMPLE, HEAD, Sample, UNDECIDED, accept, judge_nodes, play, t_quantile,
                              run_with_fleets, verdict_of)
from support.fleet_records import record, result, write as write_measured
from support.program import BAD_INPUT, DEEP, DONE, NO, Skip, expect, expect_exit, near, run, run_csv, run_json
from support.records import NO_LATENCY, RUNG, load, rung, save, serving

EACH = 8
GUARANTEE = """\
[guarantee chat]
model = llama-3.1-70b
precision = fp8
basis = serving
input_tokens = 1024 token
output_tokens = 256 token
request_rate = 8 request/s
ttft = P99 2 s
"""
RULES = """\
[acceptance]
tolerance = 10 %
node_tolerance = 20 %
confidence = 95 %
may_fail = {may_fail} node
remedy = 1 %
remedy_limit = 30 %
"""


def offer(folder, nodes=8, may_fail=0, guarantee=GUARANTEE, rules=RULES):
    path = Path(folder) / 'offer.ini'
    path.write_text(HEAD.format(accelerators=nodes * EACH, nodes=nodes) + guarantee + rules.format(may_fail=may_fail))
    return path


def latency(p99):
    return {**NO_LATENCY, 'mean_s': p99 / 3, 'p50_s': p99 / 4, 'p90_s': p99 / 2, 'p95_s': p99 / 1.5, 'p99_s': p99}


def arrivals(p99, rate=8.0, lengths=(1024.0, 256.0), when='09:30', **changes):
    """A rung of Poisson arrivals whose TTFT has that P99."""
    return {**RUNG, 'load': 'Poisson arrivals', 'concurrency': None, 'request_rate': rate,
            'input_tokens': lengths[0], 'asked_input_tokens': lengths[0], 'output_tokens': lengths[1],
            'asked_output_tokens': lengths[1], 'ttft': latency(p99), 'tpot': latency(0.03), 'completed': 700.0,
            'output_tokens_per_s': rate * lengths[1], 'started': f'2026-11-21T{when}:00Z', **changes}


def write(folder, node, number, *rungs, **changes):
    return save(Path(folder) / f'{node}-{number}.json',
                serving(*rungs, **{'node': node, 'model': 'llama-3.1-70b', 'url': 'http://localhost:8000', **changes}))


def deliver(folder, times, **changes):
    """times[node][run]; the records are in a folder of their own."""
    at = Path(folder) / 'records'
    at.mkdir(exist_ok=True)
    for n, runs in enumerate(times):
        for r, p99 in enumerate(runs):
            write(at, f'node-{n:02d}', r, rung(4, 1500, asked_input_tokens=1024.0, asked_output_tokens=256.0),
                  arrivals(p99, when=f'09:3{r}'), **changes)
    return at


def fleet(seed, nodes, runs, level, between=0.02, run_spread=0.05):
    draw = random.Random(seed)
    means = [level * (1 + draw.gauss(0, between)) for _ in range(nodes)]
    return [[mean + level * draw.gauss(0, run_spread) for _ in range(runs)] for mean in means]


def clauses(answer):
    return {row['clause']: row for row in answer['tables']['clauses']['rows']}


# ---- verdicts

def check_formulas(folder, seed):
    """The page's bounds as upper limits: too long fails."""
    draw = random.Random(seed)
    nodes, runs = draw.randint(4, 12), draw.randint(1, 4)
    measured, may_fail = nodes if draw.random() < 0.6 else draw.randint(3, nodes), draw.randint(0, 2)
    times = fleet(seed, measured, runs, draw.choice((1.9, 2.15, 2.2, 2.25, 2.4)))
    answer = accept(offer(folder, nodes, may_fail), deliver(folder, times))
    sample, found = Sample([[one] for one in times], nodes), clauses(answer)
    low, high = sample.bounds(0.95)
    mean = found['chat: P99 TTFT']
    for key, wanted in (('measured', sample.m), ('low', low), ('high', high), ('limit', 2.2)):
        expect(near(mean[key], wanted, 1e-7), f'{key}: {mean[key]}, not {wanted}')
    expect(mean['verdict'] == verdict_of(-high, -low, -2.2), f'{mean} for {low} to {high}')
    mirrored = Sample([[[-time for time in one]] for one in times], nodes).judge_nodes(-2.4, 0.95)
    judge_nodes(answer, found['chat: single nodes, P99 TTFT'], {f'node-{n:02d}': one for n, one in enumerate(mirrored)},
                nodes, may_fail)


def test_each_statistic(folder):
    """A guaranteed statistic is compared with the same one, in its own unit."""
    at = deliver(folder, fleet(1, 8, 3, 1.8))
    records = [load(path)['rungs'][1] for path in at.iterdir()]
    for name, key in (('mean', 'mean_s'), ('P50', 'p50_s'), ('P90', 'p90_s'), ('P95', 'p95_s'), ('P99', 'p99_s')):
        guarantee = GUARANTEE.replace('P99 2 s', f'{name} 2 s') + f'tpot = {name} 50 ms\ntokens_per_s = 255 token/s/gpu\n'
        found = clauses(accept(offer(folder, guarantee=guarantee), at, statuses=(DONE,)))
        for clause, wanted in ((f'chat: {name} TTFT', statistics.fmean(one['ttft'][key] for one in records)),
                               (f'chat: {name} TPOT', 1e3 * statistics.fmean(one['tpot'][key] for one in records)),
                               ('chat: tokens/s', 8 * 256 / EACH)):
            expect(near(found[clause]['measured'], wanted, 1e-9), f'{found[clause]}, not {wanted}')
        expect({f'chat: single nodes, {name} TTFT', f'chat: single nodes, {name} TPOT', 'chat: single nodes'} < set(found),
               str(set(found)))


def test_remedy(folder):
    """1 % of the price for each percent above the guaranteed time; for a node, its own part."""
    price = 64 * 27500 + 8 * 58000 + 64 * 3900
    for level, share in ((2.4, 0.2), (3.0, 0.3)):
        at = deliver(folder, [[level * 0.9999, level * 1.0001]] * 8)
        answer = accept(offer(folder), at, statuses=(NO,))
        expect(near(answer['owed'], price * share, 1e-6) and near(answer['shortfall'], level / 2 - 1, 1e-6), str(answer['owed']))
    slow = [[1.5, 1.501]] * 7 + [[2.5, 2.501]]
    answer = accept(offer(folder), deliver(folder, slow), statuses=(NO,))
    expect(near(answer['owed'], price / 8 * (2.5005 / 2 - 1), 1e-6) and answer['failing_nodes'] == 1, str(answer['owed']))
    expect('1 % for each percent by which the guarantee is missed' in str(answer['notes'])
           and 'chat: single nodes, P99 TTFT: 1 of 8 above their limit' in str(answer['notes']), str(answer['notes']))


def test_tolerated_nodes(folder):
    """A node that may fail in one clause is neither paid for nor replaced because others fail in another."""
    example = EXAMPLE / 'serving.ini'
    text = example.read_text()
    for old, new in (('tpot          = P90 45 ms', 'tpot = P90 33.5 ms'), ('tolerance      = 5 %', 'tolerance = 30 %'),
                     ('may_fail       = 0 node', 'may_fail = 1 node')):
        expect(old in text, old)
        text = text.replace(old, new)
    offered, price = Path(folder) / 'offer.ini', 64 * 27500 + 8 * 58000 + 64 * 3900
    offered.write_text(text)
    answer = accept(offered, EXAMPLE / 'served', statuses=(NO,))
    found = clauses(answer)
    expect(found['chat: single nodes, P99 TTFT']['verdict'] == 'pass' and
           found['chat: single nodes, P90 TPOT']['measured'] == 7, str(found))
    expect(near(answer['owed'], 7 * 0.1 * price / 8) and answer['failing_nodes'] == 8, str(answer['owed']))
    offered.write_text(re.sub(r'remedy .*\n.*', 'remedy = replacement\n', text))
    answer = accept(offered, EXAMPLE / 'served', statuses=(NO,))
    note, = (one for one in answer['notes'] if one.startswith('Owed: replacement of'))
    expect(answer['replaced_nodes'] == 7 and 'node-06' not in note, note)


def test_exactly_at_the_limit(folder):
    """A figure that equals its limit in decimals passes, whatever their binary fractions; just beyond it fails."""
    for ttft, tokens, tolerance in ((700, 1.1, 0), (500, 0.7, 10), (700, 2.3, 10), (300, 1.7, 20), (900, 4.1, 5), (150, 3.3, 15)):
        guarantee = GUARANTEE.replace('P99 2 s', f'P99 {ttft} ms') + f'tokens_per_s = {tokens} token/s/gpu\n'
        rules = RULES.replace('10 %', f'{tolerance} %').replace('20 %', f'{tolerance} %')
        for off, wanted in ((0, {'pass'}), (1e-6, {'fail'})):
            time = float(Decimal(ttft) / 1000 * (1 + Decimal(tolerance) / 100)) * (1 + off)
            rate = float(EACH * Decimal(str(tokens)) * (1 - Decimal(tolerance) / 100)) * (1 - off)
            at = Path(folder) / 'records'
            at.mkdir(exist_ok=True)
            for number in range(2):
                for n in range(8):
                    write(at, f'node-{n:02d}', number, arrivals(time, output_tokens_per_s=rate, when=f'09:3{number}'))
            found = clauses(accept(offer(folder, guarantee=guarantee, rules=rules), at))
            told = {row['clause']: row['verdict'] for row in found.values() if row['clause'] != 'accelerators'}
            expect(len(told) == 4 and set(told.values()) == wanted, f'{ttft} ms, {tokens}, {tolerance} %, off {off}: {told}')


def test_faces(folder):
    """--explain, CSV and the sheet contain the same as the table."""
    times = fleet(5, 6, 3, 1.9)
    at, offered = deliver(folder, times), offer(folder)
    expect_exit(run('accept', offered, at, '--explain'), UNDECIDED, 'P99 TTFT')
    reasons = ' '.join(accept(offered, at)['reasons'])
    sample, number = Sample([[one] for one in times], 8), r'([-\d.]+)'
    for pattern, wanted in ((rf'n = {number} of N = {number} nodes is m = {number} s', (6, 8, sample.m)),
                            (rf'differ by s = {number} s', (sample.s,)), (rf'e = {number} s, v = {number}', (sample.e, sample.v)),
                            (rf'from {number} s to {number} s', sample.bounds(0.95)),
                            (rf'After 3 runs a node that is more than {number} s above',
                             (t_quantile(1 - 0.05 / 8, sample.v) * sample.e / math.sqrt(3),))):
        found = re.search(pattern, reasons)
        expect(found and all(near(float(one.rstrip('.')), other, 2e-6) for one, other in zip(found.groups(), wanted)),
               f'{pattern}: {found and found.groups()}, not {wanted} in {reasons}')
    cells = {(row['row'], row['column']): row['value'] for row in run_csv('accept', offer(folder, nodes=6), at)}
    expect(near(float(cells['chat: P99 TTFT', 'measured']), sample.m, 1e-9), str(cells))
    expect_exit(run('accept', offered, at, '-o', Path(folder) / 'book.xlsx'), DONE, 'wrote')


# ---- what cannot be compared, and too little data

def test_what_is_left_out(folder):
    """Other lengths, models, loads and precisions are reported and never judged."""
    good = fleet(2, 8, 2, 1.8)
    for changes, spoilt, said in (
            ({}, dict(lengths=(2048.0, 256.0)), '2048 tokens in and 256 out'),
            ({}, dict(lengths=(1024.0, 128.0)), '1024 tokens in and 128 out'),
            ({}, dict(load='constant arrivals'), '8 requests/s (constant arrivals)'),
            ({'model': 'llama-2-70b'}, {}, 'llama-2-70b'), ({'precision': 'bf16'}, {}, 'bf16'),
            ({'accelerators': 16}, {}, 'on 16 accelerators'), ({'accelerators': 3}, {}, 'on 3 accelerators')):
        at = deliver(folder, good)
        for number in range(2):
            write(at, 'node-03', number, arrivals(1.8, when=f'09:3{number}', **spoilt), **changes)
        if changes.get('accelerators') == 16:
            expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'node node-03 has 16 accelerators')
            continue
        answer = accept(offer(folder), at, statuses=(UNDECIDED,))
        expect(any('not covered by a guarantee, and left out' in one and said in one for one in answer['warnings']),
               f'{said}: {answer["warnings"]}')
        expect(clauses(answer)['chat: P99 TTFT']['nodes'] == 7, f'{said}: it counts')


def test_precisions(folder):
    """A record's activation and KV cache types are compared; if it does not state them, that is reported."""
    times = fleet(2, 8, 2, 1.8)
    named = GUARANTEE.replace('precision = fp8\n', 'precision = fp8\nkv = fp8\nactivations = bf16\n')
    for said, wanted, told in (({'kv': 'fp8', 'activations': 'bf16'}, 'pass', None),
                               ({'kv': 'bf16', 'activations': 'bf16'}, 'not enough data', 'kv bf16'),
                               ({'kv': 'fp8', 'activations': 'fp8'}, 'not enough data', 'activations fp8'),
                               ({'kv': 'fp8'}, 'pass', 'the offer names activations, and'),
                               ({}, 'pass', 'the offer names activations and kv, and')):
        answer = accept(offer(folder, guarantee=named), deliver(folder, times, **said), statuses=(DONE, UNDECIDED))
        expect(clauses(answer)['chat: P99 TTFT']['verdict'] == wanted, f'{said}: {answer["verdict"]}')
        warned = [one for one in answer['warnings'] if 'the offer names' in one or 'not covered by a guarantee' in one]
        expect(bool(warned) == bool(told) and (not told or told in str(warned)), f'{said}: {warned}')
    write(deliver(folder, times, kv='fp8', activations='bf16'), 'node-03', 0, arrivals(1.8))
    row = clauses(accept(offer(folder, guarantee=named), folder / 'records', statuses=ANY))['chat: P99 TTFT']
    expect((row['nodes'], row['runs']) == (8, 15), f'a record that says nothing counts beside those that say it: {row}')
    expect_exit(run('accept', offer(folder), deliver(folder, times, kv='bf16')), DONE)


def test_near_lengths(folder):
    """Requests 5 % longer than guaranteed count as equal, as everywhere."""
    at = deliver(folder, [[1.8, 1.81]] * 8)
    near_enough = GUARANTEE.replace('1024 token', '1000 token').replace('256 token', '250 token')
    expect(accept(offer(folder, guarantee=near_enough), at, statuses=(DONE,))['verdict'] == 'pass', 'within 5 %')
    far = GUARANTEE.replace('1024 token', '960 token')
    expect_exit(run('accept', offer(folder, guarantee=far), at), UNDECIDED, 'with these requests at this load')


def test_refused_loads(folder):
    """A load that the probe refused does not count; its reason is reported."""
    at = deliver(folder, fleet(2, 8, 2, 1.8))
    for number in range(2):
        write(at, 'node-03', number, {**arrivals(1.8, when=f'09:3{number}'), 'refused': '12 of 700 requests failed: HTTP 503', 'ttft': NO_LATENCY,
                                      'tpot': NO_LATENCY, 'output_tokens_per_s': None})
    answer = accept(offer(folder), at, statuses=(UNDECIDED,))
    expect(any('left out, from node node-03' in one and 'HTTP 503' in one for one in answer['warnings']),
           str(answer['warnings']))


def test_too_few_requests(folder):
    """A P99 of fewer than 662 requests is unknown, so it is not judged; runs that have it count."""
    at = deliver(folder, fleet(2, 8, 2, 1.8))
    few = {**latency(1.8), 'p99_s': None}
    write(at, 'node-03', 1, arrivals(1.8, completed=480.0, ttft=few, tpot=few, when='09:31'))
    answer = accept(offer(folder), at, statuses=ANY)
    expect(any('1 of 16 runs had fewer requests than the 662' in one and '480 at most' in one for one in answer['warnings']),
           str(answer['warnings']))
    row = clauses(answer)['chat: P99 TTFT']
    expect((row['nodes'], row['runs']) == (8, 15), str(row))
    for path in at.iterdir():
        made = load(path)
        made['rungs'] = [{**made['rungs'][-1], 'completed': 480.0, 'ttft': few, 'tpot': few}]
        save(path, made)
    notes = str(accept(offer(folder), at, statuses=(UNDECIDED,))['notes'])
    expect('with the 662 requests that P99 needs: 1 more run of each' in notes, notes)


def test_bad_records(folder):
    """Two engines, one server with two names, or on two nodes, a load left open, an edited record, one of several servers that
    misses."""
    times = fleet(2, 8, 2, 1.8)
    at = deliver(folder, times)
    write(at, 'node-05', 1, arrivals(1.8), engine_version='0.10.2')
    expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'another inference engine', 'vLLM 0.10.2')
    at = deliver(folder, times)
    write(at, 'node-05', 1, arrivals(1.8), url='http://node-05:8000')
    expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'node node-05 has 16 accelerators', 'under two addresses')
    at = deliver(folder, times)
    for number in range(len(times[5])):
        write(at, 'node-05', number, arrivals(1.8, when=f'09:3{number}'), accelerators=16)
    expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'a server on several nodes measures none of them')
    at = deliver(folder, times)
    for named in (True, False):
        for node, p99 in (('node-05', 1.8), ('node-06', 1.81)):
            save(at / f'{node}-1.json', serving(arrivals(p99), model='llama-3.1-70b', url='http://gpu-7:8000',
                                                node=node if named else ''))
        done = run('accept', offer(folder), at)
        expect(('server http://gpu-7:8000 appears on two nodes: node-05-1 and node-06-1: it would count twice' in done.stderr)
               != named, done.stderr)
    for node in ('node-05', 'node-06'):
        (at / f'{node}-1.json').unlink()
    at = deliver(folder, times)
    open_load = GUARANTEE.replace('request_rate = 8 request/s\n', '').replace('ttft = P99 2 s', 'tokens_per_s = 1 token/s/gpu')
    expect_exit(run('accept', offer(folder, guarantee=open_load), at), BAD_INPUT, 'matches two measured workloads',
                'state concurrency or request_rate in it')
    path = at / 'node-05-1.json'
    path.write_text(path.read_text().replace('"node-05"', '"node-06"'))
    expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'changed after it was written')


FILES = [{'name': 'run.json', 'sha256': 'ab' * 32}]


def test_one_file_twice(folder):
    """A result file is one run of one node, whatever its imports say; a description that several have in common is not."""
    offered, at = offer(folder, nodes=3), deliver(folder, [[1.8, 1.81]] * 3)
    for node, other, told in (('node-01', 'node-02', 'as runs of nodes node-01 and node-02'),
                              ('node-01', 'node-01', 'as two runs of node node-01')):
        for number, name in enumerate((node, other)):
            write(at, name, number + 1, arrivals(1.85), files=FILES, date=f'2026-11-0{number + 1}')
        for command in (('accept', offered), ('fleet',)):
            done = run(*command, at)
            expect_exit(done, BAD_INPUT, f"{node}-1.json'", f"{other}-2.json'", 'both imported from run.json', told)
        (at / f'{other}-2.json').unlink()
    shared = [{'name': 'system.json', 'sha256': 'cd' * 32}]
    for number, node in enumerate(('node-01', 'node-01', 'node-02', 'node-02')):
        own = [{'name': 'run.json', 'sha256': f'{number}b' * 32}]
        write(at, node, number % 2, arrivals(1.8 + number / 100, when=f'09:3{number}'), files=shared + own)
    expect_exit(run('accept', offered, at), DONE)


def test_one_node_under_two_names(folder):
    """Names that differ in case, leading zeros or a domain may be one node's; two domains may have a node each."""
    at = Path(folder) / 'records'
    at.mkdir()
    for names, told in ((('n3', 'N03', 'n03.cluster.local'), 'nodes N03, n3, n03.cluster.local may be one that counts 3 times'),
                        (('n3', 'n4', 'n3-a'), None), (('n3.east', 'n3.west', 'n30'), None),
                        (('n3.east', 'N3.East', 'n5'), 'nodes N3.East, n3.east may be one that counts 2 times')):
        for path in at.iterdir():
            path.unlink()
        for n, name in enumerate(names):
            for number in range(2):
                write(at, f'{name}', number, arrivals(1.8 + n / 1000 + number / 100, when=f'09:3{number}'))
        for arguments in (('accept', offer(folder, nodes=3), at), ('fleet', at)):
            said = str(run_json(*arguments, statuses=ANY)['warnings'])
            expect(told in said if told else 'may be one' not in said, f'{names}: {said}')


def test_two_clients(folder):
    """Clients do not define a latency alike: no verdict by two of them, and fleet tells which nodes differ, by whatever."""
    at = deliver(folder, fleet(2, 8, 2, 1.8), tool='vLLM bench serve', tool_version='')
    for number in range(2):
        write(at, 'node-07', number, arrivals(9.0, when=f'09:3{number}'), tool='SGLang bench_serving')
    expect_exit(run('accept', offer(folder), at), BAD_INPUT, 'another benchmark client', 'SGLang bench_serving', 'vLLM bench serve')
    answer = run_json('fleet', at, statuses=(NO,))
    found, = answer['tables']['settings']['rows']
    expect((found['setting'], found['usual'], found['other'], found['nodes'])
           == ('benchmark client', 'vLLM bench serve', 'SGLang bench_serving', 'node-07'), str(found))
    expect({(row['node'], row['measure']) for row in answer['tables']['outliers']['rows']} == {('node-07', 'mean TTFT')},
           str(answer['tables']['outliers']))
    slow = next(row for row in answer['tables']['outliers']['rows'])
    expect(near(slow['value'], 3.0), str(slow))
    tools = {row['probe'] for row in accept(offer(folder), deliver(folder, fleet(2, 8, 2, 1.8), tool='vLLM bench serve'),
                                            statuses=ANY)['tables']['records']['rows']}
    expect(tools == {'vLLM bench serve'}, str(tools))


def test_lengths_drawn_around_a_mean(folder):
    """Runs of a client that draws its lengths are runs of one test; two lengths that were asked for are not."""
    drawn = [[(1016.2, 254.3), (1031.7, 257.9)], [(1024.9, 256.8), (1019.4, 255.1)]]
    at = Path(folder) / 'records'
    at.mkdir()
    for n, runs in enumerate(drawn):
        for r, (length_in, length_out) in enumerate(runs):
            write(at, f'node-{n:02d}', r, arrivals(1.8, when=f'09:3{r}', input_tokens=length_in, output_tokens=length_out,
                                                   asked_input_tokens=None, asked_output_tokens=None))
    row = clauses(accept(offer(folder, nodes=2), at, statuses=ANY))['chat: P99 TTFT']
    expect(row['nodes'] == 2 and row['runs'] == 4 and near(row['measured'], 1.8), str(row))
    measured = run_json('fleet', at, statuses=ANY)['tables']['measured']['rows']
    expect(len({row['workload'] for row in measured}) == 1, 'runs of one test are evaluated apart')
    for n, length in enumerate((1024.0, 1040.0)):
        for r in range(2):
            write(at, f'node-{n:02d}', r, arrivals(1.8, lengths=(length, 256.0), when=f'09:3{r}'))
    expect_exit(run('accept', offer(folder, nodes=2), at), BAD_INPUT, 'matches two measured workloads', '1024 tokens in',
                '1040 tokens in', 'give the records of one of them alone')


def test_servers_of_a_node(folder):
    """Two servers of four accelerators each are one node once both have been measured."""
    at = Path(folder) / 'records'
    at.mkdir()
    for n in range(8):
        for server in range(2 if n else 1):
            for r in range(2):
                write(at, f'node-{n:02d}', f'{server}-{r}', arrivals(1.7 + 0.1 * server + 0.001 * r, when=f'09:3{r}'),
                      accelerators=4, url=f'http://localhost:800{server}')
    row = clauses(accept(offer(folder), at, statuses=(UNDECIDED,)))['chat: P99 TTFT']
    expect(row['nodes'] == 7 and near(row['measured'], 1.7505), str(row))


def test_decoding_beside_serving(folder):
    """The same accelerators count once, whichever program measured them."""
    at = deliver(folder, fleet(2, 8, 2, 1.8))
    for n in range(8):
        for device in range(EACH):
            write_measured(at, record(f'node-{n:02d}', device, [result(1000.0 + n, 550.0)]))
    found = clauses(accept(offer(folder), at, statuses=ANY))
    expect(found['accelerators']['measured'] == 64 and found['accelerators']['verdict'] == 'pass', str(found['accelerators']))


def test_many(folder):
    """Thousands of ladders, within seconds and a fraction of the size of their records."""
    if not DEEP:
        raise Skip('in the deep run')
    at, nodes = Path(folder) / 'records', 4000
    at.mkdir()
    draw = random.Random(9)
    for n in range(nodes):
        write(at, f'node-{n:04d}', 0, *(rung(2 ** step, 1000 + step, asked_input_tokens=1024.0, asked_output_tokens=256.0)
                                        for step in range(6)), arrivals(1.8 * draw.gauss(1, 0.01)))
    done = run('accept', offer(folder, nodes=nodes, may_fail=40), at, '-q')
    expect_exit(done, DONE, 'Pass: every clause')
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'     at most {used.ru_maxrss / 1024:.0f} MB')
    expect(used.ru_maxrss < 500 * 1024, f'{used.ru_maxrss} KiB')


# ---- before measuring

def test_plan(folder):
    """The plan's predicted probabilities equal those of random fleets, with its own assumption about runs."""
    import numpy
    rules = RULES.replace('node_tolerance = 20 %\n', '').replace('may_fail = {may_fail} node\n', '')
    path = offer(folder, nodes=6, rules=rules)
    answer = run_json('accept', path, '--plan', statuses=(DONE, NO))
    rows = {(row['nodes'], row['runs']): row for row in answer['tables']['choices']['rows']}
    a, e = 0.02 / math.sqrt(3), math.sqrt(0.99 / 0.01 / 662) / math.log(100)
    clause, = answer['tables']['clauses']['rows']
    expect(near(clause['between_nodes'], 100 * a) and near(clause['between_runs'], 100 * e), str(clause))
    draw = numpy.random.default_rng(5)
    for runs in (2, 3):
        # Mirrored: play() compares a mean of 1 with a floor of 0.98, here it is 10 % from a ceiling.
        passes, _ = play(numpy, draw, a / 5, e / 5, 1.0, 6, 6, runs)
        error = 4 * math.sqrt(max(passes * (1 - passes), 1e-4) / 40000)
        expect(abs(rows[6, runs]['passes'] / 100 - passes) < error, f'{runs} runs: {rows[6, runs]}, played {passes}')
    said = str(answer['notes'])
    expect('P99 TTFT needs 662 requests in a run: --time 83 or more at 8 requests/s' in said, said)
    done = run('accept', path, '--plan', '--explain')
    expect(done.returncode in (DONE, NO) and '√V' in done.stdout, done.stdout)
    reasons = ' '.join(answer['reasons'])
    shown = next(re.finditer(r'R = (\d+): √V = ([\d.]+) %', reasons))
    n, runs = answer['nodes'], int(shown.group(1))
    wanted = 100 * math.sqrt((1 - n / 6) * a ** 2 / n + e ** 2 / (n * runs))
    expect(near(float(shown.group(2)), wanted, 1e-6), f'{wanted}: {reasons}')


def test_plan_by_records(folder):
    """Earlier records replace the assumption."""
    times = fleet(6, 30, 4, 1.8)
    answer = run_json('accept', offer(folder, nodes=30, may_fail=2), '--plan', deliver(folder, times), statuses=(DONE, NO))
    sample = Sample([[one] for one in times], 30)
    row = answer['tables']['clauses']['rows'][0]
    expect(near(row['between_runs'], 100 * sample.e / sample.m, 1e-6), str(row))
    expect('30 nodes in earlier records' in str(answer['notes']), str(answer['notes']))


# ---- measured the way users do

MACHINE = ('--accelerator', 'h200-sxm-141', '--accelerators', EACH, '--precision', 'fp8', '--model', 'llama-3.1-70b',
           '--input', 32, '--output', 8, '--time', 1, '--concurrency', 1, '--rate', 100)
MEASURED = GUARANTEE.replace('1024', '32').replace('256', '8').replace('8 request/s', '100 request/s').replace('P99 2 s', 'P90 {limit}')


def measure(url, folder, node, ttft):
    """Two runs of a node, whose server is the scripted one."""
    for number in range(2):
        at = folder / node / str(number)
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir(parents=True)
        done = probe_serving(f'{url}/ttft={ttft},tpot=1', *MACHINE, '--node', node, '-o', at)
        if done.returncode == NO or 'refused' in done.stdout:
            raise Skip(f'this machine is too busy to load a server: {done.stdout}')
        expect_exit(done, DONE)


def test_measured(folder):
    """Short windows are reported; a server that waits longer than guaranteed does not pass."""
    offered, records = offer(folder, nodes=2, guarantee=MEASURED.format(limit='30 s')), folder / 'fleet'
    with engine() as url:
        for node in ('node-0', 'node-1'):
            measure(url, records, node, ttft=5)
        answer = accept(offered, *sorted(records.glob('*/*')), statuses=(DONE,))
        expect('steady windows of 1 s, not of 60 s' in str(answer['warnings']), str(answer['warnings']))
        expect('2 nodes, 2 servers' in run('fleet', *sorted(records.glob('*/*'))).stdout, 'other nodes')
        measure(url, records, 'node-1', ttft=200)
    offered.write_text(offered.read_text().replace('P90 30 s', 'P90 20 ms'))
    answer = accept(offered, *sorted(records.glob('*/*')), statuses=(NO, UNDECIDED))
    expect(clauses(answer)['chat: single nodes, P90 TTFT']['nodes'] == 2, str(answer))
    slow, = (row for row in answer['tables']['nodes']['rows'] if row['node'] == 'node-1')
    expect(slow['value'] >= 0.2 and slow['verdict'] != 'pass', str(slow))


if __name__ == '__main__':
    run_with_fleets(globals(), check_formulas)
