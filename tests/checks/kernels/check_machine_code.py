#!/usr/bin/python3
"""Is the GPUs' machine code as intended? Needs no GPU.

    check_machine_code.py [TREE]

Checks the images that the build left in build/gpu. What is missing there, or older than the kernels'
sources, is compiled: in a full run for all targets, else for one of each vendor. TREE is another source
tree; its kernels are always compiled.
Deep only: compiling for every GPU takes minutes.
Seconds: 130

For CUDA it reads the PTX, the metadata of the cubin and, of sm_90a, which instructions wait for which loads
(sass.py); if nvdisasm is found (in NVDISASM, PATH or beside nvcc), also the rest of the SASS machine code.
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
from kernels import sass  # noqa: E402
from support.program import Count, DEEP, ROOT  # noqa: E402

CUDA = {'80': False, '90a': True, '100': True, '120': True}  # has griddepcontrol (PTX ISA, sm_90)
LOAD_WEIGHTS = r'LDG\.E\.NA\.LTC\d+B\.128\.CONSTANT'
LOAD_WORD = r'LDG\.E\.CONSTANT'  # in addition to weights stored in units: load_weights_word
SASS = {'80', '90a'}  # supported by nvdisasm of CUDA 12.4 and later
# SASS instructions whose number over all kernels is printed.
SHOWN = {'weights LDG.128': r'LDG\..*\.128\.CONSTANT$', 'LDGSTS.128': r'LDGSTS\..*\.128$', 'HMMA': r'HMMA\b',
         'HGMMA': r'HGMMA\b', 'QGMMA': r'QGMMA\b', 'UTMALDG': r'UTMALDG\b',
         'local': r'(LDL|STL)\b'}
MATRIX_UNITS = ['gfx90a', 'gfx942', 'gfx950']
HIP = MATRIX_UNITS + ['gfx1100', 'gfx1201']
OFTEN = {'90a', 'gfx942'}  # compiled if there is no image

PAIRS = ['bf16_bf16', 'e4m3_bf16', 'e4m3_e4m3']
ENDS = ['norm_store', 'round_add', 'norm_swiglu', 'norm_biased', 'round_biased', 'norm_gated']
VECTOR = [f'vector_{p}_{e}_{b}' for p in PAIRS for e in ENDS for b in (1, 2, 4)]
MATRIX = [f'matrix_{p}_{e}_{c}' for p in PAIRS
          for e in ('store', 'add', 'swiglu', 'biased', 'gated') for c in (16, 32, 64)]
WGMMA = [f'wgmma_{p}_{e}_{c}' for p in PAIRS for e in ('store', 'add', 'swiglu')
         for c in (16, 32, 64, 128) if p == 'bf16_bf16' or c < 128]
EXPERT_VECTOR = [f'expert_vector_{p}_{e}_{b}' for p in PAIRS
                 for e in ('norm_gated', 'round_biased') for b in (1, 2, 4)]
FORMATS = ['int8', 'mxfp4', 'nvfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'int8_group', 'int4_group']
EXPERT_UNITS = [f'expert_matrix_{f}_bf16_{e}_{c}' for f in FORMATS for e in ('gated', 'biased') for c in (16, 64)]
EXPERT_MATRIX = [f'expert_matrix_{p}_{e}_{c}' for p in PAIRS for e in ('gated', 'biased')
                 for c in (16, 64)] + EXPERT_UNITS
EXPERTS = EXPERT_VECTOR + EXPERT_MATRIX
UNITS = [f'matrix_{f}_bf16_{e}_{c}' for f in FORMATS for e in ('store', 'add', 'swiglu', 'biased', 'gated')
         for c in (16, 64)]
OF_UNITS = set(UNITS + EXPERT_UNITS) | {f'embed_{f}' for f in FORMATS}
ATTENTION = [f'attention_{kv}{f}_{d}' for kv in ('bf16', 'e4m3') for f in ('', '_family')
             for d in (64, 128, 256)]
PROMPTS = [f'attention_{kv}_prompt_{d}' for kv in ('bf16', 'e4m3') for d in (64, 128, 256)] + [
    'latent_bf16_prompt', 'latent_e4m3_prompt']
LATENT = ['latent_bf16', 'latent_e4m3']
HEADS_VECTOR = [f'heads_vector_bf16_bf16_round_store_{b}' for b in (1, 2, 4)]
HEADS_MATRIX = [f'heads_matrix_bf16_bf16_store_{c}' for c in (16, 64)]
HEADS = HEADS_VECTOR + HEADS_MATRIX
READ = [f'read_{v}' for v in range(3)]
STEP_FOR = ('80', '90a', '100')  # build.mk
STEP = {f'streaming_{batch}' for batch in (1, 2, 4)}  # whole steps
TILE = [f'{k}_{p}' for k in ('rate', 'tile_check') for p in PAIRS]
SMALL = ([f'round_{x}_{p}' for x in ('bf16', 'e4m3', 'paired') for p in ('norm', 'round')] +
         ['round_bf16_layer', 'round_e4m3_layer'] +
         [f'round_{x}_as_bf16_{p}' for x in ('int8', 'e4m3') for p in ('norm', 'layer', 'round')] +
         [f'embed_{f}' for f in ['bf16', 'e4m3', *FORMATS]] +
         ['sample', 'sample_key', 'fill_bf16', 'fill_e4m3', 'fill_f32', 'fill_units', 'fill_value', 'route', 'gather',
          'combine', 'turn_bf16', 'turn_e4m3', 'latent_bf16_entries', 'latent_e4m3_entries'] +
         [f'finish_{e}' for e in ('store', 'add', 'swiglu', 'biased', 'gated')])
EVERY = set(VECTOR + MATRIX + UNITS + EXPERTS + WGMMA + ATTENTION + PROMPTS + LATENT + HEADS + READ + TILE + SMALL)
# Kernels whose loads in flight are counted; not those with units, whose conversions are between loads and
# waits.
COUNTED = set(VECTOR + MATRIX + EXPERTS + ATTENTION + PROMPTS + LATENT + HEADS) - set(EXPERT_UNITS)
STREAMING = set(VECTOR + MATRIX + UNITS + EXPERTS + ATTENTION + LATENT + HEADS + READ)
# On NVIDIA by copies into a ring of shared memory, in groups of which all but the oldest stay under way:
# MATRIX_DEPTH, less one.
COPYING = set(MATRIX + EXPERT_MATRIX + HEADS_MATRIX) - set(EXPERT_UNITS)
COPY = 'cp.async.cg.shared.global.L2::256B'
GROUPS_LEFT = 3
# Without a matrix unit, heads of 256 need more registers than there are.
OPTIONAL = {t: {a for a in ATTENTION + PROMPTS if a.endswith('_256')} for t in ('gfx1100', 'gfx1201')}

# The registers that a kernel may use so that as many blocks fit as kernels.cu intends: 65,536 per
# multiprocessor for 1024 or 512 threads (CUDA C++ Programming Guide); per SIMD of gfx9 512 for each lane of
# 4 or 2 waves, of gfx11 and gfx12 1536 for each of 16 or 8, of which a wave may use 256 (LLVM, "User Guide
# for AMDGPU Backend").
REGISTERS = {'cuda': (64, 128), 'gfx9': (128, 256), 'gfx1': (96, 192)}
# Kernels whose E4M3 is converted to BF16 by bits: e4m3_bits.h.
BY_BITS = re.compile(r'(matrix|wgmma|tile_check)_e4m3_bf16|attention_e4m3|latent_e4m3(?!_entries)')
# Kernels whose results the next product takes rounded to BF16. (The caches of attention are stored so, too.)
PASSES = re.compile(r'^(vector|matrix|wgmma)_.*(swiglu|gated)_\d+$|^finish_(swiglu|gated)$|^attention_(?!.*prompt)')
# Kernels of which no two blocks fit on a multiprocessor, so that each has its own: by registers. (For
# wgmma_*, by shared memory: test_plan_division.) For vector products of one row two fit, so that the next
# kernel's blocks can begin.
ALONE = {name for name in VECTOR + EXPERT_VECTOR + HEADS_VECTOR if not name.endswith('_1')}

# Bytes that should be in flight to a compute unit at all times, and how many waves of a kernel it has: the
# arithmetic is in platform_hip.h. Heads of 256 drain their loads once per unit.
UNDER_WAY = {'gfx90a': 15e3, 'gfx942': 20e3, 'gfx950': 31e3}
LOAD_BYTES = 64 * 16  # for a wave of 64
# What is requested ahead is a unit of latents, which in E4M3 is 18 KB.
MIN_UNDER_WAY = {'latent_e4m3': 16e3, 'latent_e4m3_prompt': 16e3}
# If clang makes a wave wait for several of its loads at once, the average in flight before and after
# counts.
PAIRED = re.compile(r'(?:expert_)?vector_.*(swiglu|gated)_\d$|attention_e4m3(_family|_prompt)?_64$')

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
    folders = [TREE / f'kernels/{f}' for f in ('', 'gpu', 'gpu/device', 'gpu/device/machine')]
    return max(p.stat().st_mtime for f in folders for p in f.iterdir() if p.suffix in ('.h', '.cu'))


def built(*names):
    """The images of the build, if all are there and newer than the sources."""
    images = [ROOT / 'build' / 'gpu' / name for name in names]
    fresh = TREE == ROOT and all(i.exists() and i.stat().st_mtime > newest_source() for i in images)
    return images if fresh else None


def wanted(target, compiler, images):
    """Is this target checked? If not, it is counted as skipped, with the reason."""
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
    if name in VECTOR + EXPERT_VECTOR + HEADS_VECTOR:
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
    """The shared memory that the kernel declares."""
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
    other = sorted(set(cached) - set(streams) - ({'ld.global.nc.u32'} if name in OF_UNITS else set()))
    check(subject, not other, 'cached loads that are not of load_weights: ' + ', '.join(other))
    check(subject, streams or name not in STREAMING - COPYING, 'no 16-byte loads of load_weights')
    check(subject, not streams or name not in WGMMA and name not in COPYING, 'weights loaded past the copies')
    check(subject, name not in PROMPTS or ('ld.global.v4.u32' in body and not streams),
          'not only 16-byte loads of the cache that see what was just written')
    check(subject, not re.search(r'\b(ld|st)\.local\b|\.local \.align', body), 'uses local memory')


def check_groups(subject, body):
    """Each step's weights are a group of their own, and a step waits for its own only; all are waited for once,
    with the first activations."""
    waits = [int(left) for left in re.findall(r'cp\.async\.wait_group\s+(\d+)', body)]
    check(subject, COPY in body and waits.count(GROUPS_LEFT) >= GROUPS_LEFT + 1,
          f'waits for copies so that {waits} groups are left, not {GROUPS_LEFT} in each step of a round')
    check(subject, waits.count(0) == 1 and 'cp.async.wait_all' not in body,
          f'waits for all copies at {waits.count(0)} places, not before the first step only')
    check(subject, body.count('cp.async.commit_group') >= 2 * (GROUPS_LEFT + 1), 'steps that are no groups')


def check_clusters(subject, before, after):
    """Blocks of a cluster meet once, when they have made their barriers; bring each other activations, after the wait for
    what wrote these; tell each other when a stage is empty, for which they wait before its reuse and their end; and read
    each other's sums, when these are there, and before their end, when they have been read."""
    check(subject, 'multicast::cluster' in after and 'multicast::cluster' not in before,
          'does not bring activations to both blocks of a cluster, once they are there')
    check(subject, 'mapa.shared::cluster' in after and 'mbarrier.arrive.release.cluster' in after,
          'does not tell the other block that a stage is empty')
    waits = after.count('mbarrier.try_wait.parity.acquire.cluster')
    check(subject, waits == 4, f'waits for other blocks at {waits} places, not before reuse, at its end, and before and '
          'after it reads their sums')
    reads = after.count('ld.shared::cluster.v4.u32')
    check(subject, reads == 16 and reads <= after.count('mapa.shared::cluster'),
          f'reads {reads} times 16 bytes of other blocks, not those of a tile of columns of eight')
    for step, place in (('arrive.relaxed', before), ('wait.acquire', after)):
        times = (before + after).count(f'barrier.cluster.{step}')
        check(subject, times == place.count(f'barrier.cluster.{step}') == 1, f'barrier.cluster.{step} {times} times')


