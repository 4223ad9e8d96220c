#!/usr/bin/python3
"""Rehearses tests/gpu/check without a GPU: order, plans, variants, several GPUs, failures, table.

Deep: what the kernels do not support, the profiler, failures, and the real probe on this machine's processor.
Seconds: 20, deep 120
Waits: for stand-ins that take time, and until a real probe's budget is spent. Its speeds are not judged.
"""
import argparse
import json
import os
import re
import tarfile

from rehearsal import CHECK, FAILED, Rehearsal, STAND_INS, UNFINISHED, expect_row, row, run_all, stand_in
import machine
import order
import running
import steps
import workloads
from support.program import DEEP, DONE, PROBE, SKIPPED, expect, run


def test_whole(folder):
    """One call with enough time: the order, the table and the bundle; a second call repeats nothing."""
    rehearsal = Rehearsal(folder)
    said = rehearsal.check(DONE)
    names = list(rehearsal.state())
    firsts = [next(i for i, name in enumerate(names) if name.startswith(kind)) for kind in (
        'environment', 'bandwidth-before', 'quick 8b-fp8-batch1-', 'verify ', 'verify-way', 'sanitizer memcheck',
        'record 8b-fp8-batch1-', 'record 8b-bf16', 'attention', 'peer 8b-bf16', 'record 8x7b-fp8', 'record 8b-mxfp4',
        'prompts', 'all-reduce', 'tensor-parallel', 'together', 'recheck', 'way ', 'ladder', 'share',
        'sanitizer initcheck', 'grid')]
    expect(firsts == sorted(firsts), f'order: {names}')
    expect('record 8b-fp8-batch1-context512: done: 100.0 token/s, 4.20 us/layer, 0.840 R, 400 W [' in said,
           said)
    table = rehearsal.table()
    expect_row(table, 'GPU check of', '8 are not for this machine')
    expect('Libraries: no driver' in table or row(said, 'libraries: /'), f'{said}{table}')
    expect_row(table, 'The first record: ', ' s after the check was called')
    expect('tensor-parallel (70b-fp8-batch64-context4096-kvfp8 2, ' in rehearsal.not_done()
           and ' 8): skipped: one GPU here' in rehearsal.not_done(), table)
    expect_row(table, 'llama-2-70b fp8, batch 64, a share of 1/8', ' - ', ' 4.20 ', ' 400 ', '0.800 R')
    expect_row(table, 'Read bandwidth R', '4.500 TB/s before', '4.470 after', '-0.67 %')
    expect_row(table, 'An H200 must read 4.45 TB/s', ': met')
    expect_row(table, '8B bf16, batch 1', '0.90', '0.94', '0.950', '4.20', 'stretch met')
    expect_row(table, '8B fp8, batch 1', '0.840', 'met')
    expect_row(table, 'Llama-2-70B fp8, batch 1 ', '0.900', 'BELOW')
    expect_row(table, 'attention, bf16 KV', '0.843', '35840.00', 'BELOW')
    expect_row(table, 'llama-2-70b fp8, batch 64, context 4096', ' 80 ', ' 400 ', '+1.0 %', ' 4')
    expect_row(table, 'llama-2-70b fp8, fp8 activations, batch 64, context 4096', ' 80 ', ' 400 ')
    expect_row(table, 'Llama-2-70B fp8, batch 64, context 4096, fp8 KV', '0.800', 'met')
    expect_row(table, 'llama-3.1-8b bf16 ', ' 512 ', ' 16000 ', ' 32.0 ', 'own tiles')
    expect_row(table, '8b-bf16-batch1-context512', '1.00', 'unmeasured')
    expect_row(table, 'Verified against the oracle: ', 'comparisons; the worst error is 2.00e-03 of 1e-02')
    expect('The peer is missing' in table and 'ladder: missing: none is not built' in table, table)
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        inside = bundle.getnames()
    for name in ('table.txt', 'environment.json', 'records/llama-2-70b.json', 'logs/records.log',
                 'logs/check.log'):
        expect(f'gpu-check/{name}' in inside, f'{name} in {inside}')
    before = rehearsal.calls('run')
    expect(all('--verify-only' in call for call in before if 'smollm-135m' in call), before)
    without = [call for call in before if '--no-power' in call]
    expect(without and all(re.search('/attention |/ways/|--prefill', call) for call in without), without)
    rehearsal.check(DONE)
    expect(rehearsal.calls('run') == before, 'a finished step ran again')


