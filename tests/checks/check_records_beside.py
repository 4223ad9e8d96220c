#!/usr/bin/python3
"""What compare says of decoding records of unlike devices beside each other.

The committed record of an H200 is given other devices' names, shares of the read bandwidth and types in a
temporary folder. The cost at equal shares is compared with that of the rate typed instead; that of the workbook,
recalculated by Gnumeric, with compare's.
"""
import copy
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import xlsx  # noqa: E402
from support.program import BAD_INPUT, Count, ROOT, Skip, expect, expect_exit, near, run, run_json  # noqa: E402
from support.records import load, save  # noqa: E402

SCENARIO = '''[scenario]
title = Devices beside each other
date = 2026-11-30
[workload]
model = llama-3.1-8b
precision = fp8
basis = decode
batch = 1
context = 512
utilization = 70 %
[common]
electricity_price = 0.08 USD/kWh
pue = 1.2
'''
OF_COUNT = 'accelerators = 8\n'
OF_DEMAND = 'demand = 4e10 token/month\n'
OPTION = '''[option {id}]
accelerator = {accelerator}
list_price = {price} USD
record = {id}.json
accelerators_per_node = 8
load_power = 500 W
'''
H200 = ('cuda', 'NVIDIA H200', 'h200-sxm-141')
H100 = ('cuda', 'NVIDIA H100 80GB HBM3', 'h100-sxm5-80')
MI300X = ('hip', 'AMD Instinct MI300X', 'mi300x-192')
MILAN, EPYC = ('cpu', 'AMD EPYC 7763', 'cpu'), ('cpu', 'AMD EPYC 9554', 'cpu')
XEON = ('cpu', 'Intel(R) Xeon(R) Platinum', 'cpu')
INCLUDES, UNKNOWN = "includes how well this probe is tuned", 'is unknown'


def record_of(device, share, **types):
    record = copy.deepcopy(load(next((ROOT / 'data/measured').glob('llama-3.1-8b-cuda-*.json'))))
    result = record['results'][0]
    record['device'].update(backend=device[0], name=device[1], memory_bytes=10**12)
    result.update(read_bandwidth_share=share)
    result['flags'].update(dict.fromkeys(result['flags'], False))
    result['types'].update(types)
    return record


def written(folder, records, accelerators, size=OF_COUNT):
    text = SCENARIO + size
    for number, (record, accelerator) in enumerate(zip(records, accelerators)):
        save(folder / f'o{number}.json', record)
        text += OPTION.format(id=f'o{number}', accelerator=accelerator, price=20000 + 5000 * number)
    path = folder / 'scenario.ini'
    path.write_text(text)
    return path


class Compared:
    """A scenario with an option for each device, its answer and that with a decoding rate typed."""

    def __init__(self, folder, devices, shares, size=OF_COUNT):
        self.folder = Path(folder)
        self.path = written(self.folder, [record_of(device, share) for device, share in zip(devices, shares)],
                            [device[2] for device in devices], size)
        self.answer = self.ask()

    def ask(self, *settings):
        return run_json('compare', self.path, '--measurements', self.folder,
                        *(word for setting in settings for word in ('--set', setting)))

    def of_options(self, key):
        return [option.get(key) for option in self.answer['options']]

    def cost_with(self, number, times):
        rate = self.answer['options'][number]['inputs']['decode_throughput']['value']
        typed = self.ask(f'o{number}.decode_throughput={rate * times:.17g} token/s')
        return typed['options'][number]['items']['cost_per_mtok']

    def warned(self):
        return ' '.join(self.answer['warnings'])


def check_apart(folder, size):
    shares = (0.48, 0.3, 0.45)
    compared = Compared(folder, (H200, MI300X, H100), shares, size)
    costs = compared.of_options('cost_at_equal_shares')
    expect(compared.of_options('read_bandwidth_share') == list(shares), 'shares of the records')
    for number, share in enumerate(shares):
        typed = compared.cost_with(number, 0.48 / share)
        expect(near(costs[number], typed, 1e-9), f'{number}: {costs[number]}, with the rate typed {typed}')
    expect('o0 48 %, o1 30 %, o2 45 %' in compared.warned() and INCLUDES in compared.warned(), compared.warned())
    lines = run('compare', compared.path, '--measurements', folder, '-q').stdout.splitlines()
    expect(any(line.split()[-4:] == ['%', '48', '30', '45'] for line in lines), 'a row of the shares')
    expect(any('at equal read shares' in line for line in lines), 'a row of the costs')
    source = compared.answer['options'][1]['inputs']['decode_throughput']['source']
    expect('30 % of its read bandwidth' in source, source)


