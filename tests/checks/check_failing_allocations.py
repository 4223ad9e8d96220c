#!/usr/bin/python3
"""When memory runs out: exit 0 with the same output, or exit 3 with a message; never a crash, never half an
answer.

    check_failing_allocations.py [COMMAND...]

A library in front of malloc (tests/stand_ins/fake/short_memory.c) makes one allocation of a run fail, or that
one and all later ones: the n-th, for values of n from the first to the last, at growing distances. PERTOKEN
names the program.
Deep: 120 places in each command instead of 14.
Seconds: 4, deep 30
"""
import os
import pathlib
import sys
import tempfile

from support.program import Count, DEEP, DONE, MACHINE_FAILED, NO, PERTOKEN, expect, expect_exit, run, skip_all

SHORT = PERTOKEN.parent / 'tests' / 'fake' / 'short_memory.so'
PLACES = 120 if DEEP else 14
EXAMPLE = 'examples/uncertainty.ini'
COMMANDS = {
    'compare json': ('compare', EXAMPLE, '--format', 'json'),
    'compare csv': ('compare', EXAMPLE, '--format', 'csv'),
    'report': ('report', EXAMPLE, '--draws', '256', '-o', 'out.xlsx'),
    'page': ('page', EXAMPLE, '-o', 'out.html'),
    'simulate part': ('simulate', EXAMPLE, '--draws', '64', '--shard', '1/2'),
    'route': ('route', 'examples/portfolio.ini'),
    'audit': ('audit', 'examples/claims/scorecard-31-19.ini', '--format', 'json'),
}


def run_short(which, command, folder):
    arguments = [folder / part if part.startswith('out.') else part for part in command]
    environment = {'LD_PRELOAD': SHORT, 'FAILING_ALLOCATION': which, 'OMP_NUM_THREADS': 2}
    return run(*arguments, '-q', environment=environment)


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.glob('out.*') if path.suffix in ('.xlsx', '.html')}


def places(total):
    """From the first to the last, at growing distances."""
    return sorted({round(total ** (i / (PLACES - 1))) for i in range(PLACES)})


def test_command(folder, command):
    whole = run_short(0, command, folder)
    expect_exit(whole, whole.returncode, 'allocations: ')
    expect(whole.returncode in (DONE, NO), whole.stderr)
    written, total = outputs(folder), int(whole.stderr.rpartition('allocations: ')[2])
    reached = 0
    for number in places(total):
        for which in (number, -number):
            done = run_short(which, command, folder)
            where = f'allocation {which} of {total}'
            if done.returncode == MACHINE_FAILED:
                reached += 1
                expect(done.stderr.endswith('pertoken: out of memory\n'), f'{where}: {done.stderr}')
            else:
                expect(done.returncode == whole.returncode, f'{where}: exit {done.returncode}: {done.stderr}')
                expect(done.stdout == whole.stdout, f'{where}: another output')
            expect(outputs(folder) == written, f'{where}: another file')
    expect(reached >= len(places(total)) // 2, f'{reached} failures were noticed')


def main():
    count = Count()
    if not SHORT.exists():
        skip_all(f'{SHORT} is not built')
    os.environ['SOURCE_DATE_EPOCH'] = '1790000000'
    for name, command in COMMANDS.items():
        if not sys.argv[1:] or any(part in name for part in sys.argv[1:]):
            with tempfile.TemporaryDirectory() as folder:
                count.test(name, test_command, pathlib.Path(folder), command)
    count.finish()


if __name__ == '__main__':
    main()
