#!/usr/bin/python3
"""Does every kernel in nvcc's PTX compute what it should? Needs no GPU.

    check_ptx.py [all]

The tests' PTX interpreter (tests/stand_ins/ptx) decodes the cases of cases.py, which are compared with the oracle.
Every kernel of sm_90a must have completed, and an altered instruction in a kernel must be detected by the case that ran
it: in some kernels of each row of the table below, with `all` in all of them, also running the cases on sm_80 and
sm_120; otherwise the suites of tests/support/kernels/emulated.h cover those. read_* and rate_* produce times, so none of their
numbers is compared. tests/README.md says which judge covers which kernels, which is checked here.
Deep only: it needs nvcc's output for the kernels.
Seconds: 95
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kernels import cases  # noqa: E402
from support.program import Count, ROOT, SKIPPED  # noqa: E402

ALL = 'all' in sys.argv[1:]
DECODE = 'import ctypes, sys; sys.exit(ctypes.CDLL("build/tests/lib/hip_decode.so").hip_decode())'
ENTRY = re.compile(r'^\.visible \.entry (\w+)', re.M)

# What is altered in a kernel of those names: every such instruction of it.
LEFT_OUT, FIRST_FOR_SECOND, MOVED = '', r'\1\3, \3, \4;', r'mov.f32 \1, \2;'
ALTERED = [
    (r'(expert_|heads_)?matrix_\w+|tile_check_\w+', r'mma[.\w]+\s[^;]*;', LEFT_OUT),
    (r'wgmma_\w+', r'wgmma\.mma_async[^;]*;', LEFT_OUT),
    (r'(expert_|heads_)?vector_\w+', r'(fma\.rn\.f32 \s*[^,]+, )([^,]+), ([^,]+), ([^;]+);', FIRST_FOR_SECOND),
    (r'combine', r'(fma\.rn\.f32 \s*[^,]+, )([^,]+), ([^,]+), ([^;]+);', FIRST_FOR_SECOND),
    (r'gather', r'st\.global\.v4\.u32\s[^;]*;', LEFT_OUT),
    (r'latent_\w+_entries', r'sub\.f32 \s*([^,]+), ([^,]+), [^;]+;', MOVED),
    (r'route|attention_\w+|latent_\w+', r'ex2\.approx\.ftz\.f32 \s*([^,]+), ([^;]+);', MOVED),
    (r'round_\w+', r'(cvt\.rn\.(?:satfinite\.e4m3x2|bf16x2)\.f32 \s*[^,]+, )([^,]+), ([^;]+);', r'\1\3, \2;'),
    (r'embed_\w+', r'mul\.f32 \s*([^,]+), ([^,]+), [^;]+;', MOVED),
    (r'turn_\w+', r'sub\.f32 \s*([^,]+), ([^,]+), [^;]+;', MOVED),
    (r'finish_\w+', r'st\.global\.(f32|u16)\s[^;]*;', LEFT_OUT),
    (r'read_\d', r'ld\.global\.nc\.[^;]*;', LEFT_OUT),
    (r'fill_units', r'st\.global\.(u32|s32|b32)\s[^;]*;', LEFT_OUT),
    (r'fill_value', r'st\.global\.f32\s[^;]*;', LEFT_OUT),
    (r'fill_(bf16|e4m3|f32)', r'st\.global\.v4\.u32\s[^;]*;', LEFT_OUT),
    (r'sample', r'setp\.gt\.f32', 'setp.lt.f32'),
    (r'sample_key', r'st\.global\.s32\s[^;]*;', LEFT_OUT),
]
# The kernels altered without `all`.
SOME = re.compile(r'(expert_)?matrix_(\w+_gated_16|(int8_group|mxfp6_e2m3|mxfp4)_\w+_(store|biased)_64)|'
                  r'matrix_(int4|nvfp4|mxfp6)\w*_(add|biased)_16|matrix_(int4|nvfp4|mxfp6_e3m2)\w*_gated_64|heads_\w+|latent_\w+|'
                  r'wgmma_\w+_(store_16|swiglu_32|add_64)|tile_check_\w+|sample\w*|fill_\w+|expert_vector_\w+_biased_[14]|vector_\w+_norm_(gated|biased)_2|'
                  r'combine|gather|route|attention_\w+_(family|prompt)_64|turn_\w+|embed_(int|mx|nv)\w+|round_\w+(as_bf16|layer)\w*|'
                  r'finish_\w+|read_\d')
# In a product whose blocks share activations: each tells itself twice that it has used a stage; brings its half to
# itself alone; does not wait until the other has used a stage.
CLUSTERS_ALTERED = [
    (r'mapa\.shared::cluster\.u32 at, (%r\d+), %r\d+;', r'mov.u32 at, \1;'),
    (r'(cp\.async\.bulk\.tensor\S*)\.multicast::cluster([^;]*), %rs\d+;', r'\1\2;'),
    (r'mbarrier\.try_wait\.parity\.acquire\.cluster\S+ p, [^;]*;', 'setp.eq.s32 p, 0, 0;')]
# In a product whose blocks add up each other's sums: each reads its own for all; does not wait until the others' are
# there, nor until its own have been read; tells itself twice instead of another.
PARTS_ALTERED = [
    (r'mapa\.shared::cluster\.u32 at, (%r\d+), %r\d+; ld\.', r'mov.u32 at, \1; ld.'),
    (r'mbarrier\.try_wait\.parity\.acquire\.cluster\S+ p, [^;]*;', 'setp.eq.s32 p, 0, 0;'),
    (r'mapa\.shared::cluster\.u32 at, (%r\d+), %r\d+; mbar', r'mov.u32 at, \1; mbar')]
# In a product whose lanes copy their weights: each waits for one group less, in the loop and for the first activations;
# ends no groups; does not copy.
RING_ALTERED = [
    (r'cp\.async\.wait_group 3;', 'cp.async.wait_group 4;'), (r'cp\.async\.wait_group 0;', LEFT_OUT),
    (r'cp\.async\.commit_group;', LEFT_OUT), (r'cp\.async\.cg[.:\w]+\s[^;]*;', LEFT_OUT)]
RING = f'bf16 bf16 5 200 {cases.LONG} {cases.REGISTERS}'  # with more steps than the ring holds
# In the image of single-launch steps, in all of its kernels and functions at once.
STREAMING_ALTERED = [(r'(fma\.rn\.f32 \s*[^,]+, )([^,]+), ([^,]+), ([^;]+);', FIRST_FOR_SECOND),
                     (r'ex2\.approx\.ftz\.f32 \s*([^,]+), ([^;]+);', MOVED), (r'mma\.sync[.\w]+\s[^;]*;', LEFT_OUT),
                     (r'mbarrier\.try_wait[.:\w]+ p, [^;]*;', 'setp.ne.b32 p, 1, 0;'),
                     (r'cp\.async\.bulk\.shared[.:\w]+\s[^;]*;', LEFT_OUT),
                     (r'st\.relaxed\.gpu\.global\.f32\s[^;]*;', LEFT_OUT),
                     (r'red\.release\.gpu', 'red.relaxed.gpu'), (r'ld\.acquire\.gpu', 'ld.relaxed.gpu')]
# With weights in MXFP4: their scales.
SCALES_ALTERED = [(r'fma\.rn\.bf16x2\s[^;]*;', LEFT_OUT)]


def decode(architecture, lines, log=None, ptx=None, variable='PTX_FILE'):
    """The results of those cases, line by line; with the PTX of that file, named by the variable."""
    environment = {**os.environ, 'DECODE_PLUGIN_FILE': f'build/tests/lib/ptx{architecture}.so',
                   'EMULATOR_SHARED': '232448', 'EMULATOR_DEVICES': '4',
                   'DECODE_PRODUCTS': str(ROOT / 'build/tests/lib/fake_cublaslt.so'), **({'KERNELS_LOG': log} if log else {}),
                   **({variable: ptx} if ptx else {})}
    done = subprocess.run([sys.executable, '-c', DECODE], input='\n'.join(lines), cwd=ROOT, env=environment,
                          encoding='utf-8', capture_output=True, timeout=1200, check=False)
    return done.stdout.splitlines(), done.stderr


def kernels_of_cases(log):
    """For each case, the kernels that completed."""
    ran = []
    for line in log.splitlines():
        if line.startswith('case '):
            ran.append(set())
        else:
            ran[-1].add(line)
    return ran


def check_steps(count, architecture, lines):
    with tempfile.NamedTemporaryFile('r') as log:
        found, errors = decode(architecture, lines, log=log.name)
        ran = kernels_of_cases(log.read())
    for line, said in zip(lines, found + ['nothing'] * len(lines)):
        count.check(f'sm_{architecture}: {line}', cases.is_told(line, said), f'{said}\n{errors}')
    print(f'sm_{architecture}: {len(lines)} cases, {len(set().union(*ran))} kernels')
    return ran


class Image:
    """The PTX of an image, kernel by kernel."""

    def __init__(self, path):
        text = path.read_text()
        begins = [found.start() for found in ENTRY.finditer(text)] + [len(text)]
        self.head = text[:begins[0]]
        self.kernels = {ENTRY.match(text, begin)[1]: text[begin:end] for begin, end in zip(begins, begins[1:])}

    def altered(self, kernel, pattern, replacement, names):
        """The kernels of those names with one instruction replaced in one of them; None if it has none."""
        text, times = re.subn(pattern, replacement, self.kernels[kernel])
        return times and self.head + ''.join(text if name == kernel else self.kernels[name]
                                             for name in sorted(names))


def check_alterations(count, image, lines, ran):
    altered = 0
    for kernel in image.kernels:
        fitting = [(pattern, to) for names, pattern, to in ALTERED if re.fullmatch(names, kernel)]
        if not fitting or not (ALL or SOME.fullmatch(kernel)):
            continue
        reads = kernel.startswith('read_')  # these run in no other case
        case = next((i for i, names in enumerate(ran)
                     if kernel in names and (lines[i] == 'calibrate') == reads), None)
        text = case is not None and image.altered(kernel, *fitting[0], ran[case] & set(image.kernels))
        if not text:
            count.check(f'{kernel} altered', False, 'it has no such instruction, or never ran')
            continue
        with tempfile.NamedTemporaryFile('w', suffix='.ptx') as file:
            file.write(text)
            file.flush()
            found, errors = decode('90a', [lines[case]], ptx=file.name)
        altered += 1
        count.check(f'{kernel} altered is noticed', found and found[0].startswith('FAIL'), f'{found}\n{errors}')
    print(f'sm_90a: {altered} kernels altered')


def check_copies_altered(count, image, lines, ran, line, kernel, alterations):
    case = lines.index(line)
    for pattern, replacement in alterations:
        text = image.altered(kernel, pattern, replacement, ran[case] & set(image.kernels))
        with tempfile.NamedTemporaryFile('w', suffix='.ptx') as file:
            file.write(text or '')
            file.flush()
            found, errors = decode('90a', [lines[case]], ptx=file.name)
        count.check(f'{kernel} without {pattern[:24]} is noticed', text and found and found[0].startswith('FAIL'),
                    f'{found}\n{errors}')


def check_streaming_alterations(count, whole):
    plain, mxfp4 = cases.STREAMING[:1], [line for line in cases.STREAMING if line.startswith('mxfp4')]
    for pattern, replacement in STREAMING_ALTERED + SCALES_ALTERED:
        lines = mxfp4 if (pattern, replacement) in SCALES_ALTERED else plain
        text, times = re.subn(pattern, replacement, whole.read_text())
        with tempfile.NamedTemporaryFile('w', suffix='.ptx') as file:
            file.write(text)
            file.flush()
            found, errors = decode('90a', lines, ptx=file.name, variable='PTX_STREAMING_FILE')
        count.check(f'streaming_1 without {pattern[:16]} is noticed', times and found and found[0].startswith('FAIL'),
                    f'{found}\n{errors}')


def judges():
    """The rows of tests/README.md: patterns of kernels, and the cells for emulator, PTX and AMD's machine code."""
    text = (ROOT / 'tests/README.md').read_text()
    table = text.partition('| kernels | emulator |')[2].partition('\n\n')[0]
    for line in table.splitlines()[2:]:
        names, *cells = (cell.strip() for cell in line.strip('|').split('|'))
        yield re.findall(r'`([^`]+)`', names), cells