def check_cuda(architecture, overlap, ptx, cubin):
    kernels = by_kernel(ptx.read_text(), r'^\.(?:visible )?\.?entry (\w+)\(')
    registers, frames = cubin_facts(cubin)
    check_names(f'sm_{architecture}', kernels)
    for name, body in kernels.items():
        subject = f'sm_{architecture} {name}'
        check_loads(subject, name, body)
        check(subject, not STAMPS.search(body), 'looks at the clock, which only a build that stamps does')
        for instruction in ('griddepcontrol.wait', 'griddepcontrol.launch_dependents'):
            there = instruction in body
            check(subject, there == overlap, instruction + (' present' if there else ' missing'))
        if PASSES.search(name):
            check(subject, 'st.global.u16' in body and re.search(r'cvt\.rn\.bf16', body),
                  'does not round what it passes on')
        if overlap and name in VECTOR + MATRIX + UNITS + HEADS:
            before = body.split('griddepcontrol.wait')[0]
            check(subject, (COPY if name in COPYING else 'ld.global.nc.') in before,
                  'fetches no weights before it waits')
        if name in COPYING:
            check_groups(subject, body)
        if overlap and name in WGMMA:
            before = body.split('griddepcontrol.wait')[0]
            check(subject, 'cp.async.bulk.tensor.2d' in before, 'fetches no weights before it waits')
            check_clusters(subject, before, body[len(before):])
        if name in MATRIX + UNITS + EXPERT_MATRIX + HEADS_MATRIX + ATTENTION + PROMPTS + LATENT + TILE:
            check(subject, 'mma.sync.' in body, 'no matrix instruction')
        if BY_BITS.search(name):
            check(subject, 'fma.rn.bf16x2' in body and 'cvt.rn.f16x2.e4m3x2' not in body,
                  'converts E4M3 by instructions that have a slower unit of their own')
        used, limit = registers.get(name, 0), register_limit('cuda', name)
        check(subject, 0 < used <= limit, f'{used} registers of at most {limit}')
        check(subject, name not in ALONE or used > REGISTERS['cuda'][0],
              f'{used} registers, of which two blocks fit a multiprocessor')
        allowed = KNOWN_SPILLS.get(name, 0)
        check(subject, frames.get(name, 1e9) <= allowed,
              f'{frames.get(name)} bytes of stack or spills of at most {allowed}')


