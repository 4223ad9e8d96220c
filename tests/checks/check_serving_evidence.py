#!/usr/bin/python3
"""A serving record as evidence, from the file to every face.

Records of the tests' own are put beside scenarios. Throughput and watts in compare, explain, the
workbook and the page must be those of the record: at the server's maximum, at a batch, at a rate per
user, and within times to the first token and between tokens; between two rungs, those on a straight
line, computed here. A record that contradicts the option is refused, an edited record is not read, a
refused rung does not count, and a static batch is decoding.
Deep: the workbook is recalculated after random changes.
Seconds: 6
"""
import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / room) for room in ('workbook', 'page')]
import check_page  # noqa: E402
import check_recalculation  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support.program import (BAD_INPUT, Count, DEEP, Skip, expect, expect_exit, near, run,  # noqa: E402
                             run_json)
from support.records import NO_LATENCY, NO_POWER, RUNG, rung, save, serving  # noqa: E402

GPUS, TDP_W = 8, 700
SCENARIO = """\
[scenario]
title = Served
date = 2026-11-20
baseline = mine
[workload]
model = llama-2-70b
precision = fp8
utilization = 70 %
[common]
accelerators = 8
list_price = 30000 USD
electricity_price = 0.1 USD/kWh
pue = 1.2
[option mine]
accelerator = h200-sxm-141
"""


def times(ttft_s, tpot_s):
    """For a rung: medians, with P90 and P99 equal."""
    def latency(seconds):
        return {**NO_LATENCY, 'p50_s': seconds / 2, 'p90_s': seconds, 'p99_s': seconds}
    return {'ttft': latency(ttft_s), 'tpot': latency(tpot_s)}


# Requests in flight, total token/s, total W, seconds to the first token.
POINTS = [(1, 120, 2800, 0.2), (64, 5000, 5000, 1.0), (256, 9000, 5600, 4.0)]
CURVE = [rung(flight, rate, watts, **times(ttft, 0.01 + flight / 1e4)) for flight, rate, watts, ttft in POINTS]
MET = {**RUNG, 'load': 'Poisson arrivals', 'concurrency': None, 'request_rate': 8.0, 'completed': 480.0,
       'goodput_per_s': 6.0, 'slo_ttft_s': 2.0, 'slo_tpot_s': 0.05}
REFUSED = {**rung(128, 50000), 'refused': '3 of 12 requests failed'}
STATIC = {**RUNG, 'load': 'static batch', 'concurrency': 64.0, 'input_tokens_per_s': None,
          'output_tokens_per_s': 12000.0}
PROMPTS = {**STATIC, 'output_tokens': None, 'output_tokens_per_s': None, 'input_tokens_per_s': 80000.0}


