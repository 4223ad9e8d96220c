#!/usr/bin/python3
"""Measures servers with `pertoken probe serving`, the way a buyer does: llama-server, and one that misbehaves.

    check_serving.py [NAME...]

The scripted server (tests/stand_ins/engine) does what its path says. llama-server serves random models; the command's
results are compared with the server's own counters and timings. Times are judged if the machine kept time: if other
programs interfere, a test has three attempts, then it is skipped.
Deep: longer windows of llama-server, so that rates and latencies agree with its own within 2 %.
Seconds: 105
"""
import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

from support.llama_server import llama_server
from support.program import (BAD_INPUT, Count, DEEP, DONE, MACHINE_FAILED, NO, PROBE, ROOT, Skip, expect, expect_exit, near,
                             run)
from support.random_gguf import F16

ENGINE = PROBE.parent / 'tests' / 'engine'
MACHINE = ('--accelerator', 'cpu', '--accelerators', 1, '--precision', 'bf16', '--model', 'tinyllama-1.1b')
LENGTHS = ('--input', 32, '--output', 16)
QUICK = (*MACHINE, *LENGTHS, '--time', 1)
SCRIPT = 'ttft=20,tpot=5'  # 95 ms per request, 168 token/s each


TRIES = 3
WAITED_AT_MOST, LATE_AT_MOST_S = 0.1, 1e-3


@contextlib.contextmanager
def stand_in():
    """The scripted server's process, with its address as `url`."""
    process = subprocess.Popen([ENGINE], stdout=subprocess.PIPE, text=True)
    try:
        process.url = f'http://127.0.0.1:{int(process.stdout.readline())}'
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def engine():
    with stand_in() as process:
        yield process.url


def got_its_processor(process):
    """Whether a process was rarely ready without a processor; true if the kernel does not count that."""
    ran = waited = 0
    for path in pathlib.Path(f'/proc/{process.pid}/task').glob('*/schedstat'):
        with contextlib.suppress(OSError):
            ran, waited = (sum(pair) for pair in zip((ran, waited), map(int, path.read_text().split())))
    return waited <= WAITED_AT_MOST * (ran + waited)


def kept_time(server):
    """Whether the scripted server sent everything when it was due."""
    with urllib.request.urlopen(f'{server.url}/lateness', timeout=60) as answer:
        return json.load(answer)['p99'] <= LATE_AT_MOST_S and got_its_processor(server)


def until_it_holds(attempt):
    """attempt() returns what is wrong by the clock, '' for nothing, and whether the machine kept time."""
    for _ in range(TRIES):
        off, kept = attempt()
        if not off:
            return
        expect(not kept, off)
        print(f'     on a busy machine: {off}')
    raise Skip('this machine is too busy to keep time')


def serving(url, *options, key=None, **more):
    environment = {'PERTOKEN_API_KEY': key, **more.pop('environment', {})}
    return run('serving', url, *options, program=PROBE, environment=environment, **more)


def record_in(folder):
    paths = list(pathlib.Path(folder).glob('*.json'))
    expect(len(paths) == 1, f'one record expected, found {paths}')
    return json.loads(paths[0].read_text())


def timed(script, *options, status=DONE, key=None):
    """The record of a run against the scripted server, its output, and whether the machine kept time."""
    with stand_in() as server, tempfile.TemporaryDirectory() as folder:
        done = serving(f'{server.url}/{script}', *QUICK, *options, '-o', folder, key=key)
        expect_exit(done, status)
        return record_in(folder), done, kept_time(server)


def measured(script, *options, **more):
    return timed(script, *options, **more)[:2]


def refused(script, reason, *options):
    record, done = measured(script, '--concurrency', 2, *options, status=NO)
    rung, = record['rungs']
    expect(reason in rung['refused'], f'refused for {rung["refused"]!r}, expected {reason!r}')
    expect(rung['output_tokens_per_s'] is None and rung['ttft']['mean_s'] is None,
           'a refused rung has figures')
    expect(reason in done.stdout, f'{reason!r} is not told in\n{done.stdout}')


# ---- a server that follows its script

