#!/usr/bin/python3
"""Rehearses the ladder of GPU kernels (tests/bench/gpu_kernels.c) on the host emulator.

Every choice of kernels/gpu/plan/tuning.c that steps follow must be tried by some workload; variants must be
verified, timed and compared; one that computes something else (here a plugin that is wrong with one tuning) must
fail the ladder and not be timed.
Deep: every variant of two workloads is timed, and results are made wrong in every way.
Seconds: 5
"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import BAD_INPUT, Count, DEEP, DONE, MACHINE_FAILED, ROOT, expect, run, skip_all  # noqa: E402

BUILD = ROOT / 'build'
LADDER = BUILD / 'bench' / 'gpu_kernels'
EMULATOR = BUILD / 'tests' / 'lib' / 'emulatormma.so'
WRONG = BUILD / 'tests' / 'ladder' / 'wrong_variant.so'
FAILED = 1
TIMEOUT_S = 300
VECTOR, MATRIX, SHORT = '1', '7', '11'  # numbers of workloads; the last one has one variant
SHORT_VARIANT = 'step=launches'
# Of prompts; and what the timing model favors nowhere, but tests choose.
NOT_TRIED = ('library_count', 'attention_splits')
ORACLE_VOCAB = '61'  # of the small shape of a rehearsal: the timed one has more


def ladder(status, *arguments, plugin=EMULATOR, **environment):
    with tempfile.TemporaryDirectory(prefix='pertoken-ladder-') as folder:
        (pathlib.Path(folder) / 'plugin.so').symlink_to(plugin)
        done = run(*arguments, program=LADDER, timeout=TIMEOUT_S,
                   environment={'PERTOKEN_PLUGINS': folder, **environment})
    expect(done.returncode == status, f'exit {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout + done.stderr


def tried():
    """The variants of each workload, by its number."""
    lines = re.findall(r'^  (\d+)  .*: default(.*)$', ladder(BAD_INPUT), re.MULTILINE)
    return {number: [name for name in names.split(', ') if name] for number, names in lines}


def test_every_choice():
    source = (ROOT / 'kernels/gpu/plan/tuning.c').read_text()
    choices = re.findall(r'^    \{"(\w+)", offsetof.*?, \{(.*?)\}\},', source, re.MULTILINE)
    variants = ' '.join(name for names in tried().values() for name in names)
    expect(choices and len(tried()) > 9, f'{choices}, {variants}')
    for name, words in [choice for choice in choices if choice[0] not in NOT_TRIED]:
        words = re.findall(r'"(\w+)"', words) or [r'\d', 'and no default']
        missing = [word for word in words if not re.search(rf'\b{name}={word}', variants)]
        expect(len(missing) <= 1, f'no variant has {name}={missing}')  # the default needs none


def test_rehearsal():
    """All variants are timed, and some of them compute differently from the default."""
    said = ladder(DONE, '--tiny', 'emulator', VECTOR, MATRIX, EMULATOR_SHARED='232448')
    for name in ['default', *tried()[VECTOR], *tried()[MATRIX]]:
        expect(re.search(rf'^  {re.escape(name)} +\d+\.\d\d +\d+\.\d\d\d ', said, re.MULTILINE),
               f'{name}:\n{said}')
    expect(len(re.findall('^best: ', said, re.MULTILINE)) == 2, said)
    expect(re.search('stage alone.* embed +qkv +attention +wo +gate and up +down +head +sample', said), said)
    expect(re.search(r'^  default .* \d\.\d\d\d\*', said, re.MULTILINE) and 'twice the cache of 1 MB' in said, said)
    errors = [float(x) for x in re.findall(r'to the oracle (\S+), to the default', said)]
    apart = [float(x) for x in re.findall(r'to the default (\S+); 1e-02 is allowed', said)]
    expect(all(0 < x < 1e-2 for x in errors) and 0 < max(apart) < 1e-2, said)


def wrong(how, status, **environment):
    said = ladder(status, '--tiny', 'emulator', SHORT, plugin=WRONG, WRAPPED=str(EMULATOR), WRONG=how,
                  WRONG_TUNING=SHORT_VARIANT, **environment)
    return next(line for line in said.splitlines() if line.startswith(f'  {SHORT_VARIANT} '))


def test_wrong():
    for how in ('token', 'logits') if DEEP else ('logits',):
        expect("WRONG: its results differ from the oracle's" in wrong(how, FAILED), how)
        said = wrong(how, FAILED, WRONG_VOCAB=ORACLE_VOCAB)
        expect("WRONG: its results differ from the default's" in said, said)
    expect('WRONG: the device failed' in wrong('failed', FAILED), 'failed')
    expect('not here: the device does not support this shape' in wrong('refused', DONE), 'refused')
    expect(re.search(r' \d+\.\d\d\d ', wrong('nothing', DONE)), 'not wrong at all')


def test_words():
    said = ladder(DONE, '--tiny', '--time', '0.001', 'emulator')
    expect(f'time is up: {len(tried())} of {len(tried())} workloads were not begun' in said, said)
    expect("no backend 'cuda' for NVIDIA's GPUs" in ladder(BAD_INPUT, 'cuda'), 'no such backend')
    expect("unknown device 'cuba'" in ladder(BAD_INPUT, 'cuba'), 'unknown device')
    said = ladder(MACHINE_FAILED, 'emulator', EMULATOR_DEVICES='0')
    expect('no device' in said, said)
    said = ladder(DONE, '--tiny', 'emulator', SHORT, EMULATOR_MEMORY='200000')
    expect('left out: not one layer fits' in said, said)


def main():
    for needed in (LADDER, EMULATOR, WRONG):
        if not needed.exists():
            skip_all(f'{needed.relative_to(ROOT)} is not built')
    count = Count()
    for test in (test_every_choice, test_wrong, test_words, *([test_rehearsal] if DEEP else [])):
        count.test(test.__name__, test)
    count.finish()


if __name__ == '__main__':
    main()
