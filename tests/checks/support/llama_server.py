"""The real llama-server, serving a random model on loopback; tests/support/llama_server.sh fetches it."""
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from support.program import ROOT, SKIPPED, Skip, expect
from support.random_gguf import F32, write_gguf

FETCH = ROOT / 'tests/support/llama_server.sh'
FOLDER = ROOT / 'build/llama-server'
STARTS_S = 60
FETCHED_S = 180


def program():
    """Its path; fetched once, unless DOWNLOADS=no. Skips if it is not available."""
    path = FOLDER / 'llama-server'
    if path.exists():
        return path
    if os.environ.get('DOWNLOADS') == 'no':
        raise Skip('llama-server is not in build/, and DOWNLOADS=no')
    try:
        done = subprocess.run([FETCH, FOLDER], capture_output=True, text=True, timeout=FETCHED_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise Skip(f'{FETCH.name} takes over {FETCHED_S} s: a slow mirror') from error
    if done.returncode == SKIPPED:
        raise Skip(done.stderr.strip().splitlines()[-1])
    expect(done.returncode == 0, f'{FETCH.name}: {done.stderr}')
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def answers(url, process):
    """Whether the server says that it is ready; also False if it has ended."""
    deadline = time.monotonic() + STARTS_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f'{url}/health', timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False


@contextlib.contextmanager
def llama_server(*arguments, shape='tiny', weights=F32, model=None, key=None):
    """The server's process, with its address as `url`: it ends with the block, and nothing else does."""
    path = program()
    with tempfile.TemporaryDirectory(prefix='pertoken-llama-') as folder:
        if model is None:
            model = Path(folder) / f'random-{shape}.gguf'
            write_gguf(model, shape, weights)
        log = Path(folder) / 'log'
        for _ in range(3):  # another program may take the port first
            port = free_port()
            with open(log, 'wb') as out:
                process = subprocess.Popen(
                    [path, '-m', model, '--host', '127.0.0.1', '--port', str(port), '--metrics', '--offline',
                     *map(str, arguments)], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                    env={**os.environ, **({'LLAMA_API_KEY': key} if key else {})})
            process.url = f'http://127.0.0.1:{port}'
            if answers(process.url, process):
                break
            end(process)
        else:
            raise AssertionError(f'llama-server did not start:\n{log.read_text(errors="replace")[-2000:]}')
        try:
            yield process
        finally:
            end(process)


def end(process):
    """With SIGTERM it would wait for streams that a client still holds open."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait(20)