def test_record():
    record, done = measured(SCRIPT, '--concurrency', '1,4')
    expect([rung['concurrency'] for rung in record['rungs']] == [1, 4], 'other rungs')
    expect((record['engine'], record['served_model'], record['model'], record['prompts'])
           == ('vLLM', 'stand-in', 'tinyllama-1.1b', 'token ids, completions'), record)
    expect(record['grade'] == 'projected' and 'not of 60 s' in record['remarks'], 'a short window is told')
    expect(f'graded projected: {record["remarks"]}' in done.stdout, done.stdout)
    for rung in record['rungs']:
        expect(not rung['refused'] and rung['server_counters'].startswith('agree'), rung)
        expect((rung['input_tokens'], rung['output_tokens']) == (32, 16), 'lengths')
        expect(rung['power']['source'].startswith('none: '), 'watts from nowhere')
        requests = rung['output_tokens_per_s'] * rung['window_s'] / 16
        expect(abs(requests - rung['completed']) < rung['concurrency'] + 0.5, f'{requests} requests: {rung}')
    expect('at most' in done.stderr and 'requests' in done.stderr, 'the number of requests is not told')
    expect(done.stdout.index('1 in flight') < done.stdout.index('4 in flight'), done.stdout)


def test_doubling_ends_at_saturation():
    def attempt():
        record, _, kept = timed(SCRIPT + ',slots=2')
        if refusals := [rung['refused'] for rung in record['rungs'] if rung['refused']]:
            return f'refused: {refusals}', kept
        rates = [rung['output_tokens_per_s'] for rung in record['rungs']]
        growth = [more / less for less, more in zip(rates, rates[1:])]
        expect([rung['concurrency'] for rung in record['rungs']] == [2 ** i for i in range(len(rates))], 'not doubled')
        expect(all(step >= 1.03 for step in growth[:-1]) and growth[-1] < 1.03, f'it grew by {growth}')
        return '' if 3 <= len(rates) <= 5 else f'2 slots were full after {len(rates)} doublings', kept
    until_it_holds(attempt)


def test_goodput():
    def attempt():
        record, done, kept = timed(SCRIPT + ',slots=2', '--concurrency', '1,2', '--slo', 'ttft 1 s, tpot 50 ms',
                                   '--rate', '60 %,400 %')
        expect([rung['load'] for rung in record['rungs'][2:]] == ['Poisson arrivals'] * 2, 'no arrivals')
        slow, fast = record['rungs'][2:]
        expect(fast['request_rate'] > slow['request_rate'], 'rates')
        if slow['refused'] or not near(slow['goodput_per_s'] * slow['window_s'], slow['completed']):
            return f'a slow rate keeps the SLO: {slow}', kept
        return '' if f"{slow['request_rate']:.3g} requests/s, the highest" in done.stdout else done.stdout, kept
    until_it_holds(attempt)


# Script, and the TPOT in ms; None: there is none, as the text comes all at once.
STREAMS = (
    ('ttft=20,tpot=5', 5),
    ('ttft=20,tpot=5,finish=60', 5),       # the reason for the end comes late
    ('ttft=60,tpot=0', None),              # a finished answer in chunks of a token
    ('ttft=60,per_chunk=16', None),        # and in one
    ('ttft=60,per_chunk=16,finish=1', None),
    ('ttft=60,tpot=0,finish=60', None),
)


def test_text_all_at_once():
    """It has no time from token to token, whenever the stream then ends, and meets no limit on it."""
    for script, tpot_ms in STREAMS:
        def attempt():
            record, done, kept = timed(script, '--concurrency', 1, '--speculation', 'none', '--slo', 'tpot 50 ms', '--rate', 40)
            for rung in record['rungs']:
                told, good, count = rung['tpot']['p50_s'], rung['goodput_per_s'], rung['tpot_requests']
                is_right = (told is good is None and not count if tpot_ms is None else
                            told and abs(1e3 * told - tpot_ms) < 0.1 * tpot_ms and good)
                if not is_right:
                    return f'{script}: a TPOT of {told} s in {count} requests, goodput {good}', kept
            expect(('no TPOT is given' in done.stdout) == (tpot_ms is None), done.stdout)
            return '', kept
        until_it_holds(attempt)


