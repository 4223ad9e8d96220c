#!/usr/bin/python3
"""Other programs' results as records: what the files and the command line state, and contradictions.

    check_import.py

The formats themselves are tested in tests/model/imports. Files are made up here, usually in vLLM's format; none
is a measurement. If ../shared/samples exists, every file in it is imported or refused for a reason. PERTOKEN
names the program.
"""
import hashlib
import json
import pathlib
import re
import resource
import time

from support.folder import Folder
from support.processor import is_quick
from support.program import BAD_INPUT, Count, DONE, MACHINE_FAILED, ROOT, Skip, expect, near, run, run_csv, run_json

SAMPLES = ROOT.parent / 'shared' / 'samples'
STATED = {'accelerator': 'h200', 'accelerators': '8', 'precision': 'fp8', 'model': 'llama-3.1-8b'}
START = 1786022594.0  # 2026-08-06T13:23:14Z
MAX_SECONDS = 1.0


def options(**changes):
    merged = {**STATED, **changes}
    return [part for name, value in merged.items() if value is not None
            for part in (f'--{name.replace("_", "-")}', value)]


def vllm(concurrency=16, requests=640, length=(1024, 256), **changes):
    """A made-up, consistent result of vLLM bench serve."""
    e2e_ms = 100 + length[1] * (10 + concurrency / 10)
    duration = requests * e2e_ms / 1e3 / concurrency
    total = [requests * tokens for tokens in length]
    result = {'date': '20260806-132830', 'backend': 'openai', 'model_id': 'org/Llama-3.1-8B-Instruct',
              'num_prompts': requests, 'request_rate': 'inf', 'burstiness': 1.0, 'max_concurrency': concurrency,
              'duration': duration, 'benchmark_start_time_unix': START, 'benchmark_end_time_unix': START + duration,
              'completed': requests, 'failed': 0, 'total_input_tokens': total[0], 'total_output_tokens': total[1],
              'output_throughput': total[1] / duration, 'total_token_throughput': sum(total) / duration,
              'mean_ttft_ms': 100.0, 'mean_tpot_ms': 10 + concurrency / 10, 'mean_e2el_ms': e2e_ms}
    return {**result, **changes}


class Imports(Folder):
    """A folder of files to import."""

    def run(self, files, *stated, form=run):
        return form('import', *files, *(stated or options()), '-o', self.records)

    def refused(self, files, fragment, *stated):
        done = self.run(files, *stated)
        expect(done.returncode == BAD_INPUT, f'exit {done.returncode}: {done.stdout}{done.stderr}')
        expect(re.search(fragment, done.stderr), f'no "{fragment}" in: {done.stderr}')
        expect(not self.records.exists(), 'a refused import wrote something')

    def imported(self, files, *stated):
        """The answer, and the records."""
        answer = self.run(files, *stated, form=run_json)
        rows = answer['tables']['records']['rows']
        return answer, [json.loads(pathlib.Path(row['path']).read_text()) for row in rows]


# ---- statements in files and on the command line

def test_everything_missing_is_asked_for_at_once():
    folder = Imports()
    file = folder.write('a.json', vllm(model_id='', date='', benchmark_start_time_unix=None))
    folder.refused([file], 'add --accelerator, --accelerators, --precision, --model, --date$', '-q')


def test_folders_are_made():
    folder = Imports()
    file, deep = folder.write('a.json', vllm()), folder.records / 'of' / 'today'
    done = run('import', file, *options(), '-o', deep, '-q')
    expect(done.returncode == DONE and len(list(deep.iterdir())) == 1, f'exit {done.returncode}: {done.stderr}')
    done = run('import', file, *options(), '-o', file / 'below', '-q')
    expect(done.returncode == MACHINE_FAILED and done.stderr.count('\n') == 1 and
           done.stderr.endswith(f"cannot create the directory '{file}/below': Not a directory\n"), done.stderr)


def test_a_ladder_becomes_one_curve():
    folder = Imports()
    files = [folder.write(f'{c}.json', vllm(c)) for c in (64, 4, 16)]
    answer, records = folder.imported(files)
    record, = records
    expect([rung['concurrency'] for rung in record['rungs']] == [4, 16, 64], 'rungs by concurrency')
    expect(record['accelerator'] == 'h200-sxm-141' and record['accelerators'] == 8, 'what was stated')
    expect((record['tool'], record['basis'], record['grade']) == ('vLLM bench serve', 'serving', 'measured'), record)
    expect(record['date'] == '2026-08-06' and record['started'] == '2026-08-06T13:23:14Z', 'times in UTC')
    digests = {file['name']: file['sha256'] for file in record['files']}
    expect(digests == {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}, digests)
    expect('3 rungs imported, measured by vLLM bench serve' in answer['answer'], answer['answer'])
    again = folder.imported(files)[1]
    expect(again == records and len(list(folder.records.iterdir())) == 1, 'the same files, the same record')


def test_formats_agree():
    folder = Imports()
    file = folder.write('a.json', vllm())
    rows = [row for row in folder.run([file], form=run_csv) if row['table'] == 'rungs']
    rung, = folder.run([file], form=run_json)['tables']['rungs']['rows']
    for row in rows:
        said = rung[row['column']]
        same = row['value'] in ('', str(said)) if isinstance(said, (str, type(None))) else near(float(row['value']), said)
        expect(same, f'{row} is not {said}')
    shown = folder.run([file]).stdout
    expect('concurrency 16' in shown and 'Record: ' in shown, shown)


