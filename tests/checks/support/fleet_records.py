#!/usr/bin/python3
"""Records of a made-up fleet, as the probe would write them on each of its nodes.

`fleet_records.py FOLDER` writes those of examples/fleet: eight nodes of four devices; one device is slow, one node has
another driver and one has not reported. `fleet_records.py FOLDER delivery` writes those of examples/acceptance: eight
nodes of eight devices, each run twice; one node is slow. `fleet_records.py FOLDER served` writes those of
examples/acceptance/served: the same nodes as servers under load, each three times. None of them was measured, and each
record says so.
"""
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.records import NO_LATENCY, RUNG, digest_of, save, serving, written  # noqa: E402

SCHEMA = 11
Z_95 = 1.959963984540054  # standard errors to either side of a 95 % interval
MADE_UP = 'made up: nobody has measured this'
SHAPE = {'id': 'llama-2-70b', 'layers': 80, 'hidden': 8192, 'heads': 64, 'kv_heads': 8, 'head_dim': 128,
         'ffn_hidden': 28672, 'vocab': 32000, 'norm_epsilon': 1e-05, 'rope_theta': 10000.0}
LLAMA = {'layer': {'norm': 'rms', 'mlp': 'swiglu', 'window': 0, 'full_every': 0, 'score_scale': None,
                   **dict.fromkeys(('parallel', 'qk_norm', 'sinks', 'bias_qkv', 'bias_output', 'bias_mlp',
                                    'bias_router'), False)},
         'rope': {'scaling': 'plain', 'factor': None, 'low': None, 'high': None, 'magnitude': None,
                  'original_context': 0, 'whole': False, 'interleaved': False},
         'latent': dict.fromkeys(('rank', 'query_rank', 'rope_dim', 'value_dim'), 0),
         'experts': {'router': 'softmax_chosen', 'scale': None,
                     **dict.fromkeys(('count', 'chosen', 'hidden', 'shared_hidden', 'dense_layers', 'groups',
                                      'kept_groups'), 0)}}
TYPES = {'weights': 'e4m3', 'activations': 'bf16', 'kv': 'e4m3', 'head': 'bf16', 'accumulation': 'f32'}
FLAGS = dict.fromkeys(('cache_resident', 'noisy', 'unconverged', 'drift', 'bandwidth_void',
                       'sampling_inconsistent', 'thermal_unsettled'), False)
NOTHING = {'min': None, 'median': None, 'max': None}
NO_TELEMETRY = {'source': '', 'looks': 0, 'window_s': None, 'core_clock_hz': NOTHING, 'memory_clock_hz': NOTHING,
                'core_temperature_c': NOTHING, 'memory_temperature_c': NOTHING, 'throttles': []}
NO_WINDOW = {'sensed': False, 'end_s': [], 'power_w': []}
NO_BESIDE = {'soak_s': None, 'module_power_w': None, 'host_meter': '', 'host_idle_power_w': None,
             'host_load_power_w': None, 'wall_meter': '', 'wall_power_w': None}
ALONE = {'devices': 0, 'tokens_per_s': None, 'slowest': None, 'fastest': None, 'total_tokens_per_s': None,
         'load_power_w': None, 'host_load_power_w': None, 'window_s': None, 'telemetry': NO_TELEMETRY}
STATE = {'driver': '580.95.05', 'vbios': '96.00.A5.00.01', 'ecc': 'enabled', 'partition': 'whole',
         'power_limit_w': 700.0, 'default_power_limit_w': 700.0, 'other_processes': 0.0}


def telemetry(clock_hz, throttles=()):
    return {**NO_TELEMETRY, 'source': 'nvml', 'looks': 100, 'window_s': 20.0,
            'core_clock_hz': dict.fromkeys(NOTHING, clock_hz),
            'throttles': [{'reason': reason, 'seconds': 5.0} for reason in throttles]}