def test_tokens_of_the_first_chunk():
    """16 tokens in chunks of 5: TPOT is over 15 of them, of which the first chunk has 4."""
    words = r'chunks hold (4|4\.\d|3\.9) tokens, so TPOT, as clients define it, is too low'
    for script, is_low in ((f'{SCRIPT},per_chunk=5', True), (SCRIPT, False)):
        def attempt():
            with stand_in() as server, tempfile.TemporaryDirectory() as folder:
                done = serving(f'{server.url}/{script}', *QUICK, '--concurrency', 2, '-o', folder)
                path, = pathlib.Path(folder).glob('*.json')
                said = {'warning': done.stderr, 'table': done.stdout, 'served': ' '.join(run('served', path).stdout.split())}
                expect(('TPOT is too low' in record_in(folder)['remarks']) == is_low, record_in(folder)['remarks'])
                off = [where for where, text in said.items() if bool(re.search(words, text)) != is_low]
                return f'{script}: {off}: {said}' if off else '', kept_time(server)
        until_it_holds(attempt)


def test_prompts_that_wait():
    """Twice as many requests as two slots can answer: a prompt does not count while it waits."""
    record, _ = measured(f'{SCRIPT},slots=2', '--concurrency', 1, '--rate', 40)
    for rung in record['rungs']:
        expect(near(rung['input_tokens_per_s'], 2 * rung['output_tokens_per_s'], 1e-6), rung)


def test_fallbacks():
    for script, prompts in (('no_ids=1', 'words, completions'), ('chat_only=1', 'words, chat'),
                            ('rejects=min_tokens', 'token ids, completions, without min_tokens'),
                            ('rejects=ignore_eos', 'token ids, completions, without ignore_eos')):
        record, done = measured(f'{SCRIPT},{script}', '--concurrency', 2)
        rung, = record['rungs']
        expect(record['prompts'] == prompts, record['prompts'])
        expect(rung['input_tokens'] == 32 and not rung['refused'], rung)
        expect('without' not in prompts or 'does not take' in done.stderr, done.stderr)


def test_sglang_states_its_version():
    """Under the path of today, and under the one that earlier versions have."""
    for script, version in (('engine=sglang', '0.5.18'), ('engine=sglang,old=1', '0.4.6')):
        record, _ = measured(f'{SCRIPT},{script}', '--concurrency', 1)
        expect((record['engine'], record['engine_version']) == ('SGLang', version), record)


# Script, options, the record's speculation and tokens a step, and what is warned of. 16 tokens in chunks of 3 are 6 steps.
UNKNOWN = 'whether the server speculates is unknown, as its chunks hold several tokens'
NAMELESS = 'by its counters the server speculates, 2.67 tokens a step: name the method with --speculation METHOD'
SPECULATING = (
    ('per_chunk=3,speculates=1', (), 'unnamed', 16 / 6, NAMELESS),
    ('per_chunk=3,speculates=1', ('--speculation', 'mtp'), 'mtp', 16 / 6, None),
    ('per_chunk=3,speculates=1', ('--speculation', 'none'), 'unnamed', 16 / 6, NAMELESS),
    ('per_chunk=1,speculates=1', (), 'unnamed', 1, 'speculates, 1 tokens a step'),
    ('engine=sglang,per_chunk=3,speculates=1', (), 'EAGLE3', 16 / 6, None),
    ('per_chunk=3', (), '', None, UNKNOWN),
    ('per_chunk=3', ('--speculation', 'none'), '', None, None),
    ('per_chunk=3', ('--speculation', 'ngram'), 'ngram', None, None),
    ('per_chunk=1', (), '', None, None),
)


