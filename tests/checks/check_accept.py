#!/usr/bin/python3
"""Whether the delivery meets the quote: verdicts, plans and money, compared with docs/acceptance.md.

The plan's probabilities are checked with random fleets.

Seconds: 4
Deep: more random fleets. How long thousands of nodes take is checked in check_fleet.
"""
import csv
import hashlib
import json
import math
import random
import re
import shutil
import statistics
import subprocess
import zipfile
from pathlib import Path

from support.delivery import (ANY, EXAMPLE, GUARANTEE, RULES, Sample, UNDECIDED, accept, clauses, deliver, fleet,
                              judge_nodes, offer, play, t_quantile, run_with_fleets, verdict_of)
from support.fleet_records import record, result, with_links, with_variant, write
from support.program import BAD_INPUT, DONE, NO, Skip, expect, expect_exit, near, run, run_csv, run_json
from support.records import digest_of


def check_formulas(folder, seed):
    """Random fleets: means near their limit, nodes near theirs, all or some of them, once or twice."""
    draw = random.Random(seed)
    nodes, each, runs = draw.randint(4, 14), draw.randint(1, 3), draw.randint(1, 3)
    measured = nodes if draw.random() < 0.6 else draw.randint(3, nodes)
    level, may_fail = draw.choice((965, 975, 980, 985, 1000)), draw.randint(0, 2)
    rates = fleet(seed, measured, each, runs, level, between=draw.choice((0.003, 0.02)))
    answer = accept(offer(folder, nodes, each, may_fail=may_fail), deliver(folder, rates))
    sample, found = Sample(rates, nodes), clauses(answer)
    low, high = sample.bounds(0.95)
    mean = found['tokens/s']
    for key, wanted in (('measured', sample.m), ('low', low), ('high', high), ('limit', 980)):
        expect(near(mean[key], wanted, 1e-7), f'{key}: {mean[key]}, not {wanted}')
    expect(mean['verdict'] == verdict_of(low, high, 980), f'{mean} for {low} to {high}')
    wanted = sample.judge_nodes(950, 0.95)
    judge_nodes(answer, found['single nodes'], {f'node-{n:04d}': one for n, one in enumerate(wanted)}, nodes, may_fail)
    whole = [row['verdict'] for row in found.values()]
    expect(answer['verdict'] == ('fail' if 'fail' in whole else 'not enough data' if 'not enough data' in whole
                                 else 'pass'), str(whole))


def test_watts(folder):
    """The reverse: the upper bound counts, and too many watts fail."""
    for watts, verdict in ((560.0, 'pass'), (571.2, 'not enough data'), (590.0, 'fail')):
        draw = random.Random(4)
        power = [[[watts * (1 + draw.gauss(0, 0.01)) for _ in range(2)] for _ in range(4)] for _ in range(8)]
        centre = watts / statistics.fmean(one for node in power for device in node for one in device)
        power = [[[one * centre for one in device] for device in node] for node in power]
        at = deliver(folder, fleet(3, 8, 4, 2), power)
        found = clauses(accept(offer(folder), at))['watts']
        sample = Sample(power, 8)
        low, high = sample.bounds(0.95)
        expect(found['verdict'] == verdict, str(found))
        expect(near(found['low'], low, 1e-7) and near(found['high'], high, 1e-7), f'{found}, not {low} to {high}')


def test_exit_status(folder):
    good = deliver(folder, fleet(1, 8, 4, 2, 1010, 0.002))
    expect_exit(run('accept', offer(folder), good), DONE, 'Pass: every clause')
    expect_exit(run('accept', offer(folder, tokens=1100), good), NO, 'Fail: 2 clauses', 'below what is guaranteed')
    expect_exit(run('accept', offer(folder, nodes=16), good), UNDECIDED, 'Not enough data', 'no record of 32 accelerators',
                '8 more nodes')


def test_more_runs(folder):
    """The stated need is sufficient: the same figures with that many runs decide."""
    draw = random.Random(8)
    centre = [1000 * (1 + draw.gauss(0, 0.004)) for _ in range(8)]
    shift = 981.5 / statistics.fmean(centre)
    pattern = (-0.006, 0.006)
    rates = [[[c * shift * (1 + off) for off in pattern] for _ in range(4)] for c in centre]
    answer = accept(offer(folder), deliver(folder, rates), statuses=(UNDECIDED,))
    note = next(note for note in answer['notes'] if note.startswith('decoding: tokens/s'))
    more = int(note.split('needs ')[1].split()[0])
    e = Sample(rates, 8).e

    def decides(runs):
        return 1.5 >= t_quantile(0.95, 8 * (runs - 1)) * e / math.sqrt(8 * runs)
    expect(decides(2 + more) and not decides(1 + more), f'{note}: e = {e}')