# ---- sm_90a: which loads are under way together, and what a vector product's window costs

# Loads of 16 bytes. A block of attention has nothing else to do while its queries, the new key or value and
# the angles come, two of each; in families ptxas waits for the first four. So, too, while splits are merged.
QUERY_LOADS, QUERY_LOADS_OF_FAMILIES, MERGE_LOADS = 6, 4, 16
# A thread's quads of the input of a norm: of at most 8192 elements and of at most 4096, where each has loads of
# its own; round.h, HELD and NORM_AHEAD.
HELD = {'bf16': [4, 2], 'e4m3': [2]}
WINDOW_LOADS = 8
# Instructions of a warp for 16 bytes of weights a lane, with everything else that a window takes. An H200's
# memory brings a multiprocessor 17 bytes a cycle, so its four schedulers could issue 119.
WINDOW_INSTRUCTIONS = {'bf16': 60, 'e4m3': 104}
FULL_INSTRUCTIONS = {'bf16': 42, 'e4m3': 79}  # in rows of whole windows, whose loads are not clamped


def check_merge(subject, code):
    merging = [i.operation for i in code].index(sass.ATOMIC)
    together = sass.loads_together(code[merging:])
    check(subject, together >= MERGE_LOADS,
          f'{together} loads of splits are under way together, of at least {MERGE_LOADS}')


