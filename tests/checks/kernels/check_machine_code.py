#!/usr/bin/python3
"""Is the GPUs' machine code what it is meant to be? Needs no GPU.

    check_machine_code.py [TREE]

Looks at the images that the build left in build/gpu. What is not there, or is older than the
kernels' sources, is compiled: where all is wanted for all targets, else for one of each vendor. TREE
is another source tree; its kernels are always compiled.
Deep only: compiling for every GPU takes minutes.
Seconds: 20

Of CUDA it reads the PTX and what the cubin says of itself; where nvdisasm is found (in NVDISASM, PATH
or beside nvcc), also the machine code of SASS.
"""
import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import Count, DEEP, ROOT  # noqa: E402

CUDA = {'80': False, '90a': True, '100': True, '120': True}  # has griddepcontrol (PTX ISA, sm_90)
LOAD_WEIGHTS = r'LDG\.E\.NA\.LTC\d+B\.128\.CONSTANT'
SASS = {'80', '90a'}  # that nvdisasm of CUDA 12.4 and later knows
# Instructions of SASS whose number in all kernels together is printed.
SHOWN = {'weights LDG.128': r'LDG\..*\.128\.CONSTANT$', 'LDGSTS.128': r'LDGSTS\..*\.128$', 'HMMA': r'HMMA\b',
         'HGMMA': r'HGMMA\b', 'QGMMA': r'QGMMA\b', 'UTMALDG': r'UTMALDG\b',
         'local': r'(LDL|STL)\b'}
MATRIX_UNITS = ['gfx90a', 'gfx942', 'gfx950']
HIP = MATRIX_UNITS + ['gfx1100', 'gfx1201']
OFTEN = {'90a', 'gfx942'}  # compiled when there is no image

PAIRS = ['bf16_bf16', 'e4m3_bf16', 'e4m3_e4m3']
ENDS = ['norm_store', 'round_add', 'norm_swiglu']
VECTOR = [f'vector_{p}_{e}_{b}' for p in PAIRS for e in ENDS for b in (1, 2, 4)]
MATRIX = [f'matrix_{p}_{e}_{c}' for p in PAIRS for e in ('store', 'add', 'swiglu')
          for c in (16, 32, 64)]
WGMMA = [f'wgmma_{p}_{e}_{c}' for p in PAIRS for e in ('store', 'add', 'swiglu')
         for c in (16, 32, 64, 128) if p == 'bf16_bf16' or c < 128]
ATTENTION = [f'attention_{kv}_{d}' for kv in ('bf16', 'e4m3') for d in (64, 128, 256)]
READ = [f'read_{v}' for v in range(3)]
PERSISTENT_FOR = ('80', '90a', '100')  # build.mk
PERSISTENT = {f'persistent_{batch}' for batch in (1, 2, 4)}
TILE = [f'{k}_{p}' for k in ('rate', 'tile_check') for p in PAIRS]
SMALL = ([f'round_{x}_{p}' for x in ('bf16', 'e4m3', 'paired') for p in ('norm', 'round')] +
         ['embed_bf16', 'embed_e4m3', 'sample', 'sample_key', 'fill_bf16', 'fill_e4m3', 'fill_f32',
          'fill_value'])
EVERY = set(VECTOR + MATRIX + WGMMA + ATTENTION + READ + TILE + SMALL)
STREAMING = set(VECTOR + MATRIX + ATTENTION + READ)
# Without a matrix unit heads of 256 take more registers than there are.
OPTIONAL = {t: {'attention_bf16_256', 'attention_e4m3_256'} for t in ('gfx1100', 'gfx1201')}

# The registers that a kernel may take so that as many blocks fit as kernels.cu means: 65,536 to a
# multiprocessor for 1024 or 512 threads (CUDA C++ Programming Guide); to a SIMD of gfx9 512 for each
# lane of 4 or 2 waves, of gfx11 and gfx12 1536 for each of 16 or 8, of which a wave may take 256
# (LLVM, "User Guide for AMDGPU Backend").
REGISTERS = {'cuda': (64, 128), 'gfx9': (128, 256), 'gfx1': (96, 192)}

