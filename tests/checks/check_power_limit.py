#!/usr/bin/python3
"""A GPU measured at several power limits: `pertoken probe run --power-limit`.

The probe is started as its users start it, on a test GPU (stand_ins/plugins/metered.c) whose fake
libnvidia-ml keeps a limit in a file, as a driver does: whatever happens to the probe, the last line of that
file must be the limit that was found. compare accepts the records at each limit, by power_limit.
Deep: more signals, at each limit.
Waits: for loads under the meter
Seconds: 25, deep 50
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support.probing import probe, write_data  # noqa: E402
from support.program import BAD_INPUT, Count, DEEP, DONE, PROBE, expect, run  # noqa: E402
from support.records import load, save  # noqa: E402

MACHINE_FAILED = 3
FOUND_MW, LIMITS = '650000', (350, 210)
ADDRESS = '0000:17:00.0'
LIMIT_S = 60
SCENARIO = """\
[scenario]
title = One GPU at two power limits
date = 2026-11-20
baseline = at_350

[workload]
model = tiny
precision = bf16
scenario = decode
batch = 1
context = 512
utilization = 70 %

[common]
accelerators = 8
accelerators_per_node = 8
electricity_price = 0.08 USD/kWh
pue = 1.25
list_price = 30000 USD

[option at_350]
accelerator = h200-sxm-141
power_limit = 350 W

