#!/usr/bin/python3
"""Measures nodes that real launchers start: Slurm's srun and sbatch with munge, slurmctld and three slurmd on this
machine, the example's batch script, loads on a server from each node; and Open MPI's mpirun.

Deep only: each launcher comes up and loses nodes, in real time. Those that are not installed are skipped.
Seconds: 260
Waits: for nodes that are late or lost. Its speeds are not judged.
"""
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_fleet_probe import Fleet, LOST_S, PATIENCE_S, UNSET, ended, expect_accepted, free_port, offered, said, until
from check_probe import at_once
from check_serving import stand_in
from support.program import Count, DONE, NO, PROBE, ROOT, Skip, expect, expect_exit, run, run_json, settings
from support.records import load


def on_cpu(folder):
    """The tiny model of at_once, where it takes time."""
    return ('--data', folder / 'data', '--model', 'tiny', '--context', '64', '--time', '0.3', '--threads', '1', '--soak=5.5')


class Slurm:
    """munged, slurmctld and three slurmd on this machine, for the duration of a `with`."""

    NODES = ('n1', 'n2', 'n3')

    def __init__(self, folder):
        self.folder, self.processes, self.nodes = folder, [], {}
        self.environment = {**UNSET, 'SLURM_CONF': folder / 'slurm.conf',
                            'PATH': f'{PROBE.parent}:{os.environ["PATH"]}'}

    def daemon(self, *command):
        """Starts one of these processes; returns it."""
        with open(self.folder / f'{Path(command[0]).name}.out', 'ab') as log:
            self.processes.append(subprocess.Popen(command, env=settings(self.environment), stdout=log, stderr=log,
                                                   stdin=subprocess.DEVNULL))
        return self.processes[-1]

    def node(self, name):
        """A slurmd in whose view of the machine the nodes have addresses like those of a cluster."""
        self.nodes[name] = self.daemon('unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts; exec slurmd -D -N "$1"',
                                       self.folder / 'hosts', name)

    def all_idle(self):
        return self.run('sinfo', '-h', '-t', 'idle', '-o', '%D').stdout.strip() == str(len(self.NODES))

    def configure(self):
        at, host, user = self.folder, socket.gethostname(), getpass.getuser()
        (at / 'slurm.conf').write_text(f'''\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={at}/socket
CredType=cred/munge
SlurmctldPort={free_port()}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/%n
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/linear
ReturnToService=2
MessageTimeout=100
TCPTimeout=60
BatchStartTimeout=100
SlurmdTimeout=10
''' + ''.join(f'NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()}\n' for node in self.NODES)
            + 'PartitionName=all Nodes=ALL Default=YES State=UP\n')

    def __enter__(self):
        for name in ('state', *self.NODES):
            (self.folder / name).mkdir()
        (self.folder / 'key').write_bytes(os.urandom(1024))
        (self.folder / 'key').chmod(0o400)
        self.configure()
        at = self.folder
        self.daemon('munged', '--foreground', '--force', f'--key-file={at}/key', f'--socket={at}/socket',
                    f'--pid-file={at}/munged.pid', f'--log-file={at}/munged.log', f'--seed-file={at}/seed')
        until((at / 'socket').exists, 'munged')
        self.daemon('slurmctld', '-D', '-i')
        (at / 'hosts').write_text(''.join(f'127.0.0.1 {name}\n' for name in ('localhost', socket.gethostname(), *self.NODES)))
        for node in self.NODES:
            self.node(node)
        end = time.monotonic() + 60
        while not self.all_idle():
            if time.monotonic() > end:
                self.stop()
                raise Skip('Slurm does not come up here: ' + (at / 'slurmctld.out').read_text()[-300:])
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 20
        while self.run('squeue', '-h', '-o', '%i').stdout.strip() and time.monotonic() < end:
            self.run('scancel', '--me')
            time.sleep(0.2)
        self.stop()

    def stop(self):
        """Ends the daemons, and what they started and did not end."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        for environment in Path('/proc').glob('[0-9]*/environ'):
            try:
                if f'SLURM_CONF={self.folder}/'.encode() in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)
            except OSError:
                pass  # it belongs to another user, or has ended

    def run(self, *command):
        return subprocess.run([str(word) for word in command], env=settings(self.environment), cwd=ROOT,
                              timeout=PATIENCE_S, encoding='utf-8', stdin=subprocess.DEVNULL, capture_output=True)

    def submit(self, *command):
        """The number of a job on all nodes."""
        done = self.run('sbatch', '--parsable', f'-N{len(self.NODES)}', '-o', self.folder / 'job-%j', *command)
        expect(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def end(self, job):
        """(state, exit code), once there is one; sbatch --wait would look for it at growing intervals."""
        def found():
            words = dict(word.split('=', 1) for word in self.run('scontrol', 'show', 'job', '-o', job).stdout.split()
                         if '=' in word)
            return words.get('JobState') in ('COMPLETED', 'FAILED', 'CANCELLED') and words
        words = until(found, f'job {job} ends')
        return words['JobState'], words['ExitCode']

    def log(self, job):
        return (self.folder / f'job-{job}').read_text()


def kill_midway(fleet, node):
    """Kills the node's probe, identified by its lock, while it measures its first result."""
    until(lambda: fleet.states().get(node) == 'measuring', f'{node} measures')
    os.kill(int((fleet.folder / node / '.pertoken-probe.lock').read_text()), signal.SIGKILL)