def check_attention_loads(subject, name, code):
    operations = [i.operation for i in code]
    released = operations.index(sass.RELEASED)
    barriers = [at for at in range(released, len(code)) if operations[at] == sass.BARRIER]
    family = '_family' in name  # the norms' factors end with a barrier
    together = sass.loads_together(code[released:barriers[family]])
    least = QUERY_LOADS_OF_FAMILIES if family else QUERY_LOADS
    check(subject, together >= least, f'{together} loads for its queries are under way together, of at least {least}')
    check_merge(subject, code)


def check_held(subject, held, code):
    """Outside loops, which are for what is not held, a norm's input is loaded once, all of it at once. Of a loop
    that is unrolled, one load may be left over."""
    straight = sass.outside_loops(code)
    released = [i.operation for i in straight].index(sass.RELEASED)
    batches = sass.batches_of_loads(straight[released:], sass.is_input_load)
    largest = sorted(batches, reverse=True)
    check(subject, largest[:len(held)] == held, f'{batches} loads of its input are under way together, not {held}')
    check(subject, sum(largest[len(held):]) <= 1, f'loads its input again: {batches}')


def check_window(subject, name, code):
    """The loops over a vector product's windows, the first of which is for rows of whole windows: what they cost, that
    they ask for a window further on, and that nothing waits for a window's loads before they are used."""
    most = [limits[name.split('_')[1]] for limits in (FULL_INSTRUCTIONS, WINDOW_INSTRUCTIONS)]
    most = most[1:] if name.split('_')[4] in ('biased', 'gated') else most
    loops = sass.window_loops(code, WINDOW_LOADS)
    check(subject, len(loops) >= len(most), f'{len(loops)} loops over windows')
    for loop, limit in zip(loops, most):
        cost = len(loop) / WINDOW_LOADS
        check(subject, cost <= limit, f'{cost:.0f} instructions for 16 bytes, of at most {limit}')
        asks = sum(i.operation == sass.ASK for i in loop)
        check(subject, asks == 1, f'asks for {asks} windows ahead')
        early = sass.waits_after_loads(loop)
        check(subject, early == 0, f'{early} instructions wait for a window just after its loads')


TAKEN = 4  # of the loads of a thread of what comes rounded: product_vector.h


def check_taken(subject, code):
    """What comes rounded is copied: half the bytes of floats, and nothing to do for each element."""
    loops = sass.copy_loops(code, TAKEN)
    check(subject, len(loops) == 1, f'{len(loops)} loops that take what comes rounded')


# Loads of a piece's sums that a warp of wgmma has under way together: of the 16 at 64 columns all; at 128 the
# registers are taken by the sums that they are added to.
PIECE_LOADS = {'16': 4, '32': 8, '64': 16, '128': 4}


def check_pieces(subject, name, code):
    """How blocks of wgmma merge the tiles that they share: between fences, by loads that do not wait for each
    other, and without a barrier of the block, at which the warp that copies would have to wait. If they add up the parts
    of a cluster instead, the block has one barrier, after which all eight blocks' sums are on their way together."""
    operations = [i.operation for i in code]
    meeting = operations.index(sass.ATOMIC)
    fences = [at - meeting for at, operation in enumerate(operations) if operation == sass.FENCE]
    check(subject, any(-10 < f < 0 for f in fences) and any(0 < f < 10 for f in fences),
          'meets another block without a fence before and after')
    together, least = sass.loads_together(code[meeting:]), PIECE_LOADS[name.rsplit('_', 1)[1]]
    check(subject, together >= least, f'{together} loads of sums are under way together, of at least {least}')
    barriers, clusters = operations.count(sass.BARRIER), operations.count(sass.CLUSTER_WAIT)
    # Beside a cluster's barrier ptxas puts one of the block, for launches without clusters, which do not come there.
    # The one before parts are added up is in the code of the warp that copies, too.
    check(subject, barriers == 4 and clusters == 1,
          f'{barriers} barriers of the block and {clusters} of the cluster, not one at its beginning')
    parts = sass.batches_of_loads(code, lambda i: i.operation == sass.LOAD_OF_BLOCK and i.width == sass.WIDE)
    check(subject, parts == [16], f'{parts} loads of the sums of parts are under way together, not all 16')


def check_ring(subject, name, code):
    """The loop of a matrix product whose weights are copied: each step is a group, none waits for all of them,
    by count or by the scoreboard that the groups raise, and L2 is asked for what comes next. E4M3 has two chunks
    of activations to a round, for which only one group may be left if shared memory is small."""
    loop = sass.ring_loop(code)
    check(subject, loop, 'no loop with copies and products')
    if not loop:
        return
    groups = [i for i in loop if i.operation == sass.END_GROUP]
    left = collections.Counter(i.left for i in loop if i.operation == sass.WAIT_GROUP)
    few = {1} if '_e4m3_' in name else set()
    check(subject, len(groups) == GROUPS_LEFT + 1 <= left[GROUPS_LEFT] and set(left) <= few | {GROUPS_LEFT},
          f'{len(groups)} groups of copies, of which its waits leave {dict(left)}')
    drained = sum(i.waits >> group.raises & 1 for i in loop for group in groups[:1])
    check(subject, drained == 0, f'{drained} instructions wait for all copies')
    asks = sum(i.operation == sass.ASK for i in loop)
    check(subject, asks == 1, f'asks at {asks} places for what comes next')
    spilled = sum(i.operation in (sass.LOAD_LOCAL, sass.STORE_LOCAL) for i in loop)
    check(subject, not spilled, f'{spilled} spills')