def test_speculation():
    """As stated, as the server reports it, or asked for where chunks hold several tokens."""
    for script, options, speculation, length, warning in SPECULATING:
        record, done = measured(f'{SCRIPT},{script}', '--concurrency', 2, *options)
        rung, = record['rungs']
        expect(record['speculation'] == speculation, (script, options, record['speculation']))
        expect(rung['accepted_length'] is length is None or near(rung['accepted_length'], length), (script, rung))
        expect(warning in done.stderr if warning else '--speculation METHOD' not in done.stderr, (script, options, done.stderr))
        expect((UNKNOWN in record['remarks']) == (warning == UNKNOWN), record['remarks'])


def test_usage_in_a_chunk_of_its_own():
    record, _ = measured(SCRIPT + ',usage=own,per_chunk=5', '--concurrency', 2)
    expect(record['rungs'][0]['output_tokens'] == 16, 'chunks were counted')


def test_refusals():
    refused(SCRIPT + ',usage=none', 'no usage')
    refused(SCRIPT + ',tokens=9', 'answers had 9 to 9 tokens instead of 16')
    refused(SCRIPT + ',prompt=40', 'prompts had 40 to 40 tokens instead of 32')
    refused(SCRIPT + ',cached=8', '25.0 % of the prompts')
    refused(SCRIPT + ',limit=1', 'requests failed: HTTP 503: overloaded')
    refused(SCRIPT + ',status=429,every=9', 'HTTP 429')
    refused(SCRIPT + ',reset_after=4,every=9', 'requests failed')
    if DEEP:
        with engine() as url, tempfile.TemporaryDirectory() as folder:
            expect_exit(serving(f'{url}/{SCRIPT},endless=1', *QUICK, '--limit', 2, '-o', folder), BAD_INPUT,
                        'the first request failed: it did not end within 2 s')


def test_counters_that_differ_are_told():
    record, done = measured(SCRIPT + ',counters=2', '--concurrency', 1)
    expect(record['rungs'][0]['server_counters'].startswith('differ'), 'twice as many tokens agree')
    expect('differ: ' in done.stdout, done.stdout)


def test_node():
    """A record names its node as given, or by Slurm where the server is; two nodes share a folder."""
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        command = (f'{url}/{SCRIPT}', *QUICK, '--concurrency', 1, '-o', folder)
        for more, by_slurm, wanted in (((), None, ''), (('--node', 'node-07'), 'node-08', 'node-07'),
                                       ((), 'node-08', 'node-08')):
            before = set(pathlib.Path(folder).iterdir())
            expect_exit(serving(*command, *more, environment={'SLURMD_NODENAME': by_slurm}), DONE)
            path, = set(pathlib.Path(folder).iterdir()) - before
            found = json.loads(path.read_text())['node']
            expect(found == wanted, f'node {found!r}, not {wanted!r}')


def test_prompts_differ_and_the_seed_repeats_them():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        for name, seed in (('a', 1), ('b', 1), ('c', None)):
            options = ('--seed', seed) if seed else ()
            expect_exit(serving(f'{url}/{SCRIPT}', *QUICK, '--concurrency', '1,2', *options, '-o', f'{folder}/{name}'),
                        DONE)
        seeds = {name: [rung['seed'] for rung in record_in(f'{folder}/{name}')['rungs']] for name in 'abc'}
        expect(seeds['a'] == seeds['b'] != seeds['c'], seeds)
        expect(len(set(seeds['a'] + seeds['c'])) == 4, 'two rungs have the same prompts')


# ---- interruptions

def test_resume():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        command = (f'{url}/{SCRIPT}', *QUICK, '-o', folder)
        expect_exit(serving(*command, '--concurrency', '1,2'), DONE)
        first = record_in(folder)
        expect_exit(serving(*command, '--concurrency', '1,2,4'), DONE)
        expect(record_in(folder)['rungs'][:2] == first['rungs'], 'a rung was measured twice')
        expect(len(record_in(folder)['rungs']) == 3, 'the third is missing')
        again = serving(*command, '--concurrency', '1,2,4')
        expect('requests' not in again.stderr, 'nothing was left to do')
        expect('measured before, and not again' in again.stderr, again.stderr)