class Place:
    """Folders with records, each beside the same scenario."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / 'served.ini'
        self.path.write_text(SCENARIO)
        self.number = 0

    def records(self, *records):
        self.number += 1
        folder = self.folder / str(self.number)
        folder.mkdir()
        for number, record in enumerate(records):
            save(folder / f'record-{number}.json', record)
        harness.PLACES[self.path] = ['--measurements', folder]
        return folder

    def arguments(self, settings=()):
        return [*harness.places(self.path), *(f'--set={setting}' for setting in settings)]

    def compare(self, *settings):
        return run_json('compare', self.path, *self.arguments(settings))

    def refused(self, message, *settings):
        expect_exit(run('compare', self.path, '-q', *self.arguments(settings)), BAD_INPUT, message)

    def explained(self, item, *settings):
        done = run('explain', self.path, item, '-q', *self.arguments(settings))
        expect(done.returncode == 0, done.stderr)
        return ' '.join(done.stdout.split())


def item(answer, name, option='mine'):
    return next(each for each in answer['options'] if each['id'] == option)['inputs'][name]


def expect_rate(answer, of_all, watts_of_all, grade='measured'):
    for name, all_of_them in (('throughput', of_all), ('load_power', watts_of_all)):
        figure = item(answer, name)
        expect(near(figure['value'], all_of_them / GPUS, 1e-9), f'{name}: {figure["value"]}')
        expect(figure['grade'] == grade, f'{name}: {figure["grade"]}')


def between(low, high, at):
    share = (at - low[0]) / (high[0] - low[0])
    return [a + share * (b - a) for a, b in zip(low, high)]


# ---- which point

def test_most(place):
    place.records(serving(*CURVE, REFUSED))
    answer = place.compare()
    expect_rate(answer, 9000, 5600)
    source = item(answer, 'throughput')['source']
    expect('record-0.json: vLLM 0.10.1 on 8 accelerators, 256 requests in flight' in source, source)
    warnings = ' '.join(json.dumps(answer).split())
    for words in ("the server's maximum, with 256 requests in flight", 'TTFT P99 4 s',
                  'may yield more, as the ladder ends before saturation', '1 of its rungs was refused'):
        expect(words in warnings, f'{words}: {warnings}')


def test_batch_and_rate(place):
    place.records(serving(*CURVE[:2]))
    expect_rate(place.compare('workload.batch=64'), 5000, 5000)
    _, rate, watts, _ = between(*POINTS[:2], 40)
    expect_rate(place.compare('workload.batch=40'), rate, watts, 'projected')
    # Rate per user on the straight line from (1, 120) to (64, 5000), solved by hand: the largest whole
    # batch at which 42.54 + 77.46 b is at least 79 b is 27.
    _, rate, watts, _ = between(*POINTS[:2], 27)
    expect_rate(place.compare('workload.interactivity=79 token/s'), rate, watts, 'projected')
    place.refused('1 to 64 requests in flight, and batch 65 is outside', 'workload.batch=65')
    place.refused('is below the measured range', 'workload.interactivity=10 token/s')
    place.refused('has batch along with interactivity', 'workload.batch=1', 'workload.ttft=1 s')


def test_times(place):
    place.records(serving(*CURVE[:2]))
    for settings, batch in ((['workload.ttft=1 s'], 64), (['workload.ttft=600 ms'], 32),
                            (['workload.ttft=1 s', 'workload.tpot=12 ms'], 20)):
        _, rate, watts, _ = between(*POINTS[:2], batch)
        expect_rate(place.compare(*settings), rate, watts, 'measured' if batch == 64 else 'projected')
        expect(place.compare(*settings)['options'][0]['workload']['batch'] == str(batch), settings)
    for settings, words in ((['workload.ttft=1 s', 'workload.tpot=12 ms'], 'TTFT 1 s, TPOT 12 ms, batch'),
                            (['workload.interactivity=80 token/s'], '80 token/s per user on average, batch')):
        shown = ' '.join(run('compare', place.path, '-q', *place.arguments(settings)).stdout.split())
        expect(f', {words}' in shown, shown)
    place.refused('no measured point meets it: at batch 1 P99 is 0.2 s', 'workload.ttft=100 ms')
    place.refused('ttft must be above 0 s', 'workload.ttft=0 s')
    place.records(serving(*({**each, 'ttft': NO_LATENCY} for each in CURVE)))
    place.refused('give no P90 for time to first token or between tokens: each needs 64 requests\n', 'workload.ttft=1 s')
    place.records(serving(*({**each, 'ttft': NO_LATENCY, 'completed': None} for each in CURVE)))
    place.refused('each needs 64 requests, and the record does not state how many there were', 'workload.ttft=1 s')


def lacking(percentile):
    return [{**each, **{time: {**each[time], percentile: None} for time in ('ttft', 'tpot')}} for each in CURVE]


LONGER = [{**each, **{time: {**each[time], 'p99_s': 1.5 * each[time]['p90_s']} for time in ('ttft', 'tpot')}}
          for each in CURVE]
SHORTER = lacking('p99_s')


def test_one_percentile(place):
    """Both are judged at the percentile that both records have: a longer test, which knows P99 too, changes nothing."""
    longer, shorter = LONGER, SHORTER
    settings = 'workload.ttft=600 ms', 'workload.tpot=100 ms'
    rates = []
    try:
        place.path.write_text(SCENARIO + OTHER)
        for mine, other, words in ((longer, shorter, 'TTFT P90 '), (shorter, longer, 'TTFT P90 '),
                                   (longer, longer, 'TTFT P99 ')):
            place.records(serving(*mine), serving(*other, accelerator='b200-sxm-180'))
            answer = place.compare(*settings)
            its = [item(answer, 'throughput', option) for option in ('mine', 'other')]
            expect(all(words in each['source'] for each in its), its)
            expect(near(its[0]['value'], its[1]['value']), its)
            rates.append(its[0]['value'])
        expect(near(rates[0], rates[1]) and rates[2] < rates[0], rates)
        place.records(serving(*lacking('p90_s')), serving(*shorter, accelerator='b200-sxm-180'))
        place.refused('not comparable, the share of requests that meet ttft and tpot: P99 and P90', *settings)
        answer = run_json('compare', place.path, '--mixed', *place.arguments(settings))
        expect('P99 and P90' in json.dumps(answer) and not any(each.get('cheapest') for each in answer['options']), answer)
    finally:
        place.path.write_text(SCENARIO)


def test_one_percentile_of_a_workload(place):
    """So it is where a workload is routed: what one vendor's share costs does not depend on how long it tested."""
    costs = []
    try:
        place.path.write_text(SCENARIO + OTHER.replace('b200-sxm-180', 'mi300x-192') +
                              '[demand chat]\ntokens = 4000 Mtok/day\n')
        for mine in (LONGER, SHORTER):
            place.records(serving(*mine), serving(*SHORTER, accelerator='mi300x-192'))
            settings = 'workload.ttft=600 ms', 'workload.tpot=100 ms'
            rows = run_json('route', place.path, *place.arguments(settings))['answers'][0]['tables']['sourcing']['rows']
            costs.append(next(row['cost'] for row in rows if row['sourcing'] == 'all from nvidia'))
        expect(near(*costs), costs)
    finally:
        place.path.write_text(SCENARIO)


