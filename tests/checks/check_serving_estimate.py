#!/usr/bin/python3
"""One record with decoding and prompts as a serving estimate, on every face.

The probe measures a tiny model once, and its figures are then replaced by round ones. The result on compare,
explain, the workbook and the page must be the sum of both rates as in cost-model.md, computed here, with the
rates graded measured and the sum projected; between two prompt lengths by the time to first token; and beyond
them, without lengths or without prompts, an upper bound with the reason.
A context that is not stated is the mean of the requests' lengths while they decode, at which the record must have been
measured.
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
import check_recalculation  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import libreoffice  # noqa: E402
import xlsx  # noqa: E402
from support.probing import write_data  # noqa: E402
from support.program import (BAD_INPUT, Count, DEEP, ROOT, Skip, expect, expect_exit, near, run,  # noqa: E402
                             run_json)
from support.estimated import CONTEXT, DECODE, DECODE_W, IDLE_W, SCENARIO, SECONDS, WATTS, measure, rounded  # noqa: E402
from support.records import rung, save, serving  # noqa: E402

OPEN = SCENARIO.replace(f'context = {CONTEXT}\n', '')  # its context follows from the lengths


class Place:
    """A folder with a scenario and a record."""
    record = None

    def __init__(self, folder):
        self.folder, self.path = folder, folder / 'estimated.ini'
        self.path.write_text(SCENARIO)
        write_data(folder / 'data')
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
        said, load, prefill = mine['items']['serving_power'], mine['inputs']['load_power'], mine['inputs']['prefill_power']
        expect(near(said, drawn, 1e-9) and mine['grades']['power'] == 'projected', f'{said}, {mine["grades"]}')
        expect(near(load['value'], DECODE_W) and near(prefill['value'], watts, 1e-9), f'{load}, {prefill}')
        expect(near(mine['items']['peak_it_power'], drawn / 1000, 1e-9), f'peak: {mine["items"]["peak_it_power"]}')


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


def test_seconds_of_the_watts(place):
    """A prompt's rate is that of the seconds of its watts, where the record has it."""
    slower = {length: 1.25 * seconds for length, seconds in SECONDS.items()}
    place.keep(lambda result: [prompt.update(window_tokens_per_s=prompt['tokens_per_s'] / 1.25)
                               for prompt in result['prefills']])
    expect_estimate(place.mine(), 32 / slower[32], watts=WATTS[32])
    said = place.mine()['inputs']['prefill_throughput']['source']
    expect('in the seconds of its watts' in said, said)
    seconds = slower[16] + (20 - 16) / (32 - 16) * (slower[32] - slower[16])
    watts = WATTS[16] + (20 - 16) / (32 - 16) * (WATTS[32] - WATTS[16])
    expect_estimate(place.mine('input_tokens=20 token'), 20 / seconds, input_tokens=20, watts=watts)


def test_hits(place):
    """The probe's prompts are read in full, so hits are subtracted without being stated."""
    answer = place.compare('mine.cache_hit=25 %')
    expect_estimate(answer['options'][0], 32 / SECONDS[32], work=0.75, watts=WATTS[32])
    expect('set prefill_includes_hits' not in json.dumps(answer), 'the record knows')


def test_cases(place):
    """Each case has the rate of its own prompts; one whose prompts were not measured must state it, and draws the watts
    of decoding meanwhile."""
    place.path.write_text(SCENARIO + '[case short]\ninput_tokens = 16 token\n')
    done = run_json('compare', place.path, '--case', 'short', *place.arguments())
    expect_estimate(done['options'][0], 16 / SECONDS[16], input_tokens=16, watts=WATTS[16])
    expect_estimate(place.mine(), 32 / SECONDS[32], watts=WATTS[32])
    long = SCENARIO + '[case long]\ninput_tokens = 33 token\n'
    place.path.write_text(long)
    done = run('compare', place.path, *place.arguments())
    expect_exit(done, BAD_INPUT)
    expect("in case 'long': the record measured prompts of 16 to 32 tokens, not of 33" in done.stderr, done.stderr)
    place.path.write_text(long + 'mine.prefill_throughput = 1000 token/s\n')
    expect_estimate(place.mine(), 32 / SECONDS[32], watts=WATTS[32])
    done = run_json('compare', place.path, '--case', 'long', *place.arguments())
    expect_estimate(done['options'][0], 1000, input_tokens=33, watts=DECODE_W)