[option at_210]
accelerator = h200-sxm-141
power_limit = 210 W
"""


class Machine:
    def __init__(self, folder):
        self.folder, self.data, self.limits = folder, folder / 'data', folder / 'limits'
        write_data(self.data)
        for source, target in (('metered/metered.so', 'plugins/metered.so'),
                               ('fake/libnvidia-ml.so', 'libraries/libnvidia-ml.so.1')):
            (folder / target).parent.mkdir()
            shutil.copy(PROBE.parent / 'tests' / source, folder / target)
        self.environment = {'PERTOKEN_PLUGINS': folder / 'plugins', 'LD_LIBRARY_PATH': folder / 'libraries',
                            'FAKE_NVML_GPU': ADDRESS, 'FAKE_NVML_LIMITS': self.limits}

    def command(self, folder, *arguments, limits=LIMITS):
        return ['run', '--device', 'cuda:0', '--model', 'tiny', '--data', self.data, '--time', '0.3',
                '--power-limit', ','.join(map(str, limits)), '-o', self.folder / folder, *arguments]

    def set_so_far(self):
        return self.limits.read_text().split() if self.limits.exists() else []

    def probe(self, *arguments, **environment):
        self.limits.unlink(missing_ok=True)
        return probe(*arguments, environment={**self.environment, **environment})


def test_sweep(machine):
    """A record at each limit, slower and with fewer joules per token, and the limit restored."""
    done = machine.probe(*machine.command('records'))
    expect(done.returncode == DONE, done.stdout + done.stderr)
    expect(machine.set_so_far() == [*(f'{watts}000' for watts in LIMITS), FOUND_MW], machine.set_so_far())
    records = [load(path) for path in (machine.folder / 'records').glob('*.json')]
    found = {record['environment']['device_state']['power_limit_w']: record['results'][0] for record in records}
    expect(sorted(found) == sorted(LIMITS), found.keys())
    high, low = (found[watts] for watts in LIMITS)
    expect(low['load_power_w'] < 0.8 * high['load_power_w'], (low['load_power_w'], high['load_power_w']))
    rows = [line.split() for line in done.stdout.splitlines() if re.match(r'bf16 +1 +512 +(350|210) ', line)]
    expect([int(row[3]) for row in rows] == list(LIMITS), done.stdout)
    fewest = min((high, low), key=lambda result: result['joules_per_token'])
    for row, result in zip(rows, (high, low)):
        expect(abs(float(row[4]) / result['window_tokens_per_s'] - 1) < 1e-3, row)
        expect(abs(float(row[6]) / result['joules_per_token'] - 1) < 1e-3, row)
        expect(('fewest' in row) == (result is fewest), done.stdout)


def test_same_kernels(machine):
    """The fastest at the highest limit, which comes first, are measured at all of them."""
    wrong = PROBE.parent / 'tests' / 'ladder' / 'wrong_variant.so'
    if not wrong.exists():
        return
    plugins = machine.folder / 'with-variant'
    plugins.mkdir()
    (plugins / 'wrong.so').symlink_to(wrong)
    environment = {'PERTOKEN_PLUGINS': plugins, 'WRAPPED': machine.folder / 'plugins' / 'metered.so', 'WRONG': 'no',
                   'WRONG_TUNING': 'step=streaming'}
    done = machine.probe(*machine.command('kernels', '--context', '64', limits=(210, 350)), **environment)
    expect(done.returncode == DONE and 'kernels' not in done.stdout, done.stdout + done.stderr)
    expect(machine.set_so_far() == ['350000', '210000', FOUND_MW], machine.set_so_far())
    found = {}
    for path in (machine.folder / 'kernels').glob('*.json'):
        record = load(path)
        limit, measured = record['environment']['device_state']['power_limit_w'], record['results'][0]
        found[limit] = measured['step_form']['variant'], len(measured['variants'])
    expect(found == {350: ('step=streaming', 2), 210: ('step=streaming', 0)}, found)


def test_check(machine):
    """A record of another limit is not compared with what the device does now."""
    for path in (machine.folder / 'records').glob('*.json'):
        watts = load(path)['environment']['device_state']['power_limit_w']
        done = machine.probe('check', path)
        said = ' '.join(done.stderr.split())
        expect(done.returncode == BAD_INPUT and not done.stdout and
               f'held at {watts:g} W, and its limit is 650 W now' in said, (done.returncode, done.stdout, said))


def without_limits(path):
    other = path.with_name('without.ini')
    other.write_text(re.sub(r'power_limit = .*\n', '', path.read_text()))
    return other


def at_limits(machine):
    """Two records that are alike except for their limits and the consequences; on a busy machine, measured
    ones are not."""
    folder = machine.folder / 'alike'
    folder.mkdir()
    path = next((machine.folder / 'records').glob('*.json'))
    for watts, share, finished in ((350, 1, '2026-11-20T10:00:00Z'), (210, 0.8, '2026-11-20T11:00:00Z')):
        record = load(path)
        record['environment']['device_state']['power_limit_w'] = watts
        record['finished'] = finished
        for result in record['results']:
            result['finished'] = finished
            result['tokens_per_s'] *= share
            result['window_tokens_per_s'] *= share
            result['step_seconds'] /= share
            result['samples'] = [seconds / share for seconds in result['samples']]
            for end in ('ci95_low', 'ci95_high'):  # null of too few samples
                result[end] = result[end] and result[end] * share
        save(folder / f'at-{watts}.json', record)
    return folder


def test_compare(machine):
    """The cost model takes each record by its limit, and says at which limit a token costs least."""
    records = at_limits(machine)
    path = machine.folder / 'limits.ini'
    path.write_text(SCENARIO)
    arguments = ['compare', path, '--measurements', records, '--data', machine.data, '--mixed', '-q']
    done = run(*arguments)
    expect(done.returncode == DONE, done.stderr)
    text = ' '.join(done.stdout.split())
    slow, fast = re.search(r'Cost per million output tokens USD/Mtok (?:\* )?([\d.]+) (?:\* )?([\d.]+)', text).groups()[::-1]
    expect(float(fast) < float(slow), f'{fast} at 350 W, {slow} at 210 W')
    for name in ('at_350', 'at_210'):
        expect(f'Power limit: {name} costs least per token at 350 W, of the limits measured: 210 W {slow}, '
               f'350 W * {fast} USD/Mtok' in text, done.stdout)
    without = run(*arguments[:1], without_limits(path), *arguments[2:])
    expect(f'USD/Mtok {fast} ' in ' '.join(without.stdout.replace('* ', '').split()),
           f'without power_limit the highest: {without.stdout}{without.stderr}')
    done = run(*arguments, '--set', 'at_210.power_limit=400 W')
    expect(done.returncode == BAD_INPUT and '400' in done.stderr, done.stdout + done.stderr)


def ended_by(machine, name, number, at):
    """The probe ended by a signal once it holds the limit of that number: its exit status."""
    machine.limits.unlink(missing_ok=True)
    command = [str(word) for word in [PROBE, *machine.command(name)]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **{k: str(v) for k, v in machine.environment.items()}}) as process:
        until = time.monotonic() + LIMIT_S
        while len(machine.set_so_far()) <= at and time.monotonic() < until and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate(timeout=LIMIT_S)
    until = time.monotonic() + LIMIT_S
    while machine.set_so_far()[-1:] != [FOUND_MW] and time.monotonic() < until:
        time.sleep(0.01)
    return process.returncode


def test_ways_out(machine):
    """Killed outright, ended by a terminal or by the machine's management: restored each time."""
    ways = [(signal.SIGKILL, 0), (signal.SIGTERM, 0)] + ([(signal.SIGKILL, 1), (signal.SIGINT, 1), (signal.SIGHUP, 0),
                                                          (signal.SIGSEGV, 0), (signal.SIGQUIT, 0)] if DEEP else [])
    for number, at in ways:
        status = ended_by(machine, f'{number.name}-{at}', number, at)
        wanted = [*(f'{watts}000' for watts in LIMITS[:at + 1]), FOUND_MW]
        expect(machine.set_so_far() == wanted, f'{number.name}: {machine.set_so_far()}, exit {status}')


def test_refused(machine):
    """With a message, with nothing set and nothing measured."""
    cases = [((180,), {}, (), BAD_INPUT, 'can be held at 200 to 700 W'),
             ((350,), {'FAKE_NVML_FORBIDS': '1'}, (), MACHINE_FAILED, 'setting a power limit needs root'),
             ((350,), {}, ('--device', 'cpu'), BAD_INPUT, 'needs a GPU'),
             ((350,), {}, ('--verify-only',), BAD_INPUT, 'leave --verify-only out'),
             ((350, 350), {}, (), BAD_INPUT, 'names 350 twice')]
    for limits, environment, arguments, status, words in cases:
        done = machine.probe(*machine.command('refused', *arguments, limits=limits), **environment)
        expect(done.returncode == status and words in done.stderr, f'{words}: {done.returncode} {done.stderr}')
        expect(not [value for value in machine.set_so_far() if value != FOUND_MW], machine.set_so_far())
        expect(not list((machine.folder / 'refused').glob('*.json')), 'a record')


def main():
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-power-limit-') as folder:
        machine = Machine(pathlib.Path(folder))
        for test in (test_sweep, test_same_kernels, test_check, test_compare, test_ways_out, test_refused):
            count.test(test.__name__, test, machine)
    count.finish()


if __name__ == '__main__':
    main()