def test_remedy(folder):
    """1 % of the hardware's price for each percent, at most 10 %; for single nodes, their part of it."""
    price = 32 * 27500 + 8 * 58000 + 32 * 3900
    for level, share in ((950.0, 0.05), (850.0, 0.10)):
        rates = [[[level * off for off in (0.9999, 1.0001)]] * 4] * 8
        answer = accept(offer(folder), deliver(folder, rates), statuses=(NO,))
        expect(near(answer['price'], price) and near(answer['owed'], price * share, 1e-6), str(answer['owed']))
    rates[3:] = [[[1010.0, 1010.2]] * 4] * 5
    rates[0] = rates[1] = rates[2] = [[1010.1, 1010.3]] * 4
    rates[5] = [[930.0, 930.2]] * 4
    answer = accept(offer(folder), deliver(folder, rates), statuses=(NO,))
    expect(near(answer['owed'], price / 8 * (1 - 930.1 / 1000), 1e-6) and answer['failing_nodes'] == 1, str(answer['owed']))
    # Without a limit it may exceed the price: the formula is the cost model's.
    rules = RULES.replace('remedy = 1 %\nremedy_limit = 10 %', 'remedy = 2 %')
    answer = accept(offer(folder, rules=rules), deliver(folder, [[[400.0, 400.1]] * 4] * 8), statuses=(NO,))
    expect(near(answer['owed'], price * 2 * (1 - 400.05 / 1000), 1e-6), str(answer['owed']))


REPLACED = RULES.replace('remedy = 1 %\nremedy_limit = 10 %', 'remedy = replacement')


def replaced_nodes(answer):
    note, = (one for one in answer['notes'] if one.startswith('Owed: replacement of'))
    return sorted(re.findall(r'node-\d+', note))


def test_replacement(folder):
    """Single nodes that fail; if a mean fails, the fewest others, slowest first, that bring it to its limit."""
    price = 32 * 27500 + 8 * 58000 + 32 * 3900
    path = offer(folder, rules=REPLACED)
    rates = [[[level * (1 - 1e-4), level * (1 + 1e-4)]] * 4 for level in (1010, 1010, 930, 1010, 1010, 1010, 1010, 1010)]
    answer = accept(path, deliver(folder, rates), statuses=(NO,))
    expect(replaced_nodes(answer) == ['node-0002'] and near(answer['replaced_price'], price / 8), str(answer['notes']))
    expect(answer.get('owed') is None, str(answer.get('owed')))
    for levels in ((1000, 990, 980, 960, 955, 952, 953, 951), (940, 990, 1001, 1000, 930, 1002, 920, 945),
                   (950,) * 8, (1004, 1003, 900, 1000, 905, 910, 930, 990)):
        rates = [[[level * (1 - 1e-4), level * (1 + 1e-4)]] * 4 for level in levels]
        loose = offer(folder, rules=REPLACED.replace('node_tolerance = 5 %\n', '').replace('may_fail = {may_fail} node\n', ''))
        answer = accept(loose, deliver(folder, rates), statuses=(NO,))
        slowest = sorted(range(8), key=lambda n: levels[n])
        count = next(k for k in range(9)
                     if sum(levels[n] for n in slowest[k:]) + 1000 * k >= 8 * 980 - 1e-9)
        wanted = sorted(f'node-{n:04d}' for n in slowest[:count])
        expect(replaced_nodes(answer) == wanted, f'{levels}: {replaced_nodes(answer)}, not {wanted}')
        expect(near(answer['replaced_price'], price * count / 8), str(answer['replaced_price']))
    expect_exit(run('accept', path, Path(folder) / 'records'), NO, 'does not state when the replacement is due')


def test_replacement_of_both_kinds(folder):
    """Nodes that fail by themselves come first, and the mean takes only what is then still missing; every face has all
    names, however many they are."""
    levels = [900] * 2 + [972, 971, 973] + [974 + n / 10 for n in range(27)]
    rates = [[[level * (1 - 1e-4), level * (1 + 1e-4)]] * 2 for level in levels]
    path, at = offer(folder, nodes=32, each=2, rules=REPLACED), deliver(folder, rates)
    answer = accept(path, at, statuses=(NO,))
    slowest = sorted(range(2, 32), key=lambda n: levels[n])
    more = next(k for k in range(31) if 1000 * (2 + k) + sum(levels[n] for n in slowest[k:]) >= 32 * 980 - 1e-9)
    wanted = {f'node-{n:04d}': 'fails by itself' for n in (0, 1)} | {
        f'node-{n:04d}': 'for the mean of decoding: tokens/s' for n in slowest[:more]}
    expect(more > 3, 'the case is too easy')
    expect({row['node']: row['why'] for row in answer['tables']['replaced']['rows']} == wanted, str(answer['tables']['replaced']))
    price = 64 * 27500 + 32 * 58000 + 64 * 3900
    expect(near(answer['replaced_price'], price * len(wanted) / 32), str(answer['replaced_price']))
    told = {line['row'] for line in run_csv('accept', path, at, statuses=(NO,)) if line['table'] == 'replaced'}
    expect(told == set(wanted), str(told))
    expect_exit(run('accept', path, at, '-o', Path(folder) / 'x.xlsx'), NO, 'wrote')
    expect(set(wanted) <= set(strings_of(Path(folder) / 'x.xlsx')), 'the sheet lacks a node')
    if len(wanted) > 12:
        expect(f'and {len(wanted) - 12} more' in str(answer['notes']), str(answer['notes']))


def strings_of(book):
    with zipfile.ZipFile(book) as archive:
        return re.findall(r'<t[^>]*>([^<]*)</t>', archive.read('xl/sharedStrings.xml').decode().replace('&apos;', "'"))


