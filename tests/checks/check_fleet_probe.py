#!/usr/bin/python3
"""Measures made-up nodes at once, the way Slurm and Open MPI start the probe on each: pertoken probe fleet.

Speeds are not judged.

Seconds: 80, deep 310
Waits: for nodes that are late or lost. Its speeds are not judged.
Deep: nodes and the first process lost for good, and a real full disk.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from support.nodes import (Apart, Fleet, LOST_S, OFFER, UNSET, ended, expect_accepted, offered, said, run_all,
                           until)
from support.probing import EMULATOR, METERED, with_plugins
from support.program import BAD_INPUT, DONE, MACHINE_FAILED, NO, PROBE, Skip, expect, near, run, run_json
from support.records import load

# ---- normal operation

def test_at_once(fleet):
    """None begins before all have arrived; each record is the node's own."""
    fleet.launch()
    early = [fleet.start(rank, 3) for rank in (1, 2)]
    until(lambda: fleet.states() == {'node-1': 'waiting', 'node-2': 'waiting'}, 'two nodes wait')
    for entry in (fleet.folder / 'nodes').glob('.*/*'):  # written as by a clock that is hours off
        os.utime(entry, (time.time() + 7200,) * 2)
    time.sleep(0.3)
    expect(not fleet.records(), 'a node measured before all had come')
    last = fleet.start(0, 3)
    expect(ended([*early, last]) == [DONE] * 3, [process.said for process in (*early, last)])
    expect('nodes: 3 done, 0 failed, 0 missing' in last.said, last.said)
    expect(fleet.lists() == [['node-0', 'node-1', 'node-2'], [], []], fleet.lists())
    for node, text in fleet.records().items():
        expect(json.loads(text)['environment']['node'] == node, f'the record of {node} names another')
    answer = run_json('fleet', *sorted(fleet.folder.glob('*')), statuses=(DONE, NO))
    expect(answer['nodes'] == 3, answer)


def test_not_repeated(fleet):
    expect(fleet.all(2) == [DONE, DONE], 'the first run')
    before = fleet.records()
    expect(fleet.all(3) == [DONE] * 3, 'with a node more')
    after = fleet.records()
    expect(len(after) == 3 and all(after[node] == text for node, text in before.items()), 'nodes done were repeated')
    expect(fleet.all(1, '--batch', '1,2') == [DONE], 'with a batch more')
    results = json.loads(fleet.records()['node-0'])['results']
    expect([result['batch'] for result in results] == [1, 2], 'the second batch is added')
    expect(results[0] == json.loads(before['node-0'])['results'][0], 'the first batch is not repeated')


def test_one_by_one(fleet):
    fleet.launch()
    processes = [fleet.start(rank, 3, '--one-by-one') for rank in (2, 1, 0)]
    most = 0
    while any(process.poll() is None for process in processes):
        most = max(most, list(fleet.states().values()).count('measuring'))
        time.sleep(0.005)
    expect(ended(processes) == [DONE] * 3 and most <= 1, f'{most} nodes measured at a time')
    started = [load(next((fleet.folder / f'node-{n}').glob('*.json')))['started'] for n in range(3)]
    expect(started == sorted(started), started)


def test_wall(fleet):
    """Each node has its own wall power, from a table; a single number cannot be used for several nodes."""
    table = fleet.kept / 'wall.csv'
    table.write_text('node,rack,wall_power\nnode-0,A,5.2 kW\nnode-1,B,4980 W\n')
    expect(fleet.all(2, '--wall-power', table, '--wall-note', 'PDU A3') == [DONE, DONE], 'two nodes')
    for node, watts in (('node-0', 5200), ('node-1', 4980)):
        beside = json.loads(fleet.records()[node])['results'][0]['beside']
        expect(near(beside['wall_power_w'], watts) and beside['wall_meter'] == 'typed: PDU A3', f'{node}: {beside}')
    fleet.launch()
    expect(ended([alone := fleet.start(0, 1, '--wall-power', '5.3 kW', node='node-7')]) == [DONE], alone.said)
    expect(near(json.loads(fleet.records()['node-7'])['results'][0]['beside']['wall_power_w'], 5300), 'a node alone')
    for name in ('./no-such', '../no-such.csv', '2026-no-such.csv'):
        fleet.launch()
        said(fleet.start(0, 1, '--wall-power', name), BAD_INPUT, name)


