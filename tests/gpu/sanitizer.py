"""sanitizer: every family of kernels under the tools of compute-sanitizer, with the cases that the PTX
interpreter decodes: check_ptx.py checks that each kernel is in one of them.

A tool takes its time, so the cases are divided into portions, a program each, and alternate, one of each family
first: what is done when the time is up counts, and the next call continues from there.
"""
import itertools
import pathlib
import re
import sys
import time

import machine
import running
from running import DONE, FAILED, MISSING, PARTIAL, Outcome

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / 'tests' / 'checks' / 'kernels'))
import cases  # noqa: E402

TOOLS = ('memcheck', 'racecheck', 'initcheck', 'synccheck')
DECODE = ROOT / 'tests' / 'gpu' / 'decode.py'
LIBRARY = ROOT / 'build' / 'tests' / 'lib' / 'hip_decode.so'
PLUGIN = ROOT / 'build' / 'lib' / 'pertoken' / 'cuda.so'
FOUND = 9  # exit status of a tool that found something
FIRST, MOST = 2, 32  # cases of the first portion, and of the largest
MIN_S = 3  # minimum time for beginning a portion
REFUSED = re.compile(r'\bdo(?:es)? not support\b|\bneeds?\b')  # what this device lacks, according to the kernels
NO_LIBRARY = {'PERTOKEN_CUBLASLT_LIBRARY': '/none'}  # prompts by the kernels' own products


def in_turns(*groups):
    return [case for row in itertools.zip_longest(*groups) for case in row if case]


def all_cases():
    """For one device; those by the vendor's library last."""
    return in_turns(cases.WGMMA, cases.STREAMING, cases.LLAMAS, cases.FEW_BITS, cases.FAMILIES, cases.EXPERTS,
                    cases.LATENT, cases.PROMPTS, cases.WIDE) + cases.PRODUCTS


def portion_of(left, size):
    """With or without the library, not both in one program."""
    alone = [case for case in left if case not in cases.PRODUCTS]
    return (alone or left)[:size]


def complaint(done, portion):
    """What the tool or a case says is wrong; '' if what failed is refused by this device."""
    lines = done.output.splitlines()
    wrong = [line for line in lines if line.startswith('FAIL ') and not REFUSED.search(line)]
    if wrong or sum(line.startswith(('ok ', 'FAIL ')) for line in lines) < len(portion):
        return (wrong or [done.last_line()])[0]
    found = [line.strip('= ') for line in lines if line.startswith('=========') and 'COMPUTE-SANITIZER' not in line]
    return (found or ['it found something'])[0] if done.status == FOUND else ''


def run_portion(context, command, portion, limit_s):
    listed = context.out / 'sanitizer-cases'
    listed.write_text('\n'.join(portion) + '\n')
    uuid = context.device.get('uuid')
    environment = {'DECODE_PLUGIN_FILE': str(PLUGIN), **({'CUDA_VISIBLE_DEVICES': uuid} if uuid else {}),
                   **({} if portion[0] in cases.PRODUCTS else NO_LIBRARY)}
    return running.run([*command, sys.executable, DECODE, LIBRARY, listed], limit_s, context.log('sanitizer'),
                       environment)


def check(context, tool, program, limit_s):
    """The outcome of as many cases as there is time for, after those of earlier calls."""
    every, end = all_cases()[:4 if context.tiny else None], time.monotonic() + limit_s
    before, size = min(context.state.data(f'sanitizer {tool}').get('clean', 0), len(every)), FIRST
    clean = before
    command = [program, '--tool', tool, '--error-exitcode', FOUND]
    while clean < len(every):
        left_s = end - time.monotonic()
        if left_s < MIN_S:
            break
        portion = portion_of(every[clean:], size)
        done = run_portion(context, command, portion, left_s)
        if done.status is None:
            break
        words = complaint(done, portion)
        cannot = machine.why_tool_cannot(done.output) if words and clean == before else ''
        if cannot:
            context.refusing[program] = f'compute-sanitizer cannot run here: {cannot}'
            return Outcome(MISSING, context.refusing[program], clean=clean)
        if words:
            return Outcome(FAILED, f'{words} (in {"; ".join(portion)})', clean=clean)
        clean += len(portion)
        left_s = end - time.monotonic()
        size = max(1, min(MOST, int(left_s / 2 / max(done.seconds / len(portion), 1e-3))))
    words, left = f'{clean} of {len(every)} cases of every family of kernels', len(every) - clean
    if not left:
        return Outcome(DONE, words, clean=clean)
    if clean == before:
        return Outcome(MISSING, f'{words}; no other in {limit_s:.0f} s', clean=clean)
    return Outcome(PARTIAL, f'{words}; the next call goes on', clean=clean, left=left)
