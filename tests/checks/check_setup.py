#!/usr/bin/python3
"""Does setup request what each system offers, and does the build find a compiler for AMD's GPUs?

setup.sh runs on stand-ins for Debian's package tools that record what they are asked for, and where
there are no such tools; nothing is installed.
"""
import os
import pathlib
import shutil
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

# groups, settings, exit status, requested, not requested, output
CASES = [
    (EVERYTHING, {}, 0, ['gcc', 'chromium', 'clang-19'], [], 'setup: installing '),
    (['build'], {'LACKS': 'chromium clang-19'}, 0, ['gcc', 'libglpk-dev'], ['chromium'], 'setup: installing '),
    (EVERYTHING, {'LACKS': 'chromium clang-19 lld-19 llvm-19'}, 0, ['gcc', 'libcmocka-dev'],
     ['chromium', 'clang-19', 'lld-19'], 'left out, as this system has no such packages: chromium clang-19 lld-19 llvm-19'),
    (EVERYTHING, {'LACKS': 'chromium libinih-dev'}, 1, ['gcc', 'clang-19'], ['libinih-dev'],
     'no packages of these names. Please install, under the names of your system:\n  libinih-dev\nThen'),
    (EVERYTHING, {'FAILS': '1'}, 1, ['gcc'], [], 'setup: apt-get failed. Please install'),
    (['gpu'], {'HAS': 'clang-19 lld-19 llvm-19'}, 0, [], ['clang-19'], ''),
    (['gpu'], {'ROCM': '19.0.0git'}, 0, [], ['clang-19'], ''),
    (['gpu'], {'ROCM': '18.0.0git'}, 0, ['clang-19'], [], 'setup: installing clang-19 lld-19 llvm-19'),
]

# The programs that the shell script needs, and a compiler that finds the headers it is told about.
SHELL = ('bash', 'env', 'grep', 'id')
FAKE_CC = 'case " $HEADERS " in *" $3 "*) exit 0;; esac; exit 1'
HEADERS = ('gsl/gsl_rng.h csv.h xlsxwriter.h ini.h jansson.h uthash.h gcrypt.h unistr.h zlib.h Random123/philox.h '
           'glpk.h curl/curl.h yaml.h')

# Without apt-get: groups, existing tools, headers, exit status, output, not in the output
ELSEWHERE = [
    (['build'], ['dnf', 'gcc', 'make', 'pkg-config'], HEADERS, 0, [], ['setup']),
    (['build'], ['dnf', 'gcc', 'make', 'pkg-config'], 'zlib.h', 1,
     ['sudo dnf install gsl-devel libcsv-devel libxlsxwriter-devel inih-devel jansson-devel', 'EPEL', 'Random123-devel'],
     ['zlib', 'libgsl-dev', 'gcc', 'pkgconf']),
    (['build'], ['dnf'], '', 1, ['sudo dnf install gcc make pkgconf-pkg-config gsl-devel'], ['left out']),
    (['build'], ['zypper', 'gcc', 'make', 'pkg-config'], 'csv.h', 1,
     ['sudo zypper install gsl-devel', 'libinih-devel libjansson-devel'], ['EPEL', 'libcsv']),
    (['build', 'gpu'], ['dnf', 'gcc', 'make', 'pkg-config'], HEADERS, 0,
     ['left out, as the build can do without: clang lld llvm'], ['sudo']),
    (['build'], ['gcc', 'make', 'pkg-config'], HEADERS.replace('glpk.h', ''), 1,
     ['under the names of your system:\n  libglpk-dev (glpk.h)\nThen'], ['sudo', 'libgsl']),
]

# compilers in order, each a version and a target that it supports; the one that is chosen
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


def check_elsewhere(folder, groups, tools, headers, status, said, not_said):
    for name in SHELL:
        (folder / name).symlink_to(shutil.which(name))
    for name in tools:
        write(folder / name, 'exit 9')
    write(folder / 'cc', FAKE_CC)
    environment = {'PATH': str(folder), 'HEADERS': headers, 'ROCM_PATH': str(folder)}
    done = subprocess.run([shutil.which('bash'), SETUP, *groups], env=environment, capture_output=True, text=True)
    subject, output = f'setup.sh {" ".join(groups)} with {tools} and {headers}', done.stdout + done.stderr
    check(subject, done.returncode == status, f'exit {done.returncode}: {output}')
    check(subject, all(words in output for words in said), f'{output} without some of {said}')
    check(subject, not any(words in output for words in not_said), f'{output} with some of {not_said}')


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
    for case in ELSEWHERE:
        with tempfile.TemporaryDirectory() as folder:
            check_elsewhere(pathlib.Path(folder), *case)
    for case in COMPILERS:
        with tempfile.TemporaryDirectory() as folder:
            check_compiler(pathlib.Path(folder), *case)
    count.finish()


if __name__ == '__main__':
    main()