def verdict(fleet, listed):
    return run_json('fleet', *sorted(fleet.folder.glob('*')), '--expect', listed, statuses=(DONE, NO))


def need_slurm():
    for program in ('munged', 'slurmctld', 'slurmd', 'srun', 'sbatch'):
        if not shutil.which(program):
            raise Skip(f'{program} is not installed (packages slurm-wlm and munge)')


def test_slurm(fleet):
    """One node's probe dies midway: the verdict names it, and the next step measures only that one."""
    need_slurm()
    place = fleet.kept / 'slurm'
    place.mkdir()
    fleet.kept.chmod(0o755)
    with Slurm(place) as slurm:
        measure = (ROOT / 'examples' / 'fleet' / 'probe.sbatch', fleet.folder, *on_cpu(fleet.kept))
        job = slurm.submit(*measure, '--wait', LOST_S)
        kill_midway(fleet, 'n2')
        expect(slurm.end(job) == ('FAILED', '137:0'), slurm.log(job))
        expect(fleet.lists() == [['n1', 'n3'], [], ['n2']] and 'nodes: 2 done, 0 failed, 1 missing' in slurm.log(job),
               slurm.log(job))
        answer = verdict(fleet, f'{fleet.folder}.nodes')
        expect(answer['missing'] == ['n2'] and answer['nodes'] == 2, answer['missing'])
        before = fleet.records()
        job = slurm.submit(*measure)
        expect(slurm.end(job) == ('COMPLETED', '0:0'), slurm.log(job))
        expect(fleet.lists() == [['n1', 'n2', 'n3'], [], []], slurm.log(job))
        expect(all(fleet.records()[node] == text for node, text in before.items()), 'nodes done were repeated')
        expect(verdict(fleet, f'{fleet.folder}.nodes')['missing'] == [], 'none is missing')


def parent_of(process):
    return int(Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[1])


def test_slurm_node_lost(fleet):
    """A whole node disappears while it measures, with its slurmd: the others are measured, and accepted as far as
    possible; once it is back it is measured alone, and all are accepted."""
    need_slurm()
    path = offered(fleet, 'whole numbers', 'wide', 'chat')
    path.write_text(path.read_text().replace('= 2 gpu', '= 3 gpu').replace('= 2 node', '= 3 node'))
    place = fleet.kept / 'slurm'
    place.mkdir()
    fleet.kept.chmod(0o755)
    with Slurm(place) as slurm:
        slurm.environment.update(fleet.environment)
        measure = (ROOT / 'examples' / 'fleet' / 'probe.sbatch', fleet.folder, *fleet.model, '--soak=5.5', '--time', 5)
        job = slurm.submit(*measure, '--wait', LOST_S)
        until(lambda: fleet.states().get('n2') == 'measuring', 'n2 measures')
        probe = int((fleet.folder / 'n2' / '.pertoken-probe.lock').read_text())
        for process in (slurm.nodes['n2'].pid, parent_of(probe), probe):
            os.kill(process, signal.SIGKILL)
        state, _ = slurm.end(job)
        expect(state in ('FAILED', 'NODE_FAIL', 'COMPLETED'), f'{state}: {slurm.log(job)}')
        expect(fleet.lists() == [['n1', 'n3'], [], ['n2']], slurm.log(job))
        expect(verdict(fleet, f'{fleet.folder}.nodes')['missing'] == ['n2'], 'n2 is missing')
        accepting = ('accept', path, *sorted(fleet.folder.glob('n?')), '--expect', 'n[1-3]', '--data', fleet.kept / 'data')
        expect_exit(run(*accepting), 4, 'Not enough data', 'no record of 1 accelerator', 'Missing: n2')
        slurm.node('n2')
        until(slurm.all_idle, 'n2 is back')
        job = slurm.submit(*measure)
        expect(slurm.end(job) == ('COMPLETED', '0:0') and fleet.lists()[0] == ['n1', 'n2', 'n3'], slurm.log(job))
        expect_accepted(fleet, path, 3, '--expect', 'n[1-3]')


