#!/usr/bin/python3
"""Does the machine code for AMD's GPUs do what it should, instruction by instruction? Needs no GPU.

    TINYGRAD=folder check_instructions.py [all | ARCHITECTURE ...]

The HIP plugin, as built, decodes on the tests' HIP, whose launches are computed by executing the kernels' own
machine code on the emulator of AMD's instruction sets in TINYGRAD, a checkout of
https://github.com/tinygrad/tinygrad of August 2026 or later (tests/stand_ins/hip/instructions.c). The results are
compared with the oracle. One architecture after another: gfx942, or those named. Every kernel must have run, and
the check must detect an instruction that does nothing.
Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.

It cannot show times, the order in which a GPU's memory becomes visible, and the wait states that some instructions
need between them.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kernels import cases  # noqa: E402
from support.program import Count, ROOT, SKIPPED  # noqa: E402

MACHINES = {'gfx90a': '3f', 'gfx942': '4c', 'gfx950': '4f', 'gfx1100': '41', 'gfx1201': '4e'}
# If these are left out in all kernels, the result must be wrong: a multiply-add, an exponential, a barrier, the
# matrix unit.
BROKEN = ['V_FMAC_F32_E32', 'V_EXP_F32_E32']
BARRIERS = {'gfx1201': 'S_BARRIER_WAIT'}
MFMA = {'gfx90a': 'V_MFMA_F32_16X16X16_BF16', 'gfx942': 'V_MFMA_F32_16X16X16_BF16',
        'gfx950': 'V_MFMA_F32_16X16X32_BF16'}
# And in a single kernel, if there is a matrix unit: the case, the kernel and the instruction, None: that unit.
BROKEN_IN = [
    *[(f'bf16/{f} bf16 1 5 {cases.MIXTRAL}', f'expert_matrix_{f}_bf16_{end}_16', None)
      for i, f in enumerate(cases.FORMATS) for end in (('gated', 'biased')[i % 2],)],
    (f'bf16/mxfp4 bf16 40 5 {cases.GPT_OSS}', 'expert_matrix_mxfp4_bf16_biased_64', None),
    (f'bf16/int8_group bf16 40 5 {cases.GPT_OSS}', 'expert_matrix_int8_group_bf16_gated_64', None),
    (f'e4m3-bf16 bf16 7 5 {cases.MIXTRAL}', 'expert_matrix_e4m3_bf16_biased_16', None),
    (f'bf16 bf16 1 5 {cases.MIXTRAL}', 'expert_vector_bf16_bf16_norm_gated_1', 'V_FMAC_F32_E32'),
    (f'bf16 bf16 1 5 {cases.MIXTRAL}', 'route', 'V_EXP_F32_E32'),
    (f'bf16 bf16 1 5 {cases.MIXTRAL}', 'combine', 'V_FMAC_F32_E32'),
    (f'bf16 bf16 7 5 {cases.MIXTRAL}', 'gather', 'GLOBAL_STORE_DWORDX4'),
    (f'mxfp4-head bf16 1 70 {cases.SMALL}', 'embed_mxfp4', 'V_MUL_F32_E32'),
]
ONLY_CUDA = {'round_paired_norm', 'round_paired_round'}


def has_matrix_unit(architecture):
    return architecture in MFMA


def decode(architecture, lines, *without, log=None):
    """The results of those cases, line by line, without an instruction; and the standard error."""
    library = ROOT / 'build/tests/lib/fake_hip.so'
    environment = {**os.environ, 'HIP_DECODE': 'build/tests/lib/hip_decode.so', 'PERTOKEN_HIP_LIBRARY': str(library), 'PERTOKEN_RCCL_LIBRARY': str(library),
                   'FAKE_HIP_EMULATOR': 'build/tests/lib/instructions.so', 'FAKE_HIP_DEVICES': '4',
                   'DECODE_PRODUCTS': str(ROOT / 'build/tests/lib/fake_hipblaslt.so'),
                   'FAKE_HIP_ARCHITECTURE': architecture, 'FAKE_HIP_MACHINE': MACHINES[architecture],
                   'FAKE_HIP_WARP': '64' if has_matrix_unit(architecture) else '32',
                   **({'KERNELS_LOG': log} if log else {})}
    command = [sys.executable, 'tests/stand_ins/hip/instructions.py', architecture, *without]
    done = subprocess.run(command, input='\n'.join(lines), cwd=ROOT, env=environment,
                          encoding='utf-8', capture_output=True, timeout=1200, check=False)
    return done.stdout.splitlines(), done.stderr


def kernels_of(architecture):
    """The names of the kernels in the images of the build."""
    images = [ROOT / f'build/gpu/{stem}{architecture}.code' for stem in ('', 'streaming_')]
    return {name.decode() for image in images if image.exists()
            for name in re.findall(rb'\0([a-z0-9_]+)\.kd', image.read_bytes())}


def check_architecture(count, architecture):
    wanted = cases.CASES + (cases.LATENT if 'latent_bf16' in kernels_of(architecture) else [])
    wanted += cases.WIDE + cases.STREAMING_ON_AMD if has_matrix_unit(architecture) else []
    with tempfile.NamedTemporaryFile('r') as log:
        lines, errors = decode(architecture, wanted, log=log.name)
        ran = {line for line in log.read().splitlines() if not line.startswith('case ')}
    if lines and 'no kernels for this device' in lines[0]:
        count.skip(architecture, 'not built')
        return
    for case, line in zip(wanted, lines + ['nothing'] * len(wanted)):
        count.check(f'{architecture}: {case}', cases.is_told(case, line), f'{line}\n{errors}')
    missing = kernels_of(architecture) - ran - ONLY_CUDA
    count.check(f'{architecture}: every kernel runs', ran and not missing, f'but not {sorted(missing)}')
    broken = BROKEN + [BARRIERS.get(architecture, 'S_BARRIER'), MFMA.get(architecture)]
    for instruction in filter(None, broken):
        lines, errors = decode(architecture, [f'bf16 bf16 5 70 {cases.SMALL}'], instruction)
        count.check(f'{architecture}: {instruction} left out is noticed', lines and lines[0].startswith('FAIL'),
                    f'{lines}\n{errors}')
    for case, kernel, instruction in BROKEN_IN if has_matrix_unit(architecture) else []:
        left_out = f'{instruction or MFMA[architecture]}@{kernel}'
        lines, errors = decode(architecture, [case], left_out)
        count.check(f'{architecture}: {left_out} left out is noticed', lines and lines[0].startswith('FAIL'),
                    f'{lines}\n{errors}')
    print(f'{architecture}: {len(wanted)} cases, {len(ran)} kernels')


def main():
    if 'TINYGRAD' not in os.environ:
        print("needs TINYGRAD, a checkout of tinygrad, for its emulator of AMD's instruction sets")
        sys.exit(SKIPPED)
    built = subprocess.run(['make', '-s', 'build/tests/lib/hip_decode.so', 'build/tests/lib/instructions.so',
                            'build/tests/lib/fake_hip.so', 'build/tests/lib/fake_hipblaslt.so',
                            'build/lib/pertoken/hip.so'], cwd=ROOT, check=False)
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
