"""What NVIDIA's machine code must be like: which loads are under way together (sass.py), what a window costs, and, if
nvdisasm is found (in NVDISASM, PATH or beside nvcc), which instructions there are."""
import collections
import os
import pathlib
import re

from kernels import sass
from kernels.cubin import kernels_of
from kernels.gpu_images import by_kernel, check, check_names, count, nvcc, run, tool
from kernels.kernel_names import (
    ATTENTION, COPYING, COPYING_CACHE, EXPERT_MATRIX, GROUPS_LEFT, HEADS, LATENT, MATRIX, OF_UNITS, STREAMING, TILE, UNITS, VECTOR,
    WGMMA, WGMMA_STRIPS)

LOAD_WEIGHTS = r'LDG\.E\.NA\.128\.CONSTANT'
LOAD_WORD = r'LDG\.E\.CONSTANT'  # in addition to weights stored in units: load_weights_word
SASS = {'80', '90a'}  # supported by nvdisasm of CUDA 12.4 and later
# SASS instructions whose number over all kernels is printed.
SHOWN = {'weights LDG.128': r'LDG\..*\.128\.CONSTANT$', 'LDGSTS.128': r'LDGSTS\..*\.128$', 'HMMA': r'HMMA\b',
         'HGMMA': r'HGMMA\b', 'QGMMA': r'QGMMA\b', 'UTMALDG': r'UTMALDG\b',
         'local': r'(LDL|STL)\b'}

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
    """The loops over a vector product's windows, the first of which is for rows of whole windows: what they cost, and
    that nothing waits for a window's loads before they are used."""
    most = [limits[name.split('_')[1]] for limits in (FULL_INSTRUCTIONS, WINDOW_INSTRUCTIONS)]
    most = most[1:] if name.split('_')[4] in ('biased', 'gated') else most
    loops = sass.window_loops(code, WINDOW_LOADS)
    check(subject, len(loops) >= len(most), f'{len(loops)} loops over windows')
    for loop, limit in zip(loops, most):
        cost = len(loop) / WINDOW_LOADS
        check(subject, cost <= limit, f'{cost:.0f} instructions for 16 bytes, of at most {limit}')
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
    """How blocks of wgmma merge the tiles that they share: by loads that do not wait for each other, and without a
    barrier of the block, at which the warp that copies would have to wait. If they add up the parts of a cluster
    instead, the block has one barrier, after which all eight blocks' sums are on their way together. A product that a
    norm may precede has one more, before its first step."""
    operations = [i.operation for i in code]
    meeting = operations.index(sass.ATOMIC)
    together, least = sass.loads_together(code[meeting:]), PIECE_LOADS[name.rsplit('_', 1)[1]]
    check(subject, together >= least, f'{together} loads of sums are under way together, of at least {least}')
    barriers, clusters = operations.count(sass.BARRIER), operations.count(sass.CLUSTER_WAIT)
    strips = name in WGMMA_STRIPS  # without clusters
    # Beside a cluster's barrier ptxas puts one of the block, for launches without clusters, which do not come there.
    # The one before parts are added up is in the code of the warp that copies, too.
    normed = re.match(r'wgmma_\w+_bf16_(store|swiglu)_', name) is not None
    check(subject, (barriers, clusters) == ((1 + normed, 0) if strips else (4 + normed, 1)),
          f'{barriers} barriers of the block and {clusters} of the cluster, not one at its beginning')
    parts = sass.batches_of_loads(code, lambda i: i.operation == sass.LOAD_OF_BLOCK and i.width == sass.WIDE)
    check(subject, parts == ([] if strips else [16]), f'{parts} loads of the sums of parts are under way together, not all 16')


