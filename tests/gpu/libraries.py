"""libraries: whether the drivers' libraries can be loaded, checked before anything else: without them
every step fails in its own way. If they are found elsewhere on the machine, they are put on the
path."""
import os
import pathlib
import platform
import re
import sys

import running
from running import DONE, MISSING, Outcome

# For each device's backend: one of each row must load.
NEEDED = {
    'cuda': [('libcuda.so.1',), ('libnvidia-ml.so.1',)],
    'hip': [('libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so.5', 'libamdhip64.so'),
            ('libamd_smi.so', 'libamd_smi.so.27', 'libamd_smi.so.26', 'libamd_smi.so.25', 'librocm_smi64.so',
             'librocm_smi64.so.7')],
}
# Where containers and vendors' images put them without informing the loader.
FOLDERS = ('/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/local/nvidia/lib64',
           '/usr/local/nvidia/lib', '/usr/local/cuda/compat', '/usr/lib/wsl/lib', '/opt/rocm/lib',
           '/opt/rocm/lib64')
LOAD_LIMIT_S = 20
# In a separate process: a library that crashes while it is loaded does not end the check. A line for
# each.
LOAD = '''import ctypes, sys
for name in sys.argv[1:]:
    path, why = '', ''
    try:
        ctypes.CDLL(name)
        with open('/proc/self/maps') as maps:
            start = name.split('/')[-1].split('.so')[0]
            path = next((line.split()[-1] for line in maps if start in line), name)
    except OSError as error:
        why = str(error)
    print(name, path, why, sep='\\t', flush=True)'''
NEEDS_GLIBC = re.compile(rb'GLIBC_(\d+)\.(\d+)')
# ELF's e_machine (System V ABI; its supplements for these processors), and what uname calls them.
ELF_MACHINES = {62: 'x86_64', 183: 'aarch64'}


def load(names):
    """{name: (the file it is, '') or ('', why not)}."""
    done = running.run([sys.executable, '-c', LOAD, *names], LOAD_LIMIT_S)
    found = {name: ('', 'loading it ends the process') for name in names}
    for line in done.output.splitlines():
        name, path, why = (line.split('\t') + ['', ''])[:3]
        if name in found:
            found[name] = (path, why)
    return found


def look(names, loaded, folders):
    """(file, why not, folder): a folder in which the loader does not look by default, or ''."""
    for name in names:
        if loaded[name][0]:
            return loaded[name][0], '', ''
    whys = [loaded[name][1] for name in names]
    for path in (str(pathlib.Path(folder) / name) for name in names for folder in folders):
        if os.path.exists(path):
            found, why = load([path])[path]
            if found:
                return found, '', os.path.dirname(path)
            whys.append(why)
    return '', whys[-1], ''


def by_path(backend, names):
    """ROCM_PATH, if set, takes precedence over what the loader finds, as in the probe."""
    root = os.environ.get('ROCM_PATH') if backend == 'hip' else ''
    return [f'{root}/lib/{name}' for name in names if root] + list(names)


def add_to_path(folder):
    """For every program that the check starts."""
    kept = os.environ.get('LD_LIBRARY_PATH', '')
    os.environ['LD_LIBRARY_PATH'] = f'{folder}:{kept}' if kept else str(folder)


def examine(wanted='', needed=None, folders=FOLDERS):
    """The outcome: for each library, its place or why it does not load. A vendor without any of its
    libraries is skipped, unless it is requested by name."""
    words, paths, is_short, needed = [], {}, False, needed or NEEDED
    loaded = load([name for backend, rows in needed.items() for names in rows for name in by_path(backend, names)])
    for backend, rows in needed.items():
        found = [(names[0], *look(by_path(backend, names), loaded, folders)) for names in rows]
        if not any(path for _, path, _, _ in found) and wanted.partition(':')[0] != backend:
            continue
        for name, path, why, folder in found:
            paths[name] = path
            is_short = is_short or not path
            words.append(f'{name} does not load: {why}' if not path else
                         f'{path}{" (put on the path)" if folder else ""}')
            if folder:
                add_to_path(folder)
    if not words:
        return Outcome(MISSING, "no driver's library is here, neither NVIDIA's nor AMD's", libraries={})
    return Outcome(MISSING if is_short else DONE, '; '.join(words), libraries=paths)


def processor_of(image):
    """What uname calls the processor that an ELF file's bytes are for; '' if they are no such file."""
    return ELF_MACHINES.get(image[18] + 256 * image[19], '') if image[:4] == b'\x7fELF' and len(image) > 19 else ''


def why_not_started(program):
    """Why a program that was brought here cannot start: it is for another processor, or for a newer C
    library, which is the machine's own. '' if it is neither."""
    try:
        image = program.read_bytes()
    except OSError:
        return ''
    processor = processor_of(image)
    if processor and processor != platform.machine():
        return f'{program.name} is for {processor}, and this machine is {platform.machine()}: pack it on such a machine'
    here = tuple(map(int, re.findall(r'\d+', platform.libc_ver()[1])[:2]))
    needs = max((tuple(map(int, found)) for found in NEEDS_GLIBC.findall(image)), default=())
    if not here or needs <= here:
        return ''
    return f'{program.name} needs glibc {needs[0]}.{needs[1]}, and here is {here[0]}.{here[1]}'
