"""Slurm's daemons on this machine, with nodes of its own."""
import getpass
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from support.nodes import PATIENCE_S, UNSET, free_port, until
from support.program import PROBE, ROOT, Skip, expect, settings


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