# Bytes that are to be under way to a compute unit at all times, and how many waves it has of a
# kernel: the arithmetic stands in platform_hip.h. Heads of 256 drain their loads once a unit.
UNDER_WAY = {'gfx90a': 15e3, 'gfx942': 20e3, 'gfx950': 31e3}
LOAD_BYTES = 64 * 16  # of a wave of 64
# Where clang has a wave wait for several of its loads at once, what is under way on average before
# and after that counts.
PAIRED = re.compile(r'vector_.*(swiglu_\d)$|attention_e4m3_64$')

count = Count()
check = count.check


def tool(*names):
    return next((found for found in map(shutil.which, names) if found), None)


def nvcc():
    return tool('nvcc', '/usr/local/cuda/bin/nvcc')


def llvm(name):
    """The newest of a tool, for the newest clang knows the most targets."""
    return tool(*[f'{name}-{version}' for version in range(23, 18, -1)])


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True,
                          cwd=TREE).stdout


def newest_source():
    folders = [TREE / 'kernels', TREE / 'kernels/gpu', TREE / 'kernels/gpu/device']
    return max(p.stat().st_mtime for f in folders for p in f.iterdir() if p.suffix in ('.h', '.cu'))


def built(*names):
    """The images of the build, if all are there and newer than the sources."""
    images = [ROOT / 'build' / 'gpu' / name for name in names]
    fresh = TREE == ROOT and all(i.exists() and i.stat().st_mtime > newest_source() for i in images)
    return images if fresh else None


def wanted(target, compiler, images):
    """Is this target looked at? If not, it is counted as skipped, with the reason."""
    if images or (compiler and (DEEP or target in OFTEN)):
        return True
    count.skip(target, 'no fresh image in build/gpu' + ('' if compiler else ', no compiler'))
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
    if name.startswith('vector_'):
        return REGISTERS[family][0 if name.endswith('_1') else 1]
    return 255 if family == 'cuda' else 512


# ---- CUDA: PTX says which instructions, the cubin how many registers and how much stack

def cubin_sections(data):
    """The section headers, and a function for the text at a place of one."""
    offset, = struct.unpack_from('<Q', data, 0x28)
    size, count, names = struct.unpack_from('<HHH', data, 0x3a)
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, offset + i * size) for i in range(count)]

    def text(table, at):
        start = sections[table][4] + at
        return data[start:data.index(b'\0', start)].decode()

    return sections, names, text


def shared_bytes(image, kernel):
    """Of shared memory that the kernel declares."""
    sections, names, text = cubin_sections(image.read_bytes())
    return sum(s[5] for s in sections if text(names, s[0]) == f'.nv.shared.{kernel}')


def cubin_facts(image):
    """Registers and bytes of stack, spills included, of each kernel, from its .nv.info."""
    registers_of, frame_of = 0x2f, 0x11  # EIATTR_REGCOUNT, EIATTR_FRAME_SIZE: index, then value
    data = image.read_bytes()
    sections, names, text = cubin_sections(data)
    symbols = next(s for s in sections if s[1] == 2)
    symbol = [text(symbols[6], struct.unpack_from('<I', data, symbols[4] + at)[0])
              for at in range(0, symbols[5], 24)]
    info = next(s for s in sections if text(names, s[0]) == '.nv.info')
    facts, at = {registers_of: {}, frame_of: {}}, info[4]
    while at < info[4] + info[5]:
        form, kind, length = struct.unpack_from('<BBH', data, at)
        if form == 4 and kind in facts:  # EIFMT_SVAL
            index, value = struct.unpack_from('<II', data, at + 4)
            facts[kind][symbol[index]] = value
        at += 4 + (length if form == 4 else 0)
    return facts[registers_of], facts[frame_of]


