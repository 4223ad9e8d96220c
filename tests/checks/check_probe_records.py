#!/usr/bin/python3
"""What the probe does with its records: written, resumed, extended, kept if they are damaged, checked.

    check_probe_records.py [NAME...]

PROBE names the program. A record that is altered must be noticed.
Deep: with a model that fills the processor's caches, an interrupted run, and a repeated record; else a tiny one, and a
test GPU on which nothing takes time.
Seconds: 15, deep 110
"""
import pathlib
import signal
import statistics
import subprocess
import time

from support.probing import (MODEL, RUN, SCHEMA, TIMEOUT_S, at_once, emulated, need_memory, probe, record_in,
                             run_probe_tests, soon, write_data)
from support.program import BAD_INPUT, DEEP, DONE, MACHINE_FAILED, NO, PROBE, expect, expect_exit
from support.records import digest_of, load, save


def check_result(result):
    mean_s = sum(result['samples']) / len(result['samples'])
    expect(abs(result['tokens_per_s'] * mean_s / result['batch'] - 1) < 1e-9, 'token/s')
    expect(abs(result['step_seconds'] / statistics.median(result['samples']) - 1) < 1e-9, 'the median step')
    if result['ci95_low'] is not None:  # of a busy machine's samples it may be unknown
        expect(result['ci95_low'] <= result['tokens_per_s'] <= result['ci95_high'], 'interval')
    expect(result['p5_s'] <= result['step_seconds'] <= result['p95_s'], 'quantiles')
    expect(len(result['samples']) >= 6, 'samples')
    share = result['read_bandwidth_share']
    expect(len(result['shares']) == (0 if share is None else len(result['samples'])), 'a share of each sample')
    expect(share is None or abs(statistics.median(result['shares']) / share - 1) < 1e-9, 'the median share')
    expect(result['verification']['max_error'] <= result['verification']['tolerance'], 'verified')
    flags = result['flags']
    expect(result['grade'] == ('projected' if flags['cache_resident'] else 'measured'), 'grade')
    for power in ('load_power_w', 'idle_power_w', 'joules_per_token'):
        expect(result[power] is None or result['energy_meter'].startswith('rapl'), power)


def test_run_and_resume(directory):
    need_memory()
    run_it = RUN if DEEP else soon(directory)
    arguments = (*run_it, '--precision', 'bf16', '--batch', '1,2', '--context', '64', '-o', directory / 'records')
    result = probe(*arguments)
    expect_exit(result, 0, 'token/s', f'{MODEL if DEEP else "tiny"} on')
    path = record_in(directory / 'records')
    record = load(path)
    expect(record['digest'] == digest_of(record), 'digest')
    expect(record['schema'] == SCHEMA and record['basis'] == 'decode', 'header')
    expect([r['batch'] for r in record['results']] == [1, 2], 'results')
    for one in record['results']:
        check_result(one)
    before = path.read_bytes()
    expect_exit(probe(*arguments), 0, 'token/s')
    expect(path.read_bytes() == before, 'a finished run was written again')
    expect(not list(path.parent.glob('.pertoken*')), 'the lock was left')
    if not DEEP:
        return
    expect_exit(probe(*arguments, '--precision', 'bf16,int8', '--batch', '1'), 0, 'int8')
    more = load(path)
    expect(len(more['results']) == 3 and more['results'][:2] == record['results'], 'extended')


def test_extended(directory):
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    expect_exit(probe(*arguments, '--batch', '1', environment=environment), 0)
    first = load(record_in(directory / 'records'))
    expect_exit(probe(*arguments, '--batch', '1,2', environment=environment), 0)
    more = load(record_in(directory / 'records'))
    expect([result['batch'] for result in more['results']] == [1, 2], 'extended')
    expect(more['results'][0] == first['results'][0], 'a finished result was repeated')


def test_known_is_said(directory):
    """Whoever runs a command again learns what is not measured again."""
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    for batches, words in (('1', 'pertoken-probe: record: '), ('1', 'measured before, and not again unless you move this '),
                           ('1,2', '1 of the results measured before; record: ')):
        result = probe(*arguments, '--batch', batches, environment=environment)
        expect_exit(result, 0, words, 'token/s')
        expect('this machine is busy' not in result.stderr or 'and not again' not in result.stderr, result.stderr)


def test_conditions_are_apart(directory):
    """What a record states once for all of its results, such as the kernels' tuning, begins another if it changes."""
    write_data(directory / 'data')
    environment = emulated(directory)
    arguments = ('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device', 'emulator',
                 '--variant', 'own', '--time', '0.1', '-o', directory / 'records')
    for tuning in ({}, {'PERTOKEN_GPU_TUNING': 'step=launches'}):
        expect_exit(probe(*arguments, environment={**environment, **tuning}), 0, 'token/s')
    found = {load(path)['device']['runtime']: load(path)['results'][0]['step_form']['form']
             for path in (directory / 'records').glob('*.json')}
    expect(found == {'emulator': 'recorded graph', 'emulator, step=launches': 'single launches'}, found)