def test_typed(place):
    """A typed rate stays, with the other rate and the watts from the record; and the result is a sum anyway. A load
    power is replaced by --set as in a cell of the workbook, but one in the file is of the whole load."""
    expect_estimate(place.mine('mine.prefill_throughput=1000 token/s'), 1000, watts=WATTS[32])
    rate, typed = 32 / SECONDS[32], SCENARIO + 'load_power = 95 W\n'
    for name, value, drawn in (('load_power', 95, (32 / rate * WATTS[32] + 8 / DECODE * 95) / (32 / rate + 8 / DECODE)),
                               ('prefill_power', 150, (32 / rate * 150 + 8 / DECODE * DECODE_W) / (32 / rate + 8 / DECODE))):
        said = place.mine(f'mine.{name}={value} W')['items']['serving_power']
        expect(near(said, drawn, 1e-9), f'{name}: {said}, not {drawn}')
    place.path.write_text(typed)
    mine = place.mine()
    expect('prefill_power' not in mine['inputs'] and near(mine['items']['peak_it_power'], 0.095), mine['inputs'])
    place.path.write_text(SCENARIO)
    mine = place.mine('mine.decode_throughput=800 token/s')
    expect(near(mine['items']['throughput'], 8 / (32 / rate + 8 / 800)), mine['items'])
    expect(mine['grades']['throughput'] == 'assumed', mine['grades'])


def test_watts(place):
    expect('prompts of 32 tokens alone' in place.mine()['inputs']['prefill_power']['source'], 'of which prompts')
    place.keep(lambda result: [prompt.update(load_power_w=None) for prompt in result['prefills']])
    figure = place.mine()['inputs']['load_power']
    expect(figure['value'] == DECODE_W and figure['grade'] == 'projected', figure)
    expect('prefill was not metered' in figure['source'], figure)


def test_beside_a_server(place):
    """The estimate that `served` compares with a server is the same sum, of the same record."""
    served = {**rung(1, 15), 'input_tokens': 32.0, 'output_tokens': 8.0}
    save(place.folder / 'records' / 'served.json',
         serving(served, accelerator='cpu', accelerators=1, model='tiny', precision='bf16'))
    place.path.write_text(OPEN.replace('record = record.json', 'record = served.json\nload_power = 90 W'))
    row, = run_json('served', place.path, *place.arguments())['answers'][0]['tables']['prediction']['rows']
    expect(near(row['predicted'], 8 / (SECONDS[32] + 8 / DECODE)) and near(row['served'], 15), row)


# ---- the context at which requests decode

LONG, LONG_DECODE, LONG_W = 100, 300.0, 80.0


def measured_twice(place):
    """The record has a second, longer context, and the workload leaves its own to the requests' lengths."""
    record = copy.deepcopy(Place.record)
    short, = record['results']
    record['results'].append({**copy.deepcopy(short), 'context': LONG, 'tokens_per_s': LONG_DECODE,
                              'step_seconds': short['batch'] / LONG_DECODE, 'ci95_low': 299.0, 'ci95_high': 301.0,
                              'load_power_w': LONG_W})
    save(place.folder / 'records' / 'record.json', record)
    place.path.write_text(OPEN)


def test_context_of_lengths(place):
    """All of the input and half of the output; within 5 % of a measured one it counts as that."""
    measured_twice(place)
    for output, decode in ((8, DECODE), (11, DECODE), (72, (DECODE + LONG_DECODE) / 2), (136, LONG_DECODE),
                           (144, LONG_DECODE)):
        mine = place.mine(f'output_tokens={output} token')
        rate = mine['inputs']['decode_throughput']
        expect(near(rate['value'], decode, 1e-9), f'{output}: {rate}')
        expect(rate['grade'] == ('projected' if output == 72 else 'measured'), f'{output}: {rate}')
        expect(near(mine['items']['throughput'], output / (SECONDS[32] + output / decode), 1e-9), f'{output}: {mine["items"]}')
    place.refused('requests of 32 input and 200 output tokens decode at context 132 on average', 'output_tokens=200 token')
    place.refused('requests of 16 input and 8 output tokens decode at context 20 on average', 'input_tokens=16 token')


def test_stated_context(place):
    """Counts for requests of any length, with a warning if theirs is another."""
    words = 'the decoding rate is that at context 36, as stated, but requests of these lengths hold {} tokens on average'
    expect('the decoding rate is that' not in json.dumps(place.compare()), 'the same context')
    answer = place.compare('output_tokens=200 token')
    expect(words.format(132) in json.dumps(answer), answer['options'][0]['warnings'])
    expect(near(answer['options'][0]['inputs']['decode_throughput']['value'], DECODE), 'the rate as stated')


