"""Runs the probe with tiny models, on the CPU or on a test GPU on which nothing takes time."""
import csv
import pathlib
import re
import resource
import shutil
import sys

from support.program import Count, DEEP, PROBE, ROOT, Skip, expect, run, skip_all

TIMEOUT_S = 200
NEEDED_BYTES = 3 << 30  # of memory, to measure

MODEL = 'smollm-135m'
KV_BYTES = 23040  # of one token, all layers
RUN = ('run', '--data', str(ROOT / 'data'), '--model', MODEL, '--time', '0.3')

SCHEMA = int(re.search(r'MEASUREMENT_SCHEMA (\d+)', (ROOT / 'model/records/measurement.h').read_text()).group(1))
TINY = {'id': 'tiny', 'layers': 2, 'hidden': 128, 'heads': 4, 'kv_heads': 2, 'head_dim': 32,
        'ffn_hidden': 384, 'vocab': 512}
MIXTURE = {'id': 'mixture', 'layers': 2, 'hidden': 64, 'heads': 4, 'kv_heads': 2, 'head_dim': 32,
           'ffn_hidden': 160, 'vocab': 512, 'experts': 6, 'experts_per_token': 2, 'sliding_window': 16}
LATENT = {'id': 'latent', 'layers': 2, 'hidden': 64, 'heads': 4, 'kv_heads': 4, 'head_dim': 48, 'ffn_hidden': 80,
          'vocab': 512, 'experts': 6, 'experts_per_token': 2, 'first_dense_layers': 1, 'dense_ffn_hidden': 96,
          'q_lora_rank': 32, 'kv_lora_rank': 32, 'qk_nope_dim': 32, 'qk_rope_dim': 16, 'v_head_dim': 32,
          'expert_groups': 2, 'kept_expert_groups': 1}
EMULATOR = PROBE.parent / 'tests' / 'lib' / 'emulatormma.so'  # test GPUs that compute
METERED = PROBE.parent / 'tests' / 'metered'  # a test GPU


def probe(*arguments, file_limit=None, **options):
    def limit():
        if file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    return run(*arguments, program=PROBE, timeout=TIMEOUT_S, preexec_fn=limit, **options)


def record_in(directory):
    names = list(pathlib.Path(directory).glob('*.json'))
    expect(len(names) == 1, f'one record expected, found {names}')
    return names[0]


def write_data(folder):
    """The catalogue with three more tiny models: like tinyllama, like gpt-oss and like DeepSeek."""
    shutil.copytree(ROOT / 'data', folder, ignore=shutil.ignore_patterns('measured'))
    with open(folder / 'models.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    for like, tiny in (('tinyllama-1.1b', TINY), ('gpt-oss-20b', MIXTURE), ('deepseek-v3', LATENT)):
        rows.append({**next(row for row in rows if row['id'] == like), **tiny})
    with open(folder / 'models.csv', 'w', newline='') as file:
        writer = csv.DictWriter(file, rows[0], lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)


def with_plugins(folder):
    return {'PERTOKEN_PLUGINS': folder}


def emulated(directory, **settings):
    """The environment of a run on emulated GPUs, which compute; `settings` say how many and which."""
    if not EMULATOR.exists():
        raise Skip('the emulator is not built')
    plugins = directory / 'plugins'
    plugins.mkdir()
    (plugins / 'emulator.so').symlink_to(EMULATOR)
    return {**with_plugins(plugins), **settings}


def at_once(directory):
    """(arguments, environment) of a tiny model on the test GPU: nothing takes time there."""
    write_data(directory / 'data')
    model = ('--data', directory / 'data', '--model', 'tiny', '--context', '64')
    if not (METERED / 'metered.so').exists():
        return model, None
    return (*model, '--device', 'cuda'), with_plugins(METERED)


def soon(directory):
    """A run of a tiny model on the CPU, for what does not depend on the model."""
    write_data(directory / 'data')
    return ('run', '--data', directory / 'data', '--model', 'tiny', '--context', '64', '--time', '0.3')


def free_bytes():
    for line in pathlib.Path('/proc/meminfo').read_text().splitlines():
        if line.startswith('MemAvailable:'):
            return 1024 * int(line.split()[1])
    return 0


def need_memory():
    if free_bytes() < NEEDED_BYTES:
        raise Skip('under 3 GiB of memory are free')


def run_probe_tests(script, deep_only=()):
    """Runs a script's functions test_x, each with a folder of its own; some only in the deep run, or by their names."""
    if not PROBE.exists():
        skip_all(f'{PROBE} is not built')
    count = Count()
    count.tests_in_folders({name: test for name, test in script.items() if DEEP or sys.argv[1:] or test not in deep_only})
    count.finish()