def test_figures_that_no_record_can_have():
    """The file and its figure are named, and the others are imported."""
    folder = Imports()
    bad, good = folder.write('bad.json', vllm(mean_ttft_ms=-5)), folder.write('good.json', vllm(4))
    folder.refused([bad], 'bad.json: error: ttft.mean_s: expected a number of at least 0, found -0.005')
    done = folder.run([bad, good])
    expect(done.returncode == BAD_INPUT and '1 of 2 files imported' in done.stdout.replace('\n', ' '), done.stdout)
    path, = folder.records.iterdir()
    expect(len(json.loads(path.read_text())['rungs']) == 1, path)


def test_chunks_of_several_tokens():
    """TPOT is over the first chunk's tokens, too, which matters for short answers."""
    for length, warns in ((64, True), (1024, False)):
        folder = Imports()
        result = vllm(length=(1024, length))
        answer = folder.imported([folder.write('a.json', {**result, 'mean_itl_ms': 5 * result['mean_tpot_ms']})])[0]
        said = [text for text in answer['warnings'] if 'TPOT, as clients define it, is too low' in text]
        expect(len(said) == warns and all(text.startswith('concurrency 16: chunks hold 4.7 tokens') for text in said),
               answer['warnings'])


def test_a_newer_format():
    for version, refused in (('1.3', False), ('1.4', False), ('2.0', True)):
        folder = Imports()
        metrics = {'request_throughput': ('requests/sec', 10), 'request_latency': ('ms', 700), 'request_count': ('requests', 800),
                   'output_token_throughput': ('tokens/sec', 1000), 'benchmark_duration': ('sec', 80),
                   'total_isl': ('tokens', 40000), 'total_osl': ('tokens', 80000)}
        file = folder.write('a.json', {'schema_version': version, 'input_config': {'loadgen': {'concurrency': 8}},
                                       **{name: {'unit': unit, 'avg': value} for name, (unit, value) in metrics.items()}})
        stated = options(date='2026-08-06')
        if refused:
            folder.refused([file], 'AIPerf, version 2.0 of its format: up to 1.3 can be read', *stated)
        else:
            warned = any('newer than 1.3' in text for text in folder.imported([file], *stated)[0]['warnings'])
            expect(warned == (version == '1.4'), version)


def test_goodput_of_unknown_limits():
    folder = Imports()
    answer, (record,) = folder.imported([folder.write('a.json', vllm(request_goodput=5.0))])
    expect(any('the limits of its goodput (which is left out)' in note for note in answer['notes']), answer['notes'])
    expect(record['rungs'][0]['goodput_per_s'] is None, record)


def test_latencies_in_other_units():
    """One that contradicts the others is refused, and one that nothing contradicts meets no limit."""
    for changes, fragment in (({'mean_tpot_ms': 0.0116}, 'from token to token would be 0.002958 s for the 255 tokens'),
                              ({'mean_e2el_ms': None, 'mean_tpot_ms': 0.0116}, 'in flight, not 16: check the latency units'),
                              ({'mean_ttft_ms': 0.1, 'mean_tpot_ms': 0.0116, 'mean_e2el_ms': 3.0696}, 'in flight, not 16')):
        folder = Imports()
        folder.refused([folder.write('a.json', vllm(**changes))], fragment)
    for changes in ({'mean_tpot_ms': 0.0}, {'mean_ttft_ms': 0.1}):
        folder = Imports()
        folder.imported([folder.write('a.json', vllm(**changes))])
        done = run('compare', folder.write('made-up.ini', SCENARIO.replace('batch = 16\n', 'ttft = 1 s\ntpot = 50 ms\n')),
                   '--measurements', folder.records)
        expect(done.returncode == BAD_INPUT and 'give no P90' in done.stderr, done.stderr)


def test_a_date_in_the_future():
    for date, warns in (('2026-08-07', False), ('2026-08-08', True), ('2099-12-31', True)):
        folder = Imports()
        file = folder.write('a.json', vllm(date=date, benchmark_start_time_unix=None))
        done = run('import', file, *options(), '-o', folder.records, environment={'SOURCE_DATE_EPOCH': int(START)})
        said = f'the run is dated {date}, and today is 2026-08-06' in done.stdout.replace('\n', ' ')
        expect(done.returncode == DONE and said == warns, f'{date}: {done.stdout}')


def test_telemetry_of_a_whole_host():
    """AIPerf's telemetry adds up all 8 GPUs, of which 1 served: the rates are imported without watts."""
    folder = Imports()
    gpus = {f'gpu_{i}': {'gpu_name': 'NVIDIA H200', 'metrics': {'gpu_power_usage': {'unit': 'W', 'avg': 80}}}
            for i in range(8)}
    metrics = {'request_throughput': ('requests/sec', 10), 'request_latency': ('ms', 700), 'request_count': ('requests', 800),
               'output_token_throughput': ('tokens/sec', 1000), 'benchmark_duration': ('sec', 80),
               'total_isl': ('tokens', 40000), 'total_osl': ('tokens', 80000)}
    result = {'schema_version': '1.3', 'start_time': '2026-08-06T13:23:14Z', 'input_config': {'loadgen': {'concurrency': 8}},
              'telemetry_data': {'endpoints': {'a:9401': {'gpus': gpus}}},
              **{name: {'unit': unit, 'avg': value} for name, (unit, value) in metrics.items()}}
    file = folder.write('a.json', result)
    stated = {'accelerator': None}
    (record,) = folder.imported([file], *options(**stated))[1]
    expect(record['rungs'][0]['power']['devices'] == 8 and 'left out' not in record['remarks'], record)
    answer, (record,) = folder.imported([file], *options(accelerators='1', **stated))
    power, said = record['rungs'][0]['power'], "AIPerf's telemetry, 8 GPUs, of which 1 served"
    expect(power['source'] == f'none: {said}' and power['load_power_w'] is None and not power['devices'], power)
    expect(f'left out: the watts of {said}' in record['remarks'], record['remarks'])
    expect(any(said in note for note in answer['notes']), answer['notes'])