def test_context_of_a_case(place):
    """A case decodes at the context of its own lengths, with the watts of that; a case of an unmeasured one states it."""
    measured_twice(place)
    long = OPEN + '[case long]\noutput_tokens = 136 token\n'
    place.path.write_text(long)
    mine, = run_json('compare', place.path, '--case', 'long', *place.arguments())['options']
    expect(near(mine['inputs']['decode_throughput']['value'], LONG_DECODE), mine['inputs'])
    expect(near(mine['inputs']['load_power']['value'], LONG_W), mine['inputs'])
    expect_estimate(place.mine(), 32 / SECONDS[32], watts=WATTS[32])
    longer = long.replace('136', '1000')
    place.path.write_text(longer)
    place.refused("option 'mine' in case 'long': the records measured batch 2, 2 at context 36, 100")
    place.path.write_text(longer + 'mine.decode_throughput = 100 token/s\n')
    mine, = run_json('compare', place.path, '--case', 'long', *place.arguments())['options']
    expect(near(mine['items']['throughput'], 1000 / (SECONDS[32] + 1000 / 100)), mine['items'])


def test_fixed_lengths(place):
    """Both lengths chose the context, so that neither is varied alone."""
    measured_twice(place)
    place.path.write_text(OPEN + '[range]\noutput_tokens = uniform(4, 16) token\n')
    place.refused("a range on 'output_tokens' is not drawn: the decoding of mine was found for this value")


def test_like_a_server(place):
    """An estimate is ranked against a server's rate for requests of its lengths, whatever each calls its context."""
    served = {**rung(1, 15), 'input_tokens': 32.0, 'output_tokens': 8.0}
    save(place.folder / 'records' / 'served.json',
         serving(served, accelerator='cpu', accelerators=1, model='tiny', precision='bf16', date='2026-11-01'))
    place.path.write_text(OPEN.replace('[option mine]', 'load_power = 90 W\n[option mine]')
                          + '[option server]\naccelerator = cpu\nrecord = served.json\n')
    answer = place.compare()
    expect(all('mixed' not in words.lower() and 'context' not in words for words in answer['warnings']), answer['warnings'])
    expect([option['items']['throughput'] for option in answer['options']][1] == 15, answer['options'])


def test_shipped_record(place):
    """A rate at context 512 is none for requests of 100,000 tokens."""
    for old, new in (('model = tiny', 'model = llama-3.1-8b'), ('bf16', 'fp8'), ('= cpu', '= h200-sxm-141'),
                     (f'context = {CONTEXT}', 'batch = 1'), ('record.json', 'llama-3.1-8b-cuda-c11128fa.json'),
                     ('= 32 token', '= 100000 token'), ('= 8 token', '= 1024 token')):
        place.path.write_text(place.path.read_text().replace(old, new))
    done = run('compare', place.path, '--measurements', ROOT / 'data/measured')
    expect_exit(done, BAD_INPUT)
    expect('measured batch 1 at context 512: requests of 100000 input and 1024 output tokens decode at context 100512'
           in done.stderr, done.stderr)


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
    expect('Serving estimate (prefill plus decoding): mine.' in done and 'Prefill: mine from record record.json' in done, done)
    done = run('explain', place.path, 'mine.throughput', '-q', *place.arguments()).stdout
    expect('Serving estimate' in done and done.count('[measured]  record record.json') == 2, done)
    book = xlsx.read(harness.report(place.path, place.folder / 'estimated.xlsx'))
    evidence = [cell.value for cell in book.sheets['Evidence'].cells.values() if isinstance(cell.value, str)]
    for words in ('Serving estimate (prefill plus decoding): mine', 'prompts of 32 tokens alone'):
        expect(any(words in text for text in evidence), f'{words}: {evidence}')
    data = check_page.write_page(place.path, place.folder / 'estimated.html', harness.places(place.path))
    expect(data['options'][0]['serving_estimate'] is True, 'the page stamps it')


def layout_of(place, name='locked.xlsx'):
    book = xlsx.read(harness.report(place.path, place.folder / name))
    return book, {entry.key: entry for entry in layout.Inputs(book).rows}


def page_of(place):
    return check_page.write_page(place.path, place.folder / 'page.html', harness.places(place.path))


