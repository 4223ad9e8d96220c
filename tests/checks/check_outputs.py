#!/usr/bin/python3
"""The file of -o: is it written completely or not at all, and never over a file that the command reads?

A file that is an input is refused, under each of its names; an existing one keeps its mode and its owner;
nothing is left beside it by signals, by exhausted memory or by a disk with little room; either a workbook is on
the disk with all of its parts or the old one stays. Pipes and links stay what they were.
Deep: thirty limits of a file's size rather than six, disks of ten sizes, signals at twice as many moments.
Seconds: 3, deep 8
"""
import os
import resource
import signal
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import program  # noqa: E402
from support.golden import GOLDEN  # noqa: E402
from support.program import (BAD_INPUT, Count, DEEP, MACHINE_FAILED, PERTOKEN, ROOT, Skip, expect,  # noqa: E402
                             expect_exit)

OLD = b'an older file'
# Commands that write, as they are before -o.
ENDINGS = {'report': 'xlsx', 'page': 'html'}
COMMANDS = [['report'], ['compare'], ['sensitivity'], ['finance'], ['explain', 'a.tco'], ['page']]
PATIENCE_S = 100
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIZES = [4096 * 2 ** (k / 3) for k in range(31)] if DEEP else [4096, 20000, 60000, 120000, 200000, 4000000]
DISKS = [16 * 2 ** k for k in range(10)] if DEEP else [64, 256]
MANY = ''.join(f'\n[option more{i}]\naccelerator = h200-sxm-141\nlist_price = {30000 + i} USD\n'
               'throughput = 4000 token/s\n' for i in range(9))


def scenario(folder, more=''):
    path = folder / 'scenario.ini'
    path.write_text(GOLDEN + more)
    return path


def first_option():
    return next(line for line in GOLDEN.splitlines() if line.startswith('[option')).split()[1].rstrip(']')


def pertoken(*arguments, **options):
    return program.run(*arguments, '-q', **options)


def report(path, target, **options):
    return pertoken('report', path, '-o', target, **options)


def whole(path):
    """Every part of a workbook unpacks, and is XML to its end."""
    with zipfile.ZipFile(path) as book:
        expect(book.testzip() is None, 'a part does not unpack')
        for name in book.namelist():
            xml.etree.ElementTree.fromstring(book.read(name))


def whole_or_old(done, target):
    if done.returncode == 0:
        whole(target)
    else:
        expect_exit(done, MACHINE_FAILED, 'cannot write')
        expect(target.read_bytes() == OLD, 'the older file was changed')


# ---- inputs

def refuse(target, *arguments):
    before = target.read_bytes()
    done = pertoken(*arguments, '-o', target)
    expect_exit(done, BAD_INPUT, 'is an input of this command')
    expect(target.read_bytes() == before, f'{arguments}: {target.name} was changed')


def test_scenario_as_output(folder):
    """Whatever it is called: a report must end in .xlsx, a page in .html."""
    option = first_option()
    for command, *rest in COMMANDS:
        path = scenario(folder).rename(folder / f"scenario.{ENDINGS.get(command, 'ini')}")
        refuse(path, command, path, *(text.replace('a.', f'{option}.') for text in rest))


def test_other_names_of_an_input(folder):
    path = scenario(folder)
    os.link(path, folder / 'hard.ini')
    (folder / 'soft.ini').symlink_to(path)
    for name in ('hard.ini', 'soft.ini'):
        refuse(folder / name, 'compare', path)
    refuse(folder / '.' / 'scenario.ini', 'compare', path)


def test_everything_read_as_output(folder):
    """Inherited files, a catalogue, the cost model."""
    parent, child, model = scenario(folder), folder / 'child.ini', folder / 'model.ini'
    child.write_text('[scenario]\ninherits = scenario.ini\ntitle = A child\n')
    model.write_bytes((ROOT / 'model' / 'cost' / 'tco.ini').read_bytes())
    data = folder / 'data'
    data.mkdir()
    for table in (ROOT / 'data').glob('*.csv'):
        (data / table.name).write_bytes(table.read_bytes())
    refuse(parent, 'compare', child)
    refuse(model, 'compare', parent, '--model', model)
    refuse(data / 'accelerators.csv', 'compare', parent, '--data', data)