def check_loads(subject, name, body):
    cached = re.findall(r'\bld\.global\.nc\S*|\bld\.global\S*\.nc\S*|\bldu\.\S*', body)
    streams = [c for c in cached if re.match(r'ld\.global\.nc\.L1::no_allocate\.\S*v4\.u32$', c)]
    other = sorted(set(cached) - set(streams))
    check(subject, not other, 'cached loads that are not of load_weights: ' + ', '.join(other))
    check(subject, streams or name not in STREAMING, 'no 16-byte loads of load_weights')
    check(subject, not (name in WGMMA and streams), 'weights loaded past the copy engine')
    check(subject, not re.search(r'\b(ld|st)\.local\b|\.local \.align', body), 'uses local memory')


def check_cuda(architecture, overlap, ptx, cubin):
    kernels = by_kernel(ptx.read_text(), r'^\.(?:visible )?\.?entry (\w+)\(')
    registers, frames = cubin_facts(cubin)
    check_names(f'sm_{architecture}', kernels)
    for name, body in kernels.items():
        subject = f'sm_{architecture} {name}'
        check_loads(subject, name, body)
        for instruction in ('griddepcontrol.wait', 'griddepcontrol.launch_dependents'):
            there = instruction in body
            check(subject, there == overlap, instruction + (' present' if there else ' missing'))
        if overlap and name in VECTOR + MATRIX:
            before = body.split('griddepcontrol.wait')[0]
            check(subject, 'ld.global.nc.' in before, 'fetches no weights before it waits')
        if overlap and name in WGMMA:
            before = body.split('griddepcontrol.wait')[0]
            check(subject, 'cp.async.bulk.tensor.2d' in before, 'fetches no weights before it waits')
        if name in MATRIX + ATTENTION + TILE:
            check(subject, 'mma.sync.' in body, 'no matrix instruction')
        used, limit = registers.get(name, 0), register_limit('cuda', name)
        check(subject, 0 < used <= limit, f'{used} registers of at most {limit}')
        check(subject, frames.get(name) == 0, f'{frames.get(name)} bytes of stack or spills')


# Stack and spills in the persistent kernels, bytes at most: their attention keeps two batches of keys
# or values under way in the 128 registers that 512 threads leave (ptxas 13.0).
PERSISTENT_STACK = {'80': 16, '90a': 16, '100': 0}
# Of the shared memory that a cubin declares, what is the system's own (CUDA C++ Programming Guide,
# technical specifications: 1 KB of a block from sm_80 on).
RESERVED_SHARED = {'90a': 1024, '100': 1024}


def persistent_shared():
    text = (TREE / 'kernels/gpu/arguments.h').read_text()
    return int(re.search(r'PERSISTENT_SHARED = (\d+)', text).group(1))


# What arrive and wait of a grid are (PTX ISA, red, ld, memory consistency model).
GRID_WAIT = ('red.release.gpu.global.add.u32', 'ld.acquire.gpu.global.u32')


