#!/usr/bin/python3
"""Do the charts of a workbook show what they say, and does the Cover name every sheet?

Every example: charts lie in their rows and nowhere over cells, have a title, axes with units and a
text for who cannot see them; their series refer to numbers; an option has one colour in all charts
and the categories add up to the cost per token. Then scenarios of this script's own: cumulative
costs that cross, where they cross; costs at other utilizations and batches, against `pertoken
compare` with that utilization or throughput. And the answer's sentence on the Cover: what it says,
that its grade is the weaker one of the two options it compares, and what Gnumeric makes of it once an
input is typed over.
"""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compare  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import layout  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, expect, run_json, skip_all  # noqa: E402

CROSSING = """\
[scenario]
title = Dear and frugal, or cheap and hungry
date = 2026-11-20
horizon = 5 yr
baseline = frugal

[common]
accelerators = 100
accelerators_per_node = 8
utilization = 60 %
pue = 1.4
electricity_price = 0.30 USD/kWh
throughput = 4000 token/s

[option frugal]
accelerator = h200-sxm-141
list_price = 12000 USD
load_power = 500 W

[option hungry]
accelerator = h200-sxm-141
list_price = 8000 USD
load_power = 1100 W
"""
# What the options of a scenario have in common where that does not matter.
SITE = """
[common]
accelerators = 8
utilization = 60 %
pue = 1.4
electricity_price = 0.10 USD/kWh
"""
TINY = """\
[scenario]
title = Nearly a tie
date = 2026-11-20
""" + SITE + """
throughput = 2000 token/s

[option a]
accelerator = h200-sxm-141
list_price = 30000 USD

[option b]
accelerator = h200-sxm-141
list_price = 30004 USD

[range]
electricity_price = triangular(0.05, 0.08, 0.14) USD/kWh

[case certain]
a.electricity_price = 0.1 USD/kWh
b.electricity_price = 0.1 USD/kWh

[case other]
pue = 1.3
"""
BATCHES = """\
[scenario]
title = A row that has neighbours
date = 2026-11-20

[workload]
model = llama-3.1-405b
precision = fp8
""" + SITE + """
[option h100]
accelerator = h100-sxm5-80
list_price = 25000 USD
evidence = tp0933
"""

GRADED = """\
[scenario]
title = A quoted price, a claimed one, an assumed one
date = 2026-11-20
baseline = quoted

[workload]
model = llama-2-70b
precision = fp8
""" + SITE + """load_power = 300 W

[option quoted]
accelerator = h200-sxm-141
evidence = tp0022
list_price = 20000 USD
list_price.quote = Q-1 2026-11-01

[option claimed]
accelerator = h200-sxm-141
evidence = tp0022
list_price = 21000 USD
list_price.source = a sales talk

[option assumed]
accelerator = h200-sxm-141
evidence = tp0022
list_price = 22000 USD
"""


class Series:
    def __init__(self, node):
        self.name = node.findtext('tx/v') or ''
        self.name_ref = node.findtext('tx/strRef/f') or ''
        refs = {tag: node.findtext(f'{tag}/numRef/f') or node.findtext(f'{tag}/strRef/f')
                for tag in ('cat', 'val', 'xVal', 'yVal')}
        self.x, self.y = refs['cat'] or refs['xVal'], refs['val'] or refs['yVal']
        colour = node.find('spPr/solidFill/srgbClr')
        line = node.find('spPr/ln/solidFill/srgbClr')
        self.colour = (line if colour is None else colour).get('val')


class Chart:
    """A chart of a workbook: kind, title, names of the axes, series, where it hangs."""

    def __init__(self, root):
        self.kind = next(node.tag for node in root.find('chart/plotArea') if node.tag.endswith('Chart'))
        self.title = ''.join(node.text or '' for node in root.iterfind('chart/title//t'))
        self.axes = [''.join(text.text or '' for text in axis.iterfind('title//t'))
                     for tag in ('catAx', 'valAx') for axis in root.iterfind(f'chart/plotArea/{tag}')]
        self.series = [Series(node) for node in root.iter('ser')]


def local(data):
    """XML whose tags have no prefixes."""
    text = re.sub(rb'<(/?)\w+:', rb'<\1', data)
    return xlsx.parse(re.sub(rb'\s\w+:(\w+)="', rb' \1="', re.sub(rb'\sxmlns:\w+="[^"]*"', b'', text)))


