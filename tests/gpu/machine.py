"""machine: what this machine is, according to its own tools, and the device that is measured."""
import json
import os
import platform
import re
import shutil

import running

TOOL_LIMIT_S = 30  # a driver that hangs also hangs its tools
LIST_LIMIT_S = 120
NVIDIA_FIELDS = ('name,uuid,pci.bus_id,vbios_version,driver_version,ecc.mode.current,'
                 'mig.mode.current,power.limit,power.default_limit,power.max_limit,power.draw,'
                 'clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,temperature.gpu,'
                 'temperature.memory,persistence_mode,compute_mode')

PROCESSES = ('nvidia-smi', '--query-compute-apps=gpu_uuid,pid,process_name,used_memory', '--format=csv,noheader')

# Each is run if it is on the machine.
TOOLS = [
    ('nvidia-smi', '-q'),
    ('nvidia-smi', f'--query-gpu={NVIDIA_FIELDS}', '--format=csv'),
    ('nvidia-smi', 'topo', '-m'),
    PROCESSES,
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
# Of compute-sanitizer and ncu, where they cannot run at all: in a sandbox, or on a device that they do not know.
TOOL_CANNOT = re.compile(r'device not supported|failed to initialize the profiler|profiling is not supported|'
                         r'librarynotloaded|terminated before first instrumented|unable to attach|'
                         r'\berror 999\b|cudaErrorUnknown|: unknown error\b',
                         re.IGNORECASE)


def without_serials(text):
    return SERIAL.sub(r'\1(left out)', text)


def find_tool(name):
    """In ROCM_PATH, on PATH, or where CUDA and ROCm put it."""
    root = os.environ.get('ROCM_PATH')
    for path in (f'{root}/bin' if root else None, None, '/usr/local/cuda/bin', '/opt/rocm/bin'):
        found = shutil.which(name, path=path)
        if found:
            return found
    return None


def why_tool_cannot(output):
    """The line in which a tool says that it cannot run here; '' if there is none."""
    lines = (re.sub(r'^=+(ERROR==)?\s*', '', line) for line in output.splitlines() if TOOL_CANNOT.search(line))
    return next(lines, '')


def ask_tools(log):
    said, hung = {}, set()
    for name, *arguments in TOOLS:
        program = find_tool(name)
        if program and name not in hung:
            done = running.run([program, *arguments], TOOL_LIMIT_S)
            hung |= {name} if done.status is None else set()
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
    if done.status is None:
        return {**nothing, 'words': f'{probe} list did not end within {done.seconds:.0f} s: a driver may hang'}
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


def others_on(device, tools):
    """The processes that NVIDIA's tool sees on the device, before the check uses it."""
    listed = tools.get(' '.join(PROCESSES), {'output': ''})['output'].splitlines()
    return [line.partition(',')[2].strip() for line in listed if device['uuid'] and line.startswith(device['uuid'])]


def describe(device, meters, log):
    host = platform.uname()
    return {'device': device, 'meters': meters, 'tools': ask_tools(log),
            'host': {'kernel': f'{host.system} {host.release}', 'machine': host.machine,
                     'cpus': os.cpu_count(), 'python': platform.python_version()}}
