#!/usr/bin/python3
"""Is any text or number of a workbook cut off at 100 % zoom?

Widths are Calibri's (calibri.py), measured independently of the program's own. Labels of maximum length, and
twenty options, must fit like the examples; a column that is too narrow and a row that is too low must be
detected.
Deep: every example, and the scenarios that the workbook's checks made. Else those with every kind of sheet.
Seconds: 10
"""
import math
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import calibri  # noqa: E402
import fit  # noqa: E402
import harness  # noqa: E402
import xlsx  # noqa: E402
from check_charts import charts_of  # noqa: E402
from layout import FIRST_PERIOD  # noqa: E402
from support.program import Count, DEEP, expect, Skip  # noqa: E402

HERE = Path(__file__).resolve().parent
TELLING = ('finance-views', 'own-rent-api', 'rent-or-own', 'uncertainty', 'this-machine')
MADE = ('everything.ini', 'by_year.ini', 'steps.ini', 'late.ini', 'open_limits.ini', 'rented.ini', 'staged.ini', 'vintages.ini')
CARLITO = '/usr/share/fonts/truetype/crosextra/Carlito-{}.ttf'
LONGEST = 150
SHOWN = 5
RECORD = 'tinyllama-1.1b-serving-8184255c.json'
EVIDENCE_HEADER = 4
SMALLEST = 7
SMALLEST_AT_ALL = 4.3  # 40 %, less the rounding of a page


def book_of(scenario, folder):
    return xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx')))


def check_fits(scenario, folder):
    found = list(fit.problems(book_of(scenario, folder)))
    expect(not found, f'{len(found)} cut off: ' + '; '.join(found[:SHOWN]))


def labelled(folder, labels):
    """An example whose options have these labels."""
    text = re.sub('(?m)^label = .*\n', '', (harness.ROOT / 'examples/mi325x-vs-h200.ini').read_text())
    for option, label in labels.items():
        text = text.replace(f'[option {option}]\n', f'[option {option}]\nlabel = {label}\n')
    path = Path(folder, 'labelled.ini')
    path.write_text(text)
    return path


def check_long_labels(folder):
    words = ('A label in many words ' * LONGEST)[:LONGEST].strip()
    check_fits(labelled(folder, {'h200': words, 'mi325x': 'x' * LONGEST}), folder)
    check_fits(labelled(folder, {'h200': '🚀 عرض', 'mi325x': '金' * 50}), folder)


def check_long_record(folder):
    """A record's name is as long as the measurement's owner likes: on Evidence it stays below its heading."""
    name, records = 'of-the-second-rack-' * 8 + '.json', Path(folder, 'records')
    records.mkdir()
    shutil.copy(harness.ROOT / 'data/measured' / RECORD, records / name)
    path = Path(folder, 'long-record.ini')
    path.write_text((harness.ROOT / 'examples/measured/llama-server.ini').read_text().replace(RECORD, name))
    book = xlsx.read(harness.report(path, Path(folder, 'book.xlsx'), ['--measurements', records]))
    found = list(fit.problems(book))
    expect(not found, f'{len(found)} cut off: ' + '; '.join(found[:SHOWN]))
    sheet = book.sheets['Evidence']
    last = max(column for row, column in sheet.cells if row == EVIDENCE_HEADER)
    below = [cell for (row, column), cell in sheet.cells.items() if column == last and row > EVIDENCE_HEADER and cell.value]
    over = [cell.value for cell in below
            if not cell.style.wrap and calibri.text_width(cell.value, cell.style.size, cell.style.face) >
            fit.column_pixels(sheet)[last]]
    expect(any(name in cell.value for cell in below) and not over, str(over))


def of_many_options(folder, count):
    options = ''.join(f'[option o{number}]\naccelerator = h100-sxm5-80\nrental_rate = {2 + number / 10} USD/gpu/h\n'
                      f'label = Offer {number} of a provider\n' for number in range(count))
    path = Path(folder, 'many.ini')
    path.write_text('[scenario]\ntitle = Many\ndate = 2026-11-01\nhorizon = 1 yr\n[common]\naccelerators = 8\n'
                    f'throughput = 1000 token/s\nutilization = 50 %\n{options}')
    return path


def check_twenty_options(folder):
    """Nothing is cut off, and every sheet is legible on paper."""
    scenario = of_many_options(folder, 20)
    check_fits(scenario, folder)
    book = book_of(scenario, folder)
    for sheet in book.sheets.values():
        points = 11 * fit.printed_scale(book, sheet)
        expect(points >= SMALLEST_AT_ALL, f'{sheet.name}: letters of {points:.1f} points on paper')