def test_qualified_everywhere(folder):
    """What limits a verdict is on every face: missing nodes, what would decide a clause, and doubts."""
    rates = fleet(5, 6, 2, 2)
    at = deliver(folder, rates)
    doubted = record('node-0007', 0, [result(1000.0, 550.0)])
    doubted['results'][0]['flags'] = {**doubted['results'][0]['flags'], 'noisy': True}
    doubted['digest'] = digest_of(doubted)
    write(at, doubted)
    path, book = offer(folder, 24, 2), Path(folder) / 'x.xlsx'
    names = ('--expect', 'node-[0000-0023]')
    answer = accept(path, at, *names, statuses=(UNDECIDED,))
    missing = [f'node-{n:04d}' for n in range(6, 24) if n != 7]
    expect(answer['missing'] == missing, str(answer['missing']))
    why = {row['clause']: row['why'] for row in answer['tables']['clauses']['rows'] if 'why' in row}
    expect(any(one.startswith('no record of') for one in why.values()), str(why))
    expect(len(why) == sum(row['verdict'] != 'pass' for row in answer['tables']['clauses']['rows']), str(why))
    lines = run_csv('accept', path, at, *names, statuses=(UNDECIDED,))
    values = {(line['table'], line['row'], line['column']): line['value'] for line in lines}
    expect(values['facts', 'missing', 'value'] == ', '.join(missing), values['facts', 'missing', 'value'])
    expect({key[1]: value for key, value in values.items() if key[0] == 'clauses' and key[2] == 'why'} == why, 'CSV lacks why')
    expect(sum(line['table'] == 'warnings' for line in lines) == len(answer['warnings']), 'CSV lacks a warning')
    expect_exit(run('accept', path, at, *names, '-o', book), UNDECIDED, 'wrote')
    told = strings_of(book)
    for one in (*missing, *why.values(), *answer['notes'], *(f'Warning: {one}' for one in answer['warnings'])):
        expect(one in told, f'the sheet lacks: {one}')
    expect(told.index('Signature') > told.index(answer['notes'][-1]), 'what is said is not above the signatures')


def test_rows_of_csv(folder):
    """A node that misses two guarantees has two rows, each with a key of its own."""
    at = deliver(folder, [[[1000.0, 1001.0]] * 4] * 7 + [[[900.0, 901.0]] * 4])
    both = offer(folder, more='[guarantee again]\n' + GUARANTEE.format(tokens=1000).partition('\n')[2])
    lines = run_csv('accept', both, at, statuses=(NO,))
    keys = [(line['table'], line['row'], line['column']) for line in lines if line['table'] == 'nodes']
    expect(len(keys) == len(set(keys)) and ('nodes', 'node-0007, again', 'verdict') in keys, str(keys))


def test_who_bears_what(folder):
    """For a replacement: hardware, delivery that the offer leaves open, and the time until it arrives."""
    offered, scenario = Path(folder) / 'offer.ini', Path(folder) / 'quoted.ini'
    text = (EXAMPLE / 'offer.ini').read_text()
    text = text[:text.index('remedy  ')] + 'remedy = replacement\n'
    offered.write_text(text + 'replacement_time = 30 day\n')
    shutil.copy(EXAMPLE / 'quoted.ini', scenario)
    answer = accept(offered, EXAMPLE / 'records', '--for', 'decoding', '--scenario', scenario, statuses=(NO,))
    rows = {row['what']: (row['who'], row['amount']) for row in answer['tables']['settlement']['rows']}
    hour = {one['id']: one['items'] for one in run_json('compare', scenario)['options']}['h200']['cost_per_gpu_hour']
    price = 64 * 27500 + 8 * 58000 + 64 * 3900
    for what, who, amount in (('hardware of the nodes that are replaced', 'the vendor', price / 8),
                              ('delivery and installation of these nodes', 'not stated', 24000 / 8),
                              ('downtime of these nodes, at most', 'the buyer', hour * 8 * 30 * 24)):
        expect(rows[what][0] == who and near(rows[what][1], amount, 1e-9), f'{what}: {rows[what]}, not {amount}')
    expect(len(rows) == 3, str(rows))
    expect('within 30 days: until then the buyer may have 8 accelerators out of use, which cost' in str(answer['notes']),
           str(answer['notes']))
    expect_exit(run('accept', offered, EXAMPLE / 'records', '--for', 'decoding', '-o', Path(folder) / 'x.xlsx'), NO, 'wrote')
    for more, message in (('remedy_limit = 10 %\n', "'remedy_limit' applies to a remedy in money"),
                          ('replacement_time = 0 day\n', 'a time above 0')):
        offered.write_text(text + more)
        expect_exit(run('accept', offered, EXAMPLE / 'records'), BAD_INPUT, message)
    offered.write_text(text.replace('remedy = replacement', 'remedy = 1 %') + 'replacement_time = 30 day\n')
    expect_exit(run('accept', offered, EXAMPLE / 'records'), BAD_INPUT, "needs 'remedy = replacement'")


def test_worth_in_another_currency(folder):
    """A price quoted in USD, in a report in euros: what a shortfall is worth stays in USD."""
    path = Path(folder) / 'euros.ini'
    shutil.copy(EXAMPLE / 'quoted.ini', folder)
    shutil.copy(EXAMPLE / 'offer.ini', folder)
    path.write_text('[scenario]\ninherits = quoted.ini\ncurrency = EUR\nexchange_rate = 1.25 USD/EUR\n'
                    'exchange_rate.source = test\nexchange_rate.date = 2026-11\n')
    dollars, euros = (accept(EXAMPLE / 'offer.ini', EXAMPLE / 'records', '--for', 'decoding', '--scenario', one)
                      for one in (EXAMPLE / 'quoted.ini', path))
    expect(near(euros['worth'], dollars['worth'], 1e-9), f"{euros['worth']}, not {dollars['worth']}")
    said = [next(note for note in answer['notes'] if 'costs as much per token at' in note) for answer in (dollars, euros)]
    expect(said[0] == said[1] and 'USD for all 64' in said[1], str(said))


