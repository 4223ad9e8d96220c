#!/usr/bin/python3
"""Do the charts of a workbook show what they claim, and does the Cover name every sheet?

Every example: charts are in their rows and never cover cells, have a title, axes with units and a text for those who
cannot see them; their series refer to numbers; an option has the same color in all charts, colors can be distinguished
in gray and with any kind of color vision, and the categories add up to the cost per token. Then scenarios of this
script's own: cumulative costs that cross, and where; costs at other utilizations and batches, compared with `pertoken
compare` with that utilization or throughput. And the answer's sentence on the Cover: its contents, that its grade is
the weaker one of the two options it compares, and Gnumeric's result after an input is overwritten. Long labels are
abridged.
Seconds: 8
"""
import itertools
import math
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
IN_GREY = 6  # number of options that are distinguishable in gray print


class Series:
    def __init__(self, node):
        self.name = node.findtext('tx/v') or ''
        self.name_ref = node.findtext('tx/strRef/f') or ''
        refs = {tag: node.findtext(f'{tag}/numRef/f') or node.findtext(f'{tag}/strRef/f')
                for tag in ('cat', 'val', 'xVal', 'yVal')}
        self.x, self.y = refs['cat'] or refs['xVal'], refs['val'] or refs['yVal']
        colours = [node.find(f'spPr/{path}/srgbClr') for path in ('solidFill', 'pattFill/fgClr', 'ln/solidFill')]
        self.colour = next(colour for colour in colours if colour is not None).get('val')
        pattern = node.find('spPr/pattFill')
        self.pattern = None if pattern is None else pattern.get('prst')
        self.look = self.colour, self.pattern


class Chart:
    """A chart of a workbook: kind, title, names of the axes, series, place."""

    def __init__(self, root):
        self.kind = next(node.tag for node in root.find('chart/plotArea') if node.tag.endswith('Chart'))
        self.title = ''.join(node.text or '' for node in root.iterfind('chart/title//t'))
        self.named = {int(node.get('val')) for node in root.iterfind('chart/legend/legendEntry/idx')}
        self.axes = [''.join(text.text or '' for text in axis.iterfind('title//t'))
                     for tag in ('catAx', 'valAx') for axis in root.iterfind(f'chart/plotArea/{tag}')]
        self.lows = [axis.find('scaling/min') for axis in root.iterfind('chart/plotArea/valAx')]
        self.formats = [axis.find('numFmt').get('formatCode') for axis in root.iterfind('chart/plotArea/valAx')]
        self.series = [Series(node) for node in root.iter('ser')]
        # LibreOffice leaves out labels only if the text is tilted; it breaks horizontal ones into letters.
        self.crowded = [axis for axis in root.iter('catAx') if axis.find('tickLblSkip') is not None
                        and int(axis.find('txPr/bodyPr').get('rot', 0)) == 0]


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
    touched = [xlsx.address(*at) for at in sheet.cells
               if at[0] == bottom + 1 and left <= at[1] <= right and sheet.value(*at) is not None]
    expect(not touched or sheet.name == 'Cover', f'{name} touches {touched[:3]}')  # its charts end where a row does
    expect(chart.title and text, f'{name}: no title or no text beside it')
    expect(chart.series, f'{name}: no series')
    expect(any(chart.axes), f'{name}: no axis has a name')
    expect(not chart.crowded, f'{name}: labels that are to be left out are level')
    for series in chart.series:
        expect(series.name or isinstance(values(book, series.name_ref)[0], str), f'{name}: no name')
        numbers = values(book, series.y)
        told = [number for number in numbers if number is not None or 'by category' not in chart.title]
        expect(told and all(isinstance(number, float) for number in told), f'{name}: {series.y}: {numbers}')
        expect(len(values(book, series.x)) == len(numbers), f'{name}: {series.x} and {series.y}')


def option_colours(book):
    """{option: its colors} over all charts except the tornado's and those by category."""
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
    """The filled cells right of the unit in the row with that label or key."""
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
        stack = [share or 0 for share in stack]  # an option need not have every category
        expect(near(sum(stack), cost), f'the categories add up to {sum(stack)}, not {cost}')
    looks = [series.look for series in chart.series]
    expect(len(set(looks)) == len(looks), f'categories look the same: {looks}')
    # A stack that begins with nothing, or goes below, has 0 on its axis, whatever the program chooses.
    stacks = [[number or 0 for number in values(book, series.y)] for series in chart.series]
    expect(not any(stacks[0]) or min(map(min, stacks)) < 0, f'the axis may begin above 0: {chart.series[0].name}')


