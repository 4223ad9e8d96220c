#!/usr/bin/python3
"""Does `make lint` find nothing in the sources, and does each of its parts find a fault?

clang-tidy takes a second for each of the 770 files. If tests/run draws an order, it reads an eighth of them, which the
word of the draw decides; otherwise all.
Deep only: it takes longer than a user waits for, and finds what a compiler's warnings do not.
Seconds: 1, deep 200
"""
import hashlib
import os
import re
import shutil
from pathlib import Path

from support.program import ROOT, Skip, expect, run, run_tests

# Another version finds other things.
VERSIONS = {'clang-format': '14', 'clang-tidy': '14', 'cppcheck': '2.10'}
KNOW_INCLUDES = [f'clang-tidy-{version}' for version in range(17, 24)]
TURN, SHARES = os.environ.get('PERTOKEN_TURN', ''), 8
FAULTY = """\
#include "base/csv.h"
#include "base/ini.h"

size_t  columns_of_none(void) {
  const struct table *none = 0;
  return none->columns;
}
"""
# What reads the sources: the programs, any of which will do, and what it says of the faulty one.
PARTS = {
    'lint-format': (['clang-format'], r'code should be clang-formatted'),
    'lint-includes': (KNOW_INCLUDES, r'stddef\.h'),
    'lint-cppcheck': (['cppcheck'], r'Null pointer dereference'),
    'lint-tidy': (['clang-tidy'], r'clang-analyzer-core\.NullDereference'),
}


def make(*arguments):
    return run('-s', 'GPU=no', *arguments, program='make', timeout=None)


def need(programs):
    found = next((name for name in programs if shutil.which(name)), None)
    if not found:
        raise Skip(f'{programs[0]} is not installed')
    wanted = VERSIONS.get(found)
    if wanted and not re.search(rf'(version |Cppcheck ){re.escape(wanted)}\b', run('--version', program=found).stdout):
        raise Skip(f'{found} is not of version {wanted}')


def share(files):
    """All, or the part that has its turn."""
    first = int(hashlib.sha256(TURN.encode()).hexdigest(), 16) % SHARES
    return files[first::SHARES] if TURN else files


def check_sources(_, part):
    need(PARTS[part][0])
    chosen = []
    if part == 'lint-tidy':
        files = make('lint-files').stdout.split()
        expect(len(files) > 700, f'{len(files)} files')
        chosen = [f'TIDY={" ".join(share(files))}']
    done = make(part, *chosen)
    expect(done.returncode == 0, f'{done.stdout[-3000:]}{done.stderr[-3000:]}')


def check_faulty(_, part):
    programs, says = PARTS[part]
    need(programs)
    path = Path(ROOT, 'build/tests/faulty.c')
    path.write_text(FAULTY)
    done = make(part, f'C_FILES={path.relative_to(ROOT)}')
    path.unlink()
    expect(done.returncode and re.search(says, done.stdout + done.stderr),
           f'exit {done.returncode}: {done.stdout}{done.stderr}')


if __name__ == '__main__':
    run_tests(globals(), **{'a fault': (PARTS, check_faulty), 'the sources': (PARTS, check_sources)})
