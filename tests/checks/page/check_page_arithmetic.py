#!/usr/bin/python3
"""Do the page's operations have a number where the engine's have one, and none where a spreadsheet has an error?

Each expression as a script over reports/page/arithmetic.js, and as a step of the page's simulation, is what
tests/model/cost/test_not_a_number.c says of the engine: a division by zero reaches every result that depends on it.
Seconds: 1
"""
import json
import math
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import ROOT, expect, run, run_tests, skip_all  # noqa: E402

PAGE = ROOT / 'reports' / 'page'
SCRIPT = """
const fs = require('fs'), vm = require('vm');
const files = process.argv[1].split(','), wanted = JSON.parse(process.argv[2]);
const text = files.map((file) => fs.readFileSync(file, 'utf8')).join('\\n');
vm.runInThisContext(`${text}
function expressed(expression) { return eval(expression); }
function stepped(name, a, b, c) {
  const out = [0];
  kernels[name](out, [a], [b], [c], 1);
  return out[0];
}`);
const value = (it) => (typeof it === 'string' ? expressed(it) : stepped(it[0], ...it.slice(1).map(expressed)));
console.log(JSON.stringify(wanted.map(value)));
"""

# Expressions, or steps with their operands as expressions, and the value: None is no number.
VALUES = [
    ('divide(1, 0)', None),
    ('divide(0, 0)', None),
    ('divide(1, divide(1, 0))', None),
    ('0 * divide(1, 0)', None),
    ('power(divide(1, 0), 0)', None),
    ('power(1, divide(1, 0))', None),
    ('power(0, -1)', None),
    ('growth(divide(1, 0), 0)', None),
    ('min(2, divide(1, 0))', None),
    ('min(divide(1, 0), 2)', None),
    ('max(2, divide(0, 0), 3)', None),
    ('max(2, 1e200 * 1e200)', None),
    ('greater(divide(1, 0), 5)', None),
    ('equal(divide(1, 0), divide(1, 0))', None),
    ('unequal(divide(0, 0), 1)', None),
    ('choose(greater(divide(1, 0), 5), 1, 3)', None),
    ('round(2, divide(1, 0))', None),
    ('ceil(divide(1, 0))', None),
    ('highest([1, divide(1, 0), 2])', None),
    ('recent([1, 2], 2, divide(1, 0))', None),
    ('choose(0, divide(1, 0), 2)', 2),
    ('choose(1, 2, divide(1, 0))', 2),
    ('power(0, 0)', 1),
    ('growth(-1 / YEAR_H, 0)', 1),
    ('growth(-1 / YEAR_H, YEAR_H)', 0),
    ('min(2, 0)', 0),
    ('recent([1, 2], 2, 1)', 2),
    (('divide', '1', '0'), None),
    (('smaller', '2', 'NaN'), None),
    (('larger', 'NaN', '2'), None),
    (('less', 'NaN', '2'), None),
    (('choose', 'NaN', '2', '3'), None),
    (('choose', '0', 'NaN', '3'), 3),
    (('power', '0', '0'), 1),
    (('round', '2', 'NaN'), None),
]


def test_values(_):
    files = ','.join(str(PAGE / name) for name in ('arithmetic.js', 'simulation.js'))
    done = run('-e', SCRIPT, files, json.dumps([what for what, _ in VALUES]), program='node')
    expect(not done.returncode, done.stderr)
    for (what, wanted), found in zip(VALUES, json.loads(done.stdout), strict=True):
        expect(found == wanted and (wanted is None or math.isfinite(found)), f'{what}: {found}, not {wanted}')


if __name__ == '__main__':
    if not shutil.which('node'):
        skip_all('node is not installed')
    run_tests(globals())
