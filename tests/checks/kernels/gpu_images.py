"""The images of the GPUs' code in build/gpu, or compiled here, and the tools that read them."""
import pathlib
import re
import shutil
import subprocess
import sys

from kernels.kernel_names import EVERY, EXPERT_VECTOR, HEADS_VECTOR, OPTIONAL, VECTOR, WGMMA
from support.program import Count, ROOT

CUDA = {'80': False, '90a': True, '100': True, '120': True}  # has griddepcontrol (PTX ISA, sm_90)
MATRIX_UNITS = ['gfx90a', 'gfx942', 'gfx950']
HIP = MATRIX_UNITS + ['gfx1100', 'gfx1201']
STEP_FOR = ('80', '90a', '100')  # build.mk

# The registers that a kernel may use so that as many blocks fit as kernels.cu intends: 65,536 per
# multiprocessor for 1024 or 512 threads (CUDA C++ Programming Guide); per SIMD of gfx9 512 for each lane of
# 4 or 2 waves, of gfx11 and gfx12 1536 for each of 16 or 8, of which a wave may use 256 (LLVM, "User Guide
# for AMDGPU Backend").
REGISTERS = {'cuda': (64, 128), 'gfx9': (128, 256), 'gfx1': (96, 192)}

# The tree whose kernels are checked: another one if the suite is given its folder.
TREE = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT

count = Count()
check = count.check


def tool(*names):
    return next((found for found in map(shutil.which, names) if found), None)


def nvcc():
    return tool('nvcc', '/usr/local/cuda/bin/nvcc')


def llvm(name):
    """The newest version of a tool, as the newest clang supports the most targets."""
    return tool(*[f'{name}-{version}' for version in range(23, 18, -1)])


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True,
                          cwd=TREE).stdout


def newest_source():
    rooms = ('*', 'gpu/*', 'gpu/arguments/*', 'gpu/device/**/*')
    return max(p.stat().st_mtime for room in rooms for p in (TREE / 'kernels').glob(room) if p.suffix in ('.h', '.cu'))


def built(*names):
    """The images of the build, if all are there and newer than the sources."""
    images = [ROOT / 'build' / 'gpu' / name for name in names]
    fresh = TREE == ROOT and all(i.exists() and i.stat().st_mtime > newest_source() for i in images)
    return images if fresh else None


def wanted(target, compiler, images):
    """Is this target checked? If not, it is counted as skipped, with the reason. A build without images
    (GPU=no) is not made up for: it would take longer than all other suites."""
    if images or (compiler and TREE != ROOT):
        return True
    count.skip(target, 'no fresh image in build/gpu' if TREE == ROOT else 'no compiler')
    return False


def by_kernel(text, start):
    """The text after each match of `start`, whose first group is the name, up to the next."""
    found = list(re.finditer(start, text, re.M))
    ends = [m.start() for m in found[1:]] + [len(text)]
    return {m.group(1): text[m.end():end] for m, end in zip(found, ends)}


def check_names(target, names):
    missing = EVERY - set(names) - OPTIONAL.get(target, set())
    missing -= set() if target.startswith('sm_') and target.endswith('90a') else set(WGMMA)
    check(target, not missing, 'no kernel ' + ', '.join(sorted(missing)))
    check(target, set(names) <= EVERY, 'unknown kernel ' + ', '.join(sorted(set(names) - EVERY)))


def register_limit(family, name):
    if name in VECTOR + EXPERT_VECTOR + HEADS_VECTOR:
        return REGISTERS[family][0 if name.endswith('_1') else 1]
    return 255 if family == 'cuda' else 512


def streaming_shared():
    text = (TREE / 'kernels/gpu/arguments/streaming.h').read_text()
    return int(re.search(r'STREAMING_SHARED = (\d+)', text).group(1))


def cuda_images(architecture, folder, built_as='cuda', source_name='kernels'):
    images = built(f'{built_as}_{architecture}.ptx', f'{built_as}_{architecture}.cubin')
    if not wanted(architecture, nvcc(), images):
        return None
    if not images:
        images = [folder / f'{source_name}.ptx', folder / f'{source_name}.cubin']
        for form, image in zip(('-ptx', '-cubin'), images):
            source = [f'kernels/gpu/device/{source_name}.cu'] if form == '-ptx' else [images[0]]
            run(nvcc(), '-std=c++17', '-O3', form, f'-arch=sm_{architecture}', '-I.', '-o', image,
                *source)
    return images


def hip_compiler(target):
    clang = llvm('clang')
    options = ['--target=amdgcn-amd-amdhsa', '-nogpulib', '--print-supported-cpus']
    known = clang and subprocess.run([clang, *options], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True).stdout
    return clang if known and re.search(rf'\b{target}\b', known) else None


def hip_image(target, folder, built_as='', source_name='kernels', *options):
    clang, images = hip_compiler(target), built(f'{built_as}{target}.code')
    if not wanted(target, clang, images):
        return None
    if images:
        return images[0]
    image = folder / f'{source_name}.hsaco'
    run(clang, '-x', 'hip', f'--offload-arch={target}', '-nogpulib', '-nogpuinc', '-std=c++17',
        '-O3', '-mcode-object-version=5', '--cuda-device-only', '--no-gpu-bundle-output', '-I.',
        *options, '-o', image, f'kernels/gpu/device/{source_name}.cu')
    return image