def test_records_and_archives_as_output(folder):
    """What a command reads beside scenarios: records, offers, lists of nodes, parts of a simulation, archives, signatures
    and keys."""
    def copy(name, source):
        (folder / name).write_bytes((ROOT / source).read_bytes())
        return folder / name
    offer = copy('offer.ini', 'examples/acceptance/offer.ini')
    record = copy('node-01-0.json', 'examples/acceptance/records/node-01-0.json')
    nodes = copy('nodes.csv', 'examples/fleet/nodes.csv')
    uncertain = copy('uncertain.ini', 'examples/uncertainty.ini')
    copy('mi325x-vs-h200.ini', 'examples/mi325x-vs-h200.ini')
    archive, part, signers, key = (folder / name for name in ('evidence.tar', 'part.json', 'signers', 'key'))
    expect(pertoken('evidence', 'pack', record, '-o', archive).returncode == 0, 'pack')
    expect_exit(pertoken('simulate', uncertain, '--shard', '1/1', '-o', part), 0)
    for path in (signers, key, folder / 'evidence.tar.sig', folder / 'evidence.tar.asc'):
        path.write_text('a name and a key')
    refuse(record, 'fleet', record)
    refuse(record, 'fleet', folder / '.' / 'node-01-0.json', '--format', 'json')
    refuse(nodes, 'fleet', record, '--expect', nodes)
    for target in (offer, record):
        refuse(target, 'accept', offer, record, '--for', 'decoding')
    refuse(part, 'merge', part)
    refuse(uncertain, 'simulate', uncertain)
    refuse(record, 'evidence', 'pack', record)
    refuse(key, 'evidence', 'pack', record, '--sign', key)
    for target in (archive, folder / 'evidence.tar.sig', folder / 'evidence.tar.asc'):
        refuse(target, 'evidence', 'verify', archive)
    refuse(signers, 'evidence', 'verify', archive, '--signers', signers)


# ---- existing files

def test_mode_and_owner(folder):
    path = scenario(folder)
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    for command, target in (('report', folder / 'out.xlsx'), ('compare', folder / 'out.csv')):
        target.write_bytes(OLD)
        target.chmod(0o640)
        os.chown(target, *owner)
        expect(pertoken(command, path, '-o', target).returncode == 0, command)
        now = target.stat()
        expect(stat.S_IMODE(now.st_mode) == 0o640 and (now.st_uid, now.st_gid) == owner, f'{command}: {now}')
    expect(sorted(os.listdir(folder)) == ['out.csv', 'out.xlsx', 'scenario.ini'], os.listdir(folder))


def test_new_file(folder):
    target, before = folder / 'new.csv', os.umask(0o027)
    try:
        expect(pertoken('compare', scenario(folder), '-o', target).returncode == 0, 'compare')
    finally:
        os.umask(before)
    expect(stat.S_IMODE(target.stat().st_mode) == 0o640, oct(target.stat().st_mode))


def test_pipe_without_a_reader(folder):
    pipe = folder / 'pipe'
    os.mkfifo(pipe)
    expect_exit(pertoken('compare', scenario(folder), '-o', pipe), BAD_INPUT, 'a pipe with no reader')
    with subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE) as reader:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:  # until cat has opened it
            done = pertoken('compare', scenario(folder), '-o', pipe, '--format', 'csv')
            if done.returncode == 0:
                break
            time.sleep(0.02)
        expect(done.returncode == 0 and b'cost_per_mtok' in reader.stdout.read(), done.stderr)
    expect(stat.S_ISFIFO(pipe.stat().st_mode), 'the pipe was replaced')


def test_standard_output_by_its_names(folder):
    """A pipe behind a link has no path; a file is written to where it stands, not replaced."""
    path, file = scenario(folder), folder / 'all.csv'
    plain = pertoken('compare', path, '--format', 'csv').stdout
    for name in ('-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'):
        done = pertoken('compare', path, '--format', 'csv', '-o', name)
        expect(done.returncode == 0 and done.stdout == plain, f'{name}: {done.stderr}')
    with file.open('w', encoding='utf-8') as out:
        out.write('head\n')
        out.flush()
        subprocess.run([PERTOKEN, 'compare', path, '-q', '--format', 'csv', '-o', '/dev/stdout'], stdout=out, check=True)
        out.seek(0, os.SEEK_END)
        out.write('foot\n')
    lines = file.read_text(encoding='utf-8').splitlines()
    expect(lines[0] == 'head' and lines[-1] == 'foot' and lines[1:-1] == plain.splitlines(), lines[:2] + lines[-2:])