def test_wall_refused(fleet):
    table = fleet.kept / 'wall.csv'
    for text, more, fragment in (
            (None, ('--wall-power', '5 kW'), 'is for a single node, but 2 were started'),
            ('node,wall_power\nnode-1,5 kW\n', ('--wall-power', table), "unknown node 'node-0'"),
            ('node,watts\nnode-0,5 kW\n', ('--wall-power', table), "needs a column 'wall_power'"),
            ('node,wall_power\nnode-0,5200\n', ('--wall-power', table), 'has no unit'),
            ('node,wall_power\nnode-0,-2 W\n', ('--wall-power', table), "above '0 W'"),
            (None, ('--wall-note', 'PDU A3'), '--wall-note needs --wall-power'),
            (None, ('--wall-power', table, '--redfish', 'https://{node}-bmc/p'), 'and --wall-power both supply wall power')):
        if text:
            table.write_text(text)
        fleet.launch()
        said(fleet.start(0, 2, *more), BAD_INPUT, fragment)


def deep_redfish_of_each(fleet):
    """The node's name is part of its controller's address."""
    tool = fleet.kept / 'tools' / 'curl'
    tool.parent.mkdir()
    asked = fleet.kept / 'asked'
    tool.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$last" >> {asked}\n'
                    'echo \'{"PowerControl": [{"PowerConsumedWatts": 5100}]}\'\n')
    tool.chmod(0o755)
    path = {'PATH': f'{tool.parent}:{os.environ["PATH"]}'}
    fleet.launch()
    nodes = [fleet.start(rank, 2, '--redfish', 'https://{node}-bmc/redfish/v1/Chassis/{node}/Power', environment=path)
             for rank in range(2)]
    expect(ended(nodes) == [DONE] * 2, [node.said for node in nodes])
    expect(set(asked.read_text().split()) == {f'https://node-{n}-bmc/redfish/v1/Chassis/node-{n}/Power'
                                          for n in range(2)},
           asked.read_text())
    expect(near(json.loads(fleet.records()['node-1'])['results'][0]['beside']['wall_power_w'], 5100), 'not in the record')


def test_offered(fleet):
    """What the decode guarantees cover is measured, each node at each guarantee with all others."""
    path = offered(fleet, 'whole numbers')
    fleet.launch()
    late = fleet.start(1, 2)
    until(lambda: fleet.states() == {'node-1': 'waiting'}, 'one node waits')
    expect(ended([first := fleet.start(0, 2), late]) == [DONE] * 2, first.said)
    expect("not measured here: 'chat', of serving" in first.said, first.said)
    for node, text in fleet.records().items():
        record = json.loads(text)
        found = [(one['precision'], one['batch'], one['context'], one['types']['kv']) for one in record['results']]
        expect(found == [('bf16', 2, 64, 'e4m3'), ('bf16', 4, 64, 'bf16')], f'{node}: {found}')
    before = fleet.records()
    expect(fleet.all(2, '--for', 'wide') == [DONE] * 2 and fleet.records() == before, 'nothing is measured twice')
    if not fleet.environment:
        return
    expect_accepted(fleet, path, 2, '--for', 'decoding')