def test_a_rate_that_a_limit_may_have_cut():
    """40 requests/s of 2.66 s each would be 106 in flight, and 16 were allowed."""
    folder = Imports()
    answer, (record,) = folder.imported([folder.write('a.json', vllm(request_rate=40.0))])
    rung, = record['rungs']
    expect((rung['load'], rung['request_rate'], rung['concurrency']) == ('unknown', None, None), rung)
    remark = 'load unknown: at 40 requests/s, the limit of 16 in flight may have held some back'
    expect(remark in record['remarks'] and any(remark in note for note in answer['notes']), answer['notes'])


SCENARIO = """[scenario]
title = Made up
date = 2026-11-22
[workload]
model = llama-3.1-8b
precision = fp8
input_tokens = 1024 token
output_tokens = 256 token
batch = 16
utilization = 60 %
[common]
accelerators = 8
pue = 1.3
electricity_price = 0.1 USD/kWh
list_price = 30000 USD/gpu
[option a]
accelerator = h200-sxm-141
"""


def test_a_scenario_takes_the_record():
    folder = Imports()
    record, = folder.imported([folder.write(f'{c}.json', vllm(c)) for c in (4, 16, 64)])[1]
    scenario = folder.write('made-up.ini', SCENARIO)
    option, = run_json('compare', scenario, '--measurements', folder.records)['options']
    throughput = option['inputs']['throughput']
    expect(near(throughput['value'], record['rungs'][1]['output_tokens_per_s'] / 8), throughput)
    expect(throughput['grade'] == 'measured' and throughput['date'] == '2026-08-06', throughput)


def test_published_and_benchmark():
    folder = Imports()
    published = options(published='A title, with a comma, https://example.org/run')
    record, = folder.imported([folder.write('a.json', vllm())], *published)[1]
    expect((record['grade'], record['published_title'], record['published_url']) ==
           ('published', 'A title, with a comma', 'https://example.org/run'), record['grade'])
    files = mlperf_files(folder)
    stated = options(accelerator=None, accelerators=None, model='llama-2-70b', date='2026-08-06')
    answer, (record,) = folder.imported(files, *stated, '--published', 'MLPerf Inference, https://example.org/run')
    expect(answer['answer'] == '1 rung imported, measured by MLPerf LoadGen, in fp8, graded benchmark.', answer['answer'])
    said = ' '.join(run('served', answer['tables']['records']['rows'][0]['path']).stdout.split())
    expect('run by MLPerf LoadGen on 2026-08-06, graded benchmark.' in said, said)
    expect((record['grade'], record['accelerators'], record['accelerator'], record['device']) ==
           ('benchmark', 16, 'h200-sxm-141', 'NVIDIA H200'), record)
    folder = Imports()
    folder.refused([folder.write('a.json', vllm())], "expected 'TITLE, URL'", *options(published='A title'))
    folder.refused(mlperf_files(folder), 'does not state how long it took, how many requests were answered, '
                   'their input tokens, so it cannot count as measured', *stated)


def test_an_aggregate_is_a_publication():
    rates = {'tput_per_gpu': 520, 'output_tput_per_gpu': 390, 'input_tput_per_gpu': 780}
    apart = {'hw': 'h200', 'conc': 64, 'model': 'org/Llama-3.1-8B', 'framework': 'vllm', 'precision': 'fp8', 'isl': 1024,
             'osl': 1024, 'disagg': True, 'is_multinode': True, 'num_prefill_gpu': 4, 'num_decode_gpu': 8, **rates}
    folder = Imports()
    file = folder.write('agg.json', apart)
    stated = options(accelerator=None, accelerators=None, precision=None, date='2026-08-06')
    folder.refused([file], 'so it cannot count as measured', *stated)
    record, = folder.imported([file], *stated, '--published', 'InferenceX, https://example.org/run')[1]
    expect((record['grade'], record['accelerators'], record['input_accelerators'], record['output_accelerators']) ==
           ('published', 12, 4, 8), record)
    expect(near(record['rungs'][0]['output_tokens_per_s'], 8 * 390), record['rungs'][0])


def test_a_server_of_more_accelerators_than_stated():
    folder = Imports()
    sglang = {'backend': 'sglang', 'request_rate': 'inf', 'max_concurrency': 32, 'duration': 50.0, 'completed': 700,
              'total_input_tokens': 70000, 'total_output_tokens': 140000, 'input_throughput': 1400.0,
              'output_throughput': 2800.0, 'mean_e2e_latency_ms': 2200, 'server_info': {'version': '0.5.9', 'tp_size': 4, 'pp_size': 2}}
    file = folder.write('a.jsonl', sglang)
    folder.refused([file], '--accelerators is 7, but', *options(accelerators='7', date='2026-08-06'))
    record, = folder.imported([file], *options(accelerators='16', date='2026-08-06'))[1]  # two such servers behind a router
    expect(record['accelerators'] == 16, record)

    # Replicas have accelerators of their own; ranks of data parallel attention share those of tp_size.
    for attention, most in ((False, 8), (True, 4)):
        sglang['server_info'] = {'version': '0.5.9', 'tp_size': 4, 'dp_size': 2, 'enable_dp_attention': attention}
        folder = Imports()
        file = folder.write('dp.jsonl', sglang)
        folder.refused([file], f'--accelerators is {most - 1}, but', *options(accelerators=str(most - 1), date='2026-08-06'))
        record, = folder.imported([file], *options(accelerators=str(most), date='2026-08-06'))[1]
        expect(record['accelerators'] == most, record)