def copies_of(subject, code):
    """The loop with copies and products: its instructions, its groups of copies, and how often a wait leaves how many of
    them. None waits for all of them by the scoreboard that the groups raise."""
    loop = sass.ring_loop(code) or []
    check(subject, loop, 'no loop with copies and products')
    groups = [i for i in loop if i.operation == sass.END_GROUP]
    drained = sum(i.waits >> group.raises & 1 for i in loop for group in groups[:1])
    check(subject, drained == 0, f'{drained} instructions wait for all copies')
    spilled = sum(i.operation in (sass.LOAD_LOCAL, sass.STORE_LOCAL) for i in loop)
    check(subject, not spilled, f'{spilled} spills')
    return loop, len(groups), collections.Counter(i.left for i in loop if i.operation == sass.WAIT_GROUP)


def check_ring(subject, name, code):
    """A matrix product whose weights are copied: each step is a group. E4M3 has two chunks of activations to a round, for
    which only one group may be left if shared memory is small."""
    _, groups, left = copies_of(subject, code)
    few = {1} if '_e4m3_' in name else set()
    check(subject, groups == GROUPS_LEFT + 1 <= left[GROUPS_LEFT] and set(left) <= few | {GROUPS_LEFT},
          f'{groups} groups of copies, of which its waits leave {dict(left)}')


# Instructions of a warp for a unit of 16 KiB of keys and values, in heads of 128, with its softmax. Twice as many
# could be issued while an H200's memory brings it.
UNIT_INSTRUCTIONS = {'bf16': 660, 'e4m3': 1900}


def check_cache_ring(subject, name, code):
    """Attention's units of the cache: each batch is a group, and what a unit takes."""
    loop, groups, left = copies_of(subject, code)
    check(subject, groups and left == {GROUPS_LEFT: groups},
          f'{groups} groups of copies, of which its waits leave {dict(left)}')
    if name.endswith('_128'):
        most = UNIT_INSTRUCTIONS[name.split('_')[1]]
        check(subject, len(loop) <= most, f'{len(loop)} instructions for a unit, of at most {most}')


NEAR = 10  # instructions


def check_meetings(subject, code):
    """Where blocks count, a single fence releases what they wrote, of the weaker kind, right before; and where they look
    at the count they drop what the multiprocessor's cache has, right after. No other fences are of the device, except
    those before arriving at another block's barrier."""
    counts = [at for at, i in enumerate(code) if i.operation in (sass.ATOMIC, sass.ADD)]
    fences = [(at, i.kind) for at, i in enumerate(code) if i.operation == sass.FENCE and i.kind != sass.OF_BLOCK]
    releases = [next((at + n for n, i in enumerate(code[at:at + NEAR])
                      if i.operation in (sass.ATOMIC, sass.ADD, sass.ARRIVE)), None) for at, _ in fences]
    check(subject, all(kind == sass.ACQUIRE_RELEASE for _, kind in fences), f'fences of kinds {fences}')
    check(subject, None not in releases and len(set(releases)) == len(releases) and set(counts) <= set(releases),
          f'fences at {fences}, for counts at {counts}')
    for at in counts:
        dropped = any(i.operation == sass.CACHE and i.kind == sass.DROP for i in code[at:at + NEAR])
        check(subject, code[at].operation == sass.ADD or dropped, 'looks at the count without acquiring')


def check_fetches(subject, code, lists=False):
    """Nothing comes into L2 but what is loaded or copied: on an H200 both ways of fetching more were slower. Except that
    a step in one launch asks for its `lists` ahead, of which the PTX interpreter sees that they are loaded."""
    asks = sum(i.operation == sass.ASK for i in code)
    asks += sum(i.operation == sass.CACHE and i.kind == sass.ASK_LINE for i in code) * (not lists)
    check(subject, asks == 0, f'prefetches into L2 at {asks} places')
    wide = sum(i.around == sass.WIDEST for i in code)
    check(subject, wide == 0, f'{wide} loads or copies that bring 256 bytes into L2')


# How often a product waits for what is not its operands: for what a lane's rows and columns have, and for the sums of
# splits and of parts of a cluster; and how many of what it adds its sums to come together, as registers allow.
EPILOGUE_WAITS = 8


