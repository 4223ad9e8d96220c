"""machine: what this machine is, according to its own tools, and the device that is measured."""
import json
import os
import platform
import re
import shutil

import running

TOOL_LIMIT_S = 60
NVIDIA_FIELDS = ('name,uuid,pci.bus_id,vbios_version,driver_version,ecc.mode.current,'
                 'mig.mode.current,power.limit,power.default_limit,power.max_limit,power.draw,'
                 'clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,temperature.gpu,'
                 'temperature.memory,persistence_mode,compute_mode')

# Each is run if it is on the machine.
TOOLS = [
    ('nvidia-smi', '-q'),
    ('nvidia-smi', f'--query-gpu={NVIDIA_FIELDS}', '--format=csv'),
    ('nvidia-smi', 'topo', '-m'),
    ('amd-smi', 'static', '--json'),
    ('amd-smi', 'metric', '--json'),
    ('rocm-smi', '-a'),
    ('rocminfo',),
    ('nvcc', '--version'),
    ('compute-sanitizer', '--version'),
    ('lscpu',),
]
SERIAL = re.compile(r'^(.*serial[^:]*:\s*)\S.*$', re.IGNORECASE | re.MULTILINE)
ACCELERATORS = ('cuda', 'hip')


def without_serials(text):
    return SERIAL.sub(r'\1(left out)', text)


def find_tool(name):
    """On PATH, or where CUDA and ROCm put it."""
    for path in (None, '/usr/local/cuda/bin', '/opt/rocm/bin'):
        found = shutil.which(name, path=path)
        if found:
            return found
    return None


def ask_tools(log):
    said = {}
    for name, *arguments in TOOLS:
        program = find_tool(name)
        if program:
            done = running.run([program, *arguments], TOOL_LIMIT_S)
            text = without_serials(done.output)
            said[' '.join((name, *arguments))] = {'status': done.status, 'output': text}
            with open(log, 'a') as file:
                file.write(f'$ {name} {" ".join(arguments)}\n{text}\n')
    return said


def listed(probe, calibrate, device, limit_s, log):
    """What the probe shows: devices, meters, absent backends; for several calibrated devices, the
    duration of an all-reduce; `words` say why it shows nothing."""
    nothing = {'devices': [], 'meters': [], 'absent': [], 'all_reduce': None, 'words': ''}
    command = [probe, 'list', '--format', 'json']
    if calibrate:
        command.append('--calibrate')
        if has_option(probe, 'list', '--device'):
            command += ['--device', device]
    done = running.run(command, limit_s, log)
    start = done.output.find('{')
    if done.status != 0 or start < 0:
        return {**nothing, 'words': done.last_line()}
    try:
        return {**nothing, **json.JSONDecoder().raw_decode(done.output[start:])[0]}
    except json.JSONDecodeError as error:
        return {**nothing, 'words': f'{probe} list: {error}'}


def has_option(probe, command, option):
    return option in running.run([probe, command, '--help'], TOOL_LIMIT_S).output


def name_of(device):
    return f'{device["backend"]}:{device["index"]}'


def why_none(shown, wanted):
    """Which devices there are instead of the requested one, and why a backend has none."""
    devices = [f'{name_of(device)} {device["name"]}' for device in shown['devices']]
    absent = [f'{backend["name"]}: {backend["why"]}' for backend in shown['absent']]
    return (f'no {wanted or "GPU"} among the devices: {", ".join(devices) or "none"}'
            + ''.join(f'; {words}' for words in absent))


def choose(devices, wanted):
    """The device named (cuda, cuda:1), or the first accelerator; None if there is none."""
    for device in devices:
        if wanted in (device['backend'], name_of(device)) or (
                not wanted and device['backend'] in ACCELERATORS):
            return device
    return None


def describe(device, meters, log):
    host = platform.uname()
    return {'device': device, 'meters': meters, 'tools': ask_tools(log),
            'host': {'kernel': f'{host.system} {host.release}', 'machine': host.machine,
                     'cpus': os.cpu_count(), 'python': platform.python_version()}}
