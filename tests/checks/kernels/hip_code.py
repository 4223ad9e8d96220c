"""What AMD's machine code must be like: by the notes of an image, and its disassembly."""
import pathlib
import re
import sys

from kernels.gpu_images import (
    MATRIX_UNITS, by_kernel, check, check_names, llvm, register_limit, run, streaming_shared)
from kernels.kernel_names import (
    ATTENTION, COUNTED, EXPERT_MATRIX, EXPERT_VECTOR, HEADS_MATRIX, HEADS_VECTOR, LATENT, MATRIX, PAIRED,
    PROMPTS, STEP, STREAMING, TILE, UNITS, VECTOR)

# Bytes that should be in flight to a compute unit at all times, and how many waves of a kernel it has: the
# arithmetic is in platform_hip.h. Heads of 256 drain their loads once per unit.
UNDER_WAY = {'gfx90a': 15e3, 'gfx942': 20e3, 'gfx950': 31e3}
LOAD_BYTES = 64 * 16  # for a wave of 64
# What is requested ahead is a unit of latents, which in E4M3 is 18 KB.
MIN_UNDER_WAY = {'latent_e4m3': 16e3, 'latent_e4m3_prompt': 16e3}


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
    if target in MATRIX_UNITS and 'global_atomic_inc' in body:
        texts = [text for _, text in instructions_of(body)]
        check_no_faults(subject, target, texts, arrival_faults)


LONG_LOAD = r'global_load_(dwordx4|b128)\b'
# Of attention in families: arguments and places that are kept while its queries, whose norms and pairs take
# the most, are entered (clang 19; 24 on gfx90a, 12 on gfx942).
SCALARS_IN_LANES = 24
# The instructions for arriving at and waiting for a grid: LLVM, "User Guide for AMDGPU Backend", Memory
# Model gfx90a and gfx942: releases and acquires of agent scope. Between the dies of gfx942 and gfx950 the
# L2s are written back and lose what others may have written; the counter is added to and read past them.
AGENT_SCOPE = {'gfx90a': (r'global_atomic_add\b', r'global_load_dword\b.*\bglc\b', r'buffer_wbinvl1_vol'),
               'gfx942': (r'global_atomic_add\b', r'global_load_dword\b.*\bsc1\b', r'buffer_wbl2 sc1',
                          r'buffer_inv sc1')}
AGENT_SCOPE['gfx950'] = AGENT_SCOPE['gfx942']
# Likewise, those for what stages pass on to each other.
PASSED = {'gfx90a': (r'global_load_dwordx2\b.*\bglc\b', r'global_store_dword\b'),
          'gfx942': (r'global_load_dwordx2\b.*\bsc1\b', r'global_store_dword\b.*\bsc1\b')}
PASSED['gfx950'] = PASSED['gfx942']


def is_counter(texts, i):
    """Whether the load is of the grid's counter: the next thing is to compare it with what is awaited. Of floats that
    stages pass on to each other, which are loaded likewise, the lowest bit counts, and no fence is needed."""
    load = re.match(r'global_load_dword (v\d+),.*\bsc1\b', texts[i])
    after = next((text for text in texts[i + 1:i + 4] if not text.startswith('s_waitcnt')), '')
    return load and re.match(rf'v_cmp_(ge|gt|le|lt)_u32_e32 vcc, (\w+, )?{load.group(1)}\b', after)


STORE = re.compile(r'(global|flat|buffer)_store')
STORES_AWAITED = re.compile(r's_waitcnt.*vmcnt\(0\)')
# Of agent scope: the die's L2 written back, and what the caches hold of others dropped.
WRITTEN_BACK = {'gfx942': 'buffer_wbl2 sc1', 'gfx950': 'buffer_wbl2 sc1'}
DROPPED = {'gfx90a': 'buffer_wbinvl1_vol', 'gfx942': 'buffer_inv sc1', 'gfx950': 'buffer_inv sc1'}


def last(texts, wanted):
    return max((i for i, text in enumerate(texts) if wanted(text)), default=-1)


def is_barrier(text):
    return text.startswith('s_barrier')


def arrives_early(target, before):
    """What is missing before an addition to a counter where blocks meet. Each wave waits for its own stores, which
    neither a barrier nor another wave's fence does; after a barrier, one wave writes the L2 back and waits for that."""
    barrier = last(before, is_barrier)
    awaited = last(before[:max(barrier, 0)], STORES_AWAITED.match)
    if awaited < 0 or last(before[:barrier], STORE.match) > awaited:
        return 'meets others before its stores are done'
    if target not in WRITTEN_BACK:
        return None
    back = last(before, lambda text: text.startswith(WRITTEN_BACK[target]))
    return None if barrier < back < last(before, STORES_AWAITED.match) else 'meets others before the L2 is written back'


