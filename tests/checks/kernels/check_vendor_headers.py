#!/usr/bin/python3
"""Do the constants for calling cuBLASLt and hipBLASLt agree with the vendors' own headers?

kernels/gpu/host/vendor_products.c defines what it needs of both libraries, as neither is available at build
time. If a header is installed (cublasLt.h in CUDA_PATH or /usr/local/cuda, hipblaslt.h in ROCM_PATH or
/opt/rocm), each constant is compared with it; otherwise the check is skipped with a message.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import Count, ROOT  # noqa: E402

# Ours, where `one` is the library's row of the table; cuBLASLt's; hipBLASLt's. None: the library has none.
SAME = [
    ('SUCCESS', 'CUBLAS_STATUS_SUCCESS', 'HIPBLAS_STATUS_SUCCESS'),
    ('TYPE_F32', 'CUDA_R_32F', 'HIP_R_32F'),
    ('TYPE_BF16', 'CUDA_R_16BF', 'HIP_R_16BF'),
    ('TYPE_E4M3', 'CUDA_R_8F_E4M3', 'HIP_R_8F_E4M3'),
    ('TYPE_E4M3_FNUZ', None, 'HIP_R_8F_E4M3_FNUZ'),
    ('WORKSPACE_BYTES', 'CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES', 'HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES'),
    ('one->compute_f32', 'CUBLAS_COMPUTE_32F', 'HIPBLAS_COMPUTE_32F'),
    ('one->transposed', 'CUBLAS_OP_T', 'HIPBLAS_OP_T'),
    ('one->transpose_first', 'CUBLASLT_MATMUL_DESC_TRANSA', 'HIPBLASLT_MATMUL_DESC_TRANSA'),
    ('8 * one->algorithm_words', 'sizeof(cublasLtMatmulAlgo_t)', 'sizeof(hipblasLtMatmulAlgo_t)'),
    ('8 * one->algorithm_words', 'offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)',
     'offsetof(hipblasLtMatmulHeuristicResult_t, workspaceSize)'),
    ('8 * one->algorithm_words + 8', 'offsetof(cublasLtMatmulHeuristicResult_t, state)',
     'offsetof(hipblasLtMatmulHeuristicResult_t, state)'),
]
# A lower bound for ours.
ROOM = ('8 * MAX_WORDS', 'sizeof(cublasLtMatmulHeuristicResult_t)', 'sizeof(hipblasLtMatmulHeuristicResult_t)')
LIBRARIES = [
    ('cublasLt.h', 'CUDA_PATH', '/usr/local/cuda', ['gcc', '-std=c11', '-x', 'c']),
    ('hipblaslt/hipblaslt.h', 'ROCM_PATH', '/opt/rocm', ['g++', '-std=c++17', '-D__HIP_PLATFORM_AMD__', '-x', 'c++']),
]


def numbers(compiler, text, expressions, *files):
    """The values of the expressions in a program with that text, in order; None if it does not compile."""
    lines = ''.join(f'  printf("%lld\\n", (long long)({expression}));\n' for expression in expressions)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, 'numbers.c'), Path(folder, 'numbers')
        source.write_text(f'#include <stddef.h>\n#include <stdio.h>\n{text}\nint main() {{\n{lines}  return 0;\n}}\n')
        if subprocess.run([*compiler, source, *files, '-lm', '-o', program], cwd=ROOT, check=False).returncode:
            return None
        return [int(line) for line in subprocess.run([program], capture_output=True, check=True).stdout.split()]


def check_library(count, kind, library):
    header, variable, usual, compiler = library
    folders = [Path(root, 'include') for root in (os.environ.get(variable), usual) if root]
    folder = next((folder for folder in folders if (folder / header).exists()), None)
    if not folder:
        count.skip(header, f'in none of {", ".join(map(str, folders))}')
        return
    same = [row for row in SAME if row[1 + kind]]
    theirs = numbers([*compiler, '-isystem', folder], f'#include <{header}>', [row[1 + kind] for row in [*same, ROOM]])
    if not theirs:
        count.skip(header, f'that in {folder} does not compile here, or lacks a name: it is older than E4M3')
        return
    text = f'#include "kernels/gpu/host/vendor_products.c"\nstatic const struct dialect *const one = &dialects[{kind}];'
    ours = numbers(['gcc', '-std=gnu11', '-I.', '-x', 'c'], text, [row[0] for row in [*same, ROOM]],
                   *(f'kernels/{file}.c' for file in ('gpu/host/library_file', 'element', 'weights')))
    for row, mine, its in zip(same, ours, theirs):
        count.check(f'{header}: {row[1 + kind]}', mine == its, f'{row[0]} is {mine}, not {its}')
    count.check(f'{header}: {ROOM[1 + kind]}', ours[-1] >= theirs[-1], f'{ROOM[0]} is {ours[-1]}, not {theirs[-1]} or more')
    print(f'{folder / header}: {len(same) + 1} numbers')


def main():
    count = Count()
    for kind, library in enumerate(LIBRARIES):
        check_library(count, kind, library)
    count.finish()


if __name__ == '__main__':
    main()