def mlperf_files(folder, **system):
    summary = ('=====\nMLPerf Results Summary\n=====\nScenario : Offline\nMode : PerformanceOnly\n'
               'Samples per second: 80\nTokens per second: 24000\nResult is : VALID\n')
    described = {'accelerator_model_name': 'NVIDIA H200', 'accelerators_per_node': '8', 'number_of_nodes': 2,
                 'framework': 'vLLM 0.11', 'system_name': 'made up', **system}
    return [folder.write('summary.txt', summary), folder.write('system.json', described)]


# ---- contradictions

FILES_THAT_CONTRADICT = {
    'model': (vllm(4), vllm(8, model_id='org/Llama-3.1-70B'), r"model is 'org/Llama-3.1-8B-Instruct' in one and 'org/Ll"),
    'lengths': (vllm(4), vllm(8, length=(4096, 256)), 'a request is 1024 in and 256 out in one and 4096 in and 256 out'),
    'one load': (vllm(4), vllm(4, 320), r'both have a rung at concurrency 4 \(1024 in and 256 out\)'),
    'tool': (vllm(4), {'pp': 8, 'tg': 8, 'pl': 1, 'speed_tg': 8, 't_tg': 1}, 'the tool is vLLM bench serve in one'),
}


def test_files_that_contradict_each_other_are_named():
    for what, (one, other, fragment) in FILES_THAT_CONTRADICT.items():
        folder = Imports()
        files = [folder.write('one.json', one), folder.write('other.json', other)]
        folder.refused(files, fragment)
        said = folder.run(files).stderr
        expect('one.json' in said and 'other.json' in said, f'{what}: {said}')


def sglang(concurrency, model='Llama-3.1-8B-Instruct', **server):
    """A made-up line of SGLang's client, with what the server said about itself."""
    same = vllm(concurrency)
    return {'backend': 'sglang', 'mean_e2e_latency_ms': same['mean_e2el_ms'], 'num_prompts': same['num_prompts'],
            'server_info': {'version': '0.5.2', 'served_model_name': f'meta-llama/{model}', **server},
            **{key: same[key] for key in ('request_rate', 'max_concurrency', 'duration', 'completed', 'total_input_tokens',
                                          'total_output_tokens', 'output_throughput', 'mean_ttft_ms')}}


def inferencex(**changes):
    return {'hw': 'h200', 'conc': 64, 'model': 'org/Llama-3.1-8B', 'framework': 'vllm', 'precision': 'fp8', 'isl': 1024,
            'osl': 1024, 'is_multinode': False, 'tp': 8, 'tput_per_gpu': 780, 'output_tput_per_gpu': 390,
            'input_tput_per_gpu': 390, **changes}


def apart(prefill, decode, concurrency):
    return inferencex(conc=concurrency, disagg=True, is_multinode=True, num_prefill_gpu=prefill, num_decode_gpu=decode,
                      output_tput_per_gpu=390 * 12 / decode, input_tput_per_gpu=390 * 12 / prefill)


# What a result says of its speculation, the words that ask for its record, and some that do not.
SPECULATIONS = {
    'EAGLE3': (lambda: sglang(16, speculative_algorithm='EAGLE3'), ('EAGLE3', 'eagle3'), ('mtp', 'EAGLE', 'none', None)),
    'MTP in capitals': (lambda: sglang(16, speculative_algorithm='MTP'), ('mtp', 'MTP', 'nextn'), ('EAGLE3', None)),
    "SGLang's other word for it": (lambda: sglang(16, speculative_algorithm='NEXTN'), ('mtp', 'NextN'), ('ngram', None)),
    'a length alone': (lambda: vllm(spec_decode_acceptance_length=2.6), ('mtp', 'EAGLE3', 'unnamed'), ('none', None)),
    'none': (vllm, ('none', None), ('mtp', 'unnamed')),
}


def test_speculation_is_asked_for_by_its_name():
    for name, (result, fitting, others) in SPECULATIONS.items():
        folder = Imports()
        record, = folder.imported([folder.write('a.json', result())], *options(
            date=None if 'date' in result() else '2026-08-06'))[1]
        for word in fitting + others:
            said = '' if word is None else f'speculation = {word}\n'
            scenario = folder.write('made-up.ini', SCENARIO.replace('batch = 16\n', said))
            done = run('compare', scenario, '--measurements', folder.records, '--format', 'json')
            expect((done.returncode == DONE) == (word in fitting), f'{name}, {word}: {done.stderr}')
            if done.returncode == DONE:
                option, = json.loads(done.stdout)['options']
                expect(near(option['inputs']['throughput']['value'], record['rungs'][0]['output_tokens_per_s'] / 8), option)
                noted = f'the record does not name its method of speculation, which counts as {word}' in str(option)
                expect(noted == (name == 'a length alone' and word != 'unnamed'), (name, word, option['warnings']))
            else:
                expect(f"has speculation = {record['speculation'] or '(not stated)'}, but the option asks for" in
                       done.stderr, done.stderr)