def test_worth_after_a_discount(folder):
    """The same price as a net one and as a list price with a discount: the shortfall costs as much."""
    offered, scenario = Path(folder) / 'offer.ini', Path(folder) / 'quoted.ini'
    shutil.copy(EXAMPLE / 'quoted.ini', scenario)
    text, said = (EXAMPLE / 'offer.ini').read_text(), []
    for price in ('27500 USD/gpu', '34375 USD/gpu\ndiscount = 20 %'):
        offered.write_text(text.replace('27500 USD/gpu', price))
        answer = accept(offered, EXAMPLE / 'records', '--for', 'decoding', '--scenario', scenario)
        said.append(re.search(r'([\d,]+ USD for all 64)(.*?),', str(answer['notes'])).groups())
    expect(said[0] == (said[1][0], '') and said[1][1] == ' after the discount', str(said))


def test_worth_of_a_part(folder):
    """While nodes are missing, the worth is not that of the delivery: it says what it is extrapolated from."""
    some = Path(folder) / 'some'
    some.mkdir()
    for path in (EXAMPLE / 'records').rglob('node-0[123]*.json'):
        shutil.copy(path, some)
    for records, basis, statuses in ((EXAMPLE / 'records', 'as delivered, ', (NO,)),
                                     (some, 'if all nodes are like the 3 of 8 measured, ', (UNDECIDED,))):
        notes = accept(EXAMPLE / 'offer.ini', records, '--for', 'decoding', '--scenario', EXAMPLE / 'quoted.ini',
                       statuses=statuses)['notes']
        expect(any(note.startswith(f'Worth: {basis}') for note in notes), str(notes))


def test_parity(folder):
    """At the reported price, `solve` finds that what was delivered costs the same as what was guaranteed."""
    scenario = EXAMPLE / 'quoted.ini'
    answer = accept(EXAMPLE / 'offer.ini', EXAMPLE / 'records', '--for', 'decoding', '--scenario', scenario)
    rows = clauses(answer)
    tokens = rows['tokens/s']['measured'] / rows['tokens/s']['quoted']
    watts = rows['watts']['measured'] / rows['watts']['quoted']
    options = {one['id']: one['items'] for one in run_json('compare', scenario)['options']}['h200']
    solved = run_json('solve', scenario, '--option', 'h200', '--for', 'list_price', '--target',
                      f'{options["cost_per_mtok"]!r} USD/Mtok', '--set', f'h200.throughput={3900 * tokens!r} token/s',
                      '--set', f'h200.load_power={640 * watts!r} W')
    expect(near(answer['worth'], solved['values'][0], 1e-7), f'{answer["worth"]}, not {solved["values"]}')


def measure_both(folder):
    """The example's offer with a guarantee of another batch in addition to its decode guarantee, and records of
    both."""
    both = Path(folder) / 'both.ini'
    other = ('[guarantee large]\nmodel = llama-2-70b\nprecision = fp8\nbasis = decode\nbatch = 128\n'
             'context = 4096\ntokens_per_s = 2000 token/s/gpu\n')
    text = (EXAMPLE / 'offer.ini').read_text()
    both.write_text(text[:text.index('[guarantee chat]')] + other + text[text.index('[acceptance]'):])
    records = Path(folder) / 'records'
    records.mkdir()
    for n in range(8):
        for d in range(8):
            write(records, record(f'node-{n:04d}', d, [result(1150.0, 550.0), result(1000.0, 550.0, batch=128)]))
    scenario = Path(folder) / 'scenario.ini'
    return both, records, scenario


def test_parity_by_workload(folder):
    """Of several guarantees that were measured, an option uses that of its own workload."""
    both, records, scenario = measure_both(folder)
    quoted = (EXAMPLE / 'quoted.ini').read_text().replace('quote = offer.ini', f'quote = {both}')
    worth = {}
    for batch in (64, 128):
        scenario.write_text(quoted.replace('scenario    = server', 'basis = decode\ncontext = 4096\n'
                                           f'batch = {batch}').partition('[option mi325x]')[0].replace(
                                               'baseline = mi325x', 'baseline = h200'))
        worth[batch] = accept(both, records, '--scenario', scenario)['worth']
    expect(near(worth[64], 27500, 1e-3), f'as guaranteed, and worth {worth[64]}')
    expect(worth[128] < 15000, f'half as fast, and worth {worth[128]}')
    scenario.write_text(quoted.replace('[option h200]', '[option h200]\nthroughput = 3900 token/s'))
    expect_exit(run('accept', both, records, '--scenario', scenario), BAD_INPUT,
                "2 guarantees were measured, but none for the workload of option 'h200'")


