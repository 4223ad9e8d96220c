#!/usr/bin/python3
"""The headline of a scenario with ranges: its median and interval, for the cost and for the saving, and the
base values, marked as such, wherever there is one, and how often the options can be ranked; without ranges, neither. The page makes its own draws:
check_page checks its sentence.

The results over the ranges are those of simulate, from the same draws; the saving of a baseline over another
option is computed here from that option's. PERTOKEN names the program.
"""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import harness  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, expect, near, run, run_csv, run_json  # noqa: E402

UNCERTAIN, CERTAIN = ROOT / 'examples' / 'uncertainty.ini', ROOT / 'examples' / 'mi325x-vs-h200.ini'
LABELS = {'h200': 'H200', 'mi325x': 'MI325X'}
# Name: (scenario, settings, which is the cheapest, which one it is compared with)
HEADLINES = {
    'the challenger': (UNCERTAIN, (), 'mi325x', 'h200'),
    'the baseline': (UNCERTAIN, ('--set', 'mi325x.list_price=60000 USD'), 'h200', 'mi325x'),
    'the cheapest, but seldom': (UNCERTAIN, ('--set', 'mi325x.list_price=28600 USD'), 'mi325x', 'h200'),
    'not always ranked': (UNCERTAIN, ('--set', 'site_power=1.35 MW'), 'mi325x', 'h200'),
    'nearly free': (UNCERTAIN, ('--set', 'h200.list_price=100000000 USD'), 'mi325x', 'h200'),
    'no ranges': (CERTAIN, (), 'mi325x', 'h200'),
}


def percentiles(told, kind, option):
    found = next(outcome for outcome in told['outcomes'] if (outcome['kind'], outcome['option']) == (kind, option))
    return [found['percentiles'][level] for level in ('P5', 'P50', 'P95')]


def over_ranges(scenario, settings, cheapest, against):
    """What the headline must say about the ranges."""
    told = run_json('simulate', scenario, *settings)
    low, median, high = (f'{cost:.4g}' for cost in percentiles(told, 'cost', cheapest))
    baseline = cheapest if cheapest == 'h200' else against
    saving = percentiles(told, 'saving', against if cheapest == baseline else cheapest)
    if cheapest == baseline:
        saving = [1 - 1 / (1 - share) for share in reversed(saving)]
    decimals = len(in_percent(saving[-1]).partition('.')[2])
    least, middle, most = (f'{100 * share:.{decimals}f}' for share in saving)
    return (f'; over the ranges {LABELS[cheapest]} costs {median} USD/Mtok in the median (P5 to P95: {low} to {high}) '
            f'and saves {middle} % against {LABELS[against]} ({least} to {most} %)'
            f'{limits(told["ranked"], cheapest, against) or more_often(told["cheapest"], cheapest)}')


def in_percent(share):
    """With one decimal, or as many more as tell it from 100."""
    texts = (f'{100 * share:.{decimals}f}' for decimals in range(1, 9))
    return next(text for text in texts if share >= 1 or float(text) < 100)


def more_often(shares, cheapest):
    """Which other option is the cheapest in more of the draws."""
    most = max(shares, key=lambda option: (shares[option], option == cheapest))
    return '' if most == cheapest else f', but {LABELS[most]} is the cheapest in {100 * shares[most]:.1f} % of the draws'


def limits(ranked, cheapest, against):
    """In how many draws the two stay within the site's power, which is all that the settings here ask of them."""
    seldom = [(LABELS[option], f'only in {100 * min(ranked[option], 0.999):.1f} % of the draws')
              for option in (cheapest, against) if ranked[option] < 1]
    if not seldom:
        return ''
    more = ''.join(f', and {label} {words}' for label, words in seldom[1:])
    return f', but {seldom[0][1]} does {seldom[0][0]} stay within the site power{more}'


def on_terminal(scenario, settings, _):
    text = run('compare', scenario, *settings, '-q').stdout
    return ' '.join(text.split('\n\n')[1].split()).removesuffix('.')


def in_json(scenario, settings, _):
    return run_json('compare', scenario, *settings)['answer'].removesuffix('.')


def on_cover(scenario, settings, folder):
    book = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx'), settings))
    cover = book.sheets['Cover']
    place = next(place for place, cell in sorted(cover.formulas()) if 'Outputs' in cell.formula)
    return cover.value(*place).partition('; weakest evidence')[0]


FACES = {'terminal': on_terminal, 'JSON': in_json, 'workbook': on_cover}


def check_headline(face, scenario, settings, cheapest, against):
    ranges = over_ranges(scenario, settings, cheapest, against) if scenario == UNCERTAIN else ''
    with tempfile.TemporaryDirectory() as folder:
        text = FACES[face](scenario, settings, folder)
    if ranges:
        expect(text.endswith(' at the base values' + ranges) or text == 'at the base values' + ranges, text)
    else:
        expect('base values' not in text and 'P5' not in text, text)


def check_rows():
    """The CSV has no sentence: the median is between the interval's ends, as in JSON."""
    told = run_json('compare', UNCERTAIN)
    wanted = run_json('simulate', UNCERTAIN)
    rows = {(row['option'], row['item']): row['value'] for row in run_csv('compare', UNCERTAIN)}
    for option in told['options']:
        for kind in ('cost', 'saving') if option['id'] != told['baseline'] else ('cost',):
            for level, value in zip(('p5', 'p50', 'p95'), percentiles(wanted, kind, option['id'])):
                key = f'{kind}_{level}'
                expect(near(option['interval'][key], value), f'{option["id"]}: {key} in JSON')
                expect(near(float(rows[option['id'], key]), value), f'{option["id"]}: {key} in CSV')


def check_nothing_is_free():
    """No share below all of it is shown as 100 %: in the tables of the terminal, and by the formats of the workbook."""
    settings = HEADLINES['nearly free'][1]
    for command, heading in (('simulate', 'Saving against H200'), ('compare', 'Saving against H200')):
        table = run(command, UNCERTAIN, *settings, '-q').stdout.partition(heading)[2].split('\n\n')[0]
        expect('99.9' in table and not re.search(r'\s100(\.0*)?\s', table), table)
    with tempfile.TemporaryDirectory() as folder:
        book = xlsx.read(harness.report(UNCERTAIN, Path(folder, 'book.xlsx'), settings))
    found = {'Outputs': 0, 'Simulation': 0}
    for name in found:
        for (row, column), cell in book.sheets[name].cells.items():
            value = book.sheets[name].value(row, column)
            code = cell.style.format if cell.style else ''
            # Not what words or charts are made of.
            is_shown = not str(book.sheets[name].text(row, 1)).startswith('The answer, ') and column < 7
            if is_shown and isinstance(value, float) and '%' in code and 0.9995 <= value < 1 - 1e-8:
                found[name] += 1
                shown = f'{100 * value:.{len(re.search(r"0(?:[.](0+))?[~ ]*%", code)[1] or "")}f}'
                expect(float(shown) < 100, f'{name} {row} {column}: {value} is shown as {shown} %')
    expect(all(found.values()), f'{found}')


def main():
    count = Count()
    for name, headline in HEADLINES.items():
        for face in FACES:
            count.test(f'{name}, {face}', check_headline, face, *headline)
    count.test('rows', check_rows)
    count.test('nothing is free', check_nothing_is_free)
    count.finish()


if __name__ == '__main__':
    main()
