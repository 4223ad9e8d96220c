"""What the check scripts share: the programs and how they are run, what is expected, and the count.

A script counts what it checks in a Count: single statements (`check`) or whole tests (`test`), and
ends with `finish`, whose line tests/run reads. PERTOKEN and PROBE name other programs than those in
build/, from the repository's root.
"""
import csv
import io
import json
import os
import pty
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PERTOKEN = ROOT / os.environ.get('PERTOKEN', 'build/pertoken')
PROBE = ROOT / os.environ.get('PROBE', 'build/pertoken-probe')
DONE, NO, BAD_INPUT, MACHINE_FAILED = range(4)
SKIPPED = 77
DEEP = os.environ.get('PERTOKEN_TESTS') == 'deep'  # all cases, not those that show most (tests/README.md)
TIMEOUT_S = 120


class Skip(Exception):
    """What this machine or this build cannot check."""


# ---- running

def settings(changes):
    """The environment of a run; a variable that changes to None is not set."""
    merged = {**os.environ, 'LC_ALL': 'C.UTF-8', 'COLUMNS': '80', **(changes or {})}
    return {name: str(value) for name, value in merged.items() if value is not None}


def run(*arguments, program=PERTOKEN, environment=None, **options):
    """What subprocess.run says of a program that is given nothing to read, with its output as text."""
    usual = {'cwd': ROOT, 'timeout': TIMEOUT_S, 'encoding': 'utf-8', 'stdin': subprocess.DEVNULL,
             'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    return subprocess.run([program, *map(str, arguments)], env=settings(environment),
                          **{**usual, **options})


def refuse_constant(text):
    raise AssertionError(f'{text} is no JSON')


def run_json(*arguments, statuses=(DONE,), **options):
    """The JSON that pertoken prints with `-q --format json`."""
    done = run(*arguments, '-q', '--format', 'json', **options)
    expect(done.returncode in statuses, f'{arguments}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout, parse_constant=refuse_constant)


def run_csv(*arguments, **options):
    """The rows that pertoken prints with `-q --format csv`, by their columns' names."""
    done = run(*arguments, '-q', '--format', 'csv', encoding=None, **options)
    expect(done.returncode == DONE, f'{arguments}: exit {done.returncode}: {done.stderr.decode()}')
    expect(b'\r' not in done.stdout, 'lines of CSV must end in LF alone')
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def on_terminal(*arguments, program=PERTOKEN, environment=None, statuses=(DONE,), stderr=subprocess.DEVNULL):
    """What a program prints on a terminal, which knows colours unless the environment says no.

    stderr: subprocess.STDOUT for a terminal that gets both.
    """
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        raise Skip(f'there are no terminals here: {error}') from error
    changes = {'TERM': 'xterm', 'NO_COLOR': None, 'COLUMNS': None, **(environment or {})}
    process = subprocess.Popen([program, *map(str, arguments)], cwd=ROOT, env=settings(changes),
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=stderr)
    os.close(theirs)
    text = b''
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    expect(process.wait(TIMEOUT_S) in statuses, f'{arguments} on a terminal: exit {process.returncode}')
    return text.decode().replace('\r\n', '\n')


def table(name):
    """The rows of a shipped table by their ids."""
    with open(ROOT / 'data' / f'{name}.csv', encoding='utf-8', newline='') as file:
        return {row['id']: row for row in csv.DictReader(file)}


# ---- what is expected

def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_exit(done, status, *fragments):
    """Exit status of a run, and what it must have printed."""
    printed = f'{done.stdout}{done.stderr}'
    expect(done.returncode == status, f'exit {done.returncode}, expected {status}\n{printed}')
    for fragment in fragments:
        expect(fragment in printed, f'expected {fragment!r} in\n{printed}')


def near(one, two, relative=1e-9):
    return abs(one - two) <= relative * max(abs(one), abs(two), 1e-300)


# ---- counting

class Count:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def check(self, name, condition, detail=''):
        """Counts a statement; says which failed."""
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        if not condition:
            print(f'FAILED {name}: {detail}', flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f'skip {name}: {reason}', flush=True)

    def test(self, name, test, *arguments):
        """Counts a function that raises what it finds; says how long it took."""
        began = time.monotonic()
        try:
            test(*arguments)
        except (Skip, ModuleNotFoundError) as reason:
            self.skip(name, reason)
        except Exception as error:
            known = isinstance(error, AssertionError)
            self.check(name, False, error if known else traceback.format_exc())
        else:
            self.check(name, True)
            print(f'ok   {name} {time.monotonic() - began:.1f} s', flush=True)

    def tests(self, script, *arguments):
        """Each function test_x of a script's globals, or those whose names contain one of argv's words."""
        for name, test in script.items():
            if name.startswith('test_') and (not sys.argv[1:] or any(word in name for word in sys.argv[1:])):
                self.test(name[5:], test, *arguments)

    def finish(self):
        """The last line, and the exit status: failed, too, when nothing was checked."""
        print(f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped')
        sys.exit(1 if self.failed or not self.passed + self.skipped else 0)


def skip_all(reason):
    print(f'skipped: {reason}')
    sys.exit(SKIPPED)