def test_interrupt_keeps_what_is_finished():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([PROBE, 'serving', f'{url}/{SCRIPT}', *map(str, QUICK), '--concurrency', '1,2,4,8,16',
                                    '-o', folder], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not list(pathlib.Path(folder).glob('*.json')) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
        expect(process.returncode == -signal.SIGINT, f'exit {process.returncode}')
        rungs = record_in(folder)['rungs']
        expect(1 <= len(rungs) < 5 and not any(rung['refused'] for rung in rungs), rungs)
        expect('stopped; the finished loads are in' in stderr, stderr)


def test_interrupt_while_the_server_is_silent():
    """Not even the first question is answered: the signal ends the wait, and is no error."""
    with socket.create_server(('127.0.0.1', 0)) as silent, tempfile.TemporaryDirectory() as folder:
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        process = subprocess.Popen([PROBE, 'serving', url, *map(str, QUICK), '-o', folder], cwd=ROOT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        silent.settimeout(30)
        connection, _ = silent.accept()
        with connection:
            sent = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=60)
            took_s = time.monotonic() - sent
    expect(process.returncode == -signal.SIGTERM and 'error' not in stderr, stderr)
    expect('stopping after the present step' in stderr and 'no load was finished' in stderr, stderr)
    expect(took_s < 8, f'{took_s:.1f} s')


def test_server_that_dies():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        command = (f'{url}/{SCRIPT},die_after=40', *QUICK, '--concurrency', '1,4', '-o', folder)
        expect_exit(serving(*command), MACHINE_FAILED, 'the server no longer answers')
        rungs = record_in(folder)['rungs']
        expect([bool(rung['refused']) for rung in rungs] == [False, True], rungs)


def test_check():
    def attempt():
        with stand_in() as server, tempfile.TemporaryDirectory() as folder:
            expect_exit(serving(f'{server.url}/{SCRIPT}', *QUICK, '--concurrency', '1,2', '-o', folder), DONE)
            path, = pathlib.Path(folder).glob('*.json')
            agrees = run('check', path, '--tolerance', '10 %', program=PROBE)
            differs = run('check', path, '--tolerance', '0.0001 %', program=PROBE)
            expect_exit(differs, NO, 'OUT OF TOLERANCE')
            expect('2 in flight' in agrees.stdout, agrees.stdout)
            return '' if agrees.returncode == DONE else agrees.stdout, kept_time(server)
    until_it_holds(attempt)


# ---- what is not a server, and what a server cannot be asked

@contextlib.contextmanager
def answering(text, wrap=None):
    """A server that answers every request with these bytes."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        listener.listen()
        listener.settimeout(0.2)
        ended = threading.Event()

        def serve():
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(20)
                    connection.recv(65536)
                    connection.sendall(text)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f'127.0.0.1:{listener.getsockname()[1]}'
        finally:
            ended.set()
            thread.join()


def test_what_is_no_server():
    with socket.socket() as unused:
        unused.bind(('127.0.0.1', 0))
        address = f'http://127.0.0.1:{unused.getsockname()[1]}'
        expect_exit(serving(address, *QUICK), BAD_INPUT, 'no server answers there')
    with answering(b'SSH-2.0-OpenSSH_9.2p1\r\n') as address:
        expect_exit(serving(f'http://{address}', *QUICK), BAD_INPUT, 'does not speak HTTP')
        expect_exit(serving(f'https://{address}', *QUICK), BAD_INPUT, 'TLS')
    with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello') as address:
        expect_exit(serving(f'http://{address}', *QUICK), BAD_INPUT, 'lists no models')
    with answering(b'HTTP/1.1 200 OK\r\n\r\n' + b'{' * (65 << 20)) as address:
        expect_exit(serving(f'http://{address}', *QUICK), BAD_INPUT, 'the answer is larger than 64 MiB')
    for url in ('file:///etc/passwd', 'http://user:secret@localhost', 'http://localhost?key=secret', 'no url'):
        done = serving(url, *QUICK)
        expect_exit(done, BAD_INPUT, "not the URL of a server")


def test_what_a_server_does_not_take():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        def fails(script, *options, says, key=None, of=QUICK):
            done = serving(f'{url}{script}', *of, *options, '-o', folder, key=key)
            expect_exit(done, BAD_INPUT, says)
            expect('hunter2' not in done.stderr + done.stdout, 'the key is told')
            expect(not list(pathlib.Path(folder).glob('*.json')), 'a record was written')
        fails('/nonsense', says='HTTP 4')
        fails('/key=right', says='PERTOKEN_API_KEY')
        fails('/key=right', key='hunter2', says='PERTOKEN_API_KEY')
        fails('', '--served-model', 'llama-9', says="does not serve 'llama-9'; it serves 'stand-in'")
        fails('/context=40', says='up to 40 tokens, but --input 32 and --output 16 are 48')
        fails('', '--engine', 'SGLang', says="--engine states 'SGLang', but the server reports 'vLLM")
        fails('/status=500', says='the server accepts no requests: HTTP 500')
        fails('', of=('--accelerator', 'h9000', *QUICK[2:]), says="unknown accelerator 'h9000'")
        fails('', '--model', 'llama-9', says="unknown model 'llama-9'")
        fails('', '--precision', 'fp9', says="unknown precision 'fp9'")
        fails('', '--accelerators', 0, says='--accelerators')
        fails('', '--concurrency', '1,4096', says='from 1 to 1024')
        fails('', '--slo', 'ttft 2', says='--slo')
        fails('', '--rate', 'fast', says='--rate')
        fails('', '--input', 0, says='--input')
        fails('', of=QUICK[2:], says='--accelerator ID')


def test_key():
    record, done = measured(SCRIPT + ',key=hunter2', '--concurrency', 1, key='hunter2')
    told = f"{done.stderr}{done.stdout}{json.dumps({**record, 'url': ''})}"
    expect('hunter2' not in told.replace('key=hunter2', ''), 'the key is told')  # which is part of the script


def test_folders():
    with engine() as url:
        for folder, words in (('/proc/nowhere', 'cannot create the directory'), ('/dev/null', 'cannot write')):
            expect_exit(serving(f'{url}/{SCRIPT}', *QUICK, '--concurrency', 1, '-o', folder), MACHINE_FAILED, words)


def test_help():
    done = run('serving', '--help', program=PROBE)
    expect_exit(done, DONE, '--accelerator', 'PERTOKEN_API_KEY')
    expect_exit(run('probe', 'serving', '--help'), DONE, 'Usage: pertoken probe serving')


# ---- through intermediaries

class Relay:
    """Passes on what a server and its client send, and keeps what the server sent; `rewrite` changes requests."""

    def __init__(self, port, address='127.0.0.1', rewrite=lambda part: part):
        self.told, self.asked, self.server, self.rewrite = b'', b'', port, rewrite
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        self.listener = socket.create_server((address, 0), family=family)
        host = f'[{address}]' if ':' in address else address
        self.url = f'http://{host}:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(('127.0.0.1', self.server))
                for pair in ((client, server, False), (server, client, True)):
                    pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    def pass_on(self, one, other, is_server):
        with contextlib.suppress(OSError):
            while part := one.recv(65536):
                other.sendall(part if is_server else self.rewrite(part))
                self.told += part if is_server else b''
                self.asked += b'' if is_server else part
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def timings(self):
        return [json.loads(text) for text in re.findall(rb'"timings":(\{[^}]*\})', self.told)]



def port_of(url):
    return int(url.rsplit(':', 1)[1])


def test_proxy():
    """The server's name does not resolve: only the proxy knows it."""
    name = b'http://engine.invalid:8000'
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        proxy = Relay(port_of(url), rewrite=lambda part: part.replace(name, b''))
        for variable in ('http_proxy', 'ALL_PROXY'):
            clean = {'http_proxy': None, 'ALL_PROXY': None, 'all_proxy': None, 'no_proxy': None, 'NO_PROXY': None}
            done = serving(f'{name.decode()}/{SCRIPT}', *QUICK, '--concurrency', 2, '-o', f'{folder}/{variable}',
                           environment={**clean, variable: proxy.url})
            expect_exit(done, DONE)
            record = record_in(f'{folder}/{variable}')
            expect(record['url'].startswith(name.decode()) and not record['rungs'][0]['refused'], record)
            expect(b'POST ' + name in proxy.asked, 'the proxy was not asked')
            proxy.asked = b''
        proxy.listener.close()


def test_ipv6():
    with engine() as url, tempfile.TemporaryDirectory() as folder:
        try:
            relay = Relay(port_of(url), '::1')
        except OSError as error:
            raise Skip(f'no IPv6 on loopback: {error}') from error
        expect_exit(serving(f'{relay.url}/{SCRIPT}', *QUICK, '--concurrency', 2, '-o', folder), DONE)
        relay.listener.close()
        record = record_in(folder)
        expect(record['url'].startswith('http://[::1]:') and not record['rungs'][0]['refused'], record)


# ---- llama-server

def mean(values):
    return sum(values) / len(values)


OUTPUT = 64


def llama_rung(port):
    """One stream: the window has all answers but the last, so that they can be compared with the server's timings."""
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(port)
        done = serving(relay.url, *MACHINE, '--input', 32, '--output', OUTPUT, '--time', 20 if DEEP else 3,
                       '--concurrency', 1, '-o', folder)
        expect_exit(done, DONE)
        relay.listener.close()
        record = record_in(folder)
    rung, = record['rungs']
    expect((record['engine'], record['served_model']) == ('llama.cpp', 'random-small.gguf'), record)
    expect(record['engine_version'].startswith('b'), record['engine_version'])
    expect(rung['server_counters'].startswith('agree'), rung['server_counters'])
    expect((rung['input_tokens'], rung['output_tokens']) == (32, OUTPUT), rung)
    # With 1,024 words, now and then a prompt begins with the word that the one before it began with.
    expect(rung['cached_share'] < 0.01, f"{rung['cached_share']} of the prompts were cached")
    own = relay.timings()[-1 - int(rung['completed']):-1]
    expect({answer['predicted_n'] for answer in own} == {OUTPUT}, 'tokens of the window')
    return rung, own


def differing(rung, own):
    """What differs from the server's own clock: rates by more than 2 %. Its time for a prompt begins after the request
    was read and ends before the first token is drawn and sent, which is what a user waits for: the rate of requests
    one after another takes that longer time."""
    prompt_s = mean([one['prompt_ms'] / 1e3 for one in own])
    answer_s = mean([one['predicted_ms'] / 1e3 for one in own])
    tpot_s, rate = answer_s / (OUTPUT - 1), OUTPUT / (rung['ttft']['mean_s'] + answer_s)
    tolerance = 0.02 if DEEP else 0.1
    ours = {'TPOT, s': (rung['tpot']['mean_s'], tpot_s, tolerance * tpot_s),
            'TTFT, s': (rung['ttft']['mean_s'], prompt_s, tolerance * prompt_s + 3 * tpot_s),
            'token/s': (rung['output_tokens_per_s'], rate, tolerance * rate)}
    for name, (one, other, _) in ours.items():
        print(f'     {name}: {one:.4f}, its own {other:.4f}, {100 * (one / other - 1):+.2f} %')
    return [name for name, (one, other, margin) in ours.items() if abs(one - other) > margin]


def test_llama_server():
    """Processor time that other programs take between the server's clock and ours may require another attempt."""
    def attempt():
        with llama_server('-t', 1, '--parallel', 1, '-c', 1024, shape='small', weights=F16) as server:
            differ = differing(*llama_rung(port_of(server.url)))
            off = f'{" and ".join(differ)}: not what the server says' if differ else ''
            return off, got_its_processor(server)
    until_it_holds(attempt)


def test_llama_server_cuts_answers():
    with llama_server('-t', 1, '--parallel', 1, '-c', 256) as server, tempfile.TemporaryDirectory() as folder:
        done = serving(server.url, *MACHINE, '--input', 200, '--output', 100, '--concurrency', 1, '-o', folder)
        expect_exit(done, BAD_INPUT, 'requests of up to 256 tokens')


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests(dict(globals()))
    COUNT.finish()