def residuals_together(name):
    columns = name.rsplit('_', 1)[1]
    if name in WGMMA and columns == '64':
        return 16 if name in WGMMA_STRIPS else 32
    return 4 if columns == '128' else 8


def check_epilogue(subject, name, code):
    """What a product's epilogue loads, the residual, scales and biases, comes by several loads at a time: one by one, each
    would wait for L2 behind a store. The residual of a lane is one for each column, and a product without wgmma merges as
    many sums of splits."""
    batches = sass.batches_of_loads(code, lambda i: i.operation == sass.LOAD and i.width == sass.WORD and not i.constant)
    columns, adds = name.rsplit('_', 1)[1], re.match(r'(wgmma_\w+_add|matrix_\w+_(add|biased))_', name)
    strips = 2 if name in WGMMA_STRIPS else 1
    most = EPILOGUE_WAITS + (strips * int(columns) // residuals_together(name) if adds else 0)
    check(subject, len(batches) <= most, f'waits {len(batches)} times for loads of its epilogue, of at most {most}')
    together = sum(loads for loads in batches if loads >= 4)
    least = 0 if not adds else strips * int(columns) - 8 * (strips - 1) if name in WGMMA else int(columns) * 3 // 2
    check(subject, together >= least, f'{together} loads in fours or more, of at least {least}')


LEAST_EARLY = 4  # of 16 bytes: more than a norm's, fewer than a window or ring has


def check_early(subject, code):
    """Weights are fetched before the kernel waits for the preceding one, in the code that the GPU gets: in PTX the order
    may be right, and ptxas changes it."""
    released = [i.operation for i in code].index(sass.RELEASED)
    early = sum(i.operation == sass.COPY_LANE or sass.is_wide_load(i) and i.constant for i in code[:released])
    check(subject, early >= LEAST_EARLY, f'{early} loads before it waits, of at least {LEAST_EARLY}')


def check_sass_loads(cubin):
    kernels = kernels_of(cubin)
    check_names('sm_90a, its machine code', kernels)
    for name, code in kernels.items():
        check_fetches(f'sm_90a {name}', code)
        check_meetings(f'sm_90a {name}', code)
        if name in VECTOR + MATRIX + UNITS + HEADS:
            check_early(f'sm_90a {name}', code)
        if name in WGMMA + MATRIX + UNITS + EXPERT_MATRIX:
            check_epilogue(f'sm_90a {name}', name, code)
        if name in ATTENTION:
            check_attention_loads(f'sm_90a {name}', name, code)
        if name in LATENT:
            check_merge(f'sm_90a {name}', code)
        if name in WGMMA:
            check_pieces(f'sm_90a {name}', name, code)
        if name in COPYING:
            check_ring(f'sm_90a {name}', name, code)
        if name in COPYING_CACHE:
            check_cache_ring(f'sm_90a {name}', name, code)
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
    parts = [LOAD_WEIGHTS + '$'] if name in STREAMING - COPYING - COPYING_CACHE else []
    if name in COPYING | COPYING_CACHE:
        parts += [r'LDGDEPBAR', r'DEPBAR\.LE']
    if name in MATRIX + UNITS + EXPERT_MATRIX:
        parts += [r'LDGSTS\.\S*\.128$', r'LDS\.128$']
    if name in WGMMA:
        kind = r'QGMMA\.64x{}x32\.F32\.E4M3\.E4M3' if 'e4m3_e4m3' in name else r'HGMMA\.64x{}x16\.F32\.BF16'
        parts += [kind.format(name.rsplit('_', 1)[1]), r'UTMALDG\.2D', r'SYNCS\.PHASECHK']
    if name in MATRIX + UNITS + EXPERT_MATRIX + ATTENTION + TILE:
        parts.append(r'HMMA\.16816\.F32' + ('' if 'e4m3_e4m3' in name else r'\.BF16'))
    return parts


# What is fetched before a kernel waits for the preceding one; check_early counts it.
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
