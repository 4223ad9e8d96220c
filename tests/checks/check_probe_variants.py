#!/usr/bin/python3
"""Whatever a variant of the kernels does, the probe measures with one that computes the model, and says why.

    check_probe_variants.py [NAME...]

PROBE names the program. The variant is that of tests/stand_ins/plugins/wrong_variant.c.
Deep: one that never ends.
Seconds: 12, deep 55
"""
import json
import time

from support.probing import METERED, probe, record_in, run_probe_tests, with_plugins, write_data
from support.program import DONE, NO, PROBE, Skip, expect, expect_exit

WRONG = PROBE.parent / 'tests' / 'ladder' / 'wrong_variant.so'  # the same with a variant that misbehaves


def run_with_wrong_variant(directory, how, device='cuda', *more, status=DONE, **environment):
    """A run on the test GPU, whose only variant misbehaves or, with `no`, is the fastest."""
    write_data(directory / 'data')
    (directory / 'plugins').mkdir()
    (directory / 'plugins' / 'wrong.so').symlink_to(WRONG)
    environment = {**with_plugins(directory / 'plugins'), 'WRAPPED': METERED / 'metered.so', 'WRONG': how,
                   'WRONG_TUNING': 'step=streaming', **environment}
    result = probe('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--device', device,
                   '--time', '0.1', '-o', directory / 'records', *more, environment=environment)
    expect_exit(result, status)
    return result


def with_wrong_variant(directory, how):
    """(result, record), where the variant misbehaves."""
    result = run_with_wrong_variant(directory, how)
    expect('own choice' in result.stdout, result.stdout)
    measured = json.loads(record_in(directory / 'records').read_text())['results'][0]
    expect(measured['step_form']['variant'] == '' and len(measured['variants']) == 2, measured)
    return result, measured['variants'][1]


def need_wrong_variant():
    if not WRONG.exists() or not (METERED / 'metered.so').exists():
        raise Skip('the test GPU and its wrong variant are not built')


def test_wrong_variants(directory):
    """Whatever a variant of the kernels does, by default the own choice is measured then."""
    need_wrong_variant()
    for how, warning in (('crash', 'the process that tried it was ended: Aborted; it is not used'),
                         ('failed', 'the device failed; it is not used'),
                         ('token', "its results differ from those of the kernels' own choice"),
                         ('refused', '')):
        folder = directory / how
        folder.mkdir()
        result, tried = with_wrong_variant(folder, how)
        said = ''.join(line for line in result.stderr.splitlines(True) if 'this machine is busy' not in line)
        expect(warning in said and ('warning' in said) == bool(warning), (how, result.stderr))
        expect(tried['variant'] == 'step=streaming' and tried['refused'], tried)


def test_wrong_variants_verified(directory):
    """--verify-only compares each variant that a run would try, and says what one does that must not be run."""
    need_wrong_variant()
    for how, more, status, words in (
            ('no', (), DONE, 'ok: step=streaming'), ('logits', (), NO, 'WRONG: step=streaming'),
            ('crash', ('--variant', 'fastest'), NO, 'WRONG: step=streaming: the process that tried it was ended: Aborted'),
            ('refused', (), DONE, 'not here: step=streaming: the device does not support'),
            ('logits', ('--variant', 'own'), DONE, '2 comparisons within tolerance')):
        folder = directory / '-'.join((how, *more))
        folder.mkdir()
        result = run_with_wrong_variant(folder, how, 'cuda', '--verify-only', *more, status=status)
        expect(words in result.stdout and ('variant of the kernels failed' in result.stdout) == (how == 'crash'),
               (how, result.stdout, result.stderr))
        expect(not (folder / 'records').exists(), 'a record')


def test_equal_devices(directory):
    """What is the fastest on the first of them is measured on the other, without trying again."""
    need_wrong_variant()
    result = run_with_wrong_variant(directory, 'no', 'cuda:0,1', METERED_DEVICES='2')
    records = [json.loads(path.read_text()) for path in (directory / 'records').glob('*.json')]
    found = sorted((record['results'][0]['step_form']['variant'], len(record['results'][0]['variants'])) for record in records)
    expect(found == [('step=streaming', 0), ('step=streaming', 2)], (found, result.stdout, result.stderr))
    expect(all(record['results'][0]['together']['devices'] == 2 for record in records), records)


def test_endless_variant(directory):
    """Nothing ends a kernel but its process: the one that tried it."""
    need_wrong_variant()
    started = time.monotonic()
    result, tried = with_wrong_variant(directory, 'endless')
    expect('its steps did not end within ' in result.stderr and time.monotonic() - started < 60, result.stderr)
    expect(tried['refused'].startswith('its steps did not end within '), tried)


if __name__ == '__main__':
    run_probe_tests(globals(), deep_only=(test_endless_variant,))
