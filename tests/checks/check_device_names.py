#!/usr/bin/python3
"""Does a record count for the accelerator named by its device?

The committed record is given other devices' names in a temporary folder; what pertoken reports of its
figures is compared with the record, and its refusals with the required messages.
"""
import json
import pathlib
import tempfile

from support.program import BAD_INPUT, Count, ROOT, expect, expect_exit, run
from support.records import save

LOAD_W = 345.5  # not the TDP
WORKLOAD = 'model = tinyllama-1.1b\nprecision = bf16\nbatch = 4\ncontext = 512\n'
OPTION = ('accelerators = 8\nlist_price = 30000 USD\nutilization = 70 %\npue = 1.2\n'
          'electricity_price = 0.1 USD/kWh\n')

# Device name, memory in GB, accelerator, lines of the workload, lines of the option, message.
CASES = [
    ('NVIDIA H200', 150, 'h200-sxm-141', 'scenario = decode\n', '', 'measured'),
    ('NVIDIA H200', 150, 'h200-sxm-141', 'basis = decode\n', '', 'measured'),
    ('AMD Instinct MI325X', 270, 'mi325x-256', 'scenario = decode\n', '', 'measured'),
    ('NVIDIA H200', 150, 'h200-sxm-141', '', 'record = machine.json\n', 'measured'),
    ('Some accelerator', 150, 'h200-sxm-141', '', 'record = machine.json\n', 'measured'),
    # A record that is not named never supplies a serving figure.
    ('NVIDIA H200', 150, 'h200-sxm-141', 'scenario = offline\n', '', 'no published throughput'),
    ('Some accelerator', 150, 'h200-sxm-141', 'scenario = decode\n', '', 'no published throughput'),
    ('NVIDIA H200', 150, 'h100-sxm5-80', '', 'record = machine.json\n',
     "record 'machine.json' is for 'h200-sxm-141' (NVIDIA H200), not 'h100-sxm5-80'"),
]


def record_of(name, memory_gb):
    source = next((ROOT / 'data' / 'measured').glob('tinyllama-1.1b-cpu-*.json'))
    record = json.loads(source.read_text())
    record['device'].update(backend='cuda', name=name, memory_bytes=memory_gb * 10 ** 9)
    for result in record['results']:
        result['load_power_w'] = LOAD_W
    return record


def compare(case, folder):
    name, memory_gb, accelerator, workload, option, _ = case
    folder.mkdir()
    save(folder / 'machine.json', record_of(name, memory_gb))
    scenario = folder / 'scenario.ini'
    scenario.write_text(f'[scenario]\ntitle = One option\n[workload]\n{WORKLOAD}{workload}'
                        f'[option a]\naccelerator = {accelerator}\n{OPTION}{option}')
    return run('compare', scenario, '--measurements', folder, '--data', ROOT / 'data', '-q')


def check(case, folder):
    done = compare(case, folder)
    measured = case[-1] == 'measured'
    expect_exit(done, 0 if measured else BAD_INPUT, case[-1])
    expect(measured == (str(LOAD_W) in done.stdout), f'the watts in\n{done.stdout}')
    expect('TDP' not in done.stdout + done.stderr, f'TDP in\n{done.stdout}{done.stderr}')


# Made up: what an H200 might measure, and what follows for an MI300X: 0.9 of between 0.7882 (mb017 of
# data/bandwidth.csv) and 4.5 / 4.8 of 5.3 TB/s, over the bytes of a step.
READ_BANDWIDTH, SHARE, BYTES = 4.5e12, 0.9, 4e9
PROJECTED = 4 * SHARE * (0.7882 + 4.5 / 4.8) / 2 * 5.3e12 / BYTES
PROJECTIONS = [
    # Accelerator, lines of the workload, lines of the option, the figure's grade, message.
    ('mi300x-192', '', 'projection = machine.json\n', 'projected', 'never measured: NVIDIA H200'),
    ('h200-sxm-141', '', 'projection = machine.json\n', 'measured', 'decode only, 95 % within'),
    # Requests whose context was measured, within 5 %, and others.
    ('mi300x-192', '', 'projection = machine.json\ninput_tokens = 500 token\noutput_tokens = 20 token\n', 'projected',
     'never measured: NVIDIA H200'),
    ('mi300x-192', '', 'projection = machine.json\ninput_tokens = 5000 token\noutput_tokens = 20 token\n', '',
     'decode at context 5010 on average'),
    ('mi300x-192', '', 'projection = machine.json\ninput_tokens = 500 token\noutput_tokens = 20 token\n'
     '[case long]\na.output_tokens = 9000 token\n', '', "option 'a' in case 'long': the records measured"),
    ('mi300x-192', '', 'projection = other.json\n', '', "no record named 'other.json'"),
    ('mi300x-192', '', 'projection = machine.json\nrecord = machine.json\n', '',
     'names a projection and evidence that outranks it'),
    ('mi300x-192', '', 'projection = machine.json\nthroughput = 5 token/s\n', '',
     'states a throughput and also names evidence for one'),
]


def explain(case, folder):
    accelerator, workload, option, _, _ = case
    folder.mkdir()
    record = record_of('NVIDIA H200', 150)
    for result in record['results']:
        result.update(read_bandwidth=READ_BANDWIDTH, read_bandwidth_share=SHARE, bytes_per_step=int(BYTES))
    save(folder / 'machine.json', record)
    scenario = folder / 'scenario.ini'
    conditions = WORKLOAD.replace('context = 512\n', '') if 'input_tokens' in option else WORKLOAD
    scenario.write_text(f'[scenario]\ntitle = One option\n[workload]\n{conditions}{workload}'
                        f'[option a]\naccelerator = {accelerator}\n{OPTION}{option}')
    return run('explain', scenario, 'a.decode_throughput', '--measurements', folder, '--data',
               ROOT / 'data', '-q', '--format', 'json')


def check_projection(case, folder):
    grade, said = case[-2:]
    done = explain(case, folder)
    expect_exit(done, 0 if grade else BAD_INPUT)
    words = ' '.join((done.stdout + done.stderr).split())
    expect(said in words, f'{said} in\n{words}')
    expect(not grade or f'"{grade}"' in words, f'{grade} in\n{words}')
    expect(grade != 'projected' or f'{PROJECTED:.9g}' in words, f'{PROJECTED} in\n{words}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(CASES):
            count.test(str(case), check, case, pathlib.Path(folder, str(number)))
        for number, case in enumerate(PROJECTIONS):
            count.test(str(case), check_projection, case, pathlib.Path(folder, f'projection-{number}'))
    count.finish()


if __name__ == '__main__':
    main()
