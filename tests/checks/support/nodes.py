"""Nodes that measure at once: processes of this machine with different names, started the way Slurm does. They measure a
test GPU on which nothing takes time, or the CPU with a tiny model.
"""
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.probing import at_once
from support.program import Count, DEEP, DONE, PROBE, ROOT, expect, run_json, settings

LOST_S = 15  # how long a node is waited for: far longer than a result takes or a process needs to start
PATIENCE_S = 300  # how long the tests wait for what must come, on any machine
UNSET = dict.fromkeys(name for name in os.environ if name.startswith(('SLURM', 'OMPI_', 'PMIX_')))


class Fleet:
    """A shared folder, and the processes of the nodes that measure into it."""

    def __init__(self, folder, model, environment):
        self.folder, self.model, self.environment = Path(folder) / 'fleet', model, environment or {}
        self.kept, self.job = Path(folder), 0

    def launch(self):
        self.job += 1
        return self.job

    def start(self, rank, size, *more, job=None, node=None, file_limit=None, environment=()):
        """The process of one node, as srun starts it."""
        slurm = {'SLURM_PROCID': rank, 'SLURM_STEP_NUM_TASKS': size, 'SLURM_STEP_TASKS_PER_NODE': f'1(x{size})',
                 'SLURM_STEP_ID': 0, 'SLURM_JOB_ID': job or self.job, 'SLURMD_NODENAME': node or f'node-{rank}'}

        def limit():
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        return subprocess.Popen([PROBE, 'fleet', *map(str, self.model), '--time', '0.1', '-o', self.folder,
                                 *map(str, more)],
                                cwd=ROOT, env=settings({**UNSET, **slurm, **self.environment, **dict(environment)}),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                encoding='utf-8', preexec_fn=limit)

    def all(self, size, *more):
        """Starts all nodes, and returns their exit statuses."""
        self.launch()
        return ended([self.start(rank, size, *more) for rank in range(size)])

    def list(self, name):
        return (self.folder / 'nodes' / name).read_text().split()

    def lists(self):
        return [self.list(name) for name in ('done', 'failed', 'missing')]

    def states(self):
        """{node: state}, as the processes announce them to each other."""
        found = [entry.name.split('=', 5) for entry in (self.folder / 'nodes').glob('.*/*')]
        return {words[5]: words[0] for words in found if len(words) == 6}

    def records(self):
        return {path.parent.name: path.read_bytes() for path in self.folder.glob('*/*.json')}


def ended(processes):
    """Exit statuses; the processes' output is kept as their `said`."""
    for process in processes:
        process.said = ''.join(process.communicate(timeout=PATIENCE_S))
    return [process.returncode for process in processes]


def until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        expect(time.monotonic() < end, f'still not after {PATIENCE_S} s: {what}')
        time.sleep(0.02)
    return found


def said(process, status, *fragments):
    ended([process])
    expect(process.returncode == status, f'exit {process.returncode}, not {status}: {process.said}')
    for fragment in fragments:
        expect(fragment in process.said, f'expected {fragment!r} in {process.said}')


def free_port():
    with socket.socket() as any_port:
        any_port.bind(('127.0.0.1', 0))
        return any_port.getsockname()[1]


class Apart(Fleet):
    """Nodes with a folder each, which send their records to the first one: its folder is `folder`."""

    def __init__(self, fleet):
        super().__init__(fleet.kept, fleet.model, fleet.environment)
        self.port = free_port()
        self.secret = os.urandom(16).hex()

    def own(self, rank):
        """The folder of a process."""
        return self.kept / f'own-{rank}' if rank else self.folder

    def start(self, rank, size, *more, environment=(), **others):
        return super().start(rank, size, '-o', self.own(rank), '--send', '--first', f'127.0.0.1:{self.port}', *more,
                             environment=[('PERTOKEN_FLEET_SECRET', self.secret), *dict(environment).items()], **others)

    def kept_by(self, rank):
        """The records in a process's own folder."""
        return {path.parent.name: path.read_bytes() for path in self.own(rank).glob('*/*.json')}


OFFER = """\
[offer]
vendor = Example Compute
reference = Q-1
date = 2026-11-02
currency = USD
accelerator = h200-sxm-141
accelerators = 2 gpu
nodes = 2 node
[guarantee decoding]
model = tinyllama-1.1b
precision = bf16
basis = decode
batch = 2
context = 64
kv = fp8
tokens_per_s = 1 token/s/gpu
[guarantee wide]
model = tinyllama-1.1b
precision = bf16
basis = decode
batch = 4
head = bf16
tokens_per_s = 1 token/s/gpu
[guarantee whole numbers]
model = tinyllama-1.1b
precision = int8
basis = decode
tokens_per_s = 1 token/s/gpu
[guarantee chat]
model = tinyllama-1.1b
precision = bf16
basis = serving
tokens_per_s = 1 token/s/gpu
[acceptance]
tolerance = 2 %
"""


def offered(fleet, *but):
    """Arguments of a fleet that measures what an offer guarantees, except these: no model is given."""
    path = fleet.kept / 'offer.ini'
    parts = OFFER.replace('tinyllama-1.1b', 'tiny').replace('[acc', '[guarantee ]\n[acc').split('[guarantee ')
    path.write_text('[guarantee '.join(part for part in parts if part.partition(']')[0] not in but).replace(
        '[guarantee ]\n', ''))
    at = fleet.model.index('--model')
    fleet.model = (*fleet.model[:at], *fleet.model[at + 2:], '--offer', path)
    return path


def expect_accepted(fleet, path, nodes, *more):
    """The offer's clauses hold for the records of all nodes; on a busy machine, speeds may differ too much to
    judge."""
    answer = run_json('accept', path, *sorted(fleet.folder.glob('n*[0-9]')), *more, '--data', fleet.kept / 'data',
                      statuses=(DONE, 4))
    count, speed = answer['tables']['clauses']['rows']
    expect((count['verdict'], count['measured']) == ('pass', nodes) and speed['measured'] > speed['limit'], f'{count}, {speed}')
    expect(speed['verdict'] == answer['verdict'] in ('pass', 'not enough data'), f'{answer["verdict"]}: {speed}')


def run_all(tests):
    """Runs the functions test_* of a module, and deep_* if all are asked for, each with a fleet of its own; or those
    that are named on the command line.
    """
    count = Count()
    made = {name: test for name, test in tests.items() if name.startswith(('test_', 'deep_') if DEEP else 'test_')}
    for name, test in made.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            model, environment = at_once(Path(folder))
            count.test(name[5:], test, Fleet(folder, model, environment))
    count.finish()
