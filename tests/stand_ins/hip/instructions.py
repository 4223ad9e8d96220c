#!/usr/bin/python3
"""Decodes on AMD's machine code: the cases in standard input, described in decode.c, on the tests' HIP with
instructions.c, to which this provides the semantics of each instruction.

    instructions.py ARCHITECTURE [INSTRUCTION[@KERNEL]] < cases

They come from the emulator in TINYGRAD, a checkout of https://github.com/tinygrad/tinygrad of August 2026 or later,
which compiles an instruction to a function of the scalar registers, the vector registers (register by register, lane by
lane), memory, shared memory, scratch and the accumulators; the function also advances the program counter. INSTRUCTION
(V_FMAC_F32_E32) is one that should do nothing, only in KERNEL if that is given. The caller sets PERTOKEN_HIP_LIBRARY
and the environment of fake_hip.c.
"""
import concurrent.futures
import ctypes
import os
import re
import sys

sys.setrecursionlimit(10000)
sys.path.insert(0, os.environ["TINYGRAD"])
os.environ["DEV"] = "CPU"

# pylint: disable=wrong-import-position,import-error
from test.mockgpu.amd import emu, pcode
from tinygrad.dtype import dtypes
from tinygrad.renderer.amd import decode_inst
from tinygrad.uop.ops import UOp

ARCHITECTURE = sys.argv[1]
FAMILY = {"gfx90a": "cdna", "gfx942": "cdna", "gfx950": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}[ARCHITECTURE]

ORDINARY, BARRIER, NOTHING, FP8_TO_F32, F32_TO_FP8, LEFT_OUT = range(6)
BROKEN, _, KERNEL = "".join(sys.argv[2:]).partition("@")
ACTIONS = {"V_CVT_PK_F32_FP8_E32": FP8_TO_F32, "V_CVT_PK_FP8_F32": F32_TO_FP8, "S_BARRIER": BARRIER,
           "S_BARRIER_WAIT": BARRIER, BROKEN: LEFT_OUT if KERNEL else NOTHING}

# Instructions that write caches back or empty them, as there are none: mask and value of the first word, bytes.
GFX9 = [(0xFFF80000, 0xE0A00000, 8), (0xFFF80000, 0xE0F80000, 8)]  # buffer_wbl2, _inv; buffer_wbinvl1
CACHES = {
    "gfx90a": GFX9, "gfx942": GFX9, "gfx950": GFX9,
    "gfx1100": [(0xFFFC0000, 0xE0AC0000, 8), (0xFFFC0000, 0xE0B00000, 8)],  # buffer_gl0_inv, _gl1_inv
    "gfx1201": [(0xFFFFC000, 0xEE0AC000, 12), (0xFFFFC000, 0xEE0B0000, 12)],  # global_inv, global_wb
}[ARCHITECTURE]


class Instruction(ctypes.Structure):
    """struct instruction of instructions.c."""
    _fields_ = [("function", ctypes.c_void_p), ("action", ctypes.c_int32), ("bytes", ctypes.c_int32),
                ("count", ctypes.c_int32), ("shared_bytes", ctypes.c_int32),
                ("shared_offsets", ctypes.c_int32 * 2), ("arguments", ctypes.c_int32 * 6)]


def fnuz_to_f32(code):
    """The format of gfx942, while emu has OCP's: bias 8, no infinities, NaN instead of -0."""
    bits = code.cast(dtypes.uint32) & UOp.const(255, dtypes.uint32)

    def number(value):
        return UOp.const(value, dtypes.uint32)
    sign, exponent, mantissa = (bits >> number(7)) << number(31), (bits >> number(3)) & number(15), bits & number(7)
    normal = sign | ((exponent + number(119)) << number(23)) | (mantissa << number(20))
    small = (mantissa.cast(dtypes.float32) * UOp.const(2.0 ** -10, dtypes.float32)).bitcast(dtypes.uint32) | sign
    value = exponent.eq(number(0)).where(small, normal)
    return bits.eq(number(0x80)).where(number(0x7FC00000), value).bitcast(dtypes.float32)


def attribute(inst, name, default=0, found=emu._iattr):
    """emu asks for glc, with which an atomic returns the old value: sc0 on gfx942, a bit of th on gfx12."""
    if name == "glc" and not hasattr(inst, "glc"):
        return (found(inst, "sc0") or found(inst, "th")) & 1
    return found(inst, name, default)


emu._iattr = attribute
if ARCHITECTURE == "gfx942":
    pcode._FUNCS["fp8_to_f32"] = fnuz_to_f32


