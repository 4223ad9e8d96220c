#!/usr/bin/python3
"""Rehearses tests/gpu/check without a GPU: order, budget, continuing after a kill and on another machine, several
GPUs, building for the GPUs that are there, table, bundle.

A stand-in for the probe answers immediately and writes records with known content; its GPU exists in name only. The
peer is rehearsed if PyTorch is installed.
Deep: a bundle goes through one machine per step, each killed after it; kills and failures; each architecture; and
the real probe on this machine's processor.
Seconds: 17, deep 290
Waits: for stand-ins that take time, and until a real probe's budget is spent. Its speeds are not judged.
"""
import json
import io
import os
import pathlib
import re
import resource
import shutil
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
import bundle  # noqa: E402
import libraries  # noqa: E402
import machine  # noqa: E402
import running  # noqa: E402
import sanitizer  # noqa: E402
import stamps  # noqa: E402
from sanitizer import cases  # noqa: E402

CHECK = ROOT / 'tests' / 'gpu' / 'check'
PEER = ROOT / 'tests' / 'gpu' / 'peer_pytorch.py'
FAILED, UNFINISHED = 1, 3
TIMEOUT_S = 240

# What the stand-in does: in a file in a folder, so that a test can change it between two calls.
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
    return {'backend': 'cuda', 'build': plan['build'], 'index': index, 'name': plan['device'],
            'memory_bytes': plan['memory_bytes'], 'uuid': f"{plan['uuid']}{index}", 'pci': '', 'read_bandwidth': None, 'operations_per_s': {}}

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
    name = f"{value('--model')} {value('--precision')} {batch} {context} {value('--activations')}".strip()
    depths = [int(depth) for depth in value('--layers', '80').split(',')]
    share, layers = plan['shares'].get(name, 0.5), max(depths)
    seconds = 1e-5 * context * layers
    return group_of({'model': {'id': value('--model')}, 'precision': value('--precision'), 'batch': batch,
            'context': context, 'types': {'weights': 'e4m3', 'head': 'bf16',
            'activations': {'fp8': 'e4m3'}.get(value('--activations'), 'bf16'),
            'kv': {'bf16': 'bf16', 'fp8': 'e4m3'}[value('--kv', 'bf16')]},
            'slices': depths[1:], 'layers_measured': layers, 'layer_seconds': 4.2e-6, 'step_seconds': seconds,
            'bytes_per_step': share * 4.5e12 * seconds, 'read_bandwidth': 4.5e12,
            'read_bandwidth_share': share, 'tokens_per_s': 100.0, 'load_power_w': plan['load_w'],
            'sampled_power_w': 404.0, 'idle_power_w': 80.0, 'joules_per_token': 4.0,
            'prefills': [{'positions': int(p), 'seconds': int(p) / 16000, 'tokens_per_s': 16000.0,
                          'library': 'own tiles: a stand-in'} for p in value('--prefill').split(',') if p],
            'energy_meter': 'none: a stand-in', 'finished': time.strftime('%Y-%m-%dT%H:%M:%SZ'),
            'flags': plan['flags'],
            'step_form': {'variant': 'step=streaming' if value('--variant') == 'fastest' else '', 'fallback': ''},
            'verification': {'max_error': 1e-3, 'tolerance': 1e-2}}, index)

def run():
    if len([line for line in (here / 'calls').read_text().splitlines() if line.startswith('run')]) == plan['held']:
        note(f'held {os.getpid()}')
        time.sleep(600)
    time.sleep(plan['seconds'])
    if value('--variant') in plan['wrong']:
        sys.exit('1 of 2 comparisons out of tolerance')
    if '--verify-only' in words and value('--variant') in plan['untold']:
        print('not verified, as the variants had taken 120 s: stream_flying=4')
        sys.exit(4)
    if value('--model') in plan['unknown'] or value('--precision') in plan['unknown']:
        sys.exit('error: the GPU kernels do not support what makes it so')
    if value('--layers', '80') in plan['too_deep'] and value('--batch') in ('2', '64') \
            and '--shard' not in words and ('70b' in value('--model') or '--tensor-parallel' in words):
        sys.exit('error: it needs 120.00 GB (1 bytes), but only 79.00 GB (1 bytes) is free; --layers 8,16,24 '
                 'measures slices of it and extrapolates')
    folder = pathlib.Path(value('-o'))
    together = '--tensor-parallel' not in words and len(named()) > 1
    for index in named() if together else named()[:1]:
        path = folder / f"{value('--model')}{f'-{index}' if together else ''}.json"
        results = json.loads(path.read_text())['results'] if path.exists() else []
        for batch in map(int, value('--batch').split(',')):
            for context in map(int, value('--context').split(',')):
                results.append(result_of(batch, context, index))
        path.write_text(json.dumps({'device': {'uuid': device_of(named()[0])['uuid']}, 'results': results,
                                    'environment': {'device_state': {'other_processes': plan['others']}}}))
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

