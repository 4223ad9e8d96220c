#!/usr/bin/python3
"""Is the object that carries the hash of a backend's sources compiled again when any of them changes?

A record states that hash as the build of its kernels, and 'accept' refuses runs of two builds. make is
asked what it would do if a source were new; of a backend that is not built here, nothing.
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import Count, ROOT  # noqa: E402

CARRIERS = [('build/obj/kernels/cpu/backend.o', 'kernels/cpu/backend.c',
             ['kernels/*.[ch]', 'kernels/cpu/*.[ch]', 'kernels/cpu/isa/*.[ch]']),
            ('build/gpu/kernels/gpu/host/driver_runtime.o', 'kernels/gpu/host/driver_runtime.c',
             ['kernels/*.h', 'kernels/weights.c', 'kernels/gpu/**/*.[chS]', 'kernels/gpu/**/*.cu'])]


def steps(target, *options):
    """What make would do for a target if everything that it stands on were as old as it is."""
    made = subprocess.run(['make', '-n', 'GPU=no', '-o', 'Makefile', '-o', 'kernels/gpu/build.mk', *options, target],
                          cwd=ROOT, capture_output=True, text=True, check=True)
    return made.stdout


def main():
    count = Count()
    for target, source, patterns in CARRIERS:
        if not (ROOT / target).exists() or source in steps(target):
            count.skip(target, 'not built, or not up to date')
            continue
        for pattern in patterns:
            path = sorted(ROOT.glob(pattern))[-1].relative_to(ROOT)
            count.check(path, source in steps(target, '-W', str(path)), f'does not renew {target}')
    count.finish()


if __name__ == '__main__':
    main()
