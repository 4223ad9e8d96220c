"""NVIDIA's machine code read from a cubin without nvdisasm: which instructions wait for which loads.

An instruction of sm_90 has 128 bits. Its operation is in bits 0 to 11, its predicate in bits 12 to 15; in
bit 79 is whether a load is of what nobody writes (.CONSTANT), in bits 68 and 69, or 71 and 72 of a copy by lanes,
what L2 fetches around the bytes: 3 for 256 bytes (.LTC256B); in bits 105 to 125 what it waits for: the scoreboard that is raised until its result is there (110 to 112, 7 for none), and the scoreboards
that must be down before it is issued (116 to 121), of six for each warp. (Jia et al., "Dissecting the NVIDIA
Volta GPU Architecture via Microbenchmarking", 2018, for the form; the operations as nvdisasm 12.4 prints them.)
"""
import collections
import struct

LOAD, ATOMIC, BARRIER, BRANCH = 0x981, 0x9a8, 0xb1d, 0x947  # LDG, ATOMG, BAR.SYNC, BRA
LOAD_LOCAL, STORE_LOCAL, COPY = 0x983, 0x387, 0x3ba         # LDL, STL, UBLKCP
LOAD_OF_BLOCK = 0x980                                       # LD, here of another block's shared memory
RELEASED, ASK, MULTIPLY_ADD = 0x82e, 0x3bc, 0x223           # ACQBULK, UBLKPF, FFMA
MATRIX = 0x23c                                              # HMMA
FENCE, CLUSTER_WAIT = 0x992, 0xdc7                          # MEMBAR, UCGABAR_WAIT
STORE_SHARED, ROUND = 0x388, 0x23e                          # STS, F2FP
COPY_LANE, END_GROUP, WAIT_GROUP = 0xfae, 0x9af, 0x91a      # LDGSTS, LDGDEPBAR, DEPBAR
MATRIX_MULTIPLY = 0x23c                                     # HMMA
HAS_ENDED = 0x5a7                                           # SYNCS.PHASECHK, of an mbarrier
ADD, ARRIVE, CACHE, SET_REGISTERS = 0x98e, 0x9a7, 0x98f, 0x9c8  # RED, SYNCS.ARRIVE, CCTL, USETMAXREG
WORD, WIDE = 4, 6                                           # a load of 4 bytes, of 16

ALWAYS = 7                                                  # the predicate of what depends on none

AROUND, WIDEST = {LOAD: 4, COPY_LANE: 7}, 3                 # where bits say what L2 fetches around; 256 bytes
# Where bits say which kind it is, or how many registers.
KIND = {FENCE: (77, 7), CACHE: (87, 15), SET_REGISTERS: (32, 0x1ff)}
ACQUIRE_RELEASE, OF_BLOCK, ASK_LINE, DROP = 5, 4, 1, 4      # MEMBAR.ALL.GPU, .ALL.CTA; CCTL.PF2, .IVALL

Instruction = collections.namedtuple('Instruction',
                                     'operation predicate width constant raises waits target left around leaves kind')


def decode(low, high, place):
    """One instruction; `target` is the place that a branch goes to, which it `leaves` for in any case unless that
    depends on a second predicate (bits 87 to 89) or on lanes that are elsewhere (bit 91); `left` the groups that DEPBAR
    leaves; `kind` see KIND."""
    offset = (low >> 34 | (high & 0x3ffff) << 30) << 8 | low >> 16 & 0xff
    offset -= 1 << 56 if offset >> 55 else 0
    operation = low & 0xfff
    around = high >> AROUND[operation] & 3 if operation in AROUND else 0
    place_of_kind, bits = KIND.get(operation, (0, 0))
    return Instruction(operation, low >> 12 & 0xf, high >> 9 & 7, high >> 15 & 1, high >> 46 & 7,
                       high >> 52 & 0x3f, place + 1 + offset // 4, low >> 38 & 0x3f, around,
                       operation == BRANCH and low >> 12 & 0xf == ALWAYS and high >> 23 & 0x17 == ALWAYS,
                       (high << 64 | low) >> place_of_kind & bits)


