"""What nvcc's PTX and its cubins must be like: which instructions, how many registers, how much stack."""
import collections
import re

from kernels import sass
from kernels.cubin import cubin_facts, kernels_of, shared_bytes
from kernels.cuda_sass import LOAD_WEIGHTS, SASS, check_fetches, check_meetings, disassembler, instructions
from kernels.gpu_images import (
    TREE, REGISTERS, by_kernel, check, check_names, count, newest_source, register_limit, run, streaming_shared)
from kernels.kernel_names import (
    ALONE, ATTENTION, BY_BITS, COPY, COPYING, COPYING_CACHE, EXPERT_MATRIX, FORMATS, GROUPS_LEFT, HEADS, HEADS_MATRIX,
    LATENT, MATRIX, OF_UNITS, PASSES, PROMPTS, STEP, STREAMING, TILE, UNITS, VECTOR, WGMMA, WGMMA_STRIPS)
from support.program import ROOT


def check_loads(subject, name, body, asks=()):
    """`asks`: what may ask for more than is loaded."""
    cached = re.findall(r'\bld\.global\.nc\S*|\bld\.global\S*\.nc\S*|\bldu\.\S*', body)
    streams = [c for c in cached if c == 'ld.global.nc.L1::no_allocate.v4.u32']
    other = sorted(set(cached) - set(streams) - ({'ld.global.nc.u32'} if name in OF_UNITS else set()))
    check(subject, not other, 'cached loads that are not of load_weights: ' + ', '.join(other))
    copies = COPYING | COPYING_CACHE
    check(subject, streams or name not in STREAMING - copies, 'no 16-byte loads of load_weights')
    check(subject, not streams or name not in WGMMA and name not in copies, 'what streams is loaded past the copies')
    more = sorted(set(re.findall(r'\b\S*(?:prefetch|L2::256B)\S*', body)) - set(asks))
    check(subject, not more, 'brings more into L2 than it loads: ' + ', '.join(more))
    check(subject, name not in set(PROMPTS) - COPYING_CACHE or ('ld.global.v4.u32' in body and not streams),
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


def check_cache_groups(subject, body):
    """Each batch of keys or values is a group of its own, empty where there is none, and only the oldest is waited for."""
    waits = [int(left) for left in re.findall(r'cp\.async\.wait_group\s+(\d+)', body)]
    check(subject, COPY in body and set(waits) == {GROUPS_LEFT} and 'cp.async.wait_all' not in body,
          f'waits for copies so that {waits} groups are left, not {GROUPS_LEFT}')
    ends = body.count('cp.async.commit_group')
    check(subject, ends >= len(waits) + GROUPS_LEFT + 1, f'{ends} ends of groups for {len(waits)} waits')


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


def check_registers(subject, body, used, code):
    """Those who multiply, 256 threads, take registers from those who do not. They wait until there are enough, of those
    that the block was launched with: if there never are, for ever. What ptxas cannot do it leaves out."""
    given = [int(n) for n in re.findall(r'setmaxnreg\.(?:inc|dec)\.sync\.aligned\.u32\s+(\d+)', body)]
    threads = int(re.search(r'\.maxntid (\d+)', body)[1])
    check(subject, len(given) == 2 and min(given) <= used <= max(given)
          and 256 * max(given) + (threads - 256) * min(given) <= threads * used,
          f'{given} registers for its warpgroups, of {used} for each of {threads} threads')
    kept = sorted(i.kind for i in code if i.operation == sass.SET_REGISTERS)
    check(subject, kept == sorted(given), f'{kept} registers in its machine code, not {given}')


def check_maps(subject, name, before):
    """The maps of its matrices, two or with a gate three, are asked for before the first copy."""
    asks = before.partition('cp.async.bulk.tensor')[0].count(ASK_MAP)
    wanted = 3 if '_swiglu_' in name else 2
    check(subject, asks == before.count(ASK_MAP) == wanted, f'asks for {asks} maps of its matrices, not {wanted}')


def check_cuda(architecture, overlap, ptx, cubin):
    kernels = by_kernel(ptx.read_text(), r'^\.(?:visible )?\.?entry (\w+)\(')
    registers, frames = cubin_facts(cubin)
    code = kernels_of(cubin) if any(name in WGMMA for name in kernels) else {}
    check_names(f'sm_{architecture}', kernels)
    for name, body in kernels.items():
        subject = f'sm_{architecture} {name}'
        check_loads(subject, name, body, {ASK_MAP} if name in WGMMA else ())
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
        if name in COPYING_CACHE:
            check_cache_groups(subject, body)
        if overlap and name in WGMMA:
            before = body.split('griddepcontrol.wait')[0]
            check(subject, 'cp.async.bulk.tensor.2d' in before, 'fetches no weights before it waits')
            check_registers(subject, body, registers.get(name, 0), code[name])
            check_maps(subject, name, before)
            if name in WGMMA_STRIPS:
                check(subject, 'cluster_ctarank' not in body and 'barrier.cluster' not in body, 'asks for a cluster')
            else:
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
        check(subject, frames.get(name) == 0, f'{frames.get(name)} bytes of stack or spills')


# What is asked for before it is needed: by wgmma the maps of its matrices, by a step in one launch its lists.
ASK_MAP, ASK_LIST = 'prefetch.tensormap', 'prefetch.global.L2'
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


# Stack and spills in the streaming kernels, maximum bytes, outside of the loops that use up weights: their
# attention keeps two batches of keys or values in flight in the 128 registers that 512 threads leave
# (ptxas 13.0); on sm_100 what fills the rings first, and what precedes a product of four rows.
STEP_STACK = {'80': 48, '90a': 40, '100': 32}
# The system's own part of the shared memory that a cubin declares (CUDA C++ Programming Guide, technical
# specifications: 1 KB per block from sm_80 on).
RESERVED_SHARED = {'90a': 1024, '100': 1024}


# How their weights come into shared memory (PTX ISA): in bulk, or in groups that are counted.
STEP_COPIES = {'80': ('cp.async.cg.shared.global', 'cp.async.commit_group', 'cp.async.wait_group 7'),
               '90a': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity'),
               '100': ('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', 'mbarrier.try_wait.parity')}
# The instructions for arriving at and waiting for a grid (PTX ISA, red, ld, memory consistency model).
GRID_WAIT = ('red.release.gpu.global.add.u32', 'ld.acquire.gpu.global.u32')
# Those for what stages pass on to each other, past a multiprocessor's own cache.
PASSED = ('ld.relaxed.gpu.global.v4.u32', 'ld.relaxed.gpu.global.f32', 'st.relaxed.gpu.global.f32')


# Products by weights, rounding and epilogue; those of weights in units by their format alone.
STEP_PRODUCTS = 6 + len(FORMATS)


# What sm_90a issues for a unit in BF16 or E4M3 that is followed by others, beside its arithmetic: what waits for it,
# finds its activations, and requests another one, once it is known that few enough are under way.
UNIT_INSTRUCTIONS = 95


def check_unit(subject, vectors, first, loop):
    """A unit of two rows of 1 KiB is multiplied in four pieces of 16 bytes a lane. Where its rows end, half of that has a
    loop of its own. A piece in E4M3 takes 8 F2FP and 16 HADD2 to become floats and one in BF16 8 instructions, as do 8
    activations, which two pieces meet."""
    multiplied = collections.Counter(i.operation for i in loop)[sass.MULTIPLY_ADD] * 2 // 3
    elements = multiplied // vectors // 4
    if elements not in (8, 16):
        return
    converted = 8 if elements == 8 else 8 + 16
    arithmetic = multiplied + 4 * (1 + converted) + vectors * 2 * (elements // 8 + elements)
    issued = sass.fewest_instructions(loop, first, {
        sass.MULTIPLY_ADD: multiplied, sass.COPY: 2, sass.HAS_ENDED: 2, sass.LOAD: 0})
    beside = issued and issued - arithmetic
    check(subject, issued and beside <= UNIT_INSTRUCTIONS,
          f'{beside} instructions for a unit of {elements} elements a load, of at most {UNIT_INSTRUCTIONS}')


def check_step_loops(subject, cubin):
    """In each product's loop over units of weights, sums and activations stay in registers, and the next unit
    is requested."""
    for name, code in sorted(kernels_of(cubin).items()):
        check_fetches(f'{subject} {name}', code, lists=True)
        if subject.startswith('sm_90a'):
            check_meetings(f'{subject} {name}', code)
        if name not in STEP:
            continue
        loops = sass.bulk_loops(code)
        check(f'{subject} {name}', len(loops) == STEP_PRODUCTS, f'{len(loops)} loops over units of weights')
        for first, loop in loops:
            if subject.startswith('sm_90a'):
                check_unit(f'{subject} {name}', int(name.rsplit('_', 1)[1]), first, loop)
            spilled = sum(i.operation in (sass.LOAD_LOCAL, sass.STORE_LOCAL) for i in loop)
            check(f'{subject} {name}', not spilled, f'{spilled} spills in a loop over units of weights')


def check_requests(subject, text):
    """Whether a copy has landed, and so another can be requested, is asked after each unit used, as often as it is
    waited for, and where a stage waits: before each kind of product in BF16 and E4M3 at least."""
    for name, body in by_kernel(text, r'^\.(?:visible )?\.?entry (\w+)\(').items():
        asked, waited = (body.count(f'mbarrier.{how}_wait.parity') for how in ('test', 'try'))
        check(f'{subject} {name}', asked >= waited + STEP_PRODUCTS - len(FORMATS),
              f'{asked} times looks whether a copy has landed, where it waits for {waited}')


def check_streaming(architecture, ptx, cubin):
    """One image, whose kernels call functions of their own: registers are counted for both."""
    text, subject = ptx.read_text(), f'sm_{architecture} streaming'
    names = set(re.findall(r'^\.(?:visible )?\.?entry (\w+)\(', text, re.M))
    check(subject, names == STEP, 'other kernels: ' + ', '.join(sorted(names ^ STEP)))
    check(subject, not STAMPS.search(text), 'looks at the clock, which only a build that stamps does')
    check_loads(subject, 'vector', text, {ASK_LIST})
    for instruction in GRID_WAIT + PASSED + STEP_COPIES[architecture]:
        check(subject, instruction in text, f'no {instruction}')
    if architecture != '80':
        check_step_loops(subject, cubin)
        check_requests(subject, text)
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
