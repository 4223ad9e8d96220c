#!/usr/bin/python3
"""The parts of tests/gpu/check, without a GPU: libraries, stamps of the time, building for the GPUs that are there,
sanitizers, drivers that hang, the peer, the package.

The peer is rehearsed if PyTorch is installed.
Deep: each architecture, the sanitizers' steps with the real program on the emulator, and the package.
Seconds: 3, deep 60
Waits: for programs that hang. Its speeds are not judged.
"""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from rehearsal import FAILED, STAND_INS, TIMEOUT_S, run_all, stand_in
import building
import libraries
import machine
import running
import sanitizer
import stamps
import steps
from sanitizer import cases
from support.program import DONE, PROBE, ROOT, SKIPPED, Skip, expect, run

PEER = ROOT / 'tests' / 'gpu' / 'peer_pytorch.py'


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
    expect('program needs glibc 99.1, and here is ' in libraries.why_not_started(carried), 'glibc')
    carried.write_bytes(b'GLIBC_2.3\0')
    expect(not libraries.why_not_started(carried), 'an older glibc')
    for number, name in libraries.ELF_MACHINES.items():
        carried.write_bytes(b'\x7fELF\2\1\1'.ljust(18, b'\0') + number.to_bytes(2, 'little') + b'GLIBC_2.3\0')
        said = libraries.why_not_started(carried)
        expect((f'program is for {name}, and this machine is {platform.machine()}' in said)
               == (name != platform.machine()), f'{name}: {said}')
    for image in (b'\x7fELF', b'\x7fELF'.ljust(20, b'\0')):
        carried.write_bytes(image)
        expect(not libraries.why_not_started(carried), 'no known processor')


def test_rocm_path(folder):
    """ROCM_PATH names the folder of ROCm's libraries and tools, before those that are found without it."""
    for name in ('bin', 'lib'):
        (folder / name).mkdir()
    library, tool = folder / 'lib' / 'libamd_smi.so.26', folder / 'bin' / 'sh'  # of any name that is also on PATH
    shutil.copy(ROOT / 'build' / 'tests' / 'fake' / 'libamd_smi.so', library)
    shutil.copy('/bin/sh', tool)
    kept = os.environ.get('ROCM_PATH')
    os.environ['ROCM_PATH'] = str(folder)
    try:
        outcome = libraries.examine('hip', {'hip': [('libc.so.6', 'libamd_smi.so.26')], 'cuda': [('libc.so.6',)]}, [])
        words = outcome.words.split('; ')
        expect(words[0] == str(library) and 'libc.so.6' in words[1], f'{outcome.status} {words}')
        expect(machine.find_tool('sh') == str(tool), machine.find_tool('sh'))
    finally:
        os.environ.pop('ROCM_PATH')
        if kept is not None:
            os.environ['ROCM_PATH'] = kept


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


def built_for(folder, *settings):
    """(plugins, CUDA's, its streaming kernels', HIP's and its, PTX for later GPUs) for make GPU=here there."""
    done = run('-C', ROOT, '-pnq', 'GPU=here', 'NVCC=nvcc', 'HAS_CUDA=yes', 'GPU_CLANG=no-clang', *settings,
               'no-target', program='make', environment={'PATH': f'{folder}:{os.environ["PATH"]}'})
    found = dict(line.split(' := ', 1) for line in done.stdout.splitlines() if ' := ' in line)
    ptx = sorted(set(re.findall(r'kind=ptx,sm=(\w+)', done.stdout)))
    return [found[name].split() for name in ('PLUGINS', 'CUDA_ARCHITECTURES', 'STREAMING_ARCHITECTURES',
                                             'HIP_ARCHITECTURES', 'HIP_STREAMING')] + [ptx]


