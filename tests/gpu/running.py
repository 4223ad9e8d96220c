"""running: commands under a time budget, and the outcome of each step, kept from call to call."""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import time

DONE, FAILED, MISSING, PENDING = 'done', 'failed', 'missing', 'pending'
PARTIAL = 'partial'  # as much as there was time for; the next call goes on
LEFT_OUT = 'skipped'  # not for this machine
STATE_SCHEMA = 2
GRACE_S = 10  # from an interrupt, after which a program has written its results, to a kill
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
libc = ctypes.CDLL(None)


class Stopped(BaseException):
    """A signal requested the whole check to stop. Like KeyboardInterrupt, what handles errors lets it pass."""


class Outcome:
    """The outcome of a step. Only done counts as finished: anything else is tried again next time."""

    def __init__(self, status, words='', **data):
        self.status, self.words, self.data = status, words, data


class Budget:
    """Seconds left to this call: for its steps, and in total."""

    def __init__(self, seconds, reserve_s):
        self.seconds, self.start, self.reserve_s = seconds, time.monotonic(), reserve_s
        self.end = self.start + seconds

    def spent(self):
        return time.monotonic() - self.start

    def left(self):
        return self.rest() - self.reserve_s

    def rest(self):
        return self.end - time.monotonic()


@contextlib.contextmanager
def leaving_nothing(new):
    """If it fails, as on a full disk, the new file does not take room that others need."""
    try:
        yield
    except OSError:
        if new.exists():
            new.unlink()
        raise


def write_whole(path, text):
    """Never leaves half a file: the new one is put in place atomically."""
    new = path.with_name(path.name + '.new')
    with leaving_nothing(new):
        with open(new, 'w') as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)


class Unreadable(Exception):
    """The results kept by an earlier call cannot be used; with a message."""


# The results kept of a step: the type of each entry.
KEPT = {'status': str, 'words': str, 'seconds': (int, float), 'since_start': (int, float), 'data': dict,
        'uuid': str, 'finished': str}


def is_step(kept):
    return isinstance(kept, dict) and all(isinstance(kept.get(name), kind) for name, kind in KEPT.items())


def read_state(path):
    """{'key', 'steps'} of an earlier call."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unreadable(f'{path} cannot be read: {error}') from None
    if not isinstance(kept, dict) or kept.get('schema') != STATE_SCHEMA:
        raise Unreadable(f'{path} is of another version of this check')
    if not isinstance(kept.get('key'), dict) or not isinstance(kept.get('steps'), dict) \
            or not all(is_step(step) for step in kept['steps'].values()):
        raise Unreadable(f'{path} is not what this check writes')
    return kept


class State:
    """The steps so far, in a file that is complete whenever the check is killed. Each is tagged with
    the UUID of the device that it ran on: several of a kind may share a check."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / 'state.json'
        self.key, self.steps, self.uuid = {}, {}, ''
        if self.path.exists():
            kept = read_state(self.path)
            self.key, self.steps = kept['key'], kept['steps']

    def save(self):
        write_whole(self.path, json.dumps({'schema': STATE_SCHEMA, 'key': self.key, 'steps': self.steps},
                                          indent=1))

    def status(self, name):
        return self.steps.get(name, {}).get('status')

    def failed(self, start):
        """Whether a step has failed whose name begins so."""
        return any(name.startswith(start) and kept['status'] == FAILED for name, kept in self.steps.items())

    def data(self, name):
        return self.steps.get(name, {}).get('data', {})

    def is_elsewhere(self, name):
        """Whether the step ran on a device other than the current one."""
        return self.steps.get(name, {}).get('uuid', self.uuid) != self.uuid

    def set_aside(self, name):
        """For a step that each device has: another's result stays under a name with its UUID."""
        kept = self.steps.pop(name)
        self.steps[f'{name} of {kept["uuid"]}'] = kept
        self.save()

    def of_device(self, name, uuid):
        """The data of such a step, of one device."""
        for kept in (self.steps.get(name), self.steps.get(f'{name} of {uuid}')):
            if kept and kept['uuid'] == uuid:
                return kept['data']
        return {}

    def uuids(self):
        """All devices that results are from, in order."""
        return list(dict.fromkeys(step['uuid'] for step in self.steps.values()))

    def keep(self, name, outcome, seconds, since_start):
        """since_start: seconds from the check's call to the end of the step."""
        self.steps[name] = {'status': outcome.status, 'words': outcome.words,
                            'seconds': round(seconds, 1), 'since_start': round(since_start, 1),
                            'data': outcome.data, 'uuid': self.uuid,
                            'finished': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}
        self.save()


def die_with_parent():
    """If a check is killed outright, it leaves no program behind on the device."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def end(process):
    """Ends a program that this check started, and what that one started. False if even a kill does not, as in a
    driver that hangs."""
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(GRACE_S)
            return True
        except subprocess.TimeoutExpired:
            continue
    return False


def rest_of(process, expired):
    """The output of a program whose time is up, after ending it. Who waited for one that cannot be ended would wait
    for ever."""
    if end(process):
        return process.communicate()[0]
    so_far = expired.output or ''
    text = so_far.decode(errors='replace') if isinstance(so_far, bytes) else so_far
    return f'{text}\nit cannot be killed: the driver hangs\n'


class Finished:
    """How a command ended: its status (None if its time was up), its output, its seconds."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds

    def last_line(self):
        lines = [line for line in self.output.strip().splitlines() if line.strip()]
        return lines[-1].strip() if lines else 'no output'


def run(command, limit_s, log=None, environment=None):
    """Runs a command for at most limit_s. Output and errors are also appended to `log`."""
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
    except subprocess.TimeoutExpired as expired:
        output = rest_of(process, expired)
    except BaseException:  # a signal that stops the whole check
        end(process)
        raise
    seconds = time.monotonic() - start
    if log:
        with open(log, 'a') as file:
            file.write(f'$ {" ".join(command)}\n{output}[status {status}, {seconds:.1f} s]\n\n')
    return Finished(status, output, seconds)