# Devices, their shares, whether shares are shown, costs at equal shares too, and the warning.
CASES = (
    ((H200, MI300X), (0.48, 0.39), True, False, ''),
    ((H200, MI300X), (0.48, None), True, False, UNKNOWN),
    ((H200, MI300X), (0.48, 1.06), True, False, UNKNOWN),
    ((H200, H100), (0.48, 0.3), True, True, INCLUDES),
    ((H200, H200), (0.48, 0.3), False, False, ''),
    ((EPYC, XEON), (0.9, 0.7), True, True, INCLUDES),
    ((MILAN, EPYC), (0.9, 0.7), True, True, INCLUDES),
    ((EPYC, EPYC), (0.9, 0.7), False, False, ''),
    ((H200, EPYC), (0.48, 0.7), True, True, INCLUDES),
)


def check_case(folder, devices, shares, shown, costed, warning):
    compared = Compared(folder, devices, shares)
    usable = [share if share and share < 1 else None for share in shares]
    expect(compared.of_options('read_bandwidth_share') == (usable if shown else [None, None]), 'shares')
    costs = compared.of_options('cost_at_equal_shares')
    expect(all(costs) if costed else costs == [None, None], f'costs {costs}')
    said = [word for word in (INCLUDES, UNKNOWN) if f'{word}' in compared.warned()]
    expect(said == ([warning] if warning else []), compared.warned())


def check_typed(folder):
    """A rate that is typed is not that of the record."""
    compared = Compared(folder, (H200, MI300X), (0.48, 0.3))
    compared.answer = compared.ask('o1.decode_throughput=300 token/s')
    expect(compared.of_options('read_bandwidth_share') == [None, None], 'shares')
    expect(INCLUDES not in compared.warned(), compared.warned())


def check_workbook(folder):
    """The costs at equal shares are live: with another price, those of the scenario with that price."""
    if gnumeric.missing():
        raise Skip(gnumeric.missing())
    compared = Compared(folder, (H200, MI300X, H100), (0.48, 0.3, 0.45))
    path, wrong = compared.folder / 'beside.xlsx', compared.folder / 'wrong.xlsx'
    book = xlsx.read(harness.report(compared.path, path, ('--measurements', folder)))
    sheet = book.sheets['Sensitivity']
    head, = (row for row in range(1, sheet.last_row()) if sheet.text(row, 1).startswith('If all reached'))
    expect([sheet.text(head, column) for column in (4, 5, 6)] == ['o0', 'o1', 'o2'], 'an option in each column')
    inputs = layout.Inputs(book)
    price = next(entry.row for entry in inputs.rows if entry.key == 'o1.list_price')
    for dollars in (25000, 10000):
        cell = {xlsx.address(price, inputs.cases['base']): float(dollars)}
        xlsx.patch(path, wrong, lambda part, xml: xlsx.set_cells(
            xlsx.spoil(xml), cell if part == book.sheets['Inputs'].part else {}))
        actual = gnumeric.recalculate(wrong)
        compared.answer = compared.ask(f'o1.list_price={dollars} USD')
        for number, cost in enumerate(compared.of_options('cost_at_equal_shares')):
            shown = actual('Sensitivity', head + 4, 4 + number)
            expect(near(shown, cost, 1e-9), f'o{number} at {dollars}: {shown} instead of {cost}')
            rate = actual('Sensitivity', head + 3, 4 + number) / actual('Sensitivity', head + 2, 4 + number)
            expect(near(rate, 0.48 / (0.48, 0.3, 0.45)[number], 1e-9), f'o{number}: {rate} times as fast')


def check_types(folder):
    """Records whose precisions differ are not compared, that of the head included."""
    for which in ('kv', 'activations', 'head'):
        records = [record_of(H200, 0.48), record_of(MI300X, 0.48, **{which: 'e4m3'})]
        path = written(Path(folder), records, (H200[2], MI300X[2]))
        done = run('compare', path, '--measurements', folder)
        expect_exit(done, BAD_INPUT, f'not comparable, {which}: bf16 and fp8')
        mixed = run_json('compare', path, '--measurements', folder, '--mixed')
        expect([option['workload'][which] for option in mixed['options']] == ['bf16', 'fp8'], which)
        expect(f'{which}: bf16 and fp8' in mixed['mixed_reason'], mixed['mixed_reason'])


def main():
    count = Count()
    tests = [('apart', check_apart, OF_COUNT), ('apart, of a demand', check_apart, OF_DEMAND),
             ('typed', check_typed), ('workbook', check_workbook), ('types', check_types), *((str(case), check_case, *case) for case in CASES)]
    for name, test, *arguments in tests:
        with tempfile.TemporaryDirectory() as folder:
            count.test(name, test, folder, *arguments)
    count.finish()


if __name__ == '__main__':
    main()
