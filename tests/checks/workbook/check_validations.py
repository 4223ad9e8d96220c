#!/usr/bin/python3
"""Do the inputs of large workbooks keep their limits?

libxlsxwriter 1.1.4 counts a sheet's validations in 8 bits, and writes none if that count is 0: here are as many inputs
as make it so, and one more.
Seconds: 8
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import layout  # noqa: E402
import xlsx  # noqa: E402
from support import scenarios  # noqa: E402
from support.program import Count, expect  # noqa: E402

OPTIONS, WRAPS = 24, 256


def scenario(own):
    """`own`: how many options have a row of their own for their availability."""
    options = ''.join(f'[option o{option}]\naccelerator = h200-sxm-141\nlist_price = {20000 + option} USD\n'
                      f'throughput = {2000 + option} token/s\n'
                      + (f'availability = {50 + option} %\n' if option < own else '') for option in range(OPTIONS))
    return f'[scenario]\ndate = 2026-11-20\nhorizon = 3 yr\n{scenarios.COMMON}{options}'


def inputs_of(own, folder):
    (folder / 'many.ini').write_text(scenario(own))
    return layout.Inputs(xlsx.read(harness.report(folder / 'many.ini', folder / 'many.xlsx')))


def test_written(folder):
    missing = WRAPS - len(inputs_of(0, folder).validations)
    expect(0 < missing < OPTIONS - 1, f'{missing} inputs are missing at {WRAPS}')
    for count in (WRAPS, WRAPS + 1):
        inputs = inputs_of(missing + count - WRAPS, folder)
        expect(len(inputs.validations) == count == len(inputs.all),
               f'{len(inputs.validations)} validations of {len(inputs.all)} inputs, expected {count}')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        count.test('written', test_written, Path(folder))
    count.finish()


if __name__ == '__main__':
    main()