def test_slurm_sent(fleet):
    """Nodes of Slurm with a folder each, with Slurm's own names and the script's kind of secret: the first has all
    records. It is killed while it measures: the others keep theirs, and the next step sends them."""
    need_slurm()
    place = fleet.kept / 'slurm'
    place.mkdir()
    fleet.kept.chmod(0o755)
    own = {node: fleet.kept / f'own-{node}' for node in Slurm.NODES}
    words = ' '.join(str(word) for word in on_cpu(fleet.kept))
    with Slurm(place) as slurm:
        slurm.environment['PERTOKEN_FLEET_SECRET'] = os.urandom(16).hex()

        def start():
            return subprocess.Popen(['srun', '-N3', '--ntasks-per-node=1', '--kill-on-bad-exit=0', '--wait=0', 'sh', '-c',
                                     f'exec pertoken probe fleet -o {fleet.kept}/own-$SLURMD_NODENAME --send {words}'],
                                    env=settings(slurm.environment), cwd=ROOT, encoding='utf-8',
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first, fleet.folder = start(), own['n1']
        until(lambda: list(fleet.states().values()) == ['measuring'] * 3, 'all measure')
        os.kill(int((own['n1'] / 'n1' / '.pertoken-probe.lock').read_text()), signal.SIGKILL)
        said(first, 137, *(f"records stay in '{own[node]}/{node}'" for node in ('n2', 'n3')))
        expect(not fleet.records(), 'the first has none')
        kept = {node: next(own[node].glob(f'{node}/*.json')).read_bytes() for node in ('n2', 'n3')}
        said(start(), DONE, 'nodes: 3 done, 0 failed, 0 missing')
        expect({node: fleet.records()[node] for node in kept} == kept and len(fleet.records()) == 3, 'all records')
        expect(fleet.lists() == [['n1', 'n2', 'n3'], [], []], fleet.lists())


def test_slurm_serving(fleet):
    """Loads on each node's server, started as in docs/measuring-serving.md; one node dies and is started again."""
    need_slurm()
    place = fleet.kept / 'slurm'
    place.mkdir()
    fleet.kept.chmod(0o755)
    with Slurm(place) as slurm, stand_in() as server:
        load_it = (f'pertoken probe serving {server.url}/ttft=5,tpot=1 -o {fleet.kept}/run-$0-$SLURMD_NODENAME '
                   '--accelerator h200-sxm-141 --accelerators 8 --precision fp8 --model llama-3.1-70b --input 32 '
                   '--output 8 --kv fp8 --concurrency 1 ')

        def start(number, seconds):
            return subprocess.Popen(['srun', f'-N{len(slurm.NODES)}', '--ntasks-per-node=1', '--kill-on-bad-exit=0',
                                     '--wait=0', 'sh', '-c', f'{load_it} --time {seconds}', str(number)],
                                    env=settings(slurm.environment), cwd=ROOT, encoding='utf-8',
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = start(1, 1)
        if ended([first]) == [NO]:
            raise Skip(f'this machine is too busy to load a server: {first.said}')
        expect(first.returncode == DONE, first.said)
        second, lock = start(2, 8), fleet.kept / 'run-2-n2' / '.pertoken-probe.lock'
        os.kill(int(until(lambda: lock.exists() and lock.read_text(), 'n2 measures')), signal.SIGKILL)
        said(second, 137)

        def measured():
            return sorted(path.parent.name for path in fleet.kept.glob('run-*/*.json'))
        expect(measured() == ['run-1-n1', 'run-1-n2', 'run-1-n3', 'run-2-n1', 'run-2-n3'], measured())
        said(start(2, 8), DONE)
        folders = sorted(fleet.kept.glob('run-*'))
        answer = run_json('fleet', *folders, statuses=(DONE, NO))
        expect(answer['nodes'] == 3 and len(measured()) == 6, answer)
        words = {record['node']: record['kv'] for record in map(load, fleet.kept.glob('run-*/*.json'))}
        expect(words == dict.fromkeys(slurm.NODES, 'fp8'), words)


AGENT = '''#!/bin/sh
# Stands for ssh: the command runs here, on a machine that is called so.
host=$1; shift
exec unshare --uts sh -c 'hostname "$1"; shift; eval "$*"' sh "$host" "$@"
'''


def need_open_mpi():
    if not shutil.which('mpirun'):
        raise Skip('mpirun is not installed (package openmpi-bin)')
    if subprocess.run(['unshare', '--uts', 'true'], capture_output=True).returncode:
        raise Skip('machines cannot be given names here (unshare --uts)')


def start_mpirun(fleet, *command):
    """A process of the command on each of three machines."""
    agent = fleet.kept / 'agent'
    agent.write_text(AGENT)
    agent.chmod(0o755)
    allowed = {**UNSET, 'OMPI_ALLOW_RUN_AS_ROOT': 1, 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1}
    command = ['mpirun', '--host', 'm1,m2,m3', '--map-by', 'ppr:1:node', '--mca', 'plm', 'rsh', '--mca',
               'plm_rsh_agent', agent, *command]
    return subprocess.Popen([str(word) for word in command], env=settings(allowed), cwd=ROOT, encoding='utf-8',
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_open_mpi(fleet):
    """mpirun ends all if one dies; started again, it measures what is missing."""
    need_open_mpi()

    def start():
        return start_mpirun(fleet, PROBE, 'fleet', *on_cpu(fleet.kept), '-o', fleet.folder)
    first = start()
    kill_midway(fleet, 'm2')
    said(first, 137)
    expect('m2' not in fleet.records(), 'm2 was killed')
    listed = fleet.kept / 'nodes'
    listed.write_text('m1\nm2\nm3\n')
    expect('m2' in verdict(fleet, listed)['missing'] if fleet.records() else True, 'm2 is missing')
    before = fleet.records()
    said(start(), DONE, 'nodes: 3 done, 0 failed, 0 missing')
    expect(fleet.lists()[0] == ['m1', 'm2', 'm3'], fleet.lists())
    expect(all(json.loads(fleet.records()[node])['results'][0] == json.loads(text)['results'][0]
               for node, text in before.items()), 'what was done was repeated')
    answer = verdict(fleet, listed)
    expect(answer['missing'] == [] and answer['nodes'] == 3, answer)


def test_open_mpi_sent(fleet):
    """Processes of mpirun with a folder each: Open MPI provides the first one's address and the secret."""
    need_open_mpi()
    own = {node: fleet.kept / f'own-{node}' for node in ('m1', 'm2', 'm3')}
    words = ' '.join(str(word) for word in on_cpu(fleet.kept))
    ran = start_mpirun(fleet, 'sh', '-c', f'exec {PROBE} fleet -o {fleet.kept}/own-$(hostname) --send {words}')
    said(ran, DONE, 'nodes: 3 done, 0 failed, 0 missing')
    fleet.folder = own['m1']
    expect(set(fleet.records()) == set(own) and fleet.lists()[0] == sorted(own), fleet.lists())
    for node in ('m2', 'm3'):
        expect(next(own[node].glob(f'{node}/*.json')).read_bytes() == fleet.records()[node], f'the record of {node}')


def main():
    count = Count()
    for name, test in [found for found in globals().items() if found[0].startswith('test_')]:
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            model, environment = at_once(Path(folder))
            count.test(name[5:], test, Fleet(folder, model, environment))
    count.finish()


if __name__ == '__main__':
    main()