def test_plans(folder):
    """A few minutes are useful: a short budget goes call by call; a named call ends after its steps."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 540, '--plan', 'A')
    names = list(rehearsal.state())
    expect(any(name.startswith('quick') for name in names) and 'ncu' in names, names)
    expect(not any(name.startswith(('record', 'grid', 'peer')) for name in names), names)
    for way in ('default', 'matrix=registers'):
        expect(any(name.startswith('way 70b') and name.endswith(way) for name in names), names)
    expect_row(rehearsal.table(), '8B fp8, batch 1', '0.840', 'met, 2 s of samples')
    expect_row(rehearsal.table(), 'llama-2-70b fp8, batch 1, context 512, 2 s of samples', ' 400 ')
    table = ' '.join(rehearsal.table().split())
    expect('matrix-registers: llama-2-70b fp8, batch 64 0.800 4.20 context 4096, 4 layers' in table, table)
    calls = rehearsal.calls('run')
    expect(sum('--verify-only' in call for call in calls) == 3, calls)
    if not DEEP:
        return
    rehearsal.check(DONE, 540)
    names = list(rehearsal.state())
    firsts = [next(i for i, name in enumerate(names) if name.startswith(kind))
              for kind in ('quick', 'ncu', 'verify small', 'record', 'attention', 'peer', 'grid')]
    expect(firsts == sorted(firsts), names)
    expect(rehearsal.calls('run')[:len(calls)] == calls, 'what call A did is done once')


def test_reach(folder):
    """The six targets are reached in 15 minutes, the repetition of all records in 25, the peer's second round last."""
    rehearsal = Rehearsal(folder)
    device = machine.choose(machine.listed(rehearsal.probe, False, '', 60, folder / 'log')['devices'], 'cuda')
    arguments = argparse.Namespace(out=folder, probe=rehearsal.probe, ladder=folder, peer_python='', tiny=False,
                                   device='')
    context = steps.Context(arguments, running.State(folder), running.Budget(1800, 0), device,
                            {'meters': [], 'devices': [device]})
    needs_s, reached = 0, {}
    for step in order.steps_of(context):
        needs_s += step.needs_s
        reached[step.name] = needs_s
    when = [reached[f'{"attention" if target.difference else "record"} {target.workload.name()}']
            for target in workloads.TARGETS]
    expect(max(when) < 900, when)
    expect(reached['recheck'] < 1500, reached)
    expect(list(reached)[-3:] == [f'peer {workload.name()} 2' for workload in workloads.PEERS], list(reached))


def test_void(folder):
    """A record whose read bandwidth was no ceiling has no share, and the table says so."""
    rehearsal = Rehearsal(folder, shares={'llama-3.1-8b fp8 1 512': None, 'llama-2-70b fp8 64 4096': None})
    for _ in range(2):
        rehearsal.check(DONE, 540, '--plan', 'C')
    expect_row(rehearsal.table(), '8B fp8, batch 1', '0.83', ' - ', ' 4.20 ', 'R void')
    expect_row(rehearsal.table(), 'attention, bf16 KV', ' - ', '35840.00', 'R void')
    expect_row(rehearsal.table(), '8B bf16, batch 1', '0.500', 'BELOW')


def test_mistakes(folder):
    """What this check did not expect in a step, or in its table, costs neither the other steps nor the bundle."""
    rehearsal = Rehearsal(folder)
    stand_in(folder / 'odd', 'echo "{no JSON"')
    said = rehearsal.check(FAILED, 540, '--plan', 'D', '--peer-python', folder / 'odd')
    expect('peer 8b-bf16-batch1+8+64+128-context512 1: failed: this check is wrong, see logs/check.log: JSONDecodeError'
           in said, said)
    expect(any(name.startswith('grid') for name in rehearsal.state()), said)
    (rehearsal.out / 'records' / 'odd.json').write_text('{"results": [{}]}')
    said = rehearsal.check(FAILED, 540, '--plan', 'A')
    expect('No table can be made of the results in this bundle' in rehearsal.table(), said)
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        expect('gpu-check/records/quick/llama-3.1-8b.json' in bundle.getnames(), bundle.getnames())