def check_table(count, kernels):
    """Each kernel has its row, which must state what the emulator has and what AMD's images have."""
    rows = list(judges())
    emulator = (ROOT / 'build/tests/lib/emulatormma.so').read_bytes()
    amd = ROOT / 'build/gpu/gfx942.code'
    images = [(0, emulator), *([(2, amd.read_bytes() + (ROOT / 'build/gpu/streaming_gfx942.code').read_bytes())]
                               if amd.exists() else [])]
    used = set()
    for kernel in sorted(kernels):
        row = next((i for i, (names, _) in enumerate(rows)
                    if any(fnmatch.fnmatchcase(kernel, name) for name in names)), None)
        count.check(f'{kernel} in the table', row is not None, 'in no row of tests/README.md')
        used.add(row)
        for column, image in images if row is not None else []:
            has = kernel.encode() + (b'.kd' if column else b'') + b'\0' in image
            said = not rows[row][1][column].startswith('none')
            unsaid = column == 0 and has  # check_instructions knows which of AMD's kernels exist and never run
            count.check(f'{kernel} in column {column} of the table', has if said else not unsaid,
                        f'the row says {rows[row][1]}')
    for suite in {word for i in used - {None} for cell in rows[i][1] for word in re.findall(r'\b(?:test|check)_\w+', cell)}:
        count.check(f'{suite} of the table', any((ROOT / 'tests').rglob(f'{suite}.[cp]*')), 'there is no such suite')