# The ladder, in which one variant is wrong if WRONG_TUNING says so.
LADDER_STAND_IN = r'''#!/usr/bin/python3
import os, sys
print('8B fp8, batch 1, context 512, 32 of 32 layers')
print('  step=streaming    60.50 1.936 best')
print('best: 8B fp8, batch 1, context 512: step=streaming, 60.50 us/layer, 0.934 R; default 62.10')
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

PLAN = {'device': 'NVIDIA H200', 'uuid': 'GPU-', 'memory_bytes': 141e9, 'build': 'kernels', 'gpus': 1, 'no_exchange': '', 'wrong': [], 'untold': [], 'others': None, 'flags': {},
        'bandwidth': [4.5e12, 4.47e12, 4.47e12, 4.47e12], 'seconds': 0.02, 'held': 0, 'load_w': 400.0, 'check_status': 0, 'too_deep': [], 'unknown': [], 'shares': {
            'llama-3.1-8b bf16 1 512': 0.95, 'llama-3.1-8b fp8 1 512': 0.84,
            'llama-2-70b fp8 1 512': 0.90, 'llama-2-70b fp8 64 4096': 0.80}}


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
        """A Python with PyTorch, by its output alone."""
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
    """One call with enough time: the order, the table and the bundle; a second call repeats nothing."""
    rehearsal = Rehearsal(folder)
    said = rehearsal.check(DONE)
    names = list(rehearsal.state())
    firsts = [next(i for i, name in enumerate(names) if name.startswith(kind)) for kind in (
        'environment', 'bandwidth-before', 'quick 8b-fp8-batch1-', 'verify ', 'verify-way', 'sanitizer',
        'record 8b-fp8-batch1-', 'record 8b-bf16', 'record 8x7b-fp8', 'record 8b-mxfp4', 'prompts', 'all-reduce', 'tensor-parallel', 'together', 'ladder', 'peer', 'share',
        'attention', 'grid', 'recheck')]
    expect(firsts == sorted(firsts), f'order: {names}')
    expect('record 8b-fp8-batch1-context512: done: 100.0 token/s, 4.20 us/layer, 0.840 R, 400 W [' in said,
           said)
    table = rehearsal.table()
    expect_row(table, 'GPU check of', '8 are not for this machine')
    expect('Libraries: no driver' in table or row(said, 'libraries: /'), f'{said}{table}')
    expect_row(table, 'The first record: ', ' s after the check was called')
    expect('tensor-parallel (70b-fp8-batch64-context4096-kvfp8 2, ' in rehearsal.not_done()
           and ' 8): skipped: one GPU here' in rehearsal.not_done(), table)
    expect_row(table, 'llama-2-70b fp8, batch 64, a share of 1/8', ' - ', ' 4.20 ', ' 400 ', '0.800 R')
    expect_row(table, 'Read bandwidth R', '4.500 TB/s before', '4.470 after', '-0.67 %')
    expect_row(table, 'An H200 must read 4.45 TB/s', ': met')
    expect_row(table, '8B bf16, batch 1', '0.90', '0.94', '0.950', '4.20', 'stretch met')
    expect_row(table, '8B fp8, batch 1', '0.840', 'met')
    expect_row(table, 'Llama-2-70B fp8, batch 1 ', '0.900', 'BELOW')
    expect_row(table, 'attention, bf16 KV', '0.843', '35840.00', 'BELOW')
    expect_row(table, 'llama-2-70b fp8, batch 64, context 4096', ' 80 ', ' 400 ', '+1.0 %', ' 4')
    expect_row(table, 'llama-2-70b fp8, fp8 activations, batch 64, context 4096', ' 80 ', ' 400 ')
    expect_row(table, 'Llama-2-70B fp8, batch 64, context 4096, fp8 KV', '0.800', 'met')
    expect_row(table, 'llama-3.1-8b bf16 ', ' 512 ', ' 16000 ', ' 32.0 ', 'own tiles')
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


# ---- continuing elsewhere

def machine_of(folder, name, resumed=None, **changes):
    """A machine with a GPU of its own, and its arguments for continuing from a bundle."""
    where = folder / name
    where.mkdir()
    return Rehearsal(where, **{'uuid': f'GPU-{name}-', **changes}), ['--resume', resumed] if resumed else []


def killed_after_a_step(rehearsal, arguments, done):
    """Kills a check after its first new step, and returns which one it was; None if it ended."""
    command = [str(word) for word in rehearsal.command(900, *arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            step = re.match(r'(.*?): done(?::.*)? \[', line)
            if step and step[1] not in done and step[1] not in ('environment', 'bandwidth-before'):
                process.kill()
                process.communicate()
                return step[1]
        expect(process.wait() == DONE, f'exit {process.returncode}')
    return None


def test_kill_and_resume(folder):
    """Killed outright after each step, it continues on another machine with the finished steps."""
    plan, most = (['--plan', 'all'], 1000) if DEEP else (['--plan', 'A'], 2)
    done, resumed, rehearsals = [], None, []
    for number in range(most):
        rehearsal, arguments = machine_of(folder, f'm{number}', resumed)
        rehearsals.append(rehearsal)
        step = killed_after_a_step(rehearsal, [*arguments, *plan], done)
        if step is None:
            break
        resumed = rehearsal.out / 'gpu-check.tar.gz'
        with tarfile.open(resumed) as archive:
            kept = json.load(archive.extractfile('gpu-check/state.json'))['steps']
        done.append(step)
        expect(all(kept[name]['status'] == 'done' for name in done), f'{done} in the bundle')
        expect(kept[step]['uuid'] == f'GPU-m{number}-0', kept[step])
        expect(len({kept[name]['uuid'] for name in done}) == len(done), f'each step of its own device: {kept}')
    rehearsal, arguments = machine_of(folder, 'last', resumed)
    rehearsal.check(DONE, 900, *arguments, *plan)
    state, table = rehearsal.state(), ' '.join(rehearsal.table().split())
    expect(all(state[name]['uuid'] == f'GPU-m{number}-0' for number, name in enumerate(done)), state)
    expect(all(f'GPU-m{number}-0: ' in table for number in range(len(done))), table)
    expect('Read bandwidth R of GPU-m0-0: 4.500 TB/s before' in table
           and 'Read bandwidth R of GPU-last-0: 4.500 TB/s before' in table, table)
    expect(len(json.loads((rehearsal.out / 'environment.json').read_text())['earlier']) == len(done), 'machines')
    wrote = [call for one in rehearsals + [rehearsal] for call in one.calls('wrote')] if DEEP else []
    expect(len(done) > (15 if DEEP else 1), done)
    expect(not DEEP or len(wrote) >= len([name for name in done if name.startswith('record')]), wrote)


def archived(path, *members):
    """A bundle of (name, text, or None for a link)."""
    with tarfile.open(path, 'w:gz') as archive:
        for name, text in members:
            member = tarfile.TarInfo(name)
            if text is None:
                member.type, member.linkname = tarfile.SYMTYPE, '/etc/passwd'
            else:
                member.size = len(text)
            archive.addfile(member, io.BytesIO((text or '').encode()))


def test_bad_bundles(folder):
    """Bundles that are incomplete, another check's or something else are refused with a message, and leave the
    folder without results."""
    first = Rehearsal(folder)
    first.check(DONE, 540, '--plan', 'A')
    good = (first.out / 'gpu-check.tar.gz').read_bytes()
    state = (first.out / 'state.json').read_text()
    path, top = folder / 'bundle.tar.gz', 'gpu-check/state.json'
    step = json.loads(state)['steps']['environment']

    def broken_step(**changes):
        kept = json.loads(state)
        kept['steps']['environment'] = {**step, **changes}
        return json.dumps(kept)
    texts = {'not whole': [good[:size] for size in (0, 1, 20, len(good) // 2, len(good) - 1)]
             + [good[:len(good) // 2] + b'?' * 64 + good[len(good) // 2 + 64:], b'no gzip at all'],
             'no bundle of this check': [[('other/state.json', state)], [('gpu-check/../up', 'x')],
                                         [('gpu-check/logs/link', None)], [('/etc/shadow', 'x')]],
             'has no results': [[('gpu-check/table.txt', 'x')]],
             'cannot be read': [[(top, '{')], [(top, '\udcff'.encode('utf-8', 'replace').decode())]],
             'of another version': [[(top, '[]')], [(top, '{}')], [(top, state.replace('"schema": 2', '"schema": 1'))]],
             'not what this check writes': [[(top, broken_step(uuid=7))], [(top, broken_step(data=[]))],
                                            [(top, broken_step(seconds='long'))]],
             'its record records/x.json is broken': [[(top, state), ('gpu-check/records/x.json', text)]
                                                     for text in ('{', '{}', '[]', '{"results": [1]}')]}
    tries = [(words, text) for words, list_of in texts.items() for text in list_of]
    for number, (words, text) in enumerate(tries if DEEP else tries[::12]):
        path.write_bytes(text) if isinstance(text, bytes) else archived(path, *text)
        expect_refused(first, folder / f'refused{number}', path, words if words != 'not whole' else 'whole bundle')
    path.write_bytes(good)
    for number, (changes, arguments, words) in enumerate((
            ({'device': 'NVIDIA H100 80GB HBM3'}, (), 'another model of device (NVIDIA H200, and here is NVIDIA H100'),
            ({'memory_bytes': 70e9}, (), 'another kind of device (cuda, 141 GB, and here is cuda, 70 GB)'),
            ({'build': 'others'}, (), 'another build of the programs'),
            ({}, ('--tiny',), 'a check that is no rehearsal'))[:None if DEEP else 1]):
        first.plan(**changes)
        expect_refused(first, folder / f'other{number}', path, words, *arguments)
    expect_refused(first, folder / 'absent', folder / 'none.tar.gz', 'No such file')
    first.out = folder / 'out'
    (first.out / 'state.json').write_text('{')
    said = first.check(FAILED, 60)
    expect('cannot be read' in said and 'Traceback' not in said, said)


def expect_refused(rehearsal, out, path, words, *arguments):
    rehearsal.out = out
    said = rehearsal.check(FAILED, 60, '--resume', path, *arguments)
    expect(words in said and 'Traceback' not in said, f'{words}: {said}')
    expect(not (out / 'state.json').exists() and not (out / 'resuming').exists(), f'{out} after {words}')


def test_interrupted_resuming(folder):
    """If it is killed while it unpacks a bundle, the same call starts over with the bundle."""
    first = Rehearsal(folder)
    first.check(DONE, 540, '--plan', 'A')
    path, replace = first.out / 'gpu-check.tar.gz', os.replace
    for left in range(100):
        out, calls = folder / f'resumed{left}', []

        def stopped(*arguments):
            calls.append(arguments)
            if len(calls) > left:
                raise running.Stopped(signal.SIGTERM)
            replace(*arguments)
        out.mkdir()
        try:
            os.replace = stopped
            bundle.resume(path, out, lambda key: '')
            break
        except running.Stopped:
            expect(not (out / 'state.json').exists(), f'a state before the rest, after {left}')
        finally:
            os.replace = replace
        bundle.resume(path, out, lambda key: '')
        expect((out / 'state.json').read_bytes() == (first.out / 'state.json').read_bytes(), 'the state')
    expect(left > 3, left)


def test_plans(folder):
    """A few minutes are useful: a short budget goes call by call; a named call ends after its steps."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 540, '--plan', 'A')
    names = list(rehearsal.state())
    expect(any(name.startswith('quick') for name in names) and 'ncu' in names, names)
    expect(not any(name.startswith(('record', 'grid', 'peer')) for name in names), names)
    for way in ('default', 'matrix=registers'):
        expect(any(name.startswith('way 70b') and name.endswith(way) for name in names), names)
    table = ' '.join(rehearsal.table().split())
    expect('matrix-registers: llama-2-70b fp8, batch 64 0.800 4.20 context 4096, 4 layers' in table, table)
    calls = rehearsal.calls('run')
    expect(sum('--verify-only' in call for call in calls) == 3, calls)
    if not DEEP:
        return
    rehearsal.check(DONE, 540)
    names = list(rehearsal.state())
    firsts = [next(i for i, name in enumerate(names) if name.startswith(kind))
              for kind in ('quick', 'ncu', 'verify small', 'record', 'attention', 'peer', 'grid')]
    expect(firsts == sorted(firsts), names)
    expect(rehearsal.calls('run')[:len(calls)] == calls, 'what call A did is done once')


def test_variants(folder):
    """Records are of the fastest variant, unless one was found wrong on this device."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 540, '--plan', 'C')
    records = [call for call in rehearsal.calls('run') if ' --shard ' not in call and '/attention' not in call
               and '--prefill' not in call]
    expect(records and all('--variant fastest' in call for call in records), records)
    expect_row(rehearsal.table(), '8B fp8, batch 1', '0.840', 'met, step=streaming')
    (folder / 'wrong').mkdir()
    wrong = Rehearsal(folder / 'wrong', wrong=['step=streaming'])
    wrong.check(FAILED, 540, '--plan', 'A')
    expect('verify-way (step=streaming): failed: 1 of 2' in wrong.not_done(), wrong.table())
    wrong.check(DONE, 540, '--plan', 'C')
    expect(not any('fastest' in call for call in wrong.calls('run')), wrong.calls('run'))
    (folder / 'untold').mkdir()
    untold = Rehearsal(folder / 'untold', untold=['step=streaming'])
    untold.check(DONE, 540, '--plan', 'A')
    expect('verify-way (step=streaming): missing: not verified, as the variants had taken 120 s' in untold.not_done(),
           untold.table())


NCU = r'''#!/bin/sh
case "$*" in *'--clock-control none'*) ;; *) echo 'it changes the clocks'; exit 1; esac
echo '==PROF== Connected to process 7'
echo '"ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","probe","vector_e4m3_bf16_norm_store_1(product_arguments)","gpu__time_duration.sum","ns","12,340"'
echo '"0","probe","vector_e4m3_bf16_norm_store_1(product_arguments)","dram__bytes_read.sum.per_second","byte/s","4.1e12"'
echo '"1","probe","sample(sample_arguments)","gpu__time_duration.sum","ns","2000"'
echo '"1","probe","sample(sample_arguments)","launch__registers_per_thread","","n/a"'
'''


def test_ncu(folder):
    """The profiler's counts are in the table; if the profiler or its permission is missing, that is reported."""
    rehearsal, tool = Rehearsal(folder), folder / 'ncu'
    path = {'PATH': f'{folder}:{os.environ["PATH"]}'}
    for text, words in (('#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM - no"; exit 1', 'for the administrator'),
                        ('#!/bin/sh\necho "==ERROR== unknown"; exit 1', 'ncu: failed: ==ERROR== unknown'), (NCU, '')):
        tool.write_text(text)
        tool.chmod(0o755)
        rehearsal.check(FAILED if 'failed' in words else DONE, 540, '--plan', 'A', **path)
        expect(words in rehearsal.not_done() if words else 'ncu' not in rehearsal.not_done(), rehearsal.table())
    expect_row(rehearsal.table(), 'vector_e4m3_bf16_norm_store_1', ' 12.34 ', ' 4.100 ')
    expect_row(rehearsal.table(), 'sample ', ' 2.00 ')


def test_libraries(folder):
    """Where the drivers' libraries are, before anything else: loaded, found elsewhere, broken, missing."""
    (folder / 'elsewhere').mkdir()
    shutil.copy(ROOT / 'build' / 'tests' / 'fake' / 'libnvidia-ml.so', folder / 'elsewhere' / 'libfound-nvidia.so')
    (folder / 'elsewhere' / 'libbroken-nvidia.so').write_text('no library')
    path = os.environ.get('LD_LIBRARY_PATH')
    try:
        for names, status, words in (
                (['libc.so.6'], running.DONE, 'libc.so.6'), (['libnone.so'], running.MISSING, 'does not load: '),
                (['libbroken-nvidia.so'], running.MISSING, 'libbroken-nvidia.so does not load: '),
                (['libnone.so', 'libfound-nvidia.so'], running.DONE, 'libfound-nvidia.so (put on the path)')):
            outcome = libraries.examine('cuda', {'cuda': [tuple(names)]}, [folder / 'elsewhere'])
            expect(outcome.status == status and words in outcome.words, f'{names}: {outcome.status} {outcome.words}')
        expect(str(folder / 'elsewhere') in os.environ['LD_LIBRARY_PATH'], 'the path of what the check starts')
        outcome = libraries.examine('', {'cuda': [('libnone.so',)]}, [])
        expect('neither' in outcome.words, outcome.words)
    finally:
        os.environ.pop('LD_LIBRARY_PATH', None)
        if path is not None:
            os.environ['LD_LIBRARY_PATH'] = path
    carried = folder / 'program'
    carried.write_bytes(b'GLIBC_2.9\0GLIBC_99.1\0')
    expect('program needs glibc 99.1, and here is ' in libraries.glibc_words(carried), 'glibc')
    carried.write_bytes(b'GLIBC_2.3\0')
    expect(not libraries.glibc_words(carried), 'an older glibc')


STAMPS = """launch,kernel,block,multiprocessor,entry_ns,released_ns,multiplied_ns,exit_ns
0,vector,0,0,1000,2000,2500,9000
0,vector,1,1,1100,2000,2500,9500
1,attention,0,0,9400,10000,0,12000
1,attention,1,0,9600,10000,0,12500
1,attention,2,1,13000,13100,0,14000
2,vector,0,5,500000,0,500500,501000
3,never,0,0,0,0,0,0
"""


def test_stamps(folder):
    """By hand: gaps between kernels of a step, blocks that share a multiprocessor, what was not reached."""
    path = folder / 'stamps.csv'
    path.write_text(STAMPS)
    writer = (ROOT / 'kernels' / 'gpu' / 'host' / 'stamps.c').read_text()
    expect(f'"{",".join(stamps.COLUMNS)}\\n"' in writer, 'the columns that the backend writes')
    vector, attention = stamps.summarise(stamps.read(path))
    expect((vector['launches'], vector['blocks'], vector['multiprocessors'], vector['at_once']) == (2, 2, 1, 1), vector)
    expect(abs(vector['wait'] - 0.95) < 1e-9 and abs(vector['all'] - 4.75) < 1e-9 and vector['gap'] is None, vector)
    expect((attention['blocks'], attention['multiprocessors'], attention['at_once']) == (3, 2, 2), attention)
    expect(abs(attention['gap'] + 0.1) < 1e-9 and attention['product'] is None, attention)
    head, *rows = stamps.rows([vector, attention])
    expect(head.split() == ['blocks', 'SMs', 'on', 'one', 'gap', 'wait', 'product', 'all'], head)
    expect(rows[1].split() == ['attention', 'x1', '3', '2', '2', '-0.10', '0.40', '-', '4.60'], rows[1])
    for text in ('', 'launch,kernel\n', STAMPS.splitlines()[0] + '\n', STAMPS.replace('1000,2000', 'x,2000')):
        path.write_text(text)
        done = run(path, program=ROOT / 'tests' / 'gpu' / 'stamps.py')
        expect(done.returncode == 1 and 'stamps.csv: ' in done.stderr and 'Traceback' not in done.stderr, done.stderr)


def test_unknown_families(folder):
    """What the kernels do not support is missing, with their message, and not a failure."""
    rehearsal = Rehearsal(folder, unknown=['mixtral-8x7b', 'mxfp4'])
    rehearsal.check(DONE)
    expect('record (8x7b-fp8-batch1-context512, 8b-mxfp4-batch1-context512): missing: error: the GPU kernels do '
           'not support' in rehearsal.not_done(), rehearsal.not_done())


def runs(process):
    """Whether the process with this number exists and is not a zombie."""
    try:
        return pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def test_kill(folder):
    """Killed outright in the middle of a step, it continues with that step, and leaves no program running."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        where = folder / number.name
        where.mkdir()
        rehearsal = Rehearsal(where, held=3)  # the third is not finished before the kill
        with subprocess.Popen(rehearsal.command(600), stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + TIMEOUT_S
            while (not (where / 'calls').exists() or not rehearsal.calls('held')) and time.monotonic() < until:
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=TIMEOUT_S)
        held, = rehearsal.calls('held')
        until = time.monotonic() + TIMEOUT_S
        while runs(held.split()[1]) and time.monotonic() < until:
            time.sleep(0.01)
        expect(not runs(held.split()[1]), 'the program that the check had started runs on')
        begun = rehearsal.calls('run')
        finished = [n for n, step in rehearsal.state().items() if step['status'] == 'done']
        expect(len(begun) == 3, f'the check ran on: {begun}')
        expect(len(rehearsal.calls('wrote')) == 2, 'the step that was killed wrote')
        expect(finished[-2].startswith('quick') and finished[-1].startswith('verify'), finished)
        rehearsal.plan(seconds=0)
        rehearsal.check(UNFINISHED, 60, '--plan', 'all')
        expect(rehearsal.calls('run')[3] == begun[2], 'the step that was killed did not run again')


def test_budget(folder):
    """It ends by itself in time, with a table, and says what to do; a busy machine gets three times as long."""
    for times in (1, 3):
        where = folder / str(times)
        where.mkdir()
        rehearsal = Rehearsal(where, seconds=0.4 * times)
        began = time.monotonic()
        said = rehearsal.check(UNFINISHED, 39 * times)
        took_s = time.monotonic() - began
        if took_s < 39 * times:
            break
    expect(took_s < 39 * times, f'it took {took_s:.0f} s of {39 * times}')
    expect('call again to go on' in said and 'not run' in rehearsal.table(), said)
    expect_row(rehearsal.table(), 'Read bandwidth R', 'after')


def test_failures(folder):
    """Failures are reported, do not end the check, and are tried again."""
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
    expect_row(rehearsal.table(), '8B fp8, batch 1, context 512: step=streaming', '0.934 R')
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        log = bundle.extractfile('gpu-check/logs/ladder.log').read().decode()
    expect('step=streaming    60.50' in log, log)


def test_other_devices(folder):
    """Shares of their own read bandwidth, not judged; if memory is too small, in slices."""
    h100 = 'NVIDIA H100 80GB HBM3'
    rehearsal = Rehearsal(folder, device=h100, too_deep=['80', '40'], bandwidth=[3.18e12, 3.18e12])
    rehearsal.check(DONE)
    table = rehearsal.table()
    expect('targets are of one NVIDIA H200; this is another' in table, table)
    expect_row(table, '1.000 of the 3.18 TB/s that are published for it')
    expect(row(table, '8B fp8, batch 1').split()[4:] == ['0.840', '4.20', 'step=streaming'], table)
    expect_row(table, 'Llama-2-70B fp8, batch 64, context 4096', 'from slices of up to 24 layers')
    expect(any('--layers 24' in call for call in rehearsal.calls('run')), rehearsal.calls('run'))
    expect(not any(word in table for word in ('must', 'BELOW', 'stretch met')), table)
    rehearsal.plan(device='NVIDIA H200')
    said = rehearsal.check(FAILED)
    expect(f'holds results of another model of device ({h100}, and here is NVIDIA H200)' in said, said)
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
    expect(len(rehearsal.calls('check')) == 6, 'records of several GPUs are checked again too')


def test_without_exchange(folder):
    """Without NCCL there is no model on several, nor if memory is too small or one GPU is named."""
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
    """(plugins, CUDA's, its streaming kernels', HIP's and its) for make GPU=here there."""
    done = run('-C', ROOT, '-pnq', 'GPU=here', 'NVCC=nvcc', 'HAS_CUDA=yes', 'GPU_CLANG=no-clang', *settings,
               'no-target', program='make', environment={'PATH': f'{folder}:{os.environ["PATH"]}'})
    found = dict(line.split(' := ', 1) for line in done.stdout.splitlines() if ' := ' in line)
    return [found[name].split() for name in ('PLUGINS', 'CUDA_ARCHITECTURES', 'STREAMING_ARCHITECTURES',
                                             'HIP_ARCHITECTURES', 'HIP_STREAMING')]


def test_architectures(folder):
    """Only what these GPUs need is built; unknown ones get everything."""
    every = [['80', '90a', '100', '120'], ['80', '90a', '100'], ['gfx90a', 'gfx942', 'gfx1100', 'gfx1201']]
    for capabilities, cuda, streaming in (
            ('9.0', ['90a'], ['90a']), ('8.6', ['80'], ['80']), ('12.0', ['120'], ['100']),
            ('8.0\n9.0', ['80', '90a'], ['80', '90a']), ('7.5', every[0], every[1])):
        stand_in(folder / 'nvidia-smi', f"printf '{capabilities}\\n'")
        plugins, *found = built_for(folder, f'KFD={folder}')
        expect(len(plugins) == 1 and plugins[0].endswith('cuda.so'), plugins)
        expect(found[:3] == [cuda, streaming, every[2]], f'{capabilities}: {found}')
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
    """Packages are requested if a build fails; without a network it continues with what is there."""
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


# A tool that runs what it is given, and reports an error in a case or in none; it records the cases. Each takes as
# long as it is told to.
SANITIZER_STAND_IN = r'''#!/usr/bin/python3
import pathlib, subprocess, sys, time
here = pathlib.Path(__file__).resolve().parent
options, command = sys.argv[1:5], sys.argv[5:]
cases = pathlib.Path(command[-1]).read_text().splitlines()
found, seconds, runs, lacks = (here / 'finds').read_text().split('\n')[:4]
with open(here / 'cases', 'a') as file:
    file.writelines(f'{options[1]}|{case}\n' for case in cases)