def test_goes_on(folder):
    """A part of the ladder is not the whole: the rest is done while there is time, or in the next call."""
    rehearsal = Rehearsal(folder)
    said = rehearsal.check(UNFINISHED, 540, '--plan', 'B', *rehearsal.ladder(), LADDER_AT_ONCE='0')
    expect('ladder: partial: 0 of 13 workloads; the next call goes on' in said, said)
    expect('ladder: partial: 0 of 13' in rehearsal.not_done(), rehearsal.table())
    rehearsal.check(DONE, 540, '--plan', 'B', *rehearsal.ladder(), LADDER_AT_ONCE='10')
    asked = [line.split() for line in (folder / 'rows').read_text().splitlines()]
    expect([len(rows) for rows in asked] == [13, 13, 13, 3] and asked[-1] == ['11', '12', '13'], asked)
    expect_row(rehearsal.table(), '8B fp8, batch 1, context 512: step=streaming', '0.934 R')


def test_failed_last(folder):
    """What failed on this device before does not take the time of what has not been tried."""
    rehearsal = Rehearsal(folder, wrong=['step=streaming'])
    rehearsal.check(FAILED, 540, '--plan', 'A', '--tiny')
    before = len(rehearsal.calls('run'))
    rehearsal.check(FAILED, 600, '--plan', 'all', '--tiny')
    calls = rehearsal.calls('run')[before:]
    expect([i for i, call in enumerate(calls) if 'step=streaming' in call] == [len(calls) - 1] and calls[5:], calls)
    rehearsal.plan(uuid='GPU-other-', wrong=['step=streaming'])
    before += len(calls)
    rehearsal.check(FAILED, 600, '--plan', 'all', '--tiny')
    expect('step=streaming' in rehearsal.calls('run')[before], 'on another device it may not fail')


def test_rest_of_the_budget(folder):
    """Where too little time is left for a step, others that need less are done; records are repeated after the last."""
    rehearsal = Rehearsal(folder)
    said = rehearsal.check(UNFINISHED, 75, '--plan', 'all')
    done = [name for name, step in rehearsal.state().items() if step['status'] == 'done']
    expect(any(name.startswith('way ') for name in done), done)
    expect(not any(name.startswith(('record', 'recheck')) for name in done), done)
    expect(row(said, 'record 8b-fp8-batch1-context512 and ').endswith('call again to go on'), said)


def test_recheck_goes_on(folder):
    """Records that a call which was stopped has measured again are not the next call's."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 540, '--plan', 'C')
    path = rehearsal.out / 'state.json'
    kept = json.loads(path.read_text())
    first, *others = sorted((rehearsal.out / 'records').glob('*.json'))
    kept['steps']['recheck'].update(status='pending', data={
        'checked': [f'{first.name}, {first.stat().st_size} bytes'], 'differ': [first.name]})
    path.write_text(json.dumps(kept))
    before = len(rehearsal.calls('check'))
    rehearsal.check(FAILED, 540, '--plan', 'C')
    expect([call.split()[1] for call in rehearsal.calls('check')[before:]] == list(map(str, others)), rehearsal.calls())
    expect(f'recheck: failed: out of tolerance: {first.name}' in rehearsal.not_done(), rehearsal.table())


def test_peers(folder):
    """A process for each variant and all batches, ours with the same activations right after, without watts; above
    batch 64 the ratio alone."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 600, '--plan', 'D', *rehearsal.peer())
    log = (rehearsal.out / 'logs' / 'peer.log').read_text()
    expect(log.count('\n$ ') + log.startswith('$ ') == 2 * (2 + 3 + 3), log)
    ours = [call for call in rehearsal.calls('run') if '/peer/' in call]
    expect(len(ours) == 2 * 3 and all('--no-power' in call for call in ours), ours)
    expect(sum('--batch 1,8,64,128 ' in call for call in ours) == 4, ours)
    stand_in(folder / 'none', f'echo >>{folder}/asked; echo "{{\\"skipped\\": \\"PyTorch 2 sees no GPU\\"}}"; exit 77')
    other = ('--out', folder / 'other', '--peer-python', folder / 'none')
    expect('peer 70b-fp8-batch1-context512 1: missing: PyTorch 2 sees no GPU' in rehearsal.check(
        DONE, 600, '--plan', 'D', *other), 'why the peer is missing')
    expect((folder / 'asked').read_text() == '\n', 'it is asked once')
    table = rehearsal.table()
    expect_row(table, '8b-bf16-batch1-context512 / bf16 ', '1.00', '1.250', '2 pairs', 'met')
    expect(row(table, '8b-bf16-batch128-context512 / bf16 ').split()[3:] == ['1.250', '2', 'pairs'], table)
    expect_row(table, '8b-fp8-batch64-context512 / fp8-w8a8', '0.800', 'BELOW')
    expect_row(table, '8b-fp8-batch8-context512 / fp8-w8a16 --compile', 'unmeasured: no torch.compile')