def test_offered_refused(fleet):
    path, model = offered(fleet), fleet.model
    for more, words in ((('--model', 'tiny'), 'leave out --model'), (('--precision', 'int8'), 'leave out --model'),
                        (('--for', 'wid'), "did you mean 'wide'"), (('--for', 'chat'), 'guarantees no decoding by that')):
        fleet.launch()
        said(fleet.start(0, 1, *more), BAD_INPUT, words)
    fleet.launch()
    said(fleet.start(0, 1, '--for', 'whole numbers'), BAD_INPUT, 'cannot run tiny int8, batch 1, context 64')
    path.write_text(path.read_text().replace('head = bf16', 'head = int8'))
    said(fleet.start(0, 1, '--for', 'wide'), BAD_INPUT, 'head = int8', 'cannot measure a head in int8 with weights in bf16')
    path.write_text(OFFER.replace('accelerators = 2 gpu\n', ''))
    said(fleet.start(0, 1), BAD_INPUT, "needs 'accelerators'")
    fleet.model = model[:-2]
    said(fleet.start(0, 1), BAD_INPUT, 'expected --model ID, or --offer FILE')
    said(fleet.start(0, 1, '--model', 'tiny', '--for', 'wide'), BAD_INPUT, '--for needs --offer')


def test_all_devices(fleet):
    """Without --device, all of a node's GPUs, one by one and then together."""
    if not (METERED / 'metered.so').exists():
        raise Skip('there is no GPU of the tests here')
    fleet.model = ('--data', fleet.kept / 'data', '--model', 'tiny', '--context', '64')
    fleet.environment = {**with_plugins(METERED), 'METERED_DEVICES': 2}
    expect(fleet.all(2) == [DONE] * 2, 'two nodes of two GPUs')
    for node in ('node-0', 'node-1'):
        records = [load(path) for path in (fleet.folder / node).glob('*.json')]
        expect(sorted(record['device']['index'] for record in records) == [0, 1], f'{node}: {len(records)} records')
        expect({record['results'][0]['together']['devices'] for record in records} == {2}, f'{node}: not together')


def test_soak(fleet):
    """The load is held before and with the meter for as long as stated, on every node."""
    library = METERED.parent / 'fake' / 'libnvidia-ml.so'
    if not library.exists():
        raise Skip('there is no meter of the tests here')
    (fleet.kept / 'libnvidia-ml.so.1').symlink_to(library)
    fleet.environment['LD_LIBRARY_PATH'] = fleet.kept
    expect(fleet.all(2, '--soak=8') == [DONE] * 2, 'two nodes')
    for node, text in fleet.records().items():
        result = json.loads(text)['results'][0]
        expect(2.4 < result['beside']['soak_s'] < 20, f"{node}: {result['beside']['soak_s']} s")
        expect(5.4 < result['energy_window_s'] < 20 and result['load_power_w'] > 100, f'{node}: {result}')


def test_listed(fleet):
    """Expected nodes, typed in Slurm's notation."""
    fleet.launch()
    said(fleet.start(0, 1, '--expect', 'node-[0-1],node-7'), NO, 'nodes: 1 done, 0 failed, 2 missing')
    expect(fleet.list('missing') == ['node-1', 'node-7'], fleet.lists())
    fleet.launch()
    said(fleet.start(0, 1, '--expect', 'node-0,'), DONE, 'nodes: 1 done, 0 failed, 0 missing')
    said(fleet.start(0, 1, '--expect', 'node-[3-1]'), BAD_INPUT, 'a range descends')


# ---- failures

def test_killed_and_again(fleet):
    """One is killed while it waits, one asked to stop: the next launch has nothing to repair."""
    job = fleet.launch()
    killed, stopped = fleet.start(0, 3, job=job), fleet.start(1, 3, job=job)
    until(lambda: fleet.states() == {'node-0': 'waiting', 'node-1': 'waiting'}, 'two nodes wait')
    killed.kill()
    stopped.terminate()
    expect(ended([killed, stopped]) == [-signal.SIGKILL, -signal.SIGTERM], 'their signals')
    expect(fleet.lists() == [[], [], ['node-0', 'node-1']], fleet.lists())
    expect(fleet.all(3) == [DONE] * 3 and fleet.lists()[0] == ['node-0', 'node-1', 'node-2'], 'again')


def test_no_room(fleet):
    """On one node no record fits on the disk: it says so, and the others are measured."""
    fleet.launch()
    full = fleet.start(1, 3, file_limit=64)
    others = [fleet.start(rank, 3) for rank in (0, 2)]
    said(full, MACHINE_FAILED, "node 'node-1'", 'File too large')
    expect(ended(others) == [NO, DONE], [process.said for process in others])
    expect(fleet.lists() == [['node-0', 'node-2'], ['node-1'], []], fleet.lists())
    expect(set(fleet.records()) == {'node-0', 'node-2'}, 'the records')