print('========= COMPUTE-SANITIZER')
time.sleep(float(seconds) * len(cases))
status = 0
if runs:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    status = done.returncode
    print(done.stdout, end='')
else:
    for case in cases:
        print(f'FAIL {case}; {lacks}' if lacks and '=' in case else f'ok {case}; error 0')
        status = status or (1 if lacks and '=' in case else 0)
if found and any(found in case for case in cases):
    print('========= Invalid __global__ read of size 16 bytes')
    status = int(options[3])
print(f'========= ERROR SUMMARY: {int(status == int(options[3]))} errors')
sys.exit(status)
'''


class Sanitized:
    """Only the sanitizer's steps, with a stand-in for the tool."""

    def __init__(self, folder, library, plugin):
        self.folder = folder
        self.tool = folder / 'compute-sanitizer'
        self.tool.write_text(SANITIZER_STAND_IN)
        self.tool.chmod(0o755)
        sanitizer.LIBRARY, sanitizer.PLUGIN = library, plugin
        self.out, self.tiny, self.device = folder, False, {'backend': 'cuda', 'uuid': ''}
        self.state = running.State(folder)

    def log(self, name):
        return self.folder / f'{name}.log'

    def check(self, limit_s, found='', seconds=0, runs='', lacks='', tool='memcheck'):
        (self.folder / 'finds').write_text(f'{found}\n{seconds}\n{runs}\n{lacks}\n')
        outcome = sanitizer.check(self, tool, self.tool, limit_s)
        self.state.keep(f'sanitizer {tool}', outcome, 0, 0)
        return outcome

    def seen(self):
        path = self.folder / 'cases'
        return [line.split('|')[1] for line in path.read_text().splitlines()] if path.exists() else []


def test_sanitizer(folder):
    """Every family of kernels is run, one case of each first; the next call does what there was no time for;
    findings are reported with their place."""
    every = sanitizer.all_cases()
    expect(set(every) == set(cases.CASES + cases.WIDE + cases.STREAMING + cases.WGMMA + cases.LATENT)
           - set(cases.RANKS) and len(every) == len(set(every)), 'a case is missing or there twice')
    expect(all(set(every[:9]) & set(family) for family in (
        cases.WGMMA, cases.STREAMING, cases.LLAMAS, cases.FEW_BITS, cases.FAMILIES, cases.EXPERTS, cases.LATENT,
        cases.PROMPTS, cases.WIDE)), every[:9])
    sanitized = Sanitized(folder, folder, folder)
    outcome = sanitized.check(sanitizer.MIN_S + 1, seconds=0.02)
    expect(outcome.status == running.MISSING and 0 < outcome.data['clean'] < len(every), outcome.words)
    outcome = sanitized.check(100, lacks='matrix=wgmma needs sm_90')
    expect(outcome.status == running.DONE, outcome.words)
    expect(set(sanitized.seen()) == set(every), 'cases that were left out')
    outcome = sanitized.check(100, found='matrix=wgmma', tool='racecheck')
    expect(outcome.status == running.FAILED and 'Invalid __global__ read' in outcome.words
           and every[0] in outcome.words and outcome.data['clean'] == 0, outcome.words)
    outcome = sanitized.check(100, lacks='error 0.3 of 0.01', tool='synccheck')
    expect(outcome.status == running.FAILED and outcome.words.startswith(f'FAIL {every[0]}'), outcome.words)
    outcome = sanitized.check(100, runs='yes', tool='initcheck')  # not a library
    expect(outcome.status == running.FAILED and outcome.data['clean'] == 0, outcome.words)


def test_sanitizer_decodes(folder):
    """The same with the real program, on the host's emulator."""
    library, plugin = (ROOT / 'build/tests/lib' / name for name in ('hip_decode.so', 'emulatormma.so'))
    if not library.exists() or not plugin.exists():
        raise Skip('no emulator')
    sanitized = Sanitized(folder, library, plugin)
    sanitized.tiny = True
    outcome = sanitized.check(100, runs='yes')
    expect(outcome.status == running.DONE, f'{outcome.words}\n{sanitized.log("sanitizer").read_text()}')


def test_unwritable(folder):
    """A folder that cannot be written, or is full, is named in one sentence; what was found before is still there."""
    rehearsal = Rehearsal(folder)
    rehearsal.out = rehearsal.probe / 'out'
    said = rehearsal.check(FAILED, 60)
    expect('Not a directory' in said and 'name a folder with --out' in said and 'Traceback' not in said, said)
    rehearsal.out = folder / 'full'
    done = subprocess.run([str(word) for word in rehearsal.command(60)], text=True, capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
    said = done.stdout + done.stderr
    expect(done.returncode == FAILED and 'File too large' in said and 'Traceback' not in said and len(said) < 1000, said)
    out, fsync = folder / 'kept', os.fsync
    (out / 'logs').mkdir(parents=True)
    bundle.write(out)
    before = (out / bundle.NAME).read_bytes()

    def full(_):
        raise OSError(28, 'No space left on device')
    for write in (lambda: bundle.write(out), lambda: running.write_whole(out / bundle.NAME, 'x')):
        try:
            os.fsync = full
            write()
            expect(False, 'an error was hidden')
        except OSError:
            pass
        finally:
            os.fsync = fsync
        expect(sorted(path.name for path in out.iterdir()) == [bundle.NAME, 'logs'], list(out.iterdir()))
        expect((out / bundle.NAME).read_bytes() == before, 'the bundle before')


def test_driver_that_hangs(folder):
    """Its tools do not take the time of the measurements: one is waited for once, and the others say something."""
    path, limit_s = os.environ['PATH'], machine.TOOL_LIMIT_S
    stand_in(folder / 'nvidia-smi', f'echo "$@" >>{folder}/asked; exec sleep 60')
    os.environ['PATH'], machine.TOOL_LIMIT_S = f'{folder}:{path}', 0.5
    try:
        said = machine.ask_tools(folder / 'log')
        shown = machine.listed(folder / 'nvidia-smi', False, '', 0.5, folder / 'log')
    finally:
        os.environ['PATH'], machine.TOOL_LIMIT_S = path, limit_s
    expect((folder / 'asked').read_text().splitlines() == ['-q', 'list --format json'], (folder / 'asked').read_text())
    expect(said['nvidia-smi -q']['status'] is None, said)
    expect('list did not end within ' in shown['words'] and 'driver may hang' in shown['words'], shown)


def test_unkillable(folder):
    """A program that a hanging driver holds is left to itself: the check goes on in its time."""
    kill, grace_s, began = os.killpg, running.GRACE_S, time.monotonic()
    stand_in(folder / 'held', 'echo begun; exec sleep 100')
    held = []
    try:
        os.killpg, running.GRACE_S = lambda process, number: held.append(process), 0.2
        done = running.run([folder / 'held'], 1, folder / 'log')
    finally:
        os.killpg, running.GRACE_S = kill, grace_s
        os.kill(held[0], signal.SIGKILL)
    expect(done.status is None and time.monotonic() - began < 50, done.seconds)
    expect('begun' in done.output and done.last_line() == 'it cannot be killed: the driver hangs', done.output)


def test_doubts(folder):
    """Other processes on the device are named before anything is measured, and the table has every flag of a record."""
    path = f'{folder}:{os.environ["PATH"]}'
    stand_in(folder / 'nvidia-smi', 'case "$*" in *compute-apps*) echo "GPU-0, 4711, python3, 20480 MiB";'
             ' echo "GPU-1, 4712, other, 1 MiB";; esac')
    rehearsal = Rehearsal(folder, others=1, flags={'noisy': True, 'drift': False, 'thermal_unsettled': True})
    said = rehearsal.check(DONE, 540, '--plan', 'A', PATH=path)
    expect('environment: done: NVIDIA H200; in use by others: 4711, python3, 20480 MiB [' in said and '4712' not in said, said)
    doubts = ' '.join(rehearsal.table().partition('What the records say against themselves\n')[2].split())
    for words in ('noisy: 5 of 5 results (llama-2-70b fp8, batch 1;', 'thermal unsettled: 5 of 5',
                  'other processes on the device: 5 of 5'):
        expect(words in doubts and 'drift' not in doubts, rehearsal.table())


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


def test_pack(folder):
    """The package runs where there is nothing else: no compiler, no library but the C library's. The backend is one
    of the tests'."""
    build = PROBE.parent
    made = run('-C', ROOT, 'GPU=no', 'build/packed/pertoken-probe', 'build/packed/bench/gpu_kernels', program='make',
               timeout=TIMEOUT_S)
    expect(made.returncode == DONE, made.stderr)
    pack = [ROOT / 'tests' / 'gpu' / 'pack', '--name', 'packed', '--ladder', build / 'packed' / 'bench' / 'gpu_kernels',
            '--plugin', build / 'tests' / 'metered' / 'metered.so', '--out', folder]
    done = run(*pack[1:], '--probe', PROBE, program=pack[0], timeout=TIMEOUT_S)
    expect(done.returncode == FAILED and 'libgsl' in done.stderr, f'libraries of the machine: {done.stderr}')
    done = run(*pack[1:], '--probe', build / 'packed' / 'pertoken-probe', program=pack[0], timeout=TIMEOUT_S)
    expect(done.returncode == DONE, done.stderr)
    elsewhere = folder / 'elsewhere'
    elsewhere.mkdir()
    with tarfile.open(folder / 'packed.tar.gz') as archive:
        archive.extractall(elsewhere)  # our own
    done = subprocess.run([elsewhere / 'packed' / 'tests' / 'gpu' / 'check', '--no-build', '--tiny', '--device', 'cpu',
                           '--budget', '30', '--plan', 'A'], cwd=folder, env={'PATH': '/usr/bin:/bin'}, text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    expect('environment: done' in done.stdout and 'Traceback' not in done.stdout + done.stderr,
           done.stdout + done.stderr)


def test_true_probe(folder):
    """The first steps with the real probe, on a small shape on this processor."""
    done = run('--tiny', '--device', 'cpu', '--budget', '120', '--out', folder / 'out', '--probe', PROBE,
               program=CHECK, timeout=240)
    expect(done.returncode in (DONE, FAILED, UNFINISHED), done.stdout + done.stderr)
    table = (folder / 'out' / 'table.txt').read_text()
    expect('A rehearsal on a small shape' in table and 'Verified against the oracle: ' in table, table)
    expect(list((folder / 'out' / 'records' / 'verify').glob('tiny-cpu-*.json')), table)


QUICK = [test_whole, test_kill_and_resume, test_bad_bundles, test_plans, test_variants, test_libraries, test_stamps,
         test_budget, test_other_devices, test_several, test_without_exchange, test_building, test_sanitizer,
         test_missing_probe, test_unwritable, test_driver_that_hangs, test_unkillable, test_doubts, test_peer]
LONG = [test_kill, test_interrupted_resuming, test_ncu, test_unknown_families, test_failures, test_architectures,
        test_sanitizer_decodes, test_pack, test_true_probe]


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
