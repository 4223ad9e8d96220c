#!/usr/bin/python3
"""Rehearses tests/gpu/check without a GPU: order, budget, going on after a kill, several GPUs, building
for the GPUs that are there, table, bundle.

A stand-in for the probe answers at once and writes records of a known content; its GPU is one by name
only. The peer is rehearsed where PyTorch is installed.
Deep: kills and failures at every step, each architecture, and the true probe on this machine's
processor.
Seconds: 10
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import Count, DEEP, DONE, PROBE, ROOT, SKIPPED, Skip, expect, run  # noqa: E402

sys.path.insert(0, str(ROOT / 'tests' / 'gpu'))
import building  # noqa: E402
import running  # noqa: E402

CHECK = ROOT / 'tests' / 'gpu' / 'check'
PEER = ROOT / 'tests' / 'gpu' / 'peer_pytorch.py'
FAILED, UNFINISHED = 1, 3
TIMEOUT_S = 60

# What the stand-in does: as a file in a folder, so that a test can change it between two calls.
STAND_IN = r'''#!/usr/bin/python3
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).resolve().parent
plan = json.loads((here / 'plan.json').read_text())
words = sys.argv[1:]
def note(line):
    with open(here / 'calls', 'a') as file:
        file.write(line + '\n')
note(' '.join(words))

def value(option, default=''):
    return words[words.index(option) + 1] if option in words else default

def named():
    """The indices that --device names: 0 and 1 of cuda:0,1."""
    return [int(index) for index in value('--device', 'cuda:0').partition(':')[2].split(',')]

def device_of(index):
    return {'backend': 'cuda', 'build': 'kernels', 'index': index, 'name': plan['device'],
            'uuid': f'GPU-{index}', 'pci': '', 'read_bandwidth': None, 'operations_per_s': {}}

def listed():
    devices = [device_of(index) for index in range(plan['gpus'])]
    shown = {'schema': 1, 'absent': [{'name': 'hip', 'why': 'no library'}], 'meters': []}
    if '--calibrate' in words:
        devices = [devices[index] for index in named()]
        for device in devices:
            device['read_bandwidth'] = plan['bandwidth'][0] * (1 + 0.01 * device['index'])
        plan['bandwidth'].pop(0)
        (here / 'plan.json').write_text(json.dumps(plan))
        if len(devices) > 1:
            sizes = [] if plan['no_exchange'] else [{'bytes': 32768, 'seconds': 8e-6}]
            shown['all_reduce'] = {'sizes': sizes, 'library': 'NCCL 2', 'why': plan['no_exchange']}
    processor = {**device_of(0), 'backend': 'cpu', 'name': 'A processor'}
    print(json.dumps({**shown, 'devices': [processor, *devices]}))

def telemetry_of(index):
    """The third GPU is hot and slow."""
    hot = index == 2
    return {'core_clock_hz': {'median': 1.41e9 if hot else 1.98e9}, 'core_temperature_c': {'max': 88 if hot else 61},
            'throttles': [{'reason': 'thermal slowdown', 'seconds': 4.5}] if hot else []}

def group_of(result, index):
    """What several devices, or one for its share, did."""
    ranks, of, count = int(value('--tensor-parallel', '0')), int(value('--shard', '1/0')[2:]), len(named())
    each = 0 if ranks else count if count > 1 else 0
    return {**result, 'whole_model': not of, 'tokens_per_s': 100.0 * max(ranks, 1),
            'tensor_parallel': {'devices': ranks, 'all_reduce_s': 9e-6 if ranks else None,
                                'members': [{'telemetry': telemetry_of(i)} for i in range(ranks)]},
            'shard': {'of': of}, 'together': {'devices': each, 'total_tokens_per_s': 97.0 * count,
            'slowest': 96.0, 'fastest': 98.0, 'load_power_w': 390.0 * count, 'telemetry': telemetry_of(index)}}

def result_of(batch, context, index):
    name = f"{value('--model')} {value('--precision')} {batch} {context}"
    depths = [int(depth) for depth in value('--layers', '80').split(',')]
    share, layers = plan['shares'].get(name, 0.5), max(depths)
    seconds = 1e-5 * context * layers
    return group_of({'model': {'id': value('--model')}, 'precision': value('--precision'), 'batch': batch,
            'context': context, 'types': {'weights': 'e4m3', 'head': 'bf16',
            'activations': {'weights': 'e4m3'}.get(value('--activations'), 'bf16'),
            'kv': {'bf16': 'bf16', 'fp8': 'e4m3'}[value('--kv', 'bf16')]},
            'slices': depths[1:], 'layers_measured': layers, 'layer_seconds': 4.2e-6, 'step_seconds': seconds,
            'bytes_per_step': share * 4.5e12 * seconds, 'read_bandwidth': 4.5e12,
            'read_bandwidth_share': share, 'tokens_per_s': 100.0, 'load_power_w': plan['load_w'],
            'sampled_power_w': 404.0, 'idle_power_w': 80.0, 'joules_per_token': 4.0,
            'energy_meter': 'none: a stand-in', 'finished': time.strftime('%Y-%m-%dT%H:%M:%SZ'),
            'verification': {'max_error': 1e-3, 'tolerance': 1e-2}}, index)

def run():
    time.sleep(plan['seconds'])
    if value('--layers', '80') in plan['too_deep'] and value('--batch') in ('2', '64') \
            and '--shard' not in words and ('70b' in value('--model') or '--tensor-parallel' in words):
        sys.exit('error: it needs 120.00 GB (1 bytes), but only 79.00 GB (1 bytes) are free; --layers 8,16,24 '
                 'measures slices of it and extrapolates')
    folder = pathlib.Path(value('-o'))
    together = '--tensor-parallel' not in words and len(named()) > 1
    for index in named() if together else named()[:1]:
        path = folder / f"{value('--model')}{f'-{index}' if together else ''}.json"
        results = json.loads(path.read_text())['results'] if path.exists() else []
        for batch in map(int, value('--batch').split(',')):
            for context in map(int, value('--context').split(',')):
                results.append(result_of(batch, context, index))
        path.write_text(json.dumps({'results': results}))
    note('wrote')

if words[0] == '--version':
    print('stand-in')
elif '--help' in words:
    print('--device')
elif words[0] == 'list':
    listed()
elif words[0] == 'run':
    run()
elif words[0] == 'check':
    sys.exit(plan['check_status'])
'''

# The ladder, in which one variant is wrong where WRONG_TUNING says so.
LADDER_STAND_IN = r'''#!/usr/bin/python3
import os, sys
print('8B fp8, batch 1, context 512, 32 of 32 layers')
print('  vector_blocks=2   60.50 1.936 best')
print('best: 8B fp8, batch 1, context 512: vector_blocks=2, 60.50 us/layer, 0.934 R; default 62.10')
wrong = os.environ.get('WRONG_TUNING')
if wrong:
    print(f'  {wrong}   WRONG: its results differ')
print('time is up: 3 of 13 workloads were not begun' if '--time' in sys.argv else 'for ever')
sys.exit(1 if wrong else 0)
'''

# Faster than the probe's stand-in with fp8 activations, slower in bf16, and without torch.compile.
PEER_STAND_IN = r'''#!/usr/bin/python3
import json, sys
variant = sys.argv[sys.argv.index('--precision') + 1]
if '--compile' in sys.argv:
    print(json.dumps({'skipped': 'no torch.compile'}))
    sys.exit(77)
speed, activations = {'bf16': (80.0, 'bf16'), 'fp8-w8a8': (125.0, 'e4m3')}[variant]
print(json.dumps({'precision': variant, 'tokens_per_s': speed,
                  'types': {'weights': 'e4m3', 'activations': activations}}))
'''

PLAN = {'device': 'NVIDIA H200', 'gpus': 1, 'no_exchange': '',
        'bandwidth': [4.5e12, 4.47e12, 4.47e12, 4.47e12], 'seconds': 0.02, 'load_w': 400.0, 'check_status': 0, 'too_deep': [], 'shares': {
            'llama-3.1-8b bf16 1 512': 0.95, 'llama-3.1-8b fp8 1 512': 0.84,
            'llama-2-70b fp8 1 512': 0.90}}


class Rehearsal:
    """A stand-in for the probe in a folder, and checks run with it."""

    def __init__(self, folder, **changes):
        self.folder, self.out = folder, folder / 'out'
        self.probe = folder / 'probe'
        self.probe.write_text(STAND_IN)
        self.probe.chmod(0o755)
        self.plan(**changes)

    def ladder(self):
        path = self.folder / 'ladder'
        path.write_text(LADDER_STAND_IN)
        path.chmod(0o755)
        return ('--ladder', path)

    def peer(self):
        """A Python with PyTorch, by its answers alone."""
        path = self.folder / 'peer'
        path.write_text(PEER_STAND_IN)
        path.chmod(0o755)
        return ('--peer-python', path)

    def plan(self, **changes):
        (self.folder / 'plan.json').write_text(json.dumps({**PLAN, **changes}))

    def command(self, budget, *arguments):
        return [CHECK, '--budget', str(budget), '--out', self.out, '--probe', self.probe,
                '--ladder', self.folder / 'none', '--peer-python', self.folder / 'none', *arguments]

    def check(self, status, budget=600, *arguments, **environment):
        done = run(*self.command(budget, *arguments)[1:], program=CHECK, environment=environment,
                   timeout=TIMEOUT_S)
        expect(done.returncode == status,
               f'exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}')
        return done.stdout + done.stderr

    def calls(self, start=''):
        lines = (self.folder / 'calls').read_text().splitlines()
        return [line for line in lines if line.startswith(start)]

    def state(self):
        return json.loads((self.out / 'state.json').read_text())['steps']

    def table(self):
        return (self.out / 'table.txt').read_text()

    def not_done(self):
        """The table's last section, in one line."""
        return ' '.join(self.table().partition('\nNot done\n')[2].split())