def test_the_limit_to_blame(place):
    place.records(serving(*CURVE[:2]))
    limits = 'ttft = 1 s\ntpot = 5 ms\n'
    try:
        place.path.write_text(SCENARIO.replace('utilization', limits + 'utilization', 1))
        line = SCENARIO.replace('utilization', limits, 1).split('\n').index('tpot = 5 ms') + 1
        place.refused(f'{place.path}:{line}:')
    finally:
        place.path.write_text(SCENARIO)


LOADS = "the servers' loads are unlike"


def test_unlike_loads(place):
    """A closed loop beside arrivals is named, with both loads; arrivals beside arrivals are not."""
    arrivals = {**rung(1, 8000, **times(0.9, 0.02)), 'load': 'Poisson arrivals', 'concurrency': None,
                'request_rate': 16.0}
    closed = serving(*CURVE[:2])
    try:
        place.path.write_text(SCENARIO + OTHER)
        for mine, differ in ((closed, True), (serving(arrivals), False)):
            place.records(mine, serving(arrivals, accelerator='b200-sxm-180'))
            for settings in ((), ('workload.ttft=950 ms',)):
                warned = ' '.join(place.compare(*settings)['warnings'])
                expect((LOADS in warned) == differ, warned)
                expect(not differ or 'requests in flight (a closed loop); other with 16 requests/s, Poisson arrivals' in
                       warned, warned)
    finally:
        place.path.write_text(SCENARIO)


def test_unlike_demands(place):
    """What ranked options must serve is named where it differs, and not where it is alike."""
    place.records(serving(*CURVE), serving(*CURVE, accelerator='b200-sxm-180'))
    alike = 'demand=20 Gtok/day'
    try:
        place.path.write_text((SCENARIO + OTHER).replace('accelerators = 8\n', ''))
        for settings, words in (
                ((alike,), None), ((alike, 'mine.demand=20000 Mtok/day'), None), ((alike, 'day_profile=office'), None),
                ((alike, 'mine.day_profile=flat'), None), ((alike, 'mine.utilization=60 %'), None),
                ((alike, 'mine.demand=10 Gtok/day'), 'demand: mine 10 Gtok/day, other 20 Gtok/day'),
                ((alike, 'other.day_profile=office'), 'day profile: mine flat, other office'),
                ((alike, 'mine.demand=10 Gtok/day', 'other.day_profile=office'), 'Gtok/day; day profile: ')):
            warned = ' '.join(place.compare(*settings)['warnings'])
            expect(('do not serve the same' in warned) == bool(words) and (words or '') in warned, (settings, warned))
    finally:
        place.path.write_text(SCENARIO)


def test_whole_servers(place):
    """A record of eight accelerators says little about four or twelve; only their number decides."""
    place.records(serving(*CURVE))
    part = 'may not serve in proportion'
    demand = SCENARIO.replace('accelerators = 8\n', 'demand = 1000 token/s\npurchase_unit = {} gpu\n')
    try:
        for text, settings, words in (
                (SCENARIO, (), ''), (SCENARIO, ('accelerators=16',), ''), (SCENARIO, ('accelerators=4',), '4 are a part of one'),
                (SCENARIO, ('accelerators=12',), '12 are not a whole number of them'),
                (SCENARIO, ('accelerators=8, 12, 16 gpu',), '12 in year 2 are not a whole'),
                (SCENARIO, ('accelerators=12', 'mine.throughput=1000 token/s'), ''),
                (demand.format(1), (), "such a 'purchase_unit'"), (demand.format(8), (), '')):
            place.path.write_text(text)
            warned = ' '.join(place.compare(*settings)['options'][0]['warnings'])
            expect((part in warned) == bool(words) and words in warned, (settings, warned))
    finally:
        place.path.write_text(SCENARIO)