def check_amounts(book):
    """The axes of cash and of tokens are in a unit that leaves its numbers digits before the point, and not many."""
    for chart, _, _ in charts_of(book, book.sheets['Outputs']):
        if not chart.title.startswith(('Cash cost by', 'Cumulative cash cost', 'Output tokens')):
            continue
        commas = re.search(r'0(,*)', chart.formats[-1].partition('.')[2] or chart.formats[-1].rpartition('#')[2])[1]
        words = (None, 'thousand', 'million', 'billion', 'trillion')
        word = next((word for word in words[1:] if any(word in axis for axis in chart.axes)), None)
        expect(words.index(word) == len(commas), f'{chart.axes} in {chart.formats}')
        most = max(abs(number) for series in chart.series for number in values(book, series.y))
        expect(0.5 <= most / 1000 ** len(commas) < 1e4, f'up to {most} {chart.axes[-1]}')


def lightness(colour):
    """CIE L*, from 0 to 100, of an sRGB color: what remains of it in gray print."""
    red, green, blue = (int(colour[at:at + 2], 16) / 255 for at in (0, 2, 4))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def check_greys(book, options):
    """In gray print, options can be distinguished, and so can categories, adjacent ones better."""
    greys = sorted(lightness(next(iter(found))) for found in list(options.values())[:IN_GREY])
    expect(all(high - low >= 9.5 for low, high in zip(greys, greys[1:])), f'options in grey: {greys}')
    chart = chart_named(book, 'Outputs', 'Cost per token, by category')
    stacks = [[number or 0 for number in values(book, series.y)] for series in chart.series]
    shown = [(lightness(series.colour), series.pattern) for series, stack in zip(chart.series, stacks) if any(stack)]
    for (one, pattern), (other, hatched) in itertools.combinations(shown, 2):
        expect(pattern != hatched or abs(one - other) >= 9.5, f'categories in grey: {shown}')
    for option in range(len(stacks[0])):
        there = [(lightness(series.colour), series.pattern) for series, stack in zip(chart.series, stacks) if stack[option]]
        for (one, pattern), (other, hatched) in zip(there, there[1:]):
            expect(pattern != hatched or abs(one - other) >= 19.5, f'neighbors in grey: {there}')


# How people without one kind of cone see: Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation
# of Color Vision Deficiency, IEEE TVCG 15 (2009), severity 1, on linear RGB.
VISIONS = {
    'protanopia': ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    'deuteranopia': ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    'tritanopia': ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900))}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
APART = 15  # CIE76; 2.3 is just noticeable


def times(matrix, vector):
    return [sum(one * other for one, other in zip(row, vector)) for row in matrix]


def lab(colour, vision):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in (int(colour[at:at + 2], 16) / 255 for at in (0, 2, 4))]
    seen = [min(max(part, 0.0), 1.0) for part in times(vision, linear)]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
               for part in (one / white for one, white in zip(times(XYZ, seen), (0.9505, 1, 1.089))))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen_apart(one, other):
    """The smallest difference between two colors in any kind of color vision, and in which."""
    return min((math.dist(lab(one, vision), lab(other, vision)), name) for name, vision in VISIONS.items())


def check_colour_vision(book, options):
    """Options, adjacent categories, and the tornado's ends: distinguishable in any kind of color vision."""
    pairs = list(itertools.combinations([next(iter(found)) for found in list(options.values())[:IN_GREY]], 2))
    chart = chart_named(book, 'Outputs', 'Cost per token, by category')
    stacks = [[number or 0 for number in values(book, series.y)] for series in chart.series]
    for option in range(len(stacks[0])):
        there = [series for series, stack in zip(chart.series, stacks) if stack[option]]
        pairs += [(one.colour, other.colour) for one, other in zip(there, there[1:]) if one.pattern == other.pattern]
    if 'Sensitivity' in book.sheets:
        pairs += [[series.colour for series in chart.series]
                  for chart, _, _ in charts_of(book, book.sheets['Sensitivity']) if chart.kind == 'barChart']
    for one, other in pairs:
        difference, vision = seen_apart(one, other)
        expect(difference >= APART, f'{one} and {other} in {vision}: {difference:.1f}')


