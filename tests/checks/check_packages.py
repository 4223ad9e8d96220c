#!/usr/bin/python3
"""`make deb` and `make rpm`: the same bytes twice, the same files in both, and a prefix that cannot be written.

Deep only: packing is slow.
Seconds: 20
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support.program import Count, DONE, ROOT, Skip, expect, expect_exit, run

WAIT_S = 900


def pack(kind, *arguments):
    done = run('-s', 'GPU=no', kind, *arguments, program='make', timeout=WAIT_S)
    expect_exit(done, DONE)
    return [pathlib.Path(line) for line in done.stdout.splitlines() if line.endswith('.' + kind)]


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f'{tool} is not here')


def test_deb_twice():
    """Two builds of the same commit give the same bytes, even at the same time; the programs' libraries are
    named."""
    need('dpkg-deb', 'dpkg-shlibdeps')
    first = {path: path.read_bytes() for path in pack('deb')}
    with concurrent.futures.ThreadPoolExecutor() as both:
        packed, beside = both.map(pack, ('deb', 'deb'))
    expect(packed == beside == list(first), f'{packed}, {beside}')
    expect(first == {path: path.read_bytes() for path in packed}, 'two packs differ')
    for path in packed:
        depends = run('-f', path, 'Depends', program='dpkg-deb').stdout
        expect('libc6' in depends, f'{path.name}: {depends}')
        listed = run('-c', path, program='dpkg-deb').stdout
        expect(('/lib/pertoken/' in listed) == (not path.name.startswith('pertoken_')), f'plugins in {path.name}')
        expect('root/root' in listed and str(os.getuid()) + '/' not in listed, 'owners')


def files_in(path, *command):
    lines = subprocess.run([*command, path], capture_output=True, encoding='utf-8', check=True).stdout.splitlines()
    return {line.lstrip('.') for line in lines if not line.endswith('/')}


def test_rpm():
    """The same files as in the Debian packages."""
    need('rpmbuild', 'rpm', 'dpkg-deb', 'tar')
    debs, rpms = pack('deb'), pack('rpm')
    expect(len(debs) == len(rpms), f'{debs}, {rpms}')
    for deb, rpm in zip(debs, rpms):
        held = files_in(deb, 'sh', '-c', 'dpkg-deb --fsys-tarfile "$0" | tar -t')
        expect(held == files_in(rpm, 'rpm', '-qpl'), f'{deb.name} and {rpm.name} differ')


STUBS = {'usr/lib/pertoken/cuda.so': 'pertoken-cuda', 'usr/lib/pertoken/hip.so': 'pertoken-hip',
         'usr/lib/pertoken/mpi/ranks.so': 'pertoken-mpi'}


def stub_root(folder):
    """What `make install` would produce from a build with every plugin: each is a library with one function."""
    source = folder / 'stub.c'
    source.write_text('#include <stdio.h>\nint stub(void) { return puts("stub"); }\nint main(void) { return stub(); }\n')
    root = folder / 'root'
    for path in ('usr/bin/pertoken', *STUBS):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shared = ['-shared', '-fPIC'] if path.endswith('.so') else []
        expect_exit(run(*shared, '-o', root / path, source, program='cc'), DONE)
    return root


def packed_stubs(kind, environment=None):
    """{name of the package: its file} from a build with every plugin."""
    folder = pathlib.Path(tempfile.mkdtemp())
    done = run(kind, stub_root(folder), folder / 'out', '1.2', program=ROOT / 'packaging/packages',
               environment={'SOURCE_DATE_EPOCH': '1', 'MAINTAINER': 'nobody <nobody@localhost>', **(environment or {})})
    expect_exit(done, DONE)
    paths = [pathlib.Path(line) for line in done.stdout.splitlines()]
    return {re.match(r'[a-z]+(-[a-z]+)?', path.name)[0]: path for path in paths}


def test_plugins():
    """Each plugin has a package of its own that needs the program's in the same version, and no other package
    contains it."""
    need('dpkg-deb', 'dpkg-shlibdeps', 'cc')
    packed = packed_stubs('deb')
    expect(set(packed) == {'pertoken', *STUBS.values()}, packed)
    for name, path in packed.items():
        depends = run('-f', path, 'Depends', program='dpkg-deb').stdout
        expect('libc6' in depends and ('pertoken (= 1.2)' in depends) == (name != 'pertoken'), f'{name}: {depends}')
        held = files_in(path, 'sh', '-c', 'dpkg-deb --fsys-tarfile "$0" | tar -t')
        mine = {'/' + plugin for plugin, owner in STUBS.items() if owner == name}
        expect({file for file in held if file.endswith('.so')} == mine, f'{name} holds {held}')


RPMBUILD = '''#!/bin/sh
for word; do case $word in "_rpmdir "*) out=${word#_rpmdir } ;; *.spec) spec=$word ;; esac; done
mkdir -p "$out"
name=$(sed -n 's/^Name: //p' "$spec")
{ cat "$spec"; cat "$(sed -n 's/^%files -f //p' "$spec")"; } >"$out/$name-1.2-1.any.rpm"
'''


def test_rpm_demands():
    """What rpmbuild is told: the same split, and each plugin requires the program's package. rpm finds the
    libraries itself. A stand-in for rpmbuild keeps what it is told."""
    need('cc')
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, 'rpmbuild')
        tool.write_text(RPMBUILD)
        tool.chmod(0o755)
        packed = packed_stubs('rpm', {'PATH': f'{folder}:{os.environ["PATH"]}'})
        expect(set(packed) == {'pertoken', *STUBS.values()}, packed)
        for name, path in packed.items():
            told = path.read_text()
            expect(('Requires: pertoken = 1.2' in told) == (name != 'pertoken'), f'{name}: {told}')
            expect('AutoReq' not in told and 'AutoReqProv' not in told, f'{name}: libraries are not looked for')
            mine = {'/' + plugin for plugin, owner in STUBS.items() if owner == name}
            expect(set(re.findall(r'"(/\S+\.so)"', told)) == mine, f'{name} holds {told}')


def test_no_tools():
    """Without rpmbuild, a message says so."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in ('sh', 'realpath', 'dirname', 'mkdir'):
            os.symlink(shutil.which(tool), f'{folder}/{tool}')
        for kind, word in (('rpm', 'no rpmbuild here'), ('deb', 'no dpkg-deb here'), ('zip', "found 'zip'")):
            done = run(kind, folder, folder, '1', program=ROOT / 'packaging/packages', environment={'PATH': folder})
            expect_exit(done, 1, word)


def test_read_only():
    """A prefix that cannot be written is an error, and nothing is left in it."""
    need('setpriv')
    as_nobody = ['--reuid=65534', '--regid=65534', '--clear-groups'] if os.getuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        done = run(*as_nobody, 'make', '-s', 'GPU=no', 'install', f'DESTDIR={folder}', program='setpriv', timeout=WAIT_S)
        expect(done.returncode != 0 and 'Permission denied' in done.stderr, f'{done.returncode} {done.stderr}')
        expect(not os.listdir(folder), os.listdir(folder))


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests(dict(globals()))
    COUNT.finish()