def result(tokens_per_s, power_w, error=0.001, batch=64, throttles=(), when='2026-11-21T09:30:00Z'):
    step_s = batch / tokens_per_s
    return {'model': SHAPE, 'precision': 'fp8', 'types': TYPES, 'batch': batch, 'context': 4096,
            'whole_model': True, 'layers_measured': 80, 'grade': 'measured',
            'step_form': {'form': 'recorded graph', 'fallback': ''}, 'flags': FLAGS,
            'tokens_per_s': batch / step_s, 'ci95_low': tokens_per_s * (1 - Z_95 * error),
            'ci95_high': tokens_per_s * (1 + Z_95 * error), 'step_seconds': step_s, 'p5_s': step_s, 'p95_s': step_s,
            'layer_seconds': step_s / 80, 'bytes_per_step': 1, 'operations_per_step': 1, 'resident_bytes': 1,
            'cost_formula': MADE_UP, 'read_bandwidth': None, 'read_bandwidth_after': None,
            'read_bandwidth_share': None, 'share_p5': None, 'share_p95': None, 'share_ci95_low': None,
            'share_ci95_high': None, 'energy_meter': 'nvml', 'idle_power_w': 75.0, 'load_power_w': power_w,
            'sampled_power_w': power_w, 'joules_per_token': power_w / (batch / step_s), 'energy_j': power_w * 20.0,
            'energy_window_s': 20.0, 'power_slope_w_per_s': 0.0,
            'readings': {'idle': NO_WINDOW, 'load': NO_WINDOW}, 'beside': NO_BESIDE,
            'telemetry': telemetry(1.83e9, throttles), 'together': ALONE,
            'shard': {'of': 0, 'step_seconds': None, 'all_reduce_s': None, 'source': ''},
            'tensor_parallel': {'devices': 0, 'members': [], 'library': '', 'all_reduce_s': None,
                                'all_reduce_bytes': 0},
            'verification': {'what': MADE_UP, 'max_error': 0.001, 'tolerance': 0.01, 'token_checksum': '00'},
            'seed': 1, 'started': when, 'finished': when, 'slice_error_s': None, 'slices': [], 'samples': [step_s]}


def record(node, device, results, state=None, uuid=None, kernels='00ff'):
    """What the probe would write about the device with that number in that node."""
    made = {'schema': SCHEMA, 'basis': 'decode',
            'device': {'backend': 'cuda', 'index': device, 'name': 'NVIDIA H200',
                       'uuid': uuid or f'GPU-{node}-{device}', 'pci': f'0000:{0x1a + 0x10 * device:02x}:00.0',
                       'runtime': 'CUDA 13.0', 'memory_bytes': 150754820096, 'cache_bytes': 62914560,
                       'reported_cache_bytes': 62914560, 'units': 132},
            'environment': {'node': node, 'kernel': 'Linux 6.1', 'cpu_flags': '', 'governor': 'performance',
                            'load_average': 0.5, 'threads': 0, 'tool_version': '0.1.0', 'kernels_build': kernels,
                            'remarks': MADE_UP, 'device_state': {**STATE, **(state or {})}},
            'started': results[0]['started'], 'finished': results[-1]['finished'], 'results': results}
    made['digest'] = digest_of(made)
    return made


def with_links(made, links):
    """The record as of schema 15, which states the links of a device and has wall power for all devices."""
    for one in made['results']:
        one['model'] = {**one['model'], **LLAMA}
        one['types'] = {**one['types'], 'experts': ''}
        one['step_form'] = {**one['step_form'], 'arithmetic': ''}
        one['telemetry'] = {**one['telemetry'], 'links': links}
        one['together'] = {'wall_power_w': None, **one['together'], 'telemetry': {**NO_TELEMETRY, 'links': ''}}
        one.update(routing={'policy': '', 'skew': None, 'touched': None, 'expected': None, 'expert_bytes': 0},
                   prefills=[], mixed=[])
    made['schema'] = 15
    made['digest'] = digest_of(made)
    return made


def with_variant(made, variant):
    """The record as of schema 16, which states the variant of the probe's kernels."""
    made = with_links(made, '')
    for one in made['results']:
        one['step_form'] = {**one['step_form'], 'variant': variant}
        one['variants'] = []
    made['schema'] = 16
    made['digest'] = digest_of(made)
    return made