def test_two_runs(fleet):
    """A second run into the same folder is refused where the first measures, and changes nothing."""
    first = fleet.launch()
    waiting = fleet.start(0, 2, job=first)
    until(lambda: fleet.states().get('node-0') == 'waiting', 'the first waits')
    said(fleet.start(0, 1, job=fleet.launch()), BAD_INPUT, 'another run (process', 'node-0')
    expect(fleet.states() == {'node-0': 'waiting'}, fleet.states())
    expect(ended([waiting, fleet.start(1, 2, job=first)]) == [DONE, DONE], waiting.said)


def test_two_runs_measuring(fleet):
    """The same while the first measures, whether or not the second waits for others."""
    first = fleet.launch()
    measuring = fleet.start(0, 1, '--time', 6, job=first)
    until(lambda: fleet.states().get('node-0') == 'measuring', 'the first measures')
    said(fleet.start(0, 1, '--time', 6, job=fleet.launch()), BAD_INPUT, 'another run (process', 'node-0')
    said(fleet.start(0, 2, '--batch', 4, job=fleet.launch()), BAD_INPUT, 'another run (process', 'node-0')
    expect(fleet.states() == {'node-0': 'measuring'} and measuring.poll() is None, fleet.states())
    expect(ended([measuring]) == [DONE] and len(fleet.records()) == 1, measuring.said)


def test_first_lost_measuring(fleet):
    """It dies while all measure: the records of the others are complete, their lists say which one is missing, and the
    next launch measures only that one."""
    fleet.launch()
    nodes = [fleet.start(rank, 3, '--time', 3) for rank in range(3)]
    until(lambda: fleet.states() == dict.fromkeys(('node-0', 'node-1', 'node-2'), 'measuring'), 'all measure')
    nodes[0].kill()
    expect(ended(nodes) == [-signal.SIGKILL, DONE, DONE], [node.said for node in nodes])
    expect(fleet.lists() == [['node-1', 'node-2'], [], ['node-0']] and set(fleet.records()) == {'node-1', 'node-2'},
           fleet.lists())
    before = fleet.records()
    expect(fleet.all(3, '--time', 3) == [DONE] * 3 and fleet.lists()[0] == ['node-0', 'node-1', 'node-2'], 'again')
    expect(all(fleet.records()[node] == text for node, text in before.items()), 'nodes done were repeated')


def test_expected(fleet):
    listed = fleet.kept / 'nodes.csv'
    listed.write_text('node,rack\nnode-0,A\nnode-8,B\n')
    fleet.launch()
    said(fleet.start(0, 1, '--expect', listed), NO, 'nodes: 1 done, 0 failed, 1 missing')
    expect(fleet.lists() == [['node-0'], [], ['node-8']], fleet.lists())
    fleet.launch()
    said(fleet.start(0, 1, '--expect', listed, node='node-9'), NO, "node 'node-9' is not on the list")
    fleet.launch()
    said(fleet.start(0, 1, '--expect', listed, node='node-8'), DONE, 'nodes: 3 done, 0 failed, 0 missing')
    listed.write_text('node-0\nnode-0\n')
    said(fleet.start(0, 1, '--expect', listed), BAD_INPUT, 'node-0')


def test_refused(fleet):
    fleet.launch()
    for arguments, changes, words in (
            (('--node', 'a/b'), {}, '--node'), (('--node', 'nodes'), {}, '--node'),
            (('--wait', '1'), {}, '--wait must be longer'), (('--soak=20min', '--wait', '900'), {}, 'longer'),
            ((), {'SLURM_STEP_TASKS_PER_NODE': '2'}, 'srun --ntasks-per-node=1'),
            ((), {'SLURM_STEP_NUM_TASKS': None, 'SLURM_JOB_NUM_NODES': '4'}, 'this job has 4 nodes'),
            (('--model', 'no-such-model'), {}, 'no-such-model')):
        said(fleet.start(0, 1, *arguments, environment=changes.items()), BAD_INPUT, words)
    done = run('fleet', '--model', 'tinyllama-1.1b', program=PROBE, environment=UNSET)
    expect(done.returncode == BAD_INPUT and 'expected -o DIR' in done.stderr, done.stderr)
    fleet.folder = Path('/proc/nothing')
    said(fleet.start(0, 1), MACHINE_FAILED, 'cannot create the directory')