def check_ties(folder):
    """What is only in the workings, such as the names of all that tie for the cheapest, widens no column."""
    scenario = of_many_options(folder, 5)
    scenario.write_text(re.sub(r'rental_rate = \S+', 'rental_rate = 2', scenario.read_text()))
    sheet = book_of(scenario, folder).sheets['Outputs']
    widths = {fit.column_pixels(sheet)[column] for column in range(4, 9)}
    expect(max(widths) <= 28 * fit.DIGIT, f'columns of options are {widths} pixels wide')


def of_periods(folder, period):
    """Three years, and half a year more in a case."""
    path = Path(folder, 'periods.ini')
    path.write_text(f'[scenario]\ntitle = Periods\ndate = 2026-11-01\nhorizon = 3 yr\nperiod = {period}\n[common]\n'
                    'accelerators = 8\nthroughput = 1000 token/s\nutilization = 50 %\nelectricity_price = 0.1 USD/kWh\npue = 1.3\n'
                    '[option one]\naccelerator = h100-sxm5-80\nlist_price = 25000 USD\n'
                    '[option two]\naccelerator = h100-sxm5-80\nlist_price = 20000 USD\n[case longer]\nhorizon = 42 month\n')
    return path


def check_fine_periods(folder):
    """Every sheet is legible on paper: without the columns that are blank in all cases, then on pages side by side."""
    for period, printed, pages in (('1 yr', 7, '1'), ('3 month', 14, '1'), ('1 month', 42, '2')):
        book = book_of(of_periods(folder, period), folder)
        for sheet in book.sheets.values():
            points = 11 * fit.printed_scale(book, sheet)
            expect(points >= SMALLEST_AT_ALL, f'{period}, {sheet.name}: letters of {points:.1f} points on paper')
        for name in ('one', 'two', 'Finance', 'Outputs'):
            sheet = book.sheets[name]
            last, across = fit.printed_area(book, sheet)[3] - FIRST_PERIOD, sheet.root.find('pageSetup').get('fitToWidth', '1')
            expect((last, across) == (printed, pages), f'{period}, {name}: {last} periods on {across} pages side by side')
            labels = fit.repeated_columns(book, sheet)
            expect(labels == (across > '1'), f'{period}, {name}: the labels are on one page only')
            over = [chart.title for chart, (_, left, _, _), _ in charts_of(book, sheet) if left <= labels]
            expect(not over, f'{period}, {name}: printed beside the labels on every page: {over}')


LONG = (  # scenarios of owning, renting and an API; what is set; a sheet, and the pages that its rows are on
    ('period = 1 month', '', 'Owned H200', 3),
    ('', 'demand_growth = 20 %/yr\nown.life = 2 yr\nloan_share = 50 %\nloan_rate = 6 %/yr\nloan_term = 3 yr', 'Owned H200', 2),
    ('', '', 'Owned H200', 2),
)


def check_last_pages(folder):
    """No page that only a few rows spill over to: they fill at least half of it, or the others are a little fuller."""
    text = (harness.ROOT / 'examples/own-rent-api.ini').read_text()
    for number, (period, inputs, name, wanted) in enumerate(LONG):
        path = Path(folder, f'long-{number}.ini')
        own = '\n'.join(line[4:] for line in inputs.splitlines() if line.startswith('own.'))
        common = '\n'.join(line for line in inputs.splitlines() if not line.startswith('own.'))
        path.write_text(text.replace('[workload]', f'{period}\n[workload]').replace('[common]', f'[common]\n{common}')
                        .replace('[option own]', f'[option own]\n{own}'))
        book = book_of(path, folder)
        for sheet in book.sheets.values():
            filled, fewer = fit.pages_down(book, sheet)
            pages = math.ceil(filled - 1e-6)
            full = pages == 1 or filled - pages + 1 >= 0.5 or 11 * fewer < SMALLEST_AT_ALL
            expect(full or sheet.root.find('rowBreaks') is not None, f'{path.name}, {sheet.name}: {filled:.2f} pages')
            expect(sheet.name != name or pages == wanted, f'{path.name}, {name}: on {pages} pages')