def test_architectures(folder):
    """Only what these GPUs need is built; unknown ones get everything."""
    every = [['80', '90a', '100', '120'], ['80', '90a', '100'], ['gfx90a', 'gfx942', 'gfx1100', 'gfx1201']]
    for capabilities, cuda, streaming, ptx in (
            ('9.0', ['90a'], ['90a'], []), ('8.6', ['80'], ['80'], []), ('12.0', ['120'], ['100'], ['100', '120']),
            ('8.0\n9.0', ['80', '90a'], ['80', '90a'], []), ('7.5', every[0], every[1], ['100', '120'])):
        stand_in(folder / 'nvidia-smi', f"printf '{capabilities}\\n'")
        plugins, *found = built_for(folder, f'KFD={folder}')
        expect(len(plugins) == 1 and plugins[0].endswith('cuda.so'), plugins)
        expect(found[:3] == [cuda, streaming, every[2]] and found[4] == ptx, f'{capabilities}: {found}')
    stand_in(folder / 'nvidia-smi', 'echo no devices were found; exit 6')
    for versions, hip in (((0, 90402), ['gfx942']), ((90010, 110000), ['gfx90a', 'gfx1100']),
                          ((100306, 0), every[2])):
        for number, version in enumerate(versions):
            (folder / str(number)).mkdir(exist_ok=True)
            (folder / str(number) / 'properties').write_text(f'simd_count 4\ngfx_target_version {version}\n')
        plugins, *found = built_for(folder, f'KFD={folder}')
        expect(any(plugin.endswith('hip.so') for plugin in plugins) and found[2] == hip, f'{plugins} {found}')
        expect(found[3] == [one for one in hip if one in ('gfx90a', 'gfx942')], found)


def test_packed_architectures(_folder):
    """A pack has streaming kernels that its GPU runs: an sm_86 or sm_89 those of sm_80."""
    for packed, streaming in (('sm_80', '80'), ('sm_86', '80'), ('sm_89', '80'), ('sm_90a', '90a'), ('sm_100', '100'),
                              ('sm_120', '100')):
        done = run('-C', ROOT, '-pnq', f'ARCH={packed}', 'NVCC=nvcc', 'HAS_CUDA=yes', 'no-target', program='make')
        said, = [line for line in done.stdout.splitlines() if line.startswith('PACKED_FOR := ')]
        expect(said.split()[-1] == f'STREAMING_ARCHITECTURES={streaming}', f'{packed}: {said}')


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


class Sanitized:
    """Only the sanitizer's steps, with a stand-in for the tool."""

    def __init__(self, folder, library, plugin):
        self.folder = folder
        self.tool = shutil.copy(STAND_INS / 'compute-sanitizer', folder)
        sanitizer.LIBRARY, sanitizer.PLUGIN = library, plugin
        self.out, self.tiny, self.device = folder, False, {'backend': 'cuda', 'uuid': ''}
        self.state, self.refusing = running.State(folder), {}

    def log(self, name):
        return self.folder / f'{name}.log'

    def check(self, limit_s, found='', seconds=0, runs='', lacks='', hangs='', tool='memcheck'):
        (self.folder / 'finds').write_text(f'{found}\n{seconds}\n{runs}\n{lacks}\n{hangs}\n')
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
    expect(outcome.status == running.PARTIAL and 0 < outcome.data['clean'] < len(every), outcome.words)
    expect(outcome.data['left'] == len(every) - outcome.data['clean'], outcome.data)
    outcome = sanitized.check(100, lacks='matrix=wgmma needs sm_90')
    expect(outcome.status == running.DONE, outcome.words)
    expect(set(sanitized.seen()) == set(every), 'cases that were left out')
    first = cases.WGMMA[0]  # after one of those that do not wait for other blocks
    expect(every[1] == first, every[:2])
    outcome = sanitized.check(100, found='matrix=wgmma', tool='racecheck')
    expect(outcome.status == running.FAILED and 'Invalid __global__ read' in outcome.words
           and first in outcome.words and outcome.data['clean'] == 1, outcome.words)
    outcome = sanitized.check(100, lacks='error 0.3 of 0.01', tool='synccheck')
    expect(outcome.status == running.FAILED and outcome.words.startswith(f'FAIL {first}'), outcome.words)
    outcome = sanitized.check(100, runs='yes', tool='initcheck')  # not a library
    expect(outcome.status == running.FAILED and outcome.data['clean'] == 0, outcome.words)


def test_sanitizer_stalls(folder):
    """A case that never ends under a tool is named, and never counted; all others are done, in a few calls."""
    every, stuck, least_s = sanitizer.all_cases()[:4], cases.STREAMING[0], sanitizer.MIN_S
    sanitized, calls = Sanitized(folder, folder, folder), []
    sanitized.tiny = True  # four cases, of which it is the third
    try:
        sanitizer.MIN_S = 0.3
        while len(calls) < 5 and (not calls or calls[-1].data.get('left')):
            calls.append(sanitized.check(8, hangs=stuck))
    finally:
        sanitizer.MIN_S = least_s
    outcome, seen = calls[-1], sanitized.seen()
    expect(len(calls) > 1 and calls[0].status == running.PARTIAL, 'it is not tried alone for half of a call')
    expect(outcome.status == running.MISSING and outcome.data['clean'] == len(every) - 1, outcome.words)
    expect(outcome.words.startswith(f'{len(every) - 1} of {len(every)} ')
           and outcome.words.endswith(f'NOT DONE, did not end within 4 s: {stuck}'), outcome.words)
    expect(set(seen) == set(every) and seen.count(every[1]) == 2, 'the one before it is not counted on its own')
    again = sanitized.check(8, hangs=stuck)
    expect(again.words == outcome.words and len(sanitized.seen()) == len(seen), f'begun in each call: {again.words}')