def check_tornado_labels(book, scenario):
    """Each bar states whether it is for a range in the scenario, or for a swing."""
    if 'Sensitivity' not in book.sheets:
        return
    sheet, text = book.sheets['Sensitivity'], scenario.read_text()
    section = re.search(r'(?ms)^\[range\]\n(.*?)(?=^\[|\Z)', text)
    ranged = re.findall(r'(?m)^([\w.]+) *=', section[1]) if section else []
    rows = layout.swings(sheet)
    for key, row in rows.items():
        is_range = any(key == name or key.split('.')[-1] == name for name in ranged)
        expect(sheet.text(row, 1).endswith(' (range)' if is_range else ' (swing)'), f'{key}: {sheet.text(row, 1)}')
    for chart, _, _ in charts_of(book, sheet):
        if chart.kind == 'barChart':
            bars = values(book, chart.series[0].x)
            expect(sorted(bars) == sorted(sheet.text(row, 1) for row in rows.values()), f'the bars are {bars}')


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
    check_amounts(book)
    check_greys(book, colours)
    check_colour_vision(book, colours)
    check_tornado_labels(book, scenario)
    check_cover(book)
    check_grade(book, scenario)


def check_grade(book, scenario):
    """The sentence's grade is the weaker one of the options it names, as graded by compare."""
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    named = re.match(r'(.+?) costs (?:least: )?.*?(?:less than ((?:(?! less than ).)+?)(?: at the base values.*?)?)?; '
                     r'weakest evidence that matters: (\w+)\.$', str(sentence))
    options = run_json('compare', scenario, *harness.places(scenario))['options']
    grades = {option['label']: option['grade'] for option in options}
    if not named:
        expect(any(option['decode_only'] for option in options), f'no grade: {sentence}')
        return
    weaker = max((grades[name] for name in named.groups()[:2] if name), key=compare.GRADES.index)
    expect(named[3] == weaker, f'{sentence} of {grades}')


def report(text, folder, *arguments):
    Path(folder, 'own.ini').write_text(text)
    return xlsx.read(harness.report(Path(folder, 'own.ini'), Path(folder, 'own.xlsx'), arguments))


def cost(folder, option, setting):
    """The option's cost according to compare, with a setting."""
    options = run_json('compare', Path(folder, 'own.ini'), '--set', setting)['options']
    return next(entry['items']['cost_per_mtok'] for entry in options if entry['id'] == option)


def words_of_crossing(book):
    outputs = book.sheets['Outputs']
    row = next(row for row in range(1, outputs.last_row() + 1) if outputs.text(row, 2) == 'crossing_words')
    return outputs.text(row, 4 + options_of(book).index('hungry'))


def check_crossing(folder):
    """100 x 4000 USD more, compared with 100 x 600 W x 1.4 x 8760 h x 0.30 USD/kWh less in a year."""
    years = 100 * 4000 / (100 * 0.6 * 1.4 * 8760 * 0.30)
    book = report(CROSSING, folder)
    found = numbers_of(book, 'Outputs', 'hungry.crossing')[0]
    expect(abs(found - years) < 1e-9, f'they cross after {found}, not {years}')
    spent = 100 * 12000 + years * 100 * 0.5 * 1.4 * 8760 * 0.30
    expect(near(numbers_of(book, 'Outputs', 'hungry.crossing_point')[1], spent), 'at another cost')
    words = words_of_crossing(book)
    expect(words == f'after {round(years, 1):g} years', words)
    chart = chart_named(book, 'Outputs', 'Cumulative cash cost')
    marks = [series for series in chart.series if series.name == 'where they cross']
    unnamed = {number for number, series in enumerate(chart.series) if series in marks}
    expect(chart.named == unnamed, f'the legend leaves out {chart.named}, not {unnamed}')
    expect(len(marks) == 1 and values(book, marks[0].x) == [found, found], 'the mark is elsewhere')
    short = report(CROSSING.replace('horizon = 5 yr', 'horizon = 1 yr'), folder)
    expect(numbers_of(short, 'Outputs', 'hungry.crossing')[0] == 0, 'a crossing behind the horizon')
    expect(words_of_crossing(short) == 'not within the horizon', 'its words')


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
    """The sentence that Gnumeric shows after an input gets another value."""
    inputs, part = layout.Inputs(book), book.sheets['Inputs'].part
    row = next(entry.row for entry in inputs.rows if entry.key == key)
    typed = {xlsx.address(row, inputs.cases['base']): value}
    changed = Path(folder, 'typed.xlsx')
    xlsx.patch(path, changed, lambda name, xml: xlsx.set_cells(xml, typed if name == part else {}))
    return answer(book, gnumeric.recalculate(changed))