def charts_of(book, sheet):
    """[(chart, (top, left, bottom, right) of the cells below it, text)] of a sheet, from 1."""
    parts, found = book.parts, []
    rels = sheet.part.replace('worksheets/', 'worksheets/_rels/') + '.rels'
    for rel in local(parts[rels]) if rels in parts else ():
        if not rel.get('Type').endswith('/drawing'):
            continue
        drawing = 'xl/' + rel.get('Target').replace('../', '')
        targets = {node.get('Id'): 'xl/' + node.get('Target').replace('../', '') for node in
                   local(parts[drawing.replace('drawings/', 'drawings/_rels/') + '.rels'])}
        for anchor in local(parts[drawing]):
            place = [int(anchor.findtext(f'{end}/{axis}')) + 1
                     for end in ('from', 'to') for axis in ('row', 'col')]
            chart = Chart(local(parts[targets[anchor.find('.//chart').get('id')]]))
            found.append((chart, place, anchor.find('.//cNvPr').get('descr')))
    return found


def values(book, ref):
    sheet, _, area = ref.rpartition('!')
    top, left, bottom, right = xlsx.area(area.replace('$', ''))
    return [book.sheets[sheet.strip("'")].value(row, column)
            for row in range(top, bottom + 1) for column in range(left, right + 1)]


def check_chart(book, sheet, chart, place, text):
    name = f'{sheet.name}, chart "{chart.title}"'
    top, left, bottom, right = place
    covered = [xlsx.address(*at) for at in sheet.cells
               if top <= at[0] <= bottom and left <= at[1] <= right and sheet.value(*at) is not None]
    expect(not covered, f'{name} lies over {covered[:3]}')
    expect(chart.title and text, f'{name}: no title or no text beside it')
    expect(chart.series, f'{name}: no series')
    expect(any(chart.axes), f'{name}: no axis has a name')
    for series in chart.series:
        expect(series.name or isinstance(values(book, series.name_ref)[0], str), f'{name}: no name')
        numbers = values(book, series.y)
        told = [number for number in numbers if number is not None or 'by category' not in chart.title]
        expect(told and all(isinstance(number, float) for number in told), f'{name}: {series.y}: {numbers}')
        expect(len(values(book, series.x)) == len(numbers), f'{name}: {series.x} and {series.y}')


def option_colours(book):
    """{option: its colours} over all charts but the tornado's and those by category."""
    ids, colours = set(options_of(book)), {}
    for sheet in book.sheets.values():
        for chart, _, _ in charts_of(book, sheet):
            for series in chart.series:
                if series.name in ids:
                    colours.setdefault(series.name, set()).add(series.colour)
    return colours


def options_of(book):
    return [book.sheets['Outputs'].value(*place) for place in row_of(book, 'Outputs', 'Results')]


def row_of(book, sheet, label):
    """The places right of the unit in the row with that label or key, as far as they are filled."""
    sheet = book.sheets[sheet]
    row = next(row for row in range(1, sheet.last_row() + 1)
               if label in (sheet.text(row, 1), sheet.text(row, 2)))
    columns = []
    while sheet.value(row, 4 + len(columns)) is not None:
        columns.append((row, 4 + len(columns)))
    return columns


def numbers_of(book, sheet, key):
    return [book.sheets[sheet].value(*place) for place in row_of(book, sheet, key)]


def chart_named(book, sheet, title):
    return next((chart for chart, _, _ in charts_of(book, book.sheets[sheet])
                 if chart.title == title), None)


def near(one, two):
    return abs(one - two) <= 1e-9 * max(abs(one), abs(two), 1e-300)


def check_categories(book):
    chart = chart_named(book, 'Outputs', 'Cost per token, by category')
    stacks = zip(*(values(book, series.y) for series in chart.series))
    for stack, cost in zip(stacks, numbers_of(book, 'Outputs', 'cost_per_mtok')):
        stack = [share or 0 for share in stack]  # an option has not every category
        expect(near(sum(stack), cost), f'the categories add up to {sum(stack)}, not {cost}')
    colours = [series.colour for series in chart.series]
    expect(len(set(colours)) == len(colours), f'categories share a colour: {colours}')


def check_cover(book):
    cover = book.sheets['Cover']
    links = [node.get('location') for node in cover.root.iter('hyperlink')]
    wanted = [f"'{name}'!A1" for name in book.sheets if name != 'Cover']
    expect(links == wanted, f'the contents are {links}')
    rows = [next(row for row in range(1, cover.last_row() + 1) if cover.text(row, 1) == name)
            for name in list(book.sheets)[1:]]
    expect(all(cover.text(row, 2) for row in rows), 'a sheet has no word about it')
    view = local(book.parts['xl/workbook.xml']).find('bookViews/workbookView')
    expect(view.get('activeTab', '0') == '0', 'does not open at the Cover')