def test_variants(folder):
    """Records are of the fastest variant, unless one was found wrong on this device."""
    rehearsal = Rehearsal(folder)
    rehearsal.check(DONE, 540, '--plan', 'C')
    records = [call for call in rehearsal.calls('run') if ' --shard ' not in call and '/attention' not in call
               and '--prefill' not in call]
    expect(records and all('--variant fastest' in call for call in records), records)
    expect_row(rehearsal.table(), '8B fp8, batch 1', '0.840', 'met, step=streaming')
    (folder / 'wrong').mkdir()
    wrong = Rehearsal(folder / 'wrong', wrong=['step=streaming'])
    wrong.check(FAILED, 540, '--plan', 'A')
    expect('verify-way (step=streaming): failed: 1 of 2' in wrong.not_done(), wrong.table())
    wrong.check(DONE, 540, '--plan', 'C')
    expect(not any('fastest' in call for call in wrong.calls('run')), wrong.calls('run'))
    (folder / 'untold').mkdir()
    untold = Rehearsal(folder / 'untold', untold=['step=streaming'])
    untold.check(DONE, 540, '--plan', 'A')
    expect('verify-way (step=streaming): missing: not verified, as the variants had taken 120 s' in untold.not_done(),
           untold.table())


def test_ncu(folder):
    """The profiler's counts are in the table; if the profiler or its permission is missing, that is reported."""
    rehearsal, tool = Rehearsal(folder), folder / 'ncu'
    path = {'PATH': f'{folder}:{os.environ["PATH"]}'}
    for text, words in (('#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM - no"; exit 1', 'for the administrator'),
                        ('#!/bin/sh\necho "==ERROR== Failed to initialize the profiler: LibraryNotLoaded"; exit 1',
                         'ncu: missing: ncu cannot run here: Failed to initialize'),
                        ('#!/bin/sh\necho "==ERROR== unknown"; exit 1', 'ncu: failed: ==ERROR== unknown'), 
                        ((STAND_INS / 'ncu').read_text(), '')):
        tool.write_text(text)
        tool.chmod(0o755)
        rehearsal.check(FAILED if 'failed' in words else DONE, 540, '--plan', 'A', **path)
        expect(words in rehearsal.not_done() if words else 'ncu' not in rehearsal.not_done(), rehearsal.table())
    expect_row(rehearsal.table(), 'vector_e4m3_bf16_norm_store_1', ' 12.34 ', ' 4.100 ')
    expect_row(rehearsal.table(), 'sample ', ' 2.00 ')


def test_unknown_families(folder):
    """What the kernels do not support is missing, with their message, and not a failure."""
    rehearsal = Rehearsal(folder, unknown=['mixtral-8x7b', 'mxfp4'])
    rehearsal.check(DONE)
    expect('record (8x7b-fp8-batch1-context512, 8b-mxfp4-batch1-context512): missing: error: the GPU kernels do '
           'not support' in rehearsal.not_done(), rehearsal.not_done())