def main():
    image = ROOT / 'build/gpu/cuda_90a.ptx'
    whole = ROOT / 'build/gpu/streaming_90a.ptx'
    if not image.exists() or not whole.exists():
        print('needs the PTX of the kernels, which needs nvcc')
        sys.exit(SKIPPED)
    subprocess.run(['make', '-s', 'GPU=no', 'build/tests/lib/hip_decode.so', 'build/tests/lib/emulatormma.so',
                    'build/tests/lib/fake_cublaslt.so',
                    *(f'build/tests/lib/ptx{a}.so' for a in ('80', '90a', '120'))], cwd=ROOT, check=True)
    count = Count()
    image = Image(image)
    lines = cases.CASES + cases.WIDE + cases.STREAMING + cases.WGMMA
    lines += cases.LATENT if 'latent_bf16' in image.kernels else []
    ran = check_steps(count, '90a', lines)
    missing = {*image.kernels, *ENTRY.findall(whole.read_text())} - set().union(*ran)
    count.check('sm_90a: every kernel runs', not missing, f'but not {sorted(missing)}')
    check_table(count, {*image.kernels, *ENTRY.findall(whole.read_text())})
    check_alterations(count, image, lines, ran)
    for line, kernel, alterations in ((cases.CLUSTERS, 'wgmma_bf16_bf16_add_16', CLUSTERS_ALTERED),
                                      (cases.PARTS, 'wgmma_bf16_bf16_add_16', PARTS_ALTERED),
                                      (RING, 'matrix_bf16_bf16_add_16', RING_ALTERED)):
        check_copies_altered(count, image, lines, ran, line, kernel, alterations)
    check_streaming_alterations(count, whole)
    for other in ('80', '120') if ALL else ():
        check_steps(count, other, cases.CASES)
    count.finish()


if __name__ == '__main__':
    main()
