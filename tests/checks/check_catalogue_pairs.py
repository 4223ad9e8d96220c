#!/usr/bin/python3
"""Every accelerator with every model that the source documents name, as a scenario.

    check_catalogue_pairs.py

If the catalogue has a throughput for the pair, the scenario runs on the best available grade. If it
has none, the run says what is missing and who would have to supply it. PERTOKEN names the program.
"""
import re
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, expect, run, run_json, table

# As named in the documents.
ACCELERATORS = {
    'MI300X': 'mi300x-192', 'MI325X': 'mi325x-256', 'MI350X': 'mi350x-288', 'MI355X': 'mi355x-288',
    'MI400': 'mi455x-432', 'H100 SXM5': 'h100-sxm5-80', 'H200': 'h200-sxm-141', 'B200': 'b200-sxm-180',
    'B300': 'b300-sxm-288', 'GB200': 'gb200-nvl72', 'A100': 'a100-sxm4-80', 'TPU v5e': 'tpu-v5e',
}
MODELS = {
    'Llama 2 70B': 'llama-2-70b', 'Llama 3 70B': 'llama-3.1-70b', 'Mixtral 8x22B': 'mixtral-8x22b',
    'Mistral 7B': 'mistral-7b', 'Falcon 40B': 'falcon-40b', 'Falcon 180B': 'falcon-180b',
    'GPT-OSS-120B': 'gpt-oss-120b',
}
# For these nothing is published that states what it counts, so no pair with them can run.
WITHOUT_ANY = {'MI400', 'TPU v5e', 'Falcon 40B'}

HEAD = '''[scenario]
title = {accelerator} with {model}
date = 2026-11-22
[workload]
model = {model}
{workload}[common]
accelerators = 72
accelerators_per_node = 8
electricity_price = 0.08 USD/kWh
pue = 1.25
utilization = 70 %
rental_rate = 3 USD/gpu/h
[option o]
accelerator = {accelerator}
'''


def grade(row):
    if row['kind'] != 'published_benchmark':
        return {'published_study': 'published', 'seed_claim': 'claim'}[row['kind']]
    return 'benchmark' if row['source_title'].startswith('MLPerf') else 'published'


ORDER = ('benchmark', 'published', 'claim')
VENDORS = {row['id']: row['vendor'] for row in table('accelerators').values()}
THROUGHPUT = [row for row in table('throughput').values() if row['token_basis'] == 'output' and
              not row['speculation'] and row['scenario'] != 'agentic']


def best_of(accelerator, model):
    """A row of the best grade, or None."""
    rows = [row for row in THROUGHPUT if (row['accelerator'], row['model']) == (accelerator, model)]
    return min(rows, key=lambda row: (ORDER.index(grade(row)), row['id']), default=None)


def workload_of(row):
    said = ''.join(f'{key} = {row[key]}\n' for key in ('precision', 'activations', 'scenario') if row[key])
    if grade(row) != 'benchmark' and row['isl']:
        said += f'input_tokens = {row["isl"]} token\noutput_tokens = {row["osl"]} token\n'
    return said


def runs(path, accelerator, model, row):
    path.write_text(HEAD.format(accelerator=accelerator, model=model, workload=workload_of(row)), encoding='utf-8')
    option = run_json('compare', path)['options'][0]
    expect(option['grades']['throughput'] == grade(row), f'{option["grades"]}, {row["id"]}')
    expect(option['items']['cost_per_mtok'] > 0, 'it has no cost')
    expect(option['workload']['model'] == MODELS.get(model, model), option['workload'])


def says_what_is_missing(path, accelerator, model):
    path.write_text(HEAD.format(accelerator=accelerator, model=model, workload=''), encoding='utf-8')
    done = run('compare', path)
    vendor = VENDORS[ACCELERATORS[accelerator]]
    said = re.search(rf'no published throughput of .*\({vendor} or an operator would have to',
                     done.stderr, re.S)
    expect(done.returncode == BAD_INPUT and said, f'exit {done.returncode}: {done.stderr}')


def main():
    count, ran = Count(), set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'pair.ini'
        for accelerator, part in ACCELERATORS.items():
            for model, its_id in MODELS.items():
                row = best_of(part, its_id)
                if row:
                    ran |= {accelerator, model}
                    count.test(f'{accelerator}, {model}: {grade(row)}', runs, path, accelerator, model, row)
                else:
                    count.test(f'{accelerator}, {model}: missing', says_what_is_missing, path, accelerator, model)
    for name in (*ACCELERATORS, *MODELS):
        count.check(f'{name} is in a scenario', (name in ran) != (name in WITHOUT_ANY), ran)
    count.finish()


if __name__ == '__main__':
    main()
