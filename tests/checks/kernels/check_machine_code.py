#!/usr/bin/python3
"""Is the GPUs' machine code as intended? Needs no GPU.

    check_machine_code.py [TREE]

Checks the images that the build left in build/gpu; one that is missing there, or older than the kernels'
sources, is skipped. TREE is another source tree, whose kernels are compiled for all targets.
Deep only: `make test` builds no images.
Seconds: 130

For CUDA it reads the PTX, the metadata of the cubin and, of sm_90a, which instructions wait for which loads
(sass.py); if nvdisasm is found (in NVDISASM, PATH or beside nvcc), also the rest of the SASS machine code.
"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kernels.cuda_ptx import check_cuda, check_stamped, check_streaming  # noqa: E402
from kernels.cuda_sass import check_sass, check_sass_loads  # noqa: E402
from kernels.gpu_images import (  # noqa: E402
    CUDA, HIP, MATRIX_UNITS, STEP_FOR, check, count, cuda_images, hip_image)
from kernels.hip_code import check_hip, check_streaming_hip  # noqa: E402
from support.program import ROOT  # noqa: E402

# product_wgmma and its parts are only sm_90a's.
SHARED_STAGES = ('product_vector', 'product_matrix', 'experts', 'heads', 'route', 'attention', 'attention_merge',
                 'attention_queries', 'attention_share', 'latent', 'round', 'turn', 'embedding', 'sample',
                 'fill', 'calibration', 'family', 'streaming', 'streaming_registers',
                 'product_stream', 'pairs')


def check_stages():
    """What differs from device to device is only in machine/."""
    for name in SHARED_STAGES:
        path = next((ROOT / 'kernels/gpu/device').rglob(f'{name}.h'))
        guard = 'PERTOKEN_' + re.sub(r'\W', '_', str(path.relative_to(ROOT)).upper())
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r'\s*#\s*(if|elif)', line):
                check(path.name, line == f'#ifndef {guard}', f'line {number}: {line}')


def main():
    check_stages()
    before = count.passed + count.failed
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for architecture, overlap in CUDA.items():
            images = cuda_images(architecture, folder)
            if images:
                check_cuda(architecture, overlap, *images)
                check_sass(architecture, images[1])
                if architecture == '90a':
                    check_sass_loads(images[1])
            images = architecture in STEP_FOR and cuda_images(architecture, folder, 'streaming', 'streaming')
            if images:
                check_streaming(architecture, *images)
        check_stamped()
        for target in HIP:
            image = hip_image(target, folder)
            if image:
                check_hip(target, image)
            image = target in MATRIX_UNITS and hip_image(target, folder, 'streaming_', 'streaming',
                                                         '-mllvm', '-disable-machine-licm')  # build.mk
            if image:
                check_streaming_hip(target, image)
    if count.passed + count.failed == before:
        count.skip('machine code', 'no images of the GPUs in build/gpu: the build was without them, or found neither nvcc nor clang-19')
    count.finish()


if __name__ == '__main__':
    main()