RESULTS_THAT_CONTRADICT = {
    'count': ([inferencex(), inferencex(conc=16, tp=4)], "accelerators is '8' in one and '4' in the other"),
    'accelerator': ([inferencex(hw='b200'), inferencex(conc=16)], "accelerator is 'b200' in one and 'h200' in the other"),
    'precision': ([inferencex(precision='fp4'), inferencex(conc=16)], "precision is 'fp4' in one and 'fp8' in the other"),
    'engine': ([inferencex(), inferencex(conc=16, framework='sglang')], 'the engine is vllm in one and sglang in the other'),
    'speculation': ([inferencex(), inferencex(conc=16, spec_decoding='mtp')], 'speculation is not stated in one and mtp'),
    'split': ([apart(4, 8, 64), apart(8, 4, 16)], 'is 4 and 8 accelerators in one and 8 and 4 accelerators in the other'),
    'model': ([sglang(4), sglang(8, 'Llama-3.1-70B-Instruct')], "model is 'meta-llama/Llama-3.1-8B-Instruct' in one and"),
    'version': ([sglang(4), sglang(8, version='0.4.9')], "the engine's version is 0.5.2 in one and 0.4.9 in the other"),
    'quantization': ([sglang(4, quantization=None), sglang(8, quantization='fp8')],
                     "precision is 'as in the checkpoint' in one and 'fp8' in the other"),
    'one load': ([sglang(4), sglang(4)], 'both have a rung at concurrency 4'),
}


def test_results_of_one_file_that_contradict_each_other():
    """As those of two files do, in a list or line by line."""
    stated = options(accelerator=None, accelerators=None, precision=None, model=None, date='2026-08-06',
                     published='A title, https://example.org/run')
    for results, fragment in RESULTS_THAT_CONTRADICT.values():
        folder, typed = Imports(), stated if 'hw' in results[0] else options(date='2026-08-06')
        lines = folder.write('lines.jsonl', ''.join(f'{json.dumps(result)}\n' for result in results))
        for file, places in ((folder.write('list.json', results), [f'list.json, result {i}' for i in (1, 2)]),
                             (lines, ['lines.jsonl:1', 'lines.jsonl:2'])):
            folder.refused([file], fragment, *typed)
            said = folder.run([file], *typed).stderr
            expect(all(place in said for place in places), said)


def test_lines_of_one_file_become_one_curve():
    folder = Imports()
    file = folder.write('a.jsonl', ''.join(f'{json.dumps(sglang(c))}\n' for c in (16, 4, 64)))
    record, = folder.imported([file], *options(date='2026-08-06'))[1]
    expect([rung['concurrency'] for rung in record['rungs']] == [4, 16, 64], record['rungs'])
    expect([made['name'] for made in record['files']] == ['a.jsonl'], record['files'])


def test_what_the_file_says_otherwise_is_refused():
    folder = Imports()
    of_two = {'performance': {'system_output_throughput_tok_s': 10, 'output_throughput_per_gpu_tok_s': 5,
                              'total_latency_ms': 2000}, 'engine': {'quantization': 'NVFP4'},
              'request_info': {'num_requests': 2, 'avg_input_length': 10, 'avg_output_length': 10}}
    file = folder.write('trtllm.json', of_two)
    folder.refused([file], r"--accelerators is 8, but .*trtllm.json says '2'", *options(date='2026-10-01'))
    folder.refused([file], r"--precision is fp8, but .*says 'NVFP4'", *options(date='2026-10-01', accelerators='2'))
    file = folder.write('vllm.json', vllm())
    folder.refused([file], "--date is 2026-08-07, but .*says '2026-08-06'", *options(date='2026-08-07'))
    folder.refused([file], "--model is llama-3.1-70b, but .*says 'org/Llama-3.1-8B", *options(model='llama-3.1-70b'))


def test_a_model_of_another_size_is_refused():
    """A name that the catalogue lacks is compared with the id's size or, if it states none, with the parameters."""
    for stated, name, refused in (
            ('llama-3.1-8b', 'org/Some-9B', True), ('llama-3.1-8b', 'org/Some-8B', False),
            ('deepseek-v3', 'org/Some-397B-A17B', True), ('deepseek-v3', 'org/DeepSeek-R1-Distill-Llama-70B', True),
            ('deepseek-v3', 'org/Some-685B', False), ('deepseek-v3', 'org/DeepSeek-R1-0528', False),
            ('phi-3-mini', 'org/Some-7B', True), ('phi-3-mini', 'org/Some-4B', False)):
        folder = Imports()
        file = folder.write('a.json', vllm(model_id=name))
        if refused:
            folder.refused([file], f"--model is {stated}, but .*says '{name}'", *options(model=stated))
        else:
            expect(folder.imported([file], *options(model=stated))[1], name)


def test_typed_names_and_numbers():
    folder = Imports()
    file = folder.write('a.json', vllm())
    folder.refused([file], "--accelerators: expected a number of accelerators above 0, found '0'",
                   *options(accelerators='0'))
    folder.refused([file], "--accelerators: expected a number of accelerators above 0, found ' 8'",
                   *options(accelerators=' 8'))
    folder.refused([file], 'unknown accelerator', *options(accelerator='h2000'))
    folder.refused([file], 'unknown model', *options(model='lama'))
    folder.refused([file], 'unknown precision', *options(precision='fp9'))
    folder.refused([file], '--date: expected a day such as', *options(date='yesterday'))
    done = run('import', file, *options())
    expect(done.returncode == BAD_INPUT and '-o DIR is missing' in done.stderr, done.stderr)


def test_no_accelerators_in_the_file():
    folder = Imports()
    folder.refused(mlperf_files(folder, accelerators_per_node='0'), 'expected a number of accelerators above 0',
                   *options(accelerators=None, model='llama-2-70b', date='2026-08-06'))


