#!/usr/bin/python3
"""Does the machine code for AMD's GPUs do what it should, instruction by instruction? Needs no GPU.

    TINYGRAD=folder check_instructions.py [all | ARCHITECTURE ...]

The HIP plugin, as it was built, decodes on the tests' HIP, whose launches are computed by executing
the kernels' own machine code on the emulator of AMD's instruction sets in TINYGRAD, a checkout of
https://github.com/tinygrad/tinygrad of August 2026 or later (tests/stand_ins/hip/instructions.c).
What comes out is held against the oracle. One architecture after another: gfx942, or those named.
Every kernel must have run, and the check must notice an instruction that does nothing.
Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.

What this cannot show: the times, the order in which a GPU's memory becomes visible, and the waiting
states that some instructions want between them.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import Count, ROOT, SKIPPED  # noqa: E402

MACHINES = {'gfx90a': '3f', 'gfx942': '4c', 'gfx950': '4f', 'gfx1100': '41', 'gfx1201': '4e'}
SMALL = '6 2 40 72 101 203'  # heads, KV heads, elements of a head, hidden, FFN, vocabulary
LONG = '8 1 128 72 101 203'  # sums of so many columns are split
TOGETHER = '12 4 20 72 108 100'  # four devices can share it

# tests/stand_ins/hip/decode.c: weights (and activations), cache, batch, context, shape, tuning.
CASES = ['calibrate',
         f'bf16 bf16 1 70 {SMALL}', f'bf16 e4m3 2 70 {SMALL}', f'bf16 bf16 3 70 {SMALL}',
         f'bf16 bf16 5 200 {LONG}', f'bf16 bf16 17 70 {SMALL}', f'bf16 bf16 33 70 {SMALL}',
         f'bf16 bf16 64 20 {SMALL}', f'bf16 bf16 1 300 {SMALL} attention_splits=3',
         f'e4m3 e4m3 1 70 {SMALL}', f'e4m3 e4m3 2 70 {LONG}', f'e4m3 bf16 3 70 {SMALL} vector_batch=4',
         f'e4m3-head e4m3 5 70 {SMALL}', f'e4m3 e4m3 17 70 {LONG}', f'e4m3 bf16 33 70 {SMALL}',
         f'e4m3 bf16 64 20 {SMALL}',
         f'e4m3-bf16 bf16 1 70 {SMALL}', f'e4m3-bf16 e4m3 2 70 {SMALL}',
         f'e4m3-bf16 bf16 4 70 {SMALL} vector_batch=4',
         f'e4m3-bf16 bf16 5 70 {LONG}', f'e4m3-bf16 bf16 17 70 {SMALL}',
         f'e4m3-bf16 bf16 33 70 {SMALL}', f'e4m3-bf16 bf16 64 20 {SMALL}',
         f'4x bf16 bf16 1 70 {TOGETHER}', f'2x e4m3 e4m3 5 70 {TOGETHER}']
# Where heads may be wider than 128, and where a step may be one launch.
WIDE = ['bf16 bf16 4 70 4 2 192 72 101 203', 'e4m3-bf16 e4m3 2 70 2 1 256 72 101 203']
PERSISTENT = [f'{weights} {kv} {batch} 70 3 1 80 72 101 203 step=persistent'
              for weights, kv, batch in (('bf16', 'bf16', 1), ('bf16', 'bf16', 3), ('e4m3-bf16', 'e4m3', 2))]

# Left out, the result must be wrong: a multiply-add, an exponential, a barrier, the matrix unit.
BROKEN = ['V_FMAC_F32_E32', 'V_EXP_F32_E32']
BARRIERS = {'gfx1201': 'S_BARRIER_WAIT'}
MFMA = {'gfx90a': 'V_MFMA_F32_16X16X16_BF16', 'gfx942': 'V_MFMA_F32_16X16X16_BF16',
        'gfx950': 'V_MFMA_F32_16X16X32_BF16'}
ONLY_CUDA = {'round_paired_norm', 'round_paired_round'}


def has_matrix_unit(architecture):
    return architecture in MFMA


def decode(architecture, cases, *without, log=None):
    """What becomes of those cases, line by line, without an instruction; and the standard error."""
    library = ROOT / 'build/tests/lib/fake_hip.so'
    environment = {**os.environ, 'HIP_DECODE': 'build/tests/lib/hip_decode.so', 'PERTOKEN_HIP_LIBRARY': str(library), 'PERTOKEN_RCCL_LIBRARY': str(library),
                   'FAKE_HIP_EMULATOR': 'build/tests/lib/instructions.so', 'FAKE_HIP_DEVICES': '4',
                   'FAKE_HIP_ARCHITECTURE': architecture, 'FAKE_HIP_MACHINE': MACHINES[architecture],
                   'FAKE_HIP_WARP': '64' if has_matrix_unit(architecture) else '32',
                   **({'INSTRUCTIONS_LOG': log} if log else {})}
    command = [sys.executable, 'tests/stand_ins/hip/instructions.py', architecture, *without]
    done = subprocess.run(command, input='\n'.join(cases), cwd=ROOT, env=environment,
                          encoding='utf-8', capture_output=True, timeout=1200, check=False)
    return done.stdout.splitlines(), done.stderr


def kernels_of(architecture):
    """The names of the kernels in the images that the build left."""
    images = [ROOT / f'build/gpu/{stem}{architecture}.code' for stem in ('', 'persistent_')]
    return {name.decode() for image in images if image.exists()
            for name in re.findall(rb'\0([a-z0-9_]+)\.kd', image.read_bytes())}


def check_architecture(count, architecture):
    cases = CASES + (WIDE if has_matrix_unit(architecture) else []) + (
        PERSISTENT if has_matrix_unit(architecture) else [])
    with tempfile.NamedTemporaryFile('r') as log:
        lines, errors = decode(architecture, cases, log=log.name)
        ran = set(log.read().split())
    if lines and 'no kernels for this device' in lines[0]:
        count.skip(architecture, 'not built')
        return
    for case, line in zip(cases, lines + ['nothing'] * len(cases)):
        count.check(f'{architecture}: {case}', line.startswith('ok '), f'{line}\n{errors}')
    missing = kernels_of(architecture) - ran - ONLY_CUDA
    count.check(f'{architecture}: every kernel runs', ran and not missing, f'but not {sorted(missing)}')
    broken = BROKEN + [BARRIERS.get(architecture, 'S_BARRIER'), MFMA.get(architecture)]
    for instruction in filter(None, broken):
        lines, errors = decode(architecture, [f'bf16 bf16 5 70 {SMALL}'], instruction)
        count.check(f'{architecture}: {instruction} left out is noticed', lines and lines[0].startswith('FAIL'),
                    f'{lines}\n{errors}')
    print(f'{architecture}: {len(cases)} cases, {len(ran)} kernels')


def main():
    if 'TINYGRAD' not in os.environ:
        print("needs TINYGRAD, a checkout of tinygrad, for its emulator of AMD's instruction sets")
        sys.exit(SKIPPED)
    built = subprocess.run(['make', '-s', 'build/tests/lib/hip_decode.so', 'build/tests/lib/instructions.so',
                            'build/tests/lib/fake_hip.so', 'build/lib/pertoken/hip.so'], cwd=ROOT, check=False)
    if built.returncode:
        print('needs clang 19 for the plugin, and an x86-64 machine')
        sys.exit(SKIPPED)
    wanted = [word for word in sys.argv[1:] if word in MACHINES]
    if not wanted:
        wanted = list(MACHINES) if 'all' in sys.argv[1:] else ['gfx942']
    count = Count()
    for architecture in wanted:
        check_architecture(count, architecture)
    count.finish()


if __name__ == '__main__':
    main()
