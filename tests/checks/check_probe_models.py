#!/usr/bin/python3
"""What the probe makes of a model's row in models.csv: what it lacks, excludes, or cannot mean.

    check_probe_models.py [NAME...]

PROBE names the program.
Seconds: 2
"""
import csv
import json
import shutil

from support.probing import MODEL, need_memory, probe, run_probe_tests
from support.program import BAD_INPUT, DONE, ROOT, expect, expect_exit

WRONG_ROWS = [  # model, column, value, message
    ('mixtral-8x7b', 'experts_per_token', '9', 'a model cannot have more experts per token than experts'),
    ('mixtral-8x7b', 'experts_per_token', '0', 'a model cannot have no expert per token'),
    ('smollm-135m', 'experts_per_token', '2', 'a model cannot have experts chosen from none'),
    ('gpt-oss-20b', 'sliding_window', '', 'layers without a window but none with one'),
    ('smollm-135m', 'norm_kind', 'batch', "the probe knows rms, layer in norm_kind, not 'batch'"),
    ('smollm-135m', 'attention_kind', 'linear', "the probe knows gqa, mha, mqa, mla in attention_kind, not 'linear'"),
    ('smollm-135m', 'biases', 'qkv;head', "the probe does not know the biases of 'head'"),
    ('smollm-135m', 'sliding_window', '0.5', 'a whole number of sliding_window'),
    ('smollm-135m', 'excluded_precisions', 'int4;mxfp5', "unknown precision 'mxfp5'"),
    ('deepseek-v3', 'kept_expert_groups', '9', 'more groups of experts kept than exist'),
]


def with_cell(directory, model, column, value):
    """The catalogue with one cell of a model's row changed."""
    data = directory / f'data-{column}-{value}'
    shutil.copytree(ROOT / 'data', data, ignore=shutil.ignore_patterns('measured'))
    with open(data / 'models.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row['id'] == model)[column] = value
    with open(data / 'models.csv', 'w', newline='') as file:
        writer = csv.DictWriter(file, rows[0], lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)
    return data


def test_rows_that_cannot_be(directory):
    for model, column, value, fragment in WRONG_ROWS:
        data = with_cell(directory, model, column, value)
        expect_exit(probe('run', '--data', data, '--model', model, '--verify-only'), BAD_INPUT, fragment)


def test_blank_cells_have_stand_ins(directory):
    need_memory()
    data = with_cell(directory, MODEL, 'rope_theta', '')
    result = probe('run', '--data', data, '--model', MODEL, '--time', '0.1', '--layers', '1', '-q', '-o', directory)
    expect_exit(result, DONE)
    record, = directory.glob('*.json')
    remarks = json.loads(record.read_text())['environment']['remarks']
    expect(remarks == "used in place of the model's own: rope_theta 10000", remarks)


def test_excluded_by_another_name(directory):
    data = with_cell(directory, MODEL, 'excluded_precisions', 'nvfp4')
    expect_exit(probe('run', '--data', data, '--model', MODEL, '--precision', 'fp4', '--verify-only'), BAD_INPUT,
                f'{MODEL} cannot be run in fp4')


def test_window_beyond_the_context(directory):
    data = with_cell(directory, MODEL, 'sliding_window', '512')
    result = probe('run', '--data', data, '--model', MODEL, '--layers', '1', '--verify-only')
    expect_exit(result, DONE, 'attends to the last 512 positions, which is all of a context of 512: full attention')


if __name__ == '__main__':
    run_probe_tests(globals())
