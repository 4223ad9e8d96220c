#!/usr/bin/python3
"""Nothing is loaded, started or overwritten that a stranger has put in the way; and the programs are
linked and compiled so that bugs are harder to exploit.

    check_hardening.py [NAME...]

PERTOKEN and PROBE name the programs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support.program import (BAD_INPUT, Count, DONE, MACHINE_FAILED, PERTOKEN, PROBE, ROOT, Skip, expect,
                             expect_exit, run)

EXAMPLE = ROOT / 'examples' / 'uncertainty.ini'
SIMULATE = ('simulate', EXAMPLE, '--data', ROOT / 'data', '--draws', 64, '-q')
MARK = 'loaded by a stranger'
STRANGER = '#include <stdio.h>\n__attribute__((constructor)) static void mark(void) { puts("%s"); }\n' % MARK
LOCK = '.pertoken-probe.lock'


def stranger_in(folder):
    """A library that reports being loaded, under every name that is looked for."""
    source, library = folder / 'stranger.c', folder / 'mpi' / 'ranks.so'
    source.write_text(STRANGER)
    library.parent.mkdir()
    subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source], check=True)
    for name in ('lib/pertoken', '../lib/pertoken'):
        (folder / name / 'mpi').mkdir(parents=True)
        shutil.copy(library, folder / name / 'mpi/ranks.so')
        shutil.copy(library, folder / name / 'stranger.so')
    probe = folder / 'pertoken-probe'
    probe.write_text(f'#!/bin/sh\necho {MARK}\n')
    probe.chmod(0o755)


def alone(program, folder):
    """The program in a folder without plugins."""
    copied = folder / 'elsewhere' / 'bin' / program.name
    copied.parent.mkdir(parents=True, exist_ok=True)
    return shutil.copy(program, copied)


def without_proc(*command):
    return ['unshare', '-rm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh', *map(str, command)]


def test_current_folder_is_not_searched(folder):
    here = folder / 'a' / 'here'
    here.mkdir(parents=True)
    stranger_in(here)
    ranks = {'OMPI_COMM_WORLD_SIZE': 2, 'OMPI_COMM_WORLD_RANK': 0}
    done = run(*SIMULATE, program=alone(PERTOKEN, folder), cwd=here, environment=ranks)
    expect_exit(done, BAD_INPUT, 'no folder of plugins')
    expect(MARK not in done.stdout, done.stdout)


def test_unknown_own_folder(folder):
    """If /proc is not mounted, a program does not know its own place."""
    if subprocess.run(without_proc('true'), capture_output=True, check=False).returncode:
        raise Skip('no mount namespaces here')
    here = folder / 'b' / 'here'
    here.mkdir(parents=True)
    stranger_in(here)
    for program, arguments, status in ((PERTOKEN, ('probe', 'list'), MACHINE_FAILED), (PROBE, ('list',), DONE)):
        command = without_proc(program, *arguments)
        done = run(*command[1:], program=command[0], cwd=here)
        expect_exit(done, status)
        expect(MARK not in done.stdout, f'{program.name}: {done.stdout}')


def test_plugins_of_the_environment(folder):
    here = folder / 'c' / 'here'
    here.mkdir(parents=True)
    stranger_in(here)
    done = run('list', program=PROBE, cwd=here, environment={'PERTOKEN_PLUGINS': here / 'lib/pertoken'})
    expect_exit(done, DONE, MARK, 'is not a backend')


def run_into(folder):
    return run('run', '--data', ROOT / 'data', '--model', 'smollm-135m', '--time', '0.1', '--layers', '1', '-o', folder,
               '-q', program=PROBE)


def test_lock_that_is_a_link(folder):
    """The link's target is unchanged."""
    for kind, link in (('symbolic', os.symlink), ('hard', os.link)):
        directory, precious = folder / kind, folder / f'{kind}.txt'
        directory.mkdir()
        precious.write_text('precious')
        link(precious, directory / LOCK)
        expect_exit(run_into(directory), BAD_INPUT, f"{LOCK}' is a link, not a lock: remove it")
        expect(precious.read_text() == 'precious', f'a {kind} link was followed')
    directory = folder / 'dangling'
    directory.mkdir()
    os.symlink(folder / 'made.txt', directory / LOCK)
    expect_exit(run_into(directory), BAD_INPUT, 'is a link')
    expect(not (folder / 'made.txt').exists(), 'a file was made where a link led')


def test_linked_and_compiled(_):
    plugins = sorted((PERTOKEN.parent / 'lib' / 'pertoken').rglob('*.so'))
    for path in (PERTOKEN, PROBE, *plugins):
        found = subprocess.run(['readelf', '-W', '--dynamic', '--program-headers', '--symbols', path], text=True,
                               capture_output=True, check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout
        expect('GNU_RELRO' in found, f'{path}: no relocation is read-only')
        expect(re.search(r'\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b', found), f'{path}: functions are bound late')
        expect(not re.search(r'GNU_STACK.* RWE ', found), f'{path}: the stack can be executed')
        if path in plugins:
            continue
        expect('(FLAGS_1)' in found and re.search(r'\bPIE\b', found), f'{path}: its address is fixed')
        expect('__stack_chk_fail' in found, f'{path}: no stack protector')
        expect(re.search(r'__\w+_chk@', found), f'{path}: not fortified')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        count.tests(globals(), pathlib.Path(folder).resolve())
    count.finish()


if __name__ == '__main__':
    main()
