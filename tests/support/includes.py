#!/usr/bin/env python3
"""Whether every C file includes the header of everything that it uses, and nothing else.

  includes.py [--fix] FILE...

A file does not rely on what other headers include; its own header counts as a part of it. The judge
is clang-tidy's misc-include-cleaner (clang-tidy 17 or later). Exit 1 if something is missing or not
used; --fix corrects it, to be put in order by clang-format.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Internal headers of libraries: their main header is the one to include.
INSIDE = 'bits/.*;asm/.*;asm-generic/.*;sys/poll.h;linux/.*;sys/types.h;xlsxwriter/.*;jansson_config.h;gsl/gsl_types.h;unitypes.h;zconf.h'
CONFIG = ("{Checks: '-*,misc-include-cleaner', CheckOptions: "
          f"{{misc-include-cleaner.IgnoreHeaders: '{INSIDE}'}}}}")
OPTIONS = ['-x', 'c', '-std=c11', '-D_GNU_SOURCE', '-DHAVE_GLPK', '-DKERNELS_BUILD=""', '-DGPU_BUILD=""',
           '-fopenmp', '-I.']
# Headers of C itself declare all that they stand for; a library's main header may declare nothing itself.
STANDARD = {f'<{name}.h>' for name in
            ('assert ctype errno float inttypes limits locale math setjmp stdarg stdatomic stdbool stddef stdint '
             'stdio stdlib string time dirent fcntl poll strings unistd').split()}
INCLUDE = re.compile(r'#include ([<"][^>"]+[>"])')
FIX = re.compile(r'Offset: +(\d+)\n +Length: +(\d+)\n +ReplacementText: +(\S.*)')


def clang_tidy():
    """An older one does not know the check, and finds nothing wrong in any file."""
    names = [f'clang-tidy-{version}' for version in range(23, 16, -1)] + ['clang-tidy']
    return next((name for name in names if shutil.which(name) and knows_check(name)), None)


def knows_check(tool):
    listed = subprocess.run([tool, f'--config={CONFIG}', '--list-checks'], capture_output=True, text=True, check=False)
    return 'misc-include-cleaner' in listed.stdout


def gcc_openmp(folder):
    """A folder with gcc's <omp.h> and none of clang's own headers."""
    found = subprocess.run(['gcc', '-print-file-name=include'], capture_output=True, text=True, check=True)
    pathlib.Path(folder, 'omp.h').symlink_to(pathlib.Path(found.stdout.strip(), 'omp.h'))
    return ['-idirafter', folder]


def included(path):
    return set(INCLUDE.findall(path.read_text())) if path.exists() else set()


def replacements(tool, options, path):
    """The judge's suggested changes to a file, (offset, length, text), from its list of fixes."""
    with tempfile.TemporaryDirectory() as folder:
        fixes = pathlib.Path(folder, 'fixes')
        subprocess.run([tool, '--quiet', f'--config={CONFIG}', f'--export-fixes={fixes}', path, '--', *options],
                       capture_output=True, check=False)
        text = fixes.read_text() if fixes.exists() else ''
    return [(int(offset), int(length), words.replace('\\"', '"')) for offset, length, words in FIX.findall(text)]


def findings(tool, options, path):
    """The headers that a file should include and does not, and those that it includes
    unnecessarily."""
    missing, unused = set(), set()
    text = path.read_bytes()
    for offset, length, words in replacements(tool, options, path):
        wanted = INCLUDE.search(words)
        if wanted:  # C's own form: <stddef.h> for <cstddef>
            missing.add(re.sub(r'^<c(\w+)>$', r'<\1.h>', wanted.group(1)))
        elif length:
            unused |= {name for name in INCLUDE.findall(text[offset:offset + length].decode())
                       if name[0] == '"' or name in STANDARD}
    return missing - included(path), unused


def mend(path, missing, unused):
    """Puts the missing lines before the first of their kind."""
    lines = path.read_text().split('\n')
    lines = [line for line in lines if not (INCLUDE.match(line) and INCLUDE.match(line).group(1) in unused)]
    own = f'"{path.with_suffix(".h")}"'
    for opening in '<"':
        new = sorted(f'#include {name}' for name in missing if name[0] == opening)
        places = [number for number, line in enumerate(lines)
                  if line.startswith(f'#include {opening}') and own not in line]
        if not new:
            continue
        if places:
            lines[places[0]:places[0]] = new
            continue
        own_at = next((number for number, line in enumerate(lines) if own in line), None)
        system_at = next((number for number, line in enumerate(lines) if line.startswith('#include <')), None)
        if opening == '"' and own_at is None and system_at is not None:
            lines[system_at:system_at] = [*new, '']
            continue
        last = max((number for number, line in enumerate(lines) if line.startswith(('#include', '#define P'))),
                   default=-1)
        at = own_at if opening == '"' and own_at is not None else last
        lines[at + 1:at + 1] = ['', *new]
    path.write_text('\n'.join(lines))


def main():
    fix = sys.argv[1:2] == ['--fix']
    tool = clang_tidy()
    if not tool:
        sys.exit('no clang-tidy of version 17 or later')
    paths = [pathlib.Path(name) for name in sys.argv[1 + fix:]]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        options = OPTIONS + gcc_openmp(folder)
        found = dict(zip(paths, pool.map(lambda path: findings(tool, options, path), paths)))
    wrong = 0
    for path, (missing, unused) in found.items():
        header = path.with_suffix('.h')
        if path.suffix == '.c':
            missing = missing - (included(header) - found.get(header, (set(), set()))[1])
        wrong += len(missing) + len(unused)
        if fix and (missing or unused):
            mend(path, missing, unused)
            continue
        for name in sorted(missing):
            print(f'{path}: uses what {name} declares without including it')
        for name in sorted(unused):
            print(f'{path}: includes {name} in vain')
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
