#!/usr/bin/python3
"""What tests/gpu/check keeps, without a GPU: budget, continuing after a kill and on another machine, bad bundles,
folders that cannot be written.

Deep: a bundle goes through one machine per step, each killed after it; more bad bundles; kills.
Seconds: 5, deep 120
Waits: for stand-ins that take time. Its speeds are not judged.
"""
import json
import io
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tarfile
import time

from rehearsal import FAILED, Rehearsal, TIMEOUT_S, UNFINISHED, expect_row, run_all
import bundle
import running
from support.program import DEEP, DONE, expect


def machine_of(folder, name, resumed=None, **changes):
    """A machine with a GPU of its own, and its arguments for continuing from a bundle."""
    where = folder / name
    where.mkdir()
    return Rehearsal(where, **{'uuid': f'GPU-{name}-', **changes}), ['--resume', resumed] if resumed else []


def killed_after_a_step(rehearsal, arguments, done):
    """Kills a check after its first new step, and returns which one it was; None if it ended."""
    command = [str(word) for word in rehearsal.command(900, *arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            step = re.match(r'(.*?): done(?::.*)? \[', line)
            if step and step[1] not in done and step[1] not in ('environment', 'bandwidth-before'):
                process.kill()
                process.communicate()
                return step[1]
        expect(process.wait() == DONE, f'exit {process.returncode}')
    return None


def test_kill_and_resume(folder):
    """Killed outright after each step, it continues on another machine with the finished steps."""
    plan, most = (['--plan', 'all'], 1000) if DEEP else (['--plan', 'A'], 2)
    done, resumed, rehearsals = [], None, []
    for number in range(most):
        rehearsal, arguments = machine_of(folder, f'm{number}', resumed)
        rehearsals.append(rehearsal)
        step = killed_after_a_step(rehearsal, [*arguments, *plan], done)
        if step is None:
            break
        resumed = rehearsal.out / 'gpu-check.tar.gz'
        with tarfile.open(resumed) as archive:
            kept = json.load(archive.extractfile('gpu-check/state.json'))['steps']
        done.append(step)
        expect(all(kept[name]['status'] == 'done' for name in done), f'{done} in the bundle')
        expect(kept[step]['uuid'] == f'GPU-m{number}-0', kept[step])
        expect(len({kept[name]['uuid'] for name in done}) == len(done), f'each step of its own device: {kept}')
    rehearsal, arguments = machine_of(folder, 'last', resumed)
    rehearsal.check(DONE, 900, *arguments, *plan)
    state, table = rehearsal.state(), ' '.join(rehearsal.table().split())
    expect(all(state[name]['uuid'] == f'GPU-m{number}-0' for number, name in enumerate(done)), state)
    expect(all(f'GPU-m{number}-0: ' in table for number in range(len(done))), table)
    expect('Read bandwidth R of GPU-m0-0: 4.500 TB/s before' in table
           and 'Read bandwidth R of GPU-last-0: 4.500 TB/s before' in table, table)
    expect(len(json.loads((rehearsal.out / 'environment.json').read_text())['earlier']) == len(done), 'machines')
    wrote = [call for one in rehearsals + [rehearsal] for call in one.calls('wrote')] if DEEP else []
    expect(len(done) > (15 if DEEP else 1), done)
    expect(not DEEP or len(wrote) >= len([name for name in done if name.startswith('record')]), wrote)


def archived(path, *members):
    """A bundle of (name, text, or None for a link)."""
    with tarfile.open(path, 'w:gz') as archive:
        for name, text in members:
            member = tarfile.TarInfo(name)
            if text is None:
                member.type, member.linkname = tarfile.SYMTYPE, '/etc/passwd'
            else:
                member.size = len(text)
            archive.addfile(member, io.BytesIO((text or '').encode()))


def test_bad_bundles(folder):
    """Bundles that are incomplete, another check's or something else are refused with a message, and leave the
    folder without results."""
    first = Rehearsal(folder)
    first.check(DONE, 540, '--plan', 'A')
    good = (first.out / 'gpu-check.tar.gz').read_bytes()
    state = (first.out / 'state.json').read_text()
    path, top = folder / 'bundle.tar.gz', 'gpu-check/state.json'
    step = json.loads(state)['steps']['environment']

    def broken_step(**changes):
        kept = json.loads(state)
        kept['steps']['environment'] = {**step, **changes}
        return json.dumps(kept)
    texts = {'not whole': [good[:size] for size in (0, 1, 20, len(good) // 2, len(good) - 1)]
             + [good[:len(good) // 2] + b'?' * 64 + good[len(good) // 2 + 64:], b'no gzip at all'],
             'no bundle of this check': [[('other/state.json', state)], [('gpu-check/../up', 'x')],
                                         [('gpu-check/logs/link', None)], [('/etc/shadow', 'x')]],
             'has no results': [[('gpu-check/table.txt', 'x')]],
             'cannot be read': [[(top, '{')], [(top, '\udcff'.encode('utf-8', 'replace').decode())]],
             'of another version': [[(top, '[]')], [(top, '{}')], [(top, state.replace('"schema": 2', '"schema": 1'))]],
             'not what this check writes': [[(top, broken_step(uuid=7))], [(top, broken_step(data=[]))],
                                            [(top, broken_step(seconds='long'))]],
             'its record records/x.json is broken': [[(top, state), ('gpu-check/records/x.json', text)]
                                                     for text in ('{', '{}', '[]', '{"results": [1]}')]}
    tries = [(words, text) for words, list_of in texts.items() for text in list_of]
    for number, (words, text) in enumerate(tries if DEEP else tries[::12]):
        path.write_bytes(text) if isinstance(text, bytes) else archived(path, *text)
        expect_refused(first, folder / f'refused{number}', path, words if words != 'not whole' else 'whole bundle')
    path.write_bytes(good)
    for number, (changes, arguments, words) in enumerate((
            ({'device': 'NVIDIA H100 80GB HBM3'}, (), 'another model of device (NVIDIA H200, and here is NVIDIA H100'),
            ({'memory_bytes': 70e9}, (), 'another kind of device (cuda, 141 GB, and here is cuda, 70 GB)'),
            ({'build': 'others'}, (), 'another build of the programs'),
            ({}, ('--tiny',), 'a check that is no rehearsal'))[:None if DEEP else 1]):
        first.plan(**changes)
        expect_refused(first, folder / f'other{number}', path, words, *arguments)
    expect_refused(first, folder / 'absent', folder / 'none.tar.gz', 'No such file')
    first.out = folder / 'out'
    (first.out / 'state.json').write_text('{')
    said = first.check(FAILED, 60)
    expect('cannot be read' in said and 'Traceback' not in said, said)


def expect_refused(rehearsal, out, path, words, *arguments):
    rehearsal.out = out
    said = rehearsal.check(FAILED, 60, '--resume', path, *arguments)
    expect(words in said and 'Traceback' not in said, f'{words}: {said}')
    expect(not (out / 'state.json').exists() and not (out / 'resuming').exists(), f'{out} after {words}')


def test_interrupted_resuming(folder):
    """If it is killed while it unpacks a bundle, the same call starts over with the bundle."""
    first = Rehearsal(folder)
    first.check(DONE, 540, '--plan', 'A')
    path, replace = first.out / 'gpu-check.tar.gz', os.replace
    for left in range(100):
        out, calls = folder / f'resumed{left}', []

        def stopped(*arguments):
            calls.append(arguments)
            if len(calls) > left:
                raise running.Stopped(signal.SIGTERM)
            replace(*arguments)
        out.mkdir()
        try:
            os.replace = stopped
            bundle.resume(path, out, lambda key: '')
            break
        except running.Stopped:
            expect(not (out / 'state.json').exists(), f'a state before the rest, after {left}')
        finally:
            os.replace = replace
        bundle.resume(path, out, lambda key: '')
        expect((out / 'state.json').read_bytes() == (first.out / 'state.json').read_bytes(), 'the state')
    expect(left > 3, left)


def runs(process):
    """Whether the process with this number exists and is not a zombie."""
    try:
        return pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def test_kill(folder):
    """Killed outright in the middle of a step, it continues with that step, and leaves no program running."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        where = folder / number.name
        where.mkdir()
        rehearsal = Rehearsal(where, held=3)  # the third is not finished before the kill
        with subprocess.Popen(rehearsal.command(600), stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + TIMEOUT_S
            while (not (where / 'calls').exists() or not rehearsal.calls('held')) and time.monotonic() < until:
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=TIMEOUT_S)
        held, = rehearsal.calls('held')
        until = time.monotonic() + TIMEOUT_S
        while runs(held.split()[1]) and time.monotonic() < until:
            time.sleep(0.01)
        expect(not runs(held.split()[1]), 'the program that the check had started runs on')
        begun = rehearsal.calls('run')
        finished = [n for n, step in rehearsal.state().items() if step['status'] == 'done']
        expect(len(begun) == 3, f'the check ran on: {begun}')
        expect(len(rehearsal.calls('wrote')) == 1, 'the step that was killed wrote')  # the second only verified
        expect(finished[-2].startswith('quick') and finished[-1].startswith('verify'), finished)
        rehearsal.plan(seconds=0)
        rehearsal.check(UNFINISHED, 60, '--plan', 'all')
        expect(rehearsal.calls('run')[3] == begun[2], 'the step that was killed did not run again')


def test_interrupted_peer(folder):
    """A round of the peer that was interrupted starts anew, on this device or another: ours are of the same minutes."""
    for uuid, name in (('GPU-', 'llama-3.1-8b.json'), ('GPU-other-', 'llama-3.1-8b-elsewhere.json')):
        where = folder / uuid
        where.mkdir()
        rehearsal = Rehearsal(where, held=2)  # ours with fp8 activations
        command = rehearsal.command(600, '--plan', 'D', *rehearsal.peer())
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + TIMEOUT_S
            while (not (where / 'calls').exists() or not rehearsal.calls('held')) and time.monotonic() < until:
                time.sleep(0.01)
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)
        begun = len(rehearsal.calls('run'))
        # As one that was interrupted later leaves it.
        bf16, = (rehearsal.out / 'peer').glob('8b-bf16*/*.json')
        shutil.copy(bf16, next((rehearsal.out / 'peer').glob('8b-fp8*-fp8-1')) / name)
        rehearsal.plan(uuid=uuid)
        rehearsal.check(DONE, 600, '--plan', 'D', *rehearsal.peer())
        expect('--activations fp8' in rehearsal.calls('run')[begun], 'ours are measured anew')
        kept = rehearsal.state()['peer 8b-fp8-batch1+8+64+128-context512 1']
        expect(kept['status'] == 'done' and len(kept['data']['ours']['fp8']) == 4, kept)
        records, = (rehearsal.out / 'peer').glob('8b-fp8-batch1*-fp8-1')
        found = [json.loads(path.read_text()) for path in records.glob('*.json')]
        expect([len(record['results']) for record in found] == [4], found)
        expect(found[0]['device']['uuid'] == f'{uuid}0', found[0]['device'])


def test_budget(folder):
    """It ends by itself in time, with a table, and says what to do; a busy machine gets three times as long."""
    for times in (1, 3):
        where = folder / str(times)
        where.mkdir()
        rehearsal = Rehearsal(where, seconds=0.4 * times)
        began = time.monotonic()
        said = rehearsal.check(UNFINISHED, 39 * times)
        took_s = time.monotonic() - began
        if took_s < 39 * times:
            break
    expect(took_s < 39 * times, f'it took {took_s:.0f} s of {39 * times}')
    expect('call again to go on' in said and 'not run' in rehearsal.table(), said)
    expect_row(rehearsal.table(), 'Read bandwidth R', 'after')


def test_unwritable(folder):
    """A folder that cannot be written, or is full, is named in one sentence; what was found before is still there."""
    rehearsal = Rehearsal(folder)
    rehearsal.out = rehearsal.probe / 'out'
    said = rehearsal.check(FAILED, 60)
    expect('Not a directory' in said and 'name a folder with --out' in said and 'Traceback' not in said, said)
    rehearsal.out = folder / 'full'
    done = subprocess.run([str(word) for word in rehearsal.command(60)], text=True, capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
    said = done.stdout + done.stderr
    expect(done.returncode == FAILED and 'File too large' in said and 'Traceback' not in said, said)
    expect(len(said) < 1000, said)
    out, fsync = folder / 'kept', os.fsync
    (out / 'logs').mkdir(parents=True)
    bundle.write(out)
    before = (out / bundle.NAME).read_bytes()

    def full(_):
        raise OSError(28, 'No space left on device')
    for write in (lambda: bundle.write(out), lambda: running.write_whole(out / bundle.NAME, 'x')):
        try:
            os.fsync = full
            write()
            expect(False, 'an error was hidden')
        except OSError:
            pass
        finally:
            os.fsync = fsync
        expect(sorted(path.name for path in out.iterdir()) == [bundle.NAME, 'logs'], list(out.iterdir()))
        expect((out / bundle.NAME).read_bytes() == before, 'the bundle before')


QUICK = [test_kill_and_resume, test_bad_bundles, test_budget, test_unwritable]
LONG = [test_kill, test_interrupted_peer, test_interrupted_resuming]


if __name__ == '__main__':
    run_all(QUICK, LONG)