# ---- no folder is shared

def test_sent(fleet):
    """The first has the records and lists of all; the others have their own measurements, and no lists."""
    apart = Apart(fleet)
    apart.launch()
    early = [apart.start(rank, 3) for rank in (1, 0)]
    until(lambda: apart.states() == {'node-0': 'waiting', 'node-1': 'waiting'}, 'two nodes wait')
    expect(not apart.records() and not apart.kept_by(1), 'a node measured before all had come')
    last = apart.start(2, 3)
    expect(ended([*early, last]) == [DONE] * 3, [process.said for process in (*early, last)])
    expect('nodes: 3 done, 0 failed, 0 missing' in early[1].said, early[1].said)
    expect(apart.lists() == [['node-0', 'node-1', 'node-2'], [], []], apart.lists())
    records = apart.records()
    for rank in range(3):
        expect(apart.kept_by(rank)[f'node-{rank}'] == records[f'node-{rank}'], f'the record of node-{rank} differs')
        expect((apart.own(rank) / 'nodes').exists() == (rank == 0), f'lists of process {rank}')
    expect(run_json('fleet', *sorted(apart.folder.glob('node-*')), statuses=(DONE, NO))['nodes'] == 3, 'its records')
    shutil.rmtree(apart.folder / 'node-2')
    expect(apart.all(3) == [DONE] * 3 and apart.records() == records, 'what was done is sent again, not measured again')
    expect(apart.all(3, '--batch', '1,2', '--one-by-one') == [DONE] * 3, 'with a batch more, one by one')
    batches = [[result['batch'] for result in json.loads(text)['results']] for text in apart.records().values()]
    expect(batches == [[1, 2]] * 3, batches)


def test_sent_by_names(fleet):
    """The first one's address follows from Slurm's list of nodes, and its port from the launch."""
    apart = Apart(fleet)
    apart.launch()
    named = {'SLURM_STEP_NODELIST': '127.0.0.[1-2]', 'PERTOKEN_FLEET_SECRET': apart.secret}
    nodes = [Fleet.start(apart, rank, 2, '-o', apart.own(rank), '--send', environment=named.items())
             for rank in range(2)]
    expect(ended(nodes) == [DONE] * 2 and len(apart.records()) == 2, [node.said for node in nodes])


def test_sent_by_strangers(fleet):
    """A process without the secret is refused everywhere and stops none; neither does noise."""
    apart = Apart(fleet)
    apart.launch()
    first = apart.start(0, 2)
    until(lambda: apart.states() == {'node-0': 'waiting'}, 'the first waits')
    for words in (b'GET / HTTP/1.1\r\n\r\n' + bytes(200), bytes(44), b'ptf1H' + bytes(39), b'ptf1N\0\0\0\x7f' + bytes(99)):
        with socket.create_connection(('127.0.0.1', apart.port), 10) as stranger:
            expect(stranger.recv(5) == b'ptf1N', 'it is greeted')
            stranger.sendall(words)
            while stranger.recv(4096):
                pass
    other = apart.start(1, 2, '--wait', 6, node='stranger', environment={'PERTOKEN_FLEET_SECRET': 'another' * 9}.items())
    said(other, MACHINE_FAILED, 'process 0 was not reached within 6 s')
    last = apart.start(1, 2)
    expect(ended([first, last]) == [DONE, DONE], [first.said, last.said])
    expect('connections from outside this launch' in first.said, first.said)
    expect(set(apart.records()) == {'node-0', 'node-1'} and not apart.kept_by(1).keys() & {'stranger'}, apart.records())


