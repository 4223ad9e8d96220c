"""Code shared by the check scripts: the programs and how they are run, expectations, and the count.

A script counts what it checks in a Count: single statements (`check`) or whole tests (`test`), and ends with
`finish`, whose line tests/run reads; `run_tests` does both for all functions test_x. PERTOKEN and PROBE name other
programs than those in build/, relative to the repository's root.
"""
import csv
import functools
import io
import json
import os
import pty
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PERTOKEN = ROOT / os.environ.get('PERTOKEN', 'build/pertoken')
PROBE = ROOT / os.environ.get('PROBE', 'build/pertoken-probe')
DONE, NO, BAD_INPUT, MACHINE_FAILED = range(4)
SKIPPED = 77
DEEP = os.environ.get('PERTOKEN_TESTS') == 'deep'  # all cases instead of the most informative ones (tests/README.md)
TIMEOUT_S = 120
END = b'\0end of what was printed\0'


class Skip(Exception):
    """What this machine or this build cannot check."""


# ---- running

def settings(changes):
    """The environment of a run; a variable that changes to None is not set."""
    merged = {**os.environ, 'LC_ALL': 'C.UTF-8', 'COLUMNS': '80', **(changes or {})}
    return {name: str(value) for name, value in merged.items() if value is not None}


def skip_without_charts(status, said):
    """Without npm's registry a build has no page."""
    text = said.decode(errors='replace') if isinstance(said, bytes) else said or ''
    if status == MACHINE_FAILED and "built without the page's charts" in text:
        raise Skip("built without the page's charts")


def run(*arguments, program=PERTOKEN, environment=None, **options):
    """The result of subprocess.run for a program without input, with its output as text; Skip if it would need what
    this build lacks.
    """
    usual = {'cwd': ROOT, 'timeout': TIMEOUT_S, 'encoding': 'utf-8', 'stdin': subprocess.DEVNULL,
             'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    done = subprocess.run([program, *map(str, arguments)], env=settings(environment), **{**usual, **options})
    skip_without_charts(done.returncode, done.stderr)
    return done


def refuse_constant(text):
    raise AssertionError(f'{text} is no JSON')


def run_json(*arguments, statuses=(DONE,), **options):
    """The JSON that pertoken prints with `-q --format json`."""
    done = run(*arguments, '-q', '--format', 'json', **options)
    expect(done.returncode in statuses, f'{arguments}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout, parse_constant=refuse_constant)


def expect_model_checks(path, option, names):
    """Those of these checks of the cost model that the option has are zero; returns them."""
    found = []
    for name in names:
        done = run('explain', path, f'{option}.check_{name}', '-q', '--format', 'json')
        if done.returncode == DONE:
            found.append(name)
            value = json.loads(done.stdout)['derivation']['value']
            expect(abs(value) < 1e-9, f'check_{name}: {value}')
    return found


def run_csv(*arguments, statuses=(DONE,), **options):
    """The rows that pertoken prints with `-q --format csv`, by column name."""
    done = run(*arguments, '-q', '--format', 'csv', encoding=None, **options)
    expect(done.returncode in statuses, f'{arguments}: exit {done.returncode}: {done.stderr.decode()}')
    expect(b'\r' not in done.stdout, 'lines of CSV must end in LF alone')
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def terminal(command, changes, stdin=None, stderr=None, typed=b'', cwd=ROOT, by_key=False):
    """(exit status, text) of a command whose output is a terminal; streams that are not given are that terminal,
    too.

    by_key: the terminal passes on every key, as to a program that reads keys itself, and does no line editing.
    """
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        raise Skip(f'there are no terminals here: {error}') from error
    if by_key:
        modes = termios.tcgetattr(theirs)
        modes[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        termios.tcsetattr(theirs, termios.TCSANOW, modes)
    process = subprocess.Popen([str(word) for word in command], cwd=cwd, env=settings(changes),
                               stdin=theirs if stdin is None else stdin, stdout=theirs,
                               stderr=theirs if stderr is None else stderr)
    ended = threading.Thread(target=mark_end, args=(process, theirs))
    ended.start()
    os.write(ours, typed)
    text = b''
    while not text.endswith(END):
        text += os.read(ours, 65536)
    ended.join()
    os.close(ours)
    os.close(theirs)
    return process.returncode, text.removesuffix(END).decode(errors='replace').replace('\r\n', '\n')


def mark_end(process, output):
    """Writes END once the process has ended: a terminal closed by all may lose what it has not passed on."""
    try:
        process.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    os.write(output, END)


def on_terminal(*arguments, program=PERTOKEN, environment=None, statuses=(DONE,), stderr=subprocess.DEVNULL):
    """What a program prints on a terminal, which has colors unless the environment says no.

    stderr: subprocess.STDOUT for a terminal that gets both.
    """
    changes = {'TERM': 'xterm', 'NO_COLOR': None, 'COLUMNS': None, **(environment or {})}
    status, text = terminal([program, *arguments], changes, subprocess.DEVNULL, stderr)
    expect(status in statuses, f'{arguments} on a terminal: exit {status}')
    return text


def asked(*arguments, answers, environment=None, cwd=ROOT, by_key=False):
    """(exit status, text) of pertoken if these lines are typed on its terminal, and the input then ends."""
    typed = ''.join(f'{answer}\n' for answer in answers).encode(errors='surrogateescape') + b'\x04'
    return terminal([PERTOKEN, *arguments], {'TERM': 'dumb', **(environment or {})}, typed=typed, cwd=cwd,
                    by_key=by_key)


def table(name):
    """The rows of a shipped table by their ids."""
    with open(ROOT / 'data' / f'{name}.csv', encoding='utf-8', newline='') as file:
        return {row['id']: row for row in csv.DictReader(file)}


# ---- expectations

def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_exit(done, status, *fragments):
    """Checks a run's exit status, and what it must have printed."""
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
        """Counts a statement; reports which one failed."""
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        if not condition:
            print(f'FAILED {name}: {detail}', flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f'skip {name}: {reason}', flush=True)

    def test(self, name, test, *arguments):
        """Counts a function that raises what it finds; reports how long it took."""
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

    def tests_in_folders(self, script, place=Path):
        """The same, each with an empty folder of its own, or what `place` makes of it."""
        def in_folder(test):
            with tempfile.TemporaryDirectory() as folder:
                test(place(Path(folder)))
        self.tests({name: functools.partial(in_folder, test) for name, test in script.items() if name.startswith('test_')})

    def finish(self):
        """The last line, and the exit status: failed also if nothing was checked."""
        print(f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped')
        sys.exit(1 if self.failed or not self.passed + self.skipped else 0)


def skip_all(reason):
    print(f'skipped: {reason}')
    sys.exit(SKIPPED)


def run_tests(script, **tables):
    """Runs a whole script: its functions test_x, with a folder that they share and that is removed afterwards; then
    each row of its tables: what they are about = (rows, test), which gets the folder and the row's name.
    """
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        count.tests(script, Path(folder))
        for about, (rows, test) in tables.items():
            for name in rows:
                count.test(f'{about}: {name}', test, Path(folder), name)
    count.finish()
