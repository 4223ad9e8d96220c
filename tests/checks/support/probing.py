"""Runs the probe with tiny models, on the CPU or on a test GPU on which nothing takes time."""
import csv
import pathlib
import re
import resource
import shutil

from support.program import PROBE, ROOT, expect, run

TIMEOUT_S = 200

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
