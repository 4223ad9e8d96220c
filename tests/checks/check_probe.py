#!/usr/bin/python3
"""Runs the probe the way its users do, on this machine's CPU with a small model, and on test GPUs.

    check_probe.py [NAME...]

PROBE names the program. Speeds are not judged, only what is reported about them. What it refuses, what a model's row
says, what it does with its records and with its kernels' variants have scripts of their own: check_probe_x.py.
Deep: a model in four ranks, prompts by the GPU's own kernels, slices of a larger model, a wall meter.
Seconds: 15, deep 140
"""
import csv
import io
import json
import os
import pathlib
import subprocess

from support.probing import (EMULATOR, METERED, MIXTURE, RUN, at_once, emulated, need_memory, probe, record_in,
                             run_probe_tests, soon, with_plugins, write_data)
from support.program import (BAD_INPUT, DEEP, DONE, MACHINE_FAILED, NO, PROBE, Skip, expect, expect_exit, near, on_terminal,
                             run)
from support.records import load

PLUGINS = PROBE.parent / 'tests' / 'plugins'  # of tests/probe/test_device.c


def test_help(_):
    expect_exit(probe('--help'), 0, 'Usage: pertoken probe', 'Example')
    expect_exit(probe('--version'), 0, 'pertoken-probe ')
    expect_exit(probe(), BAD_INPUT, 'Usage: pertoken probe')
    for command in ('list', 'run', 'check'):
        expect_exit(probe(command, '--help'), 0, 'Example:', f'pertoken probe {command}')


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
    rows = list(csv.DictReader(io.StringIO(probe('list', '--format', 'csv').stdout)))
    lines = {(row['kind'], row['name'], row['item']): row['value'] for row in rows}
    expect(len(lines) == len(rows), 'a line twice in CSV')
    for key, value in device.items():
        if key not in ('memory_free_bytes', 'operations_per_s'):
            expect(lines['device', 'cpu:0', key] == ('' if value is None else str(value)), f'{key} in CSV')
    expect(lines['device', 'cpu:0', 'operations_per_s.bf16'] == '', 'a rate in CSV')
    for meter in listed['meters']:
        expect(lines['meter', meter['name'], 'status'] == meter['status'], f'{meter["name"]} in CSV')
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
        library = int(run('LEVEL3_CACHE_SIZE', program='getconf').stdout)
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


def test_mixture_in_ranks(directory):
    """Each of several devices has a share of every expert, in whole blocks, the first one having one more; and of
    the heads of latent attention: on emulated GPUs together, and alone on the CPU."""
    write_data(directory / 'data')
    model = ('--data', directory / 'data', '--model', 'mixture', '--context', '64', '--precision')
    verify = ('run', '--verify-only', *model)
    expect_exit(probe(*verify, 'bf16,mxfp4', '--batch', '1,3', '--shard', '1/2'), 0, '8 comparisons within tolerance')
    latent = ('run', '--verify-only', '--data', directory / 'data', '--model', 'latent', '--context', '64', '--precision')
    expect_exit(probe(*latent, 'bf16', '--shard', '1/4'), 0, 'within tolerance')
    environment = emulated(directory, EMULATOR_DEVICES='4')
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
    write_data(directory / 'data')
    environment = emulated(directory, EMULATOR_DEVICES='2', EMULATOR_SHARED_0='16384')
    verify = ('run', '--verify-only', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device')
    for device, status, words in (('emulator:1', DONE, 'within tolerance'), ('emulator:0', BAD_INPUT, 'shared memory')):
        expect_exit(probe(*verify, device, environment=environment), status, words)
    both = probe(*verify, 'auto:all', environment={**environment, 'EMULATOR_UNITS_1': '3'})
    expect_exit(both, BAD_INPUT, 'error: host emulator, warp 32: emulator cannot run tiny bf16', 'shared memory',
                '4 comparisons within tolerance')


def test_kinds_of_gpus(directory):
    """Each kind by itself, in one command: at once only GPUs that are equal, whose sum and watts mean something."""
    if not (METERED / 'metered.so').exists():
        raise Skip('the test GPU is not built')
    write_data(directory / 'data')
    environment = emulated(directory, METERED_DEVICES='3', METERED_OTHER='1', EMULATOR_DEVICES='1')
    (directory / 'plugins' / 'metered.so').symlink_to(METERED / 'metered.so')
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


def test_prompts_on_a_gpu(directory):
    """A GPU's record has the rates of its prompts, and the times of steps beside them, if it mixes both; in the deep
    run, those of its own kernels, on one device and on two together, each of which does half of the work."""
    model, environment = at_once(directory)
    prompts = ('--prefill', '24,48', '--chunk', '16', '--time', '0.1')
    alone = {**environment, 'METERED_ALONE': '1'} if environment else None
    devices = [(model, environment), (model, alone)] if environment else []
    operations = {}
    if EMULATOR.exists() and DEEP:
        two = emulated(directory, EMULATOR_DEVICES='2')
        devices += [((*model[:6], '--device', 'emulator:0'), two),
                    ((*model[:6], '--device', 'emulator:0,1', '--tensor-parallel', '2'), two)]
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
            rate = prompt['positions'] * len(prompt['samples']) / sum(prompt['samples'])
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


def test_another_version_of_the_library(directory):
    """One that cannot be used hides no other; the record says why prompts are multiplied without any. oneDNN itself
    cannot be used where the processor has no instructions for BF16."""
    need_memory()
    fake = PROBE.parent / 'tests' / 'fake' / 'libdnnl.so'
    if not fake.exists():
        raise Skip('the fake library is not built')
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


def test_slices(directory):
    need_memory()
    expect_exit(probe(*RUN, '--layers', '4,16,28', '--time', '1', '-o', directory), 0,
                'extrapolated')
    result = load(record_in(directory))['results'][0]
    expect([s['layers'] for s in result['slices']] == [4, 16, 28], 'depths')
    expect(result['grade'] == 'projected' and result['slice_error_s'] is not None, 'error')
    expect(result['whole_model'] is True and result['samples'] == [], 'extrapolated')


IPMITOOL = """#!/bin/sh
[ "$*" = "dcmi power reading" ] || exit 9
echo '    Instantaneous power reading:                   321 Watts'
"""


# A management controller that answers is enough for keeping up the load and asking it.
def test_wall(directory):
    need_memory()
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


# Not even what the tool above would show: nothing runs but the samples.
def test_no_power(directory):
    need_memory()
    tool = directory / 'tools' / 'ipmitool'
    tool.parent.mkdir()
    tool.write_text(IPMITOOL)
    tool.chmod(0o755)
    environment = {'PATH': f'{tool.parent}:{os.environ["PATH"]}'}
    done = probe(*soon(directory), '--no-power', '-o', directory, environment=environment)
    expect_exit(done, 0)
    result = load(record_in(directory))['results'][0]
    expect(result['energy_meter'] == 'none: --no-power' and result['energy_window_s'] is None, result['energy_meter'])
    expect(result['load_power_w'] is None and result['beside']['wall_power_w'] is None, result['beside'])
    expect('power not measured: --no-power' in done.stdout, done.stdout)


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


if __name__ == '__main__':
    run_probe_tests(globals(), deep_only=(test_slices, test_wall, test_no_power))
