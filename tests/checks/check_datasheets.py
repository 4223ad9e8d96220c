#!/usr/bin/python3
"""The shipped figures of accelerators, held against each other: what one table says of a part must not
contradict what another measured of it.
"""
import json
from pathlib import Path

from support.program import DONE, ROOT, expect, expect_exit, run, run_tests, table

LIMITED = """\
[scenario]
title = At the limit that its submitter set
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp8
scenario = {scenario}
[common]
accelerators = 8
utilization = 70 %
electricity_price = 0.08 USD/kWh
pue = 1.25
list_price = 30000 USD
[option limited]
accelerator = h200-sxm-141
power_limit = 500 W/gpu
evidence = {evidence}
"""


def test_max_q(folder):
    """MaxQ is NVIDIA's name for a run at a power limit, so that each such row has one, and runs at it."""
    limited = {id: row for id, row in table('throughput').items() if 'MaxQ' in row['notes']}
    expect(limited and all(row['power_limit_w'] for row in limited.values()), limited)
    for evidence, scenario in (('tp0608', 'offline'), ('tp0609', 'server')):
        path = Path(folder, 'limited.ini')
        path.write_text(LIMITED.format(evidence=evidence, scenario=scenario), encoding='utf-8')
        expect_exit(run('compare', path), DONE, evidence)


def test_watts(_):
    """No accelerator draws more on average than its TDP: either the row is doubtful, or the TDP is wrong."""
    tdp_w = {id: row['tdp_w'] for id, row in table('accelerators').items()}
    measured = [row for row in table('throughput').values()
                if row['avg_gpu_power_w_total'] and tdp_w[row['accelerator']] and not row['doubt']]
    expect(measured, 'no row has measured watts')
    for row in measured:
        mean_w = float(row['avg_gpu_power_w_total']) / float(row['num_gpus'])
        expect(mean_w <= float(tdp_w[row['accelerator']]), (row['id'], mean_w, tdp_w[row['accelerator']]))


def test_complete(_):
    """What can be bought or rented has a memory and a bandwidth: without them a part can be neither sized nor scaled."""
    for id, row in table('accelerators').items():
        expect(row['status'] == 'announced' or row['memory_gb'] and row['memory_bw_tbs'], (id, row['status']))


def test_server_edition(folder):
    """The RTX PRO 6000 of servers reads 1.597 TB/s, as NVIDIA's page says; 1.792 is the workstation's."""
    draft = Path(folder, 'draft.ini')
    expect_exit(run('new', 'rtx-pro-6000', 'l40s', '--model', 'llama-3.1-8b', '--count', 64, '-o', draft), DONE)
    expect('times 1.85 by memory bandwidth' in draft.read_text(encoding='utf-8'), draft.read_text(encoding='utf-8'))


def test_memory(_):
    """A driver reports at least the decimal gigabytes of the datasheet, and at most as many GiB."""
    for id, row in table('accelerators').items():
        if row['usable_bytes']:
            said = float(row['memory_gb'])
            expect(1e9 * said <= float(row['usable_bytes']) <= 2 ** 30 * said, (id, row['usable_bytes']))
        expect(all(bool(row[f'usable_bytes{more}']) == bool(row['usable_bytes']) for more in ('_source_url', '_as_of')), id)


def test_recorded_memory(_):
    """A runtime reports what the driver does, less a little of its own."""
    known = {name: row for row in table('accelerators').values() for name in row['device_names'].split(';')}
    devices = [json.loads(path.read_text())['device'] for path in sorted((ROOT / 'data/measured').glob('*.json'))]
    judged = [(device, known[device['name']]) for device in devices
              if isinstance(device, dict) and device['name'] in known]
    expect(judged, 'no record of an accelerator')
    for device, row in judged:
        expect(abs(device['memory_bytes'] / float(row['usable_bytes']) - 1) < 0.02, (device['name'], row['usable_bytes']))


def test_intensities(_):
    """What a grid's intensity counts is said in its row: whoever reports Scope 2 needs another."""
    grids = [row for row in table('carbon').values() if row['category'] == 'grid_intensity']
    expect(grids and all('lifecycle, location-based' in row['notes'] for row in grids), grids[:1])


if __name__ == '__main__':
    run_tests(globals())