def test_explained(folder):
    """--explain uses the page's symbols, with the values found here."""
    rates = fleet(5, 6, 2, 3)
    at = deliver(folder, rates)
    done = run('accept', offer(folder, 8, 2), at, '--explain')
    expect_exit(done, UNDECIDED, 'standard error', 'no record of 4 accelerators')
    reasons = ' '.join(accept(offer(folder, 8, 2), at)['reasons']).replace(',', '')
    sample, number = Sample(rates, 8), r'([-\d.]+)'
    low, high = sample.bounds(0.95)
    margin = t_quantile(1 - 0.05 / 8, sample.v) * sample.e / math.sqrt(3)
    for pattern, wanted in (
            (rf'tokens/s: the mean of n = {number} of N = {number} nodes is m = {number}', (6, 8, sample.m)),
            (rf'differ by s = {number} token', (sample.s,)), (rf'e = {number} token/s/gpu v = {number}', (sample.e, sample.v)),
            (rf'error {number} token/s/gpu with {number} degrees', (sample.error, sample.df)),
            (rf't = {number} at 95 %: from {number} token/s/gpu to {number}',
             (t_quantile(0.95, sample.df), low, high)),
            (rf'After 3 runs a node that is more than {number} token', (margin,))):
        found = re.search(pattern, reasons)
        expect(found and all(near(float(one), other, 2e-6) for one, other in zip(found.groups(), wanted)),
               f'{pattern}: {found and found.groups()}, not {wanted} in {reasons}')


def test_plan(folder):
    """With all nodes, once to three times: the predicted probabilities equal those of random fleets."""
    import numpy
    draw = numpy.random.default_rng(5)
    rules = RULES.replace('node_tolerance = 5 %\n', '').replace('may_fail = {may_fail} node\n', '')
    path = offer(folder, nodes=6, more='', rules=rules)
    answer = run_json('accept', path, '--plan', '--shortfall', '2.8 %', statuses=(DONE, NO))
    rows = {(row['nodes'], row['runs']): row for row in answer['tables']['choices']['rows']}
    spread = 0.02 / math.sqrt(3)
    for runs in (1, 2, 3):
        row = rows[6, runs]
        for mean, right, false in ((1.0, 'passes', 'false_fail'), (0.972, 'fails', 'false_pass')):
            passes, fails = play(numpy, draw, spread, spread, mean, 6, 6, runs)
            wanted, wrong = (passes, fails) if mean == 1 else (fails, passes)
            error = 4 * math.sqrt(max(wanted * (1 - wanted), 1e-4) / 40000)
            # One run each: the page assumes that nodes' values are normal with a variance of their own.
            near_enough = error + (0.02 if runs == 1 else 0)
            expect(abs(row[right] / 100 - wanted) < near_enough, f'{runs} runs of {mean}: {row[right]} %, played {wanted}')
            expect(abs(row[false] / 100 - wrong) < error, f'{runs} runs of {mean}: {row[false]} %, played {wrong}')


def test_plan_by_records(folder):
    rates = fleet(6, 30, 4, 3, between=0.008, run_spread=0.003)
    answer = run_json('accept', offer(folder, nodes=30, may_fail=2), '--plan', deliver(folder, rates))
    sample = Sample(rates, 30)
    row = answer['tables']['clauses']['rows'][0]
    expect(near(row['between_runs'], 100 * sample.e / sample.m, 1e-6), str(row))
    expect(near(row['between_nodes'], 100 * math.sqrt(sample.s ** 2 - sample.e ** 2 / 3) / sample.m, 1e-6), str(row))
    expect('30 nodes in earlier records' in str(answer['notes']), str(answer['notes']))
    fewest = min(row['nodes'] for row in answer['tables']['choices']['rows'] if row['decides'] == 'yes')
    expect(fewest < 30, 'with two that may fail, some of the nodes speak for all')


def test_no_plan(folder):
    """A confidence that no data can give, and no tolerance at all."""
    for rules in (RULES.replace('95 %', '99.9999999999 %'), RULES.replace('tolerance = 2 %', 'tolerance = 0 %', 1)):
        done = run('accept', offer(folder, nodes=2, rules=rules), '--plan')
        expect_exit(done, NO, 'No plan with up to 2 nodes')
    path = offer(folder, rules=RULES.replace('95 %', '99.99999 %'))
    expect('99.99999 % confidence' in run('accept', path, '--plan').stdout.replace('\n', ' '), 'it is rounded')
    choices = run_json('accept', offer(folder, nodes=1), '--plan', statuses=(DONE, NO))['tables']['choices']['rows']
    once, = [row for row in choices if row['runs'] == 1]
    expect(once['decides'] == 'no', f'one run of one node: {once}')


