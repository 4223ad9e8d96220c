#!/usr/bin/python3
"""Does a record speak for the accelerator that its device is by name?

The committed record is given other devices' names in a temporary folder; what pertoken says of its
figures is compared with the record, and its refusals with what they must say.
"""
import json
import pathlib
import tempfile

import check_probe
from support.program import BAD_INPUT, Count, ROOT, expect, expect_exit, run

LOAD_W = 345.5  # and not the TDP
WORKLOAD = 'model = tinyllama-1.1b\nprecision = bf16\nbatch = 4\ncontext = 512\n'
OPTION = ('accelerators = 8\nlist_price = 30000 USD\nutilization = 70 %\npue = 1.2\n'
          'electricity_price = 0.1 USD/kWh\n')

# Device name, memory in GB, accelerator, lines of the workload, lines of the option, what is said.
CASES = [
    ('NVIDIA H200', 150, 'h200-sxm-141', 'scenario = decode\n', '', 'measured'),
    ('NVIDIA H200', 150, 'h200-sxm-141', 'basis = decode\n', '', 'measured'),
    ('AMD Instinct MI325X', 270, 'mi325x-256', 'scenario = decode\n', '', 'measured'),
    ('NVIDIA H200', 150, 'h200-sxm-141', '', 'record = machine.json\n', 'measured'),
    ('Some accelerator', 150, 'h200-sxm-141', '', 'record = machine.json\n', 'measured'),
    # Serving is never filled by a record that nobody named.
    ('NVIDIA H200', 150, 'h200-sxm-141', 'scenario = offline\n', '', 'no published throughput'),
    ('Some accelerator', 150, 'h200-sxm-141', 'scenario = decode\n', '', 'no published throughput'),
    ('NVIDIA H200', 150, 'h100-sxm5-80', '', 'record = machine.json\n',
     "record 'machine.json' is of 'h200-sxm-141' (NVIDIA H200), not of 'h100-sxm5-80'"),
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
    check_probe.save(folder / 'machine.json', record_of(name, memory_gb))
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


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(CASES):
            count.test(str(case), check, case, pathlib.Path(folder, str(number)))
    count.finish()


if __name__ == '__main__':
    main()