def test_sent_refused(fleet):
    apart = Apart(fleet)
    apart.launch()
    for arguments, changes, words in (
            ((), {'PERTOKEN_FLEET_SECRET': None}, 'needs a secret'),
            ((), {'PERTOKEN_FLEET_SECRET': 'short'}, 'must have 16 to 256'),
            (('--first', 'host:0'), {}, 'expected --first HOST'), (('--first', ''), {}, 'expected --first HOST')):
        said(apart.start(1, 2, *arguments, environment=changes.items()), BAD_INPUT, words)
    apart.launch()
    secret = {'PERTOKEN_FLEET_SECRET': apart.secret}
    said(Fleet.start(apart, 1, 2, '--send', environment=secret.items()), BAD_INPUT, 'name its machine with --first')
    said(Fleet.start(apart, 1, 2, '--first', 'a'), BAD_INPUT, '--first needs --send')
    said(Fleet.start(apart, 0, 2, '--send', '--first', '192.0.2.77', environment=secret.items()), MACHINE_FAILED,
         'cannot listen at 192.0.2.77')
    apart.launch()
    first, twin = apart.start(0, 3), apart.start(1, 3)
    until(lambda: len(apart.states()) == 2, 'two have come')
    said(apart.start(2, 3, node='node-1'), BAD_INPUT, "two processes call their node 'node-1'")
    last = apart.start(2, 3)
    expect(ended([first, twin, last]) == [DONE] * 3, [one.said for one in (first, twin, last)])


def test_sent_without_room(fleet):
    """The first has no room for a record: its node keeps it, and says where."""
    apart = Apart(fleet)
    apart.launch()
    first, other = apart.start(0, 2, file_limit=64), apart.start(1, 2)
    said(first, MACHINE_FAILED, 'File too large')
    said(other, MACHINE_FAILED, 'process 0 refused', f"'{apart.own(1)}/node-1/", 'which stays there', 'File too large')
    expect(set(apart.kept_by(1)) == {'node-1'} and not apart.records(), 'the records')
    expect(apart.all(2) == [DONE] * 2 and set(apart.records()) == {'node-0', 'node-1'}, 'with room')


def test_sent_to_nobody(fleet):
    """The first is killed, in a quick run, while the others measure: each keeps its record and says where."""
    lose_first(Apart(fleet), 3, 'measuring')


def deep_sent_to_nobody(fleet):
    """The same while they wait for one more: each measures alone."""
    lose_first(Apart(fleet), 4, 'waiting')


def lose_first(apart, size, state):
    apart.launch()
    first, *others = [apart.start(rank, size, '--time', 3) for rank in range(3)]
    until(lambda: list(apart.states().values()) == [state] * 3, f'three are {state}')
    first.kill()
    expect(ended([first, *others]) == [-signal.SIGKILL, NO, NO], [one.said for one in others])
    for rank, other in enumerate(others, 1):
        expect(f"process 0 is lost: this node continues alone, and its records stay in '{apart.own(rank)}/node-{rank}'"
               in other.said, other.said)
        expect(set(apart.kept_by(rank)) == {f'node-{rank}'}, f'the record of process {rank}')
    kept = {rank: apart.kept_by(rank) for rank in (1, 2)}
    expect(apart.all(size, '--time', 3) == [DONE] * size and len(apart.records()) == size, 'again')
    expect({rank: apart.kept_by(rank) for rank in (1, 2)} == kept, 'what was done is not measured again')


# ---- deep: lost for good

def deep_lost_node(fleet):
    """One never comes: the others continue, and say so."""
    fleet.launch()
    processes = [fleet.start(rank, 3, '--wait', LOST_S) for rank in (0, 1)]
    expect(ended(processes) == [NO, NO], [process.said for process in processes])
    expect('continuing without process 2' in processes[0].said, processes[0].said)
    expect('nodes: 2 done, 0 failed, 0 missing, 1 never reported' in processes[0].said, processes[0].said)
    expect(fleet.lists() == [['node-0', 'node-1'], [], []], fleet.lists())