def with_jumps(inst, ctx, compiled=emu._compile_sop):
    """emu has no jumps by address, with which branches reach beyond 128 KB of a kernel."""
    low, high = UOp.const(emu.PC_LO_IDX, dtypes.int), UOp.const(emu.PC_HI_IDX, dtypes.int)
    one = UOp.const(1, dtypes.int)
    name = emu._op_name(inst)
    if name == "S_GETPC_B64":
        to = ctx.inst_field(type(inst).sdst)
        after = emu._split64(ctx.rpc() + UOp.const(4, dtypes.uint64))
        return UOp.sink(ctx.wsgpr_dyn(to, after[0]), ctx.wsgpr_dyn(to + one, after[1]), *ctx.inc_pc())
    if name == "S_SETPC_B64":
        at = ctx.inst_field(type(inst).ssrc0)
        return UOp.sink(ctx.wsgpr_dyn(low, ctx.rsgpr_dyn(at)), ctx.wsgpr_dyn(high, ctx.rsgpr_dyn(at + one)))
    return compiled(inst, ctx)


emu._INST_HANDLERS.update({kind: with_jumps for kind, handler in emu._INST_HANDLERS.items() if handler is emu._compile_sop})

# Instructions of gfx90a that have another number in its successors (VOP3's, bits 16 to 25): the MFMA of BF16; and its
# unfused multiply-add, for which the fused one is a more exact equivalent.
RENUMBERED = {0xD3E7: 0xD3E1, 0xD1C1: 0xD1CB} if ARCHITECTURE == "gfx90a" else {}


def raw_at(counter):
    """An instruction's bytes, in the form that the emulator knows. Where flat_* of gfx9, which has no scalar address,
    has zeros, the emulator would take s0; it finds "none" instead: in memory, which its functions read."""
    raw = ctypes.string_at(counter, 16)
    number = int.from_bytes(raw[2:4], "little")
    if FAMILY == "cdna" and number >> 10 == 0x37 and not raw[1] >> 6:
        ctypes.memset(counter + 6, raw[6] | 0x7F, 1)
        raw = ctypes.string_at(counter, 16)
    return raw[:2] + RENUMBERED.get(number, number).to_bytes(2, "little") + raw[4:]


def shared_access(name, word):
    """The shared memory that a DS instruction touches: bytes, and two offsets from its address."""
    if not name.startswith("DS_") or "PERMUTE" in name:
        return 0, (0, 0)
    found = re.match(r"DS_(READ|WRITE|LOAD|STORE)(2|_2ADDR)?(ST64|_STRIDE64)?_[BUI](\d+)", name)
    if not found:
        raise NotImplementedError(f"what {name} touches")
    size = int(found[4]) // 8
    if not found[2]:
        return size, (word & 0xFFFF, word & 0xFFFF)
    scale = size * (64 if found[3] else 1)
    return size, ((word & 255) * scale, (word >> 8 & 255) * scale)


def translate(counter, out):
    """Fills *out for the instruction at an address; returns 0, or 1 after a message on standard error."""
    it = out.contents
    raw = raw_at(counter)
    word = int.from_bytes(raw[:4], "little")
    for mask, value, size in CACHES:
        if word & mask == value:
            it.action, it.bytes = NOTHING, size
            return 0
    try:
        inst = decode_inst(raw, FAMILY)
        name = emu._op_name(inst)
        it.action = ACTIONS.get(name, ORDINARY)
        if it.action in (ORDINARY, LEFT_OUT):
            program, runtime = emu._get_runner(raw[:inst.size() + 4], FAMILY)
            it.function = ctypes.cast(runtime.fxn, ctypes.c_void_p).value
            it.count = len(program.arg.globals)
            for i, which in enumerate(program.arg.globals):
                it.arguments[i] = which
        it.shared_bytes, offsets = shared_access(name, word)
        it.shared_offsets[0], it.shared_offsets[1] = offsets
        it.bytes = inst.size()
        return 0
    except Exception as error:  # whatever it is, the kernel cannot continue
        print(f"{ARCHITECTURE}: {raw[:8].hex()}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1


# tinygrad keeps its compiled functions in a database that belongs to one thread.
WORKER = concurrent.futures.ThreadPoolExecutor(max_workers=1)


def translate_there(counter, out):
    """translate(), from any thread."""
    return WORKER.submit(translate, counter, out).result()


TRANSLATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(Instruction))(translate_there)
CONSTANTS = (ctypes.c_uint32 * 260)(*WORKER.submit(lambda: emu.WaveState(0, emu._wave_size(FAMILY))._sgpr_mv).result())
library = ctypes.CDLL(os.environ["FAKE_HIP_EMULATOR"])
library.instructions_begin.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
if library.instructions_begin(ctypes.cast(TRANSLATE, ctypes.c_void_p), ctypes.cast(CONSTANTS, ctypes.c_void_p),
                              KERNEL.encode()):
    sys.exit("out of memory")
sys.stdout.flush()
sys.exit(ctypes.CDLL(os.environ["HIP_DECODE"]).hip_decode())
