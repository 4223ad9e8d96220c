"""The golden example of the cost model as a scenario: every figure is typed, so all results are known.

GOLDEN is the example itself; ODD has a title and a source that terminals and spreadsheets could stumble over, and a
case.
"""
import pathlib
import tempfile
import unicodedata

from support.program import Count, ROOT, expect

EXAMPLES = sorted((ROOT / 'examples').glob('*.ini'))
TABLE_WIDTH = 80

GOLDEN = """\
[scenario]
title = Golden example
date = 2026-11-01
horizon = 3 yr
baseline = h200

[common]
accelerators = 800
accelerators_per_node = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
node_price = 60000 USD
network_price = 4247 USD
support = 4 %/yr
host_power = 300 W
wacc = 8 %/yr
engineer_cost = 280000 USD/yr

[option h200]
accelerator = h200-sxm-141
list_price = 35000 USD
discount = 14 %
load_power = 700 W
throughput = 4202 token/s

[option mi325x]
accelerator = mi325x-256
list_price = 22000 USD
discount = 14 %
load_power = 1000 W
throughput = 3951 token/s
engineers = 2 FTE
"""
ODD = GOLDEN.replace(
    'title = Golden example', 'title = Golden example, M\u00fcnchen').replace(
    'throughput = 4202 token/s', 'throughput = 4202 token/s\nthroughput.source = =HYPERLINK("x"), a claim') + """
[case dear]
electricity_price = 0.14 USD/kWh
mi325x.discount = 22 %
"""


def equal(found, wanted, what):
    expect(found == wanted, f'{what}: {found!r}, not {wanted!r}')


def close(found, wanted, what, tolerance=1e-9):
    expect(abs(found - wanted) <= tolerance * max(1, abs(wanted)), f'{what}: {found!r}, not {wanted!r}')


def width(line):
    wide = sum(unicodedata.east_asian_width(c) in 'WF' for c in line)
    return sum(not unicodedata.combining(c) for c in line) + wide


def narrow(text, limit=TABLE_WIDTH):
    for line in text.splitlines():
        expect(width(line) <= limit, f'{width(line)} columns: {line}')
        equal(line, line.rstrip(), 'blanks at the end of a line')


class Folder:
    """A folder with the golden scenario and what is derived from it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.golden = self.write('golden.ini', ODD)

    def write(self, name, text):
        path = self.path / name
        path.write_text(text, encoding='utf-8')
        return path

    def with_options(self, count):
        options = ''.join(f'[option candidate_{i}]\naccelerator = {("h200-sxm-141", "mi325x-256")[i % 2]}\n'
                          f'list_price = {35000 - 1000 * i} USD\nload_power = {700 + 50 * i} W\n'
                          f'throughput = {4202 + 13 * i} token/s\n' for i in range(count))
        common = ODD[:ODD.index('[option h200]')].replace('baseline = h200\n', '')
        return self.write(f'options-{count}.ini', common + options)


def run_golden_tests(script):
    """Runs a script's functions test_x with a folder that they share."""
    count = Count()
    with tempfile.TemporaryDirectory() as path:
        count.tests(script, Folder(path))
    count.finish()
