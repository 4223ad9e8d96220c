"""Code shared by the checks of workbooks: the examples, and their workbooks and simulations."""
from pathlib import Path

from support.program import BAD_INPUT, PERTOKEN, ROOT, run, run_json

MEASURED = ROOT / 'examples' / 'measured'  # they need records, and compare different workloads
EXAMPLES = [*sorted((ROOT / 'examples').glob('*.ini')), *sorted(MEASURED.glob('*.ini'))]
# Their workbooks are for reading: of the sheets that the others have, with few inputs of their own.
FOR_READING = [*sorted((ROOT / 'examples/studies').glob('*.ini')),
               *sorted((ROOT / 'examples/acceptance').glob('quoted*.ini'))]
PLACES = {}  # the arguments that scenarios of a check's own need, by scenario


class Refused(Exception):
    """pertoken did not accept its input."""


def places(scenario):
    """The arguments that a scenario needs in addition to its name."""
    if scenario in PLACES:
        return PLACES[scenario]
    if MEASURED in Path(scenario).parents:
        return ['--measurements', ROOT / 'data' / 'measured', '--mixed']
    return []


def simulate(scenario, draws, method, seed):
    """The results of simulating an example, as its JSON."""
    return run_json('simulate', scenario, '--draws', draws, '--method', method, '--seed', seed,
                    *places(scenario))


def report(scenario, target, arguments=(), command=PERTOKEN, environment=None):
    """Writes a scenario's workbook. Raises Refused for bad input, RuntimeError if it fails otherwise."""
    done = run('report', scenario, '-q', '-o', target, *arguments, *places(scenario),
               program=command, environment=environment, timeout=None)
    if done.returncode == BAD_INPUT:
        raise Refused(done.stderr)
    if done.returncode:
        raise RuntimeError(f'pertoken report {scenario} {" ".join(map(str, arguments))}: '
                           f'exit {done.returncode}: {done.stderr.strip()}')
    return target
