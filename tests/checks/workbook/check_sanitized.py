#!/usr/bin/python3
"""Does the program with sanitizers write the workbook and the page of every example without a
report?

Reading past an array may go unnoticed for years: the address sanitizer detects it.
Deep only: the program with sanitizers is built there.
Seconds: 60
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from support.program import BAD_INPUT, Count, DONE, NO, ROOT, run, skip_all  # noqa: E402

SANITIZED = ROOT / 'build' / 'asan' / 'pertoken'
# libxlsxwriter 1.1.4 never frees the formula of a drop-down list that names cells.
LIBRARY_LEAKS = 'leak:lxw_strdup'
OWN = sorted(Path(__file__).resolve().parent.glob('*.ini'))


def main():
    if not SANITIZED.exists():
        skip_all(f'{SANITIZED.relative_to(ROOT)} is not built')
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder, 'known-leaks')
        known.write_text(f'{LIBRARY_LEAKS}\n')
        environment = {'LSAN_OPTIONS': f'suppressions={known}:print_suppressions=0'}
        for scenario in [*harness.EXAMPLES, *OWN]:
            for ending in ('xlsx', 'html'):
                done = run('report', scenario, '-q', '-o', Path(folder, f'report.{ending}'),
                           *harness.places(scenario), program=SANITIZED, environment=environment, timeout=None)
                said = [line for line in done.stderr.splitlines()
                        if 'Sanitizer' in line or 'runtime error' in line]
                count.check(f'{scenario.name} as {ending}',
                            not said and done.returncode in (DONE, NO, BAD_INPUT),
                            f'exit {done.returncode}: {said[:1] or done.stderr[-300:]}')
    count.finish()


if __name__ == '__main__':
    main()
