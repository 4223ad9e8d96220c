"""A record with decoding and prompts, their watts included, as a serving estimate: made by the probe of a tiny model,
with its figures replaced by round ones.
"""
from support.probing import probe, record_in, write_data
from support.program import expect
from support.records import load

CONTEXT = 36  # 32 tokens of input and half of 8 of output
DECODE, DECODE_W, IDLE_W = 400.0, 90.0, 50.0
SECONDS, WATTS = {16: 0.125, 32: 0.25 + 0.025}, {16: 110.0, 32: 130.0}
ERRORS = [0.222, 0.841]
SCENARIO = """\
[scenario]
title = Estimated
date = 2026-11-23
[workload]
model = tiny
precision = bf16
utilization = 60 %
context = 36
input_tokens = 32 token
output_tokens = 8 token
[common]
accelerators = 1
accelerators_per_node = 1
list_price = 1000 USD
list_price.quote = Q-1 2026-11-01
electricity_price = 0.1 USD/kWh
pue = 1.2
[option mine]
accelerator = cpu
record = record.json
"""


def measure(folder):
    """A record of the probe's, with every possible field."""
    write_data(folder / 'data')
    done = probe('run', '--device', 'cpu', '--model', 'tiny', '--data', folder / 'data', '--batch', '2', '--context',
                 str(CONTEXT), '--prefill', '16', '--time', '0.1', '-o', folder / 'measured')
    expect(done.returncode == 0, done.stderr)
    return load(record_in(folder / 'measured'))


def rounded(record):
    """The same with figures that are easy to add up."""
    result = record['results'][0]
    prompt, mixed = result['prefills'][0], result['mixed'][0]
    result.update(tokens_per_s=DECODE, step_seconds=result['batch'] / DECODE, ci95_low=399.0, ci95_high=401.0, grade='measured', load_power_w=DECODE_W,
                  idle_power_w=IDLE_W, window_tokens_per_s=None, samples=[], shares=[], energy_meter='a meter of the test', flags=dict.fromkeys(result['flags'], False))
    result['prefills'] = [{**prompt, 'positions': length, 'chunk': 16, 'seconds': SECONDS[length],
                           'ci95_low_s': None, 'ci95_high_s': None, 'tokens_per_s': length / SECONDS[length],
                           'load_power_w': WATTS[length], 'window_tokens_per_s': None, 'samples': []}
                          for length in (32, 16)]
    result['mixed'] = [{**mixed, 'steps_s': error, 'chunk_s': 1.0, 'mixed_s': 1.0, 'sum_error': error}
                       for error in ERRORS]
    return record