def kernels_of(cubin):
    """The instructions of each kernel."""
    data = cubin.read_bytes()
    sections, names, text = cubin_sections(data)
    return sass.code_of(data, [(text(names, s[0]), s) for s in sections])


def check_sass_loads(cubin):
    kernels = kernels_of(cubin)
    check_names('sm_90a, its machine code', kernels)
    for name, code in kernels.items():
        if name in ATTENTION:
            check_attention_loads(f'sm_90a {name}', name, code)
        if name in LATENT:
            check_merge(f'sm_90a {name}', code)
        if name in WGMMA:
            check_pieces(f'sm_90a {name}', name, code)
        if name in COPYING:
            check_ring(f'sm_90a {name}', name, code)
        if name in VECTOR and name.endswith('_1') and 'e4m3_e4m3_round' not in name:  # it leaves no registers
            check_window(f'sm_90a {name}', name, code)
        if re.fullmatch(r'vector_\w+_norm_(store|swiglu)_1', name):
            check_held(f'sm_90a {name}', HELD[name.split('_')[2]], code)
        if re.fullmatch(r'vector_\w+_bf16_round_\w+_1', name):
            check_taken(f'sm_90a {name}', code)
        if re.fullmatch(r'round_\w+_norm', name):
            check_held(f'sm_90a {name}', HELD['bf16'], code)
    one_by_one = [i._replace(waits=0x3f) if sass.is_wide_load(i) else i for i in kernels['attention_bf16_128']]
    check('sm_90a attention_bf16_128', sass.loads_together(one_by_one) == 1,
          'loads that wait for each other are said to be under way together')


# What a build with time stamps adds (kernels/gpu/device/machine/stamp_cuda.h), with a second argument.
STAMPS = re.compile(r'%globaltimer|%smid|_param_1\b')


def check_stamped():
    """The kernels of `make gpu-stamped`, where they were built: each records its block's entry and exit, where
    it ran, and when it was released; those of products and attention also record their first product."""
    ptx = TREE / 'build' / 'stamped' / 'gpu' / 'cuda_90a.ptx'
    if TREE != ROOT or not ptx.exists() or ptx.stat().st_mtime < newest_source():
        count.skip('kernels that stamp the time', "run 'make gpu-stamped' first: they compile for minutes")
        return
    kernels = by_kernel(ptx.read_text(), r'^\.(?:visible )?\.?entry (\w+)\(')
    for name, body in kernels.items():
        subject, multiplies = f'sm_90a {name}, stamped', name in STAMPED_PRODUCTS
        times = body.count('%globaltimer')
        check(subject, times >= (4 if multiplies else 3), f'{times} looks at the clock')
        check(subject, '%smid' in body and f'{name}_param_1' in body, 'does not tell where it ran')
        check(subject, body.find('%globaltimer') < body.find('griddepcontrol.wait'), 'no stamp before it waits')


STAMPED_PRODUCTS = set(VECTOR + MATRIX + WGMMA + ATTENTION)


# Spills, maximum bytes (ptxas 13.0). On sm_90a one register of a product of experts, written once and read once:
# of E4M3 after a norm, around the loops over windows; rounded, from the beginning to the first weights. On
# sm_80, with biases or gates after a norm, one in a block at the code's end that is jumped to and returns.
KNOWN_SPILLS = {'vector_bf16_bf16_norm_biased_1': 8, 'expert_vector_e4m3_bf16_norm_gated_1': 8,
                'expert_vector_e4m3_e4m3_round_biased_1': 8}

# Stack and spills in the streaming kernels, maximum bytes, outside of the loops that use up weights: their
# attention keeps two batches of keys or values in flight in the 128 registers that 512 threads leave
# (ptxas 13.0); on sm_100 what fills the rings first, and what precedes a product of four rows.
STEP_STACK = {'80': 32, '90a': 32, '100': 32}
# The system's own part of the shared memory that a cubin declares (CUDA C++ Programming Guide, technical
# specifications: 1 KB per block from sm_80 on).
RESERVED_SHARED = {'90a': 1024, '100': 1024}


def streaming_shared():
    text = (TREE / 'kernels/gpu/arguments.h').read_text()
    return int(re.search(r'STREAMING_SHARED = (\d+)', text).group(1))