def check_example(scenario, folder):
    book = xlsx.read(harness.report(scenario, Path(folder, 'book.xlsx')))
    count = 0
    for sheet in book.sheets.values():
        for chart, place, text in charts_of(book, sheet):
            check_chart(book, sheet, chart, place, text)
            count += 1
    expect(count >= 4, f'{count} charts')
    colours = option_colours(book)
    expect(all(len(found) == 1 for found in colours.values()), f'colours of options: {colours}')
    expect(len({tuple(found) for found in colours.values()}) == len(colours), f'shared: {colours}')
    check_categories(book)
    check_cover(book)
    check_grade(book, scenario)


def check_grade(book, scenario):
    """The sentence's grade is the weaker one of the options it names, as compare grades them."""
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    named = re.match(r'(\w+) costs (?:least: )?.*?(?:less than (\w+))?; weakest evidence that matters: '
                     r'(\w+)\.$', str(sentence))
    options = run_json('compare', scenario, *harness.places(scenario))['options']
    grades = {option['id']: option['grade'] for option in options}
    if not named:
        expect(any(option['decode_only'] for option in options), f'no grade: {sentence}')
        return
    weaker = max((grades[name] for name in named.groups()[:2] if name), key=compare.GRADES.index)
    expect(named[3] == weaker, f'{sentence} of {grades}')


def report(text, folder, *arguments):
    Path(folder, 'own.ini').write_text(text)
    return xlsx.read(harness.report(Path(folder, 'own.ini'), Path(folder, 'own.xlsx'), arguments))


def cost(folder, option, setting):
    """What compare says the option costs with a setting."""
    options = run_json('compare', Path(folder, 'own.ini'), '--set', setting)['options']
    return next(entry['items']['cost_per_mtok'] for entry in options if entry['id'] == option)


def check_crossing(folder):
    """100 x 4000 USD more, against 100 x 600 W x 1.4 x 8760 h x 0.30 USD/kWh less in a year."""
    years = 100 * 4000 / (100 * 0.6 * 1.4 * 8760 * 0.30)
    book = report(CROSSING, folder)
    found = numbers_of(book, 'Outputs', 'hungry.crossing')[0]
    expect(abs(found - years) < 1e-9, f'they cross after {found}, not {years}')
    spent = 100 * 12000 + years * 100 * 0.5 * 1.4 * 8760 * 0.30
    expect(near(numbers_of(book, 'Outputs', 'hungry.crossing_point')[1], spent), 'at another cost')
    words = numbers_of(book, 'Outputs', 'hungry.crossing_words')[0]
    expect(words == f'crossing after {round(years, 1):g} years', words)
    chart = chart_named(book, 'Outputs', 'Cumulative cash cost')
    marks = [series for series in chart.series if series.name_ref]
    expect(len(marks) == 1 and values(book, marks[0].x) == [found, found], 'the mark is elsewhere')
    short = report(CROSSING.replace('horizon = 5 yr', 'horizon = 1 yr'), folder)
    expect(numbers_of(short, 'Outputs', 'hungry.crossing')[0] == 0, 'a crossing behind the horizon')
    expect(numbers_of(short, 'Outputs', 'hungry.crossing_words')[0] == 'no crossing', 'its words')


def check_utilization(folder):
    book = report(CROSSING, folder)
    shares = numbers_of(book, 'Sensitivity', 'utilization')
    expect(len(shares) == 7 and near(shares[0], 0.1) and near(shares[-1], 1), f'{shares}')
    for share, found in zip(shares, numbers_of(book, 'Sensitivity', 'hungry.cost_per_mtok')):
        wanted = cost(folder, 'hungry', f'utilization={100 * share:.10g} %')
        expect(near(found, wanted), f'at {share}: {found}, compare says {wanted}')
    chart = chart_named(book, 'Outputs', 'Cost per token against utilization')
    expect([series.name for series in chart.series] == ['frugal', 'hungry'], 'the lines')


def check_batches(folder):
    book = report(BATCHES, folder)
    expect(numbers_of(book, 'Sensitivity', 'h100.batch') == [4, 8, 16, 32, 64, 128, 256], 'batches')
    sheet = book.sheets['Sensitivity']
    for row, column in row_of(book, 'Sensitivity', 'h100.batch'):
        speed, found = sheet.value(row + 1, column), sheet.value(row + 2, column)
        wanted = cost(folder, 'h100', f'h100.throughput={speed!r} token/s')
        expect(near(found, wanted), f'at {speed}: {found}, compare says {wanted}')
    own = report(BATCHES.replace('evidence = tp0933', 'throughput = 100 token/s'), folder)
    expect(chart_named(own, 'Outputs', 'Cost per token against batch') is None,
           'batches of a throughput that the scenario states itself')


