#!/usr/bin/python3
"""One record with decoding and prompts as a serving estimate, on every face.

The probe measures a tiny model once, and its figures are then replaced by round ones. The result on compare,
explain, the workbook and the page must be the sum of both rates as in cost-model.md, computed here, with the
rates graded measured and the sum projected; between two prompt lengths by the time to first token; and beyond
them, without lengths or without prompts, an upper bound with the reason.
Deep: the workbook is recalculated after random changes.
Seconds: 5
"""
import copy
import json
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / room) for room in ('workbook', 'page')]
import check_page  # noqa: E402
import check_probe  # noqa: E402
import check_recalculation  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import libreoffice  # noqa: E402
import perturb  # noqa: E402
import xlsx  # noqa: E402
from support.program import (BAD_INPUT, Count, DEEP, Skip, expect, expect_exit, near, run,  # noqa: E402
                             run_json)
from support.records import load, rung, save, serving  # noqa: E402

DECODE, DECODE_W, IDLE_W = 400.0, 90.0, 50.0
SECONDS, WATTS = {16: 0.125, 32: 0.25 + 0.025}, {16: 110.0, 32: 130.0}
ERRORS = [0.222, 0.841]
SCENARIO = """\
[scenario]
title = Estimated
date = 2026-11-23
[workload]
model = tiny
precision = bf16
utilization = 60 %
input_tokens = 32 token
output_tokens = 8 token
[common]
accelerators = 1
accelerators_per_node = 1
list_price = 1000 USD
list_price.quote = Q-1 2026-11-01
electricity_price = 0.1 USD/kWh
pue = 1.2
[option mine]
accelerator = cpu
record = record.json
"""


def measure(folder):
    """A record of the probe's, with every possible field."""
    check_probe.write_data(folder / 'data')
    done = check_probe.probe('run', '--device', 'cpu', '--model', 'tiny', '--data', folder / 'data', '--batch',
                             '2', '--context', '64', '--prefill', '16', '--time', '0.1', '-o', folder / 'measured')
    expect(done.returncode == 0, done.stderr)
    return load(check_probe.record_in(folder / 'measured'))


def rounded(record):
    """The same with figures that are easy to add up."""
    result = record['results'][0]
    prompt, mixed = result['prefills'][0], result['mixed'][0]
    result.update(tokens_per_s=DECODE, step_seconds=result['batch'] / DECODE, ci95_low=399.0, ci95_high=401.0, grade='measured', load_power_w=DECODE_W,
                  idle_power_w=IDLE_W, energy_meter='a meter of the test', flags=dict.fromkeys(result['flags'], False))
    result['prefills'] = [{**prompt, 'positions': length, 'chunk': 16, 'seconds': SECONDS[length],
                           'ci95_low_s': None, 'ci95_high_s': None, 'tokens_per_s': length / SECONDS[length],
                           'load_power_w': WATTS[length]}
                          for length in (32, 16)]
    result['mixed'] = [{**mixed, 'steps_s': error, 'chunk_s': 1.0, 'mixed_s': 1.0, 'sum_error': error}
                       for error in ERRORS]
    return record


class Place:
    """A folder with a scenario and a record."""
    record = None

    def __init__(self, folder):
        self.folder, self.path = folder, folder / 'estimated.ini'
        self.path.write_text(SCENARIO)
        check_probe.write_data(folder / 'data')
        (folder / 'records').mkdir()
        harness.PLACES[self.path] = ['--data', folder / 'data', '--measurements', folder / 'records']
        self.keep(lambda result: None)

    def keep(self, change):
        record = copy.deepcopy(Place.record)
        change(record['results'][0])
        save(self.folder / 'records' / 'record.json', record)

    def arguments(self, settings=()):
        return [*harness.PLACES[self.path], *(word for each in settings for word in ('--set', each))]

    def compare(self, *settings):
        return run_json('compare', self.path, *self.arguments(settings))

    def mine(self, *settings):
        return self.compare(*settings)['options'][0]

    def refused(self, words, *settings):
        done = run('compare', self.path, *self.arguments(settings))
        expect_exit(done, BAD_INPUT)
        expect(words in ' '.join(done.stderr.split()), done.stderr)


def expect_estimate(mine, rate, input_tokens=32, output_tokens=8, work=1.0, watts=None):
    """The sum of cost-model.md, and watts weighted by the time of its two terms."""
    reading, decoding = input_tokens * work / rate, output_tokens / DECODE
    found = mine['items']['throughput']
    expect(near(found, output_tokens / (reading + decoding), 1e-9), f'throughput: {found}')
    if watts is not None:
        drawn = (reading * watts + decoding * DECODE_W) / (reading + decoding)
        figure = mine['inputs']['load_power']
        expect(near(figure['value'], drawn, 1e-9) and figure['grade'] == 'projected', figure)