def row(text, start):
    return next((line for line in text.splitlines() if line.strip().startswith(start)), '')


def expect_row(text, start, *words):
    found = row(text, start)
    expect(all(word in found for word in words), f'{words} in the row {start!r}:\n{found}\n{text}')


def test_whole(folder):
    """One call with time enough: the order, the table and the bundle; a second runs nothing twice."""
    rehearsal = Rehearsal(folder)
    said = rehearsal.check(DONE)
    names = list(rehearsal.state())
    firsts = [next(i for i, name in enumerate(names) if name.startswith(kind)) for kind in (
        'environment', 'bandwidth-before', 'record 8b-fp8-batch1-', 'verify', 'sanitizer',
        'record 8b-bf16', 'all-reduce', 'tensor-parallel', 'together', 'ladder', 'peer', 'share',
        'attention', 'grid', 'recheck')]
    expect(firsts == sorted(firsts), f'order: {names}')
    expect('record 8b-fp8-batch1-context512: done: 100.0 token/s, 4.20 us/layer, 0.840 R, 400 W [' in said,
           said)
    table = rehearsal.table()
    expect_row(table, 'GPU check of', '8 are not for this machine')
    expect_row(table, 'The first record: ', ' s after the check was called')
    expect('tensor-parallel (70b-fp8-batch64-context4096-kvfp8 2, ' in rehearsal.not_done()
           and ' 8): skipped: one GPU here' in rehearsal.not_done(), table)
    expect_row(table, 'llama-2-70b fp8, batch 64, a share of 1/8', ' - ', ' 4.20 ', ' 400 ', '0.500 R')
    expect_row(table, 'Read bandwidth R', '4.500 TB/s before', '4.470 after', '-0.67 %')
    expect_row(table, 'An H200 must read 4.45 TB/s', ': met')
    expect_row(table, '8B bf16, batch 1', '0.90', '0.94', '0.950', '4.20', 'stretch met')
    expect_row(table, '8B fp8, batch 1', '0.840', 'met')
    expect_row(table, 'Llama-2-70B fp8, batch 1 ', '0.900', 'BELOW')
    expect_row(table, 'attention, bf16 KV', '0.500', '35840.00', 'BELOW')
    expect_row(table, 'llama-2-70b fp8, batch 64, context 4096', ' 80 ', ' 400 ', '+1.0 %', ' 4')
    expect_row(table, '8b-bf16-batch1-context512', 'unmeasured')
    expect('The peer is missing' in table and 'ladder: missing: none is not built' in table, table)
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        inside = bundle.getnames()
    for name in ('table.txt', 'environment.json', 'records/llama-2-70b.json', 'logs/records.log',
                 'logs/check.log'):
        expect(f'gpu-check/{name}' in inside, f'{name} in {inside}')
    before = rehearsal.calls('run')
    rehearsal.check(DONE)
    expect(rehearsal.calls('run') == before, 'a finished step ran again')


