"""trial: steps for a GPU that is available for minutes: the kernels in each of their ways, the counts of
NVIDIA's profiler, when each block began and ended, and what fences take. Their order is in order.py."""
import csv
import re

import machine
import running
import stamps
import workloads
from running import DONE, FAILED, MISSING, Outcome
from steps import ROOT, climb, found_words, probed, run_command, verifying

# The ways of running a step on the device; '' is the default.
WAYS = ('', 'matrix=registers', 'step=streaming')
WAY_BATCHES = {'': (1, 64), 'matrix=registers': (1, 64), 'step=streaming': (1, 4)}
MANY_ROWS = 64
REFUSED = re.compile(r'variant: |matrix=|step=|no variants of its kernels')  # of the probe, which names the choice
LADDER_ROWS = (1, 2, 3)  # of tests/bench/gpu_kernels, the most valuable
NCU_KERNELS = 10
NCU_NAMES = 'regex:^(vector|matrix|wgmma|attention|streaming|round|embed|sample|heads|latent|expert)'
NCU_METRICS = {  # by NVIDIA's names, and ours
    'gpu__time_duration.sum': 'time',
    'dram__bytes_read.sum.per_second': 'DRAM read',
    'sm__warps_active.avg.pct_of_peak_sustained_active': 'warps active',
    'smsp__issue_active.avg.pct_of_peak_sustained_active': 'issue slots used',
    'launch__registers_per_thread': 'registers',
}
NO_COUNTERS = 'ERR_NVGPUCTRPERM'  # counters are restricted to administrators
STAMPED = ROOT / 'build' / 'stamped' / 'lib' / 'pertoken'  # a backend with time stamps (kernels/gpu/build.mk)
FENCES = ROOT / 'build' / 'bench' / 'gpu_fences'  # tests/bench/gpu_fences.cu


def way_name(way):
    return way or 'default'


def is_there(context, way):
    """Only a GPU has ways other than the default."""
    return not way or context.device['backend'] in machine.ACCELERATORS


def missing_if_refused(outcome):
    """A way that this device or shape does not have is missing, with the probe's message."""
    if outcome.status == FAILED and REFUSED.search(outcome.words):
        return Outcome(MISSING, outcome.words)
    return outcome


def verifying_way(way):
    """Each kernel of the way compared with the oracle, at the model's own shape."""
    def run(context, limit_s):
        if not is_there(context, way):
            return Outcome(MISSING, f'{context.name} is no GPU')
        batches = WAY_BATCHES[way] if not context.tiny else (1, 2)
        workload = workloads.Workload('8b', 'fp8', batches, (64 if context.tiny else 512,))
        return missing_if_refused(verifying(workload, way)(context, limit_s))
    return run


def timing(workload, way, seconds):
    def run(context, limit_s):
        if not is_there(context, way):
            return Outcome(MISSING, f'{context.name} is no GPU')
        where = context.out / 'records' / 'ways' / way_name(way).replace('=', '-')
        command = run_command(context, workload, seconds, where, variant=way, watts=False)
        outcome = missing_if_refused(probed(context, 'ways', command, limit_s, where))
        return Outcome(outcome.status, outcome.words or found_words(context, workload, where))
    return run


def few_rows(context, limit_s):
    """The first rows of the ladder alone."""
    return climb(context, limit_s, 'ladder-rows', LADDER_ROWS)


# ---- what the profiler counts

def read_csv(output):
    """The rows of a CSV that follows messages of the profiler and of the program."""
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return list(csv.DictReader(lines[start:]))


def counted(rows):
    """For each launch its kernel and what was counted: `--print-units base`, one row per metric."""
    launches = {}
    for row in rows:
        name = NCU_METRICS.get(row.get('Metric Name'))
        try:
            value = float(row['Metric Value'].replace(',', ''))
        except (KeyError, AttributeError, ValueError):
            continue
        if name:
            launches.setdefault(row['ID'], {'kernel': row['Kernel Name'].partition('(')[0]})[name] = value
    return list(launches.values())


def profiling(context, limit_s):
    program = machine.find_tool('ncu')
    if context.device['backend'] != 'cuda' or not program:
        return Outcome(MISSING, 'no ncu for this device')
    where, workload = context.out / 'profiled', context.some([workloads.RECORDS[0]], 1)[0]
    command = [program, '--csv', '--print-units', 'base', '--clock-control', 'none',  # else it changes the clocks
               '--target-processes', 'all', '--kernel-name', NCU_NAMES, '--launch-count', NCU_KERNELS,
               '--metrics', ','.join(NCU_METRICS), *run_command(context, workload, 0.1, where), '--verify-only']
    context.measured = True
    done = running.run(command, limit_s, context.log('ncu'))
    if NO_COUNTERS in done.output:
        return Outcome(MISSING, 'the driver keeps its counters for the administrator (ERR_NVGPUCTRPERM)')
    launches = counted(read_csv(done.output))
    cannot = machine.why_tool_cannot(done.output)
    if not launches and cannot:
        return Outcome(MISSING, f'ncu cannot run here: {cannot}')
    if not launches:
        return Outcome(FAILED, done.last_line() if done.status is not None else f'stopped after {limit_s:.0f} s')
    return Outcome(DONE, f'{len(launches)} launches', launches=launches)


# ---- what fences take behind copies

def fencing(context, limit_s):
    if context.device['backend'] != 'cuda' or not FENCES.exists():
        return Outcome(MISSING, 'no program for that is built (make build/bench/gpu_fences)')
    uuid = context.device.get('uuid')
    done = running.run([FENCES], limit_s, context.log('fences'), {'CUDA_VISIBLE_DEVICES': uuid} if uuid else {})
    if done.status != 0:  # such as a device older than sm_90
        return Outcome(MISSING, done.last_line())
    return Outcome(DONE, done.last_line(), lines=done.output.splitlines())


# ---- when each block began and ended

def stamping(context, limit_s):
    """A short run with kernels that record time stamps; its figures are not a record's."""
    if context.device['backend'] != 'cuda' or not list(STAMPED.glob('cuda.so')):
        return Outcome(MISSING, 'no backend that stamps is built (make gpu-stamped)')
    folder = context.out / 'stamps'
    folder.mkdir(exist_ok=True)
    path, workload = folder / 'stamps.csv', context.some([workloads.RECORDS[0]], 1)[0]
    environment = {'PERTOKEN_PLUGINS': str(STAMPED), 'PERTOKEN_GPU_STAMPS': str(path)}
    command = run_command(context, workload, 0.2, context.out / 'stamped', watts=False)
    outcome = probed(context, 'stamps', command, limit_s, context.out / 'stamped', environment)
    if outcome.status != DONE:
        return outcome
    try:
        kernels = stamps.summarise(stamps.read(path))
    except (OSError, ValueError) as error:
        return Outcome(FAILED, f'{path.name}: {error}')
    return Outcome(DONE, f'{len(kernels)} kernels', kernels=kernels)