def test_ladder_within_limits(place):
    """If even the highest load tested meets the times, a longer ladder might serve more: whoever tested less is told."""
    flat = rung(512, 9100, **times(5.0, 0.04))
    arrivals = {**rung(1, 9500, **times(1.0, 0.02)), 'load': 'Poisson arrivals', 'concurrency': None, 'request_rate': 16.0}
    loose, tight = ('workload.ttft=9 s', 'workload.tpot=90 ms'), ('workload.ttft=2 s', 'workload.tpot=90 ms')
    for rungs, settings, words in (
            (CURVE, loose, 'the highest load tested, 256 requests in flight, is within the limits; more requests'),
            (CURVE, tight, ''), ((*CURVE, flat), loose, ''),
            ((*CURVE, arrivals), loose, 'is within the limits; a higher rate of requests may yield more')):
        place.records(serving(*rungs))
        warned = ' '.join(place.compare(*settings)['options'][0]['warnings'])
        expect(('the highest load tested' in warned) == bool(words) and words in warned, (settings, warned))


def test_watts_of_another_device(place):
    """Watts of a record that no load draws are named as typed ones are."""
    for watts, words in ((TDP_W, ''), (5, 'load_power, 5 W/gpu, is 1/140 of the TDP'), (2000, 'is 2.9 times the TDP')):
        place.records(serving(*(rung(flight, rate, watts * GPUS, **times(ttft, 0.01)) for flight, rate, _, ttft in POINTS)))
        warned = ' '.join(place.compare()['options'][0]['warnings'])
        expect(('of the TDP' in warned or 'times the TDP' in warned) == bool(words) and words in warned, (watts, warned))


def test_arrivals(place):
    """Arrivals beside a closed loop count for the maximum, and within times if they are faster."""
    arrivals = {**rung(1, 8000, **times(1.5, 0.02)), 'load': 'Poisson arrivals', 'concurrency': None,
                'request_rate': 16.0}
    place.records(serving(*CURVE[:2], arrivals))
    for settings, rate in (([], 8000), (['workload.ttft=2 s'], 8000), (['workload.ttft=1 s'], 5000),
                           (['workload.interactivity=78.125 token/s'], 5000)):
        answer = place.compare(*settings)
        expect(near(item(answer, 'throughput')['value'], rate / GPUS), f'{settings}: {answer}')
    expect("the server's maximum, with 16 requests/s, Poisson arrivals" in json.dumps(place.compare()), 'which')


def test_doubt(place):
    """What the server itself contradicts is used with a warning, by every command that shows it."""
    folder = place.records(serving(*CURVE[:2], {**CURVE[2], 'server_counters': 'differ: 2 of 1'}))
    doubt = "the server's own counters differ: 2 of 1"
    expect(f'the served throughput is doubtful: with 256 requests in flight, {doubt}' in json.dumps(place.compare()),
           'compare')
    expect(doubt not in json.dumps(place.compare('workload.batch=64')), 'a rung in no doubt')
    for words in ([place.path, *place.arguments()], [folder / 'record-0.json']):
        done = run('served', *words, '-q')
        expect(doubt in ' '.join(done.stdout.split()), done.stdout)


def test_doubt_of_chunks(place):
    """A limit on TPOT may be met only because the first chunk's tokens count: 32 tokens in 7 chunks."""
    slow = {**times(0.2, 0.01), 'output_tokens': 32.0, 'tpot': {**times(0, 0.01)['tpot'], 'mean_s': 0.0087},
            'chunk_gap': {**NO_LATENCY, 'mean_s': 0.045}}
    place.records(serving(*({**each, **slow} for each in CURVE)))
    doubt = 'so TPOT, as clients define it, is too low'
    for settings, doubtful in ((['workload.tpot=20 ms'], True), (['workload.ttft=1 s'], False), ([], False)):
        said = json.dumps(place.compare('output_tokens=32 token', *settings))
        expect((f'the served throughput is doubtful: with 256 requests in flight, chunks hold 4.6 tokens, {doubt}' in said,
                doubt in said) == (doubtful, doubtful), (settings, said))


# ---- contradictions

def test_contradictions(place):
    place.records(serving(*CURVE))
    place.refused('requests have 8192 tokens in, but the records served requests of 1024 tokens in, 256 out',
                  'workload.context=8192')
    for settings, words in ((['mine.record=nowhere.json'], 'no record named nowhere.json'),
                            (['mine.record=record-0.json', 'workload.precision=bf16'], 'precision = fp8, but'),
                            (['mine.record=record-0.json', 'mine.accelerator=b200-sxm'],
                             'accelerator = h200-sxm-141, but the option asks for'),
                            (['mine.record=record-0.json', 'mine.evidence=tp0022'], 'both evidence and a record'),
                            (['workload.tokens=total'], 'tokens = output, but the option asks for total')):
        place.refused(words, *settings)