def deep_lost_first(fleet):
    """It arrives and dies: the others continue, and write the lists themselves."""
    fleet.launch()
    first = fleet.start(0, 3, '--wait', LOST_S)
    until(lambda: 'node-0' in fleet.states(), 'the first has come')
    first.kill()
    statuses = ended([first, *(fleet.start(rank, 3, '--wait', LOST_S) for rank in (1, 2))])
    expect(statuses == [-signal.SIGKILL, NO, NO], statuses)
    expect(fleet.lists() == [['node-1', 'node-2'], [], ['node-0']], fleet.lists())


def deep_held_up(fleet):
    """A node that waits for the lost one is waited for in turn, and counts."""
    fleet.launch()
    lost, first = (fleet.start(rank, 3, '--wait', LOST_S) for rank in (1, 0))
    until(lambda: 'node-1' in fleet.states(), 'the second has come')
    lost.kill()
    last = fleet.start(2, 3, '--wait', LOST_S)
    expect(ended([lost, first, last])[1:] == [NO, NO], [first.said, last.said])
    expect('nodes: 2 done, 0 failed, 1 missing' in first.said, first.said)
    for process in (first, last):
        expect('continuing without node-1\n' in process.said, process.said)


def deep_not_shared(fleet):
    """Each sees a folder of its own: none measures in vain."""
    fleet.launch()
    there, theirs = fleet.folder, Fleet(fleet.kept / 'theirs', fleet.model, fleet.environment)
    theirs.kept.mkdir()
    theirs.job = fleet.job
    processes = [one.start(rank, 2, '--wait', LOST_S) for rank, one in enumerate((fleet, theirs))]
    for process in processes:
        said(process, BAD_INPUT, 'Name a shared one with -o')
    expect(not list(there.glob('*/*.json')), 'a record')


def deep_full_disk(fleet):
    """A file system without room: finished records stay complete, and the rest is measured once there is room."""
    fleet.folder.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', fleet.folder], capture_output=True)
    if mounted.returncode:
        raise Skip('file systems cannot be mounted here')
    try:
        expect(fleet.all(2) == [DONE, DONE], 'with room')
        before, filler = fleet.records(), fleet.folder / 'filler'
        with open(filler, 'wb', buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        statuses = fleet.all(3, '--batch', '1,2')
        expect(set(statuses) == {MACHINE_FAILED}, statuses)
        expect(fleet.records() == before, 'a finished record was lost')
        filler.unlink()
        expect(fleet.all(3, '--batch', '1,2') == [DONE] * 3, 'with room again')
    finally:
        subprocess.run(['umount', fleet.folder], check=True)


def deep_no_gpu(fleet):
    """Without a GPU, the CPU is measured with a warning, unless it was requested."""
    bare = fleet.kept / 'plugins'
    bare.mkdir()
    fleet.environment = with_plugins(bare)
    fleet.model = ('--data', fleet.kept / 'data', '--model', 'tiny', '--context', '64', '--threads', '1')
    fleet.launch()
    said(fleet.start(0, 1), DONE, 'this installation has no backend for GPUs, so the CPU is measured')
    expect(json.loads(fleet.records()['node-0'])['device']['backend'] == 'cpu', 'the device')
    fleet.launch()
    asked = fleet.start(0, 1, '--device', 'cpu')
    said(asked, DONE)
    expect('there is no GPU' not in asked.said, asked.said)


def deep_like_devices(fleet):
    """GPUs that report neither a UUID nor a PCI address have a record each."""
    if not EMULATOR.exists():
        raise Skip('there is no emulated GPU here')
    plugins = fleet.kept / 'plugins'
    plugins.mkdir()
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    fleet.model = ('--data', fleet.kept / 'data', '--model', 'tiny', '--context', '64')
    fleet.environment = {**with_plugins(plugins), 'EMULATOR_DEVICES': 2}
    expect(fleet.all(1) == [DONE], 'a node of two GPUs')
    records = [load(path) for path in (fleet.folder / 'node-0').glob('*.json')]
    expect(sorted(record['device']['index'] for record in records) == [0, 1], f'{len(records)} records')


if __name__ == '__main__':
    run_all(globals())
