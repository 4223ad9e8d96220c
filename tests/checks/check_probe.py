#!/usr/bin/python3
"""Runs the probe the way its users do, on this machine's CPU with a small model.

    check_probe.py [NAME...]

PROBE names the program. Speeds are not judged, only what is reported about them, and what must be refused.
Deep: a model that fills the processor's caches, slices of it, an interrupted run, a wall meter, and a repeated
record; else a tiny one, and a test GPU on which nothing takes time.
Seconds: 12, deep 255
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from support.probing import (EMULATOR, METERED, MIXTURE, SCHEMA, TIMEOUT_S, at_once, probe, record_in, soon, with_plugins,
                             write_data)
from support.program import (BAD_INPUT, Count, DEEP, DONE, MACHINE_FAILED, NO, PROBE, ROOT, expect, expect_exit, near,
                             on_terminal, run, skip_all)
from support.records import digest_of, load, save

MODEL = 'smollm-135m'
KV_BYTES = 23040  # of one token, all layers
RUN = ('run', '--data', str(ROOT / 'data'), '--model', MODEL, '--time', '0.3')
NEEDED_BYTES = 3 << 30
PLUGINS = PROBE.parent / 'tests' / 'plugins'  # of tests/probe/test_device.c
WRONG = PROBE.parent / 'tests' / 'ladder' / 'wrong_variant.so'  # the same with a variant that misbehaves


# ---- what needs no measuring

def test_help(_):
    expect_exit(probe('--help'), 0, 'Usage: pertoken probe', 'Example')
    expect_exit(probe('--version'), 0, 'pertoken-probe ')
    expect_exit(probe(), BAD_INPUT, 'Usage: pertoken probe')
    for command in ('list', 'run', 'check'):
        expect_exit(probe(command, '--help'), 0, 'Example:', f'pertoken probe {command}')


def test_mixture_in_ranks(directory):
    """Each of several devices has a share of every expert, in whole blocks, the first one having one more; and of
    the heads of latent attention: on emulated GPUs together, and alone on the CPU."""
    write_data(directory / 'data')
    model = ('--data', directory / 'data', '--model', 'mixture', '--context', '64', '--precision')
    verify = ('run', '--verify-only', *model)
    expect_exit(probe(*verify, 'bf16,mxfp4', '--batch', '1,3', '--shard', '1/2'), 0, '8 comparisons within tolerance')
    latent = ('run', '--verify-only', '--data', directory / 'data', '--model', 'latent', '--context', '64', '--precision')
    expect_exit(probe(*latent, 'bf16', '--shard', '1/4'), 0, 'within tolerance')
    if not EMULATOR.exists():
        return
    plugins = directory / 'plugins'
    plugins.mkdir()
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    environment = {**with_plugins(plugins), 'EMULATOR_DEVICES': '4'}
    two = ('--device', 'emulator:0,1', '--tensor-parallel', '2')
    expect_exit(probe(*verify, 'mxfp4', *two, environment=environment), 0, '2 comparisons within tolerance')
    expect_exit(probe(*verify, 'mxfp4', *two, environment={**environment, 'EMULATOR_UNITS_1': '3'}), BAD_INPUT,
                'needs equal devices, but emulator:0 is host emulator, warp 32 with 2 units, and emulator:1')
    unknown = probe(*verify, 'bf16', '--device', 'emulator:0', '--variant', 'step=streamed', environment=environment)
    expect_exit(unknown, BAD_INPUT, "error: --variant step=streamed: unknown step 'streamed'; known: graph")
    if not DEEP:
        return
    expect_exit(probe(*latent, 'fp8', *two, environment=environment), 0, 'within tolerance')
    four = ('--device', 'emulator:0,1,2,3', '--tensor-parallel', '4')
    result = probe('run', *model, 'bf16', *four, '--time', '0.1', '-o', directory / 'records', environment=environment)
    expect_exit(result, 0, 'token/s')
    record = json.loads(record_in(directory / 'records').read_text())
    measured = record['results'][0]
    verified, members = measured['verification'], measured['tensor_parallel']
    expect(members['devices'] == len(members['members']) == 4 and 'experts' in verified['what'], measured)
    expect(verified['max_error'] <= verified['tolerance'], verified)
    rows, hidden = MIXTURE['ffn_hidden'] // 4, MIXTURE['hidden']  # gate, up and down in bf16, biases in float
    expect(measured['routing']['expert_bytes'] == 3 * rows * hidden * 2 + (2 * rows + hidden) * 4, measured['routing'])
    expect(measured['routing']['touched'] == 2 * MIXTURE['experts_per_token'], measured['routing'])


def test_unlike_gpus(directory):
    """Each is planned for itself: one that could not run the model says nothing about another."""
    if not EMULATOR.exists():
        return
    write_data(directory / 'data')
    plugins = directory / 'plugins'
    plugins.mkdir()
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    environment = {**with_plugins(plugins), 'EMULATOR_DEVICES': '2', 'EMULATOR_SHARED_0': '16384'}
    verify = ('run', '--verify-only', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device')
    for device, status, words in (('emulator:1', DONE, 'within tolerance'), ('emulator:0', BAD_INPUT, 'shared memory')):
        expect_exit(probe(*verify, device, environment=environment), status, words)
    both = probe(*verify, 'auto:all', environment={**environment, 'EMULATOR_UNITS_1': '3'})
    expect_exit(both, BAD_INPUT, 'error: host emulator, warp 32: emulator cannot run tiny bf16', 'shared memory',
                '4 comparisons within tolerance')


def test_kinds_of_gpus(directory):
    """Each kind by itself, in one command: at once only GPUs that are equal, whose sum and watts mean something."""
    if not (METERED / 'metered.so').exists() or not EMULATOR.exists():
        return
    write_data(directory / 'data')
    plugins = directory / 'plugins'
    plugins.mkdir()
    (plugins / 'metered.so').symlink_to(METERED / 'metered.so')
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    environment = {**with_plugins(plugins), 'METERED_DEVICES': '3', 'METERED_OTHER': '1', 'EMULATOR_DEVICES': '1'}
    listed = json.loads(probe('list', '--device', 'auto:all', '--format', 'json', environment=environment).stdout)
    expect(sorted((d['backend'], d['index']) for d in listed['devices'])
           == [('cuda', 0), ('cuda', 1), ('cuda', 2), ('emulator', 0)], listed['devices'])
    result = probe('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--time', '0.1', '--device',
                   'cuda:all', '-o', directory / 'records', environment=environment)
    expect_exit(result, DONE, '\n2 devices: NVIDIA H200\n', 'together they decode')
    expect(result.stdout.count('together they decode') == 1, result.stdout)
    records = [json.loads(path.read_text()) for path in (directory / 'records').glob('*.json')]
    found = sorted((record['device']['name'], record['device']['index'], record['results'][0]['together']['devices'])
                   for record in records)
    expect(found == [('NVIDIA H200', 0, 2), ('NVIDIA H200', 2, 2), ('NVIDIA L40S', 1, 0)], found)


def test_prompts_on_a_gpu(directory):
    """A GPU's record has the rates of its prompts, and the times of steps beside them, if it mixes both; in the deep
    run, those of its own kernels, on one device and on two together, each of which does half of the work."""
    model, environment = at_once(directory)
    prompts = ('--prefill', '24,48', '--chunk', '16', '--time', '0.1')
    alone = {**environment, 'METERED_ALONE': '1'} if environment else None
    devices = [(model, environment), (model, alone)] if environment else []
    operations = {}
    if EMULATOR.exists() and DEEP:
        plugins = directory / 'plugins'
        plugins.mkdir()
        (plugins / 'emulator.so').symlink_to(EMULATOR)
        emulated = {**with_plugins(plugins), 'EMULATOR_DEVICES': '2'}
        devices += [((*model[:6], '--device', 'emulator:0'), emulated),
                    ((*model[:6], '--device', 'emulator:0,1', '--tensor-parallel', '2'), emulated)]
    if environment:
        leaving_out = {**environment, 'METERED_LEAVES_OUT': '1'}  # the rows beside a prompt
        expect_exit(probe('run', *model, *prompts, '--batch', '2', environment=leaving_out), MACHINE_FAILED,
                    'a prompt processed in chunks gives a different result')
    for number, (arguments, where) in enumerate(devices):
        folder = directory / f'records-{number}'
        result = probe('run', *arguments, *prompts, '--batch', '2', '-o', folder, environment=where)
        expect_exit(result, 0, 'TTFT s', 'own tiles: ')
        measured = json.loads(record_in(folder).read_text())['results'][0]
        expect([(p['positions'], p['chunk']) for p in measured['prefills']] == [(24, 16), (48, 16)], measured)
        for prompt in measured['prefills']:
            rate = prompt['positions'] / prompt['seconds']
            expect(near(prompt['tokens_per_s'], rate) and prompt['library'].startswith('own tiles: '), prompt)
            if number >= 2:
                share = prompt['matrix_share'] * prompt['matrix_rate']
                operations[measured['tensor_parallel']['devices'], prompt['positions']] = share * prompt['seconds']
        mixed = [(m['rows'], m['chunk']) for m in measured['mixed']]
        expect(mixed == ([] if where is alone else [(1, 8), (1, 2)]), measured['mixed'])
        for m in measured['mixed']:
            expect(near(m['sum_error'], (m['steps_s'] + m['chunk_s']) / m['mixed_s'] - 1), m)
            expect(f'{m["chunk"]} of a prompt together with a step of 1 row:' in result.stdout, result.stdout)
    for (members, positions), half in operations.items():
        expect(not members or near(operations[0, positions], 2 * half), operations)


def run_with_wrong_variant(directory, how, device='cuda', *more, status=DONE, **environment):
    """A run on the test GPU, whose only variant misbehaves or, with `no`, is the fastest."""
    write_data(directory / 'data')
    (directory / 'plugins').mkdir()
    (directory / 'plugins' / 'wrong.so').symlink_to(WRONG)
    environment = {**with_plugins(directory / 'plugins'), 'WRAPPED': METERED / 'metered.so', 'WRONG': how,
                   'WRONG_TUNING': 'step=streaming', **environment}
    result = probe('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device', device,
                   '--time', '0.1', '-o', directory / 'records', *more, environment=environment)
    expect_exit(result, status)
    return result


def with_wrong_variant(directory, how):
    """(result, record), where the variant misbehaves."""
    result = run_with_wrong_variant(directory, how)
    expect('own choice' in result.stdout, result.stdout)
    measured = json.loads(record_in(directory / 'records').read_text())['results'][0]
    expect(measured['step_form']['variant'] == '' and len(measured['variants']) == 2, measured)
    return result, measured['variants'][1]


def is_without_wrong_variant():
    return not WRONG.exists() or not (METERED / 'metered.so').exists()


def test_wrong_variants(directory):
    """Whatever a variant of the kernels does, by default the own choice is measured then."""
    if is_without_wrong_variant():
        return
    for how, warning in (('crash', 'the process that tried it was ended: Aborted; it is not used'),
                         ('failed', 'the device failed; it is not used'),
                         ('token', "its results differ from those of the kernels' own choice"),
                         ('refused', '')):
        folder = directory / how
        folder.mkdir()
        result, tried = with_wrong_variant(folder, how)
        said = ''.join(line for line in result.stderr.splitlines(True) if 'this machine is busy' not in line)
        expect(warning in said and ('warning' in said) == bool(warning), (how, result.stderr))
        expect(tried['variant'] == 'step=streaming' and tried['refused'], tried)


def test_wrong_variants_verified(directory):
    """--verify-only compares each variant that a run would try, and says what one does that must not be run."""
    if is_without_wrong_variant():
        return
    for how, more, status, words in (
            ('no', (), DONE, 'ok: step=streaming'), ('logits', (), NO, 'WRONG: step=streaming'),
            ('crash', ('--variant', 'fastest'), NO, 'WRONG: step=streaming: the process that tried it was ended: Aborted'),
            ('refused', (), DONE, 'not here: step=streaming: the device does not support'),
            ('logits', ('--variant', 'own'), DONE, '2 comparisons within tolerance')):
        folder = directory / '-'.join((how, *more))
        folder.mkdir()
        result = run_with_wrong_variant(folder, how, 'cuda', '--verify-only', *more, status=status)
        expect(words in result.stdout and ('variant of the kernels failed' in result.stdout) == (how == 'crash'),
               (how, result.stdout, result.stderr))
        expect(not (folder / 'records').exists(), 'a record')


def test_equal_devices(directory):
    """What is the fastest on the first of them is measured on the other, without trying again."""
    if is_without_wrong_variant():
        return
    result = run_with_wrong_variant(directory, 'no', 'cuda:0,1', METERED_DEVICES='2')
    records = [json.loads(path.read_text()) for path in (directory / 'records').glob('*.json')]
    found = sorted((record['results'][0]['step_form']['variant'], len(record['results'][0]['variants'])) for record in records)
    expect(found == [('step=streaming', 0), ('step=streaming', 2)], (found, result.stdout, result.stderr))
    expect(all(record['results'][0]['together']['devices'] == 2 for record in records), records)


def test_endless_variant(directory):
    """Nothing ends a kernel but its process: the one that tried it."""
    if is_without_wrong_variant():
        return
    started = time.monotonic()
    result, tried = with_wrong_variant(directory, 'endless')
    expect('its steps did not end within ' in result.stderr and time.monotonic() - started < 60, result.stderr)
    expect(tried['refused'].startswith('its steps did not end within '), tried)


def test_list(_):
    expect_exit(probe('list'), 0, 'cpu:0', 'memory', 'meter  rapl-powercap')
    expect_exit(probe('list', environment=with_plugins('/nonexistent')), 0, 'this installation has no backend for them')
    expect('no backend' not in probe('list', '--device', 'cpu', environment=with_plugins('/nonexistent')).stdout, 'not asked')
    result = probe('list', '--format', 'json')
    expect_exit(result, 0)
    listed = json.loads(result.stdout)
    device = listed['devices'][0]
    expect(device['backend'] == 'cpu' and device['memory_bytes'] > 0 and device['units'] > 0, device)
    expect(device['read_bandwidth'] is None, 'measured without --calibrate')
    for meter in listed['meters']:
        expect(meter['status'] in ('works', 'absent', 'forbidden'), meter)
        expect(meter['detail'], 'a meter without a word')


def last_level_caches(processors):
    """Bytes of the last-level caches that hold data, each counted once for all processors that share it."""
    found = {}
    for number in processors:
        levels = {}
        for folder in pathlib.Path(f'/sys/devices/system/cpu/cpu{number}/cache').glob('index*'):
            kind, level, size, shared = ((folder / name).read_text().strip()
                                         for name in ('type', 'level', 'size', 'shared_cpu_list'))
            if kind != 'Instruction':
                levels[int(level)] = (shared, int(size[:-1]) * {'K': 1 << 10, 'M': 1 << 20}[size[-1]])
        if levels:
            shared, size = levels[max(levels)]
            found[shared] = size
    return sum(found.values())


def test_cache_of_the_cores_in_use(_):
    """Not the C library's figure, which on AMD is a whole package's; both are reported."""
    allowed = sorted(os.sched_getaffinity(0))
    for processors in (allowed, allowed[:1]):
        def confine(processors=processors):
            os.sched_setaffinity(0, processors)
        wanted = last_level_caches(processors)
        if not wanted:
            return
        listed = json.loads(run('list', '--format', 'json', program=PROBE, preexec_fn=confine).stdout)['devices'][0]
        expect(listed['cache_bytes'] == wanted, f'{listed["cache_bytes"]} bytes on {processors}, not {wanted}')
        library = os.sysconf('SC_LEVEL3_CACHE_SIZE')
        expect(library <= 0 or listed['reported_cache_bytes'] == library, listed)
        said = run('list', program=PROBE, preexec_fn=confine).stdout
        expect(('MB by the C library)' in said) == (listed['reported_cache_bytes'] != wanted), said)


def test_list_one_device(_):
    for name in ('cpu', 'cpu:0', 'cpu:all', 'auto'):
        result = probe('list', '--device', name, '--format', 'json', environment=with_plugins('/nonexistent'))
        expect_exit(result, 0)
        listed = json.loads(result.stdout)
        expect([(d['backend'], d['index']) for d in listed['devices']] == [('cpu', 0)], listed)
        expect(listed['absent'] == [] and listed['meters'], listed)
    if not (PLUGINS / 'present.so').exists():
        return
    for name, numbers in (('present', [0]), ('present:1', [1]), ('present:0,1', [0, 1])):
        result = probe('list', '-q', '--device', name, '--format', 'json', environment=with_plugins(PLUGINS))
        expect([d['index'] for d in json.loads(result.stdout)['devices']] == numbers, result)
    expect_exit(probe('list', '--device', 'present:1', environment=with_plugins(PLUGINS)), 0, 'present:1  a device')
    expect_exit(probe('list', '--device', 'present:all', environment=with_plugins(PLUGINS)), MACHINE_FAILED,
                'present:2: the device failed: the device is lost')
    expect_exit(probe('list', '--device', 'absent', environment=with_plugins(PLUGINS)), MACHINE_FAILED,
                'absent: no device of the tests; plug one in')


def test_verify_only(directory):
    data, where = directory / 'data', directory / 'records'
    write_data(data)
    arguments = ('run', '--verify-only', '--data', data, '--model', 'tiny', '--context', '64',
                 '--batch', '1,3', '-o', where)
    result = probe(*arguments, '--precision', 'bf16,int8')
    expect_exit(result, 0, '8 comparisons within tolerance')
    rows = [line.split() for line in result.stdout.splitlines()[2:-1]]
    expect([row[:4] for row in rows] == [[p, b, '64', layers] for p in ('bf16', 'int8')
                                         for b in '13' for layers in '12'], rows)
    expect(all(row[4] == row[5] == row[1] and float(row[8]) <= float(row[9]) and row[10] == 'ok' for row in rows), rows)
    expect(not where.exists(), 'something was written')
    if (METERED / 'metered.so').exists():
        wrong = {**with_plugins(METERED), 'PERTOKEN_TEST_WRONG': '1'}
        expect_exit(probe(*arguments, '--device', 'cuda', environment=wrong), NO, 'WRONG',
                    '4 of 4 comparisons out of tolerance')
        expect_exit(probe(*arguments, '--device', 'cuda', environment=with_plugins(METERED)), 0,
                    'tiny on NVIDIA H200', '4 comparisons within')
        expect_exit(probe(*arguments, '--device', 'cuda', '--precision', 'int8', environment=wrong), BAD_INPUT,
                    'cuda cannot run tiny int8')


BAD = [
    ((*RUN, '--shard', '2/3'), 'expected --shard 1/N, such as 1/8'),
    ((*RUN, '--shard', '1/1'), 'from 2 to 1024'),
    ((*RUN, '--shard', '1/2'), 'smollm-135m has 9 heads, which cannot be divided among 2'),
    ((*RUN, '--tensor-parallel', '1'), 'from 2 to 64'),
    ((*RUN, '--tensor-parallel', '3'), '--tensor-parallel 3 needs as many devices, but --device cpu names 1'),
    ((*RUN, '--tensor-parallel', '3', '--shard', '1/3'), '--tensor-parallel all of them'),
    ((*RUN, '--all-reduce', '12 us'), '--all-reduce needs --shard'),
    ((*RUN, '--shard', '1/3', '--all-reduce', '12 us'), 'a time needs its source'),
    ((*RUN, '--shard', '1/3', '--all-reduce', '12 W', '--all-reduce-note', 'x'), "such as '12 us'"),
    ((*RUN, '--redfish', 'bmc'), 'expected --redfish https://HOST/redfish/v1/Chassis/1/Power'),
    ((*RUN, '--redfish', 'https://root:calvin@bmc/redfish'), 'name and password in ~/.netrc'),
    ((*RUN, '--redfish', 'https://bmc/p', '--wall-power', '5 W'), 'and --wall-power both supply wall power'),
    ((*RUN, '--device', 'cpu:0,0'), "device 'cpu:0' is named twice"),
    ((*RUN, '--device', 'cpu:0,1'), "no device 'cpu:1'"),
    (('lst',), "unknown command 'lst'; did you mean 'list'?"),
    (('run',), 'expected --model ID'),
    (('run', 'x', '--model', MODEL), 'one argument too many'),
    (('check',), 'expected RECORD'),
    (('check', '/nonexistent.json'), 'No such file'),
    (('check', str(ROOT / 'data' / 'models.csv')), 'expected a complete measurement record in JSON'),
    (('check', 'x', '--tolerance', '4'), 'has no unit'),
    (('check', 'x', '--tolerance', '-4 %'), 'to below'),
    (('check', 'x', '--tolerance', '100 %'), 'to below'),
    (('list', '--device', 'cpx'), "unknown device 'cpx'; did you mean 'cpu'?"),
    (('list', '--device', 'zzz'), "unknown device 'zzz', expected one of: cpu"),
    (('list', '--device', 'cpu:9'), "no device 'cpu:9': cpu has"),
    (('list', '--device', 'cpu:0,0'), "device 'cpu:0' is named twice"),
    (('list', '--device', ''), "unknown device ''"),
    (('list', '--verify-only'), 'unrecognized option'),
    (('run', '--verify-only'), 'expected --model ID'),
    (RUN + ('--verify-only', '--model', 'zzz'), "unknown model 'zzz'"),
    (('list', '--format', 'csv'), 'expected --format table or json'),
    (RUN + ('--model', 'tinylama-1.1b'), "did you mean 'tinyllama-1.1b'?"),
    (RUN + ('--model', 'zzz'), "unknown model 'zzz'"),
    (RUN + ('--model', 'gpt-oss-20b', '--layers', '3'),
     'cuts the pattern of gpt-oss-20b: its layers repeat in groups of 2; the next depth that does not is 4'),
    (RUN + ('--model', 'gpt-oss-20b', '--layers', '2,5,8'), 'the next depth that does not is 6'),
    (RUN + ('--model', 'deepseek-v3', '--layers', '3,6'),
     'its first 3 layers have no experts; the next depth that does not is 4'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'int4'),
     'gpt-oss-20b cannot be run in int4: its row in models.csv excludes that precision; choose one of bf16, int8, '
     'fp8, mxfp4, fp4, mxfp6, mxfp6-e3m2'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'int8-g128'), 'excludes that precision'),
    (RUN + ('--model', 'mixtral-8x7b', '--shard', '1/3'),
     'mixtral-8x7b has 32 heads, which cannot be divided among 3 devices'),
    (RUN + ('--model', 'deepseek-v3', '--shard', '1/3'), 'deepseek-v3 has 128 heads, which cannot be divided among 3'),
    (RUN + ('--model', 'qwen3-235b-a22b', '--precision', 'int4', '--shard', '1/16'),
     'qwen3-235b-a22b in int4 cannot be divided among 16 devices: the 1536 columns of each expert are fewer blocks '
     'of 128 weights with one scale than 16 devices'),
    (RUN + ('--routing', 'uniform'), 'smollm-135m has none'),
    (RUN + ('--routing', 'skewed'), 'expected --routing model, uniform or skewed:N'),
    (RUN + ('--routing', 'skewed:'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:-1'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:nan'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:1.2x'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:11'), 'N from 0 to 10'),
    (RUN + ('--precision', 'mxfp4', '--activations', 'int8'),
     '--activations int8 does not go with mxfp4: choose bf16 or fp8, or leave it out'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'mxfp4', '--activations', 'fp8'),
     'does not go with mxfp4 in gpt-oss-20b, which holds only its experts in it and the rest in bf16: choose bf16'),
    (RUN + ('--precision', 'int8', '--activations', 'bf16'),
     'the CPU kernels do not multiply weights in int8 by activations in bf16'),
    (RUN + ('--batch', '5000'), 'the CPU kernels need a batch of 1 to 4096, not 5000'),
    (RUN + ('--activations', 'fp6'), 'expected --activations bf16, fp8, int8 or weights'),
    (RUN + ('--precision', 'nvfp4,fp4'), '--precision names fp4 twice'),
    (RUN + ('--data', '/nonexistent'), '/nonexistent'),
    (RUN + ('--device', 'cpx'), "unknown device 'cpx'; did you mean 'cpu'?"),
    (RUN + ('--device', 'gpu'), "unknown device 'gpu'; did you mean 'auto'?"),
    (RUN + ('--device', 'cpu:9'), "no device 'cpu:9'"),
    (RUN + ('--precision', 'fp16'), "unknown precision 'fp16'"),
    (RUN + ('--precision', 'bf16,bf16'), '--precision names bf16 twice'),
    (RUN + ('--precision', ''), "unknown precision ''"),
    (RUN + ('--kv', 'int8'), 'expected --kv bf16 or fp8'),
    (RUN + ('--head', 'int4'), 'expected --head bf16 or weights'),
    (RUN + ('--batch', '0'), 'expected --batch to be whole numbers from 1'),
    (RUN + ('--batch', '-1'), 'expected --batch to be whole numbers from 1'),
    (RUN + ('--batch', '1,,2'), 'expected --batch'),
    (RUN + ('--batch', '1,1'), '--batch names 1 twice'),
    (RUN + ('--batch', '1e3'), 'expected --batch'),
    (RUN + ('--batch', '99999999999999999999'), 'expected --batch'),
    (RUN + ('--context', '0'), 'expected --context'),
    (RUN + ('--context', '512x'), 'expected --context'),
    (RUN + ('--context', '999999999'), 'expected --context'),
    (RUN + ('--prefill', '1024', '--context', '512'), 'a prompt of 1024 tokens is longer than the cache of 512'),
    (RUN + ('--prefill', '64', '--chunk', '0'), 'expected --chunk'),
    (RUN + ('--chunk', '16'), '--chunk needs --prefill'),
    (RUN + ('--prefill', '64', '--layers', '4,8'), 'choose one'),
    (RUN + ('--layers', '8,4'), 'ascending'),
    (RUN + ('--layers', '1,2,3,4'), 'one depth, or two or three'),
    (RUN + ('--layers', '31'), 'smollm-135m has 30 layers, but --layers asks for 31'),
    (RUN + ('--threads', '-1'), 'expected --threads'),
    (RUN + ('--threads', '1025'), 'expected --threads to be whole numbers from 0 to 1024'),
    (RUN + ('--seed', '-1'), 'expected --seed'),
    (RUN + ('--time', '0'), 'expected --time'),
    (RUN + ('--time', 'nan'), 'expected --time'),
    (RUN + ('--soak=1',), 'expected --soak'),
    (RUN + ('--wall-power', '512'), 'has no unit'),
    (RUN + ('--wall-power', '0 W'), 'above'),
    (RUN + ('--wall-power', '-3 W'), 'above'),
    (RUN + ('--wall-power', '512 USD'), '--wall-power'),
    (RUN + ('--wall-note', 'PDU A3'), '--wall-note needs --wall-power'),
    (('check', 'x', '--soak'), 'unrecognized option'),
    (RUN + ('--model', 'llama-3.1-405b', '--batch', '64', '--context', '131072'), 'bytes) is free'),
    (RUN + ('--batch', '65536', '--context', '16777216'), 'smollm-135m bf16, batch 65536'),
]


def test_bad_input(directory):
    for arguments, fragment in BAD:
        where = directory / 'nothing'
        result = probe(*arguments, *(('-o', where) if arguments[0] == 'run' else ()))
        try:
            expect_exit(result, BAD_INPUT, fragment)
            expect(not list(where.glob('*')), 'something was written')
        except AssertionError as error:
            raise AssertionError(f'{arguments}: {error}') from None


WRONG_ROWS = [  # model, column, value, message
    ('mixtral-8x7b', 'experts_per_token', '9', 'a model cannot have more experts per token than experts'),
    ('mixtral-8x7b', 'experts_per_token', '0', 'a model cannot have no expert per token'),
    ('smollm-135m', 'experts_per_token', '2', 'a model cannot have experts chosen from none'),
    ('gpt-oss-20b', 'sliding_window', '', 'layers without a window but none with one'),
    ('smollm-135m', 'norm_kind', 'batch', "the probe knows rms, layer in norm_kind, not 'batch'"),
    ('smollm-135m', 'attention_kind', 'linear', "the probe knows gqa, mha, mqa, mla in attention_kind, not 'linear'"),
    ('smollm-135m', 'biases', 'qkv;head', "the probe does not know the biases of 'head'"),
    ('smollm-135m', 'sliding_window', '0.5', 'a whole number of sliding_window'),
    ('smollm-135m', 'excluded_precisions', 'int4;mxfp5', "unknown precision 'mxfp5'"),
    ('deepseek-v3', 'kept_expert_groups', '9', 'more groups of experts kept than exist'),
]


def with_cell(directory, model, column, value):
    """The catalogue with one cell of a model's row changed."""
    data = directory / f'data-{column}-{value}'
    shutil.copytree(ROOT / 'data', data, ignore=shutil.ignore_patterns('measured'))
    with open(data / 'models.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row['id'] == model)[column] = value
    with open(data / 'models.csv', 'w', newline='') as file:
        writer = csv.DictWriter(file, rows[0], lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)
    return data


def test_rows_that_cannot_be(directory):
    for model, column, value, fragment in WRONG_ROWS:
        data = with_cell(directory, model, column, value)
        expect_exit(probe('run', '--data', data, '--model', model, '--verify-only'), BAD_INPUT, fragment)


def test_blank_cells_have_stand_ins(directory):
    data = with_cell(directory, MODEL, 'rope_theta', '')
    result = probe('run', '--data', data, '--model', MODEL, '--time', '0.1', '--layers', '1', '-q', '-o', directory)
    expect_exit(result, DONE)
    record, = directory.glob('*.json')
    remarks = json.loads(record.read_text())['environment']['remarks']
    expect(remarks == "used in place of the model's own: rope_theta 10000", remarks)


def test_excluded_by_another_name(directory):
    data = with_cell(directory, MODEL, 'excluded_precisions', 'nvfp4')
    expect_exit(probe('run', '--data', data, '--model', MODEL, '--precision', 'fp4', '--verify-only'), BAD_INPUT,
                f'{MODEL} cannot be run in fp4')


def test_prompts_verified_only(directory):
    """With --prefill, also a prompt in chunks against the same token by token, on its own and beside a step."""
    write_data(directory / 'data')
    model = ('run', '--verify-only', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--prefill', '48')
    result = probe(*model, '--batch', '1,3', '--chunk', '16')
    expect_exit(result, DONE, '6 comparisons within tolerance')
    rows = [line.split() for line in result.stdout.splitlines() if 'a prompt in chunks of 16' in line]
    expect([row[1:7] for row in rows] == [['1', '64', '2', '1', '1', '40'], ['3', '64', '2', '3', '3', '40']], rows)
    expect(all(float(row[8]) <= float(row[9]) and row[10] == 'ok:' for row in rows), rows)
    if (METERED / 'metered.so').exists():
        wrong = {**with_plugins(METERED), 'METERED_LEAVES_OUT': '1'}  # the rows beside a prompt
        expect_exit(probe(*model, '--batch', '3', '--device', 'cuda', environment=wrong), NO,
                    'WRONG: a prompt in chunks of 24 and of 48\n', '1 of 3 comparisons out of tolerance')
        late = {**with_plugins(METERED), 'METERED_LONG_CHUNKS_LATE': '1'}
        for length, status in ((48, NO), (24, DONE)):
            result = probe(*model, '--chunk', length, '--device', 'cuda', environment=late)
            expect_exit(result, status, 'a prompt in chunks of 24')
    data = ('--data', directory / 'data', '--context', '64', '--prefill', '48')
    for name in ('mixture', 'latent'):
        expect_exit(probe('run', '--verify-only', '--model', name, *data), DONE, 'ok: a prompt in chunks of 24 and of 48')


def test_another_version_of_the_library(directory):
    """One that cannot be used hides no other; the record says why prompts are multiplied without any. oneDNN itself
    cannot be used where the processor has no instructions for BF16."""
    fake = PROBE.parent / 'tests' / 'fake' / 'libdnnl.so'
    if not fake.exists():
        return

    prompt = (*soon(directory), '--prefill', '32', '--time', '0.1')

    def library(name, environment):
        expect_exit(probe(*prompt, '-o', directory / name, environment=environment), DONE)
        prefill, = load(record_in(directory / name))['results'][0]['prefills']
        return prefill['library']

    (directory / 'libdnnl.so.3').symlink_to(fake)
    alone = library('alone', {})
    beside = library('beside', {'LD_LIBRARY_PATH': directory, 'FAKE_DNNL': '4 0 0 2'})
    refused = 'own tiles: oneDNN 4.0.0 is not a supported version, 2.6 to 3'
    expect(beside == (alone if alone.startswith('oneDNN 2.') else refused) or alone.startswith('oneDNN 3.'),
           f'{alone}, with another version: {beside}')


def test_window_beyond_the_context(directory):
    data = with_cell(directory, MODEL, 'sliding_window', '512')
    result = probe('run', '--data', data, '--model', MODEL, '--layers', '1', '--verify-only')
    expect_exit(result, DONE, 'attends to the last 512 positions, which is all of a context of 512: full attention')


def test_too_large_suggests_layers(directory):
    context = free_bytes() * 3 // 2 // (64 * KV_BYTES)  # half as much again as there is
    result = probe(*RUN, '--batch', 64, '--context', context, '-o', directory / 'large')
    expect_exit(result, BAD_INPUT, 'needs', 'bytes), but only', 'measures slices of it')


def test_bad_directories(directory):
    (directory / 'file').write_text('')
    kernels = ['/sys'] if os.path.ismount('/sys') else []
    for where, what in [('/proc/nothing', 'create'), (directory / 'file', 'write to'),
                        (directory / 'file' / 'below', 'create'), *((one, 'write to') for one in kernels)]:
        expect_exit(probe(*RUN, '-o', where), MACHINE_FAILED, f"cannot {what} the directory '{where}'")
    full = directory / 'made' / 'full'
    expect_exit(probe(*RUN, '-o', full, file_limit=0), MACHINE_FAILED, 'cannot write to the directory', 'File too large')
    expect(not list(full.iterdir()), 'the lock was left')


# ---- with measurements

def check_result(result):
    expect(abs(result['tokens_per_s'] * result['step_seconds'] / result['batch'] - 1) < 1e-9,
           'token/s')
    expect(result['ci95_low'] <= result['tokens_per_s'] <= result['ci95_high'], 'interval')
    expect(result['p5_s'] <= result['step_seconds'] <= result['p95_s'], 'quantiles')
    expect(len(result['samples']) >= 6, 'samples')
    expect(result['verification']['max_error'] <= result['verification']['tolerance'], 'verified')
    flags = result['flags']
    expect(result['grade'] == ('projected' if flags['cache_resident'] else 'measured'), 'grade')
    for power in ('load_power_w', 'idle_power_w', 'joules_per_token'):
        expect(result[power] is None or result['energy_meter'].startswith('rapl'), power)


def test_run_and_resume(directory):
    run_it = RUN if DEEP else soon(directory)
    arguments = (*run_it, '--precision', 'bf16', '--batch', '1,2', '--context', '64', '-o', directory / 'records')
    result = probe(*arguments)
    expect_exit(result, 0, 'token/s', f'{MODEL if DEEP else "tiny"} on')
    path = record_in(directory / 'records')
    record = load(path)
    expect(record['digest'] == digest_of(record), 'digest')
    expect(record['schema'] == SCHEMA and record['basis'] == 'decode', 'header')
    expect([r['batch'] for r in record['results']] == [1, 2], 'results')
    for one in record['results']:
        check_result(one)
    before = path.read_bytes()
    expect_exit(probe(*arguments), 0, 'token/s')
    expect(path.read_bytes() == before, 'a finished run was written again')
    expect(not list(path.parent.glob('.pertoken*')), 'the lock was left')
    if not DEEP:
        return
    expect_exit(probe(*arguments, '--precision', 'bf16,int8', '--batch', '1'), 0, 'int8')
    more = load(path)
    expect(len(more['results']) == 3 and more['results'][:2] == record['results'], 'extended')


def test_extended(directory):
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    expect_exit(probe(*arguments, '--batch', '1', environment=environment), 0)
    first = load(record_in(directory / 'records'))
    expect_exit(probe(*arguments, '--batch', '1,2', environment=environment), 0)
    more = load(record_in(directory / 'records'))
    expect([result['batch'] for result in more['results']] == [1, 2], 'extended')
    expect(more['results'][0] == first['results'][0], 'a finished result was repeated')


def test_known_is_said(directory):
    """Whoever runs a command again learns what is not measured again."""
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    for batches, words in (('1', 'pertoken-probe: record: '), ('1', 'measured before, and not again unless you move this '),
                           ('1,2', '1 of the results measured before; record: ')):
        result = probe(*arguments, '--batch', batches, environment=environment)
        expect_exit(result, 0, words, 'token/s')
        expect('this machine is busy' not in result.stderr or 'and not again' not in result.stderr, result.stderr)


def test_conditions_are_apart(directory):
    """What a record states once for all of its results, such as the kernels' tuning, begins another if it changes."""
    if not EMULATOR.exists():
        return
    write_data(directory / 'data')
    plugins = directory / 'plugins'
    plugins.mkdir()
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    arguments = ('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device', 'emulator',
                 '--variant', 'own', '--time', '0.1', '-o', directory / 'records')
    for tuning in ({}, {'PERTOKEN_GPU_TUNING': 'step=launches'}):
        expect_exit(probe(*arguments, environment={**with_plugins(plugins), **tuning}), 0, 'token/s')
    found = {load(path)['device']['runtime']: load(path)['results'][0]['step_form']['form']
             for path in (directory / 'records').glob('*.json')}
    expect(found == {'emulator': 'recorded graph', 'emulator, step=launches': 'single launches'}, found)


def test_interrupt(directory):
    arguments = (*soon(directory), '--time', '2', '--batch', '1,2,3', '-o', directory)
    with subprocess.Popen([PROBE, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + TIMEOUT_S
        while not list(directory.glob('*.json')) and time.monotonic() < until:
            time.sleep(0.02)
        second = probe(*arguments)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=TIMEOUT_S)
    expect_exit(second, BAD_INPUT, 'another run', str(process.pid))
    expect(process.returncode == -signal.SIGINT, f'ended with {process.returncode}: {errors}')
    expect('stopped; the finished results are in' in errors and 'token/s' in output, errors)
    record = load(record_in(directory))
    expect(record['digest'] == digest_of(record), 'digest after Ctrl-C')
    expect(1 <= len(record['results']) <= 2, 'results after Ctrl-C')
    expect_exit(probe(*arguments), 0)
    resumed = load(record_in(directory))
    expect([r['batch'] for r in resumed['results']] == [1, 2, 3], 'resumed')
    expect(resumed['results'][0] == record['results'][0], 'a finished result was repeated')


def test_slices(directory):
    expect_exit(probe(*RUN, '--layers', '4,16,28', '--time', '1', '-o', directory), 0,
                'extrapolated')
    result = load(record_in(directory))['results'][0]
    expect([s['layers'] for s in result['slices']] == [4, 16, 28], 'depths')
    expect(result['grade'] == 'projected' and result['slice_error_s'] is not None, 'error')
    expect(result['whole_model'] is True and result['samples'] == [], 'extrapolated')


def test_full_disk(directory):
    model, environment = at_once(directory)
    result = probe('run', *model, '--time', '0.1', '-o', directory / 'records', file_limit=1000,
                   environment=environment)
    expect_exit(result, MACHINE_FAILED, 'cannot write', 'File too large', 'token/s', 'could not be written to')
    expect('record: ' not in result.stderr, 'a record that is not there')
    expect(not list((directory / 'records').glob('*')), 'something was left')


IPMITOOL = """#!/bin/sh
[ "$*" = "dcmi power reading" ] || exit 9
echo '    Instantaneous power reading:                   321 Watts'
"""


# A management controller that answers is enough for keeping up the load and asking it.
def test_wall(directory):
    tool = directory / 'tools' / 'ipmitool'
    tool.parent.mkdir()
    tool.write_text(IPMITOOL)
    tool.chmod(0o755)
    environment = {'PATH': f'{tool.parent}:{os.environ["PATH"]}'}
    expect_exit(probe(*soon(directory), '--soak=6', '-o', directory, environment=environment), 0)
    result = load(record_in(directory))['results'][0]
    beside = result['beside']
    expect(beside['wall_power_w'] == 321 and beside['wall_meter'].startswith('ipmitool'), beside)
    expect(0.4 < beside['soak_s'] < 6, beside)
    expect(result['load_power_w'] is None or result['energy_meter'].startswith('rapl'),
           'the wall in place of a device')


def steady_record(directory, quick):
    """A record that can be repeated, and the output of repeating it: a busy machine's speed may double."""
    run_it = soon(directory)
    for attempt in range(4):
        folder = pathlib.Path(directory, str(attempt))
        expect_exit(probe(*run_it, '--wall-power', '1.2 kW', '--wall-note', 'PDU A3', '-o', folder), 0)
        path = record_in(folder)
        again = probe('check', path, '--tolerance', '99 %', *quick)
        if again.returncode == 0:
            break
    return path, again


def test_check(directory):
    quick = ('--time', '0.3')
    path, again = steady_record(directory, quick)
    record = load(path)
    result = record['results'][0]
    expect(result['beside']['wall_power_w'] == 1200, result['beside'])
    expect(result['beside']['wall_meter'] == 'typed: PDU A3', result['beside'])
    expect(result['telemetry']['source'].startswith(('none: ', 'sysfs: ')), result['telemetry'])
    watts = 'watts were not compared' if result['load_power_w'] is None else 'watts'
    expect(again.returncode in (0, NO) and watts in again.stdout + again.stderr, again)
    for name in ('tokens_per_s', 'ci95_low', 'ci95_high'):
        result[name] *= 1000
    for name in ('step_seconds', 'p5_s', 'p95_s'):
        result[name] /= 1000
    save(path, record)
    expect_exit(probe('check', path, *quick), NO, 'OUT OF TOLERANCE')
    refuse_records(path, load(path))


def refuse_records(path, record):
    text = path.read_text()
    path.write_text(text.replace('"batch":1', '"batch":2', 1))
    expect_exit(probe('check', path), BAD_INPUT, 'digest does not match')
    path.write_text(text[:len(text) // 2])
    expect_exit(probe('check', path), BAD_INPUT, 'expected a complete measurement record')
    path.write_text(text.replace(f'"schema":{SCHEMA}', '"schema":99', 1))
    expect_exit(probe('check', path), BAD_INPUT, f'schema 99, this version reads 1 to {SCHEMA}')
    save(path, {**record, 'device': {**record['device'], 'name': 'NVIDIA H200'}})
    expect_exit(probe('check', path), BAD_INPUT, "another device, 'NVIDIA H200'")
    save(path, {**record, 'results': []})
    expect_exit(probe('check', path), BAD_INPUT, 'no result to check')


# What a run finds in place of its file: kept unchanged, and the message says what to do.
DAMAGES = [
    (lambda text: text[:-100], 'expected a complete measurement record'),
    (lambda text: '', 'expected a complete measurement record'),
    (lambda text: text.replace('"batch": 1', '"batch": 2', 1), 'its digest does not match'),
    (lambda text: text.replace(f'"schema": {SCHEMA}', '"schema": 99', 1), 'schema 99, this version reads'),
]


def test_prompts_checked(directory):
    """A record's prompts are measured again, too: a busy machine, where a thread of a short one is waited for
    through a time slice or more, may be a hundred times as slow for a while, but not a million times."""
    prompts = ('--prefill', '24,48', '--chunk', '16', '-o', directory / 'records')
    expect_exit(probe(*soon(directory), *prompts), DONE)
    path = record_in(directory / 'records')
    record = load(path)
    faster = record['results'][0]['prefills'][1]
    faster.update(tokens_per_s=1e6 * faster['tokens_per_s'], seconds=faster['seconds'] / 1e6, ci95_low_s=None,
                  ci95_high_s=None)
    save(path, record)
    result = probe('check', path, '--time', '0.1', '--tolerance', '99 %')
    expect_exit(result, NO, 'prompt of            24')
    lines = [line for line in result.stdout.splitlines() if 'prompt of' in line]
    expect(len(lines) == 2 and lines[1].endswith('OUT OF TOLERANCE'), result.stdout)


def test_damaged_record_is_kept(directory):
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    expect_exit(probe(*arguments, environment=environment), 0)
    path = record_in(directory / 'records')
    whole = path.read_text()
    for damage, words in DAMAGES:
        path.write_text(damage(whole))
        expect_exit(probe(*arguments, environment=environment), BAD_INPUT, words, f"resume '{path}': move it away")
        expect(path.read_text() == damage(whole), 'a damaged record was overwritten')
        expect_exit(probe('check', path), BAD_INPUT, words)


# Progress lines are cleared: no row is printed after one, and no row is cleared.
def test_terminal(directory):
    model, environment = at_once(directory)
    run_it = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    for arguments, rows in ((run_it, 1), (('run', '--verify-only', *model), 2), (None, 1)):
        if not arguments:
            arguments = ('check', record_in(directory / 'records'), '--time', '0.1', '--tolerance', '99 %')
        said = on_terminal(*arguments, program=PROBE, environment=environment, statuses=(DONE, NO),
                           stderr=subprocess.STDOUT)
        expect(': verifying' in said, said)
        shown = [line.rpartition('\r\x1b[K')[2].strip('\r') for line in said.split('\n')]
        found = [line for line in shown if line.startswith('bf16 ')]
        expect(len(found) == rows, said)
        expect(sum(line.startswith('tiny on ') for line in shown) == 1, said)


QUICK = [test_help, test_mixture_in_ranks, test_unlike_gpus, test_kinds_of_gpus, test_list, test_list_one_device, test_verify_only, test_bad_input,
         test_rows_that_cannot_be, test_window_beyond_the_context, test_excluded_by_another_name,
         test_prompts_verified_only, test_prompts_on_a_gpu, test_too_large_suggests_layers, test_bad_directories,
         test_wrong_variants, test_wrong_variants_verified, test_equal_devices]
MEASURING = [test_blank_cells_have_stand_ins, test_another_version_of_the_library, test_run_and_resume, test_extended,
             test_known_is_said, test_conditions_are_apart,
             test_full_disk, test_prompts_checked, test_damaged_record_is_kept, test_terminal]
LONG = [test_endless_variant, test_interrupt, test_slices, test_wall, test_check]


def free_bytes():
    for line in pathlib.Path('/proc/meminfo').read_text().splitlines():
        if line.startswith('MemAvailable:'):
            return 1024 * int(line.split()[1])
    return 0


def in_folder(test):
    with tempfile.TemporaryDirectory() as directory:
        test(pathlib.Path(directory))


def main():
    if not PROBE.exists():
        skip_all(f'{PROBE} is not built')
    names = sys.argv[1:]
    count = Count()
    for test in QUICK + MEASURING + (LONG if DEEP or names else []):
        if names and test.__name__ not in names:
            continue
        if test not in QUICK and free_bytes() < NEEDED_BYTES:
            count.skip(test.__name__, 'under 3 GiB of memory are free')
        else:
            count.test(test.__name__, in_folder, test)
    count.finish()


if __name__ == '__main__':
    main()
