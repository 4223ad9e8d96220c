#!/usr/bin/python3
"""The shipped figures of accelerators, held against each other: what one table says of a part must not
contradict what another measured of it.
"""
from pathlib import Path

from support.program import DONE, expect, expect_exit, run, run_tests, table

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


if __name__ == '__main__':
    run_tests(globals())