def test_bad_records(folder):
    """Each with its message."""
    rates = fleet(2, 8, 4, 2, 1010, 0.002)
    offered = offer(folder)
    records = deliver(folder, rates)
    first = records / 'node-0000-0.json'
    kept = first.read_text()

    def told(status, *fragments):
        expect_exit(run('accept', offered, records), status, *fragments)
        first.write_text(kept)
    made = json.loads(kept)
    edited = json.loads(kept)
    edited['results'][0]['tokens_per_s'] *= 1.5
    first.write_text(json.dumps(edited))
    told(BAD_INPUT, 'digest')
    write(records, record('node-0000', 0, made['results'], kernels='beef'))
    told(BAD_INPUT, 'other kernels of the probe')
    twice = records / 'again.json'
    twice.write_text(kept)
    told(BAD_INPUT, 'are the same record')
    twice.unlink()
    for number in range(4, 8):
        write(records, record('node-0000', number, made['results']))
    told(BAD_INPUT, 'node node-0000 has 8 accelerators', 'two nodes of one name')
    for number in range(4, 8):
        (records / f'node-0000-{number}.json').unlink()
    write(records, record('node-0001', 7, made['results'], uuid=made['device']['uuid']))
    told(BAD_INPUT, 'appears on two nodes', 'would count twice')
    (records / 'node-0001-7.json').unlink()
    other = record('node-0000', 0, made['results'])
    other['device']['name'] = 'NVIDIA H100 80GB HBM3'
    other['digest'] = digest_of(other)
    first.write_text(json.dumps(other))
    told(NO, 'is not h200-sxm-141', 'NVIDIA H100 80GB HBM3', 'node-0000')
    write(records, record('node-0000', 0, [result(1000.0, 550.0, batch=32)]))
    told(UNDECIDED, 'not covered by a guarantee, and left out', 'batch 32')
    write(records, record('node-0000', 0, [{**one, 'context': 1024} for one in made['results']]))
    told(UNDECIDED, 'not covered by a guarantee, and left out', 'context 1024')
    types = [{**one, 'precision': 'bf16', 'types': {**one['types'], 'weights': 'bf16'}} for one in made['results']]
    write(records, record('node-0000', 0, types))
    told(UNDECIDED, 'not covered by a guarantee, and left out', 'bf16')
    heads = [{**one, 'types': {**one['types'], 'head': 'e4m3'}} for one in made['results']]
    write(records, record('node-0000', 0, heads))
    offered = offer(folder, more='power = 560 W/gpu\nhead = bf16\n')
    told(UNDECIDED, 'not covered by a guarantee, and left out', 'head fp8')
    offered = offer(folder)
    write(records, record('node-0000', 0, heads))
    told(BAD_INPUT, 'matches two measured workloads', 'state head in it')
    models = [{**one, 'model': {**one['model'], 'id': 'llama-3.1-70b'}} for one in made['results']]
    write(records, record('node-0000', 0, models))
    told(UNDECIDED, 'not covered by a guarantee, and left out', 'llama-3.1-70b')
    for number in range(4):
        for device in range(4):
            (records / f'node-{number:04d}-{device}.json').unlink()
    listed = Path(folder) / 'nodes'
    listed.write_text(''.join(f'node-{n:04d}\n' for n in range(8)))
    expect_exit(run('accept', offered, records, '--expect', listed), UNDECIDED, 'no record of 16 accelerators',
                'Missing: node-0000, node-0001, node-0002, node-0003')


def test_clocks_apart(folder):
    """Nodes whose clocks are hours and years off are judged as usual; the sheet gives their own times."""
    rates, verdicts = fleet(9, 8, 2, 2, 1000, 0.004), []
    for name, apart in (('alike', {}), ('apart', {1: '2026-11-21T21:0{r}:00Z', 4: '1970-01-01T00:0{r}:00Z',
                                                  6: '2038-01-19T03:0{r}:00Z'})):
        at = Path(folder) / name
        at.mkdir()
        for n, node in enumerate(rates):
            for d, device in enumerate(node):
                write(at, record(f'node-{n:04d}', d, [result(rate, 550.0, when=apart.get(n, '2026-11-21T09:3{r}:00Z').format(r=r))
                                                      for r, rate in enumerate(device)]))
        answer = accept(offer(folder, each=2), at, statuses=(DONE,))
        verdicts.append((answer['verdict'], clauses(answer)))
    expect(verdicts[0] == verdicts[1], f'{verdicts[1]}')


def test_builds_of_runs(folder):
    """A second run of all nodes with another build is refused, as one of a single node is; the sheet has both."""
    records, twice = deliver(folder, fleet(2, 4, 2, 1, 1010, 0.002)), Path(folder) / 'again'
    twice.mkdir()
    for path in sorted(records.iterdir()):
        made = json.loads(path.read_text())
        again = [{**one, 'started': one['started'].replace('-21T', '-22T')} for one in made['results']]
        write(twice, record(made['environment']['node'], made['device']['index'], again, kernels='beef'))
    offered = offer(folder, nodes=4, each=2)
    expect_exit(run('accept', offered, records, twice), BAD_INPUT, 'other kernels of the probe', '(beef)')
    expect_exit(run('accept', offered, records), DONE)


def test_unlike_kernels(folder):
    """A node that fails with other kernels than most is said to have them; without any others, none are shown."""
    offered = offer(folder, each=1)
    for other, kernels in (('', None), ('step=streaming', 'step=streaming, unlike most')):
        records = Path(folder) / (other or 'own')
        records.mkdir()
        for n in range(8):
            made = record(f'node-{n:04d}', 0, [result(1005.0 + n if n != 3 else 900.0, 550.0)])
            write(records, with_variant(made, other if n == 3 else ''))
        answer = accept(offered, records, statuses=(NO,))
        node, = answer['tables']['nodes']['rows']
        expect((node['node'], node.get('kernels')) == ('node-0003', kernels), node)
        expect({row['variant'] for row in answer['tables']['records']['rows']} == {'own choice', other or 'own choice'},
               answer['tables']['records'])
        expect(('Kernels' in run('accept', offered, records).stdout) == bool(other), 'on a terminal')