def expect_bound(place, words, *settings, devices=1):
    """Decode only, with the reason."""
    answer = place.compare(*settings)
    mine = answer['options'][0]
    expect(mine['decode_only'] and near(mine['items']['throughput'], DECODE / devices), mine['items']['throughput'])
    expect(mine['inputs']['load_power']['value'] == DECODE_W, mine['inputs']['load_power'])
    said = json.dumps(answer)
    expect('upper bound, decode only' in said and words in said, f'{words}: {said}')


# ---- the sum

def test_measured_length(place):
    mine = place.mine()
    expect(not mine['decode_only'], 'no upper bound')
    expect_estimate(mine, 32 / SECONDS[32], watts=WATTS[32])
    for name, value in (('decode_throughput', DECODE), ('prefill_throughput', 32 / SECONDS[32])):
        figure = mine['inputs'][name]
        expect(near(figure['value'], value, 1e-9) and figure['grade'] == 'measured', f'{name}: {figure}')
    expect(mine['grades']['throughput'] == mine['grade'] == 'projected', f'{mine["grades"]}, {mine["grade"]}')
    expect(mine['inputs']['idle_power']['value'] == IDLE_W, 'idle watts')


def test_library(place):
    """What multiplied a prompt of that length, regardless of others."""
    place.keep(lambda result: [prompt.update(library=f'tiles of {prompt["positions"]}') for prompt in result['prefills']])
    for length in (16, 32):
        said = place.mine(f'input_tokens={length} token')['inputs']['prefill_throughput']['source']
        expect(f'tiles of {length}' in said, said)


def test_between(place):
    seconds = SECONDS[16] + (20 - 16) / (32 - 16) * (SECONDS[32] - SECONDS[16])
    watts = WATTS[16] + (20 - 16) / (32 - 16) * (WATTS[32] - WATTS[16])
    mine = place.mine('input_tokens=20 token')
    expect_estimate(mine, 20 / seconds, input_tokens=20, watts=watts)
    expect(mine['inputs']['prefill_throughput']['grade'] == 'projected', 'between two lengths')
    expect('interpolated between those of 16 to 32' in json.dumps(mine), 'the words')


def test_hits(place):
    """The probe's prompts are read in full, so hits are subtracted without being stated."""
    answer = place.compare('mine.cache_hit=25 %')
    expect_estimate(answer['options'][0], 32 / SECONDS[32], work=0.75, watts=WATTS[32])
    expect('set prefill_includes_hits' not in json.dumps(answer), 'the record knows')


def test_cases(place):
    """Each case has the rate of its own prompts."""
    place.path.write_text(SCENARIO + '[case short]\ninput_tokens = 16 token\n')
    done = run_json('compare', place.path, '--case', 'short', *place.arguments())
    expect_estimate(done['options'][0], 16 / SECONDS[16], input_tokens=16, watts=WATTS[16])
    expect_estimate(place.mine(), 32 / SECONDS[32], watts=WATTS[32])
    place.path.write_text(SCENARIO + '[case long]\ninput_tokens = 33 token\n')
    expect_bound(place, 'measured prompts of 16 to 32 tokens, not of 33')


def test_typed(place):
    """A typed rate stays, with the other rate from the record; and the result is a sum anyway."""
    mine = place.mine('mine.prefill_throughput=1000 token/s')
    expect_estimate(mine, 1000)
    expect(mine['inputs']['load_power']['value'] == DECODE_W, "the watts are decoding's")
    mine = place.mine('mine.decode_throughput=800 token/s')
    rate = 32 / SECONDS[32]
    expect(near(mine['items']['throughput'], 8 / (32 / rate + 8 / 800)), mine['items'])
    expect(mine['grades']['throughput'] == 'assumed', mine['grades'])


def test_watts(place):
    expect('with requests of 32 tokens in, 8 out' in place.mine()['inputs']['load_power']['source'], 'for which requests')
    place.keep(lambda result: [prompt.update(load_power_w=None) for prompt in result['prefills']])
    figure = place.mine()['inputs']['load_power']
    expect(figure['value'] == DECODE_W and figure['grade'] == 'projected', figure)
    expect('prefill was not metered' in figure['source'], figure)