def expect_fixed(place, names, words):
    """Neither the workbook nor the page nor a question takes another value of these, and all say why."""
    book, rows = layout_of(place)
    sheet, data = book.sheets['Inputs'], page_of(place)
    moved = {target['input'] for case in data['cases'] for target in case['targets']}
    fixed = {item['name']: item['fixed'] for item in data['items'] if 'fixed' in item}
    expect(set(fixed) == set(names), f'the page: {fixed}')
    for key, entry in rows.items():
        locked = key in names
        expect(all(sheet.cell(*cell).style.locked == locked for cell in entry.cells.values()), f'{key}: locked or not')
    source = layout.Inputs(book).columns['Source']
    for name in names:
        said = sheet.value(rows[name].row, source)
        expect(words in said and words in fixed[name] and name not in moved, f'{name}: {said}, {fixed[name]}')
        done = run('sensitivity', place.path, '--grid', f'{name}=16:32:16 token', *place.arguments())
        expect_exit(done, BAD_INPUT)
        expect(f"'{name}' is not varied alone: the {words}" in ' '.join(done.stderr.split()), done.stderr)
    return rows


def test_fixed(place):
    """What the record's prefill was found for is fixed; all else is live. A case, and --set, find another."""
    words = 'prefill of mine was found for this value'
    place.path.write_text(SCENARIO + '[case short]\ninput_tokens = 16 token\n')
    rows = expect_fixed(place, ('input_tokens',), words)
    expect({'output_tokens', 'mine.decode_throughput', 'mine.prefill_throughput', 'mine.load_power',
            'mine.prefill_power'} <= set(rows), rows)
    place.path.write_text(SCENARIO + '[range]\ninput_tokens = uniform(16, 32) token\n')
    place.refused(f"a range on 'input_tokens' is not drawn: the {words}")
    expect_estimate(place.mine('input_tokens=16 token'), 16 / SECONDS[16], input_tokens=16, watts=WATTS[16])
    place.path.write_text(SCENARIO + 'prefill_throughput = 100 token/s\nload_power = 95 W\n')
    expect_fixed(place, (), '')


def test_fixed_by_a_server(place):
    """A server's rate counts for requests of its lengths."""
    served = {**rung(1, 15), 'input_tokens': 32.0, 'output_tokens': 8.0}
    save(place.folder / 'records' / 'served.json',
         serving(served, accelerator='cpu', accelerators=1, model='tiny', precision='bf16'))
    place.path.write_text(OPEN.replace('record = record.json', 'record = served.json\nload_power = 90 W'))
    expect_fixed(place, ('input_tokens', 'output_tokens'), 'throughput of mine was found for this value')
    done = run('compare', place.path, *place.arguments(['mine.throughput=14 token/s']))
    expect(done.returncode == 0, done.stderr)


# Inputs that the scenario may not state without another one, which is at its default.
ALONE = {'repair_cost': 'failure_rate=0 %/yr'}


def test_swings(place):
    """Each end of each input's swing costs what --set makes of it, also of a range on what the watts are weighted by."""
    place.path.write_text(SCENARIO.replace('[option', 'cache_hit = 20 %\ncached_work = 10 %\n[option')
                          + '[range]\noutput_tokens = uniform(4, 16) token\nmine.prefill_power = uniform(120, 140) W\n'
                          'mine.decode_throughput = uniform(300, 500) token/s\nmine.load_power = uniform(80, 95) W\n')
    answer = run_json('sensitivity', place.path, *place.arguments())
    swings = answer['swings']
    expect('Not swung: input_tokens, as the prefill of mine was found for this value' in ' '.join(answer['notes']), answer['notes'])
    names = {swing['input'] for swing in swings}
    expect({'output_tokens', 'cache_hit', 'cached_work', 'mine.prefill_power', 'mine.load_power', 'mine.decode_throughput',
            'mine.prefill_throughput'} <= names and 'input_tokens' not in names, names)
    for swing in swings:
        for end in (swing['low'], swing['high']):
            beside = [ALONE[swing['input']]] if swing['input'] in ALONE else []
            unit = '' if swing['unit'] in ('', '-') else f" {swing['unit']}"
            told = place.mine(*beside, f"{swing['input']}={end['value']!r}{unit}")['items']['cost_per_mtok']
            expect(near(end['costs']['mine'], told, 1e-9), f"{swing['input']}={end['value']}: {end}, not {told}")


def test_recalculation(place):
    if reason := libreoffice.missing() or gnumeric.missing():
        raise Skip(reason)
    if not DEEP:
        raise Skip('the deep run recalculates the workbook')
    harness.EXAMPLES[:] = [place.path]
    check_recalculation.FEW = 12
    folder = place.folder / 'recalculation'
    folder.mkdir()
    tally = check_recalculation.check(False, folder)
    expect(sum(tally.states.values()) > 12 and not tally.failed + tally.refused, 'see above')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        Place.record = rounded(measure(Path(folder)))
    count.tests_in_folders(globals(), Place)
    count.finish()


if __name__ == '__main__':
    main()