def test_bad_offers(folder):
    records = deliver(folder, fleet(2, 8, 4, 1))
    good = offer(folder).read_text()
    for old, new, message in (
            ('accelerators = 32 gpu\n', '', "an offer needs 'accelerators'"),
            ('currency = USD', 'currency = EUR', 'the offer is in EUR but this is in USD'),
            ('power = 560 W/gpu', 'power = 5000 W/node', 'one rate is per node and another per gpu'),
            ('[acceptance]', GUARANTEE.format(tokens=4000).replace('decoding]', 'other]').replace('/gpu', '/node')
             + '[acceptance]', 'one rate is per node and another per gpu'),
            ('tolerance = 2 %', 'tolerance = 120 %', 'below 100 %'),
            ('confidence = 95 %', 'confidence = 100 %', 'below 100 %'),
            (GUARANTEE.format(tokens=1000) + 'power = 560 W/gpu\n', '', 'guarantees nothing')):
        expect(old in good, old)
        path = Path(folder) / 'bad.ini'
        path.write_text(good.replace(old, new, 1))
        expect_exit(run('accept', path, records), BAD_INPUT, message)
    path.write_text(good.replace('currency', 'valid_until = 2026-11-20\ncurrency', 1))
    done = run('accept', path, records)
    expect(done.returncode in ANY and 'valid until 2026-11-20' in done.stdout + done.stderr, done.stderr)
    path.write_text(good.replace('batch = 64\n', ''))
    write(records, record('node-0000', 0, [result(1000.0, 550.0, batch=32)]), 'more')
    expect_exit(run('accept', path, records), BAD_INPUT, 'matches two measured workloads', 'state batch')
    path.write_text(good.replace('nodes = 8 node\n', '').replace('servers = 58000 USD/node\n', '')
                    .replace('may_fail = 0 node', 'may_fail = 10 node'))
    expect_exit(run('accept', path, records), BAD_INPUT, "'may_fail' must be fewer than the 8 nodes")
    for more, message in (((), 'records are missing'), ((records, '--for', 'decodin'), "did you mean 'decoding'"),
                          (('--plan', '--shortfall', '1 %'), 'within the tolerance'),
                          (('--plan', '--chance', '0 %'), 'above 0 %'),
                          (('--plan', '-o', Path(folder) / 'x.xlsx'), 'a plan has no workbook')):
        expect_exit(run('accept', offer(folder), *more), BAD_INPUT, message)
    path.write_text(good.replace('nodes = 8 node\n', '').replace('servers = 58000 USD/node\n', ''))
    expect_exit(run('accept', path, '--plan'), BAD_INPUT, "a plan needs 'nodes'")
    scenario, other = EXAMPLE / 'quoted.ini', EXAMPLE / 'offer-revised.ini'
    for offered, more, message in ((EXAMPLE / 'offer.ini', ('--option', 'mi325x'), "option 'mi325x' does not use the offer"),
                                   (other, (), 'no option uses the offer Example Compute Q-2026-118-B')):
        expect_exit(run('accept', offered, EXAMPLE / 'records', '--scenario', scenario, *more), BAD_INPUT, message)


def test_doubts(folder):
    """Problems while a result was measured are reported; it counts anyway."""
    records = deliver(folder, fleet(2, 8, 4, 2, 1010, 0.002))
    made = json.loads((records / 'node-0002-1.json').read_text())
    made['results'][1]['flags']['thermal_unsettled'] = True
    write(records, record('node-0002', 1, made['results']))
    told = accept(offer(folder), records, statuses=(DONE,))['warnings']
    expect(told == ['1 of the 64 results used is in doubt: on node node-0002, the power had not settled'], str(told))


def test_more_than_offered(folder):
    """Records of other accelerators may stand in for some that were delivered: which ones, only the buyer knows."""
    records = deliver(folder, fleet(2, 9, 4, 2, 1010, 0.002))
    told = accept(offer(folder), records, statuses=(UNDECIDED,))
    verdicts = {name: row['verdict'] for name, row in clauses(told).items()}
    expect(verdicts == {'accelerators': 'not enough data', 'tokens/s': 'pass', 'watts': 'pass', 'single nodes': 'pass'},
           str(verdicts))
    expect(any(note.startswith('accelerators: 36 were measured, and 32 are offered: ') for note in told['notes']),
           str(told['notes']))
    accept(offer(folder), deliver(folder, fleet(2, 9, 4, 2, 900, 0.002)), statuses=(NO,))


def at_once(folder, rates, wall_w, devices=4):
    """Records of nodes whose devices ran together, and wall power for the runs of each node."""
    folder.mkdir()
    draw, drawn = random.Random(7), []
    for n, node in enumerate(rates):
        walls = [wall_w * (1 + draw.gauss(0, 0.002)) for _ in node[0]]
        drawn += walls
        for d, runs in enumerate(node):
            made = [result(rate, 550.0, when=f'2026-11-21T09:3{r}:00Z') for r, rate in enumerate(runs)]
            for r, one in enumerate(made):
                one['together'] = {**one['together'], 'devices': devices, 'tokens_per_s': runs[r], 'slowest': runs[r],
                                   'fastest': runs[r], 'total_tokens_per_s': devices * runs[r],
                                   'load_power_w': devices * 550.0, 'window_s': 20.0, 'wall_power_w': walls[r]}
            write(folder, with_links(record(f'node-{n:04d}', d, made), ''))
    return folder, drawn