def test_failures(folder):
    """Failures are reported, do not end the check, and are tried again."""
    rehearsal = Rehearsal(folder, bandwidth=[4.5e12, 4.3e12, 4.3e12], check_status=1, load_w=None)
    rehearsal.check(FAILED, 600, *rehearsal.peer(), *rehearsal.ladder(), WRONG_TUNING='step=launches')
    table = rehearsal.table()
    expect('ladder: failed: step=launches   WRONG: its results differ' in table, table)
    expect_row(table, '8b-bf16-batch1-context512 / bf16 ', '1.250', '2 pairs', 'met')
    expect_row(table, '8b-bf16-batch1-context512 / bf16 --compile', 'unmeasured: no torch.compile')
    expect_row(table, '8b-fp8-batch64-context512 / fp8-w8a8', '0.800', 'BELOW')
    expect('unlike' not in table, table)
    expect('The peer is missing' not in table, table)
    expect_row(table, 'recheck: failed', 'out of tolerance: llama-2-70b.json')
    expect_row(table, 'Read bandwidth R', '-4.44 %, MORE THAN 1 %')
    expect_row(table, 'unmeasured: none: a stand-in')
    rehearsal.plan(check_status=0)
    said = rehearsal.check(DONE, 600, *rehearsal.peer(), *rehearsal.ladder())
    expect('recheck' not in rehearsal.table(), rehearsal.table())
    expect('ladder: done [' in said, said)
    expect_row(rehearsal.table(), '8B fp8, batch 1, context 512: step=streaming', '0.934 R')
    with tarfile.open(rehearsal.out / 'gpu-check.tar.gz') as bundle:
        log = bundle.extractfile('gpu-check/logs/ladder.log').read().decode()
    expect('step=streaming    60.50' in log, log)


def test_other_devices(folder):
    """Shares of their own read bandwidth, not judged; if memory is too small, in slices."""
    h100 = 'NVIDIA H100 80GB HBM3'
    rehearsal = Rehearsal(folder, device=h100, too_deep=['80', '40'], bandwidth=[3.18e12, 3.18e12])
    rehearsal.check(DONE)
    table = rehearsal.table()
    expect('targets are of one NVIDIA H200; this is another' in table, table)
    expect_row(table, '1.000 of the 3.18 TB/s that are published for it')
    expect(row(table, '8B fp8, batch 1').split()[4:] == ['0.840', '4.20', 'step=streaming'], table)
    expect_row(table, 'Llama-2-70B fp8, batch 64, context 4096', 'from slices of up to 24 layers')
    expect(any('--layers 24' in call for call in rehearsal.calls('run')), rehearsal.calls('run'))
    expect(not any(word in table for word in ('must', 'BELOW', 'stretch met')), table)
    rehearsal.plan(device='NVIDIA H200')
    said = rehearsal.check(FAILED)
    expect(f'holds results of another model of device ({h100}, and here is NVIDIA H200)' in said, said)
    said = rehearsal.check(SKIPPED, 600, '--device', 'hip')
    expect('skipped: no hip among the devices: cpu:0 A processor, cuda:0 NVIDIA H200; '
           'hip: no library' in said, said)


def test_several(folder):
    """Four equal GPUs: one model on two and on four of them, and one on each at once."""
    rehearsal = Rehearsal(folder, gpus=4)
    rehearsal.check(DONE)
    table = rehearsal.table()
    expect_row(table, '4 GPUs read 4.470 to 4.604 TB/s each')
    expect_row(table, 'An all-reduce among them: 32 KiB 8.0 us (NCCL 2)')
    expect_row(table, 'llama-2-70b fp8, batch 64, on 2 together', ' 200.0 ', ' 4.20 ', ' 400 ', ' 2 ',
               'all-reduce 9.0 us')
    expect_row(table, 'llama-2-70b fp8, batch 1, on 4 together', ' 400.0 ')
    expect_row(table, 'llama-3.1-8b fp8, batch 64, each of 4 at once', ' 388.0 ', ' 1560 ',
               '97.0 % of one by one, 2.0 % apart')
    expect('each of 4 at once: 1410 MHz slowest (the GPU at 2), 1980 MHz fastest (the GPU at 3), hottest 88 C '
           '(at 2), thermal slowdown 4.5 s (at 2)' in ' '.join(table.split()), table)
    expect_row(table, 'on 2 together, batch 64: 1980 MHz slowest (the GPU at 0)')
    expect(' 8): skipped: 4 equal GPUs here' in rehearsal.not_done(), table)
    expect('share of' not in table and '2 are not for this machine' in table, table)
    runs = rehearsal.calls('run')
    for words in ('--device cuda:0,1 ', '--device cuda:0,1,2,3 '):
        expect(any(words in call and '--tensor-parallel' in call for call in runs), runs)
    expect(len(rehearsal.calls('check')) == 6, 'records of several GPUs are checked again too')