def test_tools_that_cannot_run(folder):
    """Where a tool cannot run at all, kernels are not called wrong, and its time is not spent again; what it finds in a
    kernel is something else."""
    for line, words in (('==ERROR== Failed to initialize the profiler: LibraryNotLoaded', 'Failed to initialize the '
                         'profiler: LibraryNotLoaded'),
                        ('========= Error: Device not supported. Please refer to the documentation',
                         'Error: Device not supported. Please refer to the documentation'),
                        ('FAIL bf16 x; stopped by error 999', 'FAIL bf16 x; stopped by error 999'),
                        ('FAIL bf16 x; error 0.999 of 0.01', ''),
                        ('========= Invalid __global__ read of size 16 bytes', '')):
        found = machine.why_tool_cannot(f'first\n{line}\nlast')
        expect(found == words, f'{line}: {found}')
    sanitized = Sanitized(folder, folder, folder)
    outcome = sanitized.check(100, lacks='stopped by error 999')
    expect(outcome.status == running.MISSING and 'cannot run here: FAIL' in outcome.words, outcome.words)
    seen, find_tool = len(sanitized.seen()), machine.find_tool
    try:
        machine.find_tool = lambda name: sanitized.tool
        outcome = steps.sanitizing('racecheck')(sanitized, 100)
    finally:
        machine.find_tool = find_tool
    expect(outcome.status == running.MISSING and len(sanitized.seen()) == seen, outcome.words)
    outcome = Sanitized(folder, folder, folder).check(sanitizer.MIN_S + 0.5, seconds=60, tool='initcheck')
    expect(outcome.status == running.MISSING and '0 of ' in outcome.words, 'no case ends: it is not begun for ever')


def test_sanitizer_decodes(folder):
    """The same with the real program, on the host's emulator."""
    library, plugin = (ROOT / 'build/tests/lib' / name for name in ('hip_decode.so', 'emulatormma.so'))
    if not library.exists() or not plugin.exists():
        raise Skip('no emulator')
    sanitized = Sanitized(folder, library, plugin)
    sanitized.tiny = True
    outcome = sanitized.check(100, runs='yes')
    expect(outcome.status == running.DONE, f'{outcome.words}\n{sanitized.log("sanitizer").read_text()}')


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
    expect(done.returncode == DONE and 'It needs' not in done.stdout, done.stdout + done.stderr)
    told = folder / 'told.so'  # as a backend of CUDA 13 says it
    metered = (build / 'tests' / 'metered' / 'metered.so').read_bytes()
    told.write_bytes(metered + b"install NVIDIA's driver, 580 or later")
    done = run(*pack[1:6], told, *pack[7:], '--probe', build / 'packed' / 'pertoken-probe', program=pack[0],
               timeout=TIMEOUT_S)
    expect("It needs NVIDIA's driver, 580 or later; for an older" in done.stdout, done.stdout + done.stderr)
    elsewhere = folder / 'elsewhere'
    elsewhere.mkdir()
    with tarfile.open(folder / 'packed.tar.gz') as archive:
        archive.extractall(elsewhere)  # our own
    done = subprocess.run([elsewhere / 'packed' / 'tests' / 'gpu' / 'check', '--no-build', '--tiny', '--device', 'cpu',
                           '--budget', '30', '--plan', 'A'], cwd=folder, env={'PATH': '/usr/bin:/bin'}, text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    expect('environment: done' in done.stdout and 'Traceback' not in done.stdout + done.stderr,
           done.stdout + done.stderr)


QUICK = [test_libraries, test_rocm_path, test_stamps, test_building, test_sanitizer,
         test_sanitizer_stalls, test_tools_that_cannot_run,
         test_driver_that_hangs, test_unkillable, test_peer]
LONG = [test_architectures, test_packed_architectures, test_sanitizer_decodes, test_pack]


if __name__ == '__main__':
    run_all(QUICK, LONG)