def answer(book, value):
    """The sentence on the Cover, by value(sheet, row, column)."""
    cover = book.sheets['Cover']
    place = next(place for place, cell in sorted(cover.formulas()) if 'Outputs' in cell.formula)
    return value('Cover', *place)


def typed_over(book, path, key, value, folder):
    """The sentence that Gnumeric shows once an input has another value."""
    inputs, part = layout.Inputs(book), book.sheets['Inputs'].part
    row = next(entry.row for entry in inputs.rows if entry.key == key)
    typed = {xlsx.address(row, inputs.cases['base']): value}
    changed = Path(folder, 'typed.xlsx')
    xlsx.patch(path, changed, lambda name, xml: xlsx.set_cells(xml, typed if name == part else {}))
    return answer(book, gnumeric.recalculate(changed, Path(folder, 'recalculated.xlsx')))


def check_answer(folder):
    """The sentence says what compare says; typed over, it moves and drops what the ranges said."""
    scenario = ROOT / 'examples' / 'uncertainty.ini'
    path = harness.report(scenario, Path(folder, 'own.xlsx'))
    book = xlsx.read(path)
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(re.fullmatch(r'mi325x costs least: .*, 14.3 % less than h200 at the base values; over the ranges .*; '
                        r'weakest evidence that matters: claim\.', sentence), sentence)
    now = typed_over(book, path, 'mi325x.list_price', 60000.0, folder)
    Path(folder, 'own.ini').write_text(f'[scenario]\ninherits = {scenario}\n')
    cheapest = f'{round(cost(folder, "h200", "mi325x.list_price=60000 USD"), 4):.15g}'
    expect(re.match(rf'h200 costs least: {re.escape(cheapest)} USD per million output tokens, [0-9.]+ % less than '
                    r'mi325x at the base values \(over the ranges: run simulate again\); ', now), now)


def check_answer_without_draws(folder):
    """Another case, in which nothing is drawn, says so; and what differs by less than 0.05 % is not 0.0 % less."""
    book, path = report(TINY, folder), Path(folder, 'own.xlsx')
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(', less than 0.1 % less than b at the base values; over the ranges a costs' in sentence, sentence)
    expect(re.search(r'saves 0\.0\d+ % against b \(0\.0\d+ to 0\.0\d+ %\)', sentence), sentence)
    shown, changed = book.name('pt_case'), Path(folder, 'certain.xlsx')
    for case, wanted in (('certain', '; nothing is drawn in this case;'), ('other', '(over the ranges: run simulate again)')):
        xlsx.patch(path, changed, lambda name, xml: xlsx.set_cells(xml, {shown.ref: case})
                   if name == book.sheets[shown.sheet].part else xml)
        now = answer(book, gnumeric.recalculate(changed, Path(folder, 'recalculated.xlsx')))
        expect(', less than 0.1 % less than b at the base values' + ('' if case == 'certain' else ' ') + wanted in now, now)
    done = harness.report(Path(folder, 'own.ini'), Path(folder, 'itself.xlsx'), ('--case', 'certain'))
    itself = xlsx.read(done)
    sentence = answer(itself, lambda sheet, *place: itself.sheets[sheet].value(*place))
    expect('less than b at the base values; nothing is drawn in this case; weakest' in sentence, sentence)


def check_answer_grade(folder):
    """Three options of three grades: the sentence has that of the weaker of the two it compares."""
    book, path = report(GRADED, folder), Path(folder, 'own.xlsx')
    check_grade(book, Path(folder, 'own.ini'))
    typed = {'claimed.list_price': (30000.0, 'quoted', 'assumed', 'assumed'),
             'assumed.list_price': (30000.0, 'quoted', 'claimed', 'claim'),
             'quoted.list_price': (30000.0, 'claimed', 'quoted', 'assumed')}  # what is typed is
    for key, (price, best, next_best, grade) in typed.items():
        now = typed_over(book, path, key, price, folder)
        expect(re.fullmatch(rf'{best} costs least: .* less than {next_best}; weakest evidence that '
                            rf'matters: {grade}\.', now), f'{key} = {price}: {now}')


def in_folder(test, *arguments):
    with tempfile.TemporaryDirectory(prefix='pertoken-charts-') as folder:
        test(*arguments, folder)


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    for scenario in harness.EXAMPLES:
        count.test(scenario.name, in_folder, check_example, scenario)
    for test in (check_crossing, check_utilization, check_batches, check_answer, check_answer_without_draws,
                 check_answer_grade):
        count.test(test.__name__, in_folder, test)
    count.finish()


if __name__ == '__main__':
    main()
