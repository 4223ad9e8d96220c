"""What the checks share: running pertoken, and saying how a check ended."""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
MEASURED = ROOT / 'examples' / 'measured'  # they need records, and compare unlike workloads
PLACES = {}  # the arguments that scenarios of a check's own need, by scenario
EXAMPLES = [*sorted((ROOT / 'examples').glob('*.ini')), *sorted(MEASURED.glob('*.ini'))]


def program():
    return ROOT / os.environ.get('PERTOKEN', 'build/pertoken')


class Refused(Exception):
    """pertoken did not accept its input."""


def places(scenario):
    """The arguments that a scenario needs beside its name."""
    if scenario in PLACES:
        return PLACES[scenario]
    if MEASURED in Path(scenario).parents:
        return ['--measurements', ROOT / 'data' / 'measured', '--mixed']
    return []


def simulate(scenario, draws, method, seed):
    """What a simulation of an example finds, as its JSON."""
    line = [program(), 'simulate', scenario, '-q', '--format', 'json', '--draws', str(draws),
            '--method', method, '--seed', seed, *places(scenario)]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def report(scenario, target, arguments=(), command=None, environment=None):
    """Writes a scenario's workbook. Raises Refused for bad input, RuntimeError when it fails otherwise."""
    line = [command or program(), 'report', scenario, '-q', '-o', target, *arguments,
            *places(scenario)]
    done = subprocess.run(line, capture_output=True, text=True, env=environment)
    if done.returncode == 2:
        raise Refused(done.stderr)
    if done.returncode:
        raise RuntimeError(f'pertoken report {scenario} {" ".join(map(str, arguments))}: '
                           f'exit {done.returncode}: {done.stderr.strip()}')
    return target


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(SKIPPED)


def finish(passed, failed, skipped=0):
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    sys.exit(1 if failed else 0)