def write(folder, made, name=None):
    node, device = made['environment'].get('node'), made['device']['index']
    path = Path(folder) / f'{name or f"{node}-{device}"}.json'
    path.write_text(written(made) + '\n')
    return path


def example(folder):
    draw = random.Random(23)
    for number in range(1, 8):  # node-08 has not reported
        node = f'node-{number:02d}'
        state = {'driver': '575.57.08'} if number == 6 else None
        for device in range(4):
            rate, power = draw.gauss(1160, 9) * (0.975 if device == 3 else 1), draw.gauss(548, 6)
            slow = (number, device) == (3, 2)
            write(folder, record(node, device, [result(rate * (0.9 if slow else 1), power,
                                                       throttles=['thermal'] if slow else ())], state))
    (Path(folder).parent / 'nodes.csv').write_text(
        'node,rack\n' + ''.join(f'node-{number:02d},{"A" if number < 5 else "B"}\n' for number in range(1, 9)))


def delivery(folder):
    draw = random.Random(31)
    for number in range(1, 9):
        node, level = f'node-{number:02d}', draw.gauss(1158, 5) * (0.92 if number == 5 else 1)
        devices = [level * (1 + draw.gauss(0, 0.006)) for _ in range(8)]
        runs = [draw.gauss(1, 0.002) for _ in range(2)]
        for device, rate in enumerate(devices):
            watts = draw.gauss(548, 6)
            results = [result(rate * runs[r] * (1 + draw.gauss(0, 0.001)), watts * (1 + draw.gauss(0, 0.002)),
                              when=f'2027-01-{14 + r}T09:30:00Z') for r in range(2)]
            path = write(folder, record(node, device, results))
            path.write_text(json.dumps(json.loads(path.read_text()), separators=(',', ':')) + '\n')


def latency(p50, p99):
    """With an exponential tail above the median."""
    share = {'p90_s': 0.41, 'p95_s': 0.59}
    return {**NO_LATENCY, 'mean_s': p50 * 1.3, 'p50_s': p50, 'p99_s': p99,
            **{key: p50 + part * (p99 - p50) for key, part in share.items()}}


def served(folder):
    draw = random.Random(47)
    for number in range(1, 9):
        level = 1.78 * draw.gauss(1, 0.02) * (1.45 if number == 6 else 1)
        for run in range(3):
            p99, tpot, watts = level * draw.gauss(1, 0.03), draw.gauss(0.0361, 0.0004), draw.gauss(8 * 612, 25)
            rung = {**RUNG, 'load': 'Poisson arrivals', 'concurrency': None, 'request_rate': 8.0, 'window_s': 120.0,
                    'asked_input_tokens': 1024.0, 'asked_output_tokens': 256.0, 'completed': float(draw.randint(930, 990)),
                    'output_tokens_per_s': 2048.0 * draw.gauss(1, 0.004), 'input_tokens_per_s': 8192.0,
                    'ttft': latency(0.31, p99), 'tpot': latency(tpot * 0.8, tpot * 1.5),
                    'power': {**RUNG['power'], 'source': 'nvml, 8 devices', 'covers': 'accelerators', 'devices': 8,
                              'load_power_w': watts}, 'server_counters': 'agree', 'started': f'2027-01-{14 + run}T09:30:00Z',
                    'finished': f'2027-01-{14 + run}T09:32:00Z'}
            save(Path(folder) / f'node-{number:02d}-{run + 1}.json', serving(
                rung, node=f'node-{number:02d}', device='NVIDIA H200', url='http://localhost:8000', remarks=MADE_UP,
                prompts='token ids, completions', tool_version='0.1.0', date=f'2027-01-{14 + run}',
                started=rung['started'], finished=rung['finished']))


WRITERS = {'example': example, 'delivery': delivery, 'served': served}

if __name__ == '__main__':
    WRITERS[sys.argv[2] if len(sys.argv) > 2 else 'example'](Path(sys.argv[1]))