def test_per_node(folder):
    """A guarantee for nodes covers all of their accelerators, and their watts include the host's."""
    rates = fleet(2, 8, 4, 2, 1010, 0.002)
    path = offer(folder, more='power = 3000 W/node\n')
    path.write_text(path.read_text().replace('1000 token/s/gpu', '4000 token/s/node'))
    found = clauses(accept(path, deliver(folder, rates), statuses=(UNDECIDED,)))
    expect(near(found['tokens/s']['measured'], 4 * Sample(rates, 8).m, 1e-9) and found['tokens/s']['verdict'] == 'pass',
           str(found['tokens/s']))
    expect(found['watts']['verdict'] == 'not enough data', str(found['watts']))
    done = run('accept', path, Path(folder) / 'records')
    expect_exit(done, UNDECIDED, "no node has wall power with all of its accelerators running")
    for wall_w, verdict in ((2900.0, 'pass'), (3200.0, 'fail')):
        at, drawn = at_once(Path(folder) / f'wall-{wall_w:g}', rates, wall_w)
        watts = clauses(accept(path, at))['watts']
        expect(watts['verdict'] == verdict and near(watts['measured'], statistics.fmean(drawn), 1e-9), str(watts))
    some = at_once(Path(folder) / 'some', rates, 2900.0, devices=2)[0]
    expect(clauses(accept(path, some))['watts']['verdict'] == 'not enough data', 'half of the accelerators ran')
    expect_exit(run('accept', path, at, '--plan'), DONE)


def test_workbook(folder):
    """Identical bytes each time; the sheet has the verdict, the digests and the lines to sign."""
    records = deliver(folder, fleet(2, 8, 4, 2, 1010, 0.002))
    books = [Path(folder) / name for name in ('one.xlsx', 'two.xlsx')]
    for book in books:
        expect_exit(run('accept', offer(folder), records, '-o', book), DONE, 'wrote')
    expect(books[0].read_bytes() == books[1].read_bytes(), 'two runs differ')
    with zipfile.ZipFile(books[0]) as archive:
        text = archive.read('xl/sharedStrings.xml').decode()
        names = archive.read('xl/workbook.xml').decode()
        charts = [name for name in archive.namelist() if name.startswith('xl/charts/chart')]
    digest = json.loads((records / 'node-0003-2.json').read_text())['digest']
    for fragment in ('Pass: every clause', digest, 'Signature', 'The buyer', 'SHA-256 of the offer',
                     hashlib.sha256(offer(folder).read_bytes()).hexdigest(), 'Example Compute Q-1 of 2026-11-02',
                     '2026-11-21T09:30:00Z to 2026-11-21T09:31:00Z (UTC), 32 records'):
        expect(fragment in text, f'{fragment} is not in the workbook')
    for sheet in ('Acceptance', 'Nodes', 'Records'):
        expect(f'name="{sheet}"' in names, f'no sheet {sheet}')
    expect(len(charts) == 2, str(charts))
    if not shutil.which('ssconvert'):
        raise Skip('Gnumeric (ssconvert) is not installed')
    subprocess.run(['ssconvert', '-S', books[0], Path(folder) / 'sheet.csv'], check=True, capture_output=True)
    with (Path(folder) / 'sheet.csv.0').open(newline='') as sheet:
        shown = {row[0]: row for row in csv.reader(sheet) if len(row) > 7}
    told = set()
    for path in Path(folder).glob('sheet.csv.*'):
        with path.open(newline='') as sheet:
            told |= {tuple(row) for row in csv.reader(sheet)}
    for path in records.glob('*.json'):
        made = json.loads(path.read_text())
        for one in made['results']:
            wanted = {made['environment']['node'], made['device']['uuid'], one['started'], 'pertoken-probe 0.1.0', '00ff', made['digest']}
            expect(any(wanted <= set(row) for row in told), f'no row of {path.name}, {one["started"]}')
    mean = clauses(accept(offer(folder), records))['tokens/s']
    for column, key in ((3, 'quoted'), (4, 'limit'), (5, 'measured'), (6, 'low'), (7, 'high')):
        expect(near(float(shown['decoding: tokens/s'][column]), mean[key]), f'{key}: {shown["decoding: tokens/s"]}')


def test_workbook_of_one_node(folder):
    """A line of one point is invisible, so there is no chart; a table of facts has no bar without words."""
    book = Path(folder) / 'x.xlsx'
    records = deliver(folder, [[[1000.0]]])
    expect_exit(run('accept', offer(folder, 8, 1), records, '-o', book), UNDECIDED, 'wrote')
    with zipfile.ZipFile(book) as archive:
        expect(not any('chart' in name for name in archive.namelist()), 'a chart of one node')
        cells = re.findall(r'<c r="A(\d+)"[^>]*><v>(\d+)</v>', archive.read('xl/worksheets/sheet1.xml').decode())
    told = strings_of(book)
    first = {told[int(text)]: int(row) for row, text in cells}
    expect(first['Verdict'] == first['What was checked'] + 1, str(first))
    for words in ('Does the delivery meet the quote?', '95 %',
                  '2026-11-21T09:30:00Z to 2026-11-21T09:30:00Z (UTC), 1 record, on the sheet Records'):
        expect(words in told, f'{words}: {told}')


def test_example(folder):
    del folder
    answer = accept(EXAMPLE / 'offer.ini', EXAMPLE / 'records', '--for', 'decoding', statuses=(NO,))
    row, = answer['tables']['nodes']['rows']
    expect(row['node'] == 'node-05' and row['verdict'] == 'fail', str(row))


if __name__ == '__main__':
    run_with_fleets(globals(), check_formulas)