def code_of(data, section_headers):
    """Kernel by kernel the instructions; `section_headers` are pairs of name and header."""
    return {name[len('.text.'):]: [decode(*struct.unpack_from('<QQ', data, header[4] + 16 * i), i)
                                   for i in range(header[5] // 16)]
            for name, header in section_headers if name.startswith('.text.')}


def is_wide_load(instruction):
    return instruction.operation == LOAD and instruction.width == WIDE


def is_input_load(instruction):
    """A load of 16 bytes that other kernels wrote."""
    return is_wide_load(instruction) and not instruction.constant


def batches_of_loads(code, is_load):
    """How many of these loads are issued before the first of them is waited for, then how many after it, and
    so on."""
    batches, raised = [0], 0
    for instruction in code:
        if instruction.waits & raised:
            batches.append(0)
            raised = 0
        if is_load(instruction):
            batches[-1] += 1
            raised |= 1 << instruction.raises
    return [count for count in batches if count]


def loads_together(code):
    """The most loads of 16 bytes that are issued before the first of them is waited for."""
    return max(batches_of_loads(code, is_wide_load), default=0)


def outside_loops(code):
    """The code without its loops; jumps back that depend on nothing are returns to it."""
    inside = set()
    for at, i in enumerate(code):
        if i.operation == BRANCH and i.predicate != ALWAYS and i.target <= at:
            inside.update(range(i.target, at + 1))
    return [i for at, i in enumerate(code) if at not in inside]


def window_loops(code, loads):
    """The loops with that many loads of 16 bytes and what multiplies them, from their first instruction to their branch,
    the shortest first; of those with the same loads, which differ in what is rarely done, only the shortest."""
    shortest = {}
    for at, i in enumerate(code):
        if i.operation == BRANCH and i.target <= at:
            loop = code[i.target:at + 1]
            places = tuple(i.target + n for n, other in enumerate(loop) if is_wide_load(other))
            if len(places) == loads and sum(other.operation == MULTIPLY_ADD for other in loop) >= 8 * loads:
                shortest[places] = min(shortest.get(places, loop), loop, key=len)
    return sorted(shortest.values(), key=len)


def copy_loops(code, loads):
    """Loops that put so many loads of 16 bytes of others' results into shared memory as they are."""
    loops = [code[i.target:at + 1] for at, i in enumerate(code) if i.operation == BRANCH and i.target <= at]
    return [loop for loop in loops if batches_of_loads(loop, is_input_load) == [loads] and
            sum(i.operation == STORE_SHARED and i.width == WIDE for i in loop) == loads and
            all(i.operation != ROUND for i in loop)]


def ring_loop(code):
    """The shortest loop in which lanes copy and the matrix unit multiplies; None if there is none."""
    loops = [code[i.target:at + 1] for at, i in enumerate(code) if i.operation == BRANCH and i.target <= at]
    return min((loop for loop in loops if {COPY_LANE, MATRIX_MULTIPLY} <= {i.operation for i in loop}),
               key=len, default=None)


def fewest_instructions(loop, first, wanted):
    """Of the ways through a loop, from its beginning at `first` to its last branch, that issue each operation of `wanted`
    just as often as it says, the shortest: how many instructions it takes; None if there is none."""
    ways = [{} for _ in loop]  # by what has been issued before
    ways[0][(0,) * len(wanted)] = 0
    for at, i in enumerate(loop):
        after = [] if i.leaves else [at + 1]
        after += [i.target - first] if i.operation == BRANCH else []
        for issued, length in ways[at].items():
            issued = tuple(n + (i.operation == operation) for n, operation in zip(issued, wanted))
            for to in after:
                if at < to < len(loop):
                    ways[to][issued] = min(length + 1, ways[to].get(issued, length + 1))
    length = ways[-1].get(tuple(wanted.values()))
    return length and length + 1


def bulk_loops(code):
    """The innermost loops that copy in bulk, and multiply by the matrix unit or by more than their divisions do: their
    beginnings and instructions."""
    inner = []
    for first, end in sorted(((i.target, at + 1) for at, i in enumerate(code)
                              if i.operation == BRANCH and i.target <= at), key=lambda loop: loop[1] - loop[0]):
        loop = code[first:end]
        operations = collections.Counter(i.operation for i in loop)
        if (operations[MULTIPLY_ADD] >= 32 or operations[MATRIX]) and operations[COPY] and \
                all(end <= f or e <= first for f, e in inner):
            inner.append((first, end))
    return [(first, code[first:end]) for first, end in inner]


def waits_after_loads(loop):
    """How many instructions after the loop's last load of 16 bytes wait for its loads."""
    raised = 0
    for i in filter(is_wide_load, loop):
        raised |= 1 << i.raises
    last = max(at for at, i in enumerate(loop) if is_wide_load(i))
    return sum(1 for i in loop[last + 1:] if i.waits & raised)