def test_beside_a_server(place):
    """The estimate that `served` compares with a server is the same sum, of the same record."""
    served = {**rung(1, 15), 'input_tokens': 32.0, 'output_tokens': 8.0}
    save(place.folder / 'records' / 'served.json',
         serving(served, accelerator='cpu', accelerators=1, model='tiny', precision='bf16'))
    place.path.write_text(SCENARIO.replace('record = record.json', 'record = served.json\nload_power = 90 W'))
    row, = run_json('served', place.path, *place.arguments())['answers'][0]['tables']['prediction']['rows']
    expect(near(row['predicted'], 8 / (SECONDS[32] + 8 / DECODE)) and near(row['served'], 15), row)


# ---- no sum

def test_bounds(place):
    expect_bound(place, 'measured prompts of 16 to 32 tokens, not of 33', 'input_tokens=33 token')
    expect_bound(place, 'measured prompts of 16 to 32 tokens, not of 15', 'input_tokens=15 token')
    expect_bound(place, 'upper bound', 'workload.scenario=decode')
    place.keep(lambda result: result.update(shard={**result['shard'], 'of': 2, 'all_reduce_s': 1e-5,
                                                   'step_seconds': 1e-3, 'source': 'the test'}, grade='projected'))
    expect_bound(place, 'measured its prompts on only part of the model', devices=2)
    place.keep(lambda result: result.update(prefills=[], mixed=[]))
    expect_bound(place, 'the record has no prompts')
    place.path.write_text(SCENARIO.replace('input_tokens = 32 token\noutput_tokens = 8 token\n', ''))
    expect_bound(place, 'upper bound')
    place.keep(lambda result: None)
    expect_bound(place, 'also has prompts: set input_tokens and output_tokens to use them')
    expect_bound(place, 'prefill_throughput is used only with input_tokens and output_tokens',
                 'mine.prefill_throughput=1000 token/s')


def test_refused(place):
    place.refused('no record has a whole-model result of tiny in int8', 'workload.precision=int8')
    place.keep(lambda result: result['prefills'][0].update(tokens_per_s=500.0))
    place.refused("a prompt's tokens_per_s is not positions / seconds")


# ---- the faces

def test_error_of_adding(place):
    said = ' '.join(json.dumps(place.compare()).split())
    expect('such a sum was off by +22.2 to +84.1 %' in said, said)
    place.keep(lambda result: result.update(mixed=[]))
    expect('was not measured' in json.dumps(place.compare()), 'no error was measured')


def test_faces(place):
    done = ' '.join(run('compare', place.path, '-q', *place.arguments()).stdout.split())
    expect('Serving estimate: mine (' in done and 'Prefill: mine from record record.json' in done, done)
    done = run('explain', place.path, 'mine.throughput', '-q', *place.arguments()).stdout
    expect('Serving estimate' in done and done.count('[measured]  record record.json') == 2, done)
    book = xlsx.read(harness.report(place.path, place.folder / 'estimated.xlsx'))
    evidence = [cell.value for cell in book.sheets['Evidence'].cells.values() if isinstance(cell.value, str)]
    for words in ('Serving estimate (prefill plus decoding): mine', 'prompts of 32 tokens alone'):
        expect(any(words in text for text in evidence), f'{words}: {evidence}')
    data = check_page.write_page(place.path, place.folder / 'estimated.html', harness.places(place.path))
    expect(data['options'][0]['serving_estimate'] is True, 'the page stamps it')


# With another of these, pertoken takes another rate or other watts from the record.
OF_THE_RECORD = ('input_tokens', 'output_tokens', 'prefill_throughput', 'decode_throughput', 'cache_hit', 'cached_work')


def test_recalculation(place):
    if reason := libreoffice.missing() or gnumeric.missing():
        raise Skip(reason)
    if not DEEP:
        raise Skip('the deep run recalculates the workbook')
    harness.EXAMPLES[:] = [place.path]
    offered = perturb.candidates
    perturb.candidates = lambda inputs: [entry for entry in offered(inputs)
                                         if entry.key.rpartition('.')[2] not in OF_THE_RECORD]
    check_recalculation.FEW = 2
    folder = place.folder / 'recalculation'
    folder.mkdir()
    tally = check_recalculation.check(False, folder)
    expect(sum(tally.states.values()) > 2 and not tally.failed + tally.refused, 'see above')


TESTS = [test_measured_length, test_library, test_between, test_hits, test_cases, test_typed, test_watts,
         test_beside_a_server, test_bounds, test_refused, test_error_of_adding, test_faces,
         test_recalculation]


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        Place.record = rounded(measure(Path(folder)))
    for test in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            count.test(test.__name__, test, Place(Path(folder)))
    return count.finish()


if __name__ == '__main__':
    sys.exit(main())