def test_links(folder):
    link, target = folder / 'link.csv', folder / 'target.csv'
    link.symlink_to('target.csv')
    expect_exit(pertoken('compare', scenario(folder), '-o', link), BAD_INPUT, 'a link to a file that does not exist')
    expect(link.is_symlink() and not target.exists(), 'the dangling link was replaced')
    target.write_bytes(OLD)
    expect(pertoken('compare', scenario(folder), '-o', link).returncode == 0, 'compare')
    expect(link.is_symlink() and target.read_bytes() != OLD, 'the link was not followed')


# ---- failures

def test_signals(folder):
    """At any moment of writing, by each signal that asks a program to end."""
    path, target = scenario(folder, MANY), folder / 'out.xlsx'
    target.write_bytes(OLD)
    start = time.monotonic()
    expect(report(path, target).returncode == 0, 'report')
    seconds = time.monotonic() - start
    target.write_bytes(OLD)
    for number in SIGNALS:
        for share in (0.2, 0.5, 0.8, 0.95) if DEEP else (0.5, 0.75, 0.9):
            with subprocess.Popen([PERTOKEN, 'report', path, '-q', '-o', target]) as child:
                time.sleep(share * seconds)
                child.send_signal(number)
                ended = child.wait()
            expect(ended in (0, -number), f'{number}: {ended}')
            expect(sorted(os.listdir(folder)) == ['out.xlsx', 'scenario.ini'], f'{number}: {os.listdir(folder)}')
            if target.read_bytes() != OLD:
                whole(target)


def test_exhausted_memory(folder):
    path, target = scenario(folder, MANY), folder / 'out.xlsx'
    target.write_bytes(OLD)
    for megabytes in (40, 80, 120):
        def limit(size=megabytes << 20):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        done = report(path, target, preexec_fn=limit)
        expect(done.returncode in (0, MACHINE_FAILED), f'{megabytes} MB: exit {done.returncode}: {done.stderr}')
        expect(sorted(os.listdir(folder)) == ['out.xlsx', 'scenario.ini'], os.listdir(folder))


def test_limits_of_a_files_size(folder):
    path, target = scenario(folder), folder / 'out.xlsx'
    for size in map(int, SIZES):
        target.write_bytes(OLD)
        done = report(path, target, preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        whole_or_old(done, target)
    expect(done.returncode == 0, 'the largest is large enough')
    expect(sorted(os.listdir(folder)) == ['out.xlsx', 'scenario.ini'], os.listdir(folder))


def mounted(folder, where, kilobytes, target):
    """A report in a mount namespace of its own, in which a folder is a disk of that size."""
    script = ('mount -t tmpfs -o size="$2"k tmpfs "$1" || exit 77; [ -e "$3" ] || printf "an older file" >"$3"; '
              '"$0" report "$4" -q -o "$3" --data "$5"; rc=$?; [ $rc = 0 ] && cp "$3" "$6"; exit $rc')
    arguments = ['-rm', 'sh', '-c', script, PERTOKEN, where, kilobytes, target, folder / 'scenario.ini',
                 ROOT / 'data', folder / 'copy.xlsx']
    try:
        done = program.run(*arguments, program='unshare')
    except FileNotFoundError:
        raise Skip('needs unshare') from None
    if done.returncode in (1, 77) and 'pertoken' not in done.stderr:
        raise Skip('no disk can be mounted here')
    return done


def test_full_temporary_folder(folder):
    """The workbook's temporary files are not in a folder that may be full, but beside it."""
    scenario(folder)
    target, temporary = folder / 'out.xlsx', folder / 'temporary'
    target.write_bytes(OLD)
    temporary.mkdir()
    os.environ['TMPDIR'] = str(temporary)
    try:
        done = mounted(folder, temporary, 4, target)
    finally:
        del os.environ['TMPDIR']
    expect(done.returncode == 0, done.stderr)
    whole(target)


def test_small_disks(folder):
    scenario(folder)
    disk = folder / 'disk'
    disk.mkdir()
    for kilobytes in DISKS:
        (folder / 'copy.xlsx').unlink(missing_ok=True)
        done = mounted(folder, disk, kilobytes, disk / 'out.xlsx')
        expect(done.returncode in (0, MACHINE_FAILED), f'{kilobytes} k: exit {done.returncode}: {done.stderr}')
        if done.returncode == 0:
            whole(folder / 'copy.xlsx')


if __name__ == '__main__':
    count = Count()
    count.tests_in_folders(globals())
    count.finish()
