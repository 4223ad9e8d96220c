#!/usr/bin/python3
"""Does setting up ask for what a system has, and does the build find a compiler for AMD's GPUs?

setup.sh runs on stand-ins for Debian's package tools that note what they are asked for; nothing is
installed.
"""
import os
import pathlib
import subprocess
import tempfile

from support.program import Count, ROOT

SETUP = ROOT / 'tests' / 'support' / 'setup.sh'
EVERYTHING = ('build', 'page', 'test', 'gpu')

TOOLS = {
    'id': 'echo 0',
    'npm': 'true',
    'dpkg-query': 'for p in $HAS; do echo "installed $p"; done',
    'apt-cache': 'case " $LACKS " in *" $2 "*) echo "  Candidate: (none)";; *) echo "  Candidate: 1.0";; esac',
    'apt-get': 'echo "apt-get $*" >>"$ASKED"; case "$*" in *install*) exit "${FAILS:-0}";; esac',
}
CLANG = """case "$*" in
  -dumpversion) echo {version};;
  *) printf '\\tgfx90a\\n\\t{knows}\\n' >&2;;
esac"""

# groups, what is set, exit status, asked for, not asked for, said
CASES = [
    (EVERYTHING, {}, 0, ['gcc', 'chromium', 'clang-19'], [], 'setup: installing '),
    (['build'], {'LACKS': 'chromium clang-19'}, 0, ['gcc', 'libglpk-dev'], ['chromium'], 'setup: installing '),
    (EVERYTHING, {'LACKS': 'chromium clang-19 lld-19 llvm-19'}, 0, ['gcc', 'libcmocka-dev'],
     ['chromium', 'clang-19', 'lld-19'], 'left out, for this system has no such packages: chromium clang-19 lld-19 llvm-19'),
    (EVERYTHING, {'LACKS': 'chromium libinih-dev'}, 1, ['gcc', 'clang-19'], ['libinih-dev'],
     'no packages of these names. Please install, under the names of your system:\n  libinih-dev\nThen'),
    (EVERYTHING, {'FAILS': '1'}, 1, ['gcc'], [], 'setup: apt-get failed. Please install'),
    (['gpu'], {'HAS': 'clang-19 lld-19 llvm-19'}, 0, [], ['clang-19'], ''),
    (['gpu'], {'ROCM': '19.0.0git'}, 0, [], ['clang-19'], ''),
    (['gpu'], {'ROCM': '18.0.0git'}, 0, ['clang-19'], [], 'setup: installing clang-19 lld-19 llvm-19'),
]

# compilers in order, each a version and a target that it knows; the one that is taken
COMPILERS = [
    (['22.1.8 gfx942', '19.1.7 gfx942'], 0),
    (['18.0.0git gfx942', '19.0.0git gfx942'], 1),
    (['19.1.7 gfx90a', '20.0.0git gfx942'], 1),
    (['15.0.6 gfx90a'], None),
    ([], None),
]

count = Count()
check = count.check


def write(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{body}\n')
    path.chmod(0o755)
    return path


def check_setup(folder, groups, variables, status, asked_for, not_asked_for, said):
    asked = folder / 'asked'
    asked.write_text('')
    for name, body in TOOLS.items():
        write(folder / 'bin' / name, body)
    compiler = folder / 'rocm' / 'llvm' / 'bin' / 'clang'
    write(compiler, CLANG.format(version=variables.get('ROCM', '0'), knows='gfx942'))
    environment = {'PATH': f'{folder / "bin"}:{os.environ["PATH"]}', 'ASKED': str(asked),
                   'ROCM_PATH': str(folder / 'rocm'), **variables}
    done = subprocess.run([SETUP, *groups], env=environment, capture_output=True, text=True)
    subject = f'setup.sh {" ".join(groups)} with {variables}'
    installed = [word for line in asked.read_text().splitlines() if ' install ' in line
                 for word in line.split()]
    check(subject, done.returncode == status, f'exit {done.returncode}: {done.stderr}')
    check(subject, said in done.stdout + done.stderr, f'{done.stdout}{done.stderr} without {said!r}')
    check(subject, set(asked_for) <= set(installed), f'{installed} lacks some of {asked_for}')
    check(subject, not set(not_asked_for) & set(installed), f'{installed} has some of {not_asked_for}')


def check_compiler(folder, compilers, taken):
    paths = []
    for number, compiler in enumerate(compilers):
        version, knows = compiler.split()
        paths.append(str(write(folder / f'clang{number}', CLANG.format(version=version, knows=knows))))
    done = subprocess.run(
        ['make', '--no-print-directory', '--eval', 'show: ; @echo "<$(GPU_CLANG)>"', 'show',
         f'GPU_CLANGS={" ".join(paths)}'], cwd=ROOT, capture_output=True, text=True)
    expected = f'<{"" if taken is None else paths[taken]}>\n'
    check(f'{compilers}', done.stdout == expected, f'{done.stdout}{done.stderr}, not {expected}')


def main():
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            check_setup(pathlib.Path(folder), *case)
    for case in COMPILERS:
        with tempfile.TemporaryDirectory() as folder:
            check_compiler(pathlib.Path(folder), *case)
    count.finish()


if __name__ == '__main__':
    main()