def test_without_exchange(folder):
    """Without NCCL there is no model on several, nor if memory is too small or one GPU is named."""
    for name, changes, arguments, words in (
            ('nccl', {'no_exchange': 'no libnccl.so.2'}, (),
             'all-reduce: missing: no libnccl.so.2 tensor-parallel (70b-fp8-batch2-context96-kvfp8 2): '
             'missing: no libnccl.so.2'),
            ('small', {'too_deep': ['80']}, (),
             'tensor-parallel (70b-fp8-batch2-context96-kvfp8 2): skipped: error: it needs 120.00 GB'),
            ('named', {}, ('--device', 'cuda:1'),
             'all-reduce: skipped: --device cuda:1 names one GPU')):
        rehearsal = Rehearsal(folder, gpus=2, **changes)
        rehearsal.out = folder / name
        rehearsal.check(DONE, 600, '--tiny', *arguments)
        expect(words in rehearsal.not_done(), rehearsal.table())
        is_together = 'each of 2 at once' in rehearsal.table()
        expect(is_together == (name != 'named'), rehearsal.table())


def test_doubts(folder):
    """Other processes on the device are named before anything is measured, and the table has every flag of a record."""
    path = f'{folder}:{os.environ["PATH"]}'
    stand_in(folder / 'nvidia-smi', 'case "$*" in *compute-apps*) echo "GPU-0, 4711, python3, 20480 MiB";'
             ' echo "GPU-1, 4712, other, 1 MiB";; esac')
    rehearsal = Rehearsal(folder, others=1, flags={'noisy': True, 'drift': False, 'thermal_unsettled': True})
    said = rehearsal.check(DONE, 540, '--plan', 'A', PATH=path)
    expect('environment: done: NVIDIA H200; in use by others: 4711, python3, 20480 MiB [' in said and '4712' not in said, said)
    doubts = ' '.join(rehearsal.table().partition('What the records say against themselves\n')[2].split())
    for words in ('noisy: 5 of 5 results (llama-2-70b fp8, batch 1;', 'thermal unsettled: 5 of 5',
                  'other processes on the device: 5 of 5'):
        expect(words in doubts and 'drift' not in doubts, rehearsal.table())


def test_missing_probe(folder):
    rehearsal = Rehearsal(folder)
    rehearsal.probe.unlink()
    said = rehearsal.check(SKIPPED)
    expect('does not run' in said, said)


def test_true_probe(folder):
    """The first steps with the real probe, on a small shape on this processor."""
    done = run('--tiny', '--device', 'cpu', '--budget', '160', '--plan', 'A', '--out', folder / 'out', '--probe', PROBE,
               program=CHECK, timeout=240)
    expect(done.returncode in (DONE, FAILED, UNFINISHED), done.stdout + done.stderr)
    table = (folder / 'out' / 'table.txt').read_text()
    expect('A rehearsal on a small shape' in table and 'Verified against the oracle: ' in table, table)
    expect('comparisons within tolerance' in (folder / 'out' / 'logs' / 'verify.log').read_text(), table)
    compared = json.loads((folder / 'out' / 'state.json').read_text())['steps']
    expect(any(step['data'].get('compared') for step in compared.values()), compared)


QUICK = [test_whole, test_plans, test_reach, test_void, test_goes_on, test_rest_of_the_budget, test_peers,
         test_variants, test_other_devices, test_several, test_without_exchange, test_missing_probe,
         test_doubts]
LONG = [test_ncu, test_mistakes, test_failed_last, test_recheck_goes_on, test_unknown_families, test_failures,
        test_true_probe]


if __name__ == '__main__':
    run_all(QUICK, LONG)
