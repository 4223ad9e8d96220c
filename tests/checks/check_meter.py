#!/usr/bin/python3
"""pertoken probe meter as its user starts it: what it requires, and its message without a meter.

    check_meter.py

tests/probe/test_power_log.c tests what it reads: few machines that run this have a meter. PROBE names the
program.
"""
import json
import pathlib
import signal
import subprocess
import tempfile

from support.program import BAD_INPUT, Count, DONE, PROBE, Skip, expect, run


def meter(*arguments):
    return run('meter', *arguments, program=PROBE)


def test_what_it_asks_for():
    for arguments, fragment in (((), 'expected -o FILE'), (('-o', 'x'), 'expected --seconds N'),
                                (('--seconds', '0', '-o', 'x'), 'from 1 s to a day'),
                                (('--seconds', '5 W', '-o', 'x'), 'from 1 s to a day'),
                                (('--seconds', '5', '-o', 'x', 'y'), "one argument too many: 'y'"),
                                (('--seconds', '5', '--device', '999', '-o', 'x'), "no device '999'")):
        done = meter(*arguments)
        expect(done.returncode == BAD_INPUT and fragment in done.stderr, (arguments, done.stderr))


def test_this_machine():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'watts.json')
        done = meter('--seconds', '1', '-q', '-o', path)
        if done.returncode == DONE:
            expect(json.loads(path.read_text())['record'] == 'power series', 'the record')
        else:
            expect(done.returncode == BAD_INPUT and 'no meter of' in done.stderr and not path.exists(), done.stderr)


def test_an_interrupt_keeps_what_was_read():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'watts.json')
        if meter('--seconds', '1', '-o', path).returncode != DONE:
            raise Skip('no meter on this machine')
        path.unlink()
        with subprocess.Popen([PROBE, 'meter', '--seconds', '60', '-o', path], stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        expect(process.returncode == -signal.SIGINT, process.returncode)
        expect('stopped' in json.loads(path.read_text())['remarks'], 'why it is short')


def test_no_record_by_itself():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'watts.json')
        path.write_text(json.dumps({'record': 'power series', 'schema': 2}))
        for arguments in (('compare', 'examples/measured/llama-server.ini', '--measurements', folder),
                          ('served', path), ('fleet', path)):
            done = run(*arguments, '-q')
            expect(done.returncode == BAD_INPUT and f'{path}: error: a power series of \'pertoken probe meter\' is no '
                   'record by itself' in done.stderr and done.stderr.count('error') == 1, (arguments, done.stderr))


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests(dict(globals()))
    COUNT.finish()