def test_lengths_of_a_case(place):
    """A record that was served with other requests than a case's is refused, as it is with --set."""
    place.records(serving(*CURVE))
    words = 'the records served requests of 1024 tokens in, 256 out'
    stated = SCENARIO + 'input_tokens = 1024 token\n[case long]\nmine.input_tokens = 4000 token\n'
    place.refused(words, 'input_tokens=4000 token')
    try:
        place.path.write_text(stated)
        place.refused("option 'mine' in case 'long': the workload's requests have 4000 tokens in, but " + words)
        place.path.write_text(stated + 'mine.throughput = 300 token/s\n')
        expect_rate(place.compare(), 9000, 5600)
    finally:
        place.path.write_text(SCENARIO)


OTHER = """[option other]
accelerator = b200-sxm-180
"""


def test_lengths_of_another(place):
    """Answers of 256 tokens are not compared with answers of 2048; 250 count as 256."""
    def other(tokens):
        return serving(*({**each, 'output_tokens': tokens} for each in CURVE), accelerator='b200-sxm-180')
    try:
        place.path.write_text(SCENARIO + OTHER)
        place.records(serving(*CURVE), other(2048.0))
        place.refused('are not comparable, output_tokens: 256 and 2048')
        place.records(serving(*CURVE), other(250.0))
        expect(len(place.compare()['options']) == 2, 'nearly the same lengths')
    finally:
        place.path.write_text(SCENARIO)


OFFER = """[offer]
vendor = Example Compute
reference = Q-1
date = 2026-11-02
currency = USD
accelerator = h200-sxm-141
accelerators = 8 gpu
[price]
accelerators = 30000 USD/gpu
[guarantee chat]
model = llama-2-70b
precision = fp8
basis = serving
tokens_per_s = 1500 token/s/gpu
[acceptance]
remedy = 1 %
"""


def test_remedy_of_what_was_served(place):
    """Measured at 9000 / 8 = 1125 token/s where 1500 are guaranteed, 25 % less: 25 % of the price is owed. A guarantee
    of another load or of other requests says nothing of it."""
    try:
        place.path.write_text(SCENARIO + 'quote = offer.ini\n')
        place.records(serving(*CURVE, kv='fp8'))
        for conditions, share in (('', 0.25), ('concurrency = 256 request\n', 0.25), ('concurrency = 64 request\n', 0),
                                  ('request_rate = 8 request/s\n', 0), ('kv = int8\n', 0), ('kv = fp8\n', 0.25),
                                  ('input_tokens = 1000 token\noutput_tokens = 256 token\n', 0.25),
                                  ('input_tokens = 1024 token\noutput_tokens = 1024 token\n', 0)):
            (place.folder / 'offer.ini').write_text(OFFER.replace('tokens_per_s', conditions + 'tokens_per_s'))
            option = place.compare()['options'][0]
            owed = option['items'].get('remedy_total', 0)
            expect(near(-owed, share * option['items']['hardware_cost']), f'{conditions}: {owed}')
            lacks = any('the offer Example Compute Q-1' in each and 'does not count' in each for each in option['warnings'])
            expect(lacks == (not share), f'{conditions}: {option["warnings"]}')
        (place.folder / 'offer.ini').write_text(OFFER.replace('remedy = 1 %', 'remedy = replacement'))
        items = place.compare()['options'][0]['items']
        expect(near(items['replaced_share'], 25) or near(items['replaced_share'], 0.25), str(items['replaced_share']))
        shown = ' '.join(run('compare', place.path, '-q', *place.arguments()).stdout.split())
        expect("the vendor's replacements restore" in shown, shown)
    finally:
        place.path.write_text(SCENARIO)


PROMISED = """concurrency = 64 request
input_tokens = 1024 token
output_tokens = 256 token
ttft = {} 1 s
tpot = {} 20 ms
"""


def test_promises_under_unlike_loads(place):
    """Guarantees are ranked with a warning if one is of arrivals and another of requests in flight, or at unlike rates."""
    limits = 'workload.ttft=1 s', 'workload.tpot=20 ms'
    flight, slow, fast = 'concurrency = 64 request', 'request_rate = 40 request/s', 'request_rate = 800 request/s'
    try:
        place.path.write_text(SCENARIO.replace('accelerators = 8\n', '') + 'quote = offer.ini\n' + OTHER + 'quote = other.ini\n')
        place.records()
        for mine, its, settings, words in (
                (flight, flight, (), ''), (fast, fast, (), ''),
                (fast, flight, (), 'mine guaranteed with 800 requests/s; other guaranteed with 64 requests in flight (a closed'),
                (slow, flight, limits, 'mine guaranteed with 40 requests/s; other guaranteed with 64 requests in flight'),
                (fast, slow, (), 'mine guaranteed with 800 requests/s; other guaranteed with 40 requests/s; no server'),
                (fast, slow, limits, '')):
            for name, kind, load in (('offer', 'h200-sxm-141', mine), ('other', 'b200-sxm-180', its)):
                promised = PROMISED.format('P99', 'P99').replace(flight, load)
                (place.folder / f'{name}.ini').write_text(OFFER.replace('tokens_per_s', promised + 'tokens_per_s').replace(
                    'h200-sxm-141', kind).replace('Q-1', f'Q-{name}'))
            warned = ' '.join(place.compare(*settings)['warnings'])
            expect((LOADS in warned) == bool(words) and words in warned, (mine, its, settings, warned))
        place.records(serving(*CURVE[:2]))
        place.path.write_text(SCENARIO + OTHER + 'quote = other.ini\n')
        warned = ' '.join(place.compare()['warnings'])
        expect('requests in flight (a closed loop); other guaranteed with 40 requests/s; requests that' in warned, warned)
    finally:
        place.path.write_text(SCENARIO)


