#!/usr/bin/python3
"""Does reports/page/data.h name every key of a page's data, and none that is not there?

The pages of a few scenarios have all keys between them.
Seconds: 8
"""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import ROOT, expect, run, run_tests  # noqa: E402

HEADER = ROOT / 'reports' / 'page' / 'data.h'
ELSEWHERE = ('uncertainty', 'cases[].uncertainty', 'graphs[].formulas')  # of another header, or named by the model
BY_INPUT = 'cases[].options[].figures'

IN_COLOCATION = """\
[scenario]
title = The rent of a hall includes the electricity
date = 2026-11-20
[common]
accelerators = 8
utilization = 60 %
list_price = 30000 USD
load_power = 700 W
throughput = 4000 token/s
pue = 1.2
colo_rate = 184 USD/kW/month
colo_power = included
[option hall]
accelerator = h200-sxm-141
"""

ESTIMATED = """\
[scenario]
title = Lengths of requests that chose the record
date = 2026-11-20
[workload]
model = mistral-7b
precision = bf16
context = 1024
input_tokens = 512 token
output_tokens = 1024 token
utilization = 60 %
[common]
accelerators = 1
accelerators_per_node = 1
list_price = 1000 USD
load_power = 300 W
electricity_price = 0.1 USD/kWh
pue = 1.2
[option mine]
accelerator = cpu
"""


def named_keys():
    """{path of an object: its keys}, of lines '// path: key, key (note)' that go on, indented, below."""
    comment = HEADER.read_text().partition('#ifndef')[0].replace('\n//   ', ' ')
    comment = re.sub(r'\([^()]*\)', '', comment)
    paths = re.findall(r'^// ([a-z_.{}\[\]]+): (.*)$', comment, re.M)
    return {path: {key.strip() for key in keys.split(',')} for path, keys in paths if path != 'data'}


def collect(value, path, found):
    """Adds the keys of an object and of all within it."""
    if path in ELSEWHERE:
        return
    if isinstance(value, list):
        for one in value:
            collect(one, f'{path}[]', found)
    elif isinstance(value, dict) and path == BY_INPUT:
        for one in value.values():
            collect(one, f'{path}{{}}', found)
    elif isinstance(value, dict):
        found.setdefault(path or 'page', set()).update(value)
        for key, one in value.items():
            collect(one, f'{path}.{key}'.lstrip('.'), found)


def data_of(folder, scenario, *settings):
    page = folder / 'page.html'
    done = run('page', scenario, '-q', '-o', page, *settings)
    expect(done.returncode == 0, done.stderr)
    return json.loads(page.read_text().partition('id="data">')[2].partition('</script>')[0])


def test_keys(folder):
    (folder / 'hall.ini').write_text(IN_COLOCATION)
    (folder / 'estimated.ini').write_text(ESTIMATED)
    found = {}
    for scenario in (('examples/mi325x-vs-h200.ini', '--set', 'mi325x.evidence=tp0090'), ('examples/uncertainty.ini',),
                     ('tests/checks/workbook/by_year.ini',), (folder / 'hall.ini',),
                     (folder / 'estimated.ini', '--measurements', 'data/measured')):
        collect(data_of(folder, *scenario), '', found)
    named = named_keys()
    for path in sorted({*named, *found}):
        told, written = named.get(path, set()), found.get(path, set())
        expect(told == written, f'{path}: not in data.h: {written - told}, not on a page: {told - written}')


def test_read(folder):
    """What no script of the page reads need not be there."""
    scripts = ''.join(path.read_text() for path in HEADER.parent.glob('*.js'))
    for path, keys in named_keys().items():
        for key in keys:
            taken = re.search(rf'\.{key}\b|\b{key}\b(?=[^=;()]*\}} ?(?:=|\)|of))', scripts)
            expect(taken, f'no script reads {path}: {key}')


if __name__ == '__main__':
    run_tests(globals())