def check_persistent(architecture, ptx, cubin):
    """One image, whose kernels call functions of their own: registers are of both."""
    text, subject = ptx.read_text(), f'sm_{architecture} persistent'
    names = set(re.findall(r'^\.(?:visible )?\.?entry (\w+)\(', text, re.M))
    check(subject, names == PERSISTENT, 'other kernels: ' + ', '.join(sorted(names ^ PERSISTENT)))
    check_loads(subject, 'vector', text)
    for instruction in GRID_WAIT:
        check(subject, instruction in text, f'no {instruction}')
    check(subject, 'griddepcontrol' not in text, 'waits for other launches')
    registers, frames = cubin_facts(cubin)
    for name in sorted(names):
        used = registers.get(name, 0)
        check(f'{subject} {name}', 0 < used <= 128, f'{used} registers of at most 128')
        check(f'{subject} {name}', frames.get(name, 1e9) <= PERSISTENT_STACK[architecture],
              f'{frames.get(name)} bytes of stack or spills of at most {PERSISTENT_STACK[architecture]}')
        shared = shared_bytes(cubin, name) - RESERVED_SHARED.get(architecture, 0)
        check(f'{subject} {name}', 0 < shared <= persistent_shared(),
              f'{shared} bytes of shared memory beside the launch\'s, of at most {persistent_shared()}')
    if disassembler() and architecture in SASS:
        cached = {i for i in instructions(run(disassembler(), '-c', cubin)) if re.match(r'LDG\b.*\.CONSTANT', i)}
        other = sorted(i for i in cached if not re.fullmatch(LOAD_WEIGHTS, i))
        check(subject, cached and not other, 'cached loads that are not of load_weights: ' + ', '.join(other))


# ---- SASS: the instructions that the GPU is given

def disassembler():
    beside = [str(pathlib.Path(nvcc()).resolve().parent / 'nvdisasm')] if nvcc() else []
    return tool(*filter(None, [os.environ.get('NVDISASM')]), 'nvdisasm', *beside)


INSTRUCTION = r'^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)'


def instructions(code):
    """Every instruction with its modifiers and how often it stands there."""
    return collections.Counter(re.findall(INSTRUCTION, code, re.M))


def check_sass_kernel(subject, name, found, wanted_parts):
    """Each of `wanted_parts` is a pattern of an instruction that is to be there."""
    local = [i for i in found if re.match(r'(LDL|STL)\b', i)]
    check(subject, not local, 'local memory: ' + ', '.join(local))
    cached = [i for i in found if re.match(r'LDG\b.*\.CONSTANT', i)]
    other = [i for i in cached if not re.fullmatch(LOAD_WEIGHTS, i)]
    check(subject, not other, 'cached loads that are not of load_weights: ' + ', '.join(other))
    for pattern in wanted_parts:
        check(subject, any(re.match(pattern, i) for i in found), f'no {pattern}')


def sass_parts(name):
    """What a kernel is to be made of."""
    parts = [LOAD_WEIGHTS + '$'] if name in STREAMING else []
    if name in MATRIX:
        parts += [r'LDGSTS\.\S*\.128$', r'LDS\.128$']
    if name in WGMMA:
        kind = r'QGMMA\.64x{}x32\.F32\.E4M3\.E4M3' if 'e4m3_e4m3' in name else r'HGMMA\.64x{}x16\.F32\.BF16'
        parts += [kind.format(name.rsplit('_', 1)[1]), r'UTMALDG\.2D', r'SYNCS\.PHASECHK']
    if name in MATRIX + ATTENTION + TILE:
        parts.append(r'HMMA\.16816\.F32' + ('' if 'e4m3_e4m3' in name else r'\.BF16'))
    return parts


# What is fetched before a kernel waits for the one before it, as the GPU is given it: in PTX the order
# may be right, and ptxas changes it.
FETCHED = re.compile(r'LDG\.E\.NA\..*\.CONSTANT$|UTMALDG')


def check_sass_order(subject, name, code):
    order = [i for i in re.findall(INSTRUCTION, code, re.M) if i == 'ACQBULK' or FETCHED.match(i)]
    if name in VECTOR + MATRIX + WGMMA + ATTENTION and 'ACQBULK' in order:
        check(subject, order[0] != 'ACQBULK', 'waits before it fetches')


