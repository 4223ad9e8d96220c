"""building: builds the programs that a check needs, only for the GPUs in this machine."""
import os
import pathlib
import time

import running
from running import DONE, FAILED, PENDING, Outcome

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLUGINS = ROOT / 'build' / 'lib' / 'pertoken'
SET_UP = ROOT / 'tests' / 'support' / 'setup.sh'
SET_UP_LIMIT_S = 120  # without a network the package manager may wait for one
SOURCES = ('kernels', 'probe', 'model')
SUFFIXES = ('.c', '.h', '.cu', '.S')


def is_new_enough(probe):
    """Built after its newest source; a folder of binaries alone has no sources to be compared
    with."""
    plugins = list(PLUGINS.glob('*.so'))
    if not probe.exists() or not plugins:
        return False
    sources = [path for name in SOURCES for path in (ROOT / name).rglob('*') if path.suffix in SUFFIXES]
    return not sources or min(path.stat().st_mtime for path in (probe, *plugins)) >= max(
        path.stat().st_mtime for path in sources)


def make(budget, log):
    """Builds what can be built: a GPU's kernels need none of the libraries that the probe may
    lack."""
    jobs = len(os.sched_getaffinity(0))
    command = ['make', '-C', ROOT, '--keep-going', f'-j{jobs}', 'GPU=here', 'gpu-programs']
    return running.run(command, budget.left(), log)


def said_of(set_up):
    """Why setup failed, and what to install by hand."""
    if set_up.status is None:
        return f'setup: nothing came of it in {set_up.seconds:.0f} s'
    return set_up.output[max(set_up.output.rfind('setup: '), 0):].strip()


def build(budget, log, say):
    """The outcome. Packages are asked for only when the build fails without them."""
    start = time.monotonic()
    made = make(budget, log)
    if made.status not in (0, None):
        say(f'building: failed after {made.seconds:.0f} s; setting up what may be missing')
        set_up = running.run([SET_UP, 'build'], min(budget.left(), SET_UP_LIMIT_S), log)
        if set_up.status == 0:
            made = make(budget, log)
        else:
            say(said_of(set_up))
    seconds = time.monotonic() - start
    if made.status == 0:
        return Outcome(DONE, f'built in {seconds:.0f} s', seconds=seconds)
    if made.status is None:
        return Outcome(PENDING, 'stopped by the budget; call again to go on', seconds=seconds)
    return Outcome(FAILED, f'it failed (see {log}): programs that are here already may be older than '
                           'their sources', seconds=seconds)
