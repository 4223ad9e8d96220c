"""What is in a cubin (ELF, and NVIDIA's .nv.info)."""
import struct

from kernels import sass


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


def kernels_of(cubin):
    """The instructions of each kernel."""
    data = cubin.read_bytes()
    sections, names, text = cubin_sections(data)
    return sass.code_of(data, [(text(names, s[0]), s) for s in sections])