def test_promises_at_unlike_percentiles(place):
    """What is guaranteed at another percentile than the other option's record or guarantee is ranked, with a warning."""
    other = OTHER + 'quote = other.ini\n'
    limits = SCENARIO.replace('utilization', 'ttft = 1 s\ntpot = 20 ms\nutilization', 1)
    quoted = limits.replace('accelerators = 8\n', '') + 'quote = offer.ini\n' + other
    try:
        for mine, its, words in (
                ('P99 P99', 'P99 P99', ''), ('P95 P90', 'P95 P90', ''),
                ('P90 P99', 'P95 P99', ': ttft: mine guarantees P90, other guarantees P95; at a lower'),
                ('P99 P90', 'P95 P90', ': ttft: mine guarantees P99, other guarantees P95; at a lower'),
                ('P99 P90', 'P95 P95', 'other guarantees P95; tpot: mine guarantees P90, other guarantees P95; at'),
                ('', 'P99 P99', ''), ('', 'P99 P90', ': tpot: mine was measured at P99, other guarantees P90')):
            for name, percentiles in (('offer', mine or 'P99 P99'), ('other', its)):
                offer = OFFER.replace('tokens_per_s', PROMISED.format(*percentiles.split()) + 'tokens_per_s')
                kind = 'h200-sxm-141' if name == 'offer' else 'b200-sxm-180'
                (place.folder / f'{name}.ini').write_text(offer.replace('h200-sxm-141', kind).replace('Q-1', f'Q-{name}'))
            place.path.write_text(quoted if mine else limits + other)
            place.records(*([] if mine else [serving(*CURVE)]))
            warned = ' '.join(place.compare()['warnings'])
            expect(('unlike shares of the requests' in warned) == bool(words) and words in warned, (mine, its, warned))
    finally:
        place.path.write_text(SCENARIO)


def test_watts_in_writing(place):
    """Guaranteed watts stand in for those that no rung has, but not for measured ones, and not under other conditions
    than the record's. A throughput that is typed has no conditions that a guarantee could contradict."""
    bare = [rung(flight, rate, **times(ttft, 0.01 + flight / 1e4)) for flight, rate, _, ttft in POINTS]
    offer = OFFER.replace('[acceptance]', 'power = 560 W/gpu\n[acceptance]')
    try:
        for curve, conditions, watts, grade in (
                (bare, '', 560, 'quoted'), (CURVE, '', 5600 / GPUS, 'measured'),
                (bare, 'kv = int8\n', TDP_W, 'projected'), (bare, 'concurrency = 64 request\n', TDP_W, 'projected')):
            place.records(serving(*curve, kv='fp8'))
            (place.folder / 'offer.ini').write_text(offer.replace('power', conditions + 'power'))
            of_typed = (560, 'quoted') if curve is bare else (watts, grade)
            for typed, wanted in (('', (watts, grade)), ('throughput = 1000 token/s\n', of_typed)):
                place.path.write_text(SCENARIO + 'quote = offer.ini\n' + typed)
                option = place.compare()['options'][0]
                found = option['items']['average_power'], option['grades']['power']
                expect(near(found[0], wanted[0]) and found[1] == wanted[1], f'{conditions}{typed}: {found}')
    finally:
        place.path.write_text(SCENARIO)


def test_damaged(place):
    folder = place.records(serving(*CURVE))
    path = folder / 'record-0.json'
    text = path.read_text()
    path.write_text(text.replace('5000.0', '6000.0', 1))
    place.refused('the record was changed after it was written')
    path.write_text(text[:-40])
    place.refused('expected a complete record in JSON')
    record = json.loads(text)
    record['rungs'][0]['completed'] = 63.0
    save(path, record)
    place.refused('rungs[0]: a percentile with too few requests')
    del record['rungs'][0]['power']['load_power_w']
    save(path, record)
    place.refused('rungs[0].power.load_power_w: this field is missing')