def check_sass(architecture, cubin):
    if architecture not in SASS:
        return
    if not disassembler():
        count.skip(f'SASS of sm_{architecture}', 'no nvdisasm (in NVDISASM, PATH or beside nvcc)')
        return
    kernels = by_kernel(run(disassembler(), '-c', cubin), r'^\.text\.(\w+):')
    check_names(f'SASS of sm_{architecture}', kernels)
    total = collections.Counter()
    for name, code in kernels.items():
        found = instructions(code)
        check_sass_kernel(f'SASS of sm_{architecture} {name}', name, found, sass_parts(name))
        check_sass_order(f'SASS of sm_{architecture} {name}', name, code)
        total += found
    print(f'SASS of sm_{architecture}, {len(kernels)} kernels: ' + ', '.join(
        f'{count} {word}' for word, count in
        ((w, sum(n for i, n in total.items() if re.match(p, i))) for w, p in SHOWN.items())))


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


# ---- HIP: notes and disassembly

def note_facts(notes):
    """The notes of each kernel as a dictionary of its whole numbers."""
    facts = {}
    for block in re.split(r'\n  - \.', notes)[1:]:
        names = re.findall(r'^ {4}\.name: +(\w+)', block, re.M)
        values = {k: int(v) for k, v in re.findall(r'^ {4}\.(\w+): +(\d+)$', block, re.M)}
        if names:
            facts[names[0]] = values
    return facts


def instructions_of(body):
    """Address and text of each instruction of a disassembly."""
    lines = re.finditer(r'^\s+(\S.*?)\s+// 0*([0-9A-F]+):', body, re.M)
    return [(int(m.group(2), 16), m.group(1)) for m in lines]


def is_stream(name, text):
    """Of weights; or of attention, where clang merges loads of both sorts, of anything."""
    cached = name.startswith('attention_')
    return re.match(r'global_load_dwordx4\b' + ('' if cached else r'.*(\bnt\b|\bslc\b)'), text)


def streams(name, loop):
    return sum(1 for text in loop if is_stream(name, text))


def hot_loop(name, code):
    """The shortest loop with at least four loads of 16 bytes and a wait for some of them that is no
    copy into shared memory: its instructions."""
    index = {address: i for i, (address, _) in enumerate(code)}
    loops = []
    for i, (address, text) in enumerate(code):
        jump = re.match(r's_c?branch\S* (\d+)', text)
        if not jump:
            continue
        offset = int(jump.group(1))
        start = index.get(address + 4 + 4 * (offset - 65536 if offset >= 32768 else offset))
        if start is not None and start <= i:
            loop = [t for _, t in code[start:i + 1]]
            if streams(name, loop) >= 4 and least_left(loop) is not None:
                loops.append(loop)
    return min(loops, key=len, default=None)


def least_left(loop):
    """How many loads the loop's waits for loaded weights leave under way, the least; those for
    activations, which go into shared memory next, are others. None without such a wait."""
    left = []
    for i, text in enumerate(loop):
        wait = re.match(r's_waitcnt .*vmcnt\((\d+)\)', text)
        after = next((t for t in loop[i + 1:]
                      if re.match(r'ds_|v_mfma|v_fma|v_pk_fma|global_load|s_c?branch|s_barrier', t)), '')
        if wait and not after.startswith('ds_write'):
            left.append(int(wait.group(1)))
    return min(left, default=None)


def waves(name):
    """Of a kernel on a compute unit: blocks as plan.c and the kernels' bounds have them."""
    if name.startswith('vector_'):
        return 8
    return 2 * 8 if name.endswith('_16') else 8


def check_under_way(target, name, body):
    loop = hot_loop(name, instructions_of(body))
    check(f'{target} {name}', loop, 'no loop that streams')
    if not loop:
        return
    loads, left = streams(name, loop), least_left(loop)
    count = (left + min(loads, 8)) / 2 if PAIRED.match(name) else left
    have = count * LOAD_BYTES * waves(name)
    check(f'{target} {name}', have >= UNDER_WAY[target],
          f'{left} loads stay under way, {have:.0f} bytes to a compute unit of {UNDER_WAY[target]:.0f}')


# A nontemporal load is `nt` on gfx940 and later, `glc slc` on gfx90a, `slc` on gfx11.
STREAM = r'\bglobal_load_(?:dwordx4|b128)\b.*(?:\bnt\b|\bslc\b|TH_LOAD_NT)'