def test_interrupt(directory):
    need_memory()
    arguments = (*soon(directory), '--time', '2', '--batch', '1,2,3', '-o', directory)
    with subprocess.Popen([PROBE, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + TIMEOUT_S
        while not list(directory.glob('*.json')) and time.monotonic() < until:
            time.sleep(0.02)
        second = probe(*arguments)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=TIMEOUT_S)
    expect_exit(second, BAD_INPUT, 'another run', str(process.pid))
    expect(process.returncode == -signal.SIGINT, f'ended with {process.returncode}: {errors}')
    expect('stopped; the finished results are in' in errors and 'token/s' in output, errors)
    expect('stopping after the present step' in errors, errors)
    record = load(record_in(directory))
    expect(record['digest'] == digest_of(record), 'digest after Ctrl-C')
    expect(1 <= len(record['results']) <= 2, 'results after Ctrl-C')
    expect_exit(probe(*arguments), 0)
    resumed = load(record_in(directory))
    expect([r['batch'] for r in resumed['results']] == [1, 2, 3], 'resumed')
    expect(resumed['results'][0] == record['results'][0], 'a finished result was repeated')


def test_full_disk(directory):
    model, environment = at_once(directory)
    result = probe('run', *model, '--time', '0.1', '-o', directory / 'records', file_limit=1000,
                   environment=environment)
    expect_exit(result, MACHINE_FAILED, 'cannot write', 'File too large', 'token/s', 'could not be written to')
    expect('record: ' not in result.stderr, 'a record that is not there')
    expect(not list((directory / 'records').glob('*')), 'something was left')


def steady_record(directory, quick):
    """A record that can be repeated, and the output of repeating it: a busy machine's speed may double."""
    run_it = soon(directory)
    for attempt in range(4):
        folder = pathlib.Path(directory, str(attempt))
        expect_exit(probe(*run_it, '--wall-power', '1.2 kW', '--wall-note', 'PDU A3', '-o', folder), 0)
        path = record_in(folder)
        again = probe('check', path, '--tolerance', '99 %', *quick)
        if again.returncode == 0:
            break
    return path, again


def test_check(directory):
    need_memory()
    quick = ('--time', '0.3')
    path, again = steady_record(directory, quick)
    record = load(path)
    result = record['results'][0]
    expect(result['beside']['wall_power_w'] == 1200, result['beside'])
    expect(result['beside']['wall_meter'] == 'typed: PDU A3', result['beside'])
    expect(result['telemetry']['source'].startswith(('none: ', 'sysfs: ')), result['telemetry'])
    watts = 'watts were not compared' if result['load_power_w'] is None else 'watts'
    expect(again.returncode in (0, NO) and watts in again.stdout + again.stderr, again)
    for name in ('tokens_per_s', 'ci95_low', 'ci95_high'):
        result[name] = result[name] and 1000 * result[name]
    for name in ('step_seconds', 'p5_s', 'p95_s'):
        result[name] /= 1000
    result['samples'] = [seconds / 1000 for seconds in result['samples']]
    save(path, record)
    expect_exit(probe('check', path, *quick), NO, 'OUT OF TOLERANCE')
    refuse_records(path, load(path))


def refuse_records(path, record):
    text = path.read_text()
    path.write_text(text.replace('"batch":1', '"batch":2', 1))
    expect_exit(probe('check', path), BAD_INPUT, 'digest does not match')
    path.write_text(text[:len(text) // 2])
    expect_exit(probe('check', path), BAD_INPUT, 'expected a complete measurement record')
    path.write_text(text.replace(f'"schema":{SCHEMA}', '"schema":99', 1))
    expect_exit(probe('check', path), BAD_INPUT, f'schema 99, this version reads 1 to {SCHEMA}')
    save(path, {**record, 'device': {**record['device'], 'name': 'NVIDIA H200'}})
    expect_exit(probe('check', path), BAD_INPUT, "another device, 'NVIDIA H200'")
    save(path, {**record, 'results': []})
    expect_exit(probe('check', path), BAD_INPUT, 'no result to check')


def test_prompts_checked(directory):
    """A record's prompts are measured again, too: a busy machine, where a thread of a short one is waited for
    through a time slice or more, may be a hundred times as slow for a while, but not a million times."""
    need_memory()
    prompts = ('--prefill', '24,48', '--chunk', '16', '-o', directory / 'records')
    expect_exit(probe(*soon(directory), *prompts), DONE)
    path = record_in(directory / 'records')
    record = load(path)
    faster = record['results'][0]['prefills'][1]
    faster.update(tokens_per_s=1e6 * faster['tokens_per_s'], seconds=faster['seconds'] / 1e6, ci95_low_s=None,
                  ci95_high_s=None, samples=[seconds / 1e6 for seconds in faster['samples']])
    save(path, record)
    result = probe('check', path, '--time', '0.1', '--tolerance', '99 %')
    expect_exit(result, NO, 'prompt of            24')
    lines = [line for line in result.stdout.splitlines() if 'prompt of' in line]
    expect(len(lines) == 2 and lines[1].endswith('OUT OF TOLERANCE'), result.stdout)


# What a run finds in place of its file: kept unchanged, and the message says what to do.
DAMAGES = [
    (lambda text: text[:-100], 'expected a complete measurement record'),
    (lambda text: '', 'expected a complete measurement record'),
    (lambda text: text.replace('"batch": 1', '"batch": 2', 1), 'its digest does not match'),
    (lambda text: text.replace(f'"schema": {SCHEMA}', '"schema": 99', 1), 'schema 99, this version reads'),
]


def test_damaged_record_is_kept(directory):
    model, environment = at_once(directory)
    arguments = ('run', *model, '--time', '0.1', '-o', directory / 'records')
    expect_exit(probe(*arguments, environment=environment), 0)
    path = record_in(directory / 'records')
    whole = path.read_text()
    for damage, words in DAMAGES:
        path.write_text(damage(whole))
        expect_exit(probe(*arguments, environment=environment), BAD_INPUT, words, f"resume '{path}': move it away")
        expect(path.read_text() == damage(whole), 'a damaged record was overwritten')
        expect_exit(probe('check', path), BAD_INPUT, words)


if __name__ == '__main__':
    run_probe_tests(globals(), deep_only=(test_interrupt, test_check))