def check_answer(folder):
    """The sentence agrees with compare; after an input is overwritten, it changes and drops the result over the
    ranges."""
    scenario = ROOT / 'examples' / 'uncertainty.ini'
    path = harness.report(scenario, Path(folder, 'own.xlsx'))
    book = xlsx.read(path)
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(re.fullmatch(r'MI325X costs least: .*, 14.3 % less than H200 at the base values; over the ranges .*; '
                        r'weakest evidence that matters: claim\.', sentence), sentence)
    now = typed_over(book, path, 'mi325x.list_price', 60000.0, folder)
    Path(folder, 'own.ini').write_text(f'[scenario]\ninherits = {scenario}\n')
    cheapest = f'{round(cost(folder, "h200", "mi325x.list_price=60000 USD"), 4):.15g}'
    expect(re.match(rf'H200 costs least: {re.escape(cheapest)} USD per million output tokens, [0-9.]+ % less than '
                    r'MI325X at the base values \(over the ranges: run simulate again\); ', now), now)


def check_answer_below_nothing(folder):
    """A remedy above the price: no share of a cost is named, until a limit is typed."""
    owed = ('remedy = 40 %\nguaranteed_throughput = 4000 token/s\nremedy_limit = 2000 %\n'
            'remedy_limit.source = a letter\n')
    book, path = report(TINY[:TINY.index('[range]')] + owed, folder), Path(folder, 'own.xlsx')
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(re.match(r'b costs least: -.*, less than nothing; weakest', sentence), sentence)
    said = run_json('compare', Path(folder, 'own.ini'))
    expect(said['answer'].startswith('b costs least per output token, less than nothing.'), said['answer'])
    warning = "the vendor's remedy is 2000 % of the hardware price, and turns the total cost negative: 'remedy_limit' caps it"
    expect(warning in said['options'][1]['warnings'], said['options'][1]['warnings'])
    texts = [sheet.text(*place) for sheet in book.sheets.values() for place in sheet.cells]
    expect(any(warning in text for text in texts), 'the workbook has no such warning')
    now = typed_over(book, path, 'b.remedy_limit', 0.1, folder)
    expect(re.match(r'b costs least: .*, [0-9.]+ % less than a; weakest', now), now)
    book = report(TINY[:TINY.index('[range]')] + owed.replace('2000', '10'), folder)
    now = typed_over(book, path, 'b.remedy_limit', 20.0, folder)
    expect(re.match(r'b costs least: -.*, less than nothing; weakest', now), now)


def check_answer_without_draws(folder):
    """Another case, in which nothing is drawn, says so; a difference below 0.05 % is not shown as 0.0 % less."""
    book, path = report(TINY, folder), Path(folder, 'own.xlsx')
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(', less than 0.1 % less than b at the base values; over the ranges a costs' in sentence, sentence)
    expect(re.search(r'saves 0\.0\d+ % against b \(0\.0\d+ to 0\.0\d+ %\)', sentence), sentence)
    shown, changed = book.name('pt_case'), Path(folder, 'certain.xlsx')
    for case, wanted in (('certain', '; nothing is uncertain in this case;'), ('other', '(over the ranges: run simulate again)')):
        xlsx.patch(path, changed, lambda name, xml: xlsx.set_cells(xml, {shown.ref: case})
                   if name == book.sheets[shown.sheet].part else xml)
        now = answer(book, gnumeric.recalculate(changed))
        expect(', less than 0.1 % less than b at the base values' + ('' if case == 'certain' else ' ') + wanted in now, now)
    done = harness.report(Path(folder, 'own.ini'), Path(folder, 'itself.xlsx'), ('--case', 'certain'))
    itself = xlsx.read(done)
    sentence = answer(itself, lambda sheet, *place: itself.sheets[sheet].value(*place))
    expect('less than b at the base values; nothing is uncertain in this case; weakest' in sentence, sentence)


def check_answer_grade(folder):
    """Three options with three grades: the sentence has the weaker grade of the two it compares."""
    book, path = report(GRADED, folder), Path(folder, 'own.xlsx')
    check_grade(book, Path(folder, 'own.ini'))
    typed = {'claimed.list_price': (30000.0, 'quoted', 'assumed', 'assumed'),
             'assumed.list_price': (30000.0, 'quoted', 'claimed', 'claim'),
             'quoted.list_price': (30000.0, 'claimed', 'quoted', 'assumed')}  # what is typed is `assumed`
    for key, (price, best, next_best, grade) in typed.items():
        now = typed_over(book, path, key, price, folder)
        expect(re.fullmatch(rf'{best} costs least: .* less than {next_best}; weakest evidence that '
                            rf'matters: {grade}\.', now), f'{key} = {price}: {now}')


