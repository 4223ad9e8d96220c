#!/usr/bin/python3
"""Records as files: their digest, and serving records as an engine's client would write them.

`records.py FOLDER` writes a few of these, for the fuzzer.
"""
import hashlib
import json
import sys
from json.encoder import encode_basestring
from pathlib import Path

SERVING_SCHEMA = 13
NO_LATENCY = dict.fromkeys(('mean_s', 'p50_s', 'p90_s', 'p95_s', 'p99_s', 'std_s'))
NO_POWER = {'source': '', 'covers': 'nothing', 'devices': 0, 'which': '', 'load_power_w': None,
            'idle_power_w': None, 'energy_j': None, 'window_s': None, 'power_limit_w': None,
            'clock_offset_s': None, 'remark': ''}
RUNG = {'load': 'closed loop', 'concurrency': 1.0, 'mean_concurrency': None, 'request_rate': None,
        'input_tokens': 1024.0, 'output_tokens': 256.0, 'asked_input_tokens': None,
        'asked_output_tokens': None, 'cached_share': None, 'window_s': 60.0, 'completed': 700.0,
        'failed': 0.0, 'output_tokens_per_s': 100.0, 'input_tokens_per_s': 400.0, 'ttft': NO_LATENCY,
        'tpot': NO_LATENCY, 'tpot_requests': None, 'end_to_end': NO_LATENCY, 'chunk_gap': NO_LATENCY, 'slo_ttft_s': None,
        'slo_tpot_s': None, 'goodput_per_s': None, 'accepted_length': None, 'power': NO_POWER,
        'client_cpu_share': None, 'server_counters': '', 'refused': '', 'seed': 0, 'started': '',
        'finished': ''}
RECORD = {'schema': SERVING_SCHEMA, 'record': 'engine run', 'basis': 'serving', 'tool': 'pertoken-probe',
          'tool_version': '', 'engine': 'vLLM', 'engine_version': '0.10.1',
          'accelerator': 'h200-sxm-141', 'device': '', 'node': '', 'accelerators': 8, 'precision': 'fp8',
          'activations': '', 'kv': '',
          'model': 'llama-2-70b', 'served_model': '', 'url': '', 'prompts': '', 'speculation': '',
          'input_accelerators': 0, 'output_accelerators': 0, 'published_title': '',
          'published_url': '', 'remarks': '', 'files': [], 'started': '', 'finished': '',
          'date': '2026-11-01', 'grade': 'measured'}


# The canonical form over which the digest is computed, implemented independently on purpose.
def canonical_real(value):
    mantissa, e, exponent = f'{value:.17g}'.partition('e')
    if not e:
        return mantissa if '.' in mantissa else mantissa + '.0'
    return f'{mantissa}e{int(exponent)}'


def canonical(value):
    if isinstance(value, dict):
        return '{' + ','.join(f'{encode_basestring(k)}:{canonical(v)}'
                              for k, v in sorted(value.items())) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(canonical, value)) + ']'
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float):
        return canonical_real(value)
    return json.dumps(value, ensure_ascii=False)


def written(value, line='\n'):
    """As the programs write a record: a member or an element a line, reals in full."""
    inner = line + ' '
    if isinstance(value, dict) and value:
        return '{' + ','.join(f'{inner}{encode_basestring(k)}: {written(v, inner)}' for k, v in value.items()) + line + '}'
    if isinstance(value, list) and value:
        return '[' + ','.join(inner + written(element, inner) for element in value) + line + ']'
    return canonical(value)


def load(path):
    return json.loads(path.read_text())


def digest_of(record):
    bare = {key: value for key, value in record.items() if key != 'digest'}
    return hashlib.sha256(canonical(bare).encode()).hexdigest()


def save(path, record):
    record['digest'] = digest_of(record)
    path.write_text(canonical(record))


def rung(concurrency, tokens_per_s, watts=None, **changes):
    """A rung of a closed loop on eight accelerators, with their watts."""
    power = NO_POWER if watts is None else {**NO_POWER, 'source': 'nvml, 8 devices', 'devices': 8,
                                            'covers': 'accelerators', 'load_power_w': float(watts)}
    return {**RUNG, 'concurrency': float(concurrency), 'output_tokens_per_s': float(tokens_per_s),
            'power': power, **changes}


def serving(*rungs, **changes):
    return {**RECORD, **changes, 'rungs': list(rungs)}


def examples():
    """One for every load and basis."""
    yield serving(rung(1, 100, 2000), rung(2, 190, 3000), {**RUNG, 'refused': 'requests failed'})
    yield serving({**RUNG, 'load': 'Poisson arrivals', 'concurrency': None, 'request_rate': 2.5},
                  grade='published', published_title='A study', published_url='https://example.org')
    yield serving({**RUNG, 'load': 'static batch'}, basis='decode')


def main():
    folder = Path(sys.argv[1])
    for number, record in enumerate(examples()):
        save(folder / f'serving-{number}.json', record)


if __name__ == '__main__':
    main()
