"""tests/gpu/check with stand-ins for the programs that it starts (tests/stand_ins/gpu_check); their GPU exists in name
only.
"""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import Count, DEEP, ROOT, expect, run  # noqa: E402

sys.path.insert(0, str(ROOT / 'tests' / 'gpu'))

CHECK = ROOT / 'tests' / 'gpu' / 'check'
STAND_INS = ROOT / 'tests' / 'stand_ins' / 'gpu_check'
FAILED, UNFINISHED = 1, 3
TIMEOUT_S = 240

# What the probe's stand-in does: in a file beside it, so that a test can change it between two calls.
PLAN = {'device': 'NVIDIA H200', 'uuid': 'GPU-', 'memory_bytes': 141e9, 'build': 'kernels', 'gpus': 1,
        'no_exchange': '', 'wrong': [], 'untold': [], 'error': 2e-3, 'others': None, 'flags': {},
        'bandwidth': [4.5e12, 4.47e12, 4.47e12, 4.47e12], 'seconds': 0.02, 'held': 0, 'load_w': 400.0,
        'check_status': 0, 'too_deep': [], 'unknown': [],
        'shares': {'llama-3.1-8b bf16 1 512': 0.95, 'llama-3.1-8b fp8 1 512': 0.84, 'llama-2-70b fp8 1 512': 0.90,
                   'llama-2-70b fp8 64 4096': 0.80}}


class Rehearsal:
    """A stand-in for the probe in a folder, and checks run with it."""

    def __init__(self, folder, **changes):
        self.folder, self.out = folder, folder / 'out'
        self.probe = pathlib.Path(shutil.copy(STAND_INS / 'probe', folder))
        self.plan(**changes)

    def ladder(self):
        return ('--ladder', shutil.copy(STAND_INS / 'ladder', self.folder))

    def peer(self):
        """A Python with PyTorch, by its output alone."""
        return ('--peer-python', shutil.copy(STAND_INS / 'peer', self.folder))

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


def stand_in(path, text):
    """A program that is a shell script."""
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)


def in_folder(test):
    with tempfile.TemporaryDirectory(prefix='pertoken-gpu-check-') as folder:
        test(pathlib.Path(folder))


def run_all(quick, more):
    """Runs the quick tests, and in the deep run the others, each in a folder of its own."""
    count = Count()
    for test in quick + (more if DEEP else []):
        count.test(test.__name__, in_folder, test)
    count.finish()