def arrival_faults(target, texts):
    """Of blocks of which the last one goes on (arrive_last)."""
    faults = []
    for i, text in enumerate(texts):
        if text.startswith('global_atomic_inc'):
            faults.append(arrives_early(target, texts[max(0, i - 60):i]))
            after = texts[i:i + 60]
            barrier = next((k for k, t in enumerate(after) if is_barrier(t)), len(after))
            if not any(t.startswith(DROPPED[target]) for t in after[:barrier]):
                faults.append('goes on with what the caches hold')
    return [fault for fault in faults if fault]


def order_faults(target, texts):
    """Of a cooperative launch (grid_arrive, grid_wait): after every wait for the counter, before the block continues,
    the caches drop what they hold."""
    counters = [i for i in range(len(texts)) if is_counter(texts, i)]
    faults = [] if counters else ['no wait for the counter']
    for i in counters:
        after = texts[i:i + 40]
        barrier = next((k for k, t in enumerate(after) if is_barrier(t)), len(after))
        if not any(t.startswith(DROPPED[target]) for t in after[:barrier]):
            faults.append('goes on with what the caches hold')
    arrivals = [i for i, text in enumerate(texts) if re.match(r'global_atomic_add\b', text)]
    faults += [arrives_early(target, texts[max(0, i - 60):i]) for i in arrivals]
    return [fault for fault in faults if fault]


def check_no_faults(subject, target, texts, faults_of):
    """And each part left out is noticed."""
    faults = faults_of(target, texts)
    check(subject, not faults, ', '.join(sorted(set(faults))))
    for part in filter(None, (r's_waitcnt.*vmcnt\(0\)', WRITTEN_BACK.get(target), DROPPED[target])):
        left = [text for text in texts if not re.match(part, text)]
        check(subject, faults_of(target, left), f'{part} left out is not noticed')


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
    check_packets(f'{target} streaming', image)
    for name, values in facts.items():
        subject, body = f'{target} {name}', code.get(name, '')
        check(subject, re.search(STREAM, body), 'no 16-byte nontemporal loads')
        check(subject, 'scratch_' not in body and 'v_mfma_' in body, 'uses scratch memory, or no matrix instruction')
        for instruction in AGENT_SCOPE[target] + PASSED[target]:
            check(subject, re.search(instruction, body), f'no {instruction}')
        check(subject, 'flat_' not in body, 'accesses to memory that could be shared memory')
        check_scalar_loads(subject, instructions_of(body))
        if target != 'gfx90a':
            check_no_faults(subject, target, [text for _, text in instructions_of(body)], order_faults)
        used, shared = values.get('vgpr_count', 0), values.get('group_segment_fixed_size', 1e9)
        check(subject, 0 < used <= 256, f'{used} vector registers of at most 256')
        check(subject, shared <= streaming_shared(), f'{shared} bytes of shared memory beside the launch\'s')
        check_no_spills(subject, values, body)


def check_packets(target, image):
    """No kernel reads the packet of its launch, which lies in the host's memory (platform_hip.h). Its descriptor, 64
    bytes at NAME.kd, has a bit for each register that it is started with: LLVM, "User Guide for AMDGPU Backend",
    Kernel Descriptor, ENABLE_SGPR_DISPATCH_PTR."""
    readelf = llvm('llvm-readelf')
    section = re.search(r'\.rodata +PROGBITS +([0-9a-f]+) ([0-9a-f]+)', run(readelf, '-SW', image))
    found = re.findall(r'([0-9a-f]+) +64 OBJECT .* (\w+)\.kd$', run(readelf, '--dyn-syms', '-W', image), re.M)
    check(target, section and found, 'no descriptors of kernels')
    data = pathlib.Path(image).read_bytes()
    for address, name in found if section else []:
        start = int(address, 16) - int(section.group(1), 16) + int(section.group(2), 16)
        properties = int.from_bytes(data[start + 56:start + 58], 'little')
        check(f'{target} {name}', not properties & 2, 'reads the packet of its launch')


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
    check_packets(target, image)
    for name, values in facts.items():
        subject = f'{target} {name}'
        check_hip_code(target, name, code.get(name, ''))
        limit = register_limit(target[:4], name)
        used = values.get('vgpr_count', 0)
        check(subject, 0 < used <= limit, f'{used} vector registers of at most {limit}')
        check_no_spills(subject, values, code.get(name, ''))
