#!/usr/bin/python3
"""The Debian package in a bare Debian 12: installed with its dependencies, used from another folder by a user who
is not root, installed over an older version, and removed without a trace.

Deep only: packing is slow. Skipped without root, debootstrap, namespaces or a Debian mirror.
A bare system is made once, in build/tests/debian-12 with the packages that it fetched; every run copies it.
Everything is mounted in a namespace that ends with its command, so that nothing stays behind.
Seconds: 60
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

from support.program import Count, DONE, MACHINE_FAILED, ROOT, Skip, expect, expect_exit, run, skip_all

WAIT_S = 900
CACHE = ROOT / 'build/tests/debian-12'
NEEDED = ('debootstrap', 'dpkg-deb', 'dpkg-shlibdeps', 'unshare', 'chroot')
QUIET = {'DEBIAN_FRONTEND': 'noninteractive', 'LC_ALL': 'C.UTF-8', 'HOME': '/root', 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}
MOUNTED = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
NOBODY = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--')


def inside(root, *command):
    """A command in that system, with its /proc."""
    try:
        return run('--mount', '--propagation=private', '--', 'sh', '-c', MOUNTED, root, *command, program='unshare',
                   environment=QUIET, timeout=WAIT_S)
    except subprocess.TimeoutExpired as error:
        raise Skip(f'{command[0]} takes over {WAIT_S} s: a slow mirror') from error


def refuse_unreachable(done):
    """An unreachable mirror is not a failure."""
    if any(words in done.stderr for words in ('Failed to fetch', 'Could not resolve', 'Unable to fetch', 'Could not connect')):
        raise Skip(f'no mirror of Debian: {done.stderr.strip().splitlines()[-1]}')


def make_base():
    """A bare system, complete or not there at all."""
    if CACHE.exists():
        return
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    began = pathlib.Path(tempfile.mkdtemp(prefix='debian-', dir=CACHE.parent))
    try:
        root = began / 'root'
        done = run('--mount', '--propagation=private', '--', 'debootstrap', '--variant=minbase', 'bookworm', root,
                   program='unshare', timeout=WAIT_S)
        if done.returncode:
            raise Skip(f'debootstrap made no system: {(done.stdout + done.stderr).strip().splitlines()[-1]}')
        root.rename(CACHE)
    except subprocess.TimeoutExpired as error:
        raise Skip('debootstrap takes too long: a slow mirror') from error
    finally:
        shutil.rmtree(began)


def paths(root):
    """What a package may leave behind; the package lists and caches are apt's."""
    found = set()
    for part in ('etc', 'usr', 'opt', 'srv', 'var', 'home', 'root'):
        for folder, folders, files in os.walk(root / part):
            found |= {os.path.relpath(os.path.join(folder, name), root) for name in folders + files}
    return {path for path in found if not path.startswith(('var/lib/apt', 'var/lib/dpkg', 'var/cache', 'var/log'))}


def packages():
    done = run('-s', 'GPU=no', 'deb', program='make', timeout=WAIT_S)
    expect_exit(done, DONE)
    return {pathlib.Path(line).name.partition('_')[0]: pathlib.Path(line) for line in done.stdout.splitlines()
            if line.endswith('.deb')}


def older(deb, folder):
    """The package as version 0.0.1, with a file that the current one lacks."""
    tree = folder / 'older'
    expect_exit(run('-R', deb, tree, program='dpkg-deb'), DONE)
    control = tree / 'DEBIAN/control'
    lines = control.read_text().splitlines()
    control.write_text('\n'.join('Version: 0.0.1' if line.startswith('Version:') else line for line in lines) + '\n')
    (tree / 'usr/share/pertoken/of-old').write_text('old')
    expect_exit(run('--root-owner-group', '-Zxz', '-z0', '--build', tree, folder / 'older.deb', program='dpkg-deb'), DONE)
    return folder / 'older.deb'


def install(root, deb):
    shutil.copy(deb, root / 'tmp/package.deb')
    command = ('apt-get', '-qy', '--no-install-recommends', 'install', '/tmp/package.deb')
    done = inside(root, *command)
    if done.returncode:
        refuse_unreachable(inside(root, 'apt-get', '-q', 'update'))
        done = inside(root, *command)
        refuse_unreachable(done)
    expect_exit(done, DONE)


def keep_fetched(root):
    """What was fetched is kept for the next run, which then needs no mirror."""
    for part in ('var/cache/apt/archives', 'var/lib/apt/lists'):
        shutil.copytree(root / part, CACHE / part, dirs_exist_ok=True)


def check_use(root):
    """As user nobody, in a folder of its own."""
    (root / 'home/nobody').mkdir()
    os.chown(root / 'home/nobody', 65534, 65534)

    def use(*command):
        return inside(root, *NOBODY, 'sh', '-c', 'cd /home/nobody && exec "$@"', 'sh', *command)

    expect_exit(use('id', '-u'), DONE, '65534')
    expect_exit(use('pertoken', 'new', 'mi325x', 'h200', '--model', 'llama-2-70b', '--count', '8', '-o', 'own.ini'), DONE,
                'costs least')
    expect_exit(use('pertoken', 'report', 'own.ini', '-q', '-o', 'own.xlsx'), DONE)
    expect((root / 'home/nobody/own.xlsx').stat().st_size > 10000, 'no workbook')
    expect_exit(use('pertoken', 'probe', 'list'), DONE, 'cpu')
    expect_exit(use('pertoken', 'report', 'own.ini', '-q', '-o', '/usr/share/pertoken/own.xlsx'), MACHINE_FAILED,
                'cannot write')
    for path in ('usr/share/man/man1/pertoken.1.gz', 'usr/share/bash-completion/completions/pertoken'):
        expect((root / path).exists(), f'{path} is not there')


def check_package(count, root, folder):
    if os.path.exists('/etc/resolv.conf'):
        shutil.copy('/etc/resolv.conf', root / 'etc/resolv.conf')
    before = paths(root)
    deb = packages()['pertoken']
    install(root, older(deb, folder))
    expect_exit(inside(root, 'dpkg-query', '-W', 'pertoken'), DONE, '0.0.1')
    count.check('older', (root / 'usr/share/pertoken/of-old').exists())
    install(root, deb)
    keep_fetched(root)
    count.check('upgraded', not (root / 'usr/share/pertoken/of-old').exists(), 'a file of the older version stays')
    count.test('used', check_use, root)
    shutil.rmtree(root / 'home/nobody', ignore_errors=True)
    expect_exit(inside(root, 'apt-get', '-qy', 'purge', '--autoremove', 'pertoken'), DONE)
    left = paths(root) - before
    count.check('removed', not left, sorted(left)[:20])


def main():
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    if os.getuid() or missing:
        skip_all(f'{missing[0]} is not here' if missing else 'only root can install packages')
    if run('--mount', '--', 'true', program='unshare').returncode:
        skip_all('no namespaces here')
    count = Count()
    with tempfile.TemporaryDirectory(dir=ROOT / 'build') as place:
        folder = pathlib.Path(place)
        try:
            make_base()
            expect_exit(run('-a', '--reflink=auto', CACHE, folder / 'root', program='cp', timeout=WAIT_S), DONE)
        except Skip as reason:
            skip_all(reason)
        count.test('package', check_package, count, folder / 'root', folder)
    count.finish()


if __name__ == '__main__':
    main()