def test_grades(place):
    """An imported record is as strong as its source, and the newest of the strongest counts."""
    public = {'grade': 'published', 'published_title': 'A study', 'published_url': 'https://example.org'}
    place.records(serving(*CURVE, **public, date='2026-11-19'))
    expect_rate(place.compare(), 9000, 5600, 'published')
    place.records(serving(*CURVE, **public, date='2026-11-19'), serving(*CURVE[:2]),
                  serving(*CURVE[:2], date='2026-10-01'))
    expect_rate(place.compare(), 5000, 5000)
    expect('of 3 matching serving records, record-1.json is used' in json.dumps(place.compare()), 'which')


def test_watts(place):
    """A node's watts include the host's; for half of the accelerators they are those accelerators';
    missing ones are not made up."""
    def metered(**power):
        return serving({**CURVE[1], 'power': {**NO_POWER, 'source': 'a meter', 'load_power_w': 8000.0, **power}})
    place.records(metered(covers='node'))
    answer = place.compare('host_power=100 W/gpu')
    expect(item(answer, 'load_power')['value'] == 900 and 'less host_power' in json.dumps(answer), 'less the host')
    answer = place.compare()
    expect(item(answer, 'load_power')['value'] == 1000 and item(answer, 'host_power')['value'] == 0, 'the node')
    place.records(metered(covers='accelerators', devices=4))
    expect(item(place.compare(), 'load_power')['value'] == 2000, 'four of eight')
    place.records(serving({**CURVE[0], 'power': NO_POWER}, *CURVE[1:]))
    expect_rate(place.compare(), 9000, 5600)
    figure = item(place.compare('workload.batch=160'), 'load_power')
    expect(near(figure['value'], 5300 / GPUS) and figure['grade'] == 'projected', figure)
    place.records(serving({**CURVE[1], 'power': NO_POWER}))
    expect(item(place.compare(), 'load_power')['grade'] == 'projected', 'no meter')
    place.records(serving(CURVE[0], {**CURVE[1], 'power': NO_POWER}, CURVE[2]))
    answer = place.compare('workload.batch=64')
    _, _, watts, _ = between(POINTS[0], POINTS[2], 64)
    expect(near(item(answer, 'load_power')['value'], watts / GPUS, 1e-9), 'between the rungs with a meter')
    expect((item(answer, 'throughput')['grade'], item(answer, 'load_power')['grade']) == ('measured', 'projected'),
           'a grade of their own')
    place.records(serving(*CURVE))
    answer = place.compare('mine.throughput=500 token/s')
    expect(item(answer, 'load_power')['value'] == 700 and item(answer, 'throughput')['grade'] == 'assumed',
           'a throughput typed over leaves the watts')


# ---- decoding

def test_decoding(place):
    place.records(serving(STATIC, basis='decode', tool='llama-bench'))
    place.refused('no record named record-9.json', 'mine.record=record-9.json')
    answer = place.compare('workload.basis=decode', 'workload.batch=64', 'workload.context=1024')
    expect(near(item(answer, 'decode_throughput')['value'], 12000 / GPUS), 'decode_throughput')
    expect('throughput' not in answer['options'][0]['inputs'], 'a static batch served')
    place.refused('sets ttft or tpot', 'mine.record=record-0.json', 'workload.ttft=1 s')


def test_decoding_from_an_empty_cache(place):
    """As llama-bench does unless told otherwise: its 256 tokens are decoded at a context of 128 on average."""
    place.records(serving({**STATIC, 'input_tokens': 0.0}, basis='decode', tool='llama-bench'))
    for changes in (), ('workload.batch=64', 'workload.context=128'):
        answer = place.compare('workload.basis=decode', *changes)
        expect(near(item(answer, 'decode_throughput')['value'], 12000 / GPUS), changes)
    place.refused('the records measured batch 64 at context 128', 'workload.basis=decode', 'workload.batch=64',
                  'workload.context=1024')


def test_prediction(place):
    """out / (in / prefill + out / decode), compared with the server's result."""
    place.records(serving(*CURVE[:2]), serving(STATIC, PROMPTS, basis='decode', tool='llama-bench'))
    answer = run_json('served', place.path, *place.arguments())['answers'][0]
    tables = answer['tables']
    row, = tables['prediction']['rows']
    wanted = 256 / (1024 / 10000 + 256 / 1500)
    expect(near(row['predicted'], wanted) and near(row['served'], 625), row)
    expect(near(row['share'], 100 * 625 / wanted), row)
    expect(len(tables['loads']['rows']) == 2, tables['loads'])
    typed = run_json('served', place.path, *place.arguments(['mine.prefill_throughput=5000 token/s']))
    row, = typed['answers'][0]['tables']['prediction']['rows']
    expect(near(row['predicted'], 256 / (1024 / 5000 + 256 / 1500)), row)
    place.records(serving(*CURVE))
    done = run('served', place.path, '-q', *place.arguments())
    expect('no decoding record' in ' '.join(done.stdout.split()), done.stdout)


