"""sanitizer: every family of kernels under the tools of compute-sanitizer, with the cases that the PTX
interpreter decodes: check_ptx.py checks that each kernel is in one of them.

A tool takes its time, so the cases are divided into portions, a program each, and alternate, one of each family
first: what is done when the time is up counts, and the next call continues from there. A case that alone does not end
in half of a call's time is passed over, or no other would ever be begun; it is named, and counts as not done.
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
FIRST, MOST = 1, 32  # cases of the first portion, and of the largest
MIN_S = 3  # minimum time for beginning a portion
REFUSED = re.compile(r'\bdo(?:es)? not support\b|\bneeds?\b')  # what this device lacks, according to the kernels
NO_LIBRARY = {'PERTOKEN_CUBLASLT_LIBRARY': '/none'}  # prompts by the kernels' own products


def in_turns(*groups):
    return [case for row in itertools.zip_longest(*groups) for case in row if case]


def all_cases():
    """For one device; those by the vendor's library last. A tool may stall with blocks that wait for each other, so
    these are not the first."""
    return in_turns(cases.LLAMAS, cases.WGMMA, cases.STREAMING, cases.FEW_BITS, cases.FAMILIES, cases.EXPERTS,
                    cases.LATENT, cases.PROMPTS, cases.WIDE) + cases.PRODUCTS


def portion_of(left, size, suspect):
    """With or without the library, not both in one program. What may not end is tried alone, after those before it."""
    without = [case for case in left if case not in cases.PRODUCTS]
    portion = (without or left)[:size]
    return portion[:portion.index(suspect)] or [suspect] if suspect in portion else portion


def told(done):
    """How many cases have said how they went."""
    return sum(line.startswith(('ok ', 'FAIL ')) for line in done.output.splitlines())


def complaint(done, portion):
    """What the tool or a case says is wrong; '' if what failed is refused by this device."""
    lines = done.output.splitlines()
    wrong = [line for line in lines if line.startswith('FAIL ') and not REFUSED.search(line)]
    if wrong or told(done) < len(portion):
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
    kept, end = context.state.data(f'sanitizer {tool}'), time.monotonic() + limit_s
    passed_over = list(kept.get('passed_over', []))
    every = [case for case in all_cases()[:4 if context.tiny else None] if case not in passed_over]
    before, size = min(kept.get('clean', 0), len(every)), FIRST
    clean, suspect = before, None
    command = [program, '--tool', tool, '--error-exitcode', FOUND]
    while clean < len(every):
        left_s = end - time.monotonic()
        if left_s < MIN_S:
            break
        portion = portion_of(every[clean:], size, suspect)
        given_s = min(left_s, limit_s / 2)
        done = run_portion(context, command, portion, given_s)
        if done.status is None and given_s < limit_s / 2:
            break
        if done.status is None and len(portion) == 1:
            passed_over.append(portion[0])
            every.remove(portion[0])
        if done.status is None:
            suspect = portion[min(told(done), len(portion) - 1)]
            continue
        words = complaint(done, portion)
        cannot = machine.why_tool_cannot(done.output) if words and clean == before else ''
        if cannot:
            context.refusing[program] = f'compute-sanitizer cannot run here: {cannot}'
            return Outcome(MISSING, context.refusing[program], clean=clean, passed_over=passed_over)
        if words:
            return Outcome(FAILED, f'{words} (in {"; ".join(portion)})', clean=clean, passed_over=passed_over)
        clean += len(portion)
        given_s = min(end - time.monotonic(), limit_s / 2)
        size = max(1, min(MOST, int(given_s / 2 / max(done.seconds / len(portion), 1e-3))))
    return outcome_of(clean, clean - before, len(every) - clean, passed_over, limit_s)


def outcome_of(clean, newly, left, passed_over, limit_s):
    words = f'{clean} of {clean + left + len(passed_over)} cases of every family of kernels'
    words += f'; NOT DONE, did not end within {limit_s / 2:.0f} s: {"; ".join(passed_over)}' if passed_over else ''
    data = {'clean': clean, 'passed_over': passed_over}
    if not left:
        return Outcome(MISSING if passed_over else DONE, words, **data)
    if not newly:
        return Outcome(MISSING, f'{words}; no other in {limit_s:.0f} s', **data)
    return Outcome(PARTIAL, f'{words}; the next call goes on', **data, left=left)