def test_every_broken_file_is_said_at_once():
    folder = Imports()
    files = [folder.write('a.json', '{'), folder.write('b.json', '{"a": 1}'), folder.write('c.json', vllm())]
    done = folder.run([*files, folder.path / 'none.json'])
    expect(done.returncode == BAD_INPUT, done.stdout)
    for fragment in ('a.json:1:1: error: not complete JSON', 'b.json: error: JSON in no known format; tried: Inf',
                     'none.json: error: cannot be opened'):
        expect(fragment in done.stderr, f'{fragment}: {done.stderr}')


def test_a_mistake_is_shown_where_it_is():
    """In a file of one line, after multi-byte characters and a list that is not read, and in its second line."""
    folder = Imports()
    whole = json.dumps(vllm(backend='\u00e9\u00e9\u00e9', itls=[[0.1] * 50] * 4, last=1), ensure_ascii=False)
    cut = whole.replace('"last": 1', '"last": one')
    column = cut.encode().index(b'one}') + 1
    for text, line in ((cut, 1), (f'{whole}\n{cut}', 2)):
        folder.refused([folder.write('a.json', text)], f"a.json:{line}:{column}: error: not complete JSON: .* near 'one'")


def test_a_refused_file_does_not_stop_the_others():
    """The import is the same as without it, and it is reported; the exit status says that something is
    missing."""
    folder = Imports()
    files = [folder.write(f'{c}.json', vllm(c)) for c in (4, 16)]
    broken = folder.write('cut.json', json.dumps(vllm(64))[:200])
    done = folder.run([files[0], broken, files[1]], *options(), '--format', 'json')
    expect(done.returncode == BAD_INPUT and 'cut.json:1:' in done.stderr, done.stderr)
    answer = json.loads(done.stdout)
    said, = [text for text in answer['warnings'] if 'refused' in text]
    expect(said.startswith('2 of 3 files imported') and '4.json' in said and '16.json' in said
           and 'cut.json' not in said, said)
    expect('2 of 3 files imported' in folder.run([broken, *files]).stdout.replace('\n', ' '), 'on the terminal')
    path, = folder.records.iterdir()
    record = json.loads(path.read_text())
    expect([rung['concurrency'] for rung in record['rungs']] == [4, 16], record)
    expect(folder.imported(files)[1] == [record], 'not as without it')
    other = Imports()
    other.refused([other.write('cut.json', broken.read_text())], 'cut.json:1:')


def test_a_refused_rung_is_kept_and_said():
    folder = Imports()
    files = [folder.write('4.json', vllm(4)), folder.write('8.json', vllm(8, failed=2))]
    answer, (record,) = folder.imported(files)
    expect('1 rung imported' in answer['answer'] and '1 refused' in answer['answer'], answer['answer'])
    row, = answer['tables']['refused']['rows']
    expect((row['file'], row['why']) == ('8.json', '2 requests failed'), row)
    expect(record['rungs'][1]['refused'] == '2 requests failed', record['rungs'][1])
    folder = Imports()
    folder.refused([folder.write('8.json', vllm(8, failed=2))], 'no rung is usable: 2 requests failed')


# ---- with watts

def nvidia_smi(seconds, watts, before=5, devices=8):
    """Local times two hours ahead of UTC, in nvidia-smi's form: without a zone."""
    lines = ['timestamp, index, power.draw [W]']
    for second in range(-before, seconds + 6):
        moment = time.gmtime(START + 7200 + second)
        stamp = time.strftime('%Y/%m/%d %H:%M:%S.000', moment)
        lines += [f'{stamp}, {device}, {watts:.2f} W' for device in range(devices)]
    return '\n'.join(lines) + '\n'


def test_watts_by_time():
    folder = Imports()
    file = folder.write('a.json', vllm())
    seconds = int(vllm()['duration'])
    power = folder.write('power.csv', nvidia_smi(seconds, 500))
    beside = options(power=str(power), utc_offset='+02:00', clock_offset='0.1')
    answer, (record,) = folder.imported([file], *beside)
    rung = record['rungs'][0]
    expect(near(rung['power']['load_power_w'], 4000) and rung['power']['devices'] == 8, rung['power'])
    expect(rung['power']['clock_offset_s'] == 0.1 and rung['power']['covers'] == 'accelerators', rung['power'])
    row, = answer['tables']['rungs']['rows']
    expect(near(row['energy_per_output_token'], 4000 / rung['output_tokens_per_s']), row)