def printed_points(sheet):
    """The size of 11-point letters on paper, and the rows at which pages break."""
    setup = sheet.root.find('pageSetup')
    across, down = (fit.PAPERS[setup.get('paperSize')] if setup.get('orientation') == 'portrait'
                    else fit.PAPERS[setup.get('paperSize')][::-1])
    last_row, last_column = sheet.last_row(), max(column for _, column in sheet.cells)
    widths = {column: float(node.get('width')) for node in sheet.root.iterfind('cols/col')
              for column in range(int(node.get('min')), int(node.get('max')) + 1)}
    width = sum(widths.get(column, 9.14) * 7 * 0.75 for column in range(1, last_column + 1))
    heights = [float(sheet.rows[row].get('ht', 15)) if row in sheet.rows else 15 for row in range(1, last_row + 1)]
    breaks = [int(node.get('id')) for node in sheet.root.iterfind('rowBreaks/brk')]
    pages = [sum(heights[first:end]) for first, end in zip([0, *breaks], [*breaks, last_row])]
    return 11 * min(1, (across - fit.MARGINS[0]) / width, (down - fit.MARGINS[1]) / max(pages)), breaks


def check_cover_on_paper(folder):
    """The Cover's letters have at least 7 points, on one page for up to six options; with more, on two."""
    for count in (6, 7, 20):
        points, breaks = printed_points(book_of(of_many_options(folder, count), folder).sheets['Cover'])
        expect(points >= SMALLEST, f'{count} options: letters of {points:.1f} points')
        expect(len(breaks) == (count > 6), f'{count} options: {len(breaks) + 1} pages')


def check_cut_off_is_noticed(folder):
    """The same workbook with a column of 5 characters, or with a row of one line."""
    book = book_of(harness.ROOT / 'examples/own-rent-api.ini', folder)
    path, parts = Path(folder, 'book.xlsx'), {sheet.part: sheet for sheet in book.sheets.values()}
    cover = book.sheets['Cover'].part

    def altered(name, pattern, replacement):
        changed = Path(folder, 'altered.xlsx')
        xlsx.patch(path, changed, lambda part, xml: re.sub(pattern, replacement, xml, count=1) if part == name else xml)
        return list(fit.problems(xlsx.read(changed)))

    expect(not list(fit.problems(book)) and cover in parts, 'the workbook itself')
    narrow = altered(book.sheets['Owned H200'].part, r'(<col min="1" max="1" width=")[\d.]+', r'\g<1>5')
    expect(len(narrow) > 10 and all(line.startswith('Owned H200!') for line in narrow), f'a narrow column: {narrow[:SHOWN]}')
    numbers = altered(book.sheets['Owned H200'].part, r'(<col min="4" max="4" width=")[\d.]+', r'\g<1>5')
    expect(any('5,607,840' in line for line in numbers), f'numbers in a narrow column: {numbers[:SHOWN]}')
    low = altered(cover, r'(<row r="\d+"[^>]* ht=")(3[5-9]|[4-9]\d)(\.\d+)?', r'\g<1>15')
    expect(len(low) == 1 and ' lines, with room for ' in low[0], f'a low row: {low}')


def check_calibri():
    """The table of widths equals the font's, if that is installed."""
    try:
        from PIL import ImageFont
        fonts = {face: ImageFont.truetype(CARLITO.format(name), calibri.EM, layout_engine=ImageFont.Layout.BASIC)
                 for face, name in (('regular', 'Regular'), ('bold', 'Bold'), ('italic', 'Italic'))}
    except OSError:
        raise Skip('fonts-crosextra-carlito is not installed') from None
    for face, widths in calibri.FACES.items():
        wrong = [character for character, width in widths.items() if round(fonts[face].getlength(character)) != width]
        expect(len(widths) > 180 and not wrong, f'{face}: {wrong}')


def in_folder(test, *arguments):
    with tempfile.TemporaryDirectory(prefix='pertoken-fits-') as folder:
        test(*arguments, folder)


def main():
    count = Count()
    scenarios = [scenario for scenario in harness.EXAMPLES if DEEP or scenario.stem in TELLING]
    for scenario in [*scenarios, *((*harness.FOR_READING, *(HERE / name for name in MADE)) if DEEP else ())]:
        count.test(scenario.name, in_folder, check_fits, scenario)
    for test in (check_long_labels, check_long_record, check_twenty_options, check_ties, check_fine_periods, check_last_pages, check_cover_on_paper,
                 check_cut_off_is_noticed):
        count.test(test.__name__, in_folder, test)
    count.test('calibri', check_calibri)
    count.finish()


if __name__ == '__main__':
    main()