# How their weights come into shared memory (PTX ISA): in bulk, or in groups that are counted.
STEP_COPIES = {'80': ('cp.async.cg.shared.global', 'cp.async.commit_group', 'cp.async.wait_group 7'),
               '90a': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity'),
               '100': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity')}
# The instructions for arriving at and waiting for a grid (PTX ISA, red, ld, memory consistency model).
GRID_WAIT = ('red.release.gpu.global.add.u32', 'ld.acquire.gpu.global.u32')


# Products by weights, rounding and epilogue; those of weights in units by their format alone.
STEP_PRODUCTS = 6 + len(FORMATS)


def check_step_loops(subject, cubin):
    """In each product's loop over units of weights, sums and activations stay in registers, and the next unit
    is requested."""
    for name, code in sorted(kernels_of(cubin).items()):
        if name not in STEP:
            continue
        loops = sass.bulk_loops(code)
        check(f'{subject} {name}', len(loops) == STEP_PRODUCTS, f'{len(loops)} loops over units of weights')
        for loop in loops:
            spilled = sum(i.operation in (sass.LOAD_LOCAL, sass.STORE_LOCAL) for i in loop)
            check(f'{subject} {name}', not spilled, f'{spilled} spills in a loop over units of weights')


def check_streaming(architecture, ptx, cubin):
    """One image, whose kernels call functions of their own: registers are counted for both."""
    text, subject = ptx.read_text(), f'sm_{architecture} streaming'
    names = set(re.findall(r'^\.(?:visible )?\.?entry (\w+)\(', text, re.M))
    check(subject, names == STEP, 'other kernels: ' + ', '.join(sorted(names ^ STEP)))
    check(subject, not STAMPS.search(text), 'looks at the clock, which only a build that stamps does')
    check_loads(subject, 'vector', text)
    for instruction in GRID_WAIT + STEP_COPIES[architecture]:
        check(subject, instruction in text, f'no {instruction}')
    if architecture != '80':
        check_step_loops(subject, cubin)
    check(subject, 'griddepcontrol' not in text, 'waits for other launches')
    registers, frames = cubin_facts(cubin)
    for name in sorted(names):
        used = registers.get(name, 0)
        check(f'{subject} {name}', 0 < used <= 128, f'{used} registers of at most 128')
        check(f'{subject} {name}', frames.get(name, 1e9) <= STEP_STACK[architecture],
              f'{frames.get(name)} bytes of stack or spills of at most {STEP_STACK[architecture]}')
        shared = shared_bytes(cubin, name) - RESERVED_SHARED.get(architecture, 0)
        check(f'{subject} {name}', 0 < shared <= streaming_shared(),
              f'{shared} bytes of shared memory beside the launch\'s, of at most {streaming_shared()}')
    if disassembler() and architecture in SASS:
        cached = {i for i in instructions(run(disassembler(), '-c', cubin)) if re.match(r'LDG\b.*\.CONSTANT', i)}
        other = sorted(i for i in cached if not re.fullmatch(LOAD_WEIGHTS, i))
        check(subject, cached and not other, 'cached loads that are not of load_weights: ' + ', '.join(other))


# ---- SASS: the instructions that the GPU gets

def disassembler():
    beside = [str(pathlib.Path(nvcc()).resolve().parent / 'nvdisasm')] if nvcc() else []
    return tool(*filter(None, [os.environ.get('NVDISASM')]), 'nvdisasm', *beside)


INSTRUCTION = r'^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)'


def instructions(code):
    """Every instruction with its modifiers, and how often it occurs."""
    return collections.Counter(re.findall(INSTRUCTION, code, re.M))


def check_sass_kernel(subject, name, found, wanted_parts):
    """Each of `wanted_parts` is a pattern of a required instruction."""
    local = [i for i in found if re.match(r'(LDL|STL)\b', i)]
    check(subject, not local, 'local memory: ' + ', '.join(local))
    cached = [i for i in found if re.match(r'LDG\b.*\.CONSTANT', i)]
    known = LOAD_WEIGHTS + ('|' + LOAD_WORD if name in OF_UNITS else '')
    other = [i for i in cached if not re.fullmatch(known, i)]
    check(subject, not other, 'cached loads that are not of load_weights: ' + ', '.join(other))
    for pattern in wanted_parts:
        check(subject, any(re.match(pattern, i) for i in found), f'no {pattern}')


def sass_parts(name):
    """What a kernel should consist of."""
    parts = [LOAD_WEIGHTS + '$'] if name in STREAMING - COPYING else []
    if name in COPYING:
        parts += [r'LDGDEPBAR', r'DEPBAR\.LE']
    if name in MATRIX + UNITS + EXPERT_MATRIX:
        parts += [r'LDGSTS\.\S*\.128$', r'LDS\.128$']
    if name in WGMMA:
        kind = r'QGMMA\.64x{}x32\.F32\.E4M3\.E4M3' if 'e4m3_e4m3' in name else r'HGMMA\.64x{}x16\.F32\.BF16'
        parts += [kind.format(name.rsplit('_', 1)[1]), r'UTMALDG\.2D', r'SYNCS\.PHASECHK']
    if name in MATRIX + UNITS + EXPERT_MATRIX + ATTENTION + TILE:
        parts.append(r'HMMA\.16816\.F32' + ('' if 'e4m3_e4m3' in name else r'\.BF16'))
    return parts


# What is fetched before a kernel waits for the preceding one, in the code that the GPU gets: in PTX the
# order may be right, and ptxas changes it.
FETCHED = re.compile(r'LDG\.E\.NA\..*\.CONSTANT$|UTMALDG|LDGSTS')


def check_sass_order(subject, name, code):
    order = [i for i in re.findall(INSTRUCTION, code, re.M) if i == 'ACQBULK' or FETCHED.match(i)]
    if name in VECTOR + MATRIX + UNITS + WGMMA + ATTENTION and 'ACQBULK' in order:
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
    """The notes of each kernel as a dictionary of its integers."""
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
    """For weights; for attention, where clang merges loads of both kinds, of anything."""
    cached = name.startswith(('attention_', 'latent_'))
    return re.match(r'global_load_dwordx4\b' + ('' if cached else r'.*(\bnt\b|\bslc\b)'), text)


def streams(name, loop):
    return sum(1 for text in loop if is_stream(name, text))


def targets_of(code):
    """For each branch, by its place, the place of its target."""
    index = {address: i for i, (address, _) in enumerate(code)}
    targets = {}
    for i, (address, text) in enumerate(code):
        jump = re.match(r's_c?branch\S* (\d+)', text)
        if jump:
            offset = int(jump.group(1))
            targets[i] = index.get(address + 4 + 4 * (offset - 65536 if offset >= 32768 else offset))
    return targets


def loops_of(code):
    """The instructions of each loop, from the target of its last branch to that branch."""
    for i, start in targets_of(code).items():
        if start is not None and start <= i:
            yield [t for _, t in code[start:i + 1]]


def hot_loop(name, code):
    """The instructions of the streaming loop: the shortest with at least four loads of 16 bytes and a wait
    for some of them that is not for a copy into shared memory. Of several with the same number of loads, it
    is the one that leaves the most in flight: if clang puts a row's first loads, awaited together with the
    activations, after the stream, a shorter loop surrounds both.
    """
    # What attention multiplies comes from shared memory; its queries and the splits' sums do not.
    multiplied = r'ds_read2?_b(64|128)' if name.startswith(('attention_', 'latent_')) else ''
    loops = [loop for loop in loops_of(code) if streams(name, loop) >= 4 and least_left(loop) is not None and
             any(re.match(multiplied, text) for text in loop)]
    if not loops:
        return None
    loads = streams(name, min(loops, key=len))
    return max((loop for loop in loops if streams(name, loop) == loads), key=least_left)


def least_left(loop):
    """The minimum number of loads that the loop's waits for loaded weights leave in flight; waits for
    activations, which go into shared memory next, do not count. None without such a wait."""
    left = []
    for i, text in enumerate(loop):
        wait = re.match(r's_waitcnt .*vmcnt\((\d+)\)', text)
        after = next((t for t in loop[i + 1:]
                      if re.match(r'ds_|v_mfma|v_fma|v_pk_fma|global_load|s_c?branch|s_barrier', t)), '')
        if wait and not after.startswith('ds_write'):
            left.append(int(wait.group(1)))
    return min(left, default=None)


def waves(target, name):
    """For a kernel on a compute unit: blocks according to the plan and the kernels' bounds."""
    if name.startswith('latent_'):  # a block takes nearly 64 KB of shared memory
        return 8 if target == 'gfx950' else 4
    if name in VECTOR + EXPERT_VECTOR + HEADS_VECTOR:
        return 8
    return 2 * 8 if name.endswith('_16') else 8


def check_under_way(target, name, body):
    loop = hot_loop(name, instructions_of(body))
    check(f'{target} {name}', loop, 'no loop that streams')
    if not loop:
        return
    loads, left = streams(name, loop), least_left(loop)
    count = (left + min(loads, 8)) / 2 if PAIRED.match(name) else left
    have = count * LOAD_BYTES * waves(target, name)
    least = min(UNDER_WAY[target], MIN_UNDER_WAY.get(name, 1e9))
    # A layer norm waits for its row's mean before the product begins.
    check(f'{target} {name}', '_norm_biased_' in name or have >= least,
          f'{left} loads stay under way, {have:.0f} bytes to a compute unit of {least:.0f}')


# A nontemporal load is `nt` on gfx940 and later, `glc slc` on gfx90a, `slc` on gfx11.
STREAM = r'\bglobal_load_(?:dwordx4|b128)\b.*(?:\bnt\b|\bslc\b|TH_LOAD_NT)'


def check_hip_code(target, name, body):
    subject = f'{target} {name}'
    streams = re.findall(STREAM, body)
    check(subject, streams or name not in STREAMING, 'no 16-byte nontemporal loads')
    check(subject, name not in PROMPTS or re.search(LONG_LOAD, body), 'no 16-byte loads of the cache')
    check(subject, 'scratch_' not in body, 'uses scratch memory')
    if target in UNDER_WAY and name in COUNTED and name[-4:] != '_256':
        check_under_way(target, name, body)
    if target in MATRIX_UNITS and name in MATRIX + UNITS + EXPERT_MATRIX + HEADS_MATRIX + ATTENTION + PROMPTS + LATENT + TILE:
        check(subject, 'v_mfma_' in body, 'no matrix instruction')
        if target != 'gfx90a' and 'e4m3_e4m3' in name:
            check(subject, re.search(r'v_mfma_\w*(fp8|f8f6f4)', body), 'no matrix instruction of fp8')
    if target in ('gfx942', 'gfx950') and 'atomic_inc' in body:
        fences = all(re.search(f, body) for f in (r'buffer_wbl2 sc1', r'buffer_inv sc1'))
        check(subject, fences, 'blocks meet without fences between the dies')


LONG_LOAD = r'global_load_(dwordx4|b128)\b'
# Of attention in families: arguments and places that are kept while its queries, whose norms and pairs take
# the most, are entered (clang 19; 24 on gfx90a, 12 on gfx942).
SCALARS_IN_LANES = 24


# How their weights come into shared memory (PTX ISA): in bulk, or in groups that are counted.
STEP_COPIES = {'80': ('cp.async.cg.shared.global', 'cp.async.commit_group', 'cp.async.wait_group 7'),
               '90a': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity'),
               '100': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity')}
# The instructions for arriving at and waiting for a grid: LLVM, "User Guide for AMDGPU Backend", Memory
# Model gfx90a and gfx942: releases and acquires of agent scope. Between the dies of gfx942 and gfx950 the
# L2s are written back and lose what others may have written; the counter is added to and read past them.
AGENT_SCOPE = {'gfx90a': (r'global_atomic_add\b', r'global_load_dword\b.*\bglc\b', r'buffer_wbinvl1_vol'),
               'gfx942': (r'global_atomic_add\b', r'global_load_dword\b.*\bsc1\b', r'buffer_wbl2 sc1',
                          r'buffer_inv sc1')}
AGENT_SCOPE['gfx950'] = AGENT_SCOPE['gfx942']


def check_order(subject, code):
    """Around every addition to the grid's counter: written back and awaited before it; and after every wait
    for the counter, before the block continues, the caches dropped."""
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
    """Scalar loads, whose cache no fence affects, are from what the kernel was started with, or from an
    address made by constant_of_launch (platform_hip.h), never from what other blocks wrote. Followed along
    all ways through the code: `others` are the registers that something else may have written before it."""
    targets, steps = targets_of(code), []
    for _, text in code:
        load = re.match(r's_load_\S+ \S+ s\[(\d+):', text)
        to = re.match(r'\S+ s(\d+),|\S+ s\[(\d+):(\d+)\]', text)
        first, last = (to.group(1) or to.group(2), to.group(1) or to.group(3)) if to else (0, -1)
        registers = sum(1 << register for register in range(int(first), int(last) + 1))
        steps.append((1 << int(load.group(1)) if load else 0, registers, text.startswith('v_readfirstlane')))
    others, waiting, other = {0: 0}, [0], set()
    while waiting:
        at = waiting.pop()
        state = others[at]
        while at < len(code):
            load, registers, is_made = steps[at]
            if state & load:
                other.add(code[at][1])
            state = state & ~registers if is_made else state | registers
            text = code[at][1]
            after = [targets[at]] if at in targets else []
            if not text.startswith(('s_branch', 's_endpgm', 's_setpc')):
                after.append(at + 1)
            if not after or after[0] is None:
                break
            for place in after if len(after) > 1 or at in targets else []:
                if place not in others or others[place] | state != others[place]:
                    others[place] = others.get(place, 0) | state
                    waiting.append(place)
            if at in targets:
                break
            at += 1
            if at in others:  # a place that is branched to
                if others[at] | state != others[at]:
                    others[at] |= state
                    waiting.append(at)
                break
    check(subject, not other, 'scalar loads of anything: ' + ', '.join(sorted(other)))


def check_streaming_hip(target, image):
    """Kernels that contain all stages of a step."""
    facts = note_facts(run(llvm('llvm-readelf'), '--notes', image))
    code = by_kernel(run(llvm('llvm-objdump'), '-d', image), r'^[0-9a-f]+ <(\w+)>:')
    check(f'{target} streaming', set(facts) == STEP, 'other kernels: ' + ', '.join(set(facts) ^ STEP))
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
        check(subject, shared <= streaming_shared(), f'{shared} bytes of shared memory beside the launch\'s')
        check_no_spills(subject, values, body)


def check_no_spills(subject, values, body):
    """No spills to memory. In attention of families a few scalar registers may be spilled to lanes of a vector
    register: outside of the loop over the cache, that is two instructions each in a whole launch."""
    for fact in ('vgpr_spill_count', 'private_segment_fixed_size'):
        check(subject, values.get(fact) == 0, f'{fact} {values.get(fact)}')
    scalars = values.get('sgpr_spill_count', 1e9)
    moved = [text for loop in loops_of(instructions_of(body)) if any(re.search(STREAM, t) for t in loop)
             for text in loop if re.match(r'v_(write|read)lane_b32', text)] if scalars else []
    check(subject, scalars <= (SCALARS_IN_LANES if '_family' in subject else 0) and not moved,
          f'sgpr_spill_count {scalars}' + ''.join(f', in a loop: {text}' for text in moved))


def check_hip(target, image):
    if not llvm('llvm-readelf') or not llvm('llvm-objdump'):
        sys.exit('llvm-readelf and llvm-objdump are missing beside clang: see tests/support/setup.sh')
    notes = run(llvm('llvm-readelf'), '--notes', image)
    facts = note_facts(notes)
    code = by_kernel(run(llvm('llvm-objdump'), '-d', image), r'^[0-9a-f]+ <(\w+)>:')
    check_names(target, facts)
    # HIP before 6.1 does not support hidden_dynamic_lds_size, and passes no arguments to such a kernel.
    hidden = set(re.findall(r'\.value_kind: +(hidden_\w+)', notes))
    check(target, not hidden, 'hidden arguments: ' + ', '.join(sorted(hidden)))
    for name, values in facts.items():
        subject = f'{target} {name}'
        check_hip_code(target, name, code.get(name, ''))
        limit = register_limit(target[:4], name)
        used = values.get('vgpr_count', 0)
        check(subject, 0 < used <= limit, f'{used} vector registers of at most {limit}')
        check_no_spills(subject, values, code.get(name, ''))


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


# product_wgmma is only sm_90a's.
SHARED_STAGES = ('product_vector', 'product_matrix', 'experts', 'heads', 'route', 'attention', 'attention_merge',
                 'attention_queries', 'attention_share', 'latent', 'round', 'turn', 'embedding', 'sample',
                 'fill', 'calibration', 'family', 'streaming', 'streaming_registers',
                 'product_stream', 'pairs')


def check_stages():
    """What differs from device to device is only in machine/."""
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
        count.skip('machine code', 'neither images of the GPUs in build/gpu, nor nvcc or clang-19 to make them')
    count.finish()


if __name__ == '__main__':
    TREE = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT
    main()