def test_watts_that_are_of_no_use():
    folder = Imports()
    file = folder.write('a.json', vllm())
    seconds = int(vllm()['duration'])
    power = str(folder.write('power.csv', nvidia_smi(seconds, 500)))
    short = str(folder.write('short.csv', nvidia_smi(seconds // 2, 500)))
    zone, clock = {'utc_offset': '+02:00'}, {'clock_offset': '0.1'}
    folder.refused([file], 'zone', *options(power=power, **clock))
    folder.refused([file], 'the difference between the two clocks is unknown', *options(power=power, **zone))
    folder.refused([file], 'no watts for any rung', *options(power=short, **zone, **clock))
    folder.refused([file], 'name the devices that served', *options(power=power, accelerators='4', **zone, **clock))
    folder.refused([file], 'not a known power file format', *options(power=str(file), **zone))
    folder.refused([file], 'need --power', *options(devices='0,1'))
    folder.refused([file], "--utc-offset: expected \\+02:00 or the like, not 'two'", *options(power=power, utc_offset='two'))
    folder.refused([power], 'watts without rates: give it with --power')
    folder.refused([file], "no device '8' among the 8", *options(power=power, devices='8', **zone, **clock))
    chosen = options(power=power, accelerators='4', devices='0,1,2,3', **zone, **clock)
    rung = folder.imported([file], *chosen)[1][0]['rungs'][0]
    expect(near(rung['power']['load_power_w'], 2000) and rung['power']['devices'] == 4, rung['power'])


def dcgm(seconds):
    """A Prometheus answer in the order of the UUIDs, which is not that of the GPUs' numbers."""
    boards = (('GPU-a', '3', 100), ('GPU-b', '2', 110), ('GPU-c', '1', 700), ('GPU-d', '0', 690))
    result = [{'metric': {'__name__': 'DCGM_FI_DEV_POWER_USAGE', 'Hostname': 'h', 'UUID': uuid, 'gpu': gpu},
               'values': [[START + second, str(watts + second % 2)] for second in range(-5, seconds + 6)]}
              for uuid, gpu, watts in boards]
    return {'status': 'success', 'data': {'resultType': 'matrix', 'result': result}}


def test_devices_are_named_by_the_numbers_that_they_have():
    folder = Imports()
    file, seconds = folder.write('a.json', vllm()), int(vllm()['duration'])
    power = str(folder.write('dcgm.json', dcgm(seconds)))
    stated = options(accelerators='2', power=power, devices='0,1', clock_offset='0.05')
    answer, (record,) = folder.imported([file], *stated)
    rung, = record['rungs']
    expect(near(rung['power']['load_power_w'], 1391, 1e-3) and rung['power']['which'] == 'GPU-d, GPU-c', rung['power'])
    expect('watts of 2 devices: 0 (GPU-d), 1 (GPU-c)' in answer['notes'], answer['notes'])


def test_watts_of_mlperf_are_of_its_own_window():
    folder = Imports()

    def stamp(second):
        return time.strftime('%m-%d-%Y %H:%M:%S', time.gmtime(START + second))

    log = ''.join(':::MLLOG ' + json.dumps({'key': key, 'value': f'{stamp(second)}.000', 'time_ms': 1.0,
                                            'namespace': 'mlperf::logging', 'event_type': 'POINT_IN_TIME',
                                            'metadata': {}}) + '\n'
                  for key, second in (('power_begin', 10), ('power_end', 110)))
    spl = ''.join(f'Time,{stamp(second)}.000,Watts,{6000 if 5 <= second <= 115 else 900},Volts,230,Amps,20,PF,0.99,Mark,'
                  'made-up\n' for second in range(0, 130))
    files = [*mlperf_files(folder), folder.write('detail.txt', log)]
    stated = options(accelerator=None, accelerators=None, model='llama-2-70b', date='2026-08-06',
                     published='MLPerf Inference, https://example.org/run', power=str(folder.write('spl.txt', spl)))
    power = folder.imported(files, *stated)[1][0]['rungs'][0]['power']
    expect(near(power['load_power_w'], 6000) and power['covers'] == 'node', power)
    expect(near(power['window_s'], 100) and power['clock_offset_s'] == 0.5, power)
    folder = Imports()
    stated[-1] = str(folder.write('spl.txt', spl))
    folder.refused(mlperf_files(folder), 'the measurement window does not settle which', *stated)


# ---- size, and real files

def processor_seconds():
    """For the programs that have ended: other programs' load does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


OFFER = """\
[offer]
vendor = V
reference = Q-1
date = 2026-08-01
currency = USD
accelerator = h200-sxm-141
accelerators = 16 gpu
nodes = 2 node
[price]
accelerators = 30000 USD/gpu
[guarantee chat]
model = llama-3.1-8b
precision = fp8
basis = serving
input_tokens = 1024 token
output_tokens = 256 token
concurrency = 16 request
tokens_per_s = 65 token/s/gpu
"""


def test_nodes_of_a_delivery():
    """Two runs of each of two nodes: with --node they are two nodes, without it the four that their files are."""
    for named, nodes in ((True, '2 of the offer.s 2 nodes, in 4 runs'), (False, '4 of the offer.s 2 nodes, in 4 runs')):
        folder = Imports()
        offer = folder.write('offer.ini', OFFER)
        for number in range(4):
            file = folder.write('result.json', vllm(16, 640 + number))
            more = ['--node', f'node-{number // 2}'] if named else []
            expect(folder.run([file], *options(), *more).returncode == DONE, 'not imported')
        done = run('accept', offer, folder.records)
        said = ' '.join((done.stdout + done.stderr).split())
        expect(re.search(nodes, said), said)
        expect(('--node of import and of the probe names it' in said) != named, said)


def test_a_node_is_part_of_the_name():
    """The same results of two nodes are two records, and neither is that of an unnamed node."""
    folder = Imports()
    file = folder.write('result.json', vllm(16, 640))
    for more in ([], ['--node', 'n1'], ['--node', 'n2'], ['--node', 'n2']):
        expect(folder.run([file], *options(), *more).returncode == DONE, 'not imported')
    nodes = sorted(json.loads(path.read_text())['node'] for path in folder.records.glob('*.json'))
    expect(nodes == ['', 'n1', 'n2'], nodes)


def test_runs_that_are_missing():
    """One run of each node does not tell how much runs differ."""
    folder = Imports()
    offer = folder.write('offer.ini', OFFER.replace('= 65', '= 166') + '[acceptance]\nmay_fail = 0 node\ntolerance = 2 %\n')
    for number in range(2):
        file = folder.write('result.json', vllm(16, 640 + number))
        expect(folder.run([file], *options(), '--node', f'node-{number}').returncode == DONE, 'not imported')
    said = ' '.join(run('accept', offer, folder.records).stdout.split())
    expect('of each of the 2 undecided' in said, said)


def test_weights_of_llama_cpp():
    """llama-bench states how the weights are stored, at the end of the model's type."""
    for stored, stated, refusal in (
            ('Q8_0', None, None), ('Q8_0', 'int8', None), ('Q8_0', 'bf16', "--precision is bf16, but .*says 'Q8_0'"),
            ('BF16', None, None), ('all F32', 'fp8', "--precision is fp8, but .*says 'all F32'"),
            ('Q4_K - Medium', 'int4', None), ('Q4_K - Medium', None, "add --precision .*says 'Q4_K - Medium'"),
            ('', 'fp8', None), ('', None, 'add --precision')):
        folder = Imports()
        run_of = {'build_commit': 'abc', 'build_number': 6000, 'cpu_info': 'Some', 'gpu_info': 'NVIDIA H200',
                  'model_filename': 'a.gguf', 'model_type': f'llama 8B {stored}', 'n_prompt': 0, 'n_gen': 128,
                  'n_depth': 512, 'avg_ts': 32.5, 'test_time': '2026-10-02T08:01:42Z'}
        file, stating = folder.write('a.json', [run_of]), options(precision=stated, accelerators='1')
        if refusal:
            folder.refused([file], refusal, *stating)
        else:
            record, = folder.imported([file], *stating)[1]
            expect(record['precision'] == (stated or {'Q8_0': 'int8', 'BF16': 'bf16'}[stored]), record['precision'])


def test_ten_thousand_requests_in_a_second():
    folder = Imports()
    requests, length = 10_000, 256
    result = vllm(64, requests, (1024, length))
    times = ', '.join(['0.0146' + '3821764927'] * (length - 1))
    details = {'input_lens': [1024] * requests, 'output_lens': [length] * requests, 'ttfts': [0.123456789] * requests,
               'errors': [''] * requests, 'generated_texts': ['some words of an answer ' * 40] * requests}
    text = json.dumps({**result, **details})[:-1] + ', "itls": [' + ', '.join([f'[{times}]'] * requests) + ']}'
    file = folder.write('details.json', text)
    taken = []
    for _ in range(3):
        start = processor_seconds()
        expect(folder.run([file]).returncode == DONE, 'a large file is not imported')
        taken.append(processor_seconds() - start)
    print(f'   {len(text) / 1e6:.0f} MB in {min(taken):.2f} s')
    expect(is_quick(min(taken), MAX_SECONDS), f'{min(taken):.2f} s')


# What a sample needs in addition to STATED, and the message for one that is refused.
SAMPLES_EXPECTED = [
    (r'inferencex/concurrency_.*json', {'model': 'gpt-oss-120b', 'precision': 'mxfp4'}, None),
    (r'inferencex/raw_bench.*json', {}, "--model is llama-3.1-8b, but .*Qwen3.5-397B"),
    (r'inferencex/agg_agentic.*json', {}, 'multi-turn conversations'),
    (r'aiperf/.*json', {}, None),
    (r'guidellm/.*json', {}, None),
    (r'inference-perf/.*yaml', {'date': '2026-08-01'}, 'carry images, video or audio'),
    (r'llm-d/br_.*example.yaml', {}, 'contradicts itself: 2262.45 output tokens per second'),
    (r'llama.cpp/llama-bench.*(json|jsonl|csv)', {'accelerator': 'cpu', 'accelerators': '1'}, "fp8, but .*says 'all F32'"),
    (r'llama.cpp/llama-bench.*md', {}, 'run llama-bench with -o json'),
    (r'llama.cpp/batched-bench.*', {'date': '2026-08-01'}, None),
    (r'mlperf/.*txt', {'date': '2026-08-01', 'published': 'MLPerf, https://example.org/'}, None),
    (r'mlperf_power/mlperf_log_summary.txt', {}, 'the run.s result is INVALID'),
    (r'(smi|mlperf_power)/(nvidia|amd|spl).*', {}, 'give it with --power'),
    (r'trtllm/.*json', {'accelerators': '1', 'date': '2026-08-01'}, None),
    (r'.*', {}, 'no known format'),
]


def test_samples():
    if not SAMPLES.is_dir():
        raise Skip(f'{SAMPLES} is not here')
    files = sorted(path for path in SAMPLES.rglob('*') if path.is_file() and path.name != 'README.md')
    expect(len(files) >= 25, f'{len(files)} samples')
    for path in files:
        name = str(path.relative_to(SAMPLES))
        changes, refusal = next((c, r) for pattern, c, r in SAMPLES_EXPECTED if re.fullmatch(pattern, name))
        folder = Imports()
        if refusal:
            folder.refused([path], refusal, *options(**changes))
        else:
            expect(folder.imported([path], *options(**changes))[1], name)


def test_samples_of_a_ladder():
    if not SAMPLES.is_dir():
        raise Skip(f'{SAMPLES} is not here')
    files = sorted(SAMPLES.glob('inferencex/concurrency_*.json'))
    record, = Imports().imported(files, *options(model=None, accelerators='16', precision='mxfp4'))[1]
    rates = [rung['output_tokens_per_s'] for rung in record['rungs']]
    expect(len(rates) == len(files) and rates == sorted(rates), rates)
    expect(record['model'] == 'gpt-oss-120b', record['model'])


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests(dict(globals()))
    COUNT.finish()