def check_long_labels(folder):
    """Neither the axis nor the legend of a chart takes its room, and they still tell the options apart."""
    for count, most in (2, 40), (12, 16):
        labels = [f'{"A vendor of servers for every purpose, " * 3}offer {number}' for number in range(count)]
        text = ''.join(f'[option o{number}]\nlabel = {label}\naccelerator = h200-sxm-141\nlist_price = {30000 + number} USD\n'
                       for number, label in enumerate(labels))
        book = report(f'[scenario]\ntitle = Long labels\ndate = 2026-11-20\n{SITE}throughput = 2000 token/s\n{text}'
                      '[range]\nelectricity_price = triangular(0.05, 0.08, 0.14) USD/kWh\n', folder)
        charts = [chart for sheet in ('Cover', 'Outputs') for chart, _, _ in charts_of(book, book.sheets[sheet])]
        shown = [values(book, chart.series[0].x) if 'by category' in chart.title else
                 [series.name for series in chart.series if series.name != 'where they cross'] for chart in charts]
        shown.append([series.name for series in chart_named(book, 'Simulation', 'Cost per token: how often').series])
        for names in shown:
            expect(len(set(names)) == count and all(name and len(name) <= most for name in names), f'{names}')


def check_labels_alike(folder):
    """Two labels that differ only where they are abridged: the charts show ids instead."""
    text = ''.join(f'[option {name}]\nlabel = A quote of November for us, {years} years of support on site\n'
                   f'accelerator = h200-sxm-141\nlist_price = {price} USD\n'
                   for name, years, price in (('short', 'three', 30000), ('long', 'five', 33000)))
    book = report(f'[scenario]\ntitle = Alike\ndate = 2026-11-20\n{SITE}throughput = 2000 token/s\n{text}', folder)
    names = [series.name for series in chart_named(book, 'Outputs', 'Cost per token against utilization').series]
    expect(names == ['short', 'long'], f'{names}')


def check_much_money(folder):
    """Cash in billions; a distribution has titles on both axes, and labels of bars as they are."""
    book = report(TINY.replace('accelerators = 8', 'accelerators = 800000'), folder)
    check_amounts(book)
    expect('billion USD' in chart_named(book, 'Outputs', 'Cumulative cash cost').axes, 'no billions')
    chart = chart_named(book, 'Simulation', 'Saving of b: how often') or chart_named(book, 'Simulation', 'Saving of a: how often')
    expect(chart.axes == ['saving, up to', 'share of draws'] and chart.formats == ['0.0 %'],
           f'{chart.axes}, {chart.formats}')
    density = chart_named(book, 'Simulation', 'Cost per token: how often')
    expect(density.axes[-1] == 'density of draws', f'{density.axes}')


def check_small_costs(folder):
    """A cost far below a cent per million tokens has three digits, in the sentence and in every cell."""
    text = re.sub(r'(list_price =) \d+', r'\1 0.0003', TINY[:TINY.index('[range]')].replace('0.10 USD/kWh', '0.0000001 USD/kWh'))
    book = report(text, folder)
    sentence = answer(book, lambda sheet, *place: book.sheets[sheet].value(*place))
    expect(re.search(r'(cost|costs) least: 0\.0+[1-9]\d\d USD', sentence), sentence)
    for row, column in row_of(book, 'Outputs', 'cost_per_mtok'):
        code, cost = book.sheets['Outputs'].cell(row, column).style.format, book.sheets['Outputs'].value(row, column)
        decimals = len(re.match(r'#,##0\.(0+)', code)[1])
        expect(0 < cost < 1e-4 and round(cost, decimals) >= 100 / 10 ** decimals, f'{cost} in {code}')


def check_few_tokens(folder):
    """A demand of a hundred million tokens is not shown as 0 billion; a cost that utilization does not change begins at 0."""
    book = report(TINY.replace('[option a]', 'demand = 109.5 Mtok/yr\n\n[option a]', 1), folder)
    check_amounts(book)
    expect('million output tokens' in chart_named(book, 'Outputs', 'Output tokens against demand by year').axes, 'no millions')
    low = chart_named(book, 'Outputs', 'Cost per token against utilization').lows[-1]
    expect(low is not None and float(low.get('val')) == 0, f'the axis begins at {low}')


def in_folder(test, *arguments):
    with tempfile.TemporaryDirectory(prefix='pertoken-charts-') as folder:
        test(*arguments, folder)


def main():
    if gnumeric.missing():
        skip_all(gnumeric.missing())
    count = Count()
    for scenario in harness.EXAMPLES:
        count.test(scenario.name, in_folder, check_example, scenario)
    for test in (check_crossing, check_utilization, check_batches, check_answer, check_answer_below_nothing,
                 check_answer_without_draws, check_answer_grade, check_long_labels, check_labels_alike, check_much_money, check_small_costs,
                 check_few_tokens):
        count.test(test.__name__, in_folder, test)
    count.finish()


if __name__ == '__main__':
    main()