def test_records_alone(place):
    """The output of `pertoken served` without a scenario: the serving records among all in a folder."""
    folder = place.records(serving(*CURVE), serving(STATIC, basis='decode', tool='llama-bench'))
    paths = sorted(folder.glob('*.json'))
    done = run('served', *paths, '--format', 'json')
    expect(done.returncode == 0 and 'record-0.json: llama-2-70b' in done.stdout, done.stdout + done.stderr)
    rows = json.loads(done.stdout)['tables']['loads']['rows']
    expect([row['throughput'] for row in rows] == [rate / GPUS for _, rate, _, _ in POINTS], rows)
    expect({row['record'] for row in rows} == {'record-0.json'}, rows)
    expect_exit(run('served', paths[1]), BAD_INPUT, 'no serving record among them')
    expect_exit(run('served', paths[0], 'none.json'), BAD_INPUT, 'none.json')
    expect_exit(run('served', place.path, paths[0]), BAD_INPUT, 'one scenario at a time')


def test_goodput(place):
    """It is shown with its limits and the share that met them, by record and by option; without limits it is not."""
    for last, shown in ((MET, True), ({**MET, 'slo_ttft_s': None, 'slo_tpot_s': None}, False), ({**MET, 'goodput_per_s': None}, False)):
        folder = place.records(serving(*CURVE, last))
        alone = run_json('served', *folder.glob('*.json'))['tables']
        of_options = run_json('served', place.path, *place.arguments())['answers'][0]['tables']
        expect(('goodput' in alone, 'goodput' in of_options) == (shown, shown), (alone, of_options))
        for tables in (alone, of_options) if shown else ():
            row, = tables['goodput']['rows']
            expect(row['load'] == '8/s, Poisson arrivals' and near(row['slo_ttft'], 2) and near(row['slo_tpot'], 50), row)
            expect(near(row['goodput'], 6) and near(row['share_met'], 75), row)
    folder = place.records(serving({**MET, 'goodput_per_s': 8.2}))
    expect_exit(run('served', *folder.glob('*.json')), BAD_INPUT, '8.2 requests per second met their limits, but only 8 were')


def test_fit(place):
    place.records(serving(*CURVE))
    answer = run_json('fit', place.path, *place.arguments(['workload.ttft=1 s']))['answers'][0]
    row, = answer['tables']['latency']['rows']
    expect(row['batch'] == 64 and near(row['throughput'], 625), row)
    expect('1280 tokens' in answer['answer'].replace(',', ''), answer['answer'])


# ---- the faces

def test_faces(place):
    place.records(serving(*CURVE, MET))
    cost = next(each for each in place.compare()['options'])['items']['cost_per_mtok']
    said = place.explained('mine.throughput')
    expect('throughput = 1125 token/s/gpu [measured] record record-0.json: vLLM' in said, said)
    expect('load_power = 700 W/gpu [measured] record record-0.json: nvml, 8 devices' in
           place.explained('mine.load_power'), 'watts')
    book = xlsx.read(harness.report(place.path, place.folder / 'served.xlsx'))
    cells = [cell for sheet in book.sheets.values() for cell in sheet.cells.values()]
    expect(sum(near(cell.value, cost) for cell in cells if isinstance(cell.value, float) and cell.formula) > 0,
           'the cost on a live cell')
    texts = [cell.value for cell in cells if isinstance(cell.value, str)]
    expect(any('record record-0.json: vLLM' in text for text in texts), 'the source in the workbook')
    expect('At every load' in texts and 'Requests that met their limits' in texts, 'the curve and goodput on Decisions')
    data = check_page.write_page(place.path, place.folder / 'served.html', harness.places(place.path))
    figure = data['cases'][0]['options'][0]['figures']['throughput']
    expect(near(figure['value'], 1125) or near(figure['value'], 1125 * 3600), figure)
    expect(figure['grade'] == 'measured' and 'record-0.json' in figure['source'], figure)


def test_recalculation(place):
    if reason := libreoffice.missing() or gnumeric.missing():
        raise Skip(reason)
    place.records(serving(*CURVE, MET), serving(STATIC, PROMPTS, basis='decode', tool='llama-bench'))
    harness.EXAMPLES[:] = [place.path]
    check_recalculation.FEW = 2 if DEEP else 1
    folder = place.folder / 'recalculation'
    folder.mkdir()
    tally = check_recalculation.check(False, folder)
    expect(sum(tally.states.values()) > 2 and not tally.failed + tally.refused, 'see above')


if __name__ == '__main__':
    count = Count()
    count.tests_in_folders(globals(), Place)
    count.finish()
