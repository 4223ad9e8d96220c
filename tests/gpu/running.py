"""running: commands under a budget of time, and what came of each step, kept from call to call."""
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import time

DONE, FAILED, MISSING, PENDING = 'done', 'failed', 'missing', 'pending'
LEFT_OUT = 'skipped'  # what this machine is not for
GRACE_S = 10  # from an interrupt, after which a program has written what it finished, to a kill
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
libc = ctypes.CDLL(None)


class Stopped(Exception):
    """A signal asked the whole check to stop."""


class Outcome:
    """What came of a step. Only done counts as finished: anything else is tried again next time."""

    def __init__(self, status, words='', **data):
        self.status, self.words, self.data = status, words, data


class Budget:
    """Seconds that are left to this call: for its steps, and in all."""

    def __init__(self, seconds, reserve_s):
        self.start, self.reserve_s = time.monotonic(), reserve_s
        self.end = self.start + seconds

    def spent(self):
        return time.monotonic() - self.start

    def left(self):
        return self.rest() - self.reserve_s

    def rest(self):
        return self.end - time.monotonic()


def write_whole(path, text):
    """Never leaves half a file: the new one is put in place at once."""
    new = path.with_name(path.name + '.new')
    with open(new, 'w') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


class State:
    """The steps so far, in a file that is whole whenever the check is killed."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / 'state.json'
        self.identity, self.steps = {}, {}
        if self.path.exists():
            kept = json.loads(self.path.read_text())
            self.identity, self.steps = kept['identity'], kept['steps']

    def save(self):
        write_whole(self.path, json.dumps({'identity': self.identity, 'steps': self.steps}, indent=1))

    def status(self, name):
        return self.steps.get(name, {}).get('status')

    def data(self, name):
        return self.steps.get(name, {}).get('data', {})

    def keep(self, name, outcome, seconds, since_start):
        """since_start: seconds from the check's call to the end of the step."""
        self.steps[name] = {'status': outcome.status, 'words': outcome.words,
                            'seconds': round(seconds, 1), 'since_start': round(since_start, 1),
                            'data': outcome.data,
                            'finished': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}
        self.save()


def die_with_parent():
    """A check that is killed outright leaves no program behind on the device."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def end(process):
    """Ends a program that this check started, and what that started."""
    for number, wait_s in ((signal.SIGINT, GRACE_S), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(wait_s)
            return
        except subprocess.TimeoutExpired:
            continue


class Finished:
    """How a command ended: its status (None when its time was up), its output, its seconds."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds

    def last_line(self):
        lines = [line for line in self.output.strip().splitlines() if line.strip()]
        return lines[-1].strip() if lines else 'no output'


def run(command, limit_s, log=None, environment=None):
    """Runs a command for at most limit_s. Output and errors go to `log` too, after what it holds."""
    start = time.monotonic()
    command = [str(word) for word in command]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True, errors='replace',
                                   start_new_session=True, preexec_fn=die_with_parent,
                                   env={**os.environ, **(environment or {})})
    except OSError as error:
        return Finished(127, f'{command[0]}: {error.strerror}', 0)
    status = None
    try:
        output = process.communicate(timeout=max(limit_s, 0.1))[0]
        status = process.returncode
    except subprocess.TimeoutExpired:
        end(process)
        output = process.communicate()[0]
    finally:
        if process.poll() is None:
            end(process)
    seconds = time.monotonic() - start
    if log:
        with open(log, 'a') as file:
            file.write(f'$ {" ".join(command)}\n{output}[status {status}, {seconds:.1f} s]\n\n')
    return Finished(status, output, seconds)