def test_kill(folder):
    """Killed outright in the middle of a step, it goes on with that step, and leaves no program."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        where = folder / number.name
        where.mkdir()
        rehearsal = Rehearsal(where, seconds=0.3)
        with subprocess.Popen(rehearsal.command(600), stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + TIMEOUT_S
            while (not (where / 'calls').exists() or len(rehearsal.calls('run')) < 3) \
                    and time.monotonic() < until:
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=TIMEOUT_S)
        time.sleep(0.5)  # a program left behind would go on
        begun = rehearsal.calls('run')
        finished = [n for n, step in rehearsal.state().items() if step['status'] == 'done']
        expect(len(begun) == 3, f'the check ran on: {begun}')
        expect(len(rehearsal.calls('wrote')) == 2, 'the program that the check had started ran on')
        expect(finished[-2].startswith('record') and finished[-1].startswith('verify'), finished)
        rehearsal.plan(seconds=0)
        rehearsal.check(UNFINISHED, 60)
        expect(rehearsal.calls('run')[3] == begun[2], 'the step that was killed did not run again')


def test_budget(folder):
    """It ends by itself in time, with a table, and says what to do."""
    rehearsal = Rehearsal(folder, seconds=0.4)
    began = time.monotonic()
    said = rehearsal.check(UNFINISHED, 39)
    expect(time.monotonic() - began < 39, f'it took {time.monotonic() - began:.0f} s')
    expect('call again to go on' in said and 'not run' in rehearsal.table(), said)
    expect_row(rehearsal.table(), 'Read bandwidth R', 'after')


def test_failures(folder):
    """What fails is said, does not end the check, and is tried again."""
    rehearsal = Rehearsal(folder, bandwidth=[4.5e12, 4.3e12, 4.3e12], check_status=1, load_w=None)
    rehearsal.check(FAILED, 600, *rehearsal.peer(), *rehearsal.ladder(), WRONG_TUNING='step=launches')
    table = rehearsal.table()
    expect('ladder: failed: step=launches   WRONG: its results differ' in table, table)
    expect_row(table, '8b-bf16-batch1-context512 / bf16 ', '1.250', '2 pairs', 'met')
    expect_row(table, '8b-bf16-batch1-context512 / bf16 --compile', 'unmeasured: no torch.compile')
    expect_row(table, '8b-fp8-batch64-context512 / fp8-w8a8', '0.800', 'BELOW')
    expect('unlike' not in table, table)
    expect('The peer is missing' not in table, table)
    expect_row(table, 'recheck: failed', 'out of tolerance: llama-2-70b.json')
    expect_row(table, 'Read bandwidth R', '-4.44 %, MORE THAN 1 %')
    expect_row(table, 'unmeasured: none: a stand-in')
    rehearsal.plan(check_status=0)
    said = rehearsal.check(DONE, 600, *rehearsal.peer(), *rehearsal.ladder())
    expect('recheck' not in rehearsal.table(), rehearsal.table())
    expect('ladder: done: time is up: 3 of 13 workloads were not begun' in said, said)
    expect_row(rehearsal.table(), '8B fp8, batch 1, context 512: vector_blocks=2', '0.934 R')
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        log = bundle.extractfile('gpu-check/logs/ladder.log').read().decode()
    expect('vector_blocks=2   60.50' in log, log)


def test_other_devices(folder):
    """Shares of their own read bandwidth, not judged; what memory is too small for, in slices."""
    h100 = 'NVIDIA H100 80GB HBM3'
    rehearsal = Rehearsal(folder, device=h100, too_deep=['80', '40'], bandwidth=[3.18e12, 3.18e12])
    rehearsal.check(DONE)
    table = rehearsal.table()
    expect('targets are of one NVIDIA H200; this is another' in table, table)
    expect_row(table, '1.000 of the 3.18 TB/s that are published for it')
    expect(row(table, '8B fp8, batch 1').split()[4:] == ['0.840', '4.20'], table)
    expect_row(table, 'Llama-2-70B fp8, batch 64, context 4096', 'from slices of up to 24 layers')
    expect(any('--layers 24' in call for call in rehearsal.calls('run')), rehearsal.calls('run'))
    expect(not any(word in table for word in ('must', 'BELOW', 'stretch met')), table)
    rehearsal.plan(device='NVIDIA H200')
    said = rehearsal.check(FAILED)
    expect(f'holds results of another device or other programs ({h100})' in said, said)
    said = rehearsal.check(SKIPPED, 600, '--device', 'hip')
    expect('skipped: no hip among the devices: cpu:0 A processor, cuda:0 NVIDIA H200; '
           'hip: no library' in said, said)


def test_several(folder):
    """Four equal GPUs: one model on two and on four of them, and one on each at once."""
    rehearsal = Rehearsal(folder, gpus=4)
    rehearsal.check(DONE)
    table = rehearsal.table()
    expect_row(table, '4 GPUs read 4.470 to 4.604 TB/s each')
    expect_row(table, 'An all-reduce among them: 32 KiB 8.0 us (NCCL 2)')
    expect_row(table, 'llama-2-70b fp8, batch 64, on 2 together', ' 200.0 ', ' 4.20 ', ' 400 ', ' 2 ',
               'all-reduce 9.0 us')
    expect_row(table, 'llama-2-70b fp8, batch 1, on 4 together', ' 400.0 ')
    expect_row(table, 'llama-3.1-8b fp8, batch 64, each of 4 at once', ' 388.0 ', ' 1560 ',
               '97.0 % of one by one, 2.0 % apart')
    expect('each of 4 at once: 1410 MHz slowest (the GPU at 2), 1980 MHz fastest (the GPU at 3), hottest 88 C '
           '(at 2), thermal slowdown 4.5 s (at 2)' in ' '.join(table.split()), table)
    expect_row(table, 'on 2 together, batch 64: 1980 MHz slowest (the GPU at 0)')
    expect(' 8): skipped: 4 equal GPUs here' in rehearsal.not_done(), table)
    expect('share of' not in table and '2 are not for this machine' in table, table)
    runs = rehearsal.calls('run')
    for words in ('--device cuda:0,1 ', '--device cuda:0,1,2,3 '):
        expect(any(words in call and '--tensor-parallel' in call for call in runs), runs)
    expect(len(rehearsal.calls('check')) == 5, 'records of several GPUs are checked again too')


def test_without_exchange(folder):
    """Without NCCL there is no model on several, nor where memory is too small or one GPU is named."""
    for name, changes, arguments, words in (
            ('nccl', {'no_exchange': 'no libnccl.so.2'}, (),
             'all-reduce: missing: no libnccl.so.2 tensor-parallel (70b-fp8-batch2-context96-kvfp8 2): '
             'missing: no libnccl.so.2'),
            ('small', {'too_deep': ['80']}, (),
             'tensor-parallel (70b-fp8-batch2-context96-kvfp8 2): skipped: error: it needs 120.00 GB'),
            ('named', {}, ('--device', 'cuda:1'),
             'all-reduce: skipped: --device cuda:1 names one GPU')):
        rehearsal = Rehearsal(folder, gpus=2, **changes)
        rehearsal.out = folder / name
        rehearsal.check(DONE, 600, '--tiny', *arguments)
        expect(words in rehearsal.not_done(), rehearsal.table())
        is_together = 'each of 2 at once' in rehearsal.table()
        expect(is_together == (name != 'named'), rehearsal.table())


def stand_in(path, text):
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)


def built_for(folder, *settings):
    """(plugins, CUDA's, its persistent kernels', HIP's and its) of make GPU=here there."""
    done = run('-C', ROOT, '-pnq', 'GPU=here', 'NVCC=nvcc', 'HAS_CUDA=yes', 'GPU_CLANG=no-clang', *settings,
               'no-target', program='make', environment={'PATH': f'{folder}:{os.environ["PATH"]}'})
    found = dict(line.split(' := ', 1) for line in done.stdout.splitlines() if ' := ' in line)
    return [found[name].split() for name in ('PLUGINS', 'CUDA_ARCHITECTURES', 'PERSISTENT_ARCHITECTURES',
                                             'HIP_ARCHITECTURES', 'HIP_PERSISTENT')]


def test_architectures(folder):
    """Only what the GPUs here need is built; what is not known gets all."""
    every = [['80', '90a', '100', '120'], ['80', '90a', '100'], ['gfx90a', 'gfx942', 'gfx1100', 'gfx1201']]
    for capabilities, cuda, persistent in (
            ('9.0', ['90a'], ['90a']), ('8.6', ['80'], ['80']), ('12.0', ['120'], ['100']),
            ('8.0\n9.0', ['80', '90a'], ['80', '90a']), ('7.5', every[0], every[1])):
        stand_in(folder / 'nvidia-smi', f"printf '{capabilities}\\n'")
        plugins, *found = built_for(folder, f'KFD={folder}')
        expect(len(plugins) == 1 and plugins[0].endswith('cuda.so'), plugins)
        expect(found[:3] == [cuda, persistent, every[2]], f'{capabilities}: {found}')
    stand_in(folder / 'nvidia-smi', 'echo no devices were found; exit 6')
    for versions, hip in (((0, 90402), ['gfx942']), ((90010, 110000), ['gfx90a', 'gfx1100']),
                          ((100306, 0), every[2])):
        for number, version in enumerate(versions):
            (folder / str(number)).mkdir(exist_ok=True)
            (folder / str(number) / 'properties').write_text(f'simd_count 4\ngfx_target_version {version}\n')
        plugins, *found = built_for(folder, f'KFD={folder}')
        expect(any(plugin.endswith('hip.so') for plugin in plugins) and found[2] == hip, f'{plugins} {found}')
        expect(found[3] == [one for one in hip if one in ('gfx90a', 'gfx942')], found)


def test_building(folder):
    """Packages are asked for when a build fails; without a network what is there goes on."""
    log, said = folder / 'log', []
    make, set_up = folder / 'make', folder / 'setup'
    path, setup_script = os.environ['PATH'], building.SET_UP
    os.environ['PATH'], building.SET_UP = f'{folder}:{path}', set_up
    try:
        for make_does, set_up_does, status, words in (
                ('echo "$@" >made', 'echo setup: called', running.DONE, ''),
                (f'test -e {folder}/installed', f'touch {folder}/installed', running.DONE, 'failed after'),
                ('exit 2', 'echo setup: apt-get failed. Please install; exit 1', running.FAILED,
                 'setup: apt-get failed. Please install'),
                ('exec sleep 60', 'exit 1', running.PENDING, '')):
            stand_in(make, f'cd {folder}; {make_does}')
            stand_in(set_up, set_up_does)
            said.clear()
            budget = running.Budget(0.5 if 'sleep' in make_does else 60, 0)
            outcome = building.build(budget, log, said.append)
            expect(outcome.status == status, f'{make_does}: {outcome.status} {outcome.words}')
            expect(words in ' '.join(said) and bool(words) == bool(said), said)
    finally:
        os.environ['PATH'], building.SET_UP = path, setup_script
    expect('GPU=here gpu-programs' in (folder / 'made').read_text(), 'what is built')


def test_missing_probe(folder):
    rehearsal = Rehearsal(folder)
    rehearsal.probe.unlink()
    said = rehearsal.check(SKIPPED)
    expect('does not run' in said, said)


def peer(*arguments):
    done = run(PEER, '--device', 'cpu', '--time', '0.1', '--context', '64', *arguments,
               program=sys.executable, timeout=TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def test_peer(_):
    """Verified against float64 and timed on the processor; without PyTorch it says so."""
    shape = ('--shape', '2,128,4,2,32,384,512')
    status, output, errors = peer(*shape, '--precision', 'fp8-w8a8', '--batch', '1,4')
    if status == SKIPPED:
        expect('no PyTorch' in json.loads(output)['skipped'], output)
        raise Skip('no PyTorch here')
    expect(status == 0, errors)
    lines = [json.loads(line) for line in output.splitlines()]
    expect([line['batch'] for line in lines] == [1, 4], output)
    for line in lines:
        expect(0 < line['max_error'] <= line['tolerance'] and line['logits_finite'], output)
        expect(abs(line['tokens_per_s'] * line['step_us'] * 1e-6 / line['batch'] - 1) < 1e-9, output)


def test_true_probe(folder):
    """The first steps with the true probe, on a small shape on this processor."""
    done = run('--tiny', '--device', 'cpu', '--budget', '120', '--out', folder / 'out', '--probe', PROBE,
               program=CHECK, timeout=240)
    expect(done.returncode in (DONE, FAILED, UNFINISHED), done.stdout + done.stderr)
    table = (folder / 'out' / 'table.txt').read_text()
    expect('A rehearsal on a small shape' in table and 'Verified against the oracle: ' in table, table)
    expect(list((folder / 'out' / 'records' / 'verify').glob('tiny-cpu-*.json')), table)


QUICK = [test_whole, test_budget, test_other_devices, test_several, test_without_exchange, test_building,
         test_missing_probe, test_peer]
LONG = [test_kill, test_failures, test_architectures, test_true_probe]


def in_folder(test):
    with tempfile.TemporaryDirectory(prefix='pertoken-gpu-check-') as folder:
        test(pathlib.Path(folder))


def main():
    count = Count()
    for test in QUICK + (LONG if DEEP else []):
        count.test(test.__name__, in_folder, test)
    count.finish()


if __name__ == '__main__':
    main()