def check_hip_code(target, name, body):
    subject = f'{target} {name}'
    streams = re.findall(STREAM, body)
    check(subject, streams or name not in STREAMING, 'no 16-byte nontemporal loads')
    check(subject, 'scratch_' not in body, 'uses scratch memory')
    if target in UNDER_WAY and name in VECTOR + MATRIX + ATTENTION and name[-4:] != '_256':
        check_under_way(target, name, body)
    if target in MATRIX_UNITS and name in MATRIX + ATTENTION + TILE:
        check(subject, 'v_mfma_' in body, 'no matrix instruction')
        if target != 'gfx90a' and name.split('_', 1)[1].startswith('e4m3_e4m3'):
            check(subject, re.search(r'v_mfma_\w*(fp8|f8f6f4)', body), 'no matrix instruction of fp8')
    if target in ('gfx942', 'gfx950') and 'atomic_inc' in body:
        fences = all(re.search(f, body) for f in (r'buffer_wbl2 sc1', r'buffer_inv sc1'))
        check(subject, fences, 'blocks meet without fences between the dies')


# What arrive and wait of a grid are: LLVM, "User Guide for AMDGPU Backend", Memory Model gfx90a and
# gfx942: releases and acquires of agent scope. Between the dies of gfx942 and gfx950 the L2s are
# written back and lose what others may have written; the counter is added to and read past them.
AGENT_SCOPE = {'gfx90a': (r'global_atomic_add\b', r'global_load_dword\b.*\bglc\b', r'buffer_wbinvl1_vol'),
               'gfx942': (r'global_atomic_add\b', r'global_load_dword\b.*\bsc1\b', r'buffer_wbl2 sc1',
                          r'buffer_inv sc1')}
AGENT_SCOPE['gfx950'] = AGENT_SCOPE['gfx942']


def check_order(subject, code):
    """Around every addition to the grid's counter: written back and awaited before it; and after every
    wait for the counter, before the block goes on, the caches dropped."""
    texts = [text for _, text in code]
    for i, text in enumerate(texts):
        if re.match(r'global_atomic_add\b', text):
            before = texts[max(0, i - 40):i]
            fence = [k for k, t in enumerate(before) if 'buffer_wbl2 sc1' in t]
            check(subject, fence and any(re.match(r's_waitcnt.*vmcnt\(0\)', t) for t in before[fence[-1]:]) and
                  any(t.startswith('s_barrier') for t in before[fence[-1]:]), 'arrives before its data')
        if re.match(r'global_load_dword\b.*\bsc1\b', text):
            after = texts[i:i + 40]
            barrier = next((k for k, t in enumerate(after) if t.startswith('s_barrier')), len(after))
            check(subject, any('buffer_inv sc1' in t for t in after[:barrier]), 'goes on with what the caches hold')


def check_scalar_loads(subject, code):
    """Scalar loads, whose cache no fence touches, are of what the kernel was started with, or of an
    address that constant_of_launch has made (platform_hip.h), never of what other blocks wrote."""
    written, other = {}, set()
    for _, text in code:
        load = re.match(r's_load_\S+ \S+ s\[(\d+):', text)
        if load and not written.get(int(load.group(1)), 'v_readfirstlane').startswith('v_readfirstlane'):
            other.add(text)
        to = re.match(r'\S+ s(\d+),|\S+ s\[(\d+):(\d+)\]', text)
        if to:
            first, last = (to.group(1), to.group(1)) if to.group(1) else (to.group(2), to.group(3))
            written.update({register: text for register in range(int(first), int(last) + 1)})
    check(subject, not other, 'scalar loads of anything: ' + ', '.join(sorted(other)))


def check_persistent_hip(target, image):
    """Kernels that hold all stages of a step."""
    facts = note_facts(run(llvm('llvm-readelf'), '--notes', image))
    code = by_kernel(run(llvm('llvm-objdump'), '-d', image), r'^[0-9a-f]+ <(\w+)>:')
    check(f'{target} persistent', set(facts) == PERSISTENT, 'other kernels: ' + ', '.join(set(facts) ^ PERSISTENT))
    for name, values in facts.items():
        subject, body = f'{target} {name}', code.get(name, '')
        check(subject, re.search(STREAM, body), 'no 16-byte nontemporal loads')
        check(subject, 'scratch_' not in body and 'v_mfma_' in body, 'uses scratch memory, or no matrix instruction')
        for instruction in AGENT_SCOPE[target]:
            check(subject, re.search(instruction, body), f'no {instruction}')
        check(subject, 'flat_' not in body, 'accesses to memory that could be shared memory')
        check_scalar_loads(subject, instructions_of(body))
        if target != 'gfx90a':
            check_order(subject, instructions_of(body))
        used, shared = values.get('vgpr_count', 0), values.get('group_segment_fixed_size', 1e9)
        check(subject, 0 < used <= 256, f'{used} vector registers of at most 256')
        check(subject, shared <= persistent_shared(), f'{shared} bytes of shared memory beside the launch\'s')
        check_no_spills(subject, values)


def check_no_spills(subject, values):
    for fact in ('vgpr_spill_count', 'sgpr_spill_count', 'private_segment_fixed_size'):
        check(subject, values.get(fact) == 0, f'{fact} {values.get(fact)}')


def check_hip(target, image):
    if not llvm('llvm-readelf') or not llvm('llvm-objdump'):
        sys.exit('llvm-readelf and llvm-objdump are missing beside clang: see tests/support/setup.sh')
    notes = run(llvm('llvm-readelf'), '--notes', image)
    facts = note_facts(notes)
    code = by_kernel(run(llvm('llvm-objdump'), '-d', image), r'^[0-9a-f]+ <(\w+)>:')
    check_names(target, facts)
    # HIP before 6.1 does not know hidden_dynamic_lds_size, and passes such a kernel no arguments.
    hidden = set(re.findall(r'\.value_kind: +(hidden_\w+)', notes))
    check(target, not hidden, 'hidden arguments: ' + ', '.join(sorted(hidden)))
    for name, values in facts.items():
        subject = f'{target} {name}'
        check_hip_code(target, name, code.get(name, ''))
        limit = register_limit(target[:4], name)
        used = values.get('vgpr_count', 0)
        check(subject, 0 < used <= limit, f'{used} vector registers of at most {limit}')
        check_no_spills(subject, values)


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


# product_wgmma is sm_90a's alone.
SHARED_STAGES = ('product_vector', 'product_matrix', 'attention', 'round', 'embedding', 'sample', 'fill', 'read',
                 'rate', 'tile_check', 'persistent')


def check_stages():
    """What differs from device to device stands in platform_*.h and matrix_tile_*.h alone."""
    for name in SHARED_STAGES:
        path = ROOT / 'kernels/gpu/device' / f'{name}.h'
        guard = f'PERTOKEN_KERNELS_GPU_DEVICE_{name.upper()}_H'
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
            images = architecture in PERSISTENT_FOR and cuda_images(architecture, folder, 'persistent', 'persistent')
            if images:
                check_persistent(architecture, *images)
        for target in HIP:
            image = hip_image(target, folder)
            if image:
                check_hip(target, image)
            image = target in MATRIX_UNITS and hip_image(target, folder, 'persistent_', 'persistent',
                                                         '-mllvm', '-disable-machine-licm')  # build.mk
            if image:
                check_persistent_hip(target, image)
    if count.passed + count.failed == before:
        count.skip('machine code', 'neither images of the GPUs in build/gpu, nor nvcc or clang-19 to make them')
    count.finish()


if __name__ == '__main__':
    TREE = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT
    main()
